//! The structs that the BPF programs and we share: `common.bpf.h` and the programs' records, mirrored.

use whyslow_model::InodeId;

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;

/// Longest record, bytes (`MAX_RECORD`).
pub(crate) const MAX_RECORD: usize = 8192;
/// Rows of the table of call specifications (`MAX_CALL_NUMBERS`).
pub(crate) const MAX_CALL_NUMBERS: usize = 512;
/// Bytes of a thread's name (`COMM_LENGTH`).
pub(crate) const COMM_LENGTH: usize = 16;

/// What a record tells (`enum record_kind`).
pub(crate) mod kind {
    pub(crate) const PAD: u8 = 0;
    pub(crate) const CALL: u8 = 1;
    pub(crate) const ENTER: u8 = 2;
    pub(crate) const COUNTS: u8 = 3;
    pub(crate) const TASK: u8 = 4;
    pub(crate) const FORK: u8 = 5;
    pub(crate) const EXEC: u8 = 6;
    pub(crate) const EXIT: u8 = 7;
    pub(crate) const STRETCH: u8 = 8;
    pub(crate) const WAKEUP: u8 = 9;
    pub(crate) const SAMPLE: u8 = 10;
    pub(crate) const OFFCPU: u8 = 11;
    pub(crate) const BLOCK: u8 = 12;
    pub(crate) const WAIT_STACK: u8 = 13;
    pub(crate) const NET: u8 = 14;
    pub(crate) const SIGNAL: u8 = 15;
    pub(crate) const TOTALS: u8 = 16;
    pub(crate) const FILE: u8 = 17;
    pub(crate) const PATH: u8 = 18;
    pub(crate) const STACK_COPY: u8 = 19;
    pub(crate) const MEANWHILE: u8 = 20;
    pub(crate) const FRAMES_COPY: u8 = 21;
    pub(crate) const CALL_STACK: u8 = 22;
    // Not of the kernel's side: what was read beside it (`quota`, `queues`, `unwinding`, `follow`).
    pub(crate) const GROUP: u8 = 64;
    pub(crate) const QUOTA: u8 = 65;
    pub(crate) const QUEUE: u8 = 66;
    pub(crate) const FRAME: u8 = 67;
    pub(crate) const UNWOUND: u8 = 68;
    pub(crate) const BLOCKED: u8 = 69;
    pub(crate) const FOLLOWED: u8 = 70;
    /// Rows of `struct rare_counts` (`RECORD_KINDS`).
    pub(crate) const COUNT: usize = 32;
}

/// `struct settings`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) ring_mask: u64,
    pub(crate) sched_mask: u64,
    pub(crate) slow_call: u64,
    pub(crate) long_off: u64,
    pub(crate) own_pid: u32,
    pub(crate) follow: u32,
    pub(crate) all: u32,
    pub(crate) payload: u32,
    pub(crate) all_payload: u32,
    pub(crate) text_cap: u32,
    pub(crate) match_comm: u32,
    pub(crate) sample_hz: u32,
    pub(crate) wait_stacks: u32,
    pub(crate) tids: u32,
    pub(crate) slots: u32,
    pub(crate) probe: u32,
    pub(crate) probe_returns: u32,
    pub(crate) from_exec_of: u32,
    pub(crate) stack_copies: u32,
    pub(crate) files_with_calls: u32,
    pub(crate) wakeups: u32,
    pub(crate) pad: u32,
    pub(crate) comm: [u8; COMM_LENGTH],
}

/// `struct control`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Control {
    pub(crate) calls: u32,
    pub(crate) wait_stacks: u32,
    pub(crate) wait_every: u32,
    pub(crate) sample_every: u32,
    pub(crate) parts: u32,
    pub(crate) detail: u32,
    pub(crate) call_stacks: u32,
    pub(crate) pad: u32,
    pub(crate) calls_since: u64,
}

/// `PART_…` of `struct control`.
pub(crate) mod part {
    pub(crate) const FILES: u32 = 1;
    pub(crate) const WAKEUPS: u32 = 2;
    pub(crate) const NET: u32 = 4;
    pub(crate) const BLOCK: u32 = 8;
}

/// `struct ring_head`, without what only the kernel's side reads.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct RingHead {
    pub(crate) head: u64,
    pub(crate) produced: u64,
    pub(crate) lost: u64,
    pub(crate) lost_first: u64,
    pub(crate) lost_last: u64,
    busy: u64,
    pub(crate) aside: u64,
    pub(crate) aside_lost: u64,
    pub(crate) tail: u64,
    unused2: [u64; 7],
}

/// `struct piece_spec`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PieceSpec {
    pub(crate) arg: u8,
    pub(crate) when: u8,
    pub(crate) size: u8,
    pub(crate) of: u8,
    pub(crate) scale: u16,
    pub(crate) cap: u16,
    pub(crate) payload: u8,
    pub(crate) pad: [u8; 3],
}

/// `struct call_spec`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallSpecRow {
    pub(crate) args: u8,
    pub(crate) pieces: u8,
    pub(crate) flags: u8,
    pub(crate) pad: u8,
    pub(crate) piece: [PieceSpec; crate::spec::MAX_PIECES],
}

/// `struct frame_list`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameListRow {
    pub(crate) head: u64,
    pub(crate) through: u32,
    pub(crate) at: u32,
    pub(crate) next: u32,
    pub(crate) bytes: u32,
    pub(crate) step: i32,
    pub(crate) index: u32,
    pub(crate) beside: i32,
    pub(crate) words: u32,
}

