//! Files that are opened, read and closed again: how often, and what that takes.

use crate::gate::gated;
use crate::guards::{self, Share};
use whyslow_facts::{Facts, FileFacts, FileId};
use whyslow_model::syscall::Moves;
use whyslow_model::{Measurement, Nanos, SaturatingSum};

/// Opens for each round that was seen whole from which on most rounds were not.
const MOSTLY_UNSEEN: u64 = 2;

/// A file that is opened again and again.
pub(super) struct Reopened<'a> {
    pub(super) file: &'a FileFacts,
    /// How often more than once.
    pub(super) times: u64,
    /// The same a second; `None` without a clock.
    pub(super) per_s: Option<f64>,
    /// Bytes that each round brought; `None` where the kernel counted the opens, and told no reads.
    pub(super) bytes_each: Option<u64>,
    /// Bytes that a round brought on average, where the kernel added up all opens and reads.
    pub(super) mean_bytes: Option<u64>,
    /// Calls of all rounds, with a close for each.
    pub(super) calls: u64,
    /// Time in the calls, and between them while threads worked on what they had read.
    pub(super) time: Nanos,
}

impl<'a> Reopened<'a> {
    #[gated]
    pub(super) fn of(facts: &Facts, id: FileId, file: &'a FileFacts) -> Reopened<'a> {
        let counted = file.counted.sum();
        // The kernel counts all opens, also those that were not seen one by one. A file that is written is opened for that.
        let unseen = counted.reads.calls > MOSTLY_UNSEEN * file.reads.as_ref().map_or(0, |io| io.calls.count);
        let more = counted.opens.calls > file.opens || counted.opens.calls > 0 && unseen;
        if more && counted.writes.calls == 0 && file.writes.is_none() {
            return Reopened {
                file,
                times: counted.opens.calls.saturating_sub(1),
                per_s: facts.window.per_second(counted.opens.calls),
                bytes_each: None,
                mean_bytes: counted.reads.bytes.checked_div(counted.opens.calls).filter(|bytes| *bytes > 0),
                calls: counted.calls().saturating_add(counted.opens.calls),
                time: if counted.opens.timed > 0 { Nanos::new(counted.total_ns()) } else { Nanos::UNKNOWN },
            };
        }
        // Opens were seen one by one, and the reads and closes behind them only counted.
        let unseen =
            file.opens > MOSTLY_UNSEEN * file.rounds.count && counted_reads(facts, file) >= file.opens;
        let for_reading = file.writes.is_none() && file.creates == 0 && file.append_opens == 0;
        if unseen && for_reading {
            return Reopened {
                file,
                times: file.opens.saturating_sub(1),
                per_s: facts.window.per_second(file.opens),
                bytes_each: None,
                mean_bytes: None,
                calls: file.opens,
                time: if facts.capture.has_durations() { Nanos::new(file.time_ns()) } else { Nanos::UNKNOWN },
            };
        }
        let rounds = &file.rounds;
        let time = file.time_ns().saturating_add(facts.work_on_content(id).or_zero());
        Reopened {
            file,
            times: rounds.same,
            per_s: rounds.per_second(),
            bytes_each: Some(rounds.bytes_each()),
            mean_bytes: None,
            calls: file.calls().saturating_add(rounds.count),
            time: if facts.capture.has_durations() { Nanos::new(time) } else { Nanos::UNKNOWN },
        }
    }

    /// The part of the time that all rounds take.
    #[gated]
    pub(super) fn share(&self, facts: &Facts) -> Share {
        match self.bytes_each {
            Some(_) => {
                let tid = Some(self.file.tid).filter(|_| !self.file.shared);
                guards::share_of_storm(facts, tid, self.time, self.calls)
            }
            // A thread's own time is that of the calls that were seen one by one.
            None => guards::share_of_ns(facts, None, self.time, self.calls),
        }
    }

    /// `: the same 299 B each time`, `: 299 B each time on average`; empty where the bytes are not known.
    #[gated]
    pub(super) fn what_each(&self) -> String {
        if let Some(mean) = self.mean_bytes() {
            return format!(": {mean} each time on average");
        }
        self.bytes_each().map_or(String::new(), |bytes| format!(": the same {bytes} each time"))
    }

    /// The mean as a figure.
    pub(super) fn mean_bytes(&self) -> Option<Measurement> {
        self.mean_bytes.map(|bytes| Measurement::bytes("mean_bytes_per_repeat", bytes))
    }

    /// The same as a figure.
    pub(super) fn bytes_each(&self) -> Option<Measurement> {
        self.bytes_each.map(|bytes| Measurement::bytes("bytes_per_repeat", bytes))
    }
}

/// Reads that were only counted, of threads of the process that uses the file.
#[gated]
fn counted_reads(facts: &Facts, file: &FileFacts) -> u64 {
    let threads = &facts.world.threads;
    let Some(user) = threads.thread_of(file.tid) else { return 0 };
    let threads = threads.iter().map(|(_, thread)| thread).filter(|thread| thread.process == user.process);
    let counted = threads.filter_map(|thread| thread.counted.as_deref()).flat_map(|table| table.iter());
    counted
        .filter(|(call, _)| call.info().moves == Moves::Read)
        .map(|(_, calls)| calls.count)
        .saturating_sum()
}
