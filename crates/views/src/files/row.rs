//! A row of the view: what was done with a file, with all of a pattern or directory, or by a process or thread.

use std::collections::{BTreeSet, HashMap};
use whyslow_facts::who::Who;
use whyslow_facts::{FileFacts, FileUse, IoStats};
use whyslow_model::{Cell, Column, Nanos};

/// The columns.
pub(super) const COLUMNS: [Column; 20] = [
    Column::new("total", "time"),
    Column::optional("max", "longest", 8),
    Column::new("calls", "calls"),
    Column::optional("files", "files", 7),
    Column::optional("stats", "stats", 6),
    Column::optional("missing", "missing", 6),
    Column::optional("opens", "opens", 5),
    Column::optional("reads", "reads", 5),
    Column::new("bytes_read", "read"),
    Column::optional("writes", "writes", 5),
    Column::new("bytes_written", "written"),
    Column::optional("syncs", "syncs", 5),
    Column::optional("to_disk", "to disk", 4),
    Column::optional("size", "size", 4),
    Column::optional("life", "life", 3),
    Column::optional("tool", "tool", 4),
    Column::optional("container", "container", 2),
    Column::optional("process", "process", 1),
    Column::optional("thread", "thread", 2),
    Column::new("path", "path"),
];

/// What was done. `None` stands for what the source does not tell.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// What it is of: a path, a pattern, a directory; empty where it is of a process or thread.
    pub(super) key: String,
    pub(super) files: u64,
    pub(super) calls: u64,
    pub(super) stats: Option<u64>,
    /// Stats and opens that found nothing.
    pub(super) failed: Option<u64>,
    pub(super) opens: Option<u64>,
    pub(super) reads: Option<u64>,
    pub(super) read: u64,
    pub(super) writes: Option<u64>,
    pub(super) written: u64,
    pub(super) syncs: Option<u64>,
    /// Bytes of its pages that were written to a disk.
    pub(super) to_disk: Option<u64>,
    creates: u64,
    unlinks: u64,
    renames: u64,
    appends: u64,
    size: Option<u64>,
    /// Time of all calls.
    pub(super) ns: Option<u64>,
    /// The longest.
    pub(super) longest: Option<u64>,
    pub(super) tools: BTreeSet<&'static str>,
    /// Who, with the bytes that each moved.
    pub(super) users: Vec<(Who, u64)>,
    /// Of a process or thread: the bytes by pattern.
    pub(super) patterns: HashMap<String, u64>,
}

/// Users of a row that are told apart.
const MOST_USERS: usize = 256;

impl Row {
    pub(super) fn new(key: String) -> Row {
        Row { key, ..Row::default() }
    }

    /// Of a file, by what was seen call by call; what the kernel added up stands for reads, writes, opens and syncs.
    pub(super) fn of(key: String, file: &FileFacts, counted: Option<&FileUse>, timed: bool) -> Row {
        let calls = |io: &Option<Box<IoStats>>| io.as_ref().map_or(0, |io| io.calls.count);
        let longest = |io: &Option<Box<IoStats>>| io.as_ref().map_or(0, |io| io.calls.max().or_zero());
        let mut row = Row {
            files: file.merged.max(1),
            calls: file.calls(),
            stats: Some(file.stats),
            failed: Some(file.stats_missing + file.open_failures),
            opens: Some(file.opens),
            reads: Some(calls(&file.reads)),
            read: file.bytes_read(),
            writes: Some(calls(&file.writes)),
            written: file.bytes_written(),
            syncs: Some(file.syncs.count),
            creates: file.creates,
            unlinks: file.unlinks,
            renames: file.renames_to,
            appends: file.append_opens,
            size: file.size,
            ns: timed.then(|| file.time_ns()),
            longest: timed.then(|| longest(&file.reads).max(longest(&file.writes))),
            ..Row::new(key)
        };
        if let Some(used) = counted {
            row.take_use(used);
        }
        row
    }

    /// Without what only single calls tell.
    pub(super) fn without_lookups(mut self) -> Row {
        (self.stats, self.failed) = (None, None);
        self
    }

    /// Of one user.
    pub(super) fn of_use(key: String, used: &FileUse, timed: bool) -> Row {
        let mut row = Row { files: 1, ..Row::new(key) };
        row.take_use(used);
        if !timed {
            (row.ns, row.longest) = (None, None);
        }
        row
    }

    fn take_use(&mut self, used: &FileUse) {
        self.calls = used.calls();
        self.opens = Some(used.opens.calls);
        (self.reads, self.read) = (Some(used.reads.calls), used.reads.bytes);
        (self.writes, self.written) = (Some(used.writes.calls), used.writes.bytes);
        self.syncs = Some(used.syncs.calls);
        (self.ns, self.longest) = (Some(used.total_ns()), Some(used.longest_ns()));
    }

