//! Which wake-ups are kept: those that ended the longest waits.

use hashbrown::HashMap;
use whyslow_model::Tid;

/// A wake-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KeptWake {
    pub(crate) from: Tid,
    pub(crate) to: Tid,
    pub(crate) at: u64,
    /// What the woken thread had slept, ns.
    pub(crate) slept: u64,
}

/// The wake-ups that are kept.
#[derive(Debug, Default)]
pub(crate) struct KeptWakes {
    wakes: Vec<KeptWake>,
    slept: HashMap<Tid, u64, foldhash::fast::RandomState>,
    least: u64,
    seen: u64,
}

impl KeptWakes {
    /// Wake-ups kept; up to twice as many while they come.
    const MAX: usize = 1 << 14;
    /// Threads whose last sleep is remembered.
    const MAX_THREADS: usize = 1 << 16;

    /// A thread slept so long, and was woken.
    pub(crate) fn slept(&mut self, tid: Tid, ns: u64) {
        if self.slept.len() < Self::MAX_THREADS || self.slept.contains_key(&tid) {
            self.slept.insert(tid, ns);
        }
    }

    /// That wake-up ended its sleep.
    pub(crate) fn see(&mut self, from: Tid, to: Tid, at: u64) {
        self.seen += 1;
        let slept = self.slept.remove(&to).unwrap_or(0);
        if slept < self.least {
            return;
        }
        self.wakes.push(KeptWake { from, to, at, slept });
        if self.wakes.len() >= 2 * Self::MAX {
            self.wakes.select_nth_unstable_by_key(Self::MAX, |wake| std::cmp::Reverse(wake.slept));
            self.wakes.truncate(Self::MAX);
            self.least = self.wakes.iter().map(|wake| wake.slept).min().unwrap_or(0);
        }
    }

    /// The most telling ones, by their time.
    pub(crate) fn most(&self, most: usize) -> Vec<KeptWake> {
        let mut wakes = self.wakes.clone();
        wakes.sort_by_key(|wake| (std::cmp::Reverse(wake.slept), wake.at, wake.to));
        wakes.truncate(most);
        wakes.sort_by_key(|wake| (wake.at, wake.to, wake.from));
        wakes
    }

    /// How many there were.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_longest_sleeps_stay() {
        let mut wakes = KeptWakes::default();
        for at in 0..100_000 {
            wakes.slept(2, (at * 7_919) % 100_000);
            wakes.see(1, 2, at);
        }
        let most = wakes.most(100);
        assert_eq!((wakes.seen(), most.len()), (100_000, 100));
        assert!(most.iter().all(|wake| wake.slept >= 99_900));
        assert!(most.is_sorted_by_key(|wake| wake.at));
    }
}
