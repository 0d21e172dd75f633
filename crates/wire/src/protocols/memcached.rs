//! memcached, its text protocol with meta commands and its binary one (memcached, `doc/protocol.txt`,
//! `doc/protocol-binary.xml`).

mod binary;
mod text;

#[cfg(test)]
#[allow(clippy::octal_escapes, reason = "bytes as they were recorded")]
pub(super) mod tests;

use crate::exchange::Exchanged;
use crate::turn::Out;
use crate::{Chunk, Decoder, Direction, Protocol, Sniff, Step};

/// memcached.
pub(super) static MEMCACHED: Protocol =
    Protocol { name: "memcached", ports: &[11211], sniff, decoder: || Box::new(Memcached::Unknown), reduce };

fn sniff(head: &[u8], direction: Direction) -> Sniff {
    match head.first() {
        Some(0x80 | 0x81) => binary::sniff(head, direction),
        Some(_) => text::sniff(head, direction),
        None => Sniff::No,
    }
}

fn reduce(head: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    match head.first() {
        Some(0x80 | 0x81) => binary::reduce(head, direction, out),
        _ => text::reduce(head, direction, out),
    }
}

/// A connection speaks one of the two.
enum Memcached {
    Unknown,
    Text(Box<text::Text>),
    Binary(Box<Exchanged<binary::Binary>>),
}

impl Decoder for Memcached {
    fn take(&mut self, direction: Direction, chunk: Chunk<'_>, out: &mut dyn FnMut(Step)) {
        if matches!(self, Memcached::Unknown) {
            *self = match chunk.head.first() {
                Some(0x80 | 0x81) => Memcached::Binary(Box::default()),
                Some(_) => Memcached::Text(Box::default()),
                None => return,
            };
        }
        let out: Out<'_> = out;
        match self {
            Memcached::Unknown => {}
            Memcached::Text(text) => text.take(direction, chunk, out),
            Memcached::Binary(binary) => binary.take(direction, chunk, out),
        }
    }
}
