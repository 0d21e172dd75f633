//! What was recorded, before it is stored or explained: the spool and what is known about it, and telling all of it.

use super::{LateState, Replay, ReplayContext, counted, probed};
use crate::clock::Clock;
use crate::counts::{self, Counted};
use crate::error::RecordError;
use crate::options::Options;
use crate::programs::probes::Probed;
use crate::programs::{FileRow, MeanwhileRow};
use crate::symbols::Symbolizer;
use crate::within::{WindowBegin, WithinWindow};
use std::cell::RefCell;
use std::rc::Rc;
use whyslow_model::{
    CaptureKind, CaptureNote, ClockKind, Cost, Event, Loss, Nanos, NoteKind, Parked, RecordedSpan, Sink,
    SourceId, SourceInfo, Timestamp,
};

/// A recording that ended.
pub struct Recorded {
    pub(crate) clock: Clock,
    pub(crate) options: Options,
    pub(crate) counted: Counted,
    /// Rows of what was done with files, as the kernel's tables held them at the end.
    pub(crate) files: Vec<FileRow>,
    /// The same of who had the CPU that threads waited for.
    pub(crate) meanwhile: Vec<MeanwhileRow>,
    /// Calls were too many to be recorded one by one, though no count of them is in `counted`.
    pub(crate) only_counted: bool,
    /// Of a window: what reaches further back is told from its begin on.
    pub(crate) within: Option<WindowBegin>,
    /// The recorder's own process.
    pub(crate) recorder: u32,
    pub(crate) probed: Vec<Probed>,
    /// Processes, threads and descriptors as they were at the start.
    pub(crate) state: Vec<Event<'static>>,
    /// The same of those that were taken in later, as far as it was not told.
    pub(crate) late: LateState,
    /// Rows of processes and threads among what was told of it.
    pub(crate) late_told: u64,
    pub(crate) following: Option<Replay>,
    /// Where the code of the watched processes was.
    pub(crate) symbols: Rc<RefCell<Symbolizer>>,
    /// When it began.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// What was recorded of the calls, when.
    pub spans: Vec<RecordedSpan>,
    /// What was lost, a row a table.
    pub losses: Vec<Loss>,
    /// What it cost; `None` where that was not measured.
    pub cost: Option<Cost>,
    /// What of it each part of the recorder added.
    pub cost_of_parts: Vec<(&'static str, Nanos)>,
    /// What was asked for and is not recorded, because the kernel refused the program.
    pub notes: Vec<String>,
    /// Where goroutines waited on no thread.
    pub parked: Vec<Parked>,
    /// Why the spool ends early, where it does: the disk is full.
    pub trouble: Option<RecordError>,
}

impl Recorded {
    /// `CLOCK_REALTIME` less `CLOCK_MONOTONIC` as of its start, ns.
    pub fn clock_offset(&self) -> u64 {
        self.clock.offset
    }

    /// With `symbols` to find the names of functions, which then are sought once for several recordings.
    pub fn with_symbols(self, symbols: Rc<RefCell<Symbolizer>>) -> Recorded {
        Recorded { symbols, ..self }
    }

    /// Tells `sink` everything, under the name `name`.
    ///
    /// # Errors
    /// If the spool cannot be read.
    pub fn replay(&self, name: &str, source: SourceId, sink: &mut dyn Sink) -> Result<(), RecordError> {
        match self.within {
            Some(begin) => self.replay_all(name, source, &mut WithinWindow { begin, sink }),
            None => self.replay_all(name, source, sink),
        }
    }

    fn replay_all(&self, name: &str, source: SourceId, sink: &mut dyn Sink) -> Result<(), RecordError> {
        let mut replay =
            Replay::begin(&self.options, self.clock, source, false, &self.state, self.symbols.clone(), sink);
        replay.context.rare.meanwhile().recorder = self.recorder;
        replay.late(self.late.clone());
        replay.only_counted(self.only_counted || !self.counted.is_empty());
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
        replay.late(self.late.clone());
        for span in &self.spans {
            sink.push(Event::Span(*span));
        }
        replay.advance(u64::MAX, sink)?;
        self.finish(&mut replay.context, name, sink);
        Ok(())
    }

    /// The kernel counts records. Rows that come from elsewhere are added, and records that are not told taken away, so that
    /// rows and lost ones add up to those produced.
    fn of_rows(&self, loss: &Loss, context: &mut ReplayContext) -> Loss {
        let (more, less) = match loss.table.as_str() {
            "syscalls" => (0, context.calls.passed_over + context.calls.taken_for_counted),
            "threads" => (self.told_processes(), 0),
            "net" => (context.rare.repeated(), 0),
            "meanwhile" => {
                let told = context.rare.meanwhile().told;
                (told.rows, told.turns)
            }
            _ => (0, 0),
        };
        Loss { produced: (loss.produced + more).saturating_sub(less), ..loss.clone() }
    }

    /// Rows of processes and threads that no record is for.
    fn told_processes(&self) -> u64 {
        let late = self.late.values().flatten();
        let told = self.state.iter().chain(late).filter(|event| matches!(event, Event::Process(_)));
        told.count() as u64 + self.late_told
    }

    /// Calls that were counted, and not recorded one by one.
    pub fn calls_counted(&self) -> u64 {
        self.counted.values().map(|row| row.calls).sum()
    }

    /// What is told last: counts, losses, cost, notes, the source.
    fn finish(&self, context: &mut ReplayContext, name: &str, sink: &mut dyn Sink) {
        let source = context.source;
        context.rare.samples().finish(sink);
        context.rare.files().finish(&self.files, self.clock, sink);
        context.rare.meanwhile().finish(&self.meanwhile, sink);
        self.parked.iter().for_each(|parked| sink.push(Event::Parked(Box::new(parked.clone()))));
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
        let symbols = self.symbols.borrow();
        let told = self.notes.iter().map(String::as_str).chain(symbols.remarks());
        for text in told {
            sink.push(Event::Note(CaptureNote {
                kind: NoteKind::Tracer,
                source,
                line: None,
                text: text.to_string(),
                tid: None,
            }));
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
