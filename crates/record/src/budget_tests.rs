//! What is given up for its cost, in which order, and what is taken up again.

use super::*;

const SECOND: u64 = 1_000_000_000;

/// A recording of 10 s in ticks of a tenth of a second, which costs what it records.
struct Run {
    budget: Budget,
    at: Duration,
    spent: f64,
    allowed: f64,
}

impl Run {
    /// `cpus` may be spent, of one CPU.
    fn of(cpus: f64) -> Run {
        let budget = Budget::new(CallsMode::Full, true);
        Run { budget, at: Duration::ZERO, spent: 0.0, allowed: cpus * 10.0 * SECOND as f64 }
    }

    fn rest(&self) -> Duration {
        Duration::from_secs(10).saturating_sub(self.at)
    }

    /// Goes on for a tenth of a second, in which this comes.
    fn tick(&mut self, comes: &Forecast) -> &Budget {
        let control = self.budget.control();
        let second = |flow: Flow| flow.per_second * flow.each_ns;
        let on = |part: Part| control.parts & part.bit() != 0;
        let parts: f64 = Part::ALL
            .iter()
            .zip(comes.parts)
            .map(|(part, flow)| if on(*part) { second(flow) } else { 0.0 })
            .sum();
        let stacks = comes.wait_stacks.per_second.min(f64::from(control.wait_stacks * comes.cpus));
        let call = match self.budget.calls() {
            CallsMode::Full => comes.full_ns,
            CallsMode::Count => comes.count_ns,
            CallsMode::None => 0.0,
        };
        let samples = second(comes.samples) / f64::from(control.sample_every);
        self.spent += 0.1 * (parts + stacks * comes.wait_stacks.each_ns + samples + call * comes.calls);
        self.at += Duration::from_millis(100);
        let (elapsed, rest, left_ns) = (self.at, self.rest(), self.allowed - self.spent);
        self.budget.decide(&Forecast { elapsed, rest, left_ns, whole_ns: self.allowed, ..*comes });
        &self.budget
    }

    fn until_its_end(self, comes: &Forecast) -> Run {
        self.until(10, comes)
    }

    fn until(mut self, second: u64, comes: &Forecast) -> Run {
        while self.at < Duration::from_secs(second) {
            self.tick(comes);
        }
        self
    }

    /// Of what it may cost.
    fn share(&self) -> f64 {
        self.spent / self.allowed
    }
}

fn flow(per_second: f64, each_ns: f64) -> Flow {
    Flow { per_second, each_ns }
}

/// A server on two CPUs: 20,000 calls a second, some of everything.
fn a_server() -> Forecast {
    Forecast {
        calls: 20_000.0,
        full_ns: 200.0,
        count_ns: 100.0,
        parts: [
            flow(4.0, 500_000.0),
            flow(100.0, 3_000.0),
            flow(300.0, 500.0),
            flow(5_000.0, 100.0),
            flow(10_000.0, 200.0),
        ],
        samples: flow(100.0, 4_000.0),
        wait_stacks: flow(500.0, 10_000.0),
        cpus: 2,
        ..Forecast::default()
    }
}

#[test]
fn what_fits_is_recorded_in_full() {
    // 4 ms of calls, 3 of files and others, 5 of stacks a second; 5 % of a CPU are 50.
    let run = Run::of(0.05).until_its_end(&a_server());
    assert_eq!(run.budget.calls(), CallsMode::Full);
    assert_eq!(run.budget.control().sample_every, 1);
    assert_eq!(run.budget.given_up(run.at), [] as [String; 0]);
    // The first moments have fewer: nothing was known.
    assert!(run.budget.wait_stacks >= 250, "{}", run.budget.wait_stacks);
    assert!(run.share() < 0.3, "{}", run.share());
}

