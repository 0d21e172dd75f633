//! `fleet why SERVICE --at TIME`: what the service did more of than usual around that time, and on which hosts.
//!
//! A host's own usual is what it did in the two hours before, and around the same time a day and a week before where that is there; the
//! minutes just before are left out, for they may belong to it already. That is read of some hosts: of those that differ most from the
//! others, and of an even sample. The others are held against the sample.

use super::FleetAnswer;
use super::findings::{more, spoken};
use super::lives::{failed, titles_of_rules};
use super::then::{OpenThen, RequestsThen};
use super::usual::{Course, HostTime, Hosts, Rate, TimeKey, TimeKeys, add, rows};
use crate::error::FleetError;
use crate::fleet::{Fleet, FleetUsage, moment};
use crate::span::{HOUR, MINUTE, shown, stamp};
use crate::stats::median;
use crate::words::{Columns, grouped, listed, nanos, plural, times};
use datafusion::common::ScalarValue;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The window: so long before the time and so long after it.
const REACH: i64 = 5 * MINUTE;
/// Minutes before the window that may belong to it.
const APART: i64 = 10 * MINUTE;
/// How far back the usual goes.
const BEFORE: i64 = 2 * HOUR;
/// Days back that are looked at too.
const DAYS: [i64; 2] = [1, 7];
/// Hosts whose own usual is read: those that differ most, and an even sample.
const DEVIANT: usize = 50;
const EVEN: usize = 50;
/// Standard errors by which a host's rate has to differ from its own usual (one host in 30,000 does so by chance; kinds of time and hosts
/// together are some ten thousands), and from what the others do.
const ERRORS: f64 = 4.0;
const ERRORS_OF_OTHERS: f64 = 5.0;
/// The part of the usual by which it has to differ: a third is what people notice.
const LEAST_PART: f64 = 0.33;
/// ... and the part of all the service's time on a host, and nanoseconds a second at least.
const LEAST_OF_ALL: f64 = 0.05;
const LEAST_RATE: f64 = 1e6;
/// Minutes of a host that a usual takes at least.
const LEAST_MINUTES: usize = 5;
/// Suspects told.
const MOST: usize = 10;
/// A suspect that makes less than this part of what the first makes is not told: it follows from it, or chance made it.
const LEAST_OF_FIRST: f64 = 0.02;

