//! `fleet compare OLD NEW`: what a version costs beside another one, per request where requests are known and else per second, with the
//! intervals in which chance leaves the differences. A value is that of a host; where too few hosts ran a version, that of ten minutes.

use super::FleetAnswer;
use super::findings::spoken;
use super::lives::failed;
use super::usual::TimeKey;
use crate::error::FleetError;
use crate::fleet::{Fleet, FleetUsage};
use crate::span::stamp;
use crate::stats::{LEAST, moments, welch};
use crate::words::{Columns, grouped, nanos, percent, plural, times};
use datafusion::common::ScalarValue;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The chance that one of the differences told of a service is none; it is shared out over all that are looked at.
const ERROR: f64 = 0.05;
/// A kind of time with less than this part of all time on both sides is not looked at: each one makes the intervals of the others longer.
const LEAST_PART: f64 = 0.002;
/// Requests of a side from which costs are told per request.
const LEAST_REQUESTS: f64 = 100.0;

/// A figure of both versions.
#[derive(Clone, Debug, Serialize)]
pub struct FigureComparison {
    /// `time` (of one kind), `all time`, `duration` (of requests), `p99` (of requests) or `failed` (the part of requests).
    pub measure: &'static str,
    /// Of `time`: the process.
    pub process: Option<String>,
    /// Of `time`: what threads did.
    pub state: Option<String>,
    /// Of `time`: in which call.
    pub call: Option<String>,
    /// Of `time`: about what.
    pub object: Option<String>,
    /// What it is, in words.
    pub words: String,
    /// The old version's mean: nanoseconds a unit, nanoseconds, or a part.
    pub old: f64,
    /// The new version's mean.
    pub new: f64,
    /// The difference lies above this, with 95 % for all of a service's figures together; null where there are too few values.
    pub low: Option<f64>,
    /// ... and below this.
    pub high: Option<f64>,
    /// `more`, `less`, `no difference seen` or `too little`.
    pub verdict: &'static str,
}

