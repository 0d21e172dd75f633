//! lsof's table: cells by the header's positions; where a row does not stand below its header (grepped rows
//! without one, text whose blanks were squeezed), by what the words look like.

use super::row::{FdCell, Row};
use crate::formats::fd_text::{decimal, pid, words};

/// Words looked at in a row without positions: more than the widest table has before its `NAME`.
const MAX_WORDS: usize = 24;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cell {
    Command,
    Pid,
    Tid,
    TaskCommand,
    Parent,
    User,
    Fd,
    Kind,
    Device,
    /// `SIZE/OFF`, `SIZE`, `OFFSET`: an offset is marked as such in the cell.
    Size,
    Node,
    Name,
    /// A column that is not used: `PGID`, `NLINK`, `FILE-FLAG`, …
    Unused,
}

#[derive(Debug)]
struct Column {
    cell: Cell,
    start: usize,
    end: usize,
}

/// A header line.
#[derive(Debug)]
struct Header {
    columns: Vec<Column>,
}

/// What a line was.
#[derive(Debug)]
pub(super) enum Line<'a> {
    /// The header.
    Header,
    /// A row.
    Row(Row<'a>),
    /// Looks like a row, but cannot be read.
    Damaged,
    /// Something else.
    Other,
}

/// Reads lines, remembering the last header.
#[derive(Debug, Default)]
pub(super) struct Table {
    header: Option<Header>,
}

impl Table {
    /// What this line is.
    pub(super) fn line<'a>(&mut self, line: &'a [u8]) -> Line<'a> {
        if let Some(header) = Header::parse(line) {
            self.header = Some(header);
            return Line::Header;
        }
        let aligned = self.header.as_ref().and_then(|header| header.row(line));
        if let Some(row) = aligned.or_else(|| self.row_by_words(line)) {
            return Line::Row(row);
        }
        let damaged =
            self.header.is_some() && words(line).nth(1).is_some_and(|(_, word)| pid(word).is_some());
        if damaged { Line::Damaged } else { Line::Other }
    }

    fn row_by_words<'a>(&self, line: &'a [u8]) -> Option<Row<'a>> {
        let words: Vec<(usize, &[u8])> = words(line).take(MAX_WORDS).collect();
        let word = |at: usize| words.get(at).map_or(&b""[..], |(_, word)| *word);
        // COMMAND may hold blanks, so the pid is the first number from the second word on.
        let pid_at = (1..words.len()).find(|at| pid(word(*at)).is_some())?;
        let fd_at = (pid_at + 2..words.len()).find(|at| {
            FdCell::parse(word(*at)).is_some() && (word(*at) == b"NOFD" || is_kind(word(at + 1)))
        })?;
        let mut row = Row {
            comm: line.get(..words.get(pid_at)?.0)?.trim_ascii(),
            pid: pid(word(pid_at))?,
            user: word(fd_at - 1),
            fd: word(fd_at),
            ..Row::default()
        };
        self.cells_between(
            &words.get(pid_at + 1..fd_at - 1)?.iter().map(|(_, word)| *word).collect::<Vec<_>>(),
            &mut row,
        );
        let mut at = fd_at + 1;
        if row.fd != b"NOFD" {
            row.kind = word(at);
            at += 1;
        }
        let name_at = self.tail(&words, at, &mut row);
        row.name =
            words.get(name_at).and_then(|(start, _)| line.get(*start..)).unwrap_or(b"").trim_ascii_end();
        Some(row)
    }

    /// The cells between pid and user: those of the header, or else thread and its name, which lsof 4.8x shows by
    /// default.
    fn cells_between<'a>(&self, cells: &[&'a [u8]], row: &mut Row<'a>) {
        let mut listed: Vec<Cell> = self.header.iter().flat_map(Header::between_pid_and_user).collect();
        if listed.len() != cells.len() {
            listed = match cells {
                [one] if pid(one).is_none() => vec![Cell::TaskCommand],
                _ => vec![Cell::Tid, Cell::TaskCommand],
            };
        }
        for (cell, text) in listed.into_iter().zip(cells) {
            match cell {
                Cell::Tid => row.tid = pid(text),
                Cell::TaskCommand => row.task = text,
                Cell::Parent => row.parent = decimal(text),
                _ => {}
            }
        }
    }

    /// The cells from `DEVICE` on, by what they look like; returns where `NAME` begins.
    fn tail<'a>(&self, words: &[(usize, &'a [u8])], mut at: usize, row: &mut Row<'a>) -> usize {
        let word = |at: usize| words.get(at).map_or(&b""[..], |(_, word)| *word);
        if matches!(row.kind, b"IPv4" | b"IPv6" | b"inet" | b"inet6") {
            if let Some(node) = (at..at + 4).find(|at| is_protocol(word(*at))) {
                row.node = word(node);
                row.device = if node > at { word(at) } else { b"" };
                for cell in at + 1..node {
                    size_or_offset(word(cell), row);
                }
                return node + 1;
            }
            return at;
        }
        if is_device(word(at)) {
            row.device = word(at);
            at += 1;
            // `25,   0`
            if row.device.ends_with(b",") && decimal::<u64>(word(at)).is_some() {
                at += 1;
            }
        }
        let most = if self.header.as_ref().is_some_and(|header| header.has_link_count()) { 3 } else { 2 };
        let mut numbers = Vec::new();
        while numbers.len() < most && is_size(word(at)) {
            numbers.push(word(at));
            at += 1;
        }
        match numbers.as_slice() {
            [] => {}
            // Of size and inode the size is the one that rows leave blank, unless it is marked as an offset.
            [one] if one.starts_with(b"0t") => size_or_offset(one, row),
            [one] => row.node = one,
            [size, .., node] => {
                size_or_offset(size, row);
                row.node = node;
            }
        }
        at
    }
}

