//! Files that are saved safely: written under another name, synced, and renamed into place. Each such save waits for the device.

use crate::Fold;
use crate::exemplar::Exemplars;
use crate::world::files::FileFacts;
use crate::world::ids::{FileId, ProcessId};
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{Call, FdKind, Nanos, Syscall, text};

/// The saves of files of one pattern by one process.
#[derive(Clone, Debug)]
pub struct Saves {
    /// The process.
    pub process: ProcessId,
    /// The first thread that saved one.
    pub tid: Tid,
    /// Another thread did too.
    pub shared: bool,
    /// The pattern of the names that the files have in the end.
    pub pattern: Box<str>,
    /// Files renamed into place after their content was synced.
    pub saves: u64,
    /// Bytes written to them, as far as that is seen.
    pub bytes: u64,
    /// Calls of fsync and fdatasync: on the files, and on their directory right behind.
    pub syncs: u64,
    /// Time in those, and in the renames, ns.
    pub ns: u64,
    /// Of these calls, those whose duration is known.
    pub timed: u64,
    /// Lines of syncs.
    pub syncs_seen: Exemplars,
    /// Lines of renames.
    pub renames_seen: Exemplars,
}

impl Saves {
    fn add(&mut self, call: &Call<'_>) {
        self.timed += call.dur.is_known() as u64;
        self.ns = self.ns.saturating_add(call.dur.or_zero());
    }

    /// Time in the syncs and renames; unknown where no duration is.
    pub fn time(&self) -> Nanos {
        if self.timed == 0 { Nanos::UNKNOWN } else { Nanos::new(self.ns) }
    }
}

/// A file that was synced and not yet renamed.
#[derive(Debug, Default)]
struct Synced {
    syncs: u64,
    ns: u64,
    timed: u64,
    lines: Exemplars,
}

/// Safe saves by process and pattern.
#[derive(Debug, Default)]
pub struct SafeSaves {
    /// The rows.
    pub rows: Vec<Saves>,
    by_pattern: HashMap<(ProcessId, Box<str>), u32>,
    synced: HashMap<FileId, Synced>,
    /// By thread: the row of its last save, from 1.
    last: Vec<u32>,
}

impl SafeSaves {
    /// Patterns told apart; the saves of further ones are not told.
    const MAX_ROWS: usize = 512;
    /// Files that wait for their rename: when there are more, those before are given up.
    const MAX_SYNCED: usize = 4_096;

    fn sync(&mut self, seen: &Seen<'_>) {
        let (call, thread) = (seen.call, seen.thread.0 as usize);
        if seen.kind == FdKind::Directory {
            // The directory is synced so that the new name lasts.
            let row = self.last.get_mut(thread).map_or(0, std::mem::take);
            if let Some(row) = self.rows.get_mut((row as usize).wrapping_sub(1)) {
                row.syncs += 1;
                row.add(call);
            }
            return;
        }
        let Some(file) = seen.file else { return };
        if self.synced.len() >= Self::MAX_SYNCED {
            self.synced.clear();
        }
        let synced = self.synced.entry(file).or_default();
        synced.syncs += 1;
        synced.timed += call.dur.is_known() as u64;
        synced.ns = synced.ns.saturating_add(call.dur.or_zero());
        synced.lines.see(call);
    }

