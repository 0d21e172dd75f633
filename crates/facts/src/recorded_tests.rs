//! What of a recording counts as what: counts for calls, full spans for the window, forks for inherited descriptors.

use crate::Facts;
use whyslow_model::*;

fn call<'a>(tid: Tid, pid: Tid, at_ms: u64, name: &'a str, args: &'a str, ret: i64) -> Call<'a> {
    let ts = Timestamp::new(at_ms * 1_000_000);
    Call { tid, pid: Some(pid), ts, dur: Nanos::new(1_000), ret: Ret::Value(ret), ..Call::new(name, args) }
}

fn counts(tid: Tid, name: &str, count: u64, from_ms: u64, to_ms: u64) -> Event<'static> {
    let mut stats = CallStats::default();
    (0..count).for_each(|i| stats.record(Nanos::new(1_000 * (i + 1)), i % 10 == 0, 0));
    Event::ThreadCounts(Box::new(ThreadCounts {
        pid: 1,
        tid,
        syscall: Syscall::lookup(name.as_bytes()).unwrap_or(Syscall::UNLISTED),
        name: name.to_string(),
        from: Timestamp::new(from_ms * 1_000_000),
        to: Timestamp::new(to_ms * 1_000_000),
        stats,
    }))
}

fn span(from_ms: u64, to_ms: u64, calls: Coverage) -> Event<'static> {
    let at = |ms: u64| Timestamp::new(ms * 1_000_000);
    Event::Span(RecordedSpan { from: at(from_ms), to: at(to_ms), calls })
}

#[test]
fn counts_stand_for_calls_where_there_are_none() {
    let mut facts = Facts::default();
    facts.push(span(0, 2_000, Coverage::Counts));
    facts.push(counts(7, "getpid", 100, 0, 2_000));
    facts.push(counts(8, "epoll_wait", 10, 0, 2_000));
    facts.push(counts(8, "not_a_call", 1, 0, 2_000));
    facts.finish();
    assert_eq!((facts.total_calls(), facts.world.calls), (111, 0));
    let (name, stats) = &facts.syscalls()[0];
    assert_eq!((name.as_str(), stats.count, stats.errors), ("getpid", 100, 10));
    assert_eq!(stats.percentile(1.0), Nanos::new(100_000));
    assert!(facts.syscalls().iter().any(|(name, _)| name == "not_a_call"));
    assert_eq!(facts.window.per_second(facts.total_calls()), Some(55.5));
    let thread =
        |tid: Tid| facts.world.threads.iter().map(|(_, thread)| thread).find(|thread| thread.tid == tid);
    assert_eq!(thread(7).unwrap().working_ns, 5_050_000);
    assert_eq!(thread(8).unwrap().waiting_total(), 55_000);
}

#[test]
fn rates_are_of_the_time_in_full() {
    let mut facts = Facts::default();
    facts.push(span(0, 1_000, Coverage::Full));
    for i in 0..10 {
        facts.push(Event::Call(&call(7, 1, i * 100, "getpid", "", 1)));
    }
    facts.push(span(1_000, 4_000, Coverage::Counts));
    facts.push(counts(7, "getpid", 1_000, 1_000, 4_000));
    facts.finish();
    assert_eq!((facts.total_calls(), facts.window.length()), (10, Nanos::from_secs(1)));
    assert_eq!(facts.window.whole(), Nanos::from_secs(4));
    assert_eq!(facts.window.per_second(10), Some(10.0));
    let (_, thread) = facts.world.threads.iter().next().unwrap();
    assert_eq!(thread.wall(), Nanos::new(900_001_000));
    // What was only counted is shown beside.
    assert_eq!(thread.all_calls().map(|(_, stats)| stats.count).sum::<u64>(), 1_010);
}

