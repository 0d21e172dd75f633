//! Flags and constants of calls on files and descriptors, by strace's names and in its order. Values:
//! `include/uapi/asm-generic/fcntl.h`, `include/uapi/linux/{fcntl,stat,mount,inotify,fanotify,memfd}.h`.

use super::ValueTable;

#[rustfmt::skip]
pub(crate) const ACCESS: ValueTable = ValueTable { unknown: "?_OK", rows: &[
    (0x0, "F_OK"), (0x4, "R_OK"), (0x2, "W_OK"), (0x1, "X_OK"),
] };

#[rustfmt::skip]
pub(crate) const AT: ValueTable = ValueTable { unknown: "AT_???", rows: &[
    (0x100, "AT_SYMLINK_NOFOLLOW"), (0x200, "AT_REMOVEDIR"), (0x400, "AT_SYMLINK_FOLLOW"),
    (0x800, "AT_NO_AUTOMOUNT"), (0x1000, "AT_EMPTY_PATH"), (0x8000, "AT_RECURSIVE"),
] };

#[rustfmt::skip]
pub(crate) const CLOSE_RANGE: ValueTable = ValueTable { unknown: "CLOSE_RANGE_???", rows: &[
    (0x2, "CLOSE_RANGE_UNSHARE"), (0x4, "CLOSE_RANGE_CLOEXEC"),
] };

#[rustfmt::skip]
pub(crate) const FACCESSAT: ValueTable = ValueTable { unknown: "AT_???", rows: &[
    (0x100, "AT_SYMLINK_NOFOLLOW"), (0x200, "AT_EACCESS"), (0x1000, "AT_EMPTY_PATH"),
] };

#[rustfmt::skip]
pub(crate) const FALLOCATE: ValueTable = ValueTable { unknown: "FALLOC_FL_???", rows: &[
    (0x1, "FALLOC_FL_KEEP_SIZE"), (0x2, "FALLOC_FL_PUNCH_HOLE"), (0x4, "FALLOC_FL_NO_HIDE_STALE"),
    (0x8, "FALLOC_FL_COLLAPSE_RANGE"), (0x10, "FALLOC_FL_ZERO_RANGE"), (0x20, "FALLOC_FL_INSERT_RANGE"),
    (0x40, "FALLOC_FL_UNSHARE_RANGE"),
] };

#[rustfmt::skip]
pub(crate) const FANOTIFY_MARK: ValueTable = ValueTable { unknown: "FAN_MARK_???", rows: &[
    (0x1, "FAN_MARK_ADD"), (0x2, "FAN_MARK_REMOVE"), (0x4, "FAN_MARK_DONT_FOLLOW"), (0x8, "FAN_MARK_ONLYDIR"),
    (0x10, "FAN_MARK_MOUNT"), (0x20, "FAN_MARK_IGNORED_MASK"), (0x40, "FAN_MARK_IGNORED_SURV_MODIFY"),
    (0x80, "FAN_MARK_FLUSH"), (0x100, "FAN_MARK_FILESYSTEM"), (0x200, "FAN_MARK_EVICTABLE"),
    (0x400, "FAN_MARK_IGNORE"),
] };

#[rustfmt::skip]
pub(crate) const FANOTIFY_MASK: ValueTable = ValueTable { unknown: "FAN_???", rows: &[
    (0x1, "FAN_ACCESS"), (0x2, "FAN_MODIFY"), (0x4, "FAN_ATTRIB"), (0x8, "FAN_CLOSE_WRITE"),
    (0x10, "FAN_CLOSE_NOWRITE"), (0x20, "FAN_OPEN"), (0x40, "FAN_MOVED_FROM"), (0x80, "FAN_MOVED_TO"),
    (0x100, "FAN_CREATE"), (0x200, "FAN_DELETE"), (0x400, "FAN_DELETE_SELF"), (0x800, "FAN_MOVE_SELF"),
    (0x1000, "FAN_OPEN_EXEC"), (0x4000, "FAN_Q_OVERFLOW"), (0x8000, "FAN_FS_ERROR"), (0x10000, "FAN_OPEN_PERM"),
    (0x20000, "FAN_ACCESS_PERM"), (0x40000, "FAN_OPEN_EXEC_PERM"), (0x80000, "FAN_DIR_MODIFY"),
    (0x40000000, "FAN_ONDIR"), (0x8000000, "FAN_EVENT_ON_CHILD"), (0x10000000, "FAN_RENAME"),
] };

