//! The binary protocol: a header of 24 bytes with lengths, and a number that the answer repeats.

use crate::exchange::Exchange;
use crate::mask::Mask;
use crate::pairing::Pairing;
use crate::text::{key_pattern, without_tokens};
use crate::turn::{Out, failed, fine};
use crate::{Direction, Key, Request, Sniff, Status, Step};

const HEADER: usize = 24;
/// Largest of an item is 1 GiB, by default 1 MiB.
const MAX_BODY: u32 = 1 << 30;
const STAT: u8 = 0x10;

/// Commands by their numbers. That ends in `Q`: it is answered only where it fails, or where the item is there.
const NAMES: &[&str] = &[
    "get",
    "set",
    "add",
    "replace",
    "delete",
    "increment",
    "decrement",
    "quit",
    "flush",
    "getQ",
    "noop",
    "version",
    "getK",
    "getKQ",
    "append",
    "prepend",
    "stat",
    "setQ",
    "addQ",
    "replaceQ",
    "deleteQ",
    "incrementQ",
    "decrementQ",
    "quitQ",
    "flushQ",
    "appendQ",
    "prependQ",
    "verbosity",
    "touch",
    "gat",
    "gatQ",
];
const SASL: &[&str] = &["sasl list", "sasl auth", "sasl step", "gatK", "gatKQ"];

fn name(code: u8) -> Option<&'static str> {
    match code {
        0x20..=0x24 => Some(SASL[usize::from(code - 0x20)]),
        _ => NAMES.get(usize::from(code)).copied(),
    }
}

/// Lengths of key, extras and body.
fn lengths(head: &[u8]) -> Option<(usize, usize, u32)> {
    let body = u32::from_be_bytes(head.get(8..12)?.try_into().ok()?);
    Some((usize::from(u16::from_be_bytes([head[2], head[3]])), usize::from(head[4]), body))
}

pub(super) fn sniff(head: &[u8], direction: Direction) -> Sniff {
    let Some((key, extras, body)) = lengths(head) else { return Sniff::No };
    let magic = if direction == Direction::Request { 0x80 } else { 0x81 };
    let is_sound = head[0] == magic
        && name(head[1]).is_some()
        && key <= 250
        && matches!(extras, 0 | 4 | 8 | 20)
        // The type of data is always raw.
        && head[5] == 0
        && body <= MAX_BODY
        && (key + extras) as u32 <= body;
    if is_sound { Sniff::Yes } else { Sniff::No }
}

/// The requests that wait for their answers.
#[derive(Default)]
pub(super) struct Binary {
    /// By command and number.
    open: Pairing<(u8, u32)>,
    /// The answer that began last.
    begun: Option<Key>,
}

fn number(head: &[u8]) -> u32 {
    u32::from_be_bytes([head[12], head[13], head[14], head[15]])
}

/// The key as far as it is there, and whether it is cut.
fn key(head: &[u8]) -> (&[u8], bool) {
    let (len, extras, _) = lengths(head).unwrap_or_default();
    let key = head.get(HEADER + extras..).unwrap_or_default();
    (&key[..len.min(key.len())], key.len() < len)
}

impl Exchange for Binary {
    const HEADER: usize = HEADER;

    fn length(&self, head: &[u8], direction: Direction, _is_resync: bool) -> Option<u64> {
        let (_, _, body) = lengths(head).filter(|_| sniff(head, direction) == Sniff::Yes)?;
        Some(u64::from(body) + HEADER as u64)
    }

    fn ask(&mut self, head: &[u8], out: Out<'_>) -> Option<Key> {
        let name = name(head[1]).unwrap_or("(unknown)");
        let (key, is_cut) = key(head);
        let text = |each: fn(&[u8], bool, &mut String)| {
            let mut text = name.to_owned();
            if !key.is_empty() && !name.starts_with("sasl") {
                text.push(' ');
                each(key, is_cut, &mut text);
            }
            text
        };
        let one_way = name.ends_with('Q');
        let request = Request {
            endpoint: text(key_pattern),
            detail: text(without_tokens),
            one_way,
            ..Request::default()
        };
        let key = if one_way { self.open.ask_one_way() } else { self.open.ask((head[1], number(head))) };
        out(Step::Asked(key, request));
        Some(key)
    }

    fn answer(&mut self, head: &[u8], out: Out<'_>) -> Option<(Key, bool)> {
        let asked = (head[1], number(head));
        let (key, _) = self.open.find(|open| *open == asked)?;
        // Statistics are a message each, the last of them empty.
        let is_last = asked.0 != STAT || lengths(head).is_some_and(|(_, _, body)| body == 0);
        if is_last {
            self.open.take(|open| *open == asked);
        }
        if self.begun.replace(key) == Some(key) {
            out(Step::Answers(key));
        } else {
            out(Step::Answered(key, Some(status(u16::from_be_bytes([head[6], head[7]])))));
        }
        Some((key, is_last))
    }
}

/// An item that is not there, or is already, is no error.
fn status(code: u16) -> Status {
    match code {
        0 => fine("OK"),
        1 => fine("MISS"),
        2 => fine("EXISTS"),
        5 => fine("NOT_STORED"),
        0x21 => fine("CONTINUE"),
        0x03 => failed("TOO_LARGE".to_owned()),
        0x20 => failed("AUTH_ERROR".to_owned()),
        0x82 => failed("OUT_OF_MEMORY".to_owned()),
        _ => failed(format!("ERROR {code:#04x}")),
    }
}

pub(super) fn reduce(head: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    if sniff(head, direction) != Sniff::Yes {
        return false;
    }
    let mut mask = Mask::new(out);
    while !mask.is_full() {
        let begin = mask.len();
        let rest = &head[begin.min(head.len())..];
        let Some((_, extras, body)) = lengths(rest).filter(|_| sniff(rest, direction) == Sniff::Yes) else {
            break;
        };
        mask.keep(&rest[..HEADER.min(rest.len())]);
        mask.blank_to(begin + (HEADER + extras).min(rest.len()));
        if !name(rest[1]).is_some_and(|name| name.starts_with("sasl")) {
            let (key, is_cut) = key(rest);
            mask.keep_names(key, is_cut);
        }
        mask.blank_to(begin + (HEADER + body as usize).min(rest.len()));
    }
    true
}
