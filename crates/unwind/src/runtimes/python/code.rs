//! Code objects of CPython: the names, the file and the lines of functions, each read once while it stays the same.

use super::layout::{Instruction, Instructions, Layout, OB_SIZE, OB_TYPE, SPAN};
use super::memory::{Memory, half, word};
use super::objects::{Types, bytes, bytes_size, text};
use super::{chain::Link, lines};
use crate::frames::{FrameId, Frames};
use crate::process::MemoryError;
use std::collections::HashMap;

/// Code objects kept.
const OBJECTS: usize = 1 << 14;
/// Bytes of all tables of lines kept.
const TABLES: usize = 16 << 20;
/// Bytes of one table of lines, and of the instructions of one function.
const LARGEST: u64 = 1 << 22;
/// Instructions of a function whose frames are kept.
const PLACES: usize = 1 << 12;

/// What tells that a code object is the one that was there before: its fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Identity {
    /// `co_code`, or how many instructions there are.
    instructions: u64,
    filename: u64,
    name: u64,
    line_table: u64,
    first_line: u32,
}

#[derive(Debug)]
struct Code {
    identity: Identity,
    function: Box<str>,
    file: Box<str>,
    /// Bytes of its instructions.
    size: u64,
    line_table: Box<[u8]>,
    places: HashMap<u32, (FrameId, u32)>,
}

/// The code objects seen.
#[derive(Debug, Default)]
pub(super) struct Codes {
    known: HashMap<u64, Code>,
    tables: usize,
}

impl Codes {
    /// The frame of a function at an instruction; `None` where no more frames are kept.
    ///
    /// # Errors
    /// Where there is no code object, or the instruction is not in it.
    pub(super) fn frame(
        &mut self,
        memory: &dyn Memory,
        layout: &Layout,
        types: &Types,
        link: &Link,
        frames: &mut Frames,
    ) -> Result<Option<FrameId>, MemoryError> {
        let identity = identity(memory, layout, types, link.code)?;
        let kept = match self.known.get(&link.code) {
            Some(code) if code.identity == identity => is_same_table(memory, types, code)?,
            _ => false,
        };
        if !kept {
            let code = read(memory, layout, types, identity)?;
            self.keep(link.code, code);
        }
        let Some(code) = self.known.get_mut(&link.code) else { return Ok(None) };
        let offset = offset(layout, link, code.size)?;
        let key = offset.unwrap_or(u32::MAX);
        if let Some((id, line)) = code.places.get(&key)
            && let Some(frame) = frames.get(*id)
            && (&*frame.function, &*frame.file, frame.line) == (&*code.function, &*code.file, *line)
        {
            return Ok(Some(*id));
        }
        let first_line = identity.first_line;
        let line = offset
            .map_or(first_line, |offset| lines::line(layout.lines, first_line, &code.line_table, offset));
        let id = frames.id(&code.function, &code.file, line);
        if let Some(id) = id {
            if code.places.len() >= PLACES {
                code.places.clear();
            }
            code.places.insert(key, (id, line));
        }
        Ok(id)
    }

    fn keep(&mut self, address: u64, code: Code) {
        if self.known.len() >= OBJECTS || self.tables > TABLES {
            self.known.clear();
            self.tables = 0;
        }
        self.tables += code.line_table.len();
        if let Some(before) = self.known.insert(address, code) {
            self.tables -= before.line_table.len();
        }
    }
}

fn identity(
    memory: &dyn Memory,
    layout: &Layout,
    types: &Types,
    address: u64,
) -> Result<Identity, MemoryError> {
    let instructions = match layout.instructions {
        Instructions::Bytes(at) => at,
        Instructions::Inside(_) => OB_SIZE,
    };
    let fields = [instructions, layout.filename, layout.name, layout.line_table, layout.first_line];
    let size = (fields.into_iter().max().unwrap_or(0) + 8).min(SPAN);
    let mut head = [0; SPAN];
    let head = &mut head[..size];
    memory.read(address, head)?;
    if word(head, OB_TYPE) != types.code {
        return Err(MemoryError::Unlikely("a code object"));
    }
    Ok(Identity {
        instructions: word(head, instructions),
        filename: word(head, layout.filename),
        name: word(head, layout.name),
        line_table: word(head, layout.line_table),
        first_line: half(head, layout.first_line),
    })
}

fn read(
    memory: &dyn Memory,
    layout: &Layout,
    types: &Types,
    identity: Identity,
) -> Result<Code, MemoryError> {
    let size = match layout.instructions {
        Instructions::Bytes(_) => bytes_size(memory, types, identity.instructions, LARGEST)?,
        Instructions::Inside(_) => identity.instructions.saturating_mul(2),
    };
    if size > LARGEST || identity.first_line > i32::MAX as u32 {
        return Err(MemoryError::Unlikely("a code object"));
    }
    let short = |mut text: String| {
        text.truncate(text.floor_char_boundary(Frames::TEXT));
        text.into_boxed_str()
    };
    Ok(Code {
        identity,
        function: short(text(memory, layout, types, identity.name)?),
        file: short(text(memory, layout, types, identity.filename)?),
        size,
        line_table: bytes(memory, types, identity.line_table, LARGEST)?,
        places: HashMap::new(),
    })
}

/// Functions of files are made once. Of functions made while the program runs (`<string>`, `<template>`) another one may be
/// made where one was freed, of the same name: its table of lines is compared.
fn is_same_table(memory: &dyn Memory, types: &Types, code: &Code) -> Result<bool, MemoryError> {
    if !code.file.starts_with('<') {
        return Ok(true);
    }
    Ok(bytes(memory, types, code.identity.line_table, LARGEST)? == code.line_table)
}

/// The offset of a frame's instruction in bytes; `None` where its function has not begun.
fn offset(layout: &Layout, link: &Link, size: u64) -> Result<Option<u32>, MemoryError> {
    let offset = match (layout.instruction_kind, layout.instructions) {
        (Instruction::Pointer, Instructions::Inside(at)) => {
            link.instruction.wrapping_sub(link.code.wrapping_add(at as u64) as i64)
        }
        _ => link.instruction,
    };
    match u32::try_from(offset) {
        Ok(at) if u64::from(at) < size && at % 2 == 0 => Ok(Some(at)),
        // One instruction before the first: -1 of `Instruction::Index`.
        Err(_) if offset == -1 || offset == -2 => Ok(None),
        _ => Err(MemoryError::Unlikely("an instruction of Python")),
    }
}
