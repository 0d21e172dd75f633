//! Table `parked`: where goroutines waited on no thread.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, Parked};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "parked",
    about: "Goroutines of a process that waited at one place, counted some times a second: samples, no times. Several rows of the same add up.",
    columns: &[
        SEQ,
        ColumnSpec::always("pid", Kind::U32, "The process."),
        ColumnSpec::always(
            "waits",
            Kind::Word,
            "lock, send (on a channel), answer, connection, io, sleep, hand-off (others, while a request is served), receive, select, condition, group (others' end), accept, other.",
        ),
        ColumnSpec::always("call", Kind::Text, "The same in the words of Go's traces."),
        ColumnSpec::always("function", Kind::Text, "The innermost function of the program's own code."),
        ColumnSpec::maybe("place", Kind::Text, "Its source file and line."),
        ColumnSpec::always("goroutines", Kind::U64, "Goroutines of all counts together."),
        ColumnSpec::always("looks", Kind::U64, "How often those of the process were counted."),
    ],
    keep: Keep::Newest,
    replay,
};

words!(ParkedFor {
    Lock = "lock",
    Send = "send",
    Answer = "answer",
    Connection = "connection",
    Io = "io",
    Sleep = "sleep",
    HandOff = "hand-off",
    Receive = "receive",
    Select = "select",
    Condition = "condition",
    Group = "group",
    Accept = "accept",
    Other = "other",
});

#[inline]
pub(super) fn put(parked: &Parked, seq: u64, rows: &mut Rows) {
    let Parked { pid, waits, call, function, place, goroutines, looks } = parked;
    let mut row = rows.row(seq);
    row.u32(Some(*pid)).string(Some(word(*waits))).string(Some(call)).string(Some(function));
    row.string(place.as_deref()).u64(Some(*goroutines)).u64(Some(*looks)).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    to.sink.push(Event::Parked(Box::new(Parked {
        pid: row.u32()?,
        waits: of_word(row.text()?)?,
        call: row.string()?,
        function: row.string()?,
        place: row.string(),
        goroutines: row.u64()?,
        looks: row.u64()?,
    })));
    Some(())
}
