//! FastCGI 1.0: a web server asks an application (PHP-FPM); records in both directions, requests by number.

use crate::framer::{Framer, Messages, Piece};
use crate::pairing::Pairing;
use crate::protocols::cgi::{Variables, pairs_of_fastcgi};
use crate::{Chunk, Decoder, Direction, Key, Protocol, Sniff, Status, Step};

/// FastCGI.
pub(super) static FASTCGI: Protocol =
    Protocol { name: "FastCGI", ports: &[9000], sniff, decoder: || Box::new(FastCgi::default()), reduce };

// Types of records.
const BEGIN: u8 = 1;
const END: u8 = 3;
const PARAMS: u8 = 4;
const STDIN: u8 = 5;
const STDOUT: u8 = 6;
const STDERR: u8 = 7;
const DATA: u8 = 8;
/// Bytes of a record's head: version, type, number, length of content and of padding, one unused.
const HEAD: usize = 8;

/// A record's head; `None` where none begins so.
fn record(bytes: &[u8]) -> Option<(u8, u16, u64)> {
    let [1, kind @ 1..=11, high, low, content_high, content_low, padding, 0, ..] = bytes else { return None };
    let content = u16::from_be_bytes([*content_high, *content_low]);
    let length = HEAD as u64 + u64::from(content) + u64::from(*padding);
    Some((*kind, u16::from_be_bytes([*high, *low]), length))
}

fn is_of(kind: u8, direction: Direction) -> bool {
    match direction {
        Direction::Request => matches!(kind, BEGIN | PARAMS | STDIN | DATA | 2),
        Direction::Response => matches!(kind, STDOUT | STDERR | END),
    }
}

fn sniff(bytes: &[u8], direction: Direction) -> Sniff {
    match (record(bytes), direction) {
        (Some((kind, ..)), _) if !is_of(kind, direction) => Sniff::No,
        // It begins with the role: responder, authorizer, filter.
        (Some((BEGIN, 1.., 16)), _) => match bytes.get(HEAD..HEAD + 2) {
            Some([0, 1..=3]) => Sniff::Yes,
            Some(_) => Sniff::No,
            None => Sniff::Maybe,
        },
        (Some((kind, 1.., _)), _) if kind != BEGIN => Sniff::Maybe,
        _ => Sniff::No,
    }
}

#[derive(Default)]
struct FastCgi {
    state: State,
    framers: [Framer; 2],
}

#[derive(Default)]
struct State {
    pairing: Pairing<Open>,
    /// Of the record that goes on.
    current: Option<Key>,
    ends: Option<Key>,
}

#[derive(Clone, Copy)]
struct Open {
    number: u16,
    is_answered: bool,
}

impl Decoder for FastCgi {
    fn take(&mut self, direction: Direction, chunk: Chunk<'_>, out: &mut dyn FnMut(Step)) {
        let mut told = Told { state: &mut self.state, direction, is_told: false, out };
        self.framers[direction as usize].take(chunk, &mut told);
    }
}

struct Told<'a> {
    state: &'a mut State,
    direction: Direction,
    is_told: bool,
    out: &'a mut dyn FnMut(Step),
}

impl Messages for Told<'_> {
    const HEADER: usize = HEAD;

    fn length(&mut self, head: &[u8], is_resync: bool) -> Option<u64> {
        let (kind, number, length) = record(head)?;
        (is_of(kind, self.direction) && (number > 0 || !is_resync)).then_some(length)
    }

    fn piece(&mut self, piece: Piece<'_>) {
        match (piece, self.direction) {
            (Piece::Message { head, len, .. }, Direction::Request) => self.asks(head, len),
            (Piece::Message { head, ends, .. }, Direction::Response) => self.answers(head, ends),
            (Piece::Rest { ends }, _) => {
                self.go_on();
                if ends && let Some(key) = self.state.ends.take() {
                    (self.out)(Step::Done(key));
                }
            }
            (Piece::Lost, _) => self.state.current = None,
        }
    }
}

impl Told<'_> {
    fn asks(&mut self, head: &[u8], len: u64) {
        let Some((kind, number, _)) = record(head) else { return };
        let found = self.state.pairing.find(|open| open.number == number).map(|(key, _)| key);
        // A request is told with its variables: what begins it says nothing.
        if kind == PARAMS && found.is_none() && len > HEAD as u64 {
            let content = usize::from(u16::from_be_bytes([head[4], head[5]]));
            let content = &head[HEAD..head.len().min(HEAD + content)];
            let request = Variables::read(pairs_of_fastcgi(content)).request();
            let key = self.state.pairing.ask(Open { number, is_answered: false });
            self.state.current = Some(key);
            self.is_told = true;
            (self.out)(Step::Asked(key, request));
            return;
        }
        self.state.current = found;
        self.go_on();
    }

    fn answers(&mut self, head: &[u8], ends: bool) {
        let Some((kind, number, _)) = record(head) else { return };
        let Some((key, open)) = self.state.pairing.find(|open| open.number == number) else {
            self.state.current = None;
            return;
        };
        self.state.current = Some(key);
        if kind == STDOUT && !std::mem::replace(&mut open.is_answered, true) {
            self.is_told = true;
            (self.out)(Step::Answered(key, Some(status(&head[HEAD..]))));
        }
        if kind == END {
            let is_answered = open.is_answered;
            self.state.pairing.take(|open| open.number == number);
            if !is_answered {
                // Statuses of the protocol: 0 is done.
                let code = head.get(HEAD + 4).copied().unwrap_or(0);
                let status = Status { text: format!("END {code}").into(), is_error: code != 0 };
                (self.out)(Step::Answered(key, Some(status)));
            }
            if ends {
                (self.out)(Step::Done(key));
            } else {
                self.state.ends = Some(key);
            }
            return;
        }
        self.go_on();
    }

    fn go_on(&mut self) {
        if !std::mem::replace(&mut self.is_told, true)
            && let Some(key) = self.state.current
        {
            (self.out)(match self.direction {
                Direction::Request => Step::Asks(key),
                Direction::Response => Step::Answers(key),
            });
        }
    }
}

