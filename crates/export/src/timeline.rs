//! What happened when, as it is read: events become items on tracks, and a [`TimelineWriter`] writes each at once. Memory is that of
//! the facts beside it and a few words a thread.
//!
//! A call is an item on its thread's track, with the time that it took. The scheduler's stretches are on a second track of the
//! thread: running, waiting for a CPU, blocked. A wake-up is an arrow from the waker's to the woken thread's second track. Requests,
//! of those that facts keep one by one, and requests to block devices have tracks of their own; they may overlap. A writer that adds
//! up times gets each piece of a thread's account, once.

use crate::text::{shown, shown_bytes};
use hashbrown::HashMap;
use std::borrow::Cow;
use std::io;
use whyslow_account::{state_of_call, states_of_cut};
use whyslow_facts::Facts;
use whyslow_facts::folds::account::ObjectKind;
use whyslow_facts::folds::requests::{Ending, Side};
use whyslow_model::host::Over;
use whyslow_model::{
    Call, CallFlags, Entity, Event, FigureTable, LeftAs, Ret, Sink, Stretch, Tid, TimeState, Timestamp,
    Wakeup,
};

/// Threads whose last state is remembered; of more, what they were blocked in is not told apart.
const MAX_THREADS: usize = 1 << 20;

/// Where an item is drawn.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Track {
    /// The calls of a thread.
    Calls(Tid),
    /// What the scheduler did with a thread.
    States(Tid),
    /// Requests that a process serves or makes.
    Requests {
        /// The process; 0 where it is unknown.
        pid: Tid,
        /// True where it serves them.
        served: bool,
    },
    /// Requests to a block device: `253:0`.
    Device(String),
}

/// A value that an item has beside its name and time.
#[derive(Clone, PartialEq, Debug)]
pub enum Detail<'a> {
    /// Text, without secrets.
    Text(Cow<'a, str>),
    /// A number.
    Number(i64),
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct TimelineItem<'a> {
    /// Where it is drawn.
    pub track: &'a Track,
    /// The process; 0 where none is known.
    pub pid: Tid,
    /// When it began, ns.
    pub from: u64,
    /// How long it took, ns; `None` where that is unknown, or where it takes no time.
    pub took: Option<u64>,
    /// Its name.
    pub name: &'a str,
    /// Its kind: `call`, `state`, `signal`, `request`.
    pub kind: &'static str,
    /// What else is known.
    pub details: &'a [(&'static str, Detail<'a>)],
    /// The number of the wake-up that it does.
    pub wakes: Option<u64>,
    /// The number of the wake-up that began it.
    pub woken_by: Option<u64>,
    /// The call itself, where it is one.
    pub call: Option<TimelineCall<'a>>,
}

/// A call on a timeline, as it was read: its text has its secrets.
#[derive(Clone, Copy, Debug)]
pub struct TimelineCall<'a> {
    /// The call.
    pub call: &'a Call<'a>,
    /// What its thread does in it or waits for, as far as that is known by then; `None` where the account does not have it.
    pub state: Option<TimeState>,
    /// On what: a path, an address, a lock; of several that are alike their pattern. `None` where it has no name.
    pub object: Option<&'a str>,
}

/// A piece of a thread's time in one state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimelineTime {
    /// The thread.
    pub tid: Tid,
    /// It lies between here, ns,
    pub from: u64,
    /// and here.
    pub to: u64,
    /// What it was.
    pub state: TimeState,
    /// How much of the time between, ns.
    pub ns: u64,
}

