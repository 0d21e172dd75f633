//! The page: the report, the data, and the scripts that draw it. It loads nothing, and its policy lets run and style nothing but what
//! stands in it.

use crate::data::{PageData, SCHEMA};
use crate::plan::Plan;
use crate::run::PageSide;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use whyslow_model::Diff;
use whyslow_report::{HtmlPart, JSON, Style};

/// The scripts, as `page/` builds them.
pub(crate) const SCRIPT: &str = include_str!("../bundle/page.js");
const STYLE: &str = include_str!("../bundle/page.css");

/// Bytes of a page, at most. Its scripts and its report stand in it whatever they take.
pub const PAGE_LIMIT: usize = 2_000_000;
/// How often a smaller page is tried.
const TRIES: usize = 8;

/// Writes the page of one run, or of two and what became of them; within [`PAGE_LIMIT`].
///
/// # Errors
/// If `out` cannot be written to.
pub fn write_page(
    sides: &[PageSide],
    diff: Option<&Diff>,
    show_secrets: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_within(sides, diff, show_secrets, PAGE_LIMIT, out)
}

pub(crate) fn write_within(
    sides: &[PageSide],
    diff: Option<&Diff>,
    show_secrets: bool,
    limit: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let style = Style { show_secrets, ..Style::default() };
    let diff_json = diff.map(|diff| {
        let mut json = Vec::new();
        JSON.diff(diff, &style, &mut json)?;
        Ok::<_, io::Error>(serde_json::from_slice(&json)?)
    });
    let diff_json: Option<serde_json::Value> = diff_json.transpose()?;
    let report = report(sides, diff, &style);
    let head = head(&report.title, &policy(""));
    let around = head.len() + report.body.len() + SCRIPT.len() + 1_000;
    let mut plan = Plan::FULL.scaled(1.0 / sides.len().max(1) as f64);
    let mut data = Vec::new();
    for _ in 0..TRIES {
        data = packed(&PageData {
            schema: SCHEMA,
            made_by: format!("whyslow {}", env!("CARGO_PKG_VERSION")),
            runs: sides.iter().map(|side| side.data(&plan)).collect(),
            diff: diff_json.clone(),
        })?;
        let size = data.len().div_ceil(3) * 4;
        let room = limit.saturating_sub(around);
        if size <= room {
            break;
        }
        // Not all of it shrinks with the plan.
        plan = plan.scaled((room as f64 / size as f64 * 0.9).clamp(0.05, 0.8));
    }
    out.write_all(head.as_bytes())?;
    write!(
        out,
        "<main>\n<h1>{}</h1>\n{}</main>\n<div id=\"whyslow-app\"></div>\n",
        report.title, report.body
    )?;
    out.write_all(b"<script type=\"application/x-whyslow\" id=\"whyslow-data\">")?;
    out.write_all(STANDARD.encode(&data).as_bytes())?;
    writeln!(out, "</script>\n<script>{SCRIPT}</script>\n</body>\n</html>")
}

fn packed(data: &PageData) -> io::Result<Vec<u8>> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    serde_json::to_writer(io::BufWriter::with_capacity(1 << 16, &mut gzip), data)?;
    gzip.finish()
}

/// What is read without scripts.
fn report(sides: &[PageSide], diff: Option<&Diff>, style: &Style) -> HtmlPart {
    let Some(diff) = diff else {
        return sides
            .first()
            .map_or(HtmlPart { title: String::new(), body: String::new() }, PageSide::report);
    };
    let mut part = HtmlPart::of_diff(diff, style);
    for (when, side) in ["Before", "After"].iter().zip(sides) {
        let HtmlPart { title, body } = side.report();
        let name = escaped(side.name());
        part.body.push_str(&format!(
            "<section>\n<h2>{when}: {name}</h2>\n<details><summary>{title}</summary>\n{body}</details>\n</section>\n"
        ));
    }
    part
}

pub(crate) fn head(title: &str, policy: &str) -> String {
    let report_style = HtmlPart::STYLE;
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>whyslow: {title}</title>\n<style>{report_style}</style>\n<style>{STYLE}</style>\n</head>\n<body>\n"
    )
}

/// What the browser lets happen: nothing but the scripts and style sheets that stand here, by their hashes, and images within the page;
/// and what `more` says.
pub(crate) fn policy(more: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    format!(
        "default-src 'none'; script-src {}; style-src {} {}; img-src data:; base-uri 'none'; form-action 'none'{more}",
        hash(SCRIPT),
        hash(HtmlPart::STYLE),
        hash(STYLE)
    )
}

pub(crate) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page's scripts and style sheets end where they are meant to, and hash to what the policy says.
    #[test]
    fn what_is_embedded_cannot_end_its_element_nor_change_on_the_way() {
        for text in [SCRIPT, STYLE, HtmlPart::STYLE] {
            let lower = text.to_ascii_lowercase();
            assert!(!lower.contains("</script") && !lower.contains("</style") && !lower.contains("<!--"));
            assert!(!lower.contains("<script"), "a script in a comment ends later");
            // A browser makes line feeds of CR, and U+FFFD of NUL: the hash would be another one.
            assert!(!text.contains(['\r', '\0']));
        }
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(escaped("<a href='x'>\"&"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;");
    }
}
