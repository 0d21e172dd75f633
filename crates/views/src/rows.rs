//! What all views share: sorting by any column, leaving rows out, names.

use super::{Ask, AskError};
use crate::words;
use std::cmp::Ordering;
use whyslow_facts::Facts;
use whyslow_model::{Cell, Table};

/// The names that strace gives the columns (`-S` and `-U`, strace(1)), and what else people type.
const ALIASES: &[(&str, &str)] = &[
    ("time", "total"),
    ("seconds", "total"),
    ("time-total", "total"),
    ("total-time", "total"),
    ("time-percent", "time_share"),
    ("count", "calls"),
    ("error", "errors"),
    ("name", "syscall"),
    ("syscall-name", "syscall"),
    ("avg", "mean"),
    ("avg-time", "mean"),
    ("time-avg", "mean"),
    ("usecs/call", "mean"),
    ("min-time", "min"),
    ("time-min", "min"),
    ("shortest", "min"),
    ("max-time", "max"),
    ("time-max", "max"),
    ("longest", "max"),
    ("median", "p50"),
    ("read", "bytes_read"),
    ("written", "bytes_written"),
];

/// Sorts the rows as asked (by `default` where nothing is), and leaves out those past the asked number.
pub(super) fn finish(mut table: Table, ask: &Ask, default: &'static str) -> Result<Table, AskError> {
    let wanted = ask.sort.as_deref().unwrap_or(default);
    if !matches!(wanted, "none" | "nothing") {
        let at = column(&table, wanted).ok_or_else(|| AskError::Sort {
            view: table.name,
            got: wanted.to_string(),
            known: table.columns.iter().map(|column| column.key).collect::<Vec<_>>().join(", "),
        })?;
        table.rows.sort_by(|a, b| compare(a.get(at), b.get(at), ask.reverse));
    } else if ask.reverse {
        table.rows.reverse();
    }
    if let Some(top) = ask.top
        && table.rows.len() > top
    {
        let left_out = table.rows.len() - top;
        table.rows.truncate(top);
        table
            .notes
            .push(format!("{} not shown (--top 0 shows all)", words::plural(left_out as u64, "more row")));
    }
    Ok(table)
}

fn column(table: &Table, name: &str) -> Option<usize> {
    let find = |key: &str| table.columns.iter().position(|column| column.key == key);
    let plain = name.to_ascii_lowercase().replace('_', "-");
    find(name).or_else(|| find(&plain.replace('-', "_"))).or_else(|| {
        let (_, key) = ALIASES.iter().find(|(alias, _)| *alias == plain)?;
        find(key)
    })
}

/// Figures from large to small, texts from a to z (or each the other way round); what is unknown last.
fn compare(a: Option<&Cell>, b: Option<&Cell>, reverse: bool) -> Ordering {
    let turn = |order: Ordering| if reverse { order.reverse() } else { order };
    match (a.and_then(figure), b.and_then(figure)) {
        (Some(a), Some(b)) => turn(b.total_cmp(&a)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => match (a, b) {
            (Some(Cell::Text(a)), Some(Cell::Text(b))) => turn(a.cmp(b)),
            (Some(Cell::Text(_)), _) => Ordering::Less,
            (_, Some(Cell::Text(_))) => Ordering::Greater,
            _ => Ordering::Equal,
        },
    }
}

fn figure(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Unknown | Cell::Text(_) | Cell::Counts(_) => None,
        Cell::Count(n) | Cell::Bytes(n) => Some(*n as f64),
        Cell::Duration(dur) => dur.get().map(|ns| ns as f64),
        Cell::Share(value) | Cell::PerSecond(value) | Cell::Number(value) => Some(*value),
    }
}

/// The pattern of a thread's name: `worker-12` is one of `worker-{n}`.
pub(super) fn name_pattern(name: &str) -> std::borrow::Cow<'_, str> {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if bare.len() == name.len() { name.into() } else { format!("{bare}{{n}}").into() }
}

/// A note for captures of which a view shows nothing.
pub(super) fn nothing_because(facts: &Facts, what: &str) -> Option<String> {
    let only_percentiles =
        facts.total_calls() == 0 && facts.requests.count() == 0 && !facts.percentiles.is_empty();
    if only_percentiles {
        return Some("A table of percentiles is there to be compared: whyslow diff FILE.".to_string());
    }
    (facts.world.calls == 0 && !facts.tables.is_empty())
        .then(|| format!("A table of counts shows no {what}: record single calls with strace -f -ttT -yy."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Column, Nanos};

    fn table() -> Table {
        let row = |name: &str, total: Nanos| vec![Cell::Text(name.to_string()), Cell::duration(total)];
        Table {
            name: "summary",
            question: String::new(),
            columns: vec![Column::new("syscall", "syscall"), Column::new("total", "total")],
            rows: vec![row("b", Nanos::new(1)), row("a", Nanos::UNKNOWN), row("c", Nanos::new(3))],
            total: None,
            notes: Vec::new(),
        }
    }

    fn order(ask: &Ask) -> String {
        let rows = finish(table(), ask, "total").unwrap().rows;
        rows.iter().map(|row| if let Cell::Text(name) = &row[0] { name.as_str() } else { "?" }).collect()
    }

    #[test]
    fn patterns_of_names() {
        let names = ["worker-12", "pool-3-thread-7", "main", "7", ""].map(name_pattern);
        assert_eq!(names, ["worker-{n}", "pool-3-thread-{n}", "main", "{n}", ""]);
    }

    #[test]
    fn sorting() {
        let by = |sort: &str| Ask { sort: Some(sort.to_string()), ..Ask::default() };
        assert_eq!(order(&Ask::default()), "cba");
        assert_eq!(order(&by("seconds")), "cba");
        assert_eq!(order(&by("time_total")), "cba");
        assert_eq!(order(&by("syscall-name")), "abc");
        assert_eq!(order(&by("nothing")), "bac");
        assert_eq!(order(&Ask { reverse: true, ..by("name") }), "cba");
        let cut = finish(table(), &Ask { top: Some(1), ..Ask::default() }, "total").unwrap();
        assert_eq!(cut.rows.len(), 1);
        assert!(cut.notes[0].starts_with("2 more rows"));
    }
}
