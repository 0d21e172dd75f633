//! From what the user names (a process, a name, a port, a container) to processes and threads.

mod by_group;
mod by_name;
mod by_port;

use super::candidate::Candidate;
use super::cgroup::{self, CgroupDir, Hierarchy, Membership};
use super::error::TargetError;
use super::process::{Stat, Status};
use super::program::Program;
use super::root::{ProcRoot, bounded};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use whyslow_model::Tid;

/// What to record. Several criteria mean whatever meets any of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// These processes, with all their threads.
    pub pids: Vec<Tid>,
    /// These threads alone.
    pub tids: Vec<Tid>,
    /// Processes of these names: the program's, the script's, the jar's, the class's or the application's, whole before a
    /// part of it before a part of the command line. They must be of one service.
    pub names: Vec<String>,
    /// Also the descendants of what is selected: those there are, and those that will be.
    pub children: bool,
    /// Processes in these control groups and in those below: a directory below `/sys/fs/cgroup`, or a path as
    /// `/proc/PID/cgroup` shows it; `*` and `?` stand for any part of a name.
    pub cgroups: Vec<String>,
    /// Processes in these containers: the name, the pod's or the composition's name, the first digits of the id, or the
    /// path of a control group.
    pub containers: Vec<String>,
    /// Processes of these systemd units: `nginx`, `nginx.service`, `nginx*`.
    pub units: Vec<String>,
    /// Processes that have a socket with one of these local TCP or UDP ports: who listens there, and its connections
    /// (not who connects to it from elsewhere). They must be of one service.
    pub ports: Vec<u16>,
    /// All processes of the host.
    pub all: bool,
}

/// One process that is selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedProcess {
    /// Its number.
    pub pid: Tid,
    /// The kernel's name of it.
    pub comm: String,
    /// What a person calls it: the script, jar or class that it runs, else its program.
    pub name: String,
    /// The selected threads, in order; all there are where `whole`.
    pub tids: Vec<Tid>,
    /// True where threads that it starts later are selected too; false where single threads were asked for.
    pub whole: bool,
}

/// What makes a task that starts later one of the selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Later {
    /// Its parent is one of the selected.
    pub children: bool,
    /// Any is.
    pub all: bool,
    /// It executes a program of such a name: `comm` as the kernel keeps it (`TASK_COMM_LEN`), NULs behind it. A name
    /// of more than 15 bytes is cut as the kernel cuts it.
    pub comms: Vec<[u8; 16]>,
    /// It is in such a group or below it.
    pub cgroups: Vec<CgroupDir>,
}

/// What a selection means at this time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// The processes, by number. Never ourselves; empty only where all are meant and none is to be seen.
    pub processes: Vec<SelectedProcess>,
    /// What joins them later.
    pub later: Later,
    /// What the user should know about the choice: sentences.
    pub remarks: Vec<String>,
}

impl Resolved {
    /// The numbers of the processes.
    pub fn pids(&self) -> Vec<Tid> {
        self.processes.iter().map(|process| process.pid).collect()
    }
}

impl Selection {
    /// True where nothing is asked for.
    pub fn is_empty(&self) -> bool {
        let lists = [
            self.names.is_empty(),
            self.cgroups.is_empty(),
            self.containers.is_empty(),
            self.units.is_empty(),
        ];
        lists.iter().all(|empty| *empty)
            && self.pids.is_empty()
            && self.tids.is_empty()
            && self.ports.is_empty()
            && !self.all
    }

    /// Finds what is meant. A process that ends meanwhile is left out; it is an error where the user named it.
    pub fn resolve(&self, root: &ProcRoot) -> Result<Resolved, TargetError> {
        self.search(root, false)
    }

    /// Finds who joined since: of a name only those whose name is that, and however many there are.
    pub fn resolve_again(&self, root: &ProcRoot) -> Result<Resolved, TargetError> {
        self.search(root, true)
    }

