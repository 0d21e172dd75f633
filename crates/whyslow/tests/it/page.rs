//! The page as people write it: what is in it, that nothing hostile gets out of its data, and that its times are all of them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::process::Command;

/// A trace with names that a page must not act upon, and a secret.
const TRACE: &str = "\
7 10:00:00.000000 openat(AT_FDCWD, \"/tmp/</script><script>alert(1)</script>\u{202e}\", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000100>\n\
7 10:00:00.001000 write(1, \"GET /?token=hunter2hunter2 HTTP/1.1\", 35) = 35 <0.000200>\n\
7 10:00:00.002000 nanosleep({tv_sec=0, tv_nsec=500000000}, NULL) = 0 <0.500000>\n\
7 10:00:00.600000 fsync(3) = 0 <0.300000>\n\
7 10:00:01.000000 exit_group(0) = ?\n";

fn written(args: &[&str], folder: &std::path::Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    let done = command.args(args).current_dir(folder).output().expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read_to_string(folder.join("x.html")).expect("a page")
}

fn data(page: &str) -> Value {
    let begin = page.find("id=\"whyslow-data\">").expect("data") + "id=\"whyslow-data\">".len();
    let packed = page[begin..].split('<').next().unwrap_or_default();
    let packed = STANDARD.decode(packed).expect("base64");
    let mut json = String::new();
    flate2::read::GzDecoder::new(&*packed).read_to_string(&mut json).expect("gzip");
    serde_json::from_str(&json).expect("JSON")
}

#[test]
fn a_page_has_all_time_and_lets_nothing_hostile_out() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.st"), TRACE).expect("a trace");
    let page = written(&["report", "a.st", "-o", "x.html"], folder.path());
    assert!(!page.contains("<script>alert") && !page.contains(" style=\""));
    // What runs and styles is what the policy names, and no more.
    for (open, close) in [("<script>", "</script>"), ("<style>", "</style>")] {
        for part in page.split(open).skip(1) {
            let text = part.split(close).next().unwrap_or_default();
            let hash = STANDARD.encode(Sha256::digest(text.as_bytes()));
            assert!(page.contains(&format!("'sha256-{hash}'")), "{open}");
        }
    }
    let data = data(&page);
    assert!(!data.to_string().contains("hunter2"));
    let run = &data["runs"][0];
    assert_eq!((&run["name"], &run["kind"]), (&Value::from("a.st"), &Value::from("capture")));
    let timeline = &run["timeline"];
    assert_eq!(timeline["slices"]["start"].as_array().map(Vec::len), Some(5));
    assert_eq!(run["left_out"].as_array().map(Vec::len), Some(0), "{}", run["left_out"]);
    // From the first call to the end of the last that is known to have ended, each nanosecond once.
    let sum: u64 = timeline["tiles"]["ns"].as_array().into_iter().flatten().filter_map(Value::as_u64).sum();
    assert_eq!(sum, 900_000_000);
}

#[test]
fn two_runs_stand_on_one_page() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.st", "b.st"] {
        std::fs::write(folder.path().join(name), TRACE).expect("a trace");
    }
    let data = data(&written(&["diff", "a.st", "b.st", "-o", "x.html"], folder.path()));
    assert_eq!(data["runs"].as_array().map(Vec::len), Some(2));
    assert_eq!(data["diff"]["schema"], "whyslow.diff/1");
}
