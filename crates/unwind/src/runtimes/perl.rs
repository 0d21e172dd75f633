//! Perl 5.30 to 5.40, built with threads as distributions do: the context stack of the interpreter that the program's first thread
//! runs. The line is that where the statement begins (`PL_curcop`, and `blk_oldcop` of callers). Other threads (`threads.pm`)
//! have interpreters of their own, which cannot be told from outside.

use super::{Callers, Detected, FrameList, LanguageRuntime, ListedFrames, RuntimeKind};
use crate::frames::{FrameId, Frames};
use crate::image::Image;
use crate::process::{MemoryError, Process};
use std::collections::HashMap;
use std::ops::Range;

pub(super) const KIND: RuntimeKind =
    RuntimeKind { name: "Perl", versions: "5.30 to 5.40 (with threads, first thread)", detect };

/// `PERL_SI` (cop.h): si_cxstack, si_prev, si_cxix, si_cxmax; si_type behind them moved.
const STACK: (usize, usize, usize, usize) = (0x08, 0x10, 0x20, 0x24);
/// `PERLSI_MAIN` (cop.h).
const MAIN: u32 = 1;
/// `PERL_CONTEXT` (cop.h): blku_type, blku_oldcop.
const CONTEXT: (usize, usize) = (0, 0x10);
/// Of `blku_type` (cop.h): `CXTYPEMASK`, `CXt_SUB`, `CXt_FORMAT`, `CXt_EVAL`; flags `CXp_SUB_RE_FAKE`, `CXp_TRYBLOCK`.
const TYPE: u8 = 0xf;
const SUB: u8 = 9;
const FORMAT: u8 = 10;
const EVAL: u8 = 11;
const FAKE: u8 = 0x80;
const BLOCK: u8 = 0x40;
/// `struct cop` (cop.h, op.h): op_ppaddr, cop_line, cop_file.
const COP: (usize, usize, usize, usize) = (0x10, 0x24, 0x30, 0x38);
/// `SV` (sv.h): sv_any, sv_flags, sv_u; types `SVt_PVGV`, `SVt_PVHV`, `SVt_PVCV`; `SVpgv_GP`.
const SV: (usize, usize, usize, usize) = (0, 0xc, 0x10, 0x18);
const GLOB: u32 = 9;
const HASH: u32 = 12;
const CODE: u32 = 13;
const WITH_GP: u32 = 0x8000;
/// `XPVCV` (cv.h): xcv_stash, xcv_start_u, xcv_gv_u, xcv_flags; `CVf_NAMED`.
const CV: (usize, usize, usize, usize, usize) = (0x20, 0x28, 0x38, 0x5c, 0x60);
const NAMED: u32 = 0x8000;
/// `XPVGV` (sv.h): xiv_u (the name), xnv_u (the stash). `struct gp` (gv.h): gp_egv.
const GV: (u64, u64) = (0x20, 0x28);
const EFFECTIVE: u64 = 0x38;
/// `XPVHV` (hv.h): xhv_max, its size. `struct xpvhv_aux` (hv.h): xhv_name_u, xhv_name_count.
const HV: (u64, u64) = (0x18, 0x20);
const AUX: (usize, usize, usize) = (0, 0x1c, 0x20);
/// Size of `struct interpreter` at most, as far as `PL_compiling` lies in it (intrpvar.h).
const INTERPRETER: u64 = 0x1000;

/// Functions that are kept; when there are more, all are forgotten.
const KNOWN: usize = 1 << 12;
/// Frames of a stack; contexts read at once; stacks of contexts looked at.
const FRAMES: usize = 256;
const CONTEXTS: u64 = 512;
const STACKS: usize = 64;

/// What differs between versions: 5.36 by its headers, the others as the profiler of OpenTelemetry has them
/// (interpreter/perl/data.go, 5.28 to 5.40). Each process is checked when its interpreter is found.
#[derive(Clone, Copy)]
struct Layout {
    /// `struct interpreter`: Icurcop, Icurstackinfo (intrpvar.h).
    current: (u64, u64),
    /// `PERL_SI.si_type`.
    stack_type: usize,
    /// `PERL_CONTEXT`: blk_sub.cv, size.
    context: (usize, usize),
    /// Since 5.36 what names a hash lies behind its body, before behind its array (`xpvhv_with_aux` of hv.h).
    aux_in_body: bool,
}

