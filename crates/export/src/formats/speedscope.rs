//! `speedscope`: a profile for <https://www.speedscope.app>.

use super::{ExportFormat, ExportHow};

/// The format.
pub(super) static FORMAT: ExportFormat = ExportFormat {
    name: "speedscope",
    about: "the same as JSON",
    opened_by: "speedscope.app",
    is_binary: false,
    escapes: true,
    how: ExportHow::Stacks("speedscope"),
};
