//! A name for what was sent, from the head of a payload: an HTTP request line or a Redis command.
//! Only enough to name a wait; the protocols proper are decoded elsewhere.

use whyslow_model::text;

/// The name of the request in `payload`, strace's text of a string argument (perhaps cut), or `None`.
pub fn label(payload: &[u8]) -> Option<String> {
    let bytes = first_string(payload)?;
    redis_command(&bytes).or_else(|| http_request(&bytes))
}

/// The protocol of the request in `payload`, where it is one that [`label`] names.
pub fn protocol(payload: &[u8]) -> Option<&'static str> {
    let bytes = first_string(payload)?;
    if redis_command(&bytes).is_some() {
        return Some("Redis");
    }
    http_request(&bytes).map(|_| "HTTP")
}

/// The name that the DNS query in `payload` asks for: `example.com` (RFC 1035, 4.1: a header of 12 bytes, then
/// the labels of the name, each behind its length, up to an empty one).
pub fn dns_question(payload: &[u8]) -> Option<String> {
    let bytes = first_string(payload)?;
    let mut rest = bytes.get(12..)?;
    let mut labels: Vec<String> = Vec::new();
    loop {
        let (&length, behind) = rest.split_first()?;
        if length == 0 {
            break;
        }
        let label = behind.get(..length as usize).filter(|_| length < 64)?;
        if !label.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte)) {
            return None;
        }
        labels.push(text::lossy(label));
        rest = &behind[length as usize..];
    }
    (!labels.is_empty()).then(|| labels.join("."))
}

/// The answer code of the DNS message in `payload`, where it is an answer (RFC 1035, 4.1.1: the bit QR, and RCODE).
pub fn dns_answer_code(payload: &[u8]) -> Option<u8> {
    let bytes = first_string(payload)?;
    let (first, second) = (bytes.get(2)?, bytes.get(3)?);
    (first & 0x80 != 0).then_some(second & 0x0f)
}

/// What the first string in `payload` stands for. An iovec or msghdr shows fields before it; a plain payload
/// begins with its quote.
fn first_string(payload: &[u8]) -> Option<std::borrow::Cow<'_, [u8]>> {
    let from = memchr::memchr(b'"', payload)?;
    let body = &payload[from + 1..];
    let end = memchr::memchr(b'"', body).unwrap_or(body.len());
    Some(text::unescape(&body[..end]))
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
        assert_eq!(protocol(hmget), Some("Redis"));
        assert_eq!(protocol(br#""GET / HTTP/1.1\r\n""#), Some("HTTP"));
        assert_eq!(protocol(br#""EHLO x\r\n""#), None);
    }

    #[test]
    fn dns_names() {
        let query = br#""\275\31\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1", 29, MSG_NOSIGNAL"#;
        assert_eq!(dns_question(query).as_deref(), Some("example.com"));
        assert_eq!(dns_question(br#""\275\31\1\0\0\1\0\0\0\0\0\0\7exam"..."#), None);
        assert_eq!(dns_question(br#""short""#), None);
        assert_eq!(dns_answer_code(query), None);
        let answer = br#""\275\31\201\203\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1", 2048, 0"#;
        assert_eq!(dns_answer_code(answer), Some(3));
        assert_eq!(dns_question(answer).as_deref(), Some("example.com"));
    }
}
