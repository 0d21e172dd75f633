//! Which calls are kept one by one: the longest of all and of each thread, the first and the longest of each kind, errors, and those
//! under way at the end. The choice is made as they come; memory is bounded, and what is left out is counted.

use hashbrown::HashMap;
use std::cmp::Reverse;
use std::hash::BuildHasher;
use whyslow_export::TimelineCall;
use whyslow_model::{Call, CallFlags, Errno, LineFormat, SourceId, Tid, TimeState};

/// A call that is kept.
#[derive(Debug)]
pub(crate) struct KeptCall {
    pub(crate) tid: Tid,
    pub(crate) from: u64,
    pub(crate) took: Option<u64>,
    pub(crate) state: TimeState,
    /// Place in [`KeptCalls::names`].
    pub(crate) name: u32,
    /// Place there, of its object.
    pub(crate) object: Option<u32>,
    pub(crate) errno: Errno,
    pub(crate) source: SourceId,
    pub(crate) line: u64,
    /// Its line as it stands in the capture, or as it is printed, with its secrets; cut. Empty where it is not among those worth the most.
    pub(crate) raw: Box<[u8]>,
    /// It is kept whatever it took, as far as there is room.
    pub(crate) is_pinned: bool,
}

impl KeptCall {
    /// What it is worth beside others: unknown times are of calls that did not end.
    pub(crate) fn worth(&self) -> (bool, u64) {
        (self.is_pinned, self.took.unwrap_or(u64::MAX))
    }
}

/// What is remembered of a thread.
#[derive(Debug, Default)]
struct OfThread {
    kept: usize,
    /// The longest, ns.
    longest: u64,
    errors: usize,
}

/// The calls that are kept.
#[derive(Debug, Default)]
pub(crate) struct KeptCalls {
    calls: Vec<KeptCall>,
    names: Vec<Box<str>>,
    index: HashMap<Box<str>, u32, foldhash::fast::RandomState>,
    threads: HashMap<Tid, OfThread, foldhash::fast::RandomState>,
    /// The longest of each kind, by the hash of thread, call and object.
    kinds: HashMap<u64, u64, foldhash::fast::RandomState>,
    hasher: foldhash::fast::RandomState,
    pinned: usize,
    /// Calls that take no longer are left out, once there were too many.
    least: u64,
    /// Calls with their line, and what others take at most.
    lines: usize,
    least_line: u64,
    seen: u64,
    failed: u64,
    scratch: Vec<u8>,
}

impl KeptCalls {
    /// Calls kept; up to twice as many while they come.
    pub(crate) const MAX: usize = 1 << 16;
    /// Kept whatever they took.
    const MAX_PINNED: usize = 1 << 14;
    /// Of each thread, the longest.
    const OF_THREAD: usize = 16;
    /// Errors of each thread, the first.
    const ERRORS: usize = 200;
    /// Kinds told apart.
    const MAX_KINDS: usize = 1 << 16;
    /// Names and objects told apart.
    const MAX_NAMES: usize = 1 << 16;
    /// Threads whose calls are counted apart.
    const MAX_THREADS: usize = 1 << 16;
    /// Calls with their line; up to twice as many while they come. To print one takes longer than all else that is done with a call.
    pub(crate) const MAX_LINES: usize = 1 << 14;
    /// Bytes of a line.
    const LONGEST: usize = 1_024;

