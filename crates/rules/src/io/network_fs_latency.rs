//! # network-fs-latency
//!
//! ## What it is
//! Calls on files take a millisecond and more because the files are on another machine (NFS, CIFS, Ceph, Gluster) or
//! behind a program (FUSE).
//!
//! ## Why it is slow
//! Each open, stat and small read is a question to the server and back. A program that was written for a local disk asks
//! thousands of them one after another.
//!
//! ## Example
//! ```text
//! newfstatat(AT_FDCWD, "/mnt/share/lib/a.py", {st_mode=S_IFREG|0644, …}, 0) = 0 <0.001810>
//! ```
//!
//! ## What to do instead
//! Ask less (keep answers, list once), ask in parallel, or keep a local copy of what is read. Let the client keep
//! attributes longer (`actimeo`, `nocto`), larger `rsize`.
//!
//! ## When it is wrong
//! The first touch of a file asks in any case, once. Below 5 % of the thread's time nothing is said.

use crate::engine::{Findings, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::{figures, words};
use whyslow_facts::{Facts, FileFacts};
use whyslow_model::{CallStats, Entity, Measurement, Metric, Nanos, Severity, Subject, Trait};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "network-fs-latency",
    group: "io",
    summary: "calls on files of a network or FUSE file system take a millisecond and more",
    source: include_str!("network_fs_latency.rs"),
    needs: &[],
    check,
};

/// Mean of a call from which on a server is asked: a local file that is cached takes microseconds.
const SLOW: Nanos = Nanos::from_millis(1);
/// Calls: fewer are first touches.
const MIN_CALLS: u64 = 50;
/// Operations a second of a mount, where only its figures are known.
const MIN_RATE: f64 = 10.0;
/// Kinds of file systems behind a server or a program (as /proc/mounts names them); FUSE has many names behind a dot.
const REMOTE: [&str; 14] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "ceph",
    "glusterfs",
    "lustre",
    "afs",
    "9p",
    "virtiofs",
    "gpfs",
    "beegfs",
    "fuse",
];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mounts = facts.host.things_that(|of| matches!(of, Entity::Mount(_)));
    let mut kinds: Vec<(&Entity, &str)> =
        mounts.iter().filter_map(|(of, thing)| Some((*of, thing.told(Trait::FsType)?))).collect();
    if kinds.is_empty() {
        return out.not_judged("which file systems are mounted", "whyslow diagnose -a");
    }
    // The longest mount point is where a path is.
    kinds.sort_by_key(|(of, _)| (std::cmp::Reverse(of.name().len()), *of));
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (_, file) in facts.world.files.iter() {
        let at = kinds.iter().find(|(of, _)| is_under(&file.path, of.name()));
        let Some((mount, kind)) = at.filter(|(_, kind)| is_remote(kind)) else { continue };
        let row = match rows.iter().position(|row| row.mount == *mount) {
            Some(row) => &mut rows[row],
            None => {
                rows.push(Row { mount, kind, calls: CallStats::default(), worst: file, alone: true });
                let last = rows.len() - 1;
                &mut rows[last]
            }
        };
        row.add(file);
    }
    rows.sort_by(|a, b| b.calls.total_ns.cmp(&a.calls.total_ns).then(a.mount.cmp(b.mount)));
    for row in &rows {
        report(facts, out, row);
    }
    for (mount, kind) in
        kinds.iter().filter(|(of, kind)| is_remote(kind) && !rows.iter().any(|row| row.mount == *of))
    {
        report_figures(facts, out, mount, kind);
    }
}

/// The calls on files of one mount.
struct Row<'a> {
    mount: &'a Entity,
    kind: &'a str,
    calls: CallStats,
    worst: &'a FileFacts,
    /// One thread made them all.
    alone: bool,
}

