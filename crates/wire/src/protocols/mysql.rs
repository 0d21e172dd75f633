//! MySQL and MariaDB (MySQL Internals, "Client/Server Protocol").
//!
//! A request is a command; its answer may be several results.

#[cfg(test)]
#[allow(clippy::octal_escapes, reason = "bytes as they were recorded")]
pub(super) mod tests;

use crate::framer::{Framer, Messages, Piece};
use crate::mask::Mask;
use crate::pairing::Pairing;
use crate::recent::Recent;
use crate::sql::{is_sql, sql_shape};
use crate::turn::{Out, Turn, failed, fine};
use crate::{Chunk, Decoder, Direction, Protocol, Request, Sniff, Status, Step};
use std::sync::Arc;

/// MySQL.
pub(super) static MYSQL: Protocol = Protocol {
    name: "MySQL",
    ports: &[3306, 3307, 33060, 6033],
    sniff,
    decoder: || Box::new(Mysql::default()),
    reduce,
};

/// Length (three bytes) and number of a packet.
const HEADER: usize = 4;
/// A packet of this length is continued by the next.
const FULL: usize = 0xff_ffff;

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_SEND_LONG_DATA: u8 = 0x18;
const COM_STMT_CLOSE: u8 = 0x19;

/// The other commands, by what their answers are.
const COMMANDS: &[(u8, &str, Answer)] = &[
    (0x02, "INIT DB", Answer::Ok),
    (0x04, "FIELD LIST", Answer::Rows),
    (0x05, "CREATE DB", Answer::Ok),
    (0x06, "DROP DB", Answer::Ok),
    (0x07, "REFRESH", Answer::Ok),
    (0x08, "SHUTDOWN", Answer::Ok),
    (0x09, "STATISTICS", Answer::Text),
    (0x0a, "PROCESS INFO", Answer::Result),
    (0x0c, "PROCESS KILL", Answer::Ok),
    (0x0d, "DEBUG", Answer::Ok),
    (0x0e, "PING", Answer::Ok),
    (0x11, "CHANGE USER", Answer::Ok),
    (0x12, "BINLOG DUMP", Answer::Rows),
    (0x15, "REGISTER SLAVE", Answer::Ok),
    (0x1a, "STMT RESET", Answer::Ok),
    (0x1b, "SET OPTION", Answer::Ok),
    (0x1c, "STMT FETCH", Answer::Rows),
    (0x1e, "BINLOG DUMP", Answer::Rows),
    (0x1f, "RESET CONNECTION", Answer::Ok),
];

/// `CLIENT_COMPRESS`, `CLIENT_ZSTD_COMPRESSION_ALGORITHM`.
const COMPRESSES: u32 = 1 << 5 | 1 << 26;
/// `CLIENT_SSL`.
const ENCRYPTS: u32 = 1 << 11;
/// `SERVER_MORE_RESULTS_EXISTS`.
const MORE_RESULTS: u16 = 1 << 3;

/// What comes next of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    /// `OK` or an error.
    Ok,
    /// One packet of text.
    Text,
    /// `OK`, an error, or the number of columns of a result.
    Result,
    /// So many descriptions of columns, then rows.
    Columns(u64),
    /// Rows up to an end.
    Rows,
    /// The answer to a preparation.
    Prepared,
    /// So many descriptions of parameters and columns of what was prepared.
    Descriptions(u64),
    /// Steps of a login, then `OK` or an error.
    Login,
}

fn packet_len(head: &[u8]) -> usize {
    u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|four| u32::from_le_bytes(*four))
}

/// Flags of the client, where this is the first it sends: 4 bytes of flags, 4 of a size, a character set, and 19 or 23
/// that are zero.
fn login_flags(head: &[u8]) -> Option<u32> {
    let zeros = head.get(HEADER + 9..HEADER + 28)?;
    let is_login = packet_len(head) >= 32 && head[3] <= 2 && zeros.iter().all(|byte| *byte == 0);
    // CLIENT_PROTOCOL_41, without which nobody has logged in since 2004.
    number(&head[HEADER..]).filter(|flags| is_login && flags & 1 << 9 != 0)
}

