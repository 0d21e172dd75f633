//! Lines on which figures of the host stand as evidence, and names of its things.

use crate::Facts;
use crate::host::{Reading, counted, figure, metric_words};
use whyslow_model::{CaptureKind, Entity, Evidence, Metric, Over, SourceInfo};

impl Facts {
    /// The line on which a figure stands, where it was most; of a sample that is no text, the figure itself.
    pub fn host_evidence(&self, of: &Entity, reading: &Reading) -> Evidence {
        let source = self.capture.source(reading.source);
        let text = match reading.raw.is_empty() {
            true => format!("{}: {}", self.host.name_of(of), told(reading)),
            false => reading.raw.to_string(),
        };
        Evidence { source: place(source, reading), text }
    }

    /// The lines on which the figures to go by stand, each once; figures of one sample share a line. What is unknown
    /// has none.
    pub fn host_lines(&self, of: &Entity, metrics: &[Metric]) -> Vec<Evidence> {
        let Some(thing) = self.host.thing(of) else { return Vec::new() };
        let mut lines: Vec<Evidence> = Vec::new();
        for reading in
            metrics.iter().filter_map(|metric| thing.reading(*metric).or_else(|| thing.grown(*metric)))
        {
            let line = self.host_evidence(of, reading);
            match lines.iter_mut().find(|known| known.source == line.source) {
                // Of a text, the same line; of a sample, one more figure.
                Some(known) if reading.raw.is_empty() => {
                    let more = format!(", {}", told(reading));
                    if !known.text.ends_with(&more) {
                        known.text.push_str(&more);
                    }
                }
                Some(known) if known.text == line.text => {}
                _ => lines.push(line),
            }
        }
        lines
    }
}

/// `write latency 18.1 s over 10 s (20.3 s at most)`.
fn told(reading: &Reading) -> String {
    if reading.over == Over::Total {
        return format!("{} {} so far", metric_words(reading.metric), counted(reading.metric, reading.last));
    }
    if reading.over == Over::Growth {
        return format!("{} {} more", metric_words(reading.metric), counted(reading.metric, reading.sum()));
    }
    let mut text = format!("{} {}", metric_words(reading.metric), figure(reading.metric, reading.mean()));
    if reading.tables > 1 && reading.max > reading.mean() {
        text.push_str(&format!(" ({} at most)", figure(reading.metric, reading.max)));
    }
    text
}

/// Where it stands: `iostat.txt:5`, `recording a.whyslow, 10:00:03.000000`, `/proc, 10:00:03.000000`.
fn place(source: Option<&SourceInfo>, reading: &Reading) -> String {
    let name = match source {
        Some(source) if source.kind == CaptureKind::Recording => format!("recording {}", source.name),
        Some(source) => source.name.clone(),
        None => reading.tool.to_string(),
    };
    match (reading.line, reading.max_at.is_known()) {
        (0, true) => format!("{name}, {}", reading.max_at.time_of_day()),
        (0, false) => name,
        (line, _) => format!("{name}:{line}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Event, FigureTable, Nanos, Sink, SourceId};

    #[test]
    fn figures_bear_their_units() {
        assert_eq!(figure(Metric::Utilisation, 0.984), "98.4 %");
        assert_eq!(figure(Metric::WriteBytes, 33_701_888.0), "33.7 MB/s");
        assert_eq!(figure(Metric::WriteLatency, 18_118_310_000.0), Nanos::new(18_118_310_000).to_string());
        assert_eq!(metric_words(Metric::WriteLatency), "write latency");
    }

    #[test]
    fn a_line_of_text_is_quoted_and_a_sample_is_put_in_words() {
        let mut facts = Facts::default();
        let disk = Entity::Device("sda".into());
        let mut table = FigureTable::new(SourceId(1), "iostat -x");
        let row = table.row(disk.clone());
        (row.line, row.raw) = (3, "sda 71.00 98.40".into());
        row.set(Metric::Writes, 71.0);
        row.set(Metric::Utilisation, 0.984);
        facts.push(Event::Figures(Box::new(table)));
        facts.push(Event::Source(SourceInfo::new(SourceId(1), "iostat.txt", CaptureKind::Figures)));
        let lines = facts.host_lines(&disk, &[Metric::Writes, Metric::Utilisation, Metric::Reads]);
        assert_eq!(lines, [Evidence { source: "iostat.txt:3".into(), text: "sda 71.00 98.40".into() }]);

        let mut sampled = Facts::default();
        let mut table = FigureTable::new(SourceId(2), "/proc");
        table.row(disk.clone()).set(Metric::Utilisation, 0.5);
        table.row(disk.clone()).set(Metric::QueueLength, 2.0);
        sampled.push(Event::Figures(Box::new(table)));
        let lines = sampled.host_lines(&disk, &[Metric::Utilisation, Metric::QueueLength]);
        assert_eq!(
            lines,
            [Evidence { source: "/proc".into(), text: "sda: utilisation 50.0 %, queue length 2".into() }]
        );
    }
}
