//! Facts: folds over the event stream, computed once, in one pass, with bounded memory, for all rules and views.
//!
//! [`Facts`] takes the events. [`World`] knows who is who (threads, processes, descriptors, files); each
//! other fold is one file that declares the syscalls it wants and sees each of them with its world
//! ([`Seen`]). Adding a fold: its file, a field in [`Facts`] and a line in `fold_calls!` ([`fold`]).

pub mod aborted;
pub mod activity;
pub mod again;
pub mod block_io;
pub mod busy;
pub mod call_table;
pub mod capture;
pub mod closes;
pub mod copies;
pub mod dns_names;
pub mod duplicates;
pub mod errors;
pub mod exchanges;
pub mod exemplar;
pub mod fds;
pub mod file_locks;
pub mod file_users;
pub mod files;
mod fold;
pub mod gil;
pub mod graph;
pub mod herds;
pub mod hidden;
pub mod host;
pub mod io;
pub mod laps;
pub mod limits;
pub mod locks;
pub mod log_levels;
pub mod loops;
pub mod memory;
pub mod names;
pub mod net;
pub mod pace;
pub mod pattern;
pub mod peers;
pub mod profiles;
pub mod quotas;
pub mod readiness;
#[cfg(test)]
mod recorded_tests;
pub mod recording;
pub mod requests;
pub mod rounds;
pub mod samples;
pub mod sched;
pub mod searches;
pub mod sleeps;
pub mod slots;
pub mod slow_files;
mod sockets;
pub mod spawns;
pub mod streams;
pub mod threads;
pub mod waits;
pub mod window;
pub mod work;
pub mod world;

pub use activity::Activity;
pub use again::AgainSpins;
pub use block_io::Devices;
pub use busy::Busy;
pub use capture::CaptureFacts;
pub use closes::CloseLoops;
pub use copies::CopyLoops;
pub use dns_names::DnsNames;
pub use duplicates::Duplicates;
pub use errors::Errors;
pub use exchanges::ExchangeFacts;
pub use exemplar::Exemplar;
pub use fds::{FdLife, LifeId, Origin};
pub use file_locks::FileLocks;
pub use file_users::{FileUse, Tally, User, Users, WrittenBack};
pub use files::{FileFacts, FileId};
pub(crate) use fold::{Fold, SLOW_CALL, When};
pub use gil::SteppedLocks;
pub use graph::Graph;
pub use herds::Herds;
pub use hidden::Hidden;
pub use host::Host;
pub use io::IoStats;
pub use limits::Limits;
pub use locks::Locks;
pub use log_levels::LogLevels;
pub use loops::Loops;
pub use memory::Memory;
pub use net::Net;
pub use pace::Pace;
pub use peers::{PeerFacts, Peers};
pub use profiles::{EmptyProfile, ProfileFacts, ProfileOrigin, Profiles};
pub use quotas::Quotas;
pub use readiness::Readiness;
pub use recording::RecordingFacts;
pub use requests::{EndpointFacts, EndpointId, RequestRecord, Requests};
pub use rounds::Rounds;
pub use samples::Samples;
pub use sched::{Sched, SchedTime};
pub use searches::Searches;
pub use sleeps::Sleeps;
pub use slow_files::SlowFiles;
pub use spawns::{Forks, Spawns};
pub use streams::{Place, Stream};
pub use threads::{ProcessFacts, ProcessId, ThreadFacts, ThreadId};
pub use waits::{WaitKind, Waits};
pub use window::Window;
pub use work::Work;
pub use world::{Seen, SignalFacts, World};

use whyslow_model::{
    Call, CallFlags, CallStats, CountTable, Event, PercentileTable, Sink, ThreadCounts, Timestamp,
};

