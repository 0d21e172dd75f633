//! Who is behind the target's waits: the processes that were taken into the recording because the target waits for them. What is found
//! in them is no finding of its own: it is told as the cause at the end of the target's waits.

use crate::asker::Asker;
use crate::order;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::figures as words;
use whyslow_model::{
    AccountRow, ChainLink, Culprit, Finding, Followed, Nanos, SampleKind, Severity, TimeAccount, TimeState,
};
use whyslow_rules::{Findings, RULES};

/// Findings about a wait for another process.
const OF_WAITS: &[&str] = &[
    "downstream-timeout",
    "file-lock-contention",
    "lock-contention",
    "missing-timeout",
    "slow-downstream",
    "stuck-call",
    "wait-chain",
    "waits-for-lock",
    "waits-for-peer",
    "waits-for-pipe",
    // An event loop that waits for its next answer, or for a time, is told as the latter.
    "waits-for-timer",
];
/// The waits go on in the one that a process waits for, where that is so much of the waiting that led to it.
const MOST_OF_IT: f64 = 0.5;
/// Who is busy for less of its time than this part of what the target waits for it holds up nobody: it waits for work itself.
const BUSY: f64 = 0.3;
/// A wait of the target in whose end a rule finds a cause is a warning from this part of the target's time on: that of a general finding
/// that is much.
const MUCH: f64 = 0.25;

/// The processes that were taken in, by the names that their facts know.
pub(crate) fn named(facts: &Facts) -> Vec<Followed> {
    let name = |pid| name_of(facts.followed.apart()?, pid);
    let rows = facts.followed.rows().iter().cloned();
    rows.map(|row| Followed { comm: name(row.pid).unwrap_or(row.comm), ..row }).collect()
}

fn name_of(facts: &Facts, pid: u32) -> Option<String> {
    let process = facts.world.threads.find_process(pid)?;
    Some(facts.world.threads.known_process(process)?.name()?.to_string())
}

/// Tells of each finding about a wait who is behind it.
pub(crate) fn explain(facts: &Facts, account: Option<&TimeAccount>, findings: &mut [Finding]) {
    let Some(apart) = facts.followed.apart() else { return };
    let rows = named(facts);
    let mut found: Option<Vec<Finding>> = None;
    let is_open = |finding: &&mut Finding| {
        OF_WAITS.contains(&finding.id) && finding.severity > Severity::Capture && finding.culprit.is_none()
    };
    for finding in findings.iter_mut().filter(is_open) {
        let Some(way) = way(&rows, account, finding) else { continue };
        let Some(last) = way.last() else { continue };
        let Some(behind) = Behind::of(apart, last) else { continue };
        if behind.busy < BUSY * last.share * finding.share.unwrap_or(1.0) {
            continue;
        }
        let causes = found.get_or_insert_with(|| causes(apart));
        let cause = causes.iter().find(|cause| is_about(apart, cause, behind.process));
        let culprit = behind.culprit(last, cause);
        finding.chain.extend(links(finding, &way, &behind));
        let away = words::plural(way.len() as u64, "wait");
        let rule = culprit.title.as_ref().map_or(String::new(), |title| format!(" {title}."));
        let new = culprit.function.as_ref().filter(|name| !culprit.does.contains(name.as_str()));
        let at = new.map_or(String::new(), |function| format!(", in {function}"));
        let told = format!(
            "At the end of it, {away} away, is {} ({}): it {}{at}.{rule}",
            culprit.name, culprit.pid, culprit.does
        );
        finding.cause = if finding.cause.is_empty() { told } else { format!("{} {told}", finding.cause) };
        if let Some(cause) = cause {
            let steps =
                cause.fix.iter().take(2).map(|step| format!("in {} ({}): {step}", culprit.name, culprit.pid));
            finding.fix.splice(0..0, steps.collect::<Vec<_>>());
            if cause.severity >= Severity::Warning && finding.share.is_some_and(|share| share >= MUCH) {
                finding.severity = finding.severity.max(Severity::Warning);
            }
        }
        finding.culprit = Some(culprit);
    }
}

