//! Guards that all rules share, so that a healthy program gets no warning.
//!
//! 1. No cause under 5 % of the asker's time is a warning.
//! 2. A wait is a cause only where work is unfinished; an idle thread is not slow.
//! 3. A rate per unit of work beats a rate per second.
//! 4. Start-up is judged apart: what only happens in a program's first moments is no storm.
//! 5. Where more than 1 % of the events are lost, confidence is capped.
//! 6. Under ptrace the cost of a call of 2 us or less is the tracer's, not the program's.

use crate::gate::gated;
use whyslow_facts::folds::laps::Laps;
use whyslow_facts::{CHEAP_CALL, Facts, ProcessId, ThreadFacts, Window};
use whyslow_model::{CallStats, Measurement, Nanos, SaturatingSum, Severity, ShareOf, ShareWhole, Tid};

/// From this share of the time on, a cause is a warning (guard 1).
pub const WARNING_SHARE: f64 = 0.05;
/// From this share on, it is most of the answer: critical.
pub const CRITICAL_SHARE: f64 = 0.40;
/// Evidence as sure as this or more leaves the confidence to how often the rule was right: runs of the truth that were left out had a smaller
/// error by that alone.
pub const SURE_ENOUGH: f64 = 0.6;
/// Confidence where calls are missing ([`Facts::missing_calls`], guard 5).
pub const LOST_CONFIDENCE: f64 = 0.5;
/// A program's first moments (guard 4), from its execve on.
pub const STARTUP: Nanos = Nanos::from_secs(2);
/// Below this many calls nothing is a storm, whatever its share: an `ls` makes a hundred calls in all.
pub const FEW_CALLS: u64 = 500;

/// A part of a whole, and of which whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// 0 to 1; `None` where it cannot be known.
    pub value: Option<f64>,
    /// Of what.
    pub of: ShareOf,
    /// Of what kind the whole is: only parts of the same kind can be compared.
    pub whole: ShareWhole,
}

impl Share {
    /// A part of a time that passes while somebody waits.
    pub fn of_time(value: impl Into<Option<f64>>, of: impl Into<ShareOf>) -> Self {
        Self { value: value.into(), of: of.into(), whole: ShareWhole::Time }
    }

    /// A part of the time on a CPU alone.
    pub fn of_cpu_time(value: impl Into<Option<f64>>, of: impl Into<ShareOf>) -> Self {
        Self { value: value.into(), of: of.into(), whole: ShareWhole::CpuTime }
    }

    /// A part of all calls.
    pub fn of_calls(value: impl Into<Option<f64>>) -> Self {
        Self { value: value.into(), of: ShareOf::Calls, whole: ShareWhole::Calls }
    }

    /// A part that cannot be known.
    pub fn unknown() -> Self {
        Self { value: None, of: ShareOf::default(), whole: ShareWhole::Time }
    }

    /// The part as a figure, for rules that compare it with a threshold.
    pub fn figure(&self) -> Measurement {
        let name = match self.whole {
            ShareWhole::Time => "share_of_time",
            ShareWhole::CpuTime => "share_of_cpu_time",
            ShareWhole::Calls => "share_of_calls",
        };
        Measurement::share(name, self.value.unwrap_or(f64::NAN))
    }

    /// The severity that the share alone justifies (guard 1). An unknown share is a notice. A share of the calls
    /// is no share of the time: only a storm of them is a warning.
    #[gated]
    pub fn severity(&self) -> Severity {
        let warning = if self.whole == ShareWhole::Calls { STORM_CALL_SHARE } else { WARNING_SHARE };
        match self.value {
            Some(share) if share >= CRITICAL_SHARE => Severity::Critical,
            Some(share) if share >= warning => Severity::Warning,
            _ => Severity::Notice,
        }
    }
}

/// The figure with its threshold, where it passed it: of thresholds for more severity, and of several of which one is enough.
#[gated]
pub fn passed(figure: Measurement, threshold: f64) -> Measurement {
    match figure.value {
        Some(value) if value >= threshold => figure.at_least(threshold),
        _ => figure,
    }
}

