//! `whyslow top` on the machine that the tests run on: one look for scripts, and the screen on a terminal of its own.

use crate::common::skipped;
use crate::pty::Pty;
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
fn top(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_whyslow"))
        .arg("top")
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs")
}

#[test]
fn one_look_lists_resources_and_processes() {
    let output = top(&["--once", "--json", "--interval", "300ms"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let look: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(look["schema"], "whyslow.top/1");
    let names: Vec<&str> = look["resources"]
        .as_array()
        .expect("resources")
        .iter()
        .filter_map(|resource| resource["name"].as_str())
        .collect();
    assert!(names.contains(&"CPU") && names.contains(&"memory"), "{names:?}");
    // This test is a process too, with a name and memory.
    let own = u64::from(std::process::id());
    let processes = look["processes"].as_array().expect("processes");
    let me = processes.iter().find(|process| process["pid"] == own).expect("this process");
    assert!(me["name"].is_string() && me["rss"].as_u64().is_some_and(|rss| rss > 100_000), "{me}");
    assert!(look["own_cpu"].as_f64().is_some_and(|cpu| (0.0..10.0).contains(&cpu)), "{}", look["own_cpu"]);
}

/// The names that docs/LIVE.md promises, and no others.
#[test]
fn the_json_has_the_form_that_is_documented() {
    use std::collections::BTreeSet;
    use whyslow_model::{Metric, Trait};
    // A secret on a command line, which anybody may paste into a ticket.
    let mut secret = Command::new("sh")
        .args(["-c", "read line", "--password=hunter2"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("sh");
    let output = top(&["--once", "--json", "-i", "100ms"]);
    secret.kill().and_then(|()| secret.wait()).expect("a child of ours");
    assert_eq!(output.status.code(), Some(0));
    let look: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let names = |value: &Value| -> BTreeSet<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    let set = |names: &[&str]| -> BTreeSet<String> { names.iter().map(ToString::to_string).collect() };
    let docs = include_str!("../../../../docs/LIVE.md");
    for name in names(&look) {
        assert!(docs.contains(&format!("| `{name}` |")), "docs/LIVE.md does not tell of `{name}`");
    }
    assert!(look["at"].is_u64() && look["over_ns"].as_u64().is_some_and(|over| over >= 100_000_000));
    for resource in look["resources"].as_array().expect("resources") {
        assert_eq!(names(resource), set(&["evidence", "name", "reason", "state", "supply", "who"]));
        assert!(
            ["saturated", "not", "unknown"].contains(&resource["state"].as_str().expect("a state")),
            "{resource}"
        );
    }
    let traits: BTreeSet<&str> = Trait::ALL.iter().map(|of| of.name()).collect();
    let metrics: BTreeSet<&str> = Metric::ALL.iter().map(|of| of.name()).collect();
    let check = |task: &Value| {
        for (name, value) in task.as_object().expect("a task") {
            let is_right = match name.as_str() {
                "pid" | "tid" | "to_accept" => value.is_u64(),
                "program" | "sleeps_in" => value.is_string(),
                "waits_for" => value["what"].is_string() && value["share"].is_f64(),
                "listed_threads" => value.is_array(),
                text if traits.contains(text) => value.is_string(),
                number => metrics.contains(number) && value.is_number(),
            };
            assert!(is_right, "{name}: {value}");
        }
    };
    let processes = look["processes"].as_array().expect("processes");
    for process in processes {
        check(process);
        process["listed_threads"].as_array().into_iter().flatten().for_each(check);
    }
    let child = processes.iter().find(|process| process["pid"] == u64::from(secret.id())).expect("the child");
    let command = child["command"].as_str().expect("its command line");
    assert!(command.contains("[redacted]") && !command.contains("hunter2"), "{command}");
}

#[test]
fn text_has_a_line_for_each_process_and_names_the_columns() {
    let output = top(&["--once", "-i", "300ms", "--sort", "rss"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("PID") && text.contains("WAITS FOR"), "{text}");
}

#[test]
fn what_cannot_be_is_refused_with_the_way_out() {
    let wrong = top(&["--once", "--sort", "colour"]);
    let text = String::from_utf8_lossy(&wrong.stderr);
    assert!(!wrong.status.success() && text.contains("no such column") && text.contains("waits"), "{text}");
    // Standard output is a pipe here.
    let no_terminal = top(&[]);
    let text = String::from_utf8_lossy(&no_terminal.stderr);
    assert!(!no_terminal.status.success() && text.contains("--once"), "{text}");
}

/// The screen, on a terminal of that size.
fn screen(columns: u16, rows: u16, args: &[&str]) -> Pty {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.arg("top").args(args).env("TERM", "xterm-256color").env_remove("NO_COLOR");
    Pty::start(&command, columns, rows)
}

/// The terminal is as before: no other screen, a cursor, no mouse, lines and echo.
fn assert_given_back(pty: &mut Pty, modes: &str) {
    for (taken, given) in
        [("\x1b[?1049h", "\x1b[?1049l"), ("\x1b[?25l", "\x1b[?25h"), ("\x1b[?1000h", "\x1b[?1000l")]
    {
        pty.wait_until_written("it is taken back", |text| text.rfind(given) > text.rfind(taken));
    }
    assert_eq!(pty.modes(), modes);
}

#[test]
fn keys_lead_into_a_process_and_back() {
    let mut pty = screen(100, 30, &["-i", "200ms"]);
    let modes = pty.modes();
    pty.wait_for("saturated");
    assert_ne!(pty.modes(), modes, "keys come one by one");
    pty.keys("?");
    pty.wait_for("what it does");
    pty.keys("\x1b");
    pty.wait_for(" processes ");
    // This test, by its number.
    pty.keys(&format!("/{}\r", std::process::id()));
    pty.wait_for(" 1 process ");
    pty.keys("\r");
    pty.wait_for("threads that did something");
    pty.keys("d");
    pty.wait_for(": fds ");
    pty.wait_for("target");
    // Back to its threads, to all processes, and without the filter.
    pty.keys("\x1b");
    pty.wait_for("threads that did something");
    pty.keys("\x7f");
    pty.wait_for(" 1 process ");
    pty.keys("\x1b[D");
    pty.wait_until("all processes", |screen| screen.contains(" processes ") && !screen.contains("filter"));
    pty.keys(" ");
    pty.wait_for(" held ");
    pty.keys("t");
    pty.keys(" +");
    pty.wait_for("400 ms");
    pty.keys("q");
    assert!(pty.end().success());
    assert_given_back(&mut pty, &modes);
}

#[test]
fn a_verdict_leads_to_who_takes() {
    let mut pty = screen(100, 30, &["-i", "200ms"]);
    pty.wait_for("saturated");
    pty.keys("\t\r");
    pty.wait_for("who takes of it");
    pty.wait_for("Below:");
    pty.keys("\x1b");
    pty.wait_for(" processes ");
    // The mouse: the first line is a verdict.
    pty.keys("\x1b[<0;4;1M\x1b[<0;4;1M");
    pty.wait_for("who takes of it");
    pty.keys("q");
    assert!(pty.end().success());
}

/// True where a recording below the folder has rows, or a spool that is not empty.
fn has_a_part(folder: &Path) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => has_a_part(&entry.path()),
        _ => entry.file_name() != "meta.json" && entry.metadata().is_ok_and(|data| data.len() > 0),
    })
}

/// Ends while it records: what was recorded is closed, and told of.
#[test]
fn a_recording_from_here_survives_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.args(["top", "-i", "200ms"]).env("TERM", "xterm").current_dir(folder.path());
    let mut pty = Pty::start(&command, 100, 30);
    pty.wait_for("saturated");
    pty.keys(&format!("/{}\r", std::process::id()));
    pty.wait_for(" 1 process ");
    pty.keys("r");
    pty.wait_until("a remark", |screen| screen.contains("for 10s to ") || screen.contains("not recorded"));
    pty.keys("r");
    let told = |screen: &str| screen.contains("is being recorded already") || screen.contains("not recorded");
    pty.wait_until("another", told);
    if pty.text().contains("not recorded") {
        // Where neither BPF nor ptrace is allowed there is nothing to record with.
        return skipped(format_args!("no recording here: {}", pty.text()));
    }
    // Something of it is there before the end comes.
    let until = Instant::now() + Duration::from_secs(60);
    while !has_a_part(folder.path()) {
        assert!(Instant::now() < until, "nothing is recorded: {}", pty.text());
        pty.read_for(Duration::from_millis(50));
    }
    pty.keys("q");
    assert!(pty.end().success());
    let recorded = "recorded; next: whyslow report ";
    let is_told = |text: &str| text.rsplit("\x1b[?1049l").next().is_some_and(|told| told.contains(recorded));
    pty.wait_until_written("what was recorded is told of", is_told);
    let text = String::from_utf8_lossy(&pty.written).into_owned();
    let told = text.rfind("\x1b[?1049l").map(|end| &text[end..]).expect("the screen ended");
    let name = told.split("whyslow report ").nth(1).expect("a name").trim();
    let report = Command::new(env!("CARGO_BIN_EXE_whyslow"))
        .args(["report", name])
        .current_dir(folder.path())
        .output();
    let report = report.expect("it runs");
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_fg_takes_it() {
    let mut pty = screen(80, 24, &[]);
    let modes = pty.modes();
    pty.wait_for("saturated");
    for stop in ["\x1a", ""] {
        match stop {
            "" => pty.signal(Signal::TSTP),
            key => pty.keys(key),
        }
        let until = Instant::now() + Duration::from_secs(60);
        while pty.state_and_cpu().0 != 'T' {
            assert!(Instant::now() < until, "it does not stop");
            pty.read_for(Duration::from_millis(20));
        }
        assert_given_back(&mut pty, &modes);
        pty.written.clear();
        // What fg does, after the shell and others wrote to the screen.
        pty.signal(Signal::CONT);
        pty.wait_until("it again", |screen| screen.contains("CPU %") && screen.contains("q end"));
        let until = Instant::now() + Duration::from_secs(60);
        while !String::from_utf8_lossy(&pty.written).contains("CPU %") {
            assert!(Instant::now() < until, "nothing is drawn again");
            pty.read_for(Duration::from_millis(20));
        }
        assert_ne!(pty.modes(), modes);
    }
    pty.keys("\x03");
    assert!(pty.end().success());
    assert_given_back(&mut pty, &modes);
}

#[test]
fn signals_end_it_in_good_order() {
    for (signal, status) in [(Signal::TERM, 143), (Signal::INT, 0), (Signal::HUP, 129)] {
        let mut pty = screen(80, 24, &[]);
        let modes = pty.modes();
        pty.wait_for("saturated");
        pty.signal(signal);
        assert_eq!(pty.end().code(), Some(status), "{signal:?}");
        assert_given_back(&mut pty, &modes);
    }
}

#[test]
fn a_terminal_that_is_gone_ends_it() {
    let mut pty = screen(80, 24, &["-i", "1h"]);
    pty.wait_for("saturated");
    pty.hang_up();
    assert_eq!(pty.end_unread().code(), Some(129));
    // Also where nobody may be told so: a shell that ignores SIGHUP hands that on.
    let mut command = Command::new("sh");
    let ignoring = r#"trap "" HUP; exec "$0" top -i 1h"#;
    command.args(["-c", ignoring, env!("CARGO_BIN_EXE_whyslow")]).env("TERM", "xterm");
    let mut pty = Pty::start(&command, 80, 24);
    pty.wait_for("saturated");
    pty.hang_up();
    assert_eq!(pty.end_unread().code(), Some(129));
}

#[test]
fn it_fits_every_size_and_follows_a_change() {
    let mut pty = screen(80, 24, &["-i", "200ms"]);
    pty.wait_for("saturated");
    for (columns, rows) in [(1, 1), (3, 2), (10, 3), (40, 8), (79, 23), (300, 90), (80, 1), (1, 60)] {
        pty.resize(columns, rows);
        pty.keys("?");
        pty.read_for(Duration::from_millis(60));
        pty.keys("?");
        pty.read_for(Duration::from_millis(60));
    }
    pty.resize(120, 40);
    pty.wait_for("q end");
    // A key that came with a change of size is read with the next one, so that the help may have been left open.
    pty.wait_by("\x1b", "COMMAND", |screen| screen.contains("COMMAND"));
    assert!(pty.end_by("q").success());
}

#[test]
fn the_mouse_chooses_and_turns() {
    let mut pty = screen(100, 30, &["-i", "1h"]);
    pty.wait_for("saturated");
    // Presses the right button: nothing to go back to; turns the wheel; leaves a sequence unfinished, which must not hold
    // anything up.
    pty.keys("\x1b[<2;10;10M\x1b[<65;10;20M\x1b[<64;10;20M");
    pty.keys("?");
    pty.wait_for("what it does");
    pty.keys("\x1b[<2;10;10M");
    pty.wait_for(" processes ");
    pty.keys("\x1b[");
    pty.read_for(Duration::from_millis(100));
    pty.signal(Signal::TERM);
    assert_eq!(pty.end().code(), Some(143));
}

#[test]
fn a_line_that_is_stuck_costs_nothing_and_holds_no_end_up() {
    let mut pty = screen(200, 60, &["-i", "100ms"]);
    pty.wait_for("saturated");
    // More than the kernel keeps for a reader that does not read.
    for _ in 0..200 {
        pty.keys("?\x0c");
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(Duration::from_millis(500));
    let (began, (_, before)) = (Instant::now(), pty.state_and_cpu());
    std::thread::sleep(Duration::from_secs(2));
    let used = pty.state_and_cpu().1 - before;
    let passed = began.elapsed().as_secs_f64() * rustix::param::clock_ticks_per_second() as f64;
    assert!((used as f64) < passed / 4.0, "{used} ticks of {passed} while nobody reads");
    let status = std::fs::read_to_string(format!("/proc/{}/status", pty.pid())).expect("it is there");
    let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    let kib: u64 = rss.trim_end_matches("kB").trim().parse().expect("KiB");
    assert!(kib < 200 * 1024, "{kib} KiB");
    // Read again, it shows what is now.
    pty.read_for(Duration::from_millis(300));
    pty.wait_for("q end");
    for _ in 0..200 {
        pty.keys("?\x0c");
        std::thread::sleep(Duration::from_millis(2));
    }
    pty.signal(Signal::TERM);
    assert_eq!(pty.end_unread().code(), Some(143));
}

#[test]
fn little_is_written_where_little_changes() {
    let mut pty = screen(80, 24, &["-i", "200ms"]);
    pty.wait_for("saturated");
    pty.keys(" ");
    pty.wait_for(" held ");
    // The last frame may still be on its way.
    pty.settle();
    pty.written.clear();
    // Held, nothing changes: not a byte, however often it looks.
    assert_eq!(pty.read_for(Duration::from_secs(1)), 0, "{:?}", String::from_utf8_lossy(&pty.written));
}

#[test]
fn terminals_that_cannot_be_drawn_on_are_told_the_way_out() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.arg("top").env("TERM", "dumb");
    let mut pty = Pty::start(&command, 80, 24);
    assert_eq!(pty.end().code(), Some(2));
    pty.wait_until_written("the way out", |text| text.contains("--once"));
    // Without colour: no sequence for one.
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.args(["top", "-i", "200ms"]).env("TERM", "xterm").env("NO_COLOR", "1");
    let mut pty = Pty::start(&command, 80, 24);
    pty.wait_for("saturated");
    pty.keys("q");
    assert!(pty.end().success());
    pty.settle();
    assert!(!String::from_utf8_lossy(&pty.written).contains("\x1b[31"));
}

#[test]
fn intervals_that_cannot_be_are_refused() {
    for wrong in ["50ms", "2h"] {
        let refused = top(&["-i", wrong]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("100ms to 1h"), "{wrong}");
    }
}
