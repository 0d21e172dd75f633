//! What may be kept of a payload without being asked: enough to name a request (a verb and a path, a command and its key,
//! the shape of a query, the name that DNS is asked for), nothing that may be a secret. What is not recognised is
//! dropped. A recording by BPF has it done by the drain (`bpf/reduce.rs`), one by ptrace as it is printed.

pub use whyslow_wire::MAX_REDUCED;

use whyslow_wire::Protocol;

/// Appends to `out` what may be kept of `bytes`, the head of what was sent or received.
pub fn reduce(bytes: &[u8], out: &mut Vec<u8>) {
    Stream::default().reduce(bytes, out);
}

/// What is remembered of a connection or a pipe, so that not every protocol is asked about each payload of it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Stream {
    protocol: Option<&'static Protocol>,
    /// It is a log: lines without a level come between those that have one.
    is_log: bool,
    /// Payloads since the last of which something was kept.
    strange: u16,
}

impl Stream {
    /// Payloads of which nothing is kept before fewer are looked at.
    const PATIENCE: u16 = 16;
    /// One of so many is looked at from then on.
    const SELDOM: u16 = 32;

    /// Appends to `out` what may be kept of `bytes`.
    pub(crate) fn reduce(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        if self.protocol.is_some_and(|protocol| whyslow_wire::reduce_as(protocol, bytes, None, out)) {
            self.strange = 0;
            return;
        }
        self.strange = self.strange.wrapping_add(1);
        if self.strange > Self::PATIENCE && !self.strange.is_multiple_of(Self::SELDOM) {
            if self.is_log {
                log_level(bytes, out);
            }
            return;
        }
        let before = out.len();
        match whyslow_wire::reduce(bytes, None, out) {
            Some(protocol) => self.protocol = Some(protocol),
            None => {
                log_level(bytes, out);
                self.is_log |= out.len() > before;
            }
        }
        if out.len() > before {
            self.strange = 0;
        }
    }
}

const LEVELS: [&str; 12] = [
    "TRACE", "FINE", "FINER", "FINEST", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "FATAL",
    "SEVERE",
];

/// Whether it is what stays of a line of a log.
pub(crate) fn is_log_level(bytes: &[u8]) -> bool {
    LEVELS.iter().any(|level| level.as_bytes() == bytes)
}

