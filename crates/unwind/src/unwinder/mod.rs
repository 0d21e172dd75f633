//! The one entry of a recorder: whole stacks of watched processes, native frames and those of languages in one.

use crate::frames::{FrameId, Frames};
use crate::runtimes::Registers;

/// One entry of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum StackEntry {
    /// An address of native code: of the innermost entry and of what a signal interrupted the next instruction, else the
    /// one behind the call.
    Native(u64),
    /// A frame of a language.
    Language(FrameId),
}

/// The top of a thread's stack as it was copied with a sample.
#[derive(Clone, Copy, Debug)]
pub struct StackCopy<'a> {
    /// The address of the first byte, at or below the thread's `sp`.
    pub start: u64,
    /// What was there.
    pub bytes: &'a [u8],
}

/// What is kept at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnwindLimits {
    /// Processes watched at a time; further ones are not.
    pub processes: usize,
    /// Entries of a stack.
    pub frames: usize,
    /// Bytes of unwind information of all files together.
    pub bytes: usize,
    /// Threads whose files in `/proc` are kept open, two each; those of others are opened at each look.
    pub open_threads: usize,
}

impl Default for UnwindLimits {
    fn default() -> UnwindLimits {
        UnwindLimits { processes: 256, frames: 256, bytes: 64 << 20, open_threads: 200 }
    }
}

/// What became of reading a stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// From the innermost frame to the thread's first.
    Whole,
    /// What is given is right; the frames around it are missing.
    Cut(Cut),
    /// The thread did not run since its stack was last read whole or cut: it has the same. Nothing is given.
    Same,
    /// The thread ran meanwhile, or runs now. Nothing is given.
    Moved,
    /// The process is not watched, or its modules are not loaded yet. Nothing is given.
    NotReady,
    /// The thread has ended, or we may not read it. Nothing is given.
    Unreadable,
}

/// Why frames are missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// The stack has more frames than are kept.
    Frames,
    /// The copy of the stack ends there.
    Copy,
    /// Nothing tells how to go on from there: code without unwind information or frame pointers.
    Unknown,
    /// Memory there is not what it should be.
    Damaged,
}

/// What there is to say about a runtime of a process, once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The process.
    pub pid: u32,
    /// `CPython 3.11.2`; where it cannot be read, its name alone.
    pub runtime: String,
    /// Why it cannot be read; `None`: it is read.
    pub unreadable: Option<String>,
}

/// Reads stacks of watched processes. Used from one thread; what is slow is done by another.
pub struct Unwinder {
    frames: Frames,
    notes: Vec<Note>,
}

impl Unwinder {
    /// Watches nothing yet.
    pub fn new(limits: UnwindLimits) -> Unwinder {
        let _ = limits;
        Unwinder { frames: Frames::default(), notes: Vec::new() }
    }

    /// Watches a process from now on; where it was, it runs another program, and what was known of it is dropped.
    pub fn began(&mut self, pid: u32) {
        let _ = pid;
    }

    /// Forgets a process.
    pub fn ended(&mut self, pid: u32) {
        let _ = pid;
    }

    /// Takes in what the other thread found meanwhile, and asks it for what is due. Cheap: for every few milliseconds.
    pub fn look(&mut self) {}

    /// True where stacks of a process can be read.
    pub fn ready(&self, pid: u32) -> bool {
        let _ = pid;
        false
    }

    /// True where a sample of a process needs registers and a copy of the top of the stack.
    pub fn wants_copy(&self, pid: u32) -> bool {
        self.ready(pid)
    }

    /// The stack of a thread that was on a CPU a moment ago, innermost first, pushed onto `stack`.
    pub fn sampled(
        &mut self,
        pid: u32,
        tid: u32,
        registers: Registers,
        copy: StackCopy<'_>,
        stack: &mut Vec<StackEntry>,
    ) -> Outcome {
        let _ = (pid, tid, registers, copy, stack);
        Outcome::NotReady
    }

    /// The stack of a thread that is blocked now, innermost first, pushed onto `stack`. Nothing is pushed where it ran meanwhile.
    pub fn blocked(&mut self, pid: u32, tid: u32, stack: &mut Vec<StackEntry>) -> Outcome {
        let _ = (pid, tid, stack);
        Outcome::NotReady
    }

    /// The frames of languages that stacks name.
    pub fn frames(&self) -> &Frames {
        &self.frames
    }

    /// What was found of runtimes since the last call: each is told once.
    pub fn notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }
}
