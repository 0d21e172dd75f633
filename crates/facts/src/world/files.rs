//! Files by path: how often asked for, opened, read, written, removed.

use crate::exemplar::Exemplars;
use crate::io::IoStats;
use crate::pattern::{LastDirectory, pattern_of};
use crate::world::file_users::Users;
use crate::world::ids::FileId;
use crate::world::rounds::Rounds;
use hashbrown::{HashMap, HashTable};
use std::borrow::Cow;
use std::hash::BuildHasher;
use whyslow_model::event::Tid;
use whyslow_model::{CallStats, Nanos, RareStats, SaturatingSum, Timestamp};

/// What was done with one path.
#[derive(Debug, Default)]
pub struct FileFacts {
    /// The path as captured (strace's escapes kept), made absolute where the working directory is known.
    pub path: Box<str>,
    /// All calls that take the path: open, stat, access, unlink, … Their time and errors.
    pub path_calls: CallStats,
    /// Of these, the stat family (stat, lstat, access, statx, readlink, …).
    pub stats: u64,
    /// Of these, with the same answer as the time before.
    pub stats_same: u64,
    /// stat-family calls that found no such file.
    pub stats_missing: u64,
    /// Successful opens.
    pub opens: u64,
    /// Opens that failed.
    pub open_failures: u64,
    /// Opens that may have created or truncated it.
    pub creates: u64,
    /// Opened with O_SYNC or O_DSYNC.
    pub sync_opens: u64,
    /// Opened for appending.
    pub append_opens: u64,
    /// Removals.
    pub unlinks: u64,
    /// Renames to this path.
    pub renames_to: u64,
    /// getdents calls, and the bytes of entries they brought.
    pub directory_reads: RareStats,
    /// Reads through descriptors that led here.
    pub reads: Option<Box<IoStats>>,
    /// Writes.
    pub writes: Option<Box<IoStats>>,
    /// Times it was opened, read and closed.
    pub rounds: Rounds,
    /// lseek calls.
    pub seeks: RareStats,
    /// fsync and fdatasync.
    pub syncs: RareStats,
    /// The first line of those and the longest.
    pub sync_exemplars: Exemplars,
    /// The largest size seen or offset reached, bytes.
    pub size: Option<u64>,
    /// True where `size` was stated (fstat, snapshot), not inferred from offsets.
    pub size_stated: bool,
    /// The first thread that used it.
    pub tid: Tid,
    /// Another thread did too.
    pub shared: bool,
    /// First and last use.
    pub first: Timestamp,
    /// The last use.
    pub last: Timestamp,
    /// Who uses it, by calls that were seen one by one.
    pub users: Users,
    /// Who uses it, by calls that the kernel added up: where there are such, of the whole time.
    pub counted: Users,
    /// Lines of path calls.
    pub exemplars: Exemplars,
    /// Paths merged into this row; 0 for a file kept apart.
    pub merged: u64,
    /// It is a FIFO: who reads from it waits for a writer, and no device.
    pub fifo: bool,
    pub(crate) last_answer: u64,
    pub(crate) created_here: bool,
    pub(crate) open_now: u32,
    /// Read and written bytes since it was created here.
    pub(crate) read_back: u64,
    pub(crate) written: u64,
    pub(crate) io_ns: u64,
    used: bool,
}

impl FileFacts {
    /// Bytes read.
    pub fn bytes_read(&self) -> u64 {
        self.reads.as_ref().map_or(0, |io| io.calls.bytes)
    }
    /// Bytes written.
    pub fn bytes_written(&self) -> u64 {
        self.writes.as_ref().map_or(0, |io| io.calls.bytes)
    }
    /// Time in all calls on it, ns (of the timed ones).
    pub fn time_ns(&self) -> u64 {
        let io = [&self.reads, &self.writes].into_iter().flatten().map(|io| io.calls.total_ns);
        let others = [&self.path_calls, &self.directory_reads, &self.syncs, &self.seeks];
        io.chain(others.map(|calls| calls.total_ns)).saturating_sum()
    }
    /// Times that it was listed, of a directory: each listing begins with an open.
    pub fn listings(&self) -> u64 {
        self.opens.max(1)
    }
    /// Entries of one listing, about: by their bytes.
    pub fn listed_entries(&self) -> u64 {
        /// An entry with a name of twelve characters (linux_dirent64: 19 bytes and the name, rounded up to eight).
        const ENTRY: u64 = 32;
        self.directory_reads.bytes / self.listings() / ENTRY
    }
    /// All calls on it.
    pub fn calls(&self) -> u64 {
        let io = [&self.reads, &self.writes].into_iter().flatten().map(|io| io.calls.count);
        let others = [&self.path_calls, &self.directory_reads, &self.syncs, &self.seeks];
        io.chain(others.map(|calls| calls.count)).saturating_sum()
    }
    /// All calls on it, those that the kernel added up too: a measure of how much it is used.
    fn uses(&self) -> u64 {
        self.calls().saturating_add(self.counted.sum().calls())
    }
    /// The pattern that the path is one of.
    pub fn pattern(&self) -> String {
        pattern_of(&self.path).into_owned()
    }
    /// From first to last use; unknown without a clock.
    pub fn span(&self) -> Nanos {
        self.last.since(self.first)
    }
}

