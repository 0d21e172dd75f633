//! What `/proc/PID/stat` and `/proc/PID/status` tell of one process or thread.

use super::root::{ProcRoot, decimal, read_at_most};
use std::io;
use std::path::Path;
use whyslow_model::Tid;

/// Of a kernel thread (`PF_KTHREAD`, include/linux/sched.h).
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Bytes read of a small file of `/proc`. `status` grows with the number of groups and CPUs.
const SMALL: u64 = 64 << 10;

/// Out of `/proc/PID/stat` (proc_pid_stat(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    /// The name as the kernel has it: at most 15 bytes, any but NUL.
    pub(super) comm: Vec<u8>,
    /// `R`, `S`, `D`, `Z`, …
    pub(super) state: u8,
    pub(super) parent: Tid,
    /// Clock ticks from boot to its start.
    pub(super) start: u64,
    /// Clock ticks of CPU time that it used.
    pub(super) cpu: u64,
    flags: u64,
}

impl Stat {
    /// `1234 (a) b) S 1 …`: the name may hold blanks and parentheses, so it ends at the last one.
    pub(super) fn parse(text: &[u8]) -> Option<Stat> {
        let open = memchr::memchr(b'(', text)?;
        let close = memchr::memrchr(b')', text)?;
        let comm = text.get(open + 1..close)?.to_vec();
        let fields: Vec<&[u8]> = text.get(close + 1..)?.split(u8::is_ascii_whitespace).skip(1).collect();
        // The state is field 3 of the manual.
        let field = |number: usize| fields.get(number - 3).copied();
        Some(Stat {
            comm,
            state: *field(3)?.first()?,
            parent: decimal(field(4)?)?,
            flags: decimal(field(9)?)?,
            start: decimal(field(22)?)?,
            cpu: decimal::<u64>(field(14)?)?.saturating_add(decimal(field(15)?)?),
        })
    }

    pub(super) fn read(root: &ProcRoot, pid: Tid) -> io::Result<Stat> {
        Stat::read_from(&root.of(pid, "stat"))
    }

    pub(super) fn of_thread(root: &ProcRoot, pid: Tid, tid: Tid) -> io::Result<Stat> {
        Stat::read_from(&root.of(pid, &format!("task/{tid}/stat")))
    }

    fn read_from(path: &Path) -> io::Result<Stat> {
        Stat::parse(&read_at_most(path, SMALL)?).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    pub(super) fn is_kernel_thread(&self) -> bool {
        self.flags & KERNEL_THREAD != 0
    }

    /// Ended, and not yet waited for by its parent.
    pub(super) fn is_zombie(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// Out of `/proc/PID/status` (proc_pid_status(5)). What an old kernel does not show is `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    /// The process that this thread belongs to.
    pub(super) process: Option<Tid>,
    /// The effective user.
    pub(super) uid: Option<u32>,
    /// Its number in each pid namespace, from ours inwards.
    pub(super) numbers: Vec<Tid>,
}

impl Status {
    pub(super) fn parse(text: &[u8]) -> Status {
        let mut status = Status::default();
        for line in text.split(|byte| *byte == b'\n') {
            let Some(at) = memchr::memchr(b':', line) else { continue };
            let mut values = line[at + 1..].split(u8::is_ascii_whitespace).filter(|value| !value.is_empty());
            match &line[..at] {
                b"Tgid" => status.process = values.next().and_then(decimal),
                // Real, effective, saved, file system.
                b"Uid" => status.uid = values.nth(1).and_then(decimal),
                b"NSpid" => status.numbers = values.filter_map(decimal).collect(),
                _ => {}
            }
        }
        status
    }

    pub(super) fn read(root: &ProcRoot, pid: Tid) -> io::Result<Status> {
        Ok(Status::parse(&read_at_most(&root.of(pid, "status"), SMALL)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = Stat::parse(
            b"77 (a) S 1 (b) R 5 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 3 0 123456 1000 2 18446744073709551615\n",
        )
        .expect("a row");
        assert_eq!(
            (stat.comm.as_slice(), stat.state, stat.parent, stat.start, stat.cpu),
            (&b"a) S 1 (b"[..], b'R', 5, 123_456, 11)
        );
        assert!(!stat.is_kernel_thread() && !stat.is_zombie());
        assert_eq!(Stat::parse(b"77 (a S 1"), None);
        assert_eq!(Stat::parse(b"77 )a( S 1"), None);
    }

    #[test]
    fn status_of_a_contained_process() {
        let status = Status::parse(b"Name:\tx\nTgid:\t12\nUid:\t1\t2\t3\t4\nNSpid:\t12\t7\n");
        assert_eq!(
            (status.process, status.uid, status.numbers.as_slice()),
            (Some(12), Some(2), &[12, 7][..])
        );
        assert_eq!(Status::parse(b"nothing"), Status::default());
    }

    #[test]
    fn ourselves() {
        let own = std::process::id();
        let stat = Stat::read(&ProcRoot::live(), own).expect("our own stat");
        assert!(stat.start > 0 && stat.parent > 0 && !stat.is_kernel_thread());
        assert_eq!(Status::read(&ProcRoot::live(), own).expect("our own status").process, Some(own));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Stat::parse(&bytes);
            let _ = Status::parse(&bytes);
        }
    }
}