#[test]
fn a_herd_has_fewer_stacks_and_keeps_its_calls() {
    // 32 threads woken by each of 200 connections a second, at 7 % of a CPU: 6,400 waits at 10 us are 64 ms a second.
    let herd = Forecast { wait_stacks: flow(6_400.0, 10_000.0), calls: 20_000.0, ..a_server() };
    let run = Run::of(0.012).until(8, &herd);
    assert_eq!(run.budget.calls(), CallsMode::Full);
    assert!((2..=400).contains(&run.budget.wait_stacks), "{}", run.budget.wait_stacks);
    let run = run.until_its_end(&herd);
    assert!(run.share() <= 1.2, "{}", run.share());
}

#[test]
fn samples_of_queues_go_last_and_are_told() {
    let on = |cpus: f64| Run::of(cpus).tick(&a_server()).has(Part::Queues);
    // They cost 2 ms a second.
    assert!(on(0.003) && !on(0.001));
    let mut run = Run::of(0.0021);
    assert_eq!(run.tick(&a_server()).control().parts, 0, "nothing else fits");
    let run = Run::of(0.001).until_its_end(&a_server());
    let told = run.budget.given_up(run.at);
    assert!(told[0].ends_with("which work waits in pipes and sockets"), "{told:?}");
}

#[test]
fn file_sums_go_before_wake_ups_and_these_before_connections_and_disks() {
    let all = Part::ALL.map(Part::bit).iter().sum::<u32>();
    let mut seen = vec![all];
    for cpus in (1..=500).rev().map(|part| f64::from(part) / 10_000.0) {
        let mut run = Run::of(cpus);
        let mut server = a_server();
        (server.parts[0], server.parts[1]) = (Flow::default(), flow(30.0, 3_000.0));
        let parts = run.tick(&server).control().parts;
        if seen.last() != Some(&parts) {
            seen.push(parts);
        }
    }
    let without = |given_up: &[Part]| all - given_up.iter().map(|part| part.bit()).sum::<u32>();
    use Part::{Block, Files, Net, Wakeups};
    assert_eq!(
        seen,
        [
            all,
            without(&[Files]),
            without(&[Files, Wakeups]),
            without(&[Files, Wakeups, Net]),
            without(&[Files, Wakeups, Net, Block])
        ]
    );
}

#[test]
fn what_costs_nothing_is_not_given_up() {
    // States are always kept, and may cost more than there is.
    let mut budget = Budget::new(CallsMode::Full, true);
    let spent = Forecast { elapsed: Duration::from_secs(1), left_ns: -1e9, cpus: 2, ..Forecast::default() };
    budget.decide(&spent);
    assert_eq!(budget.given_up(Duration::from_secs(2)), [] as [String; 0]);
}

#[test]
fn what_was_given_up_is_taken_up_again_when_it_fits_and_is_told() {
    let mut run = Run::of(0.02);
    let burst = Forecast {
        parts: [flow(0.0, 0.0), flow(0.0, 0.0), flow(0.0, 0.0), flow(0.0, 0.0), flow(1e6, 200.0)],
        ..a_server()
    };
    run.tick(&burst);
    assert_eq!(run.budget.control().parts & Part::Files.bit(), 0);
    let run = run.until_its_end(&a_server());
    assert_ne!(run.budget.control().parts & Part::Files.bit(), 0);
    let told = run.budget.given_up(run.at);
    assert_eq!(
        told,
        ["not recorded for 1.0 of 10.0 s, to keep the cost low (--max-overhead): what is done with files"]
    );
}

#[test]
fn calls_that_cost_too_much_are_recorded_for_a_part_and_counted_until_its_end() {
    // 100,000 calls a second at 200 ns are 20 ms, 10 ms where they are counted; 15 ms may be spent.
    let calls =
        Forecast { calls: 100_000.0, full_ns: 200.0, count_ns: 100.0, cpus: 2, ..Forecast::default() };
    let mut run = Run::of(0.015);
    let mut modes = Vec::new();
    while run.at < Duration::from_millis(9_900) {
        let mode = run.tick(&calls).calls();
        if modes.last() != Some(&mode) {
            modes.push(mode);
        }
    }
    assert_eq!(modes, [CallsMode::Full, CallsMode::Count]);
    assert!((0.8..=1.05).contains(&run.share()), "{}", run.share());
}

