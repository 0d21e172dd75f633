//! V8's own description of its objects: the `v8dbg_*` symbols of the node binary, made for debuggers by
//! `tools/gen-postmortem-metadata.py`. What these leave out stands here with its source.

use super::layout::{CodeFields, Layout, ScriptFields, Start, Strings, Types};
use crate::image::Image;
use crate::process::{MemoryError, Process};
use std::collections::HashMap;

/// Versions of V8 (major, minor) that are known: those of node 18, 20, 22 and 24.
const KNOWN: [(u32, u32); 4] = [(10, 2), (11, 3), (12, 4), (13, 6)];

/// Names of the version's numbers, `src/utils/version.h`.
const VERSION: [&str; 3] =
    ["_ZN2v88internal7Version6major_E", "_ZN2v88internal7Version6minor_E", "_ZN2v88internal7Version6build_E"];

/// Reads the layout of the V8 in an image; with it the version as text, `11.3.244`. `None` where it holds no V8.
///
/// # Errors
/// Where it holds one that cannot be read: why.
pub(super) fn read(process: &Process, image: &Image) -> Result<Option<(Layout, String)>, String> {
    let unreadable = |error: &dyn std::fmt::Display| format!("V8's own description cannot be read: {error}");
    let names: Vec<&str> = VERSION.iter().chain(NAMES).copied().collect();
    let found = image.symbols(&names).map_err(|error| unreadable(&error))?;
    if found[..VERSION.len()].iter().any(Option::is_none) {
        return Ok(None);
    }
    let mut values = HashMap::new();
    for (name, address) in names.iter().zip(found) {
        let Some(address) = address else { continue };
        let value = process.u32(address).map_err(|error: MemoryError| unreadable(&error))?;
        values.insert(*name, i64::from(value as i32));
    }
    let [major, minor, build] = VERSION.map(|name| values.get(name).copied().unwrap_or_default() as u32);
    let version = format!("{major}.{minor}.{build}");
    if !KNOWN.contains(&(major, minor)) {
        return Err(format!("the layout of V8 {version} is not known"));
    }
    match layout((major, minor), &values) {
        Ok(layout) => Ok(Some((layout, version))),
        Err(missing) => Err(format!("V8 {version} does not say {missing}")),
    }
}

