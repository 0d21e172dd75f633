//! The formats: one file each, listed in [`EXPORT_FORMATS`].

mod chrome;
mod csv;
mod firefox;
mod folded;
mod ndjson;
mod openmetrics;
mod otlp;
mod parquet;
mod perfetto;
mod pprof;
mod speedscope;
mod svg;
mod zipkin;

use crate::spans::SpanFormat;
use crate::timeline::TimelineWriter;
use std::io::{self, Write};
use whyslow_facts::Facts;
use whyslow_model::{Diagnosis, Table};

/// A format of another tool.
pub struct ExportFormat {
    /// As it is typed.
    pub name: &'static str,
    /// What is in it, in a line.
    pub about: &'static str,
    /// What opens it.
    pub opened_by: &'static str,
    /// True where it is bytes that are not for a terminal.
    pub is_binary: bool,
    /// True where nothing in it acts upon a terminal, whatever stands in the input.
    pub escapes: bool,
    /// What it is made of.
    pub how: ExportHow,
}

/// What a format is made of.
pub enum ExportHow {
    /// Of events as they are read.
    Timeline(for<'w> fn(&'w mut (dyn Write + Send)) -> Box<dyn TimelineWriter + 'w>),
    /// Of a profile, by the view of that name in [`whyslow_profile::PROFILE_VIEWS`].
    Stacks(&'static str),
    /// Of finished facts and what was found in them.
    Diagnosis(fn(&Facts, &Diagnosis, &mut dyn Write) -> io::Result<()>),
    /// Of requests and their waits.
    Spans(&'static SpanFormat),
    /// Of one table.
    Table(fn(&Table, &mut dyn Write) -> io::Result<()>),
}

/// All formats, in the order of the help.
pub static EXPORT_FORMATS: &[&ExportFormat] = &[
    &perfetto::FORMAT,
    &chrome::FORMAT,
    &pprof::FORMAT,
    &otlp::PROFILES,
    &speedscope::FORMAT,
    &firefox::FORMAT,
    &folded::FORMAT,
    &svg::FORMAT,
    &zipkin::FORMAT,
    &otlp::PROTOBUF,
    &otlp::JSON,
    &openmetrics::FORMAT,
    &csv::FORMAT,
    &ndjson::FORMAT,
    &parquet::FORMAT,
];

/// The format of that name.
pub fn find(name: &str) -> Option<&'static ExportFormat> {
    EXPORT_FORMATS.iter().copied().find(|format| format.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Cell, Column, Nanos};

    /// A name that every format must escape by its own rules.
    pub(super) const HOSTILE: &str = "a,\"b\"\\\r\nc\x1b[31m\u{202e}d;e{f=\"1\"}\t<b>&";

    /// A table with a cell of each kind, a secret, and what is unknown.
    pub(super) fn table() -> Table {
        let row = vec![
            Cell::Text(HOSTILE.to_string()),
            Cell::Count(3),
            Cell::Duration(Nanos::new(1_500)),
            Cell::Share(0.5),
            Cell::Counts(vec![1, 2]),
        ];
        let mut unknown = vec![Cell::Unknown; 5];
        unknown[0] = Cell::Text("token=abcdef123456".to_string());
        let keys = ["name", "calls", "time", "share", "slots"];
        Table {
            name: "t",
            question: String::new(),
            columns: keys.map(|key| Column::new(key, key)).to_vec(),
            rows: vec![row, unknown],
            total: None,
            notes: Vec::new(),
        }
    }

    #[test]
    fn formats_have_their_own_names_and_their_views() {
        for (at, format) in EXPORT_FORMATS.iter().enumerate() {
            assert!(!EXPORT_FORMATS[..at].iter().any(|other| other.name == format.name), "{}", format.name);
            assert_eq!(find(format.name).map(|found| found.name), Some(format.name));
            if let ExportHow::Stacks(view) = format.how {
                assert!(whyslow_profile::views::find(view).is_some(), "{view}");
            }
        }
    }
}
