//! A table as text in cells: what every format but JSON lays out.

use whyslow_model::figures::{bytes, count, percent, quantity};
use whyslow_model::{Cell, Diff, FigureChange, Nanos, Table};

/// Shown where a figure is not known.
const UNKNOWN: &str = "-";

/// A column of a grid.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) heading: &'static str,
    /// Holds figures: aligned at the right, never cut.
    pub(crate) figures: bool,
    /// Higher is dropped first on a narrow terminal; 0 stays.
    pub(crate) drop_order: u8,
}

/// Rows of texts under headings; every row is as long as the heads.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) total: Option<Vec<String>>,
}

impl Grid {
    /// A view's table as texts.
    pub(crate) fn of(table: &Table) -> Grid {
        let texts = |cells: &Vec<Cell>| -> Vec<String> {
            (0..table.columns.len()).map(|i| cells.get(i).map_or(UNKNOWN.to_string(), cell_text)).collect()
        };
        let heads = table.columns.iter().enumerate().map(|(i, column)| {
            let mut cells = table.rows.iter().filter_map(|row| row.get(i));
            Head {
                heading: column.heading,
                figures: cells.clone().any(|cell| !matches!(cell, Cell::Unknown))
                    && !cells.any(|cell| matches!(cell, Cell::Text(_))),
                drop_order: column.drop_order,
            }
        });
        Grid {
            heads: heads.collect(),
            rows: table.rows.iter().map(texts).collect(),
            total: table.total.as_ref().map(texts),
        }
    }

    /// The measured figures of a comparison, side by side.
    pub(crate) fn of_figures(diff: &Diff) -> Grid {
        let head = |heading, figures, drop_order| Head { heading, figures, drop_order };
        let row = |figure: &FigureChange| {
            vec![
                figure.name.clone(),
                figure_text(figure.before, figure.unit),
                figure_text(figure.after, figure.unit),
                figure
                    .ratio
                    .filter(|ratio| ratio.is_finite())
                    .map_or(UNKNOWN.to_string(), |ratio| format!("{}x", quantity(ratio))),
                match figure.beyond_noise {
                    Some(true) => "no",
                    Some(false) => "yes",
                    None => UNKNOWN,
                }
                .to_string(),
                figure.change.clone(),
            ]
        };
        Grid {
            heads: vec![
                head("figure", false, 0),
                head("before", true, 0),
                head("after", true, 0),
                head("after/before", true, 2),
                head("within noise", true, 3),
                head("change", false, 1),
            ],
            rows: diff.figures.iter().map(row).collect(),
            total: None,
        }
    }
}

/// A cell for people.
pub fn cell_text(cell: &Cell) -> String {
    match cell {
        Cell::Unknown => UNKNOWN.to_string(),
        Cell::Text(text) => text.clone(),
        Cell::Count(n) => count(*n),
        Cell::Duration(dur) if !dur.is_known() => UNKNOWN.to_string(),
        Cell::Duration(dur) => dur.to_string(),
        Cell::Bytes(n) => bytes(*n),
        Cell::Share(share) if !share.is_finite() => UNKNOWN.to_string(),
        Cell::Share(share) => percent(*share),
        Cell::PerSecond(rate) if !rate.is_finite() => UNKNOWN.to_string(),
        Cell::PerSecond(rate) => format!("{}/s", quantity(*rate)),
    }
}

/// A figure in its unit: `count`, `ns`, `bytes`, `ratio`, `as-written`.
fn figure_text(value: Option<f64>, unit: &str) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else { return UNKNOWN.to_string() };
    match unit {
        // A negative figure has no unit of ours; the cast saturates above.
        "ns" if value >= 0.0 => Nanos::new((value.round() as u64).min(u64::MAX - 1)).to_string(),
        "bytes" if value >= 0.0 => bytes(value.round() as u64),
        "as-written" => value.to_string(),
        _ => quantity(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_their_unit() {
        assert_eq!(figure_text(Some(1_779_099_000.0), "ns"), "1.78 s");
        assert_eq!(figure_text(Some(78_445_591.0), "bytes"), "78.4 MB");
        assert_eq!(figure_text(Some(382.667), "ratio"), "382.7");
        assert_eq!(figure_text(Some(f64::NAN), "count"), "-");
        assert_eq!(figure_text(None, "ns"), "-");
        assert_eq!(cell_text(&Cell::PerSecond(2.5)), "2.50/s");
        assert_eq!(cell_text(&Cell::Duration(Nanos::UNKNOWN)), "-");
    }
}