fn is_greeting(head: &[u8]) -> bool {
    let version = head.get(HEADER + 1..).unwrap_or_default();
    let end = memchr::memchr(0, version).unwrap_or(version.len());
    head.len() > HEADER + 3
        && head[3] == 0
        && head[HEADER] == 10
        && packet_len(head) > 20
        && version[0].is_ascii_digit()
        && version[1] == b'.'
        && version[..end].iter().all(u8::is_ascii_graphic)
}

fn sniff(head: &[u8], direction: Direction) -> Sniff {
    if head.len() <= HEADER || packet_len(head) == 0 {
        return Sniff::No;
    }
    let len = packet_len(head);
    let body = &head[HEADER..];
    let is_whole = body.len() == len;
    let sure = |is_it: bool| if is_it { Sniff::Yes } else { Sniff::No };
    match direction {
        Direction::Request if login_flags(head).is_some() => Sniff::Yes,
        Direction::Request if head[3] != 0 => Sniff::No,
        Direction::Request => match body[0] {
            COM_QUERY | COM_STMT_PREPARE => sure(is_sql(&body[1..]) && body.len() <= len),
            // Statement, flags, and the number of executions: always one.
            COM_STMT_EXECUTE => match body.get(5..10) {
                Some([flags, 1, 0, 0, 0]) if *flags < 8 && len >= 10 => Sniff::Yes,
                Some(_) => Sniff::No,
                None => Sniff::Maybe,
            },
            // PING, RESET CONNECTION.
            0x0e | 0x1f => sure(len == 1 && is_whole),
            COM_QUIT if len == 1 && is_whole => Sniff::Maybe,
            COM_STMT_CLOSE | 0x1a if len == 5 && is_whole => Sniff::Maybe,
            COM_STMT_SEND_LONG_DATA if len >= 7 => Sniff::Maybe,
            0x1c if len == 9 && is_whole => Sniff::Maybe,
            0x02 if is_whole && body[1..].iter().all(u8::is_ascii_graphic) => Sniff::Maybe,
            _ => Sniff::No,
        },
        Direction::Response if is_greeting(head) => Sniff::Yes,
        Direction::Response if !(1..=8).contains(&head[3]) => Sniff::No,
        Direction::Response => match body {
            // `OK` without a text; a statement prepared.
            [0, _, _, _, _, _, 0] if len == 7 => Sniff::Yes,
            [0, _, _, _, 0, _, columns, _, params, 0, ..] if len == 12 && *columns < 16 && *params == 0 => {
                Sniff::Yes
            }
            [0xff, _, 3..=0x0f, b'#', state @ ..] if len >= 9 => {
                sure(state.iter().take(5).all(u8::is_ascii_alphanumeric))
            }
            // The number of columns, and the first of them.
            [columns, _, _, 0, 2, 3, b'd', b'e', b'f', ..] if len == 1 && (1..0xfb).contains(columns) => {
                Sniff::Yes
            }
            [0 | 0xff, ..] if (7..200).contains(&len) => Sniff::Maybe,
            _ => Sniff::No,
        },
    }
}

#[derive(Default)]
struct Mysql {
    asks: Framer,
    answers: Framer,
    state: State,
}

#[derive(Default)]
struct State {
    turn: Turn,
    open: Pairing<Open>,
    /// Shapes by the numbers of prepared statements.
    statements: Recent<u32, Arc<str>>,
    /// Encrypted or compressed from here on.
    opaque: bool,
    /// A greeting was seen, and no login that ended.
    greeted: bool,
    /// The login asks for compression.
    compresses: bool,
    /// The packet before was full: this one continues it.
    asks_on: bool,
    answers_on: bool,
    is_lossy: bool,
}

struct Open {
    answer: Answer,
    /// Of a preparation.
    shape: Option<Arc<str>>,
    has_status: bool,
    /// The columns have their end behind them.
    has_rows: bool,
}

