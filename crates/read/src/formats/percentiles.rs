//! Tables of percentiles, as dashboards export them: a row an endpoint, a column a percentile, with tabs or commas.
//!
//! ```text
//! endpoint  p50  p90  p99  p99.9  when
//! /feed  0.135  0.512  2.353  4.524  before
//! /feed  0.078  0.245  0.762  2.235  after
//! ```
//!
//! A unit is taken from the headings (`p50_ms`, `p99 (s)`) where all tell the same; else the figures are compared as they
//! are. A column `when` (or `run`, `phase`, `version`) tells several runs apart.

use crate::formats::fd_text::bounded;
use crate::formats::{Format, SniffInput};
use crate::source::Source;
use std::io;
use whyslow_model::{CaptureKind, Event, Nanos, PercentileRow, PercentileTable, Sink, SourceId};

/// The format.
pub(crate) static PERCENTILES: Format = Format {
    kind: CaptureKind::Percentiles,
    name: "table of percentiles",
    made_by: "a dashboard's export: a column endpoint, columns p50, p90, p99",
    sniff,
    read,
};

/// Rows of one table; a service has some hundreds of endpoints.
const MOST_ROWS: usize = 20_000;
/// Columns of one table.
const MOST_COLUMNS: usize = 64;

fn sniff(sample: &SniffInput<'_>) -> bool {
    let first = sample.lines(20).find(|line| !line.trim_ascii().is_empty());
    first.and_then(Heading::parse).is_some()
}

fn read(source: &mut Source, sink: &mut dyn Sink) -> io::Result<()> {
    let mut table: Option<(Heading, PercentileTable)> = None;
    while let Some(next) = source.next_line()? {
        if next.trim_ascii().is_empty() {
            continue;
        }
        let line = next.to_vec();
        let Some((heading, rows)) = &mut table else {
            match Heading::parse(&line) {
                Some(heading) => {
                    source.info.events += 1;
                    let rows = heading.table(source.info.id);
                    table = Some((heading, rows));
                }
                None => source.info.foreign += 1,
            }
            continue;
        };
        match heading.row(&line, source.line_number()) {
            Some(row) if rows.rows.len() < MOST_ROWS => {
                source.info.events += 1;
                rows.rows.push(row);
            }
            Some(_) => source.reject(sink, &line, &format!("at most {MOST_ROWS} rows")),
            None => source.reject(sink, &line, "an endpoint and its percentiles, a field a column"),
        }
    }
    if let Some((_, table)) = table {
        sink.push(Event::Percentiles(Box::new(table)));
    }
    Ok(())
}

/// What the columns mean.
struct Heading {
    separator: u8,
    columns: usize,
    endpoint: usize,
    when: Option<usize>,
    /// Column and percentile.
    quantiles: Vec<(usize, f64)>,
    unit: Nanos,
}

impl Heading {
    /// A heading has one column without a percentile in front, and two with one at least.
    fn parse(line: &[u8]) -> Option<Heading> {
        let separator = *[b'\t', b',', b';'].iter().find(|byte| line.contains(byte))?;
        let names: Vec<&[u8]> = line.split(|byte| *byte == separator).map(field).collect();
        if names.len() > MOST_COLUMNS {
            return None;
        }
        let known: Vec<(usize, f64, Option<Nanos>)> = (names.iter().enumerate())
            .filter_map(|(at, name)| quantile(name).map(|(quantile, unit)| (at, quantile, unit)))
            .collect();
        let unit = known.first().and_then(|(_, _, unit)| *unit);
        let same = known.iter().all(|(_, _, own)| *own == unit);
        let is_when = |name: &&&[u8]| {
            [&b"when"[..], b"run", b"phase", b"version", b"period"]
                .iter()
                .any(|word| name.eq_ignore_ascii_case(word))
        };
        let when = names.iter().position(|name| is_when(&name));
        let endpoint =
            (0..names.len()).find(|at| when != Some(*at) && !known.iter().any(|(other, ..)| other == at))?;
        (known.len() >= 2).then(|| Heading {
            separator,
            columns: names.len(),
            endpoint,
            when,
            quantiles: known.iter().map(|(at, quantile, _)| (*at, *quantile)).collect(),
            unit: unit.filter(|_| same).unwrap_or_default(),
        })
    }

    fn table(&self, source: SourceId) -> PercentileTable {
        let quantiles = self.quantiles.iter().map(|(_, quantile)| *quantile).collect();
        PercentileTable { source, unit: self.unit, quantiles, rows: Vec::new() }
    }

    fn row(&self, line: &[u8], number: u64) -> Option<PercentileRow> {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == self.separator).map(field).collect();
        if fields.len() != self.columns {
            return None;
        }
        let text = |at: usize| fields.get(at).filter(|text| !text.is_empty()).map(|text| bounded(text));
        let mut values = Vec::with_capacity(self.quantiles.len());
        for (at, _) in &self.quantiles {
            let field = fields.get(*at)?;
            values.push(match *field {
                b"" | b"-" => None,
                figure => Some(number_of(figure)?),
            });
        }
        Some(PercentileRow {
            endpoint: text(self.endpoint)?,
            when: self.when.and_then(text),
            values,
            line: number,
        })
    }
}

