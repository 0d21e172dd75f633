//! Compiled code: which code an instruction is in, and which places of the source it was made from, inlined functions too.

use super::heap::{Heap, object};
use super::layout::Start;
use super::positions::{self, Position, Sizes};
use crate::process::ReadError;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Code that was compiled for a function.
pub(super) struct Code {
    /// First instruction, and behind the last.
    start: u64,
    end: u64,
    /// Its object, and the bytes of that when it was read: another code may be there later.
    object: u64,
    bytes: Vec<u8>,
    pub made: Made,
}

/// How code was made.
pub(super) enum Made {
    /// From one bytecode after another of this array.
    Baseline { bytecodes: u64, table: Vec<u8> },
    /// By an optimizing compiler.
    Optimized(Optimized),
    /// Not for a function of a script.
    Otherwise,
}

/// What optimized code says of itself.
pub(super) struct Optimized {
    /// The function it was made for.
    pub shared: u64,
    table: Vec<u8>,
    /// Functions inlined into it.
    functions: Vec<u64>,
    /// Each place where a function was inlined: the call, and the number of the function.
    places: Vec<(u64, i32)>,
}

/// What was read of code, by its first instruction.
#[derive(Default)]
pub(super) struct Codes {
    known: BTreeMap<u64, Arc<Code>>,
    /// Words that were found where an object's map would be: true for maps of what lies before instructions.
    maps: HashMap<u64, bool>,
}

/// Codes and maps that are kept.
const MOST: usize = 1 << 13;

/// Bytes before an instruction that are searched for the beginning of its code, and how many at a time.
const SEARCH: (u64, usize) = (1 << 19, 1 << 13);

/// Instructions begin at a multiple of it: kCodeAlignment of src/common/globals.h, 64 from V8 11 on.
const ALIGNMENT: u64 = 32;

/// Frames of functions inlined into each other, at most.
const DEEPEST: usize = 64;

impl Codes {
    /// The code that an instruction is in.
    pub(super) fn find(&mut self, heap: Heap, ip: u64) -> Option<Arc<Code>> {
        if let Some((start, code)) = self.known.range(..=ip).next_back()
            && ip < code.end
        {
            let mut bytes = vec![0; code.bytes.len()];
            if heap.process.read(code.object, &mut bytes).is_ok() && bytes == code.bytes {
                return Some(Arc::clone(code));
            }
            let start = *start;
            self.known.remove(&start);
        }
        let code = Arc::new(read(heap, self.search(heap, ip)?, ip).ok()?);
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(code.start, Arc::clone(&code));
        Some(code)
    }

    /// The code's object, by the object that lies right before its instructions.
    fn search(&mut self, heap: Heap, ip: u64) -> Option<u64> {
        let header = match heap.layout.code.start {
            Start::Within(header) | Start::At { header, .. } => header,
        };
        let step = SEARCH.1 as u64;
        let mut bytes = vec![0; SEARCH.1 + header as usize];
        // The first instruction may be at `low`, its header is before.
        let mut low = ip - ip % step;
        for _ in 0..SEARCH.0 / step {
            heap.process.read(low.checked_sub(header)?, &mut bytes).ok()?;
            let last = (ip - low).min(step - 1);
            for at in (0..=last / ALIGNMENT).rev().map(|count| count * ALIGNMENT) {
                let map = u64::from_ne_bytes(*bytes[at as usize..].first_chunk()?);
                if !self.is_map(heap, map) {
                    continue;
                }
                let base = low + at - header;
                let code = match heap.layout.code.start {
                    Start::Within(_) => Some(base),
                    Start::At { .. } => object(u64::from_ne_bytes(*bytes[at as usize + 8..].first_chunk()?)),
                };
                if let Some(code) = code
                    && let Ok((start, end)) = range(heap, code)
                    && start == low + at
                {
                    // The next code before begins earlier: this is the only one.
                    return (ip < end).then_some(code);
                }
            }
            low = low.checked_sub(step)?;
        }
        None
    }

    /// True where a word is the map of what lies before instructions.
    fn is_map(&mut self, heap: Heap, word: u64) -> bool {
        if word & 3 != 1 {
            return false;
        }
        let Some(map) = object(word) else { return false };
        if let Some(known) = self.maps.get(&map) {
            return *known;
        }
        let kind = heap.process.u16(map + heap.layout.map_type);
        let is = kind == Ok(heap.layout.types.instructions) && heap.kind(map) == Ok(heap.layout.types.map);
        if self.maps.len() >= MOST {
            self.maps.clear();
        }
        self.maps.insert(map, is);
        is
    }
}

/// The first instruction of a code, and behind its last.
fn range(heap: Heap, code: u64) -> Result<(u64, u64), ReadError> {
    const WHAT: &str = "code";
    if heap.kind(code)? != heap.layout.types.code {
        return Err(ReadError::Unlikely(WHAT));
    }
    let start = match heap.layout.code.start {
        Start::Within(header) => code + header,
        Start::At { field, .. } => heap.process.u64(code + field)?,
    };
    let size = heap.process.u32(code + heap.layout.code.size)?;
    start.checked_add(u64::from(size)).map(|end| (start, end)).ok_or(ReadError::Unlikely(WHAT))
}

