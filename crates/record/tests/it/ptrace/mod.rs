//! Real programs under the ptrace recorder.

mod as_text;
mod attached;
mod program;
mod started;
