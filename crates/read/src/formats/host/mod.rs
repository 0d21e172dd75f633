//! Pasted tables of host tools: top, ps, vmstat, iostat, pidstat, sar and others, one or several in a file, among
//! prompts and other text. A tool is one file and one line in [`TOOLS`]: how its table begins, and a [`Block`] that
//! takes the lines from there on.

mod atop;
mod call_times;
mod cgtop;
mod columns;
mod counts;
mod dates;
mod df;
mod dstat;
mod free;
mod ftrace;
mod funcgraph;
mod histogram;
mod iostat;
mod iotop;
mod kernel;
mod kernel_file;
mod kernel_log;
mod line;
mod links;
mod locks;
mod lsblk;
mod mpstat;
mod netstat;
mod nstat;
mod perf_stat;
mod perf_trace;
mod pidstat;
mod proc_files;
mod ps;
mod sar;
#[cfg(test)]
mod shape_tests;
mod snoop;
mod snoop_row;
mod snoop_tools;
mod sockets;
mod sysctl;
mod sysstat;
mod tasks;
#[cfg(test)]
mod tests;
mod told;
mod top;
#[cfg(test)]
mod tracer_tests;
mod ulimit;
mod uptime;
mod vmstat;

use crate::formats::{Format, SniffInput};
use crate::looks::{self, Look, Looks, Stamp};
use crate::source::Source;
use line::{Line, plain, time_of_day};
use std::io;
use whyslow_counters::{Figures, Span};
use whyslow_model::{
    CaptureKind, CaptureNote, ClockKind, Entity, Event, FigureRow, FigureTable, Metric, NoteKind, Over, Sink,
    SourceInfo, Timestamp,
};

/// The format.
pub(crate) static HOST: Format = Format {
    kind: CaptureKind::Figures,
    name: "tables of host tools (top, ps, vmstat, iostat, pidstat, sar, ss, perf stat, perf trace, bcc and others)",
    made_by: "top -b -n 2, iostat -x 1 5, pidstat -d 1 5, vmstat 1 5, ps aux",
    sniff,
    read,
};

