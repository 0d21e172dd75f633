//! Memory of a process that runs CPython, so that tests can put other memory in its place.

use super::layout::{BYTES_VALUE, Layout, OB_SIZE, OB_TYPE, TEXT_LENGTH, TEXT_STATE};
use crate::frames::Frames;
use crate::process::{Process, ReadError};
use std::cell::RefCell;

/// What is read.
pub(super) trait Memory {
    /// Fills `into` with the memory at an address.
    ///
    /// # Errors
    /// Where not all of it can be read.
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), ReadError>;

    /// A word of 8 bytes.
    ///
    /// # Errors
    /// Where it cannot be read.
    fn u64(&self, address: u64) -> Result<u64, ReadError> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }
}

impl Memory for Process {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), ReadError> {
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
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), ReadError> {
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

/// Addresses of type objects: what an object is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Types {
    /// `PyCode_Type`.
    pub code: u64,
    /// `PyUnicode_Type`.
    pub text: u64,
    /// `PyBytes_Type`.
    pub bytes: u64,
}

/// The beginning of a `str`, at most [`Frames::TEXT`] characters of it.
///
/// # Errors
/// Where it is none.
pub(super) fn text(
    memory: &dyn Memory,
    layout: &Layout,
    types: &Types,
    address: u64,
) -> Result<String, ReadError> {
    /// Longer names and paths are taken for garbage.
    const LONGEST: u64 = 1 << 20;
    let unlikely = Err(ReadError::Unlikely("a str"));
    let mut head = [0; 40];
    memory.read(address, &mut head)?;
    let (length, state) = (word(&head, TEXT_LENGTH), half(&head, TEXT_STATE));
    if word(&head, OB_TYPE) != types.text || length > LONGEST {
        return unlikely;
    }
    let (kind, compact, ascii) = (state >> 2 & 7, state >> 5 & 1 == 1, state >> 6 & 1 == 1);
    let width = match (kind, compact) {
        (1 | 2 | 4, true) => kind as usize,
        _ => return unlikely,
    };
    let count = (length as usize).min(Frames::TEXT);
    let mut bytes = vec![0; count * width];
    memory.read(address.wrapping_add(if ascii { layout.ascii } else { layout.compact }), &mut bytes)?;
    if ascii && (width != 1 || !bytes.is_ascii()) {
        return unlikely;
    }
    let mut text = String::with_capacity(bytes.len());
    for character in bytes.chunks_exact(width) {
        let mut number = [0; 4];
        number[..width].copy_from_slice(character);
        // Halves of surrogates are bytes of a path that are no UTF-8 (PEP 383).
        text.push(char::from_u32(u32::from_le_bytes(number)).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    Ok(text)
}

/// How many bytes a `bytes` object has.
///
/// # Errors
/// Where it is none, or is longer than `most`.
pub(super) fn bytes_size(
    memory: &dyn Memory,
    types: &Types,
    address: u64,
    most: u64,
) -> Result<u64, ReadError> {
    let mut head = [0; 24];
    memory.read(address, &mut head)?;
    let size = word(&head, OB_SIZE);
    match word(&head, OB_TYPE) == types.bytes && size <= most {
        true => Ok(size),
        false => Err(ReadError::Unlikely("a bytes object")),
    }
}

/// The content of a `bytes` object.
///
/// # Errors
/// Where it is none, or is longer than `most` bytes.
pub(super) fn bytes(
    memory: &dyn Memory,
    types: &Types,
    address: u64,
    most: u64,
) -> Result<Box<[u8]>, ReadError> {
    let size = bytes_size(memory, types, address, most)?;
    let mut content = vec![0; size as usize];
    memory.read(address.wrapping_add(BYTES_VALUE), &mut content)?;
    Ok(content.into())
}
