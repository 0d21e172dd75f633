//! Tests over all tools: the articles' pastes with their figures, and every shared capture without damage.

use super::*;
use crate::formats::FORMATS;
use crate::formats::collect::{Captures, own, published, sniffs};
use std::path::Path;
use whyslow_model::{FigureRow, SourceId, Trait};

/// What was read of a paste.
pub(super) struct Read {
    pub(super) info: SourceInfo,
    pub(super) tables: Vec<FigureTable>,
    pub(super) notes: Vec<CaptureNote>,
    others: u64,
}

impl Read {
    /// The figure of that thing in the table of that tool; of several tables the last.
    pub(super) fn figure(&self, tool: &str, of: &Entity, metric: Metric) -> Option<f64> {
        let rows = self.tables.iter().rev().filter(|table| table.tool == tool).flat_map(|table| &table.rows);
        rows.filter(|row| row.of == *of).find_map(|row| row.get(metric))
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &FigureRow> {
        self.tables.iter().flat_map(|table| &table.rows)
    }
}

pub(super) fn of(text: &[u8]) -> Read {
    let info = SourceInfo::new(SourceId(0), "paste", CaptureKind::Figures);
    let mut source = Source::new(info.clone(), text.to_vec(), Box::new(std::io::empty()));
    let mut got = Read { info, tables: vec![], notes: vec![], others: 0 };
    let mut sink = |event: Event<'_>| match event {
        Event::Figures(table) => got.tables.push(*table),
        Event::Note(note) => got.notes.push(note),
        _ => got.others += 1,
    };
    read(&mut source, &mut sink).expect("reading from memory");
    got.info = source.info;
    got
}

/// An article's paste.
fn seed(name: &str) -> Read {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../captures/seeds")).join(name);
    let data = std::fs::read(&path).expect("a capture of the repository");
    assert!(sniffs(&HOST, name, &data), "{name}");
    let read = of(&data);
    assert_eq!(read.info.rejects, 0, "{name}: {:?}", read.notes);
    read
}

#[track_caller]
pub(super) fn near(is: Option<f64>, wanted: f64) {
    let is = is.expect("a figure");
    assert!((is - wanted).abs() <= wanted.abs() * 1e-9 + 1e-12, "{is} is not {wanted}");
}

#[test]
fn top_of_the_first_article() {
    let read = seed("000/top.txt");
    let host = |metric| read.figure("top", &Entity::Host, metric);
    near(host(Metric::Load1), 44.57);
    near(host(Metric::Load15), 40.79);
    near(host(Metric::Tasks), 1108.0);
    near(host(Metric::Runnable), 5.0);
    near(host(Metric::Zombies), 5.0);
    near(host(Metric::MemTotal), 132_107_852.0 * 1024.0);
    near(host(Metric::MemFree), 4_554_756.0 * 1024.0);
    near(host(Metric::Swapped), 1_075_388.0 * 1024.0);
    near(host(Metric::MemCached), 113_083_052.0 * 1024.0);
    near(read.figure("top", &Entity::Cpu(7), Metric::CpuSystem), 0.219);
    near(read.figure("top", &Entity::Cpu(0), Metric::CpuIowait), 0.149);
    let tasks: Vec<_> = read.rows().filter(|row| row.told(Trait::Name) == Some("abs_format")).collect();
    assert_eq!(tasks.len(), 6);
    near(read.figure("top", &Entity::Process(1_272_836), Metric::TaskCpu), 0.922);
    let waiting = tasks.iter().filter(|row| row.told(Trait::State) == Some("D")).count();
    assert_eq!(waiting, 5);
    assert_eq!((tasks[0].line, read.tables.len()), (15, 1));
    assert!(tasks[0].raw.contains("1272836 jh_hdjh"), "{}", tasks[0].raw);
}

