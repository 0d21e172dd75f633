//! Calls that make, change, schedule and end processes and threads.

use super::{Row, array, input, output, path, piece, returned, row};
use crate::decode::arg::Arg::*;
use crate::decode::constants::*;
use crate::spec::{KeptMemory, Size, When};

/// The path of a program: read when the call is entered, for the old address space is gone when it succeeds.
const fn program(arg: u8) -> KeptMemory {
    KeptMemory { when: When::Enter, ..path(arg) }
}

/// The arguments of a program.
const fn arguments(arg: u8) -> KeptMemory {
    piece(arg, When::Enter, Size::TextArray, 0, 1, super::STRING)
}

/// The first 128 pointers of an environment: they are counted, the strings are not read (they hold secrets).
const fn environment(arg: u8) -> KeptMemory {
    piece(arg, When::Enter, Size::Fixed, 0, 1024, 1024)
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(56, "clone", &[Clone, Unused, Unused, Unused, Unused]).state(),
    row(57, "fork", &[]).state(),
    row(58, "vfork", &[]).state(),
    row(59, "execve", &[Path, Strings, Environment]).keeps(&[program(0), arguments(1), environment(2)]).state(),
    row(60, "exit", &[Signed32]).state(),
    row(101, "ptrace", &[Constant(&PTRACE_REQUEST), Signed32, Pointer, Pointer]),
    row(109, "setpgid", &[Signed32, Signed32]),
    row(111, "getpgrp", &[]),
    row(112, "setsid", &[]),
    row(121, "getpgid", &[Signed32]),
    row(124, "getsid", &[Signed32]),
    row(135, "personality", &[Hex]),
    row(140, "getpriority", &[Constant(&PRIORITY_WHICH), Signed32]),
    row(141, "setpriority", &[Constant(&PRIORITY_WHICH), Signed32, Signed32]),
    row(142, "sched_setparam", &[Signed32, SchedulingParam]).keeps(&[input(1, 4)]),
    row(143, "sched_getparam", &[Signed32, SchedulingParam]).keeps(&[output(1, 4)]),
    row(144, "sched_setscheduler", &[Signed32, Constant(&SCHEDULING_POLICY), SchedulingParam]).keeps(&[input(2, 4)]),
    row(145, "sched_getscheduler", &[Signed32]),
    row(146, "sched_get_priority_max", &[Constant(&SCHEDULING_POLICY)]),
    row(147, "sched_get_priority_min", &[Constant(&SCHEDULING_POLICY)]),
    row(148, "sched_rr_get_interval", &[Signed32, Timespec]).keeps(&[output(1, 16)]),
    row(154, "modify_ldt", &[Signed32, Pointer, Unsigned]),
    row(157, "prctl", &[Constant(&PRCTL), PrctlArgument, PrctlRest, PrctlRest, PrctlRest]).keeps(&[piece(1, When::Exit, Size::Text, 0, 1, 16)]).state(),
    row(158, "arch_prctl", &[Constant(&ARCH_PRCTL), Pointer]),
    row(203, "sched_setaffinity", &[Signed32, Unsigned, CpuSet]).keeps(&[array(2, 1, 1, 128)]),
    row(204, "sched_getaffinity", &[Signed32, Unsigned, CpuSet]).keeps(&[returned(2, 1, 128)]),
    row(205, "set_thread_area", &[Pointer]),
    row(211, "get_thread_area", &[Pointer]),
    row(218, "set_tid_address", &[Pointer]),
    row(231, "exit_group", &[Signed32]).state(),
    row(251, "ioprio_set", &[Constant(&IO_PRIORITY_WHICH), Signed32, Hex]),
    row(252, "ioprio_get", &[Constant(&IO_PRIORITY_WHICH), Signed32]),
    row(272, "unshare", &[Flags(&NAMESPACES)]).state(),
    row(308, "setns", &[Fd, Flags(&NAMESPACES)]).state(),
    row(310, "process_vm_readv", &[Signed32, Pointer, Unsigned, Pointer, Unsigned, Hex]),
    row(311, "process_vm_writev", &[Signed32, Pointer, Unsigned, Pointer, Unsigned, Hex]),
    row(312, "kcmp", &[Signed32, Signed32, Constant(&KCMP), Unsigned, Unsigned]),
    row(314, "sched_setattr", &[Signed32, Pointer, Hex]),
    row(315, "sched_getattr", &[Signed32, Pointer, Unsigned32, Hex]),
    row(317, "seccomp", &[Constant(&SECCOMP), Flags(&SECCOMP_FILTER), Pointer]),
    row(322, "execveat", &[DirFd, Path, Strings, Environment, Flags(&AT)]).keeps(&[program(1), arguments(2), environment(3)]).state(),
    row(334, "rseq", &[Pointer, Hex, Hex, Hex]),
    row(435, "clone3", &[CloneArguments, Unsigned]).keeps(&[array(0, 1, 1, 88)]).state(),
];
