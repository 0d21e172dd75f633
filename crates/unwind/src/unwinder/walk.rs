//! One stack of native frames and of those of languages: how the two are put together.

use super::{Cut, StackEntry, StackOutcome};
use crate::frames::{FrameId, Frames};
use crate::native::{Cursor, Modules, NativeStep, NativeUnwinder};
use crate::process::{MemoryError, Process};
use crate::registers::{Registers, StackMemory};
use crate::runtimes::{LanguageRuntime, ListedFrames};

/// Where the frames are that runtimes keep in memory of their own.
#[derive(Clone, Copy)]
pub(super) enum Kept<'a> {
    /// In memory as it is now.
    Now,
    /// In a copy of the list of the runtime at that place; where there is none, nobody knows them any more.
    Copied(Option<(usize, ListedFrames<'a>)>),
}

/// What a stack is read with.
pub(super) struct Walk<'a> {
    pub(super) native: &'a mut NativeUnwinder,
    pub(super) frames: &'a mut Frames,
    pub(super) process: &'a Process,
    pub(super) modules: &'a Modules,
    pub(super) runtimes: &'a mut [Box<dyn LanguageRuntime>],
    /// Entries of a stack, at most.
    pub(super) most: usize,
    /// The first address behind the copy of the stack, where it is one.
    pub(super) copied_to: Option<u64>,
    pub(super) kept: Kept<'a>,
    /// A runtime could not read the frames of this thread.
    pub(super) failed: bool,
}

/// How a stack ended.
pub(super) struct Ended {
    pub(super) outcome: StackOutcome,
    /// It led to an address where no code is known to be.
    pub(super) no_code: bool,
}

impl Walk<'_> {
    /// Native frames of one stack, at most.
    const NATIVE: usize = 128;

    /// Pushes the stack of a thread, innermost first.
    pub(super) fn stack(
        &mut self,
        tid: u32,
        registers: Registers,
        memory: &dyn StackMemory,
        stack: &mut Vec<StackEntry>,
    ) -> Ended {
        let begin = stack.len();
        let blocked = self.copied_to.is_none().then_some(tid);
        self.runtimes.iter_mut().for_each(|runtime| runtime.begins(self.process, blocked));
        let mut cursor = Cursor::new(registers);
        let mut language = Vec::new();
        // The runtimes that were asked for the whole stack of the thread, by bits of their places.
        let (mut asked, mut stepped, mut natives, mut no_code) = (0_u64, false, 0, false);
        let mut steps = 0;
        let outcome = loop {
            steps += 1;
            let is_long = stack.len() - begin >= self.most || natives >= Walk::NATIVE;
            if is_long || steps > self.most + Walk::NATIVE {
                break StackOutcome::Cut(Cut::Frames);
            }
            language.clear();
            if let Some(caller) = self.step(&cursor.registers(), memory, &mut language) {
                stepped |= !language.is_empty();
                self.push(begin, &language, stack);
                // A function of the runtime itself that lies in its file has a name there.
                if language.is_empty() && self.modules.find(cursor.inside()).is_some() {
                    stack.push(StackEntry::Native(cursor.registers().ip));
                    natives += 1;
                }
                match caller {
                    Err(error) => break self.cut(&error),
                    Ok(caller) if caller.ip == 0 => break StackOutcome::Whole,
                    Ok(caller) if caller.sp <= cursor.registers().sp => {
                        break StackOutcome::Cut(Cut::Damaged);
                    }
                    Ok(caller) => cursor = cursor.caller(caller),
                }
                continue;
            }
            let inside = cursor.inside();
            if self.modules.find(inside).is_none() {
                no_code = true;
                break StackOutcome::Cut(Cut::Unknown);
            }
            let evaluates = self.runtimes.iter().position(|runtime| runtime.evaluates(inside));
            if let Some(at) = evaluates.filter(|at| !stepped && asked & bit(*at) == 0) {
                asked |= bit(at);
                if let Some(outcome) = self.thread(at, tid, begin, &mut language, stack) {
                    return Ended { outcome, no_code };
                }
            }
            stack.push(StackEntry::Native(cursor.registers().ip));
            natives += 1;
            match self.native.step(self.process, self.modules, memory, &mut cursor) {
                // Code of a runtime's making may be younger than what is known of the process.
                Ok(NativeStep::Caller | NativeStep::NoCode) => {}
                Ok(NativeStep::End) => break StackOutcome::Whole,
                Ok(NativeStep::Unknown) => break StackOutcome::Cut(Cut::Unknown),
                Err(error) => break self.cut(&error),
            }
        };
        if stepped {
            return Ended { outcome, no_code };
        }
        // No function of a runtime was met: it has another name there, or the native stack ended before.
        let natives = stack.len();
        for at in (0..self.runtimes.len()).filter(|at| asked & bit(*at) == 0) {
            if let Some(read) = self.thread(at, tid, begin, &mut language, stack) {
                if outcome == StackOutcome::Whole {
                    stack.drain(begin..natives);
                }
                let outcome = if outcome == StackOutcome::Whole { read } else { outcome };
                return Ended { outcome, no_code };
            }
        }
        let outcome = match outcome {
            StackOutcome::Whole if self.failed => StackOutcome::Cut(Cut::Damaged),
            other => other,
        };
        Ended { outcome, no_code }
    }

    /// The caller of a frame of a runtime's making; `None` where it is none.
    fn step(
        &mut self,
        registers: &Registers,
        memory: &dyn StackMemory,
        language: &mut Vec<FrameId>,
    ) -> Option<Result<Registers, MemoryError>> {
        let Walk { process, frames, .. } = self;
        self.runtimes.iter_mut().find_map(|runtime| {
            frames.language(runtime.language());
            runtime.step(process, registers, memory, frames, language).transpose()
        })
    }

    /// Pushes the stack of a thread as a runtime keeps it; `None` where it keeps none.
    fn thread(
        &mut self,
        at: usize,
        tid: u32,
        begin: usize,
        language: &mut Vec<FrameId>,
        stack: &mut Vec<StackEntry>,
    ) -> Option<StackOutcome> {
        language.clear();
        self.frames.language(self.runtimes[at].language());
        let read = match self.kept {
            Kept::Now => self.runtimes[at].thread(self.process, tid, self.frames, language),
            Kept::Copied(Some((of, listed))) if of == at => {
                self.runtimes[at].listed(self.process, listed, self.frames, language)
            }
            Kept::Copied(_) => Ok(()),
        };
        if language.is_empty() {
            self.failed |= read.is_err();
            return None;
        }
        let all = self.push(begin, language, stack);
        Some(match read {
            Ok(()) if all => StackOutcome::Whole,
            Ok(()) => StackOutcome::Cut(Cut::Frames),
            Err(_) => StackOutcome::Cut(Cut::Damaged),
        })
    }

    /// Pushes frames of a language as far as there is room; false where there was not enough.
    fn push(&self, begin: usize, language: &[FrameId], stack: &mut Vec<StackEntry>) -> bool {
        let room = self.most.saturating_sub(stack.len() - begin);
        stack.extend(language.iter().take(room).map(|id| StackEntry::Language(*id)));
        language.len() <= room
    }

    fn cut(&self, error: &MemoryError) -> StackOutcome {
        StackOutcome::Cut(match (error, self.copied_to) {
            (MemoryError::Unreadable(address), Some(end)) if address.saturating_add(8) > end => Cut::Copy,
            _ => Cut::Damaged,
        })
    }
}

/// The bit of a runtime's place.
fn bit(at: usize) -> u64 {
    1_u64.checked_shl(at as u32).unwrap_or(0)
}
