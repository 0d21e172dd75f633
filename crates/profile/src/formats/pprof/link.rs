//! The end of reading: every number of the file becomes an index of the profile, and one that points at nothing refuses the file.

use super::ids::IdIndex;
use super::{Decoder, RawFunction, RawLine, RawLocation, RawMapping, ReadError};
use whyslow_model::Profile;
use whyslow_model::profile::{
    Function, FunctionId, Label, LabelValue, Location, LocationId, Mapping, MappingId, ProfileDamage,
    SourceLine, StringId, ValueType,
};

/// The file's texts by their index in the file.
struct Texts(Vec<StringId>);

impl Texts {
    fn get(&self, index: u64, of: &str) -> Result<StringId, ReadError> {
        // Negative numbers are large ones here.
        let known = usize::try_from(index).ok().and_then(|index| self.0.get(index)).copied();
        known.ok_or_else(|| {
            ReadError::malformed(format!("{of} names text {}", index as i64))
                .expected(format!("one of the {} texts of the file", self.0.len()))
        })
    }

    fn value_type(&self, [kind, unit]: [u64; 2]) -> Result<ValueType, ReadError> {
        Ok(ValueType { kind: self.get(kind, "a value type")?, unit: self.get(unit, "a value type")? })
    }
}

impl Decoder {
    /// Checks and links what was read of a file of `size` bytes.
    pub(super) fn link(mut self, size: u64) -> Result<Profile, ReadError> {
        let texts = Texts(std::mem::take(&mut self.strings));
        if texts.0.is_empty() {
            // The table of texts comes last: without it nothing in the file has a name.
            let what = format!("no texts in {size} bytes: the end of the profile is missing");
            return Err(ReadError::new(ProfileDamage::Cut { bytes: size }, what));
        }
        let mappings = self.link_mappings(&texts)?;
        let functions = self.link_functions(&texts)?;
        let locations = self.link_locations(&mappings, &functions)?;
        self.link_samples(&texts, &locations)?;
        self.link_rest(&texts)?;
        Ok(self.builder.finish())
    }

    fn link_mappings(&mut self, texts: &Texts) -> Result<IdIndex, ReadError> {
        let mut index = IdIndex::default();
        for raw in std::mem::take(&mut self.mappings) {
            let RawMapping { id, start, limit, offset, file, build_id, has } = raw;
            let [has_functions, has_filenames, has_line_numbers, has_inline_frames] = has;
            let mapping = Mapping {
                start,
                limit,
                offset,
                file: texts.get(file, "a mapping")?,
                build_id: texts.get(build_id, "a mapping")?,
                has_functions,
                has_filenames,
                has_line_numbers,
                has_inline_frames,
            };
            let given = self.builder.mapping(mapping)?;
            own_id(&mut index, id, given.0, "mapping")?;
        }
        Ok(index)
    }

    fn link_functions(&mut self, texts: &Texts) -> Result<IdIndex, ReadError> {
        let mut index = IdIndex::default();
        for raw in std::mem::take(&mut self.functions) {
            let RawFunction { id, name, system_name, file, start_line } = raw;
            let function = Function {
                name: texts.get(name, "a function")?,
                system_name: texts.get(system_name, "a function")?,
                file: texts.get(file, "a function")?,
                start_line,
            };
            let given = self.builder.function(function)?;
            own_id(&mut index, id, given.0, "function")?;
        }
        Ok(index)
    }

    fn link_locations(&mut self, mappings: &IdIndex, functions: &IdIndex) -> Result<IdIndex, ReadError> {
        let mut index = IdIndex::default();
        let mut lines = Vec::new();
        let raw_lines = std::mem::take(&mut self.lines);
        for raw in std::mem::take(&mut self.locations) {
            let RawLocation { id, mapping, address, first_line, line_count, is_folded } = raw;
            lines.clear();
            for raw in &raw_lines[first_line as usize..(first_line + line_count) as usize] {
                let RawLine { function, line, column } = *raw;
                let function = match function {
                    0 => None,
                    id => Some(
                        functions
                            .get(id)
                            .map(FunctionId)
                            .ok_or_else(|| missing("location", "function", id))?,
                    ),
                };
                lines.push(SourceLine { function, line, column });
            }
            let mapping = mappings.get(mapping).map(MappingId);
            let location = Location { mapping, address, is_folded, ..Location::default() };
            let given = self.builder.location(location, &lines)?;
            own_id(&mut index, id, given.0, "location")?;
        }
        Ok(index)
    }

    fn link_samples(&mut self, texts: &Texts, locations: &IdIndex) -> Result<(), ReadError> {
        let short_ids = std::mem::take(&mut self.short_ids);
        let location = |short: LocationId| {
            let id = short_ids.lengthen(short.0);
            locations.get(id).map(LocationId).ok_or_else(|| missing("sample", "location", id))
        };
        let text = |raw: StringId| texts.get(raw.0.into(), "a label");
        let label = |raw: Label| {
            let value = match raw.value {
                LabelValue::Text(value) => LabelValue::Text(text(value)?),
                LabelValue::Number(value, unit) => LabelValue::Number(value, text(unit)?),
            };
            Ok(Label { key: text(raw.key)?, value })
        };
        self.builder.relink(location, label)?;
        let types = self.sample_types.len();
        match self.width {
            Some(_) if types == 0 => Err(ReadError::malformed("no sample types")
                .expected("one for each value of a sample, as profile.proto demands")),
            Some(width) if width != types => Err(ReadError::malformed(format!("{width} values a sample"))
                .expected(format!("{types}, one for each sample type"))),
            _ => Ok(()),
        }
    }

    fn link_rest(&mut self, texts: &Texts) -> Result<(), ReadError> {
        let sample_types =
            self.sample_types.iter().map(|raw| texts.value_type(*raw)).collect::<Result<Vec<_>, _>>()?;
        let default = texts.get(self.default_sample_type, "the default sample type")?;
        let period_type = self.period_type.map(|raw| texts.value_type(raw)).transpose()?;
        let comments = self.comments.iter().map(|raw| texts.get(*raw, "a comment"));
        let comments = comments.collect::<Result<Vec<_>, _>>()?;
        let profile = self.builder.profile();
        profile.default_sample_type = match default {
            StringId(0) => None,
            kind => sample_types.iter().position(|known| known.kind == kind),
        };
        profile.sample_types = sample_types;
        profile.period_type = period_type;
        profile.comments = comments;
        profile.drop_frames = texts.get(self.drop_frames, "drop_frames")?;
        profile.keep_frames = texts.get(self.keep_frames, "keep_frames")?;
        profile.doc_url = texts.get(self.doc_url, "the documentation")?;
        Ok(())
    }
}

fn own_id(index: &mut IdIndex, id: u64, given: u32, of: &str) -> Result<(), ReadError> {
    if id == 0 {
        return Err(ReadError::malformed(format!("a {of} has the number 0")).expected("a number from 1"));
    }
    if !index.insert(id, given) {
        return Err(ReadError::malformed(format!("two of the kind {of} have the number {id}"))
            .expected("a number each"));
    }
    Ok(())
}

fn missing(whose: &str, what: &str, id: u64) -> ReadError {
    ReadError::malformed(format!("a {whose} names {what} {id}")).expected("one that the file defines")
}
