//! MongoDB (MongoDB specification, "Wire Protocol": `OP_MSG`, and `OP_QUERY` with which old drivers begin).

#[cfg(test)]
#[allow(clippy::octal_escapes, reason = "bytes as they were recorded")]
pub(super) mod tests;

use crate::exchange::{Exchange, Exchanged};
use crate::mask::Mask;
use crate::pairing::Pairing;
use crate::text::key_pattern;
use crate::turn::{Out, failed, fine};
use crate::{Direction, Key, Protocol, Request, Sniff, Status, Step};

/// MongoDB.
pub(super) static MONGODB: Protocol = Protocol {
    name: "MongoDB",
    ports: &[27017, 27018, 27019],
    sniff,
    decoder: || Box::new(Exchanged::<Mongodb>::default()),
    reduce,
};

/// Length, number of the message, number of the one it answers, code.
const HEADER: usize = 16;
/// `maxMessageSizeBytes` of a server.
const MAX_MESSAGE: u32 = 48_000_000;
const OP_REPLY: u32 = 1;
const OP_QUERY: u32 = 2004;
const OP_COMPRESSED: u32 = 2012;
const OP_MSG: u32 = 2013;
/// `moreToCome`.
const MORE_TO_COME: u32 = 1 << 1;

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|four| u32::from_le_bytes(*four))
}

fn sniff(head: &[u8], direction: Direction) -> Sniff {
    let (Some(len), Some(answers), Some(code)) = (number(head, 0), number(head, 8), number(head, 12)) else {
        return Sniff::No;
    };
    let is_sound = (HEADER as u32 + 5..=MAX_MESSAGE).contains(&len)
        && match (direction, code) {
            (Direction::Request, OP_MSG) => answers == 0 && flags_are_sound(head),
            (Direction::Response, OP_MSG) => answers != 0 && flags_are_sound(head),
            (Direction::Request, OP_QUERY) => answers == 0,
            (Direction::Response, OP_REPLY) => {
                answers != 0 && len >= 36 && number(head, 16).is_none_or(|flags| flags < 16)
            }
            (_, OP_COMPRESSED) => {
                number(head, 16).is_none_or(|code| matches!(code, OP_REPLY | OP_QUERY | OP_MSG))
            }
            _ => false,
        };
    if is_sound { Sniff::Yes } else { Sniff::No }
}

/// The flags that a reader must know are the lower half; a checksum, more to come.
fn flags_are_sound(head: &[u8]) -> bool {
    number(head, 16).is_none_or(|flags| flags & 0xffff <= 3) && head.get(20).is_none_or(|kind| *kind <= 1)
}

/// One element of a document: its type, its name, and its value as far as it is there.
struct Element<'a> {
    kind: u8,
    name: &'a [u8],
    value: &'a [u8],
}

/// The elements of a document, up to where bytes are missing.
struct Elements<'a>(&'a [u8]);

impl<'a> Elements<'a> {
    /// Of a document that begins here with its length.
    fn of(document: &'a [u8]) -> Elements<'a> {
        Elements(document.get(4..).unwrap_or_default())
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        let (kind, rest) = self.0.split_first().filter(|(kind, _)| **kind != 0)?;
        let end = memchr::memchr(0, rest)?;
        let (name, rest) = (&rest[..end], &rest[end + 1..]);
        let prefix = number(rest, 0).map_or(usize::MAX, |len| len as usize);
        // BSON specification: sizes by type.
        let size = match kind {
            0x01 | 0x09 | 0x11 | 0x12 => 8,
            0x02 | 0x0d | 0x0e => prefix.saturating_add(4),
            0x03 | 0x04 | 0x0f => prefix,
            0x05 => prefix.saturating_add(5),
            0x06 | 0x0a | 0x7f | 0xff => 0,
            0x07 => 12,
            0x08 => 1,
            0x10 => 4,
            0x13 => 16,
            _ => usize::MAX,
        };
        let (value, rest) = rest.split_at(size.min(rest.len()));
        self.0 = rest;
        Some(Element { kind: *kind, name, value })
    }
}

impl Element<'_> {
    /// A string as far as it is there, and whether it is cut.
    fn text(&self) -> Option<(&[u8], bool)> {
        let text = self.value.get(4..).filter(|_| self.kind == 0x02)?;
        let end = memchr::memchr(0, text);
        Some((&text[..end.unwrap_or(text.len())], end.is_none()))
    }

    /// A number, whatever its type.
    fn number(&self) -> Option<i64> {
        match self.kind {
            0x01 => self.value.first_chunk().map(|bytes| f64::from_le_bytes(*bytes) as i64),
            0x08 => self.value.first().map(|byte| i64::from(*byte)),
            0x10 => self.value.first_chunk().map(|bytes| i64::from(i32::from_le_bytes(*bytes))),
            0x12 => self.value.first_chunk().map(|bytes| i64::from_le_bytes(*bytes)),
            _ => None,
        }
    }
}

/// Where the document of a command or a reply begins.
fn document(head: &[u8], code: u32) -> Option<usize> {
    match code {
        OP_MSG => (*head.get(20)? == 0).then_some(21),
        OP_QUERY => memchr::memchr(0, head.get(20..)?).map(|end| 20 + end + 1 + 8),
        OP_REPLY => Some(36),
        _ => None,
    }
}

