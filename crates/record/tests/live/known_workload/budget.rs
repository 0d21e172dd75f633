//! The budget: threads that do nothing but nap would cost more in stacks than they use themselves.

use super::start;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use whyslow_model::Coverage;
use whyslow_record::{Mode, Options};

const THREADS: usize = 32;
const NAP: Duration = Duration::from_millis(8);
const RECORDED: Duration = Duration::from_secs(2);
/// Between two decisions, as the program takes them.
const TICK: Duration = Duration::from_millis(40);
/// The CPU time of single threads is not known to the recorder: 1 % of a CPU may be spent (`FLOOR_CPUS`).
const MAY_COST_NS: f64 = 0.01 * RECORDED.as_nanos() as f64;

#[test]
fn a_herd_costs_no_more_than_it_may_and_keeps_its_states() {
    let end = Arc::new(AtomicBool::new(false));
    let (tell, told) = channel();
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let (tell, end) = (tell.clone(), end.clone());
            std::thread::spawn(move || {
                tell.send(rustix::thread::gettid().as_raw_nonzero().get() as u32).unwrap();
                while !end.load(Ordering::Relaxed) {
                    std::thread::sleep(NAP);
                }
            })
        })
        .collect();
    let tids: Vec<u32> = told.iter().take(THREADS).collect();
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        mode: Mode::Adaptive,
        planned: RECORDED,
        follow: false,
        tids,
        spool: folder.path().into(),
        ..Options::default()
    };
    let recorded = record(options);
    end.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let Some(recorded) = recorded else { return };

    let cost = recorded.cost.unwrap();
    let parts = &recorded.cost_of_parts;
    // What an event costs is measured while it records, and is a multiple where others keep the CPUs busy: what was taken before
    // that was known cost more than was thought. That stacks were refused is seen below.
    assert!(cost.added.or_zero() as f64 <= 2.0 * MAY_COST_NS, "{cost:?} of {MAY_COST_NS}: {parts:?}");
    // It cost something, and each part is told.
    assert!(cost.added.or_zero() > 100_000, "{cost:?}");
    assert_eq!(parts.iter().map(|(_, added)| added.or_zero()).sum::<u64>(), cost.added.or_zero());
    let loss = |table: &str| recorded.losses.iter().find(|loss| loss.table == table).unwrap();
    assert!(loss("offcpu").refused > 0, "{:?}", loss("offcpu"));
    for table in ["offcpu", "sched", "wakeups", "syscalls"] {
        assert_eq!(loss(table).lost, 0, "{table}");
    }
    // Calls are cheap and say much: on a calm machine all are kept. They are given up only where all that may be spent is spent, as beside
    // others, where everything takes longer.
    if cost.added.or_zero() as f64 >= MAY_COST_NS {
        return;
    }
    let full = recorded.spans.iter().filter(|span| span.calls == Coverage::Full);
    let in_full: u64 = full.map(|span| span.to.since(span.from).or_zero()).sum();
    assert!(in_full as u128 > RECORDED.as_nanos() / 2, "{:?}: {parts:?}", recorded.spans);
    let naps = (RECORDED.as_millis() / NAP.as_millis()) as u64 * THREADS as u64;
    assert!(loss("syscalls").produced > naps / 4, "{:?}", loss("syscalls"));
}

fn record(options: Options) -> Option<whyslow_record::Recorded> {
    let mut session = start(options)?;
    let began = Instant::now();
    while began.elapsed() < RECORDED {
        std::thread::sleep(TICK);
        session.tick().unwrap();
    }
    Some(session.stop().unwrap())
}
