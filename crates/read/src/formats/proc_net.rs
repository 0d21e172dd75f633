//! Dumps of `/proc/net/{tcp,tcp6,udp,udp6,unix}`, one or several in a file, with or without their headers. They
//! name no process: the inode ties a row to the descriptor that lsof or `/proc/PID/fd` shows.
//!
//! ```text
//!   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
//!    1: 0100007F:220B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 10109 1 …
//! Num       RefCount Protocol Flags    Type St Inode Path
//! 000000008bb2213b: 00000003 00000000 00000000 0001 03 10116 /run/x.sock
//! ```
//!
//! Addresses are printed as 32-bit words in the host's byte order; little-endian is assumed (x86, ARM, RISC-V).

use crate::formats::fd_text::{bounded, decimal, words};
use crate::formats::{Format, SniffInput};
use crate::source::Source;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use whyslow_model::{CaptureKind, Event, FdEntry, FdKind, Sink, SocketEnds, SourceId};

/// The format.
pub(crate) static PROC_NET: Format = Format {
    kind: CaptureKind::ProcNet,
    name: "/proc/net",
    made_by: "cat /proc/PID/net/{tcp,tcp6,udp,udp6,unix}",
    sniff,
    read,
};

/// Lines looked at to recognise the format.
const SNIFF_LINES: usize = 500;

/// Which table a row belongs to, where something said so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Table {
    Tcp,
    Udp,
}

/// What a line was.
#[derive(Debug)]
enum Line<'a> {
    /// A header of the kernel's, or `==> /proc/net/udp <==`; with the table that it tells.
    Header(Option<Table>),
    Internet(Internet<'a>),
    Unix(Unix<'a>),
    /// Begins as a row does, but cannot be read.
    Damaged,
    Other,
}

/// A row of tcp, tcp6, udp or udp6.
#[derive(Debug)]
struct Internet<'a> {
    local: SocketAddr,
    remote: SocketAddr,
    state: u64,
    sending: u64,
    receiving: u64,
    user: &'a [u8],
    inode: u64,
    /// Fields of the row, which differ by table.
    fields: usize,
}

/// A row of unix.
#[derive(Debug)]
struct Unix<'a> {
    /// Socket flags (`__SO_ACCEPTCON`: it listens).
    flags: u64,
    state: u64,
    inode: u64,
    path: &'a [u8],
}

impl<'a> Line<'a> {
    fn parse(line: &'a [u8]) -> Line<'a> {
        let words: Vec<(usize, &[u8])> = words(line).take(24).collect();
        let word = |at: usize| words.get(at).map_or(&b""[..], |(_, word)| *word);
        match word(0) {
            b"sl" if word(1) == b"local_address" => return Line::Header(None),
            b"Num" if word(1) == b"RefCount" && word(2) == b"Protocol" => return Line::Header(None),
            b"==>" if word(2) == b"<==" => return Line::Header(table_of(word(1))),
            _ => {}
        }
        let Some(slot) = word(0).strip_suffix(b":") else { return Line::Other };
        let starts_as_internet = decimal::<u64>(slot).is_some() && word(1).contains(&b':');
        let starts_as_unix =
            slot.len() >= 8 && hex(slot).is_some() && word(1).len() == 8 && hex(word(1)).is_some();
        if starts_as_internet {
            return internet(&words).map_or(Line::Damaged, Line::Internet);
        }
        if starts_as_unix {
            return unix(line, &words).map_or(Line::Damaged, Line::Unix);
        }
        Line::Other
    }
}

fn internet<'a>(words: &[(usize, &'a [u8])]) -> Option<Internet<'a>> {
    let word = |at: usize| words.get(at).map(|(_, word)| *word);
    let (sending, receiving) = split_colon(word(4)?)?;
    split_colon(word(5)?)?;
    hex(word(6)?)?;
    Some(Internet {
        local: address(word(1)?)?,
        remote: address(word(2)?)?,
        state: hex(word(3)?)?,
        sending: hex(sending)?,
        receiving: hex(receiving)?,
        user: word(7).filter(|user| decimal::<u64>(user).is_some())?,
        inode: decimal(word(9)?)?,
        fields: words.len(),
    })
}

