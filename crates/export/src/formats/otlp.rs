//! `otlp` and `otlp-json`: requests with their waits as spans of OpenTelemetry (`opentelemetry/proto/trace/v1/trace.proto` of
//! github.com/open-telemetry/opentelemetry-proto). The first is one `ExportTraceServiceRequest` as a protocol buffer; the second is one
//! a line, as OTLP's file exporter writes them. `otlp-profiles`: a profile as OpenTelemetry's signal of profiles has it.

use super::{ExportFormat, ExportHow};
use crate::json;
use crate::spans::{RequestSpans, SpanFormat, SpanFraming, SpanKind, SpanOut, SpanValue};
use std::io::{self, Write};
use whyslow_profile::protobuf::ProtoMessage;

/// The format as a protocol buffer.
pub(super) static PROTOBUF: ExportFormat = ExportFormat {
    name: "otlp",
    about: "the same for OpenTelemetry, as a protocol buffer",
    opened_by: "OpenTelemetry's collector, Jaeger, Tempo (--endpoint http://HOST:4318)",
    is_binary: true,
    escapes: true,
    how: ExportHow::Spans(&SpanFormat {
        media: "application/x-protobuf",
        path: "/v1/traces",
        framing: SpanFraming::Joined,
        encode: encode_protobuf,
    }),
};

/// The format as JSON.
pub(super) static JSON: ExportFormat = ExportFormat {
    name: "otlp-json",
    about: "the same as JSON, a batch a line",
    opened_by: "the collector's otlpjsonfile receiver, and what takes OTLP (--endpoint http://HOST:4318)",
    is_binary: false,
    escapes: true,
    how: ExportHow::Spans(&SpanFormat {
        media: "application/json",
        path: "/v1/traces",
        framing: SpanFraming::Lines,
        encode: encode_json,
    }),
};

/// A profile as a protocol buffer.
pub(super) static PROFILES: ExportFormat = ExportFormat {
    name: "otlp-profiles",
    about: "profile: the same as pprof's, in OpenTelemetry's signal of profiles (v1development)",
    opened_by: "OpenTelemetry's collector (POST to /v1development/profiles), which hands it to Pyroscope and others",
    is_binary: true,
    escapes: true,
    how: ExportHow::Stacks("otlp"),
};

/// The key of a process' name.
const SERVICE: &str = "service.name";
/// The key of its number.
const PID: &str = "process.pid";
/// The key that a span has whose end is unknown: OTLP has no spans without an end.
const NO_END: &str = "whyslow.duration_unknown";
/// `Status.StatusCode.STATUS_CODE_ERROR`.
const FAILED: u64 = 2;
/// The name of the instrumentation.
const SCOPE: &str = "whyslow";

/// `Span.SpanKind`.
fn number_of(kind: SpanKind) -> u64 {
    match kind {
        SpanKind::Wait => 1,
        SpanKind::Served => 2,
        SpanKind::Made => 3,
    }
}

/// Requests of one process behind one another.
fn by_process(requests: &[RequestSpans]) -> impl Iterator<Item = &[RequestSpans]> {
    requests.chunk_by(|one, next| (one.pid, &one.service) == (next.pid, &next.service))
}

fn resource(request: &RequestSpans) -> Vec<(&'static str, SpanValue)> {
    let mut about = vec![(SERVICE, SpanValue::Text(request.service.clone()))];
    if request.pid != 0 {
        about.push((PID, SpanValue::Number(request.pid.into())));
    }
    about
}

/// What is told of a span by attributes.
fn attributes(span: &SpanOut) -> impl Iterator<Item = (&str, SpanValue)> {
    let peer = span.peer.as_ref().map(|peer| ("network.peer.address", SpanValue::Text(peer.clone())));
    let no_end = span.took.is_none().then_some((NO_END, SpanValue::Flag(true)));
    let own = span.attributes.iter().map(|(key, value)| (key.as_str(), value.clone()));
    own.chain(peer).chain(no_end)
}

fn encode_protobuf(requests: &[RequestSpans]) -> io::Result<Vec<u8>> {
    let mut out = ProtoMessage::default();
    for of_process in by_process(requests) {
        let (mut group, mut about, mut scope_spans, mut scope) = (
            ProtoMessage::default(),
            ProtoMessage::default(),
            ProtoMessage::default(),
            ProtoMessage::default(),
        );
        for (key, value) in of_process.first().map(resource).unwrap_or_default() {
            about.bytes(1, &key_value(key, &value).0);
        }
        scope.bytes(1, SCOPE.as_bytes());
        scope.bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
        scope_spans.bytes(1, &scope.0);
        for span in of_process.iter().flat_map(|request| &request.spans) {
            scope_spans.bytes(2, &span_message(span).0);
        }
        group.bytes(1, &about.0);
        group.bytes(2, &scope_spans.0);
        out.bytes(1, &group.0);
    }
    Ok(out.0)
}

