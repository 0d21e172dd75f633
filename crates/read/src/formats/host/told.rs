//! Tools of bcc and bpftrace that print lines of their own form: pidpersec, loads, oomkill, klockstat, biolatpcts, tcpsubnet,
//! cpuunclaimed, deadlock.
//!
//! ```text
//! 18:33:06: PIDs/sec: 4
//!                                   Caller   Avg Spin  Count   Max spin Total spin
//!                           pipe_wait+0xa9        625 412686      16930  258277958
//! ```

use super::line::{DayClock, Line, number, number_and_rest, time_of_day};
use super::uptime::say_load;
use super::{Block, Out, Step, Tool};
use whyslow_model::{ClockKind, Entity, FigureRow, FigureTable, Metric, Nanos, Over, Timestamp};

pub(super) static TOLD: Tool =
    Tool { begins: |line| shape(line).is_some(), row: |_| false, open: || Box::<Told>::default() };

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    /// Processes started in a second.
    PidsPerSecond,
    /// Load averages, a line a second.
    Loads,
    /// Times that locks were waited for, by who called.
    LockWaits,
    /// Times that locks were held, by who called.
    LockHolds,
    /// Percentiles of requests to a disk, by what they do.
    Percentiles,
    /// `[03/05/18 22:42:56]`, and below it bytes sent to each subnet.
    Subnets,
    /// Shares of idle CPUs while tasks waited.
    Unclaimed,
    /// Shares of samples in which tasks queued for a CPU.
    Occupied,
    /// Locks that are taken in different orders.
    Deadlock,
}

impl Shape {
    fn tool(self) -> &'static str {
        match self {
            Shape::PidsPerSecond => "pidpersec",
            Shape::Loads => "loads",
            Shape::LockWaits | Shape::LockHolds => "klockstat",
            Shape::Percentiles => "biolatpcts",
            Shape::Subnets => "tcpsubnet",
            Shape::Unclaimed => "cpuunclaimed",
            Shape::Occupied => "runqlen",
            Shape::Deadlock => "deadlock",
        }
    }

    fn says(self) -> &'static str {
        match self {
            Shape::PidsPerSecond => "rates of new processes",
            Shape::Loads => "load averages",
            Shape::LockWaits => "callers with what they waited for locks",
            Shape::LockHolds => "callers with what they held locks",
            Shape::Percentiles => "rows of percentiles of requests to a disk, which no rule judges",
            Shape::Subnets => "subnets with what was sent to them, which no rule judges",
            Shape::Unclaimed => "samples of CPUs that were idle while tasks waited, which no rule judges",
            Shape::Occupied => "shares of time in which tasks queued for a CPU, which no rule judges",
            Shape::Deadlock => {
                "lines of locks that are taken in different orders: threads that take them at the same time wait for ever; no rule judges them"
            }
        }
    }
}

fn shape(line: &Line<'_>) -> Option<Shape> {
    let (first, second) = (line.word(0), line.word(1));
    let timed = is_time(first.trim_end_matches(':'));
    Some(match line.words[..] {
        ["Caller", "Avg", of, "Count", "Max", _, "Total", _] => match of.eq_ignore_ascii_case("hold") {
            true => Shape::LockHolds,
            false => Shape::LockWaits,
        },
        ["Potential", "Deadlock", "Detected!"] => Shape::Deadlock,
        [_, "PIDs/sec:", ..] if timed => Shape::PidsPerSecond,
        [_, "load", "averages:", _, _, _] if timed => Shape::Loads,
        [.., "unclaimed", "idle", _] if first == "%CPU" || timed && second == "%CPU" => Shape::Unclaimed,
        ["runqocc:", share] if share.ends_with('%') => Shape::Occupied,
        [header] if header.starts_with("TIMESTAMP_ns,CPU0") => Shape::Unclaimed,
        [disk, ref points @ ..] if is_disk(disk) && points.len() >= 3 && is_points(points) => {
            Shape::Percentiles
        }
        [day, time] if is_date(day) && time.strip_suffix(']').is_some_and(is_time) => Shape::Subnets,
        _ => return None,
    })
}

