//! What the capture is, and what it cannot show.

use crate::world::World;
use whyslow_model::syscall::{Moves, SyscallNames};
use whyslow_model::{
    Call, CallFlags, CaptureKind, CaptureNote, NoteKind, SaturatingSum, SourceId, SourceInfo, Timestamp,
    TraceStart,
};

/// Facts about the capture itself.
#[derive(Debug, Default)]
pub struct CaptureFacts {
    /// The inputs, read to their end.
    pub sources: Vec<SourceInfo>,
    /// The traces, where there are several.
    pub traces: Vec<TraceStart>,
    /// The readers' remarks.
    pub notes: Vec<CaptureNote>,
    /// Calls whose duration is known.
    pub timed: u64,
    /// Of these, waits whose duration is the time to the next line: at most what they took.
    pub at_most: u64,
    /// Of those, reads of answers: what the program did with one before its next call counts as waiting for it.
    pub answers_at_most: u64,
    /// Calls whose start time is known.
    pub clocked: u64,
    /// Calls without an end in the capture.
    pub ends_not_seen: u64,
    /// Calls without a start in the capture.
    pub starts_not_seen: u64,
    /// Calls that show at least one string cut by `-s`.
    pub cut_strings: u64,
    /// Library calls (ltrace).
    pub library_calls: u64,
    /// Stack frames (`-k`) are shown.
    pub has_stacks: bool,
    /// Calls (`-y`) that show what a descriptor is.
    pub annotated: u64,
    /// The time of the last call, to notice a capture that ends at once.
    pub last: Timestamp,
    /// Names outside the table of syscalls.
    pub names: SyscallNames,
}

impl CaptureFacts {
    /// Says what was not told apart because there was too much of it.
    pub(crate) fn remark_bounds(&mut self, world: &World) {
        let bounds = [
            (world.threads.rest_calls(), "calls are of more threads than are told apart; they share one row"),
            (
                world.fds.refused,
                "calls and rows are of more open descriptors than are told apart; no descriptor has them",
            ),
        ];
        let source = self.sources.first().map_or(SourceId(0), |source| source.id);
        for (count, text) in bounds.into_iter().filter(|(count, _)| *count > 0) {
            let text = format!("{count} {text}");
            self.notes.push(CaptureNote { kind: NoteKind::Assumed, source, line: None, text, tid: None });
        }
    }

    #[inline]
    pub(crate) fn call(&mut self, call: &Call<'_>) {
        self.timed += call.dur.is_known() as u64;
        let at_most = call.flags.contains(CallFlags::UP_TO_NEXT);
        self.at_most += at_most as u64;
        self.answers_at_most += (at_most && call.syscall.info().moves == Moves::Read) as u64;
        self.clocked += call.ts.is_known() as u64;
        self.ends_not_seen += call.flags.contains(CallFlags::END_NOT_SEEN) as u64;
        self.starts_not_seen += call.flags.contains(CallFlags::START_NOT_SEEN) as u64;
        self.library_calls += call.flags.contains(CallFlags::LIBRARY) as u64;
    }

    /// True where calls show how long they took.
    pub fn has_durations(&self) -> bool {
        self.timed > 0
    }

    /// True where most of the durations are bounds: the log states none, and the next line tells when a wait was over at the latest.
    pub fn has_bounds(&self) -> bool {
        self.at_most > 0 && self.at_most.saturating_mul(2) >= self.timed
    }

    /// True where most durations are bounds, and mostly of reads of answers.
    pub fn bounds_answers(&self) -> bool {
        self.has_bounds() && self.answers_at_most.saturating_mul(2) >= self.at_most
    }

    /// True where calls show when they began.
    pub fn has_clock(&self) -> bool {
        self.clocked > 0
    }

    /// The source of that number, once it was read to its end.
    pub fn source(&self, id: SourceId) -> Option<&SourceInfo> {
        self.sources.iter().find(|source| source.id == id)
    }

    /// The name of a source.
    pub fn source_name(&self, id: SourceId) -> &str {
        self.source(id).map_or("?", |source| source.name.as_str())
    }

    /// The name of the first source, for sums over a whole capture.
    pub fn first_name(&self) -> &str {
        self.sources.first().map_or("?", |source| source.name.as_str())
    }

    /// True where the calls are those of a recording of ours.
    pub fn is_recording(&self) -> bool {
        self.has(CaptureKind::Recording)
    }

    /// The command that records all that rules ask for, in the same way as the calls at hand were recorded.
    pub fn retake(&self) -> String {
        let command = match self.is_recording() {
            true => "whyslow record -p PID --mode full -o again.whyslow",
            false => "strace -f -ttT -y -s 256 -o trace.st -p PID",
        };
        command.to_string()
    }

    /// True where what two sources tell of one moment has one time: a source by itself, and traces of one clock.
    pub fn share_clock(&self, one: SourceId, other: SourceId) -> bool {
        let start = |id: SourceId| self.traces.iter().find(|trace| trace.source == id);
        one == other
            || match (start(one), start(other)) {
                (Some(one), Some(other)) => one.shares_clock(other),
                _ => true,
            }
    }

    /// True where a source of that kind was read.
    pub fn has(&self, kind: CaptureKind) -> bool {
        self.sources.iter().any(|source| source.kind == kind)
    }

    /// Damaged lines of all sources.
    pub fn rejects(&self) -> u64 {
        self.sources.iter().map(|source| source.rejects).saturating_sum()
    }
}
