//! Builds a [`Profile`]: equal texts, stacks and label sets are kept once.

use super::*;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use std::hash::BuildHasher;

/// More of something than a profile can number (2^32).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge(
    /// What there is too much of: `strings`, `stacks`.
    pub &'static str,
);

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the profile has too many {}: more than 4 billion", self.0)
    }
}

impl std::error::Error for TooLarge {}

/// Builds a profile piece by piece.
#[derive(Debug)]
pub struct ProfileBuilder {
    profile: Profile,
    hasher: RandomState,
    // By hash only: the text itself stands in the profile. Two of one hash: the second is kept twice, which is allowed.
    strings: HashMap<u64, StringId, RandomState>,
    stacks: HashMap<u64, CallStackId, RandomState>,
    label_sets: HashMap<u64, LabelSetId, RandomState>,
    functions: HashMap<Function, FunctionId, RandomState>,
}

impl Default for ProfileBuilder {
    fn default() -> Self {
        ProfileBuilder::new()
    }
}

impl ProfileBuilder {
    /// An empty profile: its text 0 is empty, its label set 0 too.
    pub fn new() -> ProfileBuilder {
        let mut builder = ProfileBuilder {
            profile: Profile { text_ends: vec![0], set_ends: vec![0], ..Profile::default() },
            hasher: RandomState::default(),
            strings: HashMap::default(),
            stacks: HashMap::default(),
            label_sets: HashMap::default(),
            functions: HashMap::default(),
        };
        builder.strings.insert(builder.hasher.hash_one(""), StringId(0));
        builder.label_sets.insert(builder.hasher.hash_one::<&[Label]>(&[]), LabelSetId(0));
        builder
    }

    /// A builder that has all of a profile but its stacks and samples; texts, functions, mappings, locations and sets of
    /// labels keep their ids.
    pub fn without_samples(profile: &Profile) -> ProfileBuilder {
        let hasher = RandomState::default();
        let ids = |count: usize| 0..u32::try_from(count).unwrap_or(u32::MAX);
        let strings =
            ids(profile.string_count()).map(|id| (hasher.hash_one(profile.str(StringId(id))), StringId(id)));
        let sets = ids(profile.label_set_count())
            .map(|id| (hasher.hash_one(profile.labels(LabelSetId(id))), LabelSetId(id)));
        ProfileBuilder {
            strings: strings.collect(),
            label_sets: sets.collect(),
            functions: profile
                .functions
                .iter()
                .copied()
                .zip(ids(profile.functions.len()).map(FunctionId))
                .collect(),
            stacks: HashMap::default(),
            profile: Profile {
                text: profile.text.clone(),
                text_ends: profile.text_ends.clone(),
                set_labels: profile.set_labels.clone(),
                set_ends: profile.set_ends.clone(),
                sample_types: profile.sample_types.clone(),
                functions: profile.functions.clone(),
                mappings: profile.mappings.clone(),
                locations: profile.locations.clone(),
                lines: profile.lines.clone(),
                comments: profile.comments.clone(),
                stack_locations: Vec::new(),
                stack_ends: Vec::new(),
                sample_stacks: Vec::new(),
                sample_labels: Vec::new(),
                values: Vec::new(),
                ..*profile
            },
            hasher,
        }
    }

    /// What is built so far, for its plain fields.
    pub fn profile(&mut self) -> &mut Profile {
        &mut self.profile
    }

    /// The id of a text.
    pub fn string(&mut self, text: &str) -> Result<StringId, TooLarge> {
        let next = StringId(small(self.profile.text_ends.len(), "strings")?);
        let id = match self.strings.entry(self.hasher.hash_one(text)) {
            Entry::Occupied(known) if self.profile.str(*known.get()) == text => return Ok(*known.get()),
            Entry::Occupied(_) => next,
            Entry::Vacant(free) => *free.insert(next),
        };
        self.profile.text.push_str(text);
        self.profile.text_ends.push(small(self.profile.text.len(), "bytes of text")?);
        Ok(id)
    }

    /// The id of a function: equal ones are one.
    pub fn function(&mut self, function: Function) -> Result<FunctionId, TooLarge> {
        let next = FunctionId(small(self.profile.functions.len(), "functions")?);
        let id = *self.functions.entry(function).or_insert(next);
        if id == next {
            self.profile.functions.push(function);
        }
        Ok(id)
    }

    /// A new mapping.
    pub fn mapping(&mut self, mapping: Mapping) -> Result<MappingId, TooLarge> {
        let id = MappingId(small(self.profile.mappings.len(), "mappings")?);
        self.profile.mappings.push(mapping);
        Ok(id)
    }

    /// A new location with its lines, the innermost first. Its `first_line` and `line_count` are set here.
    pub fn location(&mut self, location: Location, lines: &[SourceLine]) -> Result<LocationId, TooLarge> {
        let id = LocationId(small(self.profile.locations.len(), "locations")?);
        let first_line = small(self.profile.lines.len(), "lines")?;
        let line_count = small(lines.len(), "lines")?;
        self.profile.lines.extend_from_slice(lines);
        self.profile.locations.push(Location { first_line, line_count, ..location });
        Ok(id)
    }

