//! Both sides mean the same bytes: the structs of the compiled programs, as their type information (BTF) tells them, beside
//! ours.

use super::*;
use crate::programs::PROGRAMS;
use libbpf_rs::btf::types::{Enum, MemberAttr, Struct};
use libbpf_rs::btf::{Btf, HasSize};
use std::mem::offset_of;
use whyslow_unwind::runtimes::FrameList;

fn types_of(program: &str) -> Btf<'static> {
    let program = PROGRAMS.iter().find(|known| known.name == program).unwrap();
    Btf::from_raw(program.name, program.object).unwrap().expect("the object has type information")
}

/// Name and place of each member, and the size, of a struct of the kernel's side.
fn kernels(program: &str, name: &str) -> (Vec<(String, usize)>, usize) {
    let types = types_of(program);
    let found: Struct<'_> = types.type_by_name(name).unwrap_or_else(|| panic!("{program}: no struct {name}"));
    let members = found.iter().map(|member| {
        let MemberAttr::Normal { offset } = member.attr else { panic!("{name} has bits") };
        // A union of two readings of the same bytes has no name.
        let name = member.name.map_or("union".into(), |name| name.to_string_lossy().into_owned());
        (name, offset as usize / 8)
    });
    (members.collect(), found.size())
}

fn assert_like(program: &str, name: &str, members: &[(&str, usize)], size: usize) {
    let ours: Vec<_> = members.iter().map(|(name, at)| (name.to_string(), *at)).collect();
    assert_eq!(kernels(program, name), (ours, size), "struct {name} of {program}");
}

macro_rules! like {
    ($program:literal, $name:literal, $ours:ty: $($member:ident),+) => {
        assert_like(
            $program,
            $name,
            &[$((stringify!($member), offset_of!($ours, $member))),+],
            size_of::<$ours>(),
        )
    };
}

#[test]
fn shared_structs_are_alike() {
    like!("calls", "settings", Settings: ring_mask, sched_mask, slow_call, long_off, own_pid, follow, all, payload,
        all_payload, text_cap, match_comm, sample_hz, wait_stacks, tids, slots, probe, probe_returns, from_exec_of, stack_copies, files_with_calls,
        wakeups, pad, comm);
    like!("calls", "control", Control: calls, wait_stacks, wait_every, sample_every, parts, detail, call_stacks, pad, calls_since);
    like!("calls", "ring_head", RingHead: head, produced, lost, lost_first, lost_last, busy, aside, aside_lost, tail,
        unused2);
    like!("calls", "piece_spec", PieceSpec: arg, when, size, of, scale, cap, payload, pad);
    like!("calls", "call_spec", CallSpecRow: args, pieces, flags, pad, piece);
    like!("calls", "frame_list", FrameListRow: head, through, at, next, bytes, step, index, beside, words);
    like!("calls", "count_row", CountRow: key, calls, errors, total, shortest, longest, buckets);
    assert_eq!(kernels("calls", "count_rows").1, COUNT_ROWS * size_of::<CountRow>());
    assert_eq!(kernels("calls", "rare_counts").1, 6 * 8 * kind::COUNT);
}

/// Members in the order in which the records are read ([`Fields`]), each with its size; behind the header.
fn assert_read_as(program: &str, name: &str, members: &[(&str, usize)]) {
    let mut at = Header::SIZE;
    let mut placed = vec![("head", 0)];
    for (member, size) in members {
        placed.push((member, at));
        at += size;
    }
    assert_like(program, name, &placed, at);
}

/// Where members of those sizes stand, from the first byte on.
fn placed<'a>(members: &[(&'a str, usize)]) -> Vec<(&'a str, usize)> {
    let places = members.iter().scan(0, |at, (name, size)| {
        let here = *at;
        *at += size;
        Some((*name, here))
    });
    places.collect()
}

