//! Records of the scheduler.

use super::ReplayContext;
use crate::bpf::layout::{Fields, Header};
use crate::bpf::spool::SpoolRecord;
use whyslow_model::{Event, LeftAs, Nanos, Sink, Stretch, Timestamp, WakeContext, Wakeup};

impl ReplayContext {
    /// Reads `struct stretch_record` (programs/sched/sched.bpf.c).
    pub(super) fn stretch(&mut self, record: &SpoolRecord<'_>, sink: &mut dyn Sink) -> Option<()> {
        let mut fields = Fields(record.bytes.get(Header::SIZE..)?);
        // All ones stand for unknown in the record as in the model.
        let (on_cpu, runnable, blocked) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let header = record.header;
        let ts = match Nanos::new(on_cpu).get() {
            Some(ran) => self.clock.epoch(header.ts.saturating_sub(ran)),
            None => Timestamp::UNKNOWN,
        };
        sink.push(Event::Stretch(Stretch {
            ts,
            cpu: record.cpu,
            pid: self.process_of(header.tid),
            tid: header.tid,
            left_as: match header.flags {
                0 => LeftAs::Runnable,
                1 => LeftAs::Sleeping,
                2 => LeftAs::Uninterruptible,
                3 => LeftAs::Stopped,
                4 => LeftAs::Dead,
                _ => LeftAs::Other,
            },
            on_cpu: Nanos::new(on_cpu),
            runnable: Nanos::new(runnable),
            blocked: Nanos::new(blocked),
        }));
        Some(())
    }

    /// Reads `struct wakeup_record`.
    pub(super) fn wakeup(&mut self, record: &SpoolRecord<'_>, sink: &mut dyn Sink) -> Option<()> {
        let waker = Fields(record.bytes.get(Header::SIZE..)?).u32()?;
        let context = match record.header.flags {
            0 => WakeContext::Task,
            1 => WakeContext::HardIrq,
            2 => WakeContext::SoftIrq,
            _ => WakeContext::Other,
        };
        sink.push(Event::Wakeup(Wakeup {
            ts: self.clock.epoch(record.header.ts),
            cpu: record.cpu,
            waker: (context == WakeContext::Task).then_some(waker),
            context,
            wakee: record.header.tid,
        }));
        Some(())
    }
}
