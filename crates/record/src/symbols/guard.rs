//! Readers of files of strangers that are not ours may panic on one that nobody but an attacker would write. Here such a panic
//! costs what was asked, and nothing else. It needs a build whose panics unwind (see the release profile).

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static READING: Cell<bool> = const { Cell::new(false) };
}

/// What `read` gives; `None` where it panics, of which nothing is printed.
pub(super) fn guarded<T>(read: impl FnOnce() -> Option<T>) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !READING.get() {
                others(info);
            }
        }));
    });
    let outer = READING.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    READING.set(outer);
    result.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_costs_what_was_asked() {
        let nothing: [u8; 0] = [];
        assert_eq!(guarded(|| Some(nothing[std::hint::black_box(0)])), None);
        assert_eq!(guarded(|| guarded(|| Some(7))), Some(7));
    }
}
