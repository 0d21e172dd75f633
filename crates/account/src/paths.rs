//! The time of requests and of commands, followed through the threads that they waited for.

use crate::parts::{Part, Wait};
use crate::states::{self, Owner};
use crate::threads;
use crate::unseen::{Unseen, WaitStacks, uninterruptible};
use crate::{RequestSpan, Spent, requests};
use hashbrown::{HashMap, HashSet};
use whyslow_chain::{Explainer, Path, PathKind, Segment, Stay};
use whyslow_facts::folds::account::{CallKey, CallTime, ThreadAccount};
use whyslow_facts::folds::graph::Ended;
use whyslow_facts::folds::requests::Side;
use whyslow_facts::world::ids::ObjectId;
use whyslow_facts::{EndpointId, Facts, ProcessId, WaitKind};
use whyslow_model::event::Tid;
use whyslow_model::{Known, SaturatingSum, TimeOf, TimeState, Timestamp};

/// Requests looked at, the longest.
const MAX_REQUESTS: usize = 2_000;
/// Requests that take less than a tenth of the time in which the threads have something to do are not what they do: a question about its
/// health now and then, a turn of a connection that was taken for one. Of fewer than this all threads count.
const FEW_REQUESTS: usize = 10;
const LEAST_OF_WORK: f64 = 0.1;

/// The parts of the requests that are served, else of the commands; `None` where there is neither.
pub(crate) fn spent<'a>(explainer: &Explainer<'a>) -> Option<Spent<'a>> {
    let facts = explainer.facts();
    let requests =
        facts.requests.records().filter(|request| request.side == Side::Server && request.dur.is_known());
    let mut spans: Vec<Interval> = requests
        .map(|request| Interval {
            tid: request.answered_by.unwrap_or(request.tid),
            from: request.begin,
            to: request.begin.plus(request.dur),
            request: Some(request.endpoint),
            is_slow: requests::slow_from(facts, request.endpoint).is_some_and(|from| request.dur >= from),
        })
        .collect();
    spans.sort_by_key(|span| (std::cmp::Reverse(span.to.since(span.from)), span.tid, span.from));
    spans.truncate(MAX_REQUESTS);
    if !are_the_work(facts, &spans) {
        spans.clear();
    }
    let of = if spans.is_empty() { TimeOf::Command } else { TimeOf::Requests };
    if spans.is_empty() {
        spans = commands(explainer);
    }
    let requests = spans.iter().filter_map(|span| {
        let (endpoint, dur) = (span.request?, span.to.since(span.from));
        Some(RequestSpan { endpoint, dur, is_slow: span.is_slow })
    });
    let (count, requests) = (spans.len() as u64, requests.collect());
    let mut spent = Spent { of, count, parts: Vec::new(), idle_ns: 0, requests };
    let mut unseen = UnseenWaits::new(facts);
    for span in spans {
        let path = explainer.path(span.tid, span.from, span.to);
        if of == TimeOf::Command && looks_after_others(facts, &path) {
            return None;
        }
        let first = spent.parts.len();
        for segment in &path.segments {
            if let Some(stay) = path.stays.get(segment.stay) {
                along(facts, span.request, stay, segment, &mut unseen, &mut spent);
            }
        }
        spent.parts[first..].iter_mut().for_each(|part| part.is_slow = span.is_slow);
    }
    (!spent.parts.is_empty()).then_some(spent)
}

/// Whether the time of requests stands for what the threads do; where there are none, something else does. Of many requests the threads that
/// serve them count alone: what others compute meanwhile may be nobody's wait, but what the same thread does else holds its requests up before
/// they are read, which their time does not show.
fn are_the_work(facts: &Facts, requests: &[Interval]) -> bool {
    let is_few = requests.len() < FEW_REQUESTS;
    let served = match is_few {
        true => requests.iter().map(|span| span.to.since(span.from).or_zero()).saturating_sum(),
        false => {
            let rows = facts.requests.endpoints().iter().filter(|row| row.side == Side::Server);
            rows.map(|row| row.stats.total().or_zero()).saturating_sum()
        }
    };
    let serving: HashSet<Tid> = requests.iter().map(|span| span.tid).collect();
    let threads = facts.world.threads.iter().map(|(_, thread)| thread);
    let work = threads.filter(|thread| is_few || serving.contains(&thread.tid));
    let work = work.map(|thread| match thread.sched.as_deref() {
        Some(sched) => sched.on_cpu_ns,
        None if is_few => thread.wall().or_zero().saturating_sub(thread.waiting_total()),
        // What a thread does between its calls may be a wait that is not in the capture.
        None => thread.working_ns,
    });
    requests.is_empty() || served as f64 >= LEAST_OF_WORK * work.saturating_sum() as f64
}

