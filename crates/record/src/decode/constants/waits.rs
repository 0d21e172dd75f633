//! Flags and constants of waits, timers, signals and IPC, by strace's names and in its order. Values:
//! `include/uapi/linux/{eventpoll,futex,time,ipc,sem,shm,msg,io_uring}.h`, `arch/x86/include/uapi/asm/signal.h`.

use super::ValueTable;

#[rustfmt::skip]
pub(crate) const CLOCK: ValueTable = ValueTable { unknown: "CLOCK_???", rows: &[
    (0, "CLOCK_REALTIME"), (1, "CLOCK_MONOTONIC"), (2, "CLOCK_PROCESS_CPUTIME_ID"),
    (3, "CLOCK_THREAD_CPUTIME_ID"), (4, "CLOCK_MONOTONIC_RAW"), (5, "CLOCK_REALTIME_COARSE"),
    (6, "CLOCK_MONOTONIC_COARSE"), (7, "CLOCK_BOOTTIME"), (8, "CLOCK_REALTIME_ALARM"),
    (9, "CLOCK_BOOTTIME_ALARM"), (10, "CLOCK_SGI_CYCLE"), (11, "CLOCK_TAI"),
] };

#[rustfmt::skip]
pub(crate) const EPOLL: ValueTable = ValueTable { unknown: "EPOLL???", rows: &[
    (0x1, "EPOLLIN"), (0x2, "EPOLLPRI"), (0x4, "EPOLLOUT"), (0x8, "EPOLLERR"), (0x10, "EPOLLHUP"),
    (0x20, "EPOLLNVAL"), (0x40, "EPOLLRDNORM"), (0x80, "EPOLLRDBAND"), (0x100, "EPOLLWRNORM"),
    (0x200, "EPOLLWRBAND"), (0x400, "EPOLLMSG"), (0x2000, "EPOLLRDHUP"), (0x10000000, "EPOLLEXCLUSIVE"),
    (0x20000000, "EPOLLWAKEUP"), (0x40000000, "EPOLLONESHOT"), (0x80000000, "EPOLLET"),
] };

#[rustfmt::skip]
pub(crate) const EPOLL_CREATE: ValueTable = ValueTable { unknown: "EPOLL_???", rows: &[
    (0x80000, "EPOLL_CLOEXEC"),
] };

#[rustfmt::skip]
pub(crate) const EPOLL_OPERATION: ValueTable = ValueTable { unknown: "EPOLL_CTL_???", rows: &[
    (1, "EPOLL_CTL_ADD"), (2, "EPOLL_CTL_DEL"), (3, "EPOLL_CTL_MOD"),
] };

#[rustfmt::skip]
pub(crate) const EVENTFD: ValueTable = ValueTable { unknown: "EFD_???", rows: &[
    (0x1, "EFD_SEMAPHORE"), (0x80000, "EFD_CLOEXEC"), (0x800, "EFD_NONBLOCK"),
] };

#[rustfmt::skip]
pub(crate) const FUTEX: ValueTable = ValueTable { unknown: "FUTEX_???", rows: &[
    (0, "FUTEX_WAIT"), (1, "FUTEX_WAKE"), (2, "FUTEX_FD"), (3, "FUTEX_REQUEUE"), (4, "FUTEX_CMP_REQUEUE"),
    (5, "FUTEX_WAKE_OP"), (6, "FUTEX_LOCK_PI"), (7, "FUTEX_UNLOCK_PI"), (8, "FUTEX_TRYLOCK_PI"),
    (9, "FUTEX_WAIT_BITSET"), (10, "FUTEX_WAKE_BITSET"), (11, "FUTEX_WAIT_REQUEUE_PI"),
    (12, "FUTEX_CMP_REQUEUE_PI"), (13, "FUTEX_LOCK_PI2"), (128, "FUTEX_WAIT_PRIVATE"),
    (129, "FUTEX_WAKE_PRIVATE"), (130, "FUTEX_FD|FUTEX_PRIVATE_FLAG"), (131, "FUTEX_REQUEUE_PRIVATE"),
    (132, "FUTEX_CMP_REQUEUE_PRIVATE"), (133, "FUTEX_WAKE_OP_PRIVATE"), (134, "FUTEX_LOCK_PI_PRIVATE"),
    (135, "FUTEX_UNLOCK_PI_PRIVATE"), (136, "FUTEX_TRYLOCK_PI_PRIVATE"), (137, "FUTEX_WAIT_BITSET_PRIVATE"),
    (138, "FUTEX_WAKE_BITSET_PRIVATE"), (139, "FUTEX_WAIT_REQUEUE_PI_PRIVATE"),
    (140, "FUTEX_CMP_REQUEUE_PI_PRIVATE"), (141, "FUTEX_LOCK_PI2_PRIVATE"),
    (256, "FUTEX_WAIT|FUTEX_CLOCK_REALTIME"), (265, "FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME"),
    (267, "FUTEX_WAIT_REQUEUE_PI|FUTEX_CLOCK_REALTIME"), (384, "FUTEX_WAIT_PRIVATE|FUTEX_CLOCK_REALTIME"),
    (393, "FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME"),
    (395, "FUTEX_WAIT_REQUEUE_PI_PRIVATE|FUTEX_CLOCK_REALTIME"),
] };

