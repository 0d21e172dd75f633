//! Texts of HPACK in Huffman code (RFC 7541, 5.2 and appendix B).
//!
//! The code is canonical: the lengths of the codes say which they are. No crate is used: those for HPACK give up a whole
//! text where its end is missing, and a whole block where an index is unknown, as it is here more often than not.

/// Bits of the code of each byte, and of the end (RFC 7541, appendix B).
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

/// Bits of the longest code.
const LONGEST: usize = 30;
/// What ends a text, which no text contains.
const END: u16 = 256;

/// The codes of each length: the first of them, how many come before it, and its bytes in the order of their codes.
struct Codes {
    first: [u32; LONGEST + 2],
    before: [u16; LONGEST + 2],
    symbols: [u16; 257],
}

static CODES: Codes = codes();

const fn codes() -> Codes {
    let mut codes = Codes { first: [0; LONGEST + 2], before: [0; LONGEST + 2], symbols: [0; 257] };
    let (mut length, mut code, mut count) = (1, 0u32, 0usize);
    while length <= LONGEST {
        codes.first[length] = code;
        codes.before[length] = count as u16;
        let mut symbol = 0;
        while symbol < LENGTHS.len() {
            if LENGTHS[symbol] as usize == length {
                codes.symbols[count] = symbol as u16;
                count += 1;
                code += 1;
            }
            symbol += 1;
        }
        code <<= 1;
        length += 1;
    }
    codes.first[length] = code;
    codes.before[length] = count as u16;
    codes
}

/// Appends the text; false where it is none. `is_cut`: its end is missing.
pub(super) fn decode(bytes: &[u8], is_cut: bool, out: &mut Vec<u8>) -> bool {
    let (mut code, mut length) = (0u32, 0usize);
    for byte in bytes {
        for bit in (0..8).rev() {
            code = code << 1 | u32::from(byte >> bit & 1);
            length += 1;
            if length > LONGEST {
                return false;
            }
            let count = u32::from(CODES.before[length + 1] - CODES.before[length]);
            let place = code.wrapping_sub(CODES.first[length]);
            if place < count {
                let symbol = CODES.symbols[usize::from(CODES.before[length]) + place as usize];
                if symbol == END {
                    return false;
                }
                out.push(symbol as u8);
                (code, length) = (0, 0);
            }
        }
    }
    // The last byte is filled with ones.
    is_cut || length < 8 && code + 1 == 1 << length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_the_rfc() {
        // RFC 7541, C.4 and C.6.
        for (code, text) in [
            (&b"\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"[..], "www.example.com"),
            (b"\xa8\xeb\x10\x64\x9c\xbf", "no-cache"),
            (b"\x64\x02", "302"),
            (
                b"\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\x04\x0b\x81\x66\xe0\x82\xa6\x2d\x1b\xff",
                "Mon, 21 Oct 2013 20:13:21 GMT",
            ),
        ] {
            let mut out = Vec::new();
            assert!(decode(code, false, &mut out));
            assert_eq!(out, text.as_bytes());
            for end in 0..code.len() {
                let mut cut = Vec::new();
                assert!(decode(&code[..end], true, &mut cut));
                assert!(text.as_bytes().starts_with(&cut));
            }
        }
        assert!(!decode(b"\xff\xff\xff\xff", false, &mut Vec::new()));
        assert!(!decode(b"\0", false, &mut Vec::new()));
    }
}
