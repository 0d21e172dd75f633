//! Path patterns: `/tmp/9046db9e-fe25-11e8-b13f-0242ac110002/650.txt` is one of `/tmp/{uuid}/{n}.txt`.

/// The pattern of a path: UUIDs, long hex names and numbers replaced. Each segment is looked at by itself.
pub fn pattern_of(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for (i, segment) in path.split('/').enumerate() {
        if i > 0 {
            out.push('/');
        }
        push_segment(&mut out, segment);
    }
    out
}

fn push_segment(out: &mut String, segment: &str) {
    let bytes = segment.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if at_word_start(bytes, i) {
            if let Some(end) = uuid_at(bytes, i) {
                out.push_str("{uuid}");
                i = end;
                continue;
            }
            if let Some(end) = hex_at(bytes, i) {
                out.push_str("{hex}");
                i = end;
                continue;
            }
        }
        if bytes[i].is_ascii_digit() {
            let end = run(bytes, i, |byte| byte.is_ascii_digit());
            // `libc.so.6` and `python3` are names; a number that varies is longer or stands by itself.
            if end - i >= 4 || stands_alone(bytes, i, end) {
                out.push_str("{n}");
            } else {
                out.push_str(&segment[i..end]);
            }
            i = end;
            continue;
        }
        let end = i + char_len(segment, i);
        out.push_str(&segment[i..end]);
        i = end;
    }
}

fn char_len(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(1, char::len_utf8)
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
        ] {
            assert_eq!(pattern_of(path), pattern);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(path in ".{0,80}") {
            let _ = pattern_of(&path);
        }
    }
}