#[rustfmt::skip]
pub(crate) const FUTEX_COMPARE: ValueTable = ValueTable { unknown: "FUTEX_OP_CMP_???", rows: &[
    (0, "FUTEX_OP_CMP_EQ"), (1, "FUTEX_OP_CMP_NE"), (2, "FUTEX_OP_CMP_LT"), (3, "FUTEX_OP_CMP_LE"),
    (4, "FUTEX_OP_CMP_GT"), (5, "FUTEX_OP_CMP_GE"),
] };

#[rustfmt::skip]
pub(crate) const FUTEX_OP: ValueTable = ValueTable { unknown: "FUTEX_OP_???", rows: &[
    (0, "FUTEX_OP_SET"), (1, "FUTEX_OP_ADD"), (2, "FUTEX_OP_OR"), (3, "FUTEX_OP_ANDN"), (4, "FUTEX_OP_XOR"),
] };

#[rustfmt::skip]
pub(crate) const INTERVAL_TIMER: ValueTable = ValueTable { unknown: "ITIMER_???", rows: &[
    (0, "ITIMER_REAL"), (1, "ITIMER_VIRTUAL"), (2, "ITIMER_PROF"),
] };

#[rustfmt::skip]
pub(crate) const MSGGET: ValueTable = ValueTable { unknown: "IPC_???", rows: &[
    (0x200, "IPC_CREAT"), (0x400, "IPC_EXCL"), (0x800, "IPC_NOWAIT"),
] };

#[rustfmt::skip]
pub(crate) const MSGSND: ValueTable = ValueTable { unknown: "MSG_???", rows: &[
    (0x1000, "MSG_NOERROR"), (0x2000, "MSG_EXCEPT"), (0x4000, "MSG_COPY"), (0x800, "IPC_NOWAIT"),
] };

#[rustfmt::skip]
pub(crate) const MSG_COMMAND: ValueTable = ValueTable { unknown: "MSG_???", rows: &[
    (0, "IPC_RMID"), (1, "IPC_SET"), (2, "IPC_STAT"), (3, "IPC_INFO"), (11, "MSG_STAT"), (12, "MSG_INFO"),
    (13, "MSG_STAT_ANY"),
] };

#[rustfmt::skip]
pub(crate) const PIDFD_OPEN: ValueTable = ValueTable { unknown: "PIDFD_???", rows: &[
    (0x800, "PIDFD_NONBLOCK"),
] };

#[rustfmt::skip]
pub(crate) const POLL: ValueTable = ValueTable { unknown: "POLL???", rows: &[
    (0x1, "POLLIN"), (0x2, "POLLPRI"), (0x4, "POLLOUT"), (0x8, "POLLERR"), (0x10, "POLLHUP"),
    (0x20, "POLLNVAL"), (0x40, "POLLRDNORM"), (0x80, "POLLRDBAND"), (0x100, "POLLWRNORM"),
    (0x200, "POLLWRBAND"), (0x400, "POLLMSG"), (0x1000, "POLLREMOVE"), (0x2000, "POLLRDHUP"),
    (0x8000, "POLL_BUSY_LOOP"),
] };

#[rustfmt::skip]
pub(crate) const SEMGET: ValueTable = ValueTable { unknown: "IPC_???", rows: &[
    (0x200, "IPC_CREAT"), (0x400, "IPC_EXCL"), (0x800, "IPC_NOWAIT"),
] };

#[rustfmt::skip]
pub(crate) const SEMOP: ValueTable = ValueTable { unknown: "SEM_???", rows: &[
    (0x1000, "SEM_UNDO"), (0x800, "IPC_NOWAIT"),
] };

#[rustfmt::skip]
pub(crate) const SEM_COMMAND: ValueTable = ValueTable { unknown: "SEM_???", rows: &[
    (0, "IPC_RMID"), (1, "IPC_SET"), (2, "IPC_STAT"), (3, "IPC_INFO"), (11, "GETPID"), (12, "GETVAL"),
    (13, "GETALL"), (14, "GETNCNT"), (15, "GETZCNT"), (16, "SETVAL"), (17, "SETALL"), (18, "SEM_STAT"),
    (19, "SEM_INFO"), (20, "SEM_STAT_ANY"),
] };

