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
    /// Holds shades, a character a count: to be drawn in letters of one width.
    pub(crate) shades: bool,
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
    /// A view's table as texts, with counts side by side drawn by `shades`: that of none, then the faintest first.
    pub(crate) fn of(table: &Table, shades: &[char]) -> Grid {
        let most: Vec<u64> = (0..table.columns.len()).map(|i| largest(table, i)).collect();
        let text = |cells: &Vec<Cell>, i: usize| match cells.get(i) {
            Some(Cell::Counts(counts)) => shaded(counts, most[i], shades),
            Some(cell) => cell_text(cell),
            None => UNKNOWN.to_string(),
        };
        let texts =
            |cells: &Vec<Cell>| -> Vec<String> { (0..table.columns.len()).map(|i| text(cells, i)).collect() };
        let heads = table.columns.iter().enumerate().map(|(i, column)| {
            let mut cells = table.rows.iter().filter_map(|row| row.get(i));
            Head {
                heading: column.heading,
                figures: cells.clone().any(|cell| !matches!(cell, Cell::Unknown))
                    && !cells.clone().any(|cell| matches!(cell, Cell::Text(_) | Cell::Counts(_))),
                shades: cells.any(|cell| matches!(cell, Cell::Counts(_))),
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
        let head = |heading, figures, drop_order| Head { heading, figures, shades: false, drop_order };
        let row = |figure: &FigureChange| {
            vec![
                figure.name.clone(),
                figure_text(figure.before, figure.unit),
                figure_text(figure.after, figure.unit),
                figure
                    .ratio
                    .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
                    .map_or(UNKNOWN.to_string(), times),
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

/// Shades where there is more than letters; the first stands for none.
pub(crate) const BLOCKS: &[char] = &['·', '░', '▒', '▓', '█'];
/// Shades for a plain terminal, a pipe or a mail.
pub(crate) const DIGITS: &[char] = &['.', '1', '2', '3', '4', '5', '6', '7', '8', '9'];

/// The largest count of a column of counts; 0 where it has none.
fn largest(table: &Table, column: usize) -> u64 {
    let cells = table.rows.iter().chain(&table.total).filter_map(|row| row.get(column));
    let counts = cells.filter_map(|cell| if let Cell::Counts(counts) = cell { Some(counts) } else { None });
    counts.flatten().copied().max().unwrap_or(0)
}

/// Counts as shades on a scale of powers, so that a few slow requests beside many quick ones are seen.
fn shaded(counts: &[u64], most: u64, shades: &[char]) -> String {
    let steps = (shades.len() - 1) as f64;
    let whole = (most as f64 + 1.0).ln();
    let shade = |count: u64| {
        let step = ((count as f64 + 1.0).ln() / whole * steps).ceil();
        shades[(step as usize).clamp(1, shades.len() - 1)]
    };
    counts.iter().map(|count| if *count == 0 { shades[0] } else { shade(*count) }).collect()
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
        Cell::Number(value) if !value.is_finite() => UNKNOWN.to_string(),
        Cell::Number(value) => quantity(*value),
        Cell::Counts(counts) => shaded(counts, counts.iter().copied().max().unwrap_or(0), DIGITS),
    }
}

/// `2.5x`; of a small part two digits that count: `0.0043x`.
fn times(ratio: f64) -> String {
    match ratio {
        _ if ratio > 0.0 && ratio < 0.1 => {
            let digits = (1.0 - ratio.log10().floor()).clamp(2.0, 12.0) as usize;
            format!("{ratio:.digits$}x")
        }
        _ => format!("{}x", quantity(ratio)),
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
    fn a_small_part_is_not_shown_as_nothing() {
        assert_eq!([0.00427, 0.05, 0.5, 2.5, 0.0].map(times), ["0.0043x", "0.050x", "0.50x", "2.50x", "0x"]);
    }

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

    #[test]
    fn counts_are_shaded_by_the_largest_of_their_column() {
        let column = whyslow_model::Column::new("over_time", "over time");
        let rows = [vec![0, 1, 1_000], vec![30, 0, u64::MAX]];
        let table = Table {
            name: "t",
            question: String::new(),
            columns: vec![column],
            rows: rows.iter().map(|counts| vec![Cell::Counts(counts.clone())]).collect(),
            total: None,
            notes: Vec::new(),
        };
        let texts = |shades| Grid::of(&table, shades).rows.concat();
        assert_eq!(texts(BLOCKS), ["·░░", "░·█"]);
        assert_eq!(texts(DIGITS), [".12", "1.9"]);
        assert!(!Grid::of(&table, DIGITS).heads[0].figures);
        assert_eq!(shaded(&[0, 0], 0, DIGITS), "..");
    }
}
