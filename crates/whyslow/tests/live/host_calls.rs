//! `whyslow summary` of the whole host beside what programs know of themselves, and beside perf stat over the same window.

use crate::common::skipped;
use serde_json::Value;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const WHYSLOW: &str = env!("CARGO_BIN_EXE_whyslow");
/// Two processes of two threads each make so many calls a thread of one that hardly any other program makes.
const CALLS: u64 = 20_011;
const THREADS: u64 = 4;

const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *calls(void *count)
{
	for (long i = 0; i < (long)count; i++)
		syscall(SYS_sched_get_priority_min, 0);
	return NULL;
}

int main(int argc, char **argv)
{
	void *count = (void *)atol(argv[1]);
	pid_t child = fork();
	pthread_t thread;

	pthread_create(&thread, NULL, calls, count);
	calls(count);
	pthread_join(thread, NULL);
	if (child)
		waitpid(child, NULL, 0);
	return 0;
}
"#;

/// Each looks at the whole host for programs of one name: one after the other, though they may be processes of their own.
fn alone() -> File {
    let lock = File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("host-calls.lock")).expect("a file");
    lock.lock().expect("a lock");
    lock
}

/// The program, built; `None` where there is no compiler.
fn built(folder: &Path) -> Option<String> {
    let (source, program) = (folder.join("loop.c"), folder.join("rare-loop"));
    std::fs::write(&source, PROGRAM).expect("a source");
    let cc = Command::new("cc").args(["-O1", "-pthread", "-o"]).arg(&program).arg(&source).status();
    match cc {
        Ok(status) if status.success() => Some(program.to_string_lossy().into_owned()),
        other => {
            skipped(format_args!("cc: {other:?}"));
            None
        }
    }
}

/// A summary of the recording by that key: its rows and its total.
fn summary(recording: &Path, by: &str) -> (Vec<Value>, Value) {
    let output = Command::new(WHYSLOW)
        .args(["summary", "--json", "--top", "0", "--by", by])
        .arg(recording)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    (json["rows"].as_array().expect("rows").clone(), json["total"].clone())
}

fn count(row: &Value, column: &str) -> u64 {
    row[column].as_u64().unwrap_or_else(|| panic!("{column} of {row}"))
}

/// Records the whole host while `command` runs; false, with the reason printed, where that is not possible.
fn record(recording: &Path, command: &[&str], around: &[&str]) -> bool {
    let able = Command::new(WHYSLOW).arg("doctor").stdin(Stdio::null()).output().expect("the binary runs");
    if !able.status.success() {
        skipped("no live recording by BPF here");
        return false;
    }
    let words: Vec<&str> =
        around.iter().copied().chain([WHYSLOW, "record", "-a", "--mode", "counts", "-o"]).collect();
    let mut recorder = Command::new(words[0]);
    recorder.args(&words[1..]).arg(recording).arg("--").args(command).stdin(Stdio::null());
    let output = recorder.output().expect("the recorder runs");
    let told = String::from_utf8_lossy(&output.stderr);
    if told.contains("unshare:") || told.contains("mount:") {
        skipped(format_args!("{told}"));
        return false;
    }
    assert!(output.status.success(), "{told}");
    true
}

