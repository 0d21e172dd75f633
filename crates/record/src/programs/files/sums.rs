//! The rows of all CPUs and of all times, added up, with the paths of their files.

use super::{FileName, FileRow};
use crate::bpf::layout::Fields;
use crate::bpf::spool::SpoolRecord;
use crate::clock::Clock;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use whyslow_model::{Event, FdKind, FileIo, FileOp, Nanos, Sink, SocketEnds, Timestamp};

/// Rows and paths so far. Bounded: where there are too many rows they are told, and begin anew; of too many paths those
/// told first are forgotten.
#[derive(Default)]
pub(crate) struct FileSums {
    rows: HashMap<(u32, u32, FileName), FileRow>,
    paths: HashMap<FileName, Path>,
    /// In the order in which they were told.
    told: VecDeque<FileName>,
}

#[derive(Debug, PartialEq, Eq)]
struct Path {
    text: String,
    /// Of no directory: a memory file, an event descriptor.
    rootless: bool,
}

/// `PATH_CUT`, `PATH_ROOTLESS` and `PATH_SOCKET` (path.bpf.h).
const CUT: u8 = 1;
const ROOTLESS: u8 = 2;
const SOCKET: u8 = 4;
/// `IPPROTO_UDP` (include/uapi/linux/in.h).
const UDP: u32 = 17;

impl FileSums {
    /// About 16 MiB.
    const MOST_ROWS: usize = 1 << 17;
    /// More than the kernel's side remembers having told (`PATHS_KNOWN`).
    const MOST_PATHS: usize = 1 << 17;

    /// Takes a row that had to make place (`struct file_record`).
    pub(crate) fn evicted(
        &mut self,
        record: &SpoolRecord<'_>,
        clock: Clock,
        sink: &mut dyn Sink,
    ) -> Option<()> {
        let row = FileRow::read(&mut Fields(record.body()))?;
        self.add(&row, clock, sink);
        Some(())
    }

    fn add(&mut self, row: &FileRow, clock: Clock, sink: &mut dyn Sink) {
        if self.rows.len() >= Self::MOST_ROWS {
            self.tell(clock, sink);
        }
        match self.rows.entry((row.tid, row.operation, row.file)) {
            Entry::Vacant(free) => drop(free.insert(*row)),
            Entry::Occupied(mut known) => known.get_mut().add(row),
        }
    }

    /// Takes a path (`struct path_record`).
    pub(crate) fn path(&mut self, record: &SpoolRecord<'_>) -> Option<()> {
        let mut fields = Fields(record.body());
        let name = FileName::read(&mut fields)?;
        let path = Path::of(fields.0, record.header.flags);
        if self.paths.insert(name, path).is_none() {
            self.told.push_back(name);
        }
        if self.told.len() > Self::MOST_PATHS
            && let Some(oldest) = self.told.pop_front()
        {
            self.paths.remove(&oldest);
        }
        Some(())
    }

    /// Adds the rows that are left at the end, and tells all.
    pub(crate) fn finish(&mut self, left: &[FileRow], clock: Clock, sink: &mut dyn Sink) {
        left.iter().for_each(|row| self.add(row, clock, sink));
        self.tell(clock, sink);
    }

    /// Tells the rows, the most bytes first.
    fn tell(&mut self, clock: Clock, sink: &mut dyn Sink) {
        let mut rows: Vec<FileRow> = self.rows.drain().map(|(_, row)| row).collect();
        rows.sort_by_key(|row| {
            (std::cmp::Reverse((row.bytes, row.calls)), row.first, row.tid, row.operation)
        });
        for row in rows {
            sink.push(Event::FileIo(Box::new(self.event(&row, clock))));
        }
    }

