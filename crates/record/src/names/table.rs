//! The descriptors of one process, or of several that share them.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Number to name, and the working directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    slots: BTreeMap<i32, Slot>,
    pub(super) cwd: Option<Arc<str>>,
}

#[derive(Clone, Debug)]
struct Slot {
    name: Arc<str>,
    cloexec: bool,
}

impl Table {
    pub(super) fn name(&self, fd: i32) -> Option<&str> {
        self.slots.get(&fd).map(|slot| &*slot.name)
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn open(&mut self, fd: i32, name: Arc<str>, cloexec: bool) {
        self.slots.insert(fd, Slot { name, cloexec });
    }

    pub(super) fn close(&mut self, fd: i32) {
        self.slots.remove(&fd);
    }

    /// Closes the numbers `from` to `to`, or marks them for exec.
    pub(super) fn close_range(&mut self, from: i64, to: i64, cloexec: bool) {
        let bound = |number: i64| i32::try_from(number).unwrap_or(if number < 0 { 0 } else { i32::MAX });
        let (from, to) = (bound(from), bound(to));
        if from > to {
            return;
        }
        if cloexec {
            self.slots.range_mut(from..=to).for_each(|(_, slot)| slot.cloexec = true);
        } else {
            self.slots.retain(|fd, _| !(from..=to).contains(fd));
        }
    }

    pub(super) fn set_cloexec(&mut self, fd: i32, on: bool) {
        if let Some(slot) = self.slots.get_mut(&fd) {
            slot.cloexec = on;
        }
    }

    pub(super) fn close_on_exec(&mut self) {
        self.slots.retain(|_, slot| !slot.cloexec);
    }
}
