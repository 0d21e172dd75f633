//! Flags and constants of processes, threads and the machine, by strace's names and in its order. Values:
//! `include/uapi/linux/{sched,wait,prctl,ptrace,seccomp,bpf,membarrier,keyctl}.h`.

use super::ValueTable;

#[rustfmt::skip]
pub(crate) const ARCH_PRCTL: ValueTable = ValueTable { unknown: "ARCH_???", rows: &[
    (0x1001, "ARCH_SET_GS"), (0x1002, "ARCH_SET_FS"), (0x1003, "ARCH_GET_FS"), (0x1004, "ARCH_GET_GS"),
    (0x1011, "ARCH_GET_CPUID"), (0x1012, "ARCH_SET_CPUID"), (0x1021, "ARCH_GET_XCOMP_SUPP"),
    (0x1022, "ARCH_GET_XCOMP_PERM"), (0x1023, "ARCH_REQ_XCOMP_PERM"), (0x2001, "ARCH_MAP_VDSO_X32"),
    (0x2002, "ARCH_MAP_VDSO_32"), (0x2003, "ARCH_MAP_VDSO_64"),
] };

#[rustfmt::skip]
pub(crate) const BPF: ValueTable = ValueTable { unknown: "BPF_???", rows: &[
    (0, "BPF_MAP_CREATE"), (1, "BPF_MAP_LOOKUP_ELEM"), (2, "BPF_MAP_UPDATE_ELEM"), (3, "BPF_MAP_DELETE_ELEM"),
    (4, "BPF_MAP_GET_NEXT_KEY"), (5, "BPF_PROG_LOAD"), (6, "BPF_OBJ_PIN"), (7, "BPF_OBJ_GET"),
    (8, "BPF_PROG_ATTACH"), (9, "BPF_PROG_DETACH"), (10, "BPF_PROG_TEST_RUN"), (11, "BPF_PROG_GET_NEXT_ID"),
    (12, "BPF_MAP_GET_NEXT_ID"), (13, "BPF_PROG_GET_FD_BY_ID"), (14, "BPF_MAP_GET_FD_BY_ID"),
    (15, "BPF_OBJ_GET_INFO_BY_FD"), (16, "BPF_PROG_QUERY"), (17, "BPF_RAW_TRACEPOINT_OPEN"),
    (18, "BPF_BTF_LOAD"), (19, "BPF_BTF_GET_FD_BY_ID"), (20, "BPF_TASK_FD_QUERY"),
    (21, "BPF_MAP_LOOKUP_AND_DELETE_ELEM"), (22, "BPF_MAP_FREEZE"), (23, "BPF_BTF_GET_NEXT_ID"),
    (24, "BPF_MAP_LOOKUP_BATCH"), (25, "BPF_MAP_LOOKUP_AND_DELETE_BATCH"), (26, "BPF_MAP_UPDATE_BATCH"),
    (27, "BPF_MAP_DELETE_BATCH"), (28, "BPF_LINK_CREATE"), (29, "BPF_LINK_UPDATE"),
    (30, "BPF_LINK_GET_FD_BY_ID"), (31, "BPF_LINK_GET_NEXT_ID"), (32, "BPF_ENABLE_STATS"),
    (33, "BPF_ITER_CREATE"), (34, "BPF_LINK_DETACH"), (35, "BPF_PROG_BIND_MAP"),
] };

#[rustfmt::skip]
pub(crate) const CAPABILITY: ValueTable = ValueTable { unknown: "CAP_???", rows: &[
    (0, "CAP_CHOWN"), (1, "CAP_DAC_OVERRIDE"), (2, "CAP_DAC_READ_SEARCH"), (3, "CAP_FOWNER"), (4, "CAP_FSETID"),
    (5, "CAP_KILL"), (6, "CAP_SETGID"), (7, "CAP_SETUID"), (8, "CAP_SETPCAP"), (9, "CAP_LINUX_IMMUTABLE"),
    (10, "CAP_NET_BIND_SERVICE"), (11, "CAP_NET_BROADCAST"), (12, "CAP_NET_ADMIN"), (13, "CAP_NET_RAW"),
    (14, "CAP_IPC_LOCK"), (15, "CAP_IPC_OWNER"), (16, "CAP_SYS_MODULE"), (17, "CAP_SYS_RAWIO"),
    (18, "CAP_SYS_CHROOT"), (19, "CAP_SYS_PTRACE"), (20, "CAP_SYS_PACCT"), (21, "CAP_SYS_ADMIN"),
    (22, "CAP_SYS_BOOT"), (23, "CAP_SYS_NICE"), (24, "CAP_SYS_RESOURCE"), (25, "CAP_SYS_TIME"),
    (26, "CAP_SYS_TTY_CONFIG"), (27, "CAP_MKNOD"), (28, "CAP_LEASE"), (29, "CAP_AUDIT_WRITE"),
    (30, "CAP_AUDIT_CONTROL"), (31, "CAP_SETFCAP"), (32, "CAP_MAC_OVERRIDE"), (33, "CAP_MAC_ADMIN"),
    (34, "CAP_SYSLOG"), (35, "CAP_WAKE_ALARM"), (36, "CAP_BLOCK_SUSPEND"), (37, "CAP_AUDIT_READ"),
    (38, "CAP_PERFMON"), (39, "CAP_BPF"), (40, "CAP_CHECKPOINT_RESTORE"),
] };

