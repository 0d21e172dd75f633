//! Waits: what kind, which were the longest, and what the thread had sent before.

pub mod aborted;

use crate::args::WaitKind;
use crate::args::poll::polled_fd;
use crate::exemplar::Exemplar;
use crate::folds::waits::aborted::Aborted;
use crate::world::ids::{ProcessId, ThreadId};
use crate::world::{Seen, World};
use crate::{Fold, LifeId, SLOW_CALL, When};
use whyslow_model::event::Tid;
use whyslow_model::syscall::{Moves, Waits as Waiting};
use whyslow_model::{FdKind, Nanos, Syscall, Timestamp};

/// One long wait.
#[derive(Clone, Debug)]
pub struct LongWait {
    /// The process.
    pub process: ProcessId,
    /// The thread.
    pub tid: Tid,
    /// When it began.
    pub ts: Timestamp,
    /// How long.
    pub dur: Nanos,
    /// For what.
    pub kind: WaitKind,
    /// The call.
    pub syscall: Syscall,
    /// The descriptor, where it waits for a single one.
    pub fd: Option<i32>,
    /// The other end or path of that descriptor, if known.
    pub target: Option<String>,
    /// What the thread had sent on that descriptor just before, named (`HMGET relation:series:{n}:check`).
    pub sent: Option<String>,
    /// The protocol of that: `Redis`, `HTTP`.
    pub protocol: Option<&'static str>,
    /// The wait ended because its own time limit passed.
    pub timed_out: bool,
    /// The line.
    pub exemplar: Exemplar,
}

/// The longest waits, and the waits' totals by kind in [`crate::ThreadFacts`].
#[derive(Debug, Default)]
pub struct LongestWaits {
    longest: Vec<LongWait>,
    /// A wait must be longer than this to enter the list, ns.
    threshold_ns: u64,
    last_sent: Vec<LastSent>,
    /// Answers that could not be delivered.
    pub aborted: Aborted,
}

/// The head of what a thread sent last on a socket.
#[derive(Clone, Copy, Debug)]
struct LastSent {
    fd: i32,
    life: LifeId,
    len: u8,
    head: [u8; LastSent::HEAD],
}

impl LastSent {
    /// Enough for a request line or a command with its key, in strace's escaped form.
    const HEAD: usize = 120;
    const NONE: LastSent = LastSent { fd: -1, life: LifeId::NONE, len: 0, head: [0; LastSent::HEAD] };
}

impl LongestWaits {
    const KEPT: usize = 64;
    /// Waits shorter than this explain nothing by themselves.
    const SHORTEST_NS: u64 = SLOW_CALL.or_zero();

    /// The longest waits of the capture, longest first.
    pub fn longest(&self) -> Vec<&LongWait> {
        let mut waits: Vec<_> = self.longest.iter().collect();
        waits.sort_by_key(|wait| std::cmp::Reverse(wait.dur));
        waits
    }

    /// What `thread` had sent last on `fd`, named.
    pub fn last_sent(&self, thread: ThreadId, fd: i32) -> Option<String> {
        crate::args::payload::label(self.sent_head(thread, fd)?)
    }

    fn sent_head(&self, thread: ThreadId, fd: i32) -> Option<&[u8]> {
        let sent = self.last_sent.get(thread.0 as usize)?;
        (sent.fd == fd && sent.len > 0).then(|| &sent.head[..sent.len as usize])
    }

    /// The descriptor on which `thread` had sent last.
    pub fn last_sent_fd(&self, thread: ThreadId) -> Option<i32> {
        self.last_sent.get(thread.0 as usize).map(|sent| sent.fd).filter(|fd| *fd >= 0)
    }

    /// Describes the wait of `seen`.
    pub fn describe(&self, seen: &Seen<'_>, kind: WaitKind, world: &World) -> LongWait {
        let fd = seen.fd.or_else(|| polled_fd(seen.call.args));
        let life = fd.and_then(|fd| world.life_of(seen.process, fd));
        let target = life.and_then(|life| life.target(world));
        LongWait {
            process: seen.process,
            tid: seen.call.tid,
            ts: seen.call.ts,
            dur: seen.call.dur,
            kind: match life {
                Some(life) if kind == WaitKind::Poll && life.kind.is_socket() => WaitKind::Network,
                Some(life) if kind == WaitKind::Poll && life.kind == FdKind::Pipe => WaitKind::Pipe,
                _ => kind,
            },
            syscall: seen.call.syscall,
            fd,
            target,
            sent: fd.and_then(|fd| self.last_sent(seen.thread, fd)),
            protocol: fd.and_then(|fd| crate::args::payload::protocol(self.sent_head(seen.thread, fd)?)),
            timed_out: seen.call.ret_note.starts_with(b"(Timeout)"),
            exemplar: Exemplar::of(seen.call),
        }
    }

    fn remember_sent(&mut self, seen: &Seen<'_>) {
        let (Some(fd), Some(life)) = (seen.fd, seen.life) else {
            return;
        };
        let at = seen.thread.0 as usize;
        if at >= self.last_sent.len() {
            self.last_sent.resize(at + 1, LastSent::NONE);
        }
        // The payload is the second argument: behind the first comma.
        let args = seen.call.args;
        let from = memchr::memchr(b',', args).map_or(args.len(), |comma| (comma + 2).min(args.len()));
        let payload = &args[from..args.len().min(from + LastSent::HEAD)];
        let sent = &mut self.last_sent[at];
        sent.fd = fd;
        sent.life = life;
        sent.len = payload.len() as u8;
        sent.head[..payload.len()].copy_from_slice(payload);
    }
}

impl Fold for LongestWaits {
    fn wants(&self, syscall: Syscall) -> bool {
        let info = syscall.info();
        info.waits != Waiting::Never || info.moves == Moves::Write
    }

    fn when(&self, syscall: Syscall) -> When {
        // What was sent is remembered, to name the wait that follows; what was received begins a request.
        if syscall.info().moves == Moves::None { When::Slow } else { When::Always }
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        if seen.kind.is_socket() && seen.call.syscall.info().moves == Moves::Write {
            self.remember_sent(seen);
        }
        if self.aborted.see(seen, world)
            && let Some(kind) = seen.waits
        {
            let wait = self.describe(seen, kind, world);
            self.aborted.waited(seen, wait);
        }
        let Some(kind) = seen.waits else { return };
        let ns = seen.call.dur.or_zero();
        if ns <= self.threshold_ns.max(LongestWaits::SHORTEST_NS) {
            return;
        }
        let wait = self.describe(seen, kind, world);
        self.longest.push(wait);
        if self.longest.len() >= 2 * LongestWaits::KEPT {
            self.longest.sort_by_key(|wait| std::cmp::Reverse(wait.dur));
            self.longest.truncate(LongestWaits::KEPT);
            self.threshold_ns = self.longest.last().map_or(0, |wait| wait.dur.or_zero());
        }
    }
}
