//! The threads of a run: who they are, and which number the page gives them.

use crate::data::PageThread;
use crate::reader::Read;
use crate::texts::Texts;
use hashbrown::HashMap;
use std::cmp::Reverse;
use whyslow_account::role_of_thread;
use whyslow_facts::{Facts, ProcessFacts, ThreadFacts};
use whyslow_model::{Tid, Timestamp};

/// The threads that a page has.
pub(crate) struct Threads {
    pub(crate) threads: Vec<PageThread>,
    places: HashMap<Tid, u32, foldhash::fast::RandomState>,
    /// Threads whose time it has not, and what is known of that, ns.
    pub(crate) left_out: (usize, u64),
}

impl Threads {
    /// The threads of which something is known, those with the most time first kept, in the order of their processes.
    pub(crate) fn of(read: &Read, most: usize, texts: &mut Texts) -> Threads {
        let facts = &read.facts;
        let mut tids: Vec<Tid> = read.time.processes.keys().copied().chain(read.time.grid.tids()).collect();
        for of in [Some(facts), facts.followed.apart()].into_iter().flatten() {
            tids.extend(
                of.world
                    .threads
                    .iter()
                    .filter(|(_, thread)| thread.is_active())
                    .map(|(_, thread)| thread.tid),
            );
        }
        tids.sort_unstable();
        tids.dedup();
        let time = |tid: Tid| {
            let cells = read.time.grid.row(tid).into_iter().flat_map(|row| row.cells());
            cells.flat_map(|(_, cell)| cell).fold(0u64, |sum, ns| sum.saturating_add(*ns))
        };
        let mut left_out = read.time.grid.rest();
        if tids.len() > most {
            let mut by_time: Vec<(u64, Tid)> = tids.iter().map(|tid| (time(*tid), *tid)).collect();
            by_time.sort_unstable_by_key(|(ns, tid)| (Reverse(*ns), *tid));
            for (ns, _) in by_time.drain(most..) {
                left_out = (left_out.0 + 1, left_out.1.saturating_add(ns));
            }
            tids = by_time.into_iter().map(|(_, tid)| tid).collect();
        }
        let mut threads: Vec<PageThread> = tids.iter().map(|tid| thread(read, *tid, texts)).collect();
        threads.sort_by_key(|thread| (!thread.target, thread.pid, thread.tid != thread.pid, thread.tid));
        let places = threads.iter().enumerate().map(|(at, thread)| (thread.tid, at as u32)).collect();
        Threads { threads, places, left_out }
    }

    /// The number of a thread, where the page has it.
    pub(crate) fn place(&self, tid: Tid) -> Option<u32> {
        self.places.get(&tid).copied()
    }
}

/// The facts that know a thread, and whether they are of the target.
fn known(facts: &Facts, tid: Tid) -> Option<(&Facts, &ThreadFacts, bool)> {
    let own = facts.world.threads.thread_of(tid).map(|thread| (facts, thread, true));
    own.or_else(|| {
        let apart = facts.followed.apart()?;
        Some((apart, apart.world.threads.thread_of(tid)?, false))
    })
}

fn thread(read: &Read, tid: Tid, texts: &mut Texts) -> PageThread {
    let start = read.facts.window.start;
    let told = known(&read.facts, tid);
    let process = told.and_then(|(facts, thread, _)| facts.world.threads.known_process(thread.process));
    let pid = process.and_then(|process| process.pid).or_else(|| read.time.processes.get(&tid).copied());
    let pid = pid.filter(|pid| *pid != 0).unwrap_or(tid);
    let comm = told.and_then(|(_, thread, _)| thread.comm.as_deref());
    let process_name = process.and_then(ProcessFacts::name);
    let name = match (comm.or(process_name), told) {
        (Some(name), _) => name.to_string(),
        (None, Some((_, thread, _))) if thread.merged > 1 => format!("{} threads", thread.merged),
        (None, _) => format!("thread {tid}"),
    };
    let since = |at: Timestamp| Some(at.get()? as i64 - start.get()? as i64);
    PageThread {
        pid,
        tid,
        name: texts.id(&name),
        process: texts.id(&process_name.map_or_else(|| format!("process {pid}"), str::to_string)),
        role: role_of_thread(comm, process_name.unwrap_or_default()).map(|role| texts.id(&role)),
        target: told.is_none_or(|(_, _, is_target)| is_target),
        from: told.and_then(|(_, thread, _)| since(thread.first)),
        to: told.and_then(|(_, thread, _)| since(thread.last)),
    }
}