/// A tool: how to recognise what it prints, and how to read it.
struct Tool {
    /// True for a line that begins its table: a header that no other tool prints.
    begins: fn(&Line<'_>) -> bool,
    /// True for a row so typical that it is known without its header.
    row: fn(&Line<'_>) -> bool,
    /// Reads from that line on.
    open: fn() -> Box<dyn Block>,
}

/// All tools. The first that recognises a line reads on from there.
static TOOLS: &[&Tool] = &[
    &top::TOP,
    &ps::PS,
    &vmstat::VMSTAT,
    &iostat::IOSTAT,
    &pidstat::PIDSTAT,
    &iotop::IOTOP,
    &mpstat::MPSTAT,
    &sar::SAR,
    &dstat::DSTAT,
    &atop::ATOP,
    &free::FREE,
    &df::DF,
    &lsblk::LSBLK,
    &uptime::UPTIME,
    &sockets::SOCKETS,
    &perf_stat::PERF_STAT,
    &perf_trace::PERF_TRACE,
    &call_times::CALL_TIMES,
    &counts::COUNTS,
    &histogram::HISTOGRAM,
    &ftrace::FTRACE,
    &funcgraph::FUNCGRAPH,
    &told::TOLD,
    &snoop::SNOOP,
    &proc_files::LOADAVG,
    &locks::LOCKS,
    &proc_files::PRESSURE,
    &nstat::NSTAT,
    &nstat::NSTAT_JSON,
    &netstat::STATISTICS,
    &links::INTERFACES,
    &links::LINKS,
    &sysctl::SYSCTL,
    &ulimit::ULIMIT,
    &cgtop::CGTOP,
    &kernel_log::KERNEL_LOG,
    &kernel::KERNEL,
];

/// A reader of one tool's output, from its first line to where another's begins.
trait Block {
    /// Takes a line that is not blank.
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step;
    /// Gives what is not yet given.
    fn end(&mut self, out: &mut Out<'_>);
}

/// What a line was to a reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// Its own.
    Used,
    /// Its own, but it cannot be read; what was expected.
    Damaged(&'static str),
    /// Something else.
    Other,
}

/// What a source told besides tables: it holds for those that follow.
#[derive(Default)]
struct About {
    /// CPUs, by the line that sysstat's tools begin with; taken by the first table.
    cpus: Option<f64>,
    /// That line stands right before: the next table is the tool's first.
    first: bool,
    /// The last line that may be a command, in words.
    command: Vec<String>,
    /// The last line that says what is traced: `Tracing vfs_read... Hit Ctrl-C to end.`
    tracing: String,
    /// Seconds that it says that each table is over: `Output every 5 secs`, `for 10 seconds`.
    every: Option<f64>,
    /// The file that lines are of: the input's own, or the last one that a heading, a prompt or `grep` names.
    path: String,
    /// When what follows was made, by a `date` line.
    date: Option<Stamp>,
    /// A time alone on its line, or before other words of a tool that shows it above a table.
    stamp: Option<u64>,
    /// What was made of tracers' texts: the tool, how many, of what.
    made: Vec<(&'static str, u64, String)>,
}

/// Kinds of things that a note about one source tells.
const MOST_MADE: usize = 12;

/// Where a reader puts what it read.
struct Out<'o> {
    info: &'o mut SourceInfo,
    looks: &'o mut Looks,
    sink: &'o mut dyn Sink,
    about: &'o mut About,
    /// Tables and events given.
    given: &'o mut u64,
}

impl Out<'_> {
    /// An empty table of that tool.
    fn table(&self, tool: &'static str) -> FigureTable {
        FigureTable::new(self.info.id, tool)
    }

    /// Gives a table on, unless it says nothing.
    fn push(&mut self, mut table: FigureTable) {
        table.rows.retain(|row| !row.figures.is_empty() || !row.traits.is_empty());
        if let Some(cpus) = self.about.cpus.take().filter(|_| !table.rows.is_empty()) {
            table.row(Entity::Host).set(Metric::CpuCount, cpus);
        }
        if !table.rows.is_empty() {
            self.give(Event::Figures(Box::new(table)));
        }
    }

    /// Gives the levels of a table, which are of its moment, apart from its rates, which are over `over`.
    fn push_apart(&mut self, mut levels: FigureTable, over: Over, is_rate: impl Fn(Metric) -> bool) {
        let mut rates = FigureTable { over, rows: Vec::new(), ..levels.clone() };
        for row in &mut levels.rows {
            let mut rate = row.clone();
            rate.traits.clear();
            rate.figures.retain(|(metric, _)| is_rate(*metric));
            row.figures.retain(|(metric, _)| !is_rate(*metric));
            rates.rows.push(rate);
        }
        levels.over = Over::Moment;
        self.push(levels);
        self.push(rates);
    }

    /// Gives an event on.
    fn give(&mut self, event: Event<'_>) {
        *self.given += 1;
        self.sink.push(event);
    }

    /// Keeps a dump of counters, whose `text` begins behind line `above`, and gives on its levels.
    fn look(
        &mut self,
        tool: &'static str,
        key: String,
        above: u64,
        text: &[&str],
        things: Vec<(Entity, Figures)>,
    ) {
        let line = |at: u32| {
            let text = (at as usize).checked_sub(1).and_then(|at| text.get(at)).copied();
            (above + u64::from(at.max(1)), text.unwrap_or(""))
        };
        let table = |over: Over, told: &dyn Fn(&Entity, &Figures) -> Vec<FigureRow>| {
            let mut table = self.table(tool);
            table.over = over;
            table.at = self.date().map_or(Timestamp::UNKNOWN, Stamp::timestamp);
            table.rows = things.iter().flat_map(|(of, figures)| told(of, figures)).collect();
            table
        };
        let levels = table(Over::Moment, &|of, figures| looks::rows(of, figures.levels(), line));
        let unknown = Span::of_unknown();
        let alone = vec![
            table(Over::SinceBoot, &|of, figures| looks::rows(of, figures.rates(None, &unknown), line)),
            table(Over::Total, &|of, figures| looks::rows(of, figures.totals(), line)),
        ];
        let (source, name, at) = (self.info.id, self.info.name.clone(), self.date());
        self.push(levels);
        if things.iter().any(|(_, figures)| figures.has_counts()) {
            *self.given += 1;
            self.looks.take(Look { tool, key, source, name, at, above, things, alone });
        }
    }

    /// When what is read was made: by the `date` above it, else by the file's name.
    fn date(&self) -> Option<Stamp> {
        self.about.date.or_else(|| dates::of_name(&self.info.name))
    }

    /// Counts what was made of a tracer's text: `count` of `what`. It is told at the end of the source.
    fn made(&mut self, tool: &'static str, count: u64, what: &str) {
        let made = &mut self.about.made;
        if let Some((_, sum, _)) = made.iter_mut().find(|(is, _, of)| *is == tool && of == what) {
            *sum += count;
        } else if count > 0 && made.len() < MOST_MADE {
            made.push((tool, count, what.to_string()));
        }
    }

    /// Says what was taken for granted.
    fn assume(&mut self, line: u64, text: &str) {
        let text = format!("{}:{line}: {text}", self.info.name);
        let source = self.info.id;
        self.sink.push(Event::Note(CaptureNote {
            kind: NoteKind::Assumed,
            source,
            line: Some(line),
            text,
            tid: None,
        }));
    }

    /// What the times of the source mean.
    fn clock(&mut self, clock: ClockKind) {
        if self.info.clock == ClockKind::None {
            self.info.clock = clock;
        }
    }

    /// True once after the line with which sysstat's tools begin.
    fn take_first(&mut self) -> bool {
        std::mem::take(&mut self.about.first)
    }

    /// The words behind the name of `tool` in the command line above the table; empty where there is none.
    fn arguments(&self, tool: &str) -> &[String] {
        let command = &self.about.command;
        let at = command.iter().position(|word| word == tool || word.ends_with(&format!("/{tool}")));
        at.and_then(|at| command.get(at + 1..)).unwrap_or_default()
    }

    /// The interval in that command line, in seconds: its first bare number.
    fn interval(&self, tool: &str) -> Option<f64> {
        // A number behind an option is that option's (`-p 77`, `-S M`).
        let words = self.arguments(tool);
        let taken = |at: usize| at > 0 && words.get(at - 1).is_some_and(|word| takes_value(tool, word));
        (0..words.len()).filter(|at| !taken(*at)).find_map(|at| words.get(at)?.parse::<f64>().ok())
    }
}

/// True for an option whose value is the next word.
fn takes_value(tool: &str, option: &str) -> bool {
    let letters: &str = match tool {
        "pidstat" => "pCGTe",
        "mpstat" => "PIN",
        "iostat" => "pgjfo",
        "vmstat" => "Sp",
        _ => return false,
    };
    option.starts_with('-') && option.ends_with(|last| letters.contains(last))
}

impl About {
    /// Takes the line with which sysstat's tools begin: `Linux 4.15.0 (host)  12/01/2021  _x86_64_  (1 CPU)`.
    fn banner(&mut self, line: &Line<'_>) -> bool {
        let named = line.word(0) == "Linux" && line.words.iter().any(|word| word.starts_with('('));
        let dated = line.words.iter().any(|word| {
            word.len() >= 8 && word.bytes().all(|byte| byte.is_ascii_digit() || b"/-.".contains(&byte))
        });
        let of_cpus = line.words.iter().position(|word| matches!(*word, "CPU)" | "CPUs)"));
        if !named || !(dated || of_cpus.is_some()) {
            return false;
        }
        self.cpus = of_cpus
            .and_then(|at| line.words.get(at.checked_sub(1)?))
            .and_then(|word| word.trim_start_matches('(').parse::<u32>().ok())
            .map(f64::from);
        self.first = true;
        true
    }
}

impl About {
    /// Takes from a line of something else what holds for the tables below it.
    fn remember(&mut self, line: &Line<'_>) {
        if line.words.len() > MOST_COMMAND {
            return;
        }
        let first = line.word(0).trim_start_matches("^C").trim_matches(['[', ']']);
        let time = time_of_day(&Line { words: vec![first], ..*line }, 0);
        if let Some((time, _)) = time.filter(|_| line.words.len() == 1 || line.word(1) == "loadavg:") {
            self.stamp = Some(time);
        }
        if line.word(0).starts_with("Tracing") || matches!(line.word(0), "Running" | "Sampling") {
            self.tracing = line.text.trim().to_string();
            let length = line.words.windows(3).find_map(|words| match words {
                ["every" | "for", length, unit] if unit.starts_with("sec") => length.parse::<f64>().ok(),
                _ => None,
            });
            self.every = length.filter(|length| *length > 0.0);
        }
        self.command = line.words.iter().map(|word| (*word).to_string()).collect();
    }
}

/// Bytes of a line that are looked at: `ps` shows whole command lines of Java programs.
const MOST_LINE: usize = 32 << 10;

/// The state of reading one source.
#[derive(Default)]
struct Reading {
    about: About,
    open: Option<(usize, Box<dyn Block>)>,
    given: u64,
}

impl Reading {
    /// Of the file of that path, whose name may say what is in it.
    fn new(path: &str) -> Reading {
        let mut reading = Reading::default();
        reading.turn_to(path);
        reading
    }

    /// What follows is of that file.
    fn turn_to(&mut self, path: &str) {
        let (path, _) = crate::order::split(path);
        self.about.command = kernel::command_of(&path);
        self.open = kernel::open(&path).and_then(|block| {
            let tool = TOOLS.iter().position(|tool| std::ptr::eq(*tool, &kernel::KERNEL))?;
            Some((tool, block))
        });
        self.about.path = path;
    }

    fn line(&mut self, line: &Line<'_>, to: &mut To<'_>) -> Step {
        if let Some(heading) = kernel::heading(line) {
            // After a date, or behind another prompt, the same file begins anew.
            if heading.rest.is_none() || self.about.path != heading.path || self.open.is_none() {
                self.close(to);
                self.turn_to(&heading.path);
            }
            return match heading.rest {
                Some(rest) => self.row(&Line::new(line.number, rest), to),
                None => Step::Used,
            };
        }
        self.row(line, to)
    }

    fn row(&mut self, line: &Line<'_>, to: &mut To<'_>) -> Step {
        if self.about.banner(line) {
            // The banner holds for what follows, not for what is still open.
            let next = (self.about.cpus.take(), self.about.first);
            self.close(to);
            (self.about.cpus, self.about.first) = next;
            return Step::Used;
        }
        let begun = TOOLS.iter().position(|tool| (tool.begins)(line));
        let mut out = to.out(&mut self.about, &mut self.given);
        if let Some((tool, block)) = &mut self.open
            && begun.is_none_or(|begun| begun == *tool)
        {
            match block.line(line, &mut out) {
                Step::Other => {}
                step => return step,
            }
        }
        let Some(tool) = begun.or_else(|| TOOLS.iter().position(|tool| (tool.row)(line))) else {
            if let Some(date) = dates::of_line(&line.words) {
                self.close(to);
                self.about.date = Some(date);
                return Step::Used;
            }
            self.about.remember(line);
            return Step::Other;
        };
        if let Some((_, mut before)) = self.open.take() {
            before.end(&mut out);
        }
        let mut block = (TOOLS[tool].open)();
        let step = block.line(line, &mut out);
        self.open = Some((tool, block));
        step
    }

    fn tell_made(&mut self, to: &mut To<'_>) {
        let made = std::mem::take(&mut self.about.made);
        if made.is_empty() {
            return;
        }
        let parts =
            made.iter().map(|(tool, count, what)| match what.split_once("s ").filter(|_| *count == 1) {
                Some((one, rest)) if !one.contains(' ') => format!("{tool}: 1 {one} {rest}"),
                _ => format!("{tool}: {count} {what}"),
            });
        let text = format!("{}: read as {}", to.info.name, parts.collect::<Vec<_>>().join("; "));
        let (kind, source) = (NoteKind::Read, to.info.id);
        to.sink.push(Event::Note(CaptureNote { kind, source, line: None, text, tid: None }));
    }

    fn close(&mut self, to: &mut To<'_>) {
        if let Some((_, mut block)) = self.open.take() {
            block.end(&mut to.out(&mut self.about, &mut self.given));
        }
    }

    /// The end of the source. A file that holds a date and nothing else tells when those beside it were made.
    fn end(&mut self, to: &mut To<'_>) {
        self.close(to);
        self.tell_made(to);
        let named = to.info.name.rsplit('/').next().is_some_and(|name| name.starts_with("date"));
        if let Some(date) = self.about.date.filter(|_| named && self.given == 0) {
            to.looks.date_of(&to.info.name, date);
            self.given += 1;
        }
    }
}

/// Where a source's events go.
struct To<'t> {
    info: &'t mut SourceInfo,
    looks: &'t mut Looks,
    sink: &'t mut dyn Sink,
}

impl To<'_> {
    fn out<'o>(&'o mut self, about: &'o mut About, given: &'o mut u64) -> Out<'o> {
        Out { info: self.info, looks: self.looks, sink: self.sink, about, given }
    }
}

