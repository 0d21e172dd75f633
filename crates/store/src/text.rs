//! Text as it can be stored: UTF-8 of bounded length. What is not UTF-8 becomes octal escapes, as strace prints it.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Longest text of one value, bytes. Longer text is cut and ends with [`CUT`].
pub const MAX_TEXT: usize = 8 << 10;
/// Ends a text that was cut, as strace ends a string.
pub const CUT: &str = "...";

/// The text as it can be stored (itself where it is UTF-8 and short enough), and whether it was cut.
#[inline]
pub(crate) fn storable(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.len() <= MAX_TEXT => (Cow::Borrowed(text), false),
        _ => made_storable(bytes),
    }
}

#[cold]
fn made_storable(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    let mut text = String::new();
    for chunk in bytes[..bytes.len().min(MAX_TEXT + 1)].utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\{byte:o}");
        }
    }
    let cut = text.len() > MAX_TEXT;
    if cut {
        text.truncate(text.floor_char_boundary(MAX_TEXT - CUT.len()));
        text.push_str(CUT);
    }
    (Cow::Owned(text), cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn utf8_stays_and_other_bytes_are_escaped() {
        assert_eq!(storable("\"a\", é".as_bytes()), ("\"a\", é".into(), false));
        assert_eq!(storable(b"\"a\xff\xfe\""), ("\"a\\377\\376\"".into(), false));
    }

    proptest! {
        #[test]
        fn any_bytes_are_stored_within_the_limit(bytes in prop::collection::vec(any::<u8>(), 0..300), times in 1usize..60) {
            let bytes = bytes.repeat(times);
            let (stored, cut) = storable(&bytes);
            prop_assert!(stored.len() <= MAX_TEXT);
            if let Ok(text) = std::str::from_utf8(&bytes) {
                prop_assert_eq!(cut, text.len() > MAX_TEXT);
                prop_assert!(cut || stored == text);
            }
        }
    }
}
