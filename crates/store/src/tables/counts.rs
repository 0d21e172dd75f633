//! Table `counts`: calls that were only counted.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use std::fmt::Write as _;
use whyslow_model::{CallStats, Event, Histogram, Nanos, Syscall, ThreadCounts};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "counts",
    about: "The calls of one syscall in one thread, counted in the kernel.",
    columns: &[
        SEQ,
        ColumnSpec::always("pid", Kind::U32, "The process."),
        ColumnSpec::always("tid", Kind::U32, "The thread."),
        ColumnSpec::always("syscall", Kind::Word, "Which call."),
        ColumnSpec::maybe("from", Kind::Time, "From when on it was counted."),
        ColumnSpec::maybe("to", Kind::Time, "Until when."),
        ColumnSpec::always("count", Kind::U64, "Calls."),
        ColumnSpec::always("errors", Kind::U64, "Calls that failed."),
        ColumnSpec::always("timed", Kind::U64, "Calls whose duration is known."),
        ColumnSpec::maybe("total", Kind::Duration, "Sum of the known durations."),
        ColumnSpec::always("waiting", Kind::Duration, "The part of it that was waiting for somebody else."),
        ColumnSpec::maybe("min", Kind::Duration, "The shortest."),
        ColumnSpec::maybe("max", Kind::Duration, "The longest."),
        ColumnSpec::maybe("p50", Kind::Duration, "Half of the calls took less."),
        ColumnSpec::maybe("p90", Kind::Duration, "90 % took less."),
        ColumnSpec::maybe("p99", Kind::Duration, "99 % took less."),
        ColumnSpec::always("bytes", Kind::U64, "Bytes moved."),
        ColumnSpec::always("histogram", Kind::Text, "How long they took: NS:CALLS, separated by spaces; NS is the middle of a bucket, eight to an octave."),
    ],
    keep: Keep::Newest,
    replay,
};

fn histogram_text(histogram: &Histogram) -> String {
    let mut text = String::new();
    for (ns, count) in histogram.durations() {
        let gap = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{gap}{}:{count}", ns.or_zero());
    }
    text
}

fn histogram_of(text: &str) -> Histogram {
    let mut histogram = Histogram::default();
    for pair in text.split_ascii_whitespace() {
        let parsed = pair.split_once(':').and_then(|(ns, count)| Some((ns.parse().ok()?, count.parse().ok()?)));
        if let Some((ns, count)) = parsed {
            histogram.record_many(ns, count);
        }
    }
    histogram
}

#[inline]
pub(super) fn put(counts: &ThreadCounts, seq: u64, rows: &mut Rows) {
    let stats = &counts.stats;
    let mut row = rows.row(seq);
    row.u32(Some(counts.pid)).u32(Some(counts.tid)).string(Some(&counts.name));
    row.time(counts.from).time(counts.to);
    row.u64(Some(stats.count)).u64(Some(stats.errors)).u64(Some(stats.timed));
    row.nanos(stats.total()).nanos(Nanos::new(stats.waiting_ns)).nanos(stats.min()).nanos(stats.max());
    row.nanos(stats.percentile(0.5)).nanos(stats.percentile(0.9)).nanos(stats.percentile(0.99));
    row.u64(Some(stats.bytes)).text(Some(&histogram_text(&stats.histogram))).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    let (pid, tid, name, from, until) = (row.u32()?, row.u32()?, row.string()?, row.time(), row.time());
    let mut stats = CallStats::default();
    (stats.count, stats.errors, stats.timed) = (row.u64()?, row.u64()?, row.u64()?);
    stats.total_ns = row.nanos().or_zero();
    stats.waiting_ns = row.nanos().or_zero();
    stats.set_bounds(row.nanos(), row.nanos());
    (0..3).for_each(|_| row.skip());
    stats.bytes = row.u64()?;
    stats.histogram = histogram_of(row.text()?);
    let syscall = Syscall::lookup(name.as_bytes()).unwrap_or(Syscall::UNLISTED);
    to.sink.push(Event::ThreadCounts(Box::new(ThreadCounts {
        pid,
        tid,
        syscall,
        name,
        from,
        to: until,
        stats,
    })));
    Some(())
}