#[rustfmt::skip]
pub(crate) const SHM: ValueTable = ValueTable { unknown: "SHM_???", rows: &[
    (0x1000, "SHM_RDONLY"), (0x2000, "SHM_RND"), (0x4000, "SHM_REMAP"), (0x8000, "SHM_EXEC"),
] };

#[rustfmt::skip]
pub(crate) const SHMGET: ValueTable = ValueTable { unknown: "SHM_???", rows: &[
    (0x200, "IPC_CREAT"), (0x400, "IPC_EXCL"), (0x800, "SHM_HUGETLB"), (0x1000, "SHM_NORESERVE"),
] };

#[rustfmt::skip]
pub(crate) const SHM_COMMAND: ValueTable = ValueTable { unknown: "SHM_???", rows: &[
    (0, "IPC_RMID"), (1, "IPC_SET"), (2, "IPC_STAT"), (3, "IPC_INFO"), (11, "SHM_LOCK"), (12, "SHM_UNLOCK"),
    (13, "SHM_STAT"), (14, "SHM_INFO"), (15, "SHM_STAT_ANY"),
] };

#[rustfmt::skip]
pub(crate) const SIGACTION: ValueTable = ValueTable { unknown: "SA_???", rows: &[
    (0x4000000, "SA_RESTORER"), (0x8000000, "SA_ONSTACK"), (0x10000000, "SA_RESTART"),
    (0x20000000, "SA_INTERRUPT"), (0x40000000, "SA_NODEFER"), (0x80000000, "SA_RESETHAND"), (0x4, "SA_SIGINFO"),
    (0x1, "SA_NOCLDSTOP"), (0x2, "SA_NOCLDWAIT"),
] };

#[rustfmt::skip]
pub(crate) const SIGEVENT: ValueTable = ValueTable { unknown: "SIGEV_???", rows: &[
    (0, "SIGEV_SIGNAL"), (1, "SIGEV_NONE"), (2, "SIGEV_THREAD"), (4, "SIGEV_THREAD_ID"),
] };

#[rustfmt::skip]
pub(crate) const SIGNAL: ValueTable = ValueTable { unknown: "SIG???", rows: &[
    (1, "SIGHUP"), (2, "SIGINT"), (3, "SIGQUIT"), (4, "SIGILL"), (5, "SIGTRAP"), (6, "SIGABRT"), (7, "SIGBUS"),
    (8, "SIGFPE"), (9, "SIGKILL"), (10, "SIGUSR1"), (11, "SIGSEGV"), (12, "SIGUSR2"), (13, "SIGPIPE"),
    (14, "SIGALRM"), (15, "SIGTERM"), (16, "SIGSTKFLT"), (17, "SIGCHLD"), (18, "SIGCONT"), (19, "SIGSTOP"),
    (20, "SIGTSTP"), (21, "SIGTTIN"), (22, "SIGTTOU"), (23, "SIGURG"), (24, "SIGXCPU"), (25, "SIGXFSZ"),
    (26, "SIGVTALRM"), (27, "SIGPROF"), (28, "SIGWINCH"), (29, "SIGIO"), (30, "SIGPWR"), (31, "SIGSYS"),
    (32, "SIGRTMIN"), (33, "SIGRT_1"), (34, "SIGRT_2"), (35, "SIGRT_3"), (36, "SIGRT_4"), (37, "SIGRT_5"),
    (38, "SIGRT_6"), (39, "SIGRT_7"), (40, "SIGRT_8"), (41, "SIGRT_9"), (42, "SIGRT_10"), (43, "SIGRT_11"),
    (44, "SIGRT_12"), (45, "SIGRT_13"), (46, "SIGRT_14"), (47, "SIGRT_15"), (48, "SIGRT_16"), (49, "SIGRT_17"),
    (50, "SIGRT_18"), (51, "SIGRT_19"), (52, "SIGRT_20"), (53, "SIGRT_21"), (54, "SIGRT_22"), (55, "SIGRT_23"),
    (56, "SIGRT_24"), (57, "SIGRT_25"), (58, "SIGRT_26"), (59, "SIGRT_27"), (60, "SIGRT_28"), (61, "SIGRT_29"),
    (62, "SIGRT_30"), (63, "SIGRT_31"), (64, "SIGRT_32"),
] };

