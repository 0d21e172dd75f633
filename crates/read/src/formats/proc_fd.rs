//! Listings of `/proc/PID/fd`: `ls -l`, `ls -la`, and lines of `/proc/PID/fd/N -> target`.
//!
//! ```text
//! /proc/14985/fd:
//! total 0
//! l-wx------ 1 root root 64 Nov 21 02:17 23 -> /data/app/logs/all.log
//! lrwx------ 1 root root 64 Nov 21 02:17 42 -> socket:[426991408]
//! ```
//!
//! The process is that of the heading or the path, else that of ls's own error messages, else the number in the
//! file's name where it has just one (`fd-14985.txt`): a note says so. A link that ls could not read is an entry of
//! unknown kind.

use crate::formats::fd_text::{anonymous_kind, bounded, decimal, pid, strip_deleted, words};
use crate::formats::strace_count::tool_note;
use crate::formats::{Format, SniffInput};
use crate::source::{MAX_QUOTED, Source};
use std::io;
use whyslow_model::event::Tid;
use whyslow_model::{CaptureKind, CaptureNote, Event, FdEntry, FdKind, NoteKind, Sink, SourceId, SourceInfo};

/// The format.
pub(crate) static PROC_FD: Format =
    Format { kind: CaptureKind::ProcFd, name: "/proc/PID/fd", made_by: "ls -l /proc/PID/fd", sniff, read };

/// Lines looked at to recognise the format.
const SNIFF_LINES: usize = 500;

/// A directory of descriptors: `/proc/14985/fd`, `/proc/14985/task/14990/fd`, `/proc/self/fd`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Folder {
    pid: Option<Tid>,
    tid: Option<Tid>,
}

/// What a line was.
#[derive(Debug)]
enum Line<'a> {
    Heading(Folder),
    Link {
        folder: Option<Folder>,
        mode: Option<&'a [u8]>,
        user: Option<&'a [u8]>,
        fd: i32,
        target: Option<&'a [u8]>,
    },
    /// `total 0`, the rows of `.` and `..`.
    Filler,
    /// A message of ls about a folder or a link in it.
    Message(Option<Folder>),
    /// Looks like a link, but its parts cannot be read.
    Damaged,
    Other,
}

impl Folder {
    /// The folder that a path names, and the rest of the path behind it.
    fn parse(path: &[u8]) -> Option<(Folder, &[u8])> {
        let rest = path.strip_prefix(b"/proc/")?;
        let (process, mut rest) = split_at_slash(rest)?;
        let pid = match process {
            b"self" | b"thread-self" => None,
            number => Some(pid(number)?),
        };
        let mut tid = None;
        if let Some(task) = rest.strip_prefix(b"task/") {
            let (number, behind) = split_at_slash(task)?;
            tid = Some(self::pid(number)?);
            rest = behind;
        }
        let rest = rest.strip_prefix(b"fd")?;
        Some((Folder { pid, tid }, rest))
    }
}

fn split_at_slash(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|byte| *byte == b'/')?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

