//! The state of a thread in CPython (`PyThreadState`), by the number that the kernel has for the thread.

use super::layout::{Current, Layout, SPAN};
use super::memory::{Memory, half, word};
use crate::process::MemoryError;
use std::collections::HashMap;

/// Interpreters of a process that are looked at; there is one, but for programs that make more.
const INTERPRETERS: usize = 64;
/// Threads of an interpreter that are looked at.
const THREADS: usize = 4096;

/// What is read of a `PyThreadState`.
#[derive(Clone, Copy, Debug)]
struct State {
    address: u64,
    previous: u64,
    next: u64,
    interpreter: u64,
    /// The frame or the `_PyCFrame` of now.
    current: u64,
    /// `pthread_self()` of its thread.
    pthread: u64,
    native: Option<u64>,
}

/// A thread that runs functions of Python.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Running {
    /// Its `PyThreadState`.
    pub state: u64,
    /// Its innermost frame.
    pub frame: u64,
}

/// The states of the threads seen last.
#[derive(Debug, Default)]
pub(super) struct Threads {
    known: HashMap<u32, u64>,
}

impl Threads {
    /// What a thread runs now; `tid` is its number in its own PID namespace.
    ///
    /// # Errors
    /// Where the list of threads is not as it should be, or the thread runs functions in two interpreters at once.
    pub(super) fn current(
        &mut self,
        memory: &dyn Memory,
        layout: &Layout,
        runtime: u64,
        tid: u32,
    ) -> Result<Option<Running>, MemoryError> {
        if let Some(known) = self.known.get(&tid) {
            let state = state(memory, layout, *known);
            if let Ok(state) = state
                && is_listed(memory, layout, &state)
                && is_of(memory, &state, tid)
                && let Ok(frame @ 1..) = frame(memory, layout, &state)
            {
                return Ok(Some(Running { state: state.address, frame }));
            }
            self.known.remove(&tid);
        }
        let (found, interpreters) = find(memory, layout, runtime, tid)?;
        let mut running = None;
        for state in found {
            let frame = frame(memory, layout, &state)?;
            if frame == 0 {
                continue;
            }
            if running.replace(Running { state: state.address, frame }).is_some() {
                return Err(MemoryError::Unlikely("a thread of two interpreters"));
            }
        }
        if let Some(running) = running
            && interpreters == 1
        {
            if self.known.len() >= THREADS {
                self.known.clear();
            }
            self.known.insert(tid, running.state);
        }
        Ok(running)
    }
}

impl Threads {
    /// The state of a thread as [`Threads::current`] found it last, where it is certain.
    pub(super) fn state_of(&self, tid: u32) -> Option<u64> {
        self.known.get(&tid).copied()
    }
}

/// True where the interpreters and threads of a runtime are as the layout has them; false where it has none yet.
///
/// # Errors
/// Where they are not.
pub(super) fn check(memory: &dyn Memory, layout: &Layout, runtime: u64) -> Result<bool, MemoryError> {
    let mut any = false;
    each(memory, layout, runtime, &mut |state| {
        frame(memory, layout, state)?;
        any = true;
        Ok(())
    })?;
    Ok(any)
}

/// The states of a thread, and how many interpreters there are.
fn find(
    memory: &dyn Memory,
    layout: &Layout,
    runtime: u64,
    tid: u32,
) -> Result<(Vec<State>, usize), MemoryError> {
    let (mut by_number, mut by_address) = (Vec::new(), Vec::new());
    let interpreters = each(memory, layout, runtime, &mut |state| {
        if state.native == Some(u64::from(tid)) {
            by_number.push(*state);
        } else if number_of(memory, state.pthread) == Some(tid) {
            // Before 3.11, and after fork(2), which left `native_thread_id` as it was in the parent until 3.12.
            by_address.push(*state);
        }
        Ok(())
    })?;
    Ok((if by_number.is_empty() { by_address } else { by_number }, interpreters))
}

/// Calls `with` for the states of all threads; how many interpreters there are.
fn each(
    memory: &dyn Memory,
    layout: &Layout,
    runtime: u64,
    with: &mut dyn FnMut(&State) -> Result<(), MemoryError>,
) -> Result<usize, MemoryError> {
    let mut interpreter = memory.u64(runtime.wrapping_add(layout.interpreters))?;
    let mut interpreters = 0;
    while interpreter != 0 && interpreters < INTERPRETERS {
        interpreters += 1;
        let mut thread = memory.u64(interpreter.wrapping_add(layout.threads))?;
        let mut previous = 0;
        for _ in 0..THREADS {
            if thread == 0 {
                break;
            }
            let state = state(memory, layout, thread)?;
            if state.interpreter != interpreter || state.previous != previous {
                return Err(MemoryError::Unlikely("the list of Python's threads"));
            }
            with(&state)?;
            previous = thread;
            thread = state.next;
        }
        interpreter = memory.u64(interpreter.wrapping_add(layout.interpreter_next))?;
    }
    Ok(interpreters)
}

