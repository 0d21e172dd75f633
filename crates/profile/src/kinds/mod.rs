//! Kinds of cost: what a stack's time was spent on, as people speak of it. The rule is docs/KINDS.md's.

mod account;
mod function;
mod go;
mod holder;
mod interpreters;
mod java;
mod kernel;
mod languages;
mod lists;
mod measure;
mod native;
mod node;
mod packages;
mod python;
mod python_calls;
mod roles;
mod runtime;
mod sentence;
mod short;
mod source;

pub use account::{Account, FunctionCost, KindShare};
pub use function::{FunctionRef, is_of_toolchain};
pub use holder::{Holder, Part};
pub use measure::{Measure, Measured, about};
pub use roles::Roles;
pub use runtime::Runtime;
pub use sentence::{kinds_line, sentence};
pub use short::short;
pub use source::{FlatRow, Frame, ProfileStacks, Stacks, TableRows};

/// What time (or memory, or waiting) was spent on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum CostKind {
    /// Finding and freeing dead objects, and the program's share in that work.
    GarbageCollection,
    /// Taking memory from the allocator and giving it back.
    Allocation,
    /// Mutexes, monitors, futexes.
    Locking,
    /// Choosing what runs next: goroutines, tasks, threads; interrupts.
    Scheduling,
    /// The kernel, on the program's behalf.
    SystemCall,
    /// Pages that were touched for the first time, or came back.
    PageFault,
    /// Moving and clearing bytes.
    Copying,
    /// Splitting, scanning, converting text.
    TextParsing,
    /// Making text of values.
    Formatting,
    /// JSON, XML, protobuf, gob and their like, both ways.
    Serialization,
    /// zlib, zstd, snappy, both ways.
    Compression,
    /// Ciphers, signatures, key exchange, cryptographic digests.
    Crypto,
    /// Regular expressions.
    Regex,
    /// Hash tables and checksums.
    Hashing,
    /// Sorting.
    Sorting,
    /// Compiling and loading code while the program runs.
    Compilation,
    /// Waiting for work.
    Idle,
    /// The program's own code.
    Program,
    /// Code without a name.
    Unknown,
}

impl CostKind {
    /// All kinds.
    pub const ALL: [CostKind; 19] = [
        CostKind::GarbageCollection,
        CostKind::Allocation,
        CostKind::Locking,
        CostKind::Scheduling,
        CostKind::SystemCall,
        CostKind::PageFault,
        CostKind::Copying,
        CostKind::TextParsing,
        CostKind::Formatting,
        CostKind::Serialization,
        CostKind::Compression,
        CostKind::Crypto,
        CostKind::Regex,
        CostKind::Hashing,
        CostKind::Sorting,
        CostKind::Compilation,
        CostKind::Idle,
        CostKind::Program,
        CostKind::Unknown,
    ];

    /// How many there are.
    pub const COUNT: usize = CostKind::ALL.len();

    /// In words: `garbage collection`.
    pub fn words(self) -> &'static str {
        match self {
            CostKind::GarbageCollection => "garbage collection",
            CostKind::Allocation => "memory allocation",
            CostKind::Locking => "locking and futex",
            CostKind::Scheduling => "scheduling",
            CostKind::SystemCall => "system calls",
            CostKind::PageFault => "page faults",
            CostKind::Copying => "copying",
            CostKind::TextParsing => "text parsing",
            CostKind::Formatting => "text formatting",
            CostKind::Serialization => "serialization",
            CostKind::Compression => "compression",
            CostKind::Crypto => "cryptography",
            CostKind::Regex => "regular expressions",
            CostKind::Hashing => "hashing",
            CostKind::Sorting => "sorting",
            CostKind::Compilation => "compilation",
            CostKind::Idle => "waiting for work",
            CostKind::Program => "the program's own code",
            CostKind::Unknown => "code without a name",
        }
    }

    /// Its place in [`CostKind::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

