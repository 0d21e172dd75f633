//! What the lines above the list say: who waits for a resource, how full it is, who takes most of it; who waits most of all.

use super::fit::{self, Said};
use super::look::{Kind, Look, Task, WAITER};
use whyslow_model::walk::{HostResource, State};
use whyslow_model::{Metric, figures};

/// CPUs that are worth naming somebody for.
const LEAST_CPU: f64 = 0.01;
/// Bytes a second that are.
const LEAST_TRAFFIC: f64 = 100_000.0;
/// Tasks named in the line of those that wait most.
const WAITERS: usize = 4;

/// Who takes most of a resource, in words, and who suffers where it is full: `dd (42) moves 33.7 MB/s; redis (9) waits`.
/// `None` where nobody takes much, and where nothing tells by process (the network), or the reason names it (limits).
pub(super) fn who(look: &Look, resource: &HostResource) -> Option<String> {
    let taker = taker(look, resource).map(|(long, _)| long);
    let victim = victim(look, resource).map(|victim| format!("{} waits", victim.named()));
    let told: Vec<String> = taker.into_iter().chain(victim).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// One verdict in that width: who waits for it, the main figure, who takes most, the rest. What matters less is left out.
pub(super) fn line(look: &Look, resource: &HostResource, width: usize) -> String {
    let mut reasons = resource.reason.split("; ");
    let main = reasons.next().unwrap_or_default();
    let mut said = Vec::new();
    if let Some(victim) = victim(look, resource) {
        let (named, comm) = (victim.named(), victim.comm);
        let forms = match victim.share {
            Some(share) => {
                let share = figures::percent(share);
                vec![
                    format!("{named} waits {share} of the time"),
                    format!("{named} waits {share}"),
                    format!("{comm} waits {share}"),
                    format!("{comm} waits"),
                ]
            }
            None => vec![format!("{named} waits"), format!("{comm} waits")],
        };
        said.push(Said::new(1, forms));
    }
    said.push(Said::new(0, shorter(main)));
    said.extend(taker(look, resource).map(|(long, short)| Said::new(2, [long, short])));
    said.extend(reasons.enumerate().map(|(at, reason)| Said::new(3 + at, shorter(reason))));
    fit::join(&said, "; ", width)
}

/// The text, and without what stands in brackets.
fn shorter(text: &str) -> Vec<String> {
    let bare = fit::without_brackets(text);
    if bare.is_empty() || bare == text { vec![text.to_string()] } else { vec![text.to_string(), bare] }
}

/// Who waits most, of all tasks and for whatever is known: the worst first. `None` where nothing is known of waits.
pub(super) fn waiters(look: &Look, width: usize) -> Option<String> {
    let mut waiters: Vec<(f64, &Task)> = look
        .processes
        .iter()
        .filter_map(|task| Some((task.rank()?, task)))
        .filter(|(rank, _)| *rank >= WAITER)
        .collect();
    waiters.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.pid.cmp(&b.1.pid)));
    if waiters.is_empty() {
        let told = nobody(look)?;
        return Some(fit::fit(&told, width));
    }
    let mut said = vec![Said::new(0, ["Waits most:"])];
    let comma = |at: usize| if at + 1 < waiters.len().min(WAITERS) { "," } else { "" };
    said.extend(waiters.iter().take(WAITERS).enumerate().map(|(at, (_, task))| {
        let (long, short) = wait_of(look, task);
        Said::new(1 + at.min(1), [format!("{long}{}", comma(at)), format!("{short}{}", comma(at))])
    }));
    Some(fit::join(&said, " ", width).trim_end_matches(',').to_string())
}

