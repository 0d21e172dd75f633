//! What lies on the disk is for its user alone, and holds no secret: during a recording, and after it.

use crate::common::skipped;
use crate::secrets::{PROGRAM, SECRETS, below, secrets_in, secrets_in_tables, secrets_on_disk};
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const WHYSLOW: &str = env!("CARGO_BIN_EXE_whyslow");
/// Commands that show a recording.
const VIEWS: [&[&str]; 13] = [
    &["diagnose", "--verbose"],
    &["report", "--json"],
    &["report", "--markdown"],
    &["summary"],
    &["host"],
    &["disks"],
    &["files"],
    &["fds"],
    &["peers"],
    &["requests"],
    &["locks"],
    &["path"],
    &["threads", "--json"],
];

/// whyslow under this umask, in the background.
fn start(umask: &str, arguments: &[&str], temporary: &Path) -> Child {
    Command::new("sh")
        .args(["-c", "umask $0; exec \"$@\"", umask, WHYSLOW])
        .args(arguments)
        .env("TMPDIR", temporary)
        .env("DB_PASSWORD", "SECRET06")
        .env("PLAIN", "SECRET07")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell")
}

fn whyslow(arguments: &[&str]) -> Output {
    Command::new(WHYSLOW).args(arguments).stdin(Stdio::null()).output().expect("whyslow")
}

/// Paths that others may use; with `exact` also those with any other mode than 0700 and 0600. A file has none for a moment, if the
/// umask takes all.
fn open_to_others(folder: &Path, exact: bool) -> BTreeSet<String> {
    let paths = below(folder).into_iter();
    // What is gone meanwhile is nobody's.
    let modes = paths.filter_map(|path| Some((std::fs::symlink_metadata(&path).ok()?, path)));
    let wrong = modes.filter(|(meta, _)| {
        let expected = if meta.is_dir() { 0o700 } else { 0o600 };
        meta.mode() & 0o077 != 0 || exact && meta.mode() & 0o7777 != expected
    });
    wrong.map(|(meta, path)| format!("{:o} {}", meta.mode() & 0o7777, path.display())).collect()
}

