//! `openmetrics`: a page by HTTP with all figures, in the text of OpenMetrics 1.0, or in that of Prometheus for who asks for no other.
//! <https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md>

use super::{Outlet, OutletKind};
use crate::error::OutletError;
use crate::family::{FamilyKind, FamilyUnit};
use crate::http::{PageAnswer, PageGuard, PageRequest, PageServer};
use crate::post;
use crate::sums::{FamilySamples, Figure, OutletCounts, OutletSums, bounds};
use crate::told::ToldWindow;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, prometheus_text, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The outlet.
pub(super) const KIND: OutletKind = OutletKind {
    name: "openmetrics",
    about: "a page of figures by HTTP, for Prometheus and what scrapes alike",
    check: |settings| settings.openmetrics.as_ref().map_or(Ok(()), OpenMetricsSettings::check),
    is_on: |settings| settings.openmetrics.is_some(),
    words: |settings| {
        let words = |one: &OpenMetricsSettings| format!("openmetrics at http://{}/metrics", one.listen);
        settings.openmetrics.iter().map(words).collect()
    },
    wants_stacks: |_| false,
    open: |settings, sums| settings.openmetrics.iter().map(|one| open(one, sums)).collect(),
};

/// The port, as other exporters have theirs (none has this one in the list of Prometheus' wiki, "Default port allocations").
const USUAL_PORT: u16 = 9733;
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpenMetricsSettings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// A file whose first line who asks must know; without it everybody on this host may ask.
    pub token_file: Option<PathBuf>,
    /// Answer everybody who reaches an address that is not of this host alone, without a token.
    pub open: bool,
}

impl Default for OpenMetricsSettings {
    fn default() -> OpenMetricsSettings {
        let listen = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), USUAL_PORT);
        OpenMetricsSettings { listen, token_file: None, open: false }
    }
}

impl OpenMetricsSettings {
    fn check(&self) -> Result<(), String> {
        if self.listen.ip().is_loopback() || self.token_file.is_some() || self.open {
            return Ok(());
        }
        Err(format!(
            "listen = {}: others reach this address; expected one of this host alone (127.0.0.1:{USUAL_PORT}), a `token_file`, or \
             `open = true`",
            self.listen
        ))
    }
}

/// The page that is open.
struct OpenMetrics {
    _server: PageServer,
    given: Arc<AtomicU64>,
}

fn open(
    settings: &OpenMetricsSettings,
    sums: &Arc<Mutex<OutletSums>>,
) -> Result<Box<dyn Outlet>, OutletError> {
    let guard = match &settings.token_file {
        Some(path) => PageGuard::Token(post::token(KIND.name, path)?),
        None if settings.listen.ip().is_loopback() => PageGuard::LocalNames,
        None => PageGuard::Open,
    };
    let (sums, given) = (sums.clone(), Arc::new(AtomicU64::new(0)));
    let counted = given.clone();
    let pages = move |request: &PageRequest| {
        if request.path != "/metrics" {
            return PageAnswer::plain("404 Not Found", "GET /metrics\n");
        }
        counted.fetch_add(1, Ordering::Relaxed);
        let families = sums.lock().unwrap_or_else(PoisonError::into_inner).families();
        page(families, request.accept.contains("application/openmetrics-text"))
    };
    let server = PageServer::listen(settings.listen, guard, Arc::new(pages))
        .map_err(|source| OutletError::Listen { address: settings.listen, source })?;
    Ok(Box::new(OpenMetrics { _server: server, given }))
}

impl Outlet for OpenMetrics {
    fn name(&self) -> &'static str {
        KIND.name
    }

    fn take(&mut self, _: &ToldWindow, _: &OutletSums) {}

    fn counts(&self) -> OutletCounts {
        OutletCounts { sent: self.given.load(Ordering::Relaxed), ..OutletCounts::default() }
    }

    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn close(&mut self, _: Instant) {}
}

fn page(families: Vec<FamilySamples>, is_openmetrics: bool) -> PageAnswer {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Page(families)));
    let mut body = String::new();
    let written = match is_openmetrics {
        true => text::encode(&mut body, &registry),
        false => prometheus_text::encode(&mut body, &registry),
    };
    match written {
        Ok(()) => PageAnswer {
            status: "200 OK",
            media: if is_openmetrics { OPENMETRICS } else { PROMETHEUS },
            body,
        },
        // Writing into a text does not fail; the encoder may.
        Err(fmt::Error) => {
            PageAnswer::plain("500 Internal Server Error", "the figures could not be written\n")
        }
    }
}

/// All figures, for the encoder.
#[derive(Debug)]
struct Page(Vec<FamilySamples>);

impl Collector for Page {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for of in &self.0 {
            let unit = match of.family.unit {
                FamilyUnit::Count => None,
                FamilyUnit::Seconds => Some(Unit::Seconds),
                FamilyUnit::Bytes => Some(Unit::Bytes),
                other => Some(Unit::Other(other.word().to_string())),
            };
            let kind = match of.family.kind {
                FamilyKind::Counter => MetricType::Counter,
                FamilyKind::Gauge => MetricType::Gauge,
                FamilyKind::Histogram => MetricType::Histogram,
                FamilyKind::Info => MetricType::Info,
            };
            let mut metric =
                encoder.encode_descriptor(&of.family.stem, &of.family.help, unit.as_ref(), kind)?;
            for sample in &of.samples {
                if of.family.kind == FamilyKind::Info {
                    metric.encode_info(&sample.labels)?;
                } else if sample.labels.is_empty() {
                    figure(of.family.kind, &sample.figure, &mut metric)?;
                } else {
                    figure(of.family.kind, &sample.figure, &mut metric.encode_family(&sample.labels)?)?;
                }
            }
        }
        Ok(())
    }
}

