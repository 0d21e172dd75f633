//! The code that a process has loaded, and the unwind information of its files: read by pieces and never mapped, each file once
//! for all processes.

use super::unwind_info::UnwindInfo;
use crate::process::{MemoryMapping, Process};
use object::elf::{FileHeader64, PF_X, PT_LOAD};
use object::read::ReadCache;
use object::read::ReadRef;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Weak};

/// A mapping of code.
#[derive(Clone)]
pub struct Module {
    /// First address.
    pub start: u64,
    /// First address behind it.
    pub end: u64,
    /// Added to an address of the file, it is one of the process.
    pub bias: u64,
    /// It is of a file, and not made at run time.
    pub is_file: bool,
    /// How to unwind it; `None` for code without such information.
    pub info: Option<Arc<UnwindInfo>>,
}

/// All code of a process.
#[derive(Clone, Default)]
pub struct Modules {
    all: Arc<[Module]>,
    /// Of the mappings that it was read from.
    hash: u64,
}

impl Modules {
    /// The module of an address.
    pub fn find(&self, address: u64) -> Option<&Module> {
        let behind = self.all.partition_point(|module| module.start <= address);
        self.all.get(behind.checked_sub(1)?).filter(|module| address < module.end)
    }

    /// True where the same code is at the same addresses.
    pub fn is_same(&self, other: &Modules) -> bool {
        let of = |module: &Module| {
            let info = module.info.as_ref().map(|info| info.id());
            (module.start, module.end, module.bias, info)
        };
        self.all.iter().map(of).eq(other.all.iter().map(of))
    }
}

/// A file as it is now: device, inode, bytes, and when it was changed (seconds, nanoseconds).
type Key = (u64, u64, u64, i64, i64);

/// What is known of a file of code.
struct Code {
    segments: Vec<Segment>,
    info: Option<Arc<UnwindInfo>>,
}

/// Where a part of a file is loaded.
struct Segment {
    address: u64,
    offset: u64,
    size: u64,
}

/// Tells mappings of code from others.
fn code_hash(process: &Process) -> u64 {
    let mut hasher = DefaultHasher::new();
    for mapping in process.mappings().iter().filter(|mapping| mapping.executable) {
        (mapping.start, mapping.end, mapping.offset, &mapping.file, &mapping.path).hash(&mut hasher);
    }
    hasher.finish()
}

/// Reads unwind information.
pub struct Loader {
    files: HashMap<Key, Weak<UnwindInfo>>,
    most: usize,
    next: u32,
}

impl Loader {
    /// Bytes of the unwind information of one file.
    const FILE: u64 = 32 << 20;
    /// Headers of sections or segments of a file.
    const HEADERS: u32 = 1 << 16;
    /// Mappings of code of a process.
    const MODULES: usize = 1 << 14;

    /// Keeps at most so many bytes of all files together; for others there is no unwind information.
    pub fn new(most: usize) -> Loader {
        Loader { files: HashMap::new(), most, next: 0 }
    }

    /// The code of a process; what is `known` of it, where it has the same mappings still. It may take a while.
    pub fn modules(&mut self, process: &Process, known: Option<&Modules>) -> Modules {
        let hash = code_hash(process);
        if let Some(known) = known.filter(|known| known.hash == hash) {
            return known.clone();
        }
        self.files.retain(|_, info| info.strong_count() > 0);
        let mut seen: HashMap<(&str, u64), Option<Code>> = HashMap::new();
        let code = process.mappings().iter().filter(|mapping| mapping.executable).take(Loader::MODULES);
        let all = code.map(|mapping| {
            let MemoryMapping { start, end, offset, .. } = *mapping;
            let vdso;
            let code = match &mapping.file {
                Some((device, inode)) => {
                    let of = seen.entry((&**device, *inode));
                    of.or_insert_with(|| self.file(process.open_file(mapping).ok()?)).as_ref()
                }
                None if &*mapping.path == "[vdso]" => {
                    vdso = self.vdso(process, mapping);
                    vdso.as_ref()
                }
                None => None,
            };
            let placed = code.and_then(|code| {
                let holds = |segment: &&Segment| {
                    (segment.offset & !0xfff) <= offset
                        && offset < segment.offset.saturating_add(segment.size)
                };
                let segment = code.segments.iter().find(holds)?;
                let bias = start.wrapping_sub(offset);
                let bias = bias.wrapping_sub(segment.address.wrapping_sub(segment.offset));
                Some((bias, code.info.clone()))
            });
            let (bias, info) = placed.unwrap_or_default();
            Module { start, end, bias, is_file: mapping.file.is_some(), info }
        });
        Modules { all: all.collect(), hash }
    }

