//! Profiles in OpenTelemetry's form: those of every capture, decoded by OpenTelemetry's own types, have each stack with the labels and
//! the values that were read, and tables as its schema wants them.

use crate::captures::OWN;
use crate::exports::{evil_trace, files_below, run};
use opentelemetry_proto::tonic::collector::profiles::v1development::ExportProfilesServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::profiles::v1development::ProfilesDictionary;
use prost::Message;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use tempfile::TempDir;
use whyslow_export::{ProfileOf, profile_of, without_secrets};
use whyslow_facts::Facts;
use whyslow_model::profile::{LabelValue, Profile, ProfileContent};
use whyslow_model::{Event, Nanos, SampleKind, SampledStack, Sink, Stack, StackFrame, StackId, Timestamp};
use whyslow_profile::{PreparedProfile, Sampled, StackSelection};
use whyslow_read::{Input, ReadOptions};

/// Values by what they count, by stack (functions with files and lines, the leaf first) and labels.
type Sums = BTreeMap<(String, Vec<String>, Vec<String>), i64>;

fn encoded(profile: &Profile) -> Vec<u8> {
    let view = whyslow_profile::views::find("otlp").expect("the view");
    let selection = StackSelection::default();
    let prepared = PreparedProfile::new(profile, &selection, view, None).expect("prepared");
    let mut out = Vec::new();
    (view.write)(&prepared, &mut out).expect("written");
    out
}

/// What was read.
fn sums_of(profile: &Profile) -> Sums {
    let mut sums = Sums::new();
    for sample in profile.samples() {
        let lines = sample.stack.iter().flat_map(|location| profile.lines_of(*location));
        let frames: Vec<String> = lines
            .map(|line| {
                let function = line.function.and_then(|function| profile.function(function));
                let (name, file) =
                    function.map_or(("", ""), |of| (profile.str(of.name), profile.str(of.file)));
                format!("{name} {file}:{}", line.line)
            })
            .collect();
        let mut keys = HashSet::new();
        let mut labels = Vec::new();
        for label in sample.labels.iter().filter(|label| keys.insert(label.key)) {
            let key = profile.str(label.key);
            labels.push(match label.value {
                LabelValue::Text(text) => format!("{key}={}", profile.str(text)),
                LabelValue::Number(number, unit) => format!("{key}={number} {}", profile.str(unit)),
            });
        }
        for (of, value) in profile.sample_types.iter().zip(sample.values).filter(|(_, value)| **value != 0) {
            let of = format!("{}/{}", profile.str(of.kind), profile.str(of.unit));
            *sums.entry((of, frames.clone(), labels.clone())).or_default() += value;
        }
    }
    sums
}

/// What OpenTelemetry's types make of it.
fn sums_of_otlp(bytes: &[u8]) -> (Sums, String) {
    let request = ExportProfilesServiceRequest::decode(bytes).expect("a protocol buffer");
    let dictionary = request.dictionary.expect("a dictionary");
    check(&dictionary);
    let text = |at: i32| dictionary.string_table[at as usize].clone();
    let (mut sums, mut first) = (Sums::new(), None);
    let scopes = request.resource_profiles.into_iter().flat_map(|group| group.scope_profiles);
    for profile in scopes.flat_map(|scope| scope.profiles) {
        let of = profile.sample_type.expect("what it counts");
        let of = format!("{}/{}", text(of.type_strindex), text(of.unit_strindex));
        first.get_or_insert_with(|| of.clone());
        for sample in profile.samples {
            assert!(sample.stack_index > 0 && sample.values.len() == 1, "{sample:?}");
            let stack = &dictionary.stack_table[sample.stack_index as usize];
            let locations = stack.location_indices.iter().map(|at| &dictionary.location_table[*at as usize]);
            let frames = locations.flat_map(|location| &location.lines).map(|line| {
                let function = &dictionary.function_table[line.function_index as usize];
                format!("{} {}:{}", text(function.name_strindex), text(function.filename_strindex), line.line)
            });
            let labels = sample.attribute_indices.iter().map(|at| {
                let attribute = &dictionary.attribute_table[*at as usize];
                let key = text(attribute.key_strindex);
                match attribute.value.as_ref().and_then(|value| value.value.as_ref()) {
                    Some(Value::StringValue(text)) => format!("{key}={text}"),
                    Some(Value::IntValue(number)) => {
                        format!("{key}={number} {}", text(attribute.unit_strindex))
                    }
                    other => panic!("{key}: {other:?}"),
                }
            });
            *sums.entry((of.clone(), frames.collect(), labels.collect())).or_default() += sample.values[0];
        }
    }
    (sums, first.unwrap_or_default())
}

/// Tables begin with what stands for nothing, and point to what is there.
fn check(tables: &ProfilesDictionary) {
    assert_eq!(tables.mapping_table.first(), Some(&Default::default()));
    assert_eq!(tables.location_table.first(), Some(&Default::default()));
    assert_eq!(tables.function_table.first(), Some(&Default::default()));
    assert_eq!(tables.link_table, [Default::default()]);
    assert_eq!(tables.attribute_table.first(), Some(&Default::default()));
    assert_eq!(tables.stack_table.first(), Some(&Default::default()));
    assert_eq!(tables.string_table.first().map(String::as_str), Some(""));
    for mapping in &tables.mapping_table {
        assert!(mapping.attribute_indices.iter().all(|at| (*at as usize) < tables.attribute_table.len()));
    }
    for location in &tables.location_table {
        assert!((location.mapping_index as usize) < tables.mapping_table.len());
    }
}

