//! The files of one process or thread, as bytes: stat, status, io, schedstat.

use crate::figures::Figures;
use crate::text;
use whyslow_model::Metric;

/// Of a kernel thread (`PF_KTHREAD`, include/linux/sched.h).
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Takes a count out of a file.
pub type Count<F, N> = fn(&F) -> N;

/// Out of `stat` (proc_pid_stat(5)).
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Stat {
    /// `R`, `S`, `D`, `Z`, …
    pub state: u8,
    /// Its parent; 0 of what the kernel began.
    pub parent: u32,
    /// Clock ticks in user mode.
    pub user: u64,
    /// Clock ticks in the kernel.
    pub system: u64,
    /// Page faults without I/O.
    pub minor: u64,
    /// Page faults with I/O.
    pub major: u64,
    /// Nice value.
    pub nice: i64,
    /// Threads of the process.
    pub threads: u64,
    /// Clock ticks from boot to its start.
    pub start: u64,
    /// Bytes.
    pub vsize: u64,
    /// Pages.
    pub rss: Option<u64>,
    flags: u64,
}

impl Stat {
    /// Its counts: the metric, the count, and whether that is in clock ticks.
    pub const COUNTS: [(Metric, Count<Stat, u64>, bool); 4] = [
        (Metric::TaskUser, |stat| stat.user, true),
        (Metric::TaskSystem, |stat| stat.system, true),
        (Metric::MinorFaults, |stat| stat.minor, false),
        (Metric::MajorFaults, |stat| stat.major, false),
    ];

    /// What it says, with so many clock ticks a second and bytes a page.
    pub fn figures(&self, ticks: f64, page: u64, figures: &mut Figures) {
        for (metric, of, is_time) in Stat::COUNTS {
            figures.sum(metric, Some(of(self)), if is_time { 1.0 / ticks } else { 1.0 });
        }
        figures.number(Metric::Threads, Some(self.threads));
        figures.level(Metric::Nice, Some(self.nice as f64));
        figures.number(Metric::Vsz, Some(self.vsize));
        figures.number(Metric::Rss, self.rss.and_then(|pages| pages.checked_mul(page)));
    }

    /// `1234 (a) b) S 1 …`, and the name: it may hold blanks and parentheses, so it ends at the last one.
    pub fn parse(text: &[u8]) -> Option<(&[u8], Stat)> {
        let open = text.iter().position(|byte| *byte == b'(')?;
        let close = text.iter().rposition(|byte| *byte == b')')?;
        let name = text.get(open + 1..close)?;
        let mut words = text::words(text.get(close + 1..)?.trim_ascii_end());
        let mut stat = Stat { state: *words.next()?.first()?, ..Stat::default() };
        // The state is field 3 of the manual.
        let mut at = 3;
        for word in words {
            at += 1;
            match at {
                // A kernel thread's parent may be 0.
                4 => stat.parent = u32::try_from(text::number(word)?).ok()?,
                9 => stat.flags = text::number(word)?,
                10 => stat.minor = text::number(word)?,
                12 => stat.major = text::number(word)?,
                14 => stat.user = text::number(word)?,
                15 => stat.system = text::number(word)?,
                19 => stat.nice = text::signed(word)?,
                20 => stat.threads = text::number(word)?,
                22 => stat.start = text::number(word)?,
                23 => stat.vsize = text::number(word)?,
                24 => stat.rss = text::number(word),
                _ => {}
            }
        }
        (at >= 24).then_some((name, stat))
    }

    /// True for a thread of the kernel.
    pub fn is_kernel_thread(&self) -> bool {
        self.flags & KERNEL_THREAD != 0
    }

    /// True where it did something since `before`.
    pub fn moved_since(&self, before: &Stat) -> bool {
        (self.user, self.system, self.minor, self.major, self.threads, self.state)
            != (before.user, before.system, before.minor, before.major, before.threads, before.state)
    }
}

/// Out of `status` (proc_pid_status(5)). What an old kernel does not show is `None` or empty.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct TaskStatus {
    /// The effective user.
    pub uid: Option<u32>,
    /// Who traces it.
    pub tracer: Option<u32>,
    /// Bytes swapped out.
    pub swapped: Option<u64>,
    /// Switches because it waited.
    pub voluntary: Option<u64>,
    /// Switches because the CPU was taken away.
    pub involuntary: Option<u64>,
    /// `0-3,8`.
    pub cpus: Box<str>,
}

impl TaskStatus {
    /// Its counts.
    pub const COUNTS: [(Metric, Count<TaskStatus, Option<u64>>); 2] = [
        (Metric::VoluntarySwitches, |status| status.voluntary),
        (Metric::InvoluntarySwitches, |status| status.involuntary),
    ];

