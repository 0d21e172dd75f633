//! The beginning of a connection with TLS: how long the handshake takes, and whether the server shows its certificate in it.

use crate::exemplar::Exemplars;
use crate::world::Seen;
use whyslow_model::{Call, CallStats, Nanos, Timestamp};

/// Handshakes with one peer.
#[derive(Clone, Debug, Default)]
pub struct Handshakes {
    /// Those that came to an end. Of a server: from the ClientHello that was sent to the first record that is no handshake, so the
    /// time of the server and of the way is in it. Of a client: from its ClientHello to the last of the answer, which is this program's work.
    pub times: CallStats,
    /// Of these, with a certificate: no session was resumed, as far as the bytes of the answer tell.
    pub full: u64,
    /// Lines of ClientHellos.
    pub lines: Exemplars,
}

impl Handshakes {
    pub(super) fn merge(&mut self, other: &Handshakes) {
        self.times.merge(&other.times);
        self.full = self.full.saturating_add(other.full);
        self.lines.merge(&other.lines);
    }
}

/// Bytes of a server's answer to a ClientHello from which on a certificate is in it. Without one it is a ServerHello (some 120 bytes), an
/// end (some 70) and perhaps a ticket (some 230); the smallest certificates in use have 400 bytes and more, and come with a signature (RFC 8446, 4.4).
const CERTIFICATE_BYTES: u64 = 600;

/// Writes, or reads, of a connection in which a handshake may begin: some protocols ask for TLS in plain text before (STARTTLS).
const MAX_BEFORE: u8 = 8;

/// How far one connection is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Handshake {
    /// Nothing of it was seen, in so many reads or writes.
    Awaited(u8),
    /// The ClientHello went; bytes of the answer, and when its last bytes went.
    UnderWay { since: Timestamp, bytes: u64, answered: Timestamp },
    /// It is over, or there is none.
    Over,
}

impl Default for Handshake {
    fn default() -> Self {
        Handshake::Awaited(0)
    }
}

impl Handshake {
    fn begins(&mut self, call: &Call<'_>, at: Timestamp, of: &mut Handshakes) {
        let Handshake::Awaited(before) = *self else { return };
        *self = match record(call.args) {
            Some(Record::Handshake) => {
                of.lines.see(call);
                Handshake::UnderWay { since: at, bytes: 0, answered: Timestamp::UNKNOWN }
            }
            _ if before >= MAX_BEFORE => Handshake::Over,
            _ => Handshake::Awaited(before + 1),
        };
    }

    fn ends(&mut self, took: Nanos, bytes: u64, of: &mut Handshakes) {
        of.times.record(took, false, bytes);
        of.full += u64::from(bytes >= CERTIFICATE_BYTES);
        *self = Handshake::Over;
    }

    /// The program writes to a server.
    #[inline]
    pub(super) fn asks(&mut self, seen: &Seen<'_>, of: &mut Handshakes) {
        match *self {
            Handshake::Over => {}
            Handshake::Awaited(_) => self.begins(seen.call, seen.call.ts, of),
            Handshake::UnderWay { since, bytes, .. } => {
                if record(seen.call.args) != Some(Record::Handshake) {
                    self.ends(seen.call.ts.since(since), bytes, of);
                }
            }
        }
    }

    /// The program reads from a server, or answers a client.
    #[inline]
    pub(super) fn answer(&mut self, seen: &Seen<'_>) {
        if let Handshake::UnderWay { bytes, answered, .. } = self {
            *bytes = bytes.saturating_add(seen.bytes);
            *answered = seen.call.end();
        }
    }

