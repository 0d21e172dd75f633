//! Signals, clocks and timers.

use super::{Row, input, output, row};
use crate::decode::arg::Arg::*;
use crate::decode::constants::*;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(13, "rt_sigaction", &[Signal, SigAction, SigAction, Unsigned]).keeps(&[input(1, 32), output(2, 32)]),
    row(14, "rt_sigprocmask", &[Constant(&SIG_MASK_HOW), SigSet, SigSet, Unsigned]).keeps(&[input(1, 8), output(2, 8)]),
    row(15, "rt_sigreturn", &[]),
    row(36, "getitimer", &[Constant(&INTERVAL_TIMER), TimerValue]).keeps(&[output(1, 32)]),
    row(37, "alarm", &[Unsigned32]),
    row(38, "setitimer", &[Constant(&INTERVAL_TIMER), TimerValue, TimerValue]).keeps(&[input(1, 32), output(2, 32)]),
    row(62, "kill", &[Signed32, Signal]),
    row(96, "gettimeofday", &[Timeval, Pointer]).keeps(&[output(0, 16)]),
    row(127, "rt_sigpending", &[SigSet, Unsigned]).keeps(&[output(0, 8)]),
    row(129, "rt_sigqueueinfo", &[Signed32, Signal, Pointer]),
    row(131, "sigaltstack", &[SigStack, SigStack]).keeps(&[input(0, 24), output(1, 24)]),
    row(159, "adjtimex", &[Pointer]),
    row(164, "settimeofday", &[Timeval, Pointer]).keeps(&[input(0, 16)]),
    row(200, "tkill", &[Signed32, Signal]),
    row(201, "time", &[NumberPointer(8)]).keeps(&[output(0, 8)]),
    row(222, "timer_create", &[Constant(&CLOCK), SigEvent, NumberPointer(4)]).keeps(&[input(1, 20), output(2, 4)]),
    row(223, "timer_settime", &[Signed32, Flags(&TIMER), TimerSpec, TimerSpec]).keeps(&[input(2, 32), output(3, 32)]),
    row(224, "timer_gettime", &[Signed32, TimerSpec]).keeps(&[output(1, 32)]),
    row(225, "timer_getoverrun", &[Signed32]),
    row(226, "timer_delete", &[Signed32]),
    row(227, "clock_settime", &[Constant(&CLOCK), Timespec]).keeps(&[input(1, 16)]),
    row(228, "clock_gettime", &[Constant(&CLOCK), Timespec]).keeps(&[output(1, 16)]),
    row(229, "clock_getres", &[Constant(&CLOCK), Timespec]).keeps(&[output(1, 16)]),
    row(234, "tgkill", &[Signed32, Signed32, Signal]),
    row(297, "rt_tgsigqueueinfo", &[Signed32, Signed32, Signal, Pointer]),
    row(305, "clock_adjtime", &[Constant(&CLOCK), Pointer]),
];
