//! What waits in the queues, added up by what people know them by: the connections of one listener are one row.

use std::collections::HashMap;
use whyslow_model::DemandKind;

/// A row.
pub(super) type GroupId = usize;

/// One row: what its samples told since it was told last.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) pid: u32,
    pub(super) kind: DemandKind,
    pub(super) name: Box<str>,
    /// Samples that say whether work waited.
    pub(super) samples: u32,
    /// Of these, those in which it did.
    pub(super) waited: u32,
    /// The most in one of them: bytes or connections.
    pub(super) most: u64,
    now: Now,
}

/// The sample that is being taken.
#[derive(Clone, Copy, Debug, Default)]
struct Now {
    asked: bool,
    waiting: u64,
    /// Something stands there that nobody moves.
    is_stale: bool,
}

/// All rows. Bounded: what finds no room shares the last one of nobody, which is not told.
#[derive(Debug, Default)]
pub(super) struct Groups {
    rows: Vec<Group>,
    ids: HashMap<(u32, DemandKind, Box<str>), GroupId>,
}

impl Groups {
    /// Rows told apart.
    const MOST: usize = 256;

    pub(super) fn id(&mut self, pid: u32, kind: DemandKind, name: &str) -> GroupId {
        let key = (pid, kind, Box::from(name));
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        if self.rows.len() >= Self::MOST {
            return GroupId::MAX;
        }
        let now = Now::default();
        self.rows.push(Group { pid, kind, name: key.2.clone(), samples: 0, waited: 0, most: 0, now });
        self.ids.insert(key, self.rows.len() - 1);
        self.rows.len() - 1
    }

    /// Hands over the rows that were sampled, and begins them anew.
    pub(super) fn take(&mut self, mut told: impl FnMut(&Group)) {
        for group in self.rows.iter_mut().filter(|group| group.samples > 0) {
            told(group);
            (group.samples, group.waited, group.most) = (0, 0, 0);
        }
    }
}

/// A queue as it was seen last.
#[derive(Clone, Copy, Debug)]
struct Seen {
    holds: u64,
    /// The sample before which it last changed; `None` where nobody saw it change.
    changed: Option<u64>,
    /// The last sample with it.
    sample: u64,
}

/// What each queue held before. What stands untouched is no demand: who inherited a pipe and does not read it, who leaks
/// connections.
#[derive(Debug, Default)]
pub(super) struct Memory {
    queues: HashMap<u64, Seen>,
    sample: u64,
}

impl Memory {
    /// Queues remembered.
    const MOST: usize = 65_536;
    /// Samples after which what does not change says nothing: 5 s.
    const STALE_AFTER: u64 = 20;

    /// Begins a sample.
    pub(super) fn sample<'a>(&'a mut self, groups: &'a mut Groups) -> Asked<'a> {
        self.sample += 1;
        Asked { memory: self, groups }
    }

    /// Forgets what is gone.
    pub(super) fn forget(&mut self) {
        let now = self.sample;
        self.queues.retain(|_, seen| seen.sample + 4 * Self::STALE_AFTER > now);
    }

    /// True where something moves in the queue of that inode number, which holds `holds`.
    fn moves(&mut self, inode: u64, holds: u64) -> bool {
        let now = self.sample;
        if !self.queues.contains_key(&inode) && self.queues.len() >= Self::MOST {
            return false;
        }
        // One that is new came since the last sample, but for those that were there at the first.
        let new = Seen { holds, changed: (now > 1).then_some(now), sample: now };
        let seen = self.queues.entry(inode).or_insert(new);
        if seen.holds != holds {
            seen.changed = Some(now);
        }
        (seen.holds, seen.sample) = (holds, now);
        seen.changed.is_some_and(|changed| now - changed < Self::STALE_AFTER)
    }
}

/// A sample that is being taken.
pub(super) struct Asked<'a> {
    memory: &'a mut Memory,
    groups: &'a mut Groups,
}

