//! Who was taken into the recording because the target waits for it, or it for the target. It is not what was asked about: [`Facts::of_target`] keeps what
//! these processes did apart, so that what is said of the target is of the target alone.

use super::Facts;
use crate::world::World;
use hashbrown::{HashMap, HashSet};
use whyslow_model::event::{Event, Sink, Tid};
use whyslow_model::{Followed, ProcessInfo, SourceId, Wakeup};

/// The processes that were taken in, in order of time, and where they are kept apart, what they did.
#[derive(Default)]
pub struct FollowedFacts {
    rows: Vec<Followed>,
    places: HashMap<Tid, usize>,
    separates: bool,
    /// Pieces of time are kept of them too.
    keeps_cuts: bool,
    apart: Option<Box<Apart>>,
}

/// What processes did that were taken in.
struct Apart {
    facts: Facts,
    /// They, and what they have started since.
    pids: HashSet<Tid>,
    /// Traces that are of these alone.
    sources: HashSet<SourceId>,
}

/// Whose calls are kept apart from those of what was asked about, in captures of several processes.
#[derive(Clone, Debug, Default)]
pub struct SetApart {
    /// The processes and their threads.
    pub pids: Vec<Tid>,
    /// The traces that hold nothing else.
    pub sources: Vec<SourceId>,
    /// Those of them that it waits for.
    pub followed: Vec<Followed>,
    /// Threads that are the first of a process, of the target's too, though nothing in the captures says so at once.
    pub first_threads: Vec<Tid>,
    /// Their threads that its waits lead through: what others of their process do holds up nobody.
    pub on_the_way: HashSet<Tid>,
    /// When the target was seen, ns since the epoch: what the others did at other times is not what it waited for.
    pub within: Option<(u64, u64)>,
    /// Names of unix sockets by inode, which the target's own trace may lack.
    pub unix_names: HashMap<u64, Box<str>>,
}

impl std::fmt::Debug for FollowedFacts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FollowedFacts").field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// Whose an event is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Whose {
    Target,
    Apart,
    Both,
}

impl Facts {
    /// Facts of what was asked about: what processes did that were taken in for its waits is in [`FollowedFacts::apart`].
    pub fn of_target() -> Facts {
        let mut facts = Facts::default();
        facts.followed.separates = true;
        facts
    }

    /// The same of captures that are read a second time, once it is known whose they are.
    pub fn of_target_beside(apart: &SetApart) -> Facts {
        let of_processes = |mut facts: Facts, is_apart: bool| {
            facts.world.know_unix_names(&apart.unix_names);
            for pid in apart.first_threads.iter().filter(|pid| apart.pids.contains(pid) == is_apart) {
                facts.world.know_first_thread(*pid);
            }
            facts
        };
        let mut facts = of_processes(Facts::of_target(), false);
        if !apart.pids.is_empty() {
            let mut others = of_processes(Facts::default(), true);
            if let Some((from, to)) = apart.within {
                others.accounts.only_within(from, to);
            }
            if !apart.on_the_way.is_empty() {
                others.accounts.only_of(apart.on_the_way.clone());
            }
            facts.followed.apart = Some(Box::new(Apart {
                facts: others,
                pids: apart.pids.iter().copied().collect(),
                sources: apart.sources.iter().copied().collect(),
            }));
        }
        apart.followed.iter().for_each(|one| facts.followed.see(one.clone()));
        facts
    }
}

impl FollowedFacts {
    /// Rows kept: a recorder takes in far fewer.
    const MOST: usize = 1_024;

    pub(crate) fn see(&mut self, followed: Followed) {
        if let Some(known) = self.places.get(&followed.pid).and_then(|at| self.rows.get_mut(*at)) {
            // One that waits for the target may be waited for as well: that is more.
            if known.is_caller() && !followed.is_caller() {
                *known = followed;
            }
            return;
        }
        if self.rows.len() >= Self::MOST {
            return;
        }
        self.places.insert(followed.pid, self.rows.len());
        if self.separates {
            let keeps_cuts = self.keeps_cuts;
            let new = || {
                let (mut facts, pids, sources) = (Facts::default(), HashSet::new(), HashSet::new());
                if keeps_cuts {
                    facts.keep_cuts();
                }
                Box::new(Apart { facts, pids, sources })
            };
            self.apart.get_or_insert_with(new).pids.insert(followed.pid);
        }
        self.rows.push(followed);
    }

    /// All of them.
    pub fn rows(&self) -> &[Followed] {
        &self.rows
    }

    /// What is told of the process with that number; `None` for one that was not taken in.
    pub fn of(&self, pid: Tid) -> Option<&Followed> {
        self.places.get(&pid).map(|at| &self.rows[*at])
    }

    /// What they did; `None` where nobody was taken in, or nothing is kept apart.
    pub fn apart(&self) -> Option<&Facts> {
        self.apart.as_ref().map(|apart| &apart.facts)
    }

    pub(super) fn apart_mut(&mut self) -> Option<&mut Facts> {
        self.apart.as_mut().map(|apart| &mut apart.facts)
    }

