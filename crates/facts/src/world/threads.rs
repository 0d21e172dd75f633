//! Threads and processes: who they are, what they called, how long it took.

use crate::args::WaitKind;
use crate::call_table::CallTable;
use crate::exemplar::Exemplar;
use crate::sched::SchedTime;
use crate::world::ids::{ProcessId, ThreadId};
use crate::world::runners::Runners;
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{
    Call, CallStats, Nanos, ProgramName, SaturatingSum, SourceId, Stretch, Syscall, ThreadTotals, Timestamp,
};

/// What is known of one thread.
#[derive(Debug)]
pub struct ThreadFacts {
    /// Its number; 0 where the capture shows none.
    pub tid: Tid,
    /// Its process.
    pub process: ProcessId,
    /// The source of its first call.
    pub source: SourceId,
    /// Nothing told of which process it is: it was taken for one of its trace's.
    pub guessed: bool,
    /// Its name, if a source shows it.
    pub comm: Option<Box<str>>,
    /// Its first event.
    pub first: Timestamp,
    /// The end of its last event.
    pub last: Timestamp,
    /// When its last call began.
    pub last_call: Timestamp,
    /// Calls.
    pub calls: u64,
    /// By syscall.
    pub by_syscall: CallTable,
    /// Time in waiting calls by kind, ns.
    pub waiting_ns: [u64; WaitKind::COUNT],
    /// Time in calls that do work, ns.
    pub working_ns: u64,
    /// Calls that moved data or took a connection: while it stays, a loop gets nothing done.
    pub useful: u64,
    /// It ended within the capture.
    pub exited: bool,
    /// How many threads are merged here: 1, or more for the rest of many short-lived ones.
    pub merged: u64,
    /// True where these were of several processes, all of one control group.
    pub merged_processes: bool,
    /// Its time by the scheduler's account, where a recorder saw it.
    pub sched: Option<Box<SchedTime>>,
    /// Who had the CPUs that it waited for, where a recorder saw it.
    pub meanwhile: Option<Box<Runners>>,
    /// Page faults and switches, where a recorder counted them.
    pub totals: Option<Box<ThreadTotals>>,
    /// Calls that were only counted, while others were recorded one by one.
    pub counted: Option<Box<CallTable>>,
    /// Calls that begin before the one before has ended: a thread does one at a time, so times or durations are wrong.
    pub overlaps: Option<Box<Overlaps>>,
    /// Of its life, the time in which each call was recorded; unknown where that is all of it.
    pub(crate) in_full: Nanos,
}

impl ThreadFacts {
    fn new(tid: Tid, process: ProcessId) -> ThreadFacts {
        ThreadFacts {
            tid,
            process,
            source: SourceId::default(),
            guessed: false,
            comm: None,
            first: Timestamp::UNKNOWN,
            last: Timestamp::UNKNOWN,
            last_call: Timestamp::UNKNOWN,
            calls: 0,
            by_syscall: CallTable::default(),
            waiting_ns: [0; WaitKind::COUNT],
            working_ns: 0,
            useful: 0,
            exited: false,
            merged: 1,
            merged_processes: false,
            sched: None,
            meanwhile: None,
            totals: None,
            counted: None,
            overlaps: None,
            in_full: Nanos::UNKNOWN,
        }
    }

    /// From its first to its last event, without the time in which calls were not recorded one by one; unknown
    /// without a clock.
    pub fn wall(&self) -> Nanos {
        if self.in_full.or_zero() > 0 { self.in_full } else { self.last.since(self.first) }
    }

    /// True where it was seen to call or to run.
    pub fn is_active(&self) -> bool {
        self.calls > 0 || self.sched.is_some() || self.counted.is_some()
    }

    /// Calls by syscall, those that were only counted too.
    pub fn all_calls(&self) -> impl Iterator<Item = (Syscall, &CallStats)> {
        self.by_syscall.iter().chain(self.counted.iter().flat_map(|table| table.iter()))
    }

    pub(crate) fn stretch(&mut self, stretch: &Stretch) {
        let time = self.sched.get_or_insert_default();
        time.stretch(stretch);
        if let Some(begin) = stretch.ts.get() {
            let begin =
                begin.saturating_sub(stretch.runnable.or_zero()).saturating_sub(stretch.blocked.or_zero());
            self.first = Timestamp::new(self.first.get().map_or(begin, |first| first.min(begin)));
        }
        self.see(stretch.ts, stretch.on_cpu);
    }