impl Asked<'_> {
    /// The row was asked, whatever it holds.
    pub(super) fn looked(&mut self, group: GroupId) {
        if let Some(group) = self.groups.rows.get_mut(group) {
            group.now.asked = true;
        }
    }

    /// A queue of the row holds that much.
    pub(super) fn queue(&mut self, group: GroupId, inode: u64, holds: u64) {
        let Some(group) = self.groups.rows.get_mut(group) else { return };
        group.now.asked = true;
        // What is sent to a listener or to a bound socket is meant for it.
        let is_meant = matches!(group.kind, DemandKind::AcceptQueue | DemandKind::UnreadDatagrams);
        let moves = is_meant || self.memory.moves(inode, holds);
        if holds > 0 {
            match moves {
                true => group.now.waiting = group.now.waiting.saturating_add(holds),
                false => group.now.is_stale = true,
            }
        }
    }

    /// Counts it.
    pub(super) fn end(self) {
        for group in &mut self.groups.rows {
            let Now { asked, waiting, is_stale } = std::mem::take(&mut group.now);
            // Where all that waits is untouched, nobody knows whether it is work.
            if asked && (waiting > 0 || !is_stale) {
                group.samples += 1;
                group.waited += u32::from(waiting > 0);
                group.most = group.most.max(waiting);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of queues of one row: what each holds, by its inode number.
    fn told(kind: DemandKind, samples: &[&[(u64, u64)]]) -> (u32, u32, u64) {
        let (mut groups, mut memory) = (Groups::default(), Memory::default());
        let group = groups.id(7, kind, "its pipes");
        for sample in samples {
            let mut asked = memory.sample(&mut groups);
            sample.iter().for_each(|(inode, holds)| asked.queue(group, *inode, *holds));
            asked.end();
        }
        let mut told = (0, 0, 0);
        groups.take(|group| told = (group.samples, group.waited, group.most));
        told
    }

    #[test]
    fn what_moves_waits_and_what_stands_untouched_says_nothing() {
        let kind = DemandKind::PipeBytes;
        assert_eq!(told(kind, &[&[(1, 0)], &[(1, 0)]]), (2, 0, 0));
        assert_eq!(told(kind, &[&[(1, 0)], &[(1, 9)], &[(1, 0)]]), (3, 1, 9));
        // Of what was there at the first sample nobody knows whose it is, until it moves.
        assert_eq!(told(kind, &[&[(1, 9)], &[(1, 9)]]), (0, 0, 0));
        assert_eq!(told(kind, &[&[(1, 9)], &[(1, 7)], &[(1, 7)]]), (2, 2, 7));
        // One queue that is left alone hides no other.
        assert_eq!(told(kind, &[&[(1, 9), (2, 0)], &[(1, 9), (2, 4)], &[(1, 9), (2, 0)]]), (1, 1, 4));
        assert_eq!(told(DemandKind::AcceptQueue, &[&[(1, 9)], &[(1, 9)]]), (2, 2, 9));
    }

    #[test]
    fn a_queue_goes_stale() {
        let samples: Vec<&[(u64, u64)]> =
            std::iter::once(&[(1, 0)][..]).chain((0..50).map(|_| &[(1, 9)][..])).collect();
        assert_eq!(told(DemandKind::UnreadBytes, &samples), (21, 20, 9));
    }

    #[test]
    fn rows_are_bounded() {
        let mut groups = Groups::default();
        let ids: Vec<_> = (0..1_000).map(|n| groups.id(n, DemandKind::PipeBytes, "a")).collect();
        assert_eq!((ids[255], ids[256], groups.id(0, DemandKind::PipeBytes, "a")), (255, GroupId::MAX, 0));
        let mut memory = Memory::default();
        let mut asked = memory.sample(&mut groups);
        asked.queue(GroupId::MAX, 1, 1);
        asked.end();
        groups.take(|_| panic!("nobody's"));
    }
}
