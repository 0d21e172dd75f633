//! Functions of Node.js and V8. Source: node 22's src/, lib/ and deps/v8/src; V8's names in perf maps
//! (deps/v8/src/logging/log.cc) and pseudo frames of .cpuprofile files.

use super::CostKind::*;
use super::Role::*;
use super::lists::Group;

/// The list.
pub(super) static LIST: &[Group] = &[
    // deps/v8/src/heap.
    (
        Overrides(GarbageCollection),
        &[
            "(garbage collector)",
            "v8::internal::Heap::CollectGarbage*",
            "v8::internal::Heap::PerformGarbageCollection*",
            "v8::internal::Heap::Scavenge*",
            "v8::internal::Heap::MarkCompact*",
            "v8::internal::Scaveng*",
            "v8::internal::MarkCompact*",
            "v8::internal::MinorMarkCompact*",
            "v8::internal::ConcurrentMarking*",
            "v8::internal::IncrementalMarking*",
            "v8::internal::Sweeper*",
            "v8::internal::Evacuat*",
            "v8::internal::MarkingVisitor*",
            "v8::internal::YoungGeneration*",
        ],
    ),
    (Overrides(Idle), &["(idle)"]),
    (Plumbing, &["(program)", "(root)"]),
    // deps/v8/src/builtins/x64/builtins-x64.cc: C++ calls JavaScript through these, whether its functions have names or not.
    (Enters, &["Builtins_JSEntry*", "Builtins_JSConstructEntry*", "Builtins_JSRunMicrotasksEntry*"]),
    (
        Mechanism(Allocation),
        &[
            "v8::internal::Heap::Allocate*",
            "v8::internal::HeapAllocator*",
            "v8::internal::Factory*",
            "v8::internal::Runtime_Allocate*",
            "Builtins_NewArray*",
            "Builtins_FastNewObject*",
            "Builtins_GrowFast*",
            "Builtins_CloneFast*",
        ],
    ),
    // JsonParser and JsonStringifier: deps/v8/src/json; structured clone: objects/value-serializer.cc.
    (
        Purpose(Serialization),
        &[
            "v8::internal::JsonPars*",
            "v8::internal::JsonStringif*",
            "v8::internal::JsonParse*",
            "*Builtins_JsonParse*",
            "*Builtins_JsonStringify*",
            "*JSON.parse*",
            "*JSON.stringify*",
            "v8::internal::Builtin_Json*",
            "v8::internal::ValueSerializer*",
            "v8::internal::ValueDeserializer*",
            "*/protobufjs/*",
        ],
    ),
    (
        Purpose(Regex),
        &[
            "v8::internal::RegExp*",
            "v8::internal::IrregexpInterpreter*",
            "v8::internal::NativeRegExp*",
            "RegExp:*",
            "*Builtins_RegExp*",
            "Builtins_StringPrototypeMatch*",
            "Builtins_StringPrototypeReplace*",
            "v8::internal::Runtime_RegExp*",
        ],
    ),
    (
        Purpose(TextParsing),
        &[
            "Builtins_StringPrototypeSplit*",
            "v8::internal::Runtime_StringSplit*",
            "v8::internal::String::Flatten*",
            "v8::internal::String::SlowFlatten*",
            "Builtins_ParseInt*",
            "Builtins_ParseFloat*",
            "Builtins_StringPrototypeIndexOf*",
            "v8::internal::StringToDouble*",
            "llhttp_*",
            "node::(anonymous namespace)::Parser*",
            "node::StringBytes::*",
            "node::url::*",
        ],
    ),
    (
        Purpose(Formatting),
        &[
            "Builtins_NumberToString*",
            "Builtins_StringAdd*",
            "v8::internal::StringBuilder*",
            "v8::internal::IncrementalStringBuilder*",
            "Builtins_ArrayPrototypeJoin*",
        ],
    ),
    (
        Purpose(Sorting),
        &[
            "Builtins_ArrayPrototypeSort*",
            "Builtins_ArrayTimSort*",
            "Builtins_TypedArraySort*",
            "Builtins_SortCompare*",
            "Builtins_MergeAt*",
            "Builtins_MergeLow*",
            "Builtins_MergeHigh*",
            "Builtins_Gallop*",
            "Builtins_BinaryInsertionSort*",
        ],
    ),
    (
        Weak(Hashing),
        &[
            "Builtins_MapPrototype*",
            "Builtins_SetPrototype*",
            "Builtins_FindOrderedHash*",
            "v8::internal::OrderedHash*",
            "v8::internal::HashTable*",
            "v8::internal::StringTable*",
            "Builtins_KeyedLoadIC_Megamorphic*",
            "v8::internal::NameDictionary*",
        ],
    ),
    (
        Weak(Copying),
        &[
            "Builtins_ArrayPrototypeSlice*",
            "Builtins_ArrayPrototypeConcat*",
            "Builtins_CopyElements*",
            "node::Buffer::*",
            "Builtins_ArrayPrototypeSplice*",
        ],
    ),
    (
        Purpose(Compression),
        &[
            "node::(anonymous namespace)::ZlibContext*",
            "node::(anonymous namespace)::ZlibStream*",
            "node::(anonymous namespace)::Brotli*",
            "Cr_z_*",
        ],
    ),
    (Purpose(Crypto), &["node::crypto::*"]),
    // deps/v8/src/compiler, codegen, parsing, maglev, baseline.
    (
        Purpose(Compilation),
        &[
            "v8::internal::Compiler*",
            "v8::internal::compiler::*",
            "v8::internal::OptimizedCompilationJob*",
            "v8::internal::OptimizingCompile*",
            "v8::internal::maglev::*",
            "v8::internal::baseline::*",
            "v8::internal::parsing::*",
            "v8::internal::Parser*",
            "v8::internal::PreParser*",
            "v8::internal::interpreter::Bytecode*",
            "v8::internal::Deoptimiz*",
            "node:internal/modules/*",
        ],
    ),
    (
        Mechanism(SystemCall),
        &["uv__io_poll", "uv__fs_work", "uv__read", "uv__write", "uv__try_write", "node::fs::*"],
    ),
    (
        Plumbing,
        &[
            "v8::*",
            "node::*",
            "uv_*",
            "uv__*",
            "Builtins_*",
            "Builtin:*",
            "Bytecode*",
            "Stub:*",
            "Handler:*",
            "node:*",
            "*node:internal/*",
            "*(node:*",
            "*internal/process/*",
        ],
    ),
];
