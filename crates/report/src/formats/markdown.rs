//! Markdown (CommonMark with GitHub's tables) for tickets and chats: the terminal's order, evidence and
//! commands in fences, everything else escaped.

use crate::exporter::Exporter;
use crate::inline::{Block, Piece, blocks, pieces};
use crate::style::Style;
use crate::table_text::{DIGITS, Grid};
use crate::time_parts::{Part, parts};
use crate::{account, host, phrases};
use std::io::{self, Write};
use whyslow_model::walk::{State, Walk};
use whyslow_model::{Diagnosis, Diff, Finding, Table};

/// Markdown.
pub static MARKDOWN: Exporter = Exporter {
    name: "markdown",
    summary: "text for tickets and chats",
    extension: "md",
    escapes_controls: false,
    diagnosis: |diagnosis: &Diagnosis, style: &Style, out| {
        out.write_all(diagnosis_text(diagnosis, style).as_bytes())
    },
    table: |table: &Table, _: &Style, out| write_table(table, out),
    diff: |diff: &Diff, _: &Style, out| out.write_all(diff_text(diff).as_bytes()),
};

/// Threads shown unless all are asked for.
const MAX_THREADS: usize = 5;

/// Text that Markdown must not read as anything but text. Line ends become hard line breaks.
fn text(raw: &str) -> String {
    raw.split('\n').map(|line| escaped(line, true)).collect::<Vec<_>>().join("\\\n")
}

/// One line, escaped; at the start of a line there is more to escape.
fn escaped(line: &str, at_start: bool) -> String {
    let mut out = String::with_capacity(line.len() + line.len() / 8);
    let mut before = ' ';
    // Blanks do not take from a marker what it means; digits may begin `1. ` or `1) `.
    let mut blank = at_start;
    let mut number = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let after = chars.peek().copied().unwrap_or(' ');
        let special = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '|' | '~' | '&' | '$' => true,
            // Within a word it stays what it is.
            '_' => !(before.is_alphanumeric() && after.is_alphanumeric()),
            '#' | '-' | '+' | '=' | '>' => blank,
            '.' | ')' => number && after == ' ',
            _ => false,
        };
        if special {
            out.push('\\');
        }
        out.push(c);
        number = c.is_ascii_digit() && (blank || number);
        blank &= c == ' ';
        before = c;
    }
    out
}

/// A line, with what stands between backticks as code.
fn sentence(raw: &str) -> String {
    let mut at_start = true;
    let mut out = String::with_capacity(raw.len() + 8);
    for piece in pieces(raw) {
        match piece {
            Piece::Prose(prose) => out.push_str(&escaped(prose, at_start)),
            Piece::Code(code) => out.push_str(&format!("`{code}`")),
        }
        at_start = false;
    }
    out
}

/// Prose and lines of code.
fn rich(raw: &str) -> String {
    let blocks = blocks(raw).into_iter().map(|block| match block {
        Block::Prose(prose) => prose.split('\n').map(sentence).collect::<Vec<_>>().join("\\\n"),
        Block::Code(code) => format!("\n{}", fenced("", &code)),
    });
    blocks.collect::<Vec<_>>().join("\n").trim_end().to_string()
}

/// A fenced block; the fence is longer than any run of backticks within.
fn fenced(language: &str, content: &str) -> String {
    let longest = content.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", content.trim_end_matches('\n'))
}

fn command(raw: &str) -> String {
    let (command, remark) = phrases::command_and_remark(raw);
    let remark = remark.map_or(String::new(), |remark| format!("\n{}\n", text(remark)));
    format!("{}{remark}", fenced("sh", command))
}

/// A list; further lines of an item are indented as far as its text.
fn list(texts: impl IntoIterator<Item = String>, numbered: bool) -> String {
    let mut out = String::new();
    for (item, number) in texts.into_iter().zip(1..) {
        let mark = if numbered { format!("{number}. ") } else { "- ".to_string() };
        let mut lines = item.lines();
        out.push_str(&format!("{mark}{}\n", lines.next().unwrap_or_default()));
        for line in lines {
            let indent = if line.is_empty() { 0 } else { mark.len() };
            out.push_str(&format!("{:indent$}{line}\n", ""));
        }
    }
    out
}

