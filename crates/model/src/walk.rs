//! The walk over the host: each resource ruled in or out, then who takes and who waits. Part of the diagnosis.

use crate::evidence::Evidence;
use crate::ids::Tid;
use serde::Serialize;

/// Whether a resource is what limits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Work waits for it.
    Saturated,
    /// It has room.
    Not,
    /// No source tells.
    Unknown,
}

impl State {
    /// The words for it.
    pub fn words(self) -> &'static str {
        match self {
            State::Saturated => "saturated",
            State::Not => "not saturated",
            State::Unknown => "unknown",
        }
    }
}

/// One resource of the host.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostResource {
    /// `CPU`, `memory`, `disk sda`, `network`, `limits`.
    pub name: String,
    /// Whether it is what limits.
    pub state: State,
    /// Why, in one short line; up to the first `;` it is the main figure.
    pub reason: String,
    /// The lines that show it.
    pub evidence: Vec<Evidence>,
    /// A command that tells more; empty where nothing is missing.
    pub supply: String,
}

/// Something that is taken or waited for.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Amount {
    /// The metric: `task_user`, `write_bytes`, `block_delay`.
    pub what: &'static str,
    /// The figure in the metric's unit.
    pub value: f64,
    /// As people read it: `0.92 CPUs`, `writes 343.8 MB/s`.
    pub text: String,
}

/// Who takes of the host, or waits for it: a process, a thread, a kind of call.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Taker {
    /// The process, where it has a number.
    pub pid: Option<Tid>,
    /// The thread, where it is one.
    pub tid: Option<Tid>,
    /// Its name: of a process or thread its `comm`, of a call the call's.
    pub comm: Option<String>,
    /// What it takes.
    pub takes: Vec<Amount>,
    /// What it waits for.
    pub waits: Vec<Amount>,
    /// The saturated resource that it waits for while others take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub victim_of: Option<String>,
    /// The lines that show it.
    pub evidence: Vec<Evidence>,
}

/// The walk: from the whole machine to the calls of one thread.
#[derive(Clone, Debug, Default, Serialize, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Walk {
    /// The resources: saturated ones first.
    pub resources: Vec<HostResource>,
    /// What the load average is made of.
    pub load: Option<String>,
    /// Processes, the one that matters most first.
    pub processes: Vec<Taker>,
    /// Threads, where a source tells them apart.
    pub threads: Vec<Taker>,
    /// System calls and kernel functions, where a source counts them.
    pub calls: Vec<Taker>,
    /// What ending a cost would save, with the formula.
    pub saving: Option<String>,
    /// Where to look next.
    pub next: String,
}
