//! Compressed parts of a file: `.gnu_debugdata`, a small ELF file of symbols in a section, and sections of debug information.
//! Both are a stranger's: what comes out is bounded before it is used.

use super::elf::{Outline, Section};
use rustix::fs::MemfdFlags;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

/// Bytes that `.gnu_debugdata` may have in the file, and unpacked.
const MAX_PACKED: u64 = 32 << 20;
const MAX_UNPACKED: u64 = 64 << 20;
/// KiB that the decoder of xz may take; `xz -9` needs 65 MiB.
const MAX_DICTIONARY: u32 = 80 << 10;
/// Bytes of all compressed sections of debug information of a file, unpacked.
const MAX_SECTIONS: u64 = 512 << 20;
/// `ELFCOMPRESS_ZLIB` (elf.h).
const ZLIB: u32 = 1;

/// The file in `.gnu_debugdata`, in memory, if it has no more than `most` bytes.
pub(super) fn debug_data(file: &File, outline: &Outline, most: u64) -> Option<File> {
    let section = outline.section(".gnu_debugdata").filter(|section| section.size <= MAX_PACKED)?;
    let unpacked = lzma_rust2::XzReader::new_mem_limit(part(file, section)?, false, MAX_DICTIONARY);
    in_memory(unpacked, MAX_UNPACKED.min(most))
}

/// A copy in memory of what `from` has, if it has no more than `most`.
pub(super) fn in_memory(from: impl Read, most: u64) -> Option<File> {
    let mut copy = File::from(rustix::fs::memfd_create("symbols", MemfdFlags::CLOEXEC).ok()?);
    let copied = io::copy(&mut from.take(most + 1), &mut copy).ok()?;
    (copied <= most).then_some(copy)
}

/// True where the debug information of a file has, unpacked, as many bytes as it says, and not too many. Its reader takes
/// memory as the file says.
pub(super) fn is_bounded(file: &File, outline: &Outline) -> bool {
    let mut left = MAX_SECTIONS;
    outline.sections.iter().filter(|section| section.has_data() && section.is_compressed()).all(|section| {
        let size = unpacked_size(file, outline, section).filter(|size| *size <= left);
        left -= size.unwrap_or(0);
        size.is_some()
    })
}

/// Bytes of a compressed section, where it unpacks to what its `Elf64_Chdr` or `Elf32_Chdr` says.
fn unpacked_size(file: &File, outline: &Outline, section: &Section) -> Option<u64> {
    let mut header = [0; 24];
    let header = &mut header[..if outline.is_64 { 24 } else { 12 }];
    file.read_exact_at(header, section.offset).ok()?;
    let kind = u32::from_le_bytes(*header.first_chunk()?);
    let size = match outline.is_64 {
        true => u64::from_le_bytes(*header.get(8..)?.first_chunk()?),
        false => u64::from(u32::from_le_bytes(*header.get(4..)?.first_chunk()?)),
    };
    if kind != ZLIB || size > MAX_SECTIONS {
        return None;
    }
    let skipped = header.len() as u64;
    let rest = Section {
        offset: section.offset.checked_add(skipped)?,
        size: section.size.checked_sub(skipped)?,
        ..section.clone()
    };
    let unpacked = flate2::read::ZlibDecoder::new(part(file, &rest)?);
    let is_right = io::copy(&mut unpacked.take(size + 1), &mut io::sink()).ok()? == size;
    is_right.then_some(size)
}

/// Reads the bytes of a section.
fn part(file: &File, section: &Section) -> Option<impl Read> {
    let mut file = file.try_clone().ok()?;
    file.seek(SeekFrom::Start(section.offset)).ok()?;
    Some(io::BufReader::new(file.take(section.size)))
}
