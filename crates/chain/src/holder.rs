//! Who could end a wait that lasts to the end of the capture, and what that one does meanwhile.
//!
//! Named is who is known to be the only one: the owner that a futex's word tells, the one thread that ever woke there, the
//! process at the other end of a pipe, the child. Where several may be it, all are named; where nobody is known, nobody is.

use super::Explainer;
use whyslow_facts::folds::graph::{Ended, LongCall, Resource};
use whyslow_facts::folds::locks::LockFacts;
use whyslow_facts::{Facts, LifeId, ProcessId, ThreadFacts};
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{ChainLink, Entity, FdKind, Nanos, Trait, figures};

/// Holders that a chain goes on through.
const MAX_HOPS: usize = 4;
/// Holders of one thing that are named.
const MAX_NAMED: usize = 3;
/// From this part of a thread's time on a CPU on, computing is what it does.
const COMPUTES: f64 = 0.5;
/// Processes have no smaller numbers (RESERVED_PIDS of kernel/pid.c): the word of a lock with readers counts them there.
const FIRST_PID: Tid = 300;

/// What ties the holder to the wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hold {
    /// It has the lock.
    Has,
    /// It alone woke the threads that waited there before.
    WokeBefore,
    /// It has the other end of the pipe, and writes nothing.
    Writes,
    /// It has the other end of the pipe, and reads nothing.
    Reads,
    /// It is the child, which has not ended.
    Child,
    /// It ended the wait.
    Ended,
}

/// Who could end a wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitHolder {
    /// Its number: a process or a thread.
    pub pid: Tid,
    /// Its name and number, of several all.
    pub words: String,
    /// What it has to do with the wait.
    pub hold: Hold,
    /// One of several: which of them is not known.
    pub one_of_several: bool,
}

impl WaitHolder {
    fn known(facts: &Facts, process: ProcessId, tid: Tid, hold: Hold) -> WaitHolder {
        let pid = facts.world.threads.known_process(process).and_then(|process| process.pid);
        WaitHolder {
            pid: pid.unwrap_or(tid),
            words: process_words(facts, process, tid),
            hold,
            one_of_several: false,
        }
    }

    /// Of a process that has a number; of the host where the capture has none of its calls.
    fn numbered(facts: &Facts, pid: Tid, hold: Hold) -> WaitHolder {
        let threads = &facts.world.threads;
        let told = facts.host.thing(&Entity::Process(pid)).and_then(|thing| thing.name());
        let words = match (told, threads.last_process(pid)) {
            (None, Some(process)) => process_words(facts, process, pid),
            _ => facts.host.name_of(&Entity::Process(pid)),
        };
        WaitHolder { pid, words, hold, one_of_several: false }
    }

    /// Several of one kind: the first speaks for them.
    fn joined(mut all: Vec<WaitHolder>) -> Option<WaitHolder> {
        let words: Vec<String> = all.iter().map(|holder| holder.words.clone()).collect();
        let several = all.len() > 1;
        let mut first = all.drain(..).next()?;
        if several {
            first.words = figures::list(&words, MAX_NAMED);
            first.one_of_several = true;
        }
        Some(first)
    }

    /// `held by worker (812)`, behind what is waited for.
    pub fn clause(&self) -> String {
        let words = &self.words;
        let who = if self.one_of_several { format!("one of {words}") } else { words.clone() };
        match self.hold {
            Hold::Has => format!("held by {who}"),
            Hold::WokeBefore => format!("where {who} alone woke before"),
            Hold::Writes => format!("which {who} does not write to"),
            Hold::Reads => format!("which {who} does not read from"),
            Hold::Child => format!("which is {who}"),
            Hold::Ended => format!("ended by {who}"),
        }
    }

    /// `It goes on when worker (812) gives the lock back.`
    pub fn until(&self) -> String {
        let words = &self.words;
        let who = if self.one_of_several { format!("one of {words}") } else { words.clone() };
        match self.hold {
            Hold::Has => format!("It goes on when {who} gives the lock back."),
            Hold::WokeBefore => format!("It goes on when {who} wakes it, as far as earlier wakes tell."),
            Hold::Writes => format!("It goes on when {who} writes, or closes its end."),
            Hold::Reads => format!("It goes on when {who} reads, or closes its end."),
            Hold::Child => format!("It goes on when {who} ends."),
            Hold::Ended => format!("It goes on when {who} has done its part."),
        }
    }
}

