//! The flight ring: the records of the last seconds of a recording that goes on for days, packed in memory, within a bound. A window of
//! it can be written out as a spool, which then is read as any other.
//!
//! The ring keeps records as the kernel's side wrote them, and not events: to keep a record costs a copy and its share of packing, and
//! nothing is decoded of what nobody will ever ask for. Every few seconds the recording is cut: what the kernel has added up becomes records of
//! the segment that ends, with how it ended beside it, and a *mark* has the processes, threads and descriptors that the next one begins with.
//! A window is some segments one after the other.

mod begin;
mod segments;
mod sight;
mod told;

pub use sight::{SeenCall, SeenEnd, SeenRequest, SeenSide, Sight, SightsWanted};

use crate::bpf::layout::{Header, kind};
use crate::bpf::spool::{RARE, SpoolReader, SpoolWriter};
use crate::clock::Clock;
use crate::error::RecordError;
use crate::raw::RawFlags;
use crate::state::State;
use crate::window_end::WindowEnd;
use segments::{Mark, Segments};
use sight::Eyes;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use told::Told;
use whyslow_model::Timestamp;

/// How much the ring keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingBounds {
    /// So long, at least, where the memory holds it.
    pub length: Duration,
    /// Bytes of all that is kept, with what waits in the spool to be read.
    pub memory: u64,
}

impl RingBounds {
    /// Of the memory, one part in so many is for what waits in the spool.
    const SPOOL_SHARE: u64 = 4;
    /// A window begins at a mark, of which there are so many in the length of the ring.
    const MARKS: u32 = 6;
    const MARK_AT_LEAST: Duration = Duration::from_secs(1);
    const MARK_AT_MOST: Duration = Duration::from_secs(5);
    /// A mark is made so seldom that it costs one part in so many of a CPU.
    const MARK_SHARE: u64 = 500;

    /// Bytes that may wait in the spool: [`Options::spool_room`](crate::Options::spool_room).
    pub fn spool_room(&self) -> u64 {
        self.memory / Self::SPOOL_SHARE
    }

    fn between_marks(&self) -> Duration {
        (self.length / Self::MARKS).clamp(Self::MARK_AT_LEAST, Self::MARK_AT_MOST)
    }
}

/// How the ring stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlightState {
    /// From its oldest record until now.
    pub holds: Duration,
    /// Bytes that it takes.
    pub bytes: u64,
    /// How often its oldest records were forgotten before their time, because the memory was full.
    pub shortened: u64,
    /// Records that came so fast that there was no room for them.
    pub no_room: u64,
    /// Records that went by.
    pub records: u64,
}

/// What was written of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowWritten {
    /// When it begins.
    pub began: Timestamp,
    /// When it ends.
    pub ended: Timestamp,
    /// Records in it.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The ring.
pub struct FlightRing {
    reader: SpoolReader,
    spool: PathBuf,
    bounds: RingBounds,
    /// Bytes of what is packed.
    packed: u64,
    segments: Segments,
    told: Told,
    eyes: Eyes,
    clock: Clock,
    /// Until when records were taken, ns of the kernel's clock.
    until: u64,
    next_mark: u64,
    state: FlightState,
}

/// Of a wait that goes on: `STACK_UNFINISHED` (bpf/stack.bpf.h).
const UNFINISHED: u8 = 4;
/// Bytes of a stream of the spool that were read before they are given back.
const FREE_STEP: u64 = 256 << 10;

impl FlightRing {
    /// Of the spool in that folder, of which nothing was read yet. Where `is_alone`, nobody else reads it: what was read is given back.
    pub(crate) fn new(
        spool: &Path,
        bounds: RingBounds,
        watched: SightsWanted,
        clock: Clock,
        is_alone: bool,
    ) -> io::Result<FlightRing> {
        let (reader, packed) = match is_alone {
            true => (SpoolReader::freeing(spool, FREE_STEP), bounds.memory - bounds.spool_room()),
            false => (SpoolReader::new(spool, false), bounds.memory),
        };
        Ok(FlightRing {
            reader,
            spool: spool.into(),
            bounds,
            packed,
            segments: Segments::new(packed)?,
            told: Told::default(),
            eyes: Eyes::new(watched),
            clock,
            until: 0,
            next_mark: 0,
            state: FlightState::default(),
        })
    }

    /// How it stands.
    pub fn state(&self) -> FlightState {
        let first = self.segments.first().map_or(self.until, |mark| mark.at);
        FlightState {
            holds: Duration::from_nanos(self.until.saturating_sub(first)),
            bytes: self.segments.bytes() + self.told.bytes(),
            ..self.state
        }
    }

