//! What was there as a segment of the ring began: with it, the records from there on are a recording of their own.

use crate::bpf::layout::CountRow;
use crate::bpf::ring::RingLoss;
use crate::counts::Counted;
use crate::programs::{FileRow, MeanwhileRow};
use serde::{Deserialize, Serialize};
use std::io;
use whyslow_model::{Event, FdEntry, ProcessInfo};

/// The state at one moment.
#[derive(Default)]
pub(crate) struct Mark {
    /// When: ns of the kernel's clock. All records that ended before are of an earlier segment.
    pub(crate) at: u64,
    /// [`State`], packed.
    state: Vec<u8>,
    /// What the kernel's tables held.
    pub(crate) sums: KernelSums,
    /// What was produced and lost until then, a row a table.
    pub(crate) produced: Vec<(&'static str, RingLoss)>,
}

/// What the kernel added up until a moment.
#[derive(Clone, Default)]
pub(crate) struct KernelSums {
    pub(crate) counted: Counted,
    pub(crate) files: Vec<FileRow>,
    pub(crate) meanwhile: Vec<MeanwhileRow>,
}

/// Processes, threads and descriptors.
#[derive(Serialize, Deserialize, Default)]
pub(crate) struct State {
    pub(crate) processes: Vec<ProcessInfo>,
    pub(crate) descriptors: Vec<FdEntry>,
}

impl State {
    pub(crate) fn of(events: Vec<Event<'static>>) -> State {
        let mut state = State::default();
        for event in events {
            match event {
                Event::Process(info) => state.processes.push(info),
                Event::Fd(entry) => state.descriptors.push(*entry),
                _ => {}
            }
        }
        state
    }
}

impl Mark {
    pub(crate) fn new(
        at: u64,
        state: &State,
        sums: KernelSums,
        produced: Vec<(&'static str, RingLoss)>,
    ) -> io::Result<Mark> {
        let mut state = zstd::bulk::compress(&serde_json::to_vec(state)?, 1)?;
        state.shrink_to_fit();
        Ok(Mark { at, state, sums, produced })
    }

    #[cfg(test)]
    pub(super) fn at(at: u64) -> Mark {
        Mark { at, ..Mark::default() }
    }

    /// What was there.
    pub(super) fn state(&self) -> io::Result<State> {
        if self.state.is_empty() {
            return Ok(State::default());
        }
        Ok(serde_json::from_slice(&zstd::decode_all(&self.state[..])?)?)
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> u64 {
        let KernelSums { counted, files, meanwhile } = &self.sums;
        let rows =
            counted.len() * size_of::<CountRow>() + size_of_val(&files[..]) + size_of_val(&meanwhile[..]);
        (self.state.len() + rows + 64 * self.produced.len()) as u64
    }
}
