//! The decoder of Parquet is not ours, and panics on some files that nobody but an attacker would write. Here such a
//! panic becomes an error of the part. It needs a build whose panics unwind.

use crate::error::PartError;
use std::panic::{self, AssertUnwindSafe};

/// Runs `decode`; a panic in it is an error. Whatever `decode` works on is not to be used again then.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> Result<T, PartError>) -> Result<T, PartError> {
    panic::catch_unwind(AssertUnwindSafe(decode))
        .unwrap_or_else(|_| Err(PartError::Damaged("the decoder of Parquet gave up on it".to_string())))
}
