//! The live host, diagnosed for real: with all rights, and where a source is missing or forbidden. The rest works then, and
//! the gap is named. Namespaces of our own are used; the machine's stay as they are.

use crate::common::skipped;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const WHYSLOW: &str = env!("CARGO_BIN_EXE_whyslow");

/// A program with a name of its own that computes until the test ends.
struct Busy {
    child: Child,
    name: String,
    _folder: TempDir,
}

impl Busy {
    fn start() -> Busy {
        let folder = tempfile::tempdir().expect("a folder");
        let name = format!("busy{}.sh", std::process::id());
        let script = folder.path().join(&name);
        std::fs::write(&script, "while :; do :; done\n").expect("a script");
        let child = Command::new("sh").arg(&script).stdin(Stdio::null()).spawn().expect("a shell");
        Busy { child, name, _folder: folder }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What `whyslow diagnose` said, and the number of its process where that is known.
struct Told {
    json: Value,
    pid: u32,
    stderr: String,
}

impl Told {
    /// Runs a command that ends in `whyslow diagnose … --json`; `None`, with the reason printed, where `tool` is not allowed here.
    fn by(command: &mut Command) -> Option<Told> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = match child {
            Ok(child) => child,
            Err(error) => {
                skipped(format_args!("{command:?}: {error}"));
                return None;
            }
        };
        let pid = child.id();
        let output = child.wait_with_output().expect("its output");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        // The tool's own refusal is no trouble of ours.
        if output.stdout.is_empty()
            && ["unshare:", "setpriv:", "mount:", "not allowed:"].iter().any(|who| stderr.contains(who))
        {
            skipped(format_args!("{stderr}"));
            return None;
        }
        assert!(output.status.success(), "{stderr}");
        let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
        Some(Told { json, pid, stderr })
    }

    fn resources(&self) -> &[Value] {
        self.json["walk"]["resources"].as_array().expect("a walk over the host")
    }

    /// State and reason of the resource whose name begins like that.
    fn resource(&self, name: &str) -> (&str, &str) {
        let named = |one: &&Value| one["name"].as_str().is_some_and(|is| is.starts_with(name));
        let found = self
            .resources()
            .iter()
            .find(named)
            .unwrap_or_else(|| panic!("{name} is not judged: {}", self.json));
        (found["state"].as_str().expect("a state"), found["reason"].as_str().expect("a reason"))
    }

    fn has_note(&self, text: &str) -> bool {
        let notes = self.json["target"]["notes"].as_array().expect("notes");
        notes.iter().any(|note| note["text"].as_str().is_some_and(|is| is.contains(text)))
    }

    fn takers(&self) -> Vec<(u64, &str)> {
        let lists = ["processes", "threads"].iter().filter_map(|list| self.json["walk"][list].as_array());
        lists
            .flatten()
            .filter_map(|taker| Some((taker["pid"].as_u64()?, taker["comm"].as_str().unwrap_or(""))))
            .collect()
    }

    /// What holds wherever there is a /proc: each resource has an answer with a reason, and no unknown is a figure.
    fn assert_walk(&self) {
        for name in ["CPU", "memory", "network", "limits"] {
            let (state, reason) = self.resource(name);
            assert!(["saturated", "not", "unknown"].contains(&state), "{name}: {state}");
            assert!(!reason.is_empty(), "{name} has no reason");
        }
        assert!(["saturated", "not"].contains(&self.resource("CPU").0), "{:?}", self.resource("CPU"));
        assert!(["saturated", "not"].contains(&self.resource("memory").0), "{:?}", self.resource("memory"));
        // What it takes to look is nobody's trouble.
        assert!(self.takers().iter().all(|(pid, _)| *pid != u64::from(self.pid)), "{:?}", self.takers());
        assert!(self.json["target"]["duration_ns"].as_u64().is_some_and(|ns| ns >= 1_000_000_000));
    }
}

fn diagnose(more: &[&str]) -> Vec<String> {
    ["diagnose", "-a", "--json", "-d", "2s"].iter().chain(more).map(|word| word.to_string()).collect()
}

/// The binary where nobody may run it.
fn for_nobody() -> Option<(TempDir, PathBuf)> {
    use std::os::unix::fs::PermissionsExt;
    if !std::fs::read_to_string("/proc/self/status").is_ok_and(|text| text.contains("\nUid:\t0\t0\t")) {
        skipped("only root can become nobody");
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let binary = folder.path().join("whyslow");
    std::fs::copy(WHYSLOW, &binary).expect("a copy");
    for path in [folder.path(), &binary] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("its rights");
    }
    Some((folder, binary))
}

const NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// Runs a line of sh in namespaces of its own.
fn unshared(kinds: &[&str], line: &str, binary: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(kinds).args(["sh", "-ec", line, "sh"]).arg(binary).args(diagnose(&[]));
    command
}

#[test]
fn all_of_the_host_is_ruled_in_or_out() {
    let busy = Busy::start();
    for more in [&[][..], &["--by", "sampling"]] {
        let Some(told) = Told::by(Command::new(WHYSLOW).args(diagnose(more))) else { return };
        told.assert_walk();
        // One that computes all the time is among those that take, by the name of what it runs.
        let own = u64::from(busy.child.id());
        let mine = told.takers().into_iter().find(|(pid, _)| *pid == own);
        // Where the CPU is full, many others may take as much.
        assert!(mine.is_some() || told.resource("CPU").0 == "saturated", "{:?}", told.takers());
        assert!(mine.is_none_or(|(_, comm)| comm == busy.name), "{mine:?}");
        assert_eq!(told.has_note("only sampling was asked for"), !more.is_empty());
    }
}

#[test]
fn without_bpf_the_host_is_sampled() {
    let Some((_folder, binary)) = for_nobody() else { return };
    let mut command = Command::new(NOBODY[0]);
    command.args(&NOBODY[1..]).arg(&binary).args(diagnose(&[]));
    let Some(told) = Told::by(&mut command) else { return };
    told.assert_walk();
    assert!(told.has_note("no recording by BPF here"), "{}", told.json["target"]["notes"]);
    assert!(told.stderr.contains("no call is recorded"), "{}", told.stderr);
    // No call was seen: no rule over calls may say that there were none.
    assert!(told.json["not_judged"].as_array().is_some_and(|rules| rules.len() > 20));
}

#[test]
fn without_pressure_the_rest_is_judged() {
    let line = "mount -t tmpfs none /proc/pressure; exec \"$@\" --by sampling";
    let Some(told) = Told::by(&mut unshared(&["-m"], line, Path::new(WHYSLOW))) else { return };
    told.assert_walk();
    assert!(told.has_note("the kernel keeps no pressure figures"), "{}", told.json["target"]["notes"]);
    for resource in told.resources() {
        let text = resource.to_string();
        assert!(!text.contains("PSI") && !text.contains("pressure"), "a gap is no figure: {text}");
    }
}

/// Forbids sockets of AF_NETLINK, as sandboxes do, and goes on as the program in its arguments.
const NO_NETLINK: &str = r#"
import ctypes, os, struct, sys
AF_NETLINK, EACCES = 16, 13
calls = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
if os.uname().machine not in calls:
    sys.exit("not allowed: no number of socket(2) for this machine")
arch, socket = calls[os.uname().machine]
ins = lambda code, jt, jf, k: struct.pack("HBBI", code, jt, jf, k)
program = b"".join([
    ins(0x20, 0, 0, 4), ins(0x15, 0, 5, arch),        # another architecture: allow
    ins(0x20, 0, 0, 0), ins(0x15, 0, 3, socket),      # another call: allow
    ins(0x20, 0, 0, 16), ins(0x15, 0, 1, AF_NETLINK), # another family: allow
    ins(0x06, 0, 0, 0x00050000 | EACCES),
    ins(0x06, 0, 0, 0x7FFF0000),
])
buffer = ctypes.create_string_buffer(program)
filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, filter, 0, 0):
    sys.exit("not allowed: seccomp: " + os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], sys.argv[1:])