impl<'a> Explainer<'a> {
    /// Who could end a wait that has not ended; `None` where that is not known.
    pub fn holder(&self, call: &LongCall) -> Option<WaitHolder> {
        if call.ended != Ended::NotYet {
            return None;
        }
        match call.what {
            Resource::FileLock(_) => self.has_file_lock(call),
            Resource::Lock { address } => self.owner(call).or_else(|| self.woke_before(call, address)),
            Resource::Pipe(end) => self.at_other_end(call, end.fd),
            Resource::Child { pid } => self.child(call.process, pid),
            _ => None,
        }
    }

    /// The recorded thread that a wait lasts for which had not ended as the capture did: its child, a thread that it joins, who has the
    /// lock. What this one does meanwhile is why it waits.
    pub(crate) fn awaited(&self, call: &LongCall) -> Option<Tid> {
        let tid = match call.what {
            Resource::Thread { tid } if call.ended == Ended::NotYet => tid,
            _ => {
                let holder = self.holder(call).filter(|holder| !holder.one_of_several)?;
                matches!(holder.hold, Hold::Has | Hold::Child).then_some(holder.pid)?
            }
        };
        self.lives.contains_key(&tid).then_some(tid)
    }

    /// Who ended a wait for another thread; `None` where the capture does not show it.
    pub fn ender(&self, call: &LongCall) -> Option<WaitHolder> {
        let waker = call.waker.filter(|waker| !call.by_interrupt && waker.tid != call.tid)?;
        let process = self.facts.world.threads.thread_of(waker.tid)?.process;
        let known = WaitHolder::known(self.facts, process, waker.tid, Hold::Ended);
        let within = process == call.process;
        Some(if within { WaitHolder { pid: waker.tid, words: self.who(waker.tid), ..known } } else { known })
    }

    /// By the kernel's list of locks, else by the calls that the capture shows.
    fn has_file_lock(&self, call: &LongCall) -> Option<WaitHolder> {
        let facts = self.facts;
        let told = self.pid(call.process).and_then(|pid| {
            facts.host.thing(&Entity::Process(pid))?.told(Trait::LockHolder)?.parse::<Tid>().ok()
        });
        if let Some(pid) = told {
            return Some(WaitHolder::numbered(facts, pid, Hold::Has));
        }
        let name = facts.accounts.objects.get(call.object).name();
        let row = facts.file_locks.rows.iter().find(|row| *row.name == *name)?;
        let tid = row.holds_now().filter(|tid| *tid != call.tid)?;
        let thread = facts.world.threads.thread_of(tid)?;
        Some(WaitHolder { pid: tid, ..WaitHolder::known(facts, thread.process, tid, Hold::Has) })
    }

    /// The thread whose number stands in the word of the futex, where some source knows a thread of that number.
    fn owner(&self, call: &LongCall) -> Option<WaitHolder> {
        let facts = self.facts;
        let tid = call.owner.filter(|tid| *tid >= FIRST_PID && *tid != call.tid)?;
        if let Some(thread) = facts.world.threads.thread_of(tid) {
            let words = match thread.process == call.process {
                true => self.who(tid),
                false => process_words(facts, thread.process, tid),
            };
            let known = WaitHolder::known(facts, thread.process, tid, Hold::Has);
            return Some(WaitHolder { pid: tid, words, ..known });
        }
        facts.host.thing(&Entity::Process(tid)).map(|_| WaitHolder::numbered(facts, tid, Hold::Has))
    }

