//! Profiles of any kind that `whyslow_profile` reads, as one event. One that is damaged is an event too: why it is empty is worth a finding.

use super::{Format, SniffInput};
use crate::source::Source;
use std::io::{self, Cursor, Read};
use whyslow_model::profile::{CapturedProfile, ProfileContent, ProfileDamage};
use whyslow_model::{CaptureKind, CaptureNote, Event, NoteKind, Profile, Sink};
use whyslow_profile::formats::{self, Limits, ProfileData};

pub(super) static PROFILE: Format = Format {
    kind: CaptureKind::Profile,
    name: "profile (pprof, folded stacks, perf script, thread dumps)",
    made_by: "whyslow profile URL -o FILE, go test -cpuprofile, perf script",
    sniff,
    read,
};

fn sniff(sample: &SniffInput<'_>) -> bool {
    // A profile that was never written has a name at most.
    (sample.head.is_empty() && has_profile_name(sample.file_name))
        || formats::recognise(sample.head).is_some()
}

/// Names by which people keep profiles.
fn has_profile_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".pprof", ".prof", ".pb", ".cpuprofile", ".folded"].iter().any(|end| name.ends_with(end))
        || name.contains("pprof")
        || matches!(name.as_str(), "cpu.out" | "mem.out" | "block.out" | "mutex.out")
}

fn read(source: &mut Source, sink: &mut dyn Sink) -> io::Result<()> {
    let (head, reader) = source.take_stream();
    let counted = &mut source.info.bytes;
    let bytes = Counted { inner: Cursor::new(head).chain(reader), count: counted };
    let mut captured = CapturedProfile {
        source: source.info.id,
        name: source.info.name.clone(),
        format: "",
        content: None,
        damage: None,
        reason: String::new(),
    };
    match formats::read(bytes, "", Limits::default()) {
        Ok(loaded) => {
            source.info.rejects = loaded.notes.damaged;
            source.info.lines = loaded.notes.damaged;
            for line in &loaded.notes.first {
                let text = format!(
                    "{}:{}: expected {}, found `{}`; the line is not used",
                    captured.name, line.number, line.expected, line.text
                );
                sink.push(Event::Note(CaptureNote {
                    kind: NoteKind::Reject,
                    source: captured.source,
                    line: Some(line.number),
                    text,
                    tid: None,
                }));
            }
            captured.format = loaded.format;
            if let (ProfileData::Stacks(profile), "stacks of bcc or bpftrace") = (&loaded.data, loaded.format)
            {
                let text = format!("{}: read as {}", captured.name, said(profile));
                let (kind, source) = (NoteKind::Read, captured.source);
                sink.push(Event::Note(CaptureNote { kind, source, line: None, text, tid: None }));
            }
            captured.damage = loaded.damage;
            if loaded.damage == Some(ProfileDamage::NoSamples) {
                captured.reason = "it has no samples".to_string();
            }
            captured.content = Some(match loaded.data {
                ProfileData::Stacks(profile) => ProfileContent::Stacks(profile),
                ProfileData::Table(table) => ProfileContent::Table(table),
            });
        }
        Err(error) => {
            captured.damage = Some(error.damage);
            captured.reason = error.to_string();
            sink.push(Event::Note(CaptureNote {
                kind: NoteKind::Truncated,
                source: captured.source,
                line: None,
                text: format!("{}: {error}", captured.name),
                tid: None,
            }));
        }
    }
    sink.push(Event::Profile(Box::new(captured)));
    Ok(())
}

/// What was made of a tracer's stacks: how many there are, and of what.
fn said(profile: &Profile) -> String {
    let kinds: Vec<String> = profile
        .sample_types
        .iter()
        .map(|of| match (profile.str(of.kind), profile.str(of.unit)) {
            (kind, "count") => kind.to_string(),
            (kind, unit) => format!("{kind} ({unit})"),
        })
        .collect();
    format!(
        "stacks of bcc or bpftrace: {} stacks, each with its {}",
        profile.sample_count(),
        kinds.join(" and ")
    )
}

/// Counts what is read.
struct Counted<'c, R> {
    inner: R,
    count: &'c mut u64,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(buffer)?;
        *self.count += got as u64;
        Ok(got)
    }
}
