//! Requests of one kind to one device: how long they took, how large they were, and whether they lay one behind the other.

use super::log2::Log2;
use whyslow_model::{BlockIo, CallStats, Nanos};

/// What a request is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Op {
    /// Somebody wants the data now.
    Read,
    /// The kernel reads ahead of need.
    ReadAhead,
    /// Written back in the background.
    Write,
    /// Somebody waits until it is written.
    SyncWrite,
    /// The device is to empty its cache.
    Flush,
    /// Blocks are no longer needed.
    Discard,
    /// All else.
    Other,
}

impl Op {
    /// By the text of a request: `write+sync+meta`.
    pub fn of(text: &str) -> Op {
        let mut parts = text.split('+');
        let (base, has) =
            (parts.next().unwrap_or_default(), |mark: &str| text.split('+').skip(1).any(|is| is == mark));
        match base {
            "read" if has("ahead") => Op::ReadAhead,
            "read" => Op::Read,
            "write" if has("sync") || has("fua") => Op::SyncWrite,
            "write" => Op::Write,
            "flush" => Op::Flush,
            "discard" => Op::Discard,
            _ => Op::Other,
        }
    }

    /// Its name in tables.
    pub fn word(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::ReadAhead => "readahead",
            Op::Write => "write",
            Op::SyncWrite => "sync write",
            Op::Flush => "flush",
            Op::Discard => "discard",
            Op::Other => "other",
        }
    }

    /// True for all reads.
    pub fn reads(self) -> bool {
        matches!(self, Op::Read | Op::ReadAhead)
    }

    /// True for all writes of data.
    pub fn writes(self) -> bool {
        matches!(self, Op::Write | Op::SyncWrite)
    }
}

/// A set of requests.
#[derive(Clone, Debug, Default)]
pub struct DiskRequests {
    /// From issue to completion: the device's part.
    pub device: CallStats,
    /// From when it was made to its issue: the part of the kernel's scheduler, of those of which the kernel tells it.
    pub queue: CallStats,
    /// Both, as far as known, by powers of two.
    pub spread: Log2,
    sizes: Sizes,
    order: Order,
}

impl DiskRequests {
    pub(super) fn see(&mut self, io: &BlockIo) {
        let took = io.completed.since(io.issued);
        self.device.record(took, false, io.bytes);
        let waited = io.issued.since(io.queued);
        if waited.is_known() {
            self.queue.record(waited, false, 0);
        }
        self.spread.see(took);
        if io.bytes > 0 {
            self.sizes.see(io.bytes);
            self.order.see(io.sector, io.bytes);
        }
    }

    /// Adds another set.
    pub fn merge(&mut self, other: &DiskRequests) {
        self.device.merge(&other.device);
        self.queue.merge(&other.queue);
        self.spread.merge(&other.spread);
        self.sizes.merge(&other.sizes);
        self.order.in_order += other.order.in_order;
        self.order.judged += other.order.judged;
    }

    /// The mean size, bytes, of those that move any.
    pub fn mean_size(&self) -> Option<u64> {
        self.device.bytes.checked_div(self.sizes.seen)
    }

    /// The most usual size, bytes, where at least a third have it.
    pub fn usual_size(&self) -> Option<u64> {
        let (size, count) = self.sizes.most.iter().max_by_key(|(size, count)| (*count, *size))?;
        (count * 3 >= self.sizes.seen).then_some(*size)
    }

    /// The part of them that lay behind or before one of the last few of their kind, or a few requests apart; `None` of too
    /// few.
    pub fn in_order(&self) -> Option<f64> {
        /// Of fewer, the share is chance.
        const FEW: u64 = 10;
        (self.order.judged >= FEW).then(|| self.order.in_order as f64 / self.order.judged as f64)
    }

    /// How many are under way at a time on average over `window` (Little's law).
    pub fn mean_in_flight(&self, window: Nanos) -> Option<f64> {
        let (total, window) = (self.device.total().get()?, window.get().filter(|window| *window > 0)?);
        Some(total as f64 / window as f64)
    }
}

/// The sizes that are met most often (Misra and Gries, Finding repeated elements, 1982): each that makes up more than a
/// seventeenth of all is among them, with at least that much less counted.
#[derive(Clone, Debug, Default)]
struct Sizes {
    most: Vec<(u64, u64)>,
    seen: u64,
}

impl Sizes {
    const KEPT: usize = 16;

    fn see(&mut self, size: u64) {
        self.seen += 1;
        self.add(size, 1);
    }