    /// The one thread that ended the earlier waits at that futex.
    fn woke_before(&self, call: &LongCall, address: u64) -> Option<WaitHolder> {
        let facts = self.facts;
        let mut at_address = facts.locks.iter().filter(|(_, at, _)| *at == address);
        // What processes share is told of the first of them.
        let waits = |(process, _, lock): &(_, _, &LockFacts)| {
            *process == call.process || lock.waiters.iter().any(|waiter| waiter.tid == call.tid)
        };
        let (.., lock) = at_address.find(waits)?;
        let mut others = lock.wakers.iter().filter(|waker| waker.tid != call.tid);
        let waker = others.next().filter(|_| others.next().is_none())?;
        let process = facts.world.threads.thread_of(waker.tid)?.process;
        let holder = WaitHolder::known(facts, process, waker.tid, Hold::WokeBefore);
        Some(WaitHolder { pid: waker.tid, words: self.who(waker.tid), ..holder })
    }

    /// The other processes that have a pipe's other end.
    fn at_other_end(&self, call: &LongCall, fd: i32) -> Option<WaitHolder> {
        let facts = self.facts;
        let (own, life) = facts.world.open_at(call.process, fd)?;
        let life = Some(life).filter(|life| life.kind == FdKind::Pipe)?;
        let writes = call.syscall.info().moves == Moves::Write;
        let is_other_end = |id: LifeId| {
            let Some(other) = facts.world.fds.get(id).filter(|other| other.kind == FdKind::Pipe) else {
                return false;
            };
            match life.other_end {
                Some(end) => id == end,
                None => {
                    let same_pipe = life.inode.is_some() && life.inode == other.inode;
                    same_pipe && id != own && if writes { other.may_read() } else { other.may_write() }
                }
            }
        };
        let others =
            facts.world.threads.processes().filter(|(id, process)| *id != call.process && !process.exited);
        let having = others.filter(|(_, process)| process.slots.iter().any(|(_, id)| is_other_end(id)));
        let hold = if writes { Hold::Reads } else { Hold::Writes };
        WaitHolder::joined(
            having.map(|(id, _)| WaitHolder::known(facts, id, 0, hold)).filter(|of| of.pid != 0).collect(),
        )
    }

    /// The child that is waited for by its number, else all that live.
    fn child(&self, parent: ProcessId, pid: Option<Tid>) -> Option<WaitHolder> {
        let facts = self.facts;
        if let Some(pid) = pid {
            return Some(WaitHolder::numbered(facts, pid, Hold::Child));
        }
        let children = facts.world.threads.processes();
        let mut living: Vec<Tid> = children
            .filter(|(_, child)| child.parent == Some(parent) && !child.exited)
            .filter_map(|(_, child)| child.pid)
            .collect();
        if let (true, Some(own)) = (living.is_empty(), self.pid(parent)) {
            let own = own.to_string();
            living = facts
                .host
                .things_that(|of| matches!(of, Entity::Process(_)))
                .into_iter()
                .filter(|(_, thing)| thing.told(Trait::Parent) == Some(own.as_str()))
                .filter_map(|(of, _)| if let Entity::Process(pid) = of { Some(*pid) } else { None })
                .collect();
        }
        WaitHolder::joined(
            living.into_iter().map(|pid| WaitHolder::numbered(facts, pid, Hold::Child)).collect(),
        )
    }

