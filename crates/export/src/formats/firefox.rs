//! `firefox`: a profile for <https://profiler.firefox.com>.

use super::{ExportFormat, ExportHow};

/// The format.
pub(super) static FORMAT: ExportFormat = ExportFormat {
    name: "firefox",
    about: "the same as a processed profile",
    opened_by: "profiler.firefox.com",
    is_binary: false,
    escapes: true,
    how: ExportHow::Stacks("firefox"),
};
