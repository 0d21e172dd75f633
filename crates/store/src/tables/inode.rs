//! A file by its inode: four columns, in whichever table has them.

use crate::column::{Put, Take};
use whyslow_model::InodeId;

/// Puts the four values.
#[inline]
pub(super) fn put(row: &mut Put<'_>, file: Option<InodeId>) {
    row.u32(file.map(|file| file.major)).u32(file.map(|file| file.minor));
    row.u64(file.map(|file| file.inode)).u32(file.map(|file| file.generation));
}

/// Takes them.
#[inline]
pub(super) fn take(row: &mut Take<'_>) -> Option<InodeId> {
    let (major, minor, inode, generation) = (row.u32(), row.u32(), row.u64(), row.u32());
    Some(InodeId { major: major?, minor: minor?, inode: inode?, generation: generation? })
}
