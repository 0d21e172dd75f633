//! A call as a line of text in strace's format: for sources that are no text (a recording, the live kernel).

use crate::event::{Call, CallFlags, Exit, Ret, Signal};
use crate::ids::Tid;
use crate::syscall::Syscall;
use crate::time::Timestamp;
use std::io::Write as _;

/// How a line shows its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineThread {
    /// Not at all, as strace does for the only thread.
    Nobody,
    /// `[pid 12343] `: strace -f on a terminal.
    Bracketed,
    /// `12343 `: strace -f -o.
    Plain,
}

/// How a line shows when the call was entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineClock {
    /// Not at all.
    None,
    /// `10:34:36`: strace -t.
    Seconds,
    /// `10:34:36.114034`: strace -tt.
    Micros,
    /// `1712054076.114034`: strace -ttt.
    Epoch,
}

/// The format of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineFormat {
    /// The thread.
    pub who: LineThread,
    /// The time.
    pub clock: LineClock,
    /// Added to the time of day for [`LineClock::Seconds`] and [`LineClock::Micros`], seconds: the offset of the local time.
    pub utc_offset_s: i32,
    /// Ends with the duration, `<0.000051>`: strace -T.
    pub durations: bool,
    /// The column, from 0, at which ` = ` of a short line is put: 40 for strace.
    pub column: u16,
}

impl LineFormat {
    /// As `strace -f -ttT` prints it, in UTC.
    pub const STRACE: LineFormat = LineFormat {
        who: LineThread::Bracketed,
        clock: LineClock::Micros,
        utc_offset_s: 0,
        durations: true,
        column: 40,
    };
    /// For a line among others in a text: the result is not moved to a column.
    pub const EVIDENCE: LineFormat = LineFormat { column: 0, ..LineFormat::STRACE };

    fn lead(&self, tid: Tid, ts: Timestamp, out: &mut Vec<u8>) {
        let ns = ts.get();
        // Writing to a Vec cannot fail.
        let _ = match self.who {
            LineThread::Nobody => Ok(()),
            LineThread::Bracketed => write!(out, "[pid {tid:5}] "),
            LineThread::Plain => write!(out, "{tid:<5} "),
        };
        let Some(ns) = ns else { return };
        let (seconds, micros) = (ns / 1_000_000_000, ns % 1_000_000_000 / 1_000);
        let local = seconds.saturating_add_signed(i64::from(self.utc_offset_s));
        let _ = match self.clock {
            LineClock::None => Ok(()),
            LineClock::Seconds => write!(out, "{} ", TimeOfDay(local)),
            LineClock::Micros => write!(out, "{}.{micros:06} ", TimeOfDay(local)),
            LineClock::Epoch => write!(out, "{seconds}.{micros:06} "),
        };
    }
}

/// Seconds since a midnight, shown as `10:34:36`.
struct TimeOfDay(u64);

impl std::fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02}:{:02}:{:02}", self.0 / 3600 % 24, self.0 / 60 % 60, self.0 % 60)
    }
}

impl Timestamp {
    /// The time of day in UTC: `10:34:36.114034`; empty where unknown.
    pub fn time_of_day(self) -> String {
        self.get().map_or(String::new(), |ns| {
            format!("{}.{:06}", TimeOfDay(ns / 1_000_000_000), ns % 1_000_000_000 / 1_000)
        })
    }
}

