//! The table of syscalls: one row a call, by the numbers of x86-64 (`arch/x86/entry/syscalls/syscall_64.tbl`): its name,
//! how its arguments are printed, and what of the program's memory is kept for that.

mod descriptors;
mod files;
mod identity;
mod memory;
mod network;
mod process;
mod signals_time;
mod system;
mod waits;

use super::arg::Arg;
use crate::spec::{CallSpec, KeptMemory, Size, When};

/// One syscall.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its number.
    pub nr: u16,
    /// Its name, as strace prints it.
    pub name: &'static str,
    /// Its arguments, in the order of the registers.
    pub args: &'static [Arg],
    /// Its result is a new descriptor.
    pub makes_fd: bool,
    /// What to keep of it.
    pub spec: CallSpec,
}

/// One more than the largest number in the table.
pub const NUMBERS: usize = 470;

/// The rows, by class of call.
const CLASSES: [&[Row]; 9] = [
    descriptors::ROWS,
    files::ROWS,
    identity::ROWS,
    memory::ROWS,
    network::ROWS,
    process::ROWS,
    signals_time::ROWS,
    system::ROWS,
    waits::ROWS,
];

static BY_NUMBER: [Option<&'static Row>; NUMBERS] = by_number();

const fn by_number() -> [Option<&'static Row>; NUMBERS] {
    let mut table = [None; NUMBERS];
    let mut class = 0;
    while class < CLASSES.len() {
        let rows = CLASSES[class];
        let mut i = 0;
        while i < rows.len() {
            let nr = rows[i].nr as usize;
            assert!(table[nr].is_none(), "two rows of one number");
            table[nr] = Some(&rows[i]);
            i += 1;
        }
        class += 1;
    }
    table
}

/// The row of call number `nr`; `None` for a number that is not in the table.
#[inline]
pub fn row_of(nr: u16) -> Option<&'static Row> {
    *BY_NUMBER.get(nr as usize)?
}

/// What to keep of call number `nr`; `None` for a number that is not in the table: then keep the registers.
#[inline]
pub fn spec(nr: u16) -> Option<&'static CallSpec> {
    row_of(nr).map(|row| &row.spec)
}

/// All rows, in the order of their numbers.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    BY_NUMBER.iter().flatten().copied()
}

/// Bytes kept of a path. The kernel's own limit (`PATH_MAX`) is 4096; a longer one than this is shown as cut.
const PATH: u16 = 1024;

/// Bytes kept of one string that is not a path: names of keys, attributes, arguments of a program.
const STRING: u16 = 256;

const fn row(nr: u16, name: &'static str, args: &'static [Arg]) -> Row {
    let spec = CallSpec { args: args.len() as u8, pieces: &[], state: false };
    Row { nr, name, args, makes_fd: false, spec }
}

impl Row {
    /// With these pieces of memory kept.
    const fn keeps(mut self, pieces: &'static [KeptMemory]) -> Row {
        assert!(pieces.len() <= crate::spec::MAX_PIECES);
        self.spec.pieces = pieces;
        self
    }

    /// It changes what later calls mean: always recorded in full.
    const fn state(mut self) -> Row {
        self.spec.state = true;
        self
    }

    /// It returns a new descriptor, which makes it change what later calls mean.
    const fn opens(mut self) -> Row {
        self.makes_fd = true;
        self.state()
    }
}

const fn piece(arg: u8, when: When, size: Size, of: u8, scale: u16, cap: u16) -> KeptMemory {
    KeptMemory { arg, when, size, of, scale, cap, payload: false }
}

/// A path.
const fn path(arg: u8) -> KeptMemory {
    piece(arg, When::Exit, Size::Text, 0, 1, PATH)
}

/// Another string.
const fn string(arg: u8) -> KeptMemory {
    piece(arg, When::Exit, Size::Text, 0, 1, STRING)
}

/// `size` bytes that the program hands over.
const fn input(arg: u8, size: u16) -> KeptMemory {
    piece(arg, When::Exit, Size::Fixed, 0, size, size)
}

/// `size` bytes that the program hands over and the kernel writes over.
const fn before(arg: u8, size: u16) -> KeptMemory {
    piece(arg, When::Enter, Size::Fixed, 0, size, size)
}

/// `size` bytes that the kernel wrote.
const fn output(arg: u8, size: u16) -> KeptMemory {
    piece(arg, When::Success, Size::Fixed, 0, size, size)
}

/// An array that the program hands over: argument `of` elements of `scale` bytes.
const fn array(arg: u8, of: u8, scale: u16, cap: u16) -> KeptMemory {
    piece(arg, When::Exit, Size::Arg, of, scale, cap)
}

/// What the kernel wrote: the returned number of elements of `scale` bytes.
const fn returned(arg: u8, scale: u16, cap: u16) -> KeptMemory {
    piece(arg, When::Success, Size::Ret, 0, scale, cap)
}

/// What the kernel wrote, its size behind the pointer in argument `of`.
const fn sized(arg: u8, of: u8, cap: u16) -> KeptMemory {
    piece(arg, When::Success, Size::ArgPointer, of, 1, cap)
}

/// The data that a call reads: as many bytes as it returned.
const fn data_read(arg: u8) -> KeptMemory {
    KeptMemory { payload: true, ..returned(arg, 1, PATH) }
}

/// The data that a call writes: argument `of` bytes.
const fn data_written(arg: u8, of: u8) -> KeptMemory {
    KeptMemory { payload: true, ..array(arg, of, 1, PATH) }
}

/// The buffers of a vectored call, their number in argument `of`.
const fn iovec(arg: u8, when: When, of: u8) -> KeptMemory {
    KeptMemory { payload: true, ..piece(arg, when, Size::Iovec, of, 16, PATH) }
}

/// A message header with what it leads to.
const fn message(arg: u8) -> KeptMemory {
    KeptMemory { payload: true, ..piece(arg, When::Exit, Size::Message, 0, 1, PATH) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::Syscall;

    #[test]
    fn every_row_is_known_by_name_and_asks_for_what_exists() {
        for row in rows() {
            assert!(
                Syscall::lookup(row.name.as_bytes()).is_some(),
                "{} is not in the model's table",
                row.name
            );
            assert!(row.args.len() <= 6, "{}", row.name);
            assert_eq!(row.spec.args as usize, row.args.len());
            for piece in row.spec.pieces {
                assert!((piece.arg as usize) < row.args.len(), "{}: {piece:?}", row.name);
                assert!((piece.of as usize) < row.args.len(), "{}: {piece:?}", row.name);
                assert!(piece.cap > 0 && piece.scale > 0, "{}: {piece:?}", row.name);
            }
        }
        assert!(row_of(u16::MAX).is_none());
    }

    #[test]
    fn numbers_are_the_kernels() {
        // The header of the C library lists the kernel's numbers as of its own build; skipped where there is none.
        let header = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h";
        let Ok(text) = std::fs::read_to_string(header) else {
            println!("skipped: no {header}");
            return;
        };
        let mut compared = 0;
        for line in text.lines() {
            let Some((name, nr)) = line.strip_prefix("#define __NR_").and_then(|rest| rest.split_once(' '))
            else {
                continue;
            };
            let row = row_of(nr.trim().parse().unwrap());
            assert_eq!(row.map(|row| row.name), Some(name), "number {nr}");
            compared += 1;
        }
        assert!(compared > 300);
    }
}
