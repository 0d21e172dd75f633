//! Requests that wait for their answers: first come, first answered, or by what identifies them.

use crate::{Key, Step};
use std::collections::VecDeque;

/// Outstanding requests of one connection, oldest first. `T` is what the protocol needs to find one again (a stream's
/// number) or to read its answer (the verb `HEAD` has no body), `()` where order is all.
#[derive(Debug)]
pub struct Pairing<T = ()> {
    next: u64,
    open: VecDeque<(Key, T)>,
}

impl<T> Default for Pairing<T> {
    fn default() -> Pairing<T> {
        Pairing { next: 0, open: VecDeque::new() }
    }
}

impl<T> Pairing<T> {
    /// Requests that may wait: of more, the oldest are given up.
    pub const MAX_OPEN: usize = 1_024;

    /// Nothing is asked yet.
    pub fn new() -> Pairing<T> {
        Pairing::default()
    }

    /// A request began. Its answer is expected.
    pub fn ask(&mut self, what: T) -> Key {
        if self.open.len() >= Self::MAX_OPEN {
            self.open.pop_front();
        }
        let key = self.number();
        self.open.push_back((key, what));
        key
    }

    /// A request began that nobody answers.
    pub fn ask_one_way(&mut self) -> Key {
        self.number()
    }

    fn number(&mut self) -> Key {
        let key = Key(self.next);
        self.next += 1;
        key
    }

    /// The request whose turn it is.
    pub fn oldest(&self) -> Option<(Key, &T)> {
        self.open.front().map(|(key, what)| (*key, what))
    }

    /// The same, to change what is known of it.
    pub fn oldest_mut(&mut self) -> Option<(Key, &mut T)> {
        self.open.front_mut().map(|(key, what)| (*key, what))
    }

    /// The requests that wait, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        self.open.iter().map(|(key, what)| (*key, what))
    }

    /// Gives up those of which `is_it` says so: whether they were answered is not known.
    pub fn give_up(&mut self, mut is_it: impl FnMut(&T) -> bool, out: &mut dyn FnMut(Step)) {
        self.open.retain(|(key, what)| {
            let is_kept = !is_it(what);
            if !is_kept {
                out(Step::Unclear(*key));
            }
            is_kept
        });
    }

    /// The request that came last.
    pub fn newest(&mut self) -> Option<(Key, &mut T)> {
        self.open.back_mut().map(|(key, what)| (*key, what))
    }

    /// The request whose turn it is, which waits no longer.
    pub fn take_oldest(&mut self) -> Option<(Key, T)> {
        self.open.pop_front()
    }

    /// The oldest request of which `is_it` says so.
    pub fn find(&mut self, mut is_it: impl FnMut(&T) -> bool) -> Option<(Key, &mut T)> {
        self.open.iter_mut().find(|(_, what)| is_it(what)).map(|(key, what)| (*key, what))
    }

    /// The same, which waits no longer.
    pub fn take(&mut self, mut is_it: impl FnMut(&T) -> bool) -> Option<(Key, T)> {
        let at = self.open.iter().position(|(_, what)| is_it(what))?;
        self.open.remove(at)
    }

    /// This request waits no longer.
    pub fn remove(&mut self, key: Key) {
        self.open.retain(|(other, _)| *other != key);
    }

    /// Requests that wait.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// True where none waits.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The same requests and numbers for another protocol, which goes on on the same connection.
    pub fn hand_over<U>(self, mut what: impl FnMut(T) -> U) -> Pairing<U> {
        Pairing {
            next: self.next,
            open: self.open.into_iter().map(|(key, told)| (key, what(told))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order_by_name_and_bounded() {
        let mut pairing = Pairing::new();
        let (a, b) = (pairing.ask(7), pairing.ask(9));
        assert_eq!(pairing.oldest(), Some((a, &7)));
        assert_eq!(pairing.take(|id| *id == 9), Some((b, 9)));
        assert_eq!(pairing.take(|id| *id == 9), None);
        assert_eq!(pairing.take_oldest(), Some((a, 7)));
        assert!(pairing.is_empty());
        for id in 0..3_000 {
            pairing.ask(id);
        }
        assert_eq!(pairing.len(), Pairing::<i32>::MAX_OPEN);
        assert_eq!(pairing.oldest(), Some((Key(2 + 3_000 - 1_024), &(3_000 - 1_024))));
    }
}
