//! Memory of a process that runs CPython, so that tests can put other memory in its place.

use crate::process::{MemoryError, Process};
use std::cell::RefCell;

/// What is read.
pub(super) trait Memory {
    /// Fills `into` with the memory at an address.
    ///
    /// # Errors
    /// Where not all of it can be read.
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError>;

    /// A word of 8 bytes.
    ///
    /// # Errors
    /// Where it cannot be read.
    fn u64(&self, address: u64) -> Result<u64, MemoryError> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }
}

impl Memory for Process {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        Process::read(self, address, into)
    }
}

/// A page that was read: its address and what is there.
pub(super) type Page = (u64, [u8; Pages::SIZE as usize]);

/// Memory read by pages, each once: code objects of a file are near each other, and a read of a page costs little more
/// than one of a word. For the time of one stack.
pub(super) struct Pages<'a> {
    memory: &'a dyn Memory,
    kept: RefCell<&'a mut Vec<Page>>,
}

impl Pages<'_> {
    const SIZE: u64 = 4096;
    const MOST: usize = 64;

    /// Memory of which nothing was read yet; `kept` is room for it.
    pub(super) fn new<'a>(memory: &'a dyn Memory, kept: &'a mut Vec<Page>) -> Pages<'a> {
        kept.clear();
        Pages { memory, kept: RefCell::new(kept) }
    }
}

impl Memory for Pages<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        let page = address & !(Pages::SIZE - 1);
        let from = (address - page) as usize;
        let range = from..from.saturating_add(into.len());
        if range.end > Pages::SIZE as usize {
            return self.memory.read(address, into);
        }
        let mut kept = self.kept.borrow_mut();
        let at = match kept.iter().position(|(start, _)| *start == page) {
            Some(at) => at,
            None if kept.len() == Pages::MOST => return self.memory.read(address, into),
            None => {
                let mut bytes = [0; Pages::SIZE as usize];
                self.memory.read(page, &mut bytes)?;
                kept.push((page, bytes));
                kept.len() - 1
            }
        };
        into.copy_from_slice(&kept[at].1[range]);
        Ok(())
    }
}

/// A word of 8 bytes in bytes that were read; 0 behind their end.
pub(super) fn word(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..at.saturating_add(8)).and_then(|word| word.try_into().ok());
    word.map_or(0, u64::from_ne_bytes)
}

/// A word of 4 bytes in bytes that were read; 0 behind their end.
pub(super) fn half(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..at.saturating_add(4)).and_then(|word| word.try_into().ok());
    word.map_or(0, u32::from_ne_bytes)
}