/// Flags of copies (`enum` in `bpf/stack_copy.bpf.h`).
pub(crate) mod copy_flag {
    pub(crate) const OF_WAIT: u8 = 1;
    pub(crate) const WHOLE: u8 = 2;
}

/// Bytes of a thread's slot number.
pub(crate) const SLOT_BYTES: usize = 4;

/// Flags of [`CallSpecRow`].
pub(crate) mod spec_flag {
    pub(crate) const STATE: u8 = 1;
    pub(crate) const SKIP: u8 = 2;
    pub(crate) const ENTER: u8 = 4;
    pub(crate) const FUTEX: u8 = 8;
}

/// `struct count_row`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CountRow {
    pub(crate) key: u64,
    pub(crate) calls: u64,
    pub(crate) errors: u64,
    pub(crate) total: u64,
    pub(crate) shortest: u64,
    pub(crate) longest: u64,
    pub(crate) buckets: [u32; 32],
}

impl CountRow {
    /// Of one call, as `count_call` makes it (programs/calls/counts.bpf.h). `dur`: ns, where it is known.
    pub(crate) fn of_call(tid: u32, nr: u16, dur: Option<u64>, ret: i64) -> CountRow {
        let mut row = CountRow {
            key: u64::from(tid) << 32 | (u64::from(nr) + 1),
            calls: 1,
            errors: u64::from((-4095..0).contains(&ret)),
            total: dur.unwrap_or(0),
            shortest: dur.unwrap_or(u64::MAX),
            longest: dur.unwrap_or(0),
            buckets: [0; 32],
        };
        if let Some(dur) = dur {
            row.buckets[(dur.max(1).ilog2() as usize).min(31)] = 1;
        }
        row
    }

    /// Reads one, front to back; `None` where it is not whole.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<CountRow> {
        let mut row = CountRow {
            key: fields.u64()?,
            calls: fields.u64()?,
            errors: fields.u64()?,
            total: fields.u64()?,
            shortest: fields.u64()?,
            longest: fields.u64()?,
            buckets: [0; 32],
        };
        for bucket in &mut row.buckets {
            *bucket = fields.u32()?;
        }
        Some(row)
    }
}

/// Rows a CPU of the table of counts (`COUNT_ROWS`).
pub(crate) const COUNT_ROWS: usize = 4096;

/// Rows a CPU of the table of what was done with files (`FILE_ROWS`).
pub(crate) const FILE_ROWS: usize = 4096;
/// Bytes of one of them (`struct file_row`).
pub(crate) const FILE_ROW_BYTES: usize = 128;

/// Rows a CPU of the table of who had the CPU that threads waited for (`MEANWHILE_ROWS`).
pub(crate) const MEANWHILE_ROWS: usize = 4096;
/// Bytes of one of them (`struct meanwhile_row`).
pub(crate) const MEANWHILE_ROW_BYTES: usize = 48;

/// The bytes of a struct of this file.
pub(crate) fn bytes_of<T: Copy>(value: &T) -> &[u8] {
    // SAFETY: the structs here are repr(C) of integers without padding, so that every byte is initialised.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}

/// Reads integers out of a record, front to back. A record that is too short yields `None`.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
    pub(crate) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_ne_bytes(self.bytes(2)?.try_into().ok()?))
    }
    pub(crate) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.bytes(4)?.try_into().ok()?))
    }
    pub(crate) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.bytes(8)?.try_into().ok()?))
    }
    /// `struct inode_id`: the file; `Some(None)` where it is none.
    pub(crate) fn inode(&mut self) -> Option<Option<InodeId>> {
        let (inode, device, generation) = (self.u64()?, self.u32()?, self.u32()?);
        // include/linux/kdev_t.h: 20 bits for the minor number.
        let (major, minor) = (device >> 20, device & 0xf_ffff);
        Some((inode != 0).then_some(InodeId { major, minor, inode, generation }))
    }
}

/// The header that each record begins with (`struct record`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// Bytes of the record, header included.
    pub(crate) length: usize,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) tid: u32,
    pub(crate) ts: u64,
}

impl Header {
    pub(crate) const SIZE: usize = 16;
    /// Where its flags stand.
    pub(crate) const FLAGS: usize = 3;

    /// A record of what was read beside the kernel's side; none where it is too long.
    pub(crate) fn with(kind: u8, tid: u32, ts: u64, body: &[u8]) -> Vec<u8> {
        let Ok(length) = u16::try_from(Self::SIZE + body.len()) else { return Vec::new() };
        let mut record = Vec::with_capacity(usize::from(length));
        record.extend_from_slice(&length.to_ne_bytes());
        record.extend_from_slice(&[kind, 0]);
        record.extend_from_slice(&tid.to_ne_bytes());
        record.extend_from_slice(&ts.to_ne_bytes());
        record.extend_from_slice(body);
        record
    }

    /// The header at the front of `bytes`; `None` where they hold no whole record.
    #[inline]
    pub(crate) fn of(bytes: &[u8]) -> Option<Header> {
        let head: &[u8; Self::SIZE] = bytes.first_chunk()?;
        let length = u16::from_ne_bytes([head[0], head[1]]) as usize;
        if length < 8 || length > bytes.len() {
            return None;
        }
        Some(Header {
            length,
            kind: head[2],
            flags: head[3],
            tid: u32::from_ne_bytes([head[4], head[5], head[6], head[7]]),
            ts: u64::from_ne_bytes(*head[8..].first_chunk()?),
        })
    }
}
