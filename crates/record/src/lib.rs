//! The recorder: the live kernel to events.

#[cfg(feature = "bpf")]
mod bpf;
pub mod decode;
mod error;
#[cfg(feature = "bpf")]
pub mod programs;
pub mod raw;
pub mod spec;
#[cfg(feature = "bpf")]
mod spool;
pub mod target;

pub use error::RecordError;
