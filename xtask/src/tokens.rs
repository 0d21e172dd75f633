//! Rust source as words and marks: comments taken away, strings kept as one token each.

/// A word, a mark, a literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token<'t> {
    /// Its text; of a string all of it.
    pub(crate) text: &'t str,
    /// The line that it begins on, from 1.
    pub(crate) line: usize,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A name, a keyword, a lifetime, a number.
    Word,
    /// One mark, but `::` as a whole.
    Mark,
    /// A string of any kind.
    Text,
    /// A character or byte.
    Letter,
}

impl Token<'_> {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.kind != Kind::Text && self.text == text
    }
}

/// The tokens of a file.
pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let (length, kind) = if first.is_whitespace() {
            (first.len_utf8(), None)
        } else if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), None)
        } else if rest.starts_with("/*") {
            (block_comment(rest), None)
        } else if let Some(length) = text_length(rest) {
            (length, Some(Kind::Text))
        } else if let Some(length) = letter_length(rest) {
            (length, Some(Kind::Letter))
        } else if is_of_word(first) || first == '\'' {
            let behind = rest.char_indices().skip(1).find(|(_, letter)| !is_of_word(*letter));
            (behind.map_or(rest.len(), |(end, _)| end), Some(Kind::Word))
        } else if rest.starts_with("::") {
            (2, Some(Kind::Mark))
        } else {
            (first.len_utf8(), Some(Kind::Mark))
        };
        let text = &rest[..length];
        if let Some(kind) = kind {
            found.push(Token { text, line, kind });
        }
        line += text.matches('\n').count();
        at += length;
    }
    found
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Comments nest.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// The length of the string that `rest` begins with, if it does.
fn text_length(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        let behind = rest.strip_prefix(*prefix);
        let behind =
            if prefix.ends_with('r') { behind.map(|text| text.trim_start_matches('#')) } else { behind };
        behind.is_some_and(|text| text.starts_with('"'))
    })?;
    if prefix.ends_with('r') {
        let marks = rest[prefix.len()..].bytes().take_while(|byte| *byte == b'#').count();
        let from = prefix.len() + marks + 1;
        let end = format!("\"{}", "#".repeat(marks));
        return Some(rest[from..].find(&end).map_or(rest.len(), |at| from + at + end.len()));
    }
    Some(closed_by(rest, prefix.len() + 1, b'"'))
}

/// The length of `'x'`, `b'\n'`; a lifetime is none.
fn letter_length(rest: &str) -> Option<usize> {
    let from = if rest.starts_with("b'") { 2 } else { rest.starts_with('\'').then_some(1)? };
    let mut letters = rest[from..].chars();
    let first = letters.next()?;
    (first == '\\' || letters.next() == Some('\'')).then(|| closed_by(rest, from, b'\''))
}

/// Up to the mark that closes it; a backslash takes the next byte's meaning away.
fn closed_by(rest: &str, from: usize, mark: u8) -> usize {
    let bytes = rest.as_bytes();
    let mut at = from;
    while at < bytes.len() && bytes[at] != mark {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// Without the items that only tests have: those behind `#[cfg(test)]`, and all of a file that begins with `#![cfg(test)]`.
pub(crate) fn without_tests<'t>(tokens: &[Token<'t>]) -> Vec<Token<'t>> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let inner = tokens[at].is("#") && tokens.get(at + 1).is_some_and(|token| token.is("!"));
        let open = at + if inner { 2 } else { 1 };
        if !(tokens[at].is("#") && tokens.get(open).is_some_and(|token| token.is("["))) {
            kept.push(tokens[at]);
            at += 1;
            continue;
        }
        let end = closing(tokens, open);
        if !is_of_tests(&tokens[open..end]) {
            kept.extend_from_slice(&tokens[at..end]);
            at = end;
        } else if inner {
            return Vec::new();
        } else {
            at = behind_item(tokens, end);
        }
    }
    kept
}

