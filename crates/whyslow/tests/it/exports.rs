//! Exports beside what was read: every call with its time, every state, the sums of profiles; hostile names and secrets; and the tools
//! that the files are for.

use crate::captures::OWN;
use crate::common::skipped;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use whyslow_export::{ExportHow, ProfileOf, TimelineCounts, TimelineExport, profile_of};
use whyslow_facts::Facts;
use whyslow_model::live::{LeftAs, Stretch, WakeContext, Wakeup};
use whyslow_model::{Event, Nanos, Sink, Timestamp, visible};
use whyslow_read::{Input, ReadOptions};

/// How often, and for how long, ns; by kind and name.
type Sums = BTreeMap<(String, String), (u64, u64)>;

/// A name with what each format must escape, and a secret behind it.
const EVIL: &str = "q\u{1b}[31m\u{202e}r,;{x=\\\"1\\\"}<b>&";
const SECRET: &str = "hunter2hunter2";

fn add(sums: &mut Sums, kind: &str, name: &str, ns: u64) {
    let sum = sums.entry((kind.to_string(), name.to_string())).or_default();
    *sum = (sum.0 + 1, sum.1 + ns);
}

/// A timeline in that format of what `read` pushes, and the sums of what was pushed.
fn exported(format: &str, read: &dyn Fn(&mut (dyn Sink + Send))) -> (Vec<u8>, Facts, TimelineCounts, Sums) {
    let Some(ExportHow::Timeline(writer)) = whyslow_export::find(format).map(|format| &format.how) else {
        panic!("{format} is no timeline")
    };
    let (mut bytes, mut sums) = (Vec::new(), Sums::new());
    let mut timeline = TimelineExport::new(Facts::of_target(), writer(&mut bytes));
    read(&mut |event: Event<'_>| {
        match &event {
            Event::Call(call) if call.ts.is_known() && call.dur.is_known() => {
                add(&mut sums, "call", &String::from_utf8_lossy(call.name), call.dur.or_zero());
            }
            Event::Stretch(stretch) => {
                add(&mut sums, "state", "running", stretch.on_cpu.or_zero());
                if stretch.runnable.or_zero() > 0 {
                    add(&mut sums, "state", "waits for a CPU", stretch.runnable.or_zero());
                }
                if stretch.blocked.or_zero() > 0 {
                    add(&mut sums, "state", "blocked", stretch.blocked.or_zero());
                }
            }
            _ => {}
        }
        timeline.push(event);
    });
    timeline.facts.finish();
    let (facts, counts, writer) = timeline.finish().expect("written");
    drop(writer);
    (bytes, facts, counts, sums)
}

/// What stands in a Chrome trace of calls and states.
fn sums_of_chrome(bytes: &[u8]) -> Sums {
    let json: serde_json::Value = serde_json::from_slice(bytes).expect("JSON");
    let mut sums = Sums::new();
    for event in json["traceEvents"].as_array().expect("a list").iter().filter(|event| event["ph"] == "X") {
        let ns = (event["dur"].as_f64().expect("a number") * 1e3).round() as u64;
        let name = event["name"].as_str().expect("a name");
        add_kind(&mut sums, event["cat"].as_str().expect("a kind"), name, ns);
    }
    sums
}

fn add_kind(sums: &mut Sums, kind: &str, name: &str, ns: u64) {
    match kind {
        "call" | "library" => add(sums, "call", name, ns),
        "state" if name.starts_with("blocked") || name == "stopped" => add(sums, "state", "blocked", ns),
        "state" => add(sums, "state", name, ns),
        _ => {}
    }
}

/// A field of a protocol buffer.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let (first, rest) = bytes.split_first().expect("a byte");
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            shift += 7;
            if first & 0x80 == 0 {
                return value;
            }
        }
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (head, rest) = bytes.split_at(8);
                bytes = rest;
                Field::Number(u64::from_le_bytes(head.try_into().expect("eight bytes")))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (head, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(head)
            }
            other => panic!("wire type {other}"),
        };
        found.push((key >> 3, field));
    }
    found
}

