//! `perf stat`, of the machine, a process or a command, with numbers grouped as any locale does.
//!
//! ```text
//!  Performance counter stats for 'system wide':
//!
//!             449931      syscalls:sys_enter_newlstat
//!
//!        4.000941076 seconds time elapsed
//! ```

use super::line::{Line, MOST, number};
use super::{Block, Out, Step, Tool};
use whyslow_model::{Entity, FigureRow, Metric, Over};

pub(super) static PERF_STAT: Tool = Tool {
    begins: |line| line.starts(&["Performance", "counter", "stats", "for"]),
    row: |_| false,
    open: || Box::<PerfStat>::default(),
};

#[derive(Default)]
struct PerfStat {
    of: Option<Entity>,
    /// Event, count, and the line.
    counted: Vec<(Box<str>, f64, FigureRow)>,
}

/// Events of one run.
const MOST_EVENTS: usize = 4096;

/// The count at the start of a line, grouped by points, commas or narrow blanks, and what stands behind it.
fn grouped(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let is_group =
        |one: char| one.is_ascii_digit() || matches!(one, '.' | ',' | '\'' | '\u{a0}' | '\u{202f}');
    let end = text.find(|one| !is_group(one)).unwrap_or(text.len());
    let (figure, rest) = text.split_at(end);
    if !figure.starts_with(|one: char| one.is_ascii_digit()) || !rest.starts_with([' ', '\t']) {
        return None;
    }
    // The last separator is the decimal one where it is another than those before, or has not three digits behind it.
    let last = figure.char_indices().rev().find(|(_, one)| !one.is_ascii_digit());
    let digits: String = figure.chars().filter(char::is_ascii_digit).collect();
    let decimal = last.filter(|(at, one)| {
        let behind = figure.len() - at - one.len_utf8();
        let others = figure.chars().filter(|other| !other.is_ascii_digit() && other != one).count();
        matches!(one, '.' | ',') && (behind != 3 || others > 0)
    });
    let behind = decimal.map_or(0, |(at, one)| figure.len() - at - one.len_utf8());
    let value: f64 = digits.parse().ok().filter(|value| *value < MOST)?;
    Some((value / 10f64.powi(i32::try_from(behind).ok()?), rest.trim_start()))
}

/// The system call behind a tracepoint: `syscalls:sys_enter_newlstat`.
fn syscall(event: &str) -> Option<&str> {
    let name = event.strip_prefix("syscalls:sys_enter_")?;
    Some(match name {
        "newlstat" => "lstat",
        "newstat" => "stat",
        "newfstat" => "fstat",
        "newuname" => "uname",
        "sendfile64" => "sendfile",
        name => name,
    })
}

impl PerfStat {
    fn finish(&mut self, elapsed: Option<f64>, out: &mut Out<'_>) {
        let Some(of) = self.of.take() else { return };
        let counted = std::mem::take(&mut self.counted);
        let length = elapsed.filter(|length| *length > 0.0);
        let mut table = out.table("perf stat");
        table.over = Over::Interval(length.map_or_else(Default::default, super::sysstat::seconds));
        let pid = of.pid();
        for (event, count, signed) in counted {
            let mut row = FigureRow { of: of.clone(), ..signed };
            let event = event.split(':').next().filter(|_| syscall(&event).is_none()).unwrap_or(&event);
            if let Some(name) = syscall(event) {
                row.of = Entity::Function { pid, name: name.into() };
                row.set(Metric::CallCount, count);
                if let Some(length) = length {
                    row.set(Metric::Calls, count / length);
                }
            } else if let Some((metric, length)) = metric(event, &of).zip(length) {
                // Milliseconds of CPU time; everything else is a count.
                let scale = if metric == Metric::TaskCpu { 1e-3 } else { 1.0 };
                row.set(metric, count * scale / length);
            }
            table.rows.push(row);
        }
        out.push(table);
    }
}

fn metric(event: &str, of: &Entity) -> Option<Metric> {
    Some(match event {
        "cycles" | "cpu-cycles" => Metric::Cycles,
        "instructions" => Metric::Instructions,
        "cache-misses" => Metric::CacheMisses,
        "cpu-migrations" | "migrations" => Metric::Migrations,
        "context-switches" | "cs" if *of == Entity::Host => Metric::ContextSwitches,
        "minor-faults" => Metric::MinorFaults,
        "major-faults" => Metric::MajorFaults,
        "task-clock" if *of != Entity::Host => Metric::TaskCpu,
        _ => return None,
    })
}

impl Block for PerfStat {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if line.starts(&["Performance", "counter"]) {
            self.finish(None, out);
            let name = line.text.split(['\'', '"']).nth(1).unwrap_or("");
            self.of = Some(if name == "system wide" {
                Entity::Host
            } else if line.text.contains("process id") {
                let pid = name.split(',').next().and_then(super::columns::task_number);
                pid.map_or(Entity::Command(name.into()), Entity::Process)
            } else {
                let name = name.split_ascii_whitespace().next().unwrap_or(name);
                Entity::Command(name.rsplit('/').next().unwrap_or(name).into())
            });
            return Step::Used;
        }
        if self.of.is_none() {
            return Step::Other;
        }
        if let Some((elapsed, _)) = line.text.split_once("seconds time elapsed") {
            let elapsed = elapsed.split('+').next().and_then(|text| number(text.trim()));
            self.finish(elapsed, out);
            return if elapsed.is_some() { Step::Used } else { Step::Damaged("the seconds that it took") };
        }
        if line.text.contains("<not ")
            || line.text.contains("seconds user")
            || line.text.contains("seconds sys")
        {
            return Step::Used;
        }
        let Some((count, rest)) = grouped(line.text) else { return Step::Other };
        let mut words = rest.split_ascii_whitespace();
        let unit = words.next().unwrap_or("");
        let event = if matches!(unit, "msec" | "ns" | "ms") { words.next().unwrap_or("") } else { unit };
        if event.is_empty() || event.starts_with('#') {
            return Step::Damaged("a count and the event that was counted");
        }
        if self.counted.len() < MOST_EVENTS {
            let mut signed = FigureRow::new(Entity::Host);
            line.sign(&mut signed);
            self.counted.push((event.into(), count, signed));
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.finish(None, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_grouped_as_any_locale_does() {
        for (text, count) in [
            ("449931 x", 449_931.0),
            ("  449,931 x", 449_931.0),
            ("449.931 x", 449_931.0),
            ("1.234.567 x", 1_234_567.0),
            ("1\u{202f}234\u{202f}567 x", 1_234_567.0),
            ("1,234.56 msec x", 1_234.56),
            ("1.234,56 msec x", 1_234.56),
            ("0.98 msec x", 0.98),
        ] {
            assert_eq!(grouped(text).map(|(count, _)| count), Some(count), "{text}");
        }
        assert!(grouped("<not supported> cycles").is_none());
    }
}
