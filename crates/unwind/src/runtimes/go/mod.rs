//! Go 1.20 to 1.26 on x86-64: frames on the stacks of goroutines that run or are in a system call, by the tables that the linker
//! puts into every program, stripped ones too. Layouts: `src/runtime/symtab.go`, `symtabinl.go` and `runtime2.go` of Go 1.20
//! and 1.26, which have the same.

mod parked;

use super::{Detected, LanguageRuntime, Registers, RuntimeKind, StackMemory};
use crate::frames::{FrameId, Frames};
use crate::image::Image;
use crate::native::{LiveStack, is_behind_call};
use crate::process::{MemoryError, Process};
use parked::{Goroutines, Parked};
use std::collections::HashMap;

pub(super) const KIND: RuntimeKind = RuntimeKind { name: "Go", versions: "1.20 to 1.26", detect };

/// `abi.Go120PCLnTabMagic`, two zero bytes, instructions of any length, pointers of 8 bytes.
const MAGIC: [u8; 8] = [0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8];
/// The last minor version whose layout is known.
const NEWEST: u32 = 26;

/// Offsets in `pcHeader`.
mod header {
    pub(super) const FUNCTIONS: u64 = 8;
    pub(super) const NAMES: u64 = 32;
    pub(super) const UNITS: u64 = 40;
    pub(super) const FILES: u64 = 48;
    pub(super) const VALUES: u64 = 56;
    pub(super) const TABLE: u64 = 64;
}

/// Offsets in `moduledata`.
mod module {
    pub(super) const NAMES: u64 = 8;
    pub(super) const TEXT: u64 = 176;
    pub(super) const TEXT_END: u64 = 184;
    pub(super) const GOFUNC: u64 = 320;
}

/// `abi.FuncFlagTopFrame` and `abi.FuncFlagSPWrite`.
const TOP: u8 = 1;
const OTHER_STACK: u8 = 2;
/// `abi.PCDATA_InlTreeIndex` and `abi.FUNCDATA_InlTree`.
const INLINED_INDEX: u32 = 2;
const INLINED_TREE: u32 = 3;

/// Bytes that are searched for the module's description.
const SEARCHED: u64 = 64 << 20;
/// Instructions whose frames are kept.
const KNOWN: usize = 1 << 15;
/// Functions inlined into each other.
const INLINED: usize = 32;
/// Bytes of one table of values; the largest functions have some ten thousand.
const VALUES: u64 = 1 << 18;
/// Bytes of a frame.
const FRAME: i32 = 64 << 20;

/// Where the tables are in the process.
struct Tables {
    text: u64,
    text_end: u64,
    functions: u64,
    names: u64,
    units: u64,
    files: u64,
    values: u64,
    table: u64,
    gofunc: u64,
}

/// What is at an instruction.
#[derive(Clone)]
struct Site {
    frames: Box<[FrameId]>,
    /// Bytes between the top of the stack and the return address.
    size: u64,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Usual,
    /// Nothing called it.
    First,
    /// It came from another stack.
    OtherStack,
}

struct Go {
    version: String,
    tables: Tables,
    known: HashMap<u64, Site>,
    /// Where a list of goroutines may be: data without contents.
    data: Vec<(u64, u64)>,
    goroutines: Option<Goroutines>,
    /// How often it was searched for.
    searched: u32,
}

/// Searches for the list of goroutines, of which each may come before `main` begins.
const SEARCHES: u32 = 6;

/// Frames of a parked goroutine.
const FRAMES: usize = 128;

/// The fields of a `_func` that are needed.
struct Function {
    at: u64,
    entry: u64,
    name: u64,
    sizes: u32,
    file_numbers: u32,
    lines: u32,
    value_tables: u32,
    unit: u32,
    flags: u8,
    data_tables: u32,
}

