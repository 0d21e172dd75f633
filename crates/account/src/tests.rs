//! What holds for all accounts, and a few that are told in full.

use super::*;
use proptest::prelude::*;
use whyslow_model::{
    AccountRow, Call, CallFlags, Entity, Errno, Event, FigureRow, FigureTable, Known, LeftAs, Metric, Nanos,
    Over, Ret, SampleKind, SampledStack, Sink, SourceId, Stack, StackFrame, StackId, Stretch, TimeState,
    Timestamp, Trait,
};

const MS: u64 = 1_000_000;

fn call(facts: &mut Facts, tid: u32, (name, args): (&str, &str), from_ms: u64, ms: u64) {
    let mut call = Call::new(name, args);
    (call.tid, call.pid) = (tid, Some(1));
    (call.ts, call.dur, call.ret) = (Timestamp::new(from_ms * MS), Nanos::new(ms * MS), Ret::Value(1));
    facts.push(Event::Call(&call));
}

/// A thread ran so long from there on, behind a wait for a CPU and a sleep.
fn stretch(facts: &mut Facts, tid: u32, from_ms: u64, on_cpu_ms: u64, runnable_ms: u64, blocked_ms: u64) {
    facts.push(Event::Stretch(Stretch {
        ts: Timestamp::new(from_ms * MS),
        cpu: 0,
        pid: 1,
        tid,
        left_as: LeftAs::Sleeping,
        on_cpu: Nanos::new(on_cpu_ms * MS),
        runnable: Nanos::new(runnable_ms * MS),
        blocked: Nanos::new(blocked_ms * MS),
    }));
}

/// Each row: state, call, object, milliseconds.
fn told(account: &TimeAccount) -> Vec<String> {
    let word = |text: &Option<String>| text.as_deref().unwrap_or("-").to_string();
    let row = |row: &AccountRow| {
        format!("{} {} {} {}", row.state.word(), word(&row.call), word(&row.object), row.ns / MS)
    };
    account.rows.iter().map(row).collect()
}

fn sampled(facts: &mut Facts, kind: SampleKind, ms: u64, stacks: (Option<u32>, Option<u32>)) {
    facts.push(Event::Sample(SampledStack {
        kind,
        ts: Timestamp::new(1_010 * MS),
        cpu: 0,
        pid: 1,
        tid: 1,
        weight: Nanos::new(ms * MS),
        user: stacks.0.map(StackId),
        kernel: stacks.1.map(StackId),
    }));
}

#[test]
fn by_line_what_ran_goes_as_its_samples_do_and_of_waits_what_has_a_stack() {
    let mut facts = Facts::default();
    let frame = |function: &str, module: &str, place: Option<&str>| StackFrame {
        function: Some(function.to_string()),
        module: Some(module.to_string()),
        place: place.map(str::to_string),
        ..StackFrame::default()
    };
    let kernel = ["schedule", "__x64_sys_fsync", "do_syscall_64"].map(|name| frame(name, "[kernel]", None));
    for (id, frames) in [
        (1, vec![frame("save_row", "/srv/app", Some("store.c:88"))]),
        (2, vec![frame("hash", "/srv/app", Some("hash.c:5"))]),
        (3, kernel.to_vec()),
    ] {
        facts.push(Event::Stack(Stack { id: StackId(id), frames, cut: false }));
    }
    // 40 ms in fsync, of which 30 ms have a stack; 60 ms on a CPU by three samples of one line and one of another.
    stretch(&mut facts, 1, 1_000, 10, 0, 0);
    call(&mut facts, 1, ("fsync", "3</data/orders.db>"), 1_010, 40);
    stretch(&mut facts, 1, 1_050, 50, 5, 40);
    sampled(&mut facts, SampleKind::OffCpu, 30, (Some(1), Some(3)));
    (0..3).for_each(|_| sampled(&mut facts, SampleKind::OnCpu, 10, (Some(2), None)));
    sampled(&mut facts, SampleKind::OnCpu, 10, (Some(1), None));
    facts.finish();
    let account = account_by(&facts, By::Line).unwrap();
    let rows: Vec<_> = account
        .rows
        .iter()
        .map(|row| (row.who.as_str(), row.state, row.function.as_deref().unwrap_or("-"), row.ns / MS))
        .collect();
    let who = account.rows[0].who.as_str();
    assert_eq!(
        rows,
        [
            (who, TimeState::User, "hash (hash.c:5)", 45),
            (who, TimeState::File, "save_row (store.c:88)", 30),
            (who, TimeState::User, "save_row (store.c:88)", 15),
            ("line not known", TimeState::Unknown, "-", 10),
        ]
    );
    assert_eq!(account.rows.iter().map(|row| row.ns).sum::<u64>(), account.ns);
}

