//! The shape of an SQL statement: what differs from request to request, and what may be a secret, is `?`.

use crate::MAX_TEXT;
use crate::text::{CUT, is_token, shorten};

/// Words that statements begin with.
const VERBS: &[&str] = &[
    "ALTER",
    "ANALYZE",
    "BEGIN",
    "CALL",
    "CLOSE",
    "COMMIT",
    "COPY",
    "CREATE",
    "DEALLOCATE",
    "DECLARE",
    "DELETE",
    "DISCARD",
    "DO",
    "DROP",
    "END",
    "EXECUTE",
    "EXPLAIN",
    "FETCH",
    "GRANT",
    "INSERT",
    "KILL",
    "LISTEN",
    "LOAD",
    "LOCK",
    "MERGE",
    "MOVE",
    "NOTIFY",
    "OPTIMIZE",
    "PREPARE",
    "REFRESH",
    "REINDEX",
    "RELEASE",
    "REPLACE",
    "RESET",
    "REVOKE",
    "ROLLBACK",
    "SAVEPOINT",
    "SELECT",
    "SET",
    "SHOW",
    "START",
    "TABLE",
    "TRUNCATE",
    "UNLISTEN",
    "UNLOCK",
    "UPDATE",
    "USE",
    "VACUUM",
    "VALUES",
    "WITH",
];

/// True where the text begins as a statement of SQL does, behind space, brackets and comments.
pub fn is_sql(text: &[u8]) -> bool {
    let mut rest = text;
    loop {
        rest = match rest {
            [b' ' | b'\t' | b'\r' | b'\n' | b'(' | b';', behind @ ..] => behind,
            [b'/', b'*', behind @ ..] => behind_comment(behind),
            [b'-', b'-', behind @ ..] => behind_line(behind),
            _ => break,
        };
    }
    let length = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
    VERBS.iter().any(|verb| rest[..length].eq_ignore_ascii_case(verb.as_bytes()))
}

/// Appends the shape of a statement: literals are `?`, lists of them one `?`, comments are gone, white space is one
/// space. `SELECT name FROM users WHERE id IN (?)`.
///
/// A quoted name stays only where no literal can stand: beside a dot, or behind `FROM` and its like. Elsewhere a double
/// quote may be MySQL's for a string. `cut`: more of the statement may follow, so that its last word may be the beginning
/// of something else; [`CUT`] then ends the shape. A NUL ends the statement. At most [`MAX_TEXT`] bytes are in `out` then.
/// The shape of a shape is itself.
pub fn sql_shape(text: &[u8], cut: bool, out: &mut String) {
    let end = memchr::memchr(0, text);
    let mut shape = Shape { out, from: 0, is_cut: cut && end.is_none() };
    shape.from = shape.out.len();
    shape.write(&text[..end.unwrap_or(text.len())]);
}

struct Shape<'a> {
    out: &'a mut String,
    from: usize,
    is_cut: bool,
}

