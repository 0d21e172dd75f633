//! Who uses a file, in words: process and thread with their numbers, and the container.

use crate::{Facts, ProcessId, User};
use whyslow_model::cgroup::container_of;
use whyslow_model::event::Tid;
use whyslow_model::{Entity, Trait};

/// A thread with its process, as far as known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Who {
    /// `12280 app.py`.
    pub process: Option<String>,
    /// `514 worker`; `None` where several threads share a descriptor.
    pub thread: Option<String>,
    /// The first 12 digits of its id.
    pub container: Option<String>,
}

/// Digits of a container's id that are shown, as docker ps does.
const CONTAINER_DIGITS: usize = 12;

impl Who {
    /// Of a user of the facts.
    pub fn of(facts: &Facts, user: User) -> Who {
        let Some(process) = facts.world.threads.known_process(user.process) else { return Who::default() };
        let known = process.pid.is_some() || process.name().is_some();
        Who {
            process: known.then(|| process_name(facts, user.process)),
            thread: (user.tid != 0).then(|| thread_name(facts, user.tid, Some(user.process))),
            container: container(facts, user.process, process.pid),
        }
    }

    /// `12280 app.py (thread 514 worker) in container 4f1c8a`; `somebody` where nothing is known.
    pub fn words(&self) -> String {
        let who = match (&self.process, &self.thread) {
            (Some(process), Some(thread)) => format!("{process} (thread {thread})"),
            (Some(one), None) | (None, Some(one)) => one.clone(),
            (None, None) => "somebody".to_string(),
        };
        let container = self.container.as_ref().map_or(String::new(), |id| format!(" in container {id}"));
        who + &container
    }

    /// The process, else the thread, else `somebody`.
    pub fn short(&self) -> &str {
        self.process.as_deref().or(self.thread.as_deref()).unwrap_or("somebody")
    }

    /// Of a number that a tool shows: a process, or one of its threads, which another source joins to its process.
    pub fn numbered(facts: &Facts, number: Tid, comm: Option<&str>) -> Who {
        let threads = &facts.world.threads;
        let pid = process_of(facts, number);
        if let Some(id) = pid.and_then(|pid| threads.last_process(pid)) {
            let thread = if pid == Some(number) { None } else { Some(thread_name(facts, number, Some(id))) };
            return Who {
                process: Some(process_name(facts, id)),
                thread,
                container: container(facts, id, pid),
            };
        }
        let with_name = |number: Tid, name: Option<&str>| match name {
            Some(name) => format!("{number} {name}"),
            None => number.to_string(),
        };
        let told = |of: &Entity| facts.host.thing(of).and_then(|thing| thing.told(Trait::Name));
        match pid {
            Some(pid) => Who {
                process: Some(with_name(pid, told(&Entity::Process(pid)).or(comm))),
                thread: (pid != number).then(|| with_name(number, comm)),
                container: container(facts, ProcessId::NONE, Some(pid)),
            },
            // Nobody tells whether it is a process or a thread.
            None => Who { thread: Some(with_name(number, comm)), ..Who::default() },
        }
    }
}

/// The process that a number is, or that the thread of that number is of.
pub fn process_of(facts: &Facts, number: Tid) -> Option<Tid> {
    let threads = &facts.world.threads;
    if threads.last_process(number).is_some() || facts.host.thing(&Entity::Process(number)).is_some() {
        return Some(number);
    }
    let thread = threads.thread_of(number).and_then(|thread| threads.known_process(thread.process));
    let told = || {
        let of_thread =
            |of: &Entity| matches!(of, Entity::Thread { pid, tid } if *tid == number && *pid != 0);
        facts.host.things_that(of_thread).first().and_then(|(of, _)| of.pid())
    };
    thread.and_then(|process| process.pid).or_else(told)
}

/// `514 worker`.
fn thread_name(facts: &Facts, tid: Tid, process: Option<ProcessId>) -> String {
    let thread = facts.world.threads.thread_of(tid).filter(|thread| Some(thread.process) == process);
    match thread.and_then(|thread| thread.comm.as_deref()) {
        Some(comm) => format!("{tid} {comm}"),
        None => tid.to_string(),
    }
}

fn container(facts: &Facts, process: ProcessId, pid: Option<Tid>) -> Option<String> {
    let of_group = facts.world.threads.known_process(process).and_then(|process| process.cgroup.as_deref());
    let told = || facts.host.thing(&Entity::Process(pid?))?.told(Trait::Container);
    let id = of_group.and_then(container_of).or_else(told)?;
    Some(id.chars().take(CONTAINER_DIGITS).collect())
}

/// `pid comm` of a process, as far as known.
pub fn process_name(facts: &Facts, id: ProcessId) -> String {
    let Some(process) = facts.world.threads.known_process(id) else { return "(unknown)".to_string() };
    match (process.pid, process.name()) {
        (Some(pid), Some(name)) => format!("{pid} {name}"),
        (Some(pid), None) => pid.to_string(),
        (None, Some(name)) => name.to_string(),
        (None, None) => "(unknown)".to_string(),
    }
}
