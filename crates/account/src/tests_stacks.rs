//! What stacks of waits tell the account: which are for work, and in which function and line they are.

use super::*;
use whyslow_model::event::Tid;
use whyslow_model::{
    Call, CallStack, Event, Known, LeftAs, Nanos, Ret, SampleKind, SampledStack, Sink, Stack, StackFrame,
    StackId, Stretch, Syscall, TimeState, Timestamp,
};

const MS: u64 = 1_000_000;

fn call(facts: &mut Facts, tid: Tid, (name, args): (&str, &str), from_ms: u64, ms: u64) {
    let mut call = Call::new(name, args);
    (call.tid, call.pid) = (tid, Some(1));
    (call.ts, call.dur, call.ret) = (Timestamp::new(from_ms * MS), Nanos::new(ms * MS), Ret::Value(0));
    facts.push(Event::Call(&call));
}

/// A stack of `module:function` or `module:function@place`, innermost first.
fn stack(facts: &mut Facts, id: u32, frames: &[&str]) {
    let frames = frames.iter().map(|frame| {
        let (module, function) = frame.split_once(':').unwrap();
        let (function, place) = function.split_once('@').unwrap_or((function, ""));
        StackFrame {
            function: Some(function.to_string()),
            module: Some(module.to_string()),
            place: (!place.is_empty()).then(|| place.to_string()),
            ..StackFrame::default()
        }
    });
    facts.push(Event::Stack(Stack { id: StackId(id), frames: frames.collect(), cut: false }));
}

fn waited(facts: &mut Facts, tid: Tid, ms: u64, user: Option<u32>, kernel: Option<u32>) {
    sampled(facts, SampleKind::OffCpu, tid, ms, (user, kernel));
}

fn sampled(
    facts: &mut Facts,
    kind: SampleKind,
    tid: Tid,
    ms: u64,
    (user, kernel): (Option<u32>, Option<u32>),
) {
    facts.push(Event::Sample(SampledStack {
        kind,
        ts: Timestamp::new(1_010 * MS),
        cpu: 0,
        pid: 1,
        tid,
        weight: Nanos::new(ms * MS),
        user: user.map(StackId),
        kernel: kernel.map(StackId),
    }));
}

const LIBC: &str = "/usr/lib/libc.so.6:__futex_abstimed_wait_common";
const FUTEX: u32 = 90;
const FLOCK: u32 = 91;

fn kernel(facts: &mut Facts) {
    stack(facts, FUTEX, &["[kernel]:futex_wait", "[kernel]:__x64_sys_futex", "[kernel]:do_syscall_64"]);
    stack(
        facts,
        FLOCK,
        &["[kernel]:locks_lock_inode_wait", "[kernel]:__do_sys_flock", "[kernel]:do_syscall_64"],
    );
}

/// The account of two threads that wait at a futex 10 times 20 ms each, with such stacks: rows of futex waits, and what is idle, ms.
fn of_stacks(of_waits: &[(u64, &[&str])]) -> (Vec<(TimeState, u64)>, u64) {
    let mut facts = Facts::default();
    kernel(&mut facts);
    for tid in [1, 2] {
        for at in 0..10 {
            let args = "0x7f10, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, FUTEX_BITSET_MATCH_ANY";
            call(&mut facts, tid, ("futex", args), 1_000 + at * 30, 20);
        }
        for (id, (samples, frames)) in of_waits.iter().enumerate() {
            stack(&mut facts, id as u32 + 1, frames);
            for _ in 0..*samples {
                waited(&mut facts, tid, 20, Some(id as u32 + 1), Some(FUTEX));
            }
        }
    }
    facts.finish();
    let account = account(&facts).unwrap();
    let waits = account.rows.iter().filter(|row| row.call.as_deref() == Some("futex"));
    (waits.map(|row| (row.state, row.ns / MS)).collect(), account.idle_ns / MS)
}

