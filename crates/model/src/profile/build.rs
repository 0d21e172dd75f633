//! Builds a [`Profile`]: equal texts, stacks and label sets are kept once, and all together stay within a limit.

use super::*;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use std::hash::{BuildHasher, Hasher};

/// More than a profile can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TooLarge {
    /// More of something (`strings`, `stacks`) than it can number (2^32).
    Number(&'static str),
    /// More memory than [`ProfileBuilder::MEMORY`].
    Memory,
}

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TooLarge::Number(of) => write!(f, "the profile has too many {of}: more than 4 billion"),
            TooLarge::Memory => {
                write!(f, "the profile needs more than {} GiB of memory", ProfileBuilder::MEMORY >> 30)
            }
        }
    }
}

impl std::error::Error for TooLarge {}

/// Builds a profile piece by piece.
#[derive(Debug)]
pub struct ProfileBuilder {
    profile: Profile,
    hasher: RandomState,
    strings: HashIndex,
    stacks: HashIndex,
    label_sets: HashIndex,
    functions: HashIndex,
    sums: Sums,
    /// Bytes taken by now.
    spent: usize,
}

/// Samples that others of their stack and labels are added to.
#[derive(Debug, Default)]
struct Sums {
    /// The first of each stack; [`Sums::NONE`]: it has none.
    first: Vec<u32>,
    /// The others, that have other labels.
    others: HashMap<(CallStackId, LabelSetId), u32, RandomState>,
}

impl Sums {
    const NONE: u32 = u32::MAX;
}

impl Default for ProfileBuilder {
    fn default() -> Self {
        ProfileBuilder::new()
    }
}

impl ProfileBuilder {
    /// Most bytes that a profile and what its reader keeps beside it may take. 1.4 million samples of 30 frames take a tenth of it.
    pub const MEMORY: usize = 2 << 30;
    /// An empty profile: its text 0 is empty, its label set 0 too.
    pub fn new() -> ProfileBuilder {
        ProfileBuilder::without_samples(&Profile {
            text_ends: vec![0],
            set_ends: vec![0],
            ..Profile::default()
        })
    }

    /// A builder that has all of a profile but its stacks and samples; texts, functions, mappings, locations and sets of
    /// labels keep their ids.
    pub fn without_samples(profile: &Profile) -> ProfileBuilder {
        let mut builder = ProfileBuilder {
            hasher: RandomState::default(),
            strings: HashIndex::default(),
            label_sets: HashIndex::default(),
            functions: HashIndex::default(),
            stacks: HashIndex::default(),
            sums: Sums::default(),
            spent: profile.bytes_without_samples(),
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
        };
        let ids = |count: usize| 0..u32::try_from(count).unwrap_or(u32::MAX);
        for id in ids(profile.string_count()) {
            let text = profile.str(StringId(id));
            builder
                .strings
                .number(builder.hasher.hash_one(text), id, |known| profile.str(StringId(known)) == text);
        }
        for id in ids(profile.label_set_count()) {
            let labels = profile.labels(LabelSetId(id));
            let hash = builder.hasher.hash_one(labels);
            builder.label_sets.number(hash, id, |known| profile.labels(LabelSetId(known)) == labels);
        }
        for (function, id) in profile.functions.iter().zip(ids(profile.functions.len())) {
            let hash = builder.hasher.hash_one(function);
            builder
                .functions
                .number(hash, id, |known| profile.functions.get(known as usize) == Some(function));
        }
        builder
    }

    /// What is built so far, for its plain fields.
    pub fn profile(&mut self) -> &mut Profile {
        &mut self.profile
    }

    /// Counts memory that is about to be taken for the profile, or beside it by whoever builds it.
    ///
    /// # Errors
    /// Where all together is more than [`ProfileBuilder::MEMORY`].
    #[inline]
    pub fn spend(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.spent = self.spent.saturating_add(bytes);
        if self.spent > ProfileBuilder::MEMORY { Err(TooLarge::Memory) } else { Ok(()) }
    }

