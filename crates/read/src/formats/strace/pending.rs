//! Calls that began and did not end yet, by thread.

use super::record::{Marks, Record, Span};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{Call, CallFlags, Nanos, Ret, SourceId, Syscall, Timestamp};

/// A first half, kept until its second half comes: mostly in the same batch, so it owns its text only from the
/// end of the batch on (see [`Pending::leave`]).
#[derive(Debug)]
pub(crate) struct FirstHalf {
    tid: Tid,
    pub(crate) line: u64,
    pub(crate) ts: Timestamp,
    /// Torn by other output, not by strace: without a result it is a damaged line.
    pub(crate) torn: bool,
    pub(crate) flags: CallFlags,
    /// Its spans are pieces of `own`, or of the batch as long as that is `None`.
    record: Record,
    own: Option<Vec<u8>>,
    /// The arguments of both halves, if the second has any.
    args: Vec<u8>,
}

impl FirstHalf {
    fn empty() -> Box<FirstHalf> {
        Box::new(FirstHalf {
            tid: 0,
            line: 0,
            ts: Timestamp::UNKNOWN,
            torn: false,
            flags: CallFlags::default(),
            record: Record::default(),
            own: None,
            args: Vec::new(),
        })
    }

    fn text<'a>(&'a self, batch: &'a [u8]) -> &'a [u8] {
        self.own.as_deref().unwrap_or(batch)
    }

    /// The name; `batch` is the one being assembled.
    pub(crate) fn name<'a>(&'a self, batch: &'a [u8]) -> &'a [u8] {
        self.record.name(self.text(batch))
    }

    /// The line as captured.
    pub(crate) fn raw<'a>(&'a self, batch: &'a [u8]) -> &'a [u8] {
        self.record.line.of(self.text(batch))
    }

    /// The arguments, as far as they are known.
    fn args<'a>(&'a self, batch: &'a [u8]) -> &'a [u8] {
        if self.args.is_empty() { self.record.args.of(self.text(batch)) } else { &self.args }
    }

    /// What the call is.
    pub(crate) fn syscall(&self) -> Syscall {
        self.record.syscall()
    }

    /// True where the timestamp shows more than seconds.
    pub(crate) fn sub_second(&self) -> bool {
        self.record.marks.has(Marks::SUB_SECOND)
    }

    /// Appends the arguments of the second half: `23,` and `"x", 1` to `23, "x", 1`.
    pub(crate) fn append(&mut self, batch: &[u8], second: &[u8]) {
        let second = second.trim_ascii_start();
        if second.is_empty() {
            return;
        }
        if self.args.is_empty() {
            let first = self.record.args.of(self.own.as_deref().unwrap_or(batch));
            self.args.extend_from_slice(first);
        }
        // `{flags=…}` and `=> {parent_tid=[7]}, 88` of clone3 too.
        if self.args.last() == Some(&b',') || second.starts_with(b"=>") {
            self.args.push(b' ');
        }
        self.args.extend_from_slice(second);
    }

    /// Copies its text out of the batch.
    fn own(&mut self, batch: &[u8]) {
        let record = &mut self.record;
        let mut own = Vec::with_capacity(2 * (record.line.len() + record.name(batch).len()));
        let mut copy = |text: &[u8]| {
            own.extend_from_slice(text);
            Span::new(own.len() - text.len(), own.len())
        };
        // The arguments may stand elsewhere than in the line (see `Marks::NAMED_ARGS`).
        let (line, name, args) =
            (copy(record.line.of(batch)), copy(record.name(batch)), copy(record.args.of(batch)));
        (record.line, record.name_start, record.args) = (line, name.start, args);
        self.own = Some(own);
    }

    /// The call as far as it is known from this half.
    #[inline(always)]
    pub(crate) fn call<'a>(&'a self, source: SourceId, tid: Tid, batch: &'a [u8]) -> Call<'a> {
        Call {
            source,
            line: self.line,
            end_line: self.line,
            tid,
            pid: None,
            cpu: None,
            ts: self.ts,
            dur: Nanos::UNKNOWN,
            syscall: self.syscall(),
            name: self.name(batch),
            args: self.args(batch),
            ret: Ret::Unknown,
            errno: whyslow_model::Errno::NONE,
            ret_note: b"",
            flags: self.flags,
            raw: self.raw(batch),
            raw_end: b"",
        }
    }

    /// Bytes of text.
    fn size(&self) -> usize {
        let args = if self.args.is_empty() { self.record.args.len() } else { self.args.len() };
        self.record.line.len() + self.record.name_len as usize + args
    }
}

/// The flags that a record's own line gives its call.
pub(crate) fn call_flags(record: &Record) -> CallFlags {
    if record.marks.has(Marks::LIBRARY) { CallFlags::LIBRARY } else { CallFlags::default() }
}

/// All first halves of a source.
#[derive(Debug)]
pub(crate) struct Pending {
    /// By the low bits of the thread: found without a look into the map.
    near: Box<[Place; NEAR]>,
    /// Those whose place was taken by another thread.
    far: HashMap<Tid, Box<FirstHalf>>,
    /// Done with; their buffers are used again.
    #[expect(clippy::vec_box, reason = "the boxes move between here and the tables, their contents do not")]
    spare: Vec<Box<FirstHalf>>,
    open: usize,
    /// Of the text of those that are open.
    bytes: usize,
}

