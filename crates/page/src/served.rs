//! The page where a server gives it: the same scripts and style sheets in a page without data, and the data beside it.

use crate::data::{PageData, SCHEMA};
use crate::html::{SCRIPT, escaped, head, policy};
use crate::plan::Plan;
use crate::run::PageSide;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use std::io::{self, Write};

/// What the browser asks the server for.
#[derive(Serialize)]
struct Served {
    /// The report's title and markup.
    title: String,
    report: String,
    page: PageData,
}

/// Writes the report and the data of one run: JSON, packed with gzip. It is larger than what a file has room for: nothing is left out but
/// what is never kept.
///
/// # Errors
/// If `out` cannot be written to.
pub fn write_served(side: &PageSide, out: &mut dyn Write) -> io::Result<()> {
    let report = side.report();
    let served = Served {
        title: report.title,
        report: report.body,
        page: PageData {
            schema: SCHEMA,
            made_by: format!("whyslow {}", env!("CARGO_PKG_VERSION")),
            runs: vec![side.data(&Plan::FULL)],
            diff: None,
        },
    };
    let mut gzip = GzEncoder::new(io::BufWriter::with_capacity(1 << 16, out), Compression::fast());
    serde_json::to_writer(io::BufWriter::with_capacity(1 << 16, &mut gzip), &served)?;
    gzip.finish()?.flush()
}

/// The policy of a page that is served: that of the file, and data from its own server.
pub fn served_policy() -> String {
    policy("; connect-src 'self'; frame-ancestors 'none'")
}

/// A page without data, which asks for it below the address `source`.
pub fn served_shell(title: &str, source: &str) -> String {
    // A policy in the head cannot say who may frame the page: the server's own header does.
    let head = head(&escaped(title), &policy("; connect-src 'self'"));
    let source = escaped(source);
    format!(
        "{head}<main id=\"whyslow-report\"><h1>{}</h1><p class=\"dim\">Loading…</p></main>\n\
         <noscript><p>This page needs scripts; `whyslow report X -o x.html` writes one that is readable without.</p></noscript>\n\
         <div id=\"whyslow-app\" data-source=\"{source}\"></div>\n<script>{SCRIPT}</script>\n</body>\n</html>",
        escaped(title)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_served_page_may_ask_its_server_alone_and_holds_no_markup_of_others() {
        let shell = served_shell("<script>x</script>", "/api/r/1/\"><b>");
        assert!(!shell.contains("<script>x") && !shell.contains("<b>"));
        for policy in [served_policy(), shell.clone()] {
            assert!(policy.contains("default-src 'none'; script-src 'sha256-"));
            assert!(policy.contains("connect-src 'self'") && !policy.contains("unsafe"));
        }
        assert!(served_policy().contains("frame-ancestors 'none'"));
    }
}
