//! Heads of HTTP/1 messages (RFC 9112): the first line, and the few header fields that matter here.

use crate::protocols::http::{host, trace_id};

/// The verb that a request begins with: the letters are compared at once, which a list of names is not.
fn verb(word: &[u8]) -> Option<&'static str> {
    Some(match word {
        b"GET" => "GET",
        b"POST" => "POST",
        b"PUT" => "PUT",
        b"DELETE" => "DELETE",
        b"HEAD" => "HEAD",
        b"PATCH" => "PATCH",
        b"OPTIONS" => "OPTIONS",
        b"CONNECT" => "CONNECT",
        b"TRACE" => "TRACE",
        _ => return None,
    })
}

/// `GET /path HTTP/1.1`
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestLine<'a> {
    pub(super) verb: &'static str,
    pub(super) target: &'a [u8],
    /// The target may go on behind the end of the bytes.
    pub(super) is_cut: bool,
    /// What follows the target: the version and the header fields.
    pub(super) behind: &'a [u8],
}

impl<'a> RequestLine<'a> {
    /// `None` where no request begins so.
    pub(super) fn read(bytes: &'a [u8]) -> Option<RequestLine<'a>> {
        let space = bytes.iter().take(8).position(|byte| *byte == b' ')?;
        let (verb, rest) = (verb(&bytes[..space])?, &bytes[space + 1..]);
        let end = memchr::memchr3(b' ', b'\r', b'\n', rest);
        let target = &rest[..end.unwrap_or(rest.len())];
        let has_form = target.starts_with(b"/")
            || target == b"*"
            || target.starts_with(b"http://")
            || target.starts_with(b"https://")
            || verb == "CONNECT" && memchr::memchr(b':', target).is_some();
        let behind = end.map_or(&b""[..], |end| &rest[end..]);
        let has_version = behind.iter().zip(b" HTTP/1.").all(|(a, b)| a == b);
        (has_form
            && has_version
            && target.iter().fold(true, |all, byte| all & (*byte > b' ' && *byte != 0x7f)))
        .then_some(RequestLine { verb, target, is_cut: end.is_none(), behind })
    }

    /// Whom an absolute target, or that of `CONNECT`, names, without who asks; and the path.
    pub(super) fn split_target(&self) -> (Option<&'a [u8]>, &'a [u8]) {
        let scheme = match self.target {
            [b'h', b't', b't', b'p', b':', b'/', b'/', ..] => 7,
            [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => 8,
            _ if self.verb == "CONNECT" => 0,
            _ => return (None, self.target),
        };
        let rest = &self.target[scheme..];
        let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        // Who asks stands before the last @; it may be beyond the end.
        let host = match memchr::memrchr(b'@', authority) {
            Some(at) => Some(&authority[at + 1..]),
            None if self.is_cut && path.is_empty() => None,
            None => Some(authority),
        };
        (host, path)
    }
}

/// The status of an answer: `None` where none begins so, `Some(None)` where the number is not whole.
pub(super) fn status(bytes: &[u8]) -> Option<Option<u16>> {
    let form = b"HTTP/1.";
    if bytes.len() < form.len() || !bytes.starts_with(form) {
        return None;
    }
    match bytes.get(7..12) {
        Some(&[version, b' ', a, b, c]) if [version, a, b, c].iter().all(u8::is_ascii_digit) => {
            Some(Some([a, b, c].iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'))))
        }
        Some(_) => None,
        None => Some(None),
    }
}

/// Of the fields of a head, what matters.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Fields<'a> {
    pub(super) content_length: Option<u64>,
    pub(super) is_chunked: bool,
    pub(super) host: Option<&'a [u8]>,
    pub(super) trace_id: Option<&'a [u8]>,
    /// HTTP/2 without TLS follows (RFC 7540, 3.2).
    pub(super) is_h2c: bool,
    /// Bytes of the whole head, as a reduced one says it ([`super::reduce::LENGTH`]).
    pub(super) stated_length: Option<u64>,
    /// Bytes up to the body, where the empty line is there.
    pub(super) length: Option<usize>,
}

impl<'a> Fields<'a> {
    /// Reads the whole lines behind the first.
    pub(super) fn read(bytes: &'a [u8]) -> Fields<'a> {
        let mut fields = Fields::default();
        let mut at = match memchr::memchr(b'\n', bytes) {
            Some(end) => end + 1,
            None => return fields,
        };
        while let Some(length) = memchr::memchr(b'\n', &bytes[at..]) {
            let line = &bytes[at..at + length];
            at += length + 1;
            match line {
                [] | [b'\r'] => {
                    fields.length = Some(at);
                    break;
                }
                // The first letters of the names that are looked for.
                [
                    b'h' | b'H' | b'c' | b'C' | b't' | b'T' | b'x' | b'X' | b'b' | b'B' | b'u' | b'U' | b':',
                    ..,
                ] => {
                    fields.take(line);
                }
                _ => {}
            }
        }
        fields
    }

    fn take(&mut self, line: &'a [u8]) {
        let Some(colon) = memchr::memchr(b':', line) else { return };
        let name = &line[..colon];
        let value = || line[colon + 1..].trim_ascii();
        let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
        match name.len() {
            0 => self.stated_length = number(value()),
            2 if is(b"b3") => self.trace_id = self.trace_id.or(value().split(|byte| *byte == b'-').next()),
            4 if is(b"host") => self.host = self.host.or(Some(value())),
            7 if is(b"upgrade") => self.is_h2c = value() == b"h2c",
            11 if is(b"traceparent") => {
                self.trace_id = value().split(|byte| *byte == b'-').nth(1).or(self.trace_id);
            }
            12 if is(b"x-b3-traceid") => self.trace_id = self.trace_id.or(Some(value())),
            14 if is(b"content-length") => self.content_length = number(value()),
            17 if is(b"transfer-encoding") => {
                let value = value();
                let last = value.rsplit(|byte| *byte == b',').next().unwrap_or(value).trim_ascii();
                self.is_chunked = last.eq_ignore_ascii_case(b"chunked");
            }
            _ => {}
        }
    }

    /// The id of the trace, where it has the form of one.
    pub(super) fn trace(&self) -> Option<&'a str> {
        self.trace_id.and_then(trace_id)
    }

    /// The host, where it has the form of one.
    pub(super) fn host(&self) -> Option<&'a str> {
        self.host.and_then(host)
    }
}

fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 18 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}
