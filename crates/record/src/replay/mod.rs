//! Records to events: what the kernel's side wrote becomes what the diagnosis reads, in order of time.

mod calls;
mod counted;
mod probed;
mod recorded;
mod sched;
mod tasks;

pub(crate) use calls::raw;
pub use recorded::Recorded;

use crate::bpf::layout::kind;
use crate::bpf::spool::{SpoolReader, SpoolRecord};
use crate::clock::Clock;
use crate::counts::Counted;
use crate::error::RecordError;
use crate::follow;
use crate::options::Options;
use crate::programs::RareEvents;
use crate::queues;
use crate::quota;
use crate::symbols::Symbolizer;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use whyslow_model::{Event, FigureTable, Sink, SourceId};

/// What the records so far tell about the threads.
pub(crate) struct ReplayContext {
    pub(crate) clock: Clock,
    pub(crate) source: SourceId,
    /// The process of each thread.
    processes: HashMap<u32, u32>,
    /// Threads that have ended, the last ones: they still leave the CPU, for the last time.
    ended: VecDeque<u32>,
    /// When the threads that were there before began to be watched, ns of the kernel's clock.
    found: HashMap<u32, u64>,
    calls: calls::Calls,
    counted: Counted,
    /// Number of the record in the recording, from 1.
    line: u64,
    unreadable: u64,
    rare: RareEvents,
    /// What those taken in were and had open, until their record comes.
    late: LateState,
}

/// By process that was taken in: what it was and had open then.
pub(crate) type LateState = HashMap<u32, Vec<Event<'static>>>;

/// Ended threads whose process is remembered.
const MOST_ENDED: usize = 4_096;
/// Threads whose process is remembered: more cannot live at once (`PID_MAX_LIMIT`, include/linux/threads.h), and ended
/// ones are forgotten.
const MAX_THREADS: usize = 4 << 20;

impl ReplayContext {
    /// The process of a thread; the thread's own number where it was never told (its record was lost).
    pub(crate) fn process_of(&self, tid: u32) -> u32 {
        self.processes.get(&tid).copied().unwrap_or(tid)
    }

    /// It has ended. Its process is known until its last records came: without it they would be another process's.
    fn ended(&mut self, tid: u32) {
        self.ended.push_back(tid);
        if self.ended.len() > MOST_ENDED
            && let Some(first) = self.ended.pop_front()
        {
            self.processes.remove(&first);
        }
    }

    fn belongs(&mut self, tid: u32, pid: u32) {
        // Another thread has its number.
        if !self.ended.is_empty() && self.processes.contains_key(&tid) {
            self.ended.retain(|ended| *ended != tid);
        }
        if self.processes.len() < MAX_THREADS {
            self.processes.insert(tid, pid);
        }
    }
}

/// Turns records into events, as many at a time as there are.
pub(crate) struct Replay {
    context: ReplayContext,
    reader: SpoolReader,
}

impl Replay {
    /// Of the spool of `options`; tells the state at the start at once. `free`: nobody reads the spool again.
    pub(crate) fn begin(
        options: &Options,
        clock: Clock,
        source: SourceId,
        free: bool,
        state: &[Event<'static>],
        symbols: Rc<RefCell<Symbolizer>>,
        sink: &mut dyn Sink,
    ) -> Replay {
        let context = ReplayContext {
            clock,
            source,
            processes: HashMap::new(),
            ended: VecDeque::new(),
            found: HashMap::new(),
            calls: calls::Calls::new(options),
            counted: Counted::new(),
            line: 0,
            unreadable: 0,
            rare: RareEvents::new(clock, symbols, free),
            late: LateState::new(),
        };
        let mut replay = Replay { context, reader: SpoolReader::new(&options.spool, free) };
        replay.context.state(state, sink);
        replay
    }

    /// Whether calls were too many to be recorded one by one ([`RawFlags::DETAIL`](crate::raw::RawFlags::DETAIL)).
    pub(crate) fn only_counted(&mut self, only_counted: bool) {
        self.context.calls.only_counted = only_counted;
    }

    /// To be told when the records come to those taken in.
    pub(crate) fn late(&mut self, late: LateState) {
        self.context.late.extend(late);
    }

    /// Tells what ended before `until`, ns of the kernel's clock.
    pub(crate) fn advance(&mut self, until: u64, sink: &mut dyn Sink) -> Result<(), RecordError> {
        let context = &mut self.context;
        self.reader.read(until, |record| context.take(&record, sink))
    }
}

impl ReplayContext {
    /// Tells what was there when processes began to be watched.
    fn state(&mut self, state: &[Event<'static>], sink: &mut dyn Sink) {
        for event in state {
            if let Event::Process(info) = event {
                self.belongs(info.tid.unwrap_or(info.pid), info.pid);
            }
            if let (Event::Fd(entry), Some(names)) = (event, &mut self.calls.names) {
                names.open_at_attach(entry);
            }
            sink.push(event.clone());
        }
    }

    fn followed(&mut self, record: &SpoolRecord<'_>, sink: &mut dyn Sink) -> Option<()> {
        sink.push(follow::followed(record, self.clock)?);
        let state = self.late.remove(&record.header.tid).unwrap_or_default();
        self.state(&state, sink);
        Some(())
    }

    fn take(&mut self, record: &SpoolRecord<'_>, sink: &mut dyn Sink) {
        self.line += 1;
        let read = match record.header.kind {
            kind::CALL => self.call(record, sink),
            kind::ENTER => self.enter(record),
            kind::COUNTS => self.counts(record),
            kind::TASK | kind::FORK | kind::EXEC | kind::EXIT => self.task(record, sink),
            kind::STRETCH => self.stretch(record, sink),
            kind::WAKEUP => self.wakeup(record, sink),
            kind::GROUP | kind::QUOTA => self.figures(record, "cpu.stat", quota::figures, sink),
            kind::FOLLOWED => self.followed(record, sink),
            kind::QUEUE => self.figures(record, "queues", queues::figures, sink),
            _ => self.rare.take(record, (self.source, self.line), sink),
        };
        if read.is_none() {
            self.unreadable += 1;
        }
    }

    fn figures(
        &self,
        record: &SpoolRecord<'_>,
        tool: &'static str,
        read: fn(&SpoolRecord<'_>, FigureTable) -> Option<Event<'static>>,
        sink: &mut dyn Sink,
    ) -> Option<()> {
        let mut table = FigureTable::new(self.source, tool);
        table.at = self.clock.epoch(record.header.ts);
        sink.push(read(record, table)?);
        Some(())
    }
}