#[test]
fn every_call_is_counted_once_by_each_key() {
    let _alone = alone();
    let folder = TempDir::new().expect("a folder");
    let Some(program) = built(folder.path()) else { return };
    let recording = folder.path().join("host.whyslow");
    if !record(&recording, &[&program, &CALLS.to_string()], &[]) {
        return;
    }
    let named = |rows: &[Value], key: &str| -> Vec<Value> {
        let mine = |row: &&Value| row[key].as_str().is_some_and(|name| name.contains("rare-loop"));
        rows.iter().filter(mine).filter(|row| row["syscall"] == "sched_get_priority_min").cloned().collect()
    };
    let (processes, whole) = summary(&recording, "process,syscall");
    let by_process: Vec<u64> = named(&processes, "process").iter().map(|row| count(row, "calls")).collect();
    assert_eq!(by_process, [2 * CALLS, 2 * CALLS], "two processes of two threads");
    let (threads, _) = summary(&recording, "thread,syscall");
    let by_thread: Vec<u64> = named(&threads, "thread").iter().map(|row| count(row, "calls")).collect();
    assert_eq!(by_thread, [CALLS; THREADS as usize]);
    for row in named(&threads, "thread") {
        let [min, p50, p99, max] = ["min", "p50", "p99", "max"].map(|column| count(&row, column));
        assert!(0 < min && min <= p50 && p50 <= p99 && p99 <= max, "{row}");
        assert!(count(&row, "total") >= CALLS * min && row["nature"] == "working", "{row}");
    }
    // However they are split, the parts are the whole, and what ended has a time.
    for by in ["syscall", "process", "thread", "cgroup", "container", "cgroup,syscall", "container,syscall"] {
        let (rows, total) = summary(&recording, by);
        for column in ["calls", "errors", "total"] {
            let sum: u64 = rows.iter().map(|row| row[column].as_u64().unwrap_or(0)).sum();
            assert_eq!(sum, count(&whole, column), "{column} by {by}");
            assert_eq!(count(&total, column), count(&whole, column), "{column} of all by {by}");
        }
        for row in &rows {
            // A call that did not end (exit, a wait at the end of the recording) has no time, rather than none.
            let times = ["total", "min", "max", "p50", "p99"].map(|column| row[column].is_u64());
            assert!(times == [true; 5] || times == [false; 5], "{row}");
            let never_ends = row["syscall"].as_str().is_some_and(|name| name.starts_with("exit"));
            assert!(times[0] || never_ends || count(row, "calls") < 1_000, "{row}");
        }
    }
    // What runs there is named, and its control group is known.
    let (groups, _) = summary(&recording, "cgroup,syscall");
    let calls = |rows: &[Value], unknown: bool| -> u64 {
        let of = |row: &&Value| {
            row["syscall"] == "sched_get_priority_min" && (row["cgroup"] == "(unknown)") == unknown
        };
        rows.iter().filter(of).map(|row| count(row, "calls")).sum()
    };
    assert!(calls(&groups, false) >= THREADS * CALLS && calls(&groups, true) == 0, "{groups:?}");
}

/// perf counts the same tracepoint on all CPUs, within our window.
#[test]
fn counts_are_those_of_perf_stat() {
    let _alone = alone();
    let folder = TempDir::new().expect("a folder");
    let Some(program) = built(folder.path()) else { return };
    let (recording, table) = (folder.path().join("host.whyslow"), folder.path().join("perf.csv"));
    let perf = ["perf", "stat", "-a", "-x,", "-e", "syscalls:sys_enter_sched_get_priority_min", "-o"];
    let table_name = table.to_string_lossy().into_owned();
    let calls = CALLS.to_string();
    let command: Vec<&str> = perf.into_iter().chain([table_name.as_str(), "--", &program, &calls]).collect();
    // perf finds tracepoints in tracefs, which need not be mounted: in a namespace of our own it is.
    let mount =
        "[ -d /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing; exec \"$@\"";
    let able = Command::new("perf").arg("--version").output().is_ok_and(|output| output.status.success());
    if !able {
        return skipped("no perf here");
    }
    if !record(&recording, &command, &["unshare", "-m", "sh", "-ec", mount, "sh"]) {
        return;
    }
    let told = std::fs::read_to_string(&table).unwrap_or_default();
    let counted = told
        .lines()
        .find(|line| line.contains("sys_enter_sched_get_priority_min"))
        .and_then(|line| line.split(',').next());
    let Some(perfs) = counted.and_then(|number| number.parse::<u64>().ok()) else {
        return skipped(format_args!("perf stat cannot count here: {told}"));
    };
    let (rows, _) = summary(&recording, "syscall");
    let row = rows.iter().find(|row| row["syscall"] == "sched_get_priority_min").expect("the call");
    let ours = count(row, "calls");
    assert!(ours >= THREADS * CALLS && perfs >= THREADS * CALLS, "{ours} and {perfs}");
    assert!(ours.abs_diff(perfs) * 100 <= perfs, "ours {ours}, perf's {perfs}");
}
