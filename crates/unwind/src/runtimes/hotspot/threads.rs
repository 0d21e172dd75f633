//! Threads of Java: the `JavaThread` of a thread of the kernel, and where it left Java code.

use super::describe::{Descriptions, Object, extent};
use crate::process::{MemoryError, Process};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Where a thread left Java code (`JavaFrameAnchor`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Anchor {
    pub(super) sp: u64,
    /// 0 where the frame is not of the interpreter.
    pub(super) fp: u64,
    /// 0 where it is the word below `sp`.
    pub(super) pc: u64,
    /// The thread waits to enter a monitor.
    pub(super) entering: bool,
}

struct Layout {
    list: u64,
    length: u64,
    threads: u64,
    os_thread: u64,
    state: u64,
    /// `_thread_in_Java`.
    in_java: i64,
    /// `_current_pending_monitor`.
    entering: u64,
    anchor: u64,
    last: [u64; 3],
    tid: u64,
    /// The anchor that an entry into Java code keeps of the one before.
    wrapper_anchor: u64,
}

/// The threads seen so far.
pub(super) struct Threads {
    layout: Layout,
    /// The `JavaThread` by the number of its thread.
    known: HashMap<u32, u64>,
    /// Threads of which none was found, and when: those of the VM itself.
    absent: HashMap<u32, Instant>,
}

impl Threads {
    /// Threads of Java that are looked through.
    const MOST: u32 = 1 << 16;
    /// A thread that is none of Java is looked for again so late: it may attach itself.
    const AGAIN: Duration = Duration::from_secs(1);

    pub(super) fn of(described: &Descriptions) -> Result<Threads, String> {
        let offset = |name: &str| described.offset(&[name]);
        let layout = Layout {
            list: described.address("ThreadsSMRSupport::_java_thread_list")?,
            length: offset("ThreadsList::_length")?,
            threads: offset("ThreadsList::_threads")?,
            os_thread: described.offset(&["JavaThread::_osthread", "Thread::_osthread"])?,
            state: offset("JavaThread::_thread_state")?,
            in_java: described.constant(&["_thread_in_Java"])?,
            entering: described
                .offset(&["JavaThread::_current_pending_monitor", "Thread::_current_pending_monitor"])?,
            anchor: offset("JavaThread::_anchor")?,
            last: [
                offset("JavaFrameAnchor::_last_Java_sp")?,
                offset("JavaFrameAnchor::_last_Java_fp")?,
                offset("JavaFrameAnchor::_last_Java_pc")?,
            ],
            tid: offset("OSThread::_thread_id")?,
            wrapper_anchor: offset("JavaCallWrapper::_anchor")?,
        };
        Ok(Threads { layout, known: HashMap::new(), absent: HashMap::new() })
    }

    /// Where a thread left Java code; `None` where it is none of Java, runs Java code now, or runs none at all.
    ///
    /// # Errors
    /// Where memory does not hold what it should.
    pub(super) fn anchor(&mut self, process: &Process, tid: u32) -> Result<Option<Anchor>, MemoryError> {
        let Some(thread) = self.thread(process, tid)? else { return Ok(None) };
        let layout = &self.layout;
        let end = layout.state.max(layout.entering).max(layout.anchor + extent(&layout.last)) + 8;
        let from = layout.anchor.min(layout.state).min(layout.entering) & !7;
        let object = Object::read(process, thread.wrapping_add(from), end - from)?;
        if i64::from(object.i32(layout.state - from)) == layout.in_java {
            return Ok(None);
        }
        let entering = object.u64(layout.entering - from) != 0;
        Ok(layout.anchor_at(&object, layout.anchor - from).map(|anchor| Anchor { entering, ..anchor }))
    }

    /// Where the code that called into Java had left Java code before; `None` where it had not. `wrapper` is its
    /// `JavaCallWrapper`.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub(super) fn before(&self, process: &Process, wrapper: u64) -> Result<Option<Anchor>, MemoryError> {
        let offset = self.layout.wrapper_anchor;
        let object = Object::read(process, wrapper, offset + extent(&self.layout.last))?;
        Ok(self.layout.anchor_at(&object, offset))
    }

    fn thread(&mut self, process: &Process, tid: u32) -> Result<Option<u64>, MemoryError> {
        if let Some(known) = self.known.get(&tid) {
            if self.layout.tid(process, *known) == Ok(Some(tid)) {
                return Ok(Some(*known));
            }
            self.known.remove(&tid);
        }
        if self.absent.get(&tid).is_some_and(|looked| looked.elapsed() < Threads::AGAIN) {
            return Ok(None);
        }
        let found = self.find(process, tid)?;
        match found {
            Some(_) => drop(self.absent.remove(&tid)),
            None => {
                self.absent.retain(|_, looked| looked.elapsed() < Threads::AGAIN);
                self.absent.insert(tid, Instant::now());
            }
        }
        Ok(found)
    }

    /// Looks for a thread in the list, newest first: new ones are at its end.
    fn find(&mut self, process: &Process, tid: u32) -> Result<Option<u64>, MemoryError> {
        let list = process.u64(self.layout.list)?;
        if list == 0 {
            return Ok(None);
        }
        let list = Object::read(process, list, extent(&[self.layout.length, self.layout.threads]))?;
        let count = list.u32(self.layout.length);
        if count > Threads::MOST {
            return Err(MemoryError::Unlikely("the list of threads"));
        }
        let mut pointers = vec![0; count as usize * 8];
        process.read(list.u64(self.layout.threads), &mut pointers)?;
        for pointer in pointers.rchunks_exact(8) {
            let thread = u64::from_ne_bytes(pointer.try_into().unwrap_or_default());
            if self.layout.tid(process, thread) == Ok(Some(tid)) {
                if self.known.len() >= Threads::MOST as usize {
                    self.known.clear();
                }
                self.known.insert(tid, thread);
                return Ok(Some(thread));
            }
        }
        Ok(None)
    }
}

impl Layout {
    /// The number of a thread; `None` while it starts or when it has ended.
    fn tid(&self, process: &Process, thread: u64) -> Result<Option<u32>, MemoryError> {
        match process.u64(thread.wrapping_add(self.os_thread))? {
            0 => Ok(None),
            os_thread => process.u32(os_thread.wrapping_add(self.tid)).map(Some),
        }
    }

    fn anchor_at(&self, object: &Object, offset: u64) -> Option<Anchor> {
        let [sp, fp, pc] = self.last.map(|field| object.u64(offset + field));
        (sp != 0).then_some(Anchor { sp, fp, pc, entering: false })
    }
}