    /// The scheduler's account up to `end`, when the recording ended.
    pub(crate) fn finish_sched(&mut self, end: Timestamp) {
        if let Some(time) = self.sched.as_deref_mut().filter(|_| !self.exited) {
            time.finish(end);
            self.see(end, Nanos::ZERO);
        }
    }

    /// Adds the totals of a thread; each figure is known where one of its parts is.
    pub(crate) fn add_totals(&mut self, more: &ThreadTotals) {
        let totals = self.totals.get_or_insert_default();
        (totals.pid, totals.tid) = (more.pid, more.tid);
        for (sum, part) in [
            (&mut totals.page_faults, more.page_faults),
            (&mut totals.major_faults, more.major_faults),
            (&mut totals.voluntary_switches, more.voluntary_switches),
            (&mut totals.involuntary_switches, more.involuntary_switches),
        ] {
            *sum = match (*sum, part) {
                (Some(a), Some(b)) => Some(a.saturating_add(b)),
                (a, b) => a.or(b),
            };
        }
    }

    /// Time in waiting calls, ns.
    pub fn waiting_total(&self) -> u64 {
        self.waiting_ns.iter().copied().saturating_sum()
    }

    /// Counts a call that begins before what was seen of the thread before has ended.
    #[inline]
    pub(crate) fn hold_against_last(&mut self, call: &Call<'_>) {
        if let (Some(begin), Some(last)) = (call.ts.get(), self.last.get())
            && begin.saturating_add(ROUNDING_NS) < last
        {
            self.overlaps_by(last - begin, call);
        }
    }

    #[cold]
    fn overlaps_by(&mut self, ns: u64, call: &Call<'_>) {
        let exemplar =
            || Box::new(Overlaps { count: 0, time_ns: 0, longest_ns: 0, exemplar: Exemplar::of(call) });
        let overlaps = self.overlaps.get_or_insert_with(exemplar);
        overlaps.count += 1;
        if ns > overlaps.longest_ns {
            overlaps.longest_ns = ns;
            overlaps.exemplar = Exemplar::of(call);
        }
        overlaps.time_ns = overlaps.time_ns.saturating_add(ns);
    }

    #[inline]
    pub(crate) fn see(&mut self, ts: Timestamp, dur: Nanos) {
        if let Some(start) = ts.get() {
            if !self.first.is_known() {
                self.first = ts;
            }
            let end = Timestamp::new(start.saturating_add(dur.or_zero()).min(u64::MAX - 1));
            if self.last.get().is_none_or(|last| end.get() > Some(last)) {
                self.last = end;
            }
        }
    }
}

/// Calls of one thread that overlap by their times.
#[derive(Debug)]
pub struct Overlaps {
    /// How many.
    pub count: u64,
    /// By how much in all, ns.
    pub time_ns: u64,
    /// The longest of them, ns.
    pub longest_ns: u64,
    /// That one.
    pub exemplar: Exemplar,
}

/// Times of a trace are in whole microseconds; reading the clock twice takes some more.
const ROUNDING_NS: u64 = 100_000;

/// What is known of one process.
#[derive(Debug)]
pub struct ProcessFacts {
    /// Its number, if known.
    pub pid: Option<Tid>,
    /// Its name, if a source shows it.
    pub comm: Option<Box<str>>,
    /// The program it executed last, within the capture.
    pub exe: Option<Box<str>>,
    /// What its arguments tell of its name.
    pub(crate) started_as: ProgramName,
    /// User name or number.
    pub user: Option<Box<str>>,
    /// Its control group, if a source shows it.
    pub cgroup: Option<Box<str>>,
    /// The id of its container, if a source shows one: the first 12 digits.
    pub container: Option<Box<str>>,
    /// The process that started it, within the capture.
    pub parent: Option<ProcessId>,
    /// The number of the process that started it, also before the capture, if a source tells it.
    pub parent_pid: Option<Tid>,
    /// Working directory.
    pub cwd: Option<Box<str>>,
    /// Threads seen.
    pub threads: u32,
    /// Threads that have not ended.
    pub(crate) living: u32,
    /// Calls of its threads that moved data or took a connection, without those that only wake one of them.
    pub useful: u64,
    /// Its start (fork or exec) is in the capture.
    pub started: bool,
    /// When its first event was.
    pub first: Timestamp,
    /// It ended within the capture.
    pub exited: bool,
    /// Its open descriptors.
    pub slots: crate::world::slots::Slots,
}

