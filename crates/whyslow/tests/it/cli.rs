//! Runs the built binary as people do: exit status, standard output and error, formats, inputs of all kinds.

use crate::captures::OWN;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn whyslow(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.args(args).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
    command
}

fn run(args: &[&str]) -> Output {
    whyslow(args).output().expect("the binary runs")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", out(output), err(output)))
}

/// A program that checks the time zone file for each record: 3,000 times in three seconds.
fn storm() -> String {
    let mut text = String::new();
    for i in 0..3000 {
        let _ = writeln!(
            text,
            "4711 10:00:{:02}.{:06} stat(\"/etc/localtime\", {{st_mode=S_IFREG|0644, st_size=405, ...}}) = 0 <0.000900>",
            i / 1000,
            i % 1000 * 1000
        );
        if i % 100 == 99 {
            let _ = writeln!(
                text,
                "4711 10:00:{:02}.{:06} write(3</var/log/a.log>, \"one record\\n\", 11) = 11 <0.000020>",
                i / 1000,
                i % 1000 * 1000 + 950
            );
        }
    }
    text
}

/// A program from its start to its end that writes 100 times, `step_us` apart.
fn batch(step_us: u64) -> String {
    let mut text = "9 1700000000.000000 execve(\"/bin/job\", [\"job\"], 0x7ffd /* 9 vars */) = 0 <0.000300>\n\
                    9 1700000000.001000 openat(AT_FDCWD, \"/data/out\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3 <0.000020>\n"
        .to_string();
    let mut now = 1_700_000_000_002_000u64;
    for _ in 0..100 {
        let _ = writeln!(
            text,
            "9 {}.{:06} write(3, \"x\"..., 4096) = 4096 <0.000030>",
            now / 1_000_000,
            now % 1_000_000
        );
        now += step_us;
    }
    let _ = writeln!(text, "9 {}.{:06} +++ exited with 0 +++", now / 1_000_000, now % 1_000_000);
    text
}

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(TempDir::new().expect("a temporary directory"))
    }

    fn file(&self, name: &str, data: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, data).expect("a file of the test");
        path
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_string_lossy().into_owned()
    }
}

/// A capture of the source articles.
fn seed(name: &str) -> String {
    let path = Path::new(OWN).join("seeds").join(name);
    assert!(path.exists(), "{}", path.display());
    path.to_string_lossy().into_owned()
}

fn ids(diagnosis: &Value) -> Vec<&str> {
    let findings = diagnosis["findings"].as_array().expect("findings");
    findings.iter().filter_map(|finding| finding["id"].as_str()).collect()
}

#[test]
fn without_arguments_the_short_help() {
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("Usage: whyslow"), "{}", err(&output));
    assert!(out(&output).is_empty());
    let long = out(&run(&["diagnose", "--help"]));
    assert!(long.contains("Examples:") && long.contains("--fail-on"), "{long}");
    assert!(!out(&run(&["diagnose", "-h"])).contains("Examples:"));
}