/// The way from the target to the last one that is waited for. `None` where the finding is not about a wait for one of them.
fn way<'r>(
    rows: &'r [Followed],
    account: Option<&TimeAccount>,
    finding: &Finding,
) -> Option<Vec<&'r Followed>> {
    let most = |rows: Vec<&'r Followed>| rows.into_iter().max_by(|a, b| a.share.total_cmp(&b.share));
    let first = rows.iter().filter(|row| row.hop == 1 && is_meant(rows, account, finding, row));
    let mut way = vec![most(first.collect())?];
    while let Some(last) = way.last().copied() {
        let next = rows.iter().filter(|row| {
            row.waiter == last.pid
                && row.share >= MOST_OF_IT * last.share
                && way.iter().all(|known| known.pid != row.pid)
        });
        match most(next.collect()) {
            Some(next) => way.push(next),
            None => break,
        }
    }
    Some(way)
}

/// True where the target waits for that process in what the finding is about: it is named, or is the only one of its kind.
fn is_meant(rows: &[Followed], account: Option<&TimeAccount>, finding: &Finding, row: &Followed) -> bool {
    let kind = Kind::of(&row.via);
    let place = kind.place(&row.via);
    let subject = &finding.subject;
    let names = [&subject.peer, &subject.path, &subject.lock].into_iter().flatten();
    let claimed = account.map_or(&[][..], |account| &account.rows).iter();
    let claimed: Vec<&AccountRow> =
        claimed.filter(|row| row.claimed_by.iter().any(|claim| claim.id == finding.id)).collect();
    let objects = claimed.iter().filter_map(|row| row.object.as_ref());
    if !place.is_empty()
        && (names.chain(objects).any(|name| name.contains(place)) || finding.title.contains(place))
    {
        return true;
    }
    let is_alone = rows.iter().filter(|other| other.hop == 1 && Kind::of(&other.via) == kind).count() == 1;
    let is_named = kind == Kind::Peer && subject.peer.as_deref().is_some_and(is_address);
    let polls = |row: &AccountRow| {
        let call = row.call.as_deref().unwrap_or_default();
        kind != Kind::Lock
            && ["epoll_wait", "epoll_pwait", "poll", "ppoll", "select", "pselect6"].contains(&call)
    };
    is_alone && !is_named && claimed.iter().any(|row| kind.states().contains(&row.state) || polls(row))
}

/// `127.0.0.1:80`, `/run/a.sock`: says who is asked.
fn is_address(name: &str) -> bool {
    name.starts_with(['/', '@'])
        || name.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// By what one process waits for another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pipe,
    Lock,
    Peer,
}

impl Kind {
    /// As the recorder words it.
    fn of(via: &str) -> Kind {
        match via {
            "a pipe" => Kind::Pipe,
            _ if via.starts_with("the lock of ") || via.starts_with("a lock in ") => Kind::Lock,
            _ => Kind::Peer,
        }
    }

    /// What of it names a place.
    fn place(self, via: &str) -> &str {
        let place = via.trim_start_matches("the lock of ").trim_start_matches("a lock in ");
        if is_address(place) { place } else { "" }
    }

    fn states(self) -> &'static [TimeState] {
        use TimeState::{Client, Event, Lock, Peer, Pipe, Poll};
        match self {
            Kind::Pipe => &[Pipe, Poll],
            Kind::Lock => &[Lock],
            Kind::Peer => &[Peer, Poll, Event, Client],
        }
    }
}