    /// The program reads from a client.
    #[inline]
    pub(super) fn is_asked(&mut self, seen: &Seen<'_>, of: &mut Handshakes) {
        match *self {
            Handshake::Over => {}
            Handshake::Awaited(_) => self.begins(seen.call, seen.call.end(), of),
            // The rest of the ClientHello.
            Handshake::UnderWay { bytes: 0, .. } => {}
            Handshake::UnderWay { since, bytes, answered } => {
                let asks_again =
                    bytes < CERTIFICATE_BYTES && record(seen.call.args) == Some(Record::Handshake);
                if asks_again {
                    // HelloRetryRequest: the client says its hello anew (RFC 8446, 4.1.4).
                    *self = Handshake::UnderWay { since, bytes: 0, answered };
                } else {
                    self.ends(answered.since(since), bytes, of);
                }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Record {
    /// Messages of the handshake in plain text.
    Handshake,
    /// A change of the cipher, or what is encrypted.
    Other,
}

/// The kind of the TLS record that a payload begins with, as strace escapes it (RFC 8446, 5.1).
fn record(args: &[u8]) -> Option<Record> {
    let text = &args[memchr::memchr(b'"', args)? + 1..];
    let begins = |octal: &[u8], hex: &[u8]| text.starts_with(octal) || text.starts_with(hex);
    match () {
        () if begins(br"\26\3", br"\x16\x03") => Some(Record::Handshake),
        () if begins(br"\24\3", br"\x14\x03") || begins(br"\27\3", br"\x17\x03") => Some(Record::Other),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Facts, PeerFacts};
    use whyslow_model::{Call, Event, Nanos, Ret, Sink, Timestamp};

    /// Calls of thread 1: milliseconds, name, arguments, result.
    fn play(calls: &[(u64, &str, &str, i64)]) -> Facts {
        let mut facts = Facts::default();
        for (ms, name, args, ret) in calls {
            let call = Call {
                tid: 1,
                ts: Timestamp::new(1_000_000_000 + ms * 1_000_000),
                dur: Nanos::ZERO,
                ret: Ret::Value(*ret),
                ..Call::new(name, args)
            };
            facts.push(Event::Call(&call));
        }
        facts.finish();
        facts
    }

    const ADDRESS: &str = r#"{sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("10.0.0.7")}"#;

    fn asked(certificate: i64) -> PeerFacts {
        let connect = format!("3, {ADDRESS}, 16");
        let calls: Vec<(u64, &str, &str, i64)> = vec![
            (0, "socket", "AF_INET, SOCK_STREAM, IPPROTO_TCP", 3),
            (1, "connect", &connect, 0),
            (2, "write", r#"3, "\26\3\1\2\0\1\0\1\374\3\3"..., 517"#, 517),
            (12, "read", r#"3, "\26\3\3\0z"..., 127"#, 127),
            (12, "read", r#"3, "\27\3\3\3G"..., 4096"#, certificate),
            (14, "write", r#"3, "\24\3\3\0\1\1\27\3\3\0E"..., 80"#, 80),
            (15, "write", r#"3, "\27\3\3\0\\"..., 97"#, 97),
            (20, "read", r#"3, "\27\3\3\0\372"..., 255"#, 255),
        ];
        play(&calls).peers.servers().next().expect("a server").clone()
    }

    #[test]
    fn a_handshake_lasts_to_the_first_other_record() {
        let full = asked(1_200).handshakes;
        assert_eq!((full.times.count, full.times.total(), full.full), (1, Nanos::from_millis(12), 1));
        let resumed = asked(90).handshakes;
        assert_eq!((resumed.times.count, resumed.full), (1, 0));
    }

    #[test]
    fn a_server_works_from_the_hello_to_its_answer() {
        let calls: Vec<(u64, &str, &str, i64)> = vec![
            (0, "socket", "AF_INET, SOCK_STREAM, IPPROTO_TCP", 3),
            (0, "listen", "3, 5", 0),
            (
                1,
                "accept4",
                r#"3, {sa_family=AF_INET, sin_port=htons(40000), sin_addr=inet_addr("10.0.0.9")}, [16], 0"#,
                4,
            ),
            (2, "read", r#"4, "\26\3\1\2\0", 5"#, 5),
            (2, "read", r#"4, "\1\0\1\374\3\3"..., 512"#, 512),
            (5, "write", r#"4, "\26\3\3\0z"..., 1500"#, 1_500),
            (30, "read", r#"4, "\24\3\3\0\1"..., 80"#, 80),
            (31, "read", r#"4, "\27\3\3\0\\"..., 97"#, 97),
            (32, "write", r#"4, "\27\3\3\0\372"..., 255"#, 255),
        ];
        let facts = play(&calls);
        let client = facts.peers.iter().find(|peer| peer.handshakes.times.count > 0).expect("a client");
        assert_eq!((client.handshakes.times.total(), client.handshakes.full), (Nanos::from_millis(3), 1));
    }

    #[test]
    fn plain_text_is_none() {
        let connect = format!("3, {ADDRESS}, 16");
        let calls: Vec<(u64, &str, &str, i64)> = vec![
            (0, "socket", "AF_INET, SOCK_STREAM, IPPROTO_TCP", 3),
            (1, "connect", &connect, 0),
            (2, "write", r#"3, "GET / HTTP/1.1\r\n"..., 90"#, 90),
            (3, "read", r#"3, "HTTP/1.1 200 OK\r\n"..., 4096"#, 900),
        ];
        assert_eq!(play(&calls).peers.servers().next().expect("a server").handshakes.times.count, 0);
    }
}
