//! Addresses of receivers. What stands behind the host may be a secret, and is in no message.

use serde::{Deserialize, Serialize};
use std::fmt;
use ureq::http::Uri;
use whyslow_model::visible;

/// Where something is sent. Shown without its path, its query and the name of a user: webhooks have their secrets there.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OutletUrl(String);

impl OutletUrl {
    /// That of a text.
    pub fn new(text: &str) -> OutletUrl {
        OutletUrl(text.to_string())
    }

    /// True where there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The whole of it, for who connects.
    pub(crate) fn whole(&self) -> &str {
        &self.0
    }

    /// True where what is sent is encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// The same with a path behind it.
    pub(crate) fn with_path(&self, path: &str) -> OutletUrl {
        OutletUrl(format!("{}{path}", self.0.trim_end_matches('/')))
    }

    /// Whether something can be sent there.
    ///
    /// # Errors
    /// What is wrong, and what is expected.
    pub(crate) fn check(&self) -> Result<(), String> {
        const EXPECTED: &str = "expected http://HOST:PORT/PATH or https://HOST/PATH";
        let uri: Uri = self.0.parse().map_err(|error| format!("{self}: {error}; {EXPECTED}"))?;
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        if !is_web || uri.host().is_none_or(str::is_empty) {
            return Err(format!("{self}: {EXPECTED}"));
        }
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(format!("{self}: it names a user; give a token by `token_file` instead"));
        }
        Ok(())
    }
}

impl fmt::Display for OutletUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("", &self.0));
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let host = rest[..end].rsplit('@').next().unwrap_or_default();
        if scheme.is_empty() {
            // A text without a scheme may be a secret from its first letter on.
            return out.write_str("the address");
        }
        write!(out, "{}://{}", visible::line(scheme), visible::line(host))
    }
}

impl fmt::Debug for OutletUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_of_an_address_is_shown() {
        for text in [
            "https://hooks.example.com/services/T0/B0/SECRET",
            "https://user:SECRET@hooks.example.com/x",
            "https://hooks.example.com?token=SECRET",
            "SECRET",
            "hooks.example.com/SECRET",
        ] {
            let url = OutletUrl::new(text);
            let said = format!("{url} {url:?} {:?}", url.check());
            assert!(!said.contains("SECRET"), "{said}");
        }
        assert_eq!(OutletUrl::new("https://h.example:9/a/b").to_string(), "https://h.example:9");
    }

    #[test]
    fn only_what_can_be_connected_to_is_taken() {
        for right in ["http://localhost:4318", "https://[::1]:9/x", "http://10.0.0.1/"] {
            assert_eq!(OutletUrl::new(right).check(), Ok(()), "{right}");
        }
        for wrong in ["", "localhost:4318", "ftp://h/x", "http://", "http://a b/", "https://u:p@h/"] {
            assert!(OutletUrl::new(wrong).check().is_err(), "{wrong}");
        }
        assert_eq!(
            OutletUrl::new("http://h:1/otlp/").with_path("/v1/logs").whole(),
            "http://h:1/otlp/v1/logs"
        );
    }
}
