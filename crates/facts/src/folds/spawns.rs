//! Spawns: processes that were forked, programs that were started, and where programs were looked for in vain.

use crate::Fold;
use crate::exemplar::Exemplars;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{CallStats, Errno, Syscall, Timestamp};

/// What one process forked and started.
#[derive(Debug, Default)]
pub struct Forks {
    /// Successful forks: fork, vfork, and clone that makes no thread. The time of a vfork lasts until the
    /// child executes a program.
    pub forks: CallStats,
    /// Of these, those for which the kernel copied the page tables of the parent: fork, and clone without CLONE_VM.
    pub copies: CallStats,
    /// Lines of those.
    pub copy_lines: Exemplars,
    /// wait4 and waitid.
    pub waits: CallStats,
    /// Programs that its children started, by path.
    pub programs: HashMap<Box<str>, CallStats>,
    /// Its first thread that forked.
    pub tid: Tid,
    /// Another thread did too.
    pub shared: bool,
    /// The first fork.
    pub first: Timestamp,
    /// The last.
    pub last: Timestamp,
    /// Lines of forks.
    pub exemplars: Exemplars,
    /// Lines of programs that started.
    pub exec_exemplars: Exemplars,
}

/// Programs looked for along PATH.
#[derive(Debug, Default)]
pub struct ProgramSearches {
    /// execve calls that found no such file.
    pub misses: CallStats,
    /// Programs that were found after at least one directory without them.
    pub found: u64,
    /// The program that took the most tries, and how many.
    pub longest: Option<(Box<str>, u32)>,
    /// The first thread that searched.
    pub tid: Tid,
    /// The first miss.
    pub first: Timestamp,
    /// The last.
    pub last: Timestamp,
    /// Lines of misses.
    pub exemplars: Exemplars,
    /// Misses in a row by thread.
    runs: Vec<u32>,
}

/// All spawns. Processes past the cap are not told apart and not counted in [`Spawns::by_parent`].
#[derive(Debug, Default)]
pub struct Spawns {
    /// By the process that forked.
    pub by_parent: HashMap<ProcessId, Forks>,
    /// Failed searches for programs.
    pub searches: ProgramSearches,
}

impl Spawns {
    const MAX_PARENTS: usize = 1024;
    const MAX_PROGRAMS: usize = 128;

    fn parent(&mut self, process: ProcessId) -> Option<&mut Forks> {
        if self.by_parent.len() >= Self::MAX_PARENTS && !self.by_parent.contains_key(&process) {
            return None;
        }
        Some(self.by_parent.entry(process).or_default())
    }

    fn forked(&mut self, seen: &Seen<'_>) {
        let call = seen.call;
        // In the child the call returns 0: the same fork once more.
        if call.ok().is_none_or(|child| child <= 0)
            || memchr::memmem::find(call.args, b"CLONE_THREAD").is_some()
        {
            return;
        }
        let Some(forks) = self.parent(seen.process) else {
            return;
        };
        if forks.forks.count == 0 {
            (forks.tid, forks.first) = (call.tid, call.ts);
        }
        forks.shared |= forks.tid != call.tid;
        forks.last = call.ts;
        forks.forks.record(call.dur, false, 0);
        forks.exemplars.see(call);
        let shares_memory =
            call.syscall == Syscall::VFORK || memchr::memmem::find(call.args, b"CLONE_VM").is_some();
        if !shares_memory {
            forks.copies.record(call.dur, false, 0);
            forks.copy_lines.see(call);
        }
    }

