//! What recording costs: a call as measured on a thread of ours at the start, the rest as the programs time themselves.

use crate::bpf::drain::Sources;
use crate::bpf::kernel_side::{CallsMode, KernelSide};
use crate::bpf::layout::kind;
use crate::bpf::ring::RingLoss;
use crate::budget::{Flow, Forecast, Part};
use crate::counts::CountTables;
use crate::error::RecordError;
use crate::options::{Mode, Options};
use std::fs::File;
use std::io::Read;
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
/// What the programs' own timing does not see of one record, ns: the hook (70) and reading the clock (50), as docs/LIVE.md
/// has them of a call. Of a sample it is a timer's interrupt.
const PER_RECORD_NS: f64 = 120.0;
const PER_INTERRUPT_NS: f64 = 1_000.0;

/// Added by one record of what times itself, ns, before enough were timed: as measured on the development machine.
const STATED_NS: [(u8, f64); 8] = [
    (kind::STRETCH, 270.0),
    (kind::WAKEUP, 220.0),
    (kind::SAMPLE, 3_000.0),
    (kind::OFFCPU, 10_000.0),
    (kind::CALL_STACK, 5_000.0),
    (kind::BLOCK, 3_000.0),
    (kind::NET, 500.0),
    (kind::FILE, 190.0),
];
/// Records from which on their own timing says more.
const ENOUGH: u64 = 20;
/// Of what comes this often one in 64 is timed (`TIMED_EACH`).
const ENOUGH_OF_FREQUENT: u64 = 2_000;

/// Added by one record of what does not time itself, ns.
const UNTIMED_NS: [(u8, f64); 5] = [
    (kind::SIGNAL, 300.0),
    (kind::FORK, 1_000.0),
    (kind::EXEC, 1_000.0),
    (kind::EXIT, 1_000.0),
    (kind::TOTALS, 300.0),
];

/// Added by a record that is refused, ns: what costs, its stack or its row, is not made. That of a wait is refused within a
/// switch, whose hook is paid for.
const PER_REFUSED_NS: f64 = 100.0;
const PER_REFUSED_WAIT_NS: f64 = 30.0;

/// From how long on records tell a rate.
const SHORTEST_WINDOW: Duration = Duration::from_millis(20);
/// Rates are means over about that long: one that came and went says little of what is to come.
const SMOOTHED_OVER_S: f64 = 0.5;
/// A target that hardly runs may lose that much of one CPU: nobody notices, and it is recorded in full.
const FLOOR_CPUS: f64 = 0.01;
/// The CPU time of a target is read again after that long for each of its processes, and after the other at most: to read it takes some
/// 10 us a process.
const CPU_TIME_EACH: Duration = Duration::from_millis(5);
const CPU_TIME_AT_MOST: Duration = Duration::from_millis(500);
/// `/proc/PID/stat` is shorter: 52 numbers and a name.
const STAT_BYTES: usize = 2048;

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

/// What nothing looks at now: its last rate is as good as any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unseen {
    pub(crate) calls: bool,
    pub(crate) files: bool,
}

/// What went through the rings since the recording began.
#[derive(Clone, Copy, Debug)]
struct Counters {
    calls: RingLoss,
    sched: RingLoss,
    rare: [RingLoss; kind::COUNT],
    /// Calls that were only counted.
    counted: u64,
}

impl Counters {
    const NONE: Counters = Counters {
        calls: RingLoss::NONE,
        sched: RingLoss::NONE,
        rare: [RingLoss::NONE; kind::COUNT],
        counted: 0,
    };

    /// Of one kind: stretches and wake-ups come through the scheduler's ring, and time themselves beside it.
    fn of(&self, kind: u8) -> RingLoss {
        let rare = self.rare[usize::from(kind)];
        match kind {
            kind::STRETCH => rare.plus(&self.sched.own()),
            kind::WAKEUP => rare.plus(&self.sched.others()),
            // The user's part of a stack is a record of its own.
            kind::OFFCPU => RingLoss {
                spent_ns: rare.spent_ns + self.rare[usize::from(kind::WAIT_STACK)].spent_ns,
                ..rare
            },
            _ => rare,
        }
    }