"#;

#[test]
fn without_netlink_the_rest_is_judged() {
    let mut command = Command::new("python3");
    command.args(["-c", NO_NETLINK, WHYSLOW]).args(diagnose(&["--by", "sampling"]));
    let Some(told) = Told::by(&mut command) else { return };
    told.assert_walk();
    assert!(told.has_note("listeners and sockets by state"), "{}", told.json["target"]["notes"]);
    assert!(!told.json.to_string().contains("tcp_established"), "a gap is no figure");
}

#[test]
fn hidden_processes_are_named_as_a_gap() {
    let Some((_folder, binary)) = for_nobody() else { return };
    // A mount of proc of its own: the machine's keeps its options.
    let line = format!("mount -t proc -o hidepid=2 proc /proc; exec {} \"$@\"", NOBODY.join(" "));
    let Some(told) = Told::by(&mut unshared(&["-m"], &line, &binary)) else { return };
    told.assert_walk();
    let hidden =
        told.has_note("processes of other users") || told.has_note("processes outside of this container");
    assert!(hidden, "{}", told.json["target"]["notes"]);
    // Nobody's own processes are not, which other tests start: ours, and workers of servers.
    let is_nobodys = |pid: u64| {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(format!("/proc/{pid}")).map_or(true, |found| found.uid() == 65_534)
    };
    let takers = told.takers();
    assert!(takers.iter().all(|(pid, comm)| comm.starts_with("whyslow") || is_nobodys(*pid)), "{takers:?}");
}