    fn rename(&mut self, seen: &Seen<'_>, world: &World) {
        let (call, thread) = (seen.call, seen.thread.0 as usize);
        let Some((file, synced)) = seen.file.and_then(|file| Some((file, self.synced.remove(&file)?))) else {
            return;
        };
        let file = world.files.get(file);
        let pattern: Box<str> = crate::pattern::pattern_of(&target(call, file)).into();
        let key = (seen.process, pattern);
        let at = match self.by_pattern.get(&key) {
            Some(at) => *at as usize,
            None if self.rows.len() >= Self::MAX_ROWS => return,
            None => {
                self.rows.push(Saves {
                    process: seen.process,
                    tid: call.tid,
                    shared: false,
                    pattern: key.1.clone(),
                    saves: 0,
                    bytes: 0,
                    syncs: 0,
                    ns: 0,
                    timed: 0,
                    syncs_seen: Exemplars::default(),
                    renames_seen: Exemplars::default(),
                });
                self.by_pattern.insert(key, self.rows.len() as u32 - 1);
                self.rows.len() - 1
            }
        };
        let row = &mut self.rows[at];
        row.saves += 1;
        row.shared |= row.tid != call.tid;
        row.bytes = row.bytes.saturating_add(file.written);
        row.syncs += synced.syncs;
        row.timed += synced.timed;
        row.ns = row.ns.saturating_add(synced.ns);
        row.syncs_seen.merge(&synced.lines);
        row.renames_seen.see(call);
        row.add(call);
        if self.last.len() <= thread {
            self.last.resize(thread + 1, 0);
        }
        self.last[thread] = at as u32 + 1;
    }
}

/// The name that a rename gives: of a relative one the last part, in the folder of the file.
fn target(call: &Call<'_>, file: &FileFacts) -> String {
    let of = match call.syscall {
        Syscall::RENAME => call.arg(1),
        _ => call.arg(3),
    };
    let name = of.and_then(text::quoted).map(|(name, _)| text::lossy(name));
    match name {
        Some(name) if name.starts_with('/') => name.to_string(),
        Some(name) => {
            let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let last = name.rsplit('/').next().unwrap_or_default();
            if folder.is_empty() { last.to_string() } else { format!("{folder}/{last}") }
        }
        None => file.path.to_string(),
    }
}

impl Fold for SafeSaves {
    fn wants(&self, syscall: Syscall) -> bool {
        matches!(
            syscall,
            Syscall::FSYNC | Syscall::FDATASYNC | Syscall::RENAME | Syscall::RENAMEAT | Syscall::RENAMEAT2
        )
    }

    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        if seen.call.ok().is_none() {
            return;
        }
        match seen.call.syscall {
            Syscall::FSYNC | Syscall::FDATASYNC => self.sync(seen),
            _ => self.rename(seen, world),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Event, Nanos, Ret, Sink};

    fn play(calls: &[(&str, &str, i64)]) -> Facts {
        let mut facts = Facts::default();
        for (name, args, ret) in calls {
            let call =
                Call { tid: 7, ret: Ret::Value(*ret), dur: Nanos::from_millis(1), ..Call::new(name, args) };
            facts.push(Event::Call(&call));
        }
        facts.finish();
        facts
    }

    #[test]
    fn a_synced_file_that_is_renamed_is_a_save() {
        let open = "AT_FDCWD, \"/srv/q/a.tmp\", O_WRONLY|O_CREAT|O_TRUNC, 0644";
        let facts = play(&[
            ("openat", open, 3),
            ("write", "3, \"x\", 1", 1),
            ("fsync", "3", 0),
            ("close", "3", 0),
            ("rename", "\"/srv/q/a.tmp\", \"/srv/q/a\"", 0),
            ("openat", "AT_FDCWD, \"/srv/q\", O_RDONLY|O_DIRECTORY", 3),
            ("fsync", "3", 0),
            ("close", "3", 0),
        ]);
        let [row] = facts.safe_saves.rows.as_slice() else { panic!("one row") };
        assert_eq!((&*row.pattern, row.saves, row.syncs, row.bytes), ("/srv/q/a", 1, 2, 1));
        assert_eq!(row.time(), Nanos::from_millis(3));
    }

    #[test]
    fn what_was_not_synced_is_none() {
        let facts = play(&[
            ("openat", "AT_FDCWD, \"/srv/q/a.tmp\", O_WRONLY|O_CREAT, 0644", 3),
            ("close", "3", 0),
            ("rename", "\"/srv/q/a.tmp\", \"/srv/q/a\"", 0),
            ("rename", "\"/srv/q/b.tmp\", \"/srv/q/b\"", 0),
        ]);
        assert!(facts.safe_saves.rows.is_empty());
    }
}
