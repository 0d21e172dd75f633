//! The line of an instruction, by the tables of CPython's code objects.

use super::layout::Lines;

/// The line of the instruction at an offset in bytes; 0 where the table gives it none.
pub(super) fn line(format: Lines, first_line: u32, table: &[u8], offset: u32) -> u32 {
    let line = match format {
        Lines::Lnotab => Some(lnotab(first_line, table, offset)),
        Lines::Pep626 => pep626(first_line, table, offset),
        Lines::Locations => locations(first_line, table, offset),
    };
    line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0)
}

/// Pairs of bytes: so many bytes of instructions further (unsigned), so many lines further (signed).
fn lnotab(first_line: u32, table: &[u8], offset: u32) -> i64 {
    let (mut line, mut address) = (i64::from(first_line), 0);
    for [bytes, lines] in table.as_chunks().0 {
        address += u64::from(*bytes);
        if address > u64::from(offset) {
            break;
        }
        line += i64::from(*lines as i8);
    }
    line
}

/// Pairs of bytes: a range of so many bytes of instructions (unsigned) is of a line so much further (signed; -128: of none).
fn pep626(first_line: u32, table: &[u8], offset: u32) -> Option<i64> {
    let (mut line, mut end) = (i64::from(first_line), 0);
    for [bytes, lines] in table.as_chunks().0 {
        end += u64::from(*bytes);
        let lines = *lines as i8;
        if lines != i8::MIN {
            line += i64::from(lines);
        }
        if u64::from(offset) < end {
            return (lines != i8::MIN).then_some(line);
        }
    }
    None
}

/// Entries that begin with a byte with its highest bit set: 4 bits of a form and 3 bits of a length in instructions less one.
fn locations(first_line: u32, table: &[u8], offset: u32) -> Option<i64> {
    let (mut line, mut end, mut at) = (i64::from(first_line), 0u64, 0);
    while let Some(first) = table.get(at) {
        if first & 0x80 == 0 {
            return None;
        }
        let form = first >> 3 & 15;
        line += match form {
            // `PY_CODE_LOCATION_INFO_NO_COLUMNS`, `_LONG`: a line difference follows.
            13 | 14 => signed(table.get(at + 1..)?),
            // `_ONE_LINE0` to `2`.
            10..=12 => i64::from(form - 10),
            // `_SHORT0` to `9`, and `_NONE`.
            _ => 0,
        };
        end += (u64::from(first & 7) + 1) * 2;
        if u64::from(offset) < end {
            return (form != 15).then_some(line);
        }
        at += 1;
        while table.get(at).is_some_and(|byte| byte & 0x80 == 0) {
            at += 1;
        }
    }
    None
}

/// A number in pieces of 6 bits, lowest first, bit 6 set where more follow; its lowest bit is its sign.
fn signed(bytes: &[u8]) -> i64 {
    let mut number = 0u64;
    // No line takes more than 31 bits and a sign.
    for (at, byte) in bytes.iter().take(6).enumerate() {
        number |= u64::from(byte & 0x3f) << (6 * at);
        if byte & 0x40 == 0 {
            break;
        }
    }
    let size = (number >> 1) as i64;
    if number & 1 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_formats() {
        // Two bytes on, three lines on; four bytes on, one line back.
        let old = [2, 3, 4, 0xff];
        let all: Vec<u32> = [0, 2, 5, 6, 900].map(|at| line(Lines::Lnotab, 10, &old, at)).into();
        assert_eq!(all, [10, 13, 13, 12, 12]);
        // Four bytes of line 10, two of none, two of line 9.
        let pep626 = [4, 0, 2, 0x80, 2, 0xff];
        let all: Vec<u32> = [0, 3, 4, 6, 8].map(|at| line(Lines::Pep626, 10, &pep626, at)).into();
        assert_eq!(all, [10, 10, 0, 9, 0]);
        // A short form (one instruction), one line on (two), 70 lines back by the long form (one), none (one).
        let locations =
            [0x80, 5, 0x80 | 11 << 3 | 1, 1, 2, 0x80 | 14 << 3, 0x40 | 13, 2, 0, 1, 1, 0x80 | 15 << 3];
        let all: Vec<u32> = [0, 2, 4, 6, 8, 10].map(|at| line(Lines::Locations, 100, &locations, at)).into();
        assert_eq!(all, [100, 101, 101, 31, 0, 0]);
    }

    #[test]
    fn any_bytes_give_a_line() {
        let mut seed = 7u64;
        for _ in 0..2000 {
            let table: Vec<u8> = (0..64)
                .map(|_| {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (seed >> 56) as u8
                })
                .collect();
            for format in [Lines::Lnotab, Lines::Pep626, Lines::Locations] {
                line(format, u32::MAX, &table, (seed >> 20) as u32 % 200);
            }
        }
    }
}
