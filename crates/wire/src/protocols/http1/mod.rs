//! HTTP/1.0 and HTTP/1.1 (RFC 9112): requests and answers in turn, also several under way.
//!
//! Where a head is cut, its length and so the body's end are not known: the message goes on until a chunk begins with
//! another head. After `101` and a `CONNECT` that succeeded the connection speaks something else.

mod chunked;
mod head;
mod reduce;
#[cfg(test)]
mod tests;

use super::http::{host, told_status};
use super::http2::{HTTP2, Http2};
use crate::pairing::Pairing;
use crate::{Chunk, Decoder, Direction, Key, Protocol, Request, Sniff, Status, Step, text};
use chunked::{Chunked, Progress};
use head::{Fields, RequestLine};

/// HTTP/1.0 and HTTP/1.1.
pub(super) static HTTP1: Protocol = Protocol {
    name: "HTTP/1.1",
    ports: &[80, 3000, 5000, 8000, 8080, 8081, 8888, 9090, 9200],
    sniff,
    decoder: || Box::new(Http1::default()),
    reduce: reduce::reduce,
};

fn sniff(bytes: &[u8], direction: Direction) -> Sniff {
    let is_http = match direction {
        Direction::Request => RequestLine::read(bytes).is_some(),
        Direction::Response => head::status(bytes).is_some(),
    };
    if is_http { Sniff::Yes } else { Sniff::No }
}

/// What of a request tells how its answer is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verb {
    Head,
    Connect,
    Other,
}

#[derive(Default)]
struct Http1 {
    pairing: Pairing<Verb>,
    asks: Side,
    answers: Side,
    /// It speaks something else from here on.
    is_opaque: bool,
    /// It speaks HTTP/2 from here on.
    upgraded: Option<Http2>,
}

/// One direction.
#[derive(Default)]
struct Side {
    at: At,
    /// A head that is not whole, bounded by [`Side::MAX_HEAD`].
    begun: Vec<u8>,
    /// The request to which what goes by belongs.
    key: Option<Key>,
    /// It was told in the present chunk.
    is_told: bool,
    /// The message has no body, whatever its head says.
    is_bodiless: bool,
}

impl Side {
    /// Bytes of a head after which no end of it is looked for: what servers accept.
    const MAX_HEAD: usize = 16 << 10;
    /// Bytes of a head after which it is told although it goes on.
    const ENOUGH: usize = 1 << 10;
}

/// Where in a message a direction is.
#[derive(Clone, Copy, Default, Debug)]
enum At {
    #[default]
    Head,
    /// In the head of a message that was told already.
    HeadRest,
    /// In a body, so many bytes before its end.
    Body(u64),
    Chunks(Chunked),
    /// In a message of unknown length, or not known where.
    Vague,
}

impl Decoder for Http1 {
    fn take(&mut self, direction: Direction, chunk: Chunk<'_>, out: &mut dyn FnMut(Step)) {
        let mut bytes = chunk.head;
        let mut missing = chunk.len.saturating_sub(bytes.len() as u64);
        self.side(direction).is_told = false;
        while !self.is_opaque && (!bytes.is_empty() || missing > 0) {
            if let Some(http2) = &mut self.upgraded {
                let chunk = Chunk { head: bytes, len: bytes.len() as u64 + missing };
                return http2.take(direction, chunk, out);
            }
            let used = match self.side(direction).at {
                At::Head | At::HeadRest if bytes.is_empty() => self.unseen(direction, out),
                At::Head | At::HeadRest => self.head(direction, bytes, missing, chunk.len, out),
                At::Body(left) => {
                    let here = left.min(bytes.len() as u64 + missing);
                    self.body(direction, left - here, out);
                    Some(here)
                }
                At::Chunks(chunked) => self.chunks(direction, chunked, bytes, missing, out),
                At::Vague => self.vague(direction, bytes, out),
            };
            let Some(used) = used else { return };
            missing -= used.saturating_sub(bytes.len() as u64).min(missing);
            bytes = &bytes[usize::try_from(used).unwrap_or(usize::MAX).min(bytes.len())..];
        }
    }

    fn becomes(&mut self) -> Option<(&'static Protocol, Box<dyn Decoder>)> {
        let http2 = self.upgraded.take()?;
        Some((&HTTP2, Box::new(http2)))
    }
}

/// How many bytes of the chunk are dealt with; `None`: all.
type Used = Option<u64>;

impl Http1 {
    fn side(&mut self, direction: Direction) -> &mut Side {
        match direction {
            Direction::Request => &mut self.asks,
            Direction::Response => &mut self.answers,
        }
    }

