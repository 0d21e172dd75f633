//! Processes and threads: clone, wait, limits, capabilities, prctl; figures of the machine.

use super::constants as c;
use super::files::field;
use super::printer::{Printer, constant_or_number, u16_at, u32_at, u64_at};
use super::put::Put;
use super::{signals, times};

// include/uapi/linux/sched.h
const CLONE_PIDFD: u64 = 0x1000;
const CLONE_SETTLS: u64 = 0x8_0000;
const CLONE_PARENT_SETTID: u64 = 0x10_0000;
const CLONE_CHILD_CLEARTID: u64 = 0x20_0000;
const CLONE_CHILD_SETTID: u64 = 0x100_0000;
/// `CSIGNAL`: the signal at the end of the child.
const SIGNAL: u64 = 0xff;

/// `child_stack=0x7f…, flags=CLONE_VM|…|SIGCHLD, parent_tid=[42], tls=0x7f…, child_tidptr=0x7f…`
pub(super) fn clone(p: &mut Printer<'_>) {
    let [flags, stack, parent_tid, child_tid, tls, _] = p.call.args;
    p.out.put("child_stack=");
    p.out.pointer(stack);
    p.out.put(", flags=");
    let signal = flags & SIGNAL;
    if flags & !SIGNAL != 0 || signal == 0 {
        c::CLONE.flags(flags & !SIGNAL, p.out);
    }
    if signal != 0 {
        p.out.put(if flags & !SIGNAL != 0 { "|" } else { "" });
        signals::signal(signal as u32, p.out);
    }
    if flags & (CLONE_PARENT_SETTID | CLONE_PIDFD) != 0 {
        p.out.put(", parent_tid=");
        // The kernel writes there what it returns.
        match p.returned().filter(|tid| flags & CLONE_PARENT_SETTID != 0 && *tid > 0) {
            Some(tid) => in_brackets(tid, p.out),
            None => p.out.pointer(parent_tid),
        }
    }
    if flags & CLONE_SETTLS != 0 {
        p.out.put(", tls=");
        p.out.pointer(tls);
    }
    if flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID) != 0 {
        p.out.put(", child_tidptr=");
        p.out.pointer(child_tid);
    }
}

fn in_brackets(number: u64, out: &mut Vec<u8>) {
    out.put("[");
    out.unsigned(number);
    out.put("]");
}

/// `{flags=CLONE_VM|…, child_tid=0x7f…, …} => {parent_tid=[42]}`: `struct clone_args`, a `u64` each.
pub(super) fn clone_arguments(p: &mut Printer<'_>, n: usize) {
    let Some(bytes) = p.first(n).filter(|bytes| bytes.len() >= 64) else {
        return p.address(n);
    };
    let word = |k: usize| u64_at(bytes, 8 * k).unwrap_or(0);
    let flags = word(0);
    p.out.put("{flags=");
    c::CLONE.flags(flags, p.out);
    if flags & CLONE_PIDFD != 0 {
        p.out.put(", pidfd=");
        p.out.pointer(word(1));
    }
    if flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID) != 0 {
        p.out.put(", child_tid=");
        p.out.pointer(word(2));
    }
    if flags & CLONE_PARENT_SETTID != 0 {
        p.out.put(", parent_tid=");
        p.out.pointer(word(3));
    }
    p.out.put(", exit_signal=");
    signals::signal(word(4) as u32, p.out);
    p.out.put(", stack=");
    p.out.pointer(word(5));
    p.out.put(", stack_size=");
    p.out.hex(word(6));
    if flags & CLONE_SETTLS != 0 {
        p.out.put(", tls=");
        p.out.pointer(word(7));
    }
    p.out.put("}");
    let made = p.returned().filter(|tid| flags & CLONE_PARENT_SETTID != 0 && *tid > 0);
    if let Some(tid) = made {
        p.out.put(" => {parent_tid=");
        in_brackets(tid, p.out);
        p.out.put("}");
    }
}

/// `[{WIFEXITED(s) && WEXITSTATUS(s) == 0}]`: there where a child was found.
pub(super) fn wait_status(p: &mut Printer<'_>, n: usize) {
    let found = p.returned().is_some_and(|pid| pid > 0);
    let Some(status) = p.first(n).filter(|_| found).and_then(|bytes| u32_at(bytes, 0)) else {
        return p.address(n);
    };
    let out = &mut *p.out;
    out.put("[{");
    let (low, high) = (status & 0x7f, status >> 8 & 0xff);
    if low == 0 {
        out.put("WIFEXITED(s) && WEXITSTATUS(s) == ");
        out.unsigned(high as u64);
    } else if status & 0xff == 0x7f {
        out.put("WIFSTOPPED(s) && WSTOPSIG(s) == ");
        signals::signal(high & 0x7f, out);
        if high & 0x80 != 0 {
            out.put(" | 0x80");
        }
    } else if status == 0xffff {
        out.put("WIFCONTINUED(s)");
    } else {
        out.put("WIFSIGNALED(s) && WTERMSIG(s) == ");
        signals::signal(low, out);
        out.put(if status & 0x80 != 0 { " && WCOREDUMP(s)" } else { "" });
    }
    out.put("}]");
}

