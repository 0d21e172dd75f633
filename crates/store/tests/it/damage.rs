//! Recordings that are not as they were written: damaged, cut, mixed up, of another version, not ended. They open as
//! far as they can, what is wrong is told, and nothing takes memory without bound. From fixed seeds.

use crate::common::{Owned, call, event, replay, write};
use crate::copies::Shouting;
use fastrand::Rng;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use whyslow_model::{Event, Nanos, NoteKind, SourceId};
use whyslow_store::{StoreError, WriteOptions, copy, is_recording, read};

/// Damaged recordings of one test.
const RECORDINGS: u64 = 450;
/// What the process may have taken at most when all were read: no test here needs a tenth of it.
const MEMORY: u64 = 2 << 30;

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut all = vec![dir.join("meta.json")];
    for folder in fs::read_dir(dir).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        all.extend(fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path()));
    }
    all.sort();
    all
}

/// A recording with rows in all tables, in several parts.
pub(crate) fn sample(dir: &Path) {
    let mut runner = TestRunner::deterministic();
    let any = event();
    let mut events: Vec<Owned> = (0..150).map(|_| any.new_tree(&mut runner).unwrap().current()).collect();
    events.extend((0..1_500).map(call));
    let options = WriteOptions { part_time: Some(Nanos::from_millis(700)), ..WriteOptions::LIVE };
    write(dir, &events, options);
}

/// Below `end`; 0 where that is 0.
fn below(random: &mut Rng, end: usize) -> usize {
    random.usize(..end.max(1))
}

fn damage(data: &mut Vec<u8>, random: &mut Rng) {
    let at = below(random, data.len());
    match below(random, 6) {
        0 | 1 if !data.is_empty() => data[at] ^= 1 << random.u8(..8),
        2 => data.truncate(at),
        3 if !data.is_empty() => data[at] = [0x00, 0x7f, 0x80, 0xff][below(random, 4)],
        4 => {
            let to = at + below(random, 16).min(data.len() - at);
            data[at..to].fill(0xff);
        }
        _ => {
            let length = below(random, 64).min(data.len() - at);
            let piece = data[at..at + length].to_vec();
            let place = below(random, data.len());
            data.splice(place..place, piece);
        }
    }
}

/// The path that a part of these bytes has; of another file its own.
fn named_for(path: &Path, data: &[u8]) -> PathBuf {
    let name = path.file_name().unwrap().to_str().unwrap();
    match name.strip_prefix("part-").and_then(|rest| rest.split_once('-')) {
        Some((number, _)) => {
            path.with_file_name(format!("part-{number}-{:08x}.parquet", crc32fast::hash(data)))
        }
        None => path.to_path_buf(),
    }
}

fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

#[test]
fn any_damage_is_survived_0() {
    assert_survived(0..RECORDINGS);
}

#[test]
fn any_damage_is_survived_1() {
    assert_survived(RECORDINGS..2 * RECORDINGS);
}

