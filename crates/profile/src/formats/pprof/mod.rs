//! pprof's protocol buffers (`profile.proto` of github.com/google/pprof), as Go, gperftools, async-profiler, parca and many others
//! write them. One pass: samples are kept as they come, and what they point at is looked up when the file has ended.

mod ids;
mod link;
#[cfg(test)]
mod tests;
mod wire;

use super::bytes::Bytes;
use super::error::{FilePlace, ReadError};
use super::{Loaded, ProfileFormat};
use ids::{IdIndex, ShortIds};
use whyslow_model::ProfileBuilder;
use whyslow_model::profile::{
    CallStackId, Label, LabelSetId, LabelValue, LocationId, ProfileDamage, StringId, ValueType,
};
use wire::{Fields, Value, WireError, varint};

pub(super) static PPROF: ProfileFormat = ProfileFormat {
    name: "pprof",
    made_by: "go test -cpuprofile, net/http/pprof, perf_to_profile, gperftools",
    sniff,
    read,
};

/// The wire type of each field of `Profile`: 2 for messages and texts, 0 for numbers. `comment` may be packed or not.
fn wire_type_fits(field: u64, wire_type: u64) -> bool {
    match field {
        1..=6 | 11 => wire_type == 2,
        7..=10 | 12 | 14 | 15 => wire_type == 0,
        13 => wire_type == 0 || wire_type == 2,
        _ => false,
    }
}

/// The first fields are those of a profile, with their wire types. Text breaks this at its second letter.
fn sniff(head: &[u8]) -> bool {
    let mut rest = head;
    let mut fields = 0;
    // Go's profiles of CPUs begin with a time. A number alone, and one before a text, are no profile.
    let mut enough = 1;
    while !rest.is_empty() && fields < 8 {
        let Ok(tag) = varint(&mut rest) else { break };
        if !wire_type_fits(tag >> 3, tag & 7) {
            return fields >= 4;
        }
        if fields == 0 && tag & 7 == 0 {
            enough = 2;
        }
        let Ok(value) = varint(&mut rest) else { break };
        if tag & 7 == 2 {
            // A message that goes beyond the head is believed: what it claims is checked when it is read.
            let Some(behind) = rest.get(usize::try_from(value).unwrap_or(usize::MAX)..) else {
                return fields >= enough;
            };
            let is_message = !matches!(tag >> 3, 6 | 13);
            if is_message && !is_made_of_fields(&rest[..rest.len() - behind.len()]) {
                return fields >= 4;
            }
            rest = behind;
        }
        fields += 1;
    }
    fields >= enough
}

fn is_made_of_fields(message: &[u8]) -> bool {
    let mut fields = Fields::of(message);
    loop {
        match fields.next() {
            Ok(Some((number, _))) if number > 0 => {}
            Ok(None) => return true,
            _ => return false,
        }
    }
}

/// A function as the file has it: texts by their index in the file's table.
#[derive(Clone, Copy, Default)]
struct RawFunction {
    id: u64,
    name: u64,
    system_name: u64,
    file: u64,
    start_line: i64,
}

#[derive(Clone, Copy, Default)]
struct RawMapping {
    id: u64,
    start: u64,
    limit: u64,
    offset: u64,
    file: u64,
    build_id: u64,
    has: [bool; 4],
}

#[derive(Clone, Copy, Default)]
struct RawLocation {
    id: u64,
    mapping: u64,
    address: u64,
    first_line: u32,
    line_count: u32,
    is_folded: bool,
}

#[derive(Clone, Copy, Default)]
struct RawLine {
    function: u64,
    line: i64,
    column: i64,
}

/// A file half read.
struct Decoder {
    builder: ProfileBuilder,
    short_ids: ShortIds,
    /// By the file's index.
    strings: Vec<StringId>,
    functions: Vec<RawFunction>,
    mappings: Vec<RawMapping>,
    locations: Vec<RawLocation>,
    lines: Vec<RawLine>,
    sample_types: Vec<[u64; 2]>,
    /// How many values the samples have, from the first on.
    width: Option<usize>,
    period_type: Option<[u64; 2]>,
    drop_frames: u64,
    keep_frames: u64,
    comments: Vec<u64>,
    default_sample_type: u64,
    doc_url: u64,
    // Of one sample at a time.
    stack: Vec<LocationId>,
    values: Vec<i64>,
    labels: Vec<Label>,
}

