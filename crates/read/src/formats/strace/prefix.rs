//! What stands before the call: the thread, its name, the time.
//!
//! `21124 `, `[pid  9194] `, `5961<sh> `, `[pid 65<sh>] [context] `; then `08:36:23.711719 `,
//! `1795227758.672510 `, `     0.000123 ` (`-r`), `02:22:38.579316 (+     0.000000) `.

use super::digits::{fraction, integer, leading_digits, six_between, word};
use super::record::NO_TIME;
use whyslow_model::ClockKind;

/// The parsed prefix of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    /// Where the rest of the line starts.
    pub(crate) rest: usize,
    pub(crate) tid: u32,
    /// Where the thread's name stands (`-Y`); empty without.
    pub(crate) comm: (usize, usize),
    pub(crate) ts: u64,
    pub(crate) clock: ClockKind,
    pub(crate) sub_second: bool,
}

/// Remembers the second parsed last: the next line mostly begins with the same.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// `HH:MM:SS`.
    seconds_text: u64,
    seconds_ns: u64,
}

const SECOND: u64 = 1_000_000_000;
/// `PID_MAX_LIMIT` of the kernel is 2^22; a longer number in front is a time or something else.
const PID_DIGITS: usize = 7;
/// Below this many seconds (1973) a plain number of seconds is one between two calls (`-r`), not since the epoch.
const LEAST_EPOCH: u64 = 100_000_000;

/// Parses the prefix; what is not one leaves `rest` where it is.
#[inline(always)]
pub(crate) fn parse(line: &[u8], seen: &mut Seen) -> Prefix {
    let usual = line.first_chunk().and_then(|head| usual(head, seen));
    usual.unwrap_or_else(|| every_shape(line, seen))
}

/// `21124 08:36:23.711719 ` within the second seen last: nearly every line of `strace -f -tt -o`. Without a loop,
/// and without a guess at the thread, which differs from line to line.
#[inline(always)]
pub(crate) fn usual(head: &[u8; 32], seen: &Seen) -> Option<Prefix> {
    let (tid, length) = leading_digits(word(head, 0)?);
    if length > PID_DIGITS || length == 0 || head[length] != b' ' {
        return None;
    }
    let (at, rest) = (length + 1, length + 17);
    // `every_shape` knows what a bracket behind the time may mean.
    if word(head, at)? != seen.seconds_text || head[rest] == b'(' {
        return None;
    }
    let microseconds = six_between::<b'.', b' '>(word(head, at + 8)?)?;
    Some(Prefix {
        rest,
        tid: tid as u32,
        comm: (0, 0),
        ts: seen.seconds_ns + microseconds * 1_000,
        clock: ClockKind::TimeOfDay,
        sub_second: true,
    })
}

/// All shapes; the reference for `usual`.
#[inline(never)]
fn every_shape(line: &[u8], seen: &mut Seen) -> Prefix {
    let mut prefix =
        Prefix { rest: 0, tid: 0, comm: (0, 0), ts: NO_TIME, clock: ClockKind::None, sub_second: false };
    match line.first() {
        Some(b'[') => bracketed_pid(line, &mut prefix),
        Some(b'0'..=b'9') => pid_column(line, &mut prefix),
        Some(b' ') => {}
        _ => return prefix,
    }
    time(line, &mut prefix, seen);
    prefix
}

/// `[pid  9194] `, `[pid 9194<sh>] `.
fn bracketed_pid(line: &[u8], prefix: &mut Prefix) {
    if !line.starts_with(b"[pid ") {
        return;
    }
    let start = skip_spaces(line, 5);
    let Some((tid, digits)) = integer(line, start).filter(|(_, digits)| *digits <= PID_DIGITS) else {
        return;
    };
    let mut at = start + digits;
    let mut comm = (0, 0);
    if let Some((from, to)) = comm_at(line, at) {
        comm = (from, to);
        at = to + 1;
    }
    at = skip_comment(line, at);
    if line.get(at) == Some(&b']') {
        prefix.tid = tid as u32;
        prefix.comm = comm;
        prefix.rest = skip_context(line, skip_spaces(line, at + 1));
    }
}

/// `21124 `, `5961<sh> `.
fn pid_column(line: &[u8], prefix: &mut Prefix) {
    let Some((tid, length)) = integer(line, 0).filter(|(_, digits)| *digits <= PID_DIGITS) else { return };
    let mut at = length;
    match line.get(at) {
        Some(b' ') => {
            at = skip_context(line, skip_spaces(line, skip_comment(line, at + 1)));
        }
        Some(b'<') => {
            let Some((from, to)) = comm_at(line, at) else { return };
            if line.get(to + 1) != Some(&b' ') {
                return;
            }
            prefix.comm = (from, to);
            at = skip_context(line, skip_spaces(line, skip_comment(line, to + 2)));
        }
        _ => return,
    }
    prefix.tid = tid as u32;
    prefix.rest = at;
}

