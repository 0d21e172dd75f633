//! One call being printed: finds its memory, and prints what many kinds of argument are made of.

use super::constants;
use super::put::Put;
use super::table::Row;
use super::{Names, PrintOptions};
use crate::raw::{MemoryPiece, RawCall, RawFlags, pieces};

/// What a printer of an argument works with.
pub(super) struct Printer<'c> {
    /// The text of the arguments.
    pub(super) out: &'c mut Vec<u8>,
    /// The text behind the result.
    pub(super) note: &'c mut Vec<u8>,
    /// Room for a reduced payload.
    pub(super) reduced: &'c mut Vec<u8>,
    pub(super) call: &'c RawCall<'c>,
    pub(super) row: &'static Row,
    pub(super) names: &'c dyn Names,
    pub(super) options: &'c PrintOptions,
}

impl<'c> Printer<'c> {
    /// The pieces of the program's memory.
    pub(super) fn pieces(&self) -> impl Iterator<Item = MemoryPiece<'c>> + use<'c> {
        pieces(self.call.memory)
    }

    /// Part `part` of what argument `n` points to, as the program handed it over where that is kept.
    pub(super) fn part(&self, n: usize, part: u8) -> Option<MemoryPiece<'c>> {
        self.pieces().find(|piece| piece.arg as usize == n && piece.part == part && !piece.fault)
    }

    /// What argument `n` points to, as the program handed it over where that is kept.
    pub(super) fn first(&self, n: usize) -> Option<&'c [u8]> {
        self.part(n, 0).map(|piece| piece.bytes)
    }

    /// What argument `n` points to, as the kernel left it.
    pub(super) fn last(&self, n: usize) -> Option<&'c [u8]> {
        self.pieces()
            .filter(|piece| piece.arg as usize == n && piece.part == 0 && !piece.fault)
            .last()
            .map(|piece| piece.bytes)
    }

    /// True where the call returned, and no error.
    pub(super) fn succeeded(&self) -> bool {
        !self.call.flags.contains(RawFlags::NO_EXIT) && !(-4095..0).contains(&self.call.ret)
    }

    /// What it returned, where it succeeded.
    pub(super) fn returned(&self) -> Option<u64> {
        self.succeeded().then_some(self.call.ret as u64)
    }

    /// Prints the address in argument `n`.
    pub(super) fn address(&mut self, n: usize) {
        self.out.pointer(self.call.args[n]);
    }

    /// Prints what argument `n` points to by `print`, which says whether the bytes were enough; else its address.
    pub(super) fn structure(&mut self, n: usize, print: fn(&[u8], &mut Vec<u8>) -> Option<()>) {
        let start = self.out.len();
        if let Some(bytes) = self.first(n) {
            if print(bytes, self.out).is_some() {
                return;
            }
            self.out.truncate(start);
        }
        self.address(n);
    }

    /// A descriptor, with its name where names are shown.
    pub(super) fn fd(&mut self, fd: i32) {
        self.out.signed(fd as i64);
        fd_name(self.names, self.options, self.call.pid, fd, self.out);
    }

    /// A directory descriptor.
    pub(super) fn directory(&mut self, fd: i32) {
        if fd == libc::AT_FDCWD {
            self.out.put("AT_FDCWD");
            fd_name(self.names, self.options, self.call.pid, fd, self.out);
        } else {
            self.fd(fd);
        }
    }

    /// A path, whole.
    pub(super) fn path(&mut self, n: usize) {
        match self.part(n, 0) {
            Some(piece) => self.out.quoted(piece.bytes, piece.cut),
            None => self.address(n),
        }
    }

    /// A string, cut at the limit.
    pub(super) fn text(&mut self, n: usize) {
        match self.part(n, 0) {
            Some(piece) => {
                let shown = piece.bytes.len().min(self.options.string_limit);
                self.out.quoted(&piece.bytes[..shown], piece.cut || shown < piece.bytes.len());
            }
            None => self.address(n),
        }
    }
}

/// `<name>` behind a descriptor, where names are shown and it has one.
pub(super) fn fd_name(names: &dyn Names, options: &PrintOptions, pid: u32, fd: i32, out: &mut Vec<u8>) {
    if !options.fd_names {
        return;
    }
    if let Some(name) = names.fd(pid, fd) {
        out.put("<");
        out.escaped(name.as_bytes());
        out.put(">");
    }
}

/// `u16` at `at` of a struct.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// `u32` at `at` of a struct.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// `u64` at `at` of a struct.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Names a signal, or prints its number.
pub(super) fn constant_or_number(table: &constants::ValueTable, value: u32, out: &mut Vec<u8>) {
    match table.name(value as u64) {
        Some(name) => out.put(name),
        None => out.signed(value as i32 as i64),
    }
}
