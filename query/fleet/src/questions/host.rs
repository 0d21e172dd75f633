//! A host over time: the time of its services, its resources, its findings.

use super::FleetAnswer;
use super::findings::spoken;
use super::history::{FindingLife, life};
use super::hosts::{AgentState, agents};
use super::lives::{failed, lives};
use super::slices::{AccountSlice, account, slice, step};
use crate::error::FleetError;
use crate::fleet::{Fleet, FleetUsage};
use crate::span::{shown, stamp};
use crate::words::{Columns, nanos, plural};
use datafusion::common::ScalarValue;
use serde::Serialize;
use std::collections::BTreeMap;

/// Services of a host whose course is told: those that take most time.
const MOST_SERVICES: usize = 12;

/// A figure of a resource over time.
#[derive(Clone, Debug, Serialize)]
pub struct HostFigure {
    /// The resource.
    pub resource: String,
    /// What is measured of it.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The mean over the span.
    pub mean: f64,
    /// The largest of a minute.
    pub most: f64,
    /// The mean of each slice that has one: its begin, and the value.
    pub course: Vec<(String, f64)>,
}

/// The time of a service on the host.
#[derive(Clone, Debug, Serialize)]
pub struct HostService {
    /// The service.
    pub service: String,
    /// Its account over time.
    pub account: Vec<AccountSlice>,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct FleetHost {
    /// `whyslow.fleet-host/1`.
    pub schema: &'static str,
    /// The host.
    pub host: String,
    /// The span.
    pub from: String,
    /// The moment after it.
    pub until: String,
    /// The length of a slice, in seconds.
    pub step_seconds: i64,
    /// Its agent.
    pub agent: AgentState,
    /// Its services that take most time.
    pub services: Vec<HostService>,
    /// Services that are left out.
    pub services_left_out: usize,
    /// Its findings: those that go on first.
    pub findings: Vec<FindingLife>,
    /// Its resources.
    pub figures: Vec<HostFigure>,
    /// What was read.
    pub read: FleetUsage,
}

impl FleetHost {
    /// Asks about a host over the span.
    ///
    /// # Errors
    /// If its agent told nothing within the span, or the store cannot be read.
    pub async fn ask(fleet: &Fleet, host: &str) -> Result<FleetHost, FleetError> {
        let span = fleet.options.span;
        let of_host = [("of_host", ScalarValue::from(host))];
        let Some(agent) = agents(fleet, "host = $of_host", &of_host).await?.into_iter().next() else {
            return Err(FleetError::Nothing(format!(
                "the agent of {host} told nothing from {} until {} (UTC)\nnext: look further back with --since, or at the names of hosts",
                shown(span.from),
                shown(span.until)
            )));
        };
        let last = agent.last.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_microsecond);
        let told: BTreeMap<String, i64> = last.into_iter().map(|last| (host.to_string(), last)).collect();
        let mut found = lives(fleet, &told, "host = $of_host", &of_host).await?;
        found.sort_by_key(|life| (life.state, std::cmp::Reverse(life.last_seen)));
        let names = services(fleet, &of_host).await?;
        let mut services = Vec::new();
        for service in names.iter().take(MOST_SERVICES) {
            let values = [of_host[0].clone(), ("service", ScalarValue::from(service.as_str()))];
            let account = account(fleet, "host = $of_host AND service = $service", &values).await?;
            services.push(HostService { service: service.clone(), account });
        }
        Ok(FleetHost {
            schema: "whyslow.fleet-host/1",
            host: host.to_string(),
            from: stamp(span.from),
            until: stamp(span.until),
            step_seconds: step(span) / 1_000_000,
            agent,
            services,
            services_left_out: names.len().saturating_sub(MOST_SERVICES),
            findings: found.into_iter().map(life).collect(),
            figures: figures(fleet, &of_host).await?,
            read: fleet.usage(),
        })
    }
}

/// The services of the host: those that take most time first.
async fn services(fleet: &Fleet, values: &[(&str, ScalarValue)]) -> Result<Vec<String>, FleetError> {
    let sql = "SELECT service, sum(CASE WHEN state <> 'accept' THEN ns END) AS ns FROM accounts \
               WHERE host = $of_host GROUP BY service ORDER BY ns DESC NULLS LAST, service";
    let rows = fleet.rows(sql, values).await?;
    let names = rows.texts("service").map_err(failed)?;
    Ok((0..rows.len()).filter_map(|row| names.owned(row)).collect())
}

async fn figures(fleet: &Fleet, values: &[(&str, ScalarValue)]) -> Result<Vec<HostFigure>, FleetError> {
    let step = step(fleet.options.span);
    let slice = slice(step);
    let sql = format!(
        "SELECT resource, metric, unit, {slice} AS slice, sum(value) AS sum, count(value) AS count, max(value) AS most \
         FROM hosts WHERE host = $of_host GROUP BY resource, metric, unit, {slice} ORDER BY resource, metric, unit, slice"
    );
    let rows = fleet.rows(&sql, values).await?;
    let text = |name| rows.texts(name).map_err(failed);
    let number = |name| rows.numbers(name).map_err(failed);
    let (resource, metric, unit) = (text("resource")?, text("metric")?, text("unit")?);
    let (sum, count, most) = (number("sum")?, number("count")?, number("most")?);
    let starts = rows.times("slice").map_err(failed)?;
    let mut found: BTreeMap<[String; 3], (f64, f64, HostFigure)> = BTreeMap::new();
    for row in 0..rows.len() {
        let (Some(start), Some(sum), Some(count)) = (starts.get(row), sum.get(row), count.get(row)) else {
            continue;
        };
        let names = [resource.or_empty(row), metric.or_empty(row), unit.or_empty(row)];
        let (sums, counts, figure) = found.entry(names.clone()).or_insert_with(|| {
            let [resource, metric, unit] = names;
            let figure =
                HostFigure { resource, metric, unit, mean: 0.0, most: f64::NEG_INFINITY, course: Vec::new() };
            (0.0, 0.0, figure)
        });
        *sums += sum;
        *counts += count;
        figure.most = figure.most.max(most.get(row).unwrap_or(f64::NEG_INFINITY));
        figure.course.push((stamp(start.saturating_mul(step)), sum / count));
    }
    let done = |(sum, count, mut figure): (f64, f64, HostFigure)| {
        figure.mean = sum / count;
        (figure.mean.is_finite() && figure.most.is_finite()).then_some(figure)
    };
    Ok(found.into_values().filter_map(done).collect())
}

impl FleetAnswer for FleetHost {
    fn text(&self) -> String {
        let mut out = format!(
            "{} told {}, the last at {}{}.\n\n",
            whyslow_model::visible::line(&self.host),
            plural(self.agent.minutes as usize, "minute"),
            spoken(&self.agent.last),
            if self.agent.silent { ", and is silent since" } else { "" }
        );
        let mut table = Columns::new(&["service", ">time a second", "most of it"]);
        for service in &self.services {
            let Some(last) = service.account.last() else { continue };
            let most = last.states.iter().max_by(|a, b| a.1.total_cmp(b.1));
            table.row([
                service.service.clone(),
                nanos(last.states.values().sum()),
                most.map_or_else(|| "-".to_string(), |(state, _)| (*state).to_string()),
            ]);
        }
        table.print(&mut out);
        out.push('\n');
        let mut table = Columns::new(&["finding", "service", "state", "since"]);
        for found in &self.findings {
            table.row([
                found.rule.clone(),
                found.service.clone(),
                found.state.to_string(),
                spoken(&found.since),
            ]);
        }
        table.print(&mut out);
        out
    }
}
