//! The drain thread: empties the rings into the spool, often enough that none runs full. It polls: waking a reader for
//! each record costs the target more than the recording itself.

use crate::bpf::in_flight;
use crate::bpf::layout::{Fields, Header, kind};
use crate::bpf::rare::RareRing;
use crate::bpf::reduce::Reducer;
use crate::bpf::ring::Rings;
use crate::bpf::spool::{CALLS, RARE, SCHED, SpoolWriter};
use crate::bpf::unwinding::UnwindQueue;
use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::error::RecordError;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use whyslow_rights::Capabilities;

/// How long the drain sleeps when the rings were nearly empty. At 4 million records a second of 32 bytes a CPU's
/// ring of 32 MiB holds a quarter of a second.
const PAUSE: Duration = Duration::from_millis(2);
/// The same of a lasting recording, whose rings are small and whose calls are counted: a hundredth of a CPU would go into looking.
const LASTING_PAUSE: Duration = Duration::from_millis(20);
/// What was taken is written down after that long at most, ns: what comes in a few milliseconds is little, and a call of write(2) for
/// each piece of it costs most of what the drain takes.
const WRITE_EVERY_NS: u64 = 10_000_000;
/// From taking its time to writing a record down takes less than this: neither is interrupted by other threads.
const VISIBLE_AFTER_NS: u64 = 1_000_000;
/// A ring that is fuller than this is emptied again at once.
const BUSY: f64 = 1.0 / 16.0;

/// What it has done so far, for who watches.
#[derive(Default)]
pub(crate) struct DrainCounters {
    pub(crate) bytes: AtomicU64,
    /// CPU time of the thread, ns.
    pub(crate) cpu_ns: AtomicU64,
    /// All records that ended before this (ns of the kernel's clock) are in the spool.
    pub(crate) until: AtomicU64,
    /// Processes that began or run another program, not looked at yet.
    pub(crate) began: Mutex<Vec<u32>>,
    /// No more can be written: the disk is full, or the limit of size is reached.
    pub(crate) failed: AtomicBool,
    /// Bytes of the spool that were read and given back, where it is bounded.
    pub(crate) freed: AtomicU64,
    /// What a bounded spool had no room for.
    pub(crate) no_room: Mutex<NoRoom>,
}

/// Records that a bounded spool had no room for, by the stream that they were of.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct NoRoom {
    pub(crate) calls: u64,
    pub(crate) sched: u64,
    pub(crate) rare: u64,
    /// When the first and the last came, ns of the kernel's clock.
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl NoRoom {
    /// Counts whole records of a stream that are dropped.
    fn count(&mut self, stream: &str, mut bytes: &[u8]) {
        while bytes.len() >= 8 {
            let length = u16::from_ne_bytes([bytes[0], bytes[1]]) as usize;
            if length < 8 || length > bytes.len() {
                return;
            }
            if let Some(header) = Header::of(bytes).filter(|header| header.kind != kind::PAD) {
                let sum = match stream.split('-').next() {
                    Some(CALLS) => &mut self.calls,
                    Some(SCHED) => &mut self.sched,
                    _ => &mut self.rare,
                };
                *sum += 1;
                self.first = if self.first == 0 { header.ts } else { self.first.min(header.ts) };
                self.last = self.last.max(header.ts);
            }
            bytes = &bytes[length..];
        }
    }
}

/// Processes that begin between two looks and are told of; a storm of short-lived ones is not worth a look at each.
const MAX_BEGAN: usize = 1024;

impl DrainCounters {
    /// Notes the process of a record that tells of a new process or program.
    fn note_beginning(&self, record: &[u8]) {
        let Some(header) = Header::of(record) else { return };
        let Some(pid) = record.get(Header::SIZE..).and_then(|body| Fields(body).u32()) else { return };
        let process = header.kind == kind::EXEC || header.kind == kind::FORK && header.tid == pid;
        if process {
            let mut began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
            if began.len() < MAX_BEGAN {
                began.push(pid);
            }
        }
    }
}

/// How a drain works.
pub(crate) struct DrainOptions {
    /// Payload is reduced and secrets are hidden on their way.
    pub(crate) reducer: Option<Reducer>,
    /// Where copies of stacks go.
    pub(crate) unwind: Option<UnwindQueue>,
    /// See [`crate::Options::lasting`].
    pub(crate) lasting: bool,
    /// Bytes that may wait in the spool to be read and given back; what comes beyond is dropped and counted.
    pub(crate) room: Option<u64>,
}

/// Asks the thread to go on in another folder; the answer is why not all was written to the one before.
struct Turn {
    folder: PathBuf,
    done: Sender<Option<RecordError>>,
}

/// The thread. Ends when told, after it took what was left.
pub(crate) struct Drain {
    stop: Arc<AtomicBool>,
    turns: Sender<Turn>,
    pub(crate) counters: Arc<DrainCounters>,
    thread: JoinHandle<(SpoolWriter, Option<RecordError>)>,
}

/// What the drain empties.
pub(crate) struct Sources {
    pub(crate) calls: Rings,
    pub(crate) sched: Rings,
    pub(crate) rare: RareRing,
}

// SAFETY: libbpf's ring buffer manager holds pointers of its own that no other thread has; it is used by the drain thread alone.
unsafe impl Send for Sources {}

impl Drain {
    /// Starts it.
    pub(crate) fn start(
        sources: Sources,
        spool: SpoolWriter,
        options: DrainOptions,
    ) -> Result<Drain, RecordError> {
        let stop = Arc::new(AtomicBool::new(false));
        let (turns, asked) = channel();
        let counters = Arc::new(DrainCounters::default());
        let (told, shared) = (stop.clone(), counters.clone());
        let thread = std::thread::Builder::new()
            .name("whyslow-drain".into())
            .spawn(move || run(sources, spool, options, &asked, &told, &shared))
            .map_err(|source| RecordError::Kernel { what: "starting the drain thread", source })?;
        Ok(Drain { stop, turns, counters, thread })
    }