fn read(bytes: &mut Bytes<'_>) -> Result<Loaded, ReadError> {
    let mut decoder = Decoder::new();
    loop {
        let start = FilePlace::Byte(bytes.offset());
        if bytes.want(20)? == 0 {
            break;
        }
        let mut ahead = bytes.ahead();
        let before = ahead.len();
        let cut = |error: WireError| cut_or_malformed(error, before < 20, start);
        let tag = varint(&mut ahead).map_err(cut)?;
        let (field, wire_type) = (tag >> 3, tag & 7);
        match wire_type {
            0 => {
                let value = varint(&mut ahead).map_err(cut)?;
                let taken = before - ahead.len();
                bytes.take(taken);
                decoder.field(field, Value::Varint(value)).map_err(|error| error.at(start))?;
            }
            2 => {
                let length = varint(&mut ahead).map_err(cut)?;
                let taken = before - ahead.len();
                bytes.take(taken);
                let there = bytes.want(length).map_err(|error| error.at(start))?;
                if (there as u64) < length {
                    return Err(cut_or_malformed(
                        WireError::Length { claimed: length, left: there },
                        true,
                        start,
                    ));
                }
                let length = length as usize;
                decoder
                    .field(field, Value::Bytes(&bytes.ahead()[..length]))
                    .map_err(|error| error.at(start))?;
                bytes.take(length);
            }
            1 | 5 => {
                let taken = before - ahead.len() + if wire_type == 1 { 8 } else { 4 };
                if taken > before {
                    return Err(cut_or_malformed(WireError::Varint, true, start));
                }
                bytes.take(taken);
                decoder.field(field, Value::Fixed).map_err(|error| error.at(start))?;
            }
            _ => return Err(ReadError::from(WireError::Type { field, wire_type }).at(start)),
        }
    }
    let size = bytes.offset();
    let profile = decoder.link(size)?;
    Ok(Loaded::stacks(PPROF.name, profile))
}

fn cut_or_malformed(error: WireError, at_end: bool, start: FilePlace) -> ReadError {
    let damage = match (at_end, start) {
        (true, FilePlace::Byte(bytes)) => ProfileDamage::Cut { bytes },
        _ => ProfileDamage::Malformed,
    };
    ReadError::new(damage, format!("the profile ends in the middle of a piece: {error}")).at(start)
}

impl From<WireError> for ReadError {
    fn from(error: WireError) -> ReadError {
        ReadError::malformed(error.to_string()).expected("a message of profile.proto")
    }
}

