//! The formats: one file and one line of [`EXPORTERS`] each.

mod html;
mod json;
mod markdown;
mod terminal;

use crate::exporter::Exporter;
pub use html::{HTML, HtmlPart};
pub use json::JSON;
pub use markdown::MARKDOWN;
pub use terminal::TERMINAL;

/// All formats, the one for people first.
pub static EXPORTERS: &[&Exporter] = &[&TERMINAL, &JSON, &MARKDOWN, &HTML];

/// The format of that name.
pub fn exporter(name: &str) -> Option<&'static Exporter> {
    EXPORTERS.iter().copied().find(|exporter| exporter.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_documented() {
        for (i, exporter) in EXPORTERS.iter().enumerate() {
            assert!(EXPORTERS[i + 1..].iter().all(|other| other.name != exporter.name));
            assert!(exporter.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
            assert!(
                exporter.summary.starts_with(|c: char| c.is_lowercase()) && !exporter.summary.contains('\n')
            );
            assert!(!exporter.extension.starts_with('.'));
        }
        assert_eq!(super::exporter("json").map(|json| json.extension), Some("json"));
        assert!(super::exporter("nonsense").is_none());
    }
}
