//! Locks on files and System V semaphores: who waited how long, and who had the lock meanwhile.

use crate::Fold;
use crate::LifeId;
use crate::exemplar::{Exemplar, Exemplars};
use crate::folds::sleeps::is_sleep;
use crate::world::{Seen, World};
use hashbrown::HashMap;
use std::hash::BuildHasher;
use whyslow_model::event::Tid;
use whyslow_model::{Call, CallFlags, Errno, Nanos, Syscall, Timestamp};

/// One lock: a file's (flock, fcntl) or a set of semaphores (semop).
#[derive(Debug)]
pub struct FileLock {
    /// The file, or `semaphore set 3`; `fd 5` where the file is not known.
    pub name: Box<str>,
    /// The call that waits.
    pub syscall: Syscall,
    /// Times it was asked for in a way that may wait.
    pub asked: u64,
    /// Tries that were refused at once, because somebody has it.
    pub refused: u64,
    /// Times that who took it last gave it up: of a semaphore that is a lock, each time.
    pub given_back: u64,
    /// Waits of a millisecond or more that ended; also those of a thread that sleeps between tries, until it gets it.
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
    /// Lines of shorter ones.
    pub brief_exemplars: Exemplars,
    /// The longest wait whose holder is known, and that thread.
    pub longest: Option<Box<(Exemplar, Tid)>>,
    /// Who has it now and since when.
    holder: Option<(Tid, Timestamp)>,
    /// Who had it before, from when to when.
    last_held: Option<(Tid, Timestamp, Timestamp)>,
    /// Who took a range of it last, by the range; the first few.
    ranges: Vec<(u64, Tid)>,
}

/// A thread that was refused a lock and tries again after a sleep, as SQLite does.
#[derive(Debug)]
struct Refused {
    /// The lock's row.
    row: usize,
    /// The range and type that was asked for.
    range: u64,
    /// Slept since, ns.
    slept_ns: u64,
    holder: Option<Tid>,
    line: Exemplar,
}

