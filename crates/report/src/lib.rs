//! A diagnosis, a table or a comparison to bytes: terminal, JSON, Markdown, HTML.
//!
//! This crate renders and never computes a finding. [`EXPORTERS`] lists the formats. Every one of them gets its
//! input through [`Exporter`], which replaces secrets (see [`redact`]) and, for the formats that people look at,
//! makes control characters visible: no text out of a capture reaches a terminal, a ticket or a page as it is.

mod account;
mod exporter;
mod formats;
mod host;
mod inline;
mod phrases;
pub mod redact;
mod style;
mod table_text;
mod time_parts;
mod walk;

pub use exporter::Exporter;
pub use formats::{EXPORTERS, HTML, HtmlPart, JSON, MARKDOWN, TERMINAL, exporter};
pub use redact::{redact, redact_diagnosis, redact_diff, redact_table};
pub use style::Style;
pub use table_text::cell_text;
