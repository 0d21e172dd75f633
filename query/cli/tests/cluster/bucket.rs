//! Parts in a bucket: a cluster answers about them as one process does. The server is moto, as in the depot's tests.

use crate::{Process, alone, fleet, out, root};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Puts all files below a folder into a new bucket, once the server answers.
const UPLOAD: &str = r#"
import boto3, botocore.config, os, sys
root, endpoint = sys.argv[1:]
config = botocore.config.Config(retries={"max_attempts": 20})
s3 = boto3.client("s3", endpoint_url=endpoint, config=config)
s3.create_bucket(Bucket="fleet")
for folder, _, files in os.walk(root):
    for name in files:
        path = os.path.join(folder, name)
        s3.upload_file(path, "fleet", os.path.join("shop", os.path.relpath(path, root)))
"#;

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_cluster_answers_about_a_bucket() {
    let _alone = alone();
    let python = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/s3-server/bin/python3"));
    if !python.exists() {
        println!("skipped: no S3 server: the tests of whyslow-depot install it");
        return;
    }
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port().to_string();
    drop(free);
    let endpoint = format!("http://127.0.0.1:{port}");
    let environment = [
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ENDPOINT", &endpoint),
    ];
    let mut server = Command::new(python);
    server.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port]);
    let _server = Server(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let mut upload = Command::new(python);
    upload.args(["-c", UPLOAD, root().to_str().unwrap(), &endpoint]).envs(environment);
    out(&upload.output().unwrap());
    let with = |words: &[&str]| {
        let mut command = fleet(words);
        command.envs(environment);
        command
    };
    let mut scheduler = Process::spawn(fleet(&["scheduler", "--bind", "127.0.0.1:0"]));
    let at = scheduler.says("listens on ");
    let words = ["executor", "--scheduler", &at, "--root", "s3://fleet/shop", "--threads", "2"];
    let mut executor = Process::spawn(with(&words));
    executor.says("for tasks");
    let place = ["--root", "s3://fleet/shop", "--until", "2026-11-27"];
    for words in
        [&["findings"][..], &["why", "ledger", "--at", "23:17"], &["compare", "v1.8", "v1.9"], &["hosts"]]
    {
        let here = out(&with(&[&place[..], words].concat()).output().unwrap());
        let there = out(&with(&[&place[..], &["--cluster", &at], words].concat()).output().unwrap());
        assert!(here.lines().count() > 1, "{words:?}: {here}");
        assert_eq!(here, there, "{words:?}");
    }
}