fn unix<'a>(line: &'a [u8], words: &[(usize, &'a [u8])]) -> Option<Unix<'a>> {
    let word = |at: usize| words.get(at).map(|(_, word)| *word);
    hex(word(2)?)?;
    hex(word(4)?)?;
    // A path may hold blanks, and begins with `@` where it is abstract.
    let path = words.get(7).and_then(|(start, _)| line.get(*start..)).unwrap_or(b"");
    Some(Unix { flags: hex(word(3)?)?, state: hex(word(5)?)?, inode: decimal(word(6)?)?, path })
}

fn split_colon(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|byte| *byte == b':')?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

fn hex(text: &[u8]) -> Option<u64> {
    text.first().filter(|byte| byte.is_ascii_hexdigit())?;
    u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()
}

/// `0100007F:220B`: each word of an address in the host's byte order, the port in the usual one.
fn address(text: &[u8]) -> Option<SocketAddr> {
    let (address, port) = split_colon(text)?;
    let port = u16::try_from(hex(port)?).ok()?;
    let mut bytes = [0; 16];
    for (word, bytes) in address.chunks(8).zip(bytes.chunks_mut(4)) {
        bytes.copy_from_slice(&u32::try_from(hex(word)?).ok()?.to_le_bytes());
    }
    let address = match (address.len(), bytes) {
        (8, [a, b, c, d, ..]) => IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
        // As lsof and the peer's own capture show it: an IPv4 connection of an IPv6 socket by its IPv4 address.
        (32, bytes) => IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical(),
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

/// lsof's form, so that rows of both can be compared: `*:22` for any address.
fn end(address: SocketAddr) -> String {
    if address.ip().is_unspecified() { format!("*:{}", address.port()) } else { address.to_string() }
}

/// The states of `include/net/tcp_states.h`, in lsof's spelling.
fn tcp_state(number: u64) -> Option<&'static str> {
    const STATES: [&str; 12] = [
        "ESTABLISHED",
        "SYN_SENT",
        "SYN_RECV",
        "FIN_WAIT1",
        "FIN_WAIT2",
        "TIME_WAIT",
        "CLOSE",
        "CLOSE_WAIT",
        "LAST_ACK",
        "LISTEN",
        "CLOSING",
        "NEW_SYN_RECV",
    ];
    STATES.get(usize::try_from(number.checked_sub(1)?).ok()?).copied()
}

/// The table that a file's name tells.
fn table_of(name: &[u8]) -> Option<Table> {
    let has = |word: &[u8]| memchr::memmem::find(name, word).is_some();
    match (has(b"tcp"), has(b"udp")) {
        (true, false) => Some(Table::Tcp),
        (false, true) => Some(Table::Udp),
        _ => None,
    }
}

impl Internet<'_> {
    /// Which table this row is of. The row itself tells: those of udp end in a count of drops (13 fields), those of
    /// tcp in timers (17) or, in TIME_WAIT and the like, in nothing more (12). Only rows of other lengths (kernels
    /// before 2.6.27, rows cut) need the name of the file.
    fn table(&self, named: Option<Table>) -> Table {
        match self.fields {
            13 => Table::Udp,
            17 => Table::Tcp,
            _ => named.unwrap_or(Table::Tcp),
        }
    }

    fn entry(&self, source: SourceId, line: u64, named: Option<Table>) -> FdEntry {
        let table = self.table(named);
        let connected = !self.remote.ip().is_unspecified() || self.remote.port() != 0;
        FdEntry {
            source,
            line,
            user: Some(bounded(self.user)),
            kind: if table == Table::Tcp { FdKind::Tcp } else { FdKind::Udp },
            ends: Some(SocketEnds {
                local: Some(end(self.local)),
                peer: connected.then(|| end(self.remote)),
            }),
            state: tcp_state(self.state).filter(|_| table == Table::Tcp).map(Into::into),
            // A connection that no process holds any more has none.
            inode: Some(self.inode).filter(|inode| *inode != 0),
            queues: Some((self.sending, self.receiving)),
            ..FdEntry::default()
        }
    }
}

impl Unix<'_> {
    /// `__SO_ACCEPTCON`, the flag of a listening socket.
    const ACCEPTS: u64 = 1 << 16;

    fn entry(&self, source: SourceId, line: u64) -> FdEntry {
        let path = (!self.path.is_empty()).then(|| bounded(self.path));
        // `socket_state` of include/uapi/linux/net.h.
        let state = match self.state {
            _ if self.flags & Self::ACCEPTS != 0 => Some("LISTEN"),
            1 => Some("UNCONNECTED"),
            2 => Some("CONNECTING"),
            3 => Some("CONNECTED"),
            4 => Some("DISCONNECTING"),
            _ => None,
        };
        FdEntry {
            source,
            line,
            kind: FdKind::Unix,
            name: path.clone(),
            ends: path.map(|path| SocketEnds { local: Some(path), peer: None }),
            state: state.map(Into::into),
            inode: Some(self.inode).filter(|inode| *inode != 0),
            ..FdEntry::default()
        }
    }
}

fn sniff(sample: &SniffInput<'_>) -> bool {
    let (mut own, mut other) = (0, 0);
    for line in sample.lines(SNIFF_LINES).filter(|line| !line.trim_ascii().is_empty()) {
        match Line::parse(line) {
            // `head` and `tail` print such a line above any file.
            Line::Header(Some(_)) => {}
            Line::Header(None) | Line::Internet(_) | Line::Unix(_) => own += 1,
            Line::Damaged | Line::Other => other += 1,
        }
    }
    own > 0 && own >= other
}

fn read(source: &mut Source, sink: &mut dyn Sink) -> io::Result<()> {
    let file_name = source.info.name.rsplit('/').next().unwrap_or("");
    let mut named = table_of(file_name.as_bytes());
    loop {
        let (number, id) = (source.line_number() + 1, source.info.id);
        let Some(line) = source.next_line()? else { return Ok(()) };
        let entry = match Line::parse(line) {
            Line::Header(table) => {
                named = table.or(named);
                source.info.events += 1;
                continue;
            }
            Line::Internet(row) => row.entry(id, number, named),
            Line::Unix(row) => row.entry(id, number),
            Line::Damaged => {
                let line = line.to_vec();
                source.reject(sink, &line, "a row of /proc/net/{tcp,udp,unix}");
                continue;
            }
            Line::Other => {
                source.info.foreign += !line.trim_ascii().is_empty() as u64;
                continue;
            }
        };
        source.info.events += 1;
        sink.push(Event::Fd(Box::new(entry)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::collect::{Captures, assert_accounted, collect, own, published, sniffs};
    use proptest::prelude::*;

    const DUMPS: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:07E8 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 251 1 000000002db3b9d5 100 0 0 10 0
   2: 0100007F:9B8C 0100007F:220B 01 00000010:0000000A 00:00000000 00000000  1000        0 10110 1 00000000caede848 20 0 0 10 -1
  15: 1C00000A:9F62 192E3E17:0050 06 00000000:00000000 03:00001731 00000000     0        0 0 3 ffff8c7a12d31dd0
  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   1: 00000000000000000000000001000000:D972 00000000000000000000000001000000:220C 08 00000000:00000000 00:00000000 00000000     0        0 10113 1 000000006d012d34 20 0 0 10 -1
   2: 0000000000000000FFFF00000100007F:D972 0000000000000000FFFF00000100007F:220C 01 00000000:00000000 00:00000000 00000000     0        0 10114 1 000000006d012d34 20 0 0 10 -1
   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
 7696: 00000000:15B3 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 10117 2 00000000a018821d 0

Num       RefCount Protocol Flags    Type St Inode Path
00000000d57b071e: 00000003 00000000 00000000 0001 03   248
000000008bb2213b: 00000002 00000000 00010000 0001 01 10116 /run/a b.sock
";

    fn row(entry: &FdEntry) -> (FdKind, Option<&str>, Option<&str>, Option<&str>, Option<u64>) {
        let ends = entry.ends.as_ref();
        let end = |end: fn(&SocketEnds) -> &Option<String>| ends.and_then(|ends| end(ends).as_deref());
        (entry.kind, end(|ends| &ends.local), end(|ends| &ends.peer), entry.state.as_deref(), entry.inode)
    }

    #[test]
    fn all_tables() {
        let got = collect(&PROC_NET, "net.txt", DUMPS.as_bytes());
        assert_accounted(&got, DUMPS.as_bytes());
        let rows: Vec<_> = got.fds.iter().map(row).collect();
        use FdKind::*;
        assert_eq!(
            rows,
            [
                (Tcp, Some("*:2024"), None, Some("LISTEN"), Some(251)),
                (Tcp, Some("127.0.0.1:39820"), Some("127.0.0.1:8715"), Some("ESTABLISHED"), Some(10110)),
                (Tcp, Some("10.0.0.28:40802"), Some("23.62.46.25:80"), Some("TIME_WAIT"), None),
                (Tcp, Some("[::1]:55666"), Some("[::1]:8716"), Some("CLOSE_WAIT"), Some(10113)),
                (Tcp, Some("127.0.0.1:55666"), Some("127.0.0.1:8716"), Some("ESTABLISHED"), Some(10114)),
                (Udp, Some("*:5555"), None, None, Some(10117)),
                (Unix, None, None, Some("CONNECTED"), Some(248)),
                (Unix, Some("/run/a b.sock"), None, Some("LISTEN"), Some(10116)),
            ]
        );
        assert_eq!((got.fds[0].queues, got.fds[1].queues), (Some((0, 3)), Some((16, 10))));
        assert_eq!((got.fds[1].user.as_deref(), got.fds[1].line, got.fds[1].pid), (Some("1000"), 3, None));
        assert_eq!((got.info.rejects, got.info.foreign), (0, 0));
        assert!(sniffs(&PROC_NET, "x", DUMPS.as_bytes()));
    }

    #[test]
    fn a_row_that_does_not_tell_its_table_is_of_the_named_one() {
        let row = "   0: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 251\n";
        let kind = |name: &str, data: String| collect(&PROC_NET, name, data.as_bytes()).fds[0].kind;
        assert_eq!(kind("d/udp6", row.into()), FdKind::Udp);
        assert_eq!(kind("udp/x", row.into()), FdKind::Tcp);
        assert_eq!(kind("x", format!("==> /proc/net/udp <==\n{row}")), FdKind::Udp);
    }

    #[test]
    fn damaged_rows_are_rejected_and_prose_is_not_taken() {
        let got = collect(
            &PROC_NET,
            "tcp",
            b"  sl  local_address rem_address\n   0: 0000:07E8 x\n   1: 00000000:07E8\nplain\n",
        );
        assert_eq!((got.info.rejects, got.info.foreign, got.info.events), (2, 1, 1));
        assert!(!sniffs(&PROC_NET, "tcp", b"12:30:01 up 3 days\n0: eth0: <UP>\n10: 20:30\n"));
    }

    #[test]
    fn our_captures_have_no_damaged_rows() {
        assert_no_damaged_rows(own());
    }

    #[test]
    fn published_captures_have_no_damaged_rows() {
        if let Some(captures) = published() {
            assert_no_damaged_rows(captures);
        }
    }

    fn assert_no_damaged_rows(captures: Captures) {
        for (folder, path) in captures {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if folder != "proc-net-tcp" && name != "proc-net-tcp.txt" {
                continue;
            }
            let data = std::fs::read(&path).unwrap();
            assert!(sniffs(&PROC_NET, &name, &data), "{name}");
            let got = collect(&PROC_NET, &name, &data);
            assert_accounted(&got, &data);
            // The last row of this file is cut off in the middle, at exactly 1 MiB less a few bytes.
            let cut = name.starts_with("falcosecurity__libs") && got.info.rejects <= 1;
            assert!(got.info.rejects == 0 || cut, "{name}: {:?}", got.notes);
            assert_eq!(got.info.foreign, 0, "{name}");
            assert!(!got.fds.is_empty());
        }
    }

    proptest! {
        #[test]
        fn any_damage_is_survived_and_accounted(at in 0usize..1700, bytes in prop::collection::vec(any::<u8>(), 0..60), removed in 0usize..60) {
            let mut data = DUMPS.as_bytes().to_vec();
            let from = at.min(data.len());
            data.splice(from..(from + removed).min(data.len()), bytes);
            assert_accounted(&collect(&PROC_NET, "x", &data), &data);
            sniffs(&PROC_NET, "x", &data);
        }

        #[test]
        fn addresses_are_those_that_the_kernel_printed(bytes in any::<[u8; 4]>(), port in any::<u16>()) {
            let text = format!("{:08X}:{port:04X}", u32::from_le_bytes(bytes));
            prop_assert_eq!(address(text.as_bytes()), Some(SocketAddr::from((bytes, port))));
        }
    }
}