impl ProcessFacts {
    fn new(pid: Option<Tid>) -> ProcessFacts {
        ProcessFacts {
            pid,
            comm: None,
            exe: None,
            started_as: ProgramName::default(),
            user: None,
            cgroup: None,
            container: None,
            parent: None,
            parent_pid: None,
            cwd: None,
            threads: 0,
            living: 0,
            useful: 0,
            started: false,
            first: Timestamp::UNKNOWN,
            exited: false,
            slots: Default::default(),
        }
    }

    /// The best name there is: of an interpreter the script's, else the program's.
    pub fn name(&self) -> Option<&str> {
        self.started_as.script.as_deref().or_else(|| self.program())
    }

    /// The program's name: the one it was started under, its file's, or the name a source shows.
    pub fn program(&self) -> Option<&str> {
        if self.started_as.under.is_some() {
            return self.started_as.under.as_deref();
        }
        self.exe.as_deref().map(|exe| exe.rsplit('/').next().unwrap_or(exe)).or(self.comm.as_deref())
    }
}

/// All threads and processes. Bounded: of very many short-lived threads the ended ones are merged into one
/// row a process, and ended processes into their parent's number.
#[derive(Debug)]
pub struct Threads {
    threads: Vec<ThreadFacts>,
    processes: Vec<ProcessFacts>,
    by_tid: HashMap<Tid, ThreadId, foldhash::fast::RandomState>,
    by_pid: HashMap<Tid, ProcessId, foldhash::fast::RandomState>,
    recent: [(Tid, u32); 64],
    free: Vec<ThreadId>,
    /// Of threads that ended and were not merged since: by number.
    gone: HashMap<Tid, ThreadId, foldhash::fast::RandomState>,
    /// The last ended process of each number: no more than there are processes.
    ended_processes: HashMap<Tid, (ProcessId, Timestamp), foldhash::fast::RandomState>,
    /// Threads that ended since the last merge.
    ended: usize,
    living_processes: usize,
    rest: Option<ThreadId>,
    /// Threads that were merged away.
    pub merged_threads: u64,
}

impl Default for Threads {
    fn default() -> Self {
        Threads {
            threads: Vec::new(),
            processes: Vec::new(),
            by_tid: HashMap::default(),
            by_pid: HashMap::default(),
            recent: [(0, u32::MAX); 64],
            free: Vec::new(),
            gone: HashMap::default(),
            ended_processes: HashMap::default(),
            ended: 0,
            living_processes: 0,
            rest: None,
            merged_threads: 0,
        }
    }
}

impl Threads {
    /// Past this many, ended threads are merged. A thread's row is about 3 KiB with its histograms.
    const MAX_THREADS: usize = 2048;
    /// Past this many, further threads share one row, [`Threads::rest`].
    const MAX_LIVING: usize = 6144;
    /// Past this many, ended ones among them, the threads of further processes do.
    const MAX_PROCESSES: usize = 1 << 15;

    /// The living thread of that number.
    #[inline]
    pub fn find(&mut self, tid: Tid) -> Option<ThreadId> {
        let slot = &mut self.recent[tid as usize % 64];
        if slot.0 == tid && slot.1 != u32::MAX {
            return Some(ThreadId(slot.1));
        }
        let found = *self.by_tid.get(&tid)?;
        *slot = (tid, found.0);
        Some(found)
    }

    /// The last thread of that number, living or ended.
    pub fn thread_of(&self, tid: Tid) -> Option<&ThreadFacts> {
        Some(self.thread(self.id_of(tid)?))
    }

    /// Its place.
    pub fn id_of(&self, tid: Tid) -> Option<ThreadId> {
        self.by_tid.get(&tid).or_else(|| self.gone.get(&tid)).copied()
    }

    /// The last that was seen of the living thread of that number.
    pub(crate) fn last_of(&mut self, tid: Tid) -> Timestamp {
        self.find(tid).map_or(Timestamp::UNKNOWN, |id| self.thread(id).last)
    }

    /// Whether a thread of that number was seen, and its row was not merged since.
    pub(crate) fn has_seen(&self, tid: Tid) -> bool {
        self.by_tid.contains_key(&tid) || self.gone.contains_key(&tid)
    }

    /// The last thread of that number, where it has ended.
    pub(crate) fn find_ended(&self, tid: Tid) -> Option<ThreadId> {
        self.gone.get(&tid).copied()
    }