    /// Lines of a name, a colon and values.
    pub fn parse(text: &[u8]) -> TaskStatus {
        let mut status = TaskStatus::default();
        for line in text::lines(text) {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let mut values = text::words(&line[colon + 1..]);
            let mut one = || values.next().and_then(text::number);
            match &line[..colon] {
                // Real, effective, saved, file system.
                b"Uid" => {
                    status.uid = values.nth(1).and_then(text::number).and_then(|uid| u32::try_from(uid).ok())
                }
                b"TracerPid" => {
                    status.tracer = one().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0)
                }
                b"VmSwap" => status.swapped = one().and_then(|kib| kib.checked_mul(1024)),
                b"voluntary_ctxt_switches" => status.voluntary = one(),
                b"nonvoluntary_ctxt_switches" => status.involuntary = one(),
                b"Cpus_allowed_list" => {
                    let list = values.next().filter(|list| text::count_in_list(list).is_some());
                    status.cpus = list.map(whyslow_model::text::bounded).unwrap_or_default().into();
                }
                _ => {}
            }
        }
        status
    }
}

/// Out of `io` (proc_pid_io(5)): bytes so far, of all threads, ended ones included.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Io {
    /// Moved by read calls, cached or not.
    pub read_chars: Option<u64>,
    /// Moved by write calls.
    pub write_chars: Option<u64>,
    /// Fetched from storage.
    pub read: Option<u64>,
    /// Sent to storage, or dirtied.
    pub written: Option<u64>,
    /// Dirtied, and dropped before they were written.
    pub cancelled: Option<u64>,
}

impl Io {
    /// Its counts.
    pub const COUNTS: [(Metric, Count<Io, Option<u64>>); 5] = [
        (Metric::ReadChars, |io| io.read_chars),
        (Metric::WriteChars, |io| io.write_chars),
        (Metric::ReadBytes, |io| io.read),
        (Metric::WriteBytes, |io| io.written),
        (Metric::CancelledWriteBytes, |io| io.cancelled),
    ];

    /// Lines of a name with a colon and a number.
    pub fn parse(text: &[u8]) -> Io {
        let mut io = Io::default();
        for line in text::lines(text) {
            let mut words = text::words(line);
            let (name, value) = (words.next(), words.next().and_then(text::number));
            match name {
                Some(b"rchar:") => io.read_chars = value,
                Some(b"wchar:") => io.write_chars = value,
                Some(b"read_bytes:") => io.read = value,
                Some(b"write_bytes:") => io.written = value,
                Some(b"cancelled_write_bytes:") => io.cancelled = value,
                _ => {}
            }
        }
        io
    }
}

/// Out of `schedstat` of one thread (Documentation/scheduler/sched-stats.rst).
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// On a CPU, ns.
    pub ran: u64,
    /// Ready to run without a CPU, ns.
    pub waited: u64,
    /// Times that it got a CPU.
    pub turns: u64,
}

impl Schedule {
    /// `0 13160 1`. A kernel that keeps no such figures shows zeros alone; a thread that we see has run.
    pub fn parse(text: &[u8]) -> Option<Schedule> {
        let mut words = text::words(text.trim_ascii()).map(text::number);
        let schedule = Schedule { ran: words.next()??, waited: words.next()??, turns: words.next()?? };
        (schedule != Schedule::default()).then_some(schedule)
    }
}

/// The soft limit of open files, out of `limits`.
pub fn fd_limit(text: &[u8]) -> Option<u64> {
    let line = text::lines(text).find_map(|line| line.strip_prefix(b"Max open files"))?;
    text::words(line).next().and_then(text::number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let text = b"77 (a) S 1 (b) R 5 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 -5 3 0 123456 1000 2 18446744073709551615\n";
        let (name, stat) = Stat::parse(text).expect("a row");
        assert_eq!((name, stat.state, stat.parent, stat.start), (&b"a) S 1 (b"[..], b'R', 5, 123_456));
        assert_eq!((stat.user, stat.system, stat.minor, stat.major), (5, 6, 1, 3));
        assert_eq!((stat.nice, stat.threads, stat.vsize, stat.rss), (-5, 3, 1000, Some(2)));
        assert!(!stat.is_kernel_thread());
        for damaged in [&b"77 (a S 1"[..], b"77 )a( S 1", b"", b"77 (a) S 1 2 3", b"77 (a) S x 77 77 0"] {
            assert_eq!(Stat::parse(damaged), None);
        }
    }

    #[test]
    fn the_other_files() {
        let status = TaskStatus::parse(b"Uid:\t1\t2\t3\t4\nTracerPid:\t9\nVmSwap:\t 12 kB\nCpus_allowed_list:\t0-1\nvoluntary_ctxt_switches:\t7\n");
        assert_eq!(
            (status.uid, status.tracer, status.swapped, status.voluntary),
            (Some(2), Some(9), Some(12_288), Some(7))
        );
        assert_eq!(&*status.cpus, "0-1");
        assert_eq!(Io::parse(b"rchar: 6\nwrite_bytes: x\n"), Io { read_chars: Some(6), ..Io::default() });
        assert_eq!(Schedule::parse(b"5 6 7\n"), Some(Schedule { ran: 5, waited: 6, turns: 7 }));
        assert_eq!((Schedule::parse(b"0 0 0\n"), Schedule::parse(b"1 2")), (None, None));
        assert_eq!(fd_limit(b"Limit  Soft\nMax open files            1024  4096  files\n"), Some(1024));
        assert_eq!(fd_limit(b"Max open files            unlimited  4096  files\n"), None);
    }
}
