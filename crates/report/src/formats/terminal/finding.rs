//! One finding on a terminal: in full, or in two lines.

use super::detail::Detail;
use super::layout::{BOLD, DIM, PLAIN, Page, cut, cut_line, ink, some, wrap};
use super::{command_lines, field_text};
use crate::phrases;
use anstyle::AnsiColor;
use unicode_width::UnicodeWidthStr;
use whyslow_model::{ChainLink, Evidence, Finding, Severity};

/// Columns of the bar that shows the share.
const SHARE_BAR: usize = 20;
/// A source longer than this stands on a line of its own.
const MAX_SOURCE: usize = 28;

/// The finding with what proves it, as far as there is room.
pub(super) fn full(page: &mut Page, finding: &Finding, detail: &Detail) {
    page.gap();
    title(page, finding, detail.title);
    figures(page, finding, detail.figures);
    let width = page.prose_width(page.field_indent());
    if !finding.cause.is_empty() {
        page.field("cause", &some(field_text(page, &finding.cause), detail.cause, width));
    }
    page.field(
        "code",
        &phrases::code(finding).into_iter().flat_map(|text| field_text(page, &text)).collect::<Vec<_>>(),
    );
    let also: Vec<String> = phrases::also(finding).flat_map(|text| field_text(page, &text)).collect();
    page.field("also", &some(also, detail.cause, width));
    // Of a way to another process its end is the cause.
    let shown = finding.chain.len().min(detail.chain);
    let links = match finding.culprit {
        Some(_) => &finding.chain[finding.chain.len() - shown..],
        None => &finding.chain[..shown],
    };
    page.field("chain", &chain(page, links));
    let shown = &finding.evidence[..finding.evidence.len().min(detail.evidence)];
    page.field("evidence", &evidence(page, shown));
    if page.explain {
        page.field("figures", &phrases::measurements(finding));
    }
    page.field("fix", &fix(page, &finding.fix, detail.fix));
    if !finding.verify.is_empty() {
        let (command, remark) = phrases::command_and_remark(&finding.verify);
        let mut lines: Vec<String> = command_lines(command).map(str::to_string).collect();
        if page.explain || lines.len() < detail.verify {
            lines.extend(
                remark
                    .into_iter()
                    .flat_map(|remark| field_text(page, remark))
                    .map(|line| page.paint(DIM, &line)),
            );
        }
        lines.truncate(detail.verify);
        page.field("verify", &lines);
    }
    if page.explain
        && let Some(confidence) = phrases::confidence(finding)
    {
        page.field("certainty", &field_text(page, &confidence));
    }
}

/// The title and what to do in a line; the title in full on a narrow terminal.
pub(super) fn short(page: &mut Page, finding: &Finding, detail: &Detail) {
    let lead = format!("  {} ", page.paint(ink(color(finding.severity)), "-"));
    let most = if page.is_wide() { detail.short_title } else { usize::MAX };
    page.some_lines(&lead, 4, &format!("{}  [{}]", finding.title, finding.id), PLAIN, most);
    let step = match finding.fix.first() {
        Some(step) => step.lines().next().unwrap_or_default(),
        None => finding.cause.lines().next().unwrap_or_default(),
    };
    if !step.is_empty() {
        let text = cut(step, page.width.saturating_sub(4));
        let text = page.paint(DIM, &text);
        page.line(&format!("    {text}"));
    }
}

fn color(severity: Severity) -> AnsiColor {
    match severity {
        Severity::Critical => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Notice => AnsiColor::Cyan,
        Severity::Capture => AnsiColor::Magenta,
    }
}

fn title(page: &mut Page, finding: &Finding, most: usize) {
    let word = finding.severity.word();
    let painted = page.paint(ink(color(finding.severity)).bold(), word);
    if page.is_wide() {
        let indent = page.field_indent();
        let gap = indent.saturating_sub(word.width());
        page.some_lines(&format!("{painted}{:gap$}", ""), indent, &finding.title, BOLD, most);
    } else {
        page.line(&painted);
        page.hanging("  ", 2, &finding.title, BOLD);
    }
}

