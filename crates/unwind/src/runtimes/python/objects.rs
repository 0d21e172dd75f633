//! Objects of CPython as they lie in memory: `str` and `bytes`.

use super::layout::{BYTES_VALUE, Layout, OB_SIZE, OB_TYPE, TEXT_LENGTH, TEXT_STATE};
use super::memory::{Memory, half, word};
use crate::frames::Frames;
use crate::process::MemoryError;

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
) -> Result<String, MemoryError> {
    /// Longer names and paths are taken for garbage.
    const LONGEST: u64 = 1 << 20;
    let unlikely = Err(MemoryError::Unlikely("a str"));
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
) -> Result<u64, MemoryError> {
    let mut head = [0; 24];
    memory.read(address, &mut head)?;
    let size = word(&head, OB_SIZE);
    match word(&head, OB_TYPE) == types.bytes && size <= most {
        true => Ok(size),
        false => Err(MemoryError::Unlikely("a bytes object")),
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
) -> Result<Box<[u8]>, MemoryError> {
    let size = bytes_size(memory, types, address, most)?;
    let mut content = vec![0; size as usize];
    memory.read(address.wrapping_add(BYTES_VALUE), &mut content)?;
    Ok(content.into())
}
