//! Copies in which each text is asked about: none is forgotten, nothing else changes, and nothing leads out.

use crate::common::{call, replay, write};
use crate::damage::sample;
use arrow_array::{Array, StringArray};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use whyslow_store::{Edit, Meta, StoreError, TextPlace, WriteOptions, Writer, copy, read_meta};

/// Writes something else for each text, and remembers where they were.
#[derive(Default)]
pub(crate) struct Shouting {
    places: BTreeSet<(String, String)>,
}

/// Stands for each text.
const SHOUT: &str = "WAS TEXT";

impl Edit for Shouting {
    fn text<'t>(&mut self, place: &TextPlace<'_>, text: &'t str) -> Cow<'t, str> {
        self.places.insert((place.table.to_string(), place.column.to_string()));
        // The head's few words have meanings.
        if place.table == TextPlace::HEAD { text.into() } else { SHOUT.into() }
    }

    fn arguments(&mut self, given: &[String]) -> Vec<String> {
        given.iter().map(|_| SHOUT.to_string()).collect()
    }
}

/// Changes nothing.
struct Faithful;

impl Edit for Faithful {
    fn text<'t>(&mut self, _: &TextPlace<'_>, text: &'t str) -> Cow<'t, str> {
        text.into()
    }

    fn arguments(&mut self, given: &[String]) -> Vec<String> {
        given.to_vec()
    }
}

/// Hides what the calls of one name were given.
struct OfWrites;

impl Edit for OfWrites {
    fn text<'t>(&mut self, place: &TextPlace<'_>, text: &'t str) -> Cow<'t, str> {
        assert_eq!(place.beside("no such column"), None);
        match place.beside("syscall") {
            Some("write") if place.column == "args" => "hidden".into(),
            _ => text.into(),
        }
    }

    fn arguments(&mut self, given: &[String]) -> Vec<String> {
        given.to_vec()
    }
}

fn parts(dir: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    folders.flat_map(|folder| fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path())).collect()
}

/// The texts of all parts, without our own reader, by table and column.
fn texts(dir: &Path) -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut all: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for path in parts(dir) {
        let table = path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let reader = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(&path).unwrap()).unwrap();
        for batch in reader.build().unwrap() {
            let batch = batch.unwrap();
            for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
                let Some(array) = array.as_any().downcast_ref::<StringArray>() else { continue };
                let found = all.entry((table.clone(), field.name().clone())).or_default();
                found.extend(array.iter().flatten().map(String::from));
            }
        }
    }
    all
}

#[test]
fn every_text_of_every_table_is_asked_about() {
    let place = TempDir::new().unwrap();
    let (dir, out) = (place.path().join("x.whyslow"), place.path().join("y.whyslow"));
    sample(&dir);
    let mut edit = Shouting::default();
    let copied = copy(&dir, &out, &mut edit).unwrap();
    let there = texts(&dir).into_iter().filter(|(_, found)| !found.is_empty());
    let there: BTreeSet<_> = there.map(|(place, _)| place).collect();
    assert!(there.len() > 40, "{there:?}");
    let forgotten: Vec<_> = there.difference(&edit.places).collect();
    assert!(forgotten.is_empty(), "{forgotten:?} were not asked about");
    for (place, found) in texts(&out) {
        assert!(found.iter().all(|text| text == SHOUT), "{place:?}: {found:?}");
    }
    assert!(copied.texts > copied.changed && copied.changed > 4_000, "{copied:?}");
    assert_eq!((copied.left_out.len(), copied.more_left_out), (0, 0), "{copied:?}");
    for path in parts(&out).into_iter().chain([out.join("meta.json")]) {
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600, "{}", path.display());
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o7777, 0o700);
    }
}

#[test]
fn what_is_not_changed_is_the_same() {
    let place = TempDir::new().unwrap();
    let (dir, out) = (place.path().join("x.whyslow"), place.path().join("y.whyslow"));
    sample(&dir);
    let copied = copy(&dir, &out, &mut Faithful).unwrap();
    assert_eq!(copied.changed, 0);
    let (events, notes, outcome) = replay(&dir);
    let (same, same_notes, copied_outcome) = replay(&out);
    assert!(events == same && notes.len() == same_notes.len(), "{same_notes:?}");
    let rows = |meta: &Meta| meta.tables.values().map(|table| table.rows).sum::<u64>();
    assert_eq!(rows(&outcome.meta), rows(&copied_outcome.meta));
    // Sizes may differ, and the sample's losses are of tables that nobody knows.
    let rest = |meta: Meta| Meta { tables: BTreeMap::new(), losses: BTreeMap::new(), ..meta };
    assert_eq!(rest(outcome.meta), rest(copied.meta));
}

