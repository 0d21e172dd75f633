//! What may be kept of a head: the request line without the values of its query, the status, and the fields that the
//! decoder reads.

use super::head::{Fields, RequestLine, status};
use crate::{Direction, text};
use std::io::Write;

/// A line that begins so says how many bytes the whole head had: no field has an empty name.
pub(super) const LENGTH: &str = ":";

pub(super) fn reduce(bytes: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    match direction {
        Direction::Request => request(bytes, out).is_some(),
        Direction::Response => response(bytes, out).is_some(),
    }
}

/// `GET /user/7?token=* HTTP/1.1`
fn request(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let line = RequestLine::read(bytes)?;
    out.extend_from_slice(line.verb.as_bytes());
    out.push(b' ');
    let mut target = String::new();
    if let (Some(host), path) = line.split_target() {
        let scheme = line.target.iter().position(|byte| *byte == b'/').filter(|_| line.verb != "CONNECT");
        out.extend_from_slice(scheme.map_or(b"", |at| &line.target[..at + 2]));
        text::without_tokens(host, line.is_cut && path.is_empty(), &mut target);
    }
    let (_, path) = line.split_target();
    let (path, query) = path.split_at(text::path_end(path));
    text::without_tokens(path, line.is_cut && query.is_empty(), &mut target);
    out.extend_from_slice(target.as_bytes());
    if let Some(at) = memchr::memchr(b'?', query) {
        without_values(&query[at + 1..], out);
    } else if line.is_cut {
        // The path ends here, though the target goes on.
        out.extend(query.first());
    }
    if let Some(version) = line.behind.get(..9) {
        out.extend_from_slice(version);
        out.extend_from_slice(b"\r\n");
        fields(&Fields::read(bytes), out);
    }
    Some(())
}

/// `?name=*&*`: a parameter without `=` may be a value.
fn without_values(query: &[u8], out: &mut Vec<u8>) {
    out.push(b'?');
    let mut name = String::new();
    for (n, parameter) in query.split(|byte| *byte == b'&').enumerate() {
        out.extend_from_slice(if n > 0 { b"&" } else { b"" });
        if let Some(equals) = memchr::memchr(b'=', parameter) {
            name.clear();
            text::without_tokens(&parameter[..equals], false, &mut name);
            out.extend_from_slice(name.as_bytes());
            out.push(b'=');
        }
        out.push(b'*');
    }
}

/// `HTTP/1.1 200`
fn response(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    status(bytes)?;
    out.extend_from_slice(bytes.get(..12)?);
    out.extend_from_slice(b"\r\n");
    fields(&Fields::read(bytes), out);
    Some(())
}

fn fields(fields: &Fields<'_>, out: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let mut line = |name: &str, value: &dyn std::fmt::Display| {
        let _ = write!(out, "{name}{value}\r\n");
    };
    if let Some(length) = fields.length.map(|length| length as u64).or(fields.stated_length) {
        line(LENGTH, &length);
    }
    if let Some(length) = fields.content_length {
        line("Content-Length: ", &length);
    }
    if fields.is_chunked {
        line("Transfer-Encoding: ", &"chunked");
    }
    if fields.is_h2c {
        line("Upgrade: ", &"h2c");
    }
    if let Some(host) = fields.host() {
        let mut shown = String::new();
        text::without_tokens(host.as_bytes(), false, &mut shown);
        line("Host: ", &shown);
    }
    if let Some(id) = fields.trace() {
        line("X-B3-TraceId: ", &id);
    }
}
