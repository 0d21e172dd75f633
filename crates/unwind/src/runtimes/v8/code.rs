//! Compiled code: which code an instruction is in, and which places of the source it was made from, inlined functions too.

use super::heap::{Heap, object, smi};
use super::layout::Start;
use super::positions::{self, Position, Sizes};
use crate::process::MemoryError;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Code that was compiled for a function.
pub(super) struct Code {
    /// A number of its own.
    pub id: u64,
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
    Baseline(Baseline),
    /// By an optimizing compiler.
    Optimized(Optimized),
    /// Not for a function of a script.
    Otherwise,
}

/// What baseline code was made from.
pub(super) struct Baseline {
    pub bytecodes: u64,
    table: Vec<u8>,
    codes: Vec<u8>,
}

/// What optimized code says of itself.
pub(super) struct Optimized {
    /// The function it was made for.
    pub shared: u64,
    /// The table for deoptimizing, and its first words when it was read.
    deopt: u64,
    first: Vec<u64>,
    table: Vec<u8>,
    /// The array of literals, of which the first are the functions inlined.
    literals: u64,
    inlined: usize,
    /// Each place where a function was inlined: the call, and the number of the function.
    places: Vec<(u64, i32)>,
    /// Offsets that calls return to, each with the bytecode of the innermost function; only of code by Maglev.
    returns: Vec<(u64, u64)>,
}

/// What was read of code, by its first instruction.
#[derive(Default)]
pub(super) struct Codes {
    known: BTreeMap<u64, Arc<Code>>,
    /// Bytes of the tables of all.
    bytes: usize,
    count: u64,
    /// Words that were found where an object's map would be: true for maps of what lies before instructions.
    maps: HashMap<u64, bool>,
}

/// Bytes of tables of code that are kept.
const BYTES: usize = 16 << 20;

/// Codes and maps that are kept.
const MOST: usize = 1 << 13;

/// Bytes before an instruction that are searched for the beginning of its code, and how many at a time.
const SEARCH: (u64, usize) = (1 << 19, 1 << 13);

/// Instructions begin at a multiple of it: kCodeAlignment of src/common/globals.h, 64 from V8 11 on.
const ALIGNMENT: u64 = 32;

/// Frames of functions inlined into each other, at most.
const DEEPEST: usize = 64;

