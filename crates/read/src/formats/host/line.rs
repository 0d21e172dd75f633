//! One line of a pasted table: its words, and what the numbers of any locale and unit mean.

use std::borrow::Cow;
use whyslow_model::FigureRow;

/// A line, without colours and control characters.
pub(super) struct Line<'l> {
    /// Its number, from 1.
    pub(super) number: u64,
    /// The text.
    pub(super) text: &'l str,
    /// Its words.
    pub(super) words: Vec<&'l str>,
}

impl<'l> Line<'l> {
    pub(super) fn new(number: u64, text: &'l str) -> Line<'l> {
        // A terminal shows the interrupt that ended the tool before what it prints then.
        let text = text.strip_prefix("^C").filter(|rest| !rest.trim().is_empty()).unwrap_or(text);
        Line { number, text, words: text.split_ascii_whitespace().take(MOST_WORDS).collect() }
    }

    /// The word, empty where there are not so many.
    pub(super) fn word(&self, at: usize) -> &'l str {
        self.words.get(at).copied().unwrap_or("")
    }

    /// The text from that word on.
    pub(super) fn rest(&self, at: usize) -> &'l str {
        let Some(word) = self.words.get(at) else { return "" };
        let offset = word.as_ptr() as usize - self.text.as_ptr() as usize;
        self.text.get(offset..).unwrap_or("").trim_end()
    }

    /// True where the words begin with these.
    pub(super) fn starts(&self, words: &[&str]) -> bool {
        self.words.starts_with(words)
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// Marks the row as told by this line.
    pub(super) fn sign(&self, row: &mut FigureRow) {
        row.line = self.number;
        row.raw = self.text.get(..self.text.floor_char_boundary(FigureRow::RAW_LEN)).unwrap_or("").into();
    }
}

/// The widest tables (mpstat -I on large machines, top with all fields) have some hundreds of columns.
const MOST_WORDS: usize = 1024;

/// The text without escape sequences and control characters, cut at `most` bytes; blanks of any width are blanks.
pub(super) fn plain(bytes: &[u8], most: usize) -> Cow<'_, str> {
    let bytes = bytes.get(..most).unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    if !text.chars().any(|one| (one.is_control() && one != '\t') || is_narrow(one)) {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(one) = chars.next() {
        match one {
            '\u{1b}' => skip_escape(&mut chars),
            // Sets the terminal back to its usual characters (`top`).
            '\t' => plain.push('\t'),
            '\u{a0}' | '\u{202f}' | '\u{2009}' => plain.push(one),
            one if one.is_control() => {}
            one => plain.push(one),
        }
    }
    Cow::Owned(plain)
}

/// A blank that stands inside numbers.
fn is_narrow(one: char) -> bool {
    matches!(one, '\u{a0}' | '\u{202f}' | '\u{2009}')
}

/// Passes over `[…m`, `(B`, `]…BEL` and their like.
fn skip_escape(chars: &mut std::str::Chars<'_>) {
    match chars.next() {
        Some('[') => {
            chars.find(|one| matches!(one, '\u{40}'..='\u{7e}'));
        }
        Some('(' | ')' | '#' | '%') => {
            chars.next();
        }
        Some(']') => {
            chars.find(|one| matches!(one, '\u{7}' | '\u{1b}'));
        }
        _ => {}
    }
}

/// A number with a decimal point or comma: `12.50`, `12,50`, `-1`.
pub(super) fn number(cell: &str) -> Option<f64> {
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    digits.bytes().next().filter(u8::is_ascii_digit)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')) {
        return None;
    }
    let value: f64 =
        if cell.contains(',') { cell.replace(',', ".").parse().ok()? } else { cell.parse().ok()? };
    (value.abs() < MOST).then_some(value)
}

/// No table of a host has a larger figure; sums and products of what is smaller stay finite.
pub(super) const MOST: f64 = 1e18;

/// A number and the text behind it: `38.7g`, `98%`.
pub(super) fn number_and_rest(cell: &str) -> Option<(f64, &str)> {
    let end = cell
        .bytes()
        .enumerate()
        .position(|(at, byte)| {
            !(byte.is_ascii_digit() || matches!(byte, b'.' | b',') || (at == 0 && byte == b'-'))
        })
        .unwrap_or(cell.len());
    Some((number(cell.get(..end)?)?, cell.get(end..)?))
}

/// A size in bytes: `38.7g`, `1,2G`, `12Ki`, `96M`; without a unit it counts in `plain` bytes.
pub(super) fn size(cell: &str, plain: f64) -> Option<f64> {
    let (value, unit) = number_and_rest(cell)?;
    let scale = match unit.trim_end_matches("iB").trim_end_matches('i') {
        "" => plain,
        "B" | "b" => 1.0,
        "K" | "k" | "KB" | "kB" => 1024.0,
        "M" | "m" | "MB" => 1024f64.powi(2),
        "G" | "g" | "GB" => 1024f64.powi(3),
        "T" | "t" | "TB" => 1024f64.powi(4),
        "P" | "p" | "PB" => 1024f64.powi(5),
        _ => return None,
    };
    Some(value * scale)
}

