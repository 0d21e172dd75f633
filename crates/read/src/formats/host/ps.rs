//! ps: `aux`, `-ef`, `-efT`, `-eLf`, `-eo …`; with its header, or rows alone as `grep` leaves them.

use super::columns::{Column, Header, Is, say_task, task_number};
use super::line::{Line, number};
use super::{Block, Out, Step, Tool};
use whyslow_model::{Entity, FigureTable, Metric, Over, Trait};

pub(super) static PS: Tool = Tool { begins, row: |line| bare(line).is_some(), open: || Box::<Ps>::default() };

/// Memory is shown in KiB, `SZ` in pages: that is not kept.
const KB: f64 = 1024.0;
const PERCENT: f64 = 0.01;

/// All that `ps -o` names often; a header with any other name is another tool's.
static COLUMNS: &[Column] = &[
    ("PID", Is::Pid),
    ("TGID", Is::Pid),
    ("SPID", Is::Tid),
    ("LWP", Is::Tid),
    ("TID", Is::Tid),
    ("USER", Is::Word(Trait::User)),
    ("UID", Is::Word(Trait::User)),
    ("EUSER", Is::Word(Trait::User)),
    ("RUSER", Is::Skip),
    ("GROUP", Is::Skip),
    ("PPID", Is::Word(Trait::Parent)),
    ("PGID", Is::Skip),
    ("PGRP", Is::Skip),
    ("SID", Is::Skip),
    ("SESS", Is::Skip),
    ("TPGID", Is::Skip),
    ("%CPU", Is::Figure(Metric::TaskCpu, PERCENT)),
    ("PCPU", Is::Figure(Metric::TaskCpu, PERCENT)),
    ("C", Is::Figure(Metric::TaskCpu, PERCENT)),
    ("%MEM", Is::Skip),
    ("PMEM", Is::Skip),
    ("VSZ", Is::Size(Metric::Vsz, KB)),
    ("RSS", Is::Size(Metric::Rss, KB)),
    ("RSZ", Is::Size(Metric::Rss, KB)),
    ("SZ", Is::Skip),
    ("NLWP", Is::Figure(Metric::Threads, 1.0)),
    ("THCNT", Is::Figure(Metric::Threads, 1.0)),
    ("NI", Is::Figure(Metric::Nice, 1.0)),
    ("PRI", Is::Skip),
    ("CLS", Is::Skip),
    ("RTPRIO", Is::Skip),
    ("PSR", Is::Skip),
    ("P", Is::Skip),
    ("F", Is::Skip),
    ("S", Is::Word(Trait::State)),
    ("STAT", Is::Word(Trait::State)),
    ("STATE", Is::Word(Trait::State)),
    ("ADDR", Is::Skip),
    ("WCHAN", Is::Word(Trait::Wchan)),
    ("TTY", Is::Skip),
    ("TT", Is::Skip),
    ("START", Is::Skip),
    ("STIME", Is::Skip),
    ("STARTED", Is::Skip),
    ("TIME", Is::Skip),
    ("ELAPSED", Is::Skip),
    ("CGROUP", Is::Skip),
    ("UNIT", Is::Word(Trait::Unit)),
    ("LABEL", Is::Skip),
    ("MINFL", Is::Skip),
    ("MAJFL", Is::Skip),
    ("CMD", Is::Task),
    ("COMMAND", Is::Task),
    ("COMM", Is::Task),
    ("ARGS", Is::Task),
];

/// `aux` without a header.
const AUX: &[&str] =
    &["USER", "PID", "%CPU", "%MEM", "VSZ", "RSS", "TTY", "STAT", "START", "TIME", "COMMAND"];
/// `-ef` without a header.
const EF: &[&str] = &["UID", "PID", "PPID", "C", "STIME", "TTY", "TIME", "CMD"];
/// `-efT` without a header.
const EFT: &[&str] = &["UID", "PID", "SPID", "PPID", "C", "STIME", "TTY", "TIME", "CMD"];
/// `-eLf` without a header.
const ELF: &[&str] = &["UID", "PID", "PPID", "LWP", "C", "NLWP", "STIME", "TTY", "TIME", "CMD"];

fn begins(line: &Line<'_>) -> bool {
    // The commands that bashreadline shows.
    if line.words == ["TIME", "PID", "COMMAND"] {
        return false;
    }
    let known = |word: &&str| COLUMNS.iter().any(|(name, _)| name == word);
    let last = line.words.last().is_some_and(|word| matches!(*word, "CMD" | "COMMAND" | "COMM" | "ARGS"));
    let task = ["PID", "LWP", "TID", "SPID"].iter().any(|name| line.has(name));
    task && (line.words.len() >= 3 || last) && line.words.len() >= 2 && line.words.iter().all(known)
}