impl Tables {
    fn find(&self, process: &Process, ip: u64) -> Result<Function, MemoryError> {
        let within = ip.checked_sub(self.text).and_then(|within| u32::try_from(within).ok());
        let within = within.ok_or(MemoryError::Unlikely("an address of Go"))?;
        // Pairs of 4 bytes: where a function begins, and where it is told of.
        let (mut low, mut high) = (0, self.functions);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if process.u32(self.table + middle * 8)? <= within { low = middle } else { high = middle }
        }
        let at = self.table + u64::from(process.u32(self.table + low * 8 + 4)?);
        let bytes: [u8; 44] = process.array(at)?;
        let word =
            |nth: usize| bytes[nth * 4..].first_chunk::<4>().map_or(0, |word| u32::from_le_bytes(*word));
        let entry = self.text + u64::from(word(0));
        if entry > ip || word(7) > 64 {
            return Err(MemoryError::Unlikely("a function of Go"));
        }
        Ok(Function {
            at,
            entry,
            name: self.names + u64::from(word(1)),
            sizes: word(4),
            file_numbers: word(5),
            lines: word(6),
            value_tables: word(7),
            unit: word(8),
            flags: bytes[41],
            data_tables: u32::from(bytes[43]),
        })
    }

    /// The value of a table of a function at an instruction: pairs of differences of the value and the address, each of as many
    /// bytes as it takes.
    fn value(&self, process: &Process, table: u32, entry: u64, ip: u64) -> Result<i32, MemoryError> {
        const WRONG: MemoryError = MemoryError::Unlikely("a table of Go");
        let (mut value, mut pc) = (-1_i32, entry);
        let mut at = self.values + u64::from(table);
        let (mut piece, mut used, mut read) = ([0; 64], 64, 0);
        let mut number = || -> Result<u32, MemoryError> {
            let (mut number, mut shift) = (0_u32, 0);
            loop {
                if used == piece.len() {
                    if read > VALUES {
                        return Err(WRONG);
                    }
                    process.read(at, &mut piece)?;
                    at += piece.len() as u64;
                    read += piece.len() as u64;
                    used = 0;
                }
                let byte = piece[used];
                used += 1;
                number |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
                shift += 7;
                if byte & 0x80 == 0 {
                    return Ok(number);
                }
                if shift > 28 {
                    return Err(WRONG);
                }
            }
        };
        loop {
            let difference = number()?;
            if difference == 0 && pc != entry {
                return Err(WRONG);
            }
            // The lowest bit is the sign.
            value = value.wrapping_add((difference >> 1) as i32 ^ -((difference & 1) as i32));
            pc += u64::from(number()?);
            if ip < pc {
                return Ok(value);
            }
        }
    }

    /// The file and the line of an instruction.
    fn line(&self, process: &Process, function: &Function, ip: u64) -> Result<(String, u32), MemoryError> {
        let line = self.value(process, function.lines, function.entry, ip)?;
        let number = self.value(process, function.file_numbers, function.entry, ip)?;
        let Ok(number) = u64::try_from(number) else { return Ok((String::new(), 0)) };
        let offset = process.u32(self.units + (u64::from(function.unit) + number) * 4)?;
        if offset == u32::MAX {
            return Ok((String::new(), 0));
        }
        let file = process.c_text(self.files + u64::from(offset), Frames::TEXT)?;
        Ok((file, u32::try_from(line).unwrap_or(0)))
    }

    /// The number in the tree of inlined functions at an instruction, where it is of one.
    fn inlined(&self, process: &Process, function: &Function, ip: u64) -> Result<Option<u64>, MemoryError> {
        if function.value_tables <= INLINED_INDEX {
            return Ok(None);
        }
        let table = process.u32(function.at + 44 + u64::from(INLINED_INDEX) * 4)?;
        if table == 0 {
            return Ok(None);
        }
        Ok(u64::try_from(self.value(process, table, function.entry, ip)?).ok())
    }

    /// What is at an instruction: of functions that are inlined there, the innermost first.
    fn site(&self, process: &Process, ip: u64, frames: &mut Frames) -> Result<Site, MemoryError> {
        let function = self.find(process, ip)?;
        let tree = match function.data_tables > INLINED_TREE {
            true => {
                let data = function.at + 44 + u64::from(function.value_tables + INLINED_TREE) * 4;
                Some(process.u32(data)?).filter(|offset| *offset != u32::MAX)
            }
            false => None,
        };
        let mut found = Vec::new();
        let mut at = ip;
        if let Some(tree) = tree {
            while let Some(nth) = self.inlined(process, &function, at)? {
                if found.len() >= INLINED {
                    return Err(MemoryError::Unlikely("a tree of inlined functions of Go"));
                }
                // `inlinedCall`: what it is, its name, where it was called in this function, its first line.
                let call = self.gofunc + u64::from(tree) + nth * 16;
                let name = self.name(process, self.names + u64::from(process.u32(call + 4)?))?;
                let (file, line) = self.line(process, &function, at)?;
                found.extend(frames.id(&name, &file, line));
                at = function.entry + u64::from(process.u32(call + 8)?);
            }
        }
        let name = self.name(process, function.name)?;
        let (file, line) = self.line(process, &function, at)?;
        found.extend(frames.id(&name, &file, line));
        let size = self.value(process, function.sizes, function.entry, ip)?;
        if !(0..=FRAME).contains(&size) || size % 8 != 0 {
            return Err(MemoryError::Unlikely("a frame of Go"));
        }
        let kind = match &*name {
            // The scheduler's own stack begins there each time.
            "runtime.mcall" => Kind::First,
            _ if function.flags & TOP != 0 => Kind::First,
            _ if function.flags & OTHER_STACK != 0 => Kind::OtherStack,
            _ => Kind::Usual,
        };
        Ok(Site { frames: found.into(), size: size as u64, kind })
    }

    /// A name; dots in the last part of a package's path are written as `%2e`.
    fn name(&self, process: &Process, at: u64) -> Result<String, MemoryError> {
        Ok(process.c_text(at, Frames::TEXT)?.replace("%2e", "."))
    }
}