fn is_time(word: &str) -> bool {
    time_of_day(&Line { number: 0, text: "", words: vec![word] }, 0).is_some()
}

/// `[03/05/18`
fn is_date(word: &str) -> bool {
    let parts = word
        .strip_prefix('[')
        .map(|word| word.split('/').filter(|part| part.len() == 2 && number(part).is_some()));
    parts.is_some_and(|parts| parts.count() == 3)
}

fn is_disk(word: &str) -> bool {
    ["nvme", "sd", "vd", "xvd", "md", "dm-", "mmcblk"].iter().any(|start| word.starts_with(start))
}

/// `p1 p50 p99.9`, growing; without the letter (`-p 1,50`) they may be a disk's figures.
fn is_points(words: &[&str]) -> bool {
    let values: Option<Vec<f64>> = words.iter().map(|word| number(word.strip_prefix('p')?)).collect();
    values
        .is_some_and(|values| values.is_sorted() && values.iter().all(|value| (0.0..=100.0).contains(value)))
}

/// Figures of times, each with a unit of its own or in nanoseconds: `14.2 us 4 30 us`.
fn times(words: &[&str]) -> Option<Vec<f64>> {
    let mut values: Vec<f64> = Vec::new();
    for word in words {
        let scale = match *word {
            "ns" => 1.0,
            "us" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            _ => {
                values.push(number(word)?);
                continue;
            }
        };
        *values.last_mut()? *= scale;
    }
    Some(values)
}

#[derive(Default)]
struct Told {
    shape: Option<Shape>,
    table: Option<FigureTable>,
    clock: DayClock,
}

/// Rows of one table.
const MOST_ROWS: usize = 65_536;

impl Told {
    fn flush(&mut self, out: &mut Out<'_>) {
        if let Some(table) = self.table.take() {
            out.push(table);
        }
    }

    fn row(&mut self, shape: Shape, line: &Line<'_>, out: &mut Out<'_>) -> Option<()> {
        let words = &line.words;
        let at = time_of_day(&Line { words: vec![line.word(0).trim_end_matches(':')], ..*line }, 0);
        let mut row = FigureRow::new(Entity::Host);
        let mut over = Over::Interval(Nanos::UNKNOWN);
        match shape {
            Shape::PidsPerSecond => {
                // bpftrace prints no map that is empty.
                let count = if words.len() == 2 { Some(0.0) } else { number(line.word(words.len() - 1)) };
                row.set(Metric::Forks, count.filter(|count| *count >= 0.0)?);
                over = Over::Interval(Nanos::new(1_000_000_000));
            }
            Shape::Loads => {
                let (_, loads) = line.text.split_once("averages:")?;
                say_load(&mut row, &format!(": {}", loads.trim().replace(' ', ", ")));
                over = Over::Moment;
            }
            Shape::LockWaits | Shape::LockHolds => {
                // Frames of the stack stand below (`-s`).
                if words.len() == 1 {
                    return self.table.is_some().then_some(());
                }
                let values = times(words.get(1..)?)?;
                let &[_, count, longest, total] = values.as_slice() else { return None };
                let caller = line.word(0).split('+').next().unwrap_or("");
                let how = if shape == Shape::LockWaits { "lock wait in" } else { "lock hold in" };
                row.of = Entity::Function { pid: None, name: format!("{how} {caller}").into() };
                row.set(Metric::CallCount, count);
                row.set(Metric::CallMax, longest);
                row.set(Metric::CallTotal, total);
            }
            Shape::Percentiles => {
                let is_time = |word: &str| {
                    word == "-"
                        || number_and_rest(word).is_some_and(|(_, unit)| matches!(unit, "us" | "ms" | "s"))
                };
                (matches!(line.word(0), "read" | "write" | "discard" | "flush")
                    && words.iter().skip(1).all(|word| is_time(word)))
                .then_some(())?;
            }
            Shape::Subnets => {
                let (_, mask) = line.word(0).split_once('/')?;
                (words.len() == 2 && number(mask).is_some() && number(line.word(1)).is_some())
                    .then_some(())?;
            }
            Shape::Occupied => (line.word(0) == "runqocc:").then_some(())?,
            Shape::Unclaimed => {
                let csv =
                    line.word(0).split(',').all(|cell| number(cell).is_some()) && line.text.contains(',');
                (csv && words.len() == 1 || line.has("unclaimed")).then_some(())?;
            }
            Shape::Deadlock => {
                let told = line.text.contains("=>")
                    || line.text.contains("acquired")
                    || line.text.contains("created");
                let is_frame =
                    line.word(0) == "@" && line.word(1).bytes().all(|byte| byte.is_ascii_hexdigit());
                (told || is_frame).then_some(())?;
                if !line.text.contains("acquired here while holding") {
                    return Some(());
                }
            }
        }
        out.made(shape.tool(), 1, shape.says());
        if row.figures.is_empty() {
            *out.given += 1;
            return Some(());
        }
        line.sign(&mut row);
        if at.is_some() {
            self.flush(out);
            out.clock(ClockKind::TimeOfDay);
        }
        let table = self.table.get_or_insert_with(|| out.table(shape.tool()));
        table.over = over;
        if let Some((time, _)) = at {
            table.at = Timestamp::new(self.clock.carry(time));
        }
        if table.rows.len() < MOST_ROWS {
            table.rows.push(row);
        }
        Some(())
    }
}

