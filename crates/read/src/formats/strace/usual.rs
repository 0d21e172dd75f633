//! The lines that nearly all of `strace -f -tt -T -o` consists of, read in one straight pass:
//! `21124 08:36:23.711719 write(3, "x", 1) = 1 <0.000051>` and both halves of an interrupted call.
//!
//! `line` reads every shape and is the reference: what is not read here is left to it, and what is read here, it
//! reads just so.

use super::digits::{six_between, word};
use super::names::Vocabulary;
use super::prefix::{self, Seen};
use super::record::{Kind, Marks, NO_TIME, Record, Span};
use super::result;
use whyslow_model::ClockKind;

const UNFINISHED: &[u8; 16] = b"<unfinished ...>";

/// Fills in the empty record of the line that starts at `base` in its batch; `None`, and a record of no use, where
/// the line is not a usual one. Filled in where it stays: moved, it would be read before its parts are written.
#[inline(always)]
pub(crate) fn read(
    line: &[u8],
    base: usize,
    seen: &Seen,
    words: &mut Vocabulary,
    record: &mut Record,
) -> Option<()> {
    let (head, tail) = (line.first_chunk::<32>()?, line.last_chunk::<16>()?);
    let prefix = prefix::usual(head, seen)?;
    record.ts = prefix.ts;
    record.tid = prefix.tid;
    record.line = Span::new(base, base + line.len());
    record.marks = Marks::of_clock(ClockKind::TimeOfDay, true);
    let args_at = match head.get(prefix.rest)? {
        b'a'..=b'z' | b'_' => {
            let (length, syscall) = words.names.identify::<b'('>(line, prefix.rest)?;
            let args_at = prefix.rest + length + 1;
            // Perhaps an argument's name (`-N`).
            if line.get(args_at)?.is_ascii_lowercase() {
                return None;
            }
            record.name_start = (base + prefix.rest) as u32;
            record.name_len = length as u16;
            record.syscall = syscall.0;
            if tail == UNFINISHED {
                record.kind = Kind::Unfinished;
                record.args = Span::new(base + args_at, base + trimmed(line, args_at)?);
                record.dur = NO_TIME;
                return Some(());
            }
            record.kind = Kind::Call;
            args_at
        }
        b'<' => {
            const START: u64 = u64::from_le_bytes(*b"\0\0\0<... ");
            const RESUMED: u64 = u64::from_le_bytes(*b" resumed");
            let name_at = prefix.rest + 5;
            if word(line, name_at - 8)? & !0x00FF_FFFF != START {
                return None;
            }
            let (length, syscall) = words.names.identify::<b' '>(line, name_at)?;
            let behind = name_at + length + 8;
            if word(line, behind - 8)? != RESUMED || *line.get(behind)? != b'>' {
                return None;
            }
            record.name_start = (base + name_at) as u32;
            record.name_len = length as u16;
            record.syscall = syscall.0;
            record.kind = Kind::Resumed;
            behind + 1 + usize::from(line.get(behind + 1) == Some(&b' '))
        }
        _ => return None,
    };
    // ` <0.000051>`.
    let [_, _, _, _, _, b' ', b'<', whole @ b'0'..=b'9', ..] = tail else { return None };
    let microseconds = six_between::<b'.', b'>'>(word(tail, 8)?)?;
    record.dur = (whole - b'0') as u64 * 1_000_000_000 + microseconds * 1_000;
    let end = line.len() - 11;
    let found = result::find::<false>(line.get(..end)?, args_at, &mut words.errors)?;
    // `) <unfinished ...>) = ?` and raw error numbers are not usual.
    if found.close < args_at
        || line[args_at..found.close].last() == Some(&b'>')
        || found.ret.is_none_or(|ret| ret < -1)
    {
        return None;
    }
    record.ret = found.ret?;
    record.marks.set(Marks::HAS_RET);
    record.errno = found.errno.0;
    record.args = Span::new(base + args_at, base + found.close);
    record.note = Span::new(base + found.note, base + end);
    Some(())
}

/// Where the arguments before `<unfinished ...>` end: behind them stands one space, seldom more.
#[inline(always)]
fn trimmed(line: &[u8], args_at: usize) -> Option<usize> {
    let end = line.len() - UNFINISHED.len();
    let more = |at: usize| line.get(at) == Some(&b' ');
    match end.checked_sub(2).filter(|last| *last >= args_at && more(last + 1))? {
        last if more(last) => {
            let spaces = line[args_at..last].iter().rev().take_while(|byte| **byte == b' ').count();
            Some(last - spaces)
        }
        last => Some(last + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::{Dialect, LineParser};
    use proptest::prelude::*;

    fn agree(line: &[u8]) -> Result<bool, TestCaseError> {
        let mut parser = LineParser::new(Dialect::Strace);
        parser.see(b"1 08:36:23.000000 x");
        let usual = parser.usual(line);
        if let Some(record) = &usual {
            let expected = parser.reference(line);
            prop_assert_eq!(
                format!("{:?}", expected),
                format!("{:?}", [record]),
                "{:?}",
                line.escape_ascii()
            );
        }
        Ok(usual.is_some())
    }

    #[test]
    fn usual_lines_are_read_here() {
        for call in [
            "write(3, \"x\", 1) = 1 <0.000051>",
            "close(3)          = 0 <0.000010>",
            "getxattr(\"/x\", \"y\", NULL, 0) = -1 ENODATA (No data available) <0.000009>",
            "mmap(NULL, 33883, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f4f15aa8000 <0.000016>",
            "openat(AT_FDCWD, \"/x\", O_RDONLY) = 3</x> <0.000016>",
            "close(9 <unfinished ...>",
            "read(9,  <unfinished ...>",
            "<... close resumed>) = 0 <0.000057>",
            "<... read resumed> \"x\", 1)      = 1 <0.000057>",
            "<... read resumed>\"x\", 1) = 1 <1.000057>",
        ] {
            let line = format!("21124 08:36:23.711719 {call}");
            assert!(agree(line.as_bytes()).expect("both agree"), "{line}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_here_the_reference_reads_the_same(
            start in prop_oneof![6 => Just("21124 08:36:23.711719 "), 1 => Just("1 08:36:23.711719 "), 1 => Just("")],
            name in prop_oneof![
                4 => "(read|write|close|futex|newfstatat|rt_sigprocmask|frobnicate|_x)\\(",
                4 => "<\\.\\.\\. (read|close|futex|clock_nanosleep) resumed>",
                1 => "[<.a-z (>]{0,9}",
            ],
            args in "[a-z0-9\",) =<>]{0,12}|3, 4|( <unfinished \\.\\.\\.>)",
            end in prop_oneof![
                4 => "\\) {1,20}= (-?[0-9]{1,7}|0x[0-9a-f]{1,4}|\\?|-1 EAGAIN \\(x\\)|3</a = b>)",
                2 => " {0,3}<unfinished \\.\\.\\.>",
                1 => "[ )=0-9]{0,12}",
            ],
            duration in prop_oneof![4 => " <[0-9]\\.[0-9]{6}>", 1 => " <[0-9.]{1,9}>", 1 => "[ >]{0,2}"],
            damage in prop::option::of((0usize..80, any::<u8>())),
        ) {
            let mut line = format!("{start}{name}{args}{end}{duration}").into_bytes();
            if let Some((at, byte)) = damage && let Some(place) = line.get_mut(at) {
                *place = byte;
            }
            let length = line.trim_ascii_end().len();
            agree(&line[..length])?;
        }
    }
}