impl Call<'_> {
    /// Appends the line that strace prints for it, without a line end: `read(3, "x", 16) = 1 <0.000051>`. What is
    /// unknown is left out or shown as strace shows it: `= ?`, `<unfinished ...>`.
    pub fn write_line(&self, format: &LineFormat, out: &mut Vec<u8>) {
        let from = out.len();
        format.lead(self.tid, self.ts, out);
        // Of a call that went on all along there is no line before.
        let started_before = self.flags.contains(CallFlags::START_NOT_SEEN);
        if started_before && !self.flags.contains(CallFlags::END_NOT_SEEN) {
            out.extend_from_slice(b"<... ");
            out.extend_from_slice(self.name);
            out.extend_from_slice(b" resumed>");
        } else {
            out.extend_from_slice(self.name);
            out.push(b'(');
        }
        out.extend_from_slice(self.args);
        // A thread does not come back from its own end: strace shows the whole call.
        let ends = matches!(self.name, b"exit" | b"exit_group");
        if self.flags.contains(CallFlags::END_NOT_SEEN) && !ends {
            if out.last() == Some(&b',') {
                out.push(b' ');
            }
            out.extend_from_slice(b" <unfinished ...>");
            return;
        }
        out.extend_from_slice(b") ");
        let column = from + usize::from(format.column);
        if out.len() < column {
            out.resize(column, b' ');
        }
        out.extend_from_slice(b"= ");
        self.write_result(out);
        if format.durations
            && let Some(ns) = self.dur.get()
        {
            let _ = write!(out, " <{}.{:06}>", ns / 1_000_000_000, ns % 1_000_000_000 / 1_000);
        }
    }

    fn write_result(&self, out: &mut Vec<u8>) {
        let _ = match self.ret {
            // The value of an error is -1 in the C library, and for a call that is restarted none.
            _ if self.errno.is_restart() => write!(out, "?"),
            Ret::Unknown => write!(out, "?"),
            Ret::Value(_) if self.errno.is_error() => write!(out, "-1"),
            Ret::Value(value) if self.returns_bits() => write!(out, "{value:#x}"),
            Ret::Value(value) if self.name == b"umask" => write!(out, "{value:03o}"),
            Ret::Value(value) => write!(out, "{value}"),
        };
        if self.errno.is_error() {
            let _ = write!(out, " {}", self.errno.name());
            if self.ret_note.is_empty()
                && let Some(text) = self.errno.text()
            {
                let _ = write!(out, " ({text})");
            }
        }
        if !self.ret_note.is_empty() {
            // What a returned descriptor leads to stands at the number: `3</etc/passwd>`.
            if !self.ret_note.starts_with(b"<") {
                out.push(b' ');
            }
            out.extend_from_slice(self.ret_note);
        }
    }

    /// True where strace shows the result in base 16: an address, or a set of flags.
    fn returns_bits(&self) -> bool {
        let address = matches!(self.syscall, Syscall::MMAP | Syscall::MREMAP | Syscall::BRK)
            || matches!(self.name, b"mmap2" | b"shmat");
        self.ret != Ret::Value(0) && (address || self.ret_note.starts_with(b"(flags "))
    }
}

impl Signal<'_> {
    /// Appends the line that strace prints for it: `--- SIGCHLD {si_signo=SIGCHLD, …} ---`.
    pub fn write_line(&self, format: &LineFormat, out: &mut Vec<u8>) {
        format.lead(self.tid, self.ts, out);
        out.extend_from_slice(b"--- ");
        out.extend_from_slice(self.name);
        if !self.info.is_empty() {
            out.push(b' ');
            out.extend_from_slice(self.info);
        }
        out.extend_from_slice(b" ---");
    }
}

