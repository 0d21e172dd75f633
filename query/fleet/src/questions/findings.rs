//! `fleet findings`: what was found, on how many hosts, since when, and whether it goes on.

use super::FleetAnswer;
use super::lives::{Life, LifeState, last_told, lives, titles};
use crate::error::FleetError;
use crate::fleet::{Fleet, FleetUsage};
use crate::span::{shown, stamp};
use crate::words::{Columns, grouped, listed, percent, plural};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::str::FromStr;

/// Groups that get a sentence of one of their findings.
const WITH_TITLES: usize = 20;
/// Groups that a page of text has.
const SHOWN: usize = 40;

/// What findings are put together by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GroupColumn {
    /// The rule.
    Rule,
    /// The service.
    Service,
    /// The service's version.
    Version,
    /// The host.
    Host,
    /// How grave it is.
    Severity,
    /// The process.
    Process,
    /// Who is to blame.
    Culprit,
    /// The line of the program's own code.
    Line,
}

impl GroupColumn {
    /// All of them.
    pub const ALL: [GroupColumn; 8] = [
        GroupColumn::Rule,
        GroupColumn::Service,
        GroupColumn::Version,
        GroupColumn::Host,
        GroupColumn::Severity,
        GroupColumn::Process,
        GroupColumn::Culprit,
        GroupColumn::Line,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            GroupColumn::Rule => "rule",
            GroupColumn::Service => "service",
            GroupColumn::Version => "version",
            GroupColumn::Host => "host",
            GroupColumn::Severity => "severity",
            GroupColumn::Process => "process",
            GroupColumn::Culprit => "culprit",
            GroupColumn::Line => "line",
        }
    }

    fn of(self, life: &Life) -> Option<String> {
        match self {
            GroupColumn::Rule => Some(life.rule.clone()),
            GroupColumn::Service => Some(life.service.clone()),
            GroupColumn::Version => life.version.clone(),
            GroupColumn::Host => Some(life.host.clone()),
            GroupColumn::Severity => Some(life.severity.clone()),
            GroupColumn::Process => life.process.clone(),
            GroupColumn::Culprit => life.culprit.clone(),
            GroupColumn::Line => life.line.clone(),
        }
    }
}

impl FromStr for GroupColumn {
    type Err = String;

    fn from_str(text: &str) -> Result<GroupColumn, String> {
        let found = GroupColumn::ALL.into_iter().find(|column| column.name() == text);
        found.ok_or_else(|| format!("choose of {}", GroupColumn::ALL.map(GroupColumn::name).join(", ")))
    }
}

