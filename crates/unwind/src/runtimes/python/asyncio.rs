//! The tasks of asyncio that wait while their event loop does: each one's coroutines, from the one that it began with to the one that
//! awaits something else. Read of a thread that is blocked in its loop alone.
//!
//! `sys.modules` leads to `asyncio.tasks`, its set of weak references to the tasks. What each address leads to is told by its type, so
//! that another layout finds nothing, and says nothing wrong. Offsets were computed in 3.11.7, 3.12.1 and 3.13.0; before 3.11
//! coroutines have their frames elsewhere, and 3.14 keeps its tasks in lists of its own: there nothing is read.

use super::chain::Link;
use super::code::Codes;
use super::layout::{Layout, OB_TYPE};
use super::memory::{Memory, half, word};
use super::objects::{Types, text};
use crate::frames::{FrameId, Frames};
use crate::process::MemoryError;

/// Tasks looked at.
const TASKS: usize = 256;
/// Coroutines of one task that are read.
const COROUTINES: usize = 32;
/// Entries of a dictionary, of a set: larger ones are taken for garbage.
const ENTRIES: u64 = 1 << 14;
/// Innermost frames among which the one of the loop is, when it waits: `select` of its selector is called by it.
const NEAR: usize = 3;
/// The function of the loop that waits (Lib/asyncio/base_events.py), and its file.
const LOOP: (&str, &str) = ("BaseEventLoop._run_once", "asyncio/base_events.py");

/// Where a minor version keeps what leads to tasks; the same in all else.
#[derive(Clone, Copy, Debug)]
struct Places {
    /// `PyInterpreterState.imports.modules`, before 3.12 `.modules`.
    modules: u64,
    /// The set of tasks in `asyncio.tasks`.
    set: &'static str,
    /// From a `WeakSet` to what it made first of its attributes, `data`.
    data: Attribute,
    /// `TaskObj.task_fut_waiter` (Modules/_asynciomodule.c); `task_coro` is behind it.
    waiter: usize,
    /// `PyCoroObject.cr_iframe` (Include/cpython/genobject.h).
    frame: u64,
}

/// Where the first attribute of an object is (Objects/dictobject.c).
#[derive(Clone, Copy, Debug)]
enum Attribute {
    /// 32 bytes before the object is a pointer to the values.
    Before,
    /// 24 bytes before it is a pointer to the values less one.
    Tagged,
    /// In the object, behind 8 bytes of its own.
    Inside,
}

/// `PyDictObject.ma_keys`.
const KEYS: u64 = 32;
/// `PyDictKeysObject.dk_log2_index_bytes`, `.dk_kind`, `.dk_nentries`, `.dk_indices`.
const INDEX_LOG: usize = 9;
const KIND: usize = 10;
const COUNT: usize = 24;
const INDICES: u64 = 32;
/// `PyModuleObject.md_dict`, `PyWeakReference.wr_object`, `FutureObj.fut_loop`: each the first field.
const FIRST: u64 = 16;
/// `PySetObject.mask`, `.table`.
const MASK: usize = 32;
const TABLE: usize = 40;
/// `_PyInterpreterFrame.stacktop` and `.localsplus` of 3.11 to 3.13 (Include/internal/pycore_frame.h).
const STACK_TOP: usize = 0x40;
const LOCALS: usize = 0x48;
/// `PyCoroObject.cr_frame_state`, so many bytes before the frame, of one that awaits (`FRAME_SUSPENDED`; of 3.13 `FRAME_SUSPENDED_YIELD_FROM`).
const STATE_BEFORE: u64 = 5;
const AWAITS: u8 = 0xff;

/// Types by which objects are told.
#[derive(Clone, Copy, Debug)]
pub(super) struct AsyncTypes {
    /// `PyDict_Type`.
    pub dict: u64,
    /// `PySet_Type`.
    pub set: u64,
    /// `PyCoro_Type`.
    pub coroutine: u64,
}

/// The tasks of a process.
#[derive(Debug)]
pub(super) struct Tasks {
    places: Places,
    types: AsyncTypes,
    /// The set's own object, once it was found.
    set: Option<u64>,
}

