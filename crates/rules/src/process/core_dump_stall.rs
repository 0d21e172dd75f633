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

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards;
use whyslow_facts::Facts;
use whyslow_facts::core_dumps::Dumped;
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
    for row in rows {
        report(facts, out, row);
    }
}

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
    out.report(share, format!("{who} waits for {count} {times} of {program}, which {signal} kills: {took} in all, {longest} the longest"))
        .subject(Subject { path: Some(program.to_string()), ..subject })
        .cause(format!(
            "From {signal} to the end of {program} the kernel writes its memory to a core file, and the parent is told only then. What kills it is the fault to mend; the time is that of the cores."
        ))
        .measured(count)
        .measured(took)
        .measured(longest)
        .measured(Measurement::time("time_per_dump", dumps.mean()))
        .fix(format!("mend what kills {program}: coredumpctl gdb, or gdb {program} core, then bt"))
        .fix("limit cores once you have one: ulimit -c 0, LimitCORE=0 (systemd), --ulimit core=0 (docker), hard limits in /etc/security/limits.d")
        .fix("make them smaller: echo 0x21 > /proc/PID/coredump_filter leaves shared memory out; madvise(MADV_DONTDUMP) for caches; systemd-coredump: ProcessSizeMax=, Compress=yes")
        .verify("coredumpctl list;  cat /proc/sys/kernel/core_pattern;  perf trace -e exit_group,wait4 -p PID")
        .saving(dumps.total())
        .evidence_all(row.lines.iter())
        .file();
}