    /// What a holder does, in a sentence; what no source shows is said to be unknown.
    pub fn doing(&self, holder: &WaitHolder) -> String {
        let WaitHolder { words, pid, .. } = holder;
        if holder.one_of_several {
            return "Which of them it is, the capture does not show.".to_string();
        }
        if let Some(call) = self.last_wait(*pid) {
            let name = self.facts.name_of(call.syscall);
            return format!(
                "{words} itself is in {name}, for {}, and has not returned.",
                self.resource(call)
            );
        }
        let own =
            self.threads_of(*pid).filter_map(|thread| Some((thread.sched.as_deref()?, thread.wall().get()?)));
        let (on_cpu, wall) = own.fold((0u64, 0u64), |(on_cpu, longest), (sched, wall)| {
            (on_cpu.saturating_add(sched.on_cpu_ns), longest.max(wall))
        });
        if wall > 0 && on_cpu as f64 >= COMPUTES * wall as f64 {
            return format!(
                "{words} computes: it ran on a CPU for {} of {}.",
                Nanos::new(on_cpu),
                Nanos::new(wall)
            );
        }
        if let Some((name, ns)) = self.most_waited(*pid) {
            return format!("Of its time {words} spent {} in {name}.", Nanos::new(ns));
        }
        let Some(thing) = self.facts.host.thing(&Entity::Process(*pid)) else {
            return format!("What {words} does, the capture does not show.");
        };
        match (thing.cpu(), thing.told(Trait::State), thing.told(Trait::Wchan)) {
            (Some(cpu), ..) if cpu >= COMPUTES => format!("{words} computes: it takes {cpu:.2} CPUs."),
            (_, _, Some(function)) if !function.is_empty() && !matches!(function, "0" | "-") => {
                format!("{words} sleeps in {function} of the kernel.")
            }
            (_, Some("D"), _) => {
                format!("{words} is in uninterruptible sleep (D): it waits for a disk or a mount.")
            }
            (_, Some("T" | "t"), _) => format!("{words} is stopped."),
            (_, Some("Z"), _) => format!("{words} has ended: nobody has taken its exit status yet."),
            (_, Some("R"), _) => format!("{words} runs, or waits for a CPU."),
            (_, Some("S"), _) => format!("{words} sleeps; in what, the capture does not show."),
            _ => format!("What {words} does, the capture does not show."),
        }
    }

    /// From the holder on: what it waits for itself, and who holds that.
    pub fn beyond(&self, holder: &WaitHolder) -> Vec<ChainLink> {
        let mut links = Vec::new();
        let mut seen = vec![holder.pid];
        let mut at = holder.clone();
        while let Some(call) = self.last_wait(at.pid).filter(|_| !at.one_of_several && links.len() < MAX_HOPS)
        {
            let next = self.holder(call).filter(|next| !seen.contains(&next.pid));
            let held = next.as_ref().map_or(String::new(), |next| format!(", {}", next.clause()));
            links.push(ChainLink {
                who: at.words.clone(),
                waits_for: format!("{}{held}", self.resource(call)),
                ns: Some(call.dur()).filter(|ns| ns.or_zero() > 0).unwrap_or(Nanos::UNKNOWN),
                evidence: self.place(call),
            });
            let Some(next) = next else { break };
            seen.push(next.pid);
            at = next;
        }
        links
    }

    /// The wait in which a process or thread is at the end, where it has no other thread that does anything.
    fn last_wait(&self, pid: Tid) -> Option<&'a LongCall> {
        let mut threads = self.threads_of(pid);
        let thread = threads.next().filter(|_| threads.next().is_none())?;
        let call = self.facts.graph.timeline(thread.tid)?.calls.last()?;
        (call.ended == Ended::NotYet).then_some(call)
    }

    /// The call that a holder spent most of its time in: none where that is less than half.
    fn most_waited(&self, pid: Tid) -> Option<(String, u64)> {
        let mut threads = self.threads_of(pid);
        let thread = threads.next().filter(|_| threads.next().is_none())?;
        let (syscall, stats) = thread.by_syscall.iter().max_by_key(|(_, stats)| stats.total_ns)?;
        let wall = thread.wall().get().filter(|wall| *wall > 0)?;
        let most = stats.total_ns as f64 >= COMPUTES * wall as f64;
        most.then(|| (self.facts.name_of(syscall).to_string(), stats.total_ns))
    }

    /// The threads of a process that do anything; of a number that is no process, that thread.
    fn threads_of(&self, pid: Tid) -> impl Iterator<Item = &'a ThreadFacts> {
        let threads = &self.facts.world.threads;
        let process = threads.last_process(pid);
        let its = move |thread: &&ThreadFacts| match process {
            Some(process) => thread.process == process,
            None => thread.tid == pid,
        };
        threads.iter().map(|(_, thread)| thread).filter(its).filter(|thread| thread.is_active())
    }

    fn pid(&self, process: ProcessId) -> Option<Tid> {
        self.facts.world.threads.known_process(process)?.pid
    }
}