    pub(super) fn keep_cuts(&mut self) {
        self.keeps_cuts = true;
        if let Some(apart) = &mut self.apart {
            apart.facts.keep_cuts();
        }
    }

    /// True where events are to be shown to [`FollowedFacts::take`] first.
    #[inline]
    pub(crate) fn keeps_apart(&self) -> bool {
        self.apart.is_some()
    }

    /// Takes an event of those that were taken in; gives back what is of the target, whose world is `own`.
    pub(crate) fn take<'a>(&mut self, event: Event<'a>, own: &World) -> Option<Event<'a>> {
        let Some(apart) = &mut self.apart else { return Some(event) };
        match apart.whose(&event, own) {
            Whose::Target => Some(event),
            Whose::Apart => {
                apart.facts.push(event);
                None
            }
            Whose::Both => {
                apart.facts.push(event.clone());
                Some(event)
            }
        }
    }

    pub(crate) fn finish(&mut self) {
        if let Some(apart) = &mut self.apart {
            apart.facts.finish();
        }
    }
}

impl Apart {
    fn whose(&mut self, event: &Event<'_>, own: &World) -> Whose {
        let of = |is_apart: bool| if is_apart { Whose::Apart } else { Whose::Target };
        match event {
            Event::Call(call) | Event::Enter(call) if self.sources.contains(&call.source) => Whose::Apart,
            Event::Call(call) | Event::Enter(call) => {
                of(call.pid.map_or_else(|| self.has_thread(call.tid), |pid| self.pids.contains(&pid)))
            }
            Event::Signal(signal) => of(self.sources.contains(&signal.source) || self.has_thread(signal.tid)),
            Event::Exit(exit) => of(self.sources.contains(&exit.source) || self.has_thread(exit.tid)),
            Event::Frame { tid, .. } => of(self.has_thread(*tid)),
            Event::Process(info) => of(self.belongs(info, own)),
            Event::Fd(entry) => of(entry.pid.is_some_and(|pid| self.pids.contains(&pid))),
            Event::Stretch(stretch) => of(self.pids.contains(&stretch.pid)),
            Event::Wakeup(wakeup) => of(self.has_thread(wakeup.wakee) || self.has_begun(wakeup, own)),
            Event::Sample(sample) => of(self.pids.contains(&sample.pid)),
            Event::CallStack(made) => of(self.pids.contains(&made.pid)),
            Event::FileIo(io) => of(self.pids.contains(&io.pid)),
            Event::Meanwhile(one) => of(self.pids.contains(&one.pid)),
            Event::Parked(parked) => of(self.pids.contains(&parked.pid)),
            Event::Net(event) => of(event.pid.is_some_and(|pid| self.pids.contains(&pid))),
            Event::ThreadCounts(counts) => of(self.pids.contains(&counts.pid)),
            Event::ThreadTotals(totals) => of(self.pids.contains(&totals.pid)),
            Event::Trace(start) => of(self.sources.contains(&start.source)),
            // The host's, the disks', and what the recording is.
            Event::Figures(_) | Event::BlockIo(_) | Event::Stack(_) | Event::Span(_) | Event::Source(_) => {
                Whose::Both
            }
            Event::Counts(_)
            | Event::Logged(_)
            | Event::Percentiles(_)
            | Event::Profile(_)
            | Event::Note(_)
            | Event::Loss(_)
            | Event::Cost(_)
            | Event::Followed(_) => Whose::Target,
        }
    }

    fn has_thread(&self, tid: Tid) -> bool {
        let threads = &self.facts.world.threads;
        self.pids.contains(&tid)
            || threads.thread_of(tid).is_some_and(|thread| {
                threads
                    .known_process(thread.process)
                    .and_then(|process| process.pid)
                    .is_some_and(|pid| self.pids.contains(&pid))
            })
    }

    /// True for a thread that one of these threads wakes for the first time: it has begun, and nothing else was told of it yet.
    fn has_begun(&self, wakeup: &Wakeup, own: &World) -> bool {
        own.threads.thread_of(wakeup.wakee).is_none()
            && self.facts.world.threads.thread_of(wakeup.wakee).is_none()
            && wakeup.waker.is_some_and(|waker| self.has_thread(waker))
    }

