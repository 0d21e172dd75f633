//! What each kind of target does with its input, and what must hold.

use whyslow_diagnose::diagnose;
use whyslow_facts::Facts;
use whyslow_model::{Diagnosis, Event, SourceId, SourceInfo};
use whyslow_profile::formats::{self, Limits, ProfileFormat};
use whyslow_read::formats::Format;
use whyslow_read::{Input, ReadOptions, Source, read};
use whyslow_report::{EXPORTERS, Style};
use whyslow_views::{Ask, VIEWS};
use whyslow_wire::{Chunk, Connection, Decoder, Direction, MAX_REDUCED, MAX_TEXT, PROTOCOLS, Step};

/// Reads `data` with one reader, whatever it looks like.
///
/// # Panics
/// If a line is counted twice.
pub(crate) fn read_as(format: &Format, data: &[u8]) {
    let info = SourceInfo::new(SourceId(0), "fuzz", format.kind);
    let mut source = Source::new(info, Vec::new(), Box::new(data));
    let mut sink = |_: Event<'_>| {};
    let _ = (format.read)(&mut source, &mut sink);
    let info = &source.info;
    assert!(info.events + info.rejects + info.foreign <= info.lines, "{info:?}");
}

/// Reads `data` as a profile of one format, whatever it looks like.
pub(crate) fn read_profile_as(format: &ProfileFormat, data: &[u8]) {
    let _ = formats::read_as(format, data, "fuzz", Limits::default());
}

/// Reads `data` as whatever it looks like, judges it, and writes everything in all formats.
///
/// # Panics
/// If a share is outside of 0 to 1, or the JSON does not parse.
pub(crate) fn whole_chain(data: &[u8]) {
    let mut facts = Facts::default();
    let input = Input::Bytes { name: "fuzz".to_string(), data: data.to_vec() };
    // That nothing could be read is an answer too.
    let _ = read(&[input], &ReadOptions { threads: 1 }, &(), &mut facts);
    facts.finish();
    show(&facts);
}

/// Judges what is known.
///
/// # Panics
/// If a share is outside of 0 to 1.
pub(crate) fn judge(facts: &Facts) -> Diagnosis {
    let diagnosis = diagnose(facts);
    for finding in &diagnosis.findings {
        assert!(finding.share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{finding:?}");
    }
    diagnosis
}

/// Judges what is known, and writes everything in all formats.
///
/// # Panics
/// If a share is outside of 0 to 1, or the JSON does not parse.
pub(crate) fn show(facts: &Facts) {
    let diagnosis = judge(facts);
    let tables: Vec<_> = VIEWS.iter().filter_map(|view| (view.table)(facts, &Ask::default()).ok()).collect();
    for exporter in EXPORTERS {
        for width in [40, 120] {
            let style = Style { width, ..Style::default() };
            let mut out = Vec::new();
            let _ = exporter.diagnosis(&diagnosis, &style, &mut out);
            if exporter.name == "json" {
                serde_json::from_slice::<serde_json::Value>(&out).expect("the output is JSON");
            }
            for table in &tables {
                out.clear();
                let _ = exporter.table(table, &style, &mut out);
            }
        }
    }
}

/// Hands `data` to the decoder of each protocol and to a connection that finds out which it speaks, in chunks: a byte says
/// which way and how long, the next how much is missing behind it.
///
/// # Panics
/// If a text or what may be kept is longer than it may be.
pub(crate) fn connections(data: &[u8]) {
    let mut decoders: Vec<Box<dyn Decoder>> = PROTOCOLS.iter().map(|protocol| (protocol.decoder)()).collect();
    let mut connection = Connection::new(None);
    let mut rest = data;
    let mut kept = Vec::new();
    while let [size, missing, behind @ ..] = rest {
        let (head, behind) = behind.split_at(behind.len().min(usize::from(size >> 1)));
        rest = behind;
        let direction = if size & 1 == 0 { Direction::Request } else { Direction::Response };
        let missing = if *missing < 0xc0 { 0 } else { 1u64 << (missing & 0x3f) };
        let chunk = Chunk { head, len: head.len() as u64 + missing };
        let mut told = |step: Step| {
            if let Step::Asked(_, request) = step {
                assert!(request.endpoint.len() <= MAX_TEXT + 64 && request.detail.len() <= MAX_TEXT + 64);
            }
        };
        decoders.iter_mut().for_each(|decoder| decoder.take(direction, chunk, &mut told));
        connection.take(direction, chunk, &mut told);
        kept.clear();
        whyslow_wire::reduce(head, None, &mut kept);
        assert!(kept.len() <= MAX_REDUCED);
    }
}
