//! The rules: one file each under its group's folder, one line each in [`RULES`].
//!
//! A rule reads facts and never text, the kernel or another rule. Its file opens with its essay.

mod capture;
mod cpu;
mod files;
mod io;
mod logs;
mod memory;
mod network;
mod process;
mod waits;

use crate::engine::Rule;

/// All rules. The order is the order of the documentation: by group, then by name.
pub static RULES: &[&Rule] = &[
    &capture::capture_truncated::RULE,
    &capture::events_lost::RULE,
    &capture::filter_hides::RULE,
    &capture::mid_connection::RULE,
    &capture::threads_missed::RULE,
    &cpu::clock_syscall::RULE,
    &cpu::sched_yield_spin::RULE,
    &files::config_reread::RULE,
    &files::directory_rescan::RULE,
    &files::open_close_churn::RULE,
    &files::path_search_miss::RULE,
    &files::repeated_stat::RULE,
    &files::temp_file_churn::RULE,
    &files::tz_stat_storm::RULE,
    &io::archive_reread::RULE,
    &io::file_reread::RULE,
    &io::fsync_per_write::RULE,
    &io::seek_per_read::RULE,
    &io::slow_file_io::RULE,
    &io::small_reads::RULE,
    &io::small_writes::RULE,
    &io::sync_open::RULE,
    &io::unbuffered_1_byte::RULE,
    &logs::duplicate_write::RULE,
    &logs::log_flood::RULE,
    &logs::write_to_dev_null::RULE,
    &memory::madvise_churn::RULE,
    &memory::mmap_churn::RULE,
    &network::client_gone::RULE,
    &network::close_wait_leak::RULE,
    &network::connect_failing::RULE,
    &network::connection_per_request::RULE,
    &network::dns_timeout::RULE,
    &network::downstream_timeout::RULE,
    &network::fd_exhaustion::RULE,
    &process::close_range_loop::RULE,
    &process::exec_path_search::RULE,
    &process::fork_per_task::RULE,
    &process::runs_as_root::RULE,
    &process::signal_storm::RULE,
    &waits::eagain_spin::RULE,
    &waits::epoll_hup_spin::RULE,
    &waits::lock_contention::RULE,
    &waits::sleep_polling::RULE,
    &waits::zero_timeout_poll::RULE,
];

/// The rule of that id.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}
