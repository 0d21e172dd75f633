//! Functions of CPython, and of its modules in C, in files without a symbol table: each function that Python code can call stands with
//! its name in a table (`PyMethodDef`), and a type or a module has the table. Distributions ship CPython so.
//!
//! The tables are found by what they look like: a name, an address where a function begins, flags, a text or nothing. Functions reach
//! as far as the linker's table of functions says.

use super::elf::{Outline, Section};
use object::elf;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Bytes of data, of texts and of relocations that are looked at; CPython 3.11 has 2.6 MB, 1 MB and none.
const MOST: u64 = 32 << 20;
/// Functions of a file; CPython has some 12,000, of which 2,500 are in tables.
const MAX_FUNCTIONS: usize = 1 << 18;
const MAX_METHODS: usize = 1 << 16;
/// Bytes of a name.
const MAX_NAME: usize = 64;
/// `PyMethodDef`: ml_name, ml_meth, ml_flags, ml_doc (Include/methodobject.h, the same from 3.8 to 3.14).
const METHOD: (u64, u64, u64, u64) = (8, 16, 24, 32);
/// The flags there are: `METH_VARARGS` to `METH_METHOD`.
const FLAGS: u64 = 0x3ff;
/// From the pointer to the methods to that to the name: in `PyTypeObject` (tp_methods, tp_name; Include/cpython/object.h) and in
/// `PyModuleDef` (m_methods, m_name; Include/moduleobject.h).
const TYPE: u64 = 0xe8 - 0x18;
const MODULE: u64 = 0x40 - 0x28;
/// `PyType_Slot` with the methods (`Py_tp_methods`, Include/typeslots.h), its size, and where a `PyType_Spec` has its slots.
const SLOT: (u64, u64, u64) = (64, 16, 0x18);
/// Slots of a type, at most.
const MAX_SLOTS: u64 = 100;
/// `R_X86_64_RELATIVE`.
const RELATIVE: u64 = 8;

/// Functions by their first instruction.
#[derive(Debug, Default)]
pub(super) struct Methods {
    /// Where it begins, where it ends, and its name: `str.split`, `re.Pattern.match`, `_json.scanstring`.
    all: Vec<(u64, u64, Box<str>)>,
}

impl Methods {
    /// Of a file of CPython, by its path; nothing of others.
    pub(super) fn read(file: &File, outline: &Outline, path: &str) -> Methods {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_meant = name.contains("python") && outline.is_x86_64 && outline.is_64;
        let has_symbols =
            outline.sections.iter().any(|section| section.kind == elf::SHT_SYMTAB.0 && section.has_data());
        if !is_meant || has_symbols {
            return Methods::default();
        }
        Methods::of(file, outline).unwrap_or_default()
    }

    fn of(file: &File, outline: &Outline) -> Option<Methods> {
        let data = Data::read(file, outline)?;
        let functions = functions(file, outline)?;
        let mut methods: Vec<(u64, u64, String)> = Vec::new();
        // The tables, by their first entry; each ends with zeros.
        let mut tables: HashSet<u64> = HashSet::new();
        let mut behind = 0;
        for address in data.addresses() {
            let Some((function, name)) = data.method(address, &functions) else { continue };
            if address != behind {
                tables.insert(address);
            }
            behind = address + METHOD.3;
            methods.push((function, address, name));
            if methods.len() >= MAX_METHODS {
                break;
            }
        }
        let mut starts: Vec<u64> = tables.iter().copied().collect();
        starts.sort_unstable();
        let owners = data.owners(&tables);
        let mut all: Vec<(u64, u64, Box<str>)> = Vec::with_capacity(methods.len());
        for (function, address, name) in methods {
            let table = starts[..starts.partition_point(|start| *start <= address)].last()?;
            let at = functions.partition_point(|start| *start <= function);
            let end = functions.get(at).copied().unwrap_or(function + 1);
            let name = match owners.get(table) {
                Some(owner) => format!("{owner}.{name}"),
                None => name,
            };
            all.push((function, end, name.into()));
        }
        all.sort_unstable();
        all.dedup_by_key(|(start, ..)| *start);
        Some(Methods { all })
    }

