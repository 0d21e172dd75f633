//! `whyslow redact`: no planted secret is left, the copy says what the original says, and damage does no harm.

use crate::captures::OWN;
use crate::common::skipped;
use crate::recordings::{built_in, convert, json, run, traces};
use crate::secrets::{PROGRAM, SECRETS, below, secrets_in, secrets_in_tables, secrets_on_disk};
use fastrand::Rng;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use whyslow_model::{Event, ProcessInfo, Sink, Timestamp};
use whyslow_read::{Input, ReadOptions};
use whyslow_store::{Meta, WriteOptions, Writer};

fn redact(input: &Path, output: &Path) -> Output {
    run(&["redact", &input.display().to_string(), "-o", &output.display().to_string()])
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// How strace prints bytes: with the usual escapes, all in octal, all in hex (`-xx`).
const PRINTED: [fn(&[u8]) -> String; 3] = [
    |bytes| {
        let plain = |byte: &u8| match *byte {
            b'"' | b'\\' => format!("\\{}", *byte as char),
            b'\r' => "\\r".to_string(),
            b'\n' => "\\n".to_string(),
            b' '..=b'~' => (*byte as char).to_string(),
            byte => format!("\\{byte:03o}"),
        };
        bytes.iter().map(plain).collect()
    },
    |bytes| bytes.iter().map(|byte| format!("\\{byte:03o}")).collect(),
    |bytes| bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect(),
];

/// A trace of a program that hands over what `secretive.py` does; `None` where there is no Python.
fn secretive_trace() -> Option<String> {
    let list = Command::new("python3").args([PROGRAM, "--list"]).output().ok()?;
    let list: Value = serde_json::from_slice(&list.stdout).expect("the list");
    let texts = |name: &str| {
        let texts = list[name].as_array().expect("a list").iter();
        texts.map(|text| text.as_str().expect("a text").to_string()).collect::<Vec<_>>()
    };
    let unhex = |text: &String| -> Vec<u8> {
        let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hex");
        (0..text.len()).step_by(2).map(byte).collect()
    };
    let mut trace = String::new();
    let mut now = 1_000_000u64;
    let mut line = |text: String| {
        now += 100;
        let _ = writeln!(trace, "7 1700000000.{now:07} {text} <0.000010>");
    };
    for print in PRINTED {
        for payload in texts("payloads").iter().map(unhex) {
            let (text, size) = (print(&payload), payload.len());
            line(format!("sendto(3<socket:[77]>, \"{text}\", {size}, 0, NULL, 0) = {size}"));
            line(format!("recvfrom(4, \"{text}\"..., 65536, 0, NULL, NULL) = {size}"));
            line(format!("writev(4, [{{iov_base=\"{text}\", iov_len={size}}}], 1) = {size}"));
        }
        let programs = list["programs"].as_array().expect("a list").iter().map(|words| {
            let words = words.as_array().expect("words").iter();
            words.map(|word| word.as_str().expect("a word").to_string()).collect::<Vec<_>>()
        });
        let started: Vec<String> = ["python3"].iter().chain(&SECRETS).map(|word| word.to_string()).collect();
        let environment: Vec<String> =
            texts("environments").iter().map(|text| format!("\"{}\"", print(text.as_bytes()))).collect();
        for words in programs.chain([started]) {
            let words: Vec<String> =
                words.iter().map(|word| format!("\"{}\"", print(word.as_bytes()))).collect();
            line(format!("execve({}, [{}], [{}]) = 0", words[0], words.join(", "), environment.join(", ")));
        }
    }
    trace += "7 1700000001.5000000 write(1, \"x\", 1) = 1 <0.000010>\n | 00000  53 45 43 52 45 54 34 37  SECRET47 |\n";
    trace += "started with --password=SECRET30 -pSECRET32\n7 1700000001.6000000 +++ exited with 0 +++\n";
    Some(trace)
}

/// The markers in some text, in whatever escapes.
fn found_in(text: &str) -> BTreeSet<String> {
    let decoded = whyslow_model::text::unescape(text.as_bytes());
    &secrets_in(text.as_bytes(), "text") | &secrets_in(&decoded, "decoded")
}

#[test]
fn no_planted_secret_is_left_of_a_capture() {
    let Some(trace) = secretive_trace() else { return skipped("no python3") };
    assert!(found_in(&trace).len() > 50, "{:?}", found_in(&trace));
    let place = TempDir::new().expect("a directory");
    let (input, output) = (place.path().join("x.st"), place.path().join("y.st"));
    fs::write(&input, &trace).expect("a file");
    let told = redact(&input, &output);
    assert!(told.status.success(), "{}", stderr(&told));
    let clean = fs::read_to_string(&output).expect("a copy");
    let found = found_in(&clean);
    assert!(found.is_empty(), "{found:#?}\n{clean}");
    assert_eq!(clean.lines().count(), trace.lines().count());
    assert_eq!(fs::metadata(&output).expect("a copy").mode() & 0o7777, 0o600);
    for part in ["lines looked at", "not anonymous", "next: whyslow report"] {
        assert!(stderr(&told).contains(part), "{}", stderr(&told));
    }
    // Twice is as once.
    let again = place.path().join("z.st");
    redact(&output, &again);
    assert_eq!(found_in(&fs::read_to_string(&again).expect("a copy")), BTreeSet::new());
}

#[test]
fn no_planted_secret_is_left_of_a_recording() {
    let Some(trace) = secretive_trace() else { return skipped("no python3") };
    let place = TempDir::new().expect("a directory");
    let (capture, input, output) =
        (place.path().join("x.st"), place.path().join("x.whyslow"), place.path().join("y.whyslow"));
    fs::write(&capture, &trace).expect("a file");
    let meta = Meta {
        show_secrets: true,
        target: Some(format!("python3 {}", SECRETS.join(" "))),
        command: ["record", "--"].iter().chain(&SECRETS).map(|word| word.to_string()).collect(),
        ..Meta::new("test")
    };
    let mut writer = Writer::create(&input, meta, WriteOptions::CONVERT).expect("a recording");
    writer.push(Event::Process(ProcessInfo {
        pid: 7,
        tid: None,
        comm: Some("python3".into()),
        user: None,
        parent: None,
        exe: None,
        cmdline: Some(format!("python3 {}", SECRETS.join(" "))),
        uid: None,
        cgroup: None,
        container: None,
        start: Timestamp::UNKNOWN,
        end: Timestamp::UNKNOWN,
        fd_limit: None,
        executed: false,
    }));
    whyslow_read::read(&[Input::File(capture)], &ReadOptions::default(), &(), &mut writer)
        .expect("a capture");
    writer.finish().expect("all was written");
    fs::create_dir(input.join("spool")).expect("a folder");
    fs::write(input.join("spool/calls"), "SECRET00").expect("a file");
    fs::write(input.join("notes.txt"), "SECRET00").expect("a file");
    let (texts, planted) = secrets_in_tables(&input);
    assert!(texts > 100 && planted.len() > 50, "{texts}: {planted:?}");

    let told = redact(&input, &output);
    assert!(told.status.success(), "{}", stderr(&told));
    assert!(
        stderr(&told).contains("left out: notes.txt") && stderr(&told).contains("left out: spool"),
        "{}",
        stderr(&told)
    );
    let (copied, found) = secrets_in_tables(&output);
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(copied, texts);
    assert_eq!(secrets_on_disk(&output), BTreeSet::new());
    let head = fs::read_to_string(output.join("meta.json")).expect("a head");
    assert!(head.contains("\"show_secrets\": false") && head.contains("--password=[redacted]"), "{head}");
    for path in below(&output) {
        let about = fs::metadata(&path).expect("there");
        assert_eq!(about.mode() & 0o077, 0, "{}", path.display());
    }
    let shown = run(&["report", "--json", "--show-secrets", &output.display().to_string()]);
    assert_eq!(secrets_in(&shown.stdout, "report"), BTreeSet::new());
}

/// The rules that found something, and what the requests were.
fn told(path: &Path) -> (Vec<String>, Vec<u8>) {
    let path = path.display().to_string();
    let diagnosis = json(&["report", "--json", &path]);
    let findings = diagnosis["findings"].as_array().expect("findings").iter();
    let ids = findings
        .map(|finding| finding["rule"].as_str().or(finding["id"].as_str()).expect("a name").to_string());
    (ids.collect(), run(&["summary", &path]).stdout)
}

#[test]
fn copies_are_judged_as_their_originals() {
    let place = TempDir::new().expect("a directory");
    let mut judged = 0;
    let mut samples = traces(&Path::new(OWN).join("strace"));
    samples.push(("built-in".to_string(), built_in()));
    for (number, (name, text)) in samples.into_iter().enumerate() {
        let path = |ending: &str| place.path().join(format!("{number}.{ending}"));
        let (capture, clean_capture) = (path("st"), path("clean.st"));
        let (recording, clean_recording) = (path("whyslow"), path("clean.whyslow"));
        fs::write(&capture, text).expect("a file");
        convert(&[&capture], &recording);
        for (from, to) in [(&capture, &clean_capture), (&recording, &clean_recording)] {
            let output = redact(from, to);
            assert!(output.status.success(), "{name}: {}", stderr(&output));
            let (before, after) = (told(from), told(to));
            assert_eq!(before.0, after.0, "{name}");
            assert_eq!(String::from_utf8_lossy(&before.1), String::from_utf8_lossy(&after.1), "{name}");
            judged += before.0.len();
        }
        // What is clean stays as it is.
        let again = stderr(&redact(&clean_recording, &path("again.whyslow")));
        assert!(again.contains(", 0 of them changed"), "{name}: {again}");
    }
    assert!(judged > 4, "{judged} findings");
}

#[test]
fn what_is_no_text_and_what_is_there_is_refused() {
    let place = TempDir::new().expect("a directory");
    let path = |name: &str| place.path().join(name);
    fs::write(path("cpu.pprof"), b"\x0a\x04\x08\x01\x10\x02\x12\x02\x08\x03\0\0").expect("a file");
    fs::write(path("x.st"), "7 1700000000.000001 close(3) = 0 <0.000300>\n").expect("a file");
    fs::write(path("there"), "kept").expect("a file");
    fs::create_dir(path("folder")).expect("a folder");
    symlink(path("nowhere"), path("link")).expect("a link");
    convert(&[&path("x.st")], &path("x.whyslow"));
    let before = below(place.path()).len();
    for (input, output, reason) in [
        ("cpu.pprof", "new", "not a text"),
        ("folder", "new", "no recording"),
        ("missing", "new", "cannot be read"),
        ("x.st", "there", "exists already"),
        ("x.st", "x.st", "exists already"),
        ("x.whyslow", "there", "exists already"),
        ("x.whyslow", "folder", "exists already"),
        ("x.st", "link", "exists already"),
        ("x.st", "x.whyslow/new", "in which nothing is written"),
        ("x.whyslow", "x.whyslow/new", "in which nothing is written"),
        ("x.st", "no/such/folder", "cannot be written"),
    ] {
        let output = redact(&path(input), &path(output));
        let complaint = stderr(&output);
        assert!(output.status.code() == Some(2) && complaint.contains(reason), "{input}: {complaint}");
        assert_eq!(below(place.path()).len(), before, "{input}: something was left");
    }
    assert_eq!(fs::read_to_string(path("there")).expect("kept"), "kept");
    assert!(!path("nowhere").exists());
}

#[test]
fn packed_captures_are_read_and_long_lines_are_cut() {
    let place = TempDir::new().expect("a directory");
    let (input, output) = (place.path().join("x.st.gz"), place.path().join("y.st"));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let text = format!(
        "7 1700000000.1 write(1, \"{}\", 5) = 5\n7 1700000000.2 close(1) = 0\n",
        "body ".repeat(500_000)
    );
    std::io::Write::write_all(&mut packed, text.as_bytes()).expect("packed");
    fs::write(&input, packed.finish().expect("packed")).expect("a file");
    let told = redact(&input, &output);
    assert!(told.status.success() && stderr(&told).contains("more than a mebibyte"), "{}", stderr(&told));
    let clean = fs::read_to_string(&output).expect("a copy");
    assert!(!clean.contains("body") && clean.ends_with("7 1700000000.2 close(1) = 0\n"), "{clean}");
}

#[test]
fn a_copy_that_is_interrupted_leaves_nothing() {
    let place = TempDir::new().expect("a directory");
    let (input, output) = (place.path().join("x.st"), place.path().join("y.st"));
    assert!(Command::new("mkfifo").arg(&input).status().expect("mkfifo").success());
    let mut child = Command::new(env!("CARGO_BIN_EXE_whyslow"))
        .arg("redact")
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let mut pipe = fs::OpenOptions::new().write(true).open(&input).expect("a reader");
    let line = b"7 1700000000.000001 close(3) = 0 <0.000300>\n";
    std::io::Write::write_all(&mut pipe, &line.repeat(3000)).expect("written");
    let there = || fs::read_dir(place.path()).expect("a folder").count();
    let begun = Instant::now();
    while there() < 2 && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(there(), 2, "it was begun beside its name");
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(interrupted.success());
    let status = child.wait().expect("a child");
    assert_eq!(status.signal(), Some(2), "{status}");
    assert_eq!(there(), 1, "something was left");
    drop(pipe);
}

/// Damages bytes in a way of `random`.
fn damage(data: &mut Vec<u8>, random: &mut Rng) {
    for _ in 0..random.usize(1..20) {
        let at = random.usize(..data.len().max(1));
        match random.u8(..3) {
            0 if !data.is_empty() => data[at] = random.u8(..),
            1 => data.truncate(at.max(1)),
            _ => data
                .splice(
                    at.min(data.len())..at.min(data.len()),
                    (0..random.usize(..30)).map(|_| random.u8(..)),
                )
                .for_each(drop),
        }
    }
}

#[test]
fn damage_does_no_harm() {
    let place = TempDir::new().expect("a directory");
    let (capture, recording) = (place.path().join("x.st"), place.path().join("x.whyslow"));
    let trace = traces(&Path::new(OWN).join("strace")).remove(0).1;
    fs::write(&capture, &trace).expect("a file");
    convert(&[&capture], &recording);
    let parts: Vec<_> = below(&recording).into_iter().filter(|path| path.is_file()).collect();
    let whole: Vec<_> = parts.iter().map(|path| (path.clone(), fs::read(path).expect("a part"))).collect();
    let mut done = 0;
    for seed in 0..40 {
        let mut random = Rng::with_seed(seed);
        let (input, what) = if seed % 2 == 0 {
            let mut data = trace.clone().into_bytes();
            match seed % 8 {
                0 => data = (0..random.usize(..5000)).map(|_| random.u8(..)).collect(),
                _ => damage(&mut data, &mut random),
            }
            fs::write(&capture, data).expect("a file");
            (&capture, "capture")
        } else {
            let (path, data) = &whole[random.usize(..whole.len())];
            let mut data = data.clone();
            damage(&mut data, &mut random);
            fs::write(path, data).expect("a part");
            (&recording, "recording")
        };
        let output = place.path().join("out");
        let told = redact(input, &output);
        let code = told.status.code();
        assert!(
            matches!(code, Some(0 | 2)) && !stderr(&told).contains("panicked"),
            "{what} {seed}: {}",
            stderr(&told)
        );
        assert_eq!(code == Some(0), output.exists(), "{what} {seed}");
        done += i32::from(code == Some(0));
        let _ = fs::remove_dir_all(&output).or_else(|_| fs::remove_file(&output));
        assert_eq!(
            fs::read_dir(place.path()).expect("a folder").count(),
            2,
            "{what} {seed}: something was left"
        );
        for (path, data) in &whole {
            fs::write(path, data).expect("a part");
        }
    }
    assert!(done > 10, "{done}");
}
