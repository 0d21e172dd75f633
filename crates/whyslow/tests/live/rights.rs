//! Which rights a recorder needs, what it says of those that it has not, and what it gives up once it records.

use crate::common::skipped;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const WHYSLOW: &str = env!("CARGO_BIN_EXE_whyslow");
/// Numbers of `include/uapi/linux/capability.h`.
const ALLOWED_WHILE_RECORDING: u64 =
    1 << 2 | 1 << 5 | 1 << 12 | 1 << 19 | 1 << 34 | 1 << 38 | 1 << 39 | 1 << 40;

/// The binary where nobody may run it, and a folder of nobody's; `None`, with the reason printed, where that cannot be had.
fn for_nobody() -> Option<(TempDir, PathBuf)> {
    if !std::fs::read_to_string("/proc/self/status").is_ok_and(|text| text.contains("\nUid:\t0\t0\t")) {
        skipped("only root can become nobody");
        return None;
    }
    if Command::new("setpriv").arg("--version").output().is_err() {
        skipped("no setpriv");
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let binary = folder.path().join("whyslow");
    std::fs::copy(WHYSLOW, &binary).expect("a copy");
    for path in [folder.path(), &binary] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("set");
    }
    let own = folder.path().join("own");
    std::fs::create_dir(&own).expect("a folder");
    chown(&own, Some(65534), Some(65534)).expect("root");
    Some((folder, binary))
}

/// Records this process, which is root's, with these options of setpriv.
fn record(binary: &Path, to: &Path, rights: &[&str], by: &[&str]) -> Output {
    let mut command = Command::new("setpriv");
    command.args(rights).arg(binary).args(["record", "-d", "1", "-o"]).arg(to).args(by);
    command.args(["-p", &std::process::id().to_string()]);
    command.env("TMPDIR", to.parent().expect("a folder")).stdin(Stdio::null()).output().expect("setpriv")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// BPF can be had here at all.
fn has_bpf() -> bool {
    let status = Command::new(WHYSLOW).args(["doctor", "--json"]).output().expect("whyslow").status;
    let has = status.code() == Some(0);
    if !has {
        skipped("no recording by BPF here");
    }
    has
}

const NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];
const TWO: [&str; 3] = [
    "--inh-caps=-all,+bpf,+perfmon",
    "--ambient-caps=-all,+bpf,+perfmon",
    "--bounding-set=-all,+bpf,+perfmon",
];
const NONE: [&str; 3] = ["--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all"];

#[test]
fn the_two_capabilities_are_enough_to_record_and_what_is_missing_is_said() {
    let Some((folder, binary)) = for_nobody() else { return };
    if !has_bpf() {
        return;
    }
    // Root is bound by its bounding set when it runs a program.
    let root = TWO[2..].to_vec();
    for (who, rights) in [("nobody", [&NOBODY[..], &TWO[..]].concat()), ("root", root)] {
        let to = folder.path().join("own").join(format!("{who}.whyslow"));
        let to = if who == "root" { folder.path().join("root.whyslow") } else { to };
        let output = record(&binary, &to, &rights, &["--by", "bpf", "--mode", "full"]);
        assert!(output.status.success(), "{who}: {output:?}");
        let report = Command::new(WHYSLOW).arg("summary").arg(&to).output().expect("whyslow");
        assert!(report.status.success() && !report.stdout.is_empty(), "{who}: {report:?}");
        let told = text(&output.stderr);
        assert!(told.contains("1.") && told.contains("calls in full"), "{who}: {told}");
        let report =
            Command::new(WHYSLOW).args(["diagnose", "--verbose"]).arg(&to).output().expect("whyslow");
        let told = text(&report.stdout).replace("\n    ", " ");
        assert!(told.contains("CAP_NET_ADMIN"), "{who}: {told}");
        assert!(told.contains("CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"), "{who}: {told}");
    }
}

#[test]
fn without_rights_the_two_capabilities_are_named() {
    let Some((folder, binary)) = for_nobody() else { return };
    for (who, rights) in [("nobody", [&NOBODY[..], &NONE[..]].concat()), ("root", NONE[2..].to_vec())] {
        let to = folder.path().join("own").join(format!("{who}.whyslow"));
        let to = if who == "root" { folder.path().join("root.whyslow") } else { to };
        let output = record(&binary, &to, &rights, &["--by", "bpf"]);
        let told = text(&output.stderr);
        assert!(
            !output.status.success() && told.contains("CAP_BPF") && told.contains("CAP_PERFMON"),
            "{who}: {told}"
        );
        assert!(!to.exists(), "{who}: nothing is left");
        // Nothing forbids it to read what others recorded.
        let mut reader = Command::new("setpriv");
        let output =
            reader.args(&rights).arg(&binary).args(["rule", "tz-stat-storm"]).output().expect("setpriv");
        assert!(output.status.success(), "{who}: {output:?}");
    }
}

