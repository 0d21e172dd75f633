//! The tests of the host's sampler: made-up trees of files, and the running system.

mod beside;
mod common;
mod live;
mod made_up;