/// What a reader of Perfetto makes of a trace: packets by time, and each end closes the last begin of its track.
fn sums_of_perfetto(bytes: &[u8]) -> Sums {
    let mut tracks = HashMap::new();
    let mut events = Vec::new();
    let (mut begun, mut ended) = (Vec::new(), Vec::new());
    for (_, packet) in fields(bytes) {
        let Field::Bytes(packet) = packet else { panic!("no packet") };
        let (mut at, mut sequence) = (0, 0);
        for (number, field) in fields(packet) {
            match (number, field) {
                (8, Field::Number(value)) => at = value,
                (10, Field::Number(value)) => sequence = value,
                (11, Field::Bytes(event)) => events.push((at, event)),
                (60, Field::Bytes(track)) => {
                    let (mut uuid, mut parent) = (0, None);
                    for (number, field) in fields(track) {
                        match (number, field) {
                            (1, Field::Number(value)) => uuid = value,
                            (5, Field::Number(value)) => parent = Some(value),
                            _ => {}
                        }
                    }
                    assert!(tracks.insert(uuid, parent).is_none(), "track {uuid} is described twice");
                }
                _ => {}
            }
        }
        assert_eq!(sequence, 1);
    }
    for parent in tracks.values().flatten() {
        assert!(tracks.contains_key(parent), "the parent {parent} is not described");
    }
    events.sort_by_key(|(at, _)| *at);
    let mut open: HashMap<u64, Vec<(u64, String, String)>> = HashMap::new();
    let mut sums = Sums::new();
    for (at, event) in events {
        let (mut kind, mut track, mut category, mut name) = (0, 0, String::new(), String::new());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        for (number, field) in fields(event) {
            match (number, field) {
                (9, Field::Number(value)) => kind = value,
                (11, Field::Number(value)) => track = value,
                (22, Field::Bytes(bytes)) => category = text(bytes),
                (23, Field::Bytes(bytes)) => name = text(bytes),
                (47, Field::Number(value)) => begun.push(value),
                (48, Field::Number(value)) => ended.push(value),
                _ => {}
            }
        }
        assert!(tracks.contains_key(&track), "the track {track} is not described");
        match kind {
            1 => open.entry(track).or_default().push((at, category, name)),
            2 => {
                let (from, category, name) =
                    open.get_mut(&track).and_then(Vec::pop).expect("an end behind a begin");
                add_kind(&mut sums, &category, &name, at - from);
            }
            _ => {}
        }
    }
    assert!(open.values().all(Vec::is_empty), "begins without ends");
    begun.sort_unstable();
    ended.sort_unstable();
    assert_eq!(begun, ended, "arrows with one end");
    sums
}

pub(crate) fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() { files_below(&entry, found) } else { found.push(entry) }
    }
}

#[test]
fn timelines_and_profiles_keep_each_call_of_every_capture_with_its_time() {
    let mut files = Vec::new();
    files_below(Path::new(OWN), &mut files);
    files_below(&Path::new(OWN).join("../cases/captures"), &mut files);
    files.sort();
    let (mut with_calls, mut calls) = (0, 0);
    for file in files {
        let read = |sink: &mut (dyn Sink + Send)| {
            let options = ReadOptions { threads: 1 };
            // A file that is no capture is none here either.
            let _ = whyslow_read::read(&[Input::File(file.clone())], &options, &(), sink);
        };
        let (chrome, facts, counts, wanted) = exported("chrome", &read);
        assert_eq!(sums_of_chrome(&chrome), wanted, "{}: chrome", file.display());
        let (perfetto, _, same, _) = exported("perfetto", &read);
        assert_eq!(counts, same);
        assert_eq!(sums_of_perfetto(&perfetto), wanted, "{}: perfetto", file.display());
        let sum = wanted.values().fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1));
        assert_eq!((counts.calls, counts.calls_ns), sum, "{}", file.display());
        check_profiles(&facts, &file.display().to_string());
        with_calls += u64::from(counts.calls > 0);
        calls += counts.calls;
    }
    assert!(with_calls >= 5 && calls >= 500, "{with_calls} files with {calls} calls");
}

/// The sums of profiles are those of the facts.
fn check_profiles(facts: &Facts, of: &str) {
    let threads = facts.world.threads.iter().flat_map(|(_, thread)| thread.all_calls());
    let all = threads.fold((0, 0), |sum, (_, stats)| {
        (sum.0 + stats.count as i64, sum.1 + stats.known_total().or_zero() as i64)
    });
    let sums = profile_of(facts, ProfileOf::Calls).map_or((0, 0), |got| (got.total(0), got.total(1)));
    assert_eq!(sums, all, "{of}: calls");
    let account = whyslow_account::account(facts);
    let ns = account.as_ref().map_or(0, |account| account.ns as i64);
    assert_eq!(profile_of(facts, ProfileOf::Time).map_or(0, |got| got.total(1)), ns, "{of}: time");
    let locks = account.iter().flat_map(|account| &account.rows);
    let locks = locks.filter(|row| row.state == whyslow_model::TimeState::Lock);
    let ns: i64 = locks.map(|row| row.ns as i64).sum();
    assert_eq!(profile_of(facts, ProfileOf::Locks).map_or(0, |got| got.total(1)), ns, "{of}: locks");
}