    /// The id of a stack, leaf first.
    pub fn stack(&mut self, locations: &[LocationId]) -> Result<CallStackId, TooLarge> {
        let next = CallStackId(small(self.profile.stack_ends.len(), "stacks")?);
        let id = match self.stacks.entry(self.hasher.hash_one(locations)) {
            Entry::Occupied(known) if self.profile.stack(*known.get()) == locations => {
                return Ok(*known.get());
            }
            Entry::Occupied(_) => next,
            Entry::Vacant(free) => *free.insert(next),
        };
        self.profile.stack_locations.extend_from_slice(locations);
        self.profile.stack_ends.push(small(self.profile.stack_locations.len(), "frames")?);
        Ok(id)
    }

    /// The id of a set of labels, in the source's order.
    pub fn label_set(&mut self, labels: &[Label]) -> Result<LabelSetId, TooLarge> {
        let next = LabelSetId(small(self.profile.set_ends.len(), "label sets")?);
        let id = match self.label_sets.entry(self.hasher.hash_one(labels)) {
            Entry::Occupied(known) if self.profile.labels(*known.get()) == labels => return Ok(*known.get()),
            Entry::Occupied(_) => next,
            Entry::Vacant(free) => *free.insert(next),
        };
        self.profile.set_labels.extend_from_slice(labels);
        self.profile.set_ends.push(small(self.profile.set_labels.len(), "labels")?);
        Ok(id)
    }

    /// A sample. Values beyond the sample types are left out, missing ones are 0. Sample types are set before.
    pub fn sample(&mut self, stack: CallStackId, labels: LabelSetId, values: &[i64]) -> Result<(), TooLarge> {
        small(self.profile.sample_stacks.len(), "samples")?;
        self.profile.sample_stacks.push(stack);
        self.profile.sample_labels.push(labels);
        let width = self.profile.sample_types.len();
        let given = values.iter().copied().chain(std::iter::repeat(0));
        self.profile.values.extend(given.take(width));
        Ok(())
    }

    /// Replaces the locations of all stacks and the labels of all sets, for sources that define them after the samples.
    /// Stacks and sets given before are not found again.
    pub fn relink<E>(
        &mut self,
        mut location: impl FnMut(LocationId) -> Result<LocationId, E>,
        mut label: impl FnMut(Label) -> Result<Label, E>,
    ) -> Result<(), E> {
        for id in &mut self.profile.stack_locations {
            *id = location(*id)?;
        }
        for known in &mut self.profile.set_labels {
            *known = label(*known)?;
        }
        self.stacks.clear();
        self.label_sets.clear();
        self.label_sets.insert(self.hasher.hash_one::<&[Label]>(&[]), LabelSetId(0));
        Ok(())
    }

    /// The profile.
    pub fn finish(self) -> Profile {
        self.profile
    }
}

fn small(count: usize, of: &'static str) -> Result<u32, TooLarge> {
    u32::try_from(count).ok().filter(|count| *count < u32::MAX).ok_or(TooLarge(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_texts_and_labels_are_kept_once() {
        let mut builder = ProfileBuilder::new();
        let kind = builder.string("cpu").unwrap();
        let unit = builder.string("nanoseconds").unwrap();
        builder.profile().sample_types = vec![ValueType { kind, unit }];
        assert_eq!(builder.string("cpu").unwrap(), kind);
        assert_eq!(builder.string("").unwrap(), StringId(0));
        let function = builder.function(Function { name: kind, ..Function::default() }).unwrap();
        assert_eq!(builder.function(Function { name: kind, ..Function::default() }).unwrap(), function);
        let line = SourceLine { function: Some(function), line: 7, column: 0 };
        let leaf = builder.location(Location::default(), &[line]).unwrap();
        let root = builder.location(Location::default(), &[]).unwrap();
        let stack = builder.stack(&[leaf, root]).unwrap();
        assert_eq!(builder.stack(&[leaf, root]).unwrap(), stack);
        assert_ne!(builder.stack(&[root, leaf]).unwrap(), stack);
        let labels = builder.label_set(&[Label { key: kind, value: LabelValue::Number(3, unit) }]).unwrap();
        builder.sample(stack, labels, &[5, 99]).unwrap();
        builder.sample(stack, LabelSetId(0), &[i64::MAX]).unwrap();
        builder.sample(stack, LabelSetId(0), &[]).unwrap();
        builder.relink(Ok::<_, ()>, Ok).unwrap();
        assert_eq!(builder.label_set(&[]).unwrap(), LabelSetId(0));

        let profile = builder.finish();
        assert_eq!((profile.sample_count(), profile.stack_count(), profile.string_count()), (3, 2, 3));
        assert_eq!(profile.total(0), i64::MAX);
        let sample = profile.sample(0);
        assert_eq!((sample.stack, sample.values, sample.labels.len()), (&[leaf, root][..], &[5][..], 1));
        assert_eq!(profile.sample(2).values, [0]);
        assert_eq!(profile.lines_of(leaf), [line]);
        assert_eq!(profile.lines_of(root), []);
        assert_eq!(profile.str(profile.sample_types[0].kind), "cpu");
        assert_eq!(profile.str(StringId(99)), "");
        assert_eq!(profile.stack(CallStackId(99)), []);
    }
}
