//! How fast the program would be without its tracer: a tracer that stops each call (strace) slows a program down tenfold and
//! more, and how much depends on the machine. Thresholds that are rates are of the program, not of the tracer.
//!
//! The kernel stops a traced thread twice a call. The cheapest calls take well under a microsecond by themselves, so what they take
//! in the capture is one of the stops; the other one, with the printing of the line, lies between the calls and takes
//! about twice that (strace 6.1: 9 us in the call, 22 us between calls).

use crate::CHEAP_CALL;
use crate::world::threads::{ThreadFacts, Threads};
use whyslow_model::syscall::Waits;
use whyslow_model::{CallStats, Nanos, SaturatingSum};

/// What the tracer adds; nothing where the kernel itself took the times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// What one stop takes; unknown where the capture does not show it, or nothing was stopped.
    pub stop: Nanos,
    /// Calls that cost next to nothing now and then take a millisecond and more: the program, or its tracer, had to wait
    /// for a CPU. What passes between calls is then no measure of the program's own work.
    pub starved: bool,
    /// The tracer, which is one process, had hardly a pause: the threads waited for it, and for each other as they never would without it.
    pub saturated: bool,
    /// How many times faster the program would be: 1 or more.
    factor: f64,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { stop: Nanos::UNKNOWN, starved: false, saturated: false, factor: 1.0 }
    }
}

impl Pace {
    /// The part of the calls that are taken for free of their own cost.
    const CHEAPEST: f64 = 0.10;
    /// Fewer calls show no pace.
    const MIN_CALLS: u64 = 100;
    /// A stop takes no longer, on the slowest of machines: what takes longer is the calls' own time.
    const LONGEST_STOP: Nanos = Nanos::from_millis(1);
    /// Stops between two calls, as long as the one within.
    const BETWEEN: u64 = 2;
    /// What strace takes for a call where the capture does not say how long the cheapest are, ns.
    const TRACED_CALL: u64 = 30_000;
    /// The part of the time from which on it has no pause to speak of.
    const SATURATED: f64 = 0.6;
    /// No estimate is further from what was measured.
    const MOST: u64 = 50;
    /// A hundredth of the cheap calls takes this long where CPUs are short: on an idle machine strace makes it 0.2 ms, and
    /// the scheduler's shortest slice is 0.7 ms and more (sched_base_slice).
    const STARVED: Nanos = Nanos::from_millis(1);
    /// Calls that neither wait nor, as a rule, touch a disk.
    const CHEAP: [&str; 16] = [
        "epoll_ctl",
        "fcntl",
        "lseek",
        "fstat",
        // What the C library makes of fstat since 2.33.
        "newfstatat",
        "close",
        "getpid",
        "gettid",
        "brk",
        "mprotect",
        "setsockopt",
        "getsockopt",
        "getsockname",
        "rt_sigprocmask",
        "rt_sigaction",
        "clock_gettime",
    ];

    /// The pace of a capture whose calls a tracer stopped, over `window`.
    pub(crate) fn of(threads: &Threads, window: Nanos) -> Pace {
        let stop = cheapest(threads);
        let calls = threads.iter().map(|(_, thread)| thread.calls).saturating_sum();
        let busy = calls
            .saturating_mul(stop.map_or(Self::TRACED_CALL, |stop| stop.saturating_mul(1 + Self::BETWEEN)));
        let saturated = window.get().is_some_and(|window| busy as f64 >= Self::SATURATED * window as f64);
        let Some(stop) = stop.filter(|&ns| ns > CHEAP_CALL.or_zero()) else {
            return Pace { starved: is_starved(threads), saturated, ..Pace::default() };
        };
        let traced = |thread: &ThreadFacts| {
            let within = thread.calls.saturating_mul(stop);
            let wall = thread.wall().or_zero();
            let between = wall.saturating_sub(thread.working_ns.saturating_add(thread.waiting_total()));
            let added = within.saturating_add(between.min(within.saturating_mul(Self::BETWEEN)));
            // What a call takes without a tracer stays.
            let own = thread.calls.saturating_mul(CHEAP_CALL.or_zero());
            added.min(wall.saturating_sub(own))
        };
        // Threads are stopped side by side: what the busiest one lost is lost for certain.
        let added = threads.iter().map(|(_, thread)| traced(thread)).max().unwrap_or(0);
        let whole = window.or_zero();
        let left = whole.saturating_sub(added).max(whole / Self::MOST);
        let factor = if left == 0 { 1.0 } else { whole as f64 / left as f64 };
        Pace { stop: Nanos::new(stop), starved: is_starved(threads), saturated, factor }
    }

