//! Lines in NCSA's order: common, combined, and what servers put before and behind them.
//!
//! ```text
//! [vhost:port] client ident user [time] "request" status bytes ["referer" "agent"] [more …]
//! ```
//! What is behind is told by its form: `name=value`, nginx's times, Apache's `%T/%D`; or, where there are as many
//! fields and of the forms as the ingress controller of Kubernetes writes them, by its order (its documentation,
//! "Log format": length, time, `[upstream]`, `[alternative]`, address, length, time, status, id).

use super::fields::{Family, set};
use super::times::{self, Doubts};
use super::{Entry, Not, status, value};
use std::borrow::Cow;
use whyslow_model::Nanos;

/// Fields looked at in one line.
const MOST: usize = 64;

pub(super) fn parse<'a>(line: &'a [u8], doubts: &mut Doubts) -> Result<Entry<'a>, Not> {
    let tokens = tokens(line);
    let time = tokens.iter().take(8).position(|token| token.kind == Kind::Brackets).ok_or(Not::Request)?;
    let [date, request, code, rest @ ..] = tokens.get(time..).unwrap_or_default() else {
        return Err(not(line, "[time] \"request\" status bytes"));
    };
    let Some((at, whole_second)) = times::timestamp(date.text) else {
        return Err(not(line, "[day/month/year:hour:minute:second zone]"));
    };
    if request.kind != Kind::Quoted {
        return Err(not(line, "a request in quotation marks behind the time"));
    }
    let Some(code) = status(code.text) else { return Err(not(line, "a status of three digits")) };
    let mut entry = Entry { at, whole_second, status: Some(code), ..Entry::default() };
    doubts.whole_seconds += u64::from(whole_second);
    // `client ident user`, perhaps with the virtual host before them; a user's name may have spaces.
    let lead = tokens.get(..time).unwrap_or_default();
    let text = |at: usize| lead.get(at).and_then(|token| value(token.text)).map(Cow::Borrowed);
    entry.client =
        text(usize::from(lead.len() == 4 && lead.get(1).is_some_and(|token| is_address(token.text))));
    if lead.len() == 4 && entry.client != text(0) {
        entry.host = text(0);
    }
    entry.set_request(Cow::Borrowed(request.text));
    entry.answer_bytes = rest.first().and_then(|token| times::number(token.text));
    let more = match rest.get(1..).unwrap_or_default() {
        [referer, agent, more @ ..] if referer.kind == Kind::Quoted && agent.kind == Kind::Quoted => more,
        more => more,
    };
    if !ingress(more, &mut entry) {
        behind(more, &mut entry, doubts);
    }
    Ok(entry)
}

/// A line without a request's marks is something else.
fn not(line: &[u8], expected: &'static str) -> Not {
    match memchr::memmem::find(line, b"HTTP/").is_some() {
        true => Not::Damaged(expected),
        false => Not::Request,
    }
}

fn is_address(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<std::net::IpAddr>().is_ok())
}

/// The fields of the ingress controller, where they are all there.
fn ingress<'a>(more: &[Token<'a>], entry: &mut Entry<'a>) -> bool {
    let [length, time, name, alternative, address, _, behind, code, ..] = more else { return false };
    let fits = name.kind == Kind::Brackets
        && alternative.kind == Kind::Brackets
        && times::has_three_decimals(time.text)
        && times::number(length.text).is_some();
    if fits {
        entry.request_bytes = times::number(length.text);
        entry.dur = times::nginx_seconds(time.text);
        entry.upstream.addresses = Cow::Borrowed(address.text);
        entry.upstream.times = Cow::Borrowed(behind.text);
        entry.upstream.statuses = Cow::Borrowed(code.text);
    }
    fits
}

/// Fields of which only the form tells what they are.
fn behind<'a>(more: &[Token<'a>], entry: &mut Entry<'a>, doubts: &mut Doubts) {
    let mut figures: Vec<(Nanos, &'a [u8])> = Vec::new();
    let mut whole_numbers = 0;
    for token in more {
        if let Some(name) = token.name {
            set(entry, name, Cow::Borrowed(token.text), Family::Nginx, doubts);
            continue;
        }
        let list = super::parts(token.text);
        if !list.is_empty() && list.iter().all(|part| times::has_three_decimals(part) || *part == b"-") {
            let known = list.iter().filter_map(|part| times::nginx_seconds(part).get());
            figures.push((Nanos::new(known.fold(0, u64::saturating_add)), token.text));
        } else if let Some(dur) = times::seconds_and_micros(without_stars(token.text)) {
            entry.dur = dur;
            doubts.seconds_and_micros += 1;
        } else if let Some(dur) = times::with_unit(token.text).filter(|_| token.kind == Kind::Bare) {
            entry.dur = dur;
        } else if token.kind == Kind::Bare && times::number(token.text).is_some() {
            whole_numbers += 1;
        }
    }
    if entry.dur.is_known() {
        return;
    }
    figures.sort_by_key(|(dur, _)| std::cmp::Reverse(*dur));
    if let Some((dur, text)) = figures.first()
        && times::has_three_decimals(text)
    {
        entry.dur = *dur;
        doubts.by_decimals += 1;
        if let Some((_, text)) = figures.get(1).filter(|_| entry.upstream.times.is_empty()) {
            entry.upstream.times = Cow::Borrowed(text);
            doubts.by_size += 1;
        }
    } else if whole_numbers > 0 {
        doubts.whole_numbers += 1;
    }
}

/// `**0/123456**`: a custom of those who look for it in long lines.
fn without_stars(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"**").and_then(|text| text.strip_suffix(b"**")).unwrap_or(text)
}

/// How a field is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Bare,
    Quoted,
    Brackets,
}

/// One field. Its text is without quotation marks or brackets; `name` is what stands before an equals sign.
#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Kind,
    name: Option<&'a [u8]>,
    text: &'a [u8],
}

/// The fields of a line. A list (`10.0.0.1:80, 10.0.0.2:80`) is one field.
fn tokens(line: &[u8]) -> Vec<Token<'_>> {
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