#[test]
fn states_and_wake_ups_of_threads_are_kept() {
    let read = |sink: &mut (dyn Sink + Send)| {
        let ms = Nanos::from_millis;
        let stretch = |at: u64, tid, left_as, blocked| {
            let ts = Timestamp::new(at * 1_000_000);
            Event::Stretch(Stretch {
                ts,
                cpu: 1,
                pid: 7,
                tid,
                left_as,
                on_cpu: ms(2),
                runnable: ms(1),
                blocked,
            })
        };
        sink.push(stretch(1_010, 7, LeftAs::Sleeping, Nanos::UNKNOWN));
        sink.push(stretch(1_020, 8, LeftAs::Uninterruptible, ms(3)));
        for wakee in [7, 8, 9] {
            let ts = Timestamp::new(1_021_000_000);
            let waker = Some(8).filter(|_| wakee != 8);
            sink.push(Event::Wakeup(Wakeup { ts, cpu: 1, waker, context: WakeContext::Task, wakee }));
        }
        sink.push(stretch(1_022, 7, LeftAs::Runnable, ms(9)));
        sink.push(stretch(1_040, 8, LeftAs::Dead, ms(4)));
    };
    let (chrome, _, counts, wanted) = exported("chrome", &read);
    assert_eq!(sums_of_chrome(&chrome), wanted);
    // Of the wake-ups one has nobody who did it, and one woke a thread that does not run.
    assert_eq!((counts.stretches, counts.wakeups), (4, 1));
    assert_eq!(
        (counts.running_ns, counts.runnable_ns, counts.blocked_ns),
        (8_000_000, 4_000_000, 16_000_000)
    );
    let text = String::from_utf8(chrome).expect("UTF-8");
    assert_eq!((text.matches("\"ph\":\"s\"").count(), text.matches("\"ph\":\"f\"").count()), (1, 1));
    assert!(text.contains("blocked (sleeping)") && text.contains("blocked (uninterruptible)"), "{text}");
    assert_eq!(sums_of_perfetto(&exported("perfetto", &read).0), wanted);
}

#[test]
fn times_of_calls_that_overlap_by_rounding_stay_their_own() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("overlap.st");
    let log = "7 10:00:00.000001 read(3, \"\", 1) = 1 <0.000005>\n7 10:00:00.000004 read(4, \"\", 1) = 1 <0.000010>\n7 10:00:00.000014 close(3) = 0 <0.000000>\n";
    std::fs::write(&file, log).expect("written");
    let read = |sink: &mut (dyn Sink + Send)| {
        whyslow_read::read(&[Input::File(file.clone())], &ReadOptions::default(), &(), sink)
            .expect("a trace");
    };
    let (perfetto, _, _, wanted) = exported("perfetto", &read);
    assert_eq!(sums_of_perfetto(&perfetto), wanted);
    assert_eq!(wanted[&("call".to_string(), "read".to_string())], (2, 15_000));
}

pub(crate) fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.args(args).stdin(Stdio::null()).output().expect("the binary runs")
}

/// A trace with hostile names and a secret.
pub(crate) fn evil_trace(folder: &TempDir) -> String {
    let file = folder.path().join("evil.st");
    let mut log = String::new();
    for at in 0..20 {
        let second = at * 2;
        log.push_str(&format!(
            "7 10:00:{second:02}.000000 openat(AT_FDCWD, \"/srv/{EVIL}?token={SECRET}\", O_RDONLY) = 3</srv/{EVIL}?token={SECRET}> <0.500000>\n"
        ));
        log.push_str(&format!(
            "7 10:00:{:02}.000000 read(3</srv/{EVIL}?token={SECRET}>, \"x\", 1) = 1 <0.400000>\n",
            second + 1
        ));
        log.push_str(&format!("7 10:00:{:02}.500000 close(3) = 0 <0.000010>\n", second + 1));
    }
    // A request that is served, and what it waits for.
    let connection = "5<TCP:[127.0.0.1:80->10.0.0.9:4000]>";
    log.push_str(&format!(
        "7 10:00:50.000000 accept4(3<TCP:[127.0.0.1:80]>, NULL, NULL, 0) = {connection} <0.000010>\n\
         7 10:00:50.100000 recvfrom({connection}, \"GET /{EVIL}?token={SECRET} HTTP/1.1\\r\\nHost: {EVIL}\\r\\n\\r\\n\", 4096, 0, NULL, NULL) = 100 <0.000010>\n\
         7 10:00:50.200000 fsync(9</srv/{EVIL}?token={SECRET}>) = 0 <0.100000>\n\
         7 10:00:50.400000 sendto({connection}, \"HTTP/1.1 500 {EVIL}\\r\\nContent-Length: 0\\r\\n\\r\\n\", 60, 0, NULL, 0) = 60 <0.000010>\n"
    ));
    std::fs::write(&file, log).expect("written");
    file.display().to_string()
}

