//! What may be kept of a chunk: the frames, and of each block its instructions without the values that may be secrets.
//!
//! The tables of both ends stay in step without being known here: a field that was added to the table is still added, with
//! another name or without its value, so that each index points where it did. A value that was left out is marked, and is
//! unknown to the decoder. A block that is cut stays cut: from there on the decoder knows nothing of the table.

use super::hpack::{self, Field, Instruction, Instructions, NOTHING, Name, Table};
use super::*;
use crate::{MAX_REDUCED, Sniff};

/// The frame that stands for bytes that were left out: its type is one that all pass over (RFC 9113, 5.5).
pub(super) const GAP: u8 = 0xfe;

/// An index of the table as it stands in a block.
const INDEXED: u8 = 0x80;
/// A field that is added to the table.
const ADDS: u8 = 0x40;
/// A table without entries.
const EMPTY: u8 = 0x20;

pub(super) fn reduce(bytes: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    if sniff::sniff(bytes, direction) == Sniff::No {
        return false;
    }
    let start = out.len();
    let mut at = 0;
    if bytes.starts_with(PREFACE) {
        out.extend_from_slice(PREFACE);
        at = PREFACE.len();
    }
    let mut last_block = None;
    while let Some(frame) = Frame::read(&bytes[at..]).filter(|frame| sniff::is_sound(*frame)) {
        let end = at + HEADER + frame.len;
        let payload = &bytes[at + HEADER..bytes.len().min(end)];
        let begin = out.len();
        header(Frame { flags: frame.flags & (END_STREAM | END_HEADERS), ..frame }, out);
        match frame.kind {
            HEADERS | PUSH_PROMISE => {
                if frame.kind == PUSH_PROMISE {
                    // What is promised is of no matter.
                    out.extend_from_slice(&[0; 4]);
                }
                let (fragment, is_whole) = frame.fragment(payload).unwrap_or((b"", false));
                // Without its end a block is told as far as it goes: the frames that it goes on in are left out.
                last_block = (block(fragment, out) && is_whole && frame.has(END_HEADERS)).then_some(begin);
            }
            DATA => {}
            RST_STREAM | SETTINGS => out.extend_from_slice(payload),
            GOAWAY => out.extend_from_slice(&payload[..payload.len().min(8)]),
            _ => out.truncate(begin),
        }
        if end > bytes.len() {
            if out.len() == begin {
                header(Frame { kind: GAP, flags: 0, stream: 0, ..frame }, out);
            }
            let here = out.len() - begin - HEADER;
            set_len(&mut out[begin..], (start + end).saturating_sub(begin + HEADER).max(here));
            return true;
        }
        if out.len() > begin {
            let len = out.len() - begin - HEADER;
            set_len(&mut out[begin..], len);
        }
        at = end;
        if out.len() - start >= MAX_REDUCED {
            return true;
        }
    }
    fill((start + at).saturating_sub(out.len()), last_block, out);
    true
}

/// Makes up for the bytes that were left out.
fn fill(missing: usize, last_block: Option<usize>, out: &mut Vec<u8>) {
    if missing >= HEADER {
        header(Frame { len: missing - HEADER, kind: GAP, flags: 0, stream: 0 }, out);
    } else if let Some(begin) = last_block.filter(|_| missing > 0) {
        // Too few for a frame: fields that say nothing, in the last block.
        let Some(frame) = Frame::read(&out[begin..]) else { return };
        let end = begin + HEADER + frame.len;
        out.splice(end..end, std::iter::repeat_n(INDEXED | NOTHING, missing));
        set_len(&mut out[begin..], frame.len + missing);
    }
}

fn header(frame: Frame, out: &mut Vec<u8>) {
    let [_, a, b, c] = (frame.len as u32).to_be_bytes();
    out.extend_from_slice(&[a, b, c, frame.kind, frame.flags]);
    out.extend_from_slice(&frame.stream.to_be_bytes());
}

fn set_len(frame: &mut [u8], len: usize) {
    let len = (len.min(0xff_ffff) as u32).to_be_bytes();
    frame[..3].copy_from_slice(&len[1..]);
}

