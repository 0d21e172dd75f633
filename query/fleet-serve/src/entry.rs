//! The way in: each request is judged here, gets to know who asks, and stands in the audit log afterwards.

use crate::audit::{AuditLine, now, plain_parameters};
use crate::guard::{Peer, Refusal, cookie_of};
use crate::rings::{MOST_SECONDS, PATIENCE};
use crate::settings::FleetRole;
use crate::site::Site;
use crate::users::{FleetUser, hashed, hex, same};
use crate::views;
use axum::extract::connect_info::ConnectInfo;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;
use whyslow_query_serve::seal;

/// A request that takes longer is given up; rings take their time, and so does the page that is shown behind it.
const MOST_TIME: Duration = PATIENCE.saturating_add(Duration::from_secs(60));
/// The same of one that has a ring record.
const MOST_TIME_TO_RECORD: Duration = MOST_TIME.saturating_add(Duration::from_secs(MOST_SECONDS));

/// What a browser lets a view do: our style sheet and script, forms to us, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Who it is, for what comes behind the guard.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    /// Who is logged in.
    pub(crate) user: Option<FleetUser>,
    /// From where, as the log tells it.
    pub(crate) from: String,
    /// The session's own text, where there is one.
    pub(crate) session: Option<String>,
    /// What forms have to bring.
    pub(crate) csrf: String,
}

/// What anybody gets: what the form to log in is made of.
fn is_open(path: &str) -> bool {
    matches!(path, "/login" | "/login/oidc" | "/login/oidc/callback" | "/style.css" | "/script.js")
}

/// Who it is; `Err` where a token was brought that is none.
fn visitor(site: &Site, peer: Peer, headers: &HeaderMap) -> Result<Visitor, (Refusal, String)> {
    let from = site.guard.from(peer, headers);
    let csrf = |of: &str| hex(&hashed(&format!("{} csrf {of}", site.secret)));
    let as_user = |user: Option<FleetUser>, session: Option<String>, csrf: String| Visitor {
        user,
        from: from.clone(),
        session,
        csrf,
    };
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        if site.failures.too_many(&from) {
            return Err((
                (
                    StatusCode::TOO_MANY_REQUESTS,
                    "too many logins failed from there; try again in ten minutes",
                ),
                from,
            ));
        }
        let token = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
        return match token.and_then(|token| site.tokens.owner(token)) {
            Some(user) => Ok(as_user(Some(user), None, String::new())),
            None => {
                site.failures.add(&from);
                Err(((StatusCode::UNAUTHORIZED, "the token is none that is known here"), from))
            }
        };
    }
    if let Some(user) = site.guard.by_proxy(&site.settings, peer, headers) {
        let own = csrf(&format!("proxy {}", user.name));
        return Ok(as_user(Some(user), None, own));
    }
    let session = cookie_of(headers, site.guard.session_name());
    let user = session.as_deref().and_then(|session| site.sessions.user(session));
    let own = session.as_deref().map(csrf).unwrap_or_default();
    Ok(as_user(user, session, own))
}

impl Visitor {
    /// Whether a form was one of ours: who came by a token has no form.
    pub(crate) fn brings(&self, csrf: &str) -> bool {
        let by_token = self.user.as_ref().is_some_and(|user| user.how == "token") && self.session.is_none();
        by_token || !self.csrf.is_empty() && same(&hashed(&self.csrf), &hashed(csrf))
    }
}

/// The checks, and what every answer says to the browser.
pub(crate) async fn enter(
    State(site): State<Arc<Site>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    mut request: Request,
    next: Next,
) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_string());
    let mut line = AuditLine {
        event: "request",
        from: site.guard.from(peer, request.headers()),
        method: method.to_string(),
        path: crate::audit::short(&path),
        parameters: plain_parameters(request.uri().query()),
        ..AuditLine::default()
    };
    let judged = site
        .guard
        .judge(peer, &method, &path, request.headers())
        .map_err(|refusal| (refusal, line.from.clone()));
    let judged = judged.and_then(|()| visitor(&site, peer, request.headers()));
    let mut response = match judged {
        Err(((status, said), _)) => {
            line.event = if status == StatusCode::UNAUTHORIZED { "login-failed" } else { "refused" };
            refused(&path, status, said)
        }
        Ok(visitor) => {
            line.user = visitor.user.as_ref().map(|user| user.name.clone());
            line.how = visitor.user.as_ref().map(|user| user.how);
            let may = visitor.user.as_ref().map(|user| user.may(FleetRole::Read));
            match may {
                _ if is_open(&path) => {
                    request.extensions_mut().insert(visitor);
                    in_time(next, request).await
                }
                Some(true) => {
                    request.extensions_mut().insert(visitor);
                    in_time(next, request).await
                }
                Some(false) => refused(
                    &path,
                    StatusCode::FORBIDDEN,
                    "you are logged in, and none of your groups may read this",
                ),
                None if path.starts_with("/api/") || method != Method::GET => refused(
                    &path,
                    StatusCode::UNAUTHORIZED,
                    "nobody is logged in: send `Authorization: Bearer TOKEN`, or log in at /login",
                ),
                None => to_login(&request),
            }
        }
    };
    line.status = Some(response.status().as_u16());
    line.time = now();
    // What handlers logged themselves (a login, a wish to a ring) stands there already, with more.
    let is_told = response.extensions().get::<Told>().is_some();
    let is_logged = !is_told && (!is_open(&path) || line.event != "request");
    if is_logged && let Err(error) = site.audit.write(&line) {
        let said = "the audit log cannot be written, and nothing is answered without it";
        response = refused(&path, StatusCode::SERVICE_UNAVAILABLE, said);
        site.complain(&error.to_string());
    }
    let headers = response.headers_mut();
    let is_page =
        headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if is_page && !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    }
    if site.settings.is_encrypted() {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    seal(&mut response);
    if is_page {
        // Browsers name no origin in forms of pages that tell no referrer at all.
        response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    }
    response
}

/// Marks an answer whose line the handler wrote.
#[derive(Clone, Copy)]
pub(crate) struct Told;

async fn in_time(next: Next, request: Request) -> Response {
    let path = request.uri().path().to_string();
    let longest = if path == "/record" { MOST_TIME_TO_RECORD } else { MOST_TIME };
    match tokio::time::timeout(longest, next.run(request)).await {
        Ok(response) => response,
        Err(_) => refused(&path, StatusCode::GATEWAY_TIMEOUT, "it took too long"),
    }
}

/// As JSON where data was asked for, else as a page.
pub(crate) fn refused(path: &str, status: StatusCode, said: &str) -> Response {
    match path.starts_with("/api/") {
        true => (status, axum::Json(serde_json::json!({ "error": said }))).into_response(),
        false => (
            status,
            Html(views::trouble(status.canonical_reason().unwrap_or("It did not work"), said).into_string()),
        )
            .into_response(),
    }
}

fn to_login(request: &Request) -> Response {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("next", request.uri().path_and_query().map_or("/", |to| to.as_str()));
    let to = format!("/login?{}", query.finish());
    match HeaderValue::from_str(&to) {
        Ok(to) => (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response(),
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}
