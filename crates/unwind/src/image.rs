//! A file of code as a process has it loaded: which symbol is at which of its addresses. Read by pieces and never mapped: its
//! owner may cut it short meanwhile, which would end us.

use crate::process::{Mapping, Process};
use object::elf;
use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSymbol};
use std::fs::File;
use std::io;
use std::ops::Range;

/// A file of code as a process has it loaded.
pub struct Image {
    cache: ReadCache<File>,
    /// Added to an address of the file, it is one of the process.
    bias: u64,
}

impl Image {
    /// Opens the file of one of a process's mappings.
    ///
    /// # Errors
    /// Where it cannot be read, or is no ELF file of 64 bits.
    pub fn open(process: &Process, mapping: &Mapping) -> io::Result<Image> {
        let cache = ReadCache::new(process.open_file(mapping)?);
        let bias = {
            let file = parse(&cache)?;
            let loaded = file
                .elf_program_headers()
                .iter()
                .find(|header| {
                    let (offset, size) = (
                        header.p_offset.get(object::LittleEndian),
                        header.p_filesz.get(object::LittleEndian),
                    );
                    header.p_type.get(object::LittleEndian) == elf::PT_LOAD
                        && (offset & !0xfff) <= mapping.offset
                        && mapping.offset < offset.saturating_add(size)
                })
                .ok_or_else(|| io::Error::other("no segment of the file is where it is mapped"))?;
            let (address, offset) =
                (loaded.p_vaddr.get(object::LittleEndian), loaded.p_offset.get(object::LittleEndian));
            mapping.start.wrapping_sub(mapping.offset).wrapping_sub(address.wrapping_sub(offset))
        };
        Ok(Image { cache, bias })
    }

    /// Added to an address of the file, it is one of the process.
    pub fn bias(&self) -> u64 {
        self.bias
    }

    /// Where the first symbols of these names are in the process, in the order of the names; `None` for those it has not.
    /// One pass over the symbols (dynamic ones first): ask for all at once.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn symbols(&self, names: &[&str]) -> io::Result<Vec<Option<u64>>> {
        let file = parse(&self.cache)?;
        let mut found = vec![None; names.len()];
        for symbol in file.dynamic_symbols().chain(file.symbols()) {
            if symbol.is_undefined() || found.iter().all(Option::is_some) {
                continue;
            }
            let Ok(name) = symbol.name() else { continue };
            for (at, wanted) in names.iter().enumerate() {
                if found[at].is_none() && *wanted == name {
                    found[at] = Some(symbol.address().wrapping_add(self.bias));
                }
            }
        }
        Ok(found)
    }

    /// The addresses in the process of all symbols with a size whose names are wanted.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn ranges(&self, wanted: &dyn Fn(&str) -> bool) -> io::Result<Vec<Range<u64>>> {
        let file = parse(&self.cache)?;
        let mut found = Vec::new();
        for symbol in file.dynamic_symbols().chain(file.symbols()) {
            if symbol.is_undefined() || symbol.size() == 0 || !symbol.name().is_ok_and(wanted) {
                continue;
            }
            let start = symbol.address().wrapping_add(self.bias);
            let range = start..start.saturating_add(symbol.size());
            if !found.contains(&range) {
                found.push(range);
            }
        }
        Ok(found)
    }

    /// Where a section is in the process, and its bytes as they are in the file.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn section(&self, name: &str) -> io::Result<Option<(u64, Vec<u8>)>> {
        let file = parse(&self.cache)?;
        let Some(section) = file.section_by_name(name) else { return Ok(None) };
        let bytes = section.data().map_err(io::Error::other)?.to_vec();
        Ok(Some((section.address().wrapping_add(self.bias), bytes)))
    }
}

type Elf<'a> = object::read::elf::ElfFile64<'a, object::LittleEndian, &'a ReadCache<File>>;

fn parse(cache: &ReadCache<File>) -> io::Result<Elf<'_>> {
    Elf::parse(cache).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_where_the_process_has_it() {
        let process = Process::open(std::process::id()).expect("our own");
        let address = libc::getpid as *const () as u64;
        let mapping = process.mapping(address).expect("mapped");
        let image = Image::open(&process, mapping).expect("read");
        let found = image.symbols(&["of_nobody", "getpid"]).expect("read");
        assert_eq!(found, [None, Some(address)]);
        assert!(image.section(".eh_frame").is_ok_and(|found| found.is_some()));
    }
}
