//! The terminal: for a tired engineer at 3 a.m. The verdict first, then what was looked at, the host, the causes with
//! evidence, fix and check, the notices in short, where the time went, what the capture cannot show, and what
//! to look at next.

mod comparison;
mod finding;
mod host;
mod layout;
mod table;
mod time;

use crate::exporter::Exporter;
use crate::phrases;
use crate::style::Style;
use crate::table_text;
use layout::{BOLD, DIM, PLAIN, Page, wrap};
use std::io::{self, Write};
use whyslow_model::{Diagnosis, Diff, Finding, Table};

/// The terminal.
pub static TERMINAL: Exporter = Exporter {
    name: "terminal",
    summary: "text for people, as wide as the terminal, in colour where it can",
    extension: "txt",
    escapes_controls: false,
    diagnosis: write_diagnosis,
    table: write_table,
    diff: write_diff,
};

/// Commands that supply missing facts, and reader's remarks, shown unless all are asked for.
const MAX_COMMANDS: usize = 1;
const MAX_NOTES: usize = 3;

fn write_diagnosis(diagnosis: &Diagnosis, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style);
    page.hanging("", 0, &diagnosis.verdict, BOLD);
    page.hanging("", 0, &phrases::target(&diagnosis.target), DIM);
    let groups = phrases::groups(&diagnosis.findings);
    // The host comes first where it was asked about, behind the account of a program.
    let (first, behind) = phrases::host_first(diagnosis);
    first.into_iter().for_each(|walk| host::section(&mut page, walk));
    for cause in groups.disagreements.iter().chain(&groups.causes) {
        finding::full(&mut page, cause);
    }
    if let Some(nothing) = phrases::nothing_found(diagnosis, &groups) {
        page.gap();
        page.text(0, &nothing);
    }
    notices(&mut page, &groups.notices);
    time::section(&mut page, diagnosis);
    behind.into_iter().for_each(|walk| host::section(&mut page, walk));
    about_capture(&mut page, diagnosis, &groups.capture);
    if let Some(remaining) = &diagnosis.remaining {
        page.heading("Next");
        page.text(2, remaining);
    }
    out.write_all(page.finish().as_bytes())
}

fn notices(page: &mut Page, notices: &[&Finding]) {
    if notices.is_empty() {
        return;
    }
    if page.explain {
        notices.iter().for_each(|notice| finding::full(page, notice));
        return;
    }
    page.heading("Worth knowing");
    notices.iter().for_each(|notice| finding::short(page, notice));
}

/// What the capture cannot show: its findings, damage, rules not judged and how to judge them.
fn about_capture(page: &mut Page, diagnosis: &Diagnosis, findings: &[&Finding]) {
    let target = &diagnosis.target;
    let damaged = phrases::damaged(target);
    let lacking = phrases::lacking(&diagnosis.not_judged);
    if findings.is_empty() && damaged.is_empty() && target.notes.is_empty() && lacking.is_empty() {
        return;
    }
    page.heading("About this capture");
    for finding in findings {
        match page.explain {
            true => finding::full(page, finding),
            false => finding::short(page, finding),
        }
    }
    let shown = if page.explain { usize::MAX } else { MAX_NOTES };
    let notes: Vec<String> =
        damaged.into_iter().chain(target.notes.iter().map(|note| phrases::note(target, note))).collect();
    notes.iter().take(shown).for_each(|note| page.hanging("  ", 4, note, PLAIN));
    more(page, notes.len().saturating_sub(shown), "remark");
    if let Some(sentence) = phrases::not_judged(&lacking, page.explain) {
        page.hanging("  ", 4, &sentence, PLAIN);
    }
    if page.explain {
        for group in &lacking {
            page.hanging("    ", 6, &format!("{}: {}", group.missing, group.rules.join(", ")), DIM);
        }
    }
    let commands = phrases::supplies(&lacking);
    let most = if page.explain { usize::MAX } else { MAX_COMMANDS };
    for (command, rules) in commands.iter().take(most) {
        let (command, remark) = phrases::command_and_remark(command);
        let rules = whyslow_model::figures::plural(*rules as u64, "rule");
        page.hanging(
            "  ",
            4,
            &format!("to judge {rules}{}:", remark.map_or(String::new(), |remark| format!(" ({remark})"))),
            DIM,
        );
        command_lines(command).for_each(|line| page.line(&format!("    {line}")));
    }
    more(page, commands.len().saturating_sub(most), "command");
}

fn more(page: &mut Page, left: usize, of: &str) {
    if left > 0 {
        let more = whyslow_model::figures::plural(left as u64, of);
        let text = page.paint(DIM, &format!("  and {more} more (--verbose)"));
        page.line(&text);
    }
}

/// A command is never wrapped: it is there to be copied.
fn command_lines(command: &str) -> impl Iterator<Item = &str> {
    command.lines().map(str::trim_end)
}

fn write_table(table: &Table, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style);
    page.hanging("", 0, &table.question, BOLD);
    page.gap();
    let shades = if style.color { table_text::BLOCKS } else { table_text::DIGITS };
    let grid = table_text::Grid::of(table, shades);
    let dropped = table::grid(&mut page, 0, &grid);
    if table.rows.is_empty() {
        page.line("nothing to show");
    }
    if !table.notes.is_empty() || !dropped.is_empty() {
        page.gap();
    }
    if !dropped.is_empty() {
        let text = format!("Not shown in {} columns: {}.", page.width, dropped.join(", "));
        page.hanging("", 0, &text, DIM);
    }
    for note in &table.notes {
        page.hanging("", 0, note, DIM);
    }
    out.write_all(page.finish().as_bytes())
}

fn write_diff(diff: &Diff, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style);
    comparison::write(&mut page, diff);
    out.write_all(page.finish().as_bytes())
}

/// Wrapped lines for a field's text.
fn field_text(page: &Page, text: &str) -> Vec<String> {
    wrap(text, page.prose_width(page.field_indent()))
}
