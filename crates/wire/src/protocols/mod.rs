//! The protocols, one file each. [`PROTOCOLS`] lists them, the surest first.

mod amqp;
mod cgi;
mod dns;
mod fastcgi;
mod http;
mod http1;
mod http2;
mod kafka;
mod memcached;
mod mongodb;
mod mysql;
mod postgres;
mod redis;
mod tls;
mod uwsgi;

pub use dns::{DnsMessage, dns_message, dns_message_cut};
pub use tls::{TLS_NAME, tls_server_name};

use crate::{Chunk, Direction, MAX_REDUCED, Protocol, Request, Sniff, Step};

/// All protocols.
#[rustfmt::skip]
pub static PROTOCOLS: &[&Protocol] = &[
    &http1::HTTP1,
    &http2::HTTP2,
    &tls::TLS,
    &redis::REDIS,
    &fastcgi::FASTCGI,
    &uwsgi::UWSGI,
    &dns::DNS,
    &postgres::POSTGRES,
    &mysql::MYSQL,
    &mongodb::MONGODB,
    &kafka::KAFKA,
    &amqp::AMQP,
    &memcached::MEMCACHED,
];

/// The protocol of that name.
pub fn find(name: &str) -> Option<&'static Protocol> {
    PROTOCOLS.iter().copied().find(|protocol| protocol.name == name)
}

/// The protocol whose bytes these are; `None` where none is sure of it.
pub fn sniff(head: &[u8], direction: Direction, port: Option<u16>) -> Option<&'static Protocol> {
    PROTOCOLS.iter().copied().find(|protocol| protocol.takes(head, direction, port))
}

/// The first request in bytes that a client sent, of which more may follow, and the name of its protocol; `None` where no
/// protocol is sure of them.
pub fn first_request(head: &[u8]) -> Option<(&'static str, Request)> {
    let protocol =
        PROTOCOLS.iter().find(|protocol| (protocol.sniff)(head, Direction::Request) == Sniff::Yes)?;
    let mut first = None;
    let chunk = Chunk { head, len: head.len() as u64 + 1 };
    (protocol.decoder)().take(Direction::Request, chunk, &mut |step| {
        if let Step::Asked(_, request) = step {
            first.get_or_insert(request);
        }
    });
    Some((protocol.name, first?))
}

/// Appends to `out` what may be kept of the head of a chunk without being asked ([`Protocol::reduce`]), at most
/// [`MAX_REDUCED`] bytes. Where the direction is not known both are tried. `None` where nothing may be kept: no protocol
/// recognises it.
pub fn reduce(head: &[u8], direction: Option<Direction>, out: &mut Vec<u8>) -> Option<&'static Protocol> {
    // This runs for each payload of a recording: no protocol is asked twice.
    let mut perhaps: Vec<(&'static Protocol, Direction)> = Vec::new();
    for protocol in PROTOCOLS.iter().copied() {
        for way in ways(direction) {
            match (protocol.sniff)(head, way) {
                Sniff::Yes if keep(protocol, head, way, out) => return Some(protocol),
                Sniff::Maybe => perhaps.push((protocol, way)),
                _ => {}
            }
        }
    }
    let kept = perhaps.into_iter().find(|(protocol, way)| keep(protocol, head, *way, out));
    kept.map(|(protocol, _)| protocol)
}

/// The same for a chunk of a connection that speaks this protocol: no other is asked. False where it does not
/// recognise it.
pub fn reduce_as(protocol: &Protocol, head: &[u8], direction: Option<Direction>, out: &mut Vec<u8>) -> bool {
    let mut best = (Sniff::No, Direction::Request);
    for way in ways(direction) {
        let sure = (protocol.sniff)(head, way);
        if sure > best.0 {
            best = (sure, way);
        }
        if sure == Sniff::Yes {
            break;
        }
    }
    best.0 != Sniff::No && keep(protocol, head, best.1, out)
}

/// The ways that a chunk may go.
fn ways(direction: Option<Direction>) -> impl Iterator<Item = Direction> {
    let both = [Direction::Request, Direction::Response];
    both.into_iter().filter(move |way| direction.is_none_or(|known| known == *way))
}