/// Everything that rules and views read.
pub struct Facts {
    /// Threads, processes, descriptors and files.
    pub world: World,
    /// What the capture is, and what it cannot show.
    pub capture: CaptureFacts,
    /// What a recording says about itself.
    pub recording: RecordingFacts,
    /// First and last time seen.
    pub window: Window,
    /// Tables of counts among the inputs.
    pub tables: Vec<CountTable>,
    /// Tables of percentiles of requests among the inputs.
    pub percentiles: Vec<PercentileTable>,
    /// Where threads waited.
    pub waits: Waits,
    /// Polls that spin.
    pub readiness: Readiness,
    /// Threads that try again without waiting.
    pub again: AgainSpins,
    /// Futexes.
    pub locks: Locks,
    /// Sleeps of a fixed length.
    pub sleeps: Sleeps,
    /// Clock reads and yields.
    pub busy: Busy,
    /// Memory taken and given back.
    pub memory: Memory,
    /// Units of useful work done.
    pub work: Work,
    /// Calls over time.
    pub activity: Activity,
    /// Failed calls by error.
    pub errors: Errors,
    /// Whom the program talks to.
    pub peers: Peers,
    /// What is asked on connections, of this program and by it.
    pub requests: Requests,
    /// Signs of threads that the capture does not show.
    pub hidden: Hidden,
    /// Calls refused for too many open descriptors.
    pub limits: Limits,
    /// Names looked for in one directory after the other.
    pub searches: Searches,
    /// Processes forked and programs started.
    pub spawns: Spawns,
    /// Loops that close all descriptors.
    pub close_loops: CloseLoops,
    /// Slow calls on local files.
    pub slow_files: SlowFiles,
    /// Payloads written twice.
    pub duplicates: Duplicates,
    /// Levels of log lines.
    pub log_levels: LogLevels,
    /// Who waits for whom.
    pub graph: Graph,
    /// Locks on files and semaphores.
    pub file_locks: FileLocks,
    /// Requests and answers by the order of writes and reads.
    pub exchanges: ExchangeFacts,
    /// Event loops.
    pub loops: Loops,
    /// Names asked of a name server.
    pub dns_names: DnsNames,
    /// Condition variables waited for in steps.
    pub gil: SteppedLocks,
    /// Wake-ups for connections that others took.
    pub herds: Herds,
    /// Files copied to sockets by reads and writes.
    pub copies: CopyLoops,
    /// The scheduler's account.
    pub sched: Sched,
    /// Stacks of running and of waiting threads.
    pub samples: Samples,
    /// Profiles by kind of cost; of samples once [`Facts::finish`] was called.
    pub profiles: Profiles,
    /// Block devices.
    pub devices: Devices,
    /// TCP connections as the kernel sees them.
    pub net: Net,
    /// The host by figures.
    pub host: Host,
    /// Control groups that their CPU quota stopped.
    pub quotas: Quotas,
    /// What a tracer adds to each call; known once [`Facts::finish`] was called.
    pub pace: Pace,
    /// What was read and written in one place; known once [`Facts::finish`] was called.
    pub streams: Vec<Stream>,
    interests: Box<fold::Interests>,
    totals: Vec<(String, CallStats)>,
}

impl Default for Facts {
    fn default() -> Self {
        let mut facts = Facts {
            world: World::default(),
            capture: CaptureFacts::default(),
            recording: RecordingFacts::default(),
            window: Window::default(),
            tables: Vec::new(),
            percentiles: Vec::new(),
            waits: Waits::default(),
            readiness: Readiness::default(),
            again: AgainSpins::default(),
            locks: Locks::default(),
            sleeps: Sleeps::default(),
            busy: Busy::default(),
            memory: Memory::default(),
            work: Work::default(),
            activity: Activity::default(),
            errors: Errors::default(),
            peers: Peers::default(),
            requests: Requests::default(),
            hidden: Hidden::default(),
            limits: Limits::default(),
            searches: Searches::default(),
            spawns: Spawns::default(),
            close_loops: CloseLoops::default(),
            slow_files: SlowFiles::default(),
            duplicates: Duplicates::default(),
            log_levels: LogLevels::default(),
            graph: Graph::default(),
            file_locks: FileLocks::default(),
            exchanges: ExchangeFacts::default(),
            loops: Loops::default(),
            dns_names: DnsNames::default(),
            gil: SteppedLocks::default(),
            herds: Herds::default(),
            copies: CopyLoops::default(),
            sched: Sched::default(),
            samples: Samples::default(),
            profiles: Profiles::default(),
            devices: Devices::default(),
            net: Net::default(),
            host: Host::default(),
            quotas: Quotas::default(),
            pace: Pace::default(),
            streams: Vec::new(),
            interests: Box::new(fold::Interests::NONE),
            totals: Vec::new(),
        };
        facts.interests = facts.interests();
        facts
    }
}

