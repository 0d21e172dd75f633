//! A condition of a rule in plain words: what the code says, without the code.

/// Words of the code that say nothing to who reads the answer.
const SILENT: [&str; 34] = [
    "self",
    "facts",
    "iter",
    "into_iter",
    "as_ref",
    "as_deref",
    "as_mut",
    "get",
    "copied",
    "cloned",
    "collect",
    "unwrap_or_default",
    "unwrap_or",
    "or_zero",
    "as_slice",
    "as_str",
    "f64",
    "u64",
    "usize",
    "as",
    "mut",
    "ref",
    "Some",
    "Ok",
    "clone",
    "to_string",
    "known_process",
    "into",
    "filter",
    "map",
    "then_some",
    "next",
    "flatten",
    "world",
];

/// What stands for a mark or a method.
const SAID: [(&str, &str); 22] = [
    ("&&", "and"),
    ("||", "or"),
    ("==", "is"),
    ("!=", "is not"),
    (">=", "is at least"),
    ("<=", "is at most"),
    (">", "is more than"),
    ("<", "is less than"),
    ("+", "plus"),
    ("-", "minus"),
    ("/", "of"),
    ("is_some", "is known"),
    ("is_none", "is not known"),
    ("is_some_and", "is known and"),
    ("is_none_or", "is not known or"),
    ("is_empty", "is empty"),
    ("any", "has one for which"),
    ("all", "has only such for which"),
    ("contains", "contains"),
    ("starts_with", "starts with"),
    ("None", "nothing"),
    ("in", "among"),
];

/// The condition `code` in words: `row.stats.count >= MIN && peer.is_some()` as `row stats count is at least min and peer is known`.
pub(super) fn in_words(code: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut tokens = Tokens { rest: code }.peekable();
    let mut in_bars = false;
    // Brackets that are open in a `matches!`, whose marks mean other things.
    let mut in_pattern = 0u32;
    let mut is_method = false;
    while let Some(token) = tokens.next() {
        let called = std::mem::replace(&mut is_method, token == ".");
        match token {
            "matches" if tokens.next_if(|next| *next == "!").is_some() => {
                tokens.next();
                in_pattern = 1;
                continue;
            }
            "(" | ")" if in_pattern > 0 => {
                in_pattern = if token == "(" { in_pattern + 1 } else { in_pattern - 1 };
                continue;
            }
            "," | "|" if in_pattern == 1 => {
                words.push(if token == "," { "is" } else { "or" }.to_string());
                continue;
            }
            _ => {}
        }
        // What a closure calls its candidate is said by the conditions on it.
        if token == "|" {
            in_bars = !in_bars;
            continue;
        }
        if in_bars {
            continue;
        }
        // Of `Side::Client` the last part says it.
        if tokens.peek() == Some(&"::") {
            tokens.next();
            continue;
        }
        if token == "let" {
            words.push("there is".to_string());
            while tokens.peek().is_some_and(|next| *next != "=") {
                tokens.next();
            }
            tokens.next();
            continue;
        }
        let is_said = |(mark, _): &&(&str, &str)| {
            *mark == token
                && (called || !mark.starts_with(|letter: char| letter.is_ascii_lowercase()) || *mark == "in")
        };
        match SAID.iter().find(is_said) {
            Some((_, said)) => words.push((*said).to_string()),
            None if token == "!" => words.push("not".to_string()),
            None if SILENT.contains(&token) => {}
            None if token.starts_with('"') => words.push(token.to_string()),
            None if token.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_') => {
                words.push(name(token));
            }
            None if token == "," => words.push("or".to_string()),
            None => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words.dedup();
    let joins = |word: &String| word == "or" || word == "and";
    while words.last().is_some_and(joins) {
        words.pop();
    }
    match words.is_empty() {
        true => "what it looks for".to_string(),
        false => words.join(" "),
    }
}

/// `first_seen` as `first seen`, `MIN_SYNCS` as `min syncs`, `WaitKind` as `wait kind`.
fn name(token: &str) -> String {
    let is_constant = !token.contains(|letter: char| letter.is_ascii_lowercase());
    let mut out = String::with_capacity(token.len() + 4);
    for letter in token.trim_matches('_').chars() {
        if letter == '_' {
            out.push(' ');
            continue;
        }
        let starts = letter.is_ascii_uppercase() && !is_constant && !out.is_empty() && !out.ends_with(' ');
        if starts {
            out.push(' ');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

/// Names, numbers, texts and marks, one by one.
struct Tokens<'c> {
    rest: &'c str,
}

impl<'c> Iterator for Tokens<'c> {
    type Item = &'c str;

    fn next(&mut self) -> Option<&'c str> {
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next()?;
        let of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = if first == '"' {
            self.rest[1..].find('"').map_or(self.rest.len(), |end| end + 2)
        } else if of_name(first) {
            let is_number = first.is_ascii_digit();
            self.rest
                .find(|letter: char| !(of_name(letter) || is_number && letter == '.'))
                .unwrap_or(self.rest.len())
        } else {
            let two = self.rest.get(..2).unwrap_or_default();
            let is_mark = ["&&", "||", "==", "!=", ">=", "<=", "::", "->", "=>", ".."].contains(&two);
            if is_mark { 2 } else { first.len_utf8() }
        };
        let (token, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(token)
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn conditions_read_as_words() {
        for (code, words) in [
            (
                "row.stats.count >= MIN_SYNCS && peer.is_some()",
                "row stats count is at least min syncs and peer is known",
            ),
            ("!self.is_busy(facts)", "not is busy"),
            ("row.side == Side::Server", "row side is server"),
            ("let Some(first) = facts.requests.slowest()", "there is requests slowest"),
            ("rows.iter().any(|row| row.is_late)", "rows has one for which row is late"),
            (
                "share.value.is_none_or(|value| value < WARNING_SHARE)",
                "share value is not known or value is less than warning share",
            ),
            ("matches!(kind, WaitKind::Disk | WaitKind::Lock) && x", "kind is disk or lock and x"),
            ("path.starts_with(\"/proc\")", "path starts with \"/proc\""),
            ("*count as f64 / all.max(1) as f64 > 0.5", "count of all max 1 is more than 0.5"),
            ("self.rows()", "rows"),
            ("\u{e9}\u{2026} \"open", "\u{e9} \"open"),
            ("", "what it looks for"),
        ] {
            assert_eq!(in_words(code), words, "{code}");
        }
    }
}
