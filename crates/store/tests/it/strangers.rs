//! Recordings of strangers: nothing in them leads out, nothing holds the reader up, and its memory is bounded by the format.

use crate::common::{call, replay, write};
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;
use whyslow_model::{Event, SourceId};
use whyslow_store::{Meta, WriteOptions, is_recording, read};

fn recording(place: &TempDir, calls: u64) -> PathBuf {
    let dir = place.path().join("x.whyslow");
    write(&dir, &(0..calls).map(call).collect::<Vec<_>>(), WriteOptions::CONVERT);
    dir
}

fn part(dir: &Path) -> PathBuf {
    fs::read_dir(dir.join("syscalls")).unwrap().next().unwrap().unwrap().path()
}

/// Puts a FIFO in the place of a file.
fn fifo(path: &Path) {
    let _ = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_fifo_does_not_hold_the_reader_up() {
    let place = TempDir::new().unwrap();
    let dir = recording(&place, 20);
    fifo(&part(&dir));
    let (events, notes, _) = replay(&dir);
    assert!(events.is_empty());
    assert!(
        notes[0].text.contains("syscalls/part-") && notes[0].text.contains("not a regular file"),
        "{notes:?}"
    );
    let dir = place.path().join("y.whyslow");
    write(&dir, &[call(1)], WriteOptions::CONVERT);
    fifo(&dir.join("meta.json"));
    let (events, notes, _) = replay(&dir);
    assert_eq!(events.len(), 1);
    assert!(notes[0].text.contains("meta.json: it is not a regular file"), "{notes:?}");
    assert!(is_recording(&dir));
}

#[test]
fn links_out_of_a_recording_are_not_followed() {
    let place = TempDir::new().unwrap();
    let dir = recording(&place, 20);
    let part = part(&dir);
    let outside = place.path().join(part.file_name().unwrap());
    fs::rename(&part, &outside).unwrap();
    symlink(&outside, &part).unwrap();
    let (events, notes, _) = replay(&dir);
    assert!(events.is_empty() && notes[0].text.contains("it is a link"), "{notes:?}");
    // The table as a whole.
    fs::remove_dir_all(dir.join("syscalls")).unwrap();
    fs::create_dir(place.path().join("table")).unwrap();
    fs::rename(&outside, place.path().join("table").join(outside.file_name().unwrap())).unwrap();
    symlink(place.path().join("table"), dir.join("syscalls")).unwrap();
    let (events, notes, outcome) = replay(&dir);
    assert!(events.is_empty() && notes[0].text.contains("syscalls: it is a link"), "{notes:?}");
    assert_eq!(outcome.damaged_parts, 1);
    // The head.
    fs::rename(dir.join("meta.json"), place.path().join("head")).unwrap();
    symlink(place.path().join("head"), dir.join("meta.json")).unwrap();
    let (_, notes, _) = replay(&dir);
    assert!(notes[0].text.contains("meta.json: it is a link"), "{notes:?}");
}

/// Writes the calls again with `text` for the arguments of each; `shared`: it stands in the file once.
fn with_arguments(dir: &Path, text: &str, shared: bool) {
    let path = part(dir);
    let file = fs::File::open(&path).unwrap();
    let batch =
        ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().next().unwrap().unwrap();
    let at = batch.schema().index_of("args").unwrap();
    let keys = Int32Array::from(vec![0; batch.num_rows()]);
    let values: ArrayRef = Arc::new(StringArray::from(vec![text]));
    let column: ArrayRef = Arc::new(DictionaryArray::new(keys, values));
    let mut fields: Vec<Field> = batch.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
    fields[at] = Field::new("args", column.data_type().clone(), fields[at].is_nullable());
    let mut columns = batch.columns().to_vec();
    columns[at] = column;
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    let key = KeyValue::new("whyslow.schema".to_string(), whyslow_store::SCHEMA.to_string());
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(vec![key]))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(shared)
        .set_dictionary_page_size_limit(1 << 30)
        .set_write_batch_size(1)
        .build();
    let mut data = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut data, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(path.with_file_name(format!("part-000000-{:08x}.parquet", crc32fast::hash(&data))), &data)
        .unwrap();
}

fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

/// Reads the recording that the variable names, and says how much memory that took: the test below runs it.
#[test]
#[ignore = "a part of texts_longer_than_the_format_allows_take_bounded_memory"]
fn reading_takes_memory() {
    let Some(dir) = std::env::var_os("STRANGERS_RECORDING") else { return };
    let (events, notes, _) = replay(Path::new(&dir));
    println!("memory {} events {} notes {}", memory("VmHWM:"), events.len(), notes.len());
}

/// The most memory that reading takes, MiB, with the events and notes that came.
fn read_apart(dir: &Path) -> (u64, u64, u64) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "strangers::reading_takes_memory"])
        .env("STRANGERS_RECORDING", dir)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.contains("memory ")).unwrap_or_else(|| panic!("{text}"));
    let figures: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    (figures[0], figures[1], figures[2])
}

#[test]
fn texts_longer_than_the_format_allows_take_bounded_memory() {
    for (rows, length, shared) in [(120, 8 << 20, false), (120, 8 << 20, true), (1, 200 << 20, false)] {
        let place = TempDir::new().unwrap();
        let dir = recording(&place, rows);
        with_arguments(&dir, &"x".repeat(length), shared);
        let (most, _, notes) = read_apart(&dir);
        assert!(most <= 256 && notes > 0, "{rows} rows of {length} bytes: {most} MiB, {notes} notes");
    }
    // As long as the format allows, and a little longer than that.
    for (length, kept) in [(8 << 10, 8 << 10), (9 << 10, 8 << 10)] {
        let place = TempDir::new().unwrap();
        let dir = recording(&place, 5);
        with_arguments(&dir, &"x".repeat(length), true);
        let mut lengths = Vec::new();
        let mut sink = |event: Event<'_>| {
            if let Event::Call(call) = event {
                lengths.push(call.args.len());
            }
        };
        read(&dir, SourceId(0), &mut sink, &mut |_, _| {}).unwrap();
        assert_eq!(lengths, [kept; 5]);
    }
}

#[test]
fn a_clock_that_was_set_meanwhile_is_told() {
    let place = TempDir::new().unwrap();
    let dir = recording(&place, 2);
    let told = |by: i64| {
        let mut meta: Meta = serde_json::from_slice(&fs::read(dir.join("meta.json")).unwrap()).unwrap();
        meta.clock.offset_start = Some(1_700_000_000_000_000_000);
        meta.clock.offset_end = Some(1_700_000_000_000_000_000 + by);
        fs::write(dir.join("meta.json"), serde_json::to_vec(&meta).unwrap()).unwrap();
        replay(&dir).1.into_iter().map(|note| note.text).collect::<String>()
    };
    assert_eq!(told(900_000_000), "");
    assert!(told(3_600_000_000_000).contains("set forward by 3600 s"));
    assert!(told(-3_600_000_000_000).contains("set back by 3600 s"));
}
