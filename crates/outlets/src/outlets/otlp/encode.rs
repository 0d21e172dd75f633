//! Messages of OpenTelemetry: `ExportMetricsServiceRequest` and `ExportLogsServiceRequest` of
//! github.com/open-telemetry/opentelemetry-proto 1.10, `opentelemetry/proto/{metrics,logs,common,resource}/v1`. The numbers are those of
//! the fields there.

use crate::family::{FamilyKind, MetricFamily};
use crate::sums::{FamilySample, FamilySamples, Figure, bounds};
use crate::told::{ToldFinding, ToldWindow};
use whyslow_profile::protobuf::ProtoMessage;

/// The name of the instrumentation, and of the service that the agent itself is.
const SCOPE: &str = "whyslow";
/// `AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u64 = 2;

/// us since 1970 as ns.
fn nanos(us: i64) -> u64 {
    (us.max(0) as u64).saturating_mul(1_000)
}

fn text_value(key: &str, text: &str) -> ProtoMessage {
    let mut value = ProtoMessage::default();
    value.bytes(1, text.as_bytes());
    pair(key, &value)
}

fn number_value(key: &str, number: f64) -> ProtoMessage {
    let mut value = ProtoMessage::default();
    value.fixed64(4, number.to_bits());
    pair(key, &value)
}

fn pair(key: &str, value: &ProtoMessage) -> ProtoMessage {
    let mut out = ProtoMessage::default();
    out.bytes(1, key.as_bytes());
    out.bytes(2, &value.0);
    out
}

/// A `Resource`: a service on this host.
pub(super) fn resource(window: &ToldWindow, service: &str, version: Option<&str>) -> ProtoMessage {
    let mut out = ProtoMessage::default();
    out.bytes(1, &text_value("service.name", service).0);
    if let Some(version) = version {
        out.bytes(1, &text_value("service.version", version).0);
    }
    out.bytes(1, &text_value("host.name", &window.host).0);
    out.bytes(1, &text_value("service.instance.id", &window.host).0);
    out
}

fn scope() -> ProtoMessage {
    let mut out = ProtoMessage::default();
    out.bytes(1, SCOPE.as_bytes());
    out.bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
    out
}

/// All figures, at the end of the window.
pub(super) fn metrics(window: &ToldWindow, families: &[FamilySamples]) -> Vec<u8> {
    let (mut out, mut of_resource, mut of_scope) =
        (ProtoMessage::default(), ProtoMessage::default(), ProtoMessage::default());
    of_scope.bytes(1, &scope().0);
    let at = nanos(window.end());
    for of in families {
        of_scope.bytes(2, &metric(&of.family, &of.samples, at).0);
    }
    of_resource.bytes(1, &resource(window, SCOPE, Some(&window.version)).0);
    of_resource.bytes(2, &of_scope.0);
    out.bytes(1, &of_resource.0);
    out.0
}

fn metric(family: &MetricFamily, samples: &[FamilySample], at: u64) -> ProtoMessage {
    let (mut out, mut data) = (ProtoMessage::default(), ProtoMessage::default());
    // What makes Prometheus' names of these adds unit and `_total`; of words about something it adds nothing.
    let name = if family.kind == FamilyKind::Info { family.name() } else { family.stem.to_string() };
    out.bytes(1, name.as_bytes());
    out.bytes(2, family.help.as_bytes());
    out.bytes(3, family.unit.ucum().as_bytes());
    for sample in samples {
        data.bytes(1, &point(sample, at).0);
    }
    match family.kind {
        FamilyKind::Gauge | FamilyKind::Info => out.bytes(5, &data.0),
        FamilyKind::Counter => {
            data.number(2, CUMULATIVE);
            data.number(3, 1);
            out.bytes(7, &data.0);
        }
        FamilyKind::Histogram => {
            data.number(2, CUMULATIVE);
            out.bytes(9, &data.0);
        }
    }
    out
}

fn point(sample: &FamilySample, at: u64) -> ProtoMessage {
    let mut out = ProtoMessage::default();
    if let Some(since) = sample.since {
        out.fixed64(2, nanos(since));
    }
    out.fixed64(3, at);
    let attributes = match &sample.figure {
        Figure::Count(count) => {
            out.fixed64(6, *count);
            7
        }
        Figure::Nanos(ns) => {
            out.fixed64(4, (*ns as f64 / 1e9).to_bits());
            7
        }
        Figure::Number(value) => {
            out.fixed64(4, value.to_bits());
            7
        }
        Figure::Histogram { counts, ns } => {
            out.fixed64(4, counts.iter().sum());
            out.fixed64(5, (*ns as f64 / 1e9).to_bits());
            packed64(&mut out, 6, counts.iter().copied());
            packed64(&mut out, 7, bounds().map(f64::to_bits).into_iter());
            9
        }
    };
    for (name, value) in &sample.labels {
        out.bytes(attributes, &text_value(name, value).0);
    }
    out
}

