//! Searches: one name tried in one directory after the other until it is found, or not.

use crate::Fold;
use crate::exemplar::Exemplars;
use crate::world::files::FileFacts;
use crate::world::{Seen, World, is_stat_family};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use std::hash::BuildHasher;
use whyslow_model::event::Tid;
use whyslow_model::{CallStats, Errno, Nanos, Syscall, Timestamp};

/// Searches for files along directories: imports, shared libraries, headers. Searches for programs are in
/// [`crate::Spawns`].
#[derive(Debug, Default)]
pub struct Searches {
    /// Names that were found after at least one directory without them.
    pub found: u64,
    /// Names that were found nowhere, after at least two directories.
    pub given_up: u64,
    /// Lookups that found no such file, of those searches.
    pub misses: CallStats,
    /// The same by the directory that was tried in vain.
    pub directories: HashMap<Box<str>, CallStats>,
    /// The name that took the most tries, and how many.
    pub longest: Option<(Box<str>, u32)>,
    /// The first thread that searched.
    pub tid: Tid,
    /// Another thread did too.
    pub shared: bool,
    /// The first miss.
    pub first: Timestamp,
    /// The last.
    pub last: Timestamp,
    /// Lines of misses in a second directory and later ones.
    pub exemplars: Exemplars,
    runs: Vec<Run>,
    hasher: FixedState,
}

/// The search that a thread is in.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    stem: u64,
    directory: u64,
    misses: u32,
    total_ns: u64,
    timed: bool,
    /// More than one directory was tried.
    several: bool,
}

impl Searches {
    /// Directories told apart.
    const MAX_DIRECTORIES: usize = 512;

    /// The directories that were tried in vain most often, the most first.
    pub fn worst_directories(&self) -> Vec<(&str, &CallStats)> {
        let mut all: Vec<_> = self.directories.iter().map(|(path, stats)| (&**path, stats)).collect();
        all.sort_by_key(|(path, stats)| (std::cmp::Reverse(stats.count), *path));
        all
    }

    #[cold]
    fn end(&mut self, run: Run, found: bool, path: &str) {
        if !run.several && !found {
            return;
        }
        self.found += found as u64;
        self.given_up += !found as u64;
        let total = if run.timed { Nanos::new(run.total_ns) } else { Nanos::UNKNOWN };
        self.misses.merge(&CallStats::of_totals(run.misses as u64, run.misses as u64, total));
        if found && self.longest.as_ref().is_none_or(|(_, tries)| run.misses > *tries) {
            self.longest = Some((path.into(), run.misses));
        }
    }

    fn missed(&mut self, seen: &Seen<'_>, file: &FileFacts) {
        let call = seen.call;
        let (directory, name) = split(&file.path);
        let stem = self.hasher.hash_one(stem_of(name));
        let directory_hash = self.hasher.hash_one(directory);
        let at = seen.thread.0 as usize;
        let known = self.runs[at];
        if known.misses > 0 && known.stem != stem {
            self.end(known, false, "");
            self.runs[at] = Run::default();
        }
        let run = &mut self.runs[at];
        run.stem = stem;
        run.several |= run.misses > 0 && run.directory != directory_hash;
        run.directory = directory_hash;
        run.misses += 1;
        run.total_ns = run.total_ns.saturating_add(call.dur.or_zero());
        run.timed |= call.dur.is_known();
        if run.several {
            self.exemplars.see(call);
        }

        if self.tid == 0 && !self.first.is_known() {
            (self.tid, self.first) = (call.tid, call.ts);
        }
        self.shared |= self.tid != call.tid;
        self.last = call.ts;
        let room = self.directories.len() < Self::MAX_DIRECTORIES;
        if let Some(stats) = self.directories.get_mut(directory) {
            stats.record(call.dur, true, 0);
        } else if room {
            self.directories.entry(directory.into()).or_default().record(call.dur, true, 0);
        }
    }
}

/// Directory and name of a path; without a slash the directory is unknown.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// What stays the same while a name is tried with several endings: `libz` of `libz.so.1`, `os` of `os.pyc`.
fn stem_of(name: &str) -> &str {
    // A dot at the beginning hides the file and ends nothing.
    let dot = name.bytes().skip(1).position(|byte| byte == b'.');
    dot.and_then(|dot| name.get(..dot + 1)).unwrap_or(name)
}

impl Fold for Searches {
    fn wants(&self, syscall: Syscall) -> bool {
        is_stat_family(syscall)
            || matches!(syscall, Syscall::OPEN | Syscall::OPENAT | Syscall::OPENAT2 | Syscall::CREAT)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let Some(file) = seen.file else { return };
        let at = seen.thread.0 as usize;
        if at >= self.runs.len() {
            self.runs.resize(at + 1, Run::default());
        }
        if seen.call.errno == Errno::ENOENT {
            return self.missed(seen, world.files.get(file));
        }
        let run = self.runs[at];
        if run.misses == 0 || seen.call.errno.is_error() {
            return;
        }
        let path = &*world.files.get(file).path;
        let (directory, name) = split(path);
        if self.hasher.hash_one(stem_of(name)) == run.stem {
            self.runs[at] = Run::default();
            if run.several || self.hasher.hash_one(directory) != run.directory {
                self.end(run, true, path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use whyslow_model::{Call, Event, Ret, Sink};

    fn play(lines: &[(&str, bool)]) -> Facts {
        let mut facts = Facts::default();
        for (path, found) in lines {
            let args = format!("AT_FDCWD, \"{path}\", O_RDONLY|O_CLOEXEC");
            let errno = if *found { Errno::NONE } else { Errno::ENOENT };
            let ret = Ret::Value(if *found { 3 } else { -1 });
            facts.push(Event::Call(&Call { tid: 1, ret, errno, ..Call::new("openat", &args) }));
        }
        facts.finish();
        facts
    }

    #[test]
    fn a_name_tried_in_three_directories() {
        let searches = play(&[
            ("/opt/a/lib/libz.so.1", false),
            ("/opt/b/lib/libz.so.1", false),
            ("/usr/lib/libz.so.1", true),
            ("/usr/lib/libc.so.6", true),
        ])
        .searches;
        assert_eq!((searches.found, searches.given_up, searches.misses.count), (1, 0, 2));
        assert_eq!(searches.longest, Some(("/usr/lib/libz.so.1".into(), 2)));
        assert_eq!(searches.worst_directories()[0].0, "/opt/a/lib");
    }

    #[test]
    fn endings_of_one_name_are_one_search() {
        let searches =
            play(&[("/a/Foo.pmc", false), ("/a/Foo.pm", false), ("/b/Foo.pmc", false), ("/b/Foo.pm", true)])
                .searches;
        assert_eq!((searches.found, searches.misses.count), (1, 3));
    }

    #[test]
    fn single_misses_are_no_search() {
        let searches = play(&[
            ("/etc/a.conf", false),
            ("/etc/b.conf", false),
            ("/etc/c.conf", false),
            ("/etc/c.conf", true),
        ])
        .searches;
        assert_eq!((searches.found, searches.given_up, searches.misses.count), (0, 0, 0));
    }

    #[test]
    fn stems() {
        assert_eq!(stem_of("libz.so.1"), "libz");
        assert_eq!(stem_of(".htaccess"), ".htaccess");
        assert_eq!(stem_of(""), "");
        assert_eq!(stem_of("é.x"), "é");
    }
}
