//! `svg`: a flame graph of a profile as one picture.

use super::{ExportFormat, ExportHow};

/// The format.
pub(super) static FORMAT: ExportFormat = ExportFormat {
    name: "svg",
    about: "the same as a flame graph: one picture, without scripts",
    opened_by: "browsers, viewers of pictures, tickets and wikis",
    is_binary: false,
    escapes: true,
    how: ExportHow::Stacks("flame-svg"),
};
