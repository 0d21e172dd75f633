//! Samples of a recording as profiles, and whose profile is whose.

use crate::{Facts, ProcessFacts, ProcessId, ProfileFacts, ProfileOrigin, Profiles, Samples};
use whyslow_model::SampleKind;
use whyslow_model::event::Tid;
use whyslow_profile::compare::SeriesStep;
use whyslow_profile::kinds::{Account, Frame, FunctionRef, Measure, Measured, Stacks};

impl Facts {
    /// To be called once all samples are seen.
    pub(crate) fn profile_samples(&mut self) {
        let seconds = self.window.whole().as_secs_f64();
        let processes: Vec<ProcessId> = self.world.threads.processes().map(|(process, _)| process).collect();
        for process in processes {
            let weight = self.samples.total(SampleKind::OnCpu, process, None);
            if weight.count == 0 || self.profiles.list.len() >= Profiles::MOST {
                continue;
            }
            let stacks = SampleStacks { samples: &self.samples, process };
            let step = SeriesStep {
                name: String::new(),
                program: None,
                account: Account::of(&stacks),
                measured: Measured { measure: Measure::Cpu, unit: "nanoseconds".to_string() },
                taken_ns: None,
                seconds,
                samples: Some(weight.count),
                busiest_thread: None,
                work: None,
            };
            self.profiles.list.push(ProfileFacts { origin: ProfileOrigin::Samples(process), step });
        }
    }

    /// Who a profile is of, in words.
    pub fn profiled(&self, profile: &ProfileFacts) -> String {
        match &profile.origin {
            ProfileOrigin::File(name) => name.rsplit('/').next().unwrap_or(name).to_string(),
            ProfileOrigin::Samples(process) => {
                let process = self.world.threads.process(*process);
                match (process.name(), process.pid) {
                    (Some(name), Some(pid)) => format!("{name} (process {pid})"),
                    (Some(name), None) => name.to_string(),
                    (None, Some(pid)) => format!("process {pid}"),
                    (None, None) => "the process".to_string(),
                }
            }
        }
    }

    /// Which of the processes whose calls were seen a profile is of: of a file the only one, else the one that has its program's
    /// name. `None` where that cannot be told.
    pub fn process_of(&self, profile: &ProfileFacts) -> Option<ProcessId> {
        if let ProfileOrigin::Samples(process) = profile.origin {
            return Some(process);
        }
        let named = |process: &ProcessFacts| {
            let name = profile.step.program.as_deref();
            process.comm.as_deref().filter(|comm| !comm.is_empty()).is_some_and(|comm| {
                // The kernel keeps 15 bytes of a name (TASK_COMM_LEN).
                name.is_some_and(|name| name == comm || comm.len() == 15 && name.starts_with(comm))
            })
        };
        let active = || self.world.threads.processes().filter(|(_, process)| process.threads > 0);
        let mut fitting = active().filter(|(_, process)| named(process)).peekable();
        let only = |found: &mut dyn Iterator<Item = (ProcessId, &ProcessFacts)>| {
            found.next().filter(|_| found.next().is_none()).map(|(process, _)| process)
        };
        if fitting.peek().is_some() { only(&mut fitting) } else { only(&mut active()) }
    }

    /// The process of a thread whose row was not merged.
    pub fn process_of_thread(&self, tid: Tid) -> Option<ProcessId> {
        self.world.threads.thread_of(tid).map(|thread| thread.process)
    }

    /// Where a profile's figures stand.
    pub fn profile_source(&self, profile: &ProfileFacts) -> String {
        match &profile.origin {
            ProfileOrigin::File(name) => name.clone(),
            ProfileOrigin::Samples(_) => self.recording_at(self.window.start),
        }
    }
}

struct SampleStacks<'a> {
    samples: &'a Samples,
    process: ProcessId,
}

impl Stacks for SampleStacks<'_> {
    fn function_count(&self) -> usize {
        self.samples.function_count()
    }

    fn function(&self, index: usize) -> FunctionRef<'_> {
        self.samples.function_ref(index)
    }

    fn each(&self, take: &mut dyn FnMut(&[Frame], i64)) {
        self.samples.each_stack(SampleKind::OnCpu, self.process, &mut |frames, weight| {
            take(frames, i64::try_from(weight.ns).unwrap_or(i64::MAX));
        });
    }
}
