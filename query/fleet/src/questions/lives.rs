//! The lives of findings: on which host, since when, and whether they go on.

use crate::error::FleetError;
use crate::fleet::{Fleet, moment};
use crate::span::{HOUR, MINUTE};
use datafusion::common::{DataFusionError, ScalarValue};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use whyslow_query_engine::QueryError;

/// A finding that was told no later than this before the last minute of its host goes on; agents tell it each minute, and one
/// minute may be late.
const STILL: i64 = 3 * MINUTE;
/// A host whose agent sends each minute, and that told nothing for so long, is silent: it sends in less than five minutes.
const SILENT_BY_MINUTE: i64 = 10 * MINUTE;
/// Any other: agents that upload send an hour when it is over, within some minutes.
const SILENT_BY_HOUR: i64 = HOUR + 15 * MINUTE;

/// How long hosts may tell nothing before they are silent.
pub(crate) struct Silence {
    until: i64,
    by_minute: BTreeSet<String>,
}

impl Silence {
    /// At the end of the fleet's span. Agents have to be asked about before.
    pub(crate) fn of(fleet: &Fleet) -> Silence {
        Silence { until: fleet.options.span.until, by_minute: fleet.sends_minutes() }
    }

    /// Whether a host is silent whose last minute this is.
    pub(crate) fn is_silent(&self, host: &str, last: i64) -> bool {
        let limit = if self.by_minute.contains(host) { SILENT_BY_MINUTE } else { SILENT_BY_HOUR };
        self.until - last > limit
    }
}

/// What is known of a finding at the end of the span.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LifeState {
    /// It goes on.
    Open,
    /// Its agent closed it.
    Closed,
    /// Its agent told it and then nothing more: it stopped, or its host.
    Unknown,
}

/// One finding on one host.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) host: String,
    pub(crate) finding: String,
    pub(crate) rule: String,
    pub(crate) severity: String,
    pub(crate) service: String,
    pub(crate) version: Option<String>,
    pub(crate) process: Option<String>,
    pub(crate) culprit: Option<String>,
    pub(crate) line: Option<String>,
    pub(crate) state: LifeState,
    /// When it opened; that may be before the span.
    pub(crate) opened: i64,
    pub(crate) last_seen: i64,
    /// The last row of it.
    pub(crate) last_row: i64,
    /// Minutes of the span that have it.
    pub(crate) minutes: u64,
    /// The mean share of the service's time.
    pub(crate) share: Option<f64>,
}

/// An error of a step of ours.
pub(crate) fn failed(error: DataFusionError) -> FleetError {
    QueryError::Failed(error.strip_backtrace()).into()
}

/// When each host told something last; all hosts of the span. It is asked once.
pub(crate) async fn last_told(fleet: &Fleet) -> Result<&BTreeMap<String, i64>, FleetError> {
    fleet.told.get_or_try_init(|| ask_last_told(fleet)).await
}

/// The end of what most hosts told: where agents send hours, that is before the end of the span.
pub(crate) async fn mostly_told(fleet: &Fleet) -> Result<Option<i64>, FleetError> {
    let mut last: Vec<i64> = last_told(fleet).await?.values().copied().collect();
    last.sort_unstable();
    Ok(last.get(last.len() / 2).map(|last| last + MINUTE))
}

async fn ask_last_told(fleet: &Fleet) -> Result<BTreeMap<String, i64>, FleetError> {
    let rows = fleet.rows("SELECT host, max(start) AS last FROM agents GROUP BY host", &[]).await?;
    let (hosts, last) = (rows.texts("host").map_err(failed)?, rows.times("last").map_err(failed)?);
    Ok((0..rows.len()).filter_map(|row| Some((hosts.owned(row)?, last.get(row)?))).collect())
}

