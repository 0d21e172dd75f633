//! Who uses a file, and how much: by process and thread.

use crate::world::fds::{FdLife, Origin};
use crate::world::ids::ProcessId;
use whyslow_model::event::Tid;
use whyslow_model::{CallStats, FileIo, FileOp, Nanos, RareStats, Timestamp};

/// A thread that uses a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct User {
    /// Its process.
    pub process: ProcessId,
    /// Its number; 0 where several threads share a descriptor, or none is told.
    pub tid: Tid,
}

/// Calls of one kind, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls.
    pub calls: u64,
    /// Of these, failed ones.
    pub errors: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Calls that began where the thread's one before ended; `None` where that is not told of all.
    pub in_order: Option<u64>,
    /// Calls whose duration is known.
    pub timed: u64,
    /// Their time, ns.
    pub total_ns: u64,
    /// The longest, ns.
    pub longest_ns: u64,
}

impl Tally {
    fn of(calls: &CallStats) -> Tally {
        Tally {
            calls: calls.count,
            errors: calls.errors,
            bytes: calls.bytes,
            in_order: None,
            timed: calls.timed,
            total_ns: calls.total_ns,
            longest_ns: calls.max().or_zero(),
        }
    }

    fn of_rare(calls: &RareStats) -> Tally {
        Tally {
            calls: calls.count,
            errors: calls.errors,
            total_ns: calls.total_ns,
            longest_ns: calls.max().or_zero(),
            ..Tally::default()
        }
    }

    /// Calls that did not fail.
    pub fn succeeded(&self) -> u64 {
        self.calls.saturating_sub(self.errors)
    }

    /// Adds others. A damaged recording may claim any figures: sums stay at the most that there is.
    pub fn add(&mut self, other: &Tally) {
        self.in_order = match (self.in_order, other.in_order) {
            (Some(own), Some(others)) => Some(own.saturating_add(others)),
            (None, others) if self.calls == 0 => others,
            (own, None) if other.calls == 0 => own,
            _ => None,
        };
        self.calls = self.calls.saturating_add(other.calls);
        self.errors = self.errors.saturating_add(other.errors);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.timed = self.timed.saturating_add(other.timed);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }
}

/// What was done with a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileUse {
    /// Reads.
    pub reads: Tally,
    /// Writes.
    pub writes: Tally,
    /// fsync and fdatasync.
    pub syncs: Tally,
    /// Opens that succeeded.
    pub opens: Tally,
}

impl FileUse {
    fn all(&self) -> [&Tally; 4] {
        [&self.reads, &self.writes, &self.syncs, &self.opens]
    }

    /// All calls.
    pub fn calls(&self) -> u64 {
        self.all().iter().map(|tally| tally.calls).fold(0, u64::saturating_add)
    }

    /// Bytes read and written.
    pub fn bytes(&self) -> u64 {
        self.reads.bytes.saturating_add(self.writes.bytes)
    }

    /// Calls that failed.
    pub fn failed(&self) -> u64 {
        self.all().iter().map(|tally| tally.errors).fold(0, u64::saturating_add)
    }

    /// True where the duration of some of them is known.
    pub fn is_timed(&self) -> bool {
        self.all().iter().any(|tally| tally.timed > 0)
    }

    /// Time in all calls, ns.
    pub fn total_ns(&self) -> u64 {
        self.all().iter().map(|tally| tally.total_ns).fold(0, u64::saturating_add)
    }

    /// The longest call, ns.
    pub fn longest_ns(&self) -> u64 {
        self.all().iter().map(|tally| tally.longest_ns).max().unwrap_or(0)
    }

    /// Adds another use.
    pub fn add(&mut self, other: &FileUse) {
        self.reads.add(&other.reads);
        self.writes.add(&other.writes);
        self.syncs.add(&other.syncs);
        self.opens.add(&other.opens);
    }
}

/// The users of one file, or of the files of one pattern. Bounded: further ones of a process share a row, and then those
/// of all processes.
#[derive(Clone, Debug, Default)]
pub struct Users {
    users: Vec<(User, FileUse)>,
}

impl Users {
    /// Users told apart.
    const MOST: usize = 64;
    /// Whom the others are counted for.
    const OTHERS: User = User { process: ProcessId::NONE, tid: 0 };

