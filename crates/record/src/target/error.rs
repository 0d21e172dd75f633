//! Why there is nothing to record: what was asked for, what was found instead, and what to do next.

use std::io;
use std::path::PathBuf;
use whyslow_model::Tid;

/// A selection that cannot be met.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The selection is empty.
    #[error(
        "nothing is selected: name a process (-p PID, --name NAME), a group of them, or all of them (--all)"
    )]
    Empty,
    /// No process has that number.
    #[error("no process {pid} here: it has ended, or /proc hides it (hidepid: become root){}", elsewhere(.inside))]
    NoProcess {
        /// The number.
        pid: Tid,
        /// Processes that have it in a pid namespace of their own (a container): their number here, and name.
        inside: Vec<(Tid, String)>,
    },
    /// No thread has that number.
    #[error("no thread {tid} here: it has ended; `ls /proc/PID/task` lists those of a process")]
    NoThread {
        /// The number.
        tid: Tid,
    },
    /// Only the kernel runs in it.
    #[error(
        "{pid} ({comm}) is a kernel thread: it makes no syscalls; choose a process, or --all for the whole host"
    )]
    KernelThread {
        /// Its number.
        pid: Tid,
        /// Its name.
        comm: String,
    },
    /// It has ended.
    #[error(
        "{pid} ({comm}) is a zombie: it has ended and waits for its parent {parent} to notice; record the parent if that is the trouble"
    )]
    Zombie {
        /// Its number.
        pid: Tid,
        /// Its name.
        comm: String,
        /// Its parent.
        parent: Tid,
    },
    /// Only this very process was selected.
    #[error("{pid} is whyslow itself, which cannot record itself")]
    Ourselves {
        /// Our number.
        pid: Tid,
    },
    /// No process has that name.
    #[error("no process is named {name:?}{}; compared are programs, scripts, jars, classes and command lines: see `ps -ef`", did_you_mean(.near))]
    NoName {
        /// The name.
        name: String,
        /// Like names.
        near: Vec<String>,
    },
    /// There is no such control group.
    #[error("no control group {path:?}{}: give its directory, or its path as /proc/PID/cgroup shows it", did_you_mean(.near))]
    NoCgroup {
        /// As given.
        path: String,
        /// Like paths, of groups that have processes.
        near: Vec<String>,
    },
    /// No process is in that control group.
    #[error("no process is in the control group {path:?}")]
    EmptyCgroup {
        /// As given.
        path: String,
    },
    /// Several services meet what was asked for.
    #[error("{count} services {what}: nothing is recorded\n{list}\nnext: name {choice}")]
    Several {
        /// What they have in common: `of the name "app"`.
        what: String,
        /// How many there are.
        count: usize,
        /// The first of them: number, age, CPU time over its life, what it is.
        list: String,
        /// How to name one.
        choice: String,
    },
    /// No process is in that container.
    #[error("no process is in a container {id:?}: give its name, or the first digits of its id{}", there_are(.known))]
    NoContainer {
        /// As given.
        id: String,
        /// The containers that have processes, by the first 12 digits, cut.
        known: Vec<String>,
    },
    /// Several containers begin like that.
    #[error("several containers are meant by {id:?}: {}; give one's name or more digits of its id", .found.join(", "))]
    AmbiguousContainer {
        /// As given.
        id: String,
        /// Those that do.
        found: Vec<String>,
    },
    /// No process is of that unit.
    #[error("no process is of the systemd unit {unit:?}{}; see `systemctl status`", did_you_mean(.near))]
    NoUnit {
        /// As given.
        unit: String,
        /// Like names.
        near: Vec<String>,
    },
    /// No process has a socket at that port.
    #[error("no process has a socket at the local TCP or UDP port {port}{}; see `ss -tulpn`", unseen(.unreadable))]
    NoPort {
        /// The port.
        port: u16,
        /// Processes whose descriptors we may not look at.
        unreadable: usize,
    },
    /// Something of `/proc` that cannot be read.
    #[error("cannot read {}: {source}{}", .path.display(), rights(.source))]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn elsewhere(inside: &[(Tid, String)]) -> String {
    match inside {
        [] => String::new(),
        found => {
            let list: Vec<String> =
                found.iter().take(5).map(|(pid, comm)| format!("{pid} ({comm})")).collect();
            format!("; inside a container that is the number of {}: give the number here", list.join(", "))
        }
    }
}

fn did_you_mean(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(", ")) }
}

fn there_are(known: &[String]) -> String {
    if known.is_empty() {
        "; no process here is in one".to_string()
    } else {
        format!(" (there are {})", known.join(", "))
    }
}

fn unseen(unreadable: &usize) -> String {
    if *unreadable == 0 {
        return String::new();
    }
    format!(
        "; the descriptors of {unreadable} processes may not be looked at: run as root, or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"
    )
}

fn rights(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; become root or the user of that process",
        io::ErrorKind::NotFound => "; /proc must be mounted",
        _ => "",
    }
}
