//! Spans to a receiver, by plain HTTP: `--endpoint http://localhost:9411`.

use anyhow::{anyhow, bail};
use std::io::{self, Read};
use std::time::Duration;
use ureq::http::Uri;
use whyslow_export::{SpanCounts, SpanFormat, send_spans};
use whyslow_facts::Facts;
use whyslow_model::visible;

const CONNECT: Duration = Duration::from_secs(10);
/// What a receiver may take for one message.
const ANSWER: Duration = Duration::from_secs(30);
/// Bytes of an answer's text that are shown.
const SHOWN: u64 = 300;

/// Where spans go.
pub(super) struct Receiver {
    uri: String,
    agent: ureq::Agent,
}

impl Receiver {
    /// Of a URL. One without a path gets that on which receivers of the format listen.
    ///
    /// # Errors
    /// If it is none of plain HTTP.
    pub(super) fn of(url: &str, format: &SpanFormat) -> anyhow::Result<Receiver> {
        let shown = visible::line(url);
        if url.starts_with("https://") {
            bail!(
                "{shown}: this whyslow does not speak https\nnext: write a file with -o, and send it: curl --data-binary @FILE -H 'content-type: {}' URL",
                format.media
            );
        }
        let uri: Uri = url.parse().map_err(|error| anyhow!("{shown}: {error}"))?;
        let Some(host) = uri.authority().filter(|_| uri.scheme_str() == Some("http")) else {
            bail!("{shown}: this is no URL of a receiver\nnext: http://HOST:PORT");
        };
        let path = uri.path_and_query().map(|path| path.as_str()).filter(|path| *path != "/");
        let uri = format!("http://{host}{}", path.unwrap_or(format.path));
        // What is sent goes where the user says, and nowhere else.
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(ANSWER))
            .timeout_connect(Some(CONNECT))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("whyslow/", env!("CARGO_PKG_VERSION")));
        Ok(Receiver { uri, agent: ureq::Agent::new_with_config(config.build()) })
    }

    /// The URL.
    pub(super) fn uri(&self) -> &str {
        &self.uri
    }

    /// Sends all spans.
    ///
    /// # Errors
    /// If nobody takes them.
    pub(super) fn take(&self, facts: &Facts, format: &SpanFormat) -> anyhow::Result<SpanCounts> {
        let mut refused = None;
        let mut sent = 0_u64;
        let done = send_spans(facts, format, &mut |message| match self.post(message, format.media) {
            Ok(()) => {
                sent += 1;
                Ok(())
            }
            Err(error) => {
                refused = Some(error);
                Err(io::Error::other("the receiver takes nothing more"))
            }
        });
        match (refused, done) {
            (Some(error), _) if sent > 0 => {
                Err(error.context(format!("{sent} messages were taken, and the next one was not")))
            }
            (Some(error), _) => Err(error),
            (None, done) => Ok(done?),
        }
    }

    fn post(&self, message: &[u8], media: &str) -> anyhow::Result<()> {
        let uri = &self.uri;
        let answer = self.agent.post(uri).header("content-type", media).send(message);
        let mut answer = answer.map_err(|error| match error {
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                anyhow!("{uri}: the connection was refused: nobody listens there")
            }
            error => anyhow!("{uri}: {error}"),
        })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let mut text = Vec::new();
        // What cannot be read of it is not shown.
        let _ = answer.body_mut().as_reader().take(SHOWN).read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text);
        bail!("{uri}: the receiver answers {}: {}", status.as_u16(), crate::output::plain(text.trim()))
    }
}
