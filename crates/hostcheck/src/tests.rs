//! The walk over the hosts of the source cases, and over healthy busy ones that look alike.

use super::*;
use whyslow_facts::host::figure;
use whyslow_model::{
    Call, Event, FigureRow, FigureTable, Nanos, Over, Ret, Sink, SourceId, Syscall, ThreadCounts, Timestamp,
    Trait,
};

/// Rows of one look: the thing, its figures, its traits.
type Row<'a> = (Entity, &'a [(Metric, f64)], &'a [(Trait, &'a str)]);

fn look(facts: &mut Facts, tool: &'static str, over: Over, rows: &[Row<'_>]) {
    let mut table = FigureTable::new(SourceId(0), tool);
    table.over = over;
    for (of, figures, traits) in rows {
        let mut row = FigureRow::new(of.clone());
        figures.iter().for_each(|(metric, value)| row.set(*metric, *value));
        traits.iter().for_each(|(is, text)| row.say(*is, *text));
        table.rows.push(row);
    }
    facts.push(Event::Figures(Box::new(table)));
}

fn second() -> Over {
    Over::Interval(Nanos::from_secs(1))
}

fn disk(name: &str) -> Entity {
    Entity::Device(name.into())
}

fn walked(facts: &mut Facts) -> Walk {
    facts.finish();
    walk(facts).expect("there are figures of the host")
}

fn state<'a>(walk: &'a Walk, name: &str) -> &'a HostResource {
    let of = walk.resources.iter().find(|resource| resource.name.starts_with(name));
    of.unwrap_or_else(|| panic!("no {name} in {:?}", walk.resources))
}

/// Source case 000: load 44.57 on 8 CPUs, a disk of 61.65 %, old swap.
fn backlog() -> Facts {
    let mut facts = Facts::default();
    let host = [
        (Metric::Load1, 44.57),
        (Metric::Runnable, 5.0),
        (Metric::Tasks, 1108.0),
        (Metric::CpuCount, 8.0),
        (Metric::MemTotal, 132_107_852e3),
        (Metric::MemFree, 4_554_756e3),
        (Metric::MemBuffers, 2_373_296e3),
        (Metric::MemCached, 113_083_052e3),
        (Metric::SwapTotal, 67_108_856e3),
        (Metric::SwapFree, 66_033_468e3),
    ];
    look(&mut facts, "top", Over::Moment, &[(Entity::Host, &host, &[])]);
    for (pid, state, cpu) in
        [(1272836, "R", 0.922), (1273553, "D", 0.892), (1272546, "D", 0.883), (1271859, "D", 0.85)]
    {
        let traits = [(Trait::Name, "abs_format"), (Trait::State, state)];
        let over = Over::Interval(Nanos::UNKNOWN);
        look(&mut facts, "top", over, &[(Entity::Process(pid), &[(Metric::TaskCpu, cpu)], &traits)]);
    }
    let cpu = [
        (Metric::CpuUser, 0.534),
        (Metric::CpuSystem, 0.1362),
        (Metric::CpuIowait, 0.0227),
        (Metric::CpuIdle, 0.3072),
    ];
    let dm2 = [
        (Metric::Writes, 48_828.5),
        (Metric::WriteBytes, 200_001_536.0),
        (Metric::QueueLength, 5206.04),
        (Metric::Latency, 25.51e6),
        (Metric::Utilisation, 0.6165),
    ];
    look(
        &mut facts,
        "iostat -x",
        Over::Interval(Nanos::UNKNOWN),
        &[(Entity::Host, &cpu, &[]), (disk("dm-2"), &dm2, &[])],
    );
    facts
}

