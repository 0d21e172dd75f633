//! V8 in Node.js: frames of JavaScript lie on the thread's own stack, each by its frame pointer. What they say is read by V8's own
//! description of its objects ([`layout`]).

mod code;
mod functions;
mod heap;
mod layout;
mod positions;

use super::{Detected, Registers, Runtime, RuntimeKind, StackMemory};
use crate::frames::{FrameId, Frames};
use crate::image::Image;
use crate::process::{Mapping, Process, ReadError};
use code::{Codes, Made};
use functions::{Function, Functions};
use heap::{Heap, object, smi};
use layout::Layout;
use positions::Sizes;
use std::sync::Arc;

/// V8 in Node.js.
pub(super) const KIND: RuntimeKind =
    RuntimeKind { name: "V8", versions: "Node.js 18, 20, 22 and 24 (V8 10.2, 11.3, 12.4 and 13.6)", detect };

/// Bytes of the largest frame.
const LARGEST_FRAME: u64 = 1 << 20;

/// A V8 in a process.
struct V8 {
    version: String,
    layout: Layout,
    builtins: Builtins,
    sizes: Sizes,
    functions: Functions,
    codes: Codes,
}

/// V8's own compiled functions: a piece of its file, which may be mapped a second time near to the code made while running.
struct Builtins {
    file: Option<(Box<str>, u64)>,
    /// Their first byte and the one behind their last in the file.
    start: u64,
    end: u64,
}

/// Looks for V8 in the program itself, and in the library that some distributions make of Node.js.
fn detect(process: &Process) -> Detected {
    let may_hold = |mapping: &&Mapping| {
        let name = mapping.name();
        mapping.executable
            && mapping.file.is_some()
            && (name.starts_with("node") || name.starts_with("libnode"))
    };
    let mut seen = Vec::new();
    for mapping in process.mappings().iter().filter(may_hold) {
        if seen.contains(&mapping.file) {
            continue;
        }
        seen.push(mapping.file.clone());
        let Ok(image) = Image::open(process, mapping) else { continue };
        match open(process, &image) {
            Ok(None) => {}
            Ok(Some(v8)) => return Detected::Found(Box::new(v8)),
            Err(why) => return Detected::Unknown(why),
        }
    }
    Detected::Absent
}

/// The V8 of an image.
fn open(process: &Process, image: &Image) -> Result<Option<V8>, String> {
    let Some((layout, version)) = layout::read(process, image)? else { return Ok(None) };
    let missing = || format!("V8 {version} does not say where its own functions and bytecodes are");
    let names = [
        "v8_Default_embedded_blob_code_data_",
        "v8_Default_embedded_blob_code_",
        "v8_Default_embedded_blob_code_size_",
        "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE",
    ];
    let found = image.sized_symbols(&names).map_err(|error| error.to_string())?;
    // Where there is one of the first name, the second is a pointer to it.
    let (Some((start, _)), Some((size, _)), Some((sizes, bytes))) =
        (found[0].or(found[1]), found[2], found[3])
    else {
        return Err(missing());
    };
    let mapping = process.mapping(start).ok_or_else(missing)?;
    let size = process.u32(size).map_err(|error| error.to_string())?;
    let start = start - mapping.start + mapping.offset;
    let builtins = Builtins { file: mapping.file.clone(), start, end: start + u64::from(size) };
    let mut table =
        vec![0; usize::try_from(bytes).ok().filter(|bytes| *bytes <= 3 << 8).ok_or_else(missing)?];
    process.read(sizes, &mut table).map_err(|error| error.to_string())?;
    Ok(Some(V8 {
        version: format!("Node.js with V8 {version}"),
        layout,
        builtins,
        sizes: Sizes(table),
        functions: Functions::default(),
        codes: Codes::default(),
    }))
}

/// Whose code an instruction is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Builtin,
    /// Made while running.
    Made,
    Elsewhere,
}

impl V8 {
    /// Whose code is at an address.
    fn place(&self, process: &Process, ip: u64) -> Place {
        let Some(mapping) = process.mapping(ip) else { return Place::Elsewhere };
        match mapping.file {
            // V8 makes pages for code writable and executable by turns, from a range that it reserved: what is run there is code,
            // whatever it was when the mappings were read.
            None if mapping.path.is_empty() || mapping.path.starts_with("[anon:") => {
                if mapping.executable || !mapping.writable { Place::Made } else { Place::Elsewhere }
            }
            Some(_) if mapping.file == self.builtins.file => {
                let offset = ip - mapping.start + mapping.offset;
                let own = (self.builtins.start..self.builtins.end).contains(&offset);
                if own { Place::Builtin } else { Place::Elsewhere }
            }
            _ => Place::Elsewhere,
        }
    }

    /// The function object of the frame at a frame pointer; `None` for frames of other kinds.
    fn function(&self, heap: Heap, context: u64, function: u64) -> Option<u64> {
        let types = &self.layout.types;
        let is = |word: u64, (first, last): (u16, u16)| {
            let address = object(word).filter(|_| word & 3 == 1)?;
            heap.kind(address).is_ok_and(|kind| (first..=last).contains(&kind)).then_some(address)
        };
        is(context, types.contexts)?;
        is(function, types.functions)
    }
}

