//! The process whose CPU time goes most into one thing, by its samples: for what was only counted, call by call.

use crate::gate::gated;
use crate::guards::{self, Share};
use whyslow_facts::{Facts, ProcessId, ProfileFacts, ProfileOrigin};

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
