//! Files of other processes under /proc that a program reads: shared by the rules on monitors.

use crate::gate::gated;
use crate::guards::{self, Share};
use whyslow_facts::{Exemplar, Facts, FileFacts};
use whyslow_model::{Nanos, Tid};

/// What was done with such files, in all.
#[derive(Default)]
pub(super) struct Reading<'a> {
    /// Different files, those that were merged for want of room included.
    pub(super) files: u64,
    /// Times that one was opened.
    pub(super) opens: u64,
    /// Calls on them.
    pub(super) calls: u64,
    /// Time in these, ns.
    pub(super) time_ns: u64,
    /// Bytes read.
    pub(super) bytes: u64,
    /// Last parts of their names, the most time first.
    pub(super) names: Vec<(&'a str, u64)>,
    /// The thread that did it; `None` where several did.
    pub(super) tid: Option<Tid>,
    /// The file that took most time.
    pub(super) worst: Option<&'a FileFacts>,
}

impl<'a> Reading<'a> {
    /// Of all files `/proc/PID/…` whose last name is `wanted`.
    #[gated]
    pub(super) fn of(facts: &'a Facts, wanted: impl Fn(&str) -> bool) -> Reading<'a> {
        let files = &facts.world.files;
        let mut all: Vec<&FileFacts> =
            files.iter().map(|(_, file)| file).chain(files.merged.values()).collect();
        all.sort_by(|a, b| a.path.cmp(&b.path));
        let mut sum = Reading::default();
        let mut any = false;
        for file in all {
            let Some(name) = name_of(&file.path).filter(|name| wanted(name)) else { continue };
            sum.files += file.merged.max(1);
            sum.opens += file.opens;
            sum.calls = sum.calls.saturating_add(file.calls());
            sum.time_ns = sum.time_ns.saturating_add(file.time_ns());
            sum.bytes = sum.bytes.saturating_add(file.bytes_read());
            match sum.names.iter_mut().find(|(known, _)| *known == name) {
                Some((_, time)) => *time += file.time_ns(),
                None => sum.names.push((name, file.time_ns())),
            }
            sum.tid = match sum.tid {
                _ if file.shared => None,
                None if !any => Some(file.tid),
                known => known.filter(|tid| *tid == file.tid),
            };
            any = true;
            if sum.worst.is_none_or(|worst| worst.time_ns() < file.time_ns()) {
                sum.worst = Some(file);
            }
        }
        sum.names.sort_by_key(|(name, time)| (std::cmp::Reverse(*time), *name));
        sum
    }

    /// The part of the time of the thread that does it.
    pub(super) fn share(&self, facts: &Facts) -> Share {
        guards::share_of_ns(facts, self.tid, Nanos::new(self.time_ns), self.calls)
    }

    /// Lines that show it.
    pub(super) fn lines(&self) -> impl Iterator<Item = &'a Exemplar> {
        let file = self.worst;
        file.into_iter().flat_map(|file| {
            let reads = file.reads.as_deref().into_iter().flat_map(|io| io.exemplars.iter());
            file.exemplars.iter().chain(reads)
        })
    }
}

/// `smaps` of `/proc/812/smaps`, `status` of `/proc/812/task/815/status`; `None` for what is not of a process, or of the
/// asking one itself.
#[gated]
fn name_of(path: &str) -> Option<&str> {
    let (pid, rest) = path.strip_prefix("/proc/")?.split_once('/')?;
    let a_process = pid == "{n}" || !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    if !a_process {
        return None;
    }
    match rest.strip_prefix("fd/").or_else(|| rest.strip_prefix("fdinfo/")) {
        Some(_) => Some("fd"),
        None => rest.rsplit('/').next().filter(|name| !name.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Call, Event, Ret, Sink, Timestamp};

    fn read_by(tids: &[Tid]) -> Facts {
        let mut facts = Facts::default();
        for (at, tid) in tids.iter().enumerate() {
            let call = |name, args, ret, ns| {
                let mut call = Call::new(name, args);
                (call.tid, call.ts, call.dur) = (*tid, Timestamp::new(ns), Nanos::new(1_000));
                call.ret = Ret::Value(ret);
                call
            };
            let ns = at as u64 * 10_000;
            facts.push(Event::Call(&call("openat", r#"AT_FDCWD, "/proc/812/smaps", O_RDONLY"#, 3, ns)));
            facts.push(Event::Call(&call("read", r#"3, "55d0"..., 4096"#, 4096, ns + 2_000)));
            facts.push(Event::Call(&call("close", "3", 0, ns + 4_000)));
        }
        facts.finish();
        facts
    }

    #[test]
    fn a_thread_is_named_only_where_it_is_the_only_one() {
        let tid = |tids: &[Tid]| Reading::of(&read_by(tids), |name| name == "smaps").tid;
        assert_eq!(tid(&[7, 7]), Some(7));
        assert_eq!(tid(&[7, 8]), None);
        assert_eq!(tid(&[7, 8, 8]), None);
    }

    #[test]
    fn only_files_of_processes_count() {
        assert_eq!(name_of("/proc/812/smaps"), Some("smaps"));
        assert_eq!(name_of("/proc/{n}/task/{n}/status"), Some("status"));
        assert_eq!(name_of("/proc/812/fd/7"), Some("fd"));
        for path in
            ["/proc/self/stat", "/proc/meminfo", "/proc/sys/kernel/pid_max", "/proc/812", "/proc//stat"]
        {
            assert_eq!(name_of(path), None, "{path}");
        }
    }
}