#[rustfmt::skip]
pub(crate) const CHILD_CODE: ValueTable = ValueTable { unknown: "CLD_???", rows: &[
    (1, "CLD_EXITED"), (2, "CLD_KILLED"), (3, "CLD_DUMPED"), (4, "CLD_TRAPPED"), (5, "CLD_STOPPED"),
    (6, "CLD_CONTINUED"),
] };

#[rustfmt::skip]
pub(crate) const CLONE: ValueTable = ValueTable { unknown: "CLONE_???", rows: &[
    (0x100, "CLONE_VM"), (0x200, "CLONE_FS"), (0x400, "CLONE_FILES"), (0x800, "CLONE_SIGHAND"),
    (0x1000, "CLONE_PIDFD"), (0x2000, "CLONE_PTRACE"), (0x4000, "CLONE_VFORK"), (0x8000, "CLONE_PARENT"),
    (0x10000, "CLONE_THREAD"), (0x20000, "CLONE_NEWNS"), (0x40000, "CLONE_SYSVSEM"), (0x80000, "CLONE_SETTLS"),
    (0x100000, "CLONE_PARENT_SETTID"), (0x200000, "CLONE_CHILD_CLEARTID"), (0x800000, "CLONE_UNTRACED"),
    (0x1000000, "CLONE_CHILD_SETTID"), (0x2000000, "CLONE_NEWCGROUP"), (0x4000000, "CLONE_NEWUTS"),
    (0x8000000, "CLONE_NEWIPC"), (0x10000000, "CLONE_NEWUSER"), (0x20000000, "CLONE_NEWPID"),
    (0x40000000, "CLONE_NEWNET"), (0x80000000, "CLONE_IO"), (0x100000000, "CLONE_CLEAR_SIGHAND"),
    (0x200000000, "CLONE_INTO_CGROUP"),
] };

#[rustfmt::skip]
pub(crate) const DELETE_MODULE: ValueTable = ValueTable { unknown: "O_???", rows: &[
    (0x800, "O_NONBLOCK"), (0x200, "O_TRUNC"),
] };

#[rustfmt::skip]
pub(crate) const FINIT_MODULE: ValueTable = ValueTable { unknown: "MODULE_INIT_???", rows: &[
    (0x1, "MODULE_INIT_IGNORE_MODVERSIONS"), (0x2, "MODULE_INIT_IGNORE_VERMAGIC"),
    (0x4, "MODULE_INIT_COMPRESSED_FILE"),
] };

#[rustfmt::skip]
pub(crate) const IO_PRIORITY_WHICH: ValueTable = ValueTable { unknown: "IOPRIO_WHO_???", rows: &[
    (1, "IOPRIO_WHO_PROCESS"), (2, "IOPRIO_WHO_PGRP"), (3, "IOPRIO_WHO_USER"),
] };

#[rustfmt::skip]
pub(crate) const KCMP: ValueTable = ValueTable { unknown: "KCMP_???", rows: &[
    (0, "KCMP_FILE"), (1, "KCMP_VM"), (2, "KCMP_FILES"), (3, "KCMP_FS"), (4, "KCMP_SIGHAND"), (5, "KCMP_IO"),
    (6, "KCMP_SYSVSEM"), (7, "KCMP_EPOLL_TFD"),
] };

