//! The addresses: pages for people below `/`, data for them below `/api/`. Whatever takes long is done apart from what answers.

use crate::access::{Access, Verdict};
use crate::calls::CallsAsk;
use crate::found::{Found, Served};
use crate::index::Ask;
use crate::live::{Live, Wish, processes};
use crate::questions::{QuestionLimits, Questions};
use crate::runs::{PageOf, Runs};
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Bytes of a request's body.
const MOST_BODY: usize = 64 << 10;
/// A request that takes longer is given up.
const MOST_TIME: Duration = Duration::from_secs(60);
/// What a question in SQL may take.
const QUESTION: QuestionLimits =
    QuestionLimits { rows: 2_000, bytes: 8 << 20, time: Duration::from_secs(30) };
/// Zooms that are answered side by side: each takes a CPU and some memory.
const ZOOMS: usize = 2;
/// Zooms and questions that wait for their turn; more are sent away.
const WAITING: usize = 64;
/// Questions in SQL side by side.
const QUESTIONS: usize = 2;
/// The first page waits so long for the index to tell something.
const FIRST: Duration = Duration::from_millis(600);

/// What all requests share.
pub(crate) struct Site {
    pub(crate) served: Served,
    pub(crate) runs: Arc<Runs>,
    pub(crate) live: Live,
    pub(crate) questions: Arc<dyn Questions>,
    zooms: Semaphore,
    asks: Semaphore,
    waiting: Semaphore,
}

impl Site {
    pub(crate) fn new(served: Served, runs: Runs, live: Live, questions: Arc<dyn Questions>) -> Site {
        Site {
            served,
            runs: Arc::new(runs),
            live,
            questions,
            zooms: Semaphore::new(ZOOMS),
            asks: Semaphore::new(QUESTIONS),
            waiting: Semaphore::new(WAITING),
        }
    }
}

type Shared = State<Arc<Site>>;

/// What went wrong.
pub(crate) struct Trouble(StatusCode, String);

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "error": self.1 }))).into_response()
    }
}

impl Trouble {
    fn bad(text: impl Into<String>) -> Trouble {
        Trouble(StatusCode::BAD_REQUEST, text.into())
    }

    fn gone() -> Trouble {
        Trouble(StatusCode::NOT_FOUND, "this recording is not there (any more)".to_string())
    }
}

/// All addresses, behind the checks.
pub(crate) fn router(site: Arc<Site>, access: Access) -> Router {
    Router::new()
        .route("/", get(home))
        .route("/api/recordings", get(recordings))
        .route("/api/processes", get(list_processes))
        .route("/api/live", get(live).post(start))
        .route("/api/live/stop", post(stop))
        .with_state(site.clone())
        .merge(pages(site))
        .fallback(|| async { Trouble(StatusCode::NOT_FOUND, "there is nothing at this address".to_string()) })
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(from_fn_with_state(Arc::new(access), guard))
}

/// The pages of recordings and their data. Who asks for them is judged elsewhere.
pub(crate) fn pages(site: Arc<Site>) -> Router {
    Router::new()
        .route("/r/{id}/", get(page))
        .route("/api/r/{id}/status", get(status))
        .route("/api/r/{id}/page", get(data))
        .route("/api/r/{id}/window", get(window))
        .route("/api/r/{id}/call", get(call))
        .route("/api/r/{id}/calls", get(calls))
        .route("/api/r/{id}/tables", get(tables))
        .route("/api/r/{id}/sql", post(sql))
        .with_state(site)
}

/// The checks, and what every answer says to the browser.
async fn guard(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let verdict =
        access.judge(request.method(), request.uri().path(), request.uri().query(), request.headers());
    let mut response = match verdict {
        Verdict::Pass => match tokio::time::timeout(MOST_TIME, next.run(request)).await {
            Ok(response) => response,
            Err(_) => Trouble(StatusCode::GATEWAY_TIMEOUT, "it took too long".to_string()).into_response(),
        },
        Verdict::Welcome { cookie, to } => {
            let mut response = StatusCode::SEE_OTHER.into_response();
            for (name, value) in [(header::SET_COOKIE, cookie), (header::LOCATION, to)] {
                if let Ok(value) = HeaderValue::from_str(&value) {
                    response.headers_mut().insert(name, value);
                }
            }
            response
        }
        Verdict::Refuse(status, text) => Trouble(status, text.to_string()).into_response(),
    };
    seal(&mut response);
    response
}

