use super::*;
use proptest::prelude::*;
use whyslow_model::{Event, Exit, ProcessInfo, Sink, SourceId, ThreadCounts, Tid, Timestamp};

const CALLS: [&str; 5] = ["read", "getppid", "futex", "epoll_wait", "openat"];
const CONTAINER: &str = "3f4e5d6c7b8a";

/// Whose control group and container, if any are told, by the number of the process.
fn info(pid: Tid) -> ProcessInfo {
    let (cgroup, container) = match pid % 3 {
        0 => (Some("/system.slice/redis.service"), None),
        1 => (Some("/docker/3f4e5d6c7b8a"), Some(CONTAINER)),
        _ => (None, None),
    };
    ProcessInfo {
        pid,
        comm: Some(format!("p{}", pid % 4)),
        cgroup: cgroup.map(str::to_string),
        container: container.map(str::to_string),
        ..ProcessInfo::default()
    }
}

fn counts(pid: Tid, tid: Tid, name: &str, durations: &[u64]) -> Event<'static> {
    let mut stats = CallStats::default();
    durations.iter().for_each(|ns| stats.record(Nanos::new(*ns), ns % 3 == 0, 0));
    Event::ThreadCounts(Box::new(ThreadCounts {
        pid,
        tid,
        syscall: Syscall::lookup(name.as_bytes()).unwrap(),
        name: name.to_string(),
        from: Timestamp::new(0),
        to: Timestamp::new(1_000_000_000),
        stats,
    }))
}

fn by(facts: &Facts, key: &str) -> Table {
    (VIEW.table)(facts, &Ask { by: Some(key.to_string()), ..Ask::default() }).unwrap()
}

fn number(row: &[Cell], table: &Table, key: &str) -> u64 {
    let at = table.columns.iter().position(|column| column.key == key).unwrap();
    match &row[at] {
        Cell::Count(n) => *n,
        Cell::Duration(ns) => ns.get().unwrap(),
        other => panic!("{key}: {other:?}"),
    }
}

proptest! {
    /// By whatever owner calls are split, all of them are there once: counts, errors and time add up to the whole, and the
    /// shortest and the longest are those of the whole.
    #[test]
    fn the_parts_are_the_whole(
        rows in prop::collection::vec((0u32..40, 0u32..4, 0usize..CALLS.len(), prop::collection::vec(1u64..1 << 40, 1..9)), 1..60)
    ) {
        let mut facts = Facts::default();
        for pid in 0..40 {
            facts.push(Event::Process(info(100 + pid)));
        }
        for (process, thread, call, durations) in &rows {
            let pid = 100 + process;
            facts.push(counts(pid, 1000 + pid * 10 + thread, CALLS[*call], durations));
        }
        facts.finish();
        let all: Vec<u64> = rows.iter().flat_map(|(.., durations)| durations.iter().copied()).collect();
        let whole = [
            ("calls", all.len() as u64),
            ("errors", all.iter().filter(|ns| *ns % 3 == 0).count() as u64),
            ("total", all.iter().sum()),
        ];
        for key in VIEW.by.iter().filter(|key| !matches!(**key, "errno" | "syscall,errno" | "path" | "pattern" | "fd" | "peer" | "function" | "process,function")) {
            let table = by(&facts, key);
            let total = table.total.as_ref().unwrap();
            for (column, sum) in whole {
                prop_assert_eq!(number(total, &table, column), sum, "{} of {}", column, key);
                let parts: u64 = table.rows.iter().map(|row| number(row, &table, column)).sum();
                prop_assert_eq!(parts, sum, "{} by {}", column, key);
            }
            prop_assert_eq!(Some(number(total, &table, "min")), all.iter().min().copied());
            prop_assert_eq!(Some(number(total, &table, "max")), all.iter().max().copied());
            // Never a count without its time.
            for row in &table.rows {
                for column in ["calls", "total", "mean", "min", "p50", "p99", "max"] {
                    number(row, &table, column);
                }
            }
        }
    }
}

#[test]
fn containers_are_told_apart_from_none_and_from_unknown() {
    let mut facts = Facts::default();
    for pid in [3, 4, 5] {
        facts.push(Event::Process(info(pid)));
        facts.push(counts(pid, pid, "getppid", &[pid.into()]));
    }
    facts.finish();
    let table = by(&facts, "container");
    let mut names: Vec<&Cell> = table.rows.iter().filter_map(|row| row.last()).collect();
    names.sort_by_key(|cell| format!("{cell:?}"));
    let text = |text: &str| Cell::Text(text.to_string());
    assert_eq!(names, [&text("(none)"), &text("(unknown)"), &text(CONTAINER)]);
}

/// Thousands of short-lived processes share a row: they are called ended, and stay in their control group.
#[test]
fn ended_processes_are_nobody_elses() {
    let mut facts = Facts::default();
    let all = 9_000u32;
    for pid in 1..=all {
        facts.push(Event::Process(info(pid)));
        facts.push(counts(pid, pid, "getppid", &[1_000]));
        let ts = Timestamp::new(1_000_000_000);
        facts.push(Event::Exit(Exit {
            source: SourceId::default(),
            line: 0,
            tid: pid,
            ts,
            status: Some(0),
            signal: None,
        }));
    }
    facts.finish();
    let table = by(&facts, "cgroup");
    for row in &table.rows {
        assert_eq!(number(row, &table, "calls"), u64::from(all / 3), "{row:?}");
    }
    assert_eq!(table.rows.len(), 3);
    let table = by(&facts, "process");
    let most = table.rows.iter().max_by_key(|row| number(row, &table, "calls")).unwrap();
    assert_eq!(most.last(), Some(&Cell::Text("(ended)".to_string())));
    let others = table.rows.iter().filter(|row| row.last() != most.last());
    assert!(others.into_iter().all(|row| number(row, &table, "calls") == 1));
}
