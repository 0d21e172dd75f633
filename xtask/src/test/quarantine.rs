//! Tests that are known to fail now and then: `.config/quarantine.tsv`. What is listed there may fail without failing the run, for
//! 60 days at most, and no longer than it really fails: `make test-all` runs it twenty times, and twenty passes are a failure.

use super::outcome::Outcome;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::time::Duration;

/// The file, from the project's root.
pub(crate) const FILE: &str = ".config/quarantine.tsv";

/// So often a test in quarantine has to pass to have no place there.
pub(crate) const RUNS: u32 = 20;
/// No further run of it is begun after this time.
pub(crate) const TIME: Duration = Duration::from_secs(240);
/// So old an entry may be.
const DAYS: i64 = 60;

/// The entries of the file.
#[derive(Debug, Default)]
pub(crate) struct Quarantine {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    id: String,
    /// As written, and in days since 1970.
    date: String,
    day: i64,
    issue: String,
    reason: String,
}

/// What a test's runs count as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Counts(Outcome),
    /// It failed, as it may.
    Quarantined(Outcome),
}

impl Quarantine {
    pub(crate) fn read(path: &Path) -> Result<Quarantine> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Quarantine::parse(&text).with_context(|| path.display().to_string())
    }

    pub(crate) fn parse(text: &str) -> Result<Quarantine> {
        let mut entries = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
            let [id, date, issue, reason] = fields[..] else {
                bail!("line {}: not SUITE/NAME, date, issue, reason with tabs between", number + 1);
            };
            if [id, issue, reason].contains(&"") {
                bail!("line {}: an empty field", number + 1);
            }
            let day = day(date).with_context(|| format!("line {}: {date:?} is no YYYY-MM-DD", number + 1))?;
            let [id, date, issue, reason] = [id, date, issue, reason].map(str::to_string);
            entries.push(Entry { id, date, day, issue, reason });
        }
        Ok(Quarantine { entries })
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.entries.iter().any(|entry| entry.id == id)
    }

    /// Why the test is there.
    pub(crate) fn reason(&self, id: &str) -> Option<String> {
        let entry = self.entries.iter().find(|entry| entry.id == id)?;
        Some(format!("{} (since {}, {})", entry.reason, entry.date, entry.issue))
    }

    /// What is wrong with the entries, where `ids` are all tests there are.
    pub(crate) fn wrong(&self, ids: &[String], today: i64) -> Vec<String> {
        let mut wrong = Vec::new();
        for (number, Entry { id, date, day, .. }) in self.entries.iter().enumerate() {
            if !ids.contains(id) {
                wrong.push(format!("{FILE}: {id}: there is no such test: remove it"));
            }
            if today - day > DAYS {
                wrong.push(format!(
                    "{FILE}: {id}: there since {date}, longer than {DAYS} days: repair the test or remove it"
                ));
            }
            if *day > today {
                wrong.push(format!("{FILE}: {id}: {date} is yet to come"));
            }
            if self.entries[..number].iter().any(|other| other.id == *id) {
                wrong.push(format!("{FILE}: {id}: twice there"));
            }
        }
        wrong
    }
}

/// What counts of a test in quarantine that passed `passes` times and then ended with `last`, of `runs` that were to be made.
pub(crate) fn judge(last: Outcome, passes: u32, runs: u32) -> Verdict {
    match last {
        Outcome::Failed(_) | Outcome::TimedOut => Verdict::Quarantined(last),
        Outcome::Passed if runs >= RUNS && passes >= runs => Verdict::Counts(Outcome::Failed(format!(
            "passes {RUNS} times: remove it from quarantine ({FILE})"
        ))),
        other => Verdict::Counts(other),
    }
}

/// Days since 1970, now.
pub(crate) fn today() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    (now.as_secs() / 86_400) as i64
}

/// Days from 1970 to a date, YYYY-MM-DD.
fn day(date: &str) -> Option<i64> {
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some()
        || !(1970..=9999).contains(&year)
        || !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
    {
        return None;
    }
    // The year begins in March here: a leap day is then the last day of it.
    let year = if month < 3 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted() {
        for (date, days) in
            [("1970-01-01", 0), ("1970-03-01", 59), ("2000-02-29", 11_016), ("2026-11-23", 20_780)]
        {
            assert_eq!(day(date), Some(days), "{date}");
        }
        for wrong in ["", "2026-13-01", "2026-01-32", "2026-01", "26-01-01", "2026-01-01-01", "a-b-c"] {
            assert_eq!(day(wrong), None, "{wrong}");
        }
    }

    const TEXT: &str = "# comment\n\na/old\t2026-01-01\t#7\tfails on a full disk\na/gone\t2026-03-01\t#8\twhy\na/new\t2026-03-01\t#9\twhy\n";

    #[test]
    fn an_entry_must_name_a_test_and_be_young() {
        let quarantine = Quarantine::parse(TEXT).unwrap();
        let ids = ["a/old".to_string(), "a/new".to_string()];
        assert_eq!(quarantine.wrong(&ids, day("2026-03-02").unwrap()).len(), 1, "60 days");
        let wrong = quarantine.wrong(&ids, day("2026-03-03").unwrap());
        assert!(
            matches!(&wrong[..], [old, gone] if old.contains("longer than 60 days") && gone.contains("no such test")),
            "{wrong:?}"
        );
        assert!(
            quarantine
                .wrong(&ids, day("2026-02-28").unwrap())
                .iter()
                .any(|wrong| wrong.contains("yet to come"))
        );
        let twice = Quarantine::parse("a/new\t2026-03-01\t#9\twhy\na/new\t2026-03-01\t#9\twhy\n").unwrap();
        assert_eq!(twice.wrong(&ids, day("2026-03-01").unwrap()).len(), 1);
        assert!(quarantine.has("a/old") && !quarantine.has("a/other"));
        assert_eq!(quarantine.reason("a/old").unwrap(), "fails on a full disk (since 2026-01-01, #7)");
    }

    #[test]
    fn an_entry_has_all_its_fields() {
        for wrong in ["a/b", "a/b\t2026-01-01\t#7", "a/b\t2026-01-01\t\twhy", "a/b\tlately\t#7\twhy"] {
            assert!(Quarantine::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_passes_twenty_times_has_no_place_there() {
        assert!(
            matches!(judge(Outcome::Passed, 20, 20), Verdict::Counts(Outcome::Failed(why)) if why.contains("remove it"))
        );
        // There was time for twelve runs.
        assert_eq!(judge(Outcome::Passed, 12, 20), Verdict::Counts(Outcome::Passed));
        assert_eq!(judge(Outcome::Passed, 1, 1), Verdict::Counts(Outcome::Passed));
        assert_eq!(judge(Outcome::TimedOut, 19, 20), Verdict::Quarantined(Outcome::TimedOut));
        let failed = Outcome::Failed("x".to_string());
        assert_eq!(judge(failed.clone(), 0, 1), Verdict::Quarantined(failed));
        let skipped = Outcome::Skipped("x".to_string());
        assert_eq!(judge(skipped.clone(), 0, 20), Verdict::Counts(skipped));
    }
}
