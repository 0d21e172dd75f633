//! Login at a provider: one that signs with a key of its own, as the standard asks, and one that lies.

use crate::fixture::{Served, cookies, form, shared};
use axum::Router;
use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use rcgen::{KeyPair, PublicKeyData};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

const SECRET: &str = "client-secret-0123456789";

/// What it says of who logs in, and what is wrong with it.
struct Provider {
    issuer: String,
    key: KeyPair,
    /// Codes that were given: their nonce and challenge.
    codes: Mutex<HashMap<String, (String, String)>>,
    groups: Value,
    in_userinfo: bool,
    lie: fn(&mut Header, &mut Value),
    foreign_key: bool,
}

impl Provider {
    async fn start(change: impl FnOnce(&mut Provider)) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let key = KeyPair::generate().unwrap();
        let mut provider = Provider {
            issuer: issuer.clone(),
            key,
            codes: Mutex::default(),
            groups: json!(["staff", "sre"]),
            in_userinfo: false,
            lie: |_, _| (),
            foreign_key: false,
        };
        change(&mut provider);
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(about))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .route("/keys", get(keys))
            .route("/me", get(me))
            .with_state(Arc::new(provider));
        tokio::spawn(async move { axum::serve(listener, router).await });
        issuer
    }
}

type Shared = State<Arc<Provider>>;

async fn about(State(of): Shared) -> axum::Json<Value> {
    let at = |path: &str| format!("{}{path}", of.issuer);
    axum::Json(json!({
        "issuer": of.issuer, "authorization_endpoint": at("/authorize"), "token_endpoint": at("/token"), "jwks_uri": at("/keys"),
        "userinfo_endpoint": at("/me"),
    }))
}