/// CGI answers with header fields, `Status` among them; without it, 200 (RFC 3875, 6.3.3).
fn status(content: &[u8]) -> Status {
    for line in content.split(|byte| *byte == b'\n') {
        if let Some((b"Status:", value)) = line.split_at_checked(7)
            && let Some(code) = value.trim_ascii().get(..3).filter(|code| code.iter().all(u8::is_ascii_digit))
        {
            return Status {
                text: String::from_utf8_lossy(code).into_owned().into(),
                is_error: code[0] >= b'4',
            };
        }
        if matches!(line, [] | b"\r") {
            break;
        }
    }
    Status { text: "200".into(), is_error: false }
}

/// The record that begins a request, and its variables, of which those that name it stay.
fn reduce(bytes: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let mut at = 0;
    while let Some((kind, number, length)) = record(&bytes[at..]) {
        if !is_of(kind, direction) {
            break;
        }
        let content = usize::from(u16::from_be_bytes([bytes[at + 4], bytes[at + 5]]));
        let content = &bytes[at + HEAD..bytes.len().min(at + HEAD + content)];
        let mut kept = Vec::new();
        match kind {
            BEGIN | END => kept.extend_from_slice(content),
            PARAMS => Variables::read(pairs_of_fastcgi(content)).write_fastcgi(&mut kept),
            STDOUT => kept.extend(format!("Status: {}\r\n\r\n", status(content).text).bytes()),
            _ => {}
        }
        let [high, low] = number.to_be_bytes();
        let end = at + usize::try_from(length).unwrap_or(usize::MAX);
        let is_last = end >= bytes.len();
        // The last one's length reaches as far as it did.
        let reach = end.saturating_sub(out.len() - start + HEAD).max(kept.len()).min(usize::from(u16::MAX));
        let [content_high, content_low] = (if is_last { reach } else { kept.len() } as u16).to_be_bytes();
        out.extend_from_slice(&[1, kind, high, low, content_high, content_low, 0, 0]);
        out.extend_from_slice(&kept);
        if is_last {
            break;
        }
        at = end;
    }
    out.len() > start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Answer, Ask, cut_anywhere, reduced, talk};

    fn record(kind: u8, content: &[u8]) -> Vec<u8> {
        let padding = (8 - content.len() % 8) % 8;
        let [high, low] = (content.len() as u16).to_be_bytes();
        [&[1, kind, 0, 1, high, low, padding as u8, 0], content, &vec![0; padding]].concat()
    }

    fn ask() -> Vec<u8> {
        let mut variables = Vec::new();
        for (name, value) in [
            ("QUERY_STRING", "token=secret"),
            ("REQUEST_METHOD", "GET"),
            ("REQUEST_URI", "/user/12?token=secret"),
            ("HTTP_COOKIE", "sid=secret"),
            ("HTTP_HOST", "example.org"),
        ] {
            variables.extend([name.len() as u8, value.len() as u8]);
            variables.extend(name.bytes().chain(value.bytes()));
        }
        [
            record(BEGIN, &[0, 1, 1, 0, 0, 0, 0, 0]),
            record(PARAMS, &variables),
            record(PARAMS, b""),
            record(STDIN, b""),
        ]
        .concat()
    }

    fn answer() -> Vec<u8> {
        let text = b"Status: 404 Not Found\r\nContent-type: text/html\r\n\r\nFile not found.\n";
        [record(STDERR, b"Primary script unknown"), record(STDOUT, text), record(END, &[0; 8])].concat()
    }

    #[test]
    fn turns() {
        let (ask, answer) = (ask(), answer());
        let chunks: &[(Direction, &[u8])] = &[(Ask, &ask), (Answer, &answer), (Ask, &ask), (Answer, &answer)];
        assert_eq!(
            talk(&FASTCGI, chunks),
            ["ask 0 GET /user/{id}", "fail 0 404", "done 0", "ask 1 GET /user/{id}", "fail 1 404", "done 1"]
        );
        for step in [1, 3, 7, 50] {
            cut_anywhere(&FASTCGI, chunks, &[step]);
        }
        assert_eq!(sniff(&ask, Ask), Sniff::Yes);
    }

    #[test]
    fn reduced_heads_tell_the_same() {
        let kept = reduced(&FASTCGI, Ask, &ask());
        assert!(!String::from_utf8_lossy(&kept).contains("secret"), "{}", kept.escape_ascii());
        reduced(&FASTCGI, Answer, &answer());
        for cut in 24..ask().len() {
            reduced(&FASTCGI, Ask, &ask()[..cut]);
        }
    }
}
