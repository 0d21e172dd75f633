//! What threads wait for while calls are not recorded: by the waits that were recorded of them before, else by the stacks of their waits,
//! whose kernel functions name the call; where these are few, by those of all threads of their role, which do the same.

use crate::parts::{Part, Wait, Waits};
use crate::roles::{Role, Roles};
use crate::states::{self, Owner};
use hashbrown::HashMap;
use whyslow_facts::exemplar::Exemplars;
use whyslow_facts::folds::account::{CallKey, CallTime, ObjectKind, Parts, SleepRounds};
use whyslow_facts::samples::Weight;
use whyslow_facts::world::ids::ObjectId;
use whyslow_facts::{Facts, ProcessId, WaitKind};
use whyslow_model::event::Tid;
use whyslow_model::{CallStats, Known, SaturatingSum, Syscall, TimeState};

/// Waits that are a sample: 100 tell a share of a half within a tenth (binomial, two deviations).
pub(crate) const SAMPLE: u64 = 100;
/// Of so many, all in one call, another call has less than 15 % (the rule of three, 95 %).
const ALIKE: u64 = 20;
/// Stacks of waits that are one: of as many, all in one call, that call has half of the waits at least (0.5^5 is 3 %).
const STACKS: u64 = 5;
/// Fewer do where they are of so much of the time in question.
const MOST_OF_IT: f64 = 0.5;

/// A way in which a thread waits, with its part of the waits.
struct Way<'a> {
    key: CallKey,
    time: Option<&'a CallTime>,
    state: TimeState,
    ns: u64,
    /// The part of it that is waiting for work.
    idle: f64,
}

/// How a thread waits.
pub(crate) struct Unseen<'a> {
    process: ProcessId,
    tid: Tid,
    ways: Vec<Way<'a>>,
    /// All of it, also what no call is known of, ns.
    whole_ns: u64,
}

impl<'a> Unseen<'a> {
    /// `None` where calls were recorded all the time, and where too little is known of how the thread waits. `unseen_ns` is what it waited
    /// in calls that nobody recorded.
    pub(crate) fn of(
        facts: &'a Facts,
        (process, tid): (ProcessId, Tid),
        owner: Owner,
        stacks: &WaitStacks<'a>,
        waits: &[Wait<'a>],
        unseen_ns: u64,
    ) -> Option<Unseen<'a>> {
        let recorded: u64 = waits.iter().map(|wait| wait.time.calls.count).saturating_sum();
        let is_one_way = waits.windows(2).all(|pair| pair[0].time.key.syscall == pair[1].time.key.syscall);
        let enough = if is_one_way { ALIKE } else { SAMPLE };
        if facts.recording.gave_up_calls() && recorded >= enough {
            let ways = waits.iter().map(|wait| Way {
                key: wait.time.key,
                time: Some(wait.time),
                state: wait.state,
                ns: wait.asleep_ns,
                idle: wait.idle,
            });
            let ways: Vec<Way<'a>> = ways.collect();
            let whole_ns = ways.iter().map(|way| way.ns).saturating_sum();
            return (whole_ns > 0).then_some(Unseen { process, tid, ways, whole_ns });
        }
        let StackCalls { calls, whole_ns, .. } = stacks.of(process, tid, unseen_ns)?;
        let mut ways = Vec::new();
        for (call, name, ns) in calls {
            let (call, name, ns) = (*call, *name, *ns);
            let alike = || waits.iter().filter(|wait| wait.time.key.syscall == call && wait.asleep_ns > 0);
            let asleep = alike().map(|wait| wait.asleep_ns).saturating_sum();
            if asleep > 0 {
                ways.extend(alike().map(|wait| Way {
                    key: wait.time.key,
                    time: Some(wait.time),
                    state: wait.state,
                    ns: part(ns, wait.asleep_ns, asleep),
                    idle: wait.idle,
                }));
            } else {
                ways.push(unrecorded(call, ns, owner, &stacks.shares, (process, tid, name)));
            }
        }
        Some(Unseen { process, tid, ways, whole_ns: *whole_ns })
    }