/// Files of one pattern that were created, written and removed within the capture.
#[derive(Debug, Default, Clone)]
pub struct TempFiles {
    /// The pattern.
    pub pattern: String,
    /// Files created and removed.
    pub files: u64,
    /// Of these, written and read back before they were removed.
    pub read_back_files: u64,
    /// Bytes written to them.
    pub written: u64,
    /// Bytes read back from them.
    pub read_back: u64,
    /// Time in reads, writes, opens and removals, ns.
    pub io_ns: u64,
    /// From their first use to their removal, together, ns.
    pub lived_ns: u64,
    /// The first thread that made one.
    pub tid: Tid,
    /// The first path.
    pub example: Box<str>,
    /// First and last use.
    pub first: Timestamp,
    /// The last.
    pub last: Timestamp,
    /// Lines.
    pub exemplars: Exemplars,
}

/// All files. Bounded: when there are too many, the least used are merged into one row a pattern.
#[derive(Debug, Default)]
pub struct Files {
    files: Vec<FileFacts>,
    index: HashTable<u32>,
    free: Vec<u32>,
    hasher: foldhash::fast::RandomState,
    /// Least-used files that were merged away, by pattern.
    pub merged: HashMap<String, FileFacts>,
    /// Temporary files by pattern.
    pub temp: HashMap<String, TempFiles>,
    /// Paths that were merged away.
    pub merged_paths: u64,
    /// Rows of calls that the kernel added up.
    pub sums: u64,
    directory_pattern: LastDirectory,
}

impl Files {
    /// Paths kept apart. A row is about 1 KiB.
    const MAX_FILES: usize = 12_288;
    /// Patterns kept; past it new ones share one row.
    const MAX_PATTERNS: usize = 2048;
    /// Longer paths are cut: PATH_MAX (limits.h) is 4096.
    const MAX_PATH: usize = 4096;

    /// The file of that path, made if it was not there.
    #[inline]
    pub(crate) fn intern(&mut self, path: &[u8]) -> FileId {
        let path = &path[..path.len().min(Self::MAX_PATH)];
        let hash = self.hasher.hash_one(path);
        let files = &self.files;
        match self.index.find(hash, |&at| files[at as usize].path.as_bytes() == path) {
            Some(&at) => FileId(at),
            None => self.add(path, hash),
        }
    }

    #[cold]
    fn add(&mut self, path: &[u8], mut hash: u64) -> FileId {
        if let Ok(text) = std::str::from_utf8(path) {
            return self.insert(text.into(), hash);
        }
        // Not UTF-8: strace escapes such bytes, other sources may not. Known by its repaired form.
        let repaired = String::from_utf8_lossy(path).into_owned();
        hash = self.hasher.hash_one(repaired.as_bytes());
        let files = &self.files;
        match self.index.find(hash, |&at| *files[at as usize].path == *repaired) {
            Some(&at) => FileId(at),
            None => self.insert(repaired.into(), hash),
        }
    }

    fn insert(&mut self, path: Box<str>, hash: u64) -> FileId {
        if self.index.len() >= Self::MAX_FILES {
            self.merge_least_used();
        }
        let file = FileFacts { path, used: true, ..FileFacts::default() };
        let at = match self.free.pop() {
            Some(at) => {
                self.files[at as usize] = file;
                at
            }
            None => {
                self.files.push(file);
                self.files.len() as u32 - 1
            }
        };
        let (files, hasher) = (&self.files, &self.hasher);
        self.index.insert_unique(hash, at, |&at| hasher.hash_one(files[at as usize].path.as_bytes()));
        FileId(at)
    }

    /// Merges the less used half of the files that are not open into their patterns.
    fn merge_least_used(&mut self) {
        let mut candidates: Vec<(u64, u32)> = self
            .files
            .iter()
            .enumerate()
            .filter(|(_, file)| file.used && file.open_now == 0)
            .map(|(at, file)| (file.uses(), at as u32))
            .collect();
        candidates.sort_unstable();
        candidates.truncate(candidates.len().div_ceil(2));
        for (_, at) in candidates {
            self.remove(FileId(at));
        }
    }

    fn remove(&mut self, id: FileId) {
        let file = std::mem::take(&mut self.files[id.0 as usize]);
        let hash = self.hasher.hash_one(file.path.as_bytes());
        if let Ok(entry) = self.index.find_entry(hash, |&at| at == id.0) {
            entry.remove();
        }
        self.free.push(id.0);
        self.merged_paths += 1;
        // A path in which nothing varies would be a pattern of one: such share a row.
        let pattern = match self.directory_pattern.pattern_of(&file.path) {
            Cow::Owned(pattern) => bounded_key(&self.merged, pattern, Self::MAX_PATTERNS),
            Cow::Borrowed(path) => folder_key(&self.merged, path, Self::MAX_PATTERNS),
        };
        match self.merged.get_mut(&pattern) {
            Some(merged) => merged.absorb(&file),
            None => {
                let mut merged = FileFacts { path: pattern.as_str().into(), ..FileFacts::default() };
                merged.absorb(&file);
                self.merged.insert(pattern, merged);
            }
        }
    }

