//! All time of all threads, added up as it comes in parts of equal length, which grow as the time does: memory is bounded, and no
//! nanosecond is lost.

use hashbrown::HashMap;
use std::collections::VecDeque;
use whyslow_export::TimelineTime;
use whyslow_model::{Tid, TimeState};

/// States of the account.
const STATES: usize = TimeState::Unknown as usize + 1;

/// Time in each state, ns.
pub(crate) type Cell = [u64; STATES];

/// All states, by their numbers.
pub(crate) const ALL_STATES: [TimeState; STATES] = [
    TimeState::User,
    TimeState::Kernel,
    TimeState::OnCpu,
    TimeState::InCall,
    TimeState::BetweenCalls,
    TimeState::RunQueue,
    TimeState::Throttled,
    TimeState::Stolen,
    TimeState::File,
    TimeState::PageFault,
    TimeState::KernelWait,
    TimeState::Peer,
    TimeState::Client,
    TimeState::Accept,
    TimeState::Pipe,
    TimeState::Lock,
    TimeState::Timer,
    TimeState::Child,
    TimeState::Poll,
    TimeState::Event,
    TimeState::Unknown,
];

/// The cells of one thread.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// The number of the first: its time begins at this number times the width.
    first: u64,
    cells: VecDeque<Cell>,
}

impl Row {
    /// Its cells with their numbers.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (u64, &Cell)> {
        self.cells.iter().enumerate().map(|(at, cell)| (self.first + at as u64, cell))
    }

    fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    fn end(&self) -> u64 {
        self.first + self.cells.len() as u64
    }

    fn halve(&mut self) {
        let mut halved: VecDeque<Cell> = VecDeque::with_capacity(self.cells.len() / 2 + 1);
        let first = self.first / 2;
        for (at, cell) in self.cells.iter().enumerate() {
            let number = (self.first + at as u64) / 2;
            if halved.len() as u64 <= number - first {
                halved.push_back([0; STATES]);
            }
            if let Some(sum) = halved.back_mut() {
                sum.iter_mut().zip(cell).for_each(|(sum, ns)| *sum = sum.saturating_add(*ns));
            }
        }
        (self.first, self.cells) = (first, halved);
    }
}

/// The cells of all threads.
#[derive(Debug)]
pub(crate) struct Grid {
    rows: HashMap<Tid, Row, foldhash::fast::RandomState>,
    /// Length of a cell, ns, as a power of two.
    shift: u32,
    /// The least number of a cell, and the one behind the last.
    span: Option<(u64, u64)>,
    cells: usize,
    /// Threads for which there was no room, and their time, ns.
    rest: HashMap<Tid, u64, foldhash::fast::RandomState>,
    rest_ns: u64,
}

impl Default for Grid {
    fn default() -> Self {
        Grid {
            rows: HashMap::default(),
            shift: Self::FINEST,
            span: None,
            cells: 0,
            rest: HashMap::default(),
            rest_ns: 0,
        }
    }
}

impl Grid {
    /// Parts of the time, at most.
    pub(crate) const MAX_BUCKETS: u64 = 2_000;
    /// Cells of all threads, 168 bytes each; with more threads each has fewer.
    const MAX_CELLS: usize = 1 << 17;
    /// Cells that a thread has at least: with more threads than that allows, further ones are added up alone.
    const FEWEST: u64 = 32;
    /// Threads that are told apart among those for which there is no room.
    const MAX_REST: usize = 1 << 16;
    /// 1 µs: what traces write.
    const FINEST: u32 = 10;
    /// Nothing lasts longer: 2^62 ns are 146 years.
    const COARSEST: u32 = 62;

    /// Adds a piece of time, in proportion to where it lies. All of it is added.
    pub(crate) fn add(&mut self, time: TimelineTime) {
        let TimelineTime { tid, from, to, state, ns } = time;
        let to = to.max(from);
        let known = self.rows.get(&tid);
        if known.is_none() && self.rows.len() as u64 >= Self::MAX_CELLS as u64 / Self::FEWEST {
            self.rest_ns = self.rest_ns.saturating_add(ns);
            if self.rest.len() < Self::MAX_REST || self.rest.contains_key(&tid) {
                *self.rest.entry(tid).or_default() += 1;
            }
            return;
        }
        self.make_room(tid, from, to);
        let (shift, state) = (self.shift, state as usize);
        let Some(row) = self.rows.get_mut(&tid) else { return };
        let (whole, mut left, mut at) = ((to - from).max(1), ns, from);
        let last = last_of(from, to, shift);
        let mut number = from >> shift;
        loop {
            let part = if number >= last {
                left
            } else {
                let end = (number + 1) << shift;
                let here = (u128::from(ns) * u128::from(end - at) / u128::from(whole)) as u64;
                at = end;
                here.min(left)
            };
            left -= part;
            if let Some(cell) = row.cells.get_mut((number - row.first) as usize) {
                cell[state] = cell[state].saturating_add(part);
            }
            if number >= last {
                return;
            }
            number += 1;
        }
    }

