//! Choosing the processes to record, and their state at attach: all of it out of `/proc`, no BPF.
//!
//! [`Selection::resolve`] finds the processes and threads, and what a later-born task must match to belong to them;
//! [`snapshot`] tells what they are and what they have open, as events. Both take a [`ProcRoot`], so that tests run on a made-up tree.

mod candidate;
mod cgroup;
mod containers;
mod descriptors;
#[cfg_attr(not(feature = "bpf"), allow(dead_code))]
pub(crate) mod diag;
mod error;
mod identity;
#[cfg_attr(not(feature = "bpf"), allow(dead_code))]
pub(crate) mod inet_diag;
mod mappings;
mod now;
mod owner;
pub(crate) mod ports;
mod process;
mod program;
#[cfg(feature = "bpf")]
pub(crate) mod quota;
mod root;
mod selection;
mod services;
mod snapshot;
#[cfg(test)]
mod snapshot_tests;
pub(crate) mod sockets;
#[cfg_attr(not(feature = "bpf"), allow(dead_code))]
pub(crate) mod unix_peers;
mod wildcard;

pub use cgroup::CgroupDir;
pub use error::TargetError;
pub use now::WatchedNow;
pub use root::ProcRoot;
#[cfg(feature = "bpf")]
pub(crate) use selection::near;
pub use selection::{Later, Resolved, SelectedProcess, Selection};
pub use snapshot::{SnapshotSummary, processes, snapshot};