impl Decoder {
    fn new() -> Decoder {
        Decoder {
            builder: ProfileBuilder::new(),
            short_ids: ShortIds::default(),
            strings: Vec::new(),
            functions: Vec::new(),
            mappings: Vec::new(),
            locations: Vec::new(),
            lines: Vec::new(),
            sample_types: Vec::new(),
            width: None,
            period_type: None,
            drop_frames: 0,
            keep_frames: 0,
            comments: Vec::new(),
            default_sample_type: 0,
            doc_url: 0,
            stack: Vec::new(),
            values: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// A field of the profile itself.
    fn field(&mut self, field: u64, value: Value<'_>) -> Result<(), ReadError> {
        self.builder.spend(match field {
            1 => size_of::<[u64; 2]>(),
            3 => size_of::<RawMapping>() + IdIndex::ENTRY,
            4 => size_of::<RawLocation>() + IdIndex::ENTRY,
            5 => size_of::<RawFunction>() + IdIndex::ENTRY,
            6 => size_of::<StringId>(),
            _ => 0,
        })?;
        match field {
            1 => {
                let value_type = value_type(value.bytes(field)?)?;
                self.sample_types.push(value_type);
            }
            2 => self.sample(value.bytes(field)?)?,
            3 => self.mapping(value.bytes(field)?)?,
            4 => self.location(value.bytes(field)?)?,
            5 => self.function(value.bytes(field)?)?,
            6 => {
                let text = String::from_utf8_lossy(value.bytes(field)?);
                if self.strings.is_empty() && !text.is_empty() {
                    return Err(ReadError::malformed(format!("the first text is {text:?}"))
                        .expected("an empty one, as profile.proto demands"));
                }
                self.strings.push(self.builder.string(&text)?);
            }
            7 => self.drop_frames = value.number(field)?,
            8 => self.keep_frames = value.number(field)?,
            9 => {
                let time = value.number(field)? as i64;
                let known = &mut self.builder.profile().time_ns;
                if known.is_some() {
                    return Err(ReadError::malformed(
                        "several profiles stand in this file, one behind the other",
                    )
                    .expected("one profile a file"));
                }
                *known = (time != 0).then_some(time);
            }
            10 => self.builder.profile().duration_ns = not_zero(value.number(field)?),
            11 => self.period_type = Some(value_type(value.bytes(field)?)?),
            12 => self.builder.profile().period = not_zero(value.number(field)?),
            13 => {
                let before = self.comments.len();
                value.numbers(field, |comment| self.comments.push(comment))?;
                self.builder.spend((self.comments.len() - before) * size_of::<(u64, StringId)>())?;
            }
            14 => self.default_sample_type = value.number(field)?,
            15 => self.doc_url = value.number(field)?,
            _ => {}
        }
        Ok(())
    }

    fn sample(&mut self, message: &[u8]) -> Result<(), ReadError> {
        self.stack.clear();
        self.values.clear();
        self.labels.clear();
        let mut fields = Fields::of(message);
        while let Some((field, value)) = fields.next()? {
            match field {
                1 => {
                    let large = self.short_ids.large();
                    value.numbers(field, |id| self.stack.push(LocationId(self.short_ids.shorten(id))))?;
                    self.builder.spend((self.short_ids.large() - large) * IdIndex::ENTRY)?;
                }
                2 => value.numbers(field, |value| self.values.push(value as i64))?,
                3 => self.labels.extend(label(value.bytes(field)?)?),
                _ => {}
            }
        }
        match self.width {
            None => {
                // The types may stand behind the samples: their number is checked in the end.
                self.width = Some(self.values.len());
                self.builder.spend(self.values.len() * size_of::<ValueType>())?;
                self.builder.profile().sample_types = vec![ValueType::default(); self.values.len()];
            }
            Some(width) if width != self.values.len() => {
                return Err(ReadError::malformed(format!("a sample has {} values", self.values.len()))
                    .expected(format!("{width}, as the samples before")));
            }
            Some(_) => {}
        }
        let stack: CallStackId = self.builder.stack(&self.stack)?;
        let labels =
            if self.labels.is_empty() { LabelSetId(0) } else { self.builder.label_set(&self.labels)? };
        self.builder.sample(stack, labels, &self.values)?;
        Ok(())
    }

    fn mapping(&mut self, message: &[u8]) -> Result<(), ReadError> {
        let mut mapping = RawMapping::default();
        let mut fields = Fields::of(message);
        while let Some((field, value)) = fields.next()? {
            match field {
                1 => mapping.id = value.number(field)?,
                2 => mapping.start = value.number(field)?,
                3 => mapping.limit = value.number(field)?,
                4 => mapping.offset = value.number(field)?,
                5 => mapping.file = value.number(field)?,
                6 => mapping.build_id = value.number(field)?,
                7..=10 => mapping.has[(field - 7) as usize] = value.number(field)? != 0,
                _ => {}
            }
        }
        self.mappings.push(mapping);
        Ok(())
    }

    fn location(&mut self, message: &[u8]) -> Result<(), ReadError> {
        let first_line = u32::try_from(self.lines.len())
            .map_err(|_| ReadError::new(ProfileDamage::TooLarge, "more than 4 billion lines"))?;
        let mut location = RawLocation { first_line, ..RawLocation::default() };
        let mut fields = Fields::of(message);
        while let Some((field, value)) = fields.next()? {
            match field {
                1 => location.id = value.number(field)?,
                2 => location.mapping = value.number(field)?,
                3 => location.address = value.number(field)?,
                4 => {
                    self.builder.spend(size_of::<RawLine>())?;
                    self.lines.push(line(value.bytes(field)?)?);
                    location.line_count += 1;
                }
                5 => location.is_folded = value.number(field)? != 0,
                _ => {}
            }
        }
        self.locations.push(location);
        Ok(())
    }

    fn function(&mut self, message: &[u8]) -> Result<(), ReadError> {
        let mut function = RawFunction::default();
        let mut fields = Fields::of(message);
        while let Some((field, value)) = fields.next()? {
            match field {
                1 => function.id = value.number(field)?,
                2 => function.name = value.number(field)?,
                3 => function.system_name = value.number(field)?,
                4 => function.file = value.number(field)?,
                5 => function.start_line = value.number(field)? as i64,
                _ => {}
            }
        }
        self.functions.push(function);
        Ok(())
    }
}

fn not_zero(value: u64) -> Option<i64> {
    (value != 0).then_some(value as i64)
}

fn value_type(message: &[u8]) -> Result<[u64; 2], WireError> {
    let mut value_type = [0; 2];
    let mut fields = Fields::of(message);
    while let Some((field, value)) = fields.next()? {
        if let 1 | 2 = field {
            value_type[field as usize - 1] = value.number(field)?;
        }
    }
    Ok(value_type)
}

fn line(message: &[u8]) -> Result<RawLine, WireError> {
    let mut line = RawLine::default();
    let mut fields = Fields::of(message);
    while let Some((field, value)) = fields.next()? {
        match field {
            1 => line.function = value.number(field)?,
            2 => line.line = value.number(field)? as i64,
            3 => line.column = value.number(field)? as i64,
            _ => {}
        }
    }
    Ok(line)
}

/// A label, its texts by their index in the file. None where it says nothing: pprof drops a number 0 without a unit.
fn label(message: &[u8]) -> Result<Option<Label>, ReadError> {
    let [mut key, mut text, mut number, mut unit] = [0u64; 4];
    let mut fields = Fields::of(message);
    while let Some((field, value)) = fields.next()? {
        match field {
            1 => key = value.number(field)?,
            2 => text = value.number(field)?,
            3 => number = value.number(field)?,
            4 => unit = value.number(field)?,
            _ => {}
        }
    }
    let raw = |index: u64| {
        u32::try_from(index)
            .map(StringId)
            .map_err(|_| ReadError::malformed(format!("a label names text {index}")))
    };
    let value = if text != 0 {
        LabelValue::Text(raw(text)?)
    } else if number != 0 || unit != 0 {
        LabelValue::Number(number as i64, raw(unit)?)
    } else {
        return Ok(None);
    };
    Ok(Some(Label { key: raw(key)?, value }))
}
