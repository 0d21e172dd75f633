//! The function of MRI that carries out Ruby's instructions (`vm_exec_core`), found without its symbol: instructions are addresses in it
//! (direct threading, as MRI is built with GCC and Clang), and the linker's table of functions tells where it begins and ends.

use crate::image::Image;
use std::ops::Range;

/// `.eh_frame_hdr` as linkers write it: version 1, a pointer and a count of 4 bytes, and a table of pairs of 4 bytes, all counted from
/// the section (Linux Standard Base, 10.6.2).
const HEADER: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
/// Bytes before the table, and of one entry.
const TABLE: (usize, usize) = (12, 8);
/// Functions of one file at most; MRI has some 12,000.
const MOST: usize = 1 << 17;

/// What is known of it.
#[derive(Default)]
pub(super) struct Evaluator {
    /// First instructions of the file's functions, sorted.
    starts: Vec<u64>,
    /// Its code, once it is known.
    code: Option<Range<u64>>,
}

impl Evaluator {
    /// Reads where the functions of a file begin; where that is not told in the usual way, the evaluator stays unknown.
    pub(super) fn of(image: &Image) -> Evaluator {
        let section = image.section(".eh_frame_hdr").ok().flatten();
        let starts = section.map_or(Vec::new(), |(address, bytes)| starts(address, &bytes));
        Evaluator { starts, code: None }
    }

    /// True where its code is known.
    pub(super) fn is_known(&self) -> bool {
        self.code.is_some() || self.starts.is_empty()
    }

    /// Takes the address of an instruction in it.
    pub(super) fn learn(&mut self, instruction: u64) {
        let behind = self.starts.partition_point(|start| *start <= instruction);
        let start = behind.checked_sub(1).and_then(|at| self.starts.get(at));
        self.code = start.zip(self.starts.get(behind)).map(|(start, end)| *start..*end);
    }

    /// Whether an address is in it; `None` while it is not known.
    pub(super) fn evaluates(&self, ip: u64) -> Option<bool> {
        self.code.as_ref().map(|code| code.contains(&ip))
    }
}

fn starts(address: u64, bytes: &[u8]) -> Vec<u64> {
    let number =
        |at: usize| bytes.get(at..at + 4).and_then(|part| part.try_into().ok()).map(i32::from_le_bytes);
    let count = number(8).and_then(|count| usize::try_from(count).ok()).filter(|count| *count <= MOST);
    let (true, Some(count)) = (bytes.starts_with(&HEADER), count) else { return Vec::new() };
    let start =
        |at: usize| number(TABLE.0 + at * TABLE.1).map(|offset| address.wrapping_add_signed(offset.into()));
    let found: Vec<u64> = (0..count).map_while(start).collect();
    if found.is_sorted() { found } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(starts: &[i32]) -> Vec<u8> {
        let mut bytes = HEADER.to_vec();
        for number in [0, starts.len() as i32] {
            bytes.extend(number.to_le_bytes());
        }
        for start in starts {
            bytes.extend(start.to_le_bytes());
            bytes.extend(0i32.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn the_function_around_an_instruction_is_it() {
        let mut evaluator =
            Evaluator { starts: starts(0x1000, &section(&[-0x800, -0x400, -0x100])), code: None };
        assert_eq!((evaluator.is_known(), evaluator.evaluates(0xc10)), (false, None));
        evaluator.learn(0xc80);
        let told = [0xbff, 0xc00, 0xeff, 0xf00].map(|ip| evaluator.evaluates(ip));
        assert_eq!(told, [Some(false), Some(true), Some(true), Some(false)]);
    }

    #[test]
    fn damaged_tables_tell_nothing() {
        assert!(starts(0, &[]).is_empty());
        assert!(starts(0, &section(&[5, 3])).is_empty());
        assert_eq!(starts(0, &section(&[1, 2])[..20]), [1]);
        let mut other = section(&[1, 2]);
        other[3] = 0;
        assert!(starts(0, &other).is_empty());
        let mut evaluator = Evaluator::default();
        evaluator.learn(7);
        assert!(evaluator.is_known() && evaluator.evaluates(7).is_none());
    }
}
