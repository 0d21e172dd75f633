//! Files of code as the recorder finds them in strangers' processes: their symbols, stubs, links and unwind information; and perf maps. The
//! seeds are small ELF files that are made here.

use std::fs::File;
use std::io::Write as _;
use whyslow_record::symbols::any_file;
use whyslow_unwind::{Image, native};

/// Where the code of the seeds is.
const TEXT: u64 = 0x1000;

/// Reads `data` as a file of code.
///
/// # Panics
/// If a reader does.
pub(crate) fn read(data: &[u8]) {
    let addresses = any_file::code(data);
    let Some(file) = in_memory(data) else { return };
    if let Ok(image) = Image::of_file(file, 0x40_0000, TEXT) {
        let _ = image.sized_symbols(&["main", "_PyRuntime", "v8dbg_frametype_EntryFrame"]);
        let _ = image.ranges(&|name| name.starts_with('m'));
        let names = [".text", ".eh_frame", ".go.buildinfo", ".gopclntab"];
        names.iter().for_each(|name| drop((image.section_range(name), image.section(name))));
    }
    if let Some(file) = in_memory(data) {
        let within = addresses.iter().flat_map(|address| [*address, address.wrapping_add(1)]);
        native::ask_any(file, &within.chain([TEXT, TEXT + 4]).collect::<Vec<u64>>(), data);
    }
}

fn in_memory(data: &[u8]) -> Option<File> {
    let mut file = File::from(rustix::fs::memfd_create("code", rustix::fs::MemfdFlags::CLOEXEC).ok()?);
    file.write_all(data).ok()?;
    Some(file)
}

/// Files of code: with symbols, stubs, unwind information, a link and a packed file; without.
pub(crate) fn files() -> Vec<Vec<u8>> {
    vec![file(true), file(false)]
}

/// A section: its name, kind, flags, address, the section that it refers to, and its bytes.
type Part<'a> = (&'a str, u32, u64, u64, u32, Vec<u8>);

fn file(is_full: bool) -> Vec<u8> {
    const NOTE: u32 = 7;
    let text = vec![0x55, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3];
    let mut parts: Vec<Part<'_>> = vec![(".text", 1, 6, TEXT, 0, text)];
    if is_full {
        parts.extend([
            (".symtab", 2, 0, 0, 3, symbols(TEXT)),
            (".strtab", 3, 0, 0, 0, b"\0main\0_PyRuntime\0".to_vec()),
            (".dynsym", 11, 2, 0x2000, 5, symbols(0x3000)),
            (".dynstr", 3, 2, 0x2200, 0, b"\0malloc\0_PyRuntime\0".to_vec()),
            (".rela.plt", 4, 2, 0x2400, 4, relocation()),
            (
                ".plt",
                1,
                6,
                0x2600,
                0,
                [[0xff, 0x25, 0xfa, 0x09, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0]; 2].concat(),
            ),
            (".eh_frame", 1, 2, 0x2800, 0, frames(0x2800)),
            (
                ".note.gnu.build-id",
                NOTE,
                2,
                0x2a00,
                0,
                [&[4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0][..], b"GNU\0abcd"].concat(),
            ),
            (".gnu_debuglink", 1, 0, 0, 0, b"app.debug\0\0\0\x11\x22\x33\x44".to_vec()),
            (".gnu_debugdata", 1, 0, 0, 0, EMPTY_XZ.to_vec()),
            (".data", 1, 3, 0x3000, 0, vec![0x10; 64]),
        ]);
    }
    elf(parts)
}

/// An xz file of nothing.
const EMPTY_XZ: &[u8] =
    b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46\0\0\0\0\x1c\xdf\x44\x21\x1f\xb6\xf3\x7d\x01\0\0\0\0\x04YZ";

/// Two symbols (`Elf64_Sym`) behind the first, which is none.
fn symbols(at: u64) -> Vec<u8> {
    let mut all = vec![0; 24];
    for (name, kind, address, size) in [(1u32, 0x12u8, at, 11u64), (6, 0x11, at + 0x10, 8)] {
        all.extend(name.to_le_bytes());
        all.extend([kind, 0, 1, 0]);
        all.extend(address.to_le_bytes());
        all.extend(size.to_le_bytes());
    }
    all
}

