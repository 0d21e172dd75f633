//! What a reader remarks about a recording: what is damaged, missing or was removed, and what that means.

use crate::cursor::Cursor;
use crate::meta::{Meta, SCHEMA, Version};
use whyslow_model::NoteKind;

/// The clock may drift by so much while it is kept right, ns.
const MOST_DRIFT: u64 = 1_000_000_000;

/// The remarks, without the recording's name.
pub(crate) fn of(meta: &Meta, cursors: &[Cursor]) -> Vec<(NoteKind, String)> {
    let mut notes = Vec::new();
    if matches!(Version::of(&meta.schema), Version::Newer) {
        let newer = &meta.schema;
        notes.push((
            NoteKind::Assumed,
            format!("its format is `{newer}`, newer than `{SCHEMA}`: what was added since is not read"),
        ));
    }
    if !meta.complete {
        let text = "the recording was not ended in an orderly way; its last second may be missing";
        notes.push((NoteKind::Truncated, text.to_string()));
    }
    if let Some(removed) = &meta.removed {
        let rows: Vec<String> = removed.rows.iter().map(|(name, rows)| format!("{rows} of {name}")).collect();
        let rows = rows.join(", ");
        notes.push((
            NoteKind::Assumed,
            format!("the oldest rows were removed to keep within the size asked for: {rows}"),
        ));
    }
    if let (Some(start), Some(end)) = (meta.clock.offset_start, meta.clock.offset_end)
        && start.abs_diff(end) > MOST_DRIFT
    {
        let (by, way) = (start.abs_diff(end) / 1_000_000_000, if end > start { "forward" } else { "back" });
        notes.push((
            NoteKind::Assumed,
            format!(
                "the machine's clock was set {way} by {by} s while this was recorded: times of day are those of its start"
            ),
        ));
    }
    for cursor in cursors {
        table(meta, cursor, &mut notes);
    }
    let found = |name: &String| cursors.iter().any(|cursor| cursor.table.name == name);
    for (name, stated) in meta.tables.iter().filter(|(name, stated)| stated.rows > 0 && !found(name)) {
        let rows = stated.rows;
        notes.push((
            NoteKind::Skipped,
            format!("the table {name} with its {rows} rows is missing; what depends on it is unknown"),
        ));
    }
    notes
}

/// The remarks about one table.
fn table(meta: &Meta, cursor: &Cursor, notes: &mut Vec<(NoteKind, String)>) {
    let (name, report) = (cursor.table.name, &cursor.report);
    for reason in &report.damaged {
        notes.push((NoteKind::Skipped, format!("{reason}; the part is not used, the rest is")));
    }
    let untold = report.damaged_parts - report.damaged.len() as u64;
    if untold > 0 {
        notes.push((NoteKind::Skipped, format!("{name}: {untold} more damaged parts are not used")));
    }
    if report.rejected > 0 {
        notes.push((NoteKind::Reject, format!("{name}: {} damaged rows are not used", report.rejected)));
    }
    if !report.missing.is_empty() {
        let missing = report.missing.join(", ");
        notes.push((
            NoteKind::Assumed,
            format!("{name}: without the columns {missing}; their values are unknown"),
        ));
    }
    let stated = meta.tables.get(name).map_or(0, |stated| stated.rows);
    let read = report.rows + report.rejected;
    if read < stated && report.damaged_parts == 0 {
        let lacking = stated - read;
        notes.push((
            NoteKind::Skipped,
            format!("{name}: {lacking} of {stated} rows are missing: a file was removed"),
        ));
    }
}