/// What tasks are read with.
pub(super) struct Reading<'a> {
    pub memory: &'a dyn Memory,
    pub layout: &'a Layout,
    pub types: &'a Types,
    pub codes: &'a mut Codes,
    pub frames: &'a mut Frames,
}

impl Tasks {
    /// Of a minor version; `None` where its layout is not known.
    pub(super) fn of(minor: u32, types: AsyncTypes) -> Option<Tasks> {
        let places = match minor {
            11 => {
                Places { modules: 0x378, set: "_all_tasks", data: Attribute::Before, waiter: 128, frame: 80 }
            }
            12 => Places {
                modules: 0x3b0,
                set: "_scheduled_tasks",
                data: Attribute::Tagged,
                waiter: 128,
                frame: 72,
            },
            13 => Places {
                modules: 0x1de8,
                set: "_scheduled_tasks",
                data: Attribute::Inside,
                waiter: 112,
                frame: 72,
            },
            _ => return None,
        };
        Some(Tasks { places, types, set: None })
    }

    /// Where most of the tasks of the loop wait that a thread is blocked in: how many they are, and their coroutines, innermost first.
    /// `None` where the thread is in no loop, or no task waits. `stack` are its innermost frames, which `links` are of.
    ///
    /// # Errors
    /// Where memory does not hold what it should.
    pub(super) fn awaited(
        &mut self,
        reading: &mut Reading<'_>,
        interpreter: u64,
        links: &[Link],
        stack: &[FrameId],
    ) -> Result<Option<(usize, Vec<FrameId>)>, MemoryError> {
        let is_loop = |id: &FrameId| {
            let frame = reading.frames.get(*id);
            frame.is_some_and(|frame| &*frame.function == LOOP.0 && frame.file.ends_with(LOOP.1))
        };
        let Some(at) = stack.iter().take(NEAR).position(is_loop) else { return Ok(None) };
        let Some(link) = links.get(at) else { return Ok(None) };
        // `self` is its first local.
        let event_loop = reading.memory.u64(link.frame().wrapping_add(LOCALS as u64))?;
        let set = match self.set {
            Some(known) => known,
            None => self.find(reading, interpreter)?,
        };
        let tasks = self.tasks(reading.memory, set).inspect_err(|_| self.set = None)?;
        self.set = Some(set);
        let mut groups: Vec<(usize, Vec<FrameId>)> = Vec::new();
        for task in tasks {
            // One that ends meanwhile, or is of another kind.
            let Ok(Some(chain)) = self.chain(reading, task, event_loop) else { continue };
            match groups.iter_mut().find(|(_, known)| *known == chain) {
                Some((count, _)) => *count += 1,
                None => groups.push((1, chain)),
            }
        }
        // Of as many the one that comes first in the order of frames, which does not change.
        Ok(groups.into_iter().max_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1))))
    }

    /// The set of references to tasks.
    fn find(&self, reading: &Reading<'_>, interpreter: u64) -> Result<u64, MemoryError> {
        let memory = reading.memory;
        let modules = memory.u64(interpreter.wrapping_add(self.places.modules))?;
        let module = self.item(reading, modules, "asyncio.tasks")?;
        let weak = self.item(reading, memory.u64(module.wrapping_add(FIRST))?, self.places.set)?;
        let set = match self.places.data {
            Attribute::Before => memory.u64(memory.u64(weak.wrapping_sub(32))?)?,
            Attribute::Tagged => memory.u64(memory.u64(weak.wrapping_sub(24))?.wrapping_add(1))?,
            Attribute::Inside => memory.u64(weak.wrapping_add(FIRST + 8))?,
        };
        self.is(memory, set, self.types.set)?;
        Ok(set)
    }

    fn is(&self, memory: &dyn Memory, object: u64, of: u64) -> Result<(), MemoryError> {
        match memory.u64(object.wrapping_add(OB_TYPE as u64))? == of {
            true => Ok(()),
            false => Err(MemoryError::Unlikely("an object of asyncio")),
        }
    }

    /// The value under a name in a dictionary.
    fn item(&self, reading: &Reading<'_>, dict: u64, name: &str) -> Result<u64, MemoryError> {
        /// `DICT_KEYS_GENERAL`, `DICT_KEYS_UNICODE` (Include/internal/pycore_dict.h).
        const GENERAL: u8 = 0;
        const UNICODE: u8 = 1;
        let memory = reading.memory;
        self.is(memory, dict, self.types.dict)?;
        let keys = memory.u64(dict.wrapping_add(KEYS))?;
        let mut head = [0; INDICES as usize];
        memory.read(keys, &mut head)?;
        let (log, count) = (u32::from(head[INDEX_LOG]), word(&head, COUNT));
        let (size, key) = match head[KIND] {
            GENERAL => (24, 8),
            UNICODE => (16, 0),
            _ => return Err(MemoryError::Unlikely("a dictionary")),
        };
        if log > 20 || count > ENTRIES {
            return Err(MemoryError::Unlikely("a dictionary"));
        }
        let mut entries = vec![0; count as usize * size];
        memory.read(keys.wrapping_add(INDICES + (1 << log)), &mut entries)?;
        for entry in entries.chunks_exact(size) {
            let (key, value) = (word(entry, key), word(entry, key + 8));
            // Of what is no text, and of what was removed, there is none.
            if key != 0
                && value != 0
                && text(memory, reading.layout, reading.types, key).is_ok_and(|key| key == name)
            {
                return Ok(value);
            }
        }
        Err(MemoryError::Unlikely("a dictionary without that name"))
    }

    /// The tasks that are referred to.
    fn tasks(&self, memory: &dyn Memory, set: u64) -> Result<Vec<u64>, MemoryError> {
        self.is(memory, set, self.types.set)?;
        let mut head = [0; TABLE + 8];
        memory.read(set, &mut head)?;
        let slots = word(&head, MASK).wrapping_add(1);
        if slots == 0 || slots > ENTRIES {
            return Err(MemoryError::Unlikely("a set"));
        }
        // An entry is a reference and its hash; a dummy's reference leads to no task.
        let mut table = vec![0; slots as usize * 16];
        memory.read(word(&head, TABLE), &mut table)?;
        let references =
            table.chunks_exact(16).map(|entry| word(entry, 0)).filter(|reference| *reference != 0);
        Ok(references.take(TASKS).filter_map(|one| memory.u64(one.wrapping_add(FIRST)).ok()).collect())
    }

    /// The coroutines of a task of that loop, innermost first; `None` where it is of another one, or does not wait.
    fn chain(
        &self,
        reading: &mut Reading<'_>,
        task: u64,
        event_loop: u64,
    ) -> Result<Option<Vec<FrameId>>, MemoryError> {
        let mut head = [0; 160];
        reading.memory.read(task, &mut head)?;
        let (waiter, coroutine) = (word(&head, self.places.waiter), word(&head, self.places.waiter + 8));
        if word(&head, FIRST as usize) != event_loop || waiter == 0 {
            return Ok(None);
        }
        self.is(reading.memory, coroutine, self.types.coroutine)?;
        let (mut chain, mut next) = (Vec::new(), coroutine);
        while chain.len() < COROUTINES && self.is(reading.memory, next, self.types.coroutine).is_ok() {
            let at = next.wrapping_add(self.places.frame);
            let mut state = [0];
            reading.memory.read(at.wrapping_sub(STATE_BEFORE), &mut state)?;
            if state[0] != AWAITS {
                return Ok(None);
            }
            let link = Link::read(reading.memory, reading.layout, at)?;
            let id =
                reading.codes.frame(reading.memory, reading.layout, reading.types, &link, reading.frames)?;
            let Some(id) = id else { return Ok(None) };
            chain.push(id);
            // What it awaits is on top of its stack.
            let mut top = [0; 4];
            reading.memory.read(at.wrapping_add(STACK_TOP as u64), &mut top)?;
            let top = half(&top, 0);
            if !(1..=1 << 16).contains(&top) {
                return Err(MemoryError::Unlikely("the stack of a coroutine"));
            }
            next = reading.memory.u64(at.wrapping_add(LOCALS as u64 + u64::from(top - 1) * 8))?;
        }
        chain.reverse();
        Ok(Some(chain))
    }
}