    /// The function at an address of the file.
    pub(super) fn find(&self, address: u64) -> Option<&str> {
        let at = self.all.partition_point(|(start, ..)| *start <= address).checked_sub(1)?;
        self.all.get(at).filter(|(_, end, _)| address < *end).map(|(.., name)| &**name)
    }
}

/// The first instructions of all functions, sorted, by `.eh_frame_hdr` as linkers write it (Linux Standard Base, 10.6.2).
fn functions(file: &File, outline: &Outline) -> Option<Vec<u64>> {
    let section = outline.section(".eh_frame_hdr")?;
    let bytes = bytes(file, section)?;
    let number = |at: usize| Some(i32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    if !bytes.starts_with(&[1, 0x1b, 0x03, 0x3b]) {
        return None;
    }
    let count = usize::try_from(number(8)?).ok().filter(|count| *count <= MAX_FUNCTIONS)?;
    let start = |at: usize| Some(section.address.wrapping_add_signed(number(12 + at * 8)?.into()));
    let mut found: Vec<u64> = (0..count).map_while(start).collect();
    found.sort_unstable();
    Some(found)
}

fn bytes(file: &File, section: &Section) -> Option<Vec<u8>> {
    if section.size > MOST {
        return None;
    }
    let mut data = vec![0; section.size as usize];
    file.read_exact_at(&mut data, section.offset).ok()?;
    Some(data)
}

/// The sections that have tables and texts.
struct Data {
    /// With the bytes that they have in memory.
    tables: Vec<(u64, Vec<u8>)>,
    texts: Vec<(u64, Vec<u8>)>,
}

impl Data {
    fn read(file: &File, outline: &Outline) -> Option<Data> {
        let of = |name: &str| {
            let section = outline.section(name)?;
            Some((section.address, bytes(file, section)?))
        };
        let mut tables: Vec<(u64, Vec<u8>)> = [".data", ".data.rel.ro"].into_iter().filter_map(of).collect();
        let texts: Vec<(u64, Vec<u8>)> = [".rodata"].into_iter().filter_map(of).collect();
        // Where a file may be loaded anywhere, its pointers stand among the relocations.
        let relocations = of(".rela.dyn").map_or(Vec::new(), |(_, bytes)| bytes);
        for entry in relocations.chunks_exact(24) {
            let word = |at: usize| {
                entry.get(at..at + 8).and_then(|part| part.try_into().ok()).map_or(0, u64::from_le_bytes)
            };
            let (place, kind, value) = (word(0), word(8), word(16));
            if kind != RELATIVE {
                continue;
            }
            for (address, bytes) in &mut tables {
                let at = place.checked_sub(*address).and_then(|at| usize::try_from(at).ok());
                if let Some(word) = at.and_then(|at| bytes.get_mut(at..at.checked_add(8)?)) {
                    word.copy_from_slice(&value.to_le_bytes());
                }
            }
        }
        (!tables.is_empty() && !texts.is_empty()).then_some(Data { tables, texts })
    }

    /// All addresses where a pointer may stand.
    fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        self.tables
            .iter()
            .flat_map(|(address, bytes)| (0..bytes.len() as u64 / 8).map(move |at| address + at * 8))
    }

    fn word(&self, address: u64) -> Option<u64> {
        self.tables.iter().find_map(|(start, bytes)| {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
        })
    }

    /// A name that Python code may have.
    fn name(&self, address: u64) -> Option<String> {
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        self.texts.iter().find_map(|(start, bytes)| {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            let text = bytes.get(at..)?;
            let end = text.iter().take(MAX_NAME).position(|byte| *byte == 0)?;
            let text = text.get(..end).filter(|text| !text.is_empty() && text.iter().all(is_of_name))?;
            let name = std::str::from_utf8(text).ok()?;
            (!name.starts_with(|c: char| c.is_ascii_digit())).then(|| name.to_string())
        })
    }

    fn is_text(&self, address: u64) -> bool {
        self.texts
            .iter()
            .any(|(start, bytes)| address.checked_sub(*start).is_some_and(|at| at < bytes.len() as u64))
    }

    /// The function and the name of an entry of a table of methods.
    fn method(&self, address: u64, functions: &[u64]) -> Option<(u64, String)> {
        let function =
            self.word(address + METHOD.0).filter(|function| functions.binary_search(function).is_ok())?;
        let (flags, doc) = (self.word(address + METHOD.1)?, self.word(address + METHOD.2)?);
        if flags == 0 || flags & !FLAGS != 0 || doc != 0 && !self.is_text(doc) {
            return None;
        }
        Some((function, self.name(self.word(address)?).filter(|name| !name.contains('.'))?))
    }

    /// The types and modules that tables belong to, by their first entries.
    fn owners(&self, tables: &HashSet<u64>) -> HashMap<u64, String> {
        let named =
            |place: Option<u64>| place.and_then(|place| self.word(place)).and_then(|name| self.name(name));
        let mut slots: HashMap<u64, u64> = HashMap::new();
        let mut owners = HashMap::new();
        for place in self.addresses() {
            let Some(table) = self.word(place).filter(|table| tables.contains(table)) else { continue };
            if self.word(place.wrapping_sub(8)) == Some(SLOT.0) {
                // The first of the type's slots: before it stands something else than a number of a slot.
                let is_slot =
                    |place: &u64| self.word(*place).is_some_and(|slot| (1..MAX_SLOTS).contains(&slot));
                let mut first = place.wrapping_sub(8);
                while is_slot(&first.wrapping_sub(SLOT.1)) {
                    first = first.wrapping_sub(SLOT.1);
                }
                slots.insert(first, table);
            } else if let Some(name) =
                named(place.checked_sub(TYPE)).or_else(|| named(place.checked_sub(MODULE)))
            {
                owners.entry(table).or_insert(name);
            }
        }
        for place in self.addresses() {
            let table = self.word(place).and_then(|first| slots.get(&first));
            if let Some((table, name)) = table.zip(named(place.checked_sub(SLOT.2))) {
                owners.entry(*table).or_insert(name);
            }
        }
        owners
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_python_without_symbols_names_what_python_code_calls() {
        let path = ["/usr/bin/python3.11", "/usr/bin/python3.12", "/usr/bin/python3.13"]
            .into_iter()
            .find(|path| Path::new(path).exists());
        let Some(path) = path else {
            println!("skipped: no Python of the distribution");
            return;
        };
        let file = File::open(path).unwrap();
        let methods = Methods::read(&file, &Outline::read(&file).unwrap(), path);
        if methods.all.is_empty() {
            println!("skipped: {path} has symbols");
            return;
        }
        let names: Vec<&str> = methods.all.iter().map(|(.., name)| &**name).collect();
        for name in [
            "str.split",
            "str.strip",
            "list.sort",
            "dict.get",
            "re.Pattern.match",
            "builtins.sorted",
            "marshal.loads",
        ] {
            assert!(names.contains(&name), "{name}");
        }
        let (start, end, name) = methods.all.iter().find(|(.., name)| &**name == "str.split").unwrap();
        assert_eq!(methods.find(*start), Some(&**name));
        assert_eq!(methods.find(end - 1), Some(&**name));
        assert!(methods.all.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    }

    #[test]
    fn other_files_and_damaged_ones_name_nothing() {
        let own = File::open("/proc/self/exe").unwrap();
        let outline = Outline::read(&own).unwrap();
        assert!(Methods::read(&own, &outline, "/srv/app").all.is_empty());
        // It has symbols.
        assert!(Methods::read(&own, &outline, "/usr/bin/python3.11").all.is_empty());
        let mut outline = Outline::default();
        (outline.is_64, outline.is_x86_64) = (true, true);
        assert!(Methods::read(&own, &outline, "/usr/bin/python3.11").all.is_empty());
    }
}
