//! Waits of a log without durations (`-T`): each is held back until the next line of the log tells when it was over at the latest.
//!
//! strace marks a call as unfinished when another thread's event comes before its end. A call in one piece ended before
//! the next line of whichever thread, so that no order changes. Calls that do not wait are not held: the time behind them
//! may be the program's own. A read of a descriptor on which its thread has just written waits for the answer; behind any other call it may find
//! what is there.

use super::pending::call_flags;
use super::record::{Kind, Marks, NO_TIME, Record, Span};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::syscall::{Moves, Waits};
use whyslow_model::{Call, CallFlags, Nanos, SourceId, Syscall, Timestamp, text};

/// The wait that is held back; its buffer is used again.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Its spans are pieces of `own`.
    record: Record,
    own: Vec<u8>,
    line: u64,
    tid: Tid,
    ts: Timestamp,
    is_full: bool,
}

impl Held {
    /// True for a call that waits, of which nothing tells how long.
    #[inline]
    pub(crate) fn wants(record: &Record, batch: &[u8]) -> bool {
        record.kind == Kind::Call
            && record.dur == NO_TIME
            && record.marks.has(Marks::SUB_SECOND)
            && !record.marks.has(Marks::LIBRARY)
            && is_wait(record.syscall(), record.args.of(batch))
    }

    /// True while a call is held.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Takes a call.
    pub(crate) fn keep(&mut self, batch: &[u8], record: &Record, tid: Tid, line: u64, ts: Timestamp) {
        let own = &mut self.own;
        own.clear();
        let mut copy = |text: &[u8]| {
            own.extend_from_slice(text);
            Span::new(own.len() - text.len(), own.len())
        };
        let (shown, name) = (copy(record.line.of(batch)), copy(record.name(batch)));
        let (args, note) = (copy(record.args.of(batch)), copy(record.note.of(batch)));
        self.record = Record { line: shown, name_start: name.start, args, note, ..*record };
        (self.line, self.tid, self.ts, self.is_full) = (line, tid, ts, true);
    }

    /// The held call, which ended by `next`; unknown at the end of the log.
    pub(crate) fn release(&mut self, source: SourceId, next: Timestamp) -> Call<'_> {
        self.is_full = false;
        let (record, own) = (&self.record, &self.own[..]);
        let args = record.args.of(own);
        let dur = waited(record, args, next.since(self.ts));
        let flags = call_flags(record);
        Call {
            source,
            line: self.line,
            end_line: self.line,
            tid: self.tid,
            pid: None,
            cpu: None,
            ts: self.ts,
            dur,
            syscall: record.syscall(),
            name: record.name(own),
            args,
            ret: record.ret(),
            errno: record.errno(),
            ret_note: record.note.of(own),
            flags: if dur.is_known() { flags.with(CallFlags::UP_TO_NEXT) } else { flags },
            raw: record.line.of(own),
            raw_end: b"",
        }
    }
}

/// On which descriptor each thread has just written.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    by_thread: HashMap<Tid, i64>,
}

impl Asked {
    /// Threads that are remembered.
    const MOST: usize = 1_024;

    /// Takes a call in one piece: true where it reads the answer to what its thread wrote by the call before.
    pub(crate) fn is_answer(&mut self, record: &Record, batch: &[u8], tid: Tid) -> bool {
        let before = self.by_thread.remove(&tid);
        if record.dur != NO_TIME || !record.marks.has(Marks::SUB_SECOND) || record.errno().is_error() {
            return false;
        }
        let args = record.args.of(batch);
        let Some((fd, _)) = text::decimal(args) else { return false };
        match record.syscall().info().moves {
            Moves::Write if self.by_thread.len() < Self::MOST => {
                self.by_thread.insert(tid, fd);
                false
            }
            Moves::Read => before == Some(fd) && memchr::memmem::find(args, b"MSG_DONTWAIT").is_none(),
            _ => false,
        }
    }

    /// The thread made another call.
    pub(crate) fn forget(&mut self, tid: Tid) {
        if !self.by_thread.is_empty() {
            self.by_thread.remove(&tid);
        }
    }
}

/// Calls whose purpose is to wait. One that makes a descriptor is told at once: another thread may use it before the next line
/// of this one.
fn is_wait(syscall: Syscall, args: &[u8]) -> bool {
    match syscall.info().waits {
        Waits::Always => !matches!(syscall, Syscall::ACCEPT | Syscall::ACCEPT4),
        Waits::ByArguments => match syscall {
            Syscall::FUTEX | Syscall::FUTEX_TIME64 => memchr::memmem::find(args, b"FUTEX_WAIT").is_some(),
            _ => memchr::memmem::find(args, b"SETLKW").is_some(),
        },
        Waits::Never | Waits::ByDescriptor => false,
    }
}