fn bullets(texts: impl IntoIterator<Item = String>) -> String {
    list(texts, false)
}

fn steps(texts: impl IntoIterator<Item = String>) -> String {
    list(texts, true)
}

fn diagnosis_text(diagnosis: &Diagnosis, style: &Style) -> String {
    let context = match diagnosis.context.as_str() {
        "" => String::new(),
        context => format!("{}\n\n", rich(context)),
    };
    let target = text(&phrases::target(&diagnosis.target));
    let mut out = format!("**{}**\n\n{context}{target}\n", text(&diagnosis.verdict));
    let groups = phrases::groups(&diagnosis.findings);
    let (asked, behind) = phrases::host_first(diagnosis);
    groups.causes.iter().for_each(|finding| out.push_str(&full(finding)));
    if let Some(nothing) = phrases::nothing_found(diagnosis, &groups) {
        out.push_str(&format!("\n{}\n", text(&nothing)));
    }
    if !groups.disagreements.is_empty() {
        out.push_str("\n### The sources disagree\n");
        groups.disagreements.iter().for_each(|finding| out.push_str(&full(finding)));
    }
    if style.explain {
        groups.notices.iter().chain(&groups.hygiene).for_each(|finding| out.push_str(&full(finding)));
    } else if !groups.notices.is_empty() {
        out.push_str(&format!(
            "\n### Worth knowing\n\n{}",
            bullets(groups.notices.iter().map(|finding| short(finding)))
        ));
    }
    out.push_str(&time(diagnosis, style));
    out.push_str(&asked.map_or(String::new(), |walk| host_section(walk, style)));
    out.push_str(&behind.map_or(String::new(), |walk| match style.explain {
        true => host_section(walk, style),
        false => format!("\nHost: {}\n", text(&host::in_a_line(walk))),
    }));
    out.push_str(&about_capture(diagnosis, &groups.capture, style));
    if let Some(remaining) = &diagnosis.remaining {
        out.push_str(&format!("\n### Next\n\n{}\n", rich(remaining)));
    }
    out
}

fn host_section(walk: &Walk, style: &Style) -> String {
    let resources = host::resources(walk);
    let mut out = format!(
        "\n### The host\n\n{}",
        bullets(resources.iter().map(|line| format!("{}: {}", line.word, sentence(&line.text))))
    );
    for (heading, lines) in host::takers(walk, if style.explain { usize::MAX } else { host::MOST }) {
        out.push_str(&format!("\n{heading}:\n\n{}", bullets(lines.iter().map(|(line, _)| text(line)))));
    }
    let evidence: String =
        (resources.iter().filter(|line| style.explain || line.resource.state == State::Saturated))
            .flat_map(|line| &line.resource.evidence)
            .map(|line| format!("{}  {}\n", line.source, line.text))
            .collect();
    if !evidence.is_empty() {
        out.push_str(&format!("\n{}", fenced("text", &evidence)));
    }
    for line in walk.load.iter().chain(&walk.saving).chain([&walk.next]).filter(|line| !line.is_empty()) {
        out.push_str(&format!("\n{}\n", rich(line)));
    }
    out
}

