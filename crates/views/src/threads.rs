//! The view `threads`: what each thread does, and what it waits for.

use super::rows::{finish, name_pattern, nothing_because};
use super::{Ask, AskError, View};
use crate::words;
use hashbrown::HashMap;
use whyslow_facts::who::process_name;
use whyslow_facts::{Facts, ProcessId, SchedTime, ThreadFacts, ThreadId, WaitKind};
use whyslow_model::{Cell, Column, Histogram, Nanos, SaturatingSum, Table, Timestamp};

/// The view.
pub(super) static VIEW: View = View {
    name: "threads",
    of_calls: true,
    summary: "threads: calls, rate, work, waits by kind, the longest wait, calls over time",
    by: &["name", "thread"],
    table,
};

fn table(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let timed = facts.has_times();
    let by_name = VIEW.grouping(ask)? == "name";
    let groups = groups(facts, by_name);
    let rows: Vec<_> = groups.iter().map(|group| cells(facts, group, timed)).collect();
    let mut notes: Vec<String> = nothing_because(facts, "threads").into_iter().collect();
    if facts.sched.is_known() {
        notes.push(
            "on-CPU, runnable (no CPU free for it) and blocked are the scheduler's account; working and waiting \
             are time in calls."
                .to_string(),
        );
    } else if timed && !rows.is_empty() {
        notes.push(
            "between: from a call's end to the next one's start, on a CPU in user mode or runnable; a trace cannot \
             tell which."
                .to_string(),
        );
    }
    if groups.iter().any(|group| group.len() > 1) {
        notes.push(
            "Threads of one program whose names differ in a number at most share a row, their times added up: \
             --by thread shows each."
                .to_string(),
        );
    }
    if facts.capture.has_clock() && facts.activity.used() > 0 {
        notes.push(format!("over time: calls begun, {} a character.", facts.activity.slot()));
    }
    if facts.world.threads.merged_threads > 0 {
        let merged = words::plural(facts.world.threads.merged_threads, "short-lived thread");
        notes.push(format!("{merged} share the rows of others that ended."));
    }
    let mut columns = vec![
        Column::new("process", "process"),
        Column::new("thread", "thread"),
        Column::optional("threads", "threads", 5),
        Column::optional("mostly", "mostly", 1),
        Column::new("calls", "calls"),
        Column::optional("calls_per_s", "calls/s", 3),
        Column::optional("wall", "wall", 4),
        Column::new("working", "working"),
        Column::new("waiting", "waiting"),
        Column::optional("between", "between", 2),
    ];
    columns.extend([
        Column::optional("on_cpu", "on-CPU", 2),
        Column::optional("runnable", "runnable", 2),
        Column::optional("blocked", "blocked", 2),
        Column::optional("run_queue_p99", "run queue p99", 4),
        Column::optional("woken_by", "woken by", 3),
    ]);
    columns.extend(KINDS.iter().map(|(_, key, heading)| Column::optional(key, heading, 6)));
    columns.extend([
        Column::optional("longest_wait", "longest", 1),
        Column::optional("longest_for", "for", 5),
        Column::optional("over_time", "over time", 4),
    ]);
    let table = Table {
        name: VIEW.name,
        question: "What does each thread do, and what does it wait for?".to_string(),
        columns,
        rows,
        total: None,
        notes,
    };
    finish(
        table,
        ask,
        match (facts.sched.is_known(), timed) {
            (true, _) => "on_cpu",
            (_, true) => "working",
            _ => "calls",
        },
    )
}

/// The kinds of waits with the keys and headings of their columns.
const KINDS: [(WaitKind, &str, &str); WaitKind::COUNT] = [
    (WaitKind::Lock, "lock", "lock"),
    (WaitKind::Network, "network", "network"),
    (WaitKind::Pipe, "pipe", "pipe"),
    (WaitKind::Timer, "timer", "timer"),
    (WaitKind::Child, "child", "child"),
    (WaitKind::Poll, "poll", "poll"),
    (WaitKind::Accept, "accept", "accept"),
    (WaitKind::Other, "other", "other"),
];

