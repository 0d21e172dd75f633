//! Waits of which no copy was taken, since there were enough of the same site: a copied one stands for each, in turn.

use super::stacks::{StackRecord, flag};
use std::collections::HashMap;

/// Copied stacks of the sites of all processes, the last ones of each.
#[derive(Default)]
pub(super) struct CopiedSites {
    /// By process and site.
    sites: HashMap<u32, HashMap<u64, Copied>>,
    count: usize,
}

/// The last copied stacks of a site, and which of them is written over or stands for a wait next.
#[derive(Default)]
struct Copied {
    stacks: Vec<(Vec<u64>, u8)>,
    newest: usize,
    turn: usize,
}

impl CopiedSites {
    /// Sites in all; of further ones nothing stands for others.
    const SITES: usize = 1024;
    /// Stacks of a site: several lines of an interpreted language may wait at one.
    const KEPT: usize = 16;

    /// Keeps the user part of a wait that was copied, or gives it to one that was not: true where it has it then. The record's weight is
    /// the number of its site, 0 where that is not known.
    pub(super) fn stands_for(&mut self, stack: &mut StackRecord, is_read: bool) -> bool {
        if stack.weight == 0 {
            return false;
        }
        let of_process = self.sites.entry(stack.pid).or_default();
        match of_process.get_mut(&stack.weight) {
            Some(copied) if is_read => copied.keep(stack),
            Some(copied) => return copied.give(stack),
            None if is_read && self.count < Self::SITES => {
                self.count += 1;
                of_process.entry(stack.weight).or_default().keep(stack);
            }
            None => {}
        }
        false
    }

    /// The process runs another program.
    pub(super) fn forget(&mut self, pid: u32) {
        self.count -= self.sites.remove(&pid).map_or(0, |sites| sites.len());
    }
}

impl Copied {
    fn keep(&mut self, stack: &StackRecord) {
        let kept = (stack.user.clone(), stack.flags & flag::USER_CUT);
        if self.stacks.len() < CopiedSites::KEPT {
            self.stacks.push(kept);
        } else {
            self.stacks[self.newest] = kept;
            self.newest = (self.newest + 1) % CopiedSites::KEPT;
        }
    }

    fn give(&mut self, stack: &mut StackRecord) -> bool {
        let Some((user, cut)) = self.stacks.get(self.turn % self.stacks.len().max(1)) else { return false };
        self.turn = (self.turn + 1) % CopiedSites::KEPT;
        stack.user.clone_from(user);
        stack.flags = stack.flags & !flag::USER_CUT | cut;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(pid: u32, site: u64, user: &[u64]) -> StackRecord {
        let (kernel, user) = (Vec::new(), user.to_vec());
        StackRecord { ts: 0, cpu: 0, pid, tid: pid, flags: 0, weight: site, kernel, user }
    }

    #[test]
    fn copied_waits_of_a_site_stand_for_the_others_in_turn() {
        let mut sites = CopiedSites::default();
        let mut user = |pid, site, user: &[u64], is_read| {
            let mut wait = wait(pid, site, user);
            let has = sites.stands_for(&mut wait, is_read);
            (has, wait.user)
        };
        // Nothing stands for the first one.
        assert_eq!(user(1, 5, &[9], false), (false, vec![9]));
        assert_eq!(user(1, 5, &[10, 20], true), (false, vec![10, 20]));
        assert_eq!(user(1, 5, &[10, 30], true), (false, vec![10, 30]));
        let given: Vec<_> = (0..4).map(|_| user(1, 5, &[9], false).1[1]).collect();
        assert_eq!(given.iter().filter(|address| **address == 20).count(), 2, "{given:?}");
        // Another site, another process, a recording of before.
        assert_eq!(user(1, 7, &[9], false), (false, vec![9]));
        assert_eq!(user(2, 5, &[9], false), (false, vec![9]));
        assert_eq!(user(1, 0, &[9], true), (false, vec![9]));
        assert_eq!(user(1, 0, &[9], false), (false, vec![9]));
        // The last ones stand, and of another program none.
        for at in 0..100 {
            user(1, 5, &[10, at], true);
        }
        assert!((0..20).all(|_| user(1, 5, &[9], false).1[1] >= 84));
        sites.forget(1);
        assert!(!sites.stands_for(&mut wait(1, 5, &[9]), false) && sites.count == 0);
    }

    #[test]
    fn many_sites_take_bounded_memory() {
        let mut sites = CopiedSites::default();
        for site in 1..10_000 {
            sites.stands_for(&mut wait(site as u32 % 7, site, &[1, 2]), true);
        }
        assert_eq!(sites.sites.values().map(HashMap::len).sum::<usize>(), CopiedSites::SITES);
    }
}
