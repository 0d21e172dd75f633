//! The page as people write it: what is in it, that nothing hostile gets out of its data, and that its times are all of them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::process::Command;

/// A trace with names that a page must not act upon, and a secret.
const TRACE: &str = "\
7 10:00:00.000000 openat(AT_FDCWD, \"/tmp/</script><script>alert(1)</script>\u{202e}\", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000100>\n\
7 10:00:00.001000 write(1, \"GET /?token=hunter2hunter2 HTTP/1.1\", 35) = 35 <0.000200>\n\
7 10:00:00.002000 nanosleep({tv_sec=0, tv_nsec=500000000}, NULL) = 0 <0.500000>\n\
7 10:00:00.600000 fsync(3) = 0 <0.300000>\n\
7 10:00:01.000000 exit_group(0) = ?\n";

fn written(args: &[&str], folder: &std::path::Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    let done = command.args(args).current_dir(folder).output().expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read_to_string(folder.join("x.html")).expect("a page")
}

fn data(page: &str) -> Value {
    let begin = page.find("id=\"whyslow-data\">").expect("data") + "id=\"whyslow-data\">".len();
    let packed = page[begin..].split('<').next().unwrap_or_default();
    let packed = STANDARD.decode(packed).expect("base64");
    let mut json = String::new();
    flate2::read::GzDecoder::new(&*packed).read_to_string(&mut json).expect("gzip");
    serde_json::from_str(&json).expect("JSON")
}

#[test]
fn a_page_has_all_time_and_lets_nothing_hostile_out() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.st"), TRACE).expect("a trace");
    let page = written(&["report", "a.st", "-o", "x.html"], folder.path());
    assert!(!page.contains("<script>alert") && !page.contains(" style=\""));
    // What runs and styles is what the policy names, and no more.
    for (open, close) in [("<script>", "</script>"), ("<style>", "</style>")] {
        for part in page.split(open).skip(1) {
            let text = part.split(close).next().unwrap_or_default();
            let hash = STANDARD.encode(Sha256::digest(text.as_bytes()));
            assert!(page.contains(&format!("'sha256-{hash}'")), "{open}");
        }
    }
    let data = data(&page);
    assert!(!data.to_string().contains("hunter2"));
    let run = &data["runs"][0];
    assert_eq!((&run["name"], &run["kind"]), (&Value::from("a.st"), &Value::from("capture")));
    let timeline = &run["timeline"];
    assert_eq!(timeline["slices"]["start"].as_array().map(Vec::len), Some(5));
    assert_eq!(run["left_out"].as_array().map(Vec::len), Some(0), "{}", run["left_out"]);
    // From the first call to the end of the last that is known to have ended, each nanosecond once.
    let sum: u64 = timeline["tiles"]["ns"].as_array().into_iter().flatten().filter_map(Value::as_u64).sum();
    assert_eq!(sum, 900_000_000);
}

#[test]
fn two_runs_stand_on_one_page() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.st", "b.st"] {
        std::fs::write(folder.path().join(name), TRACE).expect("a trace");
    }
    let data = data(&written(&["diff", "a.st", "b.st", "-o", "x.html"], folder.path()));
    assert_eq!(data["runs"].as_array().map(Vec::len), Some(2));
    assert_eq!(data["diff"]["schema"], "whyslow.diff/1");
}

/// The data as a server of pages gets it.
fn served(file: &std::path::Path, folder: &std::path::Path) -> Option<Value> {
    let out = folder.join("served.gz");
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    let done = command.args(["report", "--page-data", "-o"]).arg(&out).arg(file).output().expect("it runs");
    if !done.status.success() {
        return None;
    }
    let mut json = String::new();
    let packed = std::fs::File::open(&out).expect("a page");
    flate2::read::GzDecoder::new(packed).read_to_string(&mut json).expect("gzip");
    Some(serde_json::from_str(&json).expect("JSON"))
}

