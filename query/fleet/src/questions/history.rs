//! A finding over time: on which hosts it opened, continued and closed, whom it hits (its blast radius), what was measured, and what to do.

use super::FleetAnswer;
use super::findings::spoken;
use super::lives::{Life, LifeState, failed, last_told, lives};
use super::slices::{REQUEST_SUMS, RequestParts, RequestSums, of_hosts, slice, step};
use crate::error::FleetError;
use crate::fleet::{Fleet, FleetUsage, moment};
use crate::span::{shown, stamp};
use crate::words::{Columns, grouped, percent, plural};
use datafusion::common::ScalarValue;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Hosts whose requests are read.
const MOST_READ: usize = 40;
/// Recordings that are told.
const MOST_KEPT: usize = 50;

/// One finding on one host.
#[derive(Clone, Debug, Serialize)]
pub struct FindingLife {
    /// Its id: the same over all its minutes.
    pub finding: String,
    /// The host.
    pub host: String,
    /// The rule.
    pub rule: String,
    /// How grave it is.
    pub severity: String,
    /// The service.
    pub service: String,
    /// Its version.
    pub version: Option<String>,
    /// The process.
    pub process: Option<String>,
    /// Who is to blame.
    pub culprit: Option<String>,
    /// The line of the program's own code.
    pub line: Option<String>,
    /// `open`, `closed` or `unknown`: the agent told it and then nothing more.
    pub state: &'static str,
    /// When it opened; it may be before the span.
    pub since: String,
    /// The last minute that has it.
    pub last_seen: String,
    /// The same two in microseconds of UTC since 1970.
    #[serde(skip)]
    pub between_us: (i64, i64),
    /// Minutes of the span that have it.
    pub minutes: u64,
    /// The mean part of the service's time, 0 to 1.
    pub share: Option<f64>,
}

/// A slice of the span.
#[derive(Clone, Debug, Serialize)]
pub struct HistorySlice {
    /// Its begin.
    pub start: String,
    /// The same in microseconds of UTC since 1970.
    #[serde(skip)]
    pub start_us: i64,
    /// Hosts that have it in some minute of the slice.
    pub hosts: usize,
    /// Hosts on which it opened.
    pub opened: usize,
    /// Hosts on which it closed.
    pub closed: usize,
}

/// Whom it hits.
#[derive(Clone, Debug, Serialize)]
pub struct BlastRadius {
    /// Hosts that have it.
    pub hosts: usize,
    /// Their part of the hosts that reported within the span, 0 to 1.
    pub share_of_hosts: f64,
    /// Hosts where it goes on.
    pub open: usize,
    /// Services that have it, by the number of hosts.
    pub services: BTreeMap<String, usize>,
    /// Versions that have it, by the number of hosts; what has no version is left out.
    pub versions: BTreeMap<String, usize>,
    /// How many of the hosts the requests were read of.
    pub hosts_read: usize,
    /// Requests of the services in the minutes and on the hosts that have it; null where none are known.
    pub requests: Option<RequestSums>,
    /// Requests of the same services on the same hosts in their other minutes; null where none are known.
    pub other_requests: Option<RequestSums>,
}

/// What one of the findings said last.
#[derive(Clone, Debug, Serialize)]
pub struct LastTold {
    /// Its host.
    pub host: String,
    /// The minute.
    pub at: String,
    /// The sentence.
    pub title: String,
    /// How often such a finding was right in trials, 0 to 1.
    pub confidence: Option<f64>,
    /// What was measured, the cause, the fix, and lines that show it: JSON as the agent wrote it.
    pub evidence: String,
}

/// A recording that was kept.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct KeptRecording {
    /// When the finding said so last.
    pub at: String,
    /// The host.
    pub host: String,
    /// Where it lies.
    pub place: String,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct FindingHistory {
    /// `whyslow.fleet-finding/1`.
    pub schema: &'static str,
    /// The rule.
    pub rule: String,
    /// The service; null for all.
    pub service: Option<String>,
    /// The span.
    pub from: String,
    /// The moment after it.
    pub until: String,
    /// The length of a slice, in seconds.
    pub step_seconds: i64,
    /// Hosts that reported within the span.
    pub hosts_reporting: usize,
    /// Over time; a slice without it has no entry.
    pub slices: Vec<HistorySlice>,
    /// On each host: the earliest first.
    pub lives: Vec<FindingLife>,
    /// Whom it hits.
    pub radius: BlastRadius,
    /// What the one that goes on longest said last.
    pub told: Option<LastTold>,
    /// Recordings that were kept for it, the latest first.
    pub kept: Vec<KeptRecording>,
    /// What was read.
    pub read: FleetUsage,
}

