//! Threads and processes: how they begin, fork, execute and end.

use super::*;

impl World {
    #[inline]
    pub(super) fn thread_of(&mut self, call: &Call<'_>) -> ThreadId {
        match self.threads.find(call.tid) {
            Some(thread) => thread,
            None => {
                let thread = match call.pid {
                    Some(pid) => self.thread_behind_its_end(call, pid),
                    None => self.new_thread(call.tid, call.source, Some(call.syscall)),
                };
                self.threads.thread_mut(thread).source = call.source;
                thread
            }
        }
    }

    /// A trace begins beside others: whose threads it has, as far as its file tells.
    pub(crate) fn trace(&mut self, start: &TraceStart) {
        self.families.insert(start.source, start.family);
        if let Some(name) = &start.name {
            self.trace_names.entry(start.family).or_insert(name.as_str().into());
        }
        let Some(pid) = start.pid else { return };
        let process = self.process_numbered(pid);
        self.roots.entry(start.family).or_insert(Root { process, guessed: false });
    }

    /// That thread is the first of a process, which has no threads of unknown origin.
    pub(crate) fn know_first_thread(&mut self, tid: Tid) {
        self.process_numbered(tid);
        self.first_threads.insert(tid);
    }

    /// A process that nothing else names is called as the file of its trace.
    pub(super) fn name_by_traces(&mut self) {
        let named = |(_, thread): (ThreadId, &ThreadFacts)| {
            let name = self.trace_names.get(&self.family(thread.source))?;
            let is_nameless = self.threads.known_process(thread.process)?.name().is_none();
            (is_nameless && thread.is_active()).then(|| (thread.process, name.clone()))
        };
        let named: Vec<_> = self.threads.iter().filter_map(named).collect();
        for (process, name) in named {
            self.threads.process_mut(process).comm = Some(name);
            self.named_by_trace.insert(process);
        }
    }

    /// True for a process of which only the name of its trace's file tells what it is called.
    pub fn is_named_by_trace(&self, process: ProcessId) -> bool {
        self.named_by_trace.contains(&process)
    }

    /// The family of a trace: all sources that nobody told of are one.
    fn family(&self, source: SourceId) -> SourceId {
        /// No trace has this number: readers count from 0.
        const ALL: SourceId = SourceId(u16::MAX);
        self.families.get(&source).copied().unwrap_or(ALL)
    }

    /// A call that was under way at the end of its thread is told behind that end.
    #[cold]
    fn thread_behind_its_end(&mut self, call: &Call<'_>, pid: Tid) -> ThreadId {
        let began_before = |end: Timestamp| call.ts.is_known() && call.ts <= end;
        match (self.threads.find_ended(call.tid), self.threads.find_ended_process(pid)) {
            (Some(ended), _) if began_before(self.threads.thread(ended).last) => {
                self.thread_accounted(call.tid, pid)
            }
            (None, Some((process, end))) if began_before(end) && self.threads.find_process(pid).is_none() => {
                let thread = self.add_told_thread(call.tid, process);
                self.threads.thread_exited(thread);
                thread
            }
            _ => self.thread_numbered(call.tid, pid),
        }
    }

    /// The thread `tid` of the process `pid`, where a source tells both.
    #[inline]
    pub(crate) fn thread_numbered(&mut self, tid: Tid, pid: Tid) -> ThreadId {
        match self.threads.find(tid) {
            Some(thread) => thread,
            None => self.new_thread_of(tid, pid),
        }
    }

    /// The thread that an account is of: the scheduler still sees a thread for a while after its end was told.
    pub(crate) fn thread_accounted(&mut self, tid: Tid, pid: Tid) -> ThreadId {
        if let Some(thread) = self.threads.find(tid) {
            return thread;
        }
        match self.threads.find_ended(tid) {
            // Unless another of its number has begun.
            Some(ended)
                if !self.unborn.contains_key(&tid)
                    && !self.told_threads.contains_key(&tid)
                    && self
                        .threads
                        .find_process(pid)
                        .is_none_or(|process| process == self.threads.thread(ended).process) =>
            {
                ended
            }
            _ => self.new_thread_of(tid, pid),
        }
    }