/// A field without spaces and quotation marks around it.
fn field(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text)
}

/// A figure that a duration can be.
fn number_of(text: &[u8]) -> Option<f64> {
    let plain = text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let number: f64 = std::str::from_utf8(text).ok().filter(|_| plain)?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// `p99.9`, `p99_ms`, `p999`, `99.9%`, `p50 (s)`: the percentile as a part of 1, and the unit.
fn quantile(name: &[u8]) -> Option<(f64, Option<Nanos>)> {
    let name = std::str::from_utf8(name).ok()?.to_ascii_lowercase();
    let end = |text: &str| text.find(|one: char| !one.is_ascii_digit() && one != '.').unwrap_or(text.len());
    let (figure, rest) = match name.strip_prefix('p') {
        Some(rest) => rest.split_at(end(rest)),
        None => {
            let (figure, rest) = name.split_at(end(&name));
            (figure, rest.strip_prefix('%').or_else(|| rest.strip_prefix("th"))?)
        }
    };
    // Hundreds of digits are infinite, and stay so however often they are divided.
    let mut percent: f64 = figure.parse().ok().filter(|percent: &f64| percent.is_finite())?;
    // Of p999 and p9999 the point is left out.
    while percent > 100.0 && !figure.contains('.') && figure.starts_with("99") {
        percent /= 10.0;
    }
    let unit = rest.trim_matches(|one: char| matches!(one, ' ' | '_' | '(' | ')' | '[' | ']'));
    let unit = match unit {
        "" => None,
        "s" | "sec" | "seconds" => Some(Nanos::from_secs(1)),
        "ms" | "millis" => Some(Nanos::from_millis(1)),
        "us" | "µs" | "micros" => Some(Nanos::new(1_000)),
        "ns" => Some(Nanos::new(1)),
        _ => return None,
    };
    (percent > 0.0 && percent <= 100.0).then_some((percent / 100.0, unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::collect::sniffs;
    use whyslow_model::SourceInfo;

    fn collect(data: &[u8]) -> (Vec<PercentileTable>, SourceInfo) {
        let info = SourceInfo::new(SourceId(0), "p.tsv", CaptureKind::Percentiles);
        let mut source = Source::new(info, data.to_vec(), Box::new(std::io::empty()));
        let mut tables = Vec::new();
        let mut sink = |event: Event<'_>| {
            if let Event::Percentiles(table) = event {
                tables.push(*table);
            }
        };
        read(&mut source, &mut sink).expect("reading from memory");
        (tables, source.info)
    }

    #[test]
    fn a_table_with_two_runs_and_no_unit() {
        let data = b"endpoint\tp50\tp90\tp99\tp99.9\twhen\n/feed\t0.135\t0.512\t2.353\t4.524\tbefore\n\
                     /feed\t0.078\t0.245\t-\t2.235\tafter\n/im\t0.1\n/x\t1\t2\tthree\t4\tafter\n";
        assert!(sniffs(&PERCENTILES, "p.tsv", data));
        let (tables, info) = collect(data);
        let table = &tables[0];
        assert_eq!((info.events, info.rejects), (3, 2));
        assert_eq!(table.unit, Nanos::UNKNOWN);
        assert!(table.quantiles.iter().zip([0.5, 0.9, 0.99, 0.999]).all(|(a, b)| (a - b).abs() < 1e-9));
        assert_eq!(table.runs(), ["before", "after"]);
        assert_eq!(table.rows[1].values, [Some(0.078), Some(0.245), None, Some(2.235)]);
    }

    #[test]
    fn units_are_those_of_all_headings() {
        let unit = |heading: &[u8]| Heading::parse(heading).map(|heading| heading.unit);
        assert_eq!(unit(b"uri,p50_ms,p99_ms"), Some(Nanos::from_millis(1)));
        assert_eq!(unit(b"uri;p50 (s);p99 [s]"), Some(Nanos::from_secs(1)));
        assert_eq!(unit(b"uri,p50_ms,p99_us"), Some(Nanos::UNKNOWN));
        assert_eq!(unit(b"uri,50%,99.9%"), Some(Nanos::UNKNOWN));
        let quantiles = Heading::parse(b"uri,p999,p50").unwrap().quantiles;
        assert!((quantiles[0].1 - 0.999).abs() < 1e-9);
        let endless = [b"endpoint\tp50\tp", &b"9".repeat(400)[..], b"\n"].concat();
        assert!(Heading::parse(&endless).is_none(), "a percentile of 400 digits is none");
        for other in [&b"a,b,c"[..], b"p50,p99", b"name,p50", b"no separator p50 p99", b"pid,p1x,p2x", b""] {
            assert!(unit(other).is_none(), "{}", String::from_utf8_lossy(other));
        }
    }
}
