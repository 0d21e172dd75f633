//! Calls on local files that took long: which files, how often, how long.

use crate::exemplar::Exemplars;
use crate::world::{Seen, World};
use crate::{Fold, When};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::syscall::{Class, Moves, PathArg};
use whyslow_model::{CallStats, FdKind, Nanos, Syscall};

/// The slow calls on one file, or the files of one pattern.
#[derive(Debug, Default)]
pub struct SlowFile {
    /// The path, or the pattern where several files of it were slow, or `fd N`.
    pub name: String,
    /// More than one file of the pattern was slow.
    pub several: bool,
    /// The slow calls.
    pub calls: CallStats,
    /// By syscall.
    pub by_syscall: Vec<(Syscall, u64)>,
    /// The first thread that made one.
    pub tid: Tid,
    /// Another thread did too.
    pub shared: bool,
    /// Lines.
    pub exemplars: Exemplars,
}

/// Slow calls on local files, by pattern of path. Waiting for a peer (pipes, sockets, terminals) is none.
#[derive(Debug, Default)]
pub struct SlowFiles {
    by_pattern: HashMap<String, SlowFile>,
    /// Calls that ask no device ([`needs_no_device`]) and were slow all the same.
    pub stalls: CallStats,
}

/// Calls that the kernel answers from memory at once: where such take long, the thread waited for a CPU or for its
/// tracer, and so may the calls on files have done.
pub fn needs_no_device(name: &str) -> bool {
    matches!(
        name,
        "fcntl"
            | "lseek"
            | "dup"
            | "dup2"
            | "dup3"
            | "getpid"
            | "gettid"
            | "getuid"
            | "geteuid"
            | "getgid"
            | "getegid"
            | "umask"
            | "uname"
            | "rt_sigaction"
            | "rt_sigprocmask"
            | "sigaltstack"
            | "set_robust_list"
            | "prlimit64"
    )
}

/// Calls on a descriptor that return when its device has what was written.
pub fn asks_device(syscall: Syscall) -> bool {
    matches!(syscall, Syscall::FSYNC | Syscall::FDATASYNC | Syscall::SYNC_FILE_RANGE | Syscall::SYNCFS)
}

impl SlowFiles {
    /// A call that asks for the device (fsync) takes some turns of a disk by itself, 25 ms at 7,200 rpm for data, journal and
    /// the journal's end. From twice that on the device is slow, or busy with others.
    pub const SLOW_SYNC: Nanos = Nanos::new(50_000_000);
    /// A call on a local file that takes longer has gone to a device: bcc's `fileslower` and `ext4slower` use
    /// the same threshold by default.
    pub const SLOW: Nanos = Nanos::new(10_000_000);
    /// What a call moves may take as long beside that as on the slowest storage that is sold for files in order: 10 MB/s (speed class 10 of
    /// the SD Association), ns a byte.
    const NS_PER_BYTE: u64 = 100;
    /// Patterns kept; past it new ones share one row.
    const MAX_PATTERNS: usize = 512;

    /// All of them, the most time first.
    pub fn by_time(&self) -> Vec<&SlowFile> {
        let mut all: Vec<_> = self.by_pattern.values().collect();
        all.sort_by(|a, b| b.calls.total_ns.cmp(&a.calls.total_ns).then_with(|| a.name.cmp(&b.name)));
        all
    }

    #[cold]
    fn keep(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let name = match (seen.file, seen.fd) {
            (Some(file), _) => world.files.get(file).path.to_string(),
            (None, Some(fd)) => format!("fd {fd}"),
            (None, None) => return,
        };
        if seen.kind == FdKind::Pipe || !matches!(FdKind::of_path(name.as_bytes()), FdKind::File) {
            return;
        }
        let mut pattern = crate::pattern::pattern_of(&name).into_owned();
        if self.by_pattern.len() >= Self::MAX_PATTERNS && !self.by_pattern.contains_key(&pattern) {
            pattern = "(other files)".to_string();
        }
        let slow = self.by_pattern.entry(pattern).or_insert_with_key(|pattern| SlowFile {
            name: if pattern.starts_with('(') { pattern.clone() } else { name.clone() },
            tid: call.tid,
            ..SlowFile::default()
        });
        if slow.name != name && !slow.several {
            slow.several = true;
            slow.name = crate::pattern::pattern_of(&name).into_owned();
        }
        slow.shared |= slow.tid != call.tid;
        slow.calls.record(call.dur, call.failed(), seen.bytes);
        match slow.by_syscall.iter_mut().find(|(syscall, _)| *syscall == call.syscall) {
            Some((_, count)) => *count += 1,
            None => slow.by_syscall.push((call.syscall, 1)),
        }
        slow.exemplars.see(call);
    }
}

