//! All hosts: their agents' versions, lag and losses.

use super::frame::Frame;
use super::parts;
use crate::answers::{Answered, ServedAnswer};
use crate::text;
use maud::{Markup, html};

/// The view.
pub(crate) fn hosts(frame: &Frame<'_>, answered: &Answered) -> Markup {
    let ServedAnswer::Hosts(all) = &answered.answer else { return html! {} };
    let rows = html! {
        @for host in all.hosts.iter().take(parts::MOST_ROWS * 4) {
            tr {
                th scope="row" { a href=(frame.link("/host", &[("name", &host.host)])) { (text::line(&host.host)) } }
                td { @if host.silent { span.mark.warning { "silent" } } @else { "reports" } }
                td { (text::known(host.version.as_ref())) }
                td { (text::known(host.kernel.as_ref())) }
                td { (text::known(host.mode.as_ref())) }
                td { (text::stamp(&host.last)) }
                td.figure { (text::seconds(host.lag_seconds)) }
                td.figure { (text::count(host.minutes as f64)) }
                td.figure { (text::share(host.cpu_share)) }
                td.figure { (host.memory_bytes.map_or_else(|| "-".to_string(), whyslow_query_fleet::bytes)) }
                td.figure { (text::share(host.lost)) }
                td.figure { (host.clock_skew_seconds.map_or_else(|| "-".to_string(), |skew| format!("{skew:.3} s"))) }
                td.figure { (host.parts_waiting.map_or_else(|| "-".to_string(), |count| text::count(count as f64))) }
                td { (text::known(host.shed.as_ref())) }
            }
        }
    };
    let headings = [
        "host", "state", "version", "kernel", "mode", "last", ">lag", ">minutes", ">CPU", ">memory", ">lost",
        ">skew", ">waiting", "gave up",
    ];
    let body = html! {
        (parts::table("Hosts and their agents", &headings, &rows))
        @if all.hosts.len() > parts::MOST_ROWS * 4 { p.dim { (format!("The first {} of {} are shown; the JSON has all.", parts::MOST_ROWS * 4, all.hosts.len())) } }
        (frame.beside(answered))
    };
    frame.page("Hosts", &body)
}
