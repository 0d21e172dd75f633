//! Arguments of futex calls: address, operation, and what the operation means.

use super::numbers::hex_digits;
use whyslow_model::event::Tid;
use whyslow_model::{Syscall, text};

/// FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_LOCK_PI, FUTEX_WAIT_REQUEUE_PI wait; the others wake or change.
#[inline]
pub(crate) fn futex_waits(args: &[u8]) -> bool {
    let Some(comma) = memchr::memchr(b',', args) else {
        return false;
    };
    let operation = args[comma + 1..].trim_ascii_start();
    operation.starts_with(b"FUTEX_WAIT") || operation.starts_with(b"FUTEX_LOCK_PI")
}

/// True where the operation waits for a lock that another has, by its value: 2 is held and wanted (glibc's
/// lowlevellock.h, Rust's sys/sync/mutex/futex.rs).
pub(crate) fn is_mutex(operation: &[u8], rest: &[u8]) -> bool {
    const CONTENDED: i64 = 2;
    operation.starts_with(b"FUTEX_LOCK_PI")
        || operation.starts_with(b"FUTEX_WAIT")
            && text::decimal(rest).is_some_and(|(value, _)| value == CONTENDED)
}

/// As [`is_mutex`], of a call's arguments.
pub(crate) fn waits_for_mutex(args: &[u8]) -> bool {
    futex(args).is_some_and(|(_, operation, rest)| is_mutex(operation, rest))
}

/// The thread that has the lock, where its number is the lock's value: robust and priority-inheriting mutexes, and those that
/// check for errors (FUTEX_TID_MASK and FUTEX_WAITERS of linux/futex.h). What else sets the same bit may count something there.
pub(crate) fn owner(args: &[u8]) -> Option<Tid> {
    const WAITERS: u32 = 0x8000_0000;
    const TID: u32 = 0x3fff_ffff;
    let (_, operation, rest) = futex(args)?;
    let (value, _) = text::decimal(rest).filter(|_| operation.starts_with(b"FUTEX_WAIT"))?;
    // Some tools print it signed.
    let value = u32::try_from(value).or_else(|_| i32::try_from(value).map(i32::cast_unsigned)).ok()?;
    (value & WAITERS != 0).then_some(value & TID).filter(|tid| *tid != 0)
}

pub(crate) fn is_futex(syscall: Syscall) -> bool {
    matches!(syscall, Syscall::FUTEX | Syscall::FUTEX_TIME64)
}

pub(crate) fn wakes(operation: &[u8]) -> bool {
    operation.starts_with(b"FUTEX_WAKE")
        || operation.starts_with(b"FUTEX_UNLOCK_PI")
        || operation.starts_with(b"FUTEX_REQUEUE")
        || operation.starts_with(b"FUTEX_CMP_REQUEUE")
}

/// True where the operation is on memory of one process alone.
pub(crate) fn is_private(operation: &[u8]) -> bool {
    // A clock may stand behind it.
    operation.ends_with(b"_PRIVATE") || memchr::memmem::find(operation, b"_PRIVATE|").is_some()
}

/// Address, operation and the rest of `0x7f004c01e354, FUTEX_WAIT_PRIVATE, 593, NULL`.
#[inline]
pub(crate) fn futex(args: &[u8]) -> Option<(u64, &[u8], &[u8])> {
    let digits = args.strip_prefix(b"0x")?;
    let (address, used) = hex_digits(digits)?;
    let behind = &digits[used..];
    let behind = match behind.strip_prefix(b", ") {
        Some(behind) => behind,
        None => &behind[memchr::memchr(b',', behind)? + 1..],
    };
    let operation = behind.trim_ascii_start();
    let end = memchr::memchr(b',', operation).unwrap_or(operation.len());
    let rest = operation.get(end + 1..).unwrap_or_default().trim_ascii_start();
    Some((address, &operation[..end], rest))
}
