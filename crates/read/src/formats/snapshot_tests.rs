//! Tests over all snapshot and table formats: each recognises its own captures and leaves the others alone.

use super::collect::{Captures, assert_accounted, collect, own, published, sniffs};
use super::{FORMATS, Format, host, lsof, ltrace_count, proc_fd, proc_net, strace_count};
use proptest::prelude::*;

const SNAPSHOTS: [&Format; 7] = [
    &lsof::LSOF,
    &lsof::LSOF_FIELDS,
    &proc_fd::PROC_FD,
    &proc_net::PROC_NET,
    &strace_count::STRACE_COUNT,
    &ltrace_count::LTRACE_COUNT,
    &host::HOST,
];

/// The articles' pastes of host tools.
const HOST_SEEDS: [&str; 10] = [
    "top.txt",
    "iostat",
    "pidstat",
    "ps-",
    "perf-stat",
    "syscount",
    "trace-",
    "vfscount",
    "filetop",
    "opensnoop",
];

/// What the folder (for the articles' captures: the name) says that a file holds.
fn expected(folder: &str, name: &str) -> Option<&'static str> {
    match folder {
        "lsof" => Some("lsof"),
        "lsof-fields" => Some("lsof -F"),
        "proc-net-tcp" => Some("/proc/net"),
        "proc-fd" => Some("/proc/PID/fd"),
        "strace-c" => Some("strace -c"),
        "ltrace-c" => Some("ltrace -c"),
        "top" | "vmstat" | "mpstat" | "iostat" | "pidstat" | "sar" | "ss" | "perf-trace" => {
            Some(host::HOST.name)
        }
        "bcc" if !["offcputime", "wakeuptime"].iter().any(|tool| name.contains(tool)) => {
            Some(host::HOST.name)
        }
        "seeds" if name.ends_with(".lsof") => Some("lsof"),
        "seeds" if name == "proc-net-tcp.txt" => Some("/proc/net"),
        "seeds" if HOST_SEEDS.iter().any(|tool| name.starts_with(tool)) => Some(host::HOST.name),
        "seeds" if name.starts_with("strace-c.") => Some("strace -c"),
        _ => None,
    }
}

#[test]
fn each_capture_of_ours_is_taken_by_its_own_format_alone() {
    assert_taken_by_its_own_format_alone(own());
}

#[test]
fn each_published_capture_is_taken_by_its_own_format_alone() {
    if let Some(captures) = published() {
        assert_taken_by_its_own_format_alone(captures);
    }
}

fn assert_taken_by_its_own_format_alone(captures: Captures) {
    for (folder, path) in captures {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let data = std::fs::read(&path).unwrap();
        let takers: Vec<_> = SNAPSHOTS
            .iter()
            .filter(|format| sniffs(format, &name, &data))
            .map(|format| format.name)
            .collect();
        let expected = expected(&folder, &name);
        assert_eq!(takers, Vec::from_iter(expected), "{folder}/{name}");
        let first = FORMATS.iter().find(|format| sniffs(format, &name, &data));
        let ours = first.map(|format| format.name).filter(|name| takers.contains(name));
        assert_eq!(ours, expected, "{folder}/{name}");
    }
}

/// Rows of `/proc/net/unix` look like rows of lsof without a header.
#[test]
fn a_table_of_unix_sockets_is_not_taken_for_lsof() {
    let data = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
        00000000d57b071e: 00000003 00000000 00000000 0001 03   248\n";
    let takers = SNAPSHOTS.iter().filter(|format| sniffs(format, "unix", data));
    assert_eq!(Vec::from_iter(takers.map(|format| format.name)), ["/proc/net"]);
}

/// A reader is given what the sniffing chose, but a mixed file may hold anything further on.
#[test]
fn every_format_survives_every_capture() {
    assert_survived(own());
}

#[test]
fn every_format_survives_every_published_capture() {
    if let Some(captures) = published() {
        assert_survived(captures);
    }
}

fn assert_survived(captures: Captures) {
    for (_, path) in captures {
        let mut data = std::fs::read(&path).unwrap();
        data.truncate(200_000);
        for format in SNAPSHOTS {
            assert_accounted(&collect(format, "x", &data), &data);
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for format in SNAPSHOTS {
            assert_accounted(&collect(format, "x", &bytes), &bytes);
            sniffs(format, "x", &bytes);
        }
    }

    #[test]
    fn damaged_captures_are_survived(which in 0usize..10_000, at in 0usize..100_000, bytes in prop::collection::vec(any::<u8>(), 1..50)) {
        let files = captures_in_memory();
        if let Some((format, data)) = files.get(which % files.len().max(1)) {
            let mut data = data.clone();
            let from = at % data.len().max(1);
            data.splice(from..(from + bytes.len() / 2).min(data.len()), bytes);
            assert_accounted(&collect(format, "x", &data), &data);
        }
    }
}

/// The first lines of the captures that a snapshot format takes.
fn captures_in_memory() -> &'static [(&'static Format, Vec<u8>)] {
    static FILES: std::sync::OnceLock<Vec<(&'static Format, Vec<u8>)>> = std::sync::OnceLock::new();
    FILES.get_or_init(|| {
        let read = |(_, path): (String, std::path::PathBuf)| {
            let mut data = std::fs::read(path).ok()?;
            data.truncate(20_000);
            let format = SNAPSHOTS.into_iter().find(|format| sniffs(format, "x", &data))?;
            Some((format, data))
        };
        own().into_iter().filter_map(read).collect()
    })
}
