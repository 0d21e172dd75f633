//! Reading the argument text of a call: splitting at top-level commas, descriptors, quoted strings.

/// Argument `n` (from 0) of an argument list, trimmed.
pub fn argument(args: &[u8], n: usize) -> Option<&[u8]> {
    arguments(args).nth(n)
}

/// The arguments, split at commas outside strings and brackets, trimmed.
pub fn arguments(args: &[u8]) -> Arguments<'_> {
    Arguments { rest: if args.is_empty() { None } else { Some(args) } }
}

/// Iterator over the arguments of a list.
#[derive(Clone, Debug)]
pub struct Arguments<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Iterator for Arguments<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let end = top_level_comma(rest).unwrap_or(rest.len());
        self.rest = rest.get(end + 1..);
        Some(rest[..end].trim_ascii())
    }
}

/// Where the first comma outside strings, brackets and `-y` annotations stands.
fn top_level_comma(text: &[u8]) -> Option<usize> {
    let mut depth = 0i32;
    let mut i = 0;
    while i < text.len() {
        match text[i] {
            b'"' => i = skip_string(text, i),
            b'<' if i > 0 && text[i - 1].is_ascii_digit() => i = skip_annotation(text, i),
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth <= 0 => return Some(i),
            _ => {}
        }
        i += 1;
    }
    None
}

/// The index of the quote that closes the string opened at `open`, or the last index if it is not closed.
fn skip_string(text: &[u8], open: usize) -> usize {
    let mut i = open + 1;
    while i < text.len() {
        match text[i] {
            b'\\' => i += 1,
            b'"' => return i,
            _ => {}
        }
        i += 1;
    }
    text.len().saturating_sub(1)
}

/// The index of the `>` that closes the annotation opened at `open` (`3<socket:[12]>`, `4<TCP:[a->b]>`), or
/// `open` if none does.
fn skip_annotation(text: &[u8], open: usize) -> usize {
    annotation_end(text, open).unwrap_or(open)
}

/// The index of the `>` that closes the annotation that `text[open]` opens. Inside, `->` is the arrow between
/// two socket ends, `<` nests (`3</dev/pts/0<char 136:0>>`), and the path of a unix socket is quoted in brackets
/// (`4<UNIX-STREAM:[7->9,"/run/x"]>`). Another quote ends what may be an annotation.
pub fn annotation_end(text: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0;
    let mut i = open;
    while i < text.len() {
        match text[i] {
            b'"' if is_quoted_path(text, open, i) => i = skip_string(text, i),
            b'<' => depth += 1,
            b'>' if i > 0 && text[i - 1] == b'-' => {}
            b'>' => {
                depth -= 1;
                if depth == 0 {
                    return Some(i);
                }
            }
            b'"' => return None,
            _ => {}
        }
        i += 1;
    }
    None
}

/// True where the quote at `at`, in the annotation that begins at `open`, begins a unix socket's path.
fn is_quoted_path(text: &[u8], open: usize, at: usize) -> bool {
    text[open + 1..].starts_with(b"UNIX") && at > open + 1 && matches!(text[at - 1], b',' | b'[' | b'@')
}

/// A descriptor at the start of `text`, with its `-y` annotation if it has one: `3`, `3</etc/passwd>`.
#[inline]
pub fn descriptor(text: &[u8]) -> Option<(i32, Option<&[u8]>)> {
    let (value, used) = decimal(text)?;
    let fd = i32::try_from(value).ok()?;
    if text.get(used) == Some(&b'<') {
        let note = annotation_end(text, used).map(|end| &text[used + 1..end]);
        return Some((fd, note));
    }
    Some((fd, None))
}

/// A decimal number at the start of `text`, perhaps negative, and how many bytes it took.
#[inline]
pub fn decimal(text: &[u8]) -> Option<(i64, usize)> {
    let negative = text.first() == Some(&b'-');
    let digits = &text[negative as usize..];
    let mut value: i64 = 0;
    let mut used = 0;
    while let Some(digit) = digits.get(used).filter(|byte| byte.is_ascii_digit()) {
        value = value.checked_mul(10)?.checked_add((digit - b'0') as i64)?;
        used += 1;
    }
    if used == 0 {
        return None;
    }
    Some((if negative { -value } else { value }, used + negative as usize))
}

/// A number in any of C's forms (`4096`, `-1`, `0x1f`, `0644`) that makes up all of `text`.
pub fn number(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii();
    if let Some(hex) = text.strip_prefix(b"0x") {
        return u64::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok().map(|value| value as i64);
    }
    let (value, used) = decimal(text)?;
    (used == text.len()).then_some(value)
}

/// A quoted string at the start of `text`: what stands between the quotes (escapes as they are), and whether
/// strace cut it (`"abc"...`).
#[inline]
pub fn quoted(text: &[u8]) -> Option<(&[u8], bool)> {
    if text.first() != Some(&b'"') {
        return None;
    }
    let mut from = 1;
    loop {
        let rest = text.get(from..)?;
        let near = rest.iter().take(NEAR).position(|byte| matches!(byte, b'"' | b'\\'));
        let at = from + near.or_else(|| memchr::memchr2(b'"', b'\\', rest))?;
        if text[at] == b'"' {
            return Some((&text[1..at], text[at + 1..].starts_with(b"...")));
        }
        // An escape: what follows the backslash is no quote.
        from = at + 2;
    }
}