impl Fold for SlowFiles {
    fn wants(&self, syscall: Syscall) -> bool {
        let info = syscall.info();
        let on_path = info.class == Class::File
            && info.path != PathArg::None
            && !matches!(syscall, Syscall::EXECVE | Syscall::EXECVEAT | Syscall::MEMFD_CREATE)
            && !matches!(info.name, "mount" | "umount2" | "swapon" | "swapoff" | "pivot_root" | "chroot");
        let on_content = matches!(info.moves, Moves::Read | Moves::Write) && info.class != Class::Network;
        needs_no_device(info.name)
            || on_path
            || on_content
            || asks_device(syscall)
            || matches!(syscall, Syscall::GETDENTS | Syscall::GETDENTS64)
    }

    fn when(&self, _: Syscall) -> When {
        When::Slow
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        if seen.call.dur.or_zero() < Self::SLOW.or_zero() || seen.waits.is_some() {
            return;
        }
        if needs_no_device(seen.call.syscall.info().name) {
            return self.stalls.record(seen.call.dur, seen.call.failed(), 0);
        }
        let moves = seen.bytes.saturating_mul(Self::NS_PER_BYTE);
        if seen.call.dur.or_zero() < Self::SLOW.or_zero().saturating_add(moves) {
            return;
        }
        if asks_device(seen.call.syscall) && seen.call.dur.or_zero() < Self::SLOW_SYNC.or_zero() {
            return;
        }
        // Writes that wait for the device by request (O_SYNC) are no surprise.
        let life = seen.life.and_then(|id| world.fds.get(id));
        if life.is_some_and(|life| life.sync) && seen.call.syscall.info().moves == Moves::Write {
            return;
        }
        let on_descriptor = seen.life.is_some() && seen.call.syscall.info().path == PathArg::None;
        if !on_descriptor || matches!(seen.kind, FdKind::File | FdKind::Directory) {
            self.keep(seen, world);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use whyslow_model::{Call, Event, Ret, Sink};

    fn push(facts: &mut Facts, name: &str, args: &str, ret: i64, ms: u64) {
        let mut call = Call::new(name, args);
        call.ret = Ret::Value(ret);
        call.dur = Nanos::new(ms * 1_000_000);
        facts.push(Event::Call(&call));
    }

    #[test]
    fn slow_calls_on_files_are_kept_by_pattern_and_waits_are_not() {
        let mut facts = Facts::default();
        for n in 1..=3 {
            push(&mut facts, "openat", &format!(r#"AT_FDCWD, "/data/{n}.db", O_RDONLY"#), 3, 12);
            push(&mut facts, "read", r#"3, "x"..., 4096"#, 4096, 20);
            push(&mut facts, "read", r#"3, "x"..., 4096"#, 4096, 1);
            push(&mut facts, "close", "3", 0, 50);
        }
        push(&mut facts, "openat", r#"AT_FDCWD, "/proc/self/smaps", O_RDONLY"#, 3, 40);
        push(&mut facts, "read", r#"0, "x"..., 4096"#, 5, 400);
        // A journal that is written with O_DSYNC waits because it asked to.
        push(&mut facts, "openat", r#"AT_FDCWD, "/data/journal", O_WRONLY|O_DSYNC"#, 4, 0);
        push(&mut facts, "write", r#"4, "x"..., 4096"#, 4096, 30);
        // So does an fsync, up to what a disk takes for it.
        push(&mut facts, "openat", r#"AT_FDCWD, "/data/7.db", O_RDWR"#, 5, 0);
        push(&mut facts, "fsync", "5", 0, 30);
        push(&mut facts, "fdatasync", "5", 0, 160);
        // A signal mask needs no device: whoever waits there waits for a CPU.
        push(&mut facts, "rt_sigprocmask", "SIG_BLOCK, [CHLD], [], 8", 0, 15);
        let slow = facts.slow_files.by_time();
        assert_eq!((slow.len(), facts.slow_files.stalls.count), (1, 1));
        assert_eq!((slow[0].name.as_str(), slow[0].calls.count), ("/data/{n}.db", 7));
        assert_eq!(slow[0].by_syscall, [(Syscall::OPENAT, 3), (Syscall::READ, 3), (Syscall::FDATASYNC, 1)]);
    }
}
