//! Who a process is: names, program, arguments, user, parent, group, container, start, limits.

use super::cgroup;
use super::process::{Stat, Status};
use super::root::{ProcRoot, bounded, decimal, read_at_most};
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use whyslow_model::{ProcessInfo, Tid, Timestamp};
use whyslow_privacy::command_line::without_secrets;

/// Bytes read of a command line. It is cut at 4 KiB once secrets are gone, which need their surroundings.
const COMMAND_LINE: u64 = 16 << 10;

/// What all processes of a host share: its users and its clock.
#[derive(Debug)]
pub(super) struct Identities<'r> {
    root: &'r ProcRoot,
    users: HashMap<u32, String>,
    /// The boot, ns since the epoch; `None` where it cannot be told.
    boot: Option<u64>,
}

impl<'r> Identities<'r> {
    pub(super) fn of(root: &'r ProcRoot) -> Self {
        let users = read_at_most(&root.path("/etc/passwd"), 4 << 20).unwrap_or_default();
        Identities { root, users: parse_users(&users), boot: boot(root) }
    }

    /// What is known of a process; `None` where it has ended.
    pub(super) fn of_process(&self, pid: Tid) -> Option<ProcessInfo> {
        let stat = Stat::read(self.root, pid).ok()?;
        let status = Status::read(self.root, pid).unwrap_or_default();
        let groups = cgroup::memberships(self.root, pid);
        let exe = std::fs::read_link(self.root.of(pid, "exe")).ok();
        let exe = exe.map(|exe| {
            let bytes = exe.as_os_str().as_bytes();
            bounded(bytes.strip_suffix(b" (deleted)").unwrap_or(bytes))
        });
        let arguments = read_at_most(&self.root.of(pid, "cmdline"), COMMAND_LINE).unwrap_or_default();
        Some(ProcessInfo {
            pid,
            tid: None,
            comm: Some(bounded(&stat.comm)),
            user: status.uid.map(|uid| self.users.get(&uid).cloned().unwrap_or_else(|| uid.to_string())),
            parent: Some(stat.parent).filter(|parent| *parent != 0),
            exe,
            cmdline: without_secrets(&arguments),
            uid: status.uid,
            cgroup: cgroup::path_of(&groups).map(str::to_string),
            container: cgroup::container_of_groups(&groups).map(|id| id.chars().take(12).collect()),
            start: self.time(stat.start),
            end: Timestamp::UNKNOWN,
            fd_limit: read_at_most(&self.root.of(pid, "limits"), 16 << 10)
                .ok()
                .and_then(|text| fd_limit(&text)),
            executed: false,
        })
    }

    /// What is known of a thread; `None` where it has ended.
    pub(super) fn of_thread(&self, pid: Tid, tid: Tid) -> Option<ProcessInfo> {
        let stat = Stat::of_thread(self.root, pid, tid).ok()?;
        Some(ProcessInfo {
            pid,
            tid: Some(tid),
            comm: Some(bounded(&stat.comm)),
            start: self.time(stat.start),
            ..ProcessInfo::default()
        })
    }

    fn time(&self, ticks: u64) -> Timestamp {
        let since_boot = ticks.checked_mul(1_000_000_000 / rustix::param::clock_ticks_per_second().max(1));
        self.boot
            .zip(since_boot)
            .and_then(|(boot, since)| boot.checked_add(since))
            .map_or(Timestamp::UNKNOWN, Timestamp::new)
    }
}

/// When the host booted. `btime` of `/proc/stat` is cut to whole seconds; the clocks of the live system tell it better.
fn boot(root: &ProcRoot) -> Option<u64> {
    use rustix::time::{ClockId, clock_gettime};
    if root.is_live() {
        let nanos = |clock| {
            let time = clock_gettime(clock);
            Some(u64::try_from(time.tv_sec).ok()? * 1_000_000_000 + u64::try_from(time.tv_nsec).ok()?)
        };
        return nanos(ClockId::Realtime)?.checked_sub(nanos(ClockId::Boottime)?);
    }
    let text = read_at_most(&root.path("/proc/stat"), 16 << 20).ok()?;
    let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"btime "))?;
    decimal::<u64>(line)?.checked_mul(1_000_000_000)
}

/// `name:x:1000:…` (passwd(5)).
fn parse_users(text: &[u8]) -> HashMap<u32, String> {
    let mut users = HashMap::new();
    for line in text.split(|byte| *byte == b'\n') {
        let mut fields = line.split(|byte| *byte == b':');
        if let (Some(name), Some(uid)) = (fields.next(), fields.nth(1).and_then(decimal)) {
            // The first one of a number, as getpwuid(3).
            users.entry(uid).or_insert_with(|| bounded(name));
        }
    }
    users
}

/// `Max open files            1024                 524288               files`; `unlimited` is none.
fn fd_limit(text: &[u8]) -> Option<u64> {
    let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Max open files"))?;
    decimal(line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ourselves() {
        let root = ProcRoot::live();
        let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        let own = Identities::of(&root).of_process(std::process::id()).expect("we are there");
        let started = own.start.get().expect("a start");
        assert!(started < before.as_nanos() as u64);
        // This test began after its process, and no test runs for a day.
        assert!(before.as_nanos() as u64 - started < 86_400_000_000_000);
        assert_eq!(own.uid, Some(rustix::process::geteuid().as_raw()));
        assert!(own.fd_limit.is_some() && own.parent.is_some() && own.exe.is_some() && own.cmdline.is_some());
    }

    #[test]
    fn users_and_limits() {
        let users = parse_users(b"root:x:0:0:root:/root:/bin/sh\ntoor:x:0:0\n:\nbad\nbob:x:1000:\n");
        assert_eq!((users.get(&0).map(String::as_str), users.len()), (Some("root"), 2));
        assert_eq!(
            fd_limit(b"Limit\nMax open files            1024                 524288               files\n"),
            Some(1024)
        );
        assert_eq!(fd_limit(b"Max open files  unlimited"), None);
    }
}
