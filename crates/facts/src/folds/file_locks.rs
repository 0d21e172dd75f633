//! Locks on files and System V semaphores: who waited how long, and who had the lock meanwhile.

use crate::Fold;
use crate::LifeId;
use crate::exemplar::{Exemplar, Exemplars};
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{Call, CallFlags, Nanos, Syscall, Timestamp};

/// One lock: a file's (flock, fcntl) or a set of semaphores (semop).
#[derive(Debug)]
pub struct FileLock {
    /// The file, or `semaphore set 3`; `fd 5` where the file is not known.
    pub name: Box<str>,
    /// The call that waits.
    pub syscall: Syscall,
    /// Times it was asked for in a way that may wait.
    pub asked: u64,
    /// Waits of a millisecond or more that ended.
    pub waits: u64,
    /// Time in them, ns.
    pub wait_ns: u64,
    /// A wait that the capture's end cut off: who, since when, the line.
    pub unfinished: Option<Box<Exemplar>>,
    /// Who waited, and how long, ns; the first few threads.
    pub waiters: Vec<(Tid, u64)>,
    /// Who had it when a wait began, with the time of those waits, ns; the first few threads.
    pub holders: Vec<(Tid, u64)>,
    /// Lines of waits.
    pub exemplars: Exemplars,
    /// The longest wait whose holder is known, and that thread.
    pub longest: Option<Box<(Exemplar, Tid)>>,
    /// Who has it now and since when.
    holder: Option<(Tid, Timestamp)>,
    /// Who had it before, from when to when.
    last_held: Option<(Tid, Timestamp, Timestamp)>,
}

/// All locks of that kind.
#[derive(Debug, Default)]
pub struct FileLocks {
    /// The rows.
    pub rows: Vec<FileLock>,
    /// Which row the last lock taken on a descriptor belongs to: closing it gives the lock up.
    taken: HashMap<LifeId, usize, foldhash::fast::RandomState>,
}

enum Deed {
    Lock { may_wait: bool },
    Unlock,
}

impl FileLocks {
    /// Locks told apart; further ones are not kept.
    const MAX_LOCKS: usize = 512;
    /// Threads kept of each lock, on each side.
    const MAX_PARTIES: usize = 32;
    /// Descriptors with a lock that are remembered.
    const MAX_TAKEN: usize = 4_096;
    /// A call this short did not wait, or waited for nothing to speak of, ns.
    const SHORTEST_WAIT_NS: u64 = 1_000_000;

    fn row(&mut self, name: String, syscall: Syscall) -> Option<usize> {
        let at = self.rows.iter().position(|row| *row.name == *name);
        let at = match at {
            Some(at) => at,
            None if self.rows.len() < Self::MAX_LOCKS => {
                self.rows.push(FileLock {
                    name: name.into(),
                    syscall,
                    asked: 0,
                    waits: 0,
                    wait_ns: 0,
                    unfinished: None,
                    waiters: Vec::new(),
                    holders: Vec::new(),
                    exemplars: Exemplars::default(),
                    longest: None,
                    holder: None,
                    last_held: None,
                });
                self.rows.len() - 1
            }
            None => return None,
        };
        Some(at)
    }
}

impl FileLock {
    /// Time in waits.
    pub fn waited(&self) -> Nanos {
        Nanos::new(self.wait_ns)
    }

    /// Who has had it since before the capture's end.
    pub fn holds_now(&self) -> Option<Tid> {
        self.holder.map(|(tid, _)| tid)
    }

    /// Who had it for most of the waiting.
    pub fn main_holder(&self) -> Option<(Tid, Nanos)> {
        let holder = self.holders.iter().max_by_key(|(tid, ns)| (*ns, std::cmp::Reverse(*tid)))?;
        Some((holder.0, Nanos::new(holder.1)))
    }

    fn ask(&mut self, call: &Call<'_>) {
        self.asked += 1;
        if call.flags.contains(CallFlags::END_NOT_SEEN) {
            self.unfinished.get_or_insert_with(|| Box::new(Exemplar::of(call)));
            return;
        }
        let ns = call.dur.or_zero();
        if ns >= FileLocks::SHORTEST_WAIT_NS {
            self.waits += 1;
            self.wait_ns = self.wait_ns.saturating_add(ns);
            add(&mut self.waiters, call.tid, ns);
            self.exemplars.see(call);
            // Who had it while this thread waited: the one that gave it up last, in that time or at its end.
            let had =
                |from: Timestamp, to: Timestamp| from <= call.end() && (!to.is_known() || to >= call.ts);
            let holder = self.last_held.filter(|(tid, from, to)| *tid != call.tid && had(*from, *to));
            let now = self.holder.filter(|(tid, from)| *tid != call.tid && had(*from, Timestamp::UNKNOWN));
            if let Some(tid) = now.map(|(tid, _)| tid).or(holder.map(|(tid, ..)| tid)) {
                add(&mut self.holders, tid, ns);
                if self.longest.as_ref().is_none_or(|longest| longest.0.dur < call.dur) {
                    self.longest = Some(Box::new((Exemplar::of(call), tid)));
                }
            }
        }
        if call.ok().is_some() {
            self.give_up(call.end());
            self.holder = Some((call.tid, call.end()));
        }
    }

    fn give_up(&mut self, at: Timestamp) {
        if let Some((tid, from)) = self.holder.take() {
            self.last_held = Some((tid, from, at));
        }
    }
}

fn add(parties: &mut Vec<(Tid, u64)>, tid: Tid, ns: u64) {
    match parties.iter().position(|(known, _)| *known == tid) {
        Some(at) => parties[at].1 += ns,
        None if parties.len() < FileLocks::MAX_PARTIES => parties.push((tid, ns)),
        None => {}
    }
}

