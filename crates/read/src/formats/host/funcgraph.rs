//! Graphs of calls in the kernel with their times, as ftrace's function graph tracer prints them: funcgraph and funcslower of
//! perf-tools. A line is a call, or the end of one, with the time that it took.
//!
//! ```text
//!  0)               |  do_nanosleep() {
//!  0)   0.198 us    |    _raw_spin_lock_irqsave();
//!  0)   1000149 us  |  }
//!  1)  cksum-26695   | ! 8145.268 us |  } /* ext3_readpages */
//! ```

use super::columns::task_number;
use super::line::{Line, number};
use super::{Block, Out, Step, Tool};
use std::collections::HashMap;
use whyslow_model::{Entity, FigureRow, Metric, Trait};

pub(super) static FUNCGRAPH: Tool =
    Tool { begins: |line| Drawn::of(line).is_some(), row: |_| false, open: || Box::<Funcgraph>::default() };

/// What a line draws.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Code<'l> {
    /// `f() {`
    Enter(&'l str),
    /// `f();`
    Leaf(&'l str),
    /// `}`, perhaps with its name behind it.
    Leave(Option<&'l str>),
}

/// One line.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Drawn<'l> {
    cpu: u32,
    /// Name and number of the task, where they are shown.
    task: Option<(&'l str, u32)>,
    /// Nanoseconds.
    took: Option<f64>,
    code: Code<'l>,
}

impl<'l> Drawn<'l> {
    fn of(line: &Line<'l>) -> Option<Drawn<'l>> {
        // A time may stand before (`-t`).
        let text = match line.text.split_once('|') {
            Some((time, rest)) if number(time.trim()).is_some() => rest,
            _ => line.text,
        };
        let (cpu, rest) = text.trim_start().split_once(')')?;
        let cpu = cpu.parse().ok().filter(|cpu| *cpu < MOST_CPUS)?;
        let (cells, code) = match rest.rsplit_once('|') {
            Some((cells, code)) => (cells, code),
            None => ("", rest),
        };
        let mut drawn = Drawn { cpu, task: None, took: None, code: Code::of(code.trim())? };
        for cell in cells.split('|').map(str::trim).filter(|cell| !cell.is_empty()) {
            if let Some(time) = cell.strip_suffix("us") {
                // A mark before the time says how long it is.
                let time = time.trim_start_matches(['+', '!', '#', '*', '@', '$', '&']).trim();
                drawn.took = Some(number(time)? * 1e3);
            } else {
                let (name, tid) = cell.rsplit_once('-')?;
                drawn.task = Some((name, task_number(tid)?));
            }
        }
        Some(drawn)
    }
}

impl<'l> Code<'l> {
    fn of(code: &'l str) -> Option<Code<'l>> {
        let is_name = |name: &&str| {
            name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:".contains(&byte))
        };
        if let Some(rest) = code.strip_prefix('}') {
            let name = rest.trim().strip_prefix("/*").and_then(|name| name.strip_suffix("*/"));
            let name = name.map(str::trim).filter(is_name);
            return (rest.is_empty() || name.is_some()).then_some(Code::Leave(name));
        }
        // A module may stand behind it: `f [ext4]();`.
        let named = |end: &str| code.strip_suffix(end)?.split(' ').next().filter(is_name);
        named("() {").map(Code::Enter).or_else(|| named("();").map(Code::Leaf))
    }
}

/// CPUs whose calls are kept apart; Linux is built for 8,192 at most.
const MOST_CPUS: u32 = 8192;
/// Calls within each other on one CPU.
const MOST_DEPTH: usize = 256;
/// Functions of a kernel, and tasks.
const MOST_ROWS: usize = 65_536;

#[derive(Default)]
struct Sum {
    count: f64,
    took: Option<f64>,
    longest: f64,
    row: Option<FigureRow>,
}

#[derive(Default)]
struct Funcgraph {
    /// Functions that were entered on each CPU.
    open: HashMap<u32, Vec<Box<str>>>,
    sums: HashMap<(Option<u32>, Box<str>), Sum>,
    calls: u64,
}

impl Funcgraph {
    fn add(&mut self, name: &str, drawn: &Drawn<'_>, line: &Line<'_>) {
        self.calls += 1;
        let pid = drawn.task.map(|(_, tid)| tid);
        let key = (pid, name.into());
        if self.sums.len() >= MOST_ROWS && !self.sums.contains_key(&key) {
            return;
        }
        let sum = self.sums.entry(key).or_default();
        sum.count += 1.0;
        let is_longest = drawn.took.is_some_and(|took| took > sum.longest);
        if sum.row.is_none() || is_longest {
            let mut row = FigureRow::new(Entity::Function { pid, name: name.into() });
            line.sign(&mut row);
            if let Some((name, _)) = drawn.task.filter(|(name, _)| *name != "<...>") {
                row.say(Trait::Name, name);
            }
            sum.row = Some(row);
        }
        if let Some(took) = drawn.took {
            sum.took = Some(sum.took.unwrap_or(0.0) + took);
            sum.longest = sum.longest.max(took);
        }
    }
}

impl Block for Funcgraph {
    fn line(&mut self, line: &Line<'_>, _: &mut Out<'_>) -> Step {
        let Some(drawn) = Drawn::of(line) else {
            // `------------------------------------------`, `0)   cron-2125   =>   bash-2132`: another task on the CPU.
            let is_rule = line.words.len() == 1
                && line.word(0).len() > 8
                && line.word(0).bytes().all(|byte| byte == b'-');
            return if is_rule || line.has("=>") { Step::Used } else { Step::Other };
        };
        match drawn.code {
            Code::Leaf(name) => self.add(name, &drawn, line),
            Code::Enter(name) => {
                let open = self.open.entry(drawn.cpu).or_default();
                if open.len() < MOST_DEPTH {
                    open.push(name.into());
                }
            }
            Code::Leave(named) => {
                let entered = self.open.get_mut(&drawn.cpu).and_then(Vec::pop);
                // What was entered before the trace began has a name only where the tool shows it.
                if let Some(name) = named.map(Box::from).or(entered) {
                    self.add(&name, &drawn, line);
                }
            }
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        let Funcgraph { sums, calls, .. } = std::mem::take(self);
        if sums.is_empty() {
            return;
        }
        let timed = sums.values().any(|sum| sum.took.is_some());
        out.made(
            "funcgraph",
            calls,
            if timed {
                "calls counted by function, each with what it calls in its time"
            } else {
                "calls counted by function, without times"
            },
        );
        let mut table = out.table("funcgraph");
        for sum in sums.into_values() {
            let Some(mut row) = sum.row else { continue };
            row.set(Metric::CallCount, sum.count);
            if let Some(took) = sum.took {
                row.set(Metric::CallTotal, took);
                row.set(Metric::CallMax, sum.longest);
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

    fn of(text: &str) -> Option<(u32, Option<u32>, Option<f64>, Code<'_>)> {
        let drawn = Drawn::of(&Line { number: 1, text, words: Vec::new() })?;
        Some((drawn.cpu, drawn.task.map(|(_, tid)| tid), drawn.took, drawn.code))
    }

    #[test]
    fn calls_ends_and_times() {
        assert_eq!(
            of(" 0)               |  do_nanosleep() {"),
            Some((0, None, None, Code::Enter("do_nanosleep")))
        );
        assert_eq!(
            of(" 11)   0.198 us    |    idle_cpu.part.3();"),
            Some((11, None, Some(198.0), Code::Leaf("idle_cpu.part.3")))
        );
        assert_eq!(of(" 1)   1000149 us |    }"), Some((1, None, Some(1_000_149_000.0), Code::Leave(None))));
        assert_eq!(
            of("2678112.003180 |   0)  cksum-26695   | ! 8145.268 us |  } /* ext3_readpages */"),
            Some((0, Some(26695), Some(8_145_268.0), Code::Leave(Some("ext3_readpages"))))
        );
        assert_eq!(of(" 1)     __alloc_fd();"), Some((1, None, None, Code::Leaf("__alloc_fd"))));
    }

    #[test]
    fn other_lines_are_none() {
        for other in [
            "3) Bb5 a6 |  ruy();",
            " 0)   1.5 us  of rope",
            "1) read the file;",
            "main() {",
            "a) f();",
            "1) f(x);",
            "",
            ")",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