/// A server that is asked at 10 ms of each second for as many seconds, and answers the first time only.
fn asked_and_closed(with_gap: bool, closes: bool) -> Facts {
    let mut facts = Facts::default();
    facts.push(span(0, 1_100, Coverage::Full));
    if with_gap {
        facts.push(span(1_100, 1_900, Coverage::Counts));
    }
    facts.push(span(if with_gap { 1_900 } else { 1_100 }, 2_000, Coverage::Full));
    let accept = r#"3, {sa_family=AF_INET, sin_port=htons(40000), sin_addr=inet_addr("10.0.0.9")}, [16]"#;
    let ask = r#"4, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", 4096"#;
    let answer = r#"4, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 38"#;
    facts.push(Event::Call(&call(7, 7, 5, "accept", accept, 4)));
    facts.push(Event::Call(&call(7, 7, 10, "read", ask, 30)));
    facts.push(Event::Call(&call(7, 7, 12, "write", answer, 38)));
    facts.push(Event::Call(&call(7, 7, 1_010, "read", ask, 30)));
    if closes {
        facts.push(Event::Call(&call(7, 7, 1_950, "close", "4", 0)));
    }
    facts.finish();
    facts
}

#[test]
fn what_was_open_before_a_gap_has_no_end_that_is_known() {
    let lengths = |facts: &Facts| -> Vec<u64> {
        facts.requests.records().map(|request| request.dur.or_zero() / 1_000_000).collect()
    };
    assert_eq!(lengths(&asked_and_closed(true, true)), [2]);
    assert_eq!(lengths(&asked_and_closed(true, false)), [2]);
    // Without a gap its client waits to the end.
    assert_eq!(lengths(&asked_and_closed(false, true)), [2, 940]);
    assert_eq!(asked_and_closed(false, false).requests.open().len(), 1);
}

#[test]
fn a_fork_is_known_before_the_parent_returns() {
    let mut facts = Facts::default();
    let opened = call(1, 1, 1, "openat", "AT_FDCWD, \"/var/log/app.log\", O_WRONLY", 3);
    facts.push(Event::Call(&opened));
    facts.push(Event::Process(ProcessInfo {
        pid: 2,
        tid: Some(2),
        parent: Some(1),
        comm: Some("child".to_string()),
        start: Timestamp::new(2_000_000),
        ..ProcessInfo::default()
    }));
    facts.push(Event::Call(&call(2, 2, 3, "write", "3, \"x\", 1", 1)));
    facts.push(Event::Call(&call(1, 1, 2, "clone", "child_stack=NULL, flags=SIGCHLD", 2)));
    facts.finish();
    let (_, life) = facts.world.fds.iter().find(|(_, life)| life.io_calls() > 0).unwrap();
    assert_eq!(life.target(&facts.world).as_deref(), Some("/var/log/app.log"));
    assert!(!facts.world.is_unborn(2));
}

#[test]
fn a_process_that_ran_before_inherits_nothing() {
    let mut facts = Facts::default();
    for pid in [1, 2] {
        facts.push(Event::Process(ProcessInfo {
            pid,
            tid: Some(pid),
            parent: Some(pid - 1),
            start: Timestamp::new(5),
            ..ProcessInfo::default()
        }));
        let fd = Some(2 + pid as i32);
        let entry = FdEntry { pid: Some(pid), fd, kind: FdKind::File, ..FdEntry::default() };
        facts.push(Event::Fd(Box::new(entry)));
    }
    facts.finish();
    let open: Vec<u32> = facts.world.fds.open().map(|(_, life)| life.refs).collect();
    assert_eq!(open, [1, 1]);
}

