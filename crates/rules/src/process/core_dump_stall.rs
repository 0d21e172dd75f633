//! # core-dump-stall
//!
//! ## What it is
//! A process is killed by a signal, and before it ends the kernel writes its memory to a core file; whoever waits for it to start it again waits as
//! long.
//!
//! ## Why it is slow
//! A core has all memory that the process wrote: some GB at a few hundred MB a second. Meanwhile its port and its lock are not free, and
//! the disk is busy for everybody.
//!
//! ## Example
//! ```text
//! [pid 26] --- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=NULL} ---
//! [pid 25] wait4(-1, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV && WCOREDUMP(s)}], 0, NULL) = 26 <2.970756>
//! ```
//!
//! ## What to do instead
//! Mend the crash: one core tells where it is. Then limit cores (`ulimit -c 0`, LimitCORE= of systemd), leave large shared parts out
//! (`/proc/PID/coredump_filter`, madvise(MADV_DONTDUMP)), or hand them to a program that compresses and limits them (systemd-coredump).
//!
//! ## When it is wrong
//! A process that dies without a core takes as long as its memory takes to be freed: that is quiet. A core of some MB is written in milliseconds.
//! Somebody who debugs wants the core: the finding says what it costs.

use crate::engine::{Findings, Need, Report, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, kernel_waits};
use whyslow_facts::core_dumps::Dumped;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{Measurement, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "core-dump-stall",
    group: "process",
    summary: "a restart waits until the memory of the killed process is written to a core file",
    source: include_str!("core_dump_stall.rs"),
    needs: &[Need::Clock, Need::AnyOf(&["wait4", "waitid", "fork", "vfork", "clone", "clone3"])],
    check,
};

/// A dump from which on a restart is held up: smaller ones are lost in the start of the program.
const LONG: Nanos = Nanos::from_millis(50);

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut rows: Vec<&Dumped> = facts.core_dumps.rows.iter().filter(|row| is_long(row)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.dumps.total_ns, row.tid)));
    let told: Vec<ProcessId> = rows.iter().map(|row| row.parent).collect();
    for row in rows {
        report(facts, out, row);
    }
    let seen = by_stacks(facts);
    for dumps in seen.into_iter().filter(|dumps| !told.contains(&dumps.parent)) {
        report_stacks(facts, out, &dumps);
    }
}

/// The kernel's functions that write a core file (fs/coredump.c; older kernels call it `do_coredump`).
const WRITES_CORE: [&str; 2] = ["vfs_coredump", "do_coredump"];

/// Core dumps of children that the stacks of these tell: a parent that ignores SIGCHLD is sent none.
struct SeenDumps {
    parent: ProcessId,
    children: u64,
    time_ns: u64,
    longest_ns: u64,
    program: Option<String>,
}

#[gated]
fn by_stacks(facts: &Facts) -> Vec<SeenDumps> {
    let writes = kernel_waits::in_functions(facts, &WRITES_CORE, true);
    let mut all: Vec<SeenDumps> = Vec::new();
    for (id, process) in facts.world.threads.processes() {
        let Some(parent) = process.parent.filter(|_| process.exited) else { continue };
        let ns = writes(id, None).ns;
        if ns == 0 {
            continue;
        }
        let at = all.iter().position(|dumps| dumps.parent == parent).unwrap_or_else(|| {
            all.push(SeenDumps { parent, children: 0, time_ns: 0, longest_ns: 0, program: None });
            all.len() - 1
        });
        let dumps = &mut all[at];
        dumps.children += 1;
        dumps.time_ns = dumps.time_ns.saturating_add(ns);
        dumps.longest_ns = dumps.longest_ns.max(ns);
        dumps.program = process.name().map(str::to_string).or(dumps.program.take());
    }
    all.retain(|dumps| dumps.longest_ns >= LONG.or_zero());
    all.sort_by_key(|dumps| (std::cmp::Reverse(dumps.time_ns), dumps.parent));
    all
}