    #[cold]
    fn new_thread_of(&mut self, tid: Tid, pid: Tid) -> ThreadId {
        if !self.threads.have_room() {
            return self.threads.rest();
        }
        let thread = match self.unborn.remove(&tid) {
            Some(unborn) => self.be_born(tid, unborn.parent, unborn.is_thread, unborn.slots),
            None => {
                let process = self.process_numbered(pid);
                let family = self.family(SourceId::default());
                self.roots.entry(family).or_insert(Root { process, guessed: false });
                self.threads.add_thread(tid, process)
            }
        };
        let name = self.told_threads.remove(&tid).map(|(_, name)| name);
        self.threads.thread_mut(thread).comm = name;
        thread
    }

    /// A thread that a list of them may have told of before it was seen to do something.
    fn add_told_thread(&mut self, tid: Tid, process: ProcessId) -> ThreadId {
        let thread = self.threads.add_thread(tid, process);
        if let Some((_, name)) = self.told_threads.remove(&tid) {
            self.threads.thread_mut(thread).comm = Some(name);
        }
        thread
    }

    /// A thread seen for the first time: a child of a known clone, or of the process that is traced.
    #[cold]
    pub(super) fn new_thread(&mut self, tid: Tid, source: SourceId, first_call: Option<Syscall>) -> ThreadId {
        if !self.threads.have_room() {
            return self.threads.rest();
        }
        if let Some(unborn) = self.unborn.remove(&tid) {
            return self.be_born(tid, unborn.parent, unborn.is_thread, unborn.slots);
        }
        let family = self.family(source);
        let told = |process| Root { process, guessed: false };
        // A snapshot of threads (`lsof -K`) tells which process each is of; a trace of several does not.
        if let Some((process, name)) = self.told_threads.remove(&tid) {
            self.roots.entry(family).or_insert(told(process));
            let thread = self.threads.add_thread(tid, process);
            self.threads.thread_mut(thread).comm = Some(name);
            return thread;
        }
        let is_its = |(parent, _, child): &&(ThreadId, bool, Option<Tid>)| {
            child.is_none() && self.family(self.threads.thread(*parent).source) == family
        };
        if let Some(at) = self.in_flight.iter().rev().position(|flying| is_its(&flying)) {
            let at = self.in_flight.len() - 1 - at;
            self.in_flight[at].2 = Some(tid);
            let (parent, is_thread) = (self.in_flight[at].0, self.in_flight[at].1);
            let parent = self.threads.thread(parent).process;
            return self.be_born(tid, parent, is_thread, None);
        }
        if let Some(process) = self.threads.find_process(tid) {
            // Others of unknown origin are not of one that is known to be by itself.
            if !self.first_threads.contains(&tid) {
                self.roots.entry(family).or_insert(told(process));
            }
            return self.threads.add_thread(tid, process);
        }
        let alone = self.families.values().all(|other| *other == family);
        let root = match (self.roots.get(&family), self.snapshot_pids.as_slice()) {
            // One process in the snapshot: the trace is of its threads.
            (None, [only]) if alone => told(*only),
            (None, _) => Root {
                process: self.threads.add_process((tid != 0).then_some(tid)),
                guessed: tid != 0 && first_call != Some(Syscall::EXECVE),
            },
            // A program that starts is no thread of another one.
            (Some(_), _) if first_call == Some(Syscall::EXECVE) => told(self.threads.add_process(Some(tid))),
            (Some(root), _) => *root,
        };
        self.roots.entry(family).or_insert(root);
        let thread = self.threads.add_thread(tid, root.process);
        self.threads.thread_mut(thread).guessed = tid != 0 && first_call != Some(Syscall::EXECVE);
        thread
    }

    /// A process that ran before the trace began has the number of its first thread, as a rule the lowest one: not of
    /// the one that happened to be seen first.
    pub(super) fn number_root(&mut self) {
        let guessed = self.roots.values().filter(|root| root.guessed).map(|root| root.process);
        let mut guessed: Vec<ProcessId> = guessed.collect();
        guessed.sort_unstable();
        for root in guessed {
            let process = self.threads.process(root);
            let threads = self.threads.iter().filter(|(_, thread)| thread.process == root && thread.tid != 0);
            let lowest = threads.map(|(_, thread)| thread.tid).min();
            let free = |tid: &Tid| self.threads.find_process(*tid).is_none();
            if let Some(tid) = lowest.filter(|tid| !process.started && process.pid > Some(*tid)).filter(free)
            {
                self.threads.set_pid(root, tid);
            }
        }
    }