#[test]
fn hostile_names_are_escaped_and_secrets_replaced_in_every_format() {
    let folder = TempDir::new().expect("a folder");
    let trace = evil_trace(&folder);
    for format in whyslow_export::EXPORT_FORMATS {
        let what: &[&[&str]] = match format.how {
            ExportHow::Stacks(_) => &[&["--of", "time"], &["--of", "calls"]],
            ExportHow::Table(_) => &[&["--table", "files"], &["--table", "account"], &["--table", "fds"]],
            _ => &[&[]],
        };
        for more in what {
            let to = folder.path().join(format.name);
            let output = to.display().to_string();
            let ran = run(&[&["export", &trace, "--to", format.name, "-o", &output], *more].concat());
            assert!(ran.status.success(), "{}: {}", format.name, String::from_utf8_lossy(&ran.stderr));
            let mut bytes = std::fs::read(&to).expect("written");
            if bytes.starts_with(&[0x1f, 0x8b]) {
                let mut plain = Vec::new();
                std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&*bytes), &mut plain)
                    .expect("gzip");
                bytes = plain;
            }
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(SECRET), "{} {more:?} has the secret", format.name);
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert!(!said.contains(SECRET) && !said.contains(|c| c != '\n' && visible::acts(c)), "{said}");
            let json =
                ["chrome", "ndjson", "svg", "openmetrics", "zipkin", "otlp-json"].contains(&format.name);
            if json || format.name == "folded" {
                assert!(!text.contains(|c| c != '\n' && visible::acts(c)), "{}", format.name);
            }
            match format.name {
                "chrome" | "speedscope" | "firefox" | "zipkin" => {
                    serde_json::from_str::<serde_json::Value>(&text).expect("JSON");
                }
                "ndjson" | "otlp-json" => text.lines().for_each(|line| {
                    serde_json::from_str::<serde_json::Value>(line).expect("JSON");
                }),
                _ => {}
            }
        }
    }
}

#[test]
fn what_cannot_be_exported_is_said() {
    let folder = TempDir::new().expect("a folder");
    let trace = evil_trace(&folder);
    for (args, wanted) in [
        (&["--to", "pprof", "--of", "cpu", "-o", "x"][..], "nothing for a profile of cpu"),
        (&["--to", "csv", "--by", "moon"], "cannot be grouped by"),
        (&["--to", "csv", "--show-secrets"], "secrets in it are always replaced"),
        (&["--to", "moon"], "possible values"),
    ] {
        let ran = run(&[&["export", trace.as_str()], args].concat());
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(!ran.status.success() && said.contains(wanted), "{args:?}: {said}");
    }
    let listed = run(&["export", "--list", "--json"]);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    assert_eq!(listed["rows"].as_array().map(Vec::len), Some(whyslow_export::EXPORT_FORMATS.len()));
}

#[test]
fn go_reads_our_profiles() {
    let is_there = Command::new("go").arg("version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        return skipped("there is no `go`");
    }
    let folder = TempDir::new().expect("a folder");
    let (trace, to) = (evil_trace(&folder), folder.path().join("calls.pb.gz"));
    let to = to.display().to_string();
    assert!(run(&["export", &trace, "--to", "pprof", "--of", "calls", "-o", &to]).status.success());
    let raw = Command::new("go").args(["tool", "pprof", "-raw", &to]).output().expect("it runs");
    let raw = String::from_utf8_lossy(&raw.stdout).into_owned();
    // 20 of each: 0.5 s, 0.4 s, 10 us.
    for wanted in ["calls/count time/nanoseconds", "20 10000000000:", "20 8000000000:", "20     200000:"] {
        assert!(raw.contains(wanted), "{wanted} is not in {raw}");
    }
}

/// The examples of the guide, one a format, are run as they stand there.
#[test]
fn every_example_of_the_guide_writes_its_file() {
    let guide = include_str!("../../../../docs/EXPORTS.md");
    let examples: Vec<&str> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` | `whyslow export ")?.1.split_once('`'))
        .map(|(example, _)| example)
        .collect();
    let folder = TempDir::new().expect("a folder");
    let trace = evil_trace(&folder);
    std::fs::rename(trace, folder.path().join("slow.st")).expect("renamed");
    for format in whyslow_export::EXPORT_FORMATS {
        let to = format!("--to {} ", format.name);
        let own: Vec<&&str> = examples.iter().filter(|example| example.contains(&to)).collect();
        assert_eq!(own.len(), 1, "{}: one example in docs/EXPORTS.md", format.name);
        let words: Vec<&str> = own[0].split(' ').collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
        let ran = command.arg("export").args(&words).current_dir(folder.path()).output().expect("it runs");
        assert!(ran.status.success(), "{}: {}", own[0], String::from_utf8_lossy(&ran.stderr));
        let file = folder.path().join(words.last().expect("a file"));
        assert!(file.is_file(), "{}", own[0]);
    }
    assert_eq!(examples.len(), whyslow_export::EXPORT_FORMATS.len());
}