#[test]
fn whose_own_code_waits_for_a_lock_or_sleeps_does_not_wait_for_work() {
    let own = "[java]:shop.Orders.load@Orders.java:8";
    let lock = [LIBC, "[java]:java.util.concurrent.locks.ReentrantLock.lock", own];
    let sleep = [LIBC, "[java]:java.lang.Thread.sleep", own];
    let queue = [LIBC, "[java]:java.util.concurrent.LinkedBlockingQueue.take", own];
    let vm = ["/usr/lib/jvm/libjvm.so:GangWorker::loop()", "/usr/lib/libc.so.6:start_thread"];
    assert_eq!(of_stacks(&[(5, &lock)]), (vec![(TimeState::Lock, 400)], 0));
    assert_eq!(of_stacks(&[(5, &sleep)]), (vec![(TimeState::Timer, 400)], 0));
    // A worker that takes jobs and waits for a lock in them.
    assert_eq!(of_stacks(&[(3, &lock), (1, &queue)]), (vec![(TimeState::Lock, 300)], 100));
    // Stacks that end inside of the C library say nothing.
    assert_eq!(of_stacks(&[(5, &lock), (5, &[LIBC])]), (vec![(TimeState::Lock, 400)], 0));
    // Workers, threads of the machine, a condition; and too few stacks.
    for idle in [&[(5, &queue[..]), (1, &lock)][..], &[(5, &vm)], &[(5, &[LIBC, own])], &[(2, &lock)]] {
        assert_eq!(of_stacks(idle), (vec![], 400), "{idle:?}");
    }
}

#[test]
fn a_wait_for_work_whose_call_the_capture_does_not_show_is_idle() {
    let idle = |frames: &[&str]| {
        let mut facts = Facts::default();
        kernel(&mut facts);
        for (at, blocked) in [(1_000, 0), (1_900, 880)] {
            facts.push(Event::Stretch(Stretch {
                ts: Timestamp::new(at * MS),
                cpu: 0,
                pid: 1,
                tid: 1,
                left_as: LeftAs::Sleeping,
                on_cpu: Nanos::new(20 * MS),
                runnable: Nanos::new(0),
                blocked: Nanos::new(blocked * MS),
            }));
        }
        stack(&mut facts, 1, frames);
        waited(&mut facts, 1, 880, Some(1), Some(FUTEX));
        facts.finish();
        let account = account(&facts).unwrap();
        (account.unknown_ns / MS, account.idle_ns / MS)
    };
    let of = "/usr/lib/jvm/libjvm.so:MonitorDeflationThread::monitor_deflation_thread_entry(JavaThread*)";
    assert_eq!(idle(&[LIBC, of]), (0, 880));
    assert_eq!(idle(&[LIBC, "/srv/app:load"]), (880, 0));
}

#[test]
fn a_row_is_named_by_stacks_of_its_own_threads_in_its_own_calls() {
    let mut facts = Facts::default();
    kernel(&mut facts);
    stack(&mut facts, 1, &["/usr/lib/libc.so.6:flock", "/srv/app:claim@a.c:3"]);
    stack(&mut facts, 2, &[LIBC, "/usr/lib/libc.so.6:pthread_mutex_lock", "/srv/app:enter@a.c:9"]);
    let held = "0x7f10, FUTEX_WAIT_PRIVATE, 2, NULL";
    for at in 0..10 {
        call(&mut facts, 1, ("flock", "3</data/lock>, LOCK_EX"), 1_000 + at * 100, 90);
        call(&mut facts, 1, ("futex", held), 1_090 + at * 100, 10);
        call(&mut facts, 2, ("futex", held), 1_000 + at * 100, 20);
        waited(&mut facts, 1, 90, Some(1), Some(FLOCK));
        waited(&mut facts, 2, 20, Some(2), Some(FUTEX));
    }
    facts.finish();
    let told = |by| {
        let account = account_by(&facts, by).unwrap();
        let locks = account.rows.iter().filter(|row| row.state == TimeState::Lock);
        let mut rows: Vec<(Option<String>, Option<String>)> =
            locks.map(|row| (row.call.clone(), row.function.clone())).collect();
        rows.sort();
        rows.dedup();
        rows
    };
    let row = |call: Option<&str>, function: &str| (call.map(str::to_string), Some(function.to_string()));
    assert_eq!(told(By::Row), [row(Some("flock"), "claim"), row(Some("futex"), "enter")]);
    // The rows of threads have no call; their parts have.
    assert_eq!(told(By::Thread), [row(None, "claim"), row(None, "enter")]);
}

