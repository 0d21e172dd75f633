//! A table on a terminal: figures at the right, columns dropped in their order and long texts cut where it is
//! too narrow; where even that does not fit, a block of lines a row.

use super::layout::{BOLD, DIM, Page, cut_middle};
use crate::table_text::Grid;
use unicode_width::UnicodeWidthStr;

/// Between two columns.
const GAP: usize = 2;
/// A text column is not cut below this.
const MIN_TEXT: usize = 10;

/// Lays out the grid; gives the headings of the columns that were dropped.
pub(super) fn grid(page: &mut Page, indent: usize, grid: &Grid) -> Vec<&'static str> {
    let room = page.width.saturating_sub(indent);
    let mut widths: Vec<usize> = (0..grid.heads.len()).map(|i| natural_width(grid, i)).collect();
    let mut kept: Vec<usize> = (0..grid.heads.len()).collect();
    let mut dropped = Vec::new();
    // Cutting a text is better than losing a column: drop only what does not fit with all texts cut.
    while least_width(grid, &kept, &widths) > room {
        let Some(victim) = kept
            .iter()
            .copied()
            .filter(|&i| grid.heads[i].drop_order > 0)
            .max_by_key(|&i| (grid.heads[i].drop_order, i))
        else {
            break;
        };
        kept.retain(|&i| i != victim);
        dropped.push(grid.heads[victim].heading);
    }
    if least_width(grid, &kept, &widths) > room {
        blocks(page, indent, grid, &kept);
        return dropped;
    }
    shrink_texts(grid, &kept, &mut widths, room);
    let heads: Vec<String> = grid.heads.iter().map(|head| head.heading.to_string()).collect();
    line(page, indent, grid, &kept, &widths, &heads, DIM);
    for row in &grid.rows {
        line(page, indent, grid, &kept, &widths, row, super::PLAIN);
    }
    if let Some(total) = &grid.total {
        line(page, indent, grid, &kept, &widths, total, BOLD);
    }
    dropped
}

fn natural_width(grid: &Grid, i: usize) -> usize {
    let rows = grid.rows.iter().chain(&grid.total).filter_map(|row| row.get(i));
    rows.map(|text| text.width()).chain([grid.heads[i].heading.width()]).max().unwrap_or(0)
}

fn is_text(grid: &Grid, i: usize) -> bool {
    !grid.heads[i].figures
}

fn sum(widths: impl ExactSizeIterator<Item = usize>) -> usize {
    let gaps = GAP * widths.len().saturating_sub(1);
    widths.sum::<usize>() + gaps
}

fn least_width(grid: &Grid, kept: &[usize], widths: &[usize]) -> usize {
    sum(kept.iter().map(|&i| if is_text(grid, i) { widths[i].min(MIN_TEXT) } else { widths[i] }))
}

/// Takes what is too much from the widest texts first.
fn shrink_texts(grid: &Grid, kept: &[usize], widths: &mut [usize], room: usize) {
    let total = |widths: &[usize]| sum(kept.iter().map(|&i| widths[i]));
    while total(widths) > room {
        let too_much = total(widths) - room;
        let mut texts: Vec<usize> =
            kept.iter().copied().filter(|&i| is_text(grid, i) && widths[i] > MIN_TEXT).collect();
        texts.sort_by_key(|&i| std::cmp::Reverse(widths[i]));
        let Some(&widest) = texts.first() else { return };
        // Down to the next widest, so that two long texts share the loss.
        let floor = texts.get(1).map_or(MIN_TEXT, |&next| widths[next]).max(MIN_TEXT);
        let step = (widths[widest] - floor).max(1).min(too_much);
        widths[widest] -= step;
    }
}

fn line(
    page: &mut Page,
    indent: usize,
    grid: &Grid,
    kept: &[usize],
    widths: &[usize],
    texts: &[String],
    style: anstyle::Style,
) {
    let mut out = " ".repeat(indent);
    for (n, &i) in kept.iter().enumerate() {
        let text = texts.get(i).map_or(String::new(), |text| cut_middle(text, widths[i]));
        let pad = " ".repeat(widths[i].saturating_sub(text.width()));
        if n > 0 {
            out.push_str(&" ".repeat(GAP));
        }
        if grid.heads[i].figures {
            out.push_str(&pad);
        }
        out.push_str(&page.paint(style, &text));
        if !grid.heads[i].figures {
            out.push_str(&pad);
        }
    }
    page.line(&out);
}

/// `heading: text` lines, a block a row.
fn blocks(page: &mut Page, indent: usize, grid: &Grid, kept: &[usize]) {
    for row in grid.rows.iter().chain(&grid.total) {
        for (n, &i) in kept.iter().enumerate() {
            let head = grid.heads[i].heading;
            let room = page.width.saturating_sub(indent + head.width() + 4);
            let text = row.get(i).map_or(String::new(), |text| cut_middle(text, room.max(MIN_TEXT)));
            let step = indent + if n == 0 { 0 } else { 2 };
            let head = page.paint(DIM, &format!("{head}:"));
            page.line(&format!("{:step$}{head} {text}", ""));
        }
    }
}
