//! The rules: one file each under its group's folder, one line each in its group and in [`RULES`] here.
//!
//! A rule reads facts and never text, the kernel or another rule. Its file opens with its essay.

mod callers;
mod content;
pub mod engine;
mod figures;
pub mod gate;
pub mod guards;
mod kernel_threads;
mod kernel_waits;
mod needs;
mod often;
pub mod precision;
mod sampled;
mod sums;
mod together;

pub use engine::{Findings, Need, Rule, Subjects};
pub(crate) use whyslow_model::figures as words;

/// Rules about the capture itself: what it cannot show, and how to take one that can.
mod capture {
    mod threads_at_work;

    pub(super) mod capture_truncated;
    pub(super) mod events_lost;
    pub(super) mod filter_hides;
    pub(super) mod mid_connection;
    pub(super) mod profile_empty;
    pub(super) mod threads_missed;
}

/// Rules about sources that contradict each other.
mod contradictions {
    pub(super) mod count_without_rate;
    pub(super) mod overlapping_calls;
    pub(super) mod rates_apart;
    pub(super) mod system_time_apart;
    pub(super) mod unseen_writes;
    pub(super) mod unwritten_bytes;
}

/// Rules about CPU time spent for nothing, and about waiting for it.
mod cpu {
    mod answering;
    mod computing;
    mod holders;
    mod hot;
    mod queue;
    mod queue_words;
    mod rivals;

    pub(super) mod affinity_pinned;
    pub(super) mod clock_syscall;
    pub(super) mod cpu_bound;
    pub(super) mod cpu_throttled;
    pub(super) mod irq_imbalance;
    pub(super) mod run_queue_delay;
    mod run_queue_figures;
    pub(super) mod sched_yield_spin;
    pub(super) mod steal_time;
    pub(super) mod sys_heavy_kthread;
    pub(super) mod timer_wakeup_storm;
    pub(super) mod too_many_threads;
}

/// Rules about paths and directories.
mod files {
    mod counted_searches;
    mod counted_temp_files;
    mod new_names;
    mod rounds;
    mod summed_stats;
    mod temp_files;
    mod told_stats;
    mod told_temp_files;

    pub(super) mod ca_bundle_reload;
    pub(super) mod config_reread;
    pub(super) mod directory_rescan;
    pub(super) mod huge_directory;
    pub(super) mod negative_dentry_bloat;
    pub(super) mod open_close_churn;
    pub(super) mod open_per_write;
    pub(super) mod path_search_miss;
    pub(super) mod repeated_stat;
    pub(super) mod stat_per_entry;
    pub(super) mod temp_file_churn;
    pub(super) mod tz_stat_storm;
}

/// What no other rule explains of the asker's time.
mod general {
    mod held;
    mod unclaimed;

    pub(super) mod computes;
    pub(super) mod kernel_time;
    pub(super) mod waits_for_child;
    pub(super) mod waits_for_cpu;
    pub(super) mod waits_for_file;
    pub(super) mod waits_for_lock;
    pub(super) mod waits_for_peer;
    pub(super) mod waits_for_pipe;
    pub(super) mod waits_for_timer;
}

/// Rules about reading and writing files: sizes, order, repetition, durability.
mod io {
    mod devices;
    mod journal_calls;
    mod random_reads;
    pub(super) mod reread;
    pub(super) mod streams;
    pub(super) mod synced;
    mod thread_reads;

    pub(super) mod archive_reread;
    pub(super) mod copy_loop_no_sendfile;
    pub(super) mod disk_saturated;
    pub(super) mod file_reread;
    pub(super) mod fsync_per_write;
    pub(super) mod fuse_context_switch;
    pub(super) mod global_sync;
    pub(super) mod io_imbalance;
    pub(super) mod journal_commit_stall;
    pub(super) mod misaligned_io;
    pub(super) mod mount_table_scan;
    pub(super) mod network_fs_latency;
    pub(super) mod overlay_copy_up;
    pub(super) mod overwrite_same_bytes;
    pub(super) mod proc_net_tcp_parse;
    pub(super) mod random_io;
    pub(super) mod readahead_off;
    pub(super) mod rename_fsync_storm;
    pub(super) mod seek_per_read;
    pub(super) mod slow_file_io;
    pub(super) mod small_reads;
    pub(super) mod small_requests;
    pub(super) mod small_writes;
    pub(super) mod sync_open;
    pub(super) mod unbuffered_1_byte;
    pub(super) mod volume_throttled;
    pub(super) mod writeback_throttle;
}