    /// A head begins, or goes on.
    fn head(
        &mut self,
        direction: Direction,
        bytes: &[u8],
        missing: u64,
        chunk: u64,
        out: &mut dyn FnMut(Step),
    ) -> Used {
        let is_rest = matches!(self.side(direction).at, At::HeadRest);
        let mut begun = std::mem::take(&mut self.side(direction).begun);
        if begun.is_empty() && !is_rest && matches!(bytes, [b'\r' | b'\n', ..]) {
            // Empty lines may stand before a request.
            return Some(1);
        }
        let before = begun.len();
        let all = if before == 0 {
            bytes
        } else {
            begun.extend_from_slice(&bytes[..bytes.len().min(Side::MAX_HEAD - before)]);
            &begun
        };
        // Where lines end only what was not looked at before can tell.
        let is_whole = before == 0 || memchr::memchr(b'\n', bytes).is_some();
        let fields = if is_whole || missing > 0 { Fields::read(all) } else { Fields::default() };
        let has_end = fields.length.or(fields.stated_length.map(|_| 0)).is_some();
        let goes_on = !has_end && missing == 0 && all.len() < Side::MAX_HEAD;
        if goes_on && (is_rest || all.len() < Side::ENOUGH) && begins(direction, all) {
            if is_rest {
                self.go_on(direction, out);
            }
            if before == 0 {
                begun.extend_from_slice(bytes);
            }
            self.side(direction).begun = begun;
            return None;
        }
        let at = if is_rest {
            self.go_on(direction, out);
            Some(self.framing(direction, &fields))
        } else {
            self.tell(direction, all, &fields, out)
        };
        let Some(at) = at else {
            self.side(direction).at = At::Vague;
            self.side(direction).key = None;
            return None;
        };
        if goes_on {
            if before == 0 {
                begun.extend_from_slice(bytes);
            }
            let side = self.side(direction);
            (side.begun, side.at) = (begun, At::HeadRest);
            return None;
        }
        self.side(direction).at = at;
        let used = match (fields.length, fields.stated_length) {
            (Some(length), _) => (length - before) as u64,
            // A reduced head: what follows is the chunk's, as long as it was.
            (None, Some(length)) => {
                (bytes.len() as u64 + missing).saturating_sub(chunk.saturating_sub(length))
            }
            (None, None) => {
                self.side(direction).at = At::Vague;
                return None;
            }
        };
        if matches!(at, At::Head | At::Body(0)) {
            self.body(direction, 0, out);
        }
        Some(used)
    }

    /// Tells the message that begins so, and what follows its head. `None`: none does.
    fn tell(
        &mut self,
        direction: Direction,
        bytes: &[u8],
        fields: &Fields<'_>,
        out: &mut dyn FnMut(Step),
    ) -> Option<At> {
        match direction {
            Direction::Request => {
                let line = RequestLine::read(bytes)?;
                self.end_answer(out);
                let key = self.pairing.ask(match line.verb {
                    "HEAD" => Verb::Head,
                    "CONNECT" => Verb::Connect,
                    _ => Verb::Other,
                });
                self.asks.key = Some(key);
                out(Step::Asked(key, request(&line, fields)));
            }
            Direction::Response => {
                let status = head::status(bytes)?;
                if status == Some(101) && fields.is_h2c {
                    // The request that asked for it is the first stream: its answer comes there.
                    self.upgraded = Some(Http2::upgraded(std::mem::take(&mut self.pairing)));
                    return Some(At::Head);
                }
                let is_final = status.is_none_or(|status| status >= 200 || status == 101);
                let (key, verb) = if is_final { self.pairing.take_oldest().unzip() } else { (None, None) };
                let answers = &mut self.answers;
                (answers.key, answers.is_told) = (key, true);
                answers.is_bodiless =
                    !is_final || verb == Some(Verb::Head) || matches!(status, Some(204 | 304));
                if let Some(key) = key {
                    out(Step::Answered(key, status.map(told_status)));
                }
                let success = status.is_some_and(|status| (200..300).contains(&status));
                if status == Some(101) || verb == Some(Verb::Connect) && success {
                    self.body(direction, 0, out);
                    self.is_opaque = true;
                    return Some(At::Head);
                }
            }
        }
        self.side(direction).is_told = true;
        Some(self.framing(direction, fields))
    }

    /// What follows a head.
    fn framing(&mut self, direction: Direction, fields: &Fields<'_>) -> At {
        if self.side(direction).is_bodiless {
            return At::Head;
        }
        match (fields.is_chunked, fields.content_length, direction) {
            (true, ..) => At::Chunks(Chunked::default()),
            (false, Some(length), _) => At::Body(length),
            (false, None, Direction::Request) => At::Head,
            (false, None, Direction::Response) => At::Vague,
        }
    }

