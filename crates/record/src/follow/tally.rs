//! Who is waited for, by looks: of each group of watched processes how often it waited, and for whom. Says who is taken in.

use std::collections::{BTreeMap, BTreeSet};
use whyslow_model::Via;

/// Looks in which a process was waited for, at least: fewer are chance.
pub(super) const FEWEST_HITS: u32 = 4;
/// Looks in which its waiter waited, at least: a third of a second, when looks come as often as they can.
const FEWEST_WAITS: u32 = 8;
/// Of who is waited for now and then, these of its waits are enough where most of what was seen of the waiter's waiting is for it: two of four looks
/// at who is waited for in less than [`LEAST_SHARE`] are chance in one case of a hundred.
const FEWEST_WAITS_SEEN: u32 = 2;
const MOSTLY: f64 = 0.5;
/// Who is waited for in less of the target's waiting is not taken in: what would be gained is less than what is worth a warning.
pub(super) const LEAST_SHARE: f64 = 0.05;
/// Processes that a group may wait for and are counted, and services.
const MOST_CANDIDATES: usize = 256;
/// Processes of one service that are taken in: what they wait for is alike.
pub(super) const MOST_ALIKE: usize = 3;

/// Whose waiting it is: the target, or a service of which a process was taken in, with the children of each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Group {
    Target,
    /// A process that waits for the target, with its children.
    Caller,
    /// The process of the service that was taken in first.
    Taken(u32),
}

/// One process to be taken in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen {
    pub(super) pid: u32,
    /// The process that was seen to wait for it last; of one that waits for the target, whom it waits for.
    pub(super) waiter: u32,
    /// By what: `127.0.0.1:5432`, `a pipe`.
    pub(super) via: String,
    /// The part of the target's waiting, for its service; of one that waits for the target, of the looks at it.
    pub(super) share: f64,
    /// Waits from the target to it; 0 for one that waits for the target.
    pub(super) hop: u32,
    /// Who waits for it.
    pub(super) of: Group,
    /// It comes for one request and goes with it: whoever starts such processes is meant.
    pub(super) is_passing: bool,
}

#[derive(Debug, Default)]
struct Candidate {
    hits: u32,
    waiter: u32,
    service: Service,
}

/// What processes have in common that stand for one another: workers behind one address, holders of one lock. Where nothing says so, a
/// process is its own.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Service {
    via: String,
    only: Option<u32>,
}

impl Service {
    pub(super) fn of(via: &str, pid: u32) -> Service {
        Service { via: via.to_string(), only: Via::of_words(via).is_anybodys().then_some(pid) }
    }
}

#[derive(Debug, Default)]
struct ServiceCounts {
    hits: u32,
    /// Its waits that were seen: looks that follow each other see one.
    waits: u32,
    last_look: u32,
    /// The last process of it that was seen, and who waited for it.
    last: Option<(u32, u32)>,
    /// Processes of it that were taken in.
    taken: usize,
    /// The group of these.
    group: Option<Group>,
}

#[derive(Debug)]
struct Counts {
    /// The part of the target's waiting that is for this group, and the waits from the target to it.
    share: f64,
    hop: u32,
    /// Looks in which it waited for anything.
    waited: u32,
    candidates: BTreeMap<u32, Candidate>,
    services: BTreeMap<Service, ServiceCounts>,
}

/// The counts of all groups.
#[derive(Debug)]
pub(super) struct Tally {
    groups: BTreeMap<Group, Counts>,
    /// The number of the present look.
    look: u32,
    /// What the present look saw: a group waited, and for whom.
    waited: BTreeSet<Group>,
    hit: BTreeSet<(Group, u32)>,
    served: BTreeSet<(Group, Service)>,
}

impl Counts {
    fn new(share: f64, hop: u32) -> Counts {
        Counts { share, hop, waited: 0, candidates: BTreeMap::new(), services: BTreeMap::new() }
    }
}

impl Tally {
    pub(super) fn new() -> Tally {
        let target = (Group::Target, Counts::new(1.0, 0));
        Tally {
            groups: BTreeMap::from([target]),
            look: 1,
            waited: BTreeSet::new(),
            hit: BTreeSet::new(),
            served: BTreeSet::new(),
        }
    }

    /// A thread of the group waits for what is no work.
    pub(super) fn waits(&mut self, group: Group) {
        self.waited.insert(group);
    }

