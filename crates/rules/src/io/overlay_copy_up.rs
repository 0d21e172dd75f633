//! # overlay-copy-up
//!
//! ## What it is
//! A container opens a large file of its image for writing, and the kernel first copies the whole file up into the container's own layer.
//!
//! ## Why it is slow
//! overlayfs keeps the layers of an image read-only. The first open for writing (also chmod, chown, rename) of a file of a lower layer copies it, whole, and syncs the copy: one byte that is
//! changed in a file of 2 GB costs reading and writing 2 GB. The program sees an open that takes seconds.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/var/lib/app/table.db", O_RDWR|O_CLOEXEC) = 3 <1.127848>
//! in the kernel: ext4_sync_file < ovl_copy_up_file < ovl_copy_up_one < ovl_copy_up_flags < ovl_open
//! ```
//!
//! ## What to do instead
//! Keep what is written in a volume (a bind mount, `VOLUME`, an emptyDir), or make it when the container starts. Mount with `metacopy=on` where only owners and modes are changed.
//!
//! ## When it is wrong
//! Small files are copied in a moment, and each file only once: less than a twentieth of the thread's time (in Go of all threads together) is not mentioned.

use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::guards::WARNING_SHARE;
use crate::kernel_waits::{self, KernelWait};
use whyslow_facts::folds::slow_files::SlowFile;
use whyslow_facts::samples::SiteTime;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{Measurement, Nanos, SampleKind, Severity, Subject, Tid};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "overlay-copy-up",
    group: "io",
    summary: "whole files of a container's image are copied before they are changed",
    source: include_str!("overlay_copy_up.rs"),
    needs: &[Need::Scheduling, Need::Table("offcpu")],
    check,
};

/// What the kernel copies a file up by (fs/overlayfs/copy_up.c).
const COPYING: &str = "ovl_copy_up";
/// Calls that change a file, its name or its attributes, before which it is copied (Documentation/filesystems/overlayfs.rst).
const CHANGES: &[&str] = &[
    "open",
    "openat",
    "openat2",
    "creat",
    "truncate",
    "ftruncate",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "chmod",
    "fchmod",
    "fchmodat",
    "chown",
    "fchownat",
    "utimensat",
    "setxattr",
    "fsetxattr",
];
/// Less in all is nothing that a person would notice (as for slow-file-io: Nielsen, Usability Engineering, 1993).
const NOTICEABLE: Nanos = Nanos::new(100_000_000);

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let spent = |process: ProcessId, tid: Option<Tid>| {
        let of = |kind| facts.samples.in_kernel(kind, process, tid, |name| name.starts_with(COPYING));
        let (waits, runs) = (of(SampleKind::OffCpu), of(SampleKind::OnCpu));
        whyslow_facts::samples::Weight {
            ns: waits.ns.saturating_add(runs.ns),
            count: waits.count.saturating_add(runs.count),
        }
    };
    let is_change = |time: &SiteTime<'_>| time.call.is_some_and(|call| CHANGES.contains(&call));
    let waits = kernel_waits::every(facts, WARNING_SHARE, spent, is_change);
    for wait in waits.iter().filter(|wait| wait.time >= NOTICEABLE) {
        report(facts, out, wait);
    }
}

fn report(facts: &Facts, out: &mut Findings<'_>, wait: &KernelWait<'_>) {
    let file = slowest_open(facts, wait.tid);
    let time = Measurement::time("time", wait.time).at_least(NOTICEABLE.or_zero() as f64);
    let samples = Measurement::count("samples", wait.waits).at_least(kernel_waits::MIN_WAITS as f64);
    let which = file.map_or("a file".to_string(), |file| file.name.clone());
    let line = format!("thread {}: {samples} waits and samples in ovl_copy_up, {time} in all", wait.tid);
    out.report(
        wait.share.clone(),
        format!(
            "{which}: the first change copies it out of the image: {time}{}",
            wait.at()
        ),
    )
    .at_most(Severity::Critical)
    .subject(Subject { path: file.map(|file| file.name.clone()), ..wait.subject() })
    .cause("The file system is an overlay (a container's), and the file is in a layer below, which is read-only. The first open for writing copies the whole file into the layer above, and syncs it, whatever is written then.")
    .measured_all([time, samples])
    .fix("keep what is written in a volume: docker run -v, a Kubernetes volume (emptyDir, PVC), a bind mount over that directory")
    .fix("or make the file when the container starts instead of shipping it in the image; split a large file so that what changes is small")
    .fix("only owner or mode changes: mount the overlay with metacopy=on (Docker: do it in the image's own layer)")
    .verify("findmnt -t overlay; bpftrace -e 'kprobe:ovl_copy_up_flags { @[comm] = count(); }'; strace -T -e trace=openat (opens for writing that take long)")
    .saving(wait.time)
    .evidence_all(file.iter().flat_map(|file| file.exemplars.iter()))
    .evidence_line(facts.recording_at(facts.window.start), line)
    .file();
}

/// The file, or the files of one pattern, whose opens took most of the thread's time: where the copies were made.
#[gated]
fn slowest_open(facts: &Facts, tid: Tid) -> Option<&SlowFile> {
    let opens = |file: &SlowFile| {
        file.by_syscall.iter().any(|(call, _)| matches!(call.info().name, "open" | "openat" | "openat2"))
    };
    facts.slow_files.by_time().into_iter().find(|file| opens(file) && (file.shared || file.tid == tid))
}