#[test]
fn iostat_of_the_first_article() {
    let read = seed("000/iostat-x.txt");
    let disk = Entity::Device("dm-2".into());
    let figure = |metric| read.figure("iostat -x", &disk, metric);
    near(figure(Metric::Writes), 48_828.5);
    near(figure(Metric::WriteBytes), 390_628.0 * 512.0);
    near(figure(Metric::RequestSize), 4096.0);
    near(figure(Metric::QueueLength), 5206.04);
    near(figure(Metric::Latency), 25.51e6);
    near(figure(Metric::Utilisation), 0.6165);
    near(read.figure("iostat -x", &Entity::Host, Metric::CpuSystem), 0.1362);
    // svctm 741 of dm-3 rests on nothing.
    near(read.figure("iostat -x", &Entity::Device("dm-3".into()), Metric::Latency), 0.0);
    assert_eq!(read.tables[0].over, Over::Interval(whyslow_model::Nanos::UNKNOWN));
}

#[test]
fn pastes_of_the_third_article() {
    let disk = seed("003/iostat-d-x.txt");
    let sda = Entity::Device("sda".into());
    near(disk.figure("iostat -x", &sda, Metric::WriteBytes), 32_912.0 * 1024.0);
    near(disk.figure("iostat -x", &sda, Metric::WriteLatency), 18_118.31e6);
    near(disk.figure("iostat -x", &sda, Metric::Utilisation), 0.984);
    near(disk.figure("iostat -x", &sda, Metric::RequestSize), 32_912.0 * 1024.0 / 71.0);

    let task = Entity::Process(12280);
    let read = seed("003/pidstat-d.txt");
    near(read.figure("pidstat -d", &task, Metric::WriteBytes), 335_716.0 * 1024.0);
    near(read.figure("pidstat -d", &task, Metric::BlockDelay), 0.0);
    assert_eq!(read.tables[0].over, Over::Interval(whyslow_model::Nanos::from_secs(1)));
    assert_eq!(read.tables[0].at.get(), Some((14 * 3600 + 39 * 60 + 15) * 1_000_000_000));

    let read = seed("003/top.txt");
    near(read.figure("top", &task, Metric::TaskCpu), 0.14);
    near(read.figure("top", &Entity::Cpu(0), Metric::CpuIowait), 0.944);
    near(read.figure("top", &Entity::Host, Metric::MemFree), 3_323_248.0 * 1024.0);
    near(read.figure("top", &Entity::Host, Metric::MemAvailable), 7_412_556.0 * 1024.0);

    let read = seed("003/ps-aux.txt");
    near(read.figure("ps", &task, Metric::TaskCpu), 0.139);
    near(read.figure("ps", &task, Metric::Rss), 27_904.0 * 1024.0);
    let row = read.rows().find(|row| row.of == task).expect("the process");
    assert_eq!(row.told(Trait::Command), Some("/usr/local/bin/python /app.py"));

    let read = seed("003/ps-efT.txt");
    near(read.figure("ps", &Entity::Thread { pid: 12280, tid: 514 }, Metric::TaskCpu), 0.33);
}

#[test]
fn pastes_of_the_second_article() {
    let read = seed("002/perf-stat.txt");
    let lstat = Entity::Function { pid: None, name: "lstat".into() };
    near(read.figure("perf stat", &lstat, Metric::CallCount), 449_931.0);
    near(read.figure("perf stat", &lstat, Metric::Calls), 449_931.0 / 4.000_941_076);

    let read = seed("002/syscount.txt");
    near(read.figure("syscount", &lstat, Metric::CallCount), 1_052_795.0);
    assert_eq!(read.rows().count(), 10);

    let read = seed("002/vfscount.txt");
    let function = Entity::Function { pid: None, name: "vfs_fstatat".into() };
    near(read.figure("vfscount", &function, Metric::CallCount), 1_055_146.0);

    let read = seed("002/trace-vfs_fstatat.txt");
    let function = Entity::Function { pid: Some(91885), name: "vfs_fstatat".into() };
    near(read.figure("trace", &function, Metric::CallCount), 26.0);
    assert!(read.rows().any(|row| row.of == Entity::Thread { pid: 91885, tid: 121_566 }));
    assert_eq!(read.rows().filter(|row| matches!(row.of, Entity::File { .. })).count(), 1);
}