#[test]
fn neither_is_full_so_it_is_the_program() {
    let walk = walked(&mut backlog());
    assert_eq!(state(&walk, "CPU").state, State::Not);
    assert_eq!(state(&walk, "memory").state, State::Not);
    assert_eq!(state(&walk, "disk dm-2").state, State::Not);
    assert!(state(&walk, "disk dm-2").reason.starts_with("61.7 % busy"), "{walk:?}");
    assert!(state(&walk, "memory").reason.contains("90.8 % available"), "{walk:?}");
    assert!(state(&walk, "memory").reason.contains("1.1 GB of swap is used, which says nothing"), "{walk:?}");
    assert_eq!(state(&walk, "network").state, State::Unknown);
    assert!(!state(&walk, "network").supply.is_empty());
    assert_eq!(walk.processes.len(), 4);
    assert_eq!(walk.processes[0].comm.as_deref(), Some("abs_format"));
    assert_eq!(
        walk.load.as_deref(),
        Some(
            "Load 44.6: 5 running or ready to run and 3 of 4 tasks listed in state D (abs_format): it is state D (waits that no signal ends, most often for a disk), not CPU; about 40 tasks."
        )
    );
    assert!(
        verdict(&walk)
            .is_some_and(|told| told.starts_with("No host bottleneck in what is known (CPU 30.7 % idle, ")),
        "{:?}",
        verdict(&walk)
    );
    assert!(walk.next.starts_with("Look inside abs_format ("), "{}", walk.next);
}

/// A thread that woke up often as the machine came up is idle now; its life's share says nothing of the second at hand.
#[test]
fn who_did_nothing_meanwhile_takes_nothing() {
    let mut facts = Facts::default();
    let of_life = [(Entity::Process(20), &[(Metric::TaskCpu, 0.5)][..], &[(Trait::Name, "migration/1")][..])];
    look(&mut facts, "/proc", Over::Lifetime, &of_life);
    let now = [(Entity::Process(7), &[(Metric::TaskUser, 0.02)][..], &[(Trait::Name, "app")][..])];
    look(&mut facts, "/proc", second(), &now);
    let walk = walked(&mut facts);
    assert_eq!(walk.processes.iter().map(|taker| taker.pid).collect::<Vec<_>>(), [Some(7)]);

    let mut facts = Facts::default();
    look(&mut facts, "ps", Over::Lifetime, &of_life);
    assert!(walked(&mut facts).processes[0].takes[0].text.ends_with("over its life"));
}

/// A recording of one process is about that one, though another takes more of the host: its calls are none of the other's.
#[test]
fn who_was_recorded_alone_is_looked_into() {
    let mut facts = Facts::default();
    let kind = whyslow_model::CaptureKind::Recording;
    facts.push(Event::Source(whyslow_model::SourceInfo::new(Default::default(), "x.whyslow", kind)));
    look(
        &mut facts,
        "/proc",
        second(),
        &[(Entity::Host, &[(Metric::CpuIdle, 0.9), (Metric::CpuUser, 0.1)], &[])],
    );
    let task = [(Metric::TaskUser, 0.1)];
    look(&mut facts, "/proc", second(), &[(Entity::Process(7), &task, &[(Trait::Name, "app")])]);
    facts.push(Event::ThreadCounts(Box::new(ThreadCounts {
        pid: 9,
        tid: 9,
        syscall: Syscall::lookup(b"clock_nanosleep").unwrap(),
        name: "clock_nanosleep".to_string(),
        from: Timestamp::new(1),
        to: Timestamp::new(1_000_000_000),
        stats: CallStats::of_totals(3, 0, Nanos::from_millis(900)),
    })));
    let next = walked(&mut facts).next;
    assert_eq!(
        next,
        "Look inside process 9: 100.0 % of the time in its calls is clock_nanosleep (3 of 3 calls)."
    );
}

/// Of a recording of all processes, the calls of others are none of the one to look into.
#[test]
fn calls_are_told_of_the_process_that_makes_them() {
    let calls = |facts: &mut Facts, pid: u32, name: &str| {
        let stats = CallStats::of_totals(3, 0, Nanos::from_millis(900));
        facts.push(Event::ThreadCounts(Box::new(ThreadCounts {
            pid,
            tid: pid,
            syscall: Syscall::lookup(name.as_bytes()).unwrap(),
            name: name.to_string(),
            from: Timestamp::new(1),
            to: Timestamp::new(1_000_000_000),
            stats,
        })));
    };
    let host = [(Metric::CpuIdle, 0.9), (Metric::CpuUser, 0.1)];
    let told = |callers: &[(u32, &str)]| {
        let mut facts = Facts::default();
        look(&mut facts, "/proc", second(), &[(Entity::Host, &host, &[])]);
        let task = [(Metric::TaskUser, 0.1)];
        look(&mut facts, "/proc", second(), &[(Entity::Process(7), &task, &[(Trait::Name, "app")])]);
        callers.iter().for_each(|(pid, name)| calls(&mut facts, *pid, name));
        walked(&mut facts).next
    };
    assert_eq!(
        told(&[(7, "futex"), (9, "clock_nanosleep")]),
        "Look inside app (7): 100.0 % of the time in its calls is futex (3 of 3 calls)."
    );
    let others = told(&[(8, "futex"), (9, "clock_nanosleep")]);
    assert!(others.contains("`whyslow diagnose -p 7`"), "{others}");
}

