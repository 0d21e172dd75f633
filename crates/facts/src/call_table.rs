//! Statistics of calls by syscall, for each thread one table.

use whyslow_model::{CallStats, Syscall};

/// Statistics by syscall: found by number in one step.
#[derive(Debug)]
pub struct CallTable {
    index: Box<[u16; CallTable::LISTED]>,
    rows: Vec<(Syscall, CallStats)>,
    /// Where the rows of other numbers stand, sorted.
    others: Vec<(Syscall, u16)>,
}

impl Default for CallTable {
    fn default() -> Self {
        CallTable { index: Box::new([0; CallTable::LISTED]), rows: Vec::new(), others: Vec::new() }
    }
}

impl CallTable {
    const LISTED: usize = 512;
    /// Names outside the table of syscalls, a thread; further ones share the row of [`Syscall::UNLISTED`].
    const MAX_OTHERS: usize = 512;

    /// The statistics of `syscall`, made if it was not there.
    #[inline]
    pub fn entry(&mut self, syscall: Syscall) -> &mut CallStats {
        let slot = match self.index.get(syscall.0 as usize) {
            Some(&slot) if slot != 0 => slot as usize - 1,
            _ => self.find_or_add(syscall),
        };
        &mut self.rows[slot].1
    }

    #[cold]
    fn find_or_add(&mut self, syscall: Syscall) -> usize {
        let new = self.rows.len();
        if let Some(slot) = self.index.get_mut(syscall.0 as usize) {
            *slot = new as u16 + 1;
        } else {
            match self.others.binary_search_by_key(&syscall, |(known, _)| *known) {
                Ok(at) => return self.others[at].1 as usize,
                Err(_) if self.others.len() >= Self::MAX_OTHERS && syscall != Syscall::UNLISTED => {
                    return self.find_or_add(Syscall::UNLISTED);
                }
                Err(at) => self.others.insert(at, (syscall, new as u16)),
            }
        }
        self.rows.push((syscall, CallStats::default()));
        new
    }

    /// The statistics of `syscall`, if it was called.
    pub fn get(&self, syscall: Syscall) -> Option<&CallStats> {
        self.rows.iter().find(|(known, _)| *known == syscall).map(|(_, stats)| stats)
    }

    /// All rows, in order of appearance.
    pub fn iter(&self) -> impl Iterator<Item = (Syscall, &CallStats)> {
        self.rows.iter().map(|(syscall, stats)| (*syscall, stats))
    }

    /// Adds another table's rows.
    pub fn merge(&mut self, other: &CallTable) {
        for (syscall, stats) in other.iter() {
            self.entry(syscall).merge(stats);
        }
    }
}