    fn event(&self, row: &FileRow, clock: Clock) -> FileIo {
        let path = self.paths.get(&row.file);
        let kind = match &row.file.service {
            Some(service) if service.is_unix() => FdKind::Unix,
            Some(_) if row.file.root == UDP => FdKind::Udp,
            Some(_) => FdKind::Tcp,
            None => kind_of(row.file.kind, path),
        };
        let mut ends = SocketEnds::default();
        if let Some(service) = &row.file.service {
            let end = if service.is_own { &mut ends.local } else { &mut ends.peer };
            *end = service.text(path.map(|path| &*path.text));
        }
        // One row for all of a kind that has no names.
        let named = !matches!(kind, FdKind::Anonymous) && row.file.service.is_none();
        let timed = row.calls.saturating_sub(row.untimed.into());
        let known = |ns: u64| if timed > 0 { Nanos::new(ns) } else { Nanos::UNKNOWN };
        let at = |ns: u64| if ns > 0 { clock.epoch(ns) } else { Timestamp::UNKNOWN };
        FileIo {
            pid: row.pid,
            tid: row.tid,
            op: match row.operation {
                0 => FileOp::Read,
                1 => FileOp::Write,
                2 => FileOp::Sync,
                _ => FileOp::Open,
            },
            kind,
            path: path.filter(|_| named).map(|path| path.text.clone()),
            ends,
            size: Some(row.size).filter(|size| *size > 0),
            in_order: (kind == FdKind::File).then_some(row.in_order),
            file: row.file.id.filter(|_| named),
            first: at(row.first),
            last: at(row.last),
            calls: row.calls,
            errors: row.errors,
            timed,
            bytes: row.bytes,
            total: known(row.total),
            longest: known(row.longest),
        }
    }
}

impl Path {
    /// Of names, the last one first, a NUL behind each.
    fn of(names: &[u8], flags: u8) -> Path {
        if flags & SOCKET != 0 {
            return Path { text: socket_path(names), rootless: true };
        }
        // What fills the record up to a multiple of 8 bytes is NULs of its own, or older names behind a whole path: the
        // length is told by the record.
        let names: Vec<&[u8]> = names.split(|byte| *byte == 0).filter(|name| !name.is_empty()).collect();
        let mut path = Vec::new();
        if flags & CUT != 0 {
            path.extend_from_slice("…".as_bytes());
        }
        for name in names.iter().rev() {
            path.push(b'/');
            path.extend_from_slice(name);
        }
        if path.is_empty() {
            path.push(b'/');
        }
        Path { text: String::from_utf8_lossy(&path).into_owned(), rootless: flags & ROOTLESS != 0 }
    }
}

/// `/run/app.sock`; `@app` of an abstract name (unix(7)).
fn socket_path(name: &[u8]) -> String {
    let (mark, name) = name.strip_prefix(b"\0").map_or(("", name), |name| ("@", name));
    // What fills the record up is NULs, too: an abstract name that ends in some loses them.
    let end = name.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    format!("{mark}{}", String::from_utf8_lossy(&name[..end]))
}

