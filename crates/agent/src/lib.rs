//! The agent: it records all the time, cuts what it recorded into windows of a minute, and has each window told by a process of its own:
//! where the time of each service went, its calls, requests and stacks, the host's figures, and what rules found. It measures itself, and
//! gives up detail where it takes more than it may.
//!
//! What is on its disk, below the folder of state: `windows/`, spools that are recorded or to be told; `parts/`, Parquet parts that wait to
//! be taken elsewhere; `upload/`, those of whole hours that wait for the store; `kept/`, recordings that the ring kept; `findings.json`,
//! findings that are open; `status.json`, what it says of itself. A kill costs the window that is open.

#[cfg(feature = "bpf")]
mod error;
#[cfg(feature = "bpf")]
mod join;
#[cfg(feature = "bpf")]
mod keeper;
#[cfg(feature = "bpf")]
mod lives;
#[cfg(feature = "bpf")]
mod outbox;
#[cfg_attr(not(feature = "bpf"), allow(dead_code))]
mod outcome;
#[cfg(feature = "bpf")]
mod outward;
#[cfg(feature = "bpf")]
mod own;
#[cfg(feature = "bpf")]
mod plan;
#[cfg(feature = "bpf")]
mod rows;
#[cfg(feature = "bpf")]
mod run;
#[cfg(feature = "bpf")]
mod service;
#[cfg_attr(not(feature = "bpf"), allow(dead_code))]
mod settings;
#[cfg_attr(not(feature = "bpf"), allow(dead_code))]
mod shed;
#[cfg(feature = "bpf")]
mod split;
#[cfg_attr(not(feature = "bpf"), allow(dead_code))]
mod status;
#[cfg(feature = "bpf")]
mod teller;
#[cfg(feature = "bpf")]
mod upload;
#[cfg(feature = "bpf")]
mod watched;
#[cfg(feature = "bpf")]
mod window;

#[cfg(feature = "bpf")]
pub use error::AgentError;
pub use outcome::WindowOutcome;
#[cfg(feature = "bpf")]
pub use run::{AgentOrder, run};
pub use settings::{AgentSettings, RingSettings, RingTrigger, StorageSettings};
pub use shed::AgentDetail;
pub use status::{AgentKept, AgentRing, AgentStatus, AgentUpload};
#[cfg(feature = "bpf")]
pub use window::{ToldWindow, WindowError, tell_window};
