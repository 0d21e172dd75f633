//! A real S3 server for the tests: moto, in a Python of its own below `target`, installed when it is first needed.

use crate::proxy::Proxy;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use whyslow_depot::DepotOptions;

/// moto, until it is dropped.
pub(crate) struct S3Server {
    child: Child,
    pub(crate) port: u16,
    folder: tempfile::TempDir,
}

/// Says why a test could not be tried, in the line that is counted.
fn skipped(why: &str) {
    println!("skipped: {why}");
}

/// A Python that has moto's server.
fn python() -> Result<PathBuf, String> {
    let target = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target"));
    let has_it = |python: &Path| {
        let found = Command::new(python).args(["-c", "import moto.server, flask"]).output();
        found.is_ok_and(|output| output.status.success())
    };
    let own = target.join("s3-server/bin/python3");
    if has_it(&own) {
        return Ok(own);
    }
    let script = "flock 9 && { \"$1/bin/python3\" -c 'import moto.server, flask' 2>/dev/null || { python3 -m venv \"$1\" && \
                  \"$1/bin/python3\" -m pip install -q 'moto[s3,server]==5.2.*'; }; }";
    let folder = target.join("s3-server");
    let made = Command::new("bash")
        .args(["-c", &format!("exec 9>\"$1.lock\"; {script}"), "bash"])
        .arg(&folder)
        .output()
        .map_err(|error| error.to_string())?;
    if made.status.success() && has_it(&own) {
        return Ok(own);
    }
    Err(String::from_utf8_lossy(&made.stderr).lines().last().unwrap_or_default().to_string())
}

impl S3Server {
    /// Starts one with the bucket `fleet`; `None` where none can be installed.
    pub(crate) fn start() -> Option<S3Server> {
        let python = match python() {
            Ok(python) => python,
            Err(why) => {
                skipped(&format!("no S3 server: moto cannot be installed: {why}"));
                return None;
            }
        };
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let child = Command::new(python)
            .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("moto starts");
        let server = S3Server { child, port, folder: tempfile::tempdir().expect("a folder") };
        crate::common::wait_until("the S3 server makes a bucket", || server.make_bucket("fleet").is_some());
        Some(server)
    }

    fn make_bucket(&self, name: &str) -> Option<()> {
        let mut server = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        let request = format!(
            "PUT /{name} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: 0\r\nConnection: close\r\n\
             Authorization: AWS4-HMAC-SHA256 Credential=test/20261127/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0\r\n\r\n",
            self.port
        );
        server.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
        server.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        server.read_to_string(&mut answer).ok()?;
        answer.split(' ').nth(1).is_some_and(|status| status == "200").then_some(())
    }

    /// How it is reached, through a proxy or not.
    pub(crate) fn options(&self, proxy: Option<&Proxy>) -> DepotOptions {
        let port = proxy.map_or(self.port, |proxy| proxy.port);
        let file = self.folder.path().join(format!("credentials-{port}"));
        let mut out = std::fs::OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&file)
            .expect("a file");
        let lines = format!(
            "AWS_ACCESS_KEY_ID=test\nAWS_SECRET_ACCESS_KEY=test\nAWS_REGION=us-east-1\nAWS_ENDPOINT=http://127.0.0.1:{port}\n"
        );
        out.write_all(lines.as_bytes()).expect("a file");
        DepotOptions {
            credentials: Some(file),
            plain_http: true,
            timeout: Duration::from_secs(10),
            retries: 2,
        }
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
