//! HTML: one page that loads nothing and runs nothing. Everything that comes from the input passes through
//! [`text`]; the policy in the head forbids the browser all else.

mod diagnosis;

use crate::exporter::Exporter;
use crate::inline::{Block, Piece, blocks, pieces};
use crate::phrases;
use crate::style::Style;
use crate::table_text::{BLOCKS, Grid};
use crate::walk;
use std::io::{self, Write};
use whyslow_model::{Diagnosis, Diff, Table};

/// HTML.
pub static HTML: Exporter = Exporter {
    name: "html",
    summary: "one self-contained page that loads nothing, to keep or to send",
    extension: "html",
    escapes_controls: false,
    diagnosis: |diagnosis, _: &Style, out| page(&diagnosis.verdict, &diagnosis::body(diagnosis), out),
    table: |table: &Table, _: &Style, out| page(&table.question, &table_body(table), out),
    diff: |diff: &Diff, _: &Style, out| page(&diff.verdict, &diff_body(diff), out),
};

const CSS: &str = include_str!("page.css");

/// What stands in a page, for a page that has more: markup without styles or scripts of its own. The style sheet is
/// [`HtmlPart::STYLE`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtmlPart {
    /// The heading and title, escaped.
    pub title: String,
    /// What stands below the heading.
    pub body: String,
}

impl HtmlPart {
    /// The style sheet of these parts.
    pub const STYLE: &'static str = CSS;

    /// A diagnosis, without its secrets unless `style` asks for them.
    pub fn of_diagnosis(diagnosis: &Diagnosis, style: &Style) -> HtmlPart {
        let mut diagnosis = diagnosis.clone();
        walk::diagnosis(&mut diagnosis, &mut |text, kind| HTML.clean(text, kind, style));
        HtmlPart { title: text(&diagnosis.verdict), body: diagnosis::body(&diagnosis) }
    }

    /// A comparison, without its secrets unless `style` asks for them.
    pub fn of_diff(diff: &Diff, style: &Style) -> HtmlPart {
        let mut diff = diff.clone();
        walk::diff(&mut diff, &mut |text, kind| HTML.clean(text, kind, style));
        HtmlPart { title: text(&diff.verdict), body: diff_body(&diff) }
    }
}

/// Nothing is loaded from anywhere; styles stand in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

fn page(title: &str, body: &str, out: &mut dyn Write) -> io::Result<()> {
    let title = text(title);
    writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>whyslow: {title}</title>\n<style>\n{CSS}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n{body}</main>\n</body>\n</html>"
    )
}

/// Text, escaped for content and for attributes in double quotes.
fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len() + raw.len() / 8);
    for c in raw.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// A sentence, with what stands between backticks as code.
fn sentence(raw: &str) -> String {
    pieces(raw)
        .into_iter()
        .map(|piece| match piece {
            Piece::Prose(prose) => text(prose),
            Piece::Code(code) => format!("<code>{}</code>", text(code)),
        })
        .collect()
}

/// Prose and lines of code.
fn rich(raw: &str) -> String {
    blocks(raw)
        .into_iter()
        .map(|block| match block {
            Block::Prose(prose) => sentence(&prose),
            Block::Code(code) => format!("<pre>{}</pre>", text(&code)),
        })
        .collect()
}

fn paragraph(raw: &str) -> String {
    format!("<div class=\"text\">{}</div>\n", rich(raw))
}

/// A paragraph that steps back.
fn aside(raw: &str) -> String {
    format!("<div class=\"text dim\">{}</div>\n", rich(raw))
}

fn list(tag: &str, items: impl IntoIterator<Item = String>) -> String {
    let items: String = items.into_iter().map(|item| format!("<li>{item}</li>\n")).collect();
    if items.is_empty() { items } else { format!("<{tag}>\n{items}</{tag}>\n") }
}

fn grid(grid: &Grid) -> String {
    let row = |tag: &str, texts: &[String]| {
        let cells = grid.heads.iter().zip(texts).map(|(head, cell)| {
            let class = if head.figures { " class=\"figure\"" } else { "" };
            let cell = if head.shades { format!("<code>{}</code>", text(cell)) } else { text(cell) };
            format!("<{tag}{class}>{cell}</{tag}>")
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let heads: Vec<String> = grid.heads.iter().map(|head| head.heading.to_string()).collect();
    let rows: String = grid.rows.iter().map(|texts| row("td", texts)).collect();
    let total =
        grid.total.as_ref().map_or(String::new(), |total| format!("<tfoot>{}</tfoot>\n", row("td", total)));
    format!(
        "<div class=\"scroll\"><table>\n<thead>{}</thead>\n<tbody>\n{rows}</tbody>\n{total}</table></div>\n",
        row("th", &heads)
    )
}

fn table_body(table: &Table) -> String {
    let notes: String = table.notes.iter().map(|note| aside(note)).collect();
    format!("{}{notes}", grid(&Grid::of(table, BLOCKS)))
}

fn diff_body(diff: &Diff) -> String {
    let mut body = aside(&phrases::windows(diff));
    for group in phrases::change_groups(diff).iter().filter(|group| !group.changes.is_empty()) {
        let items = group.changes.iter().map(|change| {
            format!(
                "{}<br><span class=\"dim\">{}</span>",
                text(&change.title),
                text(&phrases::change(change, group.absent))
            )
        });
        body.push_str(&format!(
            "<section class=\"{}\">\n<h2>{}</h2>\n{}</section>\n",
            group.kind,
            group.heading,
            list("ul", items)
        ));
    }
    if !diff.figures.is_empty() {
        body.push_str(&format!("<h2>Measured</h2>\n{}", grid(&Grid::of_figures(diff))));
    }
    if !diff.refusals.is_empty() {
        body.push_str(&format!(
            "<h2>Not claimed</h2>\n{}",
            list("ul", diff.refusals.iter().map(|refusal| rich(refusal)))
        ));
    }
    body
}
