//! `whyslow top --once`: one look, for scripts and tickets.

use super::app::App;
use super::columns::{self, COLUMNS};
use super::look::{Look, Task};
use super::verdict;
use crate::output;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::io::Write;
use whyslow_model::Unit;
use whyslow_model::walk::HostResource;
use whyslow_report::redact;

/// Processes that the text shows; JSON has all.
const SHOWN: usize = 30;
/// Characters of a command line that the text shows.
const COMMAND: usize = 60;

/// Prints the look as JSON (docs/LIVE.md says what stands where). Secrets in texts are replaced, unless they are asked for.
pub(super) fn json(look: &Look, show_secrets: bool) -> anyhow::Result<()> {
    let mut document = json!({
        "schema": "whyslow.top/1",
        "at": look.at,
        "over_ns": look.over,
        "resources": look.resources.iter().map(|resource| of_resource(resource, look)).collect::<Vec<_>>(),
        "load": look.load,
        "takers": look.takers,
        "processes": look.processes.iter().map(|task| of(task, look)).collect::<Vec<_>>(),
        "gaps": look.gaps.iter().map(|gap| json!({
            "source": gap.source, "missing": gap.missing, "why": gap.why, "remedy": gap.remedy,
        })).collect::<Vec<_>>(),
        "own_cpu": look.cost,
    });
    if !show_secrets {
        redact_all(&mut document);
    }
    output::to_stdout(|out| {
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)
    })
}

/// The verdict on a resource, with who takes most of it.
fn of_resource(resource: &HostResource, look: &Look) -> Value {
    let mut verdict = json!(resource);
    verdict["who"] = json!(verdict::who(look, resource));
    verdict
}

/// Replaces the secrets in all texts below a value.
fn redact_all(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(redacted) = redact(text) {
                *text = redacted;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(redact_all),
        Value::Object(fields) => fields.values_mut().for_each(redact_all),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
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
    if let Some(program) = &task.about.program {
        fields.insert("program".into(), Value::from(&**program));
    }
    if let Some(asleep) = task.asleep {
        fields.insert("sleeps_in".into(), asleep.into());
    }
    if task.about.to_accept > 0 {
        fields.insert("to_accept".into(), task.about.to_accept.into());
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

/// Prints the look as text: a line for each resource, then the processes in the order of `app`.
pub(super) fn text(look: Look, mut app: App, show_secrets: bool) -> anyhow::Result<()> {
    app.see(look);
    let Some(look) = &app.look else { return Ok(()) };
    let shown = ["pid", "name", "state", "cpu", "waits", "read", "write", "rss", "command"];
    let columns: Vec<_> =
        shown.iter().filter_map(|name| columns::named(name)).filter_map(|at| COLUMNS.get(at)).collect();
    output::to_stdout(|out| {
        let width = look.resources.iter().map(|resource| resource.name.chars().count()).max().unwrap_or(0);
        for resource in &look.resources {
            let (name, state) = (&resource.name, resource.state.words());
            let who = verdict::who(look, resource).map_or(String::new(), |who| format!("; {who}"));
            let line = format!("{name:<width$} {state:<13} {}{who}", resource.reason);
            writeln!(out, "{}", output::plain(&line).replace('\n', " "))?;
        }
        if let Some(waiters) = verdict::waiters(look, usize::MAX) {
            writeln!(out, "{}", output::plain(&waiters).replace('\n', " "))?;
        }
        if let Some(load) = &look.load {
            writeln!(out, "{}", output::plain(load))?;
        }
        writeln!(out)?;
        let line = |out: &mut dyn Write, cells: Vec<String>| {
            let mut text = String::new();
            for (column, cell) in columns.iter().zip(cells) {
                let width = usize::from(column.width);
                let told = if show_secrets { cell.as_str().into() } else { redact(&cell) };
                let cell: String = output::plain(&told).chars().take(width.max(COMMAND)).collect();
                let cell = cell.replace('\n', " ");
                text.push_str(&match column.is_number() {
                    true => format!("{cell:>width$} "),
                    false => format!("{cell:width$} "),
                });
            }
            writeln!(out, "{}", text.trim_end())
        };
        line(out, columns.iter().map(|column| column.heading.to_string()).collect())?;
        for task in app.lines(0).take(SHOWN) {
            line(out, columns.iter().map(|column| column.text(task.task)).collect())?;
        }
        if app.length() > SHOWN {
            writeln!(out, "and {} more (--json has all)", app.length() - SHOWN)?;
        }
        look.gaps.iter().try_for_each(|gap| writeln!(out, "not seen: {} ({})", gap.missing, gap.why))
    })
}
