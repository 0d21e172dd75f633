//! What is known already, by its hash.

use hashbrown::HashTable;

/// Numbers of things by their hash; the things themselves stand elsewhere, so that an entry is small.
#[derive(Clone, Debug, Default)]
pub struct HashIndex(HashTable<(u32, u32)>);

impl HashIndex {
    /// Bytes that an entry takes, in a table half empty as it is after it grew.
    pub const ENTRY: usize = 2 * (size_of::<(u32, u32)>() + 1);

    /// The number of the thing that has `hash` and `is_same`; where there is none, `next` is its number from now on.
    #[inline]
    pub fn number(&mut self, hash: u64, next: u32, is_same: impl Fn(u32) -> bool) -> u32 {
        let short = hash as u32;
        let is_known = |known: &(u32, u32)| known.0 == short && is_same(known.1);
        let entry = self.0.entry(HashIndex::long(short), is_known, |known| HashIndex::long(known.0));
        entry.or_insert((short, next)).get().1
    }

    /// The table looks at both ends of a hash.
    #[inline]
    fn long(short: u32) -> u64 {
        u64::from(short) << 32 | u64::from(short)
    }
}
