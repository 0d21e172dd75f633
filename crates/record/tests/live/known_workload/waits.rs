//! Waits: 23 sleeps, each long enough to be kept with its stack, also where neighbours take the CPU on the way to sleep.

use super::{TIMES, only, record};
use std::time::Duration;
use whyslow_model::{SampleKind, StackId};

/// One sleep. The kernel may take the CPU away between the call and the sleep, for some ms a neighbour: what is left is what waits.
const SLEEP: Duration = Duration::from_millis(60);

#[test]
fn long_waits_have_the_stack_that_waited() {
    let options = only(|options| options.wait_stacks = true);
    let work = || {
        for _ in 0..TIMES {
            std::thread::sleep(SLEEP);
        }
    };
    let Some((seen, (), _)) = record(options, work, |_| ()) else { return };
    let waits: Vec<_> = seen.samples.iter().filter(|sample| sample.tid == seen.tid).collect();
    let names = |id: Option<StackId>, part: &str| seen.functions(id).iter().any(|name| name.contains(part));
    let sleeps: Vec<_> = waits.iter().filter(|wait| names(wait.kernel, "nanosleep")).collect();
    assert_eq!(sleeps.len(), TIMES, "of {} waits", waits.len());
    for sleep in &sleeps {
        assert_eq!(sleep.kind, SampleKind::OffCpu);
        assert!(sleep.weight.get().unwrap() >= 5_000_000, "{sleep:?}");
        assert!(names(sleep.user, "nanosleep"), "{:?}", seen.functions(sleep.user));
    }
    let whole = sleeps.iter().filter(|sleep| u128::from(sleep.weight.or_zero()) >= SLEEP.as_nanos() * 9 / 10);
    assert!(whole.count() > TIMES / 2, "{sleeps:?}");
    // The wait for the end of the recording is not over.
    let last = waits.last().unwrap();
    assert!(names(last.kernel, "futex"), "{:?}", seen.functions(last.kernel));
    assert!(last.user.is_some());
    seen.assert_whole("offcpu", seen.samples.len());
}

#[inline(never)]
fn often() -> Duration {
    std::thread::sleep(SHORT);
    // Else it would be no call, and have no frame.
    std::hint::black_box(SHORT)
}

#[inline(never)]
fn seldom() -> Duration {
    std::thread::sleep(SHORT);
    // Else it would be no call, and have no frame.
    std::hint::black_box(SHORT)
}

/// Long enough to be kept.
const SHORT: Duration = Duration::from_micros(1500);

#[test]
fn of_many_waits_of_one_site_some_are_copied_and_stand_for_the_others() {
    const WAITS: usize = 600;
    let options = only(|options| (options.wait_stacks, options.sample_hz) = (true, 99));
    let work = || {
        // Until what unwinds the copies knows the program.
        std::thread::sleep(Duration::from_secs(2));
        for at in 0..WAITS {
            std::hint::black_box(if at % 4 == 3 { seldom() } else { often() });
        }
    };
    let Some((seen, (), _)) = record(options, work, |_| ()) else { return };
    let of_thread = seen.samples.iter().filter(|sample| sample.tid == seen.tid);
    let waits: Vec<_> = of_thread.filter(|sample| sample.kind == SampleKind::OffCpu).collect();
    let within = |function: &str| {
        let has = |id| seen.functions(id).iter().any(|name| name.ends_with(function));
        waits.iter().filter(|wait| has(wait.user)).count()
    };
    let (often, seldom) = (within("often"), within("seldom"));
    // A neighbour that takes the CPU on the way to sleep leaves less than is kept.
    assert!(waits.len() >= WAITS * 19 / 20, "{} waits", waits.len());
    assert!(
        often + seldom >= WAITS * 9 / 10,
        "{often} and {seldom} of {} waits, as {:?}",
        waits.len(),
        (
            waits.get(400).map(|wait| seen.functions(wait.user)),
            seen.losses.iter().find(|loss| !loss.is_of_rows())
        )
    );
    let part = seldom as f64 / (often + seldom) as f64;
    assert!((0.1..0.4).contains(&part), "{seldom} of {}", often + seldom);
    let copies = seen.losses.iter().find(|loss| !loss.is_of_rows()).expect("a row of copies");
    assert!(copies.refused as usize >= WAITS / 10, "{copies:?}");
    assert!((copies.produced as usize) < WAITS && copies.produced >= 50, "{copies:?}");
}

#[test]
fn a_thread_that_sleeps_all_along_is_told_too() {
    let options = only(|options| options.wait_stacks = true);
    let (tell, told) = std::sync::mpsc::channel();
    let (wake, woken) = std::sync::mpsc::channel::<()>();
    let sleeper = std::thread::spawn(move || {
        tell.send(rustix::thread::gettid().as_raw_nonzero().get() as u32).unwrap();
        let _ = woken.recv();
    });
    let sleeping = told.recv().unwrap();
    let options = whyslow_record::Options { tids: vec![sleeping], ..options };
    const RECORDED: Duration = Duration::from_millis(60);
    let Some((seen, (), _)) = record(options, || std::thread::sleep(RECORDED), |_| ()) else { return };
    drop(wake);
    sleeper.join().unwrap();
    let waits: Vec<_> = seen.samples.iter().filter(|sample| sample.tid == sleeping).collect();
    let [wait] = waits[..] else { panic!("one wait: {waits:?}") };
    assert!(
        u128::from(wait.weight.or_zero()) >= RECORDED.as_nanos(),
        "it lasted all of the recording: {wait:?}"
    );
    assert!(seen.functions(wait.kernel).iter().any(|name| name.contains("futex")));
    assert!(wait.user.is_some());
}
