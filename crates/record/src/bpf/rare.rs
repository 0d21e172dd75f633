//! The consumer's side of the kernel's own ring buffer, for what is rare, and its counters.

use crate::bpf::layout::kind;
use crate::bpf::ring::RingLoss;
use crate::error::RecordError;
use libbpf_rs::{MapCore, MapFlags, MapHandle, RingBuffer, RingBufferBuilder};
use std::sync::mpsc::{Receiver, Sender, channel};

/// The ring and where its records go.
pub(crate) struct RareRing {
    ring: RingBuffer<'static>,
    records: Receiver<Vec<u8>>,
}

impl RareRing {
    pub(crate) fn new(map: &MapHandle) -> Result<RareRing, RecordError> {
        let failed = |source| RecordError::Load { program: "rare ring", step: "map", source };
        let (sender, records): (Sender<Vec<u8>>, _) = channel();
        let mut builder = RingBufferBuilder::new();
        builder
            .add(map, move |record| {
                // The receiver lives as long as the ring.
                let _ = sender.send(record.to_vec());
                0
            })
            .map_err(failed)?;
        Ok(RareRing { ring: builder.build().map_err(failed)?, records })
    }

    /// Takes what is there. Returns the bytes taken.
    pub(crate) fn take(&self, mut with: impl FnMut(&mut Vec<u8>)) -> usize {
        // An error here is one of epoll's set-up; consume() itself takes what is there.
        let _ = self.ring.consume();
        let mut bytes = 0;
        for mut record in self.records.try_iter() {
            bytes += record.len();
            with(&mut record);
        }
        bytes
    }
}

/// What the rare ring lost, by kind of record.
pub(crate) fn losses(counts: &MapHandle) -> Result<[RingLoss; kind::COUNT], RecordError> {
    let mut losses = [RingLoss::NONE; kind::COUNT];
    let rows = counts
        .lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY)
        .map_err(|source| RecordError::Load { program: "rare ring", step: "counters", source })?;
    for row in rows.into_iter().flatten() {
        let value = |table: usize, kind: usize| {
            let at = (table * kind::COUNT + kind) * 8;
            row.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes)
        };
        for (kind, loss) in losses.iter_mut().enumerate() {
            loss.produced += value(0, kind);
            loss.refused += value(4, kind);
            loss.spent_ns += value(5, kind);
            if value(1, kind) > 0 {
                loss.lost += value(1, kind);
                loss.first = loss.first.min(value(2, kind));
                loss.last = loss.last.max(value(3, kind));
            }
        }
    }
    Ok(losses)
}
