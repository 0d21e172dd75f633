//! The same questions from DuckDB and pandas, over what `whyslow export --to parquet` writes and over the recording itself.

use crate::program::{out, recording, sql};
use std::path::{Path, PathBuf};
use std::process::Command;

const SCRIPT: &str = r#"
import json, sys
import duckdb, pandas
recording = sys.argv[1]
calls = f"'{recording}/syscalls/*.parquet'"
top = duckdb.sql(f"SELECT syscall, count(*) AS n, sum(dur) AS dur FROM {calls} GROUP BY 1 ORDER BY 3 DESC, 1").fetchall()
frame = pandas.read_parquet(recording + "/syscalls")
syncs = frame[frame.syscall == "fsync"].groupby("path").dur.agg(["count", "sum"])
told = {"top": [list(row) for row in top], "syncs": [[path, int(row["count"]), int(row["sum"])] for path, row in syncs.iterrows()]}
for exported in sys.argv[2:]:
    told["exported"] = [list(row) for row in duckdb.sql(f"SELECT syscall, calls FROM '{exported}' ORDER BY calls DESC, syscall").fetchall()]
    told["frame"] = int(pandas.read_parquet(exported).calls.sum())
print(json.dumps(told))
"#;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A Python that has both.
fn python() -> Option<String> {
    let own = root().join("target/python/bin/python3");
    let candidates = [own.display().to_string(), "python3".to_string()];
    candidates.into_iter().find(|python| {
        Command::new(python)
            .args(["-c", "import pandas, duckdb, pyarrow"])
            .output()
            .is_ok_and(|output| output.status.success())
    })
}

#[test]
fn duckdb_and_pandas_give_the_same_answers() {
    let Some(python) = python() else {
        println!("skipped: no Python with pandas and duckdb (scripts/setup test installs them)");
        return;
    };
    let (place, dir) = recording(400);
    let whyslow =
        std::env::var_os("WHYSLOW").map(PathBuf::from).unwrap_or_else(|| root().join("target/debug/whyslow"));
    let exported = place.path().join("summary.parquet");
    let mut command = Command::new(python);
    command.arg("-c").arg(SCRIPT).arg(&dir);
    let has_export = whyslow.exists();
    if has_export {
        let made = Command::new(&whyslow)
            .arg("export")
            .arg(&dir)
            .args(["--to", "parquet", "-o"])
            .arg(&exported)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        command.arg(&exported);
    } else {
        println!("note: {} is not there: its exports were not tried", whyslow.display());
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let ask = |question: &str| -> serde_json::Value {
        let text = out(&sql(place.path()).arg(&dir).args(["--json", "-c", question]).output().unwrap());
        let rows: Vec<serde_json::Map<String, serde_json::Value>> = serde_json::from_str(&text).unwrap();
        rows.into_iter()
            .map(|row| row.into_iter().map(|(_, value)| value).collect::<serde_json::Value>())
            .collect()
    };
    // Objects of JSON are sorted by their keys here: the columns are named in that order.
    assert_eq!(
        told["top"],
        ask("SELECT syscall AS a, count(*) AS b, sum(dur) AS c FROM calls GROUP BY 1 ORDER BY 3 DESC, 1")
    );
    assert_eq!(
        told["syncs"],
        ask("SELECT path AS a, count(*) AS b, sum(dur) AS c FROM calls WHERE syscall = 'fsync' GROUP BY 1")
    );
    if has_export {
        assert_eq!(
            told["exported"],
            ask("SELECT syscall AS a, count(*) AS b FROM calls GROUP BY 1 ORDER BY 2 DESC, 1")
        );
        assert_eq!(told["frame"], 4000);
    }
}
