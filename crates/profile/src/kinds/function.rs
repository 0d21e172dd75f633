//! A function of a profile, as its source names it.

/// A function, as far as a source tells it; what is not known is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionRef<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its source file.
    pub file: &'a str,
    /// The program or library that it is in; `[kernel.kallsyms]` for the kernel.
    pub module: &'a str,
    /// It is no function, but the name of a thread that perf's stacks were folded with.
    pub is_thread: bool,
}
