//! Profiles: stacks with values. The shape is pprof's (`profile.proto` of github.com/google/pprof); every other source
//! of stacks (folded text, perf script, thread dumps, our own samples) is turned into the same.

mod build;
mod captured;
mod damage;
mod known;
mod top_report;

pub use build::{ProfileBuilder, TooLarge};
pub use captured::{CapturedProfile, ProfileContent};
pub use damage::ProfileDamage;
pub use known::HashIndex;
pub use top_report::{ListedLine, Listing, Printed, TopReport, TopRow};

use crate::visible;
use std::borrow::Cow;
use std::ops::Range;

/// Index of a text in [`Profile::strings`]. 0 is the empty text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct StringId(pub u32);

/// Index in [`Profile::functions`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionId(pub u32);

/// Index in [`Profile::mappings`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MappingId(pub u32);

/// Index in [`Profile::locations`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocationId(pub u32);

/// Index of a stack: a list of locations, kept once however many samples have it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallStackId(pub u32);

/// Index of a set of labels. 0 is the empty one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LabelSetId(pub u32);

/// What a value counts, and in which unit: `cpu` in `nanoseconds`, `samples` in `count`, `inuse_space` in `bytes`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ValueType {
    /// What is counted.
    pub kind: StringId,
    /// Its unit, as the source writes it.
    pub unit: StringId,
}

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Function {
    /// Its name as people read it.
    pub name: StringId,
    /// Its name as the system knows it (mangled); empty where the source does not tell it apart.
    pub system_name: StringId,
    /// The source file.
    pub file: StringId,
    /// The line on which it begins; 0: unknown.
    pub start_line: i64,
}

/// A place in the source. A location has several where calls were inlined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SourceLine {
    /// The function; `None`: the source names none.
    pub function: Option<FunctionId>,
    /// The line; 0: unknown.
    pub line: i64,
    /// The column; 0: unknown.
    pub column: i64,
}

/// A place in the code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Location {
    /// The mapping that it is in.
    pub mapping: Option<MappingId>,
    /// The address of the instruction; 0: unknown.
    pub address: u64,
    /// First of its lines in [`Profile::lines`].
    pub first_line: u32,
    /// How many lines it has: none where there are no symbols. The first is the innermost inlined function.
    pub line_count: u32,
    /// Several places stand behind this one (identical code folding of a linker).
    pub is_folded: bool,
}

/// A file mapped into the profiled process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// First address behind it.
    pub limit: u64,
    /// Offset of `start` in the file, bytes.
    pub offset: u64,
    /// The file.
    pub file: StringId,
    /// Its build id, or empty.
    pub build_id: StringId,
    /// Whether its locations have functions.
    pub has_functions: bool,
    /// Whether they have file names.
    pub has_filenames: bool,
    /// Whether they have line numbers.
    pub has_line_numbers: bool,
    /// Whether they have inlined functions.
    pub has_inline_frames: bool,
}

/// A label of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Label {
    /// The key.
    pub key: StringId,
    /// The value.
    pub value: LabelValue,
}

/// The value of a label.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LabelValue {
    /// A text.
    Text(StringId),
    /// A number and its unit (empty: none told).
    Number(i64, StringId),
}

/// A profile. Everything is an index, so that a million samples stay small; the methods resolve them.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// All texts, one behind the other.
    pub(crate) text: String,
    /// Where each text ends in `text`.
    pub(crate) text_ends: Vec<u32>,
    /// What each value of a sample counts.
    pub sample_types: Vec<ValueType>,
    /// The sample type to show if nobody asks for another: an index in `sample_types`.
    pub default_sample_type: Option<usize>,
    /// The functions.
    pub functions: Vec<Function>,
    /// The mappings; the first is the program itself.
    pub mappings: Vec<Mapping>,
    /// The locations.
    pub locations: Vec<Location>,
    /// Lines of all locations.
    pub lines: Vec<SourceLine>,
    /// Locations of all stacks, each leaf first.
    pub(crate) stack_locations: Vec<LocationId>,
    /// Where each stack ends in `stack_locations`.
    pub(crate) stack_ends: Vec<u32>,
    /// Labels of all sets.
    pub(crate) set_labels: Vec<Label>,
    /// Where each set ends in `set_labels`.
    pub(crate) set_ends: Vec<u32>,
    /// The stack of each sample.
    pub(crate) sample_stacks: Vec<CallStackId>,
    /// The labels of each sample.
    pub(crate) sample_labels: Vec<LabelSetId>,
    /// `sample_types.len()` values a sample.
    pub(crate) values: Vec<i64>,
    /// Frames to leave out, with what they call, when the profile is shown: a regular expression, or empty.
    pub drop_frames: StringId,
    /// Frames to show though `drop_frames` matches: a regular expression, or empty.
    pub keep_frames: StringId,
    /// When it began, ns since the epoch.
    pub time_ns: Option<i64>,
    /// How long it took, ns.
    pub duration_ns: Option<i64>,
    /// What happens once a `period`.
    pub period_type: Option<ValueType>,
    /// The distance between two samples, in the unit of `period_type`.
    pub period: Option<i64>,
    /// Free text that came with it.
    pub comments: Vec<StringId>,
    /// Where its documentation stands, or empty.
    pub doc_url: StringId,
}

