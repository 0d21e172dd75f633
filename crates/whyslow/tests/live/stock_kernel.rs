//! whyslow on a stock kernel of Debian, booted once under emulation for all tests here (cases/stock-kernel): what the kernel that
//! people run allows, which the one that the tests run on may not. Skipped, with a printed line, where it cannot be booted.

use crate::common::skipped;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// What a command in the guest wrote, and how it ended.
#[derive(Debug, Default)]
struct Ended {
    out: String,
    err: String,
    status: i32,
}

impl Ended {
    fn json(&self) -> Value {
        assert_eq!(self.status, 0, "{self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Ends of cases/stock-kernel/boot: this machine cannot boot the guest.
const CANNOT: i32 = 77;

/// The checks of cases/stock-kernel/checks by name; `None`, with the reason printed, where there is no guest.
fn guest() -> Option<&'static HashMap<String, Ended>> {
    static GUEST: OnceLock<Option<HashMap<String, Ended>>> = OnceLock::new();
    let guest = GUEST.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stock-kernel");
        let boot = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/stock-kernel/boot");
        let booted = Command::new(boot)
            .arg(env!("CARGO_BIN_EXE_whyslow"))
            .arg(&folder)
            .stdin(Stdio::null())
            .output()
            .expect("the harness starts");
        let told = String::from_utf8_lossy(&booted.stderr).into_owned();
        match booted.status.code() {
            Some(0) => {
                let results = std::fs::read(folder.join("results")).expect("the guest's results");
                Some(frames(&String::from_utf8_lossy(&results)))
            }
            Some(CANNOT) => {
                skipped(format_args!("{}", told.trim()));
                None
            }
            _ => panic!("{told}"),
        }
    });
    guest.as_ref()
}

/// The frames of cases/stock-kernel/README.md.
fn frames(results: &str) -> HashMap<String, Ended> {
    let mut checks: HashMap<String, Ended> = HashMap::new();
    let mut into_err = false;
    let mut name = String::new();
    for line in results.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["@@begin", of] => (name, into_err) = (of.to_string(), false),
            ["@@err", of] if of == name => into_err = true,
            ["@@end", of, status, ..] if of == name => {
                checks.entry(std::mem::take(&mut name)).or_default().status =
                    status.parse().expect("a status");
            }
            _ if !name.is_empty() => {
                let check = checks.entry(name.clone()).or_default();
                let text = if into_err { &mut check.err } else { &mut check.out };
                text.push_str(line);
                text.push('\n');
            }
            _ => {}
        }
    }
    checks
}

/// The result of a check, or an end of the test where there is no guest.
macro_rules! check {
    ($name:literal) => {
        match guest() {
            Some(checks) => checks.get($name).unwrap_or_else(|| panic!("the guest made no check {}", $name)),
            None => return,
        }
    };
}

/// The row of a view's table in which `key` is `value`.
fn row<'a>(table: &'a Value, key: &str, value: &str) -> &'a Value {
    let rows = table["rows"].as_array().expect("rows");
    rows.iter().find(|row| row[key] == value).unwrap_or_else(|| panic!("no {value} in {table:#}"))
}

#[test]
fn doctor_finds_all_that_a_stock_kernel_has() {
    let told = check!("doctor").json();
    assert_eq!(told["ability"], "bpf");
    let checks = told["checks"].as_array().unwrap();
    for check in checks {
        // An emulated CPU's clock may be a slow one, and the guest is small.
        let may_miss = ["clock source", "memory", "open files"].iter().any(|name| check["name"] == *name);
        assert!(check["state"] == "ok" || may_miss, "{check:#}");
    }
    for name in
        ["fentry programs", "kprobes", "kernel symbols", "delay accounting", "pressure", "control groups"]
    {
        assert!(checks.iter().any(|check| check["name"] == name), "{name}");
    }
}

