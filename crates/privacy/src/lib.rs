//! What is kept to the user: the modes of the files that are written ([`files`]), and which words are secrets, in arguments of
//! programs ([`command_line`]) and in any other text ([`redact`]). The one place for both: recorder, store and reports ask here.

pub mod command_line;
pub mod files;
mod keys;
mod patterns;
mod text;

pub use text::{prepare, redact};

/// What stands for a secret.
pub const REDACTED: &str = "[redacted]";