#[rustfmt::skip]
pub(crate) const FCNTL: ValueTable = ValueTable { unknown: "F_???", rows: &[
    (0, "F_DUPFD"), (1, "F_GETFD"), (2, "F_SETFD"), (3, "F_GETFL"), (4, "F_SETFL"), (5, "F_GETLK"),
    (6, "F_SETLK"), (7, "F_SETLKW"), (8, "F_SETOWN"), (9, "F_GETOWN"), (10, "F_SETSIG"), (11, "F_GETSIG"),
    (12, "F_GETLK64"), (13, "F_SETLK64"), (14, "F_SETLKW64"), (15, "F_SETOWN_EX"), (16, "F_GETOWN_EX"),
    (17, "F_GETOWNER_UIDS"), (36, "F_OFD_GETLK"), (37, "F_OFD_SETLK"), (38, "F_OFD_SETLKW"),
    (1024, "F_SETLEASE"), (1025, "F_GETLEASE"), (1026, "F_NOTIFY"), (1029, "F_CANCELLK"),
    (1030, "F_DUPFD_CLOEXEC"), (1031, "F_SETPIPE_SZ"), (1032, "F_GETPIPE_SZ"), (1033, "F_ADD_SEALS"),
    (1034, "F_GET_SEALS"),
] };

#[rustfmt::skip]
pub(crate) const FD_FLAGS: ValueTable = ValueTable { unknown: "FD_???", rows: &[
    (0x1, "FD_CLOEXEC"),
] };

#[rustfmt::skip]
pub(crate) const FILE_ADVICE: ValueTable = ValueTable { unknown: "POSIX_FADV_???", rows: &[
    (0, "POSIX_FADV_NORMAL"), (1, "POSIX_FADV_RANDOM"), (2, "POSIX_FADV_SEQUENTIAL"),
    (3, "POSIX_FADV_WILLNEED"), (4, "POSIX_FADV_DONTNEED"), (5, "POSIX_FADV_NOREUSE"),
] };

#[rustfmt::skip]
pub(crate) const FILE_TYPE: ValueTable = ValueTable { unknown: "S_???", rows: &[
    (0xc000, "S_IFSOCK"), (0xa000, "S_IFLNK"), (0x8000, "S_IFREG"), (0x6000, "S_IFBLK"), (0x4000, "S_IFDIR"),
    (0x2000, "S_IFCHR"), (0x1000, "S_IFIFO"),
] };

#[rustfmt::skip]
pub(crate) const FLOCK: ValueTable = ValueTable { unknown: "LOCK_???", rows: &[
    (0x1, "LOCK_SH"), (0x2, "LOCK_EX"), (0x4, "LOCK_NB"), (0x8, "LOCK_UN"), (0x20, "LOCK_MAND"),
    (0x40, "LOCK_READ"), (0x80, "LOCK_WRITE"),
] };

#[rustfmt::skip]
pub(crate) const FSCONFIG: ValueTable = ValueTable { unknown: "FSCONFIG_???", rows: &[
    (0, "FSCONFIG_SET_FLAG"), (1, "FSCONFIG_SET_STRING"), (2, "FSCONFIG_SET_BINARY"), (3, "FSCONFIG_SET_PATH"),
    (4, "FSCONFIG_SET_PATH_EMPTY"), (5, "FSCONFIG_SET_FD"), (6, "FSCONFIG_CMD_CREATE"),
    (7, "FSCONFIG_CMD_RECONFIGURE"),
] };

