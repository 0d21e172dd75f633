//! For tests: a reader's events, collected.

use crate::formats::{Format, SniffInput};
use crate::source::Source;
use std::path::{Path, PathBuf};
use whyslow_model::{CaptureNote, CountTable, Event, FdEntry, NoteKind, ProcessInfo, SourceId, SourceInfo};

/// What a reader gave.
#[derive(Debug)]
pub(super) struct Collected {
    pub(super) info: SourceInfo,
    pub(super) fds: Vec<FdEntry>,
    pub(super) processes: Vec<ProcessInfo>,
    pub(super) tables: Vec<CountTable>,
    pub(super) notes: Vec<CaptureNote>,
    /// Tables of figures, and events of disks, connections and calls.
    pub(super) figures: usize,
}

impl Collected {
    /// The only row of descriptor `fd`.
    pub(super) fn fd(&self, fd: i32) -> &FdEntry {
        let mut rows = self.fds.iter().filter(|entry| entry.fd == Some(fd));
        let row = rows.next().unwrap_or_else(|| panic!("no row for descriptor {fd}"));
        assert!(rows.next().is_none(), "several rows for descriptor {fd}");
        row
    }

    pub(super) fn notes_of(&self, kind: NoteKind) -> Vec<&str> {
        self.notes.iter().filter(|note| note.kind == kind).map(|note| note.text.as_str()).collect()
    }
}

/// Reads `data` as a file of that name.
pub(super) fn collect(format: &Format, name: &str, data: &[u8]) -> Collected {
    let info = SourceInfo::new(SourceId(0), name, format.kind);
    let mut source = Source::new(info.clone(), data.to_vec(), Box::new(std::io::empty()));
    let mut got =
        Collected { info, fds: vec![], processes: vec![], tables: vec![], notes: vec![], figures: 0 };
    let mut sink = |event: Event<'_>| match event {
        Event::Fd(entry) => got.fds.push(*entry),
        Event::Process(process) => got.processes.push(process),
        Event::Counts(table) => got.tables.push(table),
        Event::Note(note) => got.notes.push(note),
        Event::Figures(_) | Event::BlockIo(_) | Event::Net(_) | Event::Call(_) => got.figures += 1,
        other => panic!("not an event of a snapshot: {other:?}"),
    };
    (format.read)(&mut source, &mut sink).expect("reading from memory");
    got.info = source.info;
    got
}

/// Whether the format takes these bytes for its own.
pub(super) fn sniffs(format: &Format, file_name: &str, head: &[u8]) -> bool {
    (format.sniff)(&SniffInput { file_name, path: file_name, head: &head[..head.len().min(64 * 1024)] })
}

/// Every line is counted once: as part of the format, as damaged, as foreign, or it is blank.
pub(super) fn assert_accounted(got: &Collected, data: &[u8]) {
    let mut lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    lines.pop_if(|line| line.is_empty());
    let blank = lines.iter().filter(|line| line.trim_ascii().is_empty()).count() as u64;
    let info = &got.info;
    assert_eq!(info.lines, lines.len() as u64);
    assert_eq!(info.events + info.rejects + info.foreign + blank, info.lines, "{info:?}");
}

/// Captures, with the folder each lies in.
pub(super) type Captures = Vec<(String, PathBuf)>;

/// The captures of the repository.
pub(super) fn own() -> Captures {
    let files = below(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../captures")));
    assert!(files.len() > 30, "{} captures", files.len());
    files
}

/// The captures that people published; `None` (and said so) where there are none beside this checkout.
pub(super) fn published() -> Option<Captures> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/captures"));
    if !root.is_dir() {
        println!("skipped: no published captures beside the checkout (../shared/captures)");
        return None;
    }
    Some(below(root))
}

fn below(root: &Path) -> Captures {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(inside) = path.strip_prefix(root) {
                let name = inside.to_string_lossy().into_owned();
                files.push((name.split('/').next().unwrap_or("").to_string(), path));
            }
        }
    }
    files.sort();
    files
}
