//! The view of files: sums of the kernel, traces and other tools' tables in one form.

use super::*;
use proptest::prelude::*;
use whyslow_model::{
    Call, Cell, Entity, Event, FdKind, FigureTable, FileIo, FileOp, InodeId, Metric, Nanos, Over,
    ProcessInfo, Ret, Sink, SocketEnds, SourceId, Timestamp, Trait,
};

fn process(pid: u32, tid: Option<u32>, comm: &str) -> Event<'static> {
    Event::Process(ProcessInfo { pid, tid, comm: Some(comm.to_string()), ..ProcessInfo::default() })
}

fn io(tid: u32, op: FileOp, path: &str, bytes: u64) -> FileIo {
    FileIo {
        pid: 12280,
        tid,
        op,
        kind: FdKind::File,
        path: Some(path.to_string()),
        file: Some(InodeId { major: 254, minor: 0, inode: 7, generation: 1 }),
        first: Timestamp::new(1_000),
        last: Timestamp::new(9_000),
        calls: 2,
        errors: 0,
        timed: 2,
        bytes,
        total: Nanos::new(300),
        longest: Nanos::new(200),
        ends: SocketEnds::default(),
        size: None,
        in_order: None,
    }
}

/// The cells under these keys, of each row.
fn cells(facts: &Facts, by: &str, keys: &[&str]) -> Vec<Vec<Cell>> {
    let table = table(facts, &Ask { by: Some(by.to_string()), ..Ask::default() }).expect("a known grouping");
    let at = |key: &str| table.columns.iter().position(|column| column.key == key).expect("a known column");
    table.rows.iter().map(|row| keys.iter().map(|key| row[at(key)].clone()).collect()).collect()
}

fn text(text: &str) -> Cell {
    Cell::Text(text.to_string())
}

const UUID: &str = "9046db9e-fe25-11e8-b13f-0242ac110002";

/// A server of which one thread writes temporary files and reads them back.
fn server() -> Facts {
    let mut facts = Facts::default();
    facts.push(process(12280, None, "app.py"));
    facts.push(process(12280, Some(514), "worker"));
    for number in 0..1_000 {
        let path = format!("/tmp/{UUID}/{number}.txt");
        facts.push(Event::FileIo(Box::new(io(514, FileOp::Open, &path, 0))));
        facts.push(Event::FileIo(Box::new(io(514, FileOp::Write, &path, 5_000))));
        facts.push(Event::FileIo(Box::new(io(514, FileOp::Read, &path, 4_000))));
    }
    facts.push(Event::FileIo(Box::new(io(12280, FileOp::Write, "/var/log/app.log", 77))));
    facts.push(Event::FileIo(Box::new(FileIo {
        path: None,
        file: None,
        kind: FdKind::Socket,
        ..io(12280, FileOp::Read, "", 55)
    })));
    facts.finish();
    facts
}

#[test]
fn a_family_of_files_is_one_row_with_its_thread() {
    let keys = ["files", "opens", "bytes_read", "bytes_written", "process", "thread", "path"];
    let rows = cells(&server(), "pattern", &keys);
    let family = [
        Cell::Count(1_000),
        Cell::Count(2_000),
        Cell::Bytes(4_000_000),
        Cell::Bytes(5_000_000),
        text("12280 app.py"),
        text("514 worker"),
        text("/tmp/{uuid}/{n}.txt"),
    ];
    assert_eq!(rows[0], family);
    let paths: Vec<&Cell> = rows.iter().map(|row| &row[6]).collect();
    assert_eq!(paths, [&text("/tmp/{uuid}/{n}.txt"), &text("(socket)"), &text("/var/log/app.log")]);
}

#[test]
fn threads_and_processes_have_what_they_moved() {
    let facts = server();
    let rows = cells(&facts, "thread", &["calls", "total", "max", "bytes_written", "thread", "path"]);
    let worker = [
        Cell::Count(6_000),
        Cell::Duration(Nanos::new(900_000)),
        Cell::Duration(Nanos::new(200)),
        Cell::Bytes(5_000_000),
        text("514 worker"),
        text("/tmp/{uuid}/{n}.txt"),
    ];
    assert_eq!(rows[0], worker);
    assert_eq!(rows.len(), 2);
    let rows = cells(&facts, "process", &["calls", "process", "thread", "path"]);
    let all = [
        Cell::Count(6_004),
        text("12280 app.py"),
        text("514 worker and 1 more"),
        text("/tmp/{uuid}/{n}.txt and 2 more"),
    ];
    assert_eq!(rows, [all]);
}

