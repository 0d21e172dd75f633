//! Reads the pieces of a program's memory that a call's specification asks for, from outside of the program: for the
//! ptrace recorder, and for what a recording by BPF finds under way at its end.

use super::sys;
use crate::raw::{MemoryPiece, PIECE_CUT, push_piece};
use crate::spec::{CallSpec, KeptMemory, MAX_BUFFERS, Size, When};

/// Strings of an array that are kept: the number of a part has four bits.
const MAX_STRINGS: usize = 16;
/// A pointer below this is a flag, a small number or NULL: the kernel maps nothing there.
const LOWEST_ADDRESS: u64 = 4096;
/// Bytes of a `struct iovec`.
const BUFFER_SIZE: usize = 16;
/// Bytes of a `struct msghdr`.
const MESSAGE_SIZE: usize = 56;
/// Bytes of the largest socket address (`struct sockaddr_storage`).
const MAX_ADDRESS: usize = 128;
/// Bytes kept of a message's control data.
const MAX_CONTROL: usize = 64;

/// How far a call has come when memory is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It is entered: what it will destroy is read.
    Entered,
    /// It goes on, and nobody will see it return: all that the program handed over is read.
    UnderWay,
    /// It returned this.
    Returned(i64),
}

/// A call as far as it is known when memory is read.
#[derive(Clone, Copy)]
pub(crate) struct Moment<'a> {
    /// The thread. Not its process: where the first thread has ended, the process's number leads to no memory.
    pub(crate) tid: u32,
    /// The argument registers.
    pub(crate) args: &'a [u64; 6],
    /// How far it has come.
    pub(crate) stage: Stage,
}

/// Reads what `spec` asks for at this moment, and appends it to `memory`. `payload` is how many bytes of payload to keep.
/// Returns false where a piece could not be read.
pub(crate) fn read_pieces(
    spec: &CallSpec,
    moment: Moment<'_>,
    payload: u16,
    buffer: &mut Vec<u8>,
    memory: &mut Vec<u8>,
) -> bool {
    let mut complete = true;
    for piece in spec.pieces {
        let due = match (piece.when, moment.stage) {
            (When::Enter, Stage::Entered | Stage::UnderWay) => true,
            (When::Exit, Stage::UnderWay | Stage::Returned(_)) => true,
            (When::Success, Stage::Returned(ret)) => ret >= 0,
            _ => false,
        };
        let address = moment.args[piece.arg as usize % 6];
        if !due || address < LOWEST_ADDRESS {
            continue;
        }
        // Of the vectored calls the array is wanted in any case.
        let vectored = matches!(piece.size, Size::Iovec | Size::Message);
        let kept = !piece.payload || (payload > 0 && (piece.when != When::Success || is_stream(moment)));
        if !kept && !vectored {
            continue;
        }
        let cap = match (kept, piece.payload) {
            (false, _) => 0,
            (true, true) => payload,
            (true, false) => piece.cap,
        };
        complete &= Reader { moment, piece, cap: cap.into(), buffer, memory }.read(address);
    }
    complete
}

/// True where the descriptor in the first argument is a socket or a pipe: what is read from files is not looked at.
fn is_stream(moment: Moment<'_>) -> bool {
    let link = std::fs::read_link(format!("/proc/{}/fd/{}", moment.tid, moment.args[0] as i32));
    link.is_ok_and(|target| {
        let target = target.as_os_str().as_encoded_bytes();
        target.starts_with(b"socket:[") || target.starts_with(b"pipe:[")
    })
}

struct Reader<'a> {
    moment: Moment<'a>,
    piece: &'a KeptMemory,
    cap: usize,
    buffer: &'a mut Vec<u8>,
    memory: &'a mut Vec<u8>,
}

