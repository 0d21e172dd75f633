//! atop: what it prints into a file or pipe (`atop -r`, `atop 10 6`), and its screen: lines of the host, a label and cells
//! between bars, then the processes.
//!
//! ```text
//! ATOP - vm      2026/11/22  23:37:53      -----------------       10s elapsed
//! CPU | sys      15% | user    139% | irq       0% | idle     44% | wait      1% |
//! DSK |          vda | busy      2% | read    2395 | write    442 | avio 0.10 ms |
//!   PID SYSCPU USRCPU BDELAY  VGROW  RGROW  RDDSK  WRDSK  CPU CMD            1/1
//! 10572  0.80s  7.13s  0.00s   1.6G 488.0M 166.6M 245.0M  79% rustc
//! ```
//!
//! All is counted over the time that the first line tells; the first sample is since boot. `avio` is the time in which the
//! disk was busy, by request, which is not how long a request took: it is not kept.

use super::columns::task_number;
use super::line::{DayClock, Line, number, number_and_rest, size, time_of_day};
use super::sysstat::seconds;
use super::{Block, Out, Step, Tool};
use whyslow_model::{ClockKind, Entity, FigureRow, FigureTable, Metric, Over, Timestamp, Trait};

pub(super) static ATOP: Tool =
    Tool { begins: |line| head(line).is_some(), row: |_| false, open: || Box::<Atop>::default() };

/// Seconds that a sample is over, and its time of day, by its first line.
fn head(line: &Line<'_>) -> Option<(f64, u64)> {
    if !line.starts(&["ATOP", "-"]) || line.words.last() != Some(&"elapsed") {
        return None;
    }
    let over = line.words.len().checked_sub(2).and_then(|at| length(line.word(at)))?;
    let time = (2..line.words.len()).find_map(|at| time_of_day(line, at))?.0;
    Some((over, time))
}

/// Seconds of `10s`, `2m57s`, `3h59m7s`, `1d2h`, `0.80s`.
fn length(text: &str) -> Option<f64> {
    let mut rest = text;
    let mut sum = 0.0;
    while !rest.is_empty() {
        let (value, behind) = number_and_rest(rest)?;
        let unit = behind.chars().next()?;
        sum += value
            * match unit {
                's' => 1.0,
                'm' => 60.0,
                'h' => 3_600.0,
                'd' => 86_400.0,
                _ => return None,
            };
        rest = behind.get(1..)?;
    }
    (!text.is_empty() && sum >= 0.0).then_some(sum)
}

/// What a cell counts in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum In {
    /// As it stands.
    Number,
    /// Events of the whole time.
    Events,
    /// Pages of 4 KiB in the whole time.
    Pages,
    /// A size, at the end.
    Size,
    /// A size, moved in the whole time.
    Moved,
    /// A share of one CPU or of the time.
    Percent,
    /// A share, of all CPUs 100 each.
    OfCpus,
    /// Time, of the whole time.
    Time,
    /// `670 Kbps`.
    Bits,
}