fn full(finding: &Finding) -> String {
    let mut out = format!("\n### {}: {}\n\n", finding.severity.word(), text(&finding.title));
    let figures: Vec<String> = [phrases::share(finding), phrases::saving(finding), phrases::follows(finding)]
        .into_iter()
        .flatten()
        .map(|part| text(&part))
        .collect();
    let figures = if figures.is_empty() { String::new() } else { format!("{} · ", figures.join(" · ")) };
    out.push_str(&format!("{figures}`{}`\n", finding.id));
    if !finding.cause.is_empty() {
        out.push_str(&format!("\n{}\n", rich(&finding.cause)));
    }
    if let Some(code) = phrases::code(finding) {
        out.push_str(&format!("\nCode: {}\n", text(&code)));
    }
    if !finding.also.is_empty() {
        out.push_str(&format!("\nAlso:\n\n{}", bullets(phrases::also(finding).map(|also| text(&also)))));
    }
    if !finding.chain.is_empty() {
        let links = finding.chain.iter().map(|link| {
            let place =
                if link.evidence.is_empty() { String::new() } else { format!(" ({})", link.evidence) };
            format!(
                "{} waits {} for {}",
                text(&link.who),
                link.ns,
                text(&format!("{}{place}", link.waits_for))
            )
        });
        out.push_str(&format!("\nChain:\n\n{}", steps(links)));
    }
    if !finding.evidence.is_empty() {
        let lines: String =
            finding.evidence.iter().map(|line| format!("{}  {}\n", line.source, line.text)).collect();
        out.push_str(&format!("\nEvidence:\n\n{}", fenced("text", &lines)));
    }
    let figures = phrases::measurements(finding);
    if !figures.is_empty() {
        let lines: String = figures.iter().map(|figure| format!("- {}\n", text(figure))).collect();
        out.push_str(&format!("\nFigures:\n\n{lines}"));
    }
    if !finding.fix.is_empty() {
        out.push_str(&format!("\nFix:\n\n{}", steps(finding.fix.iter().map(|step| rich(step)))));
    }
    if !finding.verify.is_empty() {
        out.push_str(&format!("\nVerify:\n\n{}", command(&finding.verify)));
    }
    if let Some(confidence) = phrases::confidence(finding) {
        out.push_str(&format!("\nCertainty: {}\n", text(&confidence)));
    }
    out
}

fn short(finding: &Finding) -> String {
    let share = phrases::share(finding).map_or(String::new(), |share| format!(" ({share})"));
    let step = finding.fix.first().and_then(|step| step.lines().next()).unwrap_or_default();
    let step = if step.is_empty() { String::new() } else { format!(": {}", sentence(step)) };
    format!("{}{step} `{}`", text(&format!("{}{share}", finding.title)), finding.id)
}

fn time(diagnosis: &Diagnosis, style: &Style) -> String {
    match &diagnosis.account {
        Some(account) => {
            let (lines, left, share) = account::lines(account, account::MAX_ROWS, style.explain);
            let more = (left > 0).then(|| {
                let parts = whyslow_model::figures::plural(left as u64, "smaller part");
                format!("{} in {parts}", whyslow_model::figures::percent(share))
            });
            let lines = lines.iter().map(|line| text(&format!("{} {}", line.share, line.text)));
            let by_thread = match style.explain {
                true => by_thread(diagnosis, style, "By thread"),
                false => String::new(),
            };
            let requests = account::requests(account, style.explain).into_iter().map(|line| text(&line));
            let heading = std::iter::once(text(&account::heading(account))).chain(requests);
            let heading = heading.collect::<Vec<_>>().join("\n\n");
            format!("\n### Where the time went\n\n{heading}\n\n{}{by_thread}", bullets(lines.chain(more)))
        }
        None => by_thread(diagnosis, style, "Where the time went"),
    }
}

fn by_thread(diagnosis: &Diagnosis, style: &Style, heading: &str) -> String {
    if diagnosis.time.is_empty() {
        return String::new();
    }
    let shown = if style.explain { usize::MAX } else { MAX_THREADS };
    let threads: Vec<String> = diagnosis
        .time
        .iter()
        .take(shown)
        .filter_map(|thread| {
            let words = parts(thread)?.iter().map(Part::text).collect::<Vec<_>>().join(" · ");
            let wall =
                if thread.wall_ns.is_known() { format!(", {}", thread.wall_ns) } else { String::new() };
            Some(text(&format!("{}{wall}: {words}", phrases::thread_name(thread))))
        })
        .collect();
    let body = if threads.is_empty() {
        "Unknown: the capture shows no durations.\n".to_string()
    } else {
        bullets(threads)
    };
    format!("\n### {heading}\n\n{body}")
}

