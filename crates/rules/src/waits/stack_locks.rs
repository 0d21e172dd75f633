//! Locks that stacks tell: a runtime that parks each thread at an address of its own leaves no address to count, but the stacks of the waits
//! say that they are for a lock, and where in the program's code.

use super::lock_holder::{MIN_WAITS, SHORT_WAIT};
use super::root_holder::{self, RootHolder};
use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::guards;
use crate::{callers, words};
use hashbrown::HashMap;
use std::collections::BTreeSet;
use whyslow_facts::samples::{Site, StackWait};
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{Measurement, Nanos, SampleKind, Severity, Subject, Tid};

/// The module of Java's code on a stack.
const JAVA: &str = "[java]";

/// Waits in one function whose stacks were taken: in nearly all of its waits for locks it wants one and the same.
struct StackLock<'f> {
    process: ProcessId,
    site: Site<'f>,
    waits: u64,
    waited_ns: u64,
    threads: BTreeSet<Tid>,
}

/// Reports the lock that is waited for most in each process of Java; false where there is none.
#[gated]
pub(super) fn report(facts: &Facts, out: &mut Findings<'_>) -> bool {
    let mut found = false;
    for process in facts.samples.processes_of(JAVA) {
        let Some(lock) = most_wanted(facts, process) else { continue };
        let share =
            guards::share_of_waiters(facts, Some(process), lock.threads.iter().copied(), lock.waited_ns);
        if lock.threads.len() >= 2 && share.value.is_some_and(|value| value >= guards::WARNING_SHARE) {
            tell(facts, out, &lock, share);
            found = true;
        }
    }
    found
}

#[gated]
fn most_wanted(facts: &Facts, process: ProcessId) -> Option<StackLock<'_>> {
    let threads = facts.world.threads.iter().map(|(_, thread)| thread);
    let mut by_function: HashMap<&str, StackLock<'_>> = HashMap::new();
    for thread in threads.filter(|thread| thread.process == process) {
        for time in facts.samples.sites(SampleKind::OffCpu, process, Some(thread.tid)) {
            let Some(site) = time.site.filter(|_| time.wait == Some(StackWait::Lock)) else { continue };
            let lock = by_function.entry(site.function).or_insert_with(|| StackLock {
                process,
                site,
                waits: 0,
                waited_ns: 0,
                threads: BTreeSet::new(),
            });
            lock.waits = lock.waits.saturating_add(time.weight.count);
            lock.waited_ns = lock.waited_ns.saturating_add(time.weight.ns);
            lock.threads.insert(thread.tid);
        }
    }
    let often = by_function.into_values().filter(|lock| lock.waits >= MIN_WAITS);
    often.max_by(|a, b| (a.waited_ns, b.site.function).cmp(&(b.waited_ns, a.site.function)))
}

fn tell(facts: &Facts, out: &mut Findings<'_>, lock: &StackLock<'_>, share: guards::Share) {
    let waits = Measurement::count("waits", lock.waits).at_least(MIN_WAITS as f64);
    let waited = Measurement::time("time", Nanos::new(lock.waited_ns));
    let mean = Measurement::time("time_per_wait", Nanos::new(lock.waited_ns / lock.waits.max(1)));
    // As of locks that calls tell: what is over so soon may be the making of who looks.
    let is_short = lock.waited_ns / lock.waits.max(1) < SHORT_WAIT.or_zero();
    let of_time = share.figure().at_least(guards::WARNING_SHARE);
    let first = lock.threads.first().copied().unwrap_or(0);
    let subject = Subject {
        tid: None,
        function: Some(lock.site.function.to_string()),
        syscall: Some("futex".to_string()),
        ..Subjects::thread(facts, first)
    };
    let holder = root_holder::of(facts, |call| {
        call.process == lock.process && lock.threads.contains(&call.tid) && call.lock().is_some()
    });
    let holder = holder.filter(|holder| !lock.threads.contains(&holder.tid));
    let by = holder.as_ref().map_or(String::new(), RootHolder::words);
    // What is done under the lock is what to change.
    let function = holder.and_then(|holder| callers::function(holder.site.as_ref())).or(subject.function);
    let subject = Subject { function, ..subject };
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let own = facts.locks.iter().filter(|(process, ..)| *process == lock.process);
    let waits_of = own.filter_map(|(_, _, one)| one.longest.as_deref());
    let longest = waits_of.filter(|wait| lock.threads.contains(&wait.tid));
    let line = longest.min_by_key(|wait| (std::cmp::Reverse(wait.dur), wait.tid)).map(|wait| &wait.exemplar);
    out.report(
        share,
        format!(
            "{} wait {waited} for a lock: {waits} waits, {mean} each on average{by}",
            words::plural(lock.threads.len() as u64, "thread"),
        ),
    )
    .at_most(if is_short { Severity::Notice } else { Severity::Critical })
    .subject(subject)
    .cause(format!(
        "Each thread is parked at an address of its own, so that the calls tell no lock; the stacks of {waits} waits tell that they are for one, all in {}.",
        callers::short(&lock.site)
    ))
    .measured(Measurement::count("threads", lock.threads.len() as u64))
    .measured(waits)
    .measured(waited)
    .measured(mean)
    .measured(of_time)
    .fix(format!("see who holds it: jstack {pid}, twice within a second: who is named at `locked` where the others are `waiting to lock`"))
    .fix("code: no I/O, computing, logging or calls to others under the lock; copy what is needed, unlock, then work")
    .fix("code: split it: a lock a shard or key, ConcurrentHashMap.computeIfAbsent, an atomic reference for what is mostly read")
    .verify(format!("whyslow threads -p {pid} -d 10s"))
    .evidence(line)
    .file();
}
