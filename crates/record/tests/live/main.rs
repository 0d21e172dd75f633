//! The tests of the recorder by BPF, and of the snapshot of live processes: what needs rights, servers or network namespaces.

#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "bpf")]
mod known_workload;
mod snapshot_like_lsof;
