//! Before and after on a terminal: did the change work?

use super::layout::{BOLD, DIM, PLAIN, Page, ink};
use super::table;
use crate::phrases;
use crate::table_text::Grid;
use anstyle::AnsiColor;
use whyslow_model::Diff;

pub(super) fn write(page: &mut Page, diff: &Diff) {
    page.hanging("", 0, &diff.verdict, BOLD);
    page.hanging("", 0, &phrases::windows(diff), DIM);
    for group in phrases::change_groups(diff).iter().filter(|group| !group.changes.is_empty()) {
        page.heading(group.heading);
        let color = match group.kind {
            "new" => AnsiColor::Red,
            "gone" => AnsiColor::Green,
            "kept" => AnsiColor::Yellow,
            _ => AnsiColor::Magenta,
        };
        let mark = page.paint(ink(color), "-");
        for change in group.changes {
            page.hanging(&format!("  {mark} "), 4, &change.title, PLAIN);
            page.hanging("    ", 4, &phrases::change(change, group.absent), DIM);
        }
    }
    if !diff.figures.is_empty() {
        page.heading("Measured");
        table::grid(page, 2, &Grid::of_figures(diff));
    }
    if !diff.refusals.is_empty() {
        page.heading("Not claimed");
        for refusal in &diff.refusals {
            page.hanging("  - ", 4, refusal, PLAIN);
        }
    }
}
