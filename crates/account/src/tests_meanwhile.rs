//! Who had the CPUs that threads waited for, in rows of the account.

use super::*;
use proptest::prelude::*;
use whyslow_model::{
    AccountRow, Event, HadCpu, LeftAs, Meanwhile, Nanos, ProcessInfo, Sink, Stretch, TimeState, Timestamp,
};

const MS: u64 = 1_000_000;

/// A thread that ran for 10 ms each second, and waited so long for a CPU before.
fn waits(facts: &mut Facts, tid: u32, comm: &str, runnable_ms: u64) {
    let comm = Some(comm.to_string());
    facts.push(Event::Process(ProcessInfo { pid: 1, tid: Some(tid), comm, ..ProcessInfo::default() }));
    facts.push(Event::Stretch(Stretch {
        ts: Timestamp::new(1_000 * MS),
        cpu: 0,
        pid: 1,
        tid,
        left_as: LeftAs::Sleeping,
        on_cpu: Nanos::new(10 * MS),
        runnable: Nanos::new(runnable_ms * MS),
        blocked: Nanos::ZERO,
    }));
}

fn ran(facts: &mut Facts, tid: u32, had: HadCpu, runner: u32, comm: &str, ms: u64) {
    facts.push(Event::Meanwhile(Box::new(Meanwhile {
        pid: 1,
        tid,
        had,
        runner: (had == HadCpu::Thread).then_some(runner),
        comm: (had == HadCpu::Thread).then(|| comm.to_string()),
        turns: 1,
        total: Nanos::new(ms * MS),
    })));
}

fn queue_of(facts: &mut Facts) -> AccountRow {
    facts.finish();
    let account = account(facts).unwrap();
    account.rows.into_iter().find(|row| row.state == TimeState::RunQueue).unwrap()
}

#[test]
fn a_row_names_others_and_own_threads_with_their_parts_of_the_account() {
    let mut facts = Facts::default();
    waits(&mut facts, 1, "shop", 0);
    waits(&mut facts, 2, "order-worker-1", 40);
    waits(&mut facts, 3, "order-worker-2", 30);
    ran(&mut facts, 2, HadCpu::Thread, 71, "ffmpeg", 25);
    ran(&mut facts, 2, HadCpu::Thread, 1, "order-worker-2", 10);
    ran(&mut facts, 2, HadCpu::Idle, 0, "", 5);
    ran(&mut facts, 3, HadCpu::Thread, 1, "order-worker-1", 20);
    ran(&mut facts, 3, HadCpu::Untold, 0, "", 10);
    let row = queue_of(&mut facts);
    // Of 100 ms; what is idle or not told is nobody's.
    assert_eq!(row.ns, 70 * MS);
    assert_eq!(row.ran_meanwhile().unwrap(), "own threads order-worker 30.0 %, ffmpeg (71) 25.0 %");
    let told: Vec<_> = row.meanwhile.iter().map(|one| (one.pid, one.is_own, one.ns / MS)).collect();
    assert_eq!(told, [(Some(1), true, 30), (Some(71), false, 25)]);
}

#[test]
fn what_is_not_recorded_is_unknown() {
    let mut facts = Facts::default();
    waits(&mut facts, 2, "worker", 40);
    let row = queue_of(&mut facts);
    assert_eq!((row.meanwhile.len(), row.ran_meanwhile()), (0, None));
}

proptest! {
    #[test]
    fn runners_are_no_more_than_the_queue(
        threads in prop::collection::vec((1u64..50, prop::collection::vec((0u32..4, 1u64..40), 0..6)), 1..6),
    ) {
        let mut facts = Facts::default();
        for (at, (queued, runners)) in threads.iter().enumerate() {
            let tid = 2 + at as u32;
            waits(&mut facts, tid, "worker", *queued);
            // As the recorder sees it: the parts of a wait are no more than it, but for one at the recording's end.
            let mut left = *queued + 5;
            for (had, ms) in runners {
                let ms = (*ms).min(left);
                left -= ms;
                let had = [HadCpu::Thread, HadCpu::Idle, HadCpu::Quota, HadCpu::Untold][*had as usize];
                ran(&mut facts, tid, had, 70, "ffmpeg", ms);
            }
        }
        let row = queue_of(&mut facts);
        prop_assert!(row.meanwhile.iter().map(|one| one.ns).sum::<u64>() <= row.ns, "{row:?}");
    }
}