/// Words of a command line with which a table may have been made.
const MOST_COMMAND: usize = 24;

fn sniff(sample: &SniffInput<'_>) -> bool {
    if sample.head.contains(&0) {
        return false;
    }
    let mut info = SourceInfo::new(Default::default(), sample.path, CaptureKind::Figures);
    let mut reading = Reading::new(sample.path);
    let (mut used, mut damaged) = (0, 0);
    let mut sink = |_: Event<'_>| {};
    let mut to = To { info: &mut info, looks: &mut Looks::default(), sink: &mut sink };
    for (number, bytes) in sample.lines(SNIFF_LINES).enumerate() {
        let text = plain(bytes, MOST_LINE);
        let line = Line::new(number as u64 + 1, &text);
        if !line.words.is_empty() {
            match reading.line(&line, &mut to) {
                Step::Used => used += 1,
                Step::Damaged(_) => damaged += 1,
                Step::Other => {}
            }
        }
    }
    reading.end(&mut to);
    (reading.given > 0 && used > damaged) || (damaged == 0 && kernel_log::is_log(sample))
}

/// Lines looked at to recognise the format: a README may say much before it shows a table.
const SNIFF_LINES: usize = 400;

fn read(source: &mut Source, sink: &mut dyn Sink) -> io::Result<()> {
    let mut reading = Reading::new(&source.info.name);
    let mut bytes = Vec::new();
    loop {
        let number = source.line_number() + 1;
        let Some(next) = source.next_line()? else { break };
        bytes.clear();
        bytes.extend_from_slice(next);
        let text = plain(&bytes, MOST_LINE);
        let line = Line::new(number, &text);
        if line.words.is_empty() {
            // Of colours and control characters alone, perhaps.
            source.info.foreign += u64::from(!bytes.trim_ascii().is_empty());
            continue;
        }
        let mut to = To { info: &mut source.info, looks: &mut source.looks, sink };
        match reading.line(&line, &mut to) {
            Step::Used => source.info.events += 1,
            Step::Damaged(expected) => source.reject(sink, &bytes, expected),
            Step::Other => source.info.foreign += 1,
        }
    }
    reading.end(&mut To { info: &mut source.info, looks: &mut source.looks, sink });
    Ok(())
}