#[test]
fn threads_are_named_and_belong_to_the_process_that_is_told() {
    let mut facts = Facts::default();
    for (pid, tid, comm) in [(1, 1, "app"), (1, 5, "worker"), (9, 9, "other")] {
        let comm = Some(comm.to_string());
        facts.push(Event::Process(ProcessInfo { pid, tid: Some(tid), comm, ..ProcessInfo::default() }));
    }
    for (tid, pid) in [(9, 9), (5, 1), (1, 1)] {
        facts.push(Event::Call(&call(tid, pid, 1, "getpid", "", 1)));
    }
    facts.finish();
    let named = |tid: Tid| {
        let (_, thread) = facts.world.threads.iter().find(|(_, thread)| thread.tid == tid).unwrap();
        let process = facts.world.threads.process(thread.process);
        (thread.comm.as_deref().map(str::to_string), process.pid, process.name().map(str::to_string))
    };
    assert_eq!(named(5), (Some("worker".to_string()), Some(1), Some("app".to_string())));
    assert_eq!(named(9), (None, Some(9), Some("other".to_string())));
}

#[test]
fn the_account_of_a_thread_goes_on_after_its_end_was_told() {
    let mut facts = Facts::default();
    let at = |ms: u64| Timestamp::new(ms * 1_000_000);
    let stretch = |ms: u64| {
        Event::Stretch(Stretch {
            ts: at(ms),
            cpu: 0,
            pid: 7,
            tid: 7,
            left_as: LeftAs::Dead,
            on_cpu: Nanos::from_millis(1),
            runnable: Nanos::ZERO,
            blocked: Nanos::ZERO,
        })
    };
    let end = |ms: u64| {
        let (source, line) = (SourceId::default(), 1);
        Event::Exit(Exit { source, line, tid: 7, ts: at(ms), status: Some(0), signal: None })
    };
    facts.push(Event::Call(&call(7, 7, 0, "getpid", "", 7)));
    facts.push(end(5));
    facts.push(stretch(5));
    assert_eq!(facts.world.threads.iter().count(), 1);
    // Another one under the same number is another row.
    let info = ProcessInfo {
        pid: 7,
        tid: Some(7),
        comm: Some("next".into()),
        start: at(6),
        ..ProcessInfo::default()
    };
    facts.push(Event::Process(info));
    facts.push(stretch(7));
    facts.finish();
    let stretches: Vec<u64> = facts
        .world
        .threads
        .iter()
        .map(|(_, thread)| thread.sched.as_ref().map_or(0, |time| time.stretches))
        .collect();
    assert_eq!(stretches, [1, 1]);
}

#[test]
fn figures_of_a_damaged_recording_stay_at_the_most_that_there_is() {
    let most = Nanos::new(u64::MAX - 2);
    let mut facts = Facts::default();
    for at in 0..3 {
        for name in ["read", "fsync"] {
            facts.push(Event::Call(&Call { dur: most, ..call(7, 1, at, name, "3", 1) }));
        }
        let ts = Timestamp::new(at * 1_000_000);
        let left_as = LeftAs::Sleeping;
        let (on_cpu, runnable, blocked) = (most, most, most);
        facts.push(Event::Stretch(Stretch {
            ts,
            cpu: 0,
            pid: 1,
            tid: 7,
            left_as,
            on_cpu,
            runnable,
            blocked,
        }));
        let table = "syscalls".to_string();
        let (lost, produced, refused) = (u64::MAX, u64::MAX, u64::MAX);
        facts.push(Event::Loss(Loss { table, from: ts, to: ts, lost, produced, refused }));
        facts.push(Event::Span(RecordedSpan {
            from: Timestamp::new(0),
            to: Timestamp::new(most.or_zero()),
            calls: Coverage::Full,
        }));
    }
    facts.finish();
    let (_, thread) = facts.world.threads.iter().next().unwrap();
    assert_eq!((thread.working_ns, thread.sched.as_deref().unwrap().runnable_ns), (u64::MAX, u64::MAX));
    assert_eq!(facts.recording.lost_of("syscalls"), Some((u64::MAX, u64::MAX)));
    assert_eq!((facts.recording.lost(), facts.sched.on_cpu()), (u64::MAX, Nanos::UNKNOWN));
}
