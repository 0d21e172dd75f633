//! All facts of a capture or recording: the registry of folds, and how events reach them.

mod followed;

pub use followed::{FollowedFacts, SetApart};

use crate::folds::account::{CallKey, CutTime, Object, Objects};
use crate::folds::fold::{Fold, Interests};
use crate::world::Seen;
use crate::{
    block_io, capture, core_dumps, folds, host, net, pace, parked, pauses, profiles, quotas, recording,
    samples, sched, streams, window, world,
};
use whyslow_model::{
    Call, CallFlags, CallStats, CountTable, Event, PercentileTable, SaturatingSum, Sink, ThreadCounts,
};

/// The registry. A fold of `calls` implements [`Fold`] and gets the calls that it asks for; what `others` get, the
/// [`Sink`] below says. A new fold is its file, its `mod` line and its line here (`cargo xtask new fact NAME`).
macro_rules! facts {
    (
        calls { $($(#[$call_doc:meta])* $call:ident: $Call:ty,)* }
        others { $($(#[$other_doc:meta])* $other:ident: $Other:ty,)* }
    ) => {
        /// Everything that rules and views read.
        pub struct Facts {
            $($(#[$other_doc])* pub $other: $Other,)*
            $($(#[$call_doc])* pub $call: $Call,)*
            interests: Box<Interests>,
            has_accounts: bool,
            totals: Vec<(String, CallStats)>,
        }

        impl Default for Facts {
            fn default() -> Self {
                Facts::without("")
            }
        }

        impl Facts {
            /// Leaves out what the fold of that name tells, or `accounts`: to measure what it costs.
            pub fn without(left_out: &str) -> Facts {
                let mut facts = Facts {
                    $($other: Default::default(),)*
                    $($call: Default::default(),)*
                    interests: Box::new(Interests::NONE),
                    has_accounts: left_out != "accounts",
                    totals: Vec::new(),
                };
                $(if left_out != stringify!($call) {
                    facts.interests.add(&facts.$call, fold_number::$call);
                })*
                facts
            }
        }

        /// The folds of calls by number.
        #[allow(non_camel_case_types)]
        #[repr(u32)]
        enum FoldNumber { $($call),* }

        #[allow(non_upper_case_globals)]
        mod fold_number {
            $(pub(super) const $call: u32 = super::FoldNumber::$call as u32;)*
        }

        impl Facts {
            /// Shows a call to the folds that want it.
            #[inline]
            fn fold(&mut self, seen: &Seen<'_>) {
                let mut folds = self.interests.of(seen.call);
                while folds != 0 {
                    let number = folds.trailing_zeros();
                    folds &= folds - 1;
                    match number {
                        $(fold_number::$call => self.$call.call(seen, &self.world),)*
                        _ => {}
                    }
                }
            }
        }
    };
}

facts! {
    calls {
        /// Where threads waited.
        waits: folds::waits::LongestWaits,
        /// Units of useful work done.
        work: folds::work::Work,
        /// Calls over time.
        activity: folds::activity::Activity,
        /// Failed calls by error.
        errors: folds::errors::Errors,
        /// Names looked for in one directory after the other.
        searches: folds::searches::Searches,
        /// Processes forked and programs started.
        spawns: folds::spawns::Spawns,
        /// Programs of interpreters, and how long they load their code.
        starts: folds::starts::Starts,
        /// Loops that close all descriptors.
        close_loops: folds::closes::CloseLoops,
        /// Slow calls on local files.
        slow_files: folds::slow_files::SlowFiles,
        /// Payloads written twice.
        duplicates: folds::duplicates::Duplicates,
        /// Levels of log lines.
        log_levels: folds::log_levels::LogLevels,
        /// Whom the program talks to.
        peers: folds::peers::Peers,
        /// Signs of threads that the capture does not show.
        hidden: folds::hidden::Hidden,
        /// Calls refused for too many open descriptors.
        limits: folds::limits::LimitRefusals,
        /// Polls that spin.
        readiness: folds::readiness::Readiness,
        /// Threads that try again without waiting.
        again: folds::again::AgainSpins,
        /// Futexes.
        locks: folds::locks::Locks,
        /// Connections that waited for a thread that sleeps.
        late_accepts: folds::late_accepts::AcceptsAfterSleeps,
        /// Sleeps of a fixed length.
        sleeps: folds::sleeps::Sleeps,
        /// Clock reads and yields.
        busy: folds::busy::Busy,
        /// Memory taken and given back.
        memory: folds::memory::Memory,
        /// What is asked on connections, of this program and by it.
        requests: folds::requests::Requests,
        /// Who waits for whom.
        graph: folds::graph::Graph,
        /// Signals by which one process tells another to go on.
        nudges: folds::nudges::Nudges,
        /// Locks on files and semaphores.
        file_locks: folds::file_locks::FileLocks,
        /// Requests and answers by the order of writes and reads.
        exchanges: folds::exchanges::ExchangeFacts,
        /// Event loops.
        loops: folds::loops::Loops,
        /// Names asked of a name server.
        dns_names: folds::dns_names::DnsNames,
        /// Names asked for by address.
        reverse_names: folds::reverse_names::ReverseNames,
        /// Condition variables waited for in steps.
        gil: folds::gil::SteppedLocks,
        /// Locks by who wakes whom.
        handoffs: folds::handoffs::Handoffs,
        /// Wake-ups for connections that others took.
        herds: folds::herds::Herds,
        /// Polls of many descriptors.
        wide_polls: folds::wide_polls::WidePollFacts,
        /// Files copied to sockets by reads and writes.
        copies: folds::copies::CopyLoops,
        /// What threads did with what they read from files.
        readings: folds::readings::Readings,
        /// Answers that the program takes from servers.
        answers: folds::answers::TakenAnswers,
        /// Waits for random numbers.
        entropy: folds::entropy::Entropy,
        /// Sockets with small buffers.
        small_buffers: folds::small_buffers::SmallBuffers,
        /// Answers on connections that were idle before.
        idle_answers: folds::idle_answers::IdleAnswers,
        /// Threads that are of other processes than they were taken for.
        strangers: folds::strangers::Strangers,
        /// When messages left and came on connections between hosts.
        turns: folds::turns::ConnectionTurnFacts,
        /// Files that were written anew, synced and renamed into place.
        safe_saves: folds::safe_saves::SafeSaves,
        /// Writes of parts of pages, out of order.
        page_parts: folds::page_parts::PageParts,
    }
    others {
        /// Threads, processes, descriptors and files.
        world: world::World,
        /// How each thread spent its time.
        accounts: folds::account::Accounts,
        /// What the capture is, and what it cannot show.
        capture: capture::CaptureFacts,
        /// What a recording says about itself.
        recording: recording::RecordingFacts,
        /// Who was taken into it because the target waits for it.
        followed: followed::FollowedFacts,
        /// First and last time seen.
        window: window::Window,
        /// Tables of counts among the inputs.
        tables: Vec<CountTable>,
        /// Tables of percentiles of requests among the inputs.
        percentiles: Vec<PercentileTable>,
        /// The scheduler's account.
        sched: sched::Sched,
        /// Stacks of running and of waiting threads.
        samples: samples::Samples,
        /// Pauses for full collections of memory.
        stopped: pauses::StoppedFacts,
        /// Core dumps of children.
        core_dumps: core_dumps::CoreDumps,
        /// Goroutines that wait on no thread.
        parked: parked::ParkedFacts,
        /// Profiles by kind of cost; of samples once [`Facts::finish`] was called.
        profiles: profiles::Profiles,
        /// Block devices.
        devices: block_io::Devices,
        /// TCP connections as the kernel sees them.
        net: net::Net,
        /// The host by figures.
        host: host::Host,
        /// Control groups that their CPU quota stopped.
        quotas: quotas::Quotas,
        /// What a tracer adds to each call; known once [`Facts::finish`] was called.
        pace: pace::Pace,
        /// Peers on the same host with who listens there, as [`Facts::peer_words`] tells them.
        local_peers: hashbrown::HashMap<Box<str>, Box<str>>,
        /// What was read and written in one place; known once [`Facts::finish`] was called.
        streams: Vec<streams::Stream>,
        /// The same of files whose calls the kernel added up, and of which few were seen one by one; after [`Facts::finish`].
        summed: Vec<streams::Stream>,
    }
}

impl Facts {
    /// Keeps when messages left and came on connections between hosts ([`folds::turns`]).
    pub fn keep_turns(&mut self) {
        self.turns.keep();
        self.interests.add(&self.turns, fold_number::turns);
    }

    /// Takes calls of different hosts, whose clocks agree to so many ns, for joined where they are so far apart.
    pub fn tolerate_clocks(&mut self, ns: u64) {
        self.graph.tolerate_clocks(ns);
    }

    /// Keeps each piece of the threads' time, of those that are kept apart too, for [`Facts::take_cuts`].
    pub fn keep_cuts(&mut self) {
        self.accounts.keep_cuts();
        self.followed.keep_cuts();
    }

    /// Gives the pieces of time that the accounts took since it was asked last, with what time is spent on.
    pub fn take_cuts(&mut self, mut take: impl FnMut(&Objects, &CutTime)) {
        self.accounts.take_cuts(&mut take);
        if let Some(apart) = self.followed.apart_mut() {
            apart.accounts.take_cuts(take);
        }
    }

    /// In which way the call that was pushed last spends its time, with what that is spent on; `None` where no account has it, and
    /// where it was asked before.
    pub fn take_last_spent(&mut self) -> Option<(CallKey, &Object)> {
        if let Some(key) = self.accounts.take_last() {
            return Some((key, self.accounts.objects.get(key.object)));
        }
        let apart = self.followed.apart_mut()?;
        let key = apart.accounts.take_last()?;
        Some((key, apart.accounts.objects.get(key.object)))
    }

    /// To be called once, after the last event.
    pub fn finish(&mut self) {
        self.followed.finish();
        // A log's clock need not be that of a trace beside it.
        if !self.window.start.is_known() {
            self.window = self.requests.of_logs().window;
        }
        self.close_accounts();
        self.world.finish();
        self.graph.finish(&self.world, &self.capture, self.window.end);
        self.accounts.finish(&self.world, self.window.end);
        self.quotas.finish(&mut self.world.threads, &self.graph, self.sched.cpus());
        self.capture.remark_bounds(&self.world);
        self.peers.finish(&self.world);
        self.requests.finish(&self.world, self.window.end);
        self.work.answered(self.requests.answered());
        self.handoffs.finish(&self.locks, &self.requests, &self.recording);
        self.streams = streams::streams(&self.world);
        self.summed = streams::summed(&self.world);
        self.name_local_peers();
        self.totals = self.sum_up();
        self.stopped.finish();
        self.profile_samples();
        // A recorder with the scheduler's account stops no thread.
        if self.sched.stretches == 0 {
            self.pace = pace::Pace::of(&self.world.threads, self.window.length());
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
        if self.has_accounts {
            let spent = self.accounts.call(&seen, &self.graph, &self.world);
            let this = spent.this.map(|object| (call.ts, call.end(), object));
            let before = spent.before.map(|(from, object)| (from, call.ts, object));
            for (from, to, object) in this.into_iter().chain(before) {
                self.graph.spent_on(call.tid, from, object);
                self.samples.waited(call.tid, from, to, object);
            }
        }
        if let Some(back) = self.graph.handed_back() {
            self.requests.handed_back(&back, &mut self.world.threads, &self.graph);
        }
        if let Some(fd) = self.graph.wants_request() {
            let asked = self.waits.last_sent(seen.thread, fd);
            self.graph.request(asked);
        }
    }

    /// True where most calls were only counted, by thread and kind: sums say more of them than the few that were recorded one by one.
    pub fn mostly_counted(&self) -> bool {
        self.world.counted > self.world.calls
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
            self.tables.iter().filter(|table| !table.library).filter_map(CountTable::calls).saturating_sum();
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
            .saturating_sum()
    }

    /// Units of useful work, of the trace; of the tables where there is no trace.
    pub fn work_done(&self) -> folds::work::Work {
        if self.world.calls > 0 { self.work } else { folds::work::Work::of_counts(&self.table_syscalls()) }
    }

    /// All calls, of the trace or of the tables.
    pub fn total_calls(&self) -> u64 {
        if self.world.calls > 0 {
            return self.world.calls;
        }
        self.tables.iter().filter_map(CountTable::calls).chain([self.world.counted]).saturating_sum()
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
    #[inline]
    fn push(&mut self, event: Event<'_>) {
        if !self.followed.keeps_apart() {
            self.take(event);
        } else if let Some(own) = self.followed.take(event, &self.world) {
            self.take(own);
        }
    }
}

impl Facts {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Call(call) => {
                self.call(call);
                self.core_dumps.call(call, &self.world);
            }
            Event::Enter(call) => self.world.enter(call),
            Event::Signal(signal) => {
                self.window.see(signal.ts, whyslow_model::Nanos::UNKNOWN);
                self.world.signal(&signal);
                self.core_dumps.signal(&signal, &self.world);
            }
            Event::Exit(exit) => {
                self.window.see(exit.ts, whyslow_model::Nanos::UNKNOWN);
                self.graph.exit(&exit);
                let closes = self.world.closed_by_exit(exit.tid);
                if !closes.is_empty() {
                    let last = self.world.threads.last_of(exit.tid);
                    self.graph.closed_by_exit(&closes, last, &exit, &self.world);
                }
                self.core_dumps.exit(&exit);
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
                let of = self.world.threads.thread_mut(thread);
                of.stretch(&stretch);
                let process = of.process;
                if self.has_accounts && !self.world.threads.is_rest(thread) {
                    self.accounts.stretch(thread, process, &stretch);
                }
                self.graph.stretch(&stretch);
            }
            Event::Wakeup(wakeup) => {
                self.sched.wakeup(&wakeup);
                self.graph.wakeup(&wakeup);
            }
            Event::Stack(stack) => {
                self.stopped.stack(&stack);
                self.samples.stack(&stack);
            }
            Event::Sample(sample) => {
                let process = self.world.process_accounted(sample.tid, sample.pid);
                self.stopped.sample(process, &sample);
                self.samples.sample(process, &sample);
            }
            Event::CallStack(made) => {
                let process = self.world.process_accounted(made.tid, made.pid);
                self.samples.call_stack(process, &made);
            }
            Event::BlockIo(io) => {
                let process = io.pid.and_then(|pid| self.world.threads.find_process(pid));
                self.devices.see(&io, process);
            }
            Event::FileIo(io) => {
                self.window.see(io.first, io.last.since(io.first));
                let user = self.world.file_io(&io);
                self.peers.counted.see(user.process, &io);
                self.devices.written(user, &io);
            }
            Event::Meanwhile(one) => {
                let thread = self.world.thread_accounted(one.tid, one.pid);
                self.world.threads.thread_mut(thread).meanwhile.get_or_insert_default().see(&one);
            }
            Event::Parked(parked) => self.parked.see(*parked),
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
            Event::Followed(followed) => self.followed.see(*followed),
            Event::Trace(start) => {
                self.world.trace(&start);
                self.capture.traces.push(*start);
            }
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
