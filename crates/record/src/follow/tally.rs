//! Who is waited for, by looks: of each group of watched processes how often it waited, and for whom. Says who is taken in.

use std::collections::{BTreeMap, BTreeSet};

/// Looks in which a process was waited for, at least: fewer are chance.
const FEWEST_HITS: u32 = 4;
/// Looks in which its waiter waited, at least: a third of a second, when looks come as often as they can.
const FEWEST_WAITS: u32 = 8;
/// Who is waited for in less of the target's waiting is not taken in: what would be gained is less than what is worth a warning.
const LEAST_SHARE: f64 = 0.05;
/// Processes that a group may wait for and are counted.
const MOST_CANDIDATES: usize = 256;

/// Whose waiting it is: the target, or one that was taken in, with the children of each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Group {
    Target,
    Taken(u32),
}

/// One process to be taken in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen {
    pub(super) pid: u32,
    /// The process that was seen to wait for it last.
    pub(super) waiter: u32,
    /// By what: `127.0.0.1:5432`, `a pipe`.
    pub(super) via: String,
    /// The part of the target's waiting.
    pub(super) share: f64,
    /// Waits from the target to it.
    pub(super) hop: u32,
}

#[derive(Debug, Default)]
struct Candidate {
    hits: u32,
    waiter: u32,
    via: String,
}

#[derive(Debug)]
struct Counts {
    /// The part of the target's waiting that is for this group, and the waits from the target to it.
    share: f64,
    hop: u32,
    /// Looks in which it waited for anything.
    waited: u32,
    candidates: BTreeMap<u32, Candidate>,
}

/// The counts of all groups.
#[derive(Debug)]
pub(super) struct Tally {
    groups: BTreeMap<Group, Counts>,
    /// What the present look saw: a group waited, and for whom.
    waited: BTreeSet<Group>,
    hit: BTreeSet<(Group, u32)>,
}

impl Counts {
    fn new(share: f64, hop: u32) -> Counts {
        Counts { share, hop, waited: 0, candidates: BTreeMap::new() }
    }
}

impl Tally {
    pub(super) fn new() -> Tally {
        let target = (Group::Target, Counts::new(1.0, 0));
        Tally { groups: BTreeMap::from([target]), waited: BTreeSet::new(), hit: BTreeSet::new() }
    }

    /// A thread of the group waits for what is no work.
    pub(super) fn waits(&mut self, group: Group) {
        self.waited.insert(group);
    }

    /// It waits for that process.
    pub(super) fn waits_for(&mut self, group: Group, waiter: u32, pid: u32, via: &str) {
        self.waits(group);
        let Some(counts) = self.groups.get_mut(&group) else { return };
        let has_room = counts.candidates.len() < MOST_CANDIDATES || counts.candidates.contains_key(&pid);
        if has_room && self.hit.insert((group, pid)) {
            let candidate = counts.candidates.entry(pid).or_default();
            candidate.hits += 1;
            candidate.waiter = waiter;
            if candidate.via != via {
                candidate.via = via.to_string();
            }
        }
    }

    /// The look is over. Says who is to be taken in by now, the most waited for first.
    pub(super) fn end(&mut self, is_known: impl Fn(u32) -> bool) -> Vec<Chosen> {
        for group in std::mem::take(&mut self.waited) {
            if let Some(counts) = self.groups.get_mut(&group) {
                counts.waited += 1;
            }
        }
        self.hit.clear();
        let mut chosen: Vec<Chosen> = Vec::new();
        for counts in self.groups.values().filter(|counts| counts.waited >= FEWEST_WAITS) {
            for (pid, candidate) in &counts.candidates {
                let share = counts.share * f64::from(candidate.hits) / f64::from(counts.waited);
                if candidate.hits >= FEWEST_HITS && share >= LEAST_SHARE && !is_known(*pid) {
                    let (waiter, via) = (candidate.waiter, candidate.via.clone());
                    chosen.push(Chosen {
                        pid: *pid,
                        waiter,
                        via,
                        share: share.min(1.0),
                        hop: counts.hop + 1,
                    });
                }
            }
        }
        chosen.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.pid.cmp(&b.pid)));
        let mut seen = BTreeSet::new();
        chosen.retain(|one| seen.insert(one.pid));
        chosen
    }

    /// It was taken in, and its own waits count from now on.
    pub(super) fn take_in(&mut self, chosen: &Chosen) {
        self.groups.entry(Group::Taken(chosen.pid)).or_insert_with(|| Counts::new(chosen.share, chosen.hop));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(tally: &mut Tally, count: u32, look: impl Fn(&mut Tally, u32)) -> Vec<Chosen> {
        let mut chosen = Vec::new();
        for at in 0..count {
            look(tally, at);
            chosen = tally.end(|_| false);
        }
        chosen
    }

    #[test]
    fn who_is_waited_for_in_a_twentieth_of_the_waiting_is_taken_in() {
        let mut tally = Tally::new();
        let chosen = looks(&mut tally, 100, |tally, at| {
            tally.waits(Group::Target);
            let pid = if at % 25 == 0 { 8 } else { 9 };
            // Several threads wait for it at once: it is one look.
            (0..3).for_each(|_| tally.waits_for(Group::Target, 7, pid, "127.0.0.1:80"));
        });
        let expected = Chosen { pid: 9, waiter: 7, via: "127.0.0.1:80".to_string(), share: 0.96, hop: 1 };
        assert_eq!(chosen, [expected]);
    }

    #[test]
    fn a_few_looks_say_nothing() {
        let mut tally = Tally::new();
        let chosen = looks(&mut tally, 7, |tally, _| tally.waits_for(Group::Target, 7, 9, "a pipe"));
        assert!(chosen.is_empty());
        assert_eq!(looks(&mut tally, 1, |tally, _| tally.waits_for(Group::Target, 7, 9, "a pipe")).len(), 1);
    }

    #[test]
    fn further_on_shares_are_of_the_targets_waiting() {
        let mut tally = Tally::new();
        let first = looks(&mut tally, 10, |tally, at| {
            tally.waits(Group::Target);
            if at % 2 == 0 {
                tally.waits_for(Group::Target, 7, 9, "a.sock");
            }
        });
        tally.take_in(&first[0]);
        let chosen = looks(&mut tally, 10, |tally, at| {
            tally.waits(Group::Taken(9));
            if at % 2 == 0 {
                tally.waits_for(Group::Taken(9), 9, 10, "a pipe");
            }
        });
        let next = chosen.iter().find(|one| one.pid == 10).expect("chosen");
        assert_eq!((next.share, next.hop, next.waiter), (0.25, 2, 9));
        assert!(tally.end(|pid| pid == 9 || pid == 10).is_empty());
    }
}
