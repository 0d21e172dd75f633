//! `otlp`: the profile as OpenTelemetry's protocol buffer: one `ProfilesData`, which has the same fields as a request to export
//! (`opentelemetry/proto/profiles/v1development/profiles.proto` of github.com/open-telemetry/opentelemetry-proto, 1.10).

use super::report::PreparedProfile;
use super::{Needs, ProfileView, ViewError};
use crate::protobuf::ProtoMessage;
use hashbrown::HashMap;
use std::io::{self, Write};
use whyslow_model::profile::{
    CallStackId, Label, LabelSetId, LabelValue, LocationId, Profile, StringId, ValueType,
};

/// The view.
pub(super) static VIEW: ProfileView = ProfileView {
    name: "otlp",
    about: "the profile as OpenTelemetry's protocol buffer (with -o FILE)",
    needs: Needs { everything: true, binary: true, escapes: true, ..Needs::NOTHING },
    write,
};

/// The name of the instrumentation.
const SCOPE: &str = "whyslow";
/// The key of a mapping's build id (OpenTelemetry's semantic conventions for profiles).
const BUILD_ID: &str = "process.executable.build_id.gnu";

fn write(report: &PreparedProfile<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    write_otlp(report, &[], out)
}

/// Writes a profile of what `resource` says: a `Resource` of OpenTelemetry, encoded; empty where nothing is known of it.
///
/// # Errors
/// If it cannot be written.
pub fn write_otlp(
    report: &PreparedProfile<'_>,
    resource: &[u8],
    out: &mut dyn Write,
) -> Result<(), ViewError> {
    let profile: &Profile = &report.profile;
    let mut dictionary = Dictionary::of(profile);
    let (mut group, mut scope_profiles, mut scope) =
        (ProtoMessage::default(), ProtoMessage::default(), ProtoMessage::default());
    scope.bytes(1, SCOPE.as_bytes());
    scope.bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
    scope_profiles.bytes(1, &scope.0);
    // Tools show the first one: what is meant by default stands there. Of each kind of value there is a profile of its own.
    let first = profile.default_sample_type.filter(|first| *first < profile.sample_types.len()).unwrap_or(0);
    let others = (0..profile.sample_types.len()).filter(|other| *other != first);
    for kind in std::iter::once(first).chain(others) {
        if let Some(of) = profile.sample_types.get(kind) {
            scope_profiles.bytes(2, &of_kind(report, kind, *of, &mut dictionary).0);
        }
    }
    if !resource.is_empty() {
        group.bytes(1, resource);
    }
    group.bytes(2, &scope_profiles.0);
    group.emit(1, out)?;
    dictionary.finish(profile)?.emit(2, out)?;
    Ok(out.flush()?)
}

/// The profile of one kind of value: samples that have none of it are left out.
fn of_kind(
    report: &PreparedProfile<'_>,
    kind: usize,
    of: ValueType,
    dictionary: &mut Dictionary,
) -> ProtoMessage {
    let profile: &Profile = &report.profile;
    let mut message = ProtoMessage::default();
    message.bytes(1, &value_type(of).0);
    let mut sample = ProtoMessage::default();
    for one in profile.samples() {
        let value = one.values.get(kind).map_or(0, |value| report.divided(*value));
        if value == 0 {
            continue;
        }
        sample.0.clear();
        // Stacks are numbered from 0 here, and from 1 there.
        sample.number(1, u64::from(one.stack_id.0) + 1);
        sample.packed(2, dictionary.attributes(profile, one.label_set).iter().copied());
        sample.packed(4, std::iter::once(value as u64));
        message.bytes(2, &sample.0);
    }
    if let Some(time) = profile.time_ns.filter(|time| *time > 0) {
        message.fixed64(3, time as u64);
    }
    message.number(4, profile.duration_ns.unwrap_or(0).max(0) as u64);
    if let Some(of) = profile.period_type {
        message.bytes(5, &value_type(of).0);
    }
    message.number(6, profile.period.unwrap_or(0) as u64);
    message
}

fn value_type(of: ValueType) -> ProtoMessage {
    let mut message = ProtoMessage::default();
    message.text(1, of.kind);
    message.text(2, of.unit);
    message
}

/// What samples point to. The first of each table stands for what is not there.
struct Dictionary {
    /// Texts that the profile does not have, behind its own.
    more_texts: Vec<&'static str>,
    texts: usize,
    /// Attributes as they are written, behind the empty one.
    attributes: Vec<ProtoMessage>,
    known: HashMap<Label, u64>,
    of_set: HashMap<LabelSetId, Vec<u64>>,
}

