//! What differs from request to request is taken out of names, and what may be a secret.

use crate::MAX_TEXT;

/// Stands for what was left out at the end.
pub const CUT: char = '…';

/// Appends the route of a request's target: without its query, `{id}` for numbers, uuids, hexadecimal and what looks like
/// a token. `/user/relations/123?full=1` is `/user/relations/{id}`. Versions (`/v1`) stay. `cut`: more of the target may
/// follow. At most [`MAX_TEXT`] bytes are in `out` then.
pub fn route_template(target: &[u8], cut: bool, out: &mut String) {
    let end = target.iter().position(|byte| matches!(byte, b'?' | b';' | b'#')).unwrap_or(target.len());
    let cut = cut && end == target.len();
    each_part(
        &target[..end],
        |byte| !matches!(byte, b'/' | b'.' | b',' | b':'),
        |part, is_last| match part {
            Part::Between(text) => put(text, out),
            Part::Word(_) if is_last && cut => {}
            Part::Word(word) if differs(word) => out.push_str("{id}"),
            Part::Word(word) => put(word, out),
        },
    );
    if cut {
        out.push(CUT);
    }
    shorten(out);
}

/// Appends the pattern of a key: each part between `:`, `/`, `.`, `|` and `,` that is a number, a uuid or looks like a
/// token is `{…}`. `relation:series:1234:check` is `relation:series:{…}:check`. Words stay even where they differ from
/// request to request, as names of people do: nothing tells them from names of fields. At most [`MAX_TEXT`] bytes are
/// in `out` then.
pub fn key_pattern(key: &[u8], cut: bool, out: &mut String) {
    each_part(
        key,
        |byte| !matches!(byte, b':' | b'/' | b'.' | b'|' | b',' | b'{' | b'}'),
        |part, is_last| {
            match part {
                // A part in braces is what Redis Cluster hashes.
                Part::Between(text) => put(text, out),
                Part::Word(_) if is_last && cut => {}
                Part::Word(word) if differs(word) => out.push_str("{…}"),
                Part::Word(word) => put(word, out),
            }
        },
    );
    if cut {
        out.push(CUT);
    }
    shorten(out);
}

/// Appends `text` with `*` for what looks like a token; `cut` where the text may go on behind its end, so that the last
/// part of it is not judged by its length but left out. What is left is at most [`MAX_TEXT`] bytes.
pub fn without_tokens(text: &[u8], cut: bool, out: &mut String) {
    let is_word = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'%' | b'=' | b'+' | b'~' | 0x80..)
    };
    each_part(text, is_word, |part, is_last| match part {
        Part::Between(text) => put(text, out),
        Part::Word(word) if is_last && cut || is_token(word) => out.push('*'),
        Part::Word(word) => put(word, out),
    });
    shorten(out);
}

enum Part<'a> {
    Word(&'a [u8]),
    Between(&'a [u8]),
}

/// Words and what stands between them, in order; with whether nothing follows.
fn each_part(text: &[u8], is_word: impl Fn(u8) -> bool, mut take: impl FnMut(Part<'_>, bool)) {
    let mut rest = text;
    while let Some(first) = rest.first() {
        let kind = is_word(*first);
        let end = rest.iter().position(|byte| is_word(*byte) != kind).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        take(if kind { Part::Word(part) } else { Part::Between(part) }, behind.is_empty());
        rest = behind;
    }
}

/// Longer than the words of a path, a key or a query are, or of letters and digits mixed as no word is. Numbers alone
/// are ids, not tokens.
pub fn is_token(word: &[u8]) -> bool {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = word.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    (word.len() >= 10 && digits >= 2 && letters >= 2) || word.len() >= 32
}

/// True for a part of a path or a key that names one thing among many: a number, a uuid, hexadecimal, a token, or a word
/// with a number in it (`user123`), but not a version or a kind (`v1`, `s3`, `oauth2`, `utf8`).
fn differs(word: &[u8]) -> bool {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    if word.contains(&b'*') {
        // What was left of a token.
        return true;
    }
    if digits == 0 {
        return word.len() >= 32 || word.len() >= 8 && word.iter().all(u8::is_ascii_hexdigit);
    }
    let others = word.len() - digits;
    others == 0
        || digits >= 3
        || digits > others
        || is_token(word)
        || word.len() >= 8 && word.iter().all(u8::is_ascii_hexdigit)
}

/// Appends bytes as text that fits on a line.
fn put(bytes: &[u8], out: &mut String) {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => out.push_str(text),
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