/// All profiles that a file has or makes.
struct Profiles {
    facts: Facts,
    sampled: [Sampled; 2],
    captured: Vec<Profile>,
}

impl Sink for Profiles {
    fn push(&mut self, event: Event<'_>) {
        self.sampled.iter_mut().for_each(|sampled| sampled.push(event.clone()));
        match event {
            Event::Profile(mut captured) => {
                if let Some(ProfileContent::Stacks(profile)) = captured.content.take() {
                    self.captured.push(profile);
                }
            }
            other => self.facts.push(other),
        }
    }
}

#[test]
fn otlp_has_each_stack_of_every_capture_with_its_values() {
    let mut files = Vec::new();
    files_below(Path::new(OWN), &mut files);
    files_below(&Path::new(OWN).join("../cases/captures"), &mut files);
    files.sort();
    let (mut checked, mut stacks) = (0, 0);
    for file in files {
        let sampled = [Sampled::new(SampleKind::OnCpu), Sampled::new(SampleKind::OffCpu)];
        let mut sink = Profiles { facts: Facts::of_target(), sampled, captured: Vec::new() };
        let options = ReadOptions { threads: 1 };
        // A file that is no capture is none here either.
        let _ = whyslow_read::read(&[Input::File(file.clone())], &options, &(), &mut sink);
        sink.facts.finish();
        let Profiles { facts, sampled, captured } = sink;
        let samples = sampled.into_iter().filter(|sampled| sampled.samples() > 0);
        let samples: Vec<Profile> = samples.map(|sampled| sampled.finish().expect("a profile")).collect();
        let made = [ProfileOf::Time, ProfileOf::Locks, ProfileOf::Calls];
        let made = made.into_iter().filter_map(|of| profile_of(&facts, of).ok());
        for profile in samples.into_iter().chain(captured).chain(made).map(without_secrets) {
            let (got, first) = sums_of_otlp(&encoded(&profile));
            let wanted = sums_of(&profile);
            assert_eq!(got, wanted, "{}", file.display());
            if let Some(of) = profile.default_sample_type.and_then(|of| profile.sample_types.get(of)) {
                assert_eq!(first, format!("{}/{}", profile.str(of.kind), profile.str(of.unit)));
            }
            checked += 1;
            stacks += wanted.len();
        }
    }
    assert!(checked >= 50 && stacks >= 1_000, "{checked}, {stacks}");
}

/// Samples on a CPU and of waits, as recordings have them: what is of the one kind is not in the other.
#[test]
fn samples_on_a_cpu_and_of_waits_are_kept() {
    let frame = |function: &str, place: &str| StackFrame {
        address: 0x20,
        function: Some(function.to_string()),
        module: Some("/srv/app".to_string()),
        place: Some(place.to_string()),
    };
    for (kind, wanted) in [(SampleKind::OnCpu, 30_000_000), (SampleKind::OffCpu, 7_000_000)] {
        let mut sampled = Sampled::new(kind);
        let frames = vec![frame("work", "src/a.c:12"), frame("main", "src/a.c:40")];
        sampled.push(Event::Stack(Stack { id: StackId(2), frames, cut: false }));
        for (kind, ms, tid) in [
            (SampleKind::OnCpu, 10, 7),
            (SampleKind::OnCpu, 10, 7),
            (SampleKind::OnCpu, 10, 8),
            (SampleKind::OffCpu, 7, 8),
        ] {
            let (ts, weight) = (Timestamp::new(1_000_000_000), Nanos::from_millis(ms));
            let (user, kernel) = (Some(StackId(2)), None);
            sampled.push(Event::Sample(SampledStack { kind, ts, cpu: 0, pid: 7, tid, weight, user, kernel }));
        }
        let profile = sampled.finish().expect("a profile");
        let (got, first) = sums_of_otlp(&encoded(&profile));
        assert_eq!(got, sums_of(&profile));
        let time: i64 = got.iter().filter(|((of, ..), _)| *of == first).map(|(_, value)| value).sum();
        assert_eq!(time, wanted, "{kind:?}: {got:?}");
        assert!(got.keys().all(|(_, frames, _)| frames[0].starts_with("work src/a.c:12")), "{got:?}");
    }
}

#[test]
fn the_command_writes_what_the_library_writes() {
    let folder = TempDir::new().expect("a folder");
    let (trace, to) = (evil_trace(&folder), folder.path().join("x.profiles"));
    let to = to.display().to_string();
    let ran = run(&["export", &trace, "--to", "otlp-profiles", "--of", "calls", "-o", &to]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let (sums, first) = sums_of_otlp(&std::fs::read(&to).expect("written"));
    let total = |of: &str| sums.iter().filter(|((is, ..), _)| is == of).map(|(_, value)| value).sum::<i64>();
    // 20 of each of three calls: 0.5 s, 0.4 s, 10 us; and four of a request: 0.1 s and three of 10 us.
    assert_eq!((total("calls/count"), total("time/nanoseconds")), (64, 18_100_230_000));
    assert_eq!(first, "time/nanoseconds");
}
