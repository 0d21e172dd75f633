//! Payloads written twice: the same bytes to two descriptors of a process in quick succession.

use crate::Fold;
use crate::exemplar::Exemplar;
use crate::world::ids::LifeId;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use hashbrown::HashMap;
use std::hash::BuildHasher;
use whyslow_model::event::Tid;
use whyslow_model::{FdKind, Nanos, Syscall, Timestamp};

/// One of the two places that the same payload goes to.
#[derive(Clone, Debug)]
pub struct Copy {
    /// The descriptor.
    pub fd: i32,
    /// What it is.
    pub kind: FdKind,
    /// Its path or peer, if known.
    pub target: Option<String>,
    /// Time in the writes to it, ns (of the timed ones).
    pub total_ns: u64,
}

/// Two descriptors of a process that get the same payloads.
#[derive(Clone, Debug)]
pub struct DuplicatePair {
    /// The process.
    pub process: ProcessId,
    /// The first thread that wrote both.
    pub tid: Tid,
    /// Another thread did too.
    pub shared: bool,
    /// The one that is written first, and the other.
    pub copies: [Copy; 2],
    /// Payloads written to both.
    pub count: u64,
    /// Writes of the pair whose duration is known, of each.
    pub timed: u64,
    /// Bytes of one copy of these.
    pub bytes: u64,
    /// The line of the first payload's first copy.
    pub first_line: u64,
    /// Its second copy.
    pub exemplar: Exemplar,
}

/// Finds payloads that are written twice. A small ring of recent writes a process; the payload is known by a
/// hash of its head, tail and length as the capture shows them.
#[derive(Debug, Default)]
pub struct Duplicates {
    rings: HashMap<ProcessId, Ring>,
    pairs: HashMap<(ProcessId, i32, i32), DuplicatePair>,
    hasher: foldhash::fast::RandomState,
}

#[derive(Debug, Default)]
struct Ring {
    /// The hash of each; 0 for none.
    hashes: [u64; Ring::LENGTH],
    recent: [Recent; Ring::LENGTH],
    next: usize,
}

impl Ring {
    /// Appenders write one right behind the other; with a few threads at it, their writes mix.
    const LENGTH: usize = 8;
}

/// A write of the recent past.
#[derive(Clone, Copy, Debug, Default)]
struct Recent {
    fd: i32,
    kind: FdKind,
    life: Option<LifeId>,
    tid: Tid,
    ts: Timestamp,
    dur: Nanos,
    line: u64,
}

impl Duplicates {
    /// Shorter payloads (a newline, a wake-up byte, `OK`) are equal by chance.
    pub const MIN_BYTES: u64 = 32;
    /// Two appenders of one logger write within microseconds, under strace within a few hundred.
    pub const WITHIN: Nanos = Nanos::new(1_000_000);
    /// What is hashed of a payload's text: the head holds a log line's time, the tail its message's end.
    const HEAD: usize = 96;
    const TAIL: usize = 32;
    /// Processes watched at a time.
    const MAX_RINGS: usize = 512;
    /// Pairs kept.
    const MAX_PAIRS: usize = 256;

    /// All pairs, the most payloads first.
    pub fn pairs(&self) -> Vec<&DuplicatePair> {
        let mut pairs: Vec<_> = self.pairs.values().collect();
        pairs.sort_by_key(|pair| (std::cmp::Reverse(pair.count), pair.copies[0].fd, pair.copies[1].fd));
        pairs
    }

    #[inline]
    fn hash(&self, seen: &Seen<'_>) -> Option<u64> {
        let args = seen.call.args;
        let payload = &args[memchr::memchr(b',', args)?..];
        let head = &payload[..payload.len().min(Self::HEAD)];
        let tail = &payload[payload.len().saturating_sub(Self::TAIL)..];
        Some(self.hasher.hash_one((head, tail, payload.len(), seen.bytes)) | 1)
    }