    pub(super) fn be_born(
        &mut self,
        tid: Tid,
        parent: ProcessId,
        is_thread: bool,
        slots: Option<Slots>,
    ) -> ThreadId {
        if is_thread {
            return self.threads.add_thread(tid, parent);
        }
        if self.threads.processes_are_full() {
            return self.threads.rest();
        }
        let child = self.threads.add_process(Some(tid));
        let slots = slots.unwrap_or_else(|| self.inherited(parent));
        self.adopt(child, parent, slots);
        self.threads.add_thread(tid, child)
    }

    /// The descriptors that a child of `parent` has at its start: all, in any sane capture. A host of children of a
    /// process with a host of descriptors inherit the lowest numbers.
    fn inherited(&self, parent: ProcessId) -> Slots {
        let heirs = self.threads.living_processes() + self.unborn.len();
        self.threads.process(parent).slots.inherited(Self::MAX_INHERITED / heirs.max(1))
    }

    /// Gives `child` what it inherits from `parent`.
    fn adopt(&mut self, child: ProcessId, parent: ProcessId, slots: Slots) {
        let inherited: Vec<LifeId> = slots.iter().map(|(_, life)| life).collect();
        for id in inherited {
            if let Some(life) = self.fds.get_mut(id) {
                life.refs += 1;
            }
        }
        let (exe, started_as, comm, user, cwd) = {
            let from = self.threads.process(parent);
            let started_as = from.started_as.clone();
            (from.exe.clone(), started_as, from.comm.clone(), from.user.clone(), from.cwd.clone())
        };
        // A child is born into the group of its parent (cgroups(7)).
        let (cgroup, container) = {
            let from = self.threads.process(parent);
            (from.cgroup.clone(), from.container.clone())
        };
        let process = self.threads.process_mut(child);
        process.slots = slots;
        process.parent = Some(parent);
        process.started = true;
        (process.exe, process.comm, process.user, process.cwd) = (exe, comm, user, cwd);
        (process.cgroup, process.container) = (cgroup, container);
        process.started_as = started_as;
    }

    /// True where a clone or fork made `tid` and nothing was seen of it since.
    pub fn is_unborn(&self, tid: Tid) -> bool {
        self.unborn.contains_key(&tid)
    }

    /// The first half of a call whose end comes later: what takes effect at once.
    pub(crate) fn enter(&mut self, call: &Call<'_>) {
        let thread = self.thread_of(call);
        self.threads.thread_mut(thread).see(call.ts, whyslow_model::Nanos::ZERO);
        match call.syscall {
            // The kernel frees the number before close returns: another thread may get it meanwhile.
            Syscall::CLOSE => {
                let process = self.threads.thread(thread).process;
                if let Some((fd, _)) = call.first_fd() {
                    self.close(process, fd, call.ts);
                }
            }
            Syscall::CLONE | Syscall::CLONE3 | Syscall::FORK | Syscall::VFORK => {
                self.in_flight.retain(|(caller, _, _)| *caller != thread);
                if self.in_flight.len() < Self::MAX_IN_FLIGHT {
                    self.in_flight.push((thread, makes_thread(call.args), None));
                }
            }
            _ => {}
        }
    }

    pub(super) fn cloned(&mut self, seen: &Seen<'_>) {
        let call = seen.call;
        let early = self.in_flight.iter().position(|(caller, _, _)| *caller == seen.thread);
        let seen_already = early.and_then(|at| self.in_flight.swap_remove(at).2);
        let Some(child) = call.ok().and_then(|ret| Tid::try_from(ret).ok()).filter(|child| *child != 0)
        else {
            return;
        };
        let known = self.threads.find(child).is_some() || self.threads.find_process(child).is_some();
        if seen_already == Some(child) || known {
            return;
        }
        if self.unborn.len() >= Self::MAX_UNBORN {
            self.unborn.clear();
        }
        let is_thread = makes_thread(call.args);
        let slots = (!is_thread).then(|| self.inherited(seen.process));
        self.unborn.insert(child, Unborn { parent: seen.process, is_thread, slots });
    }