/// In all captures whose account is one of threads: what the tiles know is what the account knows.
#[test]
fn tiles_add_up_to_the_account_in_all_captures() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = Vec::new();
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases");
    for root in [crate::captures::OWN, cases] {
        let entries = walkdir(std::path::Path::new(root));
        files.extend(entries.into_iter().filter(|file| {
            let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            ["st", "log", "strace", "txt"].contains(&ending)
        }));
    }
    let mut compared = 0;
    for file in files {
        let Some(data) = served(&file, folder.path()) else { continue };
        let run = &data["page"]["runs"][0];
        let account = &run["diagnosis"]["account"];
        if account["of"] != "threads" {
            continue;
        }
        let ns = |name: &str| account[name].as_u64().expect("a figure");
        let column = |name: &str| -> Vec<u64> {
            let column = run["timeline"]["tiles"][name].as_array().expect("a column");
            column.iter().map(|value| value.as_u64().expect("a number")).collect()
        };
        let is_target = |thread: u64| run["threads"][thread as usize]["target"] == true;
        let tiles = column("ns").into_iter().zip(column("state")).zip(column("thread"));
        // State 10 is unknown.
        let known = tiles.filter(|((_, state), thread)| *state != 10 && is_target(*thread));
        let sum: u64 = known.map(|((ns, _), _)| ns).sum();
        let told = ns("ns") + ns("idle_ns") - ns("unknown_ns");
        // Each part of an account is rounded by itself.
        assert!(sum.abs_diff(told) <= 2 + told / 1_000_000, "{}: {sum} and {told}", file.display());
        compared += 1;
    }
    assert!(compared >= 15, "{compared} captures were compared");
}

/// Two threads, a file, a peer, a lock, a failed call: what a page has of each.
const SMALL: &str = "\
7 10:00:00.000000 openat(AT_FDCWD, \"/etc/app-1.conf\", O_RDONLY) = 3 <0.000050>\n\
7 10:00:00.001000 read(3, \"a=1\", 4096) = 3 <0.000100>\n\
7 10:00:00.002000 openat(AT_FDCWD, \"/etc/app-2.conf\", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000040>\n\
7 10:00:00.003000 socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 4 <0.000020>\n\
7 10:00:00.004000 connect(4, {sa_family=AF_INET, sin_port=htons(5432), sin_addr=inet_addr(\"10.0.0.7\")}, 16) = 0 <0.000900>\n\
7 10:00:00.005000 clone(child_stack=0x7f0000000000, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM) = 8 <0.000080>\n\
8 10:00:00.006000 futex(0x7f10, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>\n\
7 10:00:00.007000 sendto(4, \"ping\", 4, 0, NULL, 0) = 4 <0.000030>\n\
7 10:00:00.008000 recvfrom(4, \"pong\", 64, 0, NULL, NULL) = 4 <0.200000>\n\
7 10:00:00.300000 futex(0x7f10, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000020>\n\
8 10:00:00.300030 <... futex resumed>) = 0 <0.294030>\n\
8 10:00:00.301000 write(3, \"x\", 1) = -1 EBADF (Bad file descriptor) <0.000010>\n\
7 10:00:00.400000 exit_group(0) = ?\n";

/// What the scripts get, with what other tests hold (the diagnosis) and what changes with each version left out.
#[test]
fn the_data_of_a_small_capture() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("small.st"), SMALL).expect("a trace");
    let mut data = data(&written(&["report", "small.st", "-o", "x.html"], folder.path()));
    data["made_by"] = Value::from("whyslow");
    let run = &mut data["runs"][0];
    let account = run["diagnosis"]["account"]["rows"].take();
    let rows = account.as_array().into_iter().flatten();
    run["diagnosis"] = rows
        .map(|row| {
            let words = ["who", "state", "call", "object", "ns"].map(|field| match &row[field] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            Value::from(words.join(" | "))
        })
        .collect();
    // A number before each text: other columns name it.
    let texts = run["texts"].as_array().into_iter().flatten().filter_map(Value::as_str);
    run["texts"] = texts.enumerate().map(|(at, text)| Value::from(format!("{at}: {text}"))).collect();
    insta::assert_snapshot!(readable(&data, 0));
}

/// JSON with columns, rows, and what has no parts on a line each; texts one below the other.
fn readable(value: &Value, depth: usize) -> String {
    let (begin, end) = ("  ".repeat(depth + 1), "  ".repeat(depth));
    let has_parts = |value: &Value| value.is_object() || value.is_array();
    match value {
        Value::Array(all) if all.iter().any(has_parts) || all.iter().any(Value::is_string) && depth < 4 => {
            let all: Vec<String> =
                all.iter().map(|value| format!("{begin}{}", readable(value, depth + 1))).collect();
            format!("[\n{}\n{end}]", all.join(",\n"))
        }
        Value::Object(fields) if fields.values().any(has_parts) => {
            let field =
                |(key, value): (&String, &Value)| format!("{begin}{key}: {}", readable(value, depth + 1));
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{{\n{}\n{end}}}", fields.join(",\n"))
        }
        other => other.to_string(),
    }
}

/// All files below a folder.
fn walkdir(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(walkdir(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}