    /// True where the present look saw the group wait for what is no work.
    pub(super) fn has_waited(&self, group: Group) -> bool {
        self.waited.contains(&group)
    }

    /// It waits for that process.
    pub(super) fn waits_for(&mut self, group: Group, waiter: u32, pid: u32, via: &str) {
        let service = Service::of(via, pid);
        self.waits_for_service(group, &service, Some((pid, waiter)));
        let Some(counts) = self.groups.get_mut(&group) else { return };
        if counts.candidates.len() >= MOST_CANDIDATES && !counts.candidates.contains_key(&pid) {
            // Processes that come and go: those that were seen once make room.
            counts.candidates.retain(|_, candidate| candidate.hits > 1);
        }
        let has_room = counts.candidates.len() < MOST_CANDIDATES || counts.candidates.contains_key(&pid);
        if has_room && self.hit.insert((group, pid)) {
            let candidate = counts.candidates.entry(pid).or_default();
            candidate.hits += 1;
            candidate.waiter = waiter;
            if candidate.service != service {
                candidate.service = service;
            }
        }
    }

    /// It waits for one of the processes behind that address; which one (and who of the group waits), as far as that is known.
    pub(super) fn waits_for_service(&mut self, group: Group, service: &Service, who: Option<(u32, u32)>) {
        self.waits(group);
        let Some(counts) = self.groups.get_mut(&group) else { return };
        if counts.services.len() >= MOST_CANDIDATES && !counts.services.contains_key(service) {
            return;
        }
        let is_first = self.served.insert((group, service.clone()));
        let service = counts.services.entry(service.clone()).or_default();
        if is_first {
            service.hits += 1;
            service.waits += u32::from(service.last_look == 0 || service.last_look + 1 < self.look);
            service.last_look = self.look;
        }
        service.last = who.or(service.last);
    }

