//! PHP 8.0 to 8.4, built without threads (NTS): the chain of `zend_execute_data` from `executor_globals` on.
//!
//! The line is that of `zend_execute_data.opline`. The interpreter holds the instruction in a register and stores it before it
//! calls or may throw: of a frame that called or waits it is right, of one that computes it is that of the last such instruction.

use super::{Callers, Detected, FrameList, LanguageRuntime, ListedFrames, RuntimeKind};
use crate::frames::{FrameId, Frames};
use crate::image::Image;
use crate::process::{MemoryError, Process};
use std::collections::HashMap;
use std::ops::Range;

pub(super) const KIND: RuntimeKind =
    RuntimeKind { name: "PHP", versions: "8.0 to 8.4, not thread-safe (NTS)", detect };

/// `zend_executor_globals.current_execute_data` (Zend/zend_globals.h of 8.0 to 8.4, 64 bits).
const CURRENT_EXECUTE_DATA: u64 = 488;
/// `zend_execute_data` (Zend/zend_compile.h, the same from 8.0 to 8.4): opline, func, prev_execute_data, and what of it is read.
const EXECUTE_DATA: (usize, usize, usize, usize) = (0, 24, 48, 56);
/// The part that `zend_op_array` and `zend_internal_function` share: type, function_name, scope (Zend/zend_compile.h).
const FUNCTION: (usize, usize, usize) = (0, 8, 16);
/// What is read of a `zend_internal_function`, all of the shared part that is used.
const FUNCTION_SIZE: usize = 24;
/// `zend_op.lineno`, a word of 4 bytes (Zend/zend_compile.h).
const OP_LINE: u64 = 24;
/// `zend_class_entry.name` (Zend/zend.h).
const CLASS_NAME: u64 = 8;
/// `zend_string`: its hash, its length (Zend/zend_types.h), then the text.
const STRING: (usize, usize, usize) = (8, 16, 24);
/// `ZEND_INTERNAL_FUNCTION`, `ZEND_USER_FUNCTION`, `ZEND_EVAL_CODE` (Zend/zend_compile.h).
const INTERNAL: u8 = 1;
const USER: u8 = 2;
const EVAL: u8 = 4;

/// Functions whose names are kept; when there are more, all are forgotten.
const KNOWN: usize = 1 << 12;
/// Lines kept of one function.
const LINES: usize = 1 << 10;
/// Frames of a stack, and links followed to find them.
const FRAMES: usize = 256;
const LINKS: usize = 2 * FRAMES;

/// `zend_op_array.filename` (Zend/zend_compile.h of each version); `line_start` and `line_end` follow it.
/// 8.2 by its headers, the others as the profiler of OpenTelemetry has them (interpreter/php/php.go, 7.3 to 8.4).
fn file_name_at(minor: u32) -> Option<usize> {
    match minor {
        0 | 1 | 3 => Some(144),
        2 => Some(152),
        4 => Some(168),
        _ => None,
    }
}

fn detect(process: &Process) -> Detected {
    let is_php = |name: &str| ["php", "libphp", "lsphp", "frankenphp"].iter().any(|it| name.starts_with(it));
    let code = process.mappings().iter().filter(|it| it.executable && it.file.is_some() && is_php(it.name()));
    for mapping in code {
        let Ok(image) = Image::open(process, mapping) else { continue };
        let names = ["executor_globals", "executor_globals_offset"];
        let Ok(found) = image.symbols(&names) else { continue };
        let [globals, with_threads] = found[..] else { continue };
        let version = version_of(&image);
        let called = version.as_ref().map_or("PHP".to_string(), |(_, text)| format!("PHP {text}"));
        if with_threads.is_some() {
            return Detected::Unknown(format!("{called}: it is built thread-safe (ZTS)"));
        }
        let Some(globals) = globals else { continue };
        let Some(file_name) = version.and_then(|(minor, _)| file_name_at(minor)) else {
            return Detected::Unknown(format!("{called}: its layout is not known"));
        };
        let mut code = image.ranges(&|name| name == "execute_ex").unwrap_or_default();
        // The JIT compiler's code lies in memory shared by all workers.
        let shared = process.mappings().iter().filter(|it| it.executable && &*it.path == "/dev/zero");
        code.extend(shared.map(|it| it.start..it.end));
        let current = globals.wrapping_add(CURRENT_EXECUTE_DATA);
        return Detected::Found(Box::new(Php {
            version: called,
            current,
            file_name,
            code,
            known: HashMap::new(),
        }));
    }
    Detected::Absent
}

/// The minor version of PHP 8 and the whole version, by the header that it answers with: `X-Powered-By: PHP/8.2.29`.
fn version_of(image: &Image) -> Option<(u32, String)> {
    const HEADER: &[u8] = b"X-Powered-By: PHP/";
    let (_, data) = image.section(".rodata").ok()??;
    let at = data.windows(HEADER.len()).position(|it| it == HEADER)? + HEADER.len();
    let rest = &data[at..data.len().min(at + 32)];
    let text = std::str::from_utf8(&rest[..rest.iter().position(|byte| *byte == 0)?]).ok()?;
    let minor = match text.split('.').collect::<Vec<_>>()[..] {
        ["8", minor, _] => minor.parse().ok()?,
        _ => u32::MAX,
    };
    Some((minor, text.to_string()))
}

