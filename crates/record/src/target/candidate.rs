//! A process of the host that may be selected.

use super::cgroup::Membership;
use super::process::Stat;
use whyslow_model::Tid;

/// One process of the host.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) pid: Tid,
    pub(super) stat: Stat,
    pub(super) groups: Vec<Membership>,
}