#[rustfmt::skip]
pub(crate) const FSMOUNT: ValueTable = ValueTable { unknown: "FSMOUNT_???", rows: &[
    (0x1, "FSMOUNT_CLOEXEC"),
] };

#[rustfmt::skip]
pub(crate) const FSOPEN: ValueTable = ValueTable { unknown: "FSOPEN_???", rows: &[
    (0x1, "FSOPEN_CLOEXEC"),
] };

#[rustfmt::skip]
pub(crate) const FSPICK: ValueTable = ValueTable { unknown: "FSPICK_???", rows: &[
    (0x1, "FSPICK_CLOEXEC"), (0x2, "FSPICK_SYMLINK_NOFOLLOW"), (0x4, "FSPICK_NO_AUTOMOUNT"),
    (0x8, "FSPICK_EMPTY_PATH"),
] };

#[rustfmt::skip]
pub(crate) const FS_FLAGS: ValueTable = ValueTable { unknown: "ST_???", rows: &[
    (0x20, "ST_VALID"), (0x1, "ST_RDONLY"), (0x2, "ST_NOSUID"), (0x4, "ST_NODEV"), (0x8, "ST_NOEXEC"),
    (0x10, "ST_SYNCHRONOUS"), (0x40, "ST_MANDLOCK"), (0x400, "ST_NOATIME"), (0x800, "ST_NODIRATIME"),
    (0x1000, "ST_RELATIME"), (0x2000, "ST_NOSYMFOLLOW"),
] };

#[rustfmt::skip]
pub(crate) const FS_TYPE: ValueTable = ValueTable { unknown: "FS_???", rows: &[
    (0xef53, "EXT2_SUPER_MAGIC"), (0x1021994, "TMPFS_MAGIC"), (0x9fa0, "PROC_SUPER_MAGIC"),
    (0x62656572, "SYSFS_MAGIC"), (0x1cd1, "DEVPTS_SUPER_MAGIC"), (0x27e0eb, "CGROUP_SUPER_MAGIC"),
    (0x63677270, "CGROUP2_SUPER_MAGIC"), (0x9123683e, "BTRFS_SUPER_MAGIC"), (0x58465342, "XFS_SUPER_MAGIC"),
    (0x794c7630, "OVERLAYFS_SUPER_MAGIC"), (0x6969, "NFS_SUPER_MAGIC"), (0x65735546, "FUSE_SUPER_MAGIC"),
    (0xcafe4a11, "BPF_FS_MAGIC"), (0x73717368, "SQUASHFS_MAGIC"), (0x74726163, "TRACEFS_MAGIC"),
    (0x64626720, "DEBUGFS_MAGIC"), (0x958458f6, "HUGETLBFS_MAGIC"), (0xf97cff8c, "SELINUX_MAGIC"),
    (0x4d44, "MSDOS_SUPER_MAGIC"), (0x9660, "ISOFS_SUPER_MAGIC"), (0x50495045, "PIPEFS_MAGIC"),
    (0x534f434b, "SOCKFS_MAGIC"), (0x858458f6, "RAMFS_MAGIC"), (0xff534d42, "CIFS_MAGIC_NUMBER"),
    (0x2fc12fc1, "ZFS_SUPER_MAGIC"), (0xf2f52010, "F2FS_SUPER_MAGIC"), (0x42494e4d, "BINFMTFS_MAGIC"),
    (0x19800202, "MQUEUE_MAGIC"), (0x6e736673, "NSFS_MAGIC"), (0x73636673, "SECURITYFS_MAGIC"),
    (0xde5e81e4, "EFIVARFS_MAGIC"), (0x6165676c, "PSTOREFS_MAGIC"),
] };

#[rustfmt::skip]
pub(crate) const INOTIFY_INIT: ValueTable = ValueTable { unknown: "IN_???", rows: &[
    (0x800, "IN_NONBLOCK"), (0x80000, "IN_CLOEXEC"),
] };

