//! How long each test took when it ran last: `target/test-durations.tsv`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Seconds and outcome by test.
pub(crate) type Durations = BTreeMap<String, (f64, String)>;

/// The file: beside what was built.
pub(crate) fn file(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    target.join("test-durations.tsv")
}

/// Empty where there is none yet.
pub(crate) fn read(path: &Path) -> Durations {
    parse(&std::fs::read_to_string(path).unwrap_or_default())
}

fn parse(text: &str) -> Durations {
    let row = |line: &str| {
        let mut fields = line.split('\t');
        let (id, seconds, outcome) = (fields.next()?, fields.next()?.parse().ok()?, fields.next()?);
        Some((id.to_string(), (seconds, outcome.to_string())))
    };
    text.lines().filter_map(row).collect()
}

/// Writes `known` with what has been found `now`; what did not run this time keeps its row.
pub(crate) fn write(path: &Path, mut known: Durations, now: Durations) -> std::io::Result<()> {
    known.extend(now);
    std::fs::write(path, text(&known))
}

fn text(known: &Durations) -> String {
    let mut text = String::new();
    for (id, (seconds, outcome)) in known {
        let _ = writeln!(text, "{id}\t{seconds:.3}\t{outcome}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let rows = Durations::from([("a/b".to_string(), (1.5, "passed".to_string()))]);
        assert_eq!(parse(&text(&rows)), rows);
        assert!(parse("no number\tx\tpassed\n\n").is_empty());
    }
}