pub(crate) fn life(of: Life) -> FindingLife {
    FindingLife {
        state: match of.state {
            LifeState::Open => "open",
            LifeState::Closed => "closed",
            LifeState::Unknown => "unknown",
        },
        since: stamp(of.opened),
        last_seen: stamp(of.last_seen),
        between_us: (of.opened, of.last_seen),
        finding: of.finding,
        host: of.host,
        rule: of.rule,
        severity: of.severity,
        service: of.service,
        version: of.version,
        process: of.process,
        culprit: of.culprit,
        line: of.line,
        minutes: of.minutes,
        share: of.share,
    }
}

impl FindingHistory {
    /// Asks about what a rule found over the span, of one service or all.
    ///
    /// # Errors
    /// If it found nothing, or the store cannot be read.
    pub async fn ask(fleet: &Fleet, rule: &str, service: Option<&str>) -> Result<FindingHistory, FleetError> {
        let span = fleet.options.span;
        let told = last_told(fleet).await?;
        let (condition, mut values) = super::of_service(service);
        values.push(("rule", ScalarValue::from(rule)));
        let condition = format!("rule = $rule AND {condition}");
        let mut found = lives(fleet, told, &condition, &values).await?;
        if told.is_empty() && found.is_empty() {
            return Err(super::no_agent(fleet));
        }
        if found.is_empty() {
            return Err(FleetError::Nothing(format!(
                "{rule} found nothing{} from {} until {} (UTC)\nnext: look further back with --since",
                service.map(|service| format!(" of {service}")).unwrap_or_default(),
                shown(span.from),
                shown(span.until)
            )));
        }
        found.sort_by(|a, b| (a.opened, &a.host).cmp(&(b.opened, &b.host)));
        let speaker = found.iter().min_by_key(|life| (life.state, life.opened)).cloned();
        let slices = slices(fleet, &condition, &values, &found).await?;
        let radius = radius(fleet, &condition, &values, &found, told.len()).await?;
        let last = match &speaker {
            Some(life) => last_said(fleet, life).await?,
            None => None,
        };
        let kept = kept(fleet, &condition, &values).await?;
        Ok(FindingHistory {
            schema: "whyslow.fleet-finding/1",
            rule: rule.to_string(),
            service: service.map(str::to_string),
            from: stamp(span.from),
            until: stamp(span.until),
            step_seconds: step(span) / 1_000_000,
            hosts_reporting: told.len(),
            slices,
            lives: found.into_iter().map(life).collect(),
            radius,
            told: last,
            kept,
            read: fleet.usage(),
        })
    }
}

async fn slices(
    fleet: &Fleet,
    condition: &str,
    values: &[(&str, ScalarValue)],
    found: &[Life],
) -> Result<Vec<HistorySlice>, FleetError> {
    let (step, span) = (step(fleet.options.span), fleet.options.span);
    let slice = slice(step);
    let sql = format!(
        "SELECT {slice} AS slice, count(DISTINCT host) AS hosts FROM findings WHERE {condition} AND state <> 'closed' GROUP BY {slice}"
    );
    let rows = fleet.rows(&sql, values).await?;
    let (starts, hosts) = (rows.times("slice").map_err(failed)?, rows.numbers("hosts").map_err(failed)?);
    let mut slices: BTreeMap<i64, (usize, BTreeSet<&str>, BTreeSet<&str>)> = BTreeMap::new();
    for row in 0..rows.len() {
        let (Some(start), Some(hosts)) = (starts.get(row), hosts.get(row)) else { continue };
        slices.entry(start).or_default().0 = hosts as usize;
    }
    for life in found {
        if life.opened >= span.from {
            slices.entry(life.opened.div_euclid(step)).or_default().1.insert(&life.host);
        }
        if life.state == LifeState::Closed {
            slices.entry(life.last_row.div_euclid(step)).or_default().2.insert(&life.host);
        }
    }
    let entry = |(start, (hosts, opened, closed)): (i64, (usize, BTreeSet<&str>, BTreeSet<&str>))| {
        let start_us = start.saturating_mul(step);
        HistorySlice { start: stamp(start_us), start_us, hosts, opened: opened.len(), closed: closed.len() }
    };
    Ok(slices.into_iter().map(entry).collect())
}

/// How many hosts there are of each.
fn counted<'l>(all: impl Iterator<Item = (Option<&'l String>, &'l String)>) -> BTreeMap<String, usize> {
    let mut hosts: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
    for (of, host) in all {
        if let Some(of) = of {
            hosts.entry(of).or_default().insert(host);
        }
    }
    hosts.into_iter().map(|(of, hosts)| (of.clone(), hosts.len())).collect()
}

