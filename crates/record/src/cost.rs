//! What recording costs: measured on a thread of ours at the start, then multiplied by what was recorded.

use crate::bpf::drain::Sources;
use crate::bpf::kernel_side::{CallsMode, KernelSide};
use crate::bpf::layout::kind;
use crate::bpf::ring::RingLoss;
use crate::counts::CountTables;
use crate::error::RecordError;
use crate::options::Options;
use std::time::{Duration, Instant};
use whyslow_model::{Cost, Nanos};

/// What is added to one call, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PerCall {
    /// Recorded in full, without memory of the program.
    pub full: f64,
    /// Counted.
    pub counts: f64,
    /// Of a thread that is not watched.
    pub others: f64,
}

/// Calls of one round; rounds, of which the fastest counts.
const ROUND: u32 = 4000;
const ROUNDS: usize = 4;
/// Added to one switch of a watched thread by the scheduler's programs, ns: an estimate, not calibrated, so that starting
/// needs no second thread to switch with.
const PER_SWITCH_NS: f64 = 150.0;

/// Added by one request to a block device, ns, as its program states it: whose it is, is not looked at, so that it counts
/// where everybody is recorded.
const PER_REQUEST_NS: f64 = 3_000.0;

/// Added to the target by one record of these kinds, ns: as the programs state it ([`crate::programs::Program::cost`]).
const PER_RARE_NS: [(u8, f64); 11] = [
    (kind::SAMPLE, 3_000.0),
    (kind::OFFCPU, 8_000.0),
    (kind::WAIT_STACK, 2_000.0),
    (kind::NET, 500.0),
    (kind::SIGNAL, 300.0),
    (kind::FORK, 1_000.0),
    (kind::EXEC, 1_000.0),
    (kind::EXIT, 1_000.0),
    (kind::TOTALS, 300.0),
    // Of these it is calls that are counted.
    (kind::FILE, 190.0),
    (kind::PATH, 1_500.0),
];

/// Added by a record that is refused, ns. What comes too often is refused before its stack, which is what costs, is taken
/// (`waits.bpf.h`); that its ring has no room is rare.
const PER_REFUSED_NS: f64 = 100.0;

/// Between two looks at the cost, at most.
const NEXT_LOOK: Duration = Duration::from_millis(100);
/// From how long on calls tell a rate.
const SHORTEST_WINDOW: Duration = Duration::from_millis(20);
/// How long a fuller mode is given up for the first time, and at most.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(64);

/// Measures with this thread; attaches the programs of threads and calls, which stay.
pub(crate) fn calibrate(
    kernel: &mut KernelSide,
    sources: &Sources,
    counts: &CountTables,
) -> Result<PerCall, RecordError> {
    let bare = fastest_round();
    // In this order their looks at a thread's end run: the call that it ends in is told before the end.
    kernel.attach("calls")?;
    kernel.attach("tasks")?;
    let others = fastest_round();
    let tid = rustix::thread::gettid().as_raw_nonzero().get() as u64;
    kernel.watch(&[1 << 32 | tid])?;
    kernel.set_calls(CallsMode::Full)?;
    let full = fastest_round();
    kernel.set_calls(CallsMode::Count)?;
    let counted = fastest_round();
    kernel.set_calls(CallsMode::None)?;
    kernel.unwatch_all()?;
    // Nothing of this is part of the recording.
    for cpu in 0..sources.calls.cpus() {
        sources.calls.take(cpu, |_| {});
    }
    sources.rare.take(|_| {});
    counts.clear();
    let added = |with: f64| (with - bare).max(0.0);
    Ok(PerCall { full: added(full), counts: added(counted), others: added(others) })
}

