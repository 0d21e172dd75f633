//! Profiles by kind of cost: of files, and of a recording's own on-CPU samples a process.

use super::{Facts, ProcessFacts, ProcessId, Samples};
use whyslow_model::SampleKind;
use whyslow_model::event::Tid;
use whyslow_model::profile::{CapturedProfile, ProfileContent, ProfileDamage};
use whyslow_profile::compare::Step;
use whyslow_profile::formats::{Loaded, Notes, ProfileData};
use whyslow_profile::kinds::{Account, Frame, FunctionRef, Measure, Measured, Stacks};

/// Where a profile came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileOrigin {
    /// A file.
    File(String),
    /// A recording's samples of a process.
    Samples(ProcessId),
}

/// A profile and what it shows.
#[derive(Clone, Debug)]
pub struct ProfileFacts {
    /// Where it came from.
    pub origin: ProfileOrigin,
    /// What it shows, ready to be compared.
    pub step: Step,
}

/// A profile that holds nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmptyProfile {
    /// The file.
    pub name: String,
    /// What is wrong with it.
    pub damage: ProfileDamage,
    /// The same in words.
    pub what: String,
}

/// All profiles.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    list: Vec<ProfileFacts>,
    empty: Vec<EmptyProfile>,
}

impl Profiles {
    /// Profiles kept.
    const MOST: usize = 256;

    /// All that hold something, in the order of the input.
    pub fn all(&self) -> &[ProfileFacts] {
        &self.list
    }

    /// All of time on a CPU.
    pub fn of_cpu(&self) -> impl Iterator<Item = &ProfileFacts> {
        self.list.iter().filter(|profile| profile.step.measured.measure == Measure::Cpu)
    }

    /// Profile files of time on a CPU, as they may be compared: all of one program, of known length. In the order in
    /// which they were taken, where all say when; else in that of the input.
    pub fn series(&self) -> Vec<&ProfileFacts> {
        let is_file = |profile: &&ProfileFacts| matches!(profile.origin, ProfileOrigin::File(_));
        let of_known_length = |profile: &&ProfileFacts| profile.step.cpus().is_some();
        let mut series: Vec<&ProfileFacts> = self.of_cpu().filter(is_file).filter(of_known_length).collect();
        let is_of_one = series.windows(2).all(|pair| pair[0].step.is_of_same_program(&pair[1].step));
        if !is_of_one {
            return Vec::new();
        }
        if series.iter().all(|profile| profile.step.taken_ns.is_some()) {
            series.sort_by_key(|profile| profile.step.taken_ns);
        }
        series
    }

    /// Those that hold nothing.
    pub fn empty(&self) -> &[EmptyProfile] {
        &self.empty
    }

    /// True where there is no profile, whole or broken.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.empty.is_empty()
    }

    // A file that was read.
    fn add(&mut self, name: &str, loaded: &Loaded) {
        if let Some(damage) = loaded.damage {
            self.add_empty(name, damage, "it is whole, and has no samples");
            return;
        }
        let Some(step) = Step::of(name, loaded) else { return };
        if self.list.len() < Self::MOST {
            self.list.push(ProfileFacts { origin: ProfileOrigin::File(name.to_string()), step });
        }
    }

    /// Takes a profile that was read among the other inputs.
    pub fn captured(&mut self, profile: CapturedProfile) {
        let CapturedProfile { name, format, content, damage, reason, .. } = profile;
        let data = match content {
            Some(ProfileContent::Stacks(profile)) => ProfileData::Stacks(profile),
            Some(ProfileContent::Table(table)) => ProfileData::Table(table),
            None => return self.add_empty(&name, damage.unwrap_or(ProfileDamage::Unreadable), &reason),
        };
        self.add(&name, &Loaded { format, data, damage, notes: Notes::default() });
    }

    // A file that is a profile and cannot be used.
    fn add_empty(&mut self, name: &str, damage: ProfileDamage, what: &str) {
        if self.empty.len() < Self::MOST {
            self.empty.push(EmptyProfile { name: name.to_string(), damage, what: what.to_string() });
        }
    }
}

impl Facts {
    /// To be called once all samples are seen.
    pub(super) fn profile_samples(&mut self) {
        let seconds = self.window.whole().as_secs_f64();
        let processes: Vec<ProcessId> = self.world.threads.processes().map(|(process, _)| process).collect();
        for process in processes {
            let weight = self.samples.total(SampleKind::OnCpu, process, None);
            if weight.count == 0 || self.profiles.list.len() >= Profiles::MOST {
                continue;
            }
            let stacks = SampleStacks { samples: &self.samples, process };
            let step = Step {
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
        let (name, module) = self.samples.function_name(index);
        FunctionRef { name, module: module.unwrap_or(""), ..FunctionRef::default() }
    }

    fn each(&self, take: &mut dyn FnMut(&[Frame], i64)) {
        let mut frames = Vec::new();
        self.samples.each_stack(SampleKind::OnCpu, self.process, &mut |functions, weight| {
            frames.clear();
            frames.extend(functions.iter().map(|function| Frame { function: *function, line: 0 }));
            take(&frames, i64::try_from(weight.ns).unwrap_or(i64::MAX));
        });
    }
}
