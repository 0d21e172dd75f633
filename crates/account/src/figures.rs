//! What the kernel's counters of single threads (schedstat) tell of their time on a CPU and without one: they split what a trace
//! of calls leaves open, and make an account of their own where no call was traced.

use hashbrown::HashMap;
use whyslow_facts::Facts;
use whyslow_facts::host::Thing;
use whyslow_model::event::Tid;
use whyslow_model::{
    AccountRow, Demand, Entity, Known, Metric, SaturatingSum, TimeAccount, TimeOf, TimeState,
};

/// The tool whose figures are of single threads, and of all of their time.
const TOOL: &str = "/proc/PID/schedstat";
/// Threads that an account by figures tells apart.
const MOST_ROWS: usize = 64;

/// A thread's time by its counters, seconds.
#[derive(Clone, Copy, Debug)]
struct Times {
    ran: f64,
    queued: f64,
    /// How long it was looked at, where the times of both looks are known.
    wall: Option<f64>,
}

impl Times {
    fn of(thing: &Thing) -> Option<Times> {
        let told = |metric: Metric| thing.readings.iter().any(|one| one.metric == metric && one.tool == TOOL);
        (told(Metric::TaskCpu) && told(Metric::RunDelay)).then_some(())?;
        let wall = thing.current_reading(Metric::RunDelay).map(|reading| reading.seconds);
        let (ran, queued) = (thing.happened(Metric::TaskCpu)?, thing.happened(Metric::RunDelay)?);
        Some(Times { ran, queued, wall: wall.filter(|seconds| *seconds > 0.0) })
    }
}

/// The times of all threads that counters tell of.
pub(crate) struct Counted(HashMap<Tid, Times>);

impl Counted {
    pub(crate) fn new(facts: &Facts) -> Counted {
        let threads = facts.host.things_that(|of| matches!(of, Entity::Thread { .. }));
        let times = threads.into_iter().filter_map(|(of, thing)| match of {
            Entity::Thread { tid, .. } => Some((*tid, Times::of(thing)?)),
            _ => None,
        });
        Counted(times.collect())
    }

    /// Of `outside_ns` that a thread was in no call of `life_ns`, what it surely had no CPU for: it ran less than that, and waited for a
    /// CPU at least as long. A tracer stops its threads in calls, so that what they waited for there is the tracer's doing.
    pub(crate) fn queued_ns(&self, tid: Tid, outside_ns: u64, life_ns: u64) -> Option<u64> {
        let times = self.0.get(&tid)?;
        let wall = times.wall?;
        let of_life = |seconds: f64| (seconds / wall * life_ns as f64) as u64;
        Some(outside_ns.saturating_sub(of_life(times.ran)).min(of_life(times.queued)))
    }
}

/// The account of the threads that counters alone tell of: on a CPU, waiting for one, and the rest where the looks have times.
pub(crate) fn account(facts: &Facts) -> Option<TimeAccount> {
    let threads = facts.host.things_that(|of| matches!(of, Entity::Thread { .. }));
    let told = threads.into_iter().filter_map(|(of, thing)| Some((of, Times::of(thing)?)));
    let mut told: Vec<(&Entity, Times)> = told.filter(|(_, times)| times.ran + times.queued > 0.0).collect();
    told.sort_by(|a, b| (b.1.ran + b.1.queued).total_cmp(&(a.1.ran + a.1.queued)).then(a.0.cmp(b.0)));
    told.truncate(MOST_ROWS);
    // A rest stands beside times that have one: else shares would be of different wholes.
    let stolen = crate::stolen::part(facts).unwrap_or(0.0);
    let timed = told.iter().all(|(_, times)| times.wall.is_some());
    let mut rows: Vec<AccountRow> = Vec::new();
    for (of, times) in &told {
        let ns = |seconds: f64| (seconds.max(0.0) * 1e9).round() as u64;
        let rest = times.wall.filter(|_| timed).map_or(0.0, |wall| wall - times.ran - times.queued);
        let taken = crate::stolen::of_queue(ns(times.queued), stolen);
        let queued = ns(times.queued) - taken;
        for (state, ns) in [
            (TimeState::OnCpu, ns(times.ran)),
            (TimeState::RunQueue, queued),
            (TimeState::Stolen, taken),
            (TimeState::Unknown, ns(rest)),
        ] {
            if ns > 0 {
                let known = if state == TimeState::Stolen { Known::InProportion } else { Known::Exact };
                rows.push(AccountRow { known, ..row(facts, of, state, ns) });
            }
        }
    }
    let total = rows.iter().map(|row| row.ns).saturating_sum();
    for row in &mut rows {
        row.share = row.ns as f64 / total.max(1) as f64;
    }
    rows.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| (&a.who, a.state).cmp(&(&b.who, b.state))));
    let (first, _) = told.first()?;
    let unknown = rows.iter().filter(|row| row.state == TimeState::Unknown);
    Some(TimeAccount {
        target: match told.len() {
            1 => facts.host.name_of(first),
            more => format!("{} and {} more", facts.host.name_of(first), more - 1),
        },
        of: TimeOf::Threads,
        count: told.len() as u64,
        ns: total,
        idle_ns: 0,
        unknown_ns: unknown.map(|row| row.ns).saturating_sum(),
        claimed_ns: 0,
        demand: Demand::default(),
        requests: Vec::new(),
        rows,
    })
}

fn row(facts: &Facts, of: &Entity, state: TimeState, ns: u64) -> AccountRow {
    AccountRow { pids: of.pid().into_iter().collect(), ..AccountRow::new(facts.host.name_of(of), state, ns) }
}
