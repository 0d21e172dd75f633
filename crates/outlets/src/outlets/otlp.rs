//! `otlp`: figures, findings and profiles to a collector of OpenTelemetry, by HTTP with protocol buffers
//! (<https://opentelemetry.io/docs/specs/otlp/#otlphttp>). A message a window and signal. Sums are cumulative since the agent began, as
//! on the page for Prometheus, and have the same names.

mod encode;
mod profiles;

use super::{Outlet, OutletKind, OutletSettings};
use crate::error::OutletError;
use crate::post::Poster;
use crate::queue::{OutMessage, SendQueue};
use crate::sums::{OutletCounts, OutletSums};
use crate::told::ToldWindow;
use crate::url::OutletUrl;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;

/// The outlet.
pub(super) const KIND: OutletKind = OutletKind {
    name: "otlp",
    about: "figures, findings and profiles to a collector of OpenTelemetry",
    check: |settings| settings.otlp.as_ref().map_or(Ok(()), OtlpSettings::check),
    is_on: |settings| settings.otlp.is_some(),
    words: |settings| {
        let words = |one: &OtlpSettings| format!("{} by OTLP to {}", one.signals().join(", "), one.target());
        settings.otlp.iter().map(words).collect()
    },
    wants_stacks: |settings| settings.otlp.as_ref().is_some_and(|one| one.profiles),
    open: |settings: &OutletSettings, _| settings.otlp.iter().map(open).collect(),
};

/// Where a collector listens on this host (opentelemetry.io/docs/specs/otlp, "Default port").
const USUAL: &str = "http://localhost:4318";
/// The variables that programs with OpenTelemetry read (opentelemetry.io/docs/specs/otel/protocol/exporter).
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const MEDIA: &str = "application/x-protobuf";

/// The settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OtlpSettings {
    /// The collector; what the variable `OTEL_EXPORTER_OTLP_ENDPOINT` says where it is empty, else that of this host.
    pub endpoint: OutletUrl,
    /// The variable of the environment that has headers, `NAME=VALUE,NAME=VALUE`.
    pub headers_from: String,
    /// Send figures.
    pub metrics: bool,
    /// Send findings that open and close.
    pub logs: bool,
    /// Send stacks, in the signal of profiles, which may still change.
    pub profiles: bool,
}

impl Default for OtlpSettings {
    fn default() -> OtlpSettings {
        OtlpSettings {
            endpoint: OutletUrl::default(),
            headers_from: HEADERS.to_string(),
            metrics: true,
            logs: true,
            profiles: false,
        }
    }
}

impl OtlpSettings {
    fn check(&self) -> Result<(), String> {
        if self.signals().is_empty() {
            return Err("metrics, logs and profiles are all false: expected one that is sent".to_string());
        }
        self.target().check().map_err(|why| format!("endpoint = {why}"))
    }

    fn signals(&self) -> Vec<&'static str> {
        let all = [(self.metrics, "metrics"), (self.logs, "logs"), (self.profiles, "profiles")];
        all.into_iter().filter_map(|(is_on, name)| is_on.then_some(name)).collect()
    }

    fn target(&self) -> OutletUrl {
        if !self.endpoint.is_empty() {
            return self.endpoint.clone();
        }
        match std::env::var(ENDPOINT) {
            Ok(text) if !text.is_empty() => OutletUrl::new(&text),
            _ => OutletUrl::new(USUAL),
        }
    }
}

struct Otlp {
    settings: OtlpSettings,
    target: OutletUrl,
    queue: SendQueue,
}

fn open(settings: &OtlpSettings) -> Result<Box<dyn Outlet>, OutletError> {
    let target = settings.target();
    let given = std::env::var(&settings.headers_from).unwrap_or_default();
    let wrong = |reason: String| OutletError::Headers { variable: settings.headers_from.clone(), reason };
    let poster = Poster::new(&target, &headers(&given).map_err(wrong)?)?;
    let send = move |message: &OutMessage| poster.post(&message.to, message.media, &message.body);
    let queue = SendQueue::start(KIND.name, send)?;
    Ok(Box::new(Otlp { settings: settings.clone(), target, queue }))
}

/// `NAME=VALUE,NAME=VALUE`, values percent-encoded (opentelemetry.io/docs/specs/otel/protocol/exporter, "Specifying headers").
fn headers(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut headers = Vec::new();
    for (at, pair) in text.split(',').enumerate().filter(|(_, pair)| !pair.trim().is_empty()) {
        // The text is a secret: its place is told instead.
        let (name, value) =
            pair.split_once('=').ok_or_else(|| format!("the one at place {} has no =", at + 1))?;
        headers.push((
            name.trim().to_string(),
            percent_decode_str(value.trim()).decode_utf8_lossy().into_owned(),
        ));
    }
    Ok(headers)
}

impl Otlp {
    fn push(&self, path: &str, body: Vec<u8>) {
        self.queue.push(OutMessage { to: self.target.with_path(path), media: MEDIA, body: Arc::new(body) });
    }
}

impl Outlet for Otlp {
    fn name(&self) -> &'static str {
        KIND.name
    }

    fn take(&mut self, window: &ToldWindow, sums: &OutletSums) {
        if self.settings.metrics {
            self.push("/v1/metrics", encode::metrics(window, &sums.families()));
        }
        if self.settings.logs
            && let Some(body) = encode::logs(window)
        {
            self.push("/v1/logs", body);
        }
        if self.settings.profiles {
            profiles::encode(window).into_iter().for_each(|body| self.push("/v1development/profiles", body));
        }
    }

    fn counts(&self) -> OutletCounts {
        self.queue.counts()
    }

    fn notes(&mut self) -> Vec<String> {
        self.queue.notes()
    }

    fn close(&mut self, until: Instant) {
        self.queue.close(until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_of_the_variable_and_no_value_is_told() {
        let read = headers("api-key=a%20b%3d , x-y = z,").expect("headers");
        assert_eq!(read, [("api-key".into(), "a b=".into()), ("x-y".into(), "z".into())]);
        assert_eq!(headers("").expect("none"), []);
        let error = headers("a=b,SECRET").expect_err("none");
        assert!(error.contains("place 2") && !error.contains("SECRET"), "{error}");
    }

    #[test]
    fn what_sends_nothing_is_refused() {
        let none = OtlpSettings { metrics: false, logs: false, ..OtlpSettings::default() };
        assert!(none.check().expect_err("refused").contains("all false"));
        let settings = OtlpSettings { endpoint: OutletUrl::new("http://c:4318/"), ..OtlpSettings::default() };
        assert_eq!(settings.check(), Ok(()));
        assert_eq!(settings.target().with_path("/v1/logs").whole(), "http://c:4318/v1/logs");
        let wrong = OtlpSettings { endpoint: OutletUrl::new("collector:4317"), ..settings };
        assert!(wrong.check().is_err());
    }
}
