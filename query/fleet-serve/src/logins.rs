//! Logging in and out: by a token in a form, at the provider, and the end of a session. Each stands in the audit log.

use crate::audit::{AuditLine, now};
use crate::entry::{Told, Visitor, refused};
use crate::guard::own_path;
use crate::settings::FleetRole;
use crate::site::Site;
use crate::users::{FleetUser, hashed, same};
use crate::views;
use axum::Extension;
use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use serde::Deserialize;
use std::sync::Arc;

type Shared = State<Arc<Site>>;
type Who = Extension<Visitor>;

/// How long a login at the provider may take, seconds.
const FLOW_SECONDS: u64 = 600;

#[derive(Deserialize)]
pub(crate) struct Next {
    next: Option<String>,
    /// The token of the address that was printed where no login is set up.
    token: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct TokenForm {
    next: Option<String>,
    token: String,
}

#[derive(Deserialize)]
pub(crate) struct LogoutForm {
    csrf: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Callback {
    state: Option<String>,
    code: Option<String>,
    error: Option<String>,
}

/// Writes a line; `Some` is what is answered where it could not be written.
fn told(
    site: &Site,
    visitor: &Visitor,
    event: &'static str,
    user: Option<&FleetUser>,
    status: StatusCode,
    note: Option<String>,
) -> Option<Response> {
    let line = AuditLine {
        time: now(),
        event,
        user: user.map(|user| user.name.clone()),
        how: user.map(|user| user.how),
        from: visitor.from.clone(),
        path: "/login".to_string(),
        status: Some(status.as_u16()),
        note,
        ..AuditLine::default()
    };
    site.audit.write(&line).err().map(|error| {
        site.complain(&error.to_string());
        marked(refused(
            "/login",
            StatusCode::SERVICE_UNAVAILABLE,
            "the audit log cannot be written, and nothing is answered without it",
        ))
    })
}

fn marked(mut response: Response) -> Response {
    response.extensions_mut().insert(Told);
    response
}

fn form(site: &Site, status: StatusCode, next: &str, said: Option<&str>) -> Response {
    (status, Html(views::login(next, !site.tokens.is_empty(), site.oidc.is_some(), said).into_string()))
        .into_response()
}

/// Begins a session and leads on; `direct` is false where another site sent the browser here.
fn begin(site: &Site, visitor: &Visitor, user: FleetUser, next: &str, direct: bool) -> Response {
    if !user.may(FleetRole::Read) {
        let said = "you are logged in, and none of your groups may read this";
        let refusal = told(
            site,
            visitor,
            "login-failed",
            Some(&user),
            StatusCode::FORBIDDEN,
            Some("no role".to_string()),
        );
        return refusal.unwrap_or_else(|| marked(form(site, StatusCode::FORBIDDEN, next, Some(said))));
    }
    // What the browser had before is no session any more: nobody can have planted it.
    if let Some(session) = &visitor.session {
        site.sessions.end(session);
    }
    let seconds = site.settings.session_seconds();
    let session = match site.sessions.begin(user.clone()) {
        Ok(session) => session,
        Err(error) => {
            site.complain(&error.to_string());
            return marked(refused("/login", StatusCode::INTERNAL_SERVER_ERROR, "no session could be begun"));
        }
    };
    if let Some(refusal) = told(site, visitor, "login", Some(&user), StatusCode::OK, None) {
        site.sessions.end(&session);
        return refusal;
    }
    let next = own_path(next);
    let mut response = match (direct, HeaderValue::from_str(&next)) {
        (true, Ok(to)) => (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response(),
        _ => Html(views::sent_on(&next).into_string()).into_response(),
    };
    for cookie in
        [site.guard.session_cookie(&session, seconds), site.guard.flow_cookie("", 0)].into_iter().flatten()
    {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    marked(response)
}

/// The form; or the login of the address that was printed.
pub(crate) async fn login(
    State(site): Shared,
    Extension(visitor): Who,
    Query(asked): Query<Next>,
) -> Response {
    let next = own_path(asked.next.as_deref().unwrap_or("/"));
    match asked.token {
        Some(token) if !site.settings.has_login() => by_token(&site, &visitor, &token, &next),
        _ => form(&site, StatusCode::OK, &next, None),
    }
}

/// The form comes back.
pub(crate) async fn token(
    State(site): Shared,
    Extension(visitor): Who,
    Form(given): Form<TokenForm>,
) -> Response {
    let next = own_path(given.next.as_deref().unwrap_or("/"));
    by_token(&site, &visitor, &given.token, &next)
}

fn by_token(site: &Site, visitor: &Visitor, token: &str, next: &str) -> Response {
    let refuse = |status: StatusCode, said: &str| {
        let refusal = told(site, visitor, "login-failed", None, status, None);
        refusal.unwrap_or_else(|| marked(form(site, status, next, Some(said))))
    };
    if site.failures.too_many(&visitor.from) {
        return refuse(
            StatusCode::TOO_MANY_REQUESTS,
            "too many logins failed from there; try again in ten minutes",
        );
    }
    match site.tokens.owner(token) {
        Some(user) => {
            site.failures.forget(&visitor.from);
            begin(site, visitor, user, next, true)
        }
        None => {
            site.failures.add(&visitor.from);
            refuse(StatusCode::UNAUTHORIZED, "the token is none that is known here")
        }
    }
}

/// To the provider.
pub(crate) async fn to_provider(State(site): Shared, Query(asked): Query<Next>) -> Response {
    let next = own_path(asked.next.as_deref().unwrap_or("/"));
    let Some(oidc) = &site.oidc else {
        return refused("/login", StatusCode::NOT_FOUND, "no provider is set up here");
    };
    match oidc.begin(&next).await {
        Ok((to, state)) => {
            let Ok(to) = HeaderValue::from_str(to.as_str()) else {
                return StatusCode::BAD_GATEWAY.into_response();
            };
            let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response();
            if let Some(cookie) = site.guard.flow_cookie(&state, FLOW_SECONDS) {
                response.headers_mut().append(header::SET_COOKIE, cookie);
            }
            response
        }
        Err(why) => {
            site.complain(&format!("login at the provider: {why}"));
            form(
                &site,
                StatusCode::BAD_GATEWAY,
                &next,
                Some("the provider cannot be asked now; the server's log says why"),
            )
        }
    }
}

/// Back from the provider.
pub(crate) async fn from_provider(
    State(site): Shared,
    Extension(visitor): Who,
    headers: HeaderMap,
    Query(said): Query<Callback>,
) -> Response {
    let refuse = |status: StatusCode, why: &str| {
        site.complain(&format!("login at the provider: {}", crate::audit::short(why)));
        site.failures.add(&visitor.from);
        let refusal = told(&site, &visitor, "login-failed", None, status, Some(crate::audit::short(why)));
        refusal.unwrap_or_else(|| {
            marked(form(&site, status, "/", Some("the login did not work; the server's log says why")))
        })
    };
    let Some(oidc) = &site.oidc else {
        return refused("/login", StatusCode::NOT_FOUND, "no provider is set up here");
    };
    if site.failures.too_many(&visitor.from) {
        return refuse(StatusCode::TOO_MANY_REQUESTS, "too many logins failed from there");
    }
    // The browser that comes back must be the one that went: else somebody could be logged in as somebody else.
    let own = site.guard.flow_of(&headers);
    let state = said.state.filter(|state| own.is_some_and(|own| same(&hashed(&own), &hashed(state))));
    let Some(state) = state else {
        return refuse(StatusCode::BAD_REQUEST, "the browser that came back did not begin this login");
    };
    if let Some(error) = said.error {
        return refuse(StatusCode::FORBIDDEN, &format!("the provider says {error}"));
    }
    let Some(code) = said.code else { return refuse(StatusCode::BAD_REQUEST, "the provider sent no code") };
    match oidc.finish(&state, &code).await {
        Ok((user, next)) => begin(&site, &visitor, user, &next, false),
        Err(why) => refuse(StatusCode::FORBIDDEN, &why),
    }
}

/// The end of a session.
pub(crate) async fn logout(
    State(site): Shared,
    Extension(visitor): Who,
    Form(given): Form<LogoutForm>,
) -> Response {
    if !visitor.brings(given.csrf.as_deref().unwrap_or_default()) {
        return refused(
            "/logout",
            StatusCode::FORBIDDEN,
            "the form is not one of this session: load the page again",
        );
    }
    if let Some(session) = &visitor.session {
        site.sessions.end(session);
    }
    if let Some(refusal) = told(&site, &visitor, "logout", visitor.user.as_ref(), StatusCode::SEE_OTHER, None)
    {
        return refusal;
    }
    let mut response =
        (StatusCode::SEE_OTHER, [(header::LOCATION, HeaderValue::from_static("/login"))]).into_response();
    if let Some(cookie) = site.guard.session_cookie("", 0) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    marked(response)
}