/// Findings of a kind.
#[derive(Clone, Debug, Serialize)]
pub struct FindingGroup {
    /// What they have in common, by the columns that were asked for; null where it is unknown.
    pub by: BTreeMap<&'static str, Option<String>>,
    /// Hosts that had it.
    pub hosts: usize,
    /// Their part of the hosts that reported.
    pub share_of_hosts: f64,
    /// Hosts where it goes on.
    pub open: usize,
    /// Hosts where it ended.
    pub closed: usize,
    /// Hosts that told it and then nothing more.
    pub unknown: usize,
    /// When the first of them opened; it may be before the span.
    pub since: String,
    /// The last minute that has one.
    pub last_seen: String,
    /// Minutes of hosts that have it.
    pub host_minutes: u64,
    /// The mean part of the service's time that it explains, 0 to 1.
    pub share: Option<f64>,
    /// Some of the hosts: those where it goes on first.
    pub some_hosts: Vec<String>,
    /// What one of them says.
    pub title: Option<String>,
    #[serde(skip)]
    since_us: i64,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct FleetFindings {
    /// `whyslow.fleet-findings/1`.
    pub schema: &'static str,
    /// The span.
    pub from: String,
    /// The moment after it.
    pub until: String,
    /// Hosts that reported within it.
    pub hosts_reporting: usize,
    /// The findings, by what was asked: those that go on on most hosts first.
    pub groups: Vec<FindingGroup>,
    /// What was read.
    pub read: FleetUsage,
    #[serde(skip)]
    by: Vec<GroupColumn>,
}

impl FleetFindings {
    /// Asks for the findings of the span, of one service or all.
    ///
    /// # Errors
    /// If no agent reported, or the store cannot be read.
    pub async fn ask(
        fleet: &Fleet,
        by: &[GroupColumn],
        service: Option<&str>,
        open_only: bool,
    ) -> Result<FleetFindings, FleetError> {
        let told = last_told(fleet).await?;
        let (condition, values) = super::of_service(service);
        let mut found = lives(fleet, told, condition, &values).await?;
        if told.is_empty() && found.is_empty() {
            return Err(super::no_agent(fleet));
        }
        if open_only {
            found.retain(|life| life.state == LifeState::Open);
        }
        let mut groups: BTreeMap<Vec<Option<String>>, Vec<&Life>> = BTreeMap::new();
        for life in &found {
            groups.entry(by.iter().map(|column| column.of(life)).collect()).or_default().push(life);
        }
        let mut groups: Vec<(FindingGroup, &Life)> =
            groups.into_iter().map(|(key, lives)| group(by, key, lives, told.len())).collect();
        groups.sort_by(|(a, _), (b, _)| {
            (b.open, b.hosts, a.since_us).cmp(&(a.open, a.hosts, b.since_us)).then_with(|| a.by.cmp(&b.by))
        });
        let of: Vec<&Life> = groups.iter().take(WITH_TITLES).map(|(_, life)| *life).collect();
        let titles = titles(fleet, &of).await?;
        for (group, life) in &mut groups {
            group.title = titles.get(&(life.host.clone(), life.finding.clone())).cloned();
        }
        let span = fleet.options.span;
        Ok(FleetFindings {
            schema: "whyslow.fleet-findings/1",
            from: stamp(span.from),
            until: stamp(span.until),
            hosts_reporting: told.len(),
            groups: groups.into_iter().map(|(group, _)| group).collect(),
            read: fleet.usage(),
            by: by.to_vec(),
        })
    }
}

/// A group, and the finding that speaks for it.
fn group<'l>(
    by: &[GroupColumn],
    key: Vec<Option<String>>,
    mut lives: Vec<&'l Life>,
    reporting: usize,
) -> (FindingGroup, &'l Life) {
    let of = |state: LifeState| -> BTreeSet<&str> {
        lives.iter().filter(|life| life.state == state).map(|life| life.host.as_str()).collect()
    };
    let (open, closed, unknown) = (of(LifeState::Open), of(LifeState::Closed), of(LifeState::Unknown));
    let all: BTreeSet<&str> = lives.iter().map(|life| life.host.as_str()).collect();
    // A host where one goes on counts there, whatever else ended on it.
    let rest = |hosts: &BTreeSet<&str>, than: &[&BTreeSet<&str>]| {
        hosts.iter().filter(|host| than.iter().all(|other| !other.contains(*host))).count()
    };
    let shares: Vec<(f64, f64)> =
        lives.iter().filter_map(|life| Some((life.share?, life.minutes.max(1) as f64))).collect();
    let weight: f64 = shares.iter().map(|(_, minutes)| minutes).sum();
    let since_us = lives.iter().map(|life| life.opened).min().unwrap_or_default();
    let last = lives.iter().map(|life| life.last_seen).max().unwrap_or_default();
    let mut group = FindingGroup {
        by: by.iter().map(|column| column.name()).zip(key).collect(),
        hosts: all.len(),
        share_of_hosts: all.len() as f64 / reporting.max(all.len()).max(1) as f64,
        open: open.len(),
        closed: rest(&closed, &[&open, &unknown]),
        unknown: rest(&unknown, &[&open]),
        since: stamp(since_us),
        last_seen: stamp(last),
        host_minutes: lives.iter().map(|life| life.minutes).sum(),
        share: (weight > 0.0)
            .then(|| shares.iter().map(|(share, minutes)| share * minutes).sum::<f64>() / weight),
        some_hosts: open.iter().chain(all.difference(&open)).take(5).map(|host| host.to_string()).collect(),
        title: None,
        since_us,
    };
    group.some_hosts.dedup();
    lives.sort_by(|a, b| {
        let weight = |life: &Life| life.share.unwrap_or_default() * life.minutes as f64;
        (b.state == LifeState::Open, weight(b))
            .partial_cmp(&(a.state == LifeState::Open, weight(a)))
            .unwrap_or(std::cmp::Ordering::Equal)
            .then_with(|| a.host.cmp(&b.host))
    });
    (group, lives[0])
}