#[test]
fn a_recorded_thread_is_told_to_the_last_millisecond() {
    let mut facts = Facts::default();
    stretch(&mut facts, 1, 1_000, 10, 0, 0);
    // Asleep from 1,010 in an fsync entered at 1,008; back on a CPU at 1,100.
    call(&mut facts, 1, ("fsync", "3</data/orders.db>"), 1_008, 94);
    call(&mut facts, 1, ("write", "3</data/orders.db>, \"x\", 1"), 1_105, 2);
    stretch(&mut facts, 1, 1_100, 20, 5, 85);
    facts.finish();
    let account = account(&facts).unwrap();
    let wanted = [
        "file fsync /data/orders.db 85",
        "user - - 24",
        "run-queue - - 5",
        "kernel fsync /data/orders.db 4",
        "kernel write /data/orders.db 2",
    ];
    assert_eq!((account.of, account.ns / MS, account.unknown_ns), (TimeOf::Threads, 120, 0));
    assert_eq!(told(&account), wanted);
    assert_eq!((account.rows[0].count, account.rows[0].mean_ns), (Some(1), Nanos::new(94 * MS)));
}

#[test]
fn a_wait_that_did_not_end_is_told_as_far_as_it_went() {
    let mut facts = Facts::default();
    stretch(&mut facts, 1, 1_000, 10, 0, 0);
    let mut waits = Call::new("recvfrom", "5<TCP:[10.0.0.1:40000->10.0.0.2:6379]>, ");
    (waits.tid, waits.pid, waits.ts) = (1, Some(1), Timestamp::new(1_009 * MS));
    waits.flags = CallFlags::END_NOT_SEEN;
    facts.push(Event::Call(&waits));
    // Something else tells how long the recording went on.
    stretch(&mut facts, 2, 1_900, 100, 0, 0);
    facts.finish();
    let account = account_by(&facts, By::Row).unwrap();
    let peer = account.rows.iter().find(|row| row.state == TimeState::Peer).unwrap();
    assert_eq!((peer.object.as_deref(), peer.ns / MS), (Some("10.0.0.2:6379"), 990));
    assert!(peer.known == Known::AtLeast && peer.share > 0.8);
}

#[test]
fn a_futex_wait_that_its_time_limit_ends_is_a_sleep_and_of_several_threads_an_idle_one() {
    let parks = |threads: u32, held: bool, ms: u64| {
        let mut facts = Facts::default();
        let value = if held { "2" } else { "0" };
        let args = format!(
            "0x7f10, FUTEX_WAIT_BITSET_PRIVATE, {value}, {{tv_sec=9, tv_nsec=0}}, FUTEX_BITSET_MATCH_ANY"
        );
        for at in 0..4 {
            let mut park = Call::new("futex", &args);
            (park.tid, park.pid, park.ts) = (1, Some(1), Timestamp::new((1_000 + at * 100) * MS));
            (park.dur, park.errno, park.ret) = (Nanos::new(ms * MS), Errno::ETIMEDOUT, Ret::Value(-1));
            facts.push(Event::Call(&park));
        }
        for tid in 2..=threads {
            call(&mut facts, tid, ("openat", "AT_FDCWD, \"/etc/hosts\", O_RDONLY"), 1_000, 1);
        }
        facts.finish();
        let account = account(&facts).unwrap();
        let waits = account.rows.iter().find(|row| row.call.as_deref() == Some("futex"));
        (waits.map(|row| (row.state, row.ns / MS)), account.idle_ns / MS)
    };
    assert_eq!(parks(1, false, 50), (Some((TimeState::Timer, 200)), 0));
    // Workers of a pool wait for work with a limit.
    assert_eq!(parks(2, false, 50), (None, 200));
    // Another thread has it; and steps of a longer wait.
    assert_eq!(parks(1, true, 50), (Some((TimeState::Lock, 200)), 0));
    assert_eq!(parks(1, false, 5), (Some((TimeState::Lock, 20)), 0));
}