    /// What is in the rings by now is in the spool when this returns; what comes later goes to `folder`. Returns why not all was written.
    pub(crate) fn turn(&self, folder: &Path) -> Option<RecordError> {
        let (done, answer) = channel();
        let ended = || RecordError::Internal("the drain thread ended".into());
        match self.turns.send(Turn { folder: folder.into(), done }) {
            Ok(()) => answer.recv().unwrap_or_else(|_| Some(ended())),
            Err(_) => Some(ended()),
        }
    }

    /// Takes what is left and ends. Returns the bytes written.
    pub(crate) fn finish(self) -> Result<u64, RecordError> {
        self.stop.store(true, Ordering::Release);
        match self.thread.join() {
            Ok((spool, None)) => Ok(spool.bytes),
            Ok((_, Some(error))) => Err(error),
            Err(_) => Err(RecordError::Internal("the drain thread panicked".into())),
        }
    }
}

fn run(
    sources: Sources,
    mut spool: SpoolWriter,
    options: DrainOptions,
    turns: &Receiver<Turn>,
    stop: &AtomicBool,
    counters: &DrainCounters,
) -> (SpoolWriter, Option<RecordError>) {
    // Ahead of who fills the rings, where we may: a drain that waits for a CPU loses records.
    // SAFETY: a plain system call on our own thread.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, libc::gettid() as libc::id_t, -10) };
    // It reads what strange programs chose to say. Older kernels ask for CAP_BPF wherever a map is used; what calls under way point to
    // is read from the programs' memory.
    let _ = whyslow_rights::keep(Capabilities::BPF.union(Capabilities::SYS_PTRACE));
    let names = |prefix: &str, rings: &Rings| {
        (0..rings.cpus()).map(|cpu| format!("{prefix}-{cpu}")).collect::<Vec<_>>()
    };
    let call_names = names(CALLS, &sources.calls);
    let sched_names = names(SCHED, &sources.sched);
    let DrainOptions { mut reducer, unwind, lasting, room } = options;
    let pause = if lasting { LASTING_PAUSE } else { PAUSE };
    let mut trouble = None;
    let mut rounds = 0u32;
    let mut written = 0;
    loop {
        // Asked before this round: what was there then is in the spool behind it.
        let turn = turns.try_recv();
        // A recording that is dropped ends as well.
        let last = stop.load(Ordering::Acquire) || matches!(turn, Err(TryRecvError::Disconnected));
        let round_began = monotonic_ns();
        let most = room.map_or(u64::MAX, |room| counters.freed.load(Ordering::Acquire).saturating_add(room));
        let mut keep = |stream: &str, bytes: &[u8]| {
            if spool.bytes.saturating_add(bytes.len() as u64) > most {
                let mut no_room = counters.no_room.lock().unwrap_or_else(PoisonError::into_inner);
                return no_room.count(stream, bytes);
            }
            // After an error the rings are emptied all the same: the target's side must not stand full and count.
            if trouble.is_none()
                && let Err(error) = spool.add(stream, bytes)
            {
                trouble = Some(error);
                counters.failed.store(true, Ordering::Release);
            }
        };
        // The rare records first: who a thread is comes before its calls.
        sources.rare.take(|record| {
            counters.note_beginning(record);
            in_flight::complete(record);
            if matches!(record.get(2), Some(&(kind::STACK_COPY | kind::FRAMES_COPY))) {
                // What it holds is memory of the program: it is unwound, and reaches no disk.
                if let Some(unwind) = &unwind {
                    unwind.copied(std::mem::take(record));
                }
                return;
            }
            match &mut reducer {
                // A call that was under way has what its arguments point to.
                Some(reducer) if record.get(2) == Some(&kind::CALL) => {
                    reducer.pass(record, |bytes| keep(RARE, bytes));
                }
                _ => keep(RARE, record),
            }
        });
        for (cpu, name) in call_names.iter().enumerate() {
            sources.calls.take(cpu, |bytes| match &mut reducer {
                Some(reducer) => reducer.pass(bytes, |bytes| keep(name, bytes)),
                None => keep(name, bytes),
            });
        }
        for (cpu, name) in sched_names.iter().enumerate() {
            sources.sched.take(cpu, |bytes| keep(name, bytes));
        }
        counters.bytes.store(spool.bytes, Ordering::Relaxed);
        if last || round_began >= written + WRITE_EVERY_NS {
            written = round_began;
            if let Err(error) = spool.flush()
                && trouble.is_none()
            {
                trouble = Some(error);
                counters.failed.store(true, Ordering::Release);
            }
            // A record is visible a moment after its time was taken.
            counters.until.store(round_began.saturating_sub(VISIBLE_AFTER_NS), Ordering::Release);
        }
        if let Ok(Turn { folder, done }) = turn {
            let result = spool.turn(&folder);
            counters.failed.store(false, Ordering::Release);
            // Nobody may wait any more.
            let _ = done.send(trouble.take().or(result.err()));
        }
        rounds = rounds.wrapping_add(1);
        if rounds.is_multiple_of(64) || last {
            counters.cpu_ns.store(thread_cpu_ns(), Ordering::Relaxed);
        }
        if last {
            return (spool, trouble);
        }
        if sources.calls.fill().max(sources.sched.fill()) < BUSY {
            std::thread::sleep(pause);
        }
    }
}
