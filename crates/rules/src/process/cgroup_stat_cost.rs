//! # cgroup-stat-cost
//!
//! ## What it is
//! The program reads the statistics of many control groups (`memory.stat`, `cpu.stat`, `io.stat` below /sys/fs/cgroup) over and over.
//!
//! ## Why it is slow
//! The kernel keeps these figures for each CPU apart. A reading adds them up for the group and all groups below it, dead ones that still hold pages too, prints them as
//! text, and the program parses it. With hundreds of groups a scrape takes a good part of a CPU; kubelet and cAdvisor were seen to do so.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/sys/fs/cgroup/kubepods/pod17/memory.stat", O_RDONLY) = 8 <0.000025>
//! read(8, "anon 1572864\nfile 0\nkernel 41779"..., 4096) = 1439 <0.000310>
//! ```
//!
//! ## What to do instead
//! Scrape less often, and only the groups and files that somebody looks at; keep the files open and read them again by `pread`. Remove groups that nobody uses; dying ones
//! go when their pages are dropped.
//!
//! ## When it is wrong
//! A dozen groups, or one look a minute, cost nothing that is felt: below twenty groups, or a twentieth of the thread's time, nothing is said.

use crate::engine::{Findings, Need, Report, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::sampled::Sampled;
use std::collections::BTreeMap;
use whyslow_facts::{Facts, FileFacts, ProcessId};
use whyslow_model::{CallStats, Measurement, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "cgroup-stat-cost",
    group: "process",
    summary: "statistics of many control groups are read over and over",
    source: include_str!("cgroup_stat_cost.rs"),
    needs: &[Need::Either(&[
        Need::AnyOf(&["open", "openat", "openat2", "read", "pread64"]),
        Need::Scheduling,
    ])],
    check,
};

/// Where control groups are (cgroups(7)).
const ROOT: &str = "/sys/fs/cgroup/";
/// Groups whose statistics are read: fewer are a program's own, or those of a few services.
const MIN_GROUPS: u64 = 20;
/// Readings of each, on average: less is one look.
const READINGS_PER_GROUP: f64 = 2.0;
/// Names of such files, as they end.
const STATISTICS: &[&str] = &[
    ".stat",
    ".numa_stat",
    ".pressure",
    ".events",
    ".current",
    ".usage",
    "_bytes",
    ".procs",
    ".throttling",
    "_serviced",
];
/// Of a CPU: a program that keeps less busy is not slow for what it computes.
const BUSY_CPUS: f64 = 0.30;
/// What the kernel runs to add up and print such figures (mm/memcontrol.c, mm/memcontrol-v1.c, kernel/cgroup/rstat.c, block/blk-cgroup.c).
const PRINTING: &[&str] = &[
    "memory_stat_show",
    "memory_stat_format",
    "memory_numa_stat_show",
    "memcg_stat_show",
    "memcg_stat_format",
    "memcg1_stat_format",
    "memcg_numa_stat_show",
    "mem_cgroup_flush_stats",
    "do_flush_stats",
    "cgroup_rstat_flush",
    "css_rstat_flush",
    "blkcg_print_stat",
    "cpu_stat_show",
];

/// What one process does below the folder of control groups.
struct Scrape<'a> {
    calls: CallStats,
    groups: u64,
    readings: u64,
    worst: &'a FileFacts,
    alone: bool,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut scrapes: BTreeMap<ProcessId, Scrape<'_>> = BTreeMap::new();
    let of_groups = facts.world.files.iter().map(|(_, file)| file).filter(|file| is_below(&file.path));
    let merged = facts.world.files.merged.values().filter(|file| is_below(&file.path));
    for file in of_groups.chain(merged) {
        let Some(process) = facts.process_of_thread(file.tid) else { continue };
        let scrape = scrapes.entry(process).or_insert_with(|| Scrape {
            calls: CallStats::default(),
            groups: 0,
            readings: 0,
            worst: file,
            alone: true,
        });
        scrape.add(file);
    }
    let printed = printed(facts);
    let mut found = false;
    for scrape in scrapes.values() {
        found |= report(facts, out, scrape, printed.as_ref());
    }
    if let Some(printed) = printed.filter(|_| !found) {
        report_printed(facts, out, &printed);
    }
}

fn is_below(path: &str) -> bool {
    path.starts_with(ROOT)
}

fn is_statistics(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    STATISTICS.iter().any(|end| name.ends_with(end))
}

