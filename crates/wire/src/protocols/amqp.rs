//! AMQP 0-9-1, as RabbitMQ speaks it (AMQP 0-9-1 specification, 4.2 "AMQP Wire-Level Format").

#[cfg(test)]
#[allow(clippy::octal_escapes, reason = "bytes as they were recorded")]
pub(super) mod tests;

use crate::framer::{Framer, Messages, Piece};
use crate::mask::Mask;
use crate::pairing::Pairing;
use crate::text::{key_pattern, without_tokens};
use crate::turn::{Out, failed, fine};
use crate::{Chunk, Decoder, Direction, Key, Protocol, Request, Sniff, Step};

/// AMQP.
pub(super) static AMQP: Protocol =
    Protocol { name: "AMQP", ports: &[5672], sniff, decoder: || Box::new(Amqp::default()), reduce };

/// Type, channel, length.
const HEADER: usize = 7;
/// What the client begins with: `AMQP`, 0, and the version.
const PREFACE: &[u8] = b"AMQP\0\0\x09\x01";
/// The last byte of a frame.
const END: u8 = 0xce;
/// RabbitMQ's `frame_max` is 128 KiB; others allow more.
const MAX_FRAME: u32 = 16 << 20;
const METHOD: u8 = 1;
const CONTENT_HEADER: u8 = 2;
const CONTENT_BODY: u8 = 3;
const HEARTBEAT: u8 = 8;

/// Class and method.
type Method = (u16, u16);
const CONNECTION_CLOSE: Method = (10, 50);
const CHANNEL_CLOSE: Method = (20, 40);
const GET: Method = (60, 70);
const GET_OK: Method = (60, 71);

/// What clients ask for.
struct Ask {
    method: Method,
    name: &'static str,
    /// Bytes before the names: the ticket.
    skip: usize,
    /// Names behind it, all of which make the endpoint.
    names: usize,
    /// The bit behind the names that says that no answer is wanted.
    no_wait: u8,
    /// The methods that answer it; none where nothing does.
    answers: &'static [u16],
}

const fn ask(
    method: Method,
    name: &'static str,
    skip: usize,
    names: usize,
    no_wait: u8,
    answers: &'static [u16],
) -> Ask {
    Ask { method, name, skip, names, no_wait, answers }
}

const ASKS: &[Ask] = &[
    ask((10, 11), "connection.start-ok", 0, 0, 0, &[20, 30]),
    ask((10, 40), "connection.open", 0, 0, 0, &[41]),
    ask(CONNECTION_CLOSE, "connection.close", 0, 0, 0, &[51]),
    ask((10, 70), "connection.update-secret", 0, 0, 0, &[71]),
    ask((20, 10), "channel.open", 0, 0, 0, &[11]),
    ask((20, 20), "channel.flow", 0, 0, 0, &[21]),
    ask(CHANNEL_CLOSE, "channel.close", 0, 0, 0, &[41]),
    ask((40, 10), "exchange.declare", 2, 2, 1 << 4, &[11]),
    ask((40, 20), "exchange.delete", 2, 1, 1 << 1, &[21]),
    ask((40, 30), "exchange.bind", 2, 3, 1, &[31]),
    ask((40, 40), "exchange.unbind", 2, 3, 1, &[51]),
    ask((50, 10), "queue.declare", 2, 1, 1 << 4, &[11]),
    ask((50, 20), "queue.bind", 2, 3, 1, &[21]),
    ask((50, 30), "queue.purge", 2, 1, 1, &[31]),
    ask((50, 40), "queue.delete", 2, 1, 1 << 2, &[41]),
    ask((50, 50), "queue.unbind", 2, 3, 0, &[51]),
    ask((60, 10), "basic.qos", 0, 0, 0, &[11]),
    // Of a consumer the queue is told, not its tag.
    ask((60, 20), "basic.consume", 2, 1, 0, &[21]),
    ask((60, 30), "basic.cancel", 0, 0, 0, &[31]),
    ask((60, 40), "basic.publish", 2, 2, 0, &[]),
    ask(GET, "basic.get", 2, 1, 0, &[71, 72]),
    ask((60, 80), "basic.ack", 0, 0, 0, &[]),
    ask((60, 90), "basic.reject", 0, 0, 0, &[]),
    ask((60, 110), "basic.recover", 0, 0, 0, &[111]),
    ask((60, 120), "basic.nack", 0, 0, 0, &[]),
    ask((85, 10), "confirm.select", 0, 0, 1, &[11]),
    ask((90, 10), "tx.select", 0, 0, 0, &[11]),
    ask((90, 20), "tx.commit", 0, 0, 0, &[21]),
    ask((90, 30), "tx.rollback", 0, 0, 0, &[31]),
];

