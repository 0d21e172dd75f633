//! DNS (RFC 1035): questions and answers by their number; in datagrams, and on streams behind two bytes of length.

use crate::framer::{Framer, Messages, Piece};
use crate::pairing::Pairing;
use crate::{Chunk, Decoder, Direction, MAX_TEXT, Protocol, Request, Sniff, Status, Step};

/// DNS.
pub(super) static DNS: Protocol =
    Protocol { name: "DNS", ports: &[53], sniff, decoder: || Box::new(Dns::default()), reduce };

/// Bytes before the question.
const HEADER: usize = 12;

fn sniff(bytes: &[u8], direction: Direction) -> Sniff {
    let message = Message::read(bytes).or_else(|| Message::read(bytes.get(2..)?));
    match message {
        Some(message) if message.direction != direction => Sniff::No,
        Some(message) if message.question.is_some() => Sniff::Yes,
        Some(_) => Sniff::Maybe,
        None => Sniff::No,
    }
}

/// A message of DNS.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DnsMessage {
    /// The name that is asked for, in lower case: `example.com`.
    pub name: String,
    /// Of an answer its code (RFC 1035, 4.1.1): 0 for success, 3 for a name that does not exist.
    pub answer_code: Option<u8>,
}

/// The message in a datagram of which all of the question is there.
pub fn dns_message(bytes: &[u8]) -> Option<DnsMessage> {
    let message = Message::read(bytes).filter(|message| message.question.is_some())?;
    let name = message.name();
    let (_, name) = name.split_once(' ')?;
    let answer_code = (message.direction == Direction::Response).then_some(message.code);
    (name != ".").then(|| DnsMessage { name: name.to_owned(), answer_code })
}

/// The message in a datagram of which not all of the question is there: the labels that are, and the answer code as in [`DnsMessage`].
pub fn dns_message_cut(bytes: &[u8]) -> Option<DnsMessage> {
    let message = Message::read(bytes).filter(|message| message.question.is_none())?;
    let mut name = String::new();
    let mut labels = bytes.get(HEADER..)?;
    while let Some((&length, rest)) = labels.split_first() {
        let (label, behind) = rest.split_at(rest.len().min(length as usize));
        if length == 0 || label.is_empty() || name.len() + label.len() >= MAX_TEXT {
            break;
        }
        if !name.is_empty() {
            name.push('.');
        }
        name.extend(label.iter().map(|byte| byte.to_ascii_lowercase() as char));
        labels = behind;
    }
    let answer_code = (message.direction == Direction::Response).then_some(message.code);
    (!name.is_empty()).then_some(DnsMessage { name, answer_code })
}

/// Header and question of a message.
struct Message<'a> {
    id: u16,
    direction: Direction,
    code: u8,
    /// The name in labels, and the type; `None` where it is not whole.
    question: Option<(&'a [u8], u16)>,
    /// Bytes up to the end of the question.
    length: usize,
}

impl<'a> Message<'a> {
    /// `None` where no query of one question, and no answer to one, begins so.
    fn read(bytes: &'a [u8]) -> Option<Message<'a>> {
        let header = bytes.get(..HEADER)?;
        let direction = if header[2] & 0x80 == 0 { Direction::Request } else { Direction::Response };
        let is_query = header[2] & 0x78 == 0 && header[4..6] == [0, 1] && header[3] & 0x40 == 0;
        let asks_only =
            header[6..10] == [0; 4] && header[10] == 0 && header[11] <= 2 && header[3] & 0x0f == 0;
        if !is_query || direction == Direction::Request && !asks_only {
            return None;
        }
        let mut at = HEADER;
        while let Some(&length) = bytes.get(at) {
            at += 1;
            if length == 0 {
                break;
            }
            let label = bytes.get(at..bytes.len().min(at + length as usize)).filter(|_| length < 64)?;
            if !label.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'*')) {
                return None;
            }
            at += length as usize;
        }
        let question = bytes.get(at..at + 4).filter(|_| bytes[at - 1] == 0);
        // The class is that of the Internet; its first bit asks for one host (mDNS).
        if question.is_some_and(|tail| tail[2] & 0x7f != 0 || !matches!(tail[3], 1 | 255)) {
            return None;
        }
        Some(Message {
            id: u16::from_be_bytes([header[0], header[1]]),
            direction,
            code: header[3] & 0x0f,
            question: question.map(|tail| (&bytes[HEADER..at], u16::from_be_bytes([tail[0], tail[1]]))),
            length: (at + 4).min(bytes.len()),
        })
    }

    /// `A example.com`
    fn name(&self) -> String {
        let Some((mut labels, kind)) = self.question else { return "?".to_owned() };
        let mut name = match kind {
            1 => "A",
            2 => "NS",
            5 => "CNAME",
            6 => "SOA",
            12 => "PTR",
            15 => "MX",
            16 => "TXT",
            28 => "AAAA",
            33 => "SRV",
            65 => "HTTPS",
            255 => "ANY",
            _ => "",
        }
        .to_owned();
        if name.is_empty() {
            name = format!("TYPE{kind}");
        }
        let mut before = ' ';
        while let Some((&length, rest)) = labels.split_first() {
            let (label, behind) = rest.split_at(rest.len().min(length as usize));
            if length == 0 || name.len() + label.len() >= MAX_TEXT {
                break;
            }
            name.push(before);
            name.extend(label.iter().map(|byte| byte.to_ascii_lowercase() as char));
            before = '.';
            labels = behind;
        }
        if before == ' ' {
            name.push_str(" .");
        }
        name
    }
}

