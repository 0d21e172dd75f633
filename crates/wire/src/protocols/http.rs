//! What all versions of HTTP and the protocols around it share: hosts, ids of traces, statuses.

use crate::Status;

/// The id of a trace: 16 or 32 hexadecimal digits, not all zero.
pub(super) fn trace_id(text: &[u8]) -> Option<&str> {
    let is_id = matches!(text.len(), 16 | 32)
        && text.iter().all(u8::is_ascii_hexdigit)
        && text.iter().any(|byte| *byte != b'0');
    is_id.then(|| std::str::from_utf8(text).ok()).flatten()
}

/// A host, with or without its port, of the letters that hosts are of.
pub(super) fn host(text: &[u8]) -> Option<&str> {
    let fits = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':' | b'[' | b']' | b'*')
    };
    (!text.is_empty() && text.len() <= 100 && text.iter().all(fits))
        .then(|| std::str::from_utf8(text).ok())
        .flatten()
}

/// A status as it is told.
pub(super) fn told_status(status: u16) -> Status {
    let text = match status {
        200 => "200".into(),
        204 => "204".into(),
        304 => "304".into(),
        404 => "404".into(),
        _ => status.to_string().into(),
    };
    Status { text, is_error: status >= 400 }
}
