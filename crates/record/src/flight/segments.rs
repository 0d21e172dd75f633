//! What the ring keeps: the records of the last seconds, packed, a segment from one mark to the next.

use crate::state::State;
use crate::window_end::WindowEnd;
use std::collections::VecDeque;
use std::io;

/// Bytes of a stream that are packed at once: enough for the packer to find what repeats.
const PACK: usize = 256 << 10;
/// The least of that, where there are so many CPUs that what is not packed yet would take the ring's memory.
const PACK_AT_LEAST: usize = 16 << 10;
/// What is not packed yet may take one part in so many of the memory.
const FRESH_SHARE: u64 = 8;
/// zstd's fastest: records repeat so much that higher levels gain little.
const LEVEL: i32 = 1;

/// What was there as a segment began.
#[derive(Default)]
pub(super) struct Mark {
    /// When: ns of the kernel's clock. All records that ended before are of an earlier segment.
    pub(super) at: u64,
    /// [`State`], packed.
    state: Vec<u8>,
}

impl Mark {
    pub(super) fn new(at: u64, state: &State) -> io::Result<Mark> {
        let mut state = zstd::bulk::compress(&serde_json::to_vec(state)?, LEVEL)?;
        state.shrink_to_fit();
        Ok(Mark { at, state })
    }

    /// What was there.
    pub(super) fn state(&self) -> io::Result<State> {
        if self.state.is_empty() {
            return Ok(State::default());
        }
        Ok(serde_json::from_slice(&zstd::decode_all(&self.state[..])?)?)
    }
}

/// The records between two marks.
struct Segment {
    /// What was there as it began.
    mark: Mark,
    /// How it ended; `None` of the one that grows.
    end: Option<WindowEnd>,
    /// Stream and packed records, in order.
    packed: Vec<(usize, Vec<u8>)>,
    /// Bytes of what is packed, and of the mark.
    bytes: u64,
}

/// The segments, the oldest first; the last one grows.
pub(super) struct Segments {
    segments: VecDeque<Segment>,
    /// By stream: records that are not packed yet.
    fresh: Vec<Vec<u8>>,
    packer: zstd::bulk::Compressor<'static>,
    bytes: u64,
    /// Bytes for what is not packed yet.
    fresh_room: u64,
}

impl Segments {
    /// Of a ring that may take `memory` bytes.
    pub(super) fn new(memory: u64) -> io::Result<Segments> {
        let packer = zstd::bulk::Compressor::new(LEVEL)?;
        let fresh_room = memory / FRESH_SHARE;
        Ok(Segments { segments: VecDeque::new(), fresh: Vec::new(), packer, bytes: 0, fresh_room })
    }

    /// Bytes of a stream from which on they are packed.
    fn pack_at(&self) -> usize {
        let share = self.fresh_room / self.fresh.len().max(1) as u64;
        share.clamp(PACK_AT_LEAST as u64, PACK as u64) as usize
    }

    /// Appends a record of a stream. Before the first mark nothing is kept.
    pub(super) fn add(&mut self, stream: usize, record: &[u8]) -> io::Result<()> {
        if self.segments.is_empty() {
            return Ok(());
        }
        if stream >= self.fresh.len() {
            self.fresh.resize_with(stream + 1, Vec::new);
        }
        self.fresh[stream].extend_from_slice(record);
        if self.fresh[stream].len() >= self.pack_at() { self.pack(stream) } else { Ok(()) }
    }

    fn pack(&mut self, stream: usize) -> io::Result<()> {
        let pack_at = self.pack_at();
        let (fresh, Some(last)) = (&mut self.fresh[stream], self.segments.back_mut()) else { return Ok(()) };
        if fresh.is_empty() {
            return Ok(());
        }
        let mut packed = self.packer.compress(fresh)?;
        packed.shrink_to_fit();
        fresh.clear();
        // It doubles as it grows, and grew further before other streams came.
        fresh.shrink_to(2 * pack_at);
        last.bytes += packed.len() as u64;
        self.bytes += packed.len() as u64;
        last.packed.push((stream, packed));
        Ok(())
    }

    /// A new segment begins.
    pub(super) fn mark(&mut self, mark: Mark) -> io::Result<()> {
        for stream in 0..self.fresh.len() {
            self.pack(stream)?;
        }
        let bytes = mark.state.len() as u64;
        self.bytes += bytes;
        self.segments.push_back(Segment { mark, end: None, packed: Vec::new(), bytes });
        Ok(())
    }

    /// The one that grows has ended so; the next one begins with a mark.
    pub(super) fn end(&mut self, end: WindowEnd) {
        if let Some(last) = self.segments.back_mut() {
            last.end = Some(end);
        }
    }

    /// How all of them together ended, without the one that grows.
    pub(super) fn ended(&self) -> WindowEnd {
        let mut whole = WindowEnd::default();
        self.segments.iter().filter_map(|segment| segment.end.as_ref()).for_each(|end| whole.add(end));
        whole
    }

