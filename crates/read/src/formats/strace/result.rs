//! The end of a call's line: ` = 89 <0.000051>`, ` = -1 EPIPE (Broken pipe)`, ` = 3</etc/passwd>`, ` = ?`.

use super::digits::{eight_digits, fraction, integer, six_between, word};
use super::names::Errors;
use super::record::NO_TIME;
use memchr::memrchr;
use whyslow_model::Errno;

/// What a call returned, and where in the line the parts of it stand.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CallResult {
    /// Where the `)` that closes the arguments stands.
    pub(crate) close: usize,
    /// `None` for `?`, and for a value that is no number (ltrace).
    pub(crate) ret: Option<i64>,
    pub(crate) errno: Errno,
    /// Where the text behind the value starts.
    pub(crate) note: usize,
}

/// The duration that `-T` puts at the end (`<0.000051>`), and where the text before it ends.
#[inline(always)]
pub(crate) fn duration(line: &[u8]) -> (usize, u64) {
    if line.last() != Some(&b'>') {
        return (line.len(), NO_TIME);
    }
    // ` <0.000051>`: all that is shorter than ten seconds.
    if let Some(tail) = line.last_chunk::<11>()
        && tail[0] == b' '
        && tail[1] == b'<'
        && tail[2].is_ascii_digit()
        && let Some(word) = word(tail, 3)
        && let Some(microseconds) = six_between::<b'.', b'>'>(word)
    {
        return (line.len() - 11, (tail[2] - b'0') as u64 * 1_000_000_000 + microseconds * 1_000);
    }
    long_duration(line).unwrap_or((line.len(), NO_TIME))
}

/// `<12.345678>`, `<0.000051123>`, `<0.051>`, `<3>`.
fn long_duration(line: &[u8]) -> Option<(usize, u64)> {
    let from = line.len().saturating_sub(32);
    let open = from + memrchr(b'<', &line[from..])?;
    if open == 0 || line[open - 1] != b' ' {
        return None;
    }
    let (whole, digits) = integer(line, open + 1)?;
    let mut at = open + 1 + digits;
    let mut ns = whole.checked_mul(1_000_000_000)?;
    if line.get(at) == Some(&b'.') {
        let (part, digits) = fraction(line, at + 1)?;
        ns = ns.checked_add(part)?;
        at += 1 + digits;
    }
    (at + 1 == line.len() && ns != NO_TIME).then_some((open - 1, ns))
}

/// The result of most calls: ` = ` and up to five digits at the end of the text, found without a loop.
#[inline(always)]
fn find_short(text: &[u8], from: usize) -> Option<CallResult> {
    const LOWS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let at = text.len().checked_sub(8)?;
    let tail = word(text, at)?;
    let difference = tail ^ 0x3d3d_3d3d_3d3d_3d3d;
    // Exact, unlike the shorter form that may also mark a byte behind a zero one: the last `=` is wanted.
    let equals = !(((difference & LOWS) + LOWS) | difference | LOWS);
    let position = 7usize.checked_sub(equals.leading_zeros() as usize / 8)?;
    if !(1..=5).contains(&position)
        || at + position <= from
        || text[at + position - 1] != b' '
        || text[at + position + 1] != b' '
    {
        return None;
    }
    let digits = position + 2;
    if digits == 7 {
        // One digit, as most results have.
        let digit = text[at + 7].wrapping_sub(b'0');
        let close = closing(text, from, at + 4)?;
        let ret = Some(digit as i64);
        return (digit < 10).then_some(CallResult { close, ret, errno: Errno::NONE, note: text.len() });
    }
    // `= 022` is octal.
    if text[at + digits] == b'0' {
        return None;
    }
    let before = (1u64 << (8 * digits)) - 1;
    let ret = eight_digits((tail & !before) | (0x3030_3030_3030_3030 & before))?;
    let close = closing(text, from, at + position - 1)?;
    Some(CallResult { close, ret: Some(ret as i64), errno: Errno::NONE, note: text.len() })
}

