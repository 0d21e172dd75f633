//! The view `path`: where the time of a thread or a request went, followed through those that it waited for; and over all,
//! which cause costs which share.

use super::rows::{finish, name_pattern, nothing_because};
use super::{Ask, AskError, View};
use crate::words;
use whyslow_chain::{Explainer, PathKind, Scope, TimeNode, WaitSpan};
use whyslow_facts::Facts;
use whyslow_model::event::Tid;
use whyslow_model::{Cell, Column, Nanos, SaturatingSum, Table, Timestamp};

/// The view.
pub(super) static VIEW: View = View {
    name: "path",
    of_calls: true,
    summary: "cause chains: where the time of a thread, a request or all of them went, and who held them up",
    by: &["what", "thread"],
    table,
};

/// Of which interval, and what is thought away.
#[derive(Clone, Debug, Default)]
pub struct PathAsk {
    /// The thread.
    pub thread: Option<Tid>,
    /// A moment within one of its waits, as a time of day: `10:00:00.5`.
    pub at: Option<String>,
    /// The request, by its number.
    pub request: Option<u64>,
    /// What costs nothing: a kind, or a part of a name.
    pub without: Option<String>,
}

/// Rows of one level of the tree; the rest is one row.
const MAX_LEVEL: usize = 8;
/// Smaller parts of the whole are not shown by themselves.
const SMALLEST: f64 = 0.005;
/// A rest below this would be shown as nothing.
const LEAST: f64 = 0.000_5;
/// A day, ns.
const DAY_NS: u64 = 86_400_000_000_000;

fn table(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let at = ask.path.at.as_deref().map(time_of_day).transpose()?;
    let by_thread = VIEW.grouping(ask)? == "thread";
    let explainer = Explainer::new(facts);
    let mut notes: Vec<String> = nothing_because(facts, "waits").into_iter().collect();
    let table = match (ask.path.thread, ask.path.request) {
        (None, None) => over_all(&explainer, ask, by_thread, notes),
        (thread, request) => {
            let span = match (thread, request) {
                (_, Some(number)) => of_request(facts, number),
                (Some(tid), _) => of_thread(&explainer, tid, at),
                _ => None,
            };
            if span.is_none() {
                not_there(facts, &ask.path)?;
                not_then(&explainer, thread, at)?;
                if let Some(tid) = thread {
                    notes.push(format!("There is no wait of thread {tid} then."));
                }
            }
            of_span(&explainer, span, ask, notes)
        }
    };
    finish(table, ask, "none")
}

/// The request's time, in the thread that answered it: what came before in other threads led there.
fn of_request(facts: &Facts, number: u64) -> Option<WaitSpan> {
    let request = facts.requests.find(number)?;
    let tid = request.answered_by.unwrap_or(request.tid);
    Some(WaitSpan { tid, from: request.begin, to: request.begin.plus(request.dur) })
}

/// An error where the thread or the request is another than those that there are. Nothing is wrong with a question that is asked before
/// anything was read.
fn not_there(facts: &Facts, ask: &PathAsk) -> Result<(), AskError> {
    /// Numbers that are named.
    const NAMED: usize = 5;
    if facts.capture.sources.is_empty() {
        return Ok(());
    }
    if let Some(got) = ask.request {
        let kept: Vec<u64> = facts.requests.records().map(|request| request.number).collect();
        return Err(match kept.is_empty() {
            true => AskError::NoRequest { got },
            false => AskError::Request { got, known: some_of(kept, NAMED) },
        });
    }
    let threads = facts.world.threads.iter().map(|(_, thread)| thread).filter(|thread| thread.is_active());
    let tids: Vec<Tid> = threads.map(|thread| thread.tid).collect();
    match ask.thread.filter(|got| !tids.is_empty() && !tids.contains(got)) {
        Some(got) => Err(AskError::Thread { got, known: some_of(tids, NAMED) }),
        None => Ok(()),
    }
}

/// An error where the thread is not shown at that time of day.
fn not_then(explainer: &Explainer<'_>, thread: Option<Tid>, at: Option<u64>) -> Result<(), AskError> {
    let (Some(tid), Some(at)) = (thread, at) else { return Ok(()) };
    let Some((from, to)) = explainer.span(tid) else { return Ok(()) };
    let is_shown = moments(from, at).is_some_and(|moments| moments.iter().any(|at| from <= *at && *at <= to));
    match is_shown {
        true => Ok(()),
        false => Err(AskError::At { tid, from: from.time_of_day(), to: to.time_of_day() }),
    }
}

/// A time of day is one of the day of the capture's start, or of the next.
fn moments(from: Timestamp, at: u64) -> Option<[Timestamp; 2]> {
    let midnight = from.get()? / DAY_NS * DAY_NS;
    Some([at, DAY_NS + at].map(|at| Timestamp::new(midnight.saturating_add(at))))
}

