//! The protocols, one file each. [`PROTOCOLS`] lists them, the surest first.

mod http1;
mod postgres;

use crate::{Direction, MAX_REDUCED, Protocol, Sniff};

/// All protocols.
pub static PROTOCOLS: &[&Protocol] = &[&http1::HTTP1, &postgres::POSTGRES];

/// The protocol of that name.
pub fn find(name: &str) -> Option<&'static Protocol> {
    PROTOCOLS.iter().copied().find(|protocol| protocol.name == name)
}

/// The protocol whose bytes these are; `None` where none is sure of it.
pub fn sniff(head: &[u8], direction: Direction, port: Option<u16>) -> Option<&'static Protocol> {
    PROTOCOLS.iter().copied().find(|protocol| protocol.takes(head, direction, port))
}

/// Appends to `out` what may be kept of the head of a chunk without being asked ([`Protocol::reduce`]), at most
/// [`MAX_REDUCED`] bytes. Where the direction is not known both are tried. False where nothing may be kept: no protocol
/// recognises it.
pub fn reduce(head: &[u8], direction: Option<Direction>, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    for sure in [Sniff::Yes, Sniff::Maybe] {
        for protocol in PROTOCOLS {
            for way in [Direction::Request, Direction::Response] {
                if direction.is_some_and(|known| known != way) || (protocol.sniff)(head, way) != sure {
                    continue;
                }
                if (protocol.reduce)(head, way, out) {
                    out.truncate(start + MAX_REDUCED);
                    return true;
                }
                out.truncate(start);
            }
        }
    }
    false
}