    /// The unwind information of a file; `None` where it has none.
    pub(super) fn of_file(&mut self, file: File) -> Option<Arc<UnwindInfo>> {
        self.file(file)?.info
    }

    fn file(&mut self, file: File) -> Option<Code> {
        let about = file.metadata().ok()?;
        let key = (about.dev(), about.ino(), about.size(), about.mtime(), about.mtime_nsec());
        let cache = ReadCache::new(file);
        let known = self.files.get(&key).and_then(Weak::upgrade);
        let code = self.parse(&cache, known)?;
        if let Some(info) = &code.info {
            self.files.insert(key, Arc::downgrade(info));
        }
        Some(code)
    }

    /// The kernel's own code in a process, which is in no file.
    fn vdso(&mut self, process: &Process, mapping: &MemoryMapping) -> Option<Code> {
        // Some pages; its inside is an ELF file.
        let mut bytes = vec![0; usize::try_from(mapping.end - mapping.start).ok().filter(|s| *s <= 1 << 20)?];
        process.read(mapping.start, &mut bytes).ok()?;
        // Who owns the process may have changed it.
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let key = (0, hasher.finish(), bytes.len() as u64, 0, 0);
        let known = self.files.get(&key).and_then(Weak::upgrade);
        let code = self.parse(&*bytes, known)?;
        if let Some(info) = &code.info {
            self.files.insert(key, Arc::downgrade(info));
        }
        Some(code)
    }

    fn parse<'data, R: ReadRef<'data>>(&mut self, data: R, known: Option<Arc<UnwindInfo>>) -> Option<Code> {
        let header = FileHeader64::<object::LittleEndian>::parse(data).ok()?;
        let endian = header.endian().ok()?;
        if header.phnum(endian, data).ok()? > Loader::HEADERS {
            return None;
        }
        let loaded = header.program_headers(endian, data).ok()?;
        let loaded = loaded.iter().filter(|segment| segment.p_type(endian) == PT_LOAD);
        let segments: Vec<Segment> = loaded
            .clone()
            .filter(|segment| segment.p_flags(endian).contains(PF_X))
            .map(|segment| Segment {
                address: segment.p_vaddr(endian),
                offset: segment.p_offset(endian),
                size: segment.p_filesz(endian),
            })
            .collect();
        let base = loaded.map(|segment| segment.p_vaddr(endian)).min()?;
        let info = known.or_else(|| self.info(header, endian, data, base).map(Arc::new));
        Some(Code { segments, info })
    }

    fn info<'data, R: ReadRef<'data>>(
        &mut self,
        header: &FileHeader64<object::LittleEndian>,
        endian: object::LittleEndian,
        data: R,
        base: u64,
    ) -> Option<UnwindInfo> {
        if header.shnum(endian, data).ok()? > Loader::HEADERS {
            return None;
        }
        let sections = header.sections(endian, data).ok()?;
        let section = |name: &[u8]| {
            let (_, section) = sections.section_by_name(endian, name)?;
            (section.sh_size(endian) <= Loader::FILE).then_some(())?;
            Some((section.sh_addr(endian), section.data(endian, data).ok()?))
        };
        let (address, eh_frame) = section(b".eh_frame")?;
        let table = section(b".eh_frame_hdr");
        let kept: usize = self.files.values().filter_map(Weak::upgrade).map(|info| info.size()).sum();
        if kept + eh_frame.len() + table.map_or(0, |(_, table)| table.len()) > self.most {
            return None;
        }
        self.next = self.next.wrapping_add(1);
        Some(UnwindInfo::new(self.next, base, eh_frame.into(), address, table))
    }
}
