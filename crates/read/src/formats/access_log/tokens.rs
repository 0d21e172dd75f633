//! A line cut into its fields, as NCSA and those after it write them: bare words, quoted text, brackets, `name=value`.

/// Fields looked at in one line.
const MOST: usize = 64;

/// How a field is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Bare,
    Quoted,
    Brackets,
}

/// One field. Its text is without quotation marks or brackets; `name` is what stands before an equals sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) name: Option<&'a [u8]>,
    pub(super) text: &'a [u8],
}

/// The fields of a line. A list (`10.0.0.1:80, 10.0.0.2:80`) is one field.
pub(super) fn tokens(line: &[u8]) -> Vec<Token<'_>> {
    let mut tokens = Vec::with_capacity(16);
    let mut at = 0;
    while tokens.len() < MOST {
        at += line.get(at..).unwrap_or_default().iter().take_while(|byte| **byte == b' ').count();
        let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) else { break };
        let (token, len) = token(rest);
        tokens.push(token);
        at += len;
    }
    tokens
}

/// The field that `rest` begins with, and its length with its marks.
fn token(rest: &[u8]) -> (Token<'_>, usize) {
    let enclosed = |from: usize, mark: u8| {
        let end = closing(rest.get(from..)?, mark)?;
        Some((rest.get(from..from + end)?, from + end + 1))
    };
    if let Some((text, len)) = rest.starts_with(b"\"").then(|| enclosed(1, b'"')).flatten() {
        return (Token { kind: Kind::Quoted, name: None, text }, len);
    }
    if let Some((text, len)) = rest.starts_with(b"[").then(|| enclosed(1, b']')).flatten() {
        return (Token { kind: Kind::Brackets, name: None, text }, len);
    }
    let word = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
    let equals = rest.get(..word).and_then(|word| word.iter().position(|byte| *byte == b'='));
    let name = equals.filter(|at| is_name(&rest[..*at])).map(|at| &rest[..at]);
    let from = name.map_or(0, |name| name.len() + 1);
    if name.is_some()
        && rest.get(from) == Some(&b'"')
        && let Some((text, len)) = enclosed(from + 1, b'"')
    {
        return (Token { kind: Kind::Quoted, name, text }, len);
    }
    let mut len = word;
    // A list goes on behind its comma, or behind a colon by itself.
    while let Some(behind) = rest.get(len..) {
        let goes_on = rest.get(len - 1) == Some(&b',') && behind.starts_with(b" ");
        let redirected = behind.starts_with(b" : ");
        if len == 0 || !(goes_on || redirected) {
            break;
        }
        let from = len + if redirected { 3 } else { 1 };
        let next = rest.get(from..).unwrap_or_default();
        len = from + next.iter().position(|byte| *byte == b' ').unwrap_or(next.len());
        if next.is_empty() {
            break;
        }
    }
    (Token { kind: Kind::Bare, name, text: rest.get(from..len).unwrap_or_default() }, len.max(1))
}

/// The place of the mark that closes a field; a backslash takes the next byte's meaning away.
fn closing(text: &[u8], mark: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        let found = at + memchr::memchr2(mark, b'\\', text.get(at..)?)?;
        if text[found] == mark {
            return Some(found);
        }
        at = found + 2;
    }
}

/// A name before an equals sign.
fn is_name(text: &[u8]) -> bool {
    !text.is_empty()
        && text.len() <= 40
        && text
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'$' | b'@'))
}

/// `name=value` fields of a line that is all of such; another field among them ends them.
pub(super) fn pairs(line: &[u8]) -> Vec<(&[u8], &[u8])> {
    tokens(line).into_iter().filter_map(|token| Some((token.name?, token.text))).collect()
}
