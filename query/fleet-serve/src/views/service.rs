//! One service: its time, its requests, its findings, its hosts.

use super::frame::{Frame, plural};
use super::parts;
use crate::answers::{Answered, NoAnswer, ServedAnswer};
use crate::charts;
use crate::text;
use maud::{Markup, html};
use std::sync::Arc;
use whyslow_query_fleet::FleetService;

/// The view.
pub(crate) fn service(
    frame: &Frame<'_>,
    answered: &Answered,
    findings: &Result<Arc<Answered>, NoAnswer>,
) -> Markup {
    let ServedAnswer::Service(of) = &answered.answer else { return html! {} };
    let name = text::line(&of.service);
    let body = html! {
        (versions(of))
        @if of.hosts_read < of.hosts.len() {
            p { (format!("Time and requests below are those of {} of {}, chosen evenly.", of.hosts_read, plural(of.hosts.len(), "host", "hosts"))) }
        }
        section aria-labelledby="time" {
            h2 #time { "Where the time goes" }
            (charts::account(&format!("The time of {name}"), &of.account, answered.span, of.step_seconds))
            form.row method="get" action="/why" {
                input type="hidden" name="service" value=(of.service);
                @for (name, value) in frame.range.pairs() { input type="hidden" name=(name) value=(value); }
                label { "What was other than usual at " input name="at" placeholder="03:12" size="16" maxlength="40" required autocomplete="off"; }
                button { "Ask" }
            }
        }
        section aria-labelledby="requests" {
            h2 #requests { "Requests" }
            @if of.requests.is_empty() { p { "No requests are known of this span." } } @else {
                (charts::percentiles(&format!("Durations of requests to {name}"), &of.requests, answered.span, of.step_seconds))
                (endpoints(of))
            }
        }
        section aria-labelledby="findings" {
            h2 #findings { "Findings" }
            @match findings {
                Err(why) => { (frame.nothing(&why.text())) }
                Ok(found) => { @if let ServedAnswer::Findings(found) = &found.answer {
                    @if found.groups.is_empty() { p { "None within the span." } } @else { (parts::findings(frame, "Findings of this service", found)) }
                } }
            }
        }
        section aria-labelledby="hosts" { h2 #hosts { "Hosts" } (hosts(frame, of)) }
        (frame.beside(answered))
    };
    frame.page(&format!("Service {}", of.service), &body)
}

fn versions(of: &FleetService) -> Markup {
    html! {
        p {
            "Runs on " (plural(of.hosts.len(), "host", "hosts")) ": "
            @for (at, (version, hosts)) in of.versions.iter().take(8).enumerate() {
                @if at > 0 { ", " }
                (version.as_ref().map_or_else(|| "version unknown".to_string(), |version| text::line(version))) (format!(" on {hosts}"))
            }
            @if of.versions.len() > 8 { (format!(" and {} more versions", of.versions.len() - 8)) }
        }
    }
}

fn endpoints(of: &FleetService) -> Markup {
    let rows = html! {
        @for endpoint in of.endpoints.iter().take(parts::MOST_ROWS) {
            tr {
                th scope="row" { (text::cut(&endpoint.endpoint, 200)) }
                td { (text::line(&endpoint.protocol)) }
                td.figure { (text::count(endpoint.sums.requests)) }
                td.figure { (text::share(endpoint.sums.failed)) }
                td.figure { (text::time(endpoint.sums.mean_ns)) }
                td.figure { (text::time(endpoint.sums.p50_ns)) }
                td.figure { (text::time(endpoint.sums.p90_ns)) }
                td.figure { (text::time(endpoint.sums.p99_ns)) }
            }
        }
    };
    html! { (parts::table("Requests by endpoint", &["endpoint", "protocol", ">requests", ">failed", ">mean", ">p50", ">p90", ">p99"], &rows)) (parts::left_out(of.endpoints.len())) }
}

fn hosts(frame: &Frame<'_>, of: &FleetService) -> Markup {
    let rows = html! {
        @for host in of.hosts.iter().take(parts::MOST_ROWS) {
            tr {
                th scope="row" { a href=(frame.link("/host", &[("name", &host.host)])) { (text::line(&host.host)) } }
                td { (text::known(host.version.as_ref())) }
                td.figure { (text::nanos(host.states.values().sum())) }
                td { (charts::states(&host.states)) }
            }
        }
    };
    html! { (parts::table("Hosts that run it", &["host", "version", ">time a second", "where it goes"], &rows)) (parts::left_out(of.hosts.len())) }
}
