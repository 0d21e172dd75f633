//! What was recorded, before it is stored or explained: the spool and what is known about it.

use crate::clock::Clock;
use crate::counts::Counted;
use crate::error::RecordError;
use crate::options::Options;
use crate::programs::FileRow;
use crate::programs::probes::Probed;
use crate::replay::Replay;
use crate::symbols::Symbolizer;
use std::cell::RefCell;
use std::rc::Rc;
use whyslow_model::{Cost, Event, Loss, Span, Timestamp};

/// A recording that ended.
pub struct Recorded {
    pub(crate) clock: Clock,
    pub(crate) options: Options,
    pub(crate) counted: Counted,
    /// Rows of what was done with files, as the kernel's tables held them at the end.
    pub(crate) files: Vec<FileRow>,
    pub(crate) probed: Vec<Probed>,
    /// Processes, threads and descriptors as they were at the start.
    pub(crate) state: Vec<Event<'static>>,
    pub(crate) following: Option<Replay>,
    /// Where the code of the watched processes was.
    pub(crate) symbols: Rc<RefCell<Symbolizer>>,
    /// When it began.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// What was recorded of the calls, when.
    pub spans: Vec<Span>,
    /// What was lost, a row a table.
    pub losses: Vec<Loss>,
    /// What it cost; `None` where the target's CPU time is not known.
    pub cost: Option<Cost>,
    /// What was asked for and is not recorded, because the kernel refused the program.
    pub notes: Vec<String>,
    /// Why the spool ends early, where it does: the disk is full.
    pub trouble: Option<RecordError>,
}

impl Recorded {
    /// `CLOCK_REALTIME` less `CLOCK_MONOTONIC` as of its start, ns.
    pub fn clock_offset(&self) -> u64 {
        self.clock.offset
    }
}