    /// Tells the requests that have been open for longer than `bound`, once each.
    pub fn open(&mut self, bound: Duration, with: &mut dyn FnMut(Sight<'_>)) {
        self.eyes.open(self.until, bound, self.clock, with);
    }

    /// Takes the records that ended before `until`, and tells what is seen in them. Returns the bytes of the spool that were read so far.
    pub(crate) fn take(&mut self, until: u64, with: &mut dyn FnMut(Sight<'_>)) -> Result<u64, RecordError> {
        let FlightRing { segments, told, eyes, clock, state, .. } = self;
        let mut failed = None;
        self.reader.read_by_stream(until, |stream, record| {
            // The spool of a window tells what is under way as it ends; here it goes on, and its end tells it whole.
            if is_under_way(record.header, stream == SpoolReader::RARE) {
                return;
            }
            state.records += 1;
            if let Err(error) = segments.add(stream, record.bytes) {
                failed.get_or_insert(error);
            }
            told.take(stream, record.header, record.bytes);
            eyes.see(&record, *clock, with);
        })?;
        self.until = until.max(self.until);
        match failed {
            Some(source) => Err(self.failed(source)),
            None => Ok(self.reader.handed_over()),
        }
    }

    fn failed(&self, source: io::Error) -> RecordError {
        RecordError::Spool { path: self.spool.clone(), source }
    }

    /// Records that found no room in the spool, so far.
    pub(crate) fn no_room(&mut self, records: u64) {
        self.state.no_room = records;
    }

    /// The rest of the spool is read, which ended at `at`, and what comes next is in another one.
    pub(crate) fn turn(
        &mut self,
        spool: &Path,
        at: u64,
        with: &mut dyn FnMut(Sight<'_>),
    ) -> Result<(), RecordError> {
        self.take(u64::MAX, with)?;
        self.until = at;
        self.reader.turn(spool);
        self.spool = spool.into();
        Ok(())
    }

    /// True where a mark is due.
    pub(crate) fn is_mark_due(&self) -> bool {
        self.until >= self.next_mark || self.segments.bytes_of_last() > self.packed / 8
    }

    /// The processes that are watched, of which a mark is.
    pub(crate) fn processes(&self) -> Vec<u32> {
        self.eyes.processes()
    }

    /// The segment that grows has ended so.
    pub(crate) fn end(&mut self, end: WindowEnd) {
        self.segments.end(end);
    }

    /// The next segment begins at `at` with what is there now, which took `cost` to look up.
    pub(crate) fn mark(&mut self, state: &State, at: u64, cost: Duration) -> Result<(), RecordError> {
        self.eyes.state(state);
        // The clock may have been set.
        self.clock = Clock::now();
        let pause = self.bounds.between_marks().max(cost * RingBounds::MARK_SHARE as u32);
        self.next_mark = at + pause.as_nanos() as u64;
        let marked = Mark::new(at, state).and_then(|mark| self.segments.mark(mark));
        marked.map_err(|source| self.failed(source))
    }

    /// Forgets what is older than the ring is long, and then what is too much.
    pub(crate) fn keep_within_bounds(&mut self) {
        let from = self.until.saturating_sub(self.bounds.length.as_nanos() as u64);
        while self.segments.forget_before(from) {}
        while self.segments.bytes() + self.told.bytes() > self.packed && self.segments.forget_first() {
            self.state.shortened += 1;
        }
    }

    /// The clock of the window.
    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// Until when records were taken, ns of the kernel's clock.
    pub(crate) fn until(&self) -> u64 {
        self.until
    }

    /// Writes the streams of the window that is kept into a folder, as a recorder that began with it. The one segment that grows begins now.
    /// Returns what was there as it began, when that was (ns of the kernel's clock), how it ended, and what was written.
    pub(crate) fn write(&self, folder: &Path) -> Result<(State, u64, WindowEnd, WindowWritten), RecordError> {
        let mut end = self.segments.ended();
        let Some(first) = self.segments.first().filter(|_| end.ended > 0) else {
            return Err(self.failed(io::Error::other("nothing was recorded yet")));
        };
        let failed = |source| RecordError::Spool { path: folder.into(), source };
        let begin = first.at;
        let state = first.state().map_err(failed)?;
        let mut spool = SpoolWriter::new(folder);
        let (threads, count) = begin::threads(&state, begin);
        let mut records = 0;
        // They were told before all else, and are read first.
        for (stream, record) in self.told.before(begin) {
            if let Some(name) = self.reader.name_of(stream) {
                records += 1;
                spool.add(name, record)?;
            }
        }
        spool.add(RARE, &threads)?;
        if let Some(of) = end.losses.iter_mut().find(|of| of.table == "threads") {
            of.produced += count;
        }
        let mut trouble = None;
        let read = self.segments.read(|stream, bytes| {
            let Some(name) = self.reader.name_of(stream) else { return };
            let mut rest = bytes;
            while let Some(header) = Header::of(rest) {
                records += 1;
                rest = &rest[header.length..];
            }
            if let Err(error) = spool.add(name, bytes) {
                trouble.get_or_insert(error);
            }
        });
        read.map_err(failed)?;
        if let Some(error) = trouble {
            return Err(error);
        }
        spool.flush()?;
        let written = WindowWritten {
            began: self.clock.epoch(begin),
            ended: self.clock.epoch(end.ended.max(begin)),
            records,
            bytes: spool.bytes,
        };
        Ok((state, begin, end, written))
    }
}

/// True for a record of something that has not ended yet: these are told where a window is cut (`By::AtEnd`), through the ring of rare records.
fn is_under_way(header: Header, is_rare: bool) -> bool {
    match header.kind {
        kind::CALL => is_rare && RawFlags(header.flags).contains(RawFlags::NO_EXIT),
        kind::STRETCH => is_rare,
        kind::OFFCPU => header.flags & UNFINISHED != 0,
        _ => false,
    }
}
