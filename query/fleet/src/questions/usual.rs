//! What a service does at a time on each host, and what it does there usually: rates of time by kind, with their scatter over minutes.

use super::lives::failed;
use crate::error::FleetError;
use crate::fleet::{Fleet, moment};
use crate::rows::Rows;
use datafusion::common::ScalarValue;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A kind of time: what threads did, where.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct TimeKey {
    pub(crate) process: String,
    pub(crate) state: String,
    pub(crate) call: Option<String>,
    pub(crate) object: Option<String>,
}

impl TimeKey {
    /// In words, behind "spends": `waiting for db:5432 in recvfrom`.
    pub(crate) fn words(&self) -> String {
        let object = |or: &str| self.object.clone().unwrap_or_else(|| or.to_string());
        let call = self.call.as_ref().map(|call| format!(" in {call}")).unwrap_or_default();
        let of = self.object.as_ref().map(|object| format!(" of {object}")).unwrap_or_default();
        match self.state.as_str() {
            "user" | "between-calls" => "computing".to_string(),
            "kernel" => format!("on a CPU{call}{of}"),
            "on-cpu" => "on a CPU".to_string(),
            "run-queue" => "waiting for a CPU".to_string(),
            "throttled" => "stopped by its CPU quota".to_string(),
            "stolen" => "waiting for a CPU that the hypervisor gave to others".to_string(),
            "file" => format!("waiting for {}{call}", object("a file")),
            "page-fault" => "waiting for pages".to_string(),
            "peer" => format!("waiting for {}{call}", object("a peer")),
            "client" => format!("waiting for {}{call}", object("its client")),
            "pipe" => format!("waiting for {}{call}", object("a pipe")),
            "lock" => format!("waiting for {}{call}", object("a lock")),
            "timer" => format!("sleeping{call}"),
            "child" => format!("waiting for the end of {}", object("a child")),
            "in-call" => format!("in {}{of}", self.call.as_deref().unwrap_or("calls")),
            other => format!("in {other}{call}{of}"),
        }
    }
}

/// Time of one kind over some minutes of one host.
#[derive(Clone, Copy, Default, Debug)]
struct Sum {
    ns: f64,
    /// Sums of the minutes' rates and of their squares.
    rates: f64,
    squares: f64,
}

/// A host over some minutes.
#[derive(Clone, Default, Debug)]
pub(crate) struct HostTime {
    /// The minutes, and how many seconds of each were observed.
    minutes: BTreeMap<i64, f64>,
    times: HashMap<usize, Sum>,
    pub(crate) versions: BTreeSet<String>,
}

/// A rate with its uncertainty.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(crate) struct Rate {
    /// Nanoseconds a second.
    pub(crate) mean: f64,
    /// Of the mean: its variance as the scatter over minutes leaves it.
    pub(crate) variance: f64,
}

impl HostTime {
    /// Seconds that were observed.
    pub(crate) fn seconds(&self) -> f64 {
        self.minutes.values().sum()
    }

    pub(crate) fn minutes(&self) -> usize {
        self.minutes.len()
    }

    /// The rate of one kind; minutes without a row of it had none.
    pub(crate) fn rate(&self, key: usize) -> Rate {
        let (count, seconds) = (self.minutes.len() as f64, self.seconds());
        if seconds <= 0.0 {
            return Rate::default();
        }
        let sum = self.times.get(&key).copied().unwrap_or_default();
        let mean = sum.rates / count;
        let scatter = if count > 1.0 {
            (sum.squares - count * mean * mean).max(0.0) / (count - 1.0)
        } else {
            mean * mean
        };
        Rate { mean: sum.ns / seconds, variance: scatter / count }
    }

    /// The rate of all kinds together.
    pub(crate) fn total(&self) -> f64 {
        let seconds = self.seconds();
        if seconds > 0.0 { self.times.values().map(|sum| sum.ns).sum::<f64>() / seconds } else { 0.0 }
    }
}

/// The kinds of time that were met, by number.
#[derive(Default, Debug)]
pub(crate) struct TimeKeys {
    known: Vec<TimeKey>,
    numbers: HashMap<TimeKey, usize>,
}

