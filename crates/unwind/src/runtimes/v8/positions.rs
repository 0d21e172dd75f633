//! V8's tables of source positions: which place of a script an instruction or bytecode was made from.

/// A place in a script, and the function inlined there that it is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    /// Characters from the script's first.
    pub offset: u32,
    /// Number of the inlined function's place in its table; `None` for the function itself.
    pub inlined: Option<u16>,
}

/// The bits of `SourcePosition`, src/codegen/source-position.h: whether it is outside of scripts, the offset and 1, the number
/// of the inlining and 1.
pub(super) fn position(bits: u64) -> Option<Position> {
    let offset = (bits >> 1) as u32 & ((1 << 30) - 1);
    let inlined = (bits >> 31) as u16;
    let known = bits & 1 == 0 && offset > 0;
    known.then(|| Position { offset: offset - 1, inlined: inlined.checked_sub(1) })
}

/// The entry of a table (src/codegen/source-position-table.cc) for an offset: the last that begins at it or before.
pub(super) fn at(table: &[u8], offset: u64) -> Option<Position> {
    let mut bytes = table.iter().copied();
    // kFunctionEntryBytecodeOffset of src/common/globals.h.
    let (mut code, mut source) = (-1_i64, 0_i64);
    let mut last = None;
    while let Some(delta) = signed(&mut bytes) {
        // Expressions, which are no statements, are told by the sign.
        code = code.wrapping_add(if delta < 0 { !delta } else { delta });
        if code > offset as i64 {
            break;
        }
        source = source.wrapping_add(signed(&mut bytes)?);
        last = position(source as u64);
    }
    last
}

/// The offset of the bytecode that baseline code at an offset was made from: the table (src/baseline/bytecode-offset-iterator.h)
/// has the size of the code made from each bytecode, the function's entry first.
pub(super) fn bytecode_at(table: &[u8], bytecodes: &[u8], sizes: &Sizes, offset: u64) -> Option<u64> {
    let mut lengths = table.iter().copied();
    let mut end = unsigned(&mut lengths)?;
    if offset < end {
        return Some(0);
    }
    let mut at = 0;
    loop {
        end = end.saturating_add(unsigned(&mut lengths)?);
        if offset < end {
            return Some(at as u64);
        }
        at += sizes.of(bytecodes.get(at..)?)?;
    }
}

/// The lengths of bytecodes: `Bytecodes::kBytecodeSizes` of src/interpreter/bytecodes.h, for operands of one, two and four bytes.
pub(super) struct Sizes(pub Vec<u8>);

impl Sizes {
    /// The length of the first of some bytecodes, with its prefix.
    fn of(&self, bytecodes: &[u8]) -> Option<usize> {
        let count = self.0.len() / 3;
        let (first, second) = (*bytecodes.first()?, bytecodes.get(1).copied());
        // Wide, ExtraWide, DebugBreakWide, DebugBreakExtraWide come first in BYTECODE_LIST.
        let (prefix, scale, code) = match first {
            0 | 2 => (1, 1, second?),
            1 | 3 => (1, 2, second?),
            code => (0, 0, code),
        };
        let known = usize::from(code) < count;
        let size = known.then(|| usize::from(self.0[scale * count + usize::from(code)]))?;
        (size > 0).then_some(prefix + size)
    }
}

/// A number of a variable count of bytes, 7 bits each, the lowest first.
fn unsigned(bytes: &mut impl Iterator<Item = u8>) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes.next()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// The same with its sign in the lowest bit.
fn signed(bytes: &mut impl Iterator<Item = u8>) -> Option<i64> {
    unsigned(bytes).map(|value| (value >> 1) as i64 ^ -((value & 1) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_found_by_offset() {
        // At 0 the place 10; at 4, an expression, the place 30.
        let table = [2, 22 << 1, 9, 40 << 1];
        let place = |offset| at(&table, offset).map(|found| found.offset);
        assert_eq!(place(0), Some(10));
        assert_eq!(place(3), Some(10));
        assert_eq!(at(&[], 3), None);
        assert_eq!(at(&[0x80; 40], 3), None);
        assert_eq!(position(1), None);
        assert_eq!(position((8 << 1) | (3 << 31)), Some(Position { offset: 7, inlined: Some(2) }));
    }

    #[test]
    fn baseline_code_is_of_a_bytecode() {
        // Code 5 has two bytes, code 4 one; wide ones one more and twice.
        let mut sizes = vec![1, 1, 1, 1, 1, 2];
        sizes.extend([1, 1, 1, 1, 1, 4]);
        sizes.extend([1, 1, 1, 1, 1, 8]);
        let sizes = Sizes(sizes);
        let (table, bytecodes) = ([10, 4, 6, 8], [5, 9, 0, 5, 1, 0, 2, 0, 4]);
        let found = |offset| bytecode_at(&table, &bytecodes, &sizes, offset);
        assert_eq!([found(0), found(9), found(10), found(13)], [Some(0); 4]);
        assert_eq!([found(14), found(19)], [Some(2); 2]);
        assert_eq!(found(20), Some(7));
        assert_eq!(found(28), None);
    }
}