/// The command and the collection it is for.
fn request(head: &[u8], code: u32) -> Request {
    let mut text = String::new();
    let document = document(head, code).and_then(|at| head.get(at..)).unwrap_or_default();
    let mut elements = Elements::of(document);
    let first = elements.next();
    match &first {
        Some(command) if command.name.iter().all(u8::is_ascii_alphanumeric) => {
            text.push_str(&String::from_utf8_lossy(&command.name[..command.name.len().min(64)]));
            let collection = match command.kind {
                0x02 => first.as_ref(),
                _ => None,
            };
            // `getMore` names its cursor first.
            let second = elements.next().filter(|element| element.name == b"collection");
            if let Some((name, is_cut)) = collection.or(second.as_ref()).and_then(Element::text) {
                text.push(' ');
                key_pattern(name, is_cut, &mut text);
            }
        }
        _ if code == OP_COMPRESSED => text.push_str("(compressed)"),
        _ => text.push_str("(unknown)"),
    }
    Request { detail: text.clone(), endpoint: text, ..Request::default() }
}

/// What a reply says of its command; `None` where it is not in what is there.
fn status(head: &[u8], code: u32) -> Option<Status> {
    let document = head.get(document(head, code)?..)?;
    let mut ok = None;
    let mut error = None;
    let mut name = None;
    for element in Elements::of(document) {
        match element.name {
            // No failed command has one.
            b"cursor" => return Some(fine("OK")),
            b"ok" => ok = element.number(),
            b"code" => error = element.number(),
            b"codeName" => name = element.text().map(|(name, _)| String::from_utf8_lossy(name).into_owned()),
            b"writeErrors" => {
                let first = Elements::of(element.value).next()?;
                let code = Elements::of(first.value).find(|element| element.name == b"code")?;
                return Some(failed(format!("ERROR {}", code.number()?)));
            }
            _ => {}
        }
    }
    match (ok?, name, error) {
        (1, ..) => Some(fine("OK")),
        (_, Some(name), _) if name.len() < 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            Some(failed(name))
        }
        (_, _, Some(code)) => Some(failed(format!("ERROR {code}"))),
        _ => Some(failed("ERROR".to_owned())),
    }
}

#[derive(Default)]
struct Mongodb {
    /// By the number of the message that is to be answered.
    open: Pairing<u32>,
}

impl Exchange for Mongodb {
    const HEADER: usize = HEADER;

    fn length(&self, head: &[u8], direction: Direction, _is_resync: bool) -> Option<u64> {
        (sniff(head, direction) == Sniff::Yes).then(|| number(head, 0).map(u64::from)).flatten()
    }

    fn ask(&mut self, head: &[u8], out: Out<'_>) -> Option<Key> {
        let (id, code) = (number(head, 4)?, number(head, 12)?);
        let one_way = code == OP_MSG && number(head, 16).is_some_and(|flags| flags & MORE_TO_COME != 0);
        let key = if one_way { self.open.ask_one_way() } else { self.open.ask(id) };
        out(Step::Asked(key, Request { one_way, ..request(head, code) }));
        Some(key)
    }

    fn answer(&mut self, head: &[u8], out: Out<'_>) -> Option<(Key, bool)> {
        let (id, to, code) = (number(head, 4)?, number(head, 8)?, number(head, 12)?);
        let (key, waits_for) = self.open.find(|id| *id == to)?;
        // The next message of a stream answers the one before it.
        let more = code == OP_MSG && number(head, 16).is_some_and(|flags| flags & MORE_TO_COME != 0);
        if more {
            *waits_for = id;
        } else {
            self.open.take(|id| *id == to);
        }
        out(Step::Answered(key, status(head, code)));
        Some((key, !more))
    }
}

fn reduce(head: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    if sniff(head, direction) != Sniff::Yes {
        return false;
    }
    let mut mask = Mask::new(out);
    while !mask.is_full() {
        let rest = &head[mask.len().min(head.len())..];
        if sniff(rest, direction) != Sniff::Yes {
            break;
        }
        let (Some(len), Some(code)) = (number(rest, 0), number(rest, 12)) else { break };
        let begin = mask.len();
        let message = &rest[..(len as usize).min(rest.len())];
        let document = document(message, code).filter(|at| *at < message.len());
        mask.keep(&message[..document.unwrap_or(HEADER + 4).min(message.len())]);
        if let Some(at) = document {
            keep_document(&message[at..], direction, &mut mask);
        }
        mask.blank_to(begin + message.len());
    }
    true
}

/// Keeps a command with its collection, or what a reply says of its success; of other values their lengths.
fn keep_document(document: &[u8], direction: Direction, mask: &mut Mask<'_>) {
    let mut at = 4.min(document.len());
    mask.keep(&document[..at]);
    for (index, element) in Elements::of(document).enumerate() {
        let begin = mask.len();
        let head = 2 + element.name.len();
        let whole = head + element.value.len();
        let value = at + head;
        let is_told = match direction {
            Direction::Request => index == 0 || index == 1 && element.name == b"collection",
            Direction::Response => matches!(element.name, b"ok" | b"code" | b"codeName"),
        };
        let is_errors = direction == Direction::Response && matches!(element.name, b"writeErrors" | b"0");
        if direction == Direction::Request && !is_told {
            break;
        }
        mask.keep(&document[at..value]);
        match element.kind {
            _ if is_told => mask.keep(element.value),
            0x03 | 0x04 if is_errors => keep_document(element.value, direction, mask),
            0x02..=0x05 | 0x0d..=0x0f => mask.keep(&element.value[..4.min(element.value.len())]),
            _ => {}
        }
        mask.blank_to(begin + whole);
        at += whole;
        if mask.is_full() {
            break;
        }
    }
}