impl Decoder for Mysql {
    fn take(&mut self, direction: Direction, chunk: Chunk<'_>, out: &mut dyn FnMut(Step)) {
        if self.state.opaque {
            return;
        }
        self.state.turn.chunk();
        let framer = if direction == Direction::Request { &mut self.asks } else { &mut self.answers };
        let was_lost = framer.is_lost();
        framer.take(chunk, &mut Side { direction, state: &mut self.state, out });
        if direction == Direction::Response && framer.is_lost() && (was_lost || chunk.head.is_empty()) {
            self.state.is_lossy = true;
            self.state.answers(out);
            if chunk.head.len() as u64 == chunk.len && ends_rows(chunk.head) {
                self.state.finish(out);
                *framer = Framer::new();
            }
        }
        self.state.turn.end(out);
    }
}

/// The last packet is an end of rows, and no other result follows.
fn ends_rows(head: &[u8]) -> bool {
    let flags = match head {
        [.., 5, 0, 0, _, 0xfe, _, _, flags, _] => *flags,
        [.., 7, 0, 0, _, 0xfe, 0, 0, flags, _, _, _] => *flags,
        _ => return false,
    };
    u16::from(flags) & MORE_RESULTS == 0
}

struct Side<'s, 'o> {
    direction: Direction,
    state: &'s mut State,
    out: Out<'o>,
}

impl Messages for Side<'_, '_> {
    const HEADER: usize = HEADER;

    fn length(&mut self, head: &[u8], is_resync: bool) -> Option<u64> {
        if is_resync
            && sniff(head, self.direction)
                < if self.direction == Direction::Request { Sniff::Maybe } else { Sniff::Yes }
        {
            return None;
        }
        Some((packet_len(head) + HEADER) as u64)
    }

    fn piece(&mut self, piece: Piece<'_>) {
        let Side { direction, state, out } = self;
        match (*direction, piece) {
            (Direction::Request, Piece::Message { head, len, .. }) => {
                let head = &head[..head.len().min(Framer::ENOUGH)];
                state.ask(head, (head.len() as u64) < len, *out);
            }
            (Direction::Request, Piece::Rest { .. }) => state.asks(*out),
            (Direction::Response, Piece::Message { head, .. }) => {
                state.answer(&head[..head.len().min(Framer::ENOUGH)], *out);
            }
            (Direction::Response, Piece::Rest { .. }) => state.answers(*out),
            (_, Piece::Lost) => {
                state.is_lossy = true;
                state.asks_on = false;
                state.answers_on = false;
            }
        }
    }
}

impl State {
    fn asks(&mut self, out: Out<'_>) {
        if let Some((key, _)) = self.open.newest() {
            self.turn.asks(key, out);
        }
    }

    fn answers(&mut self, out: Out<'_>) {
        if let Some((key, _)) = self.open.oldest() {
            self.turn.answers(key, out);
        }
    }

    fn ask(&mut self, head: &[u8], is_cut: bool, out: Out<'_>) {
        let continues = std::mem::replace(&mut self.asks_on, packet_len(head) == FULL);
        let body = &head[HEADER..];
        if let Some(flags) = login_flags(head).filter(|_| !continues && (head[3] > 0 || self.greeted)) {
            if flags & ENCRYPTS != 0 && packet_len(head) == 32 {
                self.opaque = true;
                return;
            }
            self.compresses = flags & COMPRESSES != 0;
            return self.begin("LOGIN", Answer::Login, None, out);
        }
        if continues || head[3] != 0 || body.is_empty() {
            return self.asks(out);
        }
        if self.is_lossy {
            self.settle(out);
        }
        match body[0] {
            COM_QUERY => self.begin(&shape(&body[1..], is_cut), Answer::Result, None, out),
            COM_STMT_PREPARE => {
                let shape = shape(&body[1..], is_cut);
                self.begin(&["PREPARE ", &shape].concat(), Answer::Prepared, Some(shape.into()), out);
            }
            COM_STMT_EXECUTE => {
                let statement = number(&body[1..]).and_then(|id| self.statements.get(&id).cloned());
                // Prepared before the capture began, where it is not known.
                self.begin(statement.as_deref().unwrap_or("EXECUTE ?"), Answer::Result, None, out);
            }
            COM_STMT_CLOSE => {
                if let Some(id) = number(&body[1..]) {
                    self.statements.remove(&id);
                }
                self.tell("STMT CLOSE", out);
            }
            COM_STMT_SEND_LONG_DATA => self.tell("STMT SEND LONG DATA", out),
            command => {
                if let Some((_, name, answer)) = COMMANDS.iter().find(|(code, ..)| *code == command) {
                    self.begin(name, *answer, None, out);
                }
            }
        }
    }

