//! What tells a thread that something has happened, so that it need not sleep and look.

use whyslow_facts::folds::sleeps::SleepCheck;
use whyslow_model::Syscall;

/// What tells the thread without a look.
pub(super) fn instead(check: &SleepCheck) -> &'static str {
    match check.syscall {
        Syscall::WAIT4 | Syscall::WAITID => {
            "code: waitpid without WNOHANG in a thread of its own, or pidfd_open and poll"
        }
        Syscall::KILL => "code: pidfd_open and poll: it becomes readable when the process ends",
        Syscall::CONNECT => {
            "code: start in order (systemd: Type=notify with After=, a socket unit; Kubernetes: a readiness probe), or retry with a growing pause"
        }
        syscall if syscall.info().name == "flock" || syscall == Syscall::FCNTL => {
            "code: take the lock blocking (LOCK_EX without LOCK_NB, F_SETLKW), with a timer if need be"
        }
        syscall if syscall.info().path != whyslow_model::syscall::PathArg::None => {
            "code: inotify on the directory (inotifywait -e create,moved_to in a shell): it tells at once"
        }
        _ => "code: poll or epoll on the descriptor with a timeout: it returns as soon as there is something",
    }
}
