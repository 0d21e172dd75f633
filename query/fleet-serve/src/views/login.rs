//! Logging in.

use super::frame::head;
use crate::text;
use maud::{DOCTYPE, Markup, html};

/// The form: by token where there are tokens, by the provider where there is one.
pub(crate) fn login(next: &str, tokens: bool, oidc: bool, said: Option<&str>) -> Markup {
    let to = {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.append_pair("next", next);
        format!("/login/oidc?{}", query.finish())
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            (head("Log in"))
            body {
                main.login #main {
                    h1 { "whyslow fleet" }
                    @if let Some(said) = said { p.said role="alert" { (text::line(said)) } }
                    @if oidc { p { a.button href=(to) { "Log in" } } }
                    @if tokens {
                        form method="post" action="/login" {
                            input type="hidden" name="next" value=(next);
                            label { "Token " input type="password" name="token" required autocomplete="current-password" size="40"; }
                            button { "Log in with a token" }
                        }
                    }
                    @if !oidc && !tokens { p { "Log in through the proxy in front of this server." } }
                }
            }
        }
    }
}

/// Sends the browser on from a page of ours: it brings no cookie that is for our own pages alone where another site sent it.
pub(crate) fn sent_on(next: &str) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content=(format!("0;url={next}"));
                title { "Logged in - whyslow fleet" }
                link rel="stylesheet" href="/style.css";
            }
            body { main { h1 { "Logged in" } p { a href=(next) { "Go on" } } } }
        }
    }
}
