//! Socket addresses and descriptor annotations in strace's text.

use whyslow_model::{FdKind, SocketEnds, text};

/// A socket address in a call's arguments: `10.0.0.1:6379`, `[::1]:80`, `/run/x.sock`; `None` where there is none.
pub(crate) fn address(args: &[u8]) -> Option<(FdKind, String)> {
    let from = memchr::memmem::find(args, b"sa_family=")?;
    let struct_text = &args[from + b"sa_family=".len()..];
    if struct_text.starts_with(b"AF_INET6") {
        let port = after(struct_text, b"sin6_port=htons(").and_then(text::decimal)?.0;
        let quoted_from = after(struct_text, b"inet_pton(")?;
        let host = first_string(quoted_from)?;
        let host = host
            .strip_prefix("::ffff:")
            .filter(|v4| v4.contains('.'))
            .map_or(format!("[{host}]"), str::to_string);
        return Some((FdKind::Socket, format!("{host}:{port}")));
    }
    if struct_text.starts_with(b"AF_INET") {
        let port = after(struct_text, b"sin_port=htons(").and_then(text::decimal)?.0;
        let host = first_string(after(struct_text, b"sin_addr=inet_addr(")?)?;
        return Some((FdKind::Socket, format!("{host}:{port}")));
    }
    if struct_text.starts_with(b"AF_UNIX")
        || struct_text.starts_with(b"AF_LOCAL")
        || struct_text.starts_with(b"AF_FILE")
    {
        let path = after(struct_text, b"path=")?;
        let (mark, path) = path.strip_prefix(b"@").map_or(("", path), |path| ("@", path));
        // An abstract name is padded to the size of its buffer by some programs.
        let path = first_string(path)?;
        return Some((FdKind::Unix, format!("{mark}{}", path.trim_end_matches("\\0"))));
    }
    None
}

fn after<'a>(text: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    memchr::memmem::find(text, mark).map(|at| &text[at + mark.len()..])
}

fn first_string(text: &[u8]) -> Option<String> {
    let from = memchr::memchr(b'"', text)?;
    text::quoted(&text[from..]).map(|(body, _)| text::lossy(body))
}

/// The kind that `socket(AF_INET, SOCK_STREAM…)` or `socketpair(…)` makes.
pub(crate) fn kind_of_socket_args(args: &[u8]) -> FdKind {
    let family = args.split(|byte| *byte == b',').next().unwrap_or(b"");
    if family.ends_with(b"UNIX") || family.ends_with(b"LOCAL") || family.ends_with(b"FILE") {
        return FdKind::Unix;
    }
    if family.ends_with(b"NETLINK") {
        return FdKind::Netlink;
    }
    let inet = family.ends_with(b"INET") || family.ends_with(b"INET6");
    if inet && memchr::memmem::find(args, b"SOCK_STREAM").is_some() {
        return FdKind::Tcp;
    }
    if inet && memchr::memmem::find(args, b"SOCK_DGRAM").is_some() {
        return FdKind::Udp;
    }
    FdKind::Socket
}

/// What `-yy` shows of a unix socket: `UNIX-STREAM:[12->13,"/run/x"]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct UnixNote<'a> {
    /// The inode of this end.
    pub(crate) own: u64,
    /// That of the other end, where it is connected.
    pub(crate) other: Option<u64>,
    /// The name that this end is bound to, as it stands there: in quotes, an abstract one with `@` before them.
    name: Option<&'a [u8]>,
}

