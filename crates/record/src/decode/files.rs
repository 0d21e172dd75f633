//! Files: flags of opening, modes, `stat`, `fcntl`, `ioctl`; mappings.

use super::constants::{self as c, ValueTable};
use super::data;
use super::printer::{Printer, u16_at, u32_at, u64_at};
use super::put::Put;

/// `O_RDWR|O_CREAT|O_CLOEXEC`
pub(super) fn open_flags(flags: u32, out: &mut Vec<u8>) {
    c::OPEN_MODE.constant((flags & 3) as u64, out);
    and_flags(&c::OPEN, (flags & !3) as u64, out);
}

/// Flags behind what stands there already.
fn and_flags(table: &ValueTable, flags: u64, out: &mut Vec<u8>) {
    if flags == 0 {
        return;
    }
    out.put("|");
    let start = out.len();
    let rest = table.known_flags(flags, out);
    if rest != 0 {
        out.put(if out.len() > start { "|" } else { "" });
        out.hex(rest);
    }
}

/// The access bits of `open`, `openat` and `mq_open`: looked at only where a file may be created.
pub(super) fn open_mode(p: &mut Printer<'_>, n: usize) {
    let flags = p.call.args[n - 1] as u32;
    // O_CREAT, __O_TMPFILE
    if flags & 0x40_0040 != 0 {
        p.out.octal(p.call.args[n] as u16 as u64);
    }
}

/// Flags with access bits: `IPC_CREAT|0600`.
pub(super) fn flags_and_mode(table: &ValueTable, value: u32, out: &mut Vec<u8>) {
    if value & !0o777 != 0 {
        table.flags((value & !0o777) as u64, out);
        out.put("|");
    }
    out.octal((value & 0o777) as u64);
}

/// `S_IFREG|0644`
pub(super) fn mode(mode: u32, out: &mut Vec<u8>) {
    let (kind, bits) = (mode & 0o170000, mode & 0o7000);
    if let Some(name) = c::FILE_TYPE.name(kind as u64) {
        out.put(name);
        out.put("|");
    } else if kind != 0 {
        out.octal(kind as u64);
        out.put("|");
    }
    if bits != 0 {
        c::MODE_BITS.known_flags(bits as u64, out);
        out.put("|");
    }
    out.octal((mode & 0o777) as u64);
}

/// `makedev(0x1, 0x3)`: the kernel's encoding (`include/linux/kdev_t.h`, `new_encode_dev`), as user space sees it.
fn device(device: u64, out: &mut Vec<u8>) {
    let major = device >> 8 & 0xfff | device >> 32 & 0xffff_f000;
    let minor = device & 0xff | device >> 12 & 0xffff_ff00;
    out.put("makedev(");
    out.hex(major);
    out.put(", ");
    out.hex(minor);
    out.put(")");
}

/// True for a character or block device.
fn is_device(mode: u32) -> bool {
    matches!(mode & 0o170000, 0o20000 | 0o60000)
}

/// The device of `mknod`: looked at only where the file is one.
pub(super) fn device_argument(p: &mut Printer<'_>, n: usize) {
    if p.row.name == "ustat" || n > 0 && is_device(p.call.args[n - 1] as u32) {
        device(p.call.args[n] as u32 as u64, p.out);
    }
}

/// The first 56 bytes of `struct stat` (`arch/x86/include/uapi/asm/stat.h`).
pub(super) fn stat(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let file_mode = u32_at(bytes, 24)?;
    out.put("{st_mode=");
    mode(file_mode, out);
    if is_device(file_mode) {
        out.put(", st_rdev=");
        device(u64_at(bytes, 40)?, out);
    } else {
        out.put(", st_size=");
        out.signed(u64_at(bytes, 48)? as i64);
    }
    out.put(", ...}");
    Some(())
}

/// The first 48 bytes of `struct statx` (`include/uapi/linux/stat.h`).
pub(super) fn statx(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.put("{stx_mask=");
    c::STATX_MASK.flags(u32_at(bytes, 0)? as u64, out);
    out.put(", stx_attributes=");
    c::STATX_ATTR.flags(u64_at(bytes, 8)?, out);
    out.put(", stx_mode=");
    mode(u16_at(bytes, 28)? as u32, out);
    out.put(", stx_size=");
    out.unsigned(u64_at(bytes, 40)?);
    out.put(", ...}");
    Some(())
}

