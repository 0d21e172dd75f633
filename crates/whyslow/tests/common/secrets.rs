//! Secrets that are planted, and the search for them: what [`PROGRAM`] hands over, and what starts it.

use arrow_array::{Array, StringArray};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Hands secrets to peers and programs, or tells which by `--list`.
pub(crate) const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/secretive.py");
/// What [`PROGRAM`] is started with.
pub(crate) const SECRETS: [&str; 8] = [
    "--password=SECRET00",
    "--token",
    "SECRET01",
    "redis://u:SECRET02@h/0",
    "-pSECRET03",
    "-a",
    "SECRET04",
    "--header=Authorization: Bearer SECRET05",
];
/// Every path below a folder that is there at that moment.
pub(crate) fn below(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_path_buf()];
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => all.extend(below(&entry.path())),
            _ => all.push(entry.path()),
        }
    }
    all
}

/// The markers of secrets in some bytes, with where they are.
pub(crate) fn secrets_in(bytes: &[u8], whose: &str) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(bytes);
    let found = text.match_indices("SECRET").filter_map(|(at, _)| text.get(at..at + 8));
    found
        .filter(|marker| marker[6..].bytes().all(|byte| byte.is_ascii_digit()))
        .map(|marker| format!("{marker} in {whose}"))
        .collect()
}

/// The markers in the bytes of all files, as they are.
pub(crate) fn secrets_on_disk(folder: &Path) -> BTreeSet<String> {
    let files = below(folder).into_iter().filter_map(|path| Some((std::fs::read(&path).ok()?, path)));
    files.flat_map(|(bytes, path)| secrets_in(&bytes, &path.display().to_string())).collect()
}

/// The text of all tables, and the markers in it: Parquet is compressed.
pub(crate) fn secrets_in_tables(recording: &Path) -> (usize, BTreeSet<String>) {
    let (mut texts, mut found) = (0, BTreeSet::new());
    let parts = below(recording).into_iter();
    for path in parts.filter(|path| path.extension().is_some_and(|ending| ending == "parquet")) {
        let reader =
            ParquetRecordBatchReaderBuilder::try_new(File::open(&path).expect("a part")).expect("Parquet");
        for batch in reader.build().expect("a reader") {
            let batch = batch.expect("rows");
            for column in batch.columns() {
                let Some(column) = column.as_any().downcast_ref::<StringArray>() else { continue };
                for text in column.iter().flatten() {
                    texts += 1;
                    found.extend(secrets_in(text.as_bytes(), &format!("{}: {text}", path.display())));
                }
            }
        }
    }
    (texts, found)
}