impl Facts {
    /// To be called once, after the last event.
    pub fn finish(&mut self) {
        // A log's clock need not be that of a trace beside it.
        if !self.window.start.is_known() {
            self.window = self.requests.of_logs().window;
        }
        self.close_accounts();
        self.world.finish();
        self.graph.finish(&self.world, self.window.end);
        self.quotas.finish(&mut self.world.threads, &self.graph, self.sched.cpus());
        self.capture.remark_bounds(&self.world);
        self.peers.finish(&self.world);
        self.requests.finish(&self.world, self.window.end);
        self.streams = streams::streams(&self.world);
        self.totals = self.sum_up();
        self.profile_samples();
        // A recorder with the scheduler's account stops no thread.
        if self.sched.stretches == 0 {
            self.pace = Pace::of(&self.world.threads, self.window.length());
        }
    }

    /// What can be said only when all of a recording was seen: time up to its end, and of which part of it each call
    /// is known.
    fn close_accounts(&mut self) {
        let only_counts = self.world.calls == 0;
        // Where stretches are missing, what came behind the last one is not known.
        let complete = self.recording.lost_of("sched").is_none_or(|(lost, _)| lost == 0);
        let partial = self.recording.is_partial() && !only_counts;
        for thread in self.world.threads.iter_mut() {
            if complete {
                thread.finish_sched(self.window.end);
            }
            if partial {
                thread.in_full = self.recording.covered(thread.first, thread.last);
            }
        }
        if partial {
            self.window.in_full = self.recording.covered(self.window.start, self.window.end);
        }
        if only_counts {
            self.world.take_counts_for_calls();
        }
    }

    /// True where durations are known, of single calls or of counted ones.
    pub fn has_times(&self) -> bool {
        self.capture.has_durations() || self.world.calls == 0 && self.world.counted > 0
    }

    fn thread_counts(&mut self, counts: &ThreadCounts) {
        self.window.see(counts.from, counts.to.since(counts.from));
        self.world.thread_counts(counts);
    }

    #[inline]
    fn call(&mut self, call: &Call<'_>) {
        self.window.see(call.ts, call.dur);
        self.capture.call(call);
        let seen = self.world.call(call);
        self.fold(&seen);
        if call.flags.contains(CallFlags::END_NOT_SEEN) {
            self.graph.unfinished(&seen, &self.world);
        }
        if let Some(back) = self.graph.handed_back() {
            self.requests.handed_back(&back, &mut self.world.threads, &self.graph);
        }
        if let Some(fd) = self.graph.wants_request() {
            let asked = self.waits.last_sent(seen.thread, fd);
            self.graph.request(asked);
        }
    }

    /// All calls of all threads by syscall, from the trace; from the tables where there is no trace.
    /// Sorted by time, then by count.
    pub fn syscalls(&self) -> &[(String, CallStats)] {
        &self.totals
    }

    fn sum_up(&self) -> Vec<(String, CallStats)> {
        let of_trace = self.world.syscalls();
        by_time(if of_trace.is_empty() { self.table_syscalls() } else { of_trace })
    }

    /// The calls of the tables, where they tell more than the trace beside them, which is of one kind of call: it shows
    /// which path, they show how often. Sorted like [`Facts::syscalls`].
    pub fn tables_beside_excerpt(&self) -> Option<Vec<(String, CallStats)>> {
        let counted =
            self.tables.iter().filter(|table| !table.library).filter_map(CountTable::calls).sum::<u64>();
        let more = counted > self.world.calls && self.world.calls > 0 && self.seems_filtered();
        more.then(|| by_time(self.table_syscalls()))
    }

    /// Where a table counts that call most, and the line.
    pub fn table_line(&self, name: &str) -> Option<(String, &str)> {
        let rows = self.tables.iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)));
        let of_call = rows.filter(|(table, row)| !table.library && row.name == name);
        let (table, row) = of_call.max_by_key(|(_, row)| row.calls)?;
        Some((format!("{}:{}", self.capture.source_name(table.source), row.line), row.raw.trim()))
    }

    /// Calls and errors of one syscall over all threads or tables; `None` where no capture shows calls.
    pub fn calls_of(&self, names: &[&str]) -> u64 {
        self.syscalls()
            .iter()
            .filter(|(name, _)| names.contains(&name.as_str()))
            .map(|(_, stats)| stats.count)
            .sum()
    }

    /// Units of useful work, of the trace; of the tables where there is no trace.
    pub fn work_done(&self) -> Work {
        if self.world.calls > 0 { self.work } else { Work::of_counts(&self.table_syscalls()) }
    }

    /// All calls, of the trace or of the tables.
    pub fn total_calls(&self) -> u64 {
        if self.world.calls > 0 {
            return self.world.calls;
        }
        self.tables.iter().filter_map(CountTable::calls).sum::<u64>() + self.world.counted
    }

    fn table_syscalls(&self) -> Vec<(String, CallStats)> {
        let mut all: Vec<(String, CallStats)> = Vec::new();
        for row in self.tables.iter().flat_map(|table| &table.rows) {
            let stats = CallStats::of_totals(row.calls.unwrap_or(0), row.errors.unwrap_or(0), row.total);
            match all.iter_mut().find(|(name, _)| *name == row.name) {
                Some((_, known)) => known.merge(&stats),
                None => all.push((row.name.clone(), stats)),
            }
        }
        all
    }
}

