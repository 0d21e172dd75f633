//! A recording that goes on, cut into windows. There is one way to cut ([`Session::cut_off`]): what the kernel's tables hold becomes records
//! of the stretch that ends, and what no record tells of it is kept beside it. The agent goes on in the spool of the next window
//! ([`Session::cut`]); a ring goes on in the same spool, from a mark ([`Session::fill`]). [`Recorded::recover`](crate::Recorded::recover)
//! reads the windows of both. Programs stay loaded and attached.

use super::{Session, coverage};
use crate::bpf::kernel_side::KernelSide;
use crate::bpf::layout::{Header, bytes_of, kind};
use crate::bpf::rare;
use crate::bpf::ring::RingLoss;
use crate::bpf::spool::TABLES;
use crate::bpf::unwinding::Unwinding;
use crate::clock::{Clock, monotonic_ns};
use crate::cost::CostMeter;
use crate::counts;
use crate::error::RecordError;
use crate::flight::{FlightRing, Sight};
use crate::options::Mode;
use crate::queues::Queues;
use crate::quota::Quotas;
use crate::recovery::Head;
use crate::state::{State, state_of};
use crate::window_end::{CallsKept, CostKept, WindowEnd, WindowLoss};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Instant;
use whyslow_model::{Cost, Coverage, Timestamp};

/// A window that was cut.
#[derive(Clone, Debug)]
pub struct CutWindow {
    /// Its spool.
    pub spool: PathBuf,
    /// When it began.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// Calls seen in it, recorded or counted.
    pub calls: u64,
    /// Records that the kernel's side had to tell in it, lost ones included.
    pub events: u64,
    /// Records that were lost in it.
    pub lost: u64,
    /// Processes that are watched as it ends.
    pub processes: usize,
    /// What it cost the watched.
    pub cost: Cost,
    /// Why its spool is not whole, where it is not: the disk is full.
    pub trouble: Option<String>,
}

/// Of each table what was produced and lost since a recording or a window began.
pub(super) type Produced = Vec<(&'static str, RingLoss)>;

/// What was produced and lost of each table since the window began; some tables come by two ways. `rare`: as the kernel counts now.
pub(super) fn produced(kernel: &KernelSide, meter: &CostMeter, rare: &[RingLoss; kind::COUNT]) -> Produced {
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

/// A ring of the recording, with what gets what is seen in its records.
type RingWithSights<'a> = (&'a mut FlightRing, &'a mut dyn FnMut(Sight<'_>));

impl Session {
    /// Ends a stretch at `at`, ns of the kernel's clock: the rows of the kernel's tables, which are empty then, go to the spool as records that
    /// ended just before, and what no record tells is returned.
    pub(super) fn cut_off(&mut self, at: u64) -> Result<WindowEnd, RecordError> {
        self.measure();
        self.close_span(coverage(self.budget.calls()));
        let (counted, trouble) = match self.write_tables(at.saturating_sub(1)) {
            Ok(counted) => (counted, None),
            Err(error) => (0, Some(error)),
        };
        self.counted_before += counted;
        let mut end = self.end_of_stretch(at, counted > 0)?;
        if let Some(error) = trouble {
            end.notes.push(format!("the window is not whole: {error}"));
        }
        self.window.add(&end);
        Ok(end)
    }

    /// What the kernel's tables of rows hold goes to the spool as records; the tables are empty then. Returns how many calls were counted.
    fn write_tables(&mut self, at: u64) -> Result<u64, RecordError> {
        let Session { tables, counts, files, meanwhile, .. } = self;
        let mut tell = |kind: u8, tid: u32, row: &[u8]| tables.add(TABLES, &Header::with(kind, tid, at, row));
        let mut counted = 0;
        for row in counts.iter().flat_map(counts::empty) {
            counted += row.calls;
            tell(kind::COUNTS, (row.key >> 32) as u32, bytes_of(&row))?;
        }
        for row in files.iter().flat_map(|files| files.empty_rows()) {
            tell(kind::FILE, 0, &row)?;
        }
        for row in meanwhile.iter().flat_map(|meanwhile| meanwhile.empty_rows()) {
            tell(kind::MEANWHILE, 0, &row)?;
        }
        tables.flush()?;
        Ok(counted)
    }

