//! A recording tells what the capture tells from which it was made: the commands say the same of both.

use crate::captures::{OWN, published};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use whyslow_read::{Input, ReadOptions};
use whyslow_store::{Meta, WriteOptions, Writer};

pub(crate) fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.args(args).env("NO_COLOR", "1").stdin(Stdio::null());
    command.output().expect("the binary runs")
}

pub(crate) fn json(args: &[&str]) -> Value {
    let output = run(args);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{args:?}: {error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// A recording of the events of a capture.
pub(crate) fn convert(captures: &[&Path], recording: &Path) {
    let mut writer =
        Writer::create(recording, Meta::new("test"), WriteOptions::CONVERT).expect("a new directory");
    let inputs: Vec<Input> = captures.iter().map(|path| Input::File(path.to_path_buf())).collect();
    whyslow_read::read(&inputs, &ReadOptions::default(), &(), &mut writer).expect("a capture");
    writer.finish().expect("all was written");
}

/// The traces in a folder, by name; their first part.
pub(crate) fn traces(folder: &Path) -> Vec<(String, String)> {
    let mut samples = Vec::new();
    let entries = std::fs::read_dir(folder).expect("the folder").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        // strace's own colours and the like are not what is compared here.
        if let Ok(text) = std::fs::read_to_string(&path) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            samples.push((name, text.chars().take(60_000).collect()));
        }
    }
    samples
}

pub(crate) fn built_in() -> String {
    let mut text = String::from(
        "7 1700000000.000001 execve(\"/bin/app\", [\"app\"], 0x7ffd /* 9 vars */) = 0 <0.000300>\n\
         7 1700000000.000401 openat(AT_FDCWD, \"/etc/app.conf\", O_RDONLY) = 3</etc/app.conf> <0.000010>\n\
         7 1700000000.000501 socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 4<socket:[77]> <0.000010>\n\
         7 1700000000.000601 connect(4, {sa_family=AF_INET, sin_port=htons(6379), sin_addr=inet_addr(\"10.0.0.9\")}, 16) = 0 <0.001000>\n\
         7 1700000000.001701 clone(child_stack=NULL, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 8 <0.000100>\n\
         8 1700000000.001901 futex(0x7f00, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>\n\
         7 1700000000.002901 futex(0x7f00, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000010>\n\
         8 1700000000.003001 <... futex resumed>) = 0 <0.001100>\n\
         8 1700000000.003101 --- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_TKILL, si_pid=7} ---\n",
    );
    for i in 0..2000 {
        let at = 1_700_000_000_010_000u64 + i * 1000;
        let (s, us) = (at / 1_000_000, at % 1_000_000);
        text += &format!(
            "7 {s}.{us:06} stat(\"/etc/localtime\", {{st_mode=S_IFREG|0644, ...}}) = 0 <0.000800>\n"
        );
        if i % 50 == 0 {
            text +=
                &format!("7 {s}.{:06} read(3</etc/app.conf>, \"x\"..., 4096) = 17 <0.000010>\n", us + 850);
        }
    }
    text + "7 1700000002.500000 +++ exited with 0 +++\n"
}

/// Captures that show much: descriptors, threads, joined calls, signals, errors, peers.
#[test]
fn views_of_a_recording_are_those_of_the_capture() {
    let mut samples = traces(&Path::new(OWN).join("strace"));
    samples.push(("built-in".to_string(), built_in()));
    assert!(samples.len() > 5, "{} traces", samples.len());
    assert_same_views(samples);
}

/// Of the published traces each fourth, from that on.
fn published_from(first: usize) {
    if let Some(captures) = published() {
        assert_same_views(traces(&captures.join("strace")).into_iter().skip(first).step_by(4).collect());
    }
}

#[test]
fn views_of_recordings_of_published_captures_0() {
    published_from(0);
}

#[test]
fn views_of_recordings_of_published_captures_1() {
    published_from(1);
}