/// The lowest few, in words.
fn some_of<T: Ord + ToString>(mut numbers: Vec<T>, most: usize) -> String {
    numbers.sort_unstable();
    let more = if numbers.len() > most { ", ..." } else { "" };
    let shown: Vec<String> = numbers.iter().take(most).map(T::to_string).collect();
    format!("{}{more}", shown.join(", "))
}

/// All of a thread's life, or its wait at a moment.
fn of_thread(explainer: &Explainer<'_>, tid: Tid, at: Option<u64>) -> Option<WaitSpan> {
    let (from, to) = explainer.span(tid)?;
    let Some(at) = at else { return Some(WaitSpan { tid, from, to }) };
    let call =
        moments(from, at)?.into_iter().find_map(|moment| explainer.facts().graph.call_at(tid, moment))?;
    Some(WaitSpan { tid, from: call.from, to: call.to })
}

fn of_span(explainer: &Explainer<'_>, span: Option<WaitSpan>, ask: &Ask, mut notes: Vec<String>) -> Table {
    let mut rows = Vec::new();
    if let Some(span) = span {
        let path = explainer.path(span.tid, span.from, span.to);
        let total = path.total();
        rows.push(vec![
            Cell::Text(explainer.who(span.tid)),
            Cell::Text(format!("{} to {}", span.from.time_of_day(), span.to.time_of_day())),
            Cell::Unknown,
            Cell::Duration(Nanos::new(total)),
            Cell::Share(1.0),
            Cell::Unknown,
            Cell::Unknown,
        ]);
        let tree = explainer.tree(&path);
        level(explainer, &tree, 1, total, &mut rows);
        let kinds = path.by_kind().into_iter().map(|(kind, ns)| {
            format!(
                "{} {} ({})",
                kind.word(),
                Nanos::new(ns),
                words::percent(ns as f64 / total.max(1) as f64)
            )
        });
        notes.push(format!("time: {}.", kinds.collect::<Vec<_>>().join(", ")));
        if path.segments.iter().any(|segment| !segment.exact) {
            notes.push(
                "~ is a part of a longer time of which the capture keeps the sums only: in proportion."
                    .to_string(),
            );
        }
        if let Some(pattern) = &ask.path.without {
            let (now, then) = explainer.without(&path, &[pattern.as_str()]);
            notes.push(format!("without {pattern}: {then} instead of {now}, at best."));
        }
    }
    Table {
        name: VIEW.name,
        question: "Where did this time go, and who held it up?".to_string(),
        columns: vec![
            Column::new("who", "who"),
            Column::new("what", "what it does or waits for"),
            Column::new("kind", "kind"),
            Column::new("time", "time"),
            Column::new("share", "share"),
            Column::optional("times", "times", 2),
            Column::optional("evidence", "seen at", 1),
        ],
        rows,
        total: None,
        notes,
    }
}

fn level(explainer: &Explainer<'_>, nodes: &[TimeNode], depth: usize, total: u64, rows: &mut Vec<Vec<Cell>>) {
    let indent = "  ".repeat(depth);
    let share = |ns: u64| ns as f64 / total.max(1) as f64;
    let shown = nodes.iter().take(MAX_LEVEL).take_while(|node| share(node.ns) >= SMALLEST).count().max(1);
    for node in nodes.iter().take(shown) {
        let who = node.thread.map_or(String::new(), |tid| format!("woken by {}", explainer.who(tid)));
        let missing =
            node.missing.map_or(String::new(), |missing| format!("; {}", explainer.missing(missing)));
        let rough = if node.exact { "" } else { "~ " };
        rows.push(vec![
            Cell::Text(format!("{indent}{who}")),
            Cell::Text(format!("{rough}{}{missing}", node.what)),
            Cell::text(node.kind.map(PathKind::word)),
            Cell::Duration(Nanos::new(node.ns)),
            Cell::Share(share(node.ns)),
            Cell::Count(node.times),
            Cell::text(Some(node.evidence.clone()).filter(|evidence| !evidence.is_empty())),
        ]);
        level(explainer, &node.below, depth + 1, total, rows);
    }
    let rest = nodes.iter().skip(shown).map(|node| node.ns).saturating_sum();
    if share(rest) >= LEAST {
        rows.push(vec![
            Cell::Text(indent),
            Cell::Text(words::plural((nodes.len() - shown) as u64, "smaller part")),
            Cell::Unknown,
            Cell::Duration(Nanos::new(rest)),
            Cell::Share(share(rest)),
            Cell::Unknown,
            Cell::Unknown,
        ]);
    }
}

