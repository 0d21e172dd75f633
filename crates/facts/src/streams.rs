//! What was read and written in one place: a file, the files of one pattern, or a descriptor without a path.

use crate::exemplar::Exemplars;
use crate::io::IoStats;
use crate::world::World;
use crate::world::fds::FdLife;
use crate::world::file_users::Tally;
use crate::world::files::FileFacts;
use crate::world::ids::FileId;
use crate::world::ids::LifeId;
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{CallStats, FdKind, Nanos, SaturatingSum, Syscall};

/// Where something was read from or written to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A file.
    File(FileId),
    /// A descriptor of which no path is known.
    Life(LifeId),
    /// Files that were merged away under their pattern.
    Merged,
}

/// The reads and writes of one place. Files of the same pattern count as one place.
#[derive(Clone, Debug)]
pub struct Stream {
    /// For people: `/app/x.jar`, `/tmp/{uuid}/{n}.txt (1,000 files)`, `10.0.0.1:80 (fd 7)`, `fd 5`.
    pub name: String,
    /// The path or pattern, if known.
    pub path: Option<String>,
    /// The other end of a socket, if known.
    pub peer: Option<String>,
    /// The descriptor, where there was one only.
    pub fd: Option<i32>,
    /// What it is.
    pub kind: FdKind,
    /// How many files of the pattern were read or written.
    pub files: u64,
    /// The place that was used most.
    pub place: Place,
    /// Calls on that one.
    busiest: u64,
    /// Reads.
    pub reads: IoStats,
    /// Writes.
    pub writes: IoStats,
    /// lseek calls.
    pub seeks: CallStats,
    /// fsync and fdatasync.
    pub syncs: CallStats,
    /// The first line of those and the longest.
    pub sync_exemplars: Exemplars,
    /// Successful opens.
    pub opens: u64,
    /// Of these, with O_SYNC or O_DSYNC. A descriptor without a path counts as opened once.
    pub sync_opens: u64,
    /// Of these, for appending.
    pub append_opens: u64,
    /// Sum of the sizes of the files, bytes; `None` where one is unknown.
    pub size: Option<u64>,
    /// The size was stated (fstat, snapshot), not inferred from offsets.
    pub size_stated: bool,
    /// The kernel added its calls up: sizes are the mean, and what is in order is the least that can be.
    pub of_sums: bool,
}

impl Stream {
    /// The thread that made all reads and writes; `None` where several did.
    pub fn only_thread(&self) -> Option<Tid> {
        match (self.reads.calls.count, self.writes.calls.count) {
            (_, 0) => self.reads.only_thread(),
            (0, _) => self.writes.only_thread(),
            _ => self.reads.only_thread().filter(|tid| self.writes.only_thread() == Some(*tid)),
        }
    }

    fn of_file(id: FileId, file: &FileFacts) -> Stream {
        let kind = if file.fifo { FdKind::Pipe } else { FdKind::of_path(file.path.as_bytes()) };
        let mut stream = Stream::new(Place::File(id), file.path.to_string(), kind);
        stream.path = Some(file.path.to_string());
        stream.take_file(file);
        stream
    }

    fn take_file(&mut self, file: &FileFacts) {
        if let Some(reads) = &file.reads {
            self.reads.merge(reads);
        }
        if let Some(writes) = &file.writes {
            self.writes.merge(writes);
        }
        self.seeks.merge(&file.seeks);
        self.syncs.merge(&file.syncs);
        self.sync_exemplars.merge(&file.sync_exemplars);
        self.opens += file.opens;
        self.sync_opens += file.sync_opens;
        self.append_opens += file.append_opens;
        self.size = file.size;
        self.size_stated = file.size_stated;
    }

