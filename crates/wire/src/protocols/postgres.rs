//! PostgreSQL, version 3 of its protocol (PostgreSQL documentation, "Frontend/Backend Protocol").
//!
//! A request is a simple query, or what of an extended query is asked for the same statement up to `Sync`: a batch that
//! executes one statement a thousand times is one request, since its answers are waited for together.

mod reduce;
mod state;

use self::state::State;
use crate::framer::{Framer, Messages, Piece};
use crate::sql::is_sql;
use crate::turn::Out;
use crate::{Chunk, Decoder, Direction, Protocol, Sniff, Step};

/// PostgreSQL.
pub(super) static POSTGRES: Protocol = Protocol {
    name: "PostgreSQL",
    // PgBouncer's is 6432.
    ports: &[5432, 5433, 6432],
    sniff,
    decoder: || Box::new(Postgres::default()),
    reduce: reduce::reduce,
};

/// Type and length.
const HEADER: usize = 5;
/// `PQ_LARGE_MESSAGE_LIMIT`: what the server takes in one message.
const MAX_MESSAGE: u32 = 0x3fff_ffff;
/// Messages up to this length may prove the protocol by themselves.
const SURE_MESSAGE: usize = 1 << 20;
/// `MAX_STARTUP_PACKET_LENGTH`.
const MAX_STARTUP: u32 = 10_000;
/// `MaxTupleAttributeNumber`, rounded up.
const MAX_COLUMNS: u16 = 1_664;

/// What a message without a type asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Startup {
    Session,
    Encryption,
    Cancel,
}

/// The length and meaning of a message that begins without a type: the first of a connection.
fn startup(head: &[u8]) -> Option<(u32, Startup)> {
    let len = number(head)?;
    let meaning = match (number(head.get(4..)?)?, len) {
        // Version 3.0 to 3.9; the parameters follow, the first by its name.
        (0x0003_0000..=0x0003_0009, 9..=MAX_STARTUP) if head.get(8).is_none_or(u8::is_ascii_lowercase) => {
            Startup::Session
        }
        // SSLRequest, GSSENCRequest.
        (80_877_103 | 80_877_104, 8) => Startup::Encryption,
        (80_877_102, 12..=268) => Startup::Cancel,
        _ => return None,
    };
    Some((len, meaning))
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|four| u32::from_be_bytes(*four))
}

/// Bytes of the message, its type included, where such a message there may be.
fn message_len(head: &[u8], direction: Direction) -> Option<u32> {
    let kind = *head.first()?;
    let len = number(&head[1..])?;
    let fits = match (direction, kind) {
        (Direction::Request, b'S' | b'H' | b'c' | b'X') => len == 4,
        (Direction::Request, b'B') => len >= 12,
        (Direction::Request, b'P') => len >= 8,
        (Direction::Request, b'D' | b'C') => len >= 6,
        (Direction::Request, b'E') => len >= 9,
        (Direction::Request, b'Q' | b'p' | b'f') => len >= 5,
        (Direction::Request, b'F') => len >= 14,
        (Direction::Request, b'd') => len >= 4,
        (Direction::Response, b'1' | b'2' | b'3' | b'I' | b'n' | b's' | b'c') => len == 4,
        (Direction::Response, b'Z') => len == 5,
        (Direction::Response, b'K') => (12..=268).contains(&len),
        (Direction::Response, b'A') => len >= 10,
        (Direction::Response, b'C' | b'E' | b'N') => len >= 5,
        (Direction::Response, b'D' | b'T' | b't') => len >= 6,
        (Direction::Response, b'G' | b'H' | b'W') => len >= 7,
        (Direction::Response, b'R' | b'V' | b'v') => len >= 8,
        (Direction::Response, b'S') => (6..=0xffff).contains(&len),
        (Direction::Response, b'd') => len >= 4,
        _ => false,
    };
    (fits && len <= MAX_MESSAGE).then(|| len + 1)
}

