//! Error numbers by name and text. Numbers are Linux's on x86 (`include/uapi/asm-generic/errno*.h`, and
//! `include/linux/errno.h` for the restart codes that strace shows).

use serde::{Serialize, Serializer};

/// An error number; zero is "no error".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Errno(pub u16);

#[allow(missing_docs)]
impl Errno {
    pub const NONE: Errno = Errno(0);
    pub const ENOENT: Errno = Errno(2);
    pub const EINTR: Errno = Errno(4);
    pub const EBADF: Errno = Errno(9);
    pub const EAGAIN: Errno = Errno(11);
    pub const EACCES: Errno = Errno(13);
    pub const EBUSY: Errno = Errno(16);
    pub const EEXIST: Errno = Errno(17);
    pub const ENOTDIR: Errno = Errno(20);
    pub const EINVAL: Errno = Errno(22);
    pub const ENFILE: Errno = Errno(23);
    pub const EMFILE: Errno = Errno(24);
    pub const ESPIPE: Errno = Errno(29);
    pub const EPIPE: Errno = Errno(32);
    pub const ENOMSG: Errno = Errno(42);
    pub const ENOTSOCK: Errno = Errno(88);
    pub const EOPNOTSUPP: Errno = Errno(95);
    pub const EADDRNOTAVAIL: Errno = Errno(99);
    pub const ENETUNREACH: Errno = Errno(101);
    pub const ECONNRESET: Errno = Errno(104);
    pub const ETIMEDOUT: Errno = Errno(110);
    pub const ECONNREFUSED: Errno = Errno(111);
    pub const EHOSTUNREACH: Errno = Errno(113);
    pub const EINPROGRESS: Errno = Errno(115);
    pub const ERESTARTSYS: Errno = Errno(512);
    pub const ERESTART_RESTARTBLOCK: Errno = Errno(516);
    /// A name that is not in the table.
    pub const OTHER: Errno = Errno(u16::MAX);
}

impl Errno {
    /// The error of that name (`ENOENT`); [`Errno::OTHER`] for one that is not in the table.
    #[inline]
    pub fn lookup(name: &[u8]) -> Errno {
        // The few that make up nearly every log.
        match name {
            b"ENOENT" => return Errno::ENOENT,
            b"EAGAIN" => return Errno::EAGAIN,
            _ => {}
        }
        match ROWS.binary_search_by(|(known, ..)| known.as_bytes().cmp(name)) {
            Ok(i) => Errno(ROWS[i].1),
            Err(_) if name == b"EWOULDBLOCK" => Errno::EAGAIN,
            Err(_) => Errno::OTHER,
        }
    }

    /// Its name, or `E?` for one outside the table.
    pub fn name(self) -> &'static str {
        self.row().map_or("E?", |(name, ..)| name)
    }

    /// What it means, as strerror(3) of glibc and strace say: `No such file or directory`. `None` outside the table.
    pub fn text(self) -> Option<&'static str> {
        self.row().map(|(.., text)| *text)
    }

    fn row(self) -> Option<&'static (&'static str, u16, &'static str)> {
        ROWS.iter().find(|(_, number, _)| *number == self.0)
    }

    /// True where the call failed.
    #[inline]
    pub fn is_error(self) -> bool {
        self.0 != 0
    }

    /// True for the codes with which the kernel restarts a call after a signal: no error for the program.
    #[inline]
    pub fn is_restart(self) -> bool {
        (512..=516).contains(&self.0)
    }
}

