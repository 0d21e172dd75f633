//! One row of lsof's, from the table or from `-F` fields, and the [`FdEntry`] it stands for.

use crate::formats::fd_text::{anonymous_kind, bounded, decimal, strip_deleted};
use whyslow_model::event::Tid;
use whyslow_model::{FdEntry, FdKind, SocketEnds, SourceId, text};

/// The cells of a row, as printed. Empty where the row has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) comm: &'a [u8],
    pub(super) pid: Tid,
    pub(super) tid: Option<Tid>,
    /// The thread's own name (`TASKCMD`).
    pub(super) task: &'a [u8],
    pub(super) parent: Option<Tid>,
    pub(super) user: &'a [u8],
    /// `23u`, `5rW`, `cwd`.
    pub(super) fd: &'a [u8],
    pub(super) kind: &'a [u8],
    pub(super) device: &'a [u8],
    pub(super) size: Option<u64>,
    pub(super) offset: Option<u64>,
    /// Inode number, or the protocol of an internet socket.
    pub(super) node: &'a [u8],
    pub(super) name: &'a [u8],
}

/// The `FD` cell.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FdCell<'a> {
    pub(super) fd: Option<i32>,
    pub(super) role: Option<&'a [u8]>,
    pub(super) readable: Option<bool>,
    pub(super) writable: Option<bool>,
}

/// What lsof's manual lists to stand in the place of a number (`Mxx` and `Lnn` besides).
const ROLES: [&[u8]; 17] = [
    b"cwd", b"rtd", b"txt", b"mem", b"mmap", b"DEL", b"NOFD", b"ltx", b"err", b"ctty", b"jld", b"pd", b"tr",
    b"twd", b"v86", b"m86", b"fp.",
];

impl<'a> FdCell<'a> {
    /// `None` where the text is no such cell.
    pub(super) fn parse(cell: &'a [u8]) -> Option<FdCell<'a>> {
        let digits = cell.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (fd, role, suffix) = if digits > 0 {
            (Some(decimal(cell.get(..digits)?)?), None, cell.get(digits..)?)
        } else {
            let role = role_len(cell)?;
            (None, Some(cell.get(..role)?), cell.get(role..)?)
        };
        // Access mode, then the kind of lock held; a blank mode with a lock is a dash.
        let access = suffix.first().copied();
        let valid = match suffix {
            [] => true,
            [mode] => b"rwu-".contains(mode) || is_lock(*mode),
            [mode, lock] => b"rwu-".contains(mode) && is_lock(*lock),
            _ => false,
        };
        let mode =
            |either: &[u8]| access.filter(|mode| b"rwu".contains(mode)).map(|mode| either.contains(&mode));
        valid.then(|| FdCell { fd, role, readable: mode(b"ru"), writable: mode(b"wu") })
    }
}

fn is_lock(byte: u8) -> bool {
    b"NrRwWuUxX".contains(&byte)
}

/// The length of what stands in a number's place: a role, `M01`, `[12]`, or a number whose leading digits did not
/// fit (`*123`).
fn role_len(cell: &[u8]) -> Option<usize> {
    if let Some(role) = ROLES.iter().find(|role| cell.starts_with(role)) {
        return Some(role.len());
    }
    let digits = |from: usize| cell.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    match cell.first()? {
        b'*' | b'M' | b'L' if digits(1) > 0 => Some(1 + digits(1)),
        b'M' if cell == b"Mxx" => Some(3),
        b'[' if digits(1) > 0 && cell.get(1 + digits(1)) == Some(&b']') => Some(2 + digits(1)),
        _ => None,
    }
}

impl Row<'_> {
    /// The entry for this row. `None` where its `FD` cell is none; an empty one (a field not asked for) is.
    pub(super) fn entry(&self, source: SourceId, line: u64) -> Option<FdEntry> {
        let cell = if self.fd.is_empty() { FdCell::default() } else { FdCell::parse(self.fd)? };
        let mut entry = FdEntry {
            source,
            line,
            pid: Some(self.pid),
            tid: self.tid,
            comm: readable(self.comm),
            user: readable(self.user),
            fd: cell.fd,
            role: cell.role.map(bounded),
            readable: cell.readable,
            writable: cell.writable,
            kind: self.kind(),
            inode: decimal(self.node),
            device: readable(self.device),
            size: self.size,
            offset: self.offset,
            deleted: cell.role == Some(b"DEL"),
            ..FdEntry::default()
        };
        match self.kind {
            b"IPv4" | b"IPv6" | b"inet" | b"inet6" | b"raw" | b"raw6" => self.internet_socket(&mut entry),
            b"pack" => self.inode_as_device(&mut entry),
            b"unix" => unix_socket(self.name, &mut entry),
            _ => file(self.name, &mut entry),
        }
        Some(entry)
    }