#[test]
fn swap_in_use_without_traffic_is_old() {
    let mut facts = backlog();
    look(
        &mut facts,
        "vmstat",
        second(),
        &[(Entity::Host, &[(Metric::SwapIn, 0.0), (Metric::SwapOut, 0.0)], &[])],
    );
    let walk = walked(&mut facts);
    let memory = state(&walk, "memory");
    assert_eq!(memory.state, State::Not);
    assert!(memory.reason.contains("1.1 GB of swap is old: used, without traffic"), "{}", memory.reason);
}

#[test]
fn what_is_swapped_in_now_is_waited_for() {
    let mut facts = backlog();
    look(
        &mut facts,
        "vmstat",
        second(),
        &[(Entity::Host, &[(Metric::SwapIn, 8e6), (Metric::SwapOut, 9e6)], &[])],
    );
    assert_eq!(state(&walked(&mut facts), "memory").state, State::Saturated);
}

/// Source case 003: sda at 98.4 %, a write takes 18 s, and python writes 344 MB/s.
fn slow_api(top: bool) -> Facts {
    let mut facts = Facts::default();
    if top {
        for (cpu, idle, iowait) in [(0, 0.0, 0.944), (1, 0.704, 0.265)] {
            let figures = [(Metric::CpuIdle, idle), (Metric::CpuIowait, iowait)];
            look(&mut facts, "top", second(), &[(Entity::Cpu(cpu), &figures, &[])]);
        }
    }
    facts
}

fn with_disk(facts: &mut Facts) {
    let sda = [
        (Metric::Writes, 71.0),
        (Metric::WriteBytes, 33_701_888.0),
        (Metric::WriteLatency, 18_118.31e6),
        (Metric::QueueLength, 241.89),
        (Metric::Utilisation, 0.984),
    ];
    let loop0 = [(Metric::Utilisation, 0.0), (Metric::WriteLatency, 0.0), (Metric::QueueLength, 0.0)];
    look(
        facts,
        "iostat -x",
        Over::Interval(Nanos::UNKNOWN),
        &[(disk("loop0"), &loop0, &[]), (disk("sda"), &sda, &[])],
    );
    let named = [(Trait::Name, "python")];
    look(
        facts,
        "pidstat -d",
        second(),
        &[(Entity::Process(12280), &[(Metric::WriteBytes, 343_773_184.0)], &named)],
    );
}

#[test]
fn a_disk_with_a_queue_and_slow_answers_is_full() {
    let mut facts = slow_api(true);
    with_disk(&mut facts);
    let df = [(Metric::BlockDelay, 0.9)];
    look(&mut facts, "/proc", second(), &[(Entity::Process(77), &df, &[(Trait::Name, "df")])]);
    let walk = walked(&mut facts);
    assert_eq!(walk.resources[0].name, "disk sda");
    assert_eq!(walk.resources[0].state, State::Saturated);
    assert_eq!(state(&walk, "CPU").state, State::Not, "iowait is idle time");
    let told = verdict(&walk).unwrap_or_default();
    assert_eq!(
        told,
        "Host disk sda is saturated: 98.4 % busy, 18.1 s per request, 241.9 queued; python (12280) writes 343.8 MB/s"
    );
    assert_eq!(walk.processes[0].pid, Some(12280));
    assert_eq!(walk.processes[0].victim_of, None);
    let victim = walk.processes.iter().find(|taker| taker.pid == Some(77)).expect("df waits");
    assert_eq!(victim.victim_of.as_deref(), Some("disk sda"));
}

