//! Stubs that lead to functions of other libraries (`read@plt`), on x86-64. A stub jumps to what a word of the GOT holds, and
//! a relocation says whose address that is.

use super::elf::{Outline, Section};
use super::table;
use object::elf;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Bytes of relocations that are looked at for one stub.
const MAX_RELOCATIONS: u64 = 16 << 20;
/// Bytes of an `Elf64_Rela` and of an `Elf64_Sym`.
const RELOCATION: usize = 24;
const SYMBOL: u64 = 24;

/// True for a section of stubs.
pub(super) fn is_stubs(section: &Section) -> bool {
    matches!(section.name.as_str(), ".plt" | ".plt.sec" | ".plt.got")
}

/// The name of the stub at an address; `None` where it is not of a known form.
pub(super) fn name(address: u64, section: &Section, outline: &Outline, file: &File) -> Option<String> {
    if !outline.is_x86_64 || !outline.is_64 || !section.has_data() {
        return None;
    }
    // Those of `.plt.got` may have 8 bytes.
    let of = |size: u64| {
        let into = (address - section.address) / size * size;
        slot(file, section.offset.checked_add(into)?, section.address.wrapping_add(into))
    };
    let word = of(16).filter(|(_, end)| address < *end).or_else(|| of(8))?.0;
    let symbol = relocated(word, outline, file)?;
    let symbols = outline.sections.iter().find(|section| section.kind == elf::SHT_DYNSYM.0)?;
    let strings = outline.sections.get(symbols.link as usize)?;
    let at = u64::from(symbol).checked_mul(SYMBOL).filter(|at| *at < symbols.size)?;
    let mut text = [0; 4];
    file.read_exact_at(&mut text, symbols.offset.checked_add(at)?).ok()?;
    let name = table::name(file, strings, u32::from_le_bytes(text))?;
    (!name.is_empty()).then(|| format!("{name}@plt"))
}

/// The word of the GOT that the stub at `address` jumps by, and where the next stub may begin: `endbr64` or not, `bnd` or not,
/// `jmp *word(%rip)`.
fn slot(file: &File, offset: u64, address: u64) -> Option<(u64, u64)> {
    let mut code = [0; 16];
    // The last stub of 8 bytes may end the file.
    let read = file.read_at(&mut code, offset).ok()?;
    let whole = &code[..read];
    let rest = whole.strip_prefix(b"\xf3\x0f\x1e\xfa").unwrap_or(whole);
    let rest = rest.strip_prefix(b"\xf2").unwrap_or(rest);
    let rest = rest.strip_prefix(b"\xff\x25")?;
    let (distance, rest) = rest.split_first_chunk::<4>()?;
    let after = address.wrapping_add((whole.len() - rest.len()) as u64);
    let size = if whole.starts_with(b"\xff\x25") && rest.starts_with(b"\x66\x90") { 8 } else { 16 };
    Some((after.wrapping_add_signed(i64::from(i32::from_le_bytes(*distance))), address.wrapping_add(size)))
}

/// The number of the symbol whose address is written to `word`.
fn relocated(word: u64, outline: &Outline, file: &File) -> Option<u32> {
    let mut left = MAX_RELOCATIONS;
    for section in outline.sections.iter().filter(|section| section.kind == elf::SHT_RELA.0) {
        let mut chunk = vec![0; RELOCATION << 10];
        let (mut offset, end) = (section.offset, section.offset.saturating_add(section.size));
        while offset < end && left > 0 {
            let length = chunk.len().min((end - offset) as usize);
            file.read_exact_at(&mut chunk[..length], offset).ok()?;
            for entry in chunk[..length].chunks_exact(RELOCATION) {
                if entry.first_chunk().is_some_and(|at| u64::from_le_bytes(*at) == word) {
                    return entry.get(12..)?.first_chunk().map(|symbol| u32::from_le_bytes(*symbol));
                }
            }
            offset += length as u64;
            left = left.saturating_sub(length as u64);
        }
    }
    None
}
