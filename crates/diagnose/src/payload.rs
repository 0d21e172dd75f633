//! A name for what was sent, from the head of a payload: an HTTP request line or a Redis command.
//! Only enough to name a wait; the protocols proper are decoded elsewhere.

use whyslow_model::text;

/// The name of the request in `payload`, strace's text of a string argument (perhaps cut), or `None`.
pub fn label(payload: &[u8]) -> Option<String> {
    let from = memchr::memchr(b'"', payload)?;
    // An iovec or msghdr shows fields before its first string; a plain payload begins with the quote.
    let body = &payload[from + 1..];
    let end = memchr::memchr(b'"', body).unwrap_or(body.len());
    let bytes = text::unescape(&body[..end]);
    redis_command(&bytes).or_else(|| http_request(&bytes))
}

/// `*4\r\n$5\r\nHMGET\r\n$27\r\nrelation:…` names `HMGET relation:…`.
fn redis_command(bytes: &[u8]) -> Option<String> {
    let mut parts = bytes
        .strip_prefix(b"*")?
        .split(|byte| *byte == b'\n')
        .map(|part| part.strip_suffix(b"\r").unwrap_or(part));
    let count = parts.next()?;
    if count.is_empty() || !count.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut words = Vec::new();
    while let (Some(length), Some(word)) = (parts.next(), parts.next()) {
        if !length.starts_with(b"$") {
            break;
        }
        words.push(String::from_utf8_lossy(word).into_owned());
        // The command and its key; further arguments may be secrets or long.
        if words.len() == 2 || words[0].eq_ignore_ascii_case("auth") || words[0].eq_ignore_ascii_case("hello")
        {
            break;
        }
    }
    let command = words
        .first()
        .filter(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic()))?;
    let mut name = command.to_ascii_uppercase();
    if let Some(key) = words.get(1) {
        name.push(' ');
        name.push_str(key);
    }
    Some(name)
}

/// `GET /path HTTP/1.1` names `GET /path`, without the query.
fn http_request(bytes: &[u8]) -> Option<String> {
    let line = bytes.split(|byte| *byte == b'\r' || *byte == b'\n').next()?;
    let mut words = line.split(|byte| *byte == b' ');
    let verb = words.next()?;
    let known: [&[u8]; 7] = [b"GET", b"POST", b"PUT", b"DELETE", b"HEAD", b"PATCH", b"OPTIONS"];
    if !known.contains(&verb) {
        return None;
    }
    let target = words.next()?.split(|byte| *byte == b'?').next()?;
    Some(format!("{} {}", String::from_utf8_lossy(verb), String::from_utf8_lossy(target)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let hmget = br#""*4\r\n$5\r\nHMGET\r\n$27\r\nrelation:series:1234:check\r\n$12\r\nfollow_users\r\n"#;
        assert_eq!(label(hmget).as_deref(), Some("HMGET relation:series:1234:check"));
        assert_eq!(label(br#""*1\r\n$4\r\nQUIT\r\n", 14, 0, NULL, 0"#).as_deref(), Some("QUIT"));
        assert_eq!(label(br#""*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n""#).as_deref(), Some("AUTH"));
        assert_eq!(label(br#""GET /user/7?token=x HTTP/1.1\r\nHost"#).as_deref(), Some("GET /user/7"));
        assert_eq!(label(br#""\x16\x03\x01"#), None);
        assert_eq!(label(b""), None);
    }
}
