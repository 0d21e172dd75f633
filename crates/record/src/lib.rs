//! The recorder: the live kernel to events.

mod arguments;
#[cfg(feature = "bpf")]
mod bpf;
#[cfg(feature = "bpf")]
mod budget;
#[cfg_attr(not(feature = "bpf"), allow(dead_code))]
mod clock;
#[cfg(feature = "bpf")]
mod code;
mod command;
#[cfg(feature = "bpf")]
mod cost;
#[cfg(feature = "bpf")]
mod counts;
pub mod decode;
pub mod doctor;
mod error;
#[cfg(feature = "bpf")]
mod flight;
#[cfg(feature = "bpf")]
mod follow;
#[cfg(feature = "bpf")]
mod losses;
pub mod names;
mod namespace;
mod options;
pub mod printed;
#[cfg(feature = "bpf")]
pub mod programs;
#[cfg_attr(not(feature = "bpf"), allow(dead_code))]
pub mod ptrace;
#[cfg(feature = "bpf")]
mod queues;
#[cfg(feature = "bpf")]
mod quota;
pub mod raw;
#[cfg(feature = "bpf")]
mod recovery;
#[cfg(feature = "bpf")]
mod replay;
#[cfg(feature = "bpf")]
mod session;
pub mod spec;
#[cfg(feature = "bpf")]
mod state;
#[cfg(feature = "bpf")]
pub mod symbols;
pub mod target;
#[cfg(feature = "bpf")]
mod window_end;
#[cfg(feature = "bpf")]
mod within;

#[cfg(feature = "bpf")]
pub use bpf::spool::SPOOL_STREAMS;
pub use clock::Clock;
pub use command::{Command, send_signal, wait_for};
#[cfg(feature = "bpf")]
pub use cost::PerCall;
pub use error::RecordError;
#[cfg(feature = "bpf")]
pub use flight::{
    FlightRing, FlightState, RingBounds, SeenCall, SeenEnd, SeenRequest, SeenSide, Sight, SightsWanted,
    WindowWritten,
};
pub use options::{Mode, Options};
#[cfg(feature = "bpf")]
pub use recovery::can_recover;
#[cfg(feature = "bpf")]
pub use replay::Recorded;
#[cfg(feature = "bpf")]
pub use session::{CutWindow, RecordingProgress, Session};
#[cfg(feature = "bpf")]
pub use symbols::build_id;
