//! The decoder of Parquet is not ours, and panics on some files that nobody but an attacker would write. Here such a
//! panic becomes an error of the part. It needs a build whose panics unwind (see the release profile).

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `decode`; a panic in it is an error. Whatever `decode` works on is not to be used again then.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !DECODING.get() {
                others(info);
            }
        }));
    });
    DECODING.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(false);
    result.unwrap_or_else(|_| Err("the decoder of Parquet gave up on it".to_string()))
}