    /// Bytes of a body, so many before its end.
    fn body(&mut self, direction: Direction, left: u64, out: &mut dyn FnMut(Step)) {
        self.go_on(direction, out);
        let side = self.side(direction);
        side.at = if left > 0 { At::Body(left) } else { At::Head };
        if left == 0
            && let Some(key) = side.key.take()
            && direction == Direction::Response
        {
            out(Step::Done(key));
        }
    }

    fn chunks(
        &mut self,
        direction: Direction,
        mut chunked: Chunked,
        bytes: &[u8],
        missing: u64,
        out: &mut dyn FnMut(Step),
    ) -> Used {
        match chunked.take(bytes, missing) {
            Progress::Ended(used) => {
                self.body(direction, 0, out);
                Some(used as u64)
            }
            progress => {
                self.go_on(direction, out);
                let is_lost = progress == Progress::Lost;
                self.side(direction).at = if is_lost { At::Vague } else { At::Chunks(chunked) };
                None
            }
        }
    }

    /// Bytes of which it is not known where they belong.
    fn vague(&mut self, direction: Direction, bytes: &[u8], out: &mut dyn FnMut(Step)) -> Used {
        if !self.side(direction).is_told && begins(direction, bytes) && sniff(bytes, direction) == Sniff::Yes
        {
            if direction == Direction::Response {
                self.end_answer(out);
            }
            self.side(direction).at = At::Head;
            return Some(0);
        }
        if bytes.is_empty() && self.side(direction).key.is_none() {
            return self.unseen(direction, out);
        }
        self.go_on(direction, out);
        None
    }

    /// A message of which no byte is there.
    fn unseen(&mut self, direction: Direction, out: &mut dyn FnMut(Step)) -> Used {
        let side = self.side(direction);
        side.begun.clear();
        if matches!(side.at, At::HeadRest) {
            side.at = At::Vague;
            self.go_on(direction, out);
            return None;
        }
        side.at = At::Vague;
        // What follows a whole message in the same chunk is no answer of its own.
        if direction == Direction::Response
            && !side.is_told
            && let Some((key, _)) = self.pairing.take_oldest()
        {
            self.answers.key = Some(key);
            self.answers.is_told = true;
            out(Step::Answered(key, None));
        }
        None
    }

    /// An answer of unknown length is over when the next request or answer comes.
    fn end_answer(&mut self, out: &mut dyn FnMut(Step)) {
        if matches!(self.answers.at, At::Vague)
            && let Some(key) = self.answers.key.take()
        {
            out(Step::Done(key));
        }
    }

    /// More of the message that was told in an earlier chunk.
    fn go_on(&mut self, direction: Direction, out: &mut dyn FnMut(Step)) {
        let side = self.side(direction);
        if !std::mem::replace(&mut side.is_told, true)
            && let Some(key) = side.key
        {
            out(match direction {
                Direction::Request => Step::Asks(key),
                Direction::Response => Step::Answers(key),
            });
        }
    }
}

/// True where a message may begin so; a few bytes may be the beginning of it.
fn begins(direction: Direction, bytes: &[u8]) -> bool {
    match direction {
        Direction::Request if memchr::memchr(b' ', bytes).is_some_and(|at| at + 1 < bytes.len()) => {
            RequestLine::read(bytes).is_some()
        }
        Direction::Request => {
            bytes.len() <= 8 && bytes.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b' ')
        }
        Direction::Response => {
            bytes.len() < 7 && b"HTTP/1.".starts_with(bytes) || head::status(bytes).is_some()
        }
    }
}

fn request(line: &RequestLine<'_>, fields: &Fields<'_>) -> Request {
    let (authority, target) = line.split_target();
    let path = &target[..text::path_end(target)];
    // Room for a number that becomes an id.
    let begun = || {
        let mut text = String::with_capacity(line.verb.len() + 1 + path.len() + 8);
        text.push_str(line.verb);
        text.push(' ');
        text
    };
    let (mut endpoint, mut detail) = (begun(), begun());
    let host = authority.and_then(host);
    if line.verb == "CONNECT" {
        let host = host.unwrap_or("");
        endpoint.push_str(host);
        detail.push_str(host);
    } else if target == b"*" {
        endpoint.push('*');
        detail.push('*');
    } else {
        let path = if target.is_empty() && !line.is_cut { b"/" } else { path };
        let is_cut = line.is_cut && path.len() == target.len();
        text::route_template(path, is_cut, &mut endpoint);
        text::without_tokens(path, is_cut, &mut detail);
    }
    Request {
        endpoint,
        detail,
        host: host.or(fields.host()).map(|host| {
            let mut shown = String::with_capacity(host.len());
            text::without_tokens(host.as_bytes(), false, &mut shown);
            shown
        }),
        trace_id: fields.trace().map(str::to_owned),
        one_way: false,
    }
}

/// The status of an answer that begins so.
pub(super) fn status_of(bytes: &[u8]) -> Option<Status> {
    head::status(bytes).flatten().map(told_status)
}