/// Where the `)` stands that only spaces divide from `behind`.
#[inline(always)]
fn closing(text: &[u8], from: usize, behind: usize) -> Option<usize> {
    const SPACES: u128 = u128::from_le_bytes([b' '; 16]);
    // The column of results is padded with spaces, whose number is hard to guess: counted without a loop.
    if let Some(before) = text.get(from..=behind).and_then(|text| text.last_chunk::<16>()) {
        let spaces = (u128::from_le_bytes(*before) ^ SPACES).leading_zeros() as usize / 8;
        if spaces < 16 {
            return (before[15 - spaces] == b')').then_some(behind - spaces);
        }
    }
    let mut close = behind;
    while close > from && text[close] == b' ' {
        close -= 1;
    }
    (text[close] == b')').then_some(close)
}

/// Finds the result in `text[from..]`, which ends behind it. Searched from the end, since strings among the
/// arguments may hold `) = `; a ` = ` that no valid result follows is passed over, since the annotation of
/// a returned descriptor may hold one.
#[inline(always)]
pub(crate) fn find<const LIBRARY: bool>(text: &[u8], from: usize, errors: &mut Errors) -> Option<CallResult> {
    find_short(text, from).or_else(|| find_any::<LIBRARY>(text, from, errors))
}

#[inline(never)]
fn find_any<const LIBRARY: bool>(text: &[u8], from: usize, errors: &mut Errors) -> Option<CallResult> {
    let mut end = text.len();
    loop {
        let equals = from + memrchr(b'=', text.get(from..end)?)?;
        end = equals;
        if text.get(equals + 1) != Some(&b' ') || equals == 0 || text[equals - 1] != b' ' {
            continue;
        }
        let Some(close) = closing(text, from, equals - 1) else { continue };
        if let Some((ret, errno, note)) = value::<LIBRARY>(text, equals + 2, errors) {
            return Some(CallResult { close, ret, errno, note });
        }
    }
}

type Value = (Option<i64>, Errno, usize);

/// The value at `at`, its error, and where the text behind both starts.
#[inline(always)]
fn value<const LIBRARY: bool>(text: &[u8], at: usize, errors: &mut Errors) -> Option<Value> {
    let parsed = match text.get(at) {
        Some(b'1'..=b'9') => decimal(text, at, false),
        Some(b'-') => decimal(text, at + 1, true),
        Some(b'0') => zero_or_radix(text, at),
        Some(b'?') => Some((None, at + 1)),
        _ => None,
    };
    let valid = |end: usize| matches!(text.get(end), None | Some(b' ' | b'<'));
    let Some((ret, end)) = parsed.filter(|(_, end)| valid(*end)) else {
        // ltrace also returns strings, `nil`, `<void>`, floats and structures.
        let nil = text.get(at..).is_some_and(|rest| rest == b"nil" || rest == b"(nil)");
        return (LIBRARY && at < text.len()).then_some((nil.then_some(0), Errno::NONE, at));
    };
    let note = if text.get(end) == Some(&b' ') { end + 1 } else { end };
    // Only -1 and `?` are followed by an error's name.
    if !matches!(ret, Some(-1) | None) || text.get(note) != Some(&b'E') {
        return Some((ret, Errno::NONE, note));
    }
    if let Some((length, errno)) = errors.identify::<b' '>(text, note) {
        return Some((ret, errno, note + length + 1));
    }
    // `E??? (errno 524)`, or the name ends the line.
    let rest = &text[note..];
    let length = rest.iter().position(|byte| matches!(byte, b' ' | b'(')).unwrap_or(rest.len());
    let behind = note + length + usize::from(rest.get(length) == Some(&b' '));
    Some((ret, Errno::lookup(&rest[..length]), behind))
}

