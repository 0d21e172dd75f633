//! The view `locks`: what threads wait for at futexes, who holds them, and during which calls.

use super::rows::{finish, nothing_because, process_name};
use super::{Ask, AskError, View};
use crate::facts::locks::LockFacts;
use crate::facts::{Facts, ProcessId};
use whyslow_model::{Cell, Column, Table};

/// The view.
pub(super) static VIEW: View = View {
    name: "locks",
    summary: "futexes: waits, their time, who waits, who wakes, and what locks are held for",
    by: &[],
    table,
};

fn table(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let rows: Vec<_> = facts
        .locks
        .iter()
        .filter(|(_, _, lock)| lock.waits + lock.changed_first > 0)
        .map(|(process, address, lock)| row(facts, process, address, lock))
        .collect();
    let mut notes: Vec<String> = nothing_because(facts, "locks").into_iter().collect();
    if !rows.is_empty() {
        notes.push(
            "kind: mutex = held and wanted by its value; other = a condition, a queue or a thread's own parking \
             place, where waiting may be idling. held for: the slow call in which the waker was while others slept."
                .to_string(),
        );
    }
    if facts.locks.merged_addresses > 0 {
        notes.push(format!("{} addresses with little waiting are left out.", facts.locks.merged_addresses));
    }
    let table = Table {
        name: VIEW.name,
        question: "Which locks do threads wait for, and who holds them?".to_string(),
        columns: vec![
            Column::new("process", "process"),
            Column::new("lock", "lock"),
            Column::new("kind", "kind"),
            Column::new("waits", "waits"),
            Column::new("total", "total"),
            Column::optional("mean", "mean", 1),
            Column::optional("longest", "longest", 2),
            Column::optional("waiters", "waiters", 3),
            Column::optional("timed_out", "timed out", 5),
            Column::optional("changed_first", "changed first", 6),
            Column::optional("waker", "woken by", 2),
            Column::optional("held_for", "held for", 1),
        ],
        rows,
        total: None,
        notes,
    };
    finish(table, ask, if facts.has_times() { "total" } else { "waits" })
}

fn row(facts: &Facts, process: ProcessId, address: u64, lock: &LockFacts) -> Vec<Cell> {
    let mutex = lock.mutex_waits * 2 >= lock.waits && lock.mutex_waits > 0;
    let held = lock.held_across.iter().max_by_key(|held| held.wait_ns).map(|held| {
        let call = facts.name_of(held.syscall);
        held.target.as_deref().map_or(call.to_string(), |target| format!("{call} {target}"))
    });
    vec![
        Cell::Text(process_name(facts, process)),
        Cell::Text(format!("{address:#x}")),
        Cell::Text(if mutex { "mutex" } else { "other" }.to_string()),
        Cell::Count(lock.waits),
        Cell::duration(lock.waited()),
        Cell::duration(lock.mean()),
        Cell::duration(lock.longest.as_ref().map_or(whyslow_model::Nanos::UNKNOWN, |wait| wait.dur)),
        Cell::Count(lock.waiters.len() as u64),
        Cell::Count(lock.timed_out),
        Cell::Count(lock.changed_first),
        Cell::text(lock.main_waker().map(|waker| waker.tid.to_string())),
        Cell::text(held),
    ]
}