#[rustfmt::skip]
pub(crate) const KEYCTL: ValueTable = ValueTable { unknown: "KEYCTL_???", rows: &[
    (0, "KEYCTL_GET_KEYRING_ID"), (1, "KEYCTL_JOIN_SESSION_KEYRING"), (2, "KEYCTL_UPDATE"),
    (3, "KEYCTL_REVOKE"), (4, "KEYCTL_CHOWN"), (5, "KEYCTL_SETPERM"), (6, "KEYCTL_DESCRIBE"),
    (7, "KEYCTL_CLEAR"), (8, "KEYCTL_LINK"), (9, "KEYCTL_UNLINK"), (10, "KEYCTL_SEARCH"), (11, "KEYCTL_READ"),
    (12, "KEYCTL_INSTANTIATE"), (13, "KEYCTL_NEGATE"), (14, "KEYCTL_SET_REQKEY_KEYRING"),
    (15, "KEYCTL_SET_TIMEOUT"), (16, "KEYCTL_ASSUME_AUTHORITY"), (17, "KEYCTL_GET_SECURITY"),
    (18, "KEYCTL_SESSION_TO_PARENT"), (19, "KEYCTL_REJECT"), (20, "KEYCTL_INSTANTIATE_IOV"),
    (21, "KEYCTL_INVALIDATE"), (22, "KEYCTL_GET_PERSISTENT"), (23, "KEYCTL_DH_COMPUTE"),
    (24, "KEYCTL_PKEY_QUERY"), (25, "KEYCTL_PKEY_ENCRYPT"), (26, "KEYCTL_PKEY_DECRYPT"),
    (27, "KEYCTL_PKEY_SIGN"), (28, "KEYCTL_PKEY_VERIFY"), (29, "KEYCTL_RESTRICT_KEYRING"), (30, "KEYCTL_MOVE"),
    (31, "KEYCTL_CAPABILITIES"), (32, "KEYCTL_WATCH_KEY"),
] };

#[rustfmt::skip]
pub(crate) const KEYRING: ValueTable = ValueTable { unknown: "KEY_SPEC_???", rows: &[
    (0xffffffff, "KEY_SPEC_THREAD_KEYRING"), (0xfffffffe, "KEY_SPEC_PROCESS_KEYRING"),
    (0xfffffffd, "KEY_SPEC_SESSION_KEYRING"), (0xfffffffc, "KEY_SPEC_USER_KEYRING"),
    (0xfffffffb, "KEY_SPEC_USER_SESSION_KEYRING"), (0xfffffffa, "KEY_SPEC_GROUP_KEYRING"),
    (0xfffffff9, "KEY_SPEC_REQKEY_AUTH_KEY"), (0xfffffff8, "KEY_SPEC_REQUESTOR_KEYRING"),
] };

