//! The account and the requests of a span, cut into slices of equal length. A slice of which nothing is known is left out.

use super::lives::failed;
use crate::error::FleetError;
use crate::fleet::{Fleet, moment};
use crate::rows::Rows;
use crate::span::{FleetSpan, HOUR, MINUTE, stamp};
use datafusion::common::ScalarValue;
use serde::Serialize;
use std::collections::BTreeMap;
use whyslow_model::TimeState;

/// Slices of a span at most: more are narrower than what a screen shows apart.
const MOST_SLICES: i64 = 96;
/// Lengths of a slice: those that people count in.
const STEPS: [i64; 9] =
    [MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 24 * HOUR];

/// The states that cost somebody time, those on a CPU first. A thread that waits for a new client (`accept`) costs nobody anything.
pub const COSTLY_STATES: [TimeState; 20] = [
    TimeState::User,
    TimeState::Kernel,
    TimeState::OnCpu,
    TimeState::InCall,
    TimeState::BetweenCalls,
    TimeState::RunQueue,
    TimeState::Throttled,
    TimeState::Stolen,
    TimeState::File,
    TimeState::PageFault,
    TimeState::KernelWait,
    TimeState::Peer,
    TimeState::Client,
    TimeState::Pipe,
    TimeState::Lock,
    TimeState::Timer,
    TimeState::Child,
    TimeState::Poll,
    TimeState::Event,
    TimeState::Unknown,
];

/// Thread time in a slice.
#[derive(Clone, Debug, Serialize)]
pub struct AccountSlice {
    /// Its begin.
    pub start: String,
    /// The same in microseconds of UTC since 1970.
    #[serde(skip)]
    pub start_us: i64,
    /// Seconds that were observed, over all hosts that were read.
    pub seconds: f64,
    /// Thread time by state, in nanoseconds a second and host. Waiting for new clients is left out.
    pub states: BTreeMap<&'static str, f64>,
}

/// Requests that were answered in a slice, on the hosts that were read.
#[derive(Clone, Debug, Serialize)]
pub struct RequestSlice {
    /// Its begin.
    pub start: String,
    /// The same in microseconds of UTC since 1970.
    #[serde(skip)]
    pub start_us: i64,
    /// What they came to.
    #[serde(flatten)]
    pub sums: RequestSums,
}

/// What some requests came to. Percentiles are the minutes' own, their mean by requests.
#[derive(Clone, Copy, Default, Debug, Serialize)]
pub struct RequestSums {
    /// How many.
    pub requests: f64,
    /// The part that failed, 0 to 1; null where it is not known.
    pub failed: Option<f64>,
    /// The mean duration, in nanoseconds.
    pub mean_ns: Option<f64>,
    /// Half of them took no longer.
    pub p50_ns: Option<f64>,
    /// Nine tenths of them took no longer.
    pub p90_ns: Option<f64>,
    /// 99 of 100 took no longer.
    pub p99_ns: Option<f64>,
}

/// The length of a slice, in microseconds.
pub(crate) fn step(span: FleetSpan) -> i64 {
    let least = (span.length() + MOST_SLICES - 1) / MOST_SLICES;
    STEPS
        .into_iter()
        .find(|step| *step >= least)
        .unwrap_or_else(|| least.div_euclid(24 * HOUR).max(1) * 24 * HOUR)
}

/// The slice that a row belongs to, in SQL: its begin in steps since 1970.
pub(crate) fn slice(step: i64) -> String {
    format!("CAST(start AS BIGINT) / {step}")
}

