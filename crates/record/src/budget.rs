//! What is recorded within the budget: the parts of a recording by their worth, which of them are given up for their cost,
//! and when they are taken up again. States and sums of threads are always kept.

use crate::bpf::kernel_side::CallsMode;
use crate::bpf::layout::{Control, kind, part};
use std::time::Duration;

/// What may be given up beside calls, the most worth first: it is the last to go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// Which work waits in queues: sampled by us, and no matter of the kernel's side.
    Queues,
    /// Requests to block devices.
    Block,
    /// What happens on TCP connections.
    Net,
    /// Who wakes whom.
    Wakeups,
    /// What is done with files, added up.
    Files,
}

impl Part {
    pub(crate) const ALL: [Part; 5] = [Part::Queues, Part::Block, Part::Net, Part::Wakeups, Part::Files];

    /// Its bit in `struct control`; none where the kernel's side has no part in it.
    fn bit(self) -> u32 {
        match self {
            Part::Queues => 0,
            Part::Files => part::FILES,
            Part::Wakeups => part::WAKEUPS,
            Part::Net => part::NET,
            Part::Block => part::BLOCK,
        }
    }

    /// Of the kernel's records that tell of it.
    pub(crate) fn kind(self) -> Option<u8> {
        match self {
            Part::Queues => None,
            Part::Block => Some(kind::BLOCK),
            Part::Net => Some(kind::NET),
            Part::Wakeups => Some(kind::WAKEUP),
            Part::Files => Some(kind::FILE),
        }
    }

    /// For a note.
    fn words(self) -> &'static str {
        match self {
            Part::Queues => "which work waits in pipes and sockets",
            Part::Block => "requests to disks",
            Part::Net => "what happens on TCP connections",
            Part::Wakeups => "who wakes whom",
            Part::Files => "what is done with files",
        }
    }
}

/// How often something comes, and what one costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Flow {
    /// A second, taken or refused.
    pub(crate) per_second: f64,
    /// Of one that is taken, ns.
    pub(crate) each_ns: f64,
}

impl Forecast {
    /// ns a second that may be spent.
    fn allowed(&self) -> f64 {
        self.whole_ns / (self.elapsed + self.rest).max(NEXT_DECISION).as_secs_f64()
    }
}

impl Flow {
    fn ns_per_second(self) -> f64 {
        self.per_second * self.each_ns
    }
}

/// What the budget is to be spent on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Forecast {
    /// Since the recording began.
    pub(crate) elapsed: Duration,
    /// Until its planned end.
    pub(crate) rest: Duration,
    /// ns that may be spent in the whole recording.
    pub(crate) whole_ns: f64,
    /// ns that may be spent until then, without what is always recorded.
    pub(crate) left_ns: f64,
    /// Calls a second.
    pub(crate) calls: f64,
    /// Added to a call that is recorded, ns.
    pub(crate) full_ns: f64,
    /// Added to a call that is counted, ns.
    pub(crate) count_ns: f64,
    /// In the order of [`Part::ALL`].
    pub(crate) parts: [Flow; Part::ALL.len()],
    /// Stacks of what runs.
    pub(crate) samples: Flow,
    /// Stacks of long waits.
    pub(crate) wait_stacks: Flow,
    /// CPUs that take stacks.
    pub(crate) cpus: u32,
}

/// Something is given up for as long at first, and at most.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(64);
/// Until what is decided now can be decided again: calls are recorded if what is left lasts that long.
const NEXT_DECISION: Duration = Duration::from_millis(100);
/// Of what is left, samples and stacks of waits may take that much each, while calls have the rest.
const STACKS_SHARE: f64 = 0.25;
/// Calls that are recorded leave what it takes to count them to the end, or that part of the whole budget.
const COUNTS_SHARE: f64 = 0.5;
/// Of the budget: what takes no more than that is kept where states and sums of threads, which are always kept, have used it up. In a storm
/// of switches they may take all of it; to give up calls then saves less than that, and loses what the threads wait for.
const CHEAP_SHARE: f64 = 0.02;
const CHEAP_CALLS_SHARE: f64 = 0.5;
/// Stacks of long waits a second and CPU: where the budget allows, where it allows nothing (so that each wait that lasts
/// has one by and by), and before anything is known.
const MOST_WAIT_STACKS: u32 = 1000;
const FEWEST_WAIT_STACKS: u32 = 2;
const FIRST_WAIT_STACKS: u32 = 100;
/// Bits of the kernel's side of calls that are recorded though they are counted (programs/calls/detail.bpf.h).
const DETAIL_QUICK: u32 = 1;
const DETAIL_FEW_SLOW: u32 = 2;
/// Of a lasting recording: unwinding one takes some 50 us, so that these take a two-thousandth of a CPU.
const LASTING_WAIT_STACKS: u32 = 10;
/// Stacks of short calls a second and CPU, where the budget allows hardly anything (8 us each, with unwinding: a five-thousandth of a CPU), and of
/// a lasting recording.
const FEWEST_CALL_STACKS: u32 = 20;
const LASTING_CALL_STACKS: u32 = 2;
/// One sample of so many, at the least.
const THINNEST_SAMPLES: f64 = 1000.0;

