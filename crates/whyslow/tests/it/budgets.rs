//! `whyslow check` on captures: exit status, complaints, forms of the report, baselines; and the examples of docs/BUDGETS.md.

use crate::budget_docs;
use crate::common::skipped;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A server's process that serves 10 requests, with two stat calls and an fsync each.
fn server() -> String {
    let mut text = "7 1700000000.000000 accept4(3<TCP:[127.0.0.1:80]>, {sa_family=AF_INET, sin_port=htons(4000), sin_addr=inet_addr(\"127.0.0.1\")}, [16], SOCK_CLOEXEC) = 4<TCP:[127.0.0.1:80->127.0.0.1:4000]> <0.000100>\n".to_string();
    let socket = "4<TCP:[127.0.0.1:80->127.0.0.1:4000]>";
    for i in 1..=10 {
        let mut line = |us: u64, call: String| text += &format!("7 17000000{i:02}.{us:06} {call}\n");
        line(
            0,
            format!(
                "recvfrom({socket}, \"GET /a HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n\", 4096, 0, NULL, NULL) = 29 <0.000050>"
            ),
        );
        line(200, "stat(\"/etc/a\", {st_mode=S_IFREG|0644, st_size=4, ...}) = 0 <0.000010>".to_string());
        line(
            300,
            "newfstatat(AT_FDCWD, \"/etc/b\", {st_mode=S_IFREG|0644, st_size=4, ...}, 0) = 0 <0.000010>"
                .to_string(),
        );
        line(400, "write(5</var/data>, \"one\\n\", 4) = 4 <0.000020>".to_string());
        line(500, "fdatasync(5</var/data>) = 0 <0.002000>".to_string());
        line(
            3000,
            format!(
                "sendto({socket}, \"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n\", 38, 0, NULL, 0) = 38 <0.000030>"
            ),
        );
    }
    text
}

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        place.file("server.st", &server());
        place
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null()).output().expect("the binary runs")
    }

    /// The status and what is told of a budget of these limits.
    fn check(&self, limits: &[&str]) -> (Option<i32>, String) {
        self.file("budget.toml", &format!("limits = {limits:?}\n"));
        let output = self.run(&["check", "--budget", "budget.toml", "server.st"]);
        let told = [&output.stdout[..], &output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&told).into_owned())
    }
}

#[test]
fn the_status_says_kept_broken_not_judged_or_unusable() {
    let place = Place::new();
    for (limits, status, told) in [
        (&["stat <= 2/request", "fsync <= 1/request", "call:stat <= 10"][..], 0, "3 limits kept"),
        (&["stat <= 1/request"], 1, "broken      stat <= 1/request: 2"),
        (&["bytes_written <= 400 B"], 1, "broken      bytes_written"),
        (&["stat <= 2/request", "p99 <= 50 ms"], 3, "times are not the program's own"),
        (&["stat <= 1/request", "p99 <= 50 ms"], 1, "1 of 2 limits broken, 1 not judged"),
        (&["wall <= 1 min"], 3, "not judged"),
        (&["finding:deadlock = none"], 0, "1 limit kept"),
        (&["statt <= 2/request"], 2, "budget.toml:1:11: expected the name of what is limited"),
        (&["stat <= 2/requests"], 2, "did you mean `request`?"),
    ] {
        let (code, text) = place.check(limits);
        assert_eq!(code, Some(status), "{limits:?}: {text}");
        assert!(text.contains(told), "{limits:?}: {text}");
    }
    assert_eq!(place.run(&["check", "--budget", "no.toml", "server.st"]).status.code(), Some(2));
    assert_eq!(place.run(&["check", "server.st"]).status.code(), Some(2));
}

