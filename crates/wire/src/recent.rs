//! What a connection was told to remember, as prepared statements are: bounded, the first of it forgotten first.

use std::borrow::Borrow;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// Names and what they stand for.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    values: HashMap<K, V>,
    order: VecDeque<K>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Recent<K, V> {
        Recent { values: HashMap::new(), order: VecDeque::new() }
    }
}

impl<K: Eq + Hash + Clone, V> Recent<K, V> {
    /// Names remembered: pools of statements keep up to 256 a connection (JDBC's default).
    pub(crate) const MAX: usize = 512;

    /// Remembers a name.
    pub(crate) fn insert(&mut self, name: K, value: V) {
        if self.values.insert(name.clone(), value).is_some() {
            return;
        }
        if self.order.len() >= Self::MAX
            && let Some(first) = self.order.pop_front()
        {
            self.values.remove(&first);
        }
        self.order.push_back(name);
    }

    /// What a name stands for.
    pub(crate) fn get<Q: ?Sized + Eq + Hash>(&self, name: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.values.get(name)
    }

    /// Forgets a name.
    pub(crate) fn remove<Q: ?Sized + Eq + Hash>(&mut self, name: &Q)
    where
        K: Borrow<Q>,
    {
        if self.values.remove(name).is_some() {
            self.order.retain(|other| other.borrow() != name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_so_many() {
        let mut recent = Recent::default();
        for name in 0..2_000 {
            recent.insert(name, name);
            recent.insert(name, name + 1);
        }
        assert_eq!(recent.get(&1_999), Some(&2_000));
        assert_eq!(recent.get(&(2_000 - Recent::<i32, i32>::MAX as i32 - 1)), None);
        recent.remove(&1_999);
        assert_eq!(recent.get(&1_999), None);
        assert_eq!(recent.values.len(), recent.order.len());
    }
}