/// How long it waited, of `gap`, the time to the next line: no longer than it was to, and just so long where its time ran out. What
/// is behind that is the program's. Unknown for a call that was not to wait.
fn waited(record: &Record, args: &[u8], gap: Nanos) -> Nanos {
    let (Some(gap), limit) = (gap.get(), limit(record.syscall(), args)) else { return Nanos::UNKNOWN };
    match limit {
        Some(0) => Nanos::UNKNOWN,
        Some(limit) => Nanos::new(gap.min(limit)),
        // A test that failed at once waited for nothing.
        None if record.errno().is_error() => Nanos::UNKNOWN,
        None => Nanos::new(gap),
    }
}

/// The limit of time that a call names, ns.
fn limit(syscall: Syscall, args: &[u8]) -> Option<u64> {
    const MS: u64 = 1_000_000;
    let argument = |at: usize| text::argument(args, at);
    match syscall {
        Syscall::POLL => millis(argument(2)?, MS),
        Syscall::EPOLL_WAIT | Syscall::EPOLL_PWAIT => millis(argument(3)?, MS),
        Syscall::NANOSLEEP => timespec(argument(0)?),
        // An absolute time is none from now on.
        Syscall::CLOCK_NANOSLEEP => (argument(1)? == b"0").then(|| timespec(argument(2)?))?,
        Syscall::PPOLL => timespec(argument(2)?),
        Syscall::SELECT | Syscall::NEWSELECT | Syscall::PSELECT6 => timespec(argument(4)?),
        Syscall::WAIT4 => memchr::memmem::find(args, b"WNOHANG").map(|_| 0),
        Syscall::FUTEX if memchr::memmem::find(args, b"FUTEX_WAIT_BITSET").is_none() => {
            timespec(argument(3)?)
        }
        _ => None,
    }
}

/// `5000`; `-1` is no limit.
fn millis(argument: &[u8], unit: u64) -> Option<u64> {
    let (value, _) = text::decimal(argument)?;
    u64::try_from(value).ok().map(|value| value.saturating_mul(unit))
}

/// `{tv_sec=0, tv_nsec=98957000}` or with `tv_usec`, ns.
fn timespec(argument: &[u8]) -> Option<u64> {
    let field = |name: &[u8]| {
        let from = memchr::memmem::find(argument, name)? + name.len();
        let (value, _) = text::decimal(&argument[from..])?;
        u64::try_from(value).ok()
    };
    let below = match field(b"tv_nsec=") {
        Some(ns) => ns,
        None => field(b"tv_usec=")?.saturating_mul(1_000),
    };
    Some(field(b"tv_sec=")?.saturating_mul(1_000_000_000).saturating_add(below))
}

#[cfg(test)]
mod tests {
    use super::super::{assemble::Assembler, batch::Batches, line::Dialect, pipeline};
    use super::*;
    use whyslow_model::{CaptureKind, Event, SourceInfo};