#[rustfmt::skip]
pub(crate) const INOTIFY_MASK: ValueTable = ValueTable { unknown: "IN_???", rows: &[
    (0x1, "IN_ACCESS"), (0x2, "IN_MODIFY"), (0x4, "IN_ATTRIB"), (0x8, "IN_CLOSE_WRITE"),
    (0x10, "IN_CLOSE_NOWRITE"), (0x20, "IN_OPEN"), (0x40, "IN_MOVED_FROM"), (0x80, "IN_MOVED_TO"),
    (0x100, "IN_CREATE"), (0x200, "IN_DELETE"), (0x400, "IN_DELETE_SELF"), (0x800, "IN_MOVE_SELF"),
    (0x2000, "IN_UNMOUNT"), (0x4000, "IN_Q_OVERFLOW"), (0x8000, "IN_IGNORED"), (0x1000000, "IN_ONLYDIR"),
    (0x2000000, "IN_DONT_FOLLOW"), (0x4000000, "IN_EXCL_UNLINK"), (0x10000000, "IN_MASK_CREATE"),
    (0x20000000, "IN_MASK_ADD"), (0x40000000, "IN_ISDIR"), (0x80000000, "IN_ONESHOT"),
] };

#[rustfmt::skip]
pub(crate) const IOCTL: ValueTable = ValueTable { unknown: "IOCTL", rows: &[
    (0x5401, "TCGETS"), (0x5402, "SNDCTL_TMR_START or TCSETS"), (0x5403, "SNDCTL_TMR_STOP or TCSETSW"),
    (0x5404, "SNDCTL_TMR_CONTINUE or TCSETSF"), (0x5405, "TCGETA"), (0x5409, "TCSBRK"), (0x540b, "TCFLSH"),
    (0x540e, "TIOCSCTTY"), (0x540f, "TIOCGPGRP"), (0x5410, "TIOCSPGRP"), (0x5411, "TIOCOUTQ"),
    (0x5413, "TIOCGWINSZ"), (0x5414, "TIOCSWINSZ"), (0x541b, "FIONREAD"), (0x5421, "FIONBIO"),
    (0x5450, "FIONCLEX"), (0x5451, "FIOCLEX"), (0x5452, "FIOASYNC"), (0x5422, "TIOCNOTTY"),
    (0x80045430, "TIOCGPTN"), (0x40045431, "TIOCSPTLCK"), (0x5441, "TIOCGPTPEER"), (0x8901, "FIOSETOWN"),
    (0x8903, "FIOGETOWN"), (0x8905, "SIOCATMARK"), (0x8906, "SIOCGSTAMP_OLD"), (0x8910, "SIOCGIFNAME"),
    (0x8912, "SIOCGIFCONF"), (0x8913, "SIOCGIFFLAGS"), (0x8915, "SIOCGIFADDR"), (0x8927, "SIOCGIFHWADDR"),
    (0x8933, "SIOCGIFINDEX"), (0x8946, "SIOCETHTOOL"), (0x4b3a, "KDSETMODE"), (0x1260, "BLKGETSIZE"),
    (0x1268, "BLKSSZGET"), (0x80081272, "BLKGETSIZE64"), (0x80086601, "FS_IOC_GETFLAGS"),
    (0x40086602, "FS_IOC_SETFLAGS"), (0xc020660b, "FS_IOC_FIEMAP"), (0x40049409, "BTRFS_IOC_CLONE or FICLONE"),
    (0x4020940d, "BTRFS_IOC_CLONE_RANGE or FICLONERANGE"), (0x2400, "PERF_EVENT_IOC_ENABLE"),
    (0x2401, "PERF_EVENT_IOC_DISABLE"), (0x5331, "CDROM_GET_CAPABILITY"), (0x541d, "TIOCCONS"),
    (0x540c, "TIOCEXCL"), (0x540d, "TIOCNXCL"), (0x5416, "TIOCMBIS"), (0x5420, "TIOCPKT"), (0x5423, "TIOCSETD"),
    (0x5424, "TIOCGETD"), (0x5425, "TCSBRKP"), (0x5428, "TIOCCBRK"), (0x5429, "TIOCGSID"),
    (0x8904, "SIOCGPGRP"), (0x8902, "SIOCSPGRP"), (0x894c, "SIOCGSKNS"), (0x8948, "SIOCGMIIREG"),
    (0x400454ca, "TUNSETIFF"), (0xae01, "KVM_CREATE_VM"), (0x8b01, "SIOCGIWNAME"),
    (0x641f, "DRM_IOCTL_DROP_MASTER"),
] };

