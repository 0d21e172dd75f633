//! One line of a tool that prints a line an event: its columns by their names, and its cells.

use super::columns::task_number;
use super::line::{Line, number, time_of_day};
use std::borrow::Cow;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cell {
    Pid,
    Tid,
    Parent,
    Comm,
    /// Takes the rest of the line.
    Text,
    /// The same, and it is not kept.
    Words,
    /// A time of a call, in so many nanoseconds.
    Latency(u64),
    /// A time before it was handed to the device, in so many nanoseconds.
    Queued(u64),
    /// `HH:MM:SS`.
    Clock,
    /// Since the first line, in so many nanoseconds.
    Since(u64),
    Bytes,
    Reads,
    Writes,
    /// Bytes in units of 1,024, of files or of connections.
    ReadKb,
    WriteKb,
    Kb,
    Count,
    Op,
    Disk,
    Sector,
    Fd,
    Name,
    Hits,
    Misses,
    Local,
    LocalPort,
    Peer,
    PeerPort,
    Other,
}

impl Cell {
    pub(super) fn of(name: &str) -> Cell {
        const US: u64 = 1_000;
        const MS: u64 = 1_000_000;
        match name {
            "PID" => Cell::Pid,
            "TID" | "TIDS" => Cell::Tid,
            "PPID" => Cell::Parent,
            "COMM" | "TASK" | "PCOMM" | "CMD" | "C-COMM" => Cell::Comm,
            "PATH" | "FILE" | "FILENAME" | "ARGS" | "ARGs" | "HOST" | "QUERY" | "-" => Cell::Text,
            "DESCRIPTION" | "METHOD" => Cell::Words,
            "LAT(ms)" | "LATms" | "MS" | "ms" | "AVGms" => Cell::Latency(MS),
            "TIME(us)" => Cell::Latency(US),
            "SECONDS" => Cell::Latency(1_000_000_000),
            "QUE(ms)" => Cell::Queued(MS),
            "LAT(us)" | "LATENCY_us" => Cell::Latency(US),
            "TIME" | "TIME(H:M:S)" => Cell::Clock,
            "TIME(s)" | "ENDs" | "START" => Cell::Since(1_000_000_000),
            "TIME(ms)" => Cell::Since(MS),
            "ENDTIME_us" => Cell::Since(US),
            "BYTES" | "#_BYTES" => Cell::Bytes,
            "READS" => Cell::Reads,
            "WRITES" => Cell::Writes,
            "R_Kb" | "RX_KB" => Cell::ReadKb,
            "W_Kb" | "TX_KB" => Cell::WriteKb,
            "Kbytes" => Cell::Kb,
            "I/O" | "COUNT" | "BINDS" | "CONNECTS" | "RETRANSMITS" | "ALLOCS" | "#_ALLOCS" | "#_CALLS" => {
                Cell::Count
            }
            "T" | "D" | "TYPE" => Cell::Op,
            "DISK" | "DEV" | "DEVICE" => Cell::Disk,
            "SECTOR" | "BLOCK" => Cell::Sector,
            "FD" => Cell::Fd,
            "CALL" | "FUNC" | "SYS" | "EVENT" => Cell::Name,
            "HITS" => Cell::Hits,
            "MISSES" => Cell::Misses,
            "LADDR" | "SADDR" | "LADDR:LPORT" => Cell::Local,
            "LPORT" | "SPORT" => Cell::LocalPort,
            "RADDR" | "DADDR" | "RADDR:RPORT" => Cell::Peer,
            "RPORT" | "DPORT" => Cell::PeerPort,
            _ => Cell::of_unit(name).unwrap_or(Cell::Other),
        }
    }

    /// A time whose unit stands in its name: `LAT(ns)`, `DURATION_ms`.
    fn of_unit(name: &str) -> Option<Cell> {
        let is_time = ["LAT", "DUR", "DELAY", "WAIT"].iter().any(|start| name.starts_with(start));
        let units = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("(s)", 1_000_000_000)];
        let unit =
            units.iter().find(|(unit, _)| name.trim_end_matches(')').ends_with(unit.trim_end_matches(')')));
        unit.filter(|_| is_time).map(|(_, ns)| Cell::Latency(*ns))
    }

    /// True for a cell that must be a number.
    pub(super) fn is_number(self) -> bool {
        matches!(
            self,
            Cell::Pid
                | Cell::Tid
                | Cell::Latency(_)
                | Cell::Queued(_)
                | Cell::Since(_)
                | Cell::Bytes
                | Cell::Reads
                | Cell::Writes
                | Cell::ReadKb
                | Cell::WriteKb
                | Cell::Kb
                | Cell::Count
                | Cell::Sector
                | Cell::Hits
                | Cell::Misses
        )
    }
}

/// One line, by its columns.
#[derive(Default, Debug)]
pub(super) struct Row<'l> {
    pub(super) pid: Option<u32>,
    pub(super) tid: Option<u32>,
    pub(super) parent: Option<u32>,
    pub(super) comm: &'l str,
    pub(super) text: &'l str,
    pub(super) op: &'l str,
    pub(super) disk: &'l str,
    pub(super) name: &'l str,
    pub(super) local: &'l str,
    pub(super) local_port: &'l str,
    pub(super) peer: &'l str,
    pub(super) peer_port: &'l str,
    pub(super) fd: Option<i64>,
    /// Nanoseconds.
    pub(super) took: Option<f64>,
    /// Nanoseconds.
    pub(super) queued: Option<f64>,
    /// Nanoseconds since midnight, or since the tool began.
    pub(super) at: Option<u64>,
    pub(super) bytes: f64,
    pub(super) reads: f64,
    pub(super) writes: f64,
    pub(super) read_bytes: f64,
    pub(super) write_bytes: f64,
    pub(super) count: f64,
    pub(super) sector: u64,
    pub(super) hits: f64,
    pub(super) misses: f64,
}

