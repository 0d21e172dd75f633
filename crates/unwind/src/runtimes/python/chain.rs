//! The frames of a thread in CPython: their code objects and instructions, before names are read.

use super::layout::{Instruction, Layout, SPAN};
use super::memory::{Memory, half, word};
use crate::process::ReadError;

/// Frames read of a stack, the innermost ones.
pub(super) const MOST: usize = 256;
/// Bytes read at once before a frame: 3.11 and later put the frames of callers there.
const WINDOW: u64 = 3 << 10;
/// Times that the frames are read until those of callers are the same as before.
const TRIES: usize = 3;

/// A frame of a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    frame: u64,
    /// Its code object.
    pub code: u64,
    /// Its instruction, as its field has it.
    pub instruction: i64,
}

/// Reads frames into `links`, innermost first, from what `current` gives on (0 for no frame). A thread that runs changes them
/// meanwhile: they are read again until callers stay the same. A thread that calls and returns all the time gets what was read
/// last, which took some microseconds.
///
/// # Errors
/// Where a frame cannot be read; those inside of it are in `links`.
pub(super) fn walk(
    memory: &dyn Memory,
    layout: &Layout,
    current: &mut dyn FnMut() -> Result<u64, ReadError>,
    links: &mut Vec<Link>,
) -> Result<(), ReadError> {
    links.clear();
    let mut result = once(memory, layout, current()?, links);
    if links.len() < 2 {
        return result;
    }
    let mut before = Vec::with_capacity(links.len());
    for _ in 1..TRIES {
        std::mem::swap(&mut before, links);
        links.clear();
        result = once(memory, layout, current()?, links);
        let same = |(old, new): (&Link, &Link)| old.frame == new.frame && old.code == new.code;
        if before.len() == links.len() && before.iter().zip(links.iter()).skip(1).all(same) {
            break;
        }
    }
    result
}

fn once(memory: &dyn Memory, layout: &Layout, first: u64, links: &mut Vec<Link>) -> Result<(), ReadError> {
    let fields = [layout.previous, layout.executable, layout.instruction];
    let size = (fields.into_iter().chain(layout.owner).max().unwrap_or(0) + 8).min(SPAN);
    let mut window = Window { start: 0, bytes: Vec::new() };
    let mut at = first;
    // Frames of no function lie between others: at most one for each.
    for _ in 0..2 * MOST {
        if at == 0 || links.len() == MOST {
            break;
        }
        if !at.is_multiple_of(8) {
            return Err(ReadError::Unlikely("a frame of Python"));
        }
        let reach = if layout.instruction_kind == Instruction::Pointer { WINDOW } else { 0 };
        let bytes = window.get(memory, at, size, reach)?;
        if layout.owner.is_none_or(|owner| bytes[owner] < 3) {
            let instruction = match layout.instruction_kind {
                Instruction::Index(step) => {
                    i64::from(half(bytes, layout.instruction) as i32).saturating_mul(step)
                }
                Instruction::Pointer => word(bytes, layout.instruction) as i64,
            };
            // The lowest bits of `f_executable` are a tag in 3.14 (Include/internal/pycore_stackref.h).
            links.push(Link { frame: at, code: word(bytes, layout.executable) & !7, instruction });
        }
        at = word(bytes, layout.previous);
    }
    Ok(())
}

/// Memory around the frame read last.
struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// The first bytes of a frame; where they were not read yet, as much as `reach` bytes before it are read too.
    fn get(&mut self, memory: &dyn Memory, at: u64, size: usize, reach: u64) -> Result<&[u8], ReadError> {
        let from = at.wrapping_sub(self.start);
        if from > self.bytes.len() as u64 || self.bytes.len() - (from as usize) < size {
            self.start = at.saturating_sub(reach);
            self.bytes.resize((at - self.start) as usize + size, 0);
            if memory.read(self.start, &mut self.bytes).is_err() {
                self.start = at;
                self.bytes.resize(size, 0);
                memory.read(at, &mut self.bytes).inspect_err(|_| self.bytes.clear())?;
            }
        }
        let from = (at - self.start) as usize;
        Ok(&self.bytes[from..from + size])
    }
}