/// A frame's type, channel, and payload as far as it is there.
fn frame(head: &[u8]) -> Option<(u8, u16, u32)> {
    let (kind, channel) = (*head.first()?, u16::from_be_bytes(head.get(1..3)?.try_into().ok()?));
    let size = u32::from_be_bytes(head.get(3..HEADER)?.try_into().ok()?);
    let is_frame = match kind {
        METHOD => size >= 4,
        CONTENT_HEADER => size >= 14 && channel > 0,
        CONTENT_BODY => channel > 0,
        HEARTBEAT => size == 0 && channel == 0,
        _ => false,
    };
    let ends = head.get(HEADER + size as usize).is_none_or(|end| *end == END);
    (is_frame && ends && size <= MAX_FRAME).then_some((kind, channel, size))
}

fn method(payload: &[u8]) -> Option<Method> {
    match payload {
        [a, b, c, d, ..] => Some((u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d]))),
        _ => None,
    }
}

fn sniff(head: &[u8], direction: Direction) -> Sniff {
    if head.starts_with(PREFACE) && direction == Direction::Request {
        return Sniff::Yes;
    }
    let Some((kind, channel, size)) = frame(head) else { return Sniff::No };
    let is_whole = head.len() > HEADER + size as usize;
    let payload = &head[HEADER..];
    match kind {
        METHOD => match method(payload) {
            Some((class, number)) if class % 5 == 0 && (10..=90).contains(&class) && number <= 120 => {
                // The connection's methods are those without a channel.
                if (class == 10) == (channel == 0) { Sniff::Yes } else { Sniff::No }
            }
            Some(_) => Sniff::No,
            None => Sniff::Maybe,
        },
        // Class, and a weight that is always zero.
        CONTENT_HEADER => match payload {
            [0, 60, 0, 0, ..] => Sniff::Yes,
            [_, _, _, _, ..] => Sniff::No,
            _ => Sniff::Maybe,
        },
        HEARTBEAT if is_whole => Sniff::Yes,
        CONTENT_BODY if is_whole && size > 0 => Sniff::Yes,
        _ => Sniff::Maybe,
    }
}

#[derive(Default)]
struct Amqp {
    asks: Framer,
    answers: Framer,
    state: State,
}

#[derive(Default)]
struct State {
    /// By channel.
    open: Pairing<(u16, &'static Ask)>,
    /// The request whose content follows.
    asking: Option<(u16, Key)>,
    /// The answer whose content follows: bytes of it that are to come, where its header told them.
    answering: Option<(u16, Key, Option<u64>)>,
}

/// Bytes of a frame besides its payload.
const AROUND: u64 = HEADER as u64 + 1;

impl Decoder for Amqp {
    fn take(&mut self, direction: Direction, chunk: Chunk<'_>, out: &mut dyn FnMut(Step)) {
        let framer = if direction == Direction::Request { &mut self.asks } else { &mut self.answers };
        framer.take(chunk, &mut Side { direction, state: &mut self.state, told: None, out });
    }
}

struct Side<'s, 'o> {
    direction: Direction,
    state: &'s mut State,
    /// Told in this chunk that it goes on, or that it begins.
    told: Option<Key>,
    out: Out<'o>,
}

impl Messages for Side<'_, '_> {
    const HEADER: usize = HEADER;

