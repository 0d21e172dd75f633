//! Tables of percentiles side by side. They tell no counts, so that nothing is known of chance.

use whyslow_facts::Facts;
use whyslow_model::{FigureChange, Nanos, PercentileRow, PercentileTable, Sink};

/// Endpoints listed.
const MAX_ENDPOINTS: usize = 40;
/// Endpoints in the verdict.
const TOLD: usize = 3;
/// The percentile that the verdict tells of; the one nearest to it where it is missing.
const TELLING: f64 = 0.99;

/// What a comparison of tables gives.
#[derive(Default)]
pub(super) struct Compared {
    pub(super) list: Vec<FigureChange>,
    pub(super) headline: Option<String>,
    pub(super) refusal: Option<String>,
}

/// The two runs of a table that holds both, each as facts of its own: for a file that tells before from after by a column.
/// `None` where there are not exactly two.
pub fn two_runs(facts: &Facts) -> Option<(Facts, Facts)> {
    let [table] = &facts.percentiles[..] else { return None };
    let [first, second] = table.runs()[..] else { return None };
    let part = |run: &str| {
        let rows = table.rows.iter().filter(|row| row.when.as_deref() == Some(run));
        let rows = rows.map(|row| PercentileRow { when: None, ..row.clone() }).collect();
        let mut part = Facts::default();
        for info in &facts.capture.sources {
            part.push(whyslow_model::Event::Source(info.clone()));
        }
        part.percentiles.push(PercentileTable { rows, ..table.clone() });
        part.finish();
        part
    };
    Some((part(first), part(second)))
}

pub(super) fn compare(before: &Facts, after: &Facts) -> Compared {
    let mut compared = Compared::default();
    let pairs = pairs(before, after);
    if pairs.is_empty() {
        return compared;
    }
    let mut told = Vec::new();
    for (old_table, old, new_table, new) in pairs.iter().take(MAX_ENDPOINTS) {
        let unit = common_unit(old_table, new_table);
        let mut telling: Option<(f64, String)> = None;
        for (quantile, a) in old_table.quantiles.iter().zip(&old.values) {
            let same = |other: &&f64| (**other - quantile).abs() < 1e-9;
            let at = new_table.quantiles.iter().position(|other| same(&other));
            let b = at.and_then(|at| new.values.get(at)).copied().flatten();
            let (Some(a), Some(b)) = (*a, b) else { continue };
            let figure = figure(
                *quantile,
                &old.endpoint,
                scaled(a, old_table, unit),
                scaled(b, new_table, unit),
                unit,
            );
            let distance = (quantile - TELLING).abs();
            if telling.as_ref().is_none_or(|(known, _)| distance < *known) {
                telling = Some((
                    distance,
                    format!(
                        "{} {} ({} -> {})",
                        figure.name,
                        figure.change,
                        shown(figure.before, unit),
                        shown(figure.after, unit)
                    ),
                ));
            }
            compared.list.push(figure);
        }
        told.extend(telling.map(|(_, text)| text));
    }
    let more = told.len().saturating_sub(TOLD);
    told.truncate(TOLD);
    let more = if more > 0 { format!(", and {more} more endpoints") } else { String::new() };
    compared.headline = (!told.is_empty()).then(|| {
        let mut text = format!("{}{more}; by chance or not, the tables do not tell", told.join(", "));
        text[..1].make_ascii_uppercase();
        text
    });
    compared.refusal = Some(
        "Whether the percentiles differ beyond noise is not claimed: a table of percentiles tells of no number of \
         requests. Compare the logs that it was made of, or recordings."
            .to_string(),
    );
    compared
}

type Pair<'a> = (&'a PercentileTable, &'a PercentileRow, &'a PercentileTable, &'a PercentileRow);

/// The rows of one endpoint in both; of the same run, where both tell their runs.
fn pairs<'a>(before: &'a Facts, after: &'a Facts) -> Vec<Pair<'a>> {
    fn rows(facts: &Facts) -> impl Iterator<Item = (&PercentileTable, &PercentileRow)> {
        facts.percentiles.iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)))
    }
    let index: hashbrown::HashMap<(&str, Option<&str>), _> = rows(after)
        .map(|(table, row)| ((row.endpoint.as_str(), row.when.as_deref()), (table, row)))
        .collect();
    rows(before)
        .filter_map(|(table, row)| {
            let (other, new) = index.get(&(row.endpoint.as_str(), row.when.as_deref()))?;
            Some((table, row, *other, *new))
        })
        .collect()
}