impl Go {
    /// The frames of a goroutine that is parked; false where it is one of the runtime's own.
    ///
    /// # Errors
    /// Where its stack is not as it should be.
    fn of_parked(
        &mut self,
        process: &Process,
        parked: &Parked,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<bool, MemoryError> {
        let memory = LiveStack::new(process);
        let mut registers = parked.registers;
        // Where the frames of a function begin.
        let mut last = 0;
        for _ in 0..FRAMES {
            let before = last;
            last = stack.len();
            match self.step(process, &registers, &memory, frames, stack)? {
                Some(caller) if caller.ip == 0 => {
                    let begins = stack.get(before..last).and_then(|of| frames.get(*of.last()?));
                    return Ok(!begins.is_some_and(|begins| is_of_runtime(&begins.function)));
                }
                Some(caller) => registers = caller,
                None => return Err(MemoryError::Unlikely("the stack of a goroutine")),
            }
        }
        Ok(true)
    }
}

/// True for the function that a goroutine of the runtime's own begins with.
fn is_of_runtime(function: &str) -> bool {
    function.starts_with("runtime.") && function != "runtime.main"
}

impl LanguageRuntime for Go {
    fn language(&self) -> &'static str {
        "go"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn parked(
        &mut self,
        process: &Process,
        (from, most): (u64, usize),
        frames: &mut Frames,
        take: &mut dyn FnMut(u64, &[FrameId]),
    ) -> Result<u64, MemoryError> {
        if self.goroutines.is_none() && self.searched < SEARCHES {
            self.searched += 1;
            self.goroutines = Goroutines::find(process, &self.data);
        }
        let Some(goroutines) = self.goroutines else { return Ok(0) };
        let (all, addresses) = goroutines.addresses(process, from, most)?;
        let mut stack = Vec::new();
        for at in addresses {
            let Ok(Some(parked)) = goroutines.parked(process, at) else { continue };
            stack.clear();
            // One whose stack is moved meanwhile is left out.
            if self.of_parked(process, &parked, frames, &mut stack) == Ok(true)
                && goroutines.is_still(process, &parked)
            {
                take(parked.number, &stack);
            }
        }
        Ok(all)
    }