    /// A file created here was removed: count its life under its pattern.
    pub(crate) fn temp_ended(&mut self, id: FileId, ts: Timestamp) {
        let file = &mut self.files[id.0 as usize];
        let (written, read_back, io_ns) = (file.written, file.read_back, file.io_ns);
        let pattern = file.pattern();
        let (tid, path, first) = (file.tid, file.path.clone(), file.first);
        let exemplars = file.exemplars.clone();
        file.created_here = false;
        (file.written, file.read_back, file.io_ns) = (0, 0, 0);
        let pattern = bounded_key(&self.temp, pattern, Self::MAX_PATTERNS);
        let temp = self.temp.entry(pattern.clone()).or_insert_with(|| TempFiles {
            pattern,
            tid,
            example: path,
            first,
            ..TempFiles::default()
        });
        temp.files += 1;
        temp.read_back_files += (written > 0 && read_back > 0) as u64;
        temp.written += written;
        temp.read_back += read_back;
        temp.io_ns = temp.io_ns.saturating_add(io_ns);
        temp.lived_ns = temp.lived_ns.saturating_add(ts.since(first).or_zero());
        temp.last = ts;
        temp.exemplars.merge(&exemplars);
    }

    /// A file.
    #[inline]
    pub fn get(&self, id: FileId) -> &FileFacts {
        &self.files[id.0 as usize]
    }
    #[inline]
    pub(crate) fn get_mut(&mut self, id: FileId) -> &mut FileFacts {
        &mut self.files[id.0 as usize]
    }
    /// The file of exactly that path.
    pub fn find(&self, path: &str) -> Option<&FileFacts> {
        let hash = self.hasher.hash_one(path.as_bytes());
        self.index
            .find(hash, |&at| *self.files[at as usize].path == *path)
            .map(|&at| &self.files[at as usize])
    }
    /// All files kept apart.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &FileFacts)> {
        self.files
            .iter()
            .enumerate()
            .filter(|(_, file)| file.used)
            .map(|(at, file)| (FileId(at as u32), file))
    }
}

/// The row of all that has no row of its own.
const OTHER_PATHS: &str = "(other paths)";

/// Rows of folders beside those of patterns.
const MAX_FOLDERS: usize = 256;

/// `key`; once `map` is full of others, that of its folder.
fn bounded_key<V>(map: &HashMap<String, V>, key: String, most: usize) -> String {
    if map.len() < most || map.contains_key(&key) { key } else { folder_key(map, &key, most) }
}

/// All that is in the same folder, `/srv/outbox/*`, in a map of `most` patterns; a common key for the rest.
fn folder_key<V>(map: &HashMap<String, V>, path: &str, most: usize) -> String {
    let folder = path.rsplit_once('/').map(|(folder, _)| format!("{folder}/*"));
    let is_known = |folder: &String| map.len() < most + MAX_FOLDERS || map.contains_key(folder);
    folder.filter(is_known).unwrap_or_else(|| OTHER_PATHS.to_string())
}

impl FileFacts {
    fn absorb(&mut self, other: &FileFacts) {
        self.merged += other.merged.max(1);
        self.path_calls.merge(&other.path_calls);
        self.stats += other.stats;
        self.stats_same += other.stats_same;
        self.stats_missing += other.stats_missing;
        self.opens += other.opens;
        self.open_failures += other.open_failures;
        self.creates += other.creates;
        self.sync_opens += other.sync_opens;
        self.append_opens += other.append_opens;
        self.unlinks += other.unlinks;
        self.renames_to += other.renames_to;
        self.directory_reads.merge(&other.directory_reads);
        self.rounds.merge(&other.rounds);
        merge_io(&mut self.reads, other.reads.as_deref());
        merge_io(&mut self.writes, other.writes.as_deref());
        self.seeks.merge(&other.seeks);
        self.syncs.merge(&other.syncs);
        self.sync_exemplars.merge(&other.sync_exemplars);
        self.shared |= other.shared || (self.tid != 0 && self.tid != other.tid);
        if self.tid == 0 {
            self.tid = other.tid;
        }
        if !self.first.is_known() || (other.first.is_known() && other.first < self.first) {
            self.first = other.first;
        }
        if other.last.is_known() && self.last.get().is_none_or(|last| other.last.get() > Some(last)) {
            self.last = other.last;
        }
        self.exemplars.merge(&other.exemplars);
        self.users.merge(&other.users);
        self.counted.merge(&other.counted);
    }
}

/// Adds `from` to `into`, which is made where it is missing.
pub(crate) fn merge_io(into: &mut Option<Box<IoStats>>, from: Option<&IoStats>) {
    if let Some(from) = from.filter(|io| io.calls.count > 0) {
        into.get_or_insert_default().merge(from);
    }
}