/// How threads of paths wait where no call is known, each found once.
struct UnseenWaits<'a> {
    facts: &'a Facts,
    stacks: WaitStacks<'a>,
    owners: HashMap<ProcessId, Owner>,
    threads: HashMap<Tid, Option<Unseen<'a>>>,
}

impl<'a> UnseenWaits<'a> {
    fn new(facts: &'a Facts) -> UnseenWaits<'a> {
        let (stacks, owners) = (WaitStacks::new(facts), threads::owners(facts));
        UnseenWaits { facts, stacks, owners, threads: HashMap::new() }
    }

    fn of(
        &mut self,
        process: ProcessId,
        tid: Tid,
        account: Option<&'a ThreadAccount>,
    ) -> Option<&Unseen<'a>> {
        let UnseenWaits { facts, stacks, owners, threads } = self;
        let facts: &'a Facts = facts;
        let found = threads.entry(tid).or_insert_with(|| {
            let account = account?;
            let owner = owners.get(&process).copied().unwrap_or_default();
            let waits = account.calls.iter().filter(|time| time.key.waits.is_some()).map(|time| {
                let object = facts.accounts.objects.get(time.key.object).kind;
                let state = states::of_wait(time.key.waits, object);
                Wait { time, state, asleep_ns: time.parts.blocked_ns, idle: 0.0 }
            });
            let waits: Vec<Wait<'a>> = waits.collect();
            let unseen_ns = account.outside.blocked_ns.saturating_add(account.outside.unknown_ns);
            Unseen::of(facts, (process, tid), owner, stacks, &waits, unseen_ns)
        });
        found.as_ref()
    }
}

/// An interval that somebody waited for.
struct Interval {
    tid: Tid,
    from: Timestamp,
    to: Timestamp,
    request: Option<EndpointId>,
    /// It is one of the slowest requests of its endpoint.
    is_slow: bool,
}

/// The first threads of programs that were started within the capture, by nobody in it, and serve nobody.
fn commands(explainer: &Explainer<'_>) -> Vec<Interval> {
    let world = &explainer.facts().world;
    let serving = states::serving(explainer.facts());
    let roots = world.threads.processes().filter(|(_, process)| process.started && process.parent.is_none());
    let first_threads = roots.filter(|(id, _)| !serving.contains(id)).filter_map(|(_, process)| {
        let (from, to) = explainer.span(process.pid?)?;
        (from < to).then_some(Interval { tid: process.pid?, from, to, request: None, is_slow: false })
    });
    first_threads.collect()
}

/// True where the command's first thread sleeps at once for half of the time or more, or waits for children of which nothing tells which one,
/// while children of its own work: these are what was asked about.
fn looks_after_others(facts: &Facts, path: &Path<'_>) -> bool {
    let Some(own) = path.stays.first().and_then(|stay| facts.world.threads.thread_of(stay.tid)) else {
        return false;
    };
    let all: u64 = path.segments.iter().map(|segment| segment.ns).sum();
    let is_sleep = |kind| matches!(kind, PathKind::Timer | PathKind::Child | PathKind::Unknown);
    let mut sleeps = path.segments.iter().filter(|segment| segment.stay == 0 && is_sleep(segment.kind));
    sleeps.any(|sleep| sleep.ns >= all / 2 && all > 0)
        && facts.world.threads.iter().any(|(_, thread)| {
            thread.is_active() && facts.world.threads.process(thread.process).parent == Some(own.process)
        })
}