/// The level of a log line, where one of its first words says it: `INFO`, `level=info`. In running text a lower-case
/// word is no level.
fn log_level(bytes: &[u8], out: &mut Vec<u8>) {
    /// A date, a time, a thread and a process may stand before it.
    const WORDS: usize = 12;
    let words = bytes.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let mut before: &[u8] = b"";
    for word in words.take(WORDS) {
        let is_field = before.eq_ignore_ascii_case(b"level") || before.eq_ignore_ascii_case(b"lvl");
        before = word;
        if !is_field && !word.iter().all(u8::is_ascii_uppercase) {
            continue;
        }
        if let Some(level) = LEVELS.iter().find(|level| word.eq_ignore_ascii_case(level.as_bytes())) {
            out.extend_from_slice(level.as_bytes());
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reduced(bytes: &[u8]) -> String {
        let mut out = Vec::new();
        reduce(bytes, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn what_names_a_request_is_kept() {
        for (payload, kept) in [
            (
                "GET /user/7?token=abc&id=3 HTTP/1.1\r\nHost: example.org:80\r\nCookie: a=b\r\nContent-Length: 12\r\n\r\nx",
                "GET /user/7?token=*&id=* HTTP/1.1\r\n:94\r\nContent-Length: 12\r\nHost: example.org:80\r\n",
            ),
            ("GET http://me:pw@host/x HTTP/1.0\r\n", "GET http://host/x HTTP/1.0\r\n"),
            ("POST /reset/9f8e7d6c5b4a39281706 HTTP/1.1\r\n", "POST /reset/* HTTP/1.1\r\n"),
            ("GET /a/b;jsessionid=1234 HTTP/1.1\r\n", "GET /a/b HTTP/1.1\r\n"),
            (
                "HTTP/1.1 404 Not Found\r\nSet-Cookie: x=y\r\ncontent-length: 5\r\n\r\n",
                "HTTP/1.1 404\r\n:62\r\nContent-Length: 5\r\n",
            ),
            ("*3\r\n$3\r\nSET\r\n$6\r\nuser:7\r\n$3\r\npwd\r\n", "*3\r\n$3\r\nSET\r\n$6\r\nuser:7\r\n$3\r\n"),
            ("*2\r\n$4\r\nauth\r\n$6\r\nsecret\r\n", "*2\r\n$4\r\nauth\r\n$6\r\n"),
            ("*4\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$11\r\nrequirepass\r\n", "*2\r\n$6\r\nCONFIG\r\n"),
            // An answer of Redis has the same form: how long it is may be kept.
            ("*2\r\n$4\r\nname\r\n$6\r\nsecret\r\n", "$19\r\n"),
            ("{\"password\": \"x\"}", ""),
            ("2024-01-01 12:00:00 [main] WARN c.e.Foo - password is x", "WARN"),
            ("{\"level\":\"error\",\"msg\":\"x\"}", "ERROR"),
            ("some debug info", ""),
            ("", ""),
        ] {
            assert_eq!(reduced(payload.as_bytes()), kept, "{payload}");
        }
        for (payload, shape) in [
            (
                &b"Q\0\0\0\x40SELECT a, 'it''s', 12 FROM t1 WHERE x = $1 AND y=\"z\" -- why\0"[..],
                "SELECT a, ?, ? FROM t1 WHERE x = ? AND y=?",
            ),
            (
                b"\x32\0\0\0\x03insert into users values (1.5e3, 'a\\'b', 0xff)",
                "insert into users values (?)",
            ),
            (b"\x14\0\0\0\x03SELECT * FROM users", "SELECT * FROM users"),
        ] {
            let left = reduced(payload);
            assert!(left.contains(shape), "{left:?}");
        }
        assert!(!reduced(b"\x24\0\0\0\x03SELECT * FROM users").contains("users"));
        assert_eq!(reduced(b"\x16\x03\x01\x02\x00\x01secret"), "\x16\x03\x01\x02\x00");
        let dns = b"\xbd\x19\x01\0\0\x01\0\0\0\0\0\0\x07example\x03com\0\0\x01\0\x01";
        let mut out = Vec::new();
        reduce(dns, &mut out);
        assert_eq!(out, dns);
    }

    /// Payloads with a place for a secret, `^`, that is one wherever it stands.
    const WITH_SECRETS: &[&str] = &[
        "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ^\r\nCookie: sid=^\r\n\r\n",
        "GET /a?token=^&b=^ HTTP/1.1\r\nX-Api-Key: ^\r\n\r\n",
        "GET /a?^ HTTP/1.1\r\n",
        "GET http://user:^@host/ HTTP/1.1\r\n",
        "CONNECT user:^@host:443 HTTP/1.1\r\n",
        "POST /login HTTP/1.1\r\nContent-Length: 40\r\n\r\nuser=a&password=^",
        "POST /login HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{\"password\":\"^\"}",
        "POST /x HTTP/1.1\r\n\r\n\r\nHost: ^\r\n",
        "GET / HTTP/1.1\r\nHost: ^ ^\r\nContent-Length: ^x\r\n",
        "GET ^ is no target",
        "HTTP/1.1 200 ^\r\nSet-Cookie: session=^; HttpOnly\r\n\r\n^",
        "HTTP/1.1 302 Found\r\nLocation: https://x/?code=^\r\n\r\n",
        "*2\r\n$4\r\nAUTH\r\n$20\r\n^\r\n",
        "*3\r\n$4\r\nAUTH\r\n$4\r\nuser\r\n$20\r\n^\r\n",
        "*5\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$20\r\n^\r\n",
        "*4\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$11\r\nrequirepass\r\n$20\r\n^\r\n",
        "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$20\r\n^\r\n",
        "*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nAUTH\r\n$20\r\n^\r\n",
        "*2\r\n$4\r\nECHO\r\n$20\r\n^\r\n",
        "*2\r\n$5\r\ntoken\r\n$20\r\n^\r\n",
        "AUTH ^\r\n",
        "Q\0\0\0\u{40}SELECT * FROM t WHERE token = '^' OR \"x\" = \"^\"\0",
        "Q\0\0\0\u{40}ALTER USER bob PASSWORD 'it''s^'\0",
        "Q\0\0\0\u{40}SELECT $a$^$a$, E'\\'^'\0",
        "Q\0\0\0\u{40}SELECT 1 /* ^ */ -- ^\0",
        "P\0\0\0\u{40}stmt\0INSERT INTO t VALUES ('^')\0",
        "\u{40}\0\0\0\u{3}UPDATE users SET password=\"a\\\"^\" WHERE id=1",
        "\u{40}\0\0\0\u{3}CREATE USER x IDENTIFIED BY '^'",
        "{\"access_token\":\"^\"}",
        "2024-01-01 ERROR login failed for ^ with password ^",
        "p\0\0\0\u{20}^\0",
        "+^\r\n",
        "$20\r\n^\r\n",
    ];

    /// Payloads in which a word may stand, but what looks like a token is a secret.
    const WITH_TOKENS: &[&str] = &[
        "GET /reset/^ HTTP/1.1\r\n",
        "GET /reset/^/done?x HTTP/1.1\r\nHost: ^.example.org\r\n",
        "GET /a?^=1 HTTP/1.1\r\n",
        "*3\r\n$3\r\nSET\r\n$20\r\nsession:^\r\n$1\r\nv\r\n",
        "*2\r\n$3\r\nGET\r\n$20\r\n^\r\n",
        "Q\0\0\0\u{40}SET app.token = ^\0",
        "\u{40}\0\0\0\u{3}SELECT ^ FROM x",
    ];

    /// What is left of a payload has no more of the secret than its first letters.
    fn hides(template: &str, secret: &str, cut: usize) -> Result<(), TestCaseError> {
        let payload = template.replace('^', secret);
        let payload = &payload.as_bytes()[..payload.len().min(cut)];
        let left = reduced(payload);
        for from in 0..secret.len() - 5 {
            let part = &secret[from..from + 6];
            prop_assert!(!left.contains(part), "{left:?} of {:?}", String::from_utf8_lossy(payload));
        }
        Ok(())
    }

    fn cut() -> impl Strategy<Value = usize> {
        prop_oneof![Just(usize::MAX), 0..160usize]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn secrets_never_survive(
            secret in "[A-Za-z0-9]{6,30}",
            template in prop::sample::select(WITH_SECRETS),
            cut in cut(),
        ) {
            hides(template, &secret, cut)?;
        }

        #[test]
        fn tokens_never_survive(
            secret in "[A-Za-z]{4,8}[0-9]{3,6}[A-Za-z0-9_]{4,24}",
            template in prop::sample::select(WITH_TOKENS),
            cut in cut(),
        ) {
            hides(template, &secret, cut)?;
        }

        #[test]
        fn any_bytes_are_survived_and_bounded(
            head in prop::sample::select(vec!["", "GET /", "HTTP/1.1 ", "*2\r\n$3\r\n", "Q\0\0\0\u{20}SELECT ", "\u{9}\0\0\0\u{3}insert "]),
            bytes in prop::collection::vec(any::<u8>(), 0..600),
        ) {
            let payload = [head.as_bytes(), &bytes].concat();
            let mut out = b"before".to_vec();
            reduce(&payload, &mut out);
            prop_assert!(out.starts_with(b"before") && out.len() <= 6 + MAX_REDUCED);
        }
    }
}
