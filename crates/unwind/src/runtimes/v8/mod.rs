//! V8 in Node.js: frames of JavaScript lie on the thread's own stack, each by its frame pointer. What they say is read by V8's own
//! description of its objects ([`description`]).

mod builtins;
mod code;
mod description;
mod functions;
mod heap;
mod layout;
mod methods;
mod positions;

use super::{Detected, LanguageRuntime, Registers, RuntimeKind, StackMemory};
use crate::frames::{FrameId, Frames};
use crate::image::Image;
use crate::process::{MemoryError, MemoryMapping, Process};
use builtins::{Builtins, Place};
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

/// Looks for V8 in the program itself, and in the library that some distributions make of Node.js.
fn detect(process: &Process) -> Detected {
    let may_hold = |mapping: &&MemoryMapping| {
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
    let Some((layout, version)) = description::read(process, image)? else { return Ok(None) };
    let missing = || format!("V8 {version} does not say where its own functions and bytecodes are");
    let builtins = Builtins::find(process, image).ok_or_else(missing)?;
    let sizes = image.sized_symbols(&["_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE"]);
    let (at, bytes) = sizes.ok().and_then(|found| found[0]).ok_or_else(missing)?;
    let mut table =
        vec![0; usize::try_from(bytes).ok().filter(|bytes| *bytes <= 3 << 8).ok_or_else(missing)?];
    process.read(at, &mut table).map_err(|error| error.to_string())?;
    Ok(Some(V8 {
        version: format!("Node.js with V8 {version}"),
        layout,
        builtins,
        sizes: Sizes(table),
        functions: Functions::default(),
        codes: Codes::default(),
    }))
}

/// A frame of JavaScript, and where it is.
struct JsFrame {
    function: Arc<Function>,
    shared: u64,
    /// Words that are the bytecodes and the offset in them in code that is interpreted, and the former in baseline code too.
    bytecodes: u64,
    offset: u64,
    /// Instructions of it, the likelier first.
    ips: Vec<u64>,
}

/// A function, and the place of it where that is known.
type Placed = (Arc<Function>, Option<u32>);

impl V8 {
    /// The functions of a frame with their places, innermost first.
    fn functions(&mut self, process: &Process, frame: &JsFrame) -> Result<Vec<Placed>, MemoryError> {
        let heap = Heap { process, layout: &self.layout };
        let (function, bytecodes) = (&frame.function, object(frame.bytecodes));
        for ip in &frame.ips {
            let Some(code) = self.codes.find(heap, *ip, frame.shared, bytecodes) else { continue };
            match &code.made {
                Made::Baseline(baseline) if bytecodes == Some(baseline.bytecodes) => {
                    let at = baseline.bytecode(&self.sizes, code.offset(*ip));
                    let place =
                        at.and_then(|at| self.functions.place(heap, function, baseline.bytecodes, at));
                    return Ok(vec![(Arc::clone(function), place)]);
                }
                Made::Optimized(optimized) if optimized.shared == frame.shared => {
                    let offset = code.offset(*ip);
                    let mut called_by = optimized.called_by(offset + 1);
                    let mut found = Vec::new();
                    for (shared, place) in optimized.functions(heap, offset) {
                        let function = self.functions.read(heap, shared)?;
                        let better = called_by.take().and_then(|bytecode| {
                            self.functions.place_in_code(heap, shared, &function, code.id, bytecode)
                        });
                        found.push((function, better.or(Some(place))));
                    }
                    if found.is_empty() {
                        found.push((Arc::clone(function), None));
                    }
                    return Ok(found);
                }
                _ => {}
            }
        }
        // Else it is interpreted; the offset is from the array's tagged pointer.
        let offset = smi(frame.offset).and_then(|offset| u64::try_from(offset).ok());
        let offset = offset.and_then(|offset| (offset + 1).checked_sub(self.layout.bytecodes_data));
        let place = bytecodes
            .zip(offset)
            .and_then(|(bytecodes, offset)| self.functions.place(heap, function, bytecodes, offset));
        Ok(vec![(Arc::clone(function), place)])
    }
}

impl LanguageRuntime for V8 {
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
    ) -> Result<Option<Registers>, MemoryError> {
        const WHAT: &str = "a frame of V8";
        let Registers { ip, sp, bp, leaf } = *registers;
        if self.builtins.place(process, ip) == Place::Elsewhere {
            return Ok(None);
        }
        let slot = |from: i64| memory.word(bp.wrapping_add_signed(from));
        if bp % 8 != 0 || bp < sp || bp - sp > LARGEST_FRAME {
            return Err(MemoryError::Unlikely(WHAT));
        }
        let caller = Registers { ip: slot(8)?, sp: bp + 16, bp: slot(0)?, leaf: None };
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
        let address = object(slot(self.layout.fp_function)?);
        let function = address.map_or(Ok(None), |address| self.functions.of_object(heap, address))?;
        let Some((function, shared)) = function else {
            // Code for regular expressions has other things there.
            let known = process.mapping(caller.ip).is_some_and(|mapping| mapping.executable);
            return if known { Ok(Some(caller)) } else { Err(MemoryError::Unlikely(WHAT)) };
        };
        if function.script.is_none() {
            return Ok(Some(caller));
        }
        // The receiver is the first argument: `kReceiverOffset` of src/execution/frame-constants.h.
        self.functions.learn_class(
            heap,
            &function,
            address.unwrap_or_default(),
            slot(16).unwrap_or_default(),
        );
        let mut ips = match top {
            // It may be in a small function of V8's own without a frame, or in another before its frame is made.
            true => {
                vec![ip + 1, memory.word(sp).unwrap_or_default(), memory.word(sp + 8).unwrap_or_default()]
            }
            false => vec![ip],
        };
        ips.retain(|ip| self.builtins.place(process, *ip) == Place::Made);
        let bytecodes = slot(self.layout.fp_bytecodes)?;
        // While bytecodes run, registers have the array and the offset in it (src/codegen/x64/register-x64.h); the frame has the
        // offset of the last call.
        let runs = leaf.filter(|leaf| top && leaf.r12 == bytecodes && leaf.r9 < 1 << 31);
        let frame = JsFrame {
            function,
            shared,
            bytecodes,
            offset: runs.map_or_else(|| slot(self.layout.fp_offset), |leaf| Ok(leaf.r9 << 32))?,
            // The call is before the address that is returned to.
            ips: ips.into_iter().map(|ip| ip - 1).collect(),
        };
        for (function, place) in self.functions(process, &frame)? {
            let Some(script) = &function.script else { continue };
            let line = place.or(function.start).map_or(0, |place| script.line(place));
            stack.extend(frames.id(self.functions.name(&function), &script.file, line));
        }
        Ok(Some(caller))
    }
}
