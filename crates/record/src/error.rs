//! What can go wrong in recording.

use std::io;
use std::path::PathBuf;
use whyslow_model::visible;

/// Why a recording could not be made or went wrong.
#[derive(thiserror::Error, Debug)]
pub enum RecordError {
    /// A BPF program was refused.
    #[cfg(feature = "bpf")]
    #[error("the kernel refused the BPF program {program} ({step}): {source:#}\nnext: {}", remedy(source))]
    Load {
        /// Which.
        program: &'static str,
        /// In which step.
        step: &'static str,
        /// What libbpf says.
        source: libbpf_rs::Error,
    },
    /// The recorder has no rights.
    #[error(
        "recording needs root, or CAP_BPF and CAP_PERFMON\nnext: run it by sudo, or `whyslow doctor` for what else works"
    )]
    NoRights,
    /// The recorder is in a PID namespace of its own.
    #[cfg(feature = "bpf")]
    #[error(
        "recording by BPF needs the host's process numbers, and this is a PID namespace of its own (a container)\n\
         next: record on the host, or in a container with its processes (docker run --pid=host, hostPID: true)"
    )]
    PidNamespace,
    /// A file of the recording cannot be written.
    #[error("{}: cannot be written: {source}\nnext: {}", visible::path(path), place(source))]
    Spool {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that is needed cannot be read.
    #[error("{}: cannot be read: {source}", visible::path(path))]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A function of the kernel cannot be probed.
    #[error("--probe {asked}: {why}\nnext: {next}")]
    Probe {
        /// The function, as asked for.
        asked: String,
        /// Why not.
        why: String,
        /// What to do.
        next: String,
    },
    /// A call to the kernel failed.
    #[error("{what}: {source}")]
    Kernel {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// A command could not be started.
    #[error("{command}: cannot be started: {reason}")]
    Command {
        /// Its name.
        command: String,
        /// Why.
        reason: String,
    },
    /// A slip of ours.
    #[error("{0}: this is an error in whyslow, please report it")]
    Internal(String),
}

/// What to do about a refusal.
#[cfg(feature = "bpf")]
fn remedy(refusal: &libbpf_rs::Error) -> String {
    if refusal.kind() == libbpf_rs::ErrorKind::PermissionDenied
        && let Some(missing) = missing_rights()
    {
        return format!(
            "this process has no {missing}: run it as root, or with CAP_BPF and CAP_PERFMON; `whyslow doctor` tells what else is missing"
        );
    }
    // libbpf tells the kernel's EMFILE and ENOMEM as text only.
    let told = format!("{refusal:#}");
    match () {
        () if told.contains("Too many open files") => {
            "raise the hard limit of open files (`ulimit -Hn`): a recording needs about 200 and 6 a CPU"
        }
        () if told.contains("Cannot allocate memory") => {
            "give the recorder more memory (its control group's memory.max), or less to hold: --buffer 1"
        }
        () => "`whyslow doctor` tells what is missing",
    }
    .to_string()
}

/// Those of the two capabilities that this thread has not; `None` where it has all that it takes.
#[cfg(feature = "bpf")]
fn missing_rights() -> Option<String> {
    use whyslow_rights::Capabilities;
    let held = whyslow_rights::held().ok()?;
    let missing = [("CAP_BPF", Capabilities::BPF), ("CAP_PERFMON", Capabilities::PERFMON)];
    let missing = missing.into_iter().filter(|(_, one)| !held.intersects(*one | Capabilities::SYS_ADMIN));
    let names: Vec<&str> = missing.map(|(name, _)| name).collect();
    (!names.is_empty()).then(|| names.join(" and no "))
}

/// What to do where a file could not be written.
fn place(refusal: &io::Error) -> &'static str {
    match refusal.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, or give another place by -o"
        }
        _ => "give another place by -o",
    }
}
