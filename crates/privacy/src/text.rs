//! Replaces secrets in text out of captures: passwords, tokens, cookies, keys. The lengths are not kept.
//!
//! What is known by its surroundings (a header, a key, a URL, a protocol's command) or by its own form (a key
//! with a fixed prefix) is found, also inside the escapes with which strace and JSON print a string. What looks
//! like any other text (a password typed into a chat) cannot be. Doubt is decided for redaction.
//!
//! Time is linear in the text: the `regex` crate does not backtrack.

use crate::REDACTED;
use crate::patterns::PATTERNS;
use std::borrow::Cow;
use std::sync::LazyLock;
use whyslow_model::text::unescape;

/// The text with every secret that is recognised replaced by [`REDACTED`]; borrowed where there is none.
///
/// ```
/// use whyslow_privacy::redact;
/// assert_eq!(redact("GET /?token=abc&n=1"), "GET /?token=[redacted]&n=1");
/// assert_eq!(redact("redis://:pa55@cache:6379/0"), "redis://:[redacted]@cache:6379/0");
/// ```
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut out = redact_plain(text);
    if out.contains("\\x")
        && let Cow::Owned(changed) = PATTERNS.hex_run.replace_all(&out, |found: &regex::Captures<'_>| {
            let run = &found[0];
            if hides_secret(run) { REDACTED.to_string() } else { run.to_string() }
        })
    {
        out = Cow::Owned(changed);
    }
    out
}

/// Makes ready what the first text would wait for, some milliseconds: for who must answer in time.
pub fn prepare() {
    LazyLock::force(&PATTERNS);
}

fn redact_plain(text: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(text);
    for which in &PATTERNS.any.matches(text) {
        if let Cow::Owned(changed) = PATTERNS.replace(which, &out) {
            out = Cow::Owned(changed);
        }
    }
    out
}

