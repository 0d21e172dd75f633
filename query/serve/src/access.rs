//! Who may ask: whoever has the token, of a page of ours, by a name of ours.
//!
//! - The **token** (128 bits) stands in the address that is printed, once; then in a cookie that no script reads and no other site sends.
//! - The **Host** must be a name that we are known by, with our port: a stranger's name that was made to point here (DNS rebinding) is none.
//! - The **Origin** of what is not a plain visit must be ours: another site's page can send requests, and must not be heard.

use axum::http::{HeaderMap, Method, StatusCode, header};
use sha2::{Digest, Sha256};

/// Bytes of a token.
const TOKEN: usize = 16;

/// What requests are checked against.
#[derive(Debug)]
pub(crate) struct Access {
    token: String,
    /// `127.0.0.1:8000` and others, in lower case.
    hosts: Vec<String>,
    scheme: &'static str,
    cookie: String,
}

/// What becomes of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It may go on.
    Pass,
    /// It brought the token in its address: it gets the cookie, and is sent on without.
    Welcome {
        /// The cookie.
        cookie: String,
        /// Where to.
        to: String,
    },
    /// It is refused, with these words.
    Refuse(StatusCode, &'static str),
}

impl Access {
    /// For a server on that port, known by these names.
    pub(crate) fn new(token: String, port: u16, names: &[String], tls: bool) -> Access {
        let scheme = if tls { "https" } else { "http" };
        let usual = if tls { 443 } else { 80 };
        let mut hosts = Vec::new();
        for name in ["127.0.0.1", "localhost", "[::1]"].into_iter().chain(names.iter().map(String::as_str)) {
            let name = name.to_ascii_lowercase();
            if port == usual {
                hosts.push(name.clone());
            }
            hosts.push(format!("{name}:{port}"));
        }
        Access { token, hosts, scheme, cookie: format!("whyslow-{port}") }
    }

    /// A new token, in hexadecimal digits.
    ///
    /// # Errors
    /// If the kernel gives no random bytes.
    pub(crate) fn new_token() -> Result<String, String> {
        let mut bytes = [0u8; TOKEN];
        getrandom::fill(&mut bytes).map_err(|error| format!("no random bytes: {error}"))?;
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Judges a request by its head. `query` is what stands behind the `?`.
    pub(crate) fn judge(
        &self,
        method: &Method,
        path: &str,
        query: Option<&str>,
        headers: &HeaderMap,
    ) -> Verdict {
        let host = one(headers, header::HOST).map(str::to_ascii_lowercase);
        let Some(host) = host.filter(|host| self.hosts.contains(host)) else {
            return Verdict::Refuse(StatusCode::MISDIRECTED_REQUEST, "this server is not known by that name");
        };
        let is_visit = *method == Method::GET && !path.starts_with("/api/");
        let reads = *method == Method::GET || *method == Method::HEAD;
        let bearer = one(headers, header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        match headers.get(header::ORIGIN).map(|_| one(headers, header::ORIGIN)) {
            Some(origin) if origin == Some(&format!("{}://{host}", self.scheme)) => {}
            Some(_) => return Verdict::Refuse(StatusCode::FORBIDDEN, "the request comes from another site"),
            // Browsers send it with whatever may change something. Other programs say who they are by the header.
            None if !reads && bearer.is_none() => {
                return Verdict::Refuse(
                    StatusCode::FORBIDDEN,
                    "the request does not say where it comes from",
                );
            }
            None => {}
        }
        let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
        let is_own = matches!(site, None | Some(b"same-origin") | Some(b"none"));
        let navigates = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
        if !(is_own || is_visit && navigates) {
            return Verdict::Refuse(StatusCode::FORBIDDEN, "the request comes from another site");
        }
        if bearer.is_some_and(|token| self.is_token(token)) {
            return Verdict::Pass;
        }
        let in_address =
            query.and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("token=")));
        if let Some(token) = in_address.filter(|_| is_visit) {
            if !self.is_token(token) {
                return Verdict::Refuse(StatusCode::UNAUTHORIZED, "the token is another one");
            }
            let secure = if self.scheme == "https" { "; Secure" } else { "" };
            return Verdict::Welcome {
                cookie: format!("{}={}; Path=/; HttpOnly; SameSite=Strict{secure}", self.cookie, self.token),
                to: if path.starts_with("//") { "/".to_string() } else { path.to_string() },
            };
        }
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
        if pairs.any(|(name, value)| name == self.cookie && self.is_token(value)) {
            return Verdict::Pass;
        }
        Verdict::Refuse(
            StatusCode::UNAUTHORIZED,
            "open the address that `whyslow serve` printed: it has the token that this needs",
        )
    }

