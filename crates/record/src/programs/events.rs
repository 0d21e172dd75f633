//! The records that come through the ring for rare ones, as events: stacks, block I/O, connections, signals, totals,
//! files, who ran meanwhile.

use super::files::FileSums;
use super::samples::Samples;
use super::sched::MeanwhileSums;
use super::{block, net, signals, totals};
use crate::bpf::layout::kind;
use crate::bpf::spool::SpoolRecord;
use crate::clock::Clock;
use crate::symbols::Symbolizer;
use std::cell::RefCell;
use std::rc::Rc;
use whyslow_model::{Event, Signal, Sink, SourceId};

/// Events beyond one a record, of records that stand for many (drops of a listening socket): a damaged one may claim any number.
const MAX_REPEATED: u64 = 1 << 20;

/// Turns the records into events. What must be known of a record before it can be told is kept here.
pub(crate) struct RareEvents {
    clock: Clock,
    samples: Samples,
    files: FileSums,
    meanwhile: MeanwhileSums,
    repeated: u64,
}

impl RareEvents {
    /// `live`: the records come while the recording goes on, and nobody else looks where the code of processes is.
    pub(crate) fn new(clock: Clock, symbols: Rc<RefCell<Symbolizer>>, live: bool) -> RareEvents {
        RareEvents {
            clock,
            samples: Samples::new(clock, symbols, live),
            files: FileSums::default(),
            meanwhile: MeanwhileSums::default(),
            repeated: 0,
        }
    }

    /// The samples: they want to know of programs and threads.
    pub(crate) fn samples(&mut self) -> &mut Samples {
        &mut self.samples
    }

    /// What was done with files.
    pub(crate) fn files(&mut self) -> &mut FileSums {
        &mut self.files
    }

    /// Who had the CPU that threads waited for.
    pub(crate) fn meanwhile(&mut self) -> &mut MeanwhileSums {
        &mut self.meanwhile
    }

    /// Events told beyond one a record.
    pub(crate) fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Takes one record. `source` and `line` say where it stands. `None` where it is none of these or not whole.
    pub(crate) fn take(
        &mut self,
        record: &SpoolRecord<'_>,
        (source, line): (SourceId, u64),
        sink: &mut dyn Sink,
    ) -> Option<()> {
        match record.header.kind {
            kind::SAMPLE | kind::OFFCPU | kind::WAIT_STACK | kind::CALL_STACK => {
                self.samples.take(record, sink)?
            }
            kind::FRAME | kind::UNWOUND | kind::BLOCKED => self.samples.take_read(record)?,
            kind::BLOCK => sink.push(Event::BlockIo(Box::new(block::decode(record, self.clock)?))),
            kind::NET => {
                let (event, count) = net::decode(record, self.clock)?;
                let more = count.saturating_sub(1).min(MAX_REPEATED - self.repeated);
                self.repeated += more;
                for _ in 0..=more {
                    sink.push(Event::Net(Box::new(event.clone())));
                }
            }
            kind::SIGNAL => {
                let (name, info) = signals::decode(record)?;
                let ts = self.clock.epoch(record.header.ts);
                let (name, info) = (name.as_bytes(), info.as_bytes());
                sink.push(Event::Signal(Signal {
                    source,
                    line,
                    tid: record.header.tid,
                    ts,
                    name,
                    info,
                    raw: b"",
                }));
            }
            kind::FILE => self.files.evicted(record, self.clock, sink)?,
            kind::MEANWHILE => self.meanwhile.evicted(record, sink)?,
            kind::PATH => self.files.path(record)?,
            kind::TOTALS => sink.push(Event::ThreadTotals(totals::decode(record)?)),
            _ => return None,
        }
        Some(())
    }
}