    /// On Linux the `DEVICE` of a socket without a file system is its inode number, and `NODE` its protocol.
    fn inode_as_device(&self, entry: &mut FdEntry) {
        entry.inode = decimal(self.device);
        if entry.inode.is_some() {
            entry.device = None;
        }
        entry.name = readable(self.name);
    }

    /// `host:port->host:port 77,nginx,5u (ESTABLISHED QR=0 QS=0)`, of which all but the first end may be missing.
    fn internet_socket(&self, entry: &mut FdEntry) {
        self.inode_as_device(entry);
        let (text, notes) = split_notes(self.name);
        entry.state = notes.state.map(bounded);
        entry.queues = notes.sending.zip(notes.receiving);
        let ends = text.split(u8::is_ascii_whitespace).next().unwrap_or(b"");
        let (local, peer) = match memchr::memmem::find(ends, b"->") {
            Some(at) => (ends.get(..at), ends.get(at + 2..)),
            None => (Some(ends), None),
        };
        if local.is_some_and(|local| local.contains(&b':')) {
            entry.ends = Some(SocketEnds { local: local.and_then(readable), peer: peer.and_then(readable) });
            entry.name = None;
        }
    }

    fn kind(&self) -> FdKind {
        match self.kind {
            b"REG" | b"VREG" | b"LINK" if self.name.first() == Some(&b'/') => {
                match FdKind::of_path(self.name) {
                    // A regular file below /dev is just that.
                    FdKind::Device | FdKind::Terminal => FdKind::File,
                    kind => kind,
                }
            }
            // A namespace (`net`, `mnt`) has no path.
            b"REG" | b"VREG" => FdKind::Anonymous,
            b"LINK" => FdKind::File,
            b"DIR" | b"VDIR" => FdKind::Directory,
            b"CHR" | b"VCHR" => match FdKind::of_path(self.name) {
                kind @ (FdKind::DevNull | FdKind::Terminal) => kind,
                _ => FdKind::Device,
            },
            b"BLK" | b"VBLK" => FdKind::Device,
            b"FIFO" | b"VFIFO" | b"PIPE" => FdKind::Pipe,
            b"IPv4" | b"IPv6" | b"inet" | b"inet6" => match self.node {
                b"TCP" | b"TCPv6" => FdKind::Tcp,
                b"UDP" | b"UDPv6" => FdKind::Udp,
                _ => FdKind::Socket,
            },
            b"unix" => FdKind::Unix,
            b"netlink" => FdKind::Netlink,
            b"sock" => match self.name.strip_prefix(b"protocol: ") {
                Some(b"TCP" | b"TCPv6") => FdKind::Tcp,
                Some(b"UDP" | b"UDPv6") => FdKind::Udp,
                Some(b"NETLINK") => FdKind::Netlink,
                Some(name) if name.starts_with(b"UNIX") => FdKind::Unix,
                _ => FdKind::Socket,
            },
            b"pack" | b"raw" | b"raw6" | b"rte" | b"key" | b"ax25" | b"ipx" | b"x.25" | b"atalk"
            | b"sctp" | b"vsock" => FdKind::Socket,
            // Versions before 4.85 print the mode's digits.
            b"a_inode" | b"0000" => {
                anonymous_kind(self.name.strip_prefix(b"anon_inode:").unwrap_or(self.name))
            }
            _ => FdKind::Unknown,
        }
    }
}

/// Text for people, escapes undone; `None` where empty.
pub(super) fn readable(text: &[u8]) -> Option<String> {
    (!text.is_empty()).then(|| bounded(&text::unescape(text)))
}

