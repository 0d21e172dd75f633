//! Others open a recording as it is: pyarrow, pandas, DuckDB.

use crate::common::{Owned, call, skipped, write};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use whyslow_store::WriteOptions;

const SCRIPT: &str = r#"
import json, sys
import duckdb, pandas, pyarrow.dataset
recording = sys.argv[1]
table = pyarrow.dataset.dataset(recording + "/syscalls", format="parquet").to_table()
frame = pandas.read_parquet(recording + "/syscalls")
query = f"SELECT count(*), sum(dur), count(DISTINCT path), sum(bytes) FROM '{recording}/syscalls/*.parquet' WHERE syscall = 'read'"
text = f"SELECT replace(args, '{{path}}', path) FROM '{recording}/syscalls/*.parquet' ORDER BY seq LIMIT 1"
print(json.dumps({
    "pyarrow": [table.num_rows, sum(table["dur"].to_pylist())],
    "pandas": [len(frame), int(frame["dur"].sum()), sorted(frame["path"].unique())[0], int(frame["ts"].iloc[0])],
    "duckdb": list(map(int, duckdb.sql(query).fetchall()[0])),
    "args": duckdb.sql(text).fetchall()[0][0],
    "tables": [duckdb.sql(f"SELECT count(*) FROM '{recording}/{name}/*.parquet'").fetchall()[0][0] for name in sys.argv[2:]],
}))
"#;

/// A Python that has the three.
fn python() -> Option<String> {
    let own = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/python/bin/python3"));
    let candidates = [own.display().to_string(), "python3".to_string()];
    candidates.into_iter().find(|python| {
        let found = Command::new(python).args(["-c", "import pyarrow.dataset, pandas, duckdb"]).output();
        found.is_ok_and(|output| output.status.success())
    })
}

#[test]
fn python_opens_a_recording_as_it_is() {
    let Some(python) = python() else {
        skipped("no Python with pyarrow, pandas and duckdb (scripts/setup test installs them)");
        return;
    };
    let place = TempDir::new().unwrap();
    let dir = place.path().join("x.whyslow");
    let events: Vec<Owned> = (0..30_000).map(call).collect();
    write(&dir, &events, WriteOptions { part_rows: 10_000, ..WriteOptions::CONVERT });
    // A part that a killed recorder left is in nobody's way.
    std::fs::write(dir.join("syscalls/.part-000009.tmp"), "PAR1").unwrap();
    let output = Command::new(python).arg("-c").arg(SCRIPT).arg(&dir).arg("syscalls").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let durations: u64 = (0..30_000u64).map(|i| 10_000 + i % 977).sum();
    let bytes: u64 = (0..30_000u64).map(|i| i % 4096).sum();
    assert_eq!(told["pyarrow"], serde_json::json!([30_000, durations]));
    let first = 1_700_000_000_000_000_000u64;
    assert_eq!(told["pandas"], serde_json::json!([30_000, durations, "/var/log/0.log", first]));
    assert_eq!(told["duckdb"], serde_json::json!([30_000, durations, 7, bytes]));
    assert_eq!(told["args"], "3</var/log/0.log>, \"line 0\"..., 4096");
    assert_eq!(told["tables"], serde_json::json!([30_000]));
}
