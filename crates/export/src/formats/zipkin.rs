//! `zipkin`: requests with their waits as spans of Zipkin's JSON, version 2 (<https://zipkin.io/zipkin-api/>). Its times are
//! microseconds; the tag `ns` has the whole duration.

use super::{ExportFormat, ExportHow};
use crate::json;
use crate::spans::{RequestSpans, SpanFormat, SpanFraming, SpanKind, SpanOut, SpanValue};
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};

/// The format.
pub(super) static FORMAT: ExportFormat = ExportFormat {
    name: "zipkin",
    about: "requests as spans with their waits below, as JSON",
    opened_by: "Zipkin and what takes its spans (--endpoint http://HOST:9411)",
    is_binary: false,
    escapes: true,
    how: ExportHow::Spans(&SpanFormat {
        media: "application/json",
        path: "/api/v2/spans",
        framing: SpanFraming::Array,
        encode,
    }),
};

fn encode(requests: &[RequestSpans]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    for request in requests {
        for one in &request.spans {
            if !out.is_empty() {
                out.extend_from_slice(b",\n");
            }
            span(&mut out, request, one)?;
        }
    }
    Ok(out)
}

fn span(out: &mut Vec<u8>, request: &RequestSpans, span: &SpanOut) -> io::Result<()> {
    write!(out, "{{\"traceId\":\"{:032x}\",\"id\":\"{:016x}\"", span.trace, span.id)?;
    if let Some(parent) = span.parent {
        write!(out, ",\"parentId\":\"{parent:016x}\"")?;
    }
    match span.kind {
        SpanKind::Served => out.extend_from_slice(b",\"kind\":\"SERVER\""),
        SpanKind::Made => out.extend_from_slice(b",\"kind\":\"CLIENT\""),
        SpanKind::Wait => {}
    }
    out.push(b',');
    json::field(out, "name", &span.name)?;
    // 0 is what a receiver takes for none; a duration below a microsecond is to be one.
    write!(out, ",\"timestamp\":{}", (span.from / 1_000).max(1))?;
    if let Some(took) = span.took {
        write!(out, ",\"duration\":{}", (took / 1_000).max(1))?;
    }
    out.extend_from_slice(b",\"localEndpoint\":{");
    json::field(out, "serviceName", &request.service)?;
    out.push(b'}');
    if let Some(peer) = &span.peer {
        out.extend_from_slice(b",\"remoteEndpoint\":{");
        match peer.parse::<SocketAddr>() {
            Ok(address) => {
                let key = if matches!(address.ip(), IpAddr::V4(_)) { "ipv4" } else { "ipv6" };
                write!(out, "\"{key}\":\"{}\",\"port\":{}", address.ip(), address.port())?;
            }
            Err(_) => json::field(out, "serviceName", peer)?,
        }
        out.push(b'}');
    }
    if !span.events.is_empty() {
        out.extend_from_slice(b",\"annotations\":[");
        for (at, (when, name)) in span.events.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(out, "{comma}{{\"timestamp\":{},", (when / 1_000).max(1))?;
            json::field(out, "value", name)?;
            out.push(b'}');
        }
        out.push(b']');
    }
    out.extend_from_slice(b",\"tags\":{");
    if request.pid != 0 {
        write!(out, "\"process.pid\":\"{}\",", request.pid)?;
    }
    if let Some(error) = &span.failed {
        json::field(out, "error", error)?;
        out.push(b',');
    }
    for (key, value) in &span.attributes {
        match value {
            SpanValue::Text(text) => json::field(out, key, text)?,
            SpanValue::Number(number) => write!(out, "\"{key}\":\"{number}\"")?,
            SpanValue::Flag(flag) => write!(out, "\"{key}\":\"{flag}\"")?,
        }
        out.push(b',');
    }
    match span.took {
        Some(took) => write!(out, "\"ns\":\"{took}\"}}}}"),
        None => write!(out, "\"ns\":\"unknown\"}}}}"),
    }
}
