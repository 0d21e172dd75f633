//! Plain data of whyslow: events, fact values, findings and the diagnosis.
//!
//! This crate does no I/O and depends on no other crate of ours; everything else points at it.

pub mod access;
pub mod account;
pub mod capture;
pub mod cgroup;
pub mod counts;
pub mod demand;
pub mod diagnosis;
pub mod diff;
pub mod errno;
pub mod event;
pub mod evidence;
pub mod fd;
pub mod figures;
pub mod host;
pub mod ids;
pub mod line;
pub mod live;
pub mod measurement;
pub mod metric;
pub mod parked;
pub mod profile;
pub mod program_name;
#[cfg(feature = "schema")]
mod schema;
mod share_of;
pub mod stats;
pub mod sums;
pub mod syscall;
pub mod table;
pub mod text;
pub mod time;
pub mod typed;
mod via;
pub mod visible;
pub mod walk;

pub use access::{Logged, PercentileRow, PercentileTable, Upstream};
pub use account::{
    AccountRow, ContentOf, CpuRunner, Known, RequestPart, RequestTimes, RequestsTime, RowDevice, TimeAccount,
    TimeOf, TimeState, WorkedOnContent,
};
pub use capture::{CaptureKind, CaptureNote, ClockKind, NoteKind, SourceInfo, TraceStart};
pub use counts::{CountRow, CountTable, TimeKind};
pub use demand::{Demand, DemandCaller, DemandKind, DemandQueue};
pub use diagnosis::{
    Also, ChainLink, Culprit, Diagnosis, Finding, FindingCode, FollowsFrom, Hop, NotJudged, Saving, Severity,
    ShareWhole, Subject, Target, ThreadTime, WaitShare, WhatIf,
};
pub use diff::{Diff, DiffOutcome, FigureChange, FindingChange};
pub use errno::Errno;
pub use event::{Call, CallFlags, Event, Exit, ProcessInfo, Ret, Signal, Sink};
pub use evidence::Evidence;
pub use fd::{FdEntry, FdKind, SocketEnds};
pub use host::{Entity, FigureRow, FigureTable, Over, Trait};
pub use ids::{SourceId, Tid};
pub use line::LineFormat;
pub use live::{
    BlockIo, CallStack, Cost, Coverage, FileIo, FileOp, Followed, HadCpu, InodeId, LANGUAGES, LeftAs, Loss,
    Meanwhile, NetEvent, NetKind, RecordedSpan, SampleKind, SampledStack, Stack, StackFrame, StackId,
    Stretch, ThreadCounts, ThreadTotals, WakeContext, Wakeup,
};
pub use measurement::{Measurement, MeasurementChange, Threshold};
pub use metric::{Metric, Unit};
pub use parked::{Parked, ParkedAt, ParkedFor};
pub use profile::{Profile, ProfileBuilder};
pub use program_name::ProgramName;
pub use share_of::ShareOf;
pub use stats::{CallStats, Histogram, RareStats};
pub use sums::SaturatingSum;
pub use syscall::Syscall;
pub use table::{Cell, Column, Table};
pub use time::{Nanos, Timestamp};
pub use via::Via;
pub use walk::Walk;
