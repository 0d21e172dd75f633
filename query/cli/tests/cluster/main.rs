//! `whyslow fleet --cluster`: the processes of a cluster as people run them, their faults, and their keys.

#[path = "../../../fleet/examples/synthetic_fleet/generate.rs"]
mod generate;

mod answers;
mod bucket;
mod faults;
mod keys;

use generate::{FleetPlan, HOUR, generate};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{LazyLock, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// No test waits longer for a process.
const PATIENCE: Duration = Duration::from_secs(60);

/// The fleet that tests read: 8 hosts over 4 hours until 2026-11-27, the last one as agents left it.
static FLEET: LazyLock<TempDir> = LazyLock::new(|| {
    let place = TempDir::new().unwrap();
    let plan = FleetPlan { hosts: 8, hours: 4, until: 498_816 * HOUR, loose: 1, seed: 11 };
    assert_eq!(plan.truth().until - plan.truth().from, 4 * HOUR);
    generate(&plan, place.path()).unwrap();
    place
});

pub(crate) fn root() -> &'static Path {
    FLEET.path()
}

/// `whyslow-query fleet …`, with nothing of this process's environment that says where to ask.
pub(crate) fn fleet(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow-query"));
    command.arg("fleet").args(words).stdin(Stdio::null());
    command.env_remove("WHYSLOW_FLEET").env_remove("WHYSLOW_CLUSTER_KEYS");
    command
}

/// A question to the fleet, by the engine of the process that asks or by a cluster.
pub(crate) fn question(cluster: Option<&str>, words: &[&str]) -> Command {
    let mut command = fleet(&["--root", root().to_str().unwrap(), "--until", "2026-11-27"]);
    if let Some(cluster) = cluster {
        command.args(["--cluster", cluster]);
    }
    command.args(words);
    command
}

pub(crate) fn out(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A process of a cluster, with what it says. It goes with the test.
pub(crate) struct Process {
    pub(crate) child: Child,
    said: Receiver<String>,
    all: Vec<String>,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    pub(crate) fn start(words: &[&str]) -> Process {
        Process::spawn(fleet(words))
    }

    pub(crate) fn spawn(mut command: Command) -> Process {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (to, said) = channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if to.send(line).is_err() {
                    return;
                }
            }
        });
        Process { child, said, all: Vec::new() }
    }

    /// Waits for a line that has `word` in it, and gives what follows it.
    pub(crate) fn says(&mut self, word: &str) -> String {
        let begun = Instant::now();
        while let Some(left) = PATIENCE.checked_sub(begun.elapsed()) {
            let Ok(line) = self.said.recv_timeout(left) else { break };
            let found = line.split_once(word).map(|(_, rest)| rest.to_string());
            self.all.push(line);
            if let Some(rest) = found {
                return rest;
            }
        }
        panic!("it did not say {word:?}: {:#?}", self.all);
    }

    /// Seconds of CPU that it took so far.
    pub(crate) fn cpu(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap() / 100.0).sum()
    }

    /// A whole answer of one that ends by itself.
    pub(crate) fn ended(mut self) -> String {
        let begun = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < PATIENCE, "it goes on");
            std::thread::sleep(Duration::from_millis(20));
        }
        self.all.extend(self.said.iter());
        self.all.join("\n")
    }
}

/// One scheduler and some executors.
pub(crate) struct TestCluster {
    pub(crate) scheduler: Process,
    pub(crate) executors: Vec<Process>,
    pub(crate) at: String,
}

impl TestCluster {
    pub(crate) fn start(executors: usize, keys: &[&str]) -> TestCluster {
        let (scheduler, at) = scheduler("127.0.0.1:0", keys);
        let mut executors: Vec<Process> = (0..executors).map(|_| executor(&at, root(), keys)).collect();
        for executor in &mut executors {
            executor.says("for tasks");
        }
        TestCluster { scheduler, executors, at }
    }
}

pub(crate) fn scheduler(bind: &str, keys: &[&str]) -> (Process, String) {
    let mut scheduler = Process::start(&[&["scheduler", "--bind", bind], keys].concat());
    let at = scheduler.says("listens on ");
    (scheduler, at)
}

pub(crate) fn executor(scheduler: &str, root: &Path, keys: &[&str]) -> Process {
    let words = ["executor", "--scheduler", scheduler, "--root", root.to_str().unwrap(), "--threads", "2"];
    Process::start(&[&words, keys].concat())
}

/// One that asks, started and not waited for.
pub(crate) struct Asked(Option<Child>);

impl Drop for Asked {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Asked {
    pub(crate) fn start(cluster: &str, words: &[&str]) -> Asked {
        let mut command = question(Some(cluster), words);
        Asked(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }

    pub(crate) fn output(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Tests that start processes run one at a time: each cluster takes what a machine of two CPUs has.
pub(crate) fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}
