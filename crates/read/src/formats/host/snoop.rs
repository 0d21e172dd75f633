//! Tools that print a line an event, or a line a process and interval, under a header: opensnoop, fileslower, biosnoop,
//! tcplife, filetop and the others of bcc, bpftrace and perf-tools. What a tool is, is a row of [`SNOOPS`].
//!
//! ```text
//! TIME(s)  COMM           PID    D BYTES   LAT(ms) FILENAME
//! 0.000    randread.pl    6925   R 8192       1.06 data1
//! ```

use super::columns::task_number;
use super::line::{DayClock, Line, number, time_of_day};
use super::snoop_row::{Cell, Row, columns};
use super::snoop_tools::{Make, SNOOPS, by_shape};
use super::sysstat::seconds;
use super::{Block, Out, Step, Tool};
use std::collections::HashMap;
use whyslow_model::{
    BlockIo, ClockKind, Entity, Event, FigureRow, Metric, Nanos, NetEvent, Over, ProcessInfo, Timestamp,
    Trait,
};

pub(super) static SNOOP: Tool = Tool {
    begins: |line| Header::of(line).is_some(),
    row: |line| traced(line).is_some(),
    open: || Box::<Snoop>::default(),
};

/// A tool's header.
#[derive(Clone, Debug)]
struct Header {
    tool: &'static str,
    make: Make,
    cells: Vec<Cell>,
    /// `-j`: cells between commas.
    commas: bool,
}

impl Header {
    fn of(line: &Line<'_>) -> Option<Header> {
        let commas = line.words.len() == 1 && line.text.contains(',');
        let joined = columns(&line.words);
        let names: Vec<&str> = match commas {
            true => line.text.trim().split(',').collect(),
            false => joined.iter().map(AsRef::as_ref).collect(),
        };
        if names.len() < 2 || names.len() > 24 {
            return None;
        }
        let known = SNOOPS.iter().find(|(known, ..)| known.iter().all(|name| names.contains(name)));
        let (tool, make) = match known {
            Some((known, tool, make)) if names.len() >= 3 || known.len() == names.len() => (*tool, *make),
            _ => ("table of a tracer", by_shape(&names)?),
        };
        let mut cells: Vec<Cell> = names.iter().map(|name| Cell::of(name)).collect();
        match (tool, make) {
            // Its header has the names of the parent and its number the wrong way round.
            ("naptime", _) => {
                let (parent, task) = ([Cell::Parent, Cell::Other], [Cell::Pid, Cell::Comm]);
                cells = [&[Cell::Clock][..], &parent, &task, &[Cell::Latency(1_000_000_000)]].concat();
            }
            (_, Make::Seen(_)) => {
                if let Some(last @ (Cell::Other | Cell::Name | Cell::Text)) = cells.last_mut() {
                    *last = Cell::Words;
                }
            }
            _ => {}
        }
        Some(Header { tool, make, cells, commas })
    }

    /// `bcc`'s `trace` prints these, with or without a header above.
    fn trace() -> Header {
        let cells = vec![Cell::Pid, Cell::Tid, Cell::Comm, Cell::Name, Cell::Text];
        Header { tool: "trace", make: Make::Named, cells, commas: false }
    }
}