/// True where a string that strace printed all in hex (`-xx`) holds a secret: what is secret in it cannot be
/// told apart without decoding it, so all of it goes.
fn hides_secret(hex_run: &str) -> bool {
    let decoded = unescape(hex_run.as_bytes());
    PATTERNS.any.is_match(&String::from_utf8_lossy(&decoded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn secrets_go_and_the_rest_stays() {
        for (text, expected) in [
            // HTTP headers, as strace prints them.
            (
                r#"sendto(9, "GET / HTTP/1.1\r\nAuthorization: Basic dXNlcjpwdw==\r\nHost: a\r\n", 60)"#,
                r#"sendto(9, "GET / HTTP/1.1\r\nAuthorization: [redacted]\r\nHost: a\r\n", 60)"#,
            ),
            (r#""Cookie: sid=1; b=\"2\"\r\nX: y""#, r#""Cookie: [redacted]\r\nX: y""#),
            ("Set-Cookie: id=a3fWa; Secure\r\nVary: x", "Set-Cookie: [redacted]\r\nVary: x"),
            ("authorization: Digest username=\"bob\", response=\"6629\"", "authorization: [redacted]"),
            (r#"{"authorization":"Bearer abc.def","x":1}"#, r#"{"authorization":"[redacted]","x":1}"#),
            ("X-Api-Key: k123\r\n", "X-Api-Key: [redacted]\r\n"),
            // Redis.
            (
                r#"write(7, "*2\r\n$4\r\nAUTH\r\n$7\r\nhunter2\r\n", 26) = 26"#,
                r#"write(7, "*2\r\n$4\r\nAUTH\r\n[redacted]\r\n", 26) = 26"#,
            ),
            (
                r#""*3\r\n$4\r\nauth\r\n$3\r\nbob\r\n$7\r\nhunter2\r\n*1\r\n$4\r\nPING\r\n""#,
                r#""*3\r\n$4\r\nauth\r\n[redacted]\r\n*1\r\n$4\r\nPING\r\n""#,
            ),
            (r#""AUTH hunter2\r\n""#, r#""AUTH [redacted]\r\n""#),
            (r#""PASS hunter2\r\n""#, r#""PASS [redacted]\r\n""#),
            // URLs.
            ("postgres://app:p@ss:w@db:5432/x", "postgres://app:[redacted]@db:5432/x"),
            ("amqp://u:1234@mq/vhost", "amqp://u:[redacted]@mq/vhost"),
            ("http://host:8080/path?mail=a@b", "http://host:8080/path?mail=a@b"),
            ("git clone ssh://git@host/x", "git clone ssh://git@host/x"),
            // Keys and values.
            (
                r#"execve("/bin/x", ["x", "--password", "hunter2"], ["DB_PASSWORD=a&b c;d", "HOME=/root"])"#,
                r#"execve("/bin/x", ["x", "--password", "[redacted]"], ["DB_PASSWORD=[redacted]", "HOME=/root"])"#,
            ),
            ("mysql --password hunter2 -h db", "mysql --password [redacted] -h db"),
            (
                r#"{\"user\":\"bob\",\"password\":\"a\\\"b\",\"n\":1}"#,
                r#"{\"user\":\"bob\",\"password\":\"[redacted]\",\"n\":1}"#,
            ),
            (r#"{"passwd": "x y", "n": 1}"#, r#"{"passwd": "[redacted]", "n": 1}"#),
            ("user=bob&access_token=zz%20&next=/", "user=bob&access_token=[redacted]&next=/"),
            ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7", "AWS_SECRET_ACCESS_KEY=[redacted]"),
            ("key AKIAIOSFODNN7EXAMPLE used", "key [redacted] used"),
            ("Bearer eyJhbGciOi.J9.x", "Bearer [redacted]"),
            ("Server=db;Pwd=hunter2;Timeout=3", "Server=db;Pwd=[redacted];Timeout=3"),
            // SQL.
            (
                "CREATE USER a IDENTIFIED BY 'it''s'; SELECT 1",
                "CREATE USER a IDENTIFIED BY '[redacted]'; SELECT 1",
            ),
            ("ALTER ROLE a WITH PASSWORD 'x'", "ALTER ROLE a WITH PASSWORD '[redacted]'"),
            (
                "SET PASSWORD FOR 'bob'@'%' = PASSWORD('x')",
                "SET PASSWORD FOR 'bob'@'%' = PASSWORD('[redacted]')",
            ),
            // A PostgreSQL password message.
            (r#"sendto(3, "p\0\0\0\fhunter2\0", 13)"#, r#"sendto(3, "p\0\0\0[redacted]", 13)"#),
            // Key blocks, whole and cut.
            ("a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b", "a [redacted] b"),
            (r#""-----BEGIN PRIVATE KEY-----\nMIIEv"..., 512"#, r#""[redacted]"#),
            // strace -xx.
            (r#""\x70\x61\x73\x73\x77\x6f\x72\x64\x3d\x61\x62", 11"#, r#""[redacted]", 11"#),
            (r#""\x68\x65\x6c\x6c\x6f", 5"#, r#""\x68\x65\x6c\x6c\x6f", 5"#),
        ] {
            assert_eq!(redact(text), expected);
        }
    }

    #[test]
    fn ordinary_lines_are_borrowed() {
        for text in [
            r#"21124 10:34:34.289915 sendto(669, "*4\r\n$5\r\nHMGET\r\n$27\r\nrelation:series:1234:check\r\n", 89, 0, NULL, 0) = 89 <0.000051>"#,
            r#"stat("/etc/localtime", {st_mode=S_IFREG|0644, st_size=405, ...}) = 0"#,
            r#"openat(AT_FDCWD, "/run/secrets/db_password", O_RDONLY) = 3"#,
            "PWD=/home/bob OLDPWD=/ TZ=:/etc/localtime",
            r#"execve("/usr/bin/passwd", ["passwd"], 0x7ffd /* 23 vars */) = 0"#,
            "AUTH to Redis 10.0.0.1:6379 takes 1.8 s",
            "max_tokens=512, bypass 2",
        ] {
            assert!(matches!(redact(text), Cow::Borrowed(_)), "{text} became {}", redact(text));
        }
    }

    /// Where a secret may stand, with `{}` in its place.
    const PLACES: &[&str] = &[
        "Authorization: {}",
        r#"\r\nAuthorization: Bearer {}\r\nHost: x"#,
        "Cookie: sid={}",
        r#"*2\r\n$4\r\nAUTH\r\n$9\r\n{}\r\n"#,
        "*2\r\n$4\r\nAUTH\r\n$9\r\n{}\r\n",
        "redis://u:{}@host/0",
        "https://:{}@host",
        "password={}",
        "a=1&passwd={}&b=2",
        "token={}",
        "api_key={}",
        "client_secret={}",
        r#"{"password":"{}"}"#,
        r#"{\"password\": \"{}\"}"#,
        "{'token': '{}'}",
        "IDENTIFIED BY '{}'",
        "PASSWORD '{}'",
        "bearer {}",
        r#"["DB_PASSWORD={}", "X=1"]"#,
        r#"["--token", "{}"]"#,
        "-----BEGIN EC PRIVATE KEY-----\n{}\n-----END EC PRIVATE KEY-----",
        "password%3D{}",
        "--api-key {}",
    ];

    proptest! {
        #[test]
        fn planted_secrets_never_survive(
            secret in "[A-Za-z._~+/=-][A-Za-z0-9._~+/=-]{2,12}Zq9xW[A-Za-z0-9._~+=-]{0,12}",
            place in prop::sample::select(PLACES),
            before in r#"[ -~]{0,30}([ "&]|\\n|\\r\\n)"#,
            after in "( [ -~]{0,30})?",
        ) {
            // What stands before may open a quote or swallow the text; it may only ever hide more.
            let text = format!("{before}{}{after}", place.replace("{}", &secret));
            let redacted = redact(&text);
            prop_assert!(!redacted.contains("Zq9xW"), "{text} -> {redacted}");
            let again = redact(&redacted);
            prop_assert!(!again.contains("Zq9xW"));
        }

        #[test]
        fn any_text_is_survived(text in any::<String>()) {
            let _ = redact(&text);
        }
    }
}
