//! A bounded choice of many, with the count of all.

/// The heaviest of many. What is kept never passes for all: how many there were is said beside it.
#[derive(Debug)]
pub struct Kept<T> {
    items: Vec<T>,
    count: u64,
}

impl<T> Default for Kept<T> {
    fn default() -> Kept<T> {
        Kept { items: Vec::new(), count: 0 }
    }
}

impl<T> Kept<T> {
    /// Counts `item`, and keeps it where there is room for `limit`, or where it is heavier than the lightest that is kept.
    pub fn add(&mut self, item: T, limit: usize, weight: impl Fn(&T) -> u64) {
        self.count = self.count.saturating_add(1);
        if self.items.len() < limit {
            self.items.push(item);
        } else if let Some(lightest) = self.items.iter_mut().min_by_key(|kept| weight(kept))
            && weight(&item) > weight(lightest)
        {
            *lightest = item;
        }
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Those that were kept, in no order.
    pub fn items(&self) -> &[T] {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_the_heaviest_kept() {
        let mut kept = Kept::default();
        for item in [5, 1, 9, 3, 7] {
            kept.add(item, 2, |item| *item);
        }
        let mut items = kept.items().to_vec();
        items.sort_unstable();
        assert_eq!((kept.count(), items), (5, vec![7, 9]));
    }
}