/// Rules about logging: written twice, to nowhere, or too much.
mod logs {
    pub(super) mod blocking_log_pipe;
    mod counted_flood;
    pub(super) mod duplicate_write;
    pub(super) mod log_flood;
    pub(super) mod write_to_dev_null;
}

/// Rules about memory taken from the kernel and given back.
mod memory {
    mod heap_churn;
    mod mapped_files;
    mod mapping_fixes;
    mod pressure;

    pub(super) mod direct_reclaim;
    pub(super) mod madvise_churn;
    pub(super) mod memory_high_throttle;
    pub(super) mod minor_fault_storm;
    pub(super) mod mmap_churn;
    pub(super) mod oom_restart_loop;
    pub(super) mod page_cache_thrash;
    pub(super) mod page_fault_major;
    pub(super) mod swapping;
    pub(super) mod thp_compaction_stall;
}

/// Rules about connections and peers.
mod network {
    pub(super) mod asked;
    mod counted_queries;
    mod exchange;
    mod hung;
    mod late_accepts;
    mod lost_answers;
    mod query_loops;
    mod retransmit_waits;
    pub(super) mod slow_peers;
    mod stalls;
    mod unclosed_ends;

    pub(super) mod accept_queue_overflow;
    pub(super) mod chatty_exchange;
    pub(super) mod client_gone;
    pub(super) mod close_wait_leak;
    pub(super) mod connect_failing;
    pub(super) mod connection_per_request;
    pub(super) mod delayed_ack;
    pub(super) mod dns_search_storm;
    pub(super) mod dns_timeout;
    pub(super) mod downstream_timeout;
    pub(super) mod ephemeral_port_exhaustion;
    pub(super) mod expect_100_continue;
    pub(super) mod fd_exhaustion;
    pub(super) mod missing_timeout;
    pub(super) mod n_plus_one_queries;
    pub(super) mod nscd_sssd_slow;
    mod oversized_answers;
    pub(super) mod oversized_payload;
    pub(super) mod retry_storm;
    pub(super) mod reverse_dns;
    pub(super) mod serial_independent_calls;
    pub(super) mod slow_downstream;
    pub(super) mod slow_redis_command;
    pub(super) mod slow_start_after_idle;
    pub(super) mod syn_retry_connect;
    pub(super) mod tcp_retransmit;
    pub(super) mod tiny_socket_buffer;
    pub(super) mod tls_handshake_per_request;
    pub(super) mod zero_window;
}

/// Rules about processes: how they start, what they start, and how they are set up.
mod process {
    mod forking;
    mod proc_files;

    pub(super) mod cgroup_stat_cost;
    pub(super) mod close_range_loop;
    pub(super) mod core_dump_stall;
    pub(super) mod exec_path_search;
    pub(super) mod fork_large_rss;
    pub(super) mod fork_per_task;
    pub(super) mod interpreter_start_per_item;
    pub(super) mod proc_scan;
    pub(super) mod redis_fork_stall;
    pub(super) mod runs_as_root;
    pub(super) mod signal_storm;
    pub(super) mod smaps_stall;
    pub(super) mod tracer_attached;
    pub(super) mod zombie_buildup;
}

/// Rules about what a profile of CPU time shows, by kind of cost.
mod profile {
    mod beside;
    mod heavy;

    pub(super) mod allocation_heavy;
    pub(super) mod crypto_compress_heavy;
    pub(super) mod gc_pressure;
    pub(super) mod lock_heavy;
    pub(super) mod regex_backtracking;
    pub(super) mod regression;
    pub(super) mod serialization_heavy;
    pub(super) mod stop_the_world;
    pub(super) mod syscall_heavy;
    pub(super) mod text_parsing;
}

