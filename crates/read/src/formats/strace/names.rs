//! Words that come again and again (names of syscalls and errors), recognised by their bytes as two integers.

use super::digits::word;
use whyslow_model::{Errno, Syscall};

/// Remembers what the words of one kind mean. Direct-mapped; some dozen words make up any log.
#[derive(Debug)]
pub(crate) struct Words<T> {
    slots: Box<[Slot<T>; SLOTS]>,
    lookup: fn(&[u8]) -> T,
}

/// The names of syscalls.
pub(crate) type Names = Words<Syscall>;
/// The names of errors.
pub(crate) type Errors = Words<Errno>;

/// The words of a trace.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    pub(crate) names: Names,
    pub(crate) errors: Errors,
}

const SLOTS: usize = 256;

/// A word of at most 16 bytes: its first eight, and the eight behind them, zero behind its end.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
struct Key {
    first: u64,
    second: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot<T> {
    key: Key,
    /// 0 in an empty slot: no word has that length.
    length: u16,
    meaning: T,
}

impl Names {
    pub(crate) fn of_syscalls() -> Names {
        Words::new(|name| Syscall::lookup(name).unwrap_or(Syscall::UNLISTED), Syscall::UNLISTED)
    }
}

impl Errors {
    pub(crate) fn of_errors() -> Errors {
        Words::new(Errno::lookup, Errno::NONE)
    }
}

impl<T: Copy> Words<T> {
    fn new(lookup: fn(&[u8]) -> T, empty: T) -> Words<T> {
        Words { slots: Box::new([Slot { key: Key::default(), length: 0, meaning: empty }; SLOTS]), lookup }
    }

    /// The length of the word that starts at `at` and is followed by `END`, and its meaning; `None` where there is
    /// no word.
    #[inline(always)]
    pub(crate) fn identify<const END: u8>(&mut self, line: &[u8], at: usize) -> Option<(usize, T)> {
        let Some(key) = key::<END>(line, at) else { return self.slow::<END>(line, at) };
        let slot = &self.slots[key.slot()];
        if slot.key == key && slot.length > 0 {
            return Some((slot.length as usize, slot.meaning));
        }
        let (length, meaning) = self.slow::<END>(line, at)?;
        self.slots[key.slot()] = Slot { key, length: length as u16, meaning };
        Some((length, meaning))
    }

    /// Byte by byte.
    #[cold]
    fn slow<const END: u8>(&self, line: &[u8], at: usize) -> Option<(usize, T)> {
        // The longest name of a syscall has 27 bytes; what is longer than this is none.
        const LONGEST: usize = 64;
        let rest = line.get(at..line.len().min(at + LONGEST + 1))?;
        let length = rest.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))?;
        let found = length > 0 && rest.get(length) == Some(&END);
        found.then(|| (length, (self.lookup)(&rest[..length])))
    }
}

impl Key {
    #[inline(always)]
    fn slot(self) -> usize {
        let mixed = (self.first ^ self.second.rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 56) as usize % SLOTS
    }
}

/// The bytes from `at` to the next `END`, if that is among the next 16.
#[inline(always)]
fn key<const END: u8>(line: &[u8], at: usize) -> Option<Key> {
    let first = word(line, at)?;
    let (masked, found) = until::<END>(first);
    if found {
        return Some(Key { first: masked, second: 0 });
    }
    let (masked, found) = until::<END>(word(line, at + 8)?);
    found.then_some(Key { first, second: masked })
}

/// The bytes before the first `END` of a word, the rest zero, and whether there is one.
#[inline(always)]
fn until<const END: u8>(word: u64) -> (u64, bool) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let difference = word ^ (ONES * END as u64);
    // The lowest set bit marks the first zero byte (the ones above it may be wrong, and are not used).
    let zeros = difference.wrapping_sub(ONES) & !difference & TOPS;
    if zeros == 0 {
        return (word, false);
    }
    // All bits below the byte that was found.
    let below = (zeros & zeros.wrapping_neg()) >> 7;
    (word & below.wrapping_sub(1), true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_syscall_is_recognised_twice() {
        let mut names = Names::of_syscalls();
        for _ in 0..2 {
            for syscall in Syscall::all() {
                let name = syscall.info().name;
                for rest in ["(3, \"abcdefghijkl\"", "()", "("] {
                    let line = format!("12 {name}{rest}");
                    assert_eq!(
                        names.identify::<b'('>(line.as_bytes(), 3),
                        Some((name.len(), syscall)),
                        "{line}"
                    );
                }
            }
        }
        assert_eq!(names.identify::<b'('>(b"frobnicate(1, 2, 3, 4, 5)", 0), Some((10, Syscall::UNLISTED)));
    }

    proptest! {
        #[test]
        fn the_fast_way_agrees_with_the_slow(text in "[a-c(_ ]{0,24}", repeat in 1usize..3) {
            let mut names = Names::of_syscalls();
            for _ in 0..=repeat {
                let fast = names.identify::<b'('>(text.as_bytes(), 0);
                prop_assert_eq!(fast, names.slow::<b'('>(text.as_bytes(), 0));
            }
        }
    }
}