    /// True for one that was taken in, or was started by such a one since. The target may be a child of it, too: that was there before.
    fn belongs(&mut self, info: &ProcessInfo, own: &World) -> bool {
        let is_childs = info.parent.is_some_and(|parent| self.pids.contains(&parent))
            && own.threads.find_process(info.pid).is_none();
        if is_childs {
            self.pids.insert(info.pid);
        }
        self.pids.contains(&info.pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Call, Nanos, Ret, Timestamp};

    fn process(facts: &mut Facts, pid: u32, parent: u32) {
        let info = ProcessInfo { pid, parent: Some(parent), ..ProcessInfo::default() };
        facts.push(Event::Process(info));
    }

    fn call(facts: &mut Facts, pid: u32, at: u64) {
        let mut call = Call::new("getpid", "");
        (call.tid, call.pid, call.ret) = (pid, Some(pid), Ret::Value(i64::from(pid)));
        (call.ts, call.dur) = (Timestamp::new(at), Nanos::new(1));
        facts.push(Event::Call(&call));
    }

    fn taken_in(facts: &mut Facts, pid: u32) {
        taken_in_at(facts, pid, 1);
    }

    fn taken_in_at(facts: &mut Facts, pid: u32, hop: u32) {
        let followed = Followed {
            ts: Timestamp::new(3),
            pid,
            comm: "sh".to_string(),
            waiter: 7,
            via: whyslow_model::Via::Pipe,
            share: 0.5,
            hop,
        };
        facts.push(Event::Followed(Box::new(followed)));
    }

    /// The shell that is taken in has started the target before, and starts another program later.
    fn recording(mut facts: Facts) -> Facts {
        process(&mut facts, 7, 40);
        call(&mut facts, 7, 1);
        taken_in(&mut facts, 40);
        taken_in(&mut facts, 40);
        process(&mut facts, 40, 1);
        process(&mut facts, 41, 40);
        process(&mut facts, 8, 7);
        process(&mut facts, 7, 40);
        [40, 41, 7, 8].into_iter().for_each(|pid| call(&mut facts, pid, 5));
        facts.finish();
        facts
    }

    #[test]
    fn what_was_taken_in_and_what_it_starts_is_kept_apart() {
        let facts = recording(Facts::of_target());
        let has = |facts: &Facts| [7, 8, 40, 41].map(|pid| facts.world.threads.find_process(pid).is_some());
        assert_eq!((has(&facts), facts.world.calls), ([true, true, false, false], 3));
        let apart = facts.followed.apart().expect("somebody was taken in");
        assert_eq!((has(apart), apart.world.calls), ([false, false, true, true], 2));
        assert_eq!(facts.followed.rows().len(), 1);
    }

    #[test]
    fn who_waits_for_the_target_may_be_waited_for_as_well() {
        let mut facts = Facts::of_target();
        taken_in_at(&mut facts, 40, 0);
        assert!(facts.followed.of(40).is_some_and(Followed::is_caller));
        taken_in_at(&mut facts, 40, 1);
        taken_in_at(&mut facts, 40, 0);
        assert_eq!(facts.followed.rows().iter().map(|row| row.hop).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_thread_that_is_woken_before_it_is_told_of_is_its_wakers() {
        let mut facts = Facts::of_target();
        process(&mut facts, 7, 1);
        call(&mut facts, 7, 1);
        taken_in(&mut facts, 40);
        process(&mut facts, 40, 1);
        call(&mut facts, 40, 5);
        for (waker, wakee) in [(40, 41), (7, 8), (40, 7)] {
            let ts = Timestamp::new(6);
            facts.push(Event::Wakeup(Wakeup {
                ts,
                cpu: 0,
                waker: Some(waker),
                context: whyslow_model::WakeContext::Task,
                wakee,
            }));
        }
        let apart = facts.followed.apart().expect("somebody was taken in");
        assert!(facts.world.threads.thread_of(41).is_none() && facts.world.threads.thread_of(7).is_some());
        assert!(apart.world.threads.thread_of(7).is_none());
    }

    #[test]
    fn what_others_did_while_the_target_was_not_seen_counts_nothing() {
        let within = Some((100, 200));
        let on_the_way = [40].into_iter().collect();
        let apart = SetApart { pids: vec![40, 41], within, on_the_way, ..SetApart::default() };
        let mut facts = Facts::of_target_beside(&apart);
        for (tid, ts, ns, name) in [
            (40, 10, 50, "pause"),
            (41, 120, 70, "fsync"),
            (40, 90, 20, "pause"),
            (7, 100, 100, "pause"),
            (40, 150, 30, "fsync"),
            (40, 190, 60, "pause"),
            (40, 300, 50, "fsync"),
        ] {
            let mut call = Call::new(name, "3");
            (call.tid, call.ret, call.ts, call.dur) =
                (tid, Ret::Value(0), Timestamp::new(ts), Nanos::new(ns));
            facts.push(Event::Call(&call));
        }
        facts.finish();
        let apart = facts.followed.apart().expect("it is kept apart");
        let (thread, told) =
            apart.world.threads.iter().find(|(_, thread)| thread.tid == 40).expect("a thread");
        let account = apart.accounts.of(thread).expect("an account");
        let times: Vec<(u64, u64)> =
            account.calls.iter().map(|time| (time.calls.count, time.parts.total())).collect();
        assert_eq!((account.total(), account.outside.total(), times), (100, 50, vec![(2, 20), (1, 30)]));
        let other = apart.world.threads.iter().find(|(_, thread)| thread.tid == 41).expect("a thread");
        assert!(apart.accounts.of(other.0).is_none());
        let counted = apart.accounts.counted(told.first, told.last);
        assert_eq!(counted, (Timestamp::new(100), Timestamp::new(200)));
    }

    #[test]
    fn views_see_all_together() {
        let facts = recording(Facts::default());
        assert_eq!((facts.world.calls, facts.followed.apart().is_none()), (5, true));
        assert_eq!(facts.followed.of(40).map(|one| one.hop), Some(1));
    }
}