type Known = (&'static str, Metric, In);

/// Cells of the lines of the host, by their labels.
static LABELS: &[(&str, &[Known])] = &[
    (
        "PRC",
        &[
            ("#proc", Metric::Tasks, In::Number),
            ("#trun", Metric::Runnable, In::Number),
            ("#tslpu", Metric::Uninterruptible, In::Number),
            ("#zombie", Metric::Zombies, In::Number),
            ("clones", Metric::Forks, In::Events),
        ],
    ),
    ("CPU", CPU),
    ("cpu", CPU),
    (
        "CPL",
        &[
            ("avg1", Metric::Load1, In::Number),
            ("avg5", Metric::Load5, In::Number),
            ("avg15", Metric::Load15, In::Number),
            ("csw", Metric::ContextSwitches, In::Events),
            ("intr", Metric::Interrupts, In::Events),
            ("numcpu", Metric::CpuCount, In::Number),
        ],
    ),
    (
        "MEM",
        &[
            ("tot", Metric::MemTotal, In::Size),
            ("free", Metric::MemFree, In::Size),
            ("avail", Metric::MemAvailable, In::Size),
            ("cache", Metric::MemCached, In::Size),
            ("dirty", Metric::MemDirty, In::Size),
            ("buff", Metric::MemBuffers, In::Size),
        ],
    ),
    ("SWP", &[("tot", Metric::SwapTotal, In::Size), ("free", Metric::SwapFree, In::Size)]),
    (
        "PAG",
        &[
            ("stall", Metric::AllocStalls, In::Events),
            ("compact", Metric::CompactStalls, In::Events),
            ("swin", Metric::SwapIn, In::Pages),
            ("swout", Metric::SwapOut, In::Pages),
            ("oomkill", Metric::OomKills, In::Events),
        ],
    ),
    (
        "PSI",
        &[
            ("cpusome", Metric::PressureCpu, In::Percent),
            ("memsome", Metric::PressureMemory, In::Percent),
            ("memfull", Metric::PressureMemoryFull, In::Percent),
            ("iosome", Metric::PressureIo, In::Percent),
            ("iofull", Metric::PressureIoFull, In::Percent),
        ],
    ),
    ("DSK", DISK),
    ("LVM", DISK),
    ("MDD", DISK),
    (
        "NET",
        &[
            ("tcpo", Metric::TcpSegmentsOut, In::Events),
            ("tcprs", Metric::TcpRetransmits, In::Events),
            ("tcpao", Metric::TcpActiveOpens, In::Events),
            ("tcppo", Metric::TcpPassiveOpens, In::Events),
            ("pcki", Metric::RxPackets, In::Events),
            ("pcko", Metric::TxPackets, In::Events),
            ("si", Metric::RxBytes, In::Bits),
            ("so", Metric::TxBytes, In::Bits),
            ("sp", Metric::LinkSpeed, In::Bits),
            ("drpi", Metric::RxDrops, In::Events),
            ("drpo", Metric::TxDrops, In::Events),
        ],
    ),
];

/// `user` has the time at low priority and that of guests in it, `irq` the soft interrupts.
const CPU: &[Known] = &[
    ("sys", Metric::CpuSystem, In::OfCpus),
    ("user", Metric::CpuUser, In::OfCpus),
    ("irq", Metric::CpuIrq, In::OfCpus),
    ("idle", Metric::CpuIdle, In::OfCpus),
    ("wait", Metric::CpuIowait, In::OfCpus),
    ("steal", Metric::CpuSteal, In::OfCpus),
];

const DISK: &[Known] = &[
    ("busy", Metric::Utilisation, In::Percent),
    ("read", Metric::Reads, In::Events),
    ("write", Metric::Writes, In::Events),
    ("avq", Metric::QueueLength, In::Number),
];

/// Columns of the processes that are figures.
const TASKS: &[Known] = &[
    ("SYSCPU", Metric::TaskSystem, In::Time),
    ("USRCPU", Metric::TaskUser, In::Time),
    ("RDELAY", Metric::RunDelay, In::Time),
    ("BDELAY", Metric::BlockDelay, In::Time),
    ("VSIZE", Metric::Vsz, In::Size),
    ("RSIZE", Metric::Rss, In::Size),
    ("SWAPSZ", Metric::Swapped, In::Size),
    ("MINFLT", Metric::MinorFaults, In::Events),
    ("MAJFLT", Metric::MajorFaults, In::Events),
    ("RDDSK", Metric::ReadBytes, In::Moved),
    ("WRDSK", Metric::WriteBytes, In::Moved),
    ("WCANCL", Metric::CancelledWriteBytes, In::Moved),
    ("NVCSW", Metric::VoluntarySwitches, In::Events),
    ("NIVCSW", Metric::InvoluntarySwitches, In::Events),
    ("THR", Metric::Threads, In::Number),
    ("CPU", Metric::TaskCpu, In::Percent),
];

/// A whole or broken number, also `16045e3`.
fn plain(text: &str) -> Option<f64> {
    let Some((digits, power)) = text.split_once('e') else { return number(text) };
    let power: i32 = power.parse().ok().filter(|power| (0..=15).contains(power))?;
    Some(number(digits)? * 10f64.powi(power)).filter(|value| *value < super::line::MOST)
}

/// The figure of a cell over so many seconds.
fn figure(is: In, words: &[&str], over: f64) -> Option<f64> {
    let first = *words.first()?;
    let value = match is {
        In::Number => plain(first)?,
        In::Events => plain(first)? / over,
        In::Pages => plain(first)? * 4096.0 / over,
        In::Size => size(first, 1.0)?,
        In::Moved => size(first, 1.0)? / over,
        In::Percent | In::OfCpus => number(first.strip_suffix('%')?)? / 100.0,
        In::Time => length(first)? / over,
        In::Bits => {
            let scale = match *words.get(1)? {
                "bps" => 1.0,
                "Kbps" => 1e3,
                "Mbps" => 1e6,
                "Gbps" => 1e9,
                "Tbps" => 1e12,
                _ => return None,
            };
            plain(first)? * scale / 8.0
        }
    };
    // A size that grew negative is a growth, and no size.
    (value.is_finite() && value >= 0.0).then_some(value)
}

#[derive(Default)]
struct Atop {
    table: Option<FigureTable>,
    /// Seconds that the sample is over.
    over: f64,
    /// All is since boot.
    since_boot: bool,
    clock: DayClock,
    /// The columns of the processes.
    columns: Vec<String>,
}

/// Rows of one sample: the processes of a large host.
const MOST_ROWS: usize = 131_072;

impl Atop {
    fn begin(&mut self, over: f64, time: u64, out: &mut Out<'_>) {
        self.flush(out);
        out.clock(ClockKind::TimeOfDay);
        let mut table = out.table("atop");
        table.at = Timestamp::new(self.clock.carry(time));
        *self = Atop { table: Some(table), over: over.max(1.0), clock: self.clock, ..Atop::default() };
    }

    fn flush(&mut self, out: &mut Out<'_>) {
        let Some(mut table) = self.table.take() else { return };
        share_cpus(&mut table);
        let over = match self.since_boot {
            true => Over::SinceBoot,
            false => Over::Interval(seconds(self.over)),
        };
        if self.since_boot {
            // What a process did is since it began, not since boot.
            for row in table.rows.iter_mut().filter(|row| matches!(row.of, Entity::Process(_))) {
                row.figures.retain(|(metric, _)| metric.is_level());
            }
        }
        out.push_apart(table, over, |metric| !metric.is_level());
    }

    /// A line of the host.
    fn host(&mut self, line: &Line<'_>) -> Step {
        let mut cells = line.text.split('|').map(|cell| cell.split_ascii_whitespace().collect::<Vec<_>>());
        let label = cells.next().and_then(|words| words.first().copied()).unwrap_or("");
        let Some((_, known)) = LABELS.iter().find(|(is, _)| *is == label) else { return Step::Used };
        let cells: Vec<Vec<&str>> = cells.filter(|words| !words.is_empty()).collect();
        let first = cells.first().and_then(|words| words.first().copied()).unwrap_or("");
        let of = match label {
            "DSK" | "LVM" | "MDD" => Entity::Device(first.into()),
            "NET" if matches!(first, "transport" | "network") => Entity::Host,
            "NET" => Entity::Interface(first.into()),
            "cpu" => {
                let number = cells.iter().find_map(|words| words.first()?.strip_prefix("cpu")?.parse().ok());
                match number {
                    Some(number) => Entity::Cpu(number),
                    None => return Step::Damaged("a CPU with its number and where its time went"),
                }
            }
            _ => Entity::Host,
        };
        let mut row = FigureRow::new(of);
        for words in &cells {
            let Some((name, values)) = words.split_first() else { continue };
            if let Some((_, metric, is)) = known.iter().find(|(of, ..)| of == name)
                && let Some(value) = figure(*is, values, self.over)
            {
                row.set(*metric, value);
            }
            // `cpu001 w  0%`
            if label == "cpu" && values.first() == Some(&"w") {
                row.figures.extend(
                    figure(In::Percent, values.get(1..).unwrap_or_default(), self.over)
                        .map(|share| (Metric::CpuIowait, share)),
                );
            }
        }
        moved(&mut row, &cells, self.over);
        line.sign(&mut row);
        if let Some(table) = &mut self.table
            && table.rows.len() < MOST_ROWS
        {
            table.rows.push(row);
        }
        Step::Used
    }

    /// A row of the processes.
    fn task(&mut self, line: &Line<'_>) -> Step {
        let Some(pid) = line.words.first().and_then(|word| task_number(word)) else { return Step::Other };
        if line.words.len() < self.columns.len() {
            return Step::Damaged("a process, with a cell a column");
        }
        let mut row = FigureRow::new(Entity::Process(pid));
        let last = self.columns.len().saturating_sub(1);
        for (at, column) in self.columns.iter().enumerate() {
            let cell = line.word(at);
            match column.as_str() {
                "S" => row.say(Trait::State, cell),
                "PPID" => row.say(Trait::Parent, cell),
                "RUID" | "EUID" => row.say(Trait::User, cell),
                // Who has ended stands in angle brackets.
                "CMD" if at == last => row.say(Trait::Name, line.rest(at).trim_matches(['<', '>'])),
                "COMMAND-LINE" if at == last => row.say(Trait::Command, line.rest(at)),
                column => {
                    let known = TASKS.iter().find(|(is, ..)| *is == column);
                    // A share of a CPU says the same as its two parts, less exactly.
                    let known = known.filter(|(_, metric, _)| {
                        *metric != Metric::TaskCpu || !self.columns.iter().any(|is| is == "SYSCPU")
                    });
                    if let Some((_, metric, is)) = known
                        && let Some(value) = figure(*is, &[cell], self.over)
                    {
                        row.set(*metric, value);
                    }
                }
            }
        }
        line.sign(&mut row);
        if let Some(table) = &mut self.table
            && table.rows.len() < MOST_ROWS
        {
            table.rows.push(row);
        }
        Step::Used
    }
}

/// Bytes of a disk: KiB a request, times requests.
fn moved(row: &mut FigureRow, cells: &[Vec<&str>], over: f64) {
    let cell = |name: &str| {
        let words = cells.iter().find(|words| words.first() == Some(&name))?;
        figure(In::Number, words.get(1..)?, over)
    };
    for (each, calls, metric) in
        [("KiB/r", Metric::Reads, Metric::ReadBytes), ("KiB/w", Metric::Writes, Metric::WriteBytes)]
    {
        if let Some((kib, calls)) = cell(each).zip(row.get(calls)) {
            row.set(metric, kib * 1024.0 * calls);
        }
    }
}

/// Makes shares of 100 a CPU shares of all; without the number of CPUs they say nothing.
fn share_cpus(table: &mut FigureTable) {
    let told = table.rows.iter().find_map(|row| row.get(Metric::CpuCount));
    let listed = table.rows.iter().filter(|row| matches!(row.of, Entity::Cpu(_))).count();
    let cpus = told.or((listed > 0).then_some(listed as f64)).filter(|cpus| *cpus >= 1.0);
    for row in table.rows.iter_mut().filter(|row| row.of == Entity::Host) {
        for (metric, value) in &mut row.figures {
            if CPU.iter().any(|(_, of, _)| of == metric) {
                *value = cpus.map_or(f64::NAN, |cpus| *value / cpus);
            }
        }
        row.figures.retain(|(_, value)| value.is_finite());
    }
}

impl Block for Atop {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if let Some((over, time)) = head(line) {
            self.begin(over, time, out);
            return Step::Used;
        }
        if line.starts(&["***"]) && line.text.contains("since Boot") {
            self.since_boot = true;
            return Step::Used;
        }
        if line.word(1) == "|" && line.text.trim_end().ends_with('|') {
            return self.host(line);
        }
        if line.word(0) == "PID" && line.words.iter().any(|word| matches!(*word, "CMD" | "COMMAND-LINE")) {
            // Behind the last column stands which page of how many it is.
            let is_page = |word: &&str| word.split_once('/').is_some_and(|(page, _)| number(page).is_some());
            let columns = line.words.iter().filter(|word| !is_page(word));
            self.columns = columns.map(|word| (*word).to_string()).collect();
            return Step::Used;
        }
        if self.columns.is_empty() { Step::Other } else { self.task(line) }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.flush(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::host::tests::{near, of};

    const TWO: &str = "\
ATOP - vm      2026/11/22  23:37:51      -----------------       3h59m7s elapsed
PRC | sys    2m57s | user   1m49s | #proc     81 | #zombie    0 | #exit      0 |
CPL | numcpu     2 | avg1    3.34 | avg5    3.31 | csw 32568799 | intr 16045e3 |
DSK |          vda | busy      2% | read 2395084 | write 442120 | avio 0.10 ms |
*** System and Process Activity since Boot ***    Unrestricted view (privileged)
  PID SYSCPU USRCPU BDELAY  VGROW  RGROW  RDDSK  WRDSK  CPU CMD            1/1
10572  3.80s 97.13s  0.00s   1.6G 488.0M 166.6M 245.0M   1% rustc
ATOP - vm      2026/11/22  23:38:01      -----------------           10s elapsed
PRC | sys    1.20s | user  13.90s | #proc     81 | #tslpu    3 | #zombie    1 |
CPU | sys      15% | user    139% | irq       0% | idle     44% | wait      2% |
cpu | sys       8% | user     71% | irq       0% | idle     20% | cpu001 w  1% |
cpu | sys       7% | user     68% | irq       0% | idle     24% | cpu000 w  0% |
CPL | numcpu     2 | avg1    3.34 | avg5    3.31 | csw    32560 | intr   160e3 |
MEM | tot    23.5G | free   15.5G | cache   6.5G | buff   86.1M | slab  549.1M |
PAG | migrate    0 | pgin     138 | swin      10 | swout     20 | oomkill    1 |
PSI | cpusome  36% | memsome   0% | memfull   0% | iosome    1% | iofull    0% |
LVM |      vg-data | busy     91% | read     100 | write    200 | KiB/w     64 |
NET | transport    | tcpi    5786 | tcpo    5000 | tcprs    100 | udpo    1628 |
NET | eth0    10% | pcki   14500 | pcko    7400 | si  368 Kbps | so    8 Mbps |
  PID SYSCPU USRCPU BDELAY   RSIZE  RDDSK  WRDSK S  CPU CMD
10572  0.80s  7.13s  1.00s  488.0M     0B   1.0M D  79% <tokio worker>
   12      -      -      -      0B      -      - I   0% kworker/1:0H-k
";

    #[test]
    fn a_sample_over_its_time_and_the_first_one_since_boot() {
        let read = of(TWO.as_bytes());
        assert_eq!((read.info.rejects, read.info.foreign), (0, 0), "{:?}", read.notes);
        let figure = |of: &Entity, metric| read.figure("atop", of, metric);
        let host = |metric| figure(&Entity::Host, metric);
        near(host(Metric::CpuUser), 0.695);
        near(host(Metric::CpuIowait), 0.01);
        near(host(Metric::ContextSwitches), 3_256.0);
        near(host(Metric::Interrupts), 16_000.0);
        near(host(Metric::Uninterruptible), 3.0);
        near(host(Metric::SwapOut), 8_192.0);
        near(host(Metric::OomKills), 0.1);
        near(host(Metric::PressureCpu), 0.36);
        near(host(Metric::TcpRetransmits), 10.0);
        near(host(Metric::MemCached), 6.5 * 1024f64.powi(3));
        near(figure(&Entity::Cpu(1), Metric::CpuIowait), 0.01);
        let volume = Entity::Device("vg-data".into());
        near(figure(&volume, Metric::Utilisation), 0.91);
        near(figure(&volume, Metric::WriteBytes), 20.0 * 65_536.0);
        assert_eq!(figure(&volume, Metric::Latency), None);
        let eth0 = Entity::Interface("eth0".into());
        near(figure(&eth0, Metric::RxBytes), 46_000.0);
        near(figure(&eth0, Metric::TxBytes), 1e6);
        let task = Entity::Process(10_572);
        near(figure(&task, Metric::TaskUser), 0.713);
        near(figure(&task, Metric::BlockDelay), 0.1);
        near(figure(&task, Metric::WriteBytes), 104_857.6);
        near(figure(&task, Metric::Rss), 488.0 * 1024f64.powi(2));
        assert_eq!(figure(&task, Metric::TaskCpu), None);
        let names: Vec<_> = read.rows().filter_map(|row| row.told(Trait::Name)).collect();
        assert!(names.contains(&"tokio worker"), "{names:?}");
        let boot = read.tables.iter().filter(|table| table.over == Over::SinceBoot);
        let rows: Vec<_> = boot.flat_map(|table| &table.rows).collect();
        assert!(rows.iter().any(|row| row.get(Metric::Reads).is_some()), "{rows:?}");
        assert!(!rows.iter().any(|row| matches!(row.of, Entity::Process(_))), "{rows:?}");
    }

    #[test]
    fn damage_is_told_and_the_rest_is_used() {
        let text = TWO.replace("cpu001 w  1% |", "x |").replace("   12      -      -", "   12");
        let read = of(text.as_bytes());
        assert_eq!(read.info.rejects, 2, "{:?}", read.notes);
        near(read.figure("atop", &Entity::Host, Metric::CpuUser), 0.695);
        for text in ["ATOP - x 2026/11/22 23:38:01 ----- 10q elapsed\nCPU | sys 1% |\n", "ATOP - x elapsed\n"]
        {
            assert_eq!(of(text.as_bytes()).tables.len(), 0, "{text}");
        }
    }

    #[test]
    fn lengths_and_numbers() {
        for (text, wanted) in [("10s", 10.0), ("2m57s", 177.0), ("3h59m7s", 14_347.0), ("1d2h", 93_600.0)] {
            assert_eq!(length(text), Some(wanted), "{text}");
        }
        for text in ["", "s", "10", "1x", "-5s", "1é"] {
            assert_eq!(length(text), None, "{text}");
        }
        assert_eq!((plain("16045e3"), plain("1e99"), plain("12")), (Some(16_045_000.0), None, Some(12.0)));
    }
}