impl Header {
    fn parse(line: &[u8]) -> Option<Header> {
        let mut columns: Vec<Column> = Vec::new();
        for (start, word) in words(line).take(MAX_WORDS) {
            let cell = match word {
                b"COMMAND" => Cell::Command,
                b"PID" => Cell::Pid,
                b"TID" => Cell::Tid,
                b"TASKCMD" => Cell::TaskCommand,
                b"PPID" => Cell::Parent,
                b"USER" => Cell::User,
                b"FD" => Cell::Fd,
                b"TYPE" => Cell::Kind,
                b"DEVICE" => Cell::Device,
                b"SIZE/OFF" | b"SIZE" | b"OFFSET" => Cell::Size,
                b"NODE" | b"INODE" | b"NODE-ID" => Cell::Node,
                b"NAME" => Cell::Name,
                _ if word.iter().all(|byte| byte.is_ascii_uppercase() || b"-/%".contains(byte)) => {
                    Cell::Unused
                }
                _ => return None,
            };
            if cell != Cell::Unused && columns.iter().any(|column| column.cell == cell) {
                return None;
            }
            columns.push(Column { cell, start, end: start + word.len() });
        }
        let at = |cell| columns.iter().position(|column| column.cell == cell);
        let ordered =
            at(Cell::Command) == Some(0) && at(Cell::Pid) == Some(1) && at(Cell::Fd)? < at(Cell::Name)?;
        (ordered && at(Cell::Name)? + 1 == columns.len()).then_some(Header { columns })
    }

    fn between_pid_and_user(&self) -> impl Iterator<Item = Cell> {
        self.columns
            .iter()
            .map(|column| column.cell)
            .skip(2)
            .take_while(|cell| !matches!(cell, Cell::User | Cell::Fd))
    }

    /// `NLINK` stands between `SIZE/OFF` and `NODE`.
    fn has_link_count(&self) -> bool {
        let cells = || self.columns.iter().map(|column| column.cell);
        cells().skip_while(|cell| *cell != Cell::Size).nth(1) == Some(Cell::Unused)
    }

    /// The row whose cells stand below this header; `None` where any text stands elsewhere.
    fn row<'a>(&self, line: &'a [u8]) -> Option<Row<'a>> {
        let mut row = Row::default();
        let mut taken = 0;
        let mut left_aligned: Option<(Cell, usize)> = None;
        for column in &self.columns {
            match column.cell {
                Cell::Command | Cell::TaskCommand => {
                    left_aligned = Some((column.cell, column.start.max(taken)));
                    continue;
                }
                Cell::Name => {
                    // Its cells begin below its header.
                    if !is_blank(line, taken, column.start.min(line.len())) {
                        return None;
                    }
                    row.name = line.get(column.start..).unwrap_or(b"").trim_ascii_end();
                    break;
                }
                _ => {}
            }
            let (start, end) = right_aligned(line, column, taken)?;
            let text = line.get(start..end)?;
            match left_aligned.take() {
                Some((cell, from)) => {
                    // A blank column behind it does not end it; the next one does.
                    if text.is_empty() {
                        left_aligned = Some((cell, from));
                        continue;
                    }
                    let own = line.get(from.min(start)..start)?.trim_ascii();
                    if cell == Cell::Command { row.comm = own } else { row.task = own }
                }
                None if !text.is_empty() && !is_blank(line, taken, start) => return None,
                None => {}
            }
            if text.is_empty() {
                continue;
            }
            taken = end;
            match column.cell {
                Cell::Pid => row.pid = pid(text)?,
                Cell::Tid => row.tid = Some(pid(text)?),
                Cell::Parent => row.parent = Some(decimal(text)?),
                Cell::User => row.user = text,
                Cell::Fd => row.fd = text,
                Cell::Kind => row.kind = text,
                Cell::Device => row.device = text,
                Cell::Size => size_or_offset(text, &mut row),
                Cell::Node => row.node = text,
                _ => {}
            }
        }
        let complete =
            row.pid > 0 && FdCell::parse(row.fd).is_some() && (!row.kind.is_empty() || row.fd == b"NOFD");
        complete.then_some(row)
    }
}

