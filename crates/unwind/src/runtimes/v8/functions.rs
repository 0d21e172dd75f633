//! Functions and scripts: what a function is called, in which file it is, and on which line a place of it is.

use super::heap::{Characters, Heap, object, smi};
use super::{code, methods};
use crate::frames::Frames;
use crate::process::MemoryError;
use std::collections::HashMap;
use std::sync::Arc;

/// A function as it is in the source, whatever code it has by now: V8's shared function info.
pub(super) struct Function {
    /// A number of its own.
    pub id: u64,
    /// As engineers write it; empty where it has no name.
    pub name: String,
    /// Where it is from; `None` for functions of V8 itself, which have no source.
    pub script: Option<Arc<Script>>,
    /// Where it begins, in characters from the script's first.
    pub start: Option<u32>,
}

/// A file or another text that functions are from.
pub(super) struct Script {
    pub file: String,
    /// Where its lines end.
    ends: Vec<u32>,
    /// Lines before its first.
    before: u32,
}

impl Script {
    /// The line of a place, from 1; 0 where the text could not be read.
    pub(super) fn line(&self, offset: u32) -> u32 {
        match self.ends.is_empty() {
            true => 0,
            false => self.before + self.ends.partition_point(|end| *end < offset) as u32 + 1,
        }
    }
}

/// What was read of functions, each valid while the object is the same word for word: the collector moves objects.
#[derive(Default)]
pub(super) struct Functions {
    known: HashMap<u64, (Vec<u8>, Arc<Function>)>,
    scripts: HashMap<u64, (Vec<u8>, Arc<Script>)>,
    /// Lines of all scripts.
    lines: usize,
    /// Function objects, of which one is made each time that a function's text is run: the function of each.
    objects: HashMap<u64, (Vec<u8>, Arc<Function>, u64)>,
    /// Classes of methods by number of the function: the name with its class, or nothing.
    methods: HashMap<u64, Option<String>>,
    /// Places of bytecodes, by number of the function, the array and the offset in it.
    places: HashMap<(u64, u64, u64), u32>,
    count: u64,
}

/// Lines of all scripts that are kept; one with more has none.
const LINES: usize = 1 << 21;

/// Functions and scripts that are kept.
const MOST: (usize, usize) = (1 << 15, 1 << 12);

/// Slots of a scope info that are looked at, and names in it: `kScopeInfoMaxInlinedLocalNamesSize` of src/common/globals.h.
const SCOPE: (u64, usize) = (512, 75);

impl Functions {
    /// The function of a function object, and its shared function info; `None` where there is no such object.
    pub(super) fn of_object(
        &mut self,
        heap: Heap,
        address: u64,
    ) -> Result<Option<(Arc<Function>, u64)>, MemoryError> {
        let layout = heap.layout;
        let mut bytes = vec![0; layout.function_shared as usize + 24];
        heap.process.read(address, &mut bytes)?;
        if let Some((same, function, shared)) = self.objects.get(&address)
            && *same == bytes
        {
            return Ok(Some((Arc::clone(function), *shared)));
        }
        let (first, last) = layout.types.functions;
        if !(first..=last).contains(&heap.kind(address)?) {
            return Ok(None);
        }
        let shared =
            object(word(&bytes, layout.function_shared)).ok_or(MemoryError::Unlikely("a function"))?;
        let function = self.read(heap, shared)?;
        if self.objects.len() >= MOST.0 {
            self.objects.clear();
        }
        self.objects.insert(address, (bytes, Arc::clone(&function), shared));
        Ok(Some((function, shared)))
    }

    /// A function's name with its class, where it is called as a method of one.
    pub(super) fn learn_class(&mut self, heap: Heap, function: &Function, address: u64, receiver: u64) {
        if function.name.is_empty() || function.script.is_none() || self.methods.contains_key(&function.id) {
            return;
        }
        let class = methods::class(heap, address, receiver).ok().flatten();
        let class =
            class.and_then(|class| self.read(heap, class).ok()).filter(|class| !class.name.is_empty());
        // A constructor is called by the class's name itself.
        let class = class.filter(|class| class.id != function.id);
        let name = class.map(|class| format!("{}.{}", class.name, function.name));
        if self.methods.len() >= MOST.0 {
            self.methods.clear();
        }
        self.methods.insert(function.id, name);
    }

    /// A function's name, with its class where that is known.
    pub(super) fn name<'a>(&'a self, function: &'a Function) -> &'a str {
        match self.methods.get(&function.id) {
            Some(Some(name)) => name,
            _ if function.name.is_empty() => "(anonymous)",
            _ => &function.name,
        }
    }

