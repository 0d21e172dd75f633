//! Reading a recording: all tables merged into one stream of events, in the order in which they were recorded.

use crate::cursor::Cursor;
use crate::error::StoreError;
use crate::meta::{Meta, SCHEMA, Version};
use crate::notes;
use crate::tables::{Replay, TABLES, TableSpec};
use std::path::Path;
use whyslow_model::{
    CaptureKind, CaptureNote, Coverage, Event, NoteKind, RecordedSpan, Sink, SourceId, SourceInfo, Timestamp,
    visible,
};

/// What was read.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The head; a default one where it could not be read.
    pub meta: Meta,
    /// Rows replayed: an event is one, a stack one more for each frame.
    pub rows: u64,
    /// Parts that were passed over.
    pub damaged_parts: u64,
}

/// True where `path` is a recording, by its name or by what is in it.
pub fn is_recording(path: &Path) -> bool {
    path.is_dir() && (path.extension().is_some_and(|ending| ending == "whyslow") || Meta::read(path).is_ok())
}

/// The head of the recording in `dir`.
///
/// # Errors
/// [`StoreError::NotARecording`] where there is none that can be read.
pub fn read_meta(dir: &Path) -> Result<Meta, StoreError> {
    Meta::read(dir)
}

/// Replays the events of the recording in `dir` into `sink`, in the order in which they were recorded, and at the end
/// tells of it as source `source`. Memory is bounded by the parts: one of each table is held at a time. `progress`
/// is called with the bytes read so far and in all.
///
/// What is damaged is passed over and noted; what is missing is noted with what that means.
///
/// # Errors
/// [`StoreError::NotARecording`] where there is neither a head nor a table; [`StoreError::TooNew`] where a later
/// version wrote it in a way that this one would misread.
pub fn read(
    dir: &Path,
    source: SourceId,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Outcome, StoreError> {
    let (meta, trouble) = head(dir)?;
    let cursors: Vec<Cursor> = (TABLES.iter().enumerate())
        .filter_map(|(rank, table)| Cursor::open(dir, table, rank, removed_up_to(&meta, table)))
        .collect();
    if let (Some(reason), true) = (&trouble, cursors.is_empty()) {
        return Err(StoreError::NotARecording { path: dir.to_path_buf(), reason: reason.clone() });
    }
    let name = dir.display().to_string();
    let shown = visible::path(dir);
    let note = |kind: NoteKind, text: String| {
        Event::Note(CaptureNote { kind, source, line: None, text: format!("{shown}: {text}"), tid: None })
    };
    if let Some(reason) = trouble {
        sink.push(note(NoteKind::Skipped, format!("{reason}; its tables are used, what it says is unknown")));
    }
    let removed_until = meta.removed.as_ref().and_then(|removed| removed.calls_until);
    let calls_removed_until = removed_until.map_or(Timestamp::UNKNOWN, Timestamp::new);
    if calls_removed_until.is_known() {
        let from = meta.start.map_or(Timestamp::UNKNOWN, Timestamp::new);
        sink.push(Event::Span(RecordedSpan { from, to: calls_removed_until, calls: Coverage::None }));
    }
    let total = cursors.iter().map(Cursor::size).sum();
    let mut replay = Replay {
        sink,
        source,
        frames: Vec::new(),
        count_rows: Vec::new(),
        figure_rows: Vec::new(),
        buffers: Default::default(),
        calls_removed_until,
    };
    let done = merge(cursors, &mut replay, total, progress);
    for (kind, text) in notes::of(&meta, &done) {
        sink.push(note(kind, text));
    }
    let info = info(&meta, &done, source, &name, total);
    let rows = info.events;
    sink.push(Event::Source(info));
    let damaged_parts = done.iter().map(|cursor| cursor.report.damaged_parts).sum();
    Ok(Outcome { meta, rows, damaged_parts })
}

/// The head, and what is wrong with it if it cannot be read.
pub(crate) fn head(dir: &Path) -> Result<(Meta, Option<String>), StoreError> {
    match Meta::read(dir) {
        Ok(meta) if matches!(Version::of(&meta.schema), Version::TooNew) => {
            Err(StoreError::TooNew { path: dir.to_path_buf(), found: meta.schema, known: SCHEMA })
        }
        Ok(meta) => Ok((meta, None)),
        Err(StoreError::NotARecording { reason, .. }) => Ok((Meta::default(), Some(reason))),
        Err(error) => Err(error),
    }
}

pub(crate) fn removed_up_to(meta: &Meta, table: &TableSpec) -> u64 {
    meta.removed.as_ref().and_then(|removed| removed.seq.get(table.name)).copied().unwrap_or(0)
}

/// The recording as a source. What was wrong with the captures that it was converted from is wrong with it too.
fn info(meta: &Meta, done: &[Cursor], id: SourceId, name: &str, bytes: u64) -> SourceInfo {
    let mut info = SourceInfo::new(id, name, CaptureKind::Recording);
    info.clock = meta.clock.kind;
    info.bytes = bytes;
    info.events = done.iter().map(|cursor| cursor.report.rows).sum();
    info.rejects = done.iter().map(|cursor| cursor.report.rejected).sum();
    for from in &meta.sources {
        info.rejects = info.rejects.saturating_add(from.rejects);
        info.foreign = info.foreign.saturating_add(from.foreign);
        info.starts_not_seen = info.starts_not_seen.saturating_add(from.starts_not_seen);
        info.ends_not_seen = info.ends_not_seen.saturating_add(from.ends_not_seen);
    }
    info.lines = info.events.saturating_add(info.rejects).saturating_add(info.foreign);
    info
}

/// Replays the rows of all tables by their numbers, and gives the cursors back in the order of the tables.
fn merge(
    cursors: Vec<Cursor>,
    replay: &mut Replay<'_>,
    total: u64,
    progress: &mut dyn FnMut(u64, u64),
) -> Vec<Cursor> {
    let (mut live, mut done) = (Vec::new(), Vec::new());
    for mut cursor in cursors {
        if cursor.advance() { live.push(cursor) } else { done.push(cursor) }
    }
    let mut told = 0;
    while !live.is_empty() {
        // The table whose row comes first, and up to where its rows come before those of all others.
        let (mut first, mut key, mut other) = (0, (u64::MAX, usize::MAX), (u64::MAX, usize::MAX));
        for (at, cursor) in live.iter().enumerate() {
            let found = (cursor.seq(), cursor.rank);
            if found < key {
                (other, first, key) = (key, at, found);
            } else {
                other = other.min(found);
            }
        }
        let cursor = &mut live[first];
        let ended = loop {
            cursor.replay(replay);
            if !cursor.advance() {
                break true;
            }
            if (cursor.seq(), cursor.rank) > other {
                break false;
            }
        };
        if ended {
            done.push(live.swap_remove(first));
        }
        let read: u64 = done.iter().chain(&live).map(|cursor| cursor.report.bytes).sum();
        if read > told {
            told = read;
            progress(read, total);
        }
    }
    done.sort_by_key(|cursor| cursor.rank);
    done
}