/// `Elf64_Rela`: the stub's word, and its symbol.
fn relocation() -> Vec<u8> {
    [0x3000u64, 1 << 32 | 7, 0].iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// `.eh_frame` at an address: one common entry, one function at [`TEXT`].
fn frames(at: u64) -> Vec<u8> {
    let mut all =
        vec![0x14, 0, 0, 0, 0, 0, 0, 0, 1, b'z', b'R', 0, 1, 0x78, 0x10, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0];
    all.extend([0x18, 0, 0, 0, 0x1c, 0, 0, 0]);
    all.extend((TEXT.wrapping_sub(at + 32) as i32).to_le_bytes());
    all.extend([0, 1, 0, 0, 0, 0x41, 0x0e, 0x10, 0x86, 2, 0x0f, 2]);
    all.extend([0x77, 0, 0, 0, 0, 0, 0, 0]);
    all
}

/// An ELF file of 64 bits with one segment, and these sections.
fn elf(parts: Vec<Part<'_>>) -> Vec<u8> {
    const HEAD: usize = 64 + 56;
    let mut names = vec![0];
    let mut bytes = vec![0; HEAD];
    let mut headers = vec![0; 64];
    let count = parts.len() as u16 + 2;
    let mut section =
        |name: &str, kind: u32, flags: u64, address: u64, link: u32, data: &[u8], bytes: &mut Vec<u8>| {
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            let (at, size) = (bytes.len() as u64, data.len() as u64);
            headers.extend((names.len() as u32).to_le_bytes());
            headers.extend(kind.to_le_bytes());
            [flags, address, at, size].iter().for_each(|word| headers.extend(word.to_le_bytes()));
            headers.extend(link.to_le_bytes());
            headers.extend(0u32.to_le_bytes());
            [8u64, 24].iter().for_each(|word| headers.extend(word.to_le_bytes()));
            names.extend(name.bytes().chain([0]));
            bytes.extend(data);
            names.clone()
        };
    for (name, kind, flags, address, link, data) in parts {
        section(name, kind, flags, address, link, &data, &mut bytes);
    }
    let mut all = section(".shstrtab", 3, 0, 0, 0, &[], &mut bytes);
    let size = all.len() as u64;
    let at = bytes.len();
    bytes.append(&mut all);
    let last = headers.len() - 64;
    headers[last + 24..last + 32].copy_from_slice(&(at as u64).to_le_bytes());
    headers[last + 32..last + 40].copy_from_slice(&size.to_le_bytes());
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let sections = bytes.len() as u64;
    let mut head = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0".to_vec();
    [TEXT, 64, sections].iter().for_each(|word| head.extend(word.to_le_bytes()));
    head.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0]);
    head.extend(count.to_le_bytes());
    head.extend((count - 1).to_le_bytes());
    // The segment: all of the file from TEXT on, to run.
    head.extend([1, 0, 0, 0, 5, 0, 0, 0]);
    [0, 0, 0, sections.max(0x4000), 0x4000, 0x1000].iter().for_each(|word| head.extend(word.to_le_bytes()));
    bytes[..HEAD].copy_from_slice(&head);
    bytes.append(&mut headers);
    bytes
}

/// Perf maps as JITs write them.
pub(crate) fn maps() -> Vec<Vec<u8>> {
    let text = "7f0010a0 40 LazyCompile:~work /srv/app.js:12:3\n7f0010e0 20 py::load:/srv/app.py\n7f0010a0 10 Builtin:Call\n0 ffffffffffffffff all\n";
    vec![text.as_bytes().to_vec(), text.replace('\n', "\r\n").into_bytes()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_read_to_its_unwind_information() {
        let file = || in_memory(&files()[0]).expect("made");
        assert!(any_file::code(&files()[0]).len() > 30);
        let image = Image::of_file(file(), 0x40_0000, TEXT).expect("a file of code");
        assert_eq!(image.symbols(&["main", "malloc"]).unwrap()[0], Some(0x40_0000));
        assert!(image.section(".eh_frame").unwrap().is_some());
        assert_eq!(native::ask_any(file(), &[TEXT, TEXT + 4, 0x9000], &[0; 64]), 2);
        assert!(any_file::code(b"\x7fELF").is_empty());
    }
}
