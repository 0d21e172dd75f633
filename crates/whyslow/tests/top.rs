//! `whyslow top --once` on the machine that the tests run on.

use serde_json::Value;
use std::process::{Command, Output, Stdio};

fn top(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_whyslow"))
        .arg("top")
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs")
}

#[test]
fn one_look_lists_resources_and_processes() {
    let output = top(&["--once", "--json", "--interval", "300ms"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let look: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(look["schema"], "whyslow.top/1");
    let names: Vec<&str> = look["resources"]
        .as_array()
        .expect("resources")
        .iter()
        .filter_map(|resource| resource["name"].as_str())
        .collect();
    assert!(names.contains(&"CPU") && names.contains(&"memory"), "{names:?}");
    // This test is a process too, with a name and memory.
    let own = u64::from(std::process::id());
    let processes = look["processes"].as_array().expect("processes");
    let me = processes.iter().find(|process| process["pid"] == own).expect("this process");
    assert!(me["name"].is_string() && me["rss"].as_u64().is_some_and(|rss| rss > 100_000), "{me}");
    assert!(look["own_cpu"].as_f64().is_some_and(|cpu| (0.0..10.0).contains(&cpu)), "{}", look["own_cpu"]);
}

#[test]
fn text_has_a_line_for_each_process_and_names_the_columns() {
    let output = top(&["--once", "-i", "300ms", "--sort", "rss"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("PID") && text.contains("WAITS FOR"), "{text}");
}

#[test]
fn what_cannot_be_is_refused_with_the_way_out() {
    let wrong = top(&["--once", "--sort", "colour"]);
    let text = String::from_utf8_lossy(&wrong.stderr);
    assert!(!wrong.status.success() && text.contains("no such column") && text.contains("waits"), "{text}");
    // Standard output is a pipe here.
    let no_terminal = top(&[]);
    let text = String::from_utf8_lossy(&no_terminal.stderr);
    assert!(!no_terminal.status.success() && text.contains("--once"), "{text}");
}