/// Numbers and what stands behind each: `3.5 us,  2.1 sy`, `0.0%ni,100.0%id`, `132107852k total`. A decimal comma is told
/// from one between two pairs by the digit behind it.
pub(super) fn pairs(text: &str) -> Vec<(f64, &str)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = bytes.get(at..).and_then(|rest| rest.iter().position(u8::is_ascii_digit)) {
        let start = at + start;
        let digits = |from: usize| {
            bytes.get(from..).map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_digit()).count())
        };
        let mut end = start + digits(start);
        if matches!(bytes.get(end), Some(b'.' | b',')) && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        }
        let label_end = bytes
            .get(end..)
            .and_then(|rest| {
                rest.iter().position(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'.'))
            })
            .map_or(bytes.len(), |len| end + len);
        if let (Some(value), Some(label)) = (text.get(start..end).and_then(number), text.get(end..label_end))
        {
            found.push((value, label.trim()));
        }
        at = label_end.max(end);
    }
    found
}

/// Nanoseconds since midnight of `14:39:15`, `01:57:54` with `AM` or `PM` behind it; and how many words it takes.
pub(super) fn time_of_day(line: &Line<'_>, at: usize) -> Option<(u64, usize)> {
    let seconds = clock_time(line.word(at))?;
    let hour = seconds / 3600;
    Some(match line.word(at + 1) {
        "AM" | "am" if hour == 12 => (seconds - 12 * 3600, 2),
        "AM" | "am" => (seconds, 2),
        "PM" | "pm" if hour < 12 => (seconds + 12 * 3600, 2),
        "PM" | "pm" => (seconds, 2),
        _ => (seconds, 1),
    })
    .map(|(seconds, words)| (seconds * 1_000_000_000, words))
}

/// Seconds since midnight of `14:39:15`.
fn clock_time(word: &str) -> Option<u64> {
    let mut parts = word.split(':');
    let mut part = |below: u64| {
        let part = parts.next()?;
        let two = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u64>().ok().filter(|value| two && *value < below)
    };
    let (hour, minute, second) = (part(24)?, part(60)?, part(61)?);
    parts.next().is_none().then_some(hour * 3600 + minute * 60 + second)
}

/// Times of day in a row of tables, carried over midnight.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct DayClock {
    last: u64,
    days: u64,
}

impl DayClock {
    /// Nanoseconds since the midnight before the first time.
    pub(super) fn carry(&mut self, time: u64) -> u64 {
        const DAY: u64 = 86_400_000_000_000;
        if time + DAY / 2 < self.last {
            self.days += 1;
        }
        self.last = time;
        time.saturating_add(self.days.saturating_mul(DAY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_locale() {
        assert_eq!(number("12.50"), Some(12.5));
        assert_eq!(number("12,50"), Some(12.5));
        assert_eq!(number("-1.00"), Some(-1.0));
        for other in ["", "-", "nan", "1.2.3", "1e9", "0x3", "."] {
            assert_eq!(number(other), None, "{other}");
        }
        assert_eq!(size("1,5g", 1024.0), Some(1.5 * 1024.0 * 1024.0 * 1024.0));
        assert_eq!(size("12Ki", 1.0), Some(12.0 * 1024.0));
        assert_eq!(size("96012", 1024.0), Some(96012.0 * 1024.0));
        assert_eq!(size("12q", 1.0), None);
    }

    #[test]
    fn pairs_with_points_and_commas() {
        let of = |text| pairs(text).into_iter().map(|(value, _)| value).collect::<Vec<_>>();
        assert_eq!(pairs("  3.5 us,  2.1 sy"), [(3.5, "us"), (2.1, "sy")]);
        assert_eq!(pairs("0.0%ni,100.0%id"), [(0.0, "%ni"), (100.0, "%id")]);
        assert_eq!(pairs("0,0 ni,100,0 id"), [(0.0, "ni"), (100.0, "id")]);
        assert_eq!(of("0.20, 0.36, 0.56"), [0.2, 0.36, 0.56]);
        assert_eq!(of("0,20, 0,36, 0,56"), [0.2, 0.36, 0.56]);
        assert_eq!(pairs("0 used.  576176 avail Mem"), [(0.0, "used"), (576176.0, "avail Mem")]);
    }

    #[test]
    fn colours_and_control_characters_are_no_text() {
        let text = plain(b"\x1b[7m  PID USER \x1b(B\x1b[m\x0f x\x1b]0;title\x07y", 1000);
        assert_eq!(text, "  PID USER  xy");
    }

    #[test]
    fn times_of_twelve_and_of_twenty_four_hours() {
        let of =
            |text: &str| time_of_day(&Line::new(1, text), 0).map(|(ns, words)| (ns / 1_000_000_000, words));
        assert_eq!(of("14:39:15 x"), Some((52755, 1)));
        assert_eq!(of("01:57:54 AM"), Some((7074, 2)));
        assert_eq!(of("12:00:01 AM"), Some((1, 2)));
        assert_eq!(of("12:00:01 PM"), Some((43201, 2)));
        for other in ["24:00:00", "1:00:00", "10:00", "aa:bb:cc", ""] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
