//! Arguments of calls, as strace prints them, to values. Knows no state: everything else here builds on it.

pub(crate) mod epoll;
pub(crate) mod futex;
pub(crate) mod numbers;
pub mod payload;
pub(crate) mod poll;
pub(crate) mod sockets;
mod wait_kind;

pub use wait_kind::WaitKind;
pub(crate) use wait_kind::wait_kind;
