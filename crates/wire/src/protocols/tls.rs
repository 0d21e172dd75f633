//! TLS (RFC 8446): recognised, so that nothing else is seen in it. Whom the client wants to talk to is in its first
//! message, which is not encrypted; what follows is unknown.

use super::http;
use crate::text::without_tokens;
use crate::{Chunk, Decoder, Direction, Protocol, Sniff, Step};

/// What its connections are called: their requests cannot be seen.
pub const TLS_NAME: &str = "TLS";

/// TLS and SSL 3.
pub(super) static TLS: Protocol =
    Protocol { name: TLS_NAME, ports: &[443, 8443], sniff, decoder: || Box::new(Tls::default()), reduce };

/// Bytes of a record's head.
const HEAD: usize = 5;
/// Bytes of a record at most (RFC 5246, 6.2.3).
const MAX_RECORD: u16 = (1 << 14) + 2048;
/// Type of a record that belongs to the handshake.
const HANDSHAKE: u8 = 0x16;
/// Type of a handshake's message: the client's first (RFC 8446, 4).
const CLIENT_HELLO: u8 = 1;
/// Numbers of extensions (RFC 6066, 3; RFC 7301, 3.1).
const SERVER_NAME: u16 = 0;
const PROTOCOLS: u16 = 16;

/// Type (change of cipher, alert, handshake, data), version, length.
fn sniff(bytes: &[u8], _: Direction) -> Sniff {
    match bytes {
        [0x14..=0x17, 3, 0..=4, high, low, ..] => {
            let fits = (1..=MAX_RECORD).contains(&u16::from_be_bytes([*high, *low]));
            // A handshake begins with what both ends are known to say first.
            match (fits, bytes.first(), bytes.get(HEAD)) {
                (false, ..) => Sniff::No,
                (true, Some(&HANDSHAKE), Some(1 | 2) | None) => Sniff::Yes,
                (true, ..) => Sniff::Maybe,
            }
        }
        _ => Sniff::No,
    }
}

/// What a client says of whom it calls, before anything is encrypted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Hello<'a> {
    /// The name of the server.
    server: Option<&'a str>,
    /// The list of protocols that it offers, each behind its length.
    protocols: Option<&'a [u8]>,
}

impl<'a> Hello<'a> {
    /// `None` where no such message begins so; what is behind the end of the bytes is not told.
    fn read(bytes: &'a [u8]) -> Option<Hello<'a>> {
        let [HANDSHAKE, 3, _, _, _, CLIENT_HELLO, body @ ..] = bytes else { return None };
        let mut hello = Hello::default();
        let mut rest = Reader(body);
        let mut read = || {
            // Length, version, and what is random; then the session, the ciphers and how to compress.
            rest.skip(3 + 2 + 32)?;
            let session = rest.byte()?;
            rest.skip(usize::from(session))?;
            let ciphers = rest.short()?;
            rest.skip(usize::from(ciphers))?;
            let methods = rest.byte()?;
            rest.skip(usize::from(methods))?;
            rest.short()?;
            loop {
                let (kind, length) = (rest.short()?, rest.short()?);
                let content = rest.skip(usize::from(length))?;
                match (kind, content) {
                    // A list of names, of which only those of hosts (0) are in use.
                    (SERVER_NAME, [_, _, 0, high, low, name @ ..]) => {
                        let name = name.get(..usize::from(u16::from_be_bytes([*high, *low])));
                        hello.server = name.and_then(http::host);
                    }
                    (PROTOCOLS, [_, _, names @ ..]) => hello.protocols = Some(names),
                    _ => {}
                }
            }
        };
        let _: Option<()> = read();
        Some(hello)
    }
}

/// Numbers and bytes, one behind the other.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn skip(&mut self, count: usize) -> Option<&'a [u8]> {
        let (front, behind) = self.0.split_at_checked(count)?;
        self.0 = behind;
        Some(front)
    }

    fn byte(&mut self) -> Option<u8> {
        self.skip(1).map(|byte| byte[0])
    }

    fn short(&mut self) -> Option<u16> {
        self.skip(2).map(|two| u16::from_be_bytes([two[0], two[1]]))
    }
}

