//! What may be kept of messages: types, lengths, names of statements and portals, shapes of statements, codes of errors.

use super::{HEADER, message_len, message_sniff, sniff, startup};
use crate::mask::Mask;
use crate::{Direction, Sniff};

/// See [`crate::Protocol::reduce`].
pub(super) fn reduce(head: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    if direction == Direction::Response && matches!(head, b"S" | b"N") {
        out.extend_from_slice(head);
        return true;
    }
    if sniff(head, direction) == Sniff::No {
        return false;
    }
    let mut mask = Mask::new(out);
    if direction == Direction::Request && startup(head).is_some() {
        // Parameters, the user among them, and the secret of a cancel request are behind it.
        mask.keep(&head[..8]);
        return true;
    }
    while !mask.is_full() {
        let rest = &head[mask.len().min(head.len())..];
        if rest.len() < HEADER {
            break;
        }
        let Some(len) = message_len(rest, direction) else { break };
        let end = mask.len() + (len as usize).min(rest.len());
        mask.keep(&rest[..HEADER]);
        let is_known = message_sniff(rest, len as usize, direction) == Sniff::Yes;
        let body = &rest[HEADER..(len as usize).min(rest.len())];
        if is_known {
            keep_body(rest[0], body, body.len() + HEADER < len as usize, direction, &mut mask);
        }
        mask.blank_to(end);
    }
    true
}

fn keep_body(kind: u8, body: &[u8], is_cut: bool, direction: Direction, mask: &mut Mask<'_>) {
    let named = |from: usize| memchr::memchr(0, &body[from..]).map_or(body.len(), |end| from + end + 1);
    match (direction, kind) {
        (Direction::Request, b'Q') => mask.keep_sql(body, is_cut),
        (Direction::Request, b'P') => {
            mask.keep(&body[..named(0)]);
            mask.keep_sql(&body[named(0)..], is_cut);
        }
        // Portal, statement, and the first byte of the count of formats, by which a Bind is recognised.
        (Direction::Request, b'B') => mask.keep(&body[..body.len().min(named(named(0)) + 1)]),
        (Direction::Request, b'E' | b'D' | b'C') | (Direction::Response, b'Z' | b'C') => mask.keep(body),
        (Direction::Response, b'E' | b'N') => keep_error(body, mask),
        (Direction::Response, b'R') => mask.keep(&body[..4]),
        (Direction::Response, b'S') => mask.keep(&body[..named(0)]),
        // Columns, and the length of the first.
        (Direction::Response, b'D') => mask.keep(&body[..6.min(body.len())]),
        _ => {}
    }
}

/// Severity and code; a message may quote what was sent.
fn keep_error(body: &[u8], mask: &mut Mask<'_>) {
    for field in body.split(|byte| *byte == 0) {
        if matches!(field.first(), Some(b'S' | b'V' | b'C')) && field.len() < 32 {
            mask.keep(field);
            mask.keep(&[0]);
        }
    }
}