    /// The process of that number.
    pub fn find_process(&self, pid: Tid) -> Option<ProcessId> {
        self.by_pid.get(&pid).copied()
    }

    /// The last process of that number, living or ended: who tells of a process after all is read means it whether it ended or not.
    pub fn last_process(&self, pid: Tid) -> Option<ProcessId> {
        self.find_process(pid).or_else(|| self.find_ended_process(pid).map(|(process, _)| process))
    }

    /// Whether another thread has a row of its own.
    pub(crate) fn have_room(&mut self) -> bool {
        let full = |threads: &Self, most| threads.free.is_empty() && threads.threads.len() >= most;
        // Merging looks at all threads: it is put off until it is worth that.
        if full(self, Self::MAX_THREADS) && self.ended >= self.threads.len() / 8 {
            self.merge_exited();
        }
        !full(self, Self::MAX_LIVING)
    }

    /// Whether there is no room for another process.
    pub(crate) fn processes_are_full(&self) -> bool {
        self.processes.len() >= Self::MAX_PROCESSES
    }

    /// Processes that have not ended.
    pub(crate) fn living_processes(&self) -> usize {
        self.living_processes
    }

    /// The row that all threads share for which there is no room.
    pub(crate) fn rest(&mut self) -> ThreadId {
        if let Some(rest) = self.rest {
            return rest;
        }
        let mut process = ProcessFacts::new(None);
        process.comm = Some("(other threads)".into());
        (process.threads, process.living) = (1, 1);
        self.processes.push(process);
        self.threads.push(ThreadFacts::new(0, ProcessId(self.processes.len() as u32 - 1)));
        *self.rest.insert(ThreadId(self.threads.len() as u32 - 1))
    }

    /// Whether it is the row of many threads.
    pub(crate) fn is_rest(&self, id: ThreadId) -> bool {
        self.rest == Some(id)
    }

    /// Calls of threads that share one row, because there are too many.
    pub fn rest_calls(&self) -> u64 {
        self.rest.map_or(0, |rest| self.thread(rest).calls)
    }

    /// A new thread of `process`.
    pub(crate) fn add_thread(&mut self, tid: Tid, process: ProcessId) -> ThreadId {
        if !self.have_room() {
            return self.rest();
        }
        let thread = ThreadFacts::new(tid, process);
        let id = match self.free.pop() {
            Some(id) => {
                self.threads[id.0 as usize] = thread;
                id
            }
            None => {
                self.threads.push(thread);
                ThreadId(self.threads.len() as u32 - 1)
            }
        };
        let owner = &mut self.processes[process.0 as usize];
        owner.threads += 1;
        owner.living += 1;
        self.by_tid.insert(tid, id);
        self.recent[tid as usize % 64] = (tid, id.0);
        id
    }

    /// A new process; the one of [`Threads::rest`] where there are too many.
    pub(crate) fn add_process(&mut self, pid: Option<Tid>) -> ProcessId {
        if self.processes_are_full() {
            let rest = self.rest();
            return self.thread(rest).process;
        }
        self.processes.push(ProcessFacts::new(pid));
        self.living_processes += 1;
        let id = ProcessId(self.processes.len() as u32 - 1);
        if let Some(pid) = pid {
            self.by_pid.insert(pid, id);
        }
        id
    }

    pub(crate) fn set_pid(&mut self, process: ProcessId, pid: Tid) {
        self.processes[process.0 as usize].pid = Some(pid);
        self.by_pid.insert(pid, process);
    }

    /// The thread ended: its number may come again for another one.
    pub(crate) fn thread_exited(&mut self, id: ThreadId) {
        let thread = &mut self.threads[id.0 as usize];
        if thread.exited {
            return;
        }
        thread.exited = true;
        self.ended += 1;
        let tid = thread.tid;
        self.gone.insert(tid, id);
        let owner = &mut self.processes[thread.process.0 as usize];
        owner.living = owner.living.saturating_sub(1);
        if self.by_tid.get(&tid) == Some(&id) {
            self.by_tid.remove(&tid);
        }
        let slot = &mut self.recent[tid as usize % 64];
        if slot.1 == id.0 {
            *slot = (0, u32::MAX);
        }
    }

    /// The last process of that number, where it has ended, and when.
    pub(crate) fn find_ended_process(&self, pid: Tid) -> Option<(ProcessId, Timestamp)> {
        self.ended_processes.get(&pid).copied()
    }

