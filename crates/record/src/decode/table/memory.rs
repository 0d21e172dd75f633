//! Calls that change the address space.

use super::{Row, row};
use crate::decode::arg::Arg::*;
use crate::decode::constants::*;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(9, "mmap", &[Pointer, Unsigned, Flags(&PROTECTION), MapFlags, Fd, Hex]),
    row(10, "mprotect", &[Pointer, Unsigned, Flags(&PROTECTION)]),
    row(11, "munmap", &[Pointer, Unsigned]),
    row(12, "brk", &[Pointer]),
    row(25, "mremap", &[Pointer, Unsigned, Unsigned, Flags(&MREMAP), MremapTarget]),
    row(26, "msync", &[Pointer, Unsigned, Flags(&MSYNC)]),
    row(27, "mincore", &[Pointer, Unsigned, Pointer]),
    row(28, "madvise", &[Pointer, Unsigned, Constant(&MEMORY_ADVICE)]),
    row(149, "mlock", &[Pointer, Unsigned]),
    row(150, "munlock", &[Pointer, Unsigned]),
    row(151, "mlockall", &[Flags(&MLOCKALL)]),
    row(152, "munlockall", &[]),
    row(216, "remap_file_pages", &[Pointer, Unsigned, Flags(&PROTECTION), Unsigned, MapFlags]),
    row(237, "mbind", &[Pointer, Unsigned, Constant(&MEMORY_POLICY), Pointer, Unsigned, Flags(&MBIND)]),
    row(238, "set_mempolicy", &[Constant(&MEMORY_POLICY), Pointer, Unsigned]),
    row(239, "get_mempolicy", &[Pointer, Pointer, Unsigned, Pointer, Flags(&GET_MEMPOLICY)]),
    row(256, "migrate_pages", &[Signed32, Unsigned, Pointer, Pointer]),
    row(279, "move_pages", &[Signed32, Unsigned, Pointer, Pointer, Pointer, Flags(&MOVE_PAGES)]),
    row(325, "mlock2", &[Pointer, Unsigned, Flags(&MLOCK2)]),
    row(329, "pkey_mprotect", &[Pointer, Unsigned, Flags(&PROTECTION), Signed32]),
    row(330, "pkey_alloc", &[Hex, Flags(&PKEY_RIGHTS)]),
    row(331, "pkey_free", &[Signed32]),
    row(440, "process_madvise", &[Fd, Pointer, Unsigned, Constant(&MEMORY_ADVICE), Hex]),
    row(448, "process_mrelease", &[Fd, Hex]),
    row(450, "set_mempolicy_home_node", &[Pointer, Unsigned, Unsigned, Hex]),
    row(453, "map_shadow_stack", &[Pointer, Unsigned, Hex]),
    row(462, "mseal", &[Pointer, Unsigned, Hex]),
];
