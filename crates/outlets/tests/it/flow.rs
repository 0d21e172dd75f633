//! Windows that are handed over reach all receivers.

use crate::receiver::{LONGEST, Receiver};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use prost::Message;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::{Duration, Instant};
use whyslow_outlets::{
    AgentFigures, JournalSettings, OpenMetricsSettings, OtlpSettings, OutletSettings, OutletUrl, Outlets,
    ToldRows, WebhookForm, WebhookSettings, hand_over,
};
use whyslow_parts::{AccountRow, AgentRow, CallRow, FindingRow, HostRow, RequestRow, UtcTime};

const MINUTE: i64 = 60_000_000;

fn account(service: &str, ns: u64) -> AccountRow {
    AccountRow {
        service: service.into(),
        process: "p".into(),
        role: "worker".into(),
        state: "peer".into(),
        object: Some("10.0.0.2:6379".into()),
        ns,
        threads: 1,
        ..AccountRow::default()
    }
}

fn finding(state: &str) -> FindingRow {
    FindingRow {
        finding: "00000000000000ff".into(),
        rule: "fsync-per-write".into(),
        severity: "warning".into(),
        service: "shop".into(),
        process: Some("p".into()),
        title: "Each write waits for the disk".into(),
        share: Some(0.5),
        state: state.into(),
        opened: UtcTime(1_795_801_740_000_000),
        last_seen: UtcTime(1_795_801_740_000_000),
        evidence: r#"{"cause":"each write is synced","fix":["sync less"]}"#.into(),
        ..FindingRow::default()
    }
}

/// Hands over a window in which that finding is in that state.
fn hand(state: &Path, number: i64, of: &str) {
    let findings = [finding(of)];
    let open: &[FindingRow] = if of == "closed" { &[] } else { &findings };
    let rows = ToldRows {
        host: "h1",
        start: 1_795_801_740_000_000 + number * MINUTE,
        seconds: 60.0,
        accounts: &[account("shop", 5_000_000_000), account("mail", 1_000_000)],
        calls: &[CallRow {
            service: "shop".into(),
            process: "p".into(),
            call: "fsync".into(),
            calls: 100,
            errors: Some(1),
            ns: Some(4_000_000_000),
            ..CallRow::default()
        }],
        requests: &[RequestRow {
            service: "shop".into(),
            side: "served".into(),
            protocol: "http1".into(),
            endpoint: "POST /orders".into(),
            requests: 3,
            failed: Some(1),
            ns: Some(3_000_000),
            buckets: Some([vec![0; 19], vec![3]].concat()),
            ..RequestRow::default()
        }],
        stacks: &[],
        hosts: &[HostRow {
            resource: "cpu".into(),
            metric: "pressure_cpu".into(),
            value: 0.5,
            unit: "share".into(),
        }],
        findings: &findings,
        open,
        agent: &AgentRow { version: "0.1.0".into(), events: Some(1_000), ..AgentRow::default() },
    };
    hand_over(state, "run", &rows).expect("handed over");
}

fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port")
}

fn page(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).expect("listens");
    let head = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: application/openmetrics-text\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("asked");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    answer
}

