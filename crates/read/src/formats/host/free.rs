//! free, with and without the column `available`, with units (`-h`) or without (`-k`, `-m`, `-g`, `-b`).
//!
//! ```text
//!               total        used        free      shared  buff/cache   available
//! Mem:        8169300      436748     3323248        1024     4409304     7412556
//! Swap:             0           0           0
//! ```

use super::line::{Line, number, size};
use super::{Block, Out, Step, Tool};
use whyslow_model::{Entity, FigureRow, Metric};

pub(super) static FREE: Tool = Tool { begins, row: |_| false, open: || Box::<Free>::default() };

/// The header in the languages that procps speaks, by its first two words.
const HEADERS: [[&str; 2]; 7] = [
    ["total", "used"],
    ["gesamt", "benutzt"],
    ["total", "utilisé"],
    ["total", "usado"],
    ["total", "usada"],
    ["totale", "usato"],
    ["всего", "занято"],
];

fn begins(line: &Line<'_>) -> bool {
    HEADERS.iter().any(|words| line.starts(words)) && (5..=8).contains(&line.words.len())
}

#[derive(Default)]
struct Free {
    /// The columns `total used free shared buff/cache available`; else `buffers` and `cached` at the end.
    available: bool,
    rows: usize,
    unit: f64,
}

impl Free {
    /// Bytes that a figure without a unit counts in. The option says so; else the size of memory decides, and that is noted.
    fn unit_of(total: &str, line: u64, out: &mut Out<'_>) -> f64 {
        const KB: f64 = 1024.0;
        let by_option = out.arguments("free").iter().find_map(|word| match word.as_str() {
            "-b" => Some(1.0),
            "-k" => Some(KB),
            "-m" => Some(KB * KB),
            "-g" => Some(KB * KB * KB),
            _ => None,
        });
        let (Some(total), None) = (number(total), by_option) else { return by_option.unwrap_or(KB) };
        // No machine with a shell has less than 256 MiB as KiB; none has so much that MiB or GiB come to more.
        let (unit, name) = match total {
            200.0..262_144.0 => (KB * KB, "MiB"),
            ..200.0 => (KB * KB * KB, "GiB"),
            4e9.. => (1.0, "bytes"),
            _ => return KB,
        };
        out.assume(line, &format!("the table tells no unit; by the size of memory it is taken for {name}"));
        unit
    }
}

impl Block for Free {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if begins(line) {
            self.available = line.words.len() == 6 && line.has("buff/cache")
                || line.words.len() == 6 && !line.has("cached") && !line.word(4).contains("uffer");
            self.rows = 0;
            return Step::Used;
        }
        let label = line.words.iter().position(|word| word.ends_with(':'));
        let Some(first) = label.map(|at| at + 1).filter(|at| *at <= 2) else { return Step::Other };
        if line.word(0).starts_with("-/+")
            || line.word(0) == "Total:"
            || line.word(0) == "Low:"
            || line.word(0) == "High:"
        {
            return Step::Used;
        }
        if self.rows == 0 {
            self.unit = Free::unit_of(line.word(first), line.number, out);
        }
        let cells: Option<Vec<f64>> =
            (line.words.iter().skip(first)).map(|cell| size(cell, self.unit)).collect();
        let metrics: &[Option<Metric>] = match self.rows {
            0 if self.available => &[
                Some(Metric::MemTotal),
                Some(Metric::MemUsed),
                Some(Metric::MemFree),
                None,
                Some(Metric::MemCached),
                Some(Metric::MemAvailable),
            ],
            0 => &[
                Some(Metric::MemTotal),
                Some(Metric::MemUsed),
                Some(Metric::MemFree),
                None,
                Some(Metric::MemBuffers),
                Some(Metric::MemCached),
            ],
            1 => &[Some(Metric::SwapTotal), Some(Metric::Swapped), Some(Metric::SwapFree)],
            _ => return Step::Other,
        };
        let Some(cells) = cells.filter(|cells| cells.len() >= 3) else {
            return Step::Damaged("sizes of memory, one for each column of free");
        };
        self.rows += 1;
        let mut row = FigureRow::new(Entity::Host);
        for (metric, cell) in metrics.iter().zip(cells) {
            if let Some(metric) = metric {
                row.set(*metric, cell);
            }
        }
        line.sign(&mut row);
        let mut table = out.table("free");
        table.rows.push(row);
        out.push(table);
        Step::Used
    }

    fn end(&mut self, _: &mut Out<'_>) {}
}