/// Whom it is, what it waits for, and how much.
fn wait_of(look: &Look, task: &Task) -> (String, String) {
    let name = task.name();
    let (what, short) = match (task.about.holder, task.wait()) {
        (Some(holder), _) => {
            let whose = look.process(holder).map_or("process", Task::name);
            (format!("for a lock that {whose} ({holder}) holds"), format!("lock of {holder}"))
        }
        (None, Some(wait)) => {
            let told = format!("{} {}", wait.what, figures::percent(wait.share));
            (told.clone(), told)
        }
        (None, None) => {
            let count = task.about.to_accept;
            let (verb, what) =
                (if count == 1 { "waits" } else { "wait" }, figures::plural(count, "connection"));
            let who = format!("{name} ({})", task.pid);
            return (format!("{what} {verb} for {who}, which sleeps"), format!("{count} {verb} for {name}"));
        }
    };
    (format!("{name} ({}) {what}", task.pid), format!("{name} {short}"))
}

/// That nobody waits, for what is known.
fn nobody(look: &Look) -> Option<String> {
    let knows = |of: &[Metric]| {
        look.processes.iter().any(|task| of.iter().any(|metric| task.row.get(*metric).is_some()))
    };
    let known: Vec<&str> = [
        (&[Metric::RunDelay][..], "a CPU"),
        (&[Metric::BlockDelay], "a disk"),
        (&[Metric::ReclaimDelay, Metric::SwapDelay, Metric::ThrashDelay], "memory"),
    ]
    .into_iter()
    .filter(|(of, _)| knows(of))
    .map(|(_, what)| what)
    .collect();
    let least = figures::percent(WAITER);
    let (last, before) = known.split_last()?;
    let known =
        if before.is_empty() { (*last).to_string() } else { format!("{} or {last}", before.join(", ")) };
    let sleeps = look.processes.iter().any(|task| task.asleep.is_some());
    let sleeps = if sleeps { "; the list says what each sleeps in" } else { "" };
    Some(format!("Nobody waits for {known} ({least} of the time or more){sleeps}"))
}

/// Who takes most of it, in long and in short.
fn taker(look: &Look, resource: &HostResource) -> Option<(String, String)> {
    let what = Kind::of(resource)?;
    let first = |least: f64| {
        let known = look.processes.iter().filter_map(|task| Some((task, what.measure()?(task)?)));
        known.filter(|(_, value)| *value >= least).max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let told = |task: &Task, verb: &str, figure: String, behind: &str| {
        let name = task.name();
        (format!("{name} ({}) {verb} {figure}{behind}", task.pid), format!("{name} {figure}"))
    };
    match what {
        Kind::Cpu => {
            first(LEAST_CPU).map(|(task, cpu)| told(task, "uses", figures::percent(cpu), " of one CPU"))
        }
        Kind::Memory => first(1.0).map(|(task, rss)| told(task, "has", figures::bytes(rss as u64), "")),
        // What a process moves is not told by disk.
        Kind::Disk if look.is_idle(resource) => None,
        Kind::Disk => {
            let disks = look.resources.iter().filter(|other| Kind::of(other) == Some(Kind::Disk)).count();
            let all = if disks > 1 { " (all disks)" } else { "" };
            let (task, traffic) = first(LEAST_TRAFFIC)?;
            Some(told(task, "moves", format!("{}/s", figures::bytes(traffic as u64)), all))
        }
        Kind::Network | Kind::Limits => None,
    }
}

/// Who waits for what others take.
struct Victim<'a> {
    comm: &'a str,
    pid: u32,
    /// Of the time.
    share: Option<f64>,
}

impl Victim<'_> {
    fn named(&self) -> String {
        format!("{} ({})", self.comm, self.pid)
    }
}

