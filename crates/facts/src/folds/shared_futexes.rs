//! Futexes in memory that processes share: one lock, whichever of them waits or wakes.

use crate::args::futex::is_private;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use hashbrown::HashMap;

/// Which process stands for all that share a futex: the first one that used its address so. Processes of one program have what they share
/// at one address where they were forked behind the mapping, as the workers of a pool are; what others map elsewhere is not joined.
#[derive(Debug, Default)]
pub(super) struct SharedFutexes {
    first: HashMap<u64, ProcessId, foldhash::fast::RandomState>,
}

impl SharedFutexes {
    /// Addresses remembered.
    const MOST: usize = 4_096;

    /// The process that a futex of `address` is told of.
    #[inline]
    pub(super) fn owner(
        &mut self,
        seen: &Seen<'_>,
        world: &World,
        address: u64,
        operation: &[u8],
    ) -> ProcessId {
        if is_private(operation) {
            return seen.process;
        }
        self.of_shared(seen.process, world, address)
    }

    #[cold]
    fn of_shared(&mut self, process: ProcessId, world: &World, address: u64) -> ProcessId {
        if self.first.len() >= Self::MOST && !self.first.contains_key(&address) {
            return process;
        }
        let first = *self.first.entry(address).or_insert(process);
        let name = |process| world.threads.process(process).name();
        if name(first) == name(process) { first } else { process }
    }
}
