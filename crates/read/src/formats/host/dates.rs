//! When a dump was made: a `date` line of any locale, the stamps of scripts that collect dumps (`zzz ***…`), seconds since
//! the epoch, the name of a file.

use crate::formats::access_log::times;
use crate::looks::Stamp;
use whyslow_model::time::days_of_civil;

/// The time that a line tells and nothing else: `Sun Nov 22 19:51:11 UTC 2026`, `So 22. Nov 19:51:11 CET 2026`,
/// `zzz ***Sun Nov 22 19:51:11 UTC 2026`, `zz: 2026-11-22 19:51:11`, `1795377071`.
pub(super) fn of_line(words: &[&str]) -> Option<Stamp> {
    let words = match words {
        ["zzz" | "zz" | "zz:" | "zzz:" | "TS" | "date:" | "Date:" | "#" | "==", rest @ ..] => rest,
        words => words,
    };
    // `date` writes six words, some locales seven; with the day of the week and AM or PM eight.
    if words.is_empty() || words.len() > 8 {
        return None;
    }
    let trim = |word: &&str| word.trim_matches(['*', '[', ']', '<', '>', ',', '.', '#', '=']).to_string();
    let words: Vec<String> = words.iter().map(trim).filter(|word| !word.is_empty()).collect();
    let joined = words.join(" ");
    if let Some((at, _)) = times::timestamp(joined.as_bytes()) {
        // A bare number may be any: seconds of this century only, with ten digits.
        let is_plain = joined.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        return (!is_plain || joined.split('.').next().is_some_and(|whole| whole.len() == 10))
            .then(|| at.get().map(|ns| Stamp { zoned: true, ns }))
            .flatten();
    }
    let mut parts = Parts::default();
    for word in &words {
        parts.take(word)?;
    }
    parts.stamp()
}

