//! A lasting recording cut into windows: what was recorded so far becomes a spool of its own, which tells all of its time
//! ([`Recorded::recover`](crate::Recorded::recover) reads it), and the recording goes on into the next one. Programs stay loaded and attached.

use super::{Session, coverage};
use crate::bpf::layout::{Header, bytes_of, kind};
use crate::bpf::rare;
use crate::bpf::ring::RingLoss;
use crate::bpf::spool::{SpoolWriter, TABLES};
use crate::clock::{Clock, monotonic_ns};
use crate::cost::CostMeter;
use crate::counts;
use crate::error::RecordError;
use crate::options::Mode;
use crate::queues::Queues;
use crate::quota::Quotas;
use crate::recovery::Head;
use crate::state::state_of;
use crate::window_end::{CallsKept, WindowEnd, WindowLoss};
use std::path::{Path, PathBuf};
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

impl Session {
    /// Ends the window, and goes on in `spool`, an existing empty folder. A call or wait that lasts through the cut is told in both windows,
    /// each time from its start on.
    ///
    /// # Errors
    /// Where the kernel's side cannot be read or told, or nothing can be written to the next folder.
    pub fn cut(&mut self, spool: &Path) -> Result<CutWindow, RecordError> {
        self.meter.cpu_time_is_due();
        self.look_at_processes();
        self.quotas.read(monotonic_ns());
        if let Some(queues) = &mut self.queues {
            queues.tell(monotonic_ns());
        }
        self.kernel.tell_under_way();
        let mut trouble = self.drain.turn(spool);
        let ended_ns = monotonic_ns();
        let late = self.unwinding.as_ref().map(|unwinding| {
            let failed = unwinding.turn(spool);
            trouble = trouble.take().or(failed);
            unwinding.late()
        });
        self.measure();
        self.close_span(coverage(self.budget.calls()));
        let done = std::mem::replace(&mut self.options.spool, spool.into());
        let counted = self.write_tables(&done, ended_ns).unwrap_or_else(|error| {
            trouble.get_or_insert(error);
            0
        });
        let rare = rare::losses(self.kernel.maps.get("rare_counts")?)?;
        let mut end = self.window_end(&rare, ended_ns, counted > 0);
        if let Some((stacks, frames)) = late.filter(|late| *late != self.late_copies) {
            let new = stacks - self.late_copies.0 + frames - self.late_copies.1;
            end.notes.push(format!("{new} copies of stacks came faster than they were unwound"));
            self.late_copies = (stacks, frames);
        }
        if let Some(error) = &trouble {
            end.notes.push(format!("the window is not whole: {error}"));
        }
        if let Err(error) = end.write(&done) {
            trouble.get_or_insert(error);
        }
        let window = CutWindow {
            spool: done,
            began: self.clock.epoch(self.began_ns),
            ended: self.clock.epoch(ended_ns),
            calls: self.meter.calls(),
            events: end.losses.iter().map(|loss| loss.produced).sum(),
            lost: end.losses.iter().map(|loss| loss.lost).sum(),
            processes: self.options.pids.len(),
            cost: self.meter.cost(std::time::Duration::ZERO),
            trouble: trouble.map(|error| error.to_string()),
        };
        self.begin_window(ended_ns, rare)?;
        Ok(window)
    }

    /// What the kernel's tables of rows hold goes to the spool as records; the tables are empty then. Returns how many calls were counted.
    fn write_tables(&self, spool: &Path, now: u64) -> Result<u64, RecordError> {
        let mut writer = SpoolWriter::new(spool);
        let mut tell =
            |kind: u8, tid: u32, row: &[u8]| writer.add(TABLES, &Header::with(kind, tid, now, row));
        let mut counted = 0;
        for row in self.counts.iter().flat_map(counts::empty) {
            counted += row.calls;
            tell(kind::COUNTS, (row.key >> 32) as u32, bytes_of(&row))?;
        }
        for row in self.files.iter().flat_map(|files| files.empty_rows()) {
            tell(kind::FILE, 0, &row)?;
        }
        for row in self.meanwhile.iter().flat_map(|meanwhile| meanwhile.empty_rows()) {
            tell(kind::MEANWHILE, 0, &row)?;
        }
        writer.flush()?;
        Ok(counted)
    }

    fn window_end(&mut self, rare: &[RingLoss; kind::COUNT], ended_ns: u64, only_counted: bool) -> WindowEnd {
        let few = self.options.mode == Mode::Counts && self.options.few_in_full && !only_counted;
        let offset = self.clock.offset;
        let at = |time: Timestamp| time.get().map_or(0, |ns| ns.wrapping_sub(offset));
        let spans = self.spans.drain(..).map(|span| {
            let kept = match span.calls {
                Coverage::Full => CallsKept::Full,
                Coverage::Counts if few => CallsKept::Full,
                Coverage::Counts => CallsKept::Counts,
                Coverage::None => CallsKept::None,
            };
            (at(span.from), at(span.to), kept)
        });
        let spans = spans.collect();
        let row = |table: &str, loss: RingLoss| WindowLoss {
            table: table.to_string(),
            first: loss.first,
            last: loss.last,
            lost: loss.lost,
            produced: loss.produced,
            refused: loss.refused,
        };
        let [calls, sched] = self.meter.rings();
        let mut losses = vec![
            row("syscalls", calls.own_and_lost()),
            row("sched", sched.own()),
            row("wakeups", sched.others()),
        ];
        for (table, kinds) in self.kernel.programs().flat_map(|program| program.rare) {
            let change = |kind: u8| rare[kind as usize].since(&self.meter.rare_before[kind as usize]);
            let sum = kinds.iter().fold(RingLoss::NONE, |sum, kind| sum.plus(&change(*kind)));
            match losses.iter_mut().find(|known| known.table == *table) {
                Some(known) => {
                    let (first, last) = (known.first.min(sum.first), known.last.max(sum.last));
                    *known = WindowLoss {
                        table: std::mem::take(&mut known.table),
                        first,
                        last,
                        lost: known.lost + sum.lost,
                        produced: known.produced + sum.produced,
                        refused: known.refused + sum.refused,
                    };
                }
                None => losses.push(row(table, sum)),
            }
        }
        let notes = std::mem::take(&mut self.kernel.notes);
        WindowEnd { ended: ended_ns, only_counted, spans, losses, notes }
    }

    /// Everything that is of one window begins anew.
    fn begin_window(&mut self, now: u64, rare: [RingLoss; kind::COUNT]) -> Result<(), RecordError> {
        self.kernel.begin_window()?;
        self.options.pids.sort_unstable();
        self.options.pids.dedup();
        self.options.pids.retain(|pid| Path::new(&format!("/proc/{pid}")).exists());
        self.clock = Clock::now();
        self.began = Instant::now();
        (self.began_ns, self.mode_since) = (now, now);
        self.state = state_of(&self.options);
        Head::new(self.clock, now, &self.options, &self.state).write(&self.options.spool)?;
        self.quotas = Quotas::new(&self.options.spool);
        for process in &self.options.pids {
            self.quotas.began(*process, now);
        }
        if self.queues.is_some() {
            self.queues = Some(Queues::new(&self.options.spool, &self.options.pids, now));
        }
        let rings = [self.calls_rings.loss(), self.sched_rings.loss()];
        self.meter = CostMeter::new(self.meter.per_call, &self.options, rings, rare);
        Ok(())
    }
}