fn state(memory: &dyn Memory, layout: &Layout, address: u64) -> Result<State, MemoryError> {
    let current = match layout.current {
        Current::Direct(at) | Current::Cframe { cframe: at, .. } => at,
    };
    let fields =
        [layout.thread_prev, layout.thread_next, layout.thread_interpreter, current, layout.thread_id];
    let last = fields.into_iter().chain(layout.native_thread_id).max().unwrap_or(0);
    let mut bytes = [0; SPAN];
    let bytes = &mut bytes[..(last + 8).min(SPAN)];
    memory.read(address, bytes)?;
    Ok(State {
        address,
        previous: word(bytes, layout.thread_prev),
        next: word(bytes, layout.thread_next),
        interpreter: word(bytes, layout.thread_interpreter),
        current: word(bytes, current),
        pthread: word(bytes, layout.thread_id),
        native: layout.native_thread_id.map(|at| word(bytes, at)),
    })
}

/// The frame of a state, 0 for none.
fn frame(memory: &dyn Memory, layout: &Layout, state: &State) -> Result<u64, MemoryError> {
    match (layout.current, state.current) {
        (_, 0) => Ok(0),
        (Current::Direct(_), frame) => Ok(frame),
        (Current::Cframe { frame, .. }, cframe) => memory.u64(cframe.wrapping_add(frame)),
    }
}

/// The innermost frame of a state that was found, as it is now.
///
/// # Errors
/// Where it cannot be read.
pub(super) fn current_frame(memory: &dyn Memory, layout: &Layout, state: u64) -> Result<u64, MemoryError> {
    match layout.current {
        Current::Direct(at) => memory.u64(state.wrapping_add(at as u64)),
        Current::Cframe { cframe, frame } => {
            memory.u64(memory.u64(state.wrapping_add(cframe as u64))?.wrapping_add(frame))
        }
    }
}

/// True where the one before it in its list has it as its next: it was not freed.
fn is_listed(memory: &dyn Memory, layout: &Layout, state: &State) -> bool {
    let from = match state.previous {
        0 => state.interpreter.wrapping_add(layout.threads),
        previous => previous.wrapping_add(layout.thread_next as u64),
    };
    memory.u64(from) == Ok(state.address)
}

fn is_of(memory: &dyn Memory, state: &State, tid: u32) -> bool {
    state.native == Some(u64::from(tid)) || number_of(memory, state.pthread) == Some(tid)
}

/// The number of the thread of a `struct pthread`, which begins with its own address.
fn number_of(memory: &dyn Memory, pthread: u64) -> Option<u32> {
    /// glibc for x86-64, nptl/descr.h: `tid` is behind `tcbhead_t` (0x2c0 bytes) and a list, since 2.10.
    const GLIBC_TID: usize = 0x2d0;
    /// glibc, sysdeps/x86_64/nptl/tls.h: `tcbhead_t.self`.
    const GLIBC_SELF: usize = 0x10;
    /// musl 1.2 for x86-64, src/internal/pthread_impl.h: `self`, `dtv`, `prev`, `next`, `sysinfo`, `canary`, `tid`.
    const MUSL_TID: usize = 0x30;
    /// The pointer `next` of musl; `multiple_threads` of glibc, which is 0 or 1.
    const NEXT: usize = 0x18;
    let mut bytes = [0; GLIBC_TID + 4];
    // musl's is shorter, and may be the last of its mapping.
    memory.read(pthread, &mut bytes).or_else(|_| memory.read(pthread, &mut bytes[..MUSL_TID + 4])).ok()?;
    if pthread == 0 || word(&bytes, 0) != pthread {
        return None;
    }
    let tid = match half(&bytes, NEXT) > 1 {
        true => half(&bytes, MUSL_TID),
        false if word(&bytes, GLIBC_SELF) == pthread => half(&bytes, GLIBC_TID),
        false => 0,
    };
    (tid != 0).then_some(tid)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct One(u64, Vec<u8>);

    impl Memory for One {
        fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
            let from = address.wrapping_sub(self.0) as usize;
            let bytes = self.1.get(from..from.saturating_add(into.len()));
            into.copy_from_slice(bytes.ok_or(MemoryError::Unreadable(address))?);
            Ok(())
        }
    }

    #[test]
    fn c_libraries_are_told_apart() {
        let at = 0x7f00_0000_1000u64;
        let with = |size: usize, words: &[(usize, u64)]| {
            let mut bytes = vec![0; size];
            for (offset, word) in words {
                bytes[*offset..offset + 8].copy_from_slice(&word.to_ne_bytes());
            }
            number_of(&One(at, bytes), at)
        };
        assert_eq!(with(0x900, &[(0, at), (0x10, at), (0x18, 1), (0x2d0, 77)]), Some(77));
        // A single thread of musl is the one before itself.
        assert_eq!(with(0x900, &[(0, at), (0x10, at), (0x18, at), (0x30, 78), (0x2d0, 5)]), Some(78));
        assert_eq!(with(0x100, &[(0, at), (0x10, 0x5000), (0x18, 0x5000), (0x30, 79)]), Some(79));
        assert_eq!(with(0x900, &[(0, at + 8), (0x10, at), (0x2d0, 77)]), None);
        assert_eq!(with(0x20, &[(0, at)]), None);
    }
}
