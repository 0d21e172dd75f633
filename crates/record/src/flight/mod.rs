//! The flight ring: the records of the last seconds of a recording that goes on for days, packed in memory, within a bound. A window of
//! it can be written out as a spool, which then is read as any other.
//!
//! The ring keeps records as the kernel's side wrote them, and not events: to keep a record costs a copy and its share of packing, and
//! nothing is decoded of what nobody will ever ask for. What makes the records of a window whole is kept beside them: a *mark* every few seconds has the processes,
//! threads and descriptors of that moment, and what the kernel had added up until then.

mod begin;
mod mark;
mod segments;
mod sight;
mod sums;
mod told;

pub(crate) use mark::{KernelSums, Mark, State};
pub use sight::{SeenCall, SeenEnd, SeenRequest, SeenSide, Sight, SightsWanted};

use crate::bpf::layout::{Header, kind};
use crate::bpf::spool::{RARE, SpoolReader, SpoolWriter};
use crate::clock::Clock;
use crate::error::RecordError;
use segments::Segments;
use sight::Eyes;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sums::WindowSums;
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

    fn packed(&self) -> u64 {
        self.memory - self.spool_room()
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
    segments: Segments,
    told: Told,
    eyes: Eyes,
    clock: Clock,
    /// Until when records were taken, ns of the kernel's clock.
    until: u64,
    next_mark: u64,
    state: FlightState,
}

/// Bytes of a stream of the spool that were read before they are given back.
const FREE_STEP: u64 = 256 << 10;

impl FlightRing {
    /// Of the spool in that folder, of which nothing was read yet.
    pub(crate) fn new(
        spool: &Path,
        bounds: RingBounds,
        watched: SightsWanted,
        clock: Clock,
    ) -> io::Result<FlightRing> {
        Ok(FlightRing {
            reader: SpoolReader::freeing(spool, FREE_STEP),
            spool: spool.into(),
            bounds,
            segments: Segments::new(bounds.packed())?,
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

    /// The processes that are watched, where a mark is due: its state is of them.
    pub(crate) fn mark_due(&self) -> Option<Vec<u32>> {
        let is_large = self.segments.bytes_of_last() > self.bounds.packed() / 8;
        (self.until >= self.next_mark || is_large).then(|| self.eyes.processes())
    }

    /// Makes a mark of what is there now, which took `cost` to look up, and forgets what is too old or too much.
    pub(crate) fn mark(&mut self, state: &State, mark: Mark, cost: Duration) -> Result<(), RecordError> {
        self.eyes.state(state);
        // The clock may have been set.
        self.clock = Clock::now();
        let pause = self.bounds.between_marks().max(cost * RingBounds::MARK_SHARE as u32);
        self.next_mark = self.until + pause.as_nanos() as u64;
        self.segments.mark(mark).map_err(|source| self.failed(source))
    }

    /// Forgets what is older than the ring is long, and then what is too much.
    pub(crate) fn keep_within_bounds(&mut self) {
        let from = self.until.saturating_sub(self.bounds.length.as_nanos() as u64);
        while self.segments.forget_before(from) {}
        while self.segments.bytes() + self.told.bytes() > self.bounds.packed() && self.segments.forget_first()
        {
            self.state.shortened += 1;
        }
    }

    /// When the window begins that is kept now, with what was there; `None` before the first mark.
    pub(crate) fn first(&self) -> Option<&Mark> {
        self.segments.first()
    }

    /// The clock of the window.
    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// Until when records were taken, ns of the kernel's clock.
    pub(crate) fn until(&self) -> u64 {
        self.until
    }

    /// Writes the streams of the window that is kept into a folder, as a recorder that began with it. `sums`: what the kernel's tables
    /// hold now. Returns what was there, how many threads were told, and whether calls were counted.
    pub(crate) fn write(
        &self,
        folder: &Path,
        sums: &KernelSums,
    ) -> Result<(State, WindowWritten, u64, bool), RecordError> {
        let Some(first) = self.first() else {
            return Err(self.failed(io::Error::other("nothing was recorded yet")));
        };
        let failed = |source| RecordError::Spool { path: folder.into(), source };
        let begin = first.at;
        let state = first.state().map_err(failed)?;
        let mut spool = SpoolWriter::new(folder);
        let (threads, count) = begin::threads(&state, begin);
        let mut records = 0;
        let mut add = |spool: &mut SpoolWriter, stream: &str, bytes: &[u8]| {
            records += 1;
            spool.add(stream, bytes)
        };
        // They were told before all else, and are read first.
        for (stream, record) in self.told.before(begin) {
            if let Some(name) = self.reader.name_of(stream) {
                add(&mut spool, name, record)?;
            }
        }
        spool.add(RARE, &threads)?;
        let mut window = WindowSums::default();
        let mut trouble = None;
        let mut one = Vec::new();
        let read = self.segments.read(|stream, mut rest| {
            let Some(name) = self.reader.name_of(stream) else { return };
            while let Some(header) = Header::of(rest) {
                let (record, behind) = rest.split_at(header.length);
                rest = behind;
                if window.take(header, record) {
                    continue;
                }
                let added = if matches!(header.kind, kind::CALL | kind::STRETCH) {
                    one.clear();
                    one.extend_from_slice(record);
                    begin::cut(header, &mut one, begin);
                    add(&mut spool, name, &one)
                } else {
                    add(&mut spool, name, record)
                };
                trouble = trouble.take().or(added.err());
            }
        });
        read.map_err(failed)?;
        if let Some(error) = trouble {
            return Err(error);
        }
        let (rows, are_counted) = window.records((begin, &first.sums), (self.until, sums));
        spool.add(RARE, &rows)?;
        spool.flush()?;
        let written = WindowWritten {
            began: self.clock.epoch(begin),
            ended: self.clock.epoch(self.until.max(begin)),
            records,
            bytes: spool.bytes,
        };
        Ok((state, written, count, are_counted))
    }
}
