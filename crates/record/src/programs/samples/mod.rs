//! What the watched threads do while they are on a CPU: their stacks, at a fixed rate. Also reads the stacks of waits
//! (`sched`), which have the same form.

mod sites;
mod stacks;

use super::{Program, by_timer, kind, object};
use crate::bpf::spool::SpoolRecord;
use crate::bpf::unwinding::{self, ReadStack};
use crate::clock::Clock;
use crate::decode::table::row_of;
use crate::symbols::Symbolizer;
use sites::CopiedSites;
use stacks::{StackRecord, Stacks, flag};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use whyslow_model::{CallStack, Event, Nanos, SampleKind, SampledStack, Sink, StackId, Syscall};

pub(super) static SAMPLES: Program = Program {
    name: "samples",
    summary: "stacks of what runs on each CPU, at a fixed rate",
    cost: "about 10 us a sample of a watched thread with the copy of its stack: 0.1 % of a CPU at 99 Hz; under 0.1 us of any other",
    tables: &["samples"],
    rare: &[("samples", &[kind::SAMPLE])],
    wanted: |options| options.sample_hz > 0,
    needed: false,
    object: object!("samples"),
    attach: &[&[by_timer("sample")]],
};

/// Waits whose user stack is to come, at once; past this they are told without.
const MAX_WAITING: usize = 1 << 16;

/// Turns records of stacks into events.
pub(crate) struct Samples {
    clock: Clock,
    symbols: Rc<RefCell<Symbolizer>>,
    /// The processes may be looked at still; else one of that number may be another.
    live: bool,
    stacks: Stacks,
    /// By thread: waits whose user stack comes when their call returns.
    waiting: HashMap<u32, Vec<StackRecord>>,
    waiting_count: usize,
    /// By thread: the user stack of the wait that it is in.
    before: HashMap<u32, Option<StackId>>,
    /// By thread: the user part of its next sample, or of the wait that ends.
    unwound: HashMap<u32, ReadStack>,
    /// By thread: where it was blocked when it was read last.
    blocked: HashMap<u32, ReadStack>,
    /// What stands for waits that were not copied.
    copied: CopiedSites,
}

impl Samples {
    pub(crate) fn new(clock: Clock, symbols: Rc<RefCell<Symbolizer>>, live: bool) -> Samples {
        Samples {
            clock,
            symbols,
            live,
            stacks: Stacks::default(),
            waiting: HashMap::new(),
            waiting_count: 0,
            before: HashMap::new(),
            unwound: HashMap::new(),
            blocked: HashMap::new(),
            copied: CopiedSites::default(),
        }
    }

    /// A process began, or began another program.
    pub(crate) fn program_began(&mut self, pid: u32, tid: u32, sink: &mut dyn Sink) {
        self.thread_ended(tid, sink);
        self.stacks.forget(pid);
        self.copied.forget(pid);
        if self.live {
            self.symbols.borrow_mut().remember(pid);
        }
    }

    /// No further stack of the thread comes.
    pub(crate) fn thread_ended(&mut self, tid: u32, sink: &mut dyn Sink) {
        self.tell_waiting(tid, None, sink);
        self.before.remove(&tid);
        self.unwound.remove(&tid);
        self.blocked.remove(&tid);
    }

    /// Tells what still waits for its user stack.
    pub(crate) fn finish(&mut self, sink: &mut dyn Sink) {
        let mut threads: Vec<u32> = self.waiting.keys().copied().collect();
        threads.sort_unstable();
        for tid in threads {
            self.tell_waiting(tid, None, sink);
        }
    }

    /// Takes what was read beside the kernel's side: a frame of a language, the user part of the sample that follows, or where
    /// a thread is blocked. `None` where it is not whole.
    pub(crate) fn take_read(&mut self, record: &SpoolRecord<'_>) -> Option<()> {
        let tid = record.header.tid;
        match record.header.kind {
            kind::FRAME => self.symbols.borrow_mut().tell_frame(&unwinding::language_frame(record)?),
            kind::UNWOUND => drop(self.unwound.insert(tid, unwinding::read_stack(record)?)),
            _ => drop(self.blocked.insert(tid, unwinding::read_stack(record)?)),
        }
        Some(())
    }

    /// Takes one record of a stack; `None` where it is none or not whole.
    pub(crate) fn take(&mut self, record: &SpoolRecord<'_>, sink: &mut dyn Sink) -> Option<()> {
        let mut stack = StackRecord::read(record)?;
        let read = self.read_beside(record.header.kind, &stack);
        let mut is_read = read.is_some();
        if let Some(read) = read {
            stack.flags = stack.flags & !flag::USER_CUT | if read.cut { flag::USER_CUT } else { 0 };
            stack.user = read.frames;
        }
        let has_before = stack.flags & flag::BEFORE != 0;
        let unfinished = stack.flags & flag::UNFINISHED != 0;
        match record.header.kind {
            kind::SAMPLE => {
                let user = self.user(&stack, sink);
                self.tell(SampleKind::OnCpu, &stack, user, sink);
            }
            kind::OFFCPU if has_before || unfinished => {
                let before = self.before.remove(&stack.tid).flatten();
                let user = self.user(&stack, sink).or(before);
                self.tell(SampleKind::OffCpu, &stack, user, sink);
            }
            kind::OFFCPU => {
                if self.waiting_count >= MAX_WAITING {
                    self.finish(sink);
                }
                // One that was read before is not kept waiting for more than one other.
                if self
                    .waiting
                    .get(&stack.tid)
                    .is_some_and(|waits| waits.iter().any(|wait| !wait.user.is_empty()))
                {
                    self.tell_waiting(stack.tid, None, sink);
                }
                self.waiting_count += 1;
                self.waiting.entry(stack.tid).or_default().push(stack);
            }
            kind::WAIT_STACK => {
                if has_before {
                    let user = self.user(&stack, sink);
                    self.tell_waiting(stack.tid, None, sink);
                    self.before.insert(stack.tid, user);
                } else {
                    is_read |= self.copied.stands_for(&mut stack, is_read);
                    self.tell_waiting(stack.tid, Some((&stack, is_read)), sink);
                }
            }
            kind::CALL_STACK => self.tell_call(&stack, sink),
            _ => return None,
        }
        Some(())
    }