/// A frame of JavaScript, and where it is.
struct JsFrame {
    shared: u64,
    bytecodes: u64,
    offset: u64,
    /// Instructions of it, the likelier first.
    ips: Vec<u64>,
}

impl V8 {
    /// Pushes the functions of a frame.
    fn push(
        &mut self,
        process: &Process,
        frame: &JsFrame,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), ReadError> {
        let heap = Heap { process, layout: &self.layout };
        let function = self.functions.read(heap, frame.shared)?;
        if function.script.is_none() {
            return Ok(());
        }
        let is_bytecodes = heap.typed(frame.bytecodes, self.layout.types.bytecodes, "bytecodes").ok();
        for ip in &frame.ips {
            let Some(code) = self.codes.find(heap, *ip) else { continue };
            match &code.made {
                Made::Baseline { bytecodes, table } if is_bytecodes == Some(*bytecodes) => {
                    let at = code::bytecode(heap, *bytecodes, table, &self.sizes, code.offset(*ip));
                    let place = at.and_then(|at| code::place(heap, *bytecodes, at));
                    push(&function, place, frames, stack);
                    return Ok(());
                }
                Made::Optimized(optimized) if optimized.shared == frame.shared => {
                    let mut found = Vec::new();
                    for (shared, place) in optimized.functions(code.offset(*ip)) {
                        found.push((self.functions.read(heap, shared)?, place));
                    }
                    if found.is_empty() {
                        push(&function, None, frames, stack);
                    }
                    for (function, place) in &found {
                        push(function, Some(*place), frames, stack);
                    }
                    return Ok(());
                }
                _ => {}
            }
        }
        // Else it is interpreted; the offset is from the array's tagged pointer.
        let place = is_bytecodes.and_then(|bytecodes| {
            let offset = u64::try_from(smi(frame.offset)?).ok()?;
            code::place(heap, bytecodes, (offset + 1).checked_sub(self.layout.bytecodes_data)?)
        });
        push(&function, place, frames, stack);
        Ok(())
    }
}

/// Pushes a function, at a place of it or its first line.
fn push(function: &Arc<Function>, place: Option<u32>, frames: &mut Frames, stack: &mut Vec<FrameId>) {
    let Some(script) = &function.script else { return };
    let line = place.or(function.start).map_or(0, |place| script.line(place));
    let name = if function.name.is_empty() { "(anonymous)" } else { &function.name };
    stack.extend(frames.id(name, &script.file, line));
}

impl Runtime for V8 {
    fn language(&self) -> &'static str {
        "node"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn step(
        &mut self,
        process: &Process,
        registers: &Registers,
        memory: &dyn StackMemory,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<Option<Registers>, ReadError> {
        const WHAT: &str = "a frame of V8";
        let Registers { ip, sp, bp } = *registers;
        if self.place(process, ip) == Place::Elsewhere {
            return Ok(None);
        }
        let slot = |from: i64| memory.word(bp.wrapping_add_signed(from));
        if bp % 8 != 0 || bp < sp || bp - sp > LARGEST_FRAME {
            return Err(ReadError::Unlikely(WHAT));
        }
        let caller = Registers { ip: slot(8)?, sp: bp + 16, bp: slot(0)? };
        // Of a caller, the word before the top of its stack is the address that was returned to.
        let top = sp.checked_sub(8).and_then(|before| memory.word(before).ok()) != Some(ip);
        let lowest = bp.wrapping_add_signed(self.layout.fp_function);
        if top && sp > lowest {
            // The frame is not made yet: what lies there is of another.
            return Ok(Some(caller));
        }
        let context = slot(self.layout.fp_context)?;
        if context & 1 == 0 {
            // The number of the frame's type: it is of V8 itself.
            return Ok(Some(caller));
        }
        let heap = Heap { process, layout: &self.layout };
        let Some(function) = self.function(heap, context, slot(self.layout.fp_function)?) else {
            // Code for regular expressions has other things there.
            let known = process.mapping(caller.ip).is_some_and(|mapping| mapping.executable);
            return if known { Ok(Some(caller)) } else { Err(ReadError::Unlikely(WHAT)) };
        };
        let shared = process.u64(function + self.layout.function_shared)?;
        let mut ips = match top {
            // It may be in a small function of V8's own without a frame, or in another before its frame is made.
            true => {
                vec![ip + 1, memory.word(sp).unwrap_or_default(), memory.word(sp + 8).unwrap_or_default()]
            }
            false => vec![ip],
        };
        ips.retain(|ip| self.place(process, *ip) == Place::Made);
        let frame = JsFrame {
            shared: object(shared).ok_or(ReadError::Unlikely("a function"))?,
            bytecodes: slot(self.layout.fp_bytecodes)?,
            offset: slot(self.layout.fp_offset)?,
            // The call is before the address that is returned to.
            ips: ips.into_iter().map(|ip| ip - 1).collect(),
        };
        self.push(process, &frame, frames, stack)?;
        Ok(Some(caller))
    }
}
