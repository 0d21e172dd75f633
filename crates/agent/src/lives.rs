//! Findings over their minutes: one opens, continues, and closes after some minutes without it. They are kept in a file, so that a new
//! start continues them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use whyslow_model::{Finding, visible};
use whyslow_parts::{FindingRow, UtcTime};
use whyslow_privacy::{files, redact};

/// Findings that are open at most; what comes beyond is told in its minute and forgotten.
const MOST_OPEN: usize = 4_096;
/// Lines of evidence that are kept of a finding.
const MOST_LINES: usize = 3;

/// A finding in one window, with what is kept of it when it is over.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub(crate) struct Told {
    pub(crate) rule: String,
    pub(crate) severity: String,
    pub(crate) confidence: Option<f64>,
    pub(crate) service: String,
    pub(crate) version: Option<String>,
    pub(crate) process: Option<String>,
    pub(crate) culprit: Option<String>,
    pub(crate) line: Option<String>,
    pub(crate) title: String,
    pub(crate) share: Option<f64>,
    pub(crate) evidence: String,
    /// What of it stays the same from minute to minute, besides the rule, the service and the process.
    about: String,
}

impl Told {
    /// Of a service; `process` is what its subject is called.
    pub(crate) fn of(
        finding: &Finding,
        service: &str,
        version: Option<String>,
        process: Option<String>,
    ) -> Told {
        let subject = &finding.subject;
        let shown = |text: &str| visible::line(&redact(text)).into_owned();
        let about = [&subject.path, &subject.peer, &subject.endpoint, &subject.device, &subject.syscall];
        let culprit = finding.culprit.as_ref();
        let named = [&subject.path, &subject.peer, &subject.device, &subject.endpoint, &subject.lock];
        Told {
            rule: finding.id.to_string(),
            severity: finding.severity.word().to_string(),
            confidence: finding.confidence,
            service: service.to_string(),
            version,
            process,
            culprit: culprit
                .map(|one| one.name.as_str())
                .or(named.into_iter().flatten().next().map(String::as_str))
                .map(shown),
            line: match (culprit, &finding.code) {
                (Some(culprit), _) => culprit.place.as_deref().map(shown),
                (None, Some(code)) => Some(shown(&code.site())),
                (None, None) => subject.function.as_deref().map(shown),
            },
            title: shown(&finding.title),
            share: finding.share,
            evidence: evidence(finding),
            about: about.into_iter().flatten().next().map(|about| shown(about)).unwrap_or_default(),
        }
    }

    /// The same over all its minutes, and another one on another host.
    fn id(&self, host: &str) -> String {
        let process = self.process.as_deref().unwrap_or_default();
        let parts = [host, &self.service, &self.rule, process, &self.about];
        // FNV-1a (draft-eastlake-fnv): short, and the same in all versions.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in parts.iter().flat_map(|part| part.bytes().chain([0])) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        format!("{hash:016x}")
    }

    fn row(&self, id: &str, state: &str, opened: i64, last_seen: i64) -> FindingRow {
        FindingRow {
            finding: id.to_string(),
            rule: self.rule.clone(),
            severity: self.severity.clone(),
            confidence: self.confidence,
            service: self.service.clone(),
            version: self.version.clone(),
            process: self.process.clone(),
            culprit: self.culprit.clone(),
            line: self.line.clone(),
            title: self.title.clone(),
            share: self.share,
            state: state.to_string(),
            opened: UtcTime(opened),
            last_seen: UtcTime(last_seen),
            evidence: self.evidence.clone(),
            dump: None,
        }
    }
}

/// What was measured, why, what to do, and the lines that show it.
fn evidence(finding: &Finding) -> String {
    let lines: Vec<String> = finding.evidence.iter().take(MOST_LINES).map(|line| line.text.clone()).collect();
    let value = serde_json::json!({
        "measurements": finding.measurements,
        "cause": finding.cause,
        "fix": finding.fix,
        "lines": lines,
        "saving": finding.saving.text,
    });
    redact(&value.to_string()).into_owned()
}

/// A finding that is open.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
struct Life {
    /// The begin of its first and last window, us since 1970.
    opened: i64,
    last_seen: i64,
    /// Windows since then without it.
    quiet: u32,
    told: Told,
}

/// All that are open, and up to which window that is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub(crate) struct Lives {
    /// The last window that was taken: they are taken one after the other.
    last: Option<String>,
    open: BTreeMap<String, Life>,
}