/// `██████████░░░░ rule-id · 90.7 % of the wall time · saves up to …`.
fn figures(page: &mut Page, finding: &Finding, most: usize) {
    let mut texts = Vec::new();
    let mut lead = String::new();
    if let Some(share) = finding.share.filter(|share| share.is_finite()) {
        let full = (share.clamp(0.0, 1.0) * SHARE_BAR as f64).round() as usize;
        let bar = page.paint(ink(color(finding.severity)), &"█".repeat(full));
        lead = format!("{bar}{} ", "░".repeat(SHARE_BAR - full));
    }
    texts.extend(phrases::share(finding));
    texts.extend(phrases::saving(finding));
    texts.extend(phrases::follows(finding));
    texts.extend(phrases::confidence(finding).filter(|_| !page.explain));
    // The rule's name leads to its essay: it is never cut off.
    texts.insert(0, finding.id.to_string());
    let text = texts.join(" · ");
    let indent = page.field_indent();
    let pad = " ".repeat(indent);
    if lead.is_empty() {
        page.some_lines(&pad, indent, &text, PLAIN, most);
    } else if page.is_wide() {
        page.some_lines(&format!("{pad}{lead}"), indent + SHARE_BAR + 1, &text, PLAIN, most);
    } else {
        page.line(&format!("{pad}{lead}"));
        page.text(indent, &text);
    }
}

/// Who waits for whom, each link one step further in.
fn chain(page: &Page, links: &[ChainLink]) -> Vec<String> {
    /// Deeper links stay at this step, so that the text keeps its room.
    const MAX_STEPS: usize = 6;
    let mut lines = Vec::new();
    for (depth, link) in links.iter().enumerate() {
        let step = 2 * depth.min(MAX_STEPS);
        let waits = if link.ns.is_known() {
            format!("waits {} for", link.ns)
        } else {
            "waits (time unknown) for".to_string()
        };
        let place = if link.evidence.is_empty() { String::new() } else { format!("  [{}]", link.evidence) };
        let text = format!("{} {waits} {}{place}", link.who, link.waits_for);
        let room = page.prose_width(page.field_indent() + step + 2);
        for (i, line) in wrap(&text, room).iter().enumerate() {
            let mark = if i == 0 && depth > 0 { "└ " } else { "  " };
            lines.push(format!("{:step$}{}{line}", "", if depth == 0 { "" } else { mark }));
        }
    }
    lines
}

/// Source and line; the line cut to the width, or whole where all is asked for.
fn evidence(page: &Page, evidence: &[Evidence]) -> Vec<String> {
    let room = page.width.saturating_sub(page.field_indent());
    let longest = evidence.iter().map(|line| line.source.width()).max().unwrap_or(0);
    let beside = page.is_wide() && longest <= MAX_SOURCE;
    let mut lines = Vec::new();
    for Evidence { source, text } in evidence {
        let indent = if beside { longest + 2 } else { 2 };
        let texts = if page.explain {
            wrap(text, room.saturating_sub(indent))
        } else {
            vec![cut_line(text, room.saturating_sub(indent))]
        };
        let gap = longest.saturating_sub(source.width()) + 2;
        let painted = page.paint(DIM, source);
        if !beside {
            lines.extend(wrap(source, room).iter().map(|line| page.paint(DIM, line)));
        }
        for (i, text) in texts.iter().enumerate() {
            lines.push(if beside && i == 0 {
                format!("{painted}{:gap$}{text}", "")
            } else {
                format!("{:indent$}{text}", "")
            });
        }
    }
    lines
}

fn fix(page: &Page, steps: &[String], (most, most_lines): (usize, usize)) -> Vec<String> {
    let mut lines = Vec::new();
    for (step, number) in steps.iter().take(most).zip(1..) {
        let lead = format!("{number}. ");
        let indent = lead.width();
        let width = page.prose_width(page.field_indent() + indent);
        let shown = some(wrap(step, width), most_lines, width);
        for (i, line) in shown.iter().enumerate() {
            lines.push(if i == 0 { format!("{lead}{line}") } else { format!("{:indent$}{line}", "") });
        }
    }
    lines
}
