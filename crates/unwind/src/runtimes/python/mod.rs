//! CPython 3.8 to 3.14: stacks of threads, out of the runtime's own lists of threads and frames (`_PyRuntime`).

mod asyncio;
mod chain;
mod code;
mod detect;
mod layout;
mod lines;
mod memory;
mod objects;
mod threads;

use super::{Detected, FrameList, LanguageRuntime, ListedFrames, RuntimeKind};
use crate::frames::{FrameId, Frames};
use crate::process::{MemoryError, Process};
use asyncio::{Reading, Tasks};
use chain::Link;
use code::Codes;
use layout::Layout;
use memory::{Memory, Page, Pages};
use objects::Types;
use std::ops::Range;
use threads::Threads;

/// CPython.
pub(super) const KIND: RuntimeKind =
    RuntimeKind { name: "CPython", versions: "3.8 to 3.14", detect: detect::detect };

struct Python {
    version: String,
    /// The code of the functions that run Python's.
    evaluators: Vec<Range<u64>>,
    /// The process's threads have other numbers in its own PID namespace.
    foreign_numbers: bool,
    /// The thread whose stack is read waits.
    is_blocked: bool,
    reader: Reader,
}

impl LanguageRuntime for Python {
    fn language(&self) -> &'static str {
        "python"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn evaluates(&self, ip: u64) -> bool {
        self.evaluators.iter().any(|range| range.contains(&ip))
    }

    fn thread(
        &mut self,
        process: &Process,
        tid: u32,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), MemoryError> {
        let own = if self.foreign_numbers { detect::own_number(process.pid(), tid) } else { Some(tid) };
        let own = own.ok_or(MemoryError::Unlikely("the number of a thread"))?;
        let begin = stack.len();
        let read = self.reader.thread(process, own, frames, stack);
        if self.is_blocked && read.is_ok() {
            self.reader.awaited(process, own, begin, frames, stack);
        }
        read
    }

    fn begins(&mut self, _: &Process, blocked: Option<u32>) {
        self.is_blocked = blocked.is_some();
    }

    fn frame_list(&mut self, process: &Process, tid: u32) -> Option<FrameList> {
        let own = if self.foreign_numbers { detect::own_number(process.pid(), tid) } else { Some(tid) };
        self.reader.list(process, own?)
    }

    fn listed(
        &mut self,
        process: &Process,
        listed: ListedFrames<'_>,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), MemoryError> {
        chain::listed(&self.reader.layout, listed, &mut self.reader.links);
        self.reader.named(process, frames, stack)?;
        listed.ended()
    }
}

/// What reads the stacks.
struct Reader {
    layout: Layout,
    types: Types,
    /// Address of `_PyRuntime`.
    runtime: u64,
    threads: Threads,
    codes: Codes,
    links: Vec<Link>,
    kept: Vec<Page>,
    /// Of asyncio, where its layout is known.
    tasks: Option<Tasks>,
}

impl Reader {
    fn new(layout: Layout, types: Types, runtime: u64) -> Reader {
        let (threads, codes) = (Threads::default(), Codes::default());
        Reader { layout, types, runtime, threads, codes, links: Vec::new(), kept: Vec::new(), tasks: None }
    }

    /// Puts the coroutines that most tasks wait in before the frames of the event loop that waits for them: `begin` is where those of
    /// the thread stand. A thread that waits for something else stays as it is, and so does one whose tasks cannot be read.
    fn awaited(
        &mut self,
        memory: &dyn Memory,
        tid: u32,
        begin: usize,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) {
        let Some(tasks) = &mut self.tasks else { return };
        let Ok(Some(running)) = self.threads.current(memory, &self.layout, self.runtime, tid) else { return };
        let interpreter = memory.u64(running.state.wrapping_add(self.layout.thread_interpreter as u64));
        let Ok(interpreter) = interpreter else { return };
        let pages = Pages::new(memory, &mut self.kept);
        let (layout, types, codes) = (&self.layout, &self.types, &mut self.codes);
        let mut reading = Reading { memory: &pages, layout, types, codes, frames };
        let found = tasks.awaited(&mut reading, interpreter, &self.links, &stack[begin..]);
        let Ok(Some((count, chain))) = found else { return };
        let what = match count {
            1 => "(1 task awaits)".to_string(),
            more => format!("({more} tasks await)"),
        };
        let marker = frames.id(&what, "", 0);
        stack.splice(begin..begin, marker.into_iter().chain(chain));
    }

