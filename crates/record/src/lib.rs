//! The recorder: the live kernel to events.

pub mod raw;
pub mod spec;
