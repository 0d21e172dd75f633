//! The tests of the recorder by ptrace: programs of our own below it, and strace beside it.

#[path = "../common/mod.rs"]
mod common;
#[cfg(target_arch = "x86_64")]
mod like_strace;
mod ptrace;
