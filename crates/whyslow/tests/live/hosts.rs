//! Recordings of three hosts (network namespaces with names of their own) read as one: the wait of the first ends on the third.

use crate::common::skipped;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const WHYSLOW: &str = env!("CARGO_BIN_EXE_whyslow");
/// Asks `app`, one order after the other.
const WEB: &str = include_str!("hosts/web.py");
/// Asks `store` for each of its requests.
const APP: &str = include_str!("hosts/app.py");
/// Sleeps under its lock for each.
const STORE: &str = include_str!("hosts/store.py");

/// A host and the program on it; both go with it.
struct Host {
    name: String,
    program: Child,
}

/// What joins the hosts, on the machine's own side.
struct Bridge(String);

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ = ip(&["link", "del", &self.0]);
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
        let _ = ip(&["netns", "del", &self.name]);
    }
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("ip").args(arguments).output().map_err(|error| format!("ip: {error}"))?;
    let said = || format!("ip {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(()) } else { Err(said()) }
}

impl Host {
    /// A host of that name and address at the bridge, which runs that program once it listens.
    fn start(
        name: &str,
        bridge: &Bridge,
        address: &str,
        script: &Path,
        port: Option<u16>,
    ) -> Result<Host, String> {
        let id = std::process::id();
        let netns = format!("{name}-{id}");
        ip(&["netns", "add", &netns])?;
        let outside = format!("{}{id}", &name[..1]);
        let set_up = || {
            ip(&["link", "add", &outside, "type", "veth", "peer", "name", "eth0", "netns", &netns])?;
            ip(&["link", "set", &outside, "master", &bridge.0, "up"])?;
            ip(&["-n", &netns, "addr", "add", &format!("{address}/24"), "dev", "eth0"])?;
            ip(&["-n", &netns, "link", "set", "eth0", "up"])?;
            ip(&["-n", &netns, "link", "set", "lo", "up"])
        };
        let runs = "echo \"$1\" > /proc/sys/kernel/hostname && exec python3 \"$2\"";
        let program = set_up().and_then(|()| {
            let mut command = Command::new("ip");
            command
                .args(["netns", "exec", &netns, "unshare", "--uts", "sh", "-c", runs, "sh", name])
                .arg(script);
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .map_err(|error| format!("ip: {error}"))
        });
        let program = match program {
            Ok(program) => program,
            Err(error) => {
                let _ = ip(&["netns", "del", &netns]);
                return Err(error);
            }
        };
        let host = Host { name: netns, program };
        if let Some(port) = port {
            wait_until(&format!("{name} listens"), || host.has_socket(port, "0A"));
        }
        Ok(host)
    }

    /// True once a socket with that port at one of its ends is in that state (proc(5), net/tcp): 01 connected, 0A listening.
    fn has_socket(&self, port: u16, state: &str) -> bool {
        let table =
            std::fs::read_to_string(format!("/proc/{}/net/tcp", self.program.id())).unwrap_or_default();
        let (end, state) = (format!(":{port:04X} "), format!(" {state} "));
        table.lines().any(|line| line.contains(&end) && line.contains(&state))
    }

    /// A recorder beside the program, on its host.
    fn record(&self, to: &Path) -> Child {
        let pid = self.program.id().to_string();
        let mut command = Command::new("nsenter");
        command.args([
            "-t", &pid, "-n", "-u", WHYSLOW, "record", "-p", &pid, "--mode", "full", "--follow", "0", "-d",
            "5", "-o",
        ]);
        command
            .arg(to)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nsenter")
    }
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < until, "not within 30 s: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn diagnose(arguments: &[&str], files: &[&PathBuf]) -> Output {
    Command::new(WHYSLOW).arg("diagnose").args(arguments).args(files).output().expect("whyslow")
}

#[test]
fn a_wait_is_followed_from_host_to_host() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    };
    let bridge = Bridge(format!("br{}", std::process::id()));
    let started = ip(&["link", "add", &bridge.0, "type", "bridge"])
        .and_then(|()| ip(&["link", "set", &bridge.0, "up"]))
        .and_then(|()| {
            let store = Host::start("store", &bridge, "10.78.0.3", &script("store.py", STORE), Some(9000))?;
            let app = Host::start("app", &bridge, "10.78.0.2", &script("app.py", APP), Some(8000))?;
            let web = Host::start("web", &bridge, "10.78.0.1", &script("web.py", WEB), None)?;
            Ok([web, app, store])
        });
    let hosts = match started {
        Ok(hosts) => hosts,
        Err(error) => return skipped(error),
    };
    // The first packets may be lost while the bridge comes up, and are sent again only after seconds.
    wait_until("web has reached app", || hosts[0].has_socket(8000, "01"));
    wait_until("app has reached store", || hosts[1].has_socket(9000, "01"));
    std::thread::sleep(Duration::from_millis(500));
    let files: Vec<PathBuf> =
        ["web", "app", "store"].map(|name| folder.path().join(format!("{name}.whyslow"))).into();
    let recorders: Vec<Child> = hosts.iter().zip(&files).map(|(host, file)| host.record(file)).collect();
    for mut recorder in recorders {
        if !recorder.wait().expect("a child of ours").success() {
            return skipped("no recording by BPF here");
        }
    }
    let pids: Vec<u32> = hosts.iter().map(|host| host.program.id()).collect();
    drop(hosts);

    let [web, app, store] = &files[..] else { unreachable!() };
    let all = diagnose(&["-v"], &[web, app, store]);
    let text = String::from_utf8_lossy(&all.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let said = String::from_utf8_lossy(&all.stderr);
    // The first sentence has room for the address, or has not.
    let culprit = format!("in the end for store.py on store ({}", pids[2]);
    let first = text.split_once(" recording ").map_or(&*text, |(first, _)| first);
    let is_named = first.contains(&culprit) && first.contains("which sleeps, in look_up (store.py:");
    assert!(is_named, "no `{culprit}` in:\n{text}\n{said}");
    assert!(text.contains(&format!("app.py on app ({})", pids[1])), "{text}");
    // They have one clock: what is told of it holds that.
    assert_eq!(text.matches("exchanges that both recorded").count(), 2, "{text}");

    let json = diagnose(&["--json"], &[web, app, store]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let followed = json["target"]["followed"].as_array().expect("a list");
    let of: Vec<u64> = followed.iter().filter_map(|row| row["pid"].as_u64()).collect();
    assert!(
        pids[1..].iter().all(|pid| of.contains(&u64::from(*pid))),
        "their own pids, not ours: {of:?} of {pids:?}"
    );

    // Of the other hosts nothing is said where their recordings are not there.
    let alone = diagnose(&[], &[web]);
    assert!(!String::from_utf8_lossy(&alone.stdout).contains("store.py"));
    let table = Command::new(WHYSLOW).arg("summary").args([web, app]).output().expect("whyslow");
    assert!(
        !table.status.success() && String::from_utf8_lossy(&table.stderr).contains("of 2 hosts (web, app)")
    );
}
