//! Calls that wait: poll, select, epoll, futex, semaphores; io_uring.

use super::constants as c;
use super::printer::{Printer, u16_at, u32_at, u64_at};
use super::put::Put;
use super::times;
use crate::raw::{RawCall, pieces};

/// Bytes of `struct pollfd` and of the packed `struct epoll_event` of x86-64.
const POLL_FD: usize = 8;
const EPOLL_EVENT: usize = 12;

/// `[{fd=5, events=POLLIN}]` among the arguments, `([{fd=5, revents=POLLIN}])` behind the result.
pub(super) fn poll_fds(p: &mut Printer<'_>, n: usize) {
    let count = p.call.args[n + 1] as u32 as u64;
    let Some(bytes) = p.first(n) else {
        if count == 0 && p.call.args[n] != 0 {
            return p.out.put("[]");
        }
        return p.address(n);
    };
    let limit = p.options.string_limit;
    let ready = p.returned().is_some_and(|ret| ret > 0);
    let (mut asked, mut found) = (0, 0u64);
    p.out.put("[");
    for entry in bytes.chunks_exact(POLL_FD) {
        let (Some(fd), Some(events), Some(revents)) = (u32_at(entry, 0), u16_at(entry, 4), u16_at(entry, 6))
        else {
            break;
        };
        if asked == limit {
            break;
        }
        asked += 1;
        p.out.put(if asked > 1 { ", {fd=" } else { "{fd=" });
        p.fd(fd as i32);
        if fd as i32 >= 0 {
            p.out.put(", events=");
            c::POLL.flags(events as u64, p.out);
        }
        p.out.put("}");
        if ready && revents != 0 {
            p.note.put(if found > 0 { ", {fd=" } else { "([{fd=" });
            found += 1;
            p.note.signed(fd as i32 as i64);
            super::fd_name(p.names, p.options, p.call.pid, fd as i32, p.note);
            p.note.put(", revents=");
            c::POLL.flags(revents as u64, p.note);
            p.note.put("}");
        }
    }
    let cut = (asked as u64) < count;
    p.out.put(if cut { ", ...]" } else { "]" });
    if found > 0 {
        let more = cut && p.returned().is_some_and(|ret| ret > found);
        p.note.put(if more { ", ...]" } else { "]" });
    }
}

/// `[3 5]` of a set of descriptors; what was found in it behind the result: `(in [3])`.
pub(super) fn fd_set(p: &mut Printer<'_>, n: usize) {
    let bits = (p.call.args[0] as i32).max(0) as usize;
    let Some(asked) = p.first(n) else {
        return p.address(n);
    };
    set_bits(p, asked, bits, false);
    let Some(found) = p.last(n).filter(|_| p.returned().is_some_and(|ret| ret > 0)) else {
        return;
    };
    if found.iter().take(bits.div_ceil(8)).all(|byte| *byte == 0) {
        return;
    }
    p.note.put(if p.note.is_empty() { "(" } else { ", " });
    p.note.put(["in ", "out ", "except "][(n - 1).min(2)]);
    set_bits(p, found, bits, true);
}

fn set_bits(p: &mut Printer<'_>, set: &[u8], bits: usize, into_note: bool) {
    let mut first = true;
    let (names, options, pid) = (p.names, p.options, p.call.pid);
    let out = if into_note { &mut *p.note } else { &mut *p.out };
    out.put("[");
    for fd in (0..bits.min(set.len() * 8)).filter(|fd| set[fd / 8] >> (fd % 8) & 1 != 0) {
        out.put(if first { "" } else { " " });
        first = false;
        out.unsigned(fd as u64);
        super::fd_name(names, options, pid, fd as i32, out);
    }
    out.put("]");
}

/// `{events=EPOLLIN, data={u32=5, u64=5}}`
fn epoll_event(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (events, data) = (u32_at(bytes, 0)?, u64_at(bytes, 4)?);
    out.put("{events=");
    c::EPOLL.flags(events as u64, out);
    out.put(", data={u32=");
    out.unsigned(data as u32 as u64);
    out.put(", u64=");
    out.unsigned(data);
    out.put("}}");
    Some(())
}

/// The event of `epoll_ctl`: not looked at where the descriptor is taken out.
pub(super) fn epoll_event_argument(p: &mut Printer<'_>, n: usize) {
    match p.call.args[1] as i32 {
        libc::EPOLL_CTL_DEL => p.address(n),
        _ => p.structure(n, epoll_event),
    }
}

/// The events that `epoll_wait` found.
pub(super) fn epoll_events(p: &mut Printer<'_>, n: usize) {
    let found = match p.returned() {
        Some(0) => return p.out.put("[]"),
        Some(found) => found,
        None => return p.address(n),
    };
    let Some(bytes) = p.first(n) else {
        return p.address(n);
    };
    let mut shown = 0;
    p.out.put("[");
    for event in bytes.chunks_exact(EPOLL_EVENT).take(p.options.string_limit) {
        p.out.put(if shown > 0 { ", " } else { "" });
        shown += 1;
        // A chunk has the size of an event.
        let _ = epoll_event(event, p.out);
    }
    p.out.put(if shown < found { ", ...]" } else { "]" });
}

// include/uapi/linux/futex.h
const WAIT: u64 = 0;
const WAKE: u64 = 1;
const REQUEUE: u64 = 3;
const CMP_REQUEUE: u64 = 4;
const WAKE_OP: u64 = 5;
const LOCK_PI: u64 = 6;
const UNLOCK_PI: u64 = 7;
const TRYLOCK_PI: u64 = 8;
const WAIT_BITSET: u64 = 9;
const WAKE_BITSET: u64 = 10;
const WAIT_REQUEUE_PI: u64 = 11;
const CMP_REQUEUE_PI: u64 = 12;
const LOCK_PI2: u64 = 13;
/// Without `FUTEX_PRIVATE_FLAG` and `FUTEX_CLOCK_REALTIME`.
const COMMAND: u64 = 0x7f;