/// The first of those who wait for a full resource.
fn victim<'a>(look: &'a Look, resource: &HostResource) -> Option<Victim<'a>> {
    if resource.state != State::Saturated {
        return None;
    }
    let is_victim = |name: &Option<String>| name.as_deref() == Some(resource.name.as_str());
    let taker = look.takers.iter().find(|taker| is_victim(&taker.victim_of))?;
    let metric = match Kind::of(resource)? {
        Kind::Cpu => Metric::RunDelay,
        Kind::Disk => Metric::BlockDelay,
        Kind::Memory => Metric::ReclaimDelay,
        Kind::Network | Kind::Limits => return None,
    };
    let pid = taker.pid.unwrap_or(0);
    // Of many threads the sum would be more than all of the time.
    let share = look.process(pid).and_then(|task| task.row.get(metric)).filter(|share| *share <= 1.0);
    Some(Victim {
        comm: taker.comm.as_deref().unwrap_or("?"),
        pid,
        share: share.filter(|share| *share >= WAITER),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::look::tests::{look, resource, task};
    use whyslow_model::walk::Taker;

    fn full_disk() -> Look {
        let resources = vec![
            resource(
                "disk sda (on /)",
                State::Saturated,
                "99.8 % busy; 38.0 ms per request (reads); 41.7 queued",
            ),
            resource("CPU", State::Not, "90.0 % idle"),
            resource("network", State::Not, "eth0 2.1 MB/s, speed unknown"),
        ];
        let writer = task(42, 1, "dd", &[(Metric::WriteBytes, 5e6), (Metric::TaskUser, 0.001)]);
        let victim = task(9, 1, "redis", &[(Metric::ReadBytes, 2e6), (Metric::BlockDelay, 0.8)]);
        let mut look = look(resources, vec![victim, writer]);
        look.takers.push(Taker {
            pid: Some(9),
            tid: None,
            comm: Some("redis".into()),
            takes: Vec::new(),
            waits: Vec::new(),
            victim_of: Some("disk sda (on /)".into()),
            evidence: Vec::new(),
        });
        look
    }

    #[test]
    fn a_verdict_names_who_takes_most_and_who_waits() {
        let mut look = full_disk();
        let of = |look: &Look, at: usize| who(look, &look.resources[at]);
        assert_eq!(of(&look, 0).as_deref(), Some("dd (42) moves 5.0 MB/s; redis (9) waits"));
        // A thousandth of a CPU is nobody's; of the network nothing is told by process.
        assert_eq!((of(&look, 1), of(&look, 2)), (None, None));
        // A disk that does nothing has no taker, whatever is written to another.
        look.busy.insert("sda".into(), 0.0);
        look.takers.clear();
        assert_eq!(of(&look, 0), None);
    }

    #[test]
    fn a_verdict_says_who_waits_first_in_any_width() {
        let look = full_disk();
        let at = |width: usize| line(&look, &look.resources[0], width);
        let all = "redis (9) waits 80.0 % of the time; 99.8 % busy; dd (42) moves 5.0 MB/s; 38.0 ms per request (reads); \
                   41.7 queued";
        assert_eq!(at(200), all);
        assert_eq!(at(75), "redis (9) waits 80.0 % of the time; 99.8 % busy; dd (42) moves 5.0 MB/s");
        assert_eq!(at(38), "redis waits; 99.8 % busy; dd 5.0 MB/s");
        assert_eq!(at(11), "99.8 % busy");
    }

    #[test]
    fn those_who_wait_most_are_told_first() {
        let mut look = full_disk();
        look.processes.push(task(50, 1, "sh", &[]));
        look.processes[2].about.holder = Some(42);
        let all = "Waits most: sh (50) for a lock that dd (42) holds, redis (9) disk 80.0 %";
        assert_eq!(waiters(&look, 80).as_deref(), Some(all));
        assert_eq!(waiters(&look, 48).as_deref(), Some("Waits most: sh lock of 42, redis (9) disk 80.0 %"));
        assert_eq!(waiters(&look, 30).as_deref(), Some("Waits most: sh lock of 42"));
        look.processes.truncate(2);
        look.processes[0] = task(9, 1, "redis", &[(Metric::RunDelay, 0.001), (Metric::BlockDelay, 0.0)]);
        let nobody = "Nobody waits for a CPU or a disk (5.0 % of the time or more)";
        assert_eq!(waiters(&look, 80).as_deref(), Some(nobody));
        look.processes.clear();
        assert_eq!(waiters(&look, 80), None);
    }
}