/// A function as it was read.
struct Known {
    /// The parts of it that told its name.
    told_by: Parts,
    function: Box<str>,
    file: Box<str>,
    /// Hash of the file's name.
    file_hash: u64,
    /// Lines of instructions, by address.
    lines: HashMap<u64, u32>,
}

/// What was found unchanged in the stack that is being read: functions, and names of files with their hashes.
#[derive(Default)]
struct Seen {
    functions: Vec<u64>,
    files: Vec<(u64, u64)>,
}

/// A part of PHP's stack: callers lie below those whom they call, mostly near.
#[derive(Default)]
struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    const SIZE: u64 = 4096;

    /// The bytes of a `zend_execute_data`.
    fn execute_data(&mut self, process: &Process, address: u64) -> Result<[u8; EXECUTE_DATA.3], MemoryError> {
        let length = EXECUTE_DATA.3 as u64;
        let end = address.saturating_add(length);
        if address < self.start || end > self.start + self.bytes.len() as u64 {
            let mut bytes = vec![0; Window::SIZE as usize];
            let start = end.saturating_sub(Window::SIZE);
            if process.read(start, &mut bytes).is_err() {
                return process.array(address);
            }
            *self = Window { start, bytes };
        }
        let at = (address - self.start) as usize;
        let bytes = self.bytes.get(at..at + EXECUTE_DATA.3).and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or(MemoryError::Unreadable(address))
    }
}

/// Where the parts of a function's name are, and its lines.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Parts {
    kind: u8,
    name: u64,
    scope: u64,
    file: u64,
    lines: (u32, u32),
}

struct Php {
    version: String,
    /// Address of `executor_globals.current_execute_data`.
    current: u64,
    /// Offset of `zend_op_array.filename`.
    file_name: usize,
    /// The interpreter's code, and that of the JIT compiler.
    code: Vec<Range<u64>>,
    known: HashMap<u64, Known>,
}

impl LanguageRuntime for Php {
    fn language(&self) -> &'static str {
        "php"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn evaluates(&self, ip: u64) -> bool {
        self.code.iter().any(|range| range.contains(&ip))
    }

    fn thread(
        &mut self,
        process: &Process,
        tid: u32,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), MemoryError> {
        // Without threads of its own, PHP runs where the process began.
        if tid != process.pid() {
            return Ok(());
        }
        if self.known.len() > KNOWN {
            self.known.clear();
        }
        let mut seen = Seen::default();
        let mut window = Window::default();
        let mut data = process.u64(self.current)?;
        let mut pushed = 0;
        for _ in 0..LINKS {
            if data == 0 || pushed == FRAMES {
                break;
            }
            let bytes = window.execute_data(process, aligned(data)?)?;
            if let Some(id) = self.of_data(process, &bytes, frames, &mut seen)? {
                stack.push(id);
                pushed += 1;
            }
            data = word(&bytes, EXECUTE_DATA.2);
        }
        Ok(())
    }

    fn frame_list(&mut self, process: &Process, tid: u32) -> Option<FrameList> {
        let (callers, bytes) = (Callers::Pointer(EXECUTE_DATA.2 as u32), EXECUTE_DATA.3 as u32);
        let words = FrameList::words(&[EXECUTE_DATA.0, EXECUTE_DATA.1]);
        let list =
            FrameList { head: self.current, through: None, callers, index: None, bytes, beside: None, words };
        (tid == process.pid()).then_some(list)?.checked()
    }

    fn listed(
        &mut self,
        process: &Process,
        listed: ListedFrames<'_>,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), MemoryError> {
        if self.known.len() > KNOWN {
            self.known.clear();
        }
        let mut seen = Seen::default();
        for bytes in listed.each() {
            stack.extend(self.of_data(process, bytes, frames, &mut seen)?);
        }
        listed.ended()
    }
}

impl Php {
    /// The frame of a `zend_execute_data`. Without a function it only links: generators, and calls out of PHP's own code.
    fn of_data(
        &mut self,
        process: &Process,
        data: &[u8],
        frames: &mut Frames,
        seen: &mut Seen,
    ) -> Result<Option<FrameId>, MemoryError> {
        match word(data, EXECUTE_DATA.1) {
            0 => Ok(None),
            function => self.frame(process, function, word(data, EXECUTE_DATA.0), frames, seen),
        }
    }

