//! # capture-truncated
//!
//! ## What it is
//! The capture ends in the middle: of a line, of a table, of a compressed file.
//!
//! ## Why it is slow
//! It is not: but the end is missing, which may hold what matters: how long the last calls took, or the largest
//! rows of a table.
//!
//! ## Example
//! ```text
//! 21124 10:34:36.114034 write(835, "HTTP/1.1 200 \r\nX-Appl
//! ```
//!
//! ## What to do instead
//! End strace with Ctrl-C or `timeout`, so that it writes its buffer, and copy the file after that. Check the free
//! space of the disk it is written to.
//!
//! ## When it is wrong
//! A capture that is short but ends with a whole line is complete and stays quiet, whatever was going on.

use crate::engine::{Findings, Rule};
use crate::gate::gated;
use crate::words;
use whyslow_facts::Facts;
use whyslow_model::capture::NoteKind;
use whyslow_model::{CaptureKind, CaptureNote, CountTable};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "capture-truncated",
    group: "capture",
    summary: "the capture ends in the middle",
    source: include_str!("capture_truncated.rs"),
    needs: &[],
    check,
};

/// Sources listed.
const MOST: usize = 5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut seen: Vec<(String, String)> = Vec::new();
    // Of profiles `profile-empty` tells more.
    let sources = facts.capture.sources.iter().filter(|source| source.kind != CaptureKind::Profile);
    for source in sources {
        let cut = |note: &&CaptureNote| note.source == source.id && note.kind == NoteKind::Truncated;
        let note = facts.capture.notes.iter().find(cut).map(|note| note.text.clone());
        let table = || facts.tables.iter().find(|table| table.source == source.id).and_then(lacking_rows);
        if let Some(what) = note.or_else(table) {
            seen.push((source.name.clone(), what));
        }
    }
    let count = seen.len() as u64;
    let Some((first, _)) = seen.first() else { return };
    let title = match count {
        1 => format!("{first} is cut off"),
        count => format!("{} are cut off, {first} among them", words::plural(count, "input")),
    };
    let mut found = out.capture(title);
    for (source, what) in seen.into_iter().take(MOST) {
        found = found.evidence_line(source, what);
    }
    found
        .cause("What stands there is used, and what is missing is unknown. Figures of the last calls and totals may be too low.")
        .fix(match facts.capture.is_recording() {
            true => format!("take it again and end it with Ctrl-C: {}", facts.capture.retake()),
            false => format!("take it again and end strace in order: timeout -s INT 30 {}", facts.capture.retake()),
        })
        .fix("copy the file only after the recorder has ended; check the space left: df -h .")
        .verify("tail -c 200 trace.st; gzip -t trace.st.gz")
        .file();
}

/// The rows do not add up to the total line: some are missing.
#[gated]
fn lacking_rows(table: &CountTable) -> Option<String> {
    let (rows, stated) = (table.calls()?, table.stated_calls?);
    (rows < stated).then(|| {
        format!(
            "the rows count {} calls, the total line {}: rows are missing",
            words::count(rows),
            words::count(stated)
        )
    })
}