impl<'l> Row<'l> {
    /// A name may have blanks (`JS Helper`): of the ways to split the line, the first by which all numbers are numbers.
    pub(super) fn parse(cells: &[Cell], commas: bool, line: &Line<'l>) -> Option<Row<'l>> {
        if commas {
            let words: Vec<&str> = line.text.trim().splitn(cells.len(), ',').collect();
            return Row::split(cells, commas, &Line { words, ..*line }, 0);
        }
        let names = cells.contains(&Cell::Comm);
        (0..if names { 4 } else { 1 }).find_map(|more| Row::split(cells, commas, line, more))
    }

    fn split(cells: &[Cell], commas: bool, line: &Line<'l>, more: usize) -> Option<Row<'l>> {
        let mut row = Row::default();
        let mut at = 0;
        let ends_in_text = matches!(cells.last(), Some(Cell::Text | Cell::Words));
        for (i, cell) in cells.iter().enumerate() {
            let last = i + 1 == cells.len();
            // Between the ends of a connection.
            at += usize::from(line.word(at) == "<->");
            let word = line.word(at);
            let value = number(word.trim_end_matches([':', '%']));
            if cell.is_number() && value.is_none() {
                return None;
            }
            let amount = value.unwrap_or(0.0).max(0.0);
            let mut width = 1;
            match *cell {
                Cell::Pid => row.pid = Some(task_number(word)?),
                Cell::Tid => row.tid = Some(task_number(word)?),
                Cell::Parent => row.parent = task_number(word),
                Cell::Comm => {
                    width = 1 + more;
                    let end = line.words.get(at + more)?;
                    let rest = line.rest(at);
                    let len = end.as_ptr() as usize + end.len() - word.as_ptr() as usize;
                    let name = rest.get(..len).unwrap_or(word);
                    // As Python prints bytes.
                    row.comm =
                        name.strip_prefix("b'").and_then(|name| name.strip_suffix('\'')).unwrap_or(name);
                }
                Cell::Text if last && !commas => {
                    row.text = line.rest(at);
                    width = line.words.len().saturating_sub(at);
                }
                Cell::Words if last && !commas => width = line.words.len().saturating_sub(at),
                Cell::Words => {}
                Cell::Text => row.text = word,
                Cell::Latency(unit) => row.took = Some(amount * unit as f64),
                Cell::Queued(unit) => row.queued = Some(amount * unit as f64),
                Cell::Clock => {
                    let time = Line { words: vec![word.trim_end_matches(':')], ..*line };
                    // Some versions count from their start, in a unit that the header does not tell.
                    row.at = time_of_day(&time, 0).map(|(at, _)| at);
                    if row.at.is_none() && value.is_none() {
                        return None;
                    }
                }
                Cell::Since(unit) => row.at = Some((amount * unit as f64) as u64),
                Cell::Bytes => row.bytes = amount,
                Cell::Reads => row.reads = amount,
                Cell::Writes => row.writes = amount,
                Cell::ReadKb => row.read_bytes = amount * 1024.0,
                Cell::WriteKb => row.write_bytes = amount * 1024.0,
                Cell::Kb => row.bytes = amount * 1024.0,
                Cell::Count => row.count = amount,
                Cell::Sector => row.sector = amount as u64,
                Cell::Hits => row.hits = amount,
                Cell::Misses => row.misses = amount,
                Cell::Fd => row.fd = number_of_fd(word),
                Cell::Op => row.op = word,
                Cell::Disk => row.disk = word,
                Cell::Name => row.name = word,
                Cell::Local => row.local = word,
                Cell::LocalPort => row.local_port = word,
                Cell::Peer => row.peer = word,
                Cell::PeerPort => row.peer_port = word,
                Cell::Other => {}
            }
            at += width;
        }
        let words = line.words.len();
        (at == words || (at > words && ends_in_text && at == words + 1)).then_some(row)
    }

    pub(super) fn task(&self) -> Option<u32> {
        self.pid.or(self.tid)
    }
}

/// The names of the columns of a header: those of two words are one.
pub(super) fn columns<'l>(words: &[&'l str]) -> Vec<Cow<'l, str>> {
    let mut names = Vec::with_capacity(words.len());
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let next = words.get(at + 1).copied().unwrap_or("");
        let joined = match (*word, next) {
            ("#", _)
            | ("PREV", "COMM" | "TID")
            | ("PPC", "HCALL")
            | ("VQ", "Name")
            | ("In" | "Out", "SGs" | "BW") => Some(format!("{word}_{next}")),
            // `TIME (us)`, `[64, 512)`.
            (_, "(us)" | "(ms)" | "(ns)" | "(s)") => Some(format!("{word}{next}")),
            (range, _) if range.starts_with('[') && range.ends_with(',') => Some(format!("{range}{next}")),
            _ => None,
        };
        at += 1 + usize::from(joined.is_some());
        names.push(joined.map_or(Cow::Borrowed(*word), Cow::Owned));
    }
    names
}

/// `3`, `0x3`, `-1`.
fn number_of_fd(word: &str) -> Option<i64> {
    match word.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => word.parse().ok(),
    }
}
