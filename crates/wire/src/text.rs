//! What differs from request to request is taken out of names, and what may be a secret.

use crate::MAX_TEXT;

/// Stands for what was left out at the end.
pub const CUT: char = '…';

/// What a byte is, a bit for each answer, so that a text is gone through once.
const DIGIT: u8 = 1;
const LETTER: u8 = 1 << 1;
const HEX: u8 = 1 << 2;
const STAR: u8 = 1 << 3;
/// Stands between the words of a path.
const IN_PATH: u8 = 1 << 4;
/// Stands between the words of a key.
const IN_KEY: u8 = 1 << 5;
/// Stands between words that may be tokens.
const IN_TEXT: u8 = 1 << 6;

static KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        let is_word =
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'%' | b'=' | b'+' | b'~' | 0x80..);
        kinds[at] = (byte.is_ascii_digit() as u8 * DIGIT)
            | (byte.is_ascii_alphabetic() as u8 * LETTER)
            | (byte.is_ascii_hexdigit() as u8 * HEX)
            | ((byte == b'*') as u8 * STAR)
            | (matches!(byte, b'/' | b'.' | b',' | b':') as u8 * IN_PATH)
            | (matches!(byte, b':' | b'/' | b'.' | b'|' | b',' | b'{' | b'}') as u8 * IN_KEY)
            | (!is_word as u8 * IN_TEXT);
        at += 1;
    }
    kinds
};

/// Appends the route of a request's target: without its query, `{id}` for numbers, uuids, hexadecimal and what looks like
/// a token. `/user/relations/123?full=1` is `/user/relations/{id}`. Versions (`/v1`) stay. `cut`: more of the target may
/// follow. At most [`MAX_TEXT`] bytes are in `out` then.
pub fn route_template(target: &[u8], cut: bool, out: &mut String) {
    let end = path_end(target);
    let cut = cut && end == target.len();
    let last = cut.then_some("");
    replace_words(&target[..end], IN_PATH, last, |word| word.differs().then_some("{id}"), out);
    if cut {
        out.push(CUT);
    }
    shorten(out);
}

/// Where the path of a target ends.
pub fn path_end(target: &[u8]) -> usize {
    memchr::memchr3(b'?', b';', b'#', target).unwrap_or(target.len())
}

/// Appends the pattern of a key: each part between `:`, `/`, `.`, `|` and `,` that is a number, a uuid or looks like a
/// token is `{…}`. `relation:series:1234:check` is `relation:series:{…}:check`. Words stay even where they differ from
/// request to request, as names of people do: nothing tells them from names of fields. At most [`MAX_TEXT`] bytes are
/// in `out` then.
pub fn key_pattern(key: &[u8], cut: bool, out: &mut String) {
    // A part in braces is what Redis Cluster hashes.
    replace_words(key, IN_KEY, cut.then_some(""), |word| word.differs().then_some("{…}"), out);
    if cut {
        out.push(CUT);
    }
    shorten(out);
}

/// Appends `text` with `*` for what looks like a token; `cut` where the text may go on behind its end, so that the last
/// part of it is not judged by its length but left out. What is left is at most [`MAX_TEXT`] bytes.
pub fn without_tokens(text: &[u8], cut: bool, out: &mut String) {
    replace_words(text, IN_TEXT, cut.then_some("*"), |word| word.is_token().then_some("*"), out);
    shorten(out);
}

/// A word, by what it is made of.
#[derive(Default)]
struct Word {
    length: usize,
    digits: usize,
    letters: usize,
    /// What all of its bytes are.
    all: u8,
    /// What any of its bytes is.
    any: u8,
}

impl Word {
    /// The word that `text` begins with, and what its bytes are not: any of `between`.
    #[inline]
    fn read(text: &[u8], between: u8) -> Word {
        let mut word = Word { all: !0, ..Word::default() };
        for byte in text {
            let kind = KINDS[usize::from(*byte)];
            if kind & between != 0 {
                break;
            }
            word.length += 1;
            word.digits += usize::from(kind & DIGIT != 0);
            word.letters += usize::from(kind & LETTER != 0);
            word.all &= kind;
            word.any |= kind;
        }
        word
    }

    fn is_token(&self) -> bool {
        (self.length >= 10 && self.digits >= 2 && self.letters >= 2) || self.length >= 32
    }

