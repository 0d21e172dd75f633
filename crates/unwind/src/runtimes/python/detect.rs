//! Looks for CPython in a process: which file has it, which version it is, and whether its memory is as that version has it.

use super::asyncio::{AsyncTypes, Tasks};
use super::layout::layout;
use super::memory::Memory;
use super::objects::Types;
use super::{Detected, Python, Reader, threads};
use crate::image::Image;
use crate::process::{MemoryMapping, Process};

/// Looks for CPython in a process.
pub(super) fn detect(process: &Process) -> Detected {
    for mapping in candidates(process) {
        let Ok(image) = Image::open(process, mapping) else { continue };
        match inspect(process, &image) {
            Detected::Absent => {}
            found => return found,
        }
    }
    Detected::Absent
}

/// The first mappings of the files that may have it: of Python's names, and the program itself, which may have it inside.
fn candidates(process: &Process) -> Vec<&MemoryMapping> {
    let mut found: Vec<&MemoryMapping> = Vec::new();
    let mut program = true;
    for mapping in process.mappings() {
        if !mapping.executable || mapping.file.is_none() {
            continue;
        }
        // The program is below its libraries.
        let wanted = program || mapping.name().contains("python");
        program = false;
        let same = |one: &&MemoryMapping| one.file == mapping.file && one.path == mapping.path;
        if wanted && !found.iter().any(same) {
            found.extend(process.mappings().iter().find(same));
        }
    }
    found
}

/// `_PyRuntime`, which came with 3.7, and functions of the C API by which versions are told apart: each with the first minor
/// version that has it (Misc/stable_abi.toml, Doc/whatsnew of each version).
const SYMBOLS: [&str; 13] = [
    "_PyRuntime",
    "PyCode_Type",
    "PyUnicode_Type",
    "PyBytes_Type",
    "PyType_Type",
    "Py_Version",
    // 3.8: PEP 570.
    "PyCode_NewWithPosOnlyArgs",
    // 3.9.
    "PyObject_CallNoArgs",
    // 3.10.
    "PyModule_AddObjectRef",
    "_PyEval_EvalFrameDefault",
    "PyDict_Type",
    "PySet_Type",
    "PyCoro_Type",
];

fn inspect(process: &Process, image: &Image) -> Detected {
    let Ok(found) = image.symbols(&SYMBOLS) else { return Detected::Absent };
    let [runtime, code, text, bytes, type_type, version, v3_8, v3_9, v3_10, evaluator, dict, set, coroutine] =
        found[..]
    else {
        return Detected::Absent;
    };
    let (Some(code), Some(text), Some(bytes), Some(type_type)) = (code, text, bytes, type_type) else {
        return Detected::Absent;
    };
    let Some(runtime) = runtime else {
        return match evaluator {
            Some(_) => Detected::Unknown("CPython before 3.7: its layout is not known".to_string()),
            None => Detected::Absent,
        };
    };
    let version = match version.map(|at| process.u32(at)) {
        Some(Ok(number)) => Some(number),
        Some(Err(_)) => return Detected::Absent,
        None => None,
    };
    let (minor, name) = match version {
        // Include/patchlevel.h, PY_VERSION_HEX: major, minor, micro, and level and serial of the release.
        Some(number) => {
            let (major, minor, micro) = (number >> 24, number >> 16 & 0xff, number >> 8 & 0xff);
            let name = format!("CPython {major}.{minor}.{micro}");
            // Layouts of a minor version stay the same from its first release candidate on.
            if major != 3 || number >> 4 & 0xf < 0xc {
                return Detected::Unknown(format!("{name}: its layout is not known"));
            }
            (minor, name)
        }
        None => {
            let minor = match (v3_8, v3_9, v3_10) {
                (_, _, Some(_)) => 10,
                (_, Some(_), None) => 9,
                (Some(_), None, None) => 8,
                (None, None, None) => 7,
            };
            (minor, format!("CPython 3.{minor}"))
        }
    };
    let unknown = |why: &str| Detected::Unknown(format!("{name}: {why}"));
    if cfg!(not(all(target_arch = "x86_64", target_endian = "little"))) {
        return unknown("its layout is not known on this machine");
    }
    let layout = match layout(process, minor, version, runtime) {
        Ok(layout) => layout,
        Err(why) => return unknown(&why),
    };
    // `PyCode_Type` is an object itself, of the type `PyType_Type`: so heads of objects are as they should be.
    if !Memory::u64(process, code + super::layout::OB_TYPE as u64).is_ok_and(|of| of == type_type) {
        return unknown("its objects are not as they should be");
    }
    // Lists change while threads begin and end.
    let mut checked = threads::check(process, &layout, runtime);
    for _ in 0..3 {
        if checked.is_ok() {
            break;
        }
        checked = threads::check(process, &layout, runtime);
    }
    match checked {
        Ok(true) => {}
        // It has not begun.
        Ok(false) => return Detected::Absent,
        Err(error) => return unknown(&error.to_string()),
    }
    // In 3.14, where the compiler can, each instruction of Python is a C function.
    let evaluates = |name: &str| {
        let rest = name.strip_prefix("_PyEval_EvalFrameDefault");
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) || name.starts_with("_TAIL_CALL_")
    };
    let tasks = match (dict, set, coroutine) {
        (Some(dict), Some(set), Some(coroutine)) => Tasks::of(minor, AsyncTypes { dict, set, coroutine }),
        _ => None,
    };
    Detected::Found(Box::new(Python {
        version: name,
        evaluators: image.ranges(&evaluates).unwrap_or_default(),
        foreign_numbers: numbers(process.pid(), process.pid()).is_some_and(|numbers| numbers.len() > 1),
        reader: Reader { tasks, ..Reader::new(layout, Types { code, text, bytes }, runtime) },
        is_blocked: false,
    }))
}

/// The number of a thread in its own PID namespace.
pub(super) fn own_number(pid: u32, tid: u32) -> Option<u32> {
    numbers(pid, tid)?.last().copied()
}

/// `NSpid` of proc_pid_status(5): the numbers of a thread in the PID namespaces that it is in, its own last.
fn numbers(pid: u32, tid: u32) -> Option<Vec<u32>> {
    let status = std::fs::read(format!("/proc/{pid}/task/{tid}/status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_ascii_whitespace().map(|number| number.parse().ok()).collect()
}
