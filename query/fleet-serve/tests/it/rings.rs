//! Who may have a ring keep what it has, and what the ring is asked.

use crate::fixture::{KEEPER, READER, RECORDER, SPAN, Served, csrf, shared};
use reqwest::Method;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A ring that says where it kept it, and what it was asked: the protocol of docs/RING.md.
async fn ring(status: &'static str, said: &'static str) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = asked.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = vec![0; 8 << 10];
            let length = stream.read(&mut bytes).await.unwrap();
            heard.lock().unwrap().push(String::from_utf8_lossy(&bytes[..length]).into_owned());
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{said}",
                said.len()
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (port, asked)
}

fn settings(port: u16) -> String {
    format!("[[ring]]\nhost='web-00003'\nurl='http://127.0.0.1:{port}'\ntoken_file='{{folder}}/ring'\n")
}

fn served(root: &std::path::Path, port: u16) -> Served {
    // The ring's token is that of the keeper here: its file is there.
    Served::new(root, &settings(port).replace("{folder}/ring", "{folder}/keeper"))
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_the_role_asks_a_ring() {
    let (root, _) = shared();
    let (port, asked) = ring("200 OK", "{\"kept\":\"/var/lib/whyslow/kept/a.whyslow\"}").await;
    let served = served(root, port);
    let cookie = served.session(KEEPER).await;
    let page =
        served.request(Method::GET, &format!("/host?name=web-00003&{SPAN}")).header("cookie", cookie.clone());
    let page = page.send().await.unwrap().text().await.unwrap();
    assert!(page.contains("action=\"/dump\""));
    let forged = served.post("/dump", &cookie, &[("host", "web-00003"), ("csrf", "0")]).await;
    assert_eq!(forged.status(), 403);
    assert!(asked.lock().unwrap().is_empty());
    let csrf = csrf(&page);
    let done = served
        .post("/dump", &cookie, &[("host", "web-00003"), ("csrf", &csrf), ("reason", "p99 & <b>up</b>")])
        .await;
    assert!(done.text().await.unwrap().contains("/var/lib/whyslow/kept/a.whyslow"));
    let heard = asked.lock().unwrap().join("");
    assert!(
        heard.starts_with("POST /dump?reason=p99+%26+%3Cb%3Eup%3C%2Fb%3E+%28keeper%29 HTTP/1.1"),
        "{heard}"
    );
    assert!(heard.to_lowercase().contains(&format!("authorization: bearer {KEEPER}")), "{heard}");
    let lines: Vec<serde_json::Value> =
        served.audit().into_iter().filter(|line| line["event"] == "dump").collect();
    assert_eq!(lines.len(), 2, "before it is asked, and when it answered");
    assert_eq!((&lines[0]["status"], &lines[1]["status"]), (&serde_json::Value::Null, &200.into()));
    assert!(!serde_json::to_string(&lines).unwrap().contains(KEEPER));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_read_asks_none() {
    let (root, _) = shared();
    let (port, asked) = ring("200 OK", "{}").await;
    let served = served(root, port);
    let page = served.page(&format!("/host?name=web-00003&{SPAN}")).await;
    assert!(!page.contains("action=\"/dump\""));
    let body = crate::fixture::form(&[("host", "web-00003")]);
    let ask = |token: &'static str, host: &str| {
        let body = body.replace("web-00003", host);
        served
            .request(Method::POST, "/dump")
            .bearer_auth(token)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body)
    };
    assert_eq!(ask(READER, "web-00003").send().await.unwrap().status(), 403);
    assert!(asked.lock().unwrap().is_empty());
    // A program has no form to bring back.
    let said = crate::fixture::json_of(ask(KEEPER, "web-00003").send().await.unwrap()).await;
    assert_eq!(said["host"], "web-00003");
    let other = ask(KEEPER, "web-00004").send().await.unwrap();
    assert_eq!(other.status(), 502);
    assert!(other.text().await.unwrap().contains("no ring of that host"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ring_that_refuses_is_told() {
    let (root, _) = shared();
    let (port, _) = ring("500 Internal Server Error", "the disk is full").await;
    let served = served(root, port);
    let cookie = served.session(KEEPER).await;
    let page =
        served.request(Method::GET, &format!("/host?name=web-00003&{SPAN}")).header("cookie", cookie.clone());
    let csrf = csrf(&page.send().await.unwrap().text().await.unwrap());
    let answer = served.post("/dump", &cookie, &[("host", "web-00003"), ("csrf", &csrf)]).await;
    assert_eq!(answer.status(), 502);
}

/// The page of the host that has a ring, as somebody with that cookie sees it.
async fn page(served: &Served, cookie: &str) -> String {
    let page = served.request(Method::GET, &format!("/host?name=web-00003&{SPAN}")).header("cookie", cookie);
    page.send().await.unwrap().text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_record_has_a_ring_record() {
    let (root, _) = shared();
    let (port, asked) = ring("200 OK", "{\"kept\":\"/var/lib/whyslow/kept/b-asked.whyslow\"}").await;
    let served = served(root, port);
    let cookie = served.session(RECORDER).await;
    let page = page(&served, &cookie).await;
    assert!(page.contains("action=\"/record\"") && page.contains("action=\"/dump\""), "{page}");
    let forged = served.post("/record", &cookie, &[("host", "web-00003"), ("csrf", "0")]).await;
    assert_eq!(forged.status(), 403);
    let csrf = csrf(&page);
    for wrong in ["0", "301", "soon", "-5", "1e3"] {
        let pairs = [("host", "web-00003"), ("csrf", &csrf), ("seconds", wrong)];
        let answer = served.post("/record", &cookie, &pairs).await;
        assert_eq!(answer.status(), 400);
        assert!(answer.text().await.unwrap().contains("expected 1 to 300"), "{wrong}");
    }
    assert!(asked.lock().unwrap().is_empty());
    let pairs = [("host", "web-00003"), ("csrf", &csrf), ("seconds", "7"), ("reason", "p99 is up")];
    let done = served.post("/record", &cookie, &pairs).await;
    assert_eq!(done.status(), 200);
    let text = done.text().await.unwrap();
    assert!(text.contains("It is recorded") && text.contains("b-asked.whyslow"), "{text}");
    let heard = asked.lock().unwrap().join("");
    assert!(heard.starts_with("POST /record?seconds=7&reason=p99+is+up+%28recorder%29 HTTP/1.1"), "{heard}");
    let lines: Vec<serde_json::Value> =
        served.audit().into_iter().filter(|line| line["event"] == "record").collect();
    assert_eq!(lines.len(), 2, "before it is asked, and when it answered");
    assert_eq!((&lines[0]["status"], &lines[1]["status"]), (&serde_json::Value::Null, &200.into()));
    for line in &lines {
        let parameters = line["parameters"].to_string();
        assert!(line["path"] == "/record" && parameters.contains("[\"seconds\",\"7\"]"), "{line}");
    }
    // A program needs no form, and where it says no length it is the usual one.
    let body = crate::fixture::form(&[("host", "web-00003")]);
    let request = served.request(Method::POST, "/record").bearer_auth(RECORDER);
    let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
    let said = crate::fixture::json_of(request.send().await.unwrap()).await;
    assert!(said["said"].as_str().unwrap().contains("b-asked.whyslow"), "{said}");
    assert!(asked.lock().unwrap()[1].starts_with("POST /record?seconds=30&"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_have_recordings_kept_begins_none() {
    let (root, _) = shared();
    let (port, asked) = ring("200 OK", "{}").await;
    let served = served(root, port);
    let cookie = served.session(KEEPER).await;
    let page = page(&served, &cookie).await;
    assert!(page.contains("action=\"/dump\"") && !page.contains("action=\"/record\""));
    let csrf = csrf(&page);
    let answer = served.post("/record", &cookie, &[("host", "web-00003"), ("csrf", &csrf)]).await;
    assert_eq!(answer.status(), 403);
    assert!(answer.text().await.unwrap().contains("may begin recordings"));
    for token in [KEEPER, READER] {
        let body = crate::fixture::form(&[("host", "web-00003")]);
        let request = served.request(Method::POST, "/record").bearer_auth(token);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
        assert_eq!(request.send().await.unwrap().status(), 403);
    }
    // Another site's page cannot have it done either.
    let foreign = served.request(Method::POST, "/record").header("cookie", &cookie);
    let foreign = foreign.header("origin", "https://evil.example").body("host=web-00003");
    assert_eq!(foreign.send().await.unwrap().status(), 403);
    assert!(asked.lock().unwrap().is_empty());
    assert!(served.audit().iter().all(|line| line["event"] != "record"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ring_that_begins_no_recordings_says_so() {
    let (root, _) = shared();
    for (status, said) in [
        ("403 Forbidden", "this ring begins no recordings"),
        ("409 Conflict", "a recording that was asked for is under way"),
        ("500 Internal Server Error", "whyslow: no rights"),
    ] {
        let (port, _) = ring(status, said).await;
        let served = served(root, port);
        let body = crate::fixture::form(&[("host", "web-00003"), ("seconds", "1")]);
        let request = served.request(Method::POST, "/record").bearer_auth(RECORDER);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 502);
        let told = crate::fixture::json_of(answer).await.to_string();
        let number = status.split(' ').next().unwrap();
        assert!(told.contains(said) && told.contains(number), "{told}");
        let last = served.audit().into_iter().rfind(|line| line["event"] == "record").unwrap();
        assert_eq!(last["status"], 502);
    }
}
