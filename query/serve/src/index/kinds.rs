//! What a call does with its time, by its name and what it works on: as far as one call alone tells. What the account says beyond that
//! (waits for work, who holds a lock) takes all of the recording.

use whyslow_model::Syscall;
use whyslow_model::syscall::{Class, Waits};

/// States, by their numbers in the page's `STATES`.
pub(crate) const PEER: u8 = 2;
pub(crate) const FILE: u8 = 3;
pub(crate) const LOCK: u8 = 4;
pub(crate) const TIMER: u8 = 5;
pub(crate) const CHILD: u8 = 6;
pub(crate) const PIPE: u8 = 7;
pub(crate) const WORK: u8 = 8;
pub(crate) const OTHER: u8 = 9;
pub(crate) const IN_CALL: u8 = 11;
pub(crate) const BETWEEN: u8 = 12;
pub(crate) const STATES: usize = 13;

/// A call on a file that takes longer has gone to a device, ns: as the account has it.
const SLOW_FILE: i64 = 10_000_000;

/// What a path or descriptor is, by its first bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Object {
    Unknown,
    File,
    Pipe,
    Socket,
    Timer,
    Other,
}

impl Object {
    /// As `-yy` of strace prints it: `/path`, `pipe:[1]`, `TCP:[…]`, `anon_inode:[timerfd]`.
    pub(crate) fn of(text: &str) -> Object {
        match text.as_bytes() {
            [] => Object::Unknown,
            [b'/', ..] => Object::File,
            text if text.starts_with(b"pipe:") => Object::Pipe,
            text if text.starts_with(b"anon_inode:") => {
                if text.ends_with(b"timerfd]") {
                    Object::Timer
                } else {
                    Object::Other
                }
            }
            text => {
                let ends = text.iter().position(|byte| *byte == b':').unwrap_or(0);
                match &text[..ends] {
                    b"TCP" | b"TCPv6" | b"UDP" | b"UDPv6" | b"UNIX" | b"UNIX-STREAM" | b"UNIX-DGRAM"
                    | b"socket" | b"NETLINK" | b"RAW" => Object::Socket,
                    _ => Object::Other,
                }
            }
        }
    }
}

/// What there is to know of a name once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    syscall: Syscall,
    fixed: Option<u8>,
}

impl Named {
    /// Of a call by its name.
    pub(crate) fn of(name: &str) -> Named {
        let syscall = Syscall::lookup(name.as_bytes()).unwrap_or(Syscall::UNLISTED);
        let fixed = match syscall.info().waits {
            Waits::Never => match name {
                "fsync" | "fdatasync" | "sync_file_range" | "syncfs" => Some(FILE),
                _ => None,
            },
            // What wakes others is short.
            Waits::ByArguments => Some(if name.starts_with("futex") { LOCK } else { IN_CALL }),
            Waits::ByDescriptor => None,
            Waits::Always => Some(match name {
                "nanosleep" | "clock_nanosleep" | "clock_nanosleep_time64" => TIMER,
                "wait4" | "waitid" | "waitpid" => CHILD,
                "accept" | "accept4" => WORK,
                "semop" | "semtimedop" | "flock" | "futex_wait" | "futex_waitv" => LOCK,
                _ => OTHER,
            }),
        };
        Named { syscall, fixed }
    }

    /// The state of a call on that object which took so long.
    #[inline]
    pub(crate) fn state(&self, object: Object, took: i64) -> u8 {
        if let Some(fixed) = self.fixed {
            return fixed;
        }
        let info = self.syscall.info();
        if info.waits == Waits::ByDescriptor {
            match object {
                Object::Pipe => return PIPE,
                Object::Socket => return PEER,
                Object::Timer => return TIMER,
                Object::Unknown if info.class == Class::Network => return PEER,
                Object::Other => return OTHER,
                _ => {}
            }
        }
        if object == Object::File && took >= SLOW_FILE { FILE } else { IN_CALL }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_told_by_its_name_and_what_it_works_on() {
        let state = |name: &str, object: &str, took| Named::of(name).state(Object::of(object), took);
        assert_eq!(state("read", "/etc/passwd", 1_000), IN_CALL);
        assert_eq!(state("read", "/etc/passwd", 20_000_000), FILE);
        assert_eq!(state("read", "pipe:[77]", 1), PIPE);
        assert_eq!(state("read", "TCP:[10.0.0.1:1->10.0.0.2:2]", 1), PEER);
        assert_eq!(state("recvfrom", "", 1), PEER);
        assert_eq!(state("read", "", 1), IN_CALL);
        assert_eq!(state("futex", "", 1), LOCK);
        assert_eq!(state("nanosleep", "", 1), TIMER);
        assert_eq!(state("accept4", "", 1), WORK);
        assert_eq!(state("epoll_wait", "", 1), OTHER);
        assert_eq!(state("no_such_call", "", 1), IN_CALL);
    }
}
