//! Small profiles made byte by byte, whole and damaged.

use super::super::{Limits, Loaded, ProfileData, ReadError, read};
use super::{Decoder, Value};
use whyslow_model::Profile;
use whyslow_model::profile::{LabelValue, ProfileBuilder, ProfileDamage};

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn message(field: u64, body: &[u8], out: &mut Vec<u8>) {
    varint(field << 3 | 2, out);
    varint(body.len() as u64, out);
    out.extend_from_slice(body);
}

fn number(field: u64, value: u64, out: &mut Vec<u8>) {
    varint(field << 3, out);
    varint(value, out);
}

fn numbers(fields: &[(u64, u64)]) -> Vec<u8> {
    let mut out = Vec::new();
    fields.iter().for_each(|(field, value)| number(*field, *value, &mut out));
    out
}

/// Two samples; ids beyond 32 bits; one location with an inlined call; the texts last, as Go writes them.
fn small() -> Vec<u8> {
    let mut out = Vec::new();
    message(1, &numbers(&[(1, 1), (2, 2)]), &mut out);
    let mut sample = Vec::new();
    message(
        1,
        &{
            let mut ids = Vec::new();
            varint(u64::MAX, &mut ids);
            varint(2, &mut ids);
            ids
        },
        &mut sample,
    );
    message(2, &[10], &mut sample);
    message(3, &numbers(&[(1, 5), (2, 6)]), &mut sample);
    message(3, &numbers(&[(1, 7), (3, 4096), (4, 8)]), &mut sample);
    message(3, &numbers(&[(1, 7)]), &mut sample);
    message(2, &sample, &mut out);
    message(2, &numbers(&[(1, 2), (2, 32)]), &mut out);
    message(3, &numbers(&[(1, 1), (2, 4096), (3, 8192), (5, 9), (7, 1)]), &mut out);
    let mut location = numbers(&[(1, u64::MAX), (2, 1), (3, 5000)]);
    message(4, &numbers(&[(1, 1), (2, 11)]), &mut location);
    message(4, &numbers(&[(1, 2), (2, 22)]), &mut location);
    message(4, &location, &mut out);
    message(4, &numbers(&[(1, 2), (3, 6000)]), &mut out);
    message(5, &numbers(&[(1, 1), (2, 3), (4, 9)]), &mut out);
    message(5, &numbers(&[(1, 2), (2, 4)]), &mut out);
    for text in ["", "cpu", "nanoseconds", "leaf", "caller", "key", "value", "bytes", "unit", "prog"] {
        message(6, text.as_bytes(), &mut out);
    }
    number(9, 77, &mut out);
    number(10, 88, &mut out);
    message(11, &numbers(&[(1, 1), (2, 2)]), &mut out);
    number(12, 10_000_000, &mut out);
    number(13, 6, &mut out);
    number(14, 1, &mut out);
    out
}

fn load(bytes: &[u8]) -> Result<Profile, ReadError> {
    let Loaded { data, .. } = read(bytes, "x", Limits::default())?;
    match data {
        ProfileData::Stacks(profile) => Ok(profile),
        ProfileData::Table(_) => panic!("no stacks"),
    }
}

#[test]
fn every_field_of_a_profile_arrives() {
    let profile = load(&small()).unwrap();
    assert_eq!((profile.sample_count(), profile.total(0)), (2, 42));
    let sample = profile.sample(0);
    assert_eq!((sample.stack.len(), sample.labels.len()), (2, 2));
    let text = |id| profile.str(id).to_string();
    assert!(matches!(sample.labels[0].value, LabelValue::Text(id) if text(id) == "value"));
    assert!(matches!(sample.labels[1].value, LabelValue::Number(4096, unit) if text(unit) == "unit"));
    let lines = profile.lines_of(sample.stack[0]);
    let names: Vec<String> =
        lines.iter().map(|line| text(profile.function(line.function.unwrap()).unwrap().name)).collect();
    assert_eq!((names.join(" "), lines[1].line), ("leaf caller".to_string(), 22));
    assert_eq!(profile.mappings[0].limit, 8192);
    assert!(profile.mappings[0].has_functions && !profile.mappings[0].has_inline_frames);
    assert_eq!(profile.locations[0].mapping.map(|id| id.0), Some(0));
    assert_eq!(profile.locations[1].mapping, None);
    assert_eq!(
        (profile.time_ns, profile.duration_ns, profile.period),
        (Some(77), Some(88), Some(10_000_000))
    );
    assert_eq!((profile.default_sample_type, profile.comments.len()), (Some(0), 1));
}

