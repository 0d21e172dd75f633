//! Flags and constants of the address space, by strace's names and in its order. Values:
//! `include/uapi/asm-generic/mman*.h`, `include/uapi/linux/mempolicy.h`.

use super::ValueTable;

#[rustfmt::skip]
pub(crate) const GET_MEMPOLICY: ValueTable = ValueTable { unknown: "MPOL_???", rows: &[
    (0x1, "MPOL_F_NODE"), (0x2, "MPOL_F_ADDR"), (0x4, "MPOL_F_MEMS_ALLOWED"),
] };

#[rustfmt::skip]
pub(crate) const MAP: ValueTable = ValueTable { unknown: "MAP_???", rows: &[
    (0x10, "MAP_FIXED"), (0x20, "MAP_ANONYMOUS"), (0x40, "MAP_32BIT"), (0x4000, "MAP_NORESERVE"),
    (0x8000, "MAP_POPULATE"), (0x10000, "MAP_NONBLOCK"), (0x100, "MAP_GROWSDOWN"), (0x800, "MAP_DENYWRITE"),
    (0x1000, "MAP_EXECUTABLE"), (0x2000, "MAP_LOCKED"), (0x20000, "MAP_STACK"), (0x40000, "MAP_HUGETLB"),
    (0x80000, "MAP_SYNC"), (0x100000, "MAP_FIXED_NOREPLACE"),
] };

#[rustfmt::skip]
pub(crate) const MAP_TYPE: ValueTable = ValueTable { unknown: "MAP_???", rows: &[
    (0, "MAP_FILE"), (1, "MAP_SHARED"), (2, "MAP_PRIVATE"), (3, "MAP_SHARED_VALIDATE"),
] };

#[rustfmt::skip]
pub(crate) const MBIND: ValueTable = ValueTable { unknown: "MPOL_???", rows: &[
    (0x1, "MPOL_MF_STRICT"), (0x2, "MPOL_MF_MOVE"), (0x4, "MPOL_MF_MOVE_ALL"),
] };

#[rustfmt::skip]
pub(crate) const MEMORY_ADVICE: ValueTable = ValueTable { unknown: "MADV_???", rows: &[
    (0, "MADV_NORMAL"), (1, "MADV_RANDOM"), (2, "MADV_SEQUENTIAL"), (3, "MADV_WILLNEED"), (4, "MADV_DONTNEED"),
    (8, "MADV_FREE"), (9, "MADV_REMOVE"), (10, "MADV_DONTFORK"), (11, "MADV_DOFORK"), (12, "MADV_MERGEABLE"),
    (13, "MADV_UNMERGEABLE"), (14, "MADV_HUGEPAGE"), (15, "MADV_NOHUGEPAGE"), (16, "MADV_DONTDUMP"),
    (17, "MADV_DODUMP"), (18, "MADV_WIPEONFORK"), (19, "MADV_KEEPONFORK"), (20, "MADV_COLD"),
    (21, "MADV_PAGEOUT"), (22, "MADV_POPULATE_READ"), (23, "MADV_POPULATE_WRITE"), (24, "MADV_DONTNEED_LOCKED"),
    (25, "MADV_COLLAPSE"), (100, "MADV_HWPOISON"), (101, "MADV_SOFT_OFFLINE"),
] };

#[rustfmt::skip]
pub(crate) const MEMORY_POLICY: ValueTable = ValueTable { unknown: "MPOL_???", rows: &[
    (0, "MPOL_DEFAULT"), (1, "MPOL_PREFERRED"), (2, "MPOL_BIND"), (3, "MPOL_INTERLEAVE"), (4, "MPOL_LOCAL"),
    (5, "MPOL_PREFERRED_MANY"),
] };

#[rustfmt::skip]
pub(crate) const MLOCK2: ValueTable = ValueTable { unknown: "MLOCK_???", rows: &[
    (0x1, "MLOCK_ONFAULT"),
] };

#[rustfmt::skip]
pub(crate) const MLOCKALL: ValueTable = ValueTable { unknown: "MCL_???", rows: &[
    (0x1, "MCL_CURRENT"), (0x2, "MCL_FUTURE"), (0x4, "MCL_ONFAULT"),
] };

#[rustfmt::skip]
pub(crate) const MOVE_PAGES: ValueTable = ValueTable { unknown: "MPOL_???", rows: &[
    (0x2, "MPOL_MF_MOVE"), (0x4, "MPOL_MF_MOVE_ALL"),
] };

#[rustfmt::skip]
pub(crate) const MREMAP: ValueTable = ValueTable { unknown: "MREMAP_???", rows: &[
    (0x1, "MREMAP_MAYMOVE"), (0x2, "MREMAP_FIXED"), (0x4, "MREMAP_DONTUNMAP"),
] };

#[rustfmt::skip]
pub(crate) const MSYNC: ValueTable = ValueTable { unknown: "MS_???", rows: &[
    (0x4, "MS_SYNC"), (0x1, "MS_ASYNC"), (0x2, "MS_INVALIDATE"),
] };

#[rustfmt::skip]
pub(crate) const PKEY_RIGHTS: ValueTable = ValueTable { unknown: "PKEY_???", rows: &[
    (0x1, "PKEY_DISABLE_ACCESS"), (0x2, "PKEY_DISABLE_WRITE"), (0x4, "PKEY_DISABLE_EXECUTE"),
] };

#[rustfmt::skip]
pub(crate) const PROTECTION: ValueTable = ValueTable { unknown: "PROT_???", rows: &[
    (0x0, "PROT_NONE"), (0x1, "PROT_READ"), (0x2, "PROT_WRITE"), (0x4, "PROT_EXEC"), (0x8, "PROT_SEM"),
    (0x1000000, "PROT_GROWSDOWN"), (0x2000000, "PROT_GROWSUP"),
] };
