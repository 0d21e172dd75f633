//! The server as strangers and browsers meet it: over a socket.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use whyslow_model::{Call, Event, Nanos, Ret, Sink, Syscall, Timestamp};
use whyslow_query_serve::{AnswerFuture, QuestionLimits, Questions, ServeOptions, Server};
use whyslow_store::{Meta, WriteOptions, Writer};

/// Says what it was asked.
struct Echo;

impl Questions for Echo {
    fn ask(&self, _: PathBuf, sql: String, limits: QuestionLimits) -> AnswerFuture {
        Box::pin(async move {
            assert!(limits.rows > 0 && limits.time > Duration::ZERO);
            Ok(
                json!({ "columns": [{ "name": "sql", "type": "Utf8" }], "rows": [[sql]], "truncated": false, "seconds": 0.0 }),
            )
        })
    }

    fn tables(&self, _: PathBuf) -> AnswerFuture {
        Box::pin(async { Ok(json!({ "tables": [], "macros": [] })) })
    }
}

/// A recording of calls of two threads, each of 1 ms, every 2 ms.
fn record(dir: &Path, calls: u64, path: &str) {
    let meta = Meta { complete: true, ..Meta::default() };
    let mut writer = Writer::create(dir, meta, WriteOptions::CONVERT).unwrap();
    let args = format!("3<{path}>, \"\", 1");
    for at in 0..calls {
        let mut call = Call::new("read", &args);
        call.syscall = Syscall::lookup(b"read").unwrap();
        (call.pid, call.tid) = (Some(10), 10 + (at % 2) as u32);
        (call.ts, call.dur) = (Timestamp::new(1_000_000_000 + at * 1_000_000), Nanos::new(1_000_000));
        call.ret = Ret::Value(1);
        writer.push(Event::Call(&call));
    }
    writer.finish().unwrap();
}

struct Fixture {
    _folder: tempfile::TempDir,
    root: PathBuf,
    at: SocketAddr,
    token: String,
    _runtime: tokio::runtime::Runtime,
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }
}