/// `[cfg(test)]`, `[cfg(all(test, unix))]`; not `[cfg(not(test))]`, `[cfg(any(test, unix))]`.
fn is_of_tests(attribute: &[Token<'_>]) -> bool {
    let has = |word: &str| attribute.iter().any(|token| token.is(word));
    attribute.get(1).is_some_and(|token| token.is("cfg")) && has("test") && !has("not") && !has("any")
}

/// The place behind the bracket that closes the one at `open`.
fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            _ if token.kind != Kind::Mark => {}
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// The place behind the item, field, arm or statement at `at`, which may have further attributes.
fn behind_item(tokens: &[Token<'_>], mut at: usize) -> usize {
    const ITEMS: [&str; 16] = [
        "fn",
        "mod",
        "use",
        "struct",
        "enum",
        "impl",
        "trait",
        "static",
        "const",
        "type",
        "macro_rules",
        "pub",
        "unsafe",
        "async",
        "extern",
        "union",
    ];
    while tokens.get(at).is_some_and(|token| token.is("#")) {
        at = closing(tokens, at + 1);
    }
    // The commas between an item's parameters are not its end.
    let is_item = tokens.get(at).is_some_and(|token| ITEMS.contains(&token.text));
    let is_use =
        tokens[at..].iter().take_while(|token| !token.is(";") && !token.is("{")).any(|token| token.is("use"));
    while let Some(token) = tokens.get(at) {
        match token.text {
            _ if token.kind != Kind::Mark => at += 1,
            ";" => return at + 1,
            "," if !is_item => return at + 1,
            "}" | ")" | "]" => return at,
            "{" if !is_use => {
                let end = closing(tokens, at);
                // `const X: T = T { … };`
                return end
                    + usize::from(tokens.get(end).is_some_and(|token| token.is(";") || token.is(",")));
            }
            "(" | "[" | "{" => at = closing(tokens, at),
            _ => at += 1,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<&str> {
        tokens(source).iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_are_nothing_and_strings_are_one_token() {
        assert_eq!(words("a // b \"c\n/* d /* e */ f */ g"), ["a", "g"]);
        assert_eq!(
            words(r#"x("use y; // \" z", b"q")"#),
            ["x", "(", r#""use y; // \" z""#, ",", "b\"q\"", ")"]
        );
        assert_eq!(words("r#\"a\"b\"# c br\"\\\" d"), ["r#\"a\"b\"#", "c", "br\"\\\"", "d"]);
        assert_eq!(words("break b\"x\""), ["break", "b\"x\""]);
    }

    #[test]
    fn letters_are_no_lifetimes() {
        assert_eq!(words("'a' '\\'' b'{' &'a str '\"'"), ["'a'", "'\\''", "b'{'", "&", "'a", "str", "'\"'"]);
    }

    #[test]
    fn lines_are_counted_through_strings_and_comments() {
        let found = tokens("a\n\"x\ny\" b /*\n*/ c\n// d\ne");
        let at: Vec<_> = found.iter().map(|token| (token.text, token.line)).collect();
        assert_eq!(at, [("a", 1), ("\"x\ny\"", 2), ("b", 3), ("c", 4), ("e", 6)]);
    }

    #[test]
    fn what_only_tests_have_is_left_out() {
        let left = |source: &str| {
            without_tests(&tokens(source)).iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(left("a; #[cfg(test)] mod tests { use super::*; } b"), "a ; b");
        assert_eq!(left("#[cfg(test)] #[path = \"x\"] mod tests; b"), "b");
        assert_eq!(left("#[cfg(test)] use a::{b, c}; d"), "d");
        assert_eq!(left("#[cfg(test)] pub fn f<A, B>(a: [A; 2]) -> B { g() } d"), "d");
        assert_eq!(left("S { #[cfg(test)] a: f(1, 2), b: 3 }"), "S { b : 3 }");
        assert_eq!(left("#[cfg(test)] const A: S = S { b: 1 }; d"), "d");
        assert_eq!(
            left("#[cfg(not(test))] use a; #[test] fn b() {}"),
            "# [ cfg ( not ( test ) ) ] use a ; # [ test ] fn b ( ) { }"
        );
        assert_eq!(left("#![cfg(test)] use a;"), "");
    }
}
