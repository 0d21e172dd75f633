//! Calls that began and did not end yet, by thread.

use super::record::{Marks, Record};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{Call, CallFlags, Nanos, Ret, SourceId, Syscall, Timestamp};

/// A first half, kept until its second half comes. Owns its text: the batch it stood in is gone by then.
#[derive(Debug)]
pub(crate) struct FirstHalf {
    pub(crate) line: u64,
    pub(crate) ts: Timestamp,
    pub(crate) sub_second: bool,
    /// Torn by other output, not by strace: without a result it is a damaged line.
    pub(crate) torn: bool,
    pub(crate) flags: CallFlags,
    pub(crate) syscall: Syscall,
    /// The line as captured.
    raw: Vec<u8>,
    name: Vec<u8>,
    /// Of this half, and of the second once it came.
    args: Vec<u8>,
}

impl FirstHalf {
    fn empty() -> Box<FirstHalf> {
        Box::new(FirstHalf {
            line: 0,
            ts: Timestamp::UNKNOWN,
            sub_second: false,
            torn: false,
            flags: CallFlags::default(),
            syscall: Syscall::UNLISTED,
            raw: Vec::new(),
            name: Vec::new(),
            args: Vec::new(),
        })
    }

    fn fill(&mut self, batch: &[u8], record: &Record, line: u64, ts: Timestamp) {
        self.line = line;
        self.ts = ts;
        self.sub_second = record.marks.has(Marks::SUB_SECOND);
        self.torn = false;
        self.flags = call_flags(record);
        self.syscall = record.syscall();
        self.raw.clear();
        self.raw.extend_from_slice(record.line.of(batch));
        self.name.clear();
        self.name.extend_from_slice(record.name(batch));
        self.args.clear();
        self.args.extend_from_slice(record.args.of(batch));
    }

    pub(crate) fn name(&self) -> &[u8] {
        &self.name
    }

    pub(crate) fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Appends the arguments of the second half: `23,` and `"x", 1` to `23, "x", 1`.
    pub(crate) fn append(&mut self, second: &[u8]) {
        let second = second.trim_ascii_start();
        if self.args.last() == Some(&b',') && !second.is_empty() {
            self.args.push(b' ');
        }
        self.args.extend_from_slice(second);
    }

    /// The call as far as it is known from this half.
    pub(crate) fn call(&self, source: SourceId, tid: Tid) -> Call<'_> {
        Call {
            source,
            line: self.line,
            end_line: self.line,
            tid,
            ts: self.ts,
            dur: Nanos::UNKNOWN,
            syscall: self.syscall,
            name: &self.name,
            args: &self.args,
            ret: Ret::Unknown,
            errno: whyslow_model::Errno::NONE,
            ret_note: b"",
            flags: self.flags,
            raw: &self.raw,
            raw_end: b"",
        }
    }

    fn size(&self) -> usize {
        self.raw.len() + self.name.len() + self.args.len()
    }
}

/// The flags that a record's own line gives its call.
pub(crate) fn call_flags(record: &Record) -> CallFlags {
    if record.marks.has(Marks::LIBRARY) { CallFlags::LIBRARY } else { CallFlags::default() }
}

/// All first halves of a source.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    by_tid: HashMap<Tid, Box<FirstHalf>>,
    /// Done with; their buffers are used again.
    #[expect(clippy::vec_box, reason = "the boxes move between here and the map, their contents do not")]
    spare: Vec<Box<FirstHalf>>,
    bytes: usize,
    /// Open calls by the low bits of the thread: most threads are known to have none without a look into the map.
    counts: Counts,
}

/// A counter for each value of the low byte.
#[derive(Debug)]
struct Counts([u32; 256]);

impl Default for Counts {
    fn default() -> Self {
        Counts([0; 256])
    }
}

impl Counts {
    #[inline(always)]
    fn of(&mut self, tid: Tid) -> &mut u32 {
        &mut self.0[tid as usize % 256]
    }
}

impl Pending {
    /// Threads with an open call; Linux allows 4 million, a real capture shows some thousands.
    const MOST: usize = 1 << 16;
    /// Text of open calls. A line may have 1 MiB, so a hostile capture would need it for each thread.
    const MOST_BYTES: usize = 16 << 20;
    const MOST_SPARE: usize = 64;

    /// True where the thread may have an open call.
    #[inline(always)]
    pub(crate) fn may_have(&self, tid: Tid) -> bool {
        self.counts.0[tid as usize % 256] > 0
    }

    /// True where room must be made before another is kept.
    pub(crate) fn is_full(&self) -> bool {
        self.by_tid.len() >= Pending::MOST || self.bytes >= Pending::MOST_BYTES
    }

    /// Keeps the first half in `record` for `tid`, which must have none (see [`Pending::take`]), and returns it.
    pub(crate) fn keep(
        &mut self,
        tid: Tid,
        batch: &[u8],
        record: &Record,
        line: u64,
        ts: Timestamp,
    ) -> &mut FirstHalf {
        let mut half = self.spare.pop().unwrap_or_else(FirstHalf::empty);
        half.fill(batch, record, line, ts);
        self.bytes += half.size();
        *self.counts.of(tid) += 1;
        self.by_tid.entry(tid).insert(half).into_mut()
    }

    pub(crate) fn get(&self, tid: Tid) -> Option<&FirstHalf> {
        self.by_tid.get(&tid).map(|half| &**half)
    }

    /// Takes the first half of `tid` out.
    pub(crate) fn take(&mut self, tid: Tid) -> Option<Box<FirstHalf>> {
        if !self.may_have(tid) {
            return None;
        }
        let half = self.by_tid.remove(&tid)?;
        *self.counts.of(tid) -= 1;
        self.bytes = self.bytes.saturating_sub(half.size());
        Some(half)
    }

    /// Puts one taken out back, perhaps for another thread.
    pub(crate) fn put(&mut self, tid: Tid, half: Box<FirstHalf>) {
        self.bytes += half.size();
        *self.counts.of(tid) += 1;
        self.by_tid.insert(tid, half);
    }

    /// Gives the buffers of one that is done with back.
    pub(crate) fn recycle(&mut self, half: Box<FirstHalf>) {
        // A huge buffer is not worth keeping.
        if self.spare.len() < Pending::MOST_SPARE && half.raw.capacity() < 64 * 1024 {
            self.spare.push(half);
        }
    }

    /// The only thread whose open call has that name, if just one has.
    pub(crate) fn only_one_named(&self, name: &[u8]) -> Option<Tid> {
        let mut named = self.by_tid.iter().filter(|(_, half)| half.name == name);
        let (tid, _) = named.next()?;
        named.next().is_none().then_some(*tid)
    }

    /// All threads with an open call, in the order of the lines.
    pub(crate) fn tids(&self) -> Vec<Tid> {
        let mut tids: Vec<(u64, Tid)> = self.by_tid.iter().map(|(tid, half)| (half.line, *tid)).collect();
        tids.sort_unstable();
        tids.into_iter().map(|(_, tid)| tid).collect()
    }
}