/// Nanoseconds, where both tables tell their unit, else the figures as they are.
fn common_unit(a: &PercentileTable, b: &PercentileTable) -> &'static str {
    if a.unit.is_known() && b.unit.is_known() { "ns" } else { "as-written" }
}

fn scaled(value: f64, table: &PercentileTable, unit: &str) -> f64 {
    if unit == "ns" { value * table.unit.or_zero() as f64 } else { value }
}

fn figure(quantile: f64, endpoint: &str, a: f64, b: f64, unit: &'static str) -> FigureChange {
    let ratio = (a > 0.0).then(|| b / a);
    let change = ratio.map_or("unknown".to_string(), |ratio| format!("{:+.1} %", (ratio - 1.0) * 100.0));
    FigureChange {
        name: format!("p{} of {endpoint}", trimmed(quantile * 100.0)),
        unit,
        before: Some(a),
        after: Some(b),
        ratio,
        beyond_noise: None,
        change,
    }
}

/// A figure of a table.
fn shown(value: Option<f64>, unit: &str) -> String {
    match (value, unit) {
        (None, _) => "unknown".to_string(),
        (Some(value), "ns") => Nanos::new(value as u64).to_string(),
        (Some(value), _) => value.to_string(),
    }
}

/// `99`, `99.9`.
fn trimmed(percent: f64) -> String {
    let text = format!("{percent:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::SourceId;

    /// The table of an article on a slow feed (seeds/001/percentiles.tsv), in part.
    fn article() -> Facts {
        let row = |endpoint: &str, when: &str, values: [f64; 4]| PercentileRow {
            endpoint: endpoint.to_string(),
            when: Some(when.to_string()),
            values: values.map(Some).to_vec(),
            line: 1,
        };
        let mut facts = Facts::default();
        facts.percentiles.push(PercentileTable {
            source: SourceId(0),
            unit: Nanos::UNKNOWN,
            quantiles: vec![0.5, 0.9, 0.99, 0.999],
            rows: vec![
                row("/feed", "before", [0.135, 0.512, 2.353, 4.524]),
                row("/user", "before", [0.013, 0.287, 1.645, 4.038]),
                row("/im", "before", [0.009, 0.023, 0.465, 2.5]),
                row("/feed", "after", [0.078, 0.245, 0.762, 2.235]),
                row("/user", "after", [0.009, 0.105, 0.571, 1.976]),
                row("/im", "after", [0.008, 0.018, 0.131, 0.832]),
            ],
        });
        facts
    }

    #[test]
    fn the_changes_of_the_article_and_no_claim_about_chance() {
        let (before, after) = two_runs(&article()).expect("two runs");
        let compared = compare(&before, &after);
        assert_eq!(compared.list.len(), 12);
        for (name, change) in
            [("p99 of /feed", "-67.6 %"), ("p99 of /im", "-71.8 %"), ("p50 of /user", "-30.8 %")]
        {
            let figure = compared.list.iter().find(|figure| figure.name == name).expect(name);
            assert!(figure.change == change, "{figure:?}");
            assert_eq!((figure.beyond_noise, figure.unit), (None, "as-written"));
        }
        assert!(
            compared
                .headline
                .is_some_and(|text| text.starts_with("P99 of /feed -67.6 % (2.353 -> 0.762), p99"))
        );
        assert!(compared.refusal.is_some());
        assert!(two_runs(&before).is_none());
    }

    #[test]
    fn units_are_used_where_both_tell_them() {
        let (mut before, mut after) = two_runs(&article()).expect("two runs");
        before.percentiles[0].unit = Nanos::from_secs(1);
        after.percentiles[0].unit = Nanos::from_millis(1);
        let figure = &compare(&before, &after).list[0];
        assert_eq!((figure.unit, figure.before, figure.after), ("ns", Some(135e6), Some(78e3)));
        let told = compare(&before, &after).headline.unwrap_or_default();
        assert!(told.contains("(2.35 s -> 762 us)"), "{told}");
    }
}
