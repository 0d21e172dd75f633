//! Calls that ask or change who a process is and what it may use.

use super::{Row, array, input, output, returned, row};
use crate::decode::arg::Arg::*;
use crate::decode::constants::*;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(39, "getpid", &[]),
    row(63, "uname", &[Uname]).keeps(&[output(0, 130)]),
    row(95, "umask", &[Mode]),
    row(97, "getrlimit", &[Constant(&RESOURCE), Limits]).keeps(&[output(1, 16)]),
    row(98, "getrusage", &[Constant(&USAGE_WHO), Usage]).keeps(&[output(1, 32)]),
    row(99, "sysinfo", &[Sysinfo]).keeps(&[output(0, 112)]),
    row(100, "times", &[Times]).keeps(&[output(0, 32)]),
    row(102, "getuid", &[]),
    row(104, "getgid", &[]),
    row(105, "setuid", &[Id]),
    row(106, "setgid", &[Id]),
    row(107, "geteuid", &[]),
    row(108, "getegid", &[]),
    row(110, "getppid", &[]),
    row(113, "setreuid", &[Id, Id]),
    row(114, "setregid", &[Id, Id]),
    row(115, "getgroups", &[Signed32, Groups]).keeps(&[returned(1, 4, 128)]),
    row(116, "setgroups", &[Unsigned, Groups]).keeps(&[array(1, 0, 4, 128)]),
    row(117, "setresuid", &[Id, Id, Id]),
    row(118, "getresuid", &[NumberPointer(4), NumberPointer(4), NumberPointer(4)]).keeps(&[output(0, 4), output(1, 4), output(2, 4)]),
    row(119, "setresgid", &[Id, Id, Id]),
    row(120, "getresgid", &[NumberPointer(4), NumberPointer(4), NumberPointer(4)]).keeps(&[output(0, 4), output(1, 4), output(2, 4)]),
    row(122, "setfsuid", &[Id]),
    row(123, "setfsgid", &[Id]),
    row(125, "capget", &[CapabilityHeader, CapabilityData]).keeps(&[input(0, 8), output(1, 24)]),
    row(126, "capset", &[CapabilityHeader, CapabilityData]).keeps(&[input(0, 8), input(1, 24)]),
    row(160, "setrlimit", &[Constant(&RESOURCE), Limits]).keeps(&[input(1, 16)]).state(),
    row(186, "gettid", &[]),
    row(302, "prlimit64", &[Signed32, Constant(&RESOURCE), Limits, Limits]).keeps(&[input(2, 16), output(3, 16)]).state(),
    row(309, "getcpu", &[NumberPointer(4), NumberPointer(4), Pointer]).keeps(&[output(0, 4), output(1, 4)]),
];