/// One service in both versions.
#[derive(Clone, Debug, Serialize)]
pub struct ServiceComparison {
    /// The service.
    pub service: String,
    /// What costs are told by: `request` or `second`.
    pub per: &'static str,
    /// What one value is: `host` or `ten minutes`.
    pub value_of: &'static str,
    /// Values of the old version.
    pub old_values: usize,
    /// Values of the new version.
    pub new_values: usize,
    /// Hosts that ran the old version.
    pub old_hosts: usize,
    /// Hosts that ran the new version.
    pub new_hosts: usize,
    /// True where they ran at the same time: else what changed meanwhile is in the differences too.
    pub same_time: bool,
    /// What costs more first, then what costs less, then the rest.
    pub figures: Vec<FigureComparison>,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct FleetCompare {
    /// `whyslow.fleet-compare/1`.
    pub schema: &'static str,
    /// The old version.
    pub old: String,
    /// The new version.
    pub new: String,
    /// The span.
    pub from: String,
    /// The moment after it.
    pub until: String,
    /// Services that ran in both versions.
    pub services: Vec<ServiceComparison>,
    /// What was read.
    pub read: FleetUsage,
}

/// How often a version of a service ran.
#[derive(Default)]
struct Ran {
    hosts: usize,
    blocks: usize,
    first: i64,
    last: i64,
}

/// What one host (or ten minutes) took.
#[derive(Default)]
struct Value {
    seconds: f64,
    requests: f64,
    failed: Option<f64>,
    timed: f64,
    duration: f64,
    p99: f64,
    p99_of: f64,
    times: BTreeMap<TimeKey, f64>,
}

impl FleetCompare {
    /// Asks for the costs of two versions within the span, of one service or all that ran in both.
    ///
    /// # Errors
    /// If no service ran in both, or the store cannot be read.
    pub async fn ask(
        fleet: &Fleet,
        old: &str,
        new: &str,
        service: Option<&str>,
    ) -> Result<FleetCompare, FleetError> {
        let ran = ran(fleet, old, new, service).await?;
        let mut services = Vec::new();
        for (name, versions) in &ran {
            if let (Some(before), Some(after)) = (versions.get(old), versions.get(new)) {
                services.push(of_service(fleet, name, (old, before), (new, after)).await?);
            }
        }
        if services.is_empty() {
            return Err(neither(fleet, old, new, service, &ran).await?);
        }
        let span = fleet.options.span;
        Ok(FleetCompare {
            schema: "whyslow.fleet-compare/1",
            old: old.to_string(),
            new: new.to_string(),
            from: stamp(span.from),
            until: stamp(span.until),
            services,
            read: fleet.usage(),
        })
    }
}

async fn ran(
    fleet: &Fleet,
    old: &str,
    new: &str,
    service: Option<&str>,
) -> Result<BTreeMap<String, BTreeMap<String, Ran>>, FleetError> {
    let (condition, mut values) = super::of_service(service);
    values.extend([("old", ScalarValue::from(old)), ("new", ScalarValue::from(new))]);
    let sql = format!(
        "SELECT service, version, count(DISTINCT host) AS hosts, min(start) AS first, max(start) AS last, \
         count(DISTINCT date_bin(INTERVAL '10 minutes', start)) AS blocks FROM accounts \
         WHERE version IN ($old, $new) AND {condition} GROUP BY service, version"
    );
    let rows = fleet.rows(&sql, &values).await?;
    let (service, version) = (rows.texts("service").map_err(failed)?, rows.texts("version").map_err(failed)?);
    let (hosts, blocks) = (rows.numbers("hosts").map_err(failed)?, rows.numbers("blocks").map_err(failed)?);
    let (first, last) = (rows.times("first").map_err(failed)?, rows.times("last").map_err(failed)?);
    let mut found: BTreeMap<String, BTreeMap<String, Ran>> = BTreeMap::new();
    for row in 0..rows.len() {
        let ran = Ran {
            hosts: hosts.get(row).unwrap_or_default() as usize,
            blocks: blocks.get(row).unwrap_or_default() as usize,
            first: first.get(row).unwrap_or_default(),
            last: last.get(row).unwrap_or_default(),
        };
        found.entry(service.or_empty(row)).or_default().insert(version.or_empty(row), ran);
    }
    Ok(found)
}

async fn neither(
    fleet: &Fleet,
    old: &str,
    new: &str,
    service: Option<&str>,
    ran: &BTreeMap<String, BTreeMap<String, Ran>>,
) -> Result<FleetError, FleetError> {
    let (condition, values) = super::of_service(service);
    let sql = format!(
        "SELECT DISTINCT service, version FROM accounts WHERE version IS NOT NULL AND {condition} ORDER BY 1, 2 LIMIT 20"
    );
    let rows = fleet.rows(&sql, &values).await?;
    let (service, version) = (rows.texts("service").map_err(failed)?, rows.texts("version").map_err(failed)?);
    let known: Vec<String> =
        (0..rows.len()).map(|row| format!("{} {}", service.or_empty(row), version.or_empty(row))).collect();
    let one: Vec<&String> = ran.keys().collect();
    let only = match one.first() {
        Some(name) => format!("{name} ran in one of them alone"),
        None => "neither ran".to_string(),
    };
    Ok(FleetError::Nothing(format!(
        "no service ran both as {old} and as {new} in this span: {only}\nnext: choose of {}",
        if known.is_empty() { "no versions: none is known".to_string() } else { known.join(", ") }
    )))
}

async fn of_service(
    fleet: &Fleet,
    service: &str,
    (old, before): (&str, &Ran),
    (new, after): (&str, &Ran),
) -> Result<ServiceComparison, FleetError> {
    let by_host = before.hosts >= LEAST && after.hosts >= LEAST;
    let by_block = !by_host && before.blocks >= LEAST && after.blocks >= LEAST;
    let value = if by_block { "CAST(date_bin(INTERVAL '10 minutes', start) AS VARCHAR)" } else { "host" };
    let found = values(fleet, service, old, new, value).await?;
    let side = |version: &str| -> Vec<&Value> {
        found
            .iter()
            .filter(|((_, of), value)| of == version && value.seconds > 0.0)
            .map(|(_, value)| value)
            .collect()
    };
    let (a, b) = (side(old), side(new));
    let requests = |side: &[&Value]| side.iter().map(|value| value.requests).sum::<f64>();
    let per_request = requests(&a) >= LEAST_REQUESTS && requests(&b) >= LEAST_REQUESTS;
    let mut figures = figures(&a, &b, per_request);
    figures.sort_by(|x, y| {
        let rank = |figure: &FigureComparison| match figure.verdict {
            "more" => 0,
            "less" => 1,
            _ => 2,
        };
        let size = |figure: &FigureComparison| match figure.measure {
            "time" => (figure.new - figure.old).abs(),
            _ => f64::INFINITY,
        };
        rank(x).cmp(&rank(y)).then(size(y).total_cmp(&size(x)))
    });
    Ok(ServiceComparison {
        service: service.to_string(),
        per: if per_request { "request" } else { "second" },
        value_of: if by_block { "ten minutes" } else { "host" },
        old_values: a.len(),
        new_values: b.len(),
        old_hosts: before.hosts,
        new_hosts: after.hosts,
        same_time: before.first < after.last && after.first < before.last,
        figures,
    })
}

async fn values(
    fleet: &Fleet,
    service: &str,
    old: &str,
    new: &str,
    value: &str,
) -> Result<BTreeMap<(String, String), Value>, FleetError> {
    let given = [
        ("service", ScalarValue::from(service)),
        ("old", ScalarValue::from(old)),
        ("new", ScalarValue::from(new)),
    ];
    let condition = "service = $service AND version IN ($old, $new)";
    let mut found: BTreeMap<(String, String), Value> = BTreeMap::new();
    let sql = format!(
        "SELECT {value} AS value, version, process, state, call, object, sum(ns) AS ns FROM accounts \
         WHERE {condition} AND state <> 'accept' GROUP BY 1, 2, 3, 4, 5, 6"
    );
    let rows = fleet.rows(&sql, &given).await?;
    let text = |name| rows.texts(name).map_err(failed);
    let (of, version, process) = (text("value")?, text("version")?, text("process")?);
    let (state, call, object) = (text("state")?, text("call")?, text("object")?);
    let ns = rows.numbers("ns").map_err(failed)?;
    for row in 0..rows.len() {
        let key = TimeKey {
            process: process.or_empty(row),
            state: state.or_empty(row),
            call: call.owned(row),
            object: object.owned(row),
        };
        let value = found.entry((of.or_empty(row), version.or_empty(row))).or_default();
        *value.times.entry(key).or_default() += ns.get(row).unwrap_or_default();
    }
    let sql = format!(
        "SELECT value, version, sum(seconds) AS seconds FROM (SELECT {value} AS value, host, start, version, \
         max(seconds) AS seconds FROM accounts WHERE {condition} GROUP BY 1, 2, 3, 4) GROUP BY 1, 2"
    );
    let rows = fleet.rows(&sql, &given).await?;
    let (of, version) = (rows.texts("value").map_err(failed)?, rows.texts("version").map_err(failed)?);
    let seconds = rows.numbers("seconds").map_err(failed)?;
    for row in 0..rows.len() {
        let value = found.entry((of.or_empty(row), version.or_empty(row))).or_default();
        value.seconds = seconds.get(row).unwrap_or_default();
    }
    let sql = format!(
        "SELECT {value} AS value, version, sum(requests) AS requests, sum(failed) AS failed, \
         sum(CASE WHEN ns IS NOT NULL THEN requests END) AS timed, sum(ns) AS ns, \
         sum(CAST(p99_ns AS DOUBLE) * requests) AS p99, sum(CASE WHEN p99_ns IS NOT NULL THEN requests END) AS p99_of \
         FROM requests WHERE {condition} AND side = 'served' GROUP BY 1, 2"
    );
    let rows = fleet.rows(&sql, &given).await?;
    let (of, version) = (rows.texts("value").map_err(failed)?, rows.texts("version").map_err(failed)?);
    let number = |name: &str| rows.numbers(name).map_err(failed);
    let (requests, lost, timed) = (number("requests")?, number("failed")?, number("timed")?);
    let (ns, p99, p99_of) = (number("ns")?, number("p99")?, number("p99_of")?);
    for row in 0..rows.len() {
        let value = found.entry((of.or_empty(row), version.or_empty(row))).or_default();
        value.requests = requests.get(row).unwrap_or_default();
        value.failed = lost.get(row);
        value.timed = timed.get(row).unwrap_or_default();
        value.duration = ns.get(row).unwrap_or_default();
        value.p99 = p99.get(row).unwrap_or_default();
        value.p99_of = p99_of.get(row).unwrap_or_default();
    }
    Ok(found)
}

/// A measure, the kind of time where it is one, and the values of both sides.
type Measured = (&'static str, Option<TimeKey>, Vec<f64>, Vec<f64>);

/// All figures of both sides, each judged with its part of the allowed error.
fn figures(a: &[&Value], b: &[&Value], per_request: bool) -> Vec<FigureComparison> {
    let unit = |value: &&&Value| if per_request { value.requests } else { value.seconds };
    let with_unit = |side: &[&Value], of: &dyn Fn(&Value) -> f64| -> Vec<f64> {
        side.iter().filter(|value| unit(value) > 0.0).map(|value| of(value) / unit(&value)).collect()
    };
    let part = |side: &[&Value], of: &dyn Fn(&Value) -> Option<(f64, f64)>| -> Vec<f64> {
        let parts = side.iter().filter_map(|value| of(value)).filter(|(_, all)| *all > 0.0);
        parts.map(|(some, all)| some / all).collect()
    };
    let all_time = |value: &Value| value.times.values().sum::<f64>();
    let mean = |values: &[f64]| if values.is_empty() { 0.0 } else { moments(values).0 };
    let (total_a, total_b) = (with_unit(a, &all_time), with_unit(b, &all_time));
    let floor = (mean(&total_a).max(mean(&total_b))) * LEAST_PART;
    let mut measured: Vec<Measured> = Vec::new();
    measured.push(("all time", None, total_a, total_b));
    if per_request {
        type Part<'p> = &'p dyn Fn(&Value) -> Option<(f64, f64)>;
        let parts: [(&'static str, Part<'_>); 3] = [
            ("duration", &|value| Some((value.duration, value.timed))),
            ("p99", &|value| Some((value.p99, value.p99_of))),
            ("failed", &|value| value.failed.map(|failed| (failed, value.requests))),
        ];
        for (name, of) in parts {
            measured.push((name, None, part(a, of), part(b, of)));
        }
    }
    let mut keys: Vec<&TimeKey> = a.iter().chain(b).flat_map(|value| value.times.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let of = |value: &Value| value.times.get(key).copied().unwrap_or_default();
        let (of_a, of_b) = (with_unit(a, &of), with_unit(b, &of));
        if mean(&of_a).max(mean(&of_b)) >= floor {
            measured.push(("time", Some(key.clone()), of_a, of_b));
        }
    }
    measured.retain(|(_, _, of_a, of_b)| !of_a.is_empty() && !of_b.is_empty());
    let error = ERROR / measured.len().max(1) as f64;
    measured
        .into_iter()
        .map(|(measure, key, of_a, of_b)| {
            let found = welch(&of_a, &of_b, error);
            let verdict = match found {
                None => "too little",
                Some(found) if found.low > 0.0 => "more",
                Some(found) if found.high < 0.0 => "less",
                Some(_) => "no difference seen",
            };
            let words = match (&key, measure) {
                (Some(key), _) => format!("{}: {}", key.process, key.words()),
                (None, "duration") => "duration of requests (mean)".to_string(),
                (None, "p99") => "duration of requests (p99 of the minutes)".to_string(),
                (None, "failed") => "requests that failed".to_string(),
                (None, _) => "all time of its threads".to_string(),
            };
            FigureComparison {
                measure,
                process: key.as_ref().map(|key| key.process.clone()),
                state: key.as_ref().map(|key| key.state.clone()),
                call: key.as_ref().and_then(|key| key.call.clone()),
                object: key.and_then(|key| key.object),
                words,
                old: mean(&of_a),
                new: mean(&of_b),
                low: found.map(|found| found.low),
                high: found.map(|found| found.high),
                verdict,
            }
        })
        .collect()
}

impl ServiceComparison {
    fn sentence(&self, old: &str, new: &str) -> String {
        let name = &self.service;
        let figure = |measure: &str| self.figures.iter().find(|figure| figure.measure == measure);
        let Some(all) = figure("all time") else { return format!("{name}: nothing was measured of both.") };
        let first = self.figures.iter().find(|figure| figure.measure == "time" && figure.verdict == "more");
        let what = match (all.verdict, first) {
            ("too little", _) => {
                let (a, b) = (plural(self.old_hosts, "host"), plural(self.new_hosts, "host"));
                return format!(
                    "{name}: too little ran to tell {new} ({b}) from {old} ({a}): it takes {LEAST} hosts or {LEAST} times ten minutes of each."
                );
            }
            (_, Some(first)) if first.old > 0.0 && first.old * 100.0 > first.new => format!(
                "{new} takes {} as long a {} as {old} for {}",
                times(first.new / first.old),
                self.per,
                first.words
            ),
            (_, Some(first)) => {
                format!("{new} takes {} a {} for {}, and {old} none", nanos(first.new), self.per, first.words)
            }
            ("more", None) => format!("{new} takes more time a {} than {old}", self.per),
            ("less", None) => format!("{new} takes less time a {} than {old}", self.per),
            _ => format!("no kind of time takes more in {new} than in {old}"),
        };
        format!("{name}: {what}.")
    }
}

impl FleetAnswer for FleetCompare {
    fn text(&self) -> String {
        let mut out = String::new();
        for service in &self.services {
            let sentence = service.sentence(&self.old, &self.new);
            let _ = writeln!(out, "{}", whyslow_model::visible::line(&sentence));
            let _ = writeln!(
                out,
                "By {}: {} of {} on {}, {} of {} on {}; per {}.",
                service.value_of,
                grouped(service.old_values as u64),
                self.old,
                plural(service.old_hosts, "host"),
                grouped(service.new_values as u64),
                self.new,
                plural(service.new_hosts, "host"),
                service.per
            );
            if !service.same_time {
                let _ = writeln!(
                    out,
                    "They did not run at the same time: what else changed meanwhile is in the differences."
                );
            }
            if service.value_of == "ten minutes" {
                let _ = writeln!(out, "These are minutes of few hosts: other hosts may differ.");
            }
            let (told, rest): (Vec<&FigureComparison>, Vec<&FigureComparison>) = service
                .figures
                .iter()
                .partition(|figure| matches!(figure.verdict, "more" | "less") || figure.measure != "time");
            let mut table = Columns::new(&["what", ">old", ">new", ">difference", ">from", ">to", ""]);
            for figure in told {
                let value = |value: f64| match figure.measure {
                    "failed" => percent(value),
                    _ => nanos(value),
                };
                let signed =
                    |number: f64| format!("{}{}", if number < 0.0 { "-" } else { "+" }, value(number.abs()));
                let unknown = || "?".to_string();
                table.row([
                    figure.words.clone(),
                    value(figure.old),
                    value(figure.new),
                    signed(figure.new - figure.old),
                    figure.low.map_or_else(unknown, signed),
                    figure.high.map_or_else(unknown, signed),
                    figure.verdict.to_string(),
                ]);
            }
            table.print(&mut out);
            if !rest.is_empty() {
                let _ =
                    writeln!(out, "Of {} kinds of time no difference is seen.", grouped(rest.len() as u64));
            }
            out.push('\n');
        }
        let _ = writeln!(
            out,
            "From {} until {}. The intervals hold for all of a service's figures at once with 95 %.",
            spoken(&self.from),
            spoken(&self.until)
        );
        out
    }
}
