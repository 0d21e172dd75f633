//! Answers as people read them: tables of columns, lengths of time, lists of hosts.

use std::fmt::Write;
use whyslow_model::{Nanos, visible};

/// Hosts that a line names; the rest is counted.
const MOST_NAMED: usize = 5;
/// Characters of a cell at most.
const WIDEST: usize = 100;

/// A table of texts. Columns whose heading begins with `>` stand to the right.
pub(crate) struct Columns {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Columns {
    pub(crate) fn new(headings: &[&'static str]) -> Columns {
        Columns { headings: headings.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let shown = |cell: String| cut(&visible::line(&cell));
        self.rows.push(cells.into_iter().map(shown).collect());
    }

    pub(crate) fn print(&self, out: &mut String) {
        let plain: Vec<String> =
            self.headings.iter().map(|heading| heading.trim_start_matches('>').to_string()).collect();
        let width = |at: usize| {
            let cells = self.rows.iter().chain([&plain]).filter_map(|row| row.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..plain.len()).map(width).collect();
        for row in [&plain].into_iter().chain(&self.rows) {
            let mut line = String::new();
            for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = if at > 0 { "  " } else { "" };
                let _ = match self.headings[at].starts_with('>') {
                    true => write!(line, "{gap}{cell:>width$}"),
                    false => write!(line, "{gap}{cell:<width$}"),
                };
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// A duration in nanoseconds: `1.20 ms`.
pub(crate) fn nanos(ns: f64) -> String {
    Nanos::new(ns.max(0.0).round() as u64).to_string()
}

/// `1 host`, `37 hosts`, `1,000 hosts`.
pub(crate) fn plural(count: usize, word: &str) -> String {
    format!("{} {word}{}", grouped(count as u64), if count == 1 { "" } else { "s" })
}

/// A count with commas: `1,234,567`.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share: `3.7 %`, `100 %`.
pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        all if all >= 99.95 => format!("{all:.0} %"),
        most if most >= 0.1 || most == 0.0 => format!("{most:.1} %"),
        _ => "< 0.1 %".to_string(),
    }
}

/// How many times as much: `4.2 times`.
pub(crate) fn times(ratio: f64) -> String {
    if ratio >= 10.0 { format!("{ratio:.0} times") } else { format!("{ratio:.1} times") }
}

/// Names with the number of those that are left out: `web-1, web-2 and 35 more`.
pub(crate) fn listed(names: &[String]) -> String {
    let named: Vec<String> =
        names.iter().take(MOST_NAMED).map(|name| visible::line(name).into_owned()).collect();
    match names.len().saturating_sub(MOST_NAMED) {
        0 => named.join(", "),
        more => format!("{} and {} more", named.join(", "), grouped(more as u64)),
    }
}

/// Bytes: `512 B`, `12.3 MB`.
pub fn bytes(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 1000.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_as_people_write_them() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([512, 12_345_678, 2_500_000_000_000].map(bytes), ["512 B", "12.3 MB", "2.5 TB"]);
        assert_eq!([0.0, 0.0004, 0.037, 1.0].map(percent), ["0.0 %", "< 0.1 %", "3.7 %", "100 %"]);
        assert_eq!(
            (plural(1, "host"), plural(2_000, "host")),
            ("1 host".to_string(), "2,000 hosts".to_string())
        );
        let names: Vec<String> = (0..8).map(|at| format!("web-{at}")).collect();
        assert_eq!(listed(&names), "web-0, web-1, web-2, web-3, web-4 and 3 more");
    }

    #[test]
    fn columns_stand_below_their_headings() {
        let mut table = Columns::new(&["rule", ">hosts"]);
        table.row(["a".to_string(), "1,000".to_string()]);
        table.row(["longer\u{1b}[1m".to_string(), "7".to_string()]);
        let mut out = String::new();
        table.print(&mut out);
        assert!(!out.contains('\u{1b}'), "{out:?}");
        let ends: Vec<usize> = out.lines().map(|line| line.chars().count()).collect();
        assert!(ends.iter().all(|end| *end == ends[0]), "{out}");
    }
}