    /// Each user, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = (User, &FileUse)> {
        self.users.iter().map(|(user, used)| (*user, used))
    }

    /// All users together.
    pub fn sum(&self) -> FileUse {
        self.users.iter().fold(FileUse::default(), |mut sum, (_, used)| {
            sum.add(used);
            sum
        })
    }

    fn of(&mut self, user: User) -> &mut FileUse {
        let find =
            |users: &[(User, FileUse)], user: User| users.iter().rposition(|(known, _)| *known == user);
        let room = self.users.len() < Self::MOST;
        let at = find(&self.users, user).or_else(|| match room {
            true => None,
            false => find(&self.users, User { tid: 0, ..user }).or_else(|| find(&self.users, Self::OTHERS)),
        });
        let at = at.unwrap_or_else(|| {
            self.users.push((if room { user } else { Self::OTHERS }, FileUse::default()));
            self.users.len() - 1
        });
        &mut self.users[at].1
    }

    /// Adds the users of another file.
    pub(crate) fn merge(&mut self, other: &Users) {
        other.users.iter().for_each(|(user, used)| self.of(*user).add(used));
    }

    /// Adds what was done through a descriptor in its life.
    pub(crate) fn see_life(&mut self, life: &FdLife) {
        let user = |tid: Option<Tid>| User { process: life.process, tid: tid.unwrap_or(0) };
        if life.origin == Origin::Open {
            self.of(user(Some(life.opened_by.0))).opens.calls += 1;
        }
        for (io, is_read) in [(&life.reads, true), (&life.writes, false)] {
            let Some(io) = io.as_deref().filter(|io| io.calls.count > 0) else { continue };
            let used = self.of(user(io.only_thread()));
            let side = if is_read { &mut used.reads } else { &mut used.writes };
            side.add(&Tally::of(&io.calls));
        }
        if life.syncs.count > 0 {
            let tid = life.writes.as_deref().and_then(|io| io.only_thread());
            self.of(user(tid)).syncs.add(&Tally::of_rare(&life.syncs));
        }
    }

    /// Adds calls that the kernel added up.
    pub(crate) fn see_sum(&mut self, process: ProcessId, io: &FileIo) {
        self.of(User { process, tid: io.tid }).see_sum(io);
    }
}

impl FileUse {
    /// Adds calls that the kernel added up.
    pub(crate) fn see_sum(&mut self, io: &FileIo) {
        let side = match io.op {
            FileOp::Read => &mut self.reads,
            FileOp::Write => &mut self.writes,
            FileOp::Sync => &mut self.syncs,
            FileOp::Open => &mut self.opens,
        };
        side.add(&Tally {
            calls: io.calls,
            errors: io.errors,
            bytes: io.bytes,
            in_order: io.in_order,
            timed: io.timed,
            total_ns: io.total.or_zero(),
            longest_ns: io.longest.or_zero(),
        });
    }
}

/// What is known of one file that the kernel wrote to a disk.
#[derive(Clone, Debug, Default)]
pub struct WrittenBack {
    /// Bytes of its pages that reached the disk.
    pub bytes: u64,
    /// Requests.
    pub requests: u64,
    /// Its path, where a write to it was seen.
    pub path: Option<Box<str>>,
    /// Who wrote to it, and how many bytes.
    pub writers: Vec<(User, u64)>,
    /// From the first to the last of the requests.
    pub first: Timestamp,
    /// The last one's completion.
    pub last: Timestamp,
}

impl WrittenBack {
    /// Writers told apart.
    const MOST_WRITERS: usize = 32;

    pub(crate) fn back(&mut self, bytes: u64, issued: Timestamp, completed: Timestamp) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.requests += 1;
        if !self.first.is_known() {
            self.first = issued;
        }
        if completed.is_known() {
            self.last = completed;
        }
    }

    pub(crate) fn written(&mut self, user: User, io: &FileIo) {
        if self.path.is_none() {
            self.path = io.path.as_deref().map(Into::into);
        }
        match self.writers.iter().position(|(known, _)| *known == user) {
            Some(at) => self.writers[at].1 = self.writers[at].1.saturating_add(io.bytes),
            None if self.writers.len() < Self::MOST_WRITERS => self.writers.push((user, io.bytes)),
            None => {}
        }
    }

    /// How long it took from the first request to the end of the last.
    pub fn span(&self) -> Nanos {
        self.last.since(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{FdKind, SocketEnds};

    pub(crate) fn io(pid: Tid, tid: Tid, op: FileOp, bytes: u64) -> FileIo {
        FileIo {
            pid,
            tid,
            op,
            kind: FdKind::File,
            path: None,
            file: None,
            first: Timestamp::UNKNOWN,
            last: Timestamp::UNKNOWN,
            calls: 2,
            errors: 0,
            timed: 2,
            bytes,
            total: Nanos::new(10),
            longest: Nanos::new(7),
            ends: SocketEnds::default(),
            size: None,
            in_order: None,
        }
    }

    #[test]
    fn users_past_the_bound_are_added_up() {
        let mut users = Users::default();
        for n in 0..1_000u32 {
            users.see_sum(ProcessId(n % 300), &io(1, 1 + n, FileOp::Write, 5));
            users.see_sum(ProcessId(n % 300), &io(1, 1 + n, FileOp::Open, 0));
        }
        assert_eq!(users.iter().count(), Users::MOST + 1);
        let sum = users.sum();
        assert_eq!((sum.writes.calls, sum.writes.bytes, sum.opens.calls), (2_000, 5_000, 2_000));
        assert_eq!((sum.calls(), sum.total_ns(), sum.longest_ns()), (4_000, 20_000, 7));
        let mut twice = users.clone();
        twice.merge(&users);
        assert_eq!(twice.sum().writes.bytes, 10_000);
        assert_eq!(twice.iter().count(), Users::MOST + 1);
    }
}
