//! Parts that are alike become one row.

use crate::lines::{self, is_of, is_short_for_files};
use crate::parked;
use crate::parts::Part;
use crate::roles::{self, Role, Roles};
use crate::{Spent, device, requests};
use hashbrown::HashMap;
use std::collections::BTreeSet;
use whyslow_facts::folds::account::{CallTime, ObjectKind};
use whyslow_facts::samples::SiteTime;
use whyslow_facts::world::ids::ObjectId;
use whyslow_facts::{EndpointId, Facts, ProcessId, RanMeanwhile, Runners, ThreadFacts, WorkedOn};
use whyslow_model::event::Tid;
use whyslow_model::{
    AccountRow, CallStats, ContentOf, CpuRunner, Known, Nanos, RowDevice, SampleKind, SaturatingSum, Syscall,
    TimeAccount, TimeOf, TimeState, WorkedOnContent,
};

/// What rows are joined by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum By {
    /// Role, state, call and object: all that an account tells.
    #[default]
    Row,
    /// Thread.
    Thread,
    /// State.
    State,
    /// Object, with what is done there.
    Object,
    /// Endpoint of the request.
    Request,
    /// Line of the program's own code, where stacks were recorded.
    Line,
}

impl By {
    /// All, with their words.
    pub const ALL: [(By, &'static str); 6] = [
        (By::Row, "row"),
        (By::Thread, "thread"),
        (By::State, "state"),
        (By::Object, "object"),
        (By::Request, "request"),
        (By::Line, "line"),
    ];

    /// What that word stands for.
    pub fn of_word(word: &str) -> Option<By> {
        By::ALL.into_iter().find(|(_, known)| *known == word).map(|(by, _)| by)
    }
}

/// What the parts of a row have in common.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Key {
    role: Option<Role>,
    thread: Option<Tid>,
    state: Option<TimeState>,
    call: Option<Syscall>,
    object: Option<ObjectId>,
    request: Option<EndpointId>,
    site: Option<u32>,
}

/// A row, while it is added up.
#[derive(Default)]
struct Sum<'a> {
    ns: u64,
    times: u64,
    /// Calls that were only counted.
    counted: u64,
    known: Known,
    threads: BTreeSet<(ProcessId, Tid)>,
    /// The calls that it was spent in.
    calls: BTreeSet<Syscall>,
    /// Ways of spending time that it has parts of, each once.
    times_of: HashMap<*const CallTime, &'a CallTime>,
    largest: Option<(u64, Part<'a>)>,
}

/// The account of what was spent.
pub(crate) fn joined(facts: &Facts, spent: Spent<'_>, by: By) -> TimeAccount {
    let (by_line, lines) = match by {
        By::Line => lines::split(facts, spent.of, &spent.parts),
        _ => (Vec::new(), Vec::new()),
    };
    let parts = if by == By::Line { &by_line } else { &spent.parts };
    let roles = Roles::new(facts);
    let mut sums: HashMap<Key, Sum<'_>> = HashMap::new();
    for part in parts {
        let sum = sums.entry(key(&roles, part, by)).or_default();
        sum.ns = sum.ns.saturating_add(part.ns);
        sum.times += part.times;
        sum.counted = sum.counted.saturating_add(part.counted);
        sum.known = sum.known.max(part.known);
        sum.threads.insert((part.process, part.tid));
        sum.calls.extend(part.call);
        if let Some(time) = part.time {
            sum.times_of.insert(time, time);
        }
        if sum.largest.is_none_or(|(ns, _)| part.ns > ns) {
            sum.largest = Some((part.ns, *part));
        }
    }
    let total = sums.values().map(|sum| sum.ns).saturating_sum();
    let unknown = spent.parts.iter().filter(|part| part.state == TimeState::Unknown);
    let unknown_ns = unknown.map(|part| part.ns).saturating_sum();
    let joined = Joined { facts, of: spent.of, total, lines: (by == By::Line).then_some(&lines) };
    let mut rows: Vec<AccountRow> =
        sums.into_iter().filter_map(|(key, sum)| joined.row(&roles, &key, &sum)).collect();
    rows.sort_by(|a, b| {
        let names = |row: &AccountRow| (row.who.clone(), row.state, row.call.clone(), row.object.clone());
        b.ns.cmp(&a.ns).then_with(|| names(a).cmp(&names(b)))
    });
    TimeAccount {
        target: target(facts, &spent),
        of: spent.of,
        count: spent.count,
        ns: total,
        idle_ns: spent.idle_ns,
        unknown_ns,
        claimed_ns: 0,
        demand: whyslow_facts::demand::demand(facts),
        requests: requests::times(facts, &spent),
        rows,
    }
}

