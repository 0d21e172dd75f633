//! Whose code an instruction is: V8's own functions, compiled when V8 was built, or code made while running.

use crate::image::Image;
use crate::process::{MemoryMapping, Process};

/// V8's own compiled functions: a piece of its file, which may be mapped a second time near to the code made while running.
pub(super) struct Builtins {
    file: Option<(Box<str>, u64)>,
    /// Their first byte and the one behind their last in the file.
    start: u64,
    end: u64,
}

/// Whose code an instruction is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// V8's own.
    Builtin,
    /// Made while running.
    Made,
    /// Not V8's.
    Elsewhere,
}

/// Where the functions are: `tools/gen-postmortem-metadata.py` does not say it. In V8 10 the first is the piece and the second a
/// pointer to it, later the second is the piece (src/snapshot/embedded/embedded-file-writer.cc).
const PIECE: [&str; 3] = [
    "v8_Default_embedded_blob_code_data_",
    "v8_Default_embedded_blob_code_",
    "v8_Default_embedded_blob_code_size_",
];

/// Functions that return the piece's address and size, for files without symbols of their own: src/execution/isolate.cc.
const RETURNED: [&str; 2] = [
    "_ZN2v88internal7Isolate23CurrentEmbeddedBlobCodeEv",
    "_ZN2v88internal7Isolate27CurrentEmbeddedBlobCodeSizeEv",
];

impl Builtins {
    /// Finds the functions of the V8 in an image; `None` where that does not say where they are.
    pub(super) fn find(process: &Process, image: &Image) -> Option<Builtins> {
        let found = image.symbols(&[PIECE, [RETURNED[0], RETURNED[1], ""]].concat()).ok()?;
        let (start, size) = match (found[0].or(found[1]), found[2]) {
            (Some(start), Some(size)) => (start, process.u32(size).ok()?),
            _ => {
                let start = process.u64(returned(process, found[3]?)?).ok()?;
                (start, process.u32(returned(process, found[4]?)?).ok()?)
            }
        };
        let mapping =
            process.mapping(start).filter(|mapping| mapping.executable && mapping.file.is_some())?;
        let start = start - mapping.start + mapping.offset;
        (size > 0).then(|| Builtins { file: mapping.file.clone(), start, end: start + u64::from(size) })
    }

    /// Whose code is at an address.
    pub(super) fn place(&self, process: &Process, ip: u64) -> Place {
        process.mapping(ip).map_or(Place::Elsewhere, |mapping| self.place_in(mapping, ip))
    }

    fn place_in(&self, mapping: &MemoryMapping, ip: u64) -> Place {
        match mapping.file {
            // V8 makes pages for code writable and executable by turns, from a range that it reserved: what is run there is code,
            // whatever it was when the mappings were read.
            None if mapping.path.is_empty() || mapping.path.starts_with("[anon:") => {
                if mapping.executable || !mapping.writable { Place::Made } else { Place::Elsewhere }
            }
            Some(_) if mapping.file == self.file => {
                let offset = ip - mapping.start + mapping.offset;
                if (self.start..self.end).contains(&offset) { Place::Builtin } else { Place::Elsewhere }
            }
            _ => Place::Elsewhere,
        }
    }
}

/// The address of the variable that a function returns, where it does nothing else: `mov rax, [rip + offset]; ret` with 64 or 32
/// bits, after the mark of a target of jumps or without.
fn returned(process: &Process, function: u64) -> Option<u64> {
    let code: [u8; 16] = process.array(function).ok()?;
    let marked = code.starts_with(&[0xf3, 0x0f, 0x1e, 0xfa]);
    let skipped = if marked { 4 } else { 0 } + if code[if marked { 4 } else { 0 }] == 0x48 { 1 } else { 0 };
    let [0x8b, 0x05, a, b, c, d, 0xc3] = *code.get(skipped..skipped + 7)? else { return None };
    let next = function + skipped as u64 + 6;
    Some(next.wrapping_add_signed(i64::from(i32::from_le_bytes([a, b, c, d]))))
}
