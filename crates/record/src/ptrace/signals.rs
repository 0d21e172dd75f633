//! Signals in the words of the field: their names, and siginfo as strace prints it.

use super::event::RawSignal;
use std::fmt::Write;

/// Names of the signals 1 to 31 on x86, arm, risc-v and s390 (`include/uapi/asm-generic/signal.h`).
const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
    "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// The name of a signal as strace prints it: `SIGPIPE`, `SIGRT_3`.
pub fn signal_name(signal: i32) -> String {
    match usize::try_from(signal - 1).ok().and_then(|index| NAMES.get(index)) {
        Some(name) => format!("SIG{name}"),
        // The kernel's first realtime signal is 32, whatever libc keeps for itself.
        None if (32..=64).contains(&signal) => format!("SIGRT_{}", signal - 32),
        None => signal.to_string(),
    }
}

impl RawSignal {
    /// Siginfo as strace prints it: `{si_signo=SIGUSR1, si_code=SI_USER, si_pid=10, si_uid=0}`.
    pub fn info(&self) -> String {
        let mut text = format!("{{si_signo={}, si_code={}", signal_name(self.signal), self.code_name());
        // Writing to a string cannot fail.
        if let Some((pid, uid)) = self.sender {
            let _ = write!(text, ", si_pid={pid}, si_uid={uid}");
        }
        if let Some(address) = self.address {
            match address {
                0 => text.push_str(", si_addr=NULL"),
                address => {
                    let _ = write!(text, ", si_addr={address:#x}");
                }
            }
        }
        text.push('}');
        text
    }

    fn code_name(&self) -> String {
        let name = match (self.signal, self.code) {
            (_, libc::SI_USER) => "SI_USER",
            (_, libc::SI_KERNEL) => "SI_KERNEL",
            (_, libc::SI_QUEUE) => "SI_QUEUE",
            (_, libc::SI_TIMER) => "SI_TIMER",
            (_, libc::SI_MESGQ) => "SI_MESGQ",
            (_, libc::SI_ASYNCIO) => "SI_ASYNCIO",
            (_, libc::SI_SIGIO) => "SI_SIGIO",
            (_, libc::SI_TKILL) => "SI_TKILL",
            (libc::SIGCHLD, libc::CLD_EXITED) => "CLD_EXITED",
            (libc::SIGCHLD, libc::CLD_KILLED) => "CLD_KILLED",
            (libc::SIGCHLD, libc::CLD_DUMPED) => "CLD_DUMPED",
            (libc::SIGCHLD, libc::CLD_STOPPED) => "CLD_STOPPED",
            (libc::SIGCHLD, libc::CLD_CONTINUED) => "CLD_CONTINUED",
            (libc::SIGSEGV, 1) => "SEGV_MAPERR",
            (libc::SIGSEGV, 2) => "SEGV_ACCERR",
            (libc::SIGBUS, 1) => "BUS_ADRALN",
            (libc::SIGBUS, 2) => "BUS_ADRERR",
            (libc::SIGFPE, 1) => "FPE_INTDIV",
            (_, code) => return code.to_string(),
        };
        name.to_string()
    }
}

/// What the kernel tells of a signal.
pub(super) fn from_siginfo(ts: u64, pid: u32, tid: u32, info: &libc::siginfo_t) -> RawSignal {
    let (signal, code) = (info.si_signo, info.si_code);
    let by_process =
        matches!(code, libc::SI_USER | libc::SI_QUEUE | libc::SI_TKILL) || signal == libc::SIGCHLD;
    let fault = matches!(signal, libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE);
    // SAFETY: pid and uid are filled in for signals that a process sent and for SIGCHLD (sigaction(2)).
    let sender = by_process.then(|| unsafe { (info.si_pid() as u32, info.si_uid()) });
    // SAFETY: the address is filled in for these signals where the kernel raised them (a positive code).
    let address = (fault && code > 0).then(|| unsafe { info.si_addr() } as u64);
    RawSignal { ts, pid, tid, signal, code, sender, address }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_straces_names() {
        assert_eq!(signal_name(libc::SIGPIPE), "SIGPIPE");
        assert_eq!(signal_name(libc::SIGSYS), "SIGSYS");
        assert_eq!(signal_name(34), "SIGRT_2");
        assert_eq!(signal_name(0), "0");
    }

    #[test]
    fn siginfo_reads_as_in_strace() {
        let mut signal = RawSignal {
            ts: 0,
            pid: 1,
            tid: 1,
            signal: libc::SIGUSR1,
            code: libc::SI_USER,
            sender: Some((10, 0)),
            address: None,
        };
        assert_eq!(signal.info(), "{si_signo=SIGUSR1, si_code=SI_USER, si_pid=10, si_uid=0}");
        signal = RawSignal { signal: libc::SIGSEGV, code: 1, sender: None, address: Some(0), ..signal };
        assert_eq!(signal.info(), "{si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=NULL}");
    }
}
