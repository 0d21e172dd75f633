//! The name of a part: `TABLE/date=YYYY-MM-DD/hour=HH/host=HOST/MINUTES.cLEVEL.ID.parquet`, in UTC.

use crate::error::PartError;
use crate::minutes::PartMinutes;
use crate::table::PartTable;
use crate::tables::part_table;
use crate::value::UtcTime;
use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use std::fmt;
use std::str::FromStr;

/// The folder of parts with rows of several hosts. An escaped name of a host never begins with `_`.
const MANY: &str = "_many";
/// Bytes of an identifier at most. With the longest minutes a file's name stays below the 255 that file systems take.
const MOST_ID: usize = 32;
/// Bytes of the name of a host at most (Linux: 64; names in DNS: 253).
const MOST_HOST: usize = 253;
const MINUTE: i64 = 60_000_000;
const HOUR: i64 = 60 * MINUTE;

/// An hour of UTC: hours since 1970.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PartHour(i32);

impl PartHour {
    /// The first hour that a part can be of: that of 1970.
    pub const FIRST: PartHour = PartHour(0);
    /// After the last one that a part can be of: in 9999.
    pub const LAST: PartHour = PartHour(70_389_500);

    /// The hour of a time, and the minute in it. `None` for times before 1970 or after 9999.
    pub fn of(time: UtcTime) -> Option<(PartHour, u32)> {
        let hour = i32::try_from(time.0.div_euclid(HOUR)).ok()?;
        let minute = u32::try_from(time.0.rem_euclid(HOUR) / MINUTE).ok()?;
        (PartHour::FIRST..PartHour::LAST).contains(&PartHour(hour)).then_some((PartHour(hour), minute))
    }

    /// When it begins.
    pub fn begin(self) -> UtcTime {
        UtcTime(i64::from(self.0) * HOUR)
    }

    /// The hour that is `hours` later, or earlier where they are negative.
    #[must_use]
    pub fn plus(self, hours: i32) -> PartHour {
        PartHour(self.0.saturating_add(hours))
    }

    /// Its folder below that of the table: `date=2026-11-27/hour=03`.
    pub fn folder(self) -> String {
        let seconds = i64::from(self.0) * 3600;
        let time = Timestamp::from_second(seconds).unwrap_or_default().to_zoned(TimeZone::UTC);
        format!("date={}/hour={:02}", time.date(), time.hour())
    }

    /// The hour of the names of its two folders.
    pub fn parse(date: &str, hour: &str) -> Option<PartHour> {
        let (date, hour) = (date.strip_prefix("date=")?, hour.strip_prefix("hour=")?);
        let parsed: Date = (date.len() == 10).then(|| date.parse().ok()).flatten()?;
        let number: i8 = (hour.len() == 2).then(|| hour.parse().ok()).flatten()?;
        let time = Time::new(number, 0, 0, 0).ok()?;
        let time = parsed.to_datetime(time).to_zoned(TimeZone::UTC).ok()?;
        let found = PartHour::of(UtcTime(time.timestamp().as_microsecond()))?.0;
        (found.folder() == format!("date={date}/hour={hour}")).then_some(found)
    }
}

/// Whose rows a part has.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PartHost {
    /// One host's.
    One(String),
    /// Of several hosts: the part itself says of which (see [`crate::Claims`]).
    Many,
}

/// Name and place of a part.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PartName {
    /// The table's name.
    pub table: &'static str,
    /// The hour.
    pub hour: PartHour,
    /// The host.
    pub host: PartHost,
    /// The minutes that it has rows of.
    pub minutes: PartMinutes,
    /// How often its rows were joined with others: 0 as an agent wrote it.
    pub level: u32,
    /// Who wrote the minutes: a run of an agent, which writes each minute of a table once; of several hosts' parts a
    /// digest of what they are made of. 4 to 32 of `0-9a-z`.
    pub id: String,
}

impl PartName {
    /// The part that run `id` of the agent of `host` writes of `table` about the minute that begins at `start`.
    ///
    /// # Errors
    /// Where the host's name, the identifier or the time can be in no name.
    pub fn of_minute(table: &PartTable, host: &str, start: UtcTime, id: &str) -> Result<PartName, PartError> {
        let wrong = |reason: &str| PartError::Name {
            path: format!("{}/{host}/{id}", table.name),
            reason: reason.to_string(),
        };
        if host.is_empty() || host.len() > MOST_HOST {
            return Err(wrong("the name of a host has 1 to 253 bytes"));
        }
        if !is_id(id) {
            return Err(wrong("an identifier has 4 to 32 of 0-9 and a-z"));
        }
        let (hour, minute) =
            PartHour::of(start).ok_or_else(|| wrong("its time is before 1970 or after 9999"))?;
        let minutes = PartMinutes::range(minute, minute + 1).ok_or_else(|| wrong("it has no minute"))?;
        let host = PartHost::One(host.to_string());
        Ok(PartName { table: table.name, hour, host, minutes, level: 0, id: id.to_string() })
    }

    /// The folder that it lies in, with `/` between: the table, the hour, the host.
    pub fn folder(&self) -> String {
        let host = match &self.host {
            PartHost::One(host) => escape_host(host),
            PartHost::Many => MANY.to_string(),
        };
        format!("{}/{}/host={host}", self.table, self.hour.folder())
    }

