//! The numbers that a pprof file gives its locations, functions and mappings: usually 1, 2, 3 …, though they may be anything.

use hashbrown::HashMap;

/// From a file's number to an index.
#[derive(Default)]
pub(super) struct IdIndex {
    /// Index + 1 by number; 0: none.
    dense: Vec<u32>,
    sparse: HashMap<u64, u32>,
}

impl IdIndex {
    /// Bytes that a number takes at most, here or in [`ShortIds`]: an entry of a table half empty, and one of a list.
    pub(super) const ENTRY: usize = 2 * size_of::<(u64, u32)>() + size_of::<u64>();

    /// Gives a number its index; false where it has one.
    pub(super) fn insert(&mut self, id: u64, index: u32) -> bool {
        if self.get(id).is_some() {
            return false;
        }
        // Grows with what is there: a number far beyond the others goes to the map.
        if id > 2 * self.dense.len() as u64 + 1024 {
            self.sparse.insert(id, index);
            return true;
        }
        let id = id as usize;
        if id >= self.dense.len() {
            self.dense.resize(id + 1, 0);
        }
        self.dense[id] = index + 1;
        true
    }

    /// A number's index.
    #[inline]
    pub(super) fn get(&self, id: u64) -> Option<u32> {
        match self.dense.get(id as usize) {
            Some(0) | None if self.sparse.is_empty() => None,
            Some(0) | None => self.sparse.get(&id).copied(),
            Some(index) => Some(index - 1),
        }
    }
}

/// Numbers of 64 bits in 32, while the locations they belong to are not yet known.
#[derive(Default)]
pub(super) struct ShortIds {
    large: HashMap<u64, u32>,
    by_short: Vec<u64>,
}

impl ShortIds {
    const LARGE: u32 = 1 << 31;

    #[inline]
    pub(super) fn shorten(&mut self, id: u64) -> u32 {
        if id < u64::from(ShortIds::LARGE) { id as u32 } else { self.shorten_large(id) }
    }

    #[cold]
    fn shorten_large(&mut self, id: u64) -> u32 {
        // Each takes five bytes of the file at least: 2^31 of them are beyond any limit.
        *self.large.entry(id).or_insert_with(|| {
            self.by_short.push(id);
            ShortIds::LARGE | (self.by_short.len() - 1) as u32
        })
    }

    /// How many large numbers there are.
    pub(super) fn large(&self) -> usize {
        self.by_short.len()
    }

    #[inline]
    pub(super) fn lengthen(&self, short: u32) -> u64 {
        if short < ShortIds::LARGE {
            u64::from(short)
        } else {
            self.by_short.get((short & !ShortIds::LARGE) as usize).copied().unwrap_or(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_finds_its_index_and_none_is_given_twice() {
        let mut ids = IdIndex::default();
        let numbers = [1, 2, 3, 5000, 4, u64::MAX, 1 << 40, 1500];
        for (index, id) in numbers.into_iter().enumerate() {
            assert!(ids.insert(id, index as u32));
        }
        for (index, id) in numbers.into_iter().enumerate() {
            assert_eq!(ids.get(id), Some(index as u32));
            assert!(!ids.insert(id, 99));
        }
        assert_eq!(ids.get(0), None);
        assert!(ids.dense.len() < 5000);
    }

    #[test]
    fn long_numbers_survive_being_shortened() {
        let mut short = ShortIds::default();
        for id in [7, 1 << 31, u64::MAX, 1 << 31] {
            let given = short.shorten(id);
            assert_eq!(short.lengthen(given), id);
        }
    }
}
