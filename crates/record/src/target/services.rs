//! Which of the processes found are one service (a parent with its workers, a unit, a container), and a list of those
//! that are several, to choose from.

use super::candidate::Candidate;
use super::cgroup;
use super::process::Stat;
use super::program::Program;
use super::root::{ProcRoot, read_at_most};
use std::collections::{BTreeMap, HashMap, HashSet};
use whyslow_model::Tid;
use whyslow_model::cgroup::unit_of;

/// Processes that belong together, in order.
pub(super) type Service = Vec<Tid>;

/// Parents followed upwards at most: a tree that claims to be deeper is damaged.
const DEEPEST: usize = 128;

/// Splits `found` into services: what descends from another one of them belongs to it, as do those of one unit or container,
/// and children of one parent with equal command lines. `also` says which further ones are together.
pub(super) fn of(
    root: &ProcRoot,
    host: &[Candidate],
    found: &[Tid],
    also: impl Fn(Tid) -> Option<u64>,
) -> Vec<Service> {
    let by_pid: HashMap<Tid, &Candidate> = host.iter().map(|candidate| (candidate.pid, candidate)).collect();
    let wanted: HashSet<Tid> = found.iter().copied().collect();
    let mut sets = Sets { of: found.iter().map(|pid| (*pid, *pid)).collect() };
    let mut first: HashMap<Together, Tid> = HashMap::new();
    for pid in found {
        let Some(candidate) = by_pid.get(pid) else { continue };
        let mut parent = candidate.stat.parent;
        for _ in 0..DEEPEST {
            if wanted.contains(&parent) {
                sets.join(*pid, parent);
                break;
            }
            match by_pid.get(&parent) {
                Some(next) => parent = next.stat.parent,
                None => break,
            }
        }
        let mut marks: Vec<Together> = also(*pid).map(Together::Told).into_iter().collect();
        marks
            .extend(cgroup::container_of_groups(&candidate.groups).map(|id| Together::Group(id.to_string())));
        let units = candidate.groups.iter().filter_map(|group| unit_of(&group.path));
        // All that a user runs is below one of these.
        let services = units.filter(|unit| unit.ends_with(".service") && !unit.starts_with("user@"));
        marks.extend(services.map(|unit| Together::Group(unit.to_string())));
        // What init adopted has no parent to share.
        if candidate.stat.parent > 1
            && let Ok(line) = read_at_most(&root.of(*pid, "cmdline"), 4096)
            && !line.is_empty()
        {
            marks.push(Together::Siblings(candidate.stat.parent, line));
        }
        for mark in marks {
            let other = *first.entry(mark).or_insert(*pid);
            sets.join(*pid, other);
        }
    }
    let mut services: BTreeMap<Tid, Service> = BTreeMap::new();
    for pid in found {
        services.entry(sets.root(*pid)).or_default().push(*pid);
    }
    services.into_values().collect()
}

/// Why processes are of one service.
#[derive(PartialEq, Eq, Hash)]
enum Together {
    Told(u64),
    Group(String),
    Siblings(Tid, Vec<u8>),
}

/// Disjoint sets of processes; the least number stands for each.
struct Sets {
    of: HashMap<Tid, Tid>,
}

impl Sets {
    fn root(&self, mut pid: Tid) -> Tid {
        while let Some(up) = self.of.get(&pid).filter(|up| **up != pid) {
            pid = *up;
        }
        pid
    }

    fn join(&mut self, a: Tid, b: Tid) {
        let (a, b) = (self.root(a), self.root(b));
        self.of.insert(a.max(b), a.min(b));
    }
}

/// Services listed.
const LISTED: usize = 10;
/// Letters of a command line that are shown.
const SHOWN: usize = 60;