    /// Each call of a log: its name, its duration in us, and whether that is the time to the next line.
    fn calls(log: &str) -> Vec<(String, Option<u64>, bool)> {
        let mut batches = Batches::new(Vec::new(), Box::new(log.as_bytes()), 1 << 16);
        let mut assembler = Assembler::new(SourceInfo::new(SourceId(0), "t", CaptureKind::Strace), 0, 0);
        let mut seen = Vec::new();
        let mut sink = |event: Event<'_>| {
            if let Event::Call(call) = event {
                let up_to_next = call.flags.contains(CallFlags::UP_TO_NEXT);
                seen.push((text::lossy(call.name), call.dur.get().map(|ns| ns / 1_000), up_to_next));
            }
        };
        pipeline::run_alone(&mut batches, Dialect::Strace, &mut assembler, &mut sink)
            .expect("memory does not fail");
        assembler.finish(batches.bytes, &mut sink);
        seen
    }

    #[test]
    fn the_next_line_ends_a_wait() {
        let log = "7 10:00:00.000000 poll([{fd=3, events=POLLIN}], 1, 5000) = 1 ([{fd=3, revents=POLLIN}])\n\
                   7 10:00:00.020000 read(3, \"x\", 4096) = 1\n\
                   7 10:00:00.050000 nanosleep({tv_sec=0, tv_nsec=10000000}, NULL) = 0\n\
                   8 10:00:00.090000 poll([{fd=3, events=POLLIN}], 1, 0) = 0 (Timeout)\n\
                   7 10:00:00.100000 futex(0x1, FUTEX_WAIT_PRIVATE, 2, NULL) = 0\n";
        let expected = [
            ("poll", Some(20_000), true),
            ("read", None, false),
            // What is behind the time that it was to sleep is the program's.
            ("nanosleep", Some(10_000), true),
            ("poll", None, false),
            ("futex", None, false),
        ];
        let expected: Vec<_> = expected.map(|(name, us, up)| (name.to_string(), us, up)).into();
        assert_eq!(calls(log), expected);
    }

    #[test]
    fn an_answer_is_waited_for_behind_the_question_on_its_descriptor_alone() {
        let log = "7 10:00:00.000000 sendto(6, \"a\", 1, MSG_NOSIGNAL, NULL, 0) = 1\n\
                   7 10:00:00.000100 recvfrom(6, \"b\", 8192, 0, NULL, NULL) = 1\n\
                   7 10:00:00.001000 recvfrom(6, \"c\", 8192, 0, NULL, NULL) = 1\n\
                   7 10:00:00.002000 write(4, \"log\", 3) = 3\n\
                   7 10:00:00.002100 read(5, \"x\", 4096) = 1\n\
                   7 10:00:00.003000 write(6, \"a\", 1) = 1\n\
                   7 10:00:00.003100 poll([{fd=6, events=POLLIN}], 1, -1) = 1 ([{fd=6, revents=POLLIN}])\n\
                   7 10:00:00.005000 read(6, \"x\", 4096) = 1\n\
                   7 10:00:00.006000 getpid() = 7\n";
        let known: Vec<_> = calls(log).into_iter().filter(|(_, us, _)| us.is_some()).collect();
        let expected = [("recvfrom", Some(900), true), ("poll", Some(1_900), true)];
        assert_eq!(known, expected.map(|(name, us, up)| (name.to_string(), us, up)));
    }

    #[test]
    fn a_log_with_durations_or_whole_seconds_is_left_as_it_is() {
        let log = "7 10:00:00.000000 read(3, \"x\", 4096) = 1 <0.000010>\n\
                   7 10:00:00.000100 poll([{fd=3, events=POLLIN}], 1, 5000) = 1 ([{fd=3, revents=POLLIN}]) <0.000020>\n";
        assert_eq!(calls(log)[1], ("poll".to_string(), Some(20), false));
        let log = "7 10:00:00 pause() = 0\n7 10:00:09 getpid() = 7\n";
        assert_eq!(calls(log)[0], ("pause".to_string(), None, false));
    }

    #[test]
    fn a_log_of_one_wait_that_does_not_end_is_a_trace() {
        let line = b"06:36:59.570567 futex(0x7f9344000b70, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, FUTEX_BITSET_MATCH_ANY <detached ...>\n";
        let sample = crate::formats::SniffInput { file_name: "t", path: "t", head: line };
        assert!(super::super::Look::at(&sample, Dialect::Strace).is_strace());
    }

    #[test]
    fn limits() {
        let of = |name: &str, args: &str| {
            limit(Syscall::lookup(name.as_bytes()).unwrap_or(Syscall::UNLISTED), args.as_bytes())
        };
        assert_eq!(of("poll", "[{fd=3, events=POLLIN}], 1, 5000"), Some(5_000_000_000));
        assert_eq!(of("poll", "[{fd=3, events=POLLIN}], 1, -1"), None);
        assert_eq!(of("epoll_pwait", "13, [], 1024, 0, NULL, 8"), Some(0));
        assert_eq!(
            of("clock_nanosleep", "CLOCK_REALTIME, 0, {tv_sec=1, tv_nsec=5}, NULL"),
            Some(1_000_000_005)
        );
        assert_eq!(
            of("clock_nanosleep", "CLOCK_MONOTONIC, TIMER_ABSTIME, {tv_sec=1, tv_nsec=5}, NULL"),
            None
        );
        assert_eq!(of("select", "4, [3], NULL, NULL, {tv_sec=0, tv_usec=7}"), Some(7_000));
        assert_eq!(of("futex", "0x1, FUTEX_WAIT_PRIVATE, 2, NULL"), None);
        assert_eq!(of("wait4", "-1, 0x7ffd, WNOHANG, NULL"), Some(0));
        assert_eq!(of("poll", "["), None);
    }
}
