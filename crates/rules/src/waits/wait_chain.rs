//! # wait-chain
//!
//! ## What it is
//! What a request (or the program itself) waits for is another thread or process of the same capture, and that one waits
//! in its turn: for a file, a peer, a lock, a CPU. The cause stands at the end of the chain, in a thread that nobody
//! looks at, while the thread that everybody looks at shows a wait and nothing else.
//!
//! ## Why it is slow
//! All who wait along the chain are as slow as its last link. A faster machine, more threads or a larger pool change
//! nothing: they wait too.
//!
//! ## Example
//! ```text
//! 11091 futex(0x7f004c01e354, FUTEX_WAIT_PRIVATE, 2, NULL) = 0 <2.821923>
//! 24594 recvfrom(233, "$-1\r\n", 8192, 0, NULL, NULL) = 5 <2.636041>
//! 24594 futex(0x7f004c01e354, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000611>
//! ```
//!
//! ## What to do instead
//! Look at the last link. Take it out of what others wait for: no I/O and no calls to others under a lock, one connection
//! a thread, work handed over without waiting for its result. Where it must be waited for, make that one thing faster, or
//! give it a time limit.
//!
//! ## When it is wrong
//! Who ended a wait is known from a recorder's wake-ups, else from futex wakes at the same address, writes to the other
//! end of the same pipe or socket, and ends of threads and children. A thread that was woken by one that merely
//! happened to give it work was not held up by it: so only time within requests counts, and where nothing is served, that
//! of the programs' first threads. At a FIFO whose other end is outside of the capture a chain ends only where the last
//! thread asks before it reads: a pipeline that waits for more to do is idle. A writer that waits for a reader which computes is mentioned, as that may be the reader's
//! job. Waiting for a child or for a thread's end is no hold-up, nor is a sleep at the end of the
//! chain, nor a thread that waits for its clients. Threads of Go wake each other as the runtime has something to run: that says nothing of
//! the goroutines, which wait without a thread, so such waits are no links; nor are those of pools' idle workers. What few requests met and is not a good part of the time of all is a
//! notice, unless somebody waited for a second, and so is an answer from a server that takes less than 5 ms and less than half of a request. A chain that ends in a queue for a CPU is mentioned where its last thread has
//! half of what all threads wait for a CPU: a queue that holds up everybody is the host's, and run-queue-delay judges it.

use super::chain_ends::{Cost, ends};
use super::held_up::{Cause, Causes};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::network::asked;
use crate::{callers, words};
use hashbrown::HashMap;
use whyslow_chain::{Explainer, Knot, KnotFinder, Path, PathKind, Scope, Segment};
use whyslow_facts::Facts;
use whyslow_facts::folds::graph::Resource;
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "wait-chain",
    group: "waits",
    summary: "requests or the program wait for a thread that itself waits for something else",
    source: include_str!("wait_chain.rs"),
    needs: &[Need::Durations, Need::Clock],
    check,
};

