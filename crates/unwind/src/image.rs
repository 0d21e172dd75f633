//! A file of code as a process has it loaded: which symbol is at which of its addresses. Read by pieces and never mapped: its
//! owner may cut it short meanwhile, which would end us.

use crate::process::{MemoryMapping, Process};
use object::elf;
use object::read::ReadCache;
use object::read::elf::FileHeader;
use object::read::elf::{SectionHeader, Sym};
use object::{Object, ObjectSection, ObjectSymbol};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;

/// A file by device, inode and when it was changed.
type FileKey = (u64, u64, i64, i64);

/// Symbols that were looked for, by file and names.
type Known = HashMap<(FileKey, Box<str>), Vec<Option<(u64, u64)>>>;

/// Of so many files and lists of names the symbols are kept.
const MOST_KNOWN: usize = 64;

thread_local! {
    /// The symbols of a runtime's file may be a hundred megabytes, and many processes have the same.
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// A file of code as a process has it loaded.
pub struct Image {
    cache: ReadCache<File>,
    /// Which file it is; `None` where that cannot be told.
    file: Option<FileKey>,
    /// Added to an address of the file, it is one of the process.
    bias: u64,
}

impl Image {
    /// Opens the file of one of a process's mappings.
    ///
    /// # Errors
    /// Where it cannot be read, or is no ELF file of 64 bits.
    pub fn open(process: &Process, mapping: &MemoryMapping) -> io::Result<Image> {
        Image::of_file(process.open_file(mapping)?, mapping.start, mapping.offset)
    }

    /// Takes a file of code of which a part, from an offset on, is mapped at an address.
    ///
    /// # Errors
    /// As [`Image::open`].
    pub fn of_file(file: File, start: u64, from: u64) -> io::Result<Image> {
        let key =
            file.metadata().ok().map(|about| (about.dev(), about.ino(), about.mtime(), about.mtime_nsec()));
        let cache = ReadCache::new(file);
        let bias = {
            let (header, endian) = header(&cache)?;
            let segments = header.program_headers(endian, &cache).map_err(io::Error::other)?;
            let loaded = segments
                .iter()
                .find(|segment| {
                    let (offset, size) = (segment.p_offset.get(endian), segment.p_filesz.get(endian));
                    segment.p_type.get(endian) == elf::PT_LOAD
                        && (offset & !0xfff) <= from
                        && from < offset.saturating_add(size)
                })
                .ok_or_else(|| io::Error::other("no segment of the file is where it is mapped"))?;
            let (address, offset) = (loaded.p_vaddr.get(endian), loaded.p_offset.get(endian));
            start.wrapping_sub(from).wrapping_sub(address.wrapping_sub(offset))
        };
        Ok(Image { cache, file: key, bias })
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
        let found = self.sized_symbols(names)?;
        Ok(found.into_iter().map(|symbol| symbol.map(|(address, _)| address)).collect())
    }

    /// The same with the bytes that each says it has.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn sized_symbols(&self, names: &[&str]) -> io::Result<Vec<Option<(u64, u64)>>> {
        let key = self.file.map(|file| (file, names.join("\n").into_boxed_str()));
        let kept = KNOWN.with_borrow(|known| known.get(key.as_ref()?).cloned());
        let found = match kept {
            Some(found) => found,
            None => {
                let found = self.find_symbols(names)?;
                if let Some(key) = key {
                    KNOWN.with_borrow_mut(|known| {
                        if known.len() >= MOST_KNOWN {
                            known.clear();
                        }
                        known.insert(key, found.clone());
                    });
                }
                found
            }
        };
        let placed = |(address, size): (u64, u64)| (address.wrapping_add(self.bias), size);
        Ok(found.into_iter().map(|symbol| symbol.map(placed)).collect())
    }

    /// Addresses as they are in the file.
    fn find_symbols(&self, names: &[&str]) -> io::Result<Vec<Option<(u64, u64)>>> {
        let file = parse(&self.cache)?;
        let wanted: HashMap<&[u8], usize> =
            names.iter().enumerate().map(|(at, name)| (name.as_bytes(), at)).collect();
        // Most of what a file has is told apart by its length, which takes much less than by its name.
        let lengths: HashSet<usize> = names.iter().map(|name| name.len()).collect();
        let longest = lengths.iter().max().map_or(0, |longest| longest + 1);
        let has_length: Vec<bool> = (0..longest).map(|length| lengths.contains(&length)).collect();
        let mut found = vec![None; names.len()];
        let (sections, endian) = (file.elf_section_table(), file.endian());
        for kind in [elf::SHT_DYNSYM, elf::SHT_SYMTAB] {
            let symbols = sections.symbols(endian, &self.cache, kind).map_err(io::Error::other)?;
            if symbols.is_empty() {
                continue;
            }
            // All names at once: asked for one by one, each would be read of the file by itself.
            let texts = sections.section(symbols.string_section()).map_err(io::Error::other)?;
            let texts = texts.data(endian, &self.cache).map_err(io::Error::other)?;
            for symbol in symbols.iter().filter(|symbol| symbol.st_shndx(endian) != elf::SHN_UNDEF) {
                let text = texts.get(symbol.st_name(endian) as usize..).unwrap_or_default();
                let end = memchr::memchr(0, text).unwrap_or(text.len());
                if has_length.get(end).is_some_and(|has| *has)
                    && let Some(at) = wanted.get(&text[..end])
                    && found[*at].is_none()
                {
                    let address = symbol.st_value(endian);
                    found[*at] = Some((address, symbol.st_size(endian)));
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

    /// Where a section is in the process, and how many bytes it has there.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn section_range(&self, name: &str) -> io::Result<Option<(u64, u64)>> {
        // Without its symbols, which may be a hundred megabytes.
        let (header, endian) = header(&self.cache)?;
        let sections = header.sections(endian, &self.cache).map_err(io::Error::other)?;
        let section = sections.section_by_name(endian, name.as_bytes());
        let range = |section: &elf::SectionHeader64<_>| {
            (section.sh_addr.get(endian).wrapping_add(self.bias), section.sh_size.get(endian))
        };
        Ok(section.map(|(_, section)| range(section)))
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

fn header(
    cache: &ReadCache<File>,
) -> io::Result<(&elf::FileHeader64<object::LittleEndian>, object::LittleEndian)> {
    let header = elf::FileHeader64::<object::LittleEndian>::parse(cache).map_err(io::Error::other)?;
    Ok((header, header.endian().map_err(io::Error::other)?))
}

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
        let ranges = image.ranges(&|name| name == "getpid").expect("read");
        assert!(ranges.iter().any(|range| range.start == address && range.end > address));
        assert!(image.section(".eh_frame").is_ok_and(|found| found.is_some()));
    }
}