    /// True for a part of a path or a key that names one thing among many: a number, a uuid, hexadecimal, a token, or a
    /// word with a number in it (`user123`), but not a version or a kind (`v1`, `s3`, `oauth2`, `utf8`).
    fn differs(&self) -> bool {
        if self.any & STAR != 0 {
            // What was left of a token.
            return true;
        }
        let is_long_hex = self.length >= 8 && self.all & HEX != 0;
        if self.digits == 0 {
            return self.length >= 32 || is_long_hex;
        }
        let others = self.length - self.digits;
        others == 0 || self.digits >= 3 || self.digits > others || self.is_token() || is_long_hex
    }
}

/// Appends `text` with other words for those of which `instead` says so, and for the `last` one where nothing follows it.
fn replace_words(
    text: &[u8],
    between: u8,
    last: Option<&'static str>,
    instead: impl Fn(&Word) -> Option<&'static str>,
    out: &mut String,
) {
    let mut rest = text;
    let mut kept = 0;
    loop {
        let gap = rest.iter().take_while(|byte| KINDS[usize::from(**byte)] & between != 0).count();
        kept += gap;
        rest = &rest[gap..];
        if rest.is_empty() {
            break;
        }
        let word = Word::read(rest, between);
        let is_last = word.length == rest.len();
        rest = &rest[word.length..];
        match last.filter(|_| is_last).or_else(|| instead(&word)) {
            None => kept += word.length,
            Some(other) => {
                let end = text.len() - rest.len() - word.length;
                put(&text[end - kept..end], out);
                out.push_str(other);
                kept = 0;
            }
        }
    }
    put(&text[text.len() - kept..], out);
}

/// Longer than the words of a path, a key or a query are, or of letters and digits mixed as no word is. Numbers alone
/// are ids, not tokens.
pub fn is_token(word: &[u8]) -> bool {
    Word::read(word, 0).is_token()
}

/// Appends bytes as text that fits on a line.
fn put(bytes: &[u8], out: &mut String) {
    let is_plain = bytes.iter().fold(true, |all, byte| all & matches!(byte, b' '..=b'~'));
    match std::str::from_utf8(bytes) {
        Ok(text) if is_plain || !text.chars().any(char::is_control) => out.push_str(text),
        _ => out.extend(
            String::from_utf8_lossy(bytes).chars().map(|one| if one.is_control() { '?' } else { one }),
        ),
    }
}

/// Cuts a text that is too long, and says so at its end.
pub(crate) fn shorten(out: &mut String) {
    if out.len() > MAX_TEXT {
        out.truncate(out.floor_char_boundary(MAX_TEXT - CUT.len_utf8()));
        out.push(CUT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn route(target: &str) -> String {
        let mut out = String::new();
        route_template(target.as_bytes(), false, &mut out);
        out
    }

    fn pattern(key: &str) -> String {
        let mut out = String::new();
        key_pattern(key.as_bytes(), false, &mut out);
        out
    }

    #[test]
    fn routes() {
        for (target, expected) in [
            ("/", "/"),
            ("/user/relations/123", "/user/relations/{id}"),
            ("/api/v1/users/42/posts?page=3&token=abc", "/api/v1/users/{id}/posts"),
            ("/a/550e8400-e29b-41d4-a716-446655440000/b", "/a/{id}/b"),
            ("/static/app.3f2a9c81.js", "/static/app.{id}.js"),
            ("/commit/deadbeefcafe", "/commit/{id}"),
            ("/oauth2/token", "/oauth2/token"),
            ("/u/user123;jsessionid=1", "/u/{id}"),
            ("/feed", "/feed"),
        ] {
            assert_eq!(route(target), expected);
        }
        let mut out = String::new();
        route_template(b"/user/12", true, &mut out);
        assert_eq!(out, "/user/…");
    }

    #[test]
    fn keys() {
        for (key, expected) in [
            ("relation:series:1234:check", "relation:series:{…}:check"),
            ("user:7", "user:{…}"),
            ("session:9f8e7d6c5b4a39281706", "session:{…}"),
            ("config", "config"),
            ("{user:17}:cart", "{user:{…}}:cart"),
            ("a\nb\x1b[31m", "a?b?[31m"),
        ] {
            assert_eq!(pattern(key), expected);
        }
    }

    #[test]
    fn tokens() {
        let mut out = String::new();
        without_tokens(b"/reset/9f8e7d6c5b4a39281706/x", true, &mut out);
        assert_eq!(out, "/reset/*/*");
    }

    proptest! {
        #[test]
        fn any_bytes_make_a_line(bytes in prop::collection::vec(any::<u8>(), 0..700), cut in any::<bool>()) {
            for make in [route_template, key_pattern, without_tokens] {
                let mut out = String::new();
                make(&bytes, cut, &mut out);
                prop_assert!(out.len() <= MAX_TEXT && !out.chars().any(char::is_control));
            }
        }
    }
}
