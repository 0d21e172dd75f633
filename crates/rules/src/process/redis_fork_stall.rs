//! # redis-fork-stall
//!
//! ## What it is
//! A server with its data in memory (Redis, Valkey, KeyDB) forks to write a snapshot or to rewrite its log, and stands still until the kernel
//! has copied its page tables.
//!
//! ## Why it is slow
//! Redis answers in one thread: during the fork nobody is answered, 10 ms and more for each GB. Then each page that is written while the child
//! writes its snapshot is copied first; with transparent huge pages 2 MB for each.
//!
//! ## Example
//! ```text
//! clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f2c90) = 812 <0.083000>
//! ```
//!
//! ## What to do instead
//! Let a replica write the snapshots (`save ""` on the primary), or write them less often. Switch transparent huge pages off for it
//! (`disable-thp yes`, or `echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`). Split the data over several smaller instances.
//!
//! ## When it is wrong
//! With little data the fork takes less than 10 ms, which no client notices: it is quiet. One long fork in a long time is a notice. Servers that
//! fork for each client, and children that execute a program, are others' business (`fork-large-rss`).

use super::forking;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards;
use whyslow_facts::folds::peers::Role;
use whyslow_facts::{Facts, Forks, ProcessId};
use whyslow_model::{Measurement, Nanos, SaturatingSum, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "redis-fork-stall",
    group: "process",
    summary: "a server with its data in memory stands still while it forks for a snapshot",
    source: include_str!("redis_fork_stall.rs"),
    needs: &[Need::Durations, Need::AnyOf(&["fork", "clone", "clone3"])],
    check,
};

/// A fork from which on clients notice: quicker ones are lost among the answers (Redis's own latency monitor is told of 100 ms, its guide
/// speaks of 10 to 20 ms for each GB).
const LONG: Nanos = Nanos::from_millis(10);
/// More snapshots than these for each second are no snapshots: a server that forks for each client.
const MAX_PER_S: f64 = 5.0;
/// Programs that do so, by how their names begin.
const STORES: &[&str] = &["redis", "valkey", "keydb", "redict", "kvrocks", "rdb-check"];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut parents: Vec<(ProcessId, &Forks)> = facts
        .spawns
        .by_parent
        .iter()
        .filter(|(process, forks)| stalls(facts, **process, forks))
        .map(|(process, forks)| (*process, forks))
        .collect();
    parents.sort_by_key(|(process, forks)| (std::cmp::Reverse(forks.copies.total_ns), *process));
    for (process, forks) in parents {
        report(facts, out, process, forks);
    }
}

/// True for a store that serves clients and forks for a while without executing anything in the child.
#[gated]
fn stalls(facts: &Facts, process: ProcessId, forks: &Forks) -> bool {
    let name = facts.world.threads.process(process).program().unwrap_or_default();
    let is_store = STORES.iter().any(|store| name.starts_with(store));
    let clients =
        facts.peers.by_process().filter(|peer| peer.role == Role::Client && peer.process == Some(process));
    let serves = clients.map(|peer| peer.requests).saturating_sum() > 0;
    let rate = whyslow_facts::window::per_second(forks.copies.count, forks.first, forks.last);
    let copies_alone = forks.execs() == 0 && serves && rate.is_none_or(|rate| rate < MAX_PER_S);
    let longest = forks.copies.max();
    (is_store || copies_alone) && longest.is_known() && longest >= LONG
}

fn report(facts: &Facts, out: &mut Findings<'_>, process: ProcessId, forks: &Forks) {
    let copies = &forks.copies;
    let on_write = forking::on_cpu(facts, process, forking::COPIES_ON_WRITE);
    let time = Nanos::new(copies.total_ns.saturating_add(on_write));
    let tid = Some(forks.tid).filter(|_| !forks.shared);
    let share = guards::share_of_ns(facts, tid, time, copies.count);
    let count = Measurement::count("forks", copies.count);
    let longest = Measurement::time("longest", copies.max()).at_least(LONG.or_zero() as f64);
    let took = Measurement::time("time", copies.total());
    let faults = (on_write > 0).then(|| Measurement::time("time_of_copies_on_write", Nanos::new(on_write)));
    let behind = faults.as_ref().map_or(String::new(), |time| {
        format!(" Copies of pages that it wrote to while the child lived took {time} more.")
    });
    let resident = forking::resident(facts, process);
    let memory =
        resident.as_ref().map_or(String::new(), |bytes| format!(" It has {bytes} of resident memory."));
    let subject = Subjects::thread(facts, forks.tid);
    let who = facts.world.threads.process(process).name().map(str::to_string).or(subject.comm.clone());
    let who = who.unwrap_or_else(|| "the server".to_string());
    let times = if copies.count == 1 { "time" } else { "times" };
    out.report(
        share,
        format!("{who} stands still while it forks, {count} {times}: {longest} at the longest, {took} in all"),
    )
    .subject(Subject { syscall: Some("clone/clone3/fork".to_string()), ..subject })
    .cause(format!(
        "The child executes nothing: it is a copy of the server that writes its data out. Until the kernel has copied the page tables, the thread that forks answers nobody.{memory}{behind}"
    ))
    .measured(count)
    .measured(longest)
    .measured(took)
    .measured_all(faults)
    .measured_all(resident)
    .fix("let a replica write snapshots and logs: save \"\" and appendonly no on the primary; or write them less often (save 3600 1, auto-aof-rewrite-percentage 200)")
    .fix("no transparent huge pages for it: disable-thp yes (Redis 6.2 and later), or echo madvise > /sys/kernel/mm/transparent_hugepage/enabled")
    .fix("less memory for each process: several smaller instances (a cluster), a shorter life of keys")
    .verify("redis-cli info stats | grep latest_fork_usec;  redis-cli --latency-history;  perf trace -s -e clone -p PID")
    .saving(time)
    .evidence_all(forks.copy_lines.iter())
    .file();
}