#[test]
fn a_wait_for_several_descriptors_is_for_what_is_looked_at_next() {
    let mut facts = Facts::default();
    let epoll = ("epoll_wait", "8<anon_inode:[eventpoll]>, [{events=EPOLLIN, data={u32=77, u64=77}}], 9, -1");
    stretch(&mut facts, 1, 1_000, 10, 0, 0);
    call(&mut facts, 1, epoll, 1_008, 93);
    // It was preempted before it looked.
    stretch(&mut facts, 1, 1_100, 5, 0, 90);
    call(&mut facts, 1, ("recvfrom", "5<TCP:[10.0.0.1:40000->10.0.0.2:6379]>, \"x\", 9"), 1_106, 1);
    stretch(&mut facts, 1, 1_105, 15, 0, 0);
    facts.finish();
    let account = account(&facts).unwrap();
    let wanted = [
        "peer epoll_wait 10.0.0.2:6379 90",
        "user - - 26",
        "kernel epoll_wait 10.0.0.2:6379 3",
        "kernel recvfrom 10.0.0.2:6379 1",
    ];
    assert_eq!(told(&account), wanted);
}

/// The samples of process 1's listener: connections in its accept queue.
fn accept_queue(facts: &mut Facts, waiting: &[u32]) {
    for (second, waiting) in waiting.iter().enumerate() {
        let mut row = FigureRow::new(Entity::Listener("0.0.0.0:80".into()));
        row.set(Metric::Backlog, f64::from(*waiting));
        row.say(Trait::Owner, "1");
        let mut table = FigureTable::new(SourceId::default(), "/proc");
        (table.at, table.over) = (Timestamp::new(second as u64 * 1_000 * MS), Over::Moment);
        table.rows.push(row);
        facts.push(Event::Figures(Box::new(table)));
    }
}

#[test]
fn who_waits_alone_while_connections_wait_is_not_idle() {
    let serve = |waiting: &[u32], threads: u32| {
        let mut facts = Facts::default();
        call(&mut facts, 1, ("listen", "4<TCP:[0.0.0.0:80]>, 128"), 1_000, 0);
        for tid in 1..=threads {
            let epoll = ("epoll_wait", "8<anon_inode:[eventpoll]>, [], 9, -1");
            call(&mut facts, tid, epoll, 1_000, 95);
            call(&mut facts, tid, ("openat", "AT_FDCWD, \"/etc/hosts\", O_RDONLY"), 1_095, 5);
        }
        accept_queue(&mut facts, waiting);
        facts.finish();
        let account = account(&facts).unwrap();
        (account.idle_ns / MS, account.demand.lasting().map(|queue| queue.most))
    };
    assert_eq!(serve(&[3, 9, 340, 2], 1), (0, Some(340)));
    // It is not known that none of the others serves them.
    assert_eq!(serve(&[3, 9, 340, 2], 2), (190, Some(340)));
    // Chance arrivals, too few samples, none at all.
    assert_eq!(serve(&[0, 1, 0, 0], 1), (95, None));
    assert_eq!(serve(&[3, 9, 340], 1), (95, None));
    assert_eq!(serve(&[], 1), (95, None));
}

#[test]
fn a_server_that_waits_for_clients_spends_nothing() {
    let mut facts = Facts::default();
    let epoll = ("epoll_wait", "8<anon_inode:[eventpoll]>, [], 9, -1");
    call(&mut facts, 1, ("listen", "4<TCP:[0.0.0.0:80]>, 128"), 1_000, 0);
    call(&mut facts, 1, ("accept4", "4<TCP:[0.0.0.0:80]>, NULL, NULL, 0"), 1_000, 900);
    call(&mut facts, 1, epoll, 1_900, 95);
    call(&mut facts, 1, ("openat", "AT_FDCWD, \"/etc/hosts\", O_RDONLY"), 1_995, 5);
    facts.finish();
    let account = account(&facts).unwrap();
    assert_eq!((account.ns / MS, account.idle_ns / MS), (5, 995));
    assert_eq!(told(&account), ["in-call openat /etc/hosts 5"]);
}

