//! What a call waits for, by its syscall, its arguments and what its descriptor is.

use crate::args::futex::futex_waits;
use whyslow_model::syscall::{Class, Waits as Waiting};
use whyslow_model::{FdKind, Syscall};

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

    /// What calls of that name wait for, as far as their name alone tells.
    pub fn of_name(syscall: Syscall) -> Option<WaitKind> {
        wait_kind(syscall, b"", FdKind::Unknown)
    }

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
