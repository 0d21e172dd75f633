//! Frames of languages in memory of their runtimes' own, copied as a wait ends or a sample is taken: which lists the kernel's side is to copy, and its copies
//! until that of their stack comes.

use super::records::{StackCopyRecord, frames_copy};
use crate::bpf::layout::{FrameListRow, bytes_of};
use crate::clock::monotonic_ns;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::collections::HashMap;
use whyslow_unwind::runtimes::{Callers, FrameList};
use whyslow_unwind::{StackCopy, StackEntry, StackOutcome, Unwinder};

/// A thread without a list, or with a wrong one, is asked about again after so long.
const AGAIN_NS: u64 = 100_000_000;
/// Threads that are known; past this all are asked about anew.
const MAX_THREADS: usize = 8192;
/// Copies that wait for that of their stack, which comes next but for those of other CPUs.
const MAX_COPIES: usize = 64;

/// The lists of threads.
#[derive(Default)]
pub(super) struct FrameLists {
    /// By thread, for the kernel's side; none before that is loaded, and where no calls are recorded.
    map: Option<MapHandle>,
    /// What a thread's list was, and when it was asked about.
    known: HashMap<u32, (Option<FrameList>, u64)>,
    copies: HashMap<u32, Vec<u8>>,
}

impl FrameLists {
    pub(super) fn new(map: MapHandle) -> FrameLists {
        FrameLists { map: Some(map), ..FrameLists::default() }
    }

    /// Keeps a copy of frames until that of the stack comes.
    pub(super) fn copied(&mut self, record: Vec<u8>) {
        let Some((_, tid, _)) = frames_copy(&record) else { return };
        if self.copies.len() >= MAX_COPIES {
            self.copies.clear();
        }
        self.copies.insert(tid, record);
    }

    /// The stack of a thread whose wait is over.
    pub(super) fn waited(
        &mut self,
        unwinder: &mut Unwinder,
        copy: &StackCopyRecord<'_>,
        top: StackCopy<'_>,
        stack: &mut Vec<StackEntry>,
    ) -> StackOutcome {
        let record = self.copies.remove(&copy.tid);
        let listed = record.as_deref().and_then(frames_copy);
        let listed = listed.filter(|(ts, ..)| *ts == copy.ts).map(|(.., listed)| listed);
        let outcome = unwinder.waited(copy.pid, copy.tid, copy.registers, top, listed, stack);
        if !stack.iter().any(|entry| matches!(entry, StackEntry::Language(_))) {
            self.learn(unwinder, copy.pid, copy.tid);
        }
        outcome
    }

    /// The stack of a thread that was sampled. Where the kernel's side does not copy its list yet, its frames are those of now, which may be others.
    pub(super) fn sampled(
        &mut self,
        unwinder: &mut Unwinder,
        copy: &StackCopyRecord<'_>,
        top: StackCopy<'_>,
        stack: &mut Vec<StackEntry>,
    ) -> StackOutcome {
        match self.known.get(&copy.tid) {
            Some((Some(_), _)) if self.map.is_some() => self.waited(unwinder, copy, top, stack),
            _ => unwinder.sampled(copy.pid, copy.tid, copy.registers, top, stack),
        }
    }

    /// Finds out where the list of a thread is that nobody has asked about: before its first wait ends.
    pub(super) fn begins(&mut self, unwinder: &mut Unwinder, pid: u32, tid: u32) {
        if !self.known.contains_key(&tid) && unwinder.has_runtime(pid) {
            self.learn(unwinder, pid, tid);
        }
    }

    /// Finds out where the list of a thread is, for its next wait.
    fn learn(&mut self, unwinder: &mut Unwinder, pid: u32, tid: u32) {
        let (Some(map), now) = (&self.map, monotonic_ns()) else { return };
        let known = self.known.get(&tid).copied();
        if known.is_some_and(|(_, asked)| now < asked + AGAIN_NS) {
            return;
        }
        if self.known.len() >= MAX_THREADS {
            self.known.clear();
        }
        let list = unwinder.frame_list(pid, tid);
        let told = known.and_then(|(list, _)| list);
        if list != told {
            let key = tid.to_ne_bytes();
            // Where it cannot be told, the thread's frames stay unknown.
            let _ = match list {
                Some(list) => map.update(&key, bytes_of(&row(list)), MapFlags::ANY),
                None => map.delete(&key),
            };
        }
        self.known.insert(tid, (list, now));
    }
}

fn row(list: FrameList) -> FrameListRow {
    let FrameList { head, bytes, words, .. } = list;
    let (through, at) = list.through.map_or((0, 0), |at| (1, at));
    let (next, step) = match list.callers {
        Callers::Pointer(next) => (next, 0),
        Callers::Step(step) => (0, step),
    };
    let (index, beside) = (list.index.unwrap_or(0), list.beside.unwrap_or(0));
    FrameListRow { head, through, at, next, bytes, step, index, beside, words }
}
