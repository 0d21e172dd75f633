//! Takes a running process with all its threads, or says what stands in the way.

use super::error::PtraceError;
use super::launch::own_tid;
use super::sys;
use std::fs;
use std::io;

/// A thread that is traced now but was not stopped yet.
pub(super) struct Taken {
    pub(super) tid: u32,
    /// The call that it was in just before, by `/proc/PID/syscall`.
    pub(super) was_in: Option<(u16, [u64; 6])>,
}

/// What `/proc/TID/status` tells of a thread.
pub(super) struct ThreadStatus {
    /// The process.
    pub(super) pid: u32,
    /// Its parent.
    pub(super) parent: Option<u32>,
    /// The tracing thread; 0 where there is none.
    pub(super) tracer: u32,
    /// A zombie or dead.
    pub(super) ended: bool,
    kernel: bool,
}

/// Asks for a thread; `None` where it is gone.
pub(super) fn thread_status(tid: u32) -> Option<ThreadStatus> {
    let text = fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    let field =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
    let number = |name: &str| field(name)?.parse::<u32>().ok();
    let parent = number("PPid").filter(|parent| *parent != 0);
    Some(ThreadStatus {
        pid: number("Tgid")?,
        parent,
        tracer: number("TracerPid").unwrap_or(0),
        ended: field("State").is_some_and(|state| state.starts_with(['Z', 'X'])),
        // `Kthread` is there since Linux 6.9; kthreadd is process 2.
        kernel: number("Kthread") == Some(1) || tid == 2 || (parent == Some(2) && field("VmSize").is_none()),
    })
}

/// Seizes all threads of `pid`, also those that it makes meanwhile; hands each to `take` at once, so that it is let go
/// again where a later one fails.
pub(super) fn process(
    pid: u32,
    options: i32,
    is_taken: &dyn Fn(&u32) -> bool,
    take: &mut dyn FnMut(Taken),
) -> Result<(), PtraceError> {
    if pid == std::process::id() {
        return Err(PtraceError::Ourselves { pid });
    }
    let mut taken: Vec<u32> = Vec::new();
    loop {
        let before = taken.len();
        for tid in threads(pid) {
            if taken.contains(&tid) || is_taken(&tid) {
                continue;
            }
            let was_in = in_flight(pid, tid);
            match sys::seize(tid, options) {
                Ok(()) => {
                    taken.push(tid);
                    take(Taken { tid, was_in });
                }
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => refusal(pid, tid, error)?,
            }
        }
        if taken.len() == before {
            break;
        }
    }
    if taken.is_empty() && !threads(pid).iter().any(is_taken) {
        return Err(PtraceError::NoSuchProcess { pid });
    }
    Ok(())
}

fn threads(pid: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// `/proc/PID/task/TID/syscall`: `nr 0xarg … 0xsp 0xpc`, or `running`, or `-1 0xsp 0xpc` outside of a call (proc(5)).
fn in_flight(pid: u32, tid: u32) -> Option<(u16, [u64; 6])> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/syscall")).ok()?;
    let mut words = text.split_ascii_whitespace();
    let nr = words.next()?.parse().ok()?;
    let mut args = [0; 6];
    for arg in &mut args {
        *arg = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
    }
    Some((nr, args))
}

/// Why the kernel refused `tid` of `pid`; `Ok` where that is no matter: it ended, or is traced by us already.
fn refusal(pid: u32, tid: u32, error: io::Error) -> Result<(), PtraceError> {
    let Some(status) = thread_status(tid) else { return Ok(()) };
    if status.ended || status.tracer == own_tid() {
        return Ok(());
    }
    if status.tracer != 0 {
        let tracer = thread_status(status.tracer).map_or(status.tracer, |status| status.pid);
        let name = fs::read_to_string(format!("/proc/{tracer}/comm"));
        let tracer_name = name.map_or_else(|_| "unknown".to_string(), |name| name.trim_end().to_string());
        return Err(PtraceError::Traced { pid, tracer, tracer_name });
    }
    if status.kernel {
        return Err(PtraceError::KernelThread { pid });
    }
    if error.raw_os_error() != Some(libc::EPERM) {
        return Err(PtraceError::System { doing: "PTRACE_SEIZE", source: error });
    }
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    let why = match scope.as_deref().map(str::trim) {
        Ok("1") => {
            "kernel.yama.ptrace_scope is 1 (only a program's parent may trace it): run as root, or with \
             CAP_SYS_PTRACE, or `sudo sysctl kernel.yama.ptrace_scope=0`"
        }
        Ok("2") => "kernel.yama.ptrace_scope is 2: run as root or with CAP_SYS_PTRACE",
        Ok("3") => "kernel.yama.ptrace_scope is 3: nobody may trace until the next boot",
        _ => {
            "it belongs to another user or has more rights than this program: run as root or with CAP_SYS_PTRACE"
        }
    };
    Err(PtraceError::Refused { pid, why: why.to_string() })
}