#[rustfmt::skip]
pub(crate) const SIGNALFD: ValueTable = ValueTable { unknown: "SFD_???", rows: &[
    (0x80000, "SFD_CLOEXEC"), (0x800, "SFD_NONBLOCK"),
] };

#[rustfmt::skip]
pub(crate) const SIGNAL_CODE: ValueTable = ValueTable { unknown: "SI_???", rows: &[
    (0, "SI_USER"), (128, "SI_KERNEL"), (0xffffffff, "SI_QUEUE"), (0xfffffffe, "SI_TIMER"),
    (0xfffffffd, "SI_MESGQ"), (0xfffffffc, "SI_ASYNCIO"), (0xfffffffa, "SI_TKILL"),
] };

#[rustfmt::skip]
pub(crate) const SIGSTACK: ValueTable = ValueTable { unknown: "SS_???", rows: &[
    (0x1, "SS_ONSTACK"), (0x2, "SS_DISABLE"), (0x80000000, "SS_AUTODISARM"),
] };

#[rustfmt::skip]
pub(crate) const SIG_MASK_HOW: ValueTable = ValueTable { unknown: "SIG_???", rows: &[
    (0, "SIG_BLOCK"), (1, "SIG_UNBLOCK"), (2, "SIG_SETMASK"),
] };

#[rustfmt::skip]
pub(crate) const TIMER: ValueTable = ValueTable { unknown: "TIMER_???", rows: &[
    (0x1, "TIMER_ABSTIME"),
] };

#[rustfmt::skip]
pub(crate) const TIMERFD_CREATE: ValueTable = ValueTable { unknown: "TFD_???", rows: &[
    (0x1, "TFD_TIMER_ABSTIME"), (0x2, "TFD_TIMER_CANCEL_ON_SET"), (0x80000, "TFD_CLOEXEC"),
    (0x800, "TFD_NONBLOCK"),
] };

#[rustfmt::skip]
pub(crate) const TIMERFD_SET: ValueTable = ValueTable { unknown: "TFD_???", rows: &[
    (0x1, "TFD_TIMER_ABSTIME"), (0x2, "TFD_TIMER_CANCEL_ON_SET"), (0x80000, "TFD_CLOEXEC"),
    (0x800, "TFD_NONBLOCK"),
] };

#[rustfmt::skip]
pub(crate) const URING_ENTER: ValueTable = ValueTable { unknown: "IORING_ENTER_???", rows: &[
    (0x1, "IORING_ENTER_GETEVENTS"), (0x2, "IORING_ENTER_SQ_WAKEUP"), (0x4, "IORING_ENTER_SQ_WAIT"),
    (0x8, "IORING_ENTER_EXT_ARG"), (0x10, "IORING_ENTER_REGISTERED_RING"),
] };

#[rustfmt::skip]
pub(crate) const URING_REGISTER: ValueTable = ValueTable { unknown: "IORING_REGISTER_???", rows: &[
    (0, "IORING_REGISTER_BUFFERS"), (1, "IORING_UNREGISTER_BUFFERS"), (2, "IORING_REGISTER_FILES"),
    (3, "IORING_UNREGISTER_FILES"), (4, "IORING_REGISTER_EVENTFD"), (5, "IORING_UNREGISTER_EVENTFD"),
    (6, "IORING_REGISTER_FILES_UPDATE"), (7, "IORING_REGISTER_EVENTFD_ASYNC"), (8, "IORING_REGISTER_PROBE"),
    (9, "IORING_REGISTER_PERSONALITY"), (10, "IORING_UNREGISTER_PERSONALITY"),
    (11, "IORING_REGISTER_RESTRICTIONS"), (12, "IORING_REGISTER_ENABLE_RINGS"), (13, "IORING_REGISTER_FILES2"),
    (14, "IORING_REGISTER_FILES_UPDATE2"), (15, "IORING_REGISTER_BUFFERS2"),
    (16, "IORING_REGISTER_BUFFERS_UPDATE"), (17, "IORING_REGISTER_IOWQ_AFF"),
    (18, "IORING_UNREGISTER_IOWQ_AFF"), (19, "IORING_REGISTER_IOWQ_MAX_WORKERS"),
    (20, "IORING_REGISTER_RING_FDS"), (21, "IORING_UNREGISTER_RING_FDS"), (22, "IORING_REGISTER_PBUF_RING"),
    (23, "IORING_UNREGISTER_PBUF_RING"),
] };

#[rustfmt::skip]
pub(crate) const USERFAULTFD: ValueTable = ValueTable { unknown: "UFFD_???", rows: &[
    (0x1, "UFFD_USER_MODE_ONLY"), (0x800, "O_NONBLOCK"), (0x80000, "O_CLOEXEC"),
] };