impl TimeKeys {
    fn number(&mut self, key: TimeKey) -> usize {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        self.known.push(key.clone());
        self.numbers.insert(key, self.known.len() - 1);
        self.known.len() - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    pub(crate) fn get(&self, number: usize) -> &TimeKey {
        &self.known[number]
    }
}

/// A minute of a host: the seconds that were observed, and the time of each kind.
type Minute = (f64, HashMap<usize, f64>);
/// Minutes by host.
pub(crate) type Hosts = BTreeMap<String, HostTime>;
/// The rates of one kind, minute by minute, over some hosts.
pub(crate) type Course = BTreeMap<i64, Vec<f64>>;

/// Rows of the account of a service, from `from` until `until`, on some hosts or all.
pub(crate) async fn rows(
    fleet: &Fleet,
    service: &str,
    (from, until): (i64, i64),
    hosts: Option<&[String]>,
) -> Result<Rows, FleetError> {
    let names: Vec<String> = (0..hosts.map_or(0, <[String]>::len)).map(|at| format!("h{at}")).collect();
    let mut values =
        vec![("service", ScalarValue::from(service)), ("from", moment(from)), ("until", moment(until))];
    let mut condition = String::new();
    if let Some(hosts) = hosts {
        values.extend(
            names.iter().zip(hosts).map(|(name, host)| (name.as_str(), ScalarValue::from(host.as_str()))),
        );
        let places: Vec<String> = names.iter().map(|name| format!("${name}")).collect();
        condition = format!(" AND host IN ({})", places.join(", "));
    }
    let sql = format!(
        "SELECT host, start, seconds, version, process, state, call, object, ns FROM accounts \
         WHERE service = $service AND start >= $from AND start < $until{condition}"
    );
    fleet.rows(&sql, &values).await
}

/// Adds rows to what is known of the hosts. Minutes of `apart` go into the courses alone.
pub(crate) fn add(
    rows: &Rows,
    keys: &mut TimeKeys,
    to: &mut Hosts,
    apart: Option<(i64, i64)>,
    mut course: impl FnMut(usize, &str, i64, f64),
) -> Result<(), FleetError> {
    let text = |name| rows.texts(name).map_err(failed);
    let (host, version, process) = (text("host")?, text("version")?, text("process")?);
    let (state, call, object) = (text("state")?, text("call")?, text("object")?);
    let start = rows.times("start").map_err(failed)?;
    let (seconds, ns) = (rows.numbers("seconds").map_err(failed)?, rows.numbers("ns").map_err(failed)?);
    // Several rows of a kind in a minute (roles, lines) are one figure of it.
    let mut minutes: HashMap<(&str, i64), Minute> = HashMap::new();
    for row in 0..rows.len() {
        let (Some(name), Some(at)) = (host.get(row), start.get(row)) else { continue };
        let seconds = seconds.get(row).filter(|seconds| *seconds > 0.0);
        let (Some(seconds), Some(ns)) = (seconds, ns.get(row)) else { continue };
        let known = to.entry(name.to_string()).or_default();
        if let Some(version) = version.get(row)
            && !known.versions.contains(version)
        {
            known.versions.insert(version.to_string());
        }
        // What waits for work costs nobody anything.
        if matches!(state.get(row), Some("accept") | None) {
            minutes.entry((name, at)).or_default().0 = seconds;
            continue;
        }
        let key = keys.number(TimeKey {
            process: process.or_empty(row),
            state: state.or_empty(row),
            call: call.owned(row),
            object: object.owned(row),
        });
        let minute = minutes.entry((name, at)).or_default();
        minute.0 = minute.0.max(seconds);
        *minute.1.entry(key).or_default() += ns;
    }
    for ((name, at), (seconds, times)) in minutes {
        let is_apart = apart.is_some_and(|(from, until)| (from..until).contains(&at));
        for (key, ns) in &times {
            course(*key, name, at, ns / seconds);
        }
        let Some(known) = to.get_mut(name).filter(|_| !is_apart) else { continue };
        known.minutes.insert(at, seconds);
        for (key, ns) in times {
            let (sum, rate) = (known.times.entry(key).or_default(), ns / seconds);
            sum.ns += ns;
            sum.rates += rate;
            sum.squares += rate * rate;
        }
    }
    Ok(())
}
