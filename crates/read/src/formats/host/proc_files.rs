//! Files of /proc and control groups that say how things are at a moment: meminfo, loadavg, stat, pressure.
//! Counters since boot become shares and means; rates need two looks or the time since boot, which these files lack.

use super::line::{Line, number};
use super::{Block, Out, Step, Tool};
use whyslow_model::{Entity, FigureRow, FigureTable, Metric, Over};

pub(super) static MEMINFO: Tool = Tool {
    begins: |line| line.word(0) == "MemTotal:" && line.word(2) == "kB",
    row: |_| false,
    open: || Box::<Meminfo>::default(),
};

pub(super) static LOADAVG: Tool =
    Tool { begins: |line| loadavg(line).is_some(), row: |_| false, open: || Box::new(Loadavg) };

pub(super) static STAT: Tool = Tool {
    begins: |line| {
        line.word(0) == "cpu" && line.words.len() >= 8 && figures(line, 1).len() + 1 == line.words.len()
    },
    row: |_| false,
    open: || Box::<Stat>::default(),
};

pub(super) static PRESSURE: Tool = Tool {
    begins: |line| matches!(line.word(0), "some" | "full") && line.word(1).starts_with("avg10="),
    row: |_| false,
    open: || Box::new(Pressure),
};

/// Lines of meminfo that are kept, in kB.
static MEMORY: &[(&str, Metric)] = &[
    ("MemTotal", Metric::MemTotal),
    ("MemFree", Metric::MemFree),
    ("MemAvailable", Metric::MemAvailable),
    ("Buffers", Metric::MemBuffers),
    ("Cached", Metric::MemCached),
    ("Active(file)", Metric::MemActiveFile),
    ("Dirty", Metric::MemDirty),
    ("Writeback", Metric::MemWriteback),
    ("SwapTotal", Metric::SwapTotal),
    ("SwapFree", Metric::SwapFree),
];

#[derive(Default)]
struct Meminfo {
    row: Option<FigureRow>,
}

impl Block for Meminfo {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        let Some(name) = line.word(0).strip_suffix(':').filter(|_| line.words.len() <= 3) else {
            return Step::Other;
        };
        let Some(kb) = number(line.word(1)) else { return Step::Other };
        if name == "MemTotal" {
            self.end(out);
        }
        let row = self.row.get_or_insert_with(|| FigureRow::new(Entity::Host));
        if row.line == 0 {
            line.sign(row);
        }
        if let Some((_, metric)) =
            MEMORY.iter().find(|(of, _)| *of == name).filter(|(_, is)| row.get(*is).is_none())
        {
            row.set(*metric, kb * 1024.0);
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        if let Some(row) = self.row.take() {
            let mut table = out.table("/proc/meminfo");
            table.rows.push(row);
            out.push(table);
        }
    }
}

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

/// The numbers from that word on.
fn figures(line: &Line<'_>, from: usize) -> Vec<f64> {
    line.words.iter().skip(from).map_while(|word| number(word)).collect()
}

#[derive(Default)]
struct Stat {
    shares: Option<FigureTable>,
    levels: Option<FigureTable>,
    cpus: f64,
}

/// Columns of a `cpu` line, in clock ticks.
const MODES: [Metric; 8] = [
    Metric::CpuUser,
    Metric::CpuNice,
    Metric::CpuSystem,
    Metric::CpuIdle,
    Metric::CpuIowait,
    Metric::CpuIrq,
    Metric::CpuSoftirq,
    Metric::CpuSteal,
];

impl Block for Stat {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        let name = line.word(0);
        if let Some(number) = name.strip_prefix("cpu") {
            let ticks = figures(line, 1);
            let of = match number {
                "" => Entity::Host,
                number => match number.parse::<u32>() {
                    Ok(cpu) => Entity::Cpu(cpu),
                    Err(_) => return Step::Other,
                },
            };
            if ticks.len() < 7 {
                return Step::Damaged("CPU time by mode, in ticks");
            }
            if number.is_empty() {
                self.end(out);
            } else {
                self.cpus += 1.0;
            }
            let mut row = FigureRow::new(of);
            let all: f64 = ticks.iter().take(MODES.len()).sum();
            if all > 0.0 {
                MODES.into_iter().zip(&ticks).for_each(|(metric, ticks)| row.set(metric, ticks / all));
            }
            line.sign(&mut row);
            let table = self.shares.get_or_insert_with(|| out.table("/proc/stat"));
            table.over = Over::SinceBoot;
            if table.rows.len() < 65_536 {
                table.rows.push(row);
            }
            return Step::Used;
        }
        let metric = match name {
            "procs_running" => Metric::Runnable,
            "procs_blocked" => Metric::Uninterruptible,
            "intr" | "ctxt" | "btime" | "processes" | "softirq" => return Step::Used,
            _ => return Step::Other,
        };
        let Some(value) = number(line.word(1)) else { return Step::Damaged("a number of tasks") };
        let row = self.levels.get_or_insert_with(|| out.table("/proc/stat")).row(Entity::Host);
        if row.get(metric).is_none() {
            row.set(metric, value);
        }
        line.sign(row);
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        let cpus = std::mem::take(&mut self.cpus);
        if let Some(table) = self.shares.take() {
            out.push(table);
        }
        if let Some(mut table) = self.levels.take() {
            if cpus > 0.0 {
                table.row(Entity::Host).set(Metric::CpuCount, cpus);
            }
            out.push(table);
        }
    }
}

/// Pressure; which resource it is of only the file's name tells: `pressure/io`, `io.pressure`.
struct Pressure;

impl Block for Pressure {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        let Some(share) = line.word(1).strip_prefix("avg10=").and_then(number) else { return Step::Other };
        let name = out.info.name.rsplit('/').next().unwrap_or("").to_ascii_lowercase();
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
        let mut row = FigureRow::new(Entity::Host);
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
