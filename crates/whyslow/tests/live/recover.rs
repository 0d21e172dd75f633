//! `whyslow recover`: what a killed recorder left is found by its user, becomes a recording, and goes after a day.

use crate::common::skipped;
use std::fs::{File, FileTimes};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

const WHYSLOW: &str = env!("CARGO_BIN_EXE_whyslow");

fn whyslow(arguments: &[&str], temporary: &Path) -> Output {
    Command::new(WHYSLOW)
        .args(arguments)
        .env("TMPDIR", temporary)
        .stdin(Stdio::null())
        .output()
        .expect("whyslow")
}

/// A live view of a program of its own, in the background, once its folder is there and something was recorded.
fn viewing(temporary: &Path) -> (Child, PathBuf) {
    let before = folders(temporary);
    let script = "while :; do ls / >/dev/null; done";
    let child = Command::new(WHYSLOW)
        .args(["diagnose", "--mode", "full", "-d", "60", "--", "sh", "-c", script, "--password=SECRET80"])
        .env("TMPDIR", temporary)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("whyslow");
    let until = Instant::now() + Duration::from_secs(30);
    let folder = loop {
        let new = folders(temporary).into_iter().find(|folder| !before.contains(folder));
        if let Some(folder) = new.filter(|folder| size(folder) > 20_000) {
            break folder;
        }
        assert!(Instant::now() < until, "nothing is recorded");
        std::thread::sleep(Duration::from_millis(50));
    };
    // The parts of a recording by ptrace are closed every second.
    std::thread::sleep(Duration::from_millis(1500));
    (child, folder)
}

fn folders(temporary: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(temporary).expect("a folder").flatten().map(|entry| entry.path()).collect()
}

fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| {
            if entry.path().is_dir() {
                size(&entry.path())
            } else {
                entry.metadata().map_or(0, |meta| meta.len())
            }
        })
        .sum()
}

/// Kills a recorder and what it recorded.
fn kill(mut child: Child) {
    let pid = child.id().to_string();
    let children =
        Command::new("pgrep").args(["-P", &pid]).output().map(|output| output.stdout).unwrap_or_default();
    child.kill().and_then(|()| child.wait()).expect("a child of ours");
    for pid in String::from_utf8_lossy(&children).split_whitespace() {
        let _ = Command::new("kill").args(["-9", pid]).status();
    }
}

/// As if it had been written to two days ago.
fn age(path: &Path) {
    let then = FileTimes::new().set_modified(SystemTime::now() - Duration::from_secs(2 * 24 * 3600));
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            age(&entry.path())
        } else {
            File::open(entry.path()).and_then(|file| file.set_times(then)).expect("set")
        }
    }
}

fn listed(temporary: &Path) -> serde_json::Value {
    let output = whyslow(&["recover", "--json"], temporary);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn what_a_killed_live_view_left_becomes_a_recording() {
    let place = tempfile::tempdir().expect("a folder");
    if whyslow(&["doctor"], place.path()).status.code() == Some(2) {
        return skipped("nothing can be recorded here");
    }
    let temporary = place.path().join("tmp");
    std::fs::create_dir(&temporary).expect("made");
    assert_eq!(listed(&temporary), serde_json::json!([]));
    let (killed, folder) = viewing(&temporary);
    assert_eq!(listed(&temporary), serde_json::json!([]), "its recorder lives");
    kill(killed);
    let all = listed(&temporary);
    let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
    assert_eq!((all[0]["name"].as_str(), all.as_array().map(Vec::len)), (Some(&*name), Some(1)), "{all}");
    assert!(all[0]["bytes"].as_u64() > Some(0) && all.to_string().contains("--password=[redacted]"), "{all}");
    let text = String::from_utf8_lossy(&whyslow(&["recover"], &temporary).stdout).into_owned();
    assert!(text.contains(&name) && text.contains("next: whyslow recover -o"), "{text}");
    let to = place.path().join("x.whyslow");
    let to_name = to.display().to_string();
    let wrong = whyslow(&["recover", "-o", &to_name, "whyslow-live-other"], &temporary);
    assert!(!wrong.status.success() && !to.exists(), "{wrong:?}");
    let output = whyslow(&["recover", "-o", &to_name], &temporary);
    assert!(output.status.success() && !folder.exists(), "{output:?}");
    assert_eq!(std::fs::metadata(&to).expect("made").mode() & 0o777, 0o700);
    let summary = whyslow(&["summary", &to_name], &temporary);
    let summary = String::from_utf8_lossy(&summary.stdout).into_owned();
    assert!(summary.contains("execve") || summary.contains("getdents64"), "{summary}");
}

#[test]
fn what_is_left_goes_after_a_day_and_nothing_else_does() {
    let place = tempfile::tempdir().expect("a folder");
    if whyslow(&["doctor"], place.path()).status.code() == Some(2) {
        return skipped("nothing can be recorded here");
    }
    let (temporary, elsewhere) = (place.path().join("tmp"), place.path().join("elsewhere"));
    std::fs::create_dir(&temporary).expect("made");
    let (killed, old) = viewing(&temporary);
    kill(killed);
    // The same somewhere else, led to by a link; of another user; open to others; and with a lock that is a link.
    let copy = |to: &Path| {
        let status = Command::new("cp").args(["-a".as_ref(), old.as_os_str(), to.as_os_str()]).status();
        assert!(status.expect("cp").success());
        age(to);
    };
    let named = |name: &str| temporary.join(format!("whyslow-live-{name}"));
    copy(&elsewhere);
    symlink(&elsewhere, named("link")).expect("a link");
    copy(&named("open"));
    std::fs::set_permissions(named("open"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("set");
    copy(&named("inside"));
    std::fs::remove_file(named("inside").join("owner.json")).expect("removed");
    symlink(elsewhere.join("owner.json"), named("inside").join("owner.json")).expect("a link");
    let mut stay = vec![elsewhere.clone(), named("link"), named("open"), named("inside")];
    copy(&named("other"));
    if std::os::unix::fs::chown(named("other"), Some(65534), None).is_ok() {
        stay.push(named("other"));
    }
    let (living, live) = viewing(&temporary);
    assert!(old.exists(), "it is young");
    age(&live);
    age(&old);
    stay.push(live);
    let output = whyslow(&["diagnose", "--", "true"], &temporary);
    assert!(output.status.code() < Some(2), "{output:?}");
    assert!(!old.exists(), "it is old, and nobody's any more");
    for path in stay {
        assert!(path.symlink_metadata().is_ok(), "{} is gone", path.display());
    }
    assert!(elsewhere.join("owner.json").exists());
    kill(living);
}