impl Lives {
    /// Those in a file; none where there is none that can be read, with why.
    pub(crate) fn read(path: &Path) -> (Lives, Option<String>) {
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (Lives::default(), None),
            Err(error) => return (Lives::default(), Some(format!("{}: {error}", visible::path(path)))),
        };
        match serde_json::from_slice(&text) {
            Ok(lives) => (lives, None),
            Err(error) => {
                (Lives::default(), Some(format!("{}: it is damaged: {error}", visible::path(path))))
            }
        }
    }

    /// Writes them in one step: a kill leaves the old ones or the new ones.
    pub(crate) fn write(&self, path: &Path) -> std::io::Result<()> {
        let text = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        let beside = path.with_extension("new");
        files::write(&beside, &text)?;
        std::fs::rename(&beside, path)
    }

    /// Whether this window was taken already.
    pub(crate) fn has(&self, window: &str) -> bool {
        self.last.as_deref() == Some(window)
    }

    /// Those that are open.
    pub(crate) fn rows(&self) -> Vec<FindingRow> {
        let row = |(id, life): (&String, &Life)| life.told.row(id, "continues", life.opened, life.last_seen);
        self.open.iter().map(row).collect()
    }

    /// How many are open.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// Takes the findings of a window; gives the rows of it. One closes after `close_after` windows without it. Those of services that
    /// were not `observed` do not grow old.
    pub(crate) fn take(
        &mut self,
        host: &str,
        (start, window): (i64, String),
        found: Vec<Told>,
        observed: impl Fn(&str) -> bool,
        close_after: u32,
    ) -> Vec<FindingRow> {
        let mut rows = Vec::new();
        for told in found {
            let id = told.id(host);
            let Some(life) = self.open.get_mut(&id) else {
                rows.push(told.row(&id, "open", start, start));
                if self.open.len() < MOST_OPEN {
                    self.open.insert(id, Life { opened: start, last_seen: start, quiet: 0, told });
                }
                continue;
            };
            // Of two of one id in one window the first one counts: it ranks higher.
            if life.last_seen == start {
                continue;
            }
            rows.push(told.row(&id, "continues", life.opened, start));
            *life = Life { opened: life.opened, last_seen: start, quiet: 0, told };
        }
        self.open.retain(|id, life| {
            if life.last_seen == start || !observed(&life.told.service) {
                return true;
            }
            life.quiet += 1;
            if life.quiet < close_after {
                return true;
            }
            rows.push(life.told.row(id, "closed", life.opened, life.last_seen));
            false
        });
        self.last = Some(window);
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(rule: &str, about: &str, title: &str) -> Told {
        Told {
            rule: rule.into(),
            severity: "warning".into(),
            confidence: None,
            service: "orderd".into(),
            version: None,
            process: Some("orderd".into()),
            culprit: None,
            line: None,
            title: title.into(),
            share: Some(0.4),
            evidence: "{}".into(),
            about: about.into(),
        }
    }

    fn states(rows: &[FindingRow]) -> Vec<(&str, &str, i64, i64)> {
        rows.iter()
            .map(|row| (row.rule.as_str(), row.state.as_str(), row.opened.0, row.last_seen.0))
            .collect()
    }

    #[test]
    fn a_finding_opens_continues_and_closes_after_quiet_minutes() {
        let mut lives = Lives::default();
        let mut take =
            |start, found: Vec<Told>| lives.take("h", (start, start.to_string()), found, |_| true, 2);
        let first = take(10, vec![told("a", "/x", "1 ms"), told("a", "/x", "2 ms"), told("a", "/y", "")]);
        assert_eq!(states(&first), [("a", "open", 10, 10), ("a", "open", 10, 10)]);
        assert_ne!(first[0].finding, first[1].finding);
        let second = take(20, vec![told("a", "/x", "3 ms")]);
        assert_eq!(
            (states(&second), &second[0].title),
            (vec![("a", "continues", 10, 20)], &"3 ms".to_string())
        );
        assert_eq!(second[0].finding, first[0].finding);
        assert_eq!(
            states(&take(30, vec![told("a", "/x", "")])),
            [("a", "continues", 10, 30), ("a", "closed", 10, 10)]
        );
        assert_eq!(states(&take(40, vec![])), []);
        assert_eq!(states(&take(50, vec![])), [("a", "closed", 10, 30)]);
        assert_eq!(states(&take(60, vec![told("a", "/x", "")])), [("a", "open", 60, 60)]);
        assert_eq!((lives.len(), lives.has("60"), lives.has("50")), (1, true, false));
    }

    #[test]
    fn what_was_not_observed_does_not_close() {
        let mut lives = Lives::default();
        lives.take("h", (10, "10".into()), vec![told("a", "", "")], |_| true, 1);
        assert!(lives.take("h", (20, "20".into()), vec![], |_| false, 1).is_empty());
        assert_eq!(lives.take("h", (30, "30".into()), vec![], |_| true, 1).len(), 1);
    }

    #[test]
    fn they_outlive_a_restart_and_a_damaged_file_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("findings.json");
        assert_eq!(Lives::read(&path), (Lives::default(), None));
        let mut lives = Lives::default();
        lives.take("h", (10, "10".into()), vec![told("a", "", "")], |_| true, 1);
        lives.write(&path).expect("written");
        assert_eq!(Lives::read(&path), (lives, None));
        std::fs::write(&path, b"{").expect("damaged");
        let (none, why) = Lives::read(&path);
        assert!(none == Lives::default() && why.is_some_and(|why| why.contains("damaged")));
    }
}
