//! What `whyslow profile` writes for other tools, and that what it writes is the profile that it read.

use crate::captures::{OWN, published};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Stacks with names that mean something to HTML, JSON and terminals.
const FOLDED: &str = "main;parse;strings.Fields 30\nmain;parse 12\nmain;x.<b></script><img src=x onerror=alert(1)> 7\nmain;a\u{1b}[31m\"b\\ 5\n";

fn run(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_whyslow"))
        .arg("profile")
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {told}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// A directory with the folded stacks in it.
fn folded() -> (TempDir, std::path::PathBuf) {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("stacks.folded");
    std::fs::write(&path, FOLDED).expect("the stacks");
    (directory, path)
}

#[test]
fn a_profile_that_is_written_is_the_one_that_was_read() {
    let (directory, path) = folded();
    let copy = directory.path().join("copy.pb.gz");
    run(&[text(&path), "proto", "-o", text(&copy)]);
    for view in ["raw", "top", "tree", "traces", "folded"] {
        assert_eq!(run(&[text(&copy), view]), run(&[text(&path), view]), "{view}");
    }
    assert!(copies_are_equal(&Path::new(OWN).join("pprof"), &copy) > 5);
}

#[test]
fn a_published_profile_that_is_written_is_the_one_that_was_read() {
    let Some(captures) = published() else { return };
    let directory = TempDir::new().expect("a directory");
    let checked = copies_are_equal(&captures.join("pprof"), &directory.path().join("copy.pb.gz"));
    assert!(checked > 15, "{checked} captures");
}

/// Writes each profile of a folder to `copy`, and compares what is read of both; how many.
fn copies_are_equal(captures: &Path, copy: &Path) -> usize {
    let mut checked = 0;
    for path in std::fs::read_dir(captures).expect("the folder").flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.ends_with(".txt") || name.starts_with("google") || name.starts_with("Masami") {
            continue;
        }
        run(&[text(&path), "proto", "-o", text(copy)]);
        for view in ["raw", "top"] {
            assert_eq!(run(&[text(copy), view]), run(&[text(&path), view]), "{name} {view}");
        }
        checked += 1;
    }
    checked
}

#[test]
fn folded_stacks_come_back_as_they_were() {
    let (directory, path) = folded();
    let first = run(&[text(&path), "folded"]);
    let again = directory.path().join("again.folded");
    std::fs::write(&again, &first).expect("the stacks");
    assert_eq!(run(&[text(&again), "folded"]), first);
    assert!(first.contains("main;parse;strings.Fields 30\n"), "{first}");
}

#[test]
fn speedscope_has_each_stack_with_its_weight() {
    let (_directory, path) = folded();
    let file: Value = serde_json::from_str(&run(&[text(&path), "speedscope"])).expect("JSON");
    let profile = &file["profiles"][0];
    assert_eq!(profile["endValue"], 54);
    let frames = file["shared"]["frames"].as_array().expect("frames");
    let samples = profile["samples"].as_array().expect("samples");
    let weights = profile["weights"].as_array().expect("weights");
    assert_eq!((samples.len(), weights.len()), (4, 4));
    let names: Vec<&str> = samples[0]
        .as_array()
        .expect("a stack")
        .iter()
        .map(|frame| frames[frame.as_u64().expect("a number") as usize]["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["main", "parse", "strings.Fields"]);
}

#[test]
fn a_flame_graph_is_one_page_that_no_name_can_break() {
    let (_directory, path) = folded();
    let page = run(&[text(&path), "flame"]);
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(!page.contains("<img"), "a name became an element");
    let (_, rest) = page.split_once("id=\"data\">").expect("the data");
    let (data, _) = rest.split_once("</script>").expect("its end");
    let data: Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(data["more"][0], 54);
    let names = data["names"].as_array().expect("names");
    assert!(names.iter().any(|name| name == "x.<b></script><img src=x onerror=alert(1)>"));
    assert!(!page.contains("http://") && !page.contains("https://"), "the page needs nothing from elsewhere");
}

#[test]
fn a_differential_flame_graph_has_both_sides() {
    let (directory, path) = folded();
    let before = directory.path().join("before.gz");
    let mut gz = GzEncoder::new(std::fs::File::create(&before).expect("a file"), Compression::fast());
    gz.write_all(b"main;parse 20\nmain;gone 9\n").expect("written");
    gz.finish().expect("closed");
    let page = run(&[text(&path), "flame", &format!("--diff_base={}", before.display())]);
    let (_, rest) = page.split_once("id=\"data\">").expect("the data");
    let data: Value = serde_json::from_str(rest.split_once("</script>").expect("its end").0).expect("JSON");
    assert_eq!((&data["more"][0], &data["less"][0]), (&Value::from(54), &Value::from(29)));
}

#[test]
fn a_sandwich_adds_up() {
    let (_directory, path) = folded();
    let table = run(&[text(&path), "sandwich", "^parse$"]);
    let (callers, callees) = table.split_once("Callees").expect("two trees");
    assert!(
        callers.contains("parse and all it calls: 42") || callers.contains("^parse$ and all it calls: 42"),
        "{table}"
    );
    assert!(callers.contains("itself: 12"), "{table}");
    assert!(
        callers.lines().any(|line| line.trim_start().starts_with("42") && line.ends_with("  main")),
        "{table}"
    );
    assert!(
        callees.lines().any(|line| line.trim_start().starts_with("30") && line.ends_with("strings.Fields")),
        "{table}"
    );
}

#[test]
fn firefox_gets_all_that_was_counted() {
    let (_directory, path) = folded();
    let file: Value = serde_json::from_str(&run(&[text(&path), "firefox"])).expect("JSON");
    let samples = &file["threads"][0]["samples"];
    let weights = samples["weight"].as_array().expect("weights");
    assert_eq!(weights.iter().filter_map(Value::as_f64).sum::<f64>(), 54.0);
    assert!(file.to_string().contains("strings.Fields"));
}

#[test]
fn json_has_the_figures_of_the_table() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cpu.folded");
    std::fs::write(&path, FOLDED).unwrap();
    let path = path.to_str().unwrap();
    let told: Value = serde_json::from_str(&run(&[path, "--json"])).expect("JSON");
    assert_eq!((&told["schema"], told["total"].as_f64()), (&Value::from("whyslow.profile/1"), Some(54.0)));
    let functions = told["functions"].as_array().unwrap();
    assert_eq!(
        (&functions[0]["name"], functions[0]["flat"].as_f64()),
        (&Value::from("strings.Fields"), Some(30.0))
    );
    let sum: f64 = told["kinds"].as_array().unwrap().iter().filter_map(|kind| kind["value"].as_f64()).sum();
    assert_eq!(sum, 54.0, "kinds add up");
    let refused = Command::new(env!("CARGO_BIN_EXE_whyslow"))
        .args(["profile", path, "tree", "--json"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2), "no text where JSON was asked for");
}
