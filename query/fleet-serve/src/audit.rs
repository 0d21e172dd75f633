//! The audit log: who asked for what, when, from where, and how it was answered. Lines of JSON, only ever appended; files of a bounded size, of which
//! the oldest goes. No secret gets into it: of an address's parameters those that are known to hold none are kept.

use crate::error::FleetServeError;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Files of the log, with the one that is written.
const FILES: u64 = 4;
/// Bytes of a text in a line.
const LONGEST: usize = 500;
/// Parameters that are kept.
const PLAIN: [&str; 13] =
    ["service", "host", "rule", "since", "until", "at", "by", "open", "old", "new", "reason", "id", "name"];

/// A line.
#[derive(Clone, Default, Debug, Serialize)]
pub(crate) struct AuditLine {
    /// When, RFC 3339, UTC.
    pub(crate) time: String,
    /// `request`, `login`, `login-failed`, `logout`, `refused`, `dump`, `record`.
    pub(crate) event: &'static str,
    /// Who; null where nobody is logged in.
    pub(crate) user: Option<String>,
    /// How they logged in.
    pub(crate) how: Option<&'static str>,
    /// The address, or `unix`.
    pub(crate) from: String,
    /// The method.
    pub(crate) method: String,
    /// The path, without parameters.
    pub(crate) path: String,
    /// Parameters that are known to hold no secret.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) parameters: Vec<(String, String)>,
    /// The answer's status; null where the line stands before it.
    pub(crate) status: Option<u16>,
    /// What else there is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// The parameters of an address that may be kept.
pub(crate) fn plain_parameters(query: Option<&str>) -> Vec<(String, String)> {
    let pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs
        .filter(|(name, _)| PLAIN.contains(&name.as_ref()))
        .take(PLAIN.len())
        .map(|(name, value)| (name.into_owned(), short(&value)))
        .collect()
}

/// A text of a stranger, without secrets that are recognised, and cut.
pub(crate) fn short(text: &str) -> String {
    let text = whyslow_privacy::redact(text);
    let end =
        text.char_indices().map(|(at, _)| at).take_while(|at| *at <= LONGEST).last().unwrap_or_default();
    if text.len() > LONGEST { format!("{}…", &text[..end]) } else { text.into_owned() }
}

struct Open {
    file: File,
    bytes: u64,
}

/// The log; without a file it keeps nothing.
pub(crate) struct Audit {
    path: Option<PathBuf>,
    /// Bytes of one file.
    most: u64,
    open: Mutex<Option<Open>>,
}

impl Audit {
    /// Opens it, of so many bytes over all files.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn open(path: Option<PathBuf>, bytes: u64) -> Result<Audit, FleetServeError> {
        let open = match &path {
            Some(path) => Some(opened(path).map_err(|error| trouble(path, &error))?),
            None => None,
        };
        Ok(Audit { path, most: (bytes / FILES).max(1), open: Mutex::new(open) })
    }

    /// Appends a line.
    ///
    /// # Errors
    /// If it could not be written: then the request is to be refused.
    pub(crate) fn write(&self, line: &AuditLine) -> Result<(), FleetServeError> {
        let Some(path) = &self.path else { return Ok(()) };
        let mut text = serde_json::to_string(line).map_err(|error| trouble(path, &error.into()))?;
        text.push('\n');
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut append = || -> std::io::Result<()> {
            if open.as_ref().is_some_and(|open| open.bytes + text.len() as u64 > self.most && open.bytes > 0)
            {
                *open = None;
                rotate(path)?;
            }
            let to = match open.as_mut() {
                Some(to) => to,
                None => open.insert(opened(path)?),
            };
            to.file.write_all(text.as_bytes())?;
            to.bytes += text.len() as u64;
            Ok(())
        };
        append().map_err(|error| trouble(path, &error))
    }
}

fn opened(path: &Path) -> std::io::Result<Open> {
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    let bytes = file.metadata()?.len();
    Ok(Open { file, bytes })
}

/// `audit.jsonl` becomes `audit.jsonl.1`, that one `audit.jsonl.2`, and the last one goes.
fn rotate(path: &Path) -> std::io::Result<()> {
    let numbered = |number: u64| PathBuf::from(format!("{}.{number}", path.display()));
    for number in (1..FILES - 1).rev() {
        match std::fs::rename(numbered(number), numbered(number + 1)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    std::fs::rename(path, numbered(1))
}

fn trouble(path: &Path, error: &std::io::Error) -> FleetServeError {
    FleetServeError::Audit { place: path.display().to_string(), reason: error.to_string() }
}

/// Now, as lines tell it.
pub(crate) fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_bounded_and_only_appended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        std::fs::write(&path, "{\"earlier\":true}\n").unwrap();
        let audit = Audit::open(Some(path.clone()), 4_000).unwrap();
        let line = AuditLine {
            time: now(),
            event: "request",
            path: "/".into(),
            status: Some(200),
            ..AuditLine::default()
        };
        audit.write(&line).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("{\"earlier\":true}\n{\"time\":"));
        for _ in 0..100 {
            audit.write(&line).unwrap();
        }
        let files: Vec<u64> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|file| file.unwrap().metadata().unwrap().len())
            .collect();
        assert_eq!(files.len(), 4);
        assert!(files.iter().sum::<u64>() <= 4_000, "{files:?}");
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
        }
    }

    #[test]
    fn secrets_of_addresses_are_not_kept() {
        let kept = plain_parameters(Some("code=abc&state=def&token=geheim&service=shop&password=x"));
        assert_eq!(kept, [("service".to_string(), "shop".to_string())]);
        assert!(short(&"ä".repeat(10_000)).len() <= LONGEST + 3);
    }

    #[test]
    fn a_log_that_cannot_be_written_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Audit::open(Some(folder.path().join("no/such/folder")), 4_000).is_err());
    }
}