/// `<sh>` at `at`: where the name stands. Names are at most 15 bytes, escaped to at most 60.
fn comm_at(line: &[u8], at: usize) -> Option<(usize, usize)> {
    if line.get(at) != Some(&b'<') {
        return None;
    }
    let window = line.get(at + 1..line.len().min(at + 64))?;
    let followed = |i: usize| matches!(window.get(i + 1), Some(b' ' | b']'));
    let end = (0..window.len()).find(|i| window[*i] == b'>' && followed(*i))?;
    Some((at + 1, at + 1 + end))
}

/// Behind `/* 45 in strace's PID NS */`, if that is at `at`.
fn skip_comment(line: &[u8], at: usize) -> usize {
    let start = skip_spaces(line, at);
    let Some(rest) = line.get(start..).filter(|rest| rest.starts_with(b"/* ")) else { return at };
    match memchr::memmem::find(&rest[..rest.len().min(64)], b"*/") {
        Some(end) => skip_spaces(line, start + end + 2),
        None => at,
    }
}

/// Behind the security context of `--secontext` (`[unconfined_u:…] `), if that is at `at`.
fn skip_context(line: &[u8], at: usize) -> usize {
    let Some(rest) = line.get(at..).filter(|rest| rest.first() == Some(&b'[') && !rest.starts_with(b"[ "))
    else {
        return at;
    };
    match memchr::memchr(b']', &rest[..rest.len().min(256)]) {
        Some(end) if rest.get(end + 1) == Some(&b' ') => at + end + 2,
        _ => at,
    }
}

fn skip_spaces(line: &[u8], mut at: usize) -> usize {
    while line.get(at) == Some(&b' ') {
        at += 1;
    }
    at
}

/// The timestamp at `prefix.rest`, if there is one.
fn time(line: &[u8], prefix: &mut Prefix, seen: &mut Seen) {
    let at = prefix.rest;
    if let Some(text) = word(line, at)
        && line[at + 2] == b':'
    {
        return time_of_day(line, prefix, text, seen);
    }
    if let Some(b'0'..=b'9' | b' ') = line.get(at) {
        plain_seconds(line, prefix);
    }
}

/// `08:36:23`, `08:36:23.711719`, perhaps followed by `(+     0.000123)`.
fn time_of_day(line: &[u8], prefix: &mut Prefix, text: u64, seen: &mut Seen) {
    if text != seen.seconds_text {
        let Some(ns) = hours_minutes_seconds(&text.to_le_bytes()) else { return };
        seen.seconds_text = text;
        seen.seconds_ns = ns;
    }
    let mut at = prefix.rest + 8;
    let mut ns = seen.seconds_ns;
    let mut sub_second = false;
    if line.get(at) == Some(&b'.') {
        let Some((part, digits)) = fraction(line, at + 1) else { return };
        ns += part;
        at += 1 + digits;
        sub_second = true;
    }
    if line.get(at) == Some(&b' ') {
        stamp(line, prefix, at + 1, ns, ClockKind::TimeOfDay, sub_second);
    }
}

#[cold]
fn hours_minutes_seconds(text: &[u8; 8]) -> Option<u64> {
    let two =
        |i: usize| integer(&text[..i + 2], i).filter(|(_, digits)| *digits == 2).map(|(value, _)| value);
    if text[5] != b':' {
        return None;
    }
    // 60: a leap second.
    let (h, m, s) = (two(0)?, two(3)?, two(6)?);
    (h < 24 && m < 60 && s <= 60).then_some((h * 3600 + m * 60 + s) * SECOND)
}

/// `1795227758.672510 ` since the epoch, or `     0.000123 ` since the line before.
fn plain_seconds(line: &[u8], prefix: &mut Prefix) {
    let start = skip_spaces(line, prefix.rest);
    let Some((whole, digits)) = integer(line, start) else { return };
    let mut at = start + digits;
    let Some(mut ns) = whole.checked_mul(SECOND) else { return };
    let sub_second = line.get(at) == Some(&b'.');
    if sub_second {
        let Some((part, digits)) = fraction(line, at + 1) else { return };
        let Some(sum) = ns.checked_add(part) else { return };
        ns = sum;
        at += 1 + digits;
    }
    if line.get(at) != Some(&b' ') || ns == NO_TIME {
        return;
    }
    if whole >= LEAST_EPOCH {
        stamp(line, prefix, at + 1, ns, ClockKind::Epoch, sub_second);
    } else if sub_second || start > prefix.rest {
        stamp(line, prefix, at + 1, ns, ClockKind::Relative, sub_second);
    }
}