/// Rows of `trace` without a header: process, thread, name, kernel function, path.
fn traced(line: &Line<'_>) -> Option<()> {
    let function = |word: &str| {
        word.contains('_') && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let tasks = task_number(line.word(0)).is_some() && task_number(line.word(1)).is_some();
    let is_call = |word: &str| ["sys_", "do_sys_", "__x64_sys_"].iter().any(|start| word.starts_with(start));
    let known = match line.words.len() {
        4 => is_call(line.word(3)),
        5 => line.word(4).starts_with('/'),
        _ => false,
    };
    (known && tasks && function(line.word(3))).then_some(())
}

/// What is added up of one thing.
#[derive(Clone, Default, Debug)]
struct Sum {
    count: f64,
    took: f64,
    longest: Option<f64>,
    read: f64,
    written: f64,
    hits: f64,
    misses: f64,
    received: f64,
    sent: f64,
    name: Box<str>,
    line: u64,
    raw: Box<str>,
}

#[derive(Default)]
struct Snoop {
    header: Option<Header>,
    clock: DayClock,
    sums: HashMap<Entity, Sum>,
    first: Option<u64>,
    last: Option<u64>,
    /// A descriptor was shown: these are opens.
    descriptors: bool,
    /// The time line above (`08:09:44 loadavg: …`), and that of the table before.
    stated: Option<u64>,
    /// Seconds that each table is over.
    every: Option<f64>,
    /// Rows read under the header.
    rows: u64,
    /// The line before was a row, or a frame of the stack below it.
    below_row: bool,
}

/// Things added up in one table.
const MOST_THINGS: usize = 65_536;

impl Snoop {
    fn add(&mut self, of: Entity, line: &Line<'_>, row: &Row<'_>) -> Option<&mut Sum> {
        if !self.sums.contains_key(&of) && self.sums.len() >= MOST_THINGS {
            return None;
        }
        let sum = self.sums.entry(of).or_default();
        if row.took.is_some_and(|took| sum.longest.is_none_or(|longest| took > longest)) || sum.line == 0 {
            let mut signed = FigureRow::new(Entity::Host);
            line.sign(&mut signed);
            (sum.line, sum.raw) = (signed.line, signed.raw);
            sum.longest = row.took.or(sum.longest);
        }
        if sum.name.is_empty() && row.comm != "<...>" {
            sum.name = row.comm.into();
        }
        Some(sum)
    }

    fn call(&mut self, name: &str, count: f64, line: &Line<'_>, row: &Row<'_>) {
        let mut things = vec![Entity::Function { pid: row.task(), name: name.into() }];
        if !row.text.is_empty() && name != "query" && name != "getaddrinfo" {
            things.push(Entity::File { pid: row.task(), path: row.text.into() });
        }
        if let (Some(pid), Some(tid)) = (row.pid, row.tid) {
            things.push(Entity::Thread { pid, tid });
        }
        let (read, written) = match row.op {
            "R" => (row.bytes, 0.0),
            "W" => (0.0, row.bytes),
            _ => (0.0, 0.0),
        };
        for of in things {
            if let Some(sum) = self.add(of, line, row) {
                sum.count += count;
                sum.took += row.took.unwrap_or(0.0);
                sum.read += read;
                sum.written += written;
            }
        }
    }

    fn take(&mut self, header: &Header, line: &Line<'_>, row: &Row<'_>, out: &mut Out<'_>) {
        let clock = header.cells.contains(&Cell::Clock);
        let at = row.at.map(|at| if clock { self.clock.carry(at) } else { at });
        self.first = self.first.or(at);
        self.last = at.or(self.last);
        if at.is_some() {
            out.clock(if clock { ClockKind::TimeOfDay } else { ClockKind::Relative });
        }
        let ts = at.map_or(Timestamp::UNKNOWN, Timestamp::new);
        match header.make {
            Make::Calls(name) => self.call(name, 1.0, line, row),
            Make::Counted(name) => self.call(name, row.count, line, row),
            Make::OpenOrStat => {
                self.descriptors |= row.fd.is_some_and(|fd| fd > 0);
                self.call("open", 1.0, line, row);
            }
            Make::Named if row.name.is_empty() => {}
            Make::Named => {
                let name = row.name.rsplit_once("sys_enter_").map_or(row.name, |(_, call)| call);
                self.call(name.trim_end_matches("()"), 1.0, line, row);
            }
            Make::FileBytes => {
                let of = Entity::File { pid: row.tid.or(row.pid), path: row.text.into() };
                if let Some(sum) = self.add(of, line, row) {
                    sum.count += row.reads + row.writes;
                    sum.read += row.read_bytes;
                    sum.written += row.write_bytes;
                }
            }
            Make::DiskBytes => {
                let process = row.pid.map(Entity::Process);
                for of in process.into_iter().chain([Entity::Device(row.disk.into())]) {
                    if let Some(sum) = self.add(of, line, row) {
                        sum.count += row.count;
                        sum.took += row.took.unwrap_or(0.0) * row.count;
                        // The mean of a process is not its slowest request.
                        sum.longest = None;
                        match row.op {
                            "R" => sum.read += row.bytes,
                            _ => sum.written += row.bytes,
                        }
                    }
                }
            }
            Make::PageCache => {
                let Some(pid) = row.pid else { return };
                if let Some(sum) = self.add(Entity::Process(pid), line, row) {
                    sum.count += row.hits + row.misses;
                    sum.hits += row.hits;
                    sum.misses += row.misses;
                }
            }
            Make::Block => {
                let before = |ns: f64| {
                    at.map_or(Timestamp::UNKNOWN, |at| Timestamp::new(at.saturating_sub(ns as u64)))
                };
                let took = row.took.unwrap_or(0.0);
                out.give(Event::BlockIo(Box::new(BlockIo {
                    queued: row.queued.map_or(Timestamp::UNKNOWN, |waited| before(took + waited)),
                    issued: before(took),
                    completed: ts,
                    device: row.disk.to_string(),
                    sector: row.sector,
                    bytes: row.bytes as u64,
                    op: operation(row.op).to_string(),
                    pid: row.pid,
                    tid: row.tid,
                    file: None,
                })));
                let of = Entity::Device(row.disk.into());
                if let Some(sum) = self.add(of, line, row) {
                    sum.count += 1.0;
                    sum.took += row.took.unwrap_or(0.0);
                    sum.name = "".into();
                    match row.op {
                        "R" => sum.read += row.bytes,
                        _ => sum.written += row.bytes,
                    }
                }
            }
            Make::NetBytes => {
                let Some(pid) = row.pid else { return };
                for of in [Entity::Process(pid), Entity::Peer(row.peer.into())] {
                    if let Some(sum) = self.add(of, line, row) {
                        sum.received += row.read_bytes;
                        sum.sent += row.write_bytes;
                    }
                }
            }
            Make::Net(kind) => {
                let end = |address: &str, port: &str| match port {
                    "" => address.to_string(),
                    port if address.contains(':') => format!("[{address}]:{port}"),
                    port => format!("{address}:{port}"),
                };
                out.give(Event::Net(Box::new(NetEvent {
                    ts,
                    kind,
                    pid: row.pid.filter(|pid| *pid > 0),
                    local: end(row.local, row.local_port),
                    peer: end(row.peer, row.peer_port),
                    took: row.took.map_or(Nanos::UNKNOWN, |took| Nanos::new(took as u64)),
                    rtt: Nanos::UNKNOWN,
                })));
            }
            Make::Seen(_) => *out.given += 1,
            Make::Exec => {
                let Some(pid) = row.pid else { return };
                self.call("execve", 1.0, line, &Row { text: "", pid: None, ..*row });
                out.give(Event::Process(ProcessInfo {
                    pid,
                    parent: row.parent,
                    comm: Some(row.comm.to_string()).filter(|comm| !comm.is_empty()),
                    cmdline: Some(row.text.to_string()).filter(|text| !text.is_empty()),
                    ..ProcessInfo::default()
                }));
            }
        }
    }

    fn flush(&mut self, out: &mut Out<'_>) {
        let Some(header) = &self.header else { return };
        let tool = match header.make {
            Make::OpenOrStat if !self.descriptors => "statsnoop",
            _ => header.tool,
        };
        out.made(tool, std::mem::take(&mut self.rows), &header.make.says());
        let mut table = out.table(tool);
        let interval =
            matches!(header.make, Make::FileBytes | Make::DiskBytes | Make::PageCache | Make::NetBytes);
        let told = self.every.filter(|_| interval);
        let length = told.or_else(|| {
            let (first, last) = (self.first?, self.last?);
            (last > first).then(|| (last - first) as f64 / 1e9)
        });
        table.over = Over::Interval(length.map_or(Nanos::UNKNOWN, seconds));
        table.at = self.last.or(self.stated).map_or(Timestamp::UNKNOWN, Timestamp::new);
        let mut sums: Vec<(Entity, Sum)> = self.sums.drain().collect();
        sums.sort_by(|(a, of_a), (b, of_b)| of_a.line.cmp(&of_b.line).then_with(|| a.cmp(b)));
        for (mut of, sum) in sums {
            if tool == "statsnoop"
                && let Entity::Function { name, .. } = &mut of
                && &**name == "open"
            {
                *name = "stat".into();
            }
            let is_device = matches!(of, Entity::Device(_));
            let mut row = FigureRow::new(of);
            if sum.count > 0.0 {
                row.set(Metric::CallCount, sum.count);
            }
            if sum.longest.is_some() || sum.took > 0.0 {
                row.set(Metric::CallTotal, sum.took);
                if is_device && sum.count > 0.0 {
                    row.set(Metric::Latency, sum.took / sum.count);
                }
            }
            if let Some(longest) = sum.longest {
                row.set(Metric::CallMax, longest);
            }
            for (bytes, total, rate) in [
                (sum.read, Metric::ReadTotal, Metric::ReadBytes),
                (sum.written, Metric::WriteTotal, Metric::WriteBytes),
            ] {
                if bytes > 0.0 || matches!(header.make, Make::FileBytes | Make::DiskBytes) {
                    row.set(total, bytes);
                    if let Some(length) = length.filter(|length| *length > 0.0) {
                        row.set(rate, bytes / length);
                    }
                }
            }
            if let Some(length) = length.filter(|length| *length > 0.0 && sum.hits + sum.misses > 0.0) {
                row.set(Metric::PageCacheHits, sum.hits / length);
                row.set(Metric::PageCacheMisses, sum.misses / length);
            }
            if let Some(length) = length.filter(|_| header.make == Make::NetBytes) {
                row.set(Metric::RxBytes, sum.received / length);
                row.set(Metric::TxBytes, sum.sent / length);
            }
            // What shows slow calls only tells no rate of all.
            let all = !tool.ends_with("slower");
            if let Some(length) = length.filter(|length| *length > 0.0 && sum.count > 0.0 && all) {
                row.set(Metric::Calls, sum.count / length);
            }
            if !is_device {
                row.say(Trait::Name, sum.name);
            }
            (row.line, row.raw) = (sum.line, sum.raw);
            table.rows.push(row);
        }
        (self.first, self.last, self.descriptors) = (None, None, false);
        out.push(table);
    }
}

/// `R`, `W`, `WS`, `RM`, `F`, `D` as recordings name them.
fn operation(letters: &str) -> &'static str {
    match letters.bytes().next() {
        Some(b'R') => "read",
        Some(b'W') if letters.contains('S') => "write+sync",
        Some(b'W') => "write",
        Some(b'F') => "flush",
        Some(b'D') => "discard",
        _ => "other",
    }
}

