//! Which rows of a part a span of time needs.

use std::ops::Range;

/// Rows of a block.
pub(super) const BLOCK: usize = 8 << 10;

/// Some rows that follow on each other, and from when to when their calls are; long calls, which are kept apart, do not count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) low: i64,
    pub(super) high: i64,
    /// The number of its first row's event.
    pub(super) seq: i64,
}

impl Block {
    /// Without rows.
    pub(super) const NONE: Block = Block { low: i64::MAX, high: i64::MIN, seq: 0 };

    /// Takes in a call.
    #[inline]
    pub(super) fn see(&mut self, from: i64, to: i64) {
        self.low = self.low.min(from);
        self.high = self.high.max(to);
    }

    fn touches(&self, from: i64, to: i64) -> bool {
        self.low < to && self.high >= from
    }
}

/// The rows of the blocks that touch a span, as ranges.
pub(super) fn rows_in(blocks: &[Block], from: i64, to: i64) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (at, _) in blocks.iter().enumerate().filter(|(_, block)| block.touches(from, to)) {
        let (start, end) = (at * BLOCK, (at + 1) * BLOCK);
        match ranges.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => ranges.push(start..end),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_beside_each_other_are_one_range() {
        let blocks: Vec<Block> = (0..5)
            .map(|at| Block { low: at * 10, high: at * 10 + 12, seq: 0 })
            .chain([Block::NONE])
            .collect();
        let ends = |from, to| -> Vec<(usize, usize)> {
            rows_in(&blocks, from, to).into_iter().map(|rows| (rows.start, rows.end)).collect()
        };
        assert_eq!(ends(21, 22), [(BLOCK, 3 * BLOCK)]);
        assert!(ends(100, 200).is_empty());
        assert_eq!(ends(0, 100), [(0, 5 * BLOCK)]);
    }
}
