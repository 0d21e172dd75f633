//! What a blob of the code cache begins with.

/// The header of a blob.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) name: u64,
    pub(super) code: u64,
    /// Bytes of its frame with the return address; 0 where it has none that is always the same.
    pub(super) frame_size: u64,
    /// From this address on its frame is complete.
    pub(super) frame_complete: u64,
}
