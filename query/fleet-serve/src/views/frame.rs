//! What all views have around them: the head, the ways to other views, the time, who is logged in.

use crate::answers::Answered;
use crate::range::Range;
use crate::text;
use crate::users::FleetUser;
use maud::{DOCTYPE, Markup, html};
use whyslow_query_fleet::shown;

/// The ways.
const VIEWS: [(&str, &str); 5] = [
    ("/", "Overview"),
    ("/hosts", "Hosts"),
    ("/versions", "Versions"),
    ("/why", "Why"),
    ("/recordings", "Recordings"),
];
/// Spans that are offered.
const SPANS: [&str; 5] = ["1h", "6h", "24h", "3d", "7d"];

/// What a view needs to know of the request.
pub(crate) struct Frame<'f> {
    pub(crate) user: &'f FleetUser,
    pub(crate) range: &'f Range,
    /// The path of the view.
    pub(crate) path: &'static str,
    /// Its own parameters, which the choice of another time keeps.
    pub(crate) pairs: Vec<(&'static str, String)>,
    /// What a form has to bring.
    pub(crate) csrf: &'f str,
}

impl Frame<'_> {
    /// An address of the same span.
    pub(crate) fn link(&self, path: &str, pairs: &[(&str, &str)]) -> String {
        self.range.link(path, pairs)
    }

    /// The same view at another time.
    fn at(&self, since: &str) -> String {
        let range = Range { since: Some(since.to_string()), until: self.range.until.clone() };
        let pairs: Vec<(&str, &str)> =
            self.pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
        range.link(self.path, &pairs)
    }

    /// The same view as JSON.
    fn json(&self) -> Option<String> {
        let path = match self.path {
            "/" => "/api/fleet/findings",
            "/hosts" => "/api/fleet/hosts",
            "/host" => "/api/fleet/host",
            "/service" => "/api/fleet/service",
            "/finding" => "/api/fleet/finding",
            "/why" if !self.pairs.is_empty() => "/api/fleet/why",
            "/versions" if !self.pairs.is_empty() => "/api/fleet/compare",
            _ => return None,
        };
        let pairs: Vec<(&str, &str)> =
            self.pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Some(self.range.link(path, &pairs))
    }

    /// The page.
    pub(crate) fn page(&self, title: &str, body: &Markup) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                (head(title))
                body {
                    a.skip href="#main" { "To the content" }
                    header {
                        nav aria-label="Views" {
                            span.name { "whyslow fleet" }
                            @for (path, name) in VIEWS {
                                a href=(self.range.link(path, &[])) aria-current=[(path == self.path).then_some("page")] { (name) }
                            }
                        }
                        div.user {
                            span { (text::line(&self.user.name)) " (" (self.user.how) ")" }
                            @if self.user.how != "proxy" {
                                form method="post" action="/logout" { input type="hidden" name="csrf" value=(self.csrf); button { "Log out" } }
                            }
                        }
                    }
                    (self.times())
                    main #main tabindex="-1" { h1 { (text::line(title)) } (body) }
                    footer.dim {
                        "Times are UTC. "
                        @if let Some(json) = self.json() { a href=(json) { "This view as JSON" } }
                        span.hint { " Press / to filter the first table." }
                    }
                }
            }
        }
    }

    fn times(&self) -> Markup {
        html! {
            form.times method="get" action=(self.path) aria-label="Time" {
                @for (name, value) in &self.pairs { input type="hidden" name=(name) value=(value); }
                @for span in SPANS {
                    a href=(self.at(span)) aria-current=[(self.range.since() == span).then_some("true")] { (span) }
                }
                label { "from " input name="since" value=(self.range.since()) size="16" maxlength="40" autocomplete="off"; }
                label { "until " input name="until" value=(self.range.until().unwrap_or_default()) placeholder="now" size="16" maxlength="40" autocomplete="off"; }
                button { "Show" }
            }
        }
    }

    /// What is to be said beside an answer.
    pub(crate) fn beside(&self, answered: &Answered) -> Markup {
        html! {
            @if !answered.remarks.is_empty() {
                details.remarks {
                    summary { (format!("{} left out of what was read", plural(answered.remarks.len(), "part was", "parts were"))) }
                    ul { @for remark in answered.remarks.iter().take(20) { li { (text::line(remark)) } } }
                }
            }
            p.dim { (format!("From {} until {}; read in {:.2} s.", shown(answered.span.from), shown(answered.span.until), answered.took.as_secs_f64())) }
        }
    }

    /// What stands in place of an answer.
    pub(crate) fn nothing(&self, said: &str) -> Markup {
        html! { div.said role="status" { @for part in said.lines() { p { (text::line(part)) } } } }
    }
}

/// `1 host`, `2 hosts`.
pub(crate) fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", text::count(count as f64), if count == 1 { one } else { many })
}

pub(crate) fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="referrer" content="same-origin";
            title { (text::line(title)) " - whyslow fleet" }
            link rel="icon" href="data:,";
            link rel="stylesheet" href="/style.css";
            script src="/script.js" defer {}
        }
    }
}

/// A page that says what is wrong, for whoever it is.
pub(crate) fn trouble(title: &str, said: &str) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(title))
            body { main #main { h1 { (title) } @for part in said.lines() { p { (text::line(part)) } } p { a href="/" { "To the overview" } } } }
        }
    }
}