    /// The look is over. Says who is to be taken in by now, the most waited for first.
    pub(super) fn end(&mut self, is_known: impl Fn(u32) -> bool) -> Vec<Chosen> {
        for group in std::mem::take(&mut self.waited) {
            if let Some(counts) = self.groups.get_mut(&group) {
                counts.waited += 1;
            }
        }
        self.hit.clear();
        self.served.clear();
        self.look += 1;
        let mut chosen: Vec<Chosen> = Vec::new();
        for (of, counts) in &self.groups {
            for (service, seen) in &counts.services {
                let part = f64::from(seen.hits) / f64::from(counts.waited.max(1));
                let is_often = seen.hits >= FEWEST_HITS && counts.waited >= FEWEST_WAITS;
                let fewest = if is_often { FEWEST_HITS } else { FEWEST_WAITS_SEEN };
                let share = counts.share * part;
                if !is_often && (seen.waits < FEWEST_WAITS_SEEN || part < MOSTLY) {
                    continue;
                }
                if share < LEAST_SHARE || seen.taken >= MOST_ALIKE {
                    continue;
                }
                let new = |pid, waiter, is_passing| Chosen {
                    pid,
                    waiter,
                    via: service.via.clone(),
                    share: share.min(1.0),
                    hop: counts.hop + 1,
                    of: *of,
                    is_passing,
                };
                let of_it = counts.candidates.iter().filter(|(_, one)| one.service == *service);
                let lasting = of_it.filter(|(_, one)| one.hits >= fewest);
                let lasting: Vec<Chosen> = lasting.map(|(pid, one)| new(*pid, one.waiter, false)).collect();
                // Each was seen too seldom, and all together often enough for several.
                let comes_and_goes = lasting.is_empty() && seen.taken == 0 && seen.hits >= 3 * FEWEST_HITS;
                let passing =
                    seen.last.filter(|_| comes_and_goes).map(|(pid, waiter)| new(pid, waiter, true));
                let room = MOST_ALIKE - seen.taken;
                chosen.extend(lasting.into_iter().filter(|one| !is_known(one.pid)).take(room).chain(passing));
            }
        }
        chosen.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.pid.cmp(&b.pid)));
        let mut seen = BTreeSet::new();
        chosen.retain(|one| seen.insert(one.pid));
        chosen
    }

    /// It was taken in, and its own waits count from now on, with those of its like: tells their group.
    pub(super) fn take_in(&mut self, chosen: &Chosen) -> Group {
        let service = Service::of(&chosen.via, chosen.pid);
        let mut group = Group::Taken(chosen.pid);
        if let Some(counts) = self.groups.get_mut(&chosen.of) {
            let service = counts.services.entry(service).or_default();
            service.taken += 1;
            group = *service.group.get_or_insert(group);
        }
        self.groups.entry(group).or_insert_with(|| Counts::new(chosen.share, chosen.hop));
        group
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
            let (pid, via) = if at % 25 == 0 { (8, "127.0.0.1:81") } else { (9, "127.0.0.1:80") };
            // Several threads wait for it at once: it is one look.
            (0..3).for_each(|_| tally.waits_for(Group::Target, 7, pid, via));
        });
        let via = "127.0.0.1:80".to_string();
        let of = Group::Target;
        let expected = Chosen { pid: 9, waiter: 7, via, share: 0.96, hop: 1, of, is_passing: false };
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
    fn who_is_waited_for_seldom_is_taken_in_where_the_target_hardly_waits_otherwise() {
        let waits = |tally: &mut Tally, at: u32| match at {
            3 | 20 => tally.waits_for(Group::Target, 7, 9, "127.0.0.1:80"),
            5 => tally.waits(Group::Target),
            _ => {}
        };
        let mut tally = Tally::new();
        assert!(looks(&mut tally, 20, waits).is_empty(), "one wait is chance");
        assert!(looks(&mut tally, 21, waits).iter().any(|one| one.pid == 9));
        // One wait that two looks see, and one of many waits.
        let one = looks(&mut Tally::new(), 3, |tally, _| tally.waits_for(Group::Target, 7, 9, "a pipe"));
        let many = looks(&mut Tally::new(), 7, |tally, at| match at % 3 {
            0 => tally.waits_for(Group::Target, 7, 9, "a pipe"),
            _ => tally.waits(Group::Target),
        });
        assert!(one.is_empty() && many.is_empty());
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

    #[test]
    fn workers_behind_one_address_are_one_service() {
        let mut tally = Tally::new();
        // Ten workers, each in a tenth of the looks; of some looks nobody knows which one it was.
        let worker = |tally: &mut Tally, at: u32| {
            tally.waits_for(Group::Target, 7, 20 + at % 10, "127.0.0.1:80");
            tally.waits_for_service(Group::Target, &Service::of("127.0.0.1:80", 0), None);
        };
        let chosen = looks(&mut tally, 40, worker);
        assert_eq!(chosen.iter().map(|one| one.pid).collect::<Vec<_>>(), [20, 21, 22]);
        assert!(chosen.iter().all(|one| one.share == 1.0 && one.hop == 1));
        let groups: Vec<Group> = chosen.iter().map(|one| tally.take_in(one)).collect();
        assert_eq!(groups, [Group::Taken(20); 3]);
        assert!(looks(&mut tally, 1, worker).is_empty(), "three stand for the others");
        // What they wait for is counted together.
        let next = looks(&mut tally, 12, |tally, at| {
            tally.waits_for(Group::Taken(20), 20 + at % 3, 40, "the lock of /srv/a.lock");
        });
        assert_eq!(next.iter().map(|one| (one.pid, one.share, one.hop)).collect::<Vec<_>>(), [(40, 1.0, 2)]);
    }

    #[test]
    fn of_processes_that_come_and_go_the_last_is_told_as_passing() {
        let mut tally = Tally::new();
        let chosen =
            looks(&mut tally, 12, |tally, at| tally.waits_for(Group::Target, 7, 100 + at, "127.0.0.1:80"));
        assert_eq!(chosen.iter().map(|one| (one.pid, one.is_passing)).collect::<Vec<_>>(), [(111, true)]);
        tally.take_in(&chosen[0]);
        assert!(tally.end(|_| false).is_empty());
    }

    #[test]
    fn pipes_have_nothing_in_common() {
        let mut tally = Tally::new();
        let chosen = looks(&mut tally, 100, |tally, at| {
            tally.waits_for(Group::Target, 7, if at % 25 == 0 { 8 } else { 9 }, "a pipe");
        });
        assert_eq!(chosen.iter().map(|one| one.pid).collect::<Vec<_>>(), [9]);
    }

    #[test]
    fn any_number_of_passing_processes_is_bounded() {
        let mut tally = Tally::new();
        looks(&mut tally, 2_000, |tally, at| {
            tally.waits_for(Group::Target, 7, at, &format!("127.0.0.1:{at}"));
        });
        let counts = &tally.groups[&Group::Target];
        assert!(counts.candidates.len() <= MOST_CANDIDATES && counts.services.len() <= MOST_CANDIDATES);
    }
}
