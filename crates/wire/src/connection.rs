//! One connection: which protocol it speaks, and its decoder.

use crate::protocols;
use crate::{Chunk, Decoder, Direction, Protocol, Sniff, Step};

/// One connection, from the moment its chunks are seen.
pub struct Connection {
    port: Option<u16>,
    speaks: Option<(&'static Protocol, Box<dyn Decoder>)>,
    /// Chunks that no protocol recognised.
    strange: u8,
}

impl Connection {
    /// Chunks after which an unknown connection is asked no more.
    const MAX_STRANGE: u8 = 16;

    /// A connection to a server on that port, where it is known.
    pub fn new(port: Option<u16>) -> Connection {
        Connection { port, speaks: None, strange: 0 }
    }

    /// What it speaks, once recognised.
    pub fn protocol(&self) -> Option<&'static Protocol> {
        self.speaks.as_ref().map(|(protocol, _)| *protocol)
    }

    /// Whom it is meant for ([`Decoder::server`]).
    pub fn server(&self) -> Option<&str> {
        self.speaks.as_ref()?.1.server()
    }

    /// Takes a chunk and tells what it means.
    pub fn take(&mut self, direction: Direction, chunk: Chunk<'_>, out: &mut dyn FnMut(Step)) {
        if self.speaks.is_none() {
            if chunk.head.is_empty() || self.strange >= Self::MAX_STRANGE {
                return;
            }
            self.speaks = protocols::sniff(chunk.head, direction, self.port)
                .map(|protocol| (protocol, (protocol.decoder)()));
            self.strange += u8::from(self.speaks.is_none());
        }
        if let Some((_, decoder)) = &mut self.speaks {
            decoder.take(direction, chunk, out);
            if let Some(other) = decoder.becomes() {
                self.speaks = Some(other);
            }
        }
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.protocol().map(|protocol| protocol.name);
        f.debug_struct("Connection").field("port", &self.port).field("speaks", &name).finish()
    }
}

impl Protocol {
    /// True where the port is one of its usual ones and the bytes may be its own, or where they surely are.
    pub(crate) fn takes(&self, head: &[u8], direction: Direction, port: Option<u16>) -> bool {
        match (self.sniff)(head, direction) {
            Sniff::Yes => true,
            Sniff::Maybe => port.is_some_and(|port| self.ports.contains(&port)),
            Sniff::No => false,
        }
    }
}
