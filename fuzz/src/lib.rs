//! What the fuzz targets share: one reader alone, and the whole chain.

use whyslow_diagnose::views::{Ask, VIEWS};
use whyslow_diagnose::{Facts, diagnose};
use whyslow_model::{CaptureKind, Event, SourceId, SourceInfo};
use whyslow_read::formats::FORMATS;
use whyslow_read::{Input, Options, Source, read};
use whyslow_report::{EXPORTERS, Style};

/// Reads `data` with each reader of that kind, whatever it looks like.
///
/// # Panics
/// If a line is counted twice.
pub fn read_as(kind: CaptureKind, data: &[u8]) {
    for format in FORMATS.iter().filter(|format| format.kind == kind) {
        let info = SourceInfo::new(SourceId(0), "fuzz", kind);
        let mut source = Source::new(info, Vec::new(), Box::new(data));
        let mut sink = |_: Event<'_>| {};
        let _ = (format.read)(&mut source, &mut sink);
        let info = &source.info;
        assert!(info.events + info.rejects + info.foreign <= info.lines, "{info:?}");
    }
}

/// Reads `data` as whatever it looks like, judges it, and writes everything in all formats.
///
/// # Panics
/// If a share is outside of 0 to 1, or the JSON does not parse.
pub fn whole_chain(data: &[u8]) {
    let mut facts = Facts::default();
    let input = Input::Bytes { name: "fuzz".to_string(), data: data.to_vec() };
    // That nothing could be read is an answer too.
    let _ = read(&[input], &Options { threads: 1 }, &(), &mut facts);
    facts.finish();
    let diagnosis = diagnose(&facts);
    for finding in &diagnosis.findings {
        assert!(finding.share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{finding:?}");
    }
    let tables: Vec<_> = VIEWS.iter().filter_map(|view| (view.table)(&facts, &Ask::default()).ok()).collect();
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
