//! The program as people run it.

use crate::orders;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A recording of so many orders.
pub(crate) fn recording(count: u64) -> (TempDir, PathBuf) {
    let place = TempDir::new().unwrap();
    let dir = place.path().join("orders.whyslow");
    orders::write(&dir, count);
    (place, dir)
}

/// `whyslow-query sql` with a home of its own.
pub(crate) fn sql(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow-query"));
    command
        .arg("sql")
        .env("HOME", home)
        .env_remove("XDG_CACHE_HOME")
        .env_remove("XDG_STATE_HOME")
        .stdin(Stdio::null());
    command
}

pub(crate) fn out(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn one_question_in_each_form() {
    let (place, dir) = recording(4);
    let ask = |form: &[&str]| {
        let question = "SELECT syscall, count(*) AS n, count(errno) AS errors, max(errno) AS errno FROM calls \
                        WHERE syscall IN ('stat', 'fsync') GROUP BY 1 ORDER BY 1";
        out(&sql(place.path()).arg(&dir).args(form).arg(question).output().unwrap())
    };
    assert_eq!(ask(&[]), "syscall  n  errors  errno\nfsync    4       0  -\nstat     4       4  ENOENT\n");
    assert_eq!(ask(&["--csv"]), "syscall,n,errors,errno\nfsync,4,0,\nstat,4,4,ENOENT\n");
    let lines = "{\"syscall\":\"fsync\",\"n\":4,\"errors\":0,\"errno\":null}\n{\"syscall\":\"stat\",\"n\":4,\"errors\":4,\"errno\":\"ENOENT\"}\n";
    let ndjson = ask(&["--ndjson"]);
    let parsed = |text: &str| -> Vec<serde_json::Value> {
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    assert_eq!(parsed(&ndjson), parsed(lines));
    let json: Vec<serde_json::Value> = serde_json::from_str(&ask(&["--json"])).unwrap();
    assert_eq!(json, parsed(lines));
}

#[test]
fn questions_come_from_files_and_pipes() {
    let (place, dir) = recording(4);
    let mut child = sql(place.path())
        .arg(&dir)
        .args(["--csv", "-f", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"SELECT ';' AS a; -- one\nSELECT 2 AS b;\n").unwrap();
    assert_eq!(out(&child.wait_with_output().unwrap()), "a\n;\nb\n2\n");
}

#[test]
fn what_is_wrong_is_told_with_what_to_do() {
    let (place, dir) = recording(4);
    for (question, says) in [
        ("SELECT durr FROM calls", "next: write dur"),
        ("DROP TABLE calls", "only questions are answered"),
        ("SELECT * FROM '/etc/passwd'", "there is no table /etc/passwd"),
    ] {
        let output = sql(place.path()).arg(&dir).arg(question).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(says), "{question}: {error}");
    }
    let output = sql(place.path()).arg(place.path().join("missing")).arg("SELECT 1").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn texts_of_strangers_do_nothing_to_a_terminal() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("x.st");
    std::fs::write(
        &file,
        "100 10:00:00.000001 openat(AT_FDCWD, \"/a\\33[31mb\x1b[2J\", O_RDONLY) = 3 <0.000010>\n".repeat(3),
    )
    .unwrap();
    let text = out(&sql(place.path()).arg(&file).arg("SELECT path, args FROM calls").output().unwrap());
    assert!(!text.contains('\x1b'), "{text:?}");
}

#[test]
fn rows_are_cut_where_asked() {
    let (place, dir) = recording(4);
    let output = sql(place.path())
        .arg(&dir)
        .args(["--csv", "--rows", "3", "SELECT seq FROM calls ORDER BY seq"])
        .output()
        .unwrap();
    assert_eq!(out(&output).lines().count(), 4);
    assert!(String::from_utf8_lossy(&output.stderr).contains("--rows 0"));
}

/// Types the lines, each when the shell asks for it, and gives all that was printed.
fn typed(mut child: Child, lines: &[&str]) -> String {
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let printed = Arc::new(Mutex::new(Vec::new()));
    let into = printed.clone();
    let reader = std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = stdout.read(&mut bytes) {
            into.lock().unwrap().extend_from_slice(&bytes[..count]);
        }
    });
    let text = || String::from_utf8_lossy(&printed.lock().unwrap()).into_owned();
    let deadline = Instant::now() + Duration::from_secs(60);
    for line in lines {
        // Each line is asked for by a prompt; a prompt is drawn anew while its line is edited, so what is new is waited for.
        let seen = text().len();
        stdin.write_all(line.as_bytes()).unwrap();
        if *line == "\\q\r" {
            break;
        }
        while !text()[seen..].contains("> \r\x1b") {
            assert!(Instant::now() < deadline, "{line:?} was not answered: {}", text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    drop(stdin);
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "it does not end: {}", text());
        std::thread::sleep(Duration::from_millis(20));
    }
    reader.join().unwrap();
    text()
}

#[test]
fn the_shell_answers_completes_and_remembers() {
    use std::os::unix::fs::PermissionsExt;
    // script(1) gives it a terminal.
    if Command::new("script").arg("--version").output().is_err() {
        println!("skipped: script (util-linux) is not there");
        return;
    }
    let (place, dir) = recording(4);
    let program = env!("CARGO_BIN_EXE_whyslow-query");
    let child = Command::new("script")
        .args(["-qec", &format!("'{program}' sql '{}'", dir.display()), "/dev/null"])
        .env("HOME", place.path())
        .env("TERM", "xterm")
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CACHE_HOME")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = [
        "\\d processes\r",
        "\\timing\r",
        "SELECT count(*) AS n\r",
        "FROM processe\t WHERE pid = 4000;\r",
        "\\q\r",
    ];
    let text = typed(child, &lines);
    assert!(text.contains("fd_limit") && text.contains("(1 row)") && text.contains(" ms\r\n"), "{text}");
    let history = place.path().join(".local/state/whyslow/sql-history");
    let kept = std::fs::read_to_string(&history).unwrap();
    assert!(kept.contains("SELECT count(*) AS n FROM process"), "{kept}");
    assert_eq!(history.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

/// A server that serves what is in a folder, with the program `true` for `whyslow`.
fn serves(folder: &Path, more: &[&str]) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_whyslow-query"))
        .arg("serve")
        .args(more)
        .arg(folder)
        .env("WHYSLOW_PROGRAM", Path::new("/bin/true").canonicalize().unwrap())
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The first line is there when it serves.
    let mut line = Vec::new();
    let mut out = child.stdout.take().unwrap();
    let mut byte = [0];
    while out.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    (child, String::from_utf8(line).unwrap())
}

#[test]
fn a_server_is_held_to_what_it_serves_unless_it_may_record() {
    let (place, _dir) = recording(4);
    if has_no_landlock() {
        println!("note: no landlock here: nothing holds a server");
        return;
    }
    for (more, held) in [(&[][..], "1"), (&["--allow-record"][..], "0")] {
        let (mut child, address) = serves(place.path(), more);
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let own = status.lines().find_map(|line| line.strip_prefix("NoNewPrivs:\t"));
        let _ = child.kill();
        let _ = child.wait();
        assert!(address.starts_with("http://127.0.0.1:"), "{address}");
        assert_eq!(own, Some(held), "{more:?}");
    }
}

/// This kernel has no Landlock: a thread that ends finds out.
fn has_no_landlock() -> bool {
    std::thread::spawn(|| whyslow_rights::confine_thread(&[]).landlock.is_err()).join().unwrap()
}
