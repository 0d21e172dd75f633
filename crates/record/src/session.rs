//! A recording under way: programs loaded and attached, rings drained, the cost kept below its limit.

mod cut;
mod flight;
mod progress;
mod settings;

pub use cut::CutWindow;
pub use progress::RecordingProgress;

use crate::bpf::drain::{Drain, DrainOptions, Sources};
use crate::bpf::kernel_side::{CallsMode, KernelSide};
use crate::bpf::layout::{Control, kind, part};
use crate::bpf::object::Sizes;
use crate::bpf::probe;
use crate::bpf::rare::{self, RareRing};
use crate::bpf::reduce::{Reducer, Reduces};
use crate::bpf::ring::{RingHeads, Rings, size_for};
use crate::bpf::spool::SpoolWriter;
use crate::bpf::unwinding::Unwinding;
use crate::budget::{Budget, Part};
use crate::clock::{Clock, monotonic_ns};
use crate::code::Code;
use crate::cost::{self, CostMeter, PerCall, Unseen};
use crate::counts::{self, CountTables};
use crate::decode::table;
use crate::error::RecordError;
use crate::follow::Follower;
use crate::losses::{CopyLosses, by_table, loss};
use crate::namespace;
use crate::options::{Mode, Options};
use crate::programs::PROGRAMS;
use crate::programs::probes::{self, Probed};
use crate::programs::{FileTables, MeanwhileTables};
use crate::queues::Queues;
use crate::quota::Quotas;
use crate::recovery::Head;
use crate::replay::Recorded;
use crate::replay::{LateState, Replay};
use crate::state::{State, state_of};
use crate::window_end::WindowEnd;
use cut::{Produced, produced};
use libbpf_rs::MapHandle;
use settings::settings_of;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use whyslow_model::{Coverage, Event, RecordedSpan, Sink, SourceId};

/// A recording under way.
pub struct Session {
    kernel: KernelSide,
    calls_rings: RingHeads,
    sched_rings: RingHeads,
    /// `None` where nothing looks at calls.
    counts: Option<CountTables>,
    /// `None` where nothing looks at files.
    files: Option<FileTables>,
    /// `None` where nothing looks at the scheduler.
    meanwhile: Option<MeanwhileTables>,
    drain: Drain,
    options: Options,
    meter: CostMeter,
    clock: Clock,
    began: Instant,
    began_ns: u64,
    budget: Budget,
    cpus: u32,
    /// Since when as much of the calls is recorded as now.
    mode_since: u64,
    /// Calls are recorded since then, monotonic ns: 0 from the start, the largest number while they are given up.
    calls_since: u64,
    spans: Vec<RecordedSpan>,
    attach_took: Duration,
    state: Vec<Event<'static>>,
    following: Option<Replay>,
    code: Code,
    quotas: Quotas,
    /// `None` where nobody asks whether work waits.
    queues: Option<Queues>,
    /// `None` where nobody is to be taken in.
    follower: Option<Follower>,
    /// What those taken in were and had open, as far as it was not told to who follows the recording.
    late: LateState,
    /// Rows of processes and threads among what was told of it.
    late_told: u64,
    /// `None` where no stacks are taken.
    unwinding: Option<Unwinding>,
    /// When the last stack was taken, where that was before the end, ns of the kernel's clock.
    sampling_ended: Option<u64>,
    /// Copies of stacks, and of lists of frames, that were too late in stretches that were cut off.
    late_copies: (u64, u64),
    /// What the kernel's tables of rows held as stretches were cut off goes there.
    tables: SpoolWriter,
    /// Calls that these rows counted, since the window began.
    counted_before: u64,
    /// The stretches of the window that ended, put together.
    window: WindowEnd,
    /// What was produced and lost since the window began, as the last stretch was cut off, and when that was, ns of the kernel's clock.
    produced_before: Produced,
    stretch_since: u64,
    /// Functions of the kernel that are counted.
    probed: Vec<Probed>,
}

