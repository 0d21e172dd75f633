//! Profiles of what was read, for the formats that show stacks: samples where a recorder took them, else the account of time and
//! the calls as stacks of words.

use crate::text::shown;
use std::collections::HashMap;
use whyslow_account::account;
use whyslow_facts::Facts;
use whyslow_facts::who::process_name;
use whyslow_model::profile::{
    Function, Label, LabelSetId, LabelValue, Location, LocationId, Profile, ProfileBuilder, SourceLine,
    TooLarge, ValueType,
};
use whyslow_model::{SampleKind, TimeState};

/// What a profile is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProfileOf {
    /// Stacks of threads on a CPU.
    Cpu,
    /// Stacks of threads that wait.
    OffCpu,
    /// The account of time: who, in which state, in which call, on what.
    Time,
    /// Of that, what waits for locks.
    Locks,
    /// Each thread's calls, with their number and time.
    Calls,
}

impl ProfileOf {
    /// All, with their words.
    pub const ALL: [(ProfileOf, &'static str); 5] = [
        (ProfileOf::Cpu, "cpu"),
        (ProfileOf::OffCpu, "off-cpu"),
        (ProfileOf::Time, "time"),
        (ProfileOf::Locks, "locks"),
        (ProfileOf::Calls, "calls"),
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        ProfileOf::ALL.into_iter().find(|(of, _)| *of == self).map_or("", |(_, word)| word)
    }

    /// What that word stands for.
    pub fn of_word(word: &str) -> Option<ProfileOf> {
        ProfileOf::ALL.into_iter().find(|(_, known)| *known == word).map(|(of, _)| of)
    }

    /// The samples that it is made of.
    pub fn samples(self) -> Option<SampleKind> {
        match self {
            ProfileOf::Cpu => Some(SampleKind::OnCpu),
            ProfileOf::OffCpu => Some(SampleKind::OffCpu),
            _ => None,
        }
    }
}

/// Why there is no profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotExported {
    /// Nothing of the kind is in the input.
    Nothing,
    /// It is made of samples, by [`whyslow_profile::Sampled`].
    Samples,
    /// It is too large.
    TooLarge(TooLarge),
}

impl From<TooLarge> for NotExported {
    fn from(error: TooLarge) -> NotExported {
        NotExported::TooLarge(error)
    }
}

/// The profile of finished facts.
///
/// # Errors
/// Where nothing of the kind is known, and for samples, which facts do not keep.
pub fn profile_of(facts: &Facts, of: ProfileOf) -> Result<Profile, NotExported> {
    let profile = match of {
        ProfileOf::Cpu | ProfileOf::OffCpu => return Err(NotExported::Samples),
        ProfileOf::Time => of_time(facts, |_| true)?,
        ProfileOf::Locks => of_time(facts, |state| state == TimeState::Lock)?,
        ProfileOf::Calls => of_calls(facts)?,
    };
    if profile.sample_count() == 0 { Err(NotExported::Nothing) } else { Ok(profile) }
}

/// The profile, with secrets replaced in every text.
pub fn without_secrets(mut profile: Profile) -> Profile {
    profile.replace_texts(shown);
    profile
}

/// Stacks of words.
struct Words {
    builder: ProfileBuilder,
    known: HashMap<String, LocationId>,
}

impl Words {
    fn new(facts: &Facts, count: &str, time: &str) -> Result<Words, TooLarge> {
        let mut builder = ProfileBuilder::new();
        let types = vec![
            ValueType { kind: builder.string(count)?, unit: builder.string("count")? },
            ValueType { kind: builder.string(time)?, unit: builder.string("nanoseconds")? },
        ];
        let profile = builder.profile();
        (profile.sample_types, profile.default_sample_type) = (types, Some(1));
        profile.time_ns = facts.window.start.get().and_then(|ns| i64::try_from(ns).ok());
        profile.duration_ns = facts.window.length().get().and_then(|ns| i64::try_from(ns).ok());
        Ok(Words { builder, known: HashMap::new() })
    }