/// The name of the server that the first bytes of a connection ask for (RFC 6066, 3), with `*` for what may be a token.
pub fn tls_server_name(bytes: &[u8]) -> Option<String> {
    let name = Hello::read(bytes)?.server?;
    let mut shown = String::with_capacity(name.len());
    without_tokens(name.as_bytes(), false, &mut shown);
    Some(shown)
}

/// Tells nothing but the server's name: records are no requests.
#[derive(Default)]
struct Tls {
    server: Option<String>,
    /// The first bytes of a hello that is not whole.
    begun: Vec<u8>,
    is_told: bool,
}

impl Tls {
    /// Bytes of a hello that are waited for: with keys of post-quantum exchange it has 1.7 KiB.
    const ENOUGH: usize = 4 << 10;
}

impl Decoder for Tls {
    fn take(&mut self, direction: Direction, chunk: Chunk<'_>, _: &mut dyn FnMut(Step)) {
        if self.is_told || direction == Direction::Response {
            return;
        }
        let room = Self::ENOUGH - self.begun.len();
        self.begun.extend_from_slice(&chunk.head[..chunk.head.len().min(room)]);
        let length = self.begun.get(3..HEAD).map(|two| u16::from_be_bytes([two[0], two[1]]));
        let is_whole = length.is_some_and(|length| self.begun.len() >= HEAD + usize::from(length));
        self.server = tls_server_name(&self.begun);
        let is_cut = chunk.len > chunk.head.len() as u64;
        if self.server.is_some() || is_whole || is_cut || self.begun.len() >= Self::ENOUGH {
            self.is_told = true;
            self.begun = Vec::new();
        }
    }

    fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }
}

/// Type and version of a record; of a hello the server's name and the protocols, in a hello that says nothing else.
fn reduce(bytes: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    let is_record = sniff(bytes, direction) != Sniff::No;
    out.extend(bytes.iter().take(if is_record { HEAD } else { 0 }));
    if !is_record || direction == Direction::Response {
        return is_record;
    }
    let Some(hello) = Hello::read(bytes) else { return true };
    let mut extensions = Vec::new();
    let mut extension = |kind: u16, content: &[&[u8]]| {
        let length = content.iter().map(|part| part.len()).sum::<usize>() as u16;
        extensions.extend_from_slice(&kind.to_be_bytes());
        extensions.extend_from_slice(&length.to_be_bytes());
        content.iter().for_each(|part| extensions.extend_from_slice(part));
    };
    if let Some(name) = tls_server_name(bytes) {
        let length = name.len() as u16;
        let list = (length + 3).to_be_bytes();
        extension(SERVER_NAME, &[&list, &[0], &length.to_be_bytes(), name.as_bytes()]);
    }
    if let Some(names) = hello.protocols.filter(|names| names.len() <= 40 && names.iter().all(is_of_name)) {
        extension(PROTOCOLS, &[&(names.len() as u16).to_be_bytes(), names]);
    }
    if !extensions.is_empty() {
        // No session, no ciphers, no compression; the lengths of record and message stay.
        out.push(CLIENT_HELLO);
        out.extend_from_slice(&[0, 0, 0, 3, 3]);
        out.extend_from_slice(&[0; 32 + 1 + 2 + 1]);
        out.extend_from_slice(&(extensions.len() as u16).to_be_bytes());
        out.extend_from_slice(&extensions);
    }
    true
}

