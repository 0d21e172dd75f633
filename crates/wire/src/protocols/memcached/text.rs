//! The text protocol: lines, and blocks of data whose lengths the lines tell.

use crate::mask::Mask;
use crate::pairing::Pairing;
use crate::text::{key_pattern, without_tokens};
use crate::turn::{Out, Turn, failed, fine};
use crate::{Chunk, Direction, Request, Sniff};

/// Bytes of a line that are worth keeping.
const MAX_LINE: usize = 512;

/// What a command is answered with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Items, then `END`.
    Get,
    /// One line; data follows the command.
    Store,
    /// One line.
    Line,
    /// `STAT` lines, then `END`.
    Stats,
    /// A meta command: one line, perhaps with data.
    Meta,
    /// A meta command with data behind it.
    MetaStore,
    /// `mn`.
    MetaNoop,
    /// Nothing.
    Quit,
}

fn kind(command: &[u8]) -> Option<Kind> {
    Some(match command {
        b"get" | b"gets" | b"gat" | b"gats" => Kind::Get,
        b"set" | b"add" | b"replace" | b"append" | b"prepend" | b"cas" => Kind::Store,
        b"delete" | b"incr" | b"decr" | b"touch" | b"flush_all" | b"version" | b"verbosity" | b"slabs"
        | b"lru" | b"lru_crawler" | b"cache_memlimit" => Kind::Line,
        b"stats" => Kind::Stats,
        b"mg" | b"md" | b"ma" | b"me" => Kind::Meta,
        b"ms" => Kind::MetaStore,
        b"mn" => Kind::MetaNoop,
        b"quit" => Kind::Quit,
        _ => return None,
    })
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    line.split(|byte| *byte == b' ').filter(|word| !word.is_empty())
}

fn number(word: Option<&[u8]>) -> Option<u64> {
    std::str::from_utf8(word?).ok()?.parse().ok()
}

/// The first line, and whether it is whole.
fn first_line(head: &[u8]) -> (&[u8], bool) {
    let end = memchr::memchr(b'\n', head);
    let line = &head[..end.unwrap_or(head.len())];
    (line.strip_suffix(b"\r").unwrap_or(line), end.is_some())
}

pub(super) fn sniff(head: &[u8], direction: Direction) -> Sniff {
    let (line, is_whole) = first_line(head);
    if line.len() > 4_096 || !line.iter().all(|byte| (b' '..=b'~').contains(byte) || *byte >= 0x80) {
        return Sniff::No;
    }
    let sure = |is_it: bool| if is_it { Sniff::Yes } else { Sniff::No };
    let mut words = words(line);
    let Some(first) = words.next() else { return Sniff::No };
    match direction {
        Direction::Request => {
            let mut rest = words.clone().skip(1);
            match kind(first) {
                Some(Kind::Store) => match [number(rest.next()), number(rest.next()), number(rest.next())] {
                    [Some(_), Some(_), Some(_)] => Sniff::Yes,
                    _ => {
                        if is_whole {
                            Sniff::No
                        } else {
                            Sniff::Maybe
                        }
                    }
                },
                // Redis has a `get` and a `touch` too.
                Some(_) if matches!(first, b"get" | b"touch" | b"append" | b"quit" | b"version") => {
                    Sniff::Maybe
                }
                Some(Kind::Get) => sure(words.next().is_some()),
                Some(Kind::Line) if matches!(first, b"delete" | b"incr" | b"decr") => {
                    if words.next().is_some() && is_whole { Sniff::Yes } else { Sniff::Maybe }
                }
                Some(_) => Sniff::Maybe,
                None => Sniff::No,
            }
        }
        Direction::Response => match first {
            b"VALUE" => sure(number(words.nth(1)).is_some() && number(words.next()).is_some()),
            b"STORED" | b"NOT_STORED" | b"NOT_FOUND" | b"DELETED" | b"TOUCHED" | b"END" => {
                sure(is_whole && words.next().is_none())
            }
            b"STAT" | b"ERROR" | b"CLIENT_ERROR" | b"SERVER_ERROR" | b"EXISTS" | b"HD" | b"EN" | b"VA"
            | b"NF" | b"NS" | b"EX" | b"MN" | b"ME" | b"OK" | b"VERSION" => Sniff::Maybe,
            _ if is_whole && first.iter().all(u8::is_ascii_digit) && words.next().is_none() => Sniff::Maybe,
            _ => Sniff::No,
        },
    }
}

/// One direction: where the next line begins.
#[derive(Default)]
struct Lines {
    /// Bytes of data to come.
    data: u64,
    /// The beginning of a line.
    line: Vec<u8>,
    lost: bool,
}

/// What there is in a chunk.
enum Found<'a> {
    /// A line, without its end, and whether more of it is missing.
    Line(&'a [u8], bool),
    /// More data.
    Data,
}

