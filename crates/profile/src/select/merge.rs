//! Several profiles as one: added, or one subtracted from another (google/pprof, `profile.Merge` and `-diff_base`).

use super::SelectError;
use crate::units;
use hashbrown::HashMap;
use whyslow_model::profile::{
    CallStackId, Function, FunctionId, Label, LabelSetId, LabelValue, Location, LocationId, Mapping,
    MappingId, Profile, ProfileBuilder, SourceLine, StringId, ValueType,
};

/// The label that marks the samples of a base: percentages are of them.
pub const BASE_LABEL: &str = "pprof::base";

/// The sources added, less the base; `marked`: percentages are to be of the base. `normalize` scales the sources to
/// the base's sums. A single source without a base stays as it is.
///
/// # Errors
/// If there is no source, or they do not measure the same.
pub fn combine(
    sources: Vec<Profile>,
    base: Vec<Profile>,
    marked: bool,
    normalize: bool,
) -> Result<Profile, SelectError> {
    let source = add(sources)?;
    if base.is_empty() {
        return Ok(source);
    }
    let base = add(base)?;
    let mut ratios = vec![1.0; source.sample_types.len()];
    if normalize {
        check_same(&source, &base)?;
        for (index, ratio) in ratios.iter_mut().enumerate() {
            let of = |profile: &Profile| -> i64 {
                profile.samples().fold(0, |sum: i64, sample| sum.saturating_add(sample.values[index]))
            };
            *ratio = match of(&source) {
                0 => 0.0,
                sum => of(&base) as f64 / sum as f64,
            };
        }
    }
    let negated = vec![-1.0; base.sample_types.len()];
    let parts = vec![Part::new(source, ratios, false), Part::new(base, negated, marked)];
    merge(parts)
}

fn add(mut profiles: Vec<Profile>) -> Result<Profile, SelectError> {
    match profiles.len() {
        0 => Err(SelectError::Incompatible("there is no profile".to_string())),
        1 => Ok(profiles.swap_remove(0)),
        _ => merge(profiles.into_iter().map(Part::plain).collect()),
    }
}

/// One profile of a sum.
struct Part {
    profile: Profile,
    /// What each value is multiplied by.
    ratios: Vec<f64>,
    marked: bool,
    /// Which of its values is each of the sum's, and what its unit asks to multiply it by.
    columns: Vec<(usize, f64)>,
}

impl Part {
    fn new(profile: Profile, ratios: Vec<f64>, marked: bool) -> Part {
        Part { profile, ratios, marked, columns: Vec::new() }
    }

    fn plain(profile: Profile) -> Part {
        let ratios = vec![1.0; profile.sample_types.len()];
        Part::new(profile, ratios, false)
    }

    fn value(&self, values: &[i64], column: usize) -> i64 {
        let (index, unit) = self.columns[column];
        scaled(scaled(values[index], self.ratios[index]), unit)
    }
}

fn scaled(value: i64, ratio: f64) -> i64 {
    if ratio == 1.0 { value } else { (value as f64 * ratio).round() as i64 }
}

fn check_same(a: &Profile, b: &Profile) -> Result<(), SelectError> {
    let words = |profile: &Profile| -> String {
        let types = profile
            .sample_types
            .iter()
            .map(|value| format!("{}/{}", profile.str(value.kind), profile.str(value.unit)));
        types.collect::<Vec<_>>().join(", ")
    };
    let (a, b) = (words(a), words(b));
    if a == b { Ok(()) } else { Err(SelectError::Incompatible(format!("{a} and {b}"))) }
}

/// `contention` and `contentions` are the same.
fn bare(kind: &str) -> &str {
    kind.strip_suffix('s').unwrap_or(kind)
}