fn key(roles: &Roles<'_>, part: &Part<'_>, by: By) -> Key {
    let state = Some(part.state);
    match by {
        By::Row => Key {
            role: Some(roles.of(part.process, part.tid)),
            state,
            call: part.call,
            object: Some(part.object),
            ..Key::default()
        },
        By::Thread => Key { thread: Some(part.tid), state, ..Key::default() },
        By::State => Key { state, ..Key::default() },
        By::Object => Key { state, call: part.call, object: Some(part.object), ..Key::default() },
        By::Request => Key { request: part.request, state, ..Key::default() },
        // Whoever spends it: what has no line is one row.
        By::Line if part.site.is_none() => Key::default(),
        By::Line => {
            Key { role: Some(roles.of(part.process, part.tid)), state, site: part.site, ..Key::default() }
        }
    }
}

/// Rows with less of the time are told without their function.
const NAMED: f64 = 0.005;
/// The part of the stacks of a row's waits that a function must have to be named.
const OF_WAITS: f64 = 0.5;

/// Told of a row.
const MOST_RUNNERS: usize = 16;
const MOST_CONTENTS: usize = 8;

struct Joined<'a> {
    facts: &'a Facts,
    of: TimeOf,
    total: u64,
    /// The lines by their numbers, where rows are by line.
    lines: Option<&'a Vec<String>>,
}

