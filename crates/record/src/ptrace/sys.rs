//! The kernel's calls that tracing is made of, each safe to call and with its error as the kernel gives it.

use std::io;

/// Set in the stop signal of a syscall stop (`PTRACE_O_TRACESYSGOOD`, ptrace(2)).
pub(super) const SYSCALL_STOP: i32 = libc::SIGTRAP | 0x80;
/// `PTRACE_EVENT_STOP` of `include/uapi/linux/ptrace.h`; libc lacks it for glibc.
pub(super) const EVENT_STOP: i32 = 128;
/// `AUDIT_ARCH_I386` of `include/uapi/linux/audit.h`: little-endian `EM_386`.
const AUDIT_ARCH_I386: u32 = 0x4000_0003;
/// `AUDIT_ARCH_X86_64`: 64-bit, little-endian `EM_X86_64`.
pub(super) const AUDIT_ARCH_X86_64: u32 = 0xC000_003E;
/// `AUDIT_ARCH_ARM`: little-endian `EM_ARM`.
const AUDIT_ARCH_ARM: u32 = 0x4000_0028;
/// `__X32_SYSCALL_BIT` of `arch/x86/include/uapi/asm/unistd.h`.
pub(super) const X32_BIT: u64 = 0x4000_0000;

/// What `wait4` told of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    /// It ended with this status.
    Exited(i32),
    /// This signal killed it.
    Killed(i32),
    /// It stands still: the stop signal, and the `PTRACE_EVENT_…` or 0.
    Stopped { signal: i32, event: i32 },
}

/// How a stopped thread goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Resume {
    /// Up to the next entry of a call or return from one.
    ToSyscall,
    /// Without stops at calls.
    Freely,
}

/// What a thread does in a syscall stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SyscallStop {
    /// It enters a call.
    Entry { nr: u64, args: [u64; 6], compat: bool },
    /// It returns from one: a value, or `-errno`.
    Exit { ret: i64 },
    /// Neither.
    Other,
}

/// Nanoseconds of `CLOCK_MONOTONIC`.
pub(super) fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn request(request: libc::c_uint, tid: u32, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: the requests made through here take plain numbers, not pointers into our memory.
    let result = unsafe { libc::ptrace(request, tid as libc::pid_t, address, data) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Begins to trace `tid` without stopping it.
pub(super) fn seize(tid: u32, options: i32) -> io::Result<()> {
    request(libc::PTRACE_SEIZE, tid, 0, options as usize)
}

/// Stops a traced thread soon; `wait` tells when.
pub(super) fn interrupt(tid: u32) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT, tid, 0, 0)
}

/// Leaves a thread in its group stop, and hears when that ends.
pub(super) fn listen(tid: u32) -> io::Result<()> {
    request(libc::PTRACE_LISTEN, tid, 0, 0)
}

/// Lets a stopped thread go on, with a signal to deliver or 0.
pub(super) fn resume(tid: u32, how: Resume, signal: i32) -> io::Result<()> {
    let way = match how {
        Resume::ToSyscall => libc::PTRACE_SYSCALL,
        Resume::Freely => libc::PTRACE_CONT,
    };
    request(way, tid, 0, signal as usize)
}

/// Ends the tracing of a stopped thread, with a signal to deliver or 0.
pub(super) fn detach(tid: u32, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_DETACH, tid, 0, signal as usize)
}

/// The number that comes with an event: the new thread of a fork, the former tid of an exec.
pub(super) fn event_message(tid: u32) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: the kernel writes one unsigned long to `message`, which lives until the call is back.
    let result =
        unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, tid as libc::pid_t, 0usize, &raw mut message) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(message) }
}

/// The signal that a thread is about to get.
pub(super) fn siginfo(tid: u32) -> io::Result<libc::siginfo_t> {
    // SAFETY: siginfo_t is plain numbers; all zero is a value of it.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one siginfo_t to `info`, which lives until the call is back.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETSIGINFO, tid as libc::pid_t, 0usize, &raw mut info) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(info) }
}