/// Finds the values that all parts have, in the order of the first, and the finest unit of each.
fn align(parts: &mut [Part]) -> Result<Vec<(String, String)>, SelectError> {
    let (first, others) = parts.split_first().ok_or(SelectError::Empty)?;
    let column = |profile: &Profile, kind: &str| {
        let exact = profile.sample_types.iter().position(|value| profile.str(value.kind) == kind);
        exact.or_else(|| {
            profile.sample_types.iter().position(|value| bare(profile.str(value.kind)) == bare(kind))
        })
    };
    let mut types = Vec::new();
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
    for (index, value) in first.profile.sample_types.iter().enumerate() {
        let kind = first.profile.str(value.kind);
        let Some(found) = others.iter().map(|part| column(&part.profile, kind)).collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        let all: Vec<usize> = std::iter::once(index).chain(found).collect();
        let unit_of = |part: usize| {
            let profile = &parts[part].profile;
            profile.str(profile.sample_types[all[part]].unit)
        };
        let finest = (0..parts.len())
            .map(unit_of)
            .reduce(|best, unit| if units::scale(1, unit, best).0 < 1.0 { unit } else { best });
        types.push((kind.to_string(), finest.unwrap_or_default().to_string()));
        all.iter().zip(&mut columns).for_each(|(index, columns)| columns.push(*index));
    }
    if types.is_empty() {
        let kinds = |profile: &Profile| {
            profile
                .sample_types
                .iter()
                .map(|value| profile.str(value.kind).to_string())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let words: Vec<String> = parts.iter().map(|part| kinds(&part.profile)).collect();
        return Err(SelectError::Incompatible(words.join("; ")));
    }
    for (part, columns) in parts.iter_mut().zip(columns) {
        let profile = &part.profile;
        let ratio = |(index, (_, unit)): (usize, &(String, String))| {
            (index, units::scale(1, profile.str(profile.sample_types[index].unit), unit).0)
        };
        part.columns = columns.into_iter().zip(&types).map(ratio).collect();
    }
    Ok(types)
}

/// Adds profiles. Samples of equal stacks and labels are one; those of sum 0 are left out.
fn merge(mut parts: Vec<Part>) -> Result<Profile, SelectError> {
    let types = align(&mut parts)?;
    let mut merger = Merger::default();
    merger.header(&parts, &types)?;
    let width = types.len();
    let mut sums: Vec<i64> = Vec::new();
    let mut keys: Vec<(CallStackId, LabelSetId)> = Vec::new();
    let mut numbers: HashMap<(CallStackId, LabelSetId), usize, foldhash::fast::FixedState> =
        HashMap::default();
    for part in parts {
        let mut map = Mapped::new(&part.profile);
        if merger.builder.profile().mappings.is_empty() && !part.profile.mappings.is_empty() {
            // The first is the program itself.
            merger.mapping(&part.profile, MappingId(0), &mut map)?;
        }
        for sample in part.profile.samples() {
            let value = |column| part.value(sample.values, column);
            if (0..width).all(|column| value(column) == 0) {
                continue;
            }
            let stack = merger.stack(&part.profile, sample.stack_id, &mut map)?;
            let labels = merger.labels(&part.profile, sample.label_set, part.marked, &mut map)?;
            let number = *numbers.entry((stack, labels)).or_insert_with(|| {
                keys.push((stack, labels));
                sums.extend(std::iter::repeat_n(0, width));
                keys.len() - 1
            });
            for column in 0..width {
                let sum = &mut sums[number * width + column];
                *sum = sum.saturating_add(value(column));
            }
        }
    }
    drop(numbers);
    let mut is_balanced = false;
    for (number, (stack, labels)) in keys.iter().enumerate() {
        let values = &sums[number * width..(number + 1) * width];
        if values.iter().any(|value| *value != 0) {
            merger.builder.sample(*stack, *labels, values)?;
        } else {
            is_balanced = true;
        }
    }
    let sum = merger.builder.finish();
    // What only samples had that took each other away goes with them.
    if is_balanced { merge(vec![Part::plain(sum)]) } else { Ok(sum) }
}

/// What makes two mappings the same: size in pages, offset, build id or file.
type MappingKey = (u64, u64, String);
/// What makes two locations the same.
type LocationKey = (Option<MappingId>, u64, bool, Vec<(Option<FunctionId>, i64)>, i64);

#[derive(Default)]
struct Merger {
    builder: ProfileBuilder,
    mappings: HashMap<MappingKey, MappingId>,
    locations: HashMap<LocationKey, LocationId>,
    scratch: Vec<LocationId>,
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
    fn header(&mut self, parts: &[Part], types: &[(String, String)]) -> Result<(), SelectError> {
        let builder = &mut self.builder;
        let mut sample_types = Vec::new();
        for (kind, unit) in types {
            sample_types.push(ValueType { kind: builder.string(kind)?, unit: builder.string(unit)? });
        }
        let mut default = None;
        let (mut time, mut duration, mut period) = (0_i64, 0_i64, 0_i64);
        let mut comments = Vec::new();
        for Part { profile, .. } in parts {
            let begun = profile.time_ns.unwrap_or(0);
            if time == 0 || begun < time {
                time = begun;
            }
            duration = duration.saturating_add(profile.duration_ns.unwrap_or(0));
            period = period.max(profile.period.unwrap_or(0));
            for comment in &profile.comments {
                let id = builder.string(profile.str(*comment))?;
                if !comments.contains(&id) {
                    comments.push(id);
                }
            }
            let named = profile.default_sample_type.and_then(|index| profile.sample_types.get(index));
            let kind = named.map(|value| profile.str(value.kind));
            default = default.or_else(|| types.iter().position(|(known, _)| Some(known.as_str()) == kind));
        }
        let first = &parts[0].profile;
        let mut copy = |id: StringId| builder.string(first.str(id));
        let (drop_frames, keep_frames) = (copy(first.drop_frames)?, copy(first.keep_frames)?);
        let documented = parts.iter().find(|part| !part.profile.str(part.profile.doc_url).is_empty());
        let period_type = match first.period_type {
            Some(of) => Some(ValueType { kind: copy(of.kind)?, unit: copy(of.unit)? }),
            None => None,
        };
        let doc_url = match documented {
            Some(part) => builder.string(part.profile.str(part.profile.doc_url))?,
            None => StringId(0),
        };
        let header = builder.profile();
        header.sample_types = sample_types;
        header.default_sample_type = default;
        header.drop_frames = drop_frames;
        header.keep_frames = keep_frames;
        header.time_ns = (time != 0).then_some(time);
        header.duration_ns = (duration != 0).then_some(duration);
        header.period_type = period_type;
        header.period = parts.iter().any(|part| part.profile.period.is_some()).then_some(period);
        header.comments = comments;
        header.doc_url = doc_url;
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
        let mut lines = Vec::with_capacity(location.line_count as usize);
        for line in profile.lines_of(id) {
            let function = match line.function {
                Some(function) => self.function(profile, function, map)?,
                None => None,
            };
            lines.push(SourceLine { function, ..*line });
        }
        let address = location.address.wrapping_add(mapping.map_or(0, |(_, moved)| moved));
        let mapping = mapping.map(|(mapping, _)| mapping);
        let start = mapping.map_or(0, |mapping| self.builder.profile().mappings[mapping.0 as usize].start);
        let key = (
            mapping,
            address.wrapping_sub(start),
            location.is_folded,
            lines.iter().map(|line| (line.function, line.line)).collect(),
            // pprof's key has the column of the last line alone.
            lines.last().map_or(0, |line| line.column),
        );
        let new = match self.locations.get(&key) {
            Some(known) => *known,
            None => {
                let new = self.builder.location(Location { mapping, address, ..location }, &lines)?;
                *self.locations.entry(key).or_insert(new)
            }
        };
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
        let mut locations = std::mem::take(&mut self.scratch);
        locations.clear();
        for location in profile.stack(id) {
            locations.push(self.location(profile, *location, map)?);
        }
        let new = self.builder.stack(&locations)?;
        self.scratch = locations;
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
