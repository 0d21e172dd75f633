//! Recordings and captures in the formats of other tools, one file each; [`EXPORT_FORMATS`] lists them.
//!
//! A timeline is written while the events are read ([`TimelineExport`]), so that its length costs no memory; the rest is made of facts:
//! profiles ([`profile_of`]), requests, tables. Every text goes through [`shown`], which replaces secrets, and then through the
//! escapes of its format.

mod formats;
mod json;
mod profile;
mod spans;
mod text;
mod timeline;

pub use formats::{EXPORT_FORMATS, ExportFormat, ExportHow, find};
pub use profile::{NotExported, ProfileOf, profile_of, without_secrets};
pub use spans::{SpanCounts, SpanFormat, send_spans, write_spans};
pub use text::shown;
pub use timeline::{
    Detail, TimelineCall, TimelineCounts, TimelineExport, TimelineItem, TimelineTime, TimelineWriter, Track,
};