/// Numbers of eight bytes behind one another.
fn packed64(out: &mut ProtoMessage, field: u64, values: impl Iterator<Item = u64>) {
    let bytes: Vec<u8> = values.flat_map(u64::to_le_bytes).collect();
    out.bytes(field, &bytes);
}

/// Findings that opened and closed, each a record of the service that it is of; `None` where there are none.
pub(super) fn logs(window: &ToldWindow) -> Option<Vec<u8>> {
    let mut told: Vec<&ToldFinding> =
        window.findings.iter().filter(|finding| finding.state != "continues").collect();
    told.sort_by_key(|finding| (&finding.service, &finding.version));
    let mut out = ProtoMessage::default();
    for of_service in told.chunk_by(|a, b| (&a.service, &a.version) == (&b.service, &b.version)) {
        let (mut of_resource, mut of_scope) = (ProtoMessage::default(), ProtoMessage::default());
        of_scope.bytes(1, &scope().0);
        for finding in of_service {
            of_scope.bytes(2, &record(finding, window).0);
        }
        let first = of_service.first()?;
        of_resource.bytes(1, &resource(window, &first.service, first.version.as_deref()).0);
        of_resource.bytes(2, &of_scope.0);
        out.bytes(1, &of_resource.0);
    }
    (!out.0.is_empty()).then_some(out.0)
}

