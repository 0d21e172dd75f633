//! Rules about paths and directories.

pub(super) mod tz_stat_storm;
