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
use super::tokens::{Kind, Token, tokens};
use super::{Entry, Not, status, value};
use std::borrow::Cow;
use whyslow_model::Nanos;

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