#[test]
fn iowait_alone_is_a_hint() {
    let walk = walked(&mut slow_api(true));
    let disk = state(&walk, "disk");
    assert_eq!((disk.state, disk.supply.as_str()), (State::Unknown, "iostat -x 1 5"));
    assert!(disk.reason.contains("iowait is a hint only"), "{}", disk.reason);
}

#[test]
fn a_fast_device_that_is_always_busy_has_room() {
    for (latency, queue, expected) in
        [(0.2e6, 12.0, State::Not), (25e6, 30.0, State::Saturated), (25e6, 1.0, State::Not)]
    {
        let mut facts = Facts::default();
        let figures =
            [(Metric::Utilisation, 0.95), (Metric::ReadLatency, latency), (Metric::QueueLength, queue)];
        look(&mut facts, "iostat -x", second(), &[(disk("nvme0n1"), &figures, &[])]);
        assert_eq!(
            state(&walked(&mut facts), "disk nvme0n1").state,
            expected,
            "{}",
            figure(Metric::ReadLatency, latency)
        );
    }
}

#[test]
fn a_disk_without_latency_is_unknown_unless_it_turns() {
    for (turns, expected) in [(0.0, State::Unknown), (1.0, State::Saturated)] {
        let mut facts = Facts::default();
        let figures = [(Metric::Utilisation, 0.97), (Metric::Rotational, turns)];
        look(&mut facts, "/proc", second(), &[(disk("sda"), &figures, &[])]);
        assert_eq!(state(&walked(&mut facts), "disk sda").state, expected);
    }
}

#[test]
fn since_boot_says_nothing_of_now() {
    let mut facts = Facts::default();
    let figures = [(Metric::Utilisation, 0.99), (Metric::ReadLatency, 50e6), (Metric::QueueLength, 50.0)];
    look(
        &mut facts,
        "iostat -x",
        Over::SinceBoot,
        &[(disk("sda"), &figures, &[]), (Entity::Host, &[(Metric::CpuIdle, 0.01)], &[])],
    );
    facts.finish();
    assert_eq!(walk(&facts), None);
}

#[test]
fn a_busy_cpu_is_full_only_with_a_queue() {
    let busy = |runnable: Option<f64>, pressure: Option<f64>, steal: f64| {
        let mut facts = Facts::default();
        let mut figures = vec![
            (Metric::CpuIdle, 0.02),
            (Metric::CpuUser, 0.96),
            (Metric::CpuSteal, steal),
            (Metric::CpuCount, 4.0),
        ];
        figures.extend(runnable.map(|runnable| (Metric::Runnable, runnable)));
        figures.extend(pressure.map(|share| (Metric::PressureCpu, share)));
        look(&mut facts, "vmstat", second(), &[(Entity::Host, &figures, &[])]);
        state(&walked(&mut facts), "CPU").state
    };
    assert_eq!(busy(Some(4.0), None, 0.0), State::Not);
    assert_eq!(busy(Some(12.0), None, 0.0), State::Saturated);
    assert_eq!(busy(None, Some(0.05), 0.0), State::Not);
    assert_eq!(busy(None, Some(0.2), 0.0), State::Saturated);
    assert_eq!(busy(None, Some(0.6), 0.0), State::Saturated);
    assert_eq!(busy(None, None, 0.0), State::Unknown);
    assert_eq!(busy(Some(4.0), None, 0.3), State::Saturated);
}

#[test]
fn who_has_idle_cpus_is_not_full_whatever_the_hypervisor_takes() {
    let mut facts = Facts::default();
    let figures =
        [(Metric::CpuIdle, 0.7), (Metric::CpuUser, 0.15), (Metric::CpuSteal, 0.15), (Metric::Runnable, 1.0)];
    look(&mut facts, "vmstat", second(), &[(Entity::Host, &figures, &[])]);
    let walk = walked(&mut facts);
    let cpu = state(&walk, "CPU");
    assert_eq!(cpu.state, State::Not);
    assert!(cpu.reason.starts_with("70.0 % idle") && cpu.reason.ends_with("steal 15.0 %"), "{cpu:?}");
}

