//! What may be kept of commands and replies: names, keys without tokens, and how a reply ends.

use super::{Command, Value, resp, resp::Progress, status};
use crate::{Direction, MAX_REDUCED, text};
use std::io::Write;

pub(super) fn reduce(bytes: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let mut at = 0;
    while at < bytes.len() && out.len() - start < MAX_REDUCED {
        let rest = &bytes[at..];
        let mut value = Value::new();
        let (end, goes_on) = match value.take(rest, 0) {
            Progress::Ended(used) => (Some(at + used as usize), at + (used as usize) < bytes.len()),
            _ => (None, false),
        };
        let kept = match direction {
            Direction::Request => command(rest, at, end, goes_on, start, out),
            Direction::Response => reply(rest, at, end, goes_on, start, out),
        };
        match (kept, end) {
            (Some(()), Some(end)) => at = end,
            (Some(()), None) => return true,
            (None, _) => break,
        }
    }
    out.len() > start
}

/// `*2\r\n$3\r\nSET\r\n$6\r\nuser:7\r\n`, with one argument more in the place of all that are left out where the next
/// command could not be found else.
fn command(
    bytes: &[u8],
    at: usize,
    end: Option<usize>,
    goes_on: bool,
    start: usize,
    out: &mut Vec<u8>,
) -> Option<()> {
    let command = Command::read(bytes)?;
    command.shown.filter(|_| !command.name.is_cut)?;
    if command.is_inline {
        // Running text may begin with such a word: nothing but the word is kept.
        let ends = bytes[..bytes.len() - command.behind.len()].ends_with(b"\n");
        out.extend_from_slice(command.name.text);
        out.extend_from_slice(if ends { b"\r\n" } else { b" " });
        return Some(());
    }
    let key = command.key.filter(|key| is_text(key.text));
    let kept = 1 + u64::from(key.is_some());
    let rest = command.words - kept.min(command.words);
    let filler = !goes_on && (rest > 0 || key.is_some_and(|key| text::is_token(key.text)));
    // Writing to memory does not fail.
    let _ = write!(out, "*{}\r\n${}\r\n", kept + u64::from(filler), command.name.text.len());
    out.extend_from_slice(command.name.text);
    out.extend_from_slice(b"\r\n");
    if let Some(key) = key {
        let shown = without_tokens(key.text, key.is_cut);
        if key.is_cut {
            let (length, _) =
                resp::counted(&bytes[bytes.len() - key.text.len() - header(bytes, key.text)..], b'$')?;
            stretched(at + bytes.len() - key.text.len() + length as usize + 2, start, out);
            out.extend_from_slice(shown.as_bytes());
            return Some(());
        }
        let _ = write!(out, "${}\r\n{shown}\r\n", shown.len());
    }
    if filler && let Some(end) = end.or_else(|| last_word_end(&command, at, bytes, rest)) {
        stretched(end, start, out);
    }
    Some(())
}

/// Bytes of `$27\r\n` before a word that the bytes end in.
fn header(bytes: &[u8], word: &[u8]) -> usize {
    let before = &bytes[..bytes.len() - word.len()];
    before.len() - memchr::memrchr(b'$', before).unwrap_or(before.len())
}

/// Where a command ends of which all but the end of its last word is there.
fn last_word_end(command: &Command<'_>, at: usize, bytes: &[u8], words: u64) -> Option<usize> {
    let mut rest = command.behind;
    for _ in 1..words {
        let (word, behind) = super::word(rest)?;
        if word.is_cut {
            return None;
        }
        rest = behind;
    }
    let (length, behind) = resp::counted(rest, b'$')?;
    Some(at + bytes.len() - behind.len() + usize::try_from(length).ok()? + 2)
}

/// The head of a string that ends with its line end at byte `end` of the chunk.
fn stretched(end: usize, start: usize, out: &mut Vec<u8>) {
    // `$`, digits, line ends.
    for digits in 1..=10 {
        let Some(length) = end.checked_sub(out.len() - start + digits + 5) else { return };
        if length.max(1).ilog10() as usize + 1 == digits {
            let _ = write!(out, "${length}\r\n");
            return;
        }
    }
}

/// A reply without what it says.
fn reply(
    bytes: &[u8],
    at: usize,
    end: Option<usize>,
    goes_on: bool,
    start: usize,
    out: &mut Vec<u8>,
) -> Option<()> {
    if !resp::begins(bytes) {
        return None;
    }
    let status = status(bytes)?;
    let end = end.or_else(|| {
        let (length, rest) = resp::counted(bytes, b'$')?;
        Some(at + bytes.len() - rest.len() + usize::try_from(length).ok()? + 2)
    });
    let _ = match (status.is_error, &*status.text, end) {
        (true, code, _) => write!(out, "-{code}\r\n"),
        (false, "nil", _) => write!(out, "_\r\n"),
        (false, text, Some(_)) if goes_on || bytes[0] == b'+' => write!(out, "+{text}\r\n"),
        (false, _, Some(end)) if end - at >= 6 => {
            stretched(end, start, out);
            Ok(())
        }
        (false, _, Some(_)) => write!(out, "+OK\r\n"),
        // An array that goes on.
        (false, _, None) => write!(out, "*1\r\n"),
    };
    Some(())
}

fn is_text(key: &[u8]) -> bool {
    !key.is_empty() && key.iter().all(u8::is_ascii_graphic)
}

fn without_tokens(key: &[u8], is_cut: bool) -> String {
    let mut shown = String::new();
    text::without_tokens(key, is_cut, &mut shown);
    shown
}
