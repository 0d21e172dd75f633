//! Real programs under the ptrace recorder.

mod attached;
mod program;
mod started;