    fn executed(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let Some(path) = seen.file.map(|file| &*world.files.get(file).path) else {
            return;
        };
        let at = seen.thread.0 as usize;
        if at >= self.searches.runs.len() {
            self.searches.runs.resize(at + 1, 0);
        }
        if call.errno == Errno::ENOENT {
            return self.searches.missed(seen);
        }
        if call.ok().is_none() {
            return;
        }
        let tries = std::mem::take(&mut self.searches.runs[at]);
        if tries > 0 {
            self.searches.found += 1;
            if self.searches.longest.as_ref().is_none_or(|(_, most)| tries > *most) {
                self.searches.longest = Some((path.into(), tries));
            }
        }
        // Without `-f` the children are not seen; a program that execs itself has no parent here.
        let Some(forks) = world.threads.process(seen.process).parent.and_then(|id| self.parent(id)) else {
            return;
        };
        forks.exec_exemplars.see(call);
        let room = forks.programs.len() < Self::MAX_PROGRAMS;
        if let Some(stats) = forks.programs.get_mut(path) {
            stats.record(call.dur, false, 0);
        } else if room {
            forks.programs.entry(path.into()).or_default().record(call.dur, false, 0);
        }
    }
}

impl ProgramSearches {
    fn missed(&mut self, seen: &Seen<'_>) {
        let call = seen.call;
        if self.misses.count == 0 {
            (self.tid, self.first) = (call.tid, call.ts);
        }
        self.last = call.ts;
        self.runs[seen.thread.0 as usize] += 1;
        self.misses.record(call.dur, true, 0);
        self.exemplars.see(call);
    }
}

impl Forks {
    /// Programs started by the children.
    pub fn execs(&self) -> u64 {
        self.programs.values().map(|stats| stats.count).sum()
    }

    /// The program that was started most often, and how often.
    pub fn favourite(&self) -> Option<(&str, u64)> {
        let most = self.programs.iter().max_by_key(|(path, stats)| (stats.count, std::cmp::Reverse(*path)));
        most.map(|(path, stats)| (&**path, stats.count))
    }
}

impl Fold for Spawns {
    fn wants(&self, syscall: Syscall) -> bool {
        matches!(
            syscall,
            Syscall::FORK
                | Syscall::VFORK
                | Syscall::CLONE
                | Syscall::CLONE3
                | Syscall::EXECVE
                | Syscall::EXECVEAT
                | Syscall::WAIT4
                | Syscall::WAITID
        )
    }

    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        match seen.call.syscall {
            Syscall::EXECVE | Syscall::EXECVEAT => self.executed(seen, world),
            Syscall::WAIT4 | Syscall::WAITID => {
                if let Some(forks) = self.by_parent.get_mut(&seen.process) {
                    forks.waits.record(seen.call.dur, seen.call.failed(), 0);
                }
            }
            _ => self.forked(seen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use whyslow_model::{Call, Event, Ret, Sink};

    fn call(facts: &mut Facts, tid: Tid, name: &str, args: &str, ret: i64, errno: Errno) {
        facts.push(Event::Call(&Call { tid, ret: Ret::Value(ret), errno, ..Call::new(name, args) }));
    }

    #[test]
    fn forks_programs_and_searches() {
        let mut facts = Facts::default();
        for child in 10..13 {
            let fork = "child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f";
            call(&mut facts, 1, "clone", fork, child, Errno::NONE);
            let child = child as Tid;
            call(&mut facts, child, "execve", r#""/usr/local/bin/date", ["date"], 0x5"#, -1, Errno::ENOENT);
            call(&mut facts, child, "execve", r#""/usr/bin/date", ["date"], 0x5"#, 0, Errno::NONE);
            call(&mut facts, 1, "wait4", "-1, NULL, 0, NULL", child as i64, Errno::NONE);
        }
        call(&mut facts, 1, "clone", "flags=CLONE_VM|CLONE_THREAD", 20, Errno::NONE);
        call(&mut facts, 1, "clone3", "{flags=CLONE_VM|CLONE_VFORK}, 88", 21, Errno::NONE);
        facts.finish();
        let [forks] = facts.spawns.by_parent.values().collect::<Vec<_>>()[..] else {
            panic!("one parent expected: {:?}", facts.spawns)
        };
        assert_eq!((forks.forks.count, forks.copies.count, forks.waits.count), (4, 3, 3));
        assert_eq!(forks.favourite(), Some(("/usr/bin/date", 3)));
        let searches = &facts.spawns.searches;
        assert_eq!((searches.misses.count, searches.found), (3, 3));
        assert_eq!(searches.longest, Some(("/usr/bin/date".into(), 1)));
    }
}