    fn calls(&self) -> u64 {
        self.calls.produced + self.counted
    }
}

/// Keeps account of the cost while recording.
pub(crate) struct CostMeter {
    pub(crate) per_call: PerCall,
    pub(crate) rare_before: [RingLoss; kind::COUNT],
    pids: Vec<u32>,
    all: bool,
    before: [RingLoss; 2],
    cpu_before: Option<u64>,
    elapsed: Duration,
    on_cpu_ns: Option<u64>,
    /// The hook of a call on a file is that of the call.
    files_with_calls: bool,
    /// When that was read; `None`: it is to be read at the next update.
    cpu_read: Option<Duration>,
    /// What is recorded goes by the cost: it is to be known at each tick.
    steers: bool,
    now: Counters,
    /// At the last reckoning of the rates, and when that was.
    last: (Counters, Duration),
    /// A second, by kind.
    rates: [f64; kind::COUNT],
    /// Calls a second.
    calls_rate: f64,
    /// CPU time of the samples of queues, ns.
    queues: u64,
    /// Until when, and what was added by then, where the budget is of what came later.
    settled: (Duration, f64),
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
            cpu_before: None,
            elapsed: Duration::ZERO,
            on_cpu_ns: None,
            cpu_read: None,
            files_with_calls: options.files_with_calls(),
            steers: !options.lasting || options.mode == Mode::Adaptive,
            now: Counters::NONE,
            last: (Counters::NONE, Duration::ZERO),
            rates: [0.0; kind::COUNT],
            calls_rate: 0.0,
            queues: 0,
            settled: (Duration::ZERO, 0.0),
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
        [self.now.calls, self.now.sched]
    }

    pub(crate) fn lost(&self) -> u64 {
        self.rings().iter().map(|ring| ring.lost).sum()
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
        // The kernel writes it anew for each read from its beginning: it is asked for all at once.
        let mut room = [0; STAT_BYTES];
        for pid in &self.pids {
            let read = File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read(&mut room));
            let Ok(text) = read.map(|length| &room[..length]) else { continue };
            // The name may hold blanks and brackets, and bytes that are no text.
            if let Some(name_end) = text.iter().rposition(|byte| *byte == b')') {
                let behind = String::from_utf8_lossy(&text[name_end + 1..]);
                sum = Some(sum.unwrap_or(0) + numbers(&behind, 11, 4) * tick_ns);
            }
        }
        sum
    }

    /// Whether the target's CPU time is to be read again: of few processes at each tick; of many so seldom that reading them stays
    /// cheap, and in step with how long it is known; where nothing goes by it, once and when it is asked for.
    fn is_cpu_due(&self, elapsed: Duration) -> bool {
        let pause =
            CPU_TIME_EACH.saturating_mul(self.pids.len() as u32).min(CPU_TIME_AT_MOST).min(elapsed / 16);
        let is_over = |read| self.steers && elapsed >= read + pause;
        self.on_cpu_ns.is_none() || self.cpu_read.is_none_or(is_over)
    }

    /// Has the CPU time of the target read at the next update, however short ago it was read.
    pub(crate) fn cpu_time_is_due(&mut self) {
        self.cpu_read = None;
    }

    /// What the ring for rare records produced by now.
    pub(crate) fn rare(&mut self, now: &[RingLoss; kind::COUNT]) {
        for (kind, loss) in now.iter().enumerate() {
            self.now.rare[kind] = loss.since(&self.rare_before[kind]);
        }
    }

    /// CPU time that samples of queues took by now, ns. It is ours, and taken from the host all the same.
    pub(crate) fn queues(&mut self, spent_ns: u64) {
        self.queues = spent_ns;
    }

    /// What the rings of calls and of the scheduler did by now, and how many calls were counted.
    pub(crate) fn update(&mut self, rings: [RingLoss; 2], counted: u64, elapsed: Duration, unseen: Unseen) {
        self.now.calls = rings[0].since(&self.before[0]);
        self.now.sched = rings[1].since(&self.before[1]);
        self.now.counted = counted;
        self.elapsed = elapsed;
        if self.is_cpu_due(elapsed) {
            self.cpu_read = Some(elapsed);
            if let (Some(before), Some(now)) = (self.cpu_before, self.target_cpu_ns())
                && now >= before
            {
                self.on_cpu_ns = Some(now - before);
            }
        }
        let (last, at) = &self.last;
        let window = elapsed.saturating_sub(*at);
        if window < SHORTEST_WINDOW {
            return;
        }
        let seconds = window.as_secs_f64();
        // The first is taken as it is.
        let weight = if at.is_zero() { 1.0 } else { 1.0 - (-seconds / SMOOTHED_OVER_S).exp() };
        let smooth = |rate: &mut f64, more: u64| *rate += weight * (more as f64 / seconds - *rate);
        for kind in 0..kind::COUNT as u8 {
            let offered = |of: RingLoss| of.produced + of.refused;
            let more = offered(self.now.of(kind)).saturating_sub(offered(last.of(kind)));
            if kind != kind::FILE || !unseen.files {
                smooth(&mut self.rates[usize::from(kind)], more);
            }
        }
        if !unseen.calls {
            smooth(&mut self.calls_rate, self.now.calls().saturating_sub(last.calls()));
        }
        self.last = (self.now, elapsed);
    }

    /// Calls seen so far, recorded or counted; where only those on files are, these.
    pub(crate) fn calls(&self) -> u64 {
        let calls = self.now.calls();
        if calls > 0 { calls } else { self.now.of(kind::FILE).produced }
    }

    /// Whether requests to disks count: whose they are is not looked at, so that it is where everybody is recorded.
    fn counts(&self, kind: u8) -> bool {
        kind != kind::BLOCK || self.all
    }

    /// What records of a kind that times itself added, ns.
    fn timed_ns(&self, kind: u8) -> f64 {
        let RingLoss { produced, refused, spent_ns, .. } = self.now.of(kind);
        let hooks = match kind {
            kind::SAMPLE => PER_INTERRUPT_NS,
            kind::FILE if self.files_with_calls => 0.0,
            _ => PER_RECORD_NS,
        };
        spent_ns as f64 + produced as f64 * hooks + refused as f64 * Self::per_refused_ns(kind)
    }

    fn per_refused_ns(kind: u8) -> f64 {
        if kind == kind::OFFCPU { PER_REFUSED_WAIT_NS } else { PER_REFUSED_NS }
    }

    /// What one record of a kind that times itself adds, ns.
    fn each_ns(&self, kind: u8) -> f64 {
        let RingLoss { produced, refused, .. } = self.now.of(kind);
        let frequent = matches!(kind, kind::STRETCH | kind::WAKEUP | kind::FILE);
        if produced >= if frequent { ENOUGH_OF_FREQUENT } else { ENOUGH } {
            return (self.timed_ns(kind) - refused as f64 * Self::per_refused_ns(kind)) / produced as f64;
        }
        STATED_NS.iter().find(|(known, _)| *known == kind).map_or(0.0, |(_, each)| *each)
    }

    /// What one recorded call adds, ns: as calibrated with one that has no memory to read, or as these took that were
    /// recorded, if that is more.
    fn full_ns(&self) -> f64 {
        let calls = self.now.calls.produced;
        if calls < ENOUGH_OF_FREQUENT {
            return self.per_call.full;
        }
        let spent_ns = self.now.rare[usize::from(kind::CALL)].spent_ns;
        self.per_call.full.max(spent_ns as f64 / calls as f64 + 2.0 * PER_RECORD_NS)
    }

    /// What each part of the recorder added, by the words of the `-v` line.
    pub(crate) fn parts(&self) -> Vec<(&'static str, Nanos)> {
        let timed = |kind: u8| if self.counts(kind) { self.timed_ns(kind) } else { 0.0 };
        let untimed = UNTIMED_NS.iter().map(|(kind, each)| self.now.of(*kind).produced as f64 * each);
        [
            ("calls in full", self.now.calls.produced as f64 * self.full_ns()),
            ("calls counted", self.now.counted as f64 * self.per_call.counts),
            ("switches", timed(kind::STRETCH)),
            ("wake-ups", timed(kind::WAKEUP)),
            ("stacks of waits", timed(kind::OFFCPU)),
            ("stacks of calls", timed(kind::CALL_STACK)),
            ("samples", timed(kind::SAMPLE)),
            ("files", timed(kind::FILE)),
            ("disks", timed(kind::BLOCK)),
            ("connections", timed(kind::NET)),
            ("threads and signals", untimed.sum()),
            ("queues", self.queues as f64),
        ]
        .map(|(part, ns)| (part, Nanos::new(ns as u64)))
        .to_vec()
    }

    fn added_ns(&self) -> f64 {
        self.parts().iter().filter_map(|(_, ns)| ns.get()).sum::<u64>() as f64
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

    /// What is to come until the `planned` end, if at most the share `most` of the target's CPU time may be spent.
    pub(crate) fn forecast(&self, most: f64, planned: Duration, cpus: u32) -> Forecast {
        let elapsed = self.elapsed.as_secs_f64().max(1e-3);
        let rest = planned.saturating_sub(self.elapsed);
        let used_over = self.cpu_read.map_or(elapsed, |read| read.as_secs_f64().max(1e-3));
        let used = self.on_cpu_ns.unwrap_or(0) as f64 / 1e9 / used_over;
        let (since, settled_ns) = (self.settled.0.as_secs_f64(), self.settled.1);
        let over = planned.as_secs_f64().max(elapsed) - since;
        let budget = (most * used).max(FLOOR_CPUS) * over * 1e9;
        let flow = |kind: u8| {
            let (rate, each_ns) = (self.rates[usize::from(kind)], self.each_ns(kind));
            // Others' requests to disks take none of the target's time, but they may not take more of the host's.
            let counts = self.counts(kind) || rate * each_ns > most * f64::from(cpus) * 1e9;
            Flow { per_second: if counts { rate } else { 0.0 }, each_ns }
        };
        let untimed = UNTIMED_NS.iter().map(|(kind, each)| self.rates[usize::from(*kind)] * each);
        // Stacks of calls follow the number of those of waits, and take far less.
        let paced = [kind::STRETCH, kind::CALL_STACK];
        let paced = paced.iter().map(|kind| self.rates[usize::from(*kind)] * self.each_ns(*kind));
        let always = paced.sum::<f64>() + untimed.sum::<f64>();
        // They pace themselves: their cost a second is what is known.
        let queues = Flow { per_second: self.queues as f64 / elapsed.max(1.0), each_ns: 1.0 };
        Forecast {
            elapsed: self.elapsed,
            rest,
            whole_ns: budget,
            left_ns: budget - (self.added_ns() - settled_ns) - always * rest.as_secs_f64(),
            calls: self.calls_rate,
            full_ns: self.full_ns(),
            count_ns: self.per_call.counts,
            parts: Part::ALL.map(|part| part.kind().map_or_else(|| queues, flow)),
            samples: flow(kind::SAMPLE),
            wait_stacks: flow(kind::OFFCPU),
            cpus,
        }
    }

    /// What was spent by now is past: of a recording that goes on for days, neither what was spared in a quiet night nor what a busy
    /// minute took is charged to the next ones.
    pub(crate) fn settle(&mut self, every: Duration) {
        if self.elapsed >= self.settled.0 + every {
            self.settled = (self.elapsed, self.added_ns());
        }
    }

    pub(crate) fn cost(&self, recorder: Duration) -> Cost {
        Cost {
            target_share: self.share(),
            added: Nanos::new(self.added_ns() as u64),
            recorder_cpu: Nanos::new(recorder.as_nanos() as u64),
            per_call: Nanos::new(self.per_call.full as u64),
        }
    }
}

#[cfg(test)]
#[path = "cost_tests.rs"]
mod tests;