/// Symbols that are asked for; a field whose name changed has several.
const NAMES: &[&str] = &[
    "v8dbg_TaggedSize",
    "v8dbg_SmiShiftSize",
    "v8dbg_off_fp_context",
    "v8dbg_off_fp_function",
    "v8dbg_off_fp_bytecode_array",
    "v8dbg_off_fp_bytecode_offset",
    "v8dbg_class_Map__instance_type__uint16_t",
    "v8dbg_FirstJSFunctionType",
    "v8dbg_LastJSFunctionType",
    "v8dbg_type_JSFunction__JS_FUNCTION_TYPE",
    "v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE",
    "v8dbg_type_SharedFunctionInfoWrapper__SHARED_FUNCTION_INFO_WRAPPER_TYPE",
    "v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE",
    "v8dbg_type_Script__SCRIPT_TYPE",
    "v8dbg_type_Oddball__ODDBALL_TYPE",
    "v8dbg_type_Map__MAP_TYPE",
    "v8dbg_type_BytecodeArray__BYTECODE_ARRAY_TYPE",
    "v8dbg_type_Code__CODE_TYPE",
    "v8dbg_type_InstructionStream__INSTRUCTION_STREAM_TYPE",
    "v8dbg_type_FixedArray__FIXED_ARRAY_TYPE",
    "v8dbg_type_TrustedFixedArray__TRUSTED_FIXED_ARRAY_TYPE",
    "v8dbg_type_ProtectedFixedArray__PROTECTED_FIXED_ARRAY_TYPE",
    "v8dbg_type_WeakFixedArray__WEAK_FIXED_ARRAY_TYPE",
    "v8dbg_type_TrustedWeakFixedArray__TRUSTED_WEAK_FIXED_ARRAY_TYPE",
    "v8dbg_type_ProtectedWeakFixedArray__PROTECTED_WEAK_FIXED_ARRAY_TYPE",
    "v8dbg_type_ByteArray__BYTE_ARRAY_TYPE",
    "v8dbg_type_TrustedByteArray__TRUSTED_BYTE_ARRAY_TYPE",
    "v8dbg_FirstNonstringType",
    "v8dbg_StringEncodingMask",
    "v8dbg_OneByteStringTag",
    "v8dbg_StringRepresentationMask",
    "v8dbg_SeqStringTag",
    "v8dbg_ConsStringTag",
    "v8dbg_ExternalStringTag",
    "v8dbg_SlicedStringTag",
    "v8dbg_ThinStringTag",
    "v8dbg_class_String__length__int32_t",
    "v8dbg_class_SeqOneByteString__chars__char",
    "v8dbg_class_ConsString__first__String",
    "v8dbg_class_ConsString__second__String",
    "v8dbg_class_SlicedString__parent__String",
    "v8dbg_class_SlicedString__offset__SMI",
    "v8dbg_class_ThinString__actual__String",
    "v8dbg_class_ExternalString__resource__Object",
    "v8dbg_class_JSFunction__shared__SharedFunctionInfo",
    "v8dbg_class_JSFunction__prototype_or_initial_map__HeapObject",
    "v8dbg_class_JSFunction__prototype_or_initial_map__Tagged_HeapObject_",
    "v8dbg_class_JSFunction__prototype_or_initial_map__Tagged_UnionOf_JSPrototype_Map_Hole_",
    "v8dbg_class_Map__prototype__Object",
    "v8dbg_class_Map__instance_size_in_words__char",
    "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Object",
    "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_",
    "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_",
    "v8dbg_class_SharedFunctionInfo__script_or_debug_info__HeapObject",
    "v8dbg_class_SharedFunctionInfo__script__Tagged_HeapObject_",
    "v8dbg_class_SharedFunctionInfo__flags__int",
    "v8dbg_scopeinfo_idx_ncontextlocals",
    "v8dbg_scopeinfo_idx_first_vars",
    "v8dbg_class_Script__source__Object",
    "v8dbg_class_Script__name__Object",
    "v8dbg_class_FixedArrayBase__length__SMI",
    "v8dbg_class_FixedArray__data__uintptr_t",
    "v8dbg_class_BytecodeArray__data__uintptr_t",
    "v8dbg_class_BytecodeArray__wrapper__Tagged_BytecodeWrapper_",
    "v8dbg_class_Code__instruction_start__uintptr_t",
    "v8dbg_class_Code__instruction_start__Address",
    "v8dbg_class_Code__instruction_size__int",
    "v8dbg_class_Code__flags__uint32_t",
    "v8dbg_class_Code__source_position_table__ByteArray",
    "v8dbg_class_Code__deoptimization_data__FixedArray",
    "v8dbg_class_InstructionStream__instruction_start__uintptr_t",
    "v8dbg_CodeKindFieldMask",
    "v8dbg_CodeKindFieldShift",
    "v8dbg_CodeKindBaseline",
    "v8dbg_DeoptimizationDataInlinedFunctionCountIndex",
    "v8dbg_DeoptimizationDataLiteralArrayIndex",
    "v8dbg_DeoptimizationDataSharedFunctionInfoIndex",
    "v8dbg_DeoptimizationDataWrappedSharedFunctionInfoIndex",
    "v8dbg_DeoptimizationDataInliningPositionsIndex",
];

