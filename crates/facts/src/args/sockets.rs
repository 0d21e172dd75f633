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