/// The parts of one segment.
fn along<'a>(
    facts: &'a Facts,
    request: Option<EndpointId>,
    stay: &Stay<'_>,
    segment: &Segment<'_>,
    unseen: &mut UnseenWaits<'a>,
    spent: &mut Spent<'a>,
) {
    let thread = facts.world.threads.thread_of(stay.tid);
    let process = thread.map_or(ProcessId::NONE, |thread| thread.process);
    let measured = thread.is_some_and(|thread| thread.sched.is_some());
    let account = account_of(facts, stay.tid);
    let plain = |state| Part {
        times: 1,
        known: if segment.exact { Known::Exact } else { Known::InProportion },
        request,
        ..Part::new(process, stay.tid, state, segment.ns)
    };
    let works = if measured { TimeState::Kernel } else { TimeState::InCall };
    let state = match segment.kind {
        PathKind::User => TimeState::User,
        PathKind::Between => TimeState::BetweenCalls,
        PathKind::RunQueue => TimeState::RunQueue,
        PathKind::Throttled => TimeState::Throttled,
        PathKind::PageFault => {
            let calls = account.map_or(&[][..], |account| &account.calls);
            let parts = uninterruptible(facts, (process, stay.tid), calls, &unseen.stacks, segment.ns);
            let of = |part: Part<'a>| Part {
                known: part.known.max(plain(part.state).known),
                times: 1,
                request,
                ..part
            };
            return spent.parts.extend(parts.into_iter().map(of));
        }
        PathKind::Unknown if segment.call.is_none() => {
            let parts =
                unseen.of(process, stay.tid, account).map_or_else(Vec::new, |of| of.give_out(segment.ns).0);
            let left = segment.ns - parts.iter().map(|part| part.ns).saturating_sum().min(segment.ns);
            spent.parts.extend(parts.into_iter().map(|part| Part { times: 1, request, ..part }));
            if left > 0 {
                spent.parts.push(Part { ns: left, ..plain(TimeState::Unknown) });
            }
            return;
        }
        kind => match segment.call {
            Some(call) => {
                let key = CallKey { syscall: call.syscall, waits: call.waits, object: call.object };
                let object = facts.accounts.objects.get(call.object).kind;
                let state = match kind {
                    PathKind::System => works,
                    _ => states::of_wait(call.waits, object),
                };
                let time = account.and_then(|account| account.calls.iter().find(|time| time.key == key));
                // What a command sleeps until its next round is due nobody waits for.
                let is_paced = |time: &CallTime| state == TimeState::Timer && time.pace.is_kept();
                if request.is_none() && time.is_some_and(is_paced) {
                    spent.idle_ns = spent.idle_ns.saturating_add(segment.ns);
                    return;
                }
                let part = plain(state).in_call(key, time);
                let known =
                    if call.ended == Ended::NotYet { part.known.max(Known::AtLeast) } else { part.known };
                return spent.parts.push(Part { known, ..part });
            }
            None => return short(facts, account, kind, works, plain(TimeState::Unknown), &mut spent.parts),
        },
    };
    spent.parts.push(plain(state));
}

/// Time in short calls of one kind: shared out as the thread's time in such calls is.
fn short<'a>(
    facts: &'a Facts,
    account: Option<&'a ThreadAccount>,
    kind: PathKind,
    works: TimeState,
    whole: Part<'a>,
    parts: &mut Vec<Part<'a>>,
) {
    let waits = match kind {
        PathKind::Lock => Some(WaitKind::Lock),
        PathKind::Peer => Some(WaitKind::Network),
        PathKind::Pipe => Some(WaitKind::Pipe),
        PathKind::Timer => Some(WaitKind::Timer),
        PathKind::Child => Some(WaitKind::Child),
        PathKind::Poll => Some(WaitKind::Poll),
        PathKind::Idle => Some(WaitKind::Accept),
        _ => None,
    };
    let rows = account.map_or(&[][..], |account| &account.calls);
    let alike = || rows.iter().filter(|time| time.key.waits == waits && time.short_ns > 0);
    let sum: u128 = alike().map(|time| u128::from(time.short_ns)).sum();
    let state_of = |object: ObjectId| match waits {
        None if kind == PathKind::Disk => TimeState::File,
        None => works,
        waits => states::of_wait(waits, facts.accounts.objects.get(object).kind),
    };
    let mut left = whole.ns;
    for time in alike() {
        let ns = (u128::from(whole.ns) * u128::from(time.short_ns) / sum.max(1)) as u64;
        left -= ns;
        if ns > 0 {
            let part = Part { state: state_of(time.key.object), ns, known: Known::InProportion, ..whole };
            parts.push(part.in_call(time.key, Some(time)));
        }
    }
    if left > 0 {
        parts.push(Part { state: state_of(ObjectId::NONE), ns: left, ..whole });
    }
}

fn account_of(facts: &Facts, tid: Tid) -> Option<&ThreadAccount> {
    let id = facts.world.threads.id_of(tid)?;
    facts.accounts.of(id).filter(|account| account.tid == tid)
}
