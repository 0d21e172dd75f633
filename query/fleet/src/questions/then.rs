//! What was so at a time: requests, and findings that were open.

use serde::Serialize;

/// The requests that the service answered, on the hosts of the first suspect (else on all).
#[derive(Clone, Debug, Serialize)]
pub struct RequestsThen {
    /// Requests a second and host.
    pub per_second: f64,
    /// The same usually; null where it is not known.
    pub usual_per_second: Option<f64>,
    /// The mean duration.
    pub mean_ns: Option<f64>,
    /// The same usually.
    pub usual_mean_ns: Option<f64>,
    /// The minutes' 99th percentiles, their mean by requests.
    pub p99_ns: Option<f64>,
    /// The same usually.
    pub usual_p99_ns: Option<f64>,
    /// The part that failed, 0 to 1.
    pub failed: Option<f64>,
    /// The same usually.
    pub usual_failed: Option<f64>,
}

/// Findings of the service around that time.
#[derive(Clone, Debug, Serialize)]
pub struct OpenThen {
    /// The rule.
    pub rule: String,
    /// Hosts that had it.
    pub hosts: usize,
    /// When the first of them opened.
    pub since: String,
    /// What one of them said.
    pub title: String,
}
