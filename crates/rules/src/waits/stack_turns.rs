//! Convoys that stacks tell: a runtime that parks each thread at an address of its own leaves no address to count. The stacks of the longer
//! waits say for what the threads park, and the account how often.

use super::semaphore_turns::{EVEN, HANDED_PER_S};
use crate::callers;
use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use hashbrown::HashMap;
use whyslow_facts::folds::locks::LockFacts;
use whyslow_facts::samples::{Site, StackWait, WaitShares};
use whyslow_facts::{Facts, ProcessId, WaitKind};
use whyslow_model::event::Tid;
use whyslow_model::{Measurement, Nanos, SampleKind, SaturatingSum, Severity, Subject};

/// The module of Java's code on a stack.
const JAVA: &str = "[java]";
/// The part of a thread's waits at futexes that is for locks, by their stacks, from which on its short ones are, too.
const MOSTLY: f64 = 0.6;

/// What one thread waits for locks.
struct Party<'f> {
    tid: Tid,
    waits: u64,
    ns: u64,
    site: Site<'f>,
}

/// Threads that wait for locks at one and the same place of the program.
struct Turns<'f>(Vec<Party<'f>>);

impl Turns<'_> {
    fn waits(&self) -> u64 {
        self.0.iter().map(|party| party.waits).saturating_sum()
    }

    fn ns(&self) -> u64 {
        self.0.iter().map(|party| party.ns).saturating_sum()
    }

    /// The mean wait for each thread that is before one in the queue.
    fn turn(&self) -> Nanos {
        let before = self.0.len().saturating_sub(1) as u64;
        self.ns().checked_div(self.waits().saturating_mul(before)).map_or(Nanos::UNKNOWN, Nanos::new)
    }

    fn fewest_by_mean(&self) -> f64 {
        let fewest = self.0.iter().map(|party| party.waits).min().unwrap_or(0);
        fewest as f64 * self.0.len() as f64 / self.waits().max(1) as f64
    }
}

/// Reports the threads of each process of Java that take turns at a lock by sleeping and waking.
#[gated]
pub(super) fn tell(facts: &Facts, out: &mut Findings<'_>) {
    let stacks = facts.samples.waits();
    for process in facts.samples.processes_of(JAVA) {
        let turns = turns_of(facts, process, &stacks);
        if let Some((share, rate)) = convoy(facts, process, &turns) {
            report(facts, out, &turns, share, rate);
        }
    }
}

/// The threads that wait for locks nearly always at one and the same place of the program.
#[gated]
fn turns_of<'f>(
    facts: &'f Facts,
    process: ProcessId,
    stacks: &HashMap<(ProcessId, Tid, Option<&str>), WaitShares>,
) -> Turns<'f> {
    let threads = facts.world.threads.iter().filter(|(_, thread)| thread.process == process);
    let of_thread = |(id, thread): (_, &'f whyslow_facts::ThreadFacts)| {
        // Stacks without the kernel's part tell no call.
        let of_call = |call| stacks.get(&(process, thread.tid, call));
        let shares = of_call(Some("futex")).or_else(|| of_call(None))?;
        let is_mostly = shares.lock_ns as f64 >= MOSTLY * shares.total_ns() as f64;
        let account = facts.accounts.of(id).filter(|one| is_mostly && one.tid == thread.tid)?;
        let waits = || account.calls.iter().filter(|time| time.key.waits == Some(WaitKind::Lock));
        let is_lock = |time: &whyslow_facts::samples::SiteTime<'_>| time.wait == Some(StackWait::Lock);
        let (site, _) = facts.samples.own_site(SampleKind::OffCpu, process, Some(thread.tid), is_lock)?;
        Some(Party {
            tid: thread.tid,
            waits: waits().map(|time| time.calls.count).saturating_sum(),
            ns: waits().map(|time| time.calls.total_ns).saturating_sum(),
            site,
        })
    };
    let mut parties: Vec<Party<'f>> = threads.filter_map(of_thread).collect();
    // The function at which most of the waiting is.
    let mut sums: HashMap<&str, u64> = HashMap::new();
    for party in &parties {
        let sum = sums.entry(party.site.function).or_default();
        *sum = sum.saturating_add(party.ns);
    }
    let most = sums.into_iter().max_by_key(|(function, ns)| (*ns, *function)).map(|(function, _)| function);
    parties.retain(|party| Some(party.site.function) == most);
    Turns(parties)
}

