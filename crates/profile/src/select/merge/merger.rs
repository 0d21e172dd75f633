//! The sum of profiles, one after the other: their texts, functions, mappings and locations become those of the sum.

use super::{BASE_LABEL, Part, SelectError};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};
use whyslow_model::profile::{
    CallStackId, Function, FunctionId, HashIndex, Label, LabelSetId, LabelValue, Location, LocationId,
    Mapping, MappingId, Profile, ProfileBuilder, SourceLine, StringId, ValueType,
};

/// What makes two mappings the same: size in pages, offset, build id or file.
type MappingKey = (u64, u64, String);

/// A sum that grows.
pub(super) struct Merger {
    builder: ProfileBuilder,
    /// Whether a part has come.
    has_begun: bool,
    mappings: HashMap<MappingKey, MappingId>,
    locations: HashIndex,
    hasher: RandomState,
    stack: Vec<LocationId>,
    lines: Vec<SourceLine>,
}

/// Numbers of one profile in the sum, as far as they are known.
struct Mapped {
    strings: Vec<Option<StringId>>,
    functions: Vec<Option<FunctionId>>,
    /// With what is to be added to addresses.
    mappings: Vec<Option<(MappingId, u64)>>,
    locations: Vec<Option<LocationId>>,
    stacks: Vec<Option<CallStackId>>,
    label_sets: Vec<Option<LabelSetId>>,
}

impl Mapped {
    fn new(profile: &Profile) -> Mapped {
        Mapped {
            strings: vec![None; profile.string_count()],
            functions: vec![None; profile.functions.len()],
            mappings: vec![None; profile.mappings.len()],
            locations: vec![None; profile.locations.len()],
            stacks: vec![None; profile.stack_count()],
            label_sets: vec![None; profile.label_set_count()],
        }
    }
}

impl Merger {
    /// A sum of values of these kinds and units.
    pub(super) fn new(types: &[(String, String)]) -> Result<Merger, SelectError> {
        let mut builder = ProfileBuilder::new();
        let mut sample_types = Vec::new();
        for (kind, unit) in types {
            sample_types.push(ValueType { kind: builder.string(kind)?, unit: builder.string(unit)? });
        }
        builder.profile().sample_types = sample_types;
        Ok(Merger {
            builder,
            has_begun: false,
            mappings: HashMap::default(),
            locations: HashIndex::default(),
            hasher: RandomState::default(),
            stack: Vec::new(),
            lines: Vec::new(),
        })
    }

    /// Adds a part. Samples of equal stacks and labels are one.
    pub(super) fn add(&mut self, part: Part) -> Result<(), SelectError> {
        let profile = &part.profile;
        self.header(profile)?;
        let mut map = Mapped::new(profile);
        if self.builder.profile().mappings.is_empty() && !profile.mappings.is_empty() {
            // The first is the program itself.
            self.mapping(profile, MappingId(0), &mut map)?;
        }
        let mut values = vec![0; part.columns.len()];
        for sample in profile.samples() {
            for (column, value) in values.iter_mut().enumerate() {
                *value = part.value(sample.values, column);
            }
            if values.iter().all(|value| *value == 0) {
                continue;
            }
            let stack = self.stack(profile, sample.stack_id, &mut map)?;
            let labels = self.labels(profile, sample.label_set, part.marked, &mut map)?;
            self.builder.add(stack, labels, &values)?;
        }
        Ok(())
    }

    /// The sum, without samples of sum 0 and what only they had.
    pub(super) fn finish(mut self) -> Result<Profile, SelectError> {
        let is_balanced = self.builder.drop_empty_samples();
        let sum = self.builder.finish();
        if !is_balanced || is_in_order(&sum) {
            return Ok(sum);
        }
        let mut left = Merger::new(&super::value_types(&sum))?;
        left.add(Part::unchanged(sum))?;
        Ok(left.builder.finish())
    }