impl Block for Told {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if let Some(shape) = shape(line) {
            if self.shape != Some(shape) || matches!(shape, Shape::LockWaits | Shape::LockHolds) {
                self.flush(out);
            }
            self.shape = Some(shape);
            let is_row = matches!(shape, Shape::PidsPerSecond | Shape::Loads | Shape::Occupied)
                || line.has("unclaimed");
            if !is_row {
                return Step::Used;
            }
        }
        let Some(shape) = self.shape else { return Step::Other };
        match self.row(shape, line, out) {
            Some(()) => Step::Used,
            None => Step::Other,
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.flush(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Shape> {
        shape(&Line::new(1, text))
    }

    #[test]
    fn first_lines_of_each_tool() {
        assert_eq!(of("18:33:06: PIDs/sec: 4"), Some(Shape::PidsPerSecond));
        assert_eq!(of("22:29:50 PIDs/sec: @: 121"), Some(Shape::PidsPerSecond));
        assert_eq!(of("21:29:17 load averages: 2.091 2.048 1.947"), Some(Shape::Loads));
        assert_eq!(of("  Caller   Avg Spin  Count   Max spin Total spin"), Some(Shape::LockWaits));
        assert_eq!(of("  Caller   Avg Hold  Count   Max hold Total hold"), Some(Shape::LockHolds));
        assert_eq!(of("nvme0n1    p1    p5   p50  p99.9"), Some(Shape::Percentiles));
        assert_eq!(of("[03/05/18 22:42:56]"), Some(Shape::Subnets));
        assert_eq!(of("%CPU  83.00%, unclaimed idle 0.12%"), Some(Shape::Unclaimed));
        for other in [
            "TIMESTAMP,CPU0,CPU1",
            "the load averages: 1 2 3",
            "p1 p2",
            "a b c d",
            "[03/05/18]",
            "race p9 p3 p1",
            "",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn times_have_a_unit_each_or_are_nanoseconds() {
        assert_eq!(times(&["14", "us", "3", "2", "ms"]), Some(vec![14_000.0, 3.0, 2_000_000.0]));
        assert_eq!(times(&["625", "412686"]), Some(vec![625.0, 412_686.0]));
        assert_eq!(times(&["us"]), None);
        assert_eq!(times(&["x"]), None);
    }
}