impl<'a> UnixNote<'a> {
    /// `None` for what is no such note, or does not tell the inode.
    pub(crate) fn of(note: &'a [u8]) -> Option<UnixNote<'a>> {
        if !note.starts_with(b"UNIX") {
            return None;
        }
        let (own, other) = inodes(note)?;
        let name = memchr::memchr(b',', note).and_then(|at| note.get(at + 1..));
        Some(UnixNote { own, other, name })
    }

    /// The name that this end is bound to.
    pub(crate) fn path(self) -> Option<String> {
        let name = self.name?;
        let (mark, name) = name.strip_prefix(b"@").map_or(("", name), |name| ("@", name));
        text::quoted(name).map(|(path, _)| format!("{mark}{}", text::lossy(path)))
    }
}

/// The inodes that `-yy` shows: `pipe:[12]`, `UNIX-STREAM:[12->13,"/run/x"]`. 0 is none.
pub(crate) fn inodes(note: &[u8]) -> Option<(u64, Option<u64>)> {
    if !note.starts_with(b"pipe:[") && !note.starts_with(b"UNIX") {
        return None;
    }
    let number = |text: &[u8]| {
        let (number, digits) = text::decimal(text)?;
        Some((u64::try_from(number).ok().filter(|number| *number != 0)?, digits))
    };
    let at = memchr::memmem::find(note, b":[")? + 2;
    let (own, digits) = number(&note[at..])?;
    let other = note[at + digits..].strip_prefix(b"->").and_then(number);
    Some((own, other.map(|(other, _)| other)))
}

/// What `-y` or `-yy` shows behind a descriptor: its kind, path or ends.
pub(crate) struct Annotation {
    pub(crate) kind: FdKind,
    pub(crate) path: Option<String>,
    pub(crate) ends: Option<SocketEnds>,
}

/// Reads an annotation: `/etc/passwd`, `socket:[12]`, `TCP:[1.2.3.4:5->6.7.8.9:80]`, `UNIX:[1->2,"/run/x"]`,
/// `pipe:[3]`, `anon_inode:[eventpoll]`, `/dev/pts/0<char 136:0>`.
pub(crate) fn annotation(note: &[u8]) -> Annotation {
    let whole = text::lossy(note);
    let mut found = Annotation { kind: FdKind::Unknown, path: None, ends: None };
    if whole.starts_with('/') {
        let path = whole
            .split_once("<char")
            .or_else(|| whole.split_once("<block"))
            .map_or(whole.as_str(), |(path, _)| path);
        found.kind = FdKind::of_path(path.as_bytes());
        found.path = Some(path.to_string());
        return found;
    }
    let Some((word, rest)) = whole.split_once(":[") else {
        return found;
    };
    let inner = rest.strip_suffix(']').unwrap_or(rest);
    found.kind = match word {
        "pipe" => FdKind::Pipe,
        "anon_inode" => anonymous_kind(inner),
        "TCP" | "TCPv6" => FdKind::Tcp,
        "UDP" | "UDPv6" => FdKind::Udp,
        "NETLINK" => FdKind::Netlink,
        _ if word.starts_with("UNIX") => FdKind::Unix,
        _ => FdKind::Socket,
    };
    if let Some((local, peer)) = inner.split_once("->") {
        if found.kind == FdKind::Unix {
            let path = peer.split_once('"').and_then(|(_, path)| path.strip_suffix('"'));
            found.ends = Some(SocketEnds { local: None, peer: path.map(str::to_string) });
        } else {
            found.ends = Some(SocketEnds { local: Some(local.to_string()), peer: Some(peer.to_string()) });
        }
    }
    found
}

/// The kind behind `anon_inode:[eventpoll]` and its like.
pub(crate) fn anonymous_kind(name: &str) -> FdKind {
    match name.trim_matches(['[', ']']) {
        "eventpoll" => FdKind::Epoll,
        "timerfd" => FdKind::Timer,
        "signalfd" => FdKind::Signal,
        "inotify" | "fanotify" => FdKind::Inotify,
        name if name.starts_with("eventfd") => FdKind::Event,
        _ => FdKind::Anonymous,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (args, expected) in [
            (&br#"3, {sa_family=AF_INET, sin_port=htons(6379), sin_addr=inet_addr("127.0.0.1")}, 16"#[..], "127.0.0.1:6379"),
            (br#"3, {sa_family=AF_INET6, sin6_port=htons(80), inet_pton(AF_INET6, "::ffff:10.1.2.3", &sin6_addr), sin6_flowinfo=0}, [28]"#, "10.1.2.3:80"),
            (br#"3, {sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}, 28"#, "[::1]:80"),
            (br#"3, {sa_family=AF_UNIX, sun_path="/run/x.sock"}, 110"#, "/run/x.sock"),
            (br#"3, {sa_family=AF_UNIX, sun_path=@"abstract"}, 110"#, "@abstract"),
            (br#"3, {sa_family=AF_UNIX, sun_path=@"padded\0\0"}, 110"#, "@padded"),
            (br#"3, {sa_family=AF_FILE, path="/dev/log"}, 110"#, "/dev/log"),
        ] {
            assert_eq!(address(args).map(|(_, text)| text).as_deref(), Some(expected));
        }
        assert_eq!(address(b"3, NULL, NULL"), None);
    }

    #[test]
    fn the_note_of_a_unix_socket_has_both_inodes_and_its_own_name() {
        let told = |note: &str| UnixNote::of(note.as_bytes()).map(|unix| (unix.own, unix.other, unix.path()));
        let path = |path: &str| Some(path.to_string());
        assert_eq!(told("UNIX-STREAM:[7->9,\"/run/a.sock\"]"), Some((7, Some(9), path("/run/a.sock"))));
        assert_eq!(told("UNIX-STREAM:[7,@\"b\"]"), Some((7, None, path("@b"))));
        assert_eq!(told("UNIX-STREAM:[9->7]"), Some((9, Some(7), None)));
        assert_eq!(told("UNIX:[0->0,\"/run/a.sock\"]"), None);
        assert_eq!(told("socket:[12]"), None);
        assert_eq!(inodes(b"pipe:[12]"), Some((12, None)));
    }

    #[test]
    fn annotations() {
        let tcp = annotation(b"TCP:[1.2.3.4:5->6.7.8.9:80]");
        assert_eq!(tcp.kind, FdKind::Tcp);
        assert_eq!(tcp.ends.unwrap().peer.as_deref(), Some("6.7.8.9:80"));
        assert_eq!(annotation(b"/dev/null<char 1:3>").kind, FdKind::DevNull);
        assert_eq!(annotation(b"anon_inode:[eventpoll]").kind, FdKind::Epoll);
        assert_eq!(annotation(b"pipe:[123]").kind, FdKind::Pipe);
        assert_eq!(annotation(b"/etc/passwd").path.as_deref(), Some("/etc/passwd"));
    }
}