/// Whether something is recorded now, and since when not.
#[derive(Clone, Copy, Debug, Default)]
struct Rung {
    /// When it was given up last, and for how long at least.
    gave_up: Option<(Duration, Duration)>,
    /// How long it was given up for in all, up to then or now.
    off: Duration,
    since: Option<Duration>,
}

impl Rung {
    fn rested(&self, now: Duration) -> bool {
        self.gave_up.is_none_or(|(at, pause)| now >= at + pause)
    }

    /// How long it has to last once it is taken up again: as long as it was given up, so that a recording has a few gaps
    /// and not a thousand.
    fn spell(&self) -> Duration {
        self.gave_up.map_or(NEXT_DECISION, |(_, pause)| pause)
    }

    fn give_up(&mut self, now: Duration) {
        let pause = self.gave_up.map_or(FIRST_PAUSE, |(_, pause)| (pause * 2).min(LONGEST_PAUSE));
        self.gave_up = Some((now, pause));
        self.since.get_or_insert(now);
    }

    fn take_up(&mut self, now: Duration) {
        self.off += self.since.take().map_or(Duration::ZERO, |since| now.saturating_sub(since));
    }

    /// How long it was off, until `now`.
    fn off(&self, now: Duration) -> Duration {
        self.off + self.since.map_or(Duration::ZERO, |since| now.saturating_sub(since))
    }
}

/// The plan of a recording, changed as it goes on.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    calls: CallsMode,
    calls_rung: Rung,
    parts: [Rung; Part::ALL.len()],
    wait_stacks: u32,
    wait_every: u32,
    sample_every: u32,
    few_in_full: bool,
    is_lasting: bool,
}

impl Budget {
    pub(crate) fn new(calls: CallsMode, governed: bool) -> Budget {
        Budget {
            calls,
            calls_rung: Rung::default(),
            parts: Default::default(),
            wait_stacks: if governed { FIRST_WAIT_STACKS } else { MOST_WAIT_STACKS },
            wait_every: 1,
            sample_every: 1,
            few_in_full: false,
            is_lasting: false,
        }
    }

    /// Where calls are counted, few are recorded one by one ([`crate::Options::few_in_full`]).
    pub(crate) fn with_few_in_full(self, few_in_full: bool) -> Budget {
        Budget { few_in_full, ..self }
    }

    /// A lasting recording takes few stacks of waits, and few slow calls where calls are counted ([`crate::Options::lasting`]).
    pub(crate) fn lasting(self, lasting: bool) -> Budget {
        let wait_stacks = if lasting { LASTING_WAIT_STACKS } else { self.wait_stacks };
        Budget { wait_stacks, is_lasting: lasting, ..self }
    }

    /// Who wakes whom is not recorded, all the time.
    pub(crate) fn without_wakeups(mut self, without: bool) -> Budget {
        for (part, rung) in Part::ALL.iter().zip(&mut self.parts) {
            if without && *part == Part::Wakeups {
                rung.since = Some(Duration::ZERO);
            }
        }
        self
    }

    pub(crate) fn calls(&self) -> CallsMode {
        self.calls
    }

    /// Whether it is recorded now.
    pub(crate) fn has(&self, part: Part) -> bool {
        Part::ALL.iter().zip(&self.parts).any(|(known, rung)| *known == part && rung.since.is_none())
    }