    pub(super) fn add(&mut self, other: &Row) {
        let plus = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.saturating_add(b)).or(a).or(b);
        self.stats = plus(self.stats, other.stats);
        self.failed = plus(self.failed, other.failed);
        self.opens = plus(self.opens, other.opens);
        self.reads = plus(self.reads, other.reads);
        self.writes = plus(self.writes, other.writes);
        self.syncs = plus(self.syncs, other.syncs);
        self.to_disk = plus(self.to_disk, other.to_disk);
        for (sum, more) in [
            (&mut self.files, other.files),
            (&mut self.calls, other.calls),
            (&mut self.read, other.read),
            (&mut self.written, other.written),
            (&mut self.creates, other.creates),
            (&mut self.unlinks, other.unlinks),
            (&mut self.renames, other.renames),
            (&mut self.appends, other.appends),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.size = self.size.max(other.size);
        self.ns = plus(self.ns, other.ns);
        self.longest = self.longest.max(other.longest);
        self.tools.extend(&other.tools);
        for (who, bytes) in &other.users {
            self.used_by(who.clone(), *bytes);
        }
        for (pattern, bytes) in &other.patterns {
            let sum = self.patterns.entry(pattern.clone()).or_default();
            *sum = sum.saturating_add(*bytes);
        }
    }

    /// Bytes read and written.
    pub(super) fn moved(&self) -> u64 {
        self.read.saturating_add(self.written)
    }

    pub(super) fn used_by(&mut self, who: Who, bytes: u64) {
        match self.users.iter().position(|(known, _)| *known == who) {
            Some(at) => self.users[at].1 = self.users[at].1.saturating_add(bytes),
            None if self.users.len() < MOST_USERS => self.users.push((who, bytes)),
            None => {}
        }
    }

    /// What became of it, in a word or two.
    fn life(&self) -> Option<&'static str> {
        Some(match self {
            _ if self.creates > 0 && self.unlinks > 0 && self.read > 0 && self.written > 0 => {
                "temporary, read back"
            }
            _ if self.creates > 0 && self.unlinks > 0 => "temporary",
            _ if self.unlinks > 0 => "removed",
            _ if self.renames > 0 => "renamed into place",
            _ if self.appends > 0 && self.written > 0 => "appended to",
            _ if self.creates > 0 && self.written > 0 => "written anew",
            _ if self.written > 0 => "changed",
            _ if self.opens == Some(0) && self.failed > Some(0) && self.failed >= self.stats => "never found",
            _ if self.read > 0 => "read",
            _ if self.opens == Some(0) && self.stats > Some(0) => "asked about",
            _ => return None,
        })
    }

    /// The text of the one who moved most bytes, and of how many others.
    fn most<'a>(&'a self, text: impl Fn(&'a Who) -> Option<&'a str>) -> Cell {
        let mut all: Vec<(&str, u64)> = Vec::new();
        for (who, bytes) in &self.users {
            let Some(text) = text(who) else { continue };
            match all.iter().position(|(known, _)| *known == text) {
                Some(at) => all[at].1 = all[at].1.saturating_add(*bytes),
                None => all.push((text, *bytes)),
            }
        }
        // The first of those that moved the same.
        let Some((first, _)) = all.iter().rev().max_by_key(|(_, bytes)| *bytes) else { return Cell::Unknown };
        match all.len() - 1 {
            0 => Cell::Text(first.to_string()),
            more => Cell::Text(format!("{first} and {more} more")),
        }
    }

    /// The pattern of most bytes, of a row without a key.
    fn mostly(&self) -> Cell {
        let most = self.patterns.iter().max_by_key(|(pattern, bytes)| (**bytes, std::cmp::Reverse(*pattern)));
        match (most, self.patterns.len()) {
            (None, _) => Cell::Unknown,
            (Some((pattern, _)), 1) => Cell::Text(pattern.clone()),
            (Some((pattern, _)), more) => Cell::Text(format!("{pattern} and {} more", more - 1)),
        }
    }

    /// Its cells. `whole`: of all rows, where there is no who and no life.
    pub(super) fn cells(&self, whole: bool) -> Vec<Cell> {
        let duration = |ns: Option<u64>| ns.map_or(Cell::Unknown, |ns| Cell::Duration(Nanos::new(ns)));
        let one = |cell: Cell| if whole { Cell::Unknown } else { cell };
        let tools: Vec<&str> = self.tools.iter().copied().collect();
        vec![
            duration(self.ns),
            duration(self.longest),
            Cell::Count(self.calls),
            Cell::Count(self.files),
            Cell::count(self.stats),
            Cell::count(self.failed),
            Cell::count(self.opens),
            Cell::count(self.reads),
            Cell::Bytes(self.read),
            Cell::count(self.writes),
            Cell::Bytes(self.written),
            Cell::count(self.syncs),
            self.to_disk.map_or(Cell::Unknown, Cell::Bytes),
            one(self.size.map_or(Cell::Unknown, Cell::Bytes)),
            one(Cell::text(self.life())),
            one(Cell::text(Some(tools.join(", ")).filter(|tools| !tools.is_empty()))),
            one(self.most(|who| who.container.as_deref())),
            one(self.most(|who| who.process.as_deref())),
            one(self.most(|who| who.thread.as_deref())),
            match whole {
                true => Cell::Text("total".to_string()),
                false if self.key.is_empty() => self.mostly(),
                false => Cell::Text(self.key.clone()),
            },
        ]
    }
}
