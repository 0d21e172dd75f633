//! Several traces with one clock, woven together by time: the files of `strace -ff`, or of tracers side by side.

use super::assemble::Assembler;
use super::batch::{Batch, Batches};
use super::line::{Dialect, LineParser};
use super::record::{Kind, Record};
use crate::source::{Source, Trouble, conclude};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use whyslow_model::event::Tid;
use whyslow_model::{Sink, Syscall};

/// Text held of all lanes together; each gets its part of it, within [`LANE_BATCH`].
const ALL_BATCHES: usize = 24 << 20;
const LANE_BATCH: std::ops::Range<usize> = 8 << 10..super::pipeline::BATCH;

/// One of the traces.
pub(crate) struct Lane<'a> {
    batches: Batches<'a>,
    batch: Batch,
    /// The next record of the batch.
    next: usize,
    parser: LineParser,
    assembler: Assembler,
    trouble: Trouble,
    /// The time of the last line that showed one.
    time: u64,
}

impl<'a> Lane<'a> {
    /// A lane of `count` lanes. Lines without a thread are `tid`'s; the day starts `days` ns after the first one's.
    pub(crate) fn new(
        mut source: Source<'a>,
        trouble: Trouble,
        dialect: Dialect,
        tid: Tid,
        days: u64,
        count: usize,
    ) -> Lane<'a> {
        let size = (ALL_BATCHES / count.max(1)).clamp(LANE_BATCH.start, LANE_BATCH.end);
        let (head, reader) = source.take_stream();
        Lane {
            batches: Batches::new(head, reader, size),
            batch: Batch::default(),
            next: 0,
            parser: LineParser::new(dialect),
            assembler: Assembler::new(source.info, tid, days),
            trouble,
            time: 0,
        }
    }

    /// The time of the next line; `None` at the end.
    fn peek(&mut self) -> Option<u64> {
        while self.next >= self.batch.records.len() {
            self.next = 0;
            self.assembler.leave(&self.batch.text);
            if !self.parser.parse(&mut self.batch) && !self.fill() {
                return None;
            }
        }
        // A line without a time belongs to the one before it.
        let shown = self.batch.records.get(self.next).and_then(|record| self.done_at(record));
        self.time = shown.unwrap_or(self.time);
        Some(self.time)
    }

    /// When what a line tells was over: a call that waited long stands where it began, and what ended its wait, in another trace, began
    /// later. A child is there before the call that makes it returns.
    fn done_at(&self, record: &Record) -> Option<u64> {
        let began = self.assembler.time_of(record).get()?;
        let makes =
            matches!(record.syscall(), Syscall::CLONE | Syscall::CLONE3 | Syscall::FORK | Syscall::VFORK);
        let lasts = if record.kind == Kind::Call && !makes { record.dur().or_zero() } else { 0 };
        Some(began.saturating_add(lasts))
    }

    fn fill(&mut self) -> bool {
        self.batches.fill(&mut self.batch).unwrap_or_else(|error| {
            self.trouble.set(error.to_string());
            false
        })
    }

    fn take(&mut self, sink: &mut dyn Sink) {
        let Some(record) = self.batch.records.get(self.next) else { return };
        self.next += 1;
        let last = self.next == self.batch.records.len() && self.batch.ends_unended();
        if last && self.assembler.is_cut(&self.batch.text, record) {
            self.assembler.take_cut(&self.batch.text, record, sink);
        } else {
            self.assembler.take(&self.batch.text, record, sink);
        }
    }
}

/// Reads all lanes to their end, in the order of their lines' times.
pub(crate) fn merge(lanes: Vec<Lane<'_>>, sink: &mut dyn Sink) {
    let mut lanes: Vec<Option<Lane<'_>>> = lanes.into_iter().map(Some).collect();
    let mut queue = BinaryHeap::new();
    for (i, lane) in lanes.iter_mut().enumerate() {
        let first = lane.as_mut().and_then(Lane::peek);
        queue.push(Reverse((first.unwrap_or(0), i)));
    }
    while let Some(Reverse((_, i))) = queue.pop() {
        let limit = queue.peek().map_or(u64::MAX, |Reverse((time, _))| *time);
        let Some(lane) = lanes.get_mut(i).and_then(Option::as_mut) else { continue };
        let left = loop {
            match lane.peek() {
                Some(time) if time <= limit => lane.take(sink),
                other => break other,
            }
        };
        match left {
            Some(time) => queue.push(Reverse((time, i))),
            None => {
                if let Some(lane) = lanes.get_mut(i).and_then(Option::take) {
                    let info = lane.assembler.finish(lane.batches.bytes, sink);
                    conclude(info, &lane.trouble, sink);
                }
            }
        }
    }
}