impl Shape<'_> {
    fn write(&mut self, text: &[u8]) {
        let mut rest = text;
        while let Some((&byte, behind)) = rest.split_first() {
            if self.out.len() > MAX_TEXT {
                return shorten(self.out);
            }
            rest = match byte {
                b'\'' => {
                    self.literal();
                    behind_string(behind, byte)
                }
                b'"' | b'`' => self.quoted(behind, byte),
                b'$' => {
                    self.literal();
                    behind_dollar(behind)
                }
                b'-' if behind.first() == Some(&b'-') => {
                    self.space();
                    behind_line(behind)
                }
                b'#' => {
                    self.space();
                    behind_line(behind)
                }
                // What it parts stays apart.
                b'/' if behind.first() == Some(&b'*') => {
                    self.space();
                    behind_comment(&behind[1..])
                }
                b'?' => {
                    self.literal();
                    behind
                }
                _ if is_word(byte) => self.word(rest),
                b' ' | b'\t' | b'\n' | b'\r' => {
                    self.space();
                    behind
                }
                b')' => {
                    self.close();
                    behind
                }
                b'!'..=b'~' => {
                    if byte == b',' && self.out.ends_with(' ') {
                        self.out.pop();
                    }
                    self.out.push(byte as char);
                    behind
                }
                // Names in other alphabets, as their bytes would differ from screen to screen.
                _ => {
                    self.literal();
                    let length = behind.iter().position(|byte| byte.is_ascii()).unwrap_or(behind.len());
                    &behind[length..]
                }
            };
        }
        let end = self.out.trim_end_matches([' ', ';']).len().max(self.from);
        self.out.truncate(end);
        if self.is_cut {
            self.out.push(CUT);
        }
        shorten(self.out);
    }

    fn so_far(&self) -> &str {
        &self.out[self.from..]
    }

    fn space(&mut self) {
        if !self.out.ends_with([' ', '(']) && self.out.len() > self.from {
            self.out.push(' ');
        }
    }

    /// A literal; in a list of them, no other.
    fn literal(&mut self) {
        let text = self.so_far();
        let list = ["(?,", "(?, "].iter().find(|list| text.ends_with(**list));
        match list {
            Some(list) => self.out.truncate(self.out.len() - (list.len() - 2)),
            // `E'…'`, `?.5`: part of the literal before it.
            None if text.ends_with('?') => {}
            None => self.out.push('?'),
        }
    }

    /// A closing bracket; of rows of literals, one stays.
    fn close(&mut self) {
        if self.out.ends_with(' ') {
            self.out.pop();
        }
        let text = self.so_far();
        let row = ["(?),(?", "(?), (?"].iter().find(|row| text.ends_with(**row));
        let cut = row.map_or(0, |row| row.len() - 2);
        self.out.truncate(self.out.len() - cut);
        self.out.push(')');
    }

    /// A word. A number or a token is a literal, and the last word of a statement that is cut is left out.
    fn word<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let length = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        if behind.is_empty() && self.is_cut {
            return behind;
        }
        if word[0].is_ascii_digit() {
            self.literal();
            // The rest of 1.5e-3.
            let fraction =
                behind.iter().position(|byte| !(is_word(*byte) || *byte == b'.')).unwrap_or(behind.len());
            return if behind.first() == Some(&b'.') { &behind[fraction..] } else { behind };
        }
        // The letter of E'…', X'…', or the name of a character set.
        let is_prefix = behind.first() == Some(&b'\'') && (word.len() == 1 || word[0] == b'_');
        if is_token(word) {
            self.literal();
        } else if !is_prefix {
            self.out.extend(word.iter().map(|byte| *byte as char));
        }
        behind
    }

    /// A name, or a string of MySQL.
    fn quoted<'t>(&mut self, behind: &'t [u8], quote: u8) -> &'t [u8] {
        let length = behind.iter().position(|byte| !is_word(*byte)).unwrap_or(behind.len());
        let name = &behind[..length];
        // What stands without a space beside another word would become a part of it.
        let next = behind.get(length + 1);
        let is_joined = self.so_far().bytes().last().is_some_and(is_word)
            || next.is_some_and(|byte| is_word(*byte) || matches!(byte, b'`' | b'"'));
        let is_name = behind.get(length) == Some(&quote)
            && !is_joined
            && name.first().is_some_and(|first| !first.is_ascii_digit())
            && !is_token(name)
            && (quote == b'`'
                || self.so_far().ends_with('.')
                || behind.get(length + 1) == Some(&b'.')
                || self.is_behind_table_word());
        if is_name {
            self.out.extend(name.iter().map(|byte| *byte as char));
            return &behind[length + 1..];
        }
        self.literal();
        behind_string(behind, quote)
    }

    fn is_behind_table_word(&self) -> bool {
        let Some(text) = self.so_far().strip_suffix(' ') else { return false };
        let word = text.rsplit(|one: char| !one.is_ascii_alphabetic()).next().unwrap_or("");
        ["FROM", "JOIN", "INTO", "UPDATE", "TABLE"].iter().any(|known| word.eq_ignore_ascii_case(known))
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// What follows a string: quotes in it are doubled or behind a backslash.
fn behind_string(mut rest: &[u8], quote: u8) -> &[u8] {
    loop {
        match rest {
            [b'\\', _, behind @ ..] => rest = behind,
            [one, two, behind @ ..] if *one == quote && *two == quote => rest = behind,
            [one, behind @ ..] if *one == quote => return behind,
            [_, behind @ ..] => rest = behind,
            [] => return rest,
        }
    }
}

/// What follows `$1` or `$tag$…$tag$`.
fn behind_dollar(rest: &[u8]) -> &[u8] {
    let length = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
    if rest.get(length) != Some(&b'$') {
        return &rest[length..];
    }
    let (tag, body) = (&rest[..=length], &rest[length + 1..]);
    // The tag with the $ before it closes the string.
    let mut at = 0;
    while let Some(dollar) = memchr::memchr(b'$', &body[at..]) {
        at += dollar + 1;
        if body[at..].starts_with(tag) {
            return &body[at + tag.len()..];
        }
    }
    &[]
}

fn behind_line(rest: &[u8]) -> &[u8] {
    memchr::memchr(b'\n', rest).map_or(&[], |end| &rest[end..])
}

fn behind_comment(rest: &[u8]) -> &[u8] {
    memchr::memmem::find(rest, b"*/").map_or(&[], |end| &rest[end + 2..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape(text: &str, cut: bool) -> String {
        let mut out = String::new();
        sql_shape(text.as_bytes(), cut, &mut out);
        out
    }

    #[test]
    fn shapes() {
        for (text, expected) in [
            ("SELECT name\n  FROM users\twhere id = 42;", "SELECT name FROM users where id = ?"),
            ("select * from t where a in (1, 2,3 ,'x')", "select * from t where a in (?)"),
            ("insert into t (a, b) values (1, 'x'), (2, 'y'),(3,'z')", "insert into t (a, b) values (?)"),
            (
                "SELECT a, 'it''s', 12 FROM t1 WHERE x = $1 AND y=\"z\" -- why",
                "SELECT a, ?, ? FROM t1 WHERE x = ? AND y=?",
            ),
            ("/* trace=1 */ SELECT 1.5e-3, -7, E'\\'x', _utf8'y' # z", "SELECT ?-?, -?, ?, ?"),
            ("SELECT \"u\".\"id\" FROM \"u\" WHERE \"u\".\"id\" = 3", "SELECT u.id FROM u WHERE u.id = ?"),
            ("SELECT `id` FROM `users` WHERE `pw` = \"x\"", "SELECT id FROM users WHERE pw = ?"),
            ("SELECT $a$it$a$, abc FROM x", "SELECT ?, abc FROM x"),
            ("SET app.token = 4f3a9b8c7d6e5f4a", "SET app.token = ?"),
            ("SELECT 1\0SELECT 2", "SELECT ?"),
        ] {
            assert_eq!(shape(text, false), expected);
        }
        assert_eq!(shape("SELECT * FROM use", true), "SELECT * FROM…");
        assert_eq!(shape("SELECT * FROM users WHERE a = 'x", true), "SELECT * FROM users WHERE a = ?…");
        assert!(is_sql(b" /* x */ (select 1)") && !is_sql(b"GET / HTTP/1.1"));
    }

    proptest! {
        #[test]
        fn the_shape_of_a_shape_is_itself(text in "[a-zA-Z0-9 ,()'\"`$?;.=*/_\\\\#\n-]{0,260}") {
            let once = shape(&text, false);
            prop_assert!(once.len() <= MAX_TEXT);
            if once.len() < MAX_TEXT - 4 {
                prop_assert_eq!(shape(&once, false), once.clone());
            }
        }

        #[test]
        fn any_bytes_make_a_line(bytes in prop::collection::vec(any::<u8>(), 0..700), cut in any::<bool>()) {
            let mut out = String::new();
            sql_shape(&bytes, cut, &mut out);
            prop_assert!(out.len() <= MAX_TEXT && !out.chars().any(char::is_control));
        }
    }
}