impl Joined<'_> {
    fn row(&self, roles: &Roles<'_>, key: &Key, sum: &Sum<'_>) -> Option<AccountRow> {
        let (_, largest) = sum.largest?;
        let facts = self.facts;
        let who = match (key.request, &key.role, key.thread) {
            (Some(endpoint), ..) => {
                facts.requests.endpoint(endpoint).map_or(String::new(), |endpoint| endpoint.name.to_string())
            }
            (None, Some(role), _) => roles::words(facts, role, &sum.threads),
            (None, None, Some(tid)) => {
                let role = roles.of(largest.process, tid);
                roles::words(facts, &role, &BTreeSet::from([(largest.process, tid)]))
            }
            (None, None, None) if self.lines.is_some() => "line not known".to_string(),
            (None, None, None) => "all".to_string(),
        };
        let object =
            key.object.map(|object| facts.accounts.objects.get(object)).map(|object| match object.kind {
                ObjectKind::Peer => facts.peer_words(object.name()).into_owned(),
                _ => object.name().to_string(),
            });
        let stats = self.stats(key, sum);
        let (function, place) = self.site(key, sum);
        let longest =
            sum.times_of.values().filter_map(|time| time.exemplars.iter().max_by_key(|line| line.dur));
        let evidence = longest.max_by_key(|line| (line.dur, std::cmp::Reverse(line.ts)));
        let count = match (&stats, sum.times) {
            (Some(stats), _) => Some(stats.count.saturating_add(sum.counted)),
            (None, 0) => Some(sum.counted).filter(|counted| *counted > 0 && key.call.is_some()),
            (None, times) => Some(times),
        };
        let pids = roles::pids(facts, &sum.threads);
        let goroutines = match (key.state, &function) {
            (Some(state), None) if self.is_told(sum) => parked::told(facts, self.of, state, &pids),
            _ => Vec::new(),
        };
        // Where most of those wait that such a wait is for, it is spent.
        let (function, place) = match parked::most(key.state, &goroutines) {
            Some(at) => (Some(at.function.clone()), at.place.clone()),
            None => (function, place),
        };
        Some(AccountRow {
            who,
            threads: sum.threads.len() as u64,
            pids,
            tid: Some(largest.tid),
            state: match self.lines {
                Some(_) => key.state.unwrap_or(TimeState::Unknown),
                None => key.state.unwrap_or(largest.state),
            },
            call: key.call.map(|call| facts.name_of(call).to_string()),
            object: object.filter(|object| !object.is_empty()),
            function,
            place,
            ns: sum.ns,
            share: if self.total == 0 { 0.0 } else { sum.ns as f64 / self.total as f64 },
            count,
            mean_ns: stats.as_ref().map_or(Nanos::UNKNOWN, CallStats::mean),
            p99_ns: stats.as_ref().map_or(Nanos::UNKNOWN, |stats| stats.percentile(0.99)),
            longest_ns: stats.as_ref().map_or(Nanos::UNKNOWN, CallStats::max),
            known: sum.known,
            meanwhile: self.meanwhile(key, sum),
            goroutines,
            works_on: self.works_on(key, sum),
            device: self.device(key, sum),
            claimed_by: Vec::new(),
            evidence: evidence.filter(|_| key.call.is_some()).map(|line| facts.evidence(line)),
        })
    }

    /// Of the calls of a row, where all of their time is in it.
    fn stats(&self, key: &Key, sum: &Sum<'_>) -> Option<CallStats> {
        key.call.filter(|_| self.of == TimeOf::Threads && !sum.times_of.is_empty())?;
        let mut all = CallStats::default();
        for time in sum.times_of.values() {
            all.merge(&time.calls);
        }
        Some(all)
    }

    /// True for a row that is worth to be told where it is spent.
    fn is_told(&self, sum: &Sum<'_>) -> bool {
        self.lines.is_none() && sum.ns as f64 >= NAMED * self.total as f64
    }

    /// The function of the program's own code that takes most of the time, and its line. A wait has one by the stacks of the row's threads
    /// in the row's calls; of a wait in no call nobody knows which of its threads' stacks are meant.
    fn site(&self, key: &Key, sum: &Sum<'_>) -> (Option<String>, Option<String>) {
        if let Some(lines) = self.lines {
            return (key.site.and_then(|site| lines.get(site as usize).cloned()), None);
        }
        let Some((state, kind)) =
            key.state.and_then(|state| Some((state, state.sampled()?))).filter(|_| self.is_told(sum))
        else {
            return (None, None);
        };
        let name = |call: Syscall| self.facts.name_of(call);
        let calls: Vec<&str> = sum.calls.iter().map(|call| name(*call)).collect();
        let is_meant = |time: &SiteTime<'_>| match (kind, key.call) {
            (_, Some(call)) => is_of(time, kind, state, Some(name(call))),
            (SampleKind::OffCpu, None) => {
                time.call.is_some_and(|call| calls.contains(&call)) && is_of(time, kind, state, time.call)
            }
            (SampleKind::OnCpu, None) => is_of(time, kind, state, None),
        };
        let least = if state == TimeState::User { 0.0 } else { OF_WAITS };
        let samples = &self.facts.samples;
        // A thread may wait in one call for several things, in code of its own for each.
        let object = key.object.filter(|object| kind == SampleKind::OffCpu && *object != ObjectId::NONE);
        let for_it = object.and_then(|object| {
            samples.own_site_of(kind, &sum.threads, |time| is_meant(time) && time.object == object)
        });
        let found = for_it.or_else(|| samples.own_site_of(kind, &sum.threads, is_meant)).or_else(|| {
            let call = key.call.filter(|_| is_short_for_files(state))?;
            samples.own_site_of(SampleKind::OnCpu, &sum.threads, |time| time.call == Some(name(call)))
        });
        let found = found.or_else(|| samples.own_site_of_calls(&sum.threads, key.call?));
        let site = found.filter(|(_, part)| *part >= least).map(|(site, _)| site);
        (site.map(|site| site.function.to_string()), site.and_then(|site| site.line()).map(str::to_string))
    }
}