async fn radius(
    fleet: &Fleet,
    condition: &str,
    values: &[(&str, ScalarValue)],
    found: &[Life],
    reporting: usize,
) -> Result<BlastRadius, FleetError> {
    let hosts: BTreeSet<&String> = found.iter().map(|life| &life.host).collect();
    let open: BTreeSet<&String> =
        found.iter().filter(|life| life.state == LifeState::Open).map(|life| &life.host).collect();
    let step = hosts.len().div_ceil(MOST_READ).max(1);
    let read: Vec<String> = hosts.iter().step_by(step).map(|host| (*host).clone()).collect();
    let mut names = Vec::new();
    let (on, mut given) = of_hosts(&read, &mut names);
    given.extend(values.iter().cloned());
    let of = match values.iter().any(|(name, _)| *name == "service") {
        true => "service = $service".to_string(),
        false => format!("service IN (SELECT DISTINCT service FROM findings WHERE {condition})"),
    };
    // The minutes of a host and service that have it, and the others.
    let sql = format!(
        "SELECT has, {REQUEST_SUMS} FROM (SELECT r.*, f.host IS NOT NULL AS has FROM \
         (SELECT * FROM requests WHERE side = 'served' AND {on} AND {of}) r \
         LEFT JOIN (SELECT DISTINCT host, service, start FROM findings WHERE {condition} AND {on} AND state <> 'closed') f \
         ON r.host = f.host AND r.service = f.service AND r.start = f.start) GROUP BY has"
    );
    let rows = fleet.rows(&sql, &given).await?;
    let has = rows.texts("has").map_err(failed)?;
    let (mut requests, mut other_requests) = (None, None);
    for (row, parts) in RequestParts::of(&rows)?.into_iter().enumerate() {
        let sums = Some(parts.sums()).filter(|sums| sums.requests > 0.0);
        match has.get(row) {
            Some("true") => requests = sums,
            _ => other_requests = sums,
        }
    }
    Ok(BlastRadius {
        hosts: hosts.len(),
        share_of_hosts: hosts.len() as f64 / reporting.max(hosts.len()).max(1) as f64,
        open: open.len(),
        services: counted(found.iter().map(|life| (Some(&life.service), &life.host))),
        versions: counted(found.iter().map(|life| (life.version.as_ref(), &life.host))),
        hosts_read: read.len(),
        requests,
        other_requests,
    })
}

/// What a finding said in its last minute.
async fn last_said(fleet: &Fleet, life: &Life) -> Result<Option<LastTold>, FleetError> {
    let values = [
        ("of_host", ScalarValue::from(life.host.as_str())),
        ("finding", ScalarValue::from(life.finding.as_str())),
        ("at", moment(life.last_row)),
    ];
    let sql = "SELECT title, confidence, evidence FROM findings WHERE host = $of_host AND finding = $finding AND start = $at LIMIT 1";
    let rows = fleet.rows(sql, &values).await?;
    let (title, evidence) = (rows.texts("title").map_err(failed)?, rows.texts("evidence").map_err(failed)?);
    let confidence = rows.numbers("confidence").map_err(failed)?;
    Ok((rows.len() > 0).then(|| LastTold {
        host: life.host.clone(),
        at: stamp(life.last_row),
        title: title.or_empty(0),
        confidence: confidence.get(0),
        evidence: evidence.or_empty(0),
    }))
}

async fn kept(
    fleet: &Fleet,
    condition: &str,
    values: &[(&str, ScalarValue)],
) -> Result<Vec<KeptRecording>, FleetError> {
    let sql = format!(
        "SELECT host, dump, max(start) AS at FROM findings WHERE {condition} AND dump IS NOT NULL \
         GROUP BY host, dump ORDER BY at DESC, host LIMIT {MOST_KEPT}"
    );
    let rows = fleet.rows(&sql, values).await?;
    let (host, place) = (rows.texts("host").map_err(failed)?, rows.texts("dump").map_err(failed)?);
    let at = rows.times("at").map_err(failed)?;
    Ok((0..rows.len())
        .filter_map(|row| {
            Some(KeptRecording { at: stamp(at.get(row)?), host: host.owned(row)?, place: place.owned(row)? })
        })
        .collect())
}

impl FleetAnswer for FindingHistory {
    fn text(&self) -> String {
        let radius = &self.radius;
        let mut out = format!(
            "{} was found on {} of {} ({}), first at {}; it continues on {}.\n",
            whyslow_model::visible::line(&self.rule),
            grouped(radius.hosts as u64),
            plural(self.hosts_reporting, "host"),
            percent(radius.share_of_hosts),
            self.lives.first().map(|life| spoken(&life.since)).unwrap_or_default(),
            grouped(radius.open as u64),
        );
        if let Some(told) = &self.told {
            let _ = writeln!(
                out,
                "{}",
                whyslow_model::visible::line(&format!("On {}: {}", told.host, told.title))
            );
        }
        out.push('\n');
        let mut table = Columns::new(&["from", ">hosts", ">opened", ">closed"]);
        for slice in &self.slices {
            table.row([
                spoken(&slice.start),
                grouped(slice.hosts as u64),
                grouped(slice.opened as u64),
                grouped(slice.closed as u64),
            ]);
        }
        table.print(&mut out);
        out
    }
}
