//! Numbers of what the world keeps: threads, processes, open file descriptions, files.

/// A thread's place in [`Threads`](super::threads::Threads).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

/// A process's place in [`Threads`](super::threads::Threads).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ProcessId(pub u32);

impl ProcessId {
    /// No process: what a log tells of may be of any.
    pub const NONE: ProcessId = ProcessId(u32::MAX);
}

/// A life's place in [`Fds`](super::fds::Fds), with its generation: a place is used again after the life ended and was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LifeId {
    pub(super) at: u32,
    pub(super) generation: u32,
}

impl LifeId {
    /// No life.
    pub const NONE: LifeId = LifeId { at: u32::MAX, generation: 0 };

    /// Its place: small, and used again by other generations.
    pub(crate) fn place(self) -> usize {
        self.at as usize
    }
}

/// A file's place in [`Files`](super::files::Files).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FileId(pub u32);

/// The number of a thing that time is spent on, in [`Objects`](crate::folds::account::Objects).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectId(pub(crate) u32);

impl ObjectId {
    /// Nothing that has a name.
    pub const NONE: ObjectId = ObjectId(0);
}