/// What lsof shows in parentheses behind a socket's name.
#[derive(Default)]
struct SocketNotes<'a> {
    state: Option<&'a [u8]>,
    sending: Option<u64>,
    receiving: Option<u64>,
}

/// Cuts `(LISTEN QR=0 QS=0)` off the end of a name.
fn split_notes(name: &[u8]) -> (&[u8], SocketNotes<'_>) {
    let name = name.trim_ascii_end();
    let mut notes = SocketNotes::default();
    let open = memchr::memrchr(b'(', name);
    let Some((open, inside)) = open.and_then(|at| Some((at, name.get(at + 1..)?.strip_suffix(b")")?))) else {
        return (name, notes);
    };
    for word in inside.split(|byte| *byte == b' ') {
        if let Some(bytes) = word.strip_prefix(b"QR=") {
            notes.receiving = decimal(bytes);
        } else if let Some(bytes) = word.strip_prefix(b"QS=") {
            notes.sending = decimal(bytes);
        } else if notes.state.is_none()
            && word.iter().all(|byte| byte.is_ascii_uppercase() || b"_0123456789".contains(byte))
        {
            notes.state = Some(word).filter(|word| !word.is_empty());
        }
    }
    (name.get(..open).unwrap_or(name).trim_ascii_end(), notes)
}

/// `/run/x.sock type=STREAM ->INO=10116 5705,python3,11u (CONNECTED)`, of which each part may be missing.
fn unix_socket(name: &[u8], entry: &mut FdEntry) {
    let (text, notes) = split_notes(name);
    entry.state = notes.state.map(bounded);
    entry.name = readable(text);
    let arrow = memchr::memmem::find(text, b"->");
    let own = arrow.and_then(|at| text.get(..at)).unwrap_or(text);
    let path = match memchr::memmem::find(own, b"type=") {
        Some(at) => own.get(..at).unwrap_or(own),
        None => own,
    };
    // lsof before 4.83 shows a socket without a path as `socket`.
    let path = readable(path.trim_ascii()).filter(|path| path != "socket");
    // With +E: the inode of the other end, then the processes that hold it.
    let peer = arrow.and_then(|at| text.get(at + 2..)).map(|peer| {
        let holders = peer.iter().position(|byte| *byte == b' ').and_then(|at| peer.get(at + 1..));
        holders.filter(|holders| !holders.is_empty()).unwrap_or(peer)
    });
    if path.is_some() {
        entry.name = path.clone();
    }
    if path.is_some() || peer.is_some() {
        entry.ends = Some(SocketEnds { local: path, peer: peer.and_then(readable) });
    }
}

/// A path and what stands behind it: `(deleted)`, `(nas1:/export)`, `(path inode=12)`, `(stat: Permission denied)`.
fn file(name: &[u8], entry: &mut FdEntry) {
    let mut path = name.trim_ascii_end();
    if path.first() == Some(&b'/') && entry.kind != FdKind::Unknown {
        loop {
            let (rest, deleted) = strip_deleted(path);
            if deleted {
                entry.deleted = true;
                path = rest;
                continue;
            }
            let group = memchr::memmem::rfind(path, b" (")
                .and_then(|at| Some((path.get(..at)?, path.get(at + 2..)?.strip_suffix(b")")?)));
            match group {
                Some((rest, inside)) if is_mount(inside) => {
                    entry.mount = readable(inside);
                    path = rest;
                }
                Some((rest, inside)) if is_remark(inside) => path = rest,
                _ => break,
            }
        }
    }
    entry.name = readable(path);
}

/// `host:/export`.
fn is_mount(text: &[u8]) -> bool {
    memchr::memmem::find(text, b":/").is_some_and(|at| at > 0) && !text.iter().any(u8::is_ascii_whitespace)
}

/// lsof's own remark on a path: another file has that name now, or it could not be looked at.
fn is_remark(text: &[u8]) -> bool {
    [&b"path dev="[..], b"path inode=", b"stat: ", b"lstat: ", b"fstat: ", b"readlink: "]
        .iter()
        .any(|start| text.starts_with(start))
}