#[inline(always)]
fn decimal(text: &[u8], mut at: usize, negative: bool) -> Option<(Option<i64>, usize)> {
    let start = at;
    let mut value: u64 = 0;
    while let Some(byte) = text.get(at).filter(|byte| byte.is_ascii_digit()) {
        value = value.wrapping_mul(10).wrapping_add((byte - b'0') as u64);
        at += 1;
    }
    // A u64 has at most 20 digits.
    if at == start || at - start > 20 {
        return None;
    }
    let value = value as i64;
    Some((Some(if negative { value.wrapping_neg() } else { value }), at))
}

/// `0`, `0x7f66963b0000`, `022` (umask).
#[inline(always)]
fn zero_or_radix(text: &[u8], at: usize) -> Option<(Option<i64>, usize)> {
    let (radix, start) = match text.get(at + 1) {
        Some(b'x') => (16, at + 2),
        Some(b'0'..=b'7') => (8, at + 1),
        _ => return Some((Some(0), at + 1)),
    };
    let mut value: u64 = 0;
    let mut end = start;
    while let Some(digit) = text.get(end).and_then(|byte| (*byte as char).to_digit(radix)) {
        value = value.wrapping_mul(radix as u64).wrapping_add(digit as u64);
        end += 1;
    }
    (end > start && end - start <= 22).then_some((Some(value as i64), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Option<(&str, Option<i64>, Errno, &str, u64)> {
        let (end, dur) = duration(line.as_bytes());
        let result = find::<false>(&line.as_bytes()[..end], 0, &mut Errors::of_errors())?;
        Some((&line[..=result.close], result.ret, result.errno, &line[result.note..end], dur))
    }

    #[test]
    fn results_of_all_kinds() {
        let none = Errno::NONE;
        for (tail, ret, errno, note, dur) in [
            (" = 89 <0.000051>", Some(89), none, "", 51_000),
            ("   = 0x7f66963b0000", Some(0x7f66963b0000), none, "", NO_TIME),
            (" = -1 EPIPE (Broken pipe) <0.000037>", Some(-1), Errno::EPIPE, "(Broken pipe)", 37_000),
            (
                " = -1 ENOENT (没有那个文件或目录) <0.000071>",
                Some(-1),
                Errno::ENOENT,
                "(没有那个文件或目录)",
                71_000,
            ),
            (" = ? ERESTARTSYS (To be restarted)", None, Errno::ERESTARTSYS, "(To be restarted)", NO_TIME),
            (" = ?", None, none, "", NO_TIME),
            (" = ? <unavailable>", None, none, "<unavailable>", NO_TIME),
            (" = 0x2 (flags O_RDWR)", Some(2), none, "(flags O_RDWR)", NO_TIME),
            (" = 3</tmp/file1>", Some(3), none, "</tmp/file1>", NO_TIME),
            (" = 3</tmp/a) = 4> <12.000001>", Some(3), none, "</tmp/a) = 4>", 12_000_001_000),
            (
                " = -1 ENOSYS (Function not implemented) (INJECTED)",
                Some(-1),
                Errno(38),
                "(Function not implemented) (INJECTED)",
                NO_TIME,
            ),
            (" = -1 E??? (errno 524)", Some(-1), Errno::OTHER, "(errno 524)", NO_TIME),
            (" = 022", Some(18), none, "", NO_TIME),
            (" = 18446744073709551615", Some(-1), none, "", NO_TIME),
            (" = 0 (Timeout) <2.002154>", Some(0), none, "(Timeout)", 2_002_154_000),
            (" = 5975<true> <0.000051123>", Some(5975), none, "<true>", 51_123),
        ] {
            let line = format!("f(\"x() = 3\"){tail}");
            assert_eq!(found(&line), Some(("f(\"x() = 3\")", ret, errno, note, dur)), "{line}");
        }
    }

    #[test]
    fn no_result_where_there_is_none() {
        for line in
            ["write(1, \"x() = 3\\n\", 7", "f() = ", "f() = maybe", "a = 3", "= 3", " = 3", ") =", "f() = 3x"]
        {
            assert_eq!(found(line), None, "{line}");
        }
    }
}
