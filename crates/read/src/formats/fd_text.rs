//! What the texts mean that tools and the kernel show for open descriptors: shared by the snapshot readers.

use whyslow_model::FdKind;
use whyslow_model::event::Tid;

/// Bytes kept of one text. `PATH_MAX` is 4096; longer is not a name that anything could open.
pub(super) const MAX_TEXT: usize = 4096;

/// The largest process id that Linux can give (`PID_MAX_LIMIT` of 64-bit kernels).
pub(super) const PID_MAX: Tid = 1 << 22;

/// The bytes as text, damage replaced, cut at [`MAX_TEXT`].
pub(super) fn bounded(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes.get(..MAX_TEXT).unwrap_or(bytes)).into_owned();
    // A damaged byte grows to three.
    if text.len() > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
    }
    text
}

/// A decimal number that makes up all of `text`.
pub(super) fn decimal<N: std::str::FromStr>(text: &[u8]) -> Option<N> {
    text.first().filter(|byte| byte.is_ascii_digit())?;
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A process id: a decimal number in the kernel's range, as tools print it (no zeros before it).
pub(super) fn pid(text: &[u8]) -> Option<Tid> {
    decimal(text).filter(|_| text.first() != Some(&b'0')).filter(|pid| (1..=PID_MAX).contains(pid))
}

/// The kind behind the name of an anonymous inode: `[eventpoll]`, `[eventfd:1]`, `inotify`.
pub(super) fn anonymous_kind(name: &[u8]) -> FdKind {
    let name = name.strip_prefix(b"[").unwrap_or(name);
    let word = name.split(|byte| matches!(byte, b']' | b':' | b' ')).next().unwrap_or(name);
    match word {
        b"eventpoll" => FdKind::Epoll,
        b"eventfd" => FdKind::Event,
        b"timerfd" => FdKind::Timer,
        b"signalfd" => FdKind::Signal,
        b"inotify" | b"fanotify" => FdKind::Inotify,
        _ => FdKind::Anonymous,
    }
}

/// The path without the kernel's ` (deleted)`, and whether it was there.
pub(super) fn strip_deleted(path: &[u8]) -> (&[u8], bool) {
    match path.strip_suffix(b" (deleted)") {
        Some(path) => (path, true),
        None => (path, false),
    }
}

/// The words of a line and where they start.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + line.get(at..)?.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let rest = line.get(start..)?;
        let len = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        at = start + len;
        Some((start, rest.get(..len)?))
    })
}
