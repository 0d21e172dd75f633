//! The overview: open findings, services, and what is wrong with hosts.

use super::frame::{Frame, plural};
use super::parts;
use crate::answers::{Answered, NoAnswer, ServedAnswer};
use crate::charts;
use crate::text;
use maud::{Markup, html};
use std::sync::Arc;
use whyslow_query_fleet::{FleetHosts, FleetServices};

type Asked = Result<Arc<Answered>, NoAnswer>;

/// The view.
pub(crate) fn overview(frame: &Frame<'_>, findings: &Asked, services: &Asked, hosts: &Asked) -> Markup {
    let body = html! {
        section aria-labelledby="open" {
            h2 #open { "Findings that continue" }
            @match findings {
                Err(why) => { (frame.nothing(&why.text())) }
                Ok(answered) => {
                    @if let ServedAnswer::Findings(found) = &answered.answer {
                        @if found.groups.is_empty() {
                            p { (format!("Nothing continues on {}.", plural(found.hosts_reporting, "host", "hosts"))) }
                        } @else { (parts::findings(frame, "Findings that continue", found)) }
                        p { a href=(frame.link("/api/fleet/findings", &[])) { "All findings of the span, as JSON" } }
                    }
                    (frame.beside(answered))
                }
            }
        }
        section aria-labelledby="services" {
            h2 #services { "Services" }
            @match services {
                Err(why) => { (frame.nothing(&why.text())) }
                Ok(answered) => {
                    @if let ServedAnswer::Services(all) = &answered.answer { (of_services(frame, all)) }
                    (frame.beside(answered))
                }
            }
        }
        section aria-labelledby="hosts" {
            h2 #hosts { "Hosts" }
            @match hosts {
                Err(why) => { (frame.nothing(&why.text())) }
                Ok(answered) => {
                    @if let ServedAnswer::Hosts(all) = &answered.answer { (of_hosts(frame, all)) }
                    (frame.beside(answered))
                }
            }
        }
    };
    frame.page("Overview", &body)
}

fn of_services(frame: &Frame<'_>, all: &FleetServices) -> Markup {
    let rows = html! {
        @for service in all.services.iter().take(parts::MOST_ROWS) {
            tr {
                th scope="row" { a href=(frame.link("/service", &[("name", &service.service)])) { (text::line(&service.service)) } }
                td.figure { (text::count(service.hosts as f64)) }
                td { @for (at, (version, hosts)) in service.versions.iter().take(4).enumerate() { @if at > 0 { ", " } (text::line(version)) span.dim { (format!(" ({hosts})")) } } }
                td.figure { (text::nanos(service.states.values().sum())) }
                td { (charts::states(&service.states)) }
                td.figure { (text::rate(service.requests_per_second)) }
                td.figure { (text::time(service.requests.and_then(|sums| sums.p99_ns))) }
                td.figure { (text::share(service.requests.and_then(|sums| sums.failed))) }
            }
        }
    };
    html! {
        (parts::table("Services that run", &["service", ">hosts", "versions", ">time a second and host", "where it goes", ">requests a second", ">p99", ">failed"], &rows))
        (parts::left_out(all.services.len()))
        p.dim { (format!("As of {} until {}.", text::stamp(&all.from), text::stamp(&all.until))) }
    }
}

fn of_hosts(frame: &Frame<'_>, all: &FleetHosts) -> Markup {
    let silent: Vec<&str> =
        all.hosts.iter().filter(|host| host.silent).map(|host| host.host.as_str()).collect();
    let lossy: Vec<&str> = all
        .hosts
        .iter()
        .filter(|host| host.lost.is_some_and(|lost| lost >= 0.001))
        .map(|host| host.host.as_str())
        .collect();
    let named = |names: &[&str]| {
        html! {
            @for (at, name) in names.iter().take(8).enumerate() { @if at > 0 { ", " } a href=(frame.link("/host", &[("name", name)])) { (text::line(name)) } }
            @if names.len() > 8 { (format!(" and {} more", names.len() - 8)) }
        }
    };
    html! {
        p { (plural(all.hosts.len(), "host", "hosts")) " told something within the span. " a href=(frame.link("/hosts", &[])) { "All hosts" } }
        @if !silent.is_empty() { p { span.mark.warning { "silent" } " " (plural(silent.len(), "host is", "hosts are")) " silent at its end: " (named(&silent)) } }
        @if !lossy.is_empty() { p { span.mark.warning { "losses" } " " (plural(lossy.len(), "host loses", "hosts lose")) " events: " (named(&lossy)) } }
    }
}