/// A kind of time that took more than usual.
#[derive(Clone, Debug, Serialize)]
pub struct Suspect {
    /// The process.
    pub process: String,
    /// What threads did.
    pub state: String,
    /// In which call.
    pub call: Option<String>,
    /// About what.
    pub object: Option<String>,
    /// The line of the program's own code that has most of it there.
    pub line: Option<String>,
    /// In words.
    pub words: String,
    /// Hosts where it took more.
    pub hosts: usize,
    /// Some of them: where it took most more.
    pub some_hosts: Vec<String>,
    /// Thread time a second there, in nanoseconds: the mean over those hosts.
    pub now_ns_per_second: f64,
    /// The same usually.
    pub usual_ns_per_second: f64,
    /// `own` (more than the hosts' own usual) or `others` (more than other hosts; it was so before, or that is not known).
    pub against: &'static str,
    /// The first minute from which it was so; null where it is not known.
    pub since: Option<String>,
    #[serde(skip)]
    excess: f64,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct FleetWhy {
    /// `whyslow.fleet-why/1`.
    pub schema: &'static str,
    /// The service.
    pub service: String,
    /// The window.
    pub from: String,
    /// The moment after it.
    pub until: String,
    /// It in a sentence.
    pub sentence: String,
    /// Hosts that ran the service.
    pub hosts: usize,
    /// Hosts whose own usual was read.
    pub hosts_compared: usize,
    /// What took more than usual: what costs most over all hosts first.
    pub suspects: Vec<Suspect>,
    /// Requests then and usually; null where none are known.
    pub requests: Option<RequestsThen>,
    /// Findings of that time.
    pub findings: Vec<OpenThen>,
    /// What was read.
    pub read: FleetUsage,
}

/// From when until when a question about a time reads: its fleet is opened with this span.
pub fn why_span(at: i64) -> crate::FleetSpan {
    let furthest = DAYS.iter().max().copied().unwrap_or_default() * 24 * HOUR;
    crate::FleetSpan { from: at - furthest - BEFORE, until: at + REACH }
}

impl FleetWhy {
    /// Asks what a service did more of than usual around `at` (microseconds of UTC).
    ///
    /// # Errors
    /// If the service did not run then, or the store cannot be read.
    pub async fn ask(fleet: &Fleet, service: &str, at: i64) -> Result<FleetWhy, FleetError> {
        let window = (at - REACH, at + REACH);
        let mut keys = TimeKeys::default();
        let mut now = Hosts::new();
        let mut courses: BTreeMap<usize, BTreeMap<String, Course>> = BTreeMap::new();
        let found = rows(fleet, service, window, None).await?;
        add(&found, &mut keys, &mut now, None, |_, _, _, _| {})?;
        drop(found);
        now.retain(|_, host| host.minutes() > 0);
        if now.is_empty() {
            return Err(nothing(fleet, service, window).await?);
        }
        let sample = sample(&now, keys.len());
        let mut before = Hosts::new();
        for span in usual_spans(window.0) {
            let found = rows(fleet, service, span, Some(&sample)).await?;
            let apart = Some((window.0 - APART, window.0));
            add(&found, &mut keys, &mut before, apart, |key, host, minute, rate| {
                if span.1 == window.0 {
                    let course = courses.entry(key).or_default().entry(host.to_string()).or_default();
                    course.entry(minute).or_default().push(rate);
                }
            })?;
        }
        before.retain(|_, host| host.minutes() >= LEAST_MINUTES);
        let mut suspects: Vec<(Suspect, usize, Vec<String>)> = (0..keys.len())
            .filter_map(|key| suspect(keys.get(key), key, &now, &before, courses.get(&key), window.0))
            .collect();
        suspects.sort_by(|(a, ..), (b, ..)| {
            (b.against == "own", b.excess)
                .partial_cmp(&(a.against == "own", a.excess))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        let first = suspects.first().map_or(0.0, |(first, ..)| first.excess);
        suspects.retain(|(suspect, ..)| suspect.excess >= first * LEAST_OF_FIRST);
        suspects.truncate(MOST);
        for (suspect, key, hosts) in suspects.iter_mut().take(3) {
            suspect.line = line(fleet, service, window, keys.get(*key), hosts).await?;
        }
        let affected = suspects.first().map(|(_, _, hosts)| hosts.clone());
        let requests = requests(fleet, service, window, affected.as_deref(), &sample).await?;
        let findings = findings(fleet, service, window).await?;
        let suspects: Vec<Suspect> = suspects.into_iter().map(|(suspect, ..)| suspect).collect();
        let mut why = FleetWhy {
            schema: "whyslow.fleet-why/1",
            service: service.to_string(),
            from: stamp(window.0),
            until: stamp(window.1),
            sentence: String::new(),
            hosts: now.len(),
            hosts_compared: before.len(),
            suspects,
            requests,
            findings,
            read: fleet.usage(),
        };
        why.sentence = why.in_a_sentence();
        Ok(why)
    }

    fn in_a_sentence(&self) -> String {
        let all = plural(self.hosts, "host");
        let Some(first) = self.suspects.first() else {
            return match self.hosts_compared {
                0 => format!(
                    "{}: what it usually does is not known: no earlier minutes are there, and other hosts do the same.",
                    self.service
                ),
                _ => format!("{} did as usual on {all}: no kind of time took more than usual.", self.service),
            };
        };
        let on = match (first.hosts, self.hosts) {
            (hosts, all_of) if hosts == all_of && all_of == 1 => format!("on {}", first.some_hosts.join("")),
            (hosts, all_of) if hosts == all_of => format!("on all of {all}"),
            (1, _) => format!("on {}, 1 of {all}", first.some_hosts.join("")),
            (hosts, _) => format!("on {} of {all}", grouped(hosts as u64)),
        };
        let usual = match first.against {
            "own" => "usual",
            _ => "the other hosts",
        };
        let how_much = match first.usual_ns_per_second * 20.0 > first.now_ns_per_second {
            true => format!(
                "{} as long as {usual} ({} a second instead of {})",
                times(first.now_ns_per_second / first.usual_ns_per_second),
                nanos(first.now_ns_per_second),
                nanos(first.usual_ns_per_second)
            ),
            false => format!(
                "{} a second where {usual} {} {}",
                nanos(first.now_ns_per_second),
                if usual == "usual" { "is" } else { "spend" },
                if first.usual_ns_per_second < 1e3 {
                    "none".to_string()
                } else {
                    nanos(first.usual_ns_per_second)
                }
            ),
        };
        let since = match &first.since {
            Some(since) => format!(", since {}", spoken(since)),
            None => String::new(),
        };
        format!("{} was {} {how_much} {on}{since}.", self.service, first.words)
    }
}

/// The spans of what is usual: before the window (up to it: the last minutes are put apart later), and on days before.
fn usual_spans(begin: i64) -> Vec<(i64, i64)> {
    let mut spans = vec![(begin - APART - BEFORE, begin)];
    spans.extend(DAYS.map(|day| {
        let same = begin - day * 24 * HOUR;
        (same - APART, same + 2 * REACH + APART)
    }));
    spans
}

async fn nothing(fleet: &Fleet, service: &str, window: (i64, i64)) -> Result<FleetError, FleetError> {
    let sql =
        "SELECT DISTINCT service FROM accounts WHERE start >= $from AND start < $until ORDER BY 1 LIMIT 20";
    let values = [("from", moment(window.0)), ("until", moment(window.1))];
    let rows = fleet.rows(sql, &values).await?;
    let names = rows.texts("service").map_err(failed)?;
    let names: Vec<String> = (0..rows.len()).filter_map(|row| names.owned(row)).collect();
    let (from, until) = (shown(window.0), shown(window.1));
    Ok(FleetError::Nothing(match names.is_empty() {
        true => {
            format!("no agent reported from {from} until {until} (UTC)\nnext: name another time with --at")
        }
        false => format!(
            "{service} did not run from {from} until {until} (UTC)\nnext: choose one of {}",
            names.join(", ")
        ),
    }))
}

/// What a rate has to exceed, beyond what is usual, to be told.
fn least(usual: f64, all: f64) -> f64 {
    (usual * LEAST_PART).max(all * LEAST_OF_ALL).max(LEAST_RATE)
}

/// The middle of some rates, and how far they scatter (from the median of the distances, as of a normal distribution).
fn middle(mut rates: Vec<f64>) -> (f64, f64) {
    let middle = median(&mut rates).unwrap_or_default();
    let mut distances: Vec<f64> = rates.iter().map(|rate| (rate - middle).abs()).collect();
    (middle, median(&mut distances).unwrap_or_default() * 1.4826)
}

/// The hosts whose own usual is read.
fn sample(now: &Hosts, keys: usize) -> Vec<String> {
    if now.len() <= DEVIANT + EVEN {
        return now.keys().cloned().collect();
    }
    let mut score: BTreeMap<&str, f64> = now.keys().map(|host| (host.as_str(), 0.0)).collect();
    for key in 0..keys {
        let rates: Vec<(&String, f64)> = now.iter().map(|(name, host)| (name, host.rate(key).mean)).collect();
        let (usual, scatter) = middle(rates.iter().map(|(_, rate)| *rate).collect());
        for (name, rate) in rates {
            let all = now[name].total();
            let distance = (rate - usual) / (scatter + least(usual, all));
            if let Some(score) = score.get_mut(name.as_str()) {
                *score = score.max(distance);
            }
        }
    }
    let mut by_score: Vec<(&str, f64)> = score.into_iter().collect();
    by_score.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let mut chosen: BTreeSet<String> = by_score[..DEVIANT].iter().map(|(host, _)| host.to_string()).collect();
    let mut rest: Vec<&str> = by_score[DEVIANT..].iter().map(|(host, _)| *host).collect();
    rest.sort_unstable();
    let step = (rest.len() / EVEN).max(1);
    chosen.extend(rest.iter().step_by(step).take(EVEN).map(|host| host.to_string()));
    chosen.into_iter().collect()
}

/// A host where a kind of time took more than it does usually.
struct Excess<'h> {
    host: &'h str,
    now: f64,
    usual: f64,
    is_own: bool,
}

fn suspect(
    key: &TimeKey,
    number: usize,
    now: &Hosts,
    before: &Hosts,
    courses: Option<&BTreeMap<String, Course>>,
    begin: i64,
) -> Option<(Suspect, usize, Vec<String>)> {
    let rate = |host: &HostTime| host.rate(number);
    let (now_middle, now_scatter) = middle(now.values().map(|host| rate(host).mean).collect());
    // What is usual for hosts whose own is not known: that of the sample, else what most do now.
    let (usual, scatter) = match before.len() {
        0 => (now_middle, now_scatter),
        _ => middle(before.values().map(|host| rate(host).mean).collect()),
    };
    let mut found: Vec<Excess<'_>> = Vec::new();
    for (name, host) in now {
        let (then, all) = (rate(host), host.total());
        let exceeds = |usual: f64, errors: f64| {
            then.mean - usual > errors
                && then.mean - usual > least(usual, (all - (then.mean - usual)).max(0.0))
        };
        let of_others = |usual: f64, scatter: f64| {
            exceeds(usual, ERRORS_OF_OTHERS * (scatter * scatter + then.variance).sqrt())
        };
        match before.get(name).map(&rate) {
            Some(Rate { mean, variance }) if exceeds(mean, ERRORS * (variance + then.variance).sqrt()) => {
                found.push(Excess { host: name, now: then.mean, usual: mean, is_own: true });
            }
            // It was so before: told where others are otherwise.
            Some(_) if now.len() > 2 && of_others(now_middle, now_scatter) => {
                found.push(Excess { host: name, now: then.mean, usual: now_middle, is_own: false });
            }
            None if of_others(usual, scatter) => {
                found.push(Excess { host: name, now: then.mean, usual, is_own: !before.is_empty() });
            }
            _ => {}
        }
    }
    let is_own = found.iter().any(|excess| excess.is_own);
    found.retain(|excess| excess.is_own == is_own);
    if found.is_empty() {
        return None;
    }
    found.sort_by(|a, b| (b.now - b.usual).total_cmp(&(a.now - a.usual)).then_with(|| a.host.cmp(b.host)));
    let count = found.len() as f64;
    let mean = |of: &dyn Fn(&Excess<'_>) -> f64| found.iter().map(of).sum::<f64>() / count;
    let (now_rate, usual_rate) = (mean(&|excess| excess.now), mean(&|excess| excess.usual));
    let hosts: Vec<String> = found.iter().map(|excess| excess.host.to_string()).collect();
    let suspect = Suspect {
        process: key.process.clone(),
        state: key.state.clone(),
        call: key.call.clone(),
        object: key.object.clone(),
        line: None,
        words: key.words(),
        hosts: found.len(),
        some_hosts: hosts.iter().take(5).cloned().collect(),
        now_ns_per_second: now_rate,
        usual_ns_per_second: usual_rate,
        against: if is_own { "own" } else { "others" },
        since: is_own
            .then(|| since(courses, &hosts, (now_rate + usual_rate) / 2.0, begin))
            .flatten()
            .map(stamp),
        excess: (now_rate - usual_rate) * count,
    };
    Some((suspect, number, hosts))
}

/// The first of the minutes up to the window that all have the rate above the middle between then and usual; minutes without a row had none
/// of it. Where there are no such minutes it is the window's begin, as far as is known.
fn since(
    courses: Option<&BTreeMap<String, Course>>,
    hosts: &[String],
    bound: f64,
    begin: i64,
) -> Option<i64> {
    let mut minutes: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    let mut read = 0;
    for course in hosts.iter().filter_map(|host| courses?.get(host)) {
        read += 1;
        for (minute, rates) in course {
            minutes.entry(*minute).or_default().extend(rates);
        }
    }
    if read == 0 {
        return None;
    }
    let mut since = None;
    let mut minute = begin - MINUTE;
    minute -= minute.rem_euclid(MINUTE);
    while let Some(rates) = minutes.get_mut(&minute) {
        rates.resize(read.max(rates.len()), 0.0);
        if median(rates).unwrap_or_default() < bound {
            break;
        }
        since = Some(minute);
        minute -= MINUTE;
    }
    since
}

/// The line that has most of a kind of time on some hosts.
async fn line(
    fleet: &Fleet,
    service: &str,
    window: (i64, i64),
    key: &TimeKey,
    hosts: &[String],
) -> Result<Option<String>, FleetError> {
    let mut values = vec![
        ("service", ScalarValue::from(service)),
        ("from", moment(window.0)),
        ("until", moment(window.1)),
        ("process", ScalarValue::from(key.process.as_str())),
        ("state", ScalarValue::from(key.state.as_str())),
    ];
    let mut conditions = String::new();
    for (name, value) in [("call", &key.call), ("object", &key.object)] {
        match value {
            Some(value) => {
                values.push((name, ScalarValue::from(value.as_str())));
                let _ = write!(conditions, " AND {name} = ${name}");
            }
            None => {
                let _ = write!(conditions, " AND {name} IS NULL");
            }
        }
    }
    let names: Vec<String> = (0..hosts.len().min(EVEN)).map(|at| format!("h{at}")).collect();
    values.extend(
        names.iter().zip(hosts).map(|(name, host)| (name.as_str(), ScalarValue::from(host.as_str()))),
    );
    let places: Vec<String> = names.iter().map(|name| format!("${name}")).collect();
    let sql = format!(
        "SELECT line, sum(ns) AS ns FROM accounts WHERE service = $service AND start >= $from AND start < $until \
         AND process = $process AND state = $state{conditions} AND host IN ({}) AND line IS NOT NULL \
         GROUP BY line ORDER BY ns DESC, line LIMIT 1",
        places.join(", ")
    );
    let rows = fleet.rows(&sql, &values).await?;
    Ok(rows.texts("line").map_err(failed)?.owned_if(0, rows.len()))
}

/// Sums of requests over hosts and minutes.
#[derive(Default)]
struct Served {
    requests: f64,
    seconds: f64,
    failed: Option<f64>,
    timed: f64,
    ns: f64,
    p99: f64,
    p99_of: f64,
}

async fn served(
    fleet: &Fleet,
    service: &str,
    span: (i64, i64),
    hosts: &[String],
) -> Result<Served, FleetError> {
    let names: Vec<String> = (0..hosts.len()).map(|at| format!("h{at}")).collect();
    let mut values =
        vec![("service", ScalarValue::from(service)), ("from", moment(span.0)), ("until", moment(span.1))];
    values.extend(
        names.iter().zip(hosts).map(|(name, host)| (name.as_str(), ScalarValue::from(host.as_str()))),
    );
    let places: Vec<String> = names.iter().map(|name| format!("${name}")).collect();
    let sql = format!(
        "SELECT sum(requests) AS requests, sum(seconds) AS seconds, sum(failed) AS failed, sum(ns) AS ns, sum(timed) AS timed, \
         sum(p99) AS p99, sum(p99_of) AS p99_of FROM (SELECT host, start, sum(requests) AS requests, max(seconds) AS seconds, \
         sum(failed) AS failed, sum(ns) AS ns, sum(CASE WHEN ns IS NOT NULL THEN requests END) AS timed, \
         sum(CAST(p99_ns AS DOUBLE) * requests) AS p99, sum(CASE WHEN p99_ns IS NOT NULL THEN requests END) AS p99_of \
         FROM requests WHERE service = $service AND side = 'served' AND start >= $from AND start < $until AND host IN ({}) \
         GROUP BY host, start)",
        places.join(", ")
    );
    let rows = fleet.rows(&sql, &values).await?;
    let number = |name: &str| rows.numbers(name).map_err(failed).map(|numbers| numbers.get(0));
    Ok(Served {
        requests: number("requests")?.unwrap_or_default(),
        seconds: number("seconds")?.unwrap_or_default(),
        failed: number("failed")?,
        timed: number("timed")?.unwrap_or_default(),
        ns: number("ns")?.unwrap_or_default(),
        p99: number("p99")?.unwrap_or_default(),
        p99_of: number("p99_of")?.unwrap_or_default(),
    })
}

/// Requests then and usually: of hosts where it took more and whose usual was read, else of the sample.
async fn requests(
    fleet: &Fleet,
    service: &str,
    window: (i64, i64),
    affected: Option<&[String]>,
    sample: &[String],
) -> Result<Option<RequestsThen>, FleetError> {
    let known: BTreeSet<&String> = sample.iter().collect();
    let both: Vec<String> =
        affected.into_iter().flatten().filter(|host| known.contains(host)).cloned().collect();
    let hosts = if both.is_empty() { sample } else { &both };
    let then = served(fleet, service, window, hosts).await?;
    if then.requests == 0.0 || then.seconds == 0.0 {
        return Ok(None);
    }
    let usual = served(fleet, service, (window.0 - APART - BEFORE, window.0 - APART), hosts).await?;
    let part = |of: f64, all: f64| (all > 0.0).then(|| of / all);
    Ok(Some(RequestsThen {
        per_second: then.requests / then.seconds,
        usual_per_second: part(usual.requests, usual.seconds),
        mean_ns: part(then.ns, then.timed),
        usual_mean_ns: part(usual.ns, usual.timed),
        p99_ns: part(then.p99, then.p99_of),
        usual_p99_ns: part(usual.p99, usual.p99_of),
        failed: then.failed.map(|failed| failed / then.requests),
        usual_failed: usual.failed.and_then(|failed| part(failed, usual.requests)),
    }))
}

async fn findings(fleet: &Fleet, service: &str, window: (i64, i64)) -> Result<Vec<OpenThen>, FleetError> {
    let rules = titles_of_rules(fleet, service, window).await?;
    Ok(rules
        .into_iter()
        .map(|(rule, hosts, since, title)| OpenThen { rule, hosts, since: stamp(since), title })
        .collect())
}

impl FleetAnswer for FleetWhy {
    fn text(&self) -> String {
        let mut out = format!("{}\n", whyslow_model::visible::line(&self.sentence));
        if !self.suspects.is_empty() {
            out.push('\n');
            let mut table =
                Columns::new(&["what took more", ">a second", ">usually", ">hosts", "since", "line", "on"]);
            for suspect in &self.suspects {
                let against = if suspect.against == "own" { "" } else { " (others)" };
                table.row([
                    format!("{}: {}", suspect.process, suspect.words),
                    nanos(suspect.now_ns_per_second),
                    format!("{}{against}", nanos(suspect.usual_ns_per_second)),
                    grouped(suspect.hosts as u64),
                    suspect.since.as_deref().map_or_else(|| "-".to_string(), spoken),
                    suspect.line.clone().unwrap_or_else(|| "-".to_string()),
                    listed(&more(&suspect.some_hosts, suspect.hosts)),
                ]);
            }
            table.print(&mut out);
        }
        if let Some(requests) = &self.requests {
            let unknown = || "?".to_string();
            let time = |ns: Option<f64>| ns.map_or_else(unknown, nanos);
            let rate = |rate: Option<f64>| rate.map_or_else(unknown, |rate| format!("{rate:.1}"));
            let part = |part: Option<f64>| part.map_or_else(unknown, crate::words::percent);
            let _ = writeln!(
                out,
                "\nRequests there: {} a second and host (usually {}), mean {} ({}), p99 {} ({}), failed {} ({}).",
                rate(Some(requests.per_second)),
                rate(requests.usual_per_second),
                time(requests.mean_ns),
                time(requests.usual_mean_ns),
                time(requests.p99_ns),
                time(requests.usual_p99_ns),
                part(requests.failed),
                part(requests.usual_failed)
            );
        }
        if !self.findings.is_empty() {
            out.push('\n');
            let mut table = Columns::new(&["finding", ">hosts", "since", "says"]);
            for found in &self.findings {
                table.row([
                    found.rule.clone(),
                    grouped(found.hosts as u64),
                    spoken(&found.since),
                    found.title.clone(),
                ]);
            }
            table.print(&mut out);
        }
        let _ = writeln!(
            out,
            "\nAround {} until {}; the usual is that of the two hours before, and of a day and a week before where that is there, on {}.",
            spoken(&self.from),
            spoken(&self.until),
            plural(self.hosts_compared, "host")
        );
        out
    }
}