    /// The id of a text.
    pub fn string(&mut self, text: &str) -> Result<StringId, TooLarge> {
        let next = small(self.profile.text_ends.len(), "strings")?;
        let profile = &self.profile;
        let hash = self.hasher.hash_one(text);
        let id = self.strings.number(hash, next, |known| profile.str(StringId(known)) == text);
        if id == next {
            self.spend(text.len() + size_of::<u32>() + HashIndex::ENTRY)?;
            self.profile.text.push_str(text);
            self.profile.text_ends.push(small(self.profile.text.len(), "bytes of text")?);
        }
        Ok(StringId(id))
    }

    /// The id of a function: equal ones are one.
    pub fn function(&mut self, function: Function) -> Result<FunctionId, TooLarge> {
        let next = small(self.profile.functions.len(), "functions")?;
        let known = &self.profile.functions;
        let hash = self.hasher.hash_one(function);
        let id = self.functions.number(hash, next, |id| known.get(id as usize) == Some(&function));
        if id == next {
            self.spend(size_of::<Function>() + HashIndex::ENTRY)?;
            self.profile.functions.push(function);
        }
        Ok(FunctionId(id))
    }

    /// A new mapping.
    pub fn mapping(&mut self, mapping: Mapping) -> Result<MappingId, TooLarge> {
        let id = MappingId(small(self.profile.mappings.len(), "mappings")?);
        self.spend(size_of::<Mapping>())?;
        self.profile.mappings.push(mapping);
        Ok(id)
    }

    /// A new location with its lines, the innermost first. Its `first_line` and `line_count` are set here.
    pub fn location(&mut self, location: Location, lines: &[SourceLine]) -> Result<LocationId, TooLarge> {
        let id = LocationId(small(self.profile.locations.len(), "locations")?);
        let first_line = small(self.profile.lines.len(), "lines")?;
        let line_count = small(lines.len(), "lines")?;
        self.spend(size_of::<Location>() + size_of_val(lines))?;
        self.profile.lines.extend_from_slice(lines);
        self.profile.locations.push(Location { first_line, line_count, ..location });
        Ok(id)
    }

    /// The id of a stack, leaf first.
    pub fn stack(&mut self, locations: &[LocationId]) -> Result<CallStackId, TooLarge> {
        let next = small(self.profile.stack_ends.len(), "stacks")?;
        let profile = &self.profile;
        let hash = stack_hash(&self.hasher, locations);
        let id = self.stacks.number(hash, next, |known| profile.stack(CallStackId(known)) == locations);
        if id == next {
            self.spend(size_of_val(locations) + size_of::<u32>() + HashIndex::ENTRY)?;
            self.profile.stack_locations.extend_from_slice(locations);
            self.profile.stack_ends.push(small(self.profile.stack_locations.len(), "frames")?);
        }
        Ok(CallStackId(id))
    }

    /// The id of a set of labels, in the source's order.
    pub fn label_set(&mut self, labels: &[Label]) -> Result<LabelSetId, TooLarge> {
        let next = small(self.profile.set_ends.len(), "label sets")?;
        let profile = &self.profile;
        let hash = self.hasher.hash_one(labels);
        let id = self.label_sets.number(hash, next, |known| profile.labels(LabelSetId(known)) == labels);
        if id == next {
            self.spend(size_of_val(labels) + size_of::<u32>() + HashIndex::ENTRY)?;
            self.profile.set_labels.extend_from_slice(labels);
            self.profile.set_ends.push(small(self.profile.set_labels.len(), "labels")?);
        }
        Ok(LabelSetId(id))
    }

    /// A sample. Values beyond the sample types are left out, missing ones are 0. Sample types are set before.
    pub fn sample(&mut self, stack: CallStackId, labels: LabelSetId, values: &[i64]) -> Result<(), TooLarge> {
        small(self.profile.sample_stacks.len(), "samples")?;
        let width = self.profile.sample_types.len();
        self.spend(size_of::<(CallStackId, LabelSetId)>() + width * size_of::<i64>())?;
        self.profile.sample_stacks.push(stack);
        self.profile.sample_labels.push(labels);
        let given = &values[..width.min(values.len())];
        self.profile.values.extend_from_slice(given);
        self.profile.values.extend(std::iter::repeat_n(0, width - given.len()));
        Ok(())
    }

