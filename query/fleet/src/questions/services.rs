//! Which services run at the end of the span: on how many hosts, in which versions, and where their time goes.

use super::FleetAnswer;
use super::lives::{failed, mostly_told};
use super::slices::{REQUEST_SUMS, RequestParts, RequestSums, StateSums, account_sql, account_sums, between};
use crate::error::FleetError;
use crate::fleet::{Fleet, FleetUsage};
use crate::span::{MINUTE, stamp};
use crate::words::{Columns, grouped, nanos, plural};
use datafusion::common::ScalarValue;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What runs is what had a row within so long before the end: one or two minutes may be late.
const RECENT: i64 = 15 * MINUTE;

/// A service.
#[derive(Clone, Debug, Serialize)]
pub struct ServiceNow {
    /// Its name.
    pub service: String,
    /// Hosts that run it.
    pub hosts: usize,
    /// Hosts by version; what has no version is left out.
    pub versions: BTreeMap<String, usize>,
    /// Thread time by state, in nanoseconds a second and host.
    pub states: BTreeMap<&'static str, f64>,
    /// Requests a second over all hosts; null where none are known.
    pub requests_per_second: Option<f64>,
    /// What the requests of that time came to; null where none are known.
    pub requests: Option<RequestSums>,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct FleetServices {
    /// `whyslow.fleet-services/1`.
    pub schema: &'static str,
    /// From when on: the last quarter of an hour of the span; else of what most hosts told; else all of it.
    pub from: String,
    /// The moment after it.
    pub until: String,
    /// The services: those on most hosts first.
    pub services: Vec<ServiceNow>,
    /// What was read.
    pub read: FleetUsage,
}

/// A service in a version on a host.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) service: String,
    pub(crate) version: Option<String>,
    pub(crate) host: String,
    pub(crate) seconds: f64,
    pub(crate) states: BTreeMap<&'static str, f64>,
}

/// What runs at the end of the span, else at the end of what most hosts told, else what ran within the span: of one service or all; and from when until
/// when that is.
pub(crate) async fn running(
    fleet: &Fleet,
    service: Option<&str>,
) -> Result<((i64, i64), Vec<Running>), FleetError> {
    let span = fleet.options.span;
    for attempt in 0..3 {
        let (from, until) = match attempt {
            0 => ((span.until - RECENT).max(span.from), span.until),
            1 => match mostly_told(fleet).await? {
                Some(until) => ((until - RECENT).max(span.from), until),
                None => continue,
            },
            _ => (span.from, span.until),
        };
        let (condition, mut values) = super::of_service(service);
        values.extend(between(from, until));
        let condition = format!("{condition} AND start >= $from AND start < $until");
        let by = [("service", "service"), ("version", "version"), ("host", "host")];
        let rows = fleet.rows(&account_sql(&by, &condition), &values).await?;
        if rows.len() == 0 && attempt < 2 {
            continue;
        }
        let text = |name| rows.texts(name).map_err(failed);
        let (service, version, host) = (text("service")?, text("version")?, text("host")?);
        let entry = |(row, (seconds, states)): (usize, StateSums)| Running {
            service: service.or_empty(row),
            version: version.owned(row),
            host: host.or_empty(row),
            seconds,
            states,
        };
        return Ok(((from, until), account_sums(&rows)?.into_iter().enumerate().map(entry).collect()));
    }
    Ok(((span.from, span.until), Vec::new()))
}

