//! Requests as spans: those of every capture, decoded by OpenTelemetry's own types, add up to what was read; both ends of a connection
//! are one trace; receivers get what a file has.

use crate::common::skipped;
use crate::exports::run;
use crate::exports_receivers::{captures, of_tool, printed};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use whyslow_export::{ExportHow, SpanCounts, write_spans};
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::Side;

fn written(format: &str, facts: &Facts) -> (Vec<u8>, SpanCounts) {
    let Some(ExportHow::Spans(spans)) = whyslow_export::find(format).map(|format| &format.how) else {
        panic!("{format} has spans")
    };
    let mut out = Vec::new();
    let counts = write_spans(facts, spans, &mut out).expect("written");
    (out, counts)
}

/// The spans of a request to export, each with the name of its process.
fn spans_of(request: ExportTraceServiceRequest) -> Vec<(String, Span)> {
    let groups = request.resource_spans.into_iter().flat_map(|group| {
        let about = group.resource.expect("a resource").attributes;
        let name = about.iter().find(|pair| pair.key == "service.name").and_then(text_of).expect("a name");
        let spans = group.scope_spans.into_iter().flat_map(|scope| scope.spans);
        spans.map(move |span| (name.clone(), span)).collect::<Vec<_>>()
    });
    groups.collect()
}

fn text_of(pair: &opentelemetry_proto::tonic::common::v1::KeyValue) -> Option<String> {
    match pair.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        _ => None,
    }
}

fn attribute(span: &Span, key: &str) -> Option<String> {
    span.attributes.iter().find(|pair| pair.key == key).and_then(text_of)
}

fn decoded(bytes: &[u8]) -> Vec<(String, Span)> {
    spans_of(ExportTraceServiceRequest::decode(bytes).expect("a protocol buffer"))
}

fn decoded_json(bytes: &[u8]) -> Vec<(String, Span)> {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON of OTLP"));
    lines.flat_map(spans_of).collect()
}

fn took(span: &Span) -> u64 {
    span.end_time_unix_nano.checked_sub(span.start_time_unix_nano).expect("an end behind its start")
}

/// What a span of Zipkin has in common with one of OTLP.
type Same = (String, Option<String>, String, String);

fn check(facts: &Facts, of: &str) -> SpanCounts {
    let (bytes, counts) = written("otlp", facts);
    let spans = decoded(&bytes);
    let (json, same) = written("otlp-json", facts);
    assert_eq!(counts, same, "{of}");
    assert!(spans == decoded_json(&json), "{of}: both forms have the same spans");
    let by_id: HashMap<&[u8], &Span> = spans.iter().map(|(_, span)| (&*span.span_id, span)).collect();
    assert_eq!(by_id.len(), spans.len(), "{of}: numbers are unique");

    // Each kept request is a span with its time.
    let mut wanted: BTreeMap<u64, (Side, u64)> = BTreeMap::new();
    for record in facts.requests.records().filter(|record| record.begin.is_known()) {
        wanted.insert(record.number, (record.side, record.dur.or_zero()));
    }
    let mut got = BTreeMap::new();
    let mut waits = (0, 0);
    for (_, span) in &spans {
        let side = match span.kind() {
            SpanKind::Server => Side::Server,
            SpanKind::Client => Side::Client,
            _ => {
                let above = by_id.get(&*span.parent_span_id).expect("a request above a wait");
                assert_eq!(above.trace_id, span.trace_id);
                assert!(above.start_time_unix_nano <= span.start_time_unix_nano, "{of}");
                assert!(span.end_time_unix_nano <= above.end_time_unix_nano, "{of}");
                waits = (waits.0 + 1, waits.1 + took(span));
                continue;
            }
        };
        if !span.parent_span_id.is_empty() {
            let above = by_id.get(&*span.parent_span_id).expect("what is named is there");
            assert_eq!(above.trace_id, span.trace_id, "{of}: a trace");
        }
        let number = attribute(span, "whyslow.request").expect("a number").parse().expect("digits");
        assert!(got.insert(number, (side, took(span))).is_none(), "{of}: request {number} twice");
        let parts = span.attributes.iter().filter(|pair| pair.key.starts_with("whyslow.time."));
        let sum: u64 = parts.map(|pair| text_of(pair).expect("ns").parse::<u64>().expect("ns")).sum();
        if side == Side::Server {
            assert_eq!(sum, took(span), "{of}: the parts of request {number}");
        }
    }
    assert_eq!(got, wanted, "{of}: requests");
    let time = got.values().map(|(_, ns)| ns).sum::<u64>();
    assert_eq!((counts.requests, counts.requests_ns), (got.len() as u64, time), "{of}");
    assert_eq!((counts.waits, counts.waits_ns), waits, "{of}: waits");
    check_zipkin(facts, &spans, of);
    counts
}