    fn end_of_stretch(&mut self, at: u64, only_counted: bool) -> Result<WindowEnd, RecordError> {
        let few = self.options.mode == Mode::Counts && self.options.few_in_full;
        let offset = self.clock.offset;
        let ns = |time: Timestamp| time.get().map_or(0, |ns| ns.wrapping_sub(offset));
        let spans = self.spans.drain(..).map(|span| {
            let kept = match span.calls {
                Coverage::Full => CallsKept::Full,
                Coverage::Counts if few => CallsKept::Few,
                Coverage::Counts => CallsKept::Counts,
                Coverage::None => CallsKept::None,
            };
            (ns(span.from), ns(span.to), kept)
        });
        let spans = spans.collect();
        let now = self.produced_now()?;
        let mut losses = Vec::new();
        for (row, (table, now)) in now.iter().enumerate() {
            let before = self.produced_before.get(row).filter(|(known, _)| known == table);
            let of = before.map_or(*now, |(_, before)| now.since(before));
            // The first one of all may have been before.
            let began = self.stretch_since;
            let row = WindowLoss {
                table: (*table).to_string(),
                first: of.first.max(began),
                last: of.last.max(began),
                lost: of.lost,
                produced: of.produced,
                refused: of.refused,
            };
            WindowLoss::add_to(&mut losses, row);
        }
        (self.produced_before, self.stretch_since) = (now, at);
        let mut notes = self.kernel.notes.clone();
        if let Some(late) = self.unwinding.as_ref().map(Unwinding::late)
            && late != self.late_copies
        {
            let new = late.0 - self.late_copies.0 + late.1 - self.late_copies.1;
            notes.push(format!("{new} copies of stacks came faster than they were unwound"));
            self.late_copies = late;
        }
        let cost = CostKept { target_share: self.meter.share(), per_call: self.per_call().full as u64 };
        Ok(WindowEnd { ended: at, only_counted, spans, losses, notes, cost: Some(cost) })
    }

    /// What was produced and lost of each table by now. What found no room in the spool is lost, too.
    fn produced_now(&self) -> Result<Produced, RecordError> {
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

    /// Ends the window, and goes on in `spool`, an existing empty folder. A call or wait that lasts through the cut is told in both windows,
    /// each time with its part. A ring of the same recording goes on through the cut; it is given with what gets what is seen in its records.
    ///
    /// # Errors
    /// Where the kernel's side cannot be read or told, or nothing can be written to the next folder.
    pub fn cut(&mut self, spool: &Path, ring: Option<RingWithSights<'_>>) -> Result<CutWindow, RecordError> {
        self.meter.cpu_time_is_due();
        self.look_at_processes();
        self.quotas.read(monotonic_ns());
        if let Some(queues) = &mut self.queues {
            queues.tell(monotonic_ns());
        }
        self.kernel.tell_under_way();
        let mut trouble = self.drain.turn(spool);
        let at = monotonic_ns();
        if let Some(unwinding) = &self.unwinding {
            let failed = unwinding.turn(spool);
            trouble = trouble.take().or(failed);
        }
        // What comes from here on is the next window's.
        let rings = [self.calls_rings.loss(), self.sched_rings.loss()];
        let rare = rare::losses(self.kernel.maps.get("rare_counts")?)?;
        let stretch = self.cut_off(at)?;
        let turned = self.tables.turn(spool).err();
        trouble = trouble.take().or(turned);
        let done = std::mem::replace(&mut self.options.spool, spool.into());
        let mut end = std::mem::take(&mut self.window);
        if let Some(error) = &trouble {
            end.notes.push(format!("the window is not whole: {error}"));
        }
        if let Err(error) = end.write(&done) {
            trouble.get_or_insert(error);
        }
        let window = CutWindow {
            spool: done,
            began: self.clock.epoch(self.began_ns),
            ended: self.clock.epoch(at),
            calls: self.meter.calls(),
            events: end.losses.iter().map(|loss| loss.produced).sum(),
            lost: end.losses.iter().map(|loss| loss.lost).sum(),
            processes: self.options.pids.len(),
            cost: self.meter.cost(std::time::Duration::ZERO),
            trouble: trouble.map(|error| error.to_string()),
        };
        if let Some((ring, with)) = ring {
            ring.turn(spool, at, with)?;
            ring.end(stretch);
            self.begin_window(at, rings, rare)?;
            ring.mark(&State::of(self.state.clone()), at, std::time::Duration::ZERO)?;
        } else {
            self.begin_window(at, rings, rare)?;
        }
        Ok(window)
    }

    /// Everything that is of one window begins anew.
    fn begin_window(
        &mut self,
        now: u64,
        rings: [RingLoss; 2],
        rare: [RingLoss; kind::COUNT],
    ) -> Result<(), RecordError> {
        self.kernel.begin_window()?;
        self.options.pids.sort_unstable();
        self.options.pids.dedup();
        self.options.pids.retain(|pid| Path::new(&format!("/proc/{pid}")).exists());
        self.clock = Clock::now();
        self.began = Instant::now();
        (self.began_ns, self.mode_since) = (now, now);
        self.state = state_of(&self.options);
        Head::new(self.clock, now, &self.options, State::of(self.state.clone()))
            .write(&self.options.spool)?;
        self.quotas = Quotas::new(&self.options.spool);
        for process in &self.options.pids {
            self.quotas.began(*process, now);
        }
        if self.queues.is_some() {
            self.queues = Some(Queues::new(&self.options.spool, &self.options.pids, now));
        }
        self.meter = CostMeter::new(self.meter.per_call, &self.options, rings, rare);
        (self.counted_before, self.stretch_since) = (0, now);
        self.produced_before.clear();
        Ok(())
    }
}