    /// By what the kernel added up of a file of which few calls were seen one by one; `None` for any other.
    fn of_sums(id: FileId, file: &FileFacts, world: &World) -> Option<Stream> {
        let sum = file.counted.sum();
        let single = |io: &Option<Box<IoStats>>| io.as_ref().map_or(0, |io| io.calls.count);
        let seen = single(&file.reads).saturating_add(single(&file.writes)).saturating_add(file.syncs.count);
        let all = sum.reads.calls.saturating_add(sum.writes.calls).saturating_add(sum.syncs.calls);
        // What has no path is added up by kind.
        if all == 0 || seen.saturating_mul(2) > all || !file.path.starts_with('/') || file.fifo {
            return None;
        }
        let mut stream =
            Stream::new(Place::File(id), file.path.to_string(), FdKind::of_path(file.path.as_bytes()));
        stream.path = Some(file.path.to_string());
        stream.of_sums = true;
        for (user, used) in file.counted.iter() {
            let moved = moved_places(user.tid, world);
            let out_of_order = |other: u64| moved.saturating_add(other).saturating_add(used.opens.calls);
            let in_sequence = |calls: u64, other: u64| calls.saturating_sub(out_of_order(other));
            let (reads, writes) = (used.reads, used.writes);
            let in_order =
                |of: &Tally, other: &Tally| of.in_order.unwrap_or_else(|| in_sequence(of.calls, other.calls));
            stream.reads.merge(&IoStats::of_sum(user.tid, stats_of(&reads), in_order(&reads, &writes)));
            stream.writes.merge(&IoStats::of_sum(user.tid, stats_of(&writes), in_order(&writes, &reads)));
        }
        if let Some(reads) = &file.reads {
            stream.reads.exemplars.merge(&reads.exemplars);
        }
        if let Some(writes) = &file.writes {
            stream.writes.exemplars.merge(&writes.exemplars);
        }
        let took = if sum.syncs.timed > 0 { Nanos::new(sum.syncs.total_ns) } else { Nanos::UNKNOWN };
        stream.syncs = CallStats::of_totals(sum.syncs.calls, sum.syncs.errors, took);
        stream.sync_exemplars = file.sync_exemplars.clone();
        stream.opens = file.opens.max(sum.opens.calls);
        (stream.sync_opens, stream.append_opens) = (file.sync_opens, file.append_opens);
        (stream.size, stream.size_stated) = (file.size, file.size_stated);
        Some(stream)
    }

    fn of_life(id: LifeId, life: &FdLife, world: &World) -> Stream {
        let pid = world.threads.process(life.process).pid;
        let fd = match pid {
            Some(pid) => format!("fd {} of process {pid}", life.fd),
            None => format!("fd {}", life.fd),
        };
        let name = match (life.target(world), life.kind) {
            (Some(target), _) => format!("{target} ({fd})"),
            (None, FdKind::Unknown) => fd,
            (None, kind) => format!("{fd} ({})", kind.word()),
        };
        let mut stream = Stream::new(Place::Life(id), name, life.kind);
        stream.peer = life.peer().map(str::to_string);
        stream.fd = Some(life.fd);
        stream.reads = life.reads.as_deref().cloned().unwrap_or_default();
        stream.writes = life.writes.as_deref().cloned().unwrap_or_default();
        stream.seeks.merge(&life.seeks);
        stream.syncs.merge(&life.syncs);
        stream.sync_exemplars = life.sync_exemplars.clone();
        (stream.opens, stream.sync_opens, stream.append_opens) = (1, life.sync as u64, life.append as u64);
        stream.size = life.size.or(Some(life.extent)).filter(|size| *size > 0);
        stream.size_stated = life.size.is_some();
        stream
    }

    fn new(place: Place, name: String, kind: FdKind) -> Stream {
        Stream {
            name,
            path: None,
            peer: None,
            fd: None,
            kind,
            files: 1,
            place,
            busiest: 0,
            reads: IoStats::default(),
            writes: IoStats::default(),
            seeks: CallStats::default(),
            syncs: CallStats::default(),
            sync_exemplars: Exemplars::default(),
            opens: 0,
            sync_opens: 0,
            append_opens: 0,
            size: None,
            size_stated: false,
            of_sums: false,
        }
    }

    /// Adds another file of the same pattern.
    fn join(&mut self, other: Stream, pattern: &str, files: u64) {
        let calls = other.reads.calls.count.saturating_add(other.writes.calls.count);
        if calls > self.busiest && other.place != Place::Merged {
            (self.busiest, self.place) = (calls, other.place);
        }
        self.files += files;
        self.path = Some(pattern.to_string());
        self.name = format!("{pattern} ({} files)", crate::words::count(self.files));
        self.reads.merge(&other.reads);
        self.writes.merge(&other.writes);
        self.seeks.merge(&other.seeks);
        self.syncs.merge(&other.syncs);
        self.sync_exemplars.merge(&other.sync_exemplars);
        self.opens += other.opens;
        self.sync_opens += other.sync_opens;
        self.append_opens += other.append_opens;
        self.size = self.size.zip(other.size).map(|(mine, others)| mine.saturating_add(others));
        self.size_stated &= other.size_stated;
    }
}

