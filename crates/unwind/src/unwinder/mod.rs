//! The one entry of a recorder: whole stacks of watched processes, native frames and those of languages in one.

mod background;
mod thread;
mod walk;

use crate::frames::{FrameId, Frames};
use crate::native::{CopiedStack, LiveStack, Modules, NativeUnwinder};
use crate::process::Process;
use crate::registers::Registers;
use crate::runtimes::{FrameList, LanguageRuntime, ListedFrames, RUNTIMES, RuntimeKind};
use background::{Background, Found, Job, Life};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use thread::{Place, Thread};
use walk::{Kept, Walk};

/// One entry of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum StackEntry {
    /// An address of native code: of the innermost entry and of what a signal interrupted the next instruction, else the
    /// one behind the call.
    Native(u64),
    /// A frame of a language.
    Language(FrameId),
}

/// The top of a thread's stack as it was copied with a sample.
#[derive(Clone, Copy, Debug)]
pub struct StackCopy<'a> {
    /// The address of the first byte, at or below the thread's `sp`.
    pub start: u64,
    /// What was there.
    pub bytes: &'a [u8],
}

/// What is kept at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnwindLimits {
    /// Processes watched at a time; further ones are not.
    pub processes: usize,
    /// Entries of a stack.
    pub frames: usize,
    /// Bytes of unwind information of all files together.
    pub bytes: usize,
    /// Threads whose files in `/proc` are kept open, two each; those of others are opened at each look.
    pub open_threads: usize,
}

impl Default for UnwindLimits {
    fn default() -> UnwindLimits {
        UnwindLimits { processes: 256, frames: 256, bytes: 64 << 20, open_threads: 128 }
    }
}

/// What became of reading a stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StackOutcome {
    /// From the innermost frame to the thread's first.
    Whole,
    /// What is given is right; the frames around it are missing.
    Cut(Cut),
    /// The thread did not run since its stack was last read: it has the same. Nothing is given.
    Same,
    /// The thread ran meanwhile, or runs now. Nothing is given.
    Moved,
    /// The process is not watched, or its modules are not loaded yet. Nothing is given.
    NotReady,
    /// The thread has ended, or we may not read it. Nothing is given.
    Unreadable,
}

/// Why frames are missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// The stack has more frames than are kept.
    Frames,
    /// The copy of the stack ends there.
    Copy,
    /// Nothing tells how to go on from there: code without unwind information or frame pointers.
    Unknown,
    /// Memory there is not what it should be.
    Damaged,
}

/// What there is to say about a runtime of a process, once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The process.
    pub pid: u32,
    /// `CPython 3.11.2`; where it cannot be read, its name alone.
    pub runtime: String,
    /// Why it cannot be read; `None`: it is read.
    pub unreadable: Option<String>,
}

/// A process that is watched.
struct Watched {
    life: Life,
    began: Instant,
    /// Its memory and its code, once they are known.
    loaded: Option<(Process, Modules)>,
    runtimes: Vec<Box<dyn LanguageRuntime>>,
    threads: HashMap<u32, Thread>,
    /// How many of [`Unwinder::LOOKS`] are done.
    looks: usize,
    /// What to ask for, and is not asked for yet.
    wanted: Vec<Job>,
    /// Code was asked for, and is not there yet.
    awaited: bool,
    /// When code may be asked for again, where a stack led to none.
    again: Instant,
    /// Until then afterwards; longer each time.
    pause: Duration,
    /// Runtimes that were told of.
    told: Vec<(String, Option<String>)>,
}

/// Reads stacks of watched processes. Used from one thread; what is slow is done by another.
pub struct Unwinder {
    limits: UnwindLimits,
    background: Background,
    native: NativeUnwinder,
    watched: HashMap<u32, Watched>,
    frames: Frames,
    notes: Vec<Note>,
    lives: u64,
    swept: Instant,
    /// Each thread whose files are kept open has one too.
    open: Arc<()>,
}