#[test]
fn threads_of_one_name_are_one_row() {
    let mut facts = Facts::default();
    for tid in [11, 12, 13] {
        let info = whyslow_model::ProcessInfo {
            pid: 1,
            tid: Some(tid),
            comm: Some(format!("worker-{tid}")),
            ..Default::default()
        };
        facts.push(Event::Process(info));
        call(&mut facts, tid, ("fdatasync", "7</data/log.1>"), 1_000, 10);
    }
    facts.finish();
    let account = account(&facts).unwrap();
    assert_eq!(account.rows.len(), 1);
    assert_eq!(account.rows[0].who, "3 x worker of process 1");
    assert_eq!((account.rows[0].threads, account.rows[0].count), (3, Some(3)));
    let by_thread = account_by(&facts, By::Thread).unwrap();
    assert_eq!(by_thread.rows.len(), 3);
    assert_eq!(by_thread.ns, account.ns);
}

#[test]
fn without_durations_a_call_takes_at_most_the_time_to_the_next() {
    let mut facts = Facts::default();
    for (name, args, at) in
        [("sync", "", 1_000), ("write", "3</data/x>, \"x\", 1", 1_900), ("sync", "", 1_910)]
    {
        let mut call = Call::new(name, args);
        (call.tid, call.ts, call.ret) = (1, Timestamp::new(at * MS), Ret::Value(0));
        facts.push(Event::Call(&call));
    }
    facts.finish();
    let account = account(&facts).unwrap();
    assert_eq!(told(&account), ["in-call sync - 900", "in-call write /data/x 10"]);
    assert_eq!(account.rows[0].known, Known::AtMost);
}

#[test]
fn without_times_there_is_no_account() {
    let mut facts = Facts::default();
    facts.push(Event::Call(&Call::new("fsync", "3")));
    facts.finish();
    assert!(account(&facts).is_none());
    assert!(super::account(&Facts::default()).is_none());
}

proptest! {
    /// Over whatever calls of threads, rows add up to the account, and with what was waited for work to the threads' lives.
    #[test]
    fn rows_add_up(threads in prop::collection::vec(prop::collection::vec((0u64..4, 0usize..8, 0u64..9), 1..40), 1..5)) {
        const CALLS: [(&str, &str); 8] = [
            ("fsync", "7</data/file>"),
            ("futex", "0x7f00, FUTEX_WAIT_PRIVATE, 2, NULL"),
            ("recvfrom", "5<TCP:[127.0.0.1:80->127.0.0.1:9000]>, \"x\", 9, 0, NULL, NULL"),
            ("nanosleep", "{tv_sec=0, tv_nsec=1}, NULL"),
            ("accept4", "9<TCP:[0.0.0.0:80]>, NULL, NULL, 0"),
            ("epoll_wait", "8, [], 9, -1"),
            ("munmap", "0x7f00, 4096"),
            ("wait4", "-1, NULL, 0, NULL"),
        ];
        let mut all = Vec::new();
        for (tid, steps) in (1u32..).zip(&threads) {
            let mut at = 1_000;
            for &(pause, kind, ms) in steps {
                at += pause;
                all.push((at + ms, at, tid, kind));
                at += ms;
            }
        }
        all.sort_unstable();
        let mut facts = Facts::default();
        for (end, from, tid, kind) in all {
            call(&mut facts, tid, CALLS[kind], from, end - from);
        }
        facts.finish();
        let lives: u64 = (facts.world.threads.iter())
            .map(|(_, thread)| thread.last.since(thread.first).or_zero())
            .sum();
        for (by, _) in By::ALL {
            let Some(account) = account_by(&facts, by) else {
                prop_assert_eq!(lives, 0);
                continue;
            };
            prop_assert_eq!(account.rows.iter().map(|row| row.ns).sum::<u64>(), account.ns);
            if account.of == TimeOf::Threads {
                prop_assert_eq!(account.ns + account.idle_ns, lives);
            }
        }
    }
}

/// A look at a thread's schedstat over `wall` seconds; without a wall time it is what two looks differ by.
fn schedstat(facts: &mut Facts, tid: u32, ran: f64, queued: f64, wall: Option<u64>) {
    let mut row = FigureRow::new(Entity::Thread { pid: 1, tid });
    let scale = wall.map_or(1.0, |wall| 1.0 / wall as f64);
    row.set(Metric::TaskCpu, ran * scale);
    row.set(Metric::RunDelay, queued * scale);
    let mut table = FigureTable::new(SourceId::default(), "/proc/PID/schedstat");
    table.over = wall.map_or(Over::Growth, |wall| Over::Interval(Nanos::new(wall * 1_000 * MS)));
    table.rows.push(row);
    facts.push(Event::Figures(Box::new(table)));
}