/// Things at the ends of chains that are told, and threads that wait for each: the diagnosis makes one finding of those.
const MAX_REPORTED: usize = 2;
const MAX_THREADS: usize = 8;
/// A chain ends in a queue for the CPUs or a quota where its last thread has at least this part of what all threads of the paths wait
/// for those: one thread that is held up, among others that run.
const OWN_SHARE_OF_QUEUE: f64 = 0.5;
/// From this part of the requests' time on, quick answers take too much of it, too.
const MUCH: f64 = 0.5;
/// Intervals whose paths are looked at, the longest ones: what costs much stands in them.
const MAX_SPANS: usize = 500;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    // Without a single known waker there is no chain.
    if !facts.graph.calls().any(|call| call.waker.is_some()) {
        return;
    }
    let explainer = Explainer::new(facts);
    let (scope, mut spans) = explainer.spans();
    spans.truncate(MAX_SPANS);
    let mut costs: HashMap<Cause, Cost> = HashMap::new();
    let (mut total, mut queued) = (0u64, 0u64);
    let causes = Causes::of(&explainer, scope);
    let mut finder = KnotFinder::new(&explainer);
    for (number, span) in spans.iter().enumerate() {
        let path = explainer.path(span.tid, span.from, span.to);
        total = total.saturating_add(path.total());
        finder.see(&path);
        let mut here: HashMap<Cause, u64> = HashMap::new();
        for segment in &path.segments {
            if is_hosts(segment.kind) {
                queued = queued.saturating_add(segment.ns);
            }
            let Some(cause) = causes.cause_of(&path, segment) else { continue };
            let sum: &mut u64 = here.entry(cause).or_default();
            *sum = sum.saturating_add(segment.ns);
        }
        for (cause, ns) in here {
            let cost = costs.entry(cause).or_default();
            cost.ns = cost.ns.saturating_add(ns);
            cost.intervals += 1;
            if ns > cost.worst.1 {
                cost.worst = (number, ns);
            }
        }
    }
    let kept = spans.len() as u64;
    let of_requests = |count| format!("the time of {}", words::plural(count, "request"));
    let shown = match scope {
        Scope::Requests => Whole { ns: total, of: of_requests(kept) },
        Scope::MainThreads => Whole { ns: total, of: "the program's own time".to_string() },
    };
    // Of each endpoint the slowest requests are kept. What few of these met is a smaller part of the time of all.
    let all = Some(facts.requests.served_time()).filter(|(ns, _)| scope == Scope::Requests && *ns > total);
    let all = all.map(|(ns, count)| Whole { ns, of: of_requests(count) });
    let knots = finder.knots();
    for end in ends(costs).into_iter().take(MAX_REPORTED) {
        let whole = all.as_ref().filter(|_| !end.is_usual(kept)).unwrap_or(&shown);
        if (end.ns as f64) < guards::WARNING_SHARE * whole.ns as f64 {
            break;
        }
        let is_rare = scope == Scope::Requests && end.is_rare(whole.ns);
        for (cause, cost) in end.costs.iter().take(MAX_THREADS) {
            // A queue that holds up everybody is the matter of run-queue-delay and cpu-throttled.
            if is_hosts(cause.1) && (cost.ns as f64) < OWN_SHARE_OF_QUEUE * queued as f64 {
                continue;
            }
            let share = Share::of_time(cost.ns as f64 / whole.ns.max(1) as f64, whole.of.clone());
            let span = &spans[cost.worst.0];
            let path = explainer.path(span.tid, span.from, span.to);
            report(&causes, out, (scope, share, is_rare), cause, cost, &path, &knots);
        }
    }
}

/// True for what the host takes: a CPU that others have, or a quota.
fn is_hosts(kind: PathKind) -> bool {
    matches!(kind, PathKind::RunQueue | PathKind::Throttled)
}

/// The time of which causes are parts, ns.
struct Whole {
    ns: u64,
    of: String,
}