impl Joined<'_> {
    /// What the threads of a row work on while they compute, as far as it is the content of something that they read.
    fn works_on(&self, key: &Key, sum: &Sum<'_>) -> Vec<WorkedOnContent> {
        let computes =
            matches!(key.state, Some(TimeState::User | TimeState::BetweenCalls | TimeState::OnCpu));
        if !computes || !self.is_told(sum) {
            return Vec::new();
        }
        let facts = self.facts;
        let accounts = sum.threads.iter().filter_map(|(process, tid)| {
            let account = facts.accounts.of(facts.world.threads.id_of(*tid)?)?;
            (account.tid == *tid && account.process == *process).then_some(account)
        });
        let told = facts.worked_on(accounts).into_iter().filter(WorkedOn::is_content);
        let told = told.filter_map(|one| {
            let name = facts.accounts.objects.get(one.object).name();
            let (of, object) = match one.kind {
                ObjectKind::File => (ContentOf::File, name.to_string()),
                ObjectKind::Peer => (ContentOf::Peer, facts.peer_words(name).into_owned()),
                ObjectKind::Clients => (ContentOf::Clients, name.to_string()),
                ObjectKind::Pipe => (ContentOf::Pipe, name.to_string()),
                _ => return None,
            };
            let ns = (sum.ns as f64 * one.part) as u64;
            let share = ns as f64 / self.total.max(1) as f64;
            let (rounds, reads, bytes) = (one.rounds, one.reads, one.bytes);
            Some(WorkedOnContent { of, object, ns, share, rounds, reads, bytes })
        });
        let told = told.filter(|one| one.share >= NAMED && !one.object.is_empty());
        told.take(MOST_CONTENTS).collect()
    }

    /// The device behind the file that a row waits for.
    fn device(&self, key: &Key, sum: &Sum<'_>) -> Option<RowDevice> {
        let object = key.object.filter(|_| key.state == Some(TimeState::File) && self.is_told(sum))?;
        let processes: BTreeSet<ProcessId> = sum.threads.iter().map(|(process, _)| *process).collect();
        let processes: Vec<ProcessId> = processes.into_iter().collect();
        device::behind(self.facts, self.facts.accounts.objects.get(object).name(), key.call, &processes)
    }

    /// Who had the CPUs that its threads waited for, in proportion to what of their waits is in the row.
    fn meanwhile(&self, key: &Key, sum: &Sum<'_>) -> Vec<CpuRunner> {
        let facts = self.facts;
        if key.state != Some(TimeState::RunQueue) || self.lines.is_some() {
            return Vec::new();
        }
        let threads = sum.threads.iter().filter_map(|(process, tid)| {
            facts.world.threads.thread_of(*tid).filter(|thread| thread.process == *process)
        });
        let threads: Vec<&ThreadFacts> = threads.collect();
        let waited = threads.iter().filter_map(|thread| Some(thread.sched.as_deref()?.runnable_ns));
        let waited = waited.saturating_sum();
        let runners = || threads.iter().filter_map(|thread| thread.meanwhile.as_deref());
        let of_quota = runners().map(Runners::quota_ns).saturating_sum();
        let told = runners().map(Runners::total_ns).saturating_sum().saturating_sub(of_quota);
        // Of a wait at the end of the recording one of the two may be there alone.
        let part = sum.ns as f64 / waited.saturating_sub(of_quota).max(told).max(1) as f64;
        let pids = roles::pids(facts, &sum.threads);
        let ran = RanMeanwhile::of(facts, &pids, threads.iter().map(|thread| (*thread, part)));
        let Some(ran) = ran else { return Vec::new() };
        let one = |who, pid, is_own, ns: u64| CpuRunner {
            who,
            pid,
            is_own,
            ns,
            share: ns as f64 / self.total.max(1) as f64,
        };
        let others = ran.others.into_iter().map(|other| one(other.name, Some(other.pid), false, other.ns));
        let own_pid = pids.first().copied().filter(|_| pids.len() == 1);
        let own = ran.own.into_iter().map(|(name, ns)| {
            let who = name.map_or("own threads".to_string(), |name| format!("own threads {name}"));
            one(who, own_pid, true, ns)
        });
        let mut all: Vec<CpuRunner> = others.chain(own).filter(|one| one.ns > 0).collect();
        all.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.who.cmp(&b.who)));
        all.truncate(MOST_RUNNERS);
        all
    }
}

/// The processes whose time it is, by name: those with most of it first.
fn target(facts: &Facts, spent: &Spent<'_>) -> String {
    /// Processes that are named.
    const MOST: usize = 3;
    let mut times: HashMap<ProcessId, u64> = HashMap::new();
    for part in &spent.parts {
        let sum = times.entry(part.process).or_default();
        *sum = sum.saturating_add(part.ns);
    }
    let mut times: Vec<(ProcessId, u64)> = times.into_iter().collect();
    times.sort_by_key(|(process, ns)| (std::cmp::Reverse(*ns), *process));
    let mut names: Vec<String> = Vec::new();
    for (process, _) in &times {
        let name = whyslow_facts::who::process_name(facts, *process);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}