/// Damaged recordings of some seeds; `DAMAGE_SEED` is the only one.
fn assert_survived(seeds: Range<u64>) {
    // In memory where that can be had: files are written more than they are read here.
    let place = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
    let dir = place.path().join("damaged.whyslow");
    sample(&dir);
    let whole: Vec<(PathBuf, Vec<u8>)> =
        files(&dir).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    let only: Option<u64> = std::env::var("DAMAGE_SEED").ok().and_then(|seed| seed.parse().ok());
    for seed in only.map_or(seeds, |only| only..only + 1) {
        let mut random = Rng::with_seed(seed);
        let mut damaged = Vec::new();
        for _ in 0..1 + below(&mut random, 3) {
            let (path, data) = &whole[below(&mut random, whole.len())];
            let mut data = data.clone();
            for _ in 0..1 + below(&mut random, 4) {
                damage(&mut data, &mut random);
            }
            fs::remove_file(path).ok();
            // Mostly with the name that its bytes ask for, so that the damage gets to the decoder.
            let path = if below(&mut random, 4) > 0 { named_for(path, &data) } else { path.clone() };
            fs::write(&path, &data).unwrap();
            damaged.push(path);
        }
        let result = std::panic::catch_unwind(|| {
            read(&dir, SourceId(0), &mut |_: Event<'_>| {}, &mut |_, _| {}).map(|outcome| outcome.rows)
        });
        match result {
            Ok(Ok(_) | Err(StoreError::NotARecording { .. } | StoreError::TooNew { .. })) => {}
            Ok(Err(error)) => panic!("DAMAGE_SEED={seed}: {error}"),
            Err(_) => panic!("DAMAGE_SEED={seed} does it again"),
        }
        if seed % 10 == 0 {
            assert_copied(&dir, place.path(), seed);
        }
        damaged.iter().for_each(|path| drop(fs::remove_file(path)));
        for (path, data) in whole.iter().filter(|(path, _)| !path.exists()) {
            fs::write(path, data).unwrap();
        }
    }
    if let Some(peak) = peak_memory() {
        assert!(peak < MEMORY, "{} MiB were taken", peak >> 20);
    }
}

/// A copy of what is damaged is whole, or it is not there; nothing else is written.
fn assert_copied(dir: &Path, place: &Path, seed: u64) {
    let out = place.join("copy.whyslow");
    let result = std::panic::catch_unwind(|| copy(dir, &out, &mut Shouting::default()));
    let Ok(result) = result else { panic!("DAMAGE_SEED={seed} stops the copy") };
    assert_eq!(result.is_ok(), out.exists(), "DAMAGE_SEED={seed}");
    if let Ok(copied) = result {
        let outcome = read(&out, SourceId(0), &mut |_: Event<'_>| {}, &mut |_, _| {});
        assert_eq!(outcome.expect("a recording").damaged_parts, 0, "DAMAGE_SEED={seed}: {copied:?}");
        fs::remove_dir_all(&out).unwrap();
    }
    assert_eq!(fs::read_dir(place).unwrap().count(), 1, "DAMAGE_SEED={seed}");
}

#[test]
fn a_damaged_part_is_passed_over_and_the_rest_is_used() {
    let place = TempDir::new().unwrap();
    let dir = place.path().join("x.whyslow");
    let events: Vec<Owned> = (0..70_000).map(call).collect();
    write(&dir, &events, WriteOptions { part_rows: 20_000, ..WriteOptions::CONVERT });
    let mut parts = files(&dir);
    parts.retain(|path| path.extension().is_some_and(|ending| ending == "parquet"));
    let mut data = fs::read(&parts[1]).unwrap();
    let middle = data.len() / 2;
    data[middle] ^= 1;
    fs::write(&parts[1], data).unwrap();
    let (got, notes, outcome) = replay(&dir);
    assert_eq!((got.len() as u64, outcome.damaged_parts), (outcome.rows, 1));
    assert!(got.len() > 30_000 && got.len() < 70_000, "{}", got.len());
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(notes[0].kind, NoteKind::Skipped);
    assert!(notes[0].text.contains("syscalls/part-000002-"), "{}", notes[0].text);
    assert!(notes[0].text.contains("checksum"), "{}", notes[0].text);

    fs::remove_file(&parts[0]).unwrap();
    fs::remove_file(&parts[1]).unwrap();
    let (_, notes, _) = replay(&dir);
    assert!(notes[0].text.contains("of 70000 rows are missing"), "{notes:?}");
    fs::remove_dir_all(dir.join("syscalls")).unwrap();
    let (_, notes, _) = replay(&dir);
    assert!(notes[0].text.contains("the table syscalls with its 70000 rows is missing"), "{notes:?}");
}

#[test]
fn another_version_is_told() {
    let place = TempDir::new().unwrap();
    let dir = place.path().join("x.whyslow");
    write(&dir, &[call(1)], WriteOptions::CONVERT);
    let head = fs::read_to_string(dir.join("meta.json")).unwrap();
    let with =
        |schema: &str| fs::write(dir.join("meta.json"), head.replace("whyslow.recording/1", schema)).unwrap();
    with("whyslow.recording/1.4");
    let (got, notes, _) = replay(&dir);
    assert_eq!(got.len(), 1);
    assert!(notes[0].text.contains("`whyslow.recording/1.4`, newer than"), "{notes:?}");
    with("whyslow.recording/2");
    let error = read(&dir, SourceId(0), &mut |_: Event<'_>| {}, &mut |_, _| {}).unwrap_err();
    assert!(matches!(&error, StoreError::TooNew { .. }), "{error}");
    assert!(error.to_string().contains("use a newer whyslow"), "{error}");
    // Without its head the tables are read all the same.
    fs::write(dir.join("meta.json"), "{\"schema\": [").unwrap();
    let (got, notes, _) = replay(&dir);
    assert_eq!(got.len(), 1);
    assert!(notes[0].text.contains("meta.json is damaged"), "{notes:?}");
    assert!(is_recording(&dir) && !is_recording(place.path()));
}

/// Writes the only part of a table again without one column.
fn without_column(folder: &Path, name: &str) {
    let path = fs::read_dir(folder).unwrap().flatten().next().unwrap().path();
    let reader = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(&path).unwrap()).unwrap();
    let batch = reader.build().unwrap().next().unwrap().unwrap();
    let kept: Vec<usize> =
        (0..batch.num_columns()).filter(|at| batch.schema().field(*at).name() != name).collect();
    let batch = batch.project(&kept).unwrap();
    let key = KeyValue::new("whyslow.schema".to_string(), whyslow_store::SCHEMA.to_string());
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![key])).build();
    let mut data = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut data, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(named_for(&path, &data), &data).unwrap();
}

#[test]
fn missing_columns_are_unknown_or_make_the_part_useless() {
    let place = TempDir::new().unwrap();
    let dir = place.path().join("x.whyslow");
    write(&dir, &[call(1)], WriteOptions::CONVERT);
    without_column(&dir.join("syscalls"), "cpu");
    let (got, notes, _) = replay(&dir);
    assert!(got[0].contains("cpu: None"), "{got:?}");
    assert!(notes[0].text.contains("syscalls: without the columns cpu"), "{notes:?}");
    without_column(&dir.join("syscalls"), "tid");
    let (got, notes, outcome) = replay(&dir);
    assert_eq!((got.len(), outcome.damaged_parts), (0, 1));
    assert!(notes[0].text.contains("it has no column `tid` of type uint32"), "{notes:?}");
}
