//! What may run beside what: weights in quarters of a CPU, tests that run alone, groups of which one runs at a time.

use std::collections::BTreeSet;

/// How much of the machine a test takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Quarters of a CPU.
    Quarters(u32),
    /// The whole machine: nothing runs beside it.
    Alone,
}

impl Weight {
    /// `alone`, or quarters of a CPU.
    pub(crate) fn parse(word: &str) -> Option<Weight> {
        match word {
            "alone" => Some(Weight::Alone),
            _ => word.parse().ok().filter(|&quarters| quarters > 0).map(Weight::Quarters),
        }
    }
}

impl std::fmt::Display for Weight {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Weight::Quarters(quarters) => write!(out, "{quarters}"),
            Weight::Alone => write!(out, "alone"),
        }
    }
}

/// What a test needs while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) weight: Weight,
    /// Of those of one group one runs at a time.
    pub(crate) group: Option<String>,
}

/// Quarters of one CPU.
const QUARTERS: u32 = 4;

/// What is taken of the machine.
#[derive(Debug)]
pub(crate) struct Slots {
    total: u32,
    taken: u32,
    running: u32,
    groups: BTreeSet<String>,
}

impl Slots {
    pub(crate) fn new(cpus: u32) -> Slots {
        Slots { total: cpus.max(1) * QUARTERS, taken: 0, running: 0, groups: BTreeSet::new() }
    }

    /// What is more than the machine has takes all of it.
    fn quarters(&self, weight: Weight) -> u32 {
        match weight {
            Weight::Quarters(quarters) => quarters.min(self.total),
            Weight::Alone => self.total,
        }
    }

    /// Takes what `need` says, if it is free.
    pub(crate) fn take(&mut self, need: &Need) -> bool {
        let quarters = self.quarters(need.weight);
        let is_free = self.taken + quarters <= self.total
            && (need.weight != Weight::Alone || self.running == 0)
            && !need.group.as_ref().is_some_and(|group| self.groups.contains(group));
        if is_free {
            self.taken += quarters;
            self.running += 1;
            self.groups.extend(need.group.clone());
        }
        is_free
    }

    /// Gives back what [`Slots::take`] took.
    pub(crate) fn give(&mut self, need: &Need) {
        self.taken -= self.quarters(need.weight);
        self.running -= 1;
        if let Some(group) = &need.group {
            self.groups.remove(group);
        }
    }

    /// Whether nothing more can start, whatever it needs.
    pub(crate) fn is_full(&self) -> bool {
        self.taken == self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn need() -> impl Strategy<Value = Need> {
        let weight = prop_oneof![4 => (1..12u32).prop_map(Weight::Quarters), 1 => Just(Weight::Alone)];
        let group = prop_oneof![2 => Just(None), 1 => "[ab]".prop_map(Some)];
        (weight, group).prop_map(|(weight, group)| Need { weight, group })
    }

    proptest! {
        /// As in a run: what fits is started in order, then one of those that run ends, until all have run.
        #[test]
        fn slots_are_never_exceeded_and_alone_is_alone(
            cpus in 1..5u32,
            needs in proptest::collection::vec(need(), 1..60),
            ends in proptest::collection::vec(any::<prop::sample::Index>(), 60),
        ) {
            let mut slots = Slots::new(cpus);
            let mut waiting = needs.clone();
            let mut running: Vec<Need> = Vec::new();
            for end in ends {
                waiting.retain(|need| {
                    let taken = slots.take(need);
                    if taken {
                        running.push(need.clone());
                    }
                    !taken
                });
                let weights = running.iter().map(|need| match need.weight {
                    Weight::Quarters(quarters) => quarters.min(cpus * QUARTERS),
                    Weight::Alone => cpus * QUARTERS,
                });
                prop_assert!(weights.sum::<u32>() <= cpus * QUARTERS);
                let alone = running.iter().any(|need| need.weight == Weight::Alone);
                prop_assert!(!alone || running.len() == 1, "{running:?}");
                for group in ["a", "b"] {
                    let of_group = running.iter().filter(|need| need.group.as_deref() == Some(group));
                    prop_assert!(of_group.count() <= 1);
                }
                // Something always runs while something waits: no test is kept from running for ever.
                prop_assert!(waiting.is_empty() || !running.is_empty());
                if !running.is_empty() {
                    let ended = running.swap_remove(end.index(running.len()));
                    slots.give(&ended);
                }
            }
            prop_assert!(waiting.is_empty());
        }
    }

    #[test]
    fn a_weight_is_read() {
        assert_eq!(Weight::parse("alone"), Some(Weight::Alone));
        assert_eq!(Weight::parse("3"), Some(Weight::Quarters(3)));
        for wrong in ["", "0", "-1", "much"] {
            assert_eq!(Weight::parse(wrong), None, "{wrong}");
        }
    }
}
