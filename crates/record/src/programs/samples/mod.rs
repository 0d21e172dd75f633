//! What the watched threads do while they are on a CPU: their stacks, at a fixed rate. Also reads the stacks of waits
//! (`sched`), which have the same form.

mod stacks;

use super::{Program, by_timer, kind, object};
use crate::bpf::spool::SpoolRecord;
use crate::bpf::unwinding::{self, ReadStack};
use crate::clock::Clock;
use crate::symbols::Symbolizer;
use stacks::{StackRecord, Stacks, flag};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use whyslow_model::{Event, Nanos, SampleKind, SampledStack, Sink, StackId};

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
    /// By thread: the user part of its next sample.
    unwound: HashMap<u32, ReadStack>,
    /// By thread: where it was blocked when it was read last.
    blocked: HashMap<u32, ReadStack>,
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
        }
    }

    /// A process began, or began another program.
    pub(crate) fn program_began(&mut self, pid: u32, tid: u32, sink: &mut dyn Sink) {
        self.thread_ended(tid, sink);
        self.stacks.forget(pid);
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
        if let Some(read) = self.read_beside(record.header.kind, &stack) {
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
            kind::OFFCPU if has_before || unfinished || !stack.user.is_empty() => {
                let before = self.before.remove(&stack.tid).flatten();
                let user = self.user(&stack, sink).or(before);
                self.tell(SampleKind::OffCpu, &stack, user, sink);
            }
            kind::OFFCPU => {
                if self.waiting_count >= MAX_WAITING {
                    self.finish(sink);
                }
                self.waiting_count += 1;
                self.waiting.entry(stack.tid).or_default().push(stack);
            }
            kind::WAIT_STACK => {
                let user = self.user(&stack, sink);
                if has_before {
                    self.tell_waiting(stack.tid, None, sink);
                    self.before.insert(stack.tid, user);
                } else {
                    self.tell_waiting(stack.tid, user, sink);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// The user part of a stack as it was read beside the kernel's side: that of a sample, or of a thread that was read while it
    /// waited.
    fn read_beside(&mut self, kind: u8, stack: &StackRecord) -> Option<ReadStack> {
        match kind {
            kind::SAMPLE => self.unwound.remove(&stack.tid).filter(|read| read.ts + 1 == stack.ts),
            kind::OFFCPU => {
                let since = stack.ts.saturating_sub(stack.weight);
                self.blocked.get(&stack.tid).filter(|read| (since..=stack.ts).contains(&read.ts)).cloned()
            }
            _ => None,
        }
    }

    fn tell_waiting(&mut self, tid: u32, user: Option<StackId>, sink: &mut dyn Sink) {
        let waits = self.waiting.remove(&tid).unwrap_or_default();
        self.waiting_count -= waits.len();
        for wait in &waits {
            self.tell(SampleKind::OffCpu, wait, user, sink);
        }
    }

    /// What finds the names of functions.
    pub(crate) fn symbols(&self) -> Rc<RefCell<Symbolizer>> {
        self.symbols.clone()
    }

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
