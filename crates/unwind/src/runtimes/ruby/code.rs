//! Names and lines of Ruby's code: `rb_iseq_t`, its location, and its table of lines.

use super::layout::Layout;
use crate::process::{MemoryError, Process};
use std::collections::HashMap;

/// `rb_iseq_struct`: flags, and `body` (vm_core.h, the same from 2.7 to 3.4).
const ISEQ_BODY: usize = 16;
/// `T_IMEMO` (internal/value_type.h) with `imemo_iseq` above the 12 common bits (internal/imemo.h).
const ISEQ_MASK: u64 = 0xf01f;
const ISEQ_FLAGS: u64 = 0x701a;
/// `rb_iseq_constant_body`: iseq_size, iseq_encoded, location.pathobj, location.label (vm_core.h, the same from 2.7 to 3.4).
const SIZE: usize = 4;
const ENCODED: usize = 8;
const PATH: usize = 64;
const LABEL: usize = 80;
/// In `insns_info`: body, size, succ_index_table (vm_core.h).
const LINES: (usize, usize, usize) = (0, 16, 24);
/// What is read of a body.
const BODY: usize = 152;

/// Types of objects (internal/value_type.h), and the flag of those with memory of their own (`RSTRING_NOEMBED`); of arrays it says
/// that they have none (`RARRAY_EMBED_FLAG`).
const TYPE: u64 = 0x1f;
const STRING: u64 = 5;
const ARRAY: u64 = 7;
const FLAG: u64 = 1 << 13;
/// Where the flags have the length of a short string (`RSTRING_EMBED_LEN_SHIFT` of include/ruby/internal/core/rstring.h of 3.1).
const LENGTH_SHIFT: u32 = 14;

/// Entries of a table of lines at most.
const ENTRIES: u32 = 1 << 20;
/// Lines kept of one function.
const KEPT: usize = 1 << 10;

/// The parts of a function that tell whether it is the one that was read before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Parts {
    body: u64,
    encoded: u64,
    size: u32,
    path: u64,
    label: u64,
    lines: u64,
    count: u32,
    table: u64,
}

/// A function as it was read.
pub(super) struct Code {
    parts: Parts,
    pub function: Box<str>,
    pub file: Box<str>,
    lines: HashMap<u32, u32>,
}

impl Code {
    /// Reads the function whose `rb_iseq_t` is at an address, or finds it unchanged among those known, and tells the line of `pc`.
    /// `seen` are those that were read for the same stack.
    pub(super) fn at<'a>(
        known: &'a mut HashMap<u64, Code>,
        process: &Process,
        layout: &Layout,
        seen: &mut Vec<u64>,
        (iseq, pc): (u64, u64),
    ) -> Result<(&'a Code, u32), MemoryError> {
        // Unchanged where it was, and running in its own instructions, it is the same; else it is read from the beginning.
        let unchanged = known.get(&iseq).map(|code| code.parts).filter(|parts| {
            parts.has(pc) && (seen.contains(&iseq) || Parts::body(process, layout, parts.body) == Ok(*parts))
        });
        let parts = match unchanged {
            Some(parts) => parts,
            None => Parts::read(process, layout, iseq)?,
        };
        seen.push(iseq);
        let behind = pc.wrapping_sub(parts.encoded);
        if !parts.has(pc) {
            return Err(MemoryError::Unlikely("the instruction of a frame"));
        }
        // The instruction behind the one that runs, but at the very beginning (`calc_lineno` of vm_backtrace.c).
        let position = ((behind / 8) as u32).saturating_sub(1);
        if known.get(&iseq).is_none_or(|code| code.parts != parts) {
            let function = string(process, layout, parts.label)?.into();
            let file = path(process, layout, parts.path)?.into();
            known.insert(iseq, Code { parts, function, file, lines: HashMap::new() });
        }
        let code = known.get_mut(&iseq).ok_or(MemoryError::Unlikely("a function"))?;
        let line = match code.lines.get(&position) {
            Some(line) => *line,
            None => {
                let line = parts.line(process, layout, position)?;
                if code.lines.len() < KEPT {
                    code.lines.insert(position, line);
                }
                line
            }
        };
        Ok((code, line))
    }
}

impl Parts {
    fn read(process: &Process, layout: &Layout, iseq: u64) -> Result<Parts, MemoryError> {
        let head: [u8; 24] = process.array(aligned(iseq)?)?;
        if word(&head, 0) & ISEQ_MASK != ISEQ_FLAGS {
            return Err(MemoryError::Unlikely("a function"));
        }
        Parts::body(process, layout, aligned(word(&head, ISEQ_BODY))?)
    }

