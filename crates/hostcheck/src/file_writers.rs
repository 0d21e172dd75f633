//! Who writes what to the disks: of recordings, by the files whose pages reached a disk and the threads that wrote to them,
//! so that what the kernel writes back later is laid at the right door.

use crate::words;
use std::collections::HashMap;
use whyslow_facts::Facts;
use whyslow_facts::block_io::Op;
use whyslow_facts::pattern::pattern_of;
use whyslow_facts::who::Who;
use whyslow_model::{Evidence, Timestamp};

/// What one thread had written to a disk, of the files of one pattern.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileWriter {
    /// Who.
    pub(crate) who: Who,
    /// Whose path fits this.
    pub(crate) pattern: String,
    /// Files.
    pub(crate) files: u64,
    /// Bytes that reached a disk; of a file with several writers as much of it as of all bytes written to it.
    pub(crate) bytes: u64,
    /// When the first of it was handed to the disk.
    pub(crate) first: Timestamp,
}

/// All of them, the most bytes first. Empty where no source tells whose pages reach a disk.
pub(crate) fn file_writers(facts: &Facts) -> Vec<FileWriter> {
    let mut writers: HashMap<(Who, String), FileWriter> = HashMap::new();
    for file in facts.devices.written_back() {
        let Some(path) = file.path.as_deref() else { continue };
        let pattern = pattern_of(path).into_owned();
        let all: u128 = file.writers.iter().map(|(_, bytes)| u128::from(*bytes)).sum();
        for (user, bytes) in &file.writers {
            let part = u128::from(file.bytes) * u128::from(*bytes) / all.max(1);
            let who = Who::of(facts, *user);
            let writer = writers.entry((who.clone(), pattern.clone())).or_insert_with(|| FileWriter {
                who,
                pattern: pattern.clone(),
                files: 0,
                bytes: 0,
                first: file.first,
            });
            writer.files += 1;
            writer.bytes = writer.bytes.saturating_add(part as u64);
        }
    }
    let mut writers: Vec<FileWriter> = writers.into_values().filter(|writer| writer.bytes > 0).collect();
    writers
        .sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| (&a.who, &a.pattern).cmp(&(&b.who, &b.pattern))));
    writers
}

/// Those that matter, as lines of evidence: at most `most`, each with a tenth of all that reached a disk or more.
pub(crate) fn lines(facts: &Facts, most: usize) -> Vec<Evidence> {
    /// Less than that of all matters to nobody.
    const MATTERS: f64 = 0.1;
    let devices = facts.devices.iter();
    let all =
        devices.iter().map(|(_, device)| device.sum(Op::writes).device.bytes).fold(0, u64::saturating_add);
    let matters = |writer: &FileWriter| writer.bytes as f64 >= MATTERS * all as f64;
    let line = |writer: FileWriter| {
        let files = match writer.files {
            1 => String::new(),
            files => format!(" ({})", words::plural(files, "file")),
        };
        let text = format!(
            "{} wrote {} of the {} that reached a disk: {}{files}",
            writer.who.words(),
            words::bytes(writer.bytes),
            words::bytes(all),
            writer.pattern
        );
        Evidence { source: facts.recording_at(writer.first), text }
    };
    file_writers(facts).into_iter().filter(matters).take(most).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::walk::State;
    use whyslow_model::{
        BlockIo, CaptureKind, Entity, Event, FdKind, FigureTable, FileIo, FileOp, InodeId, Metric, Nanos,
        Over, ProcessInfo, Sink, SocketEnds, SourceId, SourceInfo,
    };

    fn inode(inode: u64) -> InodeId {
        InodeId { major: 254, minor: 1, inode, generation: 0 }
    }

    fn back(number: u64, bytes: u64, op: &str) -> Event<'static> {
        Event::BlockIo(Box::new(BlockIo {
            queued: Timestamp::UNKNOWN,
            issued: Timestamp::new(number + 1),
            completed: Timestamp::new(number + 5),
            device: "254:0".to_string(),
            sector: 0,
            bytes,
            op: op.to_string(),
            // A thread of the kernel that writes back.
            pid: Some(2),
            tid: Some(2),
            file: Some(inode(number)),
        }))
    }

    fn written(number: u64, tid: u32, bytes: u64) -> Event<'static> {
        Event::FileIo(Box::new(FileIo {
            pid: 40,
            tid,
            op: FileOp::Write,
            kind: FdKind::File,
            path: Some(format!("/tmp/9046db9e-fe25-11e8-b13f-0242ac110002/{number}.txt")),
            file: Some(inode(number)),
            first: Timestamp::new(1),
            last: Timestamp::new(2),
            calls: 1,
            errors: 0,
            timed: 1,
            bytes,
            total: Nanos::new(5),
            longest: Nanos::new(5),
            ends: SocketEnds::default(),
            size: None,
            in_order: None,
        }))
    }

    #[test]
    fn what_the_kernel_writes_back_is_its_writers() {
        let mut facts = Facts::default();
        let process = ProcessInfo { pid: 40, comm: Some("app".to_string()), ..ProcessInfo::default() };
        facts.push(Event::Process(process));
        for number in 0..10 {
            facts.push(back(number, 8_000, "write"));
            facts.push(back(number, 1_000_000, "read"));
            // One thread writes a quarter of each, and one more file that never reaches a disk.
            facts.push(written(number, 41, 30_000));
            facts.push(written(number, 42, 10_000));
        }
        facts.push(written(99, 42, 1_000_000_000));
        facts.push(back(100, 1, "write"));
        facts.push(Event::Source(SourceInfo::new(SourceId(0), "a.whyslow", CaptureKind::Recording)));
        facts.finish();
        let writers = file_writers(&facts);
        let told: Vec<_> =
            writers.iter().map(|writer| (writer.who.thread.as_deref(), writer.files, writer.bytes)).collect();
        assert_eq!(told, [(Some("41"), 10, 60_000), (Some("42"), 10, 20_000)]);
        let lines = lines(&facts, 1);
        assert_eq!(lines.len(), 1);
        let wanted = "40 app (thread 41) wrote 60.0 kB of the 80.0 kB that reached a disk: /tmp/{uuid}/{n}.txt (10 files)";
        assert_eq!(lines[0].text, wanted);
    }

    #[test]
    fn a_full_disk_names_its_writers() {
        let disk = |busy: f64| {
            let mut facts = Facts::default();
            facts.push(back(1, 8_000, "write"));
            facts.push(written(1, 41, 8_000));
            let mut table = FigureTable::new(SourceId(0), "/proc");
            table.over = Over::Interval(Nanos::from_secs(10));
            let row = table.row(Entity::Device("vda".into()));
            row.set(Metric::Utilisation, busy);
            row.set(Metric::WriteLatency, 30e6);
            row.set(Metric::QueueLength, 8.0);
            facts.push(Event::Figures(Box::new(table)));
            facts.finish();
            let walk = crate::walk(&facts).expect("figures of the host");
            let disk = walk.resources.into_iter().find(|one| one.name.starts_with("disk")).expect("the disk");
            (disk.state, disk.evidence.iter().any(|line| line.text.contains("thread 41")))
        };
        assert_eq!(disk(0.99), (State::Saturated, true));
        assert_eq!(disk(0.20), (State::Not, false));
    }

    #[test]
    fn nothing_is_told_where_nothing_reached_a_disk() {
        let mut facts = Facts::default();
        facts.push(written(1, 41, 10));
        facts.finish();
        assert!(file_writers(&facts).is_empty() && lines(&facts, 3).is_empty());
    }
}