#[test]
fn neighbours_in_the_row_are_told() {
    let place = TempDir::new().unwrap();
    let (dir, out) = (place.path().join("x.whyslow"), place.path().join("y.whyslow"));
    write(&dir, &(0..300).map(call).collect::<Vec<_>>(), WriteOptions::CONVERT);
    let copied = copy(&dir, &out, &mut OfWrites).unwrap();
    let args = &texts(&out)[&("syscalls".to_string(), "args".to_string())];
    assert_eq!(copied.changed > 0, args.contains("hidden"));
    let names = &texts(&dir)[&("syscalls".to_string(), "syscall".to_string())];
    assert_eq!(names.contains("write"), args.contains("hidden"), "{names:?}");
}

#[test]
fn the_head_goes_through_it_too() {
    let place = TempDir::new().unwrap();
    let (dir, out) = (place.path().join("x.whyslow"), place.path().join("y.whyslow"));
    let meta = Meta { target: Some("me".into()), command: vec!["a".into(), "b".into()], ..Meta::new("test") };
    Writer::create(&dir, meta, WriteOptions::CONVERT).unwrap().finish().unwrap();
    // A field and a table of somebody else.
    let head = fs::read_to_string(dir.join("meta.json")).unwrap();
    let head = head.replace(
        "\"losses\": {}",
        "\"losses\": {\"stranger\": {\"lost\": 1, \"produced\": 2}}, \"secret\": 1",
    );
    assert!(head.contains("stranger"));
    fs::write(dir.join("meta.json"), head).unwrap();
    let mut edit = Shouting::default();
    copy(&dir, &out, &mut edit).unwrap();
    let head = fs::read_to_string(out.join("meta.json")).unwrap();
    assert!(!head.contains("stranger") && !head.contains("secret\""), "{head}");
    assert_eq!(read_meta(&out).unwrap().command, [SHOUT, SHOUT]);
    for field in ["tool", "target", "kind"] {
        assert!(
            edit.places.contains(&("meta.json".to_string(), field.to_string())),
            "{field}: {:?}",
            edit.places
        );
    }
}

#[test]
fn what_is_not_of_a_recording_is_left_out_and_told() {
    let place = TempDir::new().unwrap();
    let (dir, out) = (place.path().join("x.whyslow"), place.path().join("y.whyslow"));
    write(&dir, &(0..300).map(call).collect::<Vec<_>>(), WriteOptions::CONVERT);
    fs::create_dir(dir.join("spool")).unwrap();
    fs::write(dir.join("spool/calls"), "secret").unwrap();
    fs::write(dir.join("notes.txt"), "secret").unwrap();
    fs::write(dir.join("syscalls/.part-000009.tmp"), "secret").unwrap();
    symlink(place.path(), dir.join("threads")).unwrap();
    fs::write(dir.join("syscalls/part-000007-00000000.parquet"), "secret").unwrap();
    let copied = copy(&dir, &out, &mut Faithful).unwrap();
    for (told, from) in copied.left_out.iter().zip([
        "notes.txt",
        "spool",
        "syscalls/.part-000009.tmp",
        "threads: it is a link",
        "syscalls/part-000007-00000000.parquet: its bytes",
    ]) {
        assert!(told.starts_with(from), "{told} for {from}");
    }
    assert_eq!(copied.left_out.len(), 5, "{:?}", copied.left_out);
    let mut there: Vec<_> = fs::read_dir(&out).unwrap().flatten().map(|entry| entry.file_name()).collect();
    there.sort();
    assert_eq!(there, ["meta.json", "syscalls"]);
    assert_eq!(parts(&out).len(), 1);
}

#[test]
fn a_copy_is_whole_or_not_there() {
    let place = TempDir::new().unwrap();
    let (dir, out) = (place.path().join("x.whyslow"), place.path().join("y.whyslow"));
    assert!(matches!(copy(&dir, &out, &mut Faithful), Err(StoreError::NotARecording { .. })));
    assert!(!out.exists());
    write(&dir, &[call(1)], WriteOptions::CONVERT);
    fs::create_dir(&out).unwrap();
    fs::write(out.join("mine"), "kept").unwrap();
    assert!(matches!(copy(&dir, &out, &mut Faithful), Err(StoreError::Exists(_))));
    assert!(out.join("mine").exists());
    let later = fs::read_to_string(dir.join("meta.json")).unwrap().replace("recording/1", "recording/2");
    fs::write(dir.join("meta.json"), later).unwrap();
    let other = place.path().join("z.whyslow");
    assert!(matches!(copy(&dir, &other, &mut Faithful), Err(StoreError::TooNew { .. })));
    assert!(!other.exists());
}