fn layout_of(minor: u8) -> Option<Layout> {
    let v30 = Layout { current: (0xe0, 0xf0), stack_type: 0x28, context: (0x40, 0x60), aux_in_body: false };
    let v32 = Layout { stack_type: 0x2c, context: (0x48, 0x68), ..v30 };
    let v34 = Layout { current: (0xd0, 0xe0), ..v32 };
    match minor {
        30 => Some(v30),
        32 => Some(v32),
        34 => Some(v34),
        36 | 38 | 40 => Some(Layout { aux_in_body: true, ..v34 }),
        _ => None,
    }
}

fn detect(process: &Process) -> Detected {
    let is_perl = |name: &str| name.starts_with("libperl") || name.starts_with("perl");
    let code =
        process.mappings().iter().filter(|it| it.executable && it.file.is_some() && is_perl(it.name()));
    for mapping in code {
        let Ok(image) = Image::open(process, mapping) else { continue };
        let names = ["PL_version", "PL_subversion", "PL_curinterp", "PL_thr_key"];
        let Ok(found) = image.symbols(&names) else { continue };
        let [Some(minor), Some(patch), interpreter, key] = found[..] else { continue };
        let (Ok(minor), Ok(patch)) = (process.u8(minor), process.u8(patch)) else { continue };
        let version = format!("Perl 5.{minor}.{patch}");
        let Some(layout) = layout_of(minor) else {
            return Detected::Unknown(format!("{version}: its layout is not known"));
        };
        let (Some(interpreter), Some(_)) = (interpreter, key) else {
            return Detected::Unknown(format!("{version}: it is built without threads"));
        };
        let program = std::fs::read_link(format!("/proc/{}/exe", process.pid())).unwrap_or_default();
        if !program.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"perl")) {
            return Detected::Unknown(format!("{version}: it is part of another program"));
        }
        let same = process.mappings().iter().filter(|it| it.executable && it.file == mapping.file);
        // What runs one operation after the other; what an operation does is inside of it.
        let runs = |name: &str| matches!(name, "Perl_runops_standard" | "Perl_runops_debug");
        let perl = Perl {
            version,
            interpreter,
            layout,
            evaluators: image.ranges(&runs).unwrap_or_default(),
            code: same.map(|it| it.start..it.end).collect(),
            known: HashMap::new(),
        };
        if process.u64(interpreter) == Ok(0) {
            return Detected::Absent;
        }
        // It may run meanwhile: one look that fits is enough.
        return match (0..8).map(|_| perl.is_likely(process)).any(|looked| looked.is_ok()) {
            true => Detected::Found(Box::new(perl)),
            false => Detected::Unknown(format!("{}: its memory is not laid out as expected", perl.version)),
        };
    }
    Detected::Absent
}

/// The parts of a function that tell whether it is the one that was read before.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Parts {
    body: u64,
    name: u64,
    stash: u64,
    start: u64,
    flags: u32,
}

struct Perl {
    version: String,
    /// Address of `PL_curinterp`.
    interpreter: u64,
    layout: Layout,
    /// The code of the interpreter.
    code: Vec<Range<u64>>,
    /// The code that runs Perl's operations; none where it has no names.
    evaluators: Vec<Range<u64>>,
    known: HashMap<u64, (Parts, Box<str>)>,
}

/// What was read for the stack that is being read, by address.
#[derive(Default)]
struct Seen {
    files: Vec<(u64, String)>,
    statements: Vec<(u64, [u8; COP.3])>,
    functions: Vec<u64>,
}

impl LanguageRuntime for Perl {
    fn language(&self) -> &'static str {
        "perl"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn evaluates(&self, ip: u64) -> bool {
        match self.evaluators.is_empty() {
            true => self.is_code(ip),
            false => self.evaluators.iter().any(|range| range.contains(&ip)),
        }
    }

