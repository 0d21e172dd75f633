//! The threads of a process that answer requests, and what they wait for a CPU beside the others of its program.

use crate::gate::gated;
use crate::words;
use std::collections::BTreeSet;
use whyslow_facts::folds::requests::Side;
use whyslow_facts::{Facts, ProcessFacts, ProcessId};
use whyslow_model::{Measurement, Nanos};

/// From this part of the time that they want a CPU on, to wait for one is most of what they do.
const MOST_OF_WANTED: f64 = 0.5;
/// A shorter wait for each request is that of any busy host: a turn of the kernel's scheduler (up to 3 ms, sysctl_sched_base_slice in
/// kernel/sched/fair.c of Linux 6.6).
const MIN_EACH: Nanos = Nanos::from_millis(3);
/// Fewer requests may have met a burst.
const MIN_REQUESTS: u64 = 10;
/// Up to this part of the program's time on a CPU, its other threads and processes are who takes it.
const LITTLE_CPU: f64 = 0.2;

/// What they wait, and what they and all of the program run: the process, and the recorded ones of its name that it started, or its parent did.
pub(super) struct Answering {
    threads: u64,
    requests: u64,
    queued: u64,
    ran: u64,
    all_ran: u64,
}

impl Answering {
    /// Those of a process; `None` where it answers no requests that are known.
    #[gated]
    pub(super) fn of(facts: &Facts, process: ProcessId) -> Option<Answering> {
        let rows = facts.requests.endpoints().iter().filter(|row| row.side == Side::Server);
        let mut tids = BTreeSet::new();
        let mut requests = 0u64;
        for row in rows {
            let own = row.kept().filter(|record| record.process == process);
            let before = tids.len();
            tids.extend(own.flat_map(|record| [Some(record.tid), record.answered_by]).flatten());
            if tids.len() > before {
                requests = requests.saturating_add(row.stats.count);
            }
        }
        let mut sum = Answering { threads: 0, requests, queued: 0, ran: 0, all_ran: 0 };
        let threads = &facts.world.threads;
        let own = threads.iter().map(|(_, thread)| thread).filter(|one| {
            one.process == process || is_same_program(threads.process(one.process), threads.process(process))
        });
        for thread in own {
            let Some(time) = thread.sched.as_deref().filter(|time| time.wall().is_known()) else { continue };
            sum.all_ran = sum.all_ran.saturating_add(time.on_cpu_ns);
            if tids.contains(&thread.tid) && thread.process == process {
                sum.threads += 1;
                sum.ran = sum.ran.saturating_add(time.on_cpu_ns);
                sum.queued = sum.queued.saturating_add(time.runnable_ns.saturating_sub(time.throttled_ns));
            }
        }
        (sum.threads > 0 && sum.requests > 0).then_some(sum)
    }

    /// True where each request waits for a CPU that the other threads of the program have.
    #[gated]
    pub(super) fn are_held_up(&self) -> bool {
        let wanted = self.queued.saturating_add(self.ran).max(1) as f64;
        self.requests >= MIN_REQUESTS
            && self.queued as f64 >= MOST_OF_WANTED * wanted
            && self.queued / self.requests >= MIN_EACH.or_zero()
            && self.ran as f64 <= LITTLE_CPU * self.all_ran as f64
    }

    /// What they wait for each request.
    pub(super) fn each(&self) -> Measurement {
        Measurement::time("queued_per_request", Nanos::new(self.queued / self.requests))
    }

    /// What they wait.
    pub(super) fn sentence(&self) -> String {
        let wait = Measurement::time("queued_of_answering", Nanos::new(self.queued));
        let each = self.each();
        let threads = words::plural(self.threads, "thread");
        let (answer, wait_for) = if self.threads == 1 { ("answers", "waits") } else { ("answer", "wait") };
        format!(
            " {threads} of it that {answer} requests {wait_for} {wait} for one, {each} a request: before it is read, or while it is answered."
        )
    }
}

/// True for two processes of one program: of one name, and one started the other, or somebody started both.
fn is_same_program(one: &ProcessFacts, other: &ProcessFacts) -> bool {
    let started = |child: &ProcessFacts, by: &ProcessFacts| by.pid.is_some() && child.parent_pid == by.pid;
    let are_kin = started(one, other)
        || started(other, one)
        || one.parent_pid.is_some() && one.parent_pid == other.parent_pid;
    are_kin && one.name().is_some() && one.name() == other.name()
}
