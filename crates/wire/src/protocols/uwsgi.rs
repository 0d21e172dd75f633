//! uWSGI: a web server asks an application; one packet of variables and the body, one answer, a connection each.

use crate::protocols::cgi::{Variables, pairs_of_uwsgi};
use crate::protocols::http1;
use crate::{Chunk, Decoder, Direction, Key, Protocol, Sniff, Step};

/// uWSGI.
pub(super) static UWSGI: Protocol =
    Protocol { name: "uWSGI", ports: &[3031], sniff, decoder: || Box::new(Uwsgi::default()), reduce };

/// Bytes before the variables: modifier, length (the lower byte first), modifier.
const HEAD: usize = 4;

/// A packet of WSGI variables.
fn sniff(bytes: &[u8], direction: Direction) -> Sniff {
    let [0, low, high, 0, rest @ ..] = bytes else {
        let is_answer = direction == Direction::Response && http1::status_of(bytes).is_some();
        return if is_answer { Sniff::Maybe } else { Sniff::No };
    };
    let length = usize::from(u16::from_le_bytes([*low, *high]));
    let mut first = pairs_of_uwsgi(&rest[..rest.len().min(length)]);
    let is_name = |name: &[u8]| {
        name.len() > 2 && name.iter().all(|b| b.is_ascii_uppercase() || b"_0123456789".contains(b))
    };
    match first.next() {
        Some((name, ..)) if direction == Direction::Request && is_name(name) => Sniff::Yes,
        _ => Sniff::No,
    }
}

#[derive(Default)]
struct Uwsgi {
    /// The packet so far.
    begun: Vec<u8>,
    asked: Option<Key>,
    is_answered: bool,
}

impl Uwsgi {
    /// Bytes of a packet that are looked at.
    const MAX_PACKET: usize = 8 << 10;
}

impl Decoder for Uwsgi {
    fn take(&mut self, direction: Direction, chunk: Chunk<'_>, out: &mut dyn FnMut(Step)) {
        let missing = chunk.len > chunk.head.len() as u64;
        match (direction, self.asked) {
            (Direction::Request, Some(key)) if !self.is_answered => out(Step::Asks(key)),
            (Direction::Request, Some(_)) => {}
            (Direction::Request, None) => {
                let room = Self::MAX_PACKET.saturating_sub(self.begun.len()).min(chunk.head.len());
                self.begun.extend_from_slice(&chunk.head[..room]);
                let Some([0, low, high, 0]) = self.begun.get(..HEAD) else { return };
                let length = HEAD + usize::from(u16::from_le_bytes([*low, *high]));
                if self.begun.len() < length.min(Self::MAX_PACKET) && !missing {
                    return;
                }
                let content = &self.begun[HEAD..self.begun.len().min(length)];
                let request = Variables::read(pairs_of_uwsgi(content)).request();
                (self.asked, self.begun) = (Some(Key(0)), Vec::new());
                out(Step::Asked(Key(0), request));
            }
            (Direction::Response, Some(key)) if self.is_answered => out(Step::Answers(key)),
            (Direction::Response, Some(key)) => {
                self.is_answered = true;
                out(Step::Answered(key, http1::status_of(chunk.head)));
            }
            (Direction::Response, None) => {}
        }
    }
}

/// The packet with the variables that name the request.
fn reduce(bytes: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    if direction == Direction::Response || sniff(bytes, direction) == Sniff::No {
        return false;
    }
    let length = HEAD + usize::from(u16::from_le_bytes([bytes[1], bytes[2]]));
    let mut kept = Vec::new();
    Variables::read(pairs_of_uwsgi(&bytes[HEAD..bytes.len().min(length)])).write_uwsgi(&mut kept);
    let [low, high] = (kept.len() as u16).to_le_bytes();
    out.extend_from_slice(&[0, low, high, 0]);
    out.extend_from_slice(&kept);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Answer, Ask, cut_anywhere, reduced, talk};

    fn packet() -> Vec<u8> {
        let mut variables = Vec::new();
        for (name, value) in [
            ("QUERY_STRING", "token=secret"),
            ("REQUEST_METHOD", "POST"),
            ("REQUEST_URI", "/user/12?token=secret"),
            ("HTTP_HOST", "example.org"),
        ] {
            for text in [name, value] {
                variables.extend((text.len() as u16).to_le_bytes());
                variables.extend(text.bytes());
            }
        }
        [&[0, variables.len() as u8, 0, 0], &variables[..]].concat()
    }

    #[test]
    fn turns() {
        let packet = packet();
        let chunks: &[(Direction, &[u8])] =
            &[(Ask, &packet), (Ask, b"body"), (Answer, b"HTTP/1.1 201 Created\r\n\r\n")];
        assert_eq!(talk(&UWSGI, chunks), ["ask 0 POST /user/{id}", "answer 0 201"]);
        cut_anywhere(&UWSGI, &chunks[..2], &[3, 1]);
        assert_eq!(sniff(&packet, Ask), Sniff::Yes);
        let kept = reduced(&UWSGI, Ask, &packet);
        assert!(!String::from_utf8_lossy(&kept).contains("secret"));
    }
}