impl<'a> Row<'a> {
    #[gated]
    fn add(&mut self, file: &'a FileFacts) {
        self.calls.merge(&file.path_calls);
        self.calls.merge(&file.directory_reads);
        for io in [&file.reads, &file.writes].into_iter().flatten() {
            self.calls.merge(&io.calls);
        }
        self.alone &= !file.shared && file.tid == self.worst.tid;
        if file.time_ns() > self.worst.time_ns() {
            self.worst = file;
        }
    }
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, row: &Row<'_>) {
    let calls = &row.calls;
    let share = guards::share_of_time(facts, row.alone.then_some(row.worst.tid), calls);
    let felt = share.value.is_some_and(|value| value >= guards::WARNING_SHARE);
    if calls.count < MIN_CALLS || !calls.mean().is_known() || calls.mean() < SLOW || !felt {
        return;
    }
    let mount = row.mount.name();
    let mean = Measurement::time("time_per_call", calls.mean()).at_least(SLOW.or_zero() as f64);
    let total = Measurement::time("time", calls.total());
    out.report(share, format!("{mount} ({}): {} on its files take {mean} each, {total} in all", row.kind, words::plural(calls.count, "call")))
        .measured(Measurement::count("calls", calls.count).at_least(MIN_CALLS as f64))
        .measured(mean)
        .measured(total)
        .subject(Subject { path: Some(mount.to_string()), ..Subjects::thread(facts, row.worst.tid) })
        .cause(format!("The files are behind a server or another program, and each call asks it (most time: {}).", row.worst.path))
        .fix("ask less: list once, keep what was read and the answers to stat; a local copy (rsync, fscache: mount -o fsc) of what does not change")
        .fix("several at a time instead of one after another")
        .fix(format!("mount options: findmnt {mount}; NFS: actimeo=60, nocto, rsize=1048576, nconnect=4; CIFS: cache=strict, actimeo; FUSE: attr_timeout, entry_timeout, kernel_cache"))
        .verify("nfsiostat 1, mountstats; bcc: nfsslower 1; strace -T -e trace=file -p PID")
        .saving(calls.total())
        .evidence_all(row.worst.exemplars.iter())
        .file();
}

#[gated]
fn report_figures(facts: &Facts, out: &mut Findings<'_>, mount: &Entity, kind: &str) {
    let Some(thing) = facts.host.thing(mount) else { return };
    let latency = thing.sum_current(&[Metric::Latency]);
    let latency = latency.or_else(|| thing.current(Metric::ReadLatency));
    let rate = thing.current(Metric::Calls).or_else(|| thing.sum_current(&[Metric::Reads, Metric::Writes]));
    let (Some(latency), Some(rate)) = (latency, rate) else { return };
    if latency < SLOW.or_zero() as f64 || rate < MIN_RATE {
        return;
    }
    let rate = Measurement::per_second("calls_per_second", rate).at_least(MIN_RATE);
    let latency = Nanos::new(latency as u64);
    let latency = Measurement::time("time_per_call", latency).at_least(SLOW.or_zero() as f64);
    out.report(Share::unknown(), format!("{mount} ({kind}): {rate} operations a second, {latency} each"))
        .measured(rate)
        .measured(latency)
        .at_most(Severity::Notice)
        .subject(figures::subject(facts, mount))
        .cause("The files are behind a server or another program. Whether somebody waits for it shows in the program: record it.")
        .fix("see who asks: lsof +f -- MOUNT, then whyslow record -p PID")
        .verify("nfsiostat 1; bcc: nfsslower 1")
        .evidence_of(mount, &[Metric::Calls, Metric::Reads, Metric::Writes, Metric::Latency, Metric::ReadLatency])
        .file();
}

fn is_remote(kind: &str) -> bool {
    let kind = kind.split('.').next().unwrap_or(kind);
    REMOTE.contains(&kind)
}

fn is_under(path: &str, mount: &str) -> bool {
    mount == "/" && path.starts_with('/') || figures::within(path, mount.trim_end_matches('/'))
}