#[test]
fn a_full_page_cache_is_no_shortage() {
    let mut facts = Facts::default();
    let figures = [
        (Metric::MemTotal, 8e9),
        (Metric::MemFree, 0.1e9),
        (Metric::MemAvailable, 6e9),
        (Metric::MemCached, 6e9),
        (Metric::PressureMemory, 0.0),
        (Metric::Refaults, 3.0),
    ];
    look(&mut facts, "/proc", second(), &[(Entity::Host, &figures, &[])]);
    let walk = walked(&mut facts);
    assert_eq!(state(&walk, "memory").state, State::Not);
    assert!(state(&walk, "memory").reason.starts_with("75.0 % available"), "{walk:?}");
}

#[test]
fn links_and_limits_are_full_where_they_are_reached() {
    let mut facts = Facts::default();
    let eth0 = [(Metric::TxBytes, 118e6), (Metric::RxBytes, 1e6), (Metric::LinkSpeed, 125e6)];
    let group = [(Metric::CpuPeriods, 10.0), (Metric::ThrottledPeriods, 6.0), (Metric::ThrottledTime, 0.4)];
    let rows: &[Row<'_>] = &[
        (Entity::Interface("eth0".into()), &eth0, &[]),
        (Entity::Cgroup("/kube/api".into()), &group, &[]),
        (Entity::Process(9), &[(Metric::Fds, 1_020.0), (Metric::FdLimit, 1_024.0)], &[(Trait::Name, "api")]),
        (Entity::Process(10), &[(Metric::Fds, 12.0), (Metric::FdLimit, 1_024.0)], &[]),
    ];
    look(&mut facts, "/proc", second(), rows);
    let walk = walked(&mut facts);
    assert_eq!(state(&walk, "network").state, State::Saturated);
    assert_eq!(state(&walk, "network").reason, "eth0 at 94.4 % of its speed");
    assert_eq!(state(&walk, "limits").state, State::Saturated);
    assert_eq!(
        state(&walk, "limits").reason,
        "api (9): 1,020 of 1,024 descriptors and /kube/api: its CPU quota stopped it in 60.0 % of its periods"
    );
    assert_eq!(state(&walk, "limits").evidence.len(), 2, "{walk:?}");
}

/// Source case 002: 124,724 lstat and 338,769,324 ns a second on 96 CPUs of which 3 % are system time.
#[test]
fn a_saving_is_computed_from_what_was_measured() {
    let mut facts = Facts::default();
    let function = |name: &str| Entity::Function { pid: None, name: name.into() };
    let rows: &[Row<'_>] = &[
        (function("select"), &[(Metric::Calls, 2_000.0), (Metric::CallTime, 41.0)], &[]),
        (function("lstat"), &[(Metric::Calls, 124_724.0), (Metric::CallTime, 0.338_769_324)], &[]),
        (Entity::Host, &[(Metric::CpuSystem, 0.03), (Metric::CpuIdle, 0.9), (Metric::CpuCount, 96.0)], &[]),
    ];
    look(&mut facts, "syscount -L", second(), rows);
    let walk = walked(&mut facts);
    assert_eq!(
        walk.saving.as_deref(),
        Some("Without lstat the kernel's time falls by 11.8 %: 339 ms of 2.88 s of system time per second.")
    );
    assert_eq!(walk.calls[0].comm.as_deref(), Some("lstat"), "waiting in select is no cost");
    assert!(
        walk.calls[0]
            .takes
            .iter()
            .any(|amount| amount.text == "2.72 us each: the number costs, not the single call"),
        "{walk:?}"
    );
    assert!(walk.calls[1].takes.is_empty() && !walk.calls[1].waits.is_empty());
    // The author's own reading of the system time gives another share; a cost above the whole gives none.
    assert_eq!(calls::saved(0.338_769_324, 3.456).map(words::percent), Some("9.8 %".to_string()));
    assert_eq!(calls::saved(3.0, 2.0), None);
}

#[test]
fn without_figures_there_is_no_walk() {
    let mut facts = Facts::default();
    facts.finish();
    assert_eq!(walk(&facts), None);
    assert!(crate::walk(&facts).is_none());
}