impl FleetServices {
    /// Asks which services run at the end of the span.
    ///
    /// # Errors
    /// If no agent reported, or the store cannot be read.
    pub async fn ask(fleet: &Fleet) -> Result<FleetServices, FleetError> {
        let ((from, until), running) = running(fleet, None).await?;
        if running.is_empty() {
            return Err(super::no_agent(fleet));
        }
        let mut requests = requests(fleet, from, until).await?;
        let mut by_name: BTreeMap<&str, Vec<&Running>> = BTreeMap::new();
        for each in &running {
            by_name.entry(&each.service).or_default().push(each);
        }
        let mut services: Vec<ServiceNow> = by_name
            .into_iter()
            .map(|(name, all)| {
                let answered = requests.remove(name);
                service(name, &all, answered)
            })
            .collect();
        services.sort_by(|a, b| (b.hosts, &a.service).cmp(&(a.hosts, &b.service)));
        Ok(FleetServices {
            schema: "whyslow.fleet-services/1",
            from: stamp(from),
            until: stamp(until),
            services,
            read: fleet.usage(),
        })
    }
}

fn service(name: &str, all: &[&Running], answered: Option<RequestParts>) -> ServiceNow {
    let hosts: BTreeSet<&str> = all.iter().map(|each| each.host.as_str()).collect();
    let mut versions: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let (mut seconds, mut states) = (0.0, BTreeMap::<&'static str, f64>::new());
    for each in all {
        if let Some(version) = &each.version {
            versions.entry(version.clone()).or_default().insert(&each.host);
        }
        seconds += each.seconds;
        for (state, ns) in &each.states {
            *states.entry(state).or_default() += ns;
        }
    }
    // What the last minutes of a host came to may not be there yet: what was observed counts.
    let length = seconds / hosts.len().max(1) as f64;
    states.values_mut().for_each(|ns| *ns /= if seconds > 0.0 { seconds } else { 1.0 });
    let requests = answered.map(RequestParts::sums).filter(|sums| sums.requests > 0.0);
    ServiceNow {
        service: name.to_string(),
        hosts: hosts.len(),
        versions: versions.into_iter().map(|(version, hosts)| (version, hosts.len())).collect(),
        states,
        requests_per_second: requests.filter(|_| length > 0.0).map(|sums| sums.requests / length),
        requests,
    }
}

/// Requests that were answered, by service.
async fn requests(
    fleet: &Fleet,
    from: i64,
    until: i64,
) -> Result<BTreeMap<String, RequestParts>, FleetError> {
    let sql = format!(
        "SELECT service, {REQUEST_SUMS} FROM requests WHERE side = 'served' AND start >= $from AND start < $until GROUP BY service"
    );
    let values: Vec<(&str, ScalarValue)> = between(from, until).into();
    let rows = fleet.rows(&sql, &values).await?;
    let service = rows.texts("service").map_err(failed)?;
    let parts = RequestParts::of(&rows)?;
    Ok(parts.into_iter().enumerate().map(|(row, parts)| (service.or_empty(row), parts)).collect())
}

impl FleetAnswer for FleetServices {
    fn text(&self) -> String {
        let spoken = |text: &str| super::findings::spoken(text);
        let mut out = format!(
            "{} from {} until {}.\n\n",
            match self.services.len() {
                1 => "1 service ran".to_string(),
                count => format!("{} ran", plural(count, "service")),
            },
            spoken(&self.from),
            spoken(&self.until)
        );
        let mut table = Columns::new(&[
            "service",
            ">hosts",
            "versions",
            ">time a second",
            "most of it",
            ">requests a second",
            ">p99",
        ]);
        for service in &self.services {
            let most = service.states.iter().max_by(|a, b| a.1.total_cmp(b.1));
            let versions: Vec<String> =
                service.versions.iter().map(|(version, hosts)| format!("{version} ({hosts})")).collect();
            table.row([
                service.service.clone(),
                grouped(service.hosts as u64),
                versions.join(", "),
                nanos(service.states.values().sum()),
                most.map_or_else(|| "-".to_string(), |(state, _)| (*state).to_string()),
                service.requests_per_second.map_or_else(|| "-".to_string(), |rate| format!("{rate:.1}")),
                service.requests.and_then(|sums| sums.p99_ns).map_or_else(|| "-".to_string(), nanos),
            ]);
        }
        table.print(&mut out);
        let _ = writeln!(out, "\nTime is that of threads, of a second and host.");
        out
    }
}
