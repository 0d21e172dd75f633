//! The account of time: where the time of what was asked about went, in rows that exclude each other and add up to it.
//!
//! Whose time counts, the first that applies: the time inside of requests that are served; for a command, the way back from
//! its end through the threads and children that it waited for; else the time of the threads that is not waiting for
//! work. The first two follow waits through [`whyslow_chain`]; the facts' accounts of threads tell what is spent in each
//! way, also in calls too short to be followed one by one.

mod counts;
mod device;
mod figures;
mod lines;
mod moments;
mod parked;
mod parts;
mod paths;
mod requests;
mod roles;
mod rows;
mod states;
mod stolen;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_counts;
#[cfg(test)]
mod tests_gaps;
#[cfg(test)]
mod tests_host;
#[cfg(test)]
mod tests_meanwhile;
#[cfg(test)]
mod tests_parked;
#[cfg(test)]
mod tests_requests;
#[cfg(test)]
mod tests_rounds;
#[cfg(test)]
mod tests_stacks;
#[cfg(test)]
mod tests_unseen;
mod threads;
mod unseen;

pub use moments::{WorkWaits, role_of_thread, state_of_call, states_of_cut};
pub use rows::By;

use parts::Part;
use whyslow_chain::Explainer;
use whyslow_facts::{EndpointId, Facts, ProcessId};
use whyslow_model::{Nanos, TimeAccount, TimeOf, TimeState};

/// Parts of time with whose they are.
struct Spent<'a> {
    of: TimeOf,
    count: u64,
    parts: Vec<Part<'a>>,
    /// Waiting for work, ns; not among the parts.
    idle_ns: u64,
    /// The requests whose parts they are; none of another account.
    requests: Vec<RequestSpan>,
}

/// A request that was followed.
struct RequestSpan {
    endpoint: EndpointId,
    dur: Nanos,
    /// It is one of the slowest of its endpoint.
    is_slow: bool,
}

/// The account; `None` where no time is known.
pub fn account(facts: &Facts) -> Option<TimeAccount> {
    account_by(facts, By::Row)
}

/// The account of the threads of these processes; `None` where no time of them is known.
pub fn account_of(facts: &Facts, processes: &[ProcessId]) -> Option<TimeAccount> {
    let mut spent = threads::spent(facts, Some(processes))?;
    stolen::cut(facts, &mut spent.parts);
    Some(rows::joined(facts, spent, By::Row))
}

/// The same, its rows joined by something else.
pub fn account_by(facts: &Facts, by: By) -> Option<TimeAccount> {
    let explainer = Explainer::new(facts);
    let is_known = facts.has_times() || facts.sched.is_known();
    let followed = if is_known { paths::spent(&explainer) } else { None };
    let Some(mut spent) = followed.or_else(|| threads::spent(facts, None)) else {
        let is_untraced = facts.world.calls == 0 && !facts.sched.is_known();
        return is_untraced.then(|| figures::account(facts)).flatten();
    };
    // A clock alone tells how long a thread was there, and nothing of what it did.
    let told = |part: &Part<'_>| part.state != TimeState::Unknown;
    if !spent.parts.iter().any(told) && spent.idle_ns == 0 {
        return None;
    }
    stolen::cut(facts, &mut spent.parts);
    Some(rows::joined(facts, spent, by))
}
