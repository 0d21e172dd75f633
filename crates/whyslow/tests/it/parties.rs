//! Captures of several processes, each traced by a strace of its own (`cases/captures`, which has the programs and how they were recorded): whose time is
//! told, and how the waits are followed into the other traces.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/captures").join(name)
}

/// The diagnosis of all files of a folder.
fn diagnosis(name: &str, more: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.args(["diagnose", "--json"]).args(more).arg(folder(name)).stdin(Stdio::null());
    let output = command.output().expect("the binary runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{name}: {error}: {told}"))
}

fn verdict(diagnosis: &Value) -> &str {
    diagnosis["verdict"].as_str().expect("a verdict")
}

/// Who is followed: name, waits away.
fn followed(diagnosis: &Value) -> Vec<(String, u64)> {
    let rows = diagnosis["target"]["followed"].as_array().cloned().unwrap_or_default();
    let mut rows: Vec<(String, u64)> = rows
        .iter()
        .map(|row| (row["comm"].as_str().unwrap_or_default().to_string(), row["hop"].as_u64().unwrap_or(0)))
        .collect();
    rows.sort_by_key(|(_, hop)| *hop);
    rows
}

fn notes(diagnosis: &Value) -> String {
    let notes = diagnosis["target"]["notes"].as_array().cloned().unwrap_or_default();
    notes.iter().filter_map(|note| note["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// What the process at the end of the target's waits does.
fn culprits(diagnosis: &Value) -> Vec<String> {
    let findings = diagnosis["findings"].as_array().cloned().unwrap_or_default();
    let does = findings.iter().filter_map(|finding| finding["culprit"]["does"].as_str().map(str::to_string));
    does.collect()
}

fn names(rows: &[(String, u64)]) -> Vec<&str> {
    rows.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn the_chain_goes_on_over_tcp_and_a_unix_socket_to_the_database_and_its_file() {
    let told = diagnosis("three-hop", &[]);
    let rows = followed(&told);
    assert_eq!(rows.iter().map(|(_, hop)| *hop).collect::<Vec<_>>(), [1, 2], "{rows:?}");
    assert!(verdict(&told).contains("/tmp/orders/orders.db in fsync"), "{}", verdict(&told));
    assert!(culprits(&told).iter().any(|does| does.contains("orders.db in fsync")), "{:?}", culprits(&told));
}

#[test]
fn addresses_and_descriptor_lists_join_what_no_annotation_tells() {
    let told = diagnosis("three-hop-plain", &[]);
    let rows = followed(&told);
    assert_eq!(rows.iter().map(|(_, hop)| *hop).collect::<Vec<_>>(), [1, 2], "{rows:?}\n{}", notes(&told));
    assert!(verdict(&told).contains("orders.db in fsync"), "{}", verdict(&told));
}

#[test]
fn another_process_can_be_asked_for() {
    let all = diagnosis("three-hop", &[]);
    let service = all["target"]["followed"][0]["pid"].as_u64().expect("the service").to_string();
    let told = diagnosis("three-hop", &["-p", &service]);
    assert_eq!(followed(&told).len(), 1, "{}", notes(&told));
    assert!(notes(&told).contains("which was asked for"), "{}", notes(&told));
    let output = Command::new(env!("CARGO_BIN_EXE_whyslow"))
        .args(["diagnose", "-p", "1"])
        .arg(folder("three-hop"))
        .output()
        .expect("the binary runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("no calls of process 1") && error.contains(&service), "{error}");
}

#[test]
fn a_pipeline_waits_for_the_one_that_computes() {
    let told = diagnosis("pipeline", &[]);
    let rows = followed(&told);
    assert_eq!(rows.len(), 1, "{rows:?}\n{}", notes(&told));
    assert!(culprits(&told).iter().any(|does| does.contains("computes")), "{:?}", culprits(&told));
}

#[test]
fn the_holder_of_a_lock_is_in_another_trace() {
    let told = diagnosis("lock-holder", &[]);
    assert_eq!(followed(&told).len(), 1, "{}", notes(&told));
    assert!(verdict(&told).contains("store.copy in fsync"), "{}", verdict(&told));
}

#[test]
fn two_processes_in_one_log_without_threads_are_no_threads_of_one() {
    let told = diagnosis("one-log", &["-p", "420"]);
    assert_eq!(followed(&told).len(), 1, "{}", notes(&told));
    assert!(verdict(&told).contains("store.copy in fsync"), "{}", verdict(&told));
}

#[test]
fn who_traces_two_programs_in_one_log_asks_for_both() {
    let told = diagnosis("one-log", &[]);
    assert_eq!(followed(&told).len(), 0, "{}", notes(&told));
    assert_eq!(told["target"]["processes"].as_array().map(Vec::len), Some(2));
}

#[test]
fn what_no_absolute_time_joins_is_not_joined_and_that_is_said() {
    let told = diagnosis("no-absolute-time", &[]);
    assert_eq!(names(&followed(&told)), [""; 0]);
    assert!(notes(&told).contains("cannot be joined in time"), "{}", notes(&told));
    assert!(culprits(&told).is_empty(), "{:?}", culprits(&told));
}

#[test]
fn windows_that_do_not_meet_are_not_joined() {
    let told = diagnosis("no-overlap", &[]);
    assert!(followed(&told).is_empty() && culprits(&told).is_empty(), "{:?}", followed(&told));
    assert!(notes(&told).contains("are of different times"), "{}", notes(&told));
}

#[test]
fn a_connection_of_which_one_end_is_traced_leads_nowhere() {
    let told = diagnosis("one-end", &[]);
    assert!(followed(&told).is_empty() && culprits(&told).is_empty(), "{:?}", followed(&told));
    assert!(notes(&told).contains("is left out"), "{}", notes(&told));
}

#[test]
fn a_port_that_is_used_again_is_another_connection() {
    let told = diagnosis("port-again", &[]);
    assert!(followed(&told).is_empty() && culprits(&told).is_empty(), "{:?}", followed(&told));
}