/// The answer's code (RFC 1035, 4.1.1; RFC 2136).
fn status(code: u8) -> Status {
    let text = match code {
        0 => "NOERROR".to_owned(),
        1 => "FORMERR".to_owned(),
        2 => "SERVFAIL".to_owned(),
        3 => "NXDOMAIN".to_owned(),
        4 => "NOTIMP".to_owned(),
        5 => "REFUSED".to_owned(),
        code => format!("RCODE{code}"),
    };
    Status { text: text.into(), is_error: code != 0 }
}

#[derive(Default)]
struct Dns {
    pairing: Pairing<u16>,
    streams: [Framer; 2],
    /// Messages have their length before them.
    is_stream: Option<bool>,
}

impl Decoder for Dns {
    fn take(&mut self, direction: Direction, chunk: Chunk<'_>, out: &mut dyn FnMut(Step)) {
        if chunk.head.is_empty() {
            return;
        }
        // A datagram has a message; a stream may be read length first.
        let is_stream = *self.is_stream.get_or_insert_with(|| {
            Message::read(chunk.head).is_none() && (chunk.head.len() <= 2 || length(chunk.head) <= chunk.len)
        });
        let mut told = Told { pairing: &mut self.pairing, direction, out };
        if is_stream {
            self.streams[direction as usize].take(chunk, &mut told);
        } else if let Some(message) = Message::read(chunk.head) {
            told.message(&message, true);
        }
    }
}

/// Bytes of a message of a stream with the length before it.
fn length(bytes: &[u8]) -> u64 {
    u64::from(u16::from_be_bytes([bytes[0], bytes[1]])) + 2
}

struct Told<'a> {
    pairing: &'a mut Pairing<u16>,
    direction: Direction,
    out: &'a mut dyn FnMut(Step),
}

impl Told<'_> {
    fn message(&mut self, message: &Message<'_>, ends: bool) {
        if message.direction != self.direction {
            return;
        }
        match self.direction {
            Direction::Request => {
                // The same question once more is another try, with its own answer.
                let endpoint = message.name();
                let detail = endpoint.clone();
                let key = self.pairing.ask(message.id);
                (self.out)(Step::Asked(key, Request { endpoint, detail, ..Request::default() }));
            }
            Direction::Response => {
                let Some((key, _)) = self.pairing.take(|id| *id == message.id) else { return };
                (self.out)(Step::Answered(key, Some(status(message.code))));
                if ends {
                    (self.out)(Step::Done(key));
                }
            }
        }
    }
}

impl Messages for Told<'_> {
    const HEADER: usize = 2;

    fn length(&mut self, head: &[u8], is_resync: bool) -> Option<u64> {
        let is_sure = !is_resync || Message::read(&head[2..]).is_some();
        Some(length(head)).filter(|length| *length > HEADER as u64 && is_sure)
    }

    fn piece(&mut self, piece: Piece<'_>) {
        if let Piece::Message { head, .. } = piece
            && let Some(message) = Message::read(&head[2..])
        {
            self.message(&message, true);
        }
    }
}

/// Header and question: names are no secrets.
fn reduce(bytes: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    for before in [0, 2] {
        let message = bytes.get(before..).and_then(Message::read);
        if let Some(message) =
            message.filter(|message| message.direction == direction && message.question.is_some())
        {
            out.extend_from_slice(&bytes[..before + message.length]);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Answer, Ask, cut_anywhere, first_request, reduced, talk, whole};

    // A query of getaddrinfo and its answer, in the form of RFC 1035; written by hand.
    const QUERY: &[u8] = b"\xbd\x19\x01\0\0\x01\0\0\0\0\0\0\x07example\x03com\0\0\x01\0\x01";
    const ANSWER: &[u8] = b"\xbd\x19\x81\x80\0\x01\0\x01\0\0\0\0\x07example\x03com\0\0\x01\0\x01\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\x7f\0\0\x01";

    fn with(bytes: &[u8], changes: &[(usize, u8)]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        changes.iter().for_each(|(at, byte)| bytes[*at] = *byte);
        bytes
    }

    fn framed(bytes: &[u8]) -> Vec<u8> {
        [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat()
    }

    #[test]
    fn datagrams_are_paired_by_number() {
        let (other, refused) = (with(QUERY, &[(0, 1), (26, 28)]), with(ANSWER, &[(0, 1), (3, 0x83)]));
        assert_eq!(
            talk(
                &DNS,
                &[(Ask, QUERY), (Ask, &other), (Answer, &refused), (Answer, ANSWER), (Answer, ANSWER)]
            ),
            [
                "ask 0 A example.com",
                "ask 1 AAAA example.com",
                "fail 1 NXDOMAIN",
                "done 1",
                "answer 0 NOERROR",
                "done 0"
            ]
        );
    }

    #[test]
    fn streams_have_lengths() {
        let (query, answer) = (framed(QUERY), framed(ANSWER));
        let chunks: &[(Direction, &[u8])] =
            &[(Ask, &query), (Answer, &answer), (Ask, &query), (Answer, &answer)];
        assert_eq!(talk(&DNS, chunks).len(), 6);
        cut_anywhere(&DNS, chunks, &[2, 5, 1]);
        assert_eq!(sniff(&query, Ask), Sniff::Yes);
    }

    #[test]
    fn reduced_heads_tell_the_same() {
        assert_eq!(reduced(&DNS, Ask, QUERY), QUERY);
        assert_eq!(reduced(&DNS, Answer, ANSWER), ANSWER[..QUERY.len()]);
        assert_eq!(first_request(&DNS, whole(&QUERY[..20])).unwrap().endpoint, "?");
        assert_eq!(sniff(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", Ask), Sniff::No);
    }
}
