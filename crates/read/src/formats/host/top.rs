//! top: batches (`-b`) and pasted screens, old (`Cpu0 : 46.4%us`) and new (`%Cpu(s): 3.5 us`), in any language: the
//! summary is read by the order of its figures where its words are unknown.

use super::columns::{say_task, task_number};
use super::line::{DayClock, Line, number, pairs, size, time_of_day};
use super::uptime::say_load;
use super::{Block, Out, Step, Tool};
use whyslow_model::{ClockKind, Entity, FigureRow, FigureTable, Metric, Nanos, Over, Timestamp, Trait};

pub(super) static TOP: Tool = Tool {
    begins: |line| line.starts(&["top", "-"]) || is_header(line),
    row: |line| cpu_of(line.text).is_some(),
    open: || Box::<Top>::default(),
};

/// The order of CPU modes, old and new.
const MODES: [(&str, Metric); 8] = [
    ("us", Metric::CpuUser),
    ("sy", Metric::CpuSystem),
    ("ni", Metric::CpuNice),
    ("id", Metric::CpuIdle),
    ("wa", Metric::CpuIowait),
    ("hi", Metric::CpuIrq),
    ("si", Metric::CpuSoftirq),
    ("st", Metric::CpuSteal),
];

/// The columns of tasks: `PID USER PR NI VIRT RES SHR S %CPU %MEM TIME+ COMMAND`.
fn is_header(line: &Line<'_>) -> bool {
    line.has("PID") && line.has("%CPU") && line.has("VIRT") && (line.has("RES") || line.has("SHR"))
}

/// Which CPU a line of the summary is of, and its figures: `%Cpu0  :  3.5 us, …`, `Cpu(s): …`.
fn cpu_of(text: &str) -> Option<(Entity, &str)> {
    let text = text.trim_start().trim_start_matches('%');
    let text = text.strip_prefix("Cpu").or_else(|| text.strip_prefix("CPU"))?;
    let (which, figures) = text.split_once(':')?;
    let of = match which.trim() {
        "(s)" => Entity::Host,
        number => Entity::Cpu(number.parse().ok()?),
    };
    // lscpu too shows `CPU(s):`, with one number.
    (pairs(figures).len() >= 4).then_some((of, figures))
}

#[derive(Default)]
struct Top {
    table: Option<FigureTable>,
    clock: DayClock,
    at: Option<u64>,
    before: Option<u64>,
    /// `PID` and its fellows, up to the command.
    columns: Vec<String>,
    /// Shows threads, not processes (`-H`).
    threads: bool,
    /// Tasks that the summary counts.
    tasks: Option<f64>,
    /// CPUs are shares of the whole machine, not of one CPU.
    solaris: bool,
    /// Of an old version (`46.4%us`), whose first table of several is since boot.
    old: bool,
    tables: u64,
}

impl Top {
    fn flush(&mut self, more: bool, out: &mut Out<'_>) {
        let Some(mut table) = self.table.take() else { return };
        table.at = self.at.map_or(Timestamp::UNKNOWN, Timestamp::new);
        let between =
            self.at.zip(self.before).and_then(|(at, before)| at.checked_sub(before)).filter(|ns| *ns > 0);
        table.over = match between {
            None if self.old && more && self.tables == 0 => Over::SinceBoot,
            between => Over::Interval(between.map_or(Nanos::UNKNOWN, Nanos::new)),
        };
        let listed = table.rows.iter().filter(|row| row.of.pid().is_some()).count() as f64;
        table.complete = self.tasks.is_some_and(|tasks| listed >= tasks);
        self.before = self.at.or(self.before);
        self.tasks = None;
        self.tables += 1;
        out.push(table);
    }

    fn table(&mut self, out: &mut Out<'_>) -> &mut FigureTable {
        self.table.get_or_insert_with(|| out.table("top"))
    }

    /// Adds to the row of the machine, signed by its last line.
    fn host(&mut self, line: &Line<'_>, out: &mut Out<'_>, figures: &[(Metric, f64)]) {
        let row = self.table(out).row(Entity::Host);
        for (metric, value) in figures {
            if row.get(*metric).is_none() {
                row.set(*metric, *value);
            }
        }
        if row.line == 0 {
            line.sign(row);
        }
    }

