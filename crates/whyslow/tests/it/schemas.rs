//! `whyslow schema`, and what the commands print with `--json` beside the schemas. The cases are held against them where they run.

use crate::captures::OWN;
use crate::recordings::{convert, json, run};
use crate::schemas_common::{against, of_diagnosis, of_views};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use whyslow_diagnose::diagnose;
use whyslow_facts::Facts;
use whyslow_schema::JSON_FORMATS;

const CASE_TRACE: &str = "strace/redis.log";

fn files_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => files_in(&path, found),
            path => found.push(path),
        }
    }
}

/// The captures of the repository that can be read.
fn captures() -> Vec<(PathBuf, Facts)> {
    let mut files = Vec::new();
    files_in(Path::new(OWN), &mut files);
    files.sort();
    let read = |path: PathBuf| {
        let mut facts = Facts::of_target();
        let inputs = [whyslow_read::Input::File(path.clone())];
        whyslow_read::read(&inputs, &whyslow_read::ReadOptions::default(), &(), &mut facts).ok()?;
        facts.finish();
        Some((path, facts))
    };
    files.into_iter().filter_map(read).collect()
}

#[test]
fn all_captures_are_diagnosed_and_shown_as_the_schemas_say() {
    let captures = captures();
    assert!(captures.len() > 60, "{} captures", captures.len());
    for (path, facts) in &captures {
        let diagnosis = diagnose(facts);
        let contradictions = crate::contradicts::contradictions(&diagnosis);
        assert!(contradictions.is_empty(), "{contradictions:#?}");
        let held = of_diagnosis(&diagnosis).and_then(|()| of_views(facts));
        held.unwrap_or_else(|wrong| panic!("{}: {wrong}", path.display()));
    }
}

#[test]
fn commands_print_what_their_schemas_say() {
    let place = TempDir::new().expect("a folder");
    let trace = Path::new(OWN).join(CASE_TRACE);
    let recording = place.path().join("a.whyslow");
    convert(&[&trace], &recording);
    let (trace, stored) = (trace.to_str().expect("text"), recording.to_str().expect("text"));
    let mut profiles = Vec::new();
    files_in(&Path::new(OWN).join("pprof"), &mut profiles);
    profiles.sort();
    let profile = profiles.first().and_then(|path| path.to_str()).expect("a profile");
    let all: [(&str, &[&str]); 22] = [
        ("diagnosis", &["diagnose", "--json", trace]),
        ("diagnosis", &["report", "--json", stored]),
        ("diff", &["diff", "--json", trace, stored]),
        ("account", &["account", "--json", "--by", "state", stored]),
        ("summary", &["summary", "--json", stored]),
        ("host", &["host", "--json", stored]),
        ("disks", &["disks", "--json", "--histogram", stored]),
        ("files", &["files", "--json", stored]),
        ("fds", &["fds", "--json", stored]),
        ("peers", &["peers", "--json", stored]),
        ("requests", &["requests", "--json", stored]),
        ("locks", &["locks", "--json", stored]),
        ("path", &["path", "--json", stored]),
        ("threads", &["threads", "--json", stored]),
        ("profile", &["profile", "--json", profile, "top"]),
        ("profile-diff", &["diff", "--json", profile, profile]),
        ("rules", &["rule", "--json"]),
        ("rule", &["rule", "--json", "tz-stat-storm"]),
        ("recover", &["recover", "--json"]),
        ("formats", &["export", "--list", "--json"]),
        ("doctor", &["doctor", "--json"]),
        ("top", &["top", "--once", "--json"]),
    ];
    for (format, arguments) in all {
        against(format, &json(arguments)).unwrap_or_else(|wrong| panic!("{arguments:?}: {wrong}"));
    }
    let head = std::fs::read(recording.join("meta.json")).expect("the head");
    against("recording", &serde_json::from_slice(&head).expect("JSON")).expect("as the schema says");
    let held = |format: &&str| *format == "recording" || all.iter().any(|(known, _)| known == format);
    let missed: Vec<&str> =
        JSON_FORMATS.iter().map(|format| format.name).filter(|name| !held(name)).collect();
    assert!(missed.is_empty(), "no output is held against {missed:?}");
}

#[test]
fn a_field_that_is_not_in_the_schema_is_told() {
    let trace = Path::new(OWN).join(CASE_TRACE);
    let mut document = json(&["diagnose", "--json", trace.to_str().expect("text")]);
    against("diagnosis", &document).expect("as it is");
    document["target"]["new_field"] = Value::from(1);
    let told = against("diagnosis", &document).expect_err("a field too many");
    assert!(told.contains("new_field"), "{told}");
}

#[test]
fn schemas_are_listed_and_printed() {
    let listed = run(&["schema", "--list"]);
    let listed = String::from_utf8_lossy(&listed.stdout);
    for format in JSON_FORMATS {
        assert!(
            listed.contains(&format!("\n{} ", format.name)) || listed.starts_with(format.name),
            "{listed}"
        );
        let printed = json(&["schema", format.name]);
        assert_eq!(printed["$id"], format.id().as_str());
        assert_eq!(printed["$schema"], "https://json-schema.org/draft/2020-12/schema");
        undescribed(&printed, format.name);
    }
    let wrong = run(&["schema", "moon"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("next: name one of diagnosis"));
}

/// Each field says what it is.
fn undescribed(schema: &Value, place: &str) {
    match schema {
        Value::Object(fields) => {
            for (key, property) in fields.get("properties").and_then(Value::as_object).into_iter().flatten() {
                assert!(property.get("description").is_some(), "{place}.{key}: no description");
            }
            fields.iter().for_each(|(key, value)| undescribed(value, &format!("{place}.{key}")));
        }
        Value::Array(all) => all.iter().for_each(|value| undescribed(value, place)),
        _ => {}
    }
}
