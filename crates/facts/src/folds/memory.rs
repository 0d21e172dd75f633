//! Memory taken from the kernel and given back: mappings of one size, the heap's end, madvise.

use crate::Fold;
use crate::args::numbers::hex;
use crate::exemplar::Exemplars;
use crate::world::ids::{FileId, ProcessId};
use crate::world::{Seen, World};
use whyslow_model::event::Tid;
use whyslow_model::{Call, CallStats, Syscall, text};

/// Mappings that were made and given back: anonymous ones of one size, or those of one file.
#[derive(Clone, Debug)]
pub struct MapPairs {
    /// The process.
    pub process: ProcessId,
    /// The thread that gave one back first.
    pub tid: Tid,
    /// Another thread did too.
    pub shared: bool,
    /// The file; `None` for anonymous ones.
    pub file: Option<FileId>,
    /// The size, bytes; of a file's the mean.
    pub size: u64,
    /// All sizes together, bytes.
    pub bytes: u64,
    /// Pairs of mmap and munmap.
    pub pairs: u64,
    /// The mmap and munmap calls.
    pub calls: CallStats,
    /// Lines of mmap calls.
    pub maps: Exemplars,
    /// Lines of munmap calls.
    pub unmaps: Exemplars,
}

/// The heap's end (brk) of one process.
#[derive(Clone, Debug)]
pub struct Heap {
    /// The process.
    pub process: ProcessId,
    /// The thread that moved it first.
    pub tid: Tid,
    /// brk calls.
    pub calls: CallStats,
    /// Times it grew again after it had been lowered.
    pub regrown: u64,
    /// Bytes given back.
    pub lowered: u64,
    /// Lines.
    pub exemplars: Exemplars,
    end: u64,
    fell: bool,
}

/// madvise calls that give pages back, of one process.
#[derive(Clone, Debug)]
pub struct Releases {
    /// The process.
    pub process: ProcessId,
    /// The thread that did so first.
    pub tid: Tid,
    /// Another thread did too.
    pub shared: bool,
    /// `MADV_DONTNEED` or `MADV_FREE`.
    pub advice: &'static str,
    /// The calls; bytes are what was given back.
    pub calls: CallStats,
    /// Of these, those for a range that had been given back shortly before: it was used again in between.
    pub again: u64,
    /// Lines.
    pub exemplars: Exemplars,
    recent: [u64; Releases::RECENT],
    next: usize,
}

impl Releases {
    /// Ranges remembered.
    const RECENT: usize = 32;
}

/// Memory traffic by process.
#[derive(Debug, Default)]
pub struct Memory {
    /// Mappings, a row a process and size, or a process and file.
    pub maps: Vec<MapPairs>,
    /// Heaps, a row a process.
    pub heaps: Vec<Heap>,
    /// Releases, a row a process and advice.
    pub releases: Vec<Releases>,
    /// The last mappings made, in a ring.
    live: Vec<Mapping>,
    next: usize,
}

#[derive(Clone, Copy, Debug)]
struct Mapping {
    process: ProcessId,
    address: u64,
    size: u64,
    file: Option<FileId>,
    dur: whyslow_model::Nanos,
}

impl Mapping {
    fn is_in(&self, row: &MapPairs) -> bool {
        row.process == self.process && row.file == self.file && (self.file.is_some() || row.size == self.size)
    }
}

impl Memory {
    /// Mappings remembered until they are given back: churn gives back soon.
    const MAX_LIVE: usize = 64;
    /// Rows of each kind.
    const MAX_ROWS: usize = 256;

