//! Recordings: the bytes as a part of a table, as the head, or as the values of rows.

use crate::{checks, room, values};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use whyslow_facts::Facts;
use whyslow_model::SourceId;
use whyslow_store::{Meta, StoreError, TableSpec, read};

/// Parts of tables by name.
type Parts = BTreeMap<&'static str, Vec<u8>>;

/// A row of each table, as parts.
static TYPICAL: LazyLock<Parts> = LazyLock::new(|| values::parts(&values::typical()));
/// A head.
static META: LazyLock<Vec<u8>> =
    LazyLock::new(|| serde_json::to_vec(&Meta::new("fuzz")).expect("a head is plain JSON"));

/// Reads `data` as a part of `table`.
pub(crate) fn read_part(table: &'static TableSpec, data: &[u8]) {
    let with = values::WITH.iter().find_map(|&(one, other)| match table.name {
        name if name == one => Some(other),
        name if name == other => Some(one),
        _ => None,
    });
    let beside = with.and_then(|name| TYPICAL.get_key_value(name));
    let beside = beside.map(|(name, part)| (*name, part.as_slice()));
    // Judged are values (below): here the time is for what Parquet can say.
    replay(&META, [(table.name, data)].into_iter().chain(beside)).finish();
}

/// Reads `data` as the head of a recording.
pub(crate) fn read_meta(data: &[u8]) {
    let mut facts = replay(data, TYPICAL.iter().map(|(name, part)| (*name, part.as_slice())));
    facts.finish();
    checks::judge(&facts);
}

/// Reads the rows that `data` stands for, and writes everything in all formats.
pub(crate) fn read_values(data: &[u8]) {
    let parts = values::parts(data);
    let mut facts = replay(&META, parts.iter().map(|(name, part)| (*name, part.as_slice())));
    facts.finish();
    checks::show(&facts);
}

/// # Panics
/// Where it cannot be read for another reason than what it holds.
fn replay<'a>(meta: &[u8], parts: impl Iterator<Item = (&'a str, &'a [u8])>) -> Facts {
    let folder = room::folder();
    let dir = folder.path().join("fuzz.whyslow");
    room::make(&dir);
    room::write(&dir.join("meta.json"), meta);
    for (table, part) in parts {
        let checksum = crc32fast::hash(part);
        let path = dir.join(table);
        room::make(&path);
        room::write(&path.join(format!("part-000001-{checksum:08x}.parquet")), part);
    }
    let mut facts = Facts::default();
    match read(&dir, SourceId(0), &mut facts, &mut |_, _| {}) {
        Ok(_) | Err(StoreError::TooNew { .. } | StoreError::NotARecording { .. }) => facts,
        Err(error) => panic!("{error}"),
    }
}

/// Parts of a table to begin with.
pub(crate) fn parts_of(table: &TableSpec) -> Vec<Vec<u8>> {
    let part = |rows: &[u8]| values::parts(rows).remove(table.name);
    let rows = values::extremes(table);
    TYPICAL
        .get(table.name)
        .cloned()
        .into_iter()
        .chain(rows.first().and_then(|row| part(row)))
        .chain(part(&rows.concat()))
        .collect()
}

/// Heads to begin with.
pub(crate) fn heads() -> Vec<Vec<u8>> {
    vec![META.clone(), FULL.as_bytes().to_vec(), b"{}".to_vec()]
}

/// A head in which everything is told.
const FULL: &str = r#"{"schema":"whyslow.recording/1","tool":"whyslow 0.1.0","complete":true,"target":"pid 7 (slow)",
"mode":"full","command":["whyslow","record","-p","7"],"show_secrets":false,
"host":{"name":"host","kernel":"6.1.0","cpus":2,"boot_id":"0"},
"clock":{"kind":"epoch","offset_start":1700000000000000000,"offset_end":1700000009000000000},
"start":1700000000000000000,"end":1700000001000000000,
"tables":{"syscalls":{"rows":1,"parts":1,"bytes":900},"sched":{"rows":9,"parts":1,"bytes":900}},
"losses":{"syscalls":{"lost":5,"produced":6}},
"cost":{"target_share":0.01,"added":5,"recorder_cpu":9,"per_call":1},
"removed":{"rows":{"syscalls":3},"seq":{"syscalls":2},"calls_until":1700000000500000000},
"sources":[{"name":"a.st","kind":"strace","clock":"epoch","rejects":1,"foreign":2,"starts_not_seen":3,"ends_not_seen":4}]}"#;