impl Fixture {
    fn new(prepare: impl FnOnce(&Path)) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("served");
        std::fs::create_dir(&root).unwrap();
        prepare(&root);
        // A program that always says that it cannot.
        let whyslow = folder.path().join("whyslow");
        std::fs::write(&whyslow, "#!/bin/sh\necho 'no diagnosis today' >&2\nexit 2\n").unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&whyslow, std::fs::Permissions::from_mode(0o755)).unwrap();
        let options = options(&root, &whyslow, folder.path());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let server = runtime.block_on(Server::open(options, Arc::new(Echo))).unwrap();
        let url = server.url.clone();
        runtime.spawn(server.run(std::future::pending()));
        let rest = url.strip_prefix("http://").unwrap();
        let (at, token) = rest.split_once("/?token=").unwrap();
        Fixture {
            _folder: folder,
            root,
            at: at.parse().unwrap(),
            token: token.to_string(),
            _runtime: runtime,
        }
    }

    /// Sends bytes and reads to the end.
    fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.at).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let _ = stream.write_all(request);
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        let end = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(all.len());
        let head = String::from_utf8_lossy(&all[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        let body = all.get(end + 4..).unwrap_or_default().to_vec();
        Answer { status, head, body }
    }

    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let length = if body.is_empty() {
            String::new()
        } else {
            format!("Content-Length: {}\r\nContent-Type: application/json\r\n", body.len())
        };
        self.raw(
            format!("{method} {path} HTTP/1.0\r\n{headers}{length}Connection: close\r\n\r\n{body}")
                .as_bytes(),
        )
    }

    fn host(&self) -> String {
        format!("Host: {}\r\n", self.at)
    }

    fn cookie(&self) -> String {
        format!("{}Cookie: whyslow-{}={}\r\n", self.host(), self.at.port(), self.token)
    }

    fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &self.cookie(), "")
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        let headers = format!("{}Origin: http://{}\r\n", self.cookie(), self.at);
        self.send("POST", path, &headers, &body.to_string())
    }

    /// The number of the recording with that name, whose index is complete.
    fn ready(&self, name: &str) -> u64 {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(20) {
            let list = self.get("/api/recordings").json();
            let id = list["recordings"]
                .as_array()
                .unwrap()
                .iter()
                .find(|each| each["name"] == name)
                .map(|each| each["id"].as_u64().unwrap());
            if let Some(id) = id {
                let status = self.get(&format!("/api/r/{id}/status")).json();
                if status["indexed"] == 1.0 {
                    return id;
                }
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{name} does not get ready");
    }
}

fn options(root: &Path, whyslow: &Path, folder: &Path) -> ServeOptions {
    ServeOptions {
        paths: vec![root.to_path_buf()],
        bind: "127.0.0.1:0".parse().unwrap(),
        hosts: Vec::new(),
        tls: false,
        insecure: false,
        allow_record: false,
        show_secrets: false,
        whyslow: whyslow.to_path_buf(),
        cache: Some(folder.join("cache")),
    }
}

#[test]
fn strangers_and_other_sites_get_nothing() {
    let of = Fixture::new(|root| record(&root.join("a.whyslow"), 10, "/x"));
    assert_eq!(of.send("GET", "/", &of.host(), "").status, 401);
    assert_eq!(of.send("GET", "/?token=0", &of.host(), "").status, 401);
    assert_eq!(of.send("GET", "/api/recordings", &of.host(), "").status, 401);
    let welcome = of.send("GET", &format!("/?token={}", of.token), &of.host(), "");
    assert_eq!(welcome.status, 303);
    assert!(welcome.head.to_lowercase().contains("samesite=strict") && welcome.head.contains("HttpOnly"));
    assert!(
        !welcome
            .head
            .to_lowercase()
            .lines()
            .any(|line| line.starts_with("location:") && line.contains("token"))
    );
    // A name of somebody else's that was made to point here.
    let rebound =
        of.cookie().replace(&format!("Host: {}", of.at), &format!("Host: evil.example:{}", of.at.port()));
    assert_eq!(of.send("GET", "/", &rebound, "").status, 421);
    assert_eq!(of.send("GET", "/", &of.cookie().replace("Host:", "X:"), "").status, 421);
    for origin in ["http://evil.example", "null"] {
        let headers = format!("{}Origin: {origin}\r\n", of.cookie());
        assert_eq!(of.send("POST", "/api/r/1/sql", &headers, "{\"sql\":\"SELECT 1\"}").status, 403);
        assert_eq!(of.send("GET", "/api/recordings", &headers, "").status, 403);
    }
    assert_eq!(of.send("POST", "/api/r/1/sql", &of.cookie(), "{\"sql\":\"SELECT 1\"}").status, 403);
    let page = of.get("/");
    assert_eq!(page.status, 200);
    let head = page.head.to_lowercase();
    assert!(head.contains("content-security-policy: default-src 'none'; script-src 'sha256-"), "{head}");
    assert!(head.contains("frame-ancestors 'none'") && head.contains("x-content-type-options: nosniff"));
    assert!(!head.contains("access-control") && head.contains("cache-control: no-store"));
}

#[test]
fn nothing_is_opened_by_a_name_and_bodies_are_bounded() {
    let of = Fixture::new(|root| record(&root.join("a.whyslow"), 10, "/x"));
    for path in [
        "/r/../../etc/passwd",
        "/r/..%2f..%2fetc%2fpasswd/",
        "/api/r/a.whyslow/page",
        "/r/99/",
        "/api/r/99/page",
        "/api/r/-1/page",
        "/%2e%2e/",
        "//evil.example/",
    ] {
        let answer = of.get(path);
        assert!((400..500).contains(&answer.status), "{path}: {}", answer.status);
    }
    assert_eq!(of.post("/api/r/1/sql", &json!({ "sql": "x".repeat(70_000) })).status, 413);
    assert_eq!(of.post("/api/r/1/sql", &json!({ "sql": "SELECT 1", "more": 1 })).status, 422);
    assert_eq!(
        of.send("DELETE", "/api/r/1/page", &format!("{}Origin: http://{}\r\n", of.cookie(), of.at), "")
            .status,
        405
    );
    let id = of.ready("a.whyslow");
    let asked = of.post(&format!("/api/r/{id}/sql"), &json!({ "sql": "SELECT 7" })).json();
    assert_eq!(asked["rows"][0][0], "SELECT 7");
    let calls = of.get(&format!("/api/r/{id}/calls?call=o%27x&page=2&zero=5&to=9")).json();
    let sql = calls["rows"][0][0].as_str().unwrap();
    assert!(
        sql.contains("syscall = 'o''x'") && sql.contains("ts < 14") && sql.contains("OFFSET 200"),
        "{sql}"
    );
    // A page of garbage does not end the server.
    of.raw(b"\x16\x03\x01\x02\x00garbage\r\n\r\n");
    assert_eq!(of.get("/").status, 200);
    // Nor does recording where it is off.
    assert_eq!(of.post("/api/live", &json!({ "pid": 1, "seconds": 1 })).status, 403);
}

#[test]
fn the_first_page_comes_from_the_index_and_zooms_read_what_they_show() {
    let of = Fixture::new(|root| record(&root.join("a.whyslow"), 100_000, "pipe:[7]"));
    let id = of.ready("a.whyslow");
    let data = of.get(&format!("/api/r/{id}/page")).json();
    let run = &data["page"]["runs"][0];
    assert_eq!(run["threads"].as_array().unwrap().len(), 2);
    assert_eq!(run["tables"][0]["rows"][0][1], 100_000);
    let sum = |tiles: &Value, state: u64| -> u64 {
        let column = |name: &str| {
            tiles[name].as_array().unwrap().iter().map(|value| value.as_u64().unwrap()).collect::<Vec<_>>()
        };
        column("state").into_iter().zip(column("ns")).filter(|(of, _)| *of == state).map(|(_, ns)| ns).sum()
    };
    // Pipes: all of the time in calls is there, and the rest is between them.
    assert_eq!(sum(&run["timeline"]["tiles"], 7), 100_000 * 1_000_000);
    // The whole: more rows than are read for a look.
    let zoom = |from: u64, to: u64| {
        of.get(&format!("/api/r/{id}/window?zero=1000000000&from={from}&to={to}&pixels=500&threads=10,11"))
            .json()
    };
    let whole = zoom(0, 100_000_000_000);
    assert_eq!(whole["exact"], false);
    assert_eq!(sum(&whole["tiles"], 7), 100_000 * 1_000_000);
    // A part of it: call by call. One that began before and one that ends behind are in it.
    let part = zoom(50_000_500_000, 50_010_500_000);
    assert_eq!((part["exact"].clone(), part["slices"]["seq"].as_array().unwrap().len()), (json!(true), 11));
    assert_eq!(sum(&part["tiles"], 7), 10_000_000);
    assert_eq!(part["texts"], json!(["read", "pipe:[7]"]));
    assert!(part["rows_read"].as_u64().unwrap() < 40_000);
    let seq = part["slices"]["seq"][3].as_u64().unwrap();
    let call = of.get(&format!("/api/r/{id}/call?seq={seq}")).json();
    assert_eq!(call["line"], "read(3<pipe:[7]>, \"\", 1) = 1 <1.00 ms>");
    assert_eq!(of.get(&format!("/api/r/{id}/call?seq=99999999")).status, 404);
    for bad in [
        "from=5&to=5",
        "from=9223372036854775807&to=1",
        "from=-9223372036854775808&to=9223372036854775807",
        "from=x&to=1",
    ] {
        assert_eq!(of.get(&format!("/api/r/{id}/window?{bad}&pixels=100&threads=10")).status, 400, "{bad}");
    }
    let many = (0..400).map(|tid| tid.to_string()).collect::<Vec<_>>().join(",");
    assert_eq!(of.get(&format!("/api/r/{id}/window?from=0&to=5&pixels=100&threads={many}")).status, 400);
    assert_eq!(zoom(0, 1 << 60)["exact"], false);
    // The diagnosis failed, and that is told.
    let began = Instant::now();
    loop {
        let status = of.get(&format!("/api/r/{id}/status")).json();
        if status["state"] == "failed" {
            assert_eq!(status["said"], "no diagnosis today");
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{status}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn zooms_side_by_side_are_all_answered() {
    let of = Arc::new(Fixture::new(|root| record(&root.join("a.whyslow"), 200_000, "/data/x")));
    let id = of.ready("a.whyslow");
    let asks: Vec<_> = (0..24u64)
        .map(|at| {
            let of = of.clone();
            std::thread::spawn(move || {
                let from = at * 8_000_000_000;
                of.get(&format!(
                    "/api/r/{id}/window?from={from}&to={}&pixels=800&threads=10,11",
                    from + 50_000_000
                ))
                .status
            })
        })
        .collect();
    for ask in asks {
        assert_eq!(ask.join().unwrap(), 200);
    }
}

#[test]
fn a_recording_may_go_or_become_another_one_meanwhile() {
    let of = Fixture::new(|root| record(&root.join("a.whyslow"), 20_000, "/one"));
    let id = of.ready("a.whyslow");
    let dir = of.root.join("a.whyslow");
    std::fs::remove_dir_all(&dir).unwrap();
    let zoom = format!("/api/r/{id}/window?from=0&to=1000000&pixels=100&threads=10");
    let answer = of.get(&zoom);
    assert!([400, 404].contains(&answer.status), "{}", answer.status);
    std::thread::sleep(Duration::from_millis(800));
    assert_eq!(of.get(&format!("/api/r/{id}/page")).status, 404);
    record(&dir, 30_000, "/two");
    std::thread::sleep(Duration::from_millis(800));
    let again = of.ready("a.whyslow");
    assert_eq!(again, id);
    let began = Instant::now();
    while of.get(&format!("/api/r/{id}/page")).json()["page"]["runs"][0]["tables"][0]["rows"][0][1] != 30_000
    {
        assert!(began.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(of.get(&zoom).json()["texts"], json!(["read", "/two"]));
}

#[test]
fn others_are_not_listened_to_without_tls() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let open = |change: &dyn Fn(&mut ServeOptions)| {
        let mut options = options(folder.path(), Path::new("/bin/false"), folder.path());
        change(&mut options);
        runtime.block_on(Server::open(options, Arc::new(Echo)))
    };
    let refused = open(&|options| options.bind = "0.0.0.0:0".parse().unwrap()).err().unwrap();
    assert!(refused.contains("--tls"), "{refused}");
    let with_tls = open(&|options| {
        options.bind = "0.0.0.0:0".parse().unwrap();
        options.tls = true;
        options.hosts = vec!["box.lan".to_string()];
    });
    let server = with_tls.ok().unwrap();
    assert!(
        server.url.starts_with("https://box.lan:")
            && server.fingerprint.is_some_and(|print| print.len() == 95)
    );
    assert!(open(&|options| options.paths = vec![PathBuf::from("/no/such/place")]).is_err());
}