#[gated]
fn report_stacks(facts: &Facts, out: &mut Findings<'_>, dumps: &SeenDumps) {
    let Some(tid) = facts.world.threads.process(dumps.parent).pid else { return };
    let subject = Subjects::thread(facts, tid);
    let who = subject.comm.clone().unwrap_or_else(|| "its parent".to_string());
    let program = dumps.program.as_deref().unwrap_or("a child");
    let times = if dumps.children == 1 { "core dump" } else { "core dumps" };
    let count = Measurement::count("core_dumps", dumps.children);
    let took = Measurement::time("time", Nanos::new(dumps.time_ns));
    let longest = Measurement::time("longest", Nanos::new(dumps.longest_ns)).at_least(LONG.or_zero() as f64);
    let share = guards::share_of_ns(facts, Some(tid), Nanos::new(dumps.time_ns), dumps.children);
    let report = out.report(share, format!("{count} {times} of {program}, children of {who}: {took} in all, {longest} the longest"))
        .subject(Subject { path: Some(program.to_string()), ..subject })
        .cause(format!(
            "A signal kills {program}, and the kernel writes its memory to a core file (stacks in {}) before the parent is told of the end. What kills it is the fault to mend; the time is that of the cores.",
            WRITES_CORE[0]
        ))
        .measured(count)
        .measured(took)
        .measured(longest)
        .saving(Nanos::new(dumps.time_ns));
    advise(report, program).file();
}

/// What to do about core dumps of that program.
fn advise<'f, 'a>(report: Report<'f, 'a>, program: &str) -> Report<'f, 'a> {
    report
        .fix(format!("mend what kills {program}: coredumpctl gdb, or gdb {program} core, then bt"))
        .fix("limit cores once you have one: ulimit -c 0, LimitCORE=0 (systemd), --ulimit core=0 (docker), hard limits in /etc/security/limits.d")
        .fix("make them smaller: echo 0x21 > /proc/PID/coredump_filter leaves shared memory out; madvise(MADV_DONTDUMP) for caches; systemd-coredump: ProcessSizeMax=, Compress=yes")
        .verify(VERIFY)
}

const VERIFY: &str =
    "coredumpctl list;  cat /proc/sys/kernel/core_pattern;  perf trace -e exit_group,wait4 -p PID";

#[gated]
fn is_long(row: &Dumped) -> bool {
    let longest = row.dumps.max();
    longest.is_known() && longest >= LONG
}

fn report(facts: &Facts, out: &mut Findings<'_>, row: &Dumped) {
    let dumps = &row.dumps;
    let share = guards::share_of_ns(facts, Some(row.tid), dumps.total(), dumps.count);
    let count = Measurement::count("core_dumps", dumps.count);
    let longest = Measurement::time("longest", dumps.max()).at_least(LONG.or_zero() as f64);
    let took = Measurement::time("time", dumps.total());
    let subject = Subjects::thread(facts, row.tid);
    let who = subject.comm.clone().unwrap_or_else(|| "its parent".to_string());
    let program = row.program.as_deref().unwrap_or("a child");
    let times = if dumps.count == 1 { "core dump" } else { "core dumps" };
    let signal = &row.signal;
    let report = out
        .report(share, format!("{who} waits for {count} {times} of {program}, which {signal} kills: {took} in all, {longest} the longest"))
        .subject(Subject { path: Some(program.to_string()), ..subject })
        .cause(format!(
            "From {signal} to the end of {program} the kernel writes its memory to a core file, and the parent is told only then. What kills it is the fault to mend; the time is that of the cores."
        ))
        .measured(count)
        .measured(took)
        .measured(longest)
        .measured(Measurement::time("time_per_dump", dumps.mean()))
        .saving(dumps.total())
        .evidence_all(row.lines.iter());
    advise(report, program).file();
}
