//! What an ELF file of a stranger says of itself: where it is loaded, its sections, its build-id, where its debug file is. Read
//! by pieces and never mapped, and no more of it than a bound.

use object::LittleEndian;
use object::elf;
use object::read::ReadCache;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Segments and sections that a file may have. Programs have some forty sections; object files, which have more, are not mapped.
const MAX_SEGMENTS: u32 = 4096;
const MAX_SECTIONS: u32 = 1 << 13;
/// Bytes of a section's name: longer ones are none that is looked for.
const MAX_NAME: usize = 64;
/// Bytes of a section of notes, or of a link to a debug file.
const MAX_NOTES: u64 = 1 << 16;
/// Bytes of a build-id: shorter ones are no identity.
const BUILD_ID: std::ops::RangeInclusive<usize> = 8..=64;
/// `NT_GNU_BUILD_ID` (elf.h).
const NT_GNU_BUILD_ID: u32 = 3;

/// A section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: String,
    /// `SHT_…`.
    pub(super) kind: u32,
    /// `SHF_…`.
    pub(super) flags: u64,
    pub(super) address: u64,
    pub(super) offset: u64,
    pub(super) size: u64,
    /// The section of names that goes with it.
    pub(super) link: u32,
}

impl Section {
    /// True where it has bytes in the file.
    pub(super) fn has_data(&self) -> bool {
        self.kind != elf::SHT_NOBITS.0 && self.kind != elf::SHT_NULL.0 && self.size > 0
    }

    pub(super) fn is_code(&self) -> bool {
        self.flags & elf::SHF_EXECINSTR.0 != 0
    }

    pub(super) fn is_compressed(&self) -> bool {
        self.flags & elf::SHF_COMPRESSED.0 != 0
    }

    pub(super) fn contains(&self, address: u64) -> bool {
        address.checked_sub(self.address).is_some_and(|offset| offset < self.size)
    }
}

/// Bytes of the file that are loaded at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Load {
    offset: u64,
    size: u64,
    address: u64,
}

/// The outline of a file.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) is_64: bool,
    pub(super) is_x86_64: bool,
    loads: Vec<Load>,
    pub(super) sections: Vec<Section>,
    pub(super) build_id: Option<Vec<u8>>,
}

impl Outline {
    /// `None` for what is no ELF file of a little-endian machine.
    pub(super) fn read(file: &File) -> Option<Outline> {
        let mut ident = [0; 16];
        file.read_exact_at(&mut ident, 0).ok()?;
        if !ident.starts_with(b"\x7fELF") {
            return None;
        }
        let cache = ReadCache::new(file);
        let mut outline = match ident[4] {
            2 => Outline::of::<elf::FileHeader64<LittleEndian>>(&cache)?,
            _ => Outline::of::<elf::FileHeader32<LittleEndian>>(&cache)?,
        };
        drop(cache);
        let notes = outline.sections.iter().filter(|section| section.kind == elf::SHT_NOTE.0);
        outline.build_id =
            notes.filter(|section| section.has_data()).find_map(|section| build_id(&bytes(file, section)?));
        Some(outline)
    }

    fn of<Elf: FileHeader<Endian = LittleEndian>>(cache: &ReadCache<&File>) -> Option<Outline> {
        let header = Elf::parse(cache).ok()?;
        let endian = header.endian().ok()?;
        let mut outline = Outline {
            is_64: header.is_class_64(),
            is_x86_64: header.e_machine(endian) == elf::EM_X86_64,
            ..Outline::default()
        };
        if header.phnum(endian, cache).is_ok_and(|count| count <= MAX_SEGMENTS) {
            let segments = header.program_headers(endian, cache).unwrap_or_default().iter();
            let loaded = segments.filter(|segment| segment.p_type(endian) == elf::PT_LOAD);
            outline.loads.extend(loaded.map(|segment| Load {
                offset: segment.p_offset(endian).into(),
                size: segment.p_filesz(endian).into(),
                address: segment.p_vaddr(endian).into(),
            }));
        }
        if header.shnum(endian, cache).is_ok_and(|count| count <= MAX_SECTIONS)
            && let Ok(headers) = header.section_headers(endian, cache)
            && let Ok(names) = header.section_strings(endian, cache, headers)
        {
            outline.sections.extend(headers.iter().map(|section| {
                let name = section.name(endian, names).unwrap_or_default();
                Section {
                    name: String::from_utf8_lossy(&name[..name.len().min(MAX_NAME)]).into_owned(),
                    kind: section.sh_type(endian).0,
                    flags: section.sh_flags(endian).0,
                    address: section.sh_addr(endian).into(),
                    offset: section.sh_offset(endian).into(),
                    size: section.sh_size(endian).into(),
                    link: section.sh_link(endian),
                }
            }));
        }
        Some(outline)
    }

    /// The address, as the file counts them, of a byte of it.
    pub(super) fn address(&self, offset: u64) -> Option<u64> {
        let load = self
            .loads
            .iter()
            .find(|load| offset.checked_sub(load.offset).is_some_and(|into| into < load.size))?;
        Some(load.address.wrapping_add(offset - load.offset))
    }

    /// The section of this name that has bytes in the file.
    pub(super) fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name && section.has_data())
    }

    pub(super) fn code_at(&self, address: u64) -> Option<&Section> {
        self.sections.iter().find(|section| section.is_code() && section.contains(address))
    }

    /// Name and CRC32 of the debug file, as `.gnu_debuglink` has them: the name, zeros up to a multiple of four, the sum.
    pub(super) fn debug_link(&self, file: &File) -> Option<(String, u32)> {
        let data = bytes(file, self.section(".gnu_debuglink")?)?;
        let end = data.iter().position(|byte| *byte == 0)?;
        let sum = data.get((end + 4) & !3..)?.first_chunk::<4>()?;
        let name = std::str::from_utf8(&data[..end]).ok()?;
        // The name of a file in folders that we choose.
        let is_plain = !name.is_empty() && name.len() <= 255 && name != ".." && !name.contains('/');
        is_plain.then(|| (name.to_string(), u32::from_le_bytes(*sum)))
    }
}

/// The bytes of a short section.
fn bytes(file: &File, section: &Section) -> Option<Vec<u8>> {
    if section.size > MAX_NOTES {
        return None;
    }
    let mut data = vec![0; section.size as usize];
    file.read_exact_at(&mut data, section.offset).ok()?;
    Some(data)
}

/// The build-id among notes (elf(5), "Notes (Nhdr)").
fn build_id(mut notes: &[u8]) -> Option<Vec<u8>> {
    loop {
        let word = |at: usize| Some(u32::from_le_bytes(*notes.get(at..)?.first_chunk::<4>()?));
        let (name, size, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let begin = 12_usize.checked_add(name.checked_next_multiple_of(4)?)?;
        let data = notes.get(begin..begin.checked_add(size)?)?;
        if kind == NT_GNU_BUILD_ID && notes.get(12..12 + name) == Some(b"GNU\0") {
            return BUILD_ID.contains(&data.len()).then(|| data.to_vec());
        }
        notes = notes.get(begin.checked_add(size.checked_next_multiple_of(4)?)?..)?;
    }
}
