//! # mount-table-scan
//!
//! ## What it is
//! The program reads the table of all mounts (`/proc/self/mountinfo`, `/proc/mounts`, `/etc/mtab`) again and again.
//!
//! ## Why it is slow
//! The kernel walks all mounts of the namespace under a lock and prints a line of a hundred bytes and more for each; the program takes
//! each apart, mostly to find one. Hosts of containers have thousands of mounts, and each reading costs milliseconds.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/proc/self/mountinfo", O_RDONLY) = 6 <0.000020>
//! read(6, "22 29 0:21 / /sys rw,nosuid,node"..., 4096) = 4049 <0.000110>
//! read(6, "101 29 8:1 /vol-17 /srv/vol-17 r"..., 4096) = 4049 <0.000112>
//! ```
//!
//! ## What to do instead
//! Read it once and keep it; poll the open file for POLLPRI, which tells of a change. Whether a path is a mount point: `statx` with
//! STATX_ATTR_MOUNT_ROOT, or its device number beside that of its parent. One mount: `statmount` (Linux 6.8).
//!
//! ## When it is wrong
//! A table of a few dozen lines is read in a tenth of a millisecond, and stays quiet. A tool that lists mounts once does what it is for.

use super::streams::{how_often, subject, worst};
use crate::engine::{Findings, Need, Report, Rule};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::often::PASSES;
use crate::sampled::Sampled;
use whyslow_facts::{Facts, Stream};
use whyslow_model::{Measurement, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "mount-table-scan",
    group: "io",
    summary: "the table of all mounts is read again and again",
    source: include_str!("mount_table_scan.rs"),
    needs: &[
        Need::Either(&[Need::AnyOf(&["read", "pread64", "readv", "preadv"]), Need::Scheduling]),
        Need::Either(&[Need::Descriptors, Need::Scheduling]),
    ],
    check,
};

/// Bytes of one pass: some hundred mounts. Less is read in a tenth of a millisecond.
const LONG_TABLE: u64 = 16 * 1024;
/// Fewer passes are a start, or a question of somebody.
const MIN_PASSES: u64 = 10;
/// Of a CPU: a program that keeps less busy is not slow for what it computes.
const BUSY_CPUS: f64 = 0.30;
/// What the kernel runs only to walk its mounts and to print a line for each: fs/proc_namespace.c, fs/namespace.c.
const PRINTING: &[&str] =
    &["show_mountinfo", "show_vfsmnt", "show_vfsstat", "mounts_open_common", "m_next", "m_show"];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let tables = facts.streams.iter().filter(|stream| stream.path.as_deref().is_some_and(is_table));
    let long = tables.filter(|stream| stream.opens >= MIN_PASSES && each(stream) >= LONG_TABLE);
    let found: Vec<(Share, &Stream)> = long
        .map(|stream| {
            let reads = &stream.reads;
            (guards::share_of_ns(facts, reads.only_thread(), reads.time(), reads.calls.count), stream)
        })
        .collect();
    let printed = printed(facts);
    if found.is_empty()
        && let Some(printed) = printed
    {
        report_printed(facts, out, &printed);
        return;
    }
    let found = worst(found);
    for (at, (share, stream)) in found.into_iter().enumerate() {
        let reads = &stream.reads;
        // What the kernel's printing takes of the CPU time, where that is the larger part.
        let share = match &printed {
            Some(printed) if at == 0 => printed.or_larger(facts, share),
            _ => share,
        };
        let passes = Measurement::count("passes", stream.opens).at_least(MIN_PASSES as f64);
        let pass = Measurement::bytes("bytes_per_pass", each(stream)).at_least(LONG_TABLE as f64);
        let often = how_often(facts, &PASSES, stream.opens);
        let title = format!(
            "{}: the table of all mounts is read {passes} times over, {pass} each{}",
            stream.name,
            often.behind_comma()
        );
        advised(out.report(share, title), &stream.name)
            .at_most(Severity::Critical)
            .subject(subject(facts, stream, reads, "read"))
            .cause("The kernel prints a line for each mount of the namespace, under a lock, and the program takes each apart.")
            .measured_all([passes, pass])
            .measured_all(often.figures())
            .evidence_all(reads.exemplars.iter())
            .file();
    }
}

/// Bytes of one pass.
fn each(stream: &Stream) -> u64 {
    stream.reads.calls.bytes / stream.opens.max(1)
}

fn is_table(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    path == "/etc/mtab" || path.starts_with("/proc/") && matches!(name, "mountinfo" | "mounts" | "mountstats")
}

/// The process in whose CPU time the kernel's printing of the table is the largest part.
fn printed(facts: &Facts) -> Option<Sampled<'_>> {
    Sampled::most_in_kernel(facts, BUSY_CPUS, |function| PRINTING.contains(&function))
}

/// What to do instead is the same, however it was found.
fn advised<'f, 'a>(report: Report<'f, 'a>, table: &str) -> Report<'f, 'a> {
    report
        .fix("code: read it once and keep what is needed; poll the open file for POLLPRI, which tells of each change")
        .fix("code: is a path a mount point: statx with STATX_ATTR_MOUNT_ROOT, or st_dev beside that of the parent; one mount: statmount (Linux 6.8)")
        .fix("host: fewer mounts in the program's namespace (unshare -m, PrivateMounts=)")
        .verify(format!("strace -f -c -e trace=openat,read -P {table} -p PID; wc -l /proc/self/mountinfo"))
}

/// Where no single reads were recorded, what the kernel did is told by the samples.
fn report_printed(facts: &Facts, out: &mut Findings<'_>, printed: &Sampled<'_>) {
    const TABLE: &str = "/proc/self/mountinfo";
    let who = facts.profiled(printed.profile);
    let process = facts.world.threads.process(printed.process);
    let (share, cpus) = printed.figures(BUSY_CPUS);
    let text = format!("{share} of CPU time in the kernel's printing of mounts");
    let title = format!(
        "the table of all mounts ({TABLE}) is read: its printing by the kernel alone takes {share} of the CPU time of {who}"
    );
    advised(out.report(printed.share(facts), title), TABLE)
        .at_most(Severity::Critical)
        .subject(Subject { pid: process.pid, path: Some(TABLE.to_string()), ..Subject::default() })
        .cause("The kernel prints a line for each mount of the namespace, under a lock, and the program takes each apart.")
        .measured(share)
        .measured_all(cpus)
        .evidence_line(facts.profile_source(printed.profile), text)
        .file();
}