    /// Pushes the frames of a thread, innermost first.
    fn thread(
        &mut self,
        memory: &dyn Memory,
        tid: u32,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), MemoryError> {
        let layout = &self.layout;
        self.links.clear();
        let Some(running) = self.threads.current(memory, layout, self.runtime, tid)? else { return Ok(()) };
        let walked = chain::walk(memory, layout, running, &mut self.links);
        self.named(memory, frames, stack)?;
        walked
    }

    /// Where the frames of a thread are.
    fn list(&mut self, memory: &dyn Memory, tid: u32) -> Option<FrameList> {
        self.threads.current(memory, &self.layout, self.runtime, tid).ok()??;
        let state = self.threads.state_of(tid)?;
        chain::list(&self.layout, state)
    }

    /// Pushes the frames that were found, by their code objects.
    fn named(
        &mut self,
        memory: &dyn Memory,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), MemoryError> {
        let layout = &self.layout;
        let pages = Pages::new(memory, &mut self.kept);
        for link in &self.links {
            match self.codes.frame(&pages, layout, &self.types, link, frames)? {
                Some(id) => stack.push(id),
                None => return Ok(()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const BASE: u64 = 0x7000_0000_0000;
    const SIZE: u64 = 1 << 16;

    /// Memory whose words are, at random, pointers into it, types, small numbers and rubbish.
    struct Rubbish {
        words: Vec<u64>,
        reads: Cell<usize>,
    }

    impl Memory for Rubbish {
        fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
            self.reads.set(self.reads.get() + 1);
            for (at, byte) in into.iter_mut().enumerate() {
                let offset = address.wrapping_add(at as u64).wrapping_sub(BASE);
                let word = self.words.get((offset / 8) as usize).ok_or(MemoryError::Unreadable(address))?;
                *byte = word.to_ne_bytes()[(offset % 8) as usize];
            }
            Ok(())
        }
    }

    #[test]
    fn any_memory_ends_and_does_not_panic() {
        let mut seed = 1u64;
        let mut next = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed >> 16
        };
        let types = Types { code: BASE + 8, text: BASE + 16, bytes: BASE + 24 };
        let mut found = 0;
        for round in 0..400 {
            let words = (0..SIZE / 8)
                .map(|_| match next() % 8 {
                    // Few targets, so that lists are cyclic.
                    0..=3 => BASE + next() % 16 * 0x400,
                    4 => [types.code, types.text, types.bytes][(next() % 3) as usize],
                    5 => next() % 300,
                    6 => 0,
                    _ => next() << 20,
                })
                .collect();
            let mut memory = Rubbish { words, reads: Cell::new(0) };
            for mut layout in layout::tests::ALL {
                // A list that is as it should be, so that more than its beginning is read.
                layout.native_thread_id = Some(layout.thread_id);
                let thread = BASE + 0x800;
                let mut put = |at: u64, value: u64| memory.words[((at - BASE) / 8) as usize] = value;
                put(BASE + layout.interpreters, BASE + 0x400);
                put(BASE + 0x400 + layout.interpreter_next, 0);
                put(BASE + 0x400 + layout.threads, thread);
                put(thread + layout.thread_prev as u64, 0);
                put(thread + layout.thread_next as u64, 0);
                put(thread + layout.thread_interpreter as u64, BASE + 0x400);
                put(thread + layout.thread_id as u64, 77);
                memory.reads.set(0);
                let mut reader = Reader::new(layout, types, BASE);
                let (mut frames, mut stack) = (Frames::default(), Vec::new());
                let _ = threads::check(&memory, &layout, BASE);
                if round % 2 == 0 {
                    let _ = reader.thread(&memory, 76, &mut frames, &mut stack);
                }
                let _ = reader.thread(&memory, 77, &mut frames, &mut stack);
                found += reader.links.len();
                assert!(stack.len() <= chain::MOST && memory.reads.get() < 20_000);
            }
        }
        assert!(found > 1000, "{found}");
    }
}
