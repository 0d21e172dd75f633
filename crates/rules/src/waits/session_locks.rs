//! Requests that wait until another session signals their process: locks that a server keeps itself, such as those on rows of a table.

use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use hashbrown::{HashMap, HashSet};
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::{EndpointFacts, RequestRecord, Side};
use whyslow_model::event::Tid;
use whyslow_model::{ChainLink, Measurement, Nanos, Severity, Subject};

/// Requests that must have waited so: one may be chance.
const OFTEN: u64 = 5;
/// A wait that counts: a user hardly feels less.
const LONG: Nanos = Nanos::from_millis(20);
/// The part of a request before the signal from which on the wait for it is what the request took.
const MOSTLY: f64 = 0.5;

/// A request that was signalled by another session.
struct Wait<'f> {
    request: &'f RequestRecord,
    ns: u64,
    /// Who gave the lock up, and in which request.
    by: Tid,
    at: Option<&'f RequestRecord>,
}

/// What the requests of one endpoint waited.
struct Waits<'f> {
    row: &'f EndpointFacts,
    waits: Vec<Wait<'f>>,
    /// The time of all its requests, of which those kept tell the part, ns.
    ns: u64,
}

/// Reports the endpoint whose requests wait most.
#[gated]
pub(super) fn report(facts: &Facts, out: &mut Findings<'_>) {
    if facts.nudges.is_empty() {
        return;
    }
    let rows = || facts.requests.endpoints().iter().filter(|row| row.side == Side::Server);
    let all_ns = rows().fold(0u64, |sum, row| sum.saturating_add(row.stats.total_ns));
    let served: Vec<&RequestRecord> =
        facts.requests.records().filter(|record| record.side == Side::Server).collect();
    let sessions: HashSet<Tid> = served.iter().map(|record| record.tid).collect();
    let most = rows().filter_map(|row| waits(facts, row, &served, &sessions)).max_by_key(|waits| waits.ns);
    let Some(found) = most else { return };
    let value = (all_ns > 0).then(|| (found.ns as f64 / all_ns as f64).min(1.0));
    let share = Share::of_time(value, "time of all requests served");
    if share.value.is_some_and(|value| value >= guards::WARNING_SHARE) {
        tell(facts, out, share, &found);
    }
}

#[gated]
fn waits<'f>(
    facts: &'f Facts,
    row: &'f EndpointFacts,
    served: &[&'f RequestRecord],
    sessions: &HashSet<Tid>,
) -> Option<Waits<'f>> {
    let took = row.kept().fold(0u64, |sum, record| sum.saturating_add(record.dur.or_zero()));
    let waits: Vec<Wait<'f>> =
        row.kept().filter_map(|request| wait(facts, request, served, sessions)).collect();
    let waited = waits.iter().fold(0u64, |sum, wait| sum.saturating_add(wait.ns));
    let ns = u128::from(row.stats.total_ns) * u128::from(waited) / u128::from(took.max(1));
    (waits.len() as u64 >= OFTEN).then_some(Waits { row, waits, ns: ns as u64 })
}

/// How long a request waited until another session signalled its process last.
#[gated]
fn wait<'f>(
    facts: &'f Facts,
    request: &'f RequestRecord,
    served: &[&'f RequestRecord],
    sessions: &HashSet<Tid>,
) -> Option<Wait<'f>> {
    let until = request.begin.plus(request.dur);
    let nudge = facts.nudges.last_to(request.tid, request.begin, until)?;
    let ns = nudge.ts.since(request.begin).get()?;
    let is_mostly = ns as f64 >= MOSTLY * request.dur.get()? as f64;
    let is_wait = ns >= LONG.or_zero() && is_mostly && sessions.contains(&nudge.from);
    let at = || {
        let by = served.iter().filter(|record| record.tid == nudge.from && record.begin <= nudge.ts);
        by.max_by_key(|record| record.begin).copied()
    };
    is_wait.then(|| Wait { request, ns, by: nudge.from, at: at() })
}

#[gated]
fn tell(facts: &Facts, out: &mut Findings<'_>, share: Share, found: &Waits<'_>) {
    let row = found.row;
    let Some(longest) = found.waits.iter().max_by_key(|wait| wait.ns) else { return };
    let waiters: HashSet<Tid> = found.waits.iter().map(|wait| wait.request.tid).collect();
    let mut holders: HashMap<Tid, u64> = HashMap::new();
    for wait in &found.waits {
        *holders.entry(wait.by).or_default() += wait.ns;
    }
    let mut holders: Vec<(Tid, u64)> = holders.into_iter().collect();
    holders.sort_by_key(|(tid, ns)| (std::cmp::Reverse(*ns), *tid));
    let by: Vec<String> =
        holders.iter().take(4).map(|(tid, ns)| format!("{tid} ({})", Nanos::new(*ns))).collect();
    let holder = holders.first().map_or(0, |(tid, _)| *tid);
    let mut ends: HashMap<&str, usize> = HashMap::new();
    let given_up = found.waits.iter().filter_map(|wait| facts.requests.endpoint(wait.at?.endpoint));
    for end in given_up {
        *ends.entry(&end.name).or_default() += 1;
    }
    let end = ends.into_iter().max_by_key(|(name, count)| (*count, *name)).map(|(name, _)| name);
    let until = end.map_or(String::new(), |end| format!(", until its {end}"));
    let waits = Measurement::count("waits", found.waits.len() as u64).at_least(OFTEN as f64);
    let time = Measurement::time("time", Nanos::new(found.ns));
    let most = Measurement::time("longest", Nanos::new(longest.ns)).at_least(LONG.or_zero() as f64);
    let sessions = Measurement::count("sessions", waiters.len() as u64);
    let waiting = words::plural(waiters.len() as u64, "session");
    let of_time = share.figure().at_least(guards::WARNING_SHARE);
    let title =
        format!("{} waits {time} for a lock of session {holder}{until}: {waiting}, {most} at most", row.name);
    let mut report = out
        .report(share, title)
        .measured_all([waits, time, most, sessions, of_time])
        .at_most(Severity::Critical)
        .subject(Subject { endpoint: Some(row.name.to_string()), ..Subjects::thread(facts, longest.request.tid) })
        .cause(format!(
            "Each of these requests waits until the process of another session signals its own. Signals come from {}. What the session does between taking the lock and giving it up is what the others wait for: an open transaction holds its rows until it ends, also while it is idle in transaction.",
            by.join(", "),
        ))
        .fix("code: short transactions: no calls to others, no think time and no large batch between the first change and COMMIT; what all change (a counter, a total) is changed last")
        .fix("code: change rows in the same order everywhere; SELECT … FOR UPDATE SKIP LOCKED for queues; smaller batches")
        .fix("settings: lock_timeout, idle_in_transaction_session_timeout, log_lock_waits = on (PostgreSQL)")
        .verify("SELECT pid, pg_blocking_pids(pid), state, xact_start, query FROM pg_stat_activity WHERE wait_event_type = 'Lock';   (before and after)")
        .saving(Nanos::new(found.ns))
        .evidence(Some(&longest.request.first_line))
        .evidence(longest.at.map(|request| &request.first_line));
    report = report.link(ChainLink {
        who: format!("session {}", longest.request.tid),
        waits_for: format!("session {}{until}", longest.by),
        ns: Nanos::new(longest.ns),
        evidence: facts.evidence(&longest.request.first_line).source,
    });
    report.file();
}
