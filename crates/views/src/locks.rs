//! The view `locks`: what threads wait for at futexes, locks of files and semaphores; who holds them, and what the holder does
//! meanwhile.

use super::rows::{finish, nothing_because};
use super::{Ask, AskError, View};
use crate::words;
use hashbrown::HashMap;
use std::collections::BTreeSet;
use whyslow_chain::Explainer;
use whyslow_facts::folds::file_locks::FileLock;
use whyslow_facts::folds::graph::LongCall;
use whyslow_facts::folds::locks::LockFacts;
use whyslow_facts::samples::{Site, SiteTime, StackWait};
use whyslow_facts::who::process_name;
use whyslow_facts::world::ids::ObjectId;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::event::Tid;
use whyslow_model::{Cell, Column, Nanos, SampleKind, Table};

/// The view.
pub(super) static VIEW: View = View {
    name: "locks",
    of_calls: true,
    summary: "locks: waits, their time, who waits, who holds them, and what the holder does meanwhile",
    by: &[],
    table,
};

/// Waits whose mean is longer than this are for one who keeps the lock, ns: no hand-over takes that long.
const LONG_HOLD_NS: u64 = 1_000_000;
/// Frames shown of a holder's stack.
const FRAMES: usize = 3;

/// What the wait-for graph has of one lock.
#[derive(Default)]
struct Ended<'a> {
    /// The threads that ended waits, with the time of those, ns.
    by: HashMap<Tid, u64>,
    /// The longest wait that somebody is known to have ended.
    longest: Option<&'a LongCall>,
}

impl Ended<'_> {
    /// Who held it for most of the waiting.
    fn holder(&self) -> Option<Tid> {
        self.by.iter().max_by_key(|(tid, ns)| (**ns, std::cmp::Reverse(**tid))).map(|(tid, _)| *tid)
    }
}

fn table(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let explainer = Explainer::new(facts);
    let mut ended: HashMap<(ProcessId, u64), Ended<'_>> = HashMap::new();
    for call in facts.graph.calls() {
        let (Some(address), Some(waker)) = (call.lock(), call.waker) else { continue };
        let known = ended.entry((call.process, address)).or_default();
        let sum: &mut u64 = known.by.entry(waker.tid).or_default();
        *sum = sum.saturating_add(call.dur().or_zero());
        let longer = |longest: &LongCall| (call.dur(), longest.from) > (longest.dur(), call.from);
        if known.longest.is_none_or(longer) {
            known.longest = Some(call);
        }
    }
    let locks = facts.locks.iter().filter(|(_, _, lock)| lock.waits + lock.changed_first > 0);
    // Conditions, queues and parking places: to wait there may be idling.
    let (locks, others): (Vec<_>, Vec<_>) = locks.partition(|(_, _, lock)| ask.verbose || is_held(lock));
    let mut rows: Vec<_> = locks
        .into_iter()
        .map(|(process, address, lock)| {
            row(&explainer, (process, address), lock, ended.get(&(process, address)))
        })
        .collect();
    rows.extend(facts.file_locks.rows.iter().filter(|lock| lock.waits > 0).map(|lock| file_row(facts, lock)));
    let mut notes: Vec<String> = nothing_because(facts, "locks").into_iter().collect();
    if !rows.is_empty() {
        notes.push(
            "kind: mutex = held and wanted by its value; other = a condition, a queue or a thread's own parking \
             place, where waiting may be idling. held by: who ended most of the waiting. meanwhile: what the longest \
             wait goes back to. held for: the slow call in which the waker was while others slept. waits at, held at: the \
             line of the program's own code where the waiters wait for locks most, and where the holder spends most of its \
             other time."
                .to_string(),
        );
    }
    if !others.is_empty() {
        let many = words::plural(others.len() as u64, "place");
        notes.push(format!(
            "Not shown: {many} where threads wait for a condition, a queue or to be unparked (-v shows all)."
        ));
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
            Column::optional("mean", "mean", 2),
            Column::optional("longest", "longest", 2),
            Column::optional("waiters", "waiters", 3),
            Column::optional("verdict", "verdict", 1),
            Column::optional("waits_at", "waits at", 1),
            Column::optional("holder", "held by", 1),
            Column::optional("held_at", "held at", 1),
            Column::optional("meanwhile", "meanwhile", 1),
            Column::optional("code", "holder's code", 3),
            Column::optional("timed_out", "timed out", 5),
            Column::optional("changed_first", "changed first", 6),
            Column::optional("waker", "woken by", 4),
            Column::optional("held_for", "held for", 4),
        ],
        rows,
        total: None,
        notes,
    };
    finish(table, ask, if facts.has_times() { "total" } else { "waits" })
}

