//! The user parts of stacks, read beside the recording by a thread of its own: native frames by `.eh_frame` out of copies of
//! stacks that come with the samples, frames of languages out of their runtimes' memory, and the stacks of threads that are
//! blocked. What it reads are two streams of the spool.

mod lists;
mod parked;
mod records;

pub(crate) use parked::kept as kept_parked;
pub(crate) use records::{FrameRecord, ReadStack, is_language_frame, language_frame, read_stack};

use crate::bpf::layout::kind;
use crate::bpf::spool::{BLOCKED, SpoolWriter, UNWOUND};
use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::error::RecordError;
use libbpf_rs::MapHandle;
use lists::FrameLists;
use parked::ParkedGoroutines;
use records::{StackCopyRecord, StackStream};
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use whyslow_model::Parked;
use whyslow_rights::Capabilities;
use whyslow_unwind::{StackCopy, StackEntry, StackOutcome, UnwindLimits, Unwinder};

/// Copies of stacks that wait to be unwound; what comes beyond keeps the stack that the kernel read.
const MAX_WAITING: usize = 512;
/// Between two readings of what is blocked, at least and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));
/// What reading of blocked threads may take in the long run, of one CPU.
const SHARE: u32 = 100;
/// One reading takes at most so long; the next one goes on where it ended.
const LONGEST_READING_NS: u64 = 5_000_000;
/// A thread that does not run is looked at that often, at least, ns.
const LONGEST_PAUSE_NS: u64 = 320_000_000;
/// The threads of the processes are counted so often, and listed anew where there are more or fewer.
const LIST_EVERY_NS: u64 = 200_000_000;
/// And listed anew after that, since one may have come for one that went.
const LIST_ALL_EVERY_NS: u64 = 1_000_000_000;
/// What was counted of goroutines is written down so often, for who recovers the recording.
const KEPT_EVERY_NS: u64 = 1_000_000_000;
/// Threads that are read while they are blocked; of more, nobody says where they wait.
const MAX_THREADS: usize = 4096;
/// Processes whose threads are.
const MAX_PROCESSES: usize = 256;

/// Runtimes that cannot be read, told in notes.
const MAX_NOTES: usize = 8;

/// What the thread is told.
pub(crate) enum Message {
    /// A process is watched from now on, or runs another program.
    Began(u32),
    /// A record of a copy: of a stack, or of frames in a runtime's own memory.
    Copy(Vec<u8>),
    /// Where the kernel's side is told which lists of frames to copy.
    Lists(MapHandle),
    /// The recording has begun: what is read from now on is part of it.
    Begins,
    /// What comes from now on goes to this folder. The answer is why not all was written to the one before.
    Turn(PathBuf, Sender<Option<RecordError>>),
    /// No more is to come.
    End,
}

/// Where messages go.
#[derive(Clone)]
pub(crate) struct UnwindQueue {
    messages: SyncSender<Message>,
    /// Copies of stacks, and of lists of frames, that found no room.
    lost: Arc<LateCopies>,
}

/// Copies that came faster than they were unwound.
#[derive(Default)]
struct LateCopies {
    stacks: AtomicU64,
    frames: AtomicU64,
}