    /// The place in the source of a bytecode of a function.
    pub(super) fn place(
        &mut self,
        heap: Heap,
        function: &Function,
        bytecodes: u64,
        offset: u64,
    ) -> Option<u32> {
        let key = (function.id, bytecodes, offset);
        if let Some(known) = self.places.get(&key) {
            return Some(*known);
        }
        let place = code::place(heap, bytecodes, offset)?;
        if self.places.len() >= MOST.0 {
            self.places.clear();
        }
        self.places.insert(key, place);
        Some(place)
    }

    /// The same of a function that compiled code of a number is of.
    pub(super) fn place_in_code(
        &mut self,
        heap: Heap,
        shared: u64,
        function: &Function,
        code: u64,
        bytecode: u64,
    ) -> Option<u32> {
        // Addresses of arrays are even.
        let key = (function.id, code << 1 | 1, bytecode);
        if let Some(known) = self.places.get(&key) {
            return Some(*known);
        }
        let place = code::place(heap, code::bytecodes(heap, shared)?, bytecode)?;
        if self.places.len() >= MOST.0 {
            self.places.clear();
        }
        self.places.insert(key, place);
        Some(place)
    }

    /// The function of a shared function info.
    pub(super) fn read(&mut self, heap: Heap, shared: u64) -> Result<Arc<Function>, MemoryError> {
        let mut bytes = vec![0; heap.layout.shared_size as usize];
        heap.process.read(shared, &mut bytes)?;
        if let Some((same, function)) = self.known.get(&shared)
            && *same == bytes
        {
            return Ok(Arc::clone(function));
        }
        if heap.kind(shared)? != heap.layout.types.shared {
            return Err(MemoryError::Unlikely("a function"));
        }
        let (name, start) = name_and_start(heap, word(&bytes, heap.layout.shared_name))?;
        let script = word(&bytes, heap.layout.shared_script);
        let at = object(script).ok_or(MemoryError::Unlikely("a function's script"))?;
        let script = match heap.kind(at)? {
            kind if kind == heap.layout.types.oddball => None,
            kind if kind == heap.layout.types.script => Some(self.script(heap, at)?),
            // While it is debugged, its script is behind this.
            _ => return Err(MemoryError::Unlikely("a function's script")),
        };
        // It changes with the code that it gets: what is known of it stays true.
        let before = self.known.get(&shared).map(|(_, before)| before).filter(|before| {
            let of = |script: &Option<Arc<Script>>| script.as_ref().map(Arc::as_ptr);
            before.name == name && before.start == start && of(&before.script) == of(&script)
        });
        let id = before.map_or(self.count + 1, |before| before.id);
        self.count = self.count.max(id);
        let function = Arc::new(Function { id, name, script, start });
        if self.known.len() >= MOST.0 {
            self.known.clear();
        }
        self.known.insert(shared, (bytes, Arc::clone(&function)));
        Ok(function)
    }

    /// A script.
    fn script(&mut self, heap: Heap, address: u64) -> Result<Arc<Script>, MemoryError> {
        let fields = &heap.layout.script;
        let mut bytes = vec![0; fields.line_offset as usize + 8];
        heap.process.read(address, &mut bytes)?;
        if let Some((same, script)) = self.scripts.get(&address)
            && *same == bytes
        {
            return Ok(Arc::clone(script));
        }
        // Texts of `eval` have no name.
        let file = heap.text(word(&bytes, fields.name), Frames::TEXT as u64).unwrap_or_default();
        let ends =
            heap.characters(word(&bytes, fields.source), u64::MAX).map_or(Vec::new(), |text| ends(&text));
        let ends = if ends.len() > LINES { Vec::new() } else { ends };
        self.lines += ends.len();
        if self.lines > LINES || self.scripts.len() >= MOST.1 {
            self.scripts.clear();
            self.known.clear();
            self.objects.clear();
            self.lines = ends.len();
        }
        let before = smi(word(&bytes, fields.line_offset)).and_then(|lines| u32::try_from(lines).ok());
        let script = Arc::new(Script { file: path(&file), ends, before: before.unwrap_or_default() });
        self.scripts.insert(address, (bytes, Arc::clone(&script)));
        Ok(script)
    }
}

/// The word of 8 bytes at an offset.
fn word(bytes: &[u8], offset: u64) -> u64 {
    let bytes = bytes.get(offset as usize..).and_then(|rest| rest.first_chunk());
    bytes.map_or(0, |word| u64::from_ne_bytes(*word))
}