/// True where one has what others wait for: by its value, or as it goes round among those who wait.
fn is_held(lock: &LockFacts) -> bool {
    lock.mutex_waits > 0 || lock.is_passed_on() || lock.waits == 0
}

fn row(
    explainer: &Explainer<'_>,
    (process, address): (ProcessId, u64),
    lock: &LockFacts,
    ended: Option<&Ended<'_>>,
) -> Vec<Cell> {
    let facts = explainer.facts();
    let held = lock.held_across.iter().max_by_key(|held| held.wait_ns);
    let held_in = held.map(|held| facts.name_of(held.syscall));
    let held = held.map(|held| {
        let call = facts.name_of(held.syscall);
        held.target.as_deref().map_or(call.to_string(), |target| format!("{call} {target}"))
    });
    let holder = ended.and_then(Ended::holder).or_else(|| lock.main_waker().map(|waker| waker.tid));
    vec![
        Cell::Text(process_name(facts, process)),
        Cell::Text(format!("{address:#x}")),
        Cell::Text(if lock.is_mutex() { "mutex" } else { "other" }.to_string()),
        Cell::Count(lock.waits),
        Cell::duration(lock.waited()),
        Cell::duration(lock.mean()),
        Cell::duration(lock.longest.as_ref().map_or(Nanos::UNKNOWN, |wait| wait.dur)),
        Cell::Count(lock.waiters.len() as u64),
        Cell::text(verdict(lock)),
        Cell::text({
            let waiters = lock.waiters.iter().map(|waiter| waiter.tid);
            waits_at(facts, process, waiters, &["futex"], &format!("{address:#x}"))
        }),
        Cell::text(holder.map(|tid| explainer.who(tid))),
        Cell::text(holder.and_then(|tid| held_at(facts, process, tid, held_in))),
        Cell::text(ended.and_then(|ended| ended.longest).and_then(|call| meanwhile(explainer, call))),
        Cell::text(holder.and_then(|tid| code(facts, process, tid))),
        Cell::Count(lock.timed_out),
        Cell::Count(lock.changed_first),
        Cell::text(lock.main_waker().map(|waker| waker.tid.to_string())),
        Cell::text(held),
    ]
}

/// Whether many hand it on or one keeps it; of what may be idling nothing is said.
fn verdict(lock: &LockFacts) -> Option<&'static str> {
    match lock.mean().get() {
        _ if !lock.is_mutex() => None,
        _ if lock.is_handed_in_turns() => Some("convoy"),
        Some(mean) if mean >= LONG_HOLD_NS => Some("long hold"),
        Some(_) => Some("short waits"),
        None => None,
    }
}

/// What a wait goes back to, in other threads than its own.
fn meanwhile(explainer: &Explainer<'_>, call: &LongCall) -> Option<String> {
    let path = explainer.path(call.tid, call.from, call.to);
    let chain = explainer.chain(&path);
    let last = chain.last().filter(|_| chain.len() > 1)?;
    Some(format!("{}: {} ({})", last.who, last.waits_for, last.ns))
}

/// The part of the stacks that a line must have to be told.
const MOSTLY: f64 = 0.5;

/// Where in the program's own code threads wait for this lock most, in these calls: `store.py:88 save_row`. Where no call is known for the
/// stacks it is the line of the lock that the threads wait for longest.
fn waits_at(
    facts: &Facts,
    process: ProcessId,
    waiters: impl Iterator<Item = Tid>,
    calls: &[&str],
    lock: &str,
) -> Option<String> {
    let threads: BTreeSet<(ProcessId, Tid)> = waiters.map(|tid| (process, tid)).collect();
    let is_wait = |time: &SiteTime<'_>| {
        time.wait == Some(StackWait::Lock)
            || time.wait.is_none() && time.call.is_some_and(|call| calls.contains(&call))
    };
    let objects: Vec<ObjectId> = facts.accounts.objects.of_name(lock).collect();
    let own = |time: &SiteTime<'_>| is_wait(time) && objects.contains(&time.object);
    let found = facts.samples.own_site_of(SampleKind::OffCpu, &threads, own);
    let found = found.or_else(|| facts.samples.own_site_of(SampleKind::OffCpu, &threads, is_wait));
    found.filter(|(_, part)| *part >= MOSTLY).map(|(site, _)| site.listed())
}

