//! What the kernel's side is told at load time, out of the options.

use super::{LONG_OFF_NS, SLOW_CALL_NS};
use crate::bpf::layout::{COMM_LENGTH, Settings};
use crate::bpf::object::Sizes;
use crate::options::Options;

pub(super) fn settings_of(options: &Options, sizes: &Sizes) -> Settings {
    let mut comm = [0; COMM_LENGTH];
    if let Some(name) = &options.name {
        let length = name.len().min(COMM_LENGTH - 1);
        comm[..length].copy_from_slice(&name.as_bytes()[..length]);
    }
    Settings {
        ring_mask: u64::from(sizes.call_ring) - 1,
        sched_mask: u64::from(sizes.sched_ring) - 1,
        slow_call: SLOW_CALL_NS,
        long_off: LONG_OFF_NS,
        own_pid: std::process::id(),
        follow: options.follow.into(),
        all: options.all.into(),
        payload: options.payload,
        all_payload: options.keep_payload.into(),
        text_cap: options.text_cap,
        match_comm: options.name.is_some().into(),
        sample_hz: options.sample_hz,
        wait_stacks: options.wait_stacks.into(),
        tids: sizes.tids,
        slots: sizes.slots,
        probe: 0,
        probe_returns: 0,
        from_exec_of: options.from_exec_of.unwrap_or(0),
        stack_copies: options.unwinds().into(),
        files_with_calls: options.files_with_calls().into(),
        wakeups: options.wakeups.into(),
        pad: 0,
        comm,
    }
}