#[test]
fn counters_of_a_thread_split_what_is_between_its_calls() {
    let between = |ran: f64, queued: f64, wall: Option<u64>| {
        let mut facts = Facts::default();
        for i in 0..10 {
            call(&mut facts, 1, ("write", "1</tmp/x>, \"x\", 1"), 1_000 + i * 100, 1);
        }
        schedstat(&mut facts, 1, ran, queued, wall);
        facts.finish();
        told(&account(&facts).unwrap())
    };
    // Of 900 ms it was in calls for 10; it ran 60 % of the time and waited 40 % of it.
    let told = between(6.0, 4.0, Some(10));
    assert!(told.contains(&"run-queue - - 350".to_string()), "{told:?}");
    assert!(told.contains(&"between-calls - - 540".to_string()), "{told:?}");
    // It ran as long as it was outside of calls, and nothing says that it waited there.
    assert!(!between(10.0, 4.0, Some(10)).iter().any(|row| row.starts_with("run-queue")));
    // Without times it is not known how long that was.
    assert!(!between(6.0, 4.0, None).iter().any(|row| row.starts_with("run-queue")));
}

#[test]
fn counters_alone_make_an_account() {
    let account_of = |wall: Option<u64>| {
        let mut facts = Facts::default();
        schedstat(&mut facts, 7, 6.0, 3.0, wall);
        schedstat(&mut facts, 8, 0.5, 0.5, wall);
        facts.finish();
        account(&facts).unwrap()
    };
    let timed = account_of(Some(10));
    assert_eq!((timed.ns, timed.unknown_ns, timed.count), (20_000 * MS, 10_000 * MS, 2));
    assert_eq!(
        told(&timed),
        [
            "unknown - - 9000",
            "on-cpu - - 6000",
            "run-queue - - 3000",
            "unknown - - 1000",
            "on-cpu - - 500",
            "run-queue - - 500"
        ]
    );
    // Without times: the two known parts, and no rest.
    let untimed = account_of(None);
    assert_eq!((untimed.ns, untimed.unknown_ns), (10_000 * MS, 0));
    assert!((untimed.rows[0].share - 0.6).abs() < 1e-9, "{:?}", untimed.rows);
}

#[test]
fn a_shell_that_waits_for_its_command_spends_no_time_of_its_own() {
    shell_waits(None);
}

#[test]
fn a_shell_whose_command_ends_spends_no_time_of_its_own() {
    shell_waits(Some(950));
}

/// A shell waits for its command, so long.
fn shell_waits(ms: Option<u64>) {
    let mut facts = Facts::default();
    let mut push = |tid: u32, (name, args): (&str, &str), from_ms: u64, ms: Option<u64>, ret: i64| {
        let mut call = Call::new(name, args);
        (call.tid, call.pid, call.ts) = (tid, Some(tid), Timestamp::new(from_ms * MS));
        match ms {
            Some(ms) => (call.dur, call.ret) = (Nanos::new(ms * MS), Ret::Value(ret)),
            None => call.flags = CallFlags::END_NOT_SEEN,
        }
        facts.push(Event::Call(&call));
    };
    push(1, ("getppid", ""), 1_000, Some(0), 1);
    push(1, ("clone", "child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD"), 1_001, Some(1), 2);
    push(2, ("fsync", "7</data/file>"), 1_010, Some(900), 0);
    push(2, ("getppid", ""), 1_950, Some(0), 1);
    push(1, ("wait4", "-1, "), 1_005, ms, 2);
    facts.finish();
    let account = account(&facts).unwrap();
    let waits = account.rows.iter().filter(|row| row.state == TimeState::Child);
    assert_eq!(waits.map(|row| row.ns).sum::<u64>(), 0, "{:?}", told(&account));
    assert!(account.idle_ns >= 900 * MS, "{}", account.idle_ns);
    assert_eq!(account.rows[0].object.as_deref(), Some("/data/file"));
}