/// Where in the program's own code a thread spends its time while others wait for what it holds: in the slow call that it is seen to make
/// then, else of all that it does but waiting for locks and for work the one line that has most of it.
fn held_at(facts: &Facts, process: ProcessId, tid: Tid, held_in: Option<&str>) -> Option<String> {
    let in_call = held_in.and_then(|call| {
        let found =
            facts.samples.own_site(SampleKind::OffCpu, process, Some(tid), |time| time.call == Some(call));
        found.filter(|(_, part)| *part >= MOSTLY)
    });
    if let Some((site, _)) = in_call {
        return Some(site.listed());
    }
    let times = |kind| facts.samples.sites(kind, process, Some(tid));
    let waits = times(SampleKind::OffCpu);
    let elsewhere = waits.iter().filter(|time| !matches!(time.wait, Some(StackWait::Lock | StackWait::Work)));
    let runs = times(SampleKind::OnCpu);
    let mut sums: HashMap<Site<'_>, u64> = HashMap::new();
    for (site, ns) in elsewhere.chain(&runs).filter_map(|time| Some((time.site?, time.weight.ns))) {
        let sum: &mut u64 = sums.entry(site).or_default();
        *sum = sum.saturating_add(ns);
    }
    let all = sums.values().fold(0u64, |sum, ns| sum.saturating_add(*ns));
    let most = sums.into_iter().max_by(|a, b| (a.1, b.0).cmp(&(b.1, a.0)));
    most.filter(|(_, ns)| *ns as f64 >= MOSTLY * all as f64).map(|(site, _)| site.listed())
}

/// Where a thread runs or waits most, but for its own waits at locks.
fn code(facts: &Facts, process: ProcessId, tid: Tid) -> Option<String> {
    let elsewhere = |frames: &[&str]| !frames.iter().any(|frame| frame.contains("futex"));
    [SampleKind::OnCpu, SampleKind::OffCpu].into_iter().find_map(|kind| {
        let (frames, _) = facts.samples.heaviest(kind, process, Some(tid), elsewhere)?;
        Some(frames.iter().take(FRAMES).copied().collect::<Vec<_>>().join(" < "))
    })
}

fn file_row(facts: &Facts, lock: &FileLock) -> Vec<Cell> {
    let (waiter, kind) = (lock.waiters.first().map(|(tid, _)| *tid), facts.name_of(lock.syscall));
    let threads = || facts.world.threads.iter().map(|(_, thread)| thread);
    let process = waiter.and_then(|tid| threads().find(|thread| thread.tid == tid));
    let longest = lock.longest.as_ref().map_or(Nanos::UNKNOWN, |longest| longest.0.dur);
    vec![
        Cell::text(process.map(|thread| process_name(facts, thread.process))),
        Cell::Text(lock.name.to_string()),
        Cell::Text(kind.to_string()),
        Cell::Count(lock.waits),
        Cell::duration(lock.waited()),
        Cell::duration(Nanos::new(lock.wait_ns / lock.waits.max(1))),
        Cell::duration(longest),
        Cell::Count(lock.waiters.len() as u64),
        Cell::Unknown,
        Cell::text(process.and_then(|thread| {
            let waiters = lock.waiters.iter().map(|(tid, _)| *tid);
            waits_at(facts, thread.process, waiters, &["flock", "fcntl", "semop", "semtimedop"], &lock.name)
        })),
        Cell::text(lock.main_holder().map(|(tid, _)| format!("thread {tid}"))),
        Cell::text(lock.main_holder().and_then(|(tid, _)| {
            let holder = threads().find(|thread| thread.tid == tid)?;
            held_at(facts, holder.process, tid, None)
        })),
        Cell::Unknown,
        Cell::Unknown,
        Cell::Unknown,
        Cell::Unknown,
        Cell::Unknown,
        Cell::Unknown,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Call, Event, Ret, Sink, Timestamp};

    #[test]
    fn where_waiting_may_be_idling_is_shown_if_asked_for() {
        let mut facts = Facts::default();
        // A mutex, by its value, and the parking place of a thread.
        for (at, args) in (1u64..).zip(["0x10, FUTEX_WAIT, 2, NULL", "0x20, FUTEX_WAIT, 57, NULL"]) {
            let mut call = Call::new("futex", args);
            (call.tid, call.pid, call.ret) = (7, Some(7), Ret::Value(0));
            (call.ts, call.dur) = (Timestamp::new(at * 1_000_000_000), Nanos::from_millis(500));
            facts.push(Event::Call(&call));
        }
        facts.finish();
        let shown = |verbose: bool| VIEW.of(&facts, &Ask { verbose, ..Ask::default() }).unwrap();
        let (few, all) = (shown(false), shown(true));
        assert_eq!((few.rows.len(), all.rows.len()), (1, 2));
        assert!(few.notes.iter().any(|note| note.contains("Not shown: 1 place where")), "{:?}", few.notes);
        assert!(!all.notes.iter().any(|note| note.contains("Not shown")), "{:?}", all.notes);
    }
}
