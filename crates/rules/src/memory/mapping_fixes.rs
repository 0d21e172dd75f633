//! What to do where memory or files are mapped again and again.

use crate::engine::Report;
use crate::gate::gated;

/// A file that is mapped for each use.
pub(super) fn fixes_of_file<'f, 'a>(report: Report<'f, 'a>) -> Report<'f, 'a> {
    report
        .fix("code: map the file once and keep the mapping while it is in use (a cache of mappings by path)")
        .fix("code: read small pieces by pread instead of mapping them")
        .verify("perf stat -e page-faults,syscalls:sys_enter_mmap,syscalls:sys_enter_munmap -p PID -- sleep 5   (before and after)")
}

/// Blocks of that size, bytes.
#[gated]
pub(super) fn fixes<'f, 'a>(report: Report<'f, 'a>, size: u64) -> Report<'f, 'a> {
    // glibc's largest threshold is 32 MiB (DEFAULT_MMAP_THRESHOLD_MAX on 64 bits, malloc/malloc.c).
    const LARGEST: u64 = 32 << 20;
    let keep = size.saturating_mul(2).max(1 << 20);
    let threshold = keep.min(LARGEST);
    // A block of the threshold's size and more is mapped whatever else is set: then no mapping at all.
    let setting = match size < LARGEST {
        true => format!("MALLOC_MMAP_THRESHOLD_={threshold}"),
        false => "MALLOC_MMAP_MAX_=0".to_string(),
    };
    report
        .fix("code: allocate the buffer once (a thread or worker) and use it again")
        .fix(format!("shell: {setting} MALLOC_TRIM_THRESHOLD_={} MALLOC_TOP_PAD_={threshold} (glibc; systemd: Environment=…)", keep.max(threshold * 4)))
        .fix("shell: LD_PRELOAD=libjemalloc.so.2 or libmimalloc.so, which keep freed blocks for some seconds")
        .verify("perf stat -e page-faults,syscalls:sys_enter_mmap,syscalls:sys_enter_brk -p PID -- sleep 5   (before and after)")
}