/// The part that `stats` has in the wall time of thread `tid`, or, where that thread's time is unknown, of
/// the window; without durations or a clock, its part of all calls.
pub fn share_of_time(facts: &Facts, tid: Option<u32>, stats: &CallStats) -> Share {
    share_of_ns(facts, tid, stats.total(), stats.count)
}

/// As [`share_of_time`], for a sum of durations over `count` calls.
#[gated]
pub fn share_of_ns(facts: &Facts, tid: Option<u32>, total: Nanos, count: u64) -> Share {
    let thread = tid.and_then(|tid| {
        facts.world.threads.iter().map(|(_, thread)| thread).find(|thread| thread.tid == tid)
    });
    let (wall, of) = match thread.map(|thread| (thread.wall(), thread.tid)) {
        Some((wall, tid)) if tid != 0 && wall.or_zero() > 0 => {
            (Nanos::new(seen(facts, wall.or_zero())), ShareOf::wall_time_of(tid))
        }
        _ => (recorded(facts), ShareOf::WallTime),
    };
    if let (Some(total), Some(wall)) = (total.get(), wall.get())
        && wall > 0
    {
        let wall = recorded_of(facts, wall, total.checked_div(count));
        return Share::of_time((total as f64 / wall as f64).min(1.0), of);
    }
    share_of_calls(facts, count)
}

/// The time in which the single calls of a capture were recorded. Where calls were only counted, no time was recorded call by call: what is
/// kept then are the slow ones, all the while.
#[gated]
fn recorded(facts: &Facts) -> Nanos {
    let known = [facts.window.length(), facts.window.whole()].into_iter().find(|ns| ns.or_zero() > 0);
    known.unwrap_or(Nanos::UNKNOWN)
}

/// Of `wall` ns, the time in which calls were recorded or counted: where they were given up for a part of it, what is known of them is known of
/// the rest.
fn seen(facts: &Facts, wall: u64) -> u64 {
    facts.recording.told().get().map_or(wall, |told| wall.min(told))
}

/// [`FEW_CALLS`] for calls that are recorded one by one: where they were given up for a part of the time, as many fewer, and
/// never fewer than a tenth, which is no chance.
pub fn few_calls(facts: &Facts) -> u64 {
    ((FEW_CALLS as f64 * one_by_one(facts)) as u64).max(FEW_CALLS / 10)
}

/// The part of the time in which each call was recorded by itself: all of it where nothing was given up, and where calls were only
/// counted.
fn one_by_one(facts: &Facts) -> f64 {
    let (from, to) = (facts.window.start, facts.window.end);
    let whole = to.since(from).or_zero();
    if whole == 0 || !facts.recording.is_partial() || facts.recording.only_counts() {
        return 1.0;
    }
    (facts.recording.covered(from, to).or_zero() as f64 / whole as f64).min(1.0)
}

/// Of `wall` ns, the time in which calls of that mean length were recorded one by one: the recorder keeps each that takes a millisecond
/// (docs/RECORDING.md, `syscalls`) when it counts the others.
#[gated]
pub fn recorded_of(facts: &Facts, wall: u64, mean: Option<u64>) -> u64 {
    const SHORT_NS: u64 = 1_000_000;
    match mean.is_some_and(|mean| mean < SHORT_NS) {
        true => ((wall as f64 * one_by_one(facts)) as u64).max(1),
        false => wall,
    }
}

/// The part that `count` has of all calls.
#[gated]
pub fn share_of_calls(facts: &Facts, count: u64) -> Share {
    let all = facts.total_calls();
    Share::of_calls((all > 0).then(|| count as f64 / all as f64))
}

/// Calls of a table of counts that are a storm: how many (`least` and more), of how many, and which part.
pub fn of_all_calls(facts: &Facts, count: u64, least: u64) -> [Measurement; 3] {
    [
        Measurement::count("calls", count).at_least(least as f64),
        Measurement::count("all_calls", facts.total_calls()),
        share_of_calls(facts, count).figure().at_least(STORM_CALL_SHARE),
    ]
}

