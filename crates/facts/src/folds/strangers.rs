//! Threads that were taken for those of one process, as nothing told whose they are (`strace -p A -p B` without -f), and cannot be.
//!
//! Threads of a process share its descriptors and end together. So two that use one number for two things in turns are of two processes, and who has
//! ended its process is of another one than those that go on.

use crate::world::{Seen, World};
use crate::{Fold, ProcessId};
use hashbrown::{HashMap, HashSet};
use std::hash::BuildHasher;
use whyslow_model::event::Tid;
use whyslow_model::syscall::FdArg;
use whyslow_model::{Call, Nanos, Syscall, Timestamp, text};

/// What a thread used a descriptor for last.
#[derive(Clone, Copy, Debug)]
struct Use {
    tid: Tid,
    what: u64,
}

/// Threads that are of other processes than they were taken for.
#[derive(Debug, Default)]
pub struct Strangers {
    /// By process and number: the last use by each thread, the latest last.
    uses: HashMap<(ProcessId, i32), Vec<Use>>,
    /// Times that a thread used a number for something else than another one, before and after that one did.
    turns: HashMap<Tid, u32>,
    /// Who ended a process, and when; until another thread is seen to go on.
    ended: HashMap<ProcessId, Vec<(Tid, Timestamp)>>,
    found: HashSet<Tid>,
    /// Of threads that were seen to be made, the first one of those that made them.
    made_by: HashMap<Tid, Tid>,
    looked: u32,
    hasher: foldhash::fast::FixedState,
}

impl Strangers {
    /// Calls looked at: what is so for long is so in these.
    const MOST_CALLS: u32 = 200_000;
    /// Numbers, and threads, that are remembered.
    const MOST: usize = 4_096;
    /// Threads that are remembered of one number.
    const MOST_THREADS: usize = 8;
    /// From so many turns on it is no descriptor that was closed and opened again unseen.
    const ENOUGH: u32 = 3;
    /// Ends of a process that are remembered until a thread goes on.
    const MOST_ENDED: usize = 64;
    /// exit_group(2) ends all threads; a tracer that has much to do tells of their last calls late.
    const LATE: Nanos = Nanos::from_millis(100);

    /// Those threads, each of which is the first of a process.
    pub fn found(&self) -> Vec<Tid> {
        let mut found: Vec<Tid> = self.found.iter().copied().collect();
        found.sort_unstable();
        found
    }

    fn add(&mut self, tid: Tid) {
        if self.found.len() < Self::MOST && tid != 0 {
            self.found.insert(tid);
        }
    }

    /// A thread that another one makes is of its process, whatever that is.
    fn makes(&mut self, call: &Call<'_>, first: Tid) {
        let is_thread = memchr::memmem::find(call.args, b"CLONE_THREAD").is_some();
        let child = call.ok().and_then(|tid| Tid::try_from(tid).ok()).filter(|tid| *tid != 0 && is_thread);
        if let Some(child) = child.filter(|_| self.made_by.len() < Self::MOST) {
            self.made_by.insert(child, first);
        }
    }

    fn ends(&mut self, seen: &Seen<'_>, first: Tid, world: &World) {
        let call = seen.call;
        if call.syscall == Syscall::EXIT_GROUP {
            let ended = self.ended.entry(seen.process).or_default();
            if ended.len() < Self::MOST_ENDED {
                ended.push((first, call.ts));
            }
            return;
        }
        let Some(ended) = self.ended.get_mut(&seen.process) else { return };
        let is_outlived = |(tid, ts): &mut (Tid, Timestamp)| {
            let shares_clock = world.threads.thread_of(*tid).is_some_and(|other| other.source == call.source);
            let since = call.ts.since(*ts);
            *tid != first && shares_clock && since.is_known() && since > Self::LATE
        };
        // Of those that go on nothing tells that they are not of one process.
        let outlived: Vec<(Tid, Timestamp)> = ended.extract_if(.., is_outlived).collect();
        for (tid, _) in outlived {
            self.add(tid);
        }
    }

