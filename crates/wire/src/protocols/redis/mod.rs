//! Redis: commands and replies in RESP2 and RESP3, in order, also many under way.
//!
//! Where a reply's end is not in what the capture has, it goes on until something is asked: how many replies are in the
//! missing part is not known, and whether others that waited were answered is not either. What a subscriber is sent is no
//! reply.

mod commands;
mod reduce;
mod resp;
#[cfg(test)]
mod tests;

use crate::pairing::Pairing;
use crate::{Chunk, Decoder, Direction, Key, Protocol, Request, Sniff, Status, Step};
use commands::Word;
use resp::{Progress, Value};

/// Redis and what speaks its protocol.
pub(super) static REDIS: Protocol = Protocol {
    name: "Redis",
    ports: &[6379, 6380, 26379],
    sniff,
    decoder: || Box::new(Redis::default()),
    reduce: reduce::reduce,
};

fn sniff(bytes: &[u8], direction: Direction) -> Sniff {
    match direction {
        Direction::Request => {
            let Some(command) = Command::read(bytes) else { return Sniff::No };
            match (command.is_inline, command.shown) {
                (true, _) if command.name.is_cut => Sniff::No,
                (true, None) => Sniff::No,
                (true, Some(_)) | (false, None) => Sniff::Maybe,
                (false, Some(_)) => Sniff::Yes,
            }
        }
        // A command has the form of an answer.
        Direction::Response if sniff(bytes, Direction::Request) == Sniff::Yes => Sniff::No,
        Direction::Response if resp::begins(bytes) => Sniff::Maybe,
        Direction::Response => Sniff::No,
    }
}

/// A command, as far as its first words are there.
#[derive(Clone, Copy, Debug)]
struct Command<'a> {
    name: Word<'a>,
    key: Option<Word<'a>>,
    /// How many of its words may be shown ([`commands::words`]).
    shown: Option<usize>,
    /// A line of words, as people type it.
    is_inline: bool,
    /// Words of it in all.
    words: u64,
    /// What follows the words that were read.
    behind: &'a [u8],
}

impl<'a> Command<'a> {
    /// `None` where no command begins so.
    fn read(bytes: &'a [u8]) -> Option<Command<'a>> {
        if bytes.first().is_some_and(u8::is_ascii_alphabetic) {
            return Command::inline(bytes);
        }
        let (words, rest) = resp::counted(bytes, b'*').filter(|(words, _)| *words > 0)?;
        let (name, behind) = word(rest)?;
        let shown = commands::words(name.text);
        let mut command = Command { name, key: None, shown, is_inline: false, words, behind };
        if words > 1
            && shown == Some(2)
            && let Some((key, behind)) = word(behind)
        {
            (command.key, command.behind) = (Some(key), behind);
        }
        name.text.first().is_some_and(u8::is_ascii_alphabetic).then_some(command)
    }

    fn inline(bytes: &'a [u8]) -> Option<Command<'a>> {
        let end = memchr::memchr(b'\n', bytes);
        let line = &bytes[..end.unwrap_or(bytes.len())];
        if !line.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\r')) {
            return None;
        }
        let mut words = line.split(|byte| matches!(byte, b' ' | b'\r')).filter(|word| !word.is_empty());
        let mut next =
            || words.next().map(|text| Word { text, is_cut: end.is_none() && line.ends_with(text) });
        let (name, key) = (next()?, next());
        let behind = &bytes[end.map_or(bytes.len(), |end| end + 1)..];
        let shown = commands::words(name.text);
        Some(Command { name, key, shown, is_inline: true, words: 1 + u64::from(key.is_some()), behind })
    }
}

/// `$3\r\nSET\r\n`, and what follows it.
fn word(bytes: &[u8]) -> Option<(Word<'_>, &[u8])> {
    let (length, rest) = resp::counted(bytes, b'$')?;
    let here = usize::try_from(length).unwrap_or(usize::MAX).min(rest.len());
    let (text, behind) = rest.split_at(here);
    Some((Word { text, is_cut: (here as u64) < length }, behind.get(2..).unwrap_or(b"")))
}

#[derive(Default)]
struct Redis {
    pairing: Pairing<Kind>,
    asks: Side,
    answers: Side,
    /// It was asked for messages: arrays may be such.
    is_subscriber: bool,
    /// What follows are no replies: `MONITOR`.
    is_opaque: bool,
}

/// What a request is answered with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Once,
    /// With a confirmation for each channel.
    Subscription,
}

/// One direction.
#[derive(Default)]
struct Side {
    /// In a value that was told; `None` between values.
    value: Option<Value>,
    /// A value that is not whole and not told, at most [`Side::ENOUGH`] bytes of it.
    begun: Vec<u8>,
    /// Where values begin is not known.
    is_lost: bool,
    key: Option<Key>,
    /// The present value was told in this chunk.
    is_told: bool,
}

impl Side {
    /// Bytes of a value that are worth waiting for before it is told.
    const ENOUGH: usize = 512;
}

