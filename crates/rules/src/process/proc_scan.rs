//! # proc-scan
//!
//! ## What it is
//! A program, as a rule a monitor, goes through /proc over and over and reads files of every process: stat, status, fd,
//! io.
//!
//! ## Why it is slow
//! Each such file is made up when it is read: three system calls a file, text that must be taken apart, and locks of the
//! process that is looked at. With a thousand processes and their descriptors that is 10,000 calls and more a round.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/proc/1017/stat", O_RDONLY) = 7 <0.000012>
//! read(7, "1017 (nginx) S 1 1017"..., 1024) = 311 <0.000035>
//! ```
//!
//! ## What to do instead
//! Ask for less and less often: sums are in control groups (`cpu.stat`, `memory.stat`), starts and ends come by netlink
//! (proc connector), a selection by taskstats. Keep descriptors open and read them again with pread.
//!
//! ## When it is wrong
//! `ps` and `top` read all of it as well, once or each few seconds: one round is not judged, nor is less than 5 % of the
//! thread's time.

use super::proc_files::Reading;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::Facts;
use whyslow_model::{Measurement, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "proc-scan",
    group: "process",
    summary: "files of every process under /proc are read over and over",
    source: include_str!("proc_scan.rs"),
    needs: &[Need::Calls, Need::Durations, Need::AnyOf(&["openat", "open"])],
    check,
};

/// Files a round: fewer are a few processes that somebody looks after.
const MIN_FILES: u64 = 50;
/// Each file is opened this often: one round is a `ps`.
const MIN_ROUNDS: u64 = 3;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let reading = Reading::of(facts, |name| !name.starts_with("smaps"));
    let share = reading.share(facts);
    let felt = share.value.is_some_and(|value| value >= guards::WARNING_SHARE);
    if reading.files < MIN_FILES || reading.opens < MIN_ROUNDS * reading.files || !felt {
        return;
    }
    let names: Vec<String> = reading.names.iter().map(|(name, _)| name.to_string()).collect();
    let least = MIN_ROUNDS.saturating_mul(reading.files);
    let files = Measurement::count("files", reading.files).at_least(MIN_FILES as f64);
    let opens = Measurement::count("opens", reading.opens).at_least(least as f64);
    let time = Measurement::time("time", Nanos::new(reading.time_ns));
    let part = share.figure().at_least(guards::WARNING_SHARE);
    let calls = Measurement::count("calls", reading.calls);
    out.report(share, format!("{files} files of processes under /proc are read {opens} times: {time} in {}", words::plural(reading.calls, "call")))
        .subject(Subject {
            path: Some("/proc/{n}".to_string()),
            ..reading.tid.map_or(Subject::default(), |tid| Subjects::thread(facts, tid))
        })
        .cause(format!("The program looks at every process again and again ({}), and the kernel prints each of these files anew when it is read.", words::list(&names, 4)))
        .fix("read less often, and fewer kinds of files; the sums are in cpu.stat, memory.stat and io.stat of control groups")
        .fix("starts and ends of processes: netlink proc connector (cn_proc) or BPF instead of comparing lists; accounts of one process: taskstats")
        .fix("keep the descriptors open, and pread(fd, buffer, size, 0) them: saves open and close of each")
        .verify("strace -c -f -e trace=openat,read,getdents64,readlink -p PID; perf trace -s -p PID sleep 10")
        .measured_all([files, opens, time, calls, part])
        .saving(Nanos::new(reading.time_ns))
        .evidence_all(reading.lines())
        .file();
}
