//! What is known of the functions of each mapped file: where it has debug information, itself or in a file beside it, functions,
//! lines and inlined functions are read there; else names of symbol tables. Each is read when the first address needs it.

use super::elf::Outline;
use super::guard::guarded;
use super::mappings::{FileId, Files};
use super::methods::Methods;
use super::separate::{Finder, Program, Separate};
use super::table::{Found, MAX_ALL, Table};
use super::{frames_of, packed, plt};
use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};
use object::elf::{SHT_DYNSYM, SHT_SYMTAB};
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use whyslow_model::StackFrame;

/// Bytes kept in memory, all together: debug files that others may cut short while they are mapped, and unpacked ones.
const MAX_COPIED: u64 = 192 << 20;
/// Sections of all files together, some 100 bytes each; files past this have no names.
const MAX_SECTIONS: usize = 1 << 18;
/// Debug files, copies and unpacked ones held open: beside them are 512 mapped files, and the usual limit is 1,024.
const MAX_HELD: usize = 128;
/// Sections that name another file; the reader of debug information would open it, whatever it is.
const LINKS: [&str; 3] = [".gnu_debuglink", ".gnu_debugaltlink", ".debug_sup"];

/// A file with symbols, and what it has.
#[derive(Debug)]
struct Tabled {
    /// `None` for the mapped file, which is opened when it is needed: they are many.
    file: Option<File>,
    outline: Outline,
    /// Read when debug information did not tell.
    tables: Option<Vec<Table>>,
}

/// What is known of a mapped file.
#[derive(Debug)]
struct Known {
    path: PathBuf,
    /// Itself, its debug file, its `.gnu_debugdata`; as far as looked at.
    tabled: Vec<Tabled>,
    /// Where its debug information is.
    information: Option<Information>,
    has_looked_inside: bool,
    /// Functions of CPython, where no table of symbols has them; read when these did not tell.
    methods: Option<Methods>,
}

#[derive(Debug)]
struct Information {
    path: PathBuf,
    /// What the path leads to, where it is not held open elsewhere.
    _held: Option<File>,
}

/// The sources of functions of all mapped files.
#[derive(Debug)]
pub(super) struct Sources {
    known: HashMap<FileId, Option<Known>>,
    finder: Finder,
    left: Room,
}

/// What may still be taken.
#[derive(Debug)]
struct Room {
    sections: usize,
    symbols: usize,
    /// Bytes in memory.
    bytes: u64,
    /// Files held open.
    files: usize,
}

impl Room {
    /// Holds what `make` makes of at most so many bytes.
    fn hold(&mut self, make: impl FnOnce(u64) -> Option<File>) -> Option<File> {
        let files = self.files.checked_sub(1)?;
        let made = make(self.bytes)?;
        self.bytes = self.bytes.saturating_sub(made.metadata().ok()?.len());
        self.files = files;
        Some(made)
    }
}

impl Sources {
    /// With folders of debug files that the user named.
    pub(super) fn new(folders: &[PathBuf]) -> Sources {
        Sources {
            known: HashMap::new(),
            finder: Finder::new(folders),
            left: Room { sections: MAX_SECTIONS, symbols: MAX_ALL, bytes: MAX_COPIED, files: MAX_HELD },
        }
    }

    /// The frames at an offset of a file, innermost first, without their address.
    pub(super) fn frames(
        &mut self,
        reader: &Symbolizer,
        files: &Files,
        (id, offset): (FileId, u64),
        module: &str,
    ) -> Vec<StackFrame> {
        let Sources { known, finder, left } = self;
        let known = known.entry(id).or_insert_with(|| {
            let found = look(id, files, finder, left)?;
            let sections = found.tabled.iter().map(|tabled| tabled.outline.sections.len()).sum();
            left.sections = left.sections.checked_sub(sections)?;
            Some(found)
        });
        let unknown = || frames_of(None, module);
        let Some(known) = known else { return unknown() };
        let Some(address) = known.tabled.first().and_then(|own| own.outline.address(offset)) else {
            return unknown();
        };
        if let Some(stub) = known.stub(address) {
            return named(stub, module);
        }
        if let Some(information) = &known.information {
            let frames = frames_of(read(reader, &information.path, address), module);
            if frames.iter().any(|frame| frame.function.is_some()) {
                return frames;
            }
        }
        let name = known.symbol(address, left).or_else(|| known.method(address, module));
        name.map_or_else(unknown, |name| named(Some(name), module))
    }
}

fn named(name: Option<String>, module: &str) -> Vec<StackFrame> {
    let function = name.map(|name| super::names::readable(&name).into_owned());
    vec![StackFrame { function, module: Some(module.to_string()), ..StackFrame::default() }]
}

