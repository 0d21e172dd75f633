//! The process whose descriptors and mappings are listed.

use whyslow_model::{FdEntry, SourceId, Tid};

/// Whose descriptors they are.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub(super) source: SourceId,
    pub(super) pid: Tid,
    pub(super) comm: Option<String>,
    pub(super) user: Option<String>,
}

impl Owner {
    pub(super) fn entry(&self, fd: Option<i32>) -> FdEntry {
        FdEntry {
            source: self.source,
            pid: Some(self.pid),
            comm: self.comm.clone(),
            user: self.user.clone(),
            fd,
            ..FdEntry::default()
        }
    }
}