fn wait_for_line(address: SocketAddr, line: &str) -> String {
    let began = Instant::now();
    loop {
        let page = page(address);
        if page.lines().any(|known| known == line) {
            return page;
        }
        assert!(began.elapsed() < LONGEST, "{line} is not in\n{page}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn settings(state: &Path, receiver: &Receiver) -> OutletSettings {
    let url = |path: &str| OutletUrl::new(&format!("http://{}{path}", receiver.address));
    let webhook = |url, form, token_file| WebhookSettings {
        url,
        form,
        severity: "notice".into(),
        token_file,
        link: String::new(),
    };
    let token = state.join("token");
    std::fs::write(&token, "0123456789abcdef\n").expect("written");
    OutletSettings {
        openmetrics: Some(OpenMetricsSettings { listen: free_port(), ..OpenMetricsSettings::default() }),
        otlp: Some(OtlpSettings { endpoint: url("/otlp"), ..OtlpSettings::default() }),
        webhook: vec![
            webhook(url(""), WebhookForm::Alertmanager, None),
            webhook(url("/hook"), WebhookForm::Generic, Some(token)),
        ],
        journal: Some(JournalSettings { on: true, socket: state.join("journal") }),
        ..OutletSettings::default()
    }
}

#[test]
fn a_window_reaches_all_receivers_and_its_end_too() {
    let state = tempfile::tempdir().expect("a folder");
    let receiver = Receiver::start();
    let journal = UnixDatagram::bind(state.path().join("journal")).expect("bound");
    journal.set_read_timeout(Some(LONGEST)).expect("set");
    let settings = settings(state.path(), &receiver);
    assert_eq!(settings.check(), Ok(()));
    // One that an agent before this one did not get to is sent as well.
    std::fs::create_dir(state.path().join("outlets")).expect("made");
    std::fs::write(state.path().join("outlets/wants"), "{\"stacks\":false}").expect("written");
    hand(state.path(), 0, "open");
    let mut outlets =
        Outlets::start(state.path(), &settings, AgentFigures { since: 1, ..AgentFigures::default() });
    let address = settings.openmetrics.as_ref().expect("on").listen;
    wait_for_line(address, "whyslow_calls_total{service=\"shop\",process=\"p\",call=\"fsync\"} 100");
    hand(state.path(), 1, "continues");
    outlets.see(AgentFigures { windows: 2, memory: 77, ..AgentFigures::default() });
    outlets.look();
    let page =
        wait_for_line(address, "whyslow_calls_total{service=\"shop\",process=\"p\",call=\"fsync\"} 200");
    for line in [
        "whyslow_account_seconds_total{service=\"shop\",process=\"p\",role=\"worker\",state=\"peer\",object_kind=\"peer\"} 10.0",
        "whyslow_request_duration_seconds_bucket{le=\"0.001048575\",service=\"shop\",side=\"served\",protocol=\"http1\",endpoint=\"POST /orders\"} 6",
        "whyslow_findings_open{rule=\"fsync-per-write\",severity=\"warning\",service=\"shop\"} 1",
        "whyslow_findings_opened_total{severity=\"warning\"} 1",
        "whyslow_host_pressure_cpu_ratio{resource=\"cpu\"} 0.5",
        "whyslow_agent_windows_total 2",
        "whyslow_agent_memory_bytes 77",
    ] {
        assert!(page.lines().any(|known| known == line), "{line} is not in\n{page}");
    }
    hand(state.path(), 2, "closed");
    outlets.look();
    let alerts = receiver.wait_for("/api/v2/alerts", 3);
    let ends: Vec<String> = alerts
        .iter()
        .map(|got| {
            let alerts: serde_json::Value = serde_json::from_slice(&got.body).expect("JSON");
            assert_eq!(alerts[0]["labels"]["alertname"], "fsync-per-write");
            assert_eq!(alerts[0]["annotations"]["fix"], "sync less");
            alerts[0]["endsAt"].as_str().expect("an end").to_string()
        })
        .collect();
    assert_eq!(
        ends,
        ["2026-11-27T17:55:00.000000Z", "2026-11-27T17:56:00.000000Z", "2026-11-27T17:52:00.000000Z"]
    );
    let hooks = receiver.wait_for("/hook", 2);
    assert!(hooks[0].headers.contains(&"authorization: Bearer 0123456789abcdef".to_string()));
    let statuses: Vec<serde_json::Value> = hooks
        .iter()
        .map(|got| serde_json::from_slice::<serde_json::Value>(&got.body).expect("JSON")["status"].clone())
        .collect();
    assert_eq!(statuses, ["firing", "resolved"]);
    let metrics = receiver.wait_for("/otlp/v1/metrics", 3);
    let read = ExportMetricsServiceRequest::decode(metrics[1].body.as_slice()).expect("decoded");
    let names: Vec<&str> =
        read.resource_metrics[0].scope_metrics[0].metrics.iter().map(|metric| metric.name.as_str()).collect();
    assert!(names.contains(&"whyslow_account") && names.contains(&"whyslow_findings_open"), "{names:?}");
    let logs = receiver.wait_for("/otlp/v1/logs", 2);
    let read = ExportLogsServiceRequest::decode(logs[1].body.as_slice()).expect("decoded");
    let record = &read.resource_logs[0].scope_logs[0].log_records[0];
    assert_eq!(record.event_name, "whyslow.finding.closed");
    let mut line = vec![0; 1 << 16];
    for wanted in ["WHYSLOW_EVENT=opened\n", "WHYSLOW_EVENT=closed\n"] {
        let got = journal.recv(&mut line).expect("a line");
        let text = String::from_utf8_lossy(&line[..got]).into_owned();
        assert!(text.contains(wanted) && text.contains("WHYSLOW_RULE=fsync-per-write\n"), "{text}");
    }
    outlets.finish(LONGEST);
    assert_eq!(outlets.notes(), Vec::<String>::new());
    drop(outlets);
    TcpListener::bind(address).expect("free again");
}

#[test]
fn a_receiver_that_is_away_is_tried_again_and_what_it_says_is_said_once() {
    let state = tempfile::tempdir().expect("a folder");
    let receiver = Receiver::start();
    let settings = OutletSettings {
        webhook: Vec::new(),
        openmetrics: None,
        journal: None,
        ..settings(state.path(), &receiver)
    };
    receiver.answer("503 Service Unavailable");
    receiver.answer("400 Bad Request");
    let outlets = Outlets::start(state.path(), &settings, AgentFigures::default());
    hand(state.path(), 0, "continues");
    outlets.look();
    // Tried again a second later, then refused for good.
    receiver.wait_for("/otlp/v1/metrics", 2);
    hand(state.path(), 1, "continues");
    outlets.look();
    receiver.wait_for("/otlp/v1/metrics", 3);
    let mut said = Vec::new();
    let began = Instant::now();
    while said.len() < 2 {
        outlets.look();
        said.extend(outlets.notes());
        assert!(began.elapsed() < LONGEST, "{said:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(said[0].contains("answers 503") && said[0].contains("tried again"), "{said:?}");
    assert!(!said[0].contains("/otlp"), "{said:?}");
    assert!(said[1].contains("takes messages again"), "{said:?}");
}

#[test]
fn what_cannot_be_opened_is_said_and_the_others_go_on() {
    let state = tempfile::tempdir().expect("a folder");
    let taken = TcpListener::bind("127.0.0.1:0").expect("bound");
    let receiver = Receiver::start();
    let settings = OutletSettings {
        openmetrics: Some(OpenMetricsSettings {
            listen: taken.local_addr().expect("an address"),
            ..OpenMetricsSettings::default()
        }),
        journal: Some(JournalSettings { on: true, socket: state.path().join("none") }),
        otlp: None,
        ..settings(state.path(), &receiver)
    };
    let outlets = Outlets::start(state.path(), &settings, AgentFigures::default());
    hand(state.path(), 0, "open");
    outlets.look();
    receiver.wait_for("/hook", 1);
    let mut said = Vec::new();
    let began = Instant::now();
    while said.len() < 2 {
        said.extend(outlets.notes());
        assert!(began.elapsed() < LONGEST, "{said:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(said.iter().any(|text| text.contains("nothing can listen there")), "{said:?}");
    assert!(said.iter().any(|text| text.contains("journal") && text.contains("is not there")), "{said:?}");
}

#[test]
fn without_an_outlet_nothing_is_kept() {
    let state = tempfile::tempdir().expect("a folder");
    let receiver = Receiver::start();
    let on = settings(state.path(), &receiver);
    drop(Outlets::start(state.path(), &on, AgentFigures::default()));
    assert!(state.path().join("outlets").exists());
    drop(Outlets::start(state.path(), &OutletSettings::default(), AgentFigures::default()));
    hand(state.path(), 0, "open");
    assert!(!state.path().join("outlets").exists());
}