fn check_zipkin(facts: &Facts, spans: &[(String, Span)], of: &str) {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let wanted: Vec<Same> = spans
        .iter()
        .map(|(_, span)| {
            let parent = Some(hex(&span.parent_span_id)).filter(|parent| !parent.is_empty());
            (hex(&span.span_id), parent, span.name.clone(), took(span).to_string())
        })
        .collect();
    let (bytes, _) = written("zipkin", facts);
    let json: Vec<serde_json::Value> = serde_json::from_slice(&bytes).expect("a list");
    let text = |span: &serde_json::Value, key: &str| span[key].as_str().map(String::from);
    let got: Vec<Same> = json
        .iter()
        .map(|span| {
            let ns = span["tags"]["ns"].as_str().expect("ns").to_string();
            let ns = if ns == "unknown" { "0".to_string() } else { ns };
            (text(span, "id").expect("id"), text(span, "parentId"), text(span, "name").expect("name"), ns)
        })
        .collect();
    assert_eq!(got, wanted, "{of}: zipkin");
    for span in &json {
        let us = span["tags"]["ns"].as_str().expect("ns").parse::<u64>().ok().map(|ns| (ns / 1_000).max(1));
        assert_eq!(span["duration"].as_u64(), us, "{of}");
    }
}

#[test]
fn requests_of_every_capture_are_spans_with_their_time() {
    let mut sum = SpanCounts::default();
    for (file, facts) in captures() {
        let counts = check(&facts, &file.display().to_string());
        sum.requests += counts.requests;
        sum.waits += counts.waits;
    }
    assert!(sum.requests > 50 && sum.waits > 20, "{sum:?}");
}