/// Rules about waiting, and about not waiting where one should.
mod waits {
    mod chain_ends;
    mod counted_tries;
    mod fifo_end;
    mod goroutine_locks;
    mod goroutines;
    mod held_up;
    mod instead_of_sleep;
    mod lock_excerpt;
    mod lock_holder;
    mod semaphore_turns;
    mod session_locks;
    mod sleep_in_requests;
    mod stack_locks;
    mod stack_turns;
    mod woken_at_once;

    pub(super) mod deadlock;
    pub(super) mod eagain_spin;
    pub(super) mod epoll_ctl_churn;
    pub(super) mod epoll_hup_spin;
    pub(super) mod event_loop_blocked;
    pub(super) mod file_lock_contention;
    pub(super) mod getrandom_block;
    pub(super) mod gil_contention;
    pub(super) mod goroutines_queue;
    pub(super) mod lock_contention;
    pub(super) mod lock_convoy;
    pub(super) mod lock_held_across_io;
    pub(super) mod mmap_lock_contention;
    pub(super) mod poll_many_fds;
    pub(super) mod pool_exhausted;
    pub(super) mod priority_inversion;
    pub(super) mod queue_locks;
    pub(super) mod root_holder;
    pub(super) mod sleep_polling;
    pub(super) mod stuck_call;
    pub(super) mod thundering_herd;
    pub(super) mod wait_chain;
    pub(super) mod zero_timeout_poll;
}