    fn search(&self, root: &ProcRoot, again: bool) -> Result<Resolved, TargetError> {
        if self.is_empty() {
            return Err(TargetError::Empty);
        }
        let resolved = Resolved::default();
        let mut search = Search { root, again, chosen: BTreeMap::new(), resolved, host: None };
        for pid in &self.pids {
            search.process(*pid)?;
        }
        for tid in &self.tids {
            search.thread(*tid)?;
        }
        for name in &self.names {
            search.named(name)?;
        }
        for group in &self.cgroups {
            search.in_cgroup(group)?;
        }
        for container in &self.containers {
            match container.starts_with('/') {
                true => search.in_cgroup(container)?,
                false => search.in_container(container)?,
            }
        }
        for unit in &self.units {
            search.of_unit(unit)?;
        }
        for port in &self.ports {
            search.at_port(*port)?;
        }
        if self.all {
            search.everything()?;
        }
        if self.children {
            search.descendants()?;
        }
        search.resolved.later.children = self.children;
        search.resolved.later.all = self.all;
        search.finish()
    }
}

/// The host's processes, as far as they may be selected.
#[derive(Debug)]
struct Host {
    candidates: Vec<Candidate>,
    hierarchies: Vec<Hierarchy>,
}

/// Which threads of a process are chosen.
#[derive(Debug)]
enum Chosen {
    Whole,
    Threads(BTreeSet<Tid>),
}

struct Search<'r> {
    root: &'r ProcRoot,
    /// True where it was found before, and others join.
    again: bool,
    chosen: BTreeMap<Tid, Chosen>,
    resolved: Resolved,
    /// Read when first needed: to record one process by its number takes a look at that one only.
    host: Option<Host>,
}

impl Search<'_> {
    fn host(&mut self) -> Result<&Host, TargetError> {
        let host = match self.host.take() {
            Some(host) => host,
            None => Host::read(self.root)?,
        };
        Ok(self.host.insert(host))
    }

    fn choose(&mut self, pids: Vec<Tid>) {
        for pid in pids {
            self.chosen.insert(pid, Chosen::Whole);
        }
    }

    fn process(&mut self, pid: Tid) -> Result<(), TargetError> {
        if self.root.own_pid() == Some(pid) {
            return Err(TargetError::Ourselves { pid });
        }
        let stat = match Stat::read(self.root, pid) {
            Ok(stat) => stat,
            Err(error) if is_gone(&error) => return Err(self.no_process(pid)?),
            Err(source) => return Err(TargetError::Unreadable { path: self.root.of(pid, "stat"), source }),
        };
        let comm = bounded(&stat.comm);
        if stat.is_kernel_thread() {
            return Err(TargetError::KernelThread { pid, comm });
        }
        if stat.is_zombie() {
            return Err(TargetError::Zombie { pid, comm, parent: stat.parent });
        }
        // /proc answers for the number of any thread, though it lists those of processes only.
        let process = Status::read(self.root, pid).ok().and_then(|status| status.process).unwrap_or(pid);
        if process != pid {
            self.resolved.remarks.push(format!(
                "{pid} ({comm}) is a thread of process {process}: all threads of that process are recorded; use --tid {pid} for this one alone"
            ));
        }
        self.chosen.insert(process, Chosen::Whole);
        Ok(())
    }

    /// The error for a number that is no process here: it may be one inside a container.
    fn no_process(&mut self, pid: Tid) -> Result<TargetError, TargetError> {
        let root = self.root;
        let inside = self.host()?.candidates.iter().filter(|candidate| {
            let numbers = Status::read(root, candidate.pid).map_or(Vec::new(), |status| status.numbers);
            numbers.iter().skip(1).any(|number| *number == pid)
        });
        let inside = inside.map(|found| (found.pid, bounded(&found.stat.comm))).collect();
        Ok(TargetError::NoProcess { pid, inside })
    }

    fn thread(&mut self, tid: Tid) -> Result<(), TargetError> {
        let process = Status::read(self.root, tid).ok().and_then(|status| status.process);
        let Some(process) = process else { return Err(TargetError::NoThread { tid }) };
        if self.root.own_pid() == Some(process) {
            return Err(TargetError::Ourselves { pid: process });
        }
        if let Ok(stat) = Stat::read(self.root, tid)
            && stat.is_kernel_thread()
        {
            return Err(TargetError::KernelThread { pid: tid, comm: bounded(&stat.comm) });
        }
        match self.chosen.entry(process).or_insert_with(|| Chosen::Threads(BTreeSet::new())) {
            Chosen::Whole => {}
            Chosen::Threads(threads) => {
                threads.insert(tid);
            }
        }
        Ok(())
    }

    fn everything(&mut self) -> Result<(), TargetError> {
        let found = self.host()?.candidates_where(|_| true);
        self.choose(found);
        Ok(())
    }

    fn descendants(&mut self) -> Result<(), TargetError> {
        let mut children: HashMap<Tid, Vec<Tid>> = HashMap::new();
        for candidate in &self.host()?.candidates {
            children.entry(candidate.stat.parent).or_default().push(candidate.pid);
        }
        let mut open: Vec<Tid> = self.chosen.keys().copied().collect();
        // A chosen process keeps its way of being chosen; each is looked at once, whatever the tree claims.
        while let Some(pid) = open.pop() {
            for child in children.remove(&pid).unwrap_or_default() {
                self.chosen.entry(child).or_insert(Chosen::Whole);
                open.push(child);
            }
        }
        Ok(())
    }

    /// Lists the threads of what was chosen.
    fn finish(mut self) -> Result<Resolved, TargetError> {
        let mut gone = None;
        for (pid, chosen) in std::mem::take(&mut self.chosen) {
            if self.root.own_pid() == Some(pid) {
                continue;
            }
            let (tids, whole) = match chosen {
                Chosen::Whole => (self.root.threads(pid).unwrap_or_default(), true),
                Chosen::Threads(tids) => (tids.into_iter().collect(), false),
            };
            let comm = Stat::read(self.root, pid).map_or(Vec::new(), |stat| stat.comm);
            // Of all processes of a host nobody asks for the names.
            let name = match self.resolved.later.all {
                true => bounded(&comm),
                false => Program::of(self.root, pid, &comm).shown().to_string(),
            };
            let comm = bounded(&comm);
            if tids.is_empty() {
                gone = Some(pid);
                continue;
            }
            self.resolved.processes.push(SelectedProcess { pid, comm, name, tids, whole });
        }
        // Alone in a container, or /proc hides the others: all of the host is all the same.
        if self.resolved.processes.is_empty() && !self.resolved.later.all {
            return Err(match (gone, self.root.own_pid()) {
                (None, Some(pid)) => TargetError::Ourselves { pid },
                (gone, _) => TargetError::NoProcess { pid: gone.unwrap_or(0), inside: Vec::new() },
            });
        }
        self.resolved.later.cgroups.dedup();
        Ok(self.resolved)
    }
}