/// Writes a timeline in one format.
pub trait TimelineWriter: Send {
    /// Writes an item.
    ///
    /// # Errors
    /// If it cannot be written.
    fn item(&mut self, item: &TimelineItem<'_>) -> io::Result<()>;

    /// Writes a value that holds from that time on.
    ///
    /// # Errors
    /// If it cannot be written.
    fn counter(&mut self, at: u64, name: &str, value: f64) -> io::Result<()>;

    /// Writes what stands at the end: the names of threads and processes.
    ///
    /// # Errors
    /// If it cannot be written.
    fn finish(&mut self, facts: &Facts) -> io::Result<()>;

    /// True for one that adds up the times of threads: all go to [`TimelineWriter::time`], and of calls it takes what it needs from
    /// [`TimelineItem::call`]. Their details, which cost the most, are not made.
    fn adds_up(&self) -> bool {
        false
    }

    /// Takes a piece of a thread's time: all pieces of a thread add up to what its account knows.
    fn time(&mut self, _time: TimelineTime) {}
}

impl<W: TimelineWriter + ?Sized> TimelineWriter for Box<W> {
    fn item(&mut self, item: &TimelineItem<'_>) -> io::Result<()> {
        (**self).item(item)
    }
    fn counter(&mut self, at: u64, name: &str, value: f64) -> io::Result<()> {
        (**self).counter(at, name, value)
    }
    fn finish(&mut self, facts: &Facts) -> io::Result<()> {
        (**self).finish(facts)
    }
    fn adds_up(&self) -> bool {
        (**self).adds_up()
    }
    fn time(&mut self, time: TimelineTime) {
        (**self).time(time);
    }
}

/// What is in a timeline, and what is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TimelineCounts {
    /// Calls with a time and a duration.
    pub calls: u64,
    /// Their time, ns.
    pub calls_ns: u64,
    /// Calls whose duration is unknown: they are points.
    pub untimed_calls: u64,
    /// Calls of which no time is known: they are not in it.
    pub calls_without_time: u64,
    /// Stretches on a CPU.
    pub stretches: u64,
    /// Their time, ns.
    pub running_ns: u64,
    /// Time in the run queue before them, ns.
    pub runnable_ns: u64,
    /// Time blocked before that, ns.
    pub blocked_ns: u64,
    /// Wake-ups whose both ends are in it.
    pub wakeups: u64,
    /// Requests to block devices.
    pub block_requests: u64,
    /// Requests, one by one.
    pub requests: u64,
    /// Requests that are not kept one by one, and not in it.
    pub requests_left_out: u64,
}

/// Takes events, keeps facts, and writes the timeline meanwhile.
pub struct TimelineExport<W> {
    /// What is known so far.
    pub facts: Facts,
    writer: W,
    adds_up: bool,
    counts: TimelineCounts,
    /// How each thread left the CPU last.
    left_as: HashMap<Tid, LeftAs>,
    /// The last wake-up of a thread that has not run since.
    woken: HashMap<Tid, (u64, Wakeup)>,
    wakeups: u64,
    error: Option<io::Error>,
}

impl<W: TimelineWriter> TimelineExport<W> {
    /// An empty one.
    pub fn new(mut facts: Facts, writer: W) -> TimelineExport<W> {
        let adds_up = writer.adds_up();
        if adds_up {
            facts.keep_cuts();
        }
        TimelineExport {
            facts,
            writer,
            adds_up,
            counts: TimelineCounts::default(),
            left_as: HashMap::new(),
            woken: HashMap::new(),
            wakeups: 0,
            error: None,
        }
    }

