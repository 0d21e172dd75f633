//! Counted calls: rows that had to make place, and what the tables held at the end.

use super::ReplayContext;
use crate::bpf::layout::{CountRow, Fields, Header};
use crate::bpf::spool::SpoolRecord;
use crate::counts;
use crate::decode::table;
use whyslow_model::{CallStats, Event, Histogram, Nanos, Sink, Syscall, ThreadCounts, Timestamp};

impl ReplayContext {
    /// Reads `struct count_record` (programs/calls/counts.bpf.h).
    pub(super) fn counts(&mut self, record: &SpoolRecord<'_>) -> Option<()> {
        let row = CountRow::read(&mut Fields(record.bytes.get(Header::SIZE..)?))?;
        counts::add(&mut self.counted, &row);
        Some(())
    }
}

/// Tells what was counted, the most frequent first.
pub(super) fn tell(context: &ReplayContext, (from, to): (Timestamp, Timestamp), sink: &mut dyn Sink) {
    let mut rows: Vec<_> = context.counted.iter().collect();
    rows.sort_by_key(|((tid, nr), row)| (std::cmp::Reverse(row.calls), *tid, *nr));
    for ((tid, nr), row) in rows {
        let name = table::row_of(*nr).map_or_else(|| format!("syscall_{nr:#x}"), |row| row.name.to_string());
        sink.push(Event::ThreadCounts(Box::new(ThreadCounts {
            pid: context.process_of(*tid),
            tid: *tid,
            syscall: Syscall::lookup(name.as_bytes()).unwrap_or(Syscall::UNLISTED),
            name,
            from,
            to,
            stats: stats(row),
        })));
    }
}

/// Count, errors and times of a row.
pub(super) fn stats(row: &CountRow) -> CallStats {
    let mut histogram = Histogram::default();
    for (power, &calls) in row.buckets.iter().enumerate() {
        // The middle of a bucket from 2^n to 2^(n+1), on its own scale.
        let middle = ((1u64 << power) as f64 * std::f64::consts::SQRT_2) as u64;
        histogram.record_many(middle.clamp(row.shortest.min(row.longest), row.longest), calls);
    }
    let mut stats = CallStats::of_totals(row.calls, row.errors, Nanos::new(row.total));
    stats.timed = row.buckets.iter().map(|calls| u64::from(*calls)).sum();
    if stats.timed > 0 {
        stats.set_bounds(Nanos::new(row.shortest), Nanos::new(row.longest));
    }
    stats.histogram = histogram;
    stats
}
