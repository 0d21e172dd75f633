//! What a program hands to the kernel as text in which secrets stand: the arguments of a new program, the options of a mount.
//! They are hidden before anything of them is written: by the drain of a recording by BPF (`bpf/reduce.rs`), and by ptrace as it
//! tells a call.

use crate::raw::{MemoryPiece, pad, pieces, push_piece};
use std::borrow::Cow;
use whyslow_privacy::{command_line, redact};

/// Bytes at the end of a text that was cut in which the last word is left out: half a key is not known as one.
const LAST_WORD: usize = 128;

/// Where a call has such text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// The strings of this argument are a command line.
    CommandLine(u8),
    /// This argument is a text.
    Text(u8),
}

fn place(nr: u16) -> Option<Place> {
    match i64::from(nr) {
        libc::SYS_execve => Some(Place::CommandLine(1)),
        libc::SYS_execveat => Some(Place::CommandLine(2)),
        libc::SYS_mount => Some(Place::Text(4)),
        _ => None,
    }
}

/// Whether the call of this number has such text.
pub(crate) fn has_secrets(nr: u16) -> bool {
    place(nr).is_some()
}

/// Appends the pieces of a call's memory to `out`, secrets replaced.
pub(crate) fn hide(nr: u16, memory: &[u8], out: &mut Vec<u8>) {
    let Some(place) = place(nr) else { return out.extend_from_slice(memory) };
    let (Place::CommandLine(arg) | Place::Text(arg)) = place;
    let is_text = |piece: &MemoryPiece<'_>| piece.arg == arg && !piece.fault;
    let texts: Vec<Cow<'_, str>> = pieces(memory).filter(is_text).map(|piece| text_of(&piece)).collect();
    let hidden = match place {
        Place::CommandLine(_) => command_line::arguments(&texts),
        Place::Text(_) => texts.iter().map(|text| redact(text).into_owned()).collect(),
    };
    let mut hidden = texts.iter().zip(&hidden);
    for piece in pieces(memory) {
        match Some(piece).filter(is_text).and_then(|_| hidden.next()) {
            // What holds no secret stays byte for byte.
            Some((text, hidden)) if text != hidden || text.len() < piece.bytes.len() => {
                push_piece(out, MemoryPiece { bytes: hidden.as_bytes(), ..piece });
            }
            _ => push_piece(out, piece),
        }
    }
    pad(out);
}

/// A piece as text; of one that was cut, without its last word, which may be the head of a secret.
fn text_of<'a>(piece: &MemoryPiece<'a>) -> Cow<'a, str> {
    String::from_utf8_lossy(if piece.cut { whole_words(piece.bytes) } else { piece.bytes })
}

/// The text of a string that was cut, without its last word.
pub(crate) fn whole_words(bytes: &[u8]) -> &[u8] {
    let tail = bytes.len().saturating_sub(LAST_WORD);
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"/:;,=&@".contains(byte);
    let end = bytes[tail..].iter().rposition(is_end).map_or(bytes.len(), |at| tail + at + 1);
    &bytes[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(strings: &[&[u8]], cut: bool) -> Vec<u8> {
        let mut memory = Vec::new();
        let piece = |arg, part, bytes| MemoryPiece { arg, part, bytes, cut, fault: false, reduced: false };
        push_piece(&mut memory, piece(0, 0, b"/bin/--password=path"));
        for (part, bytes) in strings.iter().enumerate() {
            push_piece(&mut memory, piece(1, part as u8, bytes));
        }
        memory
    }

    fn hidden(nr: i64, strings: &[&[u8]], cut: bool) -> Vec<String> {
        let mut out = Vec::new();
        hide(nr as u16, &memory(strings, cut), &mut out);
        pieces(&out).skip(1).map(|piece| String::from_utf8_lossy(piece.bytes).into_owned()).collect()
    }

    #[test]
    fn arguments_of_a_program_lose_their_secrets_only() {
        let told = hidden(libc::SYS_execve, &[b"mysql", b"-phunter2", b"\xff\xfe", b"db"], false);
        assert_eq!(told, ["mysql", "-p[redacted]", "\u{fffd}\u{fffd}", "db"]);
        let plain = memory(&[b"ls", b"\xff"], false);
        let mut out = Vec::new();
        hide(libc::SYS_execve as u16, &plain, &mut out);
        assert!(out.starts_with(&plain));
        assert!(has_secrets(libc::SYS_execveat as u16) && !has_secrets(libc::SYS_openat as u16));
    }

    #[test]
    fn half_a_secret_is_left_out() {
        let told = hidden(libc::SYS_execve, &[b"x", b"see postgres://u:hunt"], true);
        assert_eq!(told, ["x", "see postgres://u:"]);
        let long = [b"/a/".repeat(200), b"b".repeat(300)].concat();
        assert_eq!(hidden(libc::SYS_execve, &[&long], true)[0].len(), long.len());
    }
}
