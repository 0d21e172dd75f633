//! Times as people write them, in UTC, and the span that a question is about.

use crate::error::FleetError;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

/// Microseconds of a second, a minute, an hour.
pub(crate) const SECOND: i64 = 1_000_000;
pub(crate) const MINUTE: i64 = 60 * SECOND;
pub(crate) const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// From when until when: microseconds of UTC since 1970, the end not in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FleetSpan {
    /// The first moment.
    pub from: i64,
    /// The moment after the last one.
    pub until: i64,
}

impl FleetSpan {
    /// What `--since` and `--until` say: a span before the end, or a time; without an end, `now`.
    ///
    /// # Errors
    /// If one of them cannot be read, or the span ends before it begins.
    pub fn parse(since: &str, until: Option<&str>, now: i64) -> Result<FleetSpan, FleetError> {
        let until = until.map_or(Ok(now), |until| parse_time(until, now))?;
        let from = match parse_duration(since) {
            Some(length) => until.saturating_sub(length),
            None => parse_time(since, until)?,
        };
        match from < until {
            true => Ok(FleetSpan { from, until }),
            false => Err(FleetError::Time { text: format!("from {since} until {}", shown(until)) }),
        }
    }

    /// Its length in microseconds.
    pub fn length(self) -> i64 {
        self.until - self.from
    }

    /// Its hours, as hours since 1970.
    pub(crate) fn hours(self) -> std::ops::RangeInclusive<i64> {
        self.from.div_euclid(HOUR)..=(self.until - 1).div_euclid(HOUR)
    }
}

/// A time: `now`, `03:12` (the last one before `now`), `2026-11-27`, `2026-11-27T03:12[:40][Z]`, or a span before now (`90m`).
///
/// # Errors
/// If it is none of them.
pub fn parse_time(text: &str, now: i64) -> Result<i64, FleetError> {
    let text = text.trim();
    let wrong = || FleetError::Time { text: text.to_string() };
    if text == "now" {
        return Ok(now);
    }
    if let Some(length) = parse_duration(text) {
        return Ok(now.saturating_sub(length));
    }
    if let Ok(stamp) = text.parse::<Timestamp>() {
        return Ok(stamp.as_microsecond());
    }
    let plain = text.strip_suffix('Z').unwrap_or(text);
    if let Ok(time) = plain.parse::<Time>()
        && plain.contains(':')
        && !plain.contains('-')
    {
        let today = Timestamp::from_microsecond(now).map_err(|_| wrong())?.to_zoned(TimeZone::UTC).date();
        let at = micros(today.to_datetime(time)).ok_or_else(wrong)?;
        return Ok(if at > now { at - DAY } else { at });
    }
    if let Ok(date) = plain.parse::<Date>()
        && plain.len() == 10
    {
        return micros(date.at(0, 0, 0, 0)).ok_or_else(wrong);
    }
    plain.replace(' ', "T").parse::<DateTime>().ok().and_then(micros).ok_or_else(wrong)
}

fn micros(time: DateTime) -> Option<i64> {
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_microsecond())
}

/// A length of time: `90s`, `30m`, `24h`, `7d`.
pub fn parse_duration(text: &str) -> Option<i64> {
    let text = text.trim();
    let unit = match text.bytes().last()? {
        b's' => SECOND,
        b'm' => MINUTE,
        b'h' => HOUR,
        b'd' => DAY,
        _ => return None,
    };
    let number = &text[..text.len() - 1];
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse::<i64>().ok().filter(|number| is_number && *number > 0)?.checked_mul(unit)
}

/// A time as it is printed: `2026-11-27 03:12`, in UTC.
pub fn shown(time: i64) -> String {
    Timestamp::from_microsecond(time).map_or_else(
        |_| "?".to_string(),
        |stamp| stamp.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

/// The same for programs: `2026-11-27T03:12:00Z`.
pub(crate) fn stamp(time: i64) -> String {
    Timestamp::from_microsecond(time).map_or_else(|_| String::new(), |stamp| stamp.to_string())
}

/// A length of time in words: `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`.
pub(crate) fn length(micros: i64) -> String {
    let (value, unit, rest, smaller) = match micros {
        _ if micros < MINUTE => return format!("{} s", micros / SECOND),
        _ if micros < HOUR => return format!("{} min", micros / MINUTE),
        _ if micros < DAY => (micros / HOUR, "h", micros % HOUR / MINUTE, "min"),
        _ => (micros / DAY, "d", micros % DAY / HOUR, "h"),
    };
    if rest == 0 { format!("{value} {unit}") } else { format!("{value} {unit} {rest} {smaller}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-27 15:04:05 UTC.
    const NOW: i64 = 1_795_791_845_000_000;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, says) in [
            ("now", "2026-11-27 15:04"),
            ("03:12", "2026-11-27 03:12"),
            ("15:05", "2026-11-26 15:05"),
            ("2026-11-20", "2026-11-20 00:00"),
            ("2026-11-20T03:12", "2026-11-20 03:12"),
            ("2026-11-20 03:12:40", "2026-11-20 03:12"),
            ("2026-11-20T03:12:40Z", "2026-11-20 03:12"),
            ("2026-11-20T03:12:40+01:00", "2026-11-20 02:12"),
            ("24h", "2026-11-26 15:04"),
        ] {
            assert_eq!(shown(parse_time(text, NOW).unwrap()), says, "{text}");
        }
        for text in
            ["", "yesterday", "25:00", "2026-13-01", "-5h", "0h", "h", "99999999999999999d", "3:1:1:1"]
        {
            assert!(parse_time(text, NOW).is_err(), "{text}");
        }
    }

    #[test]
    fn a_span_has_the_hours_that_it_touches() {
        let span = FleetSpan::parse("2h", Some("2026-11-27T03:00"), NOW).unwrap();
        assert_eq!(span.hours().count(), 2);
        let span = FleetSpan::parse("02:30", Some("2026-11-27T03:01"), NOW).unwrap();
        assert_eq!((span.hours().count(), span.length() / MINUTE), (2, 31));
        assert!(FleetSpan::parse("04:00", Some("2026-11-27T03:00"), NOW).is_ok(), "the day before");
        assert!(FleetSpan::parse("2026-11-28", None, NOW).is_err());
    }

    #[test]
    fn lengths_have_two_units_at_most() {
        let all = [45 * SECOND, 12 * MINUTE, 3 * HOUR + 20 * MINUTE, 2 * DAY + 4 * HOUR + MINUTE].map(length);
        assert_eq!(all, ["45 s", "12 min", "3 h 20 min", "2 d 4 h"]);
    }
}
