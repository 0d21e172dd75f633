//! The walk over the host on a terminal.

use super::detail::Detail;
use super::layout::{DIM, PLAIN, Page, ink};
use crate::host;
use anstyle::AnsiColor;
use whyslow_model::walk::{State, Walk};

/// Columns of the word for a state.
const WORD: usize = 10;

pub(super) fn section(page: &mut Page, walk: &Walk, detail: &Detail) {
    page.heading("The host");
    let is_shown = |line: &host::ResourceLine<'_>| detail.unknown || line.resource.state != State::Unknown;
    for line in host::resources(walk).into_iter().filter(is_shown) {
        let style = match line.resource.state {
            State::Saturated => ink(AnsiColor::Red),
            State::Not => ink(AnsiColor::Green),
            State::Unknown => DIM,
        };
        let word = page.paint(style, &format!("{:WORD$}", line.word));
        page.hanging(&format!("  {word}"), 2 + WORD, &line.text, PLAIN);
        if page.explain {
            for shown in &line.resource.evidence {
                let indent = 4 + WORD;
                page.hanging(&" ".repeat(indent), indent, &format!("{}  {}", shown.source, shown.text), DIM);
            }
        }
    }
    let hidden: Vec<&str> =
        (walk.resources.iter().filter(|one| !detail.unknown && one.state == State::Unknown))
            .map(|one| one.name.as_str())
            .collect();
    if !hidden.is_empty() {
        page.hanging(&format!("  {:WORD$}", "unknown"), 2 + WORD, &hidden.join(", "), DIM);
    }
    for (heading, lines) in
        host::takers(walk, if page.explain { usize::MAX } else { host::MOST.min(detail.rows) })
    {
        let label = page.paint(DIM, &format!("  {heading}"));
        page.line(&label);
        for (text, _) in lines {
            page.hanging("    ", 6, &text, PLAIN);
        }
    }
    for text in walk.load.iter().chain(&walk.saving) {
        page.text(2, text);
    }
    if !walk.next.is_empty() {
        page.hanging("  ", 4, &format!("Then: {}", walk.next), PLAIN);
    }
}