/// What every answer says to the browser, whoever judged who asks: nothing is kept, nobody else reads or frames it, and nothing runs but what the
/// page itself allows.
pub fn seal(response: &mut Response) {
    let headers = response.headers_mut();
    for (name, value) in [
        ("cache-control", "no-store"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
        let nothing = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox");
        headers.insert(header::CONTENT_SECURITY_POLICY, nothing);
    }
}

fn html(title: &str, source: &str) -> Response {
    let policy = HeaderValue::from_str(&whyslow_page::served_policy());
    let policy = policy.unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"));
    let shell = whyslow_page::served_shell(title, source);
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    ([(header::CONTENT_SECURITY_POLICY, policy), (header::CONTENT_TYPE, kind)], shell).into_response()
}

async fn home() -> Response {
    html("Recordings", "/api/")
}

/// Does what blocks where it may.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Trouble> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Trouble(StatusCode::INTERNAL_SERVER_ERROR, "it failed: a mistake of ours".to_string()))
}

async fn found(site: &Arc<Site>, id: u32) -> Result<Found, Trouble> {
    let site = site.clone();
    apart(move || site.served.get(id)).await?.ok_or_else(Trouble::gone)
}

async fn page(State(site): Shared, Path(id): Path<u32>) -> Result<Response, Trouble> {
    let found = found(&site, id).await?;
    // The work begins while the browser reads the scripts.
    let runs = site.runs.clone();
    let (name, of) = (found.name.clone(), found);
    drop(tokio::task::spawn_blocking(move || runs.look(&of)));
    Ok(html(&whyslow_privacy::redact(&name), &format!("/api/r/{id}/")))
}

async fn recordings(State(site): Shared) -> Result<Json<Value>, Trouble> {
    let of = site.clone();
    let (list, left_out) = apart(move || of.served.list()).await?;
    let list: Vec<Value> = list
        .iter()
        .map(|found| {
            json!({
                "id": found.id,
                "name": whyslow_privacy::redact(&found.name),
                "kind": if found.is_recording { "recording" } else { "capture" },
                "bytes": found.bytes,
                "modified": found.modified,
                "verdict": site.runs.verdict(found.id),
            })
        })
        .collect();
    Ok(Json(json!({ "recordings": list, "left_out": left_out })))
}

async fn list_processes(State(site): Shared) -> Result<Json<Value>, Trouble> {
    if !site.live.status().0.allowed {
        return Ok(Json(json!([])));
    }
    let list = apart(processes).await?;
    Ok(Json(serde_json::to_value(list).unwrap_or_default()))
}

async fn live(State(site): Shared) -> Result<Json<Value>, Trouble> {
    let status = apart(move || {
        let (mut status, path) = site.live.status();
        status.id = path.and_then(|path| site.served.id_of(&path));
        status
    });
    Ok(Json(serde_json::to_value(status.await?).unwrap_or_default()))
}

async fn start(State(site): Shared, Json(wish): Json<Wish>) -> Result<Json<Value>, Trouble> {
    if let Some(why) = site.live.status().0.why {
        return Err(Trouble(StatusCode::FORBIDDEN, why));
    }
    let done = apart(move || site.live.start(&wish)).await?;
    done.map(|()| Json(json!({}))).map_err(|why| Trouble(StatusCode::CONFLICT, why))
}

async fn stop(State(site): Shared) -> Json<Value> {
    site.live.stop();
    Json(json!({}))
}

async fn status(State(site): Shared, Path(id): Path<u32>) -> Result<Json<Value>, Trouble> {
    let found = found(&site, id).await?;
    let status = apart(move || site.runs.look(&found)).await?;
    Ok(Json(serde_json::to_value(status).unwrap_or_default()))
}

