//! Stacks of live processes, read from outside: native frames by `.eh_frame`, and the frames of languages out of their
//! runtimes' memory. No agent, no signal, nothing is stopped: memory is read while the thread is blocked, or a moment after it
//! was sampled. What is read is a stranger's: each read is bounded and checked, and what does not fit is no frame.
//!
//! [`Process`] is the memory, the mappings and the files of a process; [`runtimes`] reads the stacks of each language.

pub mod damage;
pub mod frames;
pub mod image;
pub mod inside;
pub mod native;
pub mod process;
pub mod registers;
pub mod runtimes;
pub mod unwinder;

pub use frames::{FrameId, Frames, LanguageFrame};
pub use image::Image;
pub use process::{MemoryError, MemoryMapping, Process};
pub use registers::{LeafRegisters, Registers, StackMemory};
pub use unwinder::{Cut, Note, StackCopy, StackEntry, StackOutcome, UnwindLimits, Unwinder};
