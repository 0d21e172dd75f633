//! What a service did more of than usual around a time.

use super::frame::{Frame, plural};
use super::parts;
use crate::answers::{Answered, NoAnswer, ServedAnswer};
use crate::text;
use maud::{Markup, html};
use std::sync::Arc;
use whyslow_query_fleet::FleetWhy;

/// The view; without a question it asks for one.
pub(crate) fn why(
    frame: &Frame<'_>,
    service: &str,
    at: &str,
    asked: Option<&Result<Arc<Answered>, NoAnswer>>,
) -> Markup {
    let body = html! {
        form.row method="get" action="/why" {
            @for (name, value) in frame.range.pairs() { input type="hidden" name=(name) value=(value); }
            label { "Service " input name="service" value=(service) size="30" required autocomplete="off"; }
            label { "at " input name="at" value=(at) placeholder="03:12" size="16" maxlength="40" required autocomplete="off"; }
            button { "Ask" }
        }
        @match asked {
            None => { p { "It says what a service did more of than usual around a time, and on which hosts." } }
            Some(Err(why)) => { (frame.nothing(&why.text())) }
            Some(Ok(answered)) => {
                @if let ServedAnswer::Why(why) = &answered.answer { (told(frame, why)) }
                (frame.beside(answered))
            }
        }
    };
    frame.page("Why was it slow then?", &body)
}

fn told(frame: &Frame<'_>, why: &FleetWhy) -> Markup {
    let rows = html! {
        @for suspect in &why.suspects {
            tr {
                th scope="row" { (text::line(&suspect.process)) ": " (text::line(&suspect.words)) }
                td.figure { (text::nanos(suspect.now_ns_per_second)) }
                td.figure { (text::nanos(suspect.usual_ns_per_second)) @if suspect.against != "own" { " (others)" } }
                td.figure { (text::count(suspect.hosts as f64)) }
                td { @match &suspect.since { Some(since) => { (text::stamp(since)) } None => { "-" } } }
                td { (text::known(suspect.line.as_ref())) }
                td { @for (at, host) in suspect.some_hosts.iter().enumerate() { @if at > 0 { ", " } a href=(frame.link("/host", &[("name", host)])) { (text::line(host)) } }
                    @if suspect.hosts > suspect.some_hosts.len() { (format!(" and {} more", suspect.hosts - suspect.some_hosts.len())) } }
            }
        }
    };
    let requests = why.requests.as_ref().map(|then| {
        [
            (
                "requests a second and host",
                text::rate(Some(then.per_second)),
                text::rate(then.usual_per_second),
            ),
            ("mean", text::time(then.mean_ns), text::time(then.usual_mean_ns)),
            ("p99", text::time(then.p99_ns), text::time(then.usual_p99_ns)),
            ("failed", text::share(then.failed), text::share(then.usual_failed)),
        ]
    });
    html! {
        p.lead { (text::line(&why.sentence)) }
        @if !why.suspects.is_empty() {
            (parts::table("What took more", &["what took more", ">a second", ">usually", ">hosts", "since", "line", "on"], &rows))
        }
        @if let Some(requests) = requests {
            @let rows = html! { @for (name, then, usual) in &requests { tr { th scope="row" { (name) } td.figure { (then) } td.figure { (usual) } } } };
            (parts::table("Requests there", &["requests", ">then", ">usually"], &rows))
        }
        @if !why.findings.is_empty() {
            h2 { "Findings of that time" }
            ul { @for found in &why.findings {
                li { a href=(frame.link("/finding", &[("rule", &found.rule), ("service", &why.service)])) { (text::line(&found.rule)) }
                    " on " (plural(found.hosts, "host", "hosts")) ", since " (text::stamp(&found.since)) ": " (text::line(&found.title)) }
            } }
        }
        p { a href=(frame.link("/service", &[("name", &why.service)])) { "The service over time" } }
    }
}
