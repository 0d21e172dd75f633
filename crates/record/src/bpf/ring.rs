//! The consumer's side of the rings that have one part a CPU: mapped memory, taken in whole stretches.

use crate::bpf::layout::{MAX_RECORD, RingHead};
use crate::bpf::object::{fd, ring_stride};
use crate::error::RecordError;
use libbpf_rs::MapHandle;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Shared memory of a BPF map.
pub(crate) struct Mapping {
    base: *mut c_void,
    length: usize,
}

// SAFETY: the memory stays mapped until drop, and is read and written through atomics or by one consumer only.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `length` bytes of a map.
    pub(crate) fn of(map: &MapHandle, length: usize, writable: bool) -> Result<Mapping, RecordError> {
        let length = length.next_multiple_of(rustix::param::page_size());
        let protection = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe { mmap(ptr::null_mut(), length, protection, MapFlags::SHARED, fd(map), 0) };
        let base =
            base.map_err(|errno| RecordError::Kernel { what: "mapping a BPF ring", source: errno.into() })?;
        Ok(Mapping { base, length })
    }

    /// The address `offset` bytes behind the start.
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.length, "offset {offset} of {}", self.length);
        // SAFETY: within the mapping, as just checked.
        unsafe { self.base.cast::<u8>().add(offset) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by us, and nobody holds a reference past our life.
        let _ = unsafe { munmap(self.base, self.length) };
    }
}

/// What a ring lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RingLoss {
    pub(crate) produced: u64,
    pub(crate) lost: u64,
    /// Of both, records that are no rows of the ring's own table.
    pub(crate) aside: u64,
    pub(crate) aside_lost: u64,
    /// ns of `CLOCK_MONOTONIC`; meaningless where nothing was lost.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Left out to keep the cost within the budget; not among those produced.
    pub(crate) refused: u64,
    /// In the programs that make them, as far as they time themselves, ns.
    pub(crate) spent_ns: u64,
}

impl RingLoss {
    pub(crate) const NONE: RingLoss = RingLoss {
        produced: 0,
        lost: 0,
        aside: 0,
        aside_lost: 0,
        first: u64::MAX,
        last: 0,
        refused: 0,
        spent_ns: 0,
    };

    /// What was added since an earlier reading.
    pub(crate) fn since(&self, before: &RingLoss) -> RingLoss {
        RingLoss {
            produced: self.produced - before.produced,
            lost: self.lost - before.lost,
            aside: self.aside - before.aside,
            aside_lost: self.aside_lost - before.aside_lost,
            refused: self.refused - before.refused,
            spent_ns: self.spent_ns - before.spent_ns,
            ..*self
        }
    }

    /// Both together.
    pub(crate) fn plus(&self, other: &RingLoss) -> RingLoss {
        RingLoss {
            produced: self.produced + other.produced,
            lost: self.lost + other.lost,
            aside: self.aside + other.aside,
            aside_lost: self.aside_lost + other.aside_lost,
            first: self.first.min(other.first),
            last: self.last.max(other.last),
            refused: self.refused + other.refused,
            spent_ns: self.spent_ns + other.spent_ns,
        }
    }

    /// The rows of the ring's own table alone.
    pub(crate) fn own(&self) -> RingLoss {
        RingLoss { produced: self.produced - self.aside, lost: self.lost - self.aside_lost, ..*self }
    }

    /// The others alone.
    pub(crate) fn others(&self) -> RingLoss {
        RingLoss { produced: self.aside, lost: self.aside_lost, ..*self }
    }

    /// The rows of the ring's own table, and the others as far as they are lost: what is then missing cannot be told apart.
    pub(crate) fn own_and_lost(&self) -> RingLoss {
        RingLoss { produced: self.produced - (self.aside - self.aside_lost), ..*self }
    }
}

/// The heads of the rings of all CPUs of one kind: what went through them.
pub(crate) struct RingHeads {
    heads: Mapping,
    cpus: usize,
}

/// The rings of all CPUs of one kind. Mapped once only: each mapping counts as memory of ours in full.
pub(crate) struct Rings {
    heads: RingHeads,
    data: Mapping,
    size: usize,
}

