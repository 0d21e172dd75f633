//! What the sources share during one sample.

use crate::files::Reader;
use crate::options::SamplerOptions;
use whyslow_counters::Span;

/// What the sources share during one sample.
pub(crate) struct Context<'a> {
    /// What was asked for.
    pub(crate) options: &'a SamplerOptions,
    /// Reads files.
    pub(crate) reader: &'a mut Reader,
    /// What rates are over.
    pub(crate) span: Span,
    /// Seconds since boot, as of now.
    pub(crate) uptime: f64,
    /// Clock ticks a second in /proc (`_SC_CLK_TCK`).
    pub(crate) ticks: f64,
    /// Bytes a page.
    pub(crate) page: u64,
    /// CPU time of threads that help, ns; they add what they used.
    pub(crate) aside: u64,
}