/// Of a thread in a syscall stop: which call, or what it returned (`PTRACE_GET_SYSCALL_INFO`, since Linux 5.3).
pub(super) fn syscall_stop(tid: u32) -> io::Result<SyscallStop> {
    // SAFETY: the struct is plain numbers; all zero is a value of it.
    let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
    let size = size_of::<libc::ptrace_syscall_info>();
    // SAFETY: the kernel writes at most `size` bytes to `info`, which lives until the call is back.
    let result =
        unsafe { libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, tid as libc::pid_t, size, &raw mut info) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(match info.op {
        // SAFETY: `op` says that the entry arm is filled in; the seccomp arm begins with the same fields.
        libc::PTRACE_SYSCALL_INFO_ENTRY | libc::PTRACE_SYSCALL_INFO_SECCOMP => unsafe {
            let nr = info.u.entry.nr;
            let x32 = info.arch == AUDIT_ARCH_X86_64 && nr & X32_BIT != 0 && nr <= u32::MAX as u64;
            SyscallStop::Entry { nr, args: info.u.entry.args, compat: is_compat(info.arch) || x32 }
        },
        // SAFETY: `op` says that the exit arm is filled in.
        libc::PTRACE_SYSCALL_INFO_EXIT => SyscallStop::Exit { ret: unsafe { info.u.exit.sval } },
        _ => SyscallStop::Other,
    })
}

fn is_compat(arch: u32) -> bool {
    cfg!(target_pointer_width = "64") && matches!(arch, AUDIT_ARCH_I386 | AUDIT_ARCH_ARM)
}

/// The next thing that happened to a thread traced or started by the calling thread (and by no other thread of this
/// process). `None` where nothing did: at once with `block` false, else after a signal.
pub(super) fn wait(block: bool) -> io::Result<Option<(u32, Status)>> {
    let mut status = 0;
    let flags = libc::__WALL | libc::__WNOTHREAD | if block { 0 } else { libc::WNOHANG };
    // SAFETY: the kernel writes one int to `status`, which lives until the call is back.
    let pid = unsafe { libc::waitpid(-1, &mut status, flags) };
    match pid {
        0 => Ok(None),
        pid if pid > 0 => Ok(Some((pid as u32, decode_status(status)))),
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            error => Err(error),
        },
    }
}

fn decode_status(status: i32) -> Status {
    if libc::WIFEXITED(status) {
        Status::Exited(libc::WEXITSTATUS(status))
    } else if libc::WIFSIGNALED(status) {
        Status::Killed(libc::WTERMSIG(status))
    } else {
        Status::Stopped { signal: libc::WSTOPSIG(status), event: status >> 16 }
    }
}

/// Bytes of a page, the unit in which memory is there or not.
pub(super) const PAGE: u64 = 4096;

/// Reads the memory of process `pid` at `address` into `into`: how many bytes, from the start, could be read.
pub(super) fn read_memory(pid: u32, address: u64, into: &mut [u8]) -> usize {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // One part a page: the kernel stops at the first part that it cannot read and keeps those before.
    let mut parts = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; 18];
    let (mut at, mut left, mut count) = (address, into.len() as u64, 0);
    while left > 0 && count < parts.len() {
        let Some(next_page) = (at | (PAGE - 1)).checked_add(1) else { break };
        let length = left.min(next_page - at);
        parts[count] = libc::iovec { iov_base: at as *mut libc::c_void, iov_len: length as usize };
        (at, left, count) = (at + length, left - length, count + 1);
    }
    if count == 0 {
        return 0;
    }
    // SAFETY: `local` is all of `into`, which lives until the call is back; the remote parts are addresses in another
    // process, which the kernel checks.
    let read = unsafe {
        libc::process_vm_readv(pid as libc::pid_t, &local, 1, parts.as_ptr(), count as libc::c_ulong, 0)
    };
    read.max(0) as usize
}
