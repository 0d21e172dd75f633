//! `folded`: a profile as a line a stack. What a terminal acts upon is made visible in names: the format has no escapes, and a line end would end a line.

use super::{ExportFormat, ExportHow};

/// The format.
pub(super) static FORMAT: ExportFormat = ExportFormat {
    name: "folded",
    about: "the same as a line a stack",
    opened_by: "flamegraph.pl, inferno, speedscope.app",
    is_binary: false,
    escapes: true,
    how: ExportHow::Stacks("folded"),
};
