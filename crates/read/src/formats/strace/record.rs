//! One parsed line, compact: numbers, and where in the batch its texts stand.

use whyslow_model::{ClockKind, Errno, Nanos, Ret, Syscall, Timestamp};

/// A piece of a batch. Batches are far smaller than 4 GiB.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end.max(start) as u32 }
    }

    /// How many bytes it stands for.
    #[inline]
    pub(crate) fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// The bytes it stands for.
    #[inline]
    pub(crate) fn of(self, batch: &[u8]) -> &[u8] {
        batch.get(self.start as usize..self.end as usize).unwrap_or(b"")
    }
}

/// What a line is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Kind {
    /// Nothing, or white space.
    #[default]
    Blank,
    /// A call in one piece.
    Call,
    /// `name(… <unfinished ...>`.
    Unfinished,
    /// `name(… <detached ...>`, `<no return ...>`: will not be resumed.
    Abandoned,
    /// `<... name resumed> …) = …`.
    Resumed,
    /// `<... name resumed> … <unfinished ...>`.
    ResumedUnfinished,
    /// `name(…` torn by other output before its result came.
    Torn,
    /// `…) = …` without a name: perhaps the rest of a torn call.
    Tail,
    /// `--- SIG… ---`.
    Signal,
    /// `+++ … +++`.
    Exit,
    /// ` > library(function+0x1f) [0x9d3af]`.
    Frame,
    /// `strace: …`, which may be a warning.
    Tracer,
    /// Part of the format with nothing in it for us: `Process N attached`, hex dumps.
    Meta,
    /// Not a line of its own: the command name (`-Y`) of the thread of the next record.
    Comm,
    /// Anything else.
    Other,
}

/// One line. 64 bytes, so that a batch's records stay in the second-level cache.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Record {
    /// On the line's own clock, not yet made continuous; `u64::MAX` where there is none.
    pub(crate) ts: u64,
    /// The duration that the line states, ns; `u64::MAX` where it states none.
    pub(crate) dur: u64,
    pub(crate) ret: i64,
    /// The line without its end.
    pub(crate) line: Span,
    /// The text between the parentheses; for [`Kind::Signal`] and [`Kind::Exit`] the whole of it.
    pub(crate) args: Span,
    /// The text behind the result.
    pub(crate) note: Span,
    pub(crate) name_start: u32,
    pub(crate) tid: u32,
    pub(crate) name_len: u16,
    pub(crate) syscall: u16,
    pub(crate) errno: u16,
    pub(crate) kind: Kind,
    pub(crate) marks: Marks,
}

/// Yes-or-no facts of a record, in one byte.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct Marks(u8);

impl Marks {
    /// The result is a number (else it is `?` or not shown).
    pub(crate) const HAS_RET: Marks = Marks(1);
    /// The timestamp has digits behind the seconds.
    pub(crate) const SUB_SECOND: Marks = Marks(2);
    /// Though not parsed, the line holds a known call: it is damaged, not foreign.
    pub(crate) const CALL_LIKE: Marks = Marks(4);
    /// A library call.
    pub(crate) const LIBRARY: Marks = Marks(8);
    /// Its arguments bear their names (`-N`): they are to be rewritten.
    pub(crate) const NAMED_ARGS: Marks = Marks(16);
    const CLOCK_SHIFT: u8 = 5;

    pub(crate) fn has(self, other: Marks) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn set(&mut self, other: Marks) {
        self.0 |= other.0;
    }

    /// The marks of a timestamp.
    #[inline(always)]
    pub(crate) fn of_clock(clock: ClockKind, sub_second: bool) -> Marks {
        let code = match clock {
            ClockKind::None => 0,
            ClockKind::Epoch => 1,
            ClockKind::TimeOfDay => 2,
            ClockKind::Relative => 3,
        };
        Marks(code << Marks::CLOCK_SHIFT | if sub_second { Marks::SUB_SECOND.0 } else { 0 })
    }

    pub(crate) fn clock(self) -> ClockKind {
        match self.0 >> Marks::CLOCK_SHIFT {
            1 => ClockKind::Epoch,
            2 => ClockKind::TimeOfDay,
            3 => ClockKind::Relative,
            _ => ClockKind::None,
        }
    }
}

/// "Not there", for times.
pub(crate) const NO_TIME: u64 = u64::MAX;

impl Record {
    pub(crate) fn syscall(&self) -> Syscall {
        Syscall(self.syscall)
    }

    pub(crate) fn errno(&self) -> Errno {
        Errno(self.errno)
    }

    pub(crate) fn ret(&self) -> Ret {
        if self.marks.has(Marks::HAS_RET) { Ret::Value(self.ret) } else { Ret::Unknown }
    }

    pub(crate) fn dur(&self) -> Nanos {
        Nanos::new(self.dur)
    }

    /// The timestamp as the line shows it.
    pub(crate) fn shown_ts(&self) -> Timestamp {
        Timestamp::new(self.ts)
    }

    pub(crate) fn name<'a>(&self, batch: &'a [u8]) -> &'a [u8] {
        let start = self.name_start as usize;
        batch.get(start..start + self.name_len as usize).unwrap_or(b"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_cache_line() {
        assert_eq!(size_of::<Record>(), 64);
    }

    #[test]
    fn a_span_outside_the_batch_is_empty() {
        assert_eq!(Span::new(5, 9).of(b"abc"), b"");
        assert_eq!(Span::new(3, 1).of(b"abcdef"), b"");
    }
}
