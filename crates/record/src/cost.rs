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
}

impl CostMeter {
    pub(crate) fn new(
        per_call: PerCall,
        options: &Options,
        before: [RingLoss; 2],
        rare_before: [RingLoss; kind::COUNT],
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
        if window >= Duration::from_millis(50) {
            let now = self.rings[0].produced + counted;
            self.rate = now.saturating_sub(calls) as f64 / window.as_secs_f64();
            self.last = (now, elapsed);
        }
    }

    /// Calls seen so far, recorded or counted.
    pub(crate) fn calls(&self) -> u64 {
        self.rings[0].produced + self.counted_calls
    }

    fn added_ns(&self) -> f64 {
        self.rings[0].produced as f64 * self.per_call.full
            + self.counted_calls as f64 * self.per_call.counts
            + self.rings[1].produced as f64 * PER_SWITCH_NS
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
    pub(crate) fn affordable(&self, now: CallsMode, most: f64, planned: Duration) -> CallsMode {
        let elapsed = self.elapsed.as_secs_f64().max(1e-3);
        let planned = planned.as_secs_f64().max(elapsed);
        // A target that hardly runs may lose that share of a hundredth of a CPU without anybody noticing.
        let cpus = (self.on_cpu_ns.unwrap_or(0) as f64 / 1e9 / elapsed).max(0.01);
        let left = most * cpus * planned * 1e9 - self.added_ns();
        // What the time until the next look will cost.
        let next = |per_call: f64| self.rate * per_call * 0.1;
        let was_full = self.rings[0].produced > 0 && now != CallsMode::Count;
        match now {
            // What was given up stays given up, so that the recording has one gap and not a thousand.
            CallsMode::None => CallsMode::None,
            CallsMode::Full if left > next(self.per_call.full) => CallsMode::Full,
            CallsMode::Count
                if !was_full && self.spent_nothing_in_full() && left > next(self.per_call.full) =>
            {
                CallsMode::Full
            }
            _ if left > next(self.per_call.counts) => CallsMode::Count,
            _ => CallsMode::None,
        }
    }

    /// True before a recording went to full for the first time: slow and state-changing calls are recorded in full
    /// even then, so that a few do not count.
    fn spent_nothing_in_full(&self) -> bool {
        self.rings[0].produced <= self.counted_calls
    }

    pub(crate) fn cost(&self, recorder: Duration) -> Option<Cost> {
        Some(Cost {
            target_share: self.share()?,
            recorder_cpu: Nanos::new(recorder.as_nanos() as u64),
            per_call: Nanos::new(self.per_call.full as u64),
        })
    }
}
