//! The addresses: views for people, the same answers as JSON below `/api/fleet/`, and what asks a ring to keep what it has, or to record.

use crate::answers::{Answered, NoAnswer, ServedAnswer, ServedQuestion};
use crate::audit::{AuditLine, now, short};
use crate::entry::{Told, Visitor, enter, refused};
use crate::logins;
use crate::range::Range;
use crate::rings::RingWish;
use crate::settings::FleetRole;
use crate::site::Site;
use crate::users::FleetUser;
use crate::views::{self, Frame};
use axum::extract::{DefaultBodyLimit, Form, Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use maud::Markup;
use serde::Deserialize;
use std::sync::Arc;
use whyslow_query_fleet::GroupColumn;

/// Bytes of a request's body.
const MOST_BODY: usize = 64 << 10;
/// What findings are put together by in views.
const BY: [GroupColumn; 3] = [GroupColumn::Rule, GroupColumn::Service, GroupColumn::Severity];

type Shared = State<Arc<Site>>;
type Who = Extension<Visitor>;

/// What an address may say; each view takes what it knows.
#[derive(Clone, Default, Debug, Deserialize)]
struct Asked {
    name: Option<String>,
    rule: Option<String>,
    service: Option<String>,
    at: Option<String>,
    old: Option<String>,
    new: Option<String>,
    by: Option<String>,
    open: Option<String>,
    since: Option<String>,
    until: Option<String>,
}

impl Asked {
    fn range(&self) -> Range {
        Range { since: self.since.clone(), until: self.until.clone() }
    }

    fn need(of: Option<&String>, name: &str) -> Result<String, NoAnswer> {
        let given = of.filter(|text| !text.is_empty()).cloned();
        given.ok_or_else(|| NoAnswer::Question(format!("the address needs `{name}`")))
    }
}

/// A text that is there and not empty.
fn some(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.is_empty()).cloned()
}

/// All addresses, behind the checks.
pub(crate) fn router(site: Arc<Site>) -> Router {
    Router::new()
        .route("/", get(overview))
        .route("/hosts", get(hosts))
        .route("/host", get(host))
        .route("/service", get(service))
        .route("/finding", get(finding))
        .route("/why", get(why))
        .route("/versions", get(versions))
        .route("/recordings", get(recordings))
        .route("/dump", post(dump))
        .route("/record", post(record))
        .route("/login", get(logins::login).post(logins::token))
        .route("/login/oidc", get(logins::to_provider))
        .route("/login/oidc/callback", get(logins::from_provider))
        .route("/logout", post(logins::logout))
        .route("/style.css", get(style))
        .route("/script.js", get(script))
        .route("/api/fleet/{question}", get(json))
        .with_state(site.clone())
        .merge(site.pages.router())
        .fallback(|| async { refused("/", StatusCode::NOT_FOUND, "there is nothing at this address") })
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(from_fn_with_state(site, enter))
}

async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("text/css; charset=utf-8"))], include_str!("style.css"))
}

async fn script() -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, HeaderValue::from_static("text/javascript; charset=utf-8"))],
        include_str!("script.js"),
    )
}