    fn mapped(&mut self, seen: &Seen<'_>) {
        let call = seen.call;
        let Some(address) = call.ok() else { return };
        // Stacks and reservations (PROT_NONE) are start-up of threads and arenas.
        let anonymous = memchr::memmem::find(call.args, b"MAP_ANON").is_some()
            && memchr::memmem::find(call.args, b"MAP_STACK").is_none()
            && memchr::memmem::find(call.args, b"PROT_NONE").is_none();
        let file = seen.file.filter(|_| !anonymous);
        let Some(size) = second_number(call.args).filter(|_| anonymous || file.is_some()) else {
            return;
        };
        let mapping = Mapping { process: seen.process, address: address as u64, size, file, dur: call.dur };
        if self.live.len() < Self::MAX_LIVE {
            self.live.push(mapping);
        } else {
            self.live[self.next] = mapping;
            self.next = (self.next + 1) % Self::MAX_LIVE;
        }
        // Only what came back once is worth lines.
        if let Some(row) = self.maps.iter_mut().find(|row| mapping.is_in(row)) {
            row.maps.see(call);
        }
    }

    fn unmapped(&mut self, seen: &Seen<'_>) {
        let call = seen.call;
        let (Some(address), Some(size)) = (first_address(call.args), second_number(call.args)) else {
            return;
        };
        let same = |one: &Mapping| one.address == address && one.process == seen.process && one.size == size;
        let Some(at) = self.live.iter().position(same) else {
            return;
        };
        let mapping = self.live[at];
        // Its place in the ring stays, for nothing.
        self.live[at].address = u64::MAX;
        let at = match self.maps.iter().position(|row| mapping.is_in(row)) {
            Some(at) => at,
            None if self.maps.len() < Self::MAX_ROWS => {
                self.maps.push(MapPairs {
                    process: seen.process,
                    tid: call.tid,
                    shared: false,
                    file: mapping.file,
                    size,
                    bytes: 0,
                    pairs: 0,
                    calls: CallStats::default(),
                    maps: Exemplars::default(),
                    unmaps: Exemplars::default(),
                });
                self.maps.len() - 1
            }
            None => return,
        };
        let row = &mut self.maps[at];
        row.pairs += 1;
        row.bytes = row.bytes.saturating_add(size);
        if row.file.is_some() {
            row.size = row.bytes / row.pairs;
        }
        row.shared |= row.tid != call.tid;
        row.calls.record(mapping.dur, false, 0);
        row.calls.record(call.dur, call.failed(), 0);
        row.unmaps.see(call);
    }

    fn moved_heap(&mut self, seen: &Seen<'_>) {
        let call = seen.call;
        let Some(end) = call.ok().map(|end| end as u64) else { return };
        let at = match self.heaps.iter().position(|heap| heap.process == seen.process) {
            Some(at) => at,
            None if self.heaps.len() < Self::MAX_ROWS => {
                self.heaps.push(Heap {
                    process: seen.process,
                    tid: call.tid,
                    calls: CallStats::default(),
                    regrown: 0,
                    lowered: 0,
                    exemplars: Exemplars::default(),
                    end,
                    fell: false,
                });
                self.heaps.len() - 1
            }
            None => return,
        };
        let heap = &mut self.heaps[at];
        heap.calls.record(call.dur, call.failed(), 0);
        heap.exemplars.see(call);
        match end.cmp(&heap.end) {
            std::cmp::Ordering::Less => {
                heap.lowered = heap.lowered.saturating_add(heap.end - end);
                heap.fell = true;
            }
            std::cmp::Ordering::Greater => {
                heap.regrown += heap.fell as u64;
                heap.fell = false;
            }
            std::cmp::Ordering::Equal => {}
        }
        heap.end = end;
    }