    /// True where an address is one of its instructions, or just behind.
    fn has(&self, pc: u64) -> bool {
        let behind = pc.wrapping_sub(self.encoded);
        behind <= u64::from(self.size) * 8 && behind.is_multiple_of(8)
    }

    fn body(process: &Process, layout: &Layout, body: u64) -> Result<Parts, MemoryError> {
        let bytes: [u8; BODY] = process.array(body)?;
        let lines = layout.lines;
        Ok(Parts {
            body,
            encoded: word(&bytes, ENCODED),
            size: word(&bytes, SIZE) as u32,
            path: word(&bytes, PATH),
            label: word(&bytes, LABEL),
            lines: word(&bytes, lines + LINES.0),
            count: word(&bytes, lines + LINES.1) as u32,
            table: word(&bytes, lines + LINES.2),
        })
    }

    /// The line of the instruction at a position (`get_insn_info_succinct` of iseq.c).
    fn line(&self, process: &Process, layout: &Layout, position: u32) -> Result<u32, MemoryError> {
        let entry = match self.count {
            0 => return Ok(0),
            1 => 0,
            2..ENTRIES => rank(process, aligned(self.table)?, position)?.wrapping_sub(1),
            _ => return Err(MemoryError::Unlikely("a table of lines")),
        };
        if entry >= self.count {
            return Err(MemoryError::Unlikely("a table of lines"));
        }
        process.u32(self.lines.wrapping_add(u64::from(entry) * layout.line_size))
    }
}

/// How many entries begin at a position or before (`succ_index_lookup` of iseq.c): for the first 54 positions each word has
/// nine counts of 7 bits; behind, a block of 80 bytes stands for 512 positions: the count before it, seven counts of 9 bits
/// before its later words, and its eight words with a bit for each position where an entry begins.
fn rank(process: &Process, table: u64, position: u32) -> Result<u32, MemoryError> {
    let Some(behind) = position.checked_sub(54) else {
        let counts = process.u64(table.wrapping_add(u64::from(position / 9) * 8))?;
        return Ok((counts >> (position % 9 * 7)) as u32 & 0x7f);
    };
    let block: [u8; 80] = process.array(table.wrapping_add(48 + u64::from(behind / 512) * 80))?;
    let (at, bit) = ((behind % 512 / 64) as usize, behind % 64);
    let before = match at {
        0 => 0,
        at => (word(&block, 8) >> ((at - 1) * 9)) as u32 & 0x1ff,
    };
    let within = (word(&block, 16 + at * 8) << (63 - bit)).count_ones();
    Ok((word(&block, 0) as u32).wrapping_add(before).wrapping_add(within))
}

/// The file of a function: a name, or an array of the name as it was given and the real path (`pathobj` of vm_core.h).
fn path(process: &Process, layout: &Layout, object: u64) -> Result<String, MemoryError> {
    let head: [u8; 40] = process.array(aligned(object)?)?;
    let flags = word(&head, 0);
    if flags & TYPE != ARRAY {
        return string(process, layout, object);
    }
    let (given, real) = match flags & FLAG {
        0 => {
            let own: [u8; 16] = process.array(aligned(word(&head, 32))?)?;
            (word(&own, 0), word(&own, 8))
        }
        _ => (word(&head, 16), word(&head, 24)),
    };
    // Of code without a file the second is `nil`, which is no address.
    string(process, layout, real).or_else(|_| string(process, layout, given))
}

/// A Ruby `String` (include/ruby/internal/core/rstring.h).
fn string(process: &Process, layout: &Layout, object: u64) -> Result<String, MemoryError> {
    let head: [u8; 32] = process.array(aligned(object)?)?;
    let flags = word(&head, 0);
    if flags & TYPE != STRING {
        return Err(MemoryError::Unlikely("a name"));
    }
    let (length, text) = match (flags & FLAG != 0, layout.length_in_front) {
        (true, _) => (word(&head, 16), word(&head, 24)),
        (false, true) => (word(&head, 16), object + 24),
        (false, false) => (flags >> LENGTH_SHIFT & 0x1f, object + 16),
    };
    match process.text(text, length, 1 << 12)? {
        text if text.is_empty() => Err(MemoryError::Unlikely("a name")),
        text => Ok(text),
    }
}

pub(super) fn word(bytes: &[u8], at: usize) -> u64 {
    let part = bytes.get(at..at + 8).and_then(|part| part.try_into().ok());
    part.map_or(0, u64::from_ne_bytes)
}

/// The address, where an object of Ruby can be there.
pub(super) fn aligned(address: u64) -> Result<u64, MemoryError> {
    match address >= 0x1000 && address <= i64::MAX as u64 && address.is_multiple_of(8) {
        true => Ok(address),
        false => Err(MemoryError::Unlikely("a pointer")),
    }
}