    /// Tells from where a short call was made, where that is known. Its number is all of its kernel part.
    fn tell_call(&mut self, stack: &StackRecord, sink: &mut dyn Sink) {
        let number = stack.kernel.first().and_then(|nr| u16::try_from(*nr).ok());
        let Some(call) = number.and_then(row_of).and_then(|row| Syscall::lookup(row.name.as_bytes())) else {
            return;
        };
        let Some(user) = self.user(stack, sink) else { return };
        sink.push(Event::CallStack(CallStack {
            ts: self.clock.epoch(stack.ts),
            cpu: stack.cpu,
            pid: stack.pid,
            tid: stack.tid,
            call,
            took: Nanos::new(stack.weight),
            user,
        }));
    }

    /// The user part of a stack as it was read beside the kernel's side: that of a sample or of a wait as it ended, or of a thread that
    /// was read while it waited.
    fn read_beside(&mut self, kind: u8, stack: &StackRecord) -> Option<ReadStack> {
        match kind {
            kind::SAMPLE | kind::WAIT_STACK | kind::CALL_STACK => {
                self.unwound.remove(&stack.tid).filter(|read| read.ts + 1 == stack.ts)
            }
            kind::OFFCPU => {
                let since = stack.ts.saturating_sub(stack.weight);
                self.blocked.get(&stack.tid).filter(|read| (since..=stack.ts).contains(&read.ts)).cloned()
            }
            _ => None,
        }
    }

    /// Tells the waits of a thread; `end`: with the stack as their call returned, and whether that was unwound.
    fn tell_waiting(&mut self, tid: u32, end: Option<(&StackRecord, bool)>, sink: &mut dyn Sink) {
        let waits = self.waiting.remove(&tid).unwrap_or_default();
        self.waiting_count -= waits.len();
        for wait in &waits {
            let end = end.filter(|(end, is_read)| is_better(wait, end, *is_read)).map(|(end, _)| end);
            let user = self.user(end.unwrap_or(wait), sink);
            self.tell(SampleKind::OffCpu, wait, user, sink);
        }
    }

    /// What finds the names of functions.
    pub(crate) fn symbols(&self) -> Rc<RefCell<Symbolizer>> {
        self.symbols.clone()
    }

    /// The number of a stack's user part.
    fn user(&mut self, stack: &StackRecord, sink: &mut dyn Sink) -> Option<StackId> {
        let cut = stack.flags & flag::USER_CUT != 0;
        self.stacks.user(stack.pid, &stack.user, cut, &mut self.symbols.borrow_mut(), sink)
    }

    fn tell(&mut self, kind: SampleKind, stack: &StackRecord, user: Option<StackId>, sink: &mut dyn Sink) {
        let cut = stack.flags & flag::KERNEL_CUT != 0;
        let kernel = self.stacks.kernel(&stack.kernel, cut, &mut self.symbols.borrow_mut(), sink);
        // A wait's record is written at its end.
        let began = if kind == SampleKind::OffCpu { stack.ts.saturating_sub(stack.weight) } else { stack.ts };
        sink.push(Event::Sample(SampledStack {
            kind,
            ts: self.clock.epoch(began),
            cpu: stack.cpu,
            pid: stack.pid,
            tid: stack.tid,
            weight: Nanos::new(stack.weight),
            user,
            kernel,
        }));
    }
}

/// Whether the stack as the call returned says more of a wait than what was read of the thread while it was blocked: a copy has the frame
/// pointer, too; but some runtimes' frames are read only of who is blocked.
fn is_better(wait: &StackRecord, end: &StackRecord, is_read: bool) -> bool {
    let has_language =
        |stack: &StackRecord| stack.user.iter().any(|address| unwinding::is_language_frame(*address));
    wait.user.is_empty() || is_read && !end.user.is_empty() && (has_language(end) || !has_language(wait))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NATIVE: u64 = 0x40_1000;
    const LANGUAGE: u64 = 1 << 63;

    fn stack(user: &[u64]) -> StackRecord {
        let (kernel, user) = (Vec::new(), user.to_vec());
        StackRecord { ts: 0, cpu: 0, pid: 1, tid: 1, flags: 0, weight: 0, kernel, user }
    }

    #[test]
    fn the_copy_at_the_end_of_a_wait_goes_before_what_was_read_meanwhile() {
        let better = |wait: &[u64], end: &[u64], is_read| is_better(&stack(wait), &stack(end), is_read);
        assert!(better(&[NATIVE], &[NATIVE], true) && better(&[NATIVE], &[LANGUAGE], true));
        // Where the wait was not read, frame pointers are all there is.
        assert!(better(&[], &[NATIVE], false) && better(&[], &[NATIVE], true));
        assert!(!better(&[NATIVE], &[NATIVE], false) && !better(&[NATIVE], &[], true));
        // Frames of the language that only the blocked thread's stack has.
        assert!(!better(&[NATIVE, LANGUAGE], &[NATIVE], true));
    }
}
