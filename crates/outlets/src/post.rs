//! Sending by HTTP: one address, its headers, and what its answers mean. With TLS for https, by the system's certificates.

use crate::error::OutletError;
use crate::url::OutletUrl;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use ureq::http::{HeaderName, HeaderValue};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use whyslow_model::visible;

const CONNECT: Duration = Duration::from_secs(5);
/// What a receiver may take for one message.
const ANSWER: Duration = Duration::from_secs(20);
/// Bytes of an answer's text that are shown.
const SHOWN: u64 = 200;
/// No receiver may ask for a longer pause.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);
/// The shortest token that is taken: as long as no list of words has.
pub(crate) const SHORTEST_TOKEN: usize = 16;

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Posted {
    /// It was taken.
    Taken,
    /// It may be taken later, at the soonest after that time.
    Later(String, Option<Duration>),
    /// It never will.
    Refused(String),
}

/// Sends to one receiver.
pub(crate) struct Poster {
    agent: ureq::Agent,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Poster {
    /// To receivers of that address. A redirection is not followed: what is sent goes where the settings say.
    pub(crate) fn new(url: &OutletUrl, headers: &[(String, String)]) -> Result<Poster, OutletError> {
        let mut config = ureq::Agent::config_builder()
            .timeout_global(Some(ANSWER))
            .timeout_connect(Some(CONNECT))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("whyslow/", env!("CARGO_PKG_VERSION")));
        if url.is_encrypted() {
            config = config.tls_config(tls(url)?);
        }
        let header = |(name, value): &(String, String)| {
            let name = HeaderName::try_from(name.as_str()).ok()?;
            let mut value = HeaderValue::try_from(value.as_str()).ok()?;
            value.set_sensitive(true);
            Some((name, value))
        };
        let wrong = || OutletError::Settings(format!("{url}: a header of it is none"));
        let headers = headers.iter().map(|one| header(one).ok_or_else(wrong));
        Ok(Poster {
            headers: headers.collect::<Result<_, _>>()?,
            agent: ureq::Agent::new_with_config(config.build()),
        })
    }

    /// Sends a message.
    pub(crate) fn post(&self, url: &OutletUrl, media: &str, body: &[u8]) -> Posted {
        let mut request = self.agent.post(url.whole()).header("content-type", media);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut answer = match request.send(body) {
            Ok(answer) => answer,
            Err(error) => {
                return Posted::Later(format!("{url}: {}", visible::line(&error.to_string())), None);
            }
        };
        let status = answer.status();
        if status.is_success() {
            return Posted::Taken;
        }
        let after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        let mut text = Vec::new();
        // What cannot be read of it is not shown.
        let _ = answer.body_mut().as_reader().take(SHOWN).read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text);
        let why = format!("{url}: it answers {}: {}", status.as_u16(), visible::line(text.trim()));
        // Those that OTLP names as worth another try (opentelemetry.io/docs/specs/otlp, "Retryable response codes"), and those that
        // servers use for a moment's trouble.
        match status.as_u16() {
            408 | 429 | 500 | 502 | 503 | 504 => {
                Posted::Later(why, after.map(|seconds| Duration::from_secs(seconds).min(LONGEST_PAUSE)))
            }
            _ => Posted::Refused(why),
        }
    }
}

fn tls(url: &OutletUrl) -> Result<TlsConfig, OutletError> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let reason = found.errors.first().map_or("none are installed".to_string(), ToString::to_string);
        return Err(OutletError::Certificates { url: url.to_string(), reason });
    }
    let roots: Vec<Certificate<'static>> =
        found.certs.iter().map(|one| Certificate::from_der(one).to_owned()).collect();
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .build())
}

/// The first line of a file of a token.
pub(crate) fn token(outlet: &'static str, path: &Path) -> Result<String, OutletError> {
    let wrong = |reason: String| OutletError::Token { outlet, path: path.to_path_buf(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let token = text.lines().next().unwrap_or_default().trim();
    if token.len() < SHORTEST_TOKEN {
        return Err(wrong(format!("its first line has fewer than {SHORTEST_TOKEN} characters")));
    }
    Ok(token.to_string())
}

/// The header that shows a token.
pub(crate) fn bearer(token: &str) -> (String, String) {
    ("authorization".to_string(), format!("Bearer {token}"))
}
