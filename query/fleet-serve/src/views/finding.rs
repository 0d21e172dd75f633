//! One finding over time: where it is, whom it hits, what was measured, what to do.

use super::frame::{Frame, plural};
use super::parts;
use crate::answers::{Answered, ServedAnswer};
use crate::charts;
use crate::text;
use maud::{Markup, html};
use serde_json::Value;
use whyslow_query_fleet::{FindingHistory, RequestSums};

/// Lines of evidence at most.
const MOST_LINES: usize = 20;

/// The view. `page` is the number of the page of a kept recording, by its place in the list.
pub(crate) fn finding(frame: &Frame<'_>, answered: &Answered, pages: &[Option<u32>]) -> Markup {
    let ServedAnswer::Finding(of) = &answered.answer else { return html! {} };
    let title = match &of.service {
        Some(service) => format!("{} of {service}", of.rule),
        None => of.rule.clone(),
    };
    let body = html! {
        (said(of))
        (radius(frame, of))
        section aria-labelledby="history" {
            h2 #history { "Over time" }
            (charts::history(&format!("Hosts with {}", text::line(&of.rule)), &of.slices, answered.span, of.step_seconds))
            (charts::lives(&format!("When each host had {}", text::line(&of.rule)), &of.lives, answered.span))
            (parts::lives(frame, "On which hosts", &of.lives, false))
        }
        (evidence(of))
        (advice(of))
        section aria-labelledby="kept" {
            h2 #kept { "Recordings that were kept for it" }
            @if of.kept.is_empty() { p { "None are told within the span." } } @else { ul {
                @for (at, kept) in of.kept.iter().enumerate() {
                    li {
                        (text::stamp(&kept.at)) ", " (text::line(&kept.host)) ": "
                        @match pages.get(at).copied().flatten() {
                            Some(id) => { a href=(format!("/r/{id}/")) { (text::line(&kept.place)) } }
                            None => { (text::line(&kept.place)) span.dim { " (not among the recordings that are served here)" } }
                        }
                    }
                }
            } }
        }
        (frame.beside(answered))
    };
    frame.page(&title, &body)
}

fn said(of: &FindingHistory) -> Markup {
    let worst = ["critical", "warning", "notice"]
        .into_iter()
        .find(|word| of.lives.iter().any(|life| life.severity == *word));
    html! {
        p.lead {
            @if let Some(worst) = worst { (parts::severity(worst)) " " }
            (format!(
                "Found on {} of {}, first at {}; it continues on {}.",
                text::count(of.radius.hosts as f64),
                plural(of.hosts_reporting, "host", "hosts"),
                of.lives.first().map(|life| text::stamp(&life.since)).unwrap_or_default(),
                text::count(of.radius.open as f64)
            ))
        }
        @if let Some(told) = &of.told {
            blockquote { p { (text::line(&told.title)) } footer.dim { (text::line(&told.host)) ", " (text::stamp(&told.at))
                @if let Some(right) = told.confidence { (format!("; such a finding was right {} of the time in trials", text::share(Some(right)))) } } }
        }
    }
}

fn radius(frame: &Frame<'_>, of: &FindingHistory) -> Markup {
    let radius = &of.radius;
    let row = |name: &str, sums: Option<RequestSums>| {
        html! {
            tr {
                th scope="row" { (name) }
                td.figure { (sums.map_or_else(|| "-".to_string(), |sums| text::count(sums.requests))) }
                td.figure { (text::share(sums.and_then(|sums| sums.failed))) }
                td.figure { (text::time(sums.and_then(|sums| sums.mean_ns))) }
                td.figure { (text::time(sums.and_then(|sums| sums.p50_ns))) }
                td.figure { (text::time(sums.and_then(|sums| sums.p99_ns))) }
            }
        }
    };
    let rows = html! { (row("in minutes that have it", radius.requests)) (row("in other minutes of the same hosts", radius.other_requests)) };
    html! {
        section aria-labelledby="radius" {
            h2 #radius { "Whom it hits" }
            dl.facts {
                div { dt { "hosts" } dd { (text::count(radius.hosts as f64)) " (" (text::share(Some(radius.share_of_hosts))) ")" } }
                div { dt { "services" } dd { @for (at, (service, hosts)) in radius.services.iter().take(10).enumerate() { @if at > 0 { ", " } a href=(frame.link("/service", &[("name", service)])) { (text::line(service)) } (format!(" ({hosts})")) } } }
                div { dt { "versions" } dd { @if radius.versions.is_empty() { "-" } @for (at, (version, hosts)) in radius.versions.iter().take(10).enumerate() { @if at > 0 { ", " } (text::line(version)) (format!(" ({hosts})")) } } }
            }
            @if radius.requests.is_some() || radius.other_requests.is_some() {
                (parts::table("Requests that it hits", &["requests", ">how many", ">failed", ">mean", ">p50", ">p99"], &rows))
                @if radius.hosts_read < radius.hosts { p.dim { (format!("Of {} of {}, chosen evenly.", radius.hosts_read, plural(radius.hosts, "host", "hosts"))) } }
            } @else { p { "No requests are known of these hosts and minutes." } }
        }
    }
}