#[test]
fn a_trace_tells_the_same_way() {
    let mut facts = Facts::default();
    let call = |line: u64, name: &'static str, args: &'static str, ret: i64| Call {
        tid: 41,
        pid: Some(40),
        line,
        ts: Timestamp::new(line * 1_000),
        dur: Nanos::new(10),
        ret: Ret::Value(ret),
        ..Call::new(name, args)
    };
    facts.push(process(40, None, "app"));
    facts.push(Event::Call(&call(1, "openat", "AT_FDCWD, \"/a/b.txt\", O_RDWR|O_CREAT, 0600", 3)));
    facts.push(Event::Call(&call(2, "write", "3, \"seven77\"..., 7", 7)));
    facts.push(Event::Call(&call(3, "fsync", "3", 0)));
    facts.push(Event::Call(&call(4, "close", "3", 0)));
    facts.finish();
    let keys = ["opens", "writes", "bytes_written", "syncs", "process", "thread", "path"];
    let row = |path: &str| {
        let counts = [Cell::Count(1), Cell::Count(1), Cell::Bytes(7), Cell::Count(1)];
        [&counts[..], &[text("40 app"), text("41"), text(path)]].concat()
    };
    assert_eq!(cells(&facts, "path", &keys), [row("/a/b.txt")]);
    assert_eq!(cells(&facts, "thread", &keys), [row("/a/b.txt")]);
    assert_eq!(cells(&facts, "directory", &keys), [row("/a")]);
}

/// filetop's thread and name, ps' process of that thread, opensnoop's path: one row.
#[test]
fn tables_of_other_tools_are_joined() {
    let table = |tool: &'static str, of: Entity, figures: &[(Metric, f64)], name: &str| {
        let mut table = FigureTable::new(SourceId(0), tool);
        table.over = Over::Interval(Nanos::from_secs(1));
        let row = table.row(of);
        figures.iter().for_each(|(metric, value)| row.set(*metric, *value));
        row.say(Trait::Name, name);
        Event::Figures(Box::new(table))
    };
    let file = |pid: u32, path: &str| Entity::File { pid: Some(pid), path: path.into() };
    let mut facts = Facts::default();
    let figures = [(Metric::WriteTotal, 2e6), (Metric::ReadTotal, 0.0), (Metric::CallCount, 3.0)];
    // Twice: filetop prints a table an interval.
    for _ in 0..2 {
        facts.push(table("filetop", file(514, "669.txt"), &figures, "python"));
    }
    let opened = format!("/tmp/{UUID}/669.txt");
    facts.push(table("opensnoop", file(12280, &opened), &[(Metric::CallCount, 1.0)], "python"));
    facts.push(table("ps -efT", Entity::Thread { pid: 12280, tid: 514 }, &[(Metric::TaskCpu, 0.3)], ""));
    facts.push(table("ps -efT", Entity::Process(12280), &[(Metric::TaskCpu, 0.3)], "python app.py"));
    // A thread of which nobody tells whose it is.
    facts.push(table("filetop", file(99, "other"), &figures, "cc1"));
    facts.finish();
    let keys = ["files", "opens", "bytes_written", "process", "thread", "tool", "path"];
    let joined = [
        Cell::Count(1),
        Cell::Count(1),
        Cell::Bytes(4_000_000),
        text("12280 python app.py"),
        text("514 python"),
        text("filetop, opensnoop"),
        text(&opened),
    ];
    let unknown = [
        Cell::Count(1),
        Cell::Unknown,
        Cell::Bytes(2_000_000),
        Cell::Unknown,
        text("99 cc1"),
        text("filetop"),
        text("other"),
    ];
    assert_eq!(cells(&facts, "path", &keys), [joined, unknown]);
    let patterns = cells(&facts, "pattern", &["files", "path"]);
    assert_eq!(patterns[0], [Cell::Count(1), text("/tmp/{uuid}/{n}.txt")]);
}

#[test]
fn paths_match_as_people_ask() {
    for (path, asked, matches) in [
        ("/var/log/app.log", "/var/log/app.log", true),
        ("/var/log/app.log", "/var/log", true),
        ("/var/log/app.log", "/var/log/", true),
        ("/var/log/app.log", "app.log", true),
        ("/var/log/app.log", "log/app.log", true),
        ("/var/log/app.log", "/", true),
        ("/var/log/app.log", "/var/lo", false),
        ("/var/log/app.log", "pp.log", false),
        ("pipe:[7]", "/", false),
    ] {
        assert_eq!(path_matches(path, asked), matches, "{path} {asked}");
    }
}

proptest! {
    /// However the rows are grouped, what was moved is the same.
    #[test]
    fn groupings_add_up(rows in prop::collection::vec((1u32..9, 0usize..4, 0u32..40, 0u64..1_000_000), 0..200)) {
        let ops = [FileOp::Read, FileOp::Write, FileOp::Sync, FileOp::Open];
        let mut facts = Facts::default();
        let (mut read, mut written, mut calls) = (0, 0, 0);
        for (tid, op, name, bytes) in rows {
            let bytes = if op < 2 { bytes } else { 0 };
            facts.push(Event::FileIo(Box::new(io(tid, ops[op], &format!("/d{}/{name}.x", name % 3), bytes))));
            calls += 2;
            match ops[op] {
                FileOp::Read => read += bytes,
                _ => written += bytes,
            }
        }
        facts.finish();
        for by in VIEW.by {
            let sums = cells(&facts, by, &["bytes_read", "bytes_written", "calls"]).into_iter().fold([0; 3], |sums, row| {
                let figure = |at: usize| match row[at] {
                    Cell::Count(count) | Cell::Bytes(count) => count,
                    _ => panic!("no figure"),
                };
                [sums[0] + figure(0), sums[1] + figure(1), sums[2] + figure(2)]
            });
            prop_assert_eq!(sums, [read, written, calls], "by {}", by);
        }
    }
}
