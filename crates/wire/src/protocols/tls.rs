//! TLS (RFC 8446): recognised, so that nothing else is seen in it. What it hides is unknown.

use crate::{Chunk, Decoder, Direction, Protocol, Sniff, Step};

/// What its connections are called: their requests cannot be seen.
pub const TLS_NAME: &str = "TLS";

/// TLS and SSL 3.
pub(super) static TLS: Protocol =
    Protocol { name: TLS_NAME, ports: &[443, 8443], sniff, decoder: || Box::new(Tls), reduce };

/// Bytes of a record's head.
const HEAD: usize = 5;
/// Bytes of a record at most (RFC 5246, 6.2.3).
const MAX_RECORD: u16 = (1 << 14) + 2048;

/// Type (change of cipher, alert, handshake, data), version, length.
fn sniff(bytes: &[u8], _: Direction) -> Sniff {
    match bytes {
        [0x14..=0x17, 3, 0..=4, high, low, ..] => {
            let fits = (1..=MAX_RECORD).contains(&u16::from_be_bytes([*high, *low]));
            // A handshake begins with what both ends are known to say first.
            match (fits, bytes.first(), bytes.get(HEAD)) {
                (false, ..) => Sniff::No,
                (true, Some(0x16), Some(1 | 2) | None) => Sniff::Yes,
                (true, ..) => Sniff::Maybe,
            }
        }
        _ => Sniff::No,
    }
}

/// Tells nothing: records are no requests.
struct Tls;

impl Decoder for Tls {
    fn take(&mut self, _: Direction, _: Chunk<'_>, _: &mut dyn FnMut(Step)) {}
}

/// Type and version of a record.
fn reduce(bytes: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    let is_record = sniff(bytes, direction) != Sniff::No;
    out.extend(bytes.iter().take(if is_record { HEAD } else { 0 }));
    is_record
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Ask, reduced, talk};

    #[test]
    fn is_recognised_and_tells_nothing() {
        let hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03secret";
        assert_eq!(sniff(hello, Ask), Sniff::Yes);
        assert_eq!(reduced(&TLS, Ask, hello), b"\x16\x03\x01\x02\x00");
        assert_eq!(sniff(&hello[..5], Ask), Sniff::Yes);
        assert_eq!(sniff(b"\x16\x03\x01", Ask), Sniff::No);
        assert!(talk(&TLS, &[(Ask, hello)]).is_empty());
    }
}
