//! Which thread of Ruby is which one of the system.

use super::code::{aligned, word};
use super::layout::{Layout, Native, PTHREAD_TID};
use crate::process::{MemoryError, Process};
use std::collections::HashMap;

/// Threads and ractors that are looked at.
const MOST: usize = 1 << 13;

/// The threads of a VM, by what was found before.
#[derive(Default)]
pub(super) struct Threads {
    /// Address of the `rb_thread_struct` of a thread of the system, and its number as it sees it itself.
    known: HashMap<u32, (u64, u32)>,
    /// Threads that are none of Ruby's while the lists have these ends.
    others: Vec<u32>,
    ends: Vec<u64>,
}

impl Threads {
    /// The address of the `rb_thread_struct` that a thread of the system runs; `None` where it runs none, or it is not certain.
    pub(super) fn find(
        &mut self,
        process: &Process,
        layout: &Layout,
        vm: u64,
        tid: u32,
    ) -> Result<Option<u64>, MemoryError> {
        if let Some((thread, own)) = self.known.get(&tid)
            && process.u64(thread.wrapping_add(layout.vm)) == Ok(vm)
            && number(process, layout, *thread) == Ok(*own)
        {
            return Ok(Some(*thread));
        }
        self.known.remove(&tid);
        let lists = lists(process, layout, vm)?;
        let mut ends = Vec::new();
        for list in &lists {
            ends.extend(process.array(*list).map(|ends: [u8; 16]| [word(&ends, 0), word(&ends, 8)])?);
        }
        if self.ends == ends && self.others.contains(&tid) {
            return Ok(None);
        }
        if self.ends != ends {
            (self.others, self.ends) = (Vec::new(), ends);
        }
        let mut all = Vec::new();
        for list in lists {
            for thread in nodes(process, list)? {
                if process.u64(thread.wrapping_add(layout.vm))? != vm {
                    return Err(MemoryError::Unlikely("a thread of Ruby"));
                }
                all.push((thread, number(process, layout, thread).unwrap_or(0)));
            }
        }
        let Some(own) = own_number(process.pid(), tid) else { return Ok(None) };
        let mut mine = all.iter().filter(|(_, number)| *number == own);
        match (mine.next(), mine.next()) {
            (Some((thread, _)), None) => {
                self.known.insert(tid, (*thread, own));
                Ok(Some(*thread))
            }
            // Several of Ruby's take turns on one of the system.
            (Some(_), Some(_)) => Ok(None),
            (None, _) if tid == process.pid() => Ok(forked(process, &all)),
            (None, _) => {
                // One that has no number yet is just being started.
                if all.iter().all(|(_, number)| *number != 0) && self.others.len() < MOST {
                    self.others.push(tid);
                }
                Ok(None)
            }
        }
    }
}

/// The lists of threads: that of the VM, or one a ractor.
fn lists(process: &Process, layout: &Layout, vm: u64) -> Result<Vec<u64>, MemoryError> {
    let list = vm.wrapping_add(layout.list);
    let Some((node, threads)) = layout.ractor else { return Ok(vec![list]) };
    let ractors = nodes(process, list)?;
    Ok(ractors.into_iter().map(|it| it.wrapping_sub(node).wrapping_add(threads)).collect())
}

/// The nodes of a list (`list_head` of ccan/list/list.h): a ring of next and previous.
fn nodes(process: &Process, head: u64) -> Result<Vec<u64>, MemoryError> {
    let mut found = Vec::new();
    let mut node = process.u64(head)?;
    while node != head {
        if found.len() == MOST {
            return Err(MemoryError::Unlikely("a list of threads"));
        }
        found.push(aligned(node)?);
        node = process.u64(node)?;
    }
    Ok(found)
}

/// The number of the system's thread, as the process itself sees it.
fn number(process: &Process, layout: &Layout, thread: u64) -> Result<u32, MemoryError> {
    match layout.native {
        Native::Tid(at) => process.u32(thread.wrapping_add(at)),
        Native::Shared(native, at) => {
            let native = process.u64(thread.wrapping_add(native))?;
            process.u32(aligned(native)?.wrapping_add(at))
        }
        Native::Pthread(at) => {
            let pthread = process.u64(thread.wrapping_add(at))?;
            process.u32(aligned(pthread)?.wrapping_add(PTHREAD_TID))
        }
    }
}

/// The number by which a thread is known in its own PID namespace (`NSpid` of proc_pid_status(5)).
fn own_number(pid: u32, tid: u32) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/status")).ok()?;
    let numbers = text.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_ascii_whitespace().last()?.parse().ok()
}

/// The thread that forked the process has the number that it had before: it is the only one that no thread has now.
fn forked(process: &Process, all: &[(u64, u32)]) -> Option<u64> {
    let now: Vec<u32> =
        process.threads().into_iter().filter_map(|tid| own_number(process.pid(), tid)).collect();
    let mut gone = all.iter().filter(|(_, number)| *number != 0 && !now.contains(number));
    match (gone.next(), gone.next()) {
        (Some((thread, _)), None) => Some(*thread),
        _ => None,
    }
}
