//! A view: a table of typed cells, built from facts and rendered by `report` in any format.

use crate::time::Nanos;
use serde::Serialize;

/// One table.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// The name of the view: `summary`, `files`.
    pub name: &'static str,
    /// The question that the view answers, one sentence.
    pub question: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows; each has a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// A row of totals, where one makes sense.
    pub total: Option<Vec<Cell>>,
    /// Remarks: what the figures mean, what the capture cannot show, rows left out.
    pub notes: Vec<String>,
}

impl Table {
    /// Drops the columns that may be dropped and of which nothing is known: for readers with little room.
    pub fn drop_unknown_columns(&mut self) {
        let rows = &self.rows;
        let unknown = |at: usize| rows.iter().all(|row| matches!(row.get(at), None | Some(Cell::Unknown)));
        let keep: Vec<bool> = (self.columns.iter().enumerate())
            .map(|(at, column)| column.drop_order == 0 || rows.is_empty() || !unknown(at))
            .collect();
        let kept = |at: usize| keep.get(at).copied().unwrap_or(true);
        let mut at = 0..;
        self.columns.retain(|_| at.next().is_none_or(kept));
        for row in self.rows.iter_mut().chain(&mut self.total) {
            let mut at = 0..;
            row.retain(|_| at.next().is_none_or(kept));
        }
    }
}

/// One column.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Column {
    /// Stable name, snake case: the JSON key and the name that `--sort` takes.
    pub key: &'static str,
    /// The heading people read.
    pub heading: &'static str,
    /// May be dropped first on a narrow terminal (higher goes first; 0 stays).
    pub drop_order: u8,
}

impl Column {
    /// A column that always stays.
    pub const fn new(key: &'static str, heading: &'static str) -> Column {
        Column { key, heading, drop_order: 0 }
    }
    /// A column that a narrow terminal may drop.
    pub const fn optional(key: &'static str, heading: &'static str, drop_order: u8) -> Column {
        Column { key, heading, drop_order }
    }
}

/// One cell. The figure keeps its unit until it is rendered. In JSON a cell is its bare value.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[serde(untagged)]
pub enum Cell {
    /// Not measured, or not applicable: shown as `-`, `null` in JSON.
    Unknown,
    /// Text, left-aligned.
    Text(String),
    /// A number of things.
    Count(u64),
    /// A duration (ns in JSON).
    Duration(Nanos),
    /// A number of bytes.
    Bytes(u64),
    /// A part of a whole, 0 to 1.
    Share(f64),
    /// A number a second.
    PerSecond(f64),
    /// A number without a unit, such as a mean of counts.
    Number(f64),
    /// Counts in equal slots side by side (of time, mostly): drawn as shades, a character each, of which the darkest is
    /// the largest count of the column; an array in JSON.
    Counts(Vec<u64>),
}

impl Cell {
    /// Text, or unknown where there is none.
    pub fn text(text: Option<impl Into<String>>) -> Cell {
        text.map_or(Cell::Unknown, |text| Cell::Text(text.into()))
    }
    /// A count, or unknown where there is none.
    pub fn count(count: Option<u64>) -> Cell {
        count.map_or(Cell::Unknown, Cell::Count)
    }
    /// A duration, or unknown where it was not measured.
    pub fn duration(dur: Nanos) -> Cell {
        if dur.is_known() { Cell::Duration(dur) } else { Cell::Unknown }
    }
    /// A share, or unknown where there is none.
    pub fn share(share: Option<f64>) -> Cell {
        share.map_or(Cell::Unknown, Cell::Share)
    }
    /// A number, or unknown where there is none.
    pub fn number(number: Option<f64>) -> Cell {
        number.map_or(Cell::Unknown, Cell::Number)
    }
    /// A rate, or unknown where there is none.
    pub fn per_second(rate: Option<f64>) -> Cell {
        rate.map_or(Cell::Unknown, Cell::PerSecond)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_without_figures_go() {
        let row = |calls| vec![Cell::Count(calls), Cell::Unknown, Cell::Unknown];
        let mut table = Table {
            name: "t",
            question: String::new(),
            columns: vec![
                Column::optional("a", "a", 1),
                Column::optional("b", "b", 1),
                Column::new("c", "c"),
            ],
            rows: vec![row(1), row(2)],
            total: Some(row(3)),
            notes: Vec::new(),
        };
        table.drop_unknown_columns();
        assert_eq!(table.columns.iter().map(|column| column.key).collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(table.rows, [[Cell::Count(1), Cell::Unknown], [Cell::Count(2), Cell::Unknown]]);
        assert_eq!(table.total.as_deref(), Some(&[Cell::Count(3), Cell::Unknown][..]));
    }
}
