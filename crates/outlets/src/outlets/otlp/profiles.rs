//! Stacks as OpenTelemetry's signal of profiles (`v1development`, which may still change): of each service three profiles, how often its
//! threads were seen on a CPU, their time there, and their time in waits.

use super::encode::resource;
use crate::told::{ToldStack, ToldWindow};
use std::collections::BTreeMap;
use whyslow_model::profile::{
    Function, FunctionId, Label, LabelValue, Location, LocationId, SourceLine, TooLarge, ValueType,
};
use whyslow_model::{Profile, ProfileBuilder};
use whyslow_profile::views::{find, write_otlp};
use whyslow_profile::{PreparedProfile, StackSelection};

/// What is counted, in which unit.
const VALUES: [(&str, &str); 3] = [("samples", "count"), ("cpu", "nanoseconds"), ("off_cpu", "nanoseconds")];

/// The stacks of a window, a request of each service; one that cannot be written is left out.
pub(super) fn encode(window: &ToldWindow) -> Vec<Vec<u8>> {
    let mut services: BTreeMap<&str, Vec<&ToldStack>> = BTreeMap::new();
    for stack in &window.stacks {
        services.entry(&stack.service).or_default().push(stack);
    }
    let one = |(service, stacks): (&str, Vec<&ToldStack>)| {
        let profile = profile(window, &stacks).ok()?;
        let selection = StackSelection::default();
        let report = PreparedProfile::new(&profile, &selection, find("otlp")?, None).ok()?;
        let mut out = Vec::new();
        write_otlp(&report, &resource(window, service, None).0, &mut out).ok()?;
        Some(out)
    };
    services.into_iter().filter_map(one).collect()
}

fn profile(window: &ToldWindow, stacks: &[&ToldStack]) -> Result<Profile, TooLarge> {
    let mut builder = ProfileBuilder::new();
    for (kind, unit) in VALUES {
        let value = ValueType { kind: builder.string(kind)?, unit: builder.string(unit)? };
        builder.profile().sample_types.push(value);
    }
    builder.profile().default_sample_type = Some(1);
    builder.profile().time_ns = window.start.checked_mul(1_000);
    builder.profile().duration_ns = Some((window.seconds.clamp(0.0, 86_400.0) * 1e9) as i64);
    let mut known: BTreeMap<FunctionId, LocationId> = BTreeMap::new();
    let process = builder.string("process.executable.name")?;
    for stack in stacks {
        let mut locations = Vec::new();
        // The innermost first.
        for name in stack.stack.rsplit(';') {
            let name = builder.string(name)?;
            let function = builder.function(Function { name, ..Function::default() })?;
            let location = match known.get(&function) {
                Some(location) => *location,
                None => {
                    let line = SourceLine { function: Some(function), line: 0, column: 0 };
                    let location = builder.location(Location::default(), &[line])?;
                    known.insert(function, location);
                    location
                }
            };
            locations.push(location);
        }
        let name = builder.string(&stack.process)?;
        let labels = builder.label_set(&[Label { key: process, value: LabelValue::Text(name) }])?;
        let at = builder.stack(&locations)?;
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let ns = number(stack.ns.unwrap_or(0));
        let values = match stack.kind.as_str() {
            "cpu" => [number(stack.samples), ns, 0],
            _ => [0, 0, ns],
        };
        builder.add(at, labels, &values)?;
    }
    Ok(builder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use opentelemetry_proto::tonic::collector::profiles::v1development::ExportProfilesServiceRequest;
    use prost::Message;

    #[test]
    fn stacks_are_read_by_their_own_decoder() {
        let stack = |service: &str, kind: &str, stack: &str, samples, ns| ToldStack {
            service: service.into(),
            process: "p".into(),
            kind: kind.into(),
            stack: stack.into(),
            samples,
            ns: Some(ns),
        };
        let stacks = vec![
            stack("a", "cpu", "main;work;read", 3, 30),
            stack("a", "wait", "main;work", 1, 500),
            stack("b", "cpu", "main", 1, 7),
        ];
        let window =
            ToldWindow { stacks, start: 60_000_000, seconds: 2.0, host: "h".into(), ..ToldWindow::default() };
        let requests = encode(&window);
        assert_eq!(requests.len(), 2);
        let read = ExportProfilesServiceRequest::decode(requests[0].as_slice()).expect("decoded");
        let of_service = &read.resource_profiles[0];
        let about = &of_service.resource.as_ref().expect("a resource").attributes;
        assert!(about.iter().any(|pair| pair.key == "service.name"), "{about:?}");
        let dictionary = read.dictionary.expect("a dictionary");
        let text = |at: i32| dictionary.string_table[at as usize].as_str();
        let profiles = &of_service.scope_profiles[0].profiles;
        let kinds: Vec<(&str, i64)> = profiles
            .iter()
            .map(|profile| {
                let kind = profile.sample_type.as_ref().expect("a type");
                (text(kind.type_strindex), profile.samples.iter().flat_map(|one| &one.values).sum())
            })
            .collect();
        assert_eq!(kinds, [("cpu", 30), ("samples", 3), ("off_cpu", 500)]);
        let stack = &dictionary.stack_table[profiles[0].samples[0].stack_index as usize];
        let names: Vec<&str> = stack
            .location_indices
            .iter()
            .map(|at| {
                let line = &dictionary.location_table[*at as usize].lines[0];
                text(dictionary.function_table[line.function_index as usize].name_strindex)
            })
            .collect();
        assert_eq!(names, ["read", "work", "main"]);
        assert!(encode(&ToldWindow::default()).is_empty());
    }
}