fn stamp(line: &[u8], prefix: &mut Prefix, rest: usize, ns: u64, clock: ClockKind, sub_second: bool) {
    prefix.ts = ns;
    prefix.clock = clock;
    prefix.sub_second = sub_second;
    prefix.rest = rest;
    // `-r` beside `-t`: the difference says nothing that the time does not.
    if line.get(rest) == Some(&b'(') && line.get(rest + 1) == Some(&b'+') {
        let text = &line[rest..line.len().min(rest + 40)];
        if let Some(end) = memchr::memchr(b')', text) {
            prefix.rest = skip_spaces(line, rest + end + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(line: &str) -> (u32, u64, ClockKind, &str) {
        let prefix = parse(line.as_bytes(), &mut Seen::default());
        (prefix.tid, prefix.ts, prefix.clock, &line[prefix.rest..])
    }

    #[test]
    fn every_shape_of_prefix() {
        use ClockKind::*;
        let at = (8 * 3600 + 36 * 60 + 23) * SECOND + 711_719_000;
        let epoch = 1_795_227_758 * SECOND;
        for (line, tid, ts, clock, rest) in [
            ("brk(0)", 0, NO_TIME, None, "brk(0)"),
            ("24594 08:36:23.711719 stat(", 24594, at, TimeOfDay, "stat("),
            ("24594 08:36:23 stat(", 24594, at - 711_719_000, TimeOfDay, "stat("),
            ("08:36:23.711719 stat(", 0, at, TimeOfDay, "stat("),
            ("472   read(", 472, NO_TIME, None, "read("),
            ("[pid  9194] read(", 9194, NO_TIME, None, "read("),
            ("[pid  5975<sh>] read(", 5975, NO_TIME, None, "read("),
            ("5961<sh> 1795227758.672510 brk(", 5961, epoch + 672_510_000, Epoch, "brk("),
            ("1795227759.419095490 munmap(", 0, epoch + SECOND + 419_095_490, Epoch, "munmap("),
            ("1795227758 munmap(", 0, epoch, Epoch, "munmap("),
            ("     0.000676 brk(", 0, 676_000, Relative, "brk("),
            ("123      0.000676 brk(", 123, 676_000, Relative, "brk("),
            ("5953  08:36:23.711719 (+     0.000596) brk(", 5953, at, TimeOfDay, "brk("),
            ("12 /* 45 in strace's PID NS */ 08:36:23.711719 brk(", 12, at, TimeOfDay, "brk("),
            ("[pid 12] [unconfined_u:r:t] brk(", 12, NO_TIME, None, "brk("),
            ("99999999 brk(", 0, NO_TIME, None, "99999999 brk("),
            ("24:36:23.711719 stat(", 0, NO_TIME, None, "24:36:23.711719 stat("),
            (" > /lib/libc.so.6(read+0x5) [0x123]", 0, NO_TIME, None, " > /lib/libc.so.6(read+0x5) [0x123]"),
            ("", 0, NO_TIME, None, ""),
        ] {
            assert_eq!(parsed(line), (tid, ts, clock, rest), "{line}");
            let mut seen = Seen::default();
            for _ in 0..2 {
                let prefix = parse(line.as_bytes(), &mut seen);
                assert_eq!((prefix.tid, prefix.ts, &line[prefix.rest..]), (tid, ts, rest), "{line}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_usual_shape_agrees_with_every_shape(
            pid in "[0-9]{1,9}|[0-9]{0,3}[ /<x][0-9]{0,3}",
            gap in prop_oneof![8 => Just(" "), 1 => Just("  "), 1 => Just("")],
            time in prop_oneof![8 => Just("08:36:23"), 1 => Just("24:36:23"), 1 => Just("8:36:23")],
            fraction in prop_oneof![6 => "\\.[0-9]{6} ", 2 => "\\.[0-9]{5,9} ?", 1 => " ?"],
            rest in prop_oneof![4 => Just("read(3, \"abcdefghij\""), 1 => Just("(+     0.000596) brk(1)"), 1 => Just("")],
        ) {
            let mut seen = Seen::default();
            every_shape(b"08:36:23.000000 x", &mut seen);
            let line = format!("{pid}{gap}{time}{fraction}{rest}");
            if let Some(prefix) = line.as_bytes().first_chunk().and_then(|head| usual(head, &seen)) {
                prop_assert_eq!(prefix, every_shape(line.as_bytes(), &mut seen), "{}", line);
            }
        }
    }
}
