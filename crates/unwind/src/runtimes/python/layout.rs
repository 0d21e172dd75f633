//! Where CPython keeps what: offsets by version, or as the runtime tells them itself (`_Py_DebugOffsets`, 3.13 and later).

use super::memory::{Memory, word};
use crate::process::MemoryError;

/// How the frame that runs now is found from a thread's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Current {
    /// The state points to it.
    Direct(usize),
    /// The state points to a `_PyCFrame`, which points to it.
    Cframe {
        /// In the state.
        cframe: usize,
        /// In the `_PyCFrame`.
        frame: u64,
    },
}

/// How a frame tells its instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Instruction {
    /// `f_lasti`: a number of steps of so many bytes.
    Index(i64),
    /// A pointer into the code.
    Pointer,
}

/// Where the instructions of a code object are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Instructions {
    /// A `bytes` object that this field points to.
    Bytes(usize),
    /// In the object itself, from this offset on; their count (of two bytes each) is its `ob_size`.
    Inside(usize),
}

/// Formats of the table that gives lines to instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lines {
    /// `co_lnotab`, Objects/lnotab_notes.txt of 3.8 and 3.9.
    Lnotab,
    /// `co_linetable` of PEP 626, Objects/lnotab_notes.txt of 3.10.
    Pep626,
    /// `co_linetable` of PEP 657, Objects/locations.md of 3.11 and later.
    Locations,
}

/// Offsets within CPython's structures, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    /// `_PyRuntimeState.interpreters.head`.
    pub interpreters: u64,
    /// `PyInterpreterState.next`.
    pub interpreter_next: u64,
    /// `PyInterpreterState.tstate_head`, `.threads.head`.
    pub threads: u64,
    /// `PyThreadState.prev`.
    pub thread_prev: usize,
    /// `PyThreadState.next`.
    pub thread_next: usize,
    /// `PyThreadState.interp`.
    pub thread_interpreter: usize,
    /// From a thread's state to its frame.
    pub current: Current,
    /// `PyThreadState.thread_id`.
    pub thread_id: usize,
    /// `PyThreadState.native_thread_id`.
    pub native_thread_id: Option<usize>,
    /// `f_back`, `previous`.
    pub previous: usize,
    /// `f_code`, `f_executable`.
    pub executable: usize,
    /// `f_lasti`, `prev_instr`, `instr_ptr`.
    pub instruction: usize,
    /// What that is.
    pub instruction_kind: Instruction,
    /// `owner`: frames of no function have one of 3 or more (`FRAME_OWNED_BY_CSTACK`, and of 3.14 `FRAME_OWNED_BY_INTERPRETER`).
    pub owner: Option<usize>,
    /// `co_filename`.
    pub filename: usize,
    /// `co_qualname`, or `co_name` where there is none.
    pub name: usize,
    /// `co_lnotab`, `co_linetable`.
    pub line_table: usize,
    /// `co_firstlineno`.
    pub first_line: usize,
    /// `co_code`, `co_code_adaptive`.
    pub instructions: Instructions,
    /// Format of the table of lines.
    pub lines: Lines,
    /// `sizeof(PyASCIIObject)`.
    pub ascii: u64,
    /// `sizeof(PyCompactUnicodeObject)`.
    pub compact: u64,
}

/// `PyObject.ob_type` of builds without `Py_TRACE_REFS` (Include/object.h).
pub(super) const OB_TYPE: usize = 8;
/// `PyVarObject.ob_size`.
pub(super) const OB_SIZE: usize = 16;
/// `PyASCIIObject.length` (Include/cpython/unicodeobject.h, the same from 3.8 to 3.14).
pub(super) const TEXT_LENGTH: usize = 16;
/// `PyASCIIObject.state`: 2 bits `interned`, 3 bits `kind`, a bit `compact`, a bit `ascii` (not in free-threaded builds).
pub(super) const TEXT_STATE: usize = 32;
/// `PyBytesObject.ob_sval`.
pub(super) const BYTES_VALUE: u64 = 32;
/// The most that is read of a thread's state, a frame or a code object; each field lies within it.
pub(super) const SPAN: usize = 0x100;

