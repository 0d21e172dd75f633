//! Samples: a loop that only computes, held against the CPU time that the thread used.

use super::{only, record};
use whyslow_model::{Nanos, SampleKind};
use whyslow_record::{Mode, Options};

/// How long it computes, CPU time: so neighbours take no samples away.
const LENGTH: f64 = 1.0;
const HZ: u32 = 99;

#[inline(never)]
fn compute_for(length: f64) -> u64 {
    let end = cpu_seconds() + length;
    let mut state = 1u64;
    while cpu_seconds() < end {
        state = std::hint::black_box(churn(state));
    }
    state
}

/// Takes far longer than the look at the clock. No range is gone through: in a build for tests that may call functions that another
/// crate has made, and the stacks that are looked at here may have one frame.
#[inline(never)]
fn churn(mut state: u64) -> u64 {
    let mut left = 100_000;
    while left > 0 {
        state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        left -= 1;
    }
    state
}

/// CPU time of this thread, s.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[test]
fn samples_are_as_many_as_the_cpu_time_has_and_name_the_function() {
    sampled(only(|options| options.sample_hz = HZ));
}

#[test]
fn samples_need_neither_calls_nor_the_scheduler() {
    sampled(only(|options| {
        options.sample_hz = HZ;
        options.mode = Mode::None;
        options.sched = false;
    }));
}

fn sampled(options: Options) {
    let work = || {
        let before = cpu_seconds();
        compute_for(LENGTH);
        cpu_seconds() - before
    };
    let Some((seen, cpu, _)) = record(options, work, |_| ()) else { return };
    let samples: Vec<_> = seen.samples.iter().filter(|sample| sample.tid == seen.tid).collect();
    let expected = cpu * f64::from(HZ);
    let found = samples.len() as f64;
    assert!((found - expected).abs() <= expected * 0.2 + 1.0, "{found} samples of {expected} in {cpu} s");
    for sample in &samples {
        assert_eq!(sample.kind, SampleKind::OnCpu);
        assert_eq!(sample.weight, Nanos::new(1_000_000_000 / u64::from(HZ)));
        assert_eq!(sample.pid, std::process::id());
    }
    let in_loop = samples
        .iter()
        .filter(|sample| seen.functions(sample.user).iter().any(|name| name.contains("churn")))
        .count();
    let first = samples.first().map(|sample| (seen.functions(sample.user), seen.functions(sample.kernel)));
    assert!(in_loop * 10 >= samples.len() * 9, "{in_loop} of {} name the loop; {first:?}", samples.len());
    seen.assert_whole("samples", seen.samples.len());
}