/// The columns of a row without a header: its cells leave no doubt.
fn bare(line: &Line<'_>) -> Option<&'static [&'static str]> {
    let pid = |at: usize| task_number(line.word(at)).is_some();
    let tty = |at: usize| {
        matches!(line.word(at), "?" | "-")
            || ["pts/", "tty", "hvc", "console"].iter().any(|tty| line.word(at).starts_with(tty))
    };
    let time = |at: usize| {
        let word = line.word(at);
        word.contains(':') && word.bytes().all(|byte| byte.is_ascii_digit() || b":-.".contains(&byte))
    };
    let figure = |at: usize| number(line.word(at)).is_some();
    let state = |at: usize| {
        line.word(at).starts_with(['R', 'S', 'D', 'Z', 'T', 't', 'I', 'W']) && line.word(at).len() <= 6
    };
    let words = line.words.len();
    if words > 10
        && pid(1)
        && figure(2)
        && figure(3)
        && figure(4)
        && figure(5)
        && tty(6)
        && state(7)
        && time(9)
    {
        return Some(AUX);
    }
    let count = |at: usize| figure(at) && !line.word(at).contains('.');
    if words > 8 && pid(1) && pid(2) && pid(3) && count(4) && tty(6) && time(7) {
        return Some(EFT);
    }
    if words > 9 && pid(1) && pid(2) && pid(3) && count(4) && count(5) && tty(7) && time(8) {
        return Some(ELF);
    }
    (words > 7 && pid(1) && pid(2) && count(3) && tty(5) && time(6)).then_some(EF)
}

#[derive(Default)]
struct Ps {
    names: Vec<String>,
    header: Header,
    /// Where the start of a task stands as a date of several words.
    started: Option<usize>,
    table: Option<FigureTable>,
}

impl Ps {
    fn columns(&mut self, names: &[&str]) {
        self.names = names.iter().map(|name| (*name).to_string()).collect();
        self.header = Header::new(names, COLUMNS);
        self.started = names.iter().position(|name| *name == "STARTED");
    }

    fn flush(&mut self, out: &mut Out<'_>) {
        let Some(mut table) = self.table.take() else { return };
        // With the first process all are there.
        table.complete = table.rows.iter().any(|row| row.of == Entity::Process(1));
        out.push_apart(table, Over::Lifetime, |metric| metric == Metric::TaskCpu);
    }
}

/// Tasks of one table.
const MOST_ROWS: usize = 65_536;

impl Block for Ps {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if begins(line) {
            self.flush(out);
            self.columns(&line.words);
            return Step::Used;
        }
        if self.names.is_empty() {
            let Some(names) = bare(line) else { return Step::Other };
            self.columns(names);
        }
        let joined;
        let line = match self.started {
            Some(at) => {
                joined = join_date(line, at);
                &joined
            }
            None => line,
        };
        match self.header.row(line, 0) {
            Ok(mut row) => {
                if let Some(cell) = cgroup(line, &self.names) {
                    row.say(Trait::Cgroup, cell);
                }
                if row.told(Trait::Name).is_none() && self.names.last().is_some_and(|name| name == "CGROUP") {
                    say_task(&mut row, "");
                }
                let table = self.table.get_or_insert_with(|| out.table("ps"));
                table.rows.push(row);
                if table.rows.len() >= MOST_ROWS {
                    self.flush(out);
                }
                Step::Used
            }
            Err(super::columns::Miss::Other) => Step::Other,
            Err(super::columns::Miss::Damaged) => Step::Damaged("a row of ps with a cell for each column"),
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.flush(out);
    }
}

/// `12:cpuset:/…;1:name=systemd:/x` or `0::/system.slice/x`: the path of the last.
fn cgroup<'l>(line: &Line<'l>, names: &[String]) -> Option<&'l str> {
    let at = names.iter().position(|name| name == "CGROUP")?;
    let cell = line.word(at);
    cell.rsplit(':').next().filter(|path| path.starts_with('/'))
}

/// `Mon Nov 30 10:00:00 2020` (lstart) and `Nov 30` as one word.
fn join_date<'l>(line: &Line<'l>, at: usize) -> Line<'l> {
    let alphabetic = |at: usize| line.word(at).chars().all(char::is_alphabetic) && !line.word(at).is_empty();
    let more = match (alphabetic(at), alphabetic(at + 1)) {
        (true, true) => 4,
        (true, false) => 1,
        _ => 0,
    };
    let mut words = line.words.clone();
    if at + 1 + more <= words.len() {
        words.drain(at + 1..at + 1 + more);
    }
    Line { words, ..*line }
}