impl Codes {
    /// The code that an instruction is in. What is known of it is read anew where it is not of this function or array of
    /// bytecodes: the collector moves them, and changes their addresses here.
    pub(super) fn find(
        &mut self,
        heap: Heap,
        ip: u64,
        shared: u64,
        bytecodes: Option<u64>,
    ) -> Option<Arc<Code>> {
        if let Some((start, code)) = self.known.range(..=ip).next_back()
            && ip < code.end
        {
            let mut bytes = vec![0; code.bytes.len()];
            let same = heap.process.read(code.object, &mut bytes).is_ok() && bytes == code.bytes;
            let current = match &code.made {
                Made::Otherwise => true,
                Made::Baseline(made) => Some(made.bytecodes) == bytecodes,
                Made::Optimized(made) => {
                    made.shared == shared && (made.inlined == 0 || made.is_current(heap))
                }
            };
            if same && current {
                return Some(Arc::clone(code));
            }
            let start = *start;
            self.known.remove(&start);
        }
        self.count += 1;
        let code = Arc::new(read(heap, self.search(heap, ip)?, ip, self.count).ok()?);
        self.bytes += code.made.bytes();
        if self.known.len() >= MOST || self.bytes > BYTES {
            self.known.clear();
            self.bytes = code.made.bytes();
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
fn range(heap: Heap, code: u64) -> Result<(u64, u64), MemoryError> {
    const WHAT: &str = "code";
    if heap.kind(code)? != heap.layout.types.code {
        return Err(MemoryError::Unlikely(WHAT));
    }
    let start = match heap.layout.code.start {
        Start::Within(header) => code + header,
        Start::At { field, .. } => heap.process.u64(code + field)?,
    };
    let size = heap.process.u32(code + heap.layout.code.size)?;
    start.checked_add(u64::from(size)).map(|end| (start, end)).ok_or(MemoryError::Unlikely(WHAT))
}

/// Reads a code that holds an instruction.
fn read(heap: Heap, object: u64, ip: u64, id: u64) -> Result<Code, MemoryError> {
    let fields = &heap.layout.code;
    let (start, end) = range(heap, object)?;
    if !(start..end).contains(&ip) {
        return Err(MemoryError::Unlikely("the range of code"));
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
            let bytecodes = heap.typed(word, heap.layout.types.bytecodes, "bytecodes")?;
            let mut codes = vec![0; heap.length(bytecodes)? as usize];
            heap.process.read(bytecodes + heap.layout.bytecodes_data, &mut codes)?;
            Made::Baseline(Baseline { bytecodes, table: table()?, codes })
        }
        std::cmp::Ordering::Greater => {
            let word = heap.process.u64(object + fields.deopt)?;
            let mut optimized = optimized(heap, word, table()?)?;
            // Maglev comes next to the baseline compiler. In V8 13 its positions in loops that it peeled are the loop's.
            if kind == fields.baseline + 1 && heap.layout.version.0 >= 13 {
                optimized.returns = returns(heap, end, word).unwrap_or_default();
            }
            Made::Optimized(optimized)
        }
    };
    Ok(Code { id, start, end, object, bytes, made })
}

/// Words of the table for deoptimizing that are about the whole code: DeoptimizationData of
/// src/objects/deoptimization-data.h.
const FIRST: u64 = 9;

/// Reads what optimized code says of itself in its table for deoptimizing.
fn optimized(heap: Heap, word: u64, table: Vec<u8>) -> Result<Optimized, MemoryError> {
    const WHAT: &str = "what optimized code says of itself";
    let fields = &heap.layout.code;
    let first = heap.words(word, FIRST)?;
    let field = |index: u64| first.get(index as usize).copied().ok_or(MemoryError::Unlikely(WHAT));
    let shared = shared(heap, field(fields.deopt_shared)?)?;
    let count = smi(field(fields.inlined_count)?).and_then(|count| u64::try_from(count).ok());
    let count = count.filter(|count| *count < 1 << 12).ok_or(MemoryError::Unlikely(WHAT))?;
    let literals = field(fields.literals)?;
    let mut places = Vec::new();
    let inlined = if count > 0 { heap.words(literals, count)?.len() } else { 0 };
    if inlined > 0 {
        for place in heap.bytes(field(fields.inlining)?)?.as_chunks::<16>().0 {
            // InliningPosition of src/codegen/source-position.h.
            let [call, id] =
                [0, 8].map(|at| place[at..].first_chunk().map_or(0, |word| u64::from_ne_bytes(*word)));
            places.push((call, id as u32 as i32));
        }
    }
    let address = |word: u64| object(word).ok_or(MemoryError::Unlikely(WHAT));
    let (deopt, literals) = (address(word)?, address(literals)?);
    Ok(Optimized { shared, deopt, first, table, literals, inlined, places, returns: Vec::new() })
}

/// Entries of the table for deoptimizing that are read.
const DEOPTS: u64 = 1 << 14;

/// Where calls return to in code by Maglev, and the bytecode each was made from: by the safepoint table behind the instructions
/// (src/codegen/maglev-safepoint-table.h of V8 13), which names the entry of the table for deoptimizing.
fn returns(heap: Heap, end: u64, deopt: u64) -> Result<Vec<(u64, u64)>, MemoryError> {
    const WHAT: &str = "a table of safepoints";
    // Slots of the stack, entries, the sizes of an entry's fields, tagged slots: 4 bytes each.
    let [_, count, sizes, _] = [0, 4, 8, 12].map(|at| heap.process.u32(end + at));
    let (count, sizes) = (count?, sizes?);
    let size = |shift: u32| (sizes >> shift & 7) as usize;
    let (registers, pc, index) = (size(1), size(4), size(7));
    if sizes & 1 == 0 || count > 1 << 14 || pc == 0 || pc > 4 || index > 4 {
        return Err(MemoryError::Unlikely(WHAT));
    }
    let entry = pc + index + pc + 1 + registers;
    let mut bytes = vec![0; entry * count as usize];
    heap.process.read(end + 16, &mut bytes)?;
    // Behind the places of inlining are where exits begin and how many there are of both kinds. Each entry has three words: the
    // bytecode, the translation, the exit.
    let first = heap.layout.code.inlining as usize + 4;
    let words = heap.words(deopt, first as u64 + DEOPTS * 3)?;
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let one = |entry: &[u8]| {
        let index = number(&entry[pc..pc + index]).checked_sub(1)?;
        let bytecode = smi(*words.get(first + index as usize * 3)?)?;
        Some((number(&entry[..pc]), u64::try_from(bytecode).ok()?))
    };
    Ok(bytes.chunks_exact(entry).filter_map(one).collect())
}

/// The bytecodes of a function, which its baseline code has too.
pub(super) fn bytecodes(heap: Heap, shared: u64) -> Option<u64> {
    // The first field, src/objects/shared-function-info.tq.
    let data = object(heap.process.u64(shared + 8).ok()?)?;
    let types = &heap.layout.types;
    match heap.kind(data).ok()? {
        kind if kind == types.bytecodes => Some(data),
        kind if kind == types.code => {
            let word = heap.process.u64(data + heap.layout.code.deopt).ok()?;
            heap.typed(word, types.bytecodes, "bytecodes").ok()
        }
        _ => None,
    }
}

/// A shared function info, also behind its wrapper.
fn shared(heap: Heap, word: u64) -> Result<u64, MemoryError> {
    let types = &heap.layout.types;
    let address = object(word).ok_or(MemoryError::Unlikely("a function"))?;
    match heap.kind(address)? {
        kind if kind == types.shared => Ok(address),
        kind if types.shared_wrapper != 0 && kind == types.shared_wrapper => {
            heap.typed(heap.process.u64(address + 8)?, types.shared, "a function")
        }
        _ => Err(MemoryError::Unlikely("a function")),
    }
}

impl Code {
    /// The offset of an instruction.
    pub(super) fn offset(&self, ip: u64) -> u64 {
        ip.saturating_sub(self.start)
    }
}

impl Made {
    /// Bytes of its tables.
    fn bytes(&self) -> usize {
        match self {
            Made::Otherwise => 0,
            Made::Baseline(made) => made.table.len() + made.codes.len(),
            Made::Optimized(made) => made.table.len() + (made.places.len() + made.returns.len()) * 16,
        }
    }
}

impl Baseline {
    /// The offset of the bytecode that the instruction at an offset was made from.
    pub(super) fn bytecode(&self, sizes: &Sizes, offset: u64) -> Option<u64> {
        positions::bytecode_at(&self.table, &self.codes, sizes, offset)
    }
}

impl Optimized {
    /// True while the objects it names are where they were.
    fn is_current(&self, heap: Heap) -> bool {
        let mut bytes = vec![0; self.first.len() * 8];
        let read = heap.process.read(self.deopt + heap.layout.array_data, &mut bytes);
        read.is_ok()
            && bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).eq(self.first.iter().copied())
    }

    /// The bytecode of the innermost function that the call before an offset was made from, where code says that.
    pub(super) fn called_by(&self, offset: u64) -> Option<u64> {
        self.returns.iter().find(|(pc, _)| *pc == offset).map(|(_, bytecode)| *bytecode)
    }

    /// The functions an instruction at an offset is of, innermost first, and the place of each; none where it is not known.
    pub(super) fn functions(&self, heap: Heap, offset: u64) -> Vec<(u64, u32)> {
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
                Err(_) => Some(self.shared),
                Ok(id) => self.inlined(heap, id),
            };
            let Some(function) = function else { return Vec::new() };
            found.push((function, offset));
            next = positions::position(*call);
            let outwards = next.is_none_or(|next| next.inlined.is_none_or(|outer| outer < at));
            if found.len() >= DEEPEST || !outwards {
                return Vec::new();
            }
        }
        Vec::new()
    }

    /// The function inlined of a number.
    fn inlined(&self, heap: Heap, id: usize) -> Option<u64> {
        let slot = (id < self.inlined).then(|| self.literals + heap.layout.array_data + id as u64 * 8)?;
        let now = heap.process.u64(slot).ok()?;
        // It may be behind a wrapper; whether it is a function its reader sees.
        let direct = object(now)?;
        match heap.layout.types.shared_wrapper {
            0 => Some(direct),
            _ => shared(heap, now).ok(),
        }
    }
}

/// The place in the source of a bytecode of an array; `None` where V8 has not made the table yet: it does when first an error
/// holds such a place.
pub(super) fn place(heap: Heap, bytecodes: u64, offset: u64) -> Option<u32> {
    let is =
        heap.kind(bytecodes).ok()? == heap.layout.types.bytecodes && offset < heap.length(bytecodes).ok()?;
    let table = is.then(|| heap.process.u64(bytecodes + heap.layout.bytecodes_positions))?.ok()?;
    positions::at(&heap.bytes(table).ok()?, offset).map(|position| position.offset)
}