/// The threads of a cost: `thread 512 worker-3`, `8 threads worker-{n}`, `8 threads`.
fn threads_of(explainer: &Explainer<'_>, tids: &[Tid]) -> String {
    let [first, rest @ ..] = tids else { return String::new() };
    if rest.is_empty() {
        return explainer.who(*first);
    }
    let many = words::plural(tids.len() as u64, "thread");
    let Some(name) = explainer.name(*first) else { return many };
    let same = |name: &str| rest.iter().all(|tid| explainer.name(*tid) == Some(name));
    let alike = |pattern: &str| {
        rest.iter().all(|tid| explainer.name(*tid).is_some_and(|name| name_pattern(name) == pattern))
    };
    match name_pattern(name) {
        _ if same(name) => format!("{many} {name}"),
        pattern if alike(&pattern) => format!("{many} {pattern}"),
        _ => many,
    }
}

fn over_all(explainer: &Explainer<'_>, ask: &Ask, by_thread: bool, mut notes: Vec<String>) -> Table {
    let blame = explainer.blame(by_thread);
    let rows: Vec<_> = (blame.costs.iter())
        .map(|cost| {
            vec![
                Cell::Text(cost.what.clone()),
                Cell::Text(cost.kind.word().to_string()),
                Cell::Text(threads_of(explainer, &cost.tids)),
                Cell::Duration(Nanos::new(cost.ns)),
                Cell::Share(cost.ns as f64 / blame.total_ns.max(1) as f64),
                Cell::Duration(Nanos::new(cost.elsewhere_ns)),
                Cell::Count(cost.intervals),
                Cell::text(Some(cost.evidence.clone()).filter(|evidence| !evidence.is_empty())),
            ]
        })
        .collect();
    if blame.intervals > 0 {
        let of = match blame.scope {
            Scope::Requests => {
                words::plural(blame.intervals, "request") + " (of each endpoint the slowest and the failed)"
            }
            Scope::MainThreads => {
                words::plural(blame.intervals, "main thread") + " of programs that serve no requests"
            }
        };
        notes.push(format!("share: of {}, the time of {of}.", Nanos::new(blame.total_ns)));
        notes.push("blocked others: the part that another thread waited for.".to_string());
        if blame.costs.iter().any(|cost| cost.tids.len() > 1) {
            notes.push("--by thread shows each thread's part by itself.".to_string());
        }
    }
    notes.extend(blame.knots.iter().map(|knot| format!("knot: {}.", knot.words())));
    if let Some(pattern) = ask.path.without.as_ref().filter(|_| blame.intervals > 0) {
        let all = explainer.all_without(&[&[pattern.as_str()]]);
        for lengths in &all {
            let ((p50, p50_then), (p99, p99_then)) = (lengths.percentile(0.5), lengths.percentile(0.99));
            let end = match lengths.now == lengths.then {
                true => ": no part of that time is called so, the rows name what there is.",
                false => ", at best.",
            };
            notes.push(format!(
                "without {pattern}: p50 {p50_then} instead of {p50}, p99 {p99_then} instead of {p99}{end}"
            ));
        }
    }
    Table {
        name: VIEW.name,
        question: "Critical path: where does the requests' time go?".to_string(),
        columns: vec![
            Column::new("what", "what"),
            Column::new("kind", "kind"),
            Column::new("who", "in"),
            Column::new("time", "time"),
            Column::new("share", "share"),
            Column::optional("elsewhere", "blocked others", 2),
            Column::optional("intervals", "in how many", 3),
            Column::optional("evidence", "seen at", 1),
        ],
        rows,
        total: None,
        notes,
    }
}

/// `10:00:00.5` as ns since midnight.
fn time_of_day(text: &str) -> Result<u64, AskError> {
    let read = || {
        let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
        let mut parts = clock.split(':').map(|part| part.parse::<u64>().ok());
        let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
        let digits = fraction.len() <= 9 && fraction.bytes().all(|byte| byte.is_ascii_digit());
        let ns = if digits { format!("{fraction:0<9}").parse::<u64>().ok()? } else { return None };
        let fits = parts.next().is_none() && hours < 24 && minutes < 60 && seconds < 61;
        fits.then_some((hours * 3600 + minutes * 60 + seconds) * 1_000_000_000 + ns)
    };
    read().ok_or_else(|| AskError::Time { got: text.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day() {
        assert_eq!(time_of_day("00:00:01.5"), Ok(1_500_000_000));
        assert_eq!(time_of_day("10:00"), Ok(36_000_000_000_000));
        for bad in ["", "10", "24:00:00", "10:00:00.x", "10:00:00.1234567890", "-1:00:00", "1:2:3:4"] {
            assert!(time_of_day(bad).is_err(), "{bad}");
        }
    }
}