/// `lockwait.py (23473)`, as far as known; `tid` stands for a process without a number, 0 for nothing.
pub fn process_words(facts: &Facts, process: ProcessId, tid: Tid) -> String {
    let known = facts.world.threads.known_process(process);
    match known.map(|process| (process.name(), process.pid)) {
        Some((Some(name), Some(pid))) => format!("{name} ({pid})"),
        Some((None, Some(pid))) if pid == tid || tid == 0 => format!("process {pid}"),
        _ if tid > 0 => format!("thread {tid}"),
        _ => "the traced thread".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Call, CallFlags, Event, Ret, Sink, Timestamp};

    /// Calls of threads, a millisecond each: `None` for one that has not returned.
    fn facts(calls: &[(Tid, &str, &str, Option<i64>)]) -> Facts {
        let mut facts = Facts::default();
        for (at, (tid, name, args, ret)) in (1u64..).zip(calls) {
            let mut call = Call::new(name, args);
            (call.tid, call.ts) = (*tid, Timestamp::new(at * 2_000_000));
            match ret {
                Some(ret) => (call.dur, call.ret) = (Nanos::new(1_000_000), Ret::Value(*ret)),
                None => {
                    call.dur = Nanos::UNKNOWN;
                    call.flags = CallFlags::END_NOT_SEEN;
                }
            }
            facts.push(Event::Call(&call));
        }
        facts.finish();
        facts
    }

    fn last(facts: &Facts, tid: Tid) -> LongCall {
        *facts.graph.timeline(tid).and_then(|timeline| timeline.calls.last()).expect("it waits")
    }

    #[test]
    fn the_owner_in_the_word_is_named_with_what_it_waits_for_and_a_circle_ends() {
        let facts = facts(&[
            (812, "futex", "0x7f10, FUTEX_WAIT, 2147484461, NULL", None),
            (813, "futex", "0x7f20, FUTEX_WAIT, -2147482836, NULL", None),
        ]);
        let explainer = Explainer::new(&facts);
        let holder = explainer.holder(&last(&facts, 812)).expect("known");
        assert_eq!((holder.pid, holder.hold), (813, Hold::Has));
        // -2147482836 is 0x8000032c, of 812, as a tool with signed numbers prints it.
        let links = explainer.beyond(&holder);
        assert!(links[0].waits_for.starts_with("futex 0x7f20, held by"), "{links:?}");
        assert_eq!(
            links.len(),
            1,
            "812 may be a process of two threads: which of its waits is meant is not known"
        );
        assert!(explainer.doing(&holder).contains("itself is in futex"), "{}", explainer.doing(&holder));
    }

    #[test]
    fn a_word_that_counts_readers_or_names_nobody_known_has_no_owner() {
        for value in ["2147483651", "2147493648", "2", "813"] {
            let args = format!("0x7f10, FUTEX_WAIT, {value}, NULL");
            let facts = facts(&[(813, "getpid", "", Some(813)), (812, "futex", &args, None)]);
            assert_eq!(Explainer::new(&facts).holder(&last(&facts, 812)), None, "{value}");
        }
    }

    #[test]
    fn of_several_children_none_is_chosen() {
        let facts = facts(&[
            (812, "fork", "", Some(900)),
            (812, "fork", "", Some(901)),
            (900, "nanosleep", "{tv_sec=9, tv_nsec=0}, NULL", None),
            (901, "nanosleep", "{tv_sec=9, tv_nsec=0}, NULL", None),
            (812, "wait4", "-1, NULL, 0, NULL", None),
        ]);
        let explainer = Explainer::new(&facts);
        let holder = explainer.holder(&last(&facts, 812)).expect("two children");
        assert!(holder.one_of_several && holder.clause().contains("one of"), "{holder:?}");
        assert!(explainer.beyond(&holder).is_empty());
        let named = LongCall { what: Resource::Child { pid: Some(901) }, ..last(&facts, 812) };
        let holder = explainer.holder(&named).expect("named");
        assert_eq!((holder.pid, holder.one_of_several), (901, false));
        assert!(explainer.doing(&holder).contains("nanosleep"), "{}", explainer.doing(&holder));
    }
}