    /// What the tracer added to so many calls, at least; nothing where there was none.
    pub fn added(&self, calls: u64) -> Nanos {
        Nanos::new(calls.saturating_mul(self.stop.or_zero()).saturating_mul(1 + Self::BETWEEN))
    }

    /// What the tracer added to so many times between two calls; nothing where there was none.
    pub fn added_between(&self, times: u64) -> Nanos {
        Nanos::new(times.saturating_mul(self.stop.or_zero()).saturating_mul(Self::BETWEEN))
    }

    /// What `wall` ns in which so many calls were made would be without the tracer, as far as an estimate goes; 1 or more.
    pub fn untraced_time(&self, wall: u64, calls: u64) -> u64 {
        wall.saturating_sub(self.added(calls).or_zero()).max(wall / Self::MOST).max(1)
    }

    /// A rate as it would be without the tracer, for thresholds; what is printed is what was measured.
    pub fn untraced(&self, rate: Option<f64>) -> Option<f64> {
        rate.map(|rate| rate * self.factor)
    }
}

/// True where the cheap calls' times tell that CPUs were short.
fn is_starved(threads: &Threads) -> bool {
    let mut all = CallStats::NONE;
    for (_, thread) in threads.iter() {
        for (syscall, stats) in thread.by_syscall.iter() {
            if Pace::CHEAP.contains(&syscall.info().name) {
                all.histogram.merge(&stats.histogram);
            }
        }
    }
    all.histogram.count() >= Pace::MIN_CALLS && all.histogram.percentile(0.99) >= Pace::STARVED
}

/// What the cheapest calls take, ns. Calls that may wait by their purpose are left out.
fn cheapest(threads: &Threads) -> Option<u64> {
    let mut all = CallStats::NONE;
    for (_, thread) in threads.iter() {
        for (syscall, stats) in thread.by_syscall.iter() {
            if matches!(syscall.info().waits, Waits::Never | Waits::ByDescriptor) {
                all.histogram.merge(&stats.histogram);
            }
        }
    }
    if all.histogram.count() < Pace::MIN_CALLS {
        return None;
    }
    all.histogram.percentile(Pace::CHEAPEST).get().filter(|&ns| ns <= Pace::LONGEST_STOP.or_zero())
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Event, Nanos, Sink, Timestamp};

    /// 1,000 calls of one thread, each `dur` long and `every` ns after the other.
    fn rate_of(dur: Nanos, every: u64) -> f64 {
        let mut facts = Facts::default();
        for i in 0..1_000u64 {
            let mut call = Call::new("getpid", "");
            call.tid = 7;
            call.ts = Timestamp::new(1 + i * every);
            call.dur = dur;
            facts.push(Event::Call(&call));
        }
        facts.finish();
        facts.pace.untraced(facts.window.per_second(1_000)).unwrap()
    }

    #[test]
    fn the_tracers_part_is_taken_off() {
        // A call every 300 us, of which the stop within takes 80 us and the one between the calls about 160 us.
        let rate = rate_of(Nanos::new(80_000), 300_000);
        assert!((14_000.0..20_000.0).contains(&rate), "{rate}");
    }

    #[test]
    fn an_idle_program_is_not_the_tracers_fault() {
        let rate = rate_of(Nanos::new(10_000), 100_000_000);
        assert!((10.0..10.1).contains(&rate), "{rate}");
    }

    #[test]
    fn without_a_tracer_or_durations_rates_stay() {
        for dur in [Nanos::new(600), Nanos::UNKNOWN, Nanos::from_millis(5)] {
            let rate = rate_of(dur, 10_000_000);
            assert!((99.0..101.0).contains(&rate), "{rate}");
        }
    }

    #[test]
    fn short_cpus_are_seen_in_cheap_calls() {
        let starved = |slow_us: u64, every: u64| {
            let mut facts = Facts::default();
            for i in 0..1_000 {
                let mut call = Call::new("fstat", "3, {st_mode=S_IFREG|0644, st_size=5, ...}");
                call.tid = 7;
                call.ts = Timestamp::new(1 + i * 10_000_000);
                call.dur = Nanos::new(if i % every == 0 { slow_us * 1_000 } else { 15_000 });
                facts.push(Event::Call(&call));
            }
            facts.finish();
            facts.pace.starved
        };
        assert!(starved(4_000, 20) && !starved(4_000, 200) && !starved(200, 20));
    }

    #[test]
    fn no_estimate_is_without_bounds() {
        let rate = rate_of(Nanos::new(900_000), 900_000);
        assert!((50_000.0..56_000.0).contains(&rate), "{rate}");
    }
}