impl FleetAnswer for FleetFindings {
    fn text(&self) -> String {
        let mut out = String::new();
        let open: usize = self.groups.iter().filter(|group| group.open > 0).count();
        let Some(first) = self.groups.first() else {
            let _ = writeln!(
                out,
                "Nothing was found on {} from {} until {}.",
                plural(self.hosts_reporting, "host"),
                spoken(&self.from),
                spoken(&self.until)
            );
            return out;
        };
        let name = |group: &FindingGroup| {
            let words: Vec<String> = self.by.iter().filter_map(|by| group.by[by.name()].clone()).collect();
            if words.is_empty() { "something".to_string() } else { words.join(" of ") }
        };
        let _ = match open {
            0 => writeln!(
                out,
                "No finding continues; most hosts had {}: {} of {}, until {}.",
                name(first),
                grouped(first.hosts as u64),
                plural(self.hosts_reporting, "host"),
                spoken(&first.last_seen)
            ),
            _ => writeln!(
                out,
                "{} continues on {} of {}, since {}.",
                name(first),
                grouped(first.open as u64),
                plural(self.hosts_reporting, "host"),
                spoken(&first.since)
            ),
        };
        let mut headings: Vec<&'static str> = self.by.iter().map(|by| by.name()).collect();
        headings.extend([
            ">hosts",
            ">of all",
            ">open",
            ">ended",
            ">not known",
            "since",
            "last seen",
            ">share",
            "on",
        ]);
        let mut table = Columns::new(&headings);
        for group in self.groups.iter().take(SHOWN) {
            let mut cells: Vec<String> = self
                .by
                .iter()
                .map(|by| group.by[by.name()].clone().unwrap_or_else(|| "-".to_string()))
                .collect();
            cells.extend([
                grouped(group.hosts as u64),
                percent(group.share_of_hosts),
                grouped(group.open as u64),
                grouped(group.closed as u64),
                grouped(group.unknown as u64),
                spoken(&group.since),
                spoken(&group.last_seen),
                group.share.map_or_else(|| "-".to_string(), percent),
                listed(&more(&group.some_hosts, group.hosts)),
            ]);
            table.row(cells);
        }
        out.push('\n');
        table.print(&mut out);
        if self.groups.len() > SHOWN {
            let _ =
                writeln!(out, "… and {} (--json has all)", plural(self.groups.len() - SHOWN, "more group"));
        }
        let titles: Vec<&FindingGroup> =
            self.groups.iter().filter(|group| group.title.is_some()).take(5).collect();
        if !titles.is_empty() {
            out.push('\n');
            for group in titles {
                let title = group.title.as_deref().unwrap_or_default();
                let host = group.some_hosts.first().map(String::as_str).unwrap_or_default();
                let line = format!("{}, on {host}: {title}", name(group));
                let _ = writeln!(out, "{}", whyslow_model::visible::line(&line));
            }
        }
        out
    }
}

/// Names of some of so many: the number of the others is told by [`listed`].
pub(super) fn more(some: &[String], all: usize) -> Vec<String> {
    let mut names = some.to_vec();
    names.resize(all.max(some.len()), String::new());
    names
}

/// A stamp as people read it.
pub(super) fn spoken(stamp: &str) -> String {
    stamp.parse::<jiff::Timestamp>().map_or_else(|_| stamp.to_string(), |time| shown(time.as_microsecond()))
}