/// Include/internal/pycore_runtime.h (pycore_pystate.h of 3.8), pycore_interp.h, Include/cpython/pystate.h, frameobject.h and
/// code.h of 3.8.18; the same in 3.9.18. All offsets here were computed by `offsetof` from the headers of x86-64 builds.
const V3_8: Layout = Layout {
    interpreters: 0x20,
    interpreter_next: 0,
    threads: 8,
    thread_prev: 0,
    thread_next: 8,
    thread_interpreter: 0x10,
    current: Current::Direct(0x18),
    thread_id: 0xb0,
    native_thread_id: None,
    previous: 0x18,
    executable: 0x20,
    instruction: 0x68,
    instruction_kind: Instruction::Index(1),
    owner: None,
    filename: 0x68,
    name: 0x70,
    line_table: 0x78,
    first_line: 0x28,
    instructions: Instructions::Bytes(0x30),
    lines: Lines::Lnotab,
    ascii: 0x30,
    compact: 0x48,
};

/// The same headers of 3.10.13: `f_lasti` counts instructions now.
const V3_10: Layout =
    Layout { instruction: 0x60, instruction_kind: Instruction::Index(2), lines: Lines::Pep626, ..V3_8 };

/// Include/internal/pycore_runtime.h, pycore_interp.h, pycore_frame.h, Include/cpython/pystate.h and code.h of 3.11.7.
const V3_11: Layout = Layout {
    interpreters: 0x28,
    interpreter_next: 0,
    threads: 0x10,
    thread_prev: 0,
    thread_next: 8,
    thread_interpreter: 0x10,
    current: Current::Cframe { cframe: 0x38, frame: 8 },
    thread_id: 0x98,
    native_thread_id: Some(0xa0),
    previous: 0x30,
    executable: 0x20,
    instruction: 0x38,
    instruction_kind: Instruction::Pointer,
    // There are no frames of the C stack yet.
    owner: None,
    filename: 0x70,
    name: 0x80,
    line_table: 0x88,
    first_line: 0x48,
    instructions: Instructions::Inside(0xb8),
    lines: Lines::Locations,
    ascii: 0x30,
    compact: 0x48,
};

/// The same headers of 3.12.1.
const V3_12: Layout = Layout {
    threads: 0x48,
    current: Current::Cframe { cframe: 0x38, frame: 0 },
    thread_id: 0x88,
    native_thread_id: Some(0x90),
    previous: 8,
    executable: 0,
    owner: Some(0x46),
    first_line: 0x44,
    instructions: Instructions::Inside(0xc0),
    ascii: 0x28,
    compact: 0x38,
    ..V3_11
};

/// The layout of a minor version of CPython 3; from 3.13 on by what the runtime, which is at `runtime`, tells of itself.
///
/// # Errors
/// Why it is not known, in words.
pub(super) fn layout(
    memory: &dyn Memory,
    minor: u32,
    version: Option<u32>,
    runtime: u64,
) -> Result<Layout, String> {
    match minor {
        8 | 9 => Ok(V3_8),
        10 => Ok(V3_10),
        11 => Ok(V3_11),
        12 => Ok(V3_12),
        13 | 14 => {
            let told = DebugOffsets::read(memory, runtime).map_err(|error| error.to_string())?;
            told.layout(minor, version)
        }
        _ => Err("its layout is not known".to_string()),
    }
}

/// `_Py_DebugOffsets`, the words of 8 bytes that `_PyRuntime` begins with.
struct DebugOffsets([u64; DebugOffsets::WORDS]);

/// Where the groups of `_Py_DebugOffsets` begin, in words; each has its structure's size first.
struct Groups {
    thread: usize,
    frame: usize,
    code: usize,
    object: usize,
    bytes: usize,
    text: usize,
}

impl DebugOffsets {
    const WORDS: usize = 81;
    /// `_Py_Debug_Cookie`.
    const COOKIE: u64 = u64::from_ne_bytes(*b"xdebugpy");
    /// Include/internal/pycore_runtime.h of 3.13.0.
    const V3_13: Groups = Groups { thread: 19, frame: 28, code: 34, object: 44, bytes: 64, text: 67 };
    /// Include/internal/pycore_debug_offsets.h of 3.14: more fields of interpreters, frames and code, and sets.
    const V3_14: Groups = Groups { thread: 22, frame: 31, code: 39, object: 50, bytes: 74, text: 77 };

    fn read(memory: &dyn Memory, runtime: u64) -> Result<DebugOffsets, MemoryError> {
        let mut bytes = [0; DebugOffsets::WORDS * 8];
        memory.read(runtime, &mut bytes)?;
        let mut words = [0; DebugOffsets::WORDS];
        for (at, into) in words.iter_mut().enumerate() {
            *into = word(&bytes, at * 8);
        }
        Ok(DebugOffsets(words))
    }