    fn advised(&mut self, seen: &Seen<'_>) {
        let call = seen.call;
        let advice = match call.args {
            args if args.ends_with(b"MADV_DONTNEED") => "MADV_DONTNEED",
            args if args.ends_with(b"MADV_FREE") => "MADV_FREE",
            _ => return,
        };
        let (Some(address), Some(size)) = (first_address(call.args), second_number(call.args)) else {
            return;
        };
        let fits = |row: &Releases| row.process == seen.process && row.advice == advice;
        let at = match self.releases.iter().position(fits) {
            Some(at) => at,
            None if self.releases.len() < Self::MAX_ROWS => {
                self.releases.push(Releases {
                    process: seen.process,
                    tid: call.tid,
                    shared: false,
                    advice,
                    calls: CallStats::default(),
                    again: 0,
                    exemplars: Exemplars::default(),
                    recent: [0; Releases::RECENT],
                    next: 0,
                });
                self.releases.len() - 1
            }
            None => return,
        };
        let row = &mut self.releases[at];
        row.shared |= row.tid != call.tid;
        row.calls.record(call.dur, call.failed(), if call.failed() { 0 } else { size });
        row.exemplars.see(call);
        if row.recent.contains(&address) {
            row.again += 1;
        } else {
            row.recent[row.next] = address;
            row.next = (row.next + 1) % Releases::RECENT;
        }
    }
}

fn first_address(args: &[u8]) -> Option<u64> {
    hex(args.strip_prefix(b"0x")?)
}

/// The second argument, a plain number.
fn second_number(args: &[u8]) -> Option<u64> {
    let comma = memchr::memchr(b',', args)?;
    let (number, _) = text::decimal(args[comma + 1..].trim_ascii_start())?;
    u64::try_from(number).ok()
}

impl Fold for Memory {
    fn wants(&self, syscall: Syscall) -> bool {
        matches!(syscall, Syscall::MMAP | Syscall::MMAP2 | Syscall::MUNMAP | Syscall::BRK | Syscall::MADVISE)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, _: &World) {
        let call: &Call<'_> = seen.call;
        match call.syscall {
            Syscall::MMAP | Syscall::MMAP2 => self.mapped(seen),
            Syscall::MUNMAP => self.unmapped(seen),
            Syscall::BRK => self.moved_heap(seen),
            _ => self.advised(seen),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Event, Ret, Sink};

    fn push(facts: &mut Facts, name: &str, args: &str, ret: i64) {
        let mut call = Call::new(name, args);
        call.ret = Ret::Value(ret);
        facts.push(Event::Call(&call));
    }

    const FLAGS: &str = "PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0";

    #[test]
    fn pairs_are_of_one_size_and_address() {
        let mut facts = Facts::default();
        for _ in 0..10 {
            push(&mut facts, "mmap", &format!("NULL, 1048576, {FLAGS}"), 0x7f00_0000);
            push(&mut facts, "munmap", "0x7f000000, 1048576", 0);
            push(
                &mut facts,
                "mmap",
                "NULL, 8392704, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_STACK, -1, 0",
                0x7e00_0000,
            );
            push(&mut facts, "munmap", "0x7e000000, 8392704", 0);
            push(&mut facts, "mmap", "NULL, 4096, PROT_READ, MAP_PRIVATE, 3, 0", 0x7d00_0000);
            push(&mut facts, "munmap", "0x7d000000, 4096", 0);
        }
        assert_eq!(facts.memory.maps.len(), 1);
        assert_eq!((facts.memory.maps[0].size, facts.memory.maps[0].pairs), (1_048_576, 10));
    }

    #[test]
    fn the_heap_zigzags() {
        let mut facts = Facts::default();
        push(&mut facts, "brk", "NULL", 0x1000);
        for _ in 0..5 {
            push(&mut facts, "brk", "0x21000", 0x21000);
            push(&mut facts, "brk", "0x1000", 0x1000);
        }
        assert_eq!((facts.memory.heaps[0].regrown, facts.memory.heaps[0].lowered), (4, 5 * 0x20000));
    }

    #[test]
    fn ranges_given_back_again_are_counted() {
        let mut facts = Facts::default();
        for i in 0..30 {
            push(&mut facts, "madvise", &format!("{:#x}, 4096, MADV_DONTNEED", 0x10_0000 + i % 3 * 4096), 0);
            push(&mut facts, "madvise", "0x200000, 4096, MADV_HUGEPAGE", 0);
        }
        let row = &facts.memory.releases[0];
        assert_eq!((row.calls.count, row.again, row.calls.bytes), (30, 27, 30 * 4096));
    }
}