/// Their part of the threads' time, and how often they wait a second; `None` where they are no convoy.
#[gated]
fn convoy(facts: &Facts, process: ProcessId, turns: &Turns<'_>) -> Option<(Share, f64)> {
    let rate = facts.window.per_second(turns.waits())?;
    let tids = turns.0.iter().map(|party| party.tid);
    let share = guards::share_of_waiters(facts, Some(process), tids, turns.ns());
    (turns.0.len() >= LockFacts::TURN_WAITERS
        && turns.waits() >= LockFacts::TURNS
        && turns.turn() <= LockFacts::LONGEST_TURN
        && turns.fewest_by_mean() >= EVEN
        && rate >= HANDED_PER_S
        && share.value.is_some_and(|value| value >= guards::WARNING_SHARE))
    .then_some((share, rate))
}

fn report(facts: &Facts, out: &mut Findings<'_>, turns: &Turns<'_>, share: Share, rate: f64) {
    let (all, ns) = (turns.waits(), turns.ns());
    let Some(first) = turns.0.iter().max_by_key(|party| (party.ns, std::cmp::Reverse(party.tid))) else {
        return;
    };
    let threads =
        Measurement::count("threads", turns.0.len() as u64).at_least(LockFacts::TURN_WAITERS as f64);
    let waits = Measurement::count("waits", all).at_least(LockFacts::TURNS as f64);
    let rate = Measurement::per_second("waits_per_second", rate).at_least(HANDED_PER_S);
    let mean = Measurement::time("time_per_wait", Nanos::new(ns / all.max(1)));
    let turn =
        Measurement::time("time_per_turn", turns.turn()).at_most(LockFacts::LONGEST_TURN.or_zero() as f64);
    let waited = Measurement::time("time", Nanos::new(ns));
    let of_time = share.figure().at_least(guards::WARNING_SHARE);
    let subject = Subject {
        tid: None,
        syscall: Some("futex".to_string()),
        function: callers::function(Some(&first.site)),
        ..Subjects::thread(facts, first.tid)
    };
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let saving = format!("up to {waited} of waiting");
    out.report(
        share,
        // The figures come last: where the sentence is too long, they go first.
        format!(
            "{} take turns at a lock in {}: {waits} times, {rate} per second, {mean} a wait, by sleeping and waking",
            words::plural(turns.0.len() as u64, "thread"),
            callers::short(&first.site),
        ),
    )
    .at_most(Severity::Critical)
    .subject(subject)
    .cause(format!(
        "Each wait is short and all threads wait about equally often: the lock is held for moments, but always wanted, and each hand-over costs a wake-up and a switch. {waited} were spent so. Each thread is parked at an address of its own; the stacks of the longer waits tell that they are for a lock."
    ))
    .measured_all([threads, waits, rate, mean, turn, waited])
    .measured(Measurement::number("fewest_waits_by_mean", turns.fewest_by_mean()).at_least(EVEN))
    .measured(of_time)
    .fix("code: take it less often: gather in a buffer of the thread, hand over a batch; take several items from a queue at once")
    .fix("code: no fair lock (ReentrantLock(true), Semaphore(n, true)): it wakes a thread for each turn; LongAdder or an atomic for counters; shards")
    .fix("settings: fewer threads: as many as there are CPUs")
    .verify(format!("perf stat -e context-switches -p {pid} -- sleep 5   (switches per unit of work, before and after)"))
    .saving_text(saving)
    .file();
}
