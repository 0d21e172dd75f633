//! Files that are asked about again and again, as tools over the host tell of it: `trace` or `statsnoop` who asks about which
//! path, `syscount`, `vfscount` and `perf stat` how many calls the host makes. No call is timed, so the finding is a hint.

use crate::engine::{Findings, Need};
use crate::figures;
use crate::gate::gated;
use crate::guards::Share;

use whyslow_facts::Facts;
use whyslow_facts::host::{Thing, call_name};
use whyslow_hostcheck::call_work;
use whyslow_model::{Entity, Measurement, Metric, Severity, Subject, Trait};

/// What is needed where there is no trace.
pub(super) const FIGURES: Need = Need::Figures(
    &[Metric::CallCount],
    "who asks about which paths",
    "statsnoop -t > statsnoop.txt & perf stat -a -e 'syscalls:sys_enter_*stat*' sleep 4 2> perf-stat.txt",
);

/// Without a clock an excerpt is judged: fewer same answers than this are start-up.
pub(super) const MIN_IN_EXCERPT: u64 = 20;
/// Same answers a second from which on it is a storm: a program that checks its files before each record of a
/// busy log, not one that polls them.
pub(super) const STORM_PER_S: f64 = 100.0;
/// Of what one program asks, the part of one path: a walk over many files asks once for each.
const MOSTLY: f64 = 0.8;
/// Calls of the whole host a second that are a storm somewhere: at 2 us each 2 % of a CPU. A busy host makes some hundreds.
const HOST_PER_S: f64 = 10_000.0;
/// Where no source tells how long it counted, so many in all: ten seconds of that.
const HOST_CALLS: f64 = 100_000.0;

/// What one process asks of one path.
struct Asked<'f> {
    of: &'f Entity,
    thing: &'f Thing,
    calls: f64,
    path: &'f Entity,
    on_path: f64,
    per_s: Option<f64>,
}

#[gated]
pub(super) fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut asked: Vec<Asked<'_>> =
        facts.host.functions().into_iter().filter_map(|(of, thing)| mostly(facts, of, thing)).collect();
    asked.sort_by(|a, b| b.on_path.total_cmp(&a.on_path).then(a.of.cmp(b.of)));
    let host = of_host(facts);
    for one in asked.iter().filter(|one| one.per_s.is_some_and(|rate| rate >= STORM_PER_S) || host.is_some())
    {
        report(facts, out, one, host.as_ref());
    }
}

/// A process whose calls that ask about files are mostly about one.
#[gated]
fn mostly<'f>(facts: &'f Facts, of: &'f Entity, thing: &'f Thing) -> Option<Asked<'f>> {
    let pid = of.pid()?;
    (call_work(call_name(of.name())) == "stat").then_some(())?;
    let calls = thing.current(Metric::CallCount).filter(|calls| *calls >= MIN_IN_EXCERPT as f64)?;
    let tool = thing.current_reading(Metric::CallCount)?.tool;
    let files =
        facts.host.things_that(|file| matches!(file, Entity::File { pid: Some(is), .. } if *is == pid));
    let counted = files.into_iter().filter_map(|(file, thing)| {
        let reading = thing.current_reading(Metric::CallCount).filter(|reading| reading.tool == tool)?;
        Some((file, reading.sum(), thing.current(Metric::Calls)))
    });
    let (path, on_path, per_s) = counted.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(a.0)))?;
    (on_path >= MOSTLY * calls).then_some(Asked { of, thing, calls, path, on_path, per_s })
}

/// How many such calls the host makes, where that is a storm, in words.
#[gated]
fn of_host(facts: &Facts) -> Option<(String, Measurement)> {
    let told = |metric: Metric| {
        let told = facts.host.told_of_functions(metric).into_iter();
        let asks = told.filter(|(name, _, reading)| call_work(name) == "stat" && reading.is_current());
        asks.max_by(|a, b| a.2.mean().total_cmp(&b.2.mean()))
    };
    if let Some((name, _, reading)) = told(Metric::Calls).filter(|(.., reading)| reading.mean() >= HOST_PER_S)
    {
        let rate =
            Measurement::per_second("host_calls_per_second", reading.mean().trunc()).at_least(HOST_PER_S);
        return Some((format!("{rate} {name} per second on the whole host ({})", reading.tool), rate));
    }
    let (name, _, reading) = told(Metric::CallCount).filter(|(.., reading)| reading.sum() >= HOST_CALLS)?;
    let calls = Measurement::count("host_calls", reading.sum() as u64).at_least(HOST_CALLS);
    Some((format!("{calls} {name} on the whole host ({})", reading.tool), calls))
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, one: &Asked<'_>, host: Option<&(String, Measurement)>) {
    let pid = one.of.pid().unwrap_or(0);
    let who = match one.thing.told(Trait::Name) {
        Some(name) => format!("{name} ({pid})"),
        None => facts.host.name_of(&Entity::Process(pid)),
    };
    let threads = facts.host.things_that(|of| matches!(of, Entity::Thread { pid: is, .. } if *is == pid));
    let counted = threads.into_iter().filter(|(_, thing)| {
        thing.current(Metric::CallCount).is_some_and(|calls| calls >= MOSTLY * one.calls)
    });
    let tid = counted.map(|(of, _)| of).find_map(|of| match of {
        Entity::Thread { tid, .. } => Some(*tid),
        _ => None,
    });
    let path = one.path.name();
    let rate = one.per_s.map(|rate| Measurement::per_second("calls_per_second", rate));
    let often = match (host, &rate) {
        (Some((host, _)), _) => format!("; {host}"),
        (None, Some(rate)) => format!(", {rate} times a second"),
        (None, None) => String::new(),
    };
    let (on_path, calls) = (
        Measurement::count("calls_on_path", one.on_path as u64),
        Measurement::count("calls", one.calls as u64),
    );
    let by = tid.map_or(String::new(), |tid| format!(", thread {tid},"));
    let title = format!(
        "{who}{by} asks about {path} again and again: {on_path} of {calls} calls that were shown{often}"
    );
    let subject = Subject {
        tid,
        path: Some(path.to_string()),
        syscall: Some(call_name(one.of.name()).to_string()),
        ..figures::subject(facts, &Entity::Process(pid))
    };
    out.report(Share::of_calls(None), title)
        .measured_all([on_path, calls].into_iter().chain(rate).chain(host.map(|(_, figure)| figure.clone())))
        .at_most(Severity::Notice)
        .subject(subject)
        .cause(
            "The program asks the kernel about the path each time instead of keeping the answer. One such call takes a microsecond \
             or two: it is the number that costs. No source tells how long they take, nor whether the answer changes.",
        )
        .fix(format!("see time and caller: timeout 5 strace -f -k -ttT -e trace=%stat -o stat.st -p {pid}; then whyslow diagnose stat.st"))
        .fix("code: ask once and keep the answer; watch for changes with inotify, or check once a second instead of once an item")
        .verify(format!("perf stat -e 'syscalls:sys_enter_*stat*' -p {pid} sleep 4"))
        .evidence_of(one.of, &[Metric::CallCount])
        .evidence_of(one.path, &[Metric::CallCount])
        .file();
}