impl UnwindQueue {
    /// Hands over a record of a copy, and never waits: one that finds no room is counted, and its sample or wait has the stack that
    /// the kernel read.
    pub(crate) fn copied(&self, record: Vec<u8>) {
        let is_stack = record.get(2) == Some(&kind::STACK_COPY);
        if self.messages.try_send(Message::Copy(record)).is_err() {
            let lost = if is_stack { &self.lost.stacks } else { &self.lost.frames };
            lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Tells that a process is watched from now on, or runs another program. Waits while there is no room.
    pub(crate) fn began(&self, pid: u32) {
        // It has ended where nobody takes it.
        let _ = self.messages.send(Message::Began(pid));
    }

    /// Tells where the kernel's side is told which lists of frames to copy.
    pub(crate) fn lists(&self, map: MapHandle) {
        let _ = self.messages.send(Message::Lists(map));
    }

    /// Tells that the recording has begun.
    pub(crate) fn begins(&self) {
        let _ = self.messages.send(Message::Begins);
    }
}

/// What unwinding waits takes, for who decides how many are copied.
#[derive(Default)]
struct WaitCost {
    copies: AtomicU64,
    ns: AtomicU64,
}

/// What it came to.
#[derive(Default)]
pub(crate) struct Unwound {
    /// What could not be read, for the notes of the recording.
    pub(crate) notes: Vec<String>,
    /// Where goroutines waited on no thread.
    pub(crate) parked: Vec<Parked>,
    /// CPU time of the thread, ns.
    pub(crate) cpu_ns: u64,
    /// Copies of stacks, and of lists of frames, that it did not get to.
    pub(crate) lost: (u64, u64),
    /// Why not all was written.
    pub(crate) trouble: Option<RecordError>,
}

/// The thread.
pub(crate) struct Unwinding {
    queue: UnwindQueue,
    waits: Arc<WaitCost>,
    thread: JoinHandle<Unwound>,
}

impl Unwinding {
    /// Starts it; what it reads goes to the spool in this folder. It looks for code and runtimes of the processes that it is told of, and
    /// reads no stack before [`UnwindQueue::begins`]. Of a `lasting` recording threads that are blocked are not read.
    ///
    /// # Errors
    /// If there can be no more threads.
    pub(crate) fn start(spool: &Path, lasting: bool) -> Result<Unwinding, RecordError> {
        let (sender, messages) = sync_channel(MAX_WAITING);
        let (folder, spool, waits) = (spool.to_owned(), SpoolWriter::new(spool), Arc::<WaitCost>::default());
        let told = waits.clone();
        let thread = std::thread::Builder::new()
            .name("whyslow-unwind".into())
            .spawn(move || {
                // Before the reader starts a thread of its own, which is to have no more rights than this one.
                give_up_rights();
                run(&messages, StackReader::new(spool, told), folder, lasting)
            })
            .map_err(|source| RecordError::Kernel {
                what: "starting the thread that reads stacks",
                source,
            })?;
        let lost = Arc::default();
        Ok(Unwinding { queue: UnwindQueue { messages: sender, lost }, waits, thread })
    }

    /// CPU time that unwinding a wait has taken so far, on average, ns; 0 before there was one.
    pub(crate) fn wait_ns(&self) -> f64 {
        let copies = self.waits.copies.load(Ordering::Relaxed);
        self.waits.ns.load(Ordering::Relaxed) as f64 / copies.max(1) as f64
    }

    /// Where messages for it go.
    pub(crate) fn queue(&self) -> UnwindQueue {
        self.queue.clone()
    }

    /// Unwinds what is left, and goes on in another folder. Returns why not all was written.
    pub(crate) fn turn(&self, folder: &Path) -> Option<RecordError> {
        let (done, answer) = channel();
        // Where it ended, its end tells why.
        let _ = self.queue.messages.send(Message::Turn(folder.into(), done));
        answer.recv().ok().flatten()
    }

    /// Copies of stacks, and of lists of frames, that came too fast to be unwound so far.
    pub(crate) fn late(&self) -> (u64, u64) {
        let LateCopies { stacks, frames } = &*self.queue.lost;
        (stacks.load(Ordering::Relaxed), frames.load(Ordering::Relaxed))
    }

    /// Unwinds what is left and ends.
    pub(crate) fn finish(self) -> Unwound {
        // It takes them until then: there will be room.
        let _ = self.queue.messages.send(Message::End);
        let unwound = self.thread.join().unwrap_or_else(|_| Unwound {
            trouble: Some(RecordError::Internal("the thread that reads stacks panicked".into())),
            ..Unwound::default()
        });
        let LateCopies { stacks, frames } = &*self.queue.lost;
        Unwound { lost: (stacks.load(Ordering::Relaxed), frames.load(Ordering::Relaxed)), ..unwound }
    }
}

/// It reads the memory of strange programs, and files that they have mapped. Older kernels ask for CAP_BPF wherever a map is used.
fn give_up_rights() {
    let files = Capabilities::CHECKPOINT_RESTORE | Capabilities::DAC_READ_SEARCH;
    let _ = whyslow_rights::keep(Capabilities::SYS_PTRACE | files | Capabilities::BPF);
}

fn run(messages: &Receiver<Message>, mut reader: StackReader, mut spool: PathBuf, lasting: bool) -> Unwound {
    let mut due = monotonic_ns();
    let mut kept = due;
    loop {
        let pause = Duration::from_nanos(due.saturating_sub(monotonic_ns()));
        match messages.recv_timeout(pause) {
            Ok(Message::Began(pid)) => reader.began(pid),
            Ok(Message::Copy(record)) => reader.copied(record),
            Ok(Message::Lists(map)) => reader.lists_are_copied(map),
            Ok(Message::Begins) => reader.recording = true,
            Ok(Message::Turn(folder, done)) => {
                // Nobody may wait any more.
                let _ = done.send(reader.turn(&folder));
                spool = folder;
            }
            Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = monotonic_ns();
        if now >= due && !reader.recording {
            reader.look_and_list(now);
            due = now + PAUSE.0.as_nanos() as u64;
        } else if now >= due && lasting {
            // Samples and waits find out about programs as they come.
            reader.look();
            due = now + PAUSE.1.as_nanos() as u64;
        } else if now >= due {
            let before = thread_cpu_ns();
            reader.read_blocked(now);
            let took = Duration::from_nanos(thread_cpu_ns().saturating_sub(before));
            let pause = (took * SHARE).clamp(PAUSE.0, PAUSE.1);
            due = now + pause.as_nanos() as u64;
            let pids = reader.processes.iter().map(|process| process.pid);
            reader.parked.look(&mut reader.unwinder, pids);
            if now >= kept + KEPT_EVERY_NS {
                kept = now;
                reader.parked.keep(&spool);
            }
        }
    }
    Unwound {
        notes: reader.notes(),
        parked: reader.parked.rows(),
        cpu_ns: thread_cpu_ns(),
        lost: (0, 0),
        trouble: reader.trouble,
    }
}

/// A thread that may be blocked.
#[derive(Clone, Copy)]
struct Blocked {
    pid: u32,
    tid: u32,
    /// When it is read again, and the pause before that, ns: longer the longer it has not run, so that idle threads leave the time
    /// to those that move.
    due: u64,
    pause: u64,
}

impl Blocked {
    fn read(&mut self, outcome: StackOutcome, now: u64) {
        self.pause = match outcome {
            StackOutcome::Same => (self.pause * 2).clamp(PAUSE.0.as_nanos() as u64, LONGEST_PAUSE_NS),
            _ => 0,
        };
        self.due = now + self.pause;
    }
}

/// Whether a stack that was read lacks frames; `None` where none was read.
fn is_cut(outcome: StackOutcome) -> Option<bool> {
    match outcome {
        StackOutcome::Whole => Some(false),
        StackOutcome::Cut(_) => Some(true),
        StackOutcome::Same | StackOutcome::Moved | StackOutcome::NotReady | StackOutcome::Unreadable => None,
    }
}

/// A process whose threads are read.
struct ListedProcess {
    pid: u32,
    /// Links of its folder of threads when they were listed: one a thread, and some (fs/proc/base.c, `proc_task_getattr`). `None`: they are to
    /// be listed anew.
    links: Option<u64>,
}

/// Reads stacks and writes them down.
struct StackReader {
    unwinder: Unwinder,
    /// The recording has begun.
    recording: bool,
    spool: SpoolWriter,
    lists: FrameLists,
    parked: ParkedGoroutines,
    waits: Arc<WaitCost>,
    /// Of samples and waits, and of blocked threads: each in order of time.
    unwound: StackStream,
    blocked: StackStream,
    processes: Vec<ListedProcess>,
    threads: Vec<Blocked>,
    listed: u64,
    /// When the threads were listed last whatever their number.
    listed_all: u64,
    /// Where the next reading begins among the threads.
    turn: usize,
    left_out: usize,
    stack: Vec<StackEntry>,
    trouble: Option<RecordError>,
}

impl StackReader {
    fn new(spool: SpoolWriter, waits: Arc<WaitCost>) -> StackReader {
        StackReader {
            unwinder: Unwinder::new(UnwindLimits::default()),
            recording: false,
            spool,
            lists: FrameLists::default(),
            parked: ParkedGoroutines::default(),
            waits,
            unwound: StackStream::new(UNWOUND),
            blocked: StackStream::new(BLOCKED),
            processes: Vec::new(),
            threads: Vec::new(),
            listed: 0,
            listed_all: 0,
            turn: 0,
            left_out: 0,
            stack: Vec::new(),
            trouble: None,
        }
    }

    /// Goes on in another folder; frames are told anew there.
    fn turn(&mut self, folder: &Path) -> Option<RecordError> {
        let result = self.spool.turn(folder);
        self.unwound = StackStream::new(UNWOUND);
        self.blocked = StackStream::new(BLOCKED);
        self.trouble.take().or(result.err())
    }

    fn began(&mut self, pid: u32) {
        self.unwinder.began(pid);
        if let Some(known) = self.processes.iter_mut().find(|known| known.pid == pid) {
            known.links = None;
        } else if self.processes.len() < MAX_PROCESSES {
            self.processes.push(ListedProcess { pid, links: None });
        } else {
            self.left_out += 1;
        }
        self.listed = 0;
    }

    /// Takes in what was found out about processes. Where that are runtimes, their threads' lists are asked for at once.
    fn look(&mut self) {
        if self.unwinder.look() {
            self.list(monotonic_ns());
        }
    }

    /// A copy of a thread that was on a CPU a moment ago, or whose wait ended then.
    fn copied(&mut self, record: Vec<u8>) {
        if record.get(2) == Some(&kind::FRAMES_COPY) {
            self.lists.copied(record);
            return;
        }
        let Some(copy) = StackCopyRecord::read(&record) else { return };
        let began = if copy.of_wait { thread_cpu_ns() } else { 0 };
        self.look();
        self.stack.clear();
        let top = StackCopy { start: copy.registers.sp, bytes: copy.stack };
        let outcome = match copy.of_wait {
            true => self.lists.waited(&mut self.unwinder, &copy, top, &mut self.stack),
            false => self.lists.sampled(&mut self.unwinder, &copy, top, &mut self.stack),
        };
        if let Some(cut) = is_cut(outcome) {
            // Before the sample or the wait itself, which has the same time.
            let at = copy.ts.saturating_sub(1);
            let frames = self.unwinder.frames();
            self.unwound.tell(
                &mut self.spool,
                at,
                (copy.pid, copy.tid),
                &self.stack,
                cut,
                frames,
                &mut self.trouble,
            );
        }
        if copy.of_wait {
            self.waits.copies.fetch_add(1, Ordering::Relaxed);
            self.waits.ns.fetch_add(thread_cpu_ns().saturating_sub(began), Ordering::Relaxed);
        }
    }

    /// From now on the kernel's side copies lists of frames: it is told those of all threads that are known.
    fn lists_are_copied(&mut self, map: MapHandle) {
        self.lists = FrameLists::new(map);
        self.listed_all = 0;
        self.look();
        self.list(monotonic_ns());
    }

    /// Takes in what was found out, and lists threads where it is time to.
    fn look_and_list(&mut self, now: u64) {
        self.look();
        if now >= self.listed + LIST_EVERY_NS {
            self.list(now);
        }
    }

    /// Reads the threads that are blocked now.
    fn read_blocked(&mut self, began: u64) {
        self.look_and_list(began);
        for _ in 0..self.threads.len() {
            self.turn = (self.turn + 1) % self.threads.len();
            let Blocked { pid, tid, due, .. } = self.threads[self.turn];
            let now = monotonic_ns();
            if now > began + LONGEST_READING_NS {
                break;
            }
            if now < due {
                continue;
            }
            self.stack.clear();
            let outcome = self.unwinder.blocked(pid, tid, &mut self.stack);
            self.threads[self.turn].read(outcome, now);
            if let Some(cut) = is_cut(outcome) {
                let frames = self.unwinder.frames();
                self.blocked.tell(
                    &mut self.spool,
                    now,
                    (pid, tid),
                    &self.stack,
                    cut,
                    frames,
                    &mut self.trouble,
                );
            }
        }
    }

    fn list(&mut self, now: u64) {
        self.listed = now;
        let all = now >= self.listed_all + LIST_ALL_EVERY_NS;
        if all {
            self.listed_all = now;
        }
        // What is on the list is in order of the processes.
        let mut known = std::mem::take(&mut self.threads).into_iter().peekable();
        let (unwinder, threads, lists) = (&mut self.unwinder, &mut self.threads, &mut self.lists);
        self.processes.retain_mut(|process| {
            let pid = process.pid;
            let mut own: Vec<Blocked> = Vec::new();
            while let Some(thread) = known.next_if(|thread| thread.pid == pid) {
                own.push(thread);
            }
            let folder = format!("/proc/{pid}/task");
            let Ok(links) = std::fs::metadata(&folder).map(|about| about.nlink()) else {
                unwinder.ended(pid);
                return false;
            };
            let room = MAX_THREADS - threads.len().min(MAX_THREADS);
            if !all && process.links == Some(links) {
                threads.extend(own.into_iter().take(room));
            } else if unwinder.ready(pid) {
                let Ok(folder) = std::fs::read_dir(&folder) else {
                    unwinder.ended(pid);
                    return false;
                };
                let own: HashMap<u32, Blocked> = own.into_iter().map(|thread| (thread.tid, thread)).collect();
                let tids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
                let tids = tids.inspect(|tid| lists.begins(unwinder, pid, *tid));
                let of = |tid: u32| own.get(&tid).copied().unwrap_or(Blocked { pid, tid, due: 0, pause: 0 });
                threads.extend(tids.map(of).take(room));
                process.links = Some(links);
            }
            true
        });
    }

    fn notes(&mut self) -> Vec<String> {
        let told = self.unwinder.notes().into_iter();
        let mut notes: Vec<String> = told
            .filter_map(|note| {
                let why = note.unreadable?;
                Some(format!("the stacks of {} (process {}) are not read: {why}", note.runtime, note.pid))
            })
            .take(MAX_NOTES)
            .collect();
        if self.left_out > 0 {
            notes.push(format!(
                "stacks of blocked threads were read in {MAX_PROCESSES} processes; in {} more they were not",
                self.left_out
            ));
        }
        notes
    }
}