fn record(finding: &ToldFinding, window: &ToldWindow) -> ProtoMessage {
    let is_closed = finding.state == "closed";
    // `SeverityNumber`: INFO, INFO2, WARN, ERROR.
    let (number, word) = match (is_closed, finding.severity.as_str()) {
        (true, _) => (9, "INFO"),
        (false, "critical") => (17, "ERROR"),
        (false, "warning") => (13, "WARN"),
        (false, _) => (10, "INFO2"),
    };
    let at = nanos(window.end());
    let (mut out, mut body) = (ProtoMessage::default(), ProtoMessage::default());
    body.bytes(1, finding.title.as_bytes());
    out.fixed64(1, at);
    out.number(2, number);
    out.bytes(3, word.as_bytes());
    out.bytes(5, &body.0);
    let texts = [
        ("whyslow.rule", Some(&finding.rule)),
        ("whyslow.finding", Some(&finding.finding)),
        ("whyslow.severity", Some(&finding.severity)),
        ("whyslow.process", finding.process.as_ref()),
        ("whyslow.culprit", finding.culprit.as_ref()),
        ("whyslow.line", finding.line.as_ref()),
        ("whyslow.cause", Some(&finding.cause)),
        ("whyslow.evidence", Some(&finding.evidence)),
    ];
    for (name, text) in texts {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            out.bytes(6, &text_value(name, text).0);
        }
    }
    if !finding.fix.is_empty() {
        out.bytes(6, &text_value("whyslow.fix", &finding.fix.join("\n")).0);
    }
    out.bytes(6, &text_value("whyslow.opened", &crate::message::rfc3339(finding.opened)).0);
    for (name, number) in [("whyslow.share", finding.share), ("whyslow.confidence", finding.confidence)] {
        if let Some(number) = number {
            out.bytes(6, &number_value(name, number).0);
        }
    }
    out.fixed64(11, at);
    let event = if is_closed { "whyslow.finding.closed" } else { "whyslow.finding.opened" };
    out.bytes(12, event.as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family;
    use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
    use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
    use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value};
    use opentelemetry_proto::tonic::metrics::v1::{metric::Data, number_data_point};
    use prost::Message;
    use std::borrow::Cow;

    fn window() -> ToldWindow {
        ToldWindow {
            host: "h1".into(),
            version: "0.1".into(),
            start: 60_000_000,
            seconds: 60.0,
            ..ToldWindow::default()
        }
    }

    fn text<'a>(all: &'a [KeyValue], key: &str) -> &'a str {
        let found = all.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.as_ref());
        match found {
            Some(AnyValue { value: Some(Value::StringValue(text)) }) => text,
            _ => "",
        }
    }

    #[test]
    fn figures_are_read_by_their_own_decoder() {
        let sample = |labels: &[(&'static str, &str)], figure, since| FamilySample {
            labels: labels.iter().map(|(name, value)| (*name, (*value).to_string())).collect(),
            figure,
            since,
        };
        let of = |family: &'static family::MetricFamily, sample| FamilySamples {
            family: Cow::Borrowed(family),
            samples: vec![sample],
        };
        let mut counts = vec![0; bounds().len() + 1];
        (counts[3], counts[14]) = (5, 1);
        let families = [
            of(&family::ACCOUNT, sample(&[("state", "user")], Figure::Nanos(1_500_000_000), Some(7_000_000))),
            of(&family::AGENT_PARTS, sample(&[], Figure::Count(0), None)),
            of(
                &family::REQUEST_DURATION,
                sample(&[("endpoint", "GET /")], Figure::Histogram { counts, ns: 2_000_000_000 }, Some(1)),
            ),
        ];
        let bytes = metrics(&window(), &families);
        let read = ExportMetricsServiceRequest::decode(bytes.as_slice()).expect("decoded");
        let of_resource = &read.resource_metrics[0];
        let about = &of_resource.resource.as_ref().expect("a resource").attributes;
        assert_eq!((text(about, "service.name"), text(about, "host.name")), ("whyslow", "h1"));
        let all = &of_resource.scope_metrics[0].metrics;
        assert_eq!((all[0].name.as_str(), all[0].unit.as_str()), ("whyslow_account", "s"));
        let Some(Data::Sum(sum)) = &all[0].data else { panic!("{:?}", all[0]) };
        assert!(sum.is_monotonic && sum.aggregation_temporality == 2);
        let point = &sum.data_points[0];
        assert_eq!((point.start_time_unix_nano, point.time_unix_nano), (7_000_000_000, 120_000_000_000));
        assert_eq!(point.value, Some(number_data_point::Value::AsDouble(1.5)));
        assert_eq!(text(&point.attributes, "state"), "user");
        let Some(Data::Gauge(gauge)) = &all[1].data else { panic!("{:?}", all[1]) };
        assert_eq!(gauge.data_points[0].value, Some(number_data_point::Value::AsInt(0)));
        let Some(Data::Histogram(histogram)) = &all[2].data else { panic!("{:?}", all[2]) };
        let point = &histogram.data_points[0];
        assert_eq!((point.count, point.sum, histogram.aggregation_temporality), (6, Some(2.0), 2));
        assert_eq!((point.bucket_counts.len(), point.bucket_counts[3]), (point.explicit_bounds.len() + 1, 5));
        assert_eq!(point.explicit_bounds, bounds());
        assert_eq!(text(&point.attributes, "endpoint"), "GET /");
    }

    #[test]
    fn findings_are_records_of_their_services() {
        let finding = |service: &str, state: &str, severity: &str| ToldFinding {
            finding: "f".into(),
            rule: "r".into(),
            severity: severity.into(),
            service: service.into(),
            title: format!("{service} waits"),
            state: state.into(),
            share: Some(0.5),
            ..ToldFinding::default()
        };
        let findings = vec![
            finding("b", "open", "critical"),
            finding("a", "continues", "warning"),
            finding("b", "closed", "critical"),
            finding("a", "open", "notice"),
        ];
        let bytes = logs(&ToldWindow { findings, ..window() }).expect("some");
        let read = ExportLogsServiceRequest::decode(bytes.as_slice()).expect("decoded");
        let services: Vec<&str> = read
            .resource_logs
            .iter()
            .map(|of| text(&of.resource.as_ref().expect("a resource").attributes, "service.name"))
            .collect();
        assert_eq!(services, ["a", "b"]);
        let records = &read.resource_logs[1].scope_logs[0].log_records;
        let said: Vec<(&str, i32, &str)> = records
            .iter()
            .map(|record| {
                (record.event_name.as_str(), record.severity_number, text(&record.attributes, "whyslow.rule"))
            })
            .collect();
        assert_eq!(said, [("whyslow.finding.opened", 17, "r"), ("whyslow.finding.closed", 9, "r")]);
        assert_eq!(records[0].time_unix_nano, 120_000_000_000);
        let Some(AnyValue { value: Some(Value::StringValue(body)) }) = &records[0].body else { panic!() };
        assert_eq!(body, "b waits");
        assert_eq!(logs(&window()), None);
    }
}
