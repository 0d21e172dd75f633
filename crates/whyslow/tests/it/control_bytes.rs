//! Names from outside are shown by every command, and none of their control bytes reaches the terminal: escapes, C1
//! controls, direction overrides and isolates, and line ends in messages.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use whyslow_model::visible;
use whyslow_read::{Input, ReadOptions};
use whyslow_store::{Meta, WriteOptions, Writer};

/// A title that is set, a colour, a cleared screen by C1, an override, an isolate, a carriage return.
const EVIL: &str = "evil\u{1b}]0;pwned\u{7}\u{1b}[31m\u{9b}2J\u{202e}\u{2066}\r\u{8}X";

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.args(args).env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
    command.output().expect("the binary runs")
}

/// Fails where `output` holds what a terminal acts upon. pprof's tables have tabs of their own.
fn check(args: &[&str], output: &Output) {
    for bytes in [&output.stdout, &output.stderr] {
        let text = String::from_utf8(bytes.clone()).unwrap_or_else(|_| panic!("{args:?}: no UTF-8"));
        let bad = text.char_indices().find(|(_, c)| visible::acts(*c) && !matches!(c, '\n' | '\t'));
        if let Some((at, c)) = bad {
            let around: String =
                text[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
            panic!("{args:?}: {c:?} behind {around:?}");
        }
    }
}

/// Without the colours that reports are printed in: what is left must hold nothing that acts. [`EVIL`] has a colour of its own,
/// but never alone.
fn check_coloured(args: &[&str]) {
    let args = [args, &["--color", "always"]].concat();
    let Output { status, stdout, stderr } = run(&args);
    let text = String::from_utf8(stdout).expect("UTF-8");
    let colour = regex::bytes::Regex::new(r"\x1b\[[0-9;]*m").expect("a pattern");
    assert!(text.contains("\u{1b}["), "{args:?} has no colour");
    let stdout = colour.replace_all(text.as_bytes(), &b""[..]).into_owned();
    let stderr = colour.replace_all(&stderr, &b""[..]).into_owned();
    check(&args, &Output { status, stdout, stderr });
}

/// A trace whose paths, data and program names carry [`EVIL`] as it is.
fn trace() -> String {
    let calls = [
        format!("execve(\"/bin/{EVIL}\", [\"{EVIL}\", \"{EVIL}\"], 0x7ffd /* 9 vars */) = 0 <0.000300>"),
        format!("openat(AT_FDCWD, \"/data/{EVIL}\", O_RDWR|O_CREAT, 0644) = 3</data/{EVIL}> <0.200000>"),
        format!("read(3</data/{EVIL}>, \"{EVIL}\", 4096) = 20 <0.300000>"),
        format!("fsync(3</data/{EVIL}>) = 0 <0.900000>"),
        format!("connect(4<UNIX:[77->78,\"/run/{EVIL}\"]>, {{sa_family=AF_UNIX, sun_path=\"/run/{EVIL}\"}}, 110) = 0 <0.100000>"),
        format!("sendto(4, \"GET /{EVIL} HTTP/1.1\\r\\nHost: {EVIL}\\r\\n\\r\\n\", 60, 0, NULL, 0) = 60 <0.000100>"),
        "recvfrom(4, \"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n\", 4096, 0, NULL, NULL) = 38 <0.700000>".to_string(),
        "futex(0x7f0000001000, FUTEX_WAIT_PRIVATE, 2, NULL) = 0 <0.400000>".to_string(),
        format!("{EVIL}(1) = 0 <0.000100>"),
        EVIL.to_string(),
    ];
    let line = |(number, call): (usize, &String)| format!("9 17000000{:02}.000000 {call}\n", number);
    calls.iter().enumerate().map(line).collect()
}

/// What is looked at: a trace, a recording, samples of stacks.
struct Captures {
    folder: TempDir,
}

impl Captures {
    fn new() -> Captures {
        let folder = TempDir::new().expect("a folder");
        let captures = Captures { folder };
        fs::write(captures.path("trace.st"), trace()).expect("written");
        fs::write(captures.path("p.folded"), format!("main;{EVIL};leaf 50\nmain;{EVIL} 5\n"))
            .expect("written");
        let dump = format!("goroutine 1 [{EVIL}]:\nmain.{EVIL}(0x1)\n\t/src/{EVIL}.go:12 +0x1d\n");
        fs::write(captures.path("g.txt"), dump).expect("written");
        let log = format!(
            "{EVIL} - - [22/Nov/2026:10:00:00 +0000] \"GET /{EVIL} HTTP/1.1\" 200 5 \"-\" \"{EVIL}\" 0.5\n"
        );
        fs::write(captures.path("access.log"), log.repeat(30)).expect("written");
        let meta = Meta { target: Some(EVIL.to_string()), ..Meta::new(EVIL) };
        let to = captures.path("r.whyslow");
        let mut writer = Writer::create(&to, meta, WriteOptions::LIVE).expect("a recording");
        let input = Input::File(captures.path("trace.st"));
        whyslow_read::read(&[input], &ReadOptions::default(), &(), &mut writer).expect("read");
        writer.finish().expect("written");
        captures
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn views_of_profiles_show_none() {
    let captures = Captures::new();
    for name in ["p.folded", "g.txt"] {
        let path = captures.path(name);
        let path = text(&path);
        check(&[path], &run(&["profile", path]));
        for view in ["top", "tree", "traces", "tags", "raw", "folded", "peek", "list", "sandwich"] {
            let args: Vec<&str> = match view {
                "peek" | "list" | "sandwich" => vec!["profile", path, view, "evil|main|pwned"],
                _ => vec!["profile", path, view],
            };
            let output = run(&args);
            check(&args, &output);
            let shown = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(
                output.status.success()
                    && (view == "tags"
                        || ["pwned\\x07", "\\x1b]0"].iter().any(|escape| shown.contains(escape))),
                "{args:?}: {shown}"
            );
        }
        // The JSON of other tools writes C0 controls in its own way.
        for view in ["speedscope", "firefox"] {
            let output = run(&["profile", path, view]);
            assert!(!output.stdout.iter().any(|byte| *byte == 0x1b || *byte == 7), "{view}");
        }
    }
    let folded = captures.path("p.folded");
    let again = captures.path("q.folded");
    fs::write(&again, format!("main;{EVIL};leaf 90\nmain;{EVIL} 1\n")).expect("written");
    for command in ["diff", "diagnose"] {
        let args = [command, text(&folded), text(&again)];
        check(&args, &run(&args));
    }
}

#[test]
fn views_of_captures_show_none() {
    let captures = Captures::new();
    for name in ["trace.st", "r.whyslow", "access.log"] {
        let path = captures.path(name);
        let path = text(&path);
        for command in [
            "diagnose", "report", "summary", "account", "files", "fds", "peers", "threads", "host", "locks",
            "path", "requests", "disks",
        ] {
            for more in [&[][..], &["--verbose"], &["--json"]] {
                let args = [&[command, path], more].concat();
                check(&args, &run(&args));
            }
        }
        let markdown = ["report", path, "--markdown"];
        check(&markdown, &run(&markdown));
    }
    let (trace, recording) = (captures.path("trace.st"), captures.path("r.whyslow"));
    let args = ["diff", text(&trace), text(&recording)];
    check(&args, &run(&args));
}

#[test]
fn coloured_views_show_none_but_their_own() {
    let captures = Captures::new();
    let recording = captures.path("r.whyslow");
    for command in ["diagnose", "summary", "files", "threads", "peers"] {
        check_coloured(&[command, text(&recording)]);
    }
}

#[test]
fn a_command_line_that_is_wrong_is_quoted_without() {
    for words in
        [&["EVIL"][..], &["diagnose", "--EVIL"], &["record", "-d", "EVIL"], &["summary", "x", "--top=EVIL"]]
    {
        let words: Vec<String> = words.iter().map(|word| word.replace("EVIL", EVIL)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = run(&words);
        check(&words, &output);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && told.contains("pwned\\x07"), "{words:?}: {told}");
    }
}

#[test]
fn messages_show_none() {
    let folder = TempDir::new().expect("a folder");
    let name = folder.path().join(format!("no\nfiles{EVIL}.whyslow"));
    let path = text(&name);
    let commands = ["diagnose", "profile", "files", "report"];
    let check_line = |args: &[&str], output: &Output| {
        check(args, output);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains("no\\nfiles"), "{args:?}: {told}");
    };
    for command in commands {
        check_line(&[command], &run(&[command, path]));
    }
    fs::create_dir(&name).expect("made");
    for command in commands {
        check_line(&[command], &run(&[command, path]));
    }
    let below = folder.path().join("below");
    fs::create_dir(&below).expect("made");
    fs::write(below.join(format!("no\nfiles{EVIL}")), b"what\n").expect("written");
    check_line(&["diagnose"], &run(&["diagnose", text(&below)]));
}

/// A program with such a name, which opens a file with such a name.
#[test]
fn a_living_program_shows_none() {
    let folder = TempDir::new().expect("a folder");
    let program = folder.path().join("evil\u{1b}[31m\u{7}X");
    fs::copy("/bin/sleep", &program).expect("copied");
    let mut child = Command::new(&program).arg0(EVIL).arg("60").spawn().expect("started");
    let once = run(&["top", "--once"]);
    let script = format!("cat '{}/{EVIL}'; exec '{}' 0.2", folder.path().display(), program.display());
    let traced = run(&["trace", "--", "sh", "-c", &script]);
    let diagnosed = run(&["diagnose", "-v", "--", "sh", "-c", &script]);
    child.kill().expect("killed");
    child.wait().expect("it ends");
    check(&["top"], &once);
    // What `cat` itself says is its own affair.
    let own = String::from_utf8_lossy(&traced.stderr).into_owned();
    let lines =
        |text: &str| text.lines().filter(|line| !line.starts_with("cat: ")).collect::<Vec<_>>().join("\n");
    let traced = Output { stderr: lines(&own).into_bytes(), ..traced };
    check(&["trace"], &traced);
    let own = String::from_utf8_lossy(&diagnosed.stderr).into_owned();
    check(&["diagnose"], &Output { stderr: lines(&own).into_bytes(), ..diagnosed });
}
