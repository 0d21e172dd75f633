//! A server on a fleet, and what asks it.

use crate::generate::{FleetPlan, FleetTruth, HOUR, generate};
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;
use whyslow_query_fleet::FleetStore;
use whyslow_query_fleet_serve::{FleetBind, FleetServeSettings, FleetServer};
use whyslow_query_serve::{AnswerFuture, PagesOptions, QuestionLimits, Questions, RecordingPages};

/// A token that may read, one that may have recordings kept, and one that may begin them.
pub(crate) const READER: &str = "reader-0123456789abcdef";
pub(crate) const KEEPER: &str = "keeper-0123456789abcdef";
pub(crate) const RECORDER: &str = "recorder-0123456789abcdef";
/// The span of the shared fleet.
pub(crate) const SPAN: &str = "since=6h&until=2026-11-27";

/// Answers nothing.
struct NoQuestions;

impl Questions for NoQuestions {
    fn ask(&self, _: PathBuf, _: String, _: QuestionLimits) -> AnswerFuture {
        Box::pin(async { Err("no SQL here".to_string()) })
    }

    fn tables(&self, _: PathBuf) -> AnswerFuture {
        Box::pin(async { Err("no SQL here".to_string()) })
    }
}

/// One at a time of the tests that ask much: a question has 50 s, and a debug build on few CPUs needs them.
pub(crate) async fn alone() -> tokio::sync::MutexGuard<'static, ()> {
    static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    TURN.lock().await
}

/// 20 hosts over 6 hours.
pub(crate) fn shared() -> (&'static Path, FleetTruth) {
    static MADE: OnceLock<(TempDir, FleetTruth)> = OnceLock::new();
    let (place, truth) = MADE.get_or_init(|| {
        let plan = FleetPlan { hosts: 20, hours: 6, until: 498_816 * HOUR, loose: 1, seed: 5 };
        let place = TempDir::new().unwrap();
        generate(&plan, place.path()).unwrap();
        let truth = plan.truth();
        (place, truth)
    });
    (place.path(), truth.clone())
}

/// A server, with a folder of its own.
pub(crate) struct Served {
    pub(crate) folder: TempDir,
    pub(crate) url: String,
    pub(crate) address: String,
    client: reqwest::Client,
}

impl Served {
    /// On that fleet with these settings beside three tokens; `{folder}` in them is the server's own.
    pub(crate) fn new(root: &Path, settings: &str) -> Served {
        let tokens = "[[token]]\nname='reader'\nfile='{folder}/reader'\nroles=['read']\n\
                      [[token]]\nname='keeper'\nfile='{folder}/keeper'\nroles=['dump']\n\
                      [[token]]\nname='recorder'\nfile='{folder}/recorder'\nroles=['record']\n";
        Served::with(
            root,
            &format!("audit='{{folder}}/audit.jsonl'\nrecordings=['{{folder}}/kept']\n{settings}\n{tokens}"),
        )
    }

    /// With these settings alone.
    pub(crate) fn with(root: &Path, settings: &str) -> Served {
        let folder = TempDir::new().unwrap();
        let at = folder.path().to_str().unwrap();
        std::fs::create_dir(folder.path().join("kept")).unwrap();
        std::fs::write(folder.path().join("reader"), format!("{READER}\n")).unwrap();
        std::fs::write(folder.path().join("keeper"), format!("{KEEPER}\n")).unwrap();
        std::fs::write(folder.path().join("recorder"), format!("{RECORDER}\n")).unwrap();
        let text = settings.replace("{folder}", at);
        let text = if text.contains("bind") { text } else { format!("bind='127.0.0.1:0'\n{text}") };
        let file = folder.path().join("settings.toml");
        std::fs::write(&file, text).unwrap();
        let server = FleetServer::open(FleetServeSettings::read(&file).unwrap(), |_| ()).unwrap();
        let address = match &server.at {
            FleetBind::Address(at) => at.to_string(),
            FleetBind::Unix(path) => path.display().to_string(),
        };
        // A program that always says that it cannot.
        let whyslow = folder.path().join("whyslow");
        std::fs::write(&whyslow, "#!/bin/sh\necho 'no diagnosis today' >&2\nexit 2\n").unwrap();
        let pages = PagesOptions {
            paths: vec![folder.path().join("kept")],
            show_secrets: false,
            whyslow,
            cache: Some(folder.path().join("cache")),
        };
        let pages = RecordingPages::open(pages, Arc::new(NoQuestions)).unwrap();
        let (url, store) = (server.url.clone(), FleetStore::open(root.to_str().unwrap()).unwrap());
        let open = Arc::new(move |options| store.fleet(options));
        tokio::spawn(server.run(open, Some(2), pages, std::future::pending()));
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .unwrap();
        Served { folder, url, address, client }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("http://{}{path}", self.address))
    }

    /// As who may read.
    pub(crate) async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).bearer_auth(READER).send().await.unwrap()
    }

    pub(crate) async fn page(&self, path: &str) -> String {
        let answer = self.get(path).await;
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert!(status.is_success(), "{path}: {status}: {text}");
        text
    }

    pub(crate) async fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.page(path).await).unwrap()
    }

    /// A form, as a browser of this site sends it.
    pub(crate) async fn post(&self, path: &str, cookie: &str, pairs: &[(&str, &str)]) -> Response {
        let body: String = form(pairs);
        let request = self.request(Method::POST, path).header("origin", format!("http://{}", self.address));
        let request =
            request.header("cookie", cookie).header("content-type", "application/x-www-form-urlencoded");
        request.body(body).send().await.unwrap()
    }

    /// Logs in by the form: the cookie.
    pub(crate) async fn session(&self, token: &str) -> String {
        let answer = self.post("/login", "", &[("token", token), ("next", "/hosts")]).await;
        assert_eq!(answer.status(), 303);
        cookies(answer.headers())
    }

    /// The lines of the audit log.
    pub(crate) fn audit(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("audit.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// An answer as JSON.
pub(crate) async fn json_of(answer: Response) -> Value {
    serde_json::from_str(&answer.text().await.unwrap()).unwrap()
}

pub(crate) fn form(pairs: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// What a browser would send back of the cookies that are set.
pub(crate) fn cookies(headers: &HeaderMap<HeaderValue>) -> String {
    let set =
        headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap().split(';').next().unwrap());
    set.filter(|pair| !pair.ends_with('=')).collect::<Vec<&str>>().join("; ")
}

/// The form's secret in a page.
pub(crate) fn csrf(page: &str) -> String {
    let at = page.find("name=\"csrf\" value=\"").unwrap() + 19;
    page[at..].split('"').next().unwrap().to_string()
}