/// The findings of the span that a condition leaves, each with its life. `told` is when each host told something last.
pub(crate) async fn lives(
    fleet: &Fleet,
    told: &BTreeMap<String, i64>,
    condition: &str,
    values: &[(&str, ScalarValue)],
) -> Result<Vec<Life>, FleetError> {
    // What a finding has beside its figures is the same over its minutes, as a rule; where it is not, the last one counts.
    let sql = format!(
        "SELECT host, finding, rule, severity, service, version, process, culprit, line, min(opened) AS opened, \
         max(last_seen) AS last_seen, max(start) AS last_row, max(CASE WHEN state = 'closed' THEN start END) AS closed, \
         count(CASE WHEN state <> 'closed' THEN 1 END) AS minutes, sum(share) AS share, count(share) AS shares \
         FROM findings WHERE {condition} GROUP BY host, finding, rule, severity, service, version, process, culprit, line"
    );
    let rows = fleet.rows(&sql, values).await?;
    let text = |name| rows.texts(name).map_err(failed);
    let time = |name| rows.times(name).map_err(failed);
    let (host, finding, rule) = (text("host")?, text("finding")?, text("rule")?);
    let (severity, service, version) = (text("severity")?, text("service")?, text("version")?);
    let (process, culprit, line) = (text("process")?, text("culprit")?, text("line")?);
    let (opened, last_seen) = (time("opened")?, time("last_seen")?);
    let (last_row, closed) = (time("last_row")?, time("closed")?);
    let minutes = rows.numbers("minutes").map_err(failed)?;
    let (share, shares) = (rows.numbers("share").map_err(failed)?, rows.numbers("shares").map_err(failed)?);
    let silence = Silence::of(fleet);
    let mut found: BTreeMap<(String, String), (Life, f64, Option<i64>)> = BTreeMap::new();
    for row in 0..rows.len() {
        let (Some(host), Some(last_row)) = (host.owned(row), last_row.get(row)) else { continue };
        let life = Life {
            finding: finding.or_empty(row),
            rule: rule.or_empty(row),
            severity: severity.or_empty(row),
            service: service.or_empty(row),
            version: version.owned(row),
            process: process.owned(row),
            culprit: culprit.owned(row),
            line: line.owned(row),
            state: LifeState::Unknown,
            opened: opened.get(row).unwrap_or(last_row),
            last_seen: last_seen.get(row).unwrap_or(last_row),
            last_row,
            minutes: minutes.get(row).unwrap_or_default() as u64,
            share: share.get(row),
            host,
        };
        let (shares, closed) = (shares.get(row).unwrap_or_default(), closed.get(row));
        let key = (life.host.clone(), life.finding.clone());
        let whole = match found.remove(&key) {
            Some((other, other_shares, other_closed)) => {
                (joined(life, other), shares + other_shares, closed.max(other_closed))
            }
            None => (life, shares, closed),
        };
        found.insert(key, whole);
    }
    let judged = |(mut life, shares, closed): (Life, f64, Option<i64>)| {
        let told = told.get(&life.host).copied().unwrap_or(life.last_row).max(life.last_row);
        life.share = life.share.filter(|_| shares > 0.0).map(|sum| sum / shares);
        life.state = match closed {
            Some(closed) if closed >= life.last_row => LifeState::Closed,
            _ if told - life.last_row <= STILL && !silence.is_silent(&life.host, told) => LifeState::Open,
            _ => LifeState::Unknown,
        };
        life
    };
    Ok(found.into_values().map(judged).collect())
}

/// One finding of two of its rows; `share` is a sum still.
fn joined(a: Life, b: Life) -> Life {
    let (last, other) = if a.last_row >= b.last_row { (a, b) } else { (b, a) };
    Life {
        opened: last.opened.min(other.opened),
        last_seen: last.last_seen.max(other.last_seen),
        minutes: last.minutes + other.minutes,
        share: last.share.map_or(other.share, |share| Some(share + other.share.unwrap_or_default())),
        ..last
    }
}

/// The sentences of some findings: what they said last. Few, because texts are long.
pub(crate) async fn titles(
    fleet: &Fleet,
    of: &[&Life],
) -> Result<BTreeMap<(String, String), String>, FleetError> {
    if of.is_empty() {
        return Ok(BTreeMap::new());
    }
    let names: Vec<[String; 3]> =
        (0..of.len()).map(|at| [format!("h{at}"), format!("f{at}"), format!("t{at}")]).collect();
    let mut values: Vec<(&str, ScalarValue)> = Vec::new();
    let mut conditions = Vec::new();
    for (life, [host, finding, time]) in of.iter().zip(&names) {
        values.push((host, ScalarValue::from(life.host.as_str())));
        values.push((finding, ScalarValue::from(life.finding.as_str())));
        values.push((time, moment(life.last_row)));
        conditions.push(format!("(start = ${time} AND host = ${host} AND finding = ${finding})"));
    }
    // The first two say to the table which hours and hosts to read.
    let first = of.iter().map(|life| life.last_row).min().unwrap_or_default();
    let last = of.iter().map(|life| life.last_row).max().unwrap_or_default();
    values.extend([("first", moment(first)), ("last", moment(last))]);
    let sql = format!(
        "SELECT host, finding, title FROM findings WHERE start >= $first AND start <= $last AND ({})",
        conditions.join(" OR ")
    );
    let rows = fleet.rows(&sql, &values).await?;
    let text = |name| rows.texts(name).map_err(failed);
    let (host, finding, title) = (text("host")?, text("finding")?, text("title")?);
    Ok((0..rows.len())
        .filter_map(|row| Some(((host.owned(row)?, finding.owned(row)?), title.owned(row)?)))
        .collect())
}

/// The rules that found something of a service within a window: on how many hosts, since when, and what one finding says.
pub(crate) async fn titles_of_rules(
    fleet: &Fleet,
    service: &str,
    window: (i64, i64),
) -> Result<Vec<(String, usize, i64, String)>, FleetError> {
    let sql = "SELECT rule, count(DISTINCT host) AS hosts, min(opened) AS since, max(title) AS title FROM findings \
               WHERE service = $service AND start >= $from AND start < $until AND state <> 'closed' \
               GROUP BY rule ORDER BY hosts DESC, rule";
    let values =
        [("service", ScalarValue::from(service)), ("from", moment(window.0)), ("until", moment(window.1))];
    let rows = fleet.rows(sql, &values).await?;
    let (rule, title) = (rows.texts("rule").map_err(failed)?, rows.texts("title").map_err(failed)?);
    let (hosts, since) = (rows.numbers("hosts").map_err(failed)?, rows.times("since").map_err(failed)?);
    let entry =
        |row: usize| Some((rule.owned(row)?, hosts.get(row)? as usize, since.get(row)?, title.or_empty(row)));
    Ok((0..rows.len()).filter_map(entry).collect())
}
