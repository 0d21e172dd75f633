//! One line of a tool that prints a line an event: its columns by their names, and its cells.

use super::columns::task_number;
use super::line::{Line, number, time_of_day};

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cell {
    Pid,
    Tid,
    Parent,
    Comm,
    /// Takes the rest of the line.
    Text,
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
            "TID" => Cell::Tid,
            "PPID" => Cell::Parent,
            "COMM" | "TASK" | "PCOMM" | "CMD" | "C-COMM" => Cell::Comm,
            "PATH" | "FILE" | "FILENAME" | "ARGS" | "ARGs" | "HOST" | "QUERY" | "-" => Cell::Text,
            "LAT(ms)" | "LATms" | "MS" | "AVGms" => Cell::Latency(MS),
            "QUE(ms)" => Cell::Queued(MS),
            "LAT(us)" | "LATENCY_us" => Cell::Latency(US),
            "TIME" | "TIME(H:M:S)" => Cell::Clock,
            "TIME(s)" => Cell::Since(1_000_000_000),
            "TIME(ms)" => Cell::Since(MS),
            "ENDTIME_us" => Cell::Since(US),
            "BYTES" => Cell::Bytes,
            "READS" => Cell::Reads,
            "WRITES" => Cell::Writes,
            "R_Kb" | "RX_KB" => Cell::ReadKb,
            "W_Kb" | "TX_KB" => Cell::WriteKb,
            "Kbytes" => Cell::Kb,
            "I/O" => Cell::Count,
            "T" | "D" | "TYPE" => Cell::Op,
            "DISK" => Cell::Disk,
            "SECTOR" => Cell::Sector,
            "FD" => Cell::Fd,
            "CALL" | "FUNC" | "SYS" => Cell::Name,
            "HITS" => Cell::Hits,
            "MISSES" => Cell::Misses,
            "LADDR" | "SADDR" | "LADDR:LPORT" => Cell::Local,
            "LPORT" | "SPORT" => Cell::LocalPort,
            "RADDR" | "DADDR" | "RADDR:RPORT" => Cell::Peer,
            "RPORT" | "DPORT" => Cell::PeerPort,
            _ => Cell::Other,
        }
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
        let ends_in_text = cells.last() == Some(&Cell::Text);
        for (i, cell) in cells.iter().enumerate() {
            let last = i + 1 == cells.len();
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
                    row.comm = rest.get(..len).unwrap_or(word);
                }
                Cell::Text if last && !commas => {
                    row.text = line.rest(at);
                    width = line.words.len().saturating_sub(at);
                }
                Cell::Text => row.text = word,
                Cell::Latency(unit) => row.took = Some(amount * unit as f64),
                Cell::Queued(unit) => row.queued = Some(amount * unit as f64),
                Cell::Clock => {
                    let time = Line { words: vec![word.trim_end_matches(':')], ..*line };
                    row.at = Some(time_of_day(&time, 0)?.0);
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

/// `3`, `0x3`, `-1`.
fn number_of_fd(word: &str) -> Option<i64> {
    match word.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => word.parse().ok(),
    }
}
