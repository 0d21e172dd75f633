//! Signals: their names, sets, actions.

use super::constants as c;
use super::printer::{constant_or_number, u32_at, u64_at};
use super::put::Put;

/// `SIGTERM`, or the number of none.
pub(super) fn signal(number: u32, out: &mut Vec<u8>) {
    constant_or_number(&c::SIGNAL, number, out);
}

/// `[INT CHLD]`; where most are in it, those that are not: `~[KILL STOP]`.
pub(super) fn set(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let set = u64_at(bytes, 0)?;
    // strace's threshold: two thirds of all 64.
    let shown = if set.count_ones() >= 64 * 2 / 3 {
        out.put("~");
        !set
    } else {
        set
    };
    out.put("[");
    let mut first = true;
    for bit in (0..64).filter(|bit| shown >> bit & 1 != 0) {
        if !first {
            out.put(" ");
        }
        first = false;
        let name = c::SIGNAL.name(bit + 1).unwrap_or("SIG");
        out.put(name.strip_prefix("SIG").unwrap_or(name));
    }
    out.put("]");
    Some(())
}

/// `{sigmask=0x7ffc…, sigsetsize=8}`: the set is one step further away than is looked.
pub(super) fn set_pair(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.put("{sigmask=");
    out.pointer(u64_at(bytes, 0)?);
    out.put(", sigsetsize=");
    out.unsigned(u64_at(bytes, 8)?);
    out.put("}");
    Some(())
}

/// The kernel's `struct sigaction`: handler, flags, restorer, mask.
pub(super) fn action(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    // include/uapi/asm-generic/signal.h
    const SA_RESTORER: u64 = 0x0400_0000;
    let (handler, flags) = (u64_at(bytes, 0)?, u64_at(bytes, 8)?);
    out.put("{sa_handler=");
    match handler {
        0 => out.put("SIG_DFL"),
        1 => out.put("SIG_IGN"),
        u64::MAX => out.put("SIG_ERR"),
        address => out.hex(address),
    }
    out.put(", sa_mask=");
    set(bytes.get(24..)?, out)?;
    out.put(", sa_flags=");
    c::SIGACTION.flags(flags, out);
    if flags & SA_RESTORER != 0 {
        out.put(", sa_restorer=");
        out.pointer(u64_at(bytes, 16)?);
    }
    out.put("}");
    Some(())
}

/// `siginfo_t`, of a child (48 bytes) or of another signal (its sender).
pub(super) fn info(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (number, code) = (u32_at(bytes, 0)?, u32_at(bytes, 8)?);
    if number == 0 {
        out.put("{}");
        return Some(());
    }
    let is_child = number == libc::SIGCHLD as u32 && c::CHILD_CODE.name(code as u64).is_some();
    out.put("{si_signo=");
    signal(number, out);
    out.put(", si_code=");
    constant_or_number(if is_child { &c::CHILD_CODE } else { &c::SIGNAL_CODE }, code, out);
    // Senders stand in those of SI_USER, SI_QUEUE, SI_TKILL, and of children.
    if is_child || matches!(code as i32, 0 | -1 | -6) {
        out.put(", si_pid=");
        out.signed(u32_at(bytes, 16)? as i32 as i64);
        out.put(", si_uid=");
        out.unsigned(u32_at(bytes, 20)? as u64);
    }
    if is_child && bytes.len() >= 48 {
        let status = u32_at(bytes, 24)?;
        out.put(", si_status=");
        // CLD_EXITED has a status, the others a signal.
        if code == 1 {
            out.signed(status as i32 as i64)
        } else {
            signal(status, out)
        }
        out.put(", si_utime=");
        out.unsigned(u64_at(bytes, 32)?);
        out.put(", si_stime=");
        out.unsigned(u64_at(bytes, 40)?);
    }
    out.put("}");
    Some(())
}

/// `stack_t`
pub(super) fn stack(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.put("{ss_sp=");
    out.pointer(u64_at(bytes, 0)?);
    out.put(", ss_flags=");
    c::SIGSTACK.flags(u32_at(bytes, 8)? as u64, out);
    out.put(", ss_size=");
    out.unsigned(u64_at(bytes, 16)?);
    out.put("}");
    Some(())
}

/// `struct sigevent`
pub(super) fn event(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    // include/uapi/asm-generic/siginfo.h: SIGEV_SIGNAL, SIGEV_THREAD_ID
    const SIGNAL: u32 = 0;
    const THREAD_ID: u32 = 4;
    let (value, number, notify) = (u64_at(bytes, 0)?, u32_at(bytes, 8)?, u32_at(bytes, 12)?);
    out.put("{sigev_value={sival_int=");
    out.signed(value as i32 as i64);
    out.put(", sival_ptr=");
    out.pointer(value);
    out.put("}, sigev_signo=");
    if matches!(notify, SIGNAL | THREAD_ID) {
        signal(number, out)
    } else {
        out.unsigned(number as u64)
    }
    out.put(", sigev_notify=");
    c::SIGEVENT.constant(notify as u64, out);
    if notify == THREAD_ID {
        out.put(", sigev_notify_thread_id=");
        out.signed(u32_at(bytes, 16)? as i32 as i64);
    }
    out.put("}");
    Some(())
}
