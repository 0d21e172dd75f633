//! A capture without secrets, line by line: calls as a tracer prints them, and any other text.

use super::recording::{code, command};
use super::{Done, beside, give_name};
use crate::progress::Bar;
use anyhow::{Context, bail};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::Path;
use whyslow_model::{CaptureKind, visible};
use whyslow_privacy::{REDACTED, files};
use whyslow_read::{Lines, Progress};
use whyslow_record::printed::{Strings, payload_without_secrets, without_secrets};

pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<Done> {
    let unreadable = || format!("{}: cannot be read", visible::path(from));
    let failed = || format!("{}: cannot be written", visible::path(to));
    let mut lines = Lines::open(from).with_context(unreadable)?;
    if !lines.is_text() {
        bail!(
            "{}: not a text, so what is secret in it cannot be told\nnext: of a profile, hand on what `whyslow profile {} folded` prints, redacted; of an archive, redact the files in it one by one",
            visible::path(from),
            visible::path(from)
        );
    }
    let mut text = Text::of(lines.format().map(|format| format.kind));
    let mut done = Done { what: "lines", looked_at: 0, changed: 0, left_out: Vec::new(), more_left_out: 0 };
    let place = beside(to).with_context(failed)?;
    let made = place.path().join("copy");
    let mut out = BufWriter::new(files::create_file(&made).with_context(failed)?);
    let (bar, mut bytes) = (Bar::default(), 0);
    while let Some(line) = lines.next_line().with_context(unreadable)? {
        bytes += line.len() as u64 + 1;
        let line = readable(line);
        let clean = text.line(&line);
        done.looked_at += 1;
        done.changed += u64::from(clean != line);
        out.write_all(clean.as_bytes()).and_then(|()| out.write_all(b"\n")).with_context(failed)?;
        if done.looked_at.is_multiple_of(10_000) {
            bar.bytes(bytes, None);
        }
    }
    bar.finish();
    out.flush().with_context(failed)?;
    if lines.cut() > 0 {
        done.left_out.push(format!("the ends of {} lines of more than a mebibyte", lines.cut()));
    }
    if let Some(trouble) = lines.stopped() {
        done.left_out.push(format!("what comes behind line {}: {trouble}", done.looked_at));
    }
    give_name(&made, to).with_context(failed)?;
    Ok(done)
}

/// A line as text; bytes that are no UTF-8 become octal escapes, as strace writes them.
fn readable(line: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(line) {
        return text.into();
    }
    let mut text = String::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\{byte:03o}");
        }
    }
    text.into()
}

/// What is known of a text between its lines.
struct Text {
    kind: Option<CaptureKind>,
    /// Lines that may still be of a key that has begun.
    in_key: u32,
}

/// Lines of a key at most: of 16,384 bits it has some 200.
const KEY_LINES: u32 = 400;

impl Text {
    fn of(kind: Option<CaptureKind>) -> Text {
        Text { kind, in_key: 0 }
    }

    fn line<'l>(&mut self, line: &'l str) -> Cow<'l, str> {
        if self.goes_on(line) {
            return REDACTED.into();
        }
        if is_dump(line) {
            return format!(" | {REDACTED}").into();
        }
        if self.kind == Some(CaptureKind::Sysdig)
            && let Some(at) = line.find(" data=")
        {
            return without_data(line, at + " data=".len()).into();
        }
        if self.kind == Some(CaptureKind::Profile) {
            return code(line);
        }
        match call(line) {
            Some((at, strings)) if strings != Strings::Text || self.is_trace() => {
                let (before, args) = line.split_at(at);
                match (command_or_call(before, true), without_secrets(strings, args)) {
                    (Cow::Borrowed(_), Cow::Borrowed(_)) => line.into(),
                    (before, args) => (before.into_owned() + &args).into(),
                }
            }
            _ => command_or_call(line, false),
        }
    }

    fn is_trace(&self) -> bool {
        matches!(self.kind, Some(CaptureKind::Strace | CaptureKind::Ltrace | CaptureKind::Sysdig))
    }

    /// Whether the line is one of a private key that began above. Whose lines are not a key's any more is told again.
    fn goes_on(&mut self, line: &str) -> bool {
        let (bare, was) = (line.trim(), self.in_key);
        let is_end =
            |text: &str| text.ends_with("PRIVATE KEY-----") || text.ends_with("PRIVATE KEY BLOCK-----");
        if let Some(at) = bare.find("-----BEGIN ").filter(|_| is_end(bare)) {
            // Whole in one line it is found like any other secret.
            self.in_key = if bare[at..].contains("-----END ") { 0 } else { KEY_LINES };
            return self.in_key > 0;
        }
        let is_key = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=:,-. ".contains(&byte);
        self.in_key = match was {
            0 => 0,
            _ if bare.contains("-----END ") || !bare.bytes().all(is_key) => 0,
            left => left - 1,
        };
        was > 0 && (self.in_key > 0 || bare.contains("-----END "))
    }
}

/// Text that is no call: as a command line, in whose words stands what any text may hold. `/proc` has a NUL behind each word.
fn command_or_call(text: &str, is_call: bool) -> Cow<'_, str> {
    if is_call {
        return whyslow_privacy::redact(text);
    }
    if !text.contains('\0') {
        return command(text);
    }
    let words: Vec<&str> = text.split('\0').collect();
    whyslow_privacy::command_line::arguments(&words).join("\0").into()
}

/// Where the arguments of a call begin, and what its strings are: `write(1, "x", 1) = 1`, `<... read resumed>"x", 10) = 1`. What
/// stands before the first string tells; where several names do, the one whose strings are to be hidden counts.
fn call(line: &str) -> Option<(usize, Strings)> {
    let before = &line[..line.find('"').unwrap_or(line.len())];
    let mut found: Option<(usize, Strings)> = None;
    for (at, mark) in before.match_indices(['(', ' ']) {
        if mark == " " && !before[at..].starts_with(" resumed>") {
            continue;
        }
        let name = before[..at].rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '@')).next();
        let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
        let end = at + if mark == "(" { 1 } else { " resumed>".len() };
        let strings = Strings::of(name);
        if found.is_none_or(|(_, known)| known == Strings::Text && strings != Strings::Text) {
            found = Some((end, strings));
        }
    }
    found
}

/// A line of what `strace -e read=… -e write=…` shows of the bytes: ` | 00000  50 4f 53 54 …  POST |`.
fn is_dump(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix("| ") else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
    digits >= 4 && rest[digits..].starts_with("  ")
}

/// A line of sysdig with what may be kept of the data in it; in JSON it ends at a quote.
fn without_data(line: &str, at: usize) -> String {
    let is_json = line.starts_with('{');
    let end = if is_json { line[at..].find('"').map_or(line.len(), |end| at + end) } else { line.len() };
    let kept = payload_without_secrets(&line[at..end]);
    let before = whyslow_privacy::redact(&line[..at]);
    format!("{before}{kept}{}", whyslow_privacy::redact(&line[end..]))
}

#[cfg(test)]
mod tests;
