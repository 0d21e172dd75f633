//! The code cache: which blob of code an instruction is of. What a blob's header says is kept by its range and compared
//! with the header at each use: code comes and goes.

use super::compiled::{Compiled, CompiledLayout, Site};
use super::describe::{Descriptions, Object, extent};
use super::header::Header;
use super::methods::Methods;
use crate::process::{MemoryError, Process};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a blob of code is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A method compiled by C1 or C2.
    Compiled,
    /// The bridge to a native method, one for each.
    Native,
    /// The bytecode interpreter.
    Interpreter,
    /// Code of the VM itself.
    Own,
}

/// A blob that was seen.
struct Blob {
    header: Header,
    kind: Kind,
    /// Of compiled and native methods.
    compiled: Option<Compiled>,
    /// When it was compared last.
    checked: Instant,
}

struct BlobLayout {
    name: u64,
    size: u64,
    frame_size: u64,
    frame_complete: u64,
    /// 2 bytes from JDK 23 on, where code begins at an offset.
    code_begin: Option<u64>,
    code_offset: u64,
}

impl BlobLayout {
    fn of(described: &Descriptions) -> Result<BlobLayout, String> {
        let code_begin = described.offset(&["CodeBlob::_code_begin"]).ok();
        Ok(BlobLayout {
            name: described.offset(&["CodeBlob::_name"])?,
            size: described.offset(&["CodeBlob::_size"])?,
            frame_size: described.offset(&["CodeBlob::_frame_size"])?,
            frame_complete: described.offset(&["CodeBlob::_frame_complete_offset"])?,
            code_begin,
            code_offset: match code_begin {
                Some(_) => 0,
                None => described.offset(&["CodeBlob::_code_offset"])?,
            },
        })
    }

    fn extent(&self) -> u64 {
        extent(&[
            self.name,
            self.size,
            self.frame_size,
            self.frame_complete,
            self.code_begin.unwrap_or(0),
            self.code_offset,
        ])
    }

    fn header(&self, object: &Object) -> Result<Header, MemoryError> {
        let start = object.address();
        let size = u64::from(object.u32(self.size));
        let (code, complete) = match self.code_begin {
            Some(offset) => (object.u64(offset), object.i32(self.frame_complete)),
            None => (
                start + u64::from(object.u32(self.code_offset)),
                i32::from(object.u16(self.frame_complete) as i16),
            ),
        };
        let end = start.saturating_add(size);
        if size > CodeCache::LARGEST || !(start..=end).contains(&code) {
            return Err(MemoryError::Unlikely("a blob of code"));
        }
        // Negative where it has no frame of a fixed size (`frame_never_safe`, `no_frame`).
        let words = u64::try_from(object.i32(self.frame_size)).unwrap_or(0);
        let complete = u64::try_from(complete).unwrap_or(0);
        let frame_size = if words <= CodeCache::FRAME { words * 8 } else { 0 };
        let name = object.u64(self.name);
        Ok(Header { start, end, name, code, frame_size, frame_complete: code.saturating_add(complete) })
    }
}

/// One of the heaps that the code cache is of.
#[derive(Clone, Copy, Debug)]
struct Heap {
    low: u64,
    high: u64,
    /// A byte for each segment: how many segments back the blob begins at most, or [`FREE`].
    segments: u64,
    shift: u32,
}

/// A segment of no blob: `CodeHeap::free_sentinel` of `memory/heap.hpp`.
const FREE: u8 = 0xff;

struct HeapLayout {
    heaps: u64,
    low_bound: u64,
    high_bound: u64,
    list_length: u64,
    list_data: u64,
    memory: u64,
    segments: u64,
    shift: u64,
    low: u64,
    low_boundary: u64,
    high_boundary: u64,
    block: u64,
    used: u64,
}

impl HeapLayout {
    fn of(described: &Descriptions) -> Result<HeapLayout, String> {
        Ok(HeapLayout {
            heaps: described.address("CodeCache::_heaps")?,
            low_bound: described.address("CodeCache::_low_bound")?,
            high_bound: described.address("CodeCache::_high_bound")?,
            list_length: described.offset(&["GrowableArrayBase::_len", "GenericGrowableArray::_len"])?,
            // Of whichever element: the field is the same pointer in all.
            list_data: described.offset(&["GrowableArray<int>::_data"])?,
            memory: described.offset(&["CodeHeap::_memory"])?,
            segments: described.offset(&["CodeHeap::_segmap"])?,
            shift: described.offset(&["CodeHeap::_log2_segment_size"])?,
            low: described.offset(&["VirtualSpace::_low"])?,
            low_boundary: described.offset(&["VirtualSpace::_low_boundary"])?,
            high_boundary: described.offset(&["VirtualSpace::_high_boundary"])?,
            block: described.size("HeapBlock")?,
            used: described.offset(&["HeapBlock::Header::_used"])?,
        })
    }