    /// Writes what stands at the end. The facts must be finished.
    ///
    /// # Errors
    /// If anything could not be written, the first time included.
    pub fn finish(mut self) -> io::Result<(Facts, TimelineCounts, W)> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.times();
        self.requests()?;
        self.writer.finish(&self.facts)?;
        Ok((self.facts, self.counts, self.writer))
    }

    /// Hands on what the accounts took.
    fn times(&mut self) {
        let TimelineExport { facts, writer, .. } = self;
        facts.take_cuts(|objects, cut| {
            let object = cut.key.map_or(ObjectKind::Nothing, |key| objects.get(key.object).kind);
            for (state, ns) in states_of_cut(cut, object).into_iter().filter(|(_, ns)| *ns > 0) {
                writer.time(TimelineTime { tid: cut.tid, from: cut.from, to: cut.to, state, ns });
            }
        });
    }

    fn pid_of(&self, tid: Tid) -> Tid {
        let threads = &self.facts.world.threads;
        let process = threads.thread_of(tid).and_then(|thread| threads.known_process(thread.process));
        process.and_then(|process| process.pid).unwrap_or(tid)
    }

    fn write(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Call(call) => self.call(call),
            Event::Signal(signal) => {
                let Some(from) = signal.ts.get() else { return Ok(()) };
                let details = [("info", Detail::Text(shown_bytes(signal.info).into()))];
                let name = String::from_utf8_lossy(signal.name);
                self.point(signal.tid, from, &name, "signal", &details)
            }
            Event::Exit(exit) => {
                let Some(from) = exit.ts.get() else { return Ok(()) };
                let detail = match (exit.status, exit.signal) {
                    (Some(status), _) => ("status", Detail::Number(status.into())),
                    (None, Some(signal)) => ("signal", Detail::Text(shown_bytes(signal).into())),
                    (None, None) => return self.point(exit.tid, from, "exit", "exit", &[]),
                };
                self.point(exit.tid, from, "exit", "exit", &[detail])
            }
            Event::Stretch(stretch) => self.stretch(stretch),
            Event::Wakeup(wakeup) => {
                self.wakeups += 1;
                if wakeup.waker.is_some()
                    && wakeup.ts.is_known()
                    && (self.woken.len() < MAX_THREADS || self.woken.contains_key(&wakeup.wakee))
                {
                    self.woken.insert(wakeup.wakee, (self.wakeups, *wakeup));
                }
                Ok(())
            }
            Event::BlockIo(io) => {
                let (Some(from), Some(took)) = (io.issued.get(), io.completed.since(io.issued).get()) else {
                    return Ok(());
                };
                self.counts.block_requests += 1;
                let track = Track::Device(io.device.clone());
                let details = [
                    ("bytes", Detail::Number(io.bytes as i64)),
                    ("sector", Detail::Number(io.sector as i64)),
                ];
                self.writer.item(&TimelineItem {
                    track: &track,
                    pid: 0,
                    from,
                    took: Some(took),
                    name: &io.op,
                    kind: "block",
                    details: &details,
                    wakes: None,
                    woken_by: None,
                    call: None,
                })
            }
            Event::Figures(table) => self.figures(table),
            _ => Ok(()),
        }
    }

    fn point(
        &mut self,
        tid: Tid,
        from: u64,
        name: &str,
        kind: &'static str,
        details: &[(&'static str, Detail<'_>)],
    ) -> io::Result<()> {
        let pid = self.pid_of(tid);
        let track = Track::Calls(tid);
        self.writer.item(&TimelineItem {
            track: &track,
            pid,
            from,
            took: None,
            name,
            kind,
            details,
            wakes: None,
            woken_by: None,
            call: None,
        })
    }

    fn call(&mut self, call: &Call<'_>) -> io::Result<()> {
        let Some(from) = call.ts.get() else {
            self.counts.calls_without_time += 1;
            return Ok(());
        };
        let took = call.dur.get();
        match took {
            Some(ns) => {
                self.counts.calls += 1;
                self.counts.calls_ns = self.counts.calls_ns.saturating_add(ns);
            }
            None => self.counts.untimed_calls += 1,
        }
        let name = String::from_utf8_lossy(call.name);
        let kind = if call.flags.contains(CallFlags::LIBRARY) { "library" } else { "call" };
        let track = Track::Calls(call.tid);
        let pid = call.pid.unwrap_or_else(|| self.pid_of(call.tid));
        if self.adds_up {
            let spent = self.facts.take_last_spent();
            let state = spent.map(|(key, object)| state_of_call(key, object.kind, call.dur));
            let object = spent.map(|(_, object)| object.name()).filter(|name| !name.is_empty());
            return self.writer.item(&TimelineItem {
                track: &track,
                pid,
                from,
                took,
                name: &name,
                kind,
                details: &[],
                wakes: None,
                woken_by: None,
                call: Some(TimelineCall { call, state, object }),
            });
        }
        let mut details = Vec::with_capacity(4);
        if !call.args.is_empty() {
            details.push(("args", Detail::Text(shown_bytes(call.args).into())));
        }
        if let Ret::Value(value) = call.ret {
            details.push(("ret", Detail::Number(value)));
        }
        if call.errno.is_error() {
            details.push(("error", Detail::Text(call.errno.to_string().into())));
        }
        let unknown = match (
            call.flags.contains(CallFlags::START_NOT_SEEN),
            call.flags.contains(CallFlags::END_NOT_SEEN),
        ) {
            (true, true) => Some("start and end"),
            (true, false) => Some("start"),
            (false, true) => Some("end"),
            (false, false) if took.is_none() => Some("duration"),
            (false, false) => None,
        };
        if let Some(unknown) = unknown {
            details.push(("not seen", Detail::Text(unknown.into())));
        }
        self.writer.item(&TimelineItem {
            track: &track,
            pid,
            from,
            took,
            name: &name,
            kind,
            details: &details,
            wakes: None,
            woken_by: None,
            call: Some(TimelineCall { call, state: None, object: None }),
        })
    }

    fn stretch(&mut self, stretch: &Stretch) -> io::Result<()> {
        let is_known = self.left_as.contains_key(&stretch.tid) || self.left_as.len() < MAX_THREADS;
        let last = if is_known { self.left_as.insert(stretch.tid, stretch.left_as) } else { None };
        let Some(from) = stretch.ts.get() else { return Ok(()) };
        let track = Track::States(stretch.tid);
        let mut state = TimelineItem {
            track: &track,
            pid: stretch.pid,
            from,
            took: None,
            name: "running",
            kind: "state",
            details: &[],
            wakes: None,
            woken_by: None,
            call: None,
        };
        let runnable = stretch.runnable.or_zero();
        let queued_from = from.saturating_sub(runnable);
        if let Some(blocked) = stretch.blocked.get().filter(|ns| *ns > 0) {
            self.counts.blocked_ns = self.counts.blocked_ns.saturating_add(blocked);
            state.name = match last {
                Some(LeftAs::Uninterruptible) => "blocked (uninterruptible)",
                Some(LeftAs::Stopped) => "stopped",
                Some(LeftAs::Sleeping) => "blocked (sleeping)",
                _ => "blocked",
            };
            (state.from, state.took) = (queued_from.saturating_sub(blocked), Some(blocked));
            self.writer.item(&state)?;
        }
        if runnable > 0 {
            self.counts.runnable_ns = self.counts.runnable_ns.saturating_add(runnable);
            (state.name, state.from, state.took) = ("waits for a CPU", queued_from, Some(runnable));
            self.writer.item(&state)?;
        }
        let wakeup = match self.woken.get(&stretch.tid) {
            Some((_, wakeup)) if wakeup.ts <= stretch.ts => self.woken.remove(&stretch.tid),
            _ => None,
        };
        if let Some((number, Wakeup { waker: Some(waker), ts, .. })) = wakeup {
            self.wake(number, waker, stretch.tid, ts)?;
            state.woken_by = Some(number);
        }
        self.counts.stretches += 1;
        self.counts.running_ns = self.counts.running_ns.saturating_add(stretch.on_cpu.or_zero());
        let details = [("cpu", Detail::Number(stretch.cpu.into()))];
        (state.name, state.from, state.took) = ("running", from, stretch.on_cpu.get());
        self.writer.item(&TimelineItem { details: &details, ..state })
    }

    fn wake(&mut self, number: u64, waker: Tid, wakee: Tid, at: Timestamp) -> io::Result<()> {
        self.counts.wakeups += 1;
        let track = Track::States(waker);
        let details = [("thread", Detail::Number(wakee.into()))];
        self.writer.item(&TimelineItem {
            track: &track,
            pid: self.pid_of(waker),
            from: at.or_zero(),
            took: None,
            name: "wakes",
            kind: "wake-up",
            details: &details,
            wakes: Some(number),
            woken_by: None,
            call: None,
        })
    }

    /// Figures of the host as counters: those of the machine, its CPUs, disks and interfaces. Of each thing besides there
    /// would be thousands of tracks.
    fn figures(&mut self, table: &FigureTable) -> io::Result<()> {
        let Some(at) = table.at.get() else { return Ok(()) };
        // What is over a time holds from its start on. What was counted since the machine came up is no value of a moment.
        let from = match table.over {
            Over::Interval(length) => at.saturating_sub(length.or_zero()),
            Over::Moment => at,
            Over::SinceBoot | Over::Lifetime | Over::Total | Over::Growth => return Ok(()),
        };
        for row in &table.rows {
            if !matches!(row.of, Entity::Host | Entity::Cpu(_) | Entity::Device(_) | Entity::Interface(_)) {
                continue;
            }
            for (metric, value) in &row.figures {
                let name = format!("{} {}", row.of, metric.name());
                self.writer.counter(from, &shown(&name), *value)?;
            }
        }
        Ok(())
    }

    fn requests(&mut self) -> io::Result<()> {
        let mut kept: Vec<_> = self.facts.requests.records().collect();
        kept.sort_by_key(|record| (record.begin, record.number));
        // A request may be kept twice: as slow and as failed.
        kept.dedup_by_key(|record| record.number);
        for record in kept {
            let Some(from) = record.begin.get() else { continue };
            let threads = &self.facts.world.threads;
            let pid = threads.known_process(record.process).and_then(|process| process.pid).unwrap_or(0);
            let endpoint = self.facts.requests.endpoint(record.endpoint);
            let name = endpoint.map_or(Cow::Borrowed("unknown"), |row| shown(&row.name));
            let mut details = vec![
                ("number", Detail::Number(record.number as i64)),
                ("thread", Detail::Number(record.tid.into())),
            ];
            let mut text = |key, text: &'_ str| {
                details.push((key, Detail::Text(shown(text).into_owned().into())));
            };
            if let Some(peer) = &record.peer {
                text("peer", peer);
            }
            if !record.detail.is_empty() {
                text("detail", &record.detail);
            }
            if let Some(status) = &record.status {
                text("status", &status.text);
            }
            match record.ending {
                Ending::Answered => {}
                Ending::Aborted => text("ending", "aborted"),
                Ending::Open => text("ending", "open at the end of the capture"),
            }
            self.counts.requests += 1;
            let track = Track::Requests { pid, served: record.side == Side::Server };
            self.writer.item(&TimelineItem {
                track: &track,
                pid,
                from,
                took: record.dur.get(),
                name: &name,
                kind: "request",
                details: &details,
                wakes: None,
                woken_by: None,
                call: None,
            })?;
        }
        self.counts.requests_left_out = self.facts.requests.count().saturating_sub(self.counts.requests);
        Ok(())
    }
}

impl<W: TimelineWriter> Sink for TimelineExport<W> {
    fn push(&mut self, event: Event<'_>) {
        // Who is who is known once the facts saw it.
        if self.error.is_none() && matches!(event, Event::Figures(_) | Event::BlockIo(_)) {
            self.error = self.write(&event).err();
            self.facts.push(event);
            return;
        }
        let again = match &event {
            Event::Call(call) => Some(Event::Call(call)),
            Event::Signal(signal) => Some(Event::Signal(*signal)),
            Event::Exit(exit) => Some(Event::Exit(*exit)),
            Event::Stretch(stretch) => Some(Event::Stretch(*stretch)),
            Event::Wakeup(wakeup) => Some(Event::Wakeup(*wakeup)),
            _ => None,
        };
        self.facts.push(event);
        if self.adds_up {
            self.times();
        }
        if let Some(event) = again
            && self.error.is_none()
        {
            self.error = self.write(&event).err();
        }
    }
}
