//! Files of /proc and control groups that tell means of the last seconds and minutes: loadavg, pressure.

use super::line::{Line, number};
use super::{Block, Out, Step, Tool, kernel};
use whyslow_model::{Entity, FigureRow, Metric, Over};

pub(super) static LOADAVG: Tool =
    Tool { begins: |line| loadavg(line).is_some(), row: |_| false, open: || Box::new(Loadavg) };

pub(super) static PRESSURE: Tool = Tool {
    begins: |line| matches!(line.word(0), "some" | "full") && line.word(1).starts_with("avg10="),
    row: |_| false,
    open: || Box::new(Pressure),
};

/// `0.20 0.18 0.12 1/80 11206`: three averages, runnable and all tasks, the last process.
fn loadavg(line: &Line<'_>) -> Option<[f64; 5]> {
    let [one, five, fifteen, tasks, last] = line.words[..] else { return None };
    let (running, all) = tasks.split_once('/')?;
    last.parse::<u32>().ok()?;
    let average = |word: &str| number(word).filter(|_| word.contains('.'));
    Some([average(one)?, average(five)?, average(fifteen)?, number(running)?, number(all)?])
}

struct Loadavg;

impl Block for Loadavg {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        let Some(figures) = loadavg(line) else { return Step::Other };
        let metrics = [Metric::Load1, Metric::Load5, Metric::Load15, Metric::Runnable, Metric::Threads];
        let mut row = FigureRow::new(Entity::Host);
        metrics.into_iter().zip(figures).for_each(|(metric, value)| row.set(metric, value));
        line.sign(&mut row);
        let mut table = out.table("/proc/loadavg");
        table.rows.push(row);
        out.push(table);
        Step::Used
    }

    fn end(&mut self, _: &mut Out<'_>) {}
}

/// Pressure; which resource it is of only the file's name tells: `pressure/io`, `io.pressure`.
struct Pressure;

impl Block for Pressure {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        let Some(share) = line.word(1).strip_prefix("avg10=").and_then(number) else { return Step::Other };
        let name = out.about.path.rsplit('/').next().unwrap_or("").to_ascii_lowercase();
        let full = line.word(0) == "full";
        let metric = match (name.contains("cpu"), name.contains("memory"), name.contains("io"), full) {
            (true, _, _, false) => Metric::PressureCpu,
            (_, true, _, false) => Metric::PressureMemory,
            (_, true, _, true) => Metric::PressureMemoryFull,
            (_, _, true, false) => Metric::PressureIo,
            (_, _, true, true) => Metric::PressureIoFull,
            // That all tasks wait for a CPU says nothing of a machine.
            _ => return Step::Used,
        };
        let of = kernel::group_of(&out.about.path).unwrap_or(Entity::Host);
        let mut row = FigureRow::new(of);
        row.set(metric, share / 100.0);
        line.sign(&mut row);
        let mut table = out.table("/proc/pressure");
        table.over = Over::Interval(whyslow_model::Nanos::from_secs(10));
        table.rows.push(row);
        out.push(table);
        Step::Used
    }

    fn end(&mut self, _: &mut Out<'_>) {}
}
