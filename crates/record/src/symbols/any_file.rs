//! What is read of strangers' files of code and perf maps, over any bytes: for fuzzing.

use super::elf::Outline;
use super::guard::guarded;
use super::methods::Methods;
use super::perf_map::PerfMap;
use super::table::Table;
use super::{packed, plt};
use object::elf;
use std::fs::File;

/// Bytes of a file that is unpacked.
const UNPACKED: u64 = 16 << 20;
/// Symbols of a table.
const SYMBOLS: usize = 1 << 16;
/// Bytes of the symbols of a perf map.
const MAP: usize = 1 << 20;

/// Reads a file of code as programs and debug files are read: its outline, the link to its debug file, symbols, stubs, functions of CPython,
/// and the file that is packed in it. The addresses that were asked about; none for what is no such file.
pub fn code(data: &[u8]) -> Vec<u64> {
    packed::in_memory(data, u64::MAX / 2).map_or(Vec::new(), |file| read(&file, true))
}

fn read(file: &File, is_outer: bool) -> Vec<u64> {
    let Some(outline) = Outline::read(file) else { return Vec::new() };
    let _ = (outline.debug_link(file), packed::is_bounded(file, &outline));
    let parts = outline.sections.iter().take(32);
    let addresses: Vec<u64> = parts
        .flat_map(|part| [part.address, part.address.wrapping_add(part.size / 2), part.offset])
        .chain([0, u64::MAX])
        .collect();
    let tables = [elf::SHT_SYMTAB, elf::SHT_DYNSYM].map(|kind| Table::read(file, &outline, kind, SYMBOLS));
    let methods = Methods::read(file, &outline, "/usr/bin/python3");
    for address in &addresses {
        tables.iter().for_each(|table| drop(table.find(*address, &outline, file)));
        let stubs = outline.code_at(*address).filter(|section| plt::is_stubs(section));
        let _ = stubs.and_then(|section| plt::name(*address, section, &outline, file));
        let _ = (methods.find(*address), outline.address(*address));
    }
    if is_outer && let Some(inner) = guarded(|| packed::debug_data(file, &outline, UNPACKED)) {
        read(&inner, false);
    }
    addresses
}

/// Reads a perf map, and asks for functions.
///
/// # Panics
/// If it takes more memory than it may.
pub fn perf_map(text: &[u8]) {
    let map = PerfMap::of_text(text, MAP);
    assert!(map.memory() <= MAP, "{} bytes", map.memory());
    for line in text.split(|byte| *byte == b'\n').take(64) {
        let start = line.split(|byte| *byte == b' ').next().unwrap_or_default();
        let start = std::str::from_utf8(start).ok().and_then(|text| u64::from_str_radix(text, 16).ok());
        let _ = map.find(start.unwrap_or(0));
    }
}
