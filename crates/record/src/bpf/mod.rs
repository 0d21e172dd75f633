//! Loading BPF programs and draining what they write. Everything that knows libbpf stands here and in `programs`,
//! which says what there is to load; nothing here knows which programs these are.

pub(crate) mod drain;
mod in_flight;
pub(crate) mod kernel_side;
pub(crate) mod layout;
pub(crate) mod object;
pub(crate) mod probe;
pub(crate) mod program;
pub(crate) mod rare;
pub(crate) mod reduce;
pub(crate) mod ring;
pub(crate) mod row_tables;
pub(crate) mod spool;
mod streams;
pub(crate) mod timer;
pub(crate) mod unwinding;