    /// Adds to the sample of that stack and these labels that was added before; else as [`ProfileBuilder::sample`].
    pub fn add(&mut self, stack: CallStackId, labels: LabelSetId, values: &[i64]) -> Result<(), TooLarge> {
        let next = small(self.profile.sample_stacks.len(), "samples")?;
        let at = stack.0 as usize;
        if self.sums.first.len() <= at {
            self.spend((at + 1 - self.sums.first.len()) * size_of::<u32>())?;
            self.sums.first.resize(at + 1, Sums::NONE);
        }
        let first = &mut self.sums.first[at];
        let sum = match *first {
            Sums::NONE => {
                *first = next;
                next
            }
            first if self.profile.sample_labels[first as usize] == labels => first,
            _ => *self.sums.others.entry((stack, labels)).or_insert(next),
        };
        if sum == next {
            return self.sample(stack, labels, values);
        }
        let width = self.profile.sample_types.len();
        let sums = self.profile.values.iter_mut().skip(sum as usize * width);
        sums.zip(values).take(width).for_each(|(sum, value)| *sum = sum.saturating_add(*value));
        Ok(())
    }

    /// Leaves out samples whose values are all 0; tells whether there were any.
    pub fn drop_empty_samples(&mut self) -> bool {
        let profile = &mut self.profile;
        let width = profile.sample_types.len();
        let mut kept = 0;
        for index in 0..profile.sample_stacks.len() {
            let values = index * width..(index + 1) * width;
            if profile.values[values.clone()].iter().any(|value| *value != 0) {
                profile.sample_stacks[kept] = profile.sample_stacks[index];
                profile.sample_labels[kept] = profile.sample_labels[index];
                profile.values.copy_within(values, kept * width);
                kept += 1;
            }
        }
        let any = kept < profile.sample_stacks.len();
        profile.sample_stacks.truncate(kept);
        profile.sample_labels.truncate(kept);
        profile.values.truncate(kept * width);
        self.sums = Sums::default();
        any
    }

    /// Replaces the locations of all stacks and the labels of all sets, for sources that define them after the samples.
    /// Stacks and sets given before are not found again.
    pub fn relink<E>(
        &mut self,
        mut location: impl FnMut(LocationId) -> Result<LocationId, E>,
        mut label: impl FnMut(Label) -> Result<Label, E>,
    ) -> Result<(), E> {
        self.stacks = HashIndex::default();
        self.label_sets = HashIndex::default();
        self.label_sets.number(self.hasher.hash_one::<&[Label]>(&[]), 0, |_| true);
        for id in &mut self.profile.stack_locations {
            *id = location(*id)?;
        }
        for known in &mut self.profile.set_labels {
            *known = label(*known)?;
        }
        Ok(())
    }

    /// The profile.
    pub fn finish(self) -> Profile {
        self.profile
    }
}

/// Two frames at a time: most of a profile is stacks.
#[inline]
fn stack_hash(hasher: &RandomState, locations: &[LocationId]) -> u64 {
    let mut hasher = hasher.build_hasher();
    let (pairs, rest) = locations.as_chunks::<2>();
    for [one, next] in pairs {
        hasher.write_u64(u64::from(one.0) << 32 | u64::from(next.0));
    }
    // The length tells a last frame from a pair.
    hasher.write_u64(
        u64::from(rest.first().map_or(0, |last| last.0)) << 32 | locations.len() as u64 & 0xffff_ffff,
    );
    hasher.finish()
}

fn small(count: usize, of: &'static str) -> Result<u32, TooLarge> {
    u32::try_from(count).ok().filter(|count| *count < u32::MAX).ok_or(TooLarge::Number(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_with_what_is_kept_beside() {
        let mut builder = ProfileBuilder::new();
        builder.spend(ProfileBuilder::MEMORY - 64).unwrap();
        let stack = builder.stack(&[]).unwrap();
        assert_eq!(builder.stack(&[LocationId(1); 64]), Err(TooLarge::Memory));
        assert_eq!(builder.sample(stack, LabelSetId(0), &[]), Err(TooLarge::Memory));
        assert_eq!(TooLarge::Memory.to_string(), "the profile needs more than 2 GiB of memory");
    }

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