    fn length(&mut self, head: &[u8], is_resync: bool) -> Option<u64> {
        if head.starts_with(&PREFACE[..HEADER]) {
            return Some(PREFACE.len() as u64);
        }
        if is_resync && sniff(head, self.direction) != Sniff::Yes {
            return None;
        }
        frame(head).map(|(_, _, size)| u64::from(size) + AROUND)
    }

    fn piece(&mut self, piece: Piece<'_>) {
        match (self.direction, piece) {
            (_, Piece::Message { head, .. }) if head.starts_with(b"AMQP") => {}
            (Direction::Request, Piece::Message { head, len, .. }) => {
                self.ask(&head[..head.len().min(Framer::ENOUGH)], len)
            }
            (Direction::Response, Piece::Message { head, len, ends }) => {
                self.answer(&head[..head.len().min(Framer::ENOUGH)], len, ends);
            }
            (Direction::Request, Piece::Rest { .. }) => self.asks(),
            (Direction::Response, Piece::Rest { ends }) => self.answers(ends),
            (Direction::Request, Piece::Lost) => self.state.asking = None,
            (Direction::Response, Piece::Lost) => self.lose_answer(),
        }
    }
}

/// The parts of a frame that is there from its first byte on.
fn parts(head: &[u8], len: u64) -> (u8, u16, &[u8]) {
    let end = usize::try_from(len - 1).unwrap_or(usize::MAX).min(head.len());
    (head[0], u16::from_be_bytes([head[1], head[2]]), &head[HEADER..end])
}

impl Side<'_, '_> {
    fn asks(&mut self) {
        if let Some((_, key)) = self.state.asking
            && self.told.replace(key) != Some(key)
        {
            (self.out)(Step::Asks(key));
        }
    }

    fn ask(&mut self, head: &[u8], len: u64) {
        let (kind, channel, payload) = parts(head, len);
        if kind != METHOD {
            if kind != HEARTBEAT && self.state.asking.is_some_and(|(asking, _)| asking == channel) {
                self.asks();
            }
            return;
        }
        self.state.asking = None;
        let Some(method) = method(payload) else { return };
        let Some(ask) = ASKS.iter().find(|ask| ask.method == method) else { return };
        let (names, behind) = names(&payload[4..], ask);
        let one_way = ask.answers.is_empty() || behind.is_some_and(|bits| bits & ask.no_wait != 0);
        let key = if one_way { self.state.open.ask_one_way() } else { self.state.open.ask((channel, ask)) };
        self.state.asking = Some((channel, key));
        self.told = Some(key);
        let text = |each: fn(&[u8], bool, &mut String)| {
            let mut text = ask.name.to_owned();
            for (index, name) in names.iter().enumerate() {
                text.push(if index == 0 { ' ' } else { '/' });
                each(name, false, &mut text);
            }
            text
        };
        let request = Request {
            endpoint: text(key_pattern),
            detail: text(without_tokens),
            one_way,
            ..Request::default()
        };
        (self.out)(Step::Asked(key, request));
    }

    fn answer(&mut self, head: &[u8], len: u64, ends: bool) {
        let (kind, channel, payload) = parts(head, len);
        match kind {
            METHOD => {}
            CONTENT_HEADER | CONTENT_BODY => {
                let Some((answering, _, left)) = &mut self.state.answering else { return };
                if *answering != channel {
                    return;
                }
                if kind == CONTENT_HEADER {
                    // Class and weight are before the size.
                    *left = payload.get(4..12).and_then(|size| size.try_into().ok()).map(u64::from_be_bytes);
                } else if let Some(left) = left {
                    *left = left.saturating_sub(len - AROUND);
                }
                return self.answers(ends);
            }
            _ => return,
        }
        let Some((class, number)) = method(payload) else { return };
        // Content whose size was not seen ends where another method begins on its channel.
        if self.state.answering.is_some_and(|(answering, ..)| answering == channel) {
            self.end_answer();
        }
        if matches!((class, number), CONNECTION_CLOSE | CHANNEL_CLOSE) {
            return self.closed(channel, class == CONNECTION_CLOSE.0, payload);
        }
        let answers = |(asked, ask): &(u16, &Ask)| {
            *asked == channel && ask.method.0 == class && ask.answers.contains(&number)
        };
        let Some((key, _)) = self.state.open.take(answers) else { return };
        (self.out)(Step::Answered(key, Some(fine(if (class, number) == (60, 72) { "EMPTY" } else { "OK" }))));
        self.told = Some(key);
        if (class, number) == GET_OK {
            self.state.answering = Some((channel, key, None));
        } else {
            (self.out)(Step::Done(key));
        }
    }

