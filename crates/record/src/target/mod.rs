//! Choosing the processes to record, and their state at attach: all of it out of `/proc`, no BPF.
//!
//! [`Selection::resolve`] finds the processes and threads, and what a later-born task must match to belong to them.
//! Everything takes a [`ProcRoot`], so that tests run on a made-up tree.

mod cgroup;
mod error;
mod ports;
mod process;
mod root;
mod selection;
// The snapshot at attach will use the rest of it.
#[allow(dead_code)]
mod sockets;

pub use cgroup::{CgroupDir, container_of};
pub use error::TargetError;
pub use root::ProcRoot;
pub use selection::{Later, Resolved, Selection, TargetProcess};
