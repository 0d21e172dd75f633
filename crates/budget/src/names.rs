//! What limits can be about: families of system calls, single ones, bytes, times, requests, findings; and names that are near to a wrong one.

use whyslow_model::Syscall;

/// Below this likeness (Jaro-Winkler, 0 to 1) a name is no slip of the finger.
const ALIKE: f64 = 0.75;
/// Names offered at most.
const OFFERED: usize = 3;

/// Names that stand for several system calls, which one function of the C library makes on different machines and in different versions.
pub(crate) const FAMILIES: &[(&str, &[&str])] = &[
    ("stat", &["stat", "lstat", "newfstatat", "fstatat64", "stat64", "lstat64", "statx"]),
    ("open", &["open", "openat", "openat2", "creat"]),
    ("access", &["access", "faccessat", "faccessat2"]),
    ("read", &["read", "pread64", "readv", "preadv", "preadv2"]),
    ("write", &["write", "pwrite64", "writev", "pwritev", "pwritev2"]),
    ("fsync", &["fsync", "fdatasync"]),
    ("send", &["send", "sendto", "sendmsg", "sendmmsg"]),
    ("recv", &["recv", "recvfrom", "recvmsg", "recvmmsg"]),
    (
        "poll",
        &["poll", "ppoll", "ppoll_time64", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2"],
    ),
    ("accept", &["accept", "accept4"]),
    ("fork", &["fork", "vfork", "clone", "clone3"]),
    ("exec", &["execve", "execveat"]),
    ("rename", &["rename", "renameat", "renameat2"]),
    ("unlink", &["unlink", "unlinkat"]),
    ("getdents", &["getdents", "getdents64"]),
    ("sleep", &["nanosleep", "clock_nanosleep", "clock_nanosleep_time64"]),
];

/// Names that stand for something else than calls.
pub(crate) const OTHERS: &[&str] = &[
    "calls",
    "bytes_written",
    "queries",
    "requests",
    "wall",
    "cpu",
    "p50",
    "p90",
    "p95",
    "p99",
    "max",
    "mean",
];

/// The system calls of a name: of a family, or one by itself (also as `call:NAME`, without its family).
pub(crate) fn calls(name: &str) -> Option<Vec<String>> {
    let known = |name: &str| Syscall::lookup(name.as_bytes()).is_some();
    if let Some(single) = name.strip_prefix("call:") {
        return known(single).then(|| vec![single.to_string()]);
    }
    match FAMILIES.iter().find(|(family, _)| *family == name) {
        Some((_, members)) => Some(members.iter().map(|member| member.to_string()).collect()),
        None => known(name).then(|| vec![name.to_string()]),
    }
}

/// All names of what can be limited, but for findings.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    let families = FAMILIES.iter().map(|(family, _)| *family);
    let members = FAMILIES.iter().flat_map(|(_, members)| members.iter().copied());
    OTHERS.iter().copied().chain(families).chain(members).chain(SINGLE.iter().copied())
}

/// Calls that people limit, offered for a name that is nearly one of them.
const SINGLE: [&str; 12] = [
    "connect",
    "close",
    "mmap",
    "munmap",
    "brk",
    "futex",
    "sync",
    "syncfs",
    "lseek",
    "getpid",
    "clock_gettime",
    "sched_yield",
];

/// `; did you mean a or b?`, or nothing.
pub(crate) fn near<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let mut alike: Vec<(f64, &str)> = known
        .map(|one| {
            let inside = name.len() >= 3 && one.contains(name);
            (if inside { 1.0 } else { strsim::jaro_winkler(one, name) }, one)
        })
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    alike.dedup_by(|a, b| a.1 == b.1);
    alike.truncate(OFFERED);
    let names: Vec<String> = alike.iter().map(|(_, one)| format!("`{one}`")).collect();
    if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_of_calls_that_exist() {
        for (family, members) in FAMILIES {
            let unknown: Vec<_> =
                members.iter().filter(|member| Syscall::lookup(member.as_bytes()).is_none()).collect();
            assert!(unknown.is_empty(), "{family}: {unknown:?}");
        }
    }

    #[test]
    fn near_names_are_offered() {
        assert_eq!(near("fsink", all()), "; did you mean `fsync`?");
        assert_eq!(near("qqqq", all()), "");
        assert!(calls("call:newfstatat").is_some_and(|calls| calls.len() == 1));
        assert_eq!(calls("no_such"), None);
    }
}