/// dd makes one read and one write a block, and busybox's none besides but for its last words.
const BLOCKS: u64 = 2311;

#[test]
fn each_call_is_recorded() {
    let recorded = check!("record-dd");
    assert_eq!(recorded.status, 0, "{recorded:?}");
    assert!(recorded.err.contains(" in full, 0 lost"), "{recorded:?}");
    let table = check!("record-dd-summary").json();
    assert_eq!(row(&table, "syscall", "read")["calls"], BLOCKS, "{table:#}");
    assert!(row(&table, "syscall", "write")["calls"].as_u64() >= Some(BLOCKS), "{table:#}");
}

#[test]
fn calls_are_counted_in_the_kernel_and_by_ptrace() {
    assert_eq!(row(&check!("count-dd").json(), "syscall", "read")["calls"], BLOCKS);
    assert_eq!(row(&check!("ptrace-dd").json(), "syscall", "read")["calls"], 101);
}

#[test]
fn the_whole_host_is_summed_up() {
    let table = check!("summary-all").json();
    assert!(row(&table, "syscall", "read")["calls"].as_u64() > Some(0), "{table:#}");
}

#[test]
fn what_is_done_with_a_file_is_added_up_under_its_path() {
    let checked = check!("files");
    assert_eq!(checked.status, 0, "{checked:?}");
    let table = checked.json();
    let (gone, zero) = (row(&table, "path", "/tmp/gone"), row(&table, "path", "/dev/zero"));
    for (file, calls, bytes) in [(gone, "writes", "bytes_written"), (zero, "reads", "bytes_read")] {
        assert_eq!(file["opens"], 1, "{table:#}");
        assert_eq!(file[calls], BLOCKS, "{table:#}");
        assert_eq!(file[bytes], BLOCKS * 512, "{table:#}");
        // busybox's shell runs its own dd without exec.
        let named = |process: &str| process.ends_with(" dd") || process.ends_with(" sh");
        assert!(file["process"].as_str().is_some_and(named), "{table:#}");
    }
}

#[test]
fn a_calm_host_is_called_calm() {
    let told = check!("calm").json();
    assert!(told["findings"].as_array().unwrap().is_empty(), "{:#}", told["findings"]);
    assert_eq!(told["target"]["lost_events"], 0);
    for resource in told["walk"]["resources"].as_array().unwrap() {
        assert_ne!(resource["state"], "saturated", "{resource:#}");
    }
    for name in ["CPU", "memory", "disk vda", "limits"] {
        let resources = told["walk"]["resources"].as_array().unwrap();
        let of = resources.iter().find(|resource| resource["name"] == name);
        assert!(of.is_some_and(|resource| resource["state"] == "not"), "{name}: {resources:#?}");
    }
    // The kernel's own threads make no calls.
    let calls = told["target"]["events"].as_u64().unwrap();
    assert!(
        !told["walk"]["next"].as_str().unwrap().contains("of its calls are read"),
        "{calls}: {}",
        told["walk"]["next"]
    );
    // Its threads that ran as it came up are idle now.
    for process in told["walk"]["processes"].as_array().unwrap() {
        assert!(!process["takes"].to_string().contains("over its life"), "{process:#}");
    }
}

#[test]
fn who_waits_for_a_slow_disk_is_seen() {
    let told = check!("slow-disk").json();
    let processes = told["walk"]["processes"].as_array().unwrap();
    let reader =
        processes.iter().find(|process| process["comm"] == "dd").unwrap_or_else(|| panic!("{processes:#?}"));
    let waits = reader["waits"].as_array().unwrap();
    let delay =
        waits.iter().find(|wait| wait["what"] == "block_delay").unwrap_or_else(|| panic!("{reader:#}"));
    // 40 requests a second, one at a time: it waits for nothing else, but the emulator may be slow to run it.
    assert!(delay["value"].as_f64() > Some(0.3) && delay["value"].as_f64() < Some(1.2), "{delay:#}");
    let resources = told["walk"]["resources"].as_array().unwrap();
    let disk = resources.iter().find(|resource| resource["name"] == "disk vda").unwrap();
    assert!(
        disk["state"] != "unknown" && disk["reason"].as_str().unwrap().contains("per request"),
        "{disk:#}"
    );
}

