//! What a blocked thread waits in, by `/proc/PID/task/TID/syscall` (proc_pid_syscall(5)): the call's number and arguments, and
//! of the process's memory what these point to.

use crate::decode::table;
use crate::target::diag::number;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Descriptors of one poll or select that are looked at.
const MOST_POLLED: usize = 64;
/// `POLLIN | POLLRDHUP`, `POLLOUT` (poll.h).
const POLL_READ: i16 = 0x2001;
const POLL_WRITE: i16 = 0x4;
/// `F_SETLKW`, `F_OFD_SETLKW` (fcntl.h), `LOCK_NB` (flock(2)).
const SET_LOCK: [u64; 2] = [7, 38];
const LOCK_AT_ONCE: u64 = 4;
/// futex(2): `FUTEX_PRIVATE_FLAG`, the bits of the operation, and those operations that wait.
const FUTEX_PRIVATE: u64 = 128;
const FUTEX_OPERATION: u64 = 0x7f;
const FUTEX_WAITS: [u64; 4] = [0, 6, 9, 13];

/// What a thread was blocked in when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// It runs, or sleeps for a reason that says nothing of others: a timer, a condition of its own pool.
    Nothing,
    /// It waits for work: to accept, or for whatever its descriptors bring.
    Work,
    /// It waits for what is no process: a disk, a child, which is watched anyway.
    Other,
    /// To read from a descriptor.
    Reads(i32),
    /// To write to a descriptor, or for its connection.
    Writes(i32),
    /// For any of these descriptors; true for those that it wants to write to.
    Several(Vec<(i32, bool)>),
    /// For what an epoll instance watches.
    Epoll(i32),
    /// For a lock of a file.
    FileLock,
    /// For a futex that other processes may use, by its address.
    Futex(u64),
    /// For a message of a System V queue; `room`: to send one.
    Message { queue: i32, room: bool },
}

/// Memory of a process.
pub(super) trait Memory {
    /// The bytes at `address`; false where they cannot be read.
    fn read(&self, address: u64, into: &mut [u8]) -> bool;
}

/// `/proc/PID/mem`.
pub(super) struct ProcessMemory(pub(super) u32);

impl Memory for ProcessMemory {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        File::open(format!("/proc/{}/mem", self.0))
            .is_ok_and(|file| file.read_exact_at(into, address).is_ok())
    }
}

impl Wait {
    /// Of the text of the file.
    pub(super) fn of(text: &[u8], memory: &dyn Memory) -> Wait {
        // `running`, or `-1` where it is blocked outside of calls.
        let mut words = text.split(u8::is_ascii_whitespace);
        let number = words.next().and_then(|word| std::str::from_utf8(word).ok()?.parse::<u16>().ok());
        let Some(row) = number.and_then(table::row_of) else { return Wait::Nothing };
        let mut arguments = [0u64; 6];
        for argument in &mut arguments {
            let Some(value) = words.next().and_then(hex) else { return Wait::Nothing };
            *argument = value;
        }
        let [a, b, c, ..] = arguments;
        let fd = a as i32;
        match row.name {
            "read" | "readv" | "pread64" | "preadv" | "preadv2" | "recvfrom" | "recvmsg" | "recvmmsg" => {
                Wait::Reads(fd)
            }
            "write" | "writev" | "pwrite64" | "pwritev" | "pwritev2" | "sendto" | "sendmsg" | "sendmmsg"
            | "sendfile" | "connect" => Wait::Writes(fd),
            "accept" | "accept4" => Wait::Work,
            "poll" | "ppoll" => polled(memory, a, b),
            "select" | "pselect6" => selected(memory, a, [b, c]),
            "epoll_wait" | "epoll_pwait" | "epoll_pwait2" => Wait::Epoll(fd),
            "flock" if b & LOCK_AT_ONCE == 0 => Wait::FileLock,
            "fcntl" if SET_LOCK.contains(&b) => Wait::FileLock,
            "futex" if b & FUTEX_PRIVATE == 0 && FUTEX_WAITS.contains(&(b & FUTEX_OPERATION)) => {
                Wait::Futex(a)
            }
            "msgrcv" => Wait::Message { queue: fd, room: false },
            "msgsnd" => Wait::Message { queue: fd, room: true },
            "wait4" | "waitid" | "fsync" | "fdatasync" | "sync_file_range" | "sync" | "syncfs" | "openat"
            | "open" | "rename" | "renameat2" | "unlink" | "unlinkat" => Wait::Other,
            _ => Wait::Nothing,
        }
    }
}

/// `0x1f`.
fn hex(word: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(word).ok()?.strip_prefix("0x")?, 16).ok()
}

