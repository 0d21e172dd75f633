//! Programs that wait for work nearly all of the time.

use super::fit::Sentence;
use super::{program, told};
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::Side;
use whyslow_model::figures as words;
use whyslow_model::{Nanos, TimeAccount, TimeOf};

/// Waiting for work for this part of the time: what is left is too little to be felt.
const IDLE: f64 = 0.9;
/// An answer that takes this long is felt as a wait (Miller 1968, Nielsen 1993: a tenth of a second seems instant).
const FELT: Nanos = Nanos::new(100_000_000);
/// The time that the program's threads ran, ns: it may work outside of the requests that are seen. 0 where that is unknown.
fn worked(facts: &Facts) -> u64 {
    let own = facts.world.threads.iter().filter_map(|(_, thread)| thread.sched.as_deref());
    own.map(|sched| sched.on_cpu_ns).fold(0, u64::saturating_add)
}

/// What a program does that waits for work nearly all of the time: `redis-server (pid 9) waits for requests 97.0 % of the time`.
pub(super) fn of(facts: &Facts, account: Option<&TimeAccount>) -> Option<Sentence> {
    let account = account.filter(|account| account.demand.lasting().is_none())?;
    let served = || facts.requests.endpoints().iter().filter(|row| row.side == Side::Server);
    let (busy, life, work) = match account.of {
        // Threads of a pool that have nothing to do make none of the others idle.
        TimeOf::Threads => {
            let life = account.ns.saturating_add(account.idle_ns);
            (account.ns, facts.window.whole().get().map_or(life, |window| life.min(window)), "work")
        }
        // Requests that overlap make it more than it was: it waited that long at least.
        TimeOf::Requests => {
            let busy = served().map(|row| row.stats.total_ns).fold(0, u64::saturating_add);
            (busy.max(worked(facts)), facts.window.whole().get()?, "requests")
        }
        TimeOf::Command => return None,
    };
    let idle = 1.0 - (busy as f64 / life.max(1) as f64).min(1.0);
    // Of a moment nothing is known.
    if idle < IDLE || life < FELT.or_zero() {
        return None;
    }
    let name = program(facts).unwrap_or_else(|| account.target.clone());
    let name = if name.is_empty() { "the traced process".to_string() } else { name };
    let is_asked = account.of == TimeOf::Requests;
    let slowest =
        served().filter(|row| is_asked && row.stats.timed > 0).map(|row| row.stats.max().or_zero()).max();
    let answers = slowest
        .map_or(String::new(), |ns| format!(" and answers within {}", words::duration(Nanos::new(ns))));
    let conclusion = match slowest {
        Some(ns) if ns >= FELT.or_zero() => "no rule names a cause",
        _ => "nothing slows it down",
    };
    let what = format!("{name} waits for {work} {} of the time{answers}; {conclusion}", words::percent(idle));
    Some(Sentence { names: vec![name], ..told(what) })
}
