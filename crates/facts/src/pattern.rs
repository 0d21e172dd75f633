//! Path patterns: `/tmp/9046db9e-fe25-11e8-b13f-0242ac110002/650.txt` is one of `/tmp/{uuid}/{n}.txt`.

use std::borrow::Cow;

/// The pattern of a path: UUIDs, long hex names and numbers replaced. Each segment is looked at by itself.
/// Borrowed where nothing in the path varies. Runs for each file that is dropped: most segments are passed
/// over at once.
pub fn pattern_of(path: &str) -> Cow<'_, str> {
    let bytes = path.as_bytes();
    let mut out = String::new();
    // All before this is in `out`.
    let mut taken = 0;
    let mut from = 0;
    while from <= bytes.len() {
        let to = memchr::memchr(b'/', &bytes[from..]).map_or(bytes.len(), |at| from + at);
        let segment = &bytes[from..to];
        if segment.iter().any(u8::is_ascii_digit) || segment.starts_with(b"tmp") {
            let mut at = 0;
            while at < segment.len() {
                let Some((end, word)) = varying_at(segment, at) else {
                    at += 1;
                    continue;
                };
                if !word.is_empty() {
                    // Both ends stand at ASCII bytes: these cuts are between characters.
                    out.push_str(path.get(taken..from + at).unwrap_or_default());
                    out.push_str(word);
                    taken = from + end;
                }
                at = end;
            }
        }
        from = to + 1;
    }
    if taken == 0 {
        return Cow::Borrowed(path);
    }
    out.push_str(path.get(taken..).unwrap_or_default());
    Cow::Owned(out)
}

/// Patterns of paths that come directory by directory: the directory's is made once.
#[derive(Debug, Default)]
pub(crate) struct LastDirectory {
    directory: String,
    /// Its pattern, where anything in it varies.
    pattern: Option<String>,
}

impl LastDirectory {
    /// As [`pattern_of`].
    pub(crate) fn pattern_of<'a>(&mut self, path: &'a str) -> Cow<'a, str> {
        let Some(slash) = memchr::memrchr(b'/', path.as_bytes()) else { return pattern_of(path) };
        let (directory, name) = path.split_at(slash + 1);
        if self.directory != directory {
            self.directory.clear();
            self.directory.push_str(directory);
            self.pattern = match pattern_of(directory) {
                Cow::Owned(pattern) => Some(pattern),
                Cow::Borrowed(_) => None,
            };
        }
        match (&self.pattern, pattern_of(name)) {
            (None, Cow::Borrowed(_)) => Cow::Borrowed(path),
            (pattern, name) => {
                let directory = pattern.as_deref().unwrap_or(directory);
                Cow::Owned([directory, &name].concat())
            }
        }
    }
}

/// What varies at `at`: where it ends, and the word for it; an empty word for a number that is kept.
fn varying_at(segment: &[u8], at: usize) -> Option<(usize, &'static str)> {
    let byte = segment[at];
    if !byte.is_ascii_alphanumeric() {
        return None;
    }
    if at_word_start(segment, at) {
        if let Some(end) = random_at(segment, at) {
            return Some((end, "tmp{random}"));
        }
        if let Some(end) = uuid_at(segment, at) {
            return Some((end, "{uuid}"));
        }
        if let Some(end) = hex_at(segment, at) {
            return Some((end, "{hex}"));
        }
    }
    if !byte.is_ascii_digit() {
        return None;
    }
    let end = run(segment, at, |byte| byte.is_ascii_digit());
    // `libc.so.6` and `python3` are names; a number that varies is longer or stands by itself.
    let varies = end - at >= 4 || stands_alone(segment, at, end);
    Some((end, if varies { "{n}" } else { "" }))
}

fn at_word_start(bytes: &[u8], at: usize) -> bool {
    at == 0 || !bytes[at - 1].is_ascii_alphanumeric()
}

fn run(bytes: &[u8], from: usize, keep: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|&byte| !keep(byte)).map_or(bytes.len(), |n| from + n)
}

/// A number that is the whole name, or all of it before or after one of `.-_` (`650.txt`, `part-7`, `core.123`),
/// but not a version (`libssl.so.3`, `1.2.3`).
fn stands_alone(bytes: &[u8], from: usize, to: usize) -> bool {
    let before_ok = from == 0 || (matches!(bytes[from - 1], b'-' | b'_'));
    let after_ok = to == bytes.len() || matches!(bytes[to], b'.' | b'-' | b'_');
    let version = to < bytes.len() && bytes[to] == b'.' && bytes.get(to + 1).is_some_and(u8::is_ascii_digit);
    before_ok && after_ok && !version
}

fn uuid_at(bytes: &[u8], at: usize) -> Option<usize> {
    let text = bytes.get(at..at + 36)?;
    let fits = text.iter().enumerate().all(|(i, byte)| match i {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    fits.then_some(at + 36)
}

/// The names that temporary files get from Python's tempfile (`tmpab3d_x9z`: 8 of `a-z0-9_`, Lib/tempfile.py)
/// and from mktemp (`tmp.Vx2kQ0aZbC`: 10 letters and digits, coreutils src/mktemp.c).
fn random_at(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?.strip_prefix(b"tmp")?;
    let (skip, length, fits): (usize, usize, fn(&u8) -> bool) = match rest.first() {
        Some(b'.') => (4, 10, u8::is_ascii_alphanumeric),
        _ => (3, 8, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_'),
    };
    let from = at + skip;
    let word = bytes.get(from..)?;
    let used = word.iter().take_while(|byte| fits(byte)).count();
    let all_digits = word.get(..used)?.iter().all(u8::is_ascii_digit);
    (used == length && !all_digits).then_some(from + used)
}

/// A run of 8 or more hex digits that holds a digit and ends at a word's end.
fn hex_at(bytes: &[u8], at: usize) -> Option<usize> {
    let end = run(bytes, at, |byte| byte.is_ascii_hexdigit());
    let word = &bytes[at..end];
    let at_end = bytes.get(end).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let letters = word.iter().any(u8::is_ascii_alphabetic);
    (word.len() >= 8 && at_end && letters && word.iter().any(u8::is_ascii_digit)).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns() {
        for (path, pattern) in [
            ("/tmp/9046db9e-fe25-11e8-b13f-0242ac110002/650.txt", "/tmp/{uuid}/{n}.txt"),
            ("/usr/lib/libc.so.6", "/usr/lib/libc.so.6"),
            ("/usr/lib/python3.11/os.py", "/usr/lib/python3.11/os.py"),
            ("/proc/12280/fd/7", "/proc/{n}/fd/{n}"),
            ("/cache/ab/abcdef0123456789.bin", "/cache/ab/{hex}.bin"),
            ("/data/part-17-of-20", "/data/part-{n}-of-{n}"),
            ("/var/log/app.log", "/var/log/app.log"),
            ("/tmp/tmp20241201.txt", "/tmp/tmp{n}.txt"),
            ("/opt/app-1.2.3/x", "/opt/app-1.2.3/x"),
            ("/tmp/tmpab3d_x9z.png", "/tmp/tmp{random}.png"),
            ("/tmp/tmp.Vx2kQ0aZbC/out", "/tmp/tmp{random}/out"),
            ("/tmp/tmpfiles.d", "/tmp/tmpfiles.d"),
        ] {
            assert_eq!(pattern_of(path), pattern);
            assert_eq!(LastDirectory::default().pattern_of(path), pattern);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(path in ".{0,80}") {
            let _ = pattern_of(&path);
        }
    }
}
