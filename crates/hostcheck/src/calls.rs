//! System calls and kernel functions by what they cost the host, waits apart from work, and what ending the dearest
//! would save.

use super::current_lines;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::host::{Reading, Thing, call_name, is_wait};
use whyslow_model::walk::{Amount, Taker};
use whyslow_model::{Entity, Metric, Nanos, Trait};

/// What counts calls without telling of their time.
const COUNTS: &[&str] = &["calls", "call_count"];
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
            (is_wait(of), time, known(thing, &[Metric::Calls, Metric::CallCount]))
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

/// The process that makes most of the calls that are told by process, with the thread and the path that most of them
/// are of: `logagent (91885): of the calls told by process most are its vfs_fstatat, all 26 on /srv/x`.
pub(super) fn caller(facts: &Facts) -> Option<String> {
    let functions = facts.host.functions().into_iter();
    let counted = functions.filter_map(|(of, thing)| Some((count(thing)?, of.pid()?, of, thing)));
    let (calls, pid, of, thing) = counted.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let known = facts.host.thing(&Entity::Process(pid)).and_then(|process| process.told(Trait::Name));
    let who = match known.or_else(|| thing.told(Trait::Name)) {
        Some(name) => format!("{name} ({pid})"),
        None => Entity::Process(pid).to_string(),
    };
    let all_of = |part: f64| match part >= calls {
        true => format!("all {}", words::count(calls as u64)),
        false => format!("{} of {}", words::count(part as u64), words::count(calls as u64)),
    };
    let threads = facts.host.things_that(|of| matches!(of, Entity::Thread { pid: is, .. } if *is == pid));
    let by = match mostly(&threads, calls) {
        Some((part, Entity::Thread { tid, .. })) => format!(", {} by thread {tid}", all_of(part)),
        _ => String::new(),
    };
    let files = facts.host.things_that(|of| matches!(of, Entity::File { pid: Some(is), .. } if *is == pid));
    let on = match mostly(&files, calls) {
        Some((part, file)) => format!(", {} on {}", all_of(part), file.name()),
        None => String::new(),
    };
    let host = of_host(facts, call_name(of.name()));
    Some(format!("{who}: of the calls told by process most are its {}{by}{on}{host}", call_name(of.name())))
}

/// What sources that count the whole host's calls say of calls that do the same: `; the host: 1,052,795 lstat (syscount)`.
fn of_host(facts: &Facts, name: &str) -> String {
    let work = call_work(name);
    let told =
        |metric| facts.host.told_of_functions(metric).into_iter().filter(|(is, ..)| call_work(is) == work);
    let rate = |reading: &Reading| {
        let mut rates = told(Metric::Calls);
        rates.find(|(_, _, rate)| {
            rate.tool == reading.tool && rate.source == reading.source && rate.is_current()
        })
    };
    let mut counts: Vec<_> = told(Metric::CallCount).filter(|(_, _, reading)| reading.is_current()).collect();
    counts.sort_by(|a, b| b.2.sum().total_cmp(&a.2.sum()).then(a.0.cmp(b.0)));
    // One of each tool: a table of kernel functions counts a call at several places.
    let mut tools: Vec<&str> = Vec::new();
    counts.retain(|(_, _, reading)| {
        let is_new = !tools.contains(&reading.tool);
        tools.push(reading.tool);
        is_new
    });
    let counted: Vec<String> = counts
        .iter()
        .map(|(is, _, reading)| {
            let rate = rate(reading).map_or(String::new(), |(_, _, rate)| {
                format!(
                    " in {}, {} per second",
                    Nanos::new((rate.seconds * 1e9) as u64),
                    words::count(rate.mean() as u64)
                )
            });
            format!("{} {is}{rate} by {}", words::count(reading.sum() as u64), reading.tool)
        })
        .collect();
    match counted.is_empty() {
        true => String::new(),
        false => format!("; on the whole host {}", words::list(&counted, TOLD)),
    }
}