/// As a container sees it: its own processes, network and control groups, the machine's CPUs.
#[test]
fn in_a_namespace_of_its_own_processes_are_recorded_by_ptrace_or_not_at_all() {
    let place = tempfile::tempdir().unwrap();
    let run = |by: &[&str], name: &str| {
        let mut command = Command::new("unshare");
        command.args(["-p", "-f", "--mount-proc", WHYSLOW, "record"]).args(by);
        command.arg("-o").arg(place.path().join(name)).args(["--", "cat", "/etc/hostname"]).output().unwrap()
    };
    let told = run(&[], "auto.whyslow");
    let error = String::from_utf8_lossy(&told.stderr).into_owned();
    if error.starts_with("unshare: ") {
        println!("skipped: {error}");
        return;
    }
    assert!(error.contains("PID namespace of its own") && error.contains("recording by ptrace"), "{error}");
    let shown = Command::new(WHYSLOW).arg("files").arg(place.path().join("auto.whyslow")).output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("/etc/hostname"), "{shown:?}");
    let told = run(&["--by", "bpf"], "bpf.whyslow");
    let error = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.status.code() == Some(2) && error.contains("--pid=host"), "{error}");
}

#[test]
fn in_a_container_what_is_outside_is_named_as_a_gap() {
    let kinds = ["-m", "-p", "-n", "-i", "-u", "-C", "-f", "--mount-proc"];
    let line = "(while :; do :; done) & \"$@\" --by sampling; kill $!";
    let Some(told) = Told::by(&mut unshared(&kinds, line, Path::new(WHYSLOW))) else { return };
    told.assert_walk();
    assert!(told.has_note("processes outside of this container"), "{}", told.json["target"]["notes"]);
    // The loop is a process of the namespace, and the numbers are those inside.
    assert!(
        !told.takers().is_empty() && told.takers().iter().all(|(pid, _)| *pid < 100),
        "{:?}",
        told.takers()
    );
    // Alone in it there is nobody to select, and the host is sampled all the same.
    let alone = unshared(&kinds, "exec \"$@\" --by sampling", Path::new(WHYSLOW));
    let Some(told) = Told::by(&mut { alone }) else { return };
    told.assert_walk();
    assert_eq!(told.takers(), []);
}