/// What was found in those that were taken in, the most worthwhile first.
fn causes(apart: &Facts) -> Vec<Finding> {
    let mut found: Vec<Finding> = RULES.iter().flat_map(|rule| Findings::of(rule, apart).0).collect();
    // What the host takes from it is told of the host.
    found.retain(|finding| !order::TAKEN_BY_HOST.contains(&finding.id));
    found.retain(|finding| {
        finding.severity >= Severity::Notice && !finding.is_hygiene() && !finding.disagreement
    });
    order::rank(&mut found, Asker { facts: apart, account: None });
    found
}

fn is_about(apart: &Facts, finding: &Finding, process: ProcessId) -> bool {
    let threads = &apart.world.threads;
    let of = |number| threads.find_process(number).or_else(|| Some(threads.thread_of(number)?.process));
    finding.severity >= Severity::Warning && finding.subject.pid.and_then(of) == Some(process)
}

/// What the process at the end does.
struct Behind<'a> {
    facts: &'a Facts,
    process: ProcessId,
    /// The part of its time in which it did not wait for work.
    busy: f64,
    account: TimeAccount,
}

impl<'a> Behind<'a> {
    fn of(facts: &'a Facts, row: &Followed) -> Option<Behind<'a>> {
        let process = facts.world.threads.find_process(row.pid)?;
        let account = whyslow_account::account_of(facts, process)?;
        let whole = account.ns.saturating_add(account.idle_ns);
        let busy = account.ns as f64 / whole.max(1) as f64;
        account.rows.first()?;
        Some(Behind { facts, process, busy, account })
    }

    /// What it does most, what others take from it aside: it holds up its waiter by the rest.
    fn largest(&self) -> &AccountRow {
        let is_own = |row: &&AccountRow| !matches!(row.state, TimeState::RunQueue | TimeState::Throttled);
        self.account.rows.iter().find(is_own).unwrap_or(&self.account.rows[0])
    }

    fn culprit(&self, row: &Followed, cause: Option<&Finding>) -> Culprit {
        let largest = self.largest();
        let computes = matches!(largest.state, TimeState::User | TimeState::Kernel | TimeState::InCall);
        let kind = if computes { SampleKind::OnCpu } else { SampleKind::OffCpu };
        let sampled = || self.facts.samples.own_function(kind, self.process, None).map(str::to_string);
        let does = format!("{}, {} of its time", largest.words(), words::percent(largest.share * self.busy));
        let function = largest.function.clone().or_else(sampled);
        Culprit {
            pid: row.pid,
            name: row.comm.clone(),
            does,
            function,
            id: cause.map(|cause| cause.id),
            title: cause.map(|cause| cause.title.clone()),
        }
    }
}

/// The links from the target, or from the end of the chain that the finding has, to the last one.
fn links(finding: &Finding, way: &[&Followed], behind: &Behind<'_>) -> Vec<ChainLink> {
    let who = |row: &Followed| format!("{} ({})", row.comm, row.pid);
    let link = |before: String, row: &Followed| ChainLink {
        who: before,
        waits_for: format!("{} at {}", who(row), row.via),
        ns: Nanos::UNKNOWN,
        evidence: format!("{} of the target's waiting, by samples", words::percent(row.share)),
    };
    let mut links = Vec::new();
    if finding.chain.is_empty()
        && let Some(first) = way.first()
    {
        links.push(link(asker(finding, first.waiter), first));
    }
    links.extend(way.windows(2).map(|pair| link(who(pair[0]), pair[1])));
    let largest = behind.largest();
    links.extend(way.last().map(|last| ChainLink {
        who: who(last),
        waits_for: largest.object.clone().unwrap_or_else(|| format!("nothing: it {}", largest.words())),
        ns: Nanos::new(largest.ns),
        evidence: largest.evidence.as_ref().map_or(String::new(), |line| line.source.clone()),
    }));
    links
}

fn asker(finding: &Finding, waiter: u32) -> String {
    match &finding.subject.comm {
        Some(comm) => format!("{comm} ({waiter})"),
        None => format!("process {waiter}"),
    }
}

#[cfg(test)]
#[path = "followed_tests.rs"]
mod tests;
