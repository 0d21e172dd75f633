//! Commands that read are confined while they read; what they may do then is tested where it is made (`crates/rights`).

use crate::common::skipped;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Every command that reads standard input.
const READERS: [&[&str]; 14] = [
    &["diagnose", "-"],
    &["report", "-"],
    &["summary", "-"],
    &["host", "-"],
    &["disks", "-"],
    &["files", "-"],
    &["fds", "-"],
    &["peers", "-"],
    &["requests", "-"],
    &["locks", "-"],
    &["path", "-"],
    &["threads", "-"],
    &["profile", "-"],
    &["diff", "-", "/dev/null"],
];

fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("whyslow")
}

/// What all threads of a process have in these fields of their status.
fn threads(pid: u32) -> Vec<(String, String)> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let texts = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok());
    let field = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim().to_string()
    };
    texts.map(|text| (field(&text, "Seccomp:"), field(&text, "NoNewPrivs:"))).collect()
}

#[test]
fn all_readers_are_confined_before_they_read() {
    if !std::fs::read_to_string("/proc/self/status").is_ok_and(|text| text.contains("\nSeccomp:")) {
        return skipped("this kernel has no seccomp");
    }
    for arguments in READERS {
        let mut child = start(arguments);
        let began = Instant::now();
        let is_confined = |all: &[(String, String)]| {
            !all.is_empty() && all.iter().all(|(seccomp, privileges)| seccomp == "2" && privileges == "1")
        };
        // It waits for standard input, of which nothing was written yet.
        while !is_confined(&threads(child.id())) {
            assert!(began.elapsed() < Duration::from_secs(20), "{arguments:?}: {:?}", threads(child.id()));
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(child.stdin.take());
        child.wait().expect("a child");
    }
}
