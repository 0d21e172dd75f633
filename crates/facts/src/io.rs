//! Reads or writes of one descriptor, file or peer: calls, sizes, order.

use crate::exemplar::Exemplars;
use whyslow_model::event::Tid;
use whyslow_model::{Call, CallStats, Errno, FdKind, Nanos, Syscall};

/// True where the size asked for is one byte: a call that got one byte of the 128 it asked for (a wake-up
/// through a pipe) is no unbuffered one.
fn asked_for_one(call: &Call<'_>) -> bool {
    let size = match call.syscall {
        Syscall::READ | Syscall::WRITE => call.args.rsplit(|byte| *byte == b',').next(),
        Syscall::PREAD64 | Syscall::PWRITE64 | Syscall::RECVFROM | Syscall::SENDTO => call.arg(2),
        _ => None,
    };
    size.is_some_and(|size| size.trim_ascii() == b"1")
}

/// Statistics of the reads or the writes of one subject.
#[derive(Clone, Debug, Default)]
pub struct IoStats {
    /// Count, errors, time, bytes.
    pub calls: CallStats,
    /// Successful calls by size: slot 0 holds zero bytes, slot n holds 2^(n-1) to 2^n - 1 bytes.
    pub sizes: [u32; 24],
    /// Calls that asked to move exactly one byte, and did.
    pub one_byte: u64,
    /// The longest run of such calls in a row.
    pub longest_one_byte_run: u64,
    one_byte_run: u64,
    /// Calls right behind an lseek on the same descriptor.
    pub after_seek: u64,
    /// Calls that found nothing ready (EAGAIN).
    pub again: u64,
    /// Calls right behind another of the same direction that began where that one ended.
    pub in_sequence: u64,
    /// The first thread that made one.
    pub tid: Tid,
    /// Another thread did too.
    pub shared: bool,
    /// The first line and the longest.
    pub exemplars: Exemplars,
}

impl IoStats {
    /// Counts one call.
    #[inline]
    pub(crate) fn record(&mut self, call: &Call<'_>, bytes: u64) {
        if self.calls.count == 0 {
            self.tid = call.tid;
        }
        self.shared |= self.tid != call.tid;
        self.calls.record(call.dur, call.failed(), bytes);
        self.again += (call.errno == Errno::EAGAIN) as u64;
        if !call.errno.is_error() {
            let slot = (64 - bytes.leading_zeros()) as usize;
            self.sizes[slot.min(23)] = self.sizes[slot.min(23)].saturating_add(1);
            if bytes == 1 && asked_for_one(call) {
                self.one_byte += 1;
                self.one_byte_run += 1;
                self.longest_one_byte_run = self.longest_one_byte_run.max(self.one_byte_run);
            } else {
                self.one_byte_run = 0;
            }
        }
        self.exemplars.see(call);
    }

    /// What the kernel added up of the calls of one thread. Of sums nobody knows the single sizes: each call that succeeded counts as
    /// one of the mean size. `in_sequence`: how many
    /// begin where the one before ended, as far as the thread's other calls tell.
    pub(crate) fn of_sum(tid: Tid, calls: CallStats, in_sequence: u64) -> IoStats {
        let (succeeded, bytes) = (calls.count.saturating_sub(calls.errors), calls.bytes);
        let mut io = IoStats { calls, tid, in_sequence: in_sequence.min(succeeded), ..IoStats::default() };
        let slot = (64 - bytes.checked_div(succeeded).unwrap_or(0).leading_zeros()) as usize;
        io.sizes[slot.min(23)] = u32::try_from(succeeded).unwrap_or(u32::MAX);
        if bytes <= succeeded {
            (io.one_byte, io.longest_one_byte_run) = (bytes, bytes);
        }
        io
    }

    /// Adds another subject's calls.
    pub fn merge(&mut self, other: &IoStats) {
        if other.calls.count == 0 {
            return;
        }
        if self.calls.count == 0 {
            self.tid = other.tid;
        }
        self.shared |= other.shared || self.tid != other.tid;
        self.calls.merge(&other.calls);
        for (mine, theirs) in self.sizes.iter_mut().zip(&other.sizes) {
            *mine = mine.saturating_add(*theirs);
        }
        self.one_byte += other.one_byte;
        self.longest_one_byte_run = self.longest_one_byte_run.max(other.longest_one_byte_run);
        self.after_seek += other.after_seek;
        self.again += other.again;
        self.in_sequence += other.in_sequence;
        self.exemplars.merge(&other.exemplars);
    }

    /// Successful calls.
    pub fn succeeded(&self) -> u64 {
        self.sizes.iter().map(|&count| count as u64).sum()
    }

    /// An upper bound of the median size in bytes of the successful calls that moved any (exact to a power
    /// of two); `None` where there is none.
    pub fn median_size(&self) -> Option<u64> {
        let moved: u64 = self.sizes[1..].iter().map(|&count| count as u64).sum();
        if moved == 0 {
            return None;
        }
        let mut seen = 0;
        for (slot, &count) in self.sizes.iter().enumerate().skip(1) {
            seen += count as u64;
            if seen * 2 >= moved {
                return Some((1u64 << slot) - 1);
            }
        }
        None
    }

    /// The mean size in bytes of the successful calls that moved any.
    pub fn mean_size(&self) -> Option<f64> {
        let moved: u64 = self.sizes[1..].iter().map(|&count| count as u64).sum();
        (moved > 0).then(|| self.calls.bytes as f64 / moved as f64)
    }

    /// The thread that made all of them; `None` where several did, or the capture shows no threads.
    pub fn only_thread(&self) -> Option<Tid> {
        (!self.shared && self.tid != 0).then_some(self.tid)
    }

    /// Time in the calls without what they waited for a peer: where `kind` is a pipe or a socket, each call
    /// counts as the median one, which found its data ready.
    pub fn time_of_work(&self, kind: FdKind) -> Nanos {
        if !kind.waits_for_peer() {
            return self.calls.total();
        }
        match self.calls.percentile(0.5).get() {
            Some(median) => Nanos::new(median.saturating_mul(self.calls.timed).min(self.calls.total_ns)),
            None => Nanos::UNKNOWN,
        }
    }

    /// Time in the calls.
    pub fn time(&self) -> Nanos {
        self.calls.total()
    }
}