    pub(crate) fn process_exited(&mut self, id: ProcessId, at: Timestamp) {
        let process = &mut self.processes[id.0 as usize];
        self.living_processes = self.living_processes.saturating_sub(!process.exited as usize);
        process.exited = true;
        if let Some(pid) = process.pid
            && self.by_pid.get(&pid) == Some(&id)
        {
            self.by_pid.remove(&pid);
            self.ended_processes.insert(pid, (id, at));
        }
    }

    /// Merges the ended threads of each process into its first ended one, and frees the rest.
    fn merge_exited(&mut self) {
        // Processes that ended are merged too: thousands of short-lived children of one control group are one row.
        let mut keeper: HashMap<(Option<ProcessId>, Option<Box<str>>), usize> = HashMap::new();
        self.ended = 0;
        self.gone.clear();
        for at in 0..self.threads.len() {
            if !self.threads[at].exited || self.threads[at].merged == 0 {
                continue;
            }
            let process = self.threads[at].process;
            let owner = &self.processes[process.0 as usize];
            let key = if owner.exited { (None, owner.cgroup.clone()) } else { (Some(process), None) };
            let into = *keeper.entry(key).or_insert(at);
            if into == at {
                continue;
            }
            let (left, right) = self.threads.split_at_mut(at);
            let (kept, gone) = (&mut left[into], &mut right[0]);
            kept.calls = kept.calls.saturating_add(gone.calls);
            kept.by_syscall.merge(&gone.by_syscall);
            for (mine, theirs) in kept.waiting_ns.iter_mut().zip(gone.waiting_ns) {
                *mine = mine.saturating_add(theirs);
            }
            kept.working_ns = kept.working_ns.saturating_add(gone.working_ns);
            kept.useful += gone.useful;
            kept.merged += gone.merged;
            kept.merged_processes |= gone.merged_processes || kept.process != process;
            if let Some(theirs) = gone.sched.take() {
                match kept.sched.as_deref_mut() {
                    Some(mine) => mine.merge(&theirs),
                    None => kept.sched = Some(theirs),
                }
            }
            if let Some(theirs) = gone.meanwhile.take() {
                kept.meanwhile.get_or_insert_default().merge(*theirs);
            }
            if let Some(theirs) = gone.totals.take() {
                kept.add_totals(&theirs);
            }
            if let Some(theirs) = gone.counted.take() {
                kept.counted.get_or_insert_default().merge(&theirs);
            }
            self.merged_threads += gone.merged;
            // Lifetimes of merged threads do not add up to one wall time.
            kept.first = Timestamp::UNKNOWN;
            kept.last = Timestamp::UNKNOWN;
            *gone = ThreadFacts::new(0, process);
            gone.exited = true;
            gone.merged = 0;
            self.free.push(ThreadId(at as u32));
        }
    }

    /// A thread.
    #[inline]
    pub fn thread(&self, id: ThreadId) -> &ThreadFacts {
        &self.threads[id.0 as usize]
    }
    #[inline]
    pub(crate) fn thread_mut(&mut self, id: ThreadId) -> &mut ThreadFacts {
        &mut self.threads[id.0 as usize]
    }
    /// A process.
    #[inline]
    pub fn process(&self, id: ProcessId) -> &ProcessFacts {
        &self.processes[id.0 as usize]
    }
    /// The process, where there is one of that number.
    pub fn known_process(&self, id: ProcessId) -> Option<&ProcessFacts> {
        self.processes.get(id.0 as usize)
    }
    /// All threads, to close their accounts.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut ThreadFacts> {
        self.threads.iter_mut().filter(|thread| thread.merged > 0)
    }
    #[inline]
    pub(crate) fn process_mut(&mut self, id: ProcessId) -> &mut ProcessFacts {
        &mut self.processes[id.0 as usize]
    }
    /// All threads that were seen to do something.
    pub fn iter(&self) -> impl Iterator<Item = (ThreadId, &ThreadFacts)> {
        self.threads
            .iter()
            .enumerate()
            .filter(|(_, thread)| thread.merged > 0)
            .map(|(i, thread)| (ThreadId(i as u32), thread))
    }
    /// All processes.
    pub fn processes(&self) -> impl Iterator<Item = (ProcessId, &ProcessFacts)> {
        self.processes.iter().enumerate().map(|(i, process)| (ProcessId(i as u32), process))
    }
}