/// An array of `struct pollfd` (poll(2)): descriptor, events, what came.
fn polled(memory: &dyn Memory, address: u64, count: u64) -> Wait {
    const SIZE: usize = 8;
    let count = (count as usize).min(MOST_POLLED);
    let mut bytes = [0; SIZE * MOST_POLLED];
    let bytes = &mut bytes[..SIZE * count];
    // Of no descriptors it is a timer.
    if count == 0 || !memory.read(address, bytes) {
        return Wait::Nothing;
    }
    let entries = bytes.chunks_exact(SIZE).filter_map(|entry| {
        let fd = i32::from_ne_bytes(number(entry, 0)?);
        let events = i16::from_ne_bytes(number(entry, 4)?);
        let (reads, writes) = (events & POLL_READ != 0, events & POLL_WRITE != 0);
        (fd >= 0 && (reads || writes)).then_some((fd, writes && !reads))
    });
    Wait::Several(entries.collect())
}

/// Sets of descriptors (select(2)): those to read from, those to write to.
fn selected(memory: &dyn Memory, count: u64, sets: [u64; 2]) -> Wait {
    /// `FD_SETSIZE / 8`.
    const BYTES: usize = 128;
    let length = (count as usize).div_ceil(8).min(BYTES);
    let mut found = Vec::new();
    for (set, writes) in sets.into_iter().zip([false, true]) {
        let mut bytes = [0; BYTES];
        if set == 0 || length == 0 || !memory.read(set, &mut bytes[..length]) {
            continue;
        }
        let is_set = |fd: &usize| bytes[fd / 8] & 1 << (fd % 8) != 0;
        let more = (0..8 * length).filter(is_set).map(|fd| (fd as i32, writes));
        found.extend(more.take(MOST_POLLED));
    }
    if found.is_empty() { Wait::Nothing } else { Wait::Several(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    impl Memory for HashMap<u64, Vec<u8>> {
        fn read(&self, address: u64, into: &mut [u8]) -> bool {
            let Some(bytes) = self.get(&address).and_then(|bytes| bytes.get(..into.len())) else {
                return false;
            };
            into.copy_from_slice(bytes);
            true
        }
    }

    fn nr(name: &str) -> u16 {
        table::rows().find(|row| row.name == name).expect("in the table").nr
    }

    fn wait(name: &str, [a, b, c]: [u64; 3], memory: &HashMap<u64, Vec<u8>>) -> Wait {
        let text = format!("{} {a:#x} {b:#x} {c:#x} 0x0 0x0 0x0 0x7ffc0000 0x7f0000\n", nr(name));
        Wait::of(text.as_bytes(), memory)
    }

    #[test]
    fn calls_are_told_by_their_numbers_and_arguments() {
        let none = HashMap::new();
        assert_eq!(wait("read", [7, 0, 0], &none), Wait::Reads(7));
        assert_eq!(wait("sendto", [8, 0, 0], &none), Wait::Writes(8));
        assert_eq!(wait("flock", [3, 2, 0], &none), Wait::FileLock);
        assert_eq!(wait("fcntl", [3, 7, 0], &none), Wait::FileLock);
        assert_eq!(wait("fcntl", [3, 1, 0], &none), Wait::Nothing);
        assert_eq!(wait("futex", [0x7f00, 0, 2], &none), Wait::Futex(0x7f00));
        assert_eq!(wait("futex", [0x7f00, 128, 2], &none), Wait::Nothing);
        assert_eq!(wait("clock_nanosleep", [0, 0, 0], &none), Wait::Nothing);
        assert_eq!(Wait::of(b"running\n", &none), Wait::Nothing);
        assert_eq!(Wait::of(b"-1 0x7ffc 0x7f00\n", &none), Wait::Nothing);
    }

    #[test]
    fn what_is_polled_stands_in_the_memory_of_the_process() {
        let entry = |fd: i32, events: i16| [&fd.to_ne_bytes()[..], &events.to_ne_bytes(), &[0; 2]].concat();
        let memory = HashMap::from([
            (0x100, [entry(5, 1), entry(-1, 1), entry(6, 4)].concat()),
            (0x200, vec![0b0010_0000, 1]),
        ]);
        assert_eq!(wait("poll", [0x100, 3, 0], &memory), Wait::Several(vec![(5, false), (6, true)]));
        assert_eq!(wait("poll", [0x300, 3, 0], &memory), Wait::Nothing);
        assert_eq!(wait("poll", [0, 0, 10], &memory), Wait::Nothing);
        assert_eq!(wait("select", [9, 0x200, 0], &memory), Wait::Several(vec![(5, false), (8, false)]));
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in prop::collection::vec(any::<u8>(), 0..120), number in 0u16..500) {
            let none = HashMap::new();
            Wait::of(&text, &none);
            let text = [format!("{number} 0x10 0xffffffffffffffff 0x1 0x0 0x0 0x0 ").as_bytes(), &text].concat();
            Wait::of(&text, &none);
        }
    }
}