    /// Takes a call, or leaves it out.
    pub(crate) fn see(&mut self, from: u64, took: Option<u64>, seen: &TimelineCall<'_>) {
        let call = seen.call;
        self.seen += 1;
        let ns = took.unwrap_or(u64::MAX);
        let room = self.pinned < Self::MAX_PINNED;
        let is_new = room && self.is_first_or_longest(call.tid, call.name, seen.object, ns);
        let room_of_threads = self.threads.len() < Self::MAX_THREADS || self.threads.contains_key(&call.tid);
        let mut none = OfThread { kept: Self::OF_THREAD, longest: u64::MAX, errors: Self::ERRORS };
        let thread = if room_of_threads { self.threads.entry(call.tid).or_default() } else { &mut none };
        let mut is_pinned = is_new || room && call.flags.contains(CallFlags::END_NOT_SEEN);
        if call.failed() {
            self.failed += 1;
            if thread.errors < Self::ERRORS && room {
                thread.errors += 1;
                is_pinned = true;
            }
        }
        if !is_pinned && ns <= self.least.min(thread.longest) && thread.kept >= Self::OF_THREAD {
            return;
        }
        thread.longest = thread.longest.max(ns);
        thread.kept += 1;
        self.pinned += usize::from(is_pinned);
        let name = self.name(&String::from_utf8_lossy(call.name)).unwrap_or_default();
        let object = seen.object.and_then(|object| self.name(object));
        let raw: Box<[u8]> = if is_pinned || ns > self.least_line { self.line(call) } else { Box::default() };
        self.lines += usize::from(!raw.is_empty());
        self.calls.push(KeptCall {
            tid: call.tid,
            from,
            took,
            state: seen.state.unwrap_or(TimeState::Unknown),
            name,
            object,
            errno: if call.failed() { call.errno } else { Errno::NONE },
            source: call.source,
            line: call.line,
            raw,
            is_pinned,
        });
        if self.lines >= 2 * Self::MAX_LINES {
            self.cut_lines();
        }
        if self.calls.len() >= 2 * Self::MAX {
            self.cut();
        }
    }

    fn line(&mut self, call: &Call<'_>) -> Box<[u8]> {
        self.scratch.clear();
        if call.raw.is_empty() {
            call.write_line(&LineFormat::EVIDENCE, &mut self.scratch);
        } else {
            self.scratch.extend_from_slice(call.raw);
            if !call.raw_end.is_empty() {
                self.scratch.extend_from_slice(b" / ");
                self.scratch.extend_from_slice(call.raw_end);
            }
        }
        self.scratch.truncate(Self::LONGEST);
        self.scratch.as_slice().into()
    }

    /// Leaves the lines of those that are worth the least, down to half.
    fn cut_lines(&mut self) {
        let mut worth: Vec<((bool, u64), u32)> = (self.calls.iter().enumerate())
            .filter(|(_, call)| !call.raw.is_empty())
            .map(|(at, call)| (call.worth(), at as u32))
            .collect();
        self.lines = worth.len().min(Self::MAX_LINES);
        if worth.len() <= Self::MAX_LINES {
            return;
        }
        worth.select_nth_unstable_by_key(Self::MAX_LINES, |one| (Reverse(one.0), one.1));
        let (stay, go) = worth.split_at(Self::MAX_LINES);
        let plain = stay.iter().filter(|((is_pinned, _), _)| !is_pinned);
        self.least_line = plain.map(|((_, ns), _)| *ns).min().unwrap_or(u64::MAX).max(self.least_line);
        go.iter().for_each(|(_, at)| self.calls[*at as usize].raw = Box::default());
    }

    /// As evidence is kept: the first of its kind, and each that is longer than the longest by a quarter.
    fn is_first_or_longest(&mut self, tid: Tid, name: &[u8], object: Option<&str>, ns: u64) -> bool {
        let kind = self.hasher.hash_one((tid, name, object));
        let has_room = self.kinds.len() < Self::MAX_KINDS;
        match self.kinds.get_mut(&kind) {
            Some(longest) if ns > longest.saturating_add(*longest / 4) => {
                *longest = ns;
                true
            }
            Some(_) => false,
            None if has_room => {
                self.kinds.insert(kind, ns);
                true
            }
            None => false,
        }
    }

    fn name(&mut self, name: &str) -> Option<u32> {
        if let Some(known) = self.index.get(name) {
            return Some(*known);
        }
        if self.names.len() >= Self::MAX_NAMES {
            return None;
        }
        let id = self.names.len() as u32;
        self.names.push(name.into());
        self.index.insert(name.into(), id);
        Some(id)
    }

