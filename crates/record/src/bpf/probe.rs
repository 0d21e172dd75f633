//! Tries what BPF allows here, by doing it.

use crate::bpf::kernel_side::KernelSide;
use crate::bpf::layout::{MAX_RECORD, Settings};
use crate::bpf::object::Sizes;
use crate::bpf::program::Program;
use crate::error::RecordError;
use libbpf_rs::libbpf_sys::{
    BPF_ALU64, BPF_EXIT, BPF_JMP, BPF_K, BPF_MOV, BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, bpf_insn,
    bpf_prog_load, bpf_prog_load_opts, libbpf_find_vmlinux_btf_id,
};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// Samples a second of the trial: few.
const SAMPLE_HZ: u32 = 10;

/// Loads and attaches those of `programs` that `wanted` chooses, with small buffers and nobody watched, and takes them away again:
/// what of those that a recording can do without was refused.
///
/// # Errors
/// The first refusal of one that is needed.
pub(crate) fn programs(
    programs: &[&'static Program],
    wanted: &dyn Fn(&Program) -> bool,
) -> Result<Vec<String>, RecordError> {
    let cpus = libbpf_rs::num_possible_cpus().map_err(|_| RecordError::NoRights)? as u32;
    let ring = 16 * MAX_RECORD as u32;
    let sizes = Sizes::of(cpus, ring, ring, ring);
    let mask = u64::from(ring) - 1;
    let settings = Settings {
        ring_mask: mask,
        sched_mask: mask,
        tids: sizes.tids,
        slots: sizes.slots,
        own_pid: std::process::id(),
        text_cap: 1,
        sample_hz: SAMPLE_HZ,
        wakeups: 1,
        ..Settings::default()
    };
    let mut side = KernelSide::load(programs, &settings, &sizes, wanted)?;
    programs.iter().try_for_each(|program| side.attach(program.name))?;
    Ok(std::mem::take(&mut side.notes))
}

/// Loads a program that does nothing, for the entry of a function that each kernel has.
///
/// # Errors
/// The kernel's refusal.
pub(crate) fn fentry() -> io::Result<()> {
    // SAFETY: the name is a C string that lives until the call is back.
    let function = unsafe { libbpf_find_vmlinux_btf_id(c"vfs_read".as_ptr(), BPF_TRACE_FENTRY) };
    if function < 0 {
        return Err(io::Error::from_raw_os_error(-function));
    }
    let does_nothing = [
        bpf_insn { code: (BPF_ALU64 | BPF_MOV | BPF_K) as u8, ..bpf_insn::default() },
        bpf_insn { code: (BPF_JMP | BPF_EXIT) as u8, ..bpf_insn::default() },
    ];
    let mut options = bpf_prog_load_opts {
        sz: size_of::<bpf_prog_load_opts>() as _,
        expected_attach_type: BPF_TRACE_FENTRY,
        attach_btf_id: function as u32,
        ..bpf_prog_load_opts::default()
    };
    // SAFETY: the strings, the instructions and the options live until the call is back, with the lengths given.
    let fd = unsafe {
        bpf_prog_load(
            BPF_PROG_TYPE_TRACING,
            c"whyslow_probe".as_ptr(),
            c"GPL".as_ptr(),
            does_nothing.as_ptr(),
            does_nothing.len() as _,
            &raw mut options,
        )
    };
    if fd < 0 {
        return Err(io::Error::from_raw_os_error(-fd));
    }
    // SAFETY: the descriptor is new and owned by nobody else.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
    Ok(())
}