/// The layout out of the values of the symbols, or the first that is missing or cannot be.
fn layout(version: (u32, u32), values: &HashMap<&str, i64>) -> Result<Layout, &'static str> {
    let any = |names: &[&'static str]| {
        names.iter().find_map(|name| values.get(name).copied()).ok_or(names[names.len() - 1])
    };
    let raw = |name: &'static str| any(&[name]);
    let field = |names: &[&'static str]| {
        any(names).and_then(|value| u64::try_from(value).ok().filter(|v| *v < 1 << 10).ok_or(names[0]))
    };
    let number = |name: &'static str| raw(name).and_then(|value| u16::try_from(value).map_err(|_| name));
    let optional = |name: &'static str| number(name).unwrap_or_default();
    let some = |names: &[&'static str]| names.iter().filter_map(|name| number(name).ok()).collect();
    if raw("v8dbg_TaggedSize")? != 8 || raw("v8dbg_SmiShiftSize")? != 31 {
        return Err("that it keeps pointers uncompressed");
    }
    if raw("v8dbg_CodeKindFieldShift")? != 0 {
        return Err("the kind of code in the lowest bits of its flags");
    }
    let js_function = number("v8dbg_type_JSFunction__JS_FUNCTION_TYPE")?;
    // Where it is not said: constructors of classes, arrays, promises, regular expressions and eleven kinds of typed arrays
    // follow, src/objects/js-function.tq of V8 10 and 11.
    let last_function = number("v8dbg_LastJSFunctionType").unwrap_or(js_function + 15);
    let code_type = number("v8dbg_type_Code__CODE_TYPE")?;
    Ok(Layout {
        version,
        fp_context: raw("v8dbg_off_fp_context")?,
        fp_function: raw("v8dbg_off_fp_function")?,
        fp_bytecodes: raw("v8dbg_off_fp_bytecode_array")?,
        fp_offset: raw("v8dbg_off_fp_bytecode_offset")?,
        map_type: field(&["v8dbg_class_Map__instance_type__uint16_t"])?,
        types: Types {
            functions: (number("v8dbg_FirstJSFunctionType").unwrap_or(js_function), last_function),
            shared: number("v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE")?,
            shared_wrapper: optional(
                "v8dbg_type_SharedFunctionInfoWrapper__SHARED_FUNCTION_INFO_WRAPPER_TYPE",
            ),
            scope: number("v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE")?,
            script: number("v8dbg_type_Script__SCRIPT_TYPE")?,
            oddball: number("v8dbg_type_Oddball__ODDBALL_TYPE")?,
            map: number("v8dbg_type_Map__MAP_TYPE")?,
            bytecodes: number("v8dbg_type_BytecodeArray__BYTECODE_ARRAY_TYPE")?,
            code: code_type,
            instructions: number("v8dbg_type_InstructionStream__INSTRUCTION_STREAM_TYPE")
                .unwrap_or(code_type),
            arrays: some(&[
                "v8dbg_type_FixedArray__FIXED_ARRAY_TYPE",
                "v8dbg_type_TrustedFixedArray__TRUSTED_FIXED_ARRAY_TYPE",
                "v8dbg_type_ProtectedFixedArray__PROTECTED_FIXED_ARRAY_TYPE",
                "v8dbg_type_WeakFixedArray__WEAK_FIXED_ARRAY_TYPE",
                "v8dbg_type_TrustedWeakFixedArray__TRUSTED_WEAK_FIXED_ARRAY_TYPE",
                "v8dbg_type_ProtectedWeakFixedArray__PROTECTED_WEAK_FIXED_ARRAY_TYPE",
            ]),
            bytes: some(&[
                "v8dbg_type_ByteArray__BYTE_ARRAY_TYPE",
                "v8dbg_type_TrustedByteArray__TRUSTED_BYTE_ARRAY_TYPE",
            ]),
        },
        strings: Strings {
            first_other: number("v8dbg_FirstNonstringType")?,
            encoding: number("v8dbg_StringEncodingMask")?,
            one_byte: number("v8dbg_OneByteStringTag")?,
            representation: number("v8dbg_StringRepresentationMask")?,
            sequence: number("v8dbg_SeqStringTag")?,
            cons: number("v8dbg_ConsStringTag")?,
            external: number("v8dbg_ExternalStringTag")?,
            sliced: number("v8dbg_SlicedStringTag")?,
            thin: number("v8dbg_ThinStringTag")?,
            length: field(&["v8dbg_class_String__length__int32_t"])?,
            chars: field(&["v8dbg_class_SeqOneByteString__chars__char"])?,
            first: field(&["v8dbg_class_ConsString__first__String"])?,
            second: field(&["v8dbg_class_ConsString__second__String"])?,
            parent: field(&["v8dbg_class_SlicedString__parent__String"])?,
            offset: field(&["v8dbg_class_SlicedString__offset__SMI"])?,
            actual: field(&["v8dbg_class_ThinString__actual__String"])?,
            resource: field(&["v8dbg_class_ExternalString__resource__Object"])?,
        },
        function_shared: field(&["v8dbg_class_JSFunction__shared__SharedFunctionInfo"])?,
        function_prototype: field(&[
            "v8dbg_class_JSFunction__prototype_or_initial_map__HeapObject",
            "v8dbg_class_JSFunction__prototype_or_initial_map__Tagged_HeapObject_",
            "v8dbg_class_JSFunction__prototype_or_initial_map__Tagged_UnionOf_JSPrototype_Map_Hole_",
        ])
        // Not said by V8 13: behind the feedback cell, src/objects/js-function.tq.
        .unwrap_or(56),
        map_prototype: field(&["v8dbg_class_Map__prototype__Object"])?,
        map_words: field(&["v8dbg_class_Map__instance_size_in_words__char"])?,
        shared_name: field(&[
            "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Object",
            "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_",
            "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_",
        ])?,
        shared_script: field(&[
            "v8dbg_class_SharedFunctionInfo__script_or_debug_info__HeapObject",
            "v8dbg_class_SharedFunctionInfo__script__Tagged_HeapObject_",
        ])?,
        shared_size: field(&["v8dbg_class_SharedFunctionInfo__flags__int"])? + 4,
        scope_locals: field(&["v8dbg_scopeinfo_idx_ncontextlocals"])? as usize,
        scope_first: field(&["v8dbg_scopeinfo_idx_first_vars"])? as usize,
        script: ScriptFields {
            source: field(&["v8dbg_class_Script__source__Object"])?,
            name: field(&["v8dbg_class_Script__name__Object"])?,
            line_offset: field(&["v8dbg_class_Script__name__Object"])? + 8,
        },
        array_length: field(&["v8dbg_class_FixedArrayBase__length__SMI"])?,
        array_data: field(&["v8dbg_class_FixedArray__data__uintptr_t"])?,
        bytecodes_data: field(&["v8dbg_class_BytecodeArray__data__uintptr_t"])?,
        // Behind length and wrapper where there is a wrapper, else behind length, constants and handlers:
        // src/objects/bytecode-array.tq.
        bytecodes_positions: match raw("v8dbg_class_BytecodeArray__wrapper__Tagged_BytecodeWrapper_") {
            Ok(wrapper) => wrapper as u64 + 8,
            Err(_) => field(&["v8dbg_class_FixedArrayBase__length__SMI"])? + 24,
        },
        code: code(version, &field, &raw)?,
    })
}

