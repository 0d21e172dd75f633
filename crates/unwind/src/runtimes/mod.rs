//! The runtimes of languages: how the stack of a thread is read out of each one's memory. One file a runtime, and a line in
//! [`RUNTIMES`].

#[cfg(test)]
mod damage;
mod go;
mod hotspot;
mod perl;
mod php;
mod python;
mod ruby;
mod v8;

use crate::frames::{FrameId, Frames};
use crate::process::{MemoryError, Process};
use crate::registers::{Registers, StackMemory};

/// A runtime that runs in a process.
pub trait LanguageRuntime: Send {
    /// What it is: `CPython 3.11.2`, `OpenJDK 17.0.15`.
    fn version(&self) -> &str;

    /// The language that its frames are of: `python`.
    fn language(&self) -> &'static str;

    /// True where an instruction is of a native function that runs the language's own functions. Of a native stack, what is inside of
    /// the innermost such frame (nearer to the top) is native code that the language called; that frame and all around it give
    /// way to the frames of the language.
    fn evaluates(&self, ip: u64) -> bool {
        let _ = ip;
        false
    }

    /// The stack of a thread, innermost first, for runtimes that keep it in memory of their own; it is read while the thread
    /// waits, or just after it ran. Nothing is pushed for a thread that runs nothing of the language.
    ///
    /// # Errors
    /// Where memory does not hold what it should: what was pushed before stands.
    fn thread(
        &mut self,
        process: &Process,
        tid: u32,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), MemoryError> {
        let _ = (process, tid, frames, stack);
        Ok(())
    }

    /// The stack of a thread is about to be read: `blocked` is its number where it waits, `None` where it ran a moment ago.
    fn begins(&mut self, process: &Process, blocked: Option<u32>) {
        let _ = (process, blocked);
    }

    /// For runtimes whose frames lie on the thread's own stack. Where `registers.ip` is in code of the runtime's making: pushes
    /// the frames of the language that are there (several where functions were inlined, none for code of the runtime itself) and
    /// returns the registers of the caller. `None`: this is not its code.
    ///
    /// # Errors
    /// Where memory does not hold what it should: unwinding ends there.
    fn step(
        &mut self,
        process: &Process,
        registers: &Registers,
        memory: &dyn StackMemory,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<Option<Registers>, MemoryError> {
        let _ = (process, registers, memory, frames, stack);
        Ok(None)
    }
}

/// What looking for a runtime came to.
pub enum Detected {
    /// It is not in the process, or not yet.
    Absent,
    /// It is, and can be read.
    Found(Box<dyn LanguageRuntime>),
    /// It is, and its layout is not known: what it is, and why it cannot be read.
    Unknown(String),
}

/// A kind of runtime.
pub struct RuntimeKind {
    /// `CPython`.
    pub name: &'static str,
    /// Which versions can be read.
    pub versions: &'static str,
    /// Looks for it in a process. May take a while (it reads symbols of large files).
    pub detect: fn(&Process) -> Detected,
}

/// The runtimes that can be read.
pub static RUNTIMES: &[RuntimeKind] =
    &[go::KIND, hotspot::HOTSPOT, perl::KIND, php::KIND, python::KIND, ruby::KIND, v8::KIND];