    /// The heaps as they are now, and the range that they all are in.
    fn read(&self, process: &Process) -> Result<(u64, u64, Vec<Heap>), MemoryError> {
        let (low, high) = (process.u64(self.low_bound)?, process.u64(self.high_bound)?);
        let list = process.u64(self.heaps)?;
        if list == 0 {
            return Ok((0, 0, Vec::new()));
        }
        let list = Object::read(process, list, extent(&[self.list_length, self.list_data]))?;
        let count = u64::from(list.u32(self.list_length)).min(CodeCache::HEAPS);
        let mut heaps = Vec::new();
        for at in 0..count {
            let heap = process.u64(list.u64(self.list_data).wrapping_add(at * 8))?;
            let size =
                [self.memory, self.segments].map(|space| space + extent(&[self.low, self.high_boundary]));
            let heap = Object::read(process, heap, extent(&[size[0], size[1], self.shift]))?;
            let shift = heap.u32(self.shift);
            if !(3..16).contains(&shift) {
                return Err(MemoryError::Unlikely("a heap of code"));
            }
            heaps.push(Heap {
                low: heap.u64(self.memory + self.low_boundary),
                high: heap.u64(self.memory + self.high_boundary),
                segments: heap.u64(self.segments + self.low),
                shift,
            });
        }
        Ok((low, high, heaps))
    }

    /// Where the blob of an address begins, by the map of segments.
    fn blob(&self, process: &Process, heap: &Heap, address: u64) -> Result<Option<u64>, MemoryError> {
        let mut segment = (address - heap.low) >> heap.shift;
        for _ in 0..CodeCache::HOPS {
            match process.u8(heap.segments.wrapping_add(segment))? {
                FREE => return Ok(None),
                0 => {
                    let block = heap.low + (segment << heap.shift);
                    let used = process.u8(block + self.used)? == 1;
                    return Ok(used.then_some(block + self.block));
                }
                back => {
                    let before = segment.checked_sub(u64::from(back));
                    segment = before.ok_or(MemoryError::Unlikely("a map of code"))?;
                }
            }
        }
        Err(MemoryError::Unlikely("a map of code"))
    }
}

/// The code cache of a process.
pub(super) struct CodeCache {
    heaps_layout: HeapLayout,
    blobs_layout: BlobLayout,
    compiled_layout: CompiledLayout,
    low: u64,
    high: u64,
    heaps: Vec<Heap>,
    looked: Option<Instant>,
    blobs: BTreeMap<u64, Blob>,
}

impl CodeCache {
    /// Heaps there can be; JDK 25 has up to 4.
    const HEAPS: u64 = 16;
    /// Bytes of the largest blob; the code cache has up to 2 GiB, a method far less.
    const LARGEST: u64 = 64 << 20;
    /// Words of the largest frame.
    const FRAME: u64 = 1 << 16;
    /// Steps back in a map of segments.
    const HOPS: usize = 2048;
    /// Blobs kept; all are forgotten when there are more.
    const KEPT: usize = 1 << 14;
    /// A blob is compared again after so long; one that has a frame on a stack is not replaced.
    const STANDS: Duration = Duration::from_millis(5);
    /// Heaps are looked for anew no more often: an instruction outside of them is mostly of a library.
    const AGAIN: Duration = Duration::from_millis(500);

    pub(super) fn of(described: &Descriptions, major: u32) -> Result<CodeCache, String> {
        Ok(CodeCache {
            heaps_layout: HeapLayout::of(described)?,
            blobs_layout: BlobLayout::of(described)?,
            compiled_layout: CompiledLayout::of(described, major)?,
            low: 0,
            high: 0,
            heaps: Vec::new(),
            looked: None,
            blobs: BTreeMap::new(),
        })
    }

