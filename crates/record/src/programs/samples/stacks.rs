//! Stacks as the kernel's side writes them: read, numbered, and put to the waits that they belong to.

use crate::bpf::layout::Fields;
use crate::bpf::spool::SpoolRecord;
use crate::symbols::Symbolizer;
use std::collections::HashMap;
use whyslow_model::{Event, Sink, Stack, StackFrame, StackId};

/// Stacks that are known by their number at once; past this one that comes again gets a new number.
const MAX_STACKS: usize = 1 << 16;

/// Flags of a stack's record (`bpf/stack.bpf.h`).
pub(super) mod flag {
    pub(crate) const USER_CUT: u8 = 1;
    pub(crate) const KERNEL_CUT: u8 = 2;
    pub(crate) const UNFINISHED: u8 = 4;
    pub(crate) const BEFORE: u8 = 8;
}

/// `struct stack_record`.
#[derive(Clone, Debug)]
pub(super) struct StackRecord {
    pub(super) ts: u64,
    pub(super) cpu: u16,
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) flags: u8,
    pub(super) weight: u64,
    pub(super) kernel: Vec<u64>,
    pub(super) user: Vec<u64>,
}

impl StackRecord {
    /// `None` where the record is not whole.
    pub(super) fn read(record: &SpoolRecord<'_>) -> Option<StackRecord> {
        let mut fields = Fields(record.body());
        let pid = fields.u32()?;
        let (kernel, user) = (fields.u16()? as usize, fields.u16()? as usize);
        let weight = fields.u64()?;
        let mut addresses = |bytes: usize| (0..bytes / 8).map(|_| fields.u64()).collect::<Option<Vec<u64>>>();
        let (kernel, user) = (addresses(kernel)?, addresses(user)?);
        let header = record.header;
        Some(StackRecord {
            ts: header.ts,
            cpu: record.cpu,
            pid,
            tid: header.tid,
            flags: header.flags,
            weight,
            kernel,
            user,
        })
    }
}

/// Which stacks were told, by process (0: the kernel) and addresses.
#[derive(Default)]
pub(super) struct Stacks {
    known: HashMap<u32, HashMap<Vec<u64>, StackId>>,
    count: usize,
    next: u32,
}

impl Stacks {
    /// The process runs another program from now on, or another process has its number: the same addresses are others.
    pub(super) fn forget(&mut self, pid: u32) {
        if let Some(stacks) = self.known.remove(&pid) {
            self.count -= stacks.len();
        }
    }

    pub(super) fn user(
        &mut self,
        pid: u32,
        addresses: &[u64],
        cut: bool,
        symbols: &mut Symbolizer,
        sink: &mut dyn Sink,
    ) -> Option<StackId> {
        self.id(pid, addresses, cut, |addresses| symbols.user(pid, addresses), sink)
    }

    pub(super) fn kernel(
        &mut self,
        addresses: &[u64],
        cut: bool,
        symbols: &mut Symbolizer,
        sink: &mut dyn Sink,
    ) -> Option<StackId> {
        self.id(0, addresses, cut, |addresses| symbols.kernel(addresses), sink)
    }

    /// The number of a stack; a new one is told first. `None` where there is no frame.
    fn id(
        &mut self,
        space: u32,
        addresses: &[u64],
        cut: bool,
        frames: impl FnOnce(&[u64]) -> Vec<StackFrame>,
        sink: &mut dyn Sink,
    ) -> Option<StackId> {
        if addresses.is_empty() {
            return None;
        }
        if let Some(id) = self.known.get(&space).and_then(|stacks| stacks.get(addresses)) {
            return Some(*id);
        }
        if self.count >= MAX_STACKS {
            self.known.clear();
            self.count = 0;
        }
        let id = StackId(self.next);
        self.next += 1;
        self.count += 1;
        self.known.entry(space).or_default().insert(addresses.to_vec(), id);
        sink.push(Event::Stack(Stack { id, frames: frames(addresses), cut }));
        Some(id)
    }
}