#[test]
fn views_of_recordings_of_published_captures_2() {
    published_from(2);
}

#[test]
fn views_of_recordings_of_published_captures_3() {
    published_from(3);
}

fn assert_same_views(samples: Vec<(String, String)>) {
    let place = TempDir::new().expect("a directory");
    let mut compared = 0;
    for (number, (name, text)) in samples.into_iter().enumerate() {
        let capture: PathBuf = place.path().join(format!("{number}.st"));
        std::fs::write(&capture, text).expect("a file");
        let recording = place.path().join(format!("{number}.whyslow"));
        convert(&[&capture], &recording);
        let (capture, recording) = (capture.display().to_string(), recording.display().to_string());
        for view in ["summary", "files", "fds", "threads", "peers"] {
            let (of_capture, of_recording) = (run(&[view, &capture]), run(&[view, &recording]));
            assert!(
                of_recording.status.success(),
                "{name}: {}",
                String::from_utf8_lossy(&of_recording.stderr)
            );
            assert!(
                of_capture.stdout == of_recording.stdout,
                "{view} of {name}:\n{}\n{}",
                String::from_utf8_lossy(&of_capture.stdout),
                String::from_utf8_lossy(&of_recording.stdout)
            );
        }
        let (of_capture, of_recording) =
            (json(&["report", "--json", &capture]), json(&["report", "--json", &recording]));
        // What a capture cannot show is another thing than what a recording cannot: those are judged apart.
        if !has_remarks(&of_capture) && !has_remarks(&of_recording) {
            compared += 1;
            assert_eq!(judged(&of_capture), judged(&of_recording), "report of {name}");
        }
    }
    println!("{compared} reports compared");
    assert!(compared > 0);
}

/// True where a finding is about the capture itself.
fn has_remarks(report: &Value) -> bool {
    report["findings"].as_array().into_iter().flatten().any(|finding| finding["severity"] == "capture")
}

/// What is judged, without the words for where it was read and how to read it again.
fn judged(report: &Value) -> Value {
    let findings = report["findings"].as_array().into_iter().flatten();
    let kept = ["id", "title", "severity", "confidence", "share", "share_of", "saving", "subject", "cause"];
    let findings = findings.map(|finding| kept.map(|key| finding[key].clone()).to_vec());
    serde_json::json!({
        "findings": findings.collect::<Vec<_>>(),
        "verdict": report["verdict"],
        "time": report["time"],
        "start": report["target"]["start"],
        "duration": report["target"]["duration_ns"],
    })
}

#[test]
fn a_recording_can_be_compared_with_its_capture() {
    let place = TempDir::new().expect("a directory");
    let (capture, recording) = (place.path().join("a.st"), place.path().join("a.whyslow"));
    std::fs::write(&capture, built_in()).expect("a file");
    convert(&[&capture], &recording);
    let diff = json(&["diff", "--json", &capture.display().to_string(), &recording.display().to_string()]);
    assert_eq!((&diff["new"], &diff["gone"]), (&Value::Array(vec![]), &Value::Array(vec![])), "{diff:#}");
}

#[test]
fn a_directory_of_recordings_is_read_and_one_that_is_none_is_refused() {
    let place = TempDir::new().expect("a directory");
    let capture = place.path().join("a.st");
    std::fs::write(&capture, built_in()).expect("a file");
    let folder = place.path().join("before");
    std::fs::create_dir(&folder).expect("a directory");
    convert(&[&capture], &folder.join("a.whyslow"));
    let folder = folder.display().to_string();
    assert_eq!(run(&["summary", &folder]).stdout, run(&["summary", &capture.display().to_string()]).stdout);
    let empty = place.path().join("empty.whyslow");
    std::fs::create_dir(&empty).expect("a directory");
    let refused = run(&["summary", &empty.display().to_string()]);
    assert_eq!(refused.status.code(), Some(2));
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(told.contains("empty.whyslow: not a recording: meta.json"), "{told}");
}