#[rustfmt::skip]
pub(crate) const MEMBARRIER: ValueTable = ValueTable { unknown: "MEMBARRIER_CMD_???", rows: &[
    (0, "MEMBARRIER_CMD_QUERY"), (1, "MEMBARRIER_CMD_GLOBAL"), (2, "MEMBARRIER_CMD_GLOBAL_EXPEDITED"),
    (4, "MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED"), (8, "MEMBARRIER_CMD_PRIVATE_EXPEDITED"),
    (16, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED"), (32, "MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE"),
    (64, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE"), (128, "MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ"),
    (256, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ"),
] };

#[rustfmt::skip]
pub(crate) const MEMBARRIER_FLAGS: ValueTable = ValueTable { unknown: "MEMBARRIER_CMD_FLAG_???", rows: &[
    (0x1, "MEMBARRIER_CMD_FLAG_CPU"),
] };

#[rustfmt::skip]
pub(crate) const NAMESPACES: ValueTable = ValueTable { unknown: "CLONE_???", rows: &[
    (0x80, "CLONE_NEWTIME"), (0x100, "CLONE_VM"), (0x200, "CLONE_FS"), (0x400, "CLONE_FILES"),
    (0x800, "CLONE_SIGHAND"), (0x10000, "CLONE_THREAD"), (0x20000, "CLONE_NEWNS"), (0x40000, "CLONE_SYSVSEM"),
    (0x2000000, "CLONE_NEWCGROUP"), (0x4000000, "CLONE_NEWUTS"), (0x8000000, "CLONE_NEWIPC"),
    (0x10000000, "CLONE_NEWUSER"), (0x20000000, "CLONE_NEWPID"), (0x40000000, "CLONE_NEWNET"),
] };

#[rustfmt::skip]
pub(crate) const PERF: ValueTable = ValueTable { unknown: "PERF_FLAG_???", rows: &[
    (0x1, "PERF_FLAG_FD_NO_GROUP"), (0x2, "PERF_FLAG_FD_OUTPUT"), (0x4, "PERF_FLAG_PID_CGROUP"),
    (0x8, "PERF_FLAG_FD_CLOEXEC"),
] };

#[rustfmt::skip]
pub(crate) const PRCTL: ValueTable = ValueTable { unknown: "PR_???", rows: &[
    (1, "PR_SET_PDEATHSIG"), (2, "PR_GET_PDEATHSIG"), (3, "PR_GET_DUMPABLE"), (4, "PR_SET_DUMPABLE"),
    (5, "PR_GET_UNALIGN"), (6, "PR_SET_UNALIGN"), (7, "PR_GET_KEEPCAPS"), (8, "PR_SET_KEEPCAPS"),
    (9, "PR_GET_FPEMU"), (10, "PR_SET_FPEMU"), (11, "PR_GET_FPEXC"), (12, "PR_SET_FPEXC"),
    (13, "PR_GET_TIMING"), (14, "PR_SET_TIMING"), (15, "PR_SET_NAME"), (16, "PR_GET_NAME"),
    (19, "PR_GET_ENDIAN"), (20, "PR_SET_ENDIAN"), (21, "PR_GET_SECCOMP"), (22, "PR_SET_SECCOMP"),
    (23, "PR_CAPBSET_READ"), (24, "PR_CAPBSET_DROP"), (25, "PR_GET_TSC"), (26, "PR_SET_TSC"),
    (27, "PR_GET_SECUREBITS"), (28, "PR_SET_SECUREBITS"), (29, "PR_SET_TIMERSLACK"), (30, "PR_GET_TIMERSLACK"),
    (31, "PR_TASK_PERF_EVENTS_DISABLE"), (32, "PR_TASK_PERF_EVENTS_ENABLE"), (33, "PR_MCE_KILL"),
    (34, "PR_MCE_KILL_GET"), (35, "PR_SET_MM"), (1499557217, "PR_SET_PTRACER"), (36, "PR_SET_CHILD_SUBREAPER"),
    (37, "PR_GET_CHILD_SUBREAPER"), (38, "PR_SET_NO_NEW_PRIVS"), (39, "PR_GET_NO_NEW_PRIVS"),
    (40, "PR_GET_TID_ADDRESS"), (41, "PR_SET_THP_DISABLE"), (42, "PR_GET_THP_DISABLE"),
    (43, "PR_MPX_ENABLE_MANAGEMENT"), (44, "PR_MPX_DISABLE_MANAGEMENT"), (45, "PR_SET_FP_MODE"),
    (46, "PR_GET_FP_MODE"), (47, "PR_CAP_AMBIENT"), (52, "PR_GET_SPECULATION_CTRL"),
    (53, "PR_SET_SPECULATION_CTRL"), (55, "PR_SET_TAGGED_ADDR_CTRL"), (56, "PR_GET_TAGGED_ADDR_CTRL"),
    (57, "PR_SET_IO_FLUSHER"), (58, "PR_GET_IO_FLUSHER"), (59, "PR_SET_SYSCALL_USER_DISPATCH"),
    (62, "PR_SCHED_CORE"), (1398164801, "PR_SET_VMA"),
] };

#[rustfmt::skip]
pub(crate) const PRIORITY_WHICH: ValueTable = ValueTable { unknown: "PRIO_???", rows: &[
    (0, "PRIO_PROCESS"), (1, "PRIO_PGRP"), (2, "PRIO_USER"),
] };

#[rustfmt::skip]
pub(crate) const PTRACE_REQUEST: ValueTable = ValueTable { unknown: "PTRACE_???", rows: &[
    (1, "PTRACE_PEEKTEXT"), (2, "PTRACE_PEEKDATA"), (3, "PTRACE_PEEKUSER"), (4, "PTRACE_POKETEXT"),
    (5, "PTRACE_POKEDATA"), (6, "PTRACE_POKEUSER"), (7, "PTRACE_CONT"), (8, "PTRACE_KILL"),
    (9, "PTRACE_SINGLESTEP"), (12, "PTRACE_GETREGS"), (13, "PTRACE_SETREGS"), (14, "PTRACE_GETFPREGS"),
    (15, "PTRACE_SETFPREGS"), (16, "PTRACE_ATTACH"), (17, "PTRACE_DETACH"), (18, "PTRACE_GETFPXREGS"),
    (19, "PTRACE_SETFPXREGS"), (21, "PTRACE_OLDSETOPTIONS"), (24, "PTRACE_SYSCALL"),
    (25, "PTRACE_GET_THREAD_AREA"), (26, "PTRACE_SET_THREAD_AREA"), (30, "PTRACE_ARCH_PRCTL"),
    (31, "PTRACE_SYSEMU"), (32, "PTRACE_SYSEMU_SINGLESTEP"), (33, "PTRACE_SINGLEBLOCK"),
    (16896, "PTRACE_SETOPTIONS"), (16897, "PTRACE_GETEVENTMSG"), (16898, "PTRACE_GETSIGINFO"),
    (16899, "PTRACE_SETSIGINFO"), (16900, "PTRACE_GETREGSET"), (16901, "PTRACE_SETREGSET"),
    (16902, "PTRACE_SEIZE"), (16903, "PTRACE_INTERRUPT"), (16904, "PTRACE_LISTEN"),
    (16905, "PTRACE_PEEKSIGINFO"), (16906, "PTRACE_GETSIGMASK"), (16907, "PTRACE_SETSIGMASK"),
    (16908, "PTRACE_SECCOMP_GET_FILTER"), (16909, "PTRACE_SECCOMP_GET_METADATA"),
    (16910, "PTRACE_GET_SYSCALL_INFO"), (16911, "PTRACE_GET_RSEQ_CONFIGURATION"),
] };

#[rustfmt::skip]
pub(crate) const RANDOM: ValueTable = ValueTable { unknown: "GRND_???", rows: &[
    (0x1, "GRND_NONBLOCK"), (0x2, "GRND_RANDOM"), (0x4, "GRND_INSECURE"),
] };

#[rustfmt::skip]
pub(crate) const RESOURCE: ValueTable = ValueTable { unknown: "RLIMIT_???", rows: &[
    (0, "RLIMIT_CPU"), (1, "RLIMIT_FSIZE"), (2, "RLIMIT_DATA"), (3, "RLIMIT_STACK"), (4, "RLIMIT_CORE"),
    (5, "RLIMIT_RSS"), (6, "RLIMIT_NPROC"), (7, "RLIMIT_NOFILE"), (8, "RLIMIT_MEMLOCK"), (9, "RLIMIT_AS"),
    (10, "RLIMIT_LOCKS"), (11, "RLIMIT_SIGPENDING"), (12, "RLIMIT_MSGQUEUE"), (13, "RLIMIT_NICE"),
    (14, "RLIMIT_RTPRIO"), (15, "RLIMIT_RTTIME"),
] };

#[rustfmt::skip]
pub(crate) const SCHEDULING_POLICY: ValueTable = ValueTable { unknown: "SCHED_???", rows: &[
    (0, "SCHED_OTHER"), (1, "SCHED_FIFO"), (2, "SCHED_RR"), (3, "SCHED_BATCH"), (4, "SCHED_ISO"),
    (5, "SCHED_IDLE"), (6, "SCHED_DEADLINE"),
] };

#[rustfmt::skip]
pub(crate) const SECCOMP: ValueTable = ValueTable { unknown: "SECCOMP_???", rows: &[
    (0, "SECCOMP_SET_MODE_STRICT"), (1, "SECCOMP_SET_MODE_FILTER"), (2, "SECCOMP_GET_ACTION_AVAIL"),
    (3, "SECCOMP_GET_NOTIF_SIZES"),
] };

#[rustfmt::skip]
pub(crate) const SECCOMP_FILTER: ValueTable = ValueTable { unknown: "SECCOMP_FILTER_FLAG_???", rows: &[
    (0x1, "SECCOMP_FILTER_FLAG_TSYNC"), (0x2, "SECCOMP_FILTER_FLAG_LOG"),
    (0x4, "SECCOMP_FILTER_FLAG_SPEC_ALLOW"), (0x8, "SECCOMP_FILTER_FLAG_NEW_LISTENER"),
    (0x10, "SECCOMP_FILTER_FLAG_TSYNC_ESRCH"), (0x20, "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"),
] };

#[rustfmt::skip]
pub(crate) const USAGE_WHO: ValueTable = ValueTable { unknown: "RUSAGE_???", rows: &[
    (0, "RUSAGE_SELF"), (1, "RUSAGE_THREAD"), (0xffffffff, "RUSAGE_CHILDREN"), (0xfffffffe, "RUSAGE_BOTH"),
] };

#[rustfmt::skip]
pub(crate) const WAIT: ValueTable = ValueTable { unknown: "W???", rows: &[
    (0x1, "WNOHANG"), (0x4, "WEXITED"), (0x2, "WSTOPPED"), (0x8, "WCONTINUED"), (0x1000000, "WNOWAIT"),
    (0x80000000, "__WCLONE"), (0x40000000, "__WALL"), (0x20000000, "__WNOTHREAD"),
] };

#[rustfmt::skip]
pub(crate) const WAIT_ID_TYPE: ValueTable = ValueTable { unknown: "P_???", rows: &[
    (0, "P_ALL"), (1, "P_PID"), (2, "P_PGID"), (3, "P_PIDFD"),
] };
