//! Calls made to wait: for descriptors, children, times, signals; locks and System V IPC.

use super::{Row, array, before, input, output, piece, returned, row};
use crate::decode::arg::Arg::*;
use crate::decode::constants::*;
use crate::spec::{KeptMemory, Size, When};

/// A set of descriptors of `select`, as it is handed over: argument 0 is their number, and a byte is more than
/// each of them takes. 128 bytes are `FD_SETSIZE`.
const fn fd_set(arg: u8) -> KeptMemory {
    piece(arg, When::Enter, Size::Arg, 0, 1, 128)
}

/// The lock word of a futex, and where glibc's `pthread_mutex_t` has the owner.
const LOCK_WORD: KeptMemory = before(0, 16);

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(7, "poll", &[PollFds, Unsigned32, Signed32]).keeps(&[array(0, 1, 8, 256)]),
    row(23, "select", &[Signed32, FdSet, FdSet, FdSet, TimevalMoved]).keeps(&[fd_set(1), fd_set(2), before(4, 16), KeptMemory { when: When::Success, ..fd_set(1) }, KeptMemory { when: When::Success, ..fd_set(2) }, output(4, 16)]),
    row(24, "sched_yield", &[]),
    row(29, "shmget", &[IpcKey, Unsigned, IpcCreate(&SHMGET)]),
    row(30, "shmat", &[Signed32, Pointer, Flags(&SHM)]),
    row(31, "shmctl", &[Signed32, Constant(&SHM_COMMAND), Pointer]),
    row(34, "pause", &[]),
    row(35, "nanosleep", &[Timespec, TimespecLeft]).keeps(&[input(0, 16), input(1, 16)]),
    row(61, "wait4", &[Signed32, WaitStatus, Flags(&WAIT), Usage]).keeps(&[output(1, 4), output(3, 32)]),
    row(64, "semget", &[IpcKey, Signed32, IpcCreate(&SEMGET)]),
    row(65, "semop", &[Signed32, SemaphoreOperations, Unsigned32]).keeps(&[array(1, 2, 6, 96)]),
    row(66, "semctl", &[Signed32, Signed32, Constant(&SEM_COMMAND), Pointer]),
    row(67, "shmdt", &[Pointer]),
    row(68, "msgget", &[IpcKey, IpcCreate(&MSGGET)]),
    row(69, "msgsnd", &[Signed32, Pointer, Unsigned, Flags(&MSGSND)]),
    row(70, "msgrcv", &[Signed32, Pointer, Unsigned, Signed, Flags(&MSGSND)]),
    row(71, "msgctl", &[Signed32, Constant(&MSG_COMMAND), Pointer]),
    row(128, "rt_sigtimedwait", &[SigSet, SigInfo, Timespec, Unsigned]).keeps(&[input(0, 8), output(1, 24), input(2, 16)]),
    row(130, "rt_sigsuspend", &[SigSet, Unsigned]).keeps(&[input(0, 8)]),
    row(202, "futex", &[Pointer, Constant(&FUTEX), FutexRest, FutexRest, FutexRest, FutexRest]).keeps(&[LOCK_WORD, input(3, 16)]),
    row(208, "io_getevents", &[Pointer, Signed, Signed, Pointer, Timespec]).keeps(&[input(4, 16)]),
    row(214, "epoll_ctl_old", &[Hex, Hex, Hex, Hex]),
    row(215, "epoll_wait_old", &[Hex, Hex, Hex, Hex]),
    row(219, "restart_syscall", &[]),
    row(220, "semtimedop", &[Signed32, SemaphoreOperations, Unsigned32, Timespec]).keeps(&[array(1, 2, 6, 96), input(3, 16)]),
    row(230, "clock_nanosleep", &[Constant(&CLOCK), Flags(&TIMER), Timespec, TimespecLeft]).keeps(&[input(2, 16), input(3, 16)]),
    row(232, "epoll_wait", &[Fd, EpollEvents, Signed32, Signed32]).keeps(&[returned(1, 12, 384)]),
    row(247, "waitid", &[Constant(&WAIT_ID_TYPE), Signed32, SigInfo, Flags(&WAIT), Usage]).keeps(&[output(2, 48), output(4, 32)]),
    row(270, "pselect6", &[Signed32, FdSet, FdSet, FdSet, TimespecMoved, SigSetPair]).keeps(&[fd_set(1), fd_set(2), before(4, 16), KeptMemory { when: When::Success, ..fd_set(1) }, KeptMemory { when: When::Success, ..fd_set(2) }, output(4, 16)]),
    row(271, "ppoll", &[PollFds, Unsigned32, TimespecMoved, SigSet, Unsigned]).keeps(&[array(0, 1, 8, 256), before(2, 16), input(3, 8), output(2, 16)]),
    row(273, "set_robust_list", &[Pointer, Unsigned]),
    row(274, "get_robust_list", &[Signed32, Pointer, Pointer]),
    row(281, "epoll_pwait", &[Fd, EpollEvents, Signed32, Signed32, SigSet, Unsigned]).keeps(&[returned(1, 12, 384), input(4, 8)]),
    row(333, "io_pgetevents", &[Pointer, Signed, Signed, Pointer, Timespec, Pointer]).keeps(&[input(4, 16)]),
    row(426, "io_uring_enter", &[Fd, Unsigned32, Unsigned32, Flags(&URING_ENTER), SigSet, Unsigned]).keeps(&[]),
    row(441, "epoll_pwait2", &[Fd, EpollEvents, Signed32, Timespec, SigSet, Unsigned]).keeps(&[returned(1, 12, 384), input(3, 16), input(4, 8)]),
    row(449, "futex_waitv", &[Pointer, Unsigned32, Hex, Timespec, Constant(&CLOCK)]).keeps(&[input(3, 16)]),
    row(454, "futex_wake", &[Pointer, Hex, Signed32, Hex]),
    row(455, "futex_wait", &[Pointer, Hex, Hex, Hex, Timespec, Constant(&CLOCK)]).keeps(&[input(4, 16)]),
    row(456, "futex_requeue", &[Pointer, Hex, Signed32, Signed32]),
];
