//! Paths that are asked about again and again, where calls were only counted.

use super::told_stats::STORM_PER_S;
use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::sums;
use whyslow_facts::Facts;
use whyslow_model::{Measurement, Severity};

/// Calls that ask about paths, where calls were counted; fstat asks about a descriptor.
const ASKING: &[&str] =
    &["stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat"];
/// Calls that list a directory.
const LISTING: &[&str] = &["getdents64", "getdents"];
/// Entries that one of them brings at the most: 32 KiB (readdir of glibc) of entries with names of a few characters.
const ASKED_PER_LISTING: u64 = 1_400;
/// Of a thread's calls, the part that asks about paths: who asks about many files makes other calls for each too.
const MOSTLY: f64 = 0.8;

/// Sums of calls: a thread that does little but ask about paths, and lists no directory to have them from.
#[gated]
pub(super) fn check(facts: &Facts, out: &mut Findings<'_>) -> bool {
    let storms = sums::storms(facts, ASKING, STORM_PER_S);
    let is_again = |storm: &&sums::Storm<'_>| {
        let asked = storm.calls.count;
        storm.of_calls() >= MOSTLY
            && storm.calls.errors.saturating_mul(2) < asked
            && storm.others(LISTING).saturating_mul(ASKED_PER_LISTING) < asked
    };
    let again: Vec<_> = storms.iter().filter(is_again).collect();
    for storm in again.iter() {
        let subject = storm.subject(facts);
        let of_calls = Measurement::share("share_of_calls", storm.of_calls()).at_least(MOSTLY);
        let title =
            format!("{} asks about paths {}: {}", Subjects::words(&subject), storm.often(), storm.name);
        let pid = Subjects::thread(facts, storm.sums.thread.tid)
            .pid
            .map_or("PID".to_string(), |pid| pid.to_string());
        let (place, line) = storm.line(facts);
        out.report(storm.share.clone(), title)
            .at_most(Severity::Warning)
            .confidence(0.5)
            .subject(subject)
            .cause(format!(
                "{of_calls} of the thread's calls ask about paths, and hardly one of them lists a directory, so it most likely asks about \
                 the same paths again and again. Calls were only counted: the paths are not recorded."
            ))
            .measured_all(storm.figures())
            .measured(of_calls)
            .fix("first see the paths: whyslow record --mode full -p PID")
            .fix("if it is /etc/localtime: export TZ=:/etc/localtime")
            .fix("else: ask once and keep the answer, or watch the path with inotify")
            .verify(format!("perf stat -e 'syscalls:sys_enter_*stat*' -p {pid} sleep 4"))
            .saving(storm.calls.total())
            .evidence_line(place, line)
            .file();
    }
    !again.is_empty()
}