async fn keys(State(of): Shared) -> axum::Json<Value> {
    // A point of P-256, without compression.
    let point = of.key.der_bytes();
    let (x, y) = (base64url(&point[1..33]), base64url(&point[33..65]));
    axum::Json(
        json!({ "keys": [{ "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "one", "x": x, "y": y }] }),
    )
}

fn base64url(bytes: &[u8]) -> String {
    // Bit by bit, and not as the server does it.
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    bits.chunks(6)
        .map(|six| {
            DIGITS[six
                .iter()
                .chain(std::iter::repeat(&0))
                .take(6)
                .fold(0, |all, bit| all << 1 | usize::from(*bit))] as char
        })
        .collect()
}

/// Whoever comes is logged in at once.
async fn authorize(State(of): Shared, Query(asked): Query<HashMap<String, String>>) -> Response {
    assert_eq!((asked["response_type"].as_str(), asked["client_id"].as_str()), ("code", "whyslow"));
    assert_eq!(asked["code_challenge_method"], "S256");
    assert_eq!(asked["scope"], "openid groups");
    let code = format!("code{}", of.codes.lock().unwrap().len());
    of.codes.lock().unwrap().insert(code.clone(), (asked["nonce"].clone(), asked["code_challenge"].clone()));
    let to = format!("{}?{}", asked["redirect_uri"], form(&[("code", &code), ("state", &asked["state"])]));
    (StatusCode::SEE_OTHER, [("location", to)]).into_response()
}

async fn token(
    State(of): Shared,
    headers: HeaderMap,
    Form(given): Form<HashMap<String, String>>,
) -> Response {
    let refuse =
        |error: &str| (StatusCode::BAD_REQUEST, axum::Json(json!({ "error": error }))).into_response();
    // `whyslow:client-secret-0123456789` in base64.
    if headers["authorization"] != "Basic d2h5c2xvdzpjbGllbnQtc2VjcmV0LTAxMjM0NTY3ODk=" {
        return refuse("invalid_client");
    }
    let Some((nonce, challenge)) = of.codes.lock().unwrap().remove(&given["code"]) else {
        return refuse("invalid_grant");
    };
    use sha2::{Digest, Sha256};
    if base64url(&Sha256::digest(given["code_verifier"].as_bytes())) != challenge {
        return refuse("invalid_grant");
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let mut claims = json!({
        "iss": of.issuer, "sub": "17", "aud": "whyslow", "exp": now + 300, "iat": now, "nonce": nonce, "preferred_username": "ann",
    });
    if !of.in_userinfo {
        claims["groups"] = of.groups.clone();
    }
    let mut header = Header::new(Algorithm::ES256);
    header.kid = Some("one".to_string());
    (of.lie)(&mut header, &mut claims);
    let other = KeyPair::generate().unwrap();
    let key = if of.foreign_key { &other } else { &of.key };
    let key = match header.alg {
        Algorithm::ES256 => EncodingKey::from_ec_der(&key.serialize_der()),
        _ => EncodingKey::from_secret(SECRET.as_bytes()),
    };
    let token = encode(&header, &claims, &key).unwrap();
    axum::Json(json!({ "access_token": "access", "token_type": "Bearer", "id_token": token })).into_response()
}

async fn me(State(of): Shared, headers: HeaderMap) -> Response {
    assert_eq!(headers["authorization"], "Bearer access");
    axum::Json(json!({ "sub": "17", "groups": of.groups })).into_response()
}

fn served(issuer: &str) -> Served {
    let (root, _) = shared();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let settings = format!(
        "bind='127.0.0.1:{port}'\nurl='http://127.0.0.1:{port}'\n[oidc]\nissuer='{issuer}'\nclient_id='whyslow'\n\
         client_secret_file='{{folder}}/secret'\nscopes=['groups']\nroles={{read=['staff'],dump=['sre']}}"
    );
    // The secret is written before the server reads it.
    Served::with(root, &settings.replace("{folder}/secret", &secret_file()))
}

fn secret_file() -> String {
    static FILE: std::sync::OnceLock<tempfile::NamedTempFile> = std::sync::OnceLock::new();
    let file = FILE.get_or_init(|| {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), SECRET).unwrap();
        file
    });
    file.path().to_str().unwrap().to_string()
}

/// A browser's way to the provider and back: the cookie that it has then, and the address that leads back.
async fn there(served: &Served) -> (String, String) {
    let away = served.request(Method::GET, "/login/oidc?next=%2Frecordings").send().await.unwrap();
    assert_eq!(away.status(), 303, "{}", away.text().await.unwrap());
    let set = away.headers()["set-cookie"].to_str().unwrap();
    assert!(set.contains("HttpOnly; SameSite=Lax"), "{set}");
    let cookie = cookies(away.headers());
    let client =
        reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap();
    let back = client.get(away.headers()["location"].to_str().unwrap()).send().await.unwrap();
    let back = back.headers()["location"].to_str().unwrap().to_string();
    (cookie, back.split_once(&served.address).unwrap().1.to_string())
}

async fn back(served: &Served, cookie: &str, path: &str) -> reqwest::Response {
    let request = served.request(Method::GET, path).header("cookie", cookie.to_string());
    request.header("sec-fetch-site", "cross-site").header("sec-fetch-mode", "navigate").send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_the_provider_knows_gets_in_with_their_groups_roles() {
    for in_userinfo in [false, true] {
        let served = served(&Provider::start(|provider| provider.in_userinfo = in_userinfo).await);
        let (cookie, path) = there(&served).await;
        let answer = back(&served, &cookie, &path).await;
        assert_eq!(answer.status(), 200);
        let session = cookies(answer.headers());
        let text = answer.text().await.unwrap();
        assert!(text.contains("content=\"0;url=/recordings\""), "{text}");
        let page = served.request(Method::GET, "/recordings").header("cookie", session).send().await.unwrap();
        assert_eq!(page.status(), 200);
        assert!(page.text().await.unwrap().contains("ann (oidc)"));
        // A code and a state are good for one time.
        assert_eq!(back(&served, &cookie, &path).await.status(), 403);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_in_no_group_gets_nowhere() {
    let served = served(&Provider::start(|provider| provider.groups = json!(["guests"])).await);
    let (cookie, path) = there(&served).await;
    let answer = back(&served, &cookie, &path).await;
    assert_eq!(answer.status(), 403);
    assert!(answer.headers().get("set-cookie").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn another_browser_cannot_end_a_login() {
    let served = served(&Provider::start(|_| ()).await);
    let (_, path) = there(&served).await;
    assert_eq!(back(&served, "", &path).await.status(), 400);
    let (other, _) = there(&served).await;
    assert_eq!(back(&served, &other, &path).await.status(), 400);
    let (cookie, path) = there(&served).await;
    let foreign = path.replace("code=", "code=x");
    assert_eq!(back(&served, &cookie, &foreign).await.status(), 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_lies_is_refused() {
    type Lie = fn(&mut Header, &mut Value);
    let lies: [(&str, Lie); 7] = [
        ("issuer", |_, claims| claims["iss"] = json!("http://evil.example")),
        ("audience", |_, claims| claims["aud"] = json!("other")),
        ("nonce", |_, claims| claims["nonce"] = json!("other")),
        ("expired", |_, claims| claims["exp"] = json!(1_000)),
        ("a time that is text", |_, claims| claims["exp"] = json!("9999999999")),
        ("unknown key", |header, _| header.kid = Some("two".to_string())),
        ("signed with the client's secret", |header, _| header.alg = Algorithm::HS256),
    ];
    for (what, lie) in lies {
        let served = served(&Provider::start(|provider| provider.lie = lie).await);
        let (cookie, path) = there(&served).await;
        let answer = back(&served, &cookie, &path).await;
        assert_eq!(answer.status(), 403, "{what}");
        assert!(answer.headers().get("set-cookie").is_none(), "{what}");
    }
    let served = served(&Provider::start(|provider| provider.foreign_key = true).await);
    let (cookie, path) = there(&served).await;
    assert_eq!(back(&served, &cookie, &path).await.status(), 403, "signed with another key");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_is_away_is_told_without_details() {
    let served = served("http://127.0.0.1:1");
    let answer = served.request(Method::GET, "/login/oidc").send().await.unwrap();
    assert_eq!(answer.status(), 502);
    assert!(!answer.text().await.unwrap().contains("127.0.0.1:1"));
}
