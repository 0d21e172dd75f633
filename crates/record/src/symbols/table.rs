//! The functions that a symbol table names, by address. Names stay in the file until they are asked for.

use super::elf::{Outline, Section};
use object::elf;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Symbols of one table, and of all together: 16 bytes each. The largest programs have some two million.
const MAX_SYMBOLS: usize = 4 << 20;
pub(super) const MAX_ALL: usize = 8 << 20;
/// Bytes of a name; a longer one is no name that anybody reads.
const MAX_NAME: usize = 4096;
/// Symbols looked at for one address: several names of a function, labels within it.
const MAX_TRIED: usize = 64;
/// Read at once.
const CHUNK: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
struct Symbol {
    address: u64,
    /// Bytes; 0 where it does not say.
    size: u32,
    name: u32,
}

/// A symbol table.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// By address.
    symbols: Vec<Symbol>,
    strings: Section,
    /// A symbol without a size reaches to the next one: not of dynamic symbols, most functions have none.
    is_whole: bool,
}

/// A function found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) name: String,
    /// The symbol says that the address is in it.
    pub(super) is_certain: bool,
}

impl Table {
    /// Reads the table of a kind (`SHT_SYMTAB`, `SHT_DYNSYM`); an empty one where there is none. At most `left` symbols.
    pub(super) fn read(file: &File, outline: &Outline, kind: elf::SectionType, left: usize) -> Table {
        let section = outline.sections.iter().find(|section| section.kind == kind.0 && section.has_data());
        let Some(section) = section else { return Table::default() };
        let Some(strings) = outline.sections.get(section.link as usize).filter(|section| section.has_data())
        else {
            return Table::default();
        };
        let is_code: Vec<bool> = outline.sections.iter().map(Section::is_code).collect();
        let entry = if outline.is_64 { 24 } else { 16 };
        let mut symbols = Vec::new();
        let (mut offset, end) = (section.offset, section.offset.saturating_add(section.size));
        let mut chunk = vec![0; CHUNK / entry * entry];
        while offset < end && symbols.len() < MAX_SYMBOLS.min(left) {
            let length = chunk.len().min((end - offset) as usize) / entry * entry;
            if length == 0 || file.read_exact_at(&mut chunk[..length], offset).is_err() {
                break;
            }
            let of_code = |(symbol, place): (Symbol, u16)| {
                is_code.get(place as usize).is_some_and(|is_code| *is_code).then_some(symbol)
            };
            let parse = if outline.is_64 { symbol_64 } else { symbol_32 };
            symbols.extend(chunk[..length].chunks_exact(entry).filter_map(|entry| of_code(parse(entry)?)));
            offset += length as u64;
        }
        symbols.truncate(left);
        symbols.sort_unstable_by_key(|symbol| symbol.address);
        symbols.shrink_to_fit();
        Table { symbols, strings: strings.clone(), is_whole: kind == elf::SHT_SYMTAB }
    }

    pub(super) fn len(&self) -> usize {
        self.symbols.len()
    }

    /// The function at an address of the file that the table was read of.
    pub(super) fn find(&self, address: u64, outline: &Outline, file: &File) -> Option<Found> {
        let behind = self.symbols.partition_point(|symbol| symbol.address <= address);
        let before = self.symbols[..behind].iter().rev().take(MAX_TRIED);
        let nearest = before.clone().next()?;
        let covers = |symbol: &&Symbol| address - symbol.address < u64::from(symbol.size);
        if let Some(found) = before.clone().find(covers) {
            let same = before.filter(|symbol| symbol.address == found.address).filter(covers);
            return Some(Found { name: self.best_name(same, file)?, is_certain: true });
        }
        let section = outline.code_at(address)?;
        if !self.is_whole || nearest.size != 0 || !section.contains(nearest.address) {
            return None;
        }
        let same = before.filter(|symbol| symbol.address == nearest.address);
        Some(Found { name: self.best_name(same, file)?, is_certain: false })
    }

    /// Of several names of one function that which people use: `read` rather than `__libc_read`.
    fn best_name<'a>(&self, symbols: impl Iterator<Item = &'a Symbol>, file: &File) -> Option<String> {
        let names = symbols.filter_map(|symbol| name(file, &self.strings, symbol.name));
        names
            .filter(|name| !name.is_empty())
            .min_by_key(|name| (name.len() - name.trim_start_matches('_').len(), name.len(), name.clone()))
    }
}

/// A name among those of a section.
pub(super) fn name(file: &File, strings: &Section, at: u32) -> Option<String> {
    let length = strings.size.checked_sub(u64::from(at))?.min(MAX_NAME as u64) as usize;
    let mut text = vec![0; length.min(128)];
    let offset = strings.offset.checked_add(u64::from(at))?;
    loop {
        file.read_exact_at(&mut text, offset).ok()?;
        if let Some(end) = text.iter().position(|byte| *byte == 0) {
            text.truncate(end);
            return Some(String::from_utf8_lossy(&text).into_owned());
        }
        if text.len() >= length {
            return None;
        }
        text.resize((text.len() * 8).min(length), 0);
    }
}

/// Functions, and labels of assembly, which have no kind.
fn is_function(info: u8) -> bool {
    matches!(elf::SymbolType(info & 0xf), elf::STT_FUNC | elf::STT_GNU_IFUNC | elf::STT_NOTYPE)
}

/// `Elf64_Sym`, and the number of its section.
fn symbol_64(entry: &[u8]) -> Option<(Symbol, u16)> {
    let (name, info) = (u32::from_le_bytes(*entry.first_chunk()?), *entry.get(4)?);
    let place = u16::from_le_bytes(*entry.get(6..)?.first_chunk()?);
    let address = u64::from_le_bytes(*entry.get(8..)?.first_chunk()?);
    let size = u64::from_le_bytes(*entry.get(16..)?.first_chunk()?).min(u64::from(u32::MAX)) as u32;
    is_function(info).then_some((Symbol { address, size, name }, place))
}

/// `Elf32_Sym`, and the number of its section.
fn symbol_32(entry: &[u8]) -> Option<(Symbol, u16)> {
    let (name, info) = (u32::from_le_bytes(*entry.first_chunk()?), *entry.get(12)?);
    let place = u16::from_le_bytes(*entry.get(14..)?.first_chunk()?);
    let address = u64::from(u32::from_le_bytes(*entry.get(4..)?.first_chunk()?));
    let size = u32::from_le_bytes(*entry.get(8..)?.first_chunk()?);
    is_function(info).then_some((Symbol { address, size, name }, place))
}
