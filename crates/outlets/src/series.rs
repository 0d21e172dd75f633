//! Sums since the agent began, by labels, of which a bounded number is told apart. What was told lately counts most: a series that
//! is small gives way to one that is larger. The rest goes into series of `other`, so that no time and no call is lost, and is counted.

use crate::told::{Key, Sums, ToldSums, other};
use std::collections::BTreeMap;

/// A new series takes the place of the smallest where it has so many times what that one had lately: two of about the same size do not
/// take turns.
const LARGER: u64 = 2;

/// One series.
#[derive(Clone, Debug)]
pub(crate) struct Sum<V> {
    pub(crate) value: V,
    /// From when on it is summed, us since 1970.
    pub(crate) since: i64,
    /// What came lately: half of it counts in the next window.
    lately: u64,
}

/// The series of one kind.
#[derive(Clone, Debug)]
pub(crate) struct SeriesGroup<V> {
    /// The labels.
    pub(crate) labels: &'static [&'static str],
    /// Labels, by place, that `other` keeps.
    kept: &'static [usize],
    most: usize,
    rows: BTreeMap<Key, Sum<V>>,
    /// Few: as many as the kept labels have values.
    others: BTreeMap<Key, Sum<V>>,
    /// Sets of labels, window by window, that were not told apart, and series that gave way.
    pub(crate) dropped: u64,
}

impl<V: Sums> SeriesGroup<V> {
    pub(crate) fn new(
        labels: &'static [&'static str],
        kept: &'static [usize],
        most: usize,
    ) -> SeriesGroup<V> {
        SeriesGroup { labels, kept, most, rows: BTreeMap::new(), others: BTreeMap::new(), dropped: 0 }
    }

    /// Adds a window that began then, us since 1970.
    pub(crate) fn take(&mut self, told: &ToldSums<V>, start: i64) {
        self.rows.values_mut().for_each(|sum| sum.lately /= 2);
        self.dropped += told.joined;
        for (key, value) in &told.rows {
            let weight = value.weight();
            if *key == other(key, self.kept) {
                Self::put(&mut self.others, key.clone(), value, start, 0);
                continue;
            }
            if let Some(sum) = self.rows.get_mut(key) {
                sum.value.add(value);
                sum.lately = sum.lately.saturating_add(weight);
                continue;
            }
            if self.rows.len() >= self.most && !self.make_room(weight) {
                self.dropped += 1;
                Self::put(&mut self.others, other(key, self.kept), value, start, 0);
                continue;
            }
            Self::put(&mut self.rows, key.clone(), value, start, weight);
        }
    }

    fn put(to: &mut BTreeMap<Key, Sum<V>>, key: Key, value: &V, start: i64, weight: u64) {
        let sum = to.entry(key).or_insert_with(|| Sum { value: V::default(), since: start, lately: 0 });
        sum.value.add(value);
        sum.lately = sum.lately.saturating_add(weight);
    }

    /// Removes the smallest where the new one is larger by far. What it had is not added to `other`: there it would look as if it came now.
    fn make_room(&mut self, weight: u64) -> bool {
        let smallest = self.rows.iter().min_by_key(|(_, sum)| sum.lately);
        let Some((key, sum)) = smallest.map(|(key, sum)| (key.clone(), sum.lately)) else { return false };
        let is_larger = weight > sum.saturating_mul(LARGER);
        if is_larger {
            self.rows.remove(&key);
            self.dropped += 1;
        }
        is_larger
    }

    /// All, those told apart first.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Key, &Sum<V>)> {
        self.rows.iter().chain(&self.others)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len() + self.others.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, state: &str) -> Key {
        vec![name.to_string(), state.to_string()]
    }

    fn group(most: usize) -> SeriesGroup<u64> {
        SeriesGroup::new(&["name", "state"], &[1], most)
    }

    fn told(rows: &[(&str, u64)]) -> ToldSums<u64> {
        ToldSums { rows: rows.iter().map(|(name, value)| (key(name, "s"), *value)).collect(), joined: 0 }
    }

    fn of(group: &SeriesGroup<u64>, name: &str) -> Option<u64> {
        group.all().find(|(known, _)| known[0] == name).map(|(_, sum)| sum.value)
    }

    #[test]
    fn sums_grow_and_what_is_beyond_is_other() {
        let mut group = group(2);
        group.take(&told(&[("a", 10), ("b", 9), ("c", 8)]), 60);
        assert_eq!((of(&group, "a"), of(&group, "c"), of(&group, "other")), (Some(10), None, Some(8)));
        group.take(&told(&[("a", 5), ("c", 8), ("other", 3)]), 120);
        assert_eq!((of(&group, "a"), of(&group, "other"), group.dropped), (Some(15), Some(19), 2));
        assert_eq!(group.len(), 3);
        assert!(group.all().all(|(_, sum)| sum.since == 60));
    }

    #[test]
    fn one_that_is_larger_by_far_takes_the_place_of_the_smallest() {
        let mut group = group(2);
        group.take(&told(&[("a", 100), ("b", 10)]), 0);
        // `b` was 10, of which half counts now.
        group.take(&told(&[("c", 10)]), 60);
        assert_eq!((of(&group, "b"), of(&group, "other")), (Some(10), Some(10)));
        group.take(&told(&[("c", 11)]), 120);
        assert_eq!((of(&group, "b"), of(&group, "c"), of(&group, "other")), (None, Some(11), Some(10)));
        assert_eq!(group.dropped, 2);
    }

    #[test]
    fn a_flood_of_labels_stays_bounded_and_sums_stay_whole() {
        let mut group = group(50);
        let mut sum = 0;
        for window in 0..20_u64 {
            let rows: Vec<(Key, u64)> = (0..1_000)
                .map(|number| (key(&format!("w{window}-{number}"), &format!("s{}", number % 3)), 1))
                .collect();
            sum += rows.len() as u64;
            group.take(&ToldSums { rows, joined: 5 }, 0);
        }
        assert!(group.len() <= 53, "{}", group.len());
        let told: u64 = group.all().map(|(_, sum)| sum.value).sum();
        let gone = sum - told;
        // Only series that gave way are missing, each with what it had.
        assert!(gone <= group.dropped && group.dropped >= 20 * 955, "{gone} of {}", group.dropped);
    }
}