    /// What stands at the head of the sum.
    fn header(&mut self, part: &Profile) -> Result<(), SelectError> {
        let builder = &mut self.builder;
        let mut copy = |id: StringId| builder.string(part.str(id));
        let (drop_frames, keep_frames) = (copy(part.drop_frames)?, copy(part.keep_frames)?);
        let doc_url = copy(part.doc_url)?;
        let period_type = match part.period_type {
            Some(of) => Some(ValueType { kind: copy(of.kind)?, unit: copy(of.unit)? }),
            None => None,
        };
        let comments = part.comments.iter().map(|id| copy(*id)).collect::<Result<Vec<_>, _>>()?;
        let default = part.default_sample_type.and_then(|index| part.sample_types.get(index));
        let default = default.map(|value| copy(value.kind)).transpose()?;
        let sum = self.builder.profile();
        if !std::mem::replace(&mut self.has_begun, true) {
            (sum.drop_frames, sum.keep_frames) = (drop_frames, keep_frames);
            sum.period_type = period_type;
            sum.time_ns = part.time_ns;
        } else if sum.time_ns.is_none() || part.time_ns.unwrap_or(0) < sum.time_ns.unwrap_or(0) {
            // As in pprof: who does not know its time makes the next one's count.
            sum.time_ns = part.time_ns;
        }
        if sum.doc_url == StringId(0) {
            sum.doc_url = doc_url;
        }
        let duration = sum.duration_ns.unwrap_or(0).saturating_add(part.duration_ns.unwrap_or(0));
        sum.duration_ns = (duration != 0).then_some(duration);
        sum.period = sum.period.max(part.period);
        for comment in comments {
            if !sum.comments.contains(&comment) {
                sum.comments.push(comment);
            }
        }
        sum.default_sample_type = sum
            .default_sample_type
            .or_else(|| sum.sample_types.iter().position(|value| Some(value.kind) == default));
        Ok(())
    }

    fn string(&mut self, profile: &Profile, id: StringId, map: &mut Mapped) -> Result<StringId, SelectError> {
        let Some(slot) = map.strings.get_mut(id.0 as usize) else { return Ok(StringId(0)) };
        match *slot {
            Some(known) => Ok(known),
            None => Ok(*slot.insert(self.builder.string(profile.str(id))?)),
        }
    }

    fn function(
        &mut self,
        profile: &Profile,
        id: FunctionId,
        map: &mut Mapped,
    ) -> Result<Option<FunctionId>, SelectError> {
        let (Some(function), Some(slot)) = (profile.function(id), map.functions.get(id.0 as usize)) else {
            return Ok(None);
        };
        if slot.is_some() {
            return Ok(*slot);
        }
        let function = Function {
            name: self.string(profile, function.name, map)?,
            system_name: self.string(profile, function.system_name, map)?,
            file: self.string(profile, function.file, map)?,
            start_line: function.start_line,
        };
        let new = self.builder.function(function)?;
        map.functions[id.0 as usize] = Some(new);
        Ok(Some(new))
    }

    fn mapping(
        &mut self,
        profile: &Profile,
        id: MappingId,
        map: &mut Mapped,
    ) -> Result<Option<(MappingId, u64)>, SelectError> {
        /// Mappings of one file may differ by less than a page.
        const PAGE: u64 = 0x1000;
        let (Some(mapping), Some(slot)) =
            (profile.mappings.get(id.0 as usize), map.mappings.get(id.0 as usize))
        else {
            return Ok(None);
        };
        if slot.is_some() {
            return Ok(*slot);
        }
        let pages = mapping.limit.wrapping_sub(mapping.start).div_ceil(PAGE);
        let build_id = profile.str(mapping.build_id);
        let name = if build_id.is_empty() { profile.str(mapping.file) } else { build_id };
        let key = (pages, mapping.offset, name.to_string());
        let new = match self.mappings.get(&key) {
            Some(known) => *known,
            None => {
                let file = self.string(profile, mapping.file, map)?;
                let build_id = self.string(profile, mapping.build_id, map)?;
                let new = self.builder.mapping(Mapping { file, build_id, ..*mapping })?;
                *self.mappings.entry(key).or_insert(new)
            }
        };
        let moved = self.builder.profile().mappings[new.0 as usize].start.wrapping_sub(mapping.start);
        map.mappings[id.0 as usize] = Some((new, moved));
        Ok(Some((new, moved)))
    }