#[gated]
fn report(
    causes: &Causes<'_, '_>,
    out: &mut Findings<'_>,
    (scope, share, is_rare): (Scope, Share, bool),
    (what, kind, tid): &Cause,
    cost: &Cost,
    path: &Path<'_>,
    knots: &[Knot],
) {
    let explainer = causes.explainer;
    let same = |segment: &&Segment<'_>| {
        causes
            .cause_of(path, segment)
            .is_some_and(|cause| (&cause.0, cause.1, cause.2) == (what, *kind, *tid))
    };
    let Some(worst) = path.segments.iter().filter(same).max_by_key(|segment| segment.ns) else { return };
    let links = explainer.chain_to(path, worst);
    let threads = path.stays[worst.stay].depth;
    let holder = explainer.who(*tid);
    let peer = match worst.call.map(|call| call.what) {
        Some(Resource::Peer(end)) => explainer.facts().graph.name(end.name).map(str::to_string),
        _ => None,
    };
    // What is inferred from calls is as sure as its weakest link. The wait that leads there is the one nearest to the request.
    let (mut sure, mut first) = (0.9, None);
    let mut stay = worst.stay;
    while let Some((before, wait)) = path.stays[stay].came_from {
        sure *= wait.and_then(|wait| wait.waker).map_or(1.0, |waker| waker.how.confidence());
        first = wait;
        stay = before;
    }
    // What the last thread does is what to change, where it is one of the same program.
    let facts = explainer.facts();
    let call = worst.call.map(|call| facts.name_of(call.syscall));
    let site = callers::doing_in(facts, path.tid, *tid, call);
    let subject = Subject {
        lock: first.and_then(|call| call.lock()).map(|address| format!("{address:#x}")),
        peer,
        function: callers::function(site.as_ref()),
        ..Subjects::thread(facts, path.tid)
    };
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    // A program that serves nobody may be idle: it has work in hand where it asked for something or uses its own files.
    // An excerpt does not tell either.
    let asked = worst.call.is_some_and(|call| facts.graph.name(call.asked).is_some());
    let in_hand = scope == Scope::Requests || asked || matches!(kind, PathKind::Disk | PathKind::PageFault);
    let is_hosts = is_hosts(*kind);
    // Who asks another one through a thread of its own waits as long as for any answer: a quick one holds up nobody, unless it is most of all.
    let is_quick = *kind == PathKind::Peer
        && scope == Scope::Requests
        && share.value.is_some_and(|value| value < MUCH)
        && cost.ns / cost.intervals.max(1) < asked::SLOW.or_zero();
    let sure_of_work = !is_rare && in_hand && explainer.facts().total_calls() >= guards::FEW_CALLS
        || *kind == PathKind::Pipe && !is_rare;
    let time = Measurement::time("time", Nanos::new(cost.ns));
    let waits = explainer.who(path.tid);
    // Of two threads of one name the first has it.
    let shared = waits.rsplit_once(' ').and_then(|(_, name)| holder.strip_suffix(name)).map(str::trim_end);
    let short = shared.filter(|rest| rest.starts_with("thread ")).unwrap_or(&holder);
    let title = format!(
        "{waits} is blocked {time} by {short}, which {}",
        match kind {
            PathKind::RunQueue | PathKind::Throttled | PathKind::Between | PathKind::User => what.clone(),
            _ => format!("waits for {what}"),
        }
    );
    let missing = worst.missing.map_or(String::new(), |missing| format!("; {}", explainer.missing(missing)));
    let mut found = out
        .report(share, title)
        .at_most(if sure_of_work && !is_hosts && !is_quick { Severity::Warning } else { Severity::Notice })
        .confidence(sure)
        .subject(subject)
        .cause(format!(
            "The chain goes through {} to {holder}. Of the time that counts, {time} go into that one wait, in {}{missing}.",
            words::plural(threads as u64, "other thread"),
            words::plural(cost.intervals, "interval")
        ))
        .measured(time)
        .measured(Measurement::count("threads_between", threads as u64))
        .measured(Measurement::count("intervals", cost.intervals))
        .fix(match kind {
            PathKind::Disk => format!("code: take {what} out of what others wait for: do it before or after the lock, or in a thread that nobody waits for"),
            PathKind::Peer => format!("code: do not keep others waiting during the call to {what}: one connection a thread, no lock held across it, a time limit"),
            PathKind::Throttled => format!("raise the CPU quota of {holder}'s control group (cpu.max; Kubernetes: limits.cpu), or run fewer threads at once"),
            PathKind::RunQueue => format!("give {holder} a CPU: fewer runnable threads, a larger quota, a higher weight"),
            PathKind::Between | PathKind::User => format!("make {holder} faster, or have several of it: the one that writes to it only waits (whyslow record shows its code)"),
            PathKind::Lock => format!("look who holds {what}, and for what: whyslow locks"),
            PathKind::Pipe => format!("look at the process at the other end (fuser -v on the FIFO), and record it together with these: {holder} waits for {what}"),
            _ => format!("make the wait of {holder} for {what} shorter, or let nobody wait for it"),
        })
        .fix(format!("see the whole chain: whyslow path --thread {} FILE", path.tid))
        .verify(format!("perf sched record -p {pid} -- sleep 5; perf sched timehist --wakeup-visual   (who wakes whom)"))
        .saving(Nanos::new(cost.ns));
    for link in links {
        if !link.evidence.is_empty() {
            found = found.evidence_line(
                link.evidence.clone(),
                format!("{} waits {} for {}", link.who, link.ns, link.waits_for),
            );
        }
        found = found.link(link);
    }
    let on_the_way = |knot: &&Knot| path.stays.iter().any(|stay| knot.members.contains(&stay.tid));
    for knot in knots.iter().filter(on_the_way) {
        found = found.evidence_line("the wait-for graph", knot.words());
    }
    found.file();
}
