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

/// How the frame of a caller is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callers {
    /// A frame has a pointer to it, so many bytes behind its beginning. A list ends with 0.
    Pointer(u32),
    /// Frames lie in an array: so many bytes from one to its caller's.
    Step(i32),
}

/// Where a runtime keeps the frames of a thread as a list or an array: for who copies it in the thread's own context, before the thread
/// goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameList {
    /// Where the pointer to the innermost frame is, or with `through` one to what has it.
    pub head: u64,
    /// How far within that the pointer is, bytes.
    pub through: Option<u32>,
    /// How the caller's frame is found.
    pub callers: Callers,
    /// With `through`, of an array: how far within that is the index of the innermost frame, 4 bytes, -1 where there is none; the
    /// pointer is then to the array.
    pub index: Option<u32>,
    /// Bytes of a frame that are needed, at most [`FrameList::BYTES`].
    pub bytes: u32,
    /// How far from `head` a word is that is to be copied as well, bytes.
    pub beside: Option<i32>,
    /// Of a frame: a bit for each word of 8 bytes that tells its function or its instruction.
    pub words: u32,
}

impl FrameList {
    /// Bytes of a frame, at most.
    pub const BYTES: usize = 120;
    /// Frames of a list that are copied.
    pub const MOST: usize = 32;

    /// The bits of the words that have such bytes of a frame.
    fn words(at: &[usize]) -> u32 {
        at.iter().fold(0, |bits, at| bits | 1_u32.checked_shl((at / 8) as u32).unwrap_or(0))
    }

    /// `None` where frames are too long to be copied.
    fn checked(self) -> Option<FrameList> {
        (self.bytes as usize <= FrameList::BYTES).then_some(self)
    }
}

/// A copy of a [`FrameList`].
#[derive(Clone, Copy, Debug)]
pub struct ListedFrames<'a> {
    /// [`FrameList::head`] of the list.
    pub head: u64,
    /// What has the pointer to the innermost frame, with [`FrameList::through`].
    pub holder: u64,
    /// Where the innermost frame was.
    pub first: u64,
    /// The word at [`FrameList::beside`].
    pub beside: u64,
    /// The frames, innermost first, each [`FrameList::BYTES`] long.
    pub frames: &'a [u8],
    /// It was copied to its end; of an array without an index that is not known.
    pub whole: bool,
}

impl ListedFrames<'_> {
    /// The bytes of each frame.
    fn each(&self) -> impl Iterator<Item = &[u8; FrameList::BYTES]> {
        self.frames.as_chunks::<{ FrameList::BYTES }>().0.iter().take(FrameList::MOST)
    }

    /// # Errors
    /// Where outer frames were not copied.
    fn ended(&self) -> Result<(), MemoryError> {
        self.whole.then_some(()).ok_or(MemoryError::Unlikely("the end of a list"))
    }
}

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

    /// Where the frames of a thread are, of a runtime that keeps them as a list; `None` where it does not, or the thread has none.
    fn frame_list(&mut self, process: &Process, tid: u32) -> Option<FrameList> {
        let _ = (process, tid);
        None
    }

    /// The same as [`LanguageRuntime::thread`] out of a copy of the thread's list as [`LanguageRuntime::frame_list`] tells it now:
    /// only what does not change while the program runs is read out of memory.
    ///
    /// # Errors
    /// Where there is not what it should be, or not all frames were copied: what was pushed before stands.
    fn listed(
        &mut self,
        process: &Process,
        listed: ListedFrames<'_>,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), MemoryError> {
        let _ = (process, listed, frames, stack);
        Ok(())
    }

    /// Gives the stacks of the language's own threads (goroutines) that wait and are on no thread of the system, each with its number,
    /// innermost first. Of all that there are it looks at so many from a place on, and returns how many there are; 0 for runtimes that have
    /// none, or where the list of them is not found.
    ///
    /// # Errors
    /// Where the list of them cannot be read.
    fn parked(
        &mut self,
        process: &Process,
        part: (u64, usize),
        frames: &mut Frames,
        take: &mut dyn FnMut(u64, &[FrameId]),
    ) -> Result<u64, MemoryError> {
        let _ = (process, part, frames, take);
        Ok(0)
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
