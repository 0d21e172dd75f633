//! Rules about connections and peers.

pub(super) mod client_gone;
pub(super) mod close_wait_leak;
pub(super) mod connect_failing;
pub(super) mod connection_per_request;
pub(super) mod dns_timeout;
pub(super) mod downstream_timeout;
pub(super) mod fd_exhaustion;