    fn step(
        &mut self,
        process: &Process,
        registers: &Registers,
        memory: &dyn StackMemory,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<Option<Registers>, MemoryError> {
        let Registers { ip, sp, .. } = *registers;
        if !(self.tables.text..self.tables.text_end).contains(&ip) {
            return Ok(None);
        }
        if !self.known.contains_key(&ip) {
            if self.known.len() >= KNOWN {
                self.known.clear();
            }
            let inside = ip - u64::from(is_behind_call(process, ip));
            let site = self.tables.site(process, inside, frames)?;
            self.known.insert(ip, site);
        }
        let Some(site) = self.known.get(&ip) else { return Ok(None) };
        stack.extend_from_slice(&site.frames);
        match site.kind {
            Kind::First => return Ok(Some(Registers { ip: 0, sp, bp: 0, leaf: None })),
            Kind::OtherStack => return Err(MemoryError::Unlikely("a stack that Go came from")),
            Kind::Usual => {}
        }
        let at = sp.checked_add(site.size).ok_or(MemoryError::Unlikely("a frame of Go"))?;
        let ip = memory.word(at)?;
        // A function that has a frame has saved the frame pointer at its end.
        let bp = if site.size >= 8 { memory.word(at - 8)? } else { registers.bp };
        Ok(Some(Registers { ip, sp: at.saturating_add(8), bp, leaf: None }))
    }
}

/// Looks for the tables of Go in the program that runs.
fn detect(process: &Process) -> Detected {
    let program = process.mappings().iter().find(|mapping| mapping.executable && mapping.file.is_some());
    let Some(Ok(image)) = program.map(|mapping| Image::open(process, mapping)) else {
        return Detected::Absent;
    };
    let address = |name| image.section_range(name).ok().flatten();
    let Some((build, _)) = address(".go.buildinfo") else { return Detected::Absent };
    let version = match version(process, build) {
        Ok(version) => version,
        Err(_) => return Detected::Unknown("its version cannot be read".to_owned()),
    };
    // `go1.26.8`, `go1.21.0 X:boringcrypto`
    let minor = version.strip_prefix("go1.").and_then(|rest| {
        let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
        digits.parse::<u32>().ok()
    });
    match minor {
        Some(20..=NEWEST) => {}
        _ => return Detected::Unknown(format!("the layout of {version} is not known")),
    }
    let Some((table, _)) = address(".gopclntab").or_else(|| address(".data.rel.ro.gopclntab")) else {
        return Detected::Unknown("it has no table of functions".to_owned());
    };
    let parts = [".go.module", ".noptrdata", ".data", ".data.rel.ro"];
    let parts: Vec<(u64, u64)> = parts.iter().filter_map(|name| address(name)).collect();
    match tables(process, table, &parts) {
        Ok(tables) => {
            let version = format!("Go {}", version.trim_start_matches("go"));
            let data = [".bss", ".noptrbss"].iter().filter_map(|name| address(name)).collect();
            Detected::Found(Box::new(Go {
                version,
                tables,
                known: HashMap::new(),
                data,
                goroutines: None,
                searched: 0,
            }))
        }
        Err(error) => Detected::Unknown(format!("its tables cannot be read: {error}")),
    }
}

/// The version, out of the section that `debug/buildinfo` reads: a magic text of 14 bytes, the size of pointers, flags, and from
/// byte 32 on a length and the text.
fn version(process: &Process, at: u64) -> Result<String, MemoryError> {
    const INLINE: u8 = 2;
    let head: [u8; 33] = process.array(at)?;
    if !head.starts_with(b"\xff Go buildinf:") || head[15] & INLINE == 0 || head[32] & 0x80 != 0 {
        return Err(MemoryError::Unlikely("the version of Go"));
    }
    process.text(at + 33, head[32].into(), 128)
}

fn tables(process: &Process, at: u64, parts: &[(u64, u64)]) -> Result<Tables, MemoryError> {
    if process.array::<8>(at)? != MAGIC {
        return Err(MemoryError::Unlikely("the table of functions of Go"));
    }
    let offset = |field: u64| Ok::<u64, MemoryError>(at + (process.u64(at + field)? & 0xffff_ffff));
    let names = offset(header::NAMES)?;
    let module = module_of(process, at, names, parts)?;
    let tables = Tables {
        text: process.u64(module + module::TEXT)?,
        text_end: process.u64(module + module::TEXT_END)?,
        functions: process.u64(at + header::FUNCTIONS)?,
        names,
        units: offset(header::UNITS)?,
        files: offset(header::FILES)?,
        values: offset(header::VALUES)?,
        table: offset(header::TABLE)?,
        gofunc: process.u64(module + module::GOFUNC)?,
    };
    let is_code = process.mapping(tables.text).is_some_and(|mapping| mapping.executable);
    let is_data = process.mapping(tables.gofunc).is_some();
    if !is_code || !is_data || tables.text >= tables.text_end || !(1..1 << 24).contains(&tables.functions) {
        return Err(MemoryError::Unlikely("the description of the module of Go"));
    }
    Ok(tables)
}

/// Where `runtime.firstmoduledata` is: it begins with the address of the table and that of its names.
fn module_of(process: &Process, table: u64, names: u64, parts: &[(u64, u64)]) -> Result<u64, MemoryError> {
    let found = search(process, parts, 8, |from, piece| {
        let mut words = (from..).step_by(8).zip(piece.chunks_exact(8));
        let is_it = |at: u64, word: &[u8]| {
            word == table.to_le_bytes() && process.u64(at + module::NAMES) == Ok(names)
        };
        words.find(|(at, word)| is_it(*at, word)).map(|(at, _)| at)
    })?;
    found.ok_or(MemoryError::Unlikely("the place of the module of Go"))
}

/// Reads parts of memory (address and size) piece by piece until `found`, which is given the address of each, finds in one what it looks
/// for: something of `width` bytes at a multiple of 8, which may lie across the ends of two pieces.
///
/// # Errors
/// Where a piece cannot be read.
fn search<T>(
    process: &Process,
    parts: &[(u64, u64)],
    width: usize,
    mut found: impl FnMut(u64, &[u8]) -> Option<T>,
) -> Result<Option<T>, MemoryError> {
    let mut piece = vec![0; 1 << 16];
    for (start, size) in parts {
        let end = start.saturating_add((*size).min(SEARCHED));
        let mut from = *start;
        while from < end {
            let room = usize::try_from(end - from).map_or(piece.len(), |room| room.min(piece.len()));
            process.read(from, &mut piece[..room])?;
            if let Some(it) = found(from, &piece[..room]) {
                return Ok(Some(it));
            }
            from += room.saturating_sub(width - 8).max(8) as u64;
        }
    }
    Ok(None)
}