impl std::fmt::Display for Errno {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Errno {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[rustfmt::skip]
static ROWS: &[(&str, u16, &str)] = &[
    ("E2BIG", 7, "Argument list too long"),
    ("EACCES", 13, "Permission denied"),
    ("EADDRINUSE", 98, "Address already in use"),
    ("EADDRNOTAVAIL", 99, "Cannot assign requested address"),
    ("EADV", 68, "Advertise error"),
    ("EAFNOSUPPORT", 97, "Address family not supported by protocol"),
    ("EAGAIN", 11, "Resource temporarily unavailable"),
    ("EALREADY", 114, "Operation already in progress"),
    ("EBADE", 52, "Invalid exchange"),
    ("EBADF", 9, "Bad file descriptor"),
    ("EBADFD", 77, "File descriptor in bad state"),
    ("EBADMSG", 74, "Bad message"),
    ("EBADR", 53, "Invalid request descriptor"),
    ("EBADRQC", 56, "Invalid request code"),
    ("EBADSLT", 57, "Invalid slot"),
    ("EBFONT", 59, "Bad font file format"),
    ("EBUSY", 16, "Device or resource busy"),
    ("ECANCELED", 125, "Operation canceled"),
    ("ECHILD", 10, "No child processes"),
    ("ECHRNG", 44, "Channel number out of range"),
    ("ECOMM", 70, "Communication error on send"),
    ("ECONNABORTED", 103, "Software caused connection abort"),
    ("ECONNREFUSED", 111, "Connection refused"),
    ("ECONNRESET", 104, "Connection reset by peer"),
    ("EDESTADDRREQ", 89, "Destination address required"),
    ("EDOM", 33, "Numerical argument out of domain"),
    ("EDOTDOT", 73, "RFS specific error"),
    ("EDQUOT", 122, "Disk quota exceeded"),
    ("EEXIST", 17, "File exists"),
    ("EFAULT", 14, "Bad address"),
    ("EFBIG", 27, "File too large"),
    ("EHOSTDOWN", 112, "Host is down"),
    ("EHOSTUNREACH", 113, "No route to host"),
    ("EHWPOISON", 133, "Memory page has hardware error"),
    ("EIDRM", 43, "Identifier removed"),
    ("EILSEQ", 84, "Invalid or incomplete multibyte or wide character"),
    ("EINPROGRESS", 115, "Operation now in progress"),
    ("EINTR", 4, "Interrupted system call"),
    ("EINVAL", 22, "Invalid argument"),
    ("EIO", 5, "Input/output error"),
    ("EIOCBQUEUED", 529, "Unknown error 529"),
    ("EISCONN", 106, "Transport endpoint is already connected"),
    ("EISDIR", 21, "Is a directory"),
    ("EISNAM", 120, "Is a named type file"),
    ("EKEYEXPIRED", 127, "Key has expired"),
    ("EKEYREJECTED", 129, "Key was rejected by service"),
    ("EKEYREVOKED", 128, "Key has been revoked"),
    ("EL2HLT", 51, "Level 2 halted"),
    ("EL2NSYNC", 45, "Level 2 not synchronized"),
    ("EL3HLT", 46, "Level 3 halted"),
    ("EL3RST", 47, "Level 3 reset"),
    ("ELIBACC", 79, "Can not access a needed shared library"),
    ("ELIBBAD", 80, "Accessing a corrupted shared library"),
    ("ELIBEXEC", 83, "Cannot exec a shared library directly"),
    ("ELIBMAX", 82, "Attempting to link in too many shared libraries"),
    ("ELIBSCN", 81, ".lib section in a.out corrupted"),
    ("ELNRNG", 48, "Link number out of range"),
    ("ELOOP", 40, "Too many levels of symbolic links"),
    ("EMEDIUMTYPE", 124, "Wrong medium type"),
    ("EMFILE", 24, "Too many open files"),
    ("EMLINK", 31, "Too many links"),
    ("EMSGSIZE", 90, "Message too long"),
    ("EMULTIHOP", 72, "Multihop attempted"),
    ("ENAMETOOLONG", 36, "File name too long"),
    ("ENAVAIL", 119, "No XENIX semaphores available"),
    ("ENETDOWN", 100, "Network is down"),
    ("ENETRESET", 102, "Network dropped connection on reset"),
    ("ENETUNREACH", 101, "Network is unreachable"),
    ("ENFILE", 23, "Too many open files in system"),
    ("ENOANO", 55, "No anode"),
    ("ENOBUFS", 105, "No buffer space available"),
    ("ENOCSI", 50, "No CSI structure available"),
    ("ENODATA", 61, "No data available"),
    ("ENODEV", 19, "No such device"),
    ("ENOENT", 2, "No such file or directory"),
    ("ENOEXEC", 8, "Exec format error"),
    ("ENOIOCTLCMD", 515, "Unknown error 515"),
    ("ENOKEY", 126, "Required key not available"),
    ("ENOLCK", 37, "No locks available"),
    ("ENOLINK", 67, "Link has been severed"),
    ("ENOMEDIUM", 123, "No medium found"),
    ("ENOMEM", 12, "Cannot allocate memory"),
    ("ENOMSG", 42, "No message of desired type"),
    ("ENONET", 64, "Machine is not on the network"),
    ("ENOPKG", 65, "Package not installed"),
    ("ENOPROTOOPT", 92, "Protocol not available"),
    ("ENOSPC", 28, "No space left on device"),
    ("ENOSR", 63, "Out of streams resources"),
    ("ENOSTR", 60, "Device not a stream"),
    ("ENOSYS", 38, "Function not implemented"),
    ("ENOTBLK", 15, "Block device required"),
    ("ENOTCONN", 107, "Transport endpoint is not connected"),
    ("ENOTDIR", 20, "Not a directory"),
    ("ENOTEMPTY", 39, "Directory not empty"),
    ("ENOTNAM", 118, "Not a XENIX named type file"),
    ("ENOTRECOVERABLE", 131, "State not recoverable"),
    ("ENOTSOCK", 88, "Socket operation on non-socket"),
    ("ENOTSUP", 95, "Operation not supported"),
    ("ENOTSUPP", 524, "Unknown error 524"),
    ("ENOTTY", 25, "Inappropriate ioctl for device"),
    ("ENOTUNIQ", 76, "Name not unique on network"),
    ("ENXIO", 6, "No such device or address"),
    ("EOPENSTALE", 518, "Unknown error 518"),
    ("EOVERFLOW", 75, "Value too large for defined data type"),
    ("EOWNERDEAD", 130, "Owner died"),
    ("EPERM", 1, "Operation not permitted"),
    ("EPFNOSUPPORT", 96, "Protocol family not supported"),
    ("EPIPE", 32, "Broken pipe"),
    ("EPROBE_DEFER", 517, "Unknown error 517"),
    ("EPROTO", 71, "Protocol error"),
    ("EPROTONOSUPPORT", 93, "Protocol not supported"),
    ("EPROTOTYPE", 91, "Protocol wrong type for socket"),
    ("ERANGE", 34, "Numerical result out of range"),
    ("EREMCHG", 78, "Remote address changed"),
    ("EREMOTE", 66, "Object is remote"),
    ("EREMOTEIO", 121, "Remote I/O error"),
    ("ERESTART", 85, "Interrupted system call should be restarted"),
    ("ERESTARTNOHAND", 514, "To be restarted if no handler"),
    ("ERESTARTNOINTR", 513, "To be restarted"),
    ("ERESTARTSYS", 512, "To be restarted if SA_RESTART is set"),
    ("ERESTART_RESTARTBLOCK", 516, "Interrupted by signal"),
    ("ERFKILL", 132, "Operation not possible due to RF-kill"),
    ("EROFS", 30, "Read-only file system"),
    ("ESHUTDOWN", 108, "Cannot send after transport endpoint shutdown"),
    ("ESOCKTNOSUPPORT", 94, "Socket type not supported"),
    ("ESPIPE", 29, "Illegal seek"),
    ("ESRCH", 3, "No such process"),
    ("ESRMNT", 69, "Srmount error"),
    ("ESTALE", 116, "Stale file handle"),
    ("ESTRPIPE", 86, "Streams pipe error"),
    ("ETIME", 62, "Timer expired"),
    ("ETIMEDOUT", 110, "Connection timed out"),
    ("ETOOMANYREFS", 109, "Too many references: cannot splice"),
    ("ETXTBSY", 26, "Text file busy"),
    ("EUCLEAN", 117, "Structure needs cleaning"),
    ("EUNATCH", 49, "Protocol driver not attached"),
    ("EUSERS", 87, "Too many users"),
    ("EXDEV", 18, "Invalid cross-device link"),
    ("EXFULL", 54, "Exchange full"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        assert!(ROWS.is_sorted_by(|a, b| a.0 < b.0));
        for (name, number, text) in ROWS {
            assert_eq!(Errno::lookup(name.as_bytes()), Errno(*number), "{name}");
            assert_eq!((Errno(*number).name(), Errno(*number).text()), (*name, Some(*text)));
        }
        assert_eq!(Errno::lookup(b"EWHATEVER"), Errno::OTHER);
    }
}