/// The page's data: of the diagnosis where it is there, else of the index as far as that is.
async fn data(State(site): Shared, Path(id): Path<u32>) -> Result<Response, Trouble> {
    let found = found(&site, id).await?;
    let name = found.name.clone();
    let runs = site.runs.clone();
    apart(move || runs.look(&found)).await?;
    let body = match site.runs.page(id) {
        PageOf::Ready(file) => {
            let packed = apart(move || std::fs::read(file)).await?.map_err(|_| Trouble::gone())?;
            let headers = [(header::CONTENT_TYPE, "application/json"), (header::CONTENT_ENCODING, "gzip")];
            return Ok((headers, Body::from(packed)).into_response());
        }
        PageOf::Index(index) => {
            apart(move || {
                let began = std::time::Instant::now();
                while !index.is_finished() && began.elapsed() < FIRST {
                    std::thread::sleep(Duration::from_millis(10));
                }
                json!({
                    "title": whyslow_privacy::redact(&name),
                    "report": "",
                    "facts": {
                        "calls": index.rows(), "length": index.length(), "indexed": index.progress(),
                        "folder": index.dir().file_name().map(|name| name.to_string_lossy().into_owned()),
                    },
                    "page": index.overview(&name),
                })
            })
            .await?
        }
        PageOf::Nothing => json!({ "title": whyslow_privacy::redact(&name), "report": "", "page": null }),
    };
    Ok(Json(body).into_response())
}

#[derive(Deserialize)]
struct WindowAsk {
    zero: Option<String>,
    from: i64,
    to: i64,
    pixels: usize,
    /// Numbers with commas between.
    threads: String,
}

async fn window(
    State(site): Shared,
    Path(id): Path<u32>,
    Query(asked): Query<WindowAsk>,
) -> Result<Response, Trouble> {
    let index = {
        found(&site, id).await?;
        site.runs.index(id).map_err(Trouble::bad)?
    };
    let zero = asked.zero.map(|zero| zero.parse()).transpose();
    let zero = zero.map_err(|_| Trouble::bad("`zero` must be a number"))?;
    let tids: Result<Vec<u32>, _> =
        asked.threads.split(',').filter(|tid| !tid.is_empty()).map(str::parse).collect();
    let tids = tids.map_err(|_| Trouble::bad("`threads` must be numbers with commas between"))?;
    let ask = Ask { zero, from: asked.from, to: asked.to, pixels: asked.pixels, tids };
    let _turn = turn(&site, &site.zooms).await?;
    let answer = apart(move || {
        let window = index.window(&ask)?;
        serde_json::to_vec(&window).map_err(|error| error.to_string())
    });
    let body = answer.await?.map_err(Trouble::bad)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// A turn among those who wait; those beyond are sent away.
async fn turn<'a>(site: &'a Site, of: &'a Semaphore) -> Result<impl Drop + 'a, Trouble> {
    let busy = || Trouble(StatusCode::SERVICE_UNAVAILABLE, "too many questions at once".to_string());
    let _waits = site.waiting.try_acquire().map_err(|_| busy())?;
    of.acquire().await.map_err(|_| busy())
}

#[derive(Deserialize)]
struct CallAsk {
    seq: i64,
}

async fn call(
    State(site): Shared,
    Path(id): Path<u32>,
    Query(asked): Query<CallAsk>,
) -> Result<Json<Value>, Trouble> {
    found(&site, id).await?;
    let index = site.runs.index(id).map_err(Trouble::bad)?;
    let _turn = turn(&site, &site.zooms).await?;
    let told = apart(move || index.call(asked.seq)).await?.map_err(Trouble::bad)?;
    told.map(Json).ok_or_else(|| Trouble(StatusCode::NOT_FOUND, "there is no such call".to_string()))
}

async fn ask(site: &Arc<Site>, id: u32, sql: String) -> Result<Value, Trouble> {
    let found = found(site, id).await?;
    let _turn = turn(site, &site.asks).await?;
    site.questions.ask(found.path, sql, QUESTION).await.map_err(Trouble::bad)
}

async fn calls(
    State(site): Shared,
    Path(id): Path<u32>,
    Query(asked): Query<CallsAsk>,
) -> Result<Json<Value>, Trouble> {
    let sql = asked.sql().map_err(Trouble::bad)?;
    Ok(Json(ask(&site, id, sql).await?))
}

async fn tables(State(site): Shared, Path(id): Path<u32>) -> Result<Json<Value>, Trouble> {
    let found = found(&site, id).await?;
    let _turn = turn(&site, &site.asks).await?;
    site.questions.tables(found.path).await.map(Json).map_err(Trouble::bad)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SqlAsk {
    sql: String,
}

async fn sql(
    State(site): Shared,
    Path(id): Path<u32>,
    Json(asked): Json<SqlAsk>,
) -> Result<Json<Value>, Trouble> {
    Ok(Json(ask(&site, id, asked.sql).await?))
}