    /// The frame of a function at an instruction; `None` for those without a name.
    fn frame(
        &mut self,
        process: &Process,
        function: u64,
        opline: u64,
        frames: &mut Frames,
        seen: &mut Seen,
    ) -> Result<Option<FrameId>, MemoryError> {
        if !seen.functions.contains(&function) {
            let parts = self.parts(process, aligned(function)?)?;
            if !self.is_known(process, function, parts, seen)? {
                let known = named(process, parts)?;
                self.known.insert(function, known);
            }
            seen.functions.push(function);
        }
        let Some(known) = self.known.get_mut(&function) else { return Ok(None) };
        let parts = known.told_by;
        if parts.kind == INTERNAL && parts.name == 0 {
            return Ok(None);
        }
        let line = match (parts.kind, known.lines.get(&opline)) {
            (INTERNAL, _) => 0,
            (_, Some(line)) => *line,
            (_, None) => {
                let line = process.u32(aligned(opline)?.wrapping_add(OP_LINE))?;
                // Else an instruction of another function was read: the frame changed meanwhile.
                let is_inside = (parts.lines.0..=parts.lines.1).contains(&line);
                if is_inside && known.lines.len() < LINES {
                    known.lines.insert(opline, line);
                }
                if is_inside { line } else { 0 }
            }
        };
        Ok(frames.id(&known.function, &known.file, line))
    }

    /// True where the function that is known at an address is still the same.
    fn is_known(
        &self,
        process: &Process,
        function: u64,
        parts: Parts,
        seen: &mut Seen,
    ) -> Result<bool, MemoryError> {
        let Some(known) = self.known.get(&function).filter(|known| known.told_by == parts) else {
            return Ok(false);
        };
        let file = (parts.file, known.file_hash);
        if parts.file == 0 || seen.files.contains(&file) {
            return Ok(true);
        }
        let hash = process.u64(aligned(parts.file)?.wrapping_add(STRING.0 as u64))?;
        let is_same = hash != 0 && hash == known.file_hash;
        if is_same {
            seen.files.push(file);
        }
        Ok(is_same)
    }

    fn parts(&self, process: &Process, function: u64) -> Result<Parts, MemoryError> {
        let mut bytes = [0; 184];
        let whole = self.file_name + 16;
        // Those of PHP itself are shorter, and may lie at the end of what is mapped.
        if process.read(function, &mut bytes[..whole]).is_err() {
            process.read(function, &mut bytes[..FUNCTION_SIZE])?;
            if bytes[FUNCTION.0] != INTERNAL {
                return Err(MemoryError::Unreadable(function));
            }
        }
        let kind = bytes[FUNCTION.0];
        if !matches!(kind, INTERNAL | USER | EVAL) {
            return Err(MemoryError::Unlikely("the kind of a function"));
        }
        let [name, scope] = [FUNCTION.1, FUNCTION.2].map(|at| word(&bytes, at));
        if kind == INTERNAL {
            return Ok(Parts { kind, name, scope, file: 0, lines: (0, 0) });
        }
        let lines = word(&bytes, self.file_name + 8);
        Ok(Parts {
            kind,
            name,
            scope,
            file: word(&bytes, self.file_name),
            lines: (lines as u32, (lines >> 32) as u32),
        })
    }
}

/// The names of a function.
fn named(process: &Process, parts: Parts) -> Result<Known, MemoryError> {
    let mut function = String::new();
    if parts.scope != 0 && parts.name != 0 {
        let class = process.u64(aligned(parts.scope)?.wrapping_add(CLASS_NAME))?;
        let (class, _) = string(process, class)?;
        // Behind a zero byte classes without a name have what makes them different.
        function.push_str(class.split('\0').next().unwrap_or_default());
        function.push_str("::");
    }
    function.push_str(match (parts.name, parts.kind) {
        (0, EVAL) => "eval",
        (0, _) => "main",
        _ => "",
    });
    if parts.name != 0 {
        let name = string(process, parts.name)?.0;
        // The class has the namespace already.
        let inner = name.strip_suffix("\\{closure}").filter(|_| parts.scope != 0);
        function.push_str(inner.map_or(&name, |_| "{closure}"));
    }
    let (file, file_hash) = match parts.file {
        0 => Default::default(),
        file => string(process, file)?,
    };
    Ok(Known {
        told_by: parts,
        function: function.into(),
        file: file.into(),
        file_hash,
        lines: HashMap::new(),
    })
}

/// A `zend_string` and its hash.
fn string(process: &Process, address: u64) -> Result<(String, u64), MemoryError> {
    let head: [u8; STRING.2] = process.array(aligned(address)?)?;
    let (hash, length) = (word(&head, STRING.0), word(&head, STRING.1));
    if length == 0 {
        return Err(MemoryError::Unlikely("the length of a name"));
    }
    let text = process.text(address.wrapping_add(STRING.2 as u64), length, 1 << 12)?;
    Ok((text, hash))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let part = bytes.get(at..at + 8).and_then(|part| part.try_into().ok());
    part.map_or(0, u64::from_ne_bytes)
}

/// The address, where an object of PHP can be there.
fn aligned(address: u64) -> Result<u64, MemoryError> {
    match address != 0 && address.is_multiple_of(8) {
        true => Ok(address),
        false => Err(MemoryError::Unlikely("a pointer")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_memory_is_survived() {
        crate::runtimes::damage::survives(
            &[u64::from(INTERNAL), u64::from(USER), u64::from(EVAL)],
            |start| {
                let (version, file_name) = ("PHP".to_string(), 152);
                Box::new(Php { version, current: start, file_name, code: Vec::new(), known: HashMap::new() })
            },
        );
    }
}