/// `CapEff` and `NoNewPrivs` of each thread, by its name.
fn threads(pid: u32) -> Vec<(String, u64, String)> {
    let mut all = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        let Ok(status) = std::fs::read_to_string(task.path().join("status")) else { continue };
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.unwrap_or_default().trim().to_string()
        };
        let mask = ["CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb"]
            .iter()
            .fold(0, |all, set| all | u64::from_str_radix(&field(set), 16).expect("a mask"));
        all.push((field("Name"), mask, field("NoNewPrivs")));
    }
    all
}

/// Waits until every thread has given up rights, the drain among them; else tells what was there last.
fn given_up(child: &mut Child, allowed: u64) -> Result<(), String> {
    let (began, mut last) = (Instant::now(), Vec::new());
    loop {
        let all = threads(child.id());
        if all.len() > 1 {
            last.clone_from(&all);
        }
        let drains = all.iter().any(|(name, ..)| name == "whyslow-drain");
        if drains && all.iter().all(|(_, mask, set)| mask & !allowed == 0 && set == "1") {
            return Ok(());
        }
        if began.elapsed() > Duration::from_secs(20) || child.try_wait().is_ok_and(|status| status.is_some())
        {
            return Err(format!("{last:x?}"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_running_recorder_has_given_up_what_it_needs_no_more() {
    let Some((folder, binary)) = for_nobody() else { return };
    if !has_bpf() {
        return;
    }
    // Another user's folder, which root may write to only by a capability that is given up.
    let own = folder.path().join("own");
    for (name, more) in [("short", &["-d", "3"][..]), ("long", &["--max-size", "50M", "-d", "3"][..])] {
        let to = own.join(format!("{name}.whyslow"));
        let mut command = Command::new(&binary);
        command
            .arg("record")
            .args(["--by", "bpf", "-o"])
            .arg(&to)
            .args(more)
            .args(["--pid", &std::process::id().to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("whyslow");
        let result = given_up(&mut child, ALLOWED_WHILE_RECORDING & !(1 << 5));
        let output = child.wait_with_output().expect("whyslow");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(result, Ok(()), "{name}");
        assert!(to.join("meta.json").exists() && !to.join("spool").exists(), "{name}: it is whole");
    }
    // A view that keeps nothing removes its folder, in a place of another user too.
    let mut command = Command::new(&binary);
    command.args(["diagnose", "--by", "bpf", "-d", "2", "--", "sleep", "2"]).env("TMPDIR", &own);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("whyslow");
    let result = given_up(&mut child, ALLOWED_WHILE_RECORDING | 1 << 1);
    let output = child.wait_with_output().expect("whyslow");
    assert!(output.status.code().is_some_and(|code| code < 2), "{output:?}");
    assert_eq!(result, Ok(()));
    let left = std::fs::read_dir(&own).expect("a folder").flatten().map(|entry| entry.file_name());
    assert!(!left.into_iter().any(|name| name.to_string_lossy().starts_with("whyslow-live-")), "it is gone");
}

#[test]
fn a_recorded_command_keeps_its_rights() {
    let Some((folder, binary)) = for_nobody() else { return };
    if !has_bpf() {
        return;
    }
    let to = folder.path().join("x.whyslow");
    let mut command = Command::new(&binary);
    command.args(["record", "--by", "bpf", "-o"]).arg(&to).args(["--", "cat", "/proc/self/status"]);
    let output = command.stdin(Stdio::null()).output().expect("whyslow");
    assert!(output.status.success(), "{output:?}");
    let mine = std::fs::read_to_string("/proc/self/status").expect("a status");
    let field = |text: &str, name: &str| text.lines().find(|line| line.starts_with(name)).map(String::from);
    for name in ["CapEff", "CapBnd", "NoNewPrivs"] {
        assert_eq!(field(&text(&output.stdout), name), field(&mine, name));
    }
}