    /// True where an address is in the range of the code cache.
    pub(super) fn contains(&mut self, process: &Process, address: u64) -> bool {
        let inside = |cache: &CodeCache| (cache.low..cache.high).contains(&address);
        if !inside(self) && self.looked.is_none_or(|looked| looked.elapsed() > CodeCache::AGAIN) {
            self.looked = Some(Instant::now());
            if let Ok((low, high, heaps)) = self.heaps_layout.read(process) {
                (self.low, self.high, self.heaps) = (low, high, heaps);
            }
        }
        inside(self)
    }

    /// The blob that an instruction is of; `None` where there is none.
    ///
    /// # Errors
    /// Where its header cannot be.
    pub(super) fn blob(&mut self, process: &Process, ip: u64) -> Result<Option<(Header, Kind)>, MemoryError> {
        if !self.contains(process, ip) {
            return Ok(None);
        }
        if let Some((start, blob)) = self.blobs.range(..=ip).next_back()
            && ip < blob.header.end
        {
            let (start, found) = (*start, Some((blob.header, blob.kind)));
            if blob.checked.elapsed() < CodeCache::STANDS {
                return Ok(found);
            }
            if self.stands(process, blob) {
                self.blobs.entry(start).and_modify(|blob| blob.checked = Instant::now());
                return Ok(found);
            }
            self.blobs.remove(&start);
        }
        let Some(start) = self.find(process, ip)? else { return Ok(None) };
        let blob = self.read(process, start)?;
        let (header, kind) = (blob.header, blob.kind);
        if !(header.code..header.end).contains(&ip) {
            return Ok(None);
        }
        if self.blobs.len() >= CodeCache::KEPT {
            self.blobs.clear();
        }
        self.blobs.insert(start, blob);
        Ok(Some((header, kind)))
    }

    /// The compiled or native method of a blob that was just looked up.
    pub(super) fn compiled(&self, header: &Header) -> Result<&Compiled, MemoryError> {
        let compiled = self.blobs.get(&header.start).and_then(|blob| blob.compiled.as_ref());
        compiled.ok_or(MemoryError::Unlikely("a compiled method"))
    }

    /// What an instruction of a compiled method is of, which was just looked up.
    ///
    /// # Errors
    /// Where memory does not tell.
    pub(super) fn site(
        &mut self,
        process: &Process,
        methods: &mut Methods,
        header: &Header,
        ip: u64,
    ) -> Result<Arc<Site>, MemoryError> {
        let compiled = self.blobs.get_mut(&header.start).and_then(|blob| blob.compiled.as_mut());
        let compiled = compiled.ok_or(MemoryError::Unlikely("a compiled method"))?;
        compiled.site(process, (&self.compiled_layout, methods), header, ip)
    }

    fn find(&self, process: &Process, ip: u64) -> Result<Option<u64>, MemoryError> {
        match self.heaps.iter().find(|heap| (heap.low..heap.high).contains(&ip)) {
            Some(heap) => self.heaps_layout.blob(process, heap, ip),
            None => Ok(None),
        }
    }

    /// True where a blob is still what it was.
    fn stands(&self, process: &Process, blob: &Blob) -> bool {
        let size = self.blobs_layout.extent().max(match blob.compiled {
            Some(_) => self.compiled_layout.extent(),
            None => 0,
        });
        let Ok(object) = Object::read(process, blob.header.start, size) else { return false };
        self.blobs_layout.header(&object).is_ok_and(|header| header == blob.header)
            && blob.compiled.as_ref().is_none_or(|compiled| self.compiled_layout.stands(&object, compiled))
    }

    fn read(&self, process: &Process, start: u64) -> Result<Blob, MemoryError> {
        let size = self.blobs_layout.extent().max(self.compiled_layout.extent());
        let object = Object::read(process, start, size)?;
        let header = self.blobs_layout.header(&object)?;
        // The names of `nmethod::nmethod` (`code/nmethod.cpp`), and of the blob of `TemplateInterpreter::initialize_stub`.
        let kind = match &*process.c_text(header.name, 32)? {
            "nmethod" => Kind::Compiled,
            "native nmethod" => Kind::Native,
            "Interpreter" => Kind::Interpreter,
            _ => Kind::Own,
        };
        let compiled = match kind {
            Kind::Compiled | Kind::Native => Some(self.compiled_layout.compiled(&object, &header)?),
            Kind::Interpreter | Kind::Own => None,
        };
        Ok(Blob { header, kind, compiled, checked: Instant::now() })
    }
}