    /// Leaves out the shortest, down to half.
    fn cut(&mut self) {
        let mut order: Vec<u32> = (0..self.calls.len() as u32).collect();
        order.sort_unstable_by_key(|at| {
            let call = &self.calls[*at as usize];
            (call.tid, call.is_pinned, Reverse(call.worth()))
        });
        // The longest of each thread come before what is longer in others.
        let (mut last, mut rank) = (None, 0);
        let mut worth: Vec<((bool, u64), u32)> = Vec::with_capacity(order.len());
        for at in order {
            let call = &self.calls[at as usize];
            rank = if last == Some(call.tid) { rank + 1 } else { 0 };
            last = Some(call.tid);
            let (is_pinned, ns) = call.worth();
            worth.push(((is_pinned || rank < Self::OF_THREAD, ns), at));
        }
        worth.select_nth_unstable_by_key(Self::MAX, |one| (Reverse(one.0), one.1));
        let mut stays = vec![false; self.calls.len()];
        worth[..Self::MAX].iter().for_each(|(_, at)| stays[*at as usize] = true);
        let plain = worth[..Self::MAX].iter().filter(|((is_safe, _), _)| !is_safe);
        self.least = plain.map(|((_, ns), _)| *ns).min().unwrap_or(u64::MAX).max(self.least);
        let mut at = 0;
        self.calls.retain(|_| {
            at += 1;
            stays[at - 1]
        });
        self.pinned = self.calls.iter().filter(|call| call.is_pinned).count();
        self.lines = self.calls.iter().filter(|call| !call.raw.is_empty()).count();
        self.threads.values_mut().for_each(|thread| thread.kept = 0);
        for call in &self.calls {
            if let Some(thread) = self.threads.get_mut(&call.tid) {
                thread.kept += 1;
            }
        }
    }

    /// All that are kept, in the order in which they ended.
    pub(crate) fn calls(&self) -> &[KeptCall] {
        &self.calls
    }

    /// A name or object.
    pub(crate) fn text(&self, id: u32) -> &str {
        self.names.get(id as usize).map_or("", |name| name)
    }

    /// Calls that were seen, and of these, failed ones.
    pub(crate) fn seen(&self) -> (u64, u64) {
        (self.seen, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Nanos, Ret, Timestamp};

    fn see(kept: &mut KeptCalls, tid: Tid, at: u64, took: u64, errno: Errno) {
        let mut call = Call::new("read", "3, \"x\", 1");
        (call.tid, call.ts, call.dur, call.errno) = (tid, Timestamp::new(at), Nanos::new(took), errno);
        call.ret = Ret::Value(1);
        let seen = TimelineCall { call: &call, state: Some(TimeState::File), object: Some("/x") };
        kept.see(at, Some(took), &seen);
    }

    #[test]
    fn the_longest_of_each_thread_and_errors_stay() {
        let mut kept = KeptCalls::default();
        for at in 0..400_000u64 {
            // One thread makes long calls, one short ones, of which some fail.
            see(&mut kept, 1, at, 1_000_000 + at, Errno::NONE);
            if at % 1_000 == 0 {
                let errno = if at % 5_000 == 0 { Errno::lookup(b"ENOENT") } else { Errno::NONE };
                see(&mut kept, 2, at, 10 + at / 1_000, errno);
            }
        }
        assert!(kept.calls().len() < 2 * KeptCalls::MAX);
        assert_eq!(kept.seen(), (400_400, 80));
        let of_two: Vec<&KeptCall> = kept.calls().iter().filter(|call| call.tid == 2).collect();
        let errors = of_two.iter().filter(|call| call.errno.is_error()).count();
        assert_eq!(errors, 80);
        assert!(of_two.iter().any(|call| call.took == Some(409)), "its longest");
        assert!(of_two.iter().any(|call| call.took == Some(10)), "its first");
        let longest = kept.calls().iter().filter(|call| call.took >= Some(1_390_000)).count();
        assert_eq!(longest, 10_000);
        // Those that are worth the most have their lines: pinned ones, then the longest.
        let lines = kept.calls().iter().filter(|call| !call.raw.is_empty());
        let (pinned, plain): (Vec<&KeptCall>, Vec<&KeptCall>) = lines.partition(|call| call.is_pinned);
        assert!((KeptCalls::MAX_LINES..2 * KeptCalls::MAX_LINES).contains(&(pinned.len() + plain.len())));
        assert_eq!(pinned.len(), kept.calls().iter().filter(|call| call.is_pinned).count());
        assert!(plain.iter().filter(|call| call.took >= Some(1_390_000)).count() == 10_000);
    }
}