/// The part that calls of a process take of the time in which its threads do not wait in calls; `None` where that is unknown.
pub fn part_of_work(facts: &Facts, process: ProcessId, total: Nanos) -> Option<f64> {
    let threads = facts.world.threads.iter().map(|(_, thread)| thread);
    let own = threads.filter(|thread| thread.process == process);
    let work = own.filter_map(|thread| Some(thread.wall().get()?.saturating_sub(thread.waiting_total())));
    let work = work.saturating_sum();
    (work > 0).then_some(())?;
    Some((total.get()? as f64 / work as f64).min(1.0))
}

/// True for a recording of programs, whose own events say what happened to them: what only the host counts may be anybody's.
#[gated]
pub fn records_programs(facts: &Facts) -> bool {
    facts.capture.is_recording() && facts.world.threads.processes().next().is_some()
}

/// The part that `waited` ns have in the time of the threads that wait (of `process`, where that is known).
#[gated]
pub fn share_of_waiters(
    facts: &Facts,
    process: Option<ProcessId>,
    waiters: impl ExactSizeIterator<Item = Tid>,
    waited: u64,
) -> Share {
    let window = recorded(facts).get().filter(|ns| *ns > 0);
    let wall = |tid: Tid| {
        let threads =
            || facts.world.threads.iter().map(|(_, thread)| thread).filter(|thread| thread.tid == tid);
        let own = threads().find(|thread| Some(thread.process) == process);
        // A lock that processes share has waiters in others of them.
        let thread = own.or_else(|| threads().next());
        let called = thread.and_then(|thread| thread.wall().get());
        let scheduled = || thread.and_then(|thread| thread.sched.as_deref()?.wall().get());
        seen(facts, called.filter(|ns| *ns > 0).or_else(scheduled).or(window).unwrap_or(0))
    };
    let of = match waiters.len() {
        1 => "the time of the thread that waits".to_string(),
        several => format!("the time of the {several} threads that wait"),
    };
    let walls = waiters.map(wall).saturating_sum();
    Share::of_time((walls > 0).then(|| (waited as f64 / walls as f64).min(1.0)), of)
}

/// For storms of cheap calls: the part of the wall time, but of the calls where a storm makes up more of them:
/// under a tracer, times of cheap calls are mostly the tracer's (guard 6), and what it adds between the calls
/// hides in neither. Where the kernel took the times itself (a recording with its scheduler), they are what they say.
#[gated]
pub fn share_of_storm(facts: &Facts, tid: Option<u32>, total: Nanos, count: u64) -> Share {
    let by_time = share_of_ns(facts, tid, total, count);
    if facts.sched.stretches > 0 && by_time.value.is_some() {
        return by_time;
    }
    // Without durations a clock tells that calls which are few a second take next to nothing, whatever their part of all.
    if by_time.whole == ShareWhole::Calls
        && !is_busy(facts, &facts.window)
        && let Some(wall) = recorded(facts).get().filter(|ns| *ns > 0)
    {
        let own = count.saturating_mul(CHEAP_CALL.or_zero());
        return Share::of_time((own as f64 / wall as f64).min(1.0), WITHOUT_TRACER.to_string());
    }
    // Few calls: their part of all calls says nothing.
    if count < few_calls(facts) || by_time.value.is_some_and(|share| share >= WARNING_SHARE) {
        return by_time;
    }
    // Threads that wait nearly all of their time make no storm, however little else they call.
    let waits = |thread: &ThreadFacts| {
        thread.wall().get().is_some_and(|wall| thread.waiting_total() as f64 >= MOSTLY_WAITING * wall as f64)
    };
    let all_wait = match tid.and_then(|tid| facts.world.threads.thread_of(tid)) {
        Some(thread) => waits(thread),
        None => facts.world.threads.iter().all(|(_, thread)| waits(thread)),
    };
    if all_wait {
        return by_time;
    }
    let by_calls = share_of_calls(facts, count);
    // The calls themselves must take a good part of the time that the program is not waiting: a thread that
    // makes one call in a blue moon is no storm, though it may be all it calls.
    let (stop, cheapest) = (facts.pace.stop.or_zero(), count.saturating_mul(CHEAP_CALL.or_zero()));
    let own = total.or_zero().saturating_sub(count.saturating_mul(stop)).max(cheapest);
    let is_felt = untraced_share(facts, tid, own).is_none_or(|share| share >= FELT_UNTRACED);
    if is_felt
        && is_busy(facts, &facts.window)
        && by_calls.value.is_some_and(|share| share >= STORM_CALL_SHARE)
    {
        by_calls
    } else {
        by_time
    }
}