impl Block for Snoop {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if let Some(header) = Header::of(line) {
            self.flush(out);
            self.every = out.about.every;
            self.stated = out.about.stamp.take().or(self.stated);
            self.header = Some(header);
            return Step::Used;
        }
        // `08:09:44 loadavg: …` of tables an interval.
        if let Some((time, words)) = time_of_day(line, 0)
            && matches!(line.word(words), "loadavg:" | "Buffers" | "")
        {
            self.flush(out);
            self.stated = Some(self.clock.carry(time));
            return Step::Used;
        }
        if self.header.is_none() {
            self.header = traced(line).map(|()| Header::trace());
        }
        let Some(header) = self.header.clone() else { return Step::Other };
        let below_row = std::mem::take(&mut self.below_row);
        match Row::parse(&header.cells, header.commas, line) {
            Some(row) => {
                self.take(&header, line, &row, out);
                self.rows += 1;
                self.below_row = true;
                Step::Used
            }
            // Of the stack of that event (`-K`, `-U`, `-s`).
            None if below_row && is_frame(line) => {
                self.below_row = true;
                Step::Used
            }
            // Text after the events, cut lines at the end of an example: damage only where a row begins so.
            None if begins_as_row(&header, line) => {
                Step::Damaged("a row with a cell for each column of its header")
            }
            None => Step::Other,
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.flush(out);
    }
}

/// An indented function, or `=> function` of ftrace.
fn is_frame(line: &Line<'_>) -> bool {
    let is_name =
        |word: &str| word.starts_with(|first: char| first.is_ascii_alphabetic() || "_[".contains(first));
    line.text.starts_with("    ") && is_name(line.word(0))
        || line.text.starts_with('\t') && is_name(line.word(0))
        || line.word(0) == "=>" && line.words.len() == 2
}

/// True where the first cell is of the first column's kind, and that column is one of numbers.
fn begins_as_row(header: &Header, line: &Line<'_>) -> bool {
    let word = line.word(0);
    match header.cells.first() {
        Some(Cell::Clock) => time_of_day(line, 0).is_some(),
        Some(cell) if cell.is_number() && !header.commas => number(word).is_some(),
        _ => false,
    }
}