    fn thread(
        &mut self,
        process: &Process,
        tid: u32,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), MemoryError> {
        if tid != process.pid() {
            return Ok(());
        }
        let interpreter = process.u64(self.interpreter)?;
        if interpreter == 0 {
            return Ok(());
        }
        if self.known.len() > KNOWN {
            self.known.clear();
        }
        let (cop, mut info) = self.current(process, interpreter)?;
        let most = stack.len() + FRAMES;
        let mut reading = Reading { interpreter, cop, seen: Seen::default(), most };
        for _ in 0..STACKS {
            let (contexts, kind, outer) = self.contexts(process, info)?;
            let innermost_first = contexts.rchunks_exact(self.layout.context.1);
            if !self.push(process, innermost_first, &mut reading, frames, stack)? {
                return Ok(());
            }
            if kind == MAIN || outer == 0 {
                return reading.push_main(process, frames, stack);
            }
            info = outer;
        }
        Ok(())
    }

    fn frame_list(&mut self, process: &Process, tid: u32) -> Option<FrameList> {
        let interpreter = process.u64(self.interpreter).ok().filter(|it| *it != 0)?;
        let (cop, info) = self.layout.current;
        let (function, size) = self.layout.context;
        let list = FrameList {
            head: interpreter.wrapping_add(info),
            through: Some(STACK.0 as u32),
            callers: Callers::Step(-(size as i32)),
            index: Some(STACK.2 as u32),
            bytes: function as u32 + 8,
            beside: Some(cop as i32 - info as i32),
            words: FrameList::words(&[CONTEXT.1, function]),
        };
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
        let interpreter = listed.head.wrapping_sub(self.layout.current.1);
        let cop = self.cop(process, interpreter, listed.beside)?;
        let most = stack.len() + FRAMES;
        let mut reading = Reading { interpreter, cop, seen: Seen::default(), most };
        let contexts = listed.each().map(|context| &context[..]);
        if !self.push(process, contexts, &mut reading, frames, stack)? {
            return Ok(());
        }
        // Inside of a sort, a tie or a handler: outer stacks of contexts were not copied.
        let kind = process.u32(aligned(listed.holder)?.wrapping_add(self.layout.stack_type as u64))?;
        if kind != MAIN || !listed.whole {
            return Err(MemoryError::Unlikely("the end of a list"));
        }
        reading.push_main(process, frames, stack)
    }
}

/// A stack that is being read.
struct Reading {
    interpreter: u64,
    /// The statement that runs in the next frame outwards.
    cop: [u8; COP.3],
    seen: Seen,
    /// Frames of the stack at most.
    most: usize,
}

impl Reading {
    /// Pushes the frame of the program's top level.
    fn push_main(
        &mut self,
        process: &Process,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), MemoryError> {
        let (file, line) = place(process, &mut self.seen, self.cop)?;
        stack.extend(frames.id("main", file, line).filter(|_| line != 0 && stack.len() < self.most));
        Ok(())
    }
}

impl Perl {
    /// Pushes the frames of contexts, innermost first; false where there is no room for more.
    fn push<'a>(
        &mut self,
        process: &Process,
        contexts: impl Iterator<Item = &'a [u8]>,
        reading: &mut Reading,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<bool, MemoryError> {
        for context in contexts {
            let seen = &mut reading.seen;
            let flags = context[CONTEXT.0];
            let name = match flags & TYPE {
                SUB | FORMAT if flags & FAKE == 0 => {
                    self.name(process, seen, word(context, self.layout.context.0))?
                }
                EVAL if flags & BLOCK == 0 => "(eval)",
                _ => continue,
            };
            let (file, line) = place(process, seen, reading.cop)?;
            let Some(id) = frames.id(name, file, line).filter(|_| stack.len() < reading.most) else {
                return Ok(false);
            };
            stack.push(id);
            let caller = word(context, CONTEXT.1);
            reading.cop = match seen.statements.iter().find(|(known, _)| *known == caller) {
                Some((_, cop)) => *cop,
                None => {
                    let cop = self.cop(process, reading.interpreter, caller)?;
                    seen.statements.push((caller, cop));
                    cop
                }
            };
        }
        Ok(true)
    }

    fn is_code(&self, ip: u64) -> bool {
        self.code.iter().any(|range| range.contains(&ip))
    }

