//! Goroutines that wait and are on no thread: those of `runtime.allgs`, each with the registers that it was parked with. Layouts:
//! `src/runtime/runtime2.go` of Go 1.20 to 1.26.

use crate::process::{MemoryError, Process};
use crate::registers::Registers;

/// Goroutines of a process, at most.
const MOST: u64 = 1 << 24;

/// Offsets in `g`: `stack`, `sched.sp`, `sched.pc`; the same in all versions.
const STACK: (usize, usize) = (0, 8);
const SP: usize = 56;
const PC: usize = 64;
/// `atomicstatus` and `goid`: 1.23 put a field before them, 1.25 took one away.
const STATUS: [usize; 2] = [144, 152];
/// Bytes of a slice: its address, its length, its room.
const SLICE: usize = 24;
/// Bytes of a `g` that are read.
const SIZE: usize = 168;
/// `_Gwaiting`, and `_Gscan`, which the garbage collector adds.
const WAITING: u32 = 4;
const SCAN: u32 = 0x1000;

/// Where a program keeps its goroutines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Goroutines {
    /// The address of `runtime.allgs`: a slice of pointers.
    list: u64,
    /// Where `atomicstatus` is.
    status: usize,
}

/// A goroutine that is parked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Parked {
    at: u64,
    /// Its number.
    pub(super) number: u64,
    pub(super) registers: Registers,
}

impl Goroutines {
    /// Looks for the list in the program's data without contents: it holds the goroutine that runs `main` first, whose number is 1.
    /// `None` where there is none yet, or it is not as it should be.
    pub(super) fn find(process: &Process, parts: &[(u64, u64)]) -> Option<Goroutines> {
        let found = super::search(process, parts, SLICE, |from, piece| {
            (0..piece.len().saturating_sub(SLICE - 1)).step_by(8).find_map(|at| {
                let [first, length, room] = [at, at + 8, at + 16].map(|at| word(piece, at));
                let is_slice = first > 0 && first.is_multiple_of(8) && (1..=MOST).contains(&length);
                let status =
                    (is_slice && (length..=MOST).contains(&room)).then(|| status(process, first))??;
                Some(Goroutines { list: from + at as u64, status })
            })
        });
        found.ok().flatten()
    }

    /// How many there are, ended ones too, and the addresses of those from a place on, at most so many.
    ///
    /// # Errors
    /// Where the list cannot be read.
    pub(super) fn addresses(
        &self,
        process: &Process,
        from: u64,
        most: usize,
    ) -> Result<(u64, Vec<u64>), MemoryError> {
        let head: [u8; 16] = process.array(self.list)?;
        let (first, length) = (word(&head, 0), word(&head, 8));
        if length > MOST {
            return Err(MemoryError::Unlikely("the list of goroutines"));
        }
        let mut bytes = vec![0; (length.saturating_sub(from).min(most as u64) * 8) as usize];
        process.read(first.wrapping_add(from * 8), &mut bytes)?;
        Ok((length, bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()))
    }

    /// A goroutine, where it is parked.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub(super) fn parked(&self, process: &Process, at: u64) -> Result<Option<Parked>, MemoryError> {
        let g: [u8; SIZE] = process.array(at)?;
        let (sp, ip) = (word(&g, SP), word(&g, PC));
        let on_stack = (word(&g, STACK.0)..word(&g, STACK.1)).contains(&sp);
        let registers = Registers { ip, sp, bp: 0, leaf: None };
        let parked = Parked { at, number: word(&g, self.status + 8), registers };
        Ok((state(&g, self.status) == WAITING && on_stack).then_some(parked))
    }

    /// True where it is parked as it was: it did not run meanwhile, but for a wait that began anew at the same place.
    pub(super) fn is_still(&self, process: &Process, parked: &Parked) -> bool {
        self.parked(process, parked.at) == Ok(Some(*parked))
    }
}

/// Where the first of a list of goroutines, which runs `main`, has its status; `None` where it is none.
fn status(process: &Process, list: u64) -> Option<usize> {
    let main: [u8; SIZE] = process.array(process.u64(list).ok()?).ok()?;
    // Behind the number is a pointer, which is never 1.
    let status = *STATUS.iter().rev().find(|status| word(&main, **status + 8) == 1)?;
    let (low, high) = (word(&main, STACK.0), word(&main, STACK.1));
    let is_stack = low > 0 && low < high && high - low <= 1 << 30 && (low..high).contains(&word(&main, SP));
    (is_stack && state(&main, status) < 16).then_some(status)
}

fn state(g: &[u8; SIZE], status: usize) -> u32 {
    word(g, status) as u32 & !SCAN
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |word| u64::from_le_bytes(*word))
}