#[test]
fn without_requests_a_limit_per_request_is_not_judged() {
    let place = Place::new();
    place.file("server.st", "7 1700000000.000000 stat(\"/etc/a\", {st_mode=S_IFREG|0644, st_size=4, ...}) = 0 <0.000010>\n7 1700000000.100000 close(3) = 0 <0.000010>\n");
    let (code, text) = place.check(&["stat <= 10/request"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("no served request was recognised"), "{text}");
}

#[test]
fn a_baseline_limits_later_runs() {
    let place = Place::new();
    let saved = place.run(&["check", "--save-baseline", "base.json", "server.st"]);
    assert_eq!(saved.status.code(), Some(0), "{saved:?}");
    let base: serde_json::Value = serde_json::from_str(&place.text("base.json")).unwrap();
    assert_eq!(base["figures"]["stat/request"]["median"], 2.0);
    assert!(base["figures"]["p99/request"].is_null(), "times of a tracer are no baseline: {base:#}");
    let same = place.run(&["check", "--baseline", "base.json", "server.st"]);
    assert_eq!(same.status.code(), Some(0), "{}", String::from_utf8_lossy(&same.stdout));
    let worse = server()
        .replace("fdatasync(5", "fsync(5</var/data>) = 0 <0.000010>\n7 1700000000.000700 fdatasync(5");
    place.file("worse.st", &worse);
    let worse = place.run(&["check", "--baseline", "base.json", "worse.st"]);
    let told = String::from_utf8_lossy(&worse.stdout).into_owned();
    assert_eq!(worse.status.code(), Some(1), "{told}");
    assert!(told.contains("broken      fsync/request <= 1.05 (baseline): 2"), "{told}");
}

#[test]
fn each_recording_is_a_run() {
    let place = Place::new();
    place.file("budget.toml", "limits = [\"stat <= 20\"]\n");
    place.file("more.st", &(server() + &server()));
    let args = ["check", "--budget", "budget.toml", "--json", "--each", "server.st", "server.st", "more.st"];
    let json: serde_json::Value = serde_json::from_slice(&place.run(&args).stdout).unwrap();
    assert_eq!(json["runs"], 3);
    assert_eq!((&json["limits"][0]["value"], &json["outcome"]), (&20.0.into(), &"kept".into()));
    assert_eq!(json["limits"][0]["runs"][2], 40.0);
}

#[test]
fn reports_are_written_in_all_forms() {
    let place = Place::new();
    place.file("budget.toml", "limits = [\n  \"stat <= 1/request\",\n  \"p99 <= 1 ms\",\n]\n");
    let args = ["check", "--budget", "budget.toml", "server.st", "--format", "github"];
    let outputs = ["-o", "c.xml", "-o", "c.sarif", "-o", "c.md", "-o", "json=c.out", "-o", "c.txt"];
    let output = place.run(&[&args[..], &outputs].concat());
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        told.starts_with("::error file=budget.toml,line=2,title=Budget broken::stat <= 1/request: 2"),
        "{told}"
    );
    let json: serde_json::Value = serde_json::from_str(&place.text("c.out")).unwrap();
    assert_eq!(json["limits"][1]["outcome"], "not-judged");
    let sarif: serde_json::Value = serde_json::from_str(&place.text("c.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(1));
    assert!(place.text("c.md").contains("❔ not judged"));
    assert_eq!(
        place.run(&["check", "--budget", "budget.toml", "server.st", "-o", "c.what"]).status.code(),
        Some(2)
    );
    assert_eq!(
        place.run(&["check", "--budget", "budget.toml", "server.st", "-o", "json=server.st"]).status.code(),
        Some(2)
    );
    let parse = "import sys, xml.etree.ElementTree as e; r = e.parse(sys.argv[1]).getroot(); s = r[0]; \
                 assert [len(list(r.iter(t))) for t in ('testcase', 'failure', 'skipped')] == [2, 1, 1]; \
                 assert (s.get('tests'), s.get('failures'), s.get('skipped'), s.get('errors')) == ('2', '1', '1', '0')";
    match Command::new("python3").args(["-c", parse]).arg(place.0.path().join("c.xml")).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => skipped(format!("no python3 to read XML: {error}")),
    }
}

#[test]
fn budgets_of_the_documents_are_sound() {
    let place = Place::new();
    let budgets = budget_docs::blocks("toml");
    assert!(budgets.len() >= 2);
    for budget in budgets {
        place.file("budget.toml", &budget);
        let output = place.run(&["check", "--budget", "budget.toml", "server.st"]);
        assert!(
            matches!(output.status.code(), Some(0 | 1 | 3)),
            "{budget}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    for text in budget_docs::blocks("yaml") {
        let read = "import sys, yaml; assert isinstance(yaml.safe_load(sys.stdin.read()), dict)";
        if !Command::new("python3")
            .args(["-c", "import yaml"])
            .output()
            .is_ok_and(|output| output.status.success())
        {
            println!("note: no python3 with yaml to read the examples for CI");
            break;
        }
        let mut child = Command::new("python3").args(["-c", read]).stdin(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{text}");
    }
    assert!(budget_docs::checks().len() >= 6);
}