/// What follows the operation: printed whole with the first of the arguments, nothing with the others.
pub(super) fn futex_rest(p: &mut Printer<'_>, n: usize) {
    if n != 2 {
        return;
    }
    let [_, operation, value, second, address, third] = p.call.args;
    let command = operation & COMMAND;
    match command {
        UNLOCK_PI | TRYLOCK_PI => return,
        LOCK_PI | LOCK_PI2 => return p.structure(3, times::timespec),
        _ => p.out.unsigned(value as u32 as u64),
    }
    if matches!(command, WAKE) {
        return;
    }
    p.out.put(", ");
    match command {
        WAIT => p.structure(3, times::timespec),
        WAIT_BITSET => {
            p.structure(3, times::timespec);
            p.out.put(", ");
            bitset(third as u32, p.out);
        }
        WAKE_BITSET => bitset(third as u32, p.out),
        REQUEUE | CMP_REQUEUE | CMP_REQUEUE_PI | WAKE_OP => {
            p.out.unsigned(second as u32 as u64);
            p.out.put(", ");
            p.out.pointer(address);
            match command {
                REQUEUE => {}
                WAKE_OP => wake_operation(third as u32, p.out),
                _ => {
                    p.out.put(", ");
                    p.out.unsigned(third as u32 as u64);
                }
            }
        }
        WAIT_REQUEUE_PI => {
            p.structure(3, times::timespec);
            p.out.put(", ");
            p.out.pointer(address);
        }
        _ => {
            p.structure(3, times::timespec);
            p.out.put(", ");
            p.out.pointer(address);
            p.out.put(", ");
            p.out.hex(third as u32 as u64);
        }
    }
}

fn bitset(bits: u32, out: &mut Vec<u8>) {
    match bits {
        u32::MAX => out.put("FUTEX_BITSET_MATCH_ANY"),
        bits => out.hex(bits as u64),
    }
}

/// What `FUTEX_WAKE_OP` does and compares (`FUTEX_OP` of the header).
fn wake_operation(code: u32, out: &mut Vec<u8>) {
    out.put(", ");
    if code >> 31 != 0 {
        out.put("FUTEX_OP_OPARG_SHIFT<<28|");
    }
    shifted(&c::FUTEX_OP, code >> 28 & 7, 28, out);
    out.put("|");
    out.hex((code >> 12 & 0xfff) as u64);
    out.put("<<12|");
    shifted(&c::FUTEX_COMPARE, code >> 24 & 15, 24, out);
    out.put("|");
    out.hex((code & 0xfff) as u64);
}

fn shifted(table: &c::ValueTable, value: u32, by: u64, out: &mut Vec<u8>) {
    match table.name(value as u64) {
        Some(name) => {
            out.put(name);
            out.put("<<");
            out.unsigned(by);
        }
        None => {
            out.hex(value as u64);
            out.put("<<");
            out.unsigned(by);
            out.put(" /* ");
            out.put(table.unknown);
            out.put(" */");
        }
    }
}

/// Who held the lock that a futex call waits for: glibc's `pthread_mutex_t` has the lock word first (2: held and wanted)
/// and the owner's thread behind the count, at 8. A priority-inheriting lock has the owner in the word itself.
pub(super) fn futex_owner(call: &RawCall<'_>) -> Option<u32> {
    const OWNER_BITS: u32 = 0x3fff_ffff;
    /// `PID_MAX_LIMIT` of `include/linux/threads.h`.
    const MAX_TID: u32 = 4 * 1024 * 1024;
    let command = call.args[1] & COMMAND;
    let word = pieces(call.memory).find(|piece| piece.arg == 0 && !piece.fault)?.bytes;
    let owner = match command {
        LOCK_PI | LOCK_PI2 => u32_at(word, 0)? & OWNER_BITS,
        WAIT | WAIT_BITSET if u32_at(word, 0)? == 2 && call.args[2] as u32 == 2 => u32_at(word, 8)?,
        _ => return None,
    };
    (1..=MAX_TID).contains(&owner).then_some(owner)
}

/// `[{sem_num=0, sem_op=-1, sem_flg=SEM_UNDO}]`
pub(super) fn semaphore_operations(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.put("[");
    for (k, operation) in bytes.chunks_exact(6).enumerate() {
        out.put(if k > 0 { ", {sem_num=" } else { "{sem_num=" });
        out.unsigned(u16_at(operation, 0)? as u64);
        out.put(", sem_op=");
        out.signed(u16_at(operation, 2)? as i16 as i64);
        out.put(", sem_flg=");
        c::SEMOP.flags(u16_at(operation, 4)? as u64, out);
        out.put("}");
    }
    out.put("]");
    Some(())
}

/// The first of `struct io_uring_params`.
pub(super) fn uring_params(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.put("{flags=");
    out.hex(u32_at(bytes, 8)? as u64);
    for (name, at) in [("sq_thread_cpu", 12), ("sq_thread_idle", 16), ("sq_entries", 0), ("cq_entries", 4)] {
        super::files::field(name, u32_at(bytes, at)? as u64, out);
    }
    out.put(", features=");
    out.hex(u32_at(bytes, 20)? as u64);
    out.put(", ...}");
    Some(())
}
