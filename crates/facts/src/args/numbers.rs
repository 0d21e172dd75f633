//! Numbers in strace's text of arguments.

/// The hexadecimal number at the start of `text`.
pub(crate) fn hex(text: &[u8]) -> Option<u64> {
    hex_digits(text).map(|(value, _)| value)
}

/// The same, and how many digits it has, at most 16.
#[inline]
pub(crate) fn hex_digits(text: &[u8]) -> Option<(u64, usize)> {
    let mut value: u64 = 0;
    let mut used = 0;
    for &byte in text.iter().take(16) {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => break,
        };
        value = value << 4 | u64::from(digit);
        used += 1;
    }
    (used > 0).then_some((value, used))
}
