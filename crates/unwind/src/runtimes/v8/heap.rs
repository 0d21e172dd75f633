//! Objects of V8's heap: tagged words, types, strings and arrays. All is checked before it is used, and all loops end.

use super::layout::Layout;
use crate::process::{MemoryError, Process};

/// A process's heap.
#[derive(Clone, Copy)]
pub(super) struct Heap<'a> {
    pub process: &'a Process,
    pub layout: &'a Layout,
}

/// Bytes of the longest table or text that is read.
const LONGEST: u64 = 16 << 20;

/// Strings that a string is made of, at most.
const PIECES: usize = 1 << 14;

/// The address of a tagged pointer, strong or weak (`kHeapObjectTag` 1, `kWeakHeapObjectTag` 3 of include/v8-internal.h);
/// `None` for small integers and what cannot be an object.
pub(super) fn object(word: u64) -> Option<u64> {
    let address = word & !3;
    (word & 1 == 1 && (0x1000..1 << 47).contains(&address) && address.is_multiple_of(8)).then_some(address)
}

/// The value of a small integer, which is kept in the upper half.
pub(super) fn smi(word: u64) -> Option<i64> {
    (word as u32 == 0).then_some(i64::from((word >> 32) as i32))
}

/// The characters of a string.
pub(super) enum Characters {
    /// Of Latin-1.
    One(Vec<u8>),
    /// Of UTF-16.
    Two(Vec<u16>),
}

impl Characters {
    /// As text.
    pub(super) fn text(&self) -> String {
        match self {
            Characters::One(bytes) => bytes.iter().map(|byte| char::from(*byte)).collect(),
            Characters::Two(units) => String::from_utf16_lossy(units),
        }
    }
}

