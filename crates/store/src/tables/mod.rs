//! The tables of a recording: one file and one line in `tables!` each. A table's file says what its columns are, how
//! an event is put into a row, and how a row becomes the event again.

use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, SampleKind, Sink, SourceId, StackFrame, Timestamp};

/// How long the rows of a table are kept where the recording's size is bounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keep {
    /// The oldest are removed first.
    Newest,
    /// What later rows refer to: removed only when nothing else is left to remove.
    All,
}

/// One table.
#[derive(Debug)]
pub struct TableSpec {
    /// Its name: that of its folder.
    pub name: &'static str,
    /// What a row is, in a line.
    pub about: &'static str,
    /// Its columns; the first is always `seq`.
    pub columns: &'static [ColumnSpec],
    /// How long its rows are kept.
    pub keep: Keep,
    /// Pushes the event of one row; `None` where the row lacks what the event cannot do without.
    pub(crate) replay: fn(&mut Take<'_>, u64, &mut Replay<'_>) -> Option<()>,
}

/// What rows are replayed into.
pub(crate) struct Replay<'a> {
    /// Takes the events.
    pub(crate) sink: &'a mut dyn Sink,
    /// The recording.
    pub(crate) source: SourceId,
    /// Frames read since the last stack.
    pub(crate) frames: Vec<StackFrame>,
    /// Rows of a table of counts read since the last table.
    pub(crate) count_rows: Vec<whyslow_model::CountRow>,
    /// Rows of a look at the host, with the look's number and their own.
    pub(crate) figure_rows: Vec<((u64, u32), whyslow_model::FigureRow)>,
    /// For texts that are put together from two columns.
    pub(crate) buffers: [String; 2],
    /// Until when the oldest calls were removed, where they were.
    pub(crate) calls_removed_until: Timestamp,
}

/// The first column of every table.
const SEQ: ColumnSpec =
    ColumnSpec::always("seq", Kind::Seq, "Number of the event in the recording, over all tables.");

/// Words for the values of an enum, both ways.
macro_rules! words {
    ($type:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        fn word(value: whyslow_model::$type) -> &'static str {
            match value {
                $(whyslow_model::$type::$variant => $word,)*
            }
        }

        fn of_word(word: &str) -> Option<whyslow_model::$type> {
            match word {
                $($word => Some(whyslow_model::$type::$variant),)*
                _ => None,
            }
        }
    };
}

mod inode;

macro_rules! tables {
    ($($id:ident $module:ident),* $(,)?) => {
        $(mod $module;)*

        /// All tables. Rows of one event stand in the order of this list: its parts before the whole.
        pub static TABLES: &[&TableSpec] = &[$(&$module::TABLE),*];

        /// A table's place in [`TABLES`].
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Id { $($id),* }
    };
}

tables! {
    Threads threads,
    Fds fds,
    Followed followed,
    Spans spans,
    Frames frames,
    Stacks stacks,
    Syscalls syscalls,
    Enters enters,
    CallFrames call_frames,
    Signals signals,
    Exits exits,
    Sched sched,
    Wakeups wakeups,
    Samples samples,
    Offcpu offcpu,
    CallStacks call_stacks,
    BlockIo block_io,
    Files files,
    Meanwhile meanwhile,
    Parked parked,
    Net net,
    Counts counts,
    ProcessStats process_stats,
    Losses losses,
    Costs costs,
    CountRows count_rows,
    CountTables count_tables,
    Host host,
    HostTables host_tables,
    Notes notes,
}

/// The table called `name`.
pub fn table(name: &str) -> Option<&'static TableSpec> {
    TABLES.iter().copied().find(|table| table.name == name)
}

/// Puts an event into the rows of its tables, and tells which these are: two where it has parts, none for the end of
/// a source.
#[inline]
pub(crate) fn put(event: &Event<'_>, seq: u64, rows: &mut [Rows]) -> &'static [Id] {
    macro_rules! into {
        ($id:ident $module:ident ( $($value:expr),* )) => {{
            $module::put($($value,)* seq, &mut rows[Id::$id as usize]);
            &[Id::$id]
        }};
    }
    match event {
        Event::Call(call) => into!(Syscalls syscalls(call)),
        Event::Enter(call) => into!(Enters enters(call)),
        Event::Signal(signal) => into!(Signals signals(signal)),
        Event::Exit(exit) => into!(Exits exits(exit)),
        Event::Frame { tid, text } => into!(CallFrames call_frames(*tid, text)),
        Event::Process(info) => into!(Threads threads(info)),
        Event::Fd(entry) => into!(Fds fds(entry)),
        Event::Note(note) => into!(Notes notes(note)),
        Event::Stretch(stretch) => into!(Sched sched(stretch)),
        Event::Wakeup(wakeup) => into!(Wakeups wakeups(wakeup)),
        Event::Sample(sample) => match sample.kind {
            SampleKind::OnCpu => into!(Samples samples(sample)),
            SampleKind::OffCpu => into!(Offcpu offcpu(sample)),
        },
        Event::CallStack(made) => into!(CallStacks call_stacks(made)),
        Event::BlockIo(io) => into!(BlockIo block_io(io)),
        Event::FileIo(io) => into!(Files files(io)),
        Event::Meanwhile(one) => into!(Meanwhile meanwhile(one)),
        Event::Parked(parked) => into!(Parked parked(parked)),
        Event::Net(event) => into!(Net net(event)),
        Event::ThreadCounts(of) => into!(Counts counts(of)),
        Event::ThreadTotals(totals) => into!(ProcessStats process_stats(totals)),
        Event::Span(span) => into!(Spans spans(span)),
        Event::Loss(loss) => into!(Losses losses(loss)),
        Event::Cost(cost) => into!(Costs costs(cost)),
        Event::Followed(followed) => into!(Followed followed(followed)),
        Event::Stack(stack) => {
            frames::put(stack, seq, &mut rows[Id::Frames as usize]);
            stacks::put(stack, seq, &mut rows[Id::Stacks as usize]);
            &[Id::Frames, Id::Stacks]
        }
        Event::Counts(table) => {
            table.rows.iter().for_each(|row| count_rows::put(row, seq, &mut rows[Id::CountRows as usize]));
            count_tables::put(table, seq, &mut rows[Id::CountTables as usize]);
            &[Id::CountRows, Id::CountTables]
        }
        Event::Figures(table) => {
            host::put(table, seq, &mut rows[Id::Host as usize]);
            host_tables::put(table, seq, &mut rows[Id::HostTables as usize]);
            &[Id::Host, Id::HostTables]
        }
        // A log is its own recording, and a profile too.
        Event::Logged(_) | Event::Percentiles(_) | Event::Profile(_) | Event::Trace(_) | Event::Source(_) => {
            &[]
        }
    }
}

/// The point in time that an event moves the recording to; unknown for what has none. A call is recorded when it
/// returns.
#[inline]
pub(crate) fn time_of(event: &Event<'_>) -> Timestamp {
    match event {
        Event::Call(call) if call.dur.is_known() => call.end(),
        Event::Call(call) | Event::Enter(call) => call.ts,
        Event::Signal(signal) => signal.ts,
        Event::Exit(exit) => exit.ts,
        Event::Stretch(stretch) => stretch.ts.plus(stretch.on_cpu),
        Event::Wakeup(wakeup) => wakeup.ts,
        Event::Sample(sample) => sample.ts,
        Event::CallStack(made) => made.ts,
        Event::Net(event) => event.ts,
        Event::Figures(table) => table.at,
        _ => Timestamp::UNKNOWN,
    }
}
