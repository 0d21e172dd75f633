//! The session's side of a flight ring: it hands over what was drained, makes the marks, and says what a window is of.

use super::Session;
use crate::error::RecordError;
use crate::flight::{FlightRing, RingBounds, Sight, SightsWanted, WindowWritten};
use crate::options::{Mode, Options};
use crate::recovery::Head;
use crate::state::{State, state_of};
use crate::target::{ProcRoot, WatchedNow};
use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The cost of a recording with a ring is kept within its limit over so long ahead,
const PLANNED: Duration = Duration::from_mins(1);
/// and so long back at most.
const SETTLED_EVERY: Duration = Duration::from_mins(2);

impl Session {
    /// Begins a ring of what this session records. Where the options have a [`RingBounds::spool_room`], nothing else may read the spool, and what
    /// was read of it is given back; else the ring goes on beside windows that are cut ([`Session::cut`]).
    ///
    /// # Errors
    /// Where there is no memory for it.
    pub fn ring(&self, bounds: RingBounds, watched: SightsWanted) -> Result<FlightRing, RecordError> {
        let spool = &self.options.spool;
        let is_alone = self.options.spool_room.is_some();
        if is_alone {
            // What is read is given back: nobody could recover a recording from the rest.
            Head::remove(spool);
        }
        FlightRing::new(spool, bounds, watched, self.clock, is_alone)
            .map_err(|source| RecordError::Spool { path: spool.clone(), source })
    }

    /// To be called with each [`Session::tick`]: the ring takes what was recorded, and `with` gets what is seen in it.
    ///
    /// # Errors
    /// If the spool cannot be read.
    pub fn fill(
        &mut self,
        ring: &mut FlightRing,
        with: &mut dyn FnMut(Sight<'_>),
    ) -> Result<(), RecordError> {
        let until = self.drain.counters.until.load(Ordering::Acquire);
        // Right after a cut the drain may still tell of a time before it.
        if until == 0 || until < ring.until() {
            return Ok(());
        }
        let read = ring.take(until, with)?;
        self.drain.counters.freed.store(read, Ordering::Release);
        let no_room = *self.drain.counters.no_room.lock().unwrap_or_else(PoisonError::into_inner);
        ring.no_room(no_room.calls + no_room.sched + no_room.rare);
        if ring.is_mark_due() {
            self.mark(ring, with)?;
        }
        ring.keep_within_bounds();
        Ok(())
    }

    /// Ends the segment of the ring that grows, and begins another one.
    fn mark(&mut self, ring: &mut FlightRing, with: &mut dyn FnMut(Sight<'_>)) -> Result<(), RecordError> {
        let began = Instant::now();
        let at = ring.until();
        let end = self.cut_off(at)?;
        // The rows of the kernel's tables.
        ring.take(at, with)?;
        ring.end(end);
        let state = self.state_now(ring.processes());
        ring.mark(&state, at, began.elapsed())
    }

    /// How long the recording is to take. One with a ring goes on: the next minute is planned.
    pub(super) fn planned(&mut self) -> Duration {
        if self.options.spool_room.is_none() {
            return self.options.planned;
        }
        self.meter.settle(SETTLED_EVERY);
        self.began.elapsed() + PLANNED
    }

    fn state_now(&self, mut pids: Vec<u32>) -> State {
        pids.sort_unstable();
        let mode = if self.options.mode == Mode::None { Mode::None } else { Mode::Full };
        State::of(state_of(&Options { pids, mode, from_exec_of: None, ..Options::default() }))
    }

    /// Whom it records now, those included that came since it began: for another recording of the same.
    pub fn watched_now(&self, ring: &FlightRing) -> WatchedNow {
        let Options { all, pids, tids, follow, .. } = &self.options;
        if *all {
            return WatchedNow { all: true, ..WatchedNow::default() };
        }
        let living = ring.processes();
        let pids = match tids.is_empty() {
            // Nothing was told yet.
            true if living.is_empty() => pids.clone(),
            true => living,
            // Of single threads the ring knows the processes as well, which are not meant.
            false => pids.iter().copied().filter(|pid| living.is_empty() || living.contains(pid)).collect(),
        };
        let now = WatchedNow { all: false, pids, tids: tids.clone(), children: *follow };
        now.of_the_living(&ProcRoot::live())
    }

    /// Writes the window that the ring keeps into an empty folder, from which [`Recorded::recover`](crate::Recorded::recover) takes it.
    ///
    /// # Errors
    /// Where the folder cannot be written.
    pub fn write_window(
        &mut self,
        ring: &mut FlightRing,
        folder: &Path,
    ) -> Result<WindowWritten, RecordError> {
        self.mark(ring, &mut |_| {})?;
        let (state, began, end, written) = ring.write(folder)?;
        let options = Options {
            pids: state
                .processes
                .iter()
                .filter(|info| info.tid.is_none_or(|tid| tid == info.pid))
                .map(|info| info.pid)
                .collect(),
            from_exec_of: None,
            ..self.options.clone()
        };
        end.write(folder)?;
        Head::new(ring.clock(), began, &options, state).write(folder)?;
        Ok(written)
    }
}