#[test]
fn by_line_waits_without_a_stack_go_as_those_with_one_do() {
    let lines = |samples: u64| {
        let mut facts = Facts::default();
        kernel(&mut facts);
        stack(&mut facts, 1, &["/usr/lib/libc.so.6:flock", "/srv/app:claim@a.c:3"]);
        stack(&mut facts, 2, &["/usr/lib/libc.so.6:flock", "/srv/app:claim@a.c:7"]);
        stack(&mut facts, 3, &["/usr/lib/libc.so.6:flock"]);
        call(&mut facts, 1, ("flock", "3</data/lock>, LOCK_EX"), 1_000, 400);
        for _ in 0..samples {
            waited(&mut facts, 1, 30, Some(1), Some(FLOCK));
        }
        waited(&mut facts, 1, 30, Some(2), Some(FLOCK));
        // Its frames end in the C library; and short waits, which have no stack at all.
        waited(&mut facts, 1, 100, Some(3), Some(FLOCK));
        waited(&mut facts, 1, 50, None, None);
        facts.finish();
        let account = account_by(&facts, By::Line).unwrap();
        let rows = account.rows.iter();
        rows.map(|row| (row.function.clone(), row.ns / MS, row.known)).collect::<Vec<_>>()
    };
    let line = |line: &str, ms| (Some(line.to_string()), ms, Known::InProportion);
    assert_eq!(lines(3), [line("claim (a.c:3)", 300), line("claim (a.c:7)", 100)]);
    // Two stacks stand for themselves alone.
    let mut two = lines(1);
    two.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(two, [(None, 340, Known::Exact), line("claim (a.c:3)", 30), line("claim (a.c:7)", 30)]);
}

#[test]
fn syncs_too_short_for_a_stack_are_where_the_program_works_in_that_call() {
    let told = |samples: u64, call_of_samples: &str| {
        let mut facts = Facts::default();
        stack(&mut facts, 1, &["/usr/lib/libc.so.6:fsync", "/srv/app:save@a.c:3"]);
        let of_kernel = format!("[kernel]:__x64_sys_{call_of_samples}");
        stack(&mut facts, FUTEX, &[&of_kernel, "[kernel]:do_syscall_64"]);
        for at in 0..10 {
            call(&mut facts, 1, ("fsync", "3</data/journal>"), 1_000 + at * 30, 20);
            let slept = Stretch {
                ts: Timestamp::new((1_000 + at * 30) * MS),
                cpu: 0,
                pid: 1,
                tid: 1,
                left_as: LeftAs::Uninterruptible,
                on_cpu: Nanos::new(MS),
                runnable: Nanos::ZERO,
                blocked: Nanos::new(19 * MS),
            };
            facts.push(Event::Stretch(slept));
        }
        for _ in 0..samples {
            sampled(&mut facts, SampleKind::OnCpu, 1, 1, (Some(1), Some(FUTEX)));
        }
        facts.finish();
        let of = |by| {
            let account = account_by(&facts, by).unwrap();
            let files = account.rows.iter().filter(|row| row.state == TimeState::File);
            files.max_by_key(|row| row.ns).and_then(|row| row.function.clone())
        };
        (of(By::Row), of(By::Line))
    };
    let [save, line] = ["save", "save (a.c:3)"].map(|text| Some(text.to_string()));
    assert_eq!(told(5, "fsync"), (save, line));
    assert_eq!(told(5, "write"), (None, None));
}

#[test]
fn calls_that_no_sample_saw_go_where_the_stacks_of_short_ones_are() {
    let account_of = |stacks: u64| {
        let mut facts = Facts::default();
        stack(
            &mut facts,
            1,
            &["/usr/lib/libc.so.6:fsync", "/srv/app:look@look.c:6", "/srv/app:main@main.c:9"],
        );
        for at in 0..100 {
            call(&mut facts, 1, ("fsync", "3</srv/x>"), 1_000 + at * 3, 2);
        }
        for _ in 0..stacks {
            facts.push(Event::CallStack(CallStack {
                ts: Timestamp::new(1_100 * MS),
                cpu: 0,
                pid: 1,
                tid: 1,
                call: Syscall::lookup(b"fsync").unwrap(),
                took: Nanos::new(2_000),
                user: StackId(1),
            }));
        }
        facts.finish();
        let account = account(&facts).unwrap();
        let row = account.rows.iter().find(|row| row.call.as_deref() == Some("fsync")).unwrap().clone();
        let by_line = account_by(&facts, By::Line).unwrap();
        (row.place, by_line.rows.iter().any(|row| row.function.as_deref() == Some("look (look.c:6)")))
    };
    assert_eq!(account_of(3), (Some("look.c:6".to_string()), true));
    // Too few to stand for the others.
    assert_eq!(account_of(2), (None, false));
}