/// A function's name and start out of what its shared function info has: a scope info, or only the name.
fn name_and_start(heap: Heap, word: u64) -> Result<(String, Option<u32>), MemoryError> {
    // kNoSharedNameSentinel of src/objects/shared-function-info.h.
    let Some(address) = object(word) else { return Ok((String::new(), None)) };
    let kind = heap.kind(address)?;
    if heap.is_string(kind) {
        return Ok((heap.text(word, Frames::TEXT as u64)?, None));
    }
    if kind != heap.layout.types.scope {
        return Err(MemoryError::Unlikely("a function's name"));
    }
    scope(heap, address)
}

/// The same out of a scope info (src/objects/scope-info.tq): flags, counts, the names and properties of variables, then what the
/// flags say there is.
fn scope(heap: Heap, address: u64) -> Result<(String, Option<u32>), MemoryError> {
    const WHAT: &str = "a scope";
    let slot = |at: u64| match at < SCOPE.0 {
        true => heap.process.u64(address + 8 + at * 8),
        false => Err(MemoryError::Unlikely(WHAT)),
    };
    let first = heap.layout.scope_first as u64;
    let flags = match smi(slot(0)?) {
        // A small integer until V8 12, then a plain number whose upper half is padding.
        Some(flags) if heap.layout.version.0 < 13 => flags as u32,
        _ => slot(0)? as u32,
    };
    let locals = smi(slot(heap.layout.scope_locals as u64)?).and_then(|count| u64::try_from(count).ok());
    let locals = locals.ok_or(MemoryError::Unlikely(WHAT))?;
    let early = first >= 5;
    // ScopeType of a module: src/objects/scope-info.tq; only its own code has it.
    let module = flags & 0xf == if early { 5 } else { 3 };
    let names = if locals < SCOPE.1 as u64 { locals } else { 1 };
    let mut at = first + u64::from(module) + names + locals;
    let has = |bit: u32| flags >> bit & 1 != 0;
    at += u64::from(has(10));
    let mut name = String::new();
    if flags >> 12 & 3 != 0 {
        name = text_or_nothing(heap, slot(at)?);
        at += 2;
    }
    if has(14) {
        if name.is_empty() {
            name = text_or_nothing(heap, slot(at)?);
        }
        at += 1;
    }
    let at = if early { 3 } else { at };
    let start = match (smi(slot(at)?), smi(slot(at + 1)?)) {
        (Some(start), Some(end)) if 0 <= start && start <= end => u32::try_from(start).ok(),
        _ => None,
    };
    Ok((name, start))
}

/// A string's text, nothing where it is none.
fn text_or_nothing(heap: Heap, word: u64) -> String {
    heap.text(word, Frames::TEXT as u64).unwrap_or_default()
}

/// Where lines end: at the line terminators of ECMAScript, `\r\n` being one; and at the end of the text.
fn ends(text: &Characters) -> Vec<u32> {
    fn of<T: Copy + Into<u32>>(all: &[T]) -> Vec<u32> {
        let next_is = |at: usize, what: u32| all.get(at + 1).is_some_and(|next| (*next).into() == what);
        let ends = |at: usize| match all[at].into() {
            0xa | 0x2028 | 0x2029 => true,
            0xd => !next_is(at, 0xa),
            _ => false,
        };
        (0..all.len()).filter(|at| ends(*at)).chain([all.len()]).map(|at| at as u32).collect()
    }
    match text {
        Characters::One(bytes) => of(bytes),
        Characters::Two(units) => of(units),
    }
}

/// The path of a file that is named by its address: modules are, `file:///srv/a%20b.mjs`.
fn path(name: &str) -> String {
    let Some(rest) = name.strip_prefix("file://") else { return name.to_string() };
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.as_bytes();
    while let Some((first, others)) = left.split_first() {
        let hex = others.get(..2).filter(|_| *first == b'%');
        let code = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        left = &others[if code.is_some() { 2 } else { 0 }..];
    }
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_the_language_does() {
        let script = |text: &str| {
            let units: Vec<u16> = text.encode_utf16().collect();
            Script { file: String::new(), ends: ends(&Characters::Two(units)), before: 10 }
        };
        let lines = |text: &str| {
            let script = script(text);
            (0..text.encode_utf16().count() as u32).map(|at| script.line(at) - 10).collect::<Vec<_>>()
        };
        assert_eq!(lines("a\nb\r\nc\rd\u{2028}e"), [1, 1, 2, 2, 2, 3, 3, 4, 4, 5]);
        assert_eq!(script("").line(0), 11);
    }

    #[test]
    fn addresses_of_files_are_paths() {
        assert_eq!(path("/srv/a%20b.js"), "/srv/a%20b.js");
        assert_eq!(path("node:internal/timers"), "node:internal/timers");
        assert_eq!(path("file:///srv/a%20b.mjs"), "/srv/a b.mjs");
        assert_eq!(path("file:///srv/%zz%"), "/srv/%zz%");
    }
}
