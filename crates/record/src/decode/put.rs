//! Writing text without allocation: numbers, strings in C's escapes, bounded in all.

/// At most so many bytes of arguments: what is beyond is dropped.
pub const MAX_TEXT: usize = 8 * 1024;

/// What a string leaves free for the rest of the arguments.
const RESERVE: usize = 512;

/// Writing to a text of at most [`MAX_TEXT`] bytes.
pub(crate) trait Put {
    /// Appends text.
    fn put(&mut self, text: &str);
    /// Appends bytes as they are.
    fn put_bytes(&mut self, bytes: &[u8]);
    /// A number in decimal.
    fn unsigned(&mut self, value: u64);
    /// A number in decimal, perhaps negative.
    fn signed(&mut self, value: i64);
    /// `0`, or a number in hexadecimal.
    fn hex(&mut self, value: u64);
    /// `NULL`, or an address.
    fn pointer(&mut self, value: u64);
    /// Access bits in octal, at least three digits of them.
    fn octal(&mut self, value: u64);
    /// A string in quotes, with C's escapes; with `...` behind it where `cut`.
    fn quoted(&mut self, bytes: &[u8], cut: bool);
    /// What [`Put::quoted`] writes between the quotes; true where all of it fits.
    fn escaped(&mut self, bytes: &[u8]) -> bool;
    /// A byte that does not stand for itself, and what is behind it.
    fn escape(&mut self, byte: u8, next: Option<&u8>);
}

impl Put for Vec<u8> {
    #[inline]
    fn put(&mut self, text: &str) {
        self.put_bytes(text.as_bytes());
    }

    #[inline]
    fn put_bytes(&mut self, bytes: &[u8]) {
        if self.len() + bytes.len() <= MAX_TEXT {
            self.extend_from_slice(bytes);
        }
    }

    #[inline]
    fn unsigned(&mut self, mut value: u64) {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (value % 10) as u8;
            value /= 10;
            if value == 0 {
                break;
            }
        }
        self.put_bytes(&digits[at..]);
    }

    #[inline]
    fn signed(&mut self, value: i64) {
        if value < 0 {
            self.put("-");
        }
        self.unsigned(value.unsigned_abs());
    }

    #[inline]
    fn hex(&mut self, mut value: u64) {
        if value == 0 {
            return self.put("0");
        }
        let mut digits = [0u8; 18];
        let mut at = digits.len();
        while value != 0 {
            at -= 1;
            digits[at] = b"0123456789abcdef"[(value & 15) as usize];
            value >>= 4;
        }
        digits[at - 2] = b'0';
        digits[at - 1] = b'x';
        self.put_bytes(&digits[at - 2..]);
    }

    #[inline]
    fn pointer(&mut self, value: u64) {
        if value == 0 { self.put("NULL") } else { self.hex(value) }
    }

    fn octal(&mut self, value: u64) {
        // C's %#03o: a zero before the digits, and three places filled with zeros.
        let mut digits = [b'0'; 24];
        let mut at = digits.len();
        let mut rest = value;
        while rest != 0 {
            at -= 1;
            digits[at] = b'0' + (rest & 7) as u8;
            rest >>= 3;
        }
        let from = if value == 0 { digits.len() - 3 } else { (at - 1).min(digits.len() - 3) };
        self.put_bytes(&digits[from..]);
    }

    fn quoted(&mut self, bytes: &[u8], cut: bool) {
        self.put("\"");
        let whole = self.escaped(bytes);
        self.put(if cut || !whole { "\"..." } else { "\"" });
    }

    fn escaped(&mut self, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        loop {
            let plain = rest.iter().position(|byte| !PLAIN[*byte as usize]).unwrap_or(rest.len());
            let room = (MAX_TEXT - RESERVE).saturating_sub(self.len());
            if plain >= room {
                self.put_bytes(&rest[..room]);
                return plain == room && rest.len() == room;
            }
            self.put_bytes(&rest[..plain]);
            let Some((&byte, behind)) = rest[plain..].split_first() else {
                return true;
            };
            self.escape(byte, behind.first());
            rest = behind;
        }
    }

    fn escape(&mut self, byte: u8, next: Option<&u8>) {
        match byte {
            b'"' => self.put("\\\""),
            b'\\' => self.put("\\\\"),
            b'\n' => self.put("\\n"),
            b'\t' => self.put("\\t"),
            b'\r' => self.put("\\r"),
            0x0b => self.put("\\v"),
            0x0c => self.put("\\f"),
            _ => {
                // Digits behind it would be read as part of a short escape.
                let digit_follows = next.is_some_and(|next| matches!(next, b'0'..=b'7'));
                let digits = [b'\\', b'0' + (byte >> 6), b'0' + ((byte >> 3) & 7), b'0' + (byte & 7)];
                match byte {
                    _ if digit_follows => self.put_bytes(&digits),
                    0..=7 => self.put_bytes(&[b'\\', digits[3]]),
                    8..=63 => self.put_bytes(&[b'\\', digits[2], digits[3]]),
                    _ => self.put_bytes(&digits),
                }
            }
        }
    }
}

/// The bytes that stand for themselves between quotes.
static PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = b' ';
    while byte <= b'~' {
        plain[byte as usize] = byte != b'"' && byte != b'\\';
        byte += 1;
    }
    plain
};

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers() {
        for value in [0, 7, 10, 255, u64::MAX] {
            assert_eq!(text(|out| out.unsigned(value)), value.to_string());
            let hex = if value == 0 { "0".to_string() } else { format!("{value:#x}") };
            assert_eq!(text(|out| out.hex(value)), hex);
        }
        assert_eq!(text(|out| out.signed(i64::MIN)), i64::MIN.to_string());
        assert_eq!(text(|out| out.pointer(0)), "NULL");
        for (value, octal) in [(0, "000"), (7, "007"), (0o22, "022"), (0o644, "0644"), (0o7777, "07777")] {
            assert_eq!(text(|out| out.octal(value)), octal);
        }
        assert_eq!(text(|out| out.octal(u64::MAX)), format!("0{:o}", u64::MAX));
    }

    #[test]
    fn strings() {
        assert_eq!(
            text(|out| out.quoted(b"a\"\\\n\x001\x01\x7f\xff7", false)),
            r#""a\"\\\n\0001\1\177\3777""#
        );
        assert_eq!(text(|out| out.quoted(b"ab", true)), "\"ab\"...");
        let long = text(|out| out.quoted(&[0xff; 10_000], false));
        assert!(long.len() <= MAX_TEXT && long.ends_with("\"..."));
    }
}
