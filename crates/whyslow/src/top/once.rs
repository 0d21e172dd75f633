//! `whyslow top --once`: one look, for scripts and tickets.

use super::app::App;
use super::columns::{self, COLUMNS};
use super::look::{Look, Task};
use crate::output;
use serde_json::{Map, Value, json};
use std::io::Write;
use whyslow_model::Unit;

/// Processes that the text shows; JSON has all.
const SHOWN: usize = 30;
/// Characters of a command line that the text shows.
const COMMAND: usize = 60;

/// Prints the look as JSON.
pub(super) fn json(look: &Look) -> anyhow::Result<()> {
    let document = json!({
        "schema": "whyslow.top/1",
        "at": look.at,
        "over_ns": look.over,
        "resources": look.resources,
        "load": look.load,
        "processes": look.processes.iter().map(|task| of(task, look)).collect::<Vec<_>>(),
        "gaps": look.gaps.iter().map(|gap| json!({
            "source": gap.source, "missing": gap.missing, "why": gap.why, "remedy": gap.remedy,
        })).collect::<Vec<_>>(),
        "own_cpu": look.cost,
    });
    output::to_stdout(|out| {
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)
    })
}

/// A task with all its figures under their names: what is unknown is left out.
fn of(task: &Task, look: &Look) -> Value {
    let mut fields = Map::new();
    fields.insert("pid".into(), task.pid.into());
    if let Some(tid) = task.tid {
        fields.insert("tid".into(), tid.into());
    }
    for (is, text) in &task.row.traits {
        fields.insert(is.name().into(), Value::from(&**text));
    }
    if let Some(wait) = task.wait() {
        fields.insert("waits_for".into(), json!({ "what": wait.what, "share": wait.share }));
    }
    for (metric, value) in &task.row.figures {
        let value = match metric.unit() {
            Unit::Bytes | Unit::Count | Unit::Nanos if value.fract() == 0.0 => json!(*value as i64),
            _ => json!(value),
        };
        fields.insert(metric.name().into(), value);
    }
    let threads = look.threads_of(task.pid);
    if task.tid.is_none() && !threads.is_empty() {
        fields.insert("listed_threads".into(), threads.iter().map(|thread| of(thread, look)).collect());
    }
    fields.into()
}

/// Prints the look as text: a line for each resource, then the processes in the order of `sort`.
pub(super) fn text(look: Look, sort: usize) -> anyhow::Result<()> {
    let mut app = App::new(sort);
    app.see(look);
    let Some(look) = &app.look else { return Ok(()) };
    let shown = ["pid", "name", "state", "cpu", "waits", "read", "write", "rss", "command"];
    let columns: Vec<_> =
        shown.iter().filter_map(|name| columns::named(name)).filter_map(|at| COLUMNS.get(at)).collect();
    output::to_stdout(|out| {
        for resource in &look.resources {
            writeln!(
                out,
                "{:<10} {:<13} {}",
                resource.name,
                resource.state.words(),
                output::plain(&resource.reason)
            )?;
        }
        if let Some(load) = &look.load {
            writeln!(out, "{load}")?;
        }
        writeln!(out)?;
        let line = |out: &mut dyn Write, cells: Vec<String>| {
            let mut text = String::new();
            for (column, cell) in columns.iter().zip(cells) {
                let width = usize::from(column.width);
                let cell: String = output::plain(&cell).chars().take(width.max(COMMAND)).collect();
                text.push_str(&format!("{cell:width$} "));
            }
            writeln!(out, "{}", text.trim_end())
        };
        line(out, columns.iter().map(|column| column.heading.to_string()).collect())?;
        let lines = app.lines();
        for task in lines.iter().take(SHOWN) {
            line(out, columns.iter().map(|column| (column.text)(task.task)).collect())?;
        }
        if lines.len() > SHOWN {
            writeln!(out, "and {} more (--json has all)", lines.len() - SHOWN)?;
        }
        look.gaps.iter().try_for_each(|gap| writeln!(out, "not seen: {} ({})", gap.missing, gap.why))
    })
}
