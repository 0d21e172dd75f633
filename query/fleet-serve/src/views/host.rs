//! One host.

use super::frame::Frame;
use super::parts;
use crate::answers::{Answered, ServedAnswer};
use crate::charts;
use crate::rings::{MOST_SECONDS, USUAL_SECONDS};
use crate::text;
use maud::{Markup, html};
use whyslow_query_fleet::FleetHost;

/// What this user may ask the ring of the host for; nothing where it has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HostMay {
    /// To keep what it has.
    pub(crate) dump: bool,
    /// To record in detail.
    pub(crate) record: bool,
}

/// The view. `said` is what came of asking the ring.
pub(crate) fn host(frame: &Frame<'_>, answered: &Answered, may: HostMay, said: Option<&str>) -> Markup {
    let ServedAnswer::Host(of) = &answered.answer else { return html! {} };
    let body = html! {
        @if let Some(said) = said { (frame.nothing(said)) }
        (agent(of))
        @if may.dump { (dump(frame, of)) }
        @if may.record { (record(frame, of)) }
        section aria-labelledby="findings" {
            h2 #findings { "Findings" }
            @if of.findings.is_empty() { p { "None within the span." } } @else { (parts::lives(frame, "Findings of this host", &of.findings, true)) }
        }
        section aria-labelledby="time" {
            h2 #time { "Where the time of its services goes" }
            @for service in &of.services {
                h3 { a href=(frame.link("/service", &[("name", &service.service)])) { (text::line(&service.service)) } }
                (charts::account(&format!("The time of {}", text::line(&service.service)), &service.account, answered.span, of.step_seconds))
            }
            @if of.services_left_out > 0 { p.dim { (format!("{} services that take less are left out.", of.services_left_out)) } }
        }
        section aria-labelledby="figures" {
            h2 #figures { "Resources" }
            @if of.figures.is_empty() { p { "No figures within the span." } } @else { (figures(of)) }
        }
        (frame.beside(answered))
    };
    frame.page(&format!("Host {}", of.host), &body)
}

fn dump(frame: &Frame<'_>, of: &FleetHost) -> Markup {
    html! {
        form.row method="post" action="/dump" {
            input type="hidden" name="csrf" value=(frame.csrf);
            input type="hidden" name="host" value=(of.host);
            label { "Reason " input name="reason" maxlength="200" size="40" autocomplete="off"; }
            button { "Keep what the ring has now" }
        }
    }
}

fn record(frame: &Frame<'_>, of: &FleetHost) -> Markup {
    html! {
        form.row method="post" action="/record" {
            input type="hidden" name="csrf" value=(frame.csrf);
            input type="hidden" name="host" value=(of.host);
            label { "Seconds " input type="number" name="seconds" min="1" max=(MOST_SECONDS) value=(USUAL_SECONDS) required; }
            label { "Reason " input name="reason" maxlength="200" size="40" autocomplete="off"; }
            button { "Record in detail" }
            span.dim { "It costs the recorded programs more than the ring does, and answers when it is over." }
        }
    }
}

fn agent(of: &FleetHost) -> Markup {
    let agent = &of.agent;
    let facts = [
        ("state", if agent.silent { "silent".to_string() } else { "reports".to_string() }),
        ("agent", text::known(agent.version.as_ref())),
        ("kernel", text::known(agent.kernel.as_ref())),
        ("mode", text::known(agent.mode.as_ref())),
        ("last minute", text::stamp(&agent.last)),
        ("lag", text::seconds(agent.lag_seconds)),
        ("minutes", text::count(agent.minutes as f64)),
        ("CPU of the agent", text::share(agent.cpu_share)),
        (
            "memory of the agent",
            agent.memory_bytes.map_or_else(|| "-".to_string(), whyslow_query_fleet::bytes),
        ),
        ("events lost", text::share(agent.lost)),
        ("gave up", text::known(agent.shed.as_ref())),
        (
            "clock ahead by",
            agent.clock_skew_seconds.map_or_else(|| "-".to_string(), |skew| format!("{skew:.3} s")),
        ),
        (
            "parts waiting",
            agent.parts_waiting.map_or_else(|| "-".to_string(), |count| text::count(count as f64)),
        ),
    ];
    html! { dl.facts { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } } }
}

fn figures(of: &FleetHost) -> Markup {
    let rows = html! {
        @for figure in of.figures.iter().take(parts::MOST_ROWS) {
            tr {
                th scope="row" { (text::line(&figure.resource)) }
                td { (text::line(&figure.metric)) }
                td.figure { (text::figure(figure.mean)) }
                td.figure { (text::figure(figure.most)) }
                td { (text::line(&figure.unit)) }
                td { (charts::spark(&figure.course.iter().map(|(_, value)| *value).collect::<Vec<f64>>())) }
            }
        }
    };
    html! { (parts::table("Resources of this host", &["resource", "metric", ">mean", ">most", "unit", "over time"], &rows)) (parts::left_out(of.figures.len())) }
}