    fn location(
        &mut self,
        profile: &Profile,
        id: LocationId,
        map: &mut Mapped,
    ) -> Result<LocationId, SelectError> {
        if let Some(Some(known)) = map.locations.get(id.0 as usize) {
            return Ok(*known);
        }
        let location = profile.locations.get(id.0 as usize).copied().unwrap_or_default();
        let mapping = match location.mapping {
            Some(mapping) => self.mapping(profile, mapping, map)?,
            None => None,
        };
        let mut lines = std::mem::take(&mut self.lines);
        lines.clear();
        for line in profile.lines_of(id) {
            let function = match line.function {
                Some(function) => self.function(profile, function, map)?,
                None => None,
            };
            lines.push(SourceLine { function, ..*line });
        }
        let address = location.address.wrapping_add(mapping.map_or(0, |(_, moved)| moved));
        let mapping = mapping.map(|(mapping, _)| mapping);
        let location = Location { mapping, address, ..location };
        let sum = self.builder.profile();
        let next = sum.locations.len() as u32;
        let hash = hash(&self.hasher, &location, &lines);
        let is_same = |id| {
            sum.locations
                .get(id as usize)
                .is_some_and(|known| is_same(&location, &lines, known, sum.lines_of(LocationId(id))))
        };
        let new = LocationId(self.locations.number(hash, next, is_same));
        if new.0 == next {
            self.builder.location(location, &lines)?;
        }
        self.lines = lines;
        if let Some(slot) = map.locations.get_mut(id.0 as usize) {
            *slot = Some(new);
        }
        Ok(new)
    }

    fn stack(
        &mut self,
        profile: &Profile,
        id: CallStackId,
        map: &mut Mapped,
    ) -> Result<CallStackId, SelectError> {
        if let Some(Some(known)) = map.stacks.get(id.0 as usize) {
            return Ok(*known);
        }
        let mut locations = std::mem::take(&mut self.stack);
        locations.clear();
        for location in profile.stack(id) {
            locations.push(self.location(profile, *location, map)?);
        }
        let new = self.builder.stack(&locations)?;
        self.stack = locations;
        if let Some(slot) = map.stacks.get_mut(id.0 as usize) {
            *slot = Some(new);
        }
        Ok(new)
    }

    /// A set of labels, sorted by key: sets are equal whatever the order in which a source writes them.
    fn labels(
        &mut self,
        profile: &Profile,
        id: LabelSetId,
        marked: bool,
        map: &mut Mapped,
    ) -> Result<LabelSetId, SelectError> {
        if let Some(Some(known)) = map.label_sets.get(id.0 as usize) {
            return Ok(*known);
        }
        let mut sorted: Vec<&Label> = profile.labels(id).iter().collect();
        sorted.sort_by_key(|label| (matches!(label.value, LabelValue::Number(..)), profile.str(label.key)));
        let mut labels = Vec::with_capacity(sorted.len() + 1);
        for label in sorted {
            let value = match label.value {
                LabelValue::Text(text) => LabelValue::Text(self.string(profile, text, map)?),
                LabelValue::Number(number, unit) => {
                    LabelValue::Number(number, self.string(profile, unit, map)?)
                }
            };
            labels.push(Label { key: self.string(profile, label.key, map)?, value });
        }
        if marked {
            let (key, value) = (self.builder.string(BASE_LABEL)?, self.builder.string("true")?);
            labels.push(Label { key, value: LabelValue::Text(value) });
        }
        let new = self.builder.label_set(&labels)?;
        if let Some(slot) = map.label_sets.get_mut(id.0 as usize) {
            *slot = Some(new);
        }
        Ok(new)
    }
}

/// What makes two locations the same: pprof looks at the column of the last line alone.
fn is_same(one: &Location, lines: &[SourceLine], other: &Location, other_lines: &[SourceLine]) -> bool {
    let place = |location: &Location| (location.mapping, location.address, location.is_folded);
    let names = |line: &SourceLine| (line.function, line.line);
    let column = |lines: &[SourceLine]| lines.last().map_or(0, |line| line.column);
    place(one) == place(other)
        && lines.iter().map(names).eq(other_lines.iter().map(names))
        && column(lines) == column(other_lines)
}

fn hash(hasher: &RandomState, location: &Location, lines: &[SourceLine]) -> u64 {
    let mut hasher = hasher.build_hasher();
    (location.mapping, location.address).hash(&mut hasher);
    lines.iter().for_each(|line| (line.function, line.line).hash(&mut hasher));
    hasher.finish()
}

/// Whether the samples use all locations, each for the first time in their order: then nothing has to be left out, and all
/// stands where it would if what is not there had never come.
fn is_in_order(profile: &Profile) -> bool {
    let mut used = 0;
    for sample in profile.samples() {
        for location in sample.stack {
            match location.0 {
                next if next == used => used += 1,
                next if next > used => return false,
                _ => {}
            }
        }
    }
    used as usize == profile.locations.len()
}