/// The cell that ends where its right-aligned header does, empty if blank; `None` where text runs across that end.
fn right_aligned(line: &[u8], column: &Column, taken: usize) -> Option<(usize, usize)> {
    let space = |at: usize| line.get(at).is_none_or(u8::is_ascii_whitespace);
    let mut end = column.end;
    if space(end.checked_sub(1)?) {
        return Some((end.min(line.len()), end.min(line.len())));
    }
    if column.cell == Cell::Fd {
        // Access mode and lock stand behind the number.
        end += (end..end + 2).take_while(|at| !space(*at)).count();
    }
    if !space(end) {
        return None;
    }
    let mut start = column.end - 1;
    while start > taken && !space(start - 1) {
        start -= 1;
    }
    // `25,   0` is one cell.
    if column.cell == Cell::Device {
        let gap = (taken..start).rev().take_while(|at| space(*at)).count();
        if gap > 0 && start > gap && line.get(start - gap - 1) == Some(&b',') {
            start -= gap;
            while start > taken && !space(start - 1) {
                start -= 1;
            }
        }
    }
    Some((start, end))
}

fn is_blank(line: &[u8], from: usize, to: usize) -> bool {
    line.get(from.min(to)..to).is_some_and(|part| part.iter().all(u8::is_ascii_whitespace))
}

/// `0t12` and `0x12` are offsets, `12` is a size.
pub(super) fn size_or_offset(cell: &[u8], row: &mut Row<'_>) {
    if let Some(offset) = cell.strip_prefix(b"0t") {
        row.offset = decimal(offset);
    } else if let Some(hex) = cell.strip_prefix(b"0x") {
        row.offset = std::str::from_utf8(hex).ok().and_then(|hex| u64::from_str_radix(hex, 16).ok());
    } else {
        row.size = decimal(cell);
    }
}

fn is_size(word: &[u8]) -> bool {
    let number = word.strip_prefix(b"0t").unwrap_or(word);
    number.strip_prefix(b"0x").map_or(decimal::<u64>(number).is_some(), |hex| {
        !hex.is_empty() && hex.iter().all(u8::is_ascii_hexdigit)
    })
}

/// `253,16`, `0x041d5f00`, `19164`.
fn is_device(word: &[u8]) -> bool {
    if let Some(hex) = word.strip_prefix(b"0x") {
        return !hex.is_empty() && hex.iter().all(u8::is_ascii_hexdigit);
    }
    word.first().is_some_and(u8::is_ascii_digit)
        && word.iter().all(|byte| byte.is_ascii_digit() || *byte == b',')
}

fn is_protocol(word: &[u8]) -> bool {
    matches!(
        word,
        b"TCP" | b"UDP" | b"TCPv6" | b"UDPv6" | b"UDPLITE" | b"ICMP" | b"ICMPV6" | b"SCTP" | b"DCCP" | b"RAW"
    )
}

/// The types that lsof's manual lists and that Linux or an old Unix shows.
fn is_kind(word: &[u8]) -> bool {
    const KINDS: [&[u8]; 35] = [
        // Anonymous inodes before 4.85.
        b"0000", b"REG", b"DIR", b"CHR", b"BLK", b"FIFO", b"LINK", b"PIPE", b"IPv4", b"IPv6", b"inet",
        b"inet6", b"unix", b"sock", b"a_inode", b"netlink", b"pack", b"raw", b"raw6", b"rte", b"key",
        b"ax25", b"ipx", b"x.25", b"atalk", b"sctp", b"vsock", b"unknown", b"VREG", b"VDIR", b"VCHR",
        b"VBLK", b"VFIFO", b"KQUEUE", b"DEL",
    ];
    KINDS.contains(&word)
}
