//! Times and durations of access logs, and what of them is in doubt.
//!
//! Durations are taken where their unit is sure: by the name of the field (`request_time` of nginx is in seconds,
//! `reqtime_microsec` of LTSV in microseconds), by a unit behind the figure (`12ms`), or by a form that only one
//! directive writes: nginx's times are seconds with three decimals, and Apache's `%T/%D` shows seconds and microseconds
//! side by side, which must agree. A whole number by itself may be microseconds (`%D`), milliseconds (`%{ms}T`) or seconds
//! (`%T`): it is no duration.

use whyslow_model::time::days_of_civil;
use whyslow_model::{Nanos, Timestamp};

const SECOND: u64 = 1_000_000_000;

/// What was taken for sure though another log could mean something else, or was not taken: told once a source.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubts {
    /// Figures with three decimals behind the usual fields, the largest taken for the request's time.
    pub(super) by_decimals: u64,
    /// Of these, lines with more than one: the next is that of the server behind.
    pub(super) by_size: u64,
    /// `%T/%D` that agree.
    pub(super) seconds_and_micros: u64,
    /// Whole numbers that may be a duration.
    pub(super) whole_numbers: u64,
    /// The first field that names a duration without a unit.
    pub(super) no_unit: Option<String>,
    /// Lines whose time is known to the second only.
    pub(super) whole_seconds: u64,
}

impl Doubts {
    /// A duration whose unit nothing tells.
    pub(super) fn without_unit(&mut self, name: &[u8]) {
        self.no_unit.get_or_insert_with(|| String::from_utf8_lossy(name).into_owned());
    }

    /// In words.
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.by_decimals > 0 {
            let behind = match self.by_size {
                0 => "",
                _ => {
                    "; where there are more, the next smaller one is that of the server behind, as nginx's \
                      $upstream_response_time is never longer"
                }
            };
            remarks.push(format!(
                "the largest figure with three decimals behind the usual fields is taken for the time of the request in \
                 seconds, as nginx writes $request_time{behind}"
            ));
        }
        if self.seconds_and_micros > 0 {
            remarks
                .push("N/N is taken for Apache's %T/%D, seconds and microseconds: the two agree".to_string());
        }
        if self.whole_numbers > 0 {
            remarks.push(format!(
                "{} lines end in a whole number that may be a duration in microseconds (Apache's %D), milliseconds or \
                 seconds: durations are not known; log %T/%D, or name the field (reqtime_microsec=%D)",
                self.whole_numbers
            ));
        }
        if let Some(name) = &self.no_unit {
            remarks.push(format!(
                "`{name}` tells no unit: durations are not known; name it with its unit ({name}_ms, {name}_s)"
            ));
        }
        if self.whole_seconds > 0 {
            remarks.push(
                "the time of a line is known to the second: requests of one second have no order".to_string(),
            );
        }
        remarks
    }
}

/// A point in time in any form that logs have, and whether it is known to whole seconds only.
pub(in crate::formats) fn timestamp(text: &[u8]) -> Option<(Timestamp, bool)> {
    clf(text).or_else(|| iso(text)).or_else(|| epoch(text))
}

/// `06/Sep/2015:05:58:05 +0900` (the common log format's, strftime `%d/%b/%Y:%H:%M:%S %z`), perhaps with a fraction.
fn clf(text: &[u8]) -> Option<(Timestamp, bool)> {
    const MONTHS: [&[u8; 3]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    let (date, rest) = text.split_at_checked(11)?;
    let [d1, d2, b'/', m1, m2, m3, b'/', year @ ..] = date else { return None };
    let month = MONTHS.iter().position(|month| **month == [*m1, *m2, *m3])? as u32 + 1;
    let day = days(number(year)?, month, number(&[*d1, *d2])? as u32)?;
    moment(day, rest.strip_prefix(b":")?)
}

/// `2015-09-06T05:58:05+09:00` (nginx's $time_iso8601), with a fraction or without, `Z` or an offset.
fn iso(text: &[u8]) -> Option<(Timestamp, bool)> {
    let (date, rest) = text.split_at_checked(10)?;
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = date else { return None };
    let year = number(&[*y1, *y2, *y3, *y4])?;
    let day = days(year, number(&[*m1, *m2])? as u32, number(&[*d1, *d2])? as u32)?;
    moment(day, rest.strip_prefix(b"T").or_else(|| rest.strip_prefix(b" "))?)
}

fn days(year: u64, month: u32, day: u32) -> Option<i64> {
    let sane = (1970..=2200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    sane.then(|| days_of_civil(year as i64, month, day))
}

/// `05:58:05.123 +0900` on a day.
fn moment(day: i64, text: &[u8]) -> Option<(Timestamp, bool)> {
    let (clock, rest) = text.split_at_checked(8)?;
    let [h1, h2, b':', m1, m2, b':', s1, s2] = clock else { return None };
    let (hour, minute, second) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?, number(&[*s1, *s2])?);
    // 60: a leap second.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, zone) = match rest.strip_prefix(b".").or_else(|| rest.strip_prefix(b",")) {
        Some(rest) => {
            let end = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
            let (digits, zone) = rest.split_at(end);
            (Some(fraction(digits)?), zone)
        }
        None => (None, rest),
    };
    let seconds = day * 86_400 + (hour * 3_600 + minute * 60 + second) as i64 - offset(zone.trim_ascii())?;
    let seconds = u64::try_from(seconds).ok()?;
    let ns = seconds.checked_mul(SECOND)?.checked_add(fraction.unwrap_or(0))?;
    Some((Timestamp::new(ns), fraction.is_none()))
}