/// By the type in the mode (inode(7)), and by the path of what has one.
fn kind_of(mode: u32, path: Option<&Path>) -> FdKind {
    match (mode, path) {
        (0, _) => FdKind::Anonymous,
        (1, _) => FdKind::Pipe,
        (12, _) => FdKind::Socket,
        (4, _) => FdKind::Directory,
        // anon_inode:[eventfd] and its like.
        (_, Some(path)) if path.rootless && path.text.starts_with("/[") => FdKind::Anonymous,
        (_, Some(path)) => FdKind::of_path(path.text.as_bytes()),
        (2 | 6, None) => FdKind::Device,
        (8, None) => FdKind::File,
        _ => FdKind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::layout::{Header, kind};
    use whyslow_model::InodeId;

    fn name(inode: u64) -> FileName {
        let id = InodeId { major: 254, minor: 1, inode, generation: 7 };
        FileName { id: Some(id), hash: inode as u32, kind: 8, root: 3, service: None }
    }

    fn row(inode: u64, tid: u32, bytes: u64) -> FileRow {
        FileRow {
            file: name(inode),
            tid,
            operation: 1,
            pid: 40,
            untimed: 0,
            calls: 1,
            errors: 0,
            bytes,
            total: bytes,
            longest: bytes,
            first: 5,
            last: 9,
            size: 4096,
            in_order: 0,
        }
    }

    fn path_record(inode: u64, names: &[u8], flags: u8) -> Vec<u8> {
        let mut bytes = vec![0; Header::SIZE];
        bytes.extend(inode.to_ne_bytes());
        for word in [254u32 << 20 | 1, 7, inode as u32, 8, 3, 0] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(names);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let length = bytes.len() as u16;
        bytes[..2].copy_from_slice(&length.to_ne_bytes());
        (bytes[2], bytes[3]) = (kind::PATH, flags);
        bytes
    }

    fn take_path(sums: &mut FileSums, bytes: &[u8]) {
        let header = Header::of(bytes).expect("whole");
        sums.path(&SpoolRecord { header, cpu: 0, bytes }).expect("whole");
    }

    fn told(sums: &mut FileSums, left: &[FileRow]) -> Vec<FileIo> {
        let mut told = Vec::new();
        let mut sink = |event: Event<'_>| {
            if let Event::FileIo(io) = event {
                told.push(*io);
            }
        };
        sums.finish(left, Clock { offset: 1_000 }, &mut sink);
        told
    }

    #[test]
    fn rows_of_several_cpus_add_up_under_their_paths() {
        let mut sums = FileSums::default();
        take_path(&mut sums, &path_record(1, b"17.txt\0uuid\0tmp\0", 0));
        take_path(&mut sums, &path_record(2, b"deep\0", CUT));
        let told = told(&mut sums, &[row(1, 41, 10), row(2, 41, 7), row(1, 41, 30), row(3, 42, 1)]);
        let seen: Vec<_> = told.iter().map(|io| (io.tid, io.calls, io.bytes, io.path.as_deref())).collect();
        let wanted = [(41, 2, 40, Some("/tmp/uuid/17.txt")), (41, 1, 7, Some("…/deep")), (42, 1, 1, None)];
        assert_eq!(seen, wanted);
        assert_eq!((told[0].total, told[0].longest), (Nanos::new(40), Nanos::new(30)));
        assert_eq!((told[0].first, told[0].last), (Timestamp::new(1_005), Timestamp::new(1_009)));
        assert_eq!((told[0].op, told[0].kind, told[0].pid), (FileOp::Write, FdKind::File, 40));
    }

    #[test]
    fn figures_of_a_damaged_recording_stay_at_the_most_that_there_is() {
        let most = FileRow {
            untimed: u32::MAX,
            calls: u64::MAX,
            errors: u64::MAX,
            bytes: u64::MAX,
            total: u64::MAX,
            ..row(1, 41, 1)
        };
        let told = told(&mut FileSums::default(), &[most, row(1, 41, 1), most]);
        assert_eq!(told.len(), 1);
        assert_eq!((told[0].calls, told[0].errors, told[0].bytes), (u64::MAX, u64::MAX, u64::MAX));
        // A time that no number holds is unknown.
        assert_eq!((told[0].total, told[0].longest), (Nanos::UNKNOWN, Nanos::new(1)));
        assert_eq!(told[0].timed, u64::MAX - u64::from(u32::MAX));
    }

    #[test]
    fn what_is_past_the_bound_is_told_at_once_and_adds_up() {
        let mut sums = FileSums::default();
        let many = FileSums::MOST_ROWS as u64 + 10;
        let rows: Vec<FileRow> = (0..many).map(|inode| row(inode + 1, 41, 2)).collect();
        let told = told(&mut sums, &rows);
        assert_eq!(told.len() as u64, many);
        assert_eq!(told.iter().map(|io| io.bytes).sum::<u64>(), many * 2);
        for inode in 0..FileSums::MOST_PATHS as u64 + 10 {
            take_path(&mut sums, &path_record(inode + 1, b"a\0", 0));
        }
        assert_eq!((sums.paths.len(), sums.told.len()), (FileSums::MOST_PATHS, FileSums::MOST_PATHS));
    }

    #[test]
    fn kinds() {
        let rootless = |text: &str| Path { text: text.to_string(), rootless: true };
        assert_eq!(kind_of(8, Some(&rootless("/[eventfd]"))), FdKind::Anonymous);
        assert_eq!(kind_of(8, Some(&rootless("/memfd:x"))), FdKind::File);
        assert_eq!(kind_of(2, Some(&Path::of(b"null\0dev\0", 0))), FdKind::DevNull);
        assert_eq!(
            (kind_of(1, None), kind_of(12, None), kind_of(6, None)),
            (FdKind::Pipe, FdKind::Socket, FdKind::Device)
        );
        assert_eq!(Path::of(b"", 0).text, "/");
        assert_eq!(Path::of(b"\xff\0", 0).text, "/\u{fffd}");
    }

    #[test]
    fn a_record_that_is_cut_short_is_refused() {
        let whole = path_record(1, b"a\0", 0);
        let mut sums = FileSums::default();
        for length in Header::SIZE..Header::SIZE + 32 {
            let header = Header { length, ..Header::of(&whole).expect("whole") };
            let record = SpoolRecord { header, cpu: 0, bytes: &whole[..length] };
            assert!(sums.path(&record).is_none(), "{length}");
        }
    }
}