    fn cpus(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> bool {
        // Newer versions may show several on a line.
        let starts: Vec<usize> = line.text.match_indices("%Cpu").map(|(at, _)| at).collect();
        let bounds = if starts.is_empty() { vec![0] } else { starts };
        let mut known = false;
        self.old |= line.text.contains("%us");
        for (i, start) in bounds.iter().enumerate() {
            let end = bounds.get(i + 1).copied().unwrap_or(line.text.len());
            let Some((of, figures)) = line.text.get(*start..end).and_then(cpu_of) else { continue };
            known = true;
            if self.table(out).rows.len() > MOST_CPUS {
                continue;
            }
            let row = self.table(out).row(of);
            for (metric, share) in modes(figures) {
                if row.get(metric).is_none() {
                    row.set(metric, share);
                }
            }
            line.sign(row);
        }
        known
    }

    fn task(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        let at = |name: &str| self.columns.iter().position(|column| column == name);
        let Some(pid) = at("PID").and_then(|at| task_number(line.word(at))) else { return Step::Other };
        if line.words.len() < self.columns.len() {
            return Step::Damaged("a task with a cell for each column of top");
        }
        let process = at("TGID").and_then(|at| task_number(line.word(at)));
        let of = match (self.threads, process) {
            (true, process) => Entity::Thread { pid: process.unwrap_or(0), tid: pid },
            (false, _) => Entity::Process(pid),
        };
        let mut row = FigureRow::new(of);
        let figure = |name: &str| at(name).and_then(|at| number(line.word(at)));
        let bytes = |name: &str| at(name).and_then(|at| size(line.word(at), 1024.0));
        let Some(cpu) = figure("%CPU") else { return Step::Damaged("a share of CPU time") };
        if !self.solaris {
            row.set(Metric::TaskCpu, cpu / 100.0);
        }
        let figures = [
            (Metric::Nice, figure("NI")),
            (Metric::Rss, bytes("RES").filter(|_| !self.threads)),
            (Metric::Vsz, bytes("VIRT").filter(|_| !self.threads)),
            (Metric::Swapped, bytes("SWAP")),
            (Metric::Threads, figure("nTH")),
        ];
        for (metric, value) in figures {
            if let Some(value) = value {
                row.set(metric, value);
            }
        }
        for (name, of) in
            [("S", Trait::State), ("USER", Trait::User), ("PPID", Trait::Parent), ("WCHAN", Trait::Wchan)]
        {
            if let Some(at) = at(name).filter(|at| line.word(*at) != "-") {
                row.say(of, line.word(at));
            }
        }
        // Behind the command stand columns with blanks; two blanks end it.
        let command = line.rest(self.columns.len() - 1);
        say_task(&mut row, command.split("  ").next().unwrap_or(command));
        line.sign(&mut row);
        let table = self.table(out);
        if table.rows.len() < MOST_ROWS {
            table.rows.push(row);
        }
        Step::Used
    }
}

/// CPUs of one screen: Linux is built for 8,192 at most.
const MOST_CPUS: usize = 8192;
/// Tasks of one screen.
const MOST_ROWS: usize = 65_536;

/// The modes of a line of the summary, by their words, else by their order.
fn modes(figures: &str) -> Vec<(Metric, f64)> {
    let figures = pairs(figures);
    let word = |label: &str| label.trim_start_matches(['%', ' ']).trim().to_string();
    let known =
        figures.iter().filter(|(_, label)| MODES.iter().any(|(name, _)| *name == word(label))).count();
    let share = |value: f64| (value / 100.0).clamp(0.0, 1.0);
    if known * 2 > MODES.len() || figures.len() != MODES.len() {
        let of = |label: &str| MODES.iter().find(|(name, _)| *name == word(label)).map(|(_, metric)| *metric);
        return figures.iter().filter_map(|(value, label)| Some((of(label)?, share(*value)))).collect();
    }
    figures.iter().zip(MODES).map(|((value, _), (_, metric))| (metric, share(*value))).collect()
}

impl Block for Top {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if line.starts(&["top", "-"]) {
            self.flush(true, out);
            self.columns.clear();
            let mut row = FigureRow::new(Entity::Host);
            say_load(&mut row, line.text);
            line.sign(&mut row);
            if let Some((time, _)) = time_of_day(line, 2) {
                out.clock(ClockKind::TimeOfDay);
                self.at = Some(self.clock.carry(time));
            }
            self.table(out).rows.push(row);
            return Step::Used;
        }
        if is_header(line) {
            // Without a summary each header is a table of its own.
            if !self.columns.is_empty() {
                self.flush(true, out);
            }
            let is_command = |word: &&str| {
                matches!(*word, "COMMAND" | "BEFEHL" | "COM." | "Command" | "COMANDO" | "ORDEN")
            };
            let end = line.words.iter().position(is_command).map_or(line.words.len(), |at| at + 1);
            self.columns = line.words.iter().take(end).map(|word| (*word).to_string()).collect();
            return Step::Used;
        }
        if self.cpus(line, out) {
            return Step::Used;
        }
        if !self.columns.is_empty() {
            match self.task(line, out) {
                Step::Other => {}
                step => return step,
            }
        }
        if let Some(mode) = line.text.split_once("Irix mode ").map(|(_, mode)| mode.trim()) {
            self.solaris = mode.starts_with("Off");
            return Step::Used;
        }
        let Some((label, text)) = line.text.split_once(':').filter(|_| self.columns.is_empty()) else {
            return Step::Other;
        };
        let figures = pairs(text);
        match label.trim() {
            label if label.ends_with("Mem") || label.ends_with("Spch") => {
                self.host(line, out, &memory(label, text, false))
            }
            label if label.ends_with("Swap") || label.ends_with("Éch") => {
                self.host(line, out, &memory(label, text, true))
            }
            // Tasks, in any language: total, running, sleeping, stopped, zombie.
            label if figures.len() >= 5 && label.chars().all(char::is_alphabetic) => {
                self.threads = matches!(label, "Threads" | "Fäden");
                self.tasks = figures.first().map(|(total, _)| *total);
                let at = |i: usize| figures.get(i).map_or(f64::NAN, |(value, _)| *value);
                let zombies = at(figures.len() - 1);
                let mut counts = vec![(Metric::Runnable, at(1)), (Metric::Zombies, zombies)];
                counts.push((if self.threads { Metric::Threads } else { Metric::Tasks }, at(0)));
                if let Some((value, _)) = figures.iter().find(|(_, label)| *label == "d-sleep") {
                    counts.push((Metric::Uninterruptible, *value));
                }
                self.host(line, out, &counts);
            }
            _ => return Step::Other,
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.flush(false, out);
    }
}

/// `KiB Mem :  8169300 total,  3323248 free, …`, `Mem:  132107852k total, …`, in any order of the words.
fn memory(label: &str, text: &str, swap: bool) -> Vec<(Metric, f64)> {
    let kib = match label.split_ascii_whitespace().next() {
        Some("MiB") => 1024.0,
        Some("GiB") => 1024.0 * 1024.0,
        Some("TiB") => 1024.0 * 1024.0 * 1024.0,
        _ => 1.0,
    };
    let found = pairs(text);
    // Of a figure with `+` the last digits did not find room.
    let whole = found.iter().filter(|(_, label)| !label.starts_with('+'));
    let of = |(value, label): &(f64, &str)| {
        let (unit, words) = match label.as_bytes().first() {
            Some(b'k') if label.starts_with("k ") => (1.0, label.get(2..)?),
            Some(b'M' | b'm') if label.get(1..2) == Some(" ") => (1024.0, label.get(2..)?),
            Some(b'G' | b'g') if label.get(1..2) == Some(" ") => (1024.0 * 1024.0, label.get(2..)?),
            _ => (kib, *label),
        };
        let metric = match (words.trim(), swap) {
            ("total" | "gesamt", false) => Metric::MemTotal,
            ("free" | "libr" | "frei", false) => Metric::MemFree,
            ("used" | "util" | "belegt", false) => Metric::MemUsed,
            ("buffers", false) => Metric::MemBuffers,
            // Of the page cache this is nearly all.
            ("buff/cache", false) | ("cached" | "cached Mem", true) => Metric::MemCached,
            ("total" | "gesamt", true) => Metric::SwapTotal,
            ("free" | "libr" | "frei", true) => Metric::SwapFree,
            ("used" | "util" | "belegt", true) => Metric::Swapped,
            ("avail Mem", true) => Metric::MemAvailable,
            _ => return None,
        };
        Some((metric, value * unit * 1024.0))
    };
    whole.filter_map(of).collect()
}
