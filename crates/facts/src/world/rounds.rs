//! Rounds: a file or directory opened, read and closed, again and again, with the same outcome.

use crate::world::fds::{FdLife, Origin};
use crate::world::ids::ProcessId;
use whyslow_model::{Nanos, Timestamp};

/// The rounds of one file.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    /// Times it was opened within the capture, read (or listed), not written, and closed.
    pub count: u64,
    /// Of these, by a process that had done so before, and with as many bytes as the round before.
    pub same: u64,
    /// Bytes that those brought once more.
    pub same_bytes: u64,
    /// When the first of those was opened.
    pub first: Timestamp,
    /// When the last of those was closed.
    pub last: Timestamp,
    last_bytes: u64,
    processes: [Option<ProcessId>; Rounds::PROCESSES],
}

impl Rounds {
    /// Processes remembered: a few workers take turns; each child of a shell is another process and does its
    /// first round.
    const PROCESSES: usize = 4;

    /// Counts the round that ends with the close of `life`, if it was one.
    #[inline]
    pub(crate) fn see(&mut self, life: &FdLife) {
        if life.origin != Origin::Open || life.is_open() || life.writes.is_some() {
            return;
        }
        let bytes = life.listed + life.reads.as_ref().map_or(0, |io| io.calls.bytes);
        if bytes == 0 {
            return;
        }
        self.count += 1;
        let known = self.processes.contains(&Some(life.process));
        if known && bytes == self.last_bytes {
            self.same += 1;
            self.same_bytes = self.same_bytes.saturating_add(bytes);
            if !self.first.is_known() {
                self.first = life.opened;
            }
            if life.closed.is_known() {
                self.last = life.closed;
            }
        }
        self.last_bytes = bytes;
        if !known {
            self.processes.rotate_right(1);
            self.processes[0] = Some(life.process);
        }
    }

    /// Adds the rounds of another file of the same pattern.
    pub(crate) fn merge(&mut self, other: &Rounds) {
        self.count = self.count.saturating_add(other.count);
        self.same += other.same;
        self.same_bytes = self.same_bytes.saturating_add(other.same_bytes);
        if other.first.is_known() && self.first.get().is_none_or(|first| other.first.get() < Some(first)) {
            self.first = other.first;
        }
        if other.last.is_known() && self.last.get().is_none_or(|last| other.last.get() > Some(last)) {
            self.last = other.last;
        }
    }

    /// The rounds with the same outcome a second, from the first to the last of them; `None` without a clock.
    pub fn per_second(&self) -> Option<f64> {
        crate::window::per_second(self.same, self.first, self.last)
    }

    /// From the first to the last round with the same outcome; unknown without a clock.
    pub fn span(&self) -> Nanos {
        self.last.since(self.first)
    }

    /// Bytes of one round.
    pub fn bytes_each(&self) -> u64 {
        self.same_bytes.checked_div(self.same).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Facts, Rounds};
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

    fn rounds(facts: &Facts, path: &str) -> Rounds {
        facts.world.files.find(path).map(|file| file.rounds.clone()).unwrap_or_default()
    }

    const OPEN: (u32, &str, &str, i64) = (1, "openat", r#"AT_FDCWD, "/etc/app.conf", O_RDONLY"#, 3);

    #[test]
    fn equal_rounds_of_one_process_are_counted() {
        let round = [OPEN, (1, "read", r#"3, "x"..., 4096"#, 90), (1, "close", "3", 0)];
        let facts = play(&[round, round, round].concat());
        assert_eq!((rounds(&facts, "/etc/app.conf").count, rounds(&facts, "/etc/app.conf").same), (3, 2));
        assert_eq!(rounds(&facts, "/etc/app.conf").bytes_each(), 90);
    }

    #[test]
    fn another_size_or_a_write_is_no_equal_round() {
        let facts = play(&[
            OPEN,
            (1, "read", r#"3, "x"..., 4096"#, 90),
            (1, "close", "3", 0),
            OPEN,
            (1, "read", r#"3, "x"..., 4096"#, 91),
            (1, "close", "3", 0),
            OPEN,
            (1, "write", r#"3, "x"..., 91"#, 91),
            (1, "close", "3", 0),
        ]);
        assert_eq!((rounds(&facts, "/etc/app.conf").count, rounds(&facts, "/etc/app.conf").same), (2, 0));
    }

    #[test]
    fn listings_of_a_directory_are_rounds() {
        let listing = [
            (1, "openat", r#"AT_FDCWD, "/spool", O_RDONLY|O_DIRECTORY"#, 4),
            (1, "getdents64", "4, 0x55 /* 9 entries */, 32768", 312),
            (1, "getdents64", "4, 0x55 /* 0 entries */, 32768", 0),
            (1, "close", "4", 0),
        ];
        let facts = play(&[listing, listing].concat());
        assert_eq!(rounds(&facts, "/spool").same_bytes, 312);
    }

    #[test]
    fn each_child_does_its_own_round() {
        let mut calls = vec![(1, "getpid", "", 1)];
        for child in 10..20 {
            calls.push((1, "clone", "child_stack=NULL, flags=SIGCHLD", child as i64));
            calls.push((child, "openat", r#"AT_FDCWD, "/etc/ld.so.cache", O_RDONLY"#, 3));
            calls.push((child, "read", r#"3, "x"..., 4096"#, 90));
            calls.push((child, "close", "3", 0));
        }
        let facts = play(&calls);
        assert_eq!(
            (rounds(&facts, "/etc/ld.so.cache").count, rounds(&facts, "/etc/ld.so.cache").same),
            (10, 0)
        );
    }
}
