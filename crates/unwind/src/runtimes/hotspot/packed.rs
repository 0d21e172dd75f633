//! Numbers as HotSpot packs them (`UNSIGNED5`): line tables and the scopes of compiled code are streams of these.

/// A stream of packed numbers.
pub(super) struct Packed<'a> {
    bytes: &'a [u8],
    at: usize,
    encoding: Encoding,
}

/// How a byte counts. Source: `code/compressedStream.hpp` up to JDK 19; `utilities/unsigned5.hpp` from JDK 20 on, which never
/// writes a zero byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Encoding {
    /// Any byte counts as it is.
    All,
    /// A byte counts one less than it is.
    NoZero,
}

impl Encoding {
    /// That of a JDK of a major version.
    pub(super) fn of(major: u32) -> Encoding {
        if major >= 20 { Encoding::NoZero } else { Encoding::All }
    }
}

/// Bytes of the longest number.
pub(super) const LONGEST: usize = 5;
/// Bits that a byte behind the first adds: `lg_H`.
const BITS: u32 = 6;

impl<'a> Packed<'a> {
    pub(super) fn new(bytes: &'a [u8], encoding: Encoding) -> Packed<'a> {
        Packed { bytes, at: 0, encoding }
    }

    /// The next byte as it is; `None` behind the last one.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// The next number; `None` where the stream ends or no number can be.
    pub(super) fn number(&mut self) -> Option<u32> {
        let excluded = u8::from(self.encoding == Encoding::NoZero);
        // Bytes below it end a number: `L`.
        let low = 192 - excluded;
        let mut sum = 0u32;
        for at in 0..LONGEST as u32 {
            let digit = self.byte()?.checked_sub(excluded)?;
            sum = sum.wrapping_add(u32::from(digit) << (BITS * at));
            if digit < low {
                break;
            }
        }
        Some(sum)
    }

    /// The next number with a sign, which is its lowest bit.
    pub(super) fn signed(&mut self) -> Option<i32> {
        let number = self.number()?;
        Some((number >> 1) as i32 ^ -((number & 1) as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unpacked() {
        let mut older = Packed::new(&[0, 191, 192, 0, 255, 1], Encoding::All);
        assert_eq!([older.number(), older.number(), older.number()], [Some(0), Some(191), Some(192)]);
        assert_eq!((older.number(), older.number()), (Some(255 + 64), None));
        let mut newer = Packed::new(&[1, 191, 192, 1, 4, 0], Encoding::NoZero);
        assert_eq!([newer.number(), newer.number(), newer.number()], [Some(0), Some(190), Some(191)]);
        assert_eq!((newer.signed(), newer.number()), (Some(-2), None));
        let longest = Packed::new(&[255; 5], Encoding::All).number();
        let sum = (0..5).fold(0u32, |sum, at| sum.wrapping_add(255 << (6 * at)));
        assert_eq!(longest, Some(sum));
    }
}
