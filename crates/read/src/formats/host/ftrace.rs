//! Events as ftrace prints them: functrace, kprobe, uprobe and tpoint of perf-tools, `trace-cmd report`, a copy of the
//! kernel's file `trace`. A line is an event of a thread on a CPU.
//!
//! ```text
//!        orders-4711  [001] d... 6910441.001452: do_sys_open: (do_sys_open+0x0/0x220)
//!        orders-4711  [001] .... 6910441.003521: do_nanosleep <-hrtimer_nanosleep
//! ```

use super::columns::task_number;
use super::line::{Line, number_and_rest};
use super::{Block, Out, Step, Tool};
use std::collections::HashMap;
use whyslow_model::{ClockKind, Entity, FigureRow, Metric, Nanos, Over, Timestamp, Trait};

pub(super) static FTRACE: Tool =
    Tool { begins: |line| Traced::of(line).is_some(), row: |_| false, open: || Box::<Ftrace>::default() };

/// One event.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Traced<'l> {
    comm: &'l str,
    tid: u32,
    /// Nanoseconds since boot.
    at: u64,
    /// The function or the event; empty for what is no event of its own: the head of a stack, the end of a call.
    name: &'l str,
}

impl<'l> Traced<'l> {
    fn of(line: &Line<'l>) -> Option<Traced<'l>> {
        let is_cpu = |word: &str| {
            let digits = word.strip_prefix('[').and_then(|word| word.strip_suffix(']'));
            digits.is_some_and(|digits| digits.len() >= 3 && digits.bytes().all(|byte| byte.is_ascii_digit()))
        };
        // A name may have blanks, and be followed by its process: `Web Content-77 (70) [001]`.
        let cpu = line.words.iter().take(8).position(|word| is_cpu(word))?;
        let task = (0..cpu).rev().take(3).find_map(|at| Some((at, line.word(at).rsplit_once('-')?)))?;
        let (at, (_, tid)) = task;
        let tid = task_number(tid)?;
        let (start, end) = (line.word(0), line.word(at));
        let len = (end.as_ptr() as usize + end.len()).checked_sub(start.as_ptr() as usize)?;
        let (comm, _) = line.rest(0).get(..len)?.rsplit_once('-')?;
        // Flags stand before the time, or do not.
        let time = |word: &str| seconds(word.strip_suffix(':')?);
        let (stamp, at) = [cpu + 1, cpu + 2].into_iter().find_map(|at| Some((at, time(line.word(at))?)))?;
        let (first, second) = (line.word(stamp + 1), line.word(stamp + 2));
        let name = first.split(['(', ':']).next().unwrap_or(first);
        let name = if second == "->" || first.starts_with('<') { "" } else { name };
        (!first.is_empty()).then_some(Traced { comm, tid, at, name })
    }
}

/// Nanoseconds of `6910441.001452`.
fn seconds(word: &str) -> Option<u64> {
    let (whole, part) = word.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(whole) && digits(part) && part.len() >= 6).then_some(())?;
    let (value, _) = number_and_rest(word)?;
    Some((value * 1e9) as u64)
}

#[derive(Default)]
struct Ftrace {
    /// Of each thread and event: how often, the first line, the thread's name.
    counts: HashMap<(u32, Box<str>), (f64, FigureRow)>,
    events: u64,
    first: Option<u64>,
    last: Option<u64>,
}

/// Threads and events counted apart.
const MOST_ROWS: usize = 65_536;

impl Block for Ftrace {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        let Some(traced) = Traced::of(line) else {
            // A frame of a stack, and the head of the kernel's file.
            let is_frame = line.word(0) == "=>" && line.words.len() == 2;
            return if is_frame || line.word(0).starts_with('#') { Step::Used } else { Step::Other };
        };
        out.clock(ClockKind::Relative);
        self.first = self.first.or(Some(traced.at));
        self.last = Some(traced.at);
        if traced.name.is_empty() {
            return Step::Used;
        }
        self.events += 1;
        let key = (traced.tid, traced.name.into());
        if self.counts.len() >= MOST_ROWS && !self.counts.contains_key(&key) {
            return Step::Used;
        }
        let (count, _) = self.counts.entry(key).or_insert_with(|| {
            let mut row =
                FigureRow::new(Entity::Function { pid: Some(traced.tid), name: traced.name.into() });
            if traced.comm != "<...>" {
                row.say(Trait::Name, traced.comm);
            }
            line.sign(&mut row);
            (0.0, row)
        });
        *count += 1.0;
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        let Ftrace { counts, events, first, last } = std::mem::take(self);
        if counts.is_empty() {
            return;
        }
        out.made("ftrace", events, "events counted by name and thread");
        let length = last.zip(first).and_then(|(last, first)| last.checked_sub(first)).filter(|ns| *ns > 0);
        let mut table = out.table("ftrace");
        table.over = Over::Interval(length.map_or(Nanos::UNKNOWN, Nanos::new));
        table.at = last.map_or(Timestamp::UNKNOWN, Timestamp::new);
        for (count, mut row) in counts.into_values() {
            row.set(Metric::CallCount, count);
            if let Some(length) = length {
                row.set(Metric::Calls, count * 1e9 / length as f64);
            }
            table.rows.push(row);
        }
        table.rows.sort_by_key(|row| row.line);
        out.push(table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Traced<'_>> {
        Traced::of(&Line::new(1, text))
    }

    #[test]
    fn lines_of_each_tool() {
        let told = |comm, tid, name| Some((comm, tid, name));
        let read = |text| of(text).map(|traced| (traced.comm, traced.tid, traced.name));
        assert_eq!(
            read("  orders-4711  [001] d... 6910441.001452: do_sys_open: (do_sys_open+0x0/0x220)"),
            told("orders", 4711, "do_sys_open")
        );
        assert_eq!(
            read(" orders-4711  [001] .... 12.003521: do_nanosleep <-hrtimer_nanosleep"),
            told("orders", 4711, "do_nanosleep")
        );
        assert_eq!(
            read(" Web Content-77 (70) [012] 5.000001: sys_openat(dfd: ffffff9c)"),
            told("Web Content", 77, "sys_openat")
        );
        assert_eq!(read(" <idle>-0  [000] d... 5.000001: <stack trace>"), told("<idle>", 0, ""));
        assert_eq!(read(" a-b-7  [000] 5.000001: sys_read -> 0x3"), told("a-b", 7, ""));
        assert_eq!(of(" x-7  [000] 5.000002: f").map(|traced| traced.at), Some(5_000_002_000));
    }

    #[test]
    fn other_lines_are_none() {
        for other in [
            "orders 4711 [001] 6910441.001452: cycles:  ffff schedule",
            "anna-12 [001] wrote 3.5: fine",
            "bert-7 [2] 3.500000: good",
            "x-1 [001]",
            "[001] 5.000001: f",
            "",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