/// As [`share_of_ns`], for calls that neither wait nor do much ([`CHEAP_CALL`]): without what a tracer adds, where that is less.
#[gated]
pub fn share_of_cheap(facts: &Facts, tid: Option<u32>, total: Nanos, count: u64) -> Share {
    let by_time = share_of_ns(facts, tid, total, count);
    let own = count.saturating_mul(CHEAP_CALL.or_zero());
    let untraced = untraced_share(facts, tid, own);
    match untraced.filter(|share| facts.sched.stretches == 0 && by_time.value.is_some_and(|all| *share < all))
    {
        Some(share) => Share::of_time(share, WITHOUT_TRACER.to_string()),
        None => by_time,
    }
}

/// Of what such a share is.
const WITHOUT_TRACER: &str = "the time, without the tracer";
/// From this part of the time on that calls would take without the tracer, they are felt: what the tracer leaves of a capture tells it to some
/// times as much.
const FELT_UNTRACED: f64 = 0.01;

/// The part of the time that `own` ns of work would be without the tracer; `None` where nothing tells what it adds.
#[gated]
fn untraced_share(facts: &Facts, tid: Option<u32>, own: u64) -> Option<f64> {
    facts.pace.stop.get()?;
    let (wall, calls) = match tid.and_then(|tid| facts.world.threads.thread_of(tid)) {
        Some(thread) => (thread.wall().get()?, thread.calls),
        None => (recorded(facts).get()?, facts.total_calls()),
    };
    Some((own as f64 / facts.pace.untraced_time(wall, calls) as f64).min(1.0))
}

/// Of a thread's time, the part in calls that wait from which on what is left matters to nobody: under strace a storm of
/// cheap calls leaves less for waiting.
const MOSTLY_WAITING: f64 = 0.95;

/// True for a program that makes so many calls in `window` that they are a good part of what it does.
#[gated]
pub fn is_busy(facts: &Facts, window: &Window) -> bool {
    let rate = facts.pace.untraced(window.per_second(facts.total_calls()));
    rate.is_none_or(|rate| rate >= BUSY_CALLS_PER_S)
}

/// A program under strace that makes this many calls a second spends a good part of its time in them.
pub const BUSY_CALLS_PER_S: f64 = 1_000.0;
/// From this part of all calls on, one kind of call is a storm.
pub const STORM_CALL_SHARE: f64 = 0.30;

/// Fewer turns of a loop than this are no loop.
pub const FEW_TURNS: u64 = 10;
/// A loop that gets nothing done is a spin from this many turns a second on: without the tracer it is several
/// thousand, and no event source that people build ticks so fast.
pub const SPIN_TURNS_PER_S: f64 = 1_000.0;

/// The part that a loop's turns have in the time of its thread; without a clock, their calls' part of all calls.
pub fn share_of_laps(facts: &Facts, tid: u32, laps: &Laps) -> Share {
    share_of_ns(facts, Some(tid), laps.time(), laps.calls)
}

