//! The process whose CPU time goes most into one thing, by its samples: for what was only counted, call by call.

use crate::gate::gated;
use crate::guards::{self, Share};
use whyslow_facts::samples::Weight;
use whyslow_facts::{Facts, ProcessId, ProfileFacts, ProfileOrigin};
use whyslow_model::SampleKind;

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

    pub(crate) fn share(&self, facts: &Facts) -> Share {
        Share::of_cpu_time(self.part, format!("the CPU time of {}", facts.profiled(self.profile)))
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
