//! `fleet where RULE`: on which hosts, services and versions a rule found something, and where not.

use super::FleetAnswer;
use super::findings::spoken;
use super::lives::{Life, LifeState, last_told, lives};
use crate::error::FleetError;
use crate::fleet::{Fleet, FleetUsage};
use crate::span::stamp;
use crate::words::{Columns, grouped, listed, percent, plural};
use datafusion::common::ScalarValue;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Hosts that a page of text has.
const SHOWN: usize = 50;

/// A host that has it.
#[derive(Clone, Debug, Serialize)]
pub struct SpreadHost {
    /// The host.
    pub host: String,
    /// The service.
    pub service: String,
    /// Its version.
    pub version: Option<String>,
    /// `open`, `closed` or `unknown`: the agent told it and then nothing more.
    pub state: &'static str,
    /// When it opened there.
    pub since: String,
    /// The last minute that has it.
    pub last_seen: String,
    /// Minutes of the span that have it.
    pub minutes: u64,
    /// The mean part of the service's time, 0 to 1.
    pub share: Option<f64>,
    /// Who is to blame.
    pub culprit: Option<String>,
    /// The line of the program's own code.
    pub line: Option<String>,
}

/// A service and version that has it.
#[derive(Clone, Debug, Serialize)]
pub struct SpreadService {
    /// The service.
    pub service: String,
    /// Its version.
    pub version: Option<String>,
    /// Hosts that have it.
    pub hosts: usize,
    /// Hosts where it goes on.
    pub open: usize,
    /// When the first of them opened.
    pub since: String,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct FleetSpread {
    /// `whyslow.fleet-where/1`.
    pub schema: &'static str,
    /// The rule.
    pub rule: String,
    /// The span.
    pub from: String,
    /// The moment after it.
    pub until: String,
    /// Hosts that reported within it.
    pub hosts_reporting: usize,
    /// Hosts that have it.
    pub hosts_with: usize,
    /// By service and version: most hosts first.
    pub services: Vec<SpreadService>,
    /// Each host: the earliest first.
    pub hosts: Vec<SpreadHost>,
    /// What was read.
    pub read: FleetUsage,
}

impl FleetSpread {
    /// Asks where a rule found something within the span.
    ///
    /// # Errors
    /// If no agent reported, or the store cannot be read.
    pub async fn ask(fleet: &Fleet, rule: &str, service: Option<&str>) -> Result<FleetSpread, FleetError> {
        let told = last_told(fleet).await?;
        let (condition, mut values) = super::of_service(service);
        values.push(("rule", ScalarValue::from(rule)));
        let mut found = lives(fleet, told, &format!("rule = $rule AND {condition}"), &values).await?;
        if told.is_empty() && found.is_empty() {
            return Err(super::no_agent(fleet));
        }
        found.sort_by(|a, b| (a.opened, &a.host).cmp(&(b.opened, &b.host)));
        let mut services: BTreeMap<(&str, Option<&str>), Vec<&Life>> = BTreeMap::new();
        for life in &found {
            services.entry((&life.service, life.version.as_deref())).or_default().push(life);
        }
        let hosts_of = |lives: &[&Life], open: bool| -> usize {
            let lives = lives.iter().filter(|life| !open || life.state == LifeState::Open);
            lives.map(|life| &life.host).collect::<BTreeSet<_>>().len()
        };
        let mut services: Vec<SpreadService> = services
            .into_iter()
            .map(|((service, version), lives)| SpreadService {
                service: service.to_string(),
                version: version.map(str::to_string),
                hosts: hosts_of(&lives, false),
                open: hosts_of(&lives, true),
                since: stamp(lives[0].opened),
            })
            .collect();
        services.sort_by(|a, b| (b.open, b.hosts, &a.service).cmp(&(a.open, a.hosts, &b.service)));
        let hosts_with = found.iter().map(|life| &life.host).collect::<BTreeSet<_>>().len();
        let span = fleet.options.span;
        Ok(FleetSpread {
            schema: "whyslow.fleet-where/1",
            rule: rule.to_string(),
            from: stamp(span.from),
            until: stamp(span.until),
            hosts_reporting: told.len(),
            hosts_with,
            services,
            hosts: found.into_iter().map(host).collect(),
            read: fleet.usage(),
        })
    }
}

fn host(life: Life) -> SpreadHost {
    SpreadHost {
        state: match life.state {
            LifeState::Open => "open",
            LifeState::Closed => "closed",
            LifeState::Unknown => "unknown",
        },
        since: stamp(life.opened),
        last_seen: stamp(life.last_seen),
        host: life.host,
        service: life.service,
        version: life.version,
        minutes: life.minutes,
        share: life.share,
        culprit: life.culprit,
        line: life.line,
    }
}

impl FleetAnswer for FleetSpread {
    fn text(&self) -> String {
        let mut out = String::new();
        let Some(first) = self.hosts.first() else {
            let _ = writeln!(
                out,
                "{} found nothing on {} from {} until {}.",
                self.rule,
                plural(self.hosts_reporting, "host"),
                spoken(&self.from),
                spoken(&self.until)
            );
            return out;
        };
        let open: BTreeSet<&str> =
            self.hosts.iter().filter(|host| host.state == "open").map(|host| host.host.as_str()).collect();
        let _ = writeln!(
            out,
            "{} was found on {} of {}, first on {} at {}; it continues on {}.",
            self.rule,
            grouped(self.hosts_with as u64),
            plural(self.hosts_reporting, "host"),
            first.host,
            spoken(&first.since),
            grouped(open.len() as u64)
        );
        out.push('\n');
        let unknown = || "-".to_string();
        let mut table = Columns::new(&["service", "version", ">hosts", ">open", "since"]);
        for service in &self.services {
            table.row([
                service.service.clone(),
                service.version.clone().unwrap_or_else(unknown),
                grouped(service.hosts as u64),
                grouped(service.open as u64),
                spoken(&service.since),
            ]);
        }
        table.print(&mut out);
        out.push('\n');
        let mut table = Columns::new(&[
            "host",
            "service",
            "version",
            "state",
            "since",
            "last seen",
            ">minutes",
            ">share",
            "line",
        ]);
        for host in self.hosts.iter().take(SHOWN) {
            table.row([
                host.host.clone(),
                host.service.clone(),
                host.version.clone().unwrap_or_else(unknown),
                host.state.to_string(),
                spoken(&host.since),
                spoken(&host.last_seen),
                grouped(host.minutes),
                host.share.map_or_else(unknown, percent),
                host.line.clone().or_else(|| host.culprit.clone()).unwrap_or_else(unknown),
            ]);
        }
        table.print(&mut out);
        if self.hosts.len() > SHOWN {
            let rest: Vec<String> = self.hosts[SHOWN..].iter().map(|host| host.host.clone()).collect();
            let _ = writeln!(out, "… and {} (--json has all)", listed(&rest));
        }
        out
    }
}
