//! Which protocol each descriptor speaks, as far as its payloads told: asking all of them costs more than the rest of the
//! drain's work. Bounded: what has no room is asked anew.

use crate::decode::payload::Stream;

/// A table of a thread's descriptors.
pub(crate) struct Streams {
    places: Vec<Place>,
    /// How often a descriptor of that number was closed, in whatever process.
    closed: Vec<u32>,
    /// How often all were.
    all_closed: u32,
}

#[derive(Clone, Copy, Default)]
struct Place {
    tid: u32,
    fd: u32,
    closed: u32,
    stream: Stream,
}

impl Streams {
    /// Descriptors that are remembered.
    const PLACES: usize = 4_096;
    /// Numbers of descriptors whose ends are told apart.
    const NUMBERS: usize = 1_024;

    pub(crate) fn new() -> Streams {
        Streams {
            places: vec![Place::default(); Self::PLACES],
            closed: vec![0; Self::NUMBERS],
            all_closed: 0,
        }
    }

    /// What is known of the descriptor `fd` of the thread `tid`.
    pub(crate) fn of(&mut self, tid: u32, fd: u32) -> &mut Stream {
        let closed = self.closed[fd as usize % Self::NUMBERS].wrapping_add(self.all_closed);
        let place = tid.wrapping_mul(0x9e37_79b1).wrapping_add(fd) as usize % Self::PLACES;
        let place = &mut self.places[place];
        if (place.tid, place.fd, place.closed) != (tid, fd, closed) {
            *place = Place { tid, fd, closed, stream: Stream::default() };
        }
        &mut place.stream
    }

    /// A descriptor of that number was closed: what comes next under it is something else.
    pub(crate) fn close(&mut self, fd: u32) {
        let closed = &mut self.closed[fd as usize % Self::NUMBERS];
        *closed = closed.wrapping_add(1);
    }

    /// Many were closed.
    pub(crate) fn close_all(&mut self) {
        self.all_closed = self.all_closed.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(streams: &mut Streams, fd: u32, bytes: &[u8]) -> bool {
        let mut out = Vec::new();
        streams.of(7, fd).reduce(bytes, &mut out);
        !out.is_empty()
    }

    #[test]
    fn another_stream_under_the_same_number_is_asked_anew() {
        let request = b"GET /a HTTP/1.1\r\n\r\n";
        let mut streams = Streams::new();
        let ends: [fn(&mut Streams); 2] = [|streams| streams.close(3), Streams::close_all];
        for end in ends {
            for _ in 0..40 {
                assert!(!kept(&mut streams, 3, b"\x01\x02\x03 nothing known"));
            }
            assert!(!kept(&mut streams, 3, request), "few are looked at by now");
            assert!(kept(&mut streams, 4, request));
            end(&mut streams);
            assert!(kept(&mut streams, 3, request));
            streams.close(3);
        }
        assert!(kept(&mut streams, 4, request));
        // What is known is kept, however much there is between.
        for _ in 0..100 {
            kept(&mut streams, 4, b"\x01\x02\x03 a body");
        }
        assert!(kept(&mut streams, 4, request));
    }
}
