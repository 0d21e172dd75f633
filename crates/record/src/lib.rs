//! The recorder: the live kernel to events.

pub mod decode;
pub mod raw;
pub mod spec;
pub mod target;
