//! Signs of threads and processes that the capture does not show: children that never appear, wakes by nobody.

use crate::Fold;
use crate::args::futex::futex_waits;
use crate::exemplar::Exemplar;
use crate::world::{Seen, World};
use whyslow_model::event::Tid;
use whyslow_model::{CallFlags, Syscall, Timestamp, text};

/// A thread or process that was made within the capture.
#[derive(Clone, Debug)]
pub struct Child {
    /// Its number.
    pub tid: Tid,
    /// A thread of the caller's process, not a process.
    pub is_thread: bool,
    /// The thread that made it.
    pub parent: Tid,
    /// When.
    pub ts: Timestamp,
    /// Calls in the capture until then.
    pub calls_before: u64,
    /// The line.
    pub exemplar: Exemplar,
}

/// Calls of one kind: how many, and the first.
#[derive(Debug, Default)]
pub struct Sign {
    /// How many.
    pub count: u64,
    /// The first line.
    pub first: Option<Exemplar>,
}

impl Sign {
    fn see(&mut self, seen: &Seen<'_>) {
        self.count += 1;
        if self.first.is_none() {
            self.first = Some(Exemplar::of(seen.call));
        }
    }
}

/// The highest value of a lock's word: held and wanted (glibc's lowlevellock.h).
const HIGHEST_LOCK_STATE: i64 = 2;

/// Signs of what the capture does not show.
#[derive(Debug, Default)]
pub struct Hidden {
    /// The first children made.
    pub children: Vec<Child>,
    /// Threads made.
    pub threads_made: u64,
    /// Processes made.
    pub processes_made: u64,
    /// Waits on a private futex that ended because some thread of the process woke it.
    pub woken: Sign,
    /// A wait on a private futex, or for a thread's end, without a limit of time, that lasted to the capture's end: only another thread of the process can end
    /// it.
    pub held: Sign,
    /// Wakes of a private futex that woke some thread of the process.
    pub woke: Sign,
}

impl Hidden {
    /// Children kept: enough to tell a capture without `-f`.
    const MAX_CHILDREN: usize = 64;
}

impl Fold for Hidden {
    fn wants(&self, syscall: Syscall) -> bool {
        matches!(syscall, Syscall::CLONE | Syscall::CLONE3 | Syscall::FORK | Syscall::VFORK | Syscall::FUTEX)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        if call.syscall == Syscall::FUTEX && call.flags.contains(CallFlags::END_NOT_SEEN) {
            let is_private = memchr::memmem::find(call.args, b"PRIVATE").is_some();
            // glibc joins a thread at the word that has its number, which the kernel clears (pthread_join.c, set_tid_address(2)).
            let joins = call.arg(2).and_then(text::number).is_some_and(|value| value > HIGHEST_LOCK_STATE);
            let endless = call.arg(3).is_some_and(|limit| limit == b"NULL");
            if (is_private || joins) && endless && futex_waits(call.args) {
                self.held.see(seen);
            }
            return;
        }
        let Some(ret) = call.ok() else { return };
        if call.syscall == Syscall::FUTEX {
            let waits = futex_waits(call.args);
            // Two threads: whoever woke or was woken may be the other one.
            let alone = world.threads.process(seen.process).threads <= 1;
            if alone && waits == (ret == 0) && memchr::memmem::find(call.args, b"PRIVATE").is_some() {
                match waits {
                    true => self.woken.see(seen),
                    false => self.woke.see(seen),
                }
            }
            return;
        }
        let Some(tid) = Tid::try_from(ret).ok().filter(|tid| *tid != 0) else { return };
        let is_thread = memchr::memmem::find(call.args, b"CLONE_THREAD").is_some();
        match is_thread {
            true => self.threads_made += 1,
            false => self.processes_made += 1,
        }
        if self.children.len() < Self::MAX_CHILDREN {
            self.children.push(Child {
                tid,
                is_thread,
                parent: call.tid,
                ts: call.ts,
                calls_before: world.calls,
                exemplar: Exemplar::of(call),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Event, Ret, Sink};

    fn play(lines: &[(u32, &str, &str, i64)]) -> Facts {
        let mut facts = Facts::default();
        for &(tid, name, args, ret) in lines {
            let call = Call { tid, ret: Ret::Value(ret), ..Call::new(name, args) };
            facts.push(Event::Call(&call));
        }
        facts.finish();
        facts
    }

    #[test]
    fn children_that_appear_are_not_unborn() {
        let clone = (1, "clone", "child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD", 2);
        let alone = play(&[clone]);
        assert_eq!((alone.hidden.threads_made, alone.world.is_unborn(2)), (1, true));
        let both = play(&[clone, (2, "getpid", "", 1)]);
        assert!(!both.world.is_unborn(2));
    }

    #[test]
    fn a_lone_thread_that_is_woken_was_woken_by_one_that_is_not_shown() {
        let wait = (1, "futex", "0x7f, FUTEX_WAIT_PRIVATE, 2, NULL", 0);
        assert_eq!(play(&[wait]).hidden.woken.count, 1);
        assert_eq!(play(&[(2, "getpid", "", 1), wait]).hidden.woken.count, 0);
        let wake = |woken| (1, "futex", "0x7f, FUTEX_WAKE_PRIVATE, 1", woken);
        assert_eq!(play(&[wake(0), wake(1)]).hidden.woke.count, 1);
    }
}