#[test]
fn a_diagnosis_in_json_has_the_schema_s_fields() {
    let place = Place::new();
    let output = run(&["diagnose", "--json", &place.file("a.st", storm())]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let diagnosis = json(&output);
    assert_eq!(diagnosis["schema"], "whyslow.diagnosis/1");
    assert_eq!(ids(&diagnosis)[0], "tz-stat-storm", "{diagnosis}");
    for field in ["verdict", "target", "account", "time", "findings"] {
        assert!(!diagnosis[field].is_null(), "{field}");
    }
    for field in ["kind", "processes", "start", "duration_ns", "events", "lost_events"] {
        assert!(!diagnosis["target"][field].is_null(), "target.{field}");
    }
    for field in ["pid", "tid", "comm", "on_cpu_ns", "runnable_ns", "blocked_ns", "waits"] {
        assert!(diagnosis["time"][0].get(field).is_some(), "time.{field}");
    }
    assert!(diagnosis["time"][0]["on_cpu_ns"].is_null(), "a trace cannot show it");
    let finding = &diagnosis["findings"][0];
    for field in [
        "id",
        "title",
        "severity",
        "confidence",
        "share",
        "saving",
        "subject",
        "cause",
        "fix",
        "chain",
        "evidence",
        "verify",
    ] {
        assert!(!finding[field].is_null(), "findings.{field}");
    }
    assert_eq!(finding["subject"]["path"], "/etc/localtime");
    assert!(
        finding["evidence"][0]["source"].as_str().is_some_and(|source| source.contains("a.st:")),
        "{finding}"
    );
}

#[test]
fn fail_on_sets_the_status() {
    let place = Place::new();
    let (slow, fine) = (place.file("slow.st", storm()), place.file("fine.st", batch(1000)));
    assert_eq!(run(&["diagnose", "--fail-on", "warning", &slow]).status.code(), Some(1));
    assert_eq!(run(&["diagnose", "--fail-on", "warning", &fine]).status.code(), Some(0));
    assert_eq!(run(&["report", "--markdown", "--fail-on", "critical", &slow]).status.code(), Some(1));
    assert_eq!(run(&["diagnose", "--fail-on", "sometimes", &fine]).status.code(), Some(2));
}

#[test]
fn inputs_of_all_kinds_say_the_same() {
    let place = Place::new();
    let plain = place.file("a.st", storm());
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(storm().as_bytes()).expect("compresses");
    let gz = place.file("b.st.gz", gz.finish().expect("compresses"));
    let directory = place.path("logs");
    std::fs::create_dir(&directory).expect("a directory");
    std::fs::write(Path::new(&directory).join("a.st"), storm()).expect("a file");
    let verdict = |output: &Output| json(output)["verdict"].clone();
    let expected = verdict(&run(&["diagnose", "--json", &plain]));
    assert_eq!(verdict(&run(&["diagnose", "--json", &gz])), expected);
    assert_eq!(verdict(&run(&["diagnose", "--json", &directory])), expected);
    let piped =
        whyslow(&["diagnose", "--json", "-"]).stdin(std::fs::File::open(&plain).expect("the file")).output();
    assert_eq!(verdict(&piped.expect("the binary runs")), expected);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_used() {
    let place = Place::new();
    let good = place.file("a.st", storm());
    let odd = place.file("notes.txt", "dear diary\n");
    let missing = place.path("missing.st");
    let output = run(&["diagnose", &good, &odd, &missing]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("/etc/localtime"));
    assert!(err(&output).contains("notes.txt") && err(&output).contains("missing.st"), "{}", err(&output));

    let output = run(&["diagnose", &odd, &missing]);
    assert_eq!(output.status.code(), Some(2));
    assert!(out(&output).is_empty());
    for expected in ["notes.txt", "missing.st", "strace", "lsof -nP -p PID"] {
        assert!(err(&output).contains(expected), "{expected}: {}", err(&output));
    }
}

#[test]
fn colour_is_for_terminals_and_for_who_asks() {
    let place = Place::new();
    let file = place.file("a.st", storm());
    let colored = |args: &[&str], no_color: bool| {
        let mut command = whyslow(args);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        out(&command.output().expect("the binary runs")).contains('\x1b')
    };
    assert!(!colored(&["diagnose", &file], false));
    assert!(colored(&["diagnose", "--color", "always", &file], true));
    assert!(!colored(&["diagnose", "--color", "never", &file], false));
    assert!(!colored(&["diagnose", &file], true));
}

#[test]
fn a_capture_cannot_act_on_the_terminal() {
    let place = Place::new();
    let text = format!("{}10:00:03.000000 garbage \x1b]0;owned\x07 \x1b[2J\n", storm());
    let file = place.file("a\x1b[31m.st", text);
    for args in [["diagnose", "--verbose", &file], ["summary", "--verbose", &file]] {
        let output = run(&args);
        assert_eq!(output.status.code(), Some(0));
        assert!(
            !out(&output).contains('\x1b') && !err(&output).contains('\x1b'),
            "{}{}",
            out(&output),
            err(&output)
        );
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    for command in ["diagnose", "summary", "threads"] {
        let mut child = whyslow(&[command, "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        drop(child.stdout.take());
        let mut input = child.stdin.take().expect("its standard input");
        input.write_all(storm().as_bytes()).expect("it reads");
        drop(input);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{command}: {}", err(&output));
        assert!(err(&output).is_empty(), "{}", err(&output));
    }
}

#[test]
fn a_recording_goes_on_where_nobody_reads_what_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("true.whyslow");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let record = ["record", "--by", "ptrace", "-o", recording.to_str().unwrap(), "--", "true"];
    let status = whyslow(&record).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(out(&run(&["summary", recording.to_str().unwrap()])).contains("execve"));
}

#[test]
fn the_summary_is_strace_s_and_more() {
    let place = Place::new();
    let file = place.file("a.st", storm());
    let table = json(&run(&["summary", "--json", &file]));
    assert_eq!(table["view"], "summary");
    let row = &table["rows"][0];
    assert_eq!(
        (row["syscall"].as_str(), row["calls"].as_u64(), row["total"].as_u64()),
        (Some("stat"), Some(3000), Some(2_700_000_000))
    );
    assert_eq!(
        (row["mean"].as_u64(), row["min"].as_u64(), row["p99"].as_u64()),
        (Some(900_000), Some(900_000), Some(900_000))
    );
    assert_eq!((row["nature"].as_str(), row["cost"].as_str()), (Some("working"), Some("count")));
    let by = |args: &[&str]| json(&run(&[&["summary", "--json", &file], args].concat()))["rows"][0].clone();
    assert_eq!(by(&["--by", "path"])["path"], "/etc/localtime");
    assert_eq!(by(&["--by", "tid,syscall", "-S", "name"])["syscall"], "stat");
    assert_eq!(by(&["-S", "count", "--reverse", "--top", "1"])["syscall"], "write");
    for bad in [["--by", "moon"], ["--sort", "moon"]] {
        let output = run(&[&["summary", &file], &bad[..]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(err(&output).contains("choose one of"), "{}", err(&output));
    }
}

#[test]
fn the_account_adds_up_by_whatever_it_is_joined() {
    let place = Place::new();
    let file = place.file("a.st", storm());
    let table = json(&run(&["account", "--json", &file]));
    let row = &table["rows"][0];
    assert_eq!(
        (row["state"].as_str(), row["call"].as_str(), row["object"].as_str(), row["time"].as_u64()),
        (Some("in-call"), Some("stat"), Some("/etc/localtime"), Some(2_700_000_000))
    );
    let total = |by: &str| -> u64 {
        let table = json(&run(&["account", "--json", "--by", by, &file]));
        table["rows"].as_array().expect("rows").iter().filter_map(|row| row["time"].as_u64()).sum()
    };
    let all = total("row");
    assert!(all > 2_700_000_000);
    for by in ["thread", "state", "object", "request"] {
        assert_eq!(total(by), all, "{by}");
    }
}

#[test]
fn a_thread_or_request_that_is_not_there_is_an_error() {
    let place = Place::new();
    let file = place.file("a.st", storm());
    let output = run(&["path", "--thread", "1234567", &file]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("there is no thread 1234567: choose one of 4711"), "{}", err(&output));
    let output = run(&["path", "--request", "7", &file]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(err(&output).contains("no request 7 is kept, nor any other"), "{}", err(&output));
    let connection = "5<TCP:[127.0.0.1:80->10.0.0.9:4000]>";
    let served = place.file(
        "served.st",
        format!(
            "7 10:00:00.000000 accept4(3<TCP:[127.0.0.1:80]>, NULL, NULL, 0) = {connection} <0.000010>\n\
             7 10:00:00.100000 recvfrom({connection}, \"GET /a HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n\", 4096, 0, NULL, NULL) = 29 <0.000010>\n\
             7 10:00:00.400000 sendto({connection}, \"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n\", 38, 0, NULL, 0) = 38 <0.000010>\n"
        ),
    );
    let output = run(&["path", "--request", "1234567", &served]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(err(&output).contains("no request 1234567 is kept: choose one of "), "{}", err(&output));
}

#[test]
fn each_view_takes_a_process_or_says_how() {
    // More than a process can have for a number (PID_MAX_LIMIT of include/linux/threads.h is 4,194,304).
    for view in whyslow_views::VIEWS {
        let output = run(&[view.name, "-p", "4194305"]);
        let told = err(&output);
        assert_eq!(output.status.code(), Some(2), "{}: {told}", view.name);
        assert!(!told.contains("unexpected argument"), "{}: {told}", view.name);
        assert!(told.contains("4194305"), "{}: {told}", view.name);
    }
}

#[test]
fn threads_and_paths_are_joined_or_apart() {
    let place = Place::new();
    let file = place.file("a.st", storm());
    for (view, by) in [("path", "thread"), ("path", "what"), ("threads", "name"), ("threads", "tid")] {
        let table = json(&run(&[view, "--json", "--by", by, &file]));
        assert_eq!(table["rows"].as_array().map(Vec::is_empty), Some(false), "{view} --by {by}: {table}");
    }
    let output = run(&["path", "--by", "moon", &file]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("choose one of what, thread"), "{}", err(&output));
}

#[test]
fn a_pipe_is_as_wide_as_columns_says() {
    let place = Place::new();
    let file = place.file("a.st", storm());
    let widest = |columns: &str| {
        let output = whyslow(&["diagnose", &file]).env("COLUMNS", columns).output().expect("it runs");
        out(&output).lines().map(|line| line.chars().count()).max().unwrap_or_default()
    };
    assert!(widest("60") < widest("100"), "{} {}", widest("60"), widest("100"));
}

#[test]
fn files_and_descriptors_are_asked_as_one_asks_lsof() {
    let place = Place::new();
    let file = place.file("a.st", storm());
    let rows = |args: &[&str]| json(&run(args))["rows"].as_array().expect("rows").clone();
    let files = rows(&["files", "--json", &file]);
    assert_eq!(files[0]["path"], "/etc/localtime");
    assert_eq!(rows(&["files", "--json", "--file", "a.log", &file])[0]["bytes_written"], 330);
    let fds = rows(&["fds", "--json", "--file", "/var/log", &file]);
    assert_eq!((fds.len(), fds[0]["fd"].as_u64(), fds[0]["writes"].as_u64()), (1, Some(3), Some(30)));
    assert!(rows(&["fds", "--json", "--port", "80", &file]).is_empty());
    let threads = rows(&["threads", "--json", &file]);
    assert_eq!(threads[0]["calls"], 3030);
    assert!(threads[0]["over_time"].as_str().is_some_and(|line| line.contains('█')));
}

#[test]
fn the_first_seed_s_fix_worked() {
    let (before, after) = (seed("000/strace-c.before.txt"), seed("000/strace-c.after.txt"));
    let output = run(&["diff", &before, &after]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let text = out(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "Better. ",
        "Gone: repeated-stat",
        "5.0x the files (renames 5 -> 25)",
        "write calls 523 -> 2,599",
        "in an unknown time",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("faster") && !text.contains("times as fast"), "{text}");
    let diff = json(&run(&["diff", "--json", &before, &after]));
    assert_eq!((&diff["schema"], &diff["outcome"]), (&"whyslow.diff/1".into(), &"better".into()));
    let writes = diff["figures"]
        .as_array()
        .and_then(|figures| figures.iter().find(|figure| figure["name"] == "write calls"));
    assert_eq!(writes.map(|figure| figure["change"].clone()), Some("5.0x in an unknown time".into()));
    assert!(diff["refusals"][0].as_str().is_some_and(|text| text.contains("No rate and no speed-up")));
    let same = out(&run(&["diff", &before, &before]));
    assert!(same.starts_with("Unchanged. No change beyond noise"), "{same}");
}

#[test]
fn a_batch_program_s_time_is_compared() {
    let place = Place::new();
    let (before, after) = (place.file("before.st", batch(1_631_720)), place.file("after.st", batch(88_100)));
    let text = out(&run(&["diff", &before, &after]));
    assert!(text.starts_with("Better. Total time 18.5x less (2 min 43 s -> 8.81 s)"), "{text}");
    let same = out(&run(&["diff", &after, &after]));
    assert!(same.starts_with("Unchanged. No change beyond noise"), "{same}");
    // A snapshot of the same name is part of the input.
    place.file(
        "before.lsof",
        "COMMAND PID USER FD TYPE DEVICE SIZE/OFF NODE NAME\njob 9 app 3w REG 8,1 0 7 /data/out\n",
    );
    assert!(err(&run(&["diff", &before, &after])).contains("before.lsof is read with"));
    // So is a second one, but not what another capture has beside it.
    for name in ["before.threads.lsof", "before.second.lsof", "before2.lsof"] {
        place.file(name, "COMMAND PID USER FD TYPE DEVICE SIZE/OFF NODE NAME\n");
    }
    place.file("before.second.st", batch(88_100));
    let said = err(&run(&["diff", &before, &after]));
    assert!(said.contains("before.threads.lsof is read with"), "{said}");
    assert!(!said.contains("second") && !said.contains("before2"), "{said}");
    let output = run(&["diff", &before, &place.path("missing.st")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("missing.st"));
}

#[test]
fn the_second_seed_s_cause_is_named() {
    let (trace, lsof) = (seed("001/redis-epipe.st"), seed("001/redis-epipe.lsof"));
    let output = run(&["diagnose", "--json", &trace, &lsof]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let diagnosis = json(&output);
    let finding = diagnosis["findings"]
        .as_array()
        .and_then(|findings| findings.iter().find(|finding| finding["id"] == "client-gone"))
        .unwrap_or_else(|| panic!("client-gone: {diagnosis}"));
    let text = finding.to_string();
    for expected in ["HMGET", "172.16.0.21:6379", "1779099000"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn rules_explain_themselves() {
    let list = out(&run(&["rule"]));
    assert!(list.contains("tz-stat-storm"), "{list}");
    let essay = out(&run(&["rule", "tz-stat-storm"]));
    assert!(essay.starts_with("# tz-stat-storm\n") && essay.contains("TZ=:/etc/localtime"), "{essay}");
    assert_eq!(json(&run(&["rule", "--json", "tz-stat-storm"]))["group"], "files");
    let output = run(&["rule", "tz-stat-strom"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("did you mean tz-stat-storm"), "{}", err(&output));
}

#[test]
fn reports_go_to_files() {
    let place = Place::new();
    let file = place.file("a.st", storm());
    for (name, begins) in [("r.html", "<!doctype html>"), ("r.json", "{"), ("r.md", "")] {
        let path = place.path(name);
        let output = run(&["report", &file, "-o", &path]);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        let text = std::fs::read_to_string(&path).expect("the report");
        assert!(text.to_lowercase().starts_with(begins) && text.contains("/etc/localtime"), "{name}: {text}");
    }
    let output = run(&["report", &file, "-o", &place.path("r.pdf")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains(".html"), "{}", err(&output));
    let output = run(&["report", &file, "--html", "-o", &place.path("no/such/r.html")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("cannot be written"), "{}", err(&output));
}

#[test]
fn completions_and_manual_pages_are_made() {
    for shell in ["bash", "zsh", "fish"] {
        let script = out(&run(&["completions", shell]));
        assert!(script.contains("diagnose") && script.contains("fail-on"), "{shell}");
    }
    assert!(out(&run(&["man"])).contains(".TH whyslow 1"));
    let place = Place::new();
    assert_eq!(run(&["man", &place.path("man1")]).status.code(), Some(0));
    assert!(std::fs::read_dir(place.path("man1")).expect("pages").count() > 5);
}