impl Unwinder {
    /// When a process is looked at for its code and its runtime, after it began: what is loaded later is found later.
    const LOOKS: [Duration; 8] = [
        Duration::ZERO,
        Duration::from_millis(50),
        Duration::from_millis(100),
        Duration::from_millis(200),
        Duration::from_millis(400),
        Duration::from_millis(800),
        Duration::from_millis(1600),
        Duration::from_secs(3),
    ];
    /// The least time between two looks because of a stack that led to no code; it doubles each time up to the other.
    const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(60));
    /// How often threads are forgotten that nobody asked about meanwhile.
    const SWEEP: Duration = Duration::from_secs(10);

    /// Watches nothing yet. Starts the other thread.
    pub fn new(limits: UnwindLimits) -> Unwinder {
        Unwinder::with_runtimes(limits, RUNTIMES)
    }

    /// As [`Unwinder::new`], with other runtimes than those that can be read.
    pub fn with_runtimes(limits: UnwindLimits, kinds: &'static [RuntimeKind]) -> Unwinder {
        Unwinder {
            limits,
            background: Background::start(limits.bytes, kinds),
            native: NativeUnwinder::default(),
            watched: HashMap::new(),
            frames: Frames::default(),
            notes: Vec::new(),
            lives: 0,
            swept: Instant::now(),
            open: Arc::new(()),
        }
    }

    /// Watches a process from now on; where it was, it runs another program, and what was known of it is dropped. Beyond
    /// [`UnwindLimits::processes`] nothing is done.
    pub fn began(&mut self, pid: u32) {
        self.watched.remove(&pid);
        if self.watched.len() >= self.limits.processes {
            return;
        }
        self.lives += 1;
        let now = Instant::now();
        let watched = Watched {
            life: Life { pid, number: self.lives },
            began: now,
            loaded: None,
            runtimes: Vec::new(),
            threads: HashMap::new(),
            looks: 0,
            wanted: Vec::new(),
            awaited: false,
            again: now,
            pause: Unwinder::PAUSES.0,
            told: Vec::new(),
        };
        self.watched.insert(pid, watched);
        self.ask();
    }

    /// Forgets a process.
    pub fn ended(&mut self, pid: u32) {
        self.watched.remove(&pid);
    }

    /// Takes in what the other thread found meanwhile, and asks it for what is due; true where it found runtimes. Cheap: for every few
    /// milliseconds.
    pub fn look(&mut self) -> bool {
        let mut has_runtimes = false;
        while let Some((life, found)) = self.background.next() {
            let Some(watched) = self.watched.get_mut(&life.pid).filter(|watched| watched.life == life) else {
                continue;
            };
            let is_news = match &found {
                Found::Code(_, modules) => {
                    watched.loaded.as_ref().is_none_or(|(_, known)| !known.is_same(modules))
                }
                Found::Runtimes(runtimes, _) => !runtimes.is_empty(),
            };
            has_runtimes |= is_news && matches!(found, Found::Runtimes(..));
            if is_news {
                // Threads that did not run may have other stacks for us now.
                watched.threads.values_mut().for_each(|thread| thread.read_at = None);
            }
            match found {
                Found::Code(process, modules) => {
                    watched.loaded = Some((process, modules));
                    watched.awaited = false;
                }
                Found::Runtimes(runtimes, unknown) => {
                    let read = runtimes.iter().map(|runtime| (runtime.version().to_owned(), None));
                    let unread = unknown.into_iter().map(|(name, why)| (name, Some(why)));
                    for told in read.chain(unread) {
                        if !watched.told.contains(&told) {
                            let (runtime, unreadable) = told.clone();
                            self.notes.push(Note { pid: life.pid, runtime, unreadable });
                            watched.told.push(told);
                        }
                    }
                    watched.runtimes = runtimes;
                }
            }
        }
        self.ask();
        if self.swept.elapsed() >= Unwinder::SWEEP {
            self.swept = Instant::now();
            for watched in self.watched.values_mut() {
                watched.threads.retain(|_, thread| std::mem::take(&mut thread.asked));
            }
        }
        has_runtimes
    }

    /// Asks the other thread for what is due.
    fn ask(&mut self) {
        for watched in self.watched.values_mut() {
            while Unwinder::LOOKS.get(watched.looks).is_some_and(|after| watched.began.elapsed() >= *after) {
                watched.looks += 1;
                watched.wants();
            }
            while let Some(job) = watched.wanted.last().copied() {
                let known = watched.loaded.as_ref().map(|(_, modules)| modules).filter(|_| job == Job::Code);
                if !self.background.ask(watched.life, job, known) {
                    return;
                }
                watched.awaited |= job == Job::Code;
                watched.wanted.pop();
            }
        }
    }

    /// True where a runtime of a process can be read.
    pub fn has_runtime(&self, pid: u32) -> bool {
        self.watched.get(&pid).is_some_and(|watched| watched.loaded.is_some() && !watched.runtimes.is_empty())
    }

    /// True where stacks of a process can be read.
    pub fn ready(&self, pid: u32) -> bool {
        self.watched.get(&pid).is_some_and(|watched| watched.loaded.is_some())
    }

    /// The stack of a thread that was on a CPU a moment ago, innermost first, pushed onto `stack`. Native frames are read out of
    /// the copy only; frames that a runtime keeps in memory of its own are read out of that, as it is now.
    pub fn sampled(
        &mut self,
        pid: u32,
        tid: u32,
        registers: Registers,
        copy: StackCopy<'_>,
        stack: &mut Vec<StackEntry>,
    ) -> StackOutcome {
        self.copied((pid, tid), registers, copy, |_, _| Kept::Now, stack)
    }

    /// The stack of a thread whose wait ended a moment ago, innermost first, pushed onto `stack`, as it was then: native frames and
    /// those of languages on the thread's own stack out of the copy, frames that a runtime keeps in memory of its own out of a copy of
    /// their list ([`Unwinder::frame_list`]). Without that copy they are left out: the thread has others by now.
    pub fn waited(
        &mut self,
        pid: u32,
        tid: u32,
        registers: Registers,
        copy: StackCopy<'_>,
        listed: Option<ListedFrames<'_>>,
        stack: &mut Vec<StackEntry>,
    ) -> StackOutcome {
        let kept = |process: &Process, runtimes: &mut [Box<dyn LanguageRuntime>]| {
            Kept::Copied(listed.and_then(|listed| {
                let list_of = |runtime: &mut Box<dyn LanguageRuntime>| runtime.frame_list(process, tid);
                let is_of = |list: FrameList| list.head == listed.head;
                let at = runtimes.iter_mut().position(|runtime| list_of(runtime).is_some_and(is_of));
                Some((at?, listed))
            }))
        };
        self.copied((pid, tid), registers, copy, kept, stack)
    }

    /// Where a runtime keeps the frames of a thread as a list, for [`Unwinder::waited`]; `None` where none does.
    pub fn frame_list(&mut self, pid: u32, tid: u32) -> Option<FrameList> {
        let watched = self.watched.get_mut(&pid)?;
        let (process, _) = watched.loaded.as_ref()?;
        watched.runtimes.iter_mut().find_map(|runtime| runtime.frame_list(process, tid))
    }

    /// Gives the stacks of a process's parked goroutines, each with its number, innermost first. Of all that there are it looks at so many
    /// from a place on, and returns how many there are; 0 where there are none.
    pub fn parked(&mut self, pid: u32, part: (u64, usize), take: &mut dyn FnMut(u64, &[FrameId])) -> u64 {
        let Unwinder { frames, watched, .. } = self;
        let Some(watched) = watched.get_mut(&pid) else { return 0 };
        let Some((process, _)) = &watched.loaded else { return 0 };
        watched
            .runtimes
            .iter_mut()
            .map(|runtime| {
                frames.language(runtime.language());
                runtime.parked(process, part, frames, take).unwrap_or(0)
            })
            .max()
            .unwrap_or(0)
    }

    fn copied<'a>(
        &mut self,
        (pid, tid): (u32, u32),
        registers: Registers,
        copy: StackCopy<'_>,
        kept: impl FnOnce(&Process, &mut [Box<dyn LanguageRuntime>]) -> Kept<'a>,
        stack: &mut Vec<StackEntry>,
    ) -> StackOutcome {
        let Unwinder { native, frames, limits, watched, .. } = self;
        let Some(watched) = watched.get_mut(&pid) else { return StackOutcome::NotReady };
        let Some((process, modules)) = &watched.loaded else { return StackOutcome::NotReady };
        let kept = kept(process, &mut watched.runtimes);
        let memory = CopiedStack::new(copy.start, copy.bytes);
        let runtimes = &mut watched.runtimes;
        let (most, copied_to) = (limits.frames, Some(memory.end()));
        let mut walk =
            Walk { native, frames, process, modules, runtimes, most, copied_to, kept, failed: false };
        let ended = walk.stack(tid, registers, &memory, stack);
        if ended.no_code {
            watched.look_again();
        }
        ended.outcome
    }

    /// The stack of a thread that is blocked now, innermost first, pushed onto `stack`. Nothing is pushed where it ran meanwhile.
    pub fn blocked(&mut self, pid: u32, tid: u32, stack: &mut Vec<StackEntry>) -> StackOutcome {
        let Unwinder { native, frames, limits, watched, open, .. } = self;
        let Some(watched) = watched.get_mut(&pid) else { return StackOutcome::NotReady };
        let Some((process, modules)) = &watched.loaded else { return StackOutcome::NotReady };
        let thread = watched.threads.entry(tid).or_default();
        thread.asked = true;
        let Ok(before) = thread.runs(pid, tid) else {
            watched.threads.remove(&tid);
            return StackOutcome::Unreadable;
        };
        if thread.read_at == Some(before) {
            return StackOutcome::Same;
        }
        // It is new and waits for its first CPU, or this kernel does not count.
        if before[2] == 0 {
            return StackOutcome::Moved;
        }
        let registers = match thread.place(pid, tid) {
            Ok(Place::Blocked(registers)) => registers,
            Ok(Place::Running) => return StackOutcome::Moved,
            Err(_) => return StackOutcome::Unreadable,
        };
        let (begin, most) = (stack.len(), limits.frames);
        let memory = LiveStack::new(process);
        let runtimes = &mut watched.runtimes;
        let (copied_to, kept) = (None, Kept::Now);
        let mut walk =
            Walk { native, frames, process, modules, runtimes, most, copied_to, kept, failed: false };
        let ended = walk.stack(tid, registers, &memory, stack);
        if !thread.runs(pid, tid).is_ok_and(|after| after == before) {
            stack.truncate(begin);
            return StackOutcome::Moved;
        }
        // What other threads were changing may be right next time.
        thread.read_at = Some(before).filter(|_| ended.outcome != StackOutcome::Cut(Cut::Damaged));
        // One for itself.
        if !thread.is_open() && Arc::strong_count(open) <= limits.open_threads {
            thread.open(pid, tid, open);
        }
        if ended.no_code {
            watched.look_again();
        }
        ended.outcome
    }

    /// The frames of languages that stacks name.
    pub fn frames(&self) -> &Frames {
        &self.frames
    }

    /// What was found of runtimes since the last call: each is told once. Of one that could not be read at first there may be another
    /// note later.
    pub fn notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }
}

impl Watched {
    /// Wants its code looked at, and its runtime where none is known.
    fn wants(&mut self) {
        // Taken from the end: code first.
        self.wanted.clear();
        if self.runtimes.is_empty() {
            self.wanted.push(Job::Runtimes);
        }
        self.wanted.push(Job::Code);
    }

    /// A stack led to no code: more was loaded since, or its memory is damaged.
    fn look_again(&mut self) {
        let now = Instant::now();
        if self.awaited || now < self.again {
            return;
        }
        self.again = now + self.pause;
        self.pause = (self.pause * 2).min(Unwinder::PAUSES.1);
        self.wants();
    }
}