    /// Bytes of all that is kept.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes + self.fresh.iter().map(|fresh| fresh.capacity() as u64).sum::<u64>()
    }

    /// Bytes of the segment that grows.
    pub(super) fn bytes_of_last(&self) -> u64 {
        self.segments.back().map_or(0, |segment| segment.bytes)
    }

    /// The mark that the ring begins with.
    pub(super) fn first(&self) -> Option<&Mark> {
        self.segments.front().map(|segment| &segment.mark)
    }

    /// Forgets the oldest where the others hold all since `from` (ns of the kernel's clock). True where one was.
    pub(super) fn forget_before(&mut self, from: u64) -> bool {
        let is_old = self.segments.get(1).is_some_and(|second| second.mark.at <= from);
        is_old && self.forget_first()
    }

    /// Forgets the oldest, whatever it holds. False where only the one that grows is left.
    pub(super) fn forget_first(&mut self) -> bool {
        if self.segments.len() < 2 {
            return false;
        }
        if let Some(first) = self.segments.pop_front() {
            self.bytes -= first.bytes;
        }
        true
    }

    /// Hands over the records that were kept since `from`'s segment began, a stretch of a stream at a time, each stream's in its order; what
    /// cannot be unpacked is an error of ours.
    pub(super) fn read(&self, mut with: impl FnMut(usize, &[u8])) -> io::Result<()> {
        for segment in &self.segments {
            for (stream, packed) in &segment.packed {
                // A stretch is longer than what it is packed at by one record at most.
                let records = zstd::bulk::decompress(packed, 2 * PACK)?;
                with(*stream, &records);
            }
        }
        for (stream, fresh) in self.fresh.iter().enumerate().filter(|(_, fresh)| !fresh.is_empty()) {
            with(stream, fresh);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark_at(at: u64) -> Mark {
        Mark { at, ..Mark::default() }
    }

    fn read(segments: &Segments) -> Vec<(usize, Vec<u8>)> {
        let mut streams: Vec<(usize, Vec<u8>)> = Vec::new();
        let add = |stream: usize, bytes: &[u8]| match streams.iter_mut().find(|(known, _)| *known == stream) {
            Some((_, all)) => all.extend_from_slice(bytes),
            None => streams.push((stream, bytes.to_vec())),
        };
        segments.read(add).expect("unpacked");
        streams.sort();
        streams
    }

    #[test]
    fn what_is_kept_is_handed_over_in_order_and_the_oldest_goes_first() {
        let mut segments = Segments::new(64 << 20).expect("made");
        segments.add(0, b"before the first mark").expect("added");
        assert!(read(&segments).is_empty());
        for at in [10, 20, 30] {
            segments.mark(mark_at(at)).expect("marked");
            for number in 0..PACK as u64 / 4 {
                segments.add(1, &(at + number).to_ne_bytes()).expect("added");
            }
            segments.add(0, &[at as u8; 8]).expect("added");
        }
        let all = read(&segments);
        assert_eq!(all[0], (0, [[10; 8], [20; 8], [30; 8]].concat()));
        assert_eq!(all[1].1.len(), 3 * PACK / 4 * 8);
        let packed = segments.bytes();
        assert!(packed < all[1].1.len() as u64 + 2 * PACK as u64, "{packed}");
        assert!(!segments.forget_before(19) && segments.forget_before(20) && !segments.forget_before(20));
        assert_eq!(segments.first().map(|mark| mark.at), Some(20));
        assert_eq!(read(&segments)[0], (0, [[20; 8], [30; 8]].concat()));
        assert!(segments.forget_first() && !segments.forget_first());
        assert_eq!(read(&segments)[0], (0, vec![30; 8]));
    }

    #[test]
    fn segments_end_as_one_window_without_the_one_that_grows() {
        let mut segments = Segments::new(64 << 20).expect("made");
        assert_eq!(segments.ended(), WindowEnd::default());
        for at in [10, 20, 30] {
            segments.mark(mark_at(at)).expect("marked");
            if at < 30 {
                segments.end(WindowEnd { ended: at + 10, only_counted: at == 10, ..WindowEnd::default() });
            }
        }
        assert_eq!((segments.ended().ended, segments.ended().only_counted), (30, true));
        assert!(segments.forget_first() && !segments.ended().only_counted);
    }

    #[test]
    fn streams_of_many_cpus_leave_the_memory_to_what_is_packed() {
        let memory = 48 << 20;
        let mut segments = Segments::new(memory).expect("made");
        segments.mark(mark_at(10)).expect("marked");
        // Those that come first may be large before the others are known.
        for round in 0..80 {
            for stream in (0..256).filter(|stream| round > 40 || *stream < 2) {
                segments.add(stream, &[round; 8 << 10]).expect("added");
            }
        }
        let all: usize = read(&segments).iter().map(|(_, bytes)| bytes.len()).sum();
        assert_eq!(all, (41 * 2 + 39 * 256) * (8 << 10));
        assert!(segments.bytes() < memory / 3, "{}", segments.bytes());
    }
}
