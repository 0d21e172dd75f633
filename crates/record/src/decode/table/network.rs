//! Calls on sockets.

use super::{Row, array, before, data_read, data_written, message, output, row, sized};
use crate::decode::arg::Arg::*;
use crate::decode::constants::*;
use crate::spec::KeptMemory;

/// Bytes kept of a socket address: `struct sockaddr_storage`.
const ADDRESS: u16 = 128;

/// Bytes kept of the value of a socket option.
const OPTION: u16 = 32;

/// `struct timespec` of `recvmmsg`.
const TIMEOUT: KeptMemory = super::input(4, 16);

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(41, "socket", &[Constant(&FAMILY), SocketType, Protocol]).opens(),
    row(42, "connect", &[Fd, Address, Signed32]).keeps(&[array(1, 2, 1, ADDRESS)]).state(),
    row(43, "accept", &[Fd, Address, LengthMoved]).keeps(&[before(2, 4), sized(1, 2, ADDRESS), output(2, 4)]).opens(),
    row(44, "sendto", &[Fd, WrittenData(2), Unsigned, Flags(&MESSAGE), Address, Signed32]).keeps(&[data_written(1, 2), array(4, 5, 1, ADDRESS)]),
    row(45, "recvfrom", &[Fd, ReadData, Unsigned, Flags(&MESSAGE), Address, LengthMoved]).keeps(&[before(5, 4), data_read(1), sized(4, 5, ADDRESS), output(5, 4)]),
    row(46, "sendmsg", &[Fd, MessageSent, Flags(&MESSAGE)]).keeps(&[message(1)]),
    row(47, "recvmsg", &[Fd, MessageReceived, Flags(&MESSAGE)]).keeps(&[message(1)]),
    row(48, "shutdown", &[Fd, Constant(&SHUTDOWN)]).state(),
    row(49, "bind", &[Fd, Address, Signed32]).keeps(&[array(1, 2, 1, ADDRESS)]).state(),
    row(50, "listen", &[Fd, Signed32]).state(),
    row(51, "getsockname", &[Fd, Address, LengthMoved]).keeps(&[before(2, 4), sized(1, 2, ADDRESS), output(2, 4)]).state(),
    row(52, "getpeername", &[Fd, Address, LengthMoved]).keeps(&[before(2, 4), sized(1, 2, ADDRESS), output(2, 4)]).state(),
    row(53, "socketpair", &[Constant(&FAMILY), SocketType, Protocol, FdPair]).keeps(&[output(3, 8)]).state(),
    row(54, "setsockopt", &[Fd, Constant(&SOCKET_LEVEL), SocketOption, SocketValue, Signed32]).keeps(&[array(3, 4, 1, OPTION)]),
    // It tells how a connect ended that was not waited for (SO_ERROR).
    row(55, "getsockopt", &[Fd, Constant(&SOCKET_LEVEL), SocketOption, SocketValue, LengthMoved]).keeps(&[before(4, 4), sized(3, 4, OPTION), output(4, 4)]).state(),
    row(288, "accept4", &[Fd, Address, LengthMoved, Flags(&ACCEPT)]).keeps(&[before(2, 4), sized(1, 2, ADDRESS), output(2, 4)]).opens(),
    row(299, "recvmmsg", &[Fd, MessagesReceived, Unsigned32, Flags(&MESSAGE), Timespec]).keeps(&[message(1), TIMEOUT]),
    row(307, "sendmmsg", &[Fd, MessagesSent, Unsigned32, Flags(&MESSAGE)]).keeps(&[message(1)]),
];