/// Escapes often follow each other closely (`\r\n`): so many bytes are looked at before a search is set up.
const NEAR: usize = 6;

/// The bytes that a quoted string stands for: C escapes undone. Borrowed where there are none.
pub fn unescape(quoted: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if memchr::memchr(b'\\', quoted).is_none() {
        return quoted.into();
    }
    let mut out = Vec::with_capacity(quoted.len());
    unescape_into(quoted, &mut out);
    out.into()
}

/// Appends the bytes that a quoted string stands for.
pub fn unescape_into(quoted: &[u8], out: &mut Vec<u8>) {
    let mut i = 0;
    out.reserve(quoted.len());
    loop {
        let rest = &quoted[i..];
        let near = rest.iter().take(NEAR).position(|byte| *byte == b'\\');
        let Some(plain) = near.or_else(|| memchr::memchr(b'\\', rest)) else { break };
        out.extend_from_slice(&quoted[i..i + plain]);
        i += plain + 1;
        let Some(&escape) = quoted.get(i) else {
            out.push(b'\\');
            return;
        };
        i += 1;
        match escape {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'v' => out.push(0x0b),
            b'f' => out.push(0x0c),
            b'x' => {
                let digits = &quoted[i..quoted.len().min(i + 2)];
                let used = digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
                let text = std::str::from_utf8(&digits[..used]).unwrap_or("");
                out.push(u8::from_str_radix(text, 16).unwrap_or(b'x'));
                i += used;
            }
            b'0'..=b'7' => {
                let mut value = (escape - b'0') as u32;
                let mut used = 1;
                while used < 3 && quoted.get(i).is_some_and(|byte| (b'0'..=b'7').contains(byte)) {
                    value = value * 8 + (quoted[i] - b'0') as u32;
                    i += 1;
                    used += 1;
                }
                out.push(value as u8);
            }
            other => out.push(other),
        }
    }
    out.extend_from_slice(&quoted[i..]);
}

/// Bytes kept of one text: `PATH_MAX` (linux/limits.h).
pub const MAX_TEXT: usize = 4096;

/// The bytes as text, damage replaced, cut at [`MAX_TEXT`].
pub fn bounded(bytes: &[u8]) -> String {
    let mut text = lossy(bytes.get(..MAX_TEXT).unwrap_or(bytes));
    // A damaged byte grows to three.
    if text.len() > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
    }
    text
}

/// Text for people: the bytes as UTF-8, damage replaced.
pub fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn commas_inside_strings_brackets_and_annotations_do_not_split() {
        let args: Vec<_> = arguments(br#"3</a,b>, "x, \"y\"", {a=1, b=[2, 3]}, NULL"#).collect();
        assert_eq!(args, [&b"3</a,b>"[..], br#""x, \"y\"""#, b"{a=1, b=[2, 3]}", b"NULL"]);
        assert_eq!(arguments(b"").count(), 0);
        assert_eq!(arguments(b"5<TCP:[1.2.3.4:5->6.7.8.9:80]>, 0").count(), 2);
    }

    #[test]
    fn descriptors_with_and_without_annotation() {
        assert_eq!(descriptor(b"3, "), Some((3, None)));
        assert_eq!(descriptor(b"3</x>y>, "), Some((3, Some(&b"/x"[..]))));
        assert_eq!(
            descriptor(b"1</dev/pts/0<char 136:0>>, "),
            Some((1, Some(&b"/dev/pts/0<char 136:0>"[..])))
        );
        assert_eq!(
            descriptor(b"4<TCP:[1.2.3.4:5->6.7.8.9:80]>"),
            Some((4, Some(&b"TCP:[1.2.3.4:5->6.7.8.9:80]"[..])))
        );
        let unix = br#"4<UNIX-STREAM:[7->9,"/run/a>b\".sock"]>, "a]>", 4"#;
        assert_eq!(descriptor(unix), Some((4, Some(&br#"UNIX-STREAM:[7->9,"/run/a>b\".sock"]"#[..]))));
        let named = br#"4<UNIX-STREAM:[7->9,@"x"]>, 2"#;
        assert_eq!(descriptor(named), Some((4, Some(&br#"UNIX-STREAM:[7->9,@"x"]"#[..]))));
        assert_eq!(descriptor(br#"4<UNIX:[7,"never closed]>"#), Some((4, None)));
        assert_eq!(descriptor(br#"4<socket:[12]>, "a]>""#), Some((4, Some(&b"socket:[12]"[..]))));
        assert_eq!(descriptor(br#"4<x, "a">"#), Some((4, None)));
        assert_eq!(descriptor(b"AT_FDCWD"), None);
        assert_eq!(descriptor(b"-1, "), Some((-1, None)));
    }

    #[test]
    fn escapes() {
        assert_eq!(&*unescape(br"a\n\x41\101\0b\\\q"), b"a\nAA\0b\\q");
        assert_eq!(quoted(br#""a\"b"..., 5"#), Some((&br#"a\"b"#[..], true)));
        assert_eq!(quoted(br#""never closed"#), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = arguments(&bytes).count();
            let _ = descriptor(&bytes);
            let _ = quoted(&bytes);
            let _ = unescape(&bytes);
            let _ = number(&bytes);
        }
    }
}