fn keep(protocol: &Protocol, head: &[u8], way: Direction, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let kept = (protocol.reduce)(head, way, out);
    out.truncate(if kept { start + MAX_REDUCED } else { start });
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Said, direction};
    use proptest::prelude::*;

    /// What each protocol's tests have recorded.
    const SAID: &[(&Protocol, &[Said])] = &[
        (&http2::HTTP2, http2::tests::GRPC),
        (&http2::HTTP2, http2::tests::CURL),
        (&postgres::POSTGRES, postgres::tests::SAID),
        (&mysql::MYSQL, mysql::tests::SAID),
        (&mongodb::MONGODB, mongodb::tests::SAID),
        (&kafka::KAFKA, kafka::tests::SAID),
        (&amqp::AMQP, amqp::tests::SAID),
        (&memcached::MEMCACHED, memcached::tests::SAID),
        (&memcached::MEMCACHED, memcached::tests::BINARY),
    ];

    #[test]
    fn only_its_own_protocol_is_sure_of_a_chunk() {
        for (own, said) in SAID {
            for (way, bytes) in *said {
                for other in PROTOCOLS.iter().filter(|other| other.name != own.name) {
                    for direction in [Direction::Request, Direction::Response] {
                        assert_ne!(
                            (other.sniff)(bytes, direction),
                            Sniff::Yes,
                            "{} takes of {}: {way} {}",
                            other.name,
                            own.name,
                            bytes.escape_ascii()
                        );
                    }
                }
            }
            let sure_of_first =
                said.iter().take(3).any(|(way, bytes)| (own.sniff)(bytes, direction(*way)) == Sniff::Yes);
            assert!(sure_of_first, "{}", own.name);
        }
    }

    #[test]
    fn other_text_is_of_none() {
        for text in [
            &b"hello world\n"[..],
            b"2024-01-01 12:00:00 INFO started\n",
            b"{\"password\": \"x\"}",
            b"<html><body>",
            b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0",
            b"PK\x03\x04\x14\0\0\0\x08\0",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            b"\x1f\x8b\x08\0\0\0\0\0\0\x03",
            b"SSH-2.0-OpenSSH_9.2\r\n",
            b"220 mail ESMTP\r\n",
            b"EHLO me\r\n",
            b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            // Frames of programs' own: a length, then numbers.
            b"\0\0\0\x10\0\0\0\0\0\0\x04\x52\0\0\0\0\0\0\x04\xb3",
        ] {
            for (own, _) in SAID {
                for direction in [Direction::Request, Direction::Response] {
                    assert_ne!(
                        (own.sniff)(text, direction),
                        Sniff::Yes,
                        "{}: {}",
                        own.name,
                        text.escape_ascii()
                    );
                }
            }
        }
    }

    /// Beginnings that lead far into decoders, and noise.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let said: Vec<&[u8]> =
            SAID.iter().flat_map(|(_, said)| said.iter().map(|(_, bytes)| *bytes)).collect();
        let noise = prop::collection::vec(any::<u8>(), 0..80);
        (prop::sample::select(said), 0..600usize, noise)
            .prop_map(|(said, cut, noise)| [&said[..cut.min(said.len())], &noise].concat())
    }

    proptest! {
        #[test]
        fn any_conversation_is_survived_by_all(
            chunks in prop::collection::vec((any::<bool>(), bytes(), prop_oneof![Just(0), 0..90u64, Just(1 << 50)]), 1..12),
            port in prop::sample::select(vec![None, Some(80), Some(5432), Some(6379), Some(9092), Some(50051)]),
        ) {
            let mut connection = crate::Connection::new(port);
            let mut decoders: Vec<_> = PROTOCOLS.iter().map(|protocol| (protocol.decoder)()).collect();
            for (asks, head, missing) in &chunks {
                let direction = if *asks { Direction::Request } else { Direction::Response };
                let chunk = Chunk { head, len: head.len() as u64 + missing };
                connection.take(direction, chunk, &mut |_| {});
                decoders.iter_mut().for_each(|decoder| decoder.take(direction, chunk, &mut |_| {}));
                let mut kept = Vec::new();
                reduce(head, None, &mut kept);
                for protocol in PROTOCOLS {
                    reduce_as(protocol, head, None, &mut kept);
                }
                prop_assert!(kept.len() <= MAX_REDUCED * (1 + PROTOCOLS.len()));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn random_bytes_are_of_none(bytes in prop::collection::vec(any::<u8>(), 16..64)) {
            for (own, _) in SAID {
                for direction in [Direction::Request, Direction::Response] {
                    prop_assert_ne!((own.sniff)(&bytes, direction), Sniff::Yes, "{}", own.name);
                }
            }
        }
    }
}