fn about_capture(diagnosis: &Diagnosis, findings: &[&Finding], style: &Style) -> String {
    let target = &diagnosis.target;
    let notes = phrases::damaged(target)
        .into_iter()
        .chain(target.notes.iter().map(|note| phrases::note(target, note)));
    let notes = phrases::followed(target).map(|line| format!("followed: {line}")).into_iter().chain(notes);
    let notes = notes.map(|note| text(&note));
    let mut out = bullets(findings.iter().map(|finding| short(finding)).chain(notes));
    if !out.is_empty() {
        out = format!("\n### About this capture\n\n{out}");
    }
    let lacking = phrases::lacking(&diagnosis.not_judged);
    let rules = match style.explain {
        true => phrases::not_judged_by_fact(&lacking),
        false => phrases::not_judged(&lacking),
    };
    if let Some(rules) = rules {
        out.push_str(&format!("\nNot judged: {}.\n", text(&rules)));
    }
    let shown = if style.explain { usize::MAX } else { 1 };
    for (supply, _) in phrases::supplies(&lacking).into_iter().take(shown) {
        out.push_str(&format!("\n{}", command(supply)));
    }
    out
}

fn write_row(out: &mut dyn Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    let cells: Vec<String> = cells.collect();
    writeln!(out, "| {} |", cells.join(" | "))
}

fn write_grid(grid: &Grid, out: &mut dyn Write) -> io::Result<()> {
    write_row(out, grid.heads.iter().map(|head| text(head.heading)))?;
    write_row(out, grid.heads.iter().map(|head| if head.figures { "---:" } else { "---" }.to_string()))?;
    for row in &grid.rows {
        write_row(out, row.iter().map(|cell| escaped(cell, false)))?;
    }
    if let Some(total) = &grid.total {
        write_row(
            out,
            total.iter().map(|cell| {
                if cell.is_empty() { String::new() } else { format!("**{}**", escaped(cell, false)) }
            }),
        )?;
    }
    Ok(())
}

fn write_table(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "**{}**\n", text(&table.question))?;
    write_grid(&Grid::of(table, DIGITS), out)?;
    for note in &table.notes {
        writeln!(out, "\n{}", rich(note))?;
    }
    Ok(())
}

fn diff_text(diff: &Diff) -> String {
    let mut out = format!("**{}**\n\n{}\n", text(&diff.verdict), text(&phrases::windows(diff)));
    for group in phrases::change_groups(diff).iter().filter(|group| !group.changes.is_empty()) {
        let changes = group.changes.iter().map(|change| {
            format!("{}\\\n{}", text(&change.title), text(&phrases::change(change, group.absent)))
        });
        out.push_str(&format!("\n### {}\n\n{}", group.heading, bullets(changes)));
    }
    if !diff.figures.is_empty() {
        let mut rows = Vec::new();
        // Writing to memory cannot fail.
        let _ = write_grid(&Grid::of_figures(diff), &mut rows);
        out.push_str(&format!("\n### Measured\n\n{}", String::from_utf8_lossy(&rows)));
    }
    if !diff.refusals.is_empty() {
        out.push_str(&format!(
            "\n### Not claimed\n\n{}",
            bullets(diff.refusals.iter().map(|refusal| rich(refusal)))
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(text("# a_b _c_ *d*"), "\\# a_b \\_c\\_ \\*d\\*");
        assert_eq!(text("- x\n1. y"), "\\- x\\\n1\\. y");
        assert_eq!(text("<script> [a](b) 1.78 s"), "\\<script> \\[a\\](b) 1.78 s");
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("text", "a\n```\nb"), "````text\na\n```\nb\n````\n");
        assert_eq!(fenced("sh", "ls"), "```sh\nls\n```\n");
    }
}
