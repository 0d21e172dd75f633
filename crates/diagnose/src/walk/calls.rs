//! System calls and kernel functions by what they cost the host, waits apart from work, and what ending the dearest
//! would save.

use super::current_lines;
use crate::facts::Facts;
use crate::facts::host::{Thing, call_name};
use crate::words;
use whyslow_model::syscall::Waits;
use whyslow_model::walk::{Amount, Taker};
use whyslow_model::{Entity, Metric, Nanos, Syscall};

/// Calls told of.
const TOLD: usize = 8;
/// From this many calls a second on it is the number that costs, where each is short.
const MANY: f64 = 10_000.0;
/// A call that takes less is short.
const SHORT: Nanos = Nanos::new(20_000);

const SHOWS: &[Metric] = &[Metric::CallTime, Metric::Calls, Metric::CallTotal, Metric::CallCount];

/// The dearest calls: those that work first, by their time, then by their number.
pub(super) fn calls(facts: &Facts) -> Vec<Taker> {
    let mut counted: Vec<(&Entity, &Thing)> = facts.host.functions();
    let known = |thing: &Thing, metrics: &[Metric]| {
        metrics.iter().find_map(|metric| thing.current(*metric)).unwrap_or(0.0)
    };
    counted.sort_by(|a, b| {
        let key = |(of, thing): &(&Entity, &Thing)| {
            let time = known(thing, &[Metric::CallTime, Metric::CallTotal]);
            (waits(of), time, known(thing, &[Metric::Calls, Metric::CallCount]))
        };
        let (a_key, b_key) = (key(a), key(b));
        a_key
            .0
            .cmp(&b_key.0)
            .then(b_key.1.total_cmp(&a_key.1))
            .then(b_key.2.total_cmp(&a_key.2))
            .then(a.0.cmp(b.0))
    });
    counted.into_iter().take(TOLD).map(|(of, thing)| taker(facts, of, thing)).collect()
}

/// The process that makes most of the calls that are told by process: `logagent (91885): it makes vfs_fstatat calls`.
pub(super) fn caller(facts: &Facts) -> Option<String> {
    let functions = facts.host.functions().into_iter();
    let counted = functions.filter_map(|(of, thing)| {
        let pid = of.pid()?;
        let count = thing.current(Metric::Calls).or_else(|| thing.current(Metric::CallCount))?;
        Some((count, pid, call_name(of.name())))
    });
    let (_, pid, call) = counted.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let who = facts.host.name_of(&Entity::Process(pid));
    Some(format!("{who}: of the calls told by process most are its {call}"))
}

/// True for a call whose time is waiting, not work.
fn waits(of: &Entity) -> bool {
    let syscall = Syscall::lookup(call_name(of.name()).as_bytes());
    syscall.is_some_and(|syscall| matches!(syscall.info().waits, Waits::Always | Waits::ByArguments))
}

fn taker(facts: &Facts, of: &Entity, thing: &Thing) -> Taker {
    let mut amounts = Vec::new();
    let mut say = |metric: Metric, text: &dyn Fn(f64) -> String| {
        if let Some(value) = thing.current(metric) {
            amounts.push(Amount { what: metric.name(), value, text: text(value) });
        }
    };
    say(Metric::CallTime, &|value| format!("{} a second", seconds(value)));
    say(Metric::CallTotal, &|value| format!("{} in all", Nanos::new(value as u64)));
    say(Metric::Calls, &|value| format!("{} calls/s", words::quantity(value)));
    say(Metric::CallCount, &|value| words::plural(value as u64, "call"));
    if let Some(each) = each(thing) {
        let cause = match many(thing) && each < SHORT {
            true => ": the number costs, not the single call",
            false => "",
        };
        let value = each.or_zero() as f64;
        amounts.push(Amount { what: Metric::Latency.name(), value, text: format!("{each} each{cause}") });
    }
    let (takes, waits) = if waits(of) { (Vec::new(), amounts) } else { (amounts, Vec::new()) };
    Taker {
        pid: of.pid(),
        tid: None,
        comm: Some(call_name(of.name()).to_string()),
        takes,
        waits,
        victim_of: None,
        evidence: current_lines(facts, of, SHOWS),
    }
}

fn many(thing: &Thing) -> bool {
    thing.current(Metric::Calls).is_some_and(|calls| calls >= MANY)
}

/// The mean time of a call: as told, else its time by its number.
fn each(thing: &Thing) -> Option<Nanos> {
    let now = |metric: Metric| thing.current(metric);
    let by = |time: Option<f64>, count: Option<f64>| Some(time? / count.filter(|count| *count > 0.0)?);
    let ns = now(Metric::Latency)
        .or_else(|| by(now(Metric::CallTotal), now(Metric::CallCount)))
        .or_else(|| by(now(Metric::CallTime).map(|time| time * 1e9), now(Metric::Calls)))?;
    Some(Nanos::new(ns.round() as u64))
}

/// What ending the dearest working call would save of the host's system time, with the formula. Both figures must be of
/// a time that was looked at.
pub(super) fn saving(facts: &Facts, calls: &[Taker]) -> Option<String> {
    let dearest = calls.iter().find(|call| !call.takes.is_empty())?;
    let cost = dearest.takes.iter().find(|amount| amount.what == Metric::CallTime.name())?.value;
    let system = facts.host.of_cpus(Metric::CpuSystem)? * facts.host.cpu_count()?;
    let name = dearest.comm.as_deref()?;
    let share = saved(cost, system)?;
    Some(format!(
        "Without {name} the kernel's time falls by {}: {} of {} of system time a second.",
        words::percent(share),
        seconds(cost),
        seconds(system),
    ))
}

/// The part that a cost has in a whole; `None` where the whole is nothing, or less than its part: then one of the two is
/// wrong.
pub(super) fn saved(cost: f64, whole: f64) -> Option<f64> {
    (whole > 0.0 && cost <= whole).then(|| cost / whole)
}

fn seconds(value: f64) -> String {
    Nanos::new((value * 1e9).round() as u64).to_string()
}