#[rustfmt::skip]
pub(crate) const LOCK_TYPE: ValueTable = ValueTable { unknown: "F_???", rows: &[
    (0, "F_RDLCK"), (1, "F_WRLCK"), (2, "F_UNLCK"),
] };

#[rustfmt::skip]
pub(crate) const MEMFD: ValueTable = ValueTable { unknown: "MFD_???", rows: &[
    (0x1, "MFD_CLOEXEC"), (0x2, "MFD_ALLOW_SEALING"), (0x4, "MFD_HUGETLB"),
] };

#[rustfmt::skip]
pub(crate) const MODE_BITS: ValueTable = ValueTable { unknown: "S_???", rows: &[
    (0x800, "S_ISUID"), (0x400, "S_ISGID"), (0x200, "S_ISVTX"),
] };

#[rustfmt::skip]
pub(crate) const MOUNT: ValueTable = ValueTable { unknown: "MS_???", rows: &[
    (0x1, "MS_RDONLY"), (0x2, "MS_NOSUID"), (0x4, "MS_NODEV"), (0x8, "MS_NOEXEC"), (0x10, "MS_SYNCHRONOUS"),
    (0x20, "MS_REMOUNT"), (0x40, "MS_MANDLOCK"), (0x80, "MS_DIRSYNC"), (0x100, "MS_NOSYMFOLLOW"),
    (0x400, "MS_NOATIME"), (0x800, "MS_NODIRATIME"), (0x1000, "MS_BIND"), (0x2000, "MS_MOVE"),
    (0x4000, "MS_REC"), (0x8000, "MS_SILENT"), (0x10000, "MS_POSIXACL"), (0x20000, "MS_UNBINDABLE"),
    (0x40000, "MS_PRIVATE"), (0x80000, "MS_SLAVE"), (0x100000, "MS_SHARED"), (0x200000, "MS_RELATIME"),
    (0x400000, "MS_KERNMOUNT"), (0x800000, "MS_I_VERSION"), (0x1000000, "MS_STRICTATIME"),
    (0x2000000, "MS_LAZYTIME"), (0x4000000, "MS_SUBMOUNT"), (0x8000000, "MS_NOREMOTELOCK"),
    (0x10000000, "MS_NOSEC"), (0x20000000, "MS_BORN"), (0x40000000, "MS_ACTIVE"), (0x80000000, "MS_NOUSER"),
] };

#[rustfmt::skip]
pub(crate) const MOUNT_ATTR: ValueTable = ValueTable { unknown: "MOUNT_ATTR_???", rows: &[
    (0x1, "MOUNT_ATTR_RDONLY"), (0x2, "MOUNT_ATTR_NOSUID"), (0x4, "MOUNT_ATTR_NODEV"),
    (0x8, "MOUNT_ATTR_NOEXEC"), (0x10, "MOUNT_ATTR_NOATIME"), (0x20, "MOUNT_ATTR_STRICTATIME"),
    (0x80, "MOUNT_ATTR_NODIRATIME"),
] };

#[rustfmt::skip]
pub(crate) const MOVE_MOUNT: ValueTable = ValueTable { unknown: "MOVE_MOUNT_???", rows: &[
    (0x1, "MOVE_MOUNT_F_SYMLINKS"), (0x2, "MOVE_MOUNT_F_AUTOMOUNTS"), (0x4, "MOVE_MOUNT_F_EMPTY_PATH"),
    (0x10, "MOVE_MOUNT_T_SYMLINKS"), (0x20, "MOVE_MOUNT_T_AUTOMOUNTS"), (0x40, "MOVE_MOUNT_T_EMPTY_PATH"),
    (0x100, "MOVE_MOUNT_SET_GROUP"),
] };

