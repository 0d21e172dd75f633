//! `whyslow depot` at a directory.

use crate::recordings::run;
use serde_json::Value;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;
use whyslow_parts::{AgentRow, MinuteRows, Observed, PartAbout, PartName, PartRow, UtcTime, encode};

/// The begin of the hour three hours ago.
fn hour() -> i64 {
    let now = UtcTime::from(std::time::SystemTime::now()).0;
    (now / 3_600_000_000 - 3) * 3_600_000_000
}

fn fill(spool: &Path) {
    for host in ["a", "b"] {
        for minute in 0..3 {
            let start = UtcTime(hour() + minute * 60_000_000);
            let mut rows = MinuteRows::new();
            rows.push(&Observed { host: host.to_string(), start, seconds: 60.0 }, &AgentRow::default());
            let bytes =
                encode(AgentRow::table(), &[rows.finish().unwrap()], &PartAbout::new("0.1.0")).unwrap();
            let path =
                spool.join(PartName::of_minute(AgentRow::table(), host, start, "run0").unwrap().path());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }
}

fn done(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn parts_are_uploaded_listed_joined_and_removed() {
    let dir = TempDir::new().unwrap();
    let (spool, store) = (dir.path().join("spool"), dir.path().join("store"));
    std::fs::create_dir(&store).unwrap();
    fill(&spool);
    let (spool, store) = (spool.display().to_string(), store.display().to_string());
    assert!(done(&run(&["depot", "ls", &store])).contains("nothing is stored of these days"));
    assert!(done(&run(&["depot", "upload", &spool, &store])).starts_with("6 parts of"));
    let json = |arguments: &[&str]| -> Value { serde_json::from_str(&done(&run(arguments))).unwrap() };
    let listed = json(&["depot", "ls", "--json", &store]);
    assert_eq!(
        (&listed[0]["table"], &listed[0]["parts"], &listed[0]["hosts"]),
        (&"agents".into(), &6.into(), &2.into())
    );
    let dry = json(&["depot", "compact", "--dry-run", "--json", &store]);
    assert_eq!((&dry["joined"], &dry["made"]), (&6.into(), &1.into()));
    let joined = json(&["depot", "compact", "--linger", "0", "--json", &store]);
    assert_eq!((&joined["joined"], &joined["made"], &joined["rows"]), (&6.into(), &1.into(), &6.into()));
    assert_eq!(json(&["depot", "compact", "--linger", "0", "--json", &store])["removed"], 6);
    let checked = json(&["depot", "check", "--write", "--read", "--json", &store]);
    assert_eq!(
        (&checked["parts"], &checked["damaged"], &checked["strangers"]),
        (&1.into(), &0.into(), &0.into())
    );
    assert!(done(&run(&["depot", "ls", &store])).contains("joined"));
    assert!(done(&run(&["depot", "retain", "--days", "2", &store])).starts_with("0 parts"));
    assert!(done(&run(&["depot", "retain", "--max-size", "0", &store])).starts_with("1 part"));
}

#[test]
fn what_is_wrong_is_told_with_what_to_do() {
    let dir = TempDir::new().unwrap();
    let store = dir.path().display().to_string();
    assert!(refused(&["depot", "ls", "ftp://x"]).contains("s3://BUCKET/PREFIX"));
    assert!(refused(&["depot", "ls", "/nowhere/at/all"]).contains("make it, or mend the address"));
    assert!(refused(&["depot", "retain", &store]).contains("give --days, --days-of or --max-size"));
    assert!(
        refused(&["depot", "retain", "--days-of", "shells=3", &store])
            .contains("name one of accounts, calls")
    );
    assert!(refused(&["depot", "upload", "/nowhere/at/all", &store]).contains("name the agent's directory"));
}