/// True where the turns are a spin: fast, and either many or a good part of the time (`share`).
#[gated]
pub fn is_spin(facts: &Facts, laps: &Laps, share: &Share) -> bool {
    let part = share.value.unwrap_or(0.0);
    match facts.pace.untraced(laps.per_second()) {
        Some(rate) => {
            let much = laps.turns >= FEW_CALLS || (laps.turns >= FEW_TURNS && part >= WARNING_SHARE);
            rate >= SPIN_TURNS_PER_S && much
        }
        None => laps.turns >= FEW_TURNS && part >= STORM_CALL_SHARE,
    }
}

/// The figures that [`is_spin`] goes by, with their thresholds, and the time of the turns.
#[gated]
pub fn spin_figures(facts: &Facts, laps: &Laps, share: &Share) -> Vec<Measurement> {
    let rate = laps.per_second();
    let least_part = match rate {
        Some(_) => (laps.turns < FEW_CALLS).then_some(WARNING_SHARE),
        None => Some(STORM_CALL_SHARE),
    };
    let mut figures = vec![Measurement::count("turns", laps.turns).at_least(FEW_TURNS as f64)];
    figures.extend(rate_figures(
        facts,
        ["turns_per_second", "turns_per_second_untraced"],
        rate,
        SPIN_TURNS_PER_S,
    ));
    figures.push(Measurement::time("time", laps.time()));
    figures.extend(least_part.map(|least| share.figure().at_least(least)));
    figures
}

/// A rate with its threshold. Where only the rate without the tracer passes it, that is a figure of its own, by the second name.
/// Without a clock there is no figure.
#[gated]
pub fn rate_figures(
    facts: &Facts,
    [name, untraced]: [&'static str; 2],
    rate: Option<f64>,
    threshold: f64,
) -> Vec<Measurement> {
    let Some(measured) = rate else { return Vec::new() };
    let (figure, without_tracer) =
        rate_from([name, untraced], measured, facts.pace.untraced(rate), threshold);
    std::iter::once(figure).chain(without_tracer).collect()
}

/// The same of a rate that is known, with the rate without the tracer.
#[gated]
pub fn rate_from(
    [name, untraced]: [&'static str; 2],
    measured: f64,
    without_tracer: Option<f64>,
    threshold: f64,
) -> (Measurement, Option<Measurement>) {
    let figure = passed(Measurement::per_second(name, measured), threshold);
    let own = without_tracer.filter(|rate| figure.threshold.is_none() && *rate >= threshold);
    (figure, own.map(|rate| Measurement::per_second(untraced, rate).at_least(threshold)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(figures: &[Measurement]) -> Vec<String> {
        let words = |figure: &Measurement| format!("{} {figure} {:?}", figure.name, figure.threshold_words());
        figures.iter().map(words).collect()
    }

    #[test]
    fn a_rate_has_the_threshold_that_it_passed() {
        let facts = Facts::default();
        let of = |rate| told(&rate_figures(&facts, ["rate", "rate_untraced"], rate, 1_000.0));
        assert_eq!(of(Some(2_000.0)), ["rate 2,000 Some(\"at least 1,000\")"]);
        assert_eq!(of(Some(500.0)), ["rate 500 None"]);
        assert!(of(None).is_empty());
    }

    #[test]
    fn a_spin_without_a_clock_has_no_rate_and_no_time() {
        let laps = Laps { turns: 10, calls: 20, ..Laps::default() };
        let figures = spin_figures(&Facts::default(), &laps, &Share::of_calls(0.9));
        assert_eq!(
            told(&figures),
            [
                "turns 10 Some(\"at least 10\")",
                "time unknown None",
                "share_of_calls 90.0 % Some(\"at least 30.0 %\")"
            ]
        );
        assert_eq!(Share::unknown().figure().value, None);
    }

    #[test]
    fn only_a_threshold_that_was_passed_is_told() {
        let told = |figure| passed(figure, 3.0).threshold_words();
        assert_eq!(told(Measurement::count("overflows", 3)).as_deref(), Some("at least 3"));
        assert_eq!(told(Measurement::count("overflows", 2)), None);
        assert_eq!(told(Measurement::number("overflows", f64::NAN)), None);
    }
}