/// `AT_STATX_SYNC_AS_STAT|AT_EMPTY_PATH`
pub(super) fn statx_flags(flags: u32, out: &mut Vec<u8>) {
    const SYNC: u32 = 0x6000;
    c::STATX_SYNC.constant((flags & SYNC) as u64, out);
    and_flags(&c::AT, (flags & !SYNC) as u64, out);
}

/// `struct statfs` up to its flags.
pub(super) fn statfs(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.put("{f_type=");
    c::FS_TYPE.constant(u64_at(bytes, 0)?, out);
    let counts = ["f_bsize", "f_blocks", "f_bfree", "f_bavail", "f_files", "f_ffree"];
    for (k, name) in counts.iter().enumerate() {
        field(name, u64_at(bytes, 8 + 8 * k)?, out);
    }
    out.put(", f_fsid={val=[");
    out.hex(u32_at(bytes, 56)? as u64);
    out.put(", ");
    out.hex(u32_at(bytes, 60)? as u64);
    out.put("]}");
    field("f_namelen", u64_at(bytes, 64)?, out);
    field("f_frsize", u64_at(bytes, 72)?, out);
    out.put(", f_flags=");
    c::FS_FLAGS.flags(u64_at(bytes, 80)?, out);
    out.put("}");
    Some(())
}

/// `, name=12`
pub(super) fn field(name: &str, value: u64, out: &mut Vec<u8>) {
    out.put(", ");
    out.put(name);
    out.put("=");
    out.unsigned(value);
}

/// `struct open_how`
pub(super) fn open_how(p: &mut Printer<'_>, n: usize) {
    let how = p.first(n).and_then(|bytes| Some((u64_at(bytes, 0)?, u64_at(bytes, 8)?, u64_at(bytes, 16)?)));
    let Some((flags, access, resolve)) = how else {
        return p.address(n);
    };
    p.out.put("{flags=");
    open_flags(flags as u32, p.out);
    if flags & 0x40_0040 != 0 || access != 0 {
        p.out.put(", mode=");
        p.out.octal(access);
    }
    p.out.put(", resolve=");
    c::RESOLVE.flags(resolve, p.out);
    p.out.put("}");
}

/// `MAP_PRIVATE|MAP_ANONYMOUS`
pub(super) fn map_flags(flags: u32, out: &mut Vec<u8>) {
    // include/uapi/asm-generic/mman-common.h: MAP_TYPE, MAP_HUGETLB, MAP_HUGE_SHIFT
    const TYPE: u32 = 15;
    const HUGETLB: u32 = 0x4_0000;
    const HUGE_SHIFT: u32 = 26;
    c::MAP_TYPE.constant((flags & TYPE) as u64, out);
    let huge = if flags & HUGETLB != 0 { flags >> HUGE_SHIFT } else { 0 };
    and_flags(&c::MAP, (flags & !TYPE & !(huge << HUGE_SHIFT)) as u64, out);
    if huge != 0 {
        out.put("|");
        out.unsigned(huge as u64);
        out.put("<<MAP_HUGE_SHIFT");
    }
}

/// The argument of `fcntl`, whose meaning the command decides.
pub(super) fn fcntl_argument(p: &mut Printer<'_>, n: usize) {
    let (command, value) = (p.call.args[n - 1] as i32, p.call.args[n]);
    match command {
        libc::F_GETFD | libc::F_GETFL | libc::F_GETOWN | libc::F_GETLEASE | libc::F_GETPIPE_SZ => {}
        libc::F_GET_SEALS | F_GETSIG => {}
        libc::F_SETFD => c::FD_FLAGS.flags(value as u32 as u64, p.out),
        libc::F_SETFL => open_flags(value as u32, p.out),
        libc::F_ADD_SEALS => c::SEALS.flags(value as u32 as u64, p.out),
        libc::F_SETLEASE => c::LOCK_TYPE.constant(value as u32 as u64, p.out),
        F_SETSIG => super::signals::signal(value as u32, p.out),
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC | libc::F_SETOWN | libc::F_SETPIPE_SZ => {
            p.out.signed(value as i32 as i64);
        }
        libc::F_SETLK | libc::F_SETLKW | libc::F_OFD_SETLK | libc::F_OFD_SETLKW => p.structure(n, lock),
        libc::F_GETLK | libc::F_OFD_GETLK if p.succeeded() => p.structure(n, lock_found),
        libc::F_GETLK | libc::F_OFD_GETLK => p.address(n),
        _ => p.out.hex(value),
    }
}