#[test]
fn calls_that_were_given_up_come_back_when_they_are_cheap() {
    let many = Forecast { calls: 4e6, full_ns: 100.0, count_ns: 50.0, cpus: 2, ..Forecast::default() };
    let few = Forecast { calls: 1e3, ..many };
    let mut run = Run::of(0.05);
    let mut modes = Vec::new();
    for tick in 0..100 {
        let mode = run.tick(if tick < 10 { &many } else { &few }).calls();
        if modes.last() != Some(&mode) {
            modes.push(mode);
        }
    }
    assert_eq!(modes.last(), Some(&CallsMode::Full), "{modes:?}");
    assert!(modes.len() <= 8, "a few gaps, not many: {modes:?}");
    assert!(run.share() <= 1.2, "{}", run.share());
}

#[test]
fn samples_are_thinned_and_never_none() {
    let much = Forecast { samples: flow(10_000.0, 4_000.0), cpus: 2, ..Forecast::default() };
    let run = Run::of(0.01).until(8, &much);
    assert!((4..=1000).contains(&run.budget.sample_every), "{}", run.budget.sample_every);
    let run = run.until_its_end(&much);
    assert!(run.share() <= 1.2, "{}", run.share());
    assert!(Run::of(0.0).until_its_end(&much).budget.sample_every >= 1);
}

#[test]
fn no_recording_costs_much_more_than_it_may() {
    // Any mixture of everything, on any budget: what is always recorded is not in here.
    let mut random = fastrand::Rng::with_seed(7);
    let mut random = |most: f64| random.f64().powi(3) * most;
    for _ in 0..500 {
        let parts = std::array::from_fn(|_| flow(random(2e5), 50.0 + random(4e3)));
        let comes = Forecast {
            calls: random(2e6),
            full_ns: 100.0 + random(400.0),
            count_ns: 50.0 + random(100.0),
            parts,
            samples: flow(random(1e4), 1_000.0 + random(1e4)),
            wait_stacks: flow(random(1e5), 3_000.0 + random(2e4)),
            cpus: 2,
            ..Forecast::default()
        };
        // What one tick costs before anything is known is not in our hands; nor are the few stacks that are always taken.
        let first = Run::of(1.0).tick_cost(&comes);
        let run = Run::of(0.01 + random(0.3)).until_its_end(&comes);
        let floor = 10.0 * 2.0 * f64::from(FEWEST_WAIT_STACKS) * comes.wait_stacks.each_ns;
        // Calls are decided on for the next tick, with what is left.
        let allowed = run.allowed * 1.1 + 2.0 * first + floor;
        assert!(run.spent <= allowed, "{comes:?}: {} of {}", run.spent, run.allowed);
    }
}

impl Run {
    fn tick_cost(mut self, comes: &Forecast) -> f64 {
        self.tick(comes);
        self.spent
    }
}

#[test]
fn a_storm_of_switches_that_takes_it_all_leaves_cheap_calls() {
    // Switches, which are always recorded, take three times what may be spent.
    let storm = |calls: f64| {
        let mut budget = Budget::new(CallsMode::Full, true);
        let (elapsed, rest) = (Duration::from_secs(1), Duration::from_secs(9));
        let whole_ns = 0.05 * 10.0 * SECOND as f64;
        let comes = Forecast { calls, parts: [Flow::default(); Part::ALL.len()], ..a_server() };
        budget.decide(&Forecast { elapsed, rest, whole_ns, left_ns: -2.0 * whole_ns, ..comes });
        budget.calls()
    };
    // 200 ns each, of 50 ms a second.
    assert_eq!(storm(100_000.0), CallsMode::Full);
    assert_eq!(storm(200_000.0), CallsMode::Count);
    assert_eq!(storm(500_000.0), CallsMode::None);
}