    fn layout(&self, minor: u32, version: Option<u32>) -> Result<Layout, String> {
        let groups = if minor == 13 { DebugOffsets::V3_13 } else { DebugOffsets::V3_14 };
        let unlikely = || "its _Py_DebugOffsets are not as they should be".to_string();
        let at = |index: usize| self.0.get(index).copied().unwrap_or(u64::MAX);
        if at(0) != DebugOffsets::COOKIE || version.is_none_or(|version| at(1) != u64::from(version)) {
            return Err(unlikely());
        }
        if at(2) != 0 {
            return Err("builds without the GIL are not read".to_string());
        }
        // Of each group: that the field lies in its structure, and in what we read of it.
        let field = |group: usize, index: usize| {
            let (size, offset) = (at(group), at(group + index));
            (offset < size && offset < SPAN as u64 - 8).then_some(offset as usize).ok_or_else(unlikely)
        };
        let large = |group: usize, index: usize| {
            let (size, offset) = (at(group), at(group + index));
            (offset < size && size < 1 << 24).then_some(offset).ok_or_else(unlikely)
        };
        let (thread, frame, code) = (groups.thread, groups.frame, groups.code);
        let fixed = [
            (groups.object + 1, OB_TYPE as u64),
            (groups.bytes + 1, OB_SIZE as u64),
            (groups.bytes + 2, BYTES_VALUE),
            // sizeof(PyUnicodeObject): what texts that are not ASCII begin with, and a pointer.
            (groups.text, V3_12.compact + 8),
            (groups.text + 1, TEXT_STATE as u64),
            (groups.text + 2, TEXT_LENGTH as u64),
            (groups.text + 3, V3_12.ascii),
        ];
        if fixed.iter().any(|(index, expected)| at(*index) != *expected) {
            return Err(unlikely());
        }
        Ok(Layout {
            interpreters: large(3, 2)?,
            interpreter_next: large(6, 2)?,
            threads: large(6, 3)?,
            thread_prev: field(thread, 1)?,
            thread_next: field(thread, 2)?,
            thread_interpreter: field(thread, 3)?,
            current: Current::Direct(field(thread, 4)?),
            thread_id: field(thread, 5)?,
            native_thread_id: Some(field(thread, 6)?),
            previous: field(frame, 1)?,
            executable: field(frame, 2)?,
            instruction: field(frame, 3)?,
            instruction_kind: Instruction::Pointer,
            owner: Some(field(frame, 5)?),
            filename: field(code, 1)?,
            name: field(code, 3)?,
            line_table: field(code, 4)?,
            first_line: field(code, 5)?,
            instructions: Instructions::Inside(field(code, 9)?),
            lines: Lines::Locations,
            ascii: V3_12.ascii,
            compact: V3_12.compact,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// All tables, for tests of what reads by them.
    pub(crate) const ALL: [Layout; 4] = [V3_8, V3_10, V3_11, V3_12];

    /// Words as 3.14 has them, each field's value telling which it is.
    fn words() -> [u64; DebugOffsets::WORDS] {
        let mut words = [0; DebugOffsets::WORDS];
        words[0] = DebugOffsets::COOKIE;
        words[1] = 0x030e_00f0;
        for (first, fields) in [(3, 3), (6, 16), (22, 9), (31, 8), (39, 11)] {
            words[first] = 0xf8;
            for index in 1..fields {
                words[first + index] = index as u64 * 8;
            }
        }
        words[51] = 8;
        words[75] = 16;
        words[76] = 32;
        words[77] = 64;
        words[78] = 32;
        words[79] = 16;
        words[80] = 40;
        words
    }

    #[test]
    fn what_the_runtime_tells_is_checked() {
        let good = DebugOffsets(words()).layout(14, Some(0x030e_00f0)).expect("known");
        assert_eq!((good.interpreters, good.threads, good.thread_id, good.name), (16, 24, 40, 24));
        assert_eq!((good.owner, good.instructions), (Some(40), Instructions::Inside(72)));
        assert!(DebugOffsets(words()).layout(14, Some(0x030e_01f0)).is_err(), "of another version");
        assert!(DebugOffsets(words()).layout(13, Some(0x030e_00f0)).is_err(), "of another layout");
        for (index, value) in [(0, 1), (2, 1), (43, 0x1000), (40, u64::MAX), (80, 48), (51, 24)] {
            let mut bad = words();
            bad[index] = value;
            assert!(DebugOffsets(bad).layout(14, Some(0x030e_00f0)).is_err(), "{index}");
        }
    }
}
