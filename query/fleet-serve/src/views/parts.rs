//! Tables that several views have.

use super::frame::Frame;
use crate::text;
use maud::{Markup, html};
use whyslow_query_fleet::{FindingLife, FleetFindings};

/// Rows of a table at most.
pub(super) const MOST_ROWS: usize = 500;

/// How grave a finding is, as a word with a colour.
pub(super) fn severity(severity: &str) -> Markup {
    let class = match severity {
        "critical" => "mark critical",
        "warning" => "mark warning",
        "notice" => "mark notice",
        _ => "mark",
    };
    html! { span class=(class) { (text::line(severity)) } }
}

/// A table in a frame that scrolls, with its caption. The script makes headings sort and adds a filter.
pub(super) fn table(caption: &str, headings: &[&str], rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label=(caption) {
            table data-sortable="" {
                caption { (caption) }
                thead { tr { @for heading in headings {
                    th scope="col" class=[heading.starts_with('>').then_some("figure")] { (heading.trim_start_matches('>')) }
                } } }
                tbody { (rows) }
            }
        }
    }
}

/// What a table leaves out.
pub(super) fn left_out(all: usize) -> Markup {
    html! { @if all > MOST_ROWS { p.dim { (format!("The first {MOST_ROWS} of {} are shown; the JSON has all.", text::count(all as f64))) } } }
}

/// Findings by rule, service and severity.
pub(super) fn findings(frame: &Frame<'_>, caption: &str, found: &FleetFindings) -> Markup {
    let of = |by: &std::collections::BTreeMap<&'static str, Option<String>>, name: &str| {
        by.get(name).cloned().flatten().unwrap_or_default()
    };
    let rows = html! {
        @for group in found.groups.iter().take(MOST_ROWS) {
            @let (rule, service) = (of(&group.by, "rule"), of(&group.by, "service"));
            tr {
                td { (severity(&of(&group.by, "severity"))) }
                th scope="row" { a href=(frame.link("/finding", &[("rule", &rule), ("service", &service)])) { (text::line(&rule)) }
                    @if let Some(title) = &group.title { div.dim { (text::cut(title, 160)) } } }
                td { a href=(frame.link("/service", &[("name", &service)])) { (text::line(&service)) } }
                td.figure { (text::count(group.open as f64)) }
                td.figure { (text::count(group.closed as f64)) }
                td.figure { (text::count(group.unknown as f64)) }
                td.figure { (text::share(Some(group.share_of_hosts))) }
                td.figure { (text::share(group.share)) }
                td { (text::stamp(&group.since)) }
                td { (text::stamp(&group.last_seen)) }
            }
        }
    };
    html! {
        (table(caption, &["severity", "finding", "service", ">hosts now", ">ended on", ">not known", ">of all hosts", ">of the time", "since", "last seen"], &rows))
        (left_out(found.groups.len()))
    }
}

/// Findings one by one.
pub(super) fn lives(frame: &Frame<'_>, caption: &str, lives: &[FindingLife], names: bool) -> Markup {
    let rows = html! {
        @for life in lives.iter().take(MOST_ROWS) {
            tr {
                @if names {
                    td { (severity(&life.severity)) }
                    th scope="row" { a href=(frame.link("/finding", &[("rule", &life.rule), ("service", &life.service)])) { (text::line(&life.rule)) } }
                    td { a href=(frame.link("/service", &[("name", &life.service)])) { (text::line(&life.service)) } }
                } @else {
                    th scope="row" { a href=(frame.link("/host", &[("name", &life.host)])) { (text::line(&life.host)) } }
                    td { a href=(frame.link("/service", &[("name", &life.service)])) { (text::line(&life.service)) } }
                }
                td { (text::known(life.version.as_ref())) }
                td { (life.state) }
                td { (text::stamp(&life.since)) }
                td { (text::stamp(&life.last_seen)) }
                td.figure { (text::count(life.minutes as f64)) }
                td.figure { (text::share(life.share)) }
                td { (text::known(life.line.as_ref().or(life.culprit.as_ref()))) }
            }
        }
    };
    let mut headings = match names {
        true => vec!["severity", "finding", "service"],
        false => vec!["host", "service"],
    };
    headings.extend([
        "version",
        "state",
        "opened",
        "last seen",
        ">minutes",
        ">of the time",
        "line or culprit",
    ]);
    html! { (table(caption, &headings, &rows)) (left_out(lives.len())) }
}
