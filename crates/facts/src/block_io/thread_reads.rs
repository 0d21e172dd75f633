//! What one thread reads from one device: how much of it lies right behind what it read before.

use super::Op;
use whyslow_model::{BlockIo, CallStats};

/// Reads of a thread from a device.
#[derive(Clone, Debug, Default)]
pub struct ThreadReads {
    /// Those that somebody waits for, from when they were made to their end.
    pub reads: CallStats,
    /// Of these, those that began where the one before ended.
    pub in_order: u64,
    /// Reads ahead of need.
    pub ahead: u64,
    /// The sector behind the last read.
    end: Option<u64>,
}

impl ThreadReads {
    /// Bytes of a sector, whatever the device's own are (include/linux/blk_types.h).
    const SECTOR: u64 = 512;

    pub(super) fn see(&mut self, io: &BlockIo, op: Op) {
        let behind = self.end.replace(io.sector.saturating_add(io.bytes / Self::SECTOR));
        if op == Op::ReadAhead {
            self.ahead += 1;
            return;
        }
        let begin = if io.queued.is_known() { io.queued } else { io.issued };
        self.reads.record(io.completed.since(begin), false, io.bytes);
        self.in_order += u64::from(behind == Some(io.sector));
    }

    /// Bytes of a read on average; `None` without any.
    pub fn mean_size(&self) -> Option<u64> {
        self.reads.bytes.checked_div(self.reads.count)
    }

    /// The part of the reads that began where the one before ended; `None` without any.
    pub fn part_in_order(&self) -> Option<f64> {
        (self.reads.count > 0).then(|| self.in_order as f64 / self.reads.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::Timestamp;

    #[test]
    fn reads_behind_one_another_are_in_order_and_reads_ahead_are_none_that_is_waited_for() {
        let mut thread = ThreadReads::default();
        for (sector, op) in [(100, "read"), (108, "read"), (116, "read+ahead"), (124, "read"), (900, "read")]
        {
            let io = BlockIo {
                queued: Timestamp::new(1_000),
                issued: Timestamp::new(2_000),
                completed: Timestamp::new(5_000),
                device: "7:0".to_string(),
                sector,
                bytes: 4_096,
                op: op.to_string(),
                pid: Some(7),
                tid: Some(7),
                file: None,
            };
            thread.see(&io, Op::of(op));
        }
        assert_eq!((thread.reads.count, thread.ahead, thread.in_order), (4, 1, 2));
        assert_eq!((thread.mean_size(), thread.part_in_order()), (Some(4_096), Some(0.5)));
        assert_eq!(thread.reads.total_ns, 16_000);
    }
}
