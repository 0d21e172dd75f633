//! The capture formats, one file each.

mod access_log;
#[cfg(test)]
mod collect;
mod fd_text;
pub(crate) mod host;
mod lsof;
mod ltrace;
mod ltrace_count;
mod percentiles;
mod proc_fd;
mod proc_net;
mod profile;
#[cfg(test)]
mod snapshot_tests;
pub(crate) mod strace;
mod strace_count;
mod sysdig;

use crate::source::Source;
use std::io;
use whyslow_model::{CaptureKind, Sink};

/// One format: how to recognise it and how to read it.
pub struct Format {
    /// What it holds.
    pub kind: CaptureKind,
    /// The name in messages: `strace`, `lsof -F`.
    pub name: &'static str,
    /// The command that makes such a capture.
    pub made_by: &'static str,
    /// True where the first bytes (up to 64 KiB, cut anywhere) are of this format.
    pub sniff: fn(&SniffInput<'_>) -> bool,
    /// Reads one source to its end. Damaged lines are rejected through the source; an error is one of I/O.
    pub read: fn(&mut Source, &mut dyn Sink) -> io::Result<()>,
}

/// What a format may look at to recognise its own.
pub struct SniffInput<'a> {
    /// The file's name, without its folder and without `.gz` or `.zst`.
    pub file_name: &'a str,
    /// The same with its folder.
    pub path: &'a str,
    /// The first bytes.
    pub head: &'a [u8],
}

impl<'a> SniffInput<'a> {
    /// The whole lines of the head (the last one too, where it is the only one), up to `most`.
    pub fn lines(&self, most: usize) -> impl Iterator<Item = &'a [u8]> {
        self.head.split(|byte| *byte == b'\n').take(most).map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// All formats, the most specific first: the first that recognises a file reads it.
pub static FORMATS: &[&Format] = &[
    &lsof::LSOF,
    &lsof::LSOF_FIELDS,
    &proc_fd::PROC_FD,
    &proc_net::PROC_NET,
    &sysdig::SYSDIG,
    &strace::STRACE,
    &ltrace::LTRACE,
    &strace_count::STRACE_COUNT,
    &ltrace_count::LTRACE_COUNT,
    &access_log::ACCESS_LOG,
    &percentiles::PERCENTILES,
    &host::HOST,
    // Folded stacks are any lines that end in a number: last.
    &profile::PROFILE,
];