    /// In a time that does not tell how much of it is right.
    fn is_token(&self, given: &str) -> bool {
        let (ours, given) = (Sha256::digest(self.token.as_bytes()), Sha256::digest(given.as_bytes()));
        ours.iter().zip(given).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

/// The value of a header that is there once.
fn one(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "00112233445566778899aabbccddeeff";

    fn judge(method: Method, path: &str, query: Option<&str>, headers: &[(&'static str, &str)]) -> Verdict {
        let access = Access::new(TOKEN.to_string(), 8000, &["box.lan".to_string()], false);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        access.judge(&method, path, query, &map)
    }

    fn refused(verdict: Verdict) -> u16 {
        match verdict {
            Verdict::Refuse(status, _) => status.as_u16(),
            _ => 0,
        }
    }

    #[test]
    fn the_token_opens_and_nothing_else_does() {
        let host = ("host", "127.0.0.1:8000");
        let good = format!("token={TOKEN}");
        match judge(Method::GET, "/r/1/", Some(&good), &[host]) {
            Verdict::Welcome { cookie, to } => {
                assert_eq!(to, "/r/1/");
                assert!(cookie.contains("HttpOnly; SameSite=Strict"));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(refused(judge(Method::GET, "/", Some("token=0011"), &[host])), 401);
        assert_eq!(refused(judge(Method::GET, "/", None, &[host])), 401);
        // The address of data takes none: it would stand in histories and logs.
        assert_eq!(refused(judge(Method::GET, "/api/recordings", Some(&good), &[host])), 401);
        let cookie = format!("a=b; whyslow-8000={TOKEN}");
        assert_eq!(judge(Method::GET, "/api/recordings", None, &[host, ("cookie", &cookie)]), Verdict::Pass);
        let other = format!("whyslow-8001={TOKEN}");
        assert_eq!(refused(judge(Method::GET, "/api/recordings", None, &[host, ("cookie", &other)])), 401);
    }

    #[test]
    fn other_names_and_other_sites_are_refused() {
        let cookie = ("cookie", format!("whyslow-8000={TOKEN}"));
        let cookie = (cookie.0, cookie.1.as_str());
        for host in ["evil.example:8000", "127.0.0.1", "127.0.0.1:9", "127.0.0.1.evil.example:8000", ""] {
            assert_eq!(refused(judge(Method::GET, "/", None, &[("host", host), cookie])), 421, "{host}");
        }
        assert_eq!(refused(judge(Method::GET, "/", None, &[cookie])), 421);
        for host in ["localhost:8000", "[::1]:8000", "BOX.lan:8000"] {
            assert_eq!(judge(Method::GET, "/", None, &[("host", host), cookie]), Verdict::Pass, "{host}");
        }
        let host = ("host", "localhost:8000");
        let post = |more: &[(&'static str, &str)]| {
            refused(judge(Method::POST, "/api/live", None, &[&[host, cookie][..], more].concat()))
        };
        assert_eq!(post(&[("origin", "http://localhost:8000")]), 0);
        assert_eq!(post(&[]), 403);
        for origin in ["http://evil.example", "null", "https://localhost:8000", "http://127.0.0.1:8000"] {
            assert_eq!(post(&[("origin", origin)]), 403, "{origin}");
        }
        let site = ("sec-fetch-site", "cross-site");
        assert_eq!(refused(judge(Method::GET, "/api/recordings", None, &[host, cookie, site])), 403);
        let visit = ("sec-fetch-mode", "navigate");
        assert_eq!(judge(Method::GET, "/", None, &[host, cookie, site, visit]), Verdict::Pass);
        let two = [host, ("host", "evil.example"), cookie];
        assert_eq!(refused(judge(Method::GET, "/", None, &two)), 421);
    }

    #[test]
    fn tokens_are_long_and_never_the_same() {
        let (a, b) = (Access::new_token().unwrap(), Access::new_token().unwrap());
        assert!(a.len() == 32 && a != b);
    }
}