impl<'a> Scrape<'a> {
    #[gated]
    fn add(&mut self, file: &'a FileFacts) {
        self.calls.merge(&file.path_calls);
        self.calls.merge(&file.directory_reads);
        if let Some(reads) = &file.reads {
            self.calls.merge(&reads.calls);
        }
        let reads = file.reads.as_ref().map_or(0, |io| io.calls.count);
        if is_statistics(&file.path) && reads > 0 {
            self.groups = self.groups.saturating_add(file.merged.max(1));
            // Kept open, it is read again without an open: one reading is a read that brings text and one that brings its end.
            self.readings = self.readings.saturating_add(file.opens.max(reads / 2));
        }
        self.alone &= !file.shared && file.tid == self.worst.tid;
        if is_statistics(&file.path)
            && (!is_statistics(&self.worst.path) || file.time_ns() > self.worst.time_ns())
        {
            self.worst = file;
        }
    }
}

fn advised<'f, 'a>(report: Report<'f, 'a>) -> Report<'f, 'a> {
    report
        .fix("scrape less often, and only what somebody looks at (kubelet: --housekeeping-interval; cAdvisor: --housekeeping_interval=30s, --disable_metrics, --docker_only)")
        .fix("code: keep the list of groups (inotify tells of new ones) and the files open, and read them by pread; cpu.stat and memory.current are cheaper than memory.stat")
        .fix("fewer groups: remove what is empty (rmdir); dying ones are counted in cgroup.stat (nr_dying_descendants) and go when their pages are dropped (echo 1 > memory.reclaim)")
        .verify("perf top -p PID (memory_stat_format, css_rstat_flush); cat /sys/fs/cgroup/cgroup.stat; find /sys/fs/cgroup -type d | wc -l")
}

const CAUSE: &str = "For each reading the kernel adds up the figures of all CPUs, of the group and of the groups below it, and prints them; the program parses the text.";

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, scrape: &Scrape<'_>, printed: Option<&Sampled<'_>>) -> bool {
    let each = scrape.readings as f64 / scrape.groups.max(1) as f64;
    let tid = scrape.alone.then_some(scrape.worst.tid);
    let share = guards::share_of_time(facts, tid, &scrape.calls);
    let felt = share.value.is_some_and(|value| value >= guards::WARNING_SHARE);
    if scrape.groups < MIN_GROUPS || each < READINGS_PER_GROUP || !felt {
        return false;
    }
    // What the kernel's printing takes of the CPU time, where that is the larger part.
    let share = match printed {
        Some(printed) => printed.or_larger(facts, share),
        None => share,
    };
    let groups = Measurement::count("files_of_groups", scrape.groups).at_least(MIN_GROUPS as f64);
    let each = Measurement::number("readings_per_file", each).at_least(READINGS_PER_GROUP);
    let total = Measurement::time("time", scrape.calls.total());
    let rate = facts.window.per_second(scrape.readings);
    let rate = rate.map(|rate| Measurement::per_second("readings_per_second", rate));
    let often = rate.as_ref().map_or(String::new(), |rate| format!(", {rate} readings per second"));
    let title = format!(
        "the statistics of control groups are read over and over: {groups} files below {ROOT}, {each} times each{often}"
    );
    let path = in_all_groups(&scrape.worst.path);
    advised(out.report(share, title))
        .at_most(Severity::Critical)
        .subject(Subject { path: Some(path), ..Subjects::thread(facts, scrape.worst.tid) })
        .cause(format!("{CAUSE} All calls below {ROOT} took {total}."))
        .measured_all([groups, each, total])
        .measured_all(rate)
        .saving(scrape.calls.total())
        .evidence_all(scrape.worst.exemplars.iter())
        .evidence(scrape.worst.reads.as_ref().and_then(|io| io.exemplars.first.as_deref()))
        .file();
    true
}

/// The name of the file in all groups.
fn in_all_groups(path: &str) -> String {
    format!("{ROOT}…/{}", path.rsplit('/').next().unwrap_or_default())
}

/// The process in whose CPU time the kernel's printing of such figures is the largest part.
fn printed(facts: &Facts) -> Option<Sampled<'_>> {
    let is_such = |function: &str| PRINTING.iter().any(|name| function.starts_with(name));
    Sampled::most_in_kernel(facts, BUSY_CPUS, is_such)
}

/// Where no single reads were recorded, what the kernel did is told by the samples.
fn report_printed(facts: &Facts, out: &mut Findings<'_>, printed: &Sampled<'_>) {
    let who = facts.profiled(printed.profile);
    let process = facts.world.threads.process(printed.process);
    let (part, cpus) = printed.figures(BUSY_CPUS);
    let text = format!("{part} of CPU time in the kernel's adding up of control groups");
    let share: Share = printed.share(facts);
    let title = format!(
        "the statistics of control groups are read: their adding up by the kernel alone takes {part} of the CPU time of {who}"
    );
    advised(out.report(share, title))
        .at_most(Severity::Critical)
        .subject(Subject { pid: process.pid, path: Some(ROOT.to_string()), ..Subject::default() })
        .cause(CAUSE)
        .measured(part)
        .measured_all(cpus)
        .evidence_line(facts.profile_source(printed.profile), text)
        .file();
}