/// The condition that leaves some hosts, and its values. `names` keeps the names of the values.
pub(crate) fn of_hosts<'n>(
    hosts: &[String],
    names: &'n mut Vec<String>,
) -> (String, Vec<(&'n str, ScalarValue)>) {
    *names = (0..hosts.len()).map(|at| format!("on{at}")).collect();
    let places: Vec<String> = names.iter().map(|name| format!("${name}")).collect();
    let values = names
        .iter()
        .zip(hosts)
        .map(|(name, host)| (name.as_str(), ScalarValue::from(host.as_str())))
        .collect();
    (format!("host IN ({})", places.join(", ")), values)
}

/// Sums of the account by `by` (columns, or expressions with a name): observed seconds and the time in each state, in SQL. A minute of a
/// host counts once, however many rows it has.
pub(crate) fn account_sql(by: &[(&str, &str)], condition: &str) -> String {
    let named: Vec<String> = by.iter().map(|(expression, name)| format!("{expression} AS {name}")).collect();
    let mut groups: Vec<&str> = by.iter().map(|(expression, _)| *expression).collect();
    groups.extend(["host", "start"].into_iter().filter(|column| !by.iter().any(|(own, _)| own == column)));
    let names: Vec<&str> = by.iter().map(|(_, name)| *name).collect();
    let (mut inner, mut outer) = (String::new(), String::new());
    let told = COSTLY_STATES.iter().filter(|state| **state != TimeState::Unknown).chain([&TimeState::Accept]);
    let others: Vec<String> = told.map(|state| format!("'{}'", state.word())).collect();
    for (at, state) in COSTLY_STATES.iter().enumerate() {
        let is = match state {
            // And what later agents may know beside these.
            TimeState::Unknown => format!("state NOT IN ({})", others.join(", ")),
            known => format!("state = '{}'", known.word()),
        };
        inner += &format!(", sum(CASE WHEN {is} THEN ns END) AS s{at}");
        outer += &format!(", sum(s{at}) AS s{at}");
    }
    format!(
        "SELECT {names}, sum(seconds) AS seconds{outer} FROM (SELECT {named}, max(seconds) AS seconds{inner} \
         FROM accounts WHERE {condition} GROUP BY {groups}) GROUP BY {names}",
        names = names.join(", "),
        named = named.join(", "),
        groups = groups.join(", "),
    )
}

/// Seconds that were observed, and nanoseconds by state.
pub(crate) type StateSums = (f64, BTreeMap<&'static str, f64>);

/// The sums of each row of an answer to [`account_sql`].
pub(crate) fn account_sums(rows: &Rows) -> Result<Vec<StateSums>, FleetError> {
    let seconds = rows.numbers("seconds").map_err(failed)?;
    let mut sums: Vec<StateSums> =
        (0..rows.len()).map(|row| (seconds.get(row).unwrap_or_default(), BTreeMap::new())).collect();
    for (at, state) in COSTLY_STATES.iter().enumerate() {
        let of = rows.numbers(&format!("s{at}")).map_err(failed)?;
        for (row, (_, states)) in sums.iter_mut().enumerate() {
            if let Some(ns) = of.get(row).filter(|ns| *ns > 0.0) {
                states.insert(state.word(), ns);
            }
        }
    }
    Ok(sums)
}

/// The account of the rows that a condition leaves, in slices.
pub(crate) async fn account(
    fleet: &Fleet,
    condition: &str,
    values: &[(&str, ScalarValue)],
) -> Result<Vec<AccountSlice>, FleetError> {
    let step = step(fleet.options.span);
    let sql = account_sql(&[(&slice(step), "slice")], condition) + " ORDER BY slice";
    let rows = fleet.rows(&sql, values).await?;
    let starts = rows.times("slice").map_err(failed)?;
    let sums = account_sums(&rows)?;
    let entry = |(row, (seconds, states)): (usize, StateSums)| {
        let start_us = starts.get(row)?.checked_mul(step)?;
        (seconds > 0.0).then(|| AccountSlice {
            start: stamp(start_us),
            start_us,
            seconds,
            states: states.into_iter().map(|(state, ns)| (state, ns / seconds)).collect(),
        })
    };
    Ok(sums.into_iter().enumerate().filter_map(entry).collect())
}

/// The columns of an answer that [`RequestParts::of`] reads, in SQL.
pub(crate) const REQUEST_SUMS: &str = "sum(requests) AS requests, sum(failed) AS failed, \
     sum(CASE WHEN failed IS NOT NULL THEN requests END) AS failed_of, sum(ns) AS ns, \
     sum(CASE WHEN ns IS NOT NULL THEN requests END) AS ns_of, \
     sum(CAST(p50_ns AS DOUBLE) * requests) AS p50, sum(CASE WHEN p50_ns IS NOT NULL THEN requests END) AS p50_of, \
     sum(CAST(p90_ns AS DOUBLE) * requests) AS p90, sum(CASE WHEN p90_ns IS NOT NULL THEN requests END) AS p90_of, \
     sum(CAST(p99_ns AS DOUBLE) * requests) AS p99, sum(CASE WHEN p99_ns IS NOT NULL THEN requests END) AS p99_of";

/// Sums of requests that can be added up: each figure with the number of requests that it is known of.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct RequestParts {
    requests: f64,
    parts: [(f64, f64); 5],
}

impl RequestParts {
    /// Of each row of an answer.
    pub(crate) fn of(rows: &Rows) -> Result<Vec<RequestParts>, FleetError> {
        let requests = rows.numbers("requests").map_err(failed)?;
        let mut all: Vec<RequestParts> = (0..rows.len())
            .map(|row| RequestParts {
                requests: requests.get(row).unwrap_or_default(),
                ..RequestParts::default()
            })
            .collect();
        for (at, name) in ["failed", "ns", "p50", "p90", "p99"].into_iter().enumerate() {
            let of = rows.numbers(name).map_err(failed)?;
            let weight = rows.numbers(&format!("{name}_of")).map_err(failed)?;
            for (row, parts) in all.iter_mut().enumerate() {
                parts.parts[at] = (of.get(row).unwrap_or_default(), weight.get(row).unwrap_or_default());
            }
        }
        Ok(all)
    }

    pub(crate) fn add(&mut self, other: RequestParts) {
        self.requests += other.requests;
        for (own, other) in self.parts.iter_mut().zip(other.parts) {
            own.0 += other.0;
            own.1 += other.1;
        }
    }

    pub(crate) fn sums(self) -> RequestSums {
        let [failed, mean_ns, p50_ns, p90_ns, p99_ns] =
            self.parts.map(|(of, weight)| (weight > 0.0).then(|| of / weight));
        RequestSums { requests: self.requests, failed, mean_ns, p50_ns, p90_ns, p99_ns }
    }
}

/// The values that say from when until when.
pub(crate) fn between(from: i64, until: i64) -> [(&'static str, ScalarValue); 2] {
    [("from", moment(from)), ("until", moment(until))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_few_and_of_lengths_that_people_count_in() {
        for (minutes, length) in
            [(10, 1), (96, 1), (97, 2), (24 * 60, 15), (7 * 24 * 60, 180), (30 * 24 * 60, 24 * 60)]
        {
            let span = FleetSpan { from: 0, until: minutes * MINUTE };
            assert_eq!(step(span) / MINUTE, length, "{minutes} minutes");
            assert!(span.length() / step(span) <= MOST_SLICES);
        }
        let year = FleetSpan { from: 0, until: 365 * 24 * HOUR };
        assert!(step(year) >= 24 * HOUR, "{}", step(year));
    }

    #[test]
    fn what_is_not_known_of_requests_is_no_zero() {
        let mut sums = RequestParts { requests: 10.0, ..RequestParts::default() };
        assert!(sums.sums().failed.is_none() && sums.sums().p99_ns.is_none());
        sums.add(RequestParts {
            requests: 30.0,
            parts: [(3.0, 30.0), (60.0, 30.0), (0.0, 0.0), (0.0, 0.0), (90.0, 30.0)],
        });
        let sums = sums.sums();
        assert_eq!(
            (sums.requests, sums.failed, sums.mean_ns, sums.p99_ns),
            (40.0, Some(0.1), Some(2.0), Some(3.0))
        );
        assert_eq!(sums.p50_ns, None);
    }
}
