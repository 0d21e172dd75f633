//! Where events come from: sources, their clocks, and notes about what a capture cannot show.

use crate::ids::{SourceId, Tid};
use serde::{Deserialize, Serialize};

/// What a source holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CaptureKind {
    /// strace, a line a call.
    Strace,
    /// `strace -c`, a table of counts.
    StraceCount,
    /// ltrace, a line a call.
    Ltrace,
    /// `ltrace -c`.
    LtraceCount,
    /// sysdig, a line an event.
    Sysdig,
    /// lsof, table or `-F`.
    Lsof,
    /// A listing of `/proc/PID/fd`.
    ProcFd,
    /// A dump of `/proc/net/{tcp,tcp6,udp,udp6,unix}`.
    ProcNet,
    /// An access log, a line a request.
    AccessLog,
    /// A table of percentiles of requests.
    Percentiles,
    /// A profile: pprof, folded stacks, `perf script`, thread dumps.
    Profile,
    /// Figures of the host: top, iostat, pidstat and their like, files of /proc and control groups.
    Figures,
    /// A recording of ours, live or stored.
    Recording,
    /// Not recognised: named, noted and passed over.
    Unknown,
}

/// What the timestamps of a source mean.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClockKind {
    /// `-ttt`: seconds since the epoch.
    Epoch,
    /// `-t`, `-tt`: time of day; the date is unknown.
    TimeOfDay,
    /// `-r`: time since the line before.
    Relative,
    /// No timestamps.
    None,
}

/// One input, as seen once it was read to its end.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceInfo {
    /// Its number.
    pub id: SourceId,
    /// Its name as the user gave it; `-` for standard input.
    pub name: String,
    /// What it holds.
    pub kind: CaptureKind,
    /// What its timestamps mean.
    pub clock: ClockKind,
    /// Bytes read (after decompression).
    pub bytes: u64,
    /// Lines read.
    pub lines: u64,
    /// Lines that are part of the capture's format.
    pub events: u64,
    /// Lines that look like the format but are damaged.
    pub rejects: u64,
    /// Lines of something else that landed in the file: the program's own output, a shell's.
    pub foreign: u64,
    /// Resumed calls whose first half is not in the capture.
    pub starts_not_seen: u64,
    /// Calls whose second half is not in the capture.
    pub ends_not_seen: u64,
}

impl SourceInfo {
    /// A source of which nothing was read yet.
    pub fn new(id: SourceId, name: impl Into<String>, kind: CaptureKind) -> Self {
        SourceInfo {
            id,
            name: name.into(),
            kind,
            clock: ClockKind::None,
            bytes: 0,
            lines: 0,
            events: 0,
            rejects: 0,
            foreign: 0,
            starts_not_seen: 0,
            ends_not_seen: 0,
        }
    }
}

/// A trace is about to be read. Said of each where there are several: their threads and clocks are not taken for each other's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceStart {
    /// The trace.
    pub source: SourceId,
    /// The first of the files that one tracer wrote (`strace -ff -o NAME`), else the trace itself.
    pub family: SourceId,
    /// The process whose threads are in it, as far as its name or a snapshot beside it tells.
    pub pid: Option<Tid>,
    /// What the process is called where no source names it: the file's name.
    pub name: Option<String>,
    /// What its timestamps mean.
    pub clock: ClockKind,
    /// Its timestamps are of whole seconds (`-t`): they do not tell which of two calls came first.
    pub whole_seconds: bool,
}

impl TraceStart {
    /// True where the times of both are of one clock, and fine enough to tell what came first. Differences (`-r`) count from a
    /// moment that only their own trace knows.
    pub fn shares_clock(&self, other: &TraceStart) -> bool {
        let is_absolute = matches!(self.clock, ClockKind::Epoch | ClockKind::TimeOfDay);
        let is_fine = !self.whole_seconds && !other.whole_seconds || self.family == other.family;
        self.source == other.source || is_absolute && self.clock == other.clock && is_fine
    }
}

/// What a note about a capture is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NoteKind {
    /// A damaged line: not used, the rest is.
    Reject,
    /// A file that could not be read or is of an unknown kind: passed over.
    Skipped,
    /// The capture ends in the middle (of a line, of a compressed stream).
    Truncated,
    /// The tracer reported a loss or an error (`strace: …` lines).
    Tracer,
    /// Something the reader had to assume.
    Assumed,
    /// What was made of a text whose shape alone tells what it is.
    Read,
    /// Why a flight recorder kept it.
    Kept,
}

/// One remark of a reader about its capture. Readers give at most a few of each kind; the totals are in
/// [`SourceInfo`].
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaptureNote {
    /// About what.
    pub kind: NoteKind,
    /// Where.
    pub source: SourceId,
    /// The line, from 1; `None` for the whole source.
    pub line: Option<u64>,
    /// What happened, what was expected, and what to do next; the damaged text quoted and cut.
    pub text: String,
    /// The thread concerned, if one is.
    pub tid: Option<Tid>,
}