/// Reads a code that holds an instruction.
fn read(heap: Heap, object: u64, ip: u64) -> Result<Code, ReadError> {
    let fields = &heap.layout.code;
    let (start, end) = range(heap, object)?;
    if !(start..end).contains(&ip) {
        return Err(ReadError::Unlikely("the range of code"));
    }
    let mut bytes = vec![0; (fields.size.max(fields.flags) + 4) as usize];
    heap.process.read(object, &mut bytes)?;
    let kind = heap.process.u32(object + fields.flags)? & fields.kind_mask;
    let table = || heap.process.u64(object + fields.positions).and_then(|word| heap.bytes(word));
    let made = match kind.cmp(&fields.baseline) {
        // Kinds are in the order of the compilers, CODE_KIND_LIST of src/objects/code-kind.h.
        std::cmp::Ordering::Less => Made::Otherwise,
        std::cmp::Ordering::Equal => {
            // It has the function's bytecodes in place of the table for deoptimizing.
            let word = heap.process.u64(object + fields.deopt)?;
            Made::Baseline {
                bytecodes: heap.typed(word, heap.layout.types.bytecodes, "bytecodes")?,
                table: table()?,
            }
        }
        std::cmp::Ordering::Greater => {
            Made::Optimized(optimized(heap, heap.process.u64(object + fields.deopt)?, table()?)?)
        }
    };
    Ok(Code { start, end, object, bytes, made })
}

/// Reads what optimized code says of itself in its table for deoptimizing.
fn optimized(heap: Heap, word: u64, table: Vec<u8>) -> Result<Optimized, ReadError> {
    const WHAT: &str = "what optimized code says of itself";
    let fields = &heap.layout.code;
    let words = heap.words(word, 16)?;
    let field = |index: u64| words.get(index as usize).copied().ok_or(ReadError::Unlikely(WHAT));
    let shared = shared(heap, field(fields.deopt_shared)?)?;
    let count = super::heap::smi(field(fields.inlined_count)?).and_then(|count| u64::try_from(count).ok());
    let count = count.filter(|count| *count < 1 << 12).ok_or(ReadError::Unlikely(WHAT))?;
    let (mut functions, mut places) = (Vec::new(), Vec::new());
    if count > 0 {
        let literals = heap.words(field(fields.literals)?, count)?;
        functions = literals.into_iter().map(|word| shared_or_nothing(heap, word)).collect();
        for place in heap.bytes(field(fields.inlining)?)?.as_chunks::<16>().0 {
            // InliningPosition of src/codegen/source-position.h.
            let [call, id] =
                [0, 8].map(|at| place[at..].first_chunk().map_or(0, |word| u64::from_ne_bytes(*word)));
            places.push((call, id as u32 as i32));
        }
    }
    Ok(Optimized { shared, table, functions, places })
}

/// A shared function info, also behind its wrapper.
fn shared(heap: Heap, word: u64) -> Result<u64, ReadError> {
    let types = &heap.layout.types;
    let address = object(word).ok_or(ReadError::Unlikely("a function"))?;
    match heap.kind(address)? {
        kind if kind == types.shared => Ok(address),
        kind if types.shared_wrapper != 0 && kind == types.shared_wrapper => {
            heap.typed(heap.process.u64(address + 8)?, types.shared, "a function")
        }
        _ => Err(ReadError::Unlikely("a function")),
    }
}

/// The same, 0 where it is none.
fn shared_or_nothing(heap: Heap, word: u64) -> u64 {
    shared(heap, word).unwrap_or_default()
}

impl Code {
    /// The offset of an instruction.
    pub(super) fn offset(&self, ip: u64) -> u64 {
        ip.saturating_sub(self.start)
    }
}

impl Optimized {
    /// The functions an instruction at an offset is of, innermost first, and the place of each; none where it is not known.
    pub(super) fn functions(&self, offset: u64) -> Vec<(u64, u32)> {
        let mut found = Vec::new();
        let mut next = positions::at(&self.table, offset);
        while let Some(Position { offset, inlined }) = next {
            let Some(at) = inlined else {
                found.push((self.shared, offset));
                return found;
            };
            let Some((call, id)) = self.places.get(usize::from(at)) else { return Vec::new() };
            let function = match usize::try_from(*id) {
                // A negative number is the function itself: kNotInlined.
                Err(_) => self.shared,
                Ok(id) => self.functions.get(id).copied().unwrap_or_default(),
            };
            found.push((function, offset));
            next = positions::position(*call);
            if found.len() >= DEEPEST
                || next.is_some_and(|next| next.inlined.is_some_and(|outer| outer >= at))
            {
                return Vec::new();
            }
        }
        Vec::new()
    }
}

/// The place in the source of a bytecode of an array; `None` where V8 has not made the table yet: it does when first an error
/// holds such a place.
pub(super) fn place(heap: Heap, bytecodes: u64, offset: u64) -> Option<u32> {
    let table = heap.process.u64(bytecodes + heap.layout.bytecodes_positions).ok()?;
    positions::at(&heap.bytes(table).ok()?, offset).map(|position| position.offset)
}

/// The offset of the bytecode that baseline code at an offset was made from.
pub(super) fn bytecode(heap: Heap, bytecodes: u64, table: &[u8], sizes: &Sizes, offset: u64) -> Option<u64> {
    let length = heap.length(bytecodes).ok()?;
    let mut bytes = vec![0; length as usize];
    heap.process.read(bytecodes + heap.layout.bytecodes_data, &mut bytes).ok()?;
    positions::bytecode_at(table, &bytes, sizes, offset)
}