    /// Content of an answer.
    fn answers(&mut self, ends: bool) {
        let Some((_, key, left)) = self.state.answering else { return };
        if self.told.replace(key) != Some(key) {
            (self.out)(Step::Answers(key));
        }
        if ends && left == Some(0) {
            self.end_answer();
        }
    }

    fn end_answer(&mut self) {
        if let Some((_, key, _)) = self.state.answering.take() {
            (self.out)(Step::Done(key));
        }
    }

    fn lose_answer(&mut self) {
        if let Some((_, _, left)) = &mut self.state.answering {
            *left = None;
        }
    }

    /// The server closes: all that waits on the channel, or on all, has failed.
    fn closed(&mut self, channel: u16, all: bool, payload: &[u8]) {
        let text = match payload.get(4..6) {
            Some([high, low]) => format!("ERROR {}", u16::from_be_bytes([*high, *low])),
            _ => "ERROR".to_owned(),
        };
        while let Some((key, _)) = self.state.open.take(|(asked, _)| all || *asked == channel) {
            (self.out)(Step::Answered(key, Some(failed(text.clone()))));
            (self.out)(Step::Done(key));
        }
    }
}

/// The names that make the endpoint, and the byte of bits behind them.
fn names<'a>(arguments: &'a [u8], ask: &Ask) -> (Vec<&'a [u8]>, Option<u8>) {
    let mut rest = arguments.get(ask.skip..).unwrap_or_default();
    let mut names = Vec::new();
    for _ in 0..ask.names {
        let Some((len, behind)) = rest.split_first() else { return (names, None) };
        let Some((name, behind)) = behind.split_at_checked(usize::from(*len)) else { return (names, None) };
        names.push(name);
        rest = behind;
    }
    (names, rest.first().copied())
}

/// Keeps methods with their names; nothing of contents.
fn reduce(head: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    if sniff(head, direction) != Sniff::Yes {
        return false;
    }
    let mut mask = Mask::new(out);
    while !mask.is_full() {
        let rest = &head[mask.len().min(head.len())..];
        let begin = mask.len();
        if rest.starts_with(PREFACE) {
            mask.keep(PREFACE);
            continue;
        }
        let Some((kind, _, size)) = frame(rest) else { break };
        let whole = HEADER + size as usize + 1;
        let payload = &rest[HEADER..(whole - 1).min(rest.len())];
        mask.keep(&rest[..HEADER]);
        match kind {
            METHOD => keep_method(payload, direction, &mut mask),
            CONTENT_HEADER => mask.keep(&payload[..payload.len().min(12)]),
            _ => {}
        }
        mask.blank_to(begin + HEADER + payload.len());
        if rest.len() >= whole {
            mask.keep(&[END]);
        }
    }
    true
}

fn keep_method(payload: &[u8], direction: Direction, mask: &mut Mask<'_>) {
    mask.keep(&payload[..payload.len().min(4)]);
    let Some(method) = method(payload) else { return };
    match (direction, method) {
        (Direction::Response, CONNECTION_CLOSE | CHANNEL_CLOSE) => {
            mask.keep(&payload[4..payload.len().min(6)])
        }
        (Direction::Response, _) => {}
        (Direction::Request, method) => {
            let Some(ask) =
                ASKS.iter().find(|ask| ask.method == method && (ask.names > 0 || ask.no_wait > 0))
            else {
                return;
            };
            let skip = ask.skip.min(payload.len() - 4);
            mask.keep(&payload[4..4 + skip]);
            let (names, bits) = names(&payload[4..], ask);
            for name in names {
                mask.keep(&[name.len() as u8]);
                mask.keep_names(name, false);
            }
            if let Some(bits) = bits {
                mask.keep(&[bits]);
            }
        }
    }
}