impl Reader<'_> {
    fn read(&mut self, address: u64) -> bool {
        match self.piece.size {
            Size::Text => self.text(address, 0),
            Size::Fixed => self.bytes(address, 0, self.piece.scale.into(), self.cap),
            Size::Arg => {
                let units = self.moment.args[self.piece.of as usize % 6];
                let size = units.saturating_mul(self.piece.scale.into());
                // A call that wrote moved no more than it says.
                let moved = match self.moment.stage {
                    Stage::Returned(ret) if self.piece.payload && ret >= 0 => ret as u64,
                    _ => u64::MAX,
                };
                self.bytes(address, 0, size.min(moved), self.cap)
            }
            Size::Ret => {
                self.bytes(address, 0, self.moved().saturating_mul(self.piece.scale.into()), self.cap)
            }
            Size::ArgPointer => {
                let pointer = self.moment.args[self.piece.of as usize % 6];
                match self.number::<4>(pointer).map(u32::from_ne_bytes) {
                    Some(size) => self.bytes(address, 0, size.into(), self.cap),
                    None => pointer < LOWEST_ADDRESS || self.fault(0),
                }
            }
            Size::TextArray => self.text_array(address),
            Size::Iovec => {
                let count = self.moment.args[self.piece.of as usize % 6];
                self.buffers(address, count, 0, 1)
            }
            Size::Message => self.message(address),
        }
    }

    /// Bytes that the call moved; no limit where it has not returned yet.
    fn moved(&self) -> u64 {
        match self.moment.stage {
            Stage::Returned(ret) => ret.max(0) as u64,
            Stage::Entered | Stage::UnderWay => u64::MAX,
        }
    }

    fn number<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        let readable =
            address >= LOWEST_ADDRESS && sys::read_memory(self.moment.tid, address, &mut bytes) == N;
        readable.then_some(bytes)
    }

    fn word(&self, address: u64) -> Option<u64> {
        self.number::<8>(address).map(u64::from_ne_bytes)
    }

    fn push(&mut self, part: usize, length: usize, cut: bool) {
        let bytes = &self.buffer[..length];
        push_piece(
            self.memory,
            MemoryPiece { arg: self.piece.arg, part: part as u8, bytes, cut, fault: false, reduced: false },
        );
    }

    fn fault(&mut self, part: usize) -> bool {
        let arg = self.piece.arg;
        let none = MemoryPiece { arg, part: part as u8, bytes: b"", cut: false, fault: true, reduced: false };
        push_piece(self.memory, none);
        false
    }

    /// `size` bytes, `cap` at most.
    fn bytes(&mut self, address: u64, part: usize, size: u64, cap: usize) -> bool {
        let wanted = usize::try_from(size).unwrap_or(usize::MAX).min(cap);
        self.buffer.resize(wanted, 0);
        let read = sys::read_memory(self.moment.tid, address, self.buffer);
        if read == 0 && wanted > 0 {
            return self.fault(part);
        }
        self.push(part, read, read as u64 != size);
        read == wanted
    }

    /// A string without its NUL.
    fn text(&mut self, address: u64, part: usize) -> bool {
        // One more than is kept, so that a string that just fits is seen to end.
        self.buffer.resize(self.cap + 1, 0);
        let mut read = 0;
        while read < self.buffer.len() {
            // Most strings are short: to the end of the page first, then the rest.
            let at = address.saturating_add(read as u64);
            let to_page_end = (sys::PAGE - at % sys::PAGE) as usize;
            let end = self.buffer.len().min(read + to_page_end);
            let got = sys::read_memory(self.moment.tid, at, &mut self.buffer[read..end]);
            if let Some(length) = memchr::memchr(0, &self.buffer[read..read + got]) {
                self.push(part, read + length, false);
                return true;
            }
            read += got;
            if got == 0 {
                break;
            }
        }
        if read == 0 {
            return self.fault(part);
        }
        let kept = read.min(self.cap);
        self.push(part, kept, true);
        read > self.cap
    }

    /// The strings of an array that ends with a null pointer.
    fn text_array(&mut self, address: u64) -> bool {
        let mut complete = true;
        for part in 0..MAX_STRINGS {
            match self.word(address.saturating_add(part as u64 * 8)) {
                Some(0) => break,
                Some(string) => {
                    let begin = self.memory.len();
                    complete &= self.text(string, part);
                    let more = part + 1 == MAX_STRINGS
                        && self
                            .word(address.saturating_add(MAX_STRINGS as u64 * 8))
                            .is_some_and(|next| next != 0);
                    if more && let Some(flags) = self.memory.get_mut(begin + PIECE_FLAGS) {
                        *flags |= PIECE_CUT;
                    }
                }
                None => {
                    complete = self.fault(part);
                    break;
                }
            }
        }
        complete
    }

    /// An array of `count` times `struct iovec` as `array_part`, and what its buffers hold as the parts from `first` on:
    /// together no more than `cap` and than the call moved.
    fn buffers(&mut self, address: u64, count: u64, array_part: usize, first: usize) -> bool {
        let size = count.saturating_mul(BUFFER_SIZE as u64);
        if !self.bytes(address, array_part, size, MAX_BUFFERS * BUFFER_SIZE) {
            return false;
        }
        // The array itself goes by way of the same buffer.
        let array = std::mem::take(self.buffer);
        let mut complete = true;
        let (mut moved, mut room) = (self.moved(), self.cap);
        for (part, entry) in (first..).zip(array.chunks_exact(BUFFER_SIZE)) {
            if room == 0 || moved == 0 {
                break;
            }
            let (Some(base), Some(length)) = (word_at(entry, 0), word_at(entry, 8)) else { break };
            let size = length.min(moved);
            if base >= LOWEST_ADDRESS && size > 0 {
                complete &= self.bytes(base, part, size, room);
            }
            room = room.saturating_sub(size as usize);
            moved -= size;
        }
        *self.buffer = array;
        complete
    }

    /// A `struct msghdr` (sendmsg(2)): name, its length, the array of buffers, its length, control data, its length.
    fn message(&mut self, address: u64) -> bool {
        let Some(header) = self.number::<MESSAGE_SIZE>(address) else { return self.fault(0) };
        let field = |at| word_at(&header, at).unwrap_or(0);
        let (name, name_length) = (field(0), field(8) & u64::from(u32::MAX));
        let (array, count, control, control_length) = (field(16), field(24), field(32), field(40));
        let mut complete = self.bytes(address, 0, MESSAGE_SIZE as u64, MESSAGE_SIZE);
        if name >= LOWEST_ADDRESS {
            complete &= self.bytes(name, 1, name_length, MAX_ADDRESS);
        }
        if control >= LOWEST_ADDRESS {
            complete &= self.bytes(control, 3, control_length, MAX_CONTROL);
        }
        if array >= LOWEST_ADDRESS {
            complete &= self.buffers(array, count, 2, 4);
        }
        complete
    }
}

fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Where the flags stand in the header of a piece ([`crate::raw::PIECE_HEADER`]).
const PIECE_FLAGS: usize = 3;