    /// Makes cells for that time; longer ones where there are too many.
    fn make_room(&mut self, tid: Tid, from: u64, to: u64) {
        loop {
            let (first, end) = (from >> self.shift, last_of(from, to, self.shift) + 1);
            let span = self.span.map_or((first, end), |(begin, last)| (begin.min(first), last.max(end)));
            let row = self.rows.entry(tid).or_default();
            let new = match row.is_empty() {
                true => end - first,
                false => row.first.saturating_sub(first) + end.saturating_sub(row.end()),
            };
            let fits = span.1 - span.0 <= Self::MAX_BUCKETS
                && (self.cells as u64 + new <= Self::MAX_CELLS as u64 || span.1 - span.0 <= Self::FEWEST);
            if !fits && self.shift < Self::COARSEST {
                self.halve();
                continue;
            }
            self.span = Some(span);
            self.cells += new as usize;
            if row.is_empty() {
                row.first = first;
            }
            while row.first > first {
                row.first -= 1;
                row.cells.push_front([0; STATES]);
            }
            while row.end() < end {
                row.cells.push_back([0; STATES]);
            }
            return;
        }
    }

    /// Makes each two cells one.
    pub(crate) fn halve(&mut self) {
        self.shift += 1;
        self.span = self.span.map(|(first, end)| (first / 2, (end - 1) / 2 + 1));
        self.rows.values_mut().filter(|row| !row.is_empty()).for_each(Row::halve);
        self.cells = self.rows.values().map(|row| row.cells.len()).sum();
    }

    /// Length of a cell, ns.
    pub(crate) fn width(&self) -> u64 {
        1 << self.shift
    }

    /// The number of the first cell, and how many there are.
    pub(crate) fn span(&self) -> Option<(u64, u64)> {
        self.span.map(|(first, end)| (first, end - first))
    }

    /// The cells of a thread.
    pub(crate) fn row(&self, tid: Tid) -> Option<&Row> {
        self.rows.get(&tid)
    }

    /// The threads that have some.
    pub(crate) fn tids(&self) -> impl Iterator<Item = Tid> {
        self.rows.keys().copied()
    }

    /// Threads without cells, and their time, ns.
    pub(crate) fn rest(&self) -> (usize, u64) {
        (self.rest.len(), self.rest_ns)
    }
}

/// The number of the last cell of a time.
fn last_of(from: u64, to: u64, shift: u32) -> u64 {
    (to.max(from + 1) - 1) >> shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(grid: &Grid) -> u64 {
        let rows = grid.rows.values().flat_map(Row::cells);
        rows.map(|(_, cell)| cell.iter().sum::<u64>()).sum::<u64>() + grid.rest_ns
    }

    #[test]
    fn states_stand_at_their_numbers() {
        for (number, state) in ALL_STATES.iter().enumerate() {
            assert_eq!(*state as usize, number);
        }
    }

    #[test]
    fn a_time_lies_where_it_was() {
        let mut grid = Grid::default();
        let time = TimelineTime { tid: 1, from: 512, to: 2_560, state: TimeState::Lock, ns: 1_024 };
        grid.add(time);
        let cells: Vec<_> =
            grid.rows[&1].cells().map(|(at, cell)| (at, cell[TimeState::Lock as usize])).collect();
        assert_eq!((grid.width(), cells), (1_024, vec![(0, 256), (1, 512), (2, 256)]));
    }

    #[test]
    fn threads_without_end_take_no_more_memory() {
        let mut grid = Grid::default();
        for tid in 0..20_000 {
            let from = u64::from(tid) * 1_000_000;
            grid.add(TimelineTime { tid, from, to: from + 5_000_000, state: TimeState::User, ns: 5_000_000 });
        }
        assert!(grid.cells <= Grid::MAX_CELLS + Grid::FEWEST as usize);
        assert_eq!(sum(&grid), 20_000 * 5_000_000);
        assert!(grid.rest().0 > 0);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(times in prop::collection::vec((0u32..5, 0u64..1 << 40, 0u64..1 << 34, 0usize..STATES), 1..60)) {
            let mut grid = Grid::default();
            let mut total = 0;
            for (tid, from, length, state) in times {
                let state = ALL_STATES[state];
                grid.add(TimelineTime { tid, from, to: from + length, state, ns: length });
                total += length;
            }
            prop_assert_eq!(sum(&grid), total);
            let (_, buckets) = grid.span().unwrap();
            prop_assert!(buckets <= Grid::MAX_BUCKETS);
            grid.halve();
            prop_assert_eq!(sum(&grid), total);
        }
    }
}
