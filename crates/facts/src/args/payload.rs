//! A name for what was sent, from strace's text of a payload: what the protocols' decoders make of its first request.

use whyslow_model::text;
use whyslow_wire::protocols::{DnsMessage, dns_message, dns_message_cut};

/// The name of the request in `payload`, strace's text of a string argument (perhaps cut), or `None`.
pub fn label(payload: &[u8]) -> Option<String> {
    let bytes = first_string(payload)?;
    // Which kind of record is asked for matters less than the name.
    let dns = dns_message(&bytes).map(|message| message.name);
    dns.or_else(|| whyslow_wire::first_request(&bytes).map(|(_, request)| request.detail))
}

/// The protocol of the request in `payload`, where it is one that [`label`] names.
pub fn protocol(payload: &[u8]) -> Option<&'static str> {
    let (protocol, _) = whyslow_wire::first_request(&first_string(payload)?)?;
    // Whichever version it is: a peer may speak both.
    Some(if protocol.starts_with("HTTP/") { "HTTP" } else { protocol })
}

/// The host that the TLS handshake in `payload` asks for.
pub fn tls_server_name(payload: &[u8]) -> Option<String> {
    whyslow_wire::protocols::tls_server_name(&first_string(payload)?)
}

/// The name that the DNS message in `payload` asks for: `example.com`.
pub fn dns_question(payload: &[u8]) -> Option<String> {
    dns_message(&first_string(payload)?).map(|message| message.name)
}

/// The DNS message in `payload` whose question strace cut off (`-s`): the name as far as it is there, with `…` behind it, and the
/// answer code.
pub fn dns_cut(payload: &[u8]) -> Option<(String, Option<u8>)> {
    let DnsMessage { name, answer_code } = dns_message_cut(&first_string(payload)?)?;
    Some((name + "…", answer_code))
}

/// The answer code of the DNS message in `payload`, where it is an answer.
pub fn dns_answer_code(payload: &[u8]) -> Option<u8> {
    dns_message(&first_string(payload)?).and_then(|DnsMessage { answer_code, .. }| answer_code)
}

/// What the first string in `payload` stands for. An iovec or msghdr shows fields before it; a plain payload
/// begins with its quote.
fn first_string(payload: &[u8]) -> Option<std::borrow::Cow<'_, [u8]>> {
    let from = memchr::memchr(b'"', payload)?;
    let body = &payload[from + 1..];
    // What is escaped holds no quote.
    let mut end = 0;
    while let Some(at) = memchr::memchr2(b'"', b'\\', &body[end..]) {
        end += at;
        if body[end] == b'"' {
            return Some(text::unescape(&body[..end]));
        }
        end = (end + 2).min(body.len());
    }
    Some(text::unescape(body))
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