#[test]
fn records_are_read_as_they_are_written() {
    let header = [("length", 0), ("kind", 2), ("flags", Header::FLAGS), ("tid", 4), ("ts", 8)];
    assert_like("calls", "record", &header, Header::SIZE);
    assert_read_as(
        "calls",
        "call_record",
        &[("dur_low", 4), ("nr", 2), ("args_dur", 2), ("ret", 8), ("args", 48)],
    );
    assert_read_as("calls", "count_record", &[("row", size_of::<CountRow>())]);
    assert_read_as(
        "tasks",
        "task_record",
        &[("pid", 4), ("parent", 4), ("exit_code", 4), ("parent_tid", 4), ("comm", COMM_LENGTH)],
    );
    assert_read_as("sched", "stretch_record", &[("on_cpu", 8), ("runnable", 8), ("blocked", 8)]);
    assert_read_as("sched", "wakeup_record", &[("waker", 4), ("pad", 4)]);
    let stack = [("pid", 4), ("kernel_bytes", 2), ("user_bytes", 2), ("weight", 8), ("frames", 2048)];
    for program in ["sched", "samples", "calls"] {
        assert_read_as(program, "stack_record", &stack);
    }
    let copy = [("pid", 4), ("bytes", 4), ("ip", 8), ("sp", 8), ("bp", 8), ("leaf", 32), ("stack", 16384)];
    for program in ["samples", "calls"] {
        assert_read_as(program, "stack_copy", &copy);
    }
    let frames = FrameList::MOST * FrameList::BYTES;
    let head = ["list", "holder", "first", "beside"].map(|name| (name, 8));
    let frames = [("pid", 4), ("count", 4), ("frames", frames)];
    assert_read_as("calls", "frames_copy", &[&head[..], &frames].concat());
    let block = ["bytes", "major", "minor", "op", "pid", "pad"].map(|name| (name, 4));
    assert_read_as(
        "block",
        "block_record",
        &[&[("queued", 8), ("issued", 8), ("sector", 8)], &block[..], &[("file", 16)]].concat(),
    );
    let four = |names: [&'static str; 4]| names.map(|name| (name, 4));
    assert_like("block", "inode_id", &[("inode", 0), ("device", 8), ("generation", 12)], 16);
    // A file's number or an address; a hash, or a port (2 bytes) and a family (2).
    let file_name = [("union", 0), ("union", 16), ("kind", 20), ("root", 24), ("side", 28)];
    assert_like("files", "file_name", &file_name, 32);
    assert_read_as("files", "file_record", &[("row", FILE_ROW_BYTES)]);
    assert_eq!(kernels("files", "file_rows").1, FILE_ROWS * FILE_ROW_BYTES);
    let sums = ["calls", "errors", "bytes", "total", "longest", "first", "last", "size", "in_order", "next"];
    let sums = sums.map(|name| (name, 8));
    let row = [&[("file", 32)], &four(["tid", "operation", "pid", "untimed"])[..], &sums[..]].concat();
    assert_like("files", "file_row", &placed(&row), FILE_ROW_BYTES);
    assert_read_as("sched", "meanwhile_record", &[("row", MEANWHILE_ROW_BYTES)]);
    assert_eq!(kernels("sched", "meanwhile_rows").1, MEANWHILE_ROWS * MEANWHILE_ROW_BYTES);
    let row =
        [&four(["tid", "pid", "had", "runner"])[..], &[("comm", COMM_LENGTH), ("turns", 8), ("total", 8)]];
    assert_like("sched", "meanwhile_row", &placed(&row.concat()), MEANWHILE_ROW_BYTES);
    let net = [("pid", 4), ("local_port", 2), ("peer_port", 2), ("took", 8), ("rtt", 8), ("count", 8)];
    assert_read_as("net", "net_record", &[&net[..], &[("local", 16), ("peer", 16), ("family", 8)]].concat());
    assert_read_as("signals", "signal_record", &[("pid", 4), ("has_info", 4), ("info", 48)]);
    let totals = ["page_faults", "major_faults", "voluntary_switches", "involuntary_switches"];
    assert_read_as(
        "totals",
        "totals_record",
        &[&[("pid", 4), ("pad", 4)], &totals.map(|name| (name, 8))[..]].concat(),
    );
}

#[test]
fn kinds_of_records_have_the_same_numbers() {
    let types = types_of("calls");
    let kinds: Enum<'_> = types.type_by_name("record_kind").expect("enum record_kind");
    let kinds: Vec<_> = kinds
        .iter()
        .map(|kind| (kind.name.unwrap().to_string_lossy().into_owned(), kind.value as u8))
        .collect();
    let ours = [
        ("PAD", kind::PAD),
        ("CALL", kind::CALL),
        ("ENTER", kind::ENTER),
        ("COUNTS", kind::COUNTS),
        ("TASK", kind::TASK),
        ("FORK", kind::FORK),
        ("EXEC", kind::EXEC),
        ("EXIT", kind::EXIT),
        ("STRETCH", kind::STRETCH),
        ("WAKEUP", kind::WAKEUP),
        ("SAMPLE", kind::SAMPLE),
        ("OFFCPU", kind::OFFCPU),
        ("BLOCK", kind::BLOCK),
        ("WAIT_STACK", kind::WAIT_STACK),
        ("NET", kind::NET),
        ("SIGNAL", kind::SIGNAL),
        ("TOTALS", kind::TOTALS),
        ("FILE", kind::FILE),
        ("PATH", kind::PATH),
        ("STACK_COPY", kind::STACK_COPY),
        ("MEANWHILE", kind::MEANWHILE),
        ("FRAMES_COPY", kind::FRAMES_COPY),
        ("CALL_STACK", kind::CALL_STACK),
    ];
    assert_eq!(kinds, ours.map(|(name, number)| (format!("RECORD_{name}"), number)));
}