impl Dictionary {
    fn of(profile: &Profile) -> Dictionary {
        Dictionary {
            more_texts: Vec::new(),
            texts: profile.string_count().max(1),
            attributes: Vec::new(),
            known: HashMap::new(),
            of_set: HashMap::new(),
        }
    }

    /// The attributes that stand for a set of labels: each key once, as OpenTelemetry has it.
    fn attributes(&mut self, profile: &Profile, set: LabelSetId) -> &[u64] {
        let Dictionary { attributes, known, of_set, .. } = self;
        of_set.entry(set).or_insert_with(|| {
            let labels = profile.labels(set);
            let is_first = |at: usize, key: StringId| !labels[..at].iter().any(|label| label.key == key);
            let labels = labels.iter().enumerate().filter(|(at, label)| is_first(*at, label.key));
            let number = |label: &Label| {
                *known.entry(*label).or_insert_with(|| {
                    attributes.push(attribute(profile, label));
                    attributes.len() as u64
                })
            };
            labels.map(|(_, label)| label).map(number).collect()
        })
    }

    /// A text that the profile need not have.
    fn text(&mut self, text: &'static str) -> u64 {
        let at = self.more_texts.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.more_texts.push(text);
            self.more_texts.len() - 1
        });
        (self.texts + at) as u64
    }

    fn finish(mut self, profile: &Profile) -> io::Result<ProtoMessage> {
        let mut out = ProtoMessage::default();
        self.mappings(profile, &mut out)?;
        tables(profile, &mut out.0)?;
        // The link that is none.
        out.bytes(4, &[]);
        // Text 0 is empty, here and there.
        out.bytes(5, &[]);
        for id in 1..profile.string_count() {
            out.bytes(5, profile.str(StringId(id as u32)).as_bytes());
        }
        self.more_texts.iter().for_each(|text| out.bytes(5, text.as_bytes()));
        out.bytes(6, &[]);
        self.attributes.iter().for_each(|attribute| out.bytes(6, &attribute.0));
        out.bytes(7, &[]);
        let mut stack = ProtoMessage::default();
        for id in 0..profile.stack_count() {
            let locations = profile.stack(CallStackId(id as u32));
            stack.packed(1, locations.iter().map(|location| u64::from(location.0) + 1));
            stack.emit(7, &mut out.0)?;
        }
        Ok(out)
    }

    fn mappings(&mut self, profile: &Profile, out: &mut ProtoMessage) -> io::Result<()> {
        out.bytes(1, &[]);
        let mut message = ProtoMessage::default();
        for mapping in &profile.mappings {
            message.number(1, mapping.start);
            message.number(2, mapping.limit);
            message.number(3, mapping.offset);
            message.text(4, mapping.file);
            if mapping.build_id != StringId(0) {
                let mut attribute = ProtoMessage::default();
                attribute.number(1, self.text(BUILD_ID));
                let mut value = ProtoMessage::default();
                value.bytes(1, profile.str(mapping.build_id).as_bytes());
                attribute.bytes(2, &value.0);
                self.attributes.push(attribute);
                message.packed(5, std::iter::once(self.attributes.len() as u64));
            }
            message.emit(1, &mut out.0)?;
        }
        Ok(())
    }
}

/// A label as `KeyValueAndUnit`.
fn attribute(profile: &Profile, label: &Label) -> ProtoMessage {
    let (mut message, mut value) = (ProtoMessage::default(), ProtoMessage::default());
    message.text(1, label.key);
    match label.value {
        LabelValue::Text(text) => {
            value.bytes(1, profile.str(text).as_bytes());
            message.bytes(2, &value.0);
        }
        LabelValue::Number(number, unit) => {
            value.some_number(3, number as u64);
            message.bytes(2, &value.0);
            message.text(3, unit);
        }
    }
    message
}

/// Locations and functions; their numbers count from 1.
fn tables(profile: &Profile, out: &mut Vec<u8>) -> io::Result<()> {
    let mut message = ProtoMessage::default();
    message.emit(2, out)?;
    for (id, location) in profile.locations.iter().enumerate() {
        message.number(1, location.mapping.map_or(0, |mapping| u64::from(mapping.0) + 1));
        message.number(2, location.address);
        for line in profile.lines_of(LocationId(id as u32)) {
            let mut inner = ProtoMessage::default();
            inner.number(1, line.function.map_or(0, |function| u64::from(function.0) + 1));
            inner.number(2, line.line as u64);
            inner.number(3, line.column as u64);
            message.bytes(3, &inner.0);
        }
        message.emit(2, out)?;
    }
    message.emit(3, out)?;
    for function in &profile.functions {
        message.text(1, function.name);
        message.text(2, function.system_name);
        message.text(3, function.file);
        message.number(4, function.start_line as u64);
        message.emit(3, out)?;
    }
    Ok(())
}
