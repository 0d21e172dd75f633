//! Records to events: what the kernel's side wrote becomes what the diagnosis reads, in order of time.

mod calls;
mod counted;
mod probed;
mod sched;
mod tasks;

use crate::bpf::layout::kind;
use crate::clock::Clock;
use crate::counts::{self, Counted};
use crate::error::RecordError;
use crate::options::Options;
use crate::programs::RareEvents;
use crate::quota;
use crate::recorded::Recorded;
use crate::spool::{SpoolReader, SpoolRecord};
use crate::symbols::Symbolizer;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use whyslow_model::{
    CaptureKind, CaptureNote, ClockKind, Event, FigureTable, Loss, NoteKind, Sink, SourceId, SourceInfo,
};

/// What the records so far tell about the threads.
pub(crate) struct ReplayContext {
    pub(crate) clock: Clock,
    pub(crate) source: SourceId,
    /// The process of each thread.
    processes: HashMap<u32, u32>,
    /// When the threads that were there before began to be watched, ns of the kernel's clock.
    found: HashMap<u32, u64>,
    calls: calls::Calls,
    counted: Counted,
    /// Number of the record in the recording, from 1.
    line: u64,
    unreadable: u64,
    rare: RareEvents,
}

/// Threads whose process is remembered: more cannot live at once (`PID_MAX_LIMIT`, include/linux/threads.h), and ended
/// ones are forgotten.
const MAX_THREADS: usize = 4 << 20;

impl ReplayContext {
    /// The process of a thread; the thread's own number where it was never told (its record was lost).
    pub(crate) fn process_of(&self, tid: u32) -> u32 {
        self.processes.get(&tid).copied().unwrap_or(tid)
    }

    fn belongs(&mut self, tid: u32, pid: u32) {
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
        let mut context = ReplayContext {
            clock,
            source,
            processes: HashMap::new(),
            found: HashMap::new(),
            calls: calls::Calls::new(options),
            counted: Counted::new(),
            line: 0,
            unreadable: 0,
            rare: RareEvents::new(clock, symbols, free),
        };
        for event in state {
            if let Event::Process(info) = event {
                context.belongs(info.tid.unwrap_or(info.pid), info.pid);
            }
            if let (Event::Fd(entry), Some(names)) = (event, &mut context.calls.names) {
                names.open_at_attach(entry);
            }
            sink.push(event.clone());
        }
        Replay { context, reader: SpoolReader::new(&options.spool, free) }
    }

    /// Tells what ended before `until`, ns of the kernel's clock.
    pub(crate) fn advance(&mut self, until: u64, sink: &mut dyn Sink) -> Result<(), RecordError> {
        let context = &mut self.context;
        self.reader.read(until, |record| context.take(&record, sink))
    }
}

impl Recorded {
    /// Tells `sink` everything, under the name `name`.
    ///
    /// # Errors
    /// If the spool cannot be read.
    pub fn replay(&self, name: &str, source: SourceId, sink: &mut dyn Sink) -> Result<(), RecordError> {
        let mut replay =
            Replay::begin(&self.options, self.clock, source, false, &self.state, self.symbols.clone(), sink);
        for span in &self.spans {
            sink.push(Event::Span(*span));
        }
        replay.advance(u64::MAX, sink)?;
        self.finish(&mut replay.context, name, sink);
        Ok(())
    }

    /// Tells what [`crate::Session::follow`] has not told.
    ///
    /// # Errors
    /// If the spool cannot be read.
    pub fn rest(&mut self, name: &str, sink: &mut dyn Sink) -> Result<(), RecordError> {
        let Some(mut replay) = self.following.take() else {
            return self.replay(name, SourceId::default(), sink);
        };
        for span in &self.spans {
            sink.push(Event::Span(*span));
        }
        replay.advance(u64::MAX, sink)?;
        self.finish(&mut replay.context, name, sink);
        Ok(())
    }

    /// The kernel counts records. Rows that come from elsewhere are added, and records that are not told taken away, so that
    /// rows and lost ones add up to those produced.
    fn of_rows(&self, loss: &Loss, context: &ReplayContext) -> Loss {
        let (more, less) = match loss.table.as_str() {
            "syscalls" => (0, context.calls.passed_over),
            "threads" => {
                (self.state.iter().filter(|event| matches!(event, Event::Process(_))).count() as u64, 0)
            }
            "net" => (context.rare.repeated(), 0),
            _ => (0, 0),
        };
        Loss { produced: (loss.produced + more).saturating_sub(less), ..loss.clone() }
    }

    /// What is told last: counts, losses, cost, notes, the source.
    fn finish(&self, context: &mut ReplayContext, name: &str, sink: &mut dyn Sink) {
        let source = context.source;
        context.rare.samples().finish(sink);
        context.rare.files().finish(&self.files, self.clock, sink);
        for (key, row) in &self.counted {
            counts::add_to(&mut context.counted, *key, row);
        }
        counted::tell(context, (self.began, self.ended), sink);
        probed::tell(context, &self.probed, (self.began, self.ended), sink);
        for loss in &self.losses {
            sink.push(Event::Loss(self.of_rows(loss, context)));
        }
        if let Some(cost) = self.cost {
            sink.push(Event::Cost(cost));
        }
        let unreadable = (context.unreadable > 0).then(|| {
            format!(
                "{} records are not as this version writes them; they were passed over",
                context.unreadable
            )
        });
        let trouble = self.trouble.as_ref().map(|error| format!("the recording ends early: {error}"));
        for (kind, text) in [(NoteKind::Reject, unreadable), (NoteKind::Truncated, trouble)] {
            if let Some(text) = text {
                sink.push(Event::Note(CaptureNote { kind, source, line: None, text, tid: None }));
            }
        }
        for text in &self.notes {
            let kind = NoteKind::Tracer;
            sink.push(Event::Note(CaptureNote { kind, source, line: None, text: text.clone(), tid: None }));
        }
        let mut info = SourceInfo::new(source, name, CaptureKind::Recording);
        info.clock = ClockKind::Epoch;
        info.lines = context.line;
        info.events = context.line - context.unreadable;
        info.rejects = context.unreadable;
        info.starts_not_seen = context.calls.starts_not_seen;
        info.ends_not_seen = context.calls.ends_not_seen;
        sink.push(Event::Source(info));
    }
}

impl ReplayContext {
    fn take(&mut self, record: &SpoolRecord<'_>, sink: &mut dyn Sink) {
        self.line += 1;
        let read = match record.header.kind {
            kind::CALL => self.call(record, sink),
            kind::ENTER => self.enter(record),
            kind::COUNTS => self.counts(record),
            kind::TASK | kind::FORK | kind::EXEC | kind::EXIT => self.task(record, sink),
            kind::STRETCH => self.stretch(record, sink),
            kind::WAKEUP => self.wakeup(record, sink),
            kind::GROUP | kind::QUOTA => self.quota(record, sink),
            _ => self.rare.take(record, (self.source, self.line), sink),
        };
        if read.is_none() {
            self.unreadable += 1;
        }
    }

    fn quota(&self, record: &SpoolRecord<'_>, sink: &mut dyn Sink) -> Option<()> {
        let mut table = FigureTable::new(self.source, "cpu.stat");
        table.at = self.clock.epoch(record.header.ts);
        sink.push(quota::figures(record, table)?);
        Some(())
    }
}
