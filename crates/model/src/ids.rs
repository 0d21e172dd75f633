//! The numbers by which the parts of a diagnosis know each other.

use serde::{Deserialize, Serialize};

/// A thread id as the kernel numbers it; 0 where the capture shows none (strace without `-f`).
pub type Tid = u32;

/// Number of a source (one input file, or standard input) within one diagnosis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceId(pub u16);

/// Bits of a thread id: the kernel gives no higher one than 2^22 (PID_MAX_LIMIT, include/linux/threads.h).
const TID_BITS: u32 = 22;

/// The id of a thread of another host, where recordings of several hosts are read as one: `host` counts from 1, 0 is the host of the target.
/// Which thread it is there, [`tid_there`] tells; 0, no thread, stays 0.
pub const fn tid_on_host(tid: Tid, host: u16) -> Tid {
    if tid == 0 { 0 } else { ((host as u32) << TID_BITS) | tid_there(tid) }
}

/// Which of the hosts a thread is of: 0 is that of the target.
pub const fn host_of_tid(tid: Tid) -> u16 {
    (tid >> TID_BITS) as u16
}

/// The id of a thread as its own host numbers it.
pub const fn tid_there(tid: Tid) -> Tid {
    tid & ((1 << TID_BITS) - 1)
}

/// So many hosts can be told apart by [`tid_on_host`].
pub const MAX_HOSTS: usize = 1 << (u32::BITS - TID_BITS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_of_another_host_has_another_id_and_knows_its_own() {
        assert_eq!(tid_on_host(812, 0), 812);
        let there = tid_on_host(812, 3);
        assert_eq!((host_of_tid(there), tid_there(there)), (3, 812));
        assert_eq!(tid_on_host(0, 3), 0, "no thread is no thread of any host");
        let last = (MAX_HOSTS - 1) as u16;
        assert_eq!(host_of_tid(tid_on_host(1, last)), last);
    }
}
