//! SQL: a query of PostgreSQL or MySQL with all literals replaced by `?`.

use super::is_token;

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
    "DROP",
    "EXECUTE",
    "EXPLAIN",
    "FETCH",
    "GRANT",
    "INSERT",
    "LISTEN",
    "LOCK",
    "MERGE",
    "NOTIFY",
    "PREPARE",
    "REPLACE",
    "ROLLBACK",
    "SAVEPOINT",
    "SELECT",
    "SET",
    "SHOW",
    "START",
    "TRUNCATE",
    "UPDATE",
    "USE",
    "VACUUM",
    "WITH",
];

/// The head of a message that carries a query, and the query without literals.
pub(super) fn query(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let head = match bytes {
        // PostgreSQL, protocol 3: Query, and Parse with the name of a statement before the query.
        [b'Q', _, _, _, _, ..] => 5,
        [b'P', _, _, _, _, rest @ ..] => 6 + memchr::memchr(0, rest)?,
        // MySQL: length, sequence 0, COM_QUERY or COM_STMT_PREPARE.
        [_, _, _, 0, 0x03 | 0x16, ..] => 5,
        _ => return None,
    };
    let text = bytes.get(head..)?;
    // PostgreSQL ends a query with a NUL; MySQL says its length before it, and so of the command byte.
    let length = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) as usize;
    let whole = head == 5 && bytes[0] != b'Q' && text.len() + 1 == length;
    let verb = text.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(text.len());
    if !VERBS.iter().any(|known| text[..verb].eq_ignore_ascii_case(known.as_bytes())) {
        return None;
    }
    // The name of a statement is the program's own, but may be anything: it is left out.
    out.extend_from_slice(&bytes[..5]);
    if bytes[0] == b'P' {
        out.push(0);
    }
    without_literals(text, whole, out);
    out.truncate(out.trim_ascii_end().len());
    Some(())
}

/// Copies words and signs; writes `?` for strings, numbers and what looks like a token; leaves comments out.
fn without_literals(text: &[u8], whole: bool, out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        if out.len() > super::MAX_REDUCED * 2 {
            return;
        }
        rest = match byte {
            0 => return,
            b'\'' | b'"' | b'`' => {
                out.push(b'?');
                behind_string(behind, byte)
            }
            b'$' => {
                out.push(b'?');
                behind_dollar(behind)
            }
            b'-' if behind.first() == Some(&b'-') => behind_line(behind),
            b'#' => behind_line(behind),
            b'/' if behind.first() == Some(&b'*') => match memchr::memmem::find(&behind[1..], b"*/") {
                Some(end) => &behind[end + 3..],
                None => return,
            },
            _ if is_word(&byte) => word(rest, whole, out),
            b' '..=b'~' => {
                out.push(byte);
                behind
            }
            b'\t' | b'\n' | b'\r' => {
                out.push(b' ');
                behind
            }
            // No text: it is not what it looked like.
            _ => return,
        };
    }
}

fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// Copies a word; a number or a token becomes `?`, and the last word of a query that is not whole: it may be the first
/// of a token. A letter before a quote belongs to a string.
fn word<'a>(rest: &'a [u8], whole: bool, out: &mut Vec<u8>) -> &'a [u8] {
    let length = rest.iter().position(|byte| !is_word(byte)).unwrap_or(rest.len());
    let (word, behind) = rest.split_at(length);
    if word[0].is_ascii_digit() {
        out.push(b'?');
        // The rest of 1.5e-3.
        let fraction =
            behind.iter().position(|byte| !(is_word(byte) || *byte == b'.')).unwrap_or(behind.len());
        return if behind.first() == Some(&b'.') { &behind[fraction..] } else { behind };
    }
    let is_prefix = word.len() == 1 && behind.first() == Some(&b'\'');
    if is_token(word) || behind.is_empty() && !whole {
        out.push(b'?');
    } else if !is_prefix {
        out.extend_from_slice(word);
    }
    behind
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
    let length = rest.iter().position(|byte| !is_word(byte)).unwrap_or(rest.len());
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
