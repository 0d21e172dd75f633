//! Rules about processes: how they start, what they start, and how they are set up.

pub(super) mod close_range_loop;
pub(super) mod exec_path_search;
pub(super) mod fork_per_task;
pub(super) mod runs_as_root;
pub(super) mod signal_storm;
