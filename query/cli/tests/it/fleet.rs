//! `whyslow fleet` as people run it: answers as text and JSON, what is wrong told with what to do, and parts in a bucket.

#[path = "../../../fleet/examples/synthetic_fleet/generate.rs"]
mod generate;

use crate::program::out;
use generate::{FleetPlan, FleetTruth, HOUR, generate};
use serde_json::Value;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// 8 hosts over 4 hours, the last one as agents left it.
fn fleet() -> (TempDir, FleetTruth) {
    let plan = FleetPlan { hosts: 8, hours: 4, until: 498_816 * HOUR, loose: 1, seed: 11 };
    let place = TempDir::new().unwrap();
    generate(&plan, place.path()).unwrap();
    let truth = plan.truth();
    (place, truth)
}

/// `whyslow-query fleet --root ROOT`.
fn asked(root: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow-query"));
    command.args(["fleet", "--root", root]).env_remove("WHYSLOW_FLEET").stdin(Stdio::null());
    command
}

#[test]
fn answers_are_text_and_json() {
    let (place, truth) = fleet();
    let root = place.path().to_str().unwrap();
    let ask = |words: &[&str]| asked(root).args(["--until", "2026-11-27"]).args(words).output().unwrap();
    let output = ask(&["findings", "--by", "rule", "--json"]);
    let found: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(found["schema"], "whyslow.fleet-findings/1");
    let fault = found["groups"]
        .as_array()
        .unwrap()
        .iter()
        .find(|group| group["by"]["rule"] == truth.fault.rule)
        .unwrap();
    assert_eq!(fault["hosts"], truth.fault.hosts.len());
    let usage = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(usage.starts_with("read ") && usage.trim_end().ends_with("parts"), "{usage}");
    let text = out(&ask(&["why", "ledger", "--at", "23:17"]));
    assert!(text.starts_with("ledger was waiting for /var/lib/postgresql/pg_wal/{n} in fdatasync"), "{text}");
    assert!(text.contains("since 2026-11-26 23:05"), "{text}");
    let text = out(&ask(&["where", "fsync-per-write"]));
    assert!(text.starts_with("fsync-per-write was found on 2 of 8 hosts"), "{text}");
    let json: Value =
        serde_json::from_str(&out(&ask(&["ask", "SELECT count(DISTINCT host) AS n FROM agents", "--json"])))
            .unwrap();
    assert_eq!(json, serde_json::json!([{ "n": 8 }]));
    let one: Value = serde_json::from_str(&out(&ask(&["hosts", "--host", "web-00002", "--json"]))).unwrap();
    assert_eq!(one["hosts"].as_array().unwrap().len(), 1);
}

#[test]
fn what_is_wrong_with_a_fleet_is_told_with_what_to_do() {
    let (place, _) = fleet();
    let root = place.path().to_str().unwrap();
    for (root, words, says) in [
        (root, &["findings", "--since", "yesterday"][..], "next: write 03:12"),
        (root, &["findings", "--by", "colour"], "choose of rule, service"),
        (root, &["hosts", "--until", "2020-01-01"], "no agent reported from"),
        (root, &["ask", "DROP TABLE agents"], "only questions are answered"),
        (root, &["ask", "SELECT hosst FROM agents", "--until", "2026-11-27"], "next: write host"),
        (root, &["why", "shop", "--at", "2026-11-26T22:00"], "shop did not run"),
        ("/nowhere", &["hosts"], "next: name a directory"),
        ("", &["hosts"], "no place of parts is named"),
    ] {
        let output = asked(root).args(words).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains(says), "{words:?}: {error}");
    }
}

/// A server that is stopped when it is dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An S3 server on a free port (moto), where Python has it.
fn server() -> Option<(Server, u16)> {
    let python = ["../../target/python/bin/python", "python3"].into_iter().find(|python| {
        let has = Command::new(python).args(["-c", "import moto.server"]).stderr(Stdio::null()).status();
        has.is_ok_and(|status| status.success())
    })?;
    let port = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
    let child = Command::new(python)
        .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let server = Server(child);
    let begun = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the S3 server does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    Some((server, port))
}

/// A program of its own asks: credentials are in its environment alone.
#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_answers_as_a_directory_does() {
    use object_store::aws::AmazonS3Builder;
    use object_store::path::Path as StorePath;
    use object_store::{ObjectStoreExt, PutPayload};
    let Some((_server, port)) = server() else {
        println!("SKIPPED: no moto (pip install 'moto[s3,server]')");
        return;
    };
    let (place, truth) = fleet();
    let root = place.path();
    let endpoint = format!("http://127.0.0.1:{port}");
    let settings = [
        ("AWS_ENDPOINT", endpoint.as_str()),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ALLOW_HTTP", "true"),
    ];
    let mut builder = AmazonS3Builder::new().with_bucket_name("fleet");
    for (name, value) in settings {
        builder = builder.with_config(name.to_lowercase().parse().unwrap(), value);
    }
    let store = builder.build().unwrap();
    create_bucket(port, "fleet");
    // The compacted hours: each object is a request.
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let below = path.strip_prefix(root).unwrap().to_str().unwrap().to_string();
            if path.is_dir() && !below.contains("hour=23") {
                folders.push(path);
            } else if path.is_file() && path.extension().is_some_and(|extension| extension == "parquet") {
                let payload = PutPayload::from(std::fs::read(&path).unwrap());
                store.put(&StorePath::parse(format!("some/prefix/{below}")).unwrap(), payload).await.unwrap();
            }
        }
    }
    let ask = |root: &str, words: &[&str]| {
        let mut command = asked(root);
        out(&command.args(["--until", "2026-11-26T23:00"]).args(words).envs(settings).output().unwrap())
    };
    let sql = "SELECT service, state, count(*) AS n, sum(ns) AS ns FROM accounts GROUP BY 1, 2 ORDER BY 1, 2";
    for words in [&["ask", sql][..], &["findings"], &["compare", "v1.8", "v1.9"], &["hosts"]] {
        let (bucket, folder) = (ask("s3://fleet/some/prefix", words), ask(root.to_str().unwrap(), words));
        assert!(bucket.lines().count() > 2, "{bucket}");
        assert_eq!(bucket, folder);
    }
    let missing = asked("s3://nothing/here")
        .args(["--until", "2026-11-26T23:00", "hosts"])
        .envs(settings)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&missing.stderr);
    assert!(!missing.status.success() && error.contains("s3://nothing/here could not be listed"), "{error}");
    assert!(truth.hosts == 8);
}

fn create_bucket(port: u16, name: &str) {
    use std::io::{Read, Write};
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "PUT /{name} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\nAuthorization: AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
