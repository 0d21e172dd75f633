//! The tables of the views, in figures.

use crate::data::{PageColumn, PageTable};
use crate::leads::Leads;
use crate::texts::{Texts, shown};
use serde_json::Value;
use whyslow_facts::Facts;
use whyslow_model::{Cell, Table};
use whyslow_views::{Ask, VIEWS};

/// What stands elsewhere in the page, or answers a question that nobody asked.
const NOT_SHOWN: [&str; 2] = ["account", "path"];

/// All tables that have a row, with `most` rows of each.
pub(crate) fn tables(
    facts: &Facts,
    most: usize,
    show_secrets: bool,
    (leads, texts): (&Leads<'_>, &Texts),
) -> Vec<PageTable> {
    let views = VIEWS.iter().filter(|view| !NOT_SHOWN.contains(&view.name));
    let tables = views.filter_map(|view| view.of(facts, &Ask::default()).ok());
    tables
        .filter(|table| !table.rows.is_empty())
        .map(|table| {
            let rows = table.rows.iter().take(most);
            let leads: Vec<_> =
                rows.map(|row| leads.of_cells(table.name, &table.columns, row, texts)).collect();
            let mut shown = shown_table(table, most, show_secrets);
            if leads.iter().any(Option::is_some) {
                shown.leads = leads;
            }
            shown
        })
        .collect()
}

fn shown_table(mut table: Table, most: usize, show_secrets: bool) -> PageTable {
    table.drop_unknown_columns();
    let kind = |at: usize| {
        let cells = table.rows.iter().filter_map(|row| row.get(at));
        cells.map(kind_of).find(|kind| !kind.is_empty()).unwrap_or("text")
    };
    let columns: Vec<PageColumn> = (0..table.columns.len())
        .map(|at| PageColumn { name: table.columns[at].heading, kind: kind(at) })
        .collect();
    let left_out = table.rows.len().saturating_sub(most);
    let rows = table.rows.iter().take(most);
    let rows = rows.map(|row| row.iter().map(|cell| value(cell, show_secrets)).collect()).collect();
    PageTable { id: table.name, title: table.question, columns, rows, leads: Vec::new(), left_out }
}

fn kind_of(cell: &Cell) -> &'static str {
    match cell {
        Cell::Unknown => "",
        Cell::Text(_) | Cell::Counts(_) => "text",
        Cell::Count(_) => "count",
        Cell::Duration(_) => "ns",
        Cell::Bytes(_) => "bytes",
        Cell::Share(_) => "share",
        Cell::PerSecond(_) | Cell::Number(_) => "number",
    }
}

fn value(cell: &Cell, show_secrets: bool) -> Value {
    match cell {
        Cell::Unknown => Value::Null,
        Cell::Text(text) => shown(text, show_secrets).into(),
        Cell::Count(number) | Cell::Bytes(number) => (*number).into(),
        Cell::Duration(ns) => ns.get().into(),
        Cell::Share(number) | Cell::PerSecond(number) | Cell::Number(number) => {
            // What is no number is null.
            Value::from((number * 1e6).round() / 1e6)
        }
        Cell::Counts(counts) => {
            let words: Vec<String> = counts.iter().map(u64::to_string).collect();
            words.join(" ").into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Column, Nanos};

    #[test]
    fn figures_stay_figures_and_the_unknown_stays_unknown() {
        let rows = (0..5)
            .map(|at| {
                let time = if at == 0 { Cell::Unknown } else { Cell::Duration(Nanos::new(at)) };
                vec![Cell::Text(format!("f{at} token=abcdef123456")), time, Cell::Share(f64::NAN)]
            })
            .collect();
        let columns = [("f", "file"), ("t", "time"), ("s", "share")];
        let table = Table {
            name: "t",
            question: "Which?".to_string(),
            columns: columns.map(|(key, heading)| Column::new(key, heading)).to_vec(),
            rows,
            total: None,
            notes: Vec::new(),
        };
        let shown = shown_table(table, 2, false);
        let kinds: Vec<_> = shown.columns.iter().map(|column| (column.name, column.kind)).collect();
        assert_eq!(kinds, [("file", "text"), ("time", "ns"), ("share", "share")]);
        assert_eq!(shown.rows[0], [Value::from("f0 token=[redacted]"), Value::Null, Value::Null]);
        assert_eq!((shown.rows[1][1].as_u64(), shown.rows.len(), shown.left_out), (Some(1), 2, 3));
    }
}