    fn uses(&mut self, seen: &Seen<'_>, first: Tid) {
        let call = seen.call;
        let Some((fd, note)) = text::descriptor(call.args) else { return };
        // The number may stand for something else from here on.
        if call.syscall == Syscall::CLOSE {
            self.uses.remove(&(seen.process, fd));
            return;
        }
        let Some(note) = note else { return };
        // A connection's note changes when it is made.
        let is_socket = [&b"socket:"[..], b"TCP", b"UDP", b"UNIX"].iter().any(|kind| note.starts_with(kind));
        if is_socket && !note.contains(&b'>') {
            return;
        }
        let now = Use { tid: first, what: self.hasher.hash_one(note) };
        if self.uses.len() >= Self::MOST && !self.uses.contains_key(&(seen.process, fd)) {
            return;
        }
        let uses = self.uses.entry((seen.process, fd)).or_default();
        let own = uses.iter().position(|one| one.tid == now.tid);
        let last = uses.last().copied();
        if let Some(own) = own {
            let before = uses.remove(own);
            let other = uses[own..].iter().rev().find(|one| one.what != now.what).copied();
            // The last one to use it uses it for something new.
            if before.what != now.what && last.is_some_and(|last| last.tid == now.tid) {
                uses.clear();
            } else if let Some(other) = other.filter(|_| before.what == now.what)
                && self.turns.len() < Self::MOST
            {
                for tid in [now.tid, other.tid] {
                    let turns = self.turns.entry(tid).or_default();
                    *turns += 1;
                    if *turns >= Self::ENOUGH {
                        self.found.insert(tid);
                    }
                }
            }
        }
        if uses.len() >= Self::MOST_THREADS {
            uses.remove(0);
        }
        uses.push(now);
    }
}

impl Fold for Strangers {
    fn wants(&self, syscall: Syscall) -> bool {
        syscall.info().fd == FdArg::First
            || matches!(syscall, Syscall::EXIT_GROUP | Syscall::CLONE | Syscall::CLONE3)
    }

    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let thread = world.threads.thread(seen.thread);
        let made_by = self.made_by.get(&seen.call.tid).copied();
        if !thread.guessed && made_by.is_none() || self.looked >= Self::MOST_CALLS {
            return;
        }
        self.looked += 1;
        let first = made_by.unwrap_or(seen.call.tid);
        if matches!(seen.call.syscall, Syscall::CLONE | Syscall::CLONE3) {
            return self.makes(seen.call, first);
        }
        self.ends(seen, first, world);
        self.uses(seen, first);
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Event, Nanos, Ret, Sink, Timestamp};

    fn found(calls: &[(u32, &str, &str)]) -> Vec<u32> {
        let mut facts = Facts::default();
        for (at, (tid, name, args)) in (1u64..).zip(calls) {
            let mut call = Call::new(name, args);
            (call.tid, call.ts, call.dur) = (*tid, Timestamp::new(at * 200_000_000), Nanos::new(1_000));
            call.ret = Ret::Value(1);
            facts.push(Event::Call(&call));
        }
        facts.finish();
        facts.strangers.found()
    }

    #[test]
    fn two_that_use_one_number_for_two_things_in_turns_are_of_two_processes() {
        let (one, other) = ((7, "write", "3</srv/a>, \"x\", 1"), (9, "write", "3</srv/b>, \"x\", 1"));
        assert_eq!(found(&[one, other, one, other, one, other]), [7, 9]);
        assert_eq!(found(&[one, other, one]), [0; 0]);
        // As do three, and not where it was closed between.
        let third = (11, "write", "3</srv/c>, \"x\", 1");
        assert_eq!(found(&[one, other, third].repeat(4)), [7, 9, 11]);
        assert_eq!(
            found(&[one, (7, "close", "3</srv/a>"), other, (9, "close", "3</srv/b>")].repeat(4)),
            [0; 0]
        );
        // Threads that it makes are as it is itself.
        let makes = (9, "clone3", "{flags=CLONE_VM|CLONE_THREAD, stack=NULL}, 88");
        let child = (1, "write", "3</srv/b>, \"x\", 1");
        assert_eq!(found(&[&[other, makes][..], &[one, child].repeat(4)].concat()), [7, 9]);
        // One number that is opened anew again and again is one table's.
        let files =
            ["3</srv/a>, \"x\", 1", "3</srv/b>, \"x\", 1", "3</srv/c>, \"x\", 1", "3</srv/d>, \"x\", 1"];
        let calls: Vec<_> =
            (0..16).map(|at| (7 + 2 * (at / 2 % 2) as u32, "write", files[at / 2 % 4])).collect();
        assert_eq!(found(&calls), [0; 0]);
    }

    #[test]
    fn who_goes_on_when_the_other_has_ended_its_process_is_of_another_one() {
        let step = |tid| (tid, "read", "3, \"x\", 1");
        assert_eq!(found(&[step(7), step(9), (7, "exit_group", "0"), step(9)]), [7]);
        // Those that go on stay one process: children that were there before it was traced end one by one.
        let ends = |tid| (tid, "exit_group", "0");
        let all = [step(1), step(2), step(7), ends(7), step(1), step(2), step(8), ends(8), step(2), step(1)];
        assert_eq!(found(&all), [7, 8]);
        assert_eq!(found(&[step(7), step(9), step(9)]), [0; 0]);
    }
}
