//! The tests of the outputs: how reports look, and what holds for every input.

mod common;
mod demands;
mod diffs;
mod filled;
mod properties;
mod snapshots;
mod tables;
