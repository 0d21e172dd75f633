//! What a running recording keeps of its rights. It has attached its programs and opened its files; what it does from now on is to
//! read what its target is, to attach and detach, and to write into its own folder.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use whyslow_rights::{Capabilities, held, keep};

/// Programs are attached again where the cost allows it; maps, files and control groups of processes are read; so are the names of
/// the kernel's functions, and files that are mapped and were removed.
const RECORDER: Capabilities = Capabilities::BPF
    .union(Capabilities::PERFMON)
    .union(Capabilities::SYS_PTRACE)
    .union(Capabilities::DAC_READ_SEARCH)
    .union(Capabilities::SYSLOG)
    .union(Capabilities::CHECKPOINT_RESTORE);
/// The sampler of the host: other users' processes, and taskstats.
const SAMPLER: Capabilities =
    Capabilities::SYS_PTRACE.union(Capabilities::DAC_READ_SEARCH).union(Capabilities::NET_ADMIN);

/// The recorder gives up the rest, for good, and so do threads that it starts later. What was started to be recorded keeps its own.
/// `folders`: those that something is written to or removed from at the end.
pub(super) fn of_recorder(folders: &[Option<&Path>], has_command: bool) {
    let mut kept = RECORDER;
    if !held().is_ok_and(|held| held.contains(Capabilities::BPF | Capabilities::PERFMON)) {
        // It stands in for the two.
        kept |= Capabilities::SYS_ADMIN;
    }
    if has_command {
        // It may be another user's by now, and our signals are passed on to it.
        kept |= Capabilities::KILL;
    }
    if folders.iter().flatten().any(|folder| is_anothers(folder)) {
        // At the end the temporary folder is removed from there.
        kept |= Capabilities::DAC_OVERRIDE;
    }
    // Who may not give up rights records all the same.
    let _ = keep(kept);
}

/// The calling thread, which samples the host, gives up the rest.
pub(super) fn of_sampler() {
    let _ = keep(SAMPLER);
}

/// This process, which makes a recording of what a recorder left, keeps what reading the code of the processes that live asks for, and
/// writing to `folder`.
#[cfg(feature = "bpf")]
pub(crate) fn keep_rights_of_reader(folder: Option<&Path>) {
    let mut kept = Capabilities::SYS_PTRACE
        .union(Capabilities::DAC_READ_SEARCH)
        .union(Capabilities::SYSLOG)
        .union(Capabilities::CHECKPOINT_RESTORE);
    if folder.is_some_and(is_anothers) {
        kept |= Capabilities::DAC_OVERRIDE;
    }
    let _ = keep(kept);
}

/// True where a folder is another user's and not everybody's to write to.
fn is_anothers(folder: &Path) -> bool {
    std::fs::metadata(folder)
        .is_ok_and(|about| about.uid() != rustix::process::geteuid().as_raw() && about.mode() & 0o002 == 0)
}
