//! The session's side of a flight ring: it hands over what was drained, says what was there at each mark, and what a window is of.

use super::{Session, coverage};
use crate::bpf::kernel_side::KernelSide;
use crate::bpf::layout::kind;
use crate::bpf::rare;
use crate::bpf::ring::RingLoss;
use crate::cost::CostMeter;
use crate::counts;
use crate::error::RecordError;
use crate::flight::{FlightRing, KernelSums, Mark, RingBounds, Sight, SightsWanted, State, WindowWritten};
use crate::losses::{by_table, loss};
use crate::options::{Mode, Options};
use crate::programs::{FileTables, MeanwhileTables};
use crate::recovery::{Head, WindowHead};
use crate::state::state_of;
use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use whyslow_model::{Coverage, Timestamp};

/// The cost of a recording with a ring is kept within its limit over so long ahead,
const PLANNED: Duration = Duration::from_mins(1);
/// and so long back at most.
const SETTLED_EVERY: Duration = Duration::from_mins(2);

/// What was produced and lost of each table since the recording began; some tables come by two ways. `rare`: as the kernel counts now.
pub(super) fn produced(
    kernel: &KernelSide,
    meter: &CostMeter,
    rare: &[RingLoss; kind::COUNT],
) -> Vec<(&'static str, RingLoss)> {
    let change = |kind: u8| rare[kind as usize].since(&meter.rare_before[kind as usize]);
    let told = |(table, kinds): (&'static str, &[u8])| {
        (table, kinds.iter().fold(RingLoss::NONE, |sum, kind| sum.plus(&change(*kind))))
    };
    let [calls, sched] = meter.rings();
    let mut produced =
        vec![("syscalls", calls.own_and_lost()), ("sched", sched.own()), ("wakeups", sched.others())];
    produced.extend(kernel.programs().flat_map(|program| program.rare).map(|table| told(*table)));
    produced
}

impl Session {
    /// Begins a ring of what this session records. Nothing else may follow it, and its options need a [`RingBounds::spool_room`].
    ///
    /// # Errors
    /// Where there is no memory for it.
    pub fn ring(&self, bounds: RingBounds, watched: SightsWanted) -> Result<FlightRing, RecordError> {
        let spool = &self.options.spool;
        // What is read is given back: nobody could recover a recording from the rest.
        Head::remove(spool);
        FlightRing::new(spool, bounds, watched, self.clock)
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
        if until == 0 {
            return Ok(());
        }
        let read = ring.take(until, with)?;
        self.drain.counters.freed.store(read, Ordering::Release);
        let no_room = *self.drain.counters.no_room.lock().unwrap_or_else(PoisonError::into_inner);
        ring.no_room(no_room.calls + no_room.sched + no_room.rare);
        if let Some(pids) = ring.mark_due() {
            let began = Instant::now();
            let state = self.state_now(pids);
            let mark = Mark::new(ring.until(), &state, self.sums_now(), self.produced_now()?)
                .map_err(|source| RecordError::Spool { path: self.options.spool.clone(), source })?;
            ring.mark(&state, mark, began.elapsed())?;
        }
        ring.keep_within_bounds();
        Ok(())
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

    fn sums_now(&self) -> KernelSums {
        KernelSums {
            counted: self.counts.as_ref().map(counts::take).unwrap_or_default(),
            files: self.files.as_ref().map(FileTables::rows).unwrap_or_default(),
            meanwhile: self.meanwhile.as_ref().map(MeanwhileTables::rows).unwrap_or_default(),
        }
    }

    /// What was produced and lost of each table by now. What found no room in the spool is lost, too.
    fn produced_now(&mut self) -> Result<Vec<(&'static str, RingLoss)>, RecordError> {
        self.measure();
        let rare = rare::losses(self.kernel.maps.get("rare_counts")?)?;
        let mut produced = produced(&self.kernel, &self.meter, &rare);
        let no_room = *self.drain.counters.no_room.lock().unwrap_or_else(PoisonError::into_inner);
        for (table, dropped) in
            [("syscalls", no_room.calls), ("sched", no_room.sched), ("threads", no_room.rare)]
        {
            let row = produced.iter_mut().find(|(known, _)| *known == table);
            if let Some((_, of)) = row.filter(|_| dropped > 0) {
                of.lost += dropped;
                of.first = of.first.min(no_room.first);
                of.last = of.last.max(no_room.last);
            }
        }
        Ok(produced)
    }

    /// Writes the window that the ring keeps into an empty folder, from which [`Recorded::recover`](crate::Recorded::recover) takes it.
    ///
    /// # Errors
    /// Where the folder cannot be written.
    pub fn write_window(&mut self, ring: &FlightRing, folder: &Path) -> Result<WindowWritten, RecordError> {
        let (state, written, threads, counted) = ring.write(folder, &self.sums_now())?;
        let produced = self.produced_now()?;
        let clock = ring.clock();
        let (before, began) = match ring.first() {
            Some(mark) => (&mark.produced[..], mark.at),
            None => (&[][..], ring.until()),
        };
        let whole = (written.began, written.ended);
        let mut losses = Vec::new();
        for (row, (table, now)) in produced.iter().enumerate() {
            let since = match before.get(row).filter(|(known, _)| known == table) {
                Some((_, then)) => now.since(then),
                None => *now,
            };
            // The first one of all may have been before.
            let since = RingLoss { first: since.first.max(began), last: since.last.max(began), ..since };
            losses.push(loss(table, since, whole, clock));
        }
        let mut losses = by_table(losses);
        if let Some(of) = losses.iter_mut().find(|of| of.table == "threads") {
            of.produced += threads;
        }
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
        let mut spans = self.spans_within(whole);
        if self.options.mode == Mode::Counts && self.options.few_in_full && !counted {
            // They were few, and each is there.
            spans.iter_mut().filter(|(_, _, calls)| *calls == 1).for_each(|(_, _, calls)| *calls = 0);
        }
        let number = |at: Timestamp| at.get().unwrap_or_default();
        let window = WindowHead {
            ended: ring.until(),
            spans,
            losses: losses
                .into_iter()
                .map(|of| (of.table, [number(of.from), number(of.to), of.lost, of.produced, of.refused]))
                .collect(),
            notes: self.kernel.notes.clone(),
            counted,
            target_share: self.meter.share(),
            per_call: self.per_call().full as u64,
        };
        Head::of_window((clock, began), options, state, window).write(folder)?;
        Ok(written)
    }

    /// What was recorded of the calls between two times: from, to, and 0 each call, 1 counts, 2 none.
    fn spans_within(&self, (from, to): (Timestamp, Timestamp)) -> Vec<(u64, u64, u8)> {
        let (from, to) = (from.get().unwrap_or_default(), to.get().unwrap_or_default());
        let now = (self.clock.epoch(self.mode_since), Timestamp::new(to), coverage(self.budget.calls()));
        let spans = self.spans.iter().map(|span| (span.from, span.to, span.calls)).chain([now]);
        let mut within = Vec::new();
        for (begin, end, calls) in spans {
            let begin = begin.get().unwrap_or_default().max(from);
            let end = end.get().unwrap_or_default().min(to);
            if begin < end {
                let calls = match calls {
                    Coverage::Full => 0,
                    Coverage::Counts => 1,
                    Coverage::None => 2,
                };
                within.push((begin, end, calls));
            }
        }
        within
    }
}