fn figure(kind: FamilyKind, figure: &Figure, metric: &mut MetricEncoder<'_>) -> fmt::Result {
    let is_counter = kind == FamilyKind::Counter;
    match figure {
        Figure::Count(count) if is_counter => metric.encode_counter::<NoLabelSet, _, f64>(count, None),
        Figure::Count(count) => metric.encode_gauge(count),
        Figure::Nanos(ns) => number(is_counter, *ns as f64 / 1e9, metric),
        Figure::Number(value) => number(is_counter, *value, metric),
        Figure::Histogram { counts, ns } => {
            let bounds = bounds().into_iter().chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = bounds.zip(counts.iter().copied()).collect();
            let sum = *ns as f64 / 1e9;
            metric.encode_histogram::<NoLabelSet>(sum, counts.iter().sum(), &buckets, None)
        }
    }
}

fn number(is_counter: bool, value: f64, metric: &mut MetricEncoder<'_>) -> fmt::Result {
    match is_counter {
        true => metric.encode_counter::<NoLabelSet, _, f64>(&value, None),
        false => metric.encode_gauge(&value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family;
    use crate::sums::FamilySample;
    use std::borrow::Cow;

    fn of(
        family: &'static family::MetricFamily,
        labels: &[(&'static str, &str)],
        figure: Figure,
    ) -> FamilySamples {
        let labels = labels.iter().map(|(name, value)| (*name, (*value).to_string())).collect();
        let samples = vec![FamilySample { labels, figure, since: None }];
        FamilySamples { family: Cow::Borrowed(family), samples }
    }

    fn all() -> Vec<FamilySamples> {
        let mut counts = vec![0; 15];
        (counts[0], counts[2], counts[14]) = (1, 2, 4);
        vec![
            of(
                &family::ACCOUNT,
                &[("service", "a\"b\\c\nd"), ("state", "user")],
                Figure::Nanos(1_500_000_000),
            ),
            of(&family::CALLS, &[("call", "read")], Figure::Count(7)),
            of(
                &family::REQUEST_DURATION,
                &[("endpoint", "GET /")],
                Figure::Histogram { counts, ns: 9_000_000_000 },
            ),
            of(&family::AGENT, &[("version", "0.1")], Figure::Number(1.0)),
            of(&family::AGENT_MEMORY, &[], Figure::Count(1 << 40)),
            of(&family::AGENT_CPU, &[], Figure::Number(0.0125)),
        ]
    }

    #[test]
    fn the_text_is_that_of_openmetrics() {
        let answer = page(all(), true);
        assert_eq!((answer.status, answer.media), ("200 OK", OPENMETRICS));
        for line in [
            "# TYPE whyslow_account_seconds counter",
            "# UNIT whyslow_account_seconds seconds",
            "whyslow_account_seconds_total{service=\"a\\\"b\\\\c\\nd\",state=\"user\"} 1.5",
            "whyslow_calls_total{call=\"read\"} 7",
            "# TYPE whyslow_request_duration_seconds histogram",
            "whyslow_request_duration_seconds_bucket{le=\"0.000001023\",endpoint=\"GET /\"} 1",
            "whyslow_request_duration_seconds_bucket{le=\"0.000016383\",endpoint=\"GET /\"} 3",
            "whyslow_request_duration_seconds_bucket{le=\"+Inf\",endpoint=\"GET /\"} 7",
            "whyslow_request_duration_seconds_sum{endpoint=\"GET /\"} 9.0",
            "whyslow_request_duration_seconds_count{endpoint=\"GET /\"} 7",
            "# TYPE whyslow_agent info",
            "whyslow_agent_info{version=\"0.1\"} 1",
            "whyslow_agent_memory_bytes 1099511627776",
            "# UNIT whyslow_agent_cpu_ratio ratio",
            "whyslow_agent_cpu_ratio 0.0125",
        ] {
            assert!(answer.body.lines().any(|known| known == line), "{line} is not in\n{}", answer.body);
        }
        assert!(answer.body.ends_with("# EOF\n"));
    }

    #[test]
    fn who_asks_for_no_openmetrics_gets_the_text_of_prometheus() {
        let answer = page(all(), false);
        assert_eq!(answer.media, PROMETHEUS);
        assert!(answer.body.contains("\nwhyslow_calls_total{call=\"read\"} 7\n"), "{}", answer.body);
        assert!(!answer.body.contains("# EOF") && !answer.body.contains("# UNIT"));
    }

    #[test]
    fn an_address_that_others_reach_takes_a_token_or_a_word() {
        let far = OpenMetricsSettings {
            listen: "0.0.0.0:9733".parse().expect("an address"),
            ..OpenMetricsSettings::default()
        };
        assert!(far.check().expect_err("refused").contains("token_file"));
        assert!(OpenMetricsSettings { open: true, ..far.clone() }.check().is_ok());
        assert!(OpenMetricsSettings { token_file: Some("/t".into()), ..far }.check().is_ok());
        assert!(OpenMetricsSettings::default().check().is_ok());
    }
}