impl Lines {
    /// Goes through a chunk; `take` tells how much data follows a line.
    fn take(&mut self, direction: Direction, chunk: Chunk<'_>, take: &mut dyn FnMut(Found<'_>) -> u64) {
        let mut rest = chunk.head;
        let missing = chunk.len.saturating_sub(rest.len() as u64);
        if self.lost {
            if sniff(rest, direction) == Sniff::No {
                take(Found::Data);
                return;
            }
            self.lost = false;
        }
        loop {
            if self.data > 0 {
                let here = self.data.min(rest.len() as u64);
                self.data -= here;
                rest = &rest[here as usize..];
                let unseen = if rest.is_empty() { self.data.min(missing) } else { 0 };
                if here + unseen > 0 {
                    take(Found::Data);
                }
                self.data -= unseen;
                if rest.is_empty() {
                    // A line begins among the missing bytes.
                    self.lost = missing > unseen;
                    return;
                }
            }
            let Some(end) = memchr::memchr(b'\n', rest) else { break };
            let line = &rest[..end];
            rest = &rest[end + 1..];
            let room = MAX_LINE.saturating_sub(self.line.len());
            if self.line.is_empty() {
                self.data = take(Found::Line(cut(line), false));
            } else {
                self.line.extend_from_slice(&line[..line.len().min(room)]);
                let line = std::mem::take(&mut self.line);
                self.data = take(Found::Line(cut(&line), false));
            }
        }
        if missing > 0 {
            // A line that is cut is told as far as it is there.
            self.line.extend_from_slice(rest);
            let line = std::mem::take(&mut self.line);
            if !line.is_empty() {
                take(Found::Line(cut(&line), true));
            } else if chunk.head.is_empty() {
                // Nothing of it was kept.
                take(Found::Data);
            }
            self.lost = true;
        } else {
            let room = MAX_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&rest[..rest.len().min(room)]);
        }
    }
}

fn cut(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    &line[..line.len().min(MAX_LINE)]
}

#[derive(Default)]
pub(super) struct Text {
    asks: Lines,
    answers: Lines,
    state: State,
}

#[derive(Default)]
struct State {
    turn: Turn,
    open: Pairing<Open>,
    /// Lines may have been missed.
    is_lossy: bool,
}

struct Open {
    kind: Kind,
    has_status: bool,
}

impl Text {
    pub(super) fn take(&mut self, direction: Direction, chunk: Chunk<'_>, out: Out<'_>) {
        let Text { asks, answers, state } = self;
        state.turn.chunk();
        match direction {
            Direction::Request => asks.take(direction, chunk, &mut |found| match found {
                Found::Line(line, is_cut) => state.ask(line, is_cut, out),
                Found::Data => {
                    if let Some((key, _)) = state.open.newest() {
                        state.turn.asks(key, out);
                    }
                    0
                }
            }),
            Direction::Response => answers.take(direction, chunk, &mut |found| match found {
                Found::Line(line, _) => state.answer(line, out),
                Found::Data => {
                    if let Some((key, _)) = state.open.oldest() {
                        state.turn.answers(key, out);
                    }
                    0
                }
            }),
        }
        state.is_lossy |= asks.lost || answers.lost;
        state.turn.end(out);
    }
}

/// Bytes of a block of data with its end.
fn data(len: Option<u64>) -> u64 {
    // Larger than any item: it is no length.
    len.filter(|len| *len <= 1 << 30).map_or(0, |len| len + 2)
}

impl State {
    /// A command; bytes of data behind it.
    fn ask(&mut self, line: &[u8], is_cut: bool, out: Out<'_>) -> u64 {
        let mut words = words(line);
        let Some((command, kind)) = words.next().and_then(|word| Some((word, kind(word)?))) else {
            // Answered with `ERROR`, where it is a command at all.
            return 0;
        };
        if self.is_lossy {
            self.settle(out);
        }
        if kind == Kind::Quit {
            return 0;
        }
        let is_gat = command.starts_with(b"gat");
        let mut keys = words.clone().skip(usize::from(is_gat));
        let key = match kind {
            Kind::Line if !matches!(command, b"delete" | b"incr" | b"decr" | b"touch") => None,
            Kind::Stats | Kind::MetaNoop => None,
            _ => keys.next(),
        };
        let has_more = kind == Kind::Get && keys.next().is_some();
        let text = |each: fn(&[u8], bool, &mut String)| {
            let mut text = String::from_utf8_lossy(command).into_owned();
            if let Some(key) = key {
                text.push(' ');
                let ends_line = key.as_ptr_range().end == line.as_ptr_range().end;
                each(key, is_cut && ends_line, &mut text);
            }
            if has_more {
                text.push_str(" …");
            }
            text
        };
        let one_way = match kind {
            Kind::Meta | Kind::MetaStore => words.clone().skip(1).any(|flag| flag == b"q"),
            Kind::Get | Kind::Stats | Kind::MetaNoop => false,
            _ => line.ends_with(b" noreply"),
        };
        let request = Request {
            endpoint: text(key_pattern),
            detail: text(without_tokens),
            one_way,
            ..Request::default()
        };
        let key =
            if one_way { self.open.ask_one_way() } else { self.open.ask(Open { kind, has_status: false }) };
        self.turn.asked(key, request, out);
        match kind {
            Kind::Store => data(number(words.nth(3))),
            Kind::MetaStore => data(number(words.nth(1))),
            _ => 0,
        }
    }

