//! Variables by which web servers hand a request to an application (RFC 3875): FastCGI's and uWSGI's.

use crate::protocols::http;
use crate::{Request, text};

/// Those that name a request.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Variables<'a> {
    method: Option<&'a [u8]>,
    target: Option<&'a [u8]>,
    script: Option<&'a [u8]>,
    host: Option<&'a [u8]>,
    trace: Option<&'a [u8]>,
    /// The last value may be cut.
    target_is_cut: bool,
}

/// A name and its value, as far as they are there, and whether the value is cut.
pub(super) type Pair<'a> = (&'a [u8], &'a [u8], bool);

impl<'a> Variables<'a> {
    /// Picks them.
    pub(super) fn read(pairs: impl Iterator<Item = Pair<'a>>) -> Variables<'a> {
        let mut found = Variables::default();
        for (name, value, is_cut) in pairs {
            match name {
                b"REQUEST_METHOD" if !is_cut => found.method = Some(value),
                b"REQUEST_URI" => (found.target, found.target_is_cut) = (Some(value), is_cut),
                b"SCRIPT_NAME" if !is_cut => found.script = Some(value),
                b"HTTP_HOST" if !is_cut => found.host = Some(value),
                b"HTTP_TRACEPARENT" if !is_cut => found.trace = value.split(|byte| *byte == b'-').nth(1),
                b"HTTP_X_B3_TRACEID" if !is_cut => found.trace = found.trace.or(Some(value)),
                _ => {}
            }
        }
        found
    }

    /// The request that they name: `GET /user/{id}`.
    pub(super) fn request(&self) -> Request {
        let verb = self.method.filter(|verb| is_verb(verb)).unwrap_or(b"?");
        let mut endpoint: String = verb.iter().map(|byte| *byte as char).collect();
        endpoint.push(' ');
        let mut detail = endpoint.clone();
        match (self.target, self.script) {
            (Some(target), _) => {
                let path = &target[..text::path_end(target)];
                let is_cut = self.target_is_cut && path.len() == target.len();
                text::route_template(path, is_cut, &mut endpoint);
                text::without_tokens(path, is_cut, &mut detail);
            }
            (None, Some(script)) => {
                text::route_template(script, false, &mut endpoint);
                text::without_tokens(script, false, &mut detail);
            }
            (None, None) => {
                endpoint.push('?');
                detail.push('?');
            }
        }
        Request {
            endpoint,
            detail,
            host: self.host.and_then(http::host).map(without_tokens),
            trace_id: self.trace.and_then(http::trace_id).map(str::to_owned),
            one_way: false,
        }
    }

    /// Those that may be kept, each as `write` does it: name, value, and how many bytes the value lacks.
    fn kept(&self, mut write: impl FnMut(&str, &str, usize)) {
        if let Some(verb) = self.method.filter(|verb| is_verb(verb)) {
            write("REQUEST_METHOD", &String::from_utf8_lossy(verb), 0);
        }
        if let Some(host) = self.host.and_then(http::host) {
            write("HTTP_HOST", &without_tokens(host), 0);
        }
        if let Some(id) = self.trace.and_then(http::trace_id) {
            write("HTTP_X_B3_TRACEID", id, 0);
        }
        // What is cut comes last.
        for (name, target) in [("SCRIPT_NAME", self.script), ("REQUEST_URI", self.target)] {
            let Some(target) = target else { continue };
            let path = &target[..text::path_end(target)];
            let is_cut = name == "REQUEST_URI" && self.target_is_cut && path.len() == target.len();
            let mut shown = String::new();
            text::without_tokens(path, is_cut, &mut shown);
            write(name, &shown, usize::from(is_cut));
        }
    }

    /// As FastCGI writes them.
    pub(super) fn write_fastcgi(&self, out: &mut Vec<u8>) {
        self.kept(|name, value, lacks| {
            out.push(name.len() as u8);
            let length = value.len() + lacks;
            match u8::try_from(length).ok().filter(|length| *length < 128) {
                Some(length) => out.push(length),
                None => out.extend_from_slice(&(length as u32 | 1 << 31).to_be_bytes()),
            }
            out.extend(name.bytes().chain(value.bytes()));
        });
    }

    /// As uWSGI writes them.
    pub(super) fn write_uwsgi(&self, out: &mut Vec<u8>) {
        self.kept(|name, value, lacks| {
            for (text, length) in [(name, name.len()), (value, value.len() + lacks)] {
                out.extend_from_slice(&(length as u16).to_le_bytes());
                out.extend_from_slice(text.as_bytes());
            }
        });
    }
}

fn without_tokens(text: &str) -> String {
    let mut shown = String::new();
    text::without_tokens(text.as_bytes(), false, &mut shown);
    shown
}

fn is_verb(verb: &[u8]) -> bool {
    (1..=10).contains(&verb.len()) && verb.iter().all(u8::is_ascii_uppercase)
}

/// The pairs in the content of a record of FastCGI: lengths of one byte, or of four with the first bit set.
pub(super) fn pairs_of_fastcgi(content: &[u8]) -> impl Iterator<Item = Pair<'_>> {
    let length = |bytes: &mut &[u8]| -> Option<usize> {
        match **bytes {
            [a @ 0..128, ..] => {
                *bytes = &bytes[1..];
                Some(a.into())
            }
            [a, b, c, d, ..] => {
                *bytes = &bytes[4..];
                usize::try_from(u32::from_be_bytes([a & 0x7f, b, c, d])).ok()
            }
            _ => None,
        }
    };
    let mut rest = content;
    std::iter::from_fn(move || {
        let (name, value) = (length(&mut rest)?, length(&mut rest)?);
        pair(&mut rest, name, value)
    })
}

/// The pairs in a packet of uWSGI: lengths of two bytes, the lower first.
pub(super) fn pairs_of_uwsgi(content: &[u8]) -> impl Iterator<Item = Pair<'_>> {
    let mut rest = content;
    let length = |bytes: &mut &[u8]| -> Option<usize> {
        let (length, behind) = bytes.split_first_chunk::<2>()?;
        *bytes = behind;
        Some(u16::from_le_bytes(*length).into())
    };
    std::iter::from_fn(move || {
        let name_length = length(&mut rest)?;
        let name = rest.get(..name_length)?;
        rest = &rest[name_length..];
        let value_length = length(&mut rest)?;
        let value = &rest[..value_length.min(rest.len())];
        rest = &rest[value.len()..];
        Some((name, value, value.len() < value_length))
    })
}

fn pair<'a>(rest: &mut &'a [u8], name: usize, value: usize) -> Option<Pair<'a>> {
    let (name, behind) = rest.split_at_checked(name)?;
    let (shown, behind) = behind.split_at(value.min(behind.len()));
    *rest = behind;
    Some((name, shown, shown.len() < value))
}
