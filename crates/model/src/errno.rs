//! Error numbers by name. Numbers are Linux's on x86 (`include/uapi/asm-generic/errno*.h`, and
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
    pub const EEXIST: Errno = Errno(17);
    pub const ENOTDIR: Errno = Errno(20);
    pub const ENFILE: Errno = Errno(23);
    pub const EMFILE: Errno = Errno(24);
    pub const ESPIPE: Errno = Errno(29);
    pub const EPIPE: Errno = Errno(32);
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
        match ROWS.binary_search_by(|(known, _)| known.as_bytes().cmp(name)) {
            Ok(i) => Errno(ROWS[i].1),
            Err(_) if name == b"EWOULDBLOCK" => Errno::EAGAIN,
            Err(_) => Errno::OTHER,
        }
    }

    /// Its name, or `E?` for one outside the table.
    pub fn name(self) -> &'static str {
        ROWS.iter().find(|(_, number)| *number == self.0).map_or("E?", |(name, _)| name)
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
static ROWS: &[(&str, u16)] = &[
    ("E2BIG", 7),
    ("EACCES", 13),
    ("EADDRINUSE", 98),
    ("EADDRNOTAVAIL", 99),
    ("EADV", 68),
    ("EAFNOSUPPORT", 97),
    ("EAGAIN", 11),
    ("EALREADY", 114),
    ("EBADE", 52),
    ("EBADF", 9),
    ("EBADFD", 77),
    ("EBADMSG", 74),
    ("EBADR", 53),
    ("EBADRQC", 56),
    ("EBADSLT", 57),
    ("EBFONT", 59),
    ("EBUSY", 16),
    ("ECANCELED", 125),
    ("ECHILD", 10),
    ("ECHRNG", 44),
    ("ECOMM", 70),
    ("ECONNABORTED", 103),
    ("ECONNREFUSED", 111),
    ("ECONNRESET", 104),
    ("EDESTADDRREQ", 89),
    ("EDOM", 33),
    ("EDOTDOT", 73),
    ("EDQUOT", 122),
    ("EEXIST", 17),
    ("EFAULT", 14),
    ("EFBIG", 27),
    ("EHOSTDOWN", 112),
    ("EHOSTUNREACH", 113),
    ("EHWPOISON", 133),
    ("EIDRM", 43),
    ("EILSEQ", 84),
    ("EINPROGRESS", 115),
    ("EINTR", 4),
    ("EINVAL", 22),
    ("EIO", 5),
    ("EIOCBQUEUED", 529),
    ("EISCONN", 106),
    ("EISDIR", 21),
    ("EISNAM", 120),
    ("EKEYEXPIRED", 127),
    ("EKEYREJECTED", 129),
    ("EKEYREVOKED", 128),
    ("EL2HLT", 51),
    ("EL2NSYNC", 45),
    ("EL3HLT", 46),
    ("EL3RST", 47),
    ("ELIBACC", 79),
    ("ELIBBAD", 80),
    ("ELIBEXEC", 83),
    ("ELIBMAX", 82),
    ("ELIBSCN", 81),
    ("ELNRNG", 48),
    ("ELOOP", 40),
    ("EMEDIUMTYPE", 124),
    ("EMFILE", 24),
    ("EMLINK", 31),
    ("EMSGSIZE", 90),
    ("EMULTIHOP", 72),
    ("ENAMETOOLONG", 36),
    ("ENAVAIL", 119),
    ("ENETDOWN", 100),
    ("ENETRESET", 102),
    ("ENETUNREACH", 101),
    ("ENFILE", 23),
    ("ENOANO", 55),
    ("ENOBUFS", 105),
    ("ENOCSI", 50),
    ("ENODATA", 61),
    ("ENODEV", 19),
    ("ENOENT", 2),
    ("ENOEXEC", 8),
    ("ENOIOCTLCMD", 515),
    ("ENOKEY", 126),
    ("ENOLCK", 37),
    ("ENOLINK", 67),
    ("ENOMEDIUM", 123),
    ("ENOMEM", 12),
    ("ENOMSG", 42),
    ("ENONET", 64),
    ("ENOPKG", 65),
    ("ENOPROTOOPT", 92),
    ("ENOSPC", 28),
    ("ENOSR", 63),
    ("ENOSTR", 60),
    ("ENOSYS", 38),
    ("ENOTBLK", 15),
    ("ENOTCONN", 107),
    ("ENOTDIR", 20),
    ("ENOTEMPTY", 39),
    ("ENOTNAM", 118),
    ("ENOTRECOVERABLE", 131),
    ("ENOTSOCK", 88),
    ("ENOTSUP", 95),
    ("ENOTSUPP", 524),
    ("ENOTTY", 25),
    ("ENOTUNIQ", 76),
    ("ENXIO", 6),
    ("EOPENSTALE", 518),
    ("EOVERFLOW", 75),
    ("EOWNERDEAD", 130),
    ("EPERM", 1),
    ("EPFNOSUPPORT", 96),
    ("EPIPE", 32),
    ("EPROBE_DEFER", 517),
    ("EPROTO", 71),
    ("EPROTONOSUPPORT", 93),
    ("EPROTOTYPE", 91),
    ("ERANGE", 34),
    ("EREMCHG", 78),
    ("EREMOTE", 66),
    ("EREMOTEIO", 121),
    ("ERESTART", 85),
    ("ERESTARTNOHAND", 514),
    ("ERESTARTNOINTR", 513),
    ("ERESTARTSYS", 512),
    ("ERESTART_RESTARTBLOCK", 516),
    ("ERFKILL", 132),
    ("EROFS", 30),
    ("ESHUTDOWN", 108),
    ("ESOCKTNOSUPPORT", 94),
    ("ESPIPE", 29),
    ("ESRCH", 3),
    ("ESRMNT", 69),
    ("ESTALE", 116),
    ("ESTRPIPE", 86),
    ("ETIME", 62),
    ("ETIMEDOUT", 110),
    ("ETOOMANYREFS", 109),
    ("ETXTBSY", 26),
    ("EUCLEAN", 117),
    ("EUNATCH", 49),
    ("EUSERS", 87),
    ("EXDEV", 18),
    ("EXFULL", 54),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        assert!(ROWS.is_sorted_by(|a, b| a.0 < b.0));
        for (name, number) in ROWS {
            assert_eq!(Errno::lookup(name.as_bytes()), Errno(*number), "{name}");
            assert_eq!(Errno(*number).name(), *name);
        }
        assert_eq!(Errno::lookup(b"EWHATEVER"), Errno::OTHER);
    }
}