    pub(super) fn executed(&mut self, seen: &mut Seen<'_>) {
        if seen.call.ok().is_none() {
            return;
        }
        if self.threads.is_rest(seen.thread) {
            return;
        }
        let led_by_another = self.threads.process(seen.process).pid.is_some_and(|pid| pid != seen.call.tid);
        if led_by_another && !self.threads.processes_are_full() {
            seen.process = self.split_off(seen.thread, seen.call.tid);
        }
        let path = seen.file.map(|file| self.files.get(file).path.clone());
        let process = self.threads.process_mut(seen.process);
        process.exe = path;
        process.started_as = ProgramName::of_execve(seen.call.args);
        process.started = true;
        if process.pid.is_none() && seen.call.tid != 0 {
            self.threads.set_pid(seen.process, seen.call.tid);
        }
        for life in self.threads.process_mut(seen.process).slots.take_cloexec() {
            self.unref(life, seen.call.end());
        }
    }

    /// Makes a thread a process of its own: it executes a program though another thread leads its process. Where a
    /// fork and a clone were in flight at once, the child was taken for the wrong one's; a program that really
    /// executes from another thread than its first (execve(2), rare) becomes a child here.
    fn split_off(&mut self, thread: ThreadId, tid: Tid) -> ProcessId {
        let parent = self.threads.thread(thread).process;
        let child = self.threads.add_process(Some(tid));
        let slots = self.inherited(parent);
        self.adopt(child, parent, slots);
        let process = self.threads.process_mut(parent);
        process.threads = process.threads.saturating_sub(1);
        self.threads.process_mut(child).threads = 1;
        self.threads.thread_mut(thread).process = child;
        child
    }

    /// The pipes and sockets whose last descriptor goes when `tid` ends: none where its process lives on.
    pub(crate) fn closed_by_exit(&mut self, tid: Tid) -> Vec<LifeId> {
        let Some(thread) = self.threads.find(tid) else { return Vec::new() };
        let process = self.threads.process(self.threads.thread(thread).process);
        if process.living > 1 || self.threads.is_rest(thread) {
            return Vec::new();
        }
        let lives = process.slots.iter().map(|(_, life)| life);
        let mut held: Vec<LifeId> = lives.filter(|id| self.fds.get(*id).is_some_and(hands_over)).collect();
        held.sort_unstable_by_key(|id| id.place());
        // A process may hold it by several numbers: then all its references are here.
        let ended = held
            .chunk_by(|a, b| a == b)
            .filter(|same| self.fds.get(same[0]).is_some_and(|life| life.refs as usize <= same.len()));
        ended.map(|same| same[0]).collect()
    }

    pub(crate) fn exit(&mut self, exit: &Exit<'_>) {
        let told = self.told_threads.get(&exit.tid).map(|(process, _)| *process);
        let unseen = told.or(self.threads.find_process(exit.tid));
        let unseen = unseen.filter(|_| !self.threads.has_seen(exit.tid));
        let unseen = unseen.map(|process| self.add_told_thread(exit.tid, process));
        let Some(thread) = self.threads.find(exit.tid).or(unseen) else {
            return;
        };
        self.threads.thread_mut(thread).see(exit.ts, whyslow_model::Nanos::ZERO);
        let process = self.threads.thread(thread).process;
        self.threads.thread_exited(thread);
        // The first thread may have waited in one call all along, which is told at its end.
        let is_first_known = self.threads.process(process).pid.is_none_or(|pid| self.threads.has_seen(pid));
        if self.threads.process(process).living == 0 && is_first_known {
            for life in self.threads.process_mut(process).slots.clear() {
                self.unref(life, exit.ts);
                if let Some(life) = self.fds.get_mut(life).filter(|life| !life.is_open()) {
                    life.closed_by_exit = true;
                }
            }
            self.threads.process_exited(process, exit.ts);
            if exit.signal.is_some_and(|signal| signal.starts_with(b"SIGKILL"))
                && self.killed.len() < Self::MAX_KILLED
            {
                self.killed.push((process, exit.ts));
            }
        }
    }

