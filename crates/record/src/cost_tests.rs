//! What is charged, and what may be spent.

use super::*;

/// A meter of a target that used one CPU for a second, with 100 ns a recorded call and 50 a counted one.
fn meter(all: bool) -> CostMeter {
    let per_call = PerCall { full: 100.0, counts: 50.0, others: 0.0 };
    let (none, rare) = ([RingLoss::NONE; 2], [RingLoss::NONE; kind::COUNT]);
    let meter = CostMeter::new(per_call, &Options::default(), none, rare);
    CostMeter { all, on_cpu_ns: Some(1_000_000_000), elapsed: Duration::from_secs(1), ..meter }
}

fn with(all: bool, kind: u8, told: RingLoss) -> CostMeter {
    let mut meter = meter(all);
    let mut now = [RingLoss::NONE; kind::COUNT];
    now[usize::from(kind)] = told;
    meter.rare(&now);
    meter
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 0.01 * expected.abs(), "{found}, not {expected}");
}

#[test]
fn requests_to_disks_count_where_everybody_is_recorded() {
    let requests = RingLoss { produced: 1_000, spent_ns: 3_000_000, ..RingLoss::NONE };
    assert_near(with(true, kind::BLOCK, requests).share().unwrap(), 0.003_12);
    assert_eq!(with(false, kind::BLOCK, requests).share(), Some(0.0));
}

#[test]
fn a_stack_that_is_refused_is_not_charged_as_taken() {
    let stacks = RingLoss { produced: 11_792, refused: 39_492, spent_ns: 11_792 * 8_000, ..RingLoss::NONE };
    let meter = with(false, kind::OFFCPU, stacks);
    // 11,792 stacks of 8.12 us, and 39,492 refusals of 30 ns.
    assert_near(meter.share().unwrap(), 0.0969);
    assert_near(meter.each_ns(kind::OFFCPU), 8_120.0);
}

#[test]
fn samples_of_queues_are_charged_and_planned() {
    let mut meter = meter(false);
    let planned = |meter: &CostMeter| {
        let flow = meter.forecast(0.05, Duration::from_secs(10), 2).parts[0];
        flow.per_second * flow.each_ns
    };
    assert_eq!(planned(&meter), 0.0);
    meter.queues(2_000_000);
    assert_near(meter.added_ns(), 2_000_000.0);
    assert_near(planned(&meter), 2_000_000.0);
}

#[test]
fn before_enough_is_measured_what_the_programs_state_is_taken() {
    let one = RingLoss { produced: 1, spent_ns: 90_000, ..RingLoss::NONE };
    let meter = with(false, kind::OFFCPU, one);
    assert_near(meter.each_ns(kind::OFFCPU), 10_000.0);
    // What was spent is charged all the same.
    assert_near(meter.added_ns(), 90_120.0);
}

#[test]
fn a_target_that_hardly_runs_may_lose_a_hundredth_of_a_cpu() {
    let planned = Duration::from_secs(10);
    let idle = CostMeter { on_cpu_ns: Some(0), ..meter(false) };
    assert_near(idle.forecast(0.05, planned, 2).left_ns, 0.1e9);
    // One that is busy may lose the share that was asked for.
    assert_near(meter(false).forecast(0.05, planned, 2).left_ns, 0.5e9);
}

#[test]
fn a_share_of_no_time_is_unknown_and_its_time_is_not() {
    let stacks = RingLoss { produced: 100, spent_ns: 800_000, ..RingLoss::NONE };
    let meter = CostMeter { on_cpu_ns: Some(0), ..with(false, kind::OFFCPU, stacks) };
    let cost = meter.cost(Duration::ZERO);
    assert_eq!(cost.target_share, None);
    assert_eq!(cost.added, Nanos::new(812_000));
}

#[test]
fn rates_are_of_the_last_stretch_of_time() {
    let mut meter = meter(false);
    let calls = |produced: u64| [RingLoss { produced, ..RingLoss::NONE }, RingLoss::NONE];
    meter.update(calls(1_000), 0, Duration::from_secs(1), Unseen::default());
    assert_near(meter.forecast(0.05, Duration::from_secs(10), 2).calls, 1_000.0);
    meter.update(calls(6_000), 500, Duration::from_secs(3), Unseen::default());
    let rate = meter.forecast(0.05, Duration::from_secs(10), 2).calls;
    assert!((2_600.0..2_750.0).contains(&rate), "{rate}");
    // Nothing looks at calls: the last rate stands.
    meter.update(calls(6_000), 500, Duration::from_secs(4), Unseen { calls: true, files: true });
    assert_near(meter.forecast(0.05, Duration::from_secs(10), 2).calls, rate);
}

#[test]
fn others_requests_to_disks_count_once_they_are_a_burden_to_the_host() {
    let requests = |produced: u64| {
        let mut meter =
            with(false, kind::BLOCK, RingLoss { produced, spent_ns: produced * 3_000, ..RingLoss::NONE });
        meter.update([RingLoss::NONE; 2], 0, Duration::from_secs(1), Unseen::default());
        meter.forecast(0.05, Duration::from_secs(10), 2).parts[1].per_second
    };
    // 3 ms a second of two CPUs, then 312 ms.
    assert_eq!(requests(1_000), 0.0);
    assert_near(requests(100_000), 100_000.0);
}

#[test]
fn cpu_time_that_nothing_goes_by_is_read_once_and_when_it_is_asked_for() {
    let reads = |lasting, mode| {
        let per_call = PerCall { full: 100.0, counts: 50.0, others: 0.0 };
        let options = Options { lasting, mode, pids: vec![std::process::id()], ..Options::default() };
        let none = [RingLoss::NONE; 2];
        let mut meter = CostMeter::new(per_call, &options, none, [RingLoss::NONE; kind::COUNT]);
        let mut read_at = Vec::new();
        for second in 1..5 {
            if second == 4 {
                meter.cpu_time_is_due();
            }
            let at = Duration::from_secs(second);
            meter.update(none, 0, at, Unseen { calls: false, files: false });
            read_at.extend(meter.cpu_read.filter(|read| *read == at).map(|_| second));
        }
        read_at
    };
    assert_eq!(reads(true, Mode::Counts), [1, 4]);
    assert_eq!(reads(true, Mode::Adaptive), [1, 2, 3, 4]);
    assert_eq!(reads(false, Mode::Counts), [1, 2, 3, 4]);
}
