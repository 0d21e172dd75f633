//! Who is behind the target's waits: the processes that were taken into the recording because the target waits for them. What is found
//! in them is no finding of its own: it is told as the cause at the end of the target's waits.

mod behind;
mod hops;

use crate::asker::Asker;
use crate::order;
use behind::Behind;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::figures as words;
use whyslow_model::ids::{host_of_tid, tid_there};
use whyslow_model::{AccountRow, Finding, Followed, Severity, Subject, TimeAccount, TimeState, Via};
use whyslow_rules::{Findings, RULES};

/// Findings about a wait for another process.
const OF_WAITS: &[&str] = &[
    "blocking-log-pipe",
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
/// A wait of one kind that takes this part of the account is told by itself.
const PLAIN: f64 = 0.05;
/// A wait of the target in whose end a rule finds a cause is a warning from this part of the target's time on: that of a general finding
/// that is much.
const MUCH: f64 = 0.25;

/// The processes that were taken in, by the names that their facts know.
pub(crate) fn named(facts: &Facts) -> Vec<Followed> {
    let name = |pid| name_of(facts.followed.apart()?, pid);
    let rows = facts.followed.rows().iter().cloned();
    // One on another host is told with the host's name.
    let known = |row: &Followed| if host_of_tid(row.pid) == 0 { name(row.pid) } else { None };
    rows.map(|row| Followed { comm: known(&row).unwrap_or(row.comm), ..row }).collect()
}

/// The same, by the numbers that they have on their own hosts.
pub(crate) fn told(facts: &Facts) -> Vec<Followed> {
    let there = |row: Followed| Followed { pid: tid_there(row.pid), waiter: tid_there(row.waiter), ..row };
    named(facts).into_iter().map(there).collect()
}

fn name_of(facts: &Facts, pid: u32) -> Option<String> {
    let process = facts.world.threads.last_process(pid)?;
    Some(facts.world.threads.known_process(process)?.name()?.to_string())
}

/// Tells of each finding about a wait who is behind it.
pub(crate) fn explain(facts: &Facts, account: Option<&TimeAccount>, findings: &mut [Finding]) {
    let Some(apart) = facts.followed.apart() else { return };
    let mut rows = named(facts);
    // Who waits for the target is behind none of its waits.
    rows.retain(|row| !row.is_caller());
    let mut found: Option<Vec<Finding>> = None;
    let is_open = |finding: &&mut Finding| {
        OF_WAITS.contains(&finding.id) && finding.severity > Severity::Capture && finding.culprit.is_none()
    };
    for finding in findings.iter_mut().filter(is_open) {
        let Some(mut way) = way(&rows, account, finding) else { continue };
        let Some(last) = way.pop() else { continue };
        let share = finding.share.unwrap_or(1.0);
        let busy = |row| busiest(&rows, apart, row).filter(|behind| behind.busy >= BUSY * row.share * share);
        // Where nothing says that the last one is at work, the one before it is known to wait for it.
        let mut found_busy = busy(last);
        while found_busy.is_none()
            && let Some(before) = way.pop()
        {
            found_busy = busy(before);
        }
        let Some(mut behind) = found_busy else { continue };
        way.push(behind.row);
        // Who waits most for another one is not the end.
        while let Some(next) = waited_for(&rows, &behind, &way).and_then(busy)
            && way.iter().all(|known| known.pid != next.row.pid)
        {
            way.push(next.row);
            behind = next;
        }
        let causes = found.get_or_insert_with(|| causes(apart));
        let cause = causes.iter().find(|cause| is_about(apart, cause, behind.process));
        let hops = hops::hops(facts, account, apart, finding, (&rows, &way), &behind);
        finding.chain.extend(hops::links(finding, &way, &hops, &behind));
        let culprit = behind.culprit(cause, hops);
        let away = words::plural(way.len() as u64, "wait");
        let rule = culprit.title.as_ref().map_or(String::new(), |title| format!(" {title}."));
        let new = culprit
            .site()
            .filter(|_| culprit.function.as_ref().is_some_and(|name| !culprit.does.contains(name.as_str())));
        let at = new.map_or(String::new(), |site| format!(", in {site}"));
        let by = culprit.calling().map_or(String::new(), |caller| format!(", called by {caller}"));
        let told = format!(
            "At the end of it, {away} away, is {} ({}): it {}{at}{by}.{rule}",
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

/// Of those that stand for that one, the one that has most to do.
fn busiest<'a>(rows: &'a [Followed], apart: &'a Facts, last: &Followed) -> Option<Behind<'a>> {
    let alike: Vec<&Followed> = rows.iter().filter(|row| are_alike(row, last)).collect();
    let process =
        |row: &Followed| apart.world.threads.known_process(apart.world.threads.last_process(row.pid)?);
    // They may have been started before the recording was.
    let parents: Vec<u32> = alike.iter().filter_map(|row| process(row)?.parent_pid).collect();
    // The parent of workers holds what they listen at, too: who only waits for them answers nobody.
    let supervises =
        |one: &Behind<'_>| one.largest().state == TimeState::Child && parents.contains(&one.row.pid);
    let behind = alike.into_iter().filter_map(|row| Behind::of(apart, row)).filter(|one| !supervises(one));
    behind.max_by(|a, b| a.busy.total_cmp(&b.busy))
}

/// Another one that this one waits for in what takes most of its time.
fn waited_for<'r>(rows: &'r [Followed], behind: &Behind<'_>, way: &[&Followed]) -> Option<&'r Followed> {
    let largest = behind.largest();
    let is_there = |row: &&Followed| {
        let kind = Kind::of(&row.via);
        let place = Kind::place(&row.via);
        let names = largest.object.as_ref().is_some_and(|object| object.contains(place));
        kind.is_plainly(largest.state) && !place.is_empty() && names
    };
    let last = behind.row;
    let waits = |row: &&Followed| rows.iter().any(|one| one.pid == row.waiter && are_alike(one, last));
    let is_new = |row: &&Followed| way.iter().all(|known| known.pid != row.pid);
    rows.iter()
        .filter(|row| waits(row) && is_there(row) && is_new(row))
        .max_by(|a, b| a.share.total_cmp(&b.share))
}

/// The way from the target to the last one that is waited for. `None` where the finding is not about a wait for one of them.
fn way<'r>(
    rows: &'r [Followed],
    account: Option<&TimeAccount>,
    finding: &Finding,
) -> Option<Vec<&'r Followed>> {
    // Of equals the one of which most is known: that was taken in first.
    let most = |rows: Vec<&'r Followed>| rows.into_iter().rev().max_by(|a, b| a.share.total_cmp(&b.share));
    let first = rows.iter().filter(|row| row.hop == 1 && is_meant(rows, account, finding, row));
    let mut way = vec![most(first.collect())?];
    while let Some(last) = way.last().copied() {
        let waits = |row: &&Followed| rows.iter().any(|one| one.pid == row.waiter && are_alike(one, last));
        let next = rows.iter().filter(waits).filter(|row| {
            row.share >= MOST_OF_IT * last.share && way.iter().all(|known| known.pid != row.pid)
        });
        match most(next.collect()) {
            Some(next) => way.push(next),
            None => break,
        }
    }
    Some(way)
}

/// True for processes that stand for one another: workers behind one address, holders of one lock.
fn are_alike(one: &Followed, other: &Followed) -> bool {
    let is_shared = Kind::of(&one.via) != Kind::Pipe && !one.via.is_anybodys();
    one.pid == other.pid || is_shared && (one.hop, &one.via) == (other.hop, &other.via)
}

/// True where the target waits for that process in what the finding is about: it is named, or is the only one of its kind.
fn is_meant(rows: &[Followed], account: Option<&TimeAccount>, finding: &Finding, row: &Followed) -> bool {
    let kind = Kind::of(&row.via);
    let place = Kind::place(&row.via);
    let subject = &finding.subject;
    let names = [&subject.peer, &subject.path, &subject.lock].into_iter().flatten();
    let names = names.chain(finding.chain.iter().map(|link| &link.waits_for));
    let claimed = account.map_or(&[][..], |account| &account.rows).iter();
    let claimed: Vec<&AccountRow> =
        claimed.filter(|row| row.claimed_by.iter().any(|claim| claim.id == finding.id)).collect();
    let objects = claimed.iter().filter_map(|row| row.object.as_ref());
    if !place.is_empty() && names.chain(objects).any(|name| name.contains(place)) {
        return true;
    }
    let is_alone = rows.iter().filter(|other| other.hop == 1 && Kind::of(&other.via) == kind).count() == 1;
    let is_named = kind == Kind::Peer && subject.peer.as_deref().is_some_and(is_address);
    // What waits for several things is meant only where nothing waits for that kind alone.
    let rows = account.map_or(&[][..], |account| &account.rows).iter();
    let mut others = rows.filter(|other| other.claimed_by.iter().all(|claim| claim.id != finding.id));
    let stands_apart = others.any(|other| kind.is_plainly(other.state) && other.share >= PLAIN);
    let polls = |row: &AccountRow| {
        let call = row.call.as_deref().unwrap_or_default();
        kind != Kind::Lock
            && ["epoll_wait", "epoll_pwait", "poll", "ppoll", "select", "pselect6"].contains(&call)
    };
    let fits = |row: &&AccountRow| {
        kind.is_plainly(row.state) || !stands_apart && (kind.states().contains(&row.state) || polls(row))
    };
    is_alone && !is_named && claimed.iter().any(fits)
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
    fn of(via: &Via) -> Kind {
        match via {
            Via::Pipe | Via::NamedPipe(_) => Kind::Pipe,
            Via::FileLock(_) | Via::SharedLock(_) | Via::DatabaseLock => Kind::Lock,
            Via::UnixPair | Via::Peer(_) => Kind::Peer,
        }
    }

    /// What of it names a place.
    fn place(via: &Via) -> &str {
        via.place().filter(|place| is_address(place)).unwrap_or_default()
    }

    /// True for a wait that is of that kind and of no other.
    fn is_plainly(self, state: TimeState) -> bool {
        let plain = match self {
            Kind::Pipe => TimeState::Pipe,
            Kind::Lock => TimeState::Lock,
            Kind::Peer => TimeState::Peer,
        };
        state == plain
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
    let of = |number| threads.last_process(number).or_else(|| Some(threads.thread_of(number)?.process));
    let its = |subject: &Subject| subject.pid.and_then(of) == Some(process);
    finding.severity >= Severity::Warning && finding.subjects().any(its)
}

#[cfg(test)]
#[path = "followed_tests.rs"]
mod tests;
