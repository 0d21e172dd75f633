//! Short calls: a few of each kind have the stack that made them, the seldom ones beside a storm of others.

use super::{only, record};
use std::time::Duration;
use whyslow_model::CallStack;

/// Rounds, each of them looks for a file that is not there, one read of a file, and a pause. The calls are made without the C library: of a
/// recorder's own process no copy is unwound, and frame pointers lead past the caller of a function that keeps none.
const ROUNDS: usize = 150;
const LOOKS: usize = 200;
const PAUSE: Duration = Duration::from_millis(20);

#[inline(never)]
fn look_for_a_file() -> bool {
    // Else it would be no call, and have no frame.
    std::hint::black_box(rustix::fs::stat("/no/such/file").is_err())
}

#[inline(never)]
fn read_a_file() -> usize {
    let mut text = [0; 16];
    let flags = rustix::fs::OFlags::RDONLY;
    let file = rustix::fs::open("/proc/self/comm", flags, rustix::fs::Mode::empty()).unwrap();
    std::hint::black_box(rustix::io::read(&file, &mut text).unwrap())
}

#[test]
fn short_calls_have_the_stack_that_made_them() {
    let options = only(|options| (options.wait_stacks, options.sample_hz) = (true, 99));
    let work = || {
        for _ in 0..ROUNDS {
            for _ in 0..LOOKS {
                std::hint::black_box(look_for_a_file());
            }
            std::hint::black_box(read_a_file());
            std::thread::sleep(PAUSE);
        }
    };
    let Some((seen, (), _)) = record(options, work, |_| ()) else { return };
    let all = &seen.call_stacks;
    assert!(all.iter().all(|made| made.tid == seen.tid && made.took.is_known()));
    seen.assert_whole("call_stacks", all.len());
    // They are few, however many calls there are.
    assert!(all.len() < ROUNDS * LOOKS / 50, "{}", all.len());
    let known = |of: &[CallStack], calls: &[&str], function: &str| {
        let of: Vec<_> = of.iter().filter(|made| calls.contains(&made.call.info().name)).collect();
        let has =
            |made: &&&CallStack| seen.functions(Some(made.user)).iter().any(|name| name.ends_with(function));
        (of.iter().filter(has).count(), of.len())
    };
    let (looks, all_looks) = known(all, &["stat", "newfstatat", "statx"], "look_for_a_file");
    let (reads, all_reads) = known(all, &["openat", "read"], "read_a_file");
    let counts = format!("{looks} of {all_looks} looks, {reads} of {all_reads} calls of reads");
    assert!(looks >= 5 && looks * 10 >= all_looks * 9, "{counts}");
    assert!(reads >= 3 && reads * 10 >= all_reads * 9, "{counts}");
}
