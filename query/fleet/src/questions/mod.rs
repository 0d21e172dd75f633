//! The questions that have names, a file each.

mod compare;
mod findings;
mod history;
mod host;
mod hosts;
mod lives;
mod service;
mod services;
mod slices;
mod spread;
mod then;
mod usual;
mod why;

pub use compare::{FigureComparison, FleetCompare, ServiceComparison};
pub use findings::{FindingGroup, FleetFindings, GroupColumn};
pub use history::{BlastRadius, FindingHistory, FindingLife, HistorySlice, KeptRecording, LastTold};
pub use host::{FleetHost, HostFigure, HostService};
pub use hosts::{AgentState, FleetHosts};
pub use service::{EndpointSums, FleetService, ServiceHost};
pub use services::{FleetServices, ServiceNow};
pub use slices::{AccountSlice, COSTLY_STATES, RequestSlice, RequestSums};
pub use spread::{FleetSpread, SpreadHost, SpreadService};
pub use then::{OpenThen, RequestsThen};
pub use why::{FleetWhy, Suspect, why_span};

use crate::error::FleetError;
use crate::fleet::{Fleet, FleetUsage};
use crate::span::shown;
use datafusion::common::ScalarValue;
use serde::Serialize;

/// The answer to a question that has a name.
pub trait FleetAnswer: Serialize {
    /// As people read it: the first line says it in a sentence.
    fn text(&self) -> String;
}

/// How much was read, in a sentence.
pub fn usage_line(usage: FleetUsage) -> String {
    format!("read {} of {}", crate::words::bytes(usage.bytes_read), there(usage))
}

/// What lay there where another engine read, in a sentence: how much of it that read is not known here.
pub fn given_usage_line(usage: FleetUsage) -> String {
    format!("the cluster was asked about {}", there(usage))
}

fn there(usage: FleetUsage) -> String {
    let parts = crate::words::plural(usage.parts as usize, "part");
    format!("{} in {parts}", crate::words::bytes(usage.bytes_there))
}

/// The condition that leaves one service, or all.
fn of_service(service: Option<&str>) -> (&'static str, Vec<(&'static str, ScalarValue)>) {
    match service {
        Some(service) => ("service = $service", vec![("service", ScalarValue::from(service))]),
        None => ("true", Vec::new()),
    }
}

/// There is nothing of the span.
fn no_agent(fleet: &Fleet) -> FleetError {
    let span = fleet.options.span;
    FleetError::Nothing(format!(
        "no agent reported from {} until {} (UTC)\nnext: look further back with --since, or at the place of the parts",
        shown(span.from),
        shown(span.until)
    ))
}