/// Calls that take longer are recorded in full even where calls are only counted.
const SLOW_CALL_NS: u64 = 1_000_000;
/// For so long what was recorded is kept until it shows whether calls are few: at 2,000 a second and CPU some 10 MB for each.
const FEW_AT_MOST_FOR: Duration = Duration::from_mins(1);
/// Waits from which on their stack is kept.
const LONG_OFF_NS: u64 = 1_000_000;
const SCHED_RING_BYTES: u64 = 32 << 20;
/// Of a recording that goes on for days: at 100,000 switches a second of 40 bytes it holds two seconds, of which the drain needs a hundredth.
const LASTING_SCHED_RING_BYTES: u64 = 8 << 20;
const RARE_RING_BYTES: u32 = 8 << 20;
/// Of a ring that nothing is written to.
const UNUSED_RING_BYTES: u64 = 64 << 10;

impl Session {
    /// Whether recording is possible here at all: tries the programs that it cannot do without.
    ///
    /// # Errors
    /// What refuses it.
    pub fn probe() -> Result<(), RecordError> {
        namespace::must_be_the_hosts()?;
        probe::programs(PROGRAMS, &|program| program.needed).map(drop)
    }

    /// Loads, attaches, and begins.
    ///
    /// # Errors
    /// Where the kernel or our rights do not allow it; the caller may fall back to ptrace.
    pub fn start(options: Options) -> Result<Session, RecordError> {
        namespace::must_be_the_hosts()?;
        let started = Instant::now();
        let functions = probes::find(&options.probes)?;
        let cpus = libbpf_rs::num_possible_cpus().map_err(|_| RecordError::NoRights)? as u32;
        let with_calls = options.mode != Mode::None;
        let call_ring = size_for(if with_calls { options.ring_bytes } else { UNUSED_RING_BYTES }, cpus);
        let sched_ring = match options.sched {
            true if options.lasting || options.spool_room.is_some() => LASTING_SCHED_RING_BYTES,
            true => SCHED_RING_BYTES,
            false => UNUSED_RING_BYTES,
        };
        let sizes = Sizes::of(cpus, call_ring, size_for(sched_ring, cpus), RARE_RING_BYTES);
        let settings = settings_of(&options, &sizes);
        // What runs in the processes is found out while the kernel checks the programs, so that it is known as the recording begins.
        let unwinding =
            options.unwinds().then(|| Unwinding::start(&options.spool, options.lasting)).transpose()?;
        let queue = unwinding.as_ref().map(Unwinding::queue);
        if let Some(queue) = &queue {
            options.pids.iter().for_each(|process| queue.began(*process));
        }
        let mut kernel =
            KernelSide::load(PROGRAMS, &settings, &sizes, &|program| (program.wanted)(&options))?;
        let recorded = |nr: u16| options.calls.as_ref().is_none_or(|calls| calls.contains(&nr));
        if with_calls {
            // Some servers change what they watch for twice a request; where no call is seen that waits for it, it is one more call.
            let counted = |nr: u16| {
                options.mode == Mode::Counts && table::row_of(nr).is_some_and(|row| row.name == "epoll_ctl")
            };
            kernel.set_specs(&table::spec, &recorded, &counted)?;
        }
        let lists = kernel.maps.get("frame_lists").ok().map(MapHandle::try_from).transpose();
        let lists =
            lists.map_err(|source| RecordError::Load { program: "calls", step: "keep a map", source })?;
        if let (Some(queue), Some(lists)) = (&queue, lists) {
            queue.lists(lists);
        }
        let maps = &kernel.maps;
        let (call_heads, sched_heads) = (maps.get("call_heads")?, maps.get("sched_heads")?);
        let sources = Sources {
            calls: Rings::new(call_heads, maps.get("call_ring")?, sizes.call_ring, cpus)?,
            sched: Rings::new(sched_heads, maps.get("sched_ring")?, sizes.sched_ring, cpus)?,
            rare: RareRing::new(maps.get("rare_ring")?)?,
        };
        let (calls_rings, sched_rings) =
            (RingHeads::new(call_heads, cpus)?, RingHeads::new(sched_heads, cpus)?);
        let counts = if with_calls { Some(CountTables::new(maps.get("call_counts")?, cpus)?) } else { None };

        // The kernel may have refused the program.
        let files = kernel.maps.get("file_rows").ok().map(|map| FileTables::new(map, cpus)).transpose()?;
        let meanwhile = kernel.maps.get("meanwhile_rows").ok();
        let meanwhile = meanwhile.map(|map| MeanwhileTables::new(map, cpus)).transpose()?;
        let per_call = match &counts {
            Some(counts) => cost::calibrate(&mut kernel, &sources, counts)?,
            None => PerCall::default(),
        };
        let before = [calls_rings.loss(), sched_rings.loss()];
        let rare_before = rare::losses(kernel.maps.get("rare_counts")?)?;
        let clock = Clock::now();
        let mode_now = match options.mode {
            Mode::None => CallsMode::None,
            Mode::Counts => CallsMode::Count,
            // Adaptive too: a tick of too many calls costs less than the first requests are worth.
            Mode::Adaptive | Mode::Full => CallsMode::Full,
        };
        let few_in_full = options.mode == Mode::Counts && options.few_in_full;
        let budget = Budget::new(mode_now, options.mode == Mode::Adaptive)
            .with_few_in_full(few_in_full)
            .lasting(options.lasting)
            .without_wakeups(!options.wakeups);
        kernel.control(budget.control())?;
        kernel.attach_rest()?;
        let probed = probes::attach(&mut kernel, &settings, &sizes, functions)?;
        let reduces = Reduces {
            payload: options.payload > 0 && !options.keep_payload,
            arguments: with_calls && !options.show_secrets,
        };
        let reducer = (reduces.payload || reduces.arguments).then(|| Reducer::new(reduces));
        let drain = Drain::start(
            sources,
            SpoolWriter::new(&options.spool),
            DrainOptions {
                reducer,
                unwind: queue.clone(),
                lasting: options.lasting,
                room: options.spool_room,
            },
        )?;
        let began_ns = monotonic_ns();
        if let Some(queue) = &queue {
            queue.begins();
        }
        let processes = options.pids.iter().map(|pid| u64::from(*pid));
        let threads = options.tids.iter().map(|tid| 1 << 32 | u64::from(*tid));
        kernel.watch(&processes.chain(threads).collect::<Vec<_>>())?;
        kernel.look_around();
        let meter = CostMeter::new(per_call, &options, before, rare_before);
        let state = state_of(&options);
        Head::new(clock, began_ns, &options, State::of(state.clone())).write(&options.spool)?;
        let (mut code, mut quotas) = (Code::new(&options.debug_dirs), Quotas::new(&options.spool));
        for process in &options.pids {
            if !is_read_in_windows(&options) {
                code.began(*process);
            }
            quotas.began(*process, began_ns);
        }
        let queues = (options.queues && !options.all)
            .then(|| Queues::new(&options.spool, &options.pids, monotonic_ns()));
        let is_followed = options.follow_peers > 0 && !options.all && !options.pids.is_empty();
        let follower = is_followed
            .then(|| Follower::new(&options.spool, &options.pids, options.follow_peers, monotonic_ns()));
        let spool = options.spool.clone();
        Ok(Session {
            kernel,
            calls_rings,
            sched_rings,
            counts,
            files,
            meanwhile,
            drain,
            options,
            meter,
            clock,
            began: Instant::now(),
            began_ns,
            budget,
            cpus,
            mode_since: began_ns,
            calls_since: 0,
            spans: Vec::new(),
            attach_took: started.elapsed(),
            state,
            following: None,
            code,
            quotas,
            queues,
            follower,
            late: LateState::new(),
            late_told: 0,
            unwinding,
            sampling_ended: None,
            late_copies: (0, 0),
            tables: SpoolWriter::new(&spool),
            counted_before: 0,
            window: WindowEnd::default(),
            produced_before: Vec::new(),
            stretch_since: began_ns,
            probed,
        })
    }

