//! What a thread did at a moment, in the words of the account: for timelines, which are written while the input is read. Which waits
//! are for work is known once all of it was.

use crate::parts::Waits;
use crate::{roles, states, threads};
use hashbrown::HashMap;
use whyslow_facts::Facts;
use whyslow_facts::folds::account::{CallKey, CallTime, CutTime, ObjectKind, Parts, ThreadAccount};
use whyslow_model::event::Tid;
use whyslow_model::{Nanos, TimeState};

/// The state of a call that took so long: what it waits for, or that it works.
pub fn state_of_call(key: CallKey, object: ObjectKind, took: Nanos) -> TimeState {
    match key.waits {
        Some(_) => states::of_wait(key.waits, object),
        None => states::of_work(key.syscall, object, took),
    }
}

/// The parts of a piece of time by their states, ns. They add up to its parts.
pub fn states_of_cut(cut: &CutTime, object: ObjectKind) -> [(TimeState, u64); 6] {
    let Parts { on_cpu_ns, runnable_ns, blocked_ns, uninterruptible_ns, unsplit_ns, unknown_ns } = cut.parts;
    let [ran, blocked, uninterruptible, unsplit] = match cut.key {
        Some(key) => {
            let waits = states::of_wait(key.waits, object);
            let took = Nanos::new(cut.to.saturating_sub(cut.from));
            [TimeState::Kernel, waits, waits, state_of_call(key, object, took)]
        }
        None => [TimeState::User, TimeState::Unknown, TimeState::PageFault, TimeState::BetweenCalls],
    };
    [
        (ran, on_cpu_ns),
        (TimeState::RunQueue, runnable_ns),
        (blocked, blocked_ns),
        (uninterruptible, uninterruptible_ns),
        (unsplit, unsplit_ns),
        (TimeState::Unknown, unknown_ns),
    ]
}

/// The role of a thread within its process: its name without a number; `None` for one that has the name of its process.
pub fn role_of_thread(comm: Option<&str>, process: &str) -> Option<String> {
    roles::of_thread(comm, process)
}

/// Which waits of which threads are for work, most of their time.
#[derive(Debug, Default)]
pub struct WorkWaits {
    /// What was waited for work, and what was waited in all, ns.
    times: HashMap<(Tid, TimeState), (u64, u64)>,
}

impl WorkWaits {
    /// Of finished facts, and of those that are kept apart.
    pub fn of(facts: &Facts) -> WorkWaits {
        let mut waits = WorkWaits::default();
        waits.add(facts);
        if let Some(apart) = facts.followed.apart() {
            waits.add(apart);
        }
        waits
    }

    /// True where a thread waits in that state for work.
    pub fn is_for_work(&self, tid: Tid, state: TimeState) -> bool {
        self.times.get(&(tid, state)).is_some_and(|(work, all)| *work > all / 2)
    }

    fn add(&mut self, facts: &Facts) {
        let owners = threads::owners(facts);
        let stacks = facts.samples.waits();
        let live = facts
            .world
            .threads
            .iter()
            .filter_map(|(id, thread)| facts.accounts.of(id).filter(|account| account.tid == thread.tid));
        for account in live.chain(facts.accounts.ended()) {
            let owner = owners.get(&account.process).copied().unwrap_or_default();
            self.thread(facts, account, owner, &stacks);
        }
    }

    fn thread(&mut self, facts: &Facts, account: &ThreadAccount, owner: states::Owner, stacks: &Waits<'_>) {
        let told_ns = account.total();
        for time in &account.calls {
            let object = facts.accounts.objects.get(time.key.object).kind;
            let state = states::of_wait(time.key.waits, object);
            let call = Some(facts.name_of(time.key.syscall));
            let stacks = stacks.get(&(account.process, account.tid, call));
            let told = states::of_stacks(state, time.key.waits, stacks);
            let waited = waited_ns(time);
            let work = states::for_work(told, object, time, waited, told_ns, owner, stacks).min(waited);
            let (of_work, all) = self.times.entry((account.tid, state)).or_default();
            *of_work = of_work.saturating_add(work);
            *all = all.saturating_add(waited);
        }
    }
}

fn waited_ns(time: &CallTime) -> u64 {
    let Parts { blocked_ns, uninterruptible_ns, unsplit_ns, .. } = time.parts;
    let waited = blocked_ns.saturating_add(uninterruptible_ns);
    if time.key.waits.is_some() { waited.saturating_add(unsplit_ns) } else { waited }
}