    /// Gives out that much: parts, and what of it was waiting for work, ns. What is left nobody knows.
    pub(crate) fn give_out(&self, ns: u64) -> (Vec<Part<'a>>, u64) {
        let (mut parts, mut idle_ns) = (Vec::new(), 0u64);
        for way in &self.ways {
            let ns = part(ns, way.ns, self.whole_ns);
            let idle = ((ns as f64 * way.idle) as u64).min(ns);
            idle_ns = idle_ns.saturating_add(idle);
            if ns > idle {
                let part = Part::new(self.process, self.tid, way.state, ns - idle).in_call(way.key, way.time);
                parts.push(Part { known: Known::InProportion, ..part });
            }
        }
        (parts, idle_ns)
    }
}

/// In which calls threads waited by their stacks.
#[derive(Default)]
struct StackCalls<'a> {
    calls: Vec<(Syscall, &'a str, u64)>,
    /// With those whose stacks tell no call, ns.
    whole_ns: u64,
    /// Stacks.
    count: u64,
}

impl<'a> StackCalls<'a> {
    fn add(&mut self, name: Option<&'a str>, weight: Weight) {
        self.whole_ns = self.whole_ns.saturating_add(weight.ns);
        self.count = self.count.saturating_add(weight.count);
        let named = name.and_then(|name| Some((Syscall::lookup(name.as_bytes())?, name)));
        let Some((call, name)) = named else { return };
        match self.calls.iter_mut().find(|(known, ..)| *known == call) {
            Some((.., ns)) => *ns = ns.saturating_add(weight.ns),
            None => self.calls.push((call, name, weight.ns)),
        }
    }
}

/// What the stacks of waits tell: of single threads, and of all threads that do the same.
pub(crate) struct WaitStacks<'a> {
    /// By what they wait for.
    pub(crate) shares: Waits<'a>,
    roles: Roles<'a>,
    of_threads: HashMap<(ProcessId, Tid), StackCalls<'a>>,
    of_roles: HashMap<Role, StackCalls<'a>>,
}

impl<'a> WaitStacks<'a> {
    pub(crate) fn new(facts: &'a Facts) -> WaitStacks<'a> {
        let (roles, shares) = (Roles::new(facts), facts.samples.waits());
        let mut all = WaitStacks { shares, roles, of_threads: HashMap::new(), of_roles: HashMap::new() };
        // Where calls were recorded all the time, what is in none of them is no call.
        if !facts.recording.is_partial() {
            return all;
        }
        for ((process, tid), calls) in facts.samples.waits_by_call() {
            let of_role = all.of_roles.entry(all.roles.of(process, tid)).or_default();
            let of_thread = all.of_threads.entry((process, tid)).or_default();
            for (name, weight) in calls {
                of_role.add(name, weight);
                of_thread.add(name, weight);
            }
        }
        for of in all.of_threads.values_mut().chain(all.of_roles.values_mut()) {
            of.calls.sort_by_key(|(call, _, ns)| (std::cmp::Reverse(*ns), call.0));
        }
        all
    }

    /// Of one thread where there are enough, else of all of its role.
    fn of(&self, process: ProcessId, tid: Tid, unseen_ns: u64) -> Option<&StackCalls<'a>> {
        let own = self
            .of_threads
            .get(&(process, tid))
            .filter(|of| of.count >= STACKS || of.whole_ns as f64 >= MOST_OF_IT * unseen_ns as f64);
        let of_role = || self.of_roles.get(&self.roles.of(process, tid)).filter(|of| of.count >= STACKS);
        own.or_else(of_role).filter(|of| of.whole_ns > 0)
    }
}