/// `{ru_utime={tv_sec=0, tv_usec=771}, ru_stime={…}, ...}`
pub(super) fn usage(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.put("{ru_utime=");
    times::timeval(bytes, out)?;
    out.put(", ru_stime=");
    times::timeval(bytes.get(16..)?, out)?;
    out.put(", ...}");
    Some(())
}

/// `{rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}`
pub(super) fn limits(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.put("{rlim_cur=");
    limit(u64_at(bytes, 0)?, out);
    out.put(", rlim_max=");
    limit(u64_at(bytes, 8)?, out);
    out.put("}");
    Some(())
}

fn limit(value: u64, out: &mut Vec<u8>) {
    match value {
        u64::MAX => out.put("RLIM64_INFINITY"),
        value if value > 1024 && value % 1024 == 0 => {
            out.unsigned(value / 1024);
            out.put("*1024");
        }
        value => out.unsigned(value),
    }
}

/// `[0 1]`
pub(super) fn cpu_set(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut first = true;
    out.put("[");
    for cpu in (0..bytes.len() * 8).filter(|cpu| bytes[cpu / 8] >> (cpu % 8) & 1 != 0) {
        out.put(if first { "" } else { " " });
        first = false;
        out.unsigned(cpu as u64);
    }
    out.put("]");
    Some(())
}

/// `[50]`
pub(super) fn scheduling_param(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.put("[");
    out.signed(u32_at(bytes, 0)? as i32 as i64);
    out.put("]");
    Some(())
}

/// `[0, 4, 24]`
pub(super) fn groups(p: &mut Printer<'_>, n: usize) {
    let asked_only = p.call.args[0] as u32 == 0;
    match p.part(n, 0) {
        Some(piece) => {
            p.out.put("[");
            for (k, group) in piece.bytes.chunks_exact(4).enumerate() {
                p.out.put(if k > 0 { ", " } else { "" });
                p.out.unsigned(u32_at(group, 0).unwrap_or(0) as u64);
            }
            p.out.put(if piece.cut { ", ...]" } else { "]" });
        }
        None if p.call.ret == 0 && p.call.args[n] != 0 && !asked_only => p.out.put("[]"),
        None => p.address(n),
    }
}

/// `{sysname="Linux", nodename="db1", ...}`: the first two of 65 bytes each.
pub(super) fn uname(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    for (name, at) in [("{sysname=", 0), (", nodename=", 65)] {
        let text = bytes.get(at..at + 65)?;
        out.put(name);
        out.quoted(&text[..memchr::memchr(0, text).unwrap_or(65)], false);
    }
    out.put(", ...}");
    Some(())
}

/// `struct sysinfo` (`include/uapi/linux/sysinfo.h`).
pub(super) fn sysinfo(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let word = |k: usize| u64_at(bytes, 8 * k);
    out.put("{uptime=");
    out.unsigned(word(0)?);
    out.put(", loads=[");
    for k in 1..4 {
        out.put(if k > 1 { ", " } else { "" });
        out.unsigned(word(k)?);
    }
    out.put("]");
    for (k, name) in
        ["totalram", "freeram", "sharedram", "bufferram", "totalswap", "freeswap"].iter().enumerate()
    {
        field(name, word(4 + k)?, out);
    }
    field("procs", u16_at(bytes, 80)? as u64, out);
    field("totalhigh", word(11)?, out);
    field("freehigh", word(12)?, out);
    field("mem_unit", u32_at(bytes, 104)? as u64, out);
    out.put("}");
    Some(())
}

/// `struct tms`: ticks of a hundredth of a second.
pub(super) fn cpu_times(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    for (k, name) in ["{tms_utime=", ", tms_stime=", ", tms_cutime=", ", tms_cstime="].iter().enumerate() {
        let ticks = u64_at(bytes, 8 * k)?;
        out.put(name);
        out.unsigned(ticks);
        out.put(" /* ");
        out.unsigned(ticks / 100);
        out.put(if ticks % 100 < 10 { ".0" } else { "." });
        out.unsigned(ticks % 100);
        out.put(" s */");
    }
    out.put("}");
    Some(())
}