#[rustfmt::skip]
pub(crate) const OPEN: ValueTable = ValueTable { unknown: "O_???", rows: &[
    (0x40, "O_CREAT"), (0x80, "O_EXCL"), (0x100, "O_NOCTTY"), (0x200, "O_TRUNC"), (0x400, "O_APPEND"),
    (0x800, "O_NONBLOCK"), (0x101000, "O_SYNC"), (0x1000, "O_DSYNC"), (0x100000, "__O_SYNC"),
    (0x4000, "O_DIRECT"), (0x8000, "O_LARGEFILE"), (0x20000, "O_NOFOLLOW"), (0x40000, "O_NOATIME"),
    (0x80000, "O_CLOEXEC"), (0x200000, "O_PATH"), (0x410000, "O_TMPFILE"), (0x400000, "__O_TMPFILE"),
    (0x10000, "O_DIRECTORY"), (0x2000, "FASYNC"),
] };

#[rustfmt::skip]
pub(crate) const OPEN_MODE: ValueTable = ValueTable { unknown: "O_???", rows: &[
    (0, "O_RDONLY"), (1, "O_WRONLY"), (2, "O_RDWR"), (3, "O_ACCMODE"),
] };

#[rustfmt::skip]
pub(crate) const OPEN_TREE: ValueTable = ValueTable { unknown: "OPEN_TREE_???", rows: &[
    (0x1, "OPEN_TREE_CLONE"), (0x80000, "OPEN_TREE_CLOEXEC"), (0x100, "AT_SYMLINK_NOFOLLOW"),
    (0x200, "AT_REMOVEDIR"), (0x400, "AT_SYMLINK_FOLLOW"), (0x800, "AT_NO_AUTOMOUNT"),
    (0x1000, "AT_EMPTY_PATH"), (0x8000, "AT_RECURSIVE"),
] };

#[rustfmt::skip]
pub(crate) const RENAME: ValueTable = ValueTable { unknown: "RENAME_??", rows: &[
    (0x1, "RENAME_NOREPLACE"), (0x2, "RENAME_EXCHANGE"), (0x4, "RENAME_WHITEOUT"),
] };

#[rustfmt::skip]
pub(crate) const RESOLVE: ValueTable = ValueTable { unknown: "RESOLVE_???", rows: &[
    (0x1, "RESOLVE_NO_XDEV"), (0x2, "RESOLVE_NO_MAGICLINKS"), (0x4, "RESOLVE_NO_SYMLINKS"),
    (0x8, "RESOLVE_BENEATH"), (0x10, "RESOLVE_IN_ROOT"), (0x20, "RESOLVE_CACHED"),
] };

#[rustfmt::skip]
pub(crate) const RW: ValueTable = ValueTable { unknown: "RWF_???", rows: &[
    (0x1, "RWF_HIPRI"), (0x2, "RWF_DSYNC"), (0x4, "RWF_SYNC"), (0x8, "RWF_NOWAIT"), (0x10, "RWF_APPEND"),
] };

#[rustfmt::skip]
pub(crate) const SEALS: ValueTable = ValueTable { unknown: "F_SEAL_???", rows: &[
    (0x1, "F_SEAL_SEAL"), (0x2, "F_SEAL_SHRINK"), (0x4, "F_SEAL_GROW"), (0x8, "F_SEAL_WRITE"),
    (0x10, "F_SEAL_FUTURE_WRITE"),
] };

#[rustfmt::skip]
pub(crate) const SPLICE: ValueTable = ValueTable { unknown: "SPLICE_F_???", rows: &[
    (0x1, "SPLICE_F_MOVE"), (0x2, "SPLICE_F_NONBLOCK"), (0x4, "SPLICE_F_MORE"), (0x8, "SPLICE_F_GIFT"),
] };