/// What sleep that no signal ends was for, outside of the calls that were recorded: for pages, as long as each call was recorded; else by the
/// stacks of such waits, else by the calls that were recorded, of so many that they are a sample.
pub(crate) fn uninterruptible<'a>(
    facts: &'a Facts,
    (process, tid): (ProcessId, Tid),
    calls: &'a [CallTime],
    stacks: &WaitStacks<'a>,
    ns: u64,
) -> Vec<Part<'a>> {
    let plain = |state, ns| Part::new(process, tid, state, ns);
    if ns == 0 {
        return Vec::new();
    }
    if !facts.recording.is_partial() {
        return vec![plain(TimeState::PageFault, ns)];
    }
    let slept = || calls.iter().filter(|time| time.parts.uninterruptible_ns > 0);
    let state_of = |time: &CallTime| {
        states::of_sleeping_work(time.key, facts.accounts.objects.get(time.key.object).kind)
    };
    // Of a way to sleep: how much of the whole it is, and as what it is told.
    let mut ways: Vec<(u64, Part<'a>)> = Vec::new();
    if let Some(of) = stacks.of(process, tid, ns) {
        // Calls that wait for somebody sleep so that a signal ends it.
        let working = of.calls.iter().filter(|(call, ..)| WaitKind::of_name(*call).is_none());
        for (call, _, ns) in working {
            let like = slept().filter(|time| time.key.syscall == *call);
            let part = match like.max_by_key(|time| time.parts.uninterruptible_ns) {
                Some(time) => plain(state_of(time), 0).in_call(time.key, Some(time)),
                None => {
                    let key = CallKey { syscall: *call, waits: None, object: ObjectId::NONE };
                    plain(states::of_sleeping_work(key, ObjectKind::Nothing), 0).in_call(key, None)
                }
            };
            ways.push((*ns, part));
        }
        let in_calls = of.calls.iter().map(|(.., ns)| *ns).saturating_sum();
        ways.push((of.whole_ns.saturating_sub(in_calls), plain(TimeState::PageFault, 0)));
    }
    ways.retain(|(ns, _)| *ns > 0);
    let recorded = slept().map(|time| time.calls.count).saturating_sum();
    if ways.is_empty() && recorded >= SAMPLE {
        let of_call = |time: &'a CallTime| plain(state_of(time), 0).in_call(time.key, Some(time));
        ways.extend(slept().map(|time| (time.parts.uninterruptible_ns, of_call(time))));
    }
    let whole = ways.iter().map(|(ns, _)| *ns).saturating_sum();
    let given =
        ways.into_iter().map(|(of, way)| Part { ns: part(ns, of, whole), known: Known::InProportion, ..way });
    let mut parts: Vec<Part<'a>> = given.filter(|part| part.ns > 0).collect();
    let left = ns - parts.iter().map(|part| part.ns).saturating_sum();
    // Where calls were at least counted it was in none that took long.
    let rest = if facts.recording.gave_up_calls() { TimeState::Unknown } else { TimeState::PageFault };
    parts.push(plain(rest, left));
    parts.retain(|part| part.ns > 0);
    parts
}

/// Waits in a call of which none was recorded.
fn unrecorded<'a>(
    call: Syscall,
    ns: u64,
    owner: Owner,
    stacks: &Waits<'a>,
    (process, tid, name): (ProcessId, Tid, &'a str),
) -> Way<'a> {
    let waits = WaitKind::of_name(call);
    let key = CallKey { syscall: call, waits, object: ObjectId::NONE };
    let stacks = stacks.get(&(process, tid, Some(name)));
    let state = states::of_stacks(states::of_wait(waits, ObjectKind::Nothing), waits, stacks);
    // What they would have looked like.
    let time = CallTime {
        key,
        calls: CallStats::NONE,
        parts: Parts { blocked_ns: ns, ..Parts::default() },
        short_ns: 0,
        held_ns: 0,
        pace: SleepRounds::default(),
        under_way: false,
        is_at_most: false,
        exemplars: Exemplars::default(),
    };
    let idle = states::for_work(state, ObjectKind::Nothing, &time, ns, ns, owner, stacks).min(ns);
    Way { key, time: None, state, ns, idle: idle as f64 / ns.max(1) as f64 }
}

/// `ns * of / whole`.
fn part(ns: u64, of: u64, whole: u64) -> u64 {
    (u128::from(ns) * u128::from(of) / u128::from(whole.max(1))) as u64
}
