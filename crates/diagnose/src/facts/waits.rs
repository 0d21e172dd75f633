//! Waits: what kind, which were the longest, and what the thread had sent before.

use super::aborted::Aborted;
use super::exemplar::Exemplar;
use super::threads::{ProcessId, ThreadId};
use super::world::{Seen, World};
use super::{Fold, LifeId, SLOW_CALL, When};
use whyslow_model::event::Tid;
use whyslow_model::syscall::{Class, Moves, Waits as Waiting};
use whyslow_model::{FdKind, Nanos, Syscall, Timestamp, text};

/// What a wait waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum WaitKind {
    /// A lock or condition (futex, semaphore, file lock).
    Lock,
    /// A socket's peer.
    Network,
    /// A pipe or FIFO.
    Pipe,
    /// A time (sleep, timerfd, poll without descriptors).
    Timer,
    /// A child process.
    Child,
    /// Any of several descriptors (poll, select, epoll): what, is not shown.
    Poll,
    /// A new connection.
    Accept,
    /// Anything else: a signal, a terminal, an eventfd, asynchronous I/O.
    Other,
}

impl WaitKind {
    /// How many kinds there are.
    pub const COUNT: usize = 8;
    /// All kinds, in the order of their numbers.
    pub const ALL: [WaitKind; WaitKind::COUNT] = [
        WaitKind::Lock,
        WaitKind::Network,
        WaitKind::Pipe,
        WaitKind::Timer,
        WaitKind::Child,
        WaitKind::Poll,
        WaitKind::Accept,
        WaitKind::Other,
    ];

    /// The word for it in reports and JSON.
    pub fn word(self) -> &'static str {
        match self {
            WaitKind::Lock => "lock",
            WaitKind::Network => "network",
            WaitKind::Pipe => "pipe",
            WaitKind::Timer => "timer",
            WaitKind::Child => "child",
            WaitKind::Poll => "poll",
            WaitKind::Accept => "accept",
            WaitKind::Other => "other",
        }
    }
}

/// What a call of `syscall` on a descriptor of `kind` waits for; `None` where its time is work.
#[inline]
pub(crate) fn wait_kind(syscall: Syscall, args: &[u8], kind: FdKind) -> Option<WaitKind> {
    match syscall.info().waits {
        Waiting::Never => None,
        Waiting::ByArguments => {
            let waits = match syscall {
                Syscall::FUTEX | Syscall::FUTEX_TIME64 => futex_waits(args),
                _ => memchr::memmem::find(args, b"SETLKW").is_some(),
            };
            waits.then_some(WaitKind::Lock)
        }
        Waiting::ByDescriptor => match kind {
            FdKind::Pipe => Some(WaitKind::Pipe),
            FdKind::Timer => Some(WaitKind::Timer),
            kind if kind.is_socket() => Some(WaitKind::Network),
            kind if kind.waits_for_peer() => Some(WaitKind::Other),
            // A network call tells that an unknown descriptor is a socket.
            FdKind::Unknown if syscall.info().class == Class::Network => Some(WaitKind::Network),
            _ => None,
        },
        Waiting::Always => Some(match syscall {
            Syscall::NANOSLEEP | Syscall::CLOCK_NANOSLEEP => WaitKind::Timer,
            Syscall::WAIT4 | Syscall::WAITID => WaitKind::Child,
            Syscall::ACCEPT | Syscall::ACCEPT4 => WaitKind::Accept,
            Syscall::SEMOP => WaitKind::Lock,
            _ => match syscall.info().name {
                "waitpid" => WaitKind::Child,
                "clock_nanosleep_time64" => WaitKind::Timer,
                "semtimedop" | "flock" | "futex_wait" | "futex_waitv" => WaitKind::Lock,
                "pause" | "rt_sigsuspend" | "sigsuspend" | "rt_sigtimedwait" | "restart_syscall" => {
                    WaitKind::Other
                }
                _ => WaitKind::Poll,
            },
        }),
    }
}

/// FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_LOCK_PI, FUTEX_WAIT_REQUEUE_PI wait; the others wake or change.
#[inline]
pub(crate) fn futex_waits(args: &[u8]) -> bool {
    let Some(comma) = memchr::memchr(b',', args) else {
        return false;
    };
    let operation = args[comma + 1..].trim_ascii_start();
    operation.starts_with(b"FUTEX_WAIT") || operation.starts_with(b"FUTEX_LOCK_PI")
}

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

/// The longest waits, and the waits' totals by kind in [`super::ThreadFacts`].
#[derive(Debug, Default)]
pub struct Waits {
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

impl Waits {
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
        crate::payload::label(self.sent_head(thread, fd)?)
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
            protocol: fd.and_then(|fd| crate::payload::protocol(self.sent_head(seen.thread, fd)?)),
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

/// The descriptor that a poll or select of a single one waits for: `[{fd=669, events=POLLIN|POLLERR}], 1, 2000`,
/// `4, [3], NULL, NULL, {tv_sec=2, tv_usec=0}`.
pub(crate) fn polled_fd(args: &[u8]) -> Option<i32> {
    if let Some(rest) = args.strip_prefix(b"[{fd=") {
        let (fd, _) = text::decimal(rest)?;
        // What the descriptor leads to (`-yy`) may hold brackets: look for another one in all of the rest.
        let several = memchr::memmem::find(rest, b"{fd=").is_some();
        return i32::try_from(fd).ok().filter(|_| !several);
    }
    let (_, digits) = text::decimal(args)?;
    let set = args[digits..].strip_prefix(b", [")?;
    let (fd, used) = text::decimal(set)?;
    let behind = match set.get(used) {
        Some(b'<') => text::annotation_end(set, used)? + 1,
        _ => used,
    };
    i32::try_from(fd).ok().filter(|_| set.get(behind) == Some(&b']'))
}

impl Fold for Waits {
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
        if ns <= self.threshold_ns.max(Waits::SHORTEST_NS) {
            return;
        }
        let wait = self.describe(seen, kind, world);
        self.longest.push(wait);
        if self.longest.len() >= 2 * Waits::KEPT {
            self.longest.sort_by_key(|wait| std::cmp::Reverse(wait.dur));
            self.longest.truncate(Waits::KEPT);
            self.threshold_ns = self.longest.last().map_or(0, |wait| wait.dur.or_zero());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_for_one_descriptor_is_told_from_one_for_several() {
        for (args, expected) in [
            (&b"[{fd=669, events=POLLIN|POLLERR}], 1, 2000"[..], Some(669)),
            (b"[{fd=3<TCP:[1.2.3.4:5->6.7.8.9:80]>, events=POLLIN}], 1, 5000", Some(3)),
            (b"[{fd=3<TCP:[1.2.3.4:5->6.7.8.9:80]>, events=POLLIN}, {fd=4, events=POLLIN}], 2, 5000", None),
            (b"4, [3], NULL, NULL, {tv_sec=2, tv_usec=0}", Some(3)),
            (b"4, [3<TCP:[1.2.3.4:5->6.7.8.9:80]>], NULL, NULL, NULL", Some(3)),
            (b"5, [3 4], NULL, NULL, NULL", None),
            (b"0x7f0012, FUTEX_WAIT_PRIVATE, 2, NULL", None),
            (b"", None),
        ] {
            assert_eq!(polled_fd(args), expected, "{}", String::from_utf8_lossy(args));
        }
    }
}