/// The fields of code.
fn code(
    version: (u32, u32),
    field: &dyn Fn(&[&'static str]) -> Result<u64, &'static str>,
    raw: &dyn Fn(&'static str) -> Result<i64, &'static str>,
) -> Result<CodeFields, &'static str> {
    let start = || field(&["v8dbg_class_Code__instruction_start__Address"]);
    let header = || field(&["v8dbg_class_InstructionStream__instruction_start__uintptr_t"]);
    let said = |name: &'static str| field(&[name]);
    // V8 keeps the two tables side by side, positions behind; where they are is not said by all.
    let (positions, start, size, flags) = match version.0 {
        // Code::Fields of src/objects/code.h: tables, the container, then the size.
        10 => {
            let size = said("v8dbg_class_Code__instruction_size__int")?;
            let start = Start::Within(said("v8dbg_class_Code__instruction_start__uintptr_t")?);
            (size - 16, start, size, said("v8dbg_class_Code__flags__uint32_t")?)
        }
        // Tables, the instructions' object, their start, flags, the builtin's number and what is special to the kind, the
        // size: src/objects/code.h of V8 11.3.
        11 => {
            let positions = said("v8dbg_class_Code__source_position_table__ByteArray")?;
            let start = Start::At { field: positions + 16, header: header()? };
            (positions, start, positions + 32, positions + 24)
        }
        // Tables, the wrapper, the instructions' object, their start: src/objects/code.h of V8 12 and 13.
        _ => {
            let field = start()?;
            let flags = said("v8dbg_class_Code__flags__uint32_t")?;
            let size = said("v8dbg_class_Code__instruction_size__int")?;
            (field - 24, Start::At { field, header: header()? }, size, flags)
        }
    };
    Ok(CodeFields {
        deopt: positions - 8,
        positions,
        start,
        size,
        flags,
        kind_mask: raw("v8dbg_CodeKindFieldMask")? as u32,
        baseline: raw("v8dbg_CodeKindBaseline")? as u32,
        // Not said by V8 10: DeoptimizationData of src/objects/code.h.
        inlined_count: said("v8dbg_DeoptimizationDataInlinedFunctionCountIndex").unwrap_or(1),
        literals: said("v8dbg_DeoptimizationDataLiteralArrayIndex").unwrap_or(2),
        deopt_shared: field(&[
            "v8dbg_DeoptimizationDataWrappedSharedFunctionInfoIndex",
            "v8dbg_DeoptimizationDataSharedFunctionInfoIndex",
        ])
        .unwrap_or(6),
        inlining: said("v8dbg_DeoptimizationDataInliningPositionsIndex").unwrap_or(7),
    })
}