/// What a function is to the stack that it stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Decides for the whole stack, wherever it stands: a collector's thread, a marking assist, an idle loop.
    Overrides(CostKind),
    /// Decides for all that the runtime does below it, up to the first frame of the program: a mutex, the scheduler.
    Absorbs(CostKind),
    /// What a machine or runtime does. The innermost decides.
    Mechanism(CostKind),
    /// What a library is for. The outermost below the program decides, where there is no mechanism.
    Purpose(CostKind),
    /// Helpers of everybody (`memmove`): decides where nothing else does.
    Weak(CostKind),
    /// The kernel: a system call, or what the outermost of its frames that is more than that says.
    Kernel(CostKind),
    /// Of a library or runtime, and of no kind: looked through.
    Plumbing,
    /// Calls the program's code (a runtime's way into scripts): what stands outside of it is not done for what stands within.
    Enters,
    /// The end of the runtime: what it collects and frees once more then is no garbage of the program's work.
    Ends,
    /// The program's own.
    Own,
    /// Without a name.
    Nameless,
}

impl Role {
    /// The kind that the function has by itself.
    pub(crate) fn kind(self) -> Option<CostKind> {
        match self {
            Role::Overrides(kind)
            | Role::Absorbs(kind)
            | Role::Mechanism(kind)
            | Role::Purpose(kind)
            | Role::Weak(kind)
            | Role::Kernel(kind) => Some(kind),
            Role::Plumbing | Role::Enters | Role::Ends | Role::Own | Role::Nameless => None,
        }
    }
}

/// The kinds of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Verdict {
    /// What the time counts for.
    pub(crate) kind: CostKind,
    /// What the program called for: the kind nearest to its own frame.
    pub(crate) asked_for: CostKind,
    /// Place of the innermost frame of the program, leaf = 0.
    pub(crate) own: Option<usize>,
}

/// Decides a stack, leaf first.
pub(crate) fn decide(roles: impl Iterator<Item = Role>) -> Verdict {
    let mut overrides: Option<CostKind> = None;
    let (mut absorbs, mut kernel, mut mechanism) = (None, None, None);
    let (mut purpose, mut weak, mut asked_for) = (None, None, None);
    let (mut own, mut nameless_leaf, mut entered) = (None, false, false);
    for (depth, role) in roles.enumerate() {
        // What the program itself does then, in a handler of its end, is of its own kind.
        if role == Role::Ends && own.is_none() {
            return Verdict { kind: CostKind::Program, asked_for: CostKind::Program, own };
        }
        if let Role::Overrides(kind) = role {
            // Of two, a collector says more than a thread that is idle.
            overrides = Some(overrides.map_or(kind, |known: CostKind| known.min(kind)));
        }
        if own.is_some() {
            continue;
        }
        entered |= role == Role::Enters;
        if entered && role != Role::Own {
            continue;
        }
        if let Some(kind) = role.kind().filter(|_| !matches!(role, Role::Weak(_))) {
            asked_for = Some(kind);
        }
        match role {
            Role::Own => own = Some(depth),
            Role::Nameless => nameless_leaf |= depth == 0,
            // A lock says more than the scheduler that it ends in.
            Role::Absorbs(kind) => absorbs = Some(absorbs.map_or(kind, |known: CostKind| known.min(kind))),
            Role::Mechanism(kind) => mechanism = mechanism.or(Some(kind)),
            // Futex over schedule, a fault over what clears the page.
            Role::Kernel(CostKind::SystemCall) => kernel = kernel.or(Some(CostKind::SystemCall)),
            Role::Kernel(kind) => kernel = Some(kind),
            Role::Purpose(kind) => purpose = Some(kind),
            Role::Weak(kind) => weak = weak.or(Some(kind)),
            Role::Overrides(_) | Role::Plumbing | Role::Enters | Role::Ends => {}
        }
    }
    let nameless = nameless_leaf.then_some(CostKind::Unknown);
    let kind = overrides.or(absorbs).or(kernel).or(mechanism).or(purpose).or(weak).or(nameless);
    let kind = kind.unwrap_or(CostKind::Program);
    let asked_for = overrides.or(asked_for).unwrap_or(kind);
    Verdict { kind, asked_for, own }
}