    fn add(&mut self, size: u64, times: u64) {
        match self.most.iter().position(|(known, _)| *known == size) {
            Some(at) => self.most[at].1 += times,
            None if self.most.len() < Self::KEPT => self.most.push((size, times)),
            None => {
                let least = self.most.iter().map(|(_, count)| *count).min().unwrap_or(0).min(times);
                self.most.iter_mut().for_each(|(_, count)| *count -= least);
                self.most.retain(|(_, count)| *count > 0);
                if times > least {
                    self.add(size, times - least);
                }
            }
        }
    }

    fn merge(&mut self, other: &Sizes) {
        self.seen += other.seen;
        other.most.iter().for_each(|(size, count)| self.add(*size, *count));
    }
}

/// Whether requests lie one behind the other. Several are under way at once and end in any order, and a program may read
/// several files: each is held against the last few.
#[derive(Clone, Debug, Default)]
struct Order {
    /// First sectors, and those behind the last.
    last: [(u64, u64); Order::KEPT],
    next: usize,
    in_order: u64,
    judged: u64,
}

impl Order {
    const KEPT: usize = 16;
    /// Bytes of a sector, whatever the device's own are (include/linux/blk_types.h).
    const SECTOR: u64 = 512;

    fn see(&mut self, sector: u64, bytes: u64) {
        let end = sector.saturating_add(bytes.div_ceil(Self::SECTOR));
        let known = || self.last.iter().filter(|(_, end)| *end > 0);
        // The same place again (a journal's head) is neither: the arm need not move, nor is it a stream.
        if known().any(|(first, _)| *first == sector) {
            return;
        }
        if known().next().is_some() {
            self.judged += 1;
            // Those between may be under way still.
            let near = (end - sector).saturating_mul(Self::KEPT as u64);
            let follows = |from: u64, to: u64| to >= from && to - from <= near;
            let beside = known().any(|(first, behind)| follows(*behind, sector) || follows(end, *first));
            self.in_order += u64::from(beside);
        }
        self.last[self.next] = (sector, end);
        self.next = (self.next + 1) % Self::KEPT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use whyslow_model::Timestamp;

    fn io(sector: u64, bytes: u64) -> BlockIo {
        BlockIo {
            queued: Timestamp::new(1_000),
            issued: Timestamp::new(3_000),
            completed: Timestamp::new(10_000),
            device: "253:0".to_string(),
            sector,
            bytes,
            op: "read".to_string(),
            pid: None,
            tid: None,
            file: None,
        }
    }

    fn of(places: impl IntoIterator<Item = u64>) -> DiskRequests {
        let mut requests = DiskRequests::default();
        places.into_iter().for_each(|sector| requests.see(&io(sector, 4_096)));
        requests
    }

    #[test]
    fn operations_by_their_marks() {
        let of = [
            "read",
            "read+sync",
            "read+ahead",
            "write",
            "write+sync+meta",
            "write+fua",
            "flush+sync",
            "driver",
        ];
        let words: Vec<&str> = of.iter().map(|text| Op::of(text).word()).collect();
        assert_eq!(
            words,
            ["read", "read", "readahead", "write", "sync write", "sync write", "flush", "other"]
        );
    }

    #[test]
    fn streams_are_in_order_and_jumps_are_not() {
        assert_eq!(of((0..100).map(|i| i * 8)).in_order(), Some(1.0));
        // Two streams, and completions out of their order.
        let two = (0..50).flat_map(|i| [i * 8, 1_000_000 + i * 8]);
        assert!(of(two).in_order() > Some(0.97));
        let swapped = (0..50).flat_map(|i| [i * 16 + 8, i * 16]);
        assert!(of(swapped).in_order() > Some(0.97));
        assert_eq!(of((0..100).map(|i| i * 7_919_000 % 999_983)).in_order(), Some(0.0));
        assert_eq!(of([5; 100]).in_order(), None);
    }

    #[test]
    fn both_parts_of_the_time_are_told() {
        let requests = of([1, 2]);
        assert_eq!((requests.queue.mean(), requests.device.mean()), (Nanos::new(2_000), Nanos::new(7_000)));
        assert_eq!((requests.mean_size(), requests.usual_size()), (Some(4_096), Some(4_096)));
        assert_eq!(requests.mean_in_flight(Nanos::new(28_000)), Some(0.5));
        assert_eq!(DiskRequests::default().mean_size(), None);
    }

    proptest! {
        #[test]
        fn a_size_of_most_is_found(others in prop::collection::vec(1u64..1_000, 0..90), usual in 1u64..9) {
            let mut requests = DiskRequests::default();
            // Half of all and one.
            for size in others.iter().copied().chain(std::iter::repeat_n(usual * 4_096, others.len() + 1)) {
                requests.see(&io(0, size));
            }
            prop_assert_eq!(requests.sizes.most.iter().max_by_key(|(_, count)| *count).map(|(size, _)| *size), Some(usual * 4_096));
            prop_assert!(requests.sizes.most.len() <= Sizes::KEPT);
        }
    }
}