impl Decoder for Redis {
    fn take(&mut self, direction: Direction, chunk: Chunk<'_>, out: &mut dyn FnMut(Step)) {
        let missing = chunk.len.saturating_sub(chunk.head.len() as u64);
        if self.is_opaque || chunk.head.is_empty() && missing == 0 {
            return;
        }
        self.side(direction).is_told = false;
        let mut bytes = chunk.head;
        if self.side(direction).is_lost {
            let begins = match direction {
                Direction::Request => Command::read(bytes).is_some_and(|command| !command.is_inline),
                Direction::Response => self.answers.key.is_none() && resp::begins(bytes),
            };
            if !begins {
                return self.go_on(direction, out);
            }
            self.side(direction).is_lost = false;
        }
        if let Some(mut value) = self.side(direction).value.take() {
            self.go_on(direction, out);
            bytes = match value.take(bytes, missing) {
                Progress::Ended(used) => {
                    self.end(direction, out);
                    if used > bytes.len() as u64 {
                        if used < bytes.len() as u64 + missing {
                            self.lose(direction, out);
                        }
                        return;
                    }
                    &bytes[used as usize..]
                }
                Progress::More => {
                    self.side(direction).value = Some(value);
                    return;
                }
                Progress::Lost => return self.lose(direction, out),
            };
        }
        let mut begun = std::mem::take(&mut self.side(direction).begun);
        if !begun.is_empty() {
            let before = begun.len();
            let room = (Side::ENOUGH.saturating_sub(before)).min(bytes.len());
            begun.extend_from_slice(&bytes[..room]);
            let rest = &bytes[room..];
            let joined_missing = if rest.is_empty() { missing } else { 0 };
            match self.value(direction, &begun, joined_missing, !rest.is_empty(), out) {
                After::Next(used) => {
                    let used = usize::try_from(used).unwrap_or(usize::MAX).saturating_sub(before);
                    bytes = &bytes[used.min(bytes.len())..];
                }
                After::Hold => {
                    self.side(direction).begun = begun;
                    return;
                }
                // The value is told; what is behind goes on with it.
                After::Told if !rest.is_empty() => {
                    return self.take(direction, Chunk { head: rest, len: rest.len() as u64 + missing }, out);
                }
                After::Told => return,
            }
            begun.clear();
            self.side(direction).begun = begun;
        }
        while !bytes.is_empty() {
            match self.value(direction, bytes, missing, false, out) {
                After::Next(used) if used <= bytes.len() as u64 => bytes = &bytes[used as usize..],
                After::Next(used) if used < bytes.len() as u64 + missing => return self.lose(direction, out),
                After::Next(_) | After::Told => return,
                After::Hold => {
                    self.side(direction).begun.extend_from_slice(bytes);
                    return;
                }
            }
        }
        if missing > 0 {
            self.lose(direction, out);
        }
    }
}

/// What to do after a value.
enum After {
    /// So many bytes belong to it.
    Next(u64),
    /// It is told and goes on.
    Told,
    /// It is not told yet: more of it may come.
    Hold,
}

impl Redis {
    fn side(&mut self, direction: Direction) -> &mut Side {
        match direction {
            Direction::Request => &mut self.asks,
            Direction::Response => &mut self.answers,
        }
    }

    /// A value begins. `goes_on`: more than these bytes is there.
    fn value(
        &mut self,
        direction: Direction,
        bytes: &[u8],
        missing: u64,
        goes_on: bool,
        out: &mut dyn FnMut(Step),
    ) -> After {
        let command = (direction == Direction::Request).then(|| Command::read(bytes)).flatten();
        if let Some(command) = command.filter(|command| command.is_inline) {
            return self.inline(&command, bytes, missing, out);
        }
        if let [b'\r', ..] | [b'\n', ..] = bytes {
            return After::Next(1);
        }
        let mut value = Value::new();
        let progress = value.take(bytes, missing);
        let may_hold = missing == 0 && !goes_on && bytes.len() < Side::ENOUGH;
        if progress == Progress::More && may_hold {
            return After::Hold;
        }
        let told = match direction {
            Direction::Request => command.is_some_and(|command| self.ask(&command, out)),
            Direction::Response => self.answer(bytes, out),
        };
        match progress {
            Progress::Ended(used) if told => {
                self.end(direction, out);
                return After::Next(used);
            }
            Progress::More if told => self.side(direction).value = Some(value),
            _ => self.lose(direction, out),
        }
        After::Told
    }

    fn inline(
        &mut self,
        command: &Command<'_>,
        bytes: &[u8],
        missing: u64,
        out: &mut dyn FnMut(Step),
    ) -> After {
        let used = bytes.len() - command.behind.len();
        let is_whole = bytes[..used].ends_with(b"\n");
        if !is_whole && missing == 0 && bytes.len() < Side::ENOUGH {
            return After::Hold;
        }
        self.ask(command, out);
        if !is_whole {
            self.lose(Direction::Request, out);
            return After::Told;
        }
        After::Next(used as u64)
    }