/// What there is for a file. `None` where it cannot be read.
fn look(id: FileId, files: &Files, finder: &Finder, left: &mut Room) -> Option<Known> {
    let path = files.path(id).to_path_buf();
    let file = File::open(&path).ok()?;
    let outline = Outline::read(&file)?;
    let mut known = Known {
        path: path.clone(),
        tabled: Vec::new(),
        information: None,
        has_looked_inside: false,
        methods: None,
    };
    if has_information(&file, &outline, false) {
        known.information = Some(Information { path, _held: None });
    } else {
        let (root, own) = files.origin(id);
        let program = Program { file: &file, outline: &outline, path: own, root };
        if left.files > 0
            && let Some(separate) = finder.find(&program, files.roots())
        {
            left.files -= 1;
            known.information = information_of(&separate, left);
            let Separate { file, outline, .. } = separate;
            known.tabled.push(Tabled { file: Some(file), outline, tables: None });
        }
    }
    known.tabled.insert(0, Tabled { file: None, outline, tables: None });
    Some(known)
}

/// True where a file has debug information that can be read without opening another, and within bounds.
fn has_information(file: &File, outline: &Outline, may_link: bool) -> bool {
    let links = if may_link { &LINKS[..1] } else { &LINKS[..] };
    outline.section(".debug_info").is_some()
        && links.iter().all(|name| outline.section(name).is_none())
        && packed::is_bounded(file, outline)
}

fn information_of(separate: &Separate, left: &mut Room) -> Option<Information> {
    if !has_information(&separate.file, &separate.outline, separate.may_link) {
        return None;
    }
    let path = |file: &File| PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    if separate.is_lasting {
        return Some(Information { path: path(&separate.file), _held: None });
    }
    let from = File::open(path(&separate.file)).ok()?;
    let copy = left.hold(|bytes| packed::in_memory(from, bytes))?;
    Some(Information { path: path(&copy), _held: Some(copy) })
}

impl Known {
    /// The name of a stub at an address, where it has one; `None` where the address is in no stubs.
    fn stub(&self, address: u64) -> Option<Option<String>> {
        let own = self.tabled.first()?;
        let section = own.outline.code_at(address).filter(|section| plt::is_stubs(section))?;
        Some(File::open(&self.path).ok().and_then(|file| plt::name(address, section, &own.outline, &file)))
    }

    /// The name of the function at an address, out of symbol tables. The debug file has more than the program.
    fn symbol(&mut self, address: u64, left: &mut Room) -> Option<String> {
        let mut uncertain = None;
        let mut at = self.tabled.len();
        loop {
            while at > 0 {
                at -= 1;
                match self.tabled[at].find(address, &self.path, left) {
                    Some(Found { name, is_certain: true }) => return Some(name),
                    Some(Found { name, .. }) if uncertain.is_none() => uncertain = Some(name),
                    _ => {}
                }
            }
            if !self.look_inside(left) {
                return uncertain;
            }
            at = self.tabled.len();
        }
    }

    /// The name of the function of CPython at an address, as Python code calls it.
    fn method(&mut self, address: u64, module: &str) -> Option<String> {
        let Known { path, tabled, methods, .. } = self;
        let methods = methods.get_or_insert_with(|| {
            let file = File::open(path).ok().zip(tabled.first());
            file.map_or_else(Methods::default, |(file, own)| Methods::read(&file, &own.outline, module))
        });
        methods.find(address).map(str::to_string)
    }

    /// Unpacks `.gnu_debugdata`, once; true where it has something.
    fn look_inside(&mut self, left: &mut Room) -> bool {
        if std::mem::replace(&mut self.has_looked_inside, true) {
            return false;
        }
        let Some(own) = self.tabled.first() else { return false };
        let packed = File::open(&self.path).ok();
        let unpack = |file| left.hold(|bytes| guarded(|| packed::debug_data(&file, &own.outline, bytes)));
        let Some(file) = packed.and_then(unpack) else { return false };
        let Some(outline) = Outline::read(&file) else { return false };
        self.tabled.push(Tabled { file: Some(file), outline, tables: None });
        true
    }
}

impl Tabled {
    fn find(&mut self, address: u64, path: &Path, left: &mut Room) -> Option<Found> {
        let opened;
        let file = match &self.file {
            Some(file) => file,
            None => {
                opened = File::open(path).ok()?;
                &opened
            }
        };
        let tables = self.tables.get_or_insert_with(|| {
            let read = |kind| {
                let table = Table::read(file, &self.outline, kind, left.symbols);
                left.symbols -= table.len();
                table
            };
            [SHT_SYMTAB, SHT_DYNSYM].map(read).into()
        });
        let mut found = tables.iter().filter_map(|table| table.find(address, &self.outline, file));
        let first = found.next()?;
        if first.is_certain {
            Some(first)
        } else {
            Some(found.find(|found| found.is_certain).unwrap_or(first))
        }
    }
}

/// The function that the debug information of a file has at an address.
pub(super) fn read<'a>(reader: &'a Symbolizer, path: &Path, address: u64) -> Option<Symbolized<'a>> {
    let source = Source::Elf(Elf::new(path));
    guarded(|| reader.symbolize_single(&source, Input::VirtOffset(address)).ok())
}
