//! A service over time: where its time went, its requests, its hosts.
//!
//! Over many hosts and a long span that is more than can be read while somebody waits: the course is that of an even sample of hosts, and says so.

use super::FleetAnswer;
use super::findings::spoken;
use super::lives::failed;
use super::services::{Running, running};
use super::slices::{
    AccountSlice, REQUEST_SUMS, RequestParts, RequestSlice, RequestSums, account, of_hosts, slice, step,
};
use crate::error::FleetError;
use crate::fleet::{Fleet, FleetUsage};
use crate::span::{shown, stamp};
use crate::words::{Columns, grouped, nanos, plural};
use datafusion::common::ScalarValue;
use serde::Serialize;
use std::collections::BTreeMap;

/// A host that runs the service.
#[derive(Clone, Debug, Serialize)]
pub struct ServiceHost {
    /// The host.
    pub host: String,
    /// The version.
    pub version: Option<String>,
    /// Thread time by state at the end of the span, in nanoseconds a second.
    pub states: BTreeMap<&'static str, f64>,
}

/// Requests to an endpoint.
#[derive(Clone, Debug, Serialize)]
pub struct EndpointSums {
    /// The protocol.
    pub protocol: String,
    /// The endpoint.
    pub endpoint: String,
    /// What they came to.
    #[serde(flatten)]
    pub sums: RequestSums,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct FleetService {
    /// `whyslow.fleet-service/1`.
    pub schema: &'static str,
    /// The service.
    pub service: String,
    /// The span.
    pub from: String,
    /// The moment after it.
    pub until: String,
    /// The length of a slice, in seconds.
    pub step_seconds: i64,
    /// Hosts that run it at the end of the span (else: that ran it within it), by version: most hosts first; null where a host told none.
    pub versions: Vec<(Option<String>, usize)>,
    /// Those hosts.
    pub hosts: Vec<ServiceHost>,
    /// How many of them the course and the requests were read of.
    pub hosts_read: usize,
    /// Its account over time.
    pub account: Vec<AccountSlice>,
    /// Requests that it answered over time, on the hosts that were read.
    pub requests: Vec<RequestSlice>,
    /// The same by endpoint: most requests first.
    pub endpoints: Vec<EndpointSums>,
    /// What was read.
    pub read: FleetUsage,
}

impl FleetService {
    /// Asks about a service over the span; its course is read of `sample` hosts at most.
    ///
    /// # Errors
    /// If the service did not run within the span, or the store cannot be read.
    pub async fn ask(fleet: &Fleet, service: &str, sample: usize) -> Result<FleetService, FleetError> {
        let span = fleet.options.span;
        let (_, running) = running(fleet, Some(service)).await?;
        if running.is_empty() {
            return Err(FleetError::Nothing(format!(
                "{service} did not run from {} until {} (UTC)\nnext: look further back with --since, or at the names of services",
                shown(span.from),
                shown(span.until)
            )));
        }
        let mut versions: BTreeMap<Option<String>, usize> = BTreeMap::new();
        for each in &running {
            *versions.entry(each.version.clone()).or_default() += 1;
        }
        let mut versions: Vec<(Option<String>, usize)> = versions.into_iter().collect();
        versions.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let hosts: Vec<ServiceHost> = running.into_iter().map(host).collect();
        let read = evenly(&hosts, sample);
        let mut names = Vec::new();
        let (condition, mut values) = of_hosts(&read, &mut names);
        values.push(("service", ScalarValue::from(service)));
        let condition = format!("{condition} AND service = $service");
        let account = account(fleet, &condition, &values).await?;
        let (requests, endpoints) = requests(fleet, &condition, &values).await?;
        Ok(FleetService {
            schema: "whyslow.fleet-service/1",
            service: service.to_string(),
            from: stamp(span.from),
            until: stamp(span.until),
            step_seconds: step(span) / 1_000_000,
            versions,
            hosts_read: read.len(),
            hosts,
            account,
            requests,
            endpoints,
            read: fleet.usage(),
        })
    }
}

fn host(running: Running) -> ServiceHost {
    let seconds = if running.seconds > 0.0 { running.seconds } else { 1.0 };
    ServiceHost {
        host: running.host,
        version: running.version,
        states: running.states.into_iter().map(|(state, ns)| (state, ns / seconds)).collect(),
    }
}

/// So many of the hosts, evenly over their names.
fn evenly(hosts: &[ServiceHost], most: usize) -> Vec<String> {
    let mut names: Vec<String> = hosts.iter().map(|host| host.host.clone()).collect();
    names.sort_unstable();
    names.dedup();
    let most = most.max(1);
    if names.len() <= most {
        return names;
    }
    (0..most).map(|at| names[at * names.len() / most].clone()).collect()
}

async fn requests(
    fleet: &Fleet,
    condition: &str,
    values: &[(&str, ScalarValue)],
) -> Result<(Vec<RequestSlice>, Vec<EndpointSums>), FleetError> {
    let step = step(fleet.options.span);
    let slice = slice(step);
    let sql = format!(
        "SELECT {slice} AS slice, protocol, endpoint, {REQUEST_SUMS} FROM requests \
         WHERE side = 'served' AND {condition} GROUP BY {slice}, protocol, endpoint"
    );
    let rows = fleet.rows(&sql, values).await?;
    let (protocol, endpoint) =
        (rows.texts("protocol").map_err(failed)?, rows.texts("endpoint").map_err(failed)?);
    let starts = rows.times("slice").map_err(failed)?;
    let mut by_slice: BTreeMap<i64, RequestParts> = BTreeMap::new();
    let mut by_endpoint: BTreeMap<(String, String), RequestParts> = BTreeMap::new();
    for (row, parts) in RequestParts::of(&rows)?.into_iter().enumerate() {
        let Some(start) = starts.get(row) else { continue };
        by_slice.entry(start.saturating_mul(step)).or_default().add(parts);
        by_endpoint.entry((protocol.or_empty(row), endpoint.or_empty(row))).or_default().add(parts);
    }
    let slices = by_slice
        .into_iter()
        .map(|(start_us, parts)| RequestSlice { start: stamp(start_us), start_us, sums: parts.sums() })
        .collect();
    let mut endpoints: Vec<EndpointSums> = by_endpoint
        .into_iter()
        .map(|((protocol, endpoint), parts)| EndpointSums { protocol, endpoint, sums: parts.sums() })
        .collect();
    endpoints.sort_by(|a, b| b.sums.requests.total_cmp(&a.sums.requests));
    Ok((slices, endpoints))
}

impl FleetAnswer for FleetService {
    fn text(&self) -> String {
        let mut out = format!(
            "{} runs on {}; from {} until {}, of {}.\n\n",
            whyslow_model::visible::line(&self.service),
            plural(self.hosts.len(), "host"),
            spoken(&self.from),
            spoken(&self.until),
            plural(self.hosts_read, "host"),
        );
        let mut table = Columns::new(&["from", ">time a second", "most of it", ">requests", ">p99"]);
        let requests: BTreeMap<&str, &RequestSlice> =
            self.requests.iter().map(|slice| (slice.start.as_str(), slice)).collect();
        for slice in &self.account {
            let most = slice.states.iter().max_by(|a, b| a.1.total_cmp(b.1));
            let answered = requests.get(slice.start.as_str());
            table.row([
                spoken(&slice.start),
                nanos(slice.states.values().sum()),
                most.map_or_else(|| "-".to_string(), |(state, _)| (*state).to_string()),
                answered.map_or_else(|| "-".to_string(), |slice| grouped(slice.sums.requests as u64)),
                answered.and_then(|slice| slice.sums.p99_ns).map_or_else(|| "-".to_string(), nanos),
            ]);
        }
        table.print(&mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_even_and_names_no_host_twice() {
        let hosts: Vec<ServiceHost> = (0..100)
            .chain(0..10)
            .map(|at| ServiceHost { host: format!("h{at:03}"), version: None, states: BTreeMap::new() })
            .collect();
        let read = evenly(&hosts, 10);
        assert_eq!((read.len(), read[0].as_str(), read[9].as_str()), (10, "h000", "h090"));
        assert_eq!(evenly(&hosts[..3], 10).len(), 3);
        assert_eq!(evenly(&hosts, 0).len(), 1);
    }
}
