//! The kinds of triggers, one file each.

pub(crate) mod call;
pub(crate) mod errno;
pub(crate) mod error;
pub(crate) mod exit;
pub(crate) mod made;
pub(crate) mod oom;
pub(crate) mod psi;
pub(crate) mod request;
pub(crate) mod signal;
mod usual;