/// ns of one call, of the fastest round: the others were disturbed.
fn fastest_round() -> f64 {
    let round = |_| {
        let start = Instant::now();
        for _ in 0..ROUND {
            // SAFETY: takes nothing and changes nothing.
            unsafe { libc::syscall(libc::SYS_getppid) };
        }
        start.elapsed().as_nanos() as f64 / f64::from(ROUND)
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

/// Keeps account of the cost while recording.
pub(crate) struct CostMeter {
    pub(crate) per_call: PerCall,
    pub(crate) rare_before: [RingLoss; kind::COUNT],
    pids: Vec<u32>,
    all: bool,
    before: [RingLoss; 2],
    rings: [RingLoss; 2],
    cpu_before: Option<u64>,
    counted_calls: u64,
    elapsed: Duration,
    on_cpu_ns: Option<u64>,
    /// Calls of both kinds at the last reckoning of the rate, and when that was.
    last: (u64, Duration),
    /// Calls a second.
    rate: f64,
    /// What records of other kinds than calls and switches added, ns.
    rare_ns: f64,
    /// Calls that were added up by file.
    file_calls: u64,
    mode: CallsMode,
    /// When a fuller mode was given up last, and for how long at least.
    gave_up: Option<(Duration, Duration)>,
}

impl CostMeter {
    pub(crate) fn new(
        per_call: PerCall,
        options: &Options,
        before: [RingLoss; 2],
        rare_before: [RingLoss; kind::COUNT],
        mode: CallsMode,
    ) -> CostMeter {
        let mut meter = CostMeter {
            per_call,
            rare_before,
            pids: options.pids.clone(),
            all: options.all,
            before,
            rings: [RingLoss::NONE; 2],
            cpu_before: None,
            counted_calls: 0,
            elapsed: Duration::ZERO,
            on_cpu_ns: None,
            last: (0, Duration::ZERO),
            rate: 0.0,
            rare_ns: 0.0,
            file_calls: 0,
            mode,
            gave_up: None,
        };
        meter.cpu_before = meter.target_cpu_ns();
        meter
    }

    pub(crate) fn add(&mut self, pids: &[u32]) {
        let before = self.target_cpu_ns();
        self.pids.extend(pids);
        // What the new ones used before counts for nothing.
        if let (Some(sum), Some(new)) = (self.cpu_before, self.target_cpu_ns()) {
            self.cpu_before = Some(sum + new.saturating_sub(before.unwrap_or(0)));
        }
    }

    /// What the rings of calls and of the scheduler produced and lost since the recording began.
    pub(crate) fn rings(&self) -> [RingLoss; 2] {
        self.rings
    }

    pub(crate) fn lost(&self) -> u64 {
        self.rings.iter().map(|ring| ring.lost).sum()
    }

    /// CPU time of the target so far, ns, in steps of a tick (10 ms): /proc/PID/stat, fields 14 to 17 (with the children
    /// that ended).
    fn target_cpu_ns(&self) -> Option<u64> {
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        let numbers = |text: &str, skip: usize, take: usize| -> u64 {
            text.split_ascii_whitespace()
                .skip(skip)
                .take(take)
                .filter_map(|field| field.parse::<u64>().ok())
                .sum()
        };
        if self.all {
            let text = std::fs::read_to_string("/proc/stat").ok()?;
            // user, nice, system; the interrupts' time is nobody's.
            return Some(numbers(text.lines().next()?, 1, 3) * tick_ns);
        }
        let mut sum = None;
        for pid in &self.pids {
            let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
                continue;
            };
            // The name may hold blanks and brackets.
            if let Some((_, behind)) = text.rsplit_once(')') {
                sum = Some(sum.unwrap_or(0) + numbers(behind, 11, 4) * tick_ns);
            }
        }
        sum
    }

    /// What the ring for rare records produced by now.
    pub(crate) fn rare(&mut self, now: &[RingLoss; kind::COUNT]) {
        let since = |kind: u8| now[usize::from(kind)].since(&self.rare_before[usize::from(kind)]);
        let cost = |kind: u8, each: f64| {
            let RingLoss { produced, lost, .. } = since(kind);
            produced.saturating_sub(lost) as f64 * each + lost as f64 * each.min(PER_REFUSED_NS)
        };
        let requests = if self.all { cost(kind::BLOCK, PER_REQUEST_NS) } else { 0.0 };
        self.rare_ns = requests + PER_RARE_NS.iter().map(|(kind, each)| cost(*kind, *each)).sum::<f64>();
        self.file_calls = since(kind::FILE).produced;
    }

    pub(crate) fn update(&mut self, rings: [RingLoss; 2], counted: u64, elapsed: Duration) {
        self.rings = [rings[0].since(&self.before[0]), rings[1].since(&self.before[1])];
        self.counted_calls = counted;
        self.elapsed = elapsed;
        if let (Some(before), Some(now)) = (self.cpu_before, self.target_cpu_ns())
            && now >= before
        {
            self.on_cpu_ns = Some(now - before);
        }
        let (calls, at) = self.last;
        let window = elapsed.saturating_sub(at);
        if window >= SHORTEST_WINDOW {
            let now = self.rings[0].produced + counted;
            // Where nothing is looked at, the last rate that was seen is as good as any.
            if self.mode != CallsMode::None {
                self.rate = now.saturating_sub(calls) as f64 / window.as_secs_f64();
            }
            self.last = (now, elapsed);
        }
    }

    /// Calls seen so far, recorded or counted; where only those on files are, these.
    pub(crate) fn calls(&self) -> u64 {
        let calls = self.rings[0].produced + self.counted_calls;
        if calls > 0 { calls } else { self.file_calls }
    }

    fn added_ns(&self) -> f64 {
        self.rings[0].produced as f64 * self.per_call.full
            + self.counted_calls as f64 * self.per_call.counts
            + self.rings[1].produced as f64 * PER_SWITCH_NS
            + self.rare_ns
    }

    /// Share of the target's own CPU time that went into our probes; unknown where its CPU time is.
    pub(crate) fn share(&self) -> Option<f64> {
        let on_cpu = self.on_cpu_ns? as f64;
        if on_cpu == 0.0 {
            // It used less than a tick: what share that is cannot be said, unless we added nothing.
            return (self.added_ns() == 0.0).then_some(0.0);
        }
        Some((self.added_ns() / on_cpu).min(1.0))
    }

    /// The fullest mode that keeps within `most` of the target's CPU time over the `planned` time.
    pub(crate) fn affordable(&mut self, most: f64, planned: Duration) -> CallsMode {
        let elapsed = self.elapsed.as_secs_f64().max(1e-3);
        let planned = planned.as_secs_f64().max(elapsed);
        // A target that hardly runs may lose that share of a hundredth of a CPU without anybody noticing.
        let cpus = (self.on_cpu_ns.unwrap_or(0) as f64 / 1e9 / elapsed).max(0.01);
        let left = most * cpus * planned * 1e9 - self.added_ns();
        let affords = |per_call: f64, time: Duration| left > self.rate * per_call * time.as_secs_f64();
        // What was given up is taken up again only where it can last, and after a pause that doubles each time: so that a
        // recording has a few gaps and not a thousand.
        let (rested, spell) = match self.gave_up {
            Some((at, pause)) => (self.elapsed >= at + pause, pause),
            None => (true, NEXT_LOOK),
        };
        let wanted = match self.mode {
            CallsMode::Full if affords(self.per_call.full, NEXT_LOOK) => CallsMode::Full,
            CallsMode::Count if rested && affords(self.per_call.full, spell) => CallsMode::Full,
            CallsMode::None if !rested || !affords(self.per_call.counts, spell) => CallsMode::None,
            _ if affords(self.per_call.counts, NEXT_LOOK) => CallsMode::Count,
            _ => CallsMode::None,
        };
        if wanted < self.mode {
            let pause = self.gave_up.map_or(FIRST_PAUSE, |(_, pause)| (pause * 2).min(LONGEST_PAUSE));
            self.gave_up = Some((self.elapsed, pause));
        }
        wanted
    }

    /// From here on this is recorded.
    pub(crate) fn switched(&mut self, mode: CallsMode) {
        self.mode = mode;
    }

    pub(crate) fn cost(&self, recorder: Duration) -> Option<Cost> {
        Some(Cost {
            target_share: self.share()?,
            recorder_cpu: Nanos::new(recorder.as_nanos() as u64),
            per_call: Nanos::new(self.per_call.full as u64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A meter of a target that uses one CPU, with 100 ns a recorded call and 50 a counted one.
    fn meter(mode: CallsMode) -> CostMeter {
        let per_call = PerCall { full: 100.0, counts: 50.0, others: 0.0 };
        let none = [RingLoss::NONE; 2];
        let rare = [RingLoss::NONE; kind::COUNT];
        CostMeter::new(per_call, &Options::default(), none, rare, mode)
    }

    /// A tenth of a second goes by, with so many calls a second.
    fn go_on(meter: &mut CostMeter, calls_a_second: u64) -> CallsMode {
        let calls = calls_a_second / 10;
        let mut rings = meter.rings;
        let counted = meter.counted_calls + if meter.mode == CallsMode::Count { calls } else { 0 };
        rings[0].produced += if meter.mode == CallsMode::Full { calls } else { 0 };
        let elapsed = meter.elapsed + Duration::from_millis(100);
        meter.update(rings, counted, elapsed);
        meter.on_cpu_ns = Some(elapsed.as_nanos() as u64);
        let mode = meter.affordable(0.05, Duration::from_secs(10));
        meter.switched(mode);
        mode
    }

    #[test]
    fn requests_count_where_everybody_is_recorded() {
        let mut now = [RingLoss::NONE; kind::COUNT];
        now[usize::from(kind::BLOCK)].produced = 1_000;
        for (all, share) in [(true, 0.003), (false, 0.0)] {
            let mut meter = CostMeter { all, on_cpu_ns: Some(1_000_000_000), ..meter(CallsMode::None) };
            meter.rare(&now);
            assert_eq!(meter.share(), Some(share));
        }
    }

    #[test]
    fn a_stack_that_was_refused_is_not_charged_as_taken() {
        let mut now = [RingLoss::NONE; kind::COUNT];
        now[usize::from(kind::OFFCPU)] = RingLoss { produced: 51_284, lost: 39_492, ..RingLoss::NONE };
        let mut meter = CostMeter { on_cpu_ns: Some(1_000_000_000), ..meter(CallsMode::None) };
        meter.rare(&now);
        let share = meter.share().unwrap();
        // 11,792 stacks of 8 us, and 39,492 refusals of 100 ns.
        assert!((share - 0.0983).abs() < 0.0001, "{share}");
    }

    #[test]
    fn what_is_cheap_is_recorded_in_full_throughout() {
        let mut meter = meter(CallsMode::Count);
        for calls_a_second in [0, 1, 100_000, 0, 400_000] {
            assert_eq!(go_on(&mut meter, calls_a_second), CallsMode::Full);
        }
    }

    #[test]
    fn what_was_given_up_for_its_cost_is_taken_up_again_when_it_is_cheap() {
        let mut meter = meter(CallsMode::Count);
        let mut modes = vec![CallsMode::Count];
        // 5 % of 10 s are 5 million calls: 4 million a second are too many for long.
        for round in 0..600 {
            let mode = go_on(&mut meter, if round < 100 { 4_000_000 } else { 1_000 });
            if modes.last() != Some(&mode) {
                modes.push(mode);
            }
        }
        assert_eq!(modes[..4], [CallsMode::Count, CallsMode::Full, CallsMode::Count, CallsMode::None]);
        assert_eq!(modes.last(), Some(&CallsMode::Full), "{modes:?}");
        assert!(modes.len() <= 12, "a few gaps, not many: {modes:?}");
        let share = meter.share().unwrap();
        assert!(share <= 0.055, "{share}");
    }
}
