//! Threads by role: those of one program whose names differ in a number alone do the same.

use hashbrown::HashMap;
use std::collections::BTreeSet;
use whyslow_facts::world::runners::without_number;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::event::Tid;

/// A role: the name of the process, and that of the thread where it has one of its own.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Role {
    process: String,
    thread: Option<String>,
}

/// The roles of threads, each found once.
pub(crate) struct Roles<'a> {
    facts: &'a Facts,
    names: HashMap<Tid, Box<str>>,
}

impl<'a> Roles<'a> {
    pub(crate) fn new(facts: &'a Facts) -> Roles<'a> {
        let threads = facts.world.threads.iter().map(|(_, thread)| thread);
        let names = threads.filter_map(|thread| Some((thread.tid, thread.comm.clone()?))).collect();
        Roles { facts, names }
    }

    pub(crate) fn of(&self, process: ProcessId, tid: Tid) -> Role {
        let known = self.facts.world.threads.known_process(process);
        let name = known.and_then(|process| process.name()).unwrap_or_default();
        let thread = of_thread(self.names.get(&tid).map(|comm| &**comm), name);
        Role { process: name.to_string(), thread }
    }
}

/// The role of one thread, in words; `None` for one whose name is that of its process.
pub(crate) fn of_thread(comm: Option<&str>, process: &str) -> Option<String> {
    let thread = comm.map(without_number).filter(|thread| !thread.is_empty() && !same(thread, process))?;
    Some(thread.to_string())
}

/// A thread without a name of its own has the process's, which the kernel cuts at 15 bytes (TASK_COMM_LEN).
fn same(thread: &str, process: &str) -> bool {
    /// Bytes of a thread's name (include/linux/sched.h, without the NUL).
    const LONGEST: usize = 15;
    thread == without_number(process) || thread.len() == LONGEST && process.starts_with(thread)
}

/// The numbers of their processes.
pub(crate) fn pids(facts: &Facts, threads: &BTreeSet<(ProcessId, Tid)>) -> Vec<Tid> {
    let pid = |process| facts.world.threads.known_process(process).and_then(|process| process.pid);
    let pids: BTreeSet<Tid> = threads.iter().filter_map(|(process, _)| pid(*process)).collect();
    pids.into_iter().collect()
}

/// Who that is: `import.py (812)`, `4 x worker of app.py (812)`, `3 x nginx (12, 13, 14)`.
pub(crate) fn words(facts: &Facts, role: &Role, threads: &BTreeSet<(ProcessId, Tid)>) -> String {
    /// Numbers of processes that are named.
    const MOST: usize = 3;
    let pids = pids(facts, threads);
    let mut numbers: Vec<String> = pids.iter().take(MOST).map(Tid::to_string).collect();
    if pids.len() > MOST {
        numbers.push("...".to_string());
    }
    let process = match (role.process.as_str(), numbers.is_empty()) {
        ("", true) => "the traced process".to_string(),
        ("", false) => format!("process {}", numbers.join(", ")),
        (name, true) => name.to_string(),
        (name, false) => format!("{name} ({})", numbers.join(", ")),
    };
    let of = match (&role.thread, threads.iter().next()) {
        (Some(thread), Some((_, tid))) if threads.len() == 1 => format!("{thread} ({tid}) of {process}"),
        (Some(thread), _) => format!("{thread} of {process}"),
        (None, _) => process,
    };
    if threads.len() > 1 { format!("{} x {of}", threads.len()) } else { of }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_a_number_are_one_role() {
        let bare =
            ["worker-12", "worker_3", "pool-3-thread-7", "kworker/1", "http-nio-8080", "w1", "main", "7"];
        let wanted = ["worker", "worker", "pool-3-thread", "kworker", "http-nio", "w", "main", ""];
        assert_eq!(bare.map(without_number), wanted);
        assert!(same("averylongprogra", "averylongprogram.py") && !same("worker", "app"));
    }
}
