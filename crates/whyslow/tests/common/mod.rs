//! How a test that cannot run here says so.

use std::fmt::Display;

/// Says that the test cannot run here: `cargo xtask test` counts by this line. What a test says of a part of it begins with `note: `.
pub(crate) fn skipped(reason: impl Display) {
    println!("skipped: {}", reason.to_string().trim().replace('\n', "; "));
}
