//! Out to others: what the agent tells of each window, in the forms that other systems take. [`OUTLETS`] lists the ways: a page for
//! Prometheus, OpenTelemetry's protocol, webhooks, the journal of systemd. All are off unless the settings name them.
//!
//! The way of a window: the process that tells it reduces its rows ([`ToldRows`]) and leaves them in a folder ([`hand_over`]); a thread
//! of the agent ([`Outlets`]) takes them from there, adds them to its sums, and gives them to each outlet. What an outlet sends waits in
//! a bounded queue of its own, so that a receiver that is away holds up nobody, and what had to go is counted.

mod error;
mod family;
mod findings;
mod handover;
mod http;
mod message;
mod outlets;
mod post;
mod queue;
mod run;
mod series;
mod sums;
mod told;
mod url;

pub use error::OutletError;
pub use family::{FamilyKind, FamilyUnit, MetricFamily, family_names};
pub use handover::{HandoverError, hand_over};
pub use outlets::{
    JournalSettings, OUTLETS, OpenMetricsSettings, OtlpSettings, OutletKind, OutletSettings, WebhookForm,
    WebhookSettings,
};
pub use run::Outlets;
pub use sums::AgentFigures;
pub use told::ToldRows;
pub use url::OutletUrl;