/// Records the program by these means, and looks at all that is written meanwhile.
fn recorded(means: &str) {
    let able = match means {
        "bpf" => whyslow(&["doctor", "--json"]).status.code() == Some(0),
        _ => whyslow(&["doctor", "--json"]).status.code() != Some(2),
    };
    if !able {
        return skipped(format!("no recording by {means} here"));
    }
    // Its own file: what stands before it in some shells' paths are scripts, slow to trace.
    let Ok(python) = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output()
    else {
        return skipped("no python3");
    };
    let python = String::from_utf8_lossy(&python.stdout).trim().to_string();
    let place = tempfile::tempdir().expect("a folder");
    let recording = place.path().join("x.whyslow");
    let name = recording.display().to_string();
    let mut arguments =
        vec!["record", "--by", means, "--mode", "full", "-d", "10", "-o", &name, "--", &python, PROGRAM, "2"];
    arguments.extend(SECRETS);
    let mut child = start("0", &arguments, place.path());
    let (mut wrong, mut found, mut most) = (BTreeSet::new(), BTreeSet::new(), 0);
    while child.try_wait().expect("a child").is_none() {
        wrong.extend(open_to_others(&recording, false).into_iter().filter(|_| recording.exists()));
        found.extend(secrets_on_disk(&recording));
        most = most.max(below(&recording).len());
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().expect("a child");
    assert!(output.status.success(), "{output:?}");
    found.extend(secrets_in(&output.stderr, "standard error"));
    wrong.extend(open_to_others(&recording, true));
    found.extend(secrets_on_disk(&recording));
    let (texts, in_tables) = secrets_in_tables(&recording);
    found.extend(in_tables);
    for view in VIEWS {
        let output = whyslow(&[view, &[name.as_str()]].concat());
        found.extend(secrets_in(&output.stdout, &view.join(" ")));
        found.extend(secrets_in(&output.stderr, &view.join(" ")));
    }
    assert!(wrong.is_empty(), "open to others: {wrong:#?}");
    assert!(found.is_empty(), "secrets: {found:#?}");
    // That nothing was found says something only where there was something.
    assert!(most > 3 && texts > 1000, "{most} files, {texts} texts");
    let calls = whyslow(&["summary", &name]);
    let calls = String::from_utf8_lossy(&calls.stdout).into_owned();
    assert!(calls.contains("execve") && calls.contains("sendto"), "{calls}");
    let meta = std::fs::read_to_string(recording.join("meta.json")).expect("meta.json");
    assert!(meta.contains("--password=[redacted]") && meta.contains("\"show_secrets\": false"), "{meta}");
}

#[test]
fn a_recording_by_bpf_is_private_and_holds_no_secret() {
    recorded("bpf");
}

#[test]
fn a_recording_by_ptrace_is_private_and_holds_no_secret() {
    recorded("ptrace");
}

#[test]
fn secrets_are_kept_where_that_is_asked_for_and_told() {
    if whyslow(&["doctor", "--json"]).status.code() == Some(2) {
        return skipped("nothing can be recorded here");
    }
    let place = tempfile::tempdir().expect("a folder");
    let recording = place.path().join("x.whyslow");
    let name = recording.display().to_string();
    let output = whyslow(&[
        "record",
        "--show-secrets",
        "-o",
        &name,
        "--",
        "sh",
        "-c",
        "exec true --password=SECRET70",
    ]);
    assert!(output.status.success(), "{output:?}");
    let meta = std::fs::read_to_string(recording.join("meta.json")).expect("meta.json");
    assert!(meta.contains("--password=SECRET70") && meta.contains("\"show_secrets\": true"), "{meta}");
    assert!(!secrets_in_tables(&recording).1.is_empty());
    let other = place.path().join("y.whyslow");
    let output = whyslow(&["record", "--keep-payload", "-o", &other.display().to_string(), "--", "true"]);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && complaint.contains("--show-secrets"), "{complaint}");
    assert!(!other.exists());
}

#[test]
fn a_trace_replaces_secrets_unless_they_are_asked_for() {
    if whyslow(&["doctor", "--json"]).status.code() == Some(2) {
        return skipped("nothing can be recorded here");
    }
    let trace = |more: &[&str]| {
        let command = [
            "-s",
            "400",
            "--",
            "sh",
            "-c",
            "exec true --password=SECRET71 -H 'Authorization: Bearer SECRET72'",
        ];
        let output = whyslow(&[&["trace"], more, &command].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let hidden = trace(&[]);
    assert!(hidden.contains("--password=[redacted]") && !hidden.contains("SECRET7"), "{hidden}");
    let shown = trace(&["--show-secrets"]);
    assert!(shown.contains("--password=SECRET71") && shown.contains("Bearer SECRET72"), "{shown}");
}

#[test]
fn the_temporary_folder_of_a_live_view_is_private() {
    if whyslow(&["doctor", "--json"]).status.code() == Some(2) {
        return skipped("nothing can be recorded here");
    }
    for umask in ["0", "077", "0777"] {
        let place = tempfile::tempdir().expect("a folder");
        std::fs::set_permissions(place.path(), Permissions::from_mode(0o1777)).expect("set");
        let mut child =
            start(umask, &["diagnose", "--mode", "full", "-d", "1", "--", "sleep", "1"], place.path());
        let (mut wrong, mut seen) = (BTreeSet::new(), 0);
        while child.try_wait().expect("a child").is_none() {
            for entry in std::fs::read_dir(place.path()).expect("a folder").flatten() {
                seen = seen.max(below(&entry.path()).len());
                wrong.extend(open_to_others(&entry.path(), false));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let output = child.wait_with_output().expect("a child");
        assert!(output.status.code().is_some_and(|code| code < 2), "{output:?}");
        assert!(wrong.is_empty(), "umask {umask}: {wrong:#?}");
        assert!(seen > 1, "umask {umask}: only {seen} paths were there");
        assert_eq!(std::fs::read_dir(place.path()).expect("a folder").count(), 0, "it is gone");
    }
}
