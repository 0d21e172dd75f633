//! The outlets: a file each, and a line in [`OUTLETS`].

mod journal;
mod openmetrics;
mod otlp;
mod webhook;

use crate::error::OutletError;
use crate::sums::{OutletCounts, OutletSums};
use crate::told::ToldWindow;
pub use journal::JournalSettings;
pub use openmetrics::OpenMetricsSettings;
pub use otlp::OtlpSettings;
use std::sync::{Arc, Mutex};
use std::time::Instant;
pub use webhook::{WebhookForm, WebhookSettings};

/// All outlets, in the order of the documents.
pub static OUTLETS: &[OutletKind] = &[openmetrics::KIND, otlp::KIND, webhook::KIND, journal::KIND];

/// What is sent where. All is off where nothing is said.
#[derive(Clone, Debug, PartialEq)]
pub struct OutletSettings {
    /// Series of one group of metrics (of the account, calls, requests, findings) that are told apart, at most.
    pub series: u32,
    /// The page for Prometheus.
    pub openmetrics: Option<OpenMetricsSettings>,
    /// OpenTelemetry's protocol.
    pub otlp: Option<OtlpSettings>,
    /// Webhooks.
    pub webhook: Vec<WebhookSettings>,
    /// The journal of systemd.
    pub journal: Option<JournalSettings>,
    /// Length of a window, seconds.
    pub window: u32,
}

impl Default for OutletSettings {
    fn default() -> OutletSettings {
        OutletSettings {
            series: OutletSettings::USUAL_SERIES,
            openmetrics: None,
            otlp: None,
            webhook: Vec::new(),
            journal: None,
            window: 60,
        }
    }
}

impl OutletSettings {
    /// Series of one group that are told apart, where nothing is said: with four groups some thousand lines of the page.
    pub const USUAL_SERIES: u32 = 200;

    /// Whether all is possible.
    ///
    /// # Errors
    /// What is not, and what is.
    pub fn check(&self) -> Result<(), String> {
        if !(1..=10_000).contains(&self.series) {
            return Err(format!("series = {}: expected 1 to 10000", self.series));
        }
        let of = |outlet: &OutletKind| (outlet.check)(self).map_err(|why| format!("[{}] {why}", outlet.name));
        OUTLETS.iter().try_for_each(of)
    }

    /// True where some outlet is on.
    pub fn is_any_on(&self) -> bool {
        OUTLETS.iter().any(|outlet| (outlet.is_on)(self))
    }

    /// What is on, in words, and where it goes; without secrets.
    pub fn in_words(&self) -> Vec<String> {
        OUTLETS.iter().flat_map(|outlet| (outlet.words)(self)).collect()
    }
}

/// An outlet, or why it is not open.
pub(crate) type OpenedOutlet = Result<Box<dyn Outlet>, OutletError>;

/// A way out.
pub struct OutletKind {
    /// Its name: that of its table in the settings.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    pub(crate) check: fn(&OutletSettings) -> Result<(), String>,
    pub(crate) is_on: fn(&OutletSettings) -> bool,
    /// What is on, and where it goes.
    pub(crate) words: fn(&OutletSettings) -> Vec<String>,
    /// Whether it is to be told stacks.
    pub(crate) wants_stacks: fn(&OutletSettings) -> bool,
    /// Opens those that are on.
    pub(crate) open: fn(&OutletSettings, &Arc<Mutex<OutletSums>>) -> Vec<OpenedOutlet>,
}

/// An outlet that is open.
pub(crate) trait Outlet: Send {
    /// Its name in figures.
    fn name(&self) -> &'static str;
    /// Sends what it sends of a window, without waiting. `sums` have it already.
    fn take(&mut self, window: &ToldWindow, sums: &OutletSums);
    /// How it fares.
    fn counts(&self) -> OutletCounts;
    /// What is to be said, once.
    fn notes(&mut self) -> Vec<String>;
    /// Sends what waits, no longer than until then.
    fn close(&mut self, until: Instant);
}
