//! The stack of a thread as unwinding reads it: a copy, or the memory itself by pages.

use crate::process::{MemoryError, Process};
use crate::registers::StackMemory;
use std::cell::RefCell;

/// A copy of a part of a stack.
#[derive(Clone, Copy, Debug)]
pub struct CopiedStack<'a> {
    start: u64,
    bytes: &'a [u8],
}

impl<'a> CopiedStack<'a> {
    /// Of the bytes that were at an address.
    pub fn new(start: u64, bytes: &'a [u8]) -> CopiedStack<'a> {
        CopiedStack { start, bytes }
    }

    /// The first address behind it.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.bytes.len() as u64)
    }
}

impl StackMemory for CopiedStack<'_> {
    fn word(&self, address: u64) -> Result<u64, MemoryError> {
        let at = address.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        let bytes = at.and_then(|at| self.bytes.get(at..)?.first_chunk::<8>());
        bytes.map(|bytes| u64::from_ne_bytes(*bytes)).ok_or(MemoryError::Unreadable(address))
    }
}

const PAGE: u64 = 4096;

/// The stack of a blocked thread. Each page of it is read once.
pub struct LiveStack<'a> {
    process: &'a Process,
    pages: RefCell<Vec<(u64, Box<[u8; PAGE as usize]>)>>,
}

impl<'a> LiveStack<'a> {
    /// Pages that are kept; words of others are read one by one.
    const PAGES: usize = 32;

    /// Of the memory of a process.
    pub fn new(process: &'a Process) -> LiveStack<'a> {
        LiveStack { process, pages: RefCell::new(Vec::new()) }
    }
}

impl StackMemory for LiveStack<'_> {
    fn word(&self, address: u64) -> Result<u64, MemoryError> {
        let (first, at) = (address & !(PAGE - 1), (address % PAGE) as usize);
        let of = |page: &[u8; PAGE as usize]| page[at..].first_chunk::<8>().map(|b| u64::from_ne_bytes(*b));
        let mut pages = self.pages.borrow_mut();
        if let Some((_, page)) = pages.iter().rev().find(|(start, _)| *start == first)
            && let Some(word) = of(page)
        {
            return Ok(word);
        }
        if at > PAGE as usize - 8 || pages.len() >= LiveStack::PAGES {
            return self.process.u64(address);
        }
        let mut page = Box::new([0; PAGE as usize]);
        self.process.read(first, &mut *page)?;
        let word = of(&page).ok_or(MemoryError::Unreadable(address));
        pages.push((first, page));
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_across_the_ends_of_pages() {
        let process = Process::open(std::process::id()).expect("our own");
        let own: Vec<u64> = (0..2048).map(|n| n * 0x0101_0101_0101).collect();
        let live = LiveStack::new(&process);
        let bytes: Vec<u8> = own.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let copy = CopiedStack::new(own.as_ptr() as u64, &bytes);
        for at in (0..bytes.len() as u64 - 7).step_by(3) {
            let address = own.as_ptr() as u64 + at;
            assert_eq!(live.word(address), copy.word(address));
            assert_eq!(live.word(address), process.u64(address));
        }
        assert!(copy.word(copy.end() - 7).is_err() && copy.word(0).is_err() && live.word(u64::MAX).is_err());
    }
}