#[derive(Debug)]
struct Place {
    half: Option<Box<FirstHalf>>,
    /// How many more there are in the map.
    far: u32,
}

/// Threads of a process are numbered mostly one after another: this many, and few share a place.
const NEAR: usize = 1024;

impl Default for Pending {
    fn default() -> Self {
        let near = Box::new([const { Place { half: None, far: 0 } }; NEAR]);
        Pending { near, far: HashMap::new(), spare: Vec::new(), open: 0, bytes: 0 }
    }
}

impl Pending {
    /// Threads with an open call; Linux allows 4 million, a real capture shows some thousands.
    const MOST: usize = 1 << 15;
    /// Text of open calls. A line may have 1 MiB, so a hostile capture would need it for each thread.
    const MOST_BYTES: usize = 4 << 20;
    const MOST_SPARE: usize = 64;

    /// True where the thread may have an open call.
    #[inline(always)]
    pub(crate) fn may_have(&self, tid: Tid) -> bool {
        let place = &self.near[tid as usize % NEAR];
        place.half.is_some() || place.far > 0
    }

    /// True where room must be made before another is kept.
    pub(crate) fn is_full(&self) -> bool {
        self.open >= Pending::MOST || self.bytes >= Pending::MOST_BYTES
    }

    /// Keeps the first half in `record` for `tid`, which must have none (see [`Pending::take`]), and returns it.
    #[inline]
    pub(crate) fn keep(&mut self, tid: Tid, record: &Record, line: u64, ts: Timestamp) -> &mut FirstHalf {
        let mut half = self.spare.pop().unwrap_or_else(FirstHalf::empty);
        half.line = line;
        half.ts = ts;
        half.torn = false;
        half.flags = call_flags(record);
        half.record = *record;
        self.put(tid, half)
    }

    pub(crate) fn get(&self, tid: Tid) -> Option<&FirstHalf> {
        let near = self.near[tid as usize % NEAR].half.as_deref().filter(|half| half.tid == tid);
        near.or_else(|| self.far.get(&tid).map(|half| &**half))
    }

    /// Takes the first half of `tid` out.
    #[inline]
    pub(crate) fn take(&mut self, tid: Tid) -> Option<Box<FirstHalf>> {
        let place = &mut self.near[tid as usize % NEAR];
        let half = match &place.half {
            Some(half) if half.tid == tid => place.half.take()?,
            _ if place.far == 0 => return None,
            _ => {
                let half = self.far.remove(&tid)?;
                place.far -= 1;
                half
            }
        };
        self.open -= 1;
        self.bytes = self.bytes.saturating_sub(half.size());
        Some(half)
    }

    /// Puts one taken out back, perhaps for another thread.
    #[inline]
    pub(crate) fn put(&mut self, tid: Tid, mut half: Box<FirstHalf>) -> &mut FirstHalf {
        half.tid = tid;
        self.bytes += half.size();
        self.open += 1;
        let place = &mut self.near[tid as usize % NEAR];
        if place.half.is_none() {
            return place.half.insert(half);
        }
        place.far += 1;
        self.far.entry(tid).insert(half).into_mut()
    }

    /// Gives the buffers of one that is done with back.
    #[inline]
    pub(crate) fn recycle(&mut self, mut half: Box<FirstHalf>) {
        // A huge buffer is not worth keeping.
        if self.spare.len() < Pending::MOST_SPARE && half.args.capacity() < 64 * 1024 {
            half.own = None;
            half.args.clear();
            self.spare.push(half);
        }
    }

    /// The batch is about to go: those that are still open copy their text.
    pub(crate) fn leave(&mut self, batch: &[u8]) {
        let open = self.near.iter_mut().flat_map(|place| &mut place.half).chain(self.far.values_mut());
        open.filter(|half| half.own.is_none()).for_each(|half| half.own(batch));
    }

    fn all(&self) -> impl Iterator<Item = &FirstHalf> {
        self.near.iter().flat_map(|place| &place.half).chain(self.far.values()).map(|half| &**half)
    }

    /// The only thread whose open call has that name, if just one has.
    /// Of very many open calls none is the only one.
    pub(crate) fn only_one_named(&self, name: &[u8], batch: &[u8]) -> Option<Tid> {
        const MOST_TO_ASK: usize = 64;
        if self.open > MOST_TO_ASK {
            return None;
        }
        let mut named = self.all().filter(|half| half.name(batch) == name);
        let half = named.next()?;
        named.next().is_none().then_some(half.tid)
    }

    /// All threads with an open call, in the order of the lines.
    pub(crate) fn tids(&self) -> Vec<Tid> {
        let mut tids: Vec<(u64, Tid)> = self.all().map(|half| (half.line, half.tid)).collect();
        tids.sort_unstable();
        tids.into_iter().map(|(_, tid)| tid).collect()
    }
}