    pub(crate) fn signal(&mut self, signal: &Signal<'_>) {
        let thread = match self.threads.find(signal.tid) {
            Some(thread) => thread,
            None => {
                let thread = self.new_thread(signal.tid, signal.source, None);
                self.threads.thread_mut(thread).source = signal.source;
                thread
            }
        };
        let process = self.threads.thread(thread).process;
        let known = self
            .signals
            .iter_mut()
            .find(|known| known.process == process && known.name.as_bytes() == signal.name);
        if let Some(known) = known {
            known.count += 1;
            if signal.ts.is_known() {
                known.last = signal.ts;
            }
        } else if self.signals.len() < Self::MAX_SIGNALS {
            self.signals.push(SignalFacts {
                process,
                name: text::lossy(signal.name).into(),
                count: 1,
                tid: signal.tid,
                first: signal.ts,
                last: signal.ts,
                exemplar: Exemplar::of_signal(signal),
            });
        }
    }

    pub(crate) fn process_info(&mut self, info: ProcessInfo, began_here: bool) {
        // A recorder tells of a fork when it happens, before the child's calls and the parent's return.
        let forked = began_here && self.threads.find_process(info.pid).is_none();
        let parent = info.parent.filter(|_| forked).and_then(|parent| self.threads.find_process(parent));
        let process = self.process_numbered(info.pid);
        if let Some(parent) = parent.filter(|parent| *parent != process) {
            let slots = self.inherited(parent);
            self.adopt(process, parent, slots);
        }
        let facts = self.threads.process_mut(process);
        facts.parent_pid = facts.parent_pid.or(info.parent);
        if info.executed {
            (facts.exe, facts.comm, facts.started_as) = (None, None, ProgramName::default());
        }
        if let Some(exe) = info.exe {
            facts.exe.get_or_insert(exe.into());
        }
        // The name of a thread other than the first is not that of its process.
        let of_thread = info.tid.filter(|tid| *tid != info.pid);
        if let Some(cmdline) = info.cmdline.filter(|_| of_thread.is_none()) {
            let started_as = ProgramName::of_cmdline(&cmdline, info.comm.as_deref());
            if facts.started_as == ProgramName::default() {
                facts.started_as = started_as;
            }
        }
        if let Some(user) = info.user {
            facts.user.get_or_insert(user.into());
        }
        if let Some(cgroup) = info.cgroup {
            facts.cgroup.get_or_insert(cgroup.into());
        }
        if let Some(container) = info.container {
            facts.container.get_or_insert(container.into());
        }
        let Some(comm) = info.comm.map(Box::<str>::from) else { return };
        match of_thread {
            None => {
                facts.comm.get_or_insert(comm);
            }
            Some(tid) => match self.threads.find(tid) {
                Some(thread) => self.threads.thread_mut(thread).comm = Some(comm),
                None if self.told_threads.len() < Self::MAX_THREAD_NAMES => {
                    self.told_threads.insert(tid, (process, comm));
                }
                None => {}
            },
        }
    }

    pub(crate) fn process_numbered(&mut self, pid: Tid) -> ProcessId {
        match self.threads.find_process(pid) {
            Some(process) => process,
            None => self.threads.add_process(Some(pid)),
        }
    }

    /// The process that a thread's account is of, also where that was told to have ended a moment ago.
    pub(crate) fn process_accounted(&mut self, tid: Tid, pid: Tid) -> ProcessId {
        let ended = self.threads.find_ended(tid).filter(|_| !self.unborn.contains_key(&tid));
        let known =
            self.threads.find_process(pid).or(ended.map(|thread| self.threads.thread(thread).process));
        known.unwrap_or_else(|| self.process_numbered(pid))
    }

    pub(crate) fn source(&mut self, info: &SourceInfo) {
        if matches!(info.kind, CaptureKind::Lsof | CaptureKind::ProcFd | CaptureKind::ProcNet) {
            self.join_inodes();
        }
    }
}

/// Kinds at whose other end somebody may wait.
fn hands_over(life: &FdLife) -> bool {
    life.kind == FdKind::Pipe || life.kind.is_socket()
}

/// clone's CLONE_THREAD: the child is a thread of the caller's process.
pub(super) fn makes_thread(args: &[u8]) -> bool {
    contains(args, b"CLONE_THREAD")
}
