//! The view `threads`: what each thread does, and what it waits for.

use super::rows::{finish, nothing_because};
use super::{Ask, AskError, View};
use crate::words;
use whyslow_facts::who::process_name;
use whyslow_facts::{Facts, SchedTime, ThreadFacts, ThreadId, WaitKind};
use whyslow_model::{Cell, Column, Nanos, SaturatingSum, Table};

/// The view.
pub(super) static VIEW: View = View {
    name: "threads",
    of_calls: true,
    summary: "threads: calls, rate, work, waits by kind, the longest wait, calls over time",
    by: &[],
    table,
};

fn table(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let timed = facts.has_times();
    let rows: Vec<_> = facts
        .world
        .threads
        .iter()
        .filter(|(_, thread)| thread.is_active())
        .map(|(id, thread)| cells(facts, id, thread, timed))
        .collect();
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

fn cells(facts: &Facts, id: ThreadId, thread: &ThreadFacts, timed: bool) -> Vec<Cell> {
    let time = |ns: u64| if timed { Cell::Duration(Nanos::new(ns)) } else { Cell::Unknown };
    let wall = thread.wall();
    let waiting = thread.waiting_total();
    let between = wall.get().filter(|_| timed).map(|wall| wall.saturating_sub(waiting + thread.working_ns));
    let longest = facts
        .waits
        .longest()
        .into_iter()
        .find(|wait| wait.tid == thread.tid && wait.process == thread.process);
    let mut cells = vec![
        Cell::Text(process_name(facts, thread.process)),
        Cell::Text(name(facts, thread)),
        Cell::Count(thread.calls),
        Cell::per_second(whyslow_facts::window::per_second(thread.calls, thread.first, thread.last)),
        Cell::duration(wall),
        time(thread.working_ns),
        time(waiting),
        between.map_or(Cell::Unknown, |ns| Cell::Duration(Nanos::new(ns))),
    ];
    cells.extend(scheduling(facts, thread));
    cells.extend(KINDS.iter().map(|(kind, ..)| match thread.waiting_ns[*kind as usize] {
        0 => Cell::Unknown,
        ns => time(ns),
    }));
    cells.extend([
        Cell::duration(longest.map_or(Nanos::UNKNOWN, |wait| wait.dur)),
        Cell::text(longest.map(|wait| {
            let target = wait.target.as_deref().unwrap_or(wait.kind.word());
            format!("{} {target}", facts.name_of(wait.syscall))
        })),
        Cell::text(Some(sparkline(facts.activity.of(id))).filter(|line| !line.is_empty())),
    ]);
    cells
}

/// Where its time went by the scheduler's account, and who wakes it most.
fn scheduling(facts: &Facts, thread: &ThreadFacts) -> [Cell; 5] {
    let time = thread.sched.as_deref();
    let part = |part: fn(&SchedTime) -> Nanos| Cell::duration(time.map_or(Nanos::UNKNOWN, part));
    let wakers = if thread.merged > 1 { Vec::new() } else { facts.sched.wakers_of(thread.tid) };
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
        part(|time| Nanos::new(time.on_cpu_ns)),
        part(|time| Nanos::new(time.runnable_ns)),
        part(|time| Nanos::new(time.blocked_ns)),
        part(|time| time.run_queue.percentile(0.99)),
        Cell::text(waker),
    ]
}

/// `tid comm`, as far as known.
pub(super) fn name(facts: &Facts, thread: &ThreadFacts) -> String {
    if thread.merged > 1 {
        return format!("{} ended", words::plural(thread.merged, "thread"));
    }
    let comm = thread.comm.as_deref().or_else(|| facts.world.threads.process(thread.process).name());
    match (thread.tid, comm) {
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

    #[test]
    fn bars() {
        assert_eq!(sparkline(&[0, 1, 50, 100]), " ▁▄█");
        assert_eq!(sparkline(&[]), "");
        assert_eq!(sparkline(&[0, 0]), "  ");
    }
}