/// A server that asks another one, both of them traced: what each does for one request.
const CHAIN: &str = r#"7 10:00:00.000000 accept4(3<TCP:[127.0.0.1:80]>, NULL, NULL, 0) = 5<TCP:[127.0.0.1:80->10.0.0.9:4000]> <0.000010>
7 10:00:00.001000 read(5<TCP:[127.0.0.1:80->10.0.0.9:4000]>, "GET /a?token=hunter2hunter2 HTTP/1.1\r\nHost: x\r\ntraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n\r\n", 4096) = 119 <0.000010>
7 10:00:00.001100 socket(AF_INET, SOCK_STREAM, 0) = 6 <0.000010>
7 10:00:00.001200 connect(6<TCP:[127.0.0.1:5000->127.0.0.1:81]>, {sa_family=AF_INET, sin_port=htons(81), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000010>
7 10:00:00.002000 write(6<TCP:[127.0.0.1:5000->127.0.0.1:81]>, "GET /b HTTP/1.1\r\nHost: y\r\n\r\n", 28) = 28 <0.000010>
8 10:00:00.000500 accept4(3<TCP:[127.0.0.1:81]>, NULL, NULL, 0) = 4<TCP:[127.0.0.1:81->127.0.0.1:5000]> <0.001000>
8 10:00:00.002100 read(4<TCP:[127.0.0.1:81->127.0.0.1:5000]>, "GET /b HTTP/1.1\r\nHost: y\r\n\r\n", 4096) = 28 <0.000010>
8 10:00:00.003000 fsync(9</srv/data>) = 0 <0.050000>
8 10:00:00.060000 write(4<TCP:[127.0.0.1:81->127.0.0.1:5000]>, "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", 40) = 40 <0.000010>
7 10:00:00.002100 read(6<TCP:[127.0.0.1:5000->127.0.0.1:81]>, "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", 4096) = 40 <0.058000>
7 10:00:00.061000 write(5<TCP:[127.0.0.1:80->10.0.0.9:4000]>, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 38) = 38 <0.000010>
"#;

/// The same as two traces of two processes.
fn chain(folder: &TempDir) -> String {
    let traces = folder.path().join("traces");
    std::fs::create_dir(&traces).expect("made");
    for pid in ["7", "8"] {
        let own = CHAIN.lines().filter_map(|line| line.strip_prefix(pid)?.strip_prefix(' '));
        let text: String = own.map(|line| format!("{line}\n")).collect();
        std::fs::write(traces.join(format!("trace.{pid}")), text).expect("written");
    }
    traces.display().to_string()
}

fn exported(input: &str, format: &str, folder: &TempDir) -> Vec<u8> {
    let to = folder.path().join(format);
    let ran = run(&["export", input, "--to", format, "-o", &to.display().to_string()]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    std::fs::read(to).expect("written")
}

#[test]
fn both_ends_of_a_connection_are_one_trace_with_the_waits() {
    let folder = TempDir::new().expect("a folder");
    let input = chain(&folder);
    let spans = decoded(&exported(&input, "otlp", &folder));
    let find = |name: &str, kind: SpanKind| {
        let mut found = spans.iter().filter(|(_, span)| span.name.contains(name) && span.kind() == kind);
        let one = found.next().unwrap_or_else(|| panic!("{name} {kind:?} is not there"));
        assert!(found.next().is_none(), "{name} {kind:?} twice");
        &one.1
    };
    let (outer, asked) = (find("/a", SpanKind::Server), find("/b", SpanKind::Client));
    let (inner, wait) = (find("/b", SpanKind::Server), find("/srv/data", SpanKind::Internal));
    assert!(outer.parent_span_id.is_empty());
    assert_eq!(asked.parent_span_id, outer.span_id);
    assert_eq!(inner.parent_span_id, asked.span_id);
    assert_eq!(attribute(inner, "whyslow.made_in_by").as_deref(), Some("connection"));
    assert_eq!(wait.parent_span_id, inner.span_id);
    assert_eq!(took(wait), 50_000_000);
    assert_eq!(attribute(wait, "whyslow.kind").as_deref(), Some("disk"));
    for (_, span) in &spans {
        assert_eq!(span.trace_id, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes());
    }
    let status = |span: &Span| span.status.clone().map(|status| (status.code, status.message));
    assert_eq!(status(inner), Some((2, "500".to_string())));
    assert_eq!(status(outer), None);
    assert!(inner.events.iter().any(|event| event.name == "first byte of the answer"));
    // The same input has the same numbers.
    assert_eq!(decoded(&exported(&input, "otlp", &folder)), spans);
    for format in ["otlp", "otlp-json", "zipkin"] {
        let bytes = exported(&input, format, &folder);
        assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"), "{format} has the secret");
    }
}

#[test]
fn what_has_no_requests_has_no_spans() {
    let folder = TempDir::new().expect("a folder");
    let trace = folder.path().join("x.st");
    std::fs::write(&trace, "7 10:00:00.000000 close(3) = 0 <0.000010>\n").expect("written");
    let trace = trace.display().to_string();
    for (args, wanted) in [
        (&["--to", "zipkin", "-o", "x"][..], "the input has no requests"),
        (&["--to", "csv", "--endpoint", "http://127.0.0.1:1"], "--endpoint takes spans"),
        (&["--to", "otlp", "--endpoint", "https://127.0.0.1:1"], "does not speak https"),
        (&["--to", "otlp", "--endpoint", "127.0.0.1:1"], "no URL of a receiver"),
    ] {
        let ran = run(&[&["export", trace.as_str()], args].concat());
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(!ran.status.success() && said.contains(wanted), "{args:?}: {said}");
    }
}

/// Takes one request, and answers it with that status. Gives its first line, its kind and its body.
fn take_one(listener: &TcpListener, status: &str) -> (String, String, Vec<u8>) {
    let (stream, _) = listener.accept().expect("a client");
    let mut reader = BufReader::new(stream);
    let (mut first, mut kind, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut first).expect("a line");
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        let Some((key, value)) = line.trim().split_once(": ") else { break };
        match key.to_lowercase().as_str() {
            "content-type" => kind = value.to_string(),
            "content-length" => length = value.parse().expect("a length"),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 4\r\nConnection: close\r\n\r\nwell");
    reader.get_mut().write_all(answer.as_bytes()).expect("answered");
    (first.trim().to_string(), kind, body)
}

#[test]
fn receivers_get_what_a_file_has() {
    let folder = TempDir::new().expect("a folder");
    let input = chain(&folder);
    for (format, path, media) in [
        ("otlp", "/v1/traces", "application/x-protobuf"),
        ("otlp-json", "/v1/traces", "application/json"),
        ("zipkin", "/api/v2/spans", "application/json"),
    ] {
        let file = exported(&input, format, &folder);
        for status in ["202 Accepted", "500 Oops"] {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let url = format!("http://{}", listener.local_addr().expect("an address"));
            let receiver = std::thread::spawn(move || take_one(&listener, status));
            let ran = run(&["export", &input, "--to", format, "--endpoint", &url]);
            let (first, kind, body) = receiver.join().expect("taken");
            assert_eq!((first, kind), (format!("POST {path} HTTP/1.1"), media.to_string()));
            assert_eq!(body.trim_ascii_end(), file.trim_ascii_end(), "{format}");
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            match status {
                "500 Oops" => {
                    assert!(!ran.status.success() && said.contains("answers 500: well"), "{said}");
                }
                _ => assert!(ran.status.success() && said.contains("3 requests with"), "{said}"),
            }
        }
    }
}

#[test]
fn python_decodes_our_spans() {
    const SCRIPT: &str = "
import sys
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
request = ExportTraceServiceRequest.FromString(open(sys.argv[1], 'rb').read())
spans = [span for group in request.resource_spans for scope in group.scope_spans for span in scope.spans]
print(len(spans), sum(span.end_time_unix_nano - span.start_time_unix_nano for span in spans))
";
    let mut is_there = Command::new("python3");
    is_there.args(["-c", "import opentelemetry.proto.collector.trace.v1.trace_service_pb2"]);
    if of_tool(&mut is_there, "there is no opentelemetry-proto for python3").is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let bytes = exported(&chain(&folder), "otlp", &folder);
    let spans = decoded(&bytes);
    let sum: u64 = spans.iter().map(|(_, span)| took(span)).sum();
    let read = printed(Command::new("python3").args(["-c", SCRIPT]).arg(folder.path().join("otlp")));
    assert_eq!(read.trim(), format!("{} {sum}", spans.len()));
}

/// A server that ends with the test.
struct Zipkin(Child);

impl Drop for Zipkin {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The answer's body to a GET, where it is 200.
fn get(address: &str, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let asked = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(asked.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    head.split(' ').nth(1).filter(|status| *status == "200")?;
    Some(body.to_string())
}

#[test]
fn zipkin_shows_our_spans_as_one_trace() {
    const JAR: &str = ".m2/repository/io/zipkin/zipkin-server/3.6.1/zipkin-server-3.6.1-exec.jar";
    let jar = std::env::home_dir().unwrap_or_default().join(JAR);
    if !jar.is_file() {
        return skipped(
            "there is no Zipkin (mvn dependency:get -Dartifact=io.zipkin:zipkin-server:3.6.1:jar:exec)",
        );
    }
    if of_tool(Command::new("java").arg("-version"), "there is no `java`").is_none() {
        return;
    }
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let address = format!("127.0.0.1:{port}");
    let mut java = Command::new("java");
    java.args(["-Xmx256m", "-Darmeria.ports[0].ip=127.0.0.1", "-Darmeria.ports[0].protocols[0]=http"]);
    java.arg(format!("-Darmeria.ports[0].port={port}")).arg("-jar").arg(jar);
    java.env("STORAGE_TYPE", "mem").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _server = Zipkin(java.spawn().expect("it starts"));
    let until = Instant::now() + Duration::from_secs(120);
    while get(&address, "/health").is_none() {
        assert!(Instant::now() < until, "Zipkin does not come up");
        std::thread::sleep(Duration::from_millis(200));
    }
    let folder = TempDir::new().expect("a folder");
    let input = chain(&folder);
    let ran = run(&["export", &input, "--to", "zipkin", "--endpoint", &format!("http://{address}")]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let wanted: Vec<serde_json::Value> =
        serde_json::from_slice(&exported(&input, "zipkin", &folder)).expect("a list");
    let path = "/api/v2/trace/4bf92f3577b34da6a3ce929d0e0e4736";
    let mut got: Vec<serde_json::Value> = Vec::new();
    while got.len() < wanted.len() {
        assert!(Instant::now() < until, "{} of {} spans are there", got.len(), wanted.len());
        std::thread::sleep(Duration::from_millis(100));
        got = get(&address, path).and_then(|body| serde_json::from_str(&body).ok()).unwrap_or_default();
    }
    let facts = |span: &serde_json::Value| {
        let text = |key: &str| span[key].as_str().unwrap_or_default().to_lowercase();
        let time = (span["timestamp"].as_u64(), span["duration"].as_u64());
        (text("id"), text("parentId"), text("name"), text("kind"), time, span["tags"].clone())
    };
    let mut got: Vec<_> = got.iter().map(facts).collect();
    let mut wanted: Vec<_> = wanted.iter().map(facts).collect();
    got.sort_by(|one, other| one.0.cmp(&other.0));
    wanted.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(got, wanted);
}
