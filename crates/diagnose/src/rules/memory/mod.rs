//! Rules about memory taken from the kernel and given back.

pub(super) mod madvise_churn;
pub(super) mod mmap_churn;
