//! Calls by their number: which wait for work, which move bytes of a connection, which make or end one.

use crate::raw::RawCall;

/// What a call does to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Does {
    Reads,
    Writes,
    Accepts,
    Connects,
    /// Gives the socket its own port.
    Binds,
    Closes,
    /// Argument 0 goes on as the result.
    Copies,
    /// Argument 0 goes on as argument 1.
    CopiesTo,
    Makes,
    Nothing,
}

pub(super) fn does(call: &RawCall<'_>) -> Does {
    const FLAGS_OF_RECVFROM: usize = 3;
    const FLAGS_OF_RECVMSG: usize = 2;
    let peeks = |argument: usize| call.args[argument] as i32 & libc::MSG_PEEK != 0;
    match i64::from(call.nr) {
        // What is looked at but left in the socket comes again.
        libc::SYS_recvfrom if peeks(FLAGS_OF_RECVFROM) => Does::Nothing,
        libc::SYS_recvmsg if peeks(FLAGS_OF_RECVMSG) => Does::Nothing,
        libc::SYS_read | libc::SYS_readv | libc::SYS_recvfrom | libc::SYS_recvmsg => Does::Reads,
        libc::SYS_write | libc::SYS_writev | libc::SYS_sendto | libc::SYS_sendmsg | libc::SYS_sendfile => {
            Does::Writes
        }
        libc::SYS_accept | libc::SYS_accept4 => Does::Accepts,
        libc::SYS_connect => Does::Connects,
        libc::SYS_bind => Does::Binds,
        libc::SYS_socket => Does::Makes,
        libc::SYS_close => Does::Closes,
        libc::SYS_dup => Does::Copies,
        libc::SYS_dup2 | libc::SYS_dup3 => Does::CopiesTo,
        _ => Does::Nothing,
    }
}

/// By these a thread waits for work, for another to end, or for a time. A futex may be a lock, or a thread's turn in a pool: its
/// number tells not which.
pub(super) fn is_idle(call: &RawCall<'_>) -> bool {
    matches!(
        i64::from(call.nr),
        libc::SYS_epoll_wait
            | libc::SYS_epoll_pwait
            | libc::SYS_epoll_pwait2
            | libc::SYS_poll
            | libc::SYS_ppoll
            | libc::SYS_select
            | libc::SYS_pselect6
            | libc::SYS_accept
            | libc::SYS_accept4
            | libc::SYS_nanosleep
            | libc::SYS_clock_nanosleep
            | libc::SYS_pause
            | libc::SYS_rt_sigtimedwait
            | libc::SYS_rt_sigsuspend
            | libc::SYS_futex
            | libc::SYS_wait4
            | libc::SYS_waitid
            | libc::SYS_msgrcv
            | libc::SYS_mq_timedreceive
            | libc::SYS_io_getevents
            | libc::SYS_io_uring_enter
            | libc::SYS_restart_syscall
    )
}