    fn begin(&mut self, text: &str, answer: Answer, shape: Option<Arc<str>>, out: Out<'_>) {
        let key = self.open.ask(Open { answer, shape, has_status: false, has_rows: answer == Answer::Rows });
        self.turn.asked(key, named(text), out);
    }

    fn tell(&mut self, text: &str, out: Out<'_>) {
        let key = self.open.ask_one_way();
        self.turn.asked(key, Request { one_way: true, ..named(text) }, out);
    }

    /// Where packets were missed: a client that asks again has its answer.
    fn settle(&mut self, out: Out<'_>) {
        if let Some((key, _)) = self.open.oldest()
            && self.turn.has_begun(key)
        {
            self.turn.ended(key, out);
            self.open.take_oldest();
        }
        self.open.give_up(|_| true, out);
        self.is_lossy = false;
    }

    fn finish(&mut self, out: Out<'_>) {
        if let Some((key, _)) = self.open.take_oldest() {
            self.turn.done(key, out);
        }
    }

    fn answer(&mut self, head: &[u8], out: Out<'_>) {
        if std::mem::replace(&mut self.answers_on, packet_len(head) == FULL) {
            return self.answers(out);
        }
        if is_greeting(head) && self.open.is_empty() {
            self.greeted = true;
            return;
        }
        let len = packet_len(head);
        let body = &head[HEADER..];
        let first = body.first().copied();
        let Some((key, open)) = self.open.oldest_mut() else { return };
        let is_first = matches!(open.answer, Answer::Ok | Answer::Text | Answer::Prepared)
            || open.answer == Answer::Result && !open.has_status;
        // What ends the answer before may come behind its end was told.
        if is_first && head[3] != 1 && !self.is_lossy {
            return;
        }
        let is_error = first == Some(0xff) && open.answer != Answer::Text;
        let ends = match (open.answer, first) {
            _ if is_error => {
                open.has_status = true;
                self.turn.status(key, error(body), out);
                true
            }
            (Answer::Ok, _) | (Answer::Text, _) | (Answer::Login, Some(0)) => self.is_fine(out, 0),
            // The file that the client is to send.
            (Answer::Result, Some(0xfb)) | (Answer::Login, _) => false,
            (Answer::Result, Some(0)) => self.is_fine(out, flags_of_ok(body)),
            (Answer::Result, Some(columns)) => {
                let columns = match (columns, body) {
                    (0xfc, [_, low, high, ..]) => u64::from(u16::from_le_bytes([*low, *high])),
                    _ => u64::from(columns),
                };
                open.answer = Answer::Columns(columns);
                false
            }
            (Answer::Columns(left), _) => {
                open.answer = if left > 1 { Answer::Columns(left - 1) } else { Answer::Rows };
                false
            }
            // The end of the columns, without which they are followed by rows where the client wants no such ends.
            (Answer::Rows, Some(0xfe)) if len == 5 && !open.has_rows => {
                open.has_rows = true;
                false
            }
            (Answer::Rows, Some(0xfe)) if len < FULL => self.is_fine(out, flags_of_end(body)),
            (Answer::Prepared, Some(0)) => {
                let count = |at: usize| {
                    body.get(at..at + 2).map_or(0, |two| u64::from(u16::from_le_bytes([two[0], two[1]])))
                };
                let left = count(5) + count(7);
                if let (Some(id), Some(shape)) = (number(&body[1..]), open.shape.take()) {
                    self.statements.insert(id, shape);
                }
                open.answer = Answer::Descriptions(left);
                self.is_fine(out, 0) && left == 0
            }
            (Answer::Descriptions(left), Some(3)) => {
                open.answer = Answer::Descriptions(left.saturating_sub(1));
                left <= 1
            }
            _ => false,
        };
        self.answers(out);
        if ends {
            let was_login = self.open.oldest().is_some_and(|(_, open)| open.answer == Answer::Login);
            self.opaque |= was_login && !is_error && self.compresses;
            self.greeted &= !was_login;
            self.finish(out);
        }
    }

