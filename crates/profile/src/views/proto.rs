//! `proto`: the profile as pprof's protocol buffer, compressed: what every tool of that family reads
//! (`profile.proto` of github.com/google/pprof).

use super::report::PreparedProfile;
use super::{Needs, ProfileView, ViewError};
use crate::protobuf::ProtoMessage;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};
use whyslow_model::profile::{LabelValue, LocationId, Profile, StringId, ValueType};

/// The view.
pub(super) static VIEW: ProfileView = ProfileView {
    name: "proto",
    about: "the profile in pprof's format, compressed (with -o FILE)",
    needs: Needs { everything: true, binary: true, escapes: true, ..Needs::NOTHING },
    write,
};

fn write(report: &PreparedProfile<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    let mut out = GzEncoder::new(out, Compression::default());
    encode(report, &mut out)?;
    out.finish()?.flush()?;
    Ok(())
}

fn value_type(of: ValueType) -> ProtoMessage {
    let mut message = ProtoMessage::default();
    message.text(1, of.kind);
    message.text(2, of.unit);
    message
}

fn encode(report: &PreparedProfile<'_>, out: &mut dyn Write) -> io::Result<()> {
    let profile: &Profile = &report.profile;
    let mut message = ProtoMessage::default();
    for of in &profile.sample_types {
        value_type(*of).emit(1, out)?;
    }
    for sample in profile.samples() {
        message.packed(1, sample.stack.iter().map(|location| u64::from(location.0) + 1));
        message.packed(2, sample.values.iter().map(|value| report.divided(*value) as u64));
        for label in sample.labels {
            let mut inner = ProtoMessage::default();
            inner.text(1, label.key);
            match label.value {
                LabelValue::Text(text) => inner.text(2, text),
                LabelValue::Number(number, unit) => {
                    inner.number(3, number as u64);
                    inner.text(4, unit);
                }
            }
            message.bytes(3, &inner.0);
        }
        message.emit(2, out)?;
    }
    tables(profile, out)?;
    for id in 0..profile.string_count() {
        message.0.extend_from_slice(profile.str(StringId(id as u32)).as_bytes());
        message.emit(6, out)?;
    }
    message.text(7, profile.drop_frames);
    message.text(8, profile.keep_frames);
    message.number(9, profile.time_ns.unwrap_or(0) as u64);
    message.number(10, profile.duration_ns.unwrap_or(0) as u64);
    if let Some(of) = profile.period_type {
        message.bytes(11, &value_type(of).0);
    }
    message.number(12, profile.period.unwrap_or(0) as u64);
    message.packed(13, profile.comments.iter().map(|id| id.0.into()));
    let default = profile.default_sample_type.and_then(|index| profile.sample_types.get(index));
    message.text(14, default.map_or(StringId(0), |of| of.kind));
    message.text(15, profile.doc_url);
    out.write_all(&message.0)
}

/// Mappings, locations and functions; their numbers count from 1.
fn tables(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let mut message = ProtoMessage::default();
    for (id, mapping) in profile.mappings.iter().enumerate() {
        message.number(1, id as u64 + 1);
        message.number(2, mapping.start);
        message.number(3, mapping.limit);
        message.number(4, mapping.offset);
        message.text(5, mapping.file);
        message.text(6, mapping.build_id);
        message.number(7, mapping.has_functions.into());
        message.number(8, mapping.has_filenames.into());
        message.number(9, mapping.has_line_numbers.into());
        message.number(10, mapping.has_inline_frames.into());
        message.emit(3, out)?;
    }
    for (id, location) in profile.locations.iter().enumerate() {
        message.number(1, id as u64 + 1);
        message.number(2, location.mapping.map_or(0, |mapping| u64::from(mapping.0) + 1));
        message.number(3, location.address);
        for line in profile.lines_of(LocationId(id as u32)) {
            let mut inner = ProtoMessage::default();
            inner.number(1, line.function.map_or(0, |function| u64::from(function.0) + 1));
            inner.number(2, line.line as u64);
            inner.number(3, line.column as u64);
            message.bytes(4, &inner.0);
        }
        message.number(5, location.is_folded.into());
        message.emit(4, out)?;
    }
    for (id, function) in profile.functions.iter().enumerate() {
        message.number(1, id as u64 + 1);
        message.text(2, function.name);
        message.text(3, function.system_name);
        message.text(4, function.file);
        message.number(5, function.start_line as u64);
        message.emit(5, out)?;
    }
    Ok(())
}