/// A sample, resolved.
#[derive(Clone, Copy, Debug)]
pub struct StackSample<'a> {
    /// Its stack's number: samples with the same stack have the same.
    pub stack_id: CallStackId,
    /// Its stack, leaf first.
    pub stack: &'a [LocationId],
    /// One value for each of [`Profile::sample_types`].
    pub values: &'a [i64],
    /// Its labels' number.
    pub label_set: LabelSetId,
    /// Its labels.
    pub labels: &'a [Label],
}

impl Profile {
    /// The text of an id; empty for an id that is none of this profile.
    pub fn str(&self, id: StringId) -> &str {
        slice_of(&self.text_ends, id.0).and_then(|range| self.text.get(range)).unwrap_or("")
    }

    /// Makes visible in all texts what a terminal would act upon.
    pub fn show_texts(&mut self) {
        self.replace_texts(visible::line);
    }

    /// Puts what `with` makes of each text in its place.
    pub fn replace_texts(&mut self, with: impl Fn(&str) -> Cow<'_, str>) {
        let (mut text, mut ends) = (String::with_capacity(self.text.len()), Vec::new());
        for id in 0..self.text_ends.len() as u32 {
            let shown = with(self.str(StringId(id)));
            // What stands there may be longer: what cannot be numbered any more is left empty.
            if u32::try_from(text.len() + shown.len()).is_ok() {
                text.push_str(&shown);
            }
            ends.push(text.len() as u32);
        }
        (self.text, self.text_ends) = (text, ends);
    }

    /// True where a text holds what a terminal would act upon.
    pub fn acts(&self) -> bool {
        self.text.contains(visible::acts)
    }

    /// How many texts there are.
    pub fn string_count(&self) -> usize {
        self.text_ends.len()
    }

    /// How many samples there are.
    pub fn sample_count(&self) -> usize {
        self.sample_stacks.len()
    }

    /// How many different stacks there are.
    pub fn stack_count(&self) -> usize {
        self.stack_ends.len()
    }

    /// How many different sets of labels there are, the empty one included.
    pub fn label_set_count(&self) -> usize {
        self.set_ends.len()
    }

    /// A stack's locations, leaf first.
    pub fn stack(&self, id: CallStackId) -> &[LocationId] {
        slice_of(&self.stack_ends, id.0).and_then(|range| self.stack_locations.get(range)).unwrap_or(&[])
    }

    /// A set's labels.
    pub fn labels(&self, id: LabelSetId) -> &[Label] {
        slice_of(&self.set_ends, id.0).and_then(|range| self.set_labels.get(range)).unwrap_or(&[])
    }

    /// The samples, in the source's order.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = StackSample<'_>> {
        (0..self.sample_count()).map(|index| self.sample(index))
    }

    /// One sample. Panics where `index` is not below [`Profile::sample_count`].
    pub fn sample(&self, index: usize) -> StackSample<'_> {
        let width = self.sample_types.len();
        let (stack_id, label_set) = (self.sample_stacks[index], self.sample_labels[index]);
        StackSample {
            stack_id,
            stack: self.stack(stack_id),
            values: &self.values[index * width..(index + 1) * width],
            label_set,
            labels: self.labels(label_set),
        }
    }

    /// How many bytes all but its stacks and samples take.
    pub(crate) fn bytes_without_samples(&self) -> usize {
        self.text.len()
            + size_of_val(&*self.text_ends)
            + size_of_val(&*self.functions)
            + size_of_val(&*self.mappings)
            + size_of_val(&*self.locations)
            + size_of_val(&*self.lines)
            + size_of_val(&*self.set_labels)
            + size_of_val(&*self.set_ends)
    }

    /// A location's lines: the innermost inlined function first; none where there are no symbols.
    pub fn lines_of(&self, id: LocationId) -> &[SourceLine] {
        let Some(location) = self.locations.get(id.0 as usize) else { return &[] };
        let first = location.first_line as usize;
        self.lines.get(first..first + location.line_count as usize).unwrap_or(&[])
    }

    /// A function.
    pub fn function(&self, id: FunctionId) -> Option<&Function> {
        self.functions.get(id.0 as usize)
    }

    /// The sum of one value over all samples; `i64::MAX` at most.
    pub fn total(&self, sample_type: usize) -> i64 {
        self.samples()
            .filter_map(|sample| sample.values.get(sample_type).copied())
            .fold(0, i64::saturating_add)
    }
}

/// The range of entry `index` where `ends` holds the ends of all.
fn slice_of(ends: &[u32], index: u32) -> Option<Range<usize>> {
    let index = index as usize;
    let end = *ends.get(index)? as usize;
    let start = if index == 0 { 0 } else { ends[index - 1] as usize };
    Some(start..end)
}