    /// A result that is no error; true where no other follows.
    fn is_fine(&mut self, out: Out<'_>, flags: u16) -> bool {
        let Some((key, open)) = self.open.oldest_mut() else { return false };
        if !open.has_status {
            open.has_status = true;
            self.turn.status(key, fine("OK"), out);
        }
        if flags & MORE_RESULTS != 0 {
            open.answer = Answer::Result;
            open.has_rows = false;
            return false;
        }
        true
    }
}

fn named(text: &str) -> Request {
    Request { endpoint: text.to_owned(), detail: text.to_owned(), ..Request::default() }
}

fn shape(text: &[u8], is_cut: bool) -> String {
    let mut shape = String::new();
    sql_shape(text, is_cut, &mut shape);
    shape
}

fn error(body: &[u8]) -> Status {
    match body {
        [_, low, high, ..] => failed(format!("ERROR {}", u16::from_le_bytes([*low, *high]))),
        _ => failed("ERROR".to_owned()),
    }
}

/// Status flags of an `OK`: behind two numbers of one to nine bytes.
fn flags_of_ok(body: &[u8]) -> u16 {
    let behind = |rest: &[u8]| match rest.first() {
        Some(0xfc) => 3,
        Some(0xfd) => 4,
        Some(0xfe) => 9,
        _ => 1,
    };
    let rest = body.get(1..).unwrap_or_default();
    let rest = rest.get(behind(rest)..).unwrap_or_default();
    let rest = rest.get(behind(rest)..).unwrap_or_default();
    rest.first_chunk().map_or(0, |two| u16::from_le_bytes(*two))
}

/// Status flags of an end of rows, old or new.
fn flags_of_end(body: &[u8]) -> u16 {
    match body {
        [_, _, _, low, high] => u16::from_le_bytes([*low, *high]),
        _ => flags_of_ok(body),
    }
}

fn reduce(head: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    if sniff(head, direction) == Sniff::No {
        return false;
    }
    let mut mask = Mask::new(out);
    while !mask.is_full() {
        let rest = &head[mask.len().min(head.len())..];
        if rest.len() <= HEADER {
            break;
        }
        let len = packet_len(rest);
        let body = &rest[HEADER..(len + HEADER).min(rest.len())];
        let end = mask.len() + HEADER + body.len();
        let keep = |count: usize| &body[..count.min(body.len())];
        mask.keep(&rest[..HEADER]);
        match (direction, body) {
            (Direction::Request, _) if login_flags(rest).is_some() => mask.keep(keep(9)),
            (Direction::Request, _) if rest[3] != 0 => {}
            (Direction::Request, [COM_QUERY | COM_STMT_PREPARE, text @ ..]) => {
                mask.keep(keep(1));
                mask.keep_sql(text, body.len() < len);
            }
            (Direction::Request, [COM_STMT_EXECUTE, ..]) => mask.keep(keep(10)),
            (Direction::Request, [COM_STMT_CLOSE | 0x1a, ..]) => mask.keep(keep(5)),
            (Direction::Request, [_, ..]) => mask.keep(keep(1)),
            (Direction::Response, _) if is_greeting(rest) => {
                mask.keep(keep(1 + memchr::memchr(0, &body[1..]).unwrap_or(0)));
            }
            (Direction::Response, [0xff, ..]) => mask.keep(keep(9)),
            (Direction::Response, [0, ..]) if len == 7 || len == 12 => mask.keep(body),
            (Direction::Response, [0xfe, ..]) if len == 5 || len == 7 => mask.keep(body),
            (Direction::Response, [3, b'd', b'e', b'f', ..]) => mask.keep(keep(4)),
            // The first byte of a row is a length.
            (Direction::Response, [_, ..]) => mask.keep(keep(1)),
            (_, []) => {}
        }
        mask.blank_to(end);
    }
    true
}