/// The status of what has no answer.
fn status(why: &NoAnswer) -> StatusCode {
    match why {
        NoAnswer::Question(_) => StatusCode::BAD_REQUEST,
        NoAnswer::Nothing(_) => StatusCode::NOT_FOUND,
        NoAnswer::Store(_) => StatusCode::BAD_GATEWAY,
        NoAnswer::TooLong => StatusCode::GATEWAY_TIMEOUT,
        NoAnswer::TooLarge(_) | NoAnswer::Busy => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// The status of a view of several answers: what took too long is told even where others are shown; else one answer is enough.
fn status_of_all(all: &[&Result<Arc<Answered>, NoAnswer>]) -> StatusCode {
    let whys: Vec<&NoAnswer> = all.iter().filter_map(|answer| answer.as_ref().err()).collect();
    match whys.iter().find(|why| matches!(why, NoAnswer::TooLong)) {
        Some(why) => status(why),
        None if whys.len() == all.len() => whys.first().map_or(StatusCode::OK, |why| status(why)),
        None => StatusCode::OK,
    }
}

/// A view for who is logged in; the guard let nobody else come here.
fn shown(
    visitor: &Visitor,
    range: &Range,
    path: &'static str,
    pairs: Vec<(&'static str, String)>,
    view: impl FnOnce(&Frame<'_>) -> (StatusCode, Markup),
) -> Response {
    let Some(user) = &visitor.user else {
        return refused(path, StatusCode::UNAUTHORIZED, "nobody is logged in");
    };
    let frame = Frame { user, range, path, pairs, csrf: &visitor.csrf };
    let (status, page) = view(&frame);
    (status, Html(page.into_string())).into_response()
}

/// A view of one answer, or of why there is none.
fn of_answer(
    frame: &Frame<'_>,
    title: &str,
    asked: Result<Arc<Answered>, NoAnswer>,
    view: impl FnOnce(&Answered) -> Markup,
) -> (StatusCode, Markup) {
    match asked {
        Ok(answered) => (StatusCode::OK, view(&answered)),
        Err(why) => (status(&why), frame.page(title, &frame.nothing(&why.text()))),
    }
}

async fn overview(State(site): Shared, Extension(visitor): Who, Query(asked): Query<Asked>) -> Response {
    let range = asked.range();
    let findings = ServedQuestion::Findings { by: BY.to_vec(), service: None, open: true };
    let (findings, services, hosts) = tokio::join!(
        site.answers.ask(findings, &range),
        site.answers.ask(ServedQuestion::Services, &range),
        site.answers.ask(ServedQuestion::Hosts, &range),
    );
    let code = status_of_all(&[&findings, &services, &hosts]);
    shown(&visitor, &range, "/", Vec::new(), |frame| {
        (code, views::overview(frame, &findings, &services, &hosts))
    })
}

async fn hosts(State(site): Shared, Extension(visitor): Who, Query(asked): Query<Asked>) -> Response {
    let range = asked.range();
    let answer = site.answers.ask(ServedQuestion::Hosts, &range).await;
    shown(&visitor, &range, "/hosts", Vec::new(), |frame| {
        of_answer(frame, "Hosts", answer, |answered| views::hosts(frame, answered))
    })
}

async fn host(State(site): Shared, Extension(visitor): Who, Query(asked): Query<Asked>) -> Response {
    of_host(&site, &visitor, &asked, None).await
}

async fn of_host(site: &Site, visitor: &Visitor, asked: &Asked, said: Option<&str>) -> Response {
    let range = asked.range();
    let name = Asked::need(asked.name.as_ref(), "name");
    let answer = match &name {
        Ok(name) => site.answers.ask(ServedQuestion::Host(name.clone()), &range).await,
        Err(why) => Err(why.clone()),
    };
    let name = name.unwrap_or_default();
    let has_ring = site.rings.has(&name);
    let may = |role| has_ring && visitor.user.as_ref().is_some_and(|user| user.may(role));
    let may = views::HostMay { dump: may(FleetRole::Dump), record: may(FleetRole::Record) };
    let pairs = vec![("name", name.clone())];
    shown(visitor, &range, "/host", pairs, |frame| match answer {
        Ok(answered) => (StatusCode::OK, views::host(frame, &answered, may, said)),
        Err(why) => {
            let why_text = why.text();
            let both = [said, Some(&*why_text)].into_iter().flatten().collect::<Vec<&str>>().join("\n");
            (status(&why), frame.page(&format!("Host {name}"), &frame.nothing(&both)))
        }
    })
}

async fn service(State(site): Shared, Extension(visitor): Who, Query(asked): Query<Asked>) -> Response {
    let range = asked.range();
    let name = Asked::need(asked.name.as_ref(), "name");
    let (answer, findings) = match &name {
        Ok(name) => {
            let findings =
                ServedQuestion::Findings { by: BY.to_vec(), service: Some(name.clone()), open: false };
            tokio::join!(
                site.answers.ask(ServedQuestion::Service(name.clone()), &range),
                site.answers.ask(findings, &range)
            )
        }
        Err(why) => (Err(why.clone()), Err(why.clone())),
    };
    let name = name.unwrap_or_default();
    let pairs = vec![("name", name.clone())];
    let code = status_of_all(&[&answer, &findings]);
    shown(&visitor, &range, "/service", pairs, |frame| {
        let (own, page) = of_answer(frame, &format!("Service {name}"), answer, |answered| {
            views::service(frame, answered, &findings)
        });
        (if own == StatusCode::OK { code } else { own }, page)
    })
}

async fn finding(State(site): Shared, Extension(visitor): Who, Query(asked): Query<Asked>) -> Response {
    let range = asked.range();
    let (rule, service) = (Asked::need(asked.rule.as_ref(), "rule"), some(asked.service.as_ref()));
    let answer = match &rule {
        Ok(rule) => {
            site.answers
                .ask(ServedQuestion::Finding { rule: rule.clone(), service: service.clone() }, &range)
                .await
        }
        Err(why) => Err(why.clone()),
    };
    let places: Vec<String> = match &answer {
        Ok(answered) => match &answered.answer {
            ServedAnswer::Finding(of) => of.kept.iter().map(|kept| kept.place.clone()).collect(),
            _ => Vec::new(),
        },
        Err(_) => Vec::new(),
    };
    let pages = site.pages.clone();
    let numbers = tokio::task::spawn_blocking(move || {
        places.iter().map(|place| pages.named_like(place)).collect::<Vec<Option<u32>>>()
    });
    let numbers = numbers.await.unwrap_or_default();
    let rule = rule.unwrap_or_default();
    let pairs = [Some(("rule", rule.clone())), service.map(|service| ("service", service))]
        .into_iter()
        .flatten()
        .collect();
    shown(&visitor, &range, "/finding", pairs, |frame| {
        of_answer(frame, &rule, answer, |answered| views::finding(frame, answered, &numbers))
    })
}

async fn why(State(site): Shared, Extension(visitor): Who, Query(asked): Query<Asked>) -> Response {
    let range = asked.range();
    let (service, at) = (some(asked.service.as_ref()), some(asked.at.as_ref()));
    let answer = match (&service, &at) {
        (Some(service), Some(at)) => Some(
            site.answers.ask(ServedQuestion::Why { service: service.clone(), at: at.clone() }, &range).await,
        ),
        _ => None,
    };
    let code = answer.as_ref().and_then(|answer| answer.as_ref().err()).map_or(StatusCode::OK, status);
    let pairs = [service.clone().map(|service| ("service", service)), at.clone().map(|at| ("at", at))]
        .into_iter()
        .flatten()
        .collect();
    shown(&visitor, &range, "/why", pairs, |frame| {
        (
            code,
            views::why(
                frame,
                service.as_deref().unwrap_or_default(),
                at.as_deref().unwrap_or_default(),
                answer.as_ref(),
            ),
        )
    })
}

async fn versions(State(site): Shared, Extension(visitor): Who, Query(asked): Query<Asked>) -> Response {
    let range = asked.range();
    let (old, new) = (some(asked.old.as_ref()), some(asked.new.as_ref()));
    let answer = match (&old, &new) {
        (Some(old), Some(new)) => {
            let question = ServedQuestion::Compare {
                old: old.clone(),
                new: new.clone(),
                service: some(asked.service.as_ref()),
            };
            Some(site.answers.ask(question, &range).await)
        }
        _ => None,
    };
    let code = answer.as_ref().and_then(|answer| answer.as_ref().err()).map_or(StatusCode::OK, status);
    let pairs = [old.clone().map(|old| ("old", old)), new.clone().map(|new| ("new", new))]
        .into_iter()
        .flatten()
        .collect();
    shown(&visitor, &range, "/versions", pairs, |frame| {
        (
            code,
            views::versions(
                frame,
                old.as_deref().unwrap_or_default(),
                new.as_deref().unwrap_or_default(),
                answer.as_ref(),
            ),
        )
    })
}

async fn recordings(State(site): Shared, Extension(visitor): Who, Query(asked): Query<Asked>) -> Response {
    let (range, pages) = (asked.range(), site.pages.clone());
    let listed = tokio::task::spawn_blocking(move || pages.list()).await;
    let Ok((all, left_out)) = listed else {
        return refused("/recordings", StatusCode::INTERNAL_SERVER_ERROR, "it failed: a mistake of ours");
    };
    shown(&visitor, &range, "/recordings", Vec::new(), |frame| {
        (StatusCode::OK, views::recordings(frame, &all, left_out))
    })
}

/// The same answers as `whyslow fleet … --json`.
async fn json(State(site): Shared, Path(question): Path<String>, Query(asked): Query<Asked>) -> Response {
    let question = question_of(&question, &asked);
    let answer = match question {
        Ok(question) => site.answers.ask(question, &asked.range()).await,
        Err(why) => Err(why),
    };
    match answer {
        Ok(answered) => Json(&answered.answer).into_response(),
        Err(why) => (status(&why), Json(serde_json::json!({ "error": why.text() }))).into_response(),
    }
}

fn question_of(name: &str, asked: &Asked) -> Result<ServedQuestion, NoAnswer> {
    let service = some(asked.service.as_ref());
    Ok(match name {
        "findings" => {
            let by = asked.by.as_deref().unwrap_or("rule,service,version");
            let by: Result<Vec<GroupColumn>, String> = by.split(',').map(str::parse).collect();
            let open = asked.open.as_deref().is_some_and(|open| open != "0" && open != "false");
            ServedQuestion::Findings { by: by.map_err(NoAnswer::Question)?, service, open }
        }
        "services" => ServedQuestion::Services,
        "service" => ServedQuestion::Service(Asked::need(asked.name.as_ref(), "name")?),
        "hosts" => ServedQuestion::Hosts,
        "host" => ServedQuestion::Host(Asked::need(asked.name.as_ref(), "name")?),
        "finding" => ServedQuestion::Finding { rule: Asked::need(asked.rule.as_ref(), "rule")?, service },
        "where" => ServedQuestion::Where { rule: Asked::need(asked.rule.as_ref(), "rule")?, service },
        "why" => ServedQuestion::Why {
            service: Asked::need(asked.service.as_ref(), "service")?,
            at: Asked::need(asked.at.as_ref(), "at")?,
        },
        "compare" => ServedQuestion::Compare {
            old: Asked::need(asked.old.as_ref(), "old")?,
            new: Asked::need(asked.new.as_ref(), "new")?,
            service,
        },
        other => {
            let said = format!(
                "{}: choose of findings, services, service, hosts, host, finding, where, why, compare",
                short(other)
            );
            return Err(NoAnswer::Nothing(said));
        }
    })
}

#[derive(Deserialize)]
struct RingForm {
    csrf: Option<String>,
    host: String,
    reason: Option<String>,
    /// Of a recording.
    seconds: Option<String>,
}

/// Asks the ring of a host to keep what it has.
async fn dump(State(site): Shared, Extension(visitor): Who, Form(given): Form<RingForm>) -> Response {
    let Some(user) = visitor.user.clone().filter(|user| user.may(FleetRole::Dump)) else {
        return refused("/dump", StatusCode::FORBIDDEN, "none of your groups may have recordings kept");
    };
    ask_ring(&site, &visitor, &user, &given, Ok(RingWish::Dump)).await
}

/// Has the ring of a host record in detail.
async fn record(State(site): Shared, Extension(visitor): Who, Form(given): Form<RingForm>) -> Response {
    let Some(user) = visitor.user.clone().filter(|user| user.may(FleetRole::Record)) else {
        return refused("/record", StatusCode::FORBIDDEN, "none of your groups may begin recordings");
    };
    let wish = RingWish::record(given.seconds.as_deref().unwrap_or_default());
    ask_ring(&site, &visitor, &user, &given, wish).await
}

/// Asks the ring of a host for somebody who may. It stands in the log before it is asked and when it answered.
async fn ask_ring(
    site: &Site,
    visitor: &Visitor,
    user: &FleetUser,
    given: &RingForm,
    wish: Result<RingWish, String>,
) -> Response {
    let path = if matches!(wish, Ok(RingWish::Dump)) { "/dump" } else { "/record" };
    if !visitor.brings(given.csrf.as_deref().unwrap_or_default()) {
        return refused(
            path,
            StatusCode::FORBIDDEN,
            "the form is not one of this session: load the page again",
        );
    }
    let wish = match wish {
        Ok(wish) => wish,
        Err(why) => return refused(path, StatusCode::BAD_REQUEST, &why),
    };
    let reason = given
        .reason
        .as_deref()
        .map(str::trim)
        .filter(|reason| !reason.is_empty())
        .unwrap_or("asked for by whyslow fleet serve");
    let reason = format!("{} ({})", short(reason), user.name);
    let line = |status: Option<u16>, note: Option<String>| {
        let mut parameters =
            vec![("host".to_string(), short(&given.host)), ("reason".to_string(), short(&reason))];
        if let RingWish::Record(seconds) = wish {
            parameters.push(("seconds".to_string(), seconds.to_string()));
        }
        AuditLine {
            time: now(),
            event: wish.name(),
            user: Some(user.name.clone()),
            how: Some(user.how),
            from: visitor.from.clone(),
            method: "POST".to_string(),
            path: path.to_string(),
            parameters,
            status,
            note,
        }
    };
    if let Err(error) = site.audit.write(&line(None, None)) {
        site.complain(&error.to_string());
        return refused(
            path,
            StatusCode::SERVICE_UNAVAILABLE,
            "the audit log cannot be written, and nothing is asked for without it",
        );
    }
    let answer = site.rings.ask(&given.host, wish, &reason).await;
    let (code, said) = match (&answer, wish) {
        (Ok(said), RingWish::Dump) => (StatusCode::OK, format!("The ring keeps what it had: {said}")),
        (Ok(said), RingWish::Record(_)) => (StatusCode::OK, format!("It is recorded: {said}")),
        (Err(why), RingWish::Dump) => (StatusCode::BAD_GATEWAY, format!("Nothing was kept: {why}")),
        (Err(why), RingWish::Record(_)) => (StatusCode::BAD_GATEWAY, format!("Nothing was recorded: {why}")),
    };
    if let Err(error) = site.audit.write(&line(Some(code.as_u16()), Some(said.clone()))) {
        site.complain(&error.to_string());
    }
    let asked = Asked { name: Some(given.host.clone()), ..Asked::default() };
    let mut response = match visitor.session.is_some() || user.how == "proxy" {
        true => of_host(site, visitor, &asked, Some(&said)).await,
        false => Json(serde_json::json!({ "host": given.host, "said": said })).into_response(),
    };
    *response.status_mut() = code;
    response.extensions_mut().insert(Told);
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use whyslow_query_engine::QueryError;
    use whyslow_query_fleet::{FleetError, FleetSpan};

    #[test]
    fn each_reason_for_no_answer_has_its_status() {
        let of = |error: FleetError| status(&NoAnswer::from(error)).as_u16();
        assert_eq!(of(QueryError::TooLong(Duration::from_secs(50)).into()), 504);
        assert_eq!(of(QueryError::TooLarge("1 GiB".to_string()).into()), 503);
        assert_eq!(of(QueryError::Failed("a decoder".to_string()).into()), 502);
        assert_eq!(of(FleetError::Time { text: "soon".to_string() }), 400);
        assert_eq!(of(FleetError::Nothing("no such host".to_string())), 404);
        assert_eq!(status(&NoAnswer::Busy).as_u16(), 503);
        assert!(NoAnswer::TooLong.text().contains("next: ask about a shorter time"));
    }

    #[test]
    fn a_view_of_several_answers_tells_that_one_took_too_long() {
        use whyslow_query_fleet::FleetHosts;
        let hosts = FleetHosts {
            schema: "whyslow.fleet-hosts/1",
            from: String::new(),
            until: String::new(),
            hosts: Vec::new(),
            read: Default::default(),
        };
        let answered = Ok(Arc::new(Answered {
            answer: ServedAnswer::Hosts(hosts),
            span: FleetSpan { from: 0, until: 1 },
            remarks: Vec::new(),
            took: Duration::ZERO,
        }));
        let nothing = Err(NoAnswer::Nothing("none".to_string()));
        let late = Err(NoAnswer::TooLong);
        let code = |all: &[&Result<Arc<Answered>, NoAnswer>]| status_of_all(all).as_u16();
        assert_eq!(code(&[&answered, &nothing]), 200);
        assert_eq!(code(&[&nothing, &nothing]), 404);
        assert_eq!(code(&[&answered, &late]), 504);
        assert_eq!(code(&[&nothing, &late]), 504);
    }
}
