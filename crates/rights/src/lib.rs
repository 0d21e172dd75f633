//! What this process gives up: a reader of strangers' files what it needs not ([`confine`]), a recorder what a running
//! recording needs not ([`keep`]).
//!
//! A reader is confined by three means, each as far as the kernel has it: Landlock (no file is written but the outputs, no program
//! runs, nothing connects), seccomp (the calls that no reader makes fail with EPERM) and its capabilities (those that neither read nor
//! write files go). None of it can be taken back, and all threads and children that are started later have it too.

mod calls;
mod capabilities;
mod files;
mod filter;

pub use capabilities::{Capabilities, held, keep};

use std::fmt;
use std::path::Path;

/// How a reader is confined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Confined {
    /// By Landlock: its version of the ABI, or why not.
    pub landlock: Result<i32, String>,
    /// By seccomp, or why not.
    pub seccomp: Result<(), String>,
}

impl Confined {
    /// True where both are in effect.
    pub fn is_whole(&self) -> bool {
        self.landlock.is_ok() && self.seccomp.is_ok()
    }
}

impl fmt::Display for Confined {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.landlock, &self.seccomp) {
            (Ok(abi), Ok(())) => write!(out, "confined by Landlock (ABI {abi}) and seccomp"),
            (Ok(abi), Err(why)) => write!(out, "confined by Landlock (ABI {abi}); not by seccomp: {why}"),
            (Err(why), Ok(())) => write!(out, "confined by seccomp; not by Landlock: {why}"),
            (Err(one), Err(other)) => write!(out, "not confined: no Landlock: {one}; no seccomp: {other}"),
        }
    }
}

/// Confines this process for good: it may read, write to its open files, and write the files `outputs`, by another name beside them
/// first. To be called while it has one thread: Landlock is of the thread that asks for it, and of those that it starts.
pub fn confine(outputs: &[&Path]) -> Confined {
    apply(outputs, seccompiler::apply_filter_all_threads)
}

/// The same, of the calling thread alone: to find out what this machine has.
pub fn confine_thread(outputs: &[&Path]) -> Confined {
    apply(outputs, seccompiler::apply_filter)
}

/// Confines this process and all that it starts: they read below `folders` and what a program is made of (its own files, the time
/// zones), write nothing, connect to nothing, and run nothing but this program. The version of Landlock's ABI, or why it is not in
/// effect. Calls are not filtered: a child that reads what strangers made is to [`confine`] itself.
///
/// # Errors
/// If the kernel has no Landlock.
pub fn confine_below(folders: &[&Path]) -> Result<i32, String> {
    // What was never held, or may not be given up, is none to have either.
    let _ = keep(capabilities::READER);
    files::restrict_reading(folders)
}

/// What a process that answers questions about some files keeps.
#[derive(Clone, Copy, Default, Debug)]
pub struct Grants<'a> {
    /// It reads these, and what is below them.
    pub reads: &'a [&'a Path],
    /// It reads and writes below these folders.
    pub writes: &'a [&'a Path],
    /// It starts these programs, with the libraries of the system.
    pub runs: &'a [&'a Path],
    /// It may listen.
    pub listens: bool,
    /// It may connect to other machines, and reads what finding them takes.
    pub connects: bool,
}

/// Confines the calling thread, and all threads and children that it starts later, to what is granted and what a program is made of. The
/// version of Landlock's ABI, or why it is not in effect. Calls are not filtered: a child that reads what strangers made is to [`confine`] itself.
///
/// # Errors
/// If the kernel has no Landlock.
pub fn confine_to(grants: &Grants<'_>) -> Result<i32, String> {
    // What was never held, or may not be given up, is none to have either.
    let _ = keep(capabilities::READER);
    files::restrict_to(grants)
}

fn apply(
    outputs: &[&Path],
    load: fn(seccompiler::BpfProgramRef<'_>) -> Result<(), seccompiler::Error>,
) -> Confined {
    // What was never held, or may not be given up, is none to have either.
    let _ = keep(capabilities::READER);
    // Landlock first: afterwards its own calls are nobody's.
    let landlock = files::restrict(outputs);
    let seccomp = calls::filter(!outputs.is_empty())
        .and_then(|filter| load(&filter).map_err(|error| error.to_string()));
    Confined { landlock, seccomp }
}
