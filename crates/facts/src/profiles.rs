//! Profiles by kind of cost: of files, and of a recording's own on-CPU samples a process.

use crate::ProcessId;
use whyslow_model::profile::{CapturedProfile, ProfileContent, ProfileDamage};
use whyslow_profile::compare::SeriesStep;
use whyslow_profile::formats::{Loaded, Notes, ProfileData};
use whyslow_profile::kinds::Measure;

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
    pub step: SeriesStep,
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
    pub(crate) list: Vec<ProfileFacts>,
    empty: Vec<EmptyProfile>,
}

impl Profiles {
    /// Profiles kept.
    pub(crate) const MOST: usize = 256;

    /// All that hold something, in the order of the input.
    pub fn all(&self) -> &[ProfileFacts] {
        &self.list
    }

    /// All of time on a CPU.
    pub fn of_cpu(&self) -> impl Iterator<Item = &ProfileFacts> {
        self.list.iter().filter(|profile| profile.step.measured.measure == Measure::Cpu)
    }

    /// All of time that was sampled: on a CPU, or by the wall clock.
    pub fn of_time(&self) -> impl Iterator<Item = &ProfileFacts> {
        let is_of_time =
            |profile: &&ProfileFacts| matches!(profile.step.measured.measure, Measure::Cpu | Measure::Wall);
        self.list.iter().filter(is_of_time)
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
        let Some(step) = SeriesStep::of(name, loaded) else { return };
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
