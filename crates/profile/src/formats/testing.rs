//! What the tests of the formats share: profiles as text that can be compared.

use super::{Limits, Loaded, Notes, ProfileData, ReadError, read};
use whyslow_model::Profile;
use whyslow_model::profile::{LabelValue, TopReport};

pub(super) fn load(bytes: &[u8]) -> Result<Loaded, ReadError> {
    read(bytes, "x", Limits::default())
}

pub(super) fn stacks_of(text: &str) -> Profile {
    match load(text.as_bytes()).unwrap().data {
        ProfileData::Stacks(profile) => profile,
        ProfileData::Table(table) => panic!("a table: {table:?}"),
    }
}

pub(super) fn table_of(text: &str) -> TopReport {
    match load(text.as_bytes()).unwrap().data {
        ProfileData::Table(table) => table,
        ProfileData::Stacks(profile) => panic!("stacks: {profile:?}"),
    }
}

pub(super) fn notes(text: &str) -> Notes {
    load(text.as_bytes()).unwrap().notes
}

/// A sample a line: the root first, inlined functions as `inner>outer`, values, labels.
pub(super) fn text(profile: &Profile) -> String {
    let mut out = String::new();
    for sample in profile.samples() {
        for id in sample.stack.iter().rev() {
            let lines = profile.lines_of(*id);
            let names: Vec<&str> = lines
                .iter()
                .map(|line| line.function.map_or("?", |id| profile.str(profile.function(id).unwrap().name)))
                .collect();
            match names.is_empty() {
                true => out += &format!("0x{:x} ", profile.locations[id.0 as usize].address),
                false => out += &format!("{} ", names.join(">")),
            }
        }
        out += "=";
        sample.values.iter().for_each(|value| out += &format!(" {value}"));
        for label in sample.labels {
            out += &match label.value {
                LabelValue::Text(value) => format!(" {}:{}", profile.str(label.key), profile.str(value)),
                LabelValue::Number(value, unit) => {
                    format!(" {}:{value}{}", profile.str(label.key), profile.str(unit))
                }
            };
        }
        out.push('\n');
    }
    out
}