    /// Reads what must be there whatever runs.
    fn is_likely(&self, process: &Process) -> Result<(), MemoryError> {
        let interpreter = process.u64(self.interpreter)?;
        let (cop, info) = self.current(process, interpreter)?;
        self.contexts(process, info)?;
        place(process, &mut Seen::default(), cop).map(|_| ())
    }

    /// `PL_curcop` and `PL_curstackinfo`.
    fn current(&self, process: &Process, interpreter: u64) -> Result<([u8; COP.3], u64), MemoryError> {
        let (cop, info) = self.layout.current;
        let bytes: [u8; 0x100] = process.array(aligned(interpreter)?)?;
        Ok((self.cop(process, interpreter, word(&bytes, cop as usize))?, word(&bytes, info as usize)))
    }

    /// The bytes of a statement: its instruction is one of Perl's, or it is `PL_compiling`, which has none.
    fn cop(&self, process: &Process, interpreter: u64, cop: u64) -> Result<[u8; COP.3], MemoryError> {
        let bytes = process.array(aligned(cop)?)?;
        let instruction = word(&bytes, COP.0);
        let is_own = instruction == 0 && cop.wrapping_sub(interpreter) < INTERPRETER;
        match is_own || self.is_code(instruction) {
            true => Ok(bytes),
            false => Err(MemoryError::Unlikely("a statement")),
        }
    }

    /// The bytes of the contexts of a stack, outermost first and at most the innermost ones; the kind of the stack; the outer one.
    fn contexts(&self, process: &Process, info: u64) -> Result<(Vec<u8>, u32, u64), MemoryError> {
        let head: [u8; 0x30] = process.array(aligned(info)?)?;
        let half = |at: usize| (word(&head, at & !7) >> (at % 8 * 8)) as u32;
        let (last, most) = (half(STACK.2) as i32, half(STACK.3) as i32);
        if last < -1 || last > most || most > 1 << 28 {
            return Err(MemoryError::Unlikely("the stack of contexts"));
        }
        let count = (i64::from(last) + 1) as u64;
        let (size, read) = (self.layout.context.1 as u64, count.min(CONTEXTS));
        let mut bytes = vec![0; (read * size) as usize];
        if read > 0 {
            let start = aligned(word(&head, STACK.0))?.wrapping_add((count - read) * size);
            process.read(start, &mut bytes)?;
        }
        // Of a longer one the outer stacks are not of interest.
        let outer = if count > read { 0 } else { word(&head, STACK.1) };
        Ok((bytes, half(self.layout.stack_type), outer))
    }

    /// `Package::sub` of a `CV`.
    fn name(&mut self, process: &Process, seen: &mut Seen, cv: u64) -> Result<&str, MemoryError> {
        if !seen.functions.contains(&cv) {
            self.learn(process, cv)?;
            seen.functions.push(cv);
        }
        self.known.get(&cv).map(|(_, name)| &**name).ok_or(MemoryError::Unlikely("a function"))
    }

    /// Reads a function, unless it is unchanged since it was read.
    fn learn(&mut self, process: &Process, cv: u64) -> Result<(), MemoryError> {
        let body = body_of(process, cv, CODE)?.0;
        let bytes: [u8; CV.4] = process.array(body)?;
        let parts = Parts {
            body,
            name: word(&bytes, CV.2),
            stash: word(&bytes, CV.0),
            start: word(&bytes, CV.1),
            flags: (word(&bytes, CV.3 - 4) >> 32) as u32,
        };
        if self.known.get(&cv).is_none_or(|(known, _)| *known != parts) {
            let name = self.name_of(process, parts)?.into();
            self.known.insert(cv, (parts, name));
        }
        Ok(())
    }