/// A thread with its place.
type Member<'a> = (ThreadId, &'a ThreadFacts);

/// The threads that have a row together, each row's in order of their appearance.
fn groups(facts: &Facts, by_name: bool) -> Vec<Vec<Member<'_>>> {
    let mut groups: Vec<Vec<Member<'_>>> = Vec::new();
    let mut known: HashMap<(String, String), usize> = HashMap::new();
    for (id, thread) in facts.world.threads.iter().filter(|(_, thread)| thread.is_active()) {
        let name = comm(facts, thread).filter(|_| by_name);
        let Some(name) = name else {
            groups.push(vec![(id, thread)]);
            continue;
        };
        let process = facts.world.threads.process(thread.process);
        let program = process.name().map_or_else(|| process_name(facts, thread.process), str::to_string);
        let at = *known.entry((program, name_pattern(name).into_owned())).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[at].push((id, thread));
    }
    groups
}

fn cells(facts: &Facts, group: &[Member<'_>], timed: bool) -> Vec<Cell> {
    let time = |ns: u64| if timed { Cell::Duration(Nanos::new(ns)) } else { Cell::Unknown };
    let threads = || group.iter().map(|(_, thread)| *thread);
    let sum = |of: fn(&ThreadFacts) -> u64| threads().map(of).saturating_sum();
    // A time is known where each thread's is.
    let wall =
        threads().map(|thread| thread.wall().get()).try_fold(0u64, |sum, ns| Some(sum.saturating_add(ns?)));
    let (working, waiting) = (sum(|thread| thread.working_ns), sum(ThreadFacts::waiting_total));
    let between = wall.filter(|_| timed).map(|wall| wall.saturating_sub(waiting.saturating_add(working)));
    let kinds = KINDS.map(|(kind, key, _)| {
        (key, threads().map(|thread| thread.waiting_ns[kind as usize]).saturating_sum())
    });
    let longest = (facts.waits.longest().into_iter())
        .find(|wait| threads().any(|thread| wait.tid == thread.tid && wait.process == thread.process));
    let calls = sum(|thread| thread.calls);
    let (first, last) = threads().fold((Timestamp::UNKNOWN, Timestamp::UNKNOWN), |(first, last), thread| {
        let earlier = thread.first.is_known() && (!first.is_known() || thread.first < first);
        let later = thread.last.is_known() && (!last.is_known() || thread.last > last);
        (if earlier { thread.first } else { first }, if later { thread.last } else { last })
    });
    let mut mostly = vec![("working", working)];
    mostly.extend(kinds);
    if let Some(time) = scheduled(group) {
        let other = time.blocked_ns.saturating_sub(waiting);
        mostly[0] = ("on-CPU", time.on_cpu_ns);
        mostly.extend([("runnable", time.runnable_ns), ("blocked", other)]);
    } else {
        mostly.push(("between", between.unwrap_or_default()));
    }
    let mostly = mostly.into_iter().max_by_key(|(_, ns)| *ns).filter(|(_, ns)| timed && *ns > 0);
    let share = |ns: u64| {
        wall.filter(|wall| *wall > 0).map(|wall| words::percent((ns as f64 / wall as f64).min(1.0)))
    };
    let mut cells = vec![
        Cell::Text(process_of(facts, group)),
        Cell::Text(name_of(facts, group)),
        Cell::Count(sum(|thread| thread.merged)),
        Cell::text(mostly.and_then(|(word, ns)| Some(format!("{word} {}", share(ns)?)))),
        Cell::Count(calls),
        Cell::per_second(whyslow_facts::window::per_second(calls, first, last)),
        wall.map_or(Cell::Unknown, |ns| Cell::Duration(Nanos::new(ns))),
        time(working),
        time(waiting),
        between.map_or(Cell::Unknown, |ns| Cell::Duration(Nanos::new(ns))),
    ];
    cells.extend(scheduling(facts, group));
    cells.extend(kinds.map(|(_, ns)| if ns == 0 { Cell::Unknown } else { time(ns) }));
    cells.extend([
        Cell::duration(longest.map_or(Nanos::UNKNOWN, |wait| wait.dur)),
        Cell::text(longest.map(|wait| {
            let target = wait.target.as_deref().unwrap_or(wait.kind.word());
            format!("{} {target}", facts.name_of(wait.syscall))
        })),
        Cell::text(Some(sparkline(&activity(facts, group))).filter(|line| !line.is_empty())),
    ]);
    cells
}

/// Calls begun over time, of all of them.
fn activity(facts: &Facts, group: &[Member<'_>]) -> Vec<u32> {
    let mut sum: Vec<u32> = Vec::new();
    for counts in group.iter().map(|(id, _)| facts.activity.of(*id)) {
        sum.resize(sum.len().max(counts.len()), 0);
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(*count));
    }
    sum
}

/// The scheduler's times of a row.
struct Scheduled {
    on_cpu_ns: u64,
    runnable_ns: u64,
    blocked_ns: u64,
    run_queue: Histogram,
}

/// Their sums; `None` where of one of the threads nothing is known.
fn scheduled(group: &[Member<'_>]) -> Option<Scheduled> {
    let mut sum = Scheduled { on_cpu_ns: 0, runnable_ns: 0, blocked_ns: 0, run_queue: Histogram::default() };
    for (_, thread) in group {
        let time: &SchedTime = thread.sched.as_deref()?;
        sum.on_cpu_ns = sum.on_cpu_ns.saturating_add(time.on_cpu_ns);
        sum.runnable_ns = sum.runnable_ns.saturating_add(time.runnable_ns);
        sum.blocked_ns = sum.blocked_ns.saturating_add(time.blocked_ns);
        sum.run_queue.merge(&time.run_queue);
    }
    Some(sum)
}

/// Where their time went by the scheduler's account, and who wakes a single one most.
fn scheduling(facts: &Facts, group: &[Member<'_>]) -> [Cell; 5] {
    let time = scheduled(group);
    let part = |part: fn(&Scheduled) -> u64| {
        time.as_ref().map_or(Cell::Unknown, |time| Cell::Duration(Nanos::new(part(time))))
    };
    let wakers = match group {
        [(_, thread)] if thread.merged == 1 => facts.sched.wakers_of(thread.tid),
        _ => Vec::new(),
    };
    let all = wakers.iter().map(|(_, count)| *count).saturating_sum();
    let waker = wakers.first().map(|(waker, count)| {
        let who = match waker {
            None => "interrupts".to_string(),
            Some(tid) => {
                let known =
                    facts.world.threads.iter().map(|(_, thread)| thread).find(|thread| thread.tid == *tid);
                known.map_or(tid.to_string(), |thread| name(facts, thread))
            }
        };
        format!("{who} {}", words::percent(*count as f64 / all as f64))
    });
    [
        part(|time| time.on_cpu_ns),
        part(|time| time.runnable_ns),
        part(|time| time.blocked_ns),
        Cell::duration(time.as_ref().map_or(Nanos::UNKNOWN, |time| time.run_queue.percentile(0.99))),
        Cell::text(waker),
    ]
}

/// Their process, or how many of that name.
fn process_of(facts: &Facts, group: &[Member<'_>]) -> String {
    let mut processes: Vec<ProcessId> = group.iter().map(|(_, thread)| thread.process).collect();
    processes.sort_unstable();
    processes.dedup();
    match processes[..] {
        [one] => process_name(facts, one),
        [first, ..] => {
            let name = facts.world.threads.process(first).name().unwrap_or("(unknown)");
            format!("{} x {name}", processes.len())
        }
        [] => String::new(),
    }
}

/// The name of a row's threads: `514 worker-1`, `worker-{n}`.
fn name_of(facts: &Facts, group: &[Member<'_>]) -> String {
    let names = || group.iter().filter_map(|(_, thread)| comm(facts, thread));
    match (group, names().next()) {
        ([(_, thread)], _) => name(facts, thread),
        (_, Some(first)) if names().all(|name| name == first) => first.to_string(),
        (_, Some(first)) => name_pattern(first).into_owned(),
        (_, None) => String::new(),
    }
}

/// A thread's name, else its process's.
fn comm<'a>(facts: &'a Facts, thread: &'a ThreadFacts) -> Option<&'a str> {
    thread.comm.as_deref().or_else(|| facts.world.threads.process(thread.process).name())
}

/// `tid comm`, as far as known.
pub(super) fn name(facts: &Facts, thread: &ThreadFacts) -> String {
    if thread.merged > 1 {
        return format!("{} ended", words::plural(thread.merged, "thread"));
    }
    match (thread.tid, comm(facts, thread)) {
        (0, Some(comm)) => comm.to_string(),
        (0, None) => "(unknown)".to_string(),
        (tid, Some(comm)) => format!("{tid} {comm}"),
        (tid, None) => tid.to_string(),
    }
}

/// Counts as bars, the largest full; a blank is none.
fn sparkline(counts: &[u32]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0) as u64;
    counts
        .iter()
        .map(|count| match *count as u64 {
            0 => ' ',
            count => BARS[((count * BARS.len() as u64).div_ceil(most).clamp(1, 8) - 1) as usize],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::event::Tid;
    use whyslow_model::{Call, Event, ProcessInfo, Ret, Sink};

    /// Threads of one process with these names, each with a wait of a second for another to wake it.
    fn facts(names: &[(Tid, &str)]) -> Facts {
        let mut facts = Facts::default();
        let told = |tid: Option<Tid>, comm: &str| {
            Event::Process(ProcessInfo { pid: 7, tid, comm: Some(comm.into()), ..ProcessInfo::default() })
        };
        facts.push(told(None, "main"));
        for (at, (tid, name)) in (1u64..).zip(names) {
            if *tid != 7 {
                facts.push(told(Some(*tid), name));
            }
            let mut call = Call::new("futex", "0x10, FUTEX_WAIT, 2, NULL");
            (call.tid, call.pid, call.ret) = (*tid, Some(7), Ret::Value(0));
            (call.ts, call.dur) = (Timestamp::new(at * 1_000_000), Nanos::from_secs(1));
            facts.push(Event::Call(&call));
        }
        facts.finish();
        facts
    }

    fn rows(facts: &Facts, by: &str) -> Vec<(String, u64)> {
        let table = VIEW.of(facts, &Ask { by: Some(by.to_string()), ..Ask::default() }).unwrap();
        let column = |key: &str| table.columns.iter().position(|column| column.key == key).unwrap();
        let (thread, waiting) = (column("thread"), column("waiting"));
        let mut rows: Vec<(String, u64)> = (table.rows.iter())
            .map(|row| match (&row[thread], &row[waiting]) {
                (Cell::Text(name), Cell::Duration(ns)) => (name.clone(), ns.or_zero()),
                other => panic!("{other:?}"),
            })
            .collect();
        rows.sort();
        rows
    }

    #[test]
    fn threads_whose_names_differ_in_a_number_share_a_row() {
        let facts = facts(&[(7, "main"), (8, "worker-1"), (9, "worker-2"), (10, "worker-30")]);
        let second = 1_000_000_000;
        assert_eq!(rows(&facts, "name"), [("7 main".into(), second), ("worker-{n}".into(), 3 * second)]);
        let apart = rows(&facts, "thread");
        assert_eq!(apart.len(), 4);
        assert!(apart.contains(&("9 worker-2".into(), second)), "{apart:?}");
    }

    #[test]
    fn bars() {
        assert_eq!(sparkline(&[0, 1, 50, 100]), " ▁▄█");
        assert_eq!(sparkline(&[]), "");
        assert_eq!(sparkline(&[0, 0]), "  ");
    }
}