    /// How long loading and attaching took, calibration included.
    pub fn attach_took(&self) -> Duration {
        self.attach_took
    }

    /// What recording adds to one call on this machine, as measured at the start.
    pub fn per_call(&self) -> PerCall {
        self.meter.per_call
    }

    /// Watches further processes.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn watch(&mut self, pids: &[u32]) -> Result<(), RecordError> {
        self.options.pids.extend(if self.options.lasting { pids } else { &[] });
        self.meter.add(pids);
        self.kernel.watch(&pids.iter().map(|pid| u64::from(*pid)).collect::<Vec<_>>())?;
        self.kernel.look_around();
        for process in pids {
            if !is_read_in_windows(&self.options) {
                self.code.began(*process);
            }
            self.quotas.began(*process, monotonic_ns());
            if let Some(unwinding) = &self.unwinding {
                unwinding.queue().began(*process);
            }
            if let Some(queues) = &mut self.queues {
                queues.began(*process);
            }
            if let Some(follower) = &mut self.follower {
                follower.began(*process);
            }
        }
        Ok(())
    }

    /// Takes in those that the target was seen to wait for.
    fn follow_peers(&mut self) -> Result<(), RecordError> {
        let Some(follower) = &mut self.follower else { return Ok(()) };
        let pids = follower.look(monotonic_ns());
        if pids.is_empty() {
            return Ok(());
        }
        // They made no call of the recording yet: what they have open now, they had before.
        for pid in &pids {
            let of_one = Options { pids: vec![*pid], from_exec_of: None, ..self.options.clone() };
            self.late.insert(*pid, state_of(&of_one));
        }
        self.watch(&pids)
    }

    /// Who was taken in because the target waits for it, in words, without the first `known` ones.
    pub fn taken_in(&self, known: usize) -> Vec<String> {
        self.follower.iter().flat_map(|follower| follower.taken(known)).collect()
    }

    /// To be called every 20 to 200 ms: measures the cost and keeps it below its limit. Tells how things go.
    ///
    /// # Errors
    /// If the kernel refuses to change what is recorded.
    pub fn tick(&mut self) -> Result<RecordingProgress, RecordError> {
        self.measure();
        self.look_at_processes();
        self.quotas.look(monotonic_ns());
        if let Some(queues) = self.queues.as_mut().filter(|_| self.budget.has(Part::Queues)) {
            queues.look(monotonic_ns());
            self.meter.queues(queues.cost_ns());
        }
        self.follow_peers()?;
        if self.options.mode == Mode::Adaptive {
            self.keep_within_budget()?;
        }
        Ok(RecordingProgress {
            elapsed: self.began.elapsed(),
            calls: self.meter.calls(),
            lost: self.meter.lost(),
            cost: self.meter.share(),
            bytes: self.drain.counters.bytes.load(Ordering::Relaxed),
            calls_now: Some(coverage(self.budget.calls())),
            failed: self.drain.counters.failed.load(Ordering::Acquire),
        })
    }

    /// Tells what was recorded since the last time. What was told is not kept: [`Recorded::rest`] tells what follows.
    ///
    /// # Errors
    /// If the spool cannot be read.
    pub fn follow(&mut self, sink: &mut dyn Sink) -> Result<(), RecordError> {
        if self.following.is_none() && self.are_calls_few() {
            if self.began.elapsed() < FEW_AT_MOST_FOR {
                return Ok(());
            }
            self.close_span(Coverage::Full);
        }
        let source = SourceId::default();
        let replay = self.following.get_or_insert_with(|| {
            // What is told is freed: nobody could recover a whole recording from the spool.
            Head::remove(&self.options.spool);
            let symbols = Rc::new(RefCell::new(self.code.take()));
            let mut replay =
                Replay::begin(&self.options, self.clock, source, true, &self.state, symbols, sink);
            replay.only_counted(self.counts.as_ref().is_some_and(|counts| counts.calls() > 0));
            replay
        });
        let late = std::mem::take(&mut self.late);
        let processes = late.values().flatten().filter(|event| matches!(event, Event::Process(_)));
        self.late_told += processes.count() as u64;
        replay.late(late);
        replay.advance(self.drain.counters.until.load(Ordering::Acquire), sink)
    }

    /// True where calls would be counted if they were many, and each was recorded so far. Whether that lasts shows later: until then nothing
    /// is told.
    fn are_calls_few(&self) -> bool {
        self.options.mode == Mode::Counts
            && self.options.few_in_full
            && self.counts.as_ref().is_some_and(|counts| counts.calls() == 0)
    }

    /// Looks at those that began: their groups, their code. Who follows the recording has the symbols, and looks at the
    /// code as the records tell of it.
    fn look_at_processes(&mut self) {
        let mut began = self.drain.counters.began.lock().unwrap_or_else(PoisonError::into_inner);
        let began = std::mem::take(&mut *began);
        let follows = self.following.is_some();
        for pid in began {
            self.quotas.began(pid, monotonic_ns());
            if let Some(unwinding) = &self.unwinding {
                unwinding.queue().began(pid);
            }
            if let Some(queues) = &mut self.queues {
                queues.began(pid);
            }
            if let Some(follower) = &mut self.follower {
                follower.began(pid);
            }
            if self.options.lasting {
                self.options.pids.push(pid);
            } else if !follows && !is_read_in_windows(&self.options) {
                self.code.began(pid);
            }
        }
        if !follows && !is_read_in_windows(&self.options) {
            self.code.look();
        }
    }

    /// Takes no more stacks: what is asked of the target from now on is no part of the profile.
    pub fn end_sampling(&mut self) {
        self.kernel.detach("samples");
        self.sampling_ended.get_or_insert_with(monotonic_ns);
    }

    fn measure(&mut self) {
        let rings = [self.calls_rings.loss(), self.sched_rings.loss()];
        // Where they cannot be read now, the end tells.
        if let Ok(rare) = self.kernel.maps.get("rare_counts").and_then(rare::losses) {
            self.meter.rare(&rare);
        }
        let counted = self.counted_before + self.counts.as_ref().map_or(0, CountTables::calls);
        let off = Unseen {
            calls: self.budget.calls() == CallsMode::None,
            files: self.budget.control().parts & part::FILES == 0,
        };
        self.meter.update(rings, counted, self.began.elapsed(), off);
    }

    /// Gives up what costs too much, and takes up again what fits.
    fn keep_within_budget(&mut self) -> Result<(), RecordError> {
        let planned = self.planned();
        let mut forecast = self.meter.forecast(self.options.max_overhead, planned, self.cpus);
        // Unwinding takes none of the target's time, but it is taken from the same machine.
        forecast.wait_stacks.each_ns += self.unwinding.as_ref().map_or(0.0, Unwinding::wait_ns);
        let before = self.control();
        let calls_before = self.budget.calls();
        self.budget.decide(&forecast);
        match (calls_before, self.budget.calls()) {
            (CallsMode::None, CallsMode::None) => {}
            (_, CallsMode::None) => self.calls_since = u64::MAX,
            (CallsMode::None, _) => self.calls_since = monotonic_ns(),
            _ => {}
        }
        if self.control() != before {
            self.kernel.control(self.control())?;
        }
        // What is off costs nothing: of calls not even the look who makes them.
        match (before.parts & part::FILES > 0, self.budget.control().parts & part::FILES > 0) {
            (true, false) => self.kernel.detach("files"),
            (false, true) => self.kernel.attach("files")?,
            _ => {}
        }
        let calls = self.budget.calls();
        if calls == calls_before {
            return Ok(());
        }
        if calls == CallsMode::None {
            self.kernel.detach("calls");
        } else if calls_before == CallsMode::None {
            self.kernel.attach("calls")?;
        }
        self.close_span(coverage(calls_before));
        Ok(())
    }

    /// What the kernel's side is to record.
    fn control(&self) -> Control {
        Control { calls_since: self.calls_since, ..self.budget.control() }
    }

    fn close_span(&mut self, calls: Coverage) {
        let now = self.sampling_ended.unwrap_or_else(monotonic_ns);
        let (from, to) = (self.clock.epoch(self.mode_since), self.clock.epoch(now));
        self.spans.push(RecordedSpan { from, to, calls });
        self.mode_since = now;
    }

    /// Ends the recording: everything is detached, and what was recorded can be read.
    ///
    /// # Errors
    /// Where the kernel's counters cannot be read. That the spool could not be written to its end is told in
    /// [`Recorded::trouble`]: what was written before can be read.
    pub fn stop(mut self) -> Result<Recorded, RecordError> {
        self.meter.cpu_time_is_due();
        self.measure();
        self.close_span(coverage(self.budget.calls()));
        self.look_at_processes();
        self.quotas.read(monotonic_ns());
        if let Some(queues) = &mut self.queues {
            queues.tell(monotonic_ns());
        }
        let ended_ns = self.sampling_ended.unwrap_or_else(monotonic_ns);
        // The hook of a call's start goes before that of its end: calls between the two would seem to have begun before the recording.
        self.kernel.control(Control { calls: CallsMode::None as u32, ..self.control() })?;
        self.kernel.detach_rest();
        self.kernel.end();
        self.meter.cpu_time_is_due();
        self.measure();
        let counters = self.drain.counters.clone();
        let mut trouble = self.drain.finish().err();
        let unwound = self.unwinding.map(Unwinding::finish).unwrap_or_default();
        trouble = trouble.or(unwound.trouble);
        let rare = rare::losses(self.kernel.maps.get("rare_counts")?)?;
        let clock = self.clock;
        let whole = (clock.epoch(self.began_ns), clock.epoch(ended_ns));
        let produced = produced(&self.kernel, &self.meter, &rare);
        let mut losses: Vec<_> =
            produced.into_iter().map(|(table, of)| loss(table, of, whole, clock)).collect();
        let copied = |kind: u8| rare[kind as usize].since(&self.meter.rare_before[kind as usize]);
        let (stacks, frames) = (copied(kind::STACK_COPY), copied(kind::FRAMES_COPY));
        let copies = CopyLosses { stacks, frames, late: unwound.lost };
        losses.push(copies.row(whole, clock));
        let losses = by_table(losses);
        let mut notes = std::mem::take(&mut self.kernel.notes);
        notes.extend(self.budget.given_up(self.began.elapsed()));
        notes.extend(self.queues.iter().flat_map(Queues::notes));
        notes.extend(self.follower.iter().flat_map(Follower::notes));
        notes.extend(unwound.notes);
        notes.extend(copies.words());
        let following_ns = self.follower.as_ref().map_or(0, Follower::cost_ns);
        let recorder_cpu = counters.cpu_ns.load(Ordering::Relaxed) + unwound.cpu_ns + following_ns;
        let counted = self.counts.as_ref().map(counts::take).unwrap_or_default();
        if self.options.mode == Mode::Counts && self.options.few_in_full && counted.is_empty() {
            // They were few, and each is there.
            let counts = self.spans.iter_mut().filter(|span| span.calls == Coverage::Counts);
            counts.for_each(|span| span.calls = Coverage::Full);
        }
        Ok(Recorded {
            clock,
            began: whole.0,
            ended: whole.1,
            spans: self.spans,
            losses,
            counted,
            files: self.files.as_ref().map(FileTables::rows).unwrap_or_default(),
            recorder: std::process::id(),
            only_counted: false,
            within: None,
            meanwhile: self.meanwhile.as_ref().map(MeanwhileTables::rows).unwrap_or_default(),
            probed: probes::take(&self.kernel.maps, self.probed)?,
            cost: Some(self.meter.cost(Duration::from_nanos(recorder_cpu))),
            cost_of_parts: self.meter.parts(),
            state: self.state,
            late: self.late,
            late_told: self.late_told,
            following: self.following,
            symbols: Rc::new(RefCell::new(self.code.take())),
            trouble,
            notes,
            parked: unwound.parked,
            options: self.options,
        })
    }
}

/// Who reads a window, of a lasting recording or of a ring, looks at the code of those that live then.
fn is_read_in_windows(options: &Options) -> bool {
    options.lasting || options.spool_room.is_some()
}

fn coverage(mode: CallsMode) -> Coverage {
    match mode {
        CallsMode::None => Coverage::None,
        CallsMode::Count => Coverage::Counts,
        CallsMode::Full => Coverage::Full,
    }
}