#[test]
fn files_of_the_third_article() {
    let read = seed("003/filetop.txt");
    let file = |name: &str| Entity::File { pid: Some(514), path: name.into() };
    near(read.figure("filetop", &file("669.txt"), Metric::WriteTotal), 2832.0 * 1024.0);
    near(read.figure("filetop", &file("651.txt"), Metric::ReadTotal), 5957.0 * 1024.0);
    assert_eq!(read.tables.len(), 2);

    let read = seed("003/opensnoop.txt");
    let opens = Entity::Function { pid: Some(12280), name: "open".into() };
    near(read.figure("opensnoop", &opens, Metric::CallCount), 6.0);
    assert_eq!(read.rows().filter(|row| matches!(row.of, Entity::File { .. })).count(), 6);
}

#[test]
fn a_percentile_of_a_histogram_is_the_end_of_its_bucket() {
    let read = of(b"Tracing run queue latency... Hit Ctrl-C to end.\n10:00:01\n\npid = 77\n     usecs               : count     distribution\n\
        \x20        0 -> 1          : 60       |*****|\n         2 -> 3          : 39       |***|\n         4 -> 7          : 0        ||\n\
        \x20     8192 -> 16383      : 1        ||\n");
    let of = Entity::Function { pid: Some(77), name: "run queue".into() };
    let figure = |metric| read.figure("runqlat", &of, metric);
    near(figure(Metric::CallCount), 100.0);
    near(figure(Metric::CallP50), 2_000.0);
    near(figure(Metric::CallP99), 4_000.0);
    near(figure(Metric::CallMax), 16_384_000.0);
    assert_eq!(read.tables[0].at.get(), Some(36_001_000_000_000));
}

/// The folders whose captures are of host tools that are read.
const FOLDERS: [&str; 9] = ["perf-trace", "top", "vmstat", "mpstat", "iostat", "pidstat", "sar", "ss", "bcc"];

/// Stacks are a profile's.
const NOT_OURS: [&str; 2] = ["offcputime", "wakeuptime"];

#[test]
fn every_capture_of_a_host_tool_is_read_without_damage() {
    assert_host_tools_read(own());
}

#[test]
fn every_published_capture_of_a_host_tool_is_read_without_damage() {
    if let Some(captures) = published() {
        assert_host_tools_read(captures);
    }
}

fn assert_host_tools_read(captures: Captures) {
    for (folder, path) in captures {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let data = std::fs::read(&path).unwrap();
        let first = FORMATS.iter().find(|format| sniffs(format, &name, &data)).map(|format| format.name);
        let ours = FOLDERS.contains(&folder.as_str()) && !NOT_OURS.iter().any(|tool| name.contains(tool));
        if !ours {
            assert!(folder == "seeds" || first != Some(HOST.name), "{folder}/{name}");
            continue;
        }
        assert_eq!(first, Some(HOST.name), "{folder}/{name}");
        let read = of(&data);
        let rows = read.rows().count();
        let figures: usize = read.rows().map(|row| row.figures.len()).sum();
        if std::env::var_os("SHOW_ROWS").is_some() {
            for table in &read.tables {
                eprintln!("  {} at {:?} over {:?}", table.tool, table.at, table.over);
                table
                    .rows
                    .iter()
                    .take(3)
                    .for_each(|row| eprintln!("    {:?} {:?} {:?}", row.of, row.figures, row.traits));
            }
        }
        eprintln!(
            "{folder}/{name}: {} lines, {} used, {} foreign, {} rejects; {} tables, {rows} rows, {figures} figures",
            read.info.lines,
            read.info.events,
            read.info.foreign,
            read.info.rejects,
            read.tables.len(),
        );
        assert_eq!(read.info.rejects, 0, "{folder}/{name}: {:?}", read.notes);
        // What holds nothing that a rule judges says so.
        let said = read.notes.iter().any(|note| note.kind == NoteKind::Read);
        assert!(figures as u64 + read.others > 0 || said, "{folder}/{name}");
        let known = read.tables.iter().all(|table| {
            table.tool.split(' ').next().is_some_and(|tool| {
                tool == folder
                    || (tool == "pidstat" && folder == "iostat")
                    || (tool == "uptime" && folder == "top")
            })
        });
        assert!(
            known || folder == "bcc",
            "{folder}/{name}: {:?}",
            read.tables.iter().map(|table| table.tool).collect::<Vec<_>>()
        );
    }
}
