//! Whether bytes are HTTP/2's: a frame's header has little that is its own, so several must agree.

use super::hpack::{Field, Instruction, Instructions};
use super::*;
use crate::Sniff;

/// Bytes of a frame that has no reason to be long (RFC 9113, 6.5.2: what all accept).
const USUAL: usize = 16_384;
/// Bytes of a frame of data at most that is believed: gRPC asks for 4 MiB.
const MOST_DATA: usize = 4 << 20;
/// Frames that are looked at.
const MOST_FRAMES: usize = 8;

/// True where a frame has the form that RFC 9113, 6 asks for.
pub(super) fn is_sound(frame: Frame) -> bool {
    let Frame { len, kind, flags, stream } = frame;
    let of_a_stream = stream > 0;
    match kind {
        DATA => of_a_stream && len <= MOST_DATA && flags & !(END_STREAM | PADDED) == 0,
        HEADERS => {
            let known = END_STREAM | END_HEADERS | PADDED | HAS_PRIORITY;
            of_a_stream && (1..=USUAL).contains(&len) && flags & !known == 0
        }
        PRIORITY => of_a_stream && len == 5 && flags == 0,
        RST_STREAM => of_a_stream && len == 4 && flags == 0,
        SETTINGS => {
            !of_a_stream
                && len.is_multiple_of(6)
                && len <= 240
                && flags & !ACK == 0
                && (flags == 0 || len == 0)
        }
        PUSH_PROMISE => of_a_stream && (5..=USUAL).contains(&len) && flags & !(END_HEADERS | PADDED) == 0,
        PING => !of_a_stream && len == 8 && flags & !ACK == 0,
        GOAWAY => !of_a_stream && (8..=USUAL).contains(&len) && flags == 0,
        WINDOW_UPDATE => len == 4 && flags == 0,
        CONTINUATION => of_a_stream && len <= USUAL && flags & !END_HEADERS == 0,
        reduce::GAP => !of_a_stream && flags == 0,
        _ => false,
    }
}

/// Which way the block of a frame goes: a request's first fields are its method and path, an answer's its status.
fn way_of(block: &[u8]) -> Option<Direction> {
    for instruction in Instructions::new(block).take(4) {
        let field = match instruction {
            Instruction::Indexed(index) => hpack::static_entry(index).0,
            Instruction::Literal { name, .. } => name.field(),
            Instruction::Resize(_) => continue,
        };
        match field {
            Field::Method | Field::Path | Field::Authority => return Some(Direction::Request),
            Field::Status => return Some(Direction::Response),
            _ => {}
        }
    }
    None
}

/// Frame behind frame, each as it should be: two are enough, or one that says much.
pub(super) fn sniff(head: &[u8], direction: Direction) -> Sniff {
    if head.len() >= HEADER && head.starts_with(&PREFACE[..head.len().min(PREFACE.len())]) {
        return if direction == Direction::Request { Sniff::Yes } else { Sniff::No };
    }
    let (mut at, mut sure) = (0, 0);
    for _ in 0..MOST_FRAMES {
        let Some(frame) = Frame::read(&head[at..]) else { break };
        if !is_sound(frame) {
            return Sniff::No;
        }
        let payload = &head[at + HEADER..head.len().min(at + HEADER + frame.len)];
        let is_whole = payload.len() == frame.len;
        match frame.kind {
            HEADERS => match frame.fragment(payload).and_then(|(block, _)| way_of(block)) {
                Some(way) if way != direction => return Sniff::No,
                Some(_) => sure += 2,
                None => sure += 1,
            },
            // Numbers of settings are small, but for what is thrown in to keep others honest.
            SETTINGS
                if payload.first_chunk().is_some_and(|id| (1..=9).contains(&u16::from_be_bytes(*id))) =>
            {
                sure += 2;
            }
            _ => sure += 1,
        }
        if !is_whole {
            break;
        }
        at += HEADER + frame.len;
    }
    match sure {
        0 => Sniff::No,
        1 => Sniff::Maybe,
        _ => Sniff::Yes,
    }
}