/// The instructions of a block; false where it is cut.
fn block(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let mut text = Vec::new();
    let mut instructions = Instructions::new(bytes);
    for instruction in instructions.by_ref() {
        match instruction {
            Instruction::Indexed(index) if index > hpack::STATIC => integer(INDEXED, 7, index, out),
            Instruction::Indexed(index) if hpack::static_entry(index).0 == Field::Other => {}
            Instruction::Indexed(index) => integer(INDEXED, 7, index, out),
            Instruction::Resize(size) => integer(EMPTY, 5, size, out),
            Instruction::Literal { adds, name, value } => {
                let field = name.field();
                text.clear();
                let is_text = value.read(&mut text);
                let kept = if is_text { kept(field, &text, value.is_cut) } else { None };
                if adds && !hpack::fits(&name, &value, Table::SIZE) {
                    out.push(EMPTY);
                } else if adds || kept.is_some() {
                    let is_cut = value.is_cut && kept.is_some();
                    literal(adds, name, field, kept.as_deref().unwrap_or(hpack::LEFT_OUT), is_cut, out);
                }
            }
        }
    }
    !instructions.is_broken
}

/// A field whose value stands behind it.
fn literal(adds: bool, name: Name<'_>, field: Field, value: &[u8], is_cut: bool, out: &mut Vec<u8>) {
    let (kind, bits) = if adds { (ADDS, 6) } else { (0, 4) };
    match (field, name) {
        (Field::Other, _) => {
            integer(kind, bits, u64::from(NOTHING), out);
            return out.push(0);
        }
        (_, Name::Index(index)) => integer(kind, bits, index, out),
        (_, Name::Text(text)) => {
            out.push(kind);
            let mut name = Vec::new();
            text.read(&mut name);
            integer(0, 7, name.len() as u64, out);
            out.extend_from_slice(&name);
        }
    }
    integer(0, 7, (value.len() + usize::from(is_cut)) as u64, out);
    out.extend_from_slice(value);
}

/// What may be kept of a value.
fn kept(field: Field, value: &[u8], is_cut: bool) -> Option<Vec<u8>> {
    if is_cut && field != Field::Path {
        return None;
    }
    let is_number = || (1..=3).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    let kept = match field {
        Field::Method if value.iter().all(u8::is_ascii_uppercase) && value.len() <= 20 => value.to_vec(),
        Field::Path => {
            let end = crate::text::path_end(value);
            let mut path = String::new();
            without_tokens(&value[..end], is_cut && end == value.len(), &mut path);
            path.into_bytes()
        }
        Field::Authority | Field::Host => {
            let mut host = String::new();
            without_tokens(http::host(value)?.as_bytes(), false, &mut host);
            host.into_bytes()
        }
        Field::Status | Field::GrpcStatus if is_number() => value.to_vec(),
        Field::ContentType if grpc::is_content(value) => grpc::CONTENT.to_vec(),
        Field::ContentType => Vec::new(),
        Field::TraceParent | Field::B3 | Field::B3TraceId => trace(value)?,
        // The name is in the table: what has the form of a trace or of a status of gRPC is one, or nothing worth hiding.
        Field::Unknown if value.len() == TRACEPARENT => trace(value)?,
        Field::Unknown if is_number() && value.len() < 3 => value.to_vec(),
        _ => return None,
    };
    Some(kept)
}

/// Bytes of a traceparent (W3C Trace Context, 3.2.2).
const TRACEPARENT: usize = 55;

/// A trace's id in the form that it had.
fn trace(value: &[u8]) -> Option<Vec<u8>> {
    let is_parent = value.len() == TRACEPARENT && value.starts_with(b"00-");
    let mut parts = value.split(|byte| *byte == b'-');
    let id = if is_parent { parts.nth(1) } else { parts.next() };
    let id = id.and_then(http::trace_id)?;
    Some(if is_parent { format!("00-{id}") } else { id.to_owned() }.into_bytes())
}

/// An integer of which so many bits are in the first byte (RFC 7541, 5.1).
fn integer(kind: u8, bits: u32, number: u64, out: &mut Vec<u8>) {
    let full = (1u64 << bits) - 1;
    if number < full {
        return out.push(kind | number as u8);
    }
    out.push(kind | full as u8);
    let mut rest = number - full;
    while rest > 0x7f {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}
