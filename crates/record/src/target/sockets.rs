//! The sockets of a network namespace, as `/proc/PID/net/{tcp,tcp6,udp,udp6,unix,netlink,packet}` list them
//! (proc_net(5)). The inode number ties a row to a descriptor.

use super::root::{ProcRoot, bounded, decimal};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use whyslow_model::{FdEntry, FdKind, SocketEnds, Tid};

/// A table of sockets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Protocol {
    Tcp,
    Tcp6,
    Udp,
    Udp6,
}

impl Protocol {
    pub(super) const INTERNET: [Protocol; 4] = [Protocol::Tcp, Protocol::Tcp6, Protocol::Udp, Protocol::Udp6];

    fn file(self) -> &'static str {
        match self {
            Protocol::Tcp => "net/tcp",
            Protocol::Tcp6 => "net/tcp6",
            Protocol::Udp => "net/udp",
            Protocol::Udp6 => "net/udp6",
        }
    }

    /// `tcp` or `udp`.
    pub(super) fn transport(self) -> &'static str {
        match self.kind() {
            FdKind::Udp => "udp",
            _ => "tcp",
        }
    }

    fn kind(self) -> FdKind {
        match self {
            Protocol::Tcp | Protocol::Tcp6 => FdKind::Tcp,
            Protocol::Udp | Protocol::Udp6 => FdKind::Udp,
        }
    }
}

/// A row of an internet protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Internet {
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    state: u64,
    sending: u64,
    receiving: u64,
    pub(super) inode: u64,
}

/// What a row tells of a descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) kind: FdKind,
    pub(super) name: Option<String>,
    pub(super) ends: Option<SocketEnds>,
    pub(super) state: Option<String>,
    pub(super) queues: Option<(u64, u64)>,
}

impl Known {
    pub(super) fn tell(self, entry: &mut FdEntry) {
        entry.kind = self.kind;
        entry.name = self.name;
        entry.ends = self.ends;
        entry.state = self.state;
        entry.queues = self.queues;
    }
}

/// The network namespace of a process: device and inode of its handle.
pub(crate) fn namespace(root: &ProcRoot, pid: Tid) -> Option<(u64, u64)> {
    let path = root.of(pid, "ns/net");
    // In a tree made for a test the handle is a link that leads nowhere.
    let meta = if root.is_live() { std::fs::metadata(path) } else { std::fs::symlink_metadata(path) };
    meta.ok().map(|meta| (meta.dev(), meta.ino()))
}

/// What the tables of the namespace that `pid` is in tell of the sockets `wanted`.
pub(super) fn read_tables(root: &ProcRoot, pid: Tid, wanted: &HashSet<u64>) -> HashMap<u64, Known> {
    let mut found = HashMap::new();
    let mut left = wanted.len();
    let mut keep = |inode: u64, known: Known| {
        if wanted.contains(&inode) && found.insert(inode, known).is_none() {
            left -= 1;
        }
        left > 0
    };
    for protocol in Protocol::INTERNET {
        rows(root, pid, protocol.file(), |line| match Internet::parse(line) {
            Some(row) => keep(row.inode, row.known(protocol)),
            None => true,
        });
    }
    rows(root, pid, "net/unix", |line| match unix(line) {
        Some((inode, known)) => keep(inode, known),
        None => true,
    });
    rows(root, pid, "net/netlink", |line| match netlink(line) {
        Some((inode, known)) => keep(inode, known),
        None => true,
    });
    rows(root, pid, "net/packet", |line| match packet(line) {
        Some((inode, known)) => keep(inode, known),
        None => true,
    });
    found
}

/// The TCP sockets of the namespace that `pid` is in: both addresses and the inode number of each.
#[cfg(feature = "bpf")]
pub(crate) fn connected(root: &ProcRoot, pid: Tid, mut take: impl FnMut(SocketAddr, SocketAddr, u64)) {
    for protocol in [Protocol::Tcp, Protocol::Tcp6] {
        read_internet(root, pid, protocol, |row| take(row.local, row.remote, row.inode));
    }
}