/// Calls of a thread that move where it reads and writes next, or that say where: at most so many others are out of order.
/// Of threads that were not told apart, as many as there can be.
fn moved_places(tid: Tid, world: &World) -> u64 {
    let Some(thread) = world.threads.thread_of(tid).filter(|_| tid != 0) else { return u64::MAX };
    let moves = |syscall: Syscall| {
        matches!(
            syscall.info().name,
            "lseek" | "_llseek" | "pread64" | "preadv" | "preadv2" | "pwrite64" | "pwritev" | "pwritev2"
        )
    };
    thread.all_calls().filter(|(syscall, _)| moves(*syscall)).map(|(_, calls)| calls.count).saturating_sum()
}

/// Calls that the kernel added up.
fn stats_of(tally: &Tally) -> CallStats {
    let total = if tally.timed > 0 { Nanos::new(tally.total_ns) } else { Nanos::UNKNOWN };
    let mut calls = CallStats::of_totals(tally.calls, tally.errors, total);
    calls.bytes = tally.bytes;
    calls
}

/// Places of the same pattern, joined.
#[derive(Default)]
struct ByPattern(HashMap<String, Stream>);

impl ByPattern {
    fn add(&mut self, pattern: String, stream: Stream, files: u64) {
        match self.0.get_mut(&pattern) {
            Some(known) => known.join(stream, &pattern, files),
            None => {
                let mut first = stream;
                first.busiest = first.reads.calls.count.saturating_add(first.writes.calls.count);
                self.0.insert(pattern, first);
            }
        }
    }
}

fn most_calls_first(all: &mut [Stream]) {
    all.sort_by(|a, b| {
        let calls = |stream: &Stream| stream.reads.calls.count.saturating_add(stream.writes.calls.count);
        calls(b).cmp(&calls(a)).then_with(|| a.name.cmp(&b.name))
    });
}

/// Files of which few calls were seen one by one, by what the kernel added up; those with the most calls first. Sizes of calls are the
/// mean. Which are in order is told by the recorder; by an older one those are for which the thread's other calls leave nothing else.
pub(crate) fn summed(world: &World) -> Vec<Stream> {
    let mut by_pattern = ByPattern::default();
    for (id, file) in world.files.iter() {
        if let Some(stream) = Stream::of_sums(id, file, world) {
            by_pattern.add(file.pattern(), stream, 1);
        }
    }
    let mut all: Vec<Stream> = by_pattern.0.into_values().collect();
    most_calls_first(&mut all);
    all
}

/// All places that were read, written or synced, those with the most calls first.
pub(crate) fn streams(world: &World) -> Vec<Stream> {
    let mut by_pattern = ByPattern::default();
    for (id, file) in world.files.iter().filter(|(_, file)| was_used(file)) {
        by_pattern.add(file.pattern(), Stream::of_file(id, file), 1);
    }
    for (pattern, file) in world.files.merged.iter().filter(|(_, file)| was_used(file)) {
        let mut stream = Stream::of_file(FileId(0), file);
        stream.place = Place::Merged;
        stream.files = file.merged;
        stream.size = None;
        by_pattern.add(pattern.clone(), stream, file.merged);
    }
    let mut all = synced_together(by_pattern.0);
    let nameless = world
        .fds
        .iter()
        .filter(|(_, life)| life.file.is_none() && (life.io_calls() > 0 || life.syncs.count > 0));
    all.extend(nameless.map(|(id, life)| Stream::of_life(id, life, world)));
    most_calls_first(&mut all);
    all
}

/// Of files in one directory that are synced seldom each, and often all together, one place: `/data/parts/* (40 files)`.
fn synced_together(by_pattern: HashMap<String, Stream>) -> Vec<Stream> {
    /// Syncs of a place that is one by itself (as in the rule `fsync-per-write`).
    const MANY: u64 = 20;
    /// Files of a directory, at least.
    const FILES: u64 = 3;
    let directory = |stream: &Stream| Some(stream.path.as_deref()?.rsplit_once('/')?.0.to_string());
    let is_part = |stream: &Stream| (1..MANY).contains(&stream.syncs.count);
    let mut sums: HashMap<String, (u64, u64)> = HashMap::new();
    for stream in by_pattern.values().filter(|stream| is_part(stream)) {
        if let Some(directory) = directory(stream) {
            let (files, syncs) = sums.entry(directory).or_default();
            (*files, *syncs) = (*files + stream.files, *syncs + stream.syncs.count);
        }
    }
    sums.retain(|_, (files, syncs)| *files >= FILES && *syncs >= MANY);
    let mut joined = ByPattern::default();
    let mut patterns: Vec<(String, Stream)> = by_pattern.into_iter().collect();
    patterns.sort_by(|a, b| a.0.cmp(&b.0));
    for (pattern, stream) in patterns {
        let shared = directory(&stream).filter(|directory| is_part(&stream) && sums.contains_key(directory));
        let files = stream.files;
        joined.add(shared.map_or(pattern, |directory| format!("{directory}/*")), stream, files);
    }
    joined.0.into_values().collect()
}

