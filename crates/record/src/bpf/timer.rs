//! Timers that interrupt each CPU at a fixed rate, for sampling: perf events of the kernel's own clock. A virtual machine
//! has them too, which it often has not of the processor's counters.

use crate::error::RecordError;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// The first layout of `struct perf_event_attr` (include/uapi/linux/perf_event.h): every kernel takes it.
#[repr(C)]
#[derive(Default)]
struct EventAttributes {
    kind: u32,
    size: u32,
    config: u64,
    frequency: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    address: u64,
}

/// `PERF_TYPE_SOFTWARE`, `PERF_COUNT_SW_CPU_CLOCK`, and the bits `exclude_idle` and `freq` of the flags.
const SOFTWARE: u32 = 1;
const CPU_CLOCK: u64 = 0;
const EXCLUDE_IDLE: u64 = 1 << 7;
const FREQUENCY: u64 = 1 << 10;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// One event for each CPU that is on.
pub(crate) fn on_each_cpu(hz: u32) -> Result<Vec<OwnedFd>, RecordError> {
    let failed =
        |source| RecordError::Kernel { what: "opening a timer to sample by (perf_event_open)", source };
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").map_err(failed)?;
    cpus(&online).map(|cpu| open(cpu, hz).map_err(failed)).collect()
}

fn open(cpu: u32, hz: u32) -> io::Result<OwnedFd> {
    let attributes = EventAttributes {
        kind: SOFTWARE,
        size: size_of::<EventAttributes>() as u32,
        config: CPU_CLOCK,
        frequency: u64::from(hz),
        flags: EXCLUDE_IDLE | FREQUENCY,
        ..EventAttributes::default()
    };
    // SAFETY: the attributes are of the size that they state and outlive the call; everybody (-1) on one CPU, no group.
    let fd = unsafe {
        libc::syscall(libc::SYS_perf_event_open, &raw const attributes, -1, cpu, -1, CLOSE_ON_EXEC)
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor that was just made for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// The numbers in a list like `0-3,8`.
fn cpus(list: &str) -> impl Iterator<Item = u32> {
    let number = |text: &str| text.parse::<u32>().ok();
    list.trim()
        .split(',')
        .filter_map(move |part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(number(first)?..=number(last)?)
        })
        .flatten()
}

#[cfg(test)]
mod tests {
    #[test]
    fn lists_of_cpus() {
        assert_eq!(super::cpus("0-2,5,7-8\n").collect::<Vec<_>>(), [0, 1, 2, 5, 7, 8]);
        assert_eq!(super::cpus("").count(), 0);
    }
}