/// A table of services: number, age, CPU time, what it is.
pub(super) fn listed(root: &ProcRoot, host: &[Candidate], services: &[Service]) -> String {
    let uptime = uptime(root);
    let mut lines = vec![format!("{:>9}  {:>8}  {:>6}  {}", "PID", "AGE", "CPU", "WHAT")];
    for service in services.iter().take(LISTED) {
        // A parent has a smaller age than no worker: the first that started stands for all.
        let members: Vec<&Candidate> =
            host.iter().filter(|candidate| service.contains(&candidate.pid)).collect();
        let Some(head) = members.iter().min_by_key(|candidate| (candidate.stat.start, candidate.pid)) else {
            continue;
        };
        let program = Program::of(root, head.pid, &head.stat.comm);
        let life = uptime.map(|uptime| (uptime - seconds(head.stat.start)).max(0.0));
        let cpu: f64 = members.iter().map(|candidate| seconds(candidate.stat.cpu)).sum();
        let share = life.filter(|life| *life > 0.0).map(|life| format!("{:.0} %", cpu / life * 100.0));
        let unknown = || "?".to_string();
        let command = program.command.clone().unwrap_or_default();
        let mut what = if command.starts_with(program.shown()) || command.is_empty() {
            if command.is_empty() { program.shown().to_string() } else { command }
        } else {
            format!("{}: {command}", program.shown())
        };
        if let Some((cut, _)) = what.char_indices().nth(SHOWN) {
            what.truncate(cut);
            what.push('…');
        }
        if let Some(id) = cgroup::container_of_groups(&head.groups) {
            what.push_str(&format!(" [container {}]", id.chars().take(12).collect::<String>()));
        }
        match members.len() {
            0 | 1 => {}
            2 => what.push_str(" (and 1 more process of it)"),
            several => what.push_str(&format!(" (and {} more processes of it)", several - 1)),
        }
        lines.push(format!(
            "{:>9}  {:>8}  {:>6}  {what}",
            head.pid,
            life.map_or_else(unknown, age),
            share.unwrap_or_else(unknown)
        ));
    }
    if services.len() > LISTED {
        lines.push(format!("{:>9}  and {} more", "…", services.len() - LISTED));
    }
    lines.join("\n")
}

/// How to name one of them, and all of them.
pub(super) fn choice(services: &[Service]) -> String {
    /// A longer line is no help.
    const MOST: usize = 20;
    let one = services.first().and_then(|service| service.first()).copied().unwrap_or_default();
    let all: Vec<String> = services.iter().flatten().take(MOST + 1).map(Tid::to_string).collect();
    match all.len() {
        0..=MOST => {
            format!("one by its number, with its children (-p {one}), or all of them (-p {})", all.join(","))
        }
        _ => format!("one by its number, with its children (-p {one})"),
    }
}

fn seconds(ticks: u64) -> f64 {
    ticks as f64 / rustix::param::clock_ticks_per_second().max(1) as f64
}

/// Seconds since boot.
fn uptime(root: &ProcRoot) -> Option<f64> {
    let text = read_at_most(&root.path("/proc/uptime"), 256).ok()?;
    std::str::from_utf8(&text).ok()?.split_ascii_whitespace().next()?.parse().ok()
}

/// `3 d 4 h`, `2 h 5 min`, `12 s`.
fn age(seconds: f64) -> String {
    let seconds = seconds as u64;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} m"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

/// Our own parents: the shell and the wrappers (sudo, timeout) that started us have our arguments in theirs.
pub(super) fn ancestors(root: &ProcRoot) -> HashSet<Tid> {
    let mut found = HashSet::new();
    let mut pid = root.own_pid();
    while let Some(at) = pid.filter(|_| found.len() < DEEPEST) {
        pid = Stat::read(root, at)
            .ok()
            .map(|stat| stat.parent)
            .filter(|parent| *parent != 0 && found.insert(*parent));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        for (seconds, text) in [(5.9, "5 s"), (125.0, "2 min"), (7_380.0, "2 h 3 m"), (200_000.0, "2 d 7 h")]
        {
            assert_eq!(age(seconds), text);
        }
    }

    #[test]
    fn sets_join_whatever_the_order() {
        let mut sets = Sets { of: (1..=6).map(|pid| (pid, pid)).collect() };
        for (a, b) in [(5, 6), (2, 1), (6, 2), (4, 4)] {
            sets.join(a, b);
        }
        let roots: Vec<Tid> = (1..=6).map(|pid| sets.root(pid)).collect();
        assert_eq!(roots, [1, 1, 3, 4, 1, 1]);
    }
}