/// All rules. The order is the order of the documentation: by group, then by name.
pub static RULES: &[&Rule] = &[
    &capture::capture_truncated::RULE,
    &capture::events_lost::RULE,
    &capture::filter_hides::RULE,
    &capture::mid_connection::RULE,
    &capture::profile_empty::RULE,
    &capture::threads_missed::RULE,
    &contradictions::count_without_rate::RULE,
    &contradictions::overlapping_calls::RULE,
    &contradictions::rates_apart::RULE,
    &contradictions::system_time_apart::RULE,
    &contradictions::unseen_writes::RULE,
    &contradictions::unwritten_bytes::RULE,
    &cpu::affinity_pinned::RULE,
    &cpu::clock_syscall::RULE,
    &cpu::cpu_bound::RULE,
    &cpu::cpu_throttled::RULE,
    &cpu::irq_imbalance::RULE,
    &cpu::run_queue_delay::RULE,
    &cpu::sched_yield_spin::RULE,
    &cpu::steal_time::RULE,
    &cpu::sys_heavy_kthread::RULE,
    &cpu::timer_wakeup_storm::RULE,
    &cpu::too_many_threads::RULE,
    &files::ca_bundle_reload::RULE,
    &files::config_reread::RULE,
    &files::directory_rescan::RULE,
    &files::huge_directory::RULE,
    &files::negative_dentry_bloat::RULE,
    &files::open_close_churn::RULE,
    &files::open_per_write::RULE,
    &files::path_search_miss::RULE,
    &files::repeated_stat::RULE,
    &files::stat_per_entry::RULE,
    &files::temp_file_churn::RULE,
    &files::tz_stat_storm::RULE,
    &general::computes::RULE,
    &general::kernel_time::RULE,
    &general::waits_for_child::RULE,
    &general::waits_for_cpu::RULE,
    &general::waits_for_file::RULE,
    &general::waits_for_lock::RULE,
    &general::waits_for_peer::RULE,
    &general::waits_for_pipe::RULE,
    &general::waits_for_timer::RULE,
    &io::archive_reread::RULE,
    &io::copy_loop_no_sendfile::RULE,
    &io::disk_saturated::RULE,
    &io::file_reread::RULE,
    &io::fsync_per_write::RULE,
    &io::fuse_context_switch::RULE,
    &io::global_sync::RULE,
    &io::io_imbalance::RULE,
    &io::journal_commit_stall::RULE,
    &io::misaligned_io::RULE,
    &io::mount_table_scan::RULE,
    &io::network_fs_latency::RULE,
    &io::overlay_copy_up::RULE,
    &io::overwrite_same_bytes::RULE,
    &io::proc_net_tcp_parse::RULE,
    &io::random_io::RULE,
    &io::readahead_off::RULE,
    &io::rename_fsync_storm::RULE,
    &io::seek_per_read::RULE,
    &io::slow_file_io::RULE,
    &io::small_reads::RULE,
    &io::small_requests::RULE,
    &io::small_writes::RULE,
    &io::sync_open::RULE,
    &io::unbuffered_1_byte::RULE,
    &io::volume_throttled::RULE,
    &io::writeback_throttle::RULE,
    &logs::blocking_log_pipe::RULE,
    &logs::duplicate_write::RULE,
    &logs::log_flood::RULE,
    &logs::write_to_dev_null::RULE,
    &memory::direct_reclaim::RULE,
    &memory::madvise_churn::RULE,
    &memory::memory_high_throttle::RULE,
    &memory::minor_fault_storm::RULE,
    &memory::mmap_churn::RULE,
    &memory::oom_restart_loop::RULE,
    &memory::page_cache_thrash::RULE,
    &memory::page_fault_major::RULE,
    &memory::swapping::RULE,
    &memory::thp_compaction_stall::RULE,
    &network::accept_queue_overflow::RULE,
    &network::chatty_exchange::RULE,
    &network::client_gone::RULE,
    &network::close_wait_leak::RULE,
    &network::connect_failing::RULE,
    &network::connection_per_request::RULE,
    &network::delayed_ack::RULE,
    &network::dns_search_storm::RULE,
    &network::dns_timeout::RULE,
    &network::downstream_timeout::RULE,
    &network::ephemeral_port_exhaustion::RULE,
    &network::expect_100_continue::RULE,
    &network::fd_exhaustion::RULE,
    &network::missing_timeout::RULE,
    &network::n_plus_one_queries::RULE,
    &network::nscd_sssd_slow::RULE,
    &network::oversized_payload::RULE,
    &network::retry_storm::RULE,
    &network::reverse_dns::RULE,
    &network::serial_independent_calls::RULE,
    &network::slow_downstream::RULE,
    &network::slow_redis_command::RULE,
    &network::slow_start_after_idle::RULE,
    &network::syn_retry_connect::RULE,
    &network::tcp_retransmit::RULE,
    &network::tiny_socket_buffer::RULE,
    &network::tls_handshake_per_request::RULE,
    &network::zero_window::RULE,
    &process::cgroup_stat_cost::RULE,
    &process::close_range_loop::RULE,
    &process::core_dump_stall::RULE,
    &process::exec_path_search::RULE,
    &process::fork_large_rss::RULE,
    &process::fork_per_task::RULE,
    &process::interpreter_start_per_item::RULE,
    &process::proc_scan::RULE,
    &process::redis_fork_stall::RULE,
    &process::runs_as_root::RULE,
    &process::signal_storm::RULE,
    &process::smaps_stall::RULE,
    &process::tracer_attached::RULE,
    &process::zombie_buildup::RULE,
    &profile::allocation_heavy::RULE,
    &profile::crypto_compress_heavy::RULE,
    &profile::gc_pressure::RULE,
    &profile::lock_heavy::RULE,
    &profile::regex_backtracking::RULE,
    &profile::regression::RULE,
    &profile::serialization_heavy::RULE,
    &profile::stop_the_world::RULE,
    &profile::syscall_heavy::RULE,
    &profile::text_parsing::RULE,
    &waits::deadlock::RULE,
    &waits::eagain_spin::RULE,
    &waits::epoll_ctl_churn::RULE,
    &waits::epoll_hup_spin::RULE,
    &waits::event_loop_blocked::RULE,
    &waits::file_lock_contention::RULE,
    &waits::getrandom_block::RULE,
    &waits::gil_contention::RULE,
    &waits::goroutines_queue::RULE,
    &waits::lock_contention::RULE,
    &waits::lock_convoy::RULE,
    &waits::lock_held_across_io::RULE,
    &waits::mmap_lock_contention::RULE,
    &waits::poll_many_fds::RULE,
    &waits::pool_exhausted::RULE,
    &waits::priority_inversion::RULE,
    &waits::sleep_polling::RULE,
    &waits::stuck_call::RULE,
    &waits::thundering_herd::RULE,
    &waits::wait_chain::RULE,
    &waits::zero_timeout_poll::RULE,
];

/// The rule of that id.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

/// True for a rule that only says where time went that no other one explains.
pub fn is_general(id: &str) -> bool {
    find(id).is_some_and(|rule| rule.unclaimed_states().is_some())
}