impl<'a> Line<'a> {
    fn parse(line: &'a [u8]) -> Line<'a> {
        if line.starts_with(b"ls: ") {
            let folder = memchr::memmem::find(line, b"/proc/").and_then(|at| Folder::parse(line.get(at..)?));
            return Line::Message(folder.map(|(folder, _)| folder));
        }
        let (left, target) = match memchr::memmem::find(line, b" -> ") {
            Some(at) => (line.get(..at).unwrap_or(line), line.get(at + 4..)),
            None => (line.trim_ascii_end(), None),
        };
        if let Some((folder, rest)) = Folder::parse(left.trim_ascii_start()) {
            return match (rest, target) {
                (b":" | b"/:" | b"" | b"/", None) => Line::Heading(folder),
                (rest, Some(_)) => match rest.strip_prefix(b"/").and_then(decimal) {
                    Some(fd) => Line::Link { folder: Some(folder), mode: None, user: None, fd, target },
                    None => Line::Damaged,
                },
                _ => Line::Other,
            };
        }
        let words: Vec<&[u8]> = words(left).map(|(_, word)| word).take(16).collect();
        let [first, .., last] = words.as_slice() else { return Line::Other };
        if *first == b"total" && words.len() == 2 {
            return Line::Filler;
        }
        // With `ls -i` the inode number comes first.
        let at = words.iter().take(2).position(|word| is_mode(word));
        let Some((at, mode)) = at.and_then(|at| Some((at, *words.get(at)?))) else { return Line::Other };
        if mode.first() == Some(&b'd') {
            return if matches!(*last, b"." | b"..") { Line::Filler } else { Line::Other };
        }
        let folder = Folder::parse(last);
        let number = match folder {
            Some((_, rest)) => rest.strip_prefix(b"/").unwrap_or(b""),
            None => last,
        };
        match decimal(number) {
            // Mode, links, user, group, size, date of two words or more, name.
            Some(fd) => Line::Link {
                folder: folder.map(|(folder, _)| folder),
                mode: Some(mode),
                user: words.get(at + 2).copied().filter(|_| words.len() >= at + 8),
                fd,
                target,
            },
            None => Line::Damaged,
        }
    }
}

/// `lrwx------`, perhaps with the mark of an ACL or a security label: the kernel gives no group or other rights to
/// these links, other than to those of a file system. Also the mode of `.` and `..`.
fn is_mode(word: &[u8]) -> bool {
    match word {
        [b'l', r, w, x, rest @ ..] => {
            matches!(r, b'r' | b'-')
                && matches!(w, b'w' | b'-')
                && *x == b'x'
                && rest.starts_with(b"------")
                && rest.len() <= 7
        }
        [b'd', rest @ ..] => {
            (9..=10).contains(&rest.len()) && rest.iter().all(|byte| b"rwxsStT-.+@".contains(byte))
        }
        _ => false,
    }
}

fn sniff(sample: &SniffInput<'_>) -> bool {
    let (mut links, mut own, mut other) = (0, 0, 0);
    for line in sample.lines(SNIFF_LINES).filter(|line| !line.trim_ascii().is_empty()) {
        match Line::parse(line) {
            Line::Link { .. } => links += 1,
            Line::Heading(_) | Line::Message(Some(_)) => own += 1,
            Line::Filler | Line::Message(None) => {}
            Line::Damaged | Line::Other => other += 1,
        }
    }
    links > 0 && links + own >= other
}

fn read(source: &mut Source, sink: &mut dyn Sink) -> io::Result<()> {
    let mut folder: Option<Folder> = None;
    let mut messages = 0;
    let mut assumed = None;
    loop {
        let (number, id) = (source.line_number() + 1, source.info.id);
        let Some(line) = source.next_line()? else { return Ok(()) };
        let mut entry = None;
        let mut message = None;
        let mut nameless = false;
        match Line::parse(line) {
            Line::Heading(next) => folder = Some(next),
            Line::Filler => {}
            Line::Message(named) => {
                // ls writes its errors before the listing that they are about.
                folder = folder.or(named);
                messages += 1;
                message = Some(bounded(line)).filter(|_| messages <= MAX_QUOTED);
            }
            Line::Link { folder: own, mode, user, fd, target } => {
                let folder = own.or(folder);
                let mut found = self::entry(id, number, fd, mode, target);
                found.pid = folder.and_then(|folder| folder.pid);
                found.tid = folder.and_then(|folder| folder.tid);
                // `/proc/self/fd` is that of ls itself.
                nameless = folder.is_none();
                found.user = user.map(bounded);
                entry = Some(found);
            }
            Line::Damaged => {
                let line = line.to_vec();
                source.reject(sink, &line, "a link of /proc/PID/fd");
                continue;
            }
            Line::Other => {
                source.info.foreign += !line.trim_ascii().is_empty() as u64;
                continue;
            }
        }
        source.info.events += 1;
        if let Some(text) = message {
            sink.push(Event::Note(tool_note(&source.info, text)));
        }
        if let Some(mut entry) = entry {
            if nameless {
                entry.pid = *assumed.get_or_insert_with(|| assume_pid(&source.info, sink));
            }
            sink.push(Event::Fd(Box::new(entry)));
        }
    }
}

/// The process that the file's name tells, with a note.
fn assume_pid(info: &SourceInfo, sink: &mut dyn Sink) -> Option<Tid> {
    let name = info.name.rsplit('/').next().unwrap_or("");
    let mut numbers =
        name.as_bytes().split(|byte| !byte.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let pid = numbers.next().and_then(pid).filter(|_| numbers.next().is_none());
    let text = match pid {
        Some(pid) => format!(
            "{}: the listing names no process: taken to be of {pid}, after the file's name",
            info.name
        ),
        None => format!(
            "{}: the listing names no process: its descriptors cannot be matched with calls; capture with `ls -l /proc/PID/fd > fd-PID.txt`",
            info.name
        ),
    };
    sink.push(Event::Note(CaptureNote {
        kind: NoteKind::Assumed,
        source: info.id,
        line: None,
        text,
        tid: None,
    }));
    pid
}

fn entry(source: SourceId, line: u64, fd: i32, mode: Option<&[u8]>, target: Option<&[u8]>) -> FdEntry {
    let right = |at: usize, set: u8| mode.and_then(|mode| mode.get(at)).map(|byte| *byte == set);
    let mut entry = FdEntry {
        source,
        line,
        fd: Some(fd),
        readable: right(1, b'r'),
        writable: right(2, b'w'),
        ..FdEntry::default()
    };
    let Some(target) = target.map(unquoted) else { return entry };
    let (path, deleted) = strip_deleted(target);
    if path.first() == Some(&b'/') {
        entry.kind = FdKind::of_path(path);
        entry.deleted = deleted;
        entry.name = Some(bounded(path));
        return entry;
    }
    entry.name = Some(bounded(target));
    let (what, inside) = match target.iter().position(|byte| *byte == b':') {
        Some(at) => (target.get(..at).unwrap_or(b""), target.get(at + 1..).unwrap_or(b"")),
        None => (target, &b""[..]),
    };
    entry.inode = inside.strip_prefix(b"[").and_then(|inside| inside.strip_suffix(b"]")).and_then(decimal);
    entry.kind = match what {
        b"socket" => FdKind::Socket,
        b"pipe" => FdKind::Pipe,
        b"anon_inode" => anonymous_kind(inside),
        // A namespace: `net:[4026531840]`.
        _ if entry.inode.is_some() => FdKind::Anonymous,
        _ => FdKind::Unknown,
    };
    entry
}

/// ls on a terminal quotes a name with blanks: `'/tmp/a b'`.
fn unquoted(target: &[u8]) -> &[u8] {
    target.strip_prefix(b"'").and_then(|target| target.strip_suffix(b"'")).unwrap_or(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::collect::{assert_accounted, collect, sniffs};
    use proptest::prelude::*;

    const LISTING: &str = "\
ls: cannot read symbolic link '/proc/5705/fd/30': Permission denied
/proc/5705/fd/:
total 0
dr-x------ 2 root root 26 Nov 21 02:17 .
dr-xr-xr-x 9 root root  0 Nov 21 02:17 ..
lr-x------ 1 root root 64 Nov 21 02:17 0 -> pipe:[10095]
l-wx------ 1 root root 64 Nov 21 02:17 1 -> /tmp/a b/stdout
lr-x------ 1 root root 64 Nov 21 02:17 10 -> /dev/null
lrwx------. 1 root root 64 2026-11-21 02:17 12 -> socket:[10117]
lrwx------ 1 root root 64 Nov 21 02:17 14 -> anon_inode:[eventpoll]
lrwx------ 1 root root 64 Nov 21 02:17 15 -> anon_inode:[eventfd]
lr-x------ 1 root root 64 Nov 21 02:17 17 -> anon_inode:inotify
lrwx------ 1 root root 64 Nov 21 02:17 19 -> '/srv/b/del eted (deleted)'
lrwx------ 1 root root 64 Nov 21 02:17 20 -> 'net:[4026531840]'
lrwx------ 1 root root 64 Nov 21 02:17 30

/proc/7/task/9/fd:
lrwx------ 1 me me 64 Nov 21 02:17 0 -> /dev/pts/0
";

    #[test]
    fn a_listing() {
        let got = collect(&PROC_FD, "x", LISTING.as_bytes());
        assert_accounted(&got, LISTING.as_bytes());
        assert_eq!((got.fds.len(), got.info.rejects, got.info.foreign), (11, 0, 0));
        let kinds = [
            (1, FdKind::File),
            (10, FdKind::DevNull),
            (12, FdKind::Socket),
            (14, FdKind::Epoll),
            (15, FdKind::Event),
            (17, FdKind::Inotify),
            (19, FdKind::File),
            (20, FdKind::Anonymous),
            (30, FdKind::Unknown),
        ];
        for (fd, kind) in kinds {
            assert_eq!((got.fd(fd).kind, got.fd(fd).pid), (kind, Some(5705)), "descriptor {fd}");
        }
        let file = got.fd(1);
        assert_eq!(
            (file.name.as_deref(), file.readable, file.writable, file.line),
            (Some("/tmp/a b/stdout"), Some(false), Some(true), 7)
        );
        assert_eq!((got.fd(12).inode, got.fd(12).user.as_deref()), (Some(10117), Some("root")));
        assert_eq!((got.fd(19).name.as_deref(), got.fd(19).deleted), (Some("/srv/b/del eted"), true));
        assert_eq!((got.fds[0].kind, got.fds[0].inode), (FdKind::Pipe, Some(10095)));
        assert_eq!(
            (got.fds[10].pid, got.fds[10].tid, got.fds[10].kind),
            (Some(7), Some(9), FdKind::Terminal)
        );
        assert_eq!(got.notes_of(NoteKind::Tracer).len(), 1);
        assert!(sniffs(&PROC_FD, "x", LISTING.as_bytes()));
    }

    #[test]
    fn full_paths() {
        let data =
            "/proc/123/fd/4 -> socket:[123]\nlrwx------ 1 root root 64 Nov 21 02:17 /proc/9/fd/5 -> /x\n";
        let got = collect(&PROC_FD, "x", data.as_bytes());
        assert_eq!((got.fd(4).pid, got.fd(4).inode, got.fd(4).readable), (Some(123), Some(123), None));
        assert_eq!((got.fd(5).pid, got.fd(5).readable), (Some(9), Some(true)));
        assert!(sniffs(&PROC_FD, "x", data.as_bytes()));
    }

    #[test]
    fn the_process_of_a_listing_that_names_none() {
        let data = b"total 0\nlrwx------ 1 root root 64 Nov 21 02:17 5 -> /x\n";
        let pid = |name: &str| {
            let got = collect(&PROC_FD, name, data);
            assert_eq!(got.notes_of(NoteKind::Assumed).len(), 1);
            got.fd(5).pid
        };
        assert_eq!(pid("out/2024/fd-14985.txt"), Some(14985));
        assert_eq!(pid("fd.txt"), None);
        assert_eq!(pid("fd-1-2.txt"), None);
        assert_eq!(pid("fd-99999999999.txt"), None);
    }

    #[test]
    fn other_listings_are_not_taken() {
        assert!(!sniffs(
            &PROC_FD,
            "x",
            b"total 4\nlrwxrwxrwx 1 root root 4 Nov 21 02:17 1 -> /foo\n-rw-r--r-- 1 a a 3 Nov 1 10:00 2\n"
        ));
        assert!(!sniffs(&PROC_FD, "x", b"total 0\n"));
        assert!(!sniffs(&PROC_FD, "x", b"We looked at\n/proc/123/fd/4 -> socket:[123]\nand saw\nnothing\n"));
        let damaged =
            collect(&PROC_FD, "x", b"lrwx------ 1 root root 64 Nov 21 02:17 5x -> /x\n/proc/1/fd/y -> z\n");
        assert_eq!(damaged.info.rejects, 2);
    }

    proptest! {
        #[test]
        fn any_damage_is_survived_and_accounted(at in 0usize..900, bytes in prop::collection::vec(any::<u8>(), 0..60), removed in 0usize..60) {
            let mut data = LISTING.as_bytes().to_vec();
            let from = at.min(data.len());
            data.splice(from..(from + removed).min(data.len()), bytes);
            assert_accounted(&collect(&PROC_FD, "fd-7", &data), &data);
            sniffs(&PROC_FD, "x", &data);
        }
    }
}
