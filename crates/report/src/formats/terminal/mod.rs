//! The terminal: for a tired engineer at 3 a.m. The verdict first, what was looked at, the causes with evidence, fix and check, the
//! notices in short, where the time went, the host in a line, what was not judged in a line, and what to do next.

mod comparison;
mod detail;
mod finding;
mod host;
mod layout;
mod table;
mod time;

use crate::exporter::Exporter;
use crate::phrases;
use crate::style::Style;
use crate::table_text;
use detail::Detail;
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

fn write_diagnosis(diagnosis: &Diagnosis, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let levels = if style.explain { std::slice::from_ref(&detail::ALL) } else { &detail::LEVELS[..] };
    let mut pages = levels.iter().map(|detail| page_of(diagnosis, style, detail));
    let most = detail::lines(style.columns());
    // Pages are made one by one, and the last one is taken where none fits.
    let mut page = pages.next();
    while page.as_ref().is_some_and(|page| page.lines().count() > most) {
        match pages.next() {
            Some(shorter) => page = Some(shorter),
            None => break,
        }
    }
    out.write_all(page.unwrap_or_default().as_bytes())
}

fn page_of(diagnosis: &Diagnosis, style: &Style, detail: &Detail) -> String {
    let mut page = Page::new(style);
    page.hanging("", 0, &diagnosis.verdict, BOLD);
    let most = if style.explain { usize::MAX } else { CONTEXT };
    page.some_lines("", 0, &diagnosis.context, PLAIN, most);
    page.some_lines(
        "",
        0,
        &phrases::target(&diagnosis.target),
        DIM,
        if style.explain { usize::MAX } else { 1 },
    );
    let groups = phrases::groups(&diagnosis.findings);
    // The host is in full where it was asked about, in a line behind the account of a program.
    let (asked, behind) = phrases::host_first(diagnosis);
    causes(&mut page, &groups.causes, detail);
    if let Some(nothing) = phrases::nothing_found(diagnosis, &groups) {
        page.gap();
        page.text(0, &nothing);
    }
    others(&mut page, "The sources disagree", &groups.disagreements, detail.notices.max(1), detail);
    others(&mut page, "Worth knowing", &groups.notices, detail.notices, detail);
    if style.explain {
        others(&mut page, "Costs no time", &groups.hygiene, detail.notices, detail);
    }
    time::section(&mut page, diagnosis, detail);
    match (asked, behind) {
        (Some(walk), _) => host::section(&mut page, walk, detail),
        (None, Some(walk)) if style.explain => host::section(&mut page, walk, detail),
        _ => {}
    }
    page.gap();
    if let Some(walk) = behind.filter(|_| !style.explain) {
        page.labelled("Host", &crate::host::in_a_line(walk));
    }
    about_capture(&mut page, diagnosis, &groups.capture, detail);
    next(&mut page, diagnosis);
    page.finish()
}

/// Lines beside the verdict, unless all is asked for.
const CONTEXT: usize = 3;

fn causes(page: &mut Page, causes: &[&Finding], detail: &Detail) {
    let (full, short) = causes.split_at(causes.len().min(detail.full));
    full.iter().for_each(|cause| finding::full(page, cause, detail));
    if !short.is_empty() {
        page.gap();
        short.iter().for_each(|cause| finding::short(page, cause, detail));
    }
}

/// Findings in short under a heading: in full where all is asked for.
fn others(page: &mut Page, heading: &str, findings: &[&Finding], most: usize, detail: &Detail) {
    if findings.is_empty() {
        return;
    }
    if page.explain {
        page.heading(heading);
        findings.iter().for_each(|finding| finding::full(page, finding, detail));
        return;
    }
    if most == 0 {
        page.gap();
        let ids: Vec<&str> = findings.iter().map(|finding| finding.id).collect();
        page.labelled(heading, &format!("{} (--verbose)", ids.join(", ")));
        return;
    }
    page.heading(heading);
    findings.iter().take(most).for_each(|finding| finding::short(page, finding, detail));
    more(page, findings.len().saturating_sub(most), "finding");
}

/// What the capture cannot show: its findings, damage, and in a line the rules not judged; how to judge them where all is asked for.
fn about_capture(page: &mut Page, diagnosis: &Diagnosis, findings: &[&Finding], detail: &Detail) {
    let target = &diagnosis.target;
    let notes: Vec<String> = phrases::damaged(target)
        .into_iter()
        .chain(target.notes.iter().map(|note| phrases::note(target, note)))
        .collect();
    let lacking = phrases::lacking(&diagnosis.not_judged);
    if page.explain {
        let followed = phrases::each_followed(target);
        if !followed.is_empty() {
            page.heading("Followed");
            followed.iter().for_each(|line| page.hanging("  ", 4, line, PLAIN));
        }
        others(page, "About this capture", findings, usize::MAX, detail);
        if !notes.is_empty() {
            page.heading("Remarks");
            notes.iter().for_each(|note| page.hanging("  ", 4, note, PLAIN));
        }
        not_judged_in_full(page, &lacking);
        return;
    }
    if let Some(followed) = phrases::followed(target) {
        page.labelled("Followed", &followed);
    }
    for finding in findings.iter().take(detail.notices.max(1)) {
        page.labelled("Capture", &finding.title);
    }
    notes.iter().take(detail.notices).for_each(|note| page.labelled("Capture", note));
    let hidden =
        findings.len().saturating_sub(detail.notices.max(1)) + notes.len().saturating_sub(detail.notices);
    if hidden > 0 {
        let remarks = whyslow_model::figures::plural(hidden as u64, "remark");
        page.labelled("Capture", &format!("{remarks} more (--verbose)"));
    }
    if let Some(rules) = phrases::not_judged(&lacking) {
        page.labelled("Not judged", &rules);
    }
}

fn not_judged_in_full(page: &mut Page, lacking: &[phrases::Lacking<'_>]) {
    if lacking.is_empty() {
        return;
    }
    page.heading("Not judged");
    for group in lacking {
        page.hanging("  ", 4, &format!("for lack of {}: {}", group.missing, group.rules.join(", ")), PLAIN);
    }
    for (command, rules) in phrases::supplies(lacking) {
        let (command, remark) = phrases::command_and_remark(command);
        let rules = whyslow_model::figures::plural(rules as u64, "rule");
        let remark = remark.map_or(String::new(), |remark| format!(" ({remark})"));
        page.hanging("  ", 4, &format!("to judge {rules}{remark}:"), DIM);
        command_lines(command).for_each(|line| page.line(&format!("    {line}")));
    }
}

/// The next step: the command that judges most of what was not judged, and the largest cost that nothing explains.
fn next(page: &mut Page, diagnosis: &Diagnosis) {
    if let Some(remaining) = &diagnosis.remaining {
        page.labelled("Then", remaining);
    }
    let lacking = phrases::lacking(&diagnosis.not_judged);
    if let Some((command, rules)) = phrases::supplies(&lacking).into_iter().next() {
        let (command, _) = phrases::command_and_remark(command);
        let rules = whyslow_model::figures::plural(rules as u64, "rule");
        let mut lines = command_lines(command);
        let first = lines.next().unwrap_or_default();
        // A command is there to be copied: it is not wrapped.
        let label = page.paint(DIM, "Next:");
        page.line(&format!("{label} {first}   (judges {rules} more)"));
        lines.for_each(|line| page.line(&format!("  {line}")));
    }
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
