//! The time of each thread in each state, in equal parts of the whole: a row of sums for each thread and state that was met. Where there
//! are too many rows, or the recording is longer than was thought, the parts get longer; nothing is lost.

use super::kinds::STATES;

/// Parts of the time, at most.
pub(super) const MOST_BUCKETS: usize = 1 << 16;
/// Parts that rows have at least.
const FEWEST_BUCKETS: usize = 1 << 8;
/// Sums of all rows, 8 bytes each.
const MOST_CELLS: usize = 24 << 20;

/// The sums.
pub(super) struct Tiles {
    origin: i64,
    /// Length of a part, ns.
    width: i64,
    /// Parts of each row.
    buckets: usize,
    /// By thread and state; empty where there is none.
    rows: Vec<Vec<u64>>,
    /// Rows that are not empty.
    kept: usize,
    /// Time for whose thread and state there was no room, ns.
    pub(super) left_out: u64,
}

impl Tiles {
    /// For a time that lasts about so long, ns.
    pub(super) fn new(origin: i64, length: i64) -> Tiles {
        Tiles::with_buckets(origin, length, MOST_BUCKETS)
    }

    fn with_buckets(origin: i64, length: i64, buckets: usize) -> Tiles {
        let width = (length.max(1) as u64).div_ceil(buckets as u64).next_power_of_two() as i64;
        Tiles { origin, width, buckets, rows: Vec::new(), kept: 0, left_out: 0 }
    }

    /// Length of a part, ns.
    pub(super) fn width(&self) -> i64 {
        self.width
    }

    /// Adds a time. What is before the origin is cut off.
    #[inline]
    pub(super) fn add(&mut self, thread: u32, state: u8, from: i64, to: i64) {
        let from = from.max(self.origin).saturating_sub(self.origin);
        let to = to.saturating_sub(self.origin);
        if to <= from {
            return;
        }
        while (to - 1) / self.width >= self.buckets as i64 {
            self.lengthen();
        }
        let place = thread as usize * STATES + usize::from(state);
        if self.rows.get(place).is_none_or(Vec::is_empty) && !self.make_room(place) {
            self.left_out = self.left_out.saturating_add((to - from) as u64);
            return;
        }
        let width = self.width;
        if (to - 1) / width >= self.buckets as i64 {
            // Rows got shorter as one was added.
            return self.add(thread, state, from + self.origin, to + self.origin);
        }
        let row = &mut self.rows[place];
        let (first, last) = ((from / width) as usize, ((to - 1) / width) as usize);
        if first == last {
            row[first] += (to - from) as u64;
            return;
        }
        row[first] += ((first as i64 + 1) * width - from) as u64;
        for sum in &mut row[first + 1..last] {
            *sum += width as u64;
        }
        row[last] += (to - last as i64 * width) as u64;
    }

    /// The same parts, twice as long.
    fn lengthen(&mut self) {
        let Some(width) = self.width.checked_mul(2) else { return };
        self.width = width;
        for row in &mut self.rows {
            let half = row.len().div_ceil(2);
            for at in 0..half {
                row[at] = row[2 * at] + row.get(2 * at + 1).copied().unwrap_or(0);
            }
            row[half..].fill(0);
        }
    }

    fn make_room(&mut self, place: usize) -> bool {
        while (self.kept + 1) * self.buckets > MOST_CELLS {
            if self.buckets <= FEWEST_BUCKETS {
                return false;
            }
            self.lengthen();
            self.buckets /= 2;
            let buckets = self.buckets;
            self.rows.iter_mut().for_each(|row| {
                row.truncate(buckets);
                row.shrink_to_fit();
            });
        }
        if self.rows.len() <= place {
            self.rows.resize(place + 1, Vec::new());
        }
        self.rows[place] = vec![0; self.buckets];
        self.kept += 1;
        true
    }

    /// The sums of a thread from a part on, `group` parts in one, `count` of them.
    pub(super) fn sums(&self, thread: u32, first: usize, group: usize, count: usize) -> Vec<[u64; STATES]> {
        let mut sums = vec![[0u64; STATES]; count];
        for state in 0..STATES {
            let Some(row) = self.rows.get(thread as usize * STATES + state) else { continue };
            for (at, sum) in sums.iter_mut().enumerate() {
                let from = (first + at * group).min(row.len());
                let to = (from + group).min(row.len());
                sum[state] = row[from..to].iter().sum();
            }
        }
        sums
    }

    /// The part in which a moment is.
    pub(super) fn bucket(&self, at: i64) -> usize {
        ((at - self.origin).max(0) / self.width) as usize
    }

    /// Parts of a row.
    pub(super) fn buckets(&self) -> usize {
        self.buckets
    }

    /// All time that is kept, ns.
    #[cfg(test)]
    fn total(&self) -> u64 {
        self.rows.iter().flatten().sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_lies_where_it_was_and_none_is_lost_as_parts_get_longer() {
        let mut tiles = Tiles::with_buckets(1_000, 1_024, 1_024);
        tiles.add(0, 4, 900, 1_010);
        tiles.add(0, 4, 1_010, 1_020);
        assert_eq!(tiles.width(), 1);
        tiles.add(0, 2, 2_000, 9_000);
        assert_eq!((tiles.width(), tiles.total()), (8, 20 + 7_000));
        assert_eq!(tiles.sums(0, 0, 1, 2).iter().map(|sum| sum[4]).collect::<Vec<_>>(), [8, 8]);
        assert_eq!(tiles.bucket(1_017), 2);
    }

    #[test]
    fn threads_without_end_take_no_more_memory() {
        let mut tiles = Tiles::new(0, 1 << 40);
        let threads = 3 * (MOST_CELLS / MOST_BUCKETS) as u32;
        for thread in 0..threads {
            tiles.add(thread, 0, i64::from(thread) << 20, (i64::from(thread) << 20) + (1 << 30));
        }
        assert!(tiles.kept * tiles.buckets <= MOST_CELLS);
        assert_eq!(tiles.total() + tiles.left_out, u64::from(threads) << 30);
    }
}