impl Heap<'_> {
    /// The type of the object at an address.
    pub(super) fn kind(&self, address: u64) -> Result<u16, MemoryError> {
        let map = object(self.process.u64(address)?).ok_or(MemoryError::Unlikely("an object's map"))?;
        self.process.u16(map + self.layout.map_type)
    }

    /// The address of the object behind a word, where it is of a type.
    pub(super) fn typed(&self, word: u64, kind: u16, what: &'static str) -> Result<u64, MemoryError> {
        let address = object(word).ok_or(MemoryError::Unlikely(what))?;
        match self.kind(address)? == kind {
            true => Ok(address),
            false => Err(MemoryError::Unlikely(what)),
        }
    }

    /// The words of an array, at most so many.
    pub(super) fn words(&self, word: u64, most: u64) -> Result<Vec<u64>, MemoryError> {
        const WHAT: &str = "an array";
        let address = object(word).ok_or(MemoryError::Unlikely(WHAT))?;
        if !self.layout.types.arrays.contains(&self.kind(address)?) {
            return Err(MemoryError::Unlikely(WHAT));
        }
        let length = self.length(address)?.min(most);
        let mut bytes = vec![0; length as usize * 8];
        self.process.read(address + self.layout.array_data, &mut bytes)?;
        Ok(bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect())
    }

    /// An array of bytes.
    pub(super) fn bytes(&self, word: u64) -> Result<Vec<u8>, MemoryError> {
        const WHAT: &str = "an array of bytes";
        let address = object(word).ok_or(MemoryError::Unlikely(WHAT))?;
        if !self.layout.types.bytes.contains(&self.kind(address)?) {
            return Err(MemoryError::Unlikely(WHAT));
        }
        let mut bytes = vec![0; self.length(address)? as usize];
        self.process.read(address + self.layout.array_data, &mut bytes)?;
        Ok(bytes)
    }

    /// The length of an array, in elements.
    pub(super) fn length(&self, address: u64) -> Result<u64, MemoryError> {
        smi(self.process.u64(address + self.layout.array_length)?)
            .and_then(|length| u64::try_from(length).ok())
            .filter(|length| *length <= LONGEST / 16)
            .ok_or(MemoryError::Unlikely("the length of an array"))
    }

    /// True where a type is a string's.
    pub(super) fn is_string(&self, kind: u16) -> bool {
        kind < self.layout.strings.first_other
    }

    /// The text of a string of at most so many characters.
    pub(super) fn text(&self, word: u64, most: u64) -> Result<String, MemoryError> {
        self.characters(word, most).map(|characters| characters.text())
    }

    /// The characters of a string of at most so many; a longer one is an error.
    pub(super) fn characters(&self, word: u64, most: u64) -> Result<Characters, MemoryError> {
        const WHAT: &str = "a string";
        let strings = &self.layout.strings;
        let whole = object(word).ok_or(MemoryError::Unlikely(WHAT))?;
        let length = u64::from(self.process.u32(whole + strings.length)?);
        if length > most.min(LONGEST) {
            return Err(MemoryError::Unlikely("the length of a string"));
        }
        let mut found = Characters::One(Vec::new());
        // What is to be read still: the string, from where on, and how many characters. The last comes first.
        let mut left = vec![(word, 0, length)];
        for _ in 0..PIECES {
            let Some((word, from, count)) = left.pop() else { return Ok(found) };
            let address = object(word).ok_or(MemoryError::Unlikely(WHAT))?;
            let kind = self.kind(address)?;
            let own = u64::from(self.process.u32(address + strings.length)?);
            if !self.is_string(kind) || from + count > own {
                return Err(MemoryError::Unlikely(WHAT));
            }
            let one_byte = kind & strings.encoding == strings.one_byte;
            match kind & strings.representation {
                form if form == strings.sequence => {
                    self.append(&mut found, address + strings.chars, one_byte, from, count)?;
                }
                form if form == strings.external => {
                    // The characters' address is behind the resource's: src/objects/string.tq, `resource_data`.
                    let data = self.process.u64(address + strings.resource + 8)?;
                    self.append(&mut found, data, one_byte, from, count)?;
                }
                form if form == strings.cons => {
                    let first = self.process.u64(address + strings.first)?;
                    let at = object(first).ok_or(MemoryError::Unlikely(WHAT))?;
                    let in_first = u64::from(self.process.u32(at + strings.length)?);
                    if from + count > in_first {
                        let second = self.process.u64(address + strings.second)?;
                        let start = from.saturating_sub(in_first);
                        left.push((second, start, from + count - in_first.max(from)));
                    }
                    if from < in_first {
                        left.push((first, from, count.min(in_first - from)));
                    }
                }
                form if form == strings.sliced => {
                    let offset = smi(self.process.u64(address + strings.offset)?)
                        .and_then(|offset| u64::try_from(offset).ok())
                        .ok_or(MemoryError::Unlikely(WHAT))?;
                    left.push((self.process.u64(address + strings.parent)?, from + offset, count));
                }
                form if form == strings.thin => {
                    left.push((self.process.u64(address + strings.actual)?, from, count));
                }
                _ => return Err(MemoryError::Unlikely(WHAT)),
            }
        }
        Err(MemoryError::Unlikely(WHAT))
    }

    /// Reads characters behind those found so far.
    fn append(
        &self,
        found: &mut Characters,
        address: u64,
        one_byte: bool,
        from: u64,
        count: u64,
    ) -> Result<(), MemoryError> {
        let width = if one_byte { 1 } else { 2 };
        let mut bytes = vec![0; (count * width) as usize];
        self.process.read(address.wrapping_add(from * width), &mut bytes)?;
        if one_byte {
            match found {
                Characters::One(all) if all.is_empty() => *all = bytes,
                Characters::One(all) => all.extend_from_slice(&bytes),
                Characters::Two(all) => all.extend(bytes.iter().map(|byte| u16::from(*byte))),
            }
            return Ok(());
        }
        if let Characters::One(all) = found {
            *found = Characters::Two(all.iter().map(|byte| u16::from(*byte)).collect());
        }
        if let Characters::Two(all) = found {
            all.extend(bytes.as_chunks().0.iter().map(|unit| u16::from_ne_bytes(*unit)));
        }
        Ok(())
    }
}