/// All locks of that kind.
#[derive(Debug, Default)]
pub struct FileLocks {
    /// The rows.
    pub rows: Vec<FileLock>,
    /// Which row the last lock taken on a descriptor belongs to: closing it gives the lock up.
    taken: HashMap<LifeId, usize, foldhash::fast::RandomState>,
    /// By thread, the lock that it was refused last.
    refused: HashMap<Tid, Refused, foldhash::fast::RandomState>,
    hasher: foldhash::fast::RandomState,
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
    /// Threads that were refused a lock and are remembered.
    const MAX_REFUSED: usize = 1_024;
    /// Ranges of a lock whose holder is remembered.
    const MAX_RANGES: usize = 16;
    /// Who sleeps longer before the next try does something else meanwhile: it looks now and then.
    const LONGEST_PAUSE: Nanos = Nanos::from_secs(1);
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
                    refused: 0,
                    given_back: 0,
                    waits: 0,
                    wait_ns: 0,
                    unfinished: None,
                    waiters: Vec::new(),
                    holders: Vec::new(),
                    exemplars: Exemplars::default(),
                    brief_exemplars: Exemplars::default(),
                    longest: None,
                    holder: None,
                    last_held: None,
                    ranges: Vec::new(),
                });
                self.rows.len() - 1
            }
            None => return None,
        };
        Some(at)
    }

    /// A try that does not wait: what of it is asked for, by its arguments behind the descriptor.
    fn tried(&mut self, at: usize, call: &Call<'_>) {
        let behind = memchr::memchr(b',', call.args).map_or(&b""[..], |comma| &call.args[comma..]);
        let range = self.hasher.hash_one(behind);
        let row = &mut self.rows[at];
        row.asked += 1;
        let is_refused = matches!(call.errno, Errno::EAGAIN | Errno::EACCES);
        let holder = row.ranges.iter().find(|(known, _)| *known == range).map(|(_, tid)| *tid);
        if call.ok().is_some() {
            let known = row.ranges.iter().position(|(known, _)| *known == range);
            match known {
                Some(known) => row.ranges[known].1 = call.tid,
                None if row.ranges.len() < Self::MAX_RANGES => row.ranges.push((range, call.tid)),
                None => {}
            }
        }
        row.refused += u64::from(is_refused);
        let is_it = |refused: &Refused| (refused.row, refused.range) == (at, range);
        let before = self.refused.get(&call.tid);
        // Another part of the same lock may be taken in between: SQLite reads before it tries to write.
        if before.is_some_and(|before| is_it(before) == is_refused) || before.is_none() && !is_refused {
            return;
        }
        if let Some(ended) = self.refused.remove(&call.tid) {
            self.slept_for(ended, call.tid);
        }
        if is_refused && self.refused.len() < Self::MAX_REFUSED {
            let holder = holder.filter(|holder| *holder != call.tid);
            let line = Exemplar::of(call);
            self.refused.insert(call.tid, Refused { row: at, range, slept_ns: 0, holder, line });
        }
    }

    /// The end of the tries for a lock: what the thread slept between them it waited for that.
    fn slept_for(&mut self, ended: Refused, tid: Tid) {
        if ended.slept_ns < Self::SHORTEST_WAIT_NS {
            return;
        }
        let row = &mut self.rows[ended.row];
        row.waits += 1;
        row.wait_ns = row.wait_ns.saturating_add(ended.slept_ns);
        add(&mut row.waiters, tid, ended.slept_ns);
        if let Some(holder) = ended.holder {
            add(&mut row.holders, holder, ended.slept_ns);
        }
        row.exemplars.add(ended.line, ended.slept_ns);
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
        if ns < FileLocks::SHORTEST_WAIT_NS {
            self.brief_exemplars.see(call);
        } else {
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

/// How long a call slept, where that is all that it did.
fn slept(call: &Call<'_>) -> Option<u64> {
    let is_over = match call.syscall {
        Syscall::FUTEX => call.errno == Errno::ETIMEDOUT,
        syscall if is_sleep(syscall) => call.ok() == Some(0),
        _ => return None,
    };
    call.dur.get().filter(|_| is_over && call.dur <= FileLocks::LONGEST_PAUSE)
}

impl Fold for FileLocks {
    fn wants(&self, syscall: Syscall) -> bool {
        let name = syscall.info().name;
        is_sleep(syscall)
            || matches!(syscall, Syscall::FCNTL | Syscall::FCNTL64 | Syscall::SEMOP | Syscall::CLOSE)
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
        if is_sleep(call.syscall) {
            if let Some(refused) = self.refused.get_mut(&call.tid) {
                refused.slept_ns = refused.slept_ns.saturating_add(slept(call).unwrap_or(0));
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
        if matches!(deed, Deed::Lock { may_wait: false }) {
            self.tried(at, call);
        }
        let row = &mut self.rows[at];
        match deed {
            Deed::Lock { may_wait: true } => row.ask(call),
            Deed::Lock { may_wait: false } if call.ok().is_some() => {
                row.give_up(call.ts);
                row.holder = Some((call.tid, call.end()));
            }
            Deed::Unlock if row.holder.is_some_and(|(tid, _)| tid == call.tid) => {
                row.given_back += 1;
                row.give_up(call.ts);
            }
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
    fn who_sleeps_between_refused_tries_waits_until_it_gets_the_lock() {
        let mut facts = Facts::default();
        let mut call = |tid: u32, at_ms: u64, dur_ms: u64, name: &'static str, args: &str, errno: u16| {
            let mut call = Call::new(name, args);
            call.tid = tid;
            (call.ts, call.dur) = (Timestamp::new(1 + at_ms * 1_000_000), Nanos::from_millis(dur_ms));
            call.ret = Ret::Value(if errno == 0 { 0 } else { -1 });
            call.errno = whyslow_model::Errno(errno);
            facts.push(Event::Call(&call));
        };
        let write = "5</srv/a.db>, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=1073741825, l_len=1}";
        let read =
            "5</srv/a.db>, F_SETLK, {l_type=F_RDLCK, l_whence=SEEK_SET, l_start=1073741826, l_len=510}";
        let sleep = "CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=10000000}, NULL";
        call(1, 0, 0, "fcntl", write, 0);
        for at in [1, 20, 40] {
            call(2, at, 0, "fcntl", read, 0);
            call(2, at, 0, "fcntl", write, 11);
            call(2, at + 1, 10, "clock_nanosleep", sleep, 0);
        }
        // Who does something else for a minute does not wait.
        call(2, 60, 60_000, "clock_nanosleep", sleep, 0);
        call(2, 61_000, 0, "fcntl", write, 0);
        call(2, 61_001, 10, "clock_nanosleep", sleep, 0);
        let lock = &facts.file_locks.rows[0];
        assert_eq!((lock.refused, lock.waits, lock.wait_ns, lock.asked), (3, 1, 30_000_000, 8));
        assert_eq!(lock.main_holder(), Some((1, Nanos::from_millis(30))));
        assert_eq!(lock.waiters, [(2, 30_000_000)]);
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