/// What a call does, whatever it and the functions of the kernel that do it are called.
pub fn call_work(name: &str) -> &str {
    match name {
        "stat" | "lstat" | "newstat" | "newlstat" | "fstatat" | "newfstatat" | "statx" | "vfs_fstatat"
        | "vfs_statx" | "vfs_lstat" | "vfs_stat" => "stat",
        "read" | "vfs_read" => "read",
        "write" | "vfs_write" => "write",
        "open" | "openat" | "openat2" | "vfs_open" | "do_sys_open" | "do_sys_openat2" => "open",
        name => name,
    }
}

/// The one that has most of the calls, where that is most of them.
fn mostly<'a>(parts: &[(&'a Entity, &'a Thing)], calls: f64) -> Option<(f64, &'a Entity)> {
    let counted = parts.iter().filter_map(|(of, thing)| Some((count(thing)?, *of)));
    let (part, of) = counted.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (part >= MOSTLY * calls && part <= calls).then_some((part, of))
}

fn count(thing: &Thing) -> Option<f64> {
    thing.current(Metric::CallCount).or_else(|| thing.current(Metric::Calls))
}

/// Of the calls of a process, the part of one thread or one file from which on it is worth its name.
const MOSTLY: f64 = 0.5;

fn taker(facts: &Facts, of: &Entity, thing: &Thing) -> Taker {
    let mut amounts = Vec::new();
    let mut say = |metric: Metric, text: &dyn Fn(f64) -> String| {
        if let Some(value) = thing.current(metric) {
            amounts.push(Amount { what: metric.name(), value, text: text(value) });
        }
    };
    say(Metric::CallTime, &|value| format!("{} per second", seconds(value)));
    say(Metric::CallTotal, &|value| format!("{} in all", Nanos::new(value as u64)));
    say(Metric::Calls, &|value| format!("{} calls/s", words::quantity(value)));
    say(Metric::CallCount, &|value| words::plural(value as u64, "call"));
    // A count without time says nothing of cost, and the reverse.
    let counted = !amounts.is_empty() && amounts.iter().all(|amount| COUNTS.contains(&amount.what));
    if let Some(last) = amounts.last_mut().filter(|_| counted) {
        last.text.push_str(" (their time is not told)");
    }
    if let Some(each) = each(thing) {
        let cause = match many(thing) && each < SHORT {
            true => ": the number costs, not the single call",
            false => "",
        };
        let value = each.or_zero() as f64;
        amounts.push(Amount { what: Metric::Latency.name(), value, text: format!("{each} each{cause}") });
    }
    let (takes, waits) = if is_wait(of) { (Vec::new(), amounts) } else { (amounts, Vec::new()) };
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
    // Time and number must be of one tool: another counted over another time.
    let by = |time: Metric, count: Metric| {
        let time = thing.reading(time).filter(|reading| reading.is_current())?;
        let of_tool = thing.readings.iter().find(|reading| {
            reading.metric == count && reading.tool == time.tool && reading.source == time.source
        });
        Some(time.mean() / of_tool.map(Reading::mean).filter(|count| *count > 0.0)?)
    };
    let ns = thing
        .current(Metric::Latency)
        .or_else(|| by(Metric::CallTotal, Metric::CallCount))
        .or_else(|| Some(by(Metric::CallTime, Metric::Calls)? * 1e9))?;
    Some(Nanos::new(ns.round() as u64))
}

/// What ending the dearest working call would save of the host's system time, with the formula. Both figures must be of
/// a time that was looked at.
pub(super) fn saving(facts: &Facts) -> Option<String> {
    let (of, cost) = facts.host.dearest_work()?;
    let system = facts.host.of_cpus(Metric::CpuSystem)? * facts.host.cpu_count()?;
    let name = call_name(of.name());
    let share = saved(cost, system)?;
    Some(format!(
        "Without {name} the kernel's time falls by {}: {} of {} of system time per second.",
        words::percent(share),
        seconds(cost),
        seconds(system),
    ))
}

/// The part that a cost has in a whole; `None` where the whole is nothing, or less than its part: then one of the two is
/// wrong.
pub fn saved(cost: f64, whole: f64) -> Option<f64> {
    (whole > 0.0 && cost <= whole).then(|| cost / whole)
}

fn seconds(value: f64) -> String {
    Nanos::new((value * 1e9).round() as u64).to_string()
}