/// What of a message of this length is told by its first bytes: surely so, perhaps, surely not.
fn message_sniff(head: &[u8], len: usize, direction: Direction) -> Sniff {
    let body = head.get(HEADER..).unwrap_or_default();
    let body_len = len - HEADER;
    // Random bytes seldom begin with a small length.
    let yes = if len <= SURE_MESSAGE { Sniff::Yes } else { Sniff::Maybe };
    let sure = |is_it: bool| if is_it { yes } else { Sniff::No };
    match (direction, head[0], body) {
        (_, _, []) => Sniff::Maybe,
        _ if body_len == 0 => Sniff::Maybe,
        (Direction::Request, b'Q', _) => sure(is_sql(body)),
        (Direction::Request, b'P', _) => match name(body) {
            Some(name) => sure(name.is_ok_and(|name| is_sql(&body[name + 1..]))),
            None => Sniff::Maybe,
        },
        (Direction::Request, b'D' | b'C', [b'S' | b'P', rest @ ..]) => match name(rest) {
            Some(name) => sure(name == Ok(body_len - 2)),
            None => Sniff::Maybe,
        },
        (Direction::Request, b'E', _) => match name(body) {
            Some(name) => sure(name == Ok(body_len - 5)),
            None => Sniff::Maybe,
        },
        (Direction::Request, b'B', _) => match name(body) {
            Some(Ok(portal)) => match name(&body[portal + 1..]) {
                Some(Ok(statement)) => match &body[portal + statement + 2..] {
                    // Few have more than 255 parameters.
                    [count, _, ..] => sure(*count == 0),
                    _ => Sniff::Maybe,
                },
                Some(Err(())) => Sniff::No,
                None => Sniff::Maybe,
            },
            Some(Err(())) => Sniff::No,
            None => Sniff::Maybe,
        },
        (Direction::Request, b'D' | b'C', _) => Sniff::No,
        (Direction::Response, b'Z', [state, ..]) => sure(matches!(state, b'I' | b'T' | b'E')),
        (Direction::Response, b'E' | b'N', [b'S', severity @ ..]) => {
            sure(severity.iter().take(5).all(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80))
        }
        // `SELECT 5`, to the end of the message.
        (Direction::Response, b'C', _) => {
            let is_tag = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ';
            let (text, end) = body[..body.len().min(body_len)].split_at(body.len().min(body_len - 1));
            sure(
                text.iter().take(3).all(u8::is_ascii_uppercase)
                    && text.iter().all(is_tag)
                    && matches!(end, [] | [0]),
            )
        }
        (Direction::Response, b'R', [0, 0, 0, 0..=12, ..]) => Sniff::Yes,
        (Direction::Response, b'S', _) => {
            let name = name(body);
            let is_name = body.iter().take(4).all(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
            sure(is_name && name.is_none_or(|name| name.is_ok_and(|length| length + 1 < body_len)))
        }
        // Columns of a row, and the length of the first: too little to be sure of, where nothing else agrees.
        (Direction::Response, b'D', [high, low, column @ ..]) => {
            let columns = u16::from_be_bytes([*high, *low]);
            match number(column) {
                _ if columns > MAX_COLUMNS || (columns == 0) != (body_len == 2) => Sniff::No,
                Some(first) if first != u32::MAX && first as usize + 6 > body_len => Sniff::No,
                _ => Sniff::Maybe,
            }
        }
        (Direction::Response, b'T', [high, low, ..]) => {
            if u16::from_be_bytes([*high, *low]) > MAX_COLUMNS {
                Sniff::No
            } else {
                Sniff::Maybe
            }
        }
        (Direction::Response, b'E' | b'N' | b'R', _) => Sniff::No,
        _ => Sniff::Maybe,
    }
}

/// Length of the name that a NUL ends; an error where it is none; `None` where its end is not there.
fn name(bytes: &[u8]) -> Option<Result<usize, ()>> {
    let end = memchr::memchr(0, bytes);
    if !bytes[..end.unwrap_or(bytes.len())].iter().all(|byte| byte.is_ascii_graphic() || *byte >= 0x80) {
        return Some(Err(()));
    }
    end.map(Ok)
}

fn sniff(head: &[u8], direction: Direction) -> Sniff {
    if direction == Direction::Request && startup(head).is_some() {
        return Sniff::Yes;
    }
    if direction == Direction::Response && matches!(head, b"S" | b"N") {
        // The answer to a request for encryption.
        return Sniff::Maybe;
    }
    let mut rest = head;
    let mut sure = 0;
    let mut whole = 0;
    while rest.len() >= HEADER && whole < 4 {
        let Some(len) = message_len(rest, direction) else { return Sniff::No };
        match message_sniff(rest, len as usize, direction) {
            Sniff::No => return Sniff::No,
            Sniff::Maybe => {}
            Sniff::Yes => sure += 1,
        }
        let len = len as usize;
        if len > rest.len() {
            rest = &[];
            break;
        }
        whole += 1;
        rest = &rest[len..];
    }
    if !rest.is_empty() && whole < 4 && !matches!(rest[0], b'A'..=b'Z' | b'a'..=b'z' | b'1'..=b'3') {
        return Sniff::No;
    }
    match (sure, whole) {
        (1.., _) | (_, 2..) => Sniff::Yes,
        (0, 0) if head.len() < HEADER => Sniff::No,
        _ => Sniff::Maybe,
    }
}

#[derive(Default)]
struct Postgres {
    asks: Framer,
    answers: Framer,
    state: State,
}

impl Decoder for Postgres {
    fn take(&mut self, direction: Direction, mut chunk: Chunk<'_>, out: &mut dyn FnMut(Step)) {
        if self.state.is_opaque() || chunk.len == 0 {
            return;
        }
        self.state.turn.chunk();
        match direction {
            Direction::Request => {
                let mut side = Side { direction, state: &mut self.state, out };
                self.asks.take(chunk, &mut side);
            }
            Direction::Response => {
                if let Some((first, rest)) = chunk.head.split_first()
                    && self.state.takes_encryption(*first, out)
                {
                    chunk = Chunk { head: rest, len: chunk.len - 1 };
                    if self.state.is_opaque() || chunk.len == 0 {
                        return;
                    }
                }
                let was_lost = self.answers.is_lost();
                let mut side = Side { direction, state: &mut self.state, out };
                self.answers.take(chunk, &mut side);
                if self.answers.is_lost() && (was_lost || chunk.head.is_empty()) {
                    // Rows whose lengths are not known; `ReadyForQuery` ends them, always the last of what is sent.
                    self.state.answer_unseen(out);
                    if chunk.head.len() as u64 == chunk.len
                        && matches!(chunk.head, [.., b'Z', 0, 0, 0, 5, b'I' | b'T' | b'E'])
                    {
                        self.state.ready(out);
                        self.answers = Framer::new();
                    }
                }
            }
        }
        self.state.turn.end(out);
    }
}

/// One direction, as its framer sees it.
struct Side<'s, 'o> {
    direction: Direction,
    state: &'s mut State,
    out: Out<'o>,
}

impl Messages for Side<'_, '_> {
    const HEADER: usize = HEADER;

    fn length(&mut self, head: &[u8], is_resync: bool) -> Option<u64> {
        if self.direction == Direction::Request && head[0] == 0 {
            // The code behind the length may not be there yet.
            let len = number(head).filter(|len| (8..=MAX_STARTUP).contains(len))?;
            return (!is_resync || startup(head).is_some()).then_some(len.into());
        }
        // Text in a row that looks like a header would be of many megabytes.
        if is_resync && (sniff(head, self.direction) == Sniff::No || head[1] != 0) {
            return None;
        }
        message_len(head, self.direction).map(u64::from)
    }

    fn piece(&mut self, piece: Piece<'_>) {
        match (self.direction, piece) {
            (Direction::Request, Piece::Message { head, len, .. }) => {
                // The same is told of a message whether it comes in one piece or not.
                let head = &head[..head.len().min(Framer::ENOUGH)];
                if head[0] == 0 {
                    self.state.start(startup(head), self.out);
                } else {
                    self.state.ask(head[0], &head[HEADER..], (head.len() as u64) < len, self.out);
                }
            }
            (Direction::Request, Piece::Rest { .. }) => self.state.ask_goes_on(self.out),
            (Direction::Request, Piece::Lost) => self.state.ask_lost(self.out),
            (Direction::Response, Piece::Message { head, .. }) => {
                let head = &head[..head.len().min(Framer::ENOUGH)];
                self.state.answer(head[0], &head[HEADER..], self.out);
            }
            (Direction::Response, Piece::Rest { .. }) => self.state.answer_unframed(self.out),
            (Direction::Response, Piece::Lost) => self.state.answer_lost(self.out),
        }
    }
}

#[cfg(test)]
#[allow(clippy::octal_escapes, reason = "bytes as they were recorded")]
pub(super) mod tests;
