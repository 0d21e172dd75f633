//! `pprof`: a profile of the protocol buffer that pprof and its family read.

use super::{ExportFormat, ExportHow};

/// The format.
pub(super) static FORMAT: ExportFormat = ExportFormat {
    name: "pprof",
    about: "profile: CPU samples, waits, locks, the account of time or calls (--of)",
    opened_by: "go tool pprof, Pyroscope, Parca",
    is_binary: true,
    escapes: true,
    how: ExportHow::Stacks("proto"),
};