    /// Where lines were missed: a client that asks again has its answer.
    fn settle(&mut self, out: Out<'_>) {
        if let Some((key, _)) = self.open.oldest()
            && self.turn.has_begun(key)
        {
            self.finish(out);
            self.open.give_up(|_| true, out);
            self.is_lossy = false;
        }
    }

    fn finish(&mut self, out: Out<'_>) {
        if let Some((key, _)) = self.open.take_oldest() {
            self.turn.done(key, out);
        }
    }

    /// A line of an answer; bytes of data behind it.
    fn answer(&mut self, line: &[u8], out: Out<'_>) -> u64 {
        let mut words = words(line);
        let Some(first) = words.next() else { return 0 };
        let follows = match first {
            b"VALUE" => data(number(words.nth(2))),
            b"VA" => data(number(words.next())),
            _ => 0,
        };
        let is_meta = matches!(first, b"VA" | b"HD" | b"EN" | b"NF" | b"NS" | b"EX" | b"ME");
        // A meta command that wanted no answer has one all the same where it failed.
        let is_for = |kind: Kind| match kind {
            Kind::Meta | Kind::MetaStore => is_meta || first.ends_with(b"ERROR"),
            Kind::MetaNoop => first == b"MN",
            _ => !is_meta && first != b"MN",
        };
        let Some((key, open)) = self.open.oldest_mut().filter(|(_, open)| is_for(open.kind)) else {
            return follows;
        };
        let text = String::from_utf8_lossy(&first[..first.len().min(20)]).into_owned();
        let (status, ends) = match (open.kind, first) {
            (_, b"ERROR" | b"CLIENT_ERROR" | b"SERVER_ERROR") => (failed(text), true),
            (Kind::Get, b"VALUE") => (fine("HIT"), false),
            (Kind::Get, b"END") => (fine("MISS"), true),
            (Kind::Stats, b"STAT") => (fine("OK"), false),
            (Kind::Meta | Kind::MetaStore, b"VA") => (fine("HIT"), true),
            (Kind::Meta, b"EN" | b"NF") => (fine("MISS"), true),
            // A counter's new value.
            (Kind::Line, _) if first.iter().all(u8::is_ascii_digit) => (fine("OK"), true),
            _ if first.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_') => (fine(text), true),
            _ => return follows,
        };
        if !open.has_status {
            open.has_status = true;
            self.turn.status(key, status, out);
        }
        self.turn.answers(key, out);
        if ends {
            self.finish(out);
        }
        follows
    }
}

pub(super) fn reduce(head: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    if sniff(head, direction) == Sniff::No {
        return false;
    }
    let mut mask = Mask::new(out);
    while !mask.is_full() && mask.len() < head.len() {
        let begin = mask.len();
        let rest = &head[begin..];
        let end = memchr::memchr(b'\n', rest);
        let line = &rest[..end.map_or(rest.len(), |end| end + 1)];
        let mut parts = words(cut(line));
        let first = parts.next().unwrap_or_default();
        let follows = match (direction, first) {
            (Direction::Request, first) => match kind(first) {
                Some(Kind::Store) => data(number(parts.nth(3))),
                Some(Kind::MetaStore) => data(number(parts.nth(1))),
                Some(_) => 0,
                None => return true,
            },
            (Direction::Response, b"VALUE") => data(number(parts.nth(2))),
            (Direction::Response, b"VA") => data(number(parts.next())),
            // What the server says of itself, or repeats of what it was sent.
            (Direction::Response, b"STAT" | b"VERSION" | b"CLIENT_ERROR" | b"SERVER_ERROR") => {
                mask.keep(first);
                while mask.len() < begin + cut(line).len() && !mask.is_full() {
                    mask.keep(b" ");
                }
                mask.keep(&line[cut(line).len().min(line.len())..]);
                0
            }
            (Direction::Response, _) if sniff(line, direction) == Sniff::No => return true,
            (Direction::Response, _) => 0,
        };
        if mask.len() == begin {
            mask.keep_names(line, end.is_none());
        }
        if line.len() > MAX_LINE || mask.len() != begin + line.len() {
            break;
        }
        mask.blank_to(
            begin + line.len() + usize::try_from(follows).unwrap_or(0).min(head.len() - begin - line.len()),
        );
    }
    true
}
