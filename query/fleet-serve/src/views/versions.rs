//! What a version costs beside another one.

use super::frame::Frame;
use super::parts;
use crate::answers::{Answered, NoAnswer, ServedAnswer};
use crate::text;
use maud::{Markup, html};
use std::sync::Arc;
use whyslow_query_fleet::ServiceComparison;

/// The view; without a question it asks for one.
pub(crate) fn versions(
    frame: &Frame<'_>,
    old: &str,
    new: &str,
    asked: Option<&Result<Arc<Answered>, NoAnswer>>,
) -> Markup {
    let body = html! {
        form.row method="get" action="/versions" {
            @for (name, value) in frame.range.pairs() { input type="hidden" name=(name) value=(value); }
            label { "Version " input name="old" value=(old) size="16" required autocomplete="off"; }
            label { "beside " input name="new" value=(new) size="16" required autocomplete="off"; }
            button { "Compare" }
        }
        @match asked {
            None => { p { "It says what a version costs beside another one, of each service that ran in both. Over many hosts choose a short time." } }
            Some(Err(why)) => { (frame.nothing(&why.text())) }
            Some(Ok(answered)) => {
                @if let ServedAnswer::Compare(all) = &answered.answer {
                    @for service in &all.services { (told(frame, service)) }
                }
                (frame.beside(answered))
            }
        }
    };
    frame.page("Versions side by side", &body)
}

fn told(frame: &Frame<'_>, service: &ServiceComparison) -> Markup {
    let number = |value: f64, measure: &str| match measure {
        "failed" => text::share(Some(value)),
        _ => text::nanos(value),
    };
    let rows = html! {
        @for figure in service.figures.iter().take(parts::MOST_ROWS) {
            tr {
                th scope="row" { (text::line(&figure.words)) }
                td.figure { (number(figure.old, figure.measure)) }
                td.figure { (number(figure.new, figure.measure)) }
                td { (figure.verdict) }
            }
        }
    };
    html! {
        section {
            h2 { a href=(frame.link("/service", &[("name", &service.service)])) { (text::line(&service.service)) } }
            p.dim { (format!("Per {}, of {} and {} hosts; a value is that of a {}.{}", service.per, service.old_hosts, service.new_hosts, service.value_of,
                if service.same_time { "" } else { " The versions did not run at the same time." })) }
            (parts::table(&format!("Costs of {}", text::line(&service.service)), &["what", ">before", ">after", "verdict"], &rows))
        }
    }
}