// include/uapi/asm-generic/fcntl.h; the C library's crate does not have them for all targets.
const F_SETSIG: i32 = 10;
const F_GETSIG: i32 = 11;

/// `struct flock`
fn lock(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.put("{l_type=");
    c::LOCK_TYPE.constant(u16_at(bytes, 0)? as u64, out);
    out.put(", l_whence=");
    c::WHENCE.constant(u16_at(bytes, 2)? as u64, out);
    out.put(", l_start=");
    out.signed(u64_at(bytes, 8)? as i64);
    out.put(", l_len=");
    out.signed(u64_at(bytes, 16)? as i64);
    out.put("}");
    Some(())
}

/// `struct flock` with who holds it.
fn lock_found(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    lock(bytes, out)?;
    out.truncate(out.len() - 1);
    out.put(", l_pid=");
    out.signed(u32_at(bytes, 24)? as i32 as i64);
    out.put("}");
    Some(())
}

/// `FIONREAD`, or the parts of a command that has no name here.
pub(super) fn ioctl_command(command: u32, out: &mut Vec<u8>) {
    if let Some(name) = c::IOCTL.name(command as u64) {
        return out.put(name);
    }
    // include/uapi/asm-generic/ioctl.h: direction, size, type, number
    let direction = ["_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE"];
    out.put("_IOC(");
    out.put(direction[(command >> 30) as usize]);
    for part in [command >> 8 & 0xff, command & 0xff, command >> 16 & 0x3fff] {
        out.put(", ");
        out.hex(part as u64);
    }
    out.put(")");
}

/// The argument of `ioctl`, for the commands on terminals, sockets and descriptors that programs use.
pub(super) fn ioctl_argument(p: &mut Printer<'_>, n: usize) {
    let (command, value) = (p.call.args[n - 1] as u32, p.call.args[n]);
    let number: fn(&[u8], &mut Vec<u8>) -> Option<()> =
        |bytes, out| data::number_in_brackets(bytes.get(..4)?, out);
    match c::IOCTL.name(command as u64).unwrap_or("") {
        "FIOCLEX" | "FIONCLEX" | "TIOCNOTTY" | "TIOCEXCL" | "TIOCNXCL" | "TIOCCONS" | "TIOCCBRK" => {}
        "TCSBRK" | "TCSBRKP" | "TIOCSCTTY" => p.out.signed(value as i32 as i64),
        "FIONBIO" | "FIOASYNC" | "TIOCSPGRP" | "TIOCSPTLCK" | "FIOSETOWN" | "SIOCSPGRP" | "TIOCPKT"
        | "TIOCSETD" => {
            p.structure(n, number);
        }
        "FIONREAD" | "TIOCOUTQ" | "TIOCGPGRP" | "TIOCGPTN" | "FIOGETOWN" | "SIOCGPGRP" | "TIOCGSID"
        | "TIOCGETD" | "SIOCATMARK" | "BLKSSZGET"
            if p.succeeded() =>
        {
            p.structure(n, number);
        }
        "TIOCGWINSZ" if p.succeeded() => p.structure(n, window),
        "TIOCSWINSZ" => p.structure(n, window),
        "" => p.out.hex(value),
        _ => p.address(n),
    }
}

/// `struct winsize`
fn window(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    for (k, name) in ["{ws_row=", ", ws_col=", ", ws_xpixel=", ", ws_ypixel="].iter().enumerate() {
        out.put(name);
        out.unsigned(u16_at(bytes, 2 * k)? as u64);
    }
    out.put("}");
    Some(())
}