    #[cold]
    fn count(&mut self, first: Recent, seen: &Seen<'_>, fd: i32, world: &World) {
        let call = seen.call;
        let key = (seen.process, first.fd, fd);
        if self.pairs.len() >= Self::MAX_PAIRS && !self.pairs.contains_key(&key) {
            return;
        }
        let target = |life: Option<LifeId>| world.fds.get(life?)?.target(world);
        let pair = self.pairs.entry(key).or_insert_with(|| DuplicatePair {
            process: seen.process,
            tid: first.tid,
            shared: false,
            copies: [
                Copy { fd: first.fd, kind: first.kind, target: target(first.life), total_ns: 0 },
                Copy { fd, kind: seen.kind, target: target(seen.life), total_ns: 0 },
            ],
            count: 0,
            timed: 0,
            bytes: 0,
            first_line: first.line,
            exemplar: Exemplar::of(call),
        });
        pair.count += 1;
        pair.shared |= pair.tid != call.tid;
        pair.bytes = pair.bytes.saturating_add(seen.bytes);
        if let (Some(one), Some(two)) = (first.dur.get(), call.dur.get()) {
            pair.timed += 1;
            pair.copies[0].total_ns += one;
            pair.copies[1].total_ns += two;
        }
    }
}

impl Fold for Duplicates {
    fn wants(&self, syscall: Syscall) -> bool {
        matches!(syscall, Syscall::WRITE | Syscall::WRITEV)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        // The same message to many sockets is a broadcast.
        if seen.bytes < Self::MIN_BYTES || seen.kind.is_socket() {
            return;
        }
        let (Some(fd), Some(hash)) = (seen.fd, self.hash(seen)) else {
            return;
        };
        if self.rings.len() >= Self::MAX_RINGS && !self.rings.contains_key(&seen.process) {
            // Mostly of short-lived processes that are gone.
            self.rings.clear();
        }
        let call = seen.call;
        let ring = self.rings.entry(seen.process).or_default();
        let twin = (0..Ring::LENGTH).find(|&at| {
            let recent = &ring.recent[at];
            ring.hashes[at] == hash
                && recent.fd != fd
                && call.ts.since(recent.ts.plus(recent.dur)).or_zero() <= Self::WITHIN.or_zero()
        });
        let first = twin.map(|at| {
            // Each payload counts once: a third copy pairs with the second.
            ring.hashes[at] = 0;
            ring.recent[at]
        });
        let (life, kind, line) = (seen.life, seen.kind, call.line);
        ring.hashes[ring.next] = hash;
        ring.recent[ring.next] = Recent { fd, kind, life, tid: call.tid, ts: call.ts, dur: call.dur, line };
        ring.next = (ring.next + 1) % Ring::LENGTH;
        if let Some(first) = first {
            self.count(first, seen, fd, world);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use whyslow_model::{Call, Event, Ret, Sink};

    fn write(facts: &mut Facts, us: u64, fd: i32, text: &str) {
        let args = format!("{fd}, \"{text}\", {}", text.len());
        let mut call = Call::new("write", &args);
        call.ts = Timestamp::new(us * 1_000);
        call.dur = Nanos::new(5_000);
        call.ret = Ret::Value(text.len() as i64);
        facts.push(Event::Call(&call));
    }

    #[test]
    fn equal_payloads_close_together_on_two_descriptors_are_pairs() {
        let mut facts = Facts::default();
        for i in 0..10 {
            let line = format!("2018-11-29 07:43:23 INFO message number {i}");
            write(&mut facts, i * 100_000, 1, &line);
            write(&mut facts, i * 100_000 + 40, 23, &line);
        }
        // Too late, too short, to the same descriptor, not equal.
        write(&mut facts, 2_000_000, 1, "2018-11-29 07:43:24 INFO something else");
        write(&mut facts, 2_002_000, 23, "2018-11-29 07:43:24 INFO something else");
        write(&mut facts, 3_000_000, 1, "short");
        write(&mut facts, 3_000_010, 23, "short");
        write(&mut facts, 4_000_000, 1, "2018-11-29 07:43:25 INFO the same line again");
        write(&mut facts, 4_000_010, 1, "2018-11-29 07:43:25 INFO the same line again");
        write(&mut facts, 4_000_020, 23, "2018-11-29 07:43:25 INFO the same line, nearly");
        let pairs = facts.duplicates.pairs();
        assert_eq!(pairs.len(), 1);
        assert_eq!((pairs[0].count, pairs[0].copies[0].fd, pairs[0].copies[1].fd), (10, 1, 23));
        assert_eq!(pairs[0].copies[1].total_ns, 50_000);
    }
}