#[rustfmt::skip]
pub(crate) const STATX_ATTR: ValueTable = ValueTable { unknown: "STATX_ATTR_???", rows: &[
    (0x4, "STATX_ATTR_COMPRESSED"), (0x10, "STATX_ATTR_IMMUTABLE"), (0x20, "STATX_ATTR_APPEND"),
    (0x40, "STATX_ATTR_NODUMP"), (0x800, "STATX_ATTR_ENCRYPTED"), (0x1000, "STATX_ATTR_AUTOMOUNT"),
    (0x2000, "STATX_ATTR_MOUNT_ROOT"), (0x100000, "STATX_ATTR_VERITY"), (0x200000, "STATX_ATTR_DAX"),
] };

#[rustfmt::skip]
pub(crate) const STATX_MASK: ValueTable = ValueTable { unknown: "STATX_???", rows: &[
    (0xfff, "STATX_ALL"), (0x7ff, "STATX_BASIC_STATS"), (0x1000, "STATX_MNT_ID"), (0x2000, "STATX_DIOALIGN"),
    (0x1, "STATX_TYPE"), (0x2, "STATX_MODE"), (0x4, "STATX_NLINK"), (0x8, "STATX_UID"), (0x10, "STATX_GID"),
    (0x20, "STATX_ATIME"), (0x40, "STATX_MTIME"), (0x80, "STATX_CTIME"), (0x100, "STATX_INO"),
    (0x200, "STATX_SIZE"), (0x400, "STATX_BLOCKS"), (0x800, "STATX_BTIME"),
] };

#[rustfmt::skip]
pub(crate) const STATX_SYNC: ValueTable = ValueTable { unknown: "AT_STATX_???", rows: &[
    (0, "AT_STATX_SYNC_AS_STAT"), (8192, "AT_STATX_FORCE_SYNC"), (16384, "AT_STATX_DONT_SYNC"),
] };

#[rustfmt::skip]
pub(crate) const SWAP: ValueTable = ValueTable { unknown: "SWAP_FLAG_???", rows: &[
    (0x8000, "SWAP_FLAG_PREFER"), (0x10000, "SWAP_FLAG_DISCARD"), (0x20000, "SWAP_FLAG_DISCARD_ONCE"),
    (0x40000, "SWAP_FLAG_DISCARD_PAGES"),
] };

#[rustfmt::skip]
pub(crate) const SYNC_RANGE: ValueTable = ValueTable { unknown: "SYNC_FILE_RANGE_???", rows: &[
    (0x1, "SYNC_FILE_RANGE_WAIT_BEFORE"), (0x2, "SYNC_FILE_RANGE_WRITE"), (0x4, "SYNC_FILE_RANGE_WAIT_AFTER"),
] };

#[rustfmt::skip]
pub(crate) const UMOUNT: ValueTable = ValueTable { unknown: "MNT_???", rows: &[
    (0x1, "MNT_FORCE"), (0x2, "MNT_DETACH"), (0x4, "MNT_EXPIRE"), (0x8, "UMOUNT_NOFOLLOW"),
] };

#[rustfmt::skip]
pub(crate) const UNLINK: ValueTable = ValueTable { unknown: "AT_???", rows: &[
    (0x100, "AT_SYMLINK_NOFOLLOW"), (0x200, "AT_REMOVEDIR"), (0x400, "AT_SYMLINK_FOLLOW"),
    (0x800, "AT_NO_AUTOMOUNT"), (0x1000, "AT_EMPTY_PATH"), (0x8000, "AT_RECURSIVE"),
] };

#[rustfmt::skip]
pub(crate) const WHENCE: ValueTable = ValueTable { unknown: "SEEK_???", rows: &[
    (0, "SEEK_SET"), (1, "SEEK_CUR"), (2, "SEEK_END"), (3, "SEEK_DATA"), (4, "SEEK_HOLE"),
] };

#[rustfmt::skip]
pub(crate) const XATTR: ValueTable = ValueTable { unknown: "XATTR_???", rows: &[
    (0x1, "XATTR_CREATE"), (0x2, "XATTR_REPLACE"),
] };