impl Exit<'_> {
    /// Appends the line that strace prints for it: `+++ exited with 0 +++`, `+++ killed by SIGKILL +++`.
    pub fn write_line(&self, format: &LineFormat, out: &mut Vec<u8>) {
        format.lead(self.tid, self.ts, out);
        match (self.signal, self.status) {
            (Some(signal), _) => {
                out.extend_from_slice(b"+++ killed by ");
                out.extend_from_slice(signal);
            }
            (None, Some(status)) => {
                // Writing to a Vec cannot fail.
                let _ = write!(out, "+++ exited with {status}");
            }
            (None, None) => out.extend_from_slice(b"+++ exited"),
        }
        out.extend_from_slice(b" +++");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errno::Errno;
    use crate::time::Nanos;

    fn line(call: &Call<'_>, format: &LineFormat) -> String {
        let mut out = Vec::new();
        call.write_line(format, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn call(name: &'static str, args: &'static str, ret: i64) -> Call<'static> {
        let mut call = Call::new(name, args);
        call.tid = 12343;
        call.ts = Timestamp::new(76_057_576_714_000);
        call.dur = Nanos::new(33_999);
        call.ret = Ret::Value(ret);
        call
    }

    #[test]
    fn lines_are_those_of_strace() {
        let file = LineFormat { who: LineThread::Plain, ..LineFormat::STRACE };
        assert_eq!(
            line(&call("close", "3", 0), &file),
            "12343 21:07:37.576714 close(3)          = 0 <0.000033>"
        );
        let terminal = LineFormat::EVIDENCE;
        let mut failed = call("access", "\"/x\", R_OK", -1);
        failed.errno = Errno::ENOENT;
        let text = "[pid 12343] 21:07:37.576714 access(\"/x\", R_OK) = -1 ENOENT (No such file or directory) <0.000033>";
        assert_eq!(line(&failed, &terminal), text);
        failed.ret_note = b"(No such file or directory)";
        assert_eq!(line(&failed, &terminal), text);
    }

    #[test]
    fn results_are_those_of_strace() {
        let bare = LineFormat {
            who: LineThread::Nobody,
            clock: LineClock::None,
            durations: false,
            ..LineFormat::EVIDENCE
        };
        let mut opened = call("openat", "AT_FDCWD, \"/x\", O_RDONLY", 3);
        opened.ret_note = b"</x>";
        let mut flags = call("fcntl", "3, F_GETFL", 0x8002);
        flags.ret_note = b"(flags O_RDWR|O_LARGEFILE)";
        let mut restarted = call("nanosleep", "{tv_sec=1, tv_nsec=0}, 0x7ffe", -516);
        restarted.errno = Errno::ERESTART_RESTARTBLOCK;
        let mut waiting = call("read", "0,", 0);
        waiting.flags = CallFlags::END_NOT_SEEN;
        let mut ended = call("exit_group", "0", 0);
        (ended.ret, ended.flags) = (Ret::Unknown, CallFlags::END_NOT_SEEN);
        let mut came_back = call("read", "\"x\", 1", 1);
        came_back.flags = CallFlags::START_NOT_SEEN;
        for (call, text) in [
            (opened, "openat(AT_FDCWD, \"/x\", O_RDONLY) = 3</x>"),
            (flags, "fcntl(3, F_GETFL) = 0x8002 (flags O_RDWR|O_LARGEFILE)"),
            (
                restarted,
                "nanosleep({tv_sec=1, tv_nsec=0}, 0x7ffe) = ? ERESTART_RESTARTBLOCK (Interrupted by signal)",
            ),
            (waiting, "read(0,  <unfinished ...>"),
            (ended, "exit_group(0) = ?"),
            (came_back, "<... read resumed>\"x\", 1) = 1"),
            (call("brk", "NULL", 0x5555_5555_0000), "brk(NULL) = 0x555555550000"),
            (call("umask", "077", 0o22), "umask(077) = 022"),
            (call("umask", "077", 0), "umask(077) = 000"),
        ] {
            assert_eq!(line(&call, &bare), text);
        }
    }

    #[test]
    fn signals_and_clocks() {
        let signal = Signal {
            source: crate::ids::SourceId(0),
            line: 0,
            tid: 7,
            ts: Timestamp::new(1_712_054_076_114_034_999),
            name: b"SIGUSR1",
            info: b"",
            raw: b"",
        };
        let mut out = Vec::new();
        signal.write_line(&LineFormat { clock: LineClock::Epoch, ..LineFormat::STRACE }, &mut out);
        assert_eq!(out, b"[pid     7] 1712054076.114034 --- SIGUSR1 ---");
        assert_eq!(signal.ts.time_of_day(), "10:34:36.114034");
        assert_eq!(Timestamp::UNKNOWN.time_of_day(), "");
    }
}
