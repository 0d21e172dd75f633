//! /proc/locks: who holds locks on files, and who waits for them (proc_locks(5)).

use crate::text;
use std::collections::BTreeMap;

/// A line: `1: -> FLOCK  ADVISORY  WRITE 23473 fe:01:131 0 EOF`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockLine {
    /// Number of the lock; who waits for it stands below it with the same one.
    pub number: u64,
    /// It is not held but waited for.
    pub waits: bool,
    /// The process; `None` where the kernel tells none (a lock of an open file, another namespace).
    pub pid: Option<u32>,
}

/// The line, if it is one.
pub fn line(line: &[u8]) -> Option<LockLine> {
    let mut words = text::words(line.trim_ascii());
    let number = text::number(words.next()?.strip_suffix(b":")?)?;
    let mut kind = words.next()?;
    let waits = kind == b"->";
    if waits {
        kind = words.next()?;
    }
    let known: [&[u8]; 6] = [b"FLOCK", b"POSIX", b"OFDLCK", b"LEASE", b"DELEG", b"ACCESS"];
    if !known.contains(&kind) {
        return None;
    }
    let (_advisory, _access) = (words.next()?, words.next()?);
    let pid = text::signed(words.next()?)?;
    Some(LockLine { number, waits, pid: u32::try_from(pid).ok().filter(|pid| *pid > 0) })
}

/// Who waits for whom, line by line.
#[derive(Debug, Default)]
pub struct Waiters {
    holder: Option<LockLine>,
    waits: BTreeMap<u32, u32>,
}

impl Waiters {
    /// Waiting processes that are kept.
    const MOST: usize = 4_096;

    /// Takes the next line.
    pub fn take(&mut self, line: LockLine) {
        if !line.waits {
            self.holder = Some(line);
        }
        let holder = self.holder.filter(|holder| line.waits && holder.number == line.number);
        if let (Some(waiter), Some(holder)) = (line.pid, holder.and_then(|holder| holder.pid))
            && self.waits.len() < Self::MOST
        {
            self.waits.insert(waiter, holder);
        }
    }

    /// Each process that waits, and the one that holds what it waits for.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        self.waits.iter().map(|(waiter, holder)| (*waiter, *holder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_told_with_who_holds() {
        // Of a kernel 6.18, with one lock of an open file (OFDLCK).
        let text = "1: FLOCK  ADVISORY  WRITE 23470 fe:01:131 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 23473 fe:01:131 0 EOF\n\
                    2: OFDLCK ADVISORY  WRITE -1 00:1a:9 0 EOF\n2: -> POSIX  ADVISORY  WRITE 77 00:1a:9 0 EOF\n\
                    3: POSIX  ADVISORY  READ 10 fe:01:7 0 99\n";
        let mut waiters = Waiters::default();
        text::lines(text.as_bytes()).filter_map(line).for_each(|line| waiters.take(line));
        assert_eq!(waiters.pairs().collect::<Vec<_>>(), [(23473, 23470)]);
        for other in ["", "1:", "cpu 1 2", "1: FLOCK", "x: FLOCK ADVISORY WRITE 1 fe:01:131 0 EOF"] {
            assert_eq!(line(other.as_bytes()), None, "{other}");
        }
    }
}