    fn ask(&mut self, command: &Command<'_>, out: &mut dyn FnMut(Step)) -> bool {
        let Some((endpoint, detail)) = commands::texts(command) else { return false };
        if self.answers.is_lost {
            // A client that asks again has its answer; which of several were in what is missing is not known.
            self.end_answer(out);
            self.pairing.give_up(|_| true, out);
            self.answers.is_lost = false;
        }
        let name = if command.name.is_cut { "" } else { &endpoint[..command.name.text.len()] };
        let kind = match name {
            "SUBSCRIBE" | "PSUBSCRIBE" | "SSUBSCRIBE" | "UNSUBSCRIBE" | "PUNSUBSCRIBE" | "SUNSUBSCRIBE" => {
                self.is_subscriber = true;
                Kind::Subscription
            }
            _ => Kind::Once,
        };
        self.is_opaque = matches!(name, "MONITOR" | "PSYNC" | "SYNC");
        let key = self.pairing.ask(kind);
        (self.asks.key, self.asks.is_told) = (Some(key), true);
        let one_way = self.is_opaque;
        out(Step::Asked(key, Request { endpoint, detail, one_way, ..Request::default() }));
        true
    }

    /// A reply begins; false where none does.
    fn answer(&mut self, bytes: &[u8], out: &mut dyn FnMut(Step)) -> bool {
        if !resp::begins(bytes) {
            return false;
        }
        self.answers.is_told = true;
        self.answers.key = None;
        let is_message = self.is_subscriber && message(bytes);
        let confirms = self.is_subscriber && !is_message && confirmation(bytes);
        let is_of_nobody = is_message
            || bytes[0] == b'>' && !confirms
            || confirms && self.pairing.oldest().is_none_or(|(_, kind)| *kind != Kind::Subscription);
        if !is_of_nobody && let Some((key, _)) = self.pairing.take_oldest() {
            self.answers.key = Some(key);
            out(Step::Answered(key, status(bytes)));
        }
        true
    }

    /// A value ended.
    fn end(&mut self, direction: Direction, out: &mut dyn FnMut(Step)) {
        match direction {
            Direction::Request => self.asks.key = None,
            Direction::Response => self.end_answer(out),
        }
        self.side(direction).is_told = false;
    }

    fn end_answer(&mut self, out: &mut dyn FnMut(Step)) {
        if let Some(key) = self.answers.key.take() {
            out(Step::Done(key));
        }
    }

    /// Where values begin is not known from here on.
    fn lose(&mut self, direction: Direction, out: &mut dyn FnMut(Step)) {
        let side = self.side(direction);
        side.is_lost = true;
        side.value = None;
        if direction == Direction::Response
            && self.answers.key.is_none()
            && let Some((key, _)) = self.pairing.take_oldest()
        {
            out(Step::Answered(key, None));
            (self.answers.key, self.answers.is_told) = (Some(key), true);
        }
    }

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

/// Statuses that servers answer beside OK (redis.io, the replies of PING, MULTI, RESET, PSYNC).
const STATUSES: [&str; 4] = ["PONG", "QUEUED", "RESET", "CONTINUE"];

/// The status that a reply tells.
fn status(bytes: &[u8]) -> Option<Status> {
    let line = &bytes[..resp::find(b'\r', bytes)?];
    let is_error = line[0] == b'-' || line[0] == b'!';
    let text = match line {
        [b'-', rest @ ..] => code(rest).to_owned().into(),
        [b'!', ..] => code(bytes.get(line.len() + 2..)?).to_owned().into(),
        b"$-1" | b"*-1" | b"_" => "nil".into(),
        // A simple string of a script's may say anything.
        [b'+', rest @ ..] => {
            STATUSES.iter().copied().find(|status| status.as_bytes() == rest).unwrap_or("OK").into()
        }
        _ => "OK".into(),
    };
    Some(Status { text, is_error })
}

/// The code that an error's text begins with.
fn code(text: &[u8]) -> &str {
    let end = text.iter().position(|byte| !byte.is_ascii_uppercase()).unwrap_or(text.len());
    std::str::from_utf8(&text[..end])
        .ok()
        .filter(|code| !code.is_empty() && code.len() <= 16)
        .unwrap_or("ERR")
}

/// The first word of an array or push.
fn first_word(bytes: &[u8]) -> &[u8] {
    let first = resp::counted(bytes, b'*').or_else(|| resp::counted(bytes, b'>'));
    first.and_then(|(_, rest)| word(rest)).map_or(b"", |(word, _)| word.text)
}

fn message(bytes: &[u8]) -> bool {
    matches!(first_word(bytes), b"message" | b"pmessage" | b"smessage")
}

fn confirmation(bytes: &[u8]) -> bool {
    first_word(bytes).ends_with(b"subscribe")
}