impl RingHeads {
    pub(crate) fn new(heads: &MapHandle, cpus: u32) -> Result<RingHeads, RecordError> {
        let cpus = cpus as usize;
        Ok(RingHeads { heads: Mapping::of(heads, cpus * size_of::<RingHead>(), true)?, cpus })
    }

    fn counter(&self, cpu: usize, offset: usize) -> &AtomicU64 {
        let at = self.heads.at(cpu * size_of::<RingHead>() + offset);
        // SAFETY: an aligned u64 within the mapping (heads are multiples of 8 bytes), written by the kernel's side and read
        // here only as an atomic.
        unsafe { AtomicU64::from_ptr(at.cast()) }
    }

    /// Records produced and lost over all CPUs.
    pub(crate) fn loss(&self) -> RingLoss {
        let mut sum = RingLoss::NONE;
        for cpu in 0..self.cpus {
            let read = |offset| self.counter(cpu, offset).load(Ordering::Relaxed);
            sum.produced += read(std::mem::offset_of!(RingHead, produced));
            sum.aside += read(std::mem::offset_of!(RingHead, aside));
            sum.aside_lost += read(std::mem::offset_of!(RingHead, aside_lost));
            let lost = read(std::mem::offset_of!(RingHead, lost));
            if lost > 0 {
                sum.lost += lost;
                sum.first = sum.first.min(read(std::mem::offset_of!(RingHead, lost_first)));
                sum.last = sum.last.max(read(std::mem::offset_of!(RingHead, lost_last)));
            }
        }
        sum
    }
}

impl Rings {
    pub(crate) fn new(
        heads: &MapHandle,
        data: &MapHandle,
        size: u32,
        cpus: u32,
    ) -> Result<Rings, RecordError> {
        Ok(Rings {
            heads: RingHeads::new(heads, cpus)?,
            data: Mapping::of(data, cpus as usize * ring_stride(size), false)?,
            size: size as usize,
        })
    }

    pub(crate) fn cpus(&self) -> usize {
        self.heads.cpus
    }

    fn counter(&self, cpu: usize, offset: usize) -> &AtomicU64 {
        self.heads.counter(cpu, offset)
    }

    /// Takes what is in the ring of `cpu`, in at most two stretches of whole records. Returns the bytes taken.
    pub(crate) fn take(&self, cpu: usize, mut with: impl FnMut(&[u8])) -> usize {
        let head = self.counter(cpu, std::mem::offset_of!(RingHead, head)).load(Ordering::Acquire);
        let tail_at = self.counter(cpu, std::mem::offset_of!(RingHead, tail));
        let mut tail = tail_at.load(Ordering::Relaxed);
        let waiting = head.wrapping_sub(tail) as usize;
        if waiting == 0 {
            return 0;
        }
        let mut left = waiting;
        while left > 0 {
            let offset = tail as usize & (self.size - 1);
            // A record may reach past the end only where the lap ends with it: the kernel's side begins none there.
            let stretch = left.min(self.size - offset);
            let from = self.data.at(cpu * ring_stride(self.size as u32) + offset);
            // SAFETY: within this CPU's part; the kernel's side does not write between tail and head.
            with(unsafe { std::slice::from_raw_parts(from, stretch) });
            tail += stretch as u64;
            left -= stretch;
            tail_at.store(tail, Ordering::Release);
        }
        waiting
    }

    /// Share of the fullest CPU's ring that is in use, 0 to 1.
    pub(crate) fn fill(&self) -> f64 {
        let used = (0..self.cpus()).map(|cpu| {
            let head = self.counter(cpu, std::mem::offset_of!(RingHead, head)).load(Ordering::Relaxed);
            head.wrapping_sub(self.counter(cpu, std::mem::offset_of!(RingHead, tail)).load(Ordering::Relaxed))
        });
        used.max().unwrap_or(0) as f64 / self.size as f64
    }
}

/// The size of one CPU's ring: `total` shared by all, a power of two of at least 16 records' room.
pub(crate) fn size_for(total: u64, cpus: u32) -> u32 {
    let each = (total / cpus.max(1) as u64).clamp(16 * MAX_RECORD as u64, 1 << 29) as u32;
    if each.is_power_of_two() { each } else { each.next_power_of_two() / 2 }
}