/// The time in a path: `vmstat.20261122-195111`, `nstat_2026-11-22_19-51-11.txt`, `dump.1795377071`; of several parts the
/// last that has one.
pub(super) fn of_name(path: &str) -> Option<Stamp> {
    path.rsplit('/').find_map(|part| {
        let groups: Vec<&str> =
            part.split(|one: char| !one.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect();
        (0..groups.len()).find_map(|at| of_groups(groups.get(at..)?))
    })
}

/// Digits in groups: `20261122 195111`, `20261122195111`, `2026 11 22 19 51 11`, `1795377071`.
fn of_groups(groups: &[&str]) -> Option<Stamp> {
    let number = |text: &str| text.parse::<u64>().ok();
    let pair = |text: &str, at: usize| number(text.get(at..at + 2)?);
    let clock = |hour: u64, minute: u64, second: u64| {
        (hour < 24 && minute < 60 && second < 61).then_some(hour * 3600 + minute * 60 + second)
    };
    let (day, seconds) = match groups {
        [date, time, ..] if date.len() == 8 && matches!(time.len(), 4 | 6) => (
            day(number(date.get(..4)?)?, pair(date, 4)?, pair(date, 6)?)?,
            clock(pair(time, 0)?, pair(time, 2)?, pair(time, 4).unwrap_or(0))?,
        ),
        [both, ..] if both.len() == 14 => (
            day(number(both.get(..4)?)?, pair(both, 4)?, pair(both, 6)?)?,
            clock(pair(both, 8)?, pair(both, 10)?, pair(both, 12)?)?,
        ),
        [year, month, of_month, hour, minute, rest @ ..]
            if year.len() == 4 && [month, of_month, hour, minute].iter().all(|two| two.len() == 2) =>
        {
            let second = rest.first().filter(|two| two.len() == 2).and_then(|two| number(two));
            (
                day(number(year)?, number(month)?, number(of_month)?)?,
                clock(number(hour)?, number(minute)?, second.unwrap_or(0))?,
            )
        }
        // From 2001 to 2099.
        [epoch, ..] if epoch.len() == 10 => {
            let seconds = number(epoch).filter(|seconds| (1_000_000_000..4_100_000_000).contains(seconds))?;
            return Some(Stamp { zoned: true, ns: seconds * 1_000_000_000 });
        }
        _ => return None,
    };
    Stamp::of(false, day, seconds, 0)
}

fn day(year: u64, month: u64, of_month: u64) -> Option<i64> {
    let sane = (1970..=2200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&of_month);
    sane.then(|| days_of_civil(year as i64, month as u32, of_month as u32))
}

/// The words of a `date` line, in whatever order.
#[derive(Default)]
struct Parts {
    year: Option<u64>,
    month: Option<u64>,
    of_month: Option<u64>,
    /// Seconds since midnight.
    clock: Option<u64>,
    /// Noon has passed.
    afternoon: Option<bool>,
    /// Seconds east of Greenwich.
    east: Option<i64>,
    /// Words that are none of these: the day of the week, the name of a zone.
    others: u32,
}

impl Parts {
    fn take(&mut self, word: &str) -> Option<()> {
        let number = word.parse::<u64>().ok();
        let two = |text: &str| text.parse::<u64>().ok().filter(|_| text.len() <= 2);
        if let Some((hour, rest)) = word.split_once(':') {
            let (minute, second) = rest.split_once(':')?;
            let second = second.split(['.', ',']).next()?;
            let (hour, minute, second) = (two(hour)?, two(minute)?, two(second)?);
            let sane = hour < 24 && minute < 60 && second < 61 && self.clock.is_none();
            self.clock = Some(hour * 3600 + minute * 60 + second).filter(|_| sane);
            return self.clock.map(drop);
        }
        if let [year, month, of_month] = word.split(['-', '/']).collect::<Vec<_>>()[..]
            && let (Ok(a), Ok(b), Ok(c)) =
                (year.parse::<u64>(), month.parse::<u64>(), of_month.parse::<u64>())
        {
            // `2026-11-22`, `11/22/2026`.
            let (year, month, of_month) = if year.len() == 4 { (a, b, c) } else { (c, a, b) };
            (self.year, self.month, self.of_month) = (Some(year), Some(month), Some(of_month));
            return Some(());
        }
        match (number, word) {
            (Some(year), _) if word.len() == 4 && !word.starts_with(['+', '-']) => self.year = Some(year),
            (Some(of_month), _) if (1..=31).contains(&of_month) && word.len() <= 2 => {
                self.of_month = Some(of_month);
            }
            (_, "AM" | "am") => self.afternoon = Some(false),
            (_, "PM" | "pm") => self.afternoon = Some(true),
            (_, "UTC" | "GMT" | "Z") => self.east = Some(0),
            (Some(_), _) | (None, _) if word.len() == 5 && word.starts_with(['+', '-']) => {
                let (hours, minutes) = (two(word.get(1..3)?)?, two(word.get(3..)?)?);
                let east = (hours * 3600 + minutes * 60) as i64;
                self.east = Some(if word.starts_with('-') { -east } else { east });
            }
            (Some(_), _) => return None,
            (None, _) => match month(word).filter(|_| self.month.is_none()) {
                Some(month) => self.month = Some(month),
                // A day of the week and a zone are short, and no more than that.
                None if word.chars().count() <= 10 && word.chars().all(char::is_alphabetic) => {
                    self.others += 1;
                }
                None => return None,
            },
        }
        (self.others <= 2).then_some(())
    }

    fn stamp(&self) -> Option<Stamp> {
        let day = day(self.year?, self.month?, self.of_month?)?;
        let clock = self.clock?;
        let clock = match self.afternoon {
            Some(true) if clock < 12 * 3600 => clock + 12 * 3600,
            Some(false) if clock >= 12 * 3600 => clock - 12 * 3600,
            _ => clock,
        };
        Stamp::of(self.east.is_some(), day, clock, self.east.unwrap_or(0))
    }
}

/// The month of that name, as `date` writes it in the languages of which pastes are met: short, perhaps with a point.
fn month(word: &str) -> Option<u64> {
    const NAMES: [&[&str]; 12] = [
        &["jan", "janv", "ene", "gen"],
        &["feb", "févr", "fev"],
        &["mar", "mär", "mrz", "mars", "mrt"],
        &["apr", "avr", "avril", "abr"],
        &["may", "mai", "mag", "mei"],
        &["jun", "juin", "giu"],
        &["jul", "juil", "lug"],
        &["aug", "août", "ago"],
        &["sep", "sept", "set"],
        &["oct", "okt", "ott", "out"],
        &["nov"],
        &["dec", "dez", "déc", "dic"],
    ];
    let word = word.to_lowercase();
    let names = |names: &&[&str]| names.contains(&word.as_str());
    let long = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    NAMES
        .iter()
        .position(names)
        .or_else(|| long.iter().position(|name| *name == word))
        .map(|at| at as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Option<(bool, u64)> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        of_line(&words).map(|stamp| (stamp.zoned, stamp.ns / 1_000_000_000))
    }

    #[test]
    fn dates_of_any_locale() {
        // `date -d '2026-11-22 19:51:11 UTC' +%s`
        const AT: u64 = 1_795_377_071;
        for text in [
            "Sun Nov 22 19:51:11 UTC 2026",
            "Sun Nov 22 07:51:11 PM UTC 2026",
            "Sun 22 Nov 2026 07:51:11 PM UTC",
            "Sun, 22 Nov 2026 20:51:11 +0100",
            "So 22. Nov 19:51:11 UTC 2026",
            "dim. 22 nov. 2026 19:51:11 UTC",
            "zzz ***Sun Nov 22 19:51:11 UTC 2026",
            "zz: 2026-11-22T19:51:11Z",
            "2026-11-22T19:51:11+00:00",
            "1795377071",
            "1795377071.25",
        ] {
            assert_eq!(line(text), Some((true, AT)), "{text}");
        }
        for text in ["Sun Nov 22 19:51:11 CET 2026", "2026-11-22 19:51:11", "zzz <11/22/2026 19:51:11>"] {
            assert_eq!(line(text), Some((false, AT)), "{text}");
        }
        for text in
            ["", "4096", "16384 12", "19:51:11", "Sun Nov 22", "nr_free_pages 1795377071", "99999999999"]
        {
            assert_eq!(line(text), None, "{text}");
        }
    }

    #[test]
    fn times_in_names() {
        let name = |text: &str| of_name(text).map(|stamp| (stamp.zoned, stamp.ns / 1_000_000_000));
        for text in [
            "d/vmstat.20261122-195111",
            "vmstat_2026-11-22_19-51-11.txt",
            "2026-11-22T19:51:11/proc/vmstat",
            "nstat-20261122195111",
        ] {
            assert_eq!(name(text), Some((false, 1_795_377_071)), "{text}");
        }
        assert_eq!(name("nstat.1795377071"), Some((true, 1_795_377_071)));
        assert_eq!(name("sosreport-host-2026-11-22-abcdef/proc/net/snmp"), None);
        assert_eq!(name("proc/12345/io"), None);
    }
}
