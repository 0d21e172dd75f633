//! Rules about paths and directories.

pub(super) mod config_reread;
pub(super) mod directory_rescan;
pub(super) mod open_close_churn;
pub(super) mod path_search_miss;
pub(super) mod repeated_stat;
pub(super) mod temp_file_churn;
pub(super) mod tz_stat_storm;
