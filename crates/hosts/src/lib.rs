//! Recordings of several hosts read as one: each host's threads get ids of their own ([`OfHost`]), the clocks are compared by the
//! exchanges that both ends recorded ([`skews`]), and events come in the order of time ([`in_order`]).
//!
//! Facts then join the two ends of a connection by its addresses, as they do on one host. What has an address or a number on one host alone
//! (loopback, pipes, unix sockets, locks) is joined with nothing of another host.

mod number;
mod order;
mod skew;

pub use number::OfHost;
pub use order::{ReadError, Reader, in_order};
pub use skew::{Skew, skews};