    /// Its path below the root, with `/` between.
    pub fn path(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for PartName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}.c{}.{}.parquet", self.folder(), self.minutes, self.level, self.id)
    }
}

impl FromStr for PartName {
    type Err = PartError;

    /// Only what `Display` prints: a part has one name.
    fn from_str(path: &str) -> Result<PartName, PartError> {
        let wrong = |reason: &str| PartError::Name {
            path: path.chars().take(300).collect(),
            reason: reason.to_string(),
        };
        let pieces: Vec<&str> = path.split('/').take(6).collect();
        let [table, date, hour, host, file] = pieces[..] else {
            return Err(wrong("it is not TABLE/date=…/hour=…/host=…/FILE"));
        };
        let table = part_table(table).ok_or_else(|| wrong("there is no such table"))?.name;
        let hour =
            PartHour::parse(date, hour).ok_or_else(|| wrong("its folders are no date=YYYY-MM-DD/hour=HH"))?;
        let host = host.strip_prefix("host=").ok_or_else(|| wrong("its last folder is no host=…"))?;
        let host = match host {
            MANY => PartHost::Many,
            one => PartHost::One(
                unescape_host(one).ok_or_else(|| wrong("the host is not escaped as it should be"))?,
            ),
        };
        let file = file.strip_suffix(".parquet").ok_or_else(|| wrong("it does not end in .parquet"))?;
        let pieces: Vec<&str> = file.split('.').take(4).collect();
        let [minutes, level, id] = pieces[..] else {
            return Err(wrong("its file is not MINUTES.cLEVEL.ID.parquet"));
        };
        let minutes = minutes.parse().map_err(wrong)?;
        let level = level.strip_prefix('c').and_then(|level| level.parse::<u32>().ok());
        let level = level.ok_or_else(|| wrong("its level is no number"))?;
        if !is_id(id) {
            return Err(wrong("its identifier is not 4 to 32 of 0-9 and a-z"));
        }
        let name = PartName { table, hour, host, minutes, level, id: id.to_string() };
        if name.to_string() == path {
            Ok(name)
        } else {
            Err(wrong("it is written in another way than parts are"))
        }
    }
}

fn is_id(id: &str) -> bool {
    (4..=MOST_ID).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}

/// The name of a host as a folder: what is no letter, digit, `-`, `.` or `_` as `%XX`, and so what stands first and is no
/// letter or digit.
pub fn escape_host(host: &str) -> String {
    let mut escaped = String::with_capacity(host.len());
    for (at, byte) in host.bytes().enumerate() {
        let plain = byte.is_ascii_alphanumeric() || (at > 0 && matches!(byte, b'-' | b'.' | b'_'));
        if plain {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

pub(crate) fn unescape_host(escaped: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(escaped.len());
    let mut rest = escaped.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    let host = String::from_utf8(bytes).ok()?;
    (!host.is_empty() && host.len() <= MOST_HOST && escape_host(&host) == escaped).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::PART_TABLES;
    use proptest::prelude::*;

    #[test]
    fn a_name_says_where_a_part_lies() {
        // 2026-11-27 03:12:40 UTC.
        let name =
            PartName::of_minute(PART_TABLES[0], "web-1.example", UtcTime(1_795_749_160_000_000), "7f3a9c01")
                .unwrap();
        assert_eq!(
            name.to_string(),
            "accounts/date=2026-11-27/hour=03/host=web-1.example/12-13.c0.7f3a9c01.parquet"
        );
        assert_eq!(name.hour.begin(), UtcTime(1_795_748_400_000_000));
    }

    #[test]
    fn what_is_no_name_is_refused_in_words() {
        let good = "calls/date=2026-11-27/hour=03/host=_many/00-60.c2.7f3a9c01.parquet";
        assert_eq!(good.parse::<PartName>().unwrap().host, PartHost::Many);
        for (from, to) in [
            ("calls", "shells"),
            ("date=2026-11-27", "date=2026-11-31"),
            ("date=2026-11-27", "date=+026-11-27"),
            ("hour=03", "hour=24"),
            ("hour=03", "hour=+3"),
            ("_many", "_few"),
            ("_many", "a%2fb"),
            ("_many", ""),
            ("_many", "%41"),
            ("c2", "c02"),
            ("c2", "c+2"),
            ("7f3a9c01", "7f3"),
            ("7f3a9c01", "7F3A9C01"),
            (".parquet", ".parquet.tmp"),
            ("hour=03/", ""),
            ("calls", "calls/calls"),
        ] {
            let bad = good.replace(from, to);
            let error = bad.parse::<PartName>().expect_err(&bad).to_string();
            assert!(error.contains(&bad), "{error}");
        }
    }

    proptest! {
        #[test]
        fn names_come_back(
            table in 0..PART_TABLES.len(), host in "\\PC{1,40}", minute in 0i64..4_000_000_000, id in "[0-9a-z]{4,32}",
        ) {
            // The longest hosts have more bytes than characters.
            prop_assume!(host.len() <= MOST_HOST);
            let name = PartName::of_minute(PART_TABLES[table], &host, UtcTime(minute * MINUTE), &id);
            let Ok(name) = name else { return Ok(()) };
            let path = name.path();
            prop_assert_eq!(path.split('/').count(), 5);
            prop_assert!(path.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(path.parse::<PartName>(), Ok(name));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,120}") {
            let _ = text.parse::<PartName>();
        }
    }
}