/// Seconds east of Greenwich: `+0900`, `-05:00`, `Z`. Without one the time would be a guess.
fn offset(zone: &[u8]) -> Option<i64> {
    let (sign, digits) = match zone {
        b"Z" | b"UTC" => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let [h1, h2, m1, m2] = match digits {
        [h1, h2, b':', m1, m2] | [h1, h2, m1, m2] => [*h1, *h2, *m1, *m2],
        _ => return None,
    };
    Some(sign * (number(&[h1, h2])? * 3_600 + number(&[m1, m2])? * 60) as i64)
}

/// `1644997905.123`: seconds since the epoch, or milliseconds where it has 13 digits.
fn epoch(text: &[u8]) -> Option<(Timestamp, bool)> {
    let whole = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
    match (whole, text.len()) {
        (10, 10) => Some((Timestamp::new(number(text)?.checked_mul(SECOND)?), true)),
        (10, _) => Some((Timestamp::new(decimal(text, SECOND)?.get()?), false)),
        (13, _) => Some((Timestamp::new(decimal(text, 1_000_000)?.get()?), false)),
        _ => None,
    }
}

/// A duration of nginx: seconds with a fraction (`0.057`); nothing else is one. A JSON writer may have dropped zeros: a
/// bare `0` is none of another unit.
pub(super) fn nginx_seconds(text: &[u8]) -> Nanos {
    if text.contains(&b'.') || text == b"0" {
        decimal(text, SECOND).unwrap_or_default()
    } else {
        Nanos::UNKNOWN
    }
}

/// True for a figure as only nginx writes it: seconds with three decimals.
pub(super) fn has_three_decimals(text: &[u8]) -> bool {
    let Some(at) = text.iter().position(|byte| *byte == b'.') else { return false };
    at > 0
        && text.len() == at + 4
        && text.iter().enumerate().all(|(i, byte)| i == at || byte.is_ascii_digit())
}

/// `0/123456`: Apache's `%T/%D`, where the microseconds agree with the seconds.
pub(super) fn seconds_and_micros(text: &[u8]) -> Option<Nanos> {
    let at = text.iter().position(|byte| *byte == b'/')?;
    let (seconds, micros) = (number(text.get(..at)?)?, number(text.get(at + 1..)?)?);
    (micros / 1_000_000 == seconds).then(|| Nanos::new(micros.saturating_mul(1_000)))
}

/// A duration with its unit behind it, as Go and Envoy write it: `12ms`, `1.5s`, `350µs`.
pub(super) fn with_unit(text: &[u8]) -> Option<Nanos> {
    let at = text.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
    let (figure, unit) = text.split_at(at);
    decimal(figure, unit_of(unit)?)
}

/// The unit of that name, ns.
pub(super) fn unit_of(name: &[u8]) -> Option<u64> {
    match name {
        b"ns" | b"nsec" | b"nanos" | b"nanoseconds" => Some(1),
        b"us" | b"\xc2\xb5s" | b"\xce\xbcs" | b"usec" | b"micros" | b"microsec" | b"microseconds" => {
            Some(1_000)
        }
        b"ms" | b"msec" | b"millis" | b"milliseconds" => Some(1_000_000),
        b"s" | b"sec" | b"secs" | b"second" | b"seconds" => Some(SECOND),
        _ => None,
    }
}

/// A decimal number of `unit` nanoseconds; `None` for anything else, and for more than a year.
pub(super) fn decimal(text: &[u8], unit: u64) -> Option<Nanos> {
    let (whole, rest) = match text.iter().position(|byte| *byte == b'.') {
        Some(at) => (text.get(..at)?, text.get(at + 1..)?),
        None => (text, &b"0"[..]),
    };
    let of_fraction = (u128::from(fraction(rest)?) * u128::from(unit) / u128::from(SECOND)) as u64;
    let ns = number(whole)?.checked_mul(unit)?.checked_add(of_fraction)?;
    (ns != u64::MAX).then_some(Nanos::new(ns))
}

/// Digits behind a point, as parts of a thousand million.
fn fraction(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some((0..9).fold(0, |sum, at| sum * 10 + u64::from(digits.get(at).map_or(0, |digit| digit - b'0'))))
}

/// A whole number.
pub(super) fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}