impl Sink for Facts {
    fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Call(call) => self.call(call),
            Event::Enter(call) => self.world.enter(call),
            Event::Signal(signal) => {
                self.window.see(signal.ts, whyslow_model::Nanos::UNKNOWN);
                self.world.signal(&signal);
            }
            Event::Exit(exit) => {
                self.window.see(exit.ts, whyslow_model::Nanos::UNKNOWN);
                self.graph.exit(&exit);
                let closes = self.world.closed_by_exit(exit.tid);
                if !closes.is_empty() {
                    let last = self.world.threads.last_of(exit.tid);
                    self.graph.closed_by_exit(&closes, last, &exit, &self.world);
                }
                self.world.exit(&exit);
            }
            Event::Frame { .. } => self.capture.has_stacks = true,
            Event::Process(info) => {
                // A list of processes at the recording's start comes before all else.
                let began_here =
                    self.window.start.is_known() && info.start.is_known() && info.start >= self.window.start;
                self.world.process_info(info, began_here);
            }
            Event::Fd(entry) => self.world.snapshot(*entry),
            Event::Counts(table) => self.tables.push(table),
            Event::Logged(line) => {
                let process = line.pid.map(|pid| self.world.process_numbered(pid));
                self.requests.logged(line, process);
            }
            Event::Percentiles(table) => self.percentiles.push(*table),
            Event::Profile(profile) => self.profiles.captured(*profile),
            Event::Figures(table) => {
                self.quotas.see(&table, &self.world.threads);
                self.host.see(&table);
            }
            Event::Note(note) => self.capture.notes.push(note),
            Event::Stretch(stretch) => {
                self.window.see(stretch.ts, stretch.on_cpu);
                self.sched.stretch(&stretch);
                let thread = self.world.thread_accounted(stretch.tid, stretch.pid);
                self.world.threads.thread_mut(thread).stretch(&stretch);
                self.graph.stretch(&stretch);
            }
            Event::Wakeup(wakeup) => {
                self.sched.wakeup(&wakeup);
                self.graph.wakeup(&wakeup);
            }
            Event::Stack(stack) => self.samples.stack(&stack),
            Event::Sample(sample) => {
                let process = self.world.process_accounted(sample.tid, sample.pid);
                self.samples.sample(process, &sample);
            }
            Event::BlockIo(io) => {
                let process = io.pid.and_then(|pid| self.world.threads.find_process(pid));
                self.devices.see(&io, process);
            }
            Event::FileIo(io) => {
                self.window.see(io.first, io.last.since(io.first));
                let user = self.world.file_io(&io);
                self.devices.written(user, &io);
            }
            Event::Net(event) => self.net.see(&event),
            Event::ThreadCounts(counts) => self.thread_counts(&counts),
            Event::ThreadTotals(totals) => {
                let thread = self.world.thread_accounted(totals.tid, totals.pid);
                self.world.threads.thread_mut(thread).add_totals(&totals);
            }
            Event::Span(span) => {
                self.window.see(span.from, span.to.since(span.from));
                self.requests.span(&span);
                self.recording.span(span);
            }
            Event::Loss(loss) => self.recording.loss(loss),
            Event::Cost(cost) => self.recording.cost = Some(cost),
            Event::Source(info) => {
                self.world.source(&info);
                self.capture.sources.push(info);
            }
        }
    }
}

/// By time, then by count, the most first.
fn by_time(mut calls: Vec<(String, CallStats)>) -> Vec<(String, CallStats)> {
    calls.sort_by(|a, b| {
        (b.1.total_ns, b.1.count).cmp(&(a.1.total_ns, a.1.count)).then_with(|| a.0.cmp(&b.0))
    });
    calls
}

/// A count a second over a window, where the window's length is known and not nothing.
pub fn per_second(count: u64, from: Timestamp, to: Timestamp) -> Option<f64> {
    let seconds = to.since(from).as_secs_f64()?;
    (seconds > 0.0).then(|| count as f64 / seconds)
}