    fn location(&mut self, word: &str) -> Result<LocationId, TooLarge> {
        if let Some(known) = self.known.get(word) {
            return Ok(*known);
        }
        let name = self.builder.string(word)?;
        let function = self.builder.function(Function { name, system_name: name, ..Function::default() })?;
        let line = SourceLine { function: Some(function), line: 0, column: 0 };
        let id = self.builder.location(Location::default(), &[line])?;
        self.known.insert(word.to_string(), id);
        Ok(id)
    }

    /// Adds to the stack, which stands root first.
    fn add(
        &mut self,
        stack: &[&str],
        labels: &[(&str, LabelText<'_>)],
        values: [u64; 2],
    ) -> Result<(), TooLarge> {
        let mut locations = Vec::with_capacity(stack.len());
        for word in stack.iter().rev() {
            locations.push(self.location(word)?);
        }
        let stack = self.builder.stack(&locations)?;
        let labels = self.labels(labels)?;
        let values = values.map(|value| i64::try_from(value).unwrap_or(i64::MAX));
        self.builder.add(stack, labels, &values)
    }

    fn labels(&mut self, labels: &[(&str, LabelText<'_>)]) -> Result<LabelSetId, TooLarge> {
        let mut made = Vec::with_capacity(labels.len());
        for (key, value) in labels {
            let value = match value {
                LabelText::Text(text) => LabelValue::Text(self.builder.string(text)?),
                LabelText::Number(number) => LabelValue::Number(*number, self.builder.string("")?),
            };
            made.push(Label { key: self.builder.string(key)?, value });
        }
        self.builder.label_set(&made)
    }
}

/// A label's value before it is in a profile.
enum LabelText<'a> {
    Text(&'a str),
    Number(i64),
}

/// The rows of the account that are of such states.
fn of_time(facts: &Facts, wanted: impl Fn(TimeState) -> bool) -> Result<Profile, TooLarge> {
    let mut words = Words::new(facts, "times", "time")?;
    let account = account(facts);
    for row in account.iter().flat_map(|account| &account.rows).filter(|row| wanted(row.state)) {
        let site = row.site();
        let mut stack = vec![row.who.as_str(), row.state.word()];
        stack.extend(site.as_deref());
        stack.extend(row.call.as_deref());
        stack.extend(row.object.as_deref());
        let labels =
            [("state", LabelText::Text(row.state.word())), ("known", LabelText::Text(row.known.word()))];
        words.add(&stack, &labels, [row.count.unwrap_or(0), row.ns])?;
    }
    Ok(words.builder.finish())
}

/// The calls of each thread, also those that were only counted.
fn of_calls(facts: &Facts) -> Result<Profile, TooLarge> {
    let mut words = Words::new(facts, "calls", "time")?;
    let mut remarks = Vec::new();
    let threads = &facts.world.threads;
    let mut untimed = 0_u64;
    for (_, thread) in threads.iter() {
        let process = process_name(facts, thread.process);
        let name = match &thread.comm {
            Some(comm) => format!("{comm} ({})", thread.tid),
            None if thread.merged > 1 => format!("{} threads", thread.merged),
            None => format!("thread {}", thread.tid),
        };
        let pid = threads.known_process(thread.process).and_then(|process| process.pid);
        let mut labels = vec![("tid", LabelText::Number(thread.tid.into()))];
        labels.extend(pid.map(|pid| ("pid", LabelText::Number(pid.into()))));
        for (syscall, stats) in thread.all_calls() {
            untimed = untimed.saturating_add(stats.count.saturating_sub(stats.timed));
            let values = [stats.count, stats.known_total().or_zero()];
            words.add(&[&process, &name, facts.world.names.name(syscall)], &labels, values)?;
        }
    }
    if untimed > 0 {
        remarks.push(format!("{untimed} calls have no duration: they count, and their time is not in it"));
    }
    let mut comments = Vec::new();
    for remark in &remarks {
        comments.push(words.builder.string(remark)?);
    }
    words.builder.profile().comments = comments;
    Ok(words.builder.finish())
}
