//! A call as the kernel's side hands it over: numbers, registers, and the pieces of the program's memory that its
//! specification ([`crate::spec`]) asked for. BPF and ptrace make the same.

use whyslow_model::Nanos;

/// What is special about a raw call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RawFlags(pub u8);

impl RawFlags {
    /// It was entered before the recording began: time of entry and arguments may be unknown.
    pub const NO_ENTER: RawFlags = RawFlags(1);
    /// It did not return while it was recorded (still in it at the end, `exit`, killed in it).
    pub const NO_EXIT: RawFlags = RawFlags(2);
    /// The call of a 32-bit program (another table of numbers).
    pub const COMPAT: RawFlags = RawFlags(4);
    /// A piece of memory could not be read, or did not fit.
    pub const PIECE_MISSING: RawFlags = RawFlags(8);
    /// The process was killed in it.
    pub const KILLED: RawFlags = RawFlags(16);
    /// It would have been counted, had there been many.
    pub const DETAIL: RawFlags = RawFlags(32);

    /// True where all of `other` are set.
    pub fn contains(self, other: RawFlags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// [`RawCall::cpu`] of a recorder that does not see the CPU (ptrace).
pub const CPU_UNKNOWN: u16 = u16::MAX;

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct RawCall<'a> {
    /// When it was entered: ns of `CLOCK_MONOTONIC`; `None` where that was before the recording.
    pub enter: Option<u64>,
    /// How long it took, ns; `None` where it did not return or its entry was not seen.
    pub dur: Option<u64>,
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// The CPU on which it returned; [`CPU_UNKNOWN`] where the recorder does not see it.
    pub cpu: u16,
    /// Its number in the table of the machine's own architecture.
    pub nr: u16,
    /// What is special about it.
    pub flags: RawFlags,
    /// What it returned: a value, or `-errno` from -1 to -4095. With [`RawFlags::NO_EXIT`] and [`RawFlags::NO_ENTER`] how long its thread
    /// has slept in it, ns; 0 where that is not known. Meaningless with the first alone.
    pub ret: i64,
    /// The argument registers; those that the call does not have are 0.
    pub args: [u64; 6],
    /// The pieces of memory, as laid out by [`pieces`].
    pub memory: &'a [u8],
}

impl RawCall<'_> {
    /// How long its thread has slept in it as the recording ended, where it was under way all along and the kernel tells.
    pub(crate) fn asleep(&self) -> Option<Nanos> {
        let all_along = self.flags.contains(RawFlags::NO_EXIT) && self.flags.contains(RawFlags::NO_ENTER);
        u64::try_from(self.ret).ok().filter(|ns| all_along && *ns > 0).map(Nanos::new)
    }
}

/// One piece of the program's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryPiece<'a> {
    /// The argument that points to it, from 0.
    pub arg: u8,
    /// Number of the part, where one argument leads to several (the strings of `argv`, the buffers of an iovec).
    pub part: u8,
    /// The bytes. A string has no NUL at its end.
    pub bytes: &'a [u8],
    /// True where there was more than was kept.
    pub cut: bool,
    /// True where it could not be read at all (`bytes` is empty).
    pub fault: bool,
    /// True for payload of which only what may be kept is left ([`crate::decode::payload::reduce`]).
    pub reduced: bool,
}

/// Bytes of the header of one piece: `u16 length, u8 arg | part << 4, u8 flags` in the machine's byte order, then the
/// bytes, padded to a multiple of 4.
pub const PIECE_HEADER: usize = 4;
/// Flag of a piece: there was more.
pub const PIECE_CUT: u8 = 1;
/// Flag of a piece: not readable.
pub const PIECE_FAULT: u8 = 2;
/// Flag of a piece: reduced.
const PIECE_REDUCED: u8 = 4;

/// The argument of a piece that is none: it fills a record up to a multiple of 8 bytes.
pub const PIECE_PAD: u8 = 15;

/// The pieces in `memory`. Ends where the bytes do not make sense.
pub fn pieces(memory: &[u8]) -> impl Iterator<Item = MemoryPiece<'_>> {
    let mut rest = memory;
    let pieces = std::iter::from_fn(move || {
        let (header, behind) = rest.split_at_checked(PIECE_HEADER)?;
        let length = u16::from_ne_bytes([header[0], header[1]]) as usize;
        let bytes = behind.get(..length)?;
        rest = behind.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some(MemoryPiece {
            arg: header[2] & 15,
            part: header[2] >> 4,
            bytes,
            cut: header[3] & PIECE_CUT != 0,
            fault: header[3] & PIECE_FAULT != 0,
            reduced: header[3] & PIECE_REDUCED != 0,
        })
    });
    pieces.filter(|piece| piece.arg != PIECE_PAD)
}

/// Fills `memory` up to a multiple of 8 bytes, as records are.
pub fn pad(memory: &mut Vec<u8>) {
    if !memory.len().is_multiple_of(8) {
        memory.extend_from_slice(&[0, 0, PIECE_PAD, 0]);
    }
}

/// Appends a piece to `memory`, as the kernel's side lays it out.
pub fn push_piece(memory: &mut Vec<u8>, piece: MemoryPiece<'_>) {
    let length = piece.bytes.len().min(u16::MAX as usize);
    memory.extend_from_slice(&(length as u16).to_ne_bytes());
    memory.push(piece.arg & 15 | piece.part << 4);
    let flags = [(piece.cut, PIECE_CUT), (piece.fault, PIECE_FAULT), (piece.reduced, PIECE_REDUCED)];
    memory.push(flags.iter().map(|(set, flag)| u8::from(*set) * flag).sum());
    memory.extend_from_slice(&piece.bytes[..length]);
    memory.resize(memory.len().next_multiple_of(4), 0);
}
