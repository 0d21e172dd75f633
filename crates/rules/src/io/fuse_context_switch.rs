//! # fuse-context-switch
//!
//! ## What it is
//! A program makes many small calls on files of a FUSE file system on the same machine, and each is handed to another program and back.
//!
//! ## Why it is slow
//! For each open, stat and read the kernel wakes the file system's program, waits for its answer, and wakes the caller: two switches and two copies for what a
//! file system of the kernel answers from memory in a microsecond. Each call alone is quick, tens of microseconds; thousands of them are the program's time.
//!
//! ## Example
//! ```text
//! read(3</mnt/store/17>, "…", 1024) = 1024 <0.000031>
//! waits: request_wait_answer < __fuse_simple_request < fuse_direct_io < fuse_file_read_iter
//! ```
//!
//! ## What to do instead
//! Fewer and larger calls: read 128 KiB at a time, keep files open, keep answers. Let the kernel answer: `kernel_cache` or `auto_cache`, `attr_timeout`, `entry_timeout`,
//! writeback cache; FUSE passthrough (Linux 6.9) reads and writes the file behind directly.
//!
//! ## When it is wrong
//! Some hundred calls cost nothing. Calls that take a millisecond and more wait for what is behind the program: that is network-fs-latency.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::figures;
use crate::gate::gated;
use crate::guards;
use whyslow_facts::{Facts, FileFacts};
use whyslow_model::{CallStats, Entity, Measurement, Nanos, Severity, Subject, Trait};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "fuse-context-switch",
    group: "io",
    summary: "many small calls on a FUSE file system each go through another program",
    source: include_str!("fuse_context_switch.rs"),
    needs: &[Need::Calls, Need::Durations],
    check,
};

/// Mean of a call from which on what is behind the file system's program takes the time (as for network-fs-latency).
const SLOW: Nanos = Nanos::from_millis(1);
/// Mean of a call below which the kernel answered from its own cache: two switches take longer.
const SWITCHES: Nanos = Nanos::new(5_000);
/// Bytes of a read or write, on average: requests of FUSE are 128 KiB at most by default (max_read, max_pages), so what is that large has few switches.
const LARGE: u64 = 128 * 1024;

/// The calls on files of one mount.
struct Mounted<'a> {
    mount: &'a Entity,
    calls: CallStats,
    moves: u64,
    bytes: u64,
    worst: &'a FileFacts,
    /// One thread made them all.
    alone: bool,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mounts = facts.host.things_that(|of| matches!(of, Entity::Mount(_)));
    let mut kinds: Vec<(&Entity, bool)> =
        mounts.iter().filter_map(|(of, thing)| Some((*of, is_fuse(thing.told(Trait::FsType)?)))).collect();
    if kinds.is_empty() {
        return out.not_judged("which file systems are mounted", "whyslow record -p PID -o again.whyslow");
    }
    if kinds.iter().all(|(_, fuse)| !fuse) {
        return;
    }
    // The longest mount point is where a path is.
    kinds.sort_by_key(|(of, _)| (std::cmp::Reverse(of.name().len()), *of));
    let mut rows: Vec<Mounted<'_>> = Vec::new();
    for (_, file) in facts.world.files.iter() {
        let at = kinds.iter().find(|(of, _)| {
            of.name() == "/" && file.path.starts_with('/') || figures::within(&file.path, of.name())
        });
        let Some((mount, _)) = at.filter(|(_, fuse)| *fuse) else { continue };
        match rows.iter_mut().find(|row| row.mount == *mount) {
            Some(row) => row.add(file),
            None => {
                let calls = CallStats::default();
                rows.push(Mounted { mount, calls, moves: 0, bytes: 0, worst: file, alone: true });
                rows.iter_mut().last().into_iter().for_each(|row| row.add(file));
            }
        }
    }
    rows.sort_by(|a, b| b.calls.total_ns.cmp(&a.calls.total_ns).then(a.mount.cmp(b.mount)));
    for row in rows.iter().filter(|row| row.is_many(facts)) {
        report(facts, out, row);
    }
}

fn is_fuse(kind: &str) -> bool {
    kind == "fuse" || kind == "fuseblk" || kind.starts_with("fuse.")
}

impl<'a> Mounted<'a> {
    #[gated]
    fn add(&mut self, file: &'a FileFacts) {
        self.calls.merge(&file.path_calls);
        self.calls.merge(&file.directory_reads);
        for io in [&file.reads, &file.writes].into_iter().flatten() {
            self.calls.merge(&io.calls);
            self.moves = self.moves.saturating_add(io.calls.count);
            self.bytes = self.bytes.saturating_add(io.calls.bytes);
        }
        self.alone &= !file.shared && file.tid == self.worst.tid;
        if file.time_ns() > self.worst.time_ns() {
            self.worst = file;
        }
    }

    #[gated]
    fn is_many(&self, facts: &Facts) -> bool {
        let mean = self.calls.mean();
        let least = SWITCHES.or_zero().saturating_add(facts.pace.stop.or_zero());
        self.calls.count >= guards::few_calls(facts)
            && mean.get().is_some_and(|mean| mean >= least)
            && mean < SLOW
            && self.bytes <= LARGE.saturating_mul(self.moves)
    }
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, row: &Mounted<'_>) {
    let calls = &row.calls;
    let share = guards::share_of_time(facts, row.alone.then_some(row.worst.tid), calls);
    if share.value.is_none_or(|value| value < guards::WARNING_SHARE) {
        return;
    }
    let mount = row.mount.name();
    let count = Measurement::count("calls", calls.count).at_least(guards::few_calls(facts) as f64);
    let mean = Measurement::time("time_per_call", calls.mean()).at_least(SWITCHES.or_zero() as f64);
    let total = Measurement::time("time", calls.total());
    let each = (row.moves > 0).then(|| Measurement::bytes("bytes_per_call", row.bytes / row.moves));
    let sizes = each.as_ref().map_or(String::new(), |each| format!(" Reads and writes move {each} each."));
    let rate = facts.window.per_second(calls.count);
    let rate = rate.map(|rate| Measurement::per_second("calls_per_second", rate));
    let often = rate.as_ref().map_or(String::new(), |rate| format!(", {rate} per second"));
    out.report(
        share,
        format!("{mount}: {count} calls on files of a FUSE file system, {mean} each{often}: each goes through another program"),
    )
    .at_most(Severity::Critical)
    .subject(Subject { path: Some(mount.to_string()), ..Subjects::thread(facts, row.worst.tid) })
    .cause(format!(
        "The files are served by a program on this machine: for each call the kernel wakes it, and then the caller. {total} went into that (most time: {}).{sizes}",
        row.worst.path
    ))
    .measured_all([count, mean, total])
    .measured_all(each.into_iter().chain(rate))
    .fix("code: fewer and larger calls: read 128 KiB at a time, open once, keep the answers of stat; or a copy of what is read often on a local file system")
    .fix(format!("let the kernel answer (findmnt {mount} shows what is set): kernel_cache or auto_cache, attr_timeout=60, entry_timeout=60, max_read=1048576, writeback_cache"))
    .fix("the file system's own program: FUSE_PASSTHROUGH (Linux 6.9), readdirplus, more threads, io_uring requests (Linux 6.14)")
    .verify("strace -c -f -p PID (fewer calls); perf stat -e context-switches -p PID -- sleep 5, before and after")
    .saving(calls.total())
    .evidence_all(row.worst.exemplars.iter())
    .evidence(row.worst.reads.as_ref().and_then(|io| io.exemplars.first.as_deref()))
    .file();
}