    /// For the kernel's side.
    pub(crate) fn control(&self) -> Control {
        let on = Part::ALL.iter().zip(&self.parts).filter(|(_, rung)| rung.since.is_none());
        Control {
            calls: self.calls as u32,
            wait_stacks: self.wait_stacks,
            wait_every: self.wait_every,
            sample_every: self.sample_every,
            parts: on.map(|(part, _)| part.bit()).sum(),
            detail: match self.calls {
                CallsMode::Count => {
                    u32::from(self.few_in_full) * DETAIL_QUICK + u32::from(self.is_lasting) * DETAIL_FEW_SLOW
                }
                _ => 0,
            },
            // Of short calls fewer say where they are made, and each costs less.
            call_stacks: match self.is_lasting {
                true => LASTING_CALL_STACKS,
                false => (self.wait_stacks / 2).max(FEWEST_CALL_STACKS),
            },
            pad: 0,
            calls_since: 0,
        }
    }

    /// What was given up for how long, for the notes of the recording.
    pub(crate) fn given_up(&self, whole: Duration) -> Vec<String> {
        let off = Part::ALL.iter().zip(&self.parts).map(|(part, rung)| (part, rung.off(whole)));
        off.filter(|(_, off)| !off.is_zero())
            .map(|(part, off)| {
                let (off, whole) = (off.as_secs_f64(), whole.as_secs_f64());
                format!(
                    "not recorded for {off:.1} of {whole:.1} s, to keep the cost low (--max-overhead): {}",
                    part.words()
                )
            })
            .collect()
    }

    /// Decides what is recorded from now on.
    pub(crate) fn decide(&mut self, forecast: &Forecast) {
        let now = forecast.elapsed;
        let rest = forecast.rest.max(NEXT_DECISION).as_secs_f64();
        let mut left = forecast.left_ns;
        // Half of a sum over time says little: these are recorded if they can be to the end.
        for (rung, flow) in self.parts.iter_mut().zip(forecast.parts) {
            let need = flow.ns_per_second() * rest;
            let is_cheap = flow.ns_per_second() <= CHEAP_SHARE * forecast.allowed();
            match rung.since {
                None if need > left.max(0.0) && !is_cheap => rung.give_up(now),
                Some(_) if rung.rested(now) && (2.0 * need <= left || is_cheap) => rung.take_up(now),
                _ => {}
            }
            if rung.since.is_none() {
                left -= need;
            }
        }
        let share = STACKS_SHARE * left.max(0.0) / rest;
        let samples = forecast.samples.ns_per_second();
        self.sample_every =
            if samples > share { (samples / share).ceil().min(THINNEST_SAMPLES) as u32 } else { 1 };
        left -= samples / f64::from(self.sample_every) * rest;
        let stacks = forecast.wait_stacks;
        let a_cpu = share / stacks.each_ns.max(1.0) / f64::from(forecast.cpus.max(1));
        self.wait_stacks = (a_cpu as u32).clamp(FEWEST_WAIT_STACKS, MOST_WAIT_STACKS);
        let most = f64::from(self.wait_stacks * forecast.cpus.max(1));
        // By chance, so that it is not the first of each second that are taken.
        self.wait_every = (stacks.per_second / most).ceil().clamp(1.0, f64::from(u32::MAX)) as u32;
        let taken = stacks.per_second.min(most);
        left -= taken * stacks.each_ns * rest;
        self.decide_calls(forecast, left);
    }

    /// Part of the calls in full is worth more than nothing: they are recorded while what is left lasts.
    fn decide_calls(&mut self, forecast: &Forecast, left: f64) {
        let now = forecast.elapsed;
        let need = |each: f64, time: Duration| forecast.calls * each * time.as_secs_f64();
        let counts_to_the_end = need(forecast.count_ns, forecast.rest).min(COUNTS_SHARE * forecast.whole_ns);
        let is_cheap = |each: f64| forecast.calls * each <= CHEAP_CALLS_SHARE * forecast.allowed();
        let full = |time: Duration| {
            need(forecast.full_ns, time) < left - counts_to_the_end || is_cheap(forecast.full_ns)
        };
        // At the planned end nothing is left, and nothing is needed.
        let counts = |time: Duration| {
            need(forecast.count_ns, time.min(forecast.rest)) <= left || is_cheap(forecast.count_ns)
        };
        let (rested, spell) = (self.calls_rung.rested(now), self.calls_rung.spell());
        let wanted = match self.calls {
            CallsMode::Full if full(NEXT_DECISION) => CallsMode::Full,
            CallsMode::Count if rested && full(spell) => CallsMode::Full,
            CallsMode::None if !rested || !counts(spell) => CallsMode::None,
            _ if counts(NEXT_DECISION) => CallsMode::Count,
            _ => CallsMode::None,
        };
        if wanted < self.calls {
            self.calls_rung.give_up(now);
        }
        self.calls = wanted;
    }
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
