//! Decimal digits in fixed columns, eight at a time: times make up a third of a line of `strace -ttT`.

/// Powers of ten up to the nine digits of nanoseconds.
const POWERS: [u64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// The eight bytes at `at`, if there are that many.
#[inline(always)]
pub(crate) fn word(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes))
}

/// The value of eight digits in memory order; `None` if a byte is no digit.
#[inline(always)]
pub(crate) fn eight_digits(word: u64) -> Option<u64> {
    // A digit less `0` is 0 to 9: its high half is zero, and stays so when 6 is added.
    let digits = word ^ 0x3030_3030_3030_3030;
    if (digits | digits.wrapping_add(0x0606_0606_0606_0606)) & 0xF0F0_F0F0_F0F0_F0F0 != 0 {
        return None;
    }
    Some(value_of(digits))
}

/// The value of eight bytes that are 0 to 9, in memory order.
#[inline(always)]
fn value_of(digits: u64) -> u64 {
    // Pairs, then quads, then the whole (D. Lemire, "Quickly parsing eight digits").
    let pairs = digits.wrapping_mul(2561) >> 8;
    let quads = (pairs & 0x00FF_00FF_00FF_00FF).wrapping_mul(6_553_601) >> 16;
    (quads & 0x0000_FFFF_0000_FFFF).wrapping_mul(42_949_672_960_001) >> 32
}

/// The digits at the start of a word, and how many there are (0 to 8).
#[inline(always)]
pub(crate) fn leading_digits(word: u64) -> (u64, usize) {
    let digits = word ^ 0x3030_3030_3030_3030;
    // The bytes that are no digits have a bit set in the high half; what they carry is behind them.
    let others = (digits | digits.wrapping_add(0x0606_0606_0606_0606)) & 0xF0F0_F0F0_F0F0_F0F0;
    let length = others.trailing_zeros() as usize / 8;
    if length == 0 {
        return (0, 0);
    }
    // Moved to the end of the word, with zeros in front.
    (value_of(digits << (64 - 8 * length)), length)
}

/// The value of the six digits between the bytes `FIRST` and `LAST`, as in `.711719 ` and `.000051>`.
#[inline(always)]
pub(crate) fn six_between<const FIRST: u8, const LAST: u8>(word: u64) -> Option<u64> {
    // Zero in the two bytes around the digits, as `eight_digits` in between.
    let digits = word ^ (0x0030_3030_3030_3000 | FIRST as u64 | (LAST as u64) << 56);
    if (digits | digits.wrapping_add(0x0006_0606_0606_0600)) & 0xFFF0_F0F0_F0F0_F0FF != 0 {
        return None;
    }
    Some(value_of(digits << 8))
}

/// The value of the first six bytes of a word.
#[inline(always)]
pub(crate) fn six_digits(word: u64) -> Option<u64> {
    // Moved up, with zeros in front.
    eight_digits((word << 16) | 0x3030)
}

/// The fraction of a second that starts at `at`, in ns, and how many digits it has (1 to 9).
#[inline(always)]
pub(crate) fn fraction(text: &[u8], at: usize) -> Option<(u64, usize)> {
    // Microseconds followed by anything but a digit: nearly every log.
    if let Some(word) = word(text, at)
        && !text[at + 6].is_ascii_digit()
        && let Some(microseconds) = six_digits(word)
    {
        return Some((microseconds * 1_000, 6));
    }
    let (value, digits) = integer(text, at)?;
    let scale = POWERS.get(9usize.checked_sub(digits)?)?;
    Some((value * scale, digits))
}

/// The digits that start at `at` as a number, and how many there are (at least one, at most 19).
#[inline]
pub(crate) fn integer(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut value: u64 = 0;
    let mut used = 0;
    while let Some(byte) = text.get(at + used).filter(|byte| byte.is_ascii_digit()) {
        if used == 19 {
            return None;
        }
        value = value * 10 + (byte - b'0') as u64;
        used += 1;
    }
    (used > 0).then_some((value, used))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fractions_of_any_precision() {
        assert_eq!(fraction(b"711719 stat(", 0), Some((711_719_000, 6)));
        assert_eq!(fraction(b"711719", 0), Some((711_719_000, 6)));
        assert_eq!(fraction(b"051> ", 0), Some((51_000_000, 3)));
        assert_eq!(fraction(b"419095490 x", 0), Some((419_095_490, 9)));
        assert_eq!(fraction(b"4190954901 x", 0), None);
        assert_eq!(fraction(b" x", 0), None);
        assert_eq!(fraction(b"123456x7", 0), Some((123_456_000, 6)));
    }

    proptest! {
        #[test]
        fn eight_digits_agree_with_the_slow_way(bytes in prop::array::uniform8(prop_oneof![b'0'..=b'9', any::<u8>()])) {
            let expected = std::str::from_utf8(&bytes).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
            prop_assert_eq!(eight_digits(u64::from_le_bytes(bytes)), expected.and_then(|text| text.parse().ok()));
            let (value, length) = leading_digits(u64::from_le_bytes(bytes));
            prop_assert_eq!((length > 0).then_some((value, length)), integer(&bytes, 0));
        }

        #[test]
        fn six_digits_between_agree_with_the_slow_way(
            digits in prop::array::uniform6(prop_oneof![9 => b'0'..=b'9', 1 => any::<u8>()]),
            first in prop_oneof![4 => Just(b'.'), 1 => any::<u8>()],
            last in prop_oneof![4 => Just(b'>'), 1 => any::<u8>()],
        ) {
            let [a, b, c, d, e, f] = digits;
            let expected = integer(&digits, 0)
                .filter(|(_, length)| *length == 6 && first == b'.' && last == b'>')
                .map(|(value, _)| value);
            let word = u64::from_le_bytes([first, a, b, c, d, e, f, last]);
            prop_assert_eq!(six_between::<b'.', b'>'>(word), expected);
        }
    }
}