fn was_used(file: &FileFacts) -> bool {
    file.reads.is_some() || file.writes.is_some() || file.syncs.count > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use whyslow_model::{Call, Event, FileIo, FileOp, Ret, Sink, SocketEnds, ThreadCounts, Timestamp};

    #[test]
    fn files_of_a_pattern_are_one_place_and_nameless_descriptors_stand_alone() {
        let mut facts = Facts::default();
        let mut push = |tid: u32, name: &str, args: &str, ret: i64| {
            let mut call = Call::new(name, args);
            (call.tid, call.ret) = (tid, Ret::Value(ret));
            facts.push(Event::Call(&call));
        };
        for n in 1..=3 {
            push(1, "openat", &format!(r#"AT_FDCWD, "/tmp/{n}.txt", O_RDWR|O_CREAT, 0600"#), 3);
            push(1, "write", r#"3, "abc"..., 100"#, 100);
            push(1, "fsync", "3", 0);
            push(1, "close", "3", 0);
        }
        push(1, "openat", r#"AT_FDCWD, "/opt/app.JAR", O_RDONLY"#, 3);
        push(1, "read", r#"3, "PK"..., 512"#, 512);
        push(2, "read", r#"3, "PK"..., 512"#, 512);
        push(1, "read", r#"9, "x"..., 7"#, 7);
        facts.finish();
        let named =
            |name: &str| facts.streams.iter().find(|stream| stream.name.starts_with(name)).expect("a place");
        let temporary = named("/tmp/{n}.txt (3 files)");
        assert_eq!((temporary.files, temporary.writes.calls.bytes, temporary.syncs.count), (3, 300, 3));
        assert_eq!(temporary.only_thread(), Some(1));
        let archive = named("/opt/app.JAR");
        assert_eq!(archive.only_thread(), None);
        let nameless = named("fd 9");
        assert_eq!((nameless.fd, nameless.kind, nameless.reads.calls.count), (Some(9), FdKind::Unknown, 1));
    }

    fn summed_of(extra: (&str, u64)) -> Vec<Stream> {
        let mut facts = Facts::default();
        let (from, to) = (Timestamp::new(0), Timestamp::new(2_000_000_000));
        let mut counts = |name: &str, calls: u64| {
            let stats = CallStats::of_totals(calls, 0, Nanos::new(calls * 400));
            facts.push(Event::ThreadCounts(Box::new(ThreadCounts {
                pid: 7,
                tid: 8,
                syscall: Syscall::lookup(name.as_bytes()).expect("a call"),
                name: name.to_string(),
                from,
                to,
                stats,
            })));
        };
        counts("read", 1000);
        counts(extra.0, extra.1);
        facts.push(Event::FileIo(Box::new(FileIo {
            pid: 7,
            tid: 8,
            op: FileOp::Read,
            kind: FdKind::File,
            path: Some("/data/a.dat".to_string()),
            file: None,
            first: from,
            last: to,
            calls: 1000,
            errors: 0,
            timed: 1000,
            bytes: 80_000,
            total: Nanos::new(400_000),
            longest: Nanos::new(900),
            ends: SocketEnds::default(),
            size: None,
            in_order: None,
        })));
        facts.finish();
        facts.summed
    }

    #[test]
    fn sums_of_a_file_are_a_place_and_its_reads_in_order_but_for_seeks() {
        let of = |extra| {
            let all = summed_of(extra);
            let [stream] = all.as_slice() else { panic!("one place: {}", all.len()) };
            assert!(stream.of_sums);
            assert_eq!((stream.reads.calls.count, stream.reads.mean_size()), (1000, Some(80.0)));
            (stream.only_thread(), stream.reads.in_sequence)
        };
        assert_eq!(of(("write", 5)), (Some(8), 1000));
        assert_eq!(of(("lseek", 300)), (Some(8), 700));
        assert_eq!(of(("pread64", 5000)), (Some(8), 0));
    }
}