#[test]
fn what_the_kernels_log_tells_is_quoted_and_judges_nothing() {
    let mut facts = Facts::default();
    let listener = Entity::Listener("*:8080".into());
    let task = Entity::Thread { pid: 0, tid: 412 };
    let told = [
        (Entity::Host, &[(Metric::ConntrackDrops, 3.0)][..], &[][..]),
        (listener, &[(Metric::SynQueueOverflows, 1.0)], &[]),
        (task, &[(Metric::HungReports, 2.0)], &[(Trait::Name, "jbd2/sda1-8")]),
    ];
    look(&mut facts, "dmesg", Over::Total, &told);
    let walk = walked(&mut facts);
    let limits = state(&walk, "limits");
    assert_eq!(limits.state, State::Unknown);
    assert_eq!(
        limits.reason,
        "no source tells of now; so far 1 SYN met a full queue of half-open connections (*:8080) and 3 packets dropped for a full table of tracked connections"
    );
    let lines: Vec<&str> = limits.evidence.iter().map(|line| &*line.text).collect();
    assert_eq!(lines, ["*:8080: syn queue overflows 1 so far", "the host: conntrack drops 3 so far"]);
    assert_eq!(
        walk.load.as_deref(),
        Some(
            "The kernel's log tells of tasks stuck in state D: jbd2/sda1-8 (thread 412) (dmesg: jbd2/sda1-8 (thread 412): hung reports 2 so far)."
        )
    );
}

#[test]
fn packets_that_are_dropped_now_for_a_limit_are_one_that_is_reached() {
    let mut facts = Facts::default();
    look(&mut facts, "nstat", second(), &[(Entity::Host, &[(Metric::TcpMemoryAborts, 4.0)], &[])]);
    let walk = walked(&mut facts);
    let limits = state(&walk, "limits");
    assert_eq!(limits.state, State::Saturated);
    assert_eq!(limits.reason, "4 connections/s given up for lack of memory (tcp_mem)");
}

/// A trace of one process says nothing about whoever takes most beside it, also where it does not tell whose it is.
#[test]
fn a_trace_is_of_the_process_that_was_traced() {
    let host = [(Metric::CpuIdle, 0.9), (Metric::CpuUser, 0.1)];
    let told = |tid: u32| {
        let mut facts = Facts::default();
        look(&mut facts, "/proc", second(), &[(Entity::Host, &host, &[])]);
        let task = [(Metric::TaskUser, 0.1)];
        look(&mut facts, "/proc", second(), &[(Entity::Process(7), &task, &[(Trait::Name, "rustc")])]);
        let (ts, dur) = (Timestamp::new(1_000_000_000), Nanos::from_millis(900));
        let call =
            Call { tid, ts, dur, ret: Ret::Value(0), ..Call::new("futex", "0x1, FUTEX_WAIT, 2, NULL") };
        facts.push(Event::Call(&call));
        walked(&mut facts).next
    };
    for (tid, who) in [(0, "the traced process"), (9, "process 9")] {
        let next = told(tid);
        assert!(next.starts_with(&format!("Look inside {who}: 100.0 % ")), "{next}");
    }
    assert!(told(7).starts_with("Look inside rustc (7): 100.0 % "), "{}", told(7));
}

#[test]
fn the_workers_of_one_server_are_one_program() {
    let told = |names: &[&str]| {
        let mut facts = Facts::default();
        for (pid, name) in (1u32..).zip(names) {
            let comm = Some(name.to_string());
            facts.push(Event::Process(whyslow_model::ProcessInfo {
                pid,
                tid: Some(pid),
                comm,
                ..Default::default()
            }));
            let mut call = whyslow_model::Call::new("getpid", "");
            (call.tid, call.pid) = (pid, Some(pid));
            facts.push(Event::Call(&call));
        }
        let kind = whyslow_model::CaptureKind::Recording;
        facts.push(Event::Source(whyslow_model::SourceInfo::new(Default::default(), "x.whyslow", kind)));
        facts.finish();
        is_about_one(&facts)
    };
    assert!(told(&["nginx"]) && told(&["nginx", "nginx", "nginx"]));
    assert!(!told(&["nginx", "redis-server"]) && !told(&[]));
}
