//! `fleet hosts`: the agents, their versions, what they lost, and who is silent.

use super::FleetAnswer;
use super::findings::spoken;
use super::lives::{Silence, failed};
use crate::error::FleetError;
use crate::fleet::{Fleet, FleetUsage};
use crate::span::{MINUTE, length, stamp};
use crate::words::{Columns, bytes, grouped, listed, percent, plural};
use datafusion::common::ScalarValue;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Hosts that a page of text has.
const SHOWN: usize = 40;
/// A part of the events lost from which it is told: figures of such a minute are too small.
const MUCH_LOST: f64 = 0.001;

/// An agent.
#[derive(Clone, Debug, Serialize)]
pub struct AgentState {
    /// Its host.
    pub host: String,
    /// Its version.
    pub version: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// How it recorded last.
    pub mode: Option<String>,
    /// The last minute that is there.
    pub last: String,
    /// From its end to that of the span, in seconds.
    pub lag_seconds: f64,
    /// It told nothing for 10 minutes at the end of the span, or for 75 where its agent sends hours.
    pub silent: bool,
    /// Minutes of the span that are there.
    pub minutes: u64,
    /// The mean part of one CPU that it took, 0 to 1.
    pub cpu_share: Option<f64>,
    /// The most memory that it had.
    pub memory_bytes: Option<u64>,
    /// The part of its events that it lost, 0 to 1.
    pub lost: Option<f64>,
    /// The detail that it gave up, as it told last.
    pub shed: Option<String>,
    /// How far its clock is ahead, in seconds.
    pub clock_skew_seconds: Option<f64>,
    /// Parts that waited to be uploaded, as it told last.
    pub parts_waiting: Option<u64>,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct FleetHosts {
    /// `whyslow.fleet-hosts/1`.
    pub schema: &'static str,
    /// The span.
    pub from: String,
    /// The moment after it.
    pub until: String,
    /// The silent ones first, then those that lose most.
    pub hosts: Vec<AgentState>,
    /// What was read.
    pub read: FleetUsage,
}

impl FleetHosts {
    /// Asks for the agents of the span.
    ///
    /// # Errors
    /// If none reported, or the store cannot be read.
    pub async fn ask(fleet: &Fleet) -> Result<FleetHosts, FleetError> {
        let mut hosts = agents(fleet, "true", &[]).await?;
        if hosts.is_empty() {
            return Err(super::no_agent(fleet));
        }
        hosts.sort_by(|a, b| {
            let first = |host: &AgentState| (host.silent, host.lost.unwrap_or_default());
            let order = first(b).partial_cmp(&first(a)).unwrap_or(std::cmp::Ordering::Equal);
            order.then_with(|| a.host.cmp(&b.host))
        });
        let span = fleet.options.span;
        Ok(FleetHosts {
            schema: "whyslow.fleet-hosts/1",
            from: stamp(span.from),
            until: stamp(span.until),
            hosts,
            read: fleet.usage(),
        })
    }
}

/// The agents that a condition leaves.
pub(crate) async fn agents(
    fleet: &Fleet,
    condition: &str,
    values: &[(&str, ScalarValue)],
) -> Result<Vec<AgentState>, FleetError> {
    let sql = format!(
        "SELECT host, max(start) AS last, count(DISTINCT start) AS minutes, \
               last_value(version ORDER BY start) AS version, last_value(kernel ORDER BY start) AS kernel, \
               last_value(mode ORDER BY start) AS mode, last_value(shed ORDER BY start) AS shed, \
               last_value(clock_skew_ns ORDER BY start) AS skew, last_value(parts_waiting ORDER BY start) AS waiting, \
               avg(cpu_share) AS cpu, max(memory_bytes) AS memory, sum(events) AS events, sum(lost) AS lost \
               FROM agents WHERE {condition} GROUP BY host"
    );
    let rows = fleet.rows(&sql, values).await?;
    let text = |name| rows.texts(name).map_err(failed);
    let number = |name| rows.numbers(name).map_err(failed);
    let (host, version, kernel) = (text("host")?, text("version")?, text("kernel")?);
    let (mode, shed) = (text("mode")?, text("shed")?);
    let (skew, waiting, cpu) = (number("skew")?, number("waiting")?, number("cpu")?);
    let (memory, events, lost) = (number("memory")?, number("events")?, number("lost")?);
    let (minutes, last) = (number("minutes")?, rows.times("last").map_err(failed)?);
    let until = fleet.options.span.until;
    let silence = Silence::of(fleet);
    let state = |row: usize| {
        let last = last.get(row)?;
        let events = events.get(row).filter(|events| *events > 0.0);
        let host = host.owned(row)?;
        Some(AgentState {
            silent: silence.is_silent(&host, last),
            host,
            version: version.owned(row),
            kernel: kernel.owned(row),
            mode: mode.owned(row),
            last: stamp(last),
            lag_seconds: (until - last - MINUTE).max(0) as f64 / 1e6,
            minutes: minutes.get(row).unwrap_or_default() as u64,
            cpu_share: cpu.get(row),
            memory_bytes: memory.get(row).map(|bytes| bytes as u64),
            lost: lost.get(row).zip(events).map(|(lost, events)| lost / (events + lost)),
            shed: shed.owned(row),
            clock_skew_seconds: skew.get(row).map(|ns| ns / 1e9),
            parts_waiting: waiting.get(row).map(|count| count as u64),
        })
    };
    Ok((0..rows.len()).filter_map(state).collect())
}

impl FleetAnswer for FleetHosts {
    fn text(&self) -> String {
        let mut out = String::new();
        let names = |is: &dyn Fn(&&AgentState) -> bool| -> Vec<String> {
            self.hosts.iter().filter(is).map(|host| host.host.clone()).collect()
        };
        let silent = names(&|host| host.silent);
        let _ = match silent.len() {
            0 => writeln!(out, "All of {} report.", plural(self.hosts.len(), "host")),
            count => writeln!(
                out,
                "{} of {} {} silent at the end of the span: {}.",
                grouped(count as u64),
                plural(self.hosts.len(), "host"),
                if count == 1 { "is" } else { "are" },
                listed(&silent)
            ),
        };
        let lossy = names(&|host| host.lost.is_some_and(|lost| lost >= MUCH_LOST));
        if !lossy.is_empty() {
            let _ = writeln!(out, "{} lose events: {}.", plural(lossy.len(), "host"), listed(&lossy));
        }
        let mut versions: BTreeMap<&str, usize> = BTreeMap::new();
        for host in &self.hosts {
            *versions.entry(host.version.as_deref().unwrap_or("unknown")).or_default() += 1;
        }
        let versions: Vec<String> = versions
            .iter()
            .map(|(version, count)| format!("{version} on {}", plural(*count, "host")))
            .collect();
        let _ = writeln!(out, "Versions: {}.\n", versions.join(", "));
        let unknown = || "-".to_string();
        let mut table = Columns::new(&[
            "host", "state", "version", "kernel", "mode", "last", ">lag", ">minutes", ">CPU", ">memory",
            ">lost", ">skew", ">waiting", "gave up",
        ]);
        for host in self.hosts.iter().take(SHOWN) {
            table.row([
                host.host.clone(),
                if host.silent { "silent" } else { "reports" }.to_string(),
                host.version.clone().unwrap_or_else(unknown),
                host.kernel.clone().unwrap_or_else(unknown),
                host.mode.clone().unwrap_or_else(unknown),
                spoken(&host.last),
                length((host.lag_seconds * 1e6) as i64),
                grouped(host.minutes),
                host.cpu_share.map_or_else(unknown, percent),
                host.memory_bytes.map_or_else(unknown, bytes),
                host.lost.map_or_else(unknown, percent),
                host.clock_skew_seconds.map_or_else(unknown, |skew| format!("{skew:.3} s")),
                host.parts_waiting.map_or_else(unknown, grouped),
                host.shed.clone().unwrap_or_else(unknown),
            ]);
        }
        table.print(&mut out);
        if self.hosts.len() > SHOWN {
            let _ = writeln!(out, "… and {} (--json has all)", plural(self.hosts.len() - SHOWN, "more host"));
        }
        out
    }
}
