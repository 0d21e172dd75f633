//! Recordings that were kept and are served here.

use super::frame::Frame;
use super::parts;
use crate::text;
use maud::{Markup, html};
use whyslow_query_serve::ServedRecording;

/// The view.
pub(crate) fn recordings(frame: &Frame<'_>, all: &[ServedRecording], left_out: bool) -> Markup {
    let rows = html! {
        @for each in all.iter().take(parts::MOST_ROWS * 2) {
            tr {
                th scope="row" { a href=(format!("/r/{}/", each.id)) { (text::line(&each.name)) } }
                td { @match &each.verdict { Some(verdict) => { (text::line(verdict)) } None => { span.dim { "not looked at yet" } } } }
                td { (whyslow_query_fleet::shown(i64::try_from(each.modified).unwrap_or_default().saturating_mul(1_000_000))) }
                td.figure { (whyslow_query_fleet::bytes(each.bytes)) }
            }
        }
    };
    let body = html! {
        @if all.is_empty() { p { "None are served: name directories of them in `recordings` of the settings, or with --recordings." } }
        @else { (parts::table("Recordings", &["recording", "what was found", "written", ">size"], &rows)) }
        @if left_out { p.dim { "There are more: the first thousand are listed." } }
    };
    frame.page("Recordings", &body)
}
