//! The frames of a thread in CPython: their code objects and instructions, before names are read.

use super::layout::{Current, Instruction, Layout, SPAN};
use super::memory::{Memory, half, word};
use super::threads::{self, Running};
use crate::process::MemoryError;
use crate::runtimes::{Callers, FrameList, ListedFrames};

/// Frames read of a stack, the innermost ones.
pub(super) const MOST: usize = 256;
/// From 3.11 on the frames of callers are before a frame: what is before it in its page is read too.
const PAGE: u64 = 4096;
/// Times that the frames are read at most.
const PASSES: usize = 6;

/// A frame of a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    frame: u64,
    /// Its code object.
    pub code: u64,
    /// Its instruction, as its field has it.
    pub instruction: i64,
}

impl Link {
    /// Where its frame is.
    pub(super) fn frame(&self) -> u64 {
        self.frame
    }

    /// Of one frame.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub(super) fn read(memory: &dyn Memory, layout: &Layout, frame: u64) -> Result<Link, MemoryError> {
        let head = Head::read(memory, layout, frame)?;
        Ok(Link { frame, code: head.code, instruction: head.instruction })
    }
}

/// Reads the frames of a thread into `links`, innermost first. A thread that runs changes them meanwhile: they are read again
/// until the innermost one did not change while they were read, or callers are the same as the time before. Of a thread that calls
/// and returns all the time it is the longest of what was read, each within some microseconds.
///
/// # Errors
/// Where a frame cannot be read; those inside of it are in `links`.
pub(super) fn walk(
    memory: &dyn Memory,
    layout: &Layout,
    running: Running,
    links: &mut Vec<Link>,
) -> Result<(), MemoryError> {
    links.clear();
    let (mut before, mut longest) = (Vec::new(), Vec::new());
    let mut first = running.frame;
    let mut result = Ok(());
    for pass in 0..PASSES {
        let mut head = None;
        result = once(memory, layout, first, links, &mut head);
        let next = threads::current_frame(memory, layout, running.state)?;
        if result.is_ok() && next == first && head == Some(Head::read(memory, layout, first)?) {
            return result;
        }
        // A frame that was left meanwhile has no caller any more: the outermost one counts too.
        let same = |(old, new): (&Link, &Link)| old.frame == new.frame && old.code == new.code;
        let mut callers = before.iter().zip(links.iter()).skip(usize::from(links.len() > 1));
        if pass > 0 && before.len() == links.len() && callers.all(same) {
            return result;
        }
        if before.len() > longest.len() {
            std::mem::swap(&mut longest, &mut before);
        }
        if pass + 1 < PASSES {
            std::mem::swap(&mut before, links);
            links.clear();
            first = next;
        }
    }
    if longest.len() > links.len() {
        std::mem::swap(&mut longest, links);
    }
    result
}

/// Where the frames of a thread are, by its state.
pub(super) fn list(layout: &Layout, state: u64) -> Option<FrameList> {
    let (at, through) = match layout.current {
        Current::Direct(at) => (at, None),
        Current::Cframe { cframe, frame } => (cframe, Some(frame as u32)),
    };
    let words = FrameList::words(&[layout.executable, layout.instruction]);
    let (callers, bytes) = (Callers::Pointer(layout.previous as u32), Head::size(layout) as u32);
    let head = state.wrapping_add(at as u64);
    FrameList { head, through, callers, index: None, bytes, beside: None, words }.checked()
}

/// The frames of a copy of such a list.
pub(super) fn listed(layout: &Layout, listed: ListedFrames<'_>, links: &mut Vec<Link>) {
    links.clear();
    for frame in listed.each().map(|bytes| Head::of(layout, bytes)).filter(|frame| frame.of_function) {
        links.push(Link { frame: 0, code: frame.code, instruction: frame.instruction });
    }
}

/// Reads the frames once; what the first one is goes to `head`.
fn once(
    memory: &dyn Memory,
    layout: &Layout,
    first: u64,
    links: &mut Vec<Link>,
    head: &mut Option<Head>,
) -> Result<(), MemoryError> {
    let mut window = Window { start: 0, bytes: Vec::new() };
    let nearby = layout.instruction_kind == Instruction::Pointer;
    let size = Head::size(layout);
    let mut at = first;
    // Frames of no function lie between others: at most one for each.
    for _ in 0..2 * MOST {
        if at == 0 || links.len() == MOST {
            break;
        }
        if !at.is_multiple_of(8) {
            return Err(MemoryError::Unlikely("a frame of Python"));
        }
        let frame = Head::of(layout, window.get(memory, at, size, nearby)?);
        if frame.of_function {
            links.push(Link { frame: at, code: frame.code, instruction: frame.instruction });
        }
        at = frame.previous;
        head.get_or_insert(frame);
    }
    Ok(())
}

/// What is read of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Head {
    previous: u64,
    code: u64,
    instruction: i64,
    of_function: bool,
}

impl Head {
    /// Bytes of a frame that hold it.
    fn size(layout: &Layout) -> usize {
        let fields = [layout.previous, layout.executable, layout.instruction];
        (fields.into_iter().chain(layout.owner).max().unwrap_or(0) + 8).min(SPAN)
    }

    fn of(layout: &Layout, bytes: &[u8]) -> Head {
        let instruction = match layout.instruction_kind {
            Instruction::Index(step) => {
                i64::from(half(bytes, layout.instruction) as i32).saturating_mul(step)
            }
            Instruction::Pointer => word(bytes, layout.instruction) as i64,
        };
        Head {
            previous: word(bytes, layout.previous),
            // The lowest bits of `f_executable` are a tag in 3.14 (Include/internal/pycore_stackref.h).
            code: word(bytes, layout.executable) & !7,
            instruction,
            of_function: layout.owner.is_none_or(|owner| bytes[owner] < 3),
        }
    }

    fn read(memory: &dyn Memory, layout: &Layout, at: u64) -> Result<Head, MemoryError> {
        let mut bytes = [0; SPAN];
        let bytes = &mut bytes[..Head::size(layout)];
        memory.read(at, bytes)?;
        Ok(Head::of(layout, bytes))
    }
}

/// Memory around the frame read last.
struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// The first bytes of a frame; where they were not read yet, what is before it is read with it where callers are `nearby`.
    fn get(&mut self, memory: &dyn Memory, at: u64, size: usize, nearby: bool) -> Result<&[u8], MemoryError> {
        let from = at.wrapping_sub(self.start);
        if from > self.bytes.len() as u64 || self.bytes.len() - (from as usize) < size {
            self.start = if nearby { at & !(PAGE - 1) } else { at };
            self.bytes.resize((at - self.start) as usize + size, 0);
            memory.read(self.start, &mut self.bytes).inspect_err(|_| self.bytes.clear())?;
        }
        let from = (at - self.start) as usize;
        Ok(&self.bytes[from..from + size])
    }
}