/// What was measured, as the agent wrote it: JSON that may be anything.
fn evidence(of: &FindingHistory) -> Markup {
    let Some(told) = &of.told else { return html! {} };
    let known: Value = serde_json::from_str(&told.evidence).unwrap_or(Value::Null);
    let texts = |name: &str| -> Vec<String> {
        match &known[name] {
            Value::String(one) if !one.is_empty() => vec![text::cut(one, 2_000)],
            Value::Array(all) => all
                .iter()
                .filter_map(Value::as_str)
                .take(MOST_LINES)
                .map(|one| text::cut(one, 2_000))
                .collect(),
            _ => Vec::new(),
        }
    };
    let measured: Vec<(String, String)> = known["measurements"]
        .as_array()
        .into_iter()
        .flatten()
        .take(MOST_LINES)
        .filter_map(|one| {
            let unit = one["unit"].as_str().unwrap_or_default();
            let value = one["value"].as_f64().map(|value| match unit {
                "ns" => text::nanos(value),
                "share" => text::share(Some(value)),
                "count" => text::figure(value),
                _ => format!("{} {}", text::figure(value), unit.replace('_', " ")),
            })?;
            Some((text::cut(one["name"].as_str()?, 200), text::line(&value)))
        })
        .collect();
    let (cause, fix, lines) = (texts("cause"), texts("fix"), texts("lines"));
    html! {
        section aria-labelledby="evidence" {
            h2 #evidence { "Evidence" }
            @for one in &cause { p { (one) } }
            @if !measured.is_empty() { dl.facts { @for (name, value) in &measured { div { dt { (name) } dd { (value) } } } } }
            @if !lines.is_empty() { pre tabindex="0" role="group" aria-label="Lines that show it" { @for one in &lines { (one) "\n" } } }
            @if cause.is_empty() && measured.is_empty() && lines.is_empty() {
                @if known.is_null() || told.evidence.len() <= 2 { p { "The agent told none." } } @else { pre tabindex="0" role="group" aria-label="Evidence as it was told" { (text::cut(&told.evidence, 2_000)) } }
            }
            @if !fix.is_empty() { h2 { "What to change" } ol { @for one in &fix { li { (one) } } } }
        }
    }
}

/// What the rule's own text says of such findings.
fn advice(of: &FindingHistory) -> Markup {
    let Some(rule) = whyslow_rules::find(&of.rule) else { return html! {} };
    let essay = rule.essay();
    html! {
        section aria-labelledby="rule" {
            h2 #rule { "What such a finding means" }
            @for (heading, body) in chapters(&essay) {
                h3 { (heading) }
                @for piece in body { @match piece { Piece::Text(text) => { p { (text) } } Piece::Code(code) => { pre tabindex="0" role="group" aria-label="Example" { (code) } } } }
            }
        }
    }
}

/// A part of an essay.
#[derive(PartialEq, Debug)]
enum Piece {
    Text(String),
    Code(String),
}

/// The chapters of an essay in Markdown: their headings, and paragraphs and examples. Nothing else is told apart.
fn chapters(essay: &str) -> Vec<(String, Vec<Piece>)> {
    let mut chapters: Vec<(String, Vec<Piece>)> = Vec::new();
    let (mut text, mut code): (String, Option<String>) = (String::new(), None);
    for line in essay.lines().chain(["## "]) {
        match &mut code {
            Some(lines) if line.starts_with("```") => {
                let done = Piece::Code(std::mem::take(lines));
                code = None;
                if let Some((_, pieces)) = chapters.last_mut() {
                    pieces.push(done);
                }
                continue;
            }
            Some(lines) => {
                lines.push_str(line);
                lines.push('\n');
                continue;
            }
            None => {}
        }
        let is_end = line.starts_with("## ") || line.starts_with("```") || line.trim().is_empty();
        if is_end && !text.is_empty() {
            let done = Piece::Text(std::mem::take(&mut text).trim().replace('`', ""));
            if let Some((_, pieces)) = chapters.last_mut() {
                pieces.push(done);
            }
        }
        match line {
            _ if line.starts_with("```") => code = Some(String::new()),
            _ if line.starts_with("## ") => chapters.push((line[3..].trim().to_string(), Vec::new())),
            _ if line.starts_with("# ") || line.trim().is_empty() => {}
            _ => {
                text.push_str(line);
                text.push(' ');
            }
        }
    }
    chapters.retain(|(heading, pieces)| !heading.is_empty() && !pieces.is_empty());
    chapters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn essays_have_chapters_with_text_and_examples() {
        let essay =
            "# id\n\n## What it is\nOne `line`\nmore.\n\nNext.\n\n## Example\n```text\nwrite(1)\n```\n";
        let all = chapters(essay);
        assert_eq!(
            all[0],
            (
                "What it is".to_string(),
                vec![Piece::Text("One line more.".into()), Piece::Text("Next.".into())]
            )
        );
        assert_eq!(all[1], ("Example".to_string(), vec![Piece::Code("write(1)\n".into())]));
        for rule in whyslow_rules::RULES {
            assert!(chapters(&rule.essay()).len() >= 3, "{}", rule.id);
        }
    }
}