/// `{version=_LINUX_CAPABILITY_VERSION_3, pid=0}`
pub(super) fn capability_header(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.put("{version=");
    match u32_at(bytes, 0)? {
        0x1998_0330 => out.put("_LINUX_CAPABILITY_VERSION_1"),
        0x2007_1026 => out.put("_LINUX_CAPABILITY_VERSION_2"),
        0x2008_0522 => out.put("_LINUX_CAPABILITY_VERSION_3"),
        other => {
            out.hex(other as u64);
            out.put(" /* _LINUX_CAPABILITY_VERSION_??? */");
        }
    }
    out.put(", pid=");
    out.signed(u32_at(bytes, 4)? as i32 as i64);
    out.put("}");
    Some(())
}

/// Effective, permitted and inheritable capabilities: three words of the low bits, three of the high.
pub(super) fn capability_data(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    for (k, name) in ["{effective=", ", permitted=", ", inheritable="].iter().enumerate() {
        out.put(name);
        let bits = u32_at(bytes, 4 * k)? as u64 | (u32_at(bytes, 12 + 4 * k)? as u64) << 32;
        let mut first = true;
        for bit in (0..64).filter(|bit| bits >> bit & 1 != 0) {
            out.put(if first { "1<<" } else { "|1<<" });
            first = false;
            match c::CAPABILITY.name(bit) {
                Some(name) => out.put(name),
                None => out.unsigned(bit),
            }
        }
        out.put(if first { "0" } else { "" });
    }
    out.put("}");
    Some(())
}

/// The second argument of `prctl`, for the options that are common; nothing for those that have none.
pub(super) fn prctl_argument(p: &mut Printer<'_>, n: usize) {
    let value = p.call.args[n];
    match c::PRCTL.name(p.call.args[0] as u32 as u64).unwrap_or("") {
        "PR_SET_NAME" => p.text(n),
        "PR_GET_NAME" if p.succeeded() => p.text(n),
        "PR_GET_DUMPABLE"
        | "PR_GET_TIMERSLACK"
        | "PR_GET_SECCOMP"
        | "PR_GET_KEEPCAPS"
        | "PR_GET_SECUREBITS"
        | "PR_TASK_PERF_EVENTS_DISABLE"
        | "PR_TASK_PERF_EVENTS_ENABLE" => {}
        "PR_SET_PDEATHSIG" => signals::signal(value as u32, p.out),
        "PR_CAPBSET_READ" | "PR_CAPBSET_DROP" => constant_or_number(&c::CAPABILITY, value as u32, p.out),
        "PR_SET_DUMPABLE" => match value {
            0 => p.out.put("SUID_DUMP_DISABLE"),
            1 => p.out.put("SUID_DUMP_USER"),
            2 => p.out.put("SUID_DUMP_ROOT"),
            value => p.out.hex(value),
        },
        "PR_SET_NO_NEW_PRIVS"
        | "PR_GET_NO_NEW_PRIVS"
        | "PR_SET_CHILD_SUBREAPER"
        | "PR_SET_TIMERSLACK"
        | "PR_SET_KEEPCAPS"
        | "PR_SET_THP_DISABLE"
        | "PR_GET_THP_DISABLE"
        | "PR_SET_SECUREBITS" => {
            p.out.unsigned(value);
        }
        _ => p.out.hex(value),
    }
}

/// The other arguments of `prctl`: the common options have none, or zeros.
pub(super) fn prctl_rest(p: &mut Printer<'_>, n: usize) {
    let value = p.call.args[n];
    match c::PRCTL.name(p.call.args[0] as u32 as u64).unwrap_or("") {
        "PR_SET_NO_NEW_PRIVS" | "PR_GET_NO_NEW_PRIVS" | "PR_SET_THP_DISABLE" | "PR_GET_THP_DISABLE" => {
            p.out.unsigned(value);
        }
        "PR_SET_MM" | "PR_CAP_AMBIENT" | "PR_SET_VMA" | "PR_SCHED_CORE" | "PR_SET_SECCOMP" | "" => {
            p.out.hex(value)
        }
        _ => {}
    }
}

/// `3 /* SYSLOG_ACTION_READ_ALL */`
pub(super) fn syslog_action(action: u32, out: &mut Vec<u8>) {
    // include/linux/syslog.h
    const ACTIONS: [&str; 11] = [
        "CLOSE",
        "OPEN",
        "READ",
        "READ_ALL",
        "READ_CLEAR",
        "CLEAR",
        "CONSOLE_OFF",
        "CONSOLE_ON",
        "CONSOLE_LEVEL",
        "SIZE_UNREAD",
        "SIZE_BUFFER",
    ];
    out.signed(action as i32 as i64);
    out.put(" /* SYSLOG_ACTION_");
    out.put(ACTIONS.get(action as usize).copied().unwrap_or("???"));
    out.put(" */");
}