#[test]
fn the_waits_of_its_thread_are_for_the_disk() {
    let told = check!("slow-disk-report").json();
    let thread = &told["time"][0];
    let disk = thread["waits"].as_array().unwrap().iter().find(|wait| wait["kind"] == "disk");
    let share = disk.and_then(|wait| Some(wait["ns"].as_f64()? / thread["wall_ns"].as_f64()?));
    assert!(share > Some(0.3), "{thread:#}");
}

/// Rounds of the guest's loop, each with a file that is there and one that is not.
const ROUNDS: u64 = 1999;

#[test]
fn who_waits_for_a_disk_is_woken_by_its_interrupt() {
    let Some(checks) = guest() else { return };
    let threads = checks["slow-disk-threads"].json();
    let woken: Vec<&str> =
        threads["rows"].as_array().unwrap().iter().filter_map(|row| row["woken_by"].as_str()).collect();
    assert!(woken.iter().any(|by| by.contains("interrupt")), "{woken:?}");
}

#[test]
fn a_function_of_the_kernel_is_counted_as_often_as_it_is_called() {
    let checks = [
        (
            check!("probe-fentry"),
            check!("probe-fentry-functions"),
            check!("probe-fentry-processes"),
            check!("probe-fentry-calls"),
        ),
        (
            check!("probe-kprobe"),
            check!("probe-kprobe-functions"),
            check!("probe-kprobe-processes"),
            check!("probe-kprobe-calls"),
        ),
    ];
    for (recorded, functions, processes, calls) in checks {
        assert_eq!(recorded.status, 0, "{recorded:?}");
        let (functions, processes, calls) = (functions.json(), processes.json(), calls.json());
        let calls = row(&calls, "syscall", "newfstatat");
        assert!(calls["calls"].as_u64() >= Some(2 * ROUNDS), "{calls:#}");
        for table in [&functions, &processes] {
            let function = row(table, "function", "vfs_fstatat");
            for key in ["calls", "errors"] {
                assert_eq!(function[key], calls[key], "{key}: {table:#} {calls:#}");
            }
            // Its time is part of the call's.
            assert!(
                function["total"].as_u64() > Some(0) && function["total"].as_u64() < calls["total"].as_u64(),
                "{table:#}"
            );
            assert!(function["min"].as_u64() <= function["p50"].as_u64(), "{table:#}");
        }
        let notes: Vec<&str> =
            functions["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let way =
            notes.iter().find(|note| note.starts_with("vfs_statx: ") && note.contains(" by vfs_fstatat < "));
        let way = way.unwrap_or_else(|| panic!("{notes:#?}"));
        assert!(way.contains("newfstatat"), "{way}");
        assert!(
            notes.iter().any(|note| note.starts_with("vfs_fstatat: ") && note.contains("of the calls take")),
            "{notes:#?}"
        );
    }
}

#[test]
fn calls_beyond_what_a_kretprobe_follows_are_counted() {
    let checked = check!("probe-many");
    let table = checked.json();
    assert_eq!(row(&table, "function", "hrtimer_nanosleep")["calls"], 23, "{table:#}");
}

#[test]
fn what_cannot_be_probed_is_told_before_anything_is_recorded() {
    for (checked, told) in [
        (check!("probe-no-such"), "there are vfs_fstat"),
        (check!("probe-too-many"), "functions are meant, and 16 can be probed at a time"),
    ] {
        assert_eq!(checked.status, 2, "{checked:?}");
        assert!(checked.err.contains(told) && checked.err.contains("next: "), "{checked:?}");
    }
}