    fn name_of(&self, process: &Process, parts: Parts) -> Result<String, MemoryError> {
        if parts.flags & NAMED != 0 {
            return Ok(format!("{}::{}", self.package(process, parts.stash)?, key(process, parts.name)?));
        }
        let (_, flags, gp) = body_of(process, parts.name, GLOB)?;
        if flags & WITH_GP == 0 {
            return Err(MemoryError::Unlikely("the name of a function"));
        }
        // The glob that the function was defined for, where it goes by several names.
        let glob = match process.u64(aligned(gp)?.wrapping_add(EFFECTIVE))? {
            0 => parts.name,
            effective => effective,
        };
        let body = body_of(process, glob, GLOB)?.0;
        let (name, stash) = (process.u64(body + GV.0)?, process.u64(body + GV.1)?);
        Ok(format!("{}::{}", self.package(process, stash)?, key(process, name)?))
    }

    /// The name of a package by its `HV`.
    fn package(&self, process: &Process, stash: u64) -> Result<String, MemoryError> {
        let (body, _, array) = body_of(process, stash, HASH)?;
        let aux = match self.layout.aux_in_body {
            true => body + HV.1,
            false => {
                let last = process.u64(body + HV.0)?;
                aligned(array)?.wrapping_add(last.wrapping_add(1).wrapping_mul(8))
            }
        };
        let bytes: [u8; AUX.2] = process.array(aux)?;
        let name = word(&bytes, AUX.0);
        match (word(&bytes, AUX.1 - 4) >> 32) as u32 {
            0 => key(process, name),
            // It goes by several names: the first of the list is its own.
            _ => key(process, process.u64(aligned(name)?)?),
        }
    }
}

/// Where the body of a value is that has a type, its flags, and the word in its head.
fn body_of(process: &Process, value: u64, kind: u32) -> Result<(u64, u32, u64), MemoryError> {
    let head: [u8; SV.3] = process.array(aligned(value)?)?;
    let flags = (word(&head, SV.1 - 4) >> 32) as u32;
    match flags & 0xff == kind {
        true => Ok((aligned(word(&head, SV.0))?, flags, word(&head, SV.2))),
        false => Err(MemoryError::Unlikely("the type of a value")),
    }
}

/// The text of a `HEK` (hv.h): hash and length of 4 bytes each, then the text.
fn key(process: &Process, address: u64) -> Result<String, MemoryError> {
    let length = process.u64(aligned(address)?)? >> 32;
    if length == 0 || length > 1 << 10 {
        return Err(MemoryError::Unlikely("a name"));
    }
    let mut bytes = vec![0; length as usize];
    process.read(address + 8, &mut bytes)?;
    // Perl holds names of few letters beyond ASCII as Latin-1, and those of sources without `use utf8` as they are there.
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|it| it.as_bytes().iter().map(|byte| char::from(*byte)).collect()))
}

/// The file and line of a statement.
fn place<'a>(process: &Process, seen: &'a mut Seen, cop: [u8; COP.3]) -> Result<(&'a str, u32), MemoryError> {
    let (line, file) = ((word(&cop, COP.1 - 4) >> 32) as u32, word(&cop, COP.2));
    let files = &mut seen.files;
    let at = match files.iter().position(|(known, _)| *known == file) {
        Some(at) => at,
        None if file == 0 => return Ok(("", 0)),
        None => {
            files.push((file, process.c_text(file, 1 << 10)?));
            files.len() - 1
        }
    };
    Ok((files.get(at).map_or("", |(_, text)| text), line))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let part = bytes.get(at..at + 8).and_then(|part| part.try_into().ok());
    part.map_or(0, u64::from_ne_bytes)
}

/// The address, where a value of Perl can be there.
fn aligned(address: u64) -> Result<u64, MemoryError> {
    match address >= 0x1000 && address <= i64::MAX as u64 - 0x1000 && address.is_multiple_of(8) {
        true => Ok(address),
        false => Err(MemoryError::Unlikely("a pointer")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_memory_is_survived() {
        let types = [GLOB | WITH_GP, HASH, CODE].map(|kind| u64::from(kind) << 32);
        let marks = [&types[..], &[u64::from(SUB), u64::from(EVAL), 3 << 32 | 2]].concat();
        crate::runtimes::damage::survives(&marks, |start| {
            Box::new(Perl {
                version: "Perl".to_string(),
                interpreter: start,
                layout: layout_of(36).expect("known"),
                code: std::iter::once(0..u64::MAX).collect(),
                evaluators: Vec::new(),
                known: HashMap::new(),
            })
        });
    }
}
