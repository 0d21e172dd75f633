//! Line logs of strace, and of ltrace, which has the same shapes: `21124 10:34:34.289915 sendto(669, …) = 89 <0.000051>`.
//!
//! `prefix`, `result` and `line` parse a line by itself, `usual` the most frequent shapes; `batch` and `pipeline` feed them; `assemble` (with `clock`
//! and `pending`) makes the events; `merge` weaves the files of `strace -ff` together by time.

mod assemble;
mod batch;
mod clock;
mod digits;
mod held;
pub(crate) mod line;
mod merge;
mod names;
mod pending;
mod pipeline;
mod prefix;
mod record;
mod result;
mod usual;

use super::{Format, SniffInput};
use crate::source::Source;
use assemble::Assembler;
use batch::{Batch, Batches};
pub(crate) use line::Dialect;
use line::LineParser;
pub(crate) use merge::{Lane, merge};
use pipeline::{BATCH, SHARED_BATCH};
use record::{Kind, Marks, NO_TIME, Record};
use std::io;
use whyslow_model::event::Tid;
use whyslow_model::{CaptureKind, ClockKind, Sink};

/// strace's line log.
pub(crate) static STRACE: Format = Format {
    kind: CaptureKind::Strace,
    name: "strace",
    made_by: "strace -f -ttT -y -s 256 -o FILE -p PID",
    sniff: |sample| Look::at(sample, Dialect::Strace).is_strace(),
    read: |source, sink| read_alone(source, Dialect::Strace, sink),
};

/// Reads one source with the caller's thread alone.
pub(crate) fn read_alone(source: &mut Source<'_>, dialect: Dialect, sink: &mut dyn Sink) -> io::Result<()> {
    let (head, reader) = source.take_stream();
    let mut batches = Batches::new(head, reader, BATCH);
    let mut assembler = Assembler::new(source.info.clone(), 0, 0);
    pipeline::run_alone(&mut batches, dialect, &mut assembler, sink)?;
    source.info = assembler.finish(batches.bytes, sink);
    Ok(())
}

/// Reads one source with `threads` workers. Lines without a thread are `tid`'s.
pub(crate) fn read_shared(
    source: &mut Source<'_>,
    dialect: Dialect,
    tid: Tid,
    threads: usize,
    sink: &mut (dyn Sink + Send),
) -> io::Result<()> {
    let (head, reader) = source.take_stream();
    let mut batches = Batches::new(head, reader, if threads > 1 { SHARED_BATCH } else { BATCH });
    let mut assembler = Assembler::new(source.info.clone(), tid, 0);
    pipeline::run(&mut batches, dialect, &mut assembler, threads, sink)?;
    source.info = assembler.finish(batches.bytes, sink);
    Ok(())
}

/// What the first lines of a file are.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// Calls of the syscall table, with a result or as a half.
    syscalls: usize,
    /// Calls of other names.
    others: usize,
    /// Of these, those that only ltrace writes: `SYS_write`, `libc.so.6->puts`.
    ltrace_only: usize,
    /// Ends of processes: `+++ exited (status 0) +++`.
    exits: usize,
    filled: usize,
    /// The first timestamp.
    pub(crate) first: Option<(ClockKind, u64)>,
    /// It has digits behind the seconds.
    pub(crate) sub_second: bool,
    /// The threads that lines begin with, the first ones.
    pub(crate) tids: Vec<Tid>,
}

impl Look {
    /// Threads that are told.
    const MOST_TIDS: usize = 64;

    /// Parses the head of a file.
    pub(crate) fn at(sample: &SniffInput<'_>, dialect: Dialect) -> Look {
        let whole = memchr::memrchr(b'\n', sample.head).map_or(sample.head.len(), |at| at + 1);
        let mut batches = Batches::new(Vec::new(), Box::new(&sample.head[..whole]), whole.max(1));
        let (mut batch, mut parser) = (Batch::default(), LineParser::new(dialect));
        let mut look = Look::default();
        while batches.fill(&mut batch).unwrap_or(false) {
            while parser.parse(&mut batch) {
                batch.records.iter().for_each(|record| look.count(record, &batch.text));
            }
        }
        look
    }

    fn count(&mut self, record: &Record, head: &[u8]) {
        self.filled += usize::from(!matches!(record.kind, Kind::Blank | Kind::Comm));
        self.exits += usize::from(record.kind == Kind::Exit);
        // A thread that waits all the while leaves one line, which ends with `<detached ...>`.
        if !matches!(record.kind, Kind::Call | Kind::Unfinished | Kind::Resumed | Kind::Abandoned) {
            return;
        }
        if record.tid != 0 && self.tids.len() < Self::MOST_TIDS && !self.tids.contains(&record.tid) {
            self.tids.push(record.tid);
        }
        let name = record.name(head);
        // Columns of a table before a call (mountsnoop of bcc).
        if memchr::memmem::find(name, b"   ").is_some() {
            return;
        }
        let ltrace_only = name.ends_with(b"@SYS") || memchr::memmem::find(name, b"->").is_some();
        self.ltrace_only += usize::from(
            ltrace_only || (name.starts_with(b"SYS_") && name.get(4).is_some_and(u8::is_ascii_lowercase)),
        );
        let listed = whyslow_model::Syscall::lookup(name).is_some();
        if listed {
            self.syscalls += 1
        } else {
            self.others += 1
        }
        if self.first.is_none() && record.ts != NO_TIME {
            self.first = Some((record.marks.clock(), record.ts));
            self.sub_second = record.marks.has(Marks::SUB_SECOND);
        }
    }

    /// One line in fifty is enough: captures are pasted into notes, and shells print into them.
    fn is_mostly_calls(&self) -> bool {
        (self.syscalls + self.others) * 50 >= self.filled && self.filled > 0
    }

    pub(crate) fn is_strace(&self) -> bool {
        self.syscalls > 0 && self.is_mostly_calls() && !self.is_ltrace()
    }

    /// Library functions outnumber syscalls, or are marked as such. In many languages `f(x) = y` is a line of source:
    /// without a time or an end of a process most lines must be calls.
    pub(crate) fn is_ltrace(&self) -> bool {
        let calls = self.syscalls + self.others;
        let is_sure = self.first.is_some() || self.exits > 0 || calls * 2 >= self.filled;
        is_sure
            && calls > 0
            && self.is_mostly_calls()
            && (self.ltrace_only > 0 || self.others > self.syscalls)
    }
}
