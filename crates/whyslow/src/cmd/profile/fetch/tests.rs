use super::*;
use std::io::Write;
use std::net::{TcpListener, TcpStream};

fn question(url: &str, seconds: Option<u64>) -> Question {
    Question::of(url, seconds.map(Duration::from_secs)).unwrap()
}

#[test]
fn a_host_alone_is_asked_for_its_cpu_profile() {
    for url in ["http://localhost:6060", "http://localhost:6060/", "http://localhost:6060/debug/pprof/"] {
        let asked = question(url, None);
        assert_eq!(asked.uri, "http://localhost:6060/debug/pprof/profile?seconds=30");
        assert_eq!((asked.seconds, asked.local), (Some(30), true));
    }
    assert_eq!(question("http://h/debug/pprof/profile?seconds=5", None).seconds, Some(5));
    let asked = question("http://h/debug/pprof/profile?seconds=5&x=1", Some(7));
    assert_eq!((asked.uri.as_str(), asked.local), ("http://h/debug/pprof/profile?x=1&seconds=7", false));
    let heap = question("http://u:p@h:1/debug/pprof/heap?gc=1", None);
    assert_eq!((heap.uri.as_str(), heap.seconds), ("http://h:1/debug/pprof/heap?gc=1", None));
    assert_eq!(heap.login.as_deref(), Some("u:p"));
    assert_eq!(question("http://h/debug/pprof/profile?seconds=1e300", None).seconds, Some(MAX_SECONDS));
    assert!(Question::of("https://h/x", None).unwrap_err().to_string().contains("curl"));
    for wrong in ["http://", "http:// x"] {
        assert!(Question::of(wrong, None).is_err(), "{wrong}");
    }
}

#[test]
fn base64_is_that_of_the_rfc() {
    let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
    for (length, expected) in expected.iter().enumerate() {
        assert_eq!(base64(&b"foobar"[..length]), *expected);
    }
}

/// Serves one request with `answer`, then closes; its address.
fn serve(answer: impl FnOnce(String) -> Vec<u8> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let Ok((mut stream, _)) = listener.accept() else { return };
        let request = head(&mut stream);
        let _ = stream.write_all(&answer(request));
    });
    format!("http://{address}")
}

fn head(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
        text.push(byte[0]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn answer(status: &str, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}").into()
}

fn failure(status: &'static str, kind: &'static str, body: &'static str) -> String {
    let host = serve(move |_| answer(status, kind, body));
    format!("{:#}", fetch(&format!("{host}/debug/pprof/heap"), None).unwrap_err())
}

#[test]
fn a_profile_is_fetched_with_the_login_of_the_url() {
    let host = serve(|request| {
        assert!(request.starts_with("GET /debug/pprof/heap HTTP/1.1\r\n"), "{request}");
        assert!(request.to_lowercase().contains("authorization: basic dtpw"), "{request}");
        answer("200 OK", "application/octet-stream", "bytes")
    });
    let url = format!("{}/debug/pprof/heap", host.replace("http://", "http://u:p@"));
    assert_eq!(fetch(&url, None).unwrap(), b"bytes");
}

#[test]
fn what_is_no_profile_is_told_with_what_to_do() {
    let html = failure("200 OK", "text/html", "<html>hello");
    assert!(html.contains("a web page") && html.contains("/debug/pprof/profile?seconds=30"), "{html}");
    assert!(failure("200 OK", "text/plain", "").contains("the answer is empty"));
    assert!(failure("404 Not Found", "text/plain", "no").contains("net/http/pprof"));
    assert!(failure("401 Unauthorized", "text/plain", "").contains("USER:PASSWORD"));
    let busy = "Could not enable CPU profiling: cpu profiling already in use";
    assert!(failure("500 Internal Server Error", "text/plain", busy).contains("somebody else"));
    assert!(failure("503 Busy", "text/plain", "later\u{1b}[31m").contains("503: later\\x1b"));
}

#[test]
fn a_cut_connection_is_told() {
    let whole = serve(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf".to_vec());
    let error = format!("{:#}", fetch(&format!("{whole}/debug/pprof/heap"), None).unwrap_err());
    assert!(error.contains("cut after 4 bytes"), "{error}");
    let chunked = serve(|_| b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n".to_vec());
    let error = format!("{:#}", fetch(&format!("{chunked}/debug/pprof/heap"), None).unwrap_err());
    assert!(error.contains("cut after 4 bytes"), "{error}");
    let nothing = serve(|_| Vec::new());
    assert!(fetch(&format!("{nothing}/debug/pprof/heap"), None).is_err());
}

#[test]
fn nobody_there_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = fetch(&format!("http://{address}/debug/pprof/heap"), None).unwrap_err().to_string();
    assert!(error.contains("refused") && error.contains("whyslow profile -p PID"), "{error}");
}

#[test]
fn redirections_are_followed() {
    let end = serve(|_| answer("200 OK", "application/octet-stream", "bytes"));
    let start = serve(move |_| {
        format!("HTTP/1.1 302 Found\r\nLocation: {end}/x\r\nContent-Length: 0\r\n\r\n").into_bytes()
    });
    assert_eq!(fetch(&format!("{start}/debug/pprof/heap"), None).unwrap(), b"bytes");
}
