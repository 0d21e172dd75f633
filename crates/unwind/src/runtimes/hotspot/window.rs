//! The stack of a waiting thread, read by pages: its frames are next to each other.

use crate::process::{MemoryError, Process};
use crate::registers::StackMemory;
use std::cell::RefCell;

/// Bytes read at once; a page, so that what is mapped of a stack can be read.
const PAGE: u64 = 4096;

/// The last pages that were read, each with its address, the newest first.
pub(super) struct Window<'a> {
    process: &'a Process,
    pages: RefCell<[(u64, Vec<u8>); 2]>,
}

impl Window<'_> {
    pub(super) fn of(process: &Process) -> Window<'_> {
        Window { process, pages: RefCell::default() }
    }
}

impl StackMemory for Window<'_> {
    fn word(&self, address: u64) -> Result<u64, MemoryError> {
        if !address.is_multiple_of(8) {
            return Err(MemoryError::Unlikely("an address on a stack"));
        }
        let (start, at) = (address & !(PAGE - 1), (address % PAGE) as usize);
        let mut pages = self.pages.borrow_mut();
        if pages[0].0 != start || pages[0].1.is_empty() {
            pages.swap(0, 1);
            if pages[0].0 != start || pages[0].1.is_empty() {
                let (from, bytes) = &mut pages[0];
                bytes.resize(PAGE as usize, 0);
                if let Err(error) = self.process.read(start, bytes) {
                    bytes.clear();
                    return Err(error);
                }
                *from = start;
            }
        }
        let word = pages[0].1.get(at..at + 8).and_then(|word| word.try_into().ok());
        word.map(u64::from_ne_bytes).ok_or(MemoryError::Unreadable(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_of_their_pages() {
        let process = Process::open(std::process::id()).expect("our own");
        let words: Vec<u64> = (0..4096).collect();
        let start = words.as_ptr() as u64;
        let window = Window::of(&process);
        for at in [0, 1, 4095, 0, 600, 1200, 600, 1, 2000] {
            assert_eq!(window.word(start + at * 8), Ok(at));
        }
        assert_eq!(window.word(0), Err(MemoryError::Unreadable(0)));
        assert_eq!(window.word(start + 8), Ok(1));
        assert!(window.word(start + 1).is_err());
    }
}
