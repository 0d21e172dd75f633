//! A thread as `/proc` shows it: whether it ran since it was looked at last, and where it is blocked.

use crate::registers::Registers;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// `/proc/PID/task/TID/schedstat`: nanoseconds on a CPU, nanoseconds waiting for one, times that it got one
/// (Documentation/scheduler/sched-stats.rst).
pub(super) type Runs = [u64; 3];

/// What is known of a thread.
#[derive(Default)]
pub(super) struct Thread {
    files: Option<Files>,
    /// How it had run when its stack was read.
    pub(super) read_at: Option<Runs>,
    /// It was asked about since the last sweep.
    pub(super) asked: bool,
}

struct Files {
    schedstat: File,
    syscall: File,
    /// Counts them.
    _open: Arc<()>,
}

/// Where a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// It runs, or waits for a CPU.
    Running,
    /// It is blocked. Its frame pointer is not known.
    Blocked(Registers),
}

impl Thread {
    /// True where its files are kept open.
    pub(super) fn is_open(&self) -> bool {
        self.files.is_some()
    }

    /// Keeps its files open, and a count of them as long.
    pub(super) fn open(&mut self, pid: u32, tid: u32, count: &Arc<()>) {
        let open = |name| open(pid, tid, name);
        if let (Ok(schedstat), Ok(syscall)) = (open("schedstat"), open("syscall")) {
            self.files = Some(Files { schedstat, syscall, _open: count.clone() });
        }
    }

    /// How it has run up to now.
    pub(super) fn runs(&self, pid: u32, tid: u32) -> io::Result<Runs> {
        let mut room = [0; 80];
        let text = match &self.files {
            Some(files) => text(&files.schedstat, &mut room)?,
            None => text(&open(pid, tid, "schedstat")?, &mut room)?,
        };
        let mut words = text.split_ascii_whitespace().map_while(|word| word.parse().ok());
        match (words.next(), words.next(), words.next()) {
            (Some(on), Some(waited), Some(times)) => Ok([on, waited, times]),
            _ => Err(io::Error::other("it is not told how often the thread ran")),
        }
    }

    /// Where it is now.
    pub(super) fn place(&self, pid: u32, tid: u32) -> io::Result<Place> {
        // The number of the call and nine words of 18 bytes.
        let mut room = [0; 256];
        let text = match &self.files {
            Some(files) => text(&files.syscall, &mut room)?,
            None => text(&open(pid, tid, "syscall")?, &mut room)?,
        };
        place(text).ok_or_else(|| io::Error::other("it is not told where the thread is blocked"))
    }
}

fn open(pid: u32, tid: u32, name: &str) -> io::Result<File> {
    File::open(format!("/proc/{pid}/task/{tid}/{name}"))
}

fn text<'a>(file: &File, room: &'a mut [u8]) -> io::Result<&'a str> {
    let bytes = file.read_at(room, 0)?;
    std::str::from_utf8(&room[..bytes]).map_err(io::Error::other)
}

/// `0 0x3 0x7ffd 0x1 0x0 0x0 0x0 0x7ffd5a8e 0x7f2a114d`: a call, its arguments, `sp` and `ip`; `-1 0x7ffd5a8e 0x7f2a114d` outside
/// of one; or `running` (proc_pid_syscall(5)).
fn place(text: &str) -> Option<Place> {
    if text.trim_ascii() == "running" {
        return Some(Place::Running);
    }
    let mut words = text.split_ascii_whitespace().rev();
    let mut hex = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    let (ip, sp) = (hex()?, hex()?);
    Some(Place::Blocked(Registers { ip, sp, bp: 0, leaf: None }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        let blocked = |sp, ip| Some(Place::Blocked(Registers { ip, sp, bp: 0, leaf: None }));
        assert_eq!(place("running\n"), Some(Place::Running));
        assert_eq!(
            place("0 0x3 0x7ffd 0x1 0x0 0x0 0x0 0x7ffd5a8e 0x7f2a114d\n"),
            blocked(0x7ffd_5a8e, 0x7f2a_114d)
        );
        assert_eq!(place("-1 0x7ffd5a8e 0x7f2a114d\n"), blocked(0x7ffd_5a8e, 0x7f2a_114d));
        assert_eq!(place(""), None);
        assert_eq!(place("0 0x"), None);
    }
}
