//! The process whose CPU time goes most into one thing, by its samples: for what was only counted, call by call.

use crate::gate::gated;
use crate::guards::{self, Share};
use whyslow_facts::samples::Weight;
use whyslow_facts::{Facts, ProcessId, ProfileFacts, ProfileOrigin};
use whyslow_model::{Measurement, SampleKind};

/// Fewer samples are no profile.
const MIN_SAMPLES: u64 = 50;

/// A part of a process's CPU time, by its samples.
pub(crate) struct Sampled<'f> {
    pub(crate) profile: &'f ProfileFacts,
    pub(crate) process: ProcessId,
    /// Of its CPU time.
    pub(crate) part: f64,
}

impl<'f> Sampled<'f> {
    /// The process with the largest part, as `part_of` tells it of a profile; `None` where it is too small for a warning in each.
    #[gated]
    pub(crate) fn most(
        facts: &'f Facts,
        part_of: impl Fn(ProcessId, &'f ProfileFacts) -> Option<f64>,
    ) -> Option<Sampled<'f>> {
        let sampled = facts.profiles.of_cpu().filter_map(|profile| {
            let ProfileOrigin::Samples(process) = profile.origin else { return None };
            profile.step.samples.filter(|samples| *samples >= MIN_SAMPLES)?;
            let part = part_of(process, profile)?;
            (part >= guards::WARNING_SHARE).then_some(Sampled { profile, process, part })
        });
        sampled.max_by(|a, b| a.part.total_cmp(&b.part))
    }

    /// The process in whose CPU time the kernel's functions of that kind are the largest part. One that keeps less than `busy` CPUs
    /// busy is not slow for what it computes.
    #[gated]
    pub(crate) fn most_in_kernel(
        facts: &'f Facts,
        busy: f64,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Option<Sampled<'f>> {
        Sampled::most(facts, |process, profile| {
            if profile.step.cpus().is_some_and(|cpus| cpus < busy) {
                return None;
            }
            let kind = SampleKind::OnCpu;
            let all = facts.samples.total(kind, process, None);
            let part = facts.samples.in_kernel(kind, process, None, &is_wanted);
            Some(part.ns as f64 / all.ns.max(1) as f64)
        })
    }

    pub(crate) fn share(&self, facts: &Facts) -> Share {
        Share::of_cpu_time(self.part, format!("the CPU time of {}", facts.profiled(self.profile)))
    }

    /// The share of this part, or the one that was found in the calls, whichever is larger.
    pub(crate) fn or_larger(&self, facts: &Facts, found: Share) -> Share {
        if found.value.is_none_or(|value| value < self.part) { self.share(facts) } else { found }
    }

    /// The part, and the CPUs that the process keeps busy where that is known.
    pub(crate) fn figures(&self, busy: f64) -> (Measurement, Option<Measurement>) {
        let part = Measurement::share("share_of_cpu_time", self.part).at_least(guards::WARNING_SHARE);
        let cpus = self.profile.step.cpus();
        (part, cpus.map(|cpus| Measurement::number("cpus", cpus).at_least(busy)))
    }
}

/// The samples of a process in whose stacks one of those functions is.
pub(crate) fn in_functions(
    facts: &Facts,
    kind: SampleKind,
    process: ProcessId,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Weight {
    // Each function is asked for once, and there are fewer of them than frames.
    let samples = &facts.samples;
    let wanted: Vec<bool> =
        (0..samples.function_count()).map(|at| is_wanted(samples.function_ref(at).name)).collect();
    let mut sum = Weight::default();
    samples.each_stack(kind, process, &mut |frames, weight| {
        if frames.iter().any(|frame| wanted.get(frame.function as usize) == Some(&true)) {
            sum.count = sum.count.saturating_add(weight.count);
            sum.ns = sum.ns.saturating_add(weight.ns);
        }
    });
    sum
}