#[test]
fn a_profile_cut_anywhere_is_refused_or_has_all_its_samples() {
    let whole = small();
    for length in 1..whole.len() {
        match load(&whole[..length]) {
            Ok(profile) => assert_eq!(profile.total(0), 42, "cut at {length}"),
            Err(error) => assert!(error.to_string().starts_with("x: "), "cut at {length}: {error}"),
        }
    }
    let error = load(&whole[..20]).unwrap_err();
    assert!(matches!(error.damage, ProfileDamage::Cut { .. }), "{error}");
    assert!(error.to_string().contains("StopCPUProfile"), "{error}");
}

#[test]
fn no_bytes_have_their_own_error() {
    let error = load(&[]).unwrap_err();
    assert_eq!(error.damage, ProfileDamage::Empty);
    assert!(error.to_string().contains("0 bytes; StopCPUProfile never ran"), "{error}");
}

#[test]
fn what_a_file_claims_is_held_against_what_is_there() {
    let mut claims = small();
    varint(2 << 3 | 2, &mut claims);
    varint(1 << 60, &mut claims);
    claims.resize(1024, 0);
    let error = load(&claims).unwrap_err();
    assert!(error.to_string().contains("one piece of 1152921504606846976 bytes"), "{error}");

    // A list that claims more than its sample has.
    let mut sample = Vec::new();
    varint(1 << 3 | 2, &mut sample);
    varint(1 << 60, &mut sample);
    let mut claims = small();
    message(2, &sample, &mut claims);
    let error = load(&claims).unwrap_err();
    assert!(error.to_string().contains("1152921504606846976 bytes where 0 are left"), "{error}");
}

#[test]
fn what_points_at_nothing_is_named() {
    let refused = |field: u64, body: &[u8], says: &str| {
        let mut bytes = small();
        message(field, body, &mut bytes);
        let error = load(&bytes).unwrap_err();
        assert_eq!(error.damage, ProfileDamage::Malformed);
        assert!(error.to_string().contains(says), "{error}");
    };
    refused(2, &numbers(&[(1, 99), (2, 1)]), "a sample names location 99");
    refused(2, &numbers(&[(1, 2), (2, 1), (2, 1)]), "a sample has 2 values");
    refused(3, &numbers(&[(1, 1)]), "two of the kind mapping have the number 1");
    refused(3, &numbers(&[(1, 0)]), "a mapping has the number 0");
    refused(5, &numbers(&[(1, 3), (2, u64::MAX)]), "a function names text -1");
    refused(1, &numbers(&[(1, 1)]), "1 values a sample");
    let mut twice = small();
    twice.extend(small());
    assert!(load(&twice).unwrap_err().to_string().contains("several profiles"));
}

#[test]
fn bytes_that_are_no_profile_are_said_to_be_none() {
    for other in
        ["hello, world\n", "{\"json\": 1}", "\n\n\n\n", "execve(\"/bin/true\") = 0\n", "PK\u{3}\u{4}"]
    {
        let error = load(other.as_bytes()).unwrap_err();
        assert_eq!(error.damage, ProfileDamage::Unrecognized, "{other:?}: {error}");
    }
}

#[test]
fn what_is_kept_beside_the_profile_counts() {
    for field in [1, 3, 4, 5] {
        let mut decoder = Decoder::new();
        decoder.builder.spend(ProfileBuilder::MEMORY - 4096).unwrap();
        let refused = (0..4096).find_map(|_| decoder.field(field, Value::Bytes(&[])).err()).unwrap();
        assert_eq!(refused.damage, ProfileDamage::TooLarge, "{refused}");
    }
}
