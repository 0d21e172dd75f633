//! What the arguments of a call say of a sleep: how long it is to be, until when, and beside which descriptors.

use crate::world::{Seen, World};
use whyslow_model::{Call, Errno, Nanos, Syscall, text};

/// True for a poll that tells of that descriptor, as far as its arguments say which it is for.
pub(super) fn may_tell_of(call: &Call<'_>, fd: i32) -> bool {
    if !matches!(call.syscall, Syscall::POLL | Syscall::PPOLL) {
        return true;
    }
    let name = format!("fd={fd}");
    let mut found = memchr::memmem::find_iter(call.args, name.as_bytes());
    let is_cut = !call.args.contains(&b']');
    is_cut || found.any(|at| !call.args.get(at + name.len()).is_some_and(u8::is_ascii_digit))
}

/// A sleep until a point in time.
pub(super) fn is_until(call: &Call<'_>) -> bool {
    call.syscall == Syscall::CLOCK_NANOSLEEP && memchr::memmem::find(call.args, b"TIMER_ABSTIME").is_some()
}

/// How long a call is asked to sleep: nanosleep, or a poll without descriptors; unknown for sleeps until a point in time, and
/// for other waits that their time limit ended. `None` for other calls.
pub(super) fn period(seen: &Seen<'_>, world: &World) -> Option<Nanos> {
    let call = seen.call;
    match call.syscall {
        Syscall::WAIT4 | Syscall::WAITID => {
            let child = u32::try_from(call.ok()?).ok().filter(|pid| *pid > 0)?;
            let child = world.threads.process(world.threads.find_process(child)?);
            (child.name() == Some("sleep")).then_some(Nanos::UNKNOWN)
        }
        syscall => asked_for(call).or_else(|| {
            let timed_out = match syscall {
                Syscall::FUTEX => call.errno == Errno::ETIMEDOUT,
                _ => call.ok() == Some(0) && slept(call),
            };
            timed_out.then_some(Nanos::UNKNOWN)
        }),
    }
}

/// True where a poll that found nothing waited at all: a limit of zero is a look. How long it took tells, where that is known: a
/// recorder may see the limit as the kernel left it, which is what was left of it (ppoll(2)).
fn slept(call: &Call<'_>) -> bool {
    const SHORTEST: Nanos = Nanos::new(100_000);
    if call.dur.is_known() {
        return call.dur >= SHORTEST;
    }
    let limit = match call.syscall {
        Syscall::POLL => call.arg(2),
        Syscall::EPOLL_WAIT | Syscall::EPOLL_PWAIT => call.arg(3),
        _ => return timespec(call.args).is_some(),
    };
    limit.and_then(text::number).is_some_and(|limit| limit > 0)
}

/// The length that a sleep has in its arguments.
pub(in crate::folds) fn asked_for(call: &Call<'_>) -> Option<Nanos> {
    match call.syscall {
        Syscall::NANOSLEEP => timespec(call.args),
        Syscall::CLOCK_NANOSLEEP => {
            if is_until(call) {
                return Some(Nanos::UNKNOWN);
            }
            timespec(call.args)
        }
        Syscall::POLL => {
            let none = call.args.starts_with(b"NULL, 0, ") || call.args.starts_with(b"[], 0, ");
            let millis = text::number(call.arg(2).filter(|_| none)?)?;
            u64::try_from(millis).ok().filter(|ms| *ms > 0 && *ms < 1 << 32).map(Nanos::from_millis)
        }
        // Ruby sleeps so, and the C library's poll on machines without that call.
        Syscall::PPOLL => {
            let none = call.args.starts_with(b"NULL, 0, ") || call.args.starts_with(b"[], 0, ");
            timespec(call.arg(2).filter(|_| none)?)
        }
        Syscall::SELECT | Syscall::PSELECT6 => {
            if !call.args.starts_with(b"0, NULL, NULL, NULL, {") {
                return None;
            }
            timespec(call.args)
        }
        _ => None,
    }
}

/// The first `{tv_sec=0, tv_nsec=10000000}`, `{tv_sec=0, tv_usec=10000}` or (older) `{0, 10000000}` in `text`.
pub(super) fn timespec(text: &[u8]) -> Option<Nanos> {
    let body = &text[memchr::memchr(b'{', text)? + 1..];
    let comma = memchr::memchr(b',', body)?;
    let seconds = body[..comma].strip_prefix(b"tv_sec=").unwrap_or(&body[..comma]);
    let rest = body[comma + 1..].trim_ascii_start();
    let (rest, unit) = match rest.strip_prefix(b"tv_usec=") {
        Some(rest) => (rest, 1_000),
        None => (rest.strip_prefix(b"tv_nsec=").unwrap_or(rest), 1),
    };
    let seconds = u64::try_from(text::number(seconds)?).ok()?;
    let (fraction, _) = text::decimal(rest)?;
    let ns =
        seconds.checked_mul(1_000_000_000)?.checked_add(u64::try_from(fraction).ok()?.checked_mul(unit)?)?;
    (ns > 0).then(|| Nanos::new(ns))
}
