//! Who gets in, as whom, and what is kept of it.

use crate::fixture::{KEEPER, READER, SPAN, Served, cookies, csrf, shared};
use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test(flavor = "multi_thread")]
async fn a_token_opens_and_nothing_else_does() {
    let (root, _) = shared();
    let served = Served::new(root, "");
    let stranger = served.request(Method::GET, "/hosts?since=6h&x=%3C").send().await.unwrap();
    assert_eq!(stranger.status(), 303);
    assert_eq!(stranger.headers()["location"], "/login?next=%2Fhosts%3Fsince%3D6h%26x%3D%253C");
    let data = served.request(Method::GET, "/api/fleet/hosts").send().await.unwrap();
    assert_eq!(data.status(), 401);
    let wrong = served.request(Method::GET, "/").bearer_auth("reader-0123456789abcdeX").send().await.unwrap();
    assert_eq!(wrong.status(), 401);
    let basic = served.request(Method::GET, "/").basic_auth("reader", Some(READER)).send().await.unwrap();
    assert_eq!(basic.status(), 401);
    // In an address no token counts where logins are set up.
    let address = served.request(Method::GET, &format!("/login?token={READER}")).send().await.unwrap();
    assert!(address.headers().get("set-cookie").is_none());
    assert_eq!(served.get(&format!("/hosts?{SPAN}")).await.status(), 200);
    for path in ["/style.css", "/script.js", "/login"] {
        assert_eq!(served.request(Method::GET, path).send().await.unwrap().status(), 200, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_begins_with_the_form_and_ends_with_another() {
    let (root, _) = shared();
    let served = Served::new(root, "");
    let answer = served.post("/login", "", &[("token", READER), ("next", "//evil.example/")]).await;
    assert_eq!((answer.status().as_u16(), &answer.headers()["location"]), (303, &"/".parse().unwrap()));
    let set = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(set.contains("; HttpOnly; SameSite=Strict; Max-Age=43200"), "{set}");
    let cookie = cookies(answer.headers());
    let with = |path: &str| served.request(Method::GET, path).header("cookie", cookie.clone());
    let page = with(&format!("/hosts?{SPAN}")).send().await.unwrap();
    assert_eq!(page.headers()["referrer-policy"], "same-origin");
    let page = page.text().await.unwrap();
    assert!(page.contains("reader") && page.contains("Log out"));
    // Neither another site's form nor one without the secret ends it.
    let foreign = served
        .request(Method::POST, "/logout")
        .header("cookie", cookie.clone())
        .header("origin", "http://evil.example");
    assert_eq!(foreign.send().await.unwrap().status(), 403);
    assert_eq!(served.post("/logout", &cookie, &[("csrf", "0000")]).await.status(), 403);
    assert_eq!(with("/recordings").send().await.unwrap().status(), 200);
    let out = served.post("/logout", &cookie, &[("csrf", &csrf(&page))]).await;
    assert_eq!(out.status(), 303);
    assert!(out.headers()["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(with("/recordings").send().await.unwrap().status(), 303, "the session is over");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_guesses_is_stopped_and_who_is_in_stays_in() {
    let (root, _) = shared();
    let served = Served::new(root, "");
    let cookie = served.session(READER).await;
    for _ in 0..10 {
        assert_eq!(served.post("/login", "", &[("token", "no-such-token-at-all")]).await.status(), 401);
    }
    // The right one neither, so that guessing tells nothing.
    assert_eq!(served.post("/login", "", &[("token", READER)]).await.status(), 429);
    assert_eq!(served.get("/recordings").await.status(), 429);
    let inside = served.request(Method::GET, "/recordings").header("cookie", cookie).send().await.unwrap();
    assert_eq!(inside.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_stands_in_the_audit_log_but_secrets() {
    let (root, _) = shared();
    let served = Served::new(root, "");
    let cookie = served.session(READER).await;
    served.post("/login", "", &[("token", "wrong-0123456789abcdef")]).await;
    served.get(&format!("/hosts?{SPAN}&token=geheim")).await;
    served.request(Method::GET, "/recordings").header("cookie", cookie.clone()).send().await.unwrap();
    served
        .request(Method::GET, "/api/fleet/hosts")
        .bearer_auth("wrong-0123456789abcdef")
        .send()
        .await
        .unwrap();
    served.request(Method::GET, "/").header("host", "evil.example").send().await.unwrap();
    let lines = served.audit();
    let told: Vec<(String, String, Option<&str>, u64)> = lines
        .iter()
        .map(|line| {
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_string();
            (text("event"), text("path"), line["user"].as_str(), line["status"].as_u64().unwrap())
        })
        .collect();
    let line = |event: &str, path: &str, user: Option<&'static str>, status: u64| {
        (event.to_string(), path.to_string(), user, status)
    };
    assert_eq!(
        told,
        [
            line("login", "/login", Some("reader"), 200),
            line("login-failed", "/login", None, 401),
            line("request", "/hosts", Some("reader"), 200),
            line("request", "/recordings", Some("reader"), 200),
            line("login-failed", "/api/fleet/hosts", None, 401),
            line("refused", "/", None, 421),
        ]
    );
    assert!(
        lines.iter().all(|line| line["from"] == "127.0.0.1" && line["time"].as_str().unwrap().ends_with('Z'))
    );
    assert_eq!(lines[2]["parameters"], serde_json::json!([["since", "6h"], ["until", "2026-11-27"]]));
    let text = std::fs::read_to_string(served.folder.path().join("audit.jsonl")).unwrap();
    let session = cookie.split('=').nth(1).unwrap();
    for secret in [READER, "geheim", "wrong-", session] {
        assert!(!text.contains(secret), "{secret}");
    }
    use std::os::unix::fs::PermissionsExt;
    let mode = served.folder.path().join("audit.jsonl").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_is_believed_of_the_proxy_alone() {
    let (root, _) = shared();
    let groups = "user='x-user'\ngroups='x-groups'\nroles={read=['staff'],dump=['sre']}";
    let near = Served::with(root, &format!("[proxy]\nfrom=['127.0.0.1']\n{groups}"));
    let as_user = |served: &Served, groups: &str| {
        served
            .request(Method::GET, "/recordings")
            .header("x-user", "ann")
            .header("x-groups", groups.to_string())
    };
    let page = as_user(&near, "staff").send().await.unwrap();
    assert_eq!(page.status(), 200);
    assert!(page.text().await.unwrap().contains("ann (proxy)"));
    assert_eq!(as_user(&near, "guests").send().await.unwrap().status(), 403);
    assert_eq!(near.request(Method::GET, "/recordings").send().await.unwrap().status(), 303);
    let far = Served::with(root, &format!("[proxy]\nfrom=['10.9.9.9']\n{groups}"));
    assert_eq!(as_user(&far, "staff").send().await.unwrap().status(), 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_is_for_the_proxy_on_this_machine() {
    let (root, _) = shared();
    let served = Served::with(
        root,
        "bind='unix:{folder}/fleet.sock'\n[proxy]\nfrom=['unix']\nuser='x-user'\nroles={read=['*']}",
    );
    let ask = async |headers: &str| {
        let mut stream = tokio::net::UnixStream::connect(&served.address).await.unwrap();
        let request = format!("GET /recordings HTTP/1.0\r\nHost: fleet.example\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    };
    assert!(ask("X-User: ann\r\n").await.starts_with("HTTP/1.0 200"));
    assert!(ask("").await.starts_with("HTTP/1.0 303"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_logins_the_printed_address_is_the_key() {
    let (root, _) = shared();
    let served = Served::with(root, "");
    let (_, path) = served.url.split_once(&served.address).unwrap();
    assert!(path.starts_with("/login?token=") && path.len() > 70, "{path}");
    let welcome = served.request(Method::GET, path).send().await.unwrap();
    assert_eq!((welcome.status().as_u16(), &welcome.headers()["location"]), (303, &"/".parse().unwrap()));
    let cookie = cookies(welcome.headers());
    let inside = served.request(Method::GET, "/recordings").header("cookie", cookie).send().await.unwrap();
    assert_eq!(inside.status(), 200);
    let wrong = served.request(Method::GET, "/login?token=0").send().await.unwrap();
    assert_eq!(wrong.status(), 401);
    assert_eq!(
        served.request(Method::GET, "/recordings").bearer_auth(KEEPER).send().await.unwrap().status(),
        401
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn other_names_and_other_sites_get_nothing() {
    let (root, _) = shared();
    let served = Served::new(root, "");
    let rebound = served
        .request(Method::GET, "/recordings")
        .bearer_auth(READER)
        .header("host", "evil.example")
        .send()
        .await
        .unwrap();
    assert_eq!(rebound.status(), 421);
    let cookie = served.session(READER).await;
    let from = |site: &'static str| {
        served
            .request(Method::GET, "/api/fleet/hosts")
            .header("cookie", cookie.clone())
            .header("sec-fetch-site", site)
    };
    assert_eq!(from("cross-site").send().await.unwrap().status(), 403);
    let page = served.get("/recordings").await;
    let policy = page.headers()["content-security-policy"].to_str().unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'")
            && !policy.contains("unsafe"),
        "{policy}"
    );
    for (name, value) in
        [("x-frame-options", "DENY"), ("x-content-type-options", "nosniff"), ("cache-control", "no-store")]
    {
        assert_eq!(page.headers()[name], value);
    }
    assert!(page.headers().get("access-control-allow-origin").is_none());
    let large = "x".repeat(100 << 10);
    assert_eq!(served.post("/login", "", &[("token", &large)]).await.status(), 413);
}