fn deed(call: &Call<'_>) -> Option<Deed> {
    let has = |word: &[u8]| memchr::memmem::find(call.args, word).is_some();
    match call.syscall {
        Syscall::FCNTL | Syscall::FCNTL64 if !has(b"SETLK") => None,
        Syscall::FCNTL | Syscall::FCNTL64 if has(b"F_UNLCK") => Some(Deed::Unlock),
        Syscall::FCNTL | Syscall::FCNTL64 => Some(Deed::Lock { may_wait: has(b"SETLKW") }),
        _ if is_flock(call.syscall) && has(b"LOCK_UN") => Some(Deed::Unlock),
        _ if is_flock(call.syscall) => Some(Deed::Lock { may_wait: !has(b"LOCK_NB") }),
        // A semaphore that is taken is counted down (semop(2)).
        _ if has(b"sem_op=-") || has(b", -") => Some(Deed::Lock { may_wait: !has(b"IPC_NOWAIT") }),
        _ => Some(Deed::Unlock),
    }
}

fn is_flock(syscall: Syscall) -> bool {
    syscall.info().name == "flock"
}

fn is_semop(syscall: Syscall) -> bool {
    syscall.info().name.starts_with("sem")
}

impl Fold for FileLocks {
    fn wants(&self, syscall: Syscall) -> bool {
        let name = syscall.info().name;
        matches!(syscall, Syscall::FCNTL | Syscall::FCNTL64 | Syscall::SEMOP | Syscall::CLOSE)
            || is_flock(syscall)
            || name.starts_with("semtimedop")
    }

    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        if call.syscall == Syscall::CLOSE {
            if let Some(at) = seen.life.and_then(|life| self.taken.remove(&life)) {
                self.rows[at].give_up(call.ts);
            }
            return;
        }
        let Some(deed) = deed(call) else { return };
        let name = match is_semop(call.syscall) {
            true => {
                let id = call.arg(0).map_or(String::from("?"), whyslow_model::text::lossy);
                format!("semaphore set {id}")
            }
            false => {
                let life = seen.life.and_then(|life| world.fds.get(life));
                let fd = seen.fd.map_or(String::from("?"), |fd| fd.to_string());
                life.and_then(|life| life.target(world)).unwrap_or_else(|| format!("fd {fd}"))
            }
        };
        let Some(at) = self.row(name, call.syscall) else { return };
        if let Some(life) = seen.life.filter(|_| call.ok().is_some()) {
            if self.taken.len() >= Self::MAX_TAKEN {
                self.taken.clear();
            }
            match deed {
                Deed::Lock { .. } => self.taken.insert(life, at),
                Deed::Unlock => self.taken.remove(&life),
            };
        }
        let row = &mut self.rows[at];
        match deed {
            Deed::Lock { may_wait: true } => row.ask(call),
            Deed::Lock { may_wait: false } if call.ok().is_some() => {
                row.give_up(call.ts);
                row.holder = Some((call.tid, call.end()));
            }
            Deed::Unlock if row.holder.is_some_and(|(tid, _)| tid == call.tid) => row.give_up(call.ts),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Event, Nanos, Ret, Sink, Timestamp};

    fn push(facts: &mut Facts, tid: u32, at_ms: u64, dur_ms: u64, args: &str) {
        let mut call = Call::new("flock", args);
        call.tid = tid;
        call.ts = Timestamp::new(1 + at_ms * 1_000_000);
        call.dur = Nanos::from_millis(dur_ms);
        call.ret = Ret::Value(0);
        facts.push(Event::Call(&call));
    }

    #[test]
    fn the_holder_is_who_had_it_while_others_waited() {
        let mut facts = Facts::default();
        push(&mut facts, 1, 0, 0, "5</var/x.lock>, LOCK_EX");
        push(&mut facts, 1, 30, 0, "5</var/x.lock>, LOCK_UN");
        push(&mut facts, 2, 5, 25, "6</var/x.lock>, LOCK_EX");
        let lock = &facts.file_locks.rows[0];
        assert_eq!((&*lock.name, lock.waits, lock.wait_ns), ("/var/x.lock", 1, 25_000_000));
        assert_eq!(lock.main_holder(), Some((1, Nanos::from_millis(25))));
    }

    #[test]
    fn closing_gives_the_lock_up() {
        let mut facts = Facts::default();
        push(&mut facts, 1, 0, 0, "5</var/x.lock>, LOCK_EX");
        let mut call = Call::new("close", "5</var/x.lock>");
        (call.tid, call.ts, call.dur) = (1, Timestamp::new(1_000_000), Nanos::ZERO);
        call.ret = Ret::Value(0);
        facts.push(Event::Call(&call));
        push(&mut facts, 2, 5, 25, "6</var/x.lock>, LOCK_EX");
        assert_eq!(facts.file_locks.rows[0].main_holder(), None);
    }

    #[test]
    fn rows_are_bounded() {
        let mut facts = Facts::default();
        for i in 0..5_000 {
            push(&mut facts, i, 0, 5, &format!("{i}</tmp/{i}.lock>, LOCK_EX"));
            push(&mut facts, i, 0, 5, "3</tmp/one.lock>, LOCK_EX");
        }
        assert!(facts.file_locks.rows.len() <= super::FileLocks::MAX_LOCKS);
        let parties = |row: &super::FileLock| row.waiters.len().max(row.holders.len());
        assert!(facts.file_locks.rows.iter().all(|row| parties(row) <= super::FileLocks::MAX_PARTIES));
    }
}