/// The rows of one internet table.
pub(super) fn read_internet(root: &ProcRoot, pid: Tid, protocol: Protocol, mut take: impl FnMut(Internet)) {
    rows(root, pid, protocol.file(), |line| {
        Internet::parse(line).into_iter().for_each(&mut take);
        true
    });
}

/// The lines behind the header, while `more` wants them. A table that is not there (no IPv6) has none.
fn rows(root: &ProcRoot, pid: Tid, file: &str, mut more: impl FnMut(&[u8]) -> bool) {
    /// No row is longer: a unix socket's path has at most 108 bytes.
    const LONGEST: usize = 4096;
    let Ok(file) = File::open(root.of(pid, file)) else { return };
    let mut reader = BufReader::with_capacity(64 << 10, file);
    let mut line = Vec::new();
    let mut number = 0u64;
    loop {
        line.clear();
        match (&mut reader).take_line(&mut line, LONGEST) {
            Ok(0) | Err(_) => return,
            Ok(_) => number += 1,
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if number > 1 && !more(text) {
            return;
        }
    }
}

trait TakeLine {
    fn take_line(self, line: &mut Vec<u8>, most: usize) -> std::io::Result<usize>;
}

impl<R: BufRead> TakeLine for &mut R {
    fn take_line(self, line: &mut Vec<u8>, most: usize) -> std::io::Result<usize> {
        std::io::Read::take(self, most as u64).read_until(b'\n', line)
    }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn hex(text: &[u8]) -> Option<u64> {
    text.first().filter(|byte| byte.is_ascii_hexdigit())?;
    u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()
}

fn split_colon(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(b':', text)?;
    Some((&text[..at], &text[at + 1..]))
}

impl Internet {
    /// `1: 0100007F:220B 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 10109 1 …`
    fn parse(line: &[u8]) -> Option<Internet> {
        let mut words = words(line);
        split_colon(words.next()?)?;
        let local = address(words.next()?)?;
        let remote = address(words.next()?)?;
        let state = hex(words.next()?)?;
        let (sending, receiving) = split_colon(words.next()?)?;
        let inode = decimal(words.nth(4)?)?;
        Some(Internet { local, remote, state, sending: hex(sending)?, receiving: hex(receiving)?, inode })
    }

    fn known(&self, protocol: Protocol) -> Known {
        let kind = protocol.kind();
        let connected = !self.remote.ip().is_unspecified() || self.remote.port() != 0;
        Known {
            kind,
            name: None,
            ends: Some(SocketEnds {
                local: Some(end(self.local)),
                peer: connected.then(|| end(self.remote)),
            }),
            state: tcp_state(self.state).filter(|_| kind == FdKind::Tcp).map(Into::into),
            queues: Some((self.sending, self.receiving)),
        }
    }
}

/// `0100007F:220B`: each word of an address in the host's byte order, the port in the usual one.
fn address(text: &[u8]) -> Option<SocketAddr> {
    let (address, port) = split_colon(text)?;
    let port = u16::try_from(hex(port)?).ok()?;
    let mut bytes = [0; 16];
    for (word, bytes) in address.chunks(8).zip(bytes.chunks_mut(4)) {
        bytes.copy_from_slice(&u32::try_from(hex(word)?).ok()?.to_ne_bytes());
    }
    let address = match (address.len(), bytes) {
        (8, [a, b, c, d, ..]) => IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
        // As the peer's own side shows it: an IPv4 connection of an IPv6 socket by its IPv4 address.
        (32, bytes) => IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical(),
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

/// `*:22` for any address, as lsof shows it.
fn end(address: SocketAddr) -> String {
    match address.ip().is_unspecified() {
        true if address.port() == 0 => "*:*".to_string(),
        true => format!("*:{}", address.port()),
        false => address.to_string(),
    }
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

/// `000000008bb2213b: 00000003 00000000 00000000 0001 03 10116 /run/x.sock`: a path may hold blanks, and begins with
/// `@` where it is abstract.
fn unix(line: &[u8]) -> Option<(u64, Known)> {
    /// `__SO_ACCEPTCON`: it listens (include/uapi/linux/net.h).
    const LISTENS: u64 = 1 << 16;
    let mut fields = line.splitn(8, |byte| *byte == b' ').map(<[u8]>::trim_ascii);
    fields.next()?.strip_suffix(b":")?;
    let flags = hex(fields.nth(2)?)?;
    let kind = hex(fields.next()?)?;
    let state = hex(fields.next()?)?;
    // The inode is padded to five places.
    let rest = line.get(nth_word(line, 6)?..)?;
    let width = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
    let inode = decimal(&rest[..width])?;
    let path = rest.get(width + 1..).filter(|path| !path.is_empty()).map(bounded);
    // `socket_state` of include/uapi/linux/net.h; as lsof tells it, an unconnected one is not told apart.
    let state = match state {
        _ if flags & LISTENS != 0 => "LISTEN",
        1 => "UNCONNECTED",
        2 => "CONNECTING",
        3 => "CONNECTED",
        4 => "DISCONNECTING",
        _ => "FREE",
    };
    Some((
        inode,
        Known {
            kind: FdKind::Unix,
            name: path.clone().or_else(|| socket_type(kind).map(|kind| format!("type={kind}"))),
            ends: path.map(|path| SocketEnds { local: Some(path), peer: None }),
            state: Some(state.into()),
            queues: None,
        },
    ))
}

/// Where word `number` (from 0) begins.
fn nth_word(line: &[u8], number: usize) -> Option<usize> {
    let word = words(line).nth(number)?;
    // Both are parts of the same slice.
    Some(word.as_ptr() as usize - line.as_ptr() as usize)
}

/// `enum sock_type` of include/linux/net.h.
fn socket_type(number: u64) -> Option<&'static str> {
    Some(match number {
        1 => "STREAM",
        2 => "DGRAM",
        3 => "RAW",
        4 => "RDM",
        5 => "SEQPACKET",
        _ => return None,
    })
}

/// `0000000000000000 0   1234 00000001 0 0 0 2 0 5678`: address, protocol, port id, …, inode.
fn netlink(line: &[u8]) -> Option<(u64, Known)> {
    /// By number: include/uapi/linux/netlink.h.
    const PROTOCOLS: [&str; 23] = [
        "ROUTE",
        "UNUSED",
        "USERSOCK",
        "FIREWALL",
        "SOCK_DIAG",
        "NFLOG",
        "XFRM",
        "SELINUX",
        "ISCSI",
        "AUDIT",
        "FIB_LOOKUP",
        "CONNECTOR",
        "NETFILTER",
        "IP6_FW",
        "DNRTMSG",
        "KOBJECT_UEVENT",
        "GENERIC",
        "DM",
        "SCSITRANSPORT",
        "ECRYPTFS",
        "RDMA",
        "CRYPTO",
        "SMC",
    ];
    let mut words = words(line);
    let protocol: usize = decimal(words.nth(1)?)?;
    let inode = decimal(words.nth(7)?)?;
    let name = PROTOCOLS.get(protocol).map_or_else(|| format!("PROTO={protocol}"), |name| name.to_string());
    Some((inode, Known { kind: FdKind::Netlink, name: Some(name), ..Known::default() }))
}

/// `0000000000000000 3      3    0003   2     1 0        0      12345`
fn packet(line: &[u8]) -> Option<(u64, Known)> {
    let mut words = words(line);
    let kind = decimal(words.nth(2)?)?;
    let inode = decimal(words.nth(5)?)?;
    let name = socket_type(kind).map(|kind| format!("type=SOCK_{kind}"));
    Some((inode, Known { kind: FdKind::Socket, name, ..Known::default() }))
}
