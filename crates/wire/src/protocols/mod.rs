//! The protocols, one file each. [`PROTOCOLS`] lists them, the surest first.

use crate::{Direction, Protocol};

/// All protocols.
pub static PROTOCOLS: &[&Protocol] = &[];

/// The protocol of that name.
pub fn find(name: &str) -> Option<&'static Protocol> {
    PROTOCOLS.iter().copied().find(|protocol| protocol.name == name)
}

/// The protocol whose bytes these are; `None` where none is sure of it.
pub fn sniff(head: &[u8], direction: Direction, port: Option<u16>) -> Option<&'static Protocol> {
    PROTOCOLS.iter().copied().find(|protocol| protocol.takes(head, direction, port))
}