fn span_message(span: &SpanOut) -> ProtoMessage {
    let mut out = ProtoMessage::default();
    out.bytes(1, &span.trace.to_be_bytes());
    out.bytes(2, &span.id.to_be_bytes());
    if let Some(parent) = span.parent {
        out.bytes(4, &parent.to_be_bytes());
    }
    out.bytes(5, span.name.as_bytes());
    out.number(6, number_of(span.kind));
    out.fixed64(7, span.from);
    out.fixed64(8, span.from.saturating_add(span.took.unwrap_or(0)));
    for (key, value) in attributes(span) {
        out.bytes(9, &key_value(key, &value).0);
    }
    for (at, name) in &span.events {
        let mut event = ProtoMessage::default();
        event.fixed64(1, *at);
        event.bytes(2, name.as_bytes());
        out.bytes(11, &event.0);
    }
    if let Some(error) = &span.failed {
        let mut status = ProtoMessage::default();
        status.bytes(2, error.as_bytes());
        status.number(3, FAILED);
        out.bytes(15, &status.0);
    }
    out
}

fn key_value(key: &str, value: &SpanValue) -> ProtoMessage {
    let (mut out, mut any) = (ProtoMessage::default(), ProtoMessage::default());
    match value {
        SpanValue::Text(text) => any.bytes(1, text.as_bytes()),
        SpanValue::Flag(flag) => any.some_number(2, (*flag).into()),
        SpanValue::Number(number) => any.some_number(3, *number as u64),
    }
    out.bytes(1, key.as_bytes());
    out.bytes(2, &any.0);
    out
}

fn encode_json(requests: &[RequestSpans]) -> io::Result<Vec<u8>> {
    let mut out = b"{\"resourceSpans\":[".to_vec();
    for (at, of_process) in by_process(requests).enumerate() {
        out.extend_from_slice(if at > 0 { b",{" } else { b"{" });
        out.extend_from_slice(b"\"resource\":{");
        let about = of_process.first().map(resource).unwrap_or_default();
        json_attributes(&mut out, about.iter().map(|(key, value)| (*key, value.clone())))?;
        write!(
            out,
            "}},\"scopeSpans\":[{{\"scope\":{{\"name\":\"{SCOPE}\",\"version\":\"{}\"}},\"spans\":[",
            env!("CARGO_PKG_VERSION")
        )?;
        for (at, span) in of_process.iter().flat_map(|request| &request.spans).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            json_span(&mut out, span)?;
        }
        out.extend_from_slice(b"]}]}");
    }
    out.extend_from_slice(b"]}");
    Ok(out)
}

fn json_span(out: &mut Vec<u8>, span: &SpanOut) -> io::Result<()> {
    write!(out, "{{\"traceId\":\"{:032x}\",\"spanId\":\"{:016x}\",", span.trace, span.id)?;
    if let Some(parent) = span.parent {
        write!(out, "\"parentSpanId\":\"{parent:016x}\",")?;
    }
    json::field(out, "name", &span.name)?;
    let end = span.from.saturating_add(span.took.unwrap_or(0));
    write!(
        out,
        ",\"kind\":{},\"startTimeUnixNano\":\"{}\",\"endTimeUnixNano\":\"{end}\",",
        number_of(span.kind),
        span.from
    )?;
    json_attributes(out, attributes(span))?;
    out.extend_from_slice(b",\"events\":[");
    for (number, (at, name)) in span.events.iter().enumerate() {
        let comma = if number > 0 { "," } else { "" };
        write!(out, "{comma}{{\"timeUnixNano\":\"{at}\",")?;
        json::field(out, "name", name)?;
        out.push(b'}');
    }
    out.push(b']');
    if let Some(error) = &span.failed {
        out.extend_from_slice(b",\"status\":{");
        json::field(out, "message", error)?;
        write!(out, ",\"code\":{FAILED}}}")?;
    }
    out.push(b'}');
    Ok(())
}

fn json_attributes<'a>(out: &mut Vec<u8>, all: impl Iterator<Item = (&'a str, SpanValue)>) -> io::Result<()> {
    out.extend_from_slice(b"\"attributes\":[");
    for (at, (key, value)) in all.enumerate() {
        out.extend_from_slice(if at > 0 { b",{" } else { b"{" });
        json::field(out, "key", key)?;
        out.extend_from_slice(b",\"value\":{");
        match value {
            SpanValue::Text(text) => json::field(out, "stringValue", &text)?,
            SpanValue::Flag(flag) => write!(out, "\"boolValue\":{flag}")?,
            SpanValue::Number(number) => write!(out, "\"intValue\":\"{number}\"")?,
        }
        out.extend_from_slice(b"}}");
    }
    out.push(b']');
    Ok(())
}
