//! Where V8's objects have their fields, and the numbers of their types. [`super::description`] fills it in.

use std::collections::HashSet;

/// Numbers of instance types and offsets of fields in bytes from an object's first.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// Major and minor.
    pub version: (u32, u32),
    /// From a frame's pointer: the context or the frame's type, the function, the bytecodes, the offset in these.
    pub fp_context: i64,
    pub fp_function: i64,
    pub fp_bytecodes: i64,
    pub fp_offset: i64,
    pub map_type: u64,
    pub types: Types,
    pub strings: Strings,
    pub function_shared: u64,
    /// A function's map that new objects get, or its prototype.
    pub function_prototype: u64,
    pub map_prototype: u64,
    /// The words of an object of a map, a byte.
    pub map_words: u64,
    pub shared_name: u64,
    pub shared_script: u64,
    /// Bytes of a shared function info up to its flags.
    pub shared_size: u64,
    /// Words of a scope info behind its map.
    pub scope_locals: usize,
    pub scope_first: usize,
    pub script: ScriptFields,
    /// Of a string, the array's length (a Smi) and its first element.
    pub array_length: u64,
    pub array_data: u64,
    pub bytecodes_data: u64,
    pub bytecodes_positions: u64,
    pub code: CodeFields,
}

/// Instance types.
#[derive(Debug, Clone)]
pub(super) struct Types {
    pub functions: (u16, u16),
    pub shared: u16,
    /// Holds a shared function info for objects of trusted space; 0 where there are none.
    pub shared_wrapper: u16,
    pub scope: u16,
    pub script: u16,
    pub oddball: u16,
    pub map: u16,
    pub bytecodes: u16,
    pub code: u16,
    /// Of what lies before instructions; it is the code itself until V8 11.
    pub instructions: u16,
    /// All kinds of arrays of words, and of bytes.
    pub arrays: HashSet<u16>,
    pub bytes: HashSet<u16>,
}

/// Masks of the instance types of strings, and the fields of strings.
#[derive(Debug, Clone)]
pub(super) struct Strings {
    pub first_other: u16,
    pub encoding: u16,
    pub one_byte: u16,
    pub representation: u16,
    pub sequence: u16,
    pub cons: u16,
    pub external: u16,
    pub sliced: u16,
    pub thin: u16,
    pub length: u64,
    pub chars: u64,
    pub first: u64,
    pub second: u64,
    pub parent: u64,
    pub offset: u64,
    pub actual: u64,
    pub resource: u64,
}

/// Fields of a script.
#[derive(Debug, Clone)]
pub(super) struct ScriptFields {
    pub source: u64,
    pub name: u64,
    /// Lines before its first one, in what it is a part of: behind its name, `src/objects/script.tq` of V8 10 to 13.
    pub line_offset: u64,
}

/// Fields of code, and of its table for deoptimizing.
#[derive(Debug, Clone)]
pub(super) struct CodeFields {
    pub deopt: u64,
    pub positions: u64,
    pub start: Start,
    pub size: u64,
    pub flags: u64,
    pub kind_mask: u32,
    pub baseline: u32,
    pub inlined_count: u64,
    pub literals: u64,
    pub deopt_shared: u64,
    pub inlining: u64,
}

/// Where the instructions of code begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// So many bytes from the code's first.
    Within(u64),
    /// The code holds their address in this field; they are so many bytes behind an object of their own.
    At { field: u64, header: u64 },
}