/// True for bytes of the names of protocols (`h2`, `http/1.1`) and of their lengths.
fn is_of_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"/.-".contains(byte) || (1..=12).contains(byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Answer, Ask, reduced, talk};
    use proptest::prelude::*;

    #[test]
    fn is_recognised_and_tells_nothing() {
        let hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03secret";
        assert_eq!(sniff(hello, Ask), Sniff::Yes);
        assert_eq!(reduced(&TLS, Ask, hello), b"\x16\x03\x01\x02\x00");
        assert_eq!(sniff(&hello[..5], Ask), Sniff::Yes);
        assert_eq!(sniff(b"\x16\x03\x01", Ask), Sniff::No);
        assert!(talk(&TLS, &[(Ask, hello)]).is_empty());
    }

    /// What OpenSSL 3.0 says first, as Python asks it to.
    #[rustfmt::skip]
    const HELLO: &[u8] = &[
        22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 108, 181, 222, 104, 27, 162, 131, 206, 157, 230, 73, 229, 204,
        80, 118, 184, 206, 72, 134, 254, 248, 117, 199, 210, 13, 211, 115, 30, 136, 116, 255, 191, 32, 159, 51, 68, 70,
        176, 213, 183, 140, 47, 18, 207, 220, 0, 95, 173, 115, 31, 88, 185, 197, 136, 17, 232, 154, 179, 208, 159, 116,
        45, 30, 251, 106, 0, 36, 19, 2, 19, 3, 19, 1, 192, 44, 192, 48, 192, 43, 192, 47, 204, 169, 204, 168,
        192, 36, 192, 40, 192, 35, 192, 39, 0, 159, 0, 158, 0, 107, 0, 103, 0, 255, 1, 0, 1, 143, 0, 0,
        0, 20, 0, 18, 0, 0, 15, 97, 112, 105, 46, 101, 120, 97, 109, 112, 108, 101, 46, 99, 111, 109, 0, 11,
        0, 4, 3, 0, 1, 2, 0, 10, 0, 22, 0, 20, 0, 29, 0, 23, 0, 30, 0, 25, 0, 24, 1, 0,
        1, 1, 1, 2, 1, 3, 1, 4, 0, 35, 0, 0, 0, 16, 0, 14, 0, 12, 2, 104, 50, 8, 104, 116,
        116, 112, 47, 49, 46, 49, 0, 22, 0, 0, 0, 23, 0, 0, 0, 13, 0, 42, 0, 40, 4, 3, 5, 3,
        6, 3, 8, 7, 8, 8, 8, 9, 8, 10, 8, 11, 8, 4, 8, 5, 8, 6, 4, 1, 5, 1, 6, 1,
        3, 3, 3, 1, 3, 2, 4, 2, 5, 2, 6, 2, 0, 43, 0, 5, 4, 3, 4, 3, 3, 0, 45, 0,
        2, 1, 1, 0, 51, 0, 38, 0, 36, 0, 29, 0, 32, 45, 96, 215, 90, 32, 148, 10, 150, 21, 231, 230,
        122, 128, 23, 87, 226, 96, 111, 12, 19, 201, 235, 32, 71, 125, 180, 183, 98, 94, 38, 59, 67, 0, 21, 0,
        204, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];

    /// What a decoder says of whom a hello asks for, in pieces of so many bytes.
    fn server(hello: &[u8], piece: usize) -> Option<String> {
        let mut tls = Tls::default();
        for bytes in hello.chunks(piece) {
            tls.take(Ask, Chunk { head: bytes, len: bytes.len() as u64 }, &mut |_| {});
        }
        tls.server().map(str::to_owned)
    }

    #[test]
    fn the_name_of_the_server_is_read_and_kept() {
        let expected = Some("api.example.com".to_owned());
        for piece in [1, 7, 100, 10_000] {
            assert_eq!(server(HELLO, piece), expected);
        }
        let mut kept = Vec::new();
        assert!(crate::reduce(HELLO, None, &mut kept).is_some());
        assert_eq!(server(&kept, 10_000), expected);
        assert_eq!(Hello::read(&kept).unwrap().protocols, Some(&b"\x02h2\x08http/1.1"[..]));
        // Nothing of what is random or of keys is left.
        let random = &HELLO[11..43];
        assert!(random.windows(4).all(|part| memchr::memmem::find(&kept, part).is_none()));
        assert_eq!(server(&HELLO[..60], 10_000), None);
        assert_eq!(reduced(&TLS, Answer, HELLO), HELLO[..5]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            at in 0..600usize,
            piece in 1..400usize,
        ) {
            let mixed = [&HELLO[..at.min(HELLO.len())], &bytes].concat();
            server(&mixed, piece);
            let mut kept = Vec::new();
            reduce(&mixed, Ask, &mut kept);
            prop_assert!(kept.len() <= crate::MAX_REDUCED);
        }
    }
}
