//! HTTP/1: the request line without the values of its query, the status, `Host` and `Content-Length`.

use super::without_tokens;

const VERBS: [&[u8]; 9] =
    [b"GET", b"POST", b"PUT", b"DELETE", b"HEAD", b"PATCH", b"OPTIONS", b"CONNECT", b"TRACE"];

/// `GET /user/7?token=* HTTP/1.1`
pub(super) fn request(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let space = memchr::memchr(b' ', &bytes[..bytes.len().min(8)])?;
    let verb = &bytes[..space];
    if !VERBS.contains(&verb) {
        return None;
    }
    let rest = &bytes[space + 1..];
    let end = rest.iter().position(|byte| matches!(byte, b' ' | b'\r' | b'\n'));
    let target = &rest[..end.unwrap_or(rest.len())];
    let has_form = target.starts_with(b"/")
        || target == b"*"
        || target.starts_with(b"http://")
        || target.starts_with(b"https://")
        || verb == b"CONNECT" && memchr::memchr(b':', target).is_some();
    if !has_form || !target.iter().all(u8::is_ascii_graphic) {
        return None;
    }
    out.extend_from_slice(verb);
    out.push(b' ');
    self::target(target, end.is_none(), out);
    let behind = end.map_or(&b""[..], |end| &rest[end..]);
    let version = behind.get(..9).filter(|version| version.starts_with(b" HTTP/1."));
    if let Some(version) = version {
        out.extend_from_slice(version);
        out.extend_from_slice(b"\r\n");
        headers(behind, &[b"Host", b"Content-Length"], out);
    }
    Some(())
}

/// A target: without who asks, the values of the query, and what looks like a token.
fn target(target: &[u8], cut: bool, out: &mut Vec<u8>) {
    let scheme = memchr::memmem::find(target, b"://").filter(|at| *at <= 5).map_or(0, |at| at + 3);
    let (scheme, rest) = target.split_at(scheme);
    out.extend_from_slice(scheme);
    // Who asks stands before the last @ of the authority, which ends where the path begins.
    let authority = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    let rest = match memchr::memrchr(b'@', &rest[..authority]) {
        Some(at) => &rest[at + 1..],
        // The @ may be beyond the end.
        None if cut && authority == rest.len() => b"",
        None => rest,
    };
    let path = rest.iter().position(|byte| matches!(byte, b'?' | b';' | b'#')).unwrap_or(rest.len());
    without_tokens(&rest[..path], cut && path == rest.len(), out);
    let Some(query) = memchr::memchr(b'?', rest) else { return };
    out.push(b'?');
    for (n, parameter) in rest[query + 1..].split(|byte| *byte == b'&').enumerate() {
        out.extend_from_slice(if n > 0 { b"&" } else { b"" });
        // A parameter without `=` may be a value.
        if let Some(equals) = memchr::memchr(b'=', parameter) {
            without_tokens(&parameter[..equals], false, out);
            out.push(b'=');
        }
        out.push(b'*');
    }
}

/// `HTTP/1.1 200`
pub(super) fn response(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let line = bytes.get(..12).filter(|line| line.starts_with(b"HTTP/1.") && line[8] == b' ')?;
    if !line[7].is_ascii_digit() || !line[9..].iter().all(u8::is_ascii_digit) {
        return None;
    }
    out.extend_from_slice(line);
    out.extend_from_slice(b"\r\n");
    headers(bytes, &[b"Content-Length"], out);
    Some(())
}

/// The headers of these names, where they are whole and of the form that theirs have.
fn headers(bytes: &[u8], names: &[&[u8]], out: &mut Vec<u8>) {
    // The last line may be cut.
    let end = memchr::memrchr(b'\n', bytes).unwrap_or(0);
    for line in bytes[..end].split(|byte| *byte == b'\n').skip(1) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(colon) = memchr::memchr(b':', line) else {
            // The empty line: what follows is the body.
            return;
        };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        let Some(known) = names.iter().find(|known| known.eq_ignore_ascii_case(name)) else {
            continue;
        };
        let is_host = known.starts_with(b"H");
        let fits = |byte: &u8| {
            byte.is_ascii_digit() || is_host && (byte.is_ascii_alphabetic() || b".-:[]".contains(byte))
        };
        if !value.is_empty() && value.len() <= 100 && value.iter().all(fits) {
            out.extend_from_slice(known);
            out.extend_from_slice(b": ");
            without_tokens(value, false, out);
            out.extend_from_slice(b"\r\n");
        }
    }
}
