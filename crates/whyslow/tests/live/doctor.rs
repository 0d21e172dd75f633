//! `whyslow doctor` as root, as nobody, and with the two capabilities that BPF needs.

use crate::common::skipped;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

fn doctor(command: &mut Command) -> (Option<i32>, Value) {
    let output = command.args(["doctor", "--json"]).stdin(Stdio::null()).output().unwrap();
    let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (output.status.code(), json)
}

fn state<'a>(json: &'a Value, name: &str) -> (&'a str, &'a str) {
    let checks = json["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    (check["state"].as_str().unwrap(), check["remedy"].as_str().unwrap_or(""))
}

fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|text| text.contains("\nUid:\t0\t0\t"))
}

/// The binary where nobody may run it; `None`, with the reason printed, where nobody cannot be had.
fn for_nobody() -> Option<(TempDir, PathBuf)> {
    if !is_root() {
        skipped("only root can become nobody");
        return None;
    }
    if Command::new("setpriv").arg("--version").output().is_err() {
        skipped("no setpriv");
        return None;
    }
    let directory = tempfile::tempdir().unwrap();
    let binary = directory.path().join("whyslow");
    std::fs::copy(env!("CARGO_BIN_EXE_whyslow"), &binary).unwrap();
    for path in [directory.path(), &binary] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    Some((directory, binary))
}

fn as_nobody(binary: &Path, more: &[&str]) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).args(more).arg(binary);
    command
}

#[test]
fn the_status_tells_what_is_possible() {
    let (status, json) = doctor(&mut Command::new(env!("CARGO_BIN_EXE_whyslow")));
    let expected = match json["ability"].as_str().unwrap() {
        "bpf" => 0,
        "ptrace" => 1,
        "captures-only" => 2,
        other => panic!("{other}"),
    };
    assert_eq!(status, Some(expected));
    assert_eq!(state(&json, "BPF programs").0 == "ok", expected == 0);
}

#[test]
fn nobody_is_told_the_way_to_rights() {
    let Some((_directory, binary)) = for_nobody() else { return };
    let (status, json) = doctor(&mut as_nobody(&binary, &[]));
    assert_ne!(status, Some(0));
    assert_ne!(json["ability"], "bpf");
    for name in ["CAP_BPF", "CAP_PERFMON", "BPF programs"] {
        let (state, remedy) = state(&json, name);
        assert_eq!(state, "missing", "{name}");
        assert!(remedy.contains("cap"), "{name}: {remedy}");
    }
    let bound = doctor(&mut as_nobody(&binary, &["--no-new-privs"])).1;
    assert!(state(&bound, "CAP_BPF").1.contains("no_new_privs"));
    let shut_out = doctor(&mut as_nobody(&binary, &["--bounding-set=-bpf"])).1;
    let remedy = state(&shut_out, "CAP_BPF").1;
    assert!(remedy.contains("--cap-add BPF") || remedy.contains("CapabilityBoundingSet"), "{remedy}");
}

#[test]
fn two_capabilities_are_enough_for_bpf() {
    let Some((_directory, binary)) = for_nobody() else { return };
    let (status, _) = doctor(&mut Command::new(&binary));
    if status != Some(0) {
        skipped("no BPF here, even for root");
        return;
    }
    let two = ["--inh-caps=+bpf,+perfmon", "--ambient-caps=+bpf,+perfmon"];
    let (status, json) = doctor(&mut as_nobody(&binary, &two));
    assert_eq!((status, &json["ability"]), (Some(0), &Value::from("bpf")), "{json}");
    assert_eq!((state(&json, "CAP_BPF").0, state(&json, "CAP_SYS_ADMIN").0), ("ok", "missing"));
}

#[test]
fn people_read_a_verdict_first_and_the_way_out_once() {
    let Some((_directory, binary)) = for_nobody() else { return };
    let read = |verbose: &[&str]| {
        let output = as_nobody(&binary, &[]).arg("doctor").args(verbose).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = read(&[]);
    assert!(text.starts_with("Live recording "), "{text}");
    assert!(text.contains("do: as above"), "{text}");
    assert!(!text.contains("reading the clock is cheap"), "what is well is not explained: {text}");
    assert!(read(&["--verbose"]).contains("all calls are open") || !text.contains("no filter"));
}

/// A kernel may allow no function to be probed (lockdown, no kprobes): then that is told before anything is recorded.
#[test]
fn a_probe_works_or_tells_why_not() {
    let whyslow = || Command::new(env!("CARGO_BIN_EXE_whyslow"));
    let (_, json) = doctor(&mut whyslow());
    let output = whyslow()
        .args(["summary", "--by", "function", "--probe", "vfs_read", "--", "true"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (out, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let allows = |name| state(&json, name).0 == "ok";
    if json["ability"] == "bpf" && (allows("fentry programs") || allows("kprobes")) {
        assert!(output.status.success() && out.contains("vfs_read"), "{output:?}");
        return;
    }
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(told.contains("--probe") && told.contains("next: ") && told.contains("whyslow doctor"), "{told}");
    assert!(out.is_empty(), "{out}");
    if json["ability"] == "bpf" {
        assert!(told.contains("CONFIG_KPROBES"), "{told}");
    }
}