impl Host {
    /// All processes but kernel threads, zombies and ourselves.
    fn read(root: &ProcRoot) -> Result<Host, TargetError> {
        let pids =
            root.pids().map_err(|source| TargetError::Unreadable { path: root.path("/proc"), source })?;
        let candidates = pids.into_iter().filter(|pid| root.own_pid() != Some(*pid)).filter_map(|pid| {
            let stat = Stat::read(root, pid).ok()?;
            let usable = !stat.is_kernel_thread() && !stat.is_zombie();
            usable.then(|| Candidate { pid, stat, groups: cgroup::memberships(root, pid) })
        });
        Ok(Host { candidates: candidates.collect(), hierarchies: cgroup::hierarchies(root) })
    }

    fn candidates_where(&self, matches: impl Fn(&Candidate) -> bool) -> Vec<Tid> {
        self.candidates.iter().filter(|candidate| matches(candidate)).map(|candidate| candidate.pid).collect()
    }
}

/// ENOENT where it ended before it was opened, ESRCH where it did after.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// Those of `names` that look like `wanted`, the likest first.
pub(crate) fn near(wanted: &str, names: BTreeSet<String>) -> Vec<String> {
    /// Below this, names have little to do with each other.
    const LIKE: f64 = 0.8;
    let score = |name: &str| match name.contains(wanted) || wanted.contains(name) {
        true => 1.0,
        false => strsim::jaro_winkler(&wanted.to_lowercase(), &name.to_lowercase()),
    };
    let mut scored: Vec<(f64, String)> =
        names.into_iter().filter(|name| !name.is_empty()).map(|name| (score(&name), name)).collect();
    scored.retain(|(score, _)| *score >= LIKE);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().map(|(_, name)| name).take(3).collect()
}

#[cfg(test)]
mod tests;
